// The tour of docs/tour.md, step by step, and its pictures. PICTURES=1 writes them to docs/; else they go to build/console/.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { browse, client, end, serve } from "./page.mjs";
import { makeShop } from "./data.mjs";

const folder = process.env.PICTURES ? "docs/pictures" : "build/console";
mkdirSync(folder, { recursive: true });
const port = await serve("--insight", "on"), api = client(port), root = `http://127.0.0.1:${port}/`;
const p = await browse({ width: 1120, height: 620 });
const picture = async (name) => { await p.quiet(); await p.page.evaluate(() => document.getElementById("notes").replaceChildren()); await p.page.screenshot({ path: `${folder}/${name}.png`, optimizeForSpeed: false }); };
const closed = () => p.until(() => !document.querySelector("dialog[open]"), "the dialog is closed");

let failed = 0;
try {
  // the table
  await p.page.goto(root);
  await p.click("Create a table");
  await p.fill("Table name", "shop");
  await p.click("Add an index");
  await picture("tour-create");
  await p.click("Create table");
  await closed();
  await p.shows("shop", "ACTIVE");
  // two entity types
  await p.click("shop");
  await p.click("New item");
  await p.fill("The item as JSON", "{\n  \"PK\": \"CUSTOMER#1\",\n  \"SK\": \"PROFILE\",\n  \"name\": \"Ada Lovelace\"\n}");
  await p.click("Save");
  await closed();
  await p.click("Import");
  await p.fill("Paste here", "PK,SK,GSI1PK,GSI1SK,status,total\nCUSTOMER#1,ORDER#2026-01-10,STATUS#PAID,2026-01-10,PAID,20\nCUSTOMER#1,ORDER#2026-03-10,STATUS#OPEN,2026-03-10,OPEN,33\nCUSTOMER#2,ORDER#2026-02-11,STATUS#OPEN,2026-02-11,OPEN,27\n");
  await p.shows("3 of 3 items can be written");
  await picture("tour-import");
  await p.page.click("dialog[open] footer button.main");
  await closed();
  await p.shows("PROFILE", "ORDER#2026-03-10");
  await picture("tour-collections");
  // the index
  await p.choose("View by", "GSI1");
  await p.shows("STATUS#OPEN");
  await p.view("query", "shop", "GSI1");
  await p.fill("Partition key GSI1PK", "STATUS#OPEN");
  await p.click("Run");
  await p.shows("2 read, 2 returned", "0.5 units");
  await p.shows(/Read units 0\.5/);
  await picture("tour-query");
  // the same without the index: a scan
  await p.view("query", "shop");
  await p.click("Add a filter");
  await p.fill("Attribute", "status");
  await p.page.type("[aria-label='Value']", "OPEN");
  await p.click("Run");
  await p.shows("4 read, 2 returned", "Why a scan");
  await picture("tour-plan");
  await p.view("partiql");
  await p.fill("PartiQL statement", "SELECT * FROM shop.GSI1 WHERE GSI1PK = 'STATUS#OPEN'");
  await p.click("Run");
  await p.shows("2 items");
  await p.view("model");
  await p.shows("PK = CUSTOMER#<number>, SK = ORDER#<date>");
  assert.deepEqual(p.faults, []);
  // the picture of the README
  await api("DeleteTable", { TableName: "shop" });
  await makeShop(api);
  await p.view("collections", "shop");
  await p.shows("CUSTOMER#");
  await picture("collections");
  assert.deepEqual(await p.layout(), []);
} catch (error) {
  console.log(`tour: ${error.stack}`);
  await p.page.screenshot({ path: "build/console/failed-tour.png" }).catch(() => {});
  failed = 1;
} finally {
  await p.browser.close();
  end();
}
console.log(`tour: ${1 - failed} passed, ${failed} failed`);
process.exit(failed);
