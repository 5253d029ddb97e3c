"""HTTP as no SDK sends it: broken framing, smuggled requests, floods, bytes that come slowly or not at all. Whoever comes next is served."""
import email.utils
import gzip
import json
import os
import random
import re
import socket
import struct
import time
import zlib

import raw
from harness import Server, run

server = Server("--threads", "2", "--cors", "*")
# For clients that leave in the middle, or send slowly: its time limits are short.
rough = Server("--threads", "2", "--idle-timeout", "3", "--request-timeout", "3")
server.client().create_table(TableName="heads", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                             AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])
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


def cut_anywhere():
    """Requests of all forms on one connection, in pieces that do not end where requests do: each has its own answer. Some wait for the answer before."""
    def get(key, *lines):
        body = b'{"TableName":"heads","Key":{"a":{"S":"%s"}}}' % key
        return raw.head("GetItem", *lines, b"Content-Length: %d" % len(body)) + b"\r\n" + body, b'"%s"' % key
    def put(key, size):
        body = b'{"TableName":"heads","Item":{"a":{"S":"%s"},"b":{"S":"%s"}}}' % (key, b"b" * size)
        return raw.head("PutItem", b"Content-Length: %d" % len(body)) + b"\r\n" + body, b"{}"
    def chunked(key):
        body = b'{"TableName":"heads","Key":{"a":{"S":"%s"}}}' % key
        return raw.head("GetItem", CHUNKED) + b"\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), b'"%s"' % key
    keys = [b"cut%d" % i for i in range(8)]
    for key in keys:
        assert raw.ask(server, put(key, 10)[0]).status == 200
    for seed in range(40):
        dice = random.Random(seed)
        def one():
            key = dice.choice(keys)
            return dice.choice([lambda: get(key), lambda: get(key), lambda: get(key, b"Connection: keep-alive"), lambda: get(key, b"Origin: http://x"),
                                lambda: get(key, b"x-long: " + b"l" * dice.choice([3000, 5000])), lambda: put(key, dice.choice([1, 7000, 9000, 30000])),
                                lambda: (raw.GET_HEALTH, b"")] + [lambda: chunked(key)] * (seed % 4 == 0))()
        with raw.connect(server) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(6):
                batch = [one() for _ in range(dice.choice([1, 1, 1, 2, 5]))]
                data = b"".join(request for request, _ in batch)
                cuts = sorted(dice.randrange(len(data)) for _ in range(dice.choice([0, 0, 1, 3])))
                for begin, end in zip([0, *cuts], [*cuts, len(data)]):
                    s.sendall(data[begin:end])
                    time.sleep(dice.choice([0, 0, 0.002]))
                for request, wanted in batch:
                    reply = raw.read_reply(s)
                    assert reply and reply.status == 200 and wanted in reply.body, (seed, request[:300], reply and reply.body)


