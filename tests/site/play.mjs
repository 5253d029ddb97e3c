// The playground of the site in headless Chromium: the console answers without a server, a link holds all data, a damaged link does no harm, "Run it" of
// the documents sends their requests, a delay does not block the page, all works without a network, the policy of the page is kept. PICTURES=FOLDER keeps pictures.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";

const require = createRequire(process.env.DYNALITH_CONSOLE_MODULES + "/x.js");
const puppeteer = require("puppeteer-core");
const SITE = path.resolve("build/site"), PAGE = "play/_dynalith/console/index.html";
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml" };
if (!existsSync(path.join(SITE, PAGE))) {
  console.log("playground: skipped, the site was built without build/wasm/dynalith.wasm");
  process.exit(0);
}
const VISITS = Number(process.env.VISITS ?? 1);
let loaded = 0, isGone = false;
const server = http.createServer((request, reply) => {
  const file = path.join(SITE, new URL(request.url, "http://x").pathname);
  try {
    if (isGone || request.method !== "GET") throw new Error("not of a site");
    const bytes = readFileSync(file.endsWith("/") ? file + "index.html" : file);
    loaded += bytes.length;
    reply.setHeader("content-type", TYPES[path.extname(file)] ?? "application/octet-stream");
    reply.setHeader("cache-control", "max-age=600"); // as static hosts say
    reply.end(bytes);
  } catch { reply.writeHead(404).end(); }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const url = `http://127.0.0.1:${server.address().port}/${PAGE}`;
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true, protocolTimeout: 600000,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
const problems = [];
const open = async (context, address = url) => {
  const page = await context.newPage();
  page.setDefaultTimeout(300000);
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  await page.goto(address, { waitUntil: "load" });
  return page;
};
const press = (page, text) => page.waitForSelector(`::-p-xpath(//button[normalize-space()='${text}'])`).then((button) => button.click());
const has = (page, text) => page.waitForFunction((wanted) => document.body.innerText.includes(wanted), {}, text);
const call = (page, target, body) => page.evaluate(async (operation, input) => {
  const reply = await fetch(new URL("../../", location.href), { method: "POST", headers: { "x-amz-target": `DynamoDB_20120810.${operation}` }, body: JSON.stringify(input) });
  return { status: reply.status, body: await reply.json() };
}, target, body);
const picture = async (page, name) => {
  if (!process.env.PICTURES) return;
  for (const width of [375, 1280]) {
    await page.setViewport({ width, height: 900 });
    await page.screenshot({ path: `${process.env.PICTURES}/playground-${name}-${width}.png` });
    assert.ok(!await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth + 1), `${name} is wider than ${width} px`);
  }
};

/* Ms from the start of a visit to the answer of a first PutItem, and of its CreateTable, which the page itself sends; nothing is cached. */
async function visit() {
  const cold = await (await browser.createBrowserContext()).newPage();
  await cold.evaluateOnNewDocument(() => addEventListener("DOMContentLoaded", async () => {
    const call = async (operation, input) => {
      const reply = await fetch(new URL("../../", location.href), { method: "POST", headers: { "x-amz-target": `DynamoDB_20120810.${operation}` }, body: JSON.stringify(input) });
      return reply.status;
    };
    const key = { AttributeName: "id", AttributeType: "S" };
    await call("CreateTable", { TableName: "first", BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: [key], KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] });
    const status = await call("PutItem", { TableName: "first", Item: { id: { S: "1" } } });
    globalThis.firstPut = { status, ms: performance.now() };
  }));
  await cold.goto(url);
  const { status, ms } = await (await cold.waitForFunction(() => globalThis.firstPut)).jsonValue();
  assert.equal(status, 200);
  await cold.browserContext().close();
  return ms;
}
const visits = [];
for (let i = 0; i < VISITS; i++) visits.push(await visit());
loaded = 0;

const context = await browser.createBrowserContext();
const page = await open(context);
await page.setViewport({ width: 1280, height: 900 });
await call(page, "ListTables", {});
await press(page, "Create the example");
await has(page, "items read");
await picture(page, "tables");
const { Count: count } = (await call(page, "Scan", { TableName: "shop", Select: "COUNT" })).body;
assert.ok(count > 50, `the example has ${count} items`);
assert.equal((await call(page, "Scan", { TableName: "none" })).status, 400);
assert.ok(loaded < 2 << 20, `the page has loaded ${loaded} bytes`);

await press(page, "Request");
await picture(page, "request");
await press(page, "Send");
await page.waitForFunction(() => document.querySelector("dialog pre").textContent.endsWith("ms\n{}"));
await press(page, "Send");
await has(page, "ConditionalCheckFailed");
await press(page, "Close");
const stored = count + 1;

// The delay blocks the engine's thread; the page draws meanwhile.
const rules = await page.evaluate(() => fetch(new URL("../../_dynalith/faults", location.href), { method: "PUT", body: JSON.stringify({ rules: [{ operation: "ListTables", latency: 300, first: 1 }] }) }).then((reply) => reply.status));
assert.equal(rules, 200);
assert.ok(await page.evaluate(async () => {
  const under = fetch(new URL("../../", location.href), { method: "POST", headers: { "x-amz-target": "DynamoDB_20120810.ListTables" }, body: "{}" });
  let turns = 0;
  for (let isOver = false; !isOver; turns++) isOver = await Promise.race([under.then(() => true), new Promise((done) => setTimeout(done, 1))]);
  return turns > 3;
}), "the page waited, too");

