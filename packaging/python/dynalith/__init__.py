"""A DynamoDB-compatible server for tests, and clients for it.

    from dynalith import Dynalith

    with Dynalith() as server:
        server.client().list_tables()

The server is a native process on a free port of 127.0.0.1, in memory, and ends with this process, also where this process is killed. With
Dynalith(in_process=True) there is neither a process nor a port: the server is a library in this process.
"""
import atexit
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from dynalith import library as _library

__all__ = ["Clock", "Dynalith", "DynalithError", "Faults", "Namespace", "find_binary", "find_library"]
find_library = _library.find_library
ACCOUNT, REGION = "000000000000", "us-east-1"


class DynalithError(Exception):
    """The server did not start, or an endpoint of test control refused; the text says why."""


def find_binary():
    """The path of the server: DYNALITH_BINARY, the one that came with this package, or the first on PATH."""
    name = os.environ.get("DYNALITH_BINARY")
    if name:
        return name
    package = pathlib.Path(__file__).resolve().parent
    schemes = {sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")}
    places = [*map(pathlib.Path, sorted(filter(None, schemes))), package.parent / "bin"]  # the last: pip install --target
    for place in places:
        if os.access(place / "dynalith", os.X_OK):
            return str(place / "dynalith")
    found = shutil.which("dynalith")
    if not found:
        raise DynalithError(f"no dynalith in {', '.join(map(str, places))} or on PATH; DYNALITH_BINARY names one")
    return found


class Namespace:
    """The tables of an account in a region. Namespaces of one server do not see each other."""

    _in_process = None  # a Transport of dynalith.library, in the place of HTTP

    def __init__(self, url, account=ACCOUNT, region=REGION):
        self.url, self.account, self.region = url, account, region
        self.clock, self.faults = Clock(self), Faults(self)

    def _settings(self, more):
        return {"endpoint_url": self.url, "region_name": self.region, "aws_access_key_id": self.account, "aws_secret_access_key": "any", **more}

    def client(self, service="dynamodb", **more):
        """A client of boto3; service may be "dynamodbstreams" too."""
        import boto3
        if self._in_process:
            return self._in_process.client(boto3.client, service, **self._settings(more))
        return boto3.client(service, **self._settings(more))

    def resource(self, **more):
        import boto3
        if self._in_process:
            return self._in_process.client(boto3.resource, "dynamodb", **self._settings(more))
        return boto3.resource("dynamodb", **self._settings(more))

    def control(self, method, path, body=None):
        """Calls an endpoint under /_dynalith/ for this namespace and returns its answer."""
        path = f"{path}?{urllib.parse.urlencode({'account': self.account, 'region': self.region})}"
        data = None if body is None else json.dumps(body).encode()
        if self._in_process:
            return self._in_process.control(method, path, data)
        request = urllib.request.Request(f"{self.url}/_dynalith/{path}", method=method, data=data)
        try:
            with _direct.open(request, timeout=60) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise DynalithError(f"{method} {path}: {error.read().decode(errors='replace')}") from None

    def reset(self, **what):
        """As new: no tables. reset(keep="tables") empties them."""
        return self.control("POST", "reset", what or None)

    def checkpoint(self, name):
        return self.control("POST", "checkpoints", {"name": name})

    def rollback(self, name):
        return self.control("POST", f"checkpoints/{name}/rollback")

    def forget(self, name):
        """Forgets the checkpoint; the state stays."""
        return self.control("DELETE", f"checkpoints/{name}")

    def apply(self, *files):
        """Makes the tables and items of templates, plans, exports, CSV: whatever `dynalith apply` reads."""
        if self._in_process:
            return self._in_process.apply(files, self.account, self.region)
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": self.account, "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": self.region}
        done = subprocess.run([find_binary(), "apply", *map(str, files), "--endpoint", self.url], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise DynalithError(done.stderr.strip())


class Clock:
    """The clock of a namespace, by which time to live, streams, backups and throughput go."""

    def __init__(self, namespace):
        self._namespace = namespace

    def advance(self, by):
        """Seconds, or a text such as "90m"."""
        return self._namespace.control("POST", "clock", {"advance": by})

    def set(self, to, freeze=False):
        """ISO 8601 or seconds since 1970."""
        return self._namespace.control("POST", "clock", {"set": to, "freeze": freeze})

    def freeze(self, is_frozen=True):
        return self._namespace.control("POST", "clock", {"freeze": is_frozen})


class Faults:
    """The rules by which requests of a namespace fail; docs/testing.md of the server describes them."""

    def __init__(self, namespace):
        self._namespace = namespace

    def set(self, *rules):
        return self._namespace.control("PUT", "faults", {"rules": list(rules)})

    __call__ = set

    def fired(self):
        """How often each rule has fired."""
        return [rule["fired"] for rule in self._namespace.control("GET", "faults")["rules"]]

    def clear(self):
        return self._namespace.control("DELETE", "faults")


class Dynalith(Namespace):
    """A server, and its default namespace.

    The arguments are the server's options: Dynalith("--auth", "verify"). With `url` it stands for a server that runs already. With in_process=True the
    server is libdynalith in this process: clients of boto3 that client() and resource() make call it, without a socket. A child of fork() needs one of
    its own.
    """

    def __init__(self, *arguments, url=None, log_path=None, in_process=False):
        self._process = None
        self._owns_log = False
        self.log_path = log_path
        if in_process and url:
            raise ValueError("in_process and url exclude each other")
        super().__init__(self._open(arguments) if in_process else url or self._start(arguments))

    def _name_log(self):
        if not self.log_path:
            handle, self.log_path = tempfile.mkstemp(prefix="dynalith-", suffix=".log")
            os.close(handle)
            self._owns_log = True

    def _open(self, arguments):
        path = find_library()
        if not path:
            raise DynalithError("there is no libdynalith beside this package or on this system; DYNALITH_LIBRARY names one")
        self._name_log()
        try:
            self._in_process = _library.Transport(path, arguments, self.log_path, DynalithError)
        except Exception:
            self.stop()
            raise
        atexit.register(self.stop)  # before the interpreter ends, which the library's threads must not outlive
        return _library.URL

    def _start(self, arguments):
        self._name_log()
        own = [] if {"--db-path", "--store", "--in-memory"} & {a.split("=")[0] for a in arguments} else ["--in-memory"]
        if "--port" not in {a.split("=")[0] for a in arguments}:
            own += ["--port", "0"]
        with open(self.log_path, "ab") as log:
            # Its standard input ends with this process, and the server with its standard input.
            self._process = subprocess.Popen([find_binary(), *own, "--exit-with-parent", *arguments], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=log)
        line = self._process.stdout.readline().decode().strip()
        self._process.stdout.close()
        if not line:
            status, text = self._process.wait(), self.log()
            self.stop()
            raise DynalithError(f"the server ended with status {status}: {text.strip()}")
        with _direct.open(f"{line}/_dynalith/health", timeout=60):
            return line

    def namespace(self, account, region=REGION):
        """Tables of its own; `account` is a number of 12 digits, and the access key of those who use it."""
        namespace = Namespace(self.url, str(account).zfill(12), region)
        namespace._in_process = self._in_process
        return namespace

    def log(self, start=0):
        """What the server has written to its log, from that byte on."""
        if not self.log_path:
            return ""
        with open(self.log_path, "rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def stop(self):
        if self._in_process:
            atexit.unregister(self.stop)
            self._in_process.close()
        if self._process and self._process.returncode is None:
            self._process.stdin.close()
            self._process.wait()
        if self._owns_log:
            self._owns_log = False
            pathlib.Path(self.log_path).unlink(missing_ok=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


# Without the proxies of the environment: the server is on this machine.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
