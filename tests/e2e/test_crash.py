"""Kills the server at random moments and checks what it wrote.

Several connections write, and note what was acknowledged; SIGKILL; the file's integrity; a restart on the same file, which is killed
too now and then; then every acknowledged write must be there, every transaction as a whole or not at all, and indexes, stream
and the queue of expiring items must agree with the items.

CRASH_KILLS=N kills N times (default 10), CRASH_SEED=N chooses the moments; a third of the kills with each --durability.
"""
import json
import os
import random
import re
import subprocess
import threading
import time

import raw
from harness import BINARY, Server, copy_of_file, key, of_files, run, until
from wire import Client, Gone, n, s

KILLS = int(os.environ.get("CRASH_KILLS", "10"))
SEED = int(os.environ.get("CRASH_SEED", "1"))
WRITERS = 6
KEYS = 24         # of each writer
ACCOUNTS = 8      # shared by all
START = 1000      # what an account begins with
FAR = 4_000_000_000
INDEXES = {"GSI1": ("GSI1PK", "GSI1SK"), "GSI2": ("GSI2PK",), "by-time": ("PK", "at")}
PROJECTED = {"GSI1": None, "GSI2": {"PK", "SK", "GSI2PK"}, "by-time": {"PK", "SK", "at", "n"}}


def index(name):
    included = {"GSI1": {"ProjectionType": "ALL"}, "GSI2": {"ProjectionType": "KEYS_ONLY"}}
    return {"IndexName": name, "KeySchema": key(*INDEXES[name]), "Projection": included.get(name, {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["n"]})}