await page.evaluate(() => { navigator.clipboard.writeText = async () => {}; });
await press(page, "Copy link");
await page.waitForFunction(() => document.documentElement.dataset.link);
const link = await page.evaluate(() => document.documentElement.dataset.link);
assert.ok(link.length < 32 << 10, `the link has ${link.length} characters`);
const other = await open(await browser.createBrowserContext(), link);
await has(other, "shop");
assert.equal((await call(other, "Scan", { TableName: "shop", Select: "COUNT" })).body.Count, stored);
assert.equal(await other.evaluate(() => location.hash), "#/");
const damaged = await open(await browser.createBrowserContext(), link.slice(0, -200));
await has(damaged, "The link is damaged");
assert.deepEqual((await call(damaged, "ListTables", {})).body.TableNames, []);

// Before each the list is opened again.
const sample = async (title) => {
  await press(page, "Samples");
  if (title === "A race") await picture(page, "samples");
  await press(page, title);
};
const models = { SingleTable: "Customers, orders and products", AppTable: "Groups, events, and a tree by paths", invoices: "Invoices", relationships: "Many-to-many relationships",
  MyApp: "Users, orders and products" };
for (const [name, title] of Object.entries(models)) {
  await sample(title);
  await page.waitForFunction((wanted) => location.hash.endsWith(`/${wanted}`), {}, name);
  assert.ok((await call(page, "Scan", { TableName: name, Select: "COUNT" })).body.Count > 20, name);
}
await sample("A race");
await has(page, "finds such orders");
assert.equal(await page.evaluate(() => document.querySelector("dialog pre").textContent.split("ConditionalCheckFailed").length), 2);
await press(page, "Close");
await sample("A hot partition");
await has(page, "spread over more");
const text = await page.evaluate(() => document.querySelector("dialog pre").textContent);
assert.match(text, /to one key: [1-9]\d* are throttled[\s\S]*KeyRangeThroughputExceeded[\s\S]*to 15 keys: 0 are throttled/);
await picture(page, "hot");
await press(page, "Close");

// What is kept is there in the next visit, of one tab, until Keep is pressed again.
const keeper = await browser.createBrowserContext(), first = await open(keeper);
const names = async (where) => (await call(where, "ListTables", {})).body.TableNames;
const isPressed = (where, wanted) => where.waitForFunction((value) => [...document.querySelectorAll("button")].some((one) => one.textContent === "Keep" && one.getAttribute("aria-pressed") === value), {}, String(wanted));
await isPressed(first, false);
await press(first, "Keep");
await has(first, "is kept in this browser");
await call(first, "CreateTable", { TableName: "kept-table", BillingMode: "PAY_PER_REQUEST", AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], KeySchema: [{ AttributeName: "id", KeyType: "HASH" }] });
await first.waitForFunction(() => new Promise((done) => {
  indexedDB.open("dynalith.kept").onsuccess = ({ target: { result: kept } }) => {
    kept.transaction("states").objectStore("states").get("state").onsuccess = ({ target }) => { kept.close(); done(new TextDecoder("latin1").decode(target.result).includes("kept-table")); };
  };
}), { polling: 100 });
const second = await open(keeper);
await has(second, "Another tab keeps the data");
assert.deepEqual(await names(second), ["kept-table"]);
await press(second, "Keep");
await has(second, "only one can");
await second.close();
await first.reload({ waitUntil: "load" });
assert.deepEqual(await names(first), ["kept-table"]);
await isPressed(first, true);
await picture(first, "kept");
await first.close();
// A page of a link replaces what is kept only where it may.
const blank = await open(await browser.createBrowserContext());
await press(blank, "Copy link");
const third = await open(keeper, await blank.waitForFunction(() => document.documentElement.dataset.link).then((link) => link.jsonValue()));
let isAllowed = false;
third.on("dialog", (dialog) => (isAllowed ? dialog.accept() : dialog.dismiss()));
await press(third, "Keep");
const fourth = await open(keeper);
assert.deepEqual(await names(fourth), ["kept-table"]);
await fourth.close();
await isPressed(third, false);
isAllowed = true;
await press(third, "Keep");
await has(third, "is kept in this browser");
await third.reload({ waitUntil: "load" });
assert.deepEqual(await names(third), []);
await isPressed(third, true);
await press(third, "Keep");
await has(third, "Nothing is kept");
await third.reload({ waitUntil: "load" });
await isPressed(third, false);
await keeper.close();

const documents = await open(context, new URL("/languages/cli.html", url).href);
const example = await documents.$eval(".run a", (link) => link.href);
const ran = await open(await browser.createBrowserContext(), example);
await has(ran, '"amount": {\n      "N": "13.5"');
await picture(ran, "run");
assert.deepEqual((await call(ran, "ListTables", {})).body.TableNames, ["orders"]);
await press(ran, "Close");
await has(ran, "orders");
const broken = await open(await browser.createBrowserContext(), example.slice(0, -9));
await has(broken, "The link is damaged");

for (const each of await Promise.all(browser.browserContexts().map((one) => one.pages())).then((all) => all.flat()))
  if (each.url().startsWith(url)) await each.evaluate(() => navigator.serviceWorker.ready.then(() => true));
isGone = true;
const offline = await open(context);
await press(offline, "Create the example");
await has(offline, "shop");
assert.deepEqual(problems, []);
// By a timer: what a debugger evaluates itself may do so.
assert.ok(await offline.evaluate(() => new Promise((done) => setTimeout(() => { try { done(!new Function("return 1")()); } catch { done(true); } }))), "the page makes scripts of text");
await browser.close();
server.close();
console.log(`playground: passed; first PutItem after ${Math.min(...visits).toFixed(0)} ms, a link of ${link.length} characters for ${count} items`);
