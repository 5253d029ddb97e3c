"use strict";
// dynalith/in-process with the AWS SDK for JavaScript v3: DYNALITH_WASM names the engine, NODE_PATH has the SDK.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const test = require("node:test");
const v8 = require("node:v8");
const vm = require("node:vm");
const { Dynalith } = require("../../packaging/npm/index.cjs");
const { inProcess, DynalithError } = require("../../packaging/npm/in-process.cjs");
const { DynamoDBClient, CreateTableCommand, PutItemCommand, GetItemCommand, UpdateTimeToLiveCommand, ScanCommand,
  UpdateTableCommand, DescribeTableCommand, CreateBackupCommand, DescribeBackupCommand, ListTablesCommand, DeleteItemCommand, DeleteTableCommand } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, PutCommand, GetCommand } = require("@aws-sdk/lib-dynamodb");

const TABLE = { TableName: "orders", BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] };
const key = { id: { S: "1" } };

async function filled(options) {
  const db = inProcess(options);
  const client = new DynamoDBClient(db.config);
  await client.send(new CreateTableCommand(TABLE));
  await client.send(new PutItemCommand({ TableName: "orders", Item: { ...key, total: { N: "9.50" } } }));
  return { db, client };
}

const count = async (client) => (await client.send(new ScanCommand({ TableName: "orders" }))).Count;

async function until(isDone) {
  for (let i = 0; i < 2000; i++) {
    if (await isDone()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.fail("it does not come to its end");
}

/* A folder that is gone after the test. */
function folderOf(t) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "dynalith-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/* An instance whose engine traps in the function of that name where `trap.isSet`. */
function trapping(t, name, options) {
  const real = WebAssembly.Instance, trap = { isSet: false, count: 0 };
  const exportsOf = ({ exports }) => ({ ...exports, [name]: (...given) => {
    if (trap.isSet && ++trap.count) throw new WebAssembly.RuntimeError("unreachable");
    return exports[name](...given);
  } });
  t.mock.method(WebAssembly, "Instance", function (...given) { return { exports: exportsOf(new real(...given)) }; });
  const db = inProcess(options);
  t.mock.restoreAll();
  return { db, trap };
}

test("an item is put and got, by both clients", async () => {
  const { db, client } = await filled();
  assert.deepEqual((await client.send(new GetItemCommand({ TableName: "orders", Key: key }))).Item, { ...key, total: { N: "9.5" } });
  const documents = DynamoDBDocumentClient.from(client);
  await documents.send(new PutCommand({ TableName: "orders", Item: { id: "2", tags: new Set(["a"]) } }));
  assert.deepEqual((await documents.send(new GetCommand({ TableName: "orders", Key: { id: "2" } }))).Item.tags, new Set(["a"]));
  await db.close();
});

test("texts beyond ASCII and large ones come through", async () => {
  const { db } = await filled();
  const documents = db.documentClient();
  for (const text of ["ä€😀", "x".repeat(300000), "ä".repeat(150000)]) {
    await documents.send(new PutCommand({ TableName: "orders", Item: { id: "ü", text } }));
    assert.equal((await documents.send(new GetCommand({ TableName: "orders", Key: { id: "ü" } }))).Item.text, text);
  }
  const answer = await db.fetch("http://any/_dynalith/health", { headers: { "x-note": "\u00e4" } });
  assert.equal(answer.status, 200);
  await db.close();
});

test("credentials and regions of a client say whose tables it sees", async () => {
  const { db, client } = await filled();
  const own = db.client();
  assert.deepEqual((await own.send(new ListTablesCommand({}))).TableNames, ["orders"]);
  for (const config of [{ credentials: { accessKeyId: "000000000002", secretAccessKey: "any" } }, { region: "eu-west-1" }]) {
    for (const other of [new DynamoDBClient({ ...db.config, ...config }), db.client(config)])
      assert.deepEqual((await other.send(new ListTablesCommand({}))).TableNames, []);
  }
  const signing = new DynamoDBClient({ requestHandler: db.requestHandler, region: "us-east-1", credentials: { accessKeyId: "000000000000", secretAccessKey: "any" } });
  assert.deepEqual((await signing.send(new ListTablesCommand({}))).TableNames, ["orders"]);
  assert.equal(await count(client), 1);
  await db.close();
});

test("an error of the API is the SDK's", async () => {
  const { db, client } = await filled();
  await assert.rejects(client.send(new CreateTableCommand(TABLE)), { name: "ResourceInUseException" });
  await db.close();
});

test("instances do not see each other", async () => {
  const one = await filled(), two = inProcess();
  await assert.rejects(new DynamoDBClient(two.config).send(new DescribeTableCommand({ TableName: "orders" })), { name: "ResourceNotFoundException" });
  assert.equal(await count(one.client), 1);
  await one.db.close();
  await two.close();
});

test("checkpoints and reset", async () => {
  const { db, client } = await filled();
  await db.checkpoint("before");
  await client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: "2" } } }));
  await db.rollback("before");
  assert.equal(await count(client), 1);
  await db.reset();
  await assert.rejects(client.send(new DescribeTableCommand({ TableName: "orders" })), { name: "ResourceNotFoundException" });
  await db.close();
});

