#!/usr/bin/env python3
"""The Python package in a clean environment, with nothing but the wheel, pytest, pytest-xdist and boto3.

    tests/packages/python.py WHEEL
"""
import os
import pathlib
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from check import ENVIRONMENT, ROOT, Tests, blocks, is_alive, killed_leaves_none, run, until

README = ROOT / "packaging/python/README.md"
PYTHON = ROOT / "build/deps/packages-python/bin/python"
PYTEST = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
SEED = blocks(README, "python")[1].split("\ndef test_")[0] + "\n"


def test_command(folder):
    assert run([PYTHON.parent / "dynalith", "--version"], folder).startswith("dynalith ")
    assert run([PYTHON, "-m", "dynalith", "--version"], folder).startswith("dynalith ")


def test_readme(folder):
    (folder / "example.py").write_text(blocks(README, "python")[0])
    run([PYTHON, "example.py"], folder)
    (folder / "test_readme.py").write_text(blocks(README, "python")[1])
    assert "4 passed" in run(PYTEST, folder)
    assert "4 passed" in run([*PYTEST, "-n", "2"], folder)


IN_PROCESS = """import pathlib, socket
import pytest

@pytest.fixture(scope="session")
def dynalith_seed(dynalith_namespace):
    dynalith_namespace.client().create_table(TableName="orders", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}], AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}])

@pytest.mark.parametrize("i", range(20))
def test_put(dynalith, dynamodb, monkeypatch, i):
    monkeypatch.setattr(socket, "socket", None)  # whoever wants one fails
    assert dynamodb.client.scan(TableName="orders", ConsistentRead=True)["Count"] == 0
    dynamodb.client.put_item(TableName="orders", Item={"id": {"S": str(i)}})
    assert dynalith._process is None
    if i == 19:
        import dynalith as package
        assert pathlib.Path(package.find_library()).parent == pathlib.Path(package.__file__).resolve().parent

def test_clock(dynamodb, dynalith_clock, dynalith_faults):
    dynalith_faults({"operation": "ListTables", "first": 1, "error": "ThrottlingException"})
    assert dynamodb.client.list_tables()["TableNames"] == ["orders"] and dynalith_faults.fired() == [1]
    dynalith_clock.set("2030-01-01T00:00:00Z", freeze=True)
"""


def test_in_process(folder):
    """libdynalith of the wheel alone: the README's block, and the plugin's option with and without workers."""
    (folder / "example.py").write_text(blocks(README, "python")[2])
    run([PYTHON, "example.py"], folder)
    (folder / "closed.py").write_text("from dynalith import Dynalith\nwith Dynalith(in_process=True) as server:\n    client = server.client()\nclient.list_tables()\n")
    assert "the instance is closed" in run([PYTHON, "closed.py"], folder, status=1)
    (folder / "test_in_process.py").write_text(IN_PROCESS)
    assert "failed" in run(PYTEST, folder, status=1)  # with a server, which needs sockets
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\ndynalith_in_process = true\ndynalith_arguments = ['--in-memory', '--log-level', 'debug']\n")
    assert "21 passed" in run(PYTEST, folder)
    assert "21 passed" in run([*PYTEST, "-n", "2"], folder)
    (folder / "test_in_process.py").write_text("def test_fails(dynamodb):\n    dynamodb.client.list_tables()\n    assert False\n")
    assert "ListTables" in run([*PYTEST, "-n", "1"], folder, status=1).split("log of dynalith")[1]


def test_options(folder):
    (folder / "orders.yaml").write_text("Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: orders, BillingMode: PAY_PER_REQUEST, "
                                        "KeySchema: [{AttributeName: id, KeyType: HASH}], AttributeDefinitions: [{AttributeName: id, AttributeType: S}]}}}\n")
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\ndynalith_files = ["orders.yaml"]\ndynalith_arguments = ["--root-status", "200"]\n')
    (folder / "test_options.py").write_text("import urllib.request\n\ndef test_options(dynalith, dynamodb):\n"
                                            "    assert dynamodb.client.list_tables()['TableNames'] == ['orders']\n"
                                            "    assert urllib.request.urlopen(dynalith.url).status == 200\n")
    assert "1 passed" in run(PYTEST, folder)


def test_log(folder):
    """A failed test shows what the server logged meanwhile, and only that."""
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\ndynalith_arguments = ["--log-level", "debug"]\n')
    (folder / "test_log.py").write_text("def test_before(dynamodb):\n    dynamodb.client.describe_limits()\n\n"
                                        "def test_fails(dynamodb):\n    dynamodb.client.list_tables()\n    assert False\n")
    for more in ([], ["-n", "1"]):
        text = run([*PYTEST, *more], folder, status=1)
        log = text[text.index("log of dynalith"):]
        assert "ListTables" in log and "DescribeLimits" not in log


