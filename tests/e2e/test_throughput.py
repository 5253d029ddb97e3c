"""Throughput that is enforced, as users of the SDK meet it: exception classes, reasons, retries, parts of batches; by a clock that stands."""
import concurrent.futures
import urllib.request

from botocore.config import Config
from botocore.exceptions import ClientError

import boto3

from harness import Server, client_of, control, run

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"
TABLE = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."


def create(client, name="orders", read=5, write=5, index=None, **more):
    """Provisioned, with a global index by "g" of `index` units (read, write)."""
    names = ["id"] + (["g"] if index else [])
    units = lambda r, w: {} if r is None else {"ProvisionedThroughput": {"ReadCapacityUnits": r, "WriteCapacityUnits": w}}
    if index:
        more["GlobalSecondaryIndexes"] = [{"IndexName": "by_g", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                                           "Projection": {"ProjectionType": "ALL"}, **units(*index)}]
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST" if read is None else "PROVISIONED", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in names], **units(read, write), **more)


def enforced(**settings):
    """A server whose clock stands, without burst."""
    server = Server()
    control(server, "POST", "clock", {"freeze": True})
    control(server, "PUT", "throughput", {"throughput": "enforce", "burst_seconds": 0, **settings})
    return server


def later(server, time):
    control(server, "POST", "clock", {"advance": time})


def put(client, i=0, table="orders", **more):
    return client.put_item(TableName=table, Item={"id": {"S": f"i{i}"}, **more})


def failure(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ClientError as e:
        return e
    raise AssertionError("no error")


def until_throttled(call, most=20000):
    for i in range(most):
        try:
            call(i)
        except ClientError as e:
            return i, e
    raise AssertionError("never throttled")


def state(server, table="orders", query=""):
    return control(server, "GET", "throughput", query=query)["tables"][table]


def a_table_gives_what_it_has():
    server = enforced()
    client = client_of(server)
    create(client, read=3, write=2)
    n, error = until_throttled(lambda i: put(client, i))
    assert n == 2 and isinstance(error, client.exceptions.ProvisionedThroughputExceededException)
    assert error.response["Error"]["Message"] == TABLE and error.response["message"] == TABLE, error.response
    assert error.response["ThrottlingReasons"] == [{"reason": "TableWriteProvisionedThroughputExceeded", "resource": ARN + "orders"}]
    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    get = lambda i: client.get_item(TableName="orders", Key={"id": {"S": "i0"}}, ConsistentRead=i % 2 == 0)
    n, error = until_throttled(get)
    assert n == 4 and error.response["ThrottlingReasons"][0]["reason"] == "TableReadProvisionedThroughputExceeded", n  # 1, 0.5, 1, 0.5
    for time, more in (("1s", 2), ("500ms", 1), ("1m", 2)):  # no more than a second's are kept
        later(server, time)
        assert until_throttled(lambda i: put(client, i))[0] == more, time
    shown = state(server)
    assert shown["write"]["left"] == 0 and shown["write"]["rate"] == 2 and shown["write"]["consumed"] == 7, shown
    assert shown["write"]["throttled"] == {"ProvisionedThroughputExceeded": 4} and shown["billing"] == "PROVISIONED", shown
    client.update_table(TableName="orders", ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 6})
    assert until_throttled(lambda i: put(client, i))[0] == 4  # what it has more is there at once
    server.stop()


def unused_capacity_is_kept():
    server = Server("--throughput", "enforce")
    client = client_of(server)
    control(server, "POST", "clock", {"freeze": True})
    create(client, read=1, write=1)
    big = {"text": {"S": "x" * 9_900}}
    assert until_throttled(lambda i: put(client, i, **big))[0] == 30  # 10 units each of 300
    assert state(server)["write"]["left"] == 0
    later(server, "7s")
    put(client, 1, **big)  # goes into debt: 3 units
    later(server, "3s")
    assert failure(put, client).response["Error"]["Code"] == "ProvisionedThroughputExceededException"
    later(server, "1s")
    put(client, 99)
    later(server, "300s")
    assert state(server)["write"]["left"] == 300 and state(server)["write"]["capacity"] == 300
    assert control(server, "PUT", "throughput", {"throughput": "off"})["throughput"] == "off"
    for i in range(50):
        put(client, i, **big)
    assert control(server, "DELETE", "throughput")["throughput"] == "enforce"
    assert until_throttled(lambda i: put(client, i, **big))[0] == 30
    server.stop()