test("the clock turns, and items expire", async () => {
  const { db, client } = await filled();
  await client.send(new UpdateTimeToLiveCommand({ TableName: "orders", TimeToLiveSpecification: { Enabled: true, AttributeName: "until" } }));
  await client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: "2" }, until: { N: String(Math.floor(Date.now() / 1000) + 60) } } }));
  await db.clock.advance("2d");
  await until(async () => await count(client) === 1);
  await db.close();
});

test("work of the background is done by ticks", async () => {
  const { db, client } = await filled();
  await client.send(new UpdateTableCommand({ TableName: "orders",
    AttributeDefinitions: [...TABLE.AttributeDefinitions, { AttributeName: "total", AttributeType: "N" }],
    GlobalSecondaryIndexUpdates: [{ Create: { IndexName: "by-total", KeySchema: [{ AttributeName: "total", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } } }] }));
  await until(async () => (await client.send(new DescribeTableCommand({ TableName: "orders" }))).Table.GlobalSecondaryIndexes[0].IndexStatus === "ACTIVE");
  const { BackupDetails } = await client.send(new CreateBackupCommand({ TableName: "orders", BackupName: "one" }));
  await until(async () => (await client.send(new DescribeBackupCommand({ BackupArn: BackupDetails.BackupArn })))
    .BackupDescription.BackupDetails.BackupStatus === "AVAILABLE");
  await db.close();
});

test("faults fail requests", async () => {
  const { db, client } = await filled();
  await db.faults.set({ operation: "GetItem", error: "InternalServerError", first: 1 });
  const once = new DynamoDBClient({ ...db.config, maxAttempts: 1 });
  await assert.rejects(once.send(new GetItemCommand({ TableName: "orders", Key: key })), { name: "InternalServerError" });
  assert.ok((await client.send(new GetItemCommand({ TableName: "orders", Key: key }))).Item);
  await db.close();
});

test("signatures are verified without OpenSSL", async () => {
  const credentials = [{ access_key_id: "AKIDEXAMPLE", secret_access_key: "secret" }];
  const { db } = { db: inProcess({ options: { auth: "verify", credentials } }) };
  const signing = (secretAccessKey) => new DynamoDBClient({ ...db.config, credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey } });
  await signing("secret").send(new CreateTableCommand(TABLE));
  await assert.rejects(signing("other").send(new CreateTableCommand(TABLE)), { name: "InvalidSignatureException" });
  await db.close();
});

test("fetch", async () => {
  const { db } = await filled();
  const answer = await db.fetch("http://any/", { method: "POST", body: JSON.stringify({ TableName: "orders", Key: key }), headers: {
    "x-amz-target": "DynamoDB_20120810.GetItem", "content-type": "application/x-amz-json-1.0", "x-amz-date": "20260101T000000Z",
    authorization: "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0" } });
  assert.equal(answer.status, 200);
  assert.deepEqual((await answer.json()).Item.id, { S: "1" });
  await db.close();
});

test("bad options say what would be right", () => {
  assert.throws(() => inProcess({ memory: 1 }), { code: "ERR_DYNALITH_OPTIONS", message: /unknown option memory; there are file, memoryLimitMb/ });
  assert.throws(() => inProcess({ memoryLimitMb: 1 }), { code: "ERR_DYNALITH_OPTIONS" });
  for (const given of [null, 5, "a.db", []]) assert.throws(() => inProcess(given), { code: "ERR_DYNALITH_OPTIONS", message: /wants an object of options/ });
  for (const [name, values] of Object.entries({ file: [5, "", null], account: ["abc", {}, 1.5, "1234567890123"], region: ["", 5], options: [[], ["--throughput"], "x", null], log: [5, null] }))
    for (const value of values) assert.throws(() => inProcess({ [name]: value }), { code: "ERR_DYNALITH_OPTIONS", message: new RegExp(`^${name} wants `) });
  const { DYNALITH_WASM } = process.env;
  process.env.DYNALITH_WASM = "/nosuch/dynalith.wasm";
  assert.throws(() => inProcess(), { code: "ERR_DYNALITH_OPTIONS", message: /no \/nosuch\/dynalith.wasm: make wasm/ });
  process.env.DYNALITH_WASM = DYNALITH_WASM;
  assert.throws(() => inProcess({ options: { nothing: 1 } }), { code: "ERR_DYNALITH_OPTIONS", message: /unknown option nothing/ });
});

