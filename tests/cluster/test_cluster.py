"""Two servers on one PostgreSQL database (database.py), as their clients see them: each answers by what the other has done, streams and time to live
are whole, no update is lost, and what was acknowledged is there after a server or the database was killed.

CLUSTER_SECONDS=N is how long writers go on where something is killed (default 2), CLUSTER_SEED=N.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "e2e")]
SECONDS = float(os.environ.get("CLUSTER_SECONDS", "2"))
SEED = int(os.environ.get("CLUSTER_SEED", "1"))
import database  # noqa: E402
from everything import a_file_of_everything  # noqa: E402
from harness import BINARY, Server, control, key, run, until  # noqa: E402
from test_triggers import Function  # noqa: E402
from wire import Client, Gone, Refused  # noqa: E402

DB = database.Database()
FLAGS = ("--ttl-delay", "0", "--ttl-period", "100")


def s(text):
    return {"S": str(text)}


def n(number):
    return {"N": str(number)}


class Cluster:
    """Servers on a database of their own."""
    made = 0

    def __init__(self, servers=2, *flags):
        Cluster.made += 1
        self.name = f"cluster{Cluster.made}"
        self.url = DB.create(self.name)
        self.servers = [Server(*FLAGS, *flags, store=self.url) for _ in range(servers)]
        self.clients = [Client(server.port, timeout=120) for server in self.servers]

    def client(self, i):
        return Client(self.servers[i % len(self.servers)].port, timeout=120)

    def stop(self):
        for server in self.servers:
            server.stop()


def create(client, name="tab", **more):
    client("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")], **more)
    until(lambda: client("DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE", "the table is not active")


def at(pk, sk):
    return {"PK": s(pk), "SK": s(sk)}


def tolerant(client, operation, **parameters):
    """Repeats what an SDK repeats. None: nobody knows whether it was done."""
    is_unknown = False
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            return client(operation, **parameters), is_unknown
        except Gone:
            is_unknown = True
        except Refused as refused:
            if refused.status < 500:
                raise
            is_unknown = is_unknown or refused.status == 500
        time.sleep(0.05)
    raise AssertionError(f"{operation} did not succeed in a minute")


def what_one_writes_the_other_reads():
    cluster = Cluster()
    a, b = cluster.clients
    create(a)
    for i in range(20):
        x, y = (a, b) if i % 2 else (b, a)
        x("PutItem", TableName="tab", Item={**at("p", f"{i:03}"), "n": n(i)})
        assert y("GetItem", TableName="tab", Key=at("p", f"{i:03}"), ConsistentRead=True)["Item"]["n"] == n(i)
        assert y("Query", TableName="tab", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": s("p")})["Count"] == i + 1
    found = b("BatchGetItem", RequestItems={"tab": {"Keys": [at("p", f"{i:03}") for i in range(20)]}})["Responses"]["tab"]
    assert len(found) == 20
    for i in range(20):
        b("DeleteItem", TableName="tab", Key=at("p", f"{i:03}"))
        assert "Item" not in a("GetItem", TableName="tab", Key=at("p", f"{i:03}"))
    cluster.stop()


def what_one_changes_of_a_table_the_other_goes_by():
    cluster = Cluster()
    a, b = cluster.clients
    create(a)
    assert b("ListTables")["TableNames"] == ["tab"]
    for i in range(30):
        b("PutItem", TableName="tab", Item={**at("p", i), "g": s(i % 3)})
    a("UpdateTable", TableName="tab", AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}], GlobalSecondaryIndexUpdates=[
        {"Create": {"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "ALL"}}}])
    for i in range(30, 60):
        (a, b)[i % 2]("PutItem", TableName="tab", Item={**at("p", i), "g": s(i % 3)})
    is_active = lambda c: c("DescribeTable", TableName="tab")["Table"]["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    until(lambda: is_active(a) and is_active(b), "the index does not become active")
    for client in (a, b):
        for g in range(3):
            rows = client("Query", TableName="tab", IndexName="by-g", KeyConditionExpression="g = :g", ExpressionAttributeValues={":g": s(g)})
            assert rows["Count"] == 20, rows["Count"]
    b("DeleteTable", TableName="tab")
    for client in (a, b):
        try:
            client("PutItem", TableName="tab", Item=at("p", "q"))
            raise AssertionError("the table is still there")
        except Refused as refused:
            assert refused.name == "ResourceNotFoundException", refused
    create(a)
    assert b("Scan", TableName="tab")["Count"] == 0
    cluster.stop()


def a_table_is_there_for_both_at_once():
    """Who has seen it in the making looks again, before it says that there is none."""
    cluster = Cluster()
    a, b = cluster.clients
    create(a)
    for i in range(60):
        a("PutItem", TableName="tab", Item={**at("p", i), "pad": s("x" * 300000)})
    backup = a("CreateBackup", TableName="tab", BackupName="one")["BackupDetails"]["BackupArn"]
    until(lambda: a("DescribeBackup", BackupArn=backup)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE", "the backup is not done")
    for i in range(5):
        a("RestoreTableFromBackup", TargetTableName=f"back{i}", BackupArn=backup)

        def is_active():
            try:
                b("GetItem", TableName=f"back{i}", Key=at("p", 1))
            except Refused as refused:
                assert refused.name == "ResourceNotFoundException", refused
            return a("DescribeTable", TableName=f"back{i}")["Table"]["TableStatus"] == "ACTIVE"

        until(is_active, "the restore does not end")
        assert b("GetItem", TableName=f"back{i}", Key=at("p", 1))["Item"]["SK"] == s(1)
    cluster.stop()


def in_threads(count, work):
    """work(i) in `count` threads; what the first of them raised."""
    problems = []

    def guarded(i):
        try:
            work(i)
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def sixteen_writers_lose_no_update():
    cluster = Cluster()
    create(cluster.clients[0])
    steps, rounds = {"add": 0, "version": 0}, 10
    lock = threading.Lock()

    def work(i):
        client, chance = cluster.client(i), random.Random(SEED * 100 + i)
        for _ in range(rounds):
            if chance.random() < 0.5:
                client("UpdateItem", TableName="tab", Key=at("counter", "add"), UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": n(1)})
                with lock:
                    steps["add"] += 1
                continue
            item = client("GetItem", TableName="tab", Key=at("counter", "version"), ConsistentRead=True).get("Item", {"n": n(0)})
            try:
                client("PutItem", TableName="tab", Item={**at("counter", "version"), "n": n(int(item["n"]["N"]) + 1)},
                       ConditionExpression="n = :n OR attribute_not_exists(n) AND :n = :zero", ExpressionAttributeValues={":n": item["n"], ":zero": n(0)})
                with lock:
                    steps["version"] += 1
            except Refused as refused:
                assert refused.name == "ConditionalCheckFailedException", refused

    in_threads(16, work)
    for name, count in steps.items():
        item = cluster.clients[1]("GetItem", TableName="tab", Key=at("counter", name), ConsistentRead=True).get("Item", {"n": n(0)})
        assert item["n"] == n(count), (name, item, count)
    cluster.stop()


def records_of(client, table):
    """All records of a stream, in the order of its shards. A connection to the database that was cut a moment ago may fail a request still."""
    stream = tolerant(client, "DescribeTable", TableName=table)[0]["Table"]["LatestStreamArn"]
    records = []
    for shard in tolerant(client.streams, "DescribeStream", StreamArn=stream)[0]["StreamDescription"]["Shards"]:
        iterator = tolerant(client.streams, "GetShardIterator", StreamArn=stream, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")[0]["ShardIterator"]
        while iterator:
            page = tolerant(client.streams, "GetRecords", ShardIterator=iterator)[0]
            records += page["Records"]
            iterator = page.get("NextShardIterator") if page["Records"] else None
    return records


def a_stream_has_each_change_once_and_in_order():
    cluster = Cluster()
    create(cluster.clients[0], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    writers, rounds = 6, 12

    def work(i):
        clients = [cluster.client(0), cluster.client(1)]
        for j in range(rounds):
            clients[(i + j) % 2]("UpdateItem", TableName="tab", Key=at("p", f"k{i % 3}"), UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": n(1)})

    in_threads(writers, work)
    for client in cluster.clients:
        records = records_of(client, "tab")
        assert len(records) == writers * rounds, len(records)
        sequence = [r["dynamodb"]["SequenceNumber"] for r in records]
        assert len(set(sequence)) == len(sequence)
        for k in range(3):
            seen = [int(r["dynamodb"]["NewImage"]["n"]["N"]) for r in records if r["dynamodb"]["Keys"]["SK"] == s(f"k{k}")]
            assert seen == list(range(1, writers // 3 * rounds + 1)), seen
    cluster.stop()


def shards_of_a_stream_are_the_table_together():
    """A database's streams have four shards; writers at three servers, transactions over partitions, while shards rotate."""
    cluster = Cluster(3)
    create(cluster.clients[0], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    writers, rounds = 6, 30

    def work(i):
        clients, rng = [cluster.client(j) for j in range(3)], random.Random(SEED * 100 + i)
        for j in range(rounds):
            raises = [{"Update": {"TableName": "tab", "Key": at(f"p{p}", "k"), "UpdateExpression": "ADD n :one",
                                  "ExpressionAttributeValues": {":one": n(1)}}} for p in rng.sample(range(8), 3)]
            done = False
            while not done:
                try:
                    clients[j % 3]("TransactWriteItems", TransactItems=raises)
                    done = True
                except Refused as refused:
                    assert refused.status == 400 and "TransactionC" in str(refused), refused
            clients[(i + j) % 3]("PutItem", TableName="tab", Item=at(f"own{i}", f"{j:03}"))
            if i == 0 and j % 10 == 5:
                urllib.request.urlopen(urllib.request.Request(f"{cluster.servers[j % 3].url}/_dynalith/streams/rotate?table=tab", method="POST")).close()

    in_threads(writers, work)
    for client in cluster.clients:
        arn = client("DescribeTable", TableName="tab")["Table"]["LatestStreamArn"]
        shards = client.streams("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]
        assert len([x for x in shards if "ParentShardId" not in x]) == 4 and len(shards) == 4 * 4, shards
        records = records_of(client, "tab")
        assert len({r["eventID"] for r in records}) == len(records) == writers * rounds * 4, len(records)
        replayed = {}
        for record in records:
            change, name = record["dynamodb"], (record["dynamodb"]["Keys"]["PK"]["S"], record["dynamodb"]["Keys"]["SK"]["S"])
            assert replayed.get(name) == change.get("OldImage"), (name, replayed.get(name), change)
            replayed[name] = change["NewImage"]
        items = client("Scan", TableName="tab", ConsistentRead=True)["Items"]
        assert replayed == {(item["PK"]["S"], item["SK"]["S"]): item for item in items}
    cluster.stop()


def an_item_expires_once():
    cluster = Cluster()
    a, b = cluster.clients
    create(a, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    a("UpdateTimeToLive", TableName="tab", TimeToLiveSpecification={"AttributeName": "t", "Enabled": True})
    for i in range(40):
        (a, b)[i % 2]("PutItem", TableName="tab", Item={**at("p", i), "t": n(int(time.time()) - 10)})
    until(lambda: b("Scan", TableName="tab", Select="COUNT")["Count"] == 0, "items do not expire")
    removed = [r["dynamodb"]["Keys"]["SK"]["S"] for r in records_of(a, "tab") if r["eventName"] == "REMOVE"]
    assert sorted(removed) == sorted(map(str, range(40))), removed
    cluster.stop()


def a_token_counts_on_both_servers():
    cluster = Cluster()
    create(cluster.clients[0])
    step = {"Update": {"TableName": "tab", "Key": at("p", "q"), "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": n(1)}}}

    def work(i):
        for token in range(5):
            while True:
                try:
                    cluster.client(i)("TransactWriteItems", ClientRequestToken=f"t{token}", TransactItems=[step])
                    break
                except Refused as refused:
                    assert refused.name in ("TransactionInProgressException", "TransactionCanceledException") or refused.status == 503, refused

    in_threads(6, work)
    assert cluster.clients[0]("GetItem", TableName="tab", Key=at("p", "q"), ConsistentRead=True)["Item"]["n"] == n(5)
    cluster.stop()


def clock(server, turn=None):
    body = None if turn is None else json.dumps(turn).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", data=body), timeout=120) as reply:
        return json.load(reply)


def statement(effect, **more):
    return {"Version": "2012-10-17", "Statement": [{"Effect": effect, "Action": "dynamodb:*", "Resource": "*", **more}]}


def policies_count_on_both_servers():
    """Those of the document and those of tables, from the next request on, whichever server was asked before."""
    cluster = Cluster(2, "--iam", "enforce")
    admin = {"access_key": "admin", "arn": "arn:aws:iam::000000000000:root"}
    user = {"access_key": "u", "arn": "arn:aws:iam::000000000000:user/u"}
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/tab"
    set_policies = lambda i, *principals: control(cluster.servers[i], "PUT", "policies", {"principals": list(principals)})
    operators = [Client(server.port, access_key="admin", timeout=120) for server in cluster.servers]
    users = [Client(server.port, access_key="u", timeout=120) for server in cluster.servers]

    def may(client):
        try:
            client("GetItem", TableName="tab", Key=at("p", "1"))
            return True
        except Refused as refused:
            assert refused.name == "AccessDeniedException", refused
            return False

    set_policies(0, admin, user)
    create(operators[0])
    for i in range(6):
        set_policies(i % 2, admin, {**user, "identity": statement("Allow")})
        assert [may(client) for client in users] == [True, True], i
        set_policies((i + 1) % 2, admin, user)
        assert [may(client) for client in users] == [False, False], i
        assert control(cluster.servers[i % 2], "GET", "policies") == {"principals": [admin, user]}
    set_policies(0, admin, {**user, "identity": statement("Allow")})
    for i in range(6):
        operators[i % 2]("PutResourcePolicy", ResourceArn=arn, Policy=json.dumps(statement("Deny", Principal={"AWS": user["arn"]}, Action="dynamodb:GetItem")))
        assert [may(client) for client in users] == [False, False], i
        operators[(i + 1) % 2]("DeleteResourcePolicy", ResourceArn=arn)
        assert [may(client) for client in users] == [True, True], i
    for i in range(2):
        operators[i]("TagResource", ResourceArn=arn, Tags=[{"Key": "team", "Value": str(i)}])
        for k in range(2):
            set_policies(k, admin, {**user, "identity": statement("Allow", Condition={"StringEquals": {"aws:ResourceTag/team": str(i)}})})
            assert [may(client) for client in users] == [True, True], (i, k)
    # the reports are each server's own, and say so; together they are all that was asked
    asked = [[entry for entry in control(server, "GET", "iam")["principals"] if entry["arn"] == user["arn"]][0] for server in cluster.servers]
    assert [(entry["allowed"], entry["denied"]) for entry in asked] == [(16, 12)] * 2, asked
    assert [control(server, "GET", "iam")["covers"] for server in cluster.servers] == ["this server"] * 2
    for i in range(2):
        control(cluster.servers[i], "DELETE", "policies")
        assert [may(client) for client in users] == [False, False]
        set_policies(i, admin, {**user, "identity": statement("Allow")})
    cluster.stop()


def a_turn_of_the_clock_counts_on_both_servers():
    cluster = Cluster()
    a, b = cluster.clients
    create(a, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    a("UpdateTimeToLive", TableName="tab", TimeToLiveSpecification={"AttributeName": "t", "Enabled": True})
    b("PutItem", TableName="tab", Item={**at("p", 1), "t": n(int(time.time()) + 86400)})
    clock(cluster.servers[0], {"set": "2040-01-01T00:00:00Z", "freeze": True})
    assert "Item" not in b("GetItem", TableName="tab", Key=at("p", 1), ConsistentRead=True), "it was due when the turn was answered"
    b("PutItem", TableName="tab", Item=at("p", 2))
    made = [r["dynamodb"]["ApproximateCreationDateTime"] for r in records_of(a, "tab")]
    assert made[-1] == 2208988800, made
    create(b, "other")
    assert a("DescribeTable", TableName="other")["Table"]["CreationDateTime"] == 2208988800
    assert clock(cluster.servers[1], {"advance": "1h"})["now"] == clock(cluster.servers[0])["now"] == 2208992400
    late = Server(*FLAGS, store=cluster.url)
    assert clock(late)["now"] == 2208992400, "a server that comes later goes by it too"
    late.stop()
    clock(cluster.servers[1], {"release": True})
    assert abs(clock(cluster.servers[0])["offset"]) < 0.001
    cluster.stop()


def reads_lag_on_both_servers():
    """What is set, written and turned through one server counts for reads through the other."""
    cluster = Cluster()
    one, two = cluster.clients
    create(one)
    clock(cluster.servers[0], {"freeze": True})
    answer = urllib.request.urlopen(urllib.request.Request(cluster.servers[0].url + "/_dynalith/lag", method="PUT", data=b'{"lag": 1000}'))
    assert json.load(answer)["lag"] == 1000

    def seen(client, **more):
        return client("GetItem", TableName="tab", Key=at("a", "1"), **more).get("Item", {}).get("v"), len(client("Scan", TableName="tab", **more)["Items"])
    two("PutItem", TableName="tab", Item={**at("a", "1"), "v": n(1)})
    assert seen(one) == seen(two) == (None, 0)
    assert seen(one, ConsistentRead=True) == seen(two, ConsistentRead=True) == (n(1), 1)
    clock(cluster.servers[1], {"advance": 1})
    assert seen(one) == seen(two) == (n(1), 1)
    one("DeleteItem", TableName="tab", Key=at("a", "1"))
    assert seen(one) == seen(two) == (n(1), 1)
    clock(cluster.servers[0], {"advance": 1})
    assert seen(two) == seen(one) == (None, 0)
    cluster.stop()


def a_trigger_of_two_servers_posts_once():
    """While both live one of them posts; the other goes on where it was."""
    function = Function()
    cluster = Cluster(2, "--trigger", f"tab={function.url}")
    a, b = cluster.clients
    create(a, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    wanted = [f"{i:03}" for i in range(60)]
    for i in range(40):
        (a, b)[i % 2]("PutItem", TableName="tab", Item=at("p", wanted[i]))
    until(lambda: len(function.keys()) >= 40, function.keys)
    cluster.servers.pop(0).stop()
    for i in range(40, 60):
        b("PutItem", TableName="tab", Item=at("p", wanted[i]))
    until(lambda: len(function.keys()) >= 60, function.keys)
    assert function.keys() == wanted, function.keys()
    cluster.stop()


def write_while(cluster, disturb):
    """Eight writers; what was acknowledged must be there when disturb() is over and all have ended."""
    done, is_over = [{} for _ in range(8)], threading.Event()

    def work(i):
        chance, number = random.Random(SEED * 1000 + i), 0
        clients = [cluster.client(k) for k in range(len(cluster.servers))]
        while not is_over.is_set():
            number += 1
            name = f"{i}-{chance.randrange(20)}"
            tolerant(clients[chance.randrange(len(clients))], "PutItem", TableName="tab", Item={**at("p", name), "n": n(number), "pad": s("x" * 500)})
            done[i][name] = number

    disturber = threading.Thread(target=lambda: (disturb(), is_over.set()))
    disturber.start()
    in_threads(len(done), work)
    disturber.join()
    for own in done:
        for name, number in own.items():
            item = tolerant(cluster.client(0), "GetItem", TableName="tab", Key=at("p", name), ConsistentRead=True)[0].get("Item")
            assert item and item["n"] == n(number), (name, number, item and item["n"])
    assert all(done)
    records = records_of(cluster.client(1), "tab")
    last = {}
    for record in records:
        last[record["dynamodb"]["Keys"]["SK"]["S"]] = record["dynamodb"]["NewImage"]["n"]
    for own in done:
        assert all(last[name] == n(number) for name, number in own.items()), "the stream lacks a write that was acknowledged"


def a_killed_server_loses_nothing():
    cluster = Cluster(2)
    create(cluster.clients[0], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})

    def disturb():
        for _ in range(2):
            time.sleep(SECONDS / 2)
            cluster.servers[1].kill()
            cluster.servers[1].start()

    write_while(cluster, disturb)
    cluster.stop()


def health(server):
    try:
        with urllib.request.urlopen(server.url + "/_dynalith/health", timeout=120) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def page(server, name):
    with urllib.request.urlopen(f"{server.url}/_dynalith/{name}", timeout=120) as reply:
        return reply.read()


def a_killed_database_loses_nothing():
    """And its absence shows: 503 for health, and for requests an error that SDKs repeat."""
    cluster = Cluster(2)
    create(cluster.clients[0], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})

    def disturb():
        time.sleep(SECONDS / 2)
        DB.kill()
        try:
            until(lambda: health(cluster.servers[0]) == 503, "health does not say that the database is away")
            assert b"\ndynalith_store_reachable 0\n" in page(cluster.servers[0], "metrics")
        finally:
            DB.start()
        until(lambda: health(cluster.servers[0]) == 200, "health does not say that the database is back")
        assert b"\ndynalith_store_reachable 1\n" in page(cluster.servers[0], "metrics")
        time.sleep(SECONDS / 2)

    write_while(cluster, disturb)
    cluster.stop()


def cut_connections_lose_nothing():
    cluster = Cluster(2)
    create(cluster.clients[0], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})

    def disturb():
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            DB.sql(f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{cluster.name}' AND random() < 0.3")
            time.sleep(0.1)

    write_while(cluster, disturb)
    cluster.stop()


def a_lock_that_is_held_for_long_is_answered():
    cluster = Cluster(1)
    client = cluster.clients[0]
    create(client)
    client("PutItem", TableName="tab", Item=at("p", "q"))
    other = subprocess.Popen([f"{DB.bin}/psql", "-X", "-q", "-A", "-t", cluster.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other.stdin.write("BEGIN; SELECT count(*) FROM (SELECT 1 FROM dynalith_kv FOR UPDATE) x;\n")
    other.stdin.flush()
    other.stdout.readline()
    try:
        client("PutItem", TableName="tab", Item=at("p", "q"))
        raise AssertionError("the row was locked")
    except Refused as refused:
        assert refused.status == 503 and refused.name == "ServiceUnavailable", refused
    assert client("GetItem", TableName="tab", Key=at("p", "q"), ConsistentRead=True)["Item"]  # readers do not wait
    other.stdin.close()
    other.wait()
    client("PutItem", TableName="tab", Item=at("p", "q"))
    cluster.stop()


FAILING = """
CREATE TABLE failing (code text);
CREATE SEQUENCE turns;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wanted text;
BEGIN
    SELECT code INTO wanted FROM failing;
    IF wanted LIKE '%/2' THEN
        IF nextval('turns') % 2 = 0 THEN RETURN NULL; END IF;
        wanted := left(wanted, 5);
    END IF;
    IF wanted IS NOT NULL THEN RAISE EXCEPTION 'it fails on demand' USING ERRCODE = wanted; END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT OR UPDATE ON dynalith_kv DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.ks >> 20 > 0) EXECUTE FUNCTION fail();
CREATE TRIGGER at_once AFTER INSERT OR UPDATE ON dynalith_kv FOR EACH ROW WHEN (NEW.ks >> 20 > 0) EXECUTE FUNCTION fail();
"""


def what_the_database_refuses_is_answered():
    """By triggers that fail a write in its statement, or in its commit: what is full, read-only or cancelled; what is in the way for a moment is tried again."""
    cluster = Cluster(1)
    client = cluster.clients[0]
    create(client)
    DB.sql(FAILING, cluster.name)
    answers = {"53100": (500, "InternalServerError"), "25006": (503, "ServiceUnavailable"), "57014": (503, "ServiceUnavailable"),
               "40001": (503, "ServiceUnavailable"), "42501": (503, "ServiceUnavailable"), "40001/2": (200, None), "40P01/2": (200, None)}
    for trigger, other in (("at_once", "at_commit"), ("at_commit", "at_once")):
        DB.sql(f"ALTER TABLE dynalith_kv ENABLE TRIGGER {trigger}; ALTER TABLE dynalith_kv DISABLE TRIGGER {other}", cluster.name)
        for code, (status, name) in answers.items():
            DB.sql(f"INSERT INTO failing VALUES ('{code}')", cluster.name)
            try:
                client("PutItem", TableName="tab", Item=at(trigger, code))
                assert status == 200, (trigger, code)
            except Refused as refused:
                assert (refused.status, refused.name) == (status, name), (trigger, code, refused)
                assert "on demand" not in refused.message, refused
            DB.sql("DELETE FROM failing", cluster.name)
            item = client("GetItem", TableName="tab", Key=at(trigger, code), ConsistentRead=True).get("Item")
            assert bool(item) == (status == 200), (trigger, code)
            client("PutItem", TableName="tab", Item=at(trigger, code))
    cluster.stop()


def start_fails(store, **environment):
    done = subprocess.run([BINARY, "--port", "0", "--store", store], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == (2 if "see dynalith help" in done.stderr else 1), (done.returncode, done.stderr)
    assert "hunter2" not in done.stderr + done.stdout, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def a_start_without_its_database_says_why():
    said = start_fails("postgresql://me:hunter2@127.0.0.1:1/db?sslmode=disable&password=hunter2&connect_timeout=2")
    assert "cannot open postgresql://me:***@127.0.0.1:1/db?sslmode=disable&password=***&connect_timeout=2: " in said and "refused" in said.lower(), said
    assert "does not exist" in start_fails(DB.url_of("nowhere"))
    assert "wants" in start_fails("postgresql:me:hunter2@h/db")
    DB.sql("CREATE ROLE stranger LOGIN")
    closed = DB.create("closed")
    DB.sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC", "closed")
    assert "permission denied" in start_fails(closed.replace("postgres@", "stranger@"))
    newer = Cluster(1)
    newer.stop()
    DB.sql(r"UPDATE dynalith_kv SET v = '99' WHERE ks = -1 AND k = '\x00'", newer.name)
    assert "has data format 99, newer than" in start_fails(newer.url)


def all_is_known_of_it():
    """The line at the start, the metrics, the check; a backup is the database's."""
    url = DB.create("known").replace("postgres@", "postgres:hunter2@")
    server = Server("--log-level", "info", store="postgresql:", environment={"PGHOST": DB.folder, "PGPORT": str(DB.port), "PGUSER": "postgres", "PGDATABASE": "known"})
    create(Client(server.port))
    Client(server.port)("PutItem", TableName="tab", Item=at("p", "q"))
    other = Server("--log-level", "info", store=url)
    assert Client(other.port)("Scan", TableName="tab")["Count"] == 1

    def post(path, body=b"{}"):
        with urllib.request.urlopen(urllib.request.Request(server.url + path, data=body, headers={"Content-Type": "application/json"}), timeout=120) as reply:
            return json.loads(reply.read())

    report = post("/_dynalith/check")
    while "cursor" in report:
        assert report["count"] == 0, report
        report = post("/_dynalith/check", json.dumps({"cursor": report["cursor"]}).encode())
    try:
        post("/_dynalith/backup")
        raise AssertionError("a backup of a database")
    except urllib.error.HTTPError as error:
        assert error.code == 400 and b"by its own tools" in error.read()
    assert b'store="database"' in page(server, "metrics")
    for process in (server, other):
        process.process.terminate()
        said = process.process.stderr.read().decode()
        assert process.process.wait(120) == 0
        assert "hunter2" not in said, said
        assert "data=postgresql:" in said.replace('"', ""), said


def several_make_the_table_at_once():
    url = DB.create("fresh")
    servers = [None] * 4

    def work(i):
        servers[i] = Server(store=url)

    in_threads(len(servers), work)
    create(Client(servers[0].port))
    assert all(Client(server.port)("ListTables")["TableNames"] == ["tab"] for server in servers)
    for server in servers:
        server.stop()


def a_start_waits_for_a_table_in_the_making():
    """A domain of the table's name is what a start sees between the type and the table that another server makes."""
    url = DB.create("making")
    DB.sql("CREATE DOMAIN dynalith_kv AS int", "making")
    remover = threading.Timer(0.3, DB.sql, ("DROP DOMAIN dynalith_kv", "making"))
    remover.start()
    server = Server(store=url)
    remover.join()
    create(Client(server.port))
    server.stop()


def copy(*words):
    done = subprocess.run([BINARY, "copy", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def a_file_becomes_the_database_and_a_file_again():
    """Also a table that is empty, and a stream that goes on in the database before it comes back."""
    server = Server(disk=True)
    a_file_of_everything(server)
    a = Client(server.port)
    create(a, "empty")
    url = DB.create("moved")
    status, lines, problem = copy("--from", f"http://127.0.0.1:{server.port}", "--to", url)
    assert status == 0 and "2 tables, 133 items" in lines[-1], (status, lines, problem)
    expected = sorted(a.all("Scan", TableName="app"), key=str)
    server.process.terminate()
    server.process.wait(120)
    status, lines, problem = copy("--from", f"sqlite:{server.folder}/data.db", "--to", url, "--replace")
    assert status == 0, (status, lines, problem)
    status, lines, problem = copy("--from", f"sqlite:{server.folder}/data.db", "--to", url, "--compare")
    assert status == 0, (status, lines, problem)
    cluster = [Server(*FLAGS, store=url) for _ in range(2)]
    for i, each in enumerate(cluster):
        client = Client(each.port)
        assert sorted((item for item in client.all("Scan", TableName="app") if "more" not in item), key=str) == expected
        client("PutItem", TableName="app", Item={**at("more", i), "more": n(i)})
        client("PutItem", TableName="empty", Item=at("p", i))
    records = records_of(Client(cluster[0].port), "app")
    back = f"{server.folder}/back.db"
    status, lines, problem = copy("--from", url, "--to", f"sqlite:{back}")  # while both serve
    assert status == 0 and "2 tables, 137 items" in lines[-1], (status, lines, problem)
    for each in cluster:
        each.stop()
    done = subprocess.run([BINARY, "check", back], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "137 items" in done.stdout, done
    home = Server(*FLAGS, store=f"sqlite:{back}")
    client = Client(home.port)
    client("PutItem", TableName="app", Item=at("home", "1"))
    client("PutItem", TableName="empty", Item=at("p", "home"))
    later = records_of(client, "app")
    assert all(record in later for record in records) and len(later) == len(records) + 1, (len(records), len(later))
    home.stop()


try:
    run("cluster", [what_one_writes_the_other_reads, what_one_changes_of_a_table_the_other_goes_by, a_table_is_there_for_both_at_once, sixteen_writers_lose_no_update,
                    a_stream_has_each_change_once_and_in_order, shards_of_a_stream_are_the_table_together, an_item_expires_once, a_token_counts_on_both_servers,
                    a_turn_of_the_clock_counts_on_both_servers, policies_count_on_both_servers, reads_lag_on_both_servers, a_trigger_of_two_servers_posts_once, a_killed_server_loses_nothing,
                    cut_connections_lose_nothing, a_killed_database_loses_nothing, a_lock_that_is_held_for_long_is_answered,
                    what_the_database_refuses_is_answered,
                    a_start_without_its_database_says_why, all_is_known_of_it, several_make_the_table_at_once, a_start_waits_for_a_table_in_the_making,
                    a_file_becomes_the_database_and_a_file_again])
finally:
    DB.close()
