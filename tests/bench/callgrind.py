"""A server under callgrind, one workload at a time: what tests/bench/counts and tests/bench/budget share.

The server runs with one worker, is asked over one connection, and has nothing to do by itself, so that its counts repeat. Callgrind writes
its counters out and sets them to zero before each call of MARK, which a GET of /_dynalith/metrics makes: no signals, no ptrace, and no trace
of callgrind in the server.
"""
import datetime
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = "show_metrics*"  # called through a table: it stays a function, whatever is compiled across files
COLLECTIONS = 100  # of 20 items
# workload, requests that are counted
WORKLOADS = [
    ("GetItem", 400),
    ("PutItem", 400),
    ("UpdateItem", 400),
    ("DeleteItem", 400),
    ("Query20", 200),
    ("QueryGSI20", 200),
    ("Scan1MB", 10),
    ("BatchGetItem100", 40),
    ("BatchWriteItem25", 16),
    ("TransactWriteItems4", 100),
    ("Select", 400),
]
SIGNED = "GetItemSigned"
WRITES = [(name, requests) for name, requests in WORKLOADS if name in ("PutItem", "UpdateItem", "DeleteItem")]
# the table's point-in-time recovery is on
RECOVERY = {"memory recovery": "memory", "disk recovery": "disk"}
MODES = {"memory": WORKLOADS, "disk": WORKLOADS, "verify": [(SIGNED, 400)], **{mode: WRITES for mode in RECOVERY}}
# glibc fills and copies large blocks by one instruction that callgrind counts once per byte; vector loops are nearer to the true cost
NO_REP = "glibc.cpu.x86_rep_stosb_threshold=0x40000000:glibc.cpu.x86_rep_movsb_threshold=0x40000000"
CREDENTIAL = ("bench", "bench-secret")


def is_here():
    return shutil.which("valgrind") is not None


