"""Streams: replaying one gives the table, under concurrent writers, across rotations, kill -9 and restarts; what pollers rely on."""
import base64
import itertools
import json
import os
import random
import struct
import threading
import time
import urllib.error
import urllib.request
import zlib

from harness import DATABASE, Server, key, of_files, raises, run

WRITES = int(os.environ.get("STREAM_WRITES", "4000"))
CONNECTIONS = 16


class Poller:
    """Reads a stream as a correct consumer does: shards by DescribeStream, a parent before its children, checkpoints per shard."""

    def __init__(self, client, arn):
        self.client, self.arn = client, arn
        self.shards = {}  # id -> {"parent", "iterator", "done", "checkpoint"}
        self.open = {}    # those of them that are not done
        self.records = []

    def discover(self):
        """The shards behind the last one that is known."""
        while True:
            start = {"ExclusiveStartShardId": next(reversed(self.shards))} if self.shards else {}
            page = self.client.describe_stream(StreamArn=self.arn, Limit=10, **start)["StreamDescription"]
            for shard in page["Shards"]:
                state = {"parent": shard.get("ParentShardId"), "iterator": None, "done": False, "checkpoint": None}
                self.shards[shard["ShardId"]] = self.open[shard["ShardId"]] = state
            if "LastEvaluatedShardId" not in page:
                return

    def is_ready(self, shard):
        parent = self.shards.get(shard["parent"])
        return parent is None or parent["done"]

    def read(self, name, shard):
        """One page; the number of records."""
        if not shard["iterator"]:
            where = ({"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": shard["checkpoint"]} if shard["checkpoint"]
                     else {"ShardIteratorType": "TRIM_HORIZON"})
            shard["iterator"] = self.client.get_shard_iterator(StreamArn=self.arn, ShardId=name, **where)["ShardIterator"]
        page = self.client.get_records(ShardIterator=shard["iterator"], Limit=random.choice([1, 7, 100, 1000]))
        shard["iterator"] = page.get("NextShardIterator")
        shard["done"] = shard["iterator"] is None
        if page["Records"]:
            shard["checkpoint"] = page["Records"][-1]["dynamodb"]["SequenceNumber"]
        self.records += page["Records"]
        return len(page["Records"])

    def poll(self):
        """Once over all shards; whether anything was there."""
        self.discover()
        moved = 0
        for name, shard in list(self.open.items()):
            if self.is_ready(shard):
                moved += self.read(name, shard) + shard["done"]
            if shard["done"]:
                del self.open[name]
        return moved > 0

    def drain(self):
        while self.poll():
            pass

    def forget_iterators(self):
        """What a consumer that was restarted has: its checkpoints."""
        for shard in self.shards.values():
            shard["iterator"] = None


class Reader:
    """A shard from an iterator on."""

    def __init__(self, client, iterator):
        self.client, self.iterator = client, iterator

    def rest(self):
        records, page = [], {"Records": [None]}
        while self.iterator and page["Records"]:
            page = self.client.get_records(ShardIterator=self.iterator)
            records += page["Records"]
            self.iterator = page.get("NextShardIterator")
        return records


def streams(server, **kwargs):
    return server.client(service="dynamodbstreams", **kwargs)


def create(server, name="app", view="NEW_AND_OLD_IMAGES"):
    table = server.client().create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("pk", "sk"),
        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view})
    return table["TableDescription"]["LatestStreamArn"]


def rotate(server, query="table=app", **headers):
    request = urllib.request.Request(f"{server.url}/_dynalith/streams/rotate?{query}", method="POST", headers=headers)
    for attempt in range(5):  # SDKs retry, too: on a database, a rotation gives up after 40 conflicts with writers
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            if error.code != 503 or not DATABASE or attempt == 4:
                return error.code, json.load(error)


