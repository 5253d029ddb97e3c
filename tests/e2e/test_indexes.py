"""The life of global indexes on live tables, keys of several attributes, and the limit of item collections."""
import random
import shutil
import sqlite3
import threading
import time
import urllib.request

import raw
from harness import Server, create_app, key, of_files, raises, run, until

ITEMS = 20_000


def definitions(**types):
    return [{"AttributeName": n, "AttributeType": t} for n, t in types.items()]


def creation(name, *keys, projection="ALL"):
    return [{"Create": {"IndexName": name, "KeySchema": key(*keys), "Projection": {"ProjectionType": projection}}}]


def indexes_of(client, table):
    return {i["IndexName"]: i for i in client.describe_table(TableName=table)["Table"].get("GlobalSecondaryIndexes", [])}


def wait_for(client, table, index):
    for _ in range(12_000):
        status = indexes_of(client, table).get(index, {}).get("IndexStatus")
        if status in (None, "ACTIVE"):
            return status
        time.sleep(0.01)
    raise AssertionError(f"{index} is still {status}")


def scan(client, **kwargs):
    items = []
    while True:
        page = client.scan(**kwargs)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        kwargs["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def create_table(client, name, **more):
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=definitions(pk="S"), **more)
    while client.describe_table(TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.05)


def statuses_settle_at_once():
    server = Server()
    client = server.client()
    create_table(client, "small")
    for n in range(40):
        client.put_item(TableName="small", Item={"pk": {"S": str(n)}, **({"g": {"S": "x"}} if n % 2 else {"g": {"N": "1"}} if n % 4 else {})})
    answer = client.update_table(TableName="small", AttributeDefinitions=definitions(g="S", unused="N"),
                                 GlobalSecondaryIndexUpdates=creation("by-g", "g"))["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    assert (answer["GlobalSecondaryIndexes"][0]["IndexStatus"], answer["GlobalSecondaryIndexes"][0]["Backfilling"]) == ("CREATING", False)
    described = client.describe_table(TableName="small")["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["AttributeDefinitions"] == definitions(g="S", pk="S")
    index = described["GlobalSecondaryIndexes"][0]
    assert (index["IndexStatus"], index["ItemCount"], "Backfilling" in index) == ("ACTIVE", 20, False)
    assert client.query(TableName="small", IndexName="by-g", KeyConditionExpression="g = :x", ExpressionAttributeValues={":x": {"S": "x"}})["Count"] == 20
    raises("ValidationException", client.update_table, TableName="small", AttributeDefinitions=definitions(g="S"),
           GlobalSecondaryIndexUpdates=creation("by-g", "g"))
    answer = client.update_table(TableName="small", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])["TableDescription"]
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "DELETING"
    described = client.describe_table(TableName="small")["Table"]
    assert described["AttributeDefinitions"] == definitions(pk="S") and "GlobalSecondaryIndexes" not in described
    message = raises("ResourceNotFoundException", client.update_table, TableName="small",
                     GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])
    assert message == "Requested resource not found: Index by-g for table small"
    server.stop()


def refusals_while_created(client):
    message = raises("ValidationException", client.query, TableName="slow", IndexName="by-g", KeyConditionExpression="g = :x",
                     ExpressionAttributeValues={":x": {"S": "x"}})
    assert message == "Cannot read from backfilling global secondary index: by-g"
    for where in ("", " WHERE g = 'x'"):
        assert raises("ValidationException", client.execute_statement, Statement=f'SELECT * FROM "slow"."by-g"{where}') == message
    raises("LimitExceededException", client.update_table, TableName="slow", AttributeDefinitions=definitions(h="S"),
           GlobalSecondaryIndexUpdates=creation("by-h", "h"))
    raises("ResourceInUseException", client.delete_table, TableName="slow")
    message = raises("ValidationException", client.put_item, TableName="slow", Item={"pk": {"S": "bad"}, "g": {"N": "1"}})
    assert message.endswith("Schema violation against backfilling index")


def still_server():
    """A server whose statuses last until the clock is advanced, and what advances it."""
    server = Server("--delay-transient-statuses", "--transient-status-ms", "600000")
    return server, lambda: urllib.request.urlopen(f"{server.url}/_dynalith/clock", data=b'{"advance": "6m"}').close()


