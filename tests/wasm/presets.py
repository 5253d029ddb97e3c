#!/usr/bin/env python3
"""The presets for Vitest and Jest and the types, with the engine in process and with a server, in projects of their own.

    tests/wasm/presets.py WASM BINARY
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/packages"))
import npm
from check import ENVIRONMENT, Tests, run

TEMPLATE = """Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
"""
TEST = """const { DynamoDBClient, DeleteTableCommand, PutItemCommand, ScanCommand } = require("@aws-sdk/client-dynamodb");
const client = new DynamoDBClient(dynalith.config);
const count = async () => (await client.send(new ScanCommand({ TableName: "orders", ConsistentRead: true }))).Count;

for (let i = 0; i < 10; i++) {
  test(`is alone ${i}`, async () => {
    expect(await count()).toBe(0);
    await client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: "1" } } }));
    expect(await count()).toBe(1);
    await dynalith.clock.advance("1h");
  });
}
afterAll(() => client.send(new DeleteTableCommand({ TableName: "orders" })));
"""
LIST = """const { DynamoDBClient, ListTablesCommand } = require("@aws-sdk/client-dynamodb");
test("has its project's tables", async () => {
  expect((await new DynamoDBClient(dynalith.config).send(new ListTablesCommand({}))).TableNames).toEqual(["TABLE"]);
  expect(dynalith.url === "http://dynalith.invalid").toBe("ENGINE" === "in-process");
});
"""
ENGINES = ("in-process", "server")


def project(folder):
    (npm.project(folder) / "template.yaml").write_text(TEMPLATE)
    return folder


def test_jest(folder):
    for engine in ENGINES:
        place = project(folder / engine)
        (place / "package.json").write_text('{"jest": {"preset": "dynalith", "testTimeout": 120000}, "dynalith": {"engine": "%s", "schema": "template.yaml"}}' % engine)
        for i in range(3):
            (place / f"orders{i}.test.js").write_text(TEST)
        assert re.search(r"Tests: +30 passed", run(npm.jest(place, "--maxWorkers=2"), place))
    # Time that the tests turn by themselves is theirs alone.
    (place / "orders0.test.js").write_text(TEST.replace("const client", "jest.useFakeTimers();\nconst client"))
    (place / "package.json").write_text('{"jest": {"preset": "dynalith", "testTimeout": 120000}, "dynalith": {"engine": "in-process", "schema": ["template.yaml"]}}')
    assert re.search(r"Tests: +30 passed", run(npm.jest(place, "--runInBand"), place))


def test_vitest(folder):
    for engine in ENGINES:
        place = project(folder / engine)
        for pool in ("forks", "threads"):
            (place / "vitest.config.mjs").write_text('import dynalith from "dynalith/vitest";\n'
                f'export default {{ test: {{ pool: "{pool}", maxWorkers: 2, minWorkers: 1 }}, plugins: [dynalith({{ engine: "{engine}", schema: ["template.yaml"] }})] }};\n')
            for i in range(3):
                (place / f"orders{i}.test.mjs").write_text(npm.esm(TEST))
            assert re.search(r"Tests.* 30 passed", run(npm.vitest(place), place))


def test_vitest_projects(folder):
    place = project(folder)
    listed = []
    for table, engine in (("orders", "in-process"), ("users", "server"), ("carts", "in-process")):
        (place / f"{table}.yaml").write_text(TEMPLATE.replace("orders", table))
        (place / f"{table}.test.mjs").write_text(npm.esm(LIST.replace("TABLE", table).replace("ENGINE", engine)))
        listed.append(f'{{ plugins: [dynalith({{ engine: "{engine}", schema: "{table}.yaml" }})], test: {{ name: "{table}", include: ["{table}.test.mjs"] }} }}')
    (place / "vitest.config.mjs").write_text(f'import dynalith from "dynalith/vitest";\nexport default {{ test: {{ projects: [{", ".join(listed)}] }} }};\n')
    assert re.search(r"Tests.* 3 passed", run(npm.vitest(place), place))


def test_says_why(folder):
    place = project(folder)
    (place / "orders.test.mjs").write_text(npm.esm(TEST))
    for settings, message in (('{ engine: "fast" }', '"in-process" or "server", not "fast"'), ('{ engine: "in-process", option: 1 }', "no setting option; there are engine, options, schema, memoryLimitMb"),
                              ('{ engine: "in-process", options: ["--auth"] }', "an object by the names"), ('{ engine: "in-process", schema: "none.yaml" }', "none.yaml: No such file")):
        (place / "vitest.config.mjs").write_text(f'import dynalith from "dynalith/vitest";\nexport default {{ plugins: [dynalith({settings})] }};\n')
        text = run(npm.vitest(place), place, status=1)
        assert message in text, text


def test_types(folder):
    project(folder)
    tsc = ["node", npm.MODULES / "typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", "node"]
    (folder / "use.mts").write_text('''import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { inProcess, type InProcess } from "dynalith/in-process";
import dynalith from "dynalith/vitest";
const db: InProcess = inProcess({ memoryLimitMb: 256, options: { throughput: "enforce" }, log: (line) => console.log(line.length) });
const clients: DynamoDBClient[] = [new DynamoDBClient(db.config), new DynamoDBClient({ requestHandler: db.requestHandler }), db.client({ region: "eu-west-1" })];
await db.apply("template.yaml");
await db.import(await db.export());
const bytes: number = db.memoryBytes;
const plugins: { name: string }[] = [dynalith(), dynalith("--auth", "open"), dynalith({ engine: "server", options: ["--auth", "open"], schema: "a.yaml" }),
  dynalith({ engine: "in-process", options: { auth: "open" }, schema: ["a.yaml"], memoryLimitMb: 256 })];
console.log(bytes, plugins, clients);
''')
    run([*tsc, "use.mts"], folder)
    (folder / "wrong.mts").write_text('import dynalith from "dynalith/vitest";\nimport { inProcess } from "dynalith/in-process";\n'
                                      'dynalith({ engine: "in-process", options: ["--auth"] });\ninProcess().client().sent;\n')
    text = run([*tsc, "wrong.mts"], folder, status=2)
    assert all(f"wrong.mts({line}" in text for line in (3, 4)), text


def main(wasm, binary):
    ENVIRONMENT["DYNALITH_BINARY"] = str(pathlib.Path(binary).resolve())
    with tempfile.TemporaryDirectory() as out:
        npm.PACKAGES.append(subprocess.run([ROOT / "packaging/make-npm", out, "wasm", wasm], check=True, capture_output=True, text=True).stdout.strip())
        tests = Tests("presets")
        for test in (test_jest, test_vitest, test_vitest_projects, test_says_why, test_types):
            tests.run(test)
        return tests.end()


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
