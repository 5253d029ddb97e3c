"""check and backup of a server that runs: while clients write, one moment's state, for those who may, and nothing left behind."""
import atexit
import base64
import http.client
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time

from harness import BINARY, Server, create_app, key, of_files, run, until
from wire import Client, Gone, Refused

SECONDS = float(os.environ.get("ONLINE_SECONDS", "1"))


def dynalith(*words, environment=None, timeout=120):
    done = subprocess.run([BINARY, *words], capture_output=True, text=True, timeout=timeout, env={**os.environ, **(environment or {})})
    return done.returncode, done.stdout.splitlines(), done.stderr


def ask(server, path, body=b"{}", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", path, body, headers or {})
    reply = connection.getresponse()
    return reply.status, reply.read()


class Writers:
    """Clients that count two items of two tables up together, add items, and have transactions refused, which take back what they wrote."""

    def __init__(self, server, clients=3):
        self.server, self.stopping, self.counts, self.problems = server, False, [0] * clients, []
        wire = Client(server.port)
        create_app(server.client())
        wire("CreateTable", TableName="other", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK"),
             AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
             StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        wire("UpdateTimeToLive", TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "end"})
        self.pad = os.urandom(3000).hex()
        for at in range(0, 500, 25):
            wire("BatchWriteItem", RequestItems={"app": [{"PutRequest": {"Item": self.item("fixed", i)}} for i in range(at, at + 25)]})
        self.threads = [threading.Thread(target=self.write, args=(n,)) for n in range(clients)]
        for thread in self.threads:
            thread.start()

    def item(self, who, i):
        return {"PK": {"S": f"{who}{i % 9}"}, "SK": {"S": str(i % 900)}, "GSI1PK": {"S": who}, "GSI1SK": {"S": str(i)}, "end": {"N": str(4_000_000_000 + i)},
                "pad": {"S": self.pad[:i * i % 6000]}}

    def write(self, n):
        wire, i = Client(self.server.port), 0
        try:
            while not self.stopping:
                i += 1
                pair = [{"Put": {"TableName": "app", "Item": {"PK": {"S": "count"}, "SK": {"S": str(n)}, "n": {"N": str(i)}}}},
                        {"Put": {"TableName": "other", "Item": {"PK": {"S": str(n)}, "n": {"N": str(i)}}}}]
                wire("TransactWriteItems", TransactItems=pair)
                self.counts[n] = i
                wire("PutItem", TableName="app", Item=self.item(f"w{n}", i))
                if i % 20 == 0:
                    refused = [{"Put": {"TableName": "app", "Item": self.item("refused", i)}}, {"ConditionCheck": {
                        "TableName": "app", "Key": {"PK": {"S": "none"}, "SK": {"S": "none"}}, "ConditionExpression": "attribute_exists(PK)"}}]
                    try:
                        wire("TransactWriteItems", TransactItems=refused)
                    except Refused:
                        pass
        except (Refused, Gone) as problem:
            self.problems.append(problem)

    def stop(self):
        self.stopping = True
        for thread in self.threads:
            thread.join()
        assert not self.problems, self.problems[0]


def counts_of(path):
    """What the copy says of the two items of each writer."""
    server = Server(disk=True)
    server.kill()
    for name in os.listdir(server.folder):
        os.unlink(f"{server.folder}/{name}")
    os.link(path, f"{server.folder}/data.db")
    server.start()
    wire = Client(server.port)
    app = {item["SK"]["S"]: int(item["n"]["N"]) for item in wire.all("Query", TableName="app", KeyConditionExpression="PK = :p",
                                                                     ExpressionAttributeValues={":p": {"S": "count"}})}
    other = {item["PK"]["S"]: int(item["n"]["N"]) for item in wire.all("Scan", TableName="other")}
    wire("PutItem", TableName="other", Item={"PK": {"S": "written to the copy"}})
    server.stop()
    return app, other


@of_files
def while_clients_write():
    for disk in (True, False):
        server = Server(disk=disk)
        writers = Writers(server)
        until(lambda: min(writers.counts) > 5, "the writers begin")
        end, rounds = time.monotonic() + SECONDS, 0
        while rounds < 2 or time.monotonic() < end:
            rounds += 1
            status, lines, problem = dynalith("check", server.url)
            assert status == 0 and len(lines) == 1 and " is sound: 2 tables" in lines[0], (disk, status, lines, problem)
            before = list(writers.counts)
            target = f"{server.folder}/copy{rounds}.db"
            status, lines, problem = dynalith("backup", server.url, target)
            after = list(writers.counts)
            assert status == 0 and len(lines) == 1 and f"copy{rounds}.db is sound: 2 tables" in lines[0], (disk, status, lines, problem)
            assert os.stat(target).st_mode & 0o777 == 0o600
            app, other = counts_of(target)
            assert app == other, (disk, app, other)
            for n, (low, high) in enumerate(zip(before, after)):
                assert low <= app[str(n)] <= high + 1, (disk, n, low, app, high)
        writers.stop()
        assert sorted(name for name in os.listdir(server.folder) if "part" in name or ".copy-" in name) == []
        server.stop()


@of_files
def damage_is_found_while_it_runs():
    server = Server(disk=True)
    writers = Writers(server)
    until(lambda: min(writers.counts) > 5, "the writers begin")
    writers.stop()
    until(lambda: dynalith("check", server.url)[0] == 0, "a sound server")
    path = f"{server.folder}/data.db"
    time.sleep(0.3)  # what was written is moved into the file
    draw = random.Random(5)
    pages = sorted(draw.sample(range(2, os.path.getsize(path) // 4096), 8))
    for page in pages:
        with open(path, "r+b") as file:
            file.seek(page * 4096 + 17)
            byte = file.read(1)[0]
            file.seek(page * 4096 + 17)
            file.write(bytes([byte ^ 64]))
    status, lines, _ = dynalith("check", server.url)
    assert status == 3 and lines[-1].endswith(" findings"), lines
    for page in pages:
        assert f"page {page + 1} fails its checksum" in lines, (page, lines)
    assert server.process.poll() is None
    server.kill()


@of_files
def what_a_client_sends():
    server = Server()
    Client(server.port)("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("a"),
                        AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])
    for body in (b"[]", b"{", b'{"cursor": 1}', b'{"cursor": "!"}', b'{"cursor": ""}', b'{"cursor": "AAAA"}'):
        assert ask(server, "/_dynalith/check", body)[0] == 400, body
    draw = random.Random(3)
    for i in range(300):  # any cursor is a place to go on from
        numbers = b"".join(draw.choice((0, 0, 1, 2, 5, 2**31, 2**64 - 1)).to_bytes(8, "big") for _ in range(5))
        table = draw.choice((b"", b"000000000000\0us-east-1\0tab", draw.randbytes(20)))
        cursor = numbers + bytes([draw.randrange(2)]) + len(table).to_bytes(4, "big") + table + bytes([draw.randrange(2)]) + draw.randbytes(draw.randrange(9))
        status, answer = ask(server, "/_dynalith/check", json.dumps({"cursor": base64.b64encode(cursor).decode()}).encode())
        assert status == 200 and json.loads(answer)["count"] == 0, (cursor, status, answer)
    named = f"{tempfile.gettempdir()}/dynalith-named-{os.getpid()}"
    status, answer = ask(server, f"/_dynalith/backup?file={named}&target={named}")
    assert status == 400 and b"no parameter 'file'" in answer and not os.path.exists(named), answer
    status, answer = ask(server, "/_dynalith/backup")
    name = json.loads(answer)["backup"]
    assert status == 200, answer
    status, answer = ask(server, "/_dynalith/backup")
    assert status == 400 and b"Another backup is under way" in answer, answer
    for query in ("id=1", f"id={name}&at=x", f"id={name}&at=-1", f"id={name}&at=1", f"id={name}&at=99999999999999999999999"):
        status, answer = ask(server, f"/_dynalith/backup?{query}")
        assert status in (400, 500), (query, status, answer)
    until(lambda: "bytes" in json.loads(ask(server, f"/_dynalith/backup?id={name}")[1]), "a whole copy")
    assert ask(server, f"/_dynalith/backup?id={name}&at=0")[1][:15] == b"SQLite format 3"
    assert ask(server, f"/_dynalith/backup?id={name}&at=end") == (200, b"{}")
    for path in ("/_dynalith/check", "/_dynalith/backup"):
        for origin in ("http://evil.example", "null"):
            status, answer = ask(server, path, headers={"Origin": origin})
            assert status == 403, (path, origin, status, answer)
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", path)
        assert connection.getresponse().status == 405
    server.stop()


def config_of(users):
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump({"auth": "verify", "credentials": users}, file)
    atexit.register(os.unlink, file.name)
    return file.name


@of_files
def keys_that_may():
    users = [{"access_key_id": "alice", "secret_access_key": "s3cret", "control": True}, {"access_key_id": "bob", "secret_access_key": "hush"}]
    server = Server("--config", config_of(users))
    bound = Server("--config", config_of([{"access_key_id": "carol", "secret_access_key": "hush", "account": "111122223333"}]))
    for words in (["check", bound.url], ["backup", bound.url, f"{bound.folder}/copy.db"]):
        status, lines, problem = dynalith(*words, environment={"AWS_ACCESS_KEY_ID": "carol", "AWS_SECRET_ACCESS_KEY": "hush"})
        assert status == 1 and "belongs to one account" in problem, (words, status, lines, problem)
    bound.stop()
    target = f"{server.folder}/copy.db"
    for who, secret, expected in (("alice", "s3cret", 0), ("bob", "hush", 1), ("alice", "wrong", 1), (None, None, 1)):
        keys = {"AWS_ACCESS_KEY_ID": who, "AWS_SECRET_ACCESS_KEY": secret} if who else {}
        status, lines, problem = dynalith("check", server.url, environment=keys)
        assert status == expected and (status == 0 or problem.startswith("dynalith: http")), (who, status, lines, problem)
        status, lines, problem = dynalith("backup", server.url, target, environment=keys)
        assert status == expected and os.path.exists(target) == (expected == 0), (who, status, lines, problem)
        if expected == 0:
            os.unlink(target)
    server.stop()


@of_files
def what_goes_wrong():
    server = Server(disk=True)
    writers = Writers(server)
    until(lambda: min(writers.counts) > 5, "the writers begin")
    target = f"{server.folder}/copy.db"
    with open(target, "wb") as file:
        file.write(b"something else")
    status, _, problem = dynalith("backup", server.url, target)
    assert status == 1 and "File exists" in problem and os.path.getsize(target) == 14, (status, problem)
    os.unlink(target)
    for i in range(6):  # a client that is killed leaves no file of that name, and no copy at the server for long
        process = subprocess.Popen([BINARY, "backup", server.url, target], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.02 * i)
        process.send_signal(signal.SIGKILL)
        if process.wait() != 0:
            assert not os.path.exists(target)
            break
        os.unlink(target)
    assert not [name for name in os.listdir(server.folder) if ".copy-" in name]
    writers.stop()
    server.kill()
    status, _, problem = dynalith("check", server.url)
    assert status == 1 and "cannot connect" in problem, (status, problem)
    status, _, problem = dynalith("backup", server.url, target)
    assert status == 1 and "cannot connect" in problem and not os.path.exists(target), (status, problem)
    for words in (["check", "http://"], ["check", server.url, "--repair"], ["backup", "https://", target], ["check", "/no/file", "--tls-ca", "x"]):
        status, lines, problem = dynalith(*words)
        assert status in (1, 2) and not lines and problem.startswith(("dynalith: ", "usage: dynalith")), (words, status, lines, problem)


run("online", [while_clients_write, damage_is_found_while_it_runs, what_a_client_sends, keys_that_may, what_goes_wrong])
