#!/usr/bin/env python3
"""Vector indexes and SearchVectors through boto3, compared with plain arithmetic; while writing, over a crash, and under any host name."""
import itertools
import json
import math
import random
import struct
import threading
import time
import urllib.request
from decimal import Decimal

import raw
from harness import Server, key, raises, run

DIMENSIONS = 24
shared = Server()


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def numbers(vector):
    return [{"N": repr(x)} for x in vector]


def spec(name, distance, projection=None, schema=None, dimensions=DIMENSIONS):
    index = {"IndexName": name, "VectorAttribute": {"AttributeName": "embedding"}, "Dimensions": dimensions, "DistanceFunction": distance,
             "Projection": projection or {"ProjectionType": "ALL"}}
    if schema:
        index["SearchSchema"] = [{"AttributeName": a, "SearchSchemaElementType": t} for a, t in schema]
    return index


def create(client, name, *indexes, attributes=("tenant", "kind")):
    table = client.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("pk", "sk"), VectorIndexes=list(indexes),
        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk", *attributes)])["TableDescription"]
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
    return table


def score(distance, a, b):
    dot = math.fsum(x * y for x, y in zip(a, b))
    if distance == "DOT_PRODUCT":
        return dot
    if distance == "EUCLIDEAN":
        return math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(a, b)))
    lengths = math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))
    return 1 - dot / lengths


def expect(distance, items, query, top):
    """The best, as (score, pk, sk); scores are those of float32 vectors."""
    found = [(score(distance, [f32(x) for x in v], [f32(x) for x in query]), k) for k, v in items.items()]
    return sorted(found, key=lambda f: -f[0] if distance == "DOT_PRODUCT" else f[0])[:top]


def agree(distance, items, query, results, top):
    wanted = expect(distance, items, query, top)
    assert len(results) == len(wanted), (len(results), len(wanted))
    for result, (value, _) in zip(results, wanted):
        assert math.isclose(result["Score"], value, rel_tol=1e-5, abs_tol=1e-5), (result["Score"], value)
        itself = items[(result["Item"]["pk"]["S"], result["Item"]["sk"]["S"])]
        assert math.isclose(result["Score"], score(distance, [f32(x) for x in itself], [f32(x) for x in query]), rel_tol=1e-5, abs_tol=1e-5)


def fill(client, table, rng, count):
    items, tenants = {}, {}
    for at in range(0, count, 25):
        puts = []
        for i in range(at, min(at + 25, count)):
            vector = [rng.uniform(-1, 1) for _ in range(DIMENSIONS)]
            tenant, kind = rng.choice("abc"), rng.choice("xy")
            pk, sk = f"p{i % 7}", f"s{i:04d}"
            items[(pk, sk)] = vector
            tenants[(pk, sk)] = (tenant, kind)
            puts.append({"PutRequest": {"Item": {"pk": {"S": pk}, "sk": {"S": sk}, "tenant": {"S": tenant}, "kind": {"S": kind},
                                                 "title": {"S": f"title {i}"}, "embedding": {"L": numbers(vector)}}}})
        assert not client.batch_write_item(RequestItems={table: puts})["UnprocessedItems"]
    return items, tenants


