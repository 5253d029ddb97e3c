// A table of 1,000,000 items (ITEMS), and one with few partitions: each is opened by 5 requests at most,
// none of which reads more than two pages' worth. The collections of the large one are scrolled to 40 places at random and paged; how long a page takes,
// and the main thread's tasks, are printed.
import assert from "node:assert/strict";
import { browse, client, end, serve } from "./page.mjs";
import { fillTable } from "./data.mjs";

const ITEMS = Number(process.env.ITEMS ?? 1000000), PLACES = 40, WRITERS = 4, FRAME = 30 /* ms */;
const port = await serve("--durability", "off"), api = client(port);
for (const TableName of ["large", "narrow"]) await api("CreateTable", { TableName, BillingMode: "PAY_PER_REQUEST", KeySchema: [{ AttributeName: "PK", KeyType: "HASH" }, { AttributeName: "SK", KeyType: "RANGE" }],
  AttributeDefinitions: ["PK", "SK"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })) });

/** How many ms of CPU each task of the page's main thread took. */
function tasksOf({ traceEvents: events }) {
  const mains = new Set(events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`));
  return events.filter((e) => e.name === "RunTask" && mains.has(`${e.pid} ${e.tid}`)).map((e) => (e.tdur ?? e.dur ?? 0) / 1000);
}

let next = 0;
const began = Date.now();
await Promise.all(Array.from({ length: WRITERS }, async () => {
  for (let from = next; from < ITEMS; from = next) {
    next += 2000;
    await fillTable(api, "large", Array.from({ length: Math.min(2000, ITEMS - from) }, (_, k) => {
      const i = from + k;
      return { PK: { S: `CUSTOMER#${Math.floor(i / 5)}` }, SK: { S: i % 5 ? `ORDER#${i % 5}` : "PROFILE" }, n: { N: String(i) } };
    }));
  }
}));
console.log(`scroll: ${ITEMS} items written in ${((Date.now() - began) / 1000).toFixed(0)} s`);
await fillTable(api, "narrow", Array.from({ length: Math.min(ITEMS, 40000) }, (_, i) => ({ PK: { S: `DAY#${i % 20}` }, SK: { S: `EVENT#${String(i).padStart(8, "0")}` } })));
const p = await browse();
let failed = 0, asked = [];
p.page.on("request", (r) => {
  const isAsset = r.resourceType() === "script" || r.resourceType() === "stylesheet" || r.resourceType() === "image" || r.resourceType() === "document" || r.url().endsWith(".svg"); // the icon
  if (!isAsset) asked.push(r.headers()["x-amz-target"]?.split(".")[1] ?? new URL(r.url()).pathname.split("/").slice(2).join("/"));
});
try {
  for (const table of ["narrow", "large"]) {
    await p.page.goto("about:blank");
    asked = [];
    await p.page.goto(`http://127.0.0.1:${port}/_dynalith/console/#/collections/${table}`);
    await p.shows(table === "large" ? "CUSTOMER#" : "EVENT#");
    await p.quiet();
    console.log(`scroll: ${table} opened by ${asked.length} requests: ${asked.join(", ")}`);
    assert.ok(asked.length <= 5 && asked.filter((a) => a === "Scan").length <= 2, asked.join(", "));
    for (const view of ["query", "tables", "model"]) {
      asked = [];
      await p.view(...(view === "query" ? [view, table] : [view]));
      assert.ok(asked.length <= 5 && !asked.includes("Scan"), `${view}: ${asked.join(", ")}`);
    }
  }
  await p.view("collections", "large");
  await p.page.waitForSelector(".grid .line");
  await p.quiet();
  await p.page.tracing.start({ categories: ["disabled-by-default-devtools.timeline"] });
  // until each line that can be seen has its item
  const times = await p.page.evaluate(async (places) => {
    const grid = document.querySelector(".grid"), frame = () => new Promise((done) => requestAnimationFrame(done));
    const ready = async (move) => {
      const began = performance.now();
      move();
      do await frame(); while (!grid.querySelector(".line") || grid.querySelector(".line.wait") || ![...grid.querySelectorAll(".line")].some((l) => { const b = l.getBoundingClientRect(), g = grid.getBoundingClientRect(); return b.bottom > g.top && b.top < g.bottom; }));
      return performance.now() - began;
    };
    const times = [];
    let seed = 1;
    for (let i = 0; i < places; i++) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      times.push(await ready(() => { grid.scrollTop = (seed / 2147483648) * grid.scrollHeight; }));
    }
    grid.scrollTop = 0;
    for (let i = 0; i < places; i++) times.push(await ready(() => { grid.scrollTop += grid.clientHeight; }));
    times.push(await ready(() => { grid.scrollTop = grid.scrollHeight; }));
    return times;
  }, PLACES);
  const tasks = tasksOf(JSON.parse(new TextDecoder().decode(await p.page.tracing.stop())));
  const at = (q, of = times) => of[Math.min(of.length - 1, Math.floor(q * of.length))];
  for (const list of [times, tasks]) list.sort((a, b) => a - b);
  const count = await p.page.$eval(".grid", (g) => Number(g.getAttribute("aria-rowcount"))), lines = await p.page.$$eval(".grid .line", (l) => l.length);
  console.log(`scroll: ${times.length} pages of ${count} rows: median ${at(0.5).toFixed(0)} ms, 95 % ${at(0.95).toFixed(0)} ms, most ${at(1).toFixed(0)} ms; ${lines} lines exist`);
  console.log(`scroll: ${tasks.length} tasks of the main thread, ms of CPU: 99 % ${at(0.99, tasks).toFixed(1)}, most ${at(1, tasks).toFixed(1)}; ${tasks.filter((t) => t > FRAME).length} over ${FRAME}`);
  assert.ok(count > ITEMS && lines < 200, `${count} rows, ${lines} lines`);
  assert.deepEqual(p.faults, []);
} catch (error) {
  console.log(`scroll: ${error.stack}`);
  failed = 1;
} finally {
  await p.browser.close();
  end();
}
console.log(`scroll: ${1 - failed} passed, ${failed} failed`);
process.exit(failed);