def test_workers(folder):
    """200 tests in 4 workers: each sees its own tables as the seed left them. Beyond their own work they take seconds."""
    (folder / "conftest.py").write_text(SEED)
    (folder / "test_many.py").write_text('''import pytest

@pytest.mark.parametrize("i", range(200))
def test_alone(dynamodb, i):
    client = dynamodb.client
    assert client.scan(TableName="orders", ConsistentRead=True)["Count"] == 0
    client.put_item(TableName="orders", Item={"id": {"S": str(i)}})
    if i % 10 == 0:
        client.delete_table(TableName="orders")
    assert len(client.list_tables()["TableNames"]) == (i % 10 > 0)
''')
    begin = time.monotonic()
    assert "200 passed" in run([*PYTEST, "-n", "4"], folder)
    whole = time.monotonic() - begin
    (folder / "conftest.py").unlink()
    (folder / "test_many.py").write_text("import pytest\nimport boto3\n\n@pytest.mark.parametrize('i', range(200))\ndef test_nothing(i): pass\n")
    begin = time.monotonic()
    assert "200 passed" in run([*PYTEST, "-n", "4", "-p", "no:dynalith"], folder)
    print(f"packages python: 200 tests in 4 workers: {whole:.1f} s, {whole - (time.monotonic() - begin):.1f} s more than tests that do nothing")


def test_start(folder):
    """From the call to the first answer of the API, without what it takes to start Python and to import boto3."""
    (folder / "start.py").write_text('''import json, time, urllib.request
from dynalith import Dynalith
times = []
for _ in range(11):
    begin = time.monotonic()
    with Dynalith("--auth", "off") as server:
        head = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
        urllib.request.urlopen(urllib.request.Request(server.url, b"{}", head)).read()
        times.append(time.monotonic() - begin)
print("median", round(sorted(times)[5] * 1000, 1), "ms")
''')
    print("packages python: start to first answer,", run([PYTHON, "start.py"], folder).strip())


def test_killed_runner(folder):
    for name, more in (("alone", []), ("workers", ["-n", "2"])):
        place = folder / name
        place.mkdir()
        (place / "test_waits.py").write_text("import pathlib, time\n\ndef test_waits(dynamodb):\n    dynamodb.client.list_tables()\n"
                                             "    pathlib.Path('is-running').touch()\n    time.sleep(600)\n")
        killed_leaves_none([*PYTEST, *more], place)


def test_killed_program(folder):
    program = subprocess.Popen([PYTHON, "-c", "from dynalith import Dynalith; import time; s = Dynalith(); print(s._process.pid, flush=True); time.sleep(600)"],
                               stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    server = int(program.stdout.readline())
    program.kill()
    program.wait()
    until(lambda: not is_alive(server), "the server ended")


def test_says_why(folder):
    text = run([PYTHON, "-c", "from dynalith import Dynalith; Dynalith('--no-such-option')"], folder, status=1)
    assert "DynalithError: dynalith: --no-such-option: unknown option" in text, text
    (folder / "pyproject.toml").write_text('[tool.pytest.ini_options]\ndynalith_arguments = ["--no-such-option"]\n')
    (folder / "test_none.py").write_text("def test_a(dynamodb): pass\ndef test_b(dynamodb): pass\n")
    for more in ([], ["-n", "1"]):
        text = run([*PYTEST, *more], folder, status=4)
        assert "--no-such-option: unknown option" in text and "Traceback" not in text, text


def test_types(folder):
    """A project that checks its types strictly knows those of the fixtures, without stubs of its own; and what is wrong is found."""
    (folder / "test_orders.py").write_text('''from dynalith import Clock, Dynalith, Faults, Namespace
from dynalith.pytest_plugin import DynamoDB


def test_put(dynalith: Dynalith, dynalith_namespace: Namespace, dynamodb: DynamoDB, dynalith_clock: Clock, dynalith_faults: Faults) -> None:
    url: str = dynalith.url
    fired: list[int] = dynalith_faults.fired()
    dynalith_clock.advance("90m")
    assert url and not fired and dynalith_namespace.account and dynamodb.client.list_tables()["TableNames"] == []
    with Dynalith("--auth", "off") as server:
        assert server.log(0) is not None
''')
    (folder / "wrong.py").write_text("from dynalith import Dynalith\n\nnumber: int = Dynalith().url\n")
    run([PYTHON, "-m", "mypy", "--strict", "test_orders.py"], folder)
    assert "wrong.py:3: error: Incompatible types" in run([PYTHON, "-m", "mypy", "--strict", "wrong.py"], folder, status=1)
    run([*PYTEST, "test_orders.py"], folder)


def main():
    wheel = pathlib.Path(sys.argv[1]).resolve()
    run([PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", "--force-reinstall", wheel], "/")
    tests = Tests("python")
    for test in (test_command, test_readme, test_in_process, test_options, test_log, test_workers, test_start, test_killed_runner, test_killed_program, test_says_why, test_types):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
