"""Triggers: records of a stream pushed to a local URL as events of a Lambda function."""
import functools
import http.server
import json
import pathlib
import threading
import time
import urllib.request

import harness
import wire
from harness import Server, create_app, free_port, run


class Function:
    """A URL that takes events; `answer(records)` gives (status, headers, body)."""

    def __init__(self, answer=None):
        self.posts, self.answer = [], answer or (lambda records: (200, {}, "{}"))
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.posts.append((self.path, event["Records"]))
                status, headers, body = outer.answer(event["Records"])
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(body.encode())
                except BrokenPipeError:
                    pass  # the server was ended meanwhile

            def log_message(self, *args):
                pass

        self.port = free_port()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

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
    server = Server("--trigger", f"app={function.url('/2015-03-31/functions/function/invocations')}", "--trigger-batch", "7")
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


def failures_are_tried_again_and_cut_down():
    def answer(records):
        poisoned = any(r["dynamodb"]["Keys"]["SK"]["S"] == "0005" for r in records)
        return (500, {}, "no") if poisoned else (200, {}, "")
    function = Function(answer)
    server = Server("--trigger", f"app={function.url()}", "--trigger-retries", "1", "--trigger-failures", "failures.jsonl", "--trigger-window", "500")
    client = table(server)
    put(client, *range(9))
    until(lambda: "0008" in [k for _, records in function.posts if answer(records)[0] == 200 for k in
                             (r["dynamodb"]["Keys"]["SK"]["S"] for r in records)], function.keys())
    done = [k for _, records in function.posts if answer(records)[0] == 200 for k in (r["dynamodb"]["Keys"]["SK"]["S"] for r in records)]
    assert done == names(0, 1, 2, 3, 4, 6, 7, 8), done
    left = [json.loads(line) for line in pathlib.Path(server.folder, "failures.jsonl").read_text().splitlines()]
    assert [r["dynamodb"]["Keys"]["SK"]["S"] for r in left] == ["0005"], left
    alone = [records for _, records in function.posts if len(records) == 1 and records[0]["dynamodb"]["Keys"]["SK"]["S"] == "0005"]
    assert len(alone) == 2, "a record alone is tried once and once more"
    server.stop()


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
    server = Server("--trigger", f"app={function.url()}", "--trigger-window", "500")
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
    server = Server("--trigger", f"app={function.url()}")
    client = table(server)
    items = [{"PutRequest": {"Item": {"PK": {"S": "a"}, "SK": {"S": k}}}} for k in names(1, 2)]
    client.batch_write_item(RequestItems={"app": items})
    until(lambda: len(seen) == 2, function.keys())
    assert function.keys() == names(1, 2, 1, 2), "none is done, so all come again"
    server.stop()


def where_reading_begins_and_what_time_does():
    function = Function()
    server = Server("--trigger", f"app={function.url()}", disk=True)
    client = table(server)
    put(client, 1)
    until(lambda: function.keys() == names(1), function.keys())
    server.kill()
    server.argv += ["--trigger-position", "TRIM_HORIZON"]
    server.start()
    until(lambda: function.keys() == names(1, 1), function.keys())
    server.kill()
    server.argv = server.argv[:-2]
    server.start()
    time.sleep(1)
    put(server.client(), 2)
    until(lambda: function.keys() == names(1, 1, 2), function.keys())
    client = server.client()
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "ttl"}, "ttl": {"N": str(int(time.time()) + 86400)}})
    until(lambda: function.keys()[-1] == "ttl", function.keys())
    urllib.request.urlopen(f"{server.url}/_dynalith/clock", json.dumps({"advance": "2d"}).encode()).read()
    until(lambda: len(function.keys()) == 5, function.keys())
    record = function.posts[-1][1][-1]
    assert record["eventName"] == "REMOVE" and record["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}, record
    server.stop()


def a_table_that_comes_later_and_a_function_that_is_slow():
    function = Function()
    server = Server("--trigger", f"late={function.url()},never={function.url()}")
    time.sleep(0.5)
    client = table(server, "late")
    put(client, 1, name="late")
    until(lambda: function.keys() == names(1), function.keys())
    held = threading.Event()
    function.answer = lambda records: (held.wait(60), (200, {}, ""))[1]
    put(client, 2, name="late")
    until(lambda: len(function.posts) == 2, function.posts)
    started = time.time()
    server.stop()
    held.set()
    assert time.time() - started < 5


def a_region_is_told_whole():
    """No SDK lets a region of more than 63 bytes pass, or one that is no host name; the server takes both."""
    function = Function()
    server = Server("--trigger", f"app={function.url()}")
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
    server = Server("--trigger", f"app={function.url()}")
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
    run("triggers", [in_order_and_in_batches, failures_are_tried_again_and_cut_down, a_function_tells_which_records_failed,
                     a_name_that_only_begins_like_a_record_is_none,
                     where_reading_begins_and_what_time_does, a_table_that_comes_later_and_a_function_that_is_slow, a_stream_that_vanishes, a_region_is_told_whole,
                     nothing_is_pushed_by_default])
