"""Access patterns: an application with planted mistakes and its clean twin, sums that agree with what clients saw, values that never show, the gate.

INSIGHT_REQUESTS=N is how many requests the sums are made of (default 3,000).
"""
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import threading
import urllib.request

import boto3
import jsonschema
from boto3.dynamodb.conditions import Attr, Key

from harness import BINARY, ROOT, Server, control, key, run
from wire import Client, Refused, at, n, s

REQUESTS = int(os.environ.get("INSIGHT_REQUESTS", "3000"))
SECRET = "s3cr3t-value"
SARIF = ROOT / "build/deps/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"


def insight(server, method="GET"):
    request = urllib.request.Request(f"{server.url}/_dynalith/insight", method=method)
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.loads(reply.read())


def report(*words):
    done = subprocess.run([BINARY, "report", *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def create(client, name="shop", **more):
    index = lambda i, projection: {"IndexName": f"GSI{i}", "KeySchema": key(f"GSI{i}PK", f"GSI{i}SK"), "Projection": projection}
    client("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK", *(f"GSI{i}{k}" for i in (1, 2, 3) for k in ("PK", "SK")))],
           GlobalSecondaryIndexes=[index(1, {"ProjectionType": "ALL"}), index(2, {"ProjectionType": "KEYS_ONLY"}),
                                   index(3, {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]})], **more)


class Shop:
    """Customers, orders, lines, products, sessions: each access pattern as its designers drew it."""

    numbers = itertools.count()

    def __init__(self, client):
        self.client = client

    def put(self, item, **more):
        return self.client("PutItem", TableName="shop", Item=item, **more)

    def get(self, pk, sk, **more):
        return self.client("GetItem", TableName="shop", Key=at(pk, sk), **more).get("Item")

    def query(self, condition, values, index=None, **more):
        if index:
            more["IndexName"] = index
        return self.client("Query", TableName="shop", KeyConditionExpression=condition, ExpressionAttributeValues=values, **more)

    def update(self, pk, sk, expression, values, **more):
        return self.client("UpdateItem", TableName="shop", Key=at(pk, sk), UpdateExpression=expression, ExpressionAttributeValues=values, **more)

    def seed(self):
        new = {"ConditionExpression": "attribute_not_exists(PK)"}
        for c in range(10):
            self.put({**at(f"CUSTOMER#{c}", "PROFILE"), "email": s(f"{c}@example.com"), "version": n(1)}, **new)
            for o in range(4):
                day = f"2026-01-{o + 10}"
                self.put({**at(f"CUSTOMER#{c}", f"ORDER#{day}#{o}"), "GSI1PK": s("STATUS#OPEN"), "GSI1SK": s(day), "GSI2PK": s(f"ORDER#{c}{o}"),
                          "GSI2SK": s("ORDER"), "total": n(o)}, **new)
                self.put({**at(f"ORDER#{c}{o}", "LINE#1"), "product": s("p"), "GSI3PK": s("PRODUCT#1"), "GSI3SK": s(day), "total": n(1)}, **new)
        for p in range(6):
            self.put({**at(f"PRODUCT#{p}", "DETAIL"), "stock": n(100), "name": s("thing")}, **new)

    def use(self, c):
        """About thirty patterns."""
        me, order = f"CUSTOMER#{c}", f"ORDER#{c}1"
        self.get(me, "PROFILE")
        self.query("PK = :p", {":p": s(me)})
        self.query("PK = :p AND begins_with(SK, :o)", {":p": s(me), ":o": s("ORDER#")})
        self.query("PK = :p AND begins_with(SK, :o)", {":p": s(me), ":o": s("ORDER#")}, ScanIndexForward=False, Limit=1)
        self.query("PK = :p AND SK BETWEEN :a AND :b", {":p": s(me), ":a": s("ORDER#2026-01-10"), ":b": s("ORDER#2026-01-12")})
        self.query("PK = :p", {":p": s(order)})
        self.query("PK = :p AND begins_with(SK, :l)", {":p": s(order), ":l": s("LINE#")})
        self.query("PK = :p", {":p": s(order)}, Select="COUNT")
        self.query("GSI1PK = :s", {":s": s("STATUS#OPEN")}, "GSI1", Limit=5)
        self.query("GSI1PK = :s AND GSI1SK > :d", {":s": s("STATUS#OPEN"), ":d": s("2026-01-11")}, "GSI1", Limit=5)
        self.query("GSI2PK = :o", {":o": s(order)}, "GSI2")
        self.query("GSI2PK = :o AND GSI2SK = :k", {":o": s(order), ":k": s("ORDER")}, "GSI2")
        self.query("GSI3PK = :p", {":p": s("PRODUCT#1")}, "GSI3", Limit=5)
        self.query("GSI3PK = :p AND GSI3SK < :d", {":p": s("PRODUCT#1"), ":d": s("2026-01-12")}, "GSI3", Limit=5)
        self.update(me, "PROFILE", "SET email = :e ADD version :one", {":e": s("new@example.com"), ":one": n(1)})
        self.get(me, "PROFILE", ConsistentRead=True)  # of what was just written
        self.update(me, f"ORDER#2026-01-11#1", "SET GSI1PK = :s", {":s": s("STATUS#SENT")}, ConditionExpression="attribute_exists(PK)")
        self.update(me, f"ORDER#2026-01-11#1", "REMOVE note SET #s = :s", {":s": s("sent")}, ExpressionAttributeNames={"#s": "state"})
        self.update(f"PRODUCT#{c % 6}", "DETAIL", "SET stock = stock - :q", {":q": n(1)}, ConditionExpression="stock >= :q")
        self.update(f"PRODUCT#{c % 6}", "DETAIL", "ADD looks :q", {":q": n(1)})
        self.update(f"CART#{c}", "CART", "SET entries = list_append(if_not_exists(entries, :none), :l)", {":none": {"L": []}, ":l": {"L": [s("x")]}})
        self.client("DeleteItem", TableName="shop", Key=at(f"CART#{c}", "CART"))
        self.client("BatchGetItem", RequestItems={"shop": {"Keys": [at(f"PRODUCT#{p}", "DETAIL") for p in range(6)]}})
        self.client("BatchWriteItem", RequestItems={"shop": [{"PutRequest": {"Item": at(f"LOG#{c}", f"EVENT#{next(self.numbers)}")}} for _ in range(3)]})
        self.client("TransactWriteItems", TransactItems=[
            {"Put": {"TableName": "shop", "Item": at(f"EMAIL#{next(self.numbers)}", "EMAIL"), "ConditionExpression": "attribute_not_exists(PK)"}},
            {"Update": {"TableName": "shop", "Key": at(me, "PROFILE"), "UpdateExpression": "ADD version :one", "ExpressionAttributeValues": {":one": n(1)}}}])
        self.client("TransactGetItems", TransactItems=[{"Get": {"TableName": "shop", "Key": at(me, "PROFILE")}},
                                                       {"Get": {"TableName": "shop", "Key": at(f"PRODUCT#{c % 6}", "DETAIL")}}])
        self.client("ExecuteStatement", Statement=f"SELECT * FROM shop WHERE PK = '{me}' AND SK = 'PROFILE'")
        self.put({**at(f"SESSION#{next(self.numbers)}", "SESSION"), "ends": n(1900000000)})
        self.get(f"SESSION#{c}", "SESSION")
        self.query("PK = :p AND SK >= :o", {":p": s(me), ":o": s("ORDER#2026-01-12")})


