// Each page at four widths in both schemes, with data and traffic: no faults of layout, no violations of axe's rules, and pictures for people in
// build/console/looks. PAGES="tables query" takes some of the pages, WIDTHS="640" some of the widths.
import { mkdirSync } from "node:fs";
import { browse, client, end, serve } from "./page.mjs";
import { makeShop } from "./data.mjs";

const WIDTHS = (process.env.WIDTHS ?? "640 1024 1280 1920").split(" ").map(Number), HEIGHT = 800, folder = "build/console/looks";
mkdirSync(folder, { recursive: true });
const port = await serve("--insight", "on"), api = client(port);
await makeShop(api);
await api("UpdateTimeToLive", { TableName: "shop", TimeToLiveSpecification: { Enabled: true, AttributeName: "until" } });
await api("CreateTable", { TableName: "sessions-of-the-web-application-in-production", BillingMode: "PROVISIONED", ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
  KeySchema: [{ AttributeName: "token", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "token", AttributeType: "S" }] });

/** What an application asks: so that Live and Insight have something. */
async function traffic() {
  for (let i = 0; i < 24; i++) {
    const PK = { S: `CUSTOMER#${1 + i % 8}` };
    await api("Query", { TableName: "shop", KeyConditionExpression: "PK = :p AND begins_with(SK, :o)", ExpressionAttributeValues: { ":p": PK, ":o": { S: "ORDER#" } } });
    await api("UpdateItem", { TableName: "shop", Key: { PK, SK: { S: "PROFILE" } }, UpdateExpression: "SET seen = :n, #u = :u", ExpressionAttributeNames: { "#u": "until" }, ExpressionAttributeValues: { ":n": { N: String(i) }, ":u": { N: String(Math.floor(Date.now() / 1000) + 3600 * (i + 1)) } } });
    await api("GetItem", { TableName: "shop", Key: { PK, SK: { S: `ORDER#${i}` } } });
    if (i % 6 === 0) await api("Scan", { TableName: "shop", FilterExpression: "#s = :s", ExpressionAttributeNames: { "#s": "status" }, ExpressionAttributeValues: { ":s": { S: "OPEN" } } });
    if (i % 8 === 0) await api("PutItem", { TableName: "shop", Item: { PK, SK: { S: "PROFILE" } }, ConditionExpression: "attribute_not_exists(PK)" }).catch(() => {});
  }
}

const query = encodeURIComponent(JSON.stringify({ hash: ["CUSTOMER#7"], operator: "begins_with", first: "ORDER#", filters: [{ name: "status", operator: "=", type: "S", first: "OPEN" }] }));
const row = (p, text) => p.page.evaluate((text) => [...document.querySelectorAll(".grid .line")].find((l) => l.innerText.includes(text)).click(), text);
const pages = {
  tables: ["#/tables"],
  create: ["#/tables", (p) => p.click("Create table")],
  collections: ["#/collections/shop", (p) => p.shows("PROFILE")],
  chosen: ["#/collections/shop", async (p) => { await p.shows("PROFILE"); await p.page.focus(".grid"); await p.page.keyboard.press("j"); await p.page.keyboard.press("x"); }],
  form: ["#/collections/shop//CUSTOMER%231", async (p) => { await p.shows("Ada"); await row(p, "Ada"); await p.page.waitForSelector("dialog[open]"); await p.click("Form"); }],
  json: ["#/collections/shop//CUSTOMER%231", async (p) => { await p.shows("Ada"); await row(p, "Ada"); await p.page.waitForSelector("dialog[open]"); await p.click("JSON"); }],
  count: ["#/collections/shop", async (p) => { await p.shows("PROFILE"); await p.click("Count"); await p.choose("Entity", "ORDER"); await p.choose("Where", "status"); await p.choose("Value", "OPEN"); }],
  index: ["#/collections/shop/GSI1", (p) => p.shows("PRODUCT")],
  query: [`#/query/shop//${query}`, async (p) => { await p.click("Run"); await p.shows("Read units"); }],
  history: [`#/query/shop//${query}`, async (p) => { await p.click("Run"); await p.shows("Read units"); await p.click("History"); }],
  partiql: [`#/partiql/${encodeURIComponent("SELECT * FROM shop WHERE PK = 'CUSTOMER#2'")}`, async (p) => { await p.click("Run"); await p.shows("Read units"); }],
  live: ["#/live", async (p) => { await p.shows("came before this page watched"); await traffic(); await p.shows("UpdateItem"); await row(p, "UpdateItem"); await p.page.waitForSelector("aside pre"); }],
  streams: ["#/live", async (p) => { await p.click("Streams"); await p.shows("Following shop"); await traffic(); await p.shows("MODIFY"); }],
  ttl: ["#/live", async (p) => { await p.click("Time to live"); await p.shows("Expires"); }],
  control: ["#/control", (p) => p.shows("Clock", "Namespaces", "000000000000")],
  faults: ["#/control", async (p) => { await p.click("Faults and limits"); await p.shows("Throttle every third write"); }],
  backups: ["#/control", async (p) => { await p.click("Backups, exports, replicas"); await p.shows("There are no backups"); }],
  insight: ["#/control", async (p) => { await p.click("Insight"); await p.shows("Findings"); }],
  model: ["#/model", (p) => p.shows("Table shop")],
  forecast: ["#/lab/Forecast/scale%3D300%26days%3D2", (p) => p.shows("Capacity that clients want")],
  races: ["#/lab/Races", async (p) => {
    const [chooser] = await Promise.all([p.page.waitForFileChooser(), (await p.control("Open a file of races/, or drop it here")).click()]);
    await chooser.accept(["tests/console/order.json"]);
    await p.shows("What happens");
  }],
  palette: ["#/tables", async (p) => { await p.page.keyboard.down("Control"); await p.page.keyboard.press("k"); await p.page.keyboard.up("Control"); await p.shows("shop by GSI1"); await p.page.keyboard.type("shop gs"); }],
  keys: ["#/tables", async (p) => { await p.page.evaluate(() => document.activeElement.blur()); await p.page.keyboard.type("?"); await p.shows("Ctrl+Enter"); }],
};

let passed = 0, failed = 0;
const p = await browse({ width: 1280, height: HEIGHT }), wanted = process.env.PAGES?.split(" ");
try {
  await traffic();
  for (const [name, [hash, prepare]] of Object.entries(pages)) {
    if (wanted && !wanted.includes(name)) continue;
    try {
      await p.page.setViewport({ width: 1280, height: HEIGHT });
      await p.page.goto("about:blank");
      await p.page.goto(`http://127.0.0.1:${port}/_dynalith/console/${hash}`);
      await p.until(() => document.getElementById("main").dataset.view, "a view");
      await prepare?.(p);
      await p.quiet();
      for (const width of WIDTHS) for (const theme of ["light", "dark"]) {
        await p.page.setViewport({ width, height: HEIGHT });
        await p.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
        await p.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await p.page.screenshot({ path: `${folder}/${name}-${width}-${theme}.png` });
        const faults = [...await p.layout(), ...await p.axe(), ...p.faults.splice(0)];
        if (faults.length) { console.log(`looks: ${name} at ${width}, ${theme}: ${faults.join("\n  ")}`); failed++; } else passed++;
      }
    } catch (error) {
      console.log(`looks: ${name}: ${error.message}`);
      failed++;
    }
  }
} finally {
  await p.browser.close();
  end();
}
console.log(`looks: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
