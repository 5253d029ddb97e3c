"""Kinesis destinations: changes of tables sent to an endpoint by PutRecords. The endpoint here is small, checks signatures and keeps what it takes."""
import base64
import datetime
import json
import re
import threading
import time

import botocore.auth
import botocore.credentials

import harness
from harness import Server, control, raises, run, until
from listener import Listener, is_signed

STREAM = "arn:aws:kinesis:eu-west-1:000000000000:stream/changes"
KEY = {"AttributeName": "id", "KeyType": "HASH"}


class Kinesis(Listener):
    """`answer(body)` gives (status, reply), or None: everything is taken."""

    auth = botocore.auth.SigV4Auth(botocore.credentials.Credentials("AKID", "hidden"), "kinesis", "eu-west-1")

    def __init__(self, answer=None):
        self.answer, self.requests, self.records, self.problems, self.lock = answer, [], [], [], threading.Lock()
        self.probes, self.found = 0, (200, {"StreamDescriptionSummary": {"StreamStatus": "ACTIVE"}})
        super().__init__()

    def respond(self, request, body):
        with self.lock:
            status, reply = self.describe(request, body) if request.headers["X-Amz-Target"].endswith("Summary") else self.take(request, body)
        return status, {}, json.dumps(reply).encode()

    def describe(self, handler, body):
        if json.loads(body) != {"StreamName": "changes", "StreamARN": STREAM} or not is_signed(handler, body, self.auth):
            self.problems.append("probe")
        self.probes += 1
        return self.found

    def take(self, handler, body):
        request = json.loads(body)
        keys = [r["PartitionKey"] for r in request["Records"]]
        for problem, is_one in (("signature", not is_signed(handler, body, self.auth)),
                                ("target", handler.headers["X-Amz-Target"] != "Kinesis_20131202.PutRecords"),
                                ("type", handler.headers["Content-Type"] != "application/x-amz-json-1.1"),
                                ("stream", (request["StreamARN"], request["StreamName"]) != (STREAM, "changes")),
                                ("two of a key", len(set(keys)) != len(keys)), ("too many", not 1 <= len(keys) <= 500)):
            if is_one:
                self.problems.append(problem)
        self.requests.append(request)
        status, reply = self.answer(request) if self.answer else (200, None)
        reply = reply or {"FailedRecordCount": 0, "Records": [{"SequenceNumber": "1", "ShardId": "shardId-0"} for _ in request["Records"]]}
        if status == 200:
            self.records += [{"key": r["PartitionKey"], **json.loads(base64.b64decode(r["Data"]))}
                             for r, told in zip(request["Records"], reply["Records"]) if "ErrorCode" not in told]
        return status, reply

    def values(self, of=None):
        """The numbers in the images, of one item or of all."""
        return [int(r["dynamodb"]["NewImage"]["n"]["N"]) for r in self.records if of in (None, r["dynamodb"]["Keys"]["id"]["S"])]

    def server_of(self, **options):
        return Server("--kinesis", self.url, "--kinesis-credentials", "AKID:hidden", **options)


def create(client, name="app", **more):
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=[KEY], AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                        **more)
    client.get_waiter("table_exists").wait(TableName=name)


def enable(client, name="app", precision=None, stream=STREAM):
    more = {"EnableKinesisStreamingConfiguration": {"ApproximateCreationDateTimePrecision": precision}} if precision else {}
    return client.enable_kinesis_streaming_destination(TableName=name, StreamArn=stream, **more)


def put(client, n, key=None, name="app"):
    client.put_item(TableName=name, Item={"id": {"S": key or f"k{n}"}, "n": {"N": str(n)}})


def status(client, name="app"):
    return [d["DestinationStatus"] for d in client.describe_kinesis_streaming_destination(TableName=name)["KinesisDataStreamDestinations"]]