class Mistakes(Shop):
    """One of each kind, by the name of its finding."""

    def scan(self):
        self.client("Scan", TableName="shop", Limit=5)

    def missing_index(self):
        for _ in range(2):
            self.client("Scan", TableName="shop", FilterExpression="email = :e", ExpressionAttributeValues={":e": s("3@example.com")})

    def discard(self):
        for c in range(10):
            for _ in range(3):
                self.query("PK = :p", {":p": s(f"CUSTOMER#{c}")}, FilterExpression="attribute_exists(nothing)")

    def pages(self):
        for c in range(9):
            self.put({**at("REPORT#1", f"PART#{c}"), "pad": s("x" * 390_000), "a": n(c)})
        for i in range(150):
            self.put({**at("REPORT#1", f"ROW#{i:04}"), "a": n(i)})
        for _ in range(2):
            start = {}
            while True:
                page = self.client("Query", TableName="shop", KeyConditionExpression="PK = :p", FilterExpression="a = :a",
                                   ExpressionAttributeValues={":p": s("REPORT#1"), ":a": n(149)}, **start)
                if "LastEvaluatedKey" not in page:
                    break
                start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    def small_part(self):
        self.put({**at("DOCUMENT#1", "TEXT"), "pad": s("x" * 20_000), "title": s("t")})
        for _ in range(4):
            self.get("DOCUMENT#1", "TEXT", ProjectionExpression="title")

    def n_plus_one(self):
        for o in range(15):
            self.get(f"ORDER#{o}1", "LINE#1")

    def hot_partition(self):
        for _ in range(1200):
            self.update("COUNTER#all", "COUNTER", "ADD hits :one", {":one": n(1)})

    def growing_collection(self):
        for i in range(0, 1100, 25):
            self.client("BatchWriteItem", RequestItems={"shop": [{"PutRequest": {"Item": at("FEED#all", f"ENTRY#{j}")}} for j in range(i, i + 25)]})

    def near_limit(self):
        self.put({**at("BLOB#1", "BLOB"), "pad": s("x" * 399_000)})

    def large_rewrite(self):
        self.put({**at("PAGE#1", "PAGE"), "pad": s("x" * 30_000)})
        for _ in range(4):
            self.update("PAGE#1", "PAGE", "ADD visits :one", {":one": n(1)})

    def unread_index(self):
        create(self.client, "unread")
        for i in range(5):
            self.client("PutItem", TableName="unread", Item={**at(f"A#{i}", "B"), "GSI1PK": s("X#1"), "GSI1SK": s("1")})

    def over_projected(self):
        create(self.client, "wide")
        for i in range(5):
            self.client("PutItem", TableName="wide", Item={**at(f"A#{i}", "B"), "GSI1PK": s("X#1"), "GSI1SK": s("1"), "pad": s("x" * 500), "total": n(1)})
        for _ in range(4):
            self.client("Query", TableName="wide", IndexName="GSI1", KeyConditionExpression="GSI1PK = :x", ProjectionExpression="#t",
                        ExpressionAttributeNames={"#t": "total"}, ExpressionAttributeValues={":x": s("X#1")})

    def amplification(self):
        create(self.client, "amplified")
        for i in range(120):
            item = {**at(f"A#{i}", "B"), **{f"GSI{k}PK": s(f"X#{i}") for k in (1, 2, 3)}, **{f"GSI{k}SK": s("1") for k in (1, 2, 3)}}
            self.client("PutItem", TableName="amplified", Item=item)

    def lost_update(self):
        self.update("STATE#1", "STATE", "SET version = :w", {":w": n(2)})
        self.update("STATE#1", "STATE", "SET version = :w", {":v": n(2), ":w": n(3)}, ConditionExpression="version = :v")
        self.put({**at("STATE#1", "STATE"), "version": n(1)})

    def needless_consistency(self):
        for _ in range(2):
            for p in range(6):
                self.get(f"CATALOG#{p}", "ENTRY", ConsistentRead=True)

    def single_transaction(self):
        for i in range(4):
            self.client("TransactWriteItems", TransactItems=[{"Put": {"TableName": "shop", "Item": at(f"ALONE#{i}", "ALONE")}}])

    def ttl_type(self):
        self.put({**at("TEMPORARY#1", "ENTRY"), "ends": s("2030-01-01")})
        self.put({**at("TEMPORARY#2", "ENTRY"), "ends": n(1900000000000)})

    def unprocessed(self):
        rule = {"rules": [{"operation": "BatchWriteItem", "first": 1, "unprocessed": 2}]}
        request = urllib.request.Request(f"http://127.0.0.1:{self.client.port}/_dynalith/faults", data=json.dumps(rule).encode(), method="PUT")
        urllib.request.urlopen(request, timeout=120).read()
        left = self.client("BatchWriteItem", RequestItems={"shop": [{"PutRequest": {"Item": at("LEFT#1", f"ENTRY#{i}")}} for i in range(5)]})["UnprocessedItems"]
        assert len(left["shop"]) == 2, left
        return left


