"""Triggers: records of a stream pushed to a local URL as events of a Lambda function."""
import datetime
import functools
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request

import harness
import wire
from harness import Server, create_app, run
from listener import Listener


class Function(Listener):
    """A URL that takes events; `answer(records)` gives (status, headers, body)."""

    def __init__(self, answer=None):
        self.posts, self.answer = [], answer or (lambda records: (200, {}, "{}"))
        super().__init__()

    def respond(self, request, body):
        records = json.loads(body)["Records"]
        self.posts.append((request.path, records))
        status, headers, answer = self.answer(records)
        return status, headers, answer.encode()

    def keys(self):
        return [r["dynamodb"]["Keys"]["SK"]["S"] for _, records in self.posts for r in records]


def table(server, name="app"):
    client = server.client()
    create_app(client, name)
    client.update_table(TableName=name, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    return client


def put(client, *numbers, name="app"):
    for n in numbers:
        client.put_item(TableName=name, Item={"PK": {"S": "a"}, "SK": {"S": f"{n:04}"}, "text": {"S": "\\\"}{[" + str(n)}, "b": {"B": b"\0\xff"}})


until = functools.partial(harness.until, seconds=20)


def names(*numbers):
    return [f"{n:04}" for n in numbers]


def rotate(server):
    urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/streams/rotate?table=app", method="POST")).read()


def in_order_and_in_batches():
    function = Function()
    server = Server("--trigger", f"app={function.url}/2015-03-31/functions/function/invocations", "--trigger-batch", "7")
    client = table(server)
    put(client, *range(60))
    until(lambda: len(function.keys()) >= 60, function.posts)
    rotate(server)
    put(client, *range(60, 90))
    rotate(server)
    client.delete_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "0003"}})
    until(lambda: len(function.keys()) >= 91, function.keys())
    assert function.keys() == names(*range(90), 3)
    assert max(len(records) for _, records in function.posts) <= 7
    path, records = function.posts[0]
    assert path == "/2015-03-31/functions/function/invocations"
    record = records[0]
    assert (record["eventName"], record["eventSource"], record["eventVersion"], record["awsRegion"]) == ("INSERT", "aws:dynamodb", "1.1", "us-east-1"), record
    assert record["eventSourceARN"].startswith("arn:aws:dynamodb:us-east-1:000000000000:table/app/stream/")
    assert record["dynamodb"]["NewImage"]["text"] == {"S": "\\\"}{[0"} and record["dynamodb"]["NewImage"]["b"] == {"B": "AP8="}
    assert function.posts[-1][1][-1]["eventName"] == "REMOVE"
    time.sleep(0.5)
    assert len(function.keys()) == 91, "something was posted twice"
    server.stop()


def all_shards_of_a_stream():
    """Each record once and each item's in order, over rotations, another stream with the same table, and a server that is killed."""
    function = Function()
    server = Server("--trigger", f"app={function.url}", "--trigger-batch", "3", "--stream-shards", "4", disk=True)
    client = table(server)

    def put_all(n):
        for i in range(12):
            client.put_item(TableName="app", Item={"PK": {"S": f"p{i}"}, "SK": {"S": f"{n:04}"}})
            client.put_item(TableName="app", Item={"PK": {"S": f"p{i}"}, "SK": {"S": "last"}, "n": {"N": str(n)}})

    def has(n):
        return [r["dynamodb"]["Keys"]["PK"]["S"] for _, records in function.posts for r in records if r["dynamodb"]["Keys"]["SK"]["S"] == f"{n:04}"]

    def lasts(i):
        return [int(r["dynamodb"]["NewImage"]["n"]["N"]) for _, records in function.posts for r in records
                if r["dynamodb"]["Keys"] == {"PK": {"S": f"p{i}"}, "SK": {"S": "last"}}]

    for n in range(8):
        put_all(n)
        if n == 2:
            rotate(server)
            rotate(server)
        if n == 4:
            until(lambda: len(set(has(4))) == 12, function.posts)
            server.kill()
            server.start()
            client = server.client()
        if n == 5:
            client.update_table(TableName="app", StreamSpecification={"StreamEnabled": False})
            client.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    for n in range(8):
        until(lambda: set(has(n)) == {f"p{i}" for i in range(12)}, (n, function.posts))
    for i in range(12):
        until(lambda i=i: 7 in lasts(i), (i, function.posts))
        seen = lasts(i)
        first = [n for at, n in enumerate(seen) if n not in seen[:at]]
        assert first == list(range(8)), seen  # after the kill at most one batch of each shard comes again
    for _, records in function.posts:
        assert len({r["eventSourceARN"] for r in records}) == 1
    server.stop()


