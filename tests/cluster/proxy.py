"""The proxy before a PostgreSQL (proxy/main.go): connections that are cut at chosen or random moments."""
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def go_build(folder, name, package="."):
    """Modules are fetched by make deps-test alone: a run asks no network. None: there is no Go, or a module is missing."""
    target = ROOT / "build/e2e" / name
    target.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=readonly", "PATH": os.environ["PATH"] + ":/usr/local/go/bin"}
    try:
        subprocess.run(["go", "build", "-buildvcs=false", "-o", target, package], cwd=folder, check=True, env=environment, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return str(target)


def build():
    return go_build(HERE / "proxy", "proxy")


class Proxy:
    """tell() gives it the lines that main.go lists."""

    def __init__(self, program, target, *flags):
        self.process = subprocess.Popen([program, "-target", target, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.address = self.process.stdout.readline().strip()

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")

    def counts(self):
        """How often each kind of cut came true; all lines before are carried out when it returns."""
        self.tell("counts")
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