NAMES = {"scan": "scan", "missing_index": "missing-index", "discard": "discard", "pages": "pages", "small_part": "small-part", "n_plus_one": "n+1",
         "hot_partition": "hot-partition", "growing_collection": "growing-collection", "near_limit": "near-limit", "large_rewrite": "large-rewrite",
         "unread_index": "unread-index", "over_projected": "over-projected-index", "amplification": "index-write-amplification",
         "lost_update": "lost-update", "needless_consistency": "needless-consistency", "single_transaction": "single-transaction",
         "ttl_type": "ttl-type", "unprocessed": "unprocessed"}


def found(server):
    return {f["finding"] for f in insight(server)["findings"]}


def start():
    server = Server("--insight", "on")
    client = Client(server.port)
    client.port = server.port
    create(client)
    client("UpdateTimeToLive", TableName="shop", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
    return server, client


def used():
    """A server whose shop ten customers used, its client and what insight saw."""
    server, client = start()
    shop = Shop(client)
    shop.seed()
    for c in range(10):
        shop.use(c)
    return server, client, insight(server)


def the_clean_twin_has_no_finding():
    server, client, seen = used()
    assert len(seen["patterns"]) >= 30, len(seen["patterns"])
    assert seen["findings"] == [], seen["findings"]
    by = {(p["operation"], p.get("index"), p.get("key")): p for p in seen["patterns"]}
    orders = by["Query", None, 'PK = "CUSTOMER#…" and begins_with(SK, "ORDER#")']
    assert orders["calls"] == 10 and orders["items_read"] in (10, 40), orders  # newest first is another pattern
    sent = next(p for p in seen["patterns"] if p.get("update") == "SET GSI1PK")
    assert sent["condition"] == "attribute_exists(PK)" and sent["key"] == 'PK = "CUSTOMER#…" and SK = "ORDER#…"', sent
    server.stop()


def each_planted_mistake_is_found():
    """Each alone, so that none is found by what another did. The report with a server that saw nothing says the same of it, word by word."""
    server, client = start()
    idle, _ = start()
    in_order = lambda findings: sorted(json.dumps(f, sort_keys=True) for f in findings if f["finding"] not in ("needless-consistency", "unprocessed"))
    for name, finding in NAMES.items():
        insight(server, "DELETE")
        shop = Mistakes(client)
        if name in ("missing_index", "discard", "n_plus_one", "hot_partition"):
            if name == "missing_index":
                shop.seed()
            for c in range(10):
                shop.use(c)
        getattr(shop, name)()
        seen = insight(server)
        assert finding in {f["finding"] for f in seen["findings"]}, (name, seen["findings"])
        merged = json.loads(report(server.url, idle.url, "--format", "json")[1])
        assert in_order(merged["findings"]) == in_order(seen["findings"]), (name, merged["findings"], seen["findings"])
    insight(server, "DELETE")
    assert found(server) == set()
    for one in server, idle:
        one.stop()


def members_sent_again_are_no_finding():
    server, client = start()
    left = Mistakes(client).unprocessed()
    assert "unprocessed" in found(server)
    client("BatchWriteItem", RequestItems=left)
    assert "unprocessed" not in found(server)
    server.stop()


def sums_are_what_the_clients_saw():
    server, client = start()
    Shop(client).seed()
    insight(server, "DELETE")
    lock, sums = threading.Lock(), {"calls": 0, "units": 0.0}

    def work(seed):
        rng, mine, units = random.Random(seed), Client(server.port), 0.0
        calls = REQUESTS // 16
        for _ in range(calls):
            c, p = rng.randrange(10), {"ReturnConsumedCapacity": "TOTAL"}
            pick = rng.randrange(7)
            try:
                if pick == 0:
                    reply = mine("GetItem", TableName="shop", Key=at(f"CUSTOMER#{c}", "PROFILE"), ConsistentRead=bool(rng.randrange(2)), **p)
                elif pick == 1:
                    reply = mine("PutItem", TableName="shop", Item={**at(f"X#{rng.randrange(50)}", "X"), "GSI1PK": s("X"), "GSI1SK": s(c)}, **p)
                elif pick == 2:
                    reply = mine("Query", TableName="shop", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": s(f"CUSTOMER#{c}")}, **p)
                elif pick == 3:
                    reply = mine("BatchGetItem", RequestItems={"shop": {"Keys": [at(f"CUSTOMER#{i}", "PROFILE") for i in range(c + 1)]}}, **p)
                elif pick == 4:
                    reply = mine("TransactWriteItems", TransactItems=[{"Put": {"TableName": "shop", "Item": at(f"T#{seed}", f"{i}")}} for i in range(2)], **p)
                elif pick == 5:
                    reply = mine("UpdateItem", TableName="shop", Key=at(f"X#{c}", "X"), UpdateExpression="SET a = :a", ConditionExpression="attribute_exists(PK)",
                                 ExpressionAttributeValues={":a": n(c)}, **p)
                else:
                    reply = mine("ExecuteStatement", Statement=f"SELECT * FROM shop WHERE PK = 'CUSTOMER#{c}'", **p)
            except Refused as refused:
                assert refused.body["__type"].endswith("ConditionalCheckFailedException"), refused
                continue
            consumed = reply["ConsumedCapacity"]
            units += sum(x["CapacityUnits"] for x in (consumed if isinstance(consumed, list) else [consumed]))
        with lock:
            sums["units"] += units
            sums["calls"] += calls

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen = insight(server)
    assert seen["requests"] == sums["calls"] == sum(p["calls"] for p in seen["patterns"]), (seen["requests"], sums)
    for total in (seen["read_units"] + seen["write_units"], sum(p["read_units"] + p["write_units"] for p in seen["patterns"])):
        assert total == sums["units"], (total, sums)
    server.stop()


def time_is_in_buckets():
    """What each pattern and partition consumed over time adds up to what it consumed."""
    server, client, seen = used()
    time = seen["time"]
    width = time["bucket_ms"]
    assert 32 <= time["buckets"] <= 64 and width & (width - 1) == 0 and time["age_ms"] >= (time["buckets"] - 1) * width, time
    partitions = [p for t in seen["tables"] for p in t["partitions"]]
    for one in seen["patterns"] + [p for p in partitions if p["requests"] == p["requests_at_least"]]:
        over_time = one.get("over_time", [])
        assert len(over_time) <= time["buckets"] and abs(sum(over_time) - one["read_units"] - one["write_units"]) < 0.05, one
    assert any(sum(u > 0 for u in p["over_time"]) > 5 for p in seen["patterns"]) and any(sum(u > 0 for u in p["over_time"]) > 5 for p in partitions)
    insight(server, "DELETE")
    assert insight(server)["time"]["buckets"] == 0
    server.stop()


def what_looks_like_a_mistake_is_none():
    """New items without a condition, versions, counters; the same keys fetched again; requests of the server itself and of its console."""
    server, client = start()
    shop = Shop(client)
    found = lambda: {f["finding"] for f in insight(server)["findings"]}
    versioned = lambda i, v: shop.update(f"DOC#{i}", "DOC", "SET version = :w", {":v": n(v), ":w": n(v + 1)}, ConditionExpression="version = :v")
    for i in range(5):
        shop.put({**at(f"DOC#{i}", "DOC"), "version": n(1), "hits": n(0)})
        versioned(i, 1)
        versioned(i, 2)
        shop.update(f"DOC#{i}", "DOC", "ADD hits :one", {":one": n(1)})
        shop.update(f"DOC#{i}", "DOC", "SET title = :t", {":t": s("another attribute")})
    for _ in range(30):
        shop.get("DOC#1", "DOC")
    for i in range(30):
        shop.get(f"DOC#{i % 2}", "DOC")
    assert not found() & {"lost-update", "n+1"}, found()
    for i in range(5):  # the same put over an item that others change by its version
        shop.put({**at(f"DOC#{i}", "DOC"), "version": n(1)})
    assert "lost-update" in found(), found()
    before = insight(server)["requests"]
    import http.client
    # the console says so, and is believed where the browser says that it is our own page
    own = {"x-dynalith-caller": "console", "Sec-Fetch-Site": "same-origin"}
    for headers, counts in ((own, 0), ({"x-dynalith-caller": "console"}, 1), ({"x-dynalith-caller": "my tests"}, 1)):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", "/", json.dumps({"TableName": "shop", "Key": at("DOC#1", "DOC")}),
                           {"X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0", "Authorization": client.auth,
                            "X-Amz-Date": "20260101T000000Z", **headers})
        assert connection.getresponse().status == 200
        assert insight(server)["requests"] == before + counts, headers
        before += counts
    server.stop()
    template = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"), "a.json")
    template.write_text(json.dumps({"Resources": {"Made": {"Type": "AWS::DynamoDB::Table", "Properties": {
        "TableName": "made", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]}}}}))
    rows = template.with_name("made.jsonl")
    rows.write_text("".join(json.dumps({"pk": f"K#{i}"}) + "\n" for i in range(5)))
    seeded = Server("--insight", "on", "--init", str(template.parent))
    assert seeded.client().scan(TableName="made")["Count"] == 5
    assert insight(seeded)["requests"] == 1, insight(seeded)["patterns"]
    seeded.stop()


