"""A program with a race, for test_races.py, by the standard library alone: races_program.py NAME wrong|right"""
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

URL = os.environ["AWS_ENDPOINT_URL_DYNAMODB"]
KEY = {"TableName": "shop", "Key": {"pk": {"S": "a"}}}


def call(operation, body, attempts=3, service="DynamoDB"):
    """As an SDK does, which sends again what got no answer."""
    for attempt in range(1, attempts + 1):
        headers = {"X-Amz-Target": f"{service}_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0", "amz-sdk-request": f"attempt={attempt}; max={attempts}"}
        try:
            with urllib.request.urlopen(urllib.request.Request(URL, json.dumps(body).encode(), headers), timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
            kind = answer["__type"].split("#")[1]
            if kind == "ProvisionedThroughputExceededException" and attempt < attempts:
                continue
            if kind not in ("ConditionalCheckFailedException", "TransactionCanceledException"):
                raise RuntimeError(answer)
            return answer
        except OSError:
            if attempt == attempts:
                raise


def number():
    return int(call("GetItem", {**KEY, "ConsistentRead": True}).get("Item", {}).get("n", {"N": "0"})["N"])


def update(expression, value, condition=None):
    body = {**KEY, "UpdateExpression": expression, "ExpressionAttributeValues": {":v": {"N": str(value)}}}
    return call("UpdateItem", {**body, **({"ConditionExpression": condition} if condition else {})})


def count(is_right):
    if is_right:
        update("ADD n :v", 1)
    else:
        call("PutItem", {"TableName": "shop", "Item": {"pk": {"S": "a"}, "n": {"N": str(number() + 1)}}})


def revise(is_right):
    """A version that two writers raise, where nobody else has since, or blindly."""
    while True:
        n, body = number(), {"TableName": "shop", "Item": {"pk": {"S": "a"}, "by": {"S": threading.current_thread().name[:8]}}}
        body["Item"]["n"] = {"N": str(n + 1)}
        if is_right:
            body |= {"ConditionExpression": "attribute_not_exists(n) OR n = :v", "ExpressionAttributeValues": {":v": {"N": str(n)}}}
        if "__type" not in call("PutItem", body):
            return


def buy(is_right):
    if is_right:
        update("SET n = n - :v", 1, "n >= :v")
    elif number() > 0:
        update("ADD n :v", -1)


def put_all(is_right):
    """A batch; what it left undone is forgotten, or sent again."""
    left = {"shop": [{"PutRequest": {"Item": {"pk": {"S": name}}}} for name in "xyz"]}
    while left:
        left = call("BatchWriteItem", {"RequestItems": left})["UnprocessedItems"] if is_right else call("BatchWriteItem", {"RequestItems": left}) and {}


def move(is_right):
    """A transaction; where another one was in its way it is given up, or sent again."""
    puts = [{"Put": {"TableName": "shop", "Item": {"pk": {"S": name}}}} for name in "xyz"]
    while "CancellationReasons" in call("TransactWriteItems", {"TransactItems": puts}) and is_right:
        pass


def session(is_right):
    """What has expired is there yet: its time is looked at, or is not."""
    call("UpdateTimeToLive", {"TableName": "shop", "TimeToLiveSpecification": {"AttributeName": "n", "Enabled": True}})
    update("SET n = :v", int(time.time()) - 60)
    expires = number()
    return expires == 0 or is_right and expires < time.time()


def is_seen(is_right):
    """What was just written is read, once or until it is there."""
    update("SET n = :v", 1)
    return any("Item" in call("GetItem", KEY) for _ in range(20 if is_right else 1))


def consumes(is_right):
    """A page without records is the end of the stream, or is not."""
    update("SET n = :v", 1)
    stream = call("DescribeTable", {"TableName": "shop"})["Table"]["LatestStreamArn"]
    shard = call("DescribeStream", {"StreamArn": stream}, service="DynamoDBStreams")["StreamDescription"]["Shards"][0]["ShardId"]
    at = call("GetShardIterator", {"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}, service="DynamoDBStreams")["ShardIterator"]
    for _ in range(20 if is_right else 1):
        page = call("GetRecords", {"ShardIterator": at}, service="DynamoDBStreams")
        if page["Records"]:
            return True
        at = page["NextShardIterator"]
    return False


def both(work, is_right):
    threads = [threading.Thread(target=lambda late=late: (time.sleep(late), work(is_right))) for late in (0, 0.1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main(name, is_right):
    if name == "silent":
        return 0
    call("CreateTable", {"TableName": "shop", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                         "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}})
    if name == "broken":
        print("it never worked")
        return 7
    if name == "endless":
        while True:
            number()
    if name == "fork":  # a child that outlives it and holds a connection
        if os.fork() == 0:
            os.setsid()
            time.sleep(600)
        return 0
    if name == "counter":
        both(count, is_right)
        return int(number() != 2)
    if name == "ruled":  # it has rules of faults itself
        rules = json.dumps({"rules": [{"operation": "Scan", "nth": 9, "error": "InternalServerError"}]}).encode()
        urllib.request.urlopen(urllib.request.Request(URL + "/_dynalith/faults", rules, method="PUT"), timeout=30).close()
    if name in ("batch", "move", "ruled"):
        (move if name == "move" else put_all)(is_right)
        return int(call("Scan", {"TableName": "shop"})["Count"] != 3)
    if name in ("unchecked", "revise"):  # nothing looks at what came out
        both(count if name == "unchecked" else revise, is_right)
        return 0
    if name == "family":
        for item in ({"pk": {"S": "a"}, "n": {"N": "2" if is_right else "3"}}, {"pk": {"S": "b"}, "up": {"S": "a"}, "mail": {"S": "b@x"}},
                     {"pk": {"S": "c"}, "up": {"S": "a" if is_right else "z"}, "mail": {"S": "c@x" if is_right else "b@x"}}):
            call("PutItem", {"TableName": "shop", "Item": item})
        return 0
    if name in ("session", "late", "consumer"):
        return int(not {"session": session, "late": is_seen, "consumer": consumes}[name](is_right))
    if name == "stock":
        update("SET n = :v", 1)
        both(buy, is_right)
        return int(number() != 0)
    update("SET n = :v", 100)
    update("SET n = :v" if is_right else "ADD n :v", 70 if is_right else -30)
    return int(number() != 70)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[-1] == "right"))