def three_distances_agree_with_arithmetic():
    client, rng = shared.client(), random.Random(1)
    create(client, "distances", *[spec(d.lower(), d) for d in ("COSINE", "EUCLIDEAN", "DOT_PRODUCT")],
           spec("scoped", "COSINE", {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]}, [("tenant", "HASH"), ("kind", "INLINE_FILTER")]))
    items, tenants = fill(client, "distances", rng, 400)
    for _ in range(10):
        query = [rng.uniform(-1, 1) for _ in range(DIMENSIONS)]
        for distance in ("COSINE", "EUCLIDEAN", "DOT_PRODUCT"):
            answer = client.search_vectors(TableName="distances", IndexName=distance.lower(), SearchVector=numbers(query), TopK=20)
            agree(distance, items, query, answer["SearchResults"], 20)
            assert "embedding" not in answer["SearchResults"][0]["Item"] and "LastEvaluatedKey" not in answer
        values = {":t": {"S": "b"}, ":k": {"S": "x"}}
        answer = client.search_vectors(TableName="distances", IndexName="scoped", SearchVector=numbers(query), TopK=100,
                                       SearchConditionExpression="tenant = :t AND #k = :k", ExpressionAttributeNames={"#k": "kind"},
                                       ExpressionAttributeValues=values, ReturnConsumedCapacity="TOTAL")
        scoped = {k: v for k, v in items.items() if tenants[k] == ("b", "x")}
        agree("COSINE", scoped, query, answer["SearchResults"], 100)
        assert set(answer["SearchResults"][0]["Item"]) == {"pk", "sk", "tenant", "kind", "title"}
        assert answer["ConsumedCapacity"]["VectorSearchRequestBytes"] > 1024
    index = client.describe_table(TableName="distances")["Table"]["VectorIndexes"][3]
    assert index["ItemCount"] == 400 and index["IndexStatus"] == "ACTIVE" and "Backfilling" not in index
    assert index["IndexSizeBytes"] == sum(4 * DIMENSIONS + 9 + 2 + 2 + 2 + 5 + 6 + 1 + 4 + 1 + 5 + len(f"title {i}") for i in range(400))