def what_fails_costs_too():
    server = enforced()
    client = client_of(server)
    create(client, read=100, write=3)
    put(client)
    conditional = dict(TableName="orders", Item={"id": {"S": "i0"}}, ConditionExpression="attribute_not_exists(id)")
    for _ in range(2):
        assert isinstance(failure(client.put_item, **conditional), client.exceptions.ConditionalCheckFailedException)
    assert isinstance(failure(client.put_item, **conditional), client.exceptions.ProvisionedThroughputExceededException)
    for _ in range(3):  # what AWS refuses for other reasons is free
        assert failure(client.put_item, TableName="orders", Item={"no": {"S": "x"}}).response["Error"]["Code"] == "ValidationException"
    assert state(server)["write"]["consumed"] == 3 and state(server)["write"]["throttled"] == {"ProvisionedThroughputExceeded": 1}
    server.stop()


def an_index_holds_its_table_back():
    server = enforced()
    client = client_of(server)
    create(client, read=10, write=100, index=(2, 3))
    n, error = until_throttled(lambda i: put(client, i, g={"S": "x"}))
    assert n == 3 and isinstance(error, client.exceptions.ProvisionedThroughputExceededException)
    assert "one or more global secondary indexes" in error.response["Error"]["Message"], error
    assert error.response["ThrottlingReasons"] == [{"reason": "IndexWriteProvisionedThroughputExceeded", "resource": ARN + "orders/index/by_g"}]
    put(client, 9)  # is in no index
    put(client, 0, g={"S": "x"})  # leaves its row as it is
    assert failure(client.delete_item, TableName="orders", Key={"id": {"S": "i0"}}).response["ThrottlingReasons"][0]["reason"].startswith("IndexWrite")
    assert "Item" in client.get_item(TableName="orders", Key={"id": {"S": "i0"}})
    assert not client.get_item(TableName="orders", Key={"id": {"S": "i3"}}).get("Item")
    query = dict(TableName="orders", IndexName="by_g", KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": {"S": "x"}})
    n, error = until_throttled(lambda i: client.query(**query))
    assert n == 4 and error.response["ThrottlingReasons"] == [{"reason": "IndexReadProvisionedThroughputExceeded", "resource": ARN + "orders/index/by_g"}], n
    client.scan(TableName="orders")  # the table has its own
    shown = state(server)
    assert shown["indexes"]["by_g"]["write"]["consumed"] == 3 and shown["write"]["consumed"] == 5, shown
    server.stop()


def batches_come_back_in_part():
    server = enforced()
    client = client_of(server)
    create(client, read=4, write=10)
    batch = {"orders": [{"PutRequest": {"Item": {"id": {"S": f"b{i:02}"}}}} for i in range(25)]}
    left = client.batch_write_item(RequestItems=batch)["UnprocessedItems"]
    assert [r["PutRequest"]["Item"]["id"]["S"] for r in left["orders"]] == [f"b{i:02}" for i in range(10, 25)]
    error = failure(client.batch_write_item, RequestItems=left)  # nothing of it could be done
    assert isinstance(error, client.exceptions.ProvisionedThroughputExceededException) and error.response["ThrottlingReasons"], error
    while left:
        later(server, "1s")
        left = client.batch_write_item(RequestItems=left)["UnprocessedItems"]
    assert state(server)["write"]["consumed"] == 25
    keys = {"orders": {"Keys": [{"id": {"S": f"b{i:02}"}} for i in range(25)], "ConsistentRead": True}}
    answer = client.batch_get_item(RequestItems=keys, ReturnConsumedCapacity="TOTAL")
    assert len(answer["Responses"]["orders"]) == 4 and len(answer["UnprocessedKeys"]["orders"]["Keys"]) == 21 and answer["UnprocessedKeys"]["orders"]["ConsistentRead"]
    assert answer["ConsumedCapacity"][0]["CapacityUnits"] == 4, answer["ConsumedCapacity"]
    assert isinstance(failure(client.batch_get_item, RequestItems=keys), client.exceptions.ProvisionedThroughputExceededException)
    later(server, "1s")
    answer = client.batch_execute_statement(Statements=[{"Statement": f"SELECT * FROM orders WHERE id = 'b{i:02}'", "ConsistentRead": True} for i in range(6)])
    codes = [r.get("Error", {}).get("Code") for r in answer["Responses"]]
    assert codes == [None] * 4 + ["ProvisionedThroughputExceeded"] * 2 and answer["Responses"][5]["Error"]["Message"] == TABLE, answer["Responses"]
    answer = client.batch_execute_statement(Statements=[{"Statement": f"INSERT INTO orders VALUE {{'id': 'p{i}'}}"} for i in range(12)])
    assert [r.get("Error", {}).get("Code") for r in answer["Responses"]] == [None] * 10 + ["ProvisionedThroughputExceeded"] * 2, answer["Responses"]
    assert failure(client.execute_statement, Statement="DELETE FROM orders WHERE id = 'p0'").response["Error"]["Code"] == "ProvisionedThroughputExceededException"
    assert failure(client.execute_statement, Statement="SELECT * FROM orders WHERE id = 'p0'").response["ThrottlingReasons"]
    server.stop()


def transactions_are_canceled():
    server = enforced()
    client = client_of(server)
    create(client, read=4, write=5)
    create(client, "demand", None, None, index=(None, None), OnDemandThroughput={"MaxReadRequestUnits": 2, "MaxWriteRequestUnits": 2})
    puts = [{"Put": {"TableName": "orders", "Item": {"id": {"S": f"t{i}"}}}} for i in range(4)]
    error = failure(client.transact_write_items, TransactItems=puts)  # 2 units each
    assert isinstance(error, client.exceptions.TransactionCanceledException)
    reasons = error.response["CancellationReasons"]
    assert [r["Code"] for r in reasons] == ["None", "None", "None", "ProvisionedThroughputExceeded"] and reasons[3]["Message"] == TABLE, reasons
    assert client.scan(TableName="orders", Select="COUNT")["Count"] == 0 and state(server)["write"]["consumed"] == 0
    client.transact_write_items(TransactItems=puts[:2])
    gets = [{"Get": {"TableName": "orders", "Key": {"id": {"S": f"t{i}"}}}} for i in range(3)]
    error = failure(client.transact_get_items, TransactItems=gets)
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["None", "None", "ProvisionedThroughputExceeded"], error.response
    mixed = [{"Put": {"TableName": "demand", "Item": {"id": {"S": f"t{i}"}}}} for i in range(2)]
    error = failure(client.transact_write_items, TransactItems=mixed)
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["None", "ThrottlingError"], error.response
    error = failure(client.execute_transaction, TransactStatements=[{"Statement": f"INSERT INTO orders VALUE {{'id': 'e{i}'}}"} for i in range(3)])
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["None", "ProvisionedThroughputExceeded", "ProvisionedThroughputExceeded"], error.response
    server.stop()


def on_demand_has_a_maximum():
    server = enforced()
    client = client_of(server)
    create(client, read=None, OnDemandThroughput={"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 3})
    n, error = until_throttled(lambda i: put(client, i))
    assert n == 3 and isinstance(error, client.exceptions.ThrottlingException), (n, error)
    assert error.response["Error"]["Message"] == "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
    assert error.response["throttlingReasons"] == [{"reason": "TableWriteMaxOnDemandThroughputExceeded", "resource": ARN + "orders"}], error.response
    client.update_table(TableName="orders", OnDemandThroughput={"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1})
    for i in range(20):
        put(client, i)
    assert state(server)["write"]["rate"] == 4000 and state(server)["read"]["rate"] == 12000, state(server)
    server.stop()


def write_units(client, units, table="orders"):
    """So many units to many partitions at once; how many were left undone."""
    left = 0
    for first in range(0, units, 400):
        batch = [{"PutRequest": {"Item": {"id": {"S": f"{first + i}"}, "text": {"S": "x" * 16_300}}}} for i in range(min(units - first, 400) // 16)]
        try:
            left += len(client.batch_write_item(RequestItems={table: batch})["UnprocessedItems"].get(table, []))
        except ClientError:
            left += len(batch)
    return left * 16


def on_demand_doubles_its_peak():
    server = enforced()
    client = client_of(server)
    create(client, read=None)
    assert write_units(client, 3200) == 0 and write_units(client, 1600) > 0
    error = until_throttled(lambda i: put(client, i))[1]
    assert isinstance(error, client.exceptions.ThrottlingException) and error.response["throttlingReasons"][0]["reason"] == "TableWriteKeyRangeThroughputExceeded"
    assert "automatically scaling your table or index" in error.response["Error"]["Message"]
    later(server, "10m")
    assert state(server)["write"]["rate"] == 4000
    later(server, "20m")
    shown = state(server)["write"]
    assert 7000 <= shown["rate"] <= 8200 and shown["ranges"] in (7, 8, 9), shown
    assert write_units(client, 6400) < 1600  # its ranges are not used alike
    server.stop()


def a_range_has_a_thousand():
    server = enforced()
    client = client_of(server)
    create(client, read=40000, write=4000)
    one = lambda i: client.update_item(TableName="orders", Key={"id": {"S": "hot"}}, UpdateExpression="SET t = :t", ExpressionAttributeValues={":t": {"S": "x" * 100_000}})
    n, error = until_throttled(one)
    assert n == 11 and isinstance(error, client.exceptions.ProvisionedThroughputExceededException), n  # 98 units each, the last into debt
    assert error.response["ThrottlingReasons"] == [{"reason": "TableWriteKeyRangeThroughputExceeded", "resource": ARN + "orders"}]
    assert state(server)["write"]["ranges"] == 14
    assert sum(1 for i in range(14) if not fails(put, client, i)) > 7  # others go on
    control(server, "PUT", "throughput", {"throughput": "enforce", "burst_seconds": 0, "adaptive": False})
    n, error = until_throttled(one)
    assert n == 3 and "KeyRange" in error.response["ThrottlingReasons"][0]["reason"], n  # 4,000 in 14 parts
    server.stop()


def fails(call, *args):
    try:
        call(*args)
        return False
    except ClientError:
        return True


def tables_differ():
    server = Server()
    client = client_of(server)
    control(server, "POST", "clock", {"freeze": True})
    for name in ("orders", "users", "free"):
        create(client, name, index=(5, 5))
    answer = control(server, "PUT", "throughput", {"burst_seconds": 10, "tables": {"orders": {"left": {"write": 1}, "indexes": {"by_g": {"read": 0}}}, "users": {
        "burst_seconds": 0, "adaptive": False}}})
    assert answer["throughput"] == "off" and sorted(answer["tables"]) == ["orders", "users"], answer
    assert answer["tables"]["orders"]["write"]["left"] == 1 and answer["tables"]["orders"]["read"]["left"] == 50, answer
    assert until_throttled(lambda i: put(client, i))[0] == 1 and until_throttled(lambda i: put(client, i, "users"))[0] == 5
    assert fails(lambda: client.scan(TableName="orders", IndexName="by_g")) and not fails(lambda: client.scan(TableName="orders"))
    for i in range(30):
        put(client, i, "free")
    one = client_of(server, key="111111111111")
    create(one)
    for i in range(30):
        put(one, i)  # another namespace
    client.delete_table(TableName="orders")
    create(client)
    assert until_throttled(lambda i: put(client, i))[0] == 1  # a new table of that name begins as the settings say
    for body, what in (({}, "wants a JSON object"), ({"throughput": "on"}, '"enforce" or "off"'), ({"throughput": "enforce", "burst": 1}, "there are throughput, burst_seconds"),
                       ({"tables": {"orders": {"servers": 2}}}, "of table orders"), ({"tables": {"x": {}}}, "no name of a table"),
                       ({"tables": {"orders": {"left": {"write": -1}}}}, "'left' of table orders"), ([], "wants a JSON object")):
        assert what in control(server, "PUT", "throughput", body, status=400)["message"], (body, what)
    assert sorted(control(server, "GET", "throughput")["tables"]) == ["orders", "users"]
    control(server, "POST", "reset")
    assert control(server, "GET", "throughput") == {"throughput": "off", "burst_seconds": 300, "adaptive": True, "servers": 1, "tables": {}}
    server.stop()


def a_share_is_a_part():
    server = enforced(servers=4)
    client = client_of(server)
    create(client, read=8, write=8)
    assert until_throttled(lambda i: put(client, i))[0] == 2
    assert state(server)["write"]["left"] == 0 and state(server)["write"]["capacity"] == 2
    server.stop()


def retries_get_through():
    """With time that passes."""
    server = Server()
    control(server, "PUT", "throughput", {"throughput": "enforce", "burst_seconds": 0})
    create(client_of(server), read=50, write=50)
    client = client_of(server, attempts=20)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: put(client, i), range(120)))
    table = boto3.resource("dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test",
                           config=Config(retries={"total_max_attempts": 20, "mode": "standard"})).Table("orders")
    with table.batch_writer() as batch:
        for i in range(100):
            batch.put_item(Item={"id": f"w{i}"})
    shown = state(server)["write"]
    assert shown["consumed"] == 220 and shown["throttled"]["ProvisionedThroughputExceeded"] > 0, shown
    server.stop()


def threads_share_a_bucket():
    server = enforced()
    client = client_of(server)
    create(client, read=100, write=100)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda i: not fails(put, client, i), range(300)))
    assert sum(done) == 100 and state(server)["write"]["consumed"] == 100, sum(done)
    server.stop()


def operations_on_tables_have_rates():
    server = enforced()
    client = client_of(server)
    create(client)
    tag = lambda i: client.tag_resource(ResourceArn=ARN + "orders", Tags=[{"Key": f"k{i}", "Value": "v"}])
    n, error = until_throttled(tag)
    assert n == 5 and isinstance(error, client.exceptions.ThrottlingException) and "throttlingReasons" not in error.response, (n, error)
    assert until_throttled(lambda i: client.describe_limits())[0] == 1
    later(server, "1s")
    assert until_throttled(tag)[0] == 5 and fails(client.describe_limits)
    later(server, "59s")
    client.describe_limits()
    text = urllib.request.urlopen(f"{server.url}/_dynalith/metrics").read().decode()
    assert 'dynalith_throttled_total{reason="RequestRate"} 4' in text, text
    until_throttled(lambda i: put(client, i))
    text = urllib.request.urlopen(f"{server.url}/_dynalith/metrics").read().decode()
    assert 'dynalith_throttled_total{reason="TableWriteProvisionedThroughputExceeded"} 1' in text
    server.stop()


run("throughput", [a_table_gives_what_it_has, unused_capacity_is_kept, what_fails_costs_too, an_index_holds_its_table_back, batches_come_back_in_part,
                   transactions_are_canceled, on_demand_has_a_maximum, on_demand_doubles_its_peak, a_range_has_a_thousand, tables_differ, a_share_is_a_part,
                   retries_get_through, threads_share_a_bucket, operations_on_tables_have_rates])
