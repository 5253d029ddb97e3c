"""A disk that is full, or data at its limit, as clients see it: no wrong answer, and all goes on when there is room again."""
import contextlib
import functools
import os
import resource
import shutil
import subprocess
import tempfile
import json
import threading
import time
import urllib.error
import urllib.request

import raw
from harness import BINARY, Server, copy_of_file, key, of_files, raises, run, sizes_in, until
from wire import Client, Refused, s

FULL = ("InternalServerError", 500)


def create(client):
    client("CreateTable", TableName="disk", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "g")],
           GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "ALL"}}])


def item(name, size):
    return {"PK": s(name), "g": s("all"), "pad": s("x" * size)}


def fill(client, written, size, tag, most=3000):
    """Writes until the disk is full; what was acknowledged goes to `written`, the error that ended it is returned."""
    for i in range(most):
        name = f"{tag}-{i}"
        try:
            client("PutItem", TableName="disk", Item=item(name, size))
            written[name] = size
        except Refused as refused:
            assert (refused.name, refused.status) == FULL, refused
            return refused
    raise AssertionError("the disk was never full")


def check(client, written):
    for index in ({}, {"IndexName": "by-g"}):
        found = {i["PK"]["S"]: len(i["pad"]["S"]) for i in client.all("Scan", TableName="disk", **index)}
        assert found == written, (index, found.keys() - written.keys(), written.keys() - found.keys())


def fill_from_several(server, written):
    clients = [Client(server.port) for _ in range(4)]
    own = [{} for _ in clients]
    errors = []

    def work(number):
        try:
            fill(clients[number], own[number], 3000, f"t{number}")
        except AssertionError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    for part in own:
        written |= part


def check_transactions(client, written):
    """All or nothing on a full disk too."""
    try:
        client("TransactWriteItems", TransactItems=[{"Put": {"TableName": "disk", "Item": item(f"both-{i}", 300_000)}} for i in range(8)])
        written |= {f"both-{i}": 300_000 for i in range(8)}
    except Refused as refused:
        assert (refused.name, refused.status) == FULL, refused
    check(client, written)


def use_full_disk(server, make_room):
    client = Client(server.port)
    create(client)
    written = {}
    fill(client, written, 100_000, "large")
    fill_from_several(server, written)
    check(client, written)
    check_transactions(client, written)
    assert server.process.poll() is None
    make_room()
    for i in range(5):
        client("PutItem", TableName="disk", Item=item(f"after-{i}", 50_000))
        written[f"after-{i}"] = 50_000
    name = next(iter(written))
    client("DeleteItem", TableName="disk", Key={"PK": s(name)})
    del written[name]
    check(client, written)
    server.kill()
    with copy_of_file(server.argv[server.argv.index("--db-path") + 1]) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    server.start()
    client.close()
    check(Client(server.port), written)


def by_prlimit(test):
    """Of tests that limit a running server: skipped where the system has no call for that."""
    @functools.wraps(test)
    def run_or_skip(*arguments):
        if hasattr(resource, "prlimit"):
            test(*arguments)
        else:
            print("e2e disk: no prlimit here: skipped")
    return run_or_skip