def change(client, rng):
    """One of every kind of write, on few items, so that they meet."""
    item = lambda: {"pk": {"S": str(rng.randrange(20))}, "sk": {"S": str(rng.randrange(5))}}
    full = lambda: {**item(), "v": {"N": str(rng.randrange(3))}, "l": {"L": [{"S": "x"}, {"N": str(rng.randrange(3))}]}}
    kind = rng.randrange(6)
    if kind == 0:
        client.put_item(TableName="app", Item=full())
    elif kind == 1:
        client.delete_item(TableName="app", Key=item())
    elif kind == 2:
        client.update_item(TableName="app", Key=item(), UpdateExpression="ADD v :one SET w = if_not_exists(w, :one)",
                           ExpressionAttributeValues={":one": {"N": str(rng.randrange(2))}})
    elif kind == 3:
        try:
            client.put_item(TableName="app", Item=full(), ConditionExpression="attribute_not_exists(pk)")
        except client.exceptions.ConditionalCheckFailedException:
            pass
    elif kind == 4:
        puts = {(i["pk"]["S"], i["sk"]["S"]): {"PutRequest": {"Item": i}} for i in (full() for _ in range(4))}
        client.batch_write_item(RequestItems={"app": list(puts.values())})
    else:
        items = {(i["pk"]["S"], i["sk"]["S"]): i for i in (full() for _ in range(4))}
        actions = [{"Put": {"TableName": "app", "Item": i}} if n else
                   {"Delete": {"TableName": "app", "Key": {"pk": i["pk"], "sk": i["sk"]}, "ConditionExpression": "attribute_exists(pk)"}}
                   for n, i in enumerate(items.values())]
        try:
            client.transact_write_items(TransactItems=actions)
        except client.exceptions.TransactionCanceledException:
            pass


