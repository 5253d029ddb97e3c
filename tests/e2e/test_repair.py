"""Flipped bytes in data files: the server gives no wrong answer, check finds them, and check --repair brings back every item whose pages are sound.

REPAIR_FLIPS=N flips N bytes in all (default 20), REPAIR_SEED=N chooses them."""
import base64
import functools
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import time
import urllib.request

import pages
from harness import BINARY, Server, create_app, key, of_files, run, until
from wire import Client, Gone, Refused

FLIPS = int(os.environ.get("REPAIR_FLIPS", "20"))
SEED = int(os.environ.get("REPAIR_SEED", "1"))
PER_FILE = 10
TABLES = ("app", "twin", "late")  # their items lie in the SQL tables items_1, items_2 and items_3
IS_LONG = FLIPS >= 200
ITEMS = 1500 if IS_LONG else 500


def dynalith(*words, timeout=120):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=timeout)
    assert done.returncode in (0, 1, 2, 3), done
    return done.returncode, done.stdout.splitlines(), done.stderr


def item_of(draw, i):
    item = {"PK": {"S": f"p{i % 40}"}, "SK": {"S": f"s{i}"}, "GSI1PK": {"S": f"g{i % 3}"}, "GSI1SK": {"S": str(i)}, "at": {"S": str(i)},
            "total": {"N": f"{i}.50"}, "pad": {"B": base64.b64encode(draw.randbytes(draw.choice((9, 90, 300, 900, 9000)))).decode()}}
    if i % 2:
        item |= {"GSI2PK": {"S": f"h{i % 7}"}, "end": {"N": str(4_000_000_000 + i)}, "e": {"L": [{"N": str(i + k)} for k in range(8)]}}
    return item


def make_file(server):
    """
    Indexes of all kinds, streams, time to live, a second table alike the first, one that was deleted, one that has the SQL table of that, values from one
    byte to three pages.
    """
    client, wire, draw = server.client(), Client(server.port), random.Random(7)
    for name in ("app", "twin"):
        create_app(client, name)
    wire("UpdateTimeToLive", TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "end"})
    wire("UpdateTable", TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    wire("UpdateTable", TableName="app", VectorIndexUpdates=[{"Create": {
        "IndexName": "near", "VectorAttribute": {"AttributeName": "e"}, "Dimensions": 8, "DistanceFunction": "COSINE",
        "Projection": {"ProjectionType": "KEYS_ONLY"}}}])
    for at in range(0, ITEMS, 25):
        requests = [{"PutRequest": {"Item": item_of(draw, i)}} for i in range(at, at + 25)]
        for table, some in (("app", requests), ("twin", requests[:5])):
            wire("BatchWriteItem", RequestItems={table: some})
    for i in range(0, ITEMS, 9):
        wire("DeleteItem", TableName="app", Key={"PK": {"S": f"p{i % 40}"}, "SK": {"S": f"s{i}"}})
    wire("CreateTable", TableName="gone", BillingMode="PAY_PER_REQUEST", KeySchema=key("a"),
         AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}],
         StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    wire("PutItem", TableName="gone", Item={"a": {"S": "1"}})
    wire("DeleteTable", TableName="gone")
    create_app(client, "late")
    wire("BatchWriteItem", RequestItems={"late": [{"PutRequest": {"Item": item_of(draw, i)}} for i in range(25)]})


class Original:
    """A sound file, and what is in it."""

    def __init__(self):
        self.server = Server(disk=True)
        make_file(self.server)
        self.items = read_all(self.server)
        stop(self.server)
        self.path = f"{self.server.folder}/sound.db"
        shutil.move(f"{self.server.folder}/data.db", self.path)
        self.rows, self.kinds = pages.rows_of(self.path)
        self.size = os.path.getsize(self.path)

    def copy(self):
        """A copy in place of the server's file."""
        self.server.kill()
        path = f"{self.server.folder}/data.db"
        for name in os.listdir(self.server.folder):
            if name.startswith("data.db"):
                os.unlink(f"{self.server.folder}/{name}")
        shutil.copy(self.path, path)
        return path

    def damage(self, draw, flips):
        """The same with flipped bytes; the pages that have them."""
        path, places = self.copy(), draw.sample(range(self.size), flips)
        for at in places:
            flip(path, at, draw.randrange(1, 256))
        return path, {at // pages.PAGE + 1 for at in places}

    def pages_of(self, name, *kinds):
        return [number for number, (owner, kind) in self.kinds.items() if owner == name and kind in kinds]


@functools.cache
def original():
    return Original()


def flip(path, at, bits):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ bits]))


