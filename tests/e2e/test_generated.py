"""The code that the console's query builder writes, run as it stands: what the server is then asked is the request that the builder has.
Java and Rust run with DYNALITH_E2E_ALL=1, since their SDKs take long to build."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

IS_LONG = os.environ.get("DYNALITH_E2E_ALL") == "1"
AWS = os.environ.get("DYNALITH_AWS")
MODULES = os.environ.get("DYNALITH_NODE_MODULES")
JOBS = os.environ.get("DYNALITH_E2E_JOBS", "1")

from harness import ROOT, Server, create_app, run  # noqa: E402 (takes the variables away)
from listener import Listener  # noqa: E402

AWS = AWS or shutil.which(str(ROOT / "build/deps/cli/bin/aws")) or shutil.which("aws")
MODULES = pathlib.Path(MODULES or ROOT / "build/deps/node_modules")
BUILT = ROOT / "build/e2e"
SETS = ("SS", "NS", "BS")
# What means something in a string of one of the languages or of the shell, and characters of one to four bytes.
HOSTILE = "'\"\\ \\n \\u0041 \\b ${x} $(x) `x` %s {} {0} */ # \t\n\r\x01\x7f é \u2028 \u20ac \U0001f600"
ALL_TYPES = {":s": {"S": HOSTILE}, ":n": {"N": "12345678901234567890.123456789012345678"}, ":ss": {"SS": ["a", HOSTILE]}, ":ns": {"NS": ["1", "-2.5"]},
             ":t": {"BOOL": True}, ":f": {"BOOL": False}, ":z": {"NULL": True}, ":l": {"L": [{"S": "x"}, {"N": "1"}, {"L": []}]},
             ":m": {"M": {"B": {"S": "named as a type"}, HOSTILE: {"BOOL": True}, "__proto__": {"N": "1"}, "deep": {"M": {}}}}}
BINARY = {":b": {"B": "AAECf4D//g=="}, ":bs": {"BS": ["AQI=", "/w=="]}, ":lb": {"L": [{"B": "Ig=="}]}}  # 0x22 ends a string


def query(values):
    names = {f"#{n[1:]}": f"a {n[1:]}" for n in values} | {"#p": "PK", "#h": HOSTILE}
    return "Query", {"TableName": "app", "KeyConditionExpression": "#p = :p", "FilterExpression": " OR ".join(["attribute_exists(#h)"] + [f"#{n[1:]} = {n}" for n in values]),
                     "ExpressionAttributeNames": names, "ExpressionAttributeValues": {":p": {"S": "CUSTOMER#1"}, **values}, "ScanIndexForward": False, "Limit": 3}


REQUESTS = {
    "types": query(ALL_TYPES),
    "binary": query(BINARY),
    "scan": ("Scan", {"TableName": "app", "IndexName": "GSI1", "ProjectionExpression": "PK, SK", "Select": "SPECIFIC_ATTRIBUTES", "ReturnConsumedCapacity": "INDEXES"}),
    "get": ("GetItem", {"TableName": "app", "Key": {"PK": {"S": HOSTILE}, "SK": {"S": "PROFILE"}}, "ConsistentRead": True, "ProjectionExpression": "#d", "ExpressionAttributeNames": {"#d": "data"}}),
}
WRITER = """import { readFileSync, writeFileSync } from "node:fs";
import { codeFor } from "./ui/code.js";
const { requests, files, url } = JSON.parse(readFileSync(0, "utf8"));
for (const [language, name, path] of files) writeFileSync(path, codeFor(language, ...requests[name], { url, region: "us-east-1", key: name === "get" ? undefined : "000000000000" }));
"""


class Between(Listener):
    """Hands requests on to the server, and keeps what was asked."""

    def __init__(self, server):
        self.server, self.asked = server, []
        super().__init__()

    def respond(self, request, body):
        headers = {n: request.headers[n] for n in ("Authorization", "Content-Type", "X-Amz-Date", "X-Amz-Target")}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.server.url + request.path, body, headers), timeout=120) as reply:
                status, given, answer = reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as e:
            status, given, answer = e.code, e.headers, e.read()
        self.asked.append((status, headers["X-Amz-Target"].rpartition(".")[2], json.loads(body)))
        return status, {n: given[n] for n in ("Content-Type", "x-amz-crc32") if given[n]}, answer


def plain(value):
    """Sets have no order."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: sorted(v) if k in SETS and isinstance(v, list) else plain(v) for k, v in value.items()}
    return value


