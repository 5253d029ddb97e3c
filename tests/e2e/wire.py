"""A client as thin as it can be: JSON over one kept connection, no retries. A call ends with an answer, or with Gone: nobody knows then."""
import http.client
import json
import socket

AUTH = "AWS4-HMAC-SHA256 Credential=wire/20260101/%s/dynamodb/aws4_request, SignedHeaders=host, Signature=0"


def s(value):
    return {"S": str(value)}


def n(value):
    return {"N": str(value)}


def at(pk, sk):
    """The key of an item in a single table."""
    return {"PK": s(pk), "SK": s(sk)}


class Gone(Exception):
    """The connection ended before the answer."""


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status, body):
        self.status = status
        self.body = body
        self.message = body.get("message", body.get("Message", ""))  # AWS writes it both ways
        self.name = body.get("__type", "").rpartition("#")[2]
        super().__init__(f"{status} {body}")


class Client:
    def __init__(self, port, timeout=120, region="us-east-1", access_key=None):
        self.auth = (AUTH % region).replace("=wire/", f"={access_key or 'wire'}/")
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def __call__(self, operation, service="DynamoDB_20120810", **parameters):
        headers = {"X-Amz-Target": f"{service}.{operation}", "Content-Type": "application/x-amz-json-1.0", "Authorization": self.auth,
                   "X-Amz-Date": "20260101T000000Z"}
        try:
            if not self.connection.sock:
                self.connection.connect()
                self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.request("POST", "/", json.dumps(parameters).encode(), headers)
            reply = self.connection.getresponse()
            body = reply.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Gone(str(error)) from error
        if reply.status != 200:
            raise Refused(reply.status, json.loads(body))
        return json.loads(body) if body else {}

    def streams(self, operation, **parameters):
        return self(operation, service="DynamoDBStreams_20120810", **parameters)

    def all(self, operation, **parameters):
        """The items of all pages."""
        items = []
        while True:
            page = self(operation, **parameters)
            items += page["Items"]
            if "LastEvaluatedKey" not in page:
                return items
            parameters["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def close(self):
        self.connection.close()
