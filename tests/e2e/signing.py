"""A server that verifies signatures, and requests that are signed for it by the SDK's own signer."""
import json
import tempfile

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness import Server

CREDENTIALS = Credentials("alice", "s3cret")


def verifying(*flags, others=(), **more):
    """alice's entry has `more` in it; `others` are further entries."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"auth": "verify", "credentials": [{"access_key_id": "alice", "secret_access_key": "s3cret", **more}, *others]}, config)
        config.flush()
        return Server("--config", config.name, *flags)


def signed(server, method, path, body=b"", headers=None, credentials=CREDENTIALS):
    request = AWSRequest(method, server.url + path, data=body, headers={"Host": f"127.0.0.1:{server.port}", **(headers or {})})
    SigV4Auth(credentials, "dynamodb", "us-east-1").add_auth(request)
    return dict(request.headers)
