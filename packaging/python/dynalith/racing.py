"""races(): the clients of a test run again and again, each time with another order of their requests. `dynalith races` decides which, and has a server for each run."""
from __future__ import annotations

import copy
import json
import queue
import re
import subprocess
import threading
from typing import Any, Callable

SWITCHES = ("lost_answers", "throttling", "conflicts", "lag", "ttl")
VALUES = ("budget", "seed", "order", "out", "html", "replays", "invariants", "init", "quiet_ms")


def _words(options: dict[str, Any]) -> list[str]:
    unknown = [name for name in options if name not in SWITCHES + VALUES]
    if unknown:
        raise TypeError(f"races() has no option {unknown[0]}; there are before, check, {', '.join(VALUES + SWITCHES)}")
    words: list[str] = []
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        words += ([flag] if value else []) if name in SWITCHES else [flag, str(value)]
    return words


def _namespace(url: str, name: str = "", transport: Any = None) -> Any:
    from dynalith import Namespace

    class Named(Namespace):
        _in_process = transport

        def _settings(self, more: dict[str, Any]) -> dict[str, Any]:
            from botocore.config import Config
            own = Config(user_agent_appid=name) if name else Config()
            return super()._settings({**more, "config": own.merge(more.get("config") or Config())})

    return Named(url)


class _Run:
    """A run against a server of `dynalith races`."""

    def __init__(self, about: str, tell: Callable[[str], None]) -> None:
        self.url = about

    def namespace(self, name: str = "") -> Any:
        return _namespace(self.url, name)

    def hear(self, word: str, rest: str) -> bool:
        """Whether the line is about a request."""
        return False

    def close(self) -> None:
        pass


class _InProcess(_Run):
    """A run whose engine is libdynalith in this process; `dynalith races` holds its requests. The lines are those of server/races/race_run.h."""

    def __init__(self, about: str, tell: Callable[[str], None]) -> None:
        from dynalith import Dynalith
        self._tell = tell
        self._server = Dynalith(*(f"--{name.replace('.', '-')}={value}" for name, value in json.loads(about).items()), in_process=True)
        super().__init__(self._server.url, tell)
        self._transport = self._server._in_process
        self._lock, self._count = threading.Lock(), 0
        self._waiting: dict[int, queue.SimpleQueue[str]] = {}

    def namespace(self, name: str = "") -> Any:
        mine = copy.copy(self._transport)
        mine.library = _Held(self, self._transport.library, name)
        return _namespace(self.url, name, mine)

    def hold(self, about: dict[str, Any], carry_out: Callable[[], Any]) -> Any:
        with self._lock:
            self._count += 1
            number, lines = self._count, queue.SimpleQueue()
            self._waiting[number] = lines
        self._tell(f"came {number} {json.dumps(about)}")
        lines.get()  # go
        status, headers, body = carry_out()
        self._tell(f"answered {number} {status} {json.dumps(body.decode())}")
        return (0, {}, b"") if lines.get() == "lost" else (status, headers, body)

    def hear(self, word: str, rest: str) -> bool:
        if word == "ask":
            it = json.loads(rest)
            headers = [(name, it[member]) for name, member in (("X-Amz-Target", "target"), ("Authorization", "authorization")) if member in it]
            status, _, body = self._transport.library.send(it["method"], it["path"], it["body"], headers)
            self._tell(f"asked {status} {json.dumps(body.decode())}")
        elif word in ("go", "done", "lost"):
            self._waiting[int(rest)].put(word)
        else:
            return False
        return True

    def close(self) -> None:
        self._server.stop()


class _Held:
    """The library as a client of a run has it."""

    def __init__(self, run: _InProcess, library: Any, name: str) -> None:
        self._run, self._library, self._name = run, library, re.sub(r"[^\w.-]", "-", name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def send(self, method: str, path: str, body: Any = None, headers: Any = (), **who: Any) -> Any:
        given = {name.lower(): value.decode() if isinstance(value, bytes) else value for name, value in headers}
        if method != "POST" or "x-amz-target" not in given:
            return self._library.send(method, path, body, headers, **who)
        about = {member: given[name] for member, name in (("target", "x-amz-target"), ("attempt", "amz-sdk-request"), ("authorization", "authorization")) if name in given}
        if self._name:
            about["agent"] = f"app/{self._name}"
        about["body"] = body.decode() if isinstance(body, bytes) else body or ""
        return self._run.hold(about, lambda: self._library.send(method, path, body, headers, **who))


def _run_once(made: _Run, clients: tuple[Callable[[Any], Any], ...], before: Callable[[Any], Any] | None, check: Callable[[Any], Any] | None) -> str:
    problems: list[Exception] = []

    def run(client: Callable[[Any], Any], name: str) -> None:
        try:
            client(made.namespace(name))
        except Exception as problem:  # the first one is the run's
            problems.append(problem)

    if before:
        run(before, "")
    threads = [threading.Thread(target=run, args=(client, getattr(client, "__name__", "").strip("<>") or f"client{i}")) for i, client in enumerate(clients, 1)]
    for thread in threads if not problems else []:
        thread.start()
    for thread in threads if not problems else []:
        thread.join()
    if check and not problems:
        run(check, "")
    return "failed: " + " ".join((str(problems[0]) or repr(problems[0])).split()) if problems else "passed"


def races(*clients: Callable[[Any], Any], before: Callable[[Any], Any] | None = None, check: Callable[[Any], Any] | None = None, in_process: bool = False, **options: Any) -> str:
    """Runs the clients, each in a thread and with a Namespace of its own, between `before` and `check`. AssertionError has the order that fails; else says what was tried.

    With in_process=True each run has an engine in this process, by libdynalith, in the place of a server."""
    from dynalith import find_binary
    told: list[str] = []
    lock, begun = threading.Lock(), queue.SimpleQueue()  # of what stands behind "run"; None: there is no further one
    run = _Run("", print)
    words = [find_binary(), "races", "--in-process" if in_process else "--by-lines", *_words(options)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdin and process.stdout

        def tell(line: str) -> None:
            try:
                with lock:
                    process.stdin.write(line + "\n")
                    process.stdin.flush()
            except BrokenPipeError:
                pass  # it has ended: its status says why

        def read() -> None:
            for line in process.stdout:
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "run":
                    begun.put(rest)
                elif not run.hear(word, rest):
                    told.append(line)
            begun.put(None)

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            for about in iter(begun.get, None):
                run.close()
                run = (_InProcess if in_process else _Run)(about, tell)
                tell(_run_once(run, clients, before, check))
        finally:
            run.close()
        process.stdin.close()
        reader.join()
    if process.returncode != 0:
        raise AssertionError("".join(told))
    return "".join(told)
