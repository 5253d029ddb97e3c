"""The server as a process: durability, hostile input, authentication, namespaces."""
import gzip
import hashlib
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request
import zlib

from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

import make_data
from harness import BINARY, ROOT, Server, create_app, free_port, key, of_files, raises, run, until

AUTH = "AWS4-HMAC-SHA256 Credential=raw/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
shared = Server()
create_app(shared.client())
shared.client().put_item(TableName="app", Item={"PK": {"S": "kept"}, "SK": {"S": "1"}})


def post(url, op, body, **headers):
    """Status, headers and raw body of one request."""
    names = {"X-Amz-Target": f"DynamoDB_20120810.{op}", "Content-Type": "application/x-amz-json-1.0", "Authorization": AUTH,
             "X-Amz-Date": "20260101T000000Z", **{k.replace("_", "-"): v for k, v in headers.items()}}
    request = urllib.request.Request(url, data=body, headers={k: v for k, v in names.items() if v is not None})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def still_well():
    assert shared.process.poll() is None
    assert shared.client().get_item(TableName="app", Key={"PK": {"S": "kept"}, "SK": {"S": "1"}})["Item"]["PK"] == {"S": "kept"}


def survives_kill():
    server = Server(disk=True)
    create_app(server.client())
    acknowledged = set()
    for round_number in range(4):
        def write(worker):
            mine = server.client()
            try:
                for n in range(10_000):
                    name = f"{round_number}-{worker}-{n}"
                    mine.transact_write_items(TransactItems=[
                        {"Put": {"TableName": "app", "Item": {"PK": {"S": name}, "SK": {"S": half}, "GSI1PK": {"S": "all"}, "GSI1SK": {"S": name}}}}
                        for half in ("a", "b")])
                    acknowledged.add(name)
            except Exception:
                pass  # the server is gone
        workers = [threading.Thread(target=write, args=(w,)) for w in range(4)]
        [w.start() for w in workers]
        time.sleep(0.4)
        server.kill()
        [w.join() for w in workers]
        server.start()
        found, start = {}, {}
        while True:
            page = server.client().scan(TableName="app", **start)
            for i in page["Items"]:
                found.setdefault(i["PK"]["S"], set()).add(i["SK"]["S"])
            if "LastEvaluatedKey" not in page:
                break
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
        assert acknowledged <= set(found), "an acknowledged write is lost"
        assert all(halves == {"a", "b"} for halves in found.values()), "half a transaction"
        indexed = sum(p["Count"] for p in server.client().get_paginator("query").paginate(
            TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :a", ExpressionAttributeValues={":a": {"S": "all"}}, Select="COUNT"))
        assert indexed == 2 * len(found), (indexed, len(found))
    assert len(acknowledged) > 50
    server.stop()


def raw(data, wait=0.2):
    with socket.create_connection(("127.0.0.1", shared.port), timeout=120) as s:
        s.sendall(data)
        s.settimeout(wait)
        try:
            return s.recv(65536)
        except (TimeoutError, ConnectionError):
            return b""


def hostile_input():
    big = b'{"a":"' + b"x" * (17 * 1024 * 1024) + b'"}'
    item = lambda v: json.dumps({"TableName": "app", "Item": {"PK": {"S": "x"}, "SK": {"S": "y"}, "v": v}}).encode()
    cases = [("GetItem", b""), ("GetItem", b"{"), ("GetItem", b"[]"), ("GetItem", b'{"TableName":5}'), ("GetItem", b"\xff\xfe"),
             ("PutItem", item({"N": "zzz"})), ("PutItem", item({"S": 5})), ("PutItem", item([])), ("PutItem", item({"L": [{"M": {"a": []}}]})),
             ("PutItem", b"[" * 10_000), ("PutItem", b'{"Item":' + b'{"a":{"M":' * 10_000), ("PutItem", b'{"TableName":"app","Item":{"PK":{"S":"\xc3\x28"}}}'),
             ("Query", b'{"TableName":"app","KeyConditionExpression":"' + b"(" * 4000 + b'"}'), ("GetItem", b'{"TableName":"nope","Key":{}}'),
             ("Nope", b"{}"), ("", b"{}"), ("PutItem", item({"S": "x" * 420_000})), ("GetItem", b'{"TableName":"app","Key":{"PK":{"S":"x"}}}')]
    for op, body in cases:
        status, _, reply = post(shared.url, op, body)
        assert status == 400 and b"__type" in reply, (op, body[:80], status, reply[:200])
    assert post(shared.url, "PutItem", big)[0] == 413
    for data in (b"\x00\x01\x02\r\n\r\n", b"GET", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                 b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"A" * 100_000, b"\r\n" * 1000):
        raw(data)
    still_well()


def half_a_request_is_closed():
    server = Server("--request-timeout", "1")
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as s:
        s.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        assert b"200 OK" not in s.recv(65536)
    server.stop()


def headers_of_replies():
    for op, body in (("ListTables", b"{}"), ("GetItem", b"{")):
        _, headers, reply = post(shared.url, op, body)
        assert int(headers["x-amz-crc32"]) == zlib.crc32(reply) and len(headers["x-amzn-RequestId"]) == 52
        assert headers["Content-Type"] == "application/x-amz-json-1.0"
    ids = {post(shared.url, "ListTables", b"{}")[1]["x-amzn-RequestId"] for _ in range(20)}
    assert len(ids) == 20


def gzip_both_ways():
    body = json.dumps({"TableName": "app", "Item": {"PK": {"S": "zip"}, "SK": {"S": "1"}, "body": {"S": "y" * 5000}}}).encode()
    assert post(shared.url, "PutItem", gzip.compress(body), Content_Encoding="gzip")[0] == 200
    get = json.dumps({"TableName": "app", "Key": {"PK": {"S": "zip"}, "SK": {"S": "1"}}}).encode()
    status, headers, reply = post(shared.url, "GetItem", get, Accept_Encoding="gzip")
    assert headers["Content-Encoding"] == "gzip" and int(headers["x-amz-crc32"]) == zlib.crc32(reply)
    assert json.loads(gzip.decompress(reply))["Item"]["body"]["S"] == "y" * 5000
    assert post(shared.url, "PutItem", b"not gzip", Content_Encoding="gzip")[0] == 500
    bomb = gzip.compress(b"x" * (64 * 1024 * 1024))
    assert post(shared.url, "PutItem", bomb, Content_Encoding="gzip")[0] == 413
    still_well()


def other_paths_and_methods():
    def ask(method, path, **headers):
        request = urllib.request.Request(shared.url + path, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()
    for method, path, status in (("GET", "/_dynalith/healthz", 404), ("POST", "/_dynalith/", 404), ("POST", "/_dynalith/health", 405),
                                 ("DELETE", "/_dynalith/clock", 405), ("GET", "/_dynalith/streams/rotate", 405)):
        answer = ask(method, path)
        pages = json.loads(answer[2])
        assert answer[0] == status and path in pages["message"], (method, path, answer)
        assert ("Allow" in answer[1]) == (status == 405), answer
        assert {"/_dynalith/health", "/_dynalith/metrics", "/_dynalith/clock"} < {p["path"] for p in pages["pages"]}
    for path in ("/_dynalith", "/_dynalith/"):
        status, _, reply = ask("GET", path)
        assert status == 200 and {"/_dynalith/reset", "/_dynalith/faults"} < {p["path"] for p in json.loads(reply)["pages"]}, (path, status, reply)
    for method, path in (("GET", "/"), ("HEAD", "/"), ("PUT", "/"), ("DELETE", "/x"), ("POST", "/x"), ("OPTIONS", "/")):
        assert ask(method, path)[0] == 400, (method, path)
    assert ask("GET", "/_dynalith/health")[0] == 200
    assert b"dynalith_requests_total" in ask("GET", "/_dynalith/metrics")[2]
    status, headers, _ = ask("OPTIONS", "/", **{"Origin": "http://app.localhost:3000", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-amz-target"})
    assert status == 200 and headers["Access-Control-Allow-Origin"] == "http://app.localhost:3000" and headers["Access-Control-Allow-Headers"] == "x-amz-target"


def stderr_that_nobody_reads():
    server = Server("--log-level", "debug")  # into a pipe
    for _ in range(1000):
        assert post(server.url, "ListTables", b"{}")[0] == 200
    server.process.terminate()
    assert server.process.wait(120) == 0


def quick_end_when_idle():
    server = Server()
    begin = time.monotonic()
    server.process.terminate()
    assert server.process.wait(120) == 0
    print(f"e2e: ended {1000 * (time.monotonic() - begin):.0f} ms after SIGTERM")


def ends_whatever_its_threads_do():
    """A report goes to a FIFO that nobody reads: opening it takes for ever."""
    server = Server("--insight", "on", "--report", "fifo.html", disk=True)
    os.mkfifo(f"{server.folder}/fifo.html")
    create_app(server.client())
    server.client().put_item(TableName="app", Item={"PK": {"S": "kept"}, "SK": {"S": "1"}})
    server.process.terminate()
    _, log = server.process.communicate(timeout=120)
    assert server.process.returncode == 4, server.process.returncode
    assert b"what did not end: reports" in log, log
    os.unlink(f"{server.folder}/fifo.html")
    server.start()
    assert "Item" in server.client().get_item(TableName="app", Key={"PK": {"S": "kept"}, "SK": {"S": "1"}})
    server.stop()


@of_files
def one_process_per_file():
    server = Server(disk=True)
    path = f"{server.folder}/data.db"
    second = subprocess.run([BINARY, "--port", str(free_port()), "--db-path", path], capture_output=True, text=True, timeout=120)
    assert second.returncode == 1 and "in use by another process" in second.stderr and second.stderr.count("\n") == 1, second
    server.process.terminate()
    assert server.process.wait(120) == 0
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = hashlib.sha256(open(path, "rb").read()).digest()
    newer = subprocess.run([BINARY, "--port", str(free_port()), "--db-path", path], capture_output=True, text=True, timeout=120)
    assert newer.returncode == 1 and "format 99" in newer.stderr, newer
    assert hashlib.sha256(open(path, "rb").read()).digest() == before
    with open(f"{server.folder}/text", "w") as file:
        file.write("not a database " * 20)
    for foreign in (f"{server.folder}/text", f"{server.folder}/text/below", "/nowhere/at/all.db"):
        done = subprocess.run([BINARY, "--port", str(free_port()), "--db-path", foreign], capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done


def store_by_url():
    """--store says where the data is; beside the two options that are short for it, it contradicts them."""
    server = Server(store="memory:")
    table = dict(TableName="kept", AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}], KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
                 BillingMode="PAY_PER_REQUEST")
    server.client().create_table(**table)
    assert not list(pathlib.Path(server.folder).glob("data.db*"))
    server.kill()
    kept = Server(store=f"sqlite:{server.folder}/other.db")
    kept.client().create_table(**table)
    kept.kill()
    kept.start()
    assert kept.client().list_tables()["TableNames"] == ["kept"]
    subprocess.run([BINARY, "backup", kept.url, f"{server.folder}/backup.db"], check=True, capture_output=True, timeout=120)
    before = pathlib.Path(f"{server.folder}/backup.db").read_bytes()
    copied = Server(store=f"memory:{server.folder}/backup.db")
    copied.client().create_table(**{**table, "TableName": "more"})
    assert copied.client().list_tables()["TableNames"] == ["kept", "more"]
    copied.kill()
    assert pathlib.Path(f"{server.folder}/backup.db").read_bytes() == before
    for file, why in (("nowhere.db", "No such file"), ("text", "is not a data file"), ("other.db", "dynalith backup")):
        pathlib.Path(f"{server.folder}/text").write_text("not a database " * 20)
        done = subprocess.run([BINARY, "--port", str(free_port()), "--store", f"memory:{server.folder}/{file}"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1, done
    kept.kill()
    for url in ("mysql://x", "sqlite:", "memory"):
        done = subprocess.run([BINARY, "--port", str(free_port()), "--store", url], capture_output=True, text=True, timeout=120)
        assert done.returncode == 2 and "wants sqlite:FILE, memory: or postgresql://USER@HOST/DATABASE, not " + url in done.stderr and done.stderr.count("\n") == 1, done


def opened(pattern):
    """A server on a copy of each data file of that name."""
    files = sorted((pathlib.Path(__file__).parent / "data").glob(pattern))
    assert files
    for file in files:
        server = Server(disk=True)
        server.kill()
        for left in pathlib.Path(server.folder).glob("data.db*"):
            left.unlink()
        pathlib.Path(server.folder, "data.db").write_bytes(gzip.decompress(file.read_bytes()))
        server.start()
        yield server


@of_files
def opens_older_files():
    """data/VERSION-*.db.gz: what a version before this one has left behind; a file is added with each format and never changed."""
    for server in opened("*-first.db.gz"):
        client = server.client(key="a", secret="b")
        table = client.describe_table(TableName="kept")["Table"]
        assert (table["ItemCount"], table["TableStatus"]) == (21, "ACTIVE"), table
        assert client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "a", "Value": "b"}]
        for index, count in ((None, 21), ("by-g", 20), ("local", 20)):
            items = client.scan(TableName="kept", **({"IndexName": index} if index else {}))["Items"]
            assert len(items) == count, (index, len(items))
        item = client.get_item(TableName="kept", Key={"pk": {"S": "p0"}, "sk": {"N": "3"}})["Item"]
        assert item["all"]["M"]["b"] == {"B": b"\0\xff"} and item["all"]["M"]["l"] == {"L": [{"NULL": True}, {"BOOL": False}, {"S": "\u00e9"}]}, item
        client.update_time_to_live(TableName="kept", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        client.put_item(TableName="kept", Item={"pk": {"S": "new"}, "sk": {"N": "1"}, "g": {"S": "y"}, "ttl": {"N": "1"}})
        client.delete_item(TableName="kept", Key={"pk": {"S": "p0"}, "sk": {"N": "3"}})
        assert client.scan(TableName="kept", IndexName="by-g")["Count"] == 20
        keeps_order(client)
        server.stop()


def partitions(client, table, **more):
    """The partition keys in the order of a Scan that goes item by item."""
    found, page = [], {"LastEvaluatedKey": None}
    while "LastEvaluatedKey" in page:
        page = client.scan(TableName=table, Limit=1, **more, **({"ExclusiveStartKey": page["LastEvaluatedKey"]} if page["LastEvaluatedKey"] else {}))
        found += [i["pk"]["S"] for i in page["Items"] if i["pk"]["S"] not in found]
    return found


def keeps_order(client):
    """A table of version 0.1.0 keeps its own hash, also after a change of the table; a new one in the same file has AWS's."""
    keys = ["t", "p1", "p0", "p2"]  # as version 0.1.0 had them
    assert [p for p in partitions(client, "kept") if p in keys] == keys
    client.create_table(TableName="fresh", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
    for p in keys:
        client.put_item(TableName="fresh", Item={"pk": {"S": p}})
    assert partitions(client, "fresh") == sorted(keys, key=lambda p: hashlib.md5(b"Outliers" + p.encode()).digest()) != keys
    client.update_table(TableName="kept", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        GlobalSecondaryIndexUpdates=[{"Create": {"IndexName": "by-pk", "KeySchema": key("pk"), "Projection": {"ProjectionType": "KEYS_ONLY"}}}])
    until(lambda: client.describe_table(TableName="kept")["Table"]["GlobalSecondaryIndexes"][-1]["IndexStatus"] == "ACTIVE", "the index is not built")
    assert [p for p in partitions(client, "kept", IndexName="by-pk") if p in keys] == keys
    segments = [partitions(client, "kept", Segment=n, TotalSegments=3) for n in range(3)]
    assert [p for segment in segments for p in segment if p in keys] == keys, segments


@of_files
def opens_everything():
    """What make_data.py wrote: every kind of row that a version keeps, read and written on."""
    for server in opened("*-all.db.gz"):
        c = server.client()
        table = c.describe_table(TableName="all")["Table"]
        index = table["GlobalSecondaryIndexes"][0]
        assert (table["ItemCount"], index["ItemCount"], index["IndexStatus"], table["DeletionProtectionEnabled"]) == (29, 29, "ACTIVE", True), table
        assert [t["ProvisionedThroughput"]["WriteCapacityUnits"] for t in (table, index)] == [8, 4], table
        assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        assert c.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "a", "Value": "b"}]
        assert c.describe_time_to_live(TableName="all")["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
        recovery = c.describe_continuous_backups(TableName="all")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        # it was on when the file was written, but that version kept no log that a moment could be restored from
        assert recovery["PointInTimeRecoveryStatus"] == "DISABLED", recovery
        assert c.describe_contributor_insights(TableName="all", IndexName="by-g")["ContributorInsightsStatus"] == "ENABLED"
        assert c.describe_kinesis_streaming_destination(TableName="all")["KinesisDataStreamDestinations"][0]["StreamArn"] == make_data.STREAM
        assert "dynamodb:GetItem" in c.get_resource_policy(ResourceArn=table["TableArn"])["Policy"]
        item = c.get_item(TableName="all", Key={"pk": {"S": "p1"}, "sk": {"B": b"\1"}})["Item"]
        assert item["deep"]["M"]["l"]["L"] == [{"NULL": True}, {"BOOL": False}, {"SS": ["1", "\u00e9"]}] and item["n"] == {"N": "0.15"}, item
        assert c.query(TableName="all", IndexName="by-g", KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": {"N": "-2"}})["Count"] == 5
        found = c.search_vectors(TableName="vectors", IndexName="near", SearchVector=[{"N": n} for n in ("7", "0.25", "-1")], TopK=1)
        assert found["SearchResults"][0]["Item"]["pk"] == {"S": "7"}, found
        streams = server.client(service="dynamodbstreams")
        shards = streams.describe_stream(StreamArn=table["LatestStreamArn"])["StreamDescription"]["Shards"]
        last = streams.get_shard_iterator(StreamArn=table["LatestStreamArn"], ShardId=shards[-1]["ShardId"], ShardIteratorType="LATEST")["ShardIterator"]
        c.update_item(TableName="all", Key={"pk": {"S": "p1"}, "sk": {"B": b"\1"}}, UpdateExpression="SET #t = :t", ExpressionAttributeNames={"#t": "ttl"},
                      ExpressionAttributeValues={":t": {"N": str(int(time.time()))}})
        urllib.request.urlopen(f"{server.url}/_dynalith/clock", data=b'{"advance": 1}').close()
        assert [r["eventName"] for r in streams.get_records(ShardIterator=last)["Records"]] == ["MODIFY", "REMOVE"]
        server.stop()


def namespaces():
    here, there = shared.client(key="111111111111"), shared.client(key="222222222222", region="eu-west-1")
    create_app(here, "spaced")
    assert here.describe_table(TableName="spaced")["Table"]["TableArn"] == "arn:aws:dynamodb:us-east-1:111111111111:table/spaced"
    raises("ResourceNotFoundException", there.describe_table, TableName="spaced")
    create_app(there, "spaced")
    assert there.describe_table(TableName="spaced")["Table"]["TableArn"] == "arn:aws:dynamodb:eu-west-1:222222222222:table/spaced"
    assert shared.client(key="my-key_1").list_tables()["TableNames"] == ["app"]
    arn = "arn:aws:dynamodb:us-east-1:111111111111:table/spaced"
    assert here.describe_table(TableName=arn)["Table"]["TableName"] == "spaced"
    joined = Server("--shared-db")
    create_app(joined.client(key="111111111111"))
    assert joined.client(key="222222222222", region="eu-west-1").list_tables()["TableNames"] == ["app"]
    joined.stop()


def signatures():
    config = f"{shared.folder}/auth.json"
    with open(config, "w") as file:
        json.dump({"auth": "verify", "credentials": [{"access_key_id": "alice", "secret_access_key": "s3cret"},
                                                     {"access_key_id": "bob", "secret_access_key": "hush", "session_token": "token/1+=="}]}, file)
    server = Server("--config", config)
    assert server.client("alice", "s3cret").list_tables()["TableNames"] == []
    assert server.client("bob", "hush", token="token/1+==").list_tables()["TableNames"] == []
    assert "does not match" in raises("InvalidSignatureException", server.client("alice", "wrong").list_tables)
    raises("UnrecognizedClientException", server.client("mallory", "x").list_tables)
    raises("UnrecognizedClientException", server.client("bob", "hush", token="other").list_tables)
    status, _, reply = post(server.url, "ListTables", b"{}", Authorization=None)
    assert status == 400 and b"MissingAuthenticationTokenException" in reply
    status, _, reply = post(server.url, "ListTables", b"{}", Authorization="AWS4-HMAC-SHA256 Credential=alice")
    assert status == 400 and b"IncompleteSignatureException" in reply
    unsigned_body = {"X-Amz-Content-Sha256": "UNSIGNED-PAYLOAD"}
    request = AWSRequest("POST", server.url + "/", headers={"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0",
                                                            **unsigned_body})
    SigV4QueryAuth(Credentials("alice", "s3cret"), "dynamodb", "us-east-1", expires=60).add_auth(request)
    status, _, reply = post(request.url, "ListTables", b"{}", Authorization=None, X_Amz_Date=None, **unsigned_body)
    assert status == 200, reply
    status, _, reply = post(request.url.replace("X-Amz-Signature=", "X-Amz-Signature=0"), "ListTables", b"{}", Authorization=None, X_Amz_Date=None, **unsigned_body)
    assert status == 400 and b"InvalidSignatureException" in reply
    with urllib.request.urlopen(server.url + "/_dynalith/health") as health:
        assert health.status == 200
    try:
        urllib.request.urlopen(server.url + "/_dynalith/metrics")
        raise AssertionError("metrics unsigned")
    except urllib.error.HTTPError as error:
        assert error.code == 400
    server.stop()
    server = Server("--auth", "off")
    assert post(server.url, "ListTables", b"{}", Authorization=None)[0] == 200
    server.stop()
    status, _, reply = post(shared.url, "ListTables", b"{}", Authorization=None)
    assert status == 400 and b"MissingAuthenticationTokenException" in reply


def any_host_header():
    reply = raw(b"POST / HTTP/1.1\r\nHost: dynamodb.us-east-1.amazonaws.com\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\nAuthorization: "
                + AUTH.encode() + b"\r\nX-Amz-Date: 20260101T000000Z\r\nContent-Length: 2\r\n\r\n{}", wait=5)
    assert reply.startswith(b"HTTP/1.1 200"), reply


if __name__ == "__main__":
    run("server", [survives_kill, hostile_input, half_a_request_is_closed, headers_of_replies, gzip_both_ways, other_paths_and_methods, store_by_url,
                   stderr_that_nobody_reads, quick_end_when_idle, ends_whatever_its_threads_do, one_process_per_file, opens_older_files, opens_everything, namespaces, signatures, any_host_header, still_well, shared.stop])