def write_from_many(server, writes, until=None):
    """CONNECTIONS writers with a client each; with `until` they end when it is set or the server is gone."""
    def work(seed):
        client, rng = server.client(), random.Random(seed)
        try:
            for _ in range(writes // CONNECTIONS):
                change(client, rng)
        except Exception:
            if until is None or not until.is_set():
                raise
    failures = []

    def guarded(seed):
        try:
            work(seed)
        except Exception as e:
            failures.append(e)
    workers = [threading.Thread(target=guarded, args=(random.randrange(1 << 30),)) for _ in range(CONNECTIONS)]
    [w.start() for w in workers]
    return workers, failures


def image_key(keys):
    return keys["pk"]["S"], keys["sk"]["S"]


def replay(records):
    """The table that the records make, each of which must fit what those before it made."""
    model, numbers, ids = {}, {}, set()
    for record in records:
        change, k = record["dynamodb"], image_key(record["dynamodb"]["Keys"])
        old, new = change.get("OldImage"), change.get("NewImage")
        assert model.get(k) == old, (k, model.get(k), record)
        assert old != new, record
        assert record["eventName"] == ("INSERT" if old is None else "REMOVE" if new is None else "MODIFY"), record
        assert numbers.get(k, 0) < int(change["SequenceNumber"]), "the records of an item are out of order"
        assert record["eventID"] not in ids, "an event came twice"
        ids.add(record["eventID"])
        numbers[k] = int(change["SequenceNumber"])
        model.pop(k, None)
        if new is not None:
            model[k] = new
    return model


def content(server):
    pages = server.client().get_paginator("scan").paginate(TableName="app", ConsistentRead=True)
    return {image_key(i): i for page in pages for i in page["Items"]}


def replay_gives_the_table():
    server = Server("--stream-rotate-records", "150", "--stream-shards", "1")
    poller = Poller(streams(server), create(server))
    workers, failures = write_from_many(server, WRITES)
    rotated, pause = 0, WRITES / 200000  # a few hundred shards
    while any(w.is_alive() for w in workers):
        status, answer = rotate(server)
        assert (status, answer) == (200, {"rotated": 1}), (status, answer)
        rotated += 1
        poller.poll()
        time.sleep(pause)
    [w.join() for w in workers]
    assert not failures, failures[0]
    poller.drain()
    assert replay(poller.records) == content(server)
    assert len(poller.records) > WRITES / 4 and len(poller.shards) > rotated
    # whoever comes later reads the same, shard by shard
    late = Poller(streams(server), poller.arn)
    late.drain()
    assert [r["eventID"] for r in late.records] == [r["eventID"] for r in sorted(poller.records, key=lambda r: int(r["dynamodb"]["SequenceNumber"]))]
    assert replay(late.records) == content(server)
    server.stop()


def several_shards_replay_to_the_table():
    """A partition stays in one lineage of shards, whatever the order in which the others are read."""
    server = Server("--stream-rotate-records", "150", "--stream-shards", "4")
    arn = create(server)
    poller = Poller(streams(server), arn)
    poller.discover()
    assert len(poller.shards) == 4 and not any(s["parent"] for s in poller.shards.values()), poller.shards
    workers, failures = write_from_many(server, WRITES)
    while any(w.is_alive() for w in workers):
        assert rotate(server) == (200, {"rotated": 1})
        poller.poll()
        time.sleep(WRITES / 50000)
    [w.join() for w in workers]
    assert not failures, failures[0]
    poller.drain()
    assert replay(poller.records) == content(server)
    ids = [r["eventID"] for r in poller.records]
    assert len(ids) == len(set(ids)) > WRITES / 4

    def root(name):
        while poller.shards[name]["parent"]:
            name = poller.shards[name]["parent"]
        return name

    client, lineages = streams(server), {}
    for name in reversed(poller.shards):  # the newest first: only a partition's own order counts
        iterator = client.get_shard_iterator(StreamArn=arn, ShardId=name, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        lineages.setdefault(root(name), []).insert(0, Reader(client, iterator).rest())
    assert len(lineages) == 4 and sorted(r["eventID"] for parts in lineages.values() for part in parts for r in part) == sorted(ids)
    assert replay([r for parts in lineages.values() for part in parts for r in part]) == content(server)
    partitions = [{r["dynamodb"]["Keys"]["pk"]["S"] for part in parts for r in part} for parts in lineages.values()]
    assert sum(map(len, partitions)) == len(set.union(*partitions)), "a partition is in two shards"
    assert sum(1 for p in partitions if p) > 1, partitions

    known = client.describe_stream(StreamArn=arn, Limit=100)["StreamDescription"]["Shards"]
    names = [s["ShardId"] for s in known]
    assert names == sorted(names)
    for shard in known:
        children = client.describe_stream(StreamArn=arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard["ShardId"]})["StreamDescription"]["Shards"]
        is_closed = "EndingSequenceNumber" in shard["SequenceNumberRange"]
        assert [c["ParentShardId"] for c in children] == [shard["ShardId"]] * is_closed, (shard, children)

    # what starts behind the newest record of each shard sees what comes, once
    before = [s for s in poller.open]
    latest = [Reader(client, client.get_shard_iterator(StreamArn=arn, ShardId=name, ShardIteratorType="LATEST")["ShardIterator"]) for name in before]
    for i in range(40):
        server.client().put_item(TableName="app", Item={"pk": {"S": f"late{i}"}, "sk": {"S": "a"}})
    server.client().transact_write_items(TransactItems=[
        {"Put": {"TableName": "app", "Item": {"pk": {"S": f"late{i}"}, "sk": {"S": "b"}}}} for i in range(40)])
    server.client().update_table(TableName="app", StreamSpecification={"StreamEnabled": False})
    new = [r for reader in latest for r in reader.rest()]
    poller.drain()
    assert sorted(r["dynamodb"]["Keys"]["pk"]["S"] for r in poller.records[len(ids):]) == sorted(f"late{i}" for i in range(40) for _ in range(2))
    assert {r["eventID"] for r in new} <= {r["eventID"] for r in poller.records[len(ids):]}
    assert not poller.open, "a shard of a disabled stream is open"
    server.stop()


def replay_survives_kill():
    server = Server("--stream-rotate-records", "100", disk=True)
    poller = Poller(streams(server), create(server))
    for _ in range(3):
        ends = threading.Event()
        workers, failures = write_from_many(server, WRITES * 50, until=ends)
        deadline = time.monotonic() + 0.7
        while time.monotonic() < deadline:
            poller.poll()
            rotate(server)
        ends.set()
        server.kill()
        [w.join() for w in workers]
        assert not failures, failures[0]
        server.start()
        poller.forget_iterators()
        poller.drain()
        assert replay(poller.records) == content(server)
    assert len(poller.records) > 100
    server.stop()


def closed_shards_have_children():
    server = Server("--stream-shards", "1")
    arn, client = create(server), streams(server)
    put = lambda n: server.client().put_item(TableName="app", Item={"pk": {"S": n}, "sk": {"S": n}})
    describe = lambda **k: client.describe_stream(StreamArn=arn, **k)["StreamDescription"]
    parent = describe()["Shards"][0]
    assert "EndingSequenceNumber" not in parent["SequenceNumberRange"]
    latest = client.get_shard_iterator(StreamArn=arn, ShardId=parent["ShardId"], ShardIteratorType="LATEST")["ShardIterator"]
    put("a")
    assert rotate(server) == (200, {"rotated": 1})
    put("b")
    closed, child = describe()["Shards"]
    assert closed["ShardId"] == parent["ShardId"] and child["ParentShardId"] == parent["ShardId"]
    assert "EndingSequenceNumber" not in child["SequenceNumberRange"]
    page = client.get_records(ShardIterator=latest)
    assert [r["dynamodb"]["Keys"]["pk"]["S"] for r in page["Records"]] == ["a"] and "NextShardIterator" not in page
    assert page["Records"][0]["dynamodb"]["SequenceNumber"] == closed["SequenceNumberRange"]["EndingSequenceNumber"]
    children = describe(ShardFilter={"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]})["Shards"]
    assert children == [child]
    assert describe(Limit=1)["LastEvaluatedShardId"] == parent["ShardId"]
    assert describe(Limit=1, ExclusiveStartShardId=parent["ShardId"])["Shards"] == [child]
    first = client.get_shard_iterator(StreamArn=arn, ShardId=child["ShardId"], ShardIteratorType="AT_SEQUENCE_NUMBER",
                                      SequenceNumber=child["SequenceNumberRange"]["StartingSequenceNumber"])["ShardIterator"]
    page = client.get_records(ShardIterator=first)
    assert [r["dynamodb"]["Keys"]["pk"]["S"] for r in page["Records"]] == ["b"] and page["NextShardIterator"]
    server.stop()


def rotation_is_asked_for_right():
    server = Server()
    create(server)
    server.client(region="eu-west-1").create_table(
        TableName="app", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
              "X-Amz-Date": "20260101T000000Z"}
    assert rotate(server) == (200, {"rotated": 2})
    assert rotate(server, **signed) == (200, {"rotated": 1})
    assert rotate(server, "all=false&table=app") == (200, {"rotated": 2})
    status, answer = rotate(server, "table=none")
    assert status == 400 and answer["__type"].endswith("#ResourceNotFoundException"), answer
    status, answer = rotate(server, "tables=app")
    assert status == 400 and answer["__type"].endswith("#ValidationException"), answer
    server.stop()


def streams_belong_to_a_namespace():
    server = Server()
    arn = create(server)
    assert [s["StreamArn"] for s in streams(server).list_streams()["Streams"]] == [arn]
    other = streams(server, region="eu-west-1")
    assert other.list_streams()["Streams"] == []
    raises("ResourceNotFoundException", other.describe_stream, StreamArn=arn)
    server.stop()


def a_stream_outlives_its_table():
    server = Server(disk=True)
    poller = Poller(streams(server), create(server))
    server.client().put_item(TableName="app", Item={"pk": {"S": "a"}, "sk": {"S": "b"}})
    server.client().delete_table(TableName="app")
    second = create(server)
    server.client().put_item(TableName="app", Item={"pk": {"S": "c"}, "sk": {"S": "d"}})
    for _ in range(2):
        assert [s["StreamArn"] for s in streams(server).list_streams(TableName="app")["Streams"]] == [poller.arn, second]
        described = streams(server).describe_stream(StreamArn=poller.arn)["StreamDescription"]
        assert described["StreamStatus"] == "DISABLED"
        server.kill()
        server.start()
    poller.drain()
    assert [r["dynamodb"]["Keys"]["pk"]["S"] for r in poller.records] == ["a"] and all(s["done"] for s in poller.shards.values())
    fresh = Poller(streams(server), second)
    fresh.drain()
    assert replay(fresh.records) == content(server)
    server.stop()


def turn(server, **how):
    request = urllib.request.Request(f"{server.url}/_dynalith/clock", data=json.dumps(how).encode())
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def expiry_is_the_services_doing():
    server = Server("--ttl-period", "0")
    poller = Poller(streams(server), create(server))
    server.client().update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "t"})
    for pk, t in (("due", time.time() + 60), ("later", time.time() + 6000), ("own", time.time() + 60)):
        server.client().put_item(TableName="app", Item={"pk": {"S": pk}, "sk": {"S": "1"}, "t": {"N": str(int(t))}})
    server.client().delete_item(TableName="app", Key={"pk": {"S": "own"}, "sk": {"S": "1"}})
    turn(server, advance="2m")
    poller.drain()
    removed = {r["dynamodb"]["Keys"]["pk"]["S"]: r.get("userIdentity") for r in poller.records if r["eventName"] == "REMOVE"}
    assert removed == {"own": None, "due": {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}}, removed
    assert replay(poller.records) == content(server)
    server.stop()


def time_passes_for_readers():
    server = Server("--stream-shards", "1")
    arn, client = create(server), streams(server)
    put = lambda n: server.client().put_item(TableName="app", Item={"pk": {"S": n}, "sk": {"S": n}})
    names = lambda it: [r["dynamodb"]["Keys"]["pk"]["S"] for r in client.get_records(ShardIterator=it)["Records"]]
    shard = client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    start = lambda kind, **k: client.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **k)["ShardIterator"]
    put("a")
    first = client.get_records(ShardIterator=start("TRIM_HORIZON"))["Records"][0]["dynamodb"]["SequenceNumber"]
    iterator = start("TRIM_HORIZON")
    turn(server, advance="14m")
    assert names(iterator) == ["a"]
    turn(server, advance="2m")
    raises("ExpiredIteratorException", client.get_records, ShardIterator=iterator)
    turn(server, advance="12h")
    put("b")
    then = turn(server, advance="1h")["now"] - 1800
    put("c")
    assert names(start("AT_TIMESTAMP", Timestamp=then)) == ["c"]
    raises("ValidationException", start, kind="AT_TIMESTAMP", Timestamp=then + 86400)
    iterator = start("AT_SEQUENCE_NUMBER", SequenceNumber=first)
    turn(server, advance="11h")  # "a" is too old
    raises("ExpiredIteratorException", client.get_records, ShardIterator=iterator)
    raises("TrimmedDataAccessException", start, kind="AT_SEQUENCE_NUMBER", SequenceNumber=first)
    assert names(start("AFTER_SEQUENCE_NUMBER", SequenceNumber=first)) == names(start("TRIM_HORIZON")) == ["b", "c"]
    iterator = start("TRIM_HORIZON")
    server.client().update_table(TableName="app", StreamSpecification={"StreamEnabled": False})
    turn(server, advance="23h")
    assert client.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"] == "DISABLED"
    turn(server, advance="2h")
    assert client.list_streams()["Streams"] == []
    raises("ResourceNotFoundException", client.describe_stream, StreamArn=arn)
    assert server.client().describe_table(TableName="app")["Table"]["LatestStreamArn"] == arn
    server.stop()


