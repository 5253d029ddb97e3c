"""Races that programs have had, each with a twin that has none: cases.py NAME wrong|right"""

import sys
import threading
import time

import boto3
from botocore.exceptions import ClientError

NAME, IS_RIGHT = sys.argv[1], sys.argv[2] == "right"
table = boto3.resource("dynamodb").create_table(
    TableName="shop", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])


def own_table():
    """Resources are not safe for threads; each thread has its own."""
    return boto3.session.Session().resource("dynamodb").Table("shop")


def get(mine, pk):
    return mine.get_item(Key={"pk": pk}, ConsistentRead=True).get("Item")


def tried(work):
    try:
        work()
    except ClientError as error:
        if error.response["Error"]["Code"] in ("ConditionalCheckFailedException", "TransactionCanceledException"):
            return False
        raise
    return True


def both(work, *arguments):
    """Two threads, the second a little later, as two workers do: what each gave."""
    gave = [None, None]

    def one(i):
        mine = own_table()
        time.sleep(0.05 * i)
        gave[i] = work(mine, *(a[i] for a in arguments))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return gave


def lock():
    """A lock by reading whether it is there."""
    def take(mine, who):
        if IS_RIGHT:
            return tried(lambda: mine.put_item(Item={"pk": "lock", "who": who}, ConditionExpression="attribute_not_exists(pk)"))
        if get(mine, "lock"):
            return False
        mine.put_item(Item={"pk": "lock", "who": who})
        return True

    assert sum(both(take, ["ann", "bob"])) == 1, "one lock, two holders"


def outbox():
    """A message that two senders find waiting."""
    table.put_item(Item={"pk": "message", "state": "waiting"})

    def send(mine):
        if IS_RIGHT:
            return tried(lambda: mine.update_item(
                Key={"pk": "message"}, UpdateExpression="SET #s = :sent", ConditionExpression="#s = :waiting",
                ExpressionAttributeNames={"#s": "state"}, ExpressionAttributeValues={":sent": "sent", ":waiting": "waiting"}))
        if get(mine, "message")["state"] == "sent":
            return False
        mine.put_item(Item={"pk": "message", "state": "sent"})
        return True

    assert sum(both(send)) == 1, "one message, sent twice"


def version():
    """A version attribute that one of two paths forgets."""
    table.put_item(Item={"pk": "order", "version": 1, "state": "new", "note": "none"})

    def change(mine, path):
        for _ in range(5):
            item = get(mine, "order")
            item["note" if path else "state"] = "changed"
            item["version"] += 1
            if path and not IS_RIGHT:
                mine.put_item(Item=item)
                return
            if tried(lambda: mine.put_item(Item=item, ConditionExpression="version = :v", ExpressionAttributeValues={":v": item["version"] - 1})):
                return

    both(change, [0, 1])
    order = get(table, "order")
    assert order["state"] == order["note"] == "changed", f"a change is lost: {order}"


def rota():
    """Two doctors on call, of whom one must stay."""
    for who in ("ann", "bob"):
        table.put_item(Item={"pk": who, "on_call": True})

    def leave(mine, who, other):
        if IS_RIGHT:
            client = mine.meta.client
            return tried(lambda: client.transact_write_items(TransactItems=[
                {"ConditionCheck": {"TableName": "shop", "Key": {"pk": other}, "ConditionExpression": "on_call = :yes",
                                    "ExpressionAttributeValues": {":yes": True}}},
                {"Put": {"TableName": "shop", "Item": {"pk": who, "on_call": False}}}]))
        if get(mine, other)["on_call"]:
            mine.put_item(Item={"pk": who, "on_call": False})
        return True

    both(leave, ["ann", "bob"], ["bob", "ann"])
    assert any(get(table, who)["on_call"] for who in ("ann", "bob")), "nobody is on call"


def count():
    """A count that is kept beside what it counts."""
    table.put_item(Item={"pk": "count", "n": 0})

    def add(mine, pk):
        mine.put_item(Item={"pk": pk, "kind": "order"})
        if IS_RIGHT:
            mine.update_item(Key={"pk": "count"}, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": 1})
            return
        n = mine.scan(ConsistentRead=True, FilterExpression="kind = :k", ExpressionAttributeValues={":k": "order"})["Count"]
        mine.update_item(Key={"pk": "count"}, UpdateExpression="SET n = :n", ExpressionAttributeValues={":n": n})

    both(add, ["order 1", "order 2"])
    assert get(table, "count")["n"] == 2, f"two orders, counted {get(table, 'count')['n']}"


CASES = {case.__name__: case for case in (lock, outbox, version, rota, count)}
CASES[NAME]()
