"""A server to test against, clients for it, and a count of what passed."""
import atexit
import contextlib
import faulthandler
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

import boto3
from botocore.config import Config

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DYNALITH_BINARY", str(ROOT / "build/debug/dynalith"))
ONLY = os.environ.get("DYNALITH_TESTS", "").split()
# Of PostgreSQL: servers that are given no --store then have a database each, in place of a file or the memory.
DATABASE = os.environ.get("DYNALITH_E2E_DATABASE")
PATIENCE = 600
LINKS = 30 if DATABASE else 0  # connections to it that a server may have open
# Servers warn of variables that are no options of theirs: those of the tests go no further than here.
for name in [n for n in os.environ if n.startswith("DYNALITH_")]:
    os.environ.pop(name)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def copy_of_file(path):
    """A connection to a copy of a data file as a killed process left it. SQLite alone would move the log into the file itself without checksums."""
    folder = tempfile.mkdtemp(prefix="dynalith-copy-")
    try:
        for suffix in ("", "-wal", "-journal"):
            if os.path.exists(path + suffix):
                shutil.copy(path + suffix, f"{folder}/data.db{suffix}")
        if os.path.exists(f"{folder}/data.db-wal"):  # where SQLite is old, a server refuses a log without this mark: storage/store/sqlite/log_mark.h
            pathlib.Path(f"{folder}/data.db-mark").write_text(f"{os.stat(f'{folder}/data.db').st_ino} {os.stat(f'{folder}/data.db-wal').st_ino}\n")
        with contextlib.closing(sqlite3.connect(f"{folder}/data.db")) as db:
            yield db
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database():
    sys.path.insert(0, str(ROOT / "tests/cluster"))
    import database
    new_database.count = getattr(new_database, "count", 0) + 1
    name = f"e2e_{os.getpid()}_{new_database.count}"
    psql = [shutil.which("psql") or database.programs() + "/psql", "-X", "-q", DATABASE, "-c"]
    subprocess.run([*psql, f"CREATE DATABASE {name}"], check=True)
    atexit.register(subprocess.run, [*psql, f"DROP DATABASE {name}"], stderr=subprocess.DEVNULL)  # after the server that has it
    return re.sub(r"@([^/]*)/[^?]*", rf"@\1/{name}", DATABASE)


class Server:
    """One server process, in memory unless `disk`; its data folder survives kill() and restart().
    `before` is what a shell does first, such as setting limits; `store` is where the data is instead, as --store says it."""

    def __init__(self, *flags, disk=False, before=None, environment=None, store=None):
        self.environment = {**os.environ, **(environment or {})}
        self.folder = tempfile.mkdtemp(prefix="dynalith-e2e-")
        self.port = free_port()
        store = store or (new_database() if DATABASE else None)
        data = ["--store", store] if store else [] if "--db-path" in flags else ["--db-path", f"{self.folder}/data.db"] if disk else ["--in-memory"]
        shell = ["/bin/sh", "-c", f'{before} && exec "$0" "$@"'] if before else []
        self.argv = [*shell, BINARY, "--port", str(self.port), "--log-level", "warn", *data, *flags]
        self.start()
        atexit.register(self.clean)

    def clean(self):
        """Whatever a failed test left behind."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        self.process = subprocess.Popen(self.argv, stderr=subprocess.PIPE, cwd=self.folder, env=self.environment)
        for _ in range(2000):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    raise AssertionError(f"ended at once: {self.process.stderr.read()}")
                time.sleep(0.005)
        raise AssertionError("the server did not start")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def check_file(self):
        """The data file of a server that has ended is sound; a database has none."""
        if not DATABASE:
            done = subprocess.run([BINARY, "check", f"{self.folder}/data.db"], capture_output=True, text=True)
            assert done.returncode == 0, done

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(120)
        shutil.rmtree(self.folder, ignore_errors=True)
        assert status == 0, f"ended with status {status}: {self.process.stderr.read()}"

    def client(self, key="test", secret="test", region="us-east-1", token=None, service="dynamodb"):
        return boto3.client(service, endpoint_url=self.url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
                            aws_session_token=token, config=Config(retries={"max_attempts": 1}, max_pool_connections=40))

    def resource(self):
        return boto3.resource("dynamodb", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")


def key(*names):
    return [{"AttributeName": n, "KeyType": k} for n, k in zip(names, ("HASH", "RANGE"))]


def create_app(client, name="app"):
    """The single-table design: PK, SK; GSI1 (all), GSI2 (keys only), GSI3 (two attributes), an LSI by time."""
    attributes = ["PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "at"]
    index = lambda n, keys, projection: {"IndexName": n, "KeySchema": key(*keys), "Projection": projection}
    client.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in attributes],
        GlobalSecondaryIndexes=[index("GSI1", ("GSI1PK", "GSI1SK"), {"ProjectionType": "ALL"}),
                                index("GSI2", ("GSI2PK",), {"ProjectionType": "KEYS_ONLY"}),
                                index("GSI3", ("GSI1PK", "SK"), {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["total"]})],
        LocalSecondaryIndexes=[index("by-time", ("PK", "at"), {"ProjectionType": "KEYS_ONLY"})])
    client.get_waiter("table_exists").wait(TableName=name)


class Watch:
    """The events of a server, read by a thread of its own."""

    def __init__(self, server, query="", **headers):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        self.connection.request("GET", "/_dynalith/events" + query, headers=headers)
        self.reply = self.connection.getresponse()
        assert self.reply.status == 200, self.reply.read()
        assert self.reply.headers["content-type"] == "text/event-stream"
        assert self.reply.readline() == b"retry: 1000\n"  # from here on it watches
        self.socket = self.connection.sock or self.reply.fp.raw._sock
        self.events, self.is_over = [], False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            while line := self.reply.readline():
                if line.startswith(b"data: "):
                    self.events.append(json.loads(line[6:]))
        except (OSError, ValueError, http.client.HTTPException):
            pass
        self.is_over = True

    def close(self):
        self.socket.shutdown(2)
        self.thread.join(60)


def control(server, method, path, body=None, query="", status=200):
    """The answer of an endpoint under /_dynalith/, which must have that status."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.url}/_dynalith/{path}{query}", data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            assert status == 200, reply.read()
            return json.load(reply)
    except urllib.error.HTTPError as e:
        assert e.code == status, (e.code, e.read())
        return json.load(e)