def check(language, suffix, execute, names=tuple(REQUESTS), folders=False):
    """execute(folder, paths) runs the files of code in their order."""
    server = Server()
    create_app(server.client())
    between = Between(server)
    with tempfile.TemporaryDirectory(prefix="dynalith-generated-") as text:
        folder = pathlib.Path(text)
        for shelf in ("model", "ui"):
            (folder / "console" / shelf).mkdir(parents=True)
        for name in ("ui/code.js", "model/types.js"):
            shutil.copy(ROOT / "console" / name, folder / "console" / name)
        (folder / "console/package.json").write_text('{"type": "module"}')
        (folder / "console/writer.js").write_text(WRITER)
        paths = [folder / name / f"main{suffix}" if folders else folder / f"{name}{suffix}" for name in names]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
        subprocess.run(["node", folder / "console/writer.js"], check=True, text=True,
                       input=json.dumps({"requests": REQUESTS, "files": [[language, n, str(p)] for n, p in zip(names, paths)], "url": between.url}))
        execute(folder, paths)
    expected = [(200, operation, plain(request)) for operation, request in (REQUESTS[n] for n in names)]
    asked = [(status, operation, plain(request)) for status, operation, request in between.asked]
    assert len(asked) == len(expected), (language, asked)
    for a, e in zip(asked, expected):
        assert a == e, f"{language}:\n{a}\nis not\n{e}"
    server.stop()


def done(*command, cwd=None, **environment):
    """The command, without the user's own profile of AWS."""
    clean = {n: v for n, v in os.environ.items() if not n.startswith("AWS_")}
    with tempfile.TemporaryDirectory() as home:
        own = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
               "AWS_CONFIG_FILE": f"{home}/config", "AWS_SHARED_CREDENTIALS_FILE": f"{home}/credentials"}
        made = subprocess.run([str(c) for c in command], cwd=cwd, env={**clean, **own, **environment}, capture_output=True, text=True, timeout=900)
    assert made.returncode == 0, f"{made.stdout[-3000:]}\n{made.stderr[-6000:]}"
    return made.stdout


def path_with(*folders):
    return os.pathsep.join([os.environ["PATH"], *folders])


def has(program, *folders):
    return shutil.which(program, path=path_with(*folders))


def python():
    check("Python", ".py", lambda folder, paths: done(sys.executable, "-c", "import runpy, sys\nfor path in sys.argv[1:]: runpy.run_path(path, run_name='__main__')", *paths))


def javascript():
    def execute(folder, paths):
        (folder / "node_modules").symlink_to(MODULES)
        (folder / "all.mjs").write_text("".join(f'await import("./{p.name}");\n' for p in paths))
        done("node", "all.mjs", cwd=folder)
    check("JavaScript", ".mjs", execute)


def cli():
    """Without binary values: version 1 of the CLI, which is here, takes them as bytes; version 2 as base64, which is what the code has."""
    if not AWS:
        return
    names = [n for n in REQUESTS if n != "binary"]
    check("CLI", ".sh", lambda folder, paths: [done("sh", p, PATH=os.pathsep.join([str(pathlib.Path(AWS).parent), os.environ["PATH"]])) for p in paths], names)


def go():
    environment = {"GOPROXY": "off", "GOFLAGS": "-mod=readonly", "PATH": path_with("/usr/local/go/bin")}
    modules = ROOT / "tests/e2e/go"
    if not has("go", "/usr/local/go/bin") or subprocess.run(["go", "list", "-deps", "."], cwd=modules, env={**os.environ, **environment}, capture_output=True).returncode:
        return  # its modules come with make deps-test

    def execute(folder, paths):
        for name in ("go.mod", "go.sum"):
            shutil.copy(modules / name, folder)
        (folder / "programs").mkdir()
        done("go", "vet", *[f"./{p.parent.name}" for p in paths], cwd=folder, **environment)
        done("go", "build", "-o", "programs/", *[f"./{p.parent.name}" for p in paths], cwd=folder, **environment)
        for path in paths:
            done(folder / "programs" / path.parent.name)
    check("Go", ".go", execute, folders=True)


def java():
    if not has("mvn") or not has("javac"):
        return
    BUILT.joinpath("java").mkdir(parents=True, exist_ok=True)
    done("mvn", "-B", "-q", "dependency:build-classpath", f"-Dmdep.outputFile={BUILT}/java/classpath", cwd=ROOT / "tests/e2e/java")
    classpath = BUILT.joinpath("java/classpath").read_text()
    check("Java", ".java", lambda folder, paths: [done("java", "-cp", classpath, p) for p in paths])


def rust():
    if not has("cargo", f"{pathlib.Path.home()}/.cargo/bin"):
        return

    def execute(folder, paths):
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / "tests/e2e/rust" / name, folder)
        (folder / "src/bin").mkdir(parents=True)
        for path in paths:
            path.rename(folder / "src/bin" / path.name)
        done("cargo", "build", "--quiet", "--locked", "-j", JOBS, "--target-dir", BUILT / "rust", cwd=folder, PATH=path_with(f"{pathlib.Path.home()}/.cargo/bin"))
        for path in paths:
            done(BUILT / "rust/debug" / path.stem)
    check("Rust", ".rs", execute)


run("generated", [python, javascript, cli, go] + ([java, rust] if IS_LONG else []))