def resource_and_lifecycle():
    client, table = shared.client(), shared.resource().Table("lifecycle")
    client.create_table(TableName="lifecycle", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk", "sk"),
                        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk")])
    for i in range(30):
        table.put_item(Item={"pk": "p", "sk": f"{i:02d}", "embedding": [Decimal(i), Decimal(1), Decimal("0.5")]})
    table.put_item(Item={"pk": "p", "sk": "wrong size", "embedding": [Decimal(1)]})
    table.put_item(Item={"pk": "p", "sk": "no vector"})
    answer = client.update_table(TableName="lifecycle", VectorIndexUpdates=[{"Create": spec("added", "DOT_PRODUCT", dimensions=3)}])
    assert answer["TableDescription"]["TableStatus"] == "UPDATING"
    assert answer["TableDescription"]["VectorIndexes"][0]["IndexStatus"] == "CREATING"
    search = dict(TableName="lifecycle", IndexName="added", SearchVector=numbers([1.0, 0.0, 0.0]), TopK=5)
    found = client.search_vectors(**search)["SearchResults"]
    assert [r["Item"]["sk"]["S"] for r in found] == ["29", "28", "27", "26", "25"] and found[0]["Score"] == 29
    assert client.search_vectors(**{**search, "TopK": 100})["SearchResults"][-1]["Item"]["sk"]["S"] == "00"
    table.update_item(Key={"pk": "p", "sk": "29"}, UpdateExpression="REMOVE embedding")
    table.update_item(Key={"pk": "p", "sk": "03"}, UpdateExpression="SET embedding[0] = :v", ExpressionAttributeValues={":v": Decimal("28.5")})
    table.delete_item(Key={"pk": "p", "sk": "27"})
    found = client.search_vectors(**search, ProjectionExpression="sk, embedding")["SearchResults"]
    assert [r["Item"]["sk"]["S"] for r in found] == ["03", "28", "26", "25", "24"]
    assert found[0]["Item"]["embedding"]["L"][0] == {"N": "28.5"}
    client.update_table(TableName="lifecycle", VectorIndexUpdates=[{"Delete": {"IndexName": "added"}}])
    assert "VectorIndexes" not in client.describe_table(TableName="lifecycle")["Table"]
    assert raises("ValidationException", client.search_vectors, **search) == "The table does not have the specified index: added"


def turn_clock(server, **change):
    urllib.request.urlopen(f"{server.url}/_dynalith/clock", data=json.dumps(change).encode()).close()


def filled_in_the_background():
    """More than UpdateTable does at once; with delayed statuses, every state that the cloud shows."""
    server = Server("--delay-transient-statuses", "--transient-status-ms", "3000")
    client = server.client()
    client.create_table(TableName="filled", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk", "sk"),
                        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk")])
    client.get_waiter("table_exists").wait(TableName="filled", WaiterConfig={"Delay": 1})
    for at in range(0, 3000, 25):
        client.batch_write_item(RequestItems={"filled": [{"PutRequest": {"Item": {
            "pk": {"S": f"p{i % 50}"}, "sk": {"S": f"{i}"}, "embedding": {"L": numbers([float(i), 1.0])}}}} for i in range(at, at + 25)]})
    client.update_table(TableName="filled", VectorIndexUpdates=[{"Create": spec("index", "DOT_PRODUCT", dimensions=2)}])
    search = dict(TableName="filled", IndexName="index", SearchVector=numbers([1.0, 0.0]), TopK=3)
    message = raises("ValidationException", client.search_vectors, **search)
    assert message == "Cannot search backfilling vector index: index", message
    states, is_refused, end = [], False, time.monotonic() + 120
    for i in itertools.takewhile(lambda _: time.monotonic() < end, itertools.count()):
        table = client.describe_table(TableName="filled")["Table"]
        index = table["VectorIndexes"][0]
        state = (table["TableStatus"], index["IndexStatus"], index.get("Backfilling"))
        if state not in states:
            states.append(state)
        if state == ("ACTIVE", "CREATING", True) and not is_refused:
            turn_clock(server, freeze=True)  # the state would end between two requests of a slow machine
            still = client.describe_table(TableName="filled")["Table"]["VectorIndexes"][0]["IndexStatus"] == "CREATING"
            if still:
                assert "indexes are being created" in raises("ResourceInUseException", client.delete_table, TableName="filled")
                raises("LimitExceededException", client.update_table, TableName="filled",
                       VectorIndexUpdates=[{"Create": spec("other", "COSINE", dimensions=2)}])
            is_refused = True
            turn_clock(server, freeze=False)
        if state == ("ACTIVE", "ACTIVE", None):
            break
        vector = numbers([float(10000 + i), 1.0])  # writes go on
        client.put_item(TableName="filled", Item={"pk": {"S": "late"}, "sk": {"S": f"{i % 100}"}, "embedding": {"L": vector}})
    assert states == [("UPDATING", "CREATING", False), ("ACTIVE", "CREATING", True), ("ACTIVE", "ACTIVE", None)], states
    found = client.search_vectors(**search)["SearchResults"]
    assert [r["Score"] for r in found] == [10000.0 + i - 1, 10000.0 + i - 2, 10000.0 + i - 3]
    assert client.describe_table(TableName="filled")["Table"]["VectorIndexes"][0]["ItemCount"] == 3000 + min(i, 100)
    client.update_table(TableName="filled", VectorIndexUpdates=[{"Delete": {"IndexName": "index"}}])
    assert "does not have the specified index" in raises("ValidationException", client.search_vectors, **search)
    while "VectorIndexes" in client.describe_table(TableName="filled")["Table"]:
        pass
    server.stop()


def searches_while_others_write():
    """Each search sees whole transactions: both items of a pair are there, and equal."""
    client = shared.client()
    create(client, "busy", spec("index", "EUCLIDEAN", dimensions=4), attributes=())
    end, failures = threading.Event(), []

    def write(number):
        own, rng = shared.client(), random.Random(number)
        while not end.is_set():
            vector = numbers([float(rng.randrange(1000)) for _ in range(4)])
            try:
                own.transact_write_items(TransactItems=[
                    {"Put": {"TableName": "busy", "Item": {"pk": {"S": f"pair-{number}"}, "sk": {"S": half}, "embedding": {"L": vector}}}}
                    for half in ("left", "right")])
            except Exception as error:
                failures.append(error)
                return

    threads = [threading.Thread(target=write, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(300):
            found = client.search_vectors(TableName="busy", IndexName="index", SearchVector=numbers([0.0] * 4), TopK=100)["SearchResults"]
            scores = {}
            for result in found:
                scores.setdefault(result["Item"]["pk"]["S"], []).append(result["Score"])
            assert all(len(s) == 2 and s[0] == s[1] for s in scores.values()), scores
            assert [r["Score"] for r in found] == sorted(r["Score"] for r in found)
    finally:
        end.set()
        for thread in threads:
            thread.join()
    assert not failures, failures


def any_host_name():
    """SDKs without an endpoint of their own send SearchVectors to another host than the rest."""
    client = shared.client()
    create(client, "hosts", spec("index", "COSINE", dimensions=2), attributes=())
    client.put_item(TableName="hosts", Item={"pk": {"S": "a"}, "sk": {"S": "b"}, "embedding": {"L": numbers([1.0, 2.0])}})
    body = json.dumps({"TableName": "hosts", "IndexName": "index", "SearchVector": numbers([1.0, 2.0]), "TopK": 1}).encode()
    for host in ("000000000000.search-ddb.us-east-1.amazonaws.com", "search-dynamodb.us-east-1.api.aws", "localhost:1"):
        request = urllib.request.Request(shared.url, body, {
            "Host": host, "X-Amz-Target": "DynamoDB_20120810.SearchVectors", "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"})
        with urllib.request.urlopen(request, timeout=120) as reply:
            assert json.load(reply)["SearchResults"][0]["Score"] == 0


def crash_and_memory_limit():
    """Indexes survive the end of the process; one that does not fit into memory is searched all the same."""
    rng = random.Random(2)
    server = Server("--vector-cache-mb", "0", disk=True)
    create(server.client(), "kept", spec("index", "EUCLIDEAN"), attributes=())
    items = {}
    client = server.client()
    for i in range(60):
        vector = [rng.uniform(-1, 1) for _ in range(DIMENSIONS)]
        items[("p", f"{i}")] = vector
        client.put_item(TableName="kept", Item={"pk": {"S": "p"}, "sk": {"S": f"{i}"}, "embedding": {"L": numbers(vector)}})
    query = [rng.uniform(-1, 1) for _ in range(DIMENSIONS)]
    search = dict(TableName="kept", IndexName="index", SearchVector=numbers(query), TopK=30)
    before = client.search_vectors(**search)["SearchResults"]
    agree("EUCLIDEAN", items, query, before, 30)
    server.kill()
    server.argv[server.argv.index("--vector-cache-mb") + 1] = "64"
    server.start()
    client = server.client()
    assert client.search_vectors(**search)["SearchResults"] == before
    client.put_item(TableName="kept", Item={"pk": {"S": "p"}, "sk": {"S": "new"}, "embedding": {"L": numbers(query)}})
    assert client.search_vectors(**search)["SearchResults"][0]["Item"]["sk"]["S"] == "new"
    server.stop()


def errors_of_its_reader_are_small():
    """AWS, 23 October 2026: the search endpoint says "message", all others "Message"."""
    for operation, name in ("SearchVectors", "message"), ("GetItem", "Message"):
        body = {"TableName": 1, "IndexName": "one", "SearchVector": [{"N": "1"}], "TopK": 1, "Key": {}}
        reply = json.loads(raw.ask(shared, raw.request(operation, json.dumps(body).encode())).body)
        assert reply["__type"].endswith("#SerializationException") and set(reply) == {"__type", name}, (operation, reply)


if __name__ == "__main__":
    run("vector", [three_distances_agree_with_arithmetic, resource_and_lifecycle, filled_in_the_background, searches_while_others_write, any_host_name,
                   errors_of_its_reader_are_small,
                   crash_and_memory_limit, shared.stop])