def deliveries_by_fault_rules():
    function = Function()
    server = Server("--trigger", f"app={function.url}/", "--trigger-batch", "5")
    client = table(server)

    def rule(**effect):
        body = json.dumps({"rules": [{"table": "app", **effect}]}).encode()
        urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/faults", data=body, method="PUT")).close()

    def together(*numbers):
        client.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": {"PK": {"S": "a"}, "SK": {"S": f"{n:04}"}}}} for n in numbers])
    rule(deliver="reversed", first=1)
    together(*range(5))
    until(lambda: len(function.keys()) >= 5, function.posts)
    assert function.keys() == names(4, 3, 2, 1, 0), function.keys()
    rule(deliver="twice", first=1)
    together(5, 6)
    until(lambda: len(function.keys()) >= 9, function.posts)
    together(7, 8)
    until(lambda: len(function.keys()) >= 11, function.posts)
    assert function.keys()[5:] == names(5, 6, 5, 6, 7, 8), function.keys()
    rules = json.load(urllib.request.urlopen(f"{server.url}/_dynalith/faults"))["rules"]
    assert [(r["matched"], r["fired"]) for r in rules] == [(2, 1)], rules
    server.stop()


def failures_are_tried_again_and_cut_down():
    def answer(records):
        poisoned = any(r["dynamodb"]["Keys"]["SK"]["S"] == "0005" for r in records)
        return (500, {}, "no") if poisoned else (200, {}, "")
    function = Function(answer)
    server = Server("--trigger", f"app={function.url}/", "--trigger-retries", "1", "--trigger-failures", "failures.jsonl", "--trigger-window", "500")
    client = table(server)
    put(client, *range(9))
    until(lambda: "0008" in [k for _, records in function.posts if answer(records)[0] == 200 for k in
                             (r["dynamodb"]["Keys"]["SK"]["S"] for r in records)], function.keys())
    done = [k for _, records in function.posts if answer(records)[0] == 200 for k in (r["dynamodb"]["Keys"]["SK"]["S"] for r in records)]
    assert done == names(0, 1, 2, 3, 4, 6, 7, 8), done
    [left] = failures(server)
    [record] = json.loads(left.pop("payload"))["Records"]
    assert record["dynamodb"]["Keys"]["SK"]["S"] == "0005" and record["eventSourceARN"].endswith(left["DDBStreamBatchInfo"]["streamArn"]), record
    assert 4 <= left["requestContext"]["approximateInvokeCount"] <= 10 and left["responseContext"]["statusCode"] == 500, left
    alone = [records for _, records in function.posts if len(records) == 1 and records[0]["dynamodb"]["Keys"]["SK"]["S"] == "0005"]
    assert len(alone) == 2, "a record alone is tried once and once more"
    server.stop()


