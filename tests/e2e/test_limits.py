"""Load and limits: a thousand connections, slow clients, clients that never read; over a limit requests are shed, and the others are served."""
import gzip
import json
import re
import resource
import selectors
import signal
import threading
import time

import boto3
from botocore.config import Config

import raw
from harness import Server, create_app, run, stat_of, until

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
SLACK = 64 * 1024 * 1024  # beyond the limit of memory: what four workers take in one step
MANY = min(1000, min(hard, 8192) - 600)


def idle_again(server):
    """No connection, request or memory of earlier requests is left but those of the question itself."""
    until(lambda: (lambda f: f["dynalith_connections"] == 1 and f["dynalith_requests_under_way"] == 1 and f["dynalith_request_memory_bytes"] == 0)(raw.figures(server)),
          "something is left behind")


def table_of_large_items(server, n=40, size=350_000):
    client = server.client()
    create_app(client)
    for i in range(n):
        client.put_item(TableName="app", Item={"PK": {"S": "big"}, "SK": {"S": f"{i:03}"}, "body": {"S": "x" * size}})
    return json.dumps({"RequestItems": {"app": {"Keys": [{"PK": {"S": "big"}, "SK": {"S": f"{i:03}"}} for i in range(n)]}}}).encode()


def thousand_connections():
    server = Server()
    idle = [raw.connect(server) for _ in range(MANY)]
    until(lambda: raw.figures(server)["dynalith_connections"] >= MANY, "not all are in")
    create_app(server.client())
    for s in idle:  # all at once
        s.sendall(raw.request())
    waiting = selectors.DefaultSelector()
    for s in idle:
        waiting.register(s, selectors.EVENT_READ)
    answered = 0
    while answered < MANY:
        ready = waiting.select(raw.PATIENCE)
        assert ready, f"{answered} of {MANY} were answered"
        for key, _ in ready:
            reply = raw.read_reply(key.fileobj)
            assert reply and reply.status == 200 and b"app" in reply.body
            waiting.unregister(key.fileobj)
            answered += 1
    assert server.client().list_tables()["TableNames"] == ["app"]
    [s.close() for s in idle]
    idle_again(server)
    server.stop()


def take_all_places(server, n):
    """Connections that are within the limit: each had an answer. Those that asked before may not be gone yet."""
    inside = []
    while len(inside) < n:
        s = raw.connect(server)
        s.sendall(raw.request())
        if raw.read_reply(s).status == 200:
            inside.append(s)
        else:
            s.close()
    return inside


def over_the_connection_limit():
    server = Server("--connection-limit", "20")
    inside = take_all_places(server, 20)
    with raw.connect(server) as s:
        s.sendall(raw.request(body=b"{" + b" " * 300_000 + b"}"))
        reply = raw.read_reply(s)
        assert reply.status == 503 and json.loads(reply.body)["__type"].endswith("#ServiceUnavailable"), reply.body
        assert reply.headers["connection"].lower() == "close" and s.recv(1) == b""
    assert raw.ask(server, raw.GET_HEALTH).status == 200
    assert raw.figures(server)["dynalith_requests_shed_total"] >= 1
    for s in inside:
        s.sendall(raw.request())
        assert raw.read_reply(s).status == 200
    # An SDK comes through as soon as there is room.
    client = boto3.client("dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b",
                          config=Config(retries={"mode": "standard", "max_attempts": 50}))
    statuses = []
    client.meta.events.register("needs-retry.dynamodb.ListTables", lambda response, **kwargs: statuses.append(response[0].status_code) if response else None)
    begun = threading.Event()
    client.meta.events.register("before-send.dynamodb.ListTables", lambda **kwargs: begun.set())

    def free():
        begun.wait(raw.PATIENCE)
        until(lambda: 503 in statuses, "never shed")
        inside.pop().close()
    threading.Thread(target=free).start()
    assert client.list_tables()["TableNames"] == [] and statuses[-1] == 200 and 503 in statuses, statuses
    [s.close() for s in inside]
    client.close()
    idle_again(server)
    server.stop()


def silent_connections_over_the_limit_end():
    server = Server("--connection-limit", "1")
    (inside,) = take_all_places(server, 1)
    crowd = [raw.connect(server) for _ in range(200)]  # more than are let in to be told
    for s in crowd:
        assert s.recv(1) == b""
    inside.sendall(raw.request())
    assert raw.read_reply(inside).status == 200
    [s.close() for s in (inside, *crowd)]
    server.stop()


