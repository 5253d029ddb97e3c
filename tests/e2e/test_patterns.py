"""What people do with a single table, through boto3: each pattern a test.

INSIGHT_PICTURE=FILE writes the report of the patterns of single-table design, of which README's picture is made (make patterns-picture).
"""
import json
import os
import pathlib
import threading
import time
import urllib.request
from decimal import Decimal

from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import TypeSerializer

from harness import ONLY, ROOT, Server, create_app, key, raises, run

server = Server("--insight", "on")
PICTURE = os.environ.get("INSIGHT_PICTURE")
client = server.client()
table = server.resource().Table("app")
create_app(client)
wire = TypeSerializer().serialize


def item(**attributes):
    return {k: wire(v) for k, v in attributes.items()}


def sks(response):
    return [i["SK"] for i in response["Items"]]


def item_collection():
    for sk in ("PROFILE", "ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2", "ORDER#2026-03-09#C3"):
        table.put_item(Item={"PK": "CUSTOMER#42", "SK": sk})
    assert len(table.query(KeyConditionExpression=Key("PK").eq("CUSTOMER#42"))["Items"]) == 4
    orders = table.query(KeyConditionExpression=Key("PK").eq("CUSTOMER#42") & Key("SK").begins_with("ORDER#"))
    assert sks(orders) == ["ORDER#2026-01-15#A1", "ORDER#2026-02-01#B2", "ORDER#2026-03-09#C3"]
    newest = table.query(KeyConditionExpression=Key("PK").eq("CUSTOMER#42") & Key("SK").begins_with("ORDER#"), ScanIndexForward=False, Limit=1)
    assert sks(newest) == ["ORDER#2026-03-09#C3"] and newest["LastEvaluatedKey"] == {"PK": "CUSTOMER#42", "SK": "ORDER#2026-03-09#C3"}


def compound_entity():
    rows = ["ORDER#1", "ORDER#1#LINE#1", "ORDER#1#LINE#2", "ORDER#1#PAYMENT#1"]
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": item(PK="O", SK=sk)}} for sk in rows])
    found = table.query(KeyConditionExpression=Key("PK").eq("O") & Key("SK").begins_with("ORDER#1"))
    assert sks(found) == rows and [s for s in sks(found) if "#LINE#" in s] == rows[1:3]


def inverted_and_overloaded_index():
    table.put_item(Item={"PK": "ORDER#7", "SK": "META", "GSI1PK": "STATUS#SHIPPED", "GSI1SK": "2026-01-02", "total": 7})
    table.put_item(Item={"PK": "ORDER#8", "SK": "META", "GSI1PK": "STATUS#SHIPPED", "GSI1SK": "2026-01-01", "total": 8})
    table.put_item(Item={"PK": "CUSTOMER#9", "SK": "PROFILE", "GSI1PK": "ada@example.com", "GSI1SK": "CUSTOMER"})
    shipped = table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("STATUS#SHIPPED"))
    assert [i["PK"] for i in shipped["Items"]] == ["ORDER#8", "ORDER#7"]
    assert table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("ada@example.com"))["Items"][0]["PK"] == "CUSTOMER#9"


def sparse_index():
    table.put_item(Item={"PK": "S", "SK": "1", "GSI2PK": "OPEN"})
    table.put_item(Item={"PK": "S", "SK": "2"})
    assert table.query(IndexName="GSI2", KeyConditionExpression=Key("GSI2PK").eq("OPEN"))["Count"] == 1
    table.update_item(Key={"PK": "S", "SK": "1"}, UpdateExpression="REMOVE GSI2PK")
    assert table.query(IndexName="GSI2", KeyConditionExpression=Key("GSI2PK").eq("OPEN"))["Count"] == 0


def adjacency_list():
    for student, course in ((1, 9), (1, 8), (2, 9)):
        table.put_item(Item={"PK": f"STUDENT#{student}", "SK": f"COURSE#{course}", "GSI1PK": f"COURSE#{course}", "GSI1SK": f"STUDENT#{student}"})
    assert sks(table.query(KeyConditionExpression=Key("PK").eq("STUDENT#1"))) == ["COURSE#8", "COURSE#9"]
    back = table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("COURSE#9"))
    assert [i["PK"] for i in back["Items"]] == ["STUDENT#1", "STUDENT#2"]


