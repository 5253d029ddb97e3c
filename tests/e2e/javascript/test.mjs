// The AWS SDK for JavaScript v3: client and document client. Packages are found under DYNALITH_NODE_MODULES.
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import net from "node:net";
import { createRequire } from "node:module";

const require = createRequire(process.env.DYNALITH_NODE_MODULES + "/x.js");
const db = require("@aws-sdk/client-dynamodb");
const doc = require("@aws-sdk/lib-dynamodb");

const freePort = () => new Promise((done) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => { const { port } = server.address(); server.close(() => done(port)); });
});
const port = await freePort();
const process_ = spawn(process.env.DYNALITH_BINARY, [...(process.env.DYNALITH_E2E_STORE ? ["--store", process.env.DYNALITH_E2E_STORE] : ["--in-memory"]), "--port", String(port), "--log-level", "warn"], { stdio: ["ignore", "ignore", "pipe"], env: {} });
let log = ""; // shown where a test fails
process_.stderr.setEncoding("utf8").on("data", (text) => { log += text; });
const client = new db.DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", maxAttempts: 20,
                                       credentials: { accessKeyId: "js", secretAccessKey: "js" } });
const documents = doc.DynamoDBDocumentClient.from(client);
const S = (name) => ({ AttributeName: name, AttributeType: "S" });
const TableName = "app";