def client_of(server, attempts=1, key="test", **config):
    """A client of boto3 that sends each request `attempts` times at most."""
    return boto3.client("dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key="test",
                        config=Config(retries={"total_max_attempts": attempts, "mode": "standard"}, max_pool_connections=64,
                                      **{"read_timeout": 300, **config}))


def raises(error, call, **kwargs):
    """The message of the error that the call must end with."""
    from botocore.exceptions import ClientError
    try:
        call(**kwargs)
    except ClientError as e:
        assert e.response["Error"]["Code"] == error, e.response["Error"]
        raises.response = e.response
        return e.response["Error"]["Message"]
    raise AssertionError(f"no {error}")


def until(condition, what, seconds=60):
    """Waits until the condition holds, which takes no time on a quiet machine; else the failure names `what`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def of_files(test):
    """Marks a test that looks at a data file, or at what is so in memory only. With DYNALITH_E2E_DATABASE it does not run."""
    test.is_of_files = True
    return test


def stat_of(pid):
    """The fields of /proc/PID/stat behind the program's name, from the state on."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def is_running(pid):
    """Whether the process is there and has not ended; whoever started it may not have asked for its status yet."""
    try:
        return stat_of(pid)[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def open_files_of(pid):
    """What its descriptors stand for. One that is closed while they are read is left out."""
    found = []
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(link))
    return found


def sizes_in(folder):
    """The names in it and their sizes. A file that another process moves or deletes meanwhile is left out."""
    found = {}
    for path in pathlib.Path(folder).iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[path.name] = path.stat().st_size
    return found


def children_of(pid):
    """The processes that it started and that have not ended."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if stat_of(folder.name)[1] == str(pid) and is_running(folder.name):
                found.append(int(folder.name))
    return found


def leave(status):
    """Ends the process, also where a test that failed left a thread at work, for which Python would wait without end."""
    sys.stdout.flush()
    sys.stderr.flush()
    if any(t is not threading.main_thread() and not t.daemon for t in threading.enumerate()):
        atexit._run_exitfuncs()  # servers and databases
        os._exit(status)
    sys.exit(status)


def give_up(suite, test):
    """In CI no test may take PATIENCE seconds: it says where all threads are."""
    print(f"e2e {suite}: {test} did not end in {PATIENCE} s", file=sys.stderr)
    faulthandler.dump_traceback()
    print(f"e2e {suite}: 0 passed, 1 failed", flush=True)
    sys.stderr.flush()
    atexit._run_exitfuncs()
    os._exit(1)


@contextlib.contextmanager
def patience(suite, test):
    timer = threading.Timer(PATIENCE, give_up, (suite, test))
    timer.daemon = True
    if os.environ.get("CI"):
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def run(suite, tests):
    """All tests, or those named in DYNALITH_TESTS."""
    passed = failed = 0
    skipped = [t.__name__ for t in tests if DATABASE and getattr(t, "is_of_files", False)]
    if skipped:
        print(f"e2e {suite}: not on a database: {', '.join(skipped)}")
    for test in [t for t in tests if (not ONLY or t.__name__ in ONLY) and t.__name__ not in skipped]:
        try:
            with patience(suite, test.__name__):
                test()
            passed += 1
        except Exception:
            failed += 1
            print(f"e2e {suite}: {test.__name__} failed", file=sys.stderr)
            traceback.print_exc()
    print(f"e2e {suite}: {passed} passed, {failed} failed")
    leave(1 if failed else 0)
