"""What AWS changed region by region: each region gives the answer of its side, as the rows of `dynalith rollouts` say.

SPLITS has the answers of both sides: registry/splits.json and the captures of paritysuite/dynamodb-conformance, October 2026."""
import json
import re
import subprocess
import urllib.error
import urllib.request

from harness import BINARY, Server, control, run

ONE, MANY = "1 validation error detected: ", "2 validation errors detected: "
AT_LEAST, NOT_MET = "failed to satisfy constraint: Member must have length greater than or equal to 1", "failed to satisfy constraint: Member must satisfy enum value set: "
VALUES_OLDER = "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
NESTED = "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"
SEGMENT = "The Segment parameter is zero-based and must be less than parameter TotalSegments"
SPECIFIC = "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"
START = "The provided starting key is invalid"
SIZE = ("ValidationException", "Item size to update has exceeded the maximum allowed size")
KEY = {"pk": {"S": "a"}}


def deep(levels):
    return {"S": "leaf"} if levels == 0 else {"M": {"n": deep(levels - 1)}}


def at_least(value, name, least):
    return f"{ONE}Value {value}at '{name}' failed to satisfy constraint: Member must have value greater than or equal to {least}"


def invalid(*pairs):
    """The split of one request that is refused in other words: what they are before, and since."""
    return tuple(pair if isinstance(pair, tuple) else ("ValidationException", pair) for pair in pairs)


CONDITION = {"ConditionExpression": "nope = :v", "ExpressionAttributeValues": {":v": deep(32)}}
CANCELED, REFUSED = "TransactionCanceledException", "ConditionalCheckFailedException"
# (of the registry or a capture, rollout, operation, request, answer before, answer since); an answer is the type and the message, "*": any
SPLITS = [(name, rollout, operation, {"TableName": "tab", **request} if "TransactItems" not in request and "RequestItems" not in request else request, *invalid(*sides))
          for name, rollout, operation, request, *sides in [
    ("put-item-validation-error-aggregation", "WRITE_LAYER", "PutItem", {"TableName": "", "Item": KEY, "ReturnValues": "INVALID"},
     f"{MANY}Value 'INVALID' at 'returnValues' {NOT_MET}{VALUES_OLDER}; Value '' at 'tableName' {AT_LEAST}", f"{ONE}Value at 'TableName' {AT_LEAST}"),
    ("update-item-validation-error-aggregation", "WRITE_LAYER", "UpdateItem", {"Key": KEY, "ReturnValues": "INVALID", "ReturnConsumedCapacity": "INVALID"},
     f"{MANY}Value 'INVALID' at 'returnConsumedCapacity' {NOT_MET}[INDEXES, TOTAL, NONE]; Value 'INVALID' at 'returnValues' {NOT_MET}{VALUES_OLDER}",
     f"{ONE}Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"),
    ("update-item-nesting-depth-expression-value", "WRITE_LAYER", "UpdateItem", {"Key": KEY, **CONDITION}, (REFUSED, "The conditional request failed"), ONE + NESTED),
    ("NULL that is false, 2026-10-07", "WRITE_LAYER", "PutItem", {"Item": {**KEY, "n": {"NULL": False}}},
     "One or more parameter values were invalid: Null attribute value types must have the value of true",
     f"{ONE}One or more parameter values were invalid: Null attribute value types must have the value of true"),
    ("batch-get-item-empty-request-items-message", "BATCH_GET_LAYER", "BatchGetItem", {"RequestItems": {}},
     "The requestItems parameter is required for BatchGetItem", f"{ONE}Value at 'RequestItems' {AT_LEAST}"),
    ("batch-empty-request-items", "BATCH_WRITE_LAYER", "BatchWriteItem", {"RequestItems": {}},
     "The requestItems parameter is required for BatchWriteItem", f"{ONE}Value at 'RequestItems' {AT_LEAST}"),
    ("scan-segment-out-of-range-message", "SCAN_LAYER", "Scan", {"Segment": 5, "TotalSegments": 5}, f"{SEGMENT}: Segment: 5 is not less than TotalSegments: 5", SEGMENT),
    ("scan-limit-zero-message", "SCAN_LAYER", "Scan", {"Limit": 0}, at_least("'0' ", "limit", 1), at_least("", "Limit", 1)),
    ("scan-segment-negative-message", "SCAN_LAYER", "Scan", {"Segment": -1, "TotalSegments": 4}, at_least("'-1' ", "segment", 0), at_least("", "Segment", 0)),
    ("scan-bad-start-key-message", "SCAN_LAYER", "Scan", {"ExclusiveStartKey": {"bad": {"S": "p"}}}, f"{START}: The provided key element does not match the schema", START),
    ("scan-specific-attributes-message", "SCAN_LAYER", "Scan", {"Select": "SPECIFIC_ATTRIBUTES"}, SPECIFIC, ONE + SPECIFIC),
    ("transact-get-empty-transact-items", "TRANSACT_GET_LAYER", "TransactGetItems", {"TransactItems": []},
     f"{ONE}Value '[]' at 'transactItems' {AT_LEAST}", f"{ONE}Value at 'TransactItems' {AT_LEAST}"),
    ("transact-write-rollout: no items", "TRANSACT_WRITE_LAYER", "TransactWriteItems", {"TransactItems": []},
     f"{ONE}Value '[]' at 'transactItems' {AT_LEAST}", f"{ONE}Value at 'TransactItems' {AT_LEAST}"),
    ("transact-write-rollout: a value for the item", "TRANSACT_WRITE_LAYER", "TransactWriteItems",
     {"TransactItems": [{"Update": {"TableName": "tab", "Key": KEY, "UpdateExpression": "SET d = :v", "ExpressionAttributeValues": {":v": deep(32)}}}]},
     (CANCELED, f"[ValidationError: {NESTED.partition(':')[0]}]"), NESTED),
    ("transact-write-rollout: a value of an update's condition", "TRANSACT_WRITE_LAYER", "TransactWriteItems",
     {"TransactItems": [{"Update": {"TableName": "tab", "Key": KEY, "UpdateExpression": "REMOVE d", **CONDITION}}]}, (CANCELED, "[ConditionalCheckFailed]"), NESTED),
    ("transact-write-rollout: a value of a check", "TRANSACT_WRITE_LAYER", "TransactWriteItems",
     {"TransactItems": [{"ConditionCheck": {"TableName": "tab", "Key": KEY, **CONDITION}}]}, (CANCELED, "[ConditionalCheckFailed]"), NESTED),
]]


