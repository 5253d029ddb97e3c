"""What a connection gets before its signature is known to be right, and what an address gets."""
import datetime
import json
import os
import tempfile
import time

import raw
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from harness import Server, create_app, run, until

LARGE = 15_000_000
NOW = datetime.datetime.now(datetime.timezone.utc)


def verifying(*flags):
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as config:
        json.dump({"auth": "verify", "credentials": [{"access_key_id": "alice", "secret_access_key": "s3cret"}]}, config)
    try:
        return Server("--config", config.name, *flags)
    finally:
        os.unlink(config.name)


def head(key="alice", day=NOW.strftime("%Y%m%d"), service="dynamodb", date=NOW.strftime("%Y%m%dT%H%M%SZ"), n=LARGE):
    authorization = f"Authorization: AWS4-HMAC-SHA256 Credential={key}/{day}/us-east-1/{service}/aws4_request, " \
                    "SignedHeaders=host;x-amz-date;x-amz-target, Signature=" + "0" * 64 + "\r\n" if key else ""
    return (f"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.PutItem\r\nX-Amz-Date: {date}\r\n{authorization}"
            f"Content-Length: {n}\r\n\r\n").encode()


def figures(server):
    request = AWSRequest(method="GET", url=f"{server.url}/_dynalith/metrics")
    SigV4Auth(Credentials("alice", "s3cret"), "dynamodb", "us-east-1").add_auth(request)
    lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    text = raw.ask(server, f"GET /_dynalith/metrics HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{lines}\r\n".encode()).body.decode()
    return {name: float(value) for name, value in (line.split() for line in text.splitlines() if "{" not in line and line[0] != "#")}


def heads_are_refused_before_the_body():
    """By the errors of AWS, in its order: see sigv4.h."""
    server = verifying()
    old = {"day": "20200101", "date": "20200101T000000Z"}
    for error, request in [("MissingAuthenticationTokenException", head(key=None)), ("UnrecognizedClientException", head(key="mallory")),
                           ("InvalidSignatureException", head(key="mallory", **old)), ("InvalidSignatureException", head(service="s3")),
                           ("IncompleteSignatureException", head(date="yesterday")), ("InvalidSignatureException", head(day="20200101")),
                           ("UnrecognizedClientException", head(key="mallory", n=10)),
                           ("UnrecognizedClientException", head(key="mallory").replace(b"Content-Length: %d" % LARGE, b"Transfer-Encoding: chunked")),
                           ("UnknownOperationException", head(key="mallory").replace(b"PutItem", b"PutNothing"))]:
        with raw.connect(server) as s:
            s.sendall(request)  # and nothing else
            reply = raw.read_reply(s)
            assert reply.status == 400 and json.loads(reply.body)["__type"].endswith("#" + error), (error, reply.body)
            assert reply.headers["connection"].lower() == "close", reply.headers
    server.stop()


def unproven_bodies_leave_room_for_others():
    """280 connections with a wrong signature hold bodies that do not end; with a key that is known or without."""
    server = verifying("--memory-limit-mb", "256")
    client = server.client("alice", "s3cret")
    create_app(client)
    hogs = []
    for i in range(280):
        s = raw.connect(server)
        s.sendall(head(key="alice" if i % 2 else None))
        try:
            s.sendall(b" " * 400_000)
        except OSError:
            pass  # refused
        hogs.append(s)
    until(lambda: figures(server)["dynalith_unproven_memory_bytes"] > 16_000_000, "their bodies count nowhere")
    f = figures(server)
    assert f["dynalith_unproven_memory_bytes"] < 64_000_000 and f["dynalith_request_memory_bytes"] < 8_000_000, f
    for _ in range(20):
        client.put_item(TableName="app", Item={"PK": {"S": "p"}, "SK": {"S": "s"}, "v": {"S": "x" * 10_000}})
    keys = {"PK": {"S": "p"}, "SK": {"S": "s"}}
    assert client.get_item(TableName="app", Key=keys)["Item"]["v"]["S"] == "x" * 10_000
    [s.close() for s in hogs]
    # where the server had no room for the rest of a body, it learns at the request's time limit, a minute, that the client is gone
    until(lambda: figures(server)["dynalith_unproven_memory_bytes"] == 0, "their memory does not come back", 120)
    client.put_item(TableName="app", Item={**keys, "v": {"S": "x" * 390_000}})
    client.close()
    server.stop()


def connections_of_an_address():
    server = Server("--address-connection-limit", "5")
    inside = []
    while len(inside) < 5:
        s = raw.connect(server)
        s.sendall(raw.request())
        if raw.read_reply(s).status == 200:
            inside.append(s)
    with raw.connect(server) as s:
        s.sendall(raw.request())
        reply = raw.read_reply(s)
        assert reply.status == 503 and json.loads(reply.body)["__type"].endswith("#ServiceUnavailable"), reply.body
    assert raw.ask(server, raw.GET_HEALTH).status == 200
    f = raw.figures(server)
    assert f["dynalith_address_connections_over_total"] >= 1, f
    for s in inside:
        s.sendall(raw.request())
        assert raw.read_reply(s).status == 200
        s.close()
    until(lambda: raw.ask(server, raw.request()).status == 200, "no room comes back")
    server.stop()


def accepted(server):
    """A connection whose request has been let in and waits for its body: the server says so by 100 Continue."""
    end = time.monotonic() + raw.PATIENCE
    while time.monotonic() < end:
        s = raw.connect(server)
        s.sendall(raw.head("ListTables", b"Content-Length: 2", b"Expect: 100-continue") + b"\r\n")
        if raw.read_reply(s).status == 100:
            return s
        s.close()
    raise AssertionError("no request is let in")


def requests_of_an_address():
    server = Server("--address-request-limit", "3")
    slow = [accepted(server) for _ in range(3)]
    assert raw.ask(server, raw.request()).status == 503
    assert raw.ask(server, raw.GET_HEALTH).status == 200
    assert raw.figures(server)["dynalith_address_requests_over_total"] >= 1
    for s in slow:
        s.sendall(b"{}")
        assert raw.read_reply(s).status == 200
        s.close()
    until(lambda: raw.ask(server, raw.request()).status == 200, "no room comes back")
    server.stop()


def loopback_is_free_by_default():
    """Half of the limit of connections is for one address elsewhere."""
    server = Server("--connection-limit", "20")
    inside = [raw.connect(server) for _ in range(15)]
    for s in inside:
        s.sendall(raw.request()[:-1])
    for s in inside:
        s.sendall(b"}")
        assert raw.read_reply(s).status == 200
        s.close()
    server.stop()


run("door", [heads_are_refused_before_the_body, unproven_bodies_leave_room_for_others, connections_of_an_address, requests_of_an_address,
             loopback_is_free_by_default])