def replies_that_nobody_reads():
    server = Server("--memory-limit-mb", "128", "--request-timeout", "20")
    large = raw.request("BatchGetItem", table_of_large_items(server))
    deaf = []

    def is_full():
        """One more that reads nothing: some of those before may have got a 503 themselves, which takes no memory."""
        s = raw.connect(server, receive_buffer=4096)
        s.sendall(large)
        deaf.append(s)
        return raw.ask(server, large).status == 503

    until(is_full, "memory is not limited")
    assert raw.figures(server)["dynalith_requests_shed_total"] >= 1
    for _ in range(20):  # small ones need next to nothing
        assert raw.ask(server, raw.request()).status == 200
    until(lambda: raw.ask(server, large).status == 200, "memory does not come back")
    [s.close() for s in deaf]
    idle_again(server)
    server.stop()


def bodies_that_do_not_end():
    server = Server("--memory-limit-mb", "64")
    hogs, late = [raw.connect(server) for _ in range(3)], raw.connect(server)
    size = 15_000_000
    for hog in hogs:
        hog.sendall(raw.head("PutItem", b"Content-Length: %d" % size) + b"\r\n" + b" " * (size - 1))
    until(lambda: raw.figures(server)["dynalith_request_memory_bytes"] > 3 * size, "the bodies do not count")
    late.sendall(raw.head("PutItem", b"Content-Length: %d" % size) + b"\r\n" + b" " * size)
    assert raw.read_reply(late).status == 503
    late.sendall(raw.request())  # its connection is as good as before
    assert raw.read_reply(late).status == 200
    for hog in hogs:
        hog.sendall(b" ")
        assert raw.read_reply(hog).status == 400
    late.sendall(raw.head("PutItem", b"Content-Length: %d" % size) + b"\r\n" + b" " * size)
    assert raw.read_reply(late).status == 400
    [s.close() for s in (*hogs, late)]
    idle_again(server)
    server.stop()


NAME = "PLACE-OF-THE-NAME"
WIDE = [json.dumps({"PutRequest": {"Item": {"PK": {"S": NAME}, "SK": {"S": str(i)}, **{f"a{k:05}": {"S": ""} for k in range(35_000)}}}},
                   separators=(",", ":")) for i in range(25)]


def wide_batch(name, n=25):
    """A legal BatchWriteItem, 600,000 bytes for each item: what is made of it takes fourteen times as much."""
    return raw.request("BatchWriteItem", ('{"RequestItems":{"app":[' + ",".join(WIDE[:n]) + "]}}").replace(NAME, name).encode())