def table(name, keys=("pk",)):
    return {"TableName": name, "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [{"AttributeName": k, "AttributeType": "S"} for k in keys],
            "KeySchema": [{"AttributeName": k, "KeyType": t} for k, t in zip(keys, ("HASH", "RANGE"))]}


def ask(server, region, operation, body):
    """The error's type and its message, or (None, the answer)."""
    scope = f"AWS4-HMAC-SHA256 Credential=rollouts/20260101/{region}/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
    headers = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0", "X-Amz-Date": "20260101T000000Z"}
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/", json.dumps(body).encode(), {**headers, "Authorization": scope})
    try:
        return None, json.loads(urllib.request.urlopen(request, timeout=60).read())
    except urllib.error.HTTPError as error:
        answer = json.loads(error.read())
        reasons = ", ".join(r["Code"] + (f": {r['Message']}" if r["Code"] == "ValidationError" else "") for r in answer.get("CancellationReasons", []))
        return answer["__type"].partition("#")[2], f"[{reasons}]" if reasons else answer.get("message", answer.get("Message"))


def rows():
    """Of each rollout the regions that have it, and all regions that any names."""
    have, every = {}, set()
    for block in subprocess.run([BINARY, "rollouts"], capture_output=True, text=True, check=True).stdout.strip().split("\n\n"):
        name, _, rest = block.partition("\n")
        lines = re.findall(r"^  [-\d]{10}(  not yet:)? +(.*)", re.sub(r"\n {3,}", " ", rest), re.M)
        have[name] = {region for without, regions in lines if not without for region in regions.split()}
        every |= {region for _, regions in lines for region in regions.split()} - {"everywhere"}
    return have, every


HAVE, REGIONS = rows()


def wrong_of(server, region, has):
    """The splits that the region does not answer as `has` says of the rollout."""
    for name, rollout, operation, request, before, since in SPLITS:
        got, wanted = ask(server, region, operation, request), since if has(rollout) else before
        if got != wanted:
            yield f"{name} in {region}\n  want {wanted}\n  got  {got}"


def each_region_gives_the_answer_of_its_side():
    assert len(REGIONS) == 33, REGIONS
    server, wrong = Server(), []
    for region in sorted(REGIONS):
        ask(server, region, "CreateTable", table("tab"))
        wrong += wrong_of(server, region, lambda rollout: region in HAVE[rollout])
    assert not wrong, "\n".join(wrong)
    server.stop()