const tests = {
  async createAndDescribe() {
    await client.send(new db.CreateTableCommand({
      TableName, BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: [S("PK"), S("SK"), S("GSI1PK")],
      KeySchema: [{ AttributeName: "PK", KeyType: "HASH" }, { AttributeName: "SK", KeyType: "RANGE" }],
      GlobalSecondaryIndexes: [{ IndexName: "GSI1", KeySchema: [{ AttributeName: "GSI1PK", KeyType: "HASH" }], Projection: { ProjectionType: "ALL" } }] }));
    await db.waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
    const { Table } = await client.send(new db.DescribeTableCommand({ TableName }));
    assert.equal(Table.TableStatus, "ACTIVE");
    assert.ok(Table.CreationDateTime instanceof Date && Math.abs(Table.CreationDateTime - Date.now()) < 60000);
    assert.deepEqual((await client.send(new db.ListTablesCommand({}))).TableNames, [TableName]);
  },
  async everyType() {
    const item = { PK: "types", SK: "1", s: "é\u0000\u{1F600}", n: 12.5, big: 9007199254740991, t: true, f: false, nul: null, l: [1, "a", [true]],
                   m: { deep: { er: [] } }, ss: new Set(["a", "b"]), ns: new Set([1, 2]), b: new Uint8Array([0, 1, 255]), empty: "" };
    await documents.send(new doc.PutCommand({ TableName, Item: item }));
    const { Item } = await documents.send(new doc.GetCommand({ TableName, Key: { PK: "types", SK: "1" } }));
    assert.deepEqual({ ...Item, b: [...Item.b] }, { ...item, b: [0, 1, 255] });
  },
  async queryAndPaginate() {
    for (let i = 0; i < 30; i += 10)
      await documents.send(new doc.BatchWriteCommand({ RequestItems: { [TableName]: [...Array(10).keys()].map((k) =>
        ({ PutRequest: { Item: { PK: "Q", SK: `ITEM#${String(i + k).padStart(3, "0")}`, GSI1PK: `G${k % 2}`, n: i + k } } })) } }));
    const found = [];
    for await (const page of doc.paginateQuery({ client: documents, pageSize: 7 }, { TableName, KeyConditionExpression: "PK = :p AND begins_with(SK, :s)",
      ExpressionAttributeValues: { ":p": "Q", ":s": "ITEM#" } })) found.push(...page.Items);
    assert.deepEqual(found.map((i) => i.n), [...Array(30).keys()]);
    const { Count } = await documents.send(new doc.QueryCommand({ TableName, IndexName: "GSI1", KeyConditionExpression: "GSI1PK = :g",
      ExpressionAttributeValues: { ":g": "G1" }, Select: "COUNT" }));
    assert.equal(Count, 15);
    const { Responses } = await documents.send(new doc.BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ PK: "Q", SK: "ITEM#004" }, { PK: "Q", SK: "none" }] } } }));
    assert.deepEqual(Responses[TableName].map((i) => i.n), [4]);
  },
  async updatesAndConditions() {
    const Key = { PK: "U", SK: "1" };
    const add = (v) => documents.send(new doc.UpdateCommand({ TableName, Key, UpdateExpression: "SET version = if_not_exists(version, :zero) + :one ADD hits :one",
      ConditionExpression: "attribute_not_exists(PK) OR version = :v", ExpressionAttributeValues: { ":zero": 0, ":one": 1, ":v": v }, ReturnValues: "ALL_NEW" }));
    assert.equal((await add(0)).Attributes.version, 1);
    assert.equal((await add(1)).Attributes.hits, 2);
    await assert.rejects(add(1), (e) => e instanceof db.ConditionalCheckFailedException && e.message === "The conditional request failed");
    const { Attributes } = await documents.send(new doc.DeleteCommand({ TableName, Key, ReturnValues: "ALL_OLD" }));
    assert.equal(Attributes.version, 2);
  },
  async transactions() {
    const put = (SK, more = {}) => ({ Put: { TableName, Item: { PK: "T", SK }, ...more } });
    await documents.send(new doc.TransactWriteCommand({ TransactItems: [put("1"), put("2")] }));
    await assert.rejects(documents.send(new doc.TransactWriteCommand({ TransactItems: [put("3"), put("1", { ConditionExpression: "attribute_not_exists(PK)" })] })),
      (e) => e instanceof db.TransactionCanceledException && e.CancellationReasons.map((r) => r.Code).join() === "None,ConditionalCheckFailed");
    const { Responses } = await documents.send(new doc.TransactGetCommand({ TransactItems: ["1", "3"].map((SK) => ({ Get: { TableName, Key: { PK: "T", SK } } })) }));
    assert.deepEqual(Responses, [{ Item: { PK: "T", SK: "1" } }, {}]);
  },
  async partiql() {
    const run = (Statement, ...Parameters) => documents.send(new doc.ExecuteStatementCommand({ Statement, ...(Parameters.length && { Parameters }) }));
    await run(`INSERT INTO "${TableName}" VALUE {'PK': ?, 'SK': ?, 'tags': ?, 'n': ?}`, "PQ", "1", new Set(["a", "b"]), 1);
    await assert.rejects(run(`INSERT INTO "${TableName}" VALUE {'PK': 'PQ', 'SK': '1'}`), (e) => e instanceof db.DuplicateItemException);
    const { Items } = await run(`UPDATE "${TableName}" SET n = n + 1 WHERE PK = 'PQ' AND SK = '1' RETURNING MODIFIED NEW *`);
    assert.deepEqual(Items, [{ n: 2 }]);
    assert.deepEqual([...(await run(`SELECT tags FROM "${TableName}" WHERE PK = ?`, "PQ")).Items[0].tags], ["a", "b"]);
    const { Responses } = await documents.send(new doc.BatchExecuteStatementCommand({ Statements: [{ Statement: `SELECT n FROM "${TableName}" WHERE PK = 'PQ' AND SK = '1'` }] }));
    assert.deepEqual(Responses[0].Item, { n: 2 });
    await documents.send(new doc.ExecuteTransactionCommand({ TransactStatements: [{ Statement: `DELETE FROM "${TableName}" WHERE PK = ? AND SK = ?`, Parameters: ["PQ", "1"] }] }));
    assert.deepEqual((await run(`SELECT * FROM "${TableName}" WHERE PK = 'PQ'`)).Items, []);
  },
  async errorsByClass() {
    await assert.rejects(documents.send(new doc.GetCommand({ TableName: "absent", Key: { PK: "x" } })), (e) => e instanceof db.ResourceNotFoundException);
    await assert.rejects(documents.send(new doc.GetCommand({ TableName, Key: { PK: "x" } })), (e) => e.name === "ValidationException"
      && e.message === "The provided key element does not match the schema");
    const unknown = new db.ListTablesCommand({});
    unknown.middlewareStack.add((next) => (args) => next({ ...args, request: Object.assign(args.request, {
      headers: { ...args.request.headers, "x-amz-target": "DynamoDB_20120810.NoSuchOperation" } }) }), { step: "build" });
    await assert.rejects(client.send(unknown), (e) => e.name === "UnknownOperationException");
  },
  async readsThatLag() {
    const control = async (method, path, body) =>
      (await fetch(`http://127.0.0.1:${port}/_dynalith/${path}`, { method, body: body && JSON.stringify(body) })).json();
    const item = (n) => ({ PK: "lag", SK: `${n}`, GSI1PK: "lag", n });
    const seen = async (more) => {
      const items = [];
      for await (const page of doc.paginateQuery({ client: documents, pageSize: 2 }, { TableName, KeyConditionExpression: "PK = :p", ExpressionAttributeValues: { ":p": "lag" },
        ...more })) items.push(...page.Items.map((i) => i.n));
      return items.sort();
    };
    const index = { IndexName: "GSI1", KeyConditionExpression: "GSI1PK = :p" };
    await documents.send(new doc.PutCommand({ TableName, Item: item(1) }));
    await control("POST", "clock", { freeze: true });
    assert.equal((await control("PUT", "lag", { tables: { [TableName]: { lag: 200, index_lag: 1000 } } })).tables.app.index_lag, 1000);
    for (const n of [2, 3, 4]) await documents.send(new doc.PutCommand({ TableName, Item: item(n) }));
    await documents.send(new doc.DeleteCommand({ TableName, Key: { PK: "lag", SK: "1" } }));
    assert.deepEqual([await seen(), await seen({ ConsistentRead: true }), await seen(index)], [[1], [2, 3, 4], [1]]);
    assert.equal((await documents.send(new doc.GetCommand({ TableName, Key: { PK: "lag", SK: "2" } }))).Item, undefined);
    await control("POST", "clock", { advance: "200ms" });
    assert.deepEqual([await seen(), await seen(index)], [[2, 3, 4], [1]]);
    await control("POST", "clock", { advance: "800ms" });
    assert.deepEqual(await seen(index), [2, 3, 4]);
    assert.deepEqual(await control("DELETE", "lag"), {});
    await control("POST", "clock", { release: true });
  },
  async conflicts() {
    const once = new db.DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", maxAttempts: 1, credentials: { accessKeyId: "js", secretAccessKey: "js" } });
    const control = async (method, path, body) =>
      (await fetch(`http://127.0.0.1:${port}/_dynalith/${path}`, { method, body: body && JSON.stringify(body) })).json();
    const Item = { PK: { S: "busy" }, SK: { S: "1" } };
    const transaction = () => once.send(new db.TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item } }] }));
    assert.deepEqual(await control("PUT", "conflicts", { conflicts: "real" }), { conflicts: "real" });
    await control("PUT", "faults", { rules: [{ operation: "TransactWriteItems", first: 1, hold: 300000 }] });
    const held = transaction();
    while ((await control("GET", "faults")).rules[0].fired < 1) await new Promise((done) => setTimeout(done, 10));
    await assert.rejects(once.send(new db.PutItemCommand({ TableName, Item })), (e) => e instanceof db.TransactionConflictException);
    await assert.rejects(transaction(), (e) => e instanceof db.TransactionCanceledException && e.CancellationReasons[0].Code === "TransactionConflict");
    await control("DELETE", "faults");
    await held;
    await once.send(new db.DeleteItemCommand({ TableName, Key: Item }));
    await control("DELETE", "conflicts");
  },
  async faults() {
    const few = new db.DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", maxAttempts: 4, credentials: { accessKeyId: "js", secretAccessKey: "js" } });
    const once = new db.DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", maxAttempts: 1, credentials: { accessKeyId: "js", secretAccessKey: "js" } });
    const control = async (method, body) =>
      (await fetch(`http://127.0.0.1:${port}/_dynalith/faults`, { method, body: body && JSON.stringify(body) })).json();
    const rules = (...list) => control("PUT", { rules: list });
    const counts = async () => (await control("GET")).rules.map((r) => [r.matched, r.fired]);
    const Item = { PK: { S: "fault" }, SK: { S: "1" } };
    const put = () => new db.PutItemCommand({ TableName, Item });
    for (const error of ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "InternalServerError"]) {
      await rules({ operation: "PutItem", first: 2, error });
      assert.equal((await few.send(put())).$metadata.attempts, 3);
      assert.deepEqual(await counts(), [[3, 2]]);
      await rules({ operation: "PutItem", error });
      await assert.rejects(once.send(put()), (e) => e instanceof db[error] && e.name === error);
    }
    await rules({ operation: "PutItem", error: "ProvisionedThroughputExceeded" });
    await assert.rejects(once.send(put()), (e) => e.ThrottlingReasons[0].reason === "TableWriteProvisionedThroughputExceeded" &&
      e.ThrottlingReasons[0].resource.endsWith(":table/app"));
    await rules({ cancel: { reason: "TransactionConflict", members: [0] }, first: 1 });
    await assert.rejects(once.send(new db.TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item } }] })),
      (e) => e instanceof db.TransactionCanceledException && e.CancellationReasons[0].Code === "TransactionConflict");
    await rules({ operation: "BatchWriteItem", first: 1, unprocessed: 1 });
    const { UnprocessedItems } = await once.send(new db.BatchWriteItemCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item } }] } }));
    assert.deepEqual(UnprocessedItems, { [TableName]: [{ PutRequest: { Item } }] });
    await rules({ operation: "UpdateItem", close: "after", first: 1 });
    const add = { TableName, Key: { PK: { S: "lost" }, SK: { S: "1" } }, UpdateExpression: "ADD n :one", ExpressionAttributeValues: { ":one": { N: "1" } }, ReturnValues: "ALL_NEW" };
    assert.equal((await few.send(new db.UpdateItemCommand(add))).Attributes.n.N, "2"); // the first answer was lost
    await rules({ page: 0, first: 1 }, { page: 1 });
    let rows = 0, pages = 0;
    for await (const page of db.paginateScan({ client: few }, { TableName, Select: "COUNT" })) { rows += page.Count; pages++; }
    await control("DELETE");
    assert.equal(rows, (await few.send(new db.ScanCommand({ TableName, Select: "COUNT" }))).Count);
    assert.ok(pages > rows);
  },
  async throughput() {
    const account = "333333333333", TableName = "limited";
    const of = (maxAttempts) => new db.DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", maxAttempts, credentials: { accessKeyId: account, secretAccessKey: "js" } });
    const once = of(1), many = of(30);
    const control = async (method, path, body) =>
      (await fetch(`http://127.0.0.1:${port}/_dynalith/${path}?account=${account}`, { method, body: body && JSON.stringify(body) })).json();
    const create = (more) => once.send(new db.CreateTableCommand({ TableName, KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], ...more }));
    const put = (i) => new db.PutItemCommand({ TableName, Item: { id: { S: `${i}` } } });
    const arn = `arn:aws:dynamodb:us-east-1:${account}:table/limited`;
    await create({ ProvisionedThroughput: { ReadCapacityUnits: 2, WriteCapacityUnits: 2 } });
    await control("POST", "clock", { freeze: true });
    await control("PUT", "throughput", { throughput: "enforce", burst_seconds: 0 });
    await once.send(put(1));
    await once.send(put(2));
    await assert.rejects(once.send(put(3)), (e) => e instanceof db.ProvisionedThroughputExceededException && e.$retryable?.throttling !== false &&
      e.message.startsWith("The level of configured provisioned throughput for the table was exceeded.") &&
      JSON.stringify(e.ThrottlingReasons) === JSON.stringify([{ reason: "TableWriteProvisionedThroughputExceeded", resource: arn }]));
    await assert.rejects(once.send(new db.TransactWriteItemsCommand({ TransactItems: [{ Put: { TableName, Item: { id: { S: "t" } } } }] })),
      (e) => e instanceof db.TransactionCanceledException && e.CancellationReasons[0].Code === "ProvisionedThroughputExceeded");
    await control("POST", "clock", { advance: "1s" });
    const requests = [1, 2, 3].map((i) => ({ PutRequest: { Item: { id: { S: `b${i}` } } } }));
    const { UnprocessedItems } = await once.send(new db.BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
    assert.deepEqual(UnprocessedItems, { [TableName]: requests.slice(2) });
    await assert.rejects(once.send(new db.BatchWriteItemCommand({ RequestItems: UnprocessedItems })), db.ProvisionedThroughputExceededException);
    const gets = { [TableName]: { Keys: [1, 2, 3].map((i) => ({ id: { S: `${i}` } })), ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await once.send(new db.BatchGetItemCommand({ RequestItems: gets }));
    assert.equal(Responses[TableName].length, 2);
    assert.deepEqual(UnprocessedKeys[TableName].Keys, [{ id: { S: "3" } }]);
    const waiting = many.send(put(4)); // retries while the clock stands
    const throttled = async () => (await control("GET", "throughput")).tables[TableName].write.throttled.ProvisionedThroughputExceeded;
    const before = await throttled();
    while (await throttled() < before + 2) await new Promise((done) => setTimeout(done, 5));
    await control("POST", "clock", { advance: "1s" });
    assert.ok((await waiting).$metadata.attempts > 2);
    await once.send(new db.DeleteTableCommand({ TableName }));
    await create({ BillingMode: "PAY_PER_REQUEST", OnDemandThroughput: { MaxReadRequestUnits: 1, MaxWriteRequestUnits: 1 } });
    await once.send(put(1));
    await assert.rejects(once.send(put(2)), (e) => e instanceof db.ThrottlingException && e.throttlingReasons[0].reason === "TableWriteMaxOnDemandThroughputExceeded" &&
      e.throttlingReasons[0].resource === arn);
    await control("POST", "reset");
  },
};

let passed = 0, failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try { await test(); passed++; } catch (error) { failed++; console.error(`e2e javascript: ${name} failed\n`, error); }
}
process_.kill("SIGTERM");
const status = await new Promise((done) => process_.on("exit", done));
if (status !== 0) { failed++; console.error(`the server ended with status ${status}`); }
if (failed && log) console.error(`log of the server:\n${log}`);
console.log(`e2e javascript: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
