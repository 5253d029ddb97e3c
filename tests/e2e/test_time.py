"""Time to live and the clock that tests turn: expiry in no time, transient statuses, tokens, creation times."""
import json
import threading
import time
import urllib.error
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness import DATABASE, Server, create_app, key, raises, run

DAY = 86400


def clock(server, turn=None, headers=None, query=""):
    """The clock's answer to a turn; without one, to a look."""
    body = None if turn is None else json.dumps(turn).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock{query}", data=body, headers=headers or {}), timeout=120) as reply:
        return json.load(reply)


def signed(server, turn, key="alice", secret="s3cret", region="us-east-1", query=""):
    """The same, signed."""
    request = AWSRequest("POST", f"{server.url}/_dynalith/clock{query}", data=json.dumps(turn), headers={"Content-Type": "application/json"})
    SigV4Auth(Credentials(key, secret), "dynamodb", region).add_auth(request)
    return clock(server, turn, dict(request.headers), query)


def enable(client, name="app", attribute="ttl", enabled=True):
    return client.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": enabled, "AttributeName": attribute})


def put(client, pk, ttl, **more):
    client.put_item(TableName="app", Item={"PK": {"S": pk}, "SK": {"S": "1"}, "ttl": {"N": str(ttl)}, "GSI1PK": {"S": "all"}, "GSI1SK": {"S": pk}, **more})


def names(client, **kwargs):
    return sorted(i["PK"]["S"] for page in client.get_paginator("scan").paginate(TableName="app", **kwargs) for i in page["Items"])


def start(*flags, **kwargs):
    server = Server(*flags, **kwargs)
    client = server.client()
    create_app(client)
    return server, client


def expires_in_thirty_days():
    server, client = start()
    enable(client)
    now = int(clock(server)["now"])
    put(client, "month", now + 30 * DAY)
    put(client, "year", now + 365 * DAY)
    begin = time.monotonic()
    assert clock(server, {"advance": 30 * DAY - 3600})["expired"] == 0
    assert names(client) == ["month", "year"]
    answer = clock(server, {"advance": "1h"})
    assert names(client) == names(client, IndexName="GSI1") == names(client, IndexName="by-time") + ["year"] == ["year"], names(client)
    print(f"e2e: thirty days in {1000 * (time.monotonic() - begin):.0f} ms")
    assert answer["expired"] == 1 and 30 * DAY - 1 < answer["offset"] < 30 * DAY + 1 and not answer["frozen"], answer
    assert client.describe_table(TableName="app")["Table"]["ItemCount"] == 1
    assert clock(server, {"release": True})["offset"] == 0
    server.stop()


def expires_by_itself():
    server, client = start("--ttl-period", "10")
    enable(client)
    put(client, "old", int(time.time()) - 1)
    put(client, "new", int(time.time()) + DAY)
    for _ in range(3000):
        if names(client) == ["new"]:
            break
        time.sleep(0.01)
    assert names(client) == ["new"]
    server.stop()


def readable_until_deleted():
    server, client = start("--ttl-delay", "3600", "--ttl-period", "0")
    enable(client)
    put(client, "old", int(time.time()) - 1)
    assert clock(server, {"advance": "59m"})["expired"] == 0
    assert names(client) == ["old"]
    client.update_item(TableName="app", Key={"PK": {"S": "old"}, "SK": {"S": "1"}}, UpdateExpression="SET n = :n", ExpressionAttributeValues={":n": {"N": "1"}})
    assert clock(server, {"advance": "2m"})["expired"] == 1
    server.stop()


