"""Requests recorded, sent again, and compared."""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import threading
import urllib.request

from harness import BINARY, Server, key, run
from wire import Client, Refused, s

SECRET = "s3cr3t-value"
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"))


def dynalith(*words, **environment):
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def create(client):
    client("CreateTable", TableName="app", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"), StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])


def at(i):
    return {"PK": s(f"CUSTOMER#{i % 3}"), "SK": s(f"ORDER#{i}")}


def use(client):
    """A table, items, pages, errors, a stream, PartiQL: what gives clients something to send back."""
    create(client)
    for i in range(12):
        client("PutItem", TableName="app", Item={**at(i), "note": s(SECRET), "tags": {"SS": ["b", "a"]}, "total": {"N": str(i)}, "TableId": s(i)})
    for _ in range(3):
        client("UpdateItem", TableName="app", Key=at(0), UpdateExpression="ADD visits :one", ExpressionAttributeValues={":one": {"N": "1"}}, ReturnValues="UPDATED_NEW")
    client.all("Query", TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": s("CUSTOMER#1")}, Limit=2)
    try:
        client("PutItem", TableName="app", Item=at(1), ConditionExpression="attribute_not_exists(PK)")
        raise AssertionError("the item was there")
    except Refused:
        pass
    page = client("ExecuteStatement", Statement="SELECT * FROM app WHERE PK = 'CUSTOMER#1'", Limit=2)
    client("ExecuteStatement", Statement="SELECT * FROM app WHERE PK = 'CUSTOMER#1'", Limit=2, NextToken=page["NextToken"])
    arn = client.streams("ListStreams", TableName="app")["Streams"][0]["StreamArn"]
    shard = client.streams("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = client.streams("GetShardIterator", StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    assert len(client.streams("GetRecords", ShardIterator=iterator)["Records"]) == 15
    client("DescribeTable", TableName="app")


def record(name, work, *flags):
    path = FOLDER / name
    server = Server("--record", str(path), *flags)
    work(Client(server.port, timeout=120))
    server.stop()
    return path


def a_replay_is_the_same_on_a_new_server():
    path = record("whole", use)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"dynalith_recording": 1, "values": "open"} and path.stat().st_mode & 0o777 == 0o600, lines[0]
    assert lines[2]["operation"] == "PutItem" and lines[2]["request"]["Item"]["note"] == s(SECRET) and lines[2]["response"] == {}, lines[2]
    failed = next(line for line in lines[1:] if line["status"] != 200)
    assert failed["error"] == "ConditionalCheckFailedException" and failed["response"]["__type"].endswith(failed["error"]), failed
    assert all(a["end_us"] <= b["end_us"] for a, b in zip(lines[1:], lines[2:])) and all(a["end_us"] <= b["start_us"] for a, b in zip(lines[1:], lines[2:]))
    server = Server()
    status, out, problem = dynalith("replay", path, "--endpoint", server.url)
    assert (status, out) == (0, f"{len(lines) - 1} requests, 0 different\n"), (status, out, problem)
    status, out, problem = dynalith("replay", path, "--endpoint", server.url)  # all is there already
    assert status == 3 and "2 CreateTable\n  status: recorded 200, now 400\n" in out and "  Records[15]: recorded nothing, now" in out, (out, problem)
    urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/reset", method="POST"), timeout=120).read()
    status, out, problem = dynalith("replay", path, AWS_ENDPOINT_URL_DYNAMODB=server.url)
    assert status == 0, (out, problem)
    server.stop()
    secret = [{"access_key_id": "AKIDREPLAY", "secret_access_key": "sesame", "account": "111122223333"}]
    config = FOLDER / "config.json"
    config.write_text(json.dumps({"auth": "verify", "credentials": secret}))
    server = Server("--config", str(config))
    names = {"AWS_ACCESS_KEY_ID": "AKIDREPLAY", "AWS_SECRET_ACCESS_KEY": "sesame"}
    for token in ("", "a/session+token=="):
        status, out, problem = dynalith("replay", path, "--endpoint", server.url, **names, AWS_SESSION_TOKEN=token)
        assert status == (3 if token else 0) and "InvalidSignature" not in out, (token, out, problem)  # the second time the table is there
    status, out, problem = dynalith("replay", path, "--endpoint", server.url, **{**names, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert status == 3 and "InvalidSignatureException" in out, out
    server.stop()


def requests_that_were_together_are_sent_together():
    """And what came after an answer is sent after it: each client reads what it wrote."""
    def work(client):
        create(client)

        def one(i):
            own = Client(client.connection.port, timeout=120)
            for k in range(20):
                own("PutItem", TableName="app", Item={"PK": s(f"C#{i}"), "SK": s("x"), "k": {"N": str(k)}})
                assert own("GetItem", TableName="app", Key={"PK": s(f"C#{i}"), "SK": s("x")}, ConsistentRead=True)["Item"]["k"] == {"N": str(k)}

        threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    path = record("together", work)
    for more in ((), ("--connections", "1")):
        server = Server()
        status, out, problem = dynalith("replay", path, "--endpoint", server.url, *more)
        assert (status, out) == (0, "321 requests, 0 different\n"), (out, problem)
        server.stop()


def two_recordings_are_compared():
    first, second = record("first", use), record("second", use)
    lines = first.read_text().splitlines(keepends=True)
    status, out, problem = dynalith("diff", first, first)
    assert (status, out) == (0, f"{len(lines) - 1} requests in the first, 0 different\n"), (out, problem)

    def other(client):
        create(client)
        for i in range(12):
            client("PutItem", TableName="app", Item={**at(i), "note": s(SECRET), "tags": {"SS": ["b", "a"]}, "total": {"N": str(i)}, "TableId": s(i)})
        client("GetItem", TableName="app", Key=at(0))

    status, out, problem = dynalith("diff", first, record("third", other))
    assert status == 3 and "UpdateItem\n  only in the first\n" in out and "GetItem\n  only in the second\n" in out and "PutItem\n  only" not in out.split("UpdateItem")[0], out
    changed = FOLDER / "changed"
    changed.write_text("".join(lines).replace('"visits":{"N":"2"}', '"visits":{"N":"7"}').replace('["a","b"]', '["b","a"]'))
    status, out, problem = dynalith("diff", first, changed)
    assert status == 3 and out.endswith("2 different\n") and '  Attributes.visits.N: first "2", second "7"\n' in out, out
    assert dynalith("diff", first, second)[0] in (0, 3)  # streams have other ARNs, which requests name
    done = subprocess.run(["/bin/sh", "-c", 'cat "$1" | "$0" diff "$2" /dev/stdin', BINARY, first, first], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, f"{len(lines) - 1} requests in the first, 0 different\n"), done


def a_diff_keeps_little_of_a_line():
    """Of 40,000 that are alike, 9 KB were kept of each, and 10 GB would have been of a million."""
    path = FOLDER / "many"
    line = json.dumps({"start_us": 1, "end_us": 2, "operation": "GetItem", "status": 200, "request": {"Key": at(1)}, "response": {"Item": {**at(1), "note": s("x" * 200)}}})
    path.write_text('{"dynalith_recording":1,"values":"open"}\n' + f"{line}\n" * 40000)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert dynalith("diff", path, path)[:2] == (0, "40000 requests in the first, 0 different\n")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert peak <= max(before, 100_000), (before, peak)  # KB: that of the largest child so far; with a sanitizer, too


def values_can_be_left_out():
    path = record("masked", use, "--record-values", "masked")
    text = path.read_text()
    assert SECRET not in text and "CUSTOMER#1" not in text and '"CUSTOMER#…"' in text and "WHERE PK = ?" in text, text[:2000]
    status, out, problem = dynalith("replay", path, "--endpoint", "http://127.0.0.1:1")
    assert status == 1 and "masked" in problem and not out, problem
    status, out, problem = dynalith("diff", path, path)
    assert status == 0, (out, problem)


def what_is_no_recording_is_refused():
    whole = record("good", create)
    bad = FOLDER / "bad"
    head = '{"dynalith_recording":1,"values":"open"}\n'
    for text, words in (("", "no recording"), ("{}\n", "no recording"), ("not JSON\n", "no recording"), (head.replace("1", "2"), "no recording"),
                        (head + "not JSON\n", "bad:2: "), (head + "[]\n", "bad:2: "), (head + '{"operation":"PutItem"}\n', "bad:2: "),
                        (head + '{"operation":5,"request":{},"status":200}\n', "bad:2: "), (head + '{"operation":"PutItem","request":{},"status":200}\n', "start_us")):
        bad.write_text(text)
        for command in (("replay", bad, "--endpoint", "http://127.0.0.1:1"), ("diff", bad, whole), ("diff", whole, bad)):
            status, out, problem = dynalith(*command)
            assert status == 1 and words in problem, (text, command, status, out, problem)
    for words in (("replay",), ("replay", whole, whole), ("diff", whole), ("replay", whole, "--connections", "0"), ("replay", whole, "--endpoint", "nonsense"),
                  ("diff", whole, whole, "--endpoint", "http://127.0.0.1:1"), ("replay", FOLDER / "nosuch"), ("replay", FOLDER)):
        status, out, problem = dynalith(*words)
        assert status == (1 if words[1:] in ((FOLDER / "nosuch",), (FOLDER,)) else 2) and problem.startswith(("dynalith: ", "usage: dynalith")), (words, status, out, problem)
    status, out, problem = dynalith("replay", whole, "--endpoint", "http://127.0.0.1:1")
    assert status == 1 and "no answer" in problem and "line 2, CreateTable" in problem, problem
    bad.write_text(whole.read_text() + '{"operation":"PutIt')  # the server was killed while it wrote
    assert dynalith("diff", bad, whole)[0] == 0
    status, out, problem = dynalith("--in-memory", "--port", "0", "--record", FOLDER / "nosuch" / "file")
    assert status != 0 and "--record: " in problem and "No such file" in problem, problem


try:
    run("recording", [a_replay_is_the_same_on_a_new_server, requests_that_were_together_are_sent_together, two_recordings_are_compared, a_diff_keeps_little_of_a_line, values_can_be_left_out,
                      what_is_no_recording_is_refused])
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