def failures(server):
    """The complete lines. While the server appends one, a reader may see only its first pages."""
    path = pathlib.Path(server.folder, "failures.jsonl")
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def what_is_left_behind_is_told_as_to_a_destination():
    """AWS: Lambda Developer Guide, "Retain discarded records for a DynamoDB event source", the form for S3; the answers that fail a batch
    are those of LocalStack's test_dynamodb_report_batch_item_failure_scenarios, which runs against AWS."""
    answers = [{"batchItemFailures": [{"itemIdentifier": 123}]}, {"batchItemFailures": [{"itemIdentifier": ""}]}, {"batchItemFailures": [{"itemIdentifier": None}]},
               {"batchItemFailures": [{"foo": 123}]}, {"batchItemFailures": [{"foo": None}]}, {"batchItemFailures": ["x"]}, {"errorMessage": "1 / 0"}]
    done = [[], None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}]
    answer = {}
    function = Function(lambda records: (200, {}, json.dumps(answer[0])))
    server = Server("--trigger", f"app={function.url}/2015-03-31/functions/worker/invocations", "--trigger-retries", "1", "--trigger-failures", "failures.jsonl")
    client = table(server)
    for i, reply in enumerate(answers):
        answer[0] = reply
        put(client, i)
        until(lambda: len(failures(server)) == i + 1, (reply, function.keys()))
        assert function.keys().count(names(i)[0]) == 2, (reply, function.keys())
    for i, reply in enumerate(done, 100):
        answer[0] = reply
        put(client, i)
        until(lambda: function.keys()[-1] == names(i)[0], (reply, function.keys()))
    time.sleep(0.5)
    assert len(failures(server)) == len(answers) and function.keys()[-len(done):] == names(*range(100, 100 + len(done))), function.keys()
    for i, left in enumerate(failures(server)):
        [record] = json.loads(left.pop("payload"))["Records"]
        assert record == next(records[0] for _, records in function.posts if records[0]["dynamodb"]["Keys"]["SK"]["S"] == names(i)[0]), record
        info, sequence = left.pop("DDBStreamBatchInfo"), record["dynamodb"]["SequenceNumber"]
        assert re.fullmatch(r"[0-9a-f-]{36}", left["requestContext"].pop("requestId")) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", left.pop("timestamp")), left
        assert left == {"requestContext": {"functionArn": "arn:aws:lambda:us-east-1:000000000000:function:worker", "condition": "RetryAttemptsExhausted",
                                           "approximateInvokeCount": 2},
                        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled" if "errorMessage" in answers[i] else None},
                        "version": "1.0"}, left
        made = datetime.datetime.fromtimestamp(record["dynamodb"]["ApproximateCreationDateTime"], datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert info.pop("shardId").startswith("shardId-") and info == {
            "startSequenceNumber": sequence, "endSequenceNumber": sequence, "approximateArrivalOfFirstRecord": made, "approximateArrivalOfLastRecord": made,
            "batchSize": 1, "streamArn": record["eventSourceARN"]}, info
    server.stop()


def a_failed_append_of_a_record_is_logged():
    function = Function(lambda records: (500, {}, "no"))
    for path, problem in [("/dev/full", "No space left on device"), ("missing/failures.jsonl", "No such file or directory")]:
        server = Server("--trigger", f"app={function.url}/", "--trigger-retries", "0", "--trigger-failures", path)
        put(table(server), 1)
        told = [server.process.stderr.readline().decode() for _ in range(2)]
        assert f"the record left behind cannot be added to {path}: {problem}" in told[0] and "is left behind: it answered with an error" in told[1], told
        server.stop()


def a_name_of_none_fails_the_batch():
    seen = []
    def answer(records):
        seen.append(records)
        failed = [{"itemIdentifier": records[-1]["dynamodb"]["SequenceNumber"]}, {"itemIdentifier": ""}] if len(seen) == 1 else []
        return 200, {}, json.dumps({"batchItemFailures": failed})
    function = Function(answer)
    server = Server("--trigger", f"app={function.url}/")
    client = table(server)
    client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": {"PK": {"S": "a"}, "SK": {"S": k}}}} for k in names(1, 2)]})
    until(lambda: len(seen) == 2, function.keys())
    assert function.keys() == names(1, 2, 1, 2), "none is done, so all come again"
    server.stop()


def filters_drop_records():
    """What is dropped is passed over for good; the patterns themselves are in tests/unit/server/test_filter.c."""
    inserted = json.dumps({"eventName": ["INSERT"], "dynamodb": {"Keys": {"SK": {"S": [{"prefix": "000"}]}}}})
    arn = json.dumps({"eventSourceARN": [{"prefix": "arn:aws:dynamodb:us-east-1:"}], "dynamodb": {"ApproximateCreationDateTime": [{"numeric": [">", 0]}]},
                      "eventName": ["REMOVE"]})
    everything, chosen = Function(), Function()
    criteria = {"app": {"Filters": [{"Pattern": inserted}, {"Pattern": arn}]}, "other": {"Filters": [{"Pattern": {"eventName": ["none"]}}]}}
    server = Server("--trigger", f"app={chosen.url}/,late={everything.url}/,other={chosen.url}/", "--trigger-filter", json.dumps(criteria), "--trigger-batch", "3")
    client = table(server)
    put(client, *range(20))
    client.delete_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "0012"}})
    put(table(server, "other"), 1, name="other")
    put(table(server, "late"), 1, 2, name="late")
    until(lambda: chosen.keys()[-1:] == ["0012"] and len(everything.keys()) == 2, (chosen.keys(), everything.keys()))
    rotate(server)
    put(client, 30, 31)
    client.delete_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "0001"}})
    until(lambda: chosen.keys()[-1:] == ["0001"] and len(chosen.keys()) > 2, chosen.keys())
    time.sleep(0.5)
    assert chosen.keys() == names(*range(10), 12, 1), chosen.keys()
    server.stop()


