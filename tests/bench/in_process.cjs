"use strict";
// What dynalith/in-process saves: CPU of a GetItem by SDK v3, of client and server together, and the way to the first answer.
//
//     DYNALITH_BINARY=FILE DYNALITH_WASM=FILE NODE_PATH=build/deps/node_modules node tests/bench/in_process.cjs [CALLS]
//
// Each row is the least of ROUNDS rounds, so that what else the machine does counts little.
const started = performance.now(), before = process.cpuUsage();
const { inProcess } = require("../../packaging/npm/in-process.cjs");
const { readFileSync } = require("node:fs");

const ROUNDS = 6, TICK_US = 10000; // a tick of /proc/PID/stat
const TABLE = { TableName: "bench", BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] };
const ITEM = { id: { S: "1" }, name: { S: "x".repeat(100) }, total: { N: "12.5" } };

const own = (since) => { const { user, system } = process.cpuUsage(since); return user + system; };
const others = (pid) => pid ? readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_US : 0;

async function first() {
  const db = inProcess();
  await db.requestHandler.handle({ method: "POST", path: "/", body: "{}", headers: { "x-amz-target": "DynamoDB_20120810.ListTables", "content-type": "application/x-amz-json-1.0" } });
  console.log(`| import to first answer | ${(performance.now() - started).toFixed(0)} ms | CPU ${(own(before) / 1000).toFixed(0)} ms |`);
  const since = process.cpuUsage();
  for (let i = 0; i < 100; i++) await db.reset();
  console.log(`| reset | CPU ${(own(since) / 100000).toFixed(2)} ms | memory ${(db.memoryBytes / 1048576).toFixed(1)} MB |`);
  await db.close();
}

async function measure(name, client, calls, pid) {
  const { CreateTableCommand, PutItemCommand, GetItemCommand } = require("@aws-sdk/client-dynamodb");
  let least = Infinity;
  await client.send(new CreateTableCommand(TABLE));
  await client.send(new PutItemCommand({ TableName: "bench", Item: ITEM }));
  for (let round = 0; round < ROUNDS; round++) {
    const since = process.cpuUsage(), theirs = others(pid);
    for (let i = 0; i < calls; i++) await client.send(new GetItemCommand({ TableName: "bench", Key: { id: ITEM.id } }));
    least = Math.min(least, (own(since) + others(pid) - theirs) / calls);
  }
  console.log(`| GetItem, ${name} | CPU ${least.toFixed(0)} us |`);
}

(async () => {
  await first();
  const { DynamoDBClient } = require("@aws-sdk/client-dynamodb"), { Dynalith } = require("../../packaging/npm/index.cjs");
  const calls = Number(process.argv[2] ?? 2000), config = { region: "us-east-1", credentials: { accessKeyId: "1", secretAccessKey: "any" } };
  const server = await Dynalith.start();
  await measure("HTTP", new DynamoDBClient(server.config), calls, server.pid);
  await server.stop();
  await measure("requestHandler alone", new DynamoDBClient({ ...config, requestHandler: inProcess().requestHandler }), calls);
  await measure("db.config", new DynamoDBClient(inProcess().config), calls);
  await measure("db.client()", inProcess().client(), calls);
})();