test("what the host cannot do is refused with a reason", () => {
  assert.throws(() => inProcess({ options: { in_memory: false, db_path: "a.db" } }), (error) => error instanceof DynalithError && /a\.db/.test(error.message));
  assert.throws(() => inProcess({ options: { store: "postgresql://x@y/z", in_memory: false } }), DynalithError);
  assert.throws(() => inProcess({ options: { "trigger.targets": "orders=http://127.0.0.1:1/" } }), /thread/);
  assert.throws(() => inProcess({ options: { init: "/nowhere/a.json" } }), /\/nowhere\/a\.json: No such file/);
});

test("templates and items are made of files", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "dynalith-")), template = path.join(folder, "template.yaml");
  fs.writeFileSync(template, `Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: orders
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
      KeySchema: [{AttributeName: id, KeyType: HASH}]
`);
  fs.mkdirSync(path.join(folder, "items"));
  for (const name of ["orders.json", "a rather long name that is not the first one.json"])
    fs.writeFileSync(path.join(folder, "items", name), JSON.stringify({ orders: [{ PutRequest: { Item: { id: { S: name } } } }] }));
  try {
    const db = inProcess({ region: "eu-west-1" });
    await db.apply(template, path.join(folder, "items"));
    assert.equal(await count(db.client()), 2);
    await assert.rejects(db.apply(path.join(folder, "none.yaml")), { code: "ERR_DYNALITH_APPLY", message: /none\.yaml/ });
    await db.close();
    const begun = inProcess({ options: { init: template } });
    assert.equal(await count(begun.client()), 0);
    await begun.close();
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("a file is kept, and a server opens it", async () => {
  const folder = fs.mkdtempSync(path.join(tmpdir(), "dynalith-")), file = path.join(folder, "dev.db");
  const items = async (client) => (await client.send(new ScanCommand({ TableName: "orders" }))).Items.map(({ id }) => id.S).sort();
  const put = (client, id) => client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: id }, text: { S: id.repeat(100000) } } }));
  try {
    const first = await filled({ file });
    await put(first.client, "2");
    await first.db.close();
    const second = inProcess({ file });
    assert.deepEqual(await items(second.client()), ["1", "2"]);
    await put(second.client(), "3");
    await second.save();
    await put(second.client(), "4");
    await second.save(path.join(folder, "other.db"));
    if (process.env.DYNALITH_BINARY) {
      const server = await Dynalith.start("--db-path", file), client = new DynamoDBClient(server.config);
      assert.deepEqual(await items(client), ["1", "2", "3"]);
      await put(client, "5");
      assert.throws(() => inProcess({ file }), { code: "ERR_DYNALITH_OPTIONS", message: /dynalith backup/ });
      await server.stop();
      const third = inProcess({ file });
      assert.deepEqual(await items(third.client()), ["1", "2", "3", "5"]);
      await third.close();
      const copied = await Dynalith.start("--store", `memory:${file}`), reading = new DynamoDBClient(copied.config);
      assert.deepEqual(await items(reading), ["1", "2", "3", "5"]);
      await put(reading, "6");
      await copied.stop();
    }
    await (process.env.DYNALITH_BINARY ? assert.rejects(second.close(), { code: "ERR_DYNALITH_FILE" }) : second.close());
    const damaged = fs.readFileSync(file);
    damaged[damaged.length - 2000] ^= 1;
    fs.writeFileSync(file, damaged);
    assert.throws(() => inProcess({ file }), { code: "ERR_DYNALITH_OPTIONS", message: /page \d+ fails its checksum/ });
    damaged[damaged.length - 2000] ^= 1;
    fs.writeFileSync(file, damaged);
    fs.writeFileSync(`${file}-wal`, "");
    assert.throws(() => inProcess({ file }), { code: "ERR_DYNALITH_OPTIONS", message: /dynalith backup/ });
    fs.rmSync(`${file}-wal`);
    await inProcess({ file }).close();
    fs.writeFileSync(file, "x".repeat(200000));
    assert.throws(() => inProcess({ file }), { code: "ERR_DYNALITH_OPTIONS", message: /is not a data file/ });
    await assert.rejects(inProcess().save(), { code: "ERR_DYNALITH_OPTIONS" });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

test("an export is imported", async () => {
  const { db, client } = await filled(), other = inProcess(), reading = new DynamoDBClient(other.config);
  const bytes = await db.export();
  await client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: "2" } } }));
  await other.import(bytes);
  assert.equal(await count(reading), 1);
  await db.import(bytes);
  assert.equal(await count(client), 1);
  for (const wrong of [new Uint8Array(10), bytes.slice(0, 8192), new Uint8Array(bytes.length)])
    await assert.rejects(db.import(wrong), { code: "ERR_DYNALITH_OPTIONS" });
  for (const wrong of [undefined, "x", [1]]) await assert.rejects(db.import(wrong), { code: "ERR_DYNALITH_OPTIONS", message: /import\(\) wants/ });
  assert.equal(await count(client), 1);
  await Promise.all([db.close(), other.close()]);
  await assert.rejects(db.import(bytes), { code: "ERR_DYNALITH_CLOSED" });
});

