"""A disk that is full, as the server's clients see it: errors they may retry, no wrong answer, and all goes on when there is room again."""
import os
import resource
import shutil
import subprocess
import tempfile
import threading
import time

from harness import BINARY, Server, copy_of_file, key, run
from wire import Client, Refused

FULL = ("InternalServerError", 500)


def s(text):
    return {"S": str(text)}


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
        assert found == written, (index, found.keys() ^ written.keys())


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


def a_small_file_system():
    """A tmpfs, where this process may mount one."""
    folder = tempfile.mkdtemp(prefix="dynalith-tmpfs-")
    mount = lambda options: subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode == 0
    try:
        if os.geteuid() != 0 or not mount("size=3m"):
            print("e2e disk: no tmpfs can be mounted here: skipped")
            return
        server = Server("--db-path", f"{folder}/data.db", "--durability", "full")
        server.argv.remove("--in-memory")
        server.kill()
        server.start()
        use_full_disk(server, lambda: mount("remount,size=32m"))
        server.stop()
    finally:
        subprocess.run(["umount", folder], capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


def a_limit_of_the_file_size():
    """RLIMIT_FSIZE: writes beyond it fail with EFBIG, and would by default end the process with a signal."""
    server = Server(disk=True)
    if not hasattr(resource, "prlimit"):
        print("e2e disk: no prlimit here: skipped")
        return
    hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (2_000_000, hard))
    use_full_disk(server, lambda: resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard)))
    server.stop()


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
        assert server.process.wait(20) == 0
        told = [line for line in server.process.stderr.read().decode().splitlines() if "upkeep: the data file was removed" in line]
        assert len(told) == 1 and f"{server.folder}/data.db" in told[0], told
        if take is replace:
            with open(f"{server.folder}/data.db", "rb") as other:
                assert other.read() == b"another file"


def one_server_a_file():
    """By whatever name: the lock is on the file."""
    server = Server(disk=True)
    path = f"{server.folder}/data.db"
    os.link(path, f"{server.folder}/hard.db")
    os.symlink(path, f"{server.folder}/symbolic.db")
    for name in ("data.db", "hard.db", "symbolic.db"):
        second = subprocess.run([BINARY, "--port", "0", "--db-path", f"{server.folder}/{name}"], capture_output=True, timeout=20)
        assert second.returncode == 1 and b"in use by another process" in second.stderr, (name, second)
    server.stop()


run("disk", [a_small_file_system, a_limit_of_the_file_size, no_room_to_start, a_file_that_is_taken_away, one_server_a_file])