def found_when_enabled_and_forgotten_when_disabled():
    server, client = start("--ttl-period", "0")
    now = int(time.time())
    for i in range(300):
        put(client, f"p{i:03}", now + (DAY if i % 3 else -DAY), other={"N": str(now)})
    enable(client)
    assert clock(server, {})["expired"] == 100
    enable(client, enabled=False)
    assert clock(server, {"advance": "2d"})["expired"] == 0
    assert client.describe_time_to_live(TableName="app")["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    enable(client, attribute="other")
    assert clock(server, {})["expired"] == 200
    assert names(client) == []
    server.stop()


def survives_restart():
    server, client = start("--ttl-period", "0", disk=True)
    enable(client)
    now = int(time.time())
    for i in range(100):
        put(client, f"p{i}", now + i * DAY + 60)
    server.kill()
    server.start()
    client = server.client()
    assert client.describe_time_to_live(TableName="app")["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    assert clock(server, {"advance": "10d"})["expired"] == 10
    server.kill()
    server.start()
    assert abs(clock(server)["offset"] - (10 * DAY if DATABASE else 0)) < 1  # several servers share a clock, which is a row
    assert len(names(server.client())) == 90
    assert clock(server, {"advance": "10d" if DATABASE else "20d"})["expired"] == 10
    server.stop()


def statuses_go_by_the_clock():
    server = Server("--delay-transient-statuses")
    client = server.client()
    clock(server, {"set": "2031-05-06T07:08:09Z", "freeze": True})
    client.create_table(TableName="slow", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
    table = client.describe_table(TableName="slow")["Table"]
    assert table["TableStatus"] == "CREATING" and table["CreationDateTime"].isoformat().startswith("2031-05-06T"), table
    raises("ResourceInUseException", enable, client=client, name="slow")
    clock(server, {"advance": 10})
    assert client.describe_table(TableName="slow")["Table"]["TableStatus"] == "ACTIVE"
    enable(client, "slow")
    status = lambda: client.describe_time_to_live(TableName="slow")["TimeToLiveDescription"]
    assert status() == {"TimeToLiveStatus": "ENABLING", "AttributeName": "ttl"}
    assert "within a fixed interval" in raises("ValidationException", enable, client=client, name="slow", enabled=False)
    clock(server, {"advance": 10})
    assert status() == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    enable(client, "slow", enabled=False)
    assert status() == {"TimeToLiveStatus": "DISABLING", "AttributeName": "ttl"}
    clock(server, {"advance": 10})
    assert status() == {"TimeToLiveStatus": "DISABLED"}
    server.stop()


def tokens_go_by_the_clock():
    server, client = start()
    add = {"Update": {"TableName": "app", "Key": {"PK": {"S": "n"}, "SK": {"S": "1"}}, "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}}
    value = lambda: client.get_item(TableName="app", Key=add["Update"]["Key"])["Item"]["n"]["N"]
    for minutes, want in ((0, "1"), (9, "1"), (2, "2"), (0, "2")):
        clock(server, {"advance": minutes * 60})
        client.transact_write_items(TransactItems=[add], ClientRequestToken="token")
        assert value() == want, (minutes, want, value())
    server.stop()


def signatures_do_not():
    config = f"{shared.folder}/clock-auth.json"
    with open(config, "w") as file:
        json.dump({"auth": "verify", "credentials": [{"access_key_id": "alice", "secret_access_key": "s3cret"}]}, file)
    server = Server("--config", config)
    for turn in (None, {"advance": "1d"}):
        try:
            clock(server, turn)
            raise AssertionError("turned unsigned")
        except urllib.error.HTTPError as error:
            assert error.code == 400, error.code
    assert signed(server, {"advance": "365d"})["offset"] > 364 * DAY
    assert signed(server, {"advance": "365d"}, query="?all=true")["offset"] > 364 * DAY
    assert server.client("alice", "s3cret").list_tables()["TableNames"] == []
    server.stop()


def what_is_not_understood():
    for turn, query in (({"forward": 1}, ""), ([], ""), ({"advance": "soon"}, ""), ({"set": -1}, ""), ({"freeze": "yes"}, ""),
                        ({"advance": 1}, "?account=12"), ({"advance": 1}, "?region="), ({"advance": 1}, "?region=" + "r" * 64)):
        try:
            clock(shared, turn, query=query)
            raise AssertionError(turn)
        except urllib.error.HTTPError as error:
            assert error.code == 400 and b"ValidationException" in error.read()
    assert clock(shared)["offset"] == 0


def advances_by_less_than_nothing():
    server, client = start("--ttl-period", "0")
    enable(client)
    put(client, "tomorrow", int(time.time()) + DAY)
    assert -DAY - 60 < clock(server, {"advance": "-1d"})["offset"] < -DAY + 60
    assert clock(server, {"advance": "1.5d"})["expired"] == 0
    assert clock(server, {"advance": "11h", "freeze": True})["expired"] == 0
    assert clock(server, {"advance": 3661})["expired"] == 1
    server.stop()


def each_namespace_has_its_own():
    """Two namespaces: whatever depends on time stays as it is in the one whose clock is not turned."""
    server = Server("--ttl-period", "20", "--delay-transient-statuses", "--transient-status-ms", "600000")
    one, two = server.client("111111111111"), server.client("222222222222")
    add = {"Update": {"TableName": "tab", "Key": {"pk": {"S": "n"}}, "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}}
    now = int(time.time())
    for client, account in ((one, "111111111111"), (two, "222222222222")):
        client.create_table(TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    assert {c.describe_table(TableName="tab")["Table"]["TableStatus"] for c in (one, two)} == {"CREATING"}
    assert signed(server, {"advance": "11m"}, "111111111111")["account"] == "111111111111"
    assert [c.describe_table(TableName="tab")["Table"]["TableStatus"] for c in (one, two)] == ["ACTIVE", "CREATING"]
    clock(server, {"advance": "11m"}, query="?account=222222222222&region=us-east-1")
    clock(server, {"advance": "11m"})
    for client in (one, two):
        enable(client, "tab")
        client.put_item(TableName="tab", Item={"pk": {"S": "month"}, "ttl": {"N": str(now + 30 * DAY)}})
        client.transact_write_items(TransactItems=[add], ClientRequestToken="token")
    for account in ("111111111111", "222222222222"):
        signed(server, {"advance": "11m"}, account)  # TTL is enabled
    answer = signed(server, {"advance": "31d"}, "222222222222")
    assert answer["expired"] == 1 and answer["own"], answer
    for client, there, n in ((one, {"month", "n"}, "1"), (two, {"n"}, "2")):
        for _ in range(5):  # the server's own rounds go by each one's time too
            assert {i["pk"]["S"] for i in client.scan(TableName="tab")["Items"]} == there
            time.sleep(0.02)
    # The token of the one was kept for 22 minutes by its clock: it is new again; neither removes the other's.
    for client, n in ((two, "2"), (one, "2")):
        client.transact_write_items(TransactItems=[add], ClientRequestToken="token")
        client.transact_write_items(TransactItems=[add], ClientRequestToken="token")
        assert client.get_item(TableName="tab", Key={"pk": {"S": "n"}})["Item"]["n"]["N"] == n
    for account in ("111111111111", "222222222222"):  # the older records of the second stream are trimmed
        streams = server.client(account, service="dynamodbstreams")
        arn = streams.list_streams(TableName="tab")["Streams"][0]["StreamArn"]
        records = []
        for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
            iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            records += streams.get_records(ShardIterator=iterator)["Records"]
        ages = {r["dynamodb"]["ApproximateCreationDateTime"].timestamp() - now > 30 * DAY for r in records}
        assert ages == {account == "222222222222"}, (account, records)
    listed = clock(server)["namespaces"]
    assert [n["account"] for n in listed] == ["111111111111", "222222222222"], listed
    assert signed(server, {"release": True}, "222222222222")["own"] is False
    assert len(clock(server)["namespaces"]) == 1
    server.stop()


def parallel_tests_do_not_meet():
    """Eight test runs at once, each in its account: each sees its own items expire when it turns its clock, and no earlier."""
    server = Server("--ttl-period", "1")
    problems = []

    def test(worker):
        account = f"{worker + 1:012}"
        client = server.client(account)
        create_app(client)
        enable(client)
        for day in range(1, 11):
            put(client, f"p{day:02}", int(time.time()) + day * DAY + 600)
        for day in range(1, 11):
            expired = signed(server, {"advance": "1d"}, account)["expired"] + signed(server, {"advance": "20m"} if day == 1 else {}, account)["expired"]
            left = names(client)
            if left != [f"p{d:02}" for d in range(day + 1, 11)]:
                problems.append((account, day, expired, left))
    workers = [threading.Thread(target=test, args=(w,)) for w in range(8)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    assert not problems, problems
    assert abs(clock(server)["offset"]) < 1
    server.stop()


def a_shared_store_has_one():
    server = Server("--shared-db", "--ttl-period", "0")
    one, two = server.client("111111111111"), server.client("222222222222")
    create_app(one)
    enable(two)
    put(two, "month", int(time.time()) + 30 * DAY)
    answer = signed(server, {"advance": "31d"}, "222222222222")
    assert answer["expired"] == 1 and "own" not in answer and names(one) == [] and clock(server)["offset"] > 30 * DAY
    server.stop()


def writers_and_sweeps_agree():
    """Items are prolonged, shortened, deleted and put back while time flies: in the end exactly those with time left are there."""
    server, client = start("--ttl-period", "1")
    enable(client)
    epoch = 2_000_000_000
    clock(server, {"set": epoch, "freeze": True})
    last, stop = {}, threading.Event()

    def write(worker):
        mine, n = server.client(), 0
        while not stop.is_set():
            n += 1
            pk, ttl = f"{worker}-{n % 20}", epoch + (n * 7 + worker * 13) % 2000
            if n % 5 == 0:
                mine.delete_item(TableName="app", Key={"PK": {"S": pk}, "SK": {"S": "1"}})
                last[pk] = 0
            elif n % 5 == 1:
                mine.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": {
                    "PK": {"S": pk}, "SK": {"S": "1"}, "GSI1PK": {"S": "all"}, "GSI1SK": {"S": pk}, "ttl": {"N": str(ttl)}}}}])
                last[pk] = ttl
            else:
                put(mine, pk, ttl)
                last[pk] = ttl
    workers = [threading.Thread(target=write, args=(w,)) for w in range(8)]
    [w.start() for w in workers]
    for _ in range(100):
        clock(server, {"advance": 10})
    stop.set()
    [w.join() for w in workers]
    now = clock(server, {})["now"]
    assert now == epoch + 1000
    want = sorted(pk for pk, ttl in last.items() if ttl > now)
    assert names(client) == want and names(client, IndexName="GSI1") == want
    assert clock(server, {"advance": 2000})["expired"] == len(want)
    assert names(client) == []
    server.stop()


if __name__ == "__main__":
    shared = Server()
    run("time", [expires_in_thirty_days, expires_by_itself, readable_until_deleted, found_when_enabled_and_forgotten_when_disabled, survives_restart,
                 statuses_go_by_the_clock, tokens_go_by_the_clock, signatures_do_not, what_is_not_understood, advances_by_less_than_nothing,
                 each_namespace_has_its_own, parallel_tests_do_not_meet, a_shared_store_has_one, writers_and_sweeps_agree, shared.stop])
