#!/usr/bin/env python3
"""The packages for npm in a project that has nothing but them, the SDK, Jest, Vitest and TypeScript.

    tests/packages/npm.py PACKAGE.tgz PLATFORM.tgz
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time

sys.dont_write_bytecode = True
from check import ENVIRONMENT, ROOT, Tests, blocks, is_alive, killed_leaves_none, run, until

README = (ROOT / "packaging/npm/README.md").read_text()
MODULES = ROOT / "build/deps/packages-npm/node_modules"
PACKAGES = []


def block(label):
    return re.search(rf"```{label}\n(.*?)```", README, flags=re.S).group(1)


def project(folder):
    """node_modules with the packages as npm would unpack them, and links to those that they are used with."""
    modules = folder / "node_modules"
    modules.mkdir(parents=True)
    for other in MODULES.iterdir():
        if other.name != "dynalith" and other.name != "@dynalith":
            (modules / other.name).symlink_to(other)
    for path in PACKAGES:
        with tarfile.open(path) as tar:
            match = re.match(r"dynalith-(\w+-\w+)-\d", pathlib.Path(path).name)
            place = modules / (f"@dynalith/{match.group(1)}" if match else "dynalith")
            place.mkdir(parents=True)
            for member in tar.getmembers():
                member.name = member.name.removeprefix("package/")
                tar.extract(member, place)
    (folder / "package.json").write_text('{"jest": {"preset": "dynalith", "testTimeout": 120000}}')
    return folder


def jest(folder, *more):
    return [folder / "node_modules/.bin/jest", "--rootDir", folder, *more]


def vitest(folder, *more):
    return ["node", folder / "node_modules/vitest/vitest.mjs", "run", "--root", folder, "--no-cache", "--testTimeout", "120000", *more]


def esm(test):
    """A test that is written for Jest, for Vitest."""
    return 'import { afterAll, beforeAll, expect, test } from "vitest";\n' + re.sub(r"const (\{.*?\}) = require\((.*?)\)", r"import \1 from \2", test)


def test_installs(folder):
    """npm itself takes the two files, and the command is there."""
    (folder / "package.json").write_text("{}")
    run(["npm", "install", "--offline", "--no-audit", "--no-fund", "--omit=optional", *PACKAGES], folder)
    assert "\ndynalith " in "\n" + run(["npx", "--no-install", "dynalith", "--version"], folder)


def test_readme(folder):
    project(folder)
    example = re.search(r"```js\n(.*?)```", README, flags=re.S).group(1)
    (folder / "example.mjs").write_text(example)
    assert "orders" in run(["node", "example.mjs"], folder)
    (folder / "example.cjs").write_text(re.sub(r"import (\{.*?\}) from (\S+);", r"const \1 = require(\2);", example).replace("const server", "(async () => {\nconst server") + "})();\n")
    assert "orders" in run(["node", "example.cjs"], folder)
    (folder / "readme.test.js").write_text(block("js test"))
    assert re.search(r"Tests: +3 passed", run(jest(folder), folder))
    (folder / "readme.test.js").unlink()
    (folder / "vitest.config.mjs").write_text(block("js vitest.config.mjs"))
    (folder / "readme.test.mjs").write_text(esm(block("js test")))
    assert re.search(r"Tests.* 3 passed", run(vitest(folder), folder))


def test_types(folder):
    project(folder)
    (folder / "use.mts").write_text('''import { Dynalith, Namespace } from "dynalith";
import plugin from "dynalith/vitest";
const server: Dynalith = await Dynalith.start("--auth", "off");
const own: Namespace = server.namespace(7);
const endpoint: string = own.config.endpoint, fired: number[] = await own.faults.fired();
await dynalith.clock.advance("90m");
console.log(endpoint, fired, plugin().name);
''')
    run(["node", MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "use.mts"], folder)
    # A test for Vitest beside its configuration, which alone says what `dynalith` is.
    (folder / "vitest.config.mts").write_text('import { defineConfig } from "vitest/config";\nimport dynalith from "dynalith/vitest";\nexport default defineConfig({ plugins: [dynalith()] });\n')
    (folder / "orders.test.mts").write_text("""import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
