"""`dynalith copy` between data files and from a server that runs; to and from a database is in tests/cluster."""
import os
import signal
import subprocess
import tempfile

from everything import a_file_of_everything
from harness import BINARY, Server, of_files, run, until
from wire import Client


def copy(*words):
    done = subprocess.run([BINARY, "copy", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


def path_of(server):
    return f"{server.folder}/data.db"


def sound(path):
    done = subprocess.run([BINARY, "check", path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    return done.stdout


def committed(log):
    """How many bytes of a write-ahead log its last commit covers: the frame that ends a transaction says in its second word how large the database is."""
    if not os.path.exists(log):
        return 0
    with open(log, "rb") as file:
        data = file.read()
    page_size = int.from_bytes(data[8:12], "big")
    if len(data) < 32 or page_size == 0:
        return 0
    frame = 24 + page_size
    ends = [at + frame for at in range(32, len(data) - frame + 1, frame) if any(data[at + 4:at + 8])]
    return ends[-1] if ends else 0


def items_of(client, table="app"):
    return sorted(client.all("Scan", TableName=table), key=str)


@of_files
def a_move():
    """A first copy while the server runs, a second one of what changed since."""
    server = Server(disk=True)
    a_file_of_everything(server)
    client = Client(server.port)
    target = f"{server.folder}/moved.db"
    url = f"http://127.0.0.1:{server.port}"
    status, lines, problem = copy("--from", url, "--to", f"sqlite:{target}")
    assert status == 0 and lines[0].startswith("000000000000/us-east-1/app: 133 items, "), (status, lines, problem)
    assert f"sqlite:{target} is equal to {url}: 1 tables, 133 items" in lines[-1], lines
    assert "2 tables, 133 items" in sound(target)
    status, lines, problem = copy("--from", f"sqlite:{path_of(server)}", "--to", f"sqlite:{target}", "--replace")
    assert status == 1 and "in use by another process" in problem, (status, lines, problem)
    client("PutItem", TableName="app", Item={"PK": {"S": "new"}, "SK": {"S": "1"}})
    client("DeleteItem", TableName="app", Key={"PK": {"S": "p1"}, "SK": {"S": "s1"}})
    expected = items_of(client)
    status, lines, problem = copy("--from", url, "--to", f"sqlite:{target}")
    assert status == 1 and "has tables; --replace" in problem, (status, lines, problem)
    status, lines, problem = copy("--from", url, "--to", f"sqlite:{target}", "--compare")
    assert status == 3 and "differs" in lines[-1], (status, lines, problem)
    server.process.terminate()
    server.process.wait(120)
    source = f"sqlite:{path_of(server)}"
    status, lines, problem = copy("--from", source, "--to", f"sqlite:{target}", "--replace")
    assert status == 0, (status, lines, problem)
    written = int(lines[-1].split(" rows written")[0].split()[-1])
    assert 0 < written < 40, lines[-1]  # of some 950
    status, lines, problem = copy("--from", source, "--to", f"sqlite:{target}", "--compare")
    assert status == 0 and "is equal to" in lines[-1], (status, lines, problem)
    other = Server(store=f"sqlite:{target}")
    client = Client(other.port)
    assert items_of(client) == expected
    stream = client("DescribeTable", TableName="app")["Table"]["LatestStreamArn"]
    shards = client.streams("DescribeStream", StreamArn=stream)["StreamDescription"]["Shards"]
    iterator = client.streams("GetShardIterator", StreamArn=stream, ShardId=shards[0]["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    assert len(client.streams("GetRecords", ShardIterator=iterator)["Records"]) > 100
    client("PutItem", TableName="app", Item={"PK": {"S": "there"}, "SK": {"S": "1"}})
    other.stop()
    sound(target)


@of_files
def killed_and_run_again():
    server = Server(disk=True)
    client = Client(server.port)
    client("CreateTable", TableName="large", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
           AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}])
    for i in range(0, 6000, 25):
        client("BatchWriteItem", RequestItems={"large": [{"PutRequest": {"Item": {"k": {"S": f"k{j}"}, "pad": {"S": "x" * 2000}}}} for j in range(i, i + 25)]})
    server.process.terminate()
    server.process.wait(120)
    source = f"sqlite:{path_of(server)}"
    target = f"{server.folder}/copy.db"
    process = subprocess.Popen([BINARY, "copy", "--from", source, "--to", f"sqlite:{target}"], stdout=subprocess.DEVNULL)
    until(lambda: process.poll() is not None or committed(target + "-wal") > 1_000_000, "the copy commits nothing")
    process.send_signal(signal.SIGKILL)
    if process.wait() == 0:
        return  # it was faster than the kill
    done = subprocess.run([BINARY, "--store", f"sqlite:{target}", "--port", "0"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "is a copy that was not finished; run dynalith copy again" in done.stderr, done
    status, lines, problem = copy("--from", f"sqlite:{target}", "--to", f"sqlite:{target}.two")
    assert status == 1 and "the source is itself a copy that was not finished" in problem, (status, lines, problem)
    status, lines, problem = copy("--from", source, "--to", f"sqlite:{target}")
    assert status == 0 and "1 tables, 6000 items" in lines[-1], (status, lines, problem)
    assert int(lines[-1].split(" rows written")[0].split()[-1]) < 5900, lines  # what was there was not written again
    assert "6000 items" in sound(target)


def misuse():
    folder = tempfile.mkdtemp(prefix="dynalith-e2e-")
    good = f"sqlite:{folder}/a.db"
    for words in ([], ["--from", good], ["--from", good, "--to", good, "--replace", "--compare"], ["--from", good, "--to", "nosuch:x"],
                  ["--from", "mysql://x", "--to", good], ["--from", good, "--to", good, "more"], ["--from", good, "--to", f"sqlite:{folder}/b.db"],
                  ["--from", "http://127.0.0.1:1", "--to", good]):
        status, lines, problem = copy(*words)
        assert status == (1 if words[0:2] == ["--from", good] and words[-1].endswith("b.db") or "http://127.0.0.1:1" in words else 2) and not lines and problem.startswith(("dynalith: ", "usage: dynalith")) and problem.count("\n") == 1, (words, status, lines, problem)
    assert os.listdir(folder) == []
    with open(f"{folder}/text", "w") as file:
        file.write("not a data file" * 100)
    status, lines, problem = copy("--from", f"sqlite:{folder}/text", "--to", good)
    assert status == 1 and "not a data file of this server" in problem, problem


run("copy", [a_move, killed_and_run_again, misuse])