def hierarchy():
    places = ["COUNTRY#US", "COUNTRY#US#STATE#CA", "COUNTRY#US#STATE#CA#CITY#LA", "COUNTRY#US#STATE#CA#CITY#SF", "COUNTRY#US#STATE#NY"]
    for place in places:
        table.put_item(Item={"PK": "PLACES", "SK": place})
    depth = lambda prefix: sks(table.query(KeyConditionExpression=Key("PK").eq("PLACES") & Key("SK").begins_with(prefix)))
    assert depth("COUNTRY#US") == places and depth("COUNTRY#US#STATE#CA#CITY#") == places[2:4]
    between = table.query(KeyConditionExpression=Key("PK").eq("PLACES") & Key("SK").between(places[1], places[3]))
    assert sks(between) == places[1:4]


def materialized_path():
    for path in ("a", "a/b", "a/b/c", "a/b/d", "a/e"):
        table.put_item(Item={"PK": "TREE", "SK": path})
    subtree = sks(table.query(KeyConditionExpression=Key("PK").eq("TREE") & Key("SK").begins_with("a/b")))
    actions = []
    for path in subtree:
        actions.append({"Delete": {"TableName": "app", "Key": item(PK="TREE", SK=path)}})
        actions.append({"Put": {"TableName": "app", "Item": item(PK="TREE", SK=path.replace("a/b", "a/e/b", 1))}})
    client.transact_write_items(TransactItems=actions)
    assert sks(table.query(KeyConditionExpression=Key("PK").eq("TREE"))) == ["a", "a/e", "a/e/b", "a/e/b/c", "a/e/b/d"]


def time_series():
    for hour in range(24):
        table.put_item(Item={"PK": "SENSOR#1#2026-01-01", "SK": f"2026-01-01T{hour:02d}:00", "GSI1PK": "SENSOR", "GSI1SK": f"2026-01-01T{hour:02d}:00"})
    day = Key("PK").eq("SENSOR#1#2026-01-01")
    assert len(sks(table.query(KeyConditionExpression=day & Key("SK").between("2026-01-01T06:00", "2026-01-01T09:00")))) == 4
    assert len(sks(table.query(KeyConditionExpression=day & Key("SK").gt("2026-01-01T21:00")))) == 2
    assert table.query(IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("SENSOR") & Key("GSI1SK").lt("2026-01-01T03:00"))["Count"] == 3