def false_alarms_by_an_sdk():
    """What an application does rightly by boto3, each alone: versions, conditions, counters, other attributes, a cache that fills itself, a poller, the server's own."""
    right = {}

    def case(f):
        right[f.__name__] = f
        return f

    @case
    def version_by_put(table, server):
        for i in range(8):
            item = table.get_item(Key={"PK": f"DOC#{i}", "SK": "DOC"})["Item"]
            table.put_item(Item={**item, "version": item["version"] + 1, "text": "new"}, ConditionExpression=Attr("version").eq(item["version"]))
        for i in range(8):
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="SET #t = :t ADD version :one", ConditionExpression="version = :v",
                              ExpressionAttributeNames={"#t": "text"}, ExpressionAttributeValues={":t": "newer", ":v": 2, ":one": 1})

    @case
    def condition_on_the_attribute(table, server):
        for i in range(8):
            stock = table.get_item(Key={"PK": f"DOC#{i}", "SK": "DOC"})["Item"]["stock"]
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="SET stock = :n", ConditionExpression="stock = :o",
                              ExpressionAttributeValues={":n": stock - 1, ":o": stock})
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="SET stock = stock - :k", ConditionExpression="stock >= :k", ExpressionAttributeValues={":k": 2})

    @case
    def counters(table, server):
        for i in range(8):
            table.get_item(Key={"PK": f"DOC#{i}", "SK": "DOC"})
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="ADD hits :one", ExpressionAttributeValues={":one": 1})
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="SET hits = if_not_exists(hits, :zero) + :one", ExpressionAttributeValues={":one": 1, ":zero": 0})

    @case
    def different_attributes(table, server):
        for i in range(8):
            table.get_item(Key={"PK": f"DOC#{i}", "SK": "DOC"})
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="SET title = :t", ExpressionAttributeValues={":t": "a"})
            table.update_item(Key={"PK": f"DOC#{i}", "SK": "DOC"}, UpdateExpression="SET stock = :s", ConditionExpression="attribute_exists(PK)", ExpressionAttributeValues={":s": 9})

    @case
    def new_items_and_transactions(table, server):
        client = table.meta.client
        for i in range(8):
            client.transact_write_items(TransactItems=[
                {"Put": {"TableName": "app", "Item": {"PK": f"NEW#{i}", "SK": "A"}, "ConditionExpression": "attribute_not_exists(PK)"}},
                {"Update": {"TableName": "app", "Key": {"PK": f"DOC#{i}", "SK": "DOC"}, "UpdateExpression": "SET version = version + :one", "ConditionExpression": "version = :v",
                            "ExpressionAttributeValues": {":one": 1, ":v": 1}}}])
            table.put_item(Item={"PK": f"LOG#{i}", "SK": "A", "text": "once"})

    @case
    def statements_with_versions(table, server):
        for i in range(8):
            table.meta.client.execute_statement(Statement="UPDATE app SET version = 2 WHERE PK = ? AND SK = ? AND version = 1", Parameters=[f"DOC#{i}", "DOC"])

    @case
    def the_same_item_again(table, server):
        for _ in range(25):
            table.get_item(Key={"PK": "DOC#1", "SK": "DOC"})
        for i in range(25):
            table.get_item(Key={"PK": f"DOC#{i % 3}", "SK": "DOC"})

    @case
    def items_apart(table, server):
        for i in range(12):
            table.get_item(Key={"PK": f"DOC#{i}", "SK": "DOC"})
            table.query(KeyConditionExpression=Key("PK").eq(f"DOC#{i}"))

    @case
    def many_at_once(table, server):
        keys = [{"PK": f"DOC#{i}", "SK": "DOC"} for i in range(40)]
        for _ in range(5):
            assert len(table.meta.client.batch_get_item(RequestItems={"app": {"Keys": keys}})["Responses"]["app"]) == 40
        pages = table.meta.client.get_paginator("query").paginate(TableName="app", KeyConditionExpression=Key("PK").eq("DOC#1"), PaginationConfig={"PageSize": 1})
        assert sum(page["Count"] for page in pages) == 1

    @case
    def a_key_that_is_polled(table, server):
        for i in range(480):
            table.query(KeyConditionExpression=Key("PK").eq(f"DOC#{i % 40}"))
        for _ in range(20):  # minutes
            server.turn({"advance": "61s"})
            for _ in range(20):
                table.query(KeyConditionExpression=Key("PK").eq("DOC#7"))

    @case
    def health_and_console(table, server):
        for _ in range(30):
            server.get("/_dynalith/health"), server.get("/_dynalith/tables"), server.get("/_dynalith/tables/app")

    for name, work in right.items():
        server = Server("--insight", "on")
        server.turn = lambda body: control(server, "POST", "clock", body)
        server.get = lambda path: urllib.request.urlopen(server.url + path, timeout=120).read()
        table = boto3.resource("dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test").create_table(
            TableName="app", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
            AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])
        with table.batch_writer() as batch:
            for i in range(40):
                batch.put_item(Item={"PK": f"DOC#{i}", "SK": "DOC", "version": 1, "stock": 10, "hits": 0, "text": "x"})
        insight(server, "DELETE")
        work(table, server)
        seen = insight(server)
        assert not seen["findings"], (name, [(f["finding"], f.get("access")) for f in seen["findings"]])
        assert name != "health_and_console" or seen["requests"] == 0, seen["requests"]
        server.stop()