def overwrite(path, draw, numbers):
    """Nothing is left of these pages."""
    with open(path, "r+b") as file:
        for number in numbers:
            file.seek((number - 1) * pages.PAGE)
            file.write(draw.randbytes(pages.PAGE))


def name_of(item):
    return item["PK"]["S"], item["SK"]["S"]


def read_all(server):
    wire = Client(server.port)
    return {table: {name_of(item): item for item in wire.all("Scan", TableName=table)} for table in TABLES}


def answers_are_right(original):
    """Each item as it was, or an error; whatever is damaged, the process goes on."""
    server = original.server
    try:
        server.start()
    except AssertionError as refused:
        assert "ended at once" in str(refused) and "dynalith: " in str(refused), refused
        return
    wire = Client(server.port)
    for table, items in original.items.items():
        for (pk, sk), item in list(items.items())[::7]:
            try:
                found = wire("GetItem", TableName=table, Key={"PK": {"S": pk}, "SK": {"S": sk}}).get("Item")
                assert found == item, (table, pk, sk, found)
            except Refused as refused:
                assert refused.status == 500, refused
        for parameters in ({}, {"IndexName": "GSI1"}):
            try:
                for item in wire.all("Scan", TableName=table, **parameters):
                    assert items[name_of(item)] == item, (table, item)
            except Refused as refused:
                assert refused.status == 500, refused
    assert server.process.poll() is None
    server.kill()


def name_of_row(image):
    """The key in an item's image: the length of a name, the name, a type, a length, a text."""
    def text(name):
        at = image.index(bytes([len(name)]) + name) + len(name) + 2
        return image[at + 1:at + 1 + image[at]].decode()
    return text(b"PK"), text(b"SK")


def check_what_is_back(original, damaged, aside, found, where):
    told = {(row.get("table"), row["key"]) for row in aside if "key" in row}
    for number, table in enumerate(TABLES, 1):
        for name, item in found[table].items():
            assert original.items[table][name] == item, (where, table, name)
        for row in original.rows[f"items_{number}"].values():
            if name_of_row(row.value) in found[table]:
                continue
            assert row.pages & damaged, (where, table, name_of_row(row.value), row.pages)
            assert (table, base64.b64encode(row.key).decode()) in told, (where, table, name_of_row(row.value), row.pages)