def written(client, name):
    pages = client.get_paginator("query").paginate(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": name}}, Select="COUNT")
    return sum(page["Count"] for page in pages)


def what_is_made_of_a_body_counts():
    """A request is refused where it takes more, whole; others are served meanwhile and afterwards."""
    server = Server("--memory-limit-mb", "64")
    client = server.client()
    create_app(client)
    for _ in range(3):
        reply = raw.ask(server, wide_batch("large"))
        assert reply.status == 503 and json.loads(reply.body)["__type"].endswith("#ServiceUnavailable"), reply.body
    assert written(client, "large") == 0
    assert raw.ask(server, wide_batch("small", n=2)).status == 200 and written(client, "small") == 2
    f = raw.figures(server)
    assert f["dynalith_requests_shed_total"] == 3
    client.close()
    idle_again(server)
    server.stop()


def large_requests_share_the_memory():
    """With the limit as it is by default: each comes through alone; of many at once some are refused, none is half done, and the process stays small."""
    server = Server("--threads", "4", "--request-cpu-ms", "0", disk=True)  # a sanitizer's build needs more than 5 s of CPU time
    client = server.client()
    create_app(client)
    most, at_first = 512 * 1024 * 1024, raw.figures(server)["process_resident_memory_bytes"]
    assert raw.ask(server, wide_batch("alone")).status == 200 and written(client, "alone") == 25
    statuses = [[] for _ in range(6)]

    def send(i):
        for k in range(3):
            statuses[i].append(raw.ask(server, wide_batch(f"{i}-{k}")).status)
    threads = [threading.Thread(target=send, args=(i,)) for i in range(len(statuses))]
    [t.start() for t in threads]
    while any(t.is_alive() for t in threads):
        assert raw.figures(server)["dynalith_request_memory_bytes"] < most + SLACK
        time.sleep(0.01)
    if raw.figures(server)["process_virtual_memory_bytes"] < 1e12:  # no sanitizer's memory beside the server's own
        peak = re.search(r"VmHWM:\s+(\d+) kB", open(f"/proc/{server.process.pid}/status").read()).group(1)
        assert int(peak) * 1024 < at_first + most + SLACK, peak
    for i, of_one in enumerate(statuses):
        for k, status in enumerate(of_one):
            assert (status, written(client, f"{i}-{k}")) in ((200, 25), (503, 0)), (status, i, k)
    assert raw.ask(server, wide_batch("again")).status == 200
    client.close()
    idle_again(server)
    server.stop()


def put_all(client, items):
    for i in range(0, len(items), 25):
        client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": item}} for item in items[i:i + 25]]})


def large_answers_find_memory_that_is_there():
    """glibc would return it to the system after each answer, and each Scan would take hundreds of page faults."""
    server = Server("--threads", "1", "--request-slice-ms", "0")
    client = server.client()
    create_app(client)
    put_all(client, [{"PK": {"S": "p"}, "SK": {"S": str(i)}, "text": {"S": "x" * 500}} for i in range(2000)])
    faults = lambda: int(stat_of(server.process.pid)[7])
    scan = lambda: client.scan(TableName="app")
    for _ in range(10):
        assert scan()["Count"] > 1500
    before, n = faults(), 20
    for _ in range(n):
        scan()
    if raw.figures(server)["process_virtual_memory_bytes"] < 1e12:  # a sanitizer brings its own malloc
        assert faults() - before < 50 * n, faults() - before
    client.close()
    server.stop()


def an_answer_alone_is_held_until_it_is_sent():
    server = Server("--memory-limit-mb", "128")
    keys = table_of_large_items(server, n=16)
    padded = keys[:-1] + b" " * 14_000_000 + keys[-1:]
    deaf = raw.connect(server, receive_buffer=4096)
    deaf.sendall(raw.request("BatchGetItem", padded))
    assert len(deaf.recv(1)) == 1
    assert 4_000_000 < raw.figures(server)["dynalith_request_memory_bytes"] < 15_000_000
    deaf.close()
    idle_again(server)
    server.stop()


def who_has_the_answer_finds_room():
    """Whatever a request held is free when its answer is there, also where it was refused."""
    server = Server("--memory-limit-mb", "64", "--threads", "4")
    large = wide_batch("large")
    medium = raw.request("ListTables", b'{"Limit":1,"x":"' + b"x" * 8_000_000 + b'"}')
    for i in range(10):
        with raw.connect(server) as one, raw.connect(server) as other:
            other.sendall(raw.request())
            assert raw.read_reply(other).status == 200
            one.sendall(large)
            assert raw.read_reply(one).status in (400, 503)
            other.sendall(medium if i % 2 else raw.request())
            assert raw.read_reply(other).status == 200
    idle_again(server)
    server.stop()


def trickle(s, data):
    """A byte now and then, until the server has enough of it. How much went."""
    for i in range(len(data)):
        try:
            s.sendall(data[i:i + 1])
            s.settimeout(0.1)
            if s.recv(1) == b"":
                return i
        except TimeoutError:
            pass
        except ConnectionError:
            return i
    return len(data)


def slow_senders():
    server = Server("--idle-timeout", "2", "--request-timeout", "2")
    long_line = b"x" * 600
    cases = [b"POST /" + long_line, raw.head()[:-2] + b"\r\nX-Long: " + long_line, raw.head("ListTables", b"Content-Length: 600") + b"\r\n" + long_line,
             raw.head("ListTables", b"Transfer-Encoding: chunked") + b"\r\n" + b"1\r\n \r\n" * 100]
    went = [0] * len(cases)

    def one(i):
        with raw.connect(server) as s:
            quick = len(cases[i]) - 590
            s.sendall(cases[i][:quick])
            went[i] = trickle(s, cases[i][quick:])
    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(cases))]
    [t.start() for t in threads]
    assert raw.ask(server, raw.request()).status == 200
    [t.join() for t in threads]
    assert all(n < 580 for n in went), went
    idle_again(server)
    server.stop()


