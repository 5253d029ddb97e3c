"""HTTP as no SDK sends it: broken framing, smuggled requests, floods, bytes that come slowly or not at all. Whoever comes next is served."""
import json
import random
import socket
import struct
import time

import raw
from harness import Server, run

server = Server("--threads", "2")
# For clients that leave in the middle: libmicrohttpd can miss it, and then they are there until they are idle too long.
rough = Server("--threads", "2", "--idle-timeout", "3", "--request-timeout", "3")
SMUGGLED = raw.GET_HEALTH  # must never be answered where it stands in a body


def replies(data, n):
    """The statuses of the first `n` replies, 0 where the connection ended before."""
    with raw.connect(server) as s:
        s.sendall(data)
        got = [raw.read_reply(s) for _ in range(n)]
        return [reply.status if reply else 0 for reply in got]


def ending(data):
    """The statuses of all replies up to the end of the connection, which the server must close."""
    statuses = []
    with raw.connect(server) as s:
        try:
            s.sendall(data)
        except ConnectionError:
            pass  # it had heard enough
        while reply := raw.read_reply(s):
            statuses.append(reply.status)
        return statuses


def still_well():
    assert replies(raw.request() * 2, 2) == [200, 200]
    assert raw.ask(rough, raw.request()).status == 200


def framed(*lines):
    return raw.head("ListTables", *lines) + b"\r\n"


CHUNKED = b"Transfer-Encoding: chunked"
TWO_CHUNKS = b"1\r\n{\r\n1;name=value\r\n}\r\n0\r\nTrailer: t\r\n\r\n"


def bytes_that_are_no_text():
    """Whatever a header holds, the answer is JSON."""
    for headers in (b"Authorization: AWS4-HMAC-SHA256 \xff\x01\"", b"Authorization: AWS4-HMAC-SHA256 Credential=a/b/\xc3/d/aws4_request, SignedHeaders=a, Signature=0"):
        signed = b"X-Amz-Target: DynamoDB_20120810.ListTables\r\nX-Amz-Date: \xe4\r\nContent-Length: 2\r\n" + headers
        reply = raw.ask(server, b"POST / HTTP/1.1\r\nHost: x\r\n" + signed + b"\r\n\r\n{}")
        assert reply.status == 400 and "Incomplete" in json.loads(reply.body)["__type"], reply.body
    for host in (b"\xff", b"a b", b"a\x01"):
        assert ending(raw.request("DescribeEndpoints").replace(b"Host: x", b"Host: " + host)) == [400]


def whole_requests():
    assert replies(framed(CHUNKED) + TWO_CHUNKS + SMUGGLED, 2) == [200, 200]
    assert replies(framed(b"transfer-encoding: Chunked") + b"2\r\n{}\r\n0\r\n\r\n", 1) == [200]
    assert replies(framed(b"Expect: 100-continue", b"Content-Length: 2") + b"{}", 2) == [100, 200]
    assert replies(b"\r\n\r\n" + raw.request(), 1) == [200]
    assert ending(b"GET /_dynalith/health HTTP/1.0\r\n\r\n") == [200]
    assert ending(raw.request().replace(b"HTTP/1.1", b"HTTP/1.0")) == [200]
    assert ending(raw.request().replace(b"Host: x\r\n", b"").replace(b"HTTP/1.1", b"HTTP/1.0")) == [200]
    assert ending(raw.request().replace(b"Host: x", b"Host: x\r\nConnection: close")) == [200]
    assert ending(raw.request().replace(b"Host: x", b"Connection: close")) == [400]


def pipelines():
    assert replies(raw.request() * 200, 200) == [200] * 200
    mixed = raw.request() + raw.request("Nope") + b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n" + raw.GET_HEALTH
    assert replies(mixed * 20, 80) == [200, 400, 400, 200] * 20


def smuggling():
    """RFC 9112, 6.3: where it is not told in one way where a request ends, it is refused, and nothing behind it is heard."""
    cases = [
        (b"Content-Length: 4", CHUNKED), (CHUNKED, b"Content-Length: 2"), (b"Content-Length: 2", b"Content-Length: 3"),
        (b"Content-Length: 2", b"content-length: 2"), (CHUNKED, CHUNKED), (CHUNKED, b"Transfer-Encoding: identity"), (b"Transfer-Encoding: xchunked",),
        (b"Transfer-Encoding: gzip, chunked",), (b"Transfer-Encoding: chunked, identity",), (b"Transfer-Encoding: identity", b"Content-Length: 2"),
        (b"Transfer-Encoding : chunked",), (b"Transfer-Encoding: \x0bchunked",), (b"Content-Length : 2",),
        (b"X: a\rTransfer-Encoding: chunked", b"Content-Length: 2"), (b"Host: y", b"Content-Length: 2"),
    ]
    for lines in cases:
        for body in (b"0\r\n\r\n", b"{}", b"2\r\n{}\r\n0\r\n\r\n"):
            statuses = ending(framed(*lines) + body + SMUGGLED)
            assert statuses == [400], (lines, body, statuses)