def create(client):
    attributes = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "at"]
    client("CreateTable", TableName="crash", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in attributes],
           GlobalSecondaryIndexes=[index("GSI1"), index("GSI2")], LocalSecondaryIndexes=[index("by-time")],
           StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    client("UpdateTimeToLive", TableName="crash", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    for account in range(ACCOUNTS):
        client("PutItem", TableName="crash", Item={"PK": s("account"), "SK": s(account), "n": n(START)})


class Attempt:
    """A request that is not answered yet: what its items become, and whether they do so together."""

    def __init__(self, changes, is_atomic, again=None):
        self.changes = changes      # key -> item or None
        self.is_atomic = is_atomic
        self.again = again          # the same request, which has a token


class Writer:
    """One connection's writes to items of its own, and to the shared accounts by transactions that conserve their sum."""

    def __init__(self, number, seed):
        self.name = f"w{number}"
        self.random = random.Random(seed * 100 + number)
        self.items = {}             # key -> item, as acknowledged
        self.attempt = None
        self.acknowledged = 0
        self.broken = None
        self.tokens = 0

    def key(self):
        return (f"{self.name}-{self.random.randrange(4)}", f"k{self.random.randrange(KEYS // 4)}")

    def item(self, at, counter):
        r = self.random
        item = {"PK": s(at[0]), "SK": s(at[1]), "n": n(counter), "pad": s("x" * r.choice((0, 10, 200, 3000)))}
        if r.random() < 0.7:
            item |= {"GSI1PK": s(f"g{r.randrange(3)}"), "GSI1SK": s(r.randrange(100))}
        if r.random() < 0.5:
            item["GSI2PK"] = s(f"h{r.randrange(5)}")
        if r.random() < 0.7:
            item["at"] = s(r.randrange(1000))
        if r.random() < 0.5:
            item["ttl"] = n(FAR + r.randrange(1000))
        return item

    def count(self, at):
        return int(self.items[at]["n"]["N"]) if at in self.items else 0

    def put(self):
        at = self.key()
        item = self.item(at, self.count(at) + 1)
        return Attempt({at: item}, True), "PutItem", {"TableName": "crash", "Item": item}

    def delete(self):
        at = self.key()
        return Attempt({at: None}, True), "DeleteItem", {"TableName": "crash", "Key": {"PK": s(at[0]), "SK": s(at[1])}}

    def updated(self, at):
        """An update of one item: a step of its count, another group, no more expiry."""
        item = dict(self.items.get(at, {"PK": s(at[0]), "SK": s(at[1])}))
        item |= {"n": n(self.count(at) + 1), "GSI1PK": s(f"g{self.random.randrange(3)}"), "GSI1SK": item.get("GSI1SK", s("none"))}
        item.pop("ttl", None)
        update = {"TableName": "crash", "Key": {"PK": s(at[0]), "SK": s(at[1])},
                  "UpdateExpression": "ADD n :one SET GSI1PK = :g, GSI1SK = if_not_exists(GSI1SK, :none) REMOVE #t",
                  "ExpressionAttributeNames": {"#t": "ttl"},
                  "ExpressionAttributeValues": {":one": n(1), ":g": item["GSI1PK"], ":none": s("none")}}
        return item, update

    def update(self):
        at = self.key()
        item, update = self.updated(at)
        return Attempt({at: item}, True), "UpdateItem", update

    def batch(self):
        changes, requests = {}, []
        for at in {self.key() for _ in range(8)}:
            changes[at] = self.item(at, self.count(at) + 1) if self.random.random() < 0.7 else None
            put = {"PutRequest": {"Item": changes[at]}}
            requests.append(put if changes[at] else {"DeleteRequest": {"Key": {"PK": s(at[0]), "SK": s(at[1])}}})
        return Attempt(changes, False), "BatchWriteItem", {"RequestItems": {"crash": requests}}

    def transaction(self):
        """Puts, deletes and updates of own items, and one unit from an account to another."""
        changes, actions = {}, []
        for at in {self.key() for _ in range(4)}:
            kind = self.random.randrange(3)
            if kind == 0:
                changes[at], update = self.updated(at)
                actions.append({"Update": update})
            elif kind == 1:
                changes[at] = self.item(at, self.count(at) + 1)
                actions.append({"Put": {"TableName": "crash", "Item": changes[at]}})
            else:
                changes[at] = None
                actions.append({"Delete": {"TableName": "crash", "Key": {"PK": s(at[0]), "SK": s(at[1])}}})
        for account, step in zip(self.random.sample(range(ACCOUNTS), 2), (1, -1)):
            actions.append({"Update": {"TableName": "crash", "Key": {"PK": s("account"), "SK": s(account)}, "UpdateExpression": "ADD n :step",
                                       "ExpressionAttributeValues": {":step": n(step)}}})
        request = {"TransactItems": actions}
        again = None
        if self.random.random() < 0.5:
            self.tokens += 1
            request["ClientRequestToken"] = f"{self.name}-{SEED}-{self.tokens}"
            again = ("TransactWriteItems", request)
        return Attempt(changes, True, again), "TransactWriteItems", request

    def apply(self, changes):
        for at, item in changes.items():
            if item:
                self.items[at] = item
            else:
                self.items.pop(at, None)

    def write_until_gone(self, port):
        client = Client(port)
        try:
            while True:
                make = self.random.choice((self.put, self.put, self.update, self.update, self.delete, self.batch, self.transaction, self.transaction))
                self.attempt, operation, request = make()
                client(operation, **request)
                self.apply(self.attempt.changes)
                self.attempt = None
                self.acknowledged += 1
        except Gone:
            pass
        except Exception as error:  # an answer that should not be
            self.broken = error
        client.close()

    def check_after_restart(self, client, table):
        """After a restart: the items are what was acknowledged, and the request that was under way is done or not."""
        attempt, self.attempt = self.attempt, None
        assert self.broken is None, self.broken
        mine = {at: item for at, item in table.items() if at[0].startswith(self.name + "-")}
        if not attempt:
            assert mine == self.items, difference(mine, self.items)
            return
        done = {at: mine.get(at) == item for at, item in attempt.changes.items()}
        undone = {at: mine.get(at) == self.items.get(at) for at in attempt.changes}
        assert all(done[at] or undone[at] for at in done), f"{self.name}: half an item: {attempt.changes}"
        if attempt.is_atomic:
            assert all(done.values()) or all(undone.values()), f"{self.name}: half a transaction: {done}"
        self.apply({at: item for at, item in attempt.changes.items() if done[at]})
        assert mine == self.items, difference(mine, self.items)
        if attempt.again and self.random.random() < 0.8:
            operation, request = attempt.again
            client(operation, **request)
            self.apply(attempt.changes)


def difference(found, expected):
    lost = {at: (found.get(at), item) for at, item in expected.items() if found.get(at) != item}
    new = {at: item for at, item in found.items() if at not in expected}
    return f"lost or changed (found, acknowledged): {lost}; not acknowledged: {new}"


class Tables:
    """Another connection, which creates, fills and deletes tables, and adds an index to one and drops it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.expected = {}   # name -> exists
        self.attempt = None  # name
        self.number = 0
        self.broken = None

    def change(self, client, name, exists):
        self.attempt = name
        if exists:
            client("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("PK"),
                   AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
                   StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
        else:
            client("DeleteTable", TableName=name)
        self.expected[name] = exists
        self.attempt = None

    def run_until_gone(self, port):
        client = Client(port)
        try:
            while True:
                self.number += 1
                name = f"side-{self.number}"
                self.change(client, name, True)
                for i in range(5):
                    client("PutItem", TableName=name, Item={"PK": s(i)})
                client("UpdateTable", TableName=name, AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "g")],
                       GlobalSecondaryIndexUpdates=[{"Create": {"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "ALL"}}}])
                if self.random.random() < 0.8:
                    self.change(client, name, False)
        except Gone:
            pass
        except Exception as error:
            self.broken = error
        client.close()

    def check_after_restart(self, client):
        assert self.broken is None, self.broken
        found = set(client("ListTables")["TableNames"]) - {"crash"}
        if self.attempt:
            self.expected[self.attempt] = self.attempt in found
            self.attempt = None
        assert found == {name for name, exists in self.expected.items() if exists}, (found, self.expected)
        for name in found:
            for _ in range(2000):
                table = client("DescribeTable", TableName=name)["Table"]
                if all(i["IndexStatus"] == "ACTIVE" for i in table.get("GlobalSecondaryIndexes", [])):
                    break
                time.sleep(0.005)
            else:
                raise AssertionError(f"{name}: an index does not become ACTIVE")
            client("DeleteTable", TableName=name)
            self.expected[name] = False


def expire_until_gone(port, broken):
    """One more connection, whose items are due as they are written: the sweep deletes them, before the kill or after it."""
    client = Client(port)
    try:
        for number in range(1_000_000):
            client("PutItem", TableName="crash", Item={"PK": s("due"), "SK": s(number), "GSI1PK": s("due"), "GSI1SK": s(number), "at": s(number),
                                                       "ttl": n(int(time.time()) - 10)})
    except Gone:
        pass
    except Exception as error:
        broken.append(error)
    client.close()


def wait_for_sweep(client):
    for _ in range(2000):
        if client("Query", TableName="crash", KeyConditionExpression="PK = :d", ExpressionAttributeValues={":d": s("due")}, Select="COUNT")["Count"] == 0:
            return
        time.sleep(0.01)
    raise AssertionError("items that are due are not deleted")


class Replay:
    """The stream of the table from its beginning, read on after every restart."""

    def __init__(self):
        self.items = {}
        self.after = {}     # shard -> the last sequence number
        self.closed = set()
        self.latest = 0

    def apply(self, record):
        change = record["dynamodb"]
        at = (change["Keys"]["PK"]["S"], change["Keys"]["SK"]["S"])
        assert int(change["SequenceNumber"]) > self.latest, "the order of sequence numbers"
        self.latest = int(change["SequenceNumber"])
        assert change.get("OldImage") == self.items.get(at), f"{at}: {change.get('OldImage')} before, but {self.items.get(at)} was"
        assert record["eventName"] == ("REMOVE" if "NewImage" not in change else "MODIFY" if at in self.items else "INSERT"), record["eventName"]
        if "NewImage" in change:
            self.items[at] = change["NewImage"]
        else:
            del self.items[at]

    def shards(self, client, stream):
        shards, start = [], {}
        while True:
            page = client.streams("DescribeStream", StreamArn=stream, **start)["StreamDescription"]
            shards += page["Shards"]
            if "LastEvaluatedShardId" not in page:
                return shards
            start = {"ExclusiveStartShardId": page["LastEvaluatedShardId"]}

    def read(self, client):
        stream = client("DescribeTable", TableName="crash")["Table"]["LatestStreamArn"]
        for shard in self.shards(client, stream):
            name = shard["ShardId"]
            if name in self.closed:
                continue
            start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self.after[name]} if name in self.after else {"ShardIteratorType": "TRIM_HORIZON"}
            iterator = client.streams("GetShardIterator", StreamArn=stream, ShardId=name, **start)["ShardIterator"]
            while iterator:
                page = client.streams("GetRecords", ShardIterator=iterator)
                for record in page["Records"]:
                    self.apply(record)
                    self.after[name] = record["dynamodb"]["SequenceNumber"]
                iterator = page.get("NextShardIterator")
                if not page["Records"]:
                    break
            if not iterator:
                self.closed.add(name)


def check_indexes(client, table):
    for name, attributes in INDEXES.items():
        rows = client.all("Scan", TableName="crash", IndexName=name)
        kept = PROJECTED[name]
        expected = [{a: v for a, v in item.items() if not kept or a in kept} for item in table.values() if all(a in item for a in attributes)]
        by_key = lambda item: (item["PK"]["S"], item["SK"]["S"])
        assert sorted(rows, key=by_key) == sorted(expected, key=by_key), f"{name}: not the projection of the items"


def check_file(path, table=None):
    """The file as the killed process left it; with `table` also its queue of expiring items."""
    with copy_of_file(path) as db:
        copy = db.execute("PRAGMA database_list").fetchone()[2]
        sound = subprocess.run([BINARY, "check", copy], capture_output=True, text=True)
        assert sound.returncode == 0, sound.stdout + sound.stderr
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if table is None:
            return
        number = db.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'expiry_%' AND type = 'table'").fetchone()[0].partition("_")[2]
        items = {row[0] for row in db.execute(f"SELECT k FROM items_{number}")}
        queue = [(int.from_bytes(row[0][:8], "big"), row[0][8:]) for row in db.execute(f"SELECT k FROM expiry_{number}")]
        assert all(item in items for _, item in queue), "the queue names an item that is not there"
        expected = sorted(int(item["ttl"]["N"]) for item in table.values() if "ttl" in item)
        assert sorted(at for at, _ in queue) == expected, "the queue's times"


def check(client, writers, tables, replay):
    read = lambda: {(item["PK"]["S"], item["SK"]["S"]): item for item in client.all("Scan", TableName="crash", ConsistentRead=True)}
    wait_for_sweep(client)
    found = read()
    for writer in writers:
        writer.check_after_restart(client, found)
    tables.check_after_restart(client)
    found = read()
    expected = {at: item for writer in writers for at, item in writer.items.items()}
    accounts = {at: item for at, item in found.items() if at[0] == "account"}
    assert found == expected | accounts, difference(found, expected | accounts)
    assert sum(int(item["n"]["N"]) for item in accounts.values()) == ACCOUNTS * START, accounts
    check_indexes(client, found)
    replay.read(client)
    assert replay.items == found, difference(replay.items, found)
    return found


def restart(server, rng):
    """Now and then the start itself is killed."""
    while rng.random() < 0.2:
        process = subprocess.Popen(server.argv, stderr=subprocess.DEVNULL, cwd=server.folder)
        time.sleep(rng.random() * 0.02)
        process.kill()
        process.wait()
    server.start()


def kill_often(durability, kills, seed):
    rng = random.Random(seed)
    server = Server("--durability", durability, "--stream-rotate-records", "300", "--ttl-period", "50", disk=True)
    path = f"{server.folder}/data.db"
    create(Client(server.port))
    writers = [Writer(i, seed) for i in range(WRITERS)]
    tables, replay = Tables(seed), Replay()
    interrupted, broken = 0, []
    for kill in range(kills):
        threads = [threading.Thread(target=w.write_until_gone, args=(server.port,)) for w in writers]
        threads.append(threading.Thread(target=tables.run_until_gone, args=(server.port,)))
        threads.append(threading.Thread(target=expire_until_gone, args=(server.port, broken)))
        for thread in threads:
            thread.start()
        time.sleep(0.01 + rng.random() * 0.3)
        server.kill()
        for thread in threads:
            thread.join()
        assert not broken, broken
        interrupted += sum(1 for w in writers if w.attempt)
        check_file(path)
        restart(server, rng)
        client = Client(server.port)
        try:
            found = check(client, writers, tables, replay)
            check_file(path, found)
        except AssertionError as error:
            raise AssertionError(f"kill {kill} of CRASH_SEED={SEED}: {error}") from error
        client.close()
    again = Replay()
    client = Client(server.port)
    again.read(client)
    assert again.items == replay.items
    acknowledged = sum(w.acknowledged for w in writers)
    print(f"e2e crash: durability {durability}: {kills} kills, {acknowledged} acknowledged writes kept, {interrupted} were under way, "
          f"{len(replay.closed)} shards, {len(replay.items)} items")
    assert acknowledged > 0
    client.close()
    server.stop()


@of_files
def killed_with_durability_normal():
    kill_often("normal", KILLS - 2 * (KILLS // 3), SEED)


@of_files
def killed_with_durability_full():
    kill_often("full", KILLS // 3, SEED + 1)


@of_files
def killed_with_durability_off():
    kill_often("off", KILLS // 3, SEED + 2)


def file_number(path, sql):
    with copy_of_file(path) as db:
        return db.execute(sql).fetchone()[0]


@of_files
def work_in_pieces_goes_on():
    """
    The queue of a table whose TTL is enabled is filled, and the rows of a deleted one are deleted, in pieces, also where each of them is
    interrupted. A new table may have the SQL table of the old one.
    """
    rng = random.Random(SEED)
    server = Server("--ttl-period", "50", disk=True)
    path, rows = f"{server.folder}/data.db", 3000
    client = Client(server.port)
    table = {"BillingMode": "PAY_PER_REQUEST", "KeySchema": key("PK"), "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}]}
    for name, at in (("old", FAR), ("past", 1_790_000_000)):
        client("CreateTable", TableName=name, **table)
        for first in range(0, rows, 25):
            client("BatchWriteItem", RequestItems={name: [
                {"PutRequest": {"Item": {"PK": s(i), "ttl": n(at + i % 100), "pad": s("x" * 300)}}} for i in range(first, first + 25)]})
    enable = {"Enabled": True, "AttributeName": "ttl"}
    client("UpdateTimeToLive", TableName="old", TimeToLiveSpecification=enable)
    until(lambda: file_number(path, "SELECT count(*) FROM expiry_1") == rows, "the queue is not filled")
    client("UpdateTimeToLive", TableName="past", TimeToLiveSpecification=enable)
    client("DeleteTable", TableName="old")
    client("CreateTable", TableName="old", **table)
    client("PutItem", TableName="old", Item={"PK": s("new")})
    pieces = 0
    for _ in range(6):
        time.sleep(rng.random() * 0.05)
        server.kill()
        check_file(path)
        pieces += file_number(path, "SELECT count(*) FROM system_places WHERE hex(k) LIKE '64%'") > 0
        server.start()
    client = Client(server.port)
    assert client.all("Scan", TableName="old") == [{"PK": s("new")}]
    until(lambda: client.all("Scan", TableName="past") == [], "items that were there when TTL was enabled do not expire")
    until(lambda: file_number(path, "SELECT count(*) FROM expiry_1 WHERE length(v) = 1") == 0, "rows of the deleted queue are left")
    until(lambda: file_number(path, "SELECT count(*) FROM items_1 WHERE length(v) > 100") == 0, "rows of the deleted table are left")
    assert client.all("Scan", TableName="old") == [{"PK": s("new")}]
    client.close()
    server.kill()
    check_file(path)
    print(f"e2e crash: work in pieces was under way at {pieces} of 6 kills")


def create_indexed(client):
    client("CreateTable", TableName="groups", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "g")],
           GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "ALL"}}])


def puts(names):
    return b"".join(raw.request("PutItem", json.dumps({"TableName": "groups", "Item": {"PK": s(name), "g": s("all")}}).encode()) for name in names)


def write_until_killed(server, written, tag):
    """Many connections put at the same moment, each several items. Gives how many were acknowledged; the server is killed meanwhile."""
    connections = [raw.connect(server) for _ in range(16)]
    acknowledged = 0
    timer = threading.Timer(random.Random(f"{SEED} {tag}").uniform(0.05, 0.4), server.kill)
    timer.start()
    try:
        for round in range(100000):
            names = [[f"{tag}-{i}-{round}-{k}" for k in range(4)] for i in range(len(connections))]
            for connection, own in zip(connections, names):
                connection.sendall(puts(own))
            for connection, own in zip(connections, names):
                for name in own:
                    reply = raw.read_reply(connection)
                    if not reply or len(reply.body) < int(reply.headers["content-length"]):
                        return acknowledged
                    assert reply.status == 200, reply.body
                    written.add(name)
                    acknowledged += 1
    except ConnectionError:
        return acknowledged
    finally:
        timer.join()
        for connection in connections:
            connection.close()


@of_files
def kills_of_many_writers():
    """Writes of several connections at once: none is answered before its commit."""
    server = Server("--threads", "1", disk=True)
    create_indexed(Client(server.port))
    written = set()
    connections = [raw.connect(server) for _ in range(16)]
    for i, connection in enumerate(connections):
        connection.sendall(puts(f"{i}-{k}" for k in range(20)))
    for i, connection in enumerate(connections):
        for k in range(20):
            assert raw.read_reply(connection).status == 200
            written.add(f"{i}-{k}")
        connection.close()
    acknowledged = 0
    for kill in range(max(2, KILLS // 3)):
        acknowledged += write_until_killed(server, written, f"kill{kill}")
        server.start()
        client = Client(server.port)
        items = {item["PK"]["S"] for item in client.all("Scan", TableName="groups")}
        assert written <= items, sorted(written - items)[:5]
        assert items == {item["PK"]["S"] for item in client.all("Scan", TableName="groups", IndexName="by-g")}
        written |= items
    assert acknowledged
    server.stop()


run("crash", [killed_with_durability_normal, killed_with_durability_full, killed_with_durability_off, work_in_pieces_goes_on, kills_of_many_writers])