test("nothing of what was deleted is in an export", async () => {
  const { db, client } = await filled();
  const put = (id, letter) => client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: id }, text: { S: letter.repeat(9000) } } }));
  const has = async (letter) => Buffer.from(await db.export()).includes(letter.repeat(64));
  for (const letter of ["k", "d", "o"]) await put(letter, letter);
  await client.send(new DeleteItemCommand({ TableName: "orders", Key: { id: { S: "d" } } }));
  await put("o", "n");
  assert.deepEqual(await Promise.all(["k", "d", "o", "n"].map(has)), [true, false, false, true]);
  await client.send(new DeleteTableCommand({ TableName: "orders" }));
  await until(async () => !await has("k") && !await has("n")); // the rows of a dropped table are deleted by ticks
  await db.close();
});

test("what another one wrote to the file stays", async (t) => {
  const folder = folderOf(t), file = path.join(folder, "dev.db"), link = path.join(folder, "link.db");
  const one = inProcess({ file }), two = await filled({ file });
  await two.db.close();
  const kept = fs.readFileSync(file), refused = { code: "ERR_DYNALITH_FILE", message: /dev\.db.*changed by another/ };
  await assert.rejects(one.close(), refused); // there was none when it began
  assert.deepEqual(fs.readFileSync(file), kept);

  fs.symlinkSync(file, link);
  const three = await filled({ file: link, region: "eu-west-1" });
  await three.db.save();
  assert.ok(fs.lstatSync(link).isSymbolicLink());
  const saved = fs.readFileSync(file);
  assert.notDeepEqual(saved, kept);
  for (const suffix of ["-wal", "-journal"]) {
    fs.writeFileSync(file + suffix, "");
    for (const save of [() => three.db.save(), () => three.db.close(), () => inProcess().save(file)])
      await assert.rejects(save(), { code: "ERR_DYNALITH_FILE", message: new RegExp(`dev\\.db${suffix} `) });
    fs.rmSync(file + suffix);
  }
  fs.utimesSync(file, new Date(0), new Date(0));
  await assert.rejects(three.db.save(), refused);
  assert.deepEqual(fs.readFileSync(file), saved);
  assert.ok((await three.db.export()).length > 0);
  await three.db.save(path.join(folder, "other.db"));
  fs.rmSync(file);
  await three.db.close();
  assert.deepEqual(fs.readdirSync(folder).sort(), ["dev.db", "link.db", "other.db"]);
});

