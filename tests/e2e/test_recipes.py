"""docs/testing.md: its recipes run as they stand, its commands too, and it names every endpoint."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import urllib.request

from harness import ROOT, Server, run

PAGE = (ROOT / "docs/testing.md").read_text()
MODULES = os.environ.get("NODE_MODULES_OF_TESTS", str(ROOT / "build/deps/node_modules"))


def blocks(language):
    """Of the section of recipes: what other sections show is not whole."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE[PAGE.index("\n## Recipes\n"):], flags=re.S)


def pytest_recipe():
    """With a stand-in for pytest: fixtures that are generators, and tests that take them by name."""
    server = Server()
    os.environ["DYNALITH"] = server.url
    sys.modules["pytest"] = types.SimpleNamespace(fixture=lambda function: function)
    names = {}  # the later ones use the fixture of the first
    for block in blocks("python"):
        exec(block, names)
        tests = [n for n in names if n.startswith("test_")]
        for name in tests * 2:  # the second run finds nothing of the first
            request = types.SimpleNamespace(node=types.SimpleNamespace(nodeid=name))
            fixture = names["dynalith"](request)
            names[name](next(fixture))
            list(fixture)
        assert tests
    server.stop()


def javascript_recipe():
    if not shutil.which("node") or not os.path.isdir(f"{MODULES}/@aws-sdk/client-dynamodb"):
        return
    server = Server()
    head = f"""import {{ test, beforeEach }} from "node:test";
import {{ createRequire }} from "node:module";
const {{ DynamoDBClient, CreateTableCommand, PutItemCommand }} = createRequire({json.dumps(MODULES + "/x.js")})("@aws-sdk/client-dynamodb");
"""
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks("js"):
            path = pathlib.Path(folder, "recipe.test.mjs")
            path.write_text(head + block)
            done = subprocess.run(["node", "--test", str(path)], env={**os.environ, "DYNALITH": server.url, "JEST_WORKER_ID": "3"}, capture_output=True, text=True)
            assert done.returncode == 0 and "# pass 1" in done.stdout, done.stdout + done.stderr
    server.stop()


def go_recipe():
    """Where the SDK's modules are here already."""
    folder = ROOT / "tests/e2e/go"
    environment = {**os.environ, "GOPROXY": "off", "GOFLAGS": "-mod=readonly", "PATH": os.environ["PATH"] + ":/usr/local/go/bin"}
    if subprocess.run("command -v go >/dev/null && go list -deps . >/dev/null 2>&1", shell=True, cwd=folder, env=environment).returncode:
        return
    server = Server()
    imports = ["context", "fmt", "hash/crc32", "io", "net/http", "os", "strings", "testing", "github.com/aws/aws-sdk-go-v2/aws",
               "github.com/aws/aws-sdk-go-v2/credentials", "github.com/aws/aws-sdk-go-v2/service/dynamodb"]
    with tempfile.TemporaryDirectory() as copy:
        for name in ("go.mod", "go.sum"):
            shutil.copy(folder / name, copy)
        text = "package recipe\n\nimport (\n" + "".join(f"\t{json.dumps(i)}\n" for i in imports) + ")\n\nvar endpoint = os.Getenv(\"DYNALITH\")\n\n"
        pathlib.Path(copy, "recipe_test.go").write_text(text + "\n".join(blocks("go")))
        done = subprocess.run(["go", "test", "-count=1", "-v", "."], cwd=copy, env={**environment, "DYNALITH": server.url}, capture_output=True, text=True)
        assert done.returncode == 0 and "--- PASS: TestRetries" in done.stdout, done.stdout + done.stderr
    server.stop()


def commands():
    """The lines that begin with curl, in their order."""
    if not shutil.which("curl"):
        return
    server = Server()
    lines = re.findall(r"^    (curl .*)$", PAGE, flags=re.M)
    for line in lines:
        done = subprocess.run(line.replace("localhost:8000", f"127.0.0.1:{server.port}").replace("curl ", "curl -sS -w '%{http_code}' ", 1), shell=True, capture_output=True,
                              text=True)
        assert done.returncode == 0 and done.stdout.endswith("200"), (line, done.stdout, done.stderr)
    assert len(lines) > 5
    server.stop()


def the_page_names_every_endpoint():
    server = Server()
    for page in json.load(urllib.request.urlopen(f"{server.url}/_dynalith/"))["pages"]:
        assert page["path"] in PAGE, page
    server.stop()


run("recipes", [pytest_recipe, javascript_recipe, go_recipe, commands, the_page_names_every_endpoint])
