"""What the tests of all packages share: a count of what passed, and processes by what they are."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r'DYNALITH_VERSION "(.*)"', (ROOT / "server/version.h").read_text()).group(1)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("DYNALITH", "AWS_", "PYTHON", "PYTEST"))}


class Tests:
    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0

    def run(self, test, *arguments):
        try:
            with tempfile.TemporaryDirectory(prefix="dynalith-package-") as folder:
                test(pathlib.Path(folder), *arguments)
            self.passed += 1
        except Exception:  # the next test runs all the same
            self.failed += 1
            print(f"{self.name} {test.__name__} failed")
            traceback.print_exc()

    def end(self):
        print(f"packages {self.name}: {self.passed} passed, {self.failed} failed", flush=True)
        return self.failed


def run(command, folder, status=0, **more):
    """Runs it in that folder, with an environment that names no server and no keys; returns what it printed. A status of None: any but 0."""
    done = subprocess.run(list(map(str, command)), cwd=folder, env={**ENVIRONMENT, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == status or (status is None and done.returncode), f"status {done.returncode}\n{done.stdout[-6000:]}"
    return done.stdout


def until(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def is_alive(pid):
    """A process that has ended and that nobody has waited for is not alive."""
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def blocks(readme, language):
    return re.findall(rf"```{language}\n(.*?)```", pathlib.Path(readme).read_text(), flags=re.S)


def server_of(pid):
    """The process of the server that this process has started, or that one of its children has."""
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, rest = path.read_text().split("(", 1)[1].rsplit(")", 1)
            children.setdefault(int(rest.split()[1]), []).append((int(path.parent.name), name))
    wanted = [pid]
    for parent in wanted:
        for child, name in children.get(parent, []):
            if name == "dynalith":
                return child
            wanted.append(child)
    return None


def killed_leaves_none(command, folder, **more):
    """The runner is killed in a test that waits for ever: its server ends by itself, and leaves no file in the folder for temporary files. Workers that outlive their
    runner, as Vitest's do, are ended after it."""
    temporary = pathlib.Path(folder) / "temporary"
    temporary.mkdir()
    runner = subprocess.Popen(list(map(str, command)), cwd=folder, env={**ENVIRONMENT, "TMPDIR": str(temporary), **more}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True)
    try:
        until(lambda: (pathlib.Path(folder) / "is-running").exists() or runner.poll() is not None, "the test began")
        assert runner.poll() is None, f"the runner ended with status {runner.returncode}"
        server = server_of(runner.pid)
        assert server and is_alive(server)
        runner.kill()
        runner.wait()
        until(lambda: not is_alive(server), "the server ended")
        until(lambda: not [*temporary.glob("dynalith*"), *temporary.glob("php*")], f"nothing is left of {list(temporary.iterdir())}")
    finally:
        runner.kill()
        runner.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(runner.pid, signal.SIGKILL)
