"""A DynamoDB-compatible server for tests, and clients for it.

    from dynalith import Dynalith

    with Dynalith() as server:
        server.client().list_tables()

The server is a native process on a free port of 127.0.0.1, in memory, and ends with this process, also where this process is killed. With
Dynalith(in_process=True) there is neither a process nor a port: the server is a library in this process.
"""
from __future__ import annotations

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
from typing import Any, BinaryIO

from dynalith import library as _library
from dynalith.racing import races

__all__ = ["Clock", "Dynalith", "DynalithError", "Faults", "Namespace", "find_binary", "find_library", "races"]
find_library = _library.find_library
ACCOUNT, REGION = "000000000000", "us-east-1"


class DynalithError(Exception):
    """The server did not start, or an endpoint of test control refused; the text says why."""


def find_binary() -> str:
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

    _in_process: Any = None  # a Transport of dynalith.library, in the place of HTTP

    def __init__(self, url: str, account: str = ACCOUNT, region: str = REGION) -> None:
        self.url, self.account, self.region = url, account, region
        self.clock, self.faults = Clock(self), Faults(self)

    def _settings(self, more: dict[str, Any]) -> dict[str, Any]:
        return {"endpoint_url": self.url, "region_name": self.region, "aws_access_key_id": self.account, "aws_secret_access_key": "any", **more}

    def client(self, service: str = "dynamodb", **more: Any) -> Any:
        """A client of boto3; service may be "dynamodbstreams" too."""
        import boto3
        if self._in_process:
            return self._in_process.client(boto3.client, service, **self._settings(more))
        return boto3.client(service, **self._settings(more))

    def resource(self, **more: Any) -> Any:
        """A resource of boto3, as boto3.resource("dynamodb") makes it."""
        import boto3
        if self._in_process:
            return self._in_process.client(boto3.resource, "dynamodb", **self._settings(more))
        return boto3.resource("dynamodb", **self._settings(more))

    def control(self, method: str, path: str, body: Any = None) -> Any:
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

    def reset(self, **what: Any) -> Any:
        """As new: no tables. reset(keep="tables") empties them."""
        return self.control("POST", "reset", what or None)

    def checkpoint(self, name: str) -> Any:
        """Keeps the state under that name, for rollback()."""
        return self.control("POST", "checkpoints", {"name": name})

    def rollback(self, name: str) -> Any:
        """Back to the state of the checkpoint, which stays."""
        return self.control("POST", f"checkpoints/{name}/rollback")

    def forget(self, name: str) -> Any:
        """Forgets the checkpoint; the state stays."""
        return self.control("DELETE", f"checkpoints/{name}")

    def apply(self, *files: str | os.PathLike[str]) -> None:
        """Makes the tables and items of templates, plans, exports, CSV: whatever `dynalith apply` reads."""
        if self._in_process:
            self._in_process.apply(files, self.account, self.region)
            return
        environment = {**os.environ, "AWS_ACCESS_KEY_ID": self.account, "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": self.region}
        done = subprocess.run([find_binary(), "apply", *map(str, files), "--endpoint", self.url], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise DynalithError(done.stderr.strip())


class Clock:
    """The clock of a namespace, by which time to live, streams, backups and throughput go."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def advance(self, by: float | str) -> Any:
        """Seconds, or a text such as "90m"."""
        return self._namespace.control("POST", "clock", {"advance": by})

    def set(self, to: float | str, freeze: bool = False) -> Any:
        """ISO 8601 or seconds since 1970."""
        return self._namespace.control("POST", "clock", {"set": to, "freeze": freeze})

    def freeze(self, is_frozen: bool = True) -> Any:
        """Stops the clock, or lets it go on."""
        return self._namespace.control("POST", "clock", {"freeze": is_frozen})


class Faults:
    """The rules by which requests of a namespace fail; docs/testing.md of the server describes them."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def set(self, *rules: dict[str, Any]) -> Any:
        """These rules in the place of all: {"operation": "PutItem", "first": 2, "error": "ThrottlingException"}."""
        return self._namespace.control("PUT", "faults", {"rules": list(rules)})

    __call__ = set

    def fired(self) -> list[int]:
        """How often each rule has fired."""
        return [rule["fired"] for rule in self._namespace.control("GET", "faults")["rules"]]

    def clear(self) -> Any:
        """No request fails any longer."""
        return self._namespace.control("DELETE", "faults")


class Dynalith(Namespace):
    """A server, and its default namespace.

    The arguments are the server's options: Dynalith("--auth", "verify"). With `url` it stands for a server that runs already. With in_process=True the
    server is libdynalith in this process: clients of boto3 that client() and resource() make call it, without a socket. A child of fork() needs one of
    its own.
    """

    def __init__(self, *arguments: str, url: str | None = None, log_path: str | None = None, in_process: bool = False) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owns_log = False
        self._log_file: BinaryIO | None = None  # a log without a name: it ends with this process
        self.log_path = log_path
        if in_process and url:
            raise ValueError("in_process and url exclude each other")
        super().__init__(self._open(arguments) if in_process else url or self._start(arguments))

    def _name_log(self) -> str:
        if not self.log_path:
            handle, self.log_path = tempfile.mkstemp(prefix="dynalith-", suffix=".log")
            os.close(handle)
            self._owns_log = True
        return self.log_path

    def _open(self, arguments: tuple[str, ...]) -> str:
        path = find_library()
        if not path:
            raise DynalithError("there is no libdynalith beside this package or on this system: make library makes one, and DYNALITH_LIBRARY names it")
        self._name_log()
        try:
            self._in_process = _library.Transport(path, arguments, self.log_path, DynalithError)
        except Exception:
            self.stop()
            raise
        if self._owns_log and self.log_path:
            self._log_file = open(self.log_path, "rb")
            os.unlink(self.log_path)
            self.log_path, self._owns_log = None, False
        atexit.register(self.stop)  # before the interpreter ends, which the library's threads must not outlive
        return _library.URL

    def _start(self, arguments: tuple[str, ...]) -> str:
        log_path = self._name_log()
        own = [] if {"--db-path", "--store", "--in-memory"} & {a.split("=")[0] for a in arguments} else ["--in-memory"]
        if "--port" not in {a.split("=")[0] for a in arguments}:
            own += ["--port", "0"]
        with open(log_path, "ab") as log:
            # Its standard input ends with this process, and the server with its standard input.
            own += ["--exit-with-parent", *(["--remove-on-exit", log_path] if self._owns_log else [])]
            self._process = subprocess.Popen([find_binary(), *own, *arguments], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=log)
        assert self._process.stdout
        line = self._process.stdout.readline().decode().strip()
        self._process.stdout.close()
        if not line:
            status, text = self._process.wait(), self.log()
            self.stop()
            raise DynalithError(text.strip() or f"the server ended with status {status}")
        with _direct.open(f"{line}/_dynalith/health", timeout=60):
            return line

    def namespace(self, account: str | int, region: str = REGION) -> Namespace:
        """Tables of its own; `account` is a number of 12 digits, and the access key of those who use it."""
        namespace = Namespace(self.url, str(account).zfill(12), region)
        namespace._in_process = self._in_process
        return namespace

    def log(self, start: int = 0) -> str:
        """What the server has written to its log, from that byte on."""
        if self._log_file:
            self._log_file.seek(start)
            return self._log_file.read().decode(errors="replace")
        if not self.log_path:
            return ""
        with open(self.log_path, "rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    def log_size(self) -> int:
        """How many bytes the log has."""
        if self._log_file:
            return os.fstat(self._log_file.fileno()).st_size
        return os.path.getsize(self.log_path) if self.log_path else 0

    def stop(self) -> None:
        """Ends the server, and removes its log."""
        if self._in_process:
            atexit.unregister(self.stop)
            self._in_process.close()
        if self._log_file:
            self._log_file.close()
            self._log_file = None
        if self._process and self._process.returncode is None:
            assert self._process.stdin
            self._process.stdin.close()
            self._process.wait()
        if self._owns_log:
            self._owns_log = False
            pathlib.Path(self._name_log()).unlink(missing_ok=True)

    def __enter__(self) -> Dynalith:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


# Without the proxies of the environment: the server is on this machine.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