def now_is_never_the_future():
    """botocore cuts a Timestamp to seconds; other clients send what their clock shows, by the microsecond."""
    server = Server("--stream-shards", "1")
    arn = create(server)
    shard = streams(server).describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    scope = "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
    for _ in range(100):
        body = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "AT_TIMESTAMP", "Timestamp": time.time()}
        request = urllib.request.Request(server.url, data=json.dumps(body).encode(), headers={
            "X-Amz-Target": "DynamoDBStreams_20120810.GetShardIterator", "Content-Type": "application/x-amz-json-1.0",
            "Authorization": scope, "X-Amz-Date": "20260101T000000Z"})
        with urllib.request.urlopen(request, timeout=120) as reply:
            assert "ShardIterator" in json.load(reply)
    server.stop()


@of_files
def days_go_by_without_growth():
    server = Server("--stream-rotate-seconds", "14400", disk=True)
    create(server)
    sizes = []
    for day in range(20):
        for n in range(50):
            server.client().put_item(TableName="app", Item={"pk": {"S": str(n)}, "sk": {"S": "1"}, "v": {"S": f"{day}-{n}" + "x" * 6000}})
        turn(server, advance="1d")
        sizes.append(os.stat(f"{server.folder}/data.db").st_size + os.stat(f"{server.folder}/data.db-wal").st_size)
    assert len(streams(server).describe_stream(StreamArn=streams(server).list_streams()["Streams"][0]["StreamArn"])["StreamDescription"]["Shards"]) <= 8
    turn(server, advance="30d")
    server.process.terminate()
    server.process.wait(120)
    final = os.stat(f"{server.folder}/data.db").st_size
    assert final < 3_000_000, (final, sizes)  # twenty days of records would be 12 MB
    server.start()
    server.stop()


