#!/usr/bin/env python3
"""Follows the pages docs/languages/ to the letter in empty folders: install, write the files, run. A page's first section
ends in a green test after at most 40 lines. Only the names of packages that are not published yet become files, and
other packages get pinned versions. The SDKs of Ruby, PHP and .NET are in none of the registries that tests use: for Ruby
and PHP tests/packages/sdk has a little of each in their place (and of PHPUnit), C# is parsed.

    tests/packages/pages.py FOLDER [javascript python go java rust ruby php dotnet ...]     FOLDER: the packages, by packaging/make-here

Rust's page builds the SDK first, for minutes: only with SDK=1 in the environment.
"""
import json
import os
import pathlib
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True
from check import ROOT, VERSION, Tests, run

MOST_LINES = 40
OUT = pathlib.Path()
SDK = ROOT / "tests/packages/sdk"
SERVER = pathlib.Path(os.environ.get("DYNALITH_BINARY") or ROOT / "build/release/dynalith").resolve()
NPM = dict(re.findall(r"^(\S+)@(\S+)$", (ROOT / "tests/packages/npm.txt").read_text(), re.M))
PIP = dict(re.findall(r"^(\S+)==(\S+)$", (ROOT / "tests/packages/requirements.txt").read_text(), re.M))
PLATFORMS = ("linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64")
NODE = ROOT / "build/deps/packages-npm/node_modules"
GO = shutil.which("go") or "/usr/local/go/bin/go"
TABLES = {"Resources": {"Users": {"Type": "AWS::DynamoDB::Table", "Properties": {
    "TableName": "users", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}}}}


def sections(page):
    """Heading: its blocks as (language, file's name or "", text)."""
    found, text = {}, (ROOT / "docs/languages" / page).read_text()
    for heading, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, flags=re.S | re.M):
        found[heading] = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", body, flags=re.S | re.M)
    return found


def write(folder, blocks):
    for _, name, text in blocks:
        if name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


def shell(folder, text, **more):
    return run(["bash", "-ec", text], folder, **more)


def first(page, folder):
    """The blocks of the first section up to the command that runs the test; their files are in the folder."""
    blocks = next(iter(sections(page).values()))
    commands = [i for i, (language, name, _) in enumerate(blocks) if language == "sh"]
    last = commands[1] if len(commands) > 1 and commands[0] == 0 else commands[0]
    blocks = blocks[:last + 1]
    lines = sum(len([line for line in text.split("\n") if line.strip()]) for _, _, text in blocks)
    assert lines <= MOST_LINES, f"{page}: {lines} lines to a green test, of at most {MOST_LINES}"
    folder.mkdir(exist_ok=True)
    write(folder, blocks)
    (folder / "tables.json").write_text(json.dumps(TABLES))
    return [text for language, _, text in blocks if language == "sh"]


def told(name, begin):
    print(f"packages pages: {name}: install to green in {time.monotonic() - begin:.1f} s")


def npm_install(line):
    """The two archives in place of `dynalith`, and the versions of tests/packages/npm.txt."""
    cpu = "x64" if os.uname().machine == "x86_64" else "arm64"
    words = [f"{OUT}/dynalith-{VERSION}.tgz {OUT}/dynalith-linux-{cpu}-{VERSION}.tgz" if w == "dynalith" else f"{w}@{NPM[w]}" if w in NPM else w for w in line.split()]
    return " ".join(words)


def vitest_by(manager, folder):
    install, test = first("javascript.md", folder)
    begin = time.monotonic()
    if manager == "yarn":  # takes no archive whose optional packages are in no registry yet
        archive = npm_install("dynalith").split()[1]
        install = install.split("\n", 1)[0] + " && npm pkg set " + " ".join(f"'resolutions.@dynalith/{other}=file:{archive}'" for other in PLATFORMS) + "\n" + install.split("\n", 1)[1]
    if manager != "npm":
        install = re.sub(r"npm install --save-dev", f"{NODE}/.bin/{manager} add --dev" if manager == "yarn" else f"{NODE}/.bin/pnpm add --save-dev", install)
        test = test.replace("npx", f"{NODE}/.bin/{manager}")
    shell(folder, "\n".join(map(npm_install, install.split("\n"))))
    assert re.search(r"Tests.* 2 passed", shell(folder, test, NO_COLOR="1"))
    told(f"JavaScript by {manager}, Vitest", begin)