def several_servers_are_one_report():
    """What each of two counted is, merged, what one would have counted that saw it all; and what one says nobody did, the other may have done."""
    server, client = start()
    other, there = start()
    both, everything = start()
    for mine in (client, there, everything):
        Shop(mine).seed()
    for one in (server, other, both):
        insight(one, "DELETE")
    for mine in (client, everything):
        Mistakes(mine).scan()
        for _ in range(3):
            Shop(mine).get("CUSTOMER#1", "PROFILE")
    for mine in (there, everything):
        for c in range(7):
            Shop(mine).query("PK = :p AND begins_with(SK, :o)", {":p": s(f"CUSTOMER#{c}"), ":o": s("ORDER#")})
            Shop(mine).put({**at("BIG#1", "BIG"), "pad": s("x" * 3000 * c)})
            Shop(mine).get(f"CUSTOMER#{c}", "PROFILE")
        try:
            Shop(mine).put(at("BIG#1", "BIG"), ConditionExpression="attribute_not_exists(PK)")
        except Refused:
            pass
    for mine in (client, there, everything):  # an index that is written here, and read there
        create(mine, "indexed")
    for mine in (client, everything):
        for i in range(4):
            mine("PutItem", TableName="indexed", Item={**at(f"A#{i}", "B"), "GSI1PK": s("X#1"), "GSI1SK": s("1"), "GSI2PK": s("X#1"), "GSI2SK": s("1")})
    for mine in (there, everything):
        mine("Query", TableName="indexed", IndexName="GSI1", KeyConditionExpression="GSI1PK = :x", ExpressionAttributeValues={":x": s("X#2")})
    alone = insight(both)
    status, out, problem = report(server.url, other.url, "--format", "json")
    assert status == 0, problem
    merged = json.loads(out)
    assert merged["servers"] == 2 and [merged[m] for m in ("requests", "read_units", "write_units")] == [alone[m] for m in ("requests", "read_units", "write_units")]
    own = ("first", "last", "latency_ms", "over_time", "burst", "in_bursts")  # calls in a row are those that one server saw
    def figures(objects):
        same = lambda o: json.loads(json.dumps(o), parse_int=float)
        return sorted(json.dumps({k: same(v) for k, v in o.items() if k not in own}, sort_keys=True) for o in objects)
    assert figures(merged["patterns"]) == figures(alone["patterns"]), set(figures(merged["patterns"])) ^ set(figures(alone["patterns"]))
    units = [p["read_units"] + p["write_units"] for p in merged["patterns"]]
    assert units == sorted(units, reverse=True)
    for p in merged["patterns"] + [p for t in merged["tables"] for p in t["partitions"]]:
        assert abs(sum(p.get("over_time", [])) - p["read_units"] - p["write_units"]) < 0.05 and len(p.get("over_time", [])) <= merged["time"]["buckets"] <= 64, p
    tables = lambda seen: {t["table"]: (t["write_units"], figures(t["indexes"]),
                                        sorted((p["partition"], p.get("index"), p["requests"], p["read_units"], p["write_units"], p["items_added"]) for p in t["partitions"]))
                           for t in seen["tables"]}
    assert tables(merged) == tables(alone), (tables(merged), tables(alone))
    unread = lambda seen: {f["where"] for f in seen["findings"] if f["finding"] == "unread-index"}
    assert "indexed.GSI1" in unread(insight(server)) and unread(merged) & {"indexed.GSI1", "indexed.GSI2"} == {"indexed.GSI2"}, merged["findings"]
    assert "scan" in {f["finding"] for f in merged["findings"]}
    saved = pathlib.Path(server.folder, "merged.json")
    saved.write_text(out)
    third = json.loads(report(saved, both.url, "--format", "json")[1])
    assert third["servers"] == 3 and third["requests"] == 2 * merged["requests"]
    assert " to 2 servers in " in report(server.url, other.url)[1].splitlines()[0]
    status, out, problem = report(server.url, "http://127.0.0.1:1")
    assert status == 1 and not out and problem
    for one in (server, other, both):
        one.stop()


