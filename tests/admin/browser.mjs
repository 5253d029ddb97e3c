// The SDK in a page of real Chromium: a page of this machine uses the server, one of another site does nothing, nor does one whose name was turned to it.
import { spawn } from "node:child_process";
import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { createRequire } from "node:module";

const modules = process.env.DYNALITH_ADMIN_MODULES;
const require = createRequire(modules + "/x.js");
const puppeteer = require("puppeteer-core");
const esbuild = require("esbuild");

const source = `
import { DynamoDBClient, CreateTableCommand, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
window.use = async (endpoint) => {
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", maxAttempts: 1, credentials: { accessKeyId: "local", secretAccessKey: "local" } });
  const TableName = "page-" + location.hostname;
  try {
    await client.send(new CreateTableCommand({ TableName, BillingMode: "PAY_PER_REQUEST", KeySchema: [{ AttributeName: "a", KeyType: "HASH" }],
                                               AttributeDefinitions: [{ AttributeName: "a", AttributeType: "S" }] }));
    await client.send(new PutItemCommand({ TableName, Item: { a: { S: "x" }, b: { N: "1" } } }));
    return (await client.send(new GetItemCommand({ TableName, Key: { a: { S: "x" } } }))).Item.b.N;
  } catch (error) {
    return String(error);
  }
};
window.ask = (url, options) => fetch(url, options).then((reply) => reply.status, (error) => String(error));`;
const { outputFiles } = await esbuild.build({ stdin: { contents: source, resolveDir: modules }, nodePaths: [modules], bundle: true, platform: "browser",
                                              write: false, logLevel: "error" });
const pages = http.createServer((request, reply) => {
  if (request.url === "/bundle.js") return reply.end(outputFiles[0].text);
  reply.setHeader("Content-Type", "text/html");
  reply.end("<!doctype html><script src=/bundle.js></script>");
});
await new Promise((done) => pages.listen(0, "127.0.0.1", done));
const port = pages.address().port;
const free = () => new Promise((done) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => { const { port } = server.address(); server.close(() => done(port)); });
});
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const children = [];
async function start(...flags) {
  const own = await free(), url = `http://127.0.0.1:${own}`;
  children.push(spawn(process.env.DYNALITH_BINARY, ["--in-memory", "--port", own, "--log-level", "error", ...flags], { stdio: ["ignore", "ignore", "inherit"] }));
  for (let i = 0; i < 600; i++, await sleep(50)) if (await fetch(`${url}/_dynalith/health`).then((r) => r.ok, () => false)) return { url, own };
  throw new Error("the server does not listen");
}
// Any name below .test is this machine, as after DNS rebinding.
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true,
                                         args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--host-resolver-rules=MAP *.test 127.0.0.1"] });
const TURN = { method: "POST", body: '{"advance":"30d"}' };
const offset = async (url) => (await (await fetch(`${url}/_dynalith/clock`)).json()).offset;
const open = async (url) => { const page = await browser.newPage(); await page.goto(url); return page; };
const inside = (page, name, ...values) => page.evaluate((n, v) => window[n](...v), name, values);

const steps = {
  async "pages of this machine use the server"() {
    const { url } = await start();
    for (const host of ["localhost", "127.0.0.1"]) {
      const page = await open(`http://${host}:${port}/`);
      assert.equal(await inside(page, "use", url), "1", host);
      assert.equal(await inside(page, "ask", `${url}/_dynalith/clock`, TURN), 200, host);
      await page.close();
    }
  },
  async "pages of other sites do nothing"() {
    for (const [flags, used] of [[[], /Failed to fetch/], [["--cors", "*"], /^1$/], [["--cors", "http://app.example"], /Failed to fetch/]]) {
      const { url } = await start(...flags);
      const page = await open(`http://evil.test:${port}/`);
      assert.match(await inside(page, "use", url), used, flags.join(" "));
      assert.match(String(await inside(page, "ask", `${url}/_dynalith/clock`, TURN)), /Failed to fetch/, flags.join(" "));
      assert.equal(await inside(page, "ask", `${url}/_dynalith/clock`, { ...TURN, mode: "no-cors" }), 0, flags.join(" "));
      assert.equal(await offset(url), 0, flags.join(" "));
      await page.close();
    }
  },
  async "a page whose name was turned to the server does nothing"() {
    const { url, own } = await start();
    const page = await open(`http://evil.test:${own}/_dynalith/health`);
    for (const [path, options] of [["/_dynalith/clock", {}], ["/_dynalith/metrics", {}], ["/_dynalith/metrics", { headers: { "Accept-Language": "*" } }],
                                   ["/_dynalith/clock", TURN], ["/", { method: "POST", body: "{}" }]])
      assert.equal(await page.evaluate((p, o) => fetch(p, o).then((r) => r.status), path, options), 403, path);
    assert.equal(await offset(url), 0);
  },
};
let passed = 0, failed = 0;
for (const [name, step] of Object.entries(steps)) {
  try {
    await step();
    passed++;
  } catch (error) {
    console.log(`browser: ${name}: ${error.stack}`);
    failed++;
  }
}
await browser.close();
pages.close();
for (const child of children) child.kill();
console.log(`browser: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