def test_npm(folder):
    vitest_by("npm", folder)
    write(folder, sections("javascript.md")["Reset, clock, faults"])
    assert re.search(r"Tests.* 5 passed", shell(folder, "npx vitest run", NO_COLOR="1"))
    shell(folder, npm_install("npm install --save-dev typescript @types/node"))
    run(["npx", "tsc", "--init"], folder)  # as TypeScript writes it: strict
    run(["npx", "tsc", "--noEmit"], folder)


def test_node(folder):
    begin = time.monotonic()
    shell(folder, "npm init -y\n" + npm_install("npm install --save-dev dynalith @aws-sdk/client-dynamodb"))
    *files, (_, _, command) = sections("javascript.md")["node:test"]
    write(folder, files)
    assert re.search(r"^. pass 1$", shell(folder, command), re.M)
    told("JavaScript by npm, node:test", begin)


def test_pnpm(folder):
    vitest_by("pnpm", folder)


def test_yarn(folder):
    vitest_by("yarn", folder)


def test_jest(folder):
    install, = re.findall(r"^`(npm install .*?)`", (ROOT / "docs/languages/javascript.md").read_text(), flags=re.M)
    begin = time.monotonic()
    shell(folder, npm_install(install))
    about = json.loads((folder / "package.json").read_text())
    (_, _, preset), = sections("javascript.md")["Jest"]
    (folder / "package.json").write_text(json.dumps({**about, **json.loads(preset)}))
    test = next(text for _, name, text in sections("javascript.md")["A first test with Vitest"] if name == "orders.test.ts")
    test = re.sub(r'import (\{.*?\}) from (".*?");', lambda m: "" if "vitest" in m.group(2) else f"const {m.group(1)} = require({m.group(2)});", test)
    (folder / "orders.test.js").write_text(test)
    assert "Tests:       2 passed" in shell(folder, "npx jest")
    told("JavaScript by npm, Jest", begin)


def pip_install(folder, *more):
    """Installs what the page says and more; returns the line that makes it active, and the page's command that runs the test."""
    install, test = first("python.md", folder)
    wheel, = OUT.glob("dynalith-*.whl")
    wanted = " ".join(f"{name}=={PIP[name]}" for name in more)
    shell(folder, install.replace('"dynalith[boto3]" pytest', f'"{wheel}[boto3]" {wanted}'))
    write(folder, [b for heading in ("Reset, clock, faults", "unittest") for b in sections("python.md")[heading]])
    return ". venv/bin/activate\n", test


def test_python(folder):
    begin = time.monotonic()
    active, test = pip_install(folder, "pytest")
    (folder / "test_more.py").rename(folder / "later")
    (folder / "test_unit.py").rename(folder / "unit")
    assert "2 passed" in shell(folder, active + test)
    told("Python by pip, pytest", begin)
    (folder / "later").rename(folder / "test_more.py")
    assert "5 passed" in shell(folder, active + "pytest test_orders.py test_more.py")


def test_xdist(folder):
    begin = time.monotonic()
    active, _ = pip_install(folder, "pytest", "pytest-xdist")
    assert "5 passed" in shell(folder, active + "pytest -n 4 test_orders.py test_more.py")
    told("Python by pip, pytest-xdist with 4 workers", begin)


def test_unittest(folder):
    begin = time.monotonic()
    active, _ = pip_install(folder)
    assert "Ran 1 test" in shell(folder, active + "python -m unittest test_unit")
    told("Python by pip, unittest", begin)


def test_go(folder):
    install, test = first("go.md", folder)
    begin = time.monotonic()
    edits = next(text for _, _, text in sections("go.md")["A first test"] if "go mod edit" in text)
    lines = install.split("\n")
    pins = dict(re.findall(r"^\s*(github.com/\S+) (v\S+)", (ROOT / "tests/e2e/go/go.mod").read_text(), flags=re.M))
    lines[1:2] = edits.replace("../dynalith/build/packages/here/go", f"{OUT}/go").split("\n")
    pinned = [" ".join(f"{w}@{pins[w]}" if w in pins else w for w in line.split()) for line in lines]
    path = f"{pathlib.Path(GO).parent}:{os.environ['PATH']}"
    shell(folder, "\n".join(pinned), PATH=path)
    assert "ok" in shell(folder, "go mod tidy\n" + test, PATH=path)
    told("Go", begin)
    write(folder, sections("go.md")["Reset, clock, faults"])
    assert "ok" in shell(folder, test, PATH=path)