def records_are_those_of_aws():
    kinesis = Kinesis()
    server = kinesis.server_of()
    client = server.client(region="eu-west-1")
    control(server, "POST", "clock", {"set": "2027-10-05T08:00:00Z"})
    create(client)
    put(client, 0, "before")
    assert enable(client)["DestinationStatus"] == "ENABLING"
    client.get_waiter("kinesis_streaming_destination_active").wait(TableName="app") if "kinesis_streaming_destination_active" in client.waiter_names else None
    put(client, 1, "x")
    put(client, 2, "x")
    client.delete_item(TableName="app", Key={"id": {"S": "x"}})
    until(lambda: len(kinesis.records) >= 3, kinesis.requests)
    first, second, third = kinesis.records
    moment = int(datetime.datetime(2027, 10, 5, 8, tzinfo=datetime.timezone.utc).timestamp()) * 1000
    made = first["dynamodb"].pop("ApproximateCreationDateTime")
    assert moment <= made < moment + 3600000, (made, moment)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}", first.pop("eventID")), first
    del first["key"]
    assert first == {"awsRegion": "eu-west-1", "eventName": "INSERT", "userIdentity": None, "recordFormat": "application/json", "tableName": "app",
                     "dynamodb": {"Keys": {"id": {"S": "x"}}, "NewImage": {"id": {"S": "x"}, "n": {"N": "1"}}, "SizeBytes": 9,
                                  "ApproximateCreationDateTimePrecision": "MILLISECOND"}, "eventSource": "aws:dynamodb"}, first
    assert (second["eventName"], second["dynamodb"]["OldImage"]["n"], second["dynamodb"]["NewImage"]["n"]) == ("MODIFY", {"N": "1"}, {"N": "2"}), second
    assert (third["eventName"], third["dynamodb"]["OldImage"]["n"], "NewImage" in third["dynamodb"]) == ("REMOVE", {"N": "2"}, False), third
    client.update_kinesis_streaming_destination(TableName="app", StreamArn=STREAM, UpdateKinesisStreamingConfiguration={
        "ApproximateCreationDateTimePrecision": "MICROSECOND"})
    put(client, 3, "y")
    until(lambda: len(kinesis.records) >= 4, kinesis.requests)
    fourth = kinesis.records[3]["dynamodb"]
    assert fourth["ApproximateCreationDateTimePrecision"] == "MICROSECOND" and moment * 1000 <= fourth["ApproximateCreationDateTime"], fourth
    assert fourth["ApproximateCreationDateTime"] % 1000 == 0 and len({r["eventID"] for r in kinesis.records if "eventID" in r}) == 3
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"})
    client.put_item(TableName="app", Item={"id": {"S": "old"}, "n": {"N": "5"}, "until": {"N": str(moment // 1000 - 3600)}})
    until(lambda: len(kinesis.records) >= 6, kinesis.requests)
    assert kinesis.records[5]["userIdentity"] == {"type": "Service", "principalId": "dynamodb.amazonaws.com"}, kinesis.records[5]
    assert not kinesis.problems and len(kinesis.records) == 6, kinesis.problems
    server.stop()


def order_is_kept_where_parts_of_requests_fail():
    """Each third record is refused by itself, each fifth request as a whole."""
    seen = [0, 0]

    def answer(request):
        seen[0] += 1
        if seen[0] % 5 == 0:
            return 500, {"__type": "InternalFailure"}
        told = []
        for _ in request["Records"]:
            seen[1] += 1
            told.append({"ErrorCode": "ProvisionedThroughputExceededException", "ErrorMessage": "slow"} if seen[1] % 3 == 0 else
                        {"SequenceNumber": "1", "ShardId": "shardId-0"})
        return 200, {"FailedRecordCount": 0, "Records": told}
    kinesis = Kinesis(answer)
    server = kinesis.server_of()
    client = server.client(region="eu-west-1")
    create(client)
    enable(client)
    for n in range(60):
        put(client, n, f"k{n % 6}")
    until(lambda: len(kinesis.records) >= 60, kinesis.requests)
    for key in range(6):
        assert kinesis.values(f"k{key}") == list(range(key, 60, 6)), kinesis.values(f"k{key}")
    assert not kinesis.problems and len(kinesis.records) == 60
    server.stop()


def a_change_that_is_refused_alone_is_left_behind():
    def answer(request):
        bad = any(b'"bad"' in base64.b64decode(r["Data"]) for r in request["Records"])
        return (400, {"__type": "ValidationException", "message": "no"}) if bad else (200, None)
    kinesis = Kinesis(answer)
    server = kinesis.server_of()
    client = server.client(region="eu-west-1")
    create(client)
    enable(client)
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": {"id": {"S": "bad" if n == 4 else f"k{n}"}, "n": {"N": str(n)}}}}
                                               for n in range(9)])
    until(lambda: len(kinesis.records) >= 8, kinesis.requests)
    assert sorted(kinesis.values()) == [0, 1, 2, 3, 5, 6, 7, 8], kinesis.values()
    server.process.terminate()
    assert "is left behind: it answered 400 ValidationException no" in server.process.stderr.read().decode()


@harness.of_files
def killed_servers_send_each_change_at_least_once():
    """A server that is killed may not have written down yet that its last request was taken: the next one sends that request again, and no more."""
    kinesis = Kinesis()
    server = kinesis.server_of(disk=True)
    client = server.client(region="eu-west-1")
    create(client)
    enable(client)
    kills, keys = 0, 4  # of a key, a request holds one change

    def kill():
        nonlocal kills
        server.kill()
        server.start()
        kills += 1
    for n in range(90):
        put(client, n, f"k{n % keys}")
        if n % 30 == 29:
            until(lambda: len(kinesis.records) > n // 2, kinesis.requests)
            kill()
    until(lambda: set(kinesis.values()) == set(range(90)), kinesis.requests)
    for key in range(keys):
        values = kinesis.values(f"k{key}")
        firsts = list(dict.fromkeys(values))
        assert firsts == sorted(firsts), values
    kill()
    put(client, 90, "k0")
    until(lambda: 90 in kinesis.values(), kinesis.requests)
    assert len(kinesis.records) <= 91 + kills * keys, "sent again from further back than a request"
    assert not kinesis.problems
    server.kill()
    server.check_file()


def what_a_disabled_destination_gets():
    gate = threading.Event()
    kinesis = Kinesis(lambda request: (200, None) if gate.is_set() else (500, {"__type": "InternalFailure"}))
    server = kinesis.server_of()
    client = server.client(region="eu-west-1")
    create(client)
    for n in range(3):
        put(client, n)
    enable(client)
    for n in range(3, 6):
        put(client, n)
    until(lambda: kinesis.requests, "nothing was sent")
    assert client.disable_kinesis_streaming_destination(TableName="app", StreamArn=STREAM)["DestinationStatus"] == "DISABLING"
    assert status(client) == ["DISABLED"]
    for n in range(6, 9):
        put(client, n)
    gate.set()
    until(lambda: len(kinesis.records) >= 3, kinesis.requests)
    enable(client)
    assert status(client) == ["ACTIVE"]
    put(client, 9)
    until(lambda: 9 in kinesis.values(), kinesis.requests)
    assert sorted(kinesis.values()) == [3, 4, 5, 9], kinesis.values()
    client.delete_table(TableName="app")
    create(client)
    put(client, 10)
    enable(client)
    put(client, 11)
    until(lambda: 11 in kinesis.values(), kinesis.requests)
    assert sorted(kinesis.values()) == [3, 4, 5, 9, 11] and not kinesis.problems
    server.stop()


def statuses_go_through_their_states():
    kinesis = Kinesis()
    server = Server("--kinesis", kinesis.url, "--kinesis-credentials", "AKID:hidden", "--timing", "aws")
    client = server.client(region="eu-west-1")
    turn = lambda seconds: control(server, "POST", "clock", {"advance": f"{seconds}s"})
    client.create_table(TableName="app", BillingMode="PAY_PER_REQUEST", KeySchema=[KEY], AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}])
    turn(60)
    enable(client)
    assert status(client) == ["ENABLING"]
    raises("ValidationException", client.disable_kinesis_streaming_destination, TableName="app", StreamArn=STREAM)
    turn(10)
    assert status(client) == ["ACTIVE"]
    put(client, 1)
    until(lambda: kinesis.values() == [1], kinesis.requests)
    client.update_kinesis_streaming_destination(TableName="app", StreamArn=STREAM, UpdateKinesisStreamingConfiguration={
        "ApproximateCreationDateTimePrecision": "MICROSECOND"})
    assert status(client) == ["UPDATING"]
    put(client, 2)
    until(lambda: kinesis.values() == [1, 2], kinesis.requests)
    turn(200)
    client.disable_kinesis_streaming_destination(TableName="app", StreamArn=STREAM)
    assert status(client) == ["DISABLING"]
    turn(10)
    assert status(client) == ["DISABLED"]
    server.stop()


def a_stream_that_is_not_there_fails_the_enabling():
    """AWS: a destination whose stream does not exist, or that nobody answers for, ends in ENABLE_FAILED; it can be enabled again."""
    kinesis = Kinesis()
    kinesis.found = 400, {"__type": "ResourceNotFoundException", "message": "Stream changes not found"}
    server = kinesis.server_of()
    client = server.client(region="eu-west-1")
    create(client)
    enable(client)
    put(client, 1)
    until(lambda: status(client) == ["ENABLE_FAILED"], kinesis.requests)
    assert kinesis.probes == 1 and not kinesis.requests
    raises("ValidationException", client.disable_kinesis_streaming_destination, TableName="app", StreamArn=STREAM)
    kinesis.found = 400, {"__type": "UnknownOperationException"}  # an endpoint that knows PutRecords alone
    enable(client)
    put(client, 2)
    until(lambda: kinesis.values() == [2], kinesis.requests)
    assert status(client) == ["ACTIVE"] and kinesis.probes == 2 and not kinesis.problems
    server.stop()
    nobody = Server("--kinesis", "http://127.0.0.1:1")
    client = nobody.client(region="eu-west-1")
    create(client)
    enable(client)
    until(lambda: status(client) == ["ENABLE_FAILED"], "an answer")
    nobody.stop()


def without_an_endpoint_a_warning_says_so_once():
    server = Server()
    client = server.client(region="eu-west-1")
    for name in ("one", "two"):
        create(client, name)
        enable(client, name)
        put(client, 1, name=name)
        assert status(client, name) == ["ACTIVE"]
        client.disable_kinesis_streaming_destination(TableName=name, StreamArn=STREAM)
    server.process.terminate()
    said = server.process.stderr.read().decode()
    assert said.count("changes are not sent to Kinesis destinations: start the server with --kinesis URL") == 1, said


def options_that_name_no_endpoint():
    import subprocess
    for flags in (["--kinesis", "folder"], ["--kinesis", "http://127.0.0.1:1", "--kinesis-credentials", "AKID"]):
        done = subprocess.run([harness.BINARY, "--in-memory", "--port", "0", *flags], capture_output=True, text=True, timeout=120)
        assert done.returncode == 2 and "kinesis: wants none, or http://HOST" in done.stderr, done


run("kinesis", [records_are_those_of_aws, order_is_kept_where_parts_of_requests_fail, a_change_that_is_refused_alone_is_left_behind,
                killed_servers_send_each_change_at_least_once, what_a_disabled_destination_gets, statuses_go_through_their_states, a_stream_that_is_not_there_fails_the_enabling,
                without_an_endpoint_a_warning_says_so_once, options_that_name_no_endpoint])