def a_filter_for_expired_items():
    """AWS: DynamoDB Developer Guide, "DynamoDB Streams and Time to Live": what most filters are for."""
    function = Function()
    expired = {"Filters": [{"Pattern": json.dumps({"userIdentity": {"type": ["Service"], "principalId": ["dynamodb.amazonaws.com"]}})}]}
    server = Server("--trigger", f"app={function.url}/", "--trigger-filter", json.dumps(expired))
    client = table(server)
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    put(client, 1)
    client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "ttl"}, "ttl": {"N": str(int(time.time()) + 86400)}})
    client.delete_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "0001"}})
    urllib.request.urlopen(f"{server.url}/_dynalith/clock", json.dumps({"advance": "2d"}).encode()).read()
    until(lambda: function.posts, "the expired item")
    time.sleep(0.3)
    assert function.keys() == ["ttl"], function.keys()
    server.stop()


def filters_are_read_from_a_file_and_checked_at_the_start():
    function = Function()
    good, bad = json.dumps({"Filters": [{"Pattern": '{"eventName":["MODIFY"]}'}]}), json.dumps({"Filters": [{"Pattern": "single-string"}]})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(good)
        file.flush()
        server = Server("--trigger", f"app={function.url}/", "--trigger-filter", file.name)
        client = table(server)
        put(client, 1, 2)
        client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "0001"}, "text": {"S": "new"}})
        until(lambda: function.keys() == names(1), function.keys())
        server.stop()
    for text, told in ((bad, "single-string"), ("/nowhere/filter.json", "/nowhere/filter.json"), ("{", "{")):
        run_ = subprocess.run([harness.BINARY, "--in-memory", "--port", "0", "--trigger-filter", text], capture_output=True, text=True, timeout=120)
        assert run_.returncode != 0 and f"not {told};" in run_.stderr, run_


def a_filter_without_a_trigger_is_warned_of():
    pattern = {"Filters": [{"Pattern": '{"eventName": ["INSERT"]}'}]}
    server = Server("--trigger", "app=http://127.0.0.1:1/", "--trigger-filter", json.dumps({"app": pattern, "ap": pattern}))
    server.process.terminate()
    said = server.process.communicate(timeout=60)[1].decode()
    assert "no --trigger names the table 'ap'" in said and "'app'" not in said, said