def fan_out(partitions):
    found, threads = [], []
    ask = lambda pk: found.extend(client.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": pk}})["Items"])
    for pk in partitions:
        threads.append(threading.Thread(target=ask, args=(pk,)))
        threads[-1].start()
    [t.join() for t in threads]
    return found


def geohash():
    for cell in ("9q8yy", "9q8yz", "9q8zn"):
        for n in range(5):
            table.put_item(Item={"PK": f"GEO#{cell}", "SK": str(n)})
    assert len(fan_out(["GEO#9q8yy", "GEO#9q8yz", "GEO#9q8zn", "GEO#none"])) == 15


def write_sharding():
    with table.batch_writer() as batch:
        for n in range(100):
            batch.put_item(Item={"PK": f"EVENTS#{n % 10}", "SK": f"{n:04d}"})
    assert sorted(i["SK"]["S"] for i in fan_out([f"EVENTS#{n}" for n in range(10)])) == [f"{n:04d}" for n in range(100)]


def uniqueness():
    def sign_up(user):
        client.transact_write_items(TransactItems=[
            {"Put": {"TableName": "app", "Item": item(PK=f"USER#{user}", SK="PROFILE")}},
            {"Put": {"TableName": "app", "Item": item(PK="EMAIL#x", SK="EMAIL"), "ConditionExpression": "attribute_not_exists(PK)"}}])
    sign_up(1)
    raises("TransactionCanceledException", sign_up, user=2)
    assert [r["Code"] for r in raises.response["CancellationReasons"]] == ["None", "ConditionalCheckFailed"]
    assert "Item" not in table.get_item(Key={"PK": "USER#2", "SK": "PROFILE"})


def stock():
    table.put_item(Item={"PK": "PRODUCT#1", "SK": "STOCK", "stock": 5})
    def order(number, quantity):
        return client.transact_write_items(TransactItems=[
            {"Put": {"TableName": "app", "Item": item(PK=f"SALE#{number}", SK="META")}},
            {"Update": {"TableName": "app", "Key": item(PK="PRODUCT#1", SK="STOCK"), "UpdateExpression": "SET stock = stock - :q",
                        "ConditionExpression": "stock >= :q", "ExpressionAttributeValues": {":q": wire(quantity)},
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}])
    order(1, 3)
    message = raises("TransactionCanceledException", order, number=2, quantity=3)
    assert message == "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]", message
    assert raises.response["CancellationReasons"][1]["Item"]["stock"] == {"N": "2"}
    assert table.get_item(Key={"PK": "PRODUCT#1", "SK": "STOCK"})["Item"]["stock"] == 2
    assert "Item" not in table.get_item(Key={"PK": "SALE#2", "SK": "META"})


def optimistic_locking():
    where = {"PK": "DOC", "SK": "1"}
    table.put_item(Item={**where, "version": 1})
    change = dict(Key=where, UpdateExpression="SET body = :b, version = version + :one", ConditionExpression="version = :v",
                  ExpressionAttributeValues={":b": "x", ":one": 1, ":v": 1}, ReturnValues="ALL_NEW")
    assert table.update_item(**change)["Attributes"]["version"] == 2
    raises("ConditionalCheckFailedException", table.update_item, **change)


def counters_sets_lists():
    where = {"PK": "C", "SK": "1"}
    table.put_item(Item={**where, "a": {"b": [0, 1, 2, {"c": "old"}]}})
    out = table.update_item(Key=where, UpdateExpression="ADD visits :one, tags :t SET #a.b[3].c = :c, seen = list_append(if_not_exists(seen, :empty), :l)",
                            ExpressionAttributeNames={"#a": "a"}, ReturnValues="ALL_NEW",
                            ExpressionAttributeValues={":one": 1, ":t": {"x", "y"}, ":c": "new", ":empty": [], ":l": ["z"]})["Attributes"]
    assert out["visits"] == 1 and out["tags"] == {"x", "y"} and out["a"]["b"][3]["c"] == "new" and out["seen"] == ["z"]
    out = table.update_item(Key=where, UpdateExpression="DELETE tags :t REMOVE #a.b[0]", ExpressionAttributeNames={"#a": "a"},
                            ExpressionAttributeValues={":t": {"x"}}, ReturnValues="UPDATED_NEW")["Attributes"]
    assert out["tags"] == {"y"}, out
    assert table.get_item(Key=where)["Item"]["a"]["b"] == [1, 2, {"c": "new"}]


def idempotent_transaction():
    def add(quantity):
        return client.transact_write_items(ClientRequestToken="token-1", ReturnConsumedCapacity="TOTAL", TransactItems=[
            {"Update": {"TableName": "app", "Key": item(PK="I", SK="1"), "UpdateExpression": "ADD n :q",
                        "ExpressionAttributeValues": {":q": wire(quantity)}}}])
    add(1)
    again = add(1)
    assert table.get_item(Key={"PK": "I", "SK": "1"})["Item"]["n"] == 1
    assert again["ConsumedCapacity"][0]["ReadCapacityUnits"] == 2
    raises("IdempotentParameterMismatchException", add, quantity=2)


def condition_check():
    table.put_item(Item={"PK": "PARENT", "SK": "1", "state": "open"})
    def child(state):
        client.transact_write_items(TransactItems=[
            {"ConditionCheck": {"TableName": "app", "Key": item(PK="PARENT", SK="1"), "ConditionExpression": "#s = :s",
                                "ExpressionAttributeNames": {"#s": "state"}, "ExpressionAttributeValues": {":s": wire(state)}}},
            {"Put": {"TableName": "app", "Item": item(PK="CHILD", SK=state)}}])
    child("open")
    raises("TransactionCanceledException", child, state="closed")
    assert sks(table.query(KeyConditionExpression=Key("PK").eq("CHILD"))) == ["open"]


def the_picture():
    """README's picture is of what the tests above do."""
    if ONLY:
        return
    with urllib.request.urlopen(f"{server.url}/_dynalith/insight", timeout=60) as reply:
        text = reply.read().decode()
    if PICTURE:
        report = json.loads(text)
        for pattern in report["patterns"]:
            for own in ("first", "last", "latency_ms"):  # of the machine
                pattern.pop(own, None)
        pathlib.Path(PICTURE).write_text(json.dumps(report, ensure_ascii=False).replace('}, {"id"', '},\n{"id"') + "\n")
    outline = lambda p: tuple(p.get(m) for m in ("operation", "kind", "table", "index", "key", "filter", "projection", "update", "condition", "how"))
    def shape(report):
        return sorted(map(repr, map(outline, report["patterns"]))), sorted((f["finding"], f["where"]) for f in report["findings"])
    drawn, seen = (shape(json.loads(t)) for t in ((ROOT / "docs/images/patterns.json").read_text(), text))
    assert len(seen[0]) > 30 and drawn == seen, [sorted(set(map(str, a)) ^ set(map(str, b))) for a, b in zip(drawn, seen)]


def consistent_reads():
    table.put_item(Item={"PK": "R", "SK": "1", "at": "2026"})
    assert table.get_item(Key={"PK": "R", "SK": "1"}, ConsistentRead=True)["Item"]["at"] == "2026"
    assert table.query(IndexName="by-time", KeyConditionExpression=Key("PK").eq("R"), ConsistentRead=True)["Count"] == 1
    message = raises("ValidationException", table.query, IndexName="GSI1", KeyConditionExpression=Key("GSI1PK").eq("x"), ConsistentRead=True)
    assert message == "Consistent reads are not supported on global secondary indexes"


def pages(**query):
    out, response = [], table.query(**query)
    out.append(response)
    while "LastEvaluatedKey" in response:
        response = table.query(**query, ExclusiveStartKey=response["LastEvaluatedKey"])
        out.append(response)
    return out


def pagination():
    with table.batch_writer() as batch:
        for n in range(25):
            batch.put_item(Item={"PK": "PAGE", "SK": f"{n:03d}", "at": f"{n % 5}", "GSI1PK": "PAGE", "GSI1SK": f"{n % 3}", "n": n})
    for index, pk in ((None, "PK"), ("by-time", "PK"), ("GSI1", "GSI1PK")):
        extra = {"IndexName": index} if index else {}
        for forward in (True, False):
            found = pages(KeyConditionExpression=Key(pk).eq("PAGE"), Limit=4, ScanIndexForward=forward, **extra)
            assert len({i["SK"] for p in found for i in p["Items"]}) == 25 == sum(p["Count"] for p in found)
    filtered = table.query(KeyConditionExpression=Key("PK").eq("PAGE"), FilterExpression=Attr("n").gt(20), Limit=4)
    assert filtered["Count"] == 0 and filtered["ScannedCount"] == 4 and "LastEvaluatedKey" in filtered
    with table.batch_writer() as batch:
        for n in range(5):
            batch.put_item(Item={"PK": "BIG", "SK": str(n), "body": "x" * 390_000})
    big = pages(KeyConditionExpression=Key("PK").eq("BIG"))
    assert [p["Count"] for p in big] == [3, 2], [p["Count"] for p in big]


def batches():
    puts = [{"PutRequest": {"Item": item(PK="B", SK=f"{n:03d}")}} for n in range(25)]
    assert client.batch_write_item(RequestItems={"app": puts})["UnprocessedItems"] == {}
    keys = [item(PK="B", SK=f"{n:03d}") for n in range(100)]
    got = client.batch_get_item(RequestItems={"app": {"Keys": keys}})
    assert len(got["Responses"]["app"]) == 25 and got["UnprocessedKeys"] == {}
    raises("ValidationException", client.batch_write_item, RequestItems={"app": puts + puts[:1]})
    assert raises("ValidationException", client.batch_get_item, RequestItems={"app": {"Keys": keys[:1] * 2}}) == "Provided list of item keys contains duplicates"
    large = [item(PK="BL", SK=f"{n:03d}", body="x" * 350_000) for n in range(60)]
    for n in range(0, 60, 10):
        client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": i}} for i in large[n:n + 10]]})
    wanted = {"app": {"Keys": [{"PK": i["PK"], "SK": i["SK"]} for i in large], "ProjectionExpression": "SK, body"}}
    seen = set()
    while wanted:
        reply = client.batch_get_item(RequestItems=wanted)
        seen |= {i["SK"]["S"] for i in reply["Responses"]["app"]}
        wanted = reply["UnprocessedKeys"]
        assert not wanted or wanted["app"]["ProjectionExpression"] == "SK, body"
    assert len(seen) == 60
    keys = [{"PK": i["PK"], "SK": i["SK"]} for i in large]
    for how in ({"AttributesToGet": ["SK", "body"], "ConsistentRead": True},
                {"ProjectionExpression": "#k, #b", "ExpressionAttributeNames": {"#k": "SK", "#b": "body"}, "ConsistentRead": False}):
        reply = client.batch_get_item(RequestItems={"app": {"Keys": keys, **how}})
        rest = reply["UnprocessedKeys"]["app"]
        assert {k: v for k, v in rest.items() if k != "Keys"} == how
        assert sorted(k["SK"]["S"] for k in rest["Keys"]) == sorted({k["SK"]["S"] for k in keys} - {i["SK"]["S"] for i in reply["Responses"]["app"]})


def projections():
    table.put_item(Item={"PK": "P", "SK": "1", "GSI1PK": "P1", "GSI1SK": "1", "GSI2PK": "P2", "at": "1", "total": 5, "body": "long"})
    one = lambda index, k, v, **more: table.query(IndexName=index, KeyConditionExpression=Key(k).eq(v), **more)["Items"][0]
    assert set(one("GSI1", "GSI1PK", "P1")) == {"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "at", "total", "body"}
    assert set(one("GSI2", "GSI2PK", "P2")) == {"PK", "SK", "GSI2PK"}
    assert set(one("GSI3", "GSI1PK", "P1")) == {"PK", "SK", "GSI1PK", "total"}
    assert set(one("by-time", "PK", "P")) == {"PK", "SK", "at"}
    reply = table.query(IndexName="by-time", KeyConditionExpression=Key("PK").eq("P"), ProjectionExpression="body", ReturnConsumedCapacity="INDEXES")
    assert reply["Items"] == [{"body": "long"}]
    assert reply["ConsumedCapacity"]["Table"]["CapacityUnits"] == 0.5 and reply["ConsumedCapacity"]["LocalSecondaryIndexes"]["by-time"]["CapacityUnits"] == 0.5


def capacity():
    units = lambda reply: reply["ConsumedCapacity"]["CapacityUnits"]
    where = {"PK": "CAP", "SK": "1"}
    assert units(table.put_item(Item={**where, "body": "x" * 2500}, ReturnConsumedCapacity="TOTAL")) == 3
    assert units(table.get_item(Key=where, ReturnConsumedCapacity="TOTAL")) == 0.5
    table.put_item(Item={**where, "body": "x" * 5000})
    assert units(table.get_item(Key=where, ReturnConsumedCapacity="TOTAL")) == 1
    assert units(table.get_item(Key=where, ReturnConsumedCapacity="TOTAL", ConsistentRead=True)) == 2
    reply = table.put_item(Item={"PK": "CAP", "SK": "2", "GSI1PK": "CAP", "GSI1SK": "1"}, ReturnConsumedCapacity="INDEXES")["ConsumedCapacity"]
    assert reply["CapacityUnits"] == 3 and reply["Table"]["CapacityUnits"] == 1
    assert {k: v["CapacityUnits"] for k, v in reply["GlobalSecondaryIndexes"].items()} == {"GSI1": 1, "GSI3": 1}
    reply = client.transact_write_items(ReturnConsumedCapacity="TOTAL", TransactItems=[
        {"Put": {"TableName": "app", "Item": item(PK="CAP", SK=str(n))}} for n in (3, 4)])
    assert reply["ConsumedCapacity"][0]["CapacityUnits"] == 4
    assert client.transact_get_items(ReturnConsumedCapacity="TOTAL", TransactItems=[
        {"Get": {"TableName": "app", "Key": item(PK="CAP", SK="3")}}])["ConsumedCapacity"][0]["CapacityUnits"] == 2


def limits():
    refuse = lambda **i: raises("ValidationException", table.put_item, Item=i)
    assert refuse(PK="L", SK="1", body="x" * 410_000) == "Item size has exceeded the maximum allowed size"
    refuse(PK="L" * 2049, SK="1")
    refuse(PK="L", SK="1" * 1025)
    table.put_item(Item={"PK": "L" * 2048, "SK": "1" * 1024})
    deep = "leaf"
    for _ in range(31):
        deep = [deep]
    table.put_item(Item={"PK": "L", "SK": "deep", "v": deep})
    assert table.get_item(Key={"PK": "L", "SK": "deep"})["Item"]["v"] == deep
    for _ in range(5):
        deep = [deep]
    refuse(PK="L", SK="deeper", v=deep)
    exact = Decimal("0.12345678901234567890123456789012345678")
    table.put_item(Item={"PK": "L", "SK": "n", "n": exact})
    assert table.get_item(Key={"PK": "L", "SK": "n"})["Item"]["n"] == exact
    raises("ValidationException", client.put_item, TableName="app", Item={**item(PK="L", SK="n"), "n": {"N": "1" * 39}})


def migration():
    create_app(client, "live")
    live = server.resource().Table("live")
    with live.batch_writer() as batch:
        for n in range(600):
            batch.put_item(Item={"PK": f"U#{n}", "SK": "1", "email": f"{n % 50}@x", **({"bad": 1} if n % 7 else {})})
    stop, written = threading.Event(), []
    def keep_writing():
        while not stop.is_set():
            written.append(len(written))
            client.put_item(TableName="live", Item=item(PK=f"W#{written[-1]}", SK="1", email="0@x"))
    writer = threading.Thread(target=keep_writing)
    writer.start()
    client.update_table(TableName="live", AttributeDefinitions=[{"AttributeName": "email", "AttributeType": "S"}], GlobalSecondaryIndexUpdates=[
        {"Create": {"IndexName": "by-email", "KeySchema": key("email"), "Projection": {"ProjectionType": "ALL"}}}])
    while True:
        indexes = client.describe_table(TableName="live")["Table"]["GlobalSecondaryIndexes"]
        if [i for i in indexes if i["IndexName"] == "by-email"][0]["IndexStatus"] == "ACTIVE":
            break
        time.sleep(0.05)
    time.sleep(0.1)
    stop.set()
    writer.join()
    found = live.query(IndexName="by-email", KeyConditionExpression=Key("email").eq("0@x"), Select="COUNT")["Count"]
    assert found == 12 + len(written), (found, len(written))
    seen = []
    for segment in range(4):
        seen += live.scan(Segment=segment, TotalSegments=4, ProjectionExpression="PK")["Items"]
    assert len({i["PK"] for i in seen}) == len(seen) == 600 + len(written)
    changed = 0
    for i in seen:
        try:
            live.update_item(Key={"PK": i["PK"], "SK": "1"}, UpdateExpression="SET migrated = :t", ConditionExpression="attribute_not_exists(migrated)",
                             ExpressionAttributeValues={":t": True})
            changed += 1
        except client.exceptions.ConditionalCheckFailedException:
            pass
    assert changed == len(seen)
    client.update_table(TableName="live", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-email"}}])
    raises("ValidationException", live.query, IndexName="by-email", KeyConditionExpression=Key("email").eq("0@x"))
    client.delete_table(TableName="live")
    raises("ResourceNotFoundException", client.describe_table, TableName="live")


def isolation():
    for n in range(4):
        table.put_item(Item={"PK": "BANK", "SK": str(n), "n": 100})
    stop, torn = threading.Event(), []
    def read():
        mine = server.client()
        while not stop.is_set():
            rows = mine.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "BANK"}}, ConsistentRead=True)["Items"]
            if sum(int(r["n"]["N"]) for r in rows) != 400:
                torn.append(rows)
    def transfer(seed):
        mine = server.client()
        for n in range(60):
            a, b = (seed + n) % 4, (seed + n + 1 + n % 3) % 4
            move = lambda sk, sign: {"Update": {"TableName": "app", "Key": item(PK="BANK", SK=str(sk)), "UpdateExpression": f"SET n = n {sign} :d",
                                                "ExpressionAttributeValues": {":d": {"N": "1"}}}}
            if a != b:
                mine.transact_write_items(TransactItems=[move(a, "-"), move(b, "+")])
    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=transfer, args=(s,)) for s in range(4)]
    [t.start() for t in readers + writers]
    [t.join() for t in writers]
    stop.set()
    [t.join() for t in readers]
    assert not torn, torn[:1]
    wins = []
    def claim(n):
        try:
            server.client().put_item(TableName="app", Item=item(PK="CLAIM", SK="1", by=n), ConditionExpression="attribute_not_exists(PK)")
            wins.append(n)
        except client.exceptions.ConditionalCheckFailedException:
            pass
    threads = [threading.Thread(target=claim, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(wins) == 1 and table.get_item(Key={"PK": "CLAIM", "SK": "1"})["Item"]["by"] == wins[0]


if __name__ == "__main__":
    tests = [item_collection, compound_entity, inverted_and_overloaded_index, sparse_index, adjacency_list, hierarchy, materialized_path,
             time_series, geohash, write_sharding, uniqueness, stock, optimistic_locking, counters_sets_lists, idempotent_transaction,
             condition_check, the_picture, consistent_reads, pagination, batches, projections, capacity, limits, migration, isolation, server.stop]
    run("patterns", tests)
