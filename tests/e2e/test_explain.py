"""One request explained: beside its answer, in a header, and on trial, which changes nothing."""
import json

from harness import Server, control, key, run
from wire import Client, at, n, s

SECRET = "s3cr3t-value"


ITEM = at("CUSTOMER#0", "ORDER#00")


def explain(server, operation, **request):
    return control(server, "POST", "explain", {"operation": operation, "request": request})


def start(*flags):
    server = Server(*flags)
    client = Client(server.port, timeout=120)
    index = lambda name, keys: {"IndexName": name, "KeySchema": key(*keys), "Projection": {"ProjectionType": "ALL"}}
    client("CreateTable", TableName="shop", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"), GlobalSecondaryIndexes=[index("by-state", ("state", "SK"))],
           LocalSecondaryIndexes=[index("by-size", ("PK", "size"))], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": t} for a, t in (("PK", "S"), ("SK", "S"), ("state", "S"), ("size", "N"))])
    for i in range(20):
        client("PutItem", TableName="shop", Item={**at(f"CUSTOMER#{i % 2}", f"ORDER#{i:02}"), "state": s(f"STATE#{i % 4}"), "size": n(i), "note": s(SECRET)})
    return server, client


def reads_are_explained():
    server, client = start()
    key_condition = {"KeyConditionExpression": "PK = :p AND begins_with(SK, :s)"}
    told = explain(server, "Query", TableName="shop", **key_condition, FilterExpression="#z > :z", ExpressionAttributeNames={"#z": "size"}, Limit=4,
                   ExpressionAttributeValues={":p": s("CUSTOMER#0"), ":s": s("ORDER#"), ":z": n(3)})
    access = told["accesses"][0]
    assert told["status"] == 200 and told["is_trial"] and told["read_units"] == 0.5 and told["write_units"] == 0, told
    assert access["range"] == [{"attribute": "PK", "operator": "=", "values": [s("CUSTOMER#0")]},
                               {"attribute": "SK", "operator": "begins_with", "values": [s("ORDER#")]}], access
    assert (access["items_read"], access["items_filtered"], access["items_returned"], access["has_more"]) == (4, 2, 2, True), access
    assert access["kind"] == "Query" and access["filter"] == "size > ?" and "index" not in access and "why_scan" not in access, access
    assert told["whole"] == {"pages": 3, "items_read": 10, "items_returned": 8, "read_units": 1.5, "is_cut": False}, told["whole"]
    assert [(b["operation"], b["index"], b["attribute"]) for b in told["better"]] == [("Query", "by-size", "size")], told["better"]
    scan = explain(server, "Scan", TableName="shop", FilterExpression="#s = :s", ExpressionAttributeNames={"#s": "state"}, ExpressionAttributeValues={":s": s("STATE#1")})
    assert "A Scan reads all items of the table" in scan["accesses"][0]["why_scan"] and scan["accesses"][0]["range"] == [], scan
    assert [(b["operation"], b["index"]) for b in scan["better"]] == [("Query", "by-state")], scan["better"]
    assert {"scan", "discard"} <= {f["finding"] for f in scan["findings"]} and len(scan["pattern"]) == 8, scan["findings"]
    new = explain(server, "Scan", TableName="shop", FilterExpression="note = :s", ExpressionAttributeValues={":s": s("x")})
    assert [(b["attribute"], b.get("index")) for b in new["better"]] == [("note", None)] and "missing-index" in {f["finding"] for f in new["findings"]}, new
    one = explain(server, "Scan", TableName="shop", FilterExpression="PK = :p AND SK = :s", ExpressionAttributeValues={":p": ITEM["PK"], ":s": ITEM["SK"]})
    assert [b["operation"] for b in one["better"]] == ["GetItem"], one["better"]
    get = explain(server, "GetItem", TableName="shop", Key=ITEM)
    assert get["accesses"][0]["kind"] == "GetItem" and get["accesses"][0]["items_read"] == 1 and get["findings"] == [] and "whole" not in get, get
    for told in (scan, new, one, get):
        assert SECRET not in json.dumps(told), told
    server.stop()


def statements_show_what_they_become():
    server, client = start()
    plan = lambda statement, **more: explain(server, "ExecuteStatement", Statement=statement, **more)
    point = plan("SELECT * FROM shop WHERE PK = ? AND SK = ?", Parameters=[ITEM["PK"], ITEM["SK"]])
    assert [a["kind"] for a in point["accesses"]] == ["GetItem"], point
    several = plan("SELECT * FROM shop WHERE PK IN ['CUSTOMER#0', 'CUSTOMER#1'] AND SK < 'ORDER#05'")
    assert [a["kind"] for a in several["accesses"]] == ["Query", "Query"], several
    assert several["whole"]["items_read"] == 5
    assert several["accesses"][1]["range"][1] == {"attribute": "SK", "operator": "<", "values": [s("ORDER#05")]}, several["accesses"]
    assert sum(a["items_read"] for a in several["accesses"]) == 5 == several["whole"]["items_returned"], several
    index = plan('SELECT * FROM shop."by-state" WHERE state = \'STATE#1\'')
    assert index["accesses"][0]["kind"] == "Query" and index["accesses"][0]["index"] == "by-state", index
    scan = plan("SELECT * FROM shop WHERE note = 'x' OR PK = 'CUSTOMER#0'")
    assert scan["accesses"][0]["kind"] == "Scan" and "does not fix the partition key PK" in scan["accesses"][0]["why_scan"], scan
    assert (scan["whole"]["items_read"], scan["whole"]["items_returned"]) == (20, 10) and scan["whole"]["pages"] == 1, scan["whole"]
    paged = plan("SELECT * FROM shop WHERE PK = 'CUSTOMER#0'", Limit=3)
    assert paged["whole"] == {"pages": 4, "items_read": 10, "items_returned": 10, "read_units": 2.0, "is_cut": False}, paged["whole"]
    delete = plan("DELETE FROM shop WHERE PK = 'CUSTOMER#0' AND SK = 'ORDER#00'")
    assert delete["accesses"][0]["kind"] == "DeleteItem" and delete["write_units"] == 3.0, delete
    update = explain(server, "BatchExecuteStatement", Statements=[{"Statement": f"UPDATE shop SET note = 'y' WHERE PK = 'CUSTOMER#0' AND SK = 'ORDER#0{i}'"} for i in (0, 2)])
    assert [a["kind"] for a in update["accesses"]] == ["UpdateItem"] * 2 and update["write_units"] == 6.0, update
    server.stop()


def searches_are_explained():
    """SearchVectors: how many vectors are compared, within which partition; and it is a pattern of reports."""
    server, client = start("--insight", "on")
    vector = {"Dimensions": 2, "DistanceFunction": "EUCLIDEAN", "VectorAttribute": {"AttributeName": "place"}, "Projection": {"ProjectionType": "ALL"}}
    client("CreateTable", TableName="places", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK", "tenant", "kind")],
           VectorIndexes=[{"IndexName": "near", **vector}, {"IndexName": "own", **vector, "SearchSchema": [
               {"AttributeName": "tenant", "SearchSchemaElementType": "HASH"}, {"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"}]}])
    for i in range(12):
        client("PutItem", TableName="places", Item={**at(f"PLACE#{i}", "PLACE"), "place": {"L": [n(i), n(0)]}, "tenant": s(f"TENANT#{i % 3}"),
                                                    "kind": s(SECRET if i < 6 else "other"), "pad": s("x" * 5000)})
    find = {"TableName": "places", "SearchVector": [n(1), n(1)], "TopK": 3}
    told = explain(server, "SearchVectors", IndexName="near", **find)
    access = told["accesses"][0]
    assert told["status"] == 200 and told["is_trial"] and told["findings"] == [] and len(told["pattern"]) == 8 and "whole" not in told, told
    assert (access["kind"], access["table"], access["index"], access["range"]) == ("SearchVectors", "places", "near", []), access
    assert (access["items_read"], access["items_returned"]) == (12, 3) and access["bytes_read"] > 12 * 8 and "why_scan" not in access, access
    for condition in ("tenant = :t AND kind = :k", ":k = kind AND :t = tenant"):
        own = explain(server, "SearchVectors", IndexName="own", SearchConditionExpression=condition, ProjectionExpression="PK",
                      ExpressionAttributeValues={":t": s("TENANT#1"), ":k": s("other")}, **find)
        access = own["accesses"][0]
        assert access["range"] == [{"attribute": "tenant", "operator": "=", "values": [s("TENANT#1")]}] and access["projection"] == "PK", access
        assert access["key"] == 'tenant = "TENANT#…"' and (access["items_read"], access["items_returned"]) == (4, 2), access
        assert own["findings"] == [] and own["better"] == [] and SECRET not in json.dumps(own), own
    wrong = explain(server, "SearchVectors", IndexName="own", **find)
    assert wrong["status"] == 400 and wrong["error"]["type"] == "ValidationException" and wrong["accesses"] == [], wrong
    control(server, "DELETE", "insight")
    for _ in range(120):  # more than a filter needs to be judged
        client("SearchVectors", IndexName="near", ProjectionExpression="PK", **find)
    seen = control(server, "GET", "insight")
    (pattern,) = seen["patterns"]
    assert (pattern["operation"], pattern["index"], pattern["calls"], pattern["items_read"], pattern["items_returned"]) == ("SearchVectors", "near", 120, 1440, 360), pattern
    assert seen["findings"] == [], seen["findings"]
    server.stop()


def a_trial_changes_nothing():
    """Neither items nor streams, faults, tokens, insight; and it costs what the request then costs."""
    server, client = start("--insight", "on", "--conflicts", "real")
    control(server, "PUT", "faults", {"rules": [{"operation": "PutItem", "first": 1, "error": "InternalServerError"}]})
    before = sorted(client.all("Scan", TableName="shop"), key=str)
    arn = client.streams("ListStreams", TableName="shop")["Streams"][0]["StreamArn"]
    shard = client.streams("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    records = lambda: len(client.streams("GetRecords", ShardIterator=client.streams(
        "GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"])["Records"])
    written, seen = records(), control(server, "GET", "insight")["requests"]
    put = {"TableName": "shop", "Item": {**ITEM, "state": s("STATE#9"), "size": n(1)}}
    values = {"ExpressionAttributeValues": {":n": s("new")}}
    transaction = {"TransactItems": [{"Put": put}, {"Delete": {"TableName": "shop", "Key": at("CUSTOMER#1", "ORDER#01")}}], "ClientRequestToken": "token-1"}
    writes = [("PutItem", put), ("DeleteItem", {"TableName": "shop", "Key": ITEM}),
              ("UpdateItem", {"TableName": "shop", "Key": at("NEW#1", "NEW"), "UpdateExpression": "SET note = :n", **values}),
              ("BatchWriteItem", {"RequestItems": {"shop": [{"PutRequest": {"Item": at("NEW#2", "NEW")}}, {"DeleteRequest": {"Key": ITEM}}]}}),
              ("TransactWriteItems", transaction),
              ("ExecuteStatement", {"Statement": "INSERT INTO shop VALUE {'PK': 'NEW#3', 'SK': 'NEW'}"}),
              ("BatchExecuteStatement", {"Statements": [{"Statement": "INSERT INTO shop VALUE {'PK': 'NEW#4', 'SK': 'NEW'}"}]}),
              ("ExecuteTransaction", {"TransactStatements": [{"Statement": "INSERT INTO shop VALUE {'PK': 'NEW#5', 'SK': 'NEW'}"}]})]
    told = {operation: explain(server, operation, **request) for operation, request in writes}
    assert all(t["status"] == 200 and t["is_trial"] and t["write_units"] > 0 for t in told.values()), told
    assert sorted(client.all("Scan", TableName="shop"), key=str) == before and records() == written
    assert control(server, "GET", "insight")["requests"] == seen + 1  # the Scan
    assert control(server, "GET", "faults")["rules"][0]["matched"] == 0
    control(server, "DELETE", "faults")
    failed = explain(server, "UpdateItem", TableName="shop", Key=ITEM, UpdateExpression="SET note = :n", ConditionExpression="attribute_not_exists(PK)", **values)
    assert failed["status"] == 400 and failed["error"]["type"] == "ConditionalCheckFailedException" and failed["write_units"] == 1.0, failed
    assert told["TransactWriteItems"]["accesses"][1]["kind"] == "DeleteItem" and "bytes_after" not in told["TransactWriteItems"]["accesses"][1]
    update = explain(server, "UpdateItem", TableName="shop", Key=ITEM, UpdateExpression="SET note = :n", **values)["accesses"][0]
    assert update["update"] == "SET note" and update["bytes_before"] > update["bytes_after"] > 0, update
    for operation, request in writes:  # each costs what was said, after what came before it
        again = explain(server, operation, **request)
        consumed = client(operation, ReturnConsumedCapacity="TOTAL", **request)["ConsumedCapacity"]
        units = sum(c["CapacityUnits"] for c in (consumed if isinstance(consumed, list) else [consumed]))
        assert again["write_units"] == units, (operation, again, consumed)
    server.stop()