def a_function_tells_which_records_failed():
    seen = []
    def answer(records):
        keys = [r["dynamodb"]["Keys"]["SK"]["S"] for r in records]
        if "0002" in keys and not seen:
            seen.append(keys)
            failed = next(r for r in records if r["dynamodb"]["Keys"]["SK"]["S"] == "0002")
            return 200, {}, json.dumps({"batchItemFailures": [{"itemIdentifier": failed["dynamodb"]["SequenceNumber"]}]})
        if "0006" in keys and len(seen) == 1:
            seen.append(keys)
            return 200, {"X-Amz-Function-Error": "Unhandled"}, '{"errorMessage": "thrown"}'
        return 200, {}, "null"
    function = Function(answer)
    server = Server("--trigger", f"app={function.url}/", "--trigger-window", "500")
    client = table(server)
    put(client, *range(5))
    until(lambda: function.keys()[-1:] == ["0004"] and len(function.posts) >= 2, function.keys())
    again = [records[0]["dynamodb"]["Keys"]["SK"]["S"] for _, records in function.posts]
    assert "0002" in again, function.keys()
    put(client, *range(5, 8))
    until(lambda: function.keys().count("0006") == 2 and function.keys()[-1] == "0007", function.keys())
    assert all(function.keys().count(k) == 1 for k in names(0, 1)), function.keys()
    server.stop()


def a_name_that_only_begins_like_a_record_is_none():
    seen = []
    def answer(records):
        seen.append(records)
        failed = [{"itemIdentifier": records[-1]["dynamodb"]["SequenceNumber"] + "\0more"}] if len(seen) == 1 else []
        return 200, {}, json.dumps({"batchItemFailures": failed})
    function = Function(answer)
    server = Server("--trigger", f"app={function.url}/")
    client = table(server)
    items = [{"PutRequest": {"Item": {"PK": {"S": "a"}, "SK": {"S": k}}}} for k in names(1, 2)]
    client.batch_write_item(RequestItems={"app": items})
    until(lambda: len(seen) == 2, function.keys())
    assert function.keys() == names(1, 2, 1, 2), "none is done, so all come again"
    server.stop()


def end(server):
    """As stop, but the data stays."""
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(120) == 0


def a_position_lasts():
    """What was posted before the end of the server does not come again, and what was written and not posted comes; a crash may repeat the last post."""
    refused = threading.Event()

    def answer(records):
        return (500, {}, "") if refused.is_set() else (200, {}, "{}")
    function, other = Function(answer), Function()
    server = Server("--trigger", f"app={function.url}/", "--trigger-retries", "10000", disk=True)
    client = table(server)
    put(client, 1)
    until(lambda: function.keys() == names(1), function.keys())
    end(server)
    server.argv += ["--trigger-position", "TRIM_HORIZON"]
    server.start()
    client = server.client()
    put(client, 2)
    until(lambda: function.keys() == names(1, 2), function.keys())
    refused.set()
    put(client, 3)
    until(lambda: function.keys()[-1:] == names(3), function.keys())
    rotate(server)
    put(client, 4, 5)
    server.kill()
    refused.clear()
    server.argv = server.argv[:-2]
    server.argv[server.argv.index("--trigger") + 1] += f",app={other.url}/"
    server.start()
    until(lambda: function.keys()[-1:] == names(5), function.keys())
    assert [k for k in dict.fromkeys(function.keys())] == names(1, 2, 3, 4, 5), function.keys()
    assert not other.keys(), "another URL is another reader, which begins behind the newest record"
    server.stop()