# What is updated, to begin with and how, by the split of the registry; the value :v is as long as it may be.
SIZES = {
    "short-key": ("tab", KEY, {}, "SET v = :v", {}), "key-name": ("named", {"partition": {"S": "a"}}, {}, "SET v = :v", {}),
    "sort-key": ("sorted", {**KEY, "sk": {"S": "b"}}, {}, "SET v = :v", {}), "second-set": ("tab", KEY, {}, "SET v = :v, w = :w", {":w": {"S": "w"}}),
    "remove": ("tab", KEY, {}, "SET v = :v REMOVE w", {}), "clause-not-value": ("tab", KEY, {}, "SET v = :v, w = :w", {":w": {"S": 10 * "w"}}),
    "untouched-attribute": ("tab", KEY, {"u": {"S": "u"}}, "SET v = :v", {}), "alias": ("tab", KEY, {}, "SET #v = :v", {}),
    "list-index": ("tab", KEY, {"l": {"L": [{"S": "1"}]}}, "SET l[0] = :v", {}),
}


def update(server, region, split, n):
    """UpdateItem, of an item as it begins, with a value of n bytes: the error, or (None, "*")."""
    name, key, item, expression, values = SIZES[split]
    assert ask(server, region, "PutItem", {"TableName": name, "Item": {**key, **item}})[0] is None
    error, text = ask(server, region, "UpdateItem", {
        "TableName": name, "Key": key, "UpdateExpression": expression, "ExpressionAttributeValues": {":v": {"S": n * "v"}, **values},
        **({"ExpressionAttributeNames": {"#v": "v"}} if "#" in expression else {})})
    return error, text if error else "*"


def largest(server, region, split):
    low, high = 400_000, 409_601
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if update(server, region, split, middle)[0] is None else (low, middle)
    return low


def transact(server, region, n):
    assert ask(server, region, "PutItem", {"TableName": "tab", "Item": KEY})[0] is None
    return ask(server, region, "TransactWriteItems", {"TransactItems": [
        {"Update": {"TableName": "tab", "Key": KEY, "UpdateExpression": "SET v = :v", "ExpressionAttributeValues": {":v": {"S": n * "v"}}}}]})


def updates_are_measured_as_the_region_does():
    server = Server()
    for region in ("us-east-1", "eu-west-2", "me-central-1"):
        for one in (table("tab"), table("named", ("partition",)), table("sorted", ("pk", "sk"))):
            ask(server, region, "CreateTable", one)
    for split in SIZES:
        n = largest(server, "us-east-1", split)
        assert n < 409_595, (split, n)
        for region in ("us-east-1", "eu-west-2", "me-central-1"):
            got = [update(server, region, split, n), update(server, region, split, n + 1)]
            assert got == [(None, "*"), SIZE if region in HAVE["UPDATE_SIZE"] else (None, "*")], (split, region, n, got)
    n = largest(server, "us-east-1", "short-key") + 1
    for region in ("us-east-1", "me-central-1"):  # what UpdateItem refuses, a transaction and a statement write
        assert transact(server, region, n) == (None, {}), region
        statement = {"Statement": "UPDATE tab SET v = ? WHERE pk = 'a'", "Parameters": [{"S": n * "v"}]}
        assert ask(server, region, "ExecuteStatement", statement)[0] is None, region
    assert transact(server, "eu-west-2", n) == SIZE and transact(server, "eu-west-2", n - 1) == (None, {})
    server.stop()


def number_sets_are_in_the_order_of_the_layer():
    """By value on the newer one, as a Java hash set has them on the older one: captured in ten regions on 2026-10-09."""
    server, hashed = Server(), ["3", "2", "1"]
    for region in ("us-east-1", "eu-central-1", "ap-southeast-2", "eu-north-1", "eu-west-2", "ap-northeast-1"):
        ask(server, region, "CreateTable", table("tab"))
        ask(server, region, "PutItem", {"TableName": "tab", "Item": {**KEY, "n": {"NS": hashed}}})
        scanned = ask(server, region, "Scan", {"TableName": "tab"})[1]["Items"][0]["n"]["NS"]
        got = ask(server, region, "TransactGetItems", {"TransactItems": [{"Get": {"TableName": "tab", "Key": KEY}}]})[1]["Responses"][0]["Item"]["n"]["NS"]
        for rollout, order in (("SCAN_LAYER", scanned), ("TRANSACT_GET_LAYER", got)):
            assert order == (hashed[::-1] if region in HAVE[rollout] else hashed), (region, rollout, order)
    server.stop()