def aside_of(path):
    if not os.path.exists(path + ".damaged"):
        return []
    with open(path + ".damaged", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def repair(path, where):
    """The status and lines of a repair, after which the file is sound; and the rows set aside."""
    status, lines, problem = dynalith("check", path, "--repair")
    assert status in (0, 3) and os.path.exists(path + ".before-repair"), (problem, where, status, lines)
    aside = aside_of(path)
    assert status == 3 or not aside, (where, lines)
    sound = dynalith("check", path)
    assert sound[0] == 0, (where, sound)
    return status, lines, aside


def repair_and_compare(path, damaged, where):
    status, lines, problem = dynalith("check", path)
    assert status == 3 and len(lines) > 1, (where, status, lines, problem)
    # the store reads some pages when it opens: then the check says no more than that
    is_open = not any("cannot open" in line or "left alone" in line or "page 1 fails" in line or line.startswith("the data file is damaged") for line in lines)
    for number in damaged:
        assert not is_open or any(f"page {number} fails" in line for line in lines), (where, number, lines)
    status, lines, aside = repair(path, where)
    original().server.start()
    found = read_all(original().server)
    check_what_is_back(original(), damaged, aside, found, where)
    stop(original().server)
    return status, sum(map(len, original().items.values())) - sum(map(len, found.values())), len(aside)


def stop(server):
    server.process.terminate()
    assert server.process.wait(120) == 0


def where(damaged, *more):
    return (SEED, *more, sorted((number, original().kinds.get(number)) for number in damaged))


@of_files
def flipped_bytes():
    lost = asides = rounds = 0
    for left in range(FLIPS, 0, -PER_FILE):
        draw = random.Random(SEED * 1000 + rounds)
        path, damaged = original().damage(draw, min(PER_FILE, left))
        answers_are_right(original())
        _, one, other = repair_and_compare(path, damaged, where(damaged, rounds))
        lost, asides, rounds = lost + one, asides + other, rounds + 1
    print(f"repair: {FLIPS} flipped bytes, {PER_FILE} a file: {lost} of {rounds * sum(map(len, original().items.values()))} items were on damaged pages, "
          f"{asides} rows set aside")


@of_files
def many_flipped_bytes_in_one_file():
    path, damaged = original().damage(random.Random(SEED), 200)
    answers_are_right(original())
    repair_and_compare(path, damaged, where(damaged))


@of_files
def pages_above_items():
    """Without them all leaves are found by the index."""
    inner = original().pages_of("items_1", "internal") + original().pages_of("items_2", "internal")
    assert len(inner) >= 2, inner
    path = original().copy()
    overwrite(path, random.Random(SEED), inner)
    _, lost, _ = repair_and_compare(path, set(inner), where(inner))
    assert lost == 0, lost


@of_files
def the_first_page():
    """One wrong byte in it, anywhere, costs nothing, also where a page of table records has one too; nor do some in its head where a log has not been moved yet."""
    draw = random.Random(SEED)
    for at in (3, 20, 63, *draw.sample(range(pages.PAGE), 20 if IS_LONG else 1)):
        path = original().copy()
        flip(path, at, draw.randrange(1, 256))
        flip(path, (draw.choice(original().pages_of("system_tables", "leaf")) - 1) * pages.PAGE + draw.randrange(pages.PAGE), 1)
        status, lost, asides = repair_and_compare(path, {1}, at)
        assert (status, lost, asides) == (0, 0, 0), (at, status, lost, asides)
    for places in ((70,), (3, 4, 20)):
        path = original().copy()
        original().server.start()
        Client(original().server.port)("PutItem", TableName="twin", Item={"PK": {"S": "late"}, "SK": {"S": "1"}})
        original().server.kill()
        assert os.path.getsize(path + "-wal") > 0
        for at in places:
            flip(path, at, 1)
        repair(path, "log")
        original().server.start()
        assert "Item" in Client(original().server.port)("GetItem", TableName="twin", Key={"PK": {"S": "late"}, "SK": {"S": "1"}})
        stop(original().server)


@of_files
def rows_that_do_not_agree():
    """Rows of indexes, of the queue and of shards follow from others; of a table without its record nothing does."""
    path = original().copy()
    first, second, third, fifth = (pages.index(path, 1, number) for number in (0, 1, 2, 4))
    assert {name[:4] for name in (first, second, third, fifth)} == {"keys", "inde"}, (first, second, third, fifth)  # both kinds
    some = "WHERE k IN (SELECT k FROM {0} ORDER BY substr(k, 4) LIMIT 100)"
    pages.change(path, f"DELETE FROM {first} {some.format(first)}", f"UPDATE {second} SET v = x'00' {some.format(second)}",
                 f"INSERT INTO {third} VALUES (x'1234', x'00')", "DELETE FROM expiry_1", f"DELETE FROM {pages.index(path, 2, 0)}",
                 f"DELETE FROM {fifth} {some.format(fifth)}")
    status, lost, asides = repair_and_compare(path, set(), "rows")
    assert (status, lost, asides) == (0, 0, 0), (status, lost, asides)
    path = original().copy()
    pages.change(path, f"DELETE FROM {pages.stream(1)} AND hex(k) LIKE '01%'")
    status, lost, asides = repair_and_compare(path, set(), "shards")
    assert (status, lost, asides) == (3, 0, 0), (status, lost, asides)
    path = original().copy()
    pages.change(path, "DELETE FROM system_tables WHERE CAST(k AS TEXT) LIKE '%twin%' OR hex(k) LIKE '%7477696E'", "DELETE FROM system_counters")
    lines = dynalith("check", path)[1]
    assert "there are rows of table number 2, and no record of it" in lines, lines
    status, lines, aside = repair(path, "record")
    assert status == 3 and len([row for row in aside if row["reason"] == "the record of its table is lost" and "item" in row]) == ITEMS // 5, (lines, len(aside))
    original().server.start()
    wire = Client(original().server.port)
    wire("CreateTable", TableName="twin", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK"), AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}])
    assert wire.all("Scan", TableName="twin") == []
    stop(original().server)


@of_files
def shards_of_several_lanes():
    """No record is lost with the rows of shards: of an earlier stream, of the one that is enabled, of both."""
    server = Server("--stream-shards", "4", disk=True)
    wire = Client(server.port)
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    wire("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK"), AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
         StreamSpecification=stream)
    arns = [wire("DescribeTable", TableName="tab")["Table"]["LatestStreamArn"]]

    def put(name):
        for i in range(24):
            wire("PutItem", TableName="tab", Item={"PK": {"S": f"{name}{i}"}})

    put("a")
    wire("UpdateTable", TableName="tab", StreamSpecification={"StreamEnabled": False})
    wire("UpdateTable", TableName="tab", StreamSpecification=stream)
    arns.append(wire("DescribeTable", TableName="tab")["Table"]["LatestStreamArn"])
    put("b")
    stop(server)
    path = server.argv[server.argv.index("--db-path") + 1]
    whole = path + ".whole"
    shutil.copy(path, whole)
    shards = f"{pages.stream(1)} AND hex(k) LIKE '01%'"
    for lost in (f"{shards} AND k IN (SELECT k FROM {shards} ORDER BY k LIMIT 4)", f"{shards} AND k IN (SELECT k FROM {shards} ORDER BY k DESC LIMIT 4)", shards):
        for name in glob.glob(path + "*"):
            if name != whole:
                os.remove(name)
        shutil.copy(whole, path)
        pages.change(path, "DELETE FROM " + lost)
        repair(path, lost)
        server.start()
        wire, found = Client(server.port), []
        for arn in arns:
            for shard in wire.streams("DescribeStream", StreamArn=arn)["StreamDescription"]["Shards"]:
                at = wire.streams("GetShardIterator", StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
                found += [r["dynamodb"]["Keys"]["PK"]["S"] for r in wire.streams("GetRecords", ShardIterator=at)["Records"]]
        assert sorted(found) == sorted(f"{name}{i}" for name in "ab" for i in range(24)), (lost, found)
        put("c")
        stop(server)
        assert dynalith("check", path)[0] == 0, lost
    server.stop()


@of_files
def killed_repairs():
    """At every moment the file is the old one or the repaired one, and the next repair ends what was begun."""
    draw = random.Random(SEED)
    seen = set()
    for i in range(40 if IS_LONG else 4):
        path, damaged = original().damage(draw, 3)
        process = subprocess.Popen([BINARY, "check", path, "--repair"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draw.random() * (1.2 if IS_LONG else 0.5))
        process.send_signal(signal.SIGKILL)
        seen.add(process.wait())
        status = dynalith("check", path)[0]
        assert status in (0, 3), status
        if status == 3:
            repair(path, i)
        assert dynalith("check", path)[0] == 0
        assert sorted(name for name in os.listdir(original().server.folder) if "repairing" in name) == []
    assert -signal.SIGKILL in seen or not IS_LONG


@of_files
def states_are_left():
    """Checkpoints and snapshots are not taken over, and a line says so."""
    server = Server(disk=True)
    wire, path = Client(server.port), f"{server.folder}/data.db"
    create_app(server.client())
    for i in range(50):
        wire("PutItem", TableName="app", Item={"PK": {"S": "p"}, "SK": {"S": str(i)}})
    for method, what, body in (("POST", "checkpoints", b'{"name": "one"}'), ("PUT", "snapshots/one", None)):
        urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/{what}", method=method, data=body)).close()
    stop(server)
    flip(path, os.path.getsize(path) // pages.PAGE * pages.PAGE - pages.PAGE + 100, 1)
    status, lines, _ = repair(path, "states")
    assert status == 3 and any(line.startswith("checkpoints and snapshots are not taken over") for line in lines), lines
    server.start()
    assert [json.load(urllib.request.urlopen(f"{server.url}/_dynalith/{what}")) for what in ("checkpoints", "snapshots")] == [{"checkpoints": []}, {"snapshots": []}]
    server.stop()


@of_files
def misuse():
    path = original().copy()
    for words in (["check", "--repair"], ["check", path, "--damaged", "x"], ["check", path, "--repair", "--damaged"], ["backup", path, "x", "--repair"]):
        status, lines, problem = dynalith(*words)
        assert status == 2 and not lines and "see dynalith help" in problem, (words, status, lines, problem)
    status, lines, _ = dynalith("check", path, "--repair")
    assert status == 0 and len(lines) == 1 and not os.path.exists(path + ".before-repair"), lines
    flip(path, pages.PAGE * 20 + 9, 1)
    for taken in (path + ".damaged", path + ".before-repair"):
        with open(taken, "wb") as file:
            file.write(b"of an earlier repair")
        status, _, problem = dynalith("check", path, "--repair")
        assert status == 1 and taken in problem, (status, problem)
        os.unlink(taken)
    original().server.start()
    original().server.kill()
    with open(path, "rb") as file:
        before = file.read()
    os.rename(path + "-wal", path + "-kept") if os.path.exists(path + "-wal") else None
    original().server.start()
    status, _, problem = dynalith("check", path, "--repair")
    assert status == 1 and "in use" in problem, (status, problem)
    original().server.kill()
    status, _, _ = dynalith("check", path, "--repair", "--damaged", path + ".elsewhere")
    assert status in (0, 3) and not os.path.exists(path + ".damaged")
    with open(path + ".before-repair", "rb") as file:
        assert len(file.read()) == len(before)


run("repair", [flipped_bytes, many_flipped_bytes_in_one_file, pages_above_items, the_first_page, rows_that_do_not_agree, shards_of_several_lanes, killed_repairs, states_are_left, misuse])