def slow_readers():
    server = Server("--request-timeout", "5")
    body = table_of_large_items(server)
    served = threading.Event()

    def read():
        with raw.connect(server, receive_buffer=4096) as s:
            s.sendall(raw.request("BatchGetItem", body))
            try:
                while s.recv(512) and not served.wait(0.1):
                    pass
            except ConnectionError:
                pass
    reader = threading.Thread(target=read)
    reader.start()
    until(lambda: raw.figures(server)["dynalith_request_memory_bytes"] > 10_000_000, "the reply does not count")
    until(lambda: raw.figures(server)["dynalith_request_memory_bytes"] == 0, "it is still sent")
    assert reader.is_alive()
    served.set()
    reader.join()
    server.stop()


def busy_for_longer_than_the_idle_timeout():
    """A request that came in time is answered, also when the only worker comes to read it much later."""
    server = Server("--threads", "1", "--idle-timeout", "2")
    table_of_large_items(server, n=3)
    condition = " OR ".join(["contains(body, :v)"] * 150)
    search = raw.request("Scan", json.dumps({"TableName": "app", "FilterExpression": condition, "ExpressionAttributeValues": {":v": {"S": "xy"}}}).encode())
    begin = time.monotonic()
    assert raw.ask(server, search).status == 200
    n = max(4, round(4 / (time.monotonic() - begin)))  # for some seconds' work
    busy, late = [raw.connect(server) for _ in range(n)], [raw.connect(server) for _ in range(3)]
    for s in late:  # they are in
        s.sendall(raw.request())
        assert raw.read_reply(s).status == 200
    for s in busy:
        s.sendall(search)
    time.sleep(0.3)
    for s in late:
        s.sendall(raw.request())
    for s in busy + late:
        assert raw.read_reply(s).status == 200
        s.close()
    server.stop()


def as_many_at_once_as_libmicrohttpd_takes():
    """128 requests that are there when a worker looks, and nothing after them: libmicrohttpd 0.9.75 by itself waits for more before it answers any."""
    server = Server("--threads", "1")
    for n in (127, 128, 129, 256):
        crowd = [raw.connect(server) for _ in range(n)]
        for s in crowd:  # they are in
            s.sendall(raw.request())
            assert raw.read_reply(s).status == 200
        server.process.send_signal(signal.SIGSTOP)
        until(lambda: "\nState:\tT" in open(f"/proc/{server.process.pid}/status").read(), "it does not stop")
        for s in crowd:
            s.sendall(raw.request())
        server.process.send_signal(signal.SIGCONT)
        for s in crowd:
            assert raw.read_reply(s).status == 200, n
        [s.close() for s in crowd]
    server.stop()


def busy_for_longer_than_the_request_timeout():
    """Nor is a request given up while the server is what it waits for; answers: tests/unit/server/test_connections.c."""
    server = Server("--threads", "1", "--request-timeout", "2")
    table_of_large_items(server, n=3)
    condition = " OR ".join(["contains(body, :v)"] * 150)
    search = raw.request("Scan", json.dumps({"TableName": "app", "Limit": 3, "FilterExpression": condition, "ExpressionAttributeValues": {":v": {"S": "xy"}}}).encode())
    begin = time.monotonic()
    assert raw.ask(server, search).status == 200
    n = max(4, round(6 / (time.monotonic() - begin)))  # for some seconds' work
    busy, late = [raw.connect(server) for _ in range(n)], raw.connect(server)
    late.sendall(raw.head("ListTables", b"Content-Length: 1000") + b"\r\n{")
    time.sleep(0.3)
    for s in busy:
        s.sendall(search)
    time.sleep(0.3)
    late.sendall(b" " * 998 + b"}")
    for s in busy + [late]:
        assert raw.read_reply(s).status == 200
        s.close()
    server.stop()


def body_limit():
    server = Server("--body-limit-mb", "1")
    pad = lambda n: b'{"TableName":"none"' + b" " * n + b"}"
    assert raw.ask(server, raw.request("DescribeTable", pad(900_000))).status == 400
    with raw.connect(server) as s:  # told at once, by the claim alone
        s.sendall(raw.head("DescribeTable", b"Content-Length: 1100000") + b"\r\n")
        assert raw.read_reply(s).status == 413
    chunks = b"".join(b"10000\r\n" + b" " * 65536 + b"\r\n" for _ in range(20)) + b"0\r\n\r\n"
    assert raw.ask(server, raw.head("DescribeTable", b"Transfer-Encoding: chunked") + b"\r\n" + chunks).status == 413
    bomb = gzip.compress(b" " * 2_000_000)
    assert raw.ask(server, raw.head("DescribeTable", b"Content-Encoding: gzip", b"Content-Length: %d" % len(bomb)) + b"\r\n" + bomb).status == 413
    idle_again(server)
    server.stop()