test("a file is written whole, for its owner alone, or not at all", async (t) => {
  const folder = folderOf(t), file = path.join(folder, "dev.db"), mode = () => fs.statSync(file).mode & 0o777;
  const { db } = await filled({ file });
  await db.save();
  assert.equal(mode(), 0o600);
  fs.chmodSync(file, 0o640);
  await db.save();
  assert.equal(mode(), 0o640);
  const saved = fs.readFileSync(file), begun = [];
  const { openSync } = fs;
  t.mock.method(fs, "openSync", (name, ...more) => { begun.push(name); return openSync(name, ...more); });
  t.mock.method(fs, "fsyncSync", () => { throw Object.assign(new Error("ENOSPC: no space left on device, fsync"), { code: "ENOSPC" }); });
  await assert.rejects(db.save(), { code: "ERR_DYNALITH_FILE", message: /dev\.db.*ENOSPC/ });
  await assert.rejects(db.save(folder), { code: "ERR_DYNALITH_FILE" });
  t.mock.restoreAll();
  assert.deepEqual(fs.readFileSync(file), saved);
  assert.equal(new Set(begun).size, 2);
  await assert.rejects(db.save(folder), { code: "ERR_DYNALITH_FILE" });
  await assert.rejects(db.save(path.join(folder, "none", "dev.db")), { code: "ERR_DYNALITH_FILE", message: /none/ });
  await db.close();
  assert.deepEqual(fs.readdirSync(folder), ["dev.db"]);
  assert.deepEqual(fs.readdirSync(path.dirname(folder)).filter((name) => name.startsWith(path.basename(folder) + ".")), []);
});

test("a folder in place of a file", (t) => {
  const folder = folderOf(t);
  assert.throws(() => inProcess({ file: folder }), (error) => error.code === "ERR_DYNALITH_OPTIONS" && error.message.includes(`${folder}: Is a directory`));
});

test("close() says that the engine has failed", async (t) => {
  const dead = { code: "ERR_DYNALITH_DEAD", message: /unreachable/ }, file = path.join(folderOf(t), "dev.db");
  for (const options of [{}, { file }]) {
    const asked = trapping(t, "dynalith_send", options);
    asked.trap.isSet = true;
    await assert.rejects(asked.db.reset(), dead);
    await assert.rejects(asked.db.close(), dead);
    const ticked = trapping(t, "dynalith_tick", options);
    ticked.trap.isSet = true;
    await until(() => ticked.trap.count > 0);
    await assert.rejects(ticked.db.close(), dead);
    const closed = trapping(t, "dynalith_close", options);
    closed.trap.isSet = true;
    await assert.rejects(closed.db.close(), dead);
  }
});

test("an instance that nobody holds is collected", async () => {
  v8.setFlagsFromString("--expose-gc");
  const gc = vm.runInNewContext("gc");
  const gone = await (async () => {
    const log = () => {}; // which the engine holds
    await inProcess({ log }).reset();
    return new WeakRef(log);
  })();
  await until(() => { gc(); return gone.deref() === undefined; });
});

test("a client logs where it is given a logger", async () => {
  const { db } = await filled(), seen = [], logger = { trace() {}, debug() {}, info: (entry) => seen.push(entry.commandName), warn() {}, error() {} };
  await db.client({ logger }).send(new ListTablesCommand({}));
  await db.client().send(new ListTablesCommand({}));
  assert.deepEqual(seen, ["ListTablesCommand"]);
  await db.close();
});

test("a call after close", async () => {
  const { db, client } = await filled();
  await db.close();
  await db.close();
  await assert.rejects(client.send(new GetItemCommand({ TableName: "orders", Key: key })), { code: "ERR_DYNALITH_CLOSED" });
});

test("a body that is too large", async () => {
  const { db, client } = await filled();
  const big = { id: { S: "2" }, text: { S: "x".repeat(17 << 20) } };
  await assert.rejects(client.send(new PutItemCommand({ TableName: "orders", Item: big })), (error) => error.$metadata?.httpStatusCode === 413);
  assert.equal(await count(client), 1);
  await db.close();
});

test("data beyond memoryLimitMb is refused, and the instance lives", async () => {
  const { db, client } = await filled({ memoryLimitMb: 256 });
  const text = { S: "x".repeat(390000) };
  await db.checkpoint("small");
  let refused;
  for (let i = 0; i < 1000 && !refused; i++)
    await client.send(new PutItemCommand({ TableName: "orders", Item: { id: { S: `big-${i}` }, text } })).catch((error) => { refused = error; });
  assert.ok(refused && refused.$metadata.httpStatusCode >= 400, String(refused));
  assert.ok((await client.send(new GetItemCommand({ TableName: "orders", Key: key }))).Item);
  assert.ok(db.memoryBytes < 256 << 20, `${db.memoryBytes} bytes`);
  await db.reset({ keep: "tables" });
  await db.rollback("small");
  assert.equal(await count(client), 1);
  await db.reset();
  await client.send(new CreateTableCommand(TABLE));
  await db.close();
});