def forged_iterators():
    """The checksum is no secret: whatever the rest says, the answer is one of AWS's errors, or records."""
    server = Server()
    client, streams = server.client(), server.client(service="dynamodbstreams")
    arn = client.create_table(TableName="app", KeySchema=key("id"), AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                              BillingMode="PAY_PER_REQUEST",
                              StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})["TableDescription"]["LatestStreamArn"]
    client.put_item(TableName="app", Item={"id": {"S": "a"}})
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    edges = (0, 1, int(shard.split("-")[1]), 2**63 - 1, 2**63, 2**64 - 1)

    def read(*fields):
        packed = struct.pack(">QQQ", *fields)
        check = struct.pack(">I", zlib.crc32(arn.encode() + packed))
        return streams.get_records(ShardIterator=f"{arn}|1|{base64.b64encode(packed + check).decode()}")

    for fields in itertools.product(edges, edges, (int(time.time() * 1000), 2**63 - 1)):
        try:
            read(*fields)
        except streams.exceptions.ClientError as error:
            assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 400, (fields, error)
    raises("ValidationException", lambda: read(edges[2], 0, 2**63))  # issued long before 1970
    server.stop()


if __name__ == "__main__":
    run("streams", [replay_gives_the_table, several_shards_replay_to_the_table, replay_survives_kill, closed_shards_have_children, rotation_is_asked_for_right,
                    streams_belong_to_a_namespace, a_stream_outlives_its_table, expiry_is_the_services_doing, time_passes_for_readers,
                    now_is_never_the_future, days_go_by_without_growth, forged_iterators])