def what_no_server_sees_alone_is_found():
    """Each server sees half of each mistake, too little to say something; added up they are found, and nothing else is."""
    servers = [start() for _ in range(2)]
    for server, client in servers:
        Shop(client).seed()
        create(client, "log")
        create(client, "hot")
        insight(server, "DELETE")
    for i, (server, client) in enumerate(servers):
        shop = Shop(client)
        for c in range(10):  # 60 rows of 90 that the filters discard
            shop.query("PK = :p", {":p": s(f"CUSTOMER#{c}")}, FilterExpression="attribute_exists(nothing)")
            shop.query("PK = :p", {":p": s(f"ORDER#{c}1")})
        if i == 0:
            shop.put({**at("CUSTOMER#3", "PROFILE"), "version": n(1)})
        else:
            shop.update("CUSTOMER#4", "PROFILE", "SET version = :new", {":old": n(1), ":new": n(2)}, ConditionExpression="version = :old")
        for k in range(22):  # 550 new items of 1000 in one collection, as many changes elsewhere
            client("BatchWriteItem", RequestItems={"log": [{"PutRequest": {"Item": at("LOG#1", f"EVENT#{i}#{k}#{j}")}} for j in range(25)]})
            client("BatchWriteItem", RequestItems={"log": [{"PutRequest": {"Item": at("LOG#2", f"EVENT#{j}")}} for j in range(25)]})
        for k in range(13):  # 325 of 500 units, most of them one partition's
            client("BatchWriteItem", RequestItems={"hot": [{"PutRequest": {"Item": at("KEY#1", f"EVENT#{j}")}} for j in range(25)]})
        client("PutItem", TableName="hot", Item=at("KEY#2", "EVENT#1"))
    found = lambda seen: {f["finding"] for f in seen["findings"]}
    wanted = {"discard", "lost-update", "growing-collection", "hot-partition"}
    alone = [found(insight(server)) for server, _ in servers]
    assert not any(wanted & each for each in alone), alone
    status, out, problem = report(*[server.url for server, _ in servers], "--format", "json")
    assert status == 0, problem
    merged = json.loads(out)
    assert found(merged) - set().union(*alone) == wanted, (found(merged), alone)
    for finding in merged["findings"]:
        assert finding["evidence"] and finding["advice"] and finding["where"], finding
    hot = next(f for f in merged["findings"] if f["finding"] == "hot-partition")
    assert hot["where"].startswith("hot (") and hot["units"] == 650, hot
    assert report(*[server.url for server, _ in servers], "--fail-on", "lost-update")[0] == 3
    assert report(servers[0][0].url, "--fail-on", "lost-update")[0] == 0
    again = pathlib.Path(servers[0][0].folder, "again.json")  # a report of reports says the same
    again.write_text(out)
    again = json.loads(report(again, servers[1][0].url, "--format", "json")[1])
    assert wanted <= found(again)
    for server, _ in servers:
        server.stop()