def test_maven(folder):
    test, = first("java.md", folder)
    begin = time.monotonic()
    local = ROOT / "build/deps/packages-maven"
    place = next(text for _, name, text in sections("java.md")["A first test"] if "<repositories>" in text and not name)
    pom = (folder / "pom.xml").read_text()
    (folder / "pom.xml").write_text(pom.replace("</project>", place.replace("file:///path/to/dynalith/build/packages/here/maven", (OUT / "maven").as_uri()) + "</project>"))
    write(folder, sections("java.md")["Reset, clock, faults"])
    text = shell(folder, test.replace("mvn", f"mvn -B -Dmaven.repo.local={local}"), XDG_CACHE_HOME=str(ROOT / "build/packages/cache"))
    assert "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0" in text, text
    told("Java by Maven, JUnit 5", begin)


def test_gradle(folder):
    first("java.md", folder)
    (folder / "pom.xml").unlink()
    (_, _, text), = sections("java.md")["Gradle"]
    (folder / "build.gradle").write_text(text.replace("mavenCentral() //", f"mavenCentral()\n\tmaven {{ url '{(OUT / 'maven').as_uri()}' }} //"))
    run(["gradle", "--no-daemon", "test"], folder)


def gradle_runs_junit5():
    """Debian 12 has Gradle 4.4, which does not."""
    if not shutil.which("gradle"):
        return False
    return int(re.search(r"Gradle (\d+)", run(["gradle", "--version"], ROOT)).group(1)) >= 7


def test_rust(folder):
    install, test = first("rust.md", folder)
    begin = time.monotonic()
    (folder / "tests").rename(folder / "later")
    shell(folder, install.replace("cargo add --dev dynalith\n", f"cargo add --dev dynalith --path {OUT}/rust\n"))
    (folder / "later").rename(folder / "tests")
    assert "2 passed" in shell(folder, test, CARGO_TARGET_DIR=str(ROOT / "build/packages/rust-target"))
    told("Rust", begin)


def with_server(folder):
    """PATH with the server, as if it were installed."""
    (folder / "bin").mkdir()
    (folder / "bin/dynalith").symlink_to(SERVER)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def test_ruby(folder):
    _, test = first("ruby.md", folder)
    begin = time.monotonic()
    text = shell(folder, test, PATH=with_server(folder), RUBYLIB=str(SDK), RUBYOPT="-w")
    assert "2 runs, 2 assertions, 0 failures, 0 errors" in text and "warning" not in text, text
    told("Ruby, Minitest", begin)


def test_php(folder):
    first("php.md", folder)
    begin = time.monotonic()
    text = run(["php", SDK / "phpunit.php", "FirstTest.php"], folder, PATH=with_server(folder))
    assert "OK (1 test, 1 assertion)" in text, text
    told("PHP", begin)


def test_dotnet(folder):
    first("dotnet.md", folder)
    run(["mcs", "--parse", "FirstTest.cs"], folder)


def has(*tools):
    return all(map(shutil.which, tools))


PAGES = {
    "javascript": (has("node", "npm"), (test_npm, test_pnpm, test_yarn, test_jest, test_node)),
    "python": (True, (test_python, test_xdist, test_unittest)),
    "go": (os.path.exists(GO), (test_go,)),
    "java": (has("mvn", "javac"), (test_maven, *((test_gradle,) if gradle_runs_junit5() else ()))),
    "ruby": (has("ruby"), (test_ruby,)),
    "php": (has("php"), (test_php,)),
    "dotnet": (has("mcs"), (test_dotnet,)),
    "rust": (has("cargo") and os.environ.get("SDK") == "1", (test_rust,)),
}


def main():
    global OUT
    OUT = pathlib.Path(sys.argv[1]).resolve()
    tests = Tests("pages")
    for name in sys.argv[2:] or PAGES:
        here, followed = PAGES[name]
        if not here:
            print(f"packages pages: {name} is not followed: its tools are not here, or SDK=1 is missing", file=sys.stderr)
        for test in followed if here else ():
            tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