def states(client, table):
    description = client.describe_table(TableName=table)["Table"]
    return description["TableStatus"], *((i["IndexStatus"], i.get("Backfilling")) for i in description.get("GlobalSecondaryIndexes", []))


def statuses_last_as_in_the_cloud():
    server, pass_time = still_server()
    client = server.client()
    client.create_table(TableName="slow", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=definitions(pk="S"))
    while states(client, "slow") != ("ACTIVE",):
        pass_time()
    client.put_item(TableName="slow", Item={"pk": {"S": "1"}, "g": {"S": "x"}})
    client.update_table(TableName="slow", AttributeDefinitions=definitions(g="S"), GlobalSecondaryIndexUpdates=creation("by-g", "g"))
    for at in ("UPDATING", ("CREATING", False)), ("ACTIVE", ("CREATING", True)):
        assert states(client, "slow") == at
        client.put_item(TableName="slow", Item={"pk": {"S": f"during {at}"}, "g": {"S": "x"}})
        refusals_while_created(client)
        pass_time()
    until(lambda: states(client, "slow") == ("ACTIVE", ("ACTIVE", None)), "the index is not filled", seconds=120)
    assert len(scan(client, TableName="slow", IndexName="by-g")) == 3
    client.update_table(TableName="slow", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])
    raises("ValidationException", client.scan, TableName="slow", IndexName="by-g")
    pass_time()
    pass_time()
    until(lambda: states(client, "slow") == ("ACTIVE",), "the index is still there", seconds=120)
    server.stop()


UNITS = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
LIMITS = {"OnDemandThroughput": {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 5}}
CHANGES = {
    "class": {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
    "billing": {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS},
    "stream": {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}},
    "limits": LIMITS,
    "delete index": {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-g"}}]},
    "update index": {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "by-g", **LIMITS}}]},
    "create index": {"AttributeDefinitions": definitions(g="S"), "GlobalSecondaryIndexUpdates": creation("by-g", "g")},
    "create another": {"AttributeDefinitions": definitions(h="S"), "GlobalSecondaryIndexUpdates": creation("by-h", "h")},
}
TABLE_CREATED, TABLE_UPDATED = "Table is being created: still", "Table is being updated: still"
ONE_INDEX = "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
ABSENT = "Requested resource not found: Index by-g for table still"
# What the change before it leads to, and how each change is refused then; what is not named is not tried.
REFUSED = [
    (None, ("CREATING",),
     {"class": TABLE_CREATED, "billing": TABLE_CREATED, "stream": TABLE_CREATED, "limits": TABLE_CREATED, "delete index": ABSENT, "update index": ABSENT,
      "create index": TABLE_CREATED, "create another": TABLE_CREATED}),
    ("create index", ("UPDATING", ("CREATING", False)),
     {"class": TABLE_UPDATED,
      "billing": "Can't change table IOPS when an index is being created. Table: still Indexes: [by-g]",
      "stream": "Can't change stream status when an index is being created",
      "limits": "OnDemandThroughput cannot be updated while index creation is in progress for indexes: [by-g]",
      "delete index": "Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. "
                      "Table: still Index: by-g",
      "update index": "Index is being created but is not backfilling yet.  Table: still Index: by-g",
      "create index": "Index is being created.  Table: still Index: by-g",
      "create another": ONE_INDEX}),
    ("update index", ("ACTIVE", ("UPDATING", None)),
     {"update index": "Index is being updated. Table: still Index: by-g", "create index": "Attempting to create an index which already exists"}),
    ("class", ("UPDATING", ("ACTIVE", None)),
     {"class": TABLE_UPDATED, "billing": TABLE_UPDATED, "stream": TABLE_UPDATED, "limits": TABLE_UPDATED, "delete index": TABLE_UPDATED,
      "update index": TABLE_UPDATED, "create another": TABLE_UPDATED}),
    ("delete index", ("UPDATING", ("DELETING", None)),
     {"class": TABLE_UPDATED,
      "billing": "Can't change table IOPS when an index is being deleted. Table: still Indexes: [by-g]",
      "stream": "Can't change stream status when an index is being deleted",
      "limits": "OnDemandThroughput cannot be updated while index deletion is in progress for indexes: [by-g]",
      "delete index": "Index is being deleted. Table: still Index: by-g",
      "update index": "Index is being deleted. Table: still Index: by-g",
      "create index": "Index is being deleted. Table: still Index: by-g",
      "create another": ONE_INDEX}),
]