def values_never_show():
    """Not in any form of the report, whatever they are values of."""
    for flags in (("--insight", "on"), ("--insight", "examples"), ("--show-values",), ("--insight", "on", "--show-values")):
        shown = flags != ("--insight", "on")
        server = Server(*flags)
        client = Client(server.port)
        create(client)
        for i in range(3):
            client("PutItem", TableName="shop", Item={**at(f"USER#{SECRET}{i}", SECRET), "name": s(SECRET), "list": {"L": [s(SECRET)]}})
            client("GetItem", TableName="shop", Key=at(SECRET, f"A#{SECRET}"))
            client("Query", TableName="shop", KeyConditionExpression="PK = :p AND begins_with(SK, :s)", FilterExpression="contains(#n, :f)",
                   ExpressionAttributeNames={"#n": "name"}, ExpressionAttributeValues={":p": s(f"USER#{SECRET}0"), ":s": s(SECRET[:6]), ":f": s(SECRET)})
            client("UpdateItem", TableName="shop", Key=at(SECRET, SECRET), UpdateExpression="SET #m = :v", ExpressionAttributeNames={"#m": "map"},
                   ExpressionAttributeValues={":v": {"M": {}}})
            client("UpdateItem", TableName="shop", Key=at(SECRET, SECRET), UpdateExpression="SET #m.#k = :v", ExpressionAttributeNames={"#m": "map", "#k": SECRET},
                   ExpressionAttributeValues={":v": s(SECRET)})
            client("ExecuteStatement", Statement=f"SELECT * FROM shop WHERE PK = '{SECRET}' AND name = '{SECRET}'")
        for form in ("text", "json", "html", "svg", "markdown", "sarif", "junit"):
            status, out, problem = report(server.url, "--format", form)
            assert status == 0 and out, (form, status, problem)
            shows = SECRET in out or "s3cr3t" in out
            assert shows == (shown and form == "json"), (form, flags)
        status, out, problem = report(server.url, "--format", "json", "--show-values")
        assert (status == 0) == (SECRET in out) == shown and shown != ("start the server with --show-values" in problem), problem
        server.stop()
    done = subprocess.run([BINARY, "--insight", "off", "--show-values", "--port", "0", "--in-memory"], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "contradict each other" in done.stderr, done


def the_gate():
    server, client = start()
    shop = Mistakes(client)
    shop.seed()
    shop.use(1)
    file = pathlib.Path(server.folder, "patterns.json")
    assert report(server.url, "--fail-on", "scan,n+1,discard>0.5,lost-update")[0] == 0
    assert report(server.url, "--patterns", file, "--write")[0] == 0
    assert report(server.url, "--patterns", file, "--fail-on", "new-pattern")[0] == 0
    reviewed = json.loads(file.read_text())["patterns"]
    assert len(reviewed) == len(insight(server)["patterns"]) and file.read_text().count("\n") == len(reviewed) + 2
    shop.scan()
    for rules, lines in (("scan", ["scan: shop: Scan reads the whole table"]), ("new-pattern", ["new-pattern: + Scan shop"]),
                         ("units>10/pattern", ["units>10/pattern: "]), ("units>3/call", ["units>3/call: "])):
        status, out, problem = report(server.url, "--patterns", file, "--fail-on", rules)
        assert status == 3 and all(line in out for line in lines), (rules, status, out[-500:], problem)
    assert report(server.url, "--patterns", file, "--write")[0] == 0
    assert report(server.url, "--patterns", file, "--fail-on", "new-pattern")[0] == 0
    insight(server, "DELETE")
    for i in range(3):
        shop.put(at(f"OTHER#{i}", "OTHER"))
    status, out, problem = report(server.url, "--patterns", file, "--fail-on", "new-pattern")
    assert status == 3 and 'new-pattern: + PutItem shop: PK = "OTHER#…" and SK = "OTHER"' in out and "new-pattern: - Scan shop" in out, out
    for words in (["--fail-on", "nosuch"], ["--fail-on", "new-pattern"], ["--fail-on", "discard>x"], ["--format", "pdf"], ["--rate", "x"], ["--write"], ["--prices", "/nosuch"],
                  ["--patterns", "/nosuch", "--fail-on", "scan"], ["more", "words"]):
        status, out, problem = report(server.url, *words)
        assert status == (1 if "/nosuch" in words or words == ["more", "words"] else 2) and not out and problem.startswith(("dynalith: ", "usage: dynalith report")), (words, status, out, problem)
        assert words[0] != "--format" or "wants text, json" in problem, problem
    assert report("http://127.0.0.1:1")[0] == 1
    off = Server()
    status, out, problem = report(off.url)
    assert status == 1 and "--insight on" in problem, problem
    off.stop()
    server.stop()


def declared_patterns():
    """By YAML, and by a model of NoSQL Workbench: what is in it passes, what is not fails the build."""
    server, client = start()
    shop = Shop(client)
    shop.seed()
    insight(server, "DELETE")
    shop.query("PK = :p AND begins_with(SK, :o)", {":p": s("CUSTOMER#1"), ":o": s("ORDER#")})
    shop.query("GSI1PK = :s", {":s": s("STATUS#OPEN")}, "GSI1", Limit=5)
    shop.get("CUSTOMER#1", "PROFILE")
    new = lambda file: report(server.url, "--patterns", file, "--fail-on", "new-pattern")
    file = pathlib.Path(server.folder, "patterns.yaml")
    entries = ['{name: profile, operation: GetItem, table: shop, key: \'PK = "CUSTOMER#..." and SK = "PROFILE"\'}',
               'operation: Query\n    table: shop\n    key: PK = "CUSTOMER#..." and begins_with(SK, "ORDER#")', "{operation: Query, table: shop, index: GSI1, description: by state}"]
    write = lambda *entries: file.write_text("patterns:\n" + "".join(f"  - {entry}\n" for entry in entries))
    write(*entries)
    status, out, problem = new(file)
    assert status == 0, (out, problem)
    write(*entries[1:], "{name: nobody asks, operation: Scan, table: shop}")
    status, out, _ = new(file)
    assert status == 3 and 'new-pattern: + GetItem shop: PK = "CUSTOMER#…" and SK = "PROFILE"' in out and "new-pattern: - nobody asks" in out and out.count("new-pattern: +") == 1, out
    for text, words in (("patterns: [{operation: Query}]", "entry 1"), ("patterns: [{operation: Query, table: shop, indx: GSI1}]", "indx"), ("patterns: [{", "line 2: did not find"),
                        ("other: []", "--write made"), ('{"DataModel": [{"TableName": "shop"}]}', "no sample rows"), ('{"DataModel": [{}]}', "no sample rows")):
        file.write_text(text)
        status, out, problem = new(file)
        assert status == 1 and words in problem and not out, (text, status, problem)
    keys = lambda pk, sk: {"PartitionKey": {"AttributeName": pk, "AttributeType": "S"}, "SortKey": {"AttributeName": sk, "AttributeType": "S"}}
    rows = [{**at("CUSTOMER#7", "ORDER#2026"), "GSI1PK": s("STATUS#SENT"), "GSI1SK": s("2026-01-01")}, {**at("CUSTOMER#7", "PROFILE")}]
    facets = lambda *rows: [{"FacetName": "Customer", "KeyAttributeAlias": {"PartitionKeyAlias": "PK", "SortKeyAlias": "SK"}, "TableData": list(rows),
                             "NonKeyAttributes": ["total"], "DataAccess": {"MySql": {}}}]
    model = {"ModelName": "Shop", "ModelMetadata": {"Version": "3.0"}, "DataModel": [
        {"TableName": "shop", "KeyAttributes": keys("PK", "SK"), "TableFacets": facets(*rows),
         "GlobalSecondaryIndexes": [{"IndexName": "GSI1", "KeyAttributes": keys("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}]}]}
    file.write_text(json.dumps(model))
    status, out, problem = new(file)
    assert status == 0, (out, problem)
    for i in range(3):
        shop.put(at("CUSTOMER#1", f"CARD#{i}"))
        shop.get(f"PRODUCT#{i}", "DETAIL")
    client("Scan", TableName="shop", Limit=1)
    model["DataModel"][0]["TableData"] = [at("EMAIL#1", "EMAIL")]
    file.write_text(json.dumps(model))
    status, out, _ = new(file)
    added = sorted(line.strip()[len("new-pattern: + "):] for line in out.splitlines() if "new-pattern: +" in line)
    assert status == 3 and added == ["GetItem shop: PK = \"PRODUCT#…\" and SK = \"DETAIL\"", "PutItem shop: PK = \"CUSTOMER#…\" and SK = \"CARD#…\"", "Scan shop"], out
    assert "new-pattern: - shop (TableData): PK EMAIL#, SK EMAIL" in out, out
    server.stop()


def forms():
    server, client = start()
    shop = Mistakes(client)
    shop.seed()
    shop.scan()
    status, out, _ = report(server.url, "--format", "sarif", "--fail-on", "scan")
    results = json.loads(out)["runs"][0]["results"]
    assert status == 3 and [r["ruleId"] for r in results if r["level"] == "error"] == ["gate"] and any(r["ruleId"] == "scan" for r in results), results
    sarif = json.loads(out)
    rules = {rule["id"]: rule for rule in sarif["runs"][0]["tool"]["driver"]["rules"]}
    assert sarif["$schema"].endswith("sarif-2.1.0.json") and sarif["version"] == "2.1.0" and {r["ruleId"] for r in results} == set(rules)
    if SARIF.exists():  # make deps-test brings it by npm
        jsonschema.Draft4Validator(json.loads(SARIF.read_text())).validate(sarif)
    for r in results:  # what code scanning needs
        place = r["locations"][0]
        assert place["physicalLocation"]["artifactLocation"]["uri"] and place["physicalLocation"]["region"]["startLine"] == 1, r
        assert place["logicalLocations"][0]["fullyQualifiedName"] and len(r["partialFingerprints"]["dynalithFinding/v1"]) == 16, r
        assert rules[r["ruleId"]]["help"]["text"] and rules[r["ruleId"]]["shortDescription"]["text"] and r["message"]["text"], r
        assert r["ruleId"] == "gate" or " Access pattern: " in r["message"]["text"], r
    assert len({json.dumps(r["partialFingerprints"]) for r in results}) == len(results)
    access = next(f["access"] for f in insight(server)["findings"] if f["finding"] == "scan")
    assert access == "Scan shop", access
    for form in ("text", "markdown", "html", "json"):
        assert access in report(server.url, "--format", form)[1], form
    for limit in ("0", "0.5", "1", "50%", "99.9%", "1e-3"):
        assert report(server.url, "--fail-on", f"discard>{limit}")[0] in (0, 1), limit
    import xml.etree.ElementTree
    status, out, _ = report(server.url, "--format", "junit", "--fail-on", "scan")
    suite = xml.etree.ElementTree.fromstring(out)
    assert status == 3 and suite.get("failures") == "1" and len(suite.findall("testcase")) == int(suite.get("tests"))
    status, out, _ = report(server.url, "--format", "html")
    assert out.startswith("<!doctype html>") and "://" not in out and "CUSTOMER#" in out
    for part in ("<table>", '<svg class="plot"'):  # which scroll by themselves on a phone
        assert all(before.rstrip().endswith(('<div class="wide" tabindex="0">', "</svg>")) for before in out.split(part)[:-1]), part
    busiest = [float(u) for u in re.findall("<tr><td>([0-9.]+)<td>", out.split("Busiest partitions", 1)[1].split("<h3>")[1])]
    assert len(busiest) > 3 and busiest == sorted(busiest, reverse=True), busiest
    sized = [p for p in insight(server)["patterns"] if p.get("item_bytes", {"max": 0})["max"] > 0]
    assert out.count('<svg class="plot"') == 3, out.count("<svg")  # capacity by pattern, capacity over time, the table's partitions
    assert 'class="hot"' in out and "CUSTOMER#(" in out
    bars = re.findall(r'<svg class="sizes".*? d="M([\d.]+) 7H([\d.]+)"/><rect x="([\d.]+)".*? width="([\d.]+)".*? d="M([\d.]+) 1V13"/></svg>', out)
    assert sized and len(bars) == len(sized), (len(bars), len(sized))
    for bar in bars:
        least, greatest, left, width, median = map(float, bar)
        assert 0 < least == left <= median + 1 and median <= greatest + 1 and left + width <= greatest + 1 and greatest < 200, bar
    status, out, _ = report(server.url, "--format", "svg")
    picture = xml.etree.ElementTree.fromstring(out)
    assert status == 0 and picture.tag.endswith("}svg") and len(list(picture.iter("{http://www.w3.org/2000/svg}rect"))) > 30
    assert "".join(picture.itertext()).count("CUSTOMER#") > 3 and re.findall(r'https?://\S+?"', out) == ['http://www.w3.org/2000/svg"']
    status, out, _ = report(server.url)
    assert all(len(line) <= 80 for line in out.splitlines()), max(out.splitlines(), key=len)
    assert re.search(r"\d  \|[ \u2581-\u2588]*\u2588[ \u2581-\u2588]*\|  CUSTOMER#\(", out), out[-3000:]
    prices = pathlib.Path(server.folder, "prices.json")
    prices.write_text(json.dumps({"read_request_units_million": 0, "write_request_units_million": 1e6, "read_capacity_unit_hour": 0, "write_capacity_unit_hour": 0,
                                  "currency": "EUR", "source": "a test"}))
    seen = insight(server)
    status, out, _ = report(server.url, "--prices", prices)
    assert f"cost {seen['write_units']:.6f} EUR (prices of a test)" in out, out[:300]
    status, out, _ = report(server.url, "--rate", "100", "--prices", prices)
    month = seen["write_units"] / seen["requests"] * 100 * 720 * 3600
    assert f"{month:.2f} EUR a month on demand" in out, out[:300]
    file = pathlib.Path(server.folder, "saved.json")
    assert report(server.url, "--format", "json", "--output", file)[0] == 0
    assert report(file)[1].splitlines()[0] == report(server.url)[1].splitlines()[0]
    server.stop()
    for name, part in (("txt", "A#"), ("md", "A#"), ("html", "A#"), ("svg", "A#"), ("json", "A#"), ("sarif", '"results"'), ("xml", "A#")):
        path = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"), f"report.{name}")
        server = Server("--report", str(path))
        client = Client(server.port)
        create(client)
        for i in range(3):
            Shop(client).put(at(f"A#{i}", "B"))
        server.process.terminate()
        assert server.process.wait(120) == 0
        assert part in path.read_text(), (name, path.read_text())
        server.clean()


run("insight", [the_clean_twin_has_no_finding, each_planted_mistake_is_found, what_looks_like_a_mistake_is_none, false_alarms_by_an_sdk, members_sent_again_are_no_finding, sums_are_what_the_clients_saw,
                time_is_in_buckets, several_servers_are_one_report, what_no_server_sees_alone_is_found, values_never_show, the_gate, declared_patterns, forms])
