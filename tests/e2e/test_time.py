"""Time to live and the clock that tests turn: expiry in no time, transient statuses, tokens, creation times."""
import json
import threading
import time
import urllib.error
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness import Server, create_app, key, raises, run

DAY = 86400


def clock(server, turn=None, headers=None):
    """The clock's answer to a turn; without one, to a look."""
    body = None if turn is None else json.dumps(turn).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", data=body, headers=headers or {}), timeout=60) as reply:
        return json.load(reply)


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
    assert clock(server)["offset"] == 0
    assert len(names(server.client())) == 90
    assert clock(server, {"advance": "20d"})["expired"] == 10
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
    body = json.dumps({"advance": "365d"})
    request = AWSRequest("POST", f"{server.url}/_dynalith/clock", data=body, headers={"Content-Type": "application/json"})
    SigV4Auth(Credentials("alice", "s3cret"), "dynamodb", "us-east-1").add_auth(request)
    assert clock(server, {"advance": "365d"}, dict(request.headers))["offset"] > 364 * DAY
    assert server.client("alice", "s3cret").list_tables()["TableNames"] == []
    server.stop()


def what_is_not_understood():
    for turn in ({"forward": 1}, [], {"advance": "soon"}, {"set": -1}, {"freeze": "yes"}):
        try:
            clock(shared, turn)
            raise AssertionError(turn)
        except urllib.error.HTTPError as error:
            assert error.code == 400 and b"ValidationException" in error.read()
    assert clock(shared)["offset"] == 0


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
                 statuses_go_by_the_clock, tokens_go_by_the_clock, signatures_do_not, what_is_not_understood, writers_and_sweeps_agree, shared.stop])