def refusals_in_each_status():
    """What a table is busy with decides what may be asked of it."""
    server, pass_time = still_server()
    client = server.client()
    client.create_table(TableName="still", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=definitions(pk="S"))
    for change, reached, refusals in REFUSED:
        if change:
            client.update_table(TableName="still", **CHANGES[change])
        assert states(client, "still") == reached, change
        for name, refusal in refusals.items():
            try:
                client.update_table(TableName="still", **CHANGES[name])
                raise AssertionError(f"{reached}: {name} was not refused")
            except client.exceptions.ClientError as e:
                error = e.response["Error"]
            in_use = "Attempt to change a resource which is still in use: " if error["Code"] == "ResourceInUseException" else ""
            assert error["Message"] == in_use + refusal, (reached, name, error)
        raises("ResourceInUseException", client.delete_table, TableName="still")
        while set(states(client, "still")) - {"ACTIVE", ("ACTIVE", None)}:
            pass_time()
    assert states(client, "still") == ("ACTIVE",)
    server.stop()


def load(server, items):
    """Items 0 to items - 1 by batches from several threads."""
    def some(start):
        client = server.client()
        for first in range(start, items, 4 * 25):
            client.batch_write_item(RequestItems={"live": [{"PutRequest": {"Item": item(n)}} for n in range(first, min(first + 25, items))]})
    workers = [threading.Thread(target=some, args=(25 * w,)) for w in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def item(n, version=0):
    """One of seven does not fit the index: its g is missing or a number."""
    fits = {"g": {"S": f"g{(n + version) % 100}"}, "at": {"N": str(n)}}
    return {"pk": {"S": str(n)}, "v": {"N": str(version)}, **(fits if n % 7 else {"at": {"N": "1"}} if n % 2 else {"g": {"N": "7"}})}


def keep_writing(server, stop, worker):
    """Puts, updates and deletes all over the table until told to stop or the server is gone."""
    client, chance = server.client(), random.Random(worker)
    version = 1
    try:
        while not stop.is_set():
            n = chance.randrange(ITEMS + 2000)
            version += 1
            if chance.random() < 0.2:
                client.delete_item(TableName="live", Key={"pk": {"S": str(n)}})
            elif chance.random() < 0.3:
                client.update_item(TableName="live", Key={"pk": {"S": str(n)}}, UpdateExpression="REMOVE #at", ExpressionAttributeNames={"#at": "at"})
            elif n % 7:
                client.put_item(TableName="live", Item=item(n, version))
    except Exception as error:
        if "ValidationException" in str(error) and "Schema violation" not in str(error) and "Type mismatch" not in str(error):
            raise


def is_unfinished(server, copy):
    """Whether the store says that an index is being filled, and has come some way; the server is dead."""
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{server.folder}/data.db{suffix}", f"{copy}{suffix}")
    rows = sqlite3.connect(copy).execute("SELECT count(*) FROM system_counters WHERE CAST(k AS TEXT) LIKE 'backfill/%'").fetchone()[0]
    return rows > 0


@of_files
def index_survives_kill():
    server = Server(disk=True)
    create_table(server.client(), "live")
    load(server, ITEMS)
    cut_short = 0
    for attempt in range(8):
        client, stop = server.client(), threading.Event()
        writers = [threading.Thread(target=keep_writing, args=(server, stop, 10 * attempt + w)) for w in range(2)]
        for writer in writers:
            writer.start()
        client.update_table(TableName="live", AttributeDefinitions=definitions(g="S", at="N"),
                            GlobalSecondaryIndexUpdates=creation("by-g", "g", "at", projection=("ALL", "KEYS_ONLY")[attempt % 2]))
        time.sleep(0.02 * attempt)
        server.kill()
        stop.set()
        for writer in writers:
            writer.join()
        cut_short += is_unfinished(server, f"{server.folder}/copy.db")
        server.start()
        client, stop = server.client(), threading.Event()
        writers = [threading.Thread(target=keep_writing, args=(server, stop, 10 * attempt + 5))]
        for writer in writers:
            writer.start()
        assert wait_for(client, "live", "by-g") == "ACTIVE"
        stop.set()
        for writer in writers:
            writer.join()
        compare(client, attempt % 2)
        client.update_table(TableName="live", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])
        assert wait_for(client, "live", "by-g") is None
        if cut_short >= 2:
            break
    assert cut_short >= 1
    server.stop()