def twice(depth):
    """A value whose every level has a member twice."""
    return '{"S":"x"}' if depth == 0 else '{"M":{"x":{"S":"1"},"x":%s}}' % twice(depth - 1)


def many_of_everything():
    """What costs more than it weighs: each of these took a minute or all memory where something was looked for again for each of many."""
    server = Server()
    client = server.client()
    create_app(client)
    key = {"PK": {"S": "p"}, "SK": {"S": "s"}}
    many = [f"a{i:05}" for i in range(40_000)]
    ask = lambda op, body: raw.ask(server, raw.request(op, (body if isinstance(body, str) else json.dumps({"TableName": "app", **body})).encode()))
    put = lambda value: '{"TableName":"app","Item":{"PK":{"S":"p"},"SK":{"S":"s"},"v":{"S":""},%s}}' % value
    assert ask("PutItem", put('"v":' + twice(30))).status == 200
    assert ask("PutItem", put('"v":{},' * 40_000 + '"v":{"L":[' + ",".join(['{"S":""}'] * 20_000) + "]}")).status == 400
    assert ask("PutItem", put('"w":{"S":"1"},"v":{"S":"2"},' * 1000 + '"w":{"S":"3"}')).status == 200
    item = client.get_item(TableName="app", Key=key)["Item"]
    assert item == {**key, "v": {"S": "2"}, "w": {"S": "3"}}, item
    updates = {name: {"Action": "PUT", "Value": {"S": "x"}} for name in many[:20_000]}
    reply = json.loads(ask("UpdateItem", {"Key": key, "AttributeUpdates": updates, "ReturnValues": "UPDATED_NEW"}).body)
    assert reply["Attributes"] == {name: {"S": "x"} for name in many[:20_000]}
    reply = json.loads(ask("GetItem", {"Key": key, "AttributesToGet": many[10_000:]}).body)
    assert reply["Item"] == {name: {"S": "x"} for name in many[10_000:20_000]}
    absent = {name: {"ComparisonOperator": "NULL"} for name in many[20_000:]}
    assert json.loads(ask("Scan", {"ScanFilter": absent}).body)["Count"] == 1
    assert json.loads(ask("Scan", {"ScanFilter": {**absent, many[0]: {"ComparisonOperator": "NULL"}}}).body)["Count"] == 0
    missing = f"{many[0]}, {many[1]}".encode()
    assert missing in ask("Scan", {"IndexName": "GSI2", "AttributesToGet": many}).body
    hash_key = {"GSI2PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "x"}]}}
    assert b"does not project" in ask("Query", {"IndexName": "GSI2", "KeyConditions": hash_key, "QueryFilter": absent}).body
    definitions = [{"AttributeName": name, "AttributeType": "S"} for name in many[:15_000]]
    added = {"Create": {"IndexName": "new", "KeySchema": [{"AttributeName": "none", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}
    assert ask("UpdateTable", {"AttributeDefinitions": definitions, "GlobalSecondaryIndexUpdates": [added]}).status == 400
    assert ask("UpdateTable", {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}} for name in many[:25_000]]}).status == 400
    client.close()
    idle_again(server)
    server.stop()


def cpu_time():
    """Scans that compare each row with 1,300 operands: refused beyond the limit of CPU time, whole without one; writes are all done or not at all."""
    rows, lists = 6_000, 13
    condition = " OR ".join(f"n IN ({','.join([':v'] * 100)})" for _ in range(lists))
    scan = json.dumps({"TableName": "app", "FilterExpression": condition, "ExpressionAttributeValues": {":v": {"S": ""}}}).encode()
    elements = ",".join(['{"NULL":true}'] * 150_000)
    large = ('{"TableName":"app","Item":{"PK":{"S":"large"},"SK":{"S":"1"}' + f',"l":{{"L":[{elements}]}}' * 3 + "}}").encode() # one would take 10 ms
    for limit in (10, 0):
        server = Server("--request-cpu-ms", str(limit))
        client = server.client()
        create_app(client)
        put_all(client, [{"PK": {"S": str(i)}, "SK": {"S": "1"}, "n": {"N": "1"}} for i in range(rows)])
        reply = raw.ask(server, raw.request("Scan", body=scan))
        assert reply.status == (503 if limit else 200), reply.body
        assert not limit or json.loads(reply.body)["__type"].endswith("#ServiceUnavailable"), reply.body
        assert limit or json.loads(reply.body)["ScannedCount"] == rows, reply.body
        reply = raw.ask(server, raw.request("PutItem", body=large))
        assert reply.status == (503 if limit else 200), reply.body
        assert ("Item" in client.get_item(TableName="app", Key={"PK": {"S": "large"}, "SK": {"S": "1"}})) == (limit == 0)
        assert (raw.figures(server)["dynalith_requests_shed_total"] >= 2) == (limit > 0)
        server.stop()


def work_for_clients_that_left():
    """A long request whose client has closed the connection stops."""
    server = Server("--request-cpu-ms", "0")
    client = server.client()
    create_app(client)
    put_all(client, [{"PK": {"S": str(i)}, "SK": {"S": "1"}, "t": {"S": "a" * 330_000}} for i in range(3)])
    condition = " OR ".join(f"contains(t, :v{i})" for i in range(140))
    values = {f":v{i}": {"S": "b" + "a" * 100 + str(i)} for i in range(140)}
    scan = raw.request("Scan", body=json.dumps({"TableName": "app", "FilterExpression": condition, "ExpressionAttributeValues": values}).encode())
    cpu = lambda: raw.figures(server)["process_cpu_seconds_total"]
    before = cpu()
    assert raw.ask(server, scan).status == 200
    one = cpu() - before
    before, count = cpu(), 30
    connections = [raw.connect(server) for _ in range(count)]
    [connection.sendall(scan) for connection in connections]
    until(lambda: raw.figures(server)["dynalith_requests_under_way"] > count / 2, "most requests are under way")
    [connection.close() for connection in connections]
    until(lambda: raw.figures(server)["dynalith_requests_under_way"] == 1, "requests of clients that left end")
    assert cpu() - before < count * one / 2, (cpu() - before, one)
    server.stop()


def few_files():
    """Where the hard limit of open files is low, there is room for fewer connections, and the log says so."""
    server = Server(before="ulimit -n 700")
    f = raw.figures(server)
    assert 100 < f["dynalith_connections_max"] < 700 and f["process_max_fds"] == 700, f
    server.process.terminate()
    assert b"leaves room for" in server.process.communicate()[1]
    for disk in (False, True):
        server = Server("--threads", "2", disk=disk, before="ulimit -n 64")
        most = int(raw.figures(server)["dynalith_connections_max"])
        silent = [raw.connect(server) for _ in range(100)]  # more than the process can have open

        def is_full():
            """One more that is silent, since connections may leave their places late; beyond the limit all are answered."""
            silent.append(raw.connect(server))
            return all(raw.ask(server, raw.request()).status == 503 for _ in range(3))

        until(is_full, "there is room for more than the limit")
        assert raw.ask(server, raw.GET_HEALTH).status == 200
        [s.close() for s in silent]
        asked = []
        for _ in range(100):  # at once, each with its request: all are answered
            asked.append(raw.connect(server))
            asked[-1].sendall(raw.request())
        replies = [raw.read_reply(s) for s in asked]
        assert {reply and reply.status for reply in replies} <= {200, 503}, [reply and reply.status for reply in replies]
        [s.close() for s in asked]
        inside = take_all_places(server, most)
        [s.close() for s in inside]
        server.process.terminate()
        assert f"64 open files leaves room for {most} connections".encode() in server.process.communicate()[1]


run("limits", [thousand_connections, over_the_connection_limit, silent_connections_over_the_limit_end, replies_that_nobody_reads, bodies_that_do_not_end,
               what_is_made_of_a_body_counts, large_requests_share_the_memory, large_answers_find_memory_that_is_there,
               an_answer_alone_is_held_until_it_is_sent, who_has_the_answer_finds_room,
               slow_senders, slow_readers, busy_for_longer_than_the_idle_timeout,
               busy_for_longer_than_the_request_timeout, as_many_at_once_as_libmicrohttpd_takes, body_limit, many_of_everything, cpu_time, work_for_clients_that_left, few_files])