def answers_of_many_at_once():
    """One thread serves clients whose requests are there together: some read late, some end their side or leave. All who read get their own answers, in order."""
    single = Server("--threads", "1")
    single.client().create_table(TableName="many", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                                 AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])
    def key(name):
        return b'{"TableName":"many","Key":{"a":{"S":"%s"}}}' % name
    sizes = {b"k%d" % i: size for i, size in enumerate([1, 600, 5000, 7800, 9000, 30000])}
    for name, size in sizes.items():
        item = b'{"TableName":"many","Item":{"a":{"S":"%s"},"b":{"S":"%s"}}}' % (name, name * (size // 2))
        assert raw.ask(single, raw.request("PutItem", item)).status == 200
    dice = random.Random(5)
    for _ in range(4):
        clients = []
        for i in range(24):
            is_late = i % 4 == 0
            names = [dice.choice(list(sizes)) for _ in range(60 if is_late else dice.choice([1, 1, 3]))]
            clients.append((raw.connect(single, receive_buffer=4096 if is_late else None), names, i))
        for s, names, i in clients:
            requests = [raw.request("GetItem", key(name)) for name in names]
            if i % 5 == 1:
                requests[-1] = requests[-1].replace(b"Host: x", b"Host: x\r\nConnection: close")
            s.sendall(b"".join(requests))
            if i % 5 == 2:
                s.shutdown(socket.SHUT_WR)
            elif i % 5 == 3:
                s.close()
        for s, names, i in reversed(clients):
            for name in names if i % 5 != 3 else []:
                reply = raw.read_reply(s)
                assert reply and reply.status == 200, (i, reply and reply.body)
                assert json.loads(reply.body)["Item"] == {"a": {"S": name.decode()}, "b": {"S": name.decode() * (sizes[name] // 2)}}, i
            if i % 5 == 1:
                assert raw.read_reply(s) is None
            s.close()
    single.stop()


def writes_of_many_at_once():
    """Threads that take turns to write, beside requests that wait for other work of the server: all are answered, and each write is done once."""
    write_many_at_once(Server("--threads", "3"))
    write_many_at_once(Server("--threads", "2", disk=True))


def write_many_at_once(busy):
    busy.client().create_table(TableName="many", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                               AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])
    dice, added, put, tables, refused = random.Random(7), 0, 0, 0, 0
    clock = b'{"advance": 1}'
    clock = raw.head("ListTables", b"Content-Length: %d" % len(clock), path=b"/_dynalith/clock") + b"\r\n" + clock
    for _ in range(6):
        clients = []
        for _ in range(30):
            requests = []
            for _ in range(dice.choice([1, 1, 4, 20])):
                kind = dice.choice("AAAPPPGTCRX")
                if kind == "A":
                    added += 1
                    requests.append(raw.request("UpdateItem", b'{"TableName":"many","Key":{"a":{"S":"sum"}},"UpdateExpression":"ADD n :one",'
                                                              b'"ExpressionAttributeValues":{":one":{"N":"1"}}}'))
                elif kind == "P":
                    put += 1
                    requests.append(raw.request("PutItem", b'{"TableName":"many","Item":{"a":{"S":"put %d"}},"ConditionExpression":"attribute_not_exists(a)"}' % put))
                elif kind == "G":
                    requests.append(raw.request("GetItem", b'{"TableName":"many","Key":{"a":{"S":"sum"}}}'))
                elif kind == "R":
                    refused += 1
                    requests.append(raw.request("PutItem", b'{"TableName":"many","Item":{"a":{"S":"refused"}},"ConditionExpression":"attribute_exists(a)"}'))
                elif kind == "X":  # the first write is done, and undone
                    refused += 1
                    requests.append(raw.request("TransactWriteItems", b'{"TransactItems":[{"Put":{"TableName":"many","Item":{"a":{"S":"undone"}}}},{"Put":{'
                                                                      b'"TableName":"many","Item":{"a":{"S":"no"}},"ConditionExpression":"attribute_exists(a)"}}]}'))
                elif kind == "T":
                    tables += 1
                    requests.append(raw.request("CreateTable", b'{"TableName":"made%d","BillingMode":"PAY_PER_REQUEST","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],'
                                                               b'"AttributeDefinitions":[{"AttributeName":"a","AttributeType":"S"}]}' % tables))
                else:
                    requests.append(clock)
            clients.append((raw.connect(busy), requests))
        for s, requests in clients:
            s.sendall(b"".join(requests))
        for s, requests in clients:
            for request in requests:
                reply = raw.read_reply(s)
                assert reply and reply.status == (400 if b"attribute_exists" in request else 200), (request, reply and reply.body)
            s.close()
    assert added and put and tables and refused
    assert busy.client().get_item(TableName="many", Key={"a": {"S": "sum"}}, ConsistentRead=True)["Item"]["n"] == {"N": str(added)}
    assert busy.client().scan(TableName="many", Select="COUNT", ConsistentRead=True)["Count"] == put + 1
    busy.stop()


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


def heads_that_are_too_large():
    """Each is answered, however it is cut, and heard although more of it was on its way: by us, or by libmicrohttpd where it has no room for the head.
    Where the answer's head finds no room, nothing is carried out."""
    def of_size(n):
        empty = framed(b"Content-Length: 2", b"X: ")
        return framed(b"Content-Length: 2", b"X: " + b"y" * (n - len(empty))) + b"{}"
    assert ending(of_size(15_000).replace(b"Host: x", b"Host: x\r\nConnection: close")) == [200]
    large = [of_size(n) for n in (*range(16_700, 19_000, 100), 20_000, 33_000, 70_000, 1_000_000)]
    large += [framed(*(b"H%d: v" % i for i in range(n))) for n in (300, 1000, 5000, 100_000)]
    large += [framed(b"Cookie: " + b"a=b; " * 2000), framed(b"y" * 100_000 + b": x"), framed(b"X: " + b"y" * 100_000)]
    large += [b"GET /" + b"a" * n + b" HTTP/1.1\r\nHost: x\r\n\r\n" for n in (17_000, 18_300, 18_400, 18_500, 20_000, 100_000)]
    large += [b"A" * 1_000_000, b"POST / HTTP/1.1\r\n" + b"a: b\r\n" * 200_000]
    for data in large:
        with raw.connect(server) as s:
            s.sendall(data)  # no "broken pipe": the server hears it to its end
            reply = raw.read_reply(s)
            assert reply and reply.status in (400, 414, 431) and raw.read_reply(s) is None, (data[:60], len(data), reply and reply.status)
            assert len(data) < 33_000 or reply.status != 400, (data[:60], len(data))
            if reply.status == 400:
                assert "head" in json.loads(reply.body)["Message"] and int(reply.headers["x-amz-crc32"]) == zlib.crc32(reply.body), reply.body
    # in the small space where the head of the request fits and that of its answer does not: all or nothing
    for n in range(15_900, 16_900, 20):
        body = json.dumps({"TableName": "heads", "Item": {"a": {"S": str(n)}}}).encode()
        head = raw.head("PutItem", b"Content-Length: %d" % len(body), b"Connection: close", b"X: ")
        statuses = ending(head[:-2] + b"y" * (n - len(head)) + b"\r\n\r\n" + body)
        got = json.loads(raw.ask(server, raw.request("GetItem", b'{"TableName":"heads","Key":{"a":{"S":"%d"}}}' % n)).body)
        assert statuses == ([200] if got else [400]), (n, statuses, got)


def a_refused_flood_ends():
    """Whoever goes on after the answer is heard for a while, and not for ever."""
    for piece in (b"A" * 100_000, b"A" * 1000):
        with raw.connect(server) as s:
            sent = 0
            try:
                while sent < 500_000_000:
                    sent += s.send(piece)
            except ConnectionError:
                pass
            assert sent < 500_000_000, sent


def bodies_that_are_too_large():
    """The answer comes before the body is there; who sends on is heard, reads it, and meets no broken connection."""
    for lines in ((b"Content-Length: 30000000",), (b"Content-Length: 30000000", b"Expect: 100-continue")):
        with raw.connect(server) as s:
            s.sendall(framed(*lines))
            for _ in range(300):
                s.sendall(b" " * 100_000)
            reply = raw.read_reply(s)
            assert reply and reply.status == 413 and raw.read_reply(s) is None, reply
    for size in (16 * 1024 * 1024 + 1, 40_000_000):
        with raw.connect(server) as s:
            s.sendall(framed(b"Content-Length: %d" % size) + b" " * size)
            assert raw.read_reply(s).status == 413


def bodies_in_other_codings():
    """AWS: ScyllaDB's Alternator tests (test_compressed_request), run against DynamoDB: what is broken is answered 500."""
    def put(key, body, *lines):
        return raw.ask(server, raw.head("PutItem", *lines, b"Content-Length: %d" % len(body)) + b"\r\n" + body).status
    def is_there(key):
        return json.loads(raw.ask(server, raw.request("GetItem", b'{"TableName":"heads","Key":{"a":{"S":"%s"}}}' % key)).body) != {}
    def item(key):
        return b'{"TableName":"heads","Item":{"a":{"S":"%s"}}}' % key
    raw_deflate = lambda data: zlib.compress(data)[2:-4]
    same = lambda data: data
    good = [(b"gzip", gzip.compress), (b"GZIP", gzip.compress), (b"deflate", zlib.compress), (b"identity", same), (b"", same),
            (b"gzip", lambda data: gzip.compress(data) + b"junk"), (b"gzip", lambda data: gzip.compress(data[:10]) + gzip.compress(data[10:]))]
    for i, (coding, pack) in enumerate(good):
        assert put(b"good%d" % i, pack(item(b"good%d" % i)), b"Content-Encoding: " + coding) == 200 and is_there(b"good%d" % i), (i, coding)
    bad = [(b"garbage", same), (b"br", same), (b"gzip", same), (b"deflate", same), (b"deflate", raw_deflate), (b"deflate", gzip.compress), (b"gzip", zlib.compress),
           (b"gzip", lambda data: gzip.compress(data)[:-1]), (b"deflate", lambda data: zlib.compress(data)[:-1]), (b"gzip", lambda data: b""),
           (b"deflate", lambda data: b""), (b"gzip, gzip", lambda data: gzip.compress(gzip.compress(data))), (b"identity, garbage", same), (b"garbage", lambda data: b"")]
    for i, (coding, pack) in enumerate(bad):
        assert put(b"bad%d" % i, pack(item(b"bad%d" % i)), b"Content-Encoding: " + coding) == 500 and not is_there(b"bad%d" % i), (i, coding)
    assert put(b"lines", item(b"lines"), b"Content-Encoding: identity", b"Content-Encoding: garbage") == 500 and not is_there(b"lines")
    # two deflate streams are not joined: what is left is no JSON
    assert put(b"two", zlib.compress(item(b"two")[:10]) + zlib.compress(item(b"two")[10:]), b"Content-Encoding: deflate") == 400
    assert put(b"bomb", gzip.compress(b" " * 20_000_000), b"Content-Encoding: gzip") == 413


def answers_in_other_codings():
    """From 4,096 bytes on. AWS: test_compressed_response of the same tests; the grammar of Accept-Encoding is in tests/unit/server/test_gzip.c."""
    def put(key, n):
        body = json.dumps({"TableName": "heads", "Item": {"a": {"S": key}, "x": {"S": "x" * n}}}).encode()
        assert raw.ask(server, raw.request("PutItem", body)).status == 200
    def get(key, *lines):
        body = json.dumps({"TableName": "heads", "Key": {"a": {"S": key}}}).encode()
        reply = raw.ask(server, raw.head("GetItem", *lines, b"Content-Length: %d" % len(body)) + b"\r\n" + body)
        assert int(reply.headers["x-amz-crc32"]) == zlib.crc32(reply.body)
        coding = reply.headers.get("content-encoding")
        plain = {"gzip": gzip.decompress, "deflate": zlib.decompress, None: lambda data: data}[coding](reply.body)
        assert json.loads(plain)["Item"]["a"]["S"] == key
        return coding, len(plain)
    put("k", 0)
    around = get("k")[1]
    put("k", 4096 - around)
    put("j", 4095 - around)
    assert get("k", b"Accept-Encoding: gzip") == ("gzip", 4096) and get("j", b"Accept-Encoding: gzip") == (None, 4095)
    for header, coding in ((b"deflate", "deflate"), (b"gzip;q=0.5, deflate", "deflate"), (b"identity;q=0", None), (b"*", "gzip"), (b"gzip;q=0", None), (b"br", None)):
        assert get("k", b"Accept-Encoding: " + header)[0] == coding, header
    assert get("k")[0] is None
    assert get("k", b"Accept-Encoding: identity", b"Accept-Encoding: gzip")[0] is None
    assert get("k", b"Accept-Encoding: gzip", b"Accept-Encoding: identity")[0] == "gzip"


def targets():
    """RFC 9112, 3.2: the absolute form too. AWS: the API answers a POST at any path."""
    def at(target):
        return [raw.ask(server, raw.request().replace(b"POST / ", b"POST " + target + b" ")).status,
                raw.ask(server, raw.GET_HEALTH.replace(b"/_dynalith/health", target + b"_dynalith/health")).status]
    for target in (b"/", b"http://x/", b"http://127.0.0.1:8000/", b"HTTP://x/", b"https://x/"):
        assert at(target) == [200, 200], target
    for target in (b"http://x", b"http://x?a=/b", b"/x", b"/?x", b"//", b"http://x/a/b?c", b"*", b"http://"):
        assert at(target)[0] == 200, target


def cross_origin():
    """AWS: test_cors of the same tests, and dynalite's (connections)."""
    allow = {"access-control-allow-origin": "*", "access-control-expose-headers": "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date"}
    def cors(method, *lines):
        reply = raw.ask(server, method + b" / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\n")
        return reply.status, {k: v for k, v in reply.headers.items() if k.startswith("access-control-")}
    asks = (b"Access-Control-Request-Method: dog", b"Access-Control-Request-Headers: cat, meerkat, mouse")
    for method in (b"OPTIONS", b"GET", b"POST"):
        assert cors(method, *asks) == (400, {}), method
    for method in (b"GET", b"POST"):
        assert cors(method, b"Origin: http://example.com/", *asks) == (400, allow), method
    assert cors(b"OPTIONS", b"Origin: whatever") == (200, {**allow, "access-control-max-age": "172800"})
    assert cors(b"OPTIONS", b"Origin: whatever", *asks) == (200, {**allow, "access-control-max-age": "172800", "access-control-allow-methods": "dog",
                                                                   "access-control-allow-headers": "cat, meerkat, mouse"})


def dates():
    """RFC 9110, 6.6.1: each answer says when it was made. The clock that the server reads may be some ms late."""
    for data in (raw.request(), raw.GET_HEALTH, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", raw.request("Nothing")):
        earliest = int(time.time() - 0.1)
        date = raw.ask(server, data).headers["date"]
        assert earliest <= email.utils.parsedate_to_datetime(date).timestamp() <= time.time(), date
        assert re.fullmatch(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", date), date


def strange_lines():
    for data, want in [
        (b"GET / HTTP/9.9\r\n\r\n", [505]), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]), (b"GET /_dynalith/health\r\n\r\n", [400]),
        (b"POST / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", [400]), (b"POST / HTTP/1.1\r\nHost: x\r\nA\0B: c\r\n\r\n", [400]),
        (bytes(range(256)) + b"\r\n\r\n", [400]), (b"POST / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", [400]),
    ]:
        assert ending(data) == want, data
    for method in (b"BREW", b"TRACE", b"CONNECT", b"DELETE", b"post", b"A" * 2000):
        assert replies(method + b" / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}" + SMUGGLED, 2) == [400, 200], method
    for path in (b"*", b"//", b"/../etc/passwd", b"/%00", b"/?" + b"&" * 63, b"/?" + b"a" * 14_000):
        assert replies(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n", 1) == [400], path
    for query in (b"&" * 64, b"a=b&" * 5000, b"a" * 20_000):  # libmicrohttpd would neither answer nor end: the connection is closed
        assert replies(b"GET /?" + query + b" HTTP/1.1\r\nHost: x\r\n\r\n", 1) == [0], query[:10]


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


def ends_behind_requests():
    """A client that ends its side behind its requests gets all answers but to long ones, which a thread for these handles. Then the server closes."""
    patient = Server("--threads", "2", "--request-slice-ms", "10000")
    def put(n):
        return raw.request("PutItem", b'{"TableName":"none","Item":{"a":{"S":"%s"}}}' % (b"x" * n))
    ended = []
    for n, rest in [(1, 0), (100_000, 0), (100_000, 1), (90_000, 20), (1, 3), (100_000, 200)] * 3:
        s = raw.connect(patient)
        s.sendall(put(n) + raw.request() * rest)
        s.shutdown(socket.SHUT_WR)
        first = raw.read_reply(s)
        assert first and b"ResourceNotFoundException" in first.body, (n, rest, first and first.body)
        for i in range(rest):
            reply = raw.read_reply(s)
            assert reply and reply.status == 200, (n, rest, i, reply and reply.body)
        ended.append(s)
    half = raw.connect(patient)
    half.sendall(raw.request()[:-1])
    half.shutdown(socket.SHUT_WR)
    for s in [*ended, half]:
        s.settimeout(10)  # the time limits of a connection are longer
        assert raw.read_reply(s) is None
        s.close()
    patient.stop()


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
                assert not re.match(rb"HTTP/1.1 5(?!05)", s.recv(65536)) or b"Content-Enc" in data
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


run("http", [and_well(test) for test in (bytes_that_are_no_text, whole_requests, pipelines, answers_of_many_at_once, writes_of_many_at_once, cut_anywhere, smuggling, lengths_that_are_none, broken_chunks, heads_that_are_too_large, a_refused_flood_ends, bodies_that_are_too_large, bodies_in_other_codings,
                                         answers_in_other_codings, targets, cross_origin, dates, strange_lines, slow_bytes, early_close, ends_behind_requests,
                                         random_bytes)] + [nothing_is_left])
