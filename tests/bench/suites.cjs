"use strict";
// Loaded before the tests of a library by tests/bench/suites: clients of the SDKs v2 and v3 count their calls and the CPU of them, and ask dynalith.wasm where SUITES_ENGINE says so.
const fs = require("node:fs");
const path = require("node:path");
const { PassThrough } = require("node:stream");

const isInProcess = process.env.SUITES_ENGINE === "in-process", root = process.cwd();
const db = isInProcess && require("../../packaging/npm/in-process.cjs").inProcess({ log: console.error });
let calls = 0, underWay = 0, since = null, used = 0; // us of CPU while calls are under way

function begin() {
  if (underWay++ === 0) since = process.cpuUsage();
}

function end() {
  if (--underWay > 0) return;
  const { user, system } = process.cpuUsage(since);
  used += user + system;
}

function counted(call) {
  calls++;
  begin();
  return Promise.resolve(call()).finally(end);
}

const find = (name) => {
  try { return require.resolve(name, { paths: [root] }); } catch { return null; }
};

/* The line that a user changes. */
function withEngine(v3) {
  return { ...v3, DynamoDBClient: class extends v3.DynamoDBClient {
    constructor(config) { super(isInProcess ? { ...config, ...db.config } : config); }
    send(...given) { return counted(() => super.send(...given)); }
  } };
}

/* Their clients of items do not ask that one. */
function countDocuments({ DynamoDBDocumentClient: { prototype } }) {
  const { send } = prototype;
  prototype.send = function (...given) { return counted(() => send.apply(this, given)); };
}

/* SDK v2 has no requestHandler. */
function patchV2({ NodeHttpClient: { prototype }, Request }) {
  const { handleRequest } = prototype, { runTo } = Request.prototype;
  Request.prototype.runTo = function (...given) { // what send() and promise() call
    begin();
    this.on("complete", end);
    return runTo.apply(this, given);
  };
  prototype.handleRequest = function (request, options, callback, fail) {
    calls++;
    if (!isInProcess) return handleRequest.call(this, request, options, callback, fail);
    const stream = new PassThrough();
    db.requestHandler.handle(request).then(({ response: { statusCode, headers, body } }) => {
      Object.assign(stream, { statusCode, headers });
      callback(stream);
      stream.emit("headers", statusCode, headers);
      stream.end(body);
    }, fail);
    return stream;
  };
}

/* electrodb's test/init.js, which ends the process at a table that has a definition too many. */
async function makeTables() {
  const { DynamoDBClient, CreateTableCommand } = require(find("@aws-sdk/client-dynamodb"));
  const client = new DynamoDBClient({ endpoint: process.env.LOCAL_DYNAMO_ENDPOINT, region: "us-east-1", credentials: { accessKeyId: "test", secretAccessKey: "test" } });
  const text = fs.readFileSync(path.join(root, "test/init.js"), "utf8");
  const files = Object.fromEntries([...text.matchAll(/const (\w+) = require\("(\S+\.json)"\)/g)].map(([, name, file]) => [name, file]));
  for (const [, name, file] of text.matchAll(/createTable\(dynamodb, "(\S+)", (\w+)\)/g)) {
    const table = JSON.parse(fs.readFileSync(path.join(root, "test", files[file]), "utf8"));
    const keys = new Set([table, ...table.GlobalSecondaryIndexes ?? [], ...table.LocalSecondaryIndexes ?? []].flatMap((one) => one.KeySchema.map((key) => key.AttributeName)));
    table.AttributeDefinitions = table.AttributeDefinitions.filter((definition) => keys.has(definition.AttributeName));
    await client.send(new CreateTableCommand({ ...table, TableName: name }));
  }
}

const count = () => fs.appendFileSync(process.env.SUITES_CALLS, `${calls} ${used}\n`);
const v3 = find("@aws-sdk/client-dynamodb"), v2 = find("aws-sdk"), documents = find("@aws-sdk/lib-dynamodb");
if (typeof jest !== "undefined") {
  if (v3) jest.mock(v3, () => withEngine(jest.requireActual(v3)));
  afterAll(count);
} else {
  const changed = v3 && withEngine(require(v3));
  if (v3) require.cache[v3].exports = changed;
  process.on("exit", count);
}
if (v2) patchV2(require(v2));
if (documents) countDocuments(require(documents));
if (path.basename(root) === "electrodb") before(function () { this.timeout(0); return makeTables(); });
