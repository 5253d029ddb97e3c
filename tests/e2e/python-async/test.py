"""aioboto3 against the server at DYNALITH_URL: the patterns of a single table, many at a time on one loop, and how errors arrive."""
import asyncio
import os
import pathlib
import re
import sys
import traceback
import urllib.request
from decimal import Decimal

import aioboto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import TypeSerializer

URL, VERIFY_URL = os.environ["DYNALITH_URL"], os.environ["DYNALITH_VERIFY_URL"]  # before the harness takes them out
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import key  # noqa: E402

wire = TypeSerializer().serialize


def item(**attributes):
    return {k: wire(v) for k, v in attributes.items()}


def requests():
    """How many requests the server has answered."""
    text = urllib.request.urlopen(f"{URL}/_dynalith/metrics", timeout=20).read().decode()
    return sum(int(n) for n in re.findall(r"^dynalith_requests_total\{.*\} (\d+)$", text, re.M))


async def fails(exception, call):
    """The answer that came with the exception, which must be the client's own class."""
    try:
        await call
    except exception as error:
        return error.response
    raise AssertionError(f"no {exception}")


def definition(name):
    index = lambda n, keys, projection: {"IndexName": n, "KeySchema": key(*keys), "Projection": {"ProjectionType": projection}}
    return dict(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
                AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK")],
                GlobalSecondaryIndexes=[index("GSI1", ("GSI1PK", "GSI1SK"), "ALL"), index("GSI2", ("GSI2PK",), "KEYS_ONLY")])


async def create_and_describe(client, table):
    await client.create_table(**definition("app"))
    await client.get_waiter("table_exists").wait(TableName="app")
    assert (await client.describe_table(TableName="app"))["Table"]["TableStatus"] == "ACTIVE"
    assert await table.table_status == "ACTIVE"


async def every_type(client, table):
    row = {"PK": "types", "SK": "1", "s": "é\0\U0001F600", "n": Decimal("12345678901234567890123456789012345678"), "t": True, "nul": None,
           "l": [Decimal(1), "a", [True]], "m": {"deep": {"er": []}}, "ss": {"a", "b"}, "ns": {Decimal(1), Decimal("2.5")}, "empty": ""}
    await table.put_item(Item=row)
    assert (await table.get_item(Key={"PK": "types", "SK": "1"}))["Item"] == row


async def item_collection_and_pages(client, table):
    async with table.batch_writer() as batch:
        for n in range(60):
            await batch.put_item(Item={"PK": "C", "SK": f"ORDER#{n:03d}", "GSI1PK": f"STATUS#{n % 2}", "GSI1SK": f"{59 - n:03d}", "n": n})
        await batch.put_item(Item={"PK": "C", "SK": "PROFILE", "GSI2PK": "OPEN"})
    newest = await table.query(KeyConditionExpression=Key("PK").eq("C") & Key("SK").begins_with("ORDER#"), ScanIndexForward=False, Limit=1)
    assert [i["SK"] for i in newest["Items"]] == ["ORDER#059"] and newest["LastEvaluatedKey"] == {"PK": "C", "SK": "ORDER#059"}
    pages = [page async for page in client.get_paginator("query").paginate(
        TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :p", ExpressionAttributeValues={":p": wire("STATUS#0")},
        PaginationConfig={"PageSize": 7})]
    found = [i["n"]["N"] for page in pages for i in page["Items"]]
    assert found == [str(n) for n in range(58, -1, -2)] and len(pages) == 5, (found, len(pages))
    filtered = await table.query(KeyConditionExpression=Key("PK").eq("C"), FilterExpression=Attr("n").gt(57), Limit=5)
    assert (filtered["Count"], filtered["ScannedCount"]) == (0, 5) and filtered["LastEvaluatedKey"] == {"PK": "C", "SK": "ORDER#004"}
    got = await client.batch_get_item(RequestItems={"app": {"Keys": [item(PK="C", SK=f"ORDER#{n:03d}") for n in range(60)]}})
    assert len(got["Responses"]["app"]) == 60 and got["UnprocessedKeys"] == {}


async def sparse_index(client, table):
    open_ = lambda: table.query(IndexName="GSI2", KeyConditionExpression=Key("GSI2PK").eq("OPEN"))
    assert (await open_())["Items"] == [{"PK": "C", "SK": "PROFILE", "GSI2PK": "OPEN"}]
    await table.update_item(Key={"PK": "C", "SK": "PROFILE"}, UpdateExpression="REMOVE GSI2PK")
    assert (await open_())["Count"] == 0


async def sharded_writes_and_fan_out(client, table):
    await asyncio.gather(*(table.put_item(Item={"PK": f"EVENTS#{n % 10}", "SK": f"{n:04d}"}) for n in range(200)))
    shards = await asyncio.gather(*(table.query(KeyConditionExpression=Key("PK").eq(f"EVENTS#{n}")) for n in range(10)))
    assert sorted(i["SK"] for shard in shards for i in shard["Items"]) == [f"{n:04d}" for n in range(200)]
    segments = await asyncio.gather(*(table.scan(Segment=n, TotalSegments=4) for n in range(4)))
    assert sum(s["Count"] for s in segments) == (await table.scan(Select="COUNT"))["Count"]