class Server:
    """A server in `mode` - "memory", "disk", either with "recovery" behind it, or "verify", which is disk and every signature verified - with the table
    of the bench filled."""

    def __init__(self, binary, load, mode):
        self.load_binary, self.is_signed = load, mode == "verify"
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-counts-"))
        self.dumps = 0
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        data = ["--in-memory"] if mode.startswith("memory") else ["--db-path", str(self.dir / "bench.db")]
        plain = [binary, "--port", str(self.port), "--threads", "1", "--ttl-period", "0", "--log-level", "warn",
                 "--request-slice-ms", "0", *data]  # under callgrind all requests take long
        counted = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.dir}/out", f"--dump-before={MARK}", "-q"] + plain
        self.has_recovery = mode in RECOVERY
        self.process = None
        try:
            self.set_up(plain, counted)
        except BaseException:
            self.stop()  # nobody else can
            raise

    def set_up(self, plain, counted):
        if self.is_signed:  # the load generator does not sign: the table is filled before signatures count
            self.start(plain)
            self.fill()
            self.end()
            config = self.dir / "config.json"
            config.write_text(json.dumps({"credentials": [{"access_key_id": CREDENTIAL[0], "secret_access_key": CREDENTIAL[1]}]}))
            self.start([*counted, "--auth", "verify", "--config", str(config)])
        else:
            self.start(counted)
            self.fill()
        if self.has_recovery:
            body = {"TableName": "bench", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
            headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.UpdateContinuousBackups", "connection": "close"}
            answer = self.ask(signed(self.port, "POST", "/", headers, json.dumps(body).encode()))
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"UpdateContinuousBackups: {answer[:600]!r}")
        self.dump()
        self.overhead = Profile(self.dump()).total()

    def start(self, argv):
        self.process = subprocess.Popen(argv, cwd=self.dir, stdout=subprocess.DEVNULL, env={**os.environ, "GLIBC_TUNABLES": NO_REP})
        self.wait()

    def fill(self):
        self.load("CreateTable", 1)
        self.load("Setup", COLLECTIONS)

    def end(self):
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.end()
        shutil.rmtree(self.dir, ignore_errors=True)

    def wait(self):
        begin = time.monotonic()
        while True:
            try:
                self.ask(b"GET /_dynalith/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() - begin > 120:
                    raise SystemExit("the server did not start under callgrind")
                time.sleep(0.02)

    def ask(self, request):
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as s:
            s.sendall(request)
            answer = b""
            while piece := s.recv(65536):
                answer += piece
        if not answer:
            raise OSError("no answer")
        return answer

    def wait_for_rest(self):
        """Waits until the server has rested for half a second: what it does after the last answer, such as a checkpoint, counts too.

        A round of the upkeep, which comes twice a second, takes one to two milliseconds under callgrind, and is rest."""
        clock, before, still = (~self.process.pid << 3) | 2, -1.0, 0  # the process's clock of CPU, as clock_getcpuclockid() makes it
        while still < 10:
            time.sleep(0.05)
            now = time.clock_gettime(clock)
            still = still + 1 if now - before < 0.01 else 0
            before = now

    def dump(self):
        """The file of what was counted since the last call."""
        self.wait_for_rest()
        self.ask(signed(self.port, "GET", "/_dynalith/metrics", {"connection": "close"}))
        self.dumps += 1
        path = self.dir / f"out.{self.dumps}"
        if not path.exists():
            raise SystemExit(f"callgrind wrote nothing before {MARK}: is that function gone?")
        return path

    def load(self, workload, requests, first=0):
        if workload == SIGNED:
            return get_signed(self.port, requests)
        command = [self.load_binary, "--port", self.port, "--workload", workload, "--requests", requests, "--connections", 1,
                   "--collections", COLLECTIONS, "--first", first]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"{workload}: {done.stderr.strip()}")

    def measure(self, workload, requests):
        """The profile of so many requests, after some that warm caches up."""
        self.load(workload, max(2, requests // 4))
        self.dump()
        self.load(workload, requests, requests)
        return Profile(self.dump())


def signed(port, method, path, headers, body=b""):
    """A request as an SDK signs it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    headers = dict(sorted({**headers, "host": f"localhost:{port}", "x-amz-date": stamp}.items()))
    names = ";".join(headers)
    canonical = "\n".join([method, path, "", *(f"{k}:{v}" for k, v in headers.items()), "", names, hashlib.sha256(body).hexdigest()])
    scope = f"{day}/us-east-1/dynamodb/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = b"AWS4" + CREDENTIAL[1].encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={CREDENTIAL[0]}/{scope}, SignedHeaders={names}, Signature={signature}"
    headers["content-length"] = str(len(body))
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
    return head.encode() + body


def signed_get(port, i):
    body = json.dumps({"TableName": "bench", "Key": {"PK": {"S": f"CUSTOMER#{i % COLLECTIONS:08}"}, "SK": {"S": f"ORDER#{i % 20:06}"}}})
    return signed(port, "POST", "/", {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.GetItem"}, body.encode())


def get_signed(port, requests):
    with socket.create_connection(("127.0.0.1", port), timeout=120) as s:
        for i in range(requests):
            s.sendall(signed_get(port, i))
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += s.recv(65536)
            head, body = answer.split(b"\r\n\r\n", 1)
            length = int(re.search(rb"(?i)content-length: *(\d+)", head).group(1))
            while len(body) < length:
                body += s.recv(65536)
            if not head.startswith(b"HTTP/1.1 200"):
                raise SystemExit(f"{SIGNED}: {answer[:600]!r}")


class Profile:
    """One file of callgrind's: a function is the tuple (object, source file, name)."""

    def __init__(self, path):
        self.path = path

    def total(self):
        """All instructions."""
        for line in self.path.read_text(errors="replace").splitlines():
            if line.startswith(("totals:", "summary:")):
                return int(line.split()[1])
        raise SystemExit(f"{self.path}: no totals")

    def read(self):
        """({(function, file of the code, which may be inlined): own instructions}, {(caller, callee): instructions below that call})."""
        own, calls, names = {}, {}, {}
        at = {"ob": "", "fl": "", "fn": ""}
        called, is_call, code = {}, False, ""

        def name_of(kind, text):
            match = re.match(r"\((\d+)\)(?: (.*))?$", text)
            if not match:
                return text
            if match.group(2) is not None:
                names[kind, match.group(1)] = match.group(2)
            return names.get((kind, match.group(1)), "")

        for line in self.path.read_text(errors="replace").splitlines():
            match = re.match(r"(c?)(ob|fl|fi|fe|fn)=(.*)$", line)
            if match:
                kind = match.group(2)
                text = name_of({"fi": "fl", "fe": "fl"}.get(kind, kind), match.group(3))
                if match.group(1):
                    called["fl" if kind in ("fi", "fe") else kind] = text
                elif kind in at:
                    at[kind] = text
                if not match.group(1) and kind in ("fl", "fi", "fe"):
                    code = text
            elif line.startswith("calls="):
                is_call = True
            elif re.match(r"[-+*\d]", line):
                parts = line.split()
                cost = int(parts[1]) if len(parts) > 1 else 0
                here = (at["ob"], at["fl"], at["fn"])
                if is_call:
                    there = (called.get("ob", at["ob"]), called.get("fl", at["fl"]), called["fn"])
                    calls[here, there] = calls.get((here, there), 0) + cost
                    called, is_call = {}, False
                else:
                    own[here, code] = own.get((here, code), 0) + cost
        return own, calls