def requests_that_cannot_be_explained():
    server, client = start()
    refused = explain(server, "Query", TableName="shop")
    assert refused["status"] == 400 and refused["error"]["type"] == "ValidationException" and refused["accesses"] == [], refused
    assert explain(server, "GetItem", TableName="nosuch", Key=ITEM)["error"]["type"] == "ResourceNotFoundException"
    assert explain(server, "GetItem", TableName=5, Key=ITEM)["error"]["type"] == "SerializationException"
    for body, words in (({"operation": "CreateTable", "request": {}}, "no operation 'CreateTable'"), ({"operation": "Query"}, "The body must be"),
                        ({"operation": "Query", "request": "text"}, "request"), ({"operations": []}, "operations")):
        assert words in json.dumps(control(server, "POST", "explain", body, status=400)), (body, words)
    server.stop()


def a_header_explains_beside_the_answer():
    """Through an SDK: what it sends comes back among the headers of the answer, and the answer itself is as ever."""
    server, client = start()
    sdk = server.client()
    sdk.meta.events.register("before-call.dynamodb", lambda params, **_: params["headers"].update({"x-dynalith-explain": "1"}))
    read = lambda reply: json.loads(reply["ResponseMetadata"]["HTTPHeaders"]["x-dynalith-explain"])
    reply = sdk.query(TableName="shop", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": s("CUSTOMER#0")})
    told = read(reply)
    assert len(reply["Items"]) == 10 and not told["is_trial"] and told["accesses"][0]["items_read"] == 10, told
    assert told["accesses"][0]["key"] == 'PK = "CUSTOMER#…"' and SECRET not in json.dumps(told), told
    name = "Straße \U0001F600"
    told = read(sdk.put_item(TableName="shop", Item={**at(name, "x"), "note": s("x")}))
    assert told["accesses"][0]["range"][0]["values"] == [s(name)] and told["write_units"] == 1.0, told
    assert "Item" in sdk.get_item(TableName="shop", Key=at(name, "x"))  # it was written
    try:
        sdk.put_item(TableName="shop", Item=ITEM, ConditionExpression="attribute_not_exists(PK)")
        raise AssertionError("the item was there")
    except sdk.exceptions.ConditionalCheckFailedException as error:
        assert json.loads(error.response["ResponseMetadata"]["HTTPHeaders"]["x-dynalith-explain"])["error"]["type"] == "ConditionalCheckFailedException"
    many = read(sdk.batch_get_item(RequestItems={"shop": {"Keys": [at(f"CUSTOMER#{i}", "LONG" * 50) for i in range(100)]}}))
    assert many["is_cut"] and "accesses" not in many and many["read_units"] == 50.0, many
    assert "x-dynalith-explain" not in sdk.list_tables()["ResponseMetadata"]["HTTPHeaders"]
    server.stop()


run("explain", [reads_are_explained, statements_show_what_they_become, searches_are_explained, a_trial_changes_nothing, requests_that_cannot_be_explained,
                a_header_explains_beside_the_answer])