async def counters_at_once(client, table):
    add = lambda: table.update_item(Key={"PK": "N", "SK": "1"}, UpdateExpression="ADD hits :one, tags :t SET seen = list_append(if_not_exists(seen, :no), :l)",
                                    ExpressionAttributeValues={":one": 1, ":t": {"x", "y"}, ":no": [], ":l": ["z"]})
    await asyncio.gather(*(add() for _ in range(50)))
    out = await table.update_item(Key={"PK": "N", "SK": "1"}, UpdateExpression="DELETE tags :t", ExpressionAttributeValues={":t": {"x"}},
                                  ReturnValues="ALL_NEW")
    assert out["Attributes"] == {"PK": "N", "SK": "1", "hits": 50, "tags": {"y"}, "seen": ["z"] * 50}


async def one_of_many_wins(client, table):
    await table.put_item(Item={"PK": "DOC", "SK": "1", "version": 1})
    change = lambda n: table.update_item(Key={"PK": "DOC", "SK": "1"}, UpdateExpression="SET body = :b, version = version + :one",
                                         ConditionExpression=Attr("version").eq(1), ExpressionAttributeValues={":b": n, ":one": 1})
    results = await asyncio.gather(*(change(n) for n in range(20)), return_exceptions=True)
    lost = [r for r in results if isinstance(r, client.exceptions.ConditionalCheckFailedException)]
    assert len(lost) == 19, results
    assert (await table.get_item(Key={"PK": "DOC", "SK": "1"}, ConsistentRead=True))["Item"]["version"] == 2


def sign_up(client, user):
    return client.transact_write_items(TransactItems=[
        {"Put": {"TableName": "app", "Item": item(PK=f"USER#{user}", SK="PROFILE")}},
        {"Put": {"TableName": "app", "Item": item(PK="EMAIL#x", SK="EMAIL", owner=user), "ConditionExpression": "attribute_not_exists(PK)",
                 "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}])


async def uniqueness(client, table):
    await sign_up(client, 1)
    response = await fails(client.exceptions.TransactionCanceledException, sign_up(client, 2))
    assert response["CancellationReasons"] == [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "The conditional request failed",
                                                                  "Item": item(PK="EMAIL#x", SK="EMAIL", owner=1)}]
    both = await client.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": item(PK=f"USER#{n}", SK="PROFILE")}} for n in (1, 2)])
    assert both["Responses"] == [{"Item": item(PK="USER#1", SK="PROFILE")}, {}]


def add_once(client, quantity):
    return client.transact_write_items(ClientRequestToken="token-1", TransactItems=[
        {"Update": {"TableName": "app", "Key": item(PK="I", SK="1"), "UpdateExpression": "ADD n :q", "ExpressionAttributeValues": {":q": wire(quantity)}}}])


async def idempotent_transaction(client, table):
    await add_once(client, 1)
    await add_once(client, 1)
    assert (await table.get_item(Key={"PK": "I", "SK": "1"}))["Item"]["n"] == 1
    await fails(client.exceptions.IdempotentParameterMismatchException, add_once(client, 2))


async def exceptions_by_class(client, table):
    known = client.exceptions
    response = await fails(known.ResourceNotFoundException, client.describe_table(TableName="absent"))
    assert response["Error"]["Message"] == "Requested resource not found: Table: absent not found"
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400 and response["ResponseMetadata"]["RequestId"]
    await fails(known.ResourceInUseException, client.create_table(**definition("app")))
    await table.put_item(Item={"PK": "COND", "SK": "1", "owner": "ada"})
    again = {"TableName": "app", "Item": item(PK="COND", SK="1"), "ConditionExpression": "attribute_not_exists(PK)"}
    assert "Item" not in await fails(known.ConditionalCheckFailedException, client.put_item(**again))
    response = await fails(known.ConditionalCheckFailedException, client.put_item(**again, ReturnValuesOnConditionCheckFailure="ALL_OLD"))
    assert response["Item"] == item(PK="COND", SK="1", owner="ada")
    response = await fails(known.ClientError, client.get_item(TableName="app", Key=item(PK="x")))
    assert response["Error"] == {"Code": "ValidationException", "Message": "The provided key element does not match the schema"}


async def mistakes_are_not_tried_again(client, table):
    before = requests()
    await fails(client.exceptions.ClientError, client.get_item(TableName="app", Key=item(PK="x")))
    await fails(client.exceptions.ResourceNotFoundException, client.get_item(TableName="absent", Key=item(PK="x")))
    await fails(client.exceptions.TransactionCanceledException, sign_up(client, 3))
    await fails(client.exceptions.IdempotentParameterMismatchException, add_once(client, 3))
    assert requests() - before == 4


async def signatures(client, table):
    for secret, code in (("local", None), ("wrong", "InvalidSignatureException")):
        async with aioboto3.Session().client("dynamodb", endpoint_url=VERIFY_URL, aws_access_key_id="local",
                                             aws_secret_access_key=secret) as other:
            if code:
                assert (await fails(client.exceptions.ClientError, other.list_tables()))["Error"]["Code"] == code
            else:
                assert (await other.list_tables(ExclusiveStartTableName="a-b_c.d"))["TableNames"] == []


TESTS = [create_and_describe, every_type, item_collection_and_pages, sparse_index, sharded_writes_and_fan_out, counters_at_once, one_of_many_wins,
         uniqueness, idempotent_transaction, exceptions_by_class, mistakes_are_not_tried_again, signatures]


async def main():
    passed = failed = 0
    session = aioboto3.Session()
    async with session.client("dynamodb", endpoint_url=URL) as client, session.resource("dynamodb", endpoint_url=URL) as resource:
        table = await resource.Table("app")
        for test in TESTS:
            try:
                await test(client, table)
                passed += 1
            except Exception:
                failed += 1
                print(f"e2e python-async: {test.__name__} failed", file=sys.stderr)
                traceback.print_exc()
    print(f"e2e python-async: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(asyncio.run(main()))
