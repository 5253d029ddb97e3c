"""Who gets in: verify mode path by path, requests that try to hide others, the address that is listened on, the file system."""
import json
import os
import pathlib
import re
import socket
import time

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

import raw
from harness import Server, create_app, run
from signing import CREDENTIALS, signed, verifying

def call(server, method, path, headers=(), body=b""):
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in dict(headers).items()), f"Content-Length: {len(body)}"]
    return raw.ask(server, "\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def presigned(server, headers):
    """The path of a URL that is good for a POST with these headers and any body."""
    request = AWSRequest("POST", server.url + "/", headers={"Host": f"127.0.0.1:{server.port}", "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD", **headers})
    SigV4QueryAuth(CREDENTIALS, "dynamodb", "us-east-1", expires=60).add_auth(request)
    return request.url[len(server.url):]


# Everything there is besides health: method, path, headers, body.
TARGET = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
DOORS = [("POST", "/", TARGET, b"{}"), ("GET", "/_dynalith/metrics", {}, b""), ("POST", "/_dynalith/reset", {}, b""), ("GET", "/_dynalith/checkpoints", {}, b""),
         ("POST", "/_dynalith/checkpoints", {}, b'{"name":"mark"}'), ("POST", "/_dynalith/checkpoints/mark/rollback", {}, b""),
         ("DELETE", "/_dynalith/checkpoints/mark", {}, b""), ("PUT", "/_dynalith/snapshots/copy", {}, b""), ("POST", "/_dynalith/snapshots/copy/restore", {}, b""),
         ("PUT", "/_dynalith/faults", {}, b'{"rules":[{"operation":"PutItem","error":"ThrottlingException"}]}'), ("GET", "/_dynalith/faults", {}, b""),
         ("DELETE", "/_dynalith/faults", {}, b""), ("GET", "/_dynalith/clock", {}, b""),
         ("POST", "/_dynalith/clock", {}, b'{"advance":"365d"}'), ("POST", "/_dynalith/streams/rotate?table=app", {}, b""), ("GET", "/", {}, b""), ("HEAD", "/", {}, b"")]
REFUSED = re.compile(rb"MissingAuthenticationToken|IncompleteSignature|UnrecognizedClient|InvalidSignature")


def verify_mode_opens_nothing_but_health():
    server = verifying("--root-status", "200")
    host = {"Host": f"127.0.0.1:{server.port}"}
    assert call(server, "GET", "/_dynalith/health", host).status == 200
    for method, path, headers, body in DOORS:
        good = signed(server, method, path, body, headers)
        if "rotate" not in path:  # there is no such table: the one answer that is no 200
            assert call(server, method, path, good, body).status == 200 or method == "HEAD" or path == "/_dynalith/clock", (method, path)
        forged = {**good, "Authorization": re.sub(r"Signature=.", lambda m: "Signature=" + ("0" if m.group(0)[-1] != "0" else "1"), good["Authorization"])}
        stranger = {**good, "Authorization": good["Authorization"].replace("alice", "mallory")}
        opened = {**host, **headers, "X-Amz-Date": "20260101T000000Z", "Authorization": "AWS4-HMAC-SHA256 Credential=alice/20260101/us-east-1/dynamodb/aws4_request, "
                  "SignedHeaders=host, Signature=" + "0" * 64}
        bearer = {**host, **headers, "Authorization": "Bearer token"}
        other_body = (good, body + b" ")
        for case, content in (({**host, **headers}, body), (forged, body), (stranger, body), (opened, body), (bearer, body), other_body):
            reply = call(server, method, path, case, content)
            assert reply.status == 400 and (method == "HEAD" or REFUSED.search(reply.body)), (method, path, case, reply.status, reply.body)
        for query in ("?X-Amz-Algorithm=AWS4-HMAC-SHA256", "?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=alice/20260101/us-east-1/dynamodb/aws4_request"
                      "&X-Amz-SignedHeaders=host&X-Amz-Date=20260101T000000Z&X-Amz-Expires=999999999&X-Amz-Signature=" + "0" * 64):
            reply = call(server, method, path.split("?")[0] + query, {**host, **headers}, body)
            assert reply.status == 400 and (method == "HEAD" or REFUSED.search(reply.body)), (method, path, query, reply.status, reply.body)
    for method, path in (("GET", "/x"), ("POST", "/x"), ("PUT", "/"), ("DELETE", "/_dynalith/clock"), ("GET", "/_dynalith/none"), ("GET", "/_dynalith/health/../metrics"),
                         ("POST", "/_dynalith/health"), ("GET", "//_dynalith/metrics"), ("GET", "/_dynalith/metrics/"), ("GET", "/%5Fdynalith/metrics")):
        assert call(server, method, path, host).status in ((404, 405) if path.startswith("/_dynalith/") else (400,)), (method, path)
    # the clock was turned by a year once, by the signed request
    now = json.loads(call(server, "GET", "/_dynalith/clock", signed(server, "GET", "/_dynalith/clock")).body)
    assert 364 * 86400 < now["offset"] < 366 * 86400, now
    server.stop()


def signatures_as_aws_takes_them():
    """Dynalite's tests of connections have the first two bodies byte by byte; the rest is what its source notes of DynamoDB."""
    server = verifying()
    body = b"{}"
    for headers, want in (({}, {"__type": "com.amazon.coral.service#MissingAuthenticationTokenException", "message": "Request is missing Authentication Token"}),
                          ({"Authorization": "AWS4- Signature=b Credential=a", "Date": "a"},
                           {"__type": "com.amazon.coral.service#IncompleteSignatureException",
                            "message": "Authorization header requires 'SignedHeaders' parameter. Authorization=AWS4- Signature=b Credential=a"})):
        reply = call(server, "POST", "/", {"Host": "x", **TARGET, **headers}, body)
        assert (reply.status, json.loads(reply.body)) == (400, want), reply.body
    good = signed(server, "POST", "/", body, TARGET)
    assert call(server, "POST", "/", {**good, "Authorization": good["Authorization"].replace(",", "")}, body).status == 200
    assert call(server, "POST", "/", {**good, "Authorization": good["Authorization"].replace(", ", ",")}, body).status == 200
    assert b"does not match" in call(server, "POST", "/some/where", good, body).body  # the API is there too, signed for its path
    assert call(server, "POST", "/some/where", signed(server, "POST", "/some/where", body, TARGET), body).status == 200
    for path in ("/", "/?", f"http://127.0.0.1:{server.port}/"):
        assert call(server, "POST", path, good, body).status == 200, path
    # our own pages are no API: a signature for the root opens none of them
    for method, path in (("GET", "/_dynalith/metrics"), ("POST", "/_dynalith/clock")):
        assert b"does not match" in call(server, method, path, signed(server, method, "/", body), body).body, path
    joined = signed(server, "POST", "/", body, {**TARGET, "X-Amz-Meta": "a,b c"})
    lines = [f"{k}: {v}" for k, v in joined.items() if k != "X-Amz-Meta"] + ["X-Amz-Meta: a", "x-amz-meta:  b   c ", "Content-Length: 2"]
    assert raw.ask(server, "\r\n".join(["POST / HTTP/1.1", *lines, "", "{}"]).encode()).status == 200
    assert b"does not match" in raw.ask(server, "\r\n".join(["POST / HTTP/1.1", *lines, "X-Amz-Meta: d", "", "{}"]).encode()).body
    for date, told in (("20130301T000000Z", "Signature expired: 20130301T000000Z is now earlier than "), ("30200101T010101Z", "Signature not yet current: 30200101T010101Z is ")):
        headers = {"Host": "x", **TARGET, "X-Amz-Date": date, "Authorization": "AWS4-HMAC-SHA256 Credential=alternator/2/3/4/aws4_request SignedHeaders=x-amz-date;host Signature=123"}
        error = json.loads(call(server, "POST", "/", headers, body).body)
        assert error["__type"].endswith("InvalidSignatureException") and error["message"].startswith(told) and "15 min.)" in error["message"], error
    server.stop()


def a_preflight_tells_nothing():
    """Browsers never sign it. It reaches no page: it names what may be sent, and nothing else."""
    server = verifying("--cors", "http://app.example")
    for path in ("/", "/_dynalith/metrics", "/_dynalith/clock"):
        reply = call(server, "OPTIONS", path, {"Host": "x", "Origin": "http://app.example", "Access-Control-Request-Method": "POST"})
        extra = set(reply.headers) - {"date", "server", "x-amzn-requestid", "x-amz-crc32", "content-length", "vary"}
        assert (reply.status, reply.body) == (200, b"") and all(name.startswith("access-control-") for name in extra), reply.headers
        reply = call(server, "OPTIONS", path, {"Host": "x", "Origin": "http://evil.example", "Access-Control-Request-Method": "POST"})
        assert "access-control-allow-origin" not in reply.headers
    assert call(server, "OPTIONS", "/", {"Host": "x"}).status == 400
    server.stop()


def a_signature_is_good_for_one_operation():
    """A URL whose signature leaves out X-Amz-Target would be good for every operation, the body unsigned too."""
    server = verifying()
    host = {"Host": f"127.0.0.1:{server.port}", "X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"}
    target = lambda name: {"X-Amz-Target": f"DynamoDB_20120810.{name}", "Content-Type": "application/x-amz-json-1.0"}
    assert call(server, "POST", presigned(server, target("ListTables")), {**host, **target("ListTables")}, b"{}").status == 200
    bare = presigned(server, {"Content-Type": "application/x-amz-json-1.0"})
    for path, name in ((presigned(server, target("ListTables")), "CreateTable"), (bare, "ListTables"), (bare, "CreateTable")):
        reply = call(server, "POST", path, {**host, **target(name)}, TABLE if name == "CreateTable" else b"{}")
        assert reply.status == 400 and b"InvalidSignature" in reply.body, (path, name, reply.body)
        assert path is not bare or b"'x-amz-target' must be a 'SignedHeader'" in reply.body, reply.body
    # the same by header: what was added behind the signature
    good = signed(server, "POST", "/", b"{}", TARGET)
    late = {**signed(server, "POST", "/", b"{}", {"Content-Type": TARGET["Content-Type"]}), "X-Amz-Target": TARGET["X-Amz-Target"]}
    assert call(server, "POST", "/", good, b"{}").status == 200
    assert call(server, "POST", "/", {**good, "X-Amz-Meta": "x"}, b"{}").status == 400 and call(server, "POST", "/", late, b"{}").status == 400
    assert call(server, "POST", "/", {**good, "X-Amzn-Trace-Id": "Root=1"}, b"{}").status == 200
    assert json.loads(call(server, "POST", "/", good, b"{}").body)["TableNames"] == []
    server.stop()


def keys_with_an_account_and_with_control():
    bob, carol = Credentials("bob", "hush"), Credentials("carol", "hush")
    server = verifying(others=[{"access_key_id": "bob", "secret_access_key": "hush", "account": "111122223333", "control": True},
                               {"access_key_id": "carol", "secret_access_key": "hush", "account": "111122223333", "control": False}])
    create_app(server.client("bob", "hush"))
    assert server.client("carol", "hush").list_tables()["TableNames"] == ["app"] and server.client("alice", "s3cret").list_tables()["TableNames"] == []
    assert ":111122223333:table/app" in server.client("carol", "hush").describe_table(TableName="app")["Table"]["TableArn"]
    for who, status in ((bob, 200), (carol, 400), (CREDENTIALS, 200)):
        for path, body in (("/_dynalith/clock", b'{"advance":"1d"}'), ("/_dynalith/streams/rotate?table=app", b"")):
            reply = call(server, "POST", path, signed(server, "POST", path, body, credentials=who), body)
            assert (reply.status == status or "rotate" in path) and (b"AccessDenied" in reply.body) == (status == 400), (who, path, reply.body)
        assert call(server, "GET", "/_dynalith/clock", signed(server, "GET", "/_dynalith/clock", credentials=who)).status == 200
        assert call(server, "GET", "/_dynalith/metrics", signed(server, "GET", "/_dynalith/metrics", credentials=who)).status == (200 if who is bob else 400)
    server.stop()


# As Chromium sends them; a page whose name was turned to this machine is at a name, and gets no Sec-Fetch-* over plain HTTP.
EVIL = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "empty", "Accept-Language": "en-US"}
PLAIN = {"Content-Type": "text/plain;charset=UTF-8"}
REBOUND = "evil.example:%d"
API = {**TARGET, "Authorization": "AWS4-HMAC-SHA256 Credential=page/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0", "X-Amz-Date": "20260101T000000Z"}
TABLE = json.dumps({"TableName": "made", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
                    "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}).encode()


def denied(reply):
    return reply.status == 403 and json.loads(reply.body)["__type"].endswith("#AccessDeniedException") and "access-control-allow-origin" not in reply.headers


def pages_of_other_sites():
    """Nothing is done for them: no table is made, no clock is turned, nothing is shown. Clients that are no browsers name the host as they like."""
    for flags in ((), ("--cors", "http://app.example"), ("--cors", "*"), ("--auth", "off")):
        server = Server(*flags)
        own, rebound = f"127.0.0.1:{server.port}", REBOUND % server.port
        create = {**API, "X-Amz-Target": "DynamoDB_20120810.CreateTable"}
        # the API, by a simple request, after a preflight, and same-origin from a name that was turned to us
        for headers in ({"Host": own, **EVIL, **create}, {"Host": own, "Origin": "null", **create},
                        {"Host": rebound, "Origin": f"http://{rebound}", **create},
                        {"Host": rebound, "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", **create}):
            reply = call(server, "POST", "/", headers, TABLE)
            assert "*" in flags or denied(reply), (flags, headers, reply.status, reply.body)
        # our own pages, "*" or not
        for headers in (EVIL, {"Origin": "null"}, {"Origin": f"http://{rebound}", "Host": rebound}):
            for path, body in (("/_dynalith/clock", b'{"advance":"30d"}'), ("/_dynalith/streams/rotate?table=made", b"")):
                assert denied(call(server, "POST", path, {"Host": own, **PLAIN, **headers}, body)), (flags, path, headers)
        navigation = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept-Language": "en-US"}
        for path in ("/_dynalith/clock", "/_dynalith/metrics"):
            for headers in ({"Host": own, **EVIL}, {"Host": own, **navigation}, {"Host": rebound, "Accept-Language": "en-US,en;q=0.9"},
                            {"Host": rebound, "Sec-Fetch-Site": "same-origin"}):
                assert denied(call(server, "GET", path, headers)), (flags, path, headers)
        assert call(server, "GET", "/_dynalith/health", {"Host": own, **EVIL}).status == 200
        # no browsers
        for host in (own, rebound, "dynalith:8000", "search.db.svc.cluster.local"):
            assert call(server, "GET", "/_dynalith/metrics", {"Host": host}).status == 200
            seen = call(server, "POST", "/", {"Host": host, **API}, b"{}")
            assert seen.status == 200 and json.loads(seen.body)["TableNames"] == (["made"] if "*" in flags else []), (flags, seen.body)
        # Node.js' fetch
        assert call(server, "POST", "/", {"Host": "dynalith:8000", "Sec-Fetch-Mode": "cors", "Accept-Language": "*", **API}, b"{}").status == 200
        now = json.loads(call(server, "GET", "/_dynalith/clock", {"Host": "dynalith:8000"}).body)
        assert abs(now["offset"]) < 60, now
        server.stop()


def pages_of_this_machine():
    """What an application on a local port sends to the server beside it, as Chromium does, and what it may read."""
    for flags, allow in (((), "http://localhost:3000"), (("--cors", "*"), "*"), (("--cors", "http://app.example, http://localhost:3000"), "http://localhost:3000")):
        server = Server(*flags)
        page = {"Host": f"localhost:{server.port}", "Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty",
                "Accept-Language": "en-US"}
        ask = {**page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type,x-amz-date,x-amz-target"}
        reply = call(server, "OPTIONS", "/", ask)
        assert reply.status == 200 and reply.headers["access-control-allow-origin"] == allow, reply.headers
        assert reply.headers["access-control-allow-headers"] == ask["Access-Control-Request-Headers"]
        reply = call(server, "POST", "/", {**page, **API}, b"{}")
        assert reply.status == 200 and reply.headers["access-control-allow-origin"] == allow, reply.headers
        reply = call(server, "POST", "/_dynalith/clock", {**page, **PLAIN}, b'{"advance":"1d"}')
        assert reply.status == 200 and reply.headers["access-control-allow-origin"] == "http://localhost:3000", reply.headers
        own = {**page, "Origin": f"http://localhost:{server.port}", "Sec-Fetch-Site": "same-origin"}
        assert call(server, "POST", "/", {**own, **API}, b"{}").status == 200
        typed = {"Host": f"localhost:{server.port}", "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-User": "?1", "Accept-Language": "en-US"}
        assert call(server, "GET", "/_dynalith/clock", typed).status == 200
        server.stop()


def overload_opens_nothing():
    server = verifying("--connection-limit", "1")
    inside = raw.connect(server)
    inside.sendall(raw.GET_HEALTH)
    assert raw.read_reply(inside).status == 200
    assert raw.ask(server, raw.GET_METRICS).status in (400, 503)
    assert not b"dynalith_" in raw.ask(server, raw.GET_METRICS).body
    assert call(server, "GET", "/_dynalith/metrics", signed(server, "GET", "/_dynalith/metrics")).status == 200
    inside.close()
    server.stop()


HEAD = raw.head()
LENGTH, CHUNKED = b"Content-Length: 2\r\n", b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"2\r\n{}\r\n0\r\n\r\n"
# What follows a request: were it taken for part of it, or part of the request for it, the answers would tell.
NEXT = raw.GET_HEALTH
# Refused, and the connection closed: where the request ends is in doubt, so nothing behind it may be looked at.
REFUSED_FRAMING = {
    "length and chunks": HEAD + LENGTH + CHUNKED + b"\r\n" + CHUNKS,
    "chunks and length": HEAD + CHUNKED + LENGTH + b"\r\n" + CHUNKS,
    "two lengths": HEAD + LENGTH + b"Content-Length: 70\r\n\r\n{}",
    "two lengths that agree": HEAD + LENGTH + LENGTH + b"\r\n{}",
    "a list of lengths": HEAD + b"Content-Length: 2, 2\r\n\r\n{}",
    "a signed length": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "a negative length": HEAD + b"Content-Length: -1\r\n\r\n{}",
    "a hexadecimal length": HEAD + b"Content-Length: 0x2\r\n\r\n{}",
    "no length behind the name": HEAD + b"Content-Length:\r\n\r\n{}",
    "a length with a space": HEAD + b"Content-Length: 2 2\r\n\r\n{}",
    "a length beyond 64 bits": HEAD + b"Content-Length: 18446744073709551618\r\n\r\n{}",
    "a space before the colon": HEAD + b"Content-Length : 2\r\n\r\n{}",
    "chunks, a space before the colon": HEAD + b"Transfer-Encoding : chunked\r\n" + LENGTH + b"\r\n" + CHUNKS,
    "chunks, a tab before the colon": HEAD + b"Transfer-Encoding\t: chunked\r\n" + LENGTH + b"\r\n" + CHUNKS,
    "an unknown encoding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKS,
    "identity": HEAD + b"Transfer-Encoding: identity\r\n" + LENGTH + b"\r\n{}",
    "chunked is not last": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKS,
    "quoted chunked": HEAD + b'Transfer-Encoding: "chunked"\r\n\r\n' + CHUNKS,
    "a control before chunked": HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNKS,
    "two encodings": HEAD + CHUNKED + b"Transfer-Encoding: cow\r\n\r\n" + CHUNKS,
    "a folded encoding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKS,
    "a folded length": HEAD + b"Content-Length: \r\n 2\r\n\r\n{}",
    "a folded header that ends in a length": HEAD + b"X-A: b\r\n Content-Length: 2\r\n\r\n",
    "a fold before any header": HEAD.replace(b"\r\nHost", b"\r\n Host", 1) + LENGTH + b"\r\n{}",
    "a bare CR in a value": HEAD + b"X-A: b\rContent-Length: 2\r\n\r\n{}",
    "chunks by HTTP/1.0": HEAD.replace(b"HTTP/1.1", b"HTTP/1.0", 1) + CHUNKED + b"\r\n" + CHUNKS,
    "chunks by HTTP/1.0, kept alive": HEAD.replace(b"HTTP/1.1", b"HTTP/1.0", 1) + b"Connection: keep-alive\r\n" + CHUNKED + b"\r\n" + CHUNKS,
    "a bad line in the trailer": HEAD + CHUNKED + b"\r\n2\r\n{}\r\n0\r\nfoo\r\n\r\n",
    "a NUL in a name": HEAD + b"X-A\0: b\r\n" + LENGTH + b"\r\n{}",
    "no colon": HEAD + b"Foo\r\n" + LENGTH + b"\r\n{}",
    "no host": HEAD.replace(b"Host: ", b"X-Host: ", 1) + LENGTH + b"\r\n{}",
    "two hosts": HEAD + b"Host: y\r\n" + LENGTH + b"\r\n{}",
    "a negative chunk": HEAD + CHUNKED + b"\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a chunk by 0x": HEAD + CHUNKED + b"\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "a chunk beyond 64 bits": HEAD + CHUNKED + b"\r\nffffffffffffffff2\r\n{}\r\n0\r\n\r\n",
    "no line end behind a chunk": HEAD + CHUNKED + b"\r\n2\r\n{}0\r\n\r\n",
    "a header of 40 KB": HEAD + b"X-Big: " + b"a" * 40_000 + b"\r\n" + LENGTH + b"\r\n{}",
    "5,000 headers": HEAD + b"".join(b"X-%d: a\r\n" % i for i in range(5000)) + LENGTH + b"\r\n{}",
    "a path of 40 KB": HEAD.replace(b"POST /", b"POST /" + b"a" * 40_000, 1) + LENGTH + b"\r\n{}",
    "HTTP/2.0": HEAD.replace(b"HTTP/1.1", b"HTTP/2.0", 1) + LENGTH + b"\r\n{}",
    "no version": b"GET /_dynalith/metrics\r\n",
}
# libmicrohttpd reads a line up to its first NUL, and takes a line without a name for the end of the head. No proxy may pass these on (RFC 9112, 5).
AS_LIBMICROHTTPD_READS = {
    "no name": HEAD + b": foo\r\n" + LENGTH + b"\r\n{}",
    "a NUL behind chunked": HEAD + b"Transfer-Encoding: chunked\0x\r\n\r\n" + CHUNKS,
    "a NUL at the end of chunked": HEAD + b"Transfer-Encoding: chunked\0\r\nX-A: b\r\n\r\n" + CHUNKS,
    "a NUL behind a length": HEAD + b"Content-Length: 2\0\r\n\r\n{}",
    "a NUL in a length": HEAD + b"Content-Length: 2\x003\r\nX-A: b\r\n\r\n{}",
    "a NUL behind a length, between lines that end in LF": HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 2\0\n\n{}",
    "a NUL in another value": HEAD + b"X-A: b\0c\r\n" + LENGTH + b"\r\n{}",
    "a NUL in the path": HEAD.replace(b"POST / ", b"POST /\0x ", 1) + LENGTH + b"\r\n{}",
    "a NUL in the query": HEAD.replace(b"POST / ", b"POST /?a\0b=c ", 1) + LENGTH + b"\r\n{}",
    "a NUL in the method": HEAD.replace(b"POST / ", b"PO\0ST / ", 1) + LENGTH + b"\r\n{}",
    "a NUL in the version": HEAD.replace(b"HTTP/1.1", b"HTTP/1.1\0x", 1) + LENGTH + b"\r\n{}",
}
# Answered once, and what follows is the next request: RFC 9112 lets a server take these so.
TAKEN = {
    "plain": HEAD + LENGTH + b"\r\n{}",
    "chunks": HEAD + CHUNKED + b"\r\n" + CHUNKS,
    "an extension of a chunk": HEAD + CHUNKED + b"\r\n2;a=b\r\n{}\r\n0\r\n\r\n",
    "a length in the trailer": HEAD + CHUNKED + b"\r\n2\r\n{}\r\n0\r\nContent-Length: 70\r\n\r\n",
    "lines that end in LF": HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 2\n\n{}",
    "names in capitals": HEAD + b"CONTENT-LENGTH: 2\r\n\r\n{}",
    "an empty line before": b"\r\n" + HEAD + LENGTH + b"\r\n{}",
    "values that are empty, or end in spaces": HEAD + b"X-A:\r\nX-B: b \t\r\nCookie: a=b; c=d\r\n" + LENGTH + b"\r\n{}",
    "a query": HEAD.replace(b"POST / ", b"POST /?a=b&c ", 1) + LENGTH + b"\r\n{}",
    "two spaces behind the method": HEAD.replace(b"POST / ", b"POST  / ", 1) + LENGTH + b"\r\n{}",
    "a head of 14 KB": HEAD + b"".join(b"X-%d: %s\r\n" % (i, b"a" * 1300) for i in range(10)) + LENGTH + b"\r\n{}",
    "a length with zeros": HEAD + b"Content-Length: 0002\r\n\r\n{}",
}


def answers(server, data):
    """The statuses until the connection ends or half a second is silent, and whether it ended."""
    with raw.connect(server) as s:
        try:
            s.sendall(data)
        except ConnectionError:
            pass  # refused while we were still sending
        s.settimeout(0.5)
        text, is_closed = b"", False
        try:
            while more := s.recv(65536):
                text += more
            is_closed = True
        except ConnectionError:
            is_closed = True
        except TimeoutError:
            pass
        return [int(n) for n in re.findall(rb"HTTP/1\.[01] (\d+)", text)], text, is_closed


def requests_that_hide_others():
    server = Server()
    create_app(server.client())
    for name, data in REFUSED_FRAMING.items():
        statuses, text, is_closed = answers(server, data + NEXT)
        assert is_closed and all(400 <= n < 600 for n in statuses), (name, statuses, text[:300])
        head, _, body = text.partition(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        if b"x-amzn-RequestId" in head:  # else it is a page of libmicrohttpd, whose head may come twice
            assert len(statuses) == 1 and int(length[1]) == len(body) and json.loads(body)["__type"], (name, text[:600])
        assert b'"status":"ok"' not in text and b"TableNames" not in text and b"dynalith_requests" not in text, (name, text[:300])
    for name, data in AS_LIBMICROHTTPD_READS.items():
        statuses, text, _ = answers(server, data + NEXT)
        assert len(statuses) in (1, 2) and (min(statuses) >= 400 or text.count(b'"status":"ok"') == 1), (name, text[:300])
    for name, data in TAKEN.items():
        with raw.connect(server) as s:
            s.sendall(data + NEXT)
            first, second = raw.read_reply(s), raw.read_reply(s)
            assert first.status == 200 and b"app" in first.body and second.status == 200 and b'"status":"ok"' in second.body, name
        with raw.connect(server) as s:  # in pieces
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(data), 61):
                s.sendall(data[at:at + 61])
                time.sleep(0.0005)
            assert raw.read_reply(s).status == 200, name
    f = raw.figures(server)
    assert f["dynalith_requests_under_way"] == 1, f
    server.stop()


def pipelined_requests_keep_their_order():
    server = Server()
    create_app(server.client())
    with raw.connect(server) as s:
        s.sendall((raw.request() + raw.GET_HEALTH + raw.request("DescribeTable", b'{"TableName":"nope"}')) * 20)
        for _ in range(20):
            replies = [raw.read_reply(s) for _ in range(3)]
            assert [r.status for r in replies] == [200, 200, 400] and b"app" in replies[0].body and b"ok" in replies[1].body and b"ResourceNotFound" in replies[2].body
    server.stop()


def listens_on_loopback_only():
    def addresses(*flags):
        server = Server(*flags)
        wanted = f":{server.port:04X}"
        found = [line.split()[1] for table in ("tcp", "tcp6") for line in open(f"/proc/net/{table}") if line.split()[1].endswith(wanted) and line.split()[3] == "0A"]
        server.stop()
        return [address.split(":")[0] for address in found]
    if not os.path.exists("/proc/net/tcp"):
        return
    assert addresses() == ["0100007F"]
    assert addresses("--host", "0.0.0.0") == ["00000000"]


def no_path_leads_to_a_file():
    server = Server(disk=True)
    client = server.client()
    create_app(client)
    before = {p.name for p in pathlib.Path(server.folder).iterdir()}
    outside = pathlib.Path(server.folder).parent / "dynalith-must-not-be"
    for path in ("/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/_dynalith/../../../etc/passwd", "/etc/passwd", "/data.db", "/_dynalith/data.db", "//etc/passwd",
                 "/%00", "/?file=/etc/passwd", "/_dynalith/metrics?file=/etc/passwd", "/_dynalith/health?../../etc/passwd"):
        for method in ("GET", "POST", "PUT", "DELETE"):
            reply = raw.ask(server, f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode())
            assert b"root:" not in reply.body and b"SQLite" not in reply.body, (method, path)
    for name in ("../dynalith-must-not-be", f"{outside}", "..%2fx", "a/../b", 'a"; DROP TABLE system_tables; --', "a'b", "a\0b"):
        body = json.dumps({"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
                           "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}]}).encode()
        assert raw.ask(server, raw.request("CreateTable", body)).status == 400, name
    # names that are legal for attributes, keys and indexes, hostile to SQL
    hostile = 'x"; DROP TABLE items_1; -- \' ../..'
    client.put_item(TableName="app", Item={"PK": {"S": hostile}, "SK": {"S": hostile}, hostile: {"S": hostile}})
    got = client.get_item(TableName="app", Key={"PK": {"S": hostile}, "SK": {"S": hostile}})["Item"]
    assert got[hostile] == {"S": hostile} and client.scan(TableName="app")["Count"] == 1
    assert {p.name for p in pathlib.Path(server.folder).iterdir()} == before and not outside.exists()
    server.stop()


run("security", [verify_mode_opens_nothing_but_health, signatures_as_aws_takes_them, a_preflight_tells_nothing, a_signature_is_good_for_one_operation, keys_with_an_account_and_with_control, pages_of_other_sites, pages_of_this_machine, overload_opens_nothing, requests_that_hide_others,
                 pipelined_requests_keep_their_order, listens_on_loopback_only, no_path_leads_to_a_file])