def where_reading_begins_and_what_time_does():
    function = Function()
    server = Server("--trigger-position", "TRIM_HORIZON", disk=True)
    put(table(server), 1)
    end(server)
    server.argv += ["--trigger", f"app={function.url}/"]
    server.start()
    until(lambda: function.keys() == names(1), function.keys())
    client = server.client()
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "ttl"}, "ttl": {"N": str(int(time.time()) + 86400)}})
    until(lambda: function.keys()[-1] == "ttl", function.keys())
    urllib.request.urlopen(f"{server.url}/_dynalith/clock", json.dumps({"advance": "2d"}).encode()).read()
    until(lambda: len(function.keys()) == 3, function.keys())
    record = function.posts[-1][1][-1]
    assert record["eventName"] == "REMOVE" and record["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}, record
    server.stop()


def a_table_that_comes_later_and_a_function_that_is_slow():
    function = Function()
    server = Server("--trigger", f"late={function.url}/,never={function.url}/")
    time.sleep(0.5)
    client = table(server, "late")
    put(client, 1, name="late")
    until(lambda: function.keys() == names(1), function.keys())
    held = threading.Event()
    function.answer = lambda records: (held.wait(), (200, {}, ""))[1]
    put(client, 2, name="late")
    until(lambda: len(function.posts) == 2, function.posts)
    server.stop()  # without the function's answer
    held.set()


def a_region_is_told_whole():
    """No SDK lets a region of more than 63 bytes pass, or one that is no host name; the server takes both."""
    function = Function()
    server = Server("--trigger", f"app={function.url}/")
    for region in ["r" * 63, "r" * 64, "r" * 700, 'of"quotes\\and{braces']:
        client = wire.Client(server.port, region=region)
        stream = client("CreateTable", TableName="app", BillingMode="PAY_PER_REQUEST", KeySchema=harness.key("PK", "SK"),
                        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")],
                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})["TableDescription"]["LatestStreamArn"]
        client("PutItem", TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "b"}})
        until(lambda: function.posts, f"a region of {len(region)} bytes: {region[:20]}")
        record = function.posts.pop()[1][0]
        assert (record["awsRegion"], record["eventSourceARN"]) == (region, stream), record
        client("DeleteTable", TableName="app")
        client.close()
    server.stop()


def nothing_is_pushed_by_default():
    function = Function()
    server = Server()
    put(table(server), 1)
    time.sleep(0.5)
    assert not function.posts
    server.stop()


def a_stream_that_vanishes():
    """While the function has not answered, the table is deleted and days go by; then a table of that name comes again."""
    let_go, asked = threading.Event(), threading.Event()

    def answer(records):
        asked.set()
        let_go.wait(60)
        return 200, {}, "{}"
    function = Function(answer)
    server = Server("--trigger", f"app={function.url}/")
    client = table(server)
    put(client, 1)
    assert asked.wait(60)
    client.delete_table(TableName="app")
    request = urllib.request.Request(server.url + "/_dynalith/clock", data=b'{"advance":"3d"}', method="POST")
    urllib.request.urlopen(request).read()
    let_go.set()
    table(server)
    put(client, 2, 3)
    until(lambda: function.keys() == names(1, 2, 3), function.posts)
    server.stop()


if __name__ == "__main__":
    run("triggers", [in_order_and_in_batches, all_shards_of_a_stream, deliveries_by_fault_rules, failures_are_tried_again_and_cut_down, what_is_left_behind_is_told_as_to_a_destination,
                     a_failed_append_of_a_record_is_logged,
                     a_name_of_none_fails_the_batch, filters_drop_records, a_filter_for_expired_items, filters_are_read_from_a_file_and_checked_at_the_start, a_filter_without_a_trigger_is_warned_of, a_function_tells_which_records_failed,
                     a_name_that_only_begins_like_a_record_is_none,
                     a_position_lasts, where_reading_begins_and_what_time_does, a_table_that_comes_later_and_a_function_that_is_slow, a_stream_that_vanishes, a_region_is_told_whole,
                     nothing_is_pushed_by_default])