def compare(client, keys_only):
    """The index and the table, item by item."""
    items = scan(client, TableName="live")
    wanted = {i["pk"]["S"]: i for i in items if "S" in i.get("g", {}) and "N" in i.get("at", {})}
    if keys_only:
        wanted = {pk: {n: i[n] for n in ("pk", "g", "at")} for pk, i in wanted.items()}
    found = scan(client, TableName="live", IndexName="by-g")
    assert len(found) == len(wanted), (len(found), len(wanted))
    assert {i["pk"]["S"]: i for i in found} == wanted
    table = client.describe_table(TableName="live")["Table"]
    assert (table["ItemCount"], table["GlobalSecondaryIndexes"][0]["ItemCount"]) == (len(items), len(wanted))


def keys_of_several_attributes():
    """The scenario that the public conformance suite recorded against AWS, with two partition key attributes in a second index."""
    server = Server()
    client = server.client()
    hash_range = lambda hashes, ranges: [{"AttributeName": n, "KeyType": "HASH"} for n in hashes] + [{"AttributeName": n, "KeyType": "RANGE"} for n in ranges]
    client.create_table(
        TableName="many", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=definitions(**{n: "S" for n in ("pk", "h", "a", "b", "c", "d")}),
        GlobalSecondaryIndexes=[{"IndexName": "gsi", "KeySchema": hash_range("h", "abcd"), "Projection": {"ProjectionType": "ALL"}},
                                {"IndexName": "two", "KeySchema": hash_range("ha", "bc"), "Projection": {"ProjectionType": "KEYS_ONLY"}}])
    for row in ("p1 T live b r1", "p2 T live a r2", "p3 T live a r1", "p4 T draft c r1", "p5 F live a r0", "p6 T live - r1"):
        values = dict(zip(("pk", "a", "b", "c", "d"), row.split()))
        client.put_item(TableName="many", Item={"h": {"S": "o1"}, **{n: {"S": v} for n, v in values.items() if v != "-"}})
    everything = {":h": "o1", ":a": "T", ":b": "live", ":c": "a", ":d": "r", ":x": "r1", ":y": "r1"}

    def query(condition, index="gsi", **more):
        used = {n: {"S": v} for n, v in everything.items() if n in condition}
        return client.query(TableName="many", IndexName=index, KeyConditionExpression=condition, ExpressionAttributeValues=used, **more)

    def found(condition, **more):
        return " ".join(i["pk"]["S"] for i in query(condition, **more)["Items"])

    assert found("h = :h") == "p5 p4 p3 p2 p1"
    assert found("h = :h AND a = :a", ScanIndexForward=False) == "p1 p2 p3 p4"
    assert found("b = :b AND h = :h AND a = :a") == "p3 p2 p1"
    assert found("h = :h AND a = :a AND b = :b AND c > :c") == "p1"
    assert found("h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)") == "p3 p2"
    assert found("h = :h AND a = :a AND b = :b AND c = :c AND d BETWEEN :x AND :y") == "p3"
    assert found("h = :h AND a = :a", index="two") == "p4 p3 p2 p1" or found("h = :h AND a = :a", index="two") == "p4 p2 p3 p1"
    page = query("h = :h AND a = :a", Limit=2)
    assert sorted(page["LastEvaluatedKey"]) == ["a", "b", "c", "d", "h", "pk"]
    assert found("h = :h AND a = :a", ExclusiveStartKey=page["LastEvaluatedKey"]) == "p2 p1"
    gap = "RANGE key attributes {} must have equality conditions specified in the query because a condition is present on key attribute {}"
    for condition, message in (("h = :h AND a = :a AND c = :c", gap.format("b", "c")), ("h = :h AND a = :a AND b > :b AND c = :c", gap.format("b", "c")),
                               ("h = :h AND b = :b", gap.format("a", "b"))):
        assert raises("ValidationException", query, condition=condition) == message
    assert (raises("ValidationException", query, condition="h = :h", index="two") ==
            "HASH key attributes a must have equality conditions specified in the query")
    legacy = {n: {"AttributeValueList": [{"S": everything[f":{n}"]}], "ComparisonOperator": "EQ"} for n in "hab"}
    answer = client.query(TableName="many", IndexName="gsi", KeyConditions={**legacy, "c": {"AttributeValueList": [{"S": "a"}], "ComparisonOperator": "LE"}})
    assert [i["pk"]["S"] for i in answer["Items"]] == ["p3", "p2"]
    server.stop()