def options_fix_a_region_and_a_day():
    for as_, has in (("eu-west-2", lambda rollout: "eu-west-2" in HAVE[rollout]), ("me-central-1", lambda rollout: False), ("next", lambda rollout: True),
                     ("us-east-1@2026-06-08", lambda rollout: False), ("eu-west-2@2026-10-07", lambda rollout: "eu-west-2" in HAVE[rollout] and "TRANSACT" not in rollout)):
        server = Server("--as", as_)
        ask(server, "us-east-1", "CreateTable", table("tab"))
        wrong = list(wrong_of(server, "us-east-1", has))
        assert not wrong, "\n".join([as_, *wrong])
        assert control(server, "GET", "rollouts")["as"] == as_
        server.stop()
    for wrong in ("nowhere", "us-east-1@yesterday", "next@2026-10-08", ""):
        ended = subprocess.run([BINARY, "--in-memory", "--port", "0", "--as", wrong], capture_output=True, text=True, timeout=60)
        assert ended.returncode == 2 and "as: " in ended.stderr, (wrong, ended)


def a_vector_is_read_for_four_bytes_a_dimension():
    """An item of 4,096 bytes by that rule, and of more by its numbers: tests/golden/data/vector_reads.json has every operation."""
    vector = {"L": [{"N": "12345678901234567890123456789012345678"}] * 6}
    item = {"pk": {"S": "a"}, "e": vector, "pad": {"S": "x" * (4096 - 3 - 25 - 3)}}
    made = {**table("tab"), "VectorIndexes": [{"IndexName": "one", "VectorAttribute": {"AttributeName": "e"}, "Dimensions": 6,
                                               "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "ALL"}}]}
    read = {"TableName": "tab", "ConsistentRead": True, "ReturnConsumedCapacity": "TOTAL"}
    for day, units in ("2026-10-21", 2), ("2026-10-22", 1):
        server = Server("--as", f"us-east-1@{day}", "--log-level", "error")
        client = server.client()
        client.create_table(**made)
        client.put_item(TableName="tab", Item=item)
        assert client.get_item(Key=KEY, **read)["ConsumedCapacity"]["CapacityUnits"] == units, day
        assert client.scan(**read)["ConsumedCapacity"]["CapacityUnits"] == units, day
        server.stop()


def a_namespace_has_its_own():
    server, limit = Server(), ("Scan", {"TableName": "tab", "Limit": 0})
    older, newer = ("ValidationException", at_least("'0' ", "limit", 1)), ("ValidationException", at_least("", "Limit", 1))
    assert ask(server, "us-east-1", *limit) == older and ask(server, "eu-west-2", *limit) == newer
    shown = control(server, "PUT", "rollouts", {"as": "next"})
    assert shown["as"] == "next" and len(shown["rollouts"]) == len(HAVE), shown
    assert ask(server, "us-east-1", *limit) == newer and ask(server, "us-east-2", *limit) == older
    control(server, "PUT", "rollouts", {"as": "us-east-1"}, query="?region=eu-west-2")
    assert ask(server, "eu-west-2", *limit) == older
    for body in ({}, {"as": 1}, {"as": "nowhere"}, {"as": "next", "more": 1}):
        control(server, "PUT", "rollouts", body, status=400)
    assert control(server, "GET", "rollouts") == shown
    assert control(server, "DELETE", "rollouts")["as"] == "none" and ask(server, "us-east-1", *limit) == older
    server.stop()


def an_unknown_region_is_us_east_1_and_said_once():
    server = Server("--log-level", "info")
    for region in ("local", "nowhere-1", "local"):
        ask(server, region, "CreateTable", table("tab"))
        wrong = list(wrong_of(server, region, lambda rollout: "us-east-1" in HAVE[rollout]))
        assert not wrong, "\n".join(wrong)
    server.process.terminate()
    log = server.process.stderr.read().decode()
    assert server.process.wait(60) == 0 and log.count("no rollout is known in region") == 1 and "region local" in log, log


run("rollouts", [each_region_gives_the_answer_of_its_side, updates_are_measured_as_the_region_does, number_sets_are_in_the_order_of_the_layer,
                 options_fix_a_region_and_a_day, a_vector_is_read_for_four_bytes_a_dimension, a_namespace_has_its_own,
                 an_unknown_region_is_us_east_1_and_said_once])