def lengths_that_are_none():
    for value in (b"-5", b"+2", b"0x2", b"2, 2", b"2 2", b"two"):
        statuses = ending(framed(b"Content-Length: " + value) + b"{}" + SMUGGLED)
        assert statuses and statuses[0] == 400 and 200 not in statuses, (value, statuses)
    for value in (b"17000000", b"9" * 19, b"9" * 40):
        statuses = ending(framed(b"Content-Length: " + value))
        assert statuses and statuses[0] == 413 and 200 not in statuses, (value, statuses)
    assert ending(framed(b"Expect: 100-continue", b"Content-Length: 17000000")) == [413]


def broken_chunks():
    for chunks in (b"zz\r\n{}", b"-2\r\n{}\r\n0\r\n\r\n", b"2\r\n{}XX0\r\n\r\n", b"\r\n{}\r\n0\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n", b"10000000000000002\r\n{}\r\n0\r\n\r\n"):
        statuses = ending(framed(CHUNKED) + chunks + SMUGGLED)
        assert statuses and statuses[0] in (400, 413) and 200 not in statuses, (chunks, statuses)
    for chunks in (b"ffffffffffffffff\r\n{}", b"2\r\n{", b"2", b""):  # these wait for more
        with raw.connect(rough) as s:
            s.sendall(framed(CHUNKED) + chunks)


def floods():
    assert ending(framed(*(b"H%d: v" % i for i in range(5000)))) == [431]
    assert ending(framed(b"X: " + b"y" * 100_000)) == [431]
    assert ending(framed(b"y" * 100_000 + b": x")) == [431]
    assert ending(b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n") == [414]
    for endless in (b"A" * 1_000_000, b"POST / HTTP/1.1\r\n" + b"a: b\r\n" * 200_000):
        statuses = ending(endless)
        assert 200 not in statuses and 500 not in statuses, statuses


def strange_lines():
    for data, want in [
        (b"GET / HTTP/9.9\r\n\r\n", [505]), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]), (b"GET /_dynalith/health\r\n\r\n", [400]),
        (b"POST / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", [400]), (b"POST / HTTP/1.1\r\nHost: x\r\nA\0B: c\r\n\r\n", [400]),
        (bytes(range(256)) + b"\r\n\r\n", [400]), (b"POST / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", [400]),
    ]:
        assert ending(data) == want, data
    for method in (b"BREW", b"TRACE", b"CONNECT", b"DELETE", b"post", b"A" * 2000):
        assert replies(method + b" / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}" + SMUGGLED, 2) == [400, 200], method
    for path in (b"*", b"http://x/_dynalith/health", b"//", b"/../etc/passwd", b"/%00", b"/?" + b"&" * 2000):
        assert replies(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n", 1) == [400], path


def slow_bytes():
    data = framed(CHUNKED) + TWO_CHUNKS
    with raw.connect(server) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(len(data)):
            s.sendall(data[i:i + 1])
            time.sleep(0.001)
        assert raw.read_reply(s).status == 200


def early_close():
    """At each byte of a request, by a FIN and by a reset; and before the answer is read."""
    data = raw.request()
    for n in range(0, len(data) + 1, 7):
        for how in (None, struct.pack("ii", 1, 0)):
            s = raw.connect(rough)
            s.sendall(data[:n])
            if how:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, how)
            s.close()
    for _ in range(20):
        with raw.connect(rough) as s:
            s.sendall(data * 50)


def random_bytes():
    """Whole requests with a few bytes changed, cut out or doubled; the same in each run."""
    dice = random.Random(20260101)
    samples = [raw.request(), framed(CHUNKED) + TWO_CHUNKS, raw.GET_HEALTH, raw.GET_METRICS, framed(b"Content-Encoding: gzip", b"Content-Length: 2") + b"{}"]
    for _ in range(300):
        data = bytearray(dice.choice(samples) * dice.randint(1, 3))
        for _ in range(dice.randint(1, 8)):
            at = dice.randrange(len(data))
            data[at:at + dice.randint(0, 3)] = bytes(dice.choice(b"\0\r\n: ;,0f\x80\xff{}\"") for _ in range(dice.randint(0, 3)))
        with raw.connect(rough) as s:
            try:
                s.sendall(data)
                s.settimeout(0.01)
                assert not s.recv(65536).startswith(b"HTTP/1.1 5") or b"505 " in data
            except OSError:
                pass
    still_well()


def nothing_is_left():
    """All is let go when the clients are gone, and the processes end well: under a sanitizer, without a leak."""
    for one in (server, rough):
        end = time.monotonic() + raw.PATIENCE
        while (figures := raw.figures(one))["dynalith_connections"] > 1 or figures["dynalith_request_memory_bytes"] > 0:
            assert time.monotonic() < end, figures
            time.sleep(0.05)
        assert figures["dynalith_requests_under_way"] == 1, figures
        one.stop()


def and_well(test):
    def both():
        test()
        still_well()
    both.__name__ = test.__name__
    return both


run("http", [and_well(test) for test in (bytes_that_are_no_text, whole_requests, pipelines, smuggling, lengths_that_are_none, broken_chunks, floods, strange_lines, slow_bytes, early_close,
                                         random_bytes)] + [nothing_is_left])