def is_filled_beside_requests():
    """While requests come the server fills an index in small pieces; every item is there in the end, whenever it was written."""
    server = Server()
    client = server.client()
    create_table(client, "busy")
    item = lambda n: {"pk": {"S": f"p{n}"}, "g": {"S": f"g{n % 7}"}}
    for start in range(0, 4000, 25):
        client.batch_write_item(RequestItems={"busy": [{"PutRequest": {"Item": item(n)}} for n in range(start, start + 25)]})
    is_over, written = threading.Event(), []

    def write(first):
        own, n = server.client(), first
        while not is_over.is_set():
            own.put_item(TableName="busy", Item=item(n))
            assert own.get_item(TableName="busy", Key={"pk": {"S": f"p{n}"}}, ConsistentRead=True)["Item"] == item(n)
            written.append(n)
            n += 2

    crowded = lambda: raw.figures(server)["dynalith_crowded"]
    threads = [threading.Thread(target=write, args=(4000 + i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: crowded() == 1, "requests were not noticed")
    client.update_table(TableName="busy", AttributeDefinitions=definitions(g="S"), GlobalSecondaryIndexUpdates=creation("by-g", "g"))
    assert wait_for(client, "busy", "by-g") == "ACTIVE"
    is_over.set()
    for thread in threads:
        thread.join()
    found = scan(client, TableName="busy", IndexName="by-g")
    assert sorted(i["pk"]["S"] for i in found) == sorted(f"p{n}" for n in {*range(4000), *written})
    until(lambda: crowded() == 0, "their end was not noticed")
    server.stop()


def collections_have_a_limit():
    server = Server("--collection-limit-mb", "1")
    client = server.client()
    create_app(client)
    big = lambda sk: {"PK": {"S": "a"}, "SK": {"S": sk}, "at": {"S": sk}, "v": {"S": "x" * 300_000}}
    for sk in "123":
        answer = client.put_item(TableName="app", Item=big(sk), ReturnItemCollectionMetrics="SIZE")
        assert answer["ItemCollectionMetrics"] == {"ItemCollectionKey": {"PK": {"S": "a"}}, "SizeEstimateRangeGB": [0.0, 1.0]}
    raises("ItemCollectionSizeLimitExceededException", client.put_item, TableName="app", Item=big("4"))
    raises("ItemCollectionSizeLimitExceededException", client.batch_write_item, RequestItems={"app": [{"PutRequest": {"Item": big("4")}}]})
    raises("TransactionCanceledException", client.transact_write_items, TransactItems=[{"Put": {"TableName": "app", "Item": big("4")}}])
    assert raises.response["CancellationReasons"][0]["Code"] == "ItemCollectionSizeLimitExceeded"
    client.delete_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "1"}})
    client.put_item(TableName="app", Item=big("4"))
    client.put_item(TableName="app", Item={**big("4"), "PK": {"S": "b"}})
    server.stop()


if __name__ == "__main__":
    run("indexes", [statuses_settle_at_once, statuses_last_as_in_the_cloud, refusals_in_each_status, keys_of_several_attributes, is_filled_beside_requests,
                    collections_have_a_limit, index_survives_kill])