const client = new DynamoDBClient(dynalith.config);
test("has no tables", async () => {
  expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([]);
  await dynalith.clock.advance("1h");
});
""")
    run(["node", MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "vitest.config.mts", "orders.test.mts"], folder)
    (folder / "wrong.mts").write_text('import { Dynalith } from "dynalith";\nconst server: number = await Dynalith.start();\n')
    text = run(["node", MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node", "wrong.mts"], folder, status=2)
    assert "wrong.mts(2" in text and text.count("error") == 1, text


MANY = '''
let i = 0;
for (; i < 50; i++) {
  const n = i;
  test(`alone ${n}`, async () => {
    expect(await count()).toBe(0);
    await put();
    if (n % 10 == 0) await dynalith.control("POST", "reset", { tables: ["orders"] });
    else expect(await count()).toBe(1);
  });
}
'''


def test_workers(folder):
    """200 tests in 4 files and 4 workers, each in its own tables."""
    for name, command, suffix, change in (("Jest", jest, ".test.js", lambda text: text), ("Vitest", vitest, ".test.mjs", esm)):
        place = project(folder / name)
        if name == "Vitest":
            (place / "vitest.config.mjs").write_text(block("js vitest.config.mjs"))
        test = block("js test")
        for i in range(4):
            (place / f"many{i}{suffix}").write_text(change(test[:test.index("\ntest(")] + MANY))
        workers = ["--maxWorkers=4"] + (["--minWorkers=1"] if name == "Vitest" else [])
        begin = time.monotonic()
        assert re.search(r"Tests.*\b200 passed", run(command(place, *workers), place))
        whole = time.monotonic() - begin
        for i in range(4):
            (place / f"many{i}{suffix}").write_text(change('const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");\nfor (let i = 0; i < 50; i++) test(`${i}`, () => {});\n'))
        (place / "package.json").write_text("{}")
        (place / "vitest.config.mjs").unlink(missing_ok=True)
        begin = time.monotonic()
        assert re.search(r"Tests.*\b200 passed", run(command(place, *workers), place))
        print(f"packages npm: {name}, 200 tests in 4 workers: {whole:.1f} s, {whole - (time.monotonic() - begin):.1f} s more than tests that do nothing")


def test_log(folder):
    """A failed test shows the log of that while."""
    failing = ('const { DynamoDBClient, ListTablesCommand } = require("@aws-sdk/client-dynamodb");\n'
               'test("fails", async () => { await new DynamoDBClient(dynalith.config).send(new ListTablesCommand({})); expect(1).toBe(2); });\n')
    for name, command, suffix, change in (("jest", jest, ".test.js", lambda text: text), ("vitest", vitest, ".test.mjs", esm)):
        place = project(folder / name)
        (place / "package.json").write_text('{"jest": {"preset": "dynalith"}, "dynalith": ["--log-level", "debug"]}')
        (place / "vitest.config.mjs").write_text('import dynalith from "dynalith/vitest";\nexport default { plugins: [dynalith("--log-level", "debug")] };\n')
        (place / f"fails{suffix}").write_text(change(failing))
        text = run(command(place), place, status=1)
        assert "ListTables" in text[text.index("log of dynalith during"):], text


def test_killed(folder):
    waiting = 'import fs from "node:fs";\ntest("waits", async () => { await dynalith.control("GET", "clock"); fs.writeFileSync("is-running", ""); await new Promise((r) => setTimeout(r, 600000)); }, 600000);\n'
    place = project(folder / "jest")
    (place / "waits.test.js").write_text(waiting.replace('import fs from "node:fs"', 'const fs = require("node:fs")'))
    killed_leaves_none(["node", place / "node_modules/jest/bin/jest.js", "--rootDir", place], place)
    place = project(folder / "vitest")
    (place / "vitest.config.mjs").write_text(block("js vitest.config.mjs"))
    (place / "waits.test.mjs").write_text(esm(waiting))
    killed_leaves_none(vitest(place), place)
    place = project(folder / "program")
    (place / "waits.cjs").write_text('require("dynalith").Dynalith.start().then((s) => { console.log(s.pid); setInterval(() => {}, 1000); });\n')
    program = subprocess.Popen(["node", "waits.cjs"], cwd=place, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    server = int(program.stdout.readline())
    program.kill()
    program.communicate()
    until(lambda: not is_alive(server), "the server ended")


def test_start(folder):
    """From the call to the first answer, in processes of their own and without the loading of the SDK: it speaks by node:http, too."""
    project(folder)
    (folder / "start.mjs").write_text('''import http from "node:http";
import { Dynalith } from "dynalith";
const begin = performance.now();
const server = await Dynalith.start("--auth", "off");
const headers = { "X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0" };
http.request(server.url, { method: "POST", headers }, async (reply) => {
  console.log(reply.statusCode, performance.now() - begin);
  await server.stop();
}).end("{}");
''')
    answers = [run(["node", "start.mjs"], folder).split() for _ in range(11)]
    assert all(status == "200" for status, _ in answers)
    print(f"packages npm: start to first answer, median {sorted(float(time) for _, time in answers)[5]:.1f} ms")


def test_says_why(folder):
    project(folder)
    (folder / "wrong.cjs").write_text('require("dynalith").Dynalith.start("--no-such-option").catch((e) => { console.log(e.message); process.exit(3); });\n')
    assert run(["node", "wrong.cjs"], folder, status=3).startswith("dynalith: --no-such-option: unknown option")
    shutil.rmtree(folder / "node_modules/@dynalith")
    assert "is not installed" in run(["node", "wrong.cjs"], folder, status=3)


def main():
    PACKAGES.extend(pathlib.Path(p).resolve() for p in sys.argv[1:])
    tests = Tests("npm")
    for test in (test_installs, test_readme, test_types, test_workers, test_log, test_killed, test_start, test_says_why):
        tests.run(test)
    return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