@of_files
def a_small_file_system():
    """A tmpfs, where this process may mount one."""
    folder = tempfile.mkdtemp(prefix="dynalith-tmpfs-")
    mount = lambda options: subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode == 0
    try:
        if os.geteuid() != 0 or not mount("size=3m"):
            print("e2e disk: no tmpfs can be mounted here: skipped")
            return
        server = Server("--db-path", f"{folder}/data.db", "--durability", "full")
        server.kill()
        server.start()
        use_full_disk(server, lambda: mount("remount,size=32m"))
        server.stop()
    finally:
        subprocess.run(["umount", folder], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


@of_files
def a_full_disk_with_a_reserve():
    """Reads and deletes go on, as many as there are; the server starts; all goes on when there is room."""
    folder = tempfile.mkdtemp(prefix="dynalith-tmpfs-")
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", folder], capture_output=True).returncode != 0:
        print("e2e disk: no tmpfs can be mounted here: skipped")
        return
    try:
        server = Server("--db-path", f"{folder}/data.db")
        server.kill()
        server.start()
        client = Client(server.port)
        create(client)
        client("UpdateTable", TableName="disk", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        written = {}
        for _ in range(100):
            if os.path.exists(f"{folder}/data.db-reserve") and os.path.getsize(f"{folder}/data.db-reserve") > 0:
                break
            time.sleep(0.05)
        for size in (20_000, 3_000, 10):
            fill(client, written, size, f"s{size}")
        check(client, written)
        for start in (False, True, True):
            if start:
                client.close()
                server.kill()
                server.start()
                client = Client(server.port)
                check(client, written)
            for name in list(written)[:len(written) // 3]:
                client("DeleteItem", TableName="disk", Key={"PK": s(name)})
                del written[name]
            check(client, written)
        subprocess.run(["mount", "-o", "remount,size=80m", folder], check=True)
        for i in range(30):
            client("PutItem", TableName="disk", Item=item(f"after-{i}", 50_000))
            written[f"after-{i}"] = 50_000
        check(client, written)
        client.close()
        server.process.terminate()
        assert server.process.wait(120) == 0
        # nothing is left, not even the reserve
        os.unlink(f"{folder}/data.db-reserve")
        with open(f"{folder}/filler", "wb", 0) as filler:
            with contextlib.suppress(OSError):
                while filler.write(bytes(4096)):
                    pass
        server.start()
        client = Client(server.port)
        check(client, written)
        fill(client, {}, 100_000, "more", 5)
        check(client, written)
        time.sleep(1)
        os.unlink(f"{folder}/filler")
        client("PutItem", TableName="disk", Item=item("end", 10))
        written["end"] = 10
        check(client, written)
        client.close()
        server.process.terminate()
        told = server.process.stderr.read().decode()
        assert server.process.wait(120) == 0 and told.count("the disk of the data file is full: reads and deletes go on") == 1, told
    finally:
        subprocess.run(["umount", folder], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


@of_files
def deletes_behind_the_last_write():
    """The disk is full of a log that is not moved yet, and no reserve may be there: the deletes that follow at once find room all the same."""
    folder = tempfile.mkdtemp(prefix="dynalith-tmpfs-")
    try:
        for _ in range(3):
            if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True).returncode != 0:
                print("e2e disk: no tmpfs can be mounted here: skipped")
                return
            server = Server("--db-path", f"{folder}/data.db")
            client = Client(server.port)
            create(client)
            written = {}
            fill(client, written, 20_000, "large")
            for name in written:
                client("DeleteItem", TableName="disk", Key={"PK": s(name)})
            check(client, {})
            client.close()
            server.stop()
            subprocess.run(["umount", folder], check=True)
    finally:
        subprocess.run(["umount", folder], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


@of_files
@by_prlimit
def a_limit_of_the_file_size(*flags):
    """RLIMIT_FSIZE: writes beyond it fail with EFBIG, and would by default end the process with a signal."""
    server = Server(*flags, disk=True)
    limit_files(server, 2_000_000)
    use_full_disk(server, lambda: limit_files(server))
    server.stop()


def limit_files(server, size=None):
    """RLIMIT_FSIZE of a running server, in bytes; without a size the limit ends."""
    hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def put_many_at_once(server, names):
    """Puts an item of each name, over 16 connections at the same moment. The names that were answered by 200; all others by 500."""
    connections = [raw.connect(server) for _ in range(16)]
    done = set()
    for i, connection in enumerate(connections):
        bodies = [json.dumps({"TableName": "disk", "Item": item(name, 1000)}).encode() for name in names[i::16]]
        connection.sendall(b"".join(raw.head("PutItem", b"Origin: http://localhost", b"Content-Length: %d" % len(body)) + b"\r\n" + body for body in bodies))
    for i, connection in enumerate(connections):
        for name in names[i::16]:
            reply = raw.read_reply(connection)
            assert reply and reply.headers["x-amzn-requestid"] and reply.headers["access-control-allow-origin"], name
            if reply.status == 200:
                done.add(name)
            else:
                assert reply.status == 500 and b"#InternalServerError" in reply.body, reply.body
        connection.close()
    return done


@of_files
@by_prlimit
def many_at_once_on_a_full_disk():
    """Writes of many clients: each is answered as it ended, and counted once. On a busy machine they take longer than a connection may be idle."""
    server = Server("--threads", "1", disk=True)
    client = Client(server.port)
    create(client)
    names = [f"{i:05}" for i in range(3000)]
    limit_files(server, 2_000_000)
    written = put_many_at_once(server, names)
    assert 0 < len(written) < len(names), len(written)
    check(Client(server.port), {name: 1000 for name in written})
    assert Client(server.port)("DescribeTable", TableName="disk")["Table"]["ItemCount"] == len(written)
    limit_files(server)
    assert put_many_at_once(server, names) == set(names)
    check(Client(server.port), {name: 1000 for name in names})
    assert Client(server.port)("DescribeTable", TableName="disk")["Table"]["ItemCount"] == len(names)
    server.stop()


@of_files
@by_prlimit
def what_a_recording_shows_has_happened():
    """Writes that are lost with the commit of their group are not recorded as done."""
    server = Server("--threads", "1", disk=True)
    recording = f"{server.folder}/recording"
    server.argv += ["--record", recording, "--record-values", "masked"]  # masked, its lines stay below the limit
    server.kill()
    server.start()
    client = Client(server.port)
    create(client)
    limit_files(server, 1_500_000)
    names = [f"{i:05}" for i in range(2000)]
    written = put_many_at_once(server, names)
    limit_files(server)
    check(Client(server.port), {name: 1000 for name in written})
    with open(recording) as lines:
        puts = [line["status"] for line in map(json.loads, lines) if line.get("operation") == "PutItem"]
    server.stop()
    assert len(puts) == len(names) and 0 < puts.count(200) == len(written) < len(names), (len(puts), puts.count(200), len(written))


@of_files
def a_full_disk_under_a_limit_of_the_data():
    """A disk that is full before the data is at its limit is told as such."""
    a_limit_of_the_file_size("--data-limit-mb", "64")


LIMIT = 8


def refused(call, **parameters):
    message = raises("ItemCollectionSizeLimitExceededException", call, **parameters)
    assert message == f"The data has reached the limit of {LIMIT} MB: delete items, or give the server a higher limit", message
    assert raises.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def usage(server):
    """Used and most bytes, as health says and metrics do."""
    with urllib.request.urlopen(f"{server.url}/_dynalith/health") as reply:
        data = json.load(reply)["data"]
    with urllib.request.urlopen(f"{server.url}/_dynalith/metrics") as reply:
        figures = dict(line.split() for line in reply.read().decode().splitlines() if line.startswith("dynalith_data_"))
    assert float(figures["dynalith_data_max_bytes"]) == data["max_bytes"] == LIMIT << 20
    assert sum(float(figures[f"dynalith_data_{n}"]) for n in ("bytes", "free_bytes", "log_bytes")) <= LIMIT << 20, figures
    return data["used_bytes"], float(figures["dynalith_data_free_bytes"])


def fill_by_sdk(table, size):
    """Puts items until one is refused; their keys."""
    names = []
    while len(names) < 2000:
        try:
            table.put_item(Item={"PK": f"{len(names):06}", "g": "all", "pad": "x" * size, "ttl": int(time.time()) - 100})
        except table.meta.client.exceptions.ItemCollectionSizeLimitExceededException:
            return names
        names.append(f"{len(names):06}")
    raise AssertionError("the limit was never reached")


def check_folder(server):
    """The data and its log; the reserve is for a full disk."""
    sizes = {name: size for name, size in sizes_in(server.folder).items() if not name.endswith("-reserve")}
    assert sum(sizes.values()) <= LIMIT << 20, sizes


@of_files
def a_limit_of_the_data():
    """--data-limit-mb by boto3: fill, read, shrink, delete, write again; upkeep goes on, and the server starts at its limit."""
    for disk in (False, True):
        server = Server("--data-limit-mb", str(LIMIT), "--ttl-period", "0", "--durability", "off", disk=disk)
        client, table = server.client(), server.resource().Table("disk")
        create(Client(server.port))
        names = fill_by_sdk(table, 50_000)
        assert 110 < len(names) < 160, len(names)  # the index has keys only
        check_folder(server)
        assert usage(server)[0] > (LIMIT << 20) * 0.8
        item = {"PK": s("more"), "g": s("all"), "pad": s("x" * 50_000)}
        for operation, parameters in (("put_item", {"TableName": "disk", "Item": item}),
                                      ("batch_write_item", {"RequestItems": {"disk": [{"PutRequest": {"Item": item}}]}}),
                                      ("transact_write_items", {"TransactItems": [{"Put": {"TableName": "disk", "Item": item}}]})):
            refused(getattr(client, operation), **parameters)
        found = {i["PK"]["S"] for page in client.get_paginator("scan").paginate(TableName="disk") for i in page["Items"]}
        assert found == set(names)
        for name in names[:5]:
            table.update_item(Key={"PK": name}, UpdateExpression="SET #p = :p", ExpressionAttributeNames={"#p": "pad"},
                              ExpressionAttributeValues={":p": "x" * 40_000})
        for name in names[:20]:
            table.delete_item(Key={"PK": name})
        assert usage(server)[1] > 20 * 40_000
        for name in names[:15]:
            table.put_item(Item={"PK": name, "g": "all", "pad": "x" * 50_000, "ttl": int(time.time()) - 100})
        fill_by_sdk(table, 50_000)
        if disk:
            check_folder(server)
            server.kill()
            server.start()
        refused(client.put_item, TableName="disk", Item={**item, "pad": s("x" * 300_000)})
        client.update_time_to_live(TableName="disk", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", b'{"advance": 1}', method="POST"))
        assert client.scan(TableName="disk", Select="COUNT")["Count"] == 0
        client.put_item(TableName="disk", Item={**item, "pad": s("x" * 300_000)})
        client.delete_table(TableName="disk")
        server.stop()


@of_files
def no_room_to_start():
    """A start without room fails in one line, or serves what there is; it does no harm."""
    server = Server(disk=True)
    client = Client(server.port)
    create(client)
    client("PutItem", TableName="disk", Item=item("one", 10))
    client.close()
    server.kill()
    # the limit is this process's too while it starts the server: it writes no file then
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        server.start()
        client = Client(server.port)
        check(client, {"one": 10})
        fill(client, {}, 100_000, "large", 1)
        check(client, {"one": 10})
        client.close()
        server.kill()
    except AssertionError as error:
        assert "ended at once" in str(error) and str(error).count("\\n") <= 1, error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    server.start()
    client = Client(server.port)
    check(client, {"one": 10})
    client("PutItem", TableName="disk", Item=item("two", 10))
    client.close()
    server.stop()


@of_files
def a_file_that_is_taken_away():
    """A data file that is removed or replaced under the server: one line in the log, no write is acknowledged any more."""
    def replace(path):
        with open(path + ".new", "wb") as other:
            other.write(b"another file")
        os.rename(path + ".new", path)

    for take in (os.unlink, replace):
        server = Server("--ttl-period", "0", disk=True)
        client = Client(server.port)
        create(client)
        client("PutItem", TableName="disk", Item=item("one", 10))
        take(f"{server.folder}/data.db")
        time.sleep(1)
        for _ in range(3):
            try:
                client("PutItem", TableName="disk", Item=item("two", 10))
                raise AssertionError("a write without a file was acknowledged")
            except Refused as refused:
                assert (refused.name, refused.status) == FULL, refused
        check(client, {"one": 10})
        time.sleep(1)
        client.close()
        server.process.terminate()
        assert server.process.wait(120) == 0
        told = [line for line in server.process.stderr.read().decode().splitlines() if "upkeep: the data file was removed" in line]
        assert len(told) == 1 and f"{server.folder}/data.db" in told[0], told
        if take is replace:
            with open(f"{server.folder}/data.db", "rb") as other:
                assert other.read() == b"another file"


def status_of_health(server):
    """The status, and the reason where it is not well."""
    try:
        urllib.request.urlopen(f"{server.url}/_dynalith/health").close()
        return 200, None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["reason"]


@of_files
def a_file_that_is_cut():
    """Each read is right or an error, health says so, no write is acknowledged any more; all that was acknowledged is there when the file is whole again."""
    for cut in (0, 100, 3 * 4096 + 7, 0.3, 0.9):
        server = Server("--ttl-period", "0", disk=True)
        path = f"{server.folder}/data.db"
        client = Client(server.port)
        create(client)
        written = {f"item-{i}": 1000 + i % 7 * 1500 for i in range(200)}
        for name, size in written.items():
            client("PutItem", TableName="disk", Item=item(name, size))
        server.process.terminate()
        assert server.process.wait(120) == 0
        server.start()  # with nothing in the log, and nothing in memory
        client = Client(server.port)
        client("PutItem", TableName="disk", Item=item("last", 10))
        written["last"] = 10
        whole = os.path.getsize(path)
        shutil.copyfile(path, path + ".whole")
        os.truncate(path, cut if isinstance(cut, int) else int(whole * cut) // 4096 * 4096)
        right = errors = 0
        for name, size in written.items():
            try:
                assert client("GetItem", TableName="disk", Key={"PK": s(name)})["Item"] == item(name, size), name
                right += 1
            except Refused as refused:
                assert (refused.name, refused.status) == FULL, refused
                errors += 1
        assert errors > 0, (cut, right)
        until(lambda: status_of_health(server) == (503, "data_file"), f"health of a file cut at {cut}")
        fill(client, written, 10, "late", 1)
        client.close()
        server.process.terminate()
        assert server.process.wait(120) == 0
        told = server.process.stderr.read().decode()
        assert told.count("upkeep: the data file was cut short") == 1, told
        with open(path + ".whole", "rb") as source, open(path, "r+b") as file:
            file.write(source.read())
        os.unlink(path + ".whole")
        server.start()
        check(Client(server.port), written)
        server.stop()


@of_files
def a_log_that_is_cut():
    """No write behind the cut is acknowledged, health says so, and the next start has what was committed before it."""
    for cut in (0, 0.3, 0.9):
        server = Server("--ttl-period", "0", disk=True)
        client, log = Client(server.port), f"{server.folder}/data.db-wal"
        create(client)
        client.close()
        server.process.terminate()
        assert server.process.wait(120) == 0
        server.start()  # all of that is in the data file
        client = Client(server.port)
        for i in range(100):
            client("PutItem", TableName="disk", Item=item(f"item-{i}", 500))
        os.truncate(log, int(os.path.getsize(log) * cut))
        for i in range(3):
            try:
                client("PutItem", TableName="disk", Item=item(f"late-{i}", 500))
                raise AssertionError(f"a write behind the cut was acknowledged: {cut}")
            except Refused as refused:
                assert (refused.name, refused.status) == FULL, refused
        until(lambda: status_of_health(server) == (503, "data_file"), "health")
        client.close()
        server.process.terminate()
        assert server.process.wait(120) == 0
        told = server.process.stderr.read().decode()
        assert told.count("upkeep: the data file was cut short by somebody else, or its log") == 1, told
        server.check_file()
        server.start()
        client = Client(server.port)
        there = ["Item" in client("GetItem", TableName="disk", Key={"PK": s(f"item-{i}")}) for i in range(100)]
        assert there == sorted(there, reverse=True) and (cut == 0 or there[0]) and not there[99], (cut, there)
        client("PutItem", TableName="disk", Item=item("again", 10))
        server.stop()


@of_files
def one_server_a_file():
    """By whatever name: the lock is on the file."""
    server = Server(disk=True)
    path = f"{server.folder}/data.db"
    os.link(path, f"{server.folder}/hard.db")
    os.symlink(path, f"{server.folder}/symbolic.db")
    for name in ("data.db", "hard.db", "symbolic.db"):
        second = subprocess.run([BINARY, "--port", "0", "--db-path", f"{server.folder}/{name}"], capture_output=True, timeout=120)
        assert second.returncode == 1 and b"in use by another process" in second.stderr, (name, second)
    server.stop()


run("disk", [a_small_file_system, a_full_disk_with_a_reserve, deletes_behind_the_last_write, a_limit_of_the_file_size, many_at_once_on_a_full_disk, what_a_recording_shows_has_happened,
             a_full_disk_under_a_limit_of_the_data, a_limit_of_the_data, no_room_to_start, a_file_that_is_taken_away, a_file_that_is_cut, a_log_that_is_cut, one_server_a_file])
