"""races(): the clients of a test run again and again, each time with another order of their requests. `dynalith races` decides which, and has a server for each run."""
from __future__ import annotations

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


def _namespace(url: str, name: str = "") -> Any:
    from dynalith import Namespace

    class Named(Namespace):
        def _settings(self, more: dict[str, Any]) -> dict[str, Any]:
            from botocore.config import Config
            own = Config(user_agent_appid=name) if name else Config()
            return super()._settings({**more, "config": own.merge(more.get("config") or Config())})

    return Named(url)


def _run_once(url: str, clients: tuple[Callable[[Any], Any], ...], before: Callable[[Any], Any] | None, check: Callable[[Any], Any] | None) -> str:
    problems: list[Exception] = []

    def run(client: Callable[[Any], Any], name: str) -> None:
        try:
            client(_namespace(url, name))
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


def races(*clients: Callable[[Any], Any], before: Callable[[Any], Any] | None = None, check: Callable[[Any], Any] | None = None, **options: Any) -> str:
    """Runs the clients, each in a thread and with a Namespace of its own, between `before` and `check`. AssertionError has the order that fails; else says what was tried."""
    from dynalith import find_binary
    told = []
    with subprocess.Popen([find_binary(), "races", "--by-lines", *_words(options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdin and process.stdout
        for line in process.stdout:
            if line.startswith("run "):
                process.stdin.write(_run_once(line[4:].strip(), clients, before, check) + "\n")
                process.stdin.flush()
            else:
                told.append(line)
    if process.returncode != 0:
        raise AssertionError("".join(told))
    return "".join(told)
