// The console as people use it, in Chromium: each view, its layout, axe's rules, both themes, keyboard, conflicts, hostile data, signatures, other sites.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { browse, client, end, serve, sleep } from "./page.mjs";
import { items, makeShop, shop } from "./data.mjs";

const EVIL = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>";
const port = await serve("--insight", "on"), api = client(port), root = `http://127.0.0.1:${port}/`;
const get = async (PK, SK, TableName = "shop") => (await api("GetItem", { TableName, Key: { PK: { S: PK }, SK: { S: SK } }, ConsistentRead: true })).Item;
const TALL = { width: 1400, height: 3400 }, USUAL = { width: 1400, height: 860 }; // tall enough for all rows of the data
const p = await browse(TALL);
const only = process.env.DYNALITH_TESTS?.split(" ");

/** No faults of layout, no violations of axe's rules, none in the log; a picture for people. */
async function sound(name, on = p) {
  if (on === p) await p.page.setViewport(USUAL);
  await on.quiet();
  await on.page.screenshot({ path: `build/console/${name}.png` });
  assert.deepEqual(await on.layout(), [], `layout of ${name}`);
  assert.deepEqual(await on.axe(), [], `axe on ${name}`);
  assert.deepEqual(on.faults, [], `log of ${name}`);
  if (on === p) await p.page.setViewport(TALL);
}
const open = async (text) => {
  await p.until((text) => [...document.querySelectorAll(".grid .line")].some((l) => l.innerText.includes(text)), `a row with ${text}`, text);
  await p.page.evaluate((text) => [...document.querySelectorAll(".grid .line")].find((l) => l.innerText.includes(text)).click(), text);
  await p.page.waitForSelector("dialog[open]");
};
const editor = () => p.page.$eval("dialog[open] textarea", (e) => e.value);
const saved = () => p.until(() => !document.querySelector("dialog[open]"), "the dialog is closed");

const steps = {
  async aBrowserIsSentToThePage() {
    await p.page.goto(root);
    assert.equal(p.page.url().split("#")[0], `${root}_dynalith/console/`);
    await p.shows("There are no tables in 000000000000 · us-east-1 yet");
    await sound("empty");
  },
  async createATable() {
    await p.click("Create a table");
    await p.fill("Table name", "made");
    await p.click("Add an index");
    await p.fill("Time to live attribute", "until");
    await p.choose("Stream", "NEW_IMAGE");
    const json = JSON.parse(await p.page.$eval("dialog textarea", (e) => e.value));
    assert.equal(json.TableName, "made");
    assert.deepEqual(json.GlobalSecondaryIndexes[0].KeySchema.map((k) => k.AttributeName), ["GSI1PK", "GSI1SK"]);
    await sound("create");
    await p.click("Create table");
    await p.shows("made", "ACTIVE", "new image", "until");
    const { Table } = await api("DescribeTable", { TableName: "made" });
    assert.deepEqual(Table.KeySchema, json.KeySchema);
    assert.equal(Table.GlobalSecondaryIndexes[0].IndexName, "GSI1");
  },
  async changeATable() {
    await p.click("Change");
    await p.choose("Stream", "");
    await p.fill("Time to live attribute", "");
    await p.check("Delete the index GSI1");
    await p.click("Add an index");
    await p.fill("Index name", "byDate");
    await sound("change");
    await p.click("Save changes");
    await saved();
    const { Table } = await api("DescribeTable", { TableName: "made" });
    assert.deepEqual(Table.GlobalSecondaryIndexes.map((i) => i.IndexName), ["byDate"]);
    assert.ok(!Table.StreamSpecification);
    assert.equal((await api("DescribeTimeToLive", { TableName: "made" })).TimeToLiveDescription.TimeToLiveStatus, "DISABLED");
  },
  async anErrorStaysInTheForm() {
    await p.click("Create table");
    await p.fill("Table name", "made");
    await p.click("Create table");
    await p.shows("ResourceInUseException");
    await p.page.keyboard.press("Escape");
  },
  async deleteATableByItsName() {
    await p.click("Delete");
    await p.fill("Type made to confirm", "mad");
    assert.ok(await p.page.$eval("dialog footer button", (b) => b.disabled));
    await p.fill("Type made to confirm", "made");
    await p.page.click("dialog footer button");
    await p.shows("There are no tables");
    assert.deepEqual((await api("ListTables")).TableNames, []);
  },
  async anExampleByOneClick() {
    await p.click("Create the example");
    await p.shows("CUSTOMER#1", "Ada Lovelace");
    assert.equal((await api("Scan", { TableName: "shop", Select: "COUNT" })).Count, items().length);
    await api("DeleteTable", { TableName: "shop" });
  },
  async collections() {
    await makeShop(api);
    await p.view("collections", "shop");
    await p.shows("CUSTOMER#1", "PROFILE", "Ada Lovelace", "ORDER");
    const groups = await p.page.$$eval(".grid .group .mono", (all) => all.map((e) => e.innerText));
    assert.equal(new Set(groups).size, groups.length, "a partition is one group");
    // within a group the order of the sort key
    const rows = await p.page.$$eval(".grid .line", (all) => all.sort((a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex"))
      .map((l) => (l.classList.contains("group") ? null : l.querySelector(".cell.wide span").innerText)));
    for (let i = 1; i < rows.length; i++) assert.ok(rows[i] === null || rows[i - 1] === null || rows[i - 1] < rows[i], `${rows[i - 1]} before ${rows[i]}`);
    const colours = await p.page.$$eval(".grid .cell.type", (all) => all.map((e) => `${e.innerText} ${getComputedStyle(e).color}`));
    const types = [...new Set(colours)];
    assert.equal(new Set(types.map((t) => t.split(" ")[0])).size, types.length, "a type has one colour");
    assert.equal(new Set(types.map((t) => t.split("rgb")[1])).size, types.length, "and no other has it");
    // columns are the type's own
    const labels = await p.page.$$eval(".grid .line:not(.group)", (all) => all.map((l) => [l.querySelector(".type").innerText, [...l.querySelectorAll("small")].map((s) => s.innerText).join()]));
    assert.ok(labels.some(([t, c]) => t === "CUSTOMER" && c.includes("email")) && labels.every(([t, c]) => t !== "ADDRESS" || !c.includes("email")), labels);
    await sound("collections");
    // a page of lines is laid out as a whole, not once for each line
    await p.page.setViewport(USUAL);
    await p.quiet();
    const layouts = async () => (await p.page.metrics()).LayoutCount, before = await layouts();
    const lines = await p.page.evaluate(async () => {
      const grid = document.querySelector(".grid"), seen = new Set(grid.querySelectorAll(".line"));
      grid.scrollTop += grid.clientHeight;
      for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done));
      return [...grid.querySelectorAll(".line")].filter((l) => !seen.has(l)).length;
    });
    const made = await layouts() - before;
    assert.ok(lines >= 12 && made < lines / 2, `${made} layouts for ${lines} new lines`);
    await p.page.setViewport(TALL);
    await p.view("collections", "shop", "", "NOBODY");
    await p.shows("No item has this partition key.", "0 items read");
    await p.view("collections", "shop");
  },
  /** Which customers have more than one open order? Asked of what the page has read. */
  async groupsOfItems() {
    await p.view("collections", "shop");
    await p.shows("Ada Lovelace");
    await p.click("Count");
    await p.choose("Entity", "ORDER");
    await p.choose("Where", "status");
    await p.choose("Value", "OPEN");
    await p.fill("More than", "0");
    const found = new Map();
    for (const i of items()) if (i.status?.S === "OPEN") found.set(i.PK.S, (found.get(i.PK.S) ?? 0) + 1);
    const shown = () => p.page.$$eval("dialog[open] tbody tr", (rows) => rows.map((r) => [...r.cells].map((c) => c.innerText)));
    const wanted = (above) => [...found].filter(([, n]) => n > above).map(([k, n]) => [k, String(n)]).sort();
    assert.deepEqual((await shown()).sort(), wanted(0));
    await sound("groups");
    await p.fill("More than", "1");
    assert.deepEqual((await shown()).sort(), wanted(1));
    await p.fill("More than", "0");
    await p.click(wanted(0)[0][0]);
    await p.until((key) => location.hash.endsWith(encodeURIComponent(key)) && document.querySelectorAll(".grid .group").length === 1, "the partition of the group", wanted(0)[0][0]);
  },
  async pivotToAnIndex() {
    await p.view("collections", "shop");
    await p.choose("View by", "GSI1");
    await p.until(() => { // the table's own view has the same texts, and is there until the pages of the index are
      const groups = [...document.querySelectorAll(".grid .group .mono")].map((e) => e.innerText);
      return groups.length > 3 && groups.every((g) => /^(PRODUCT|ORDER)#/.test(g));
    }, "the partitions of the index alone");
    await p.shows("PRODUCT#1", "Teapot");
    await sound("pivot");
    await p.fill("Partition", "PRODUCT#2");
    await p.until(() => document.querySelectorAll(".grid .group").length === 1 && document.querySelector(".grid .group .mono").innerText === "PRODUCT#2", "one partition");
    await p.view("collections", "shop");
    await p.choose("Entity types by", "");
    await p.fill("Attribute that names the type", "status");
    await p.until(() => [...document.querySelectorAll(".grid .cell.type")].some((e) => e.innerText === "SHIPPED"), "types by an attribute");
  },
  async keyboardAlone() {
    await p.view("collections", "shop");
    await p.page.focus(".grid");
    for (let i = 0; i < 3; i++) await p.page.keyboard.press("ArrowDown");
    const active = await p.page.$eval(".grid", (e) => document.getElementById(e.getAttribute("aria-activedescendant"))?.getAttribute("aria-rowindex"));
    assert.equal(active, "3");
    await p.page.keyboard.press("ArrowUp");
    await p.page.keyboard.press("Enter");
    await p.page.waitForSelector("dialog[open] textarea");
    assert.equal(await p.page.evaluate(() => document.activeElement.tagName), "TEXTAREA");
    await p.page.keyboard.press("Escape");
    await saved();
    await p.page.keyboard.down("Alt");
    await p.page.keyboard.press("3");
    await p.page.keyboard.up("Alt");
    await p.until(() => location.hash.startsWith("#/query"), "Alt+3");
  },
  async keysAndPalette() {
    const at = (start) => p.until((start) => location.hash.startsWith(start), start, start);
    const blur = () => p.page.evaluate(() => document.activeElement.blur());
    await p.view("collections", "shop");
    await blur();
    await p.page.keyboard.type("?");
    await p.shows("find a view, a table, an index or a saved query");
    await sound("keys");
    await p.page.keyboard.press("Escape");
    await saved();
    await blur();
    await p.page.keyboard.type("/");
    assert.equal(await p.page.evaluate(() => document.activeElement.type), "search");
    await p.page.keyboard.type("gt?"); // typed, no key
    assert.equal(await p.page.evaluate(() => document.activeElement.value), "gt?");
    await p.fill("Partition", "CUSTOMER#1");
    await at("#/collections/shop//");
    await p.shows("Ada Lovelace");
    await blur();
    await p.page.keyboard.type("jjx");
    await p.shows("1 chosen");
    await p.page.keyboard.type("e");
    await p.page.waitForSelector("dialog[open] textarea");
    await p.page.keyboard.press("Escape");
    await saved();
    await blur();
    await p.page.keyboard.type("gm");
    await at("#/model");
    await p.shows("Table shop");
    for (const [words, address] of [["shop gsi1 items", "#/collections/shop/GSI1"], ["query shop", "#/query/shop"], ["tables", "#/tables"], ["cost", "#/control/Insight"], ["price", "#/control/Insight"], ["throttled", "#/control/Insight"], ["checkpoint", "#/control/State"], ["snapshot", "#/control/State"],
      ["expire", "#/live/Time%20to%20live"], ["fault", "#/control/Faults%20and%20limits"], ["forecast", "#/lab/Forecast"], ["race", "#/lab/Races"], ["export", "#/control/Backups,%20exports,%20replicas"], ["import model", "#/model"]]) {
      await p.page.keyboard.down("Control");
      await p.page.keyboard.press("k");
      await p.page.keyboard.up("Control");
      await p.shows("shop by GSI1");
      await p.page.keyboard.type(words);
      if (words === "query shop") await sound("palette");
      await p.page.keyboard.press("Enter");
      await p.until((address) => location.hash.split("/").slice(0, address.split("/").length).join("/") === address, address, address);
      await p.quiet();
    }
  },
  async editAnItem() {
    await p.view("collections", "shop");
    await open("Ada Lovelace");
    const text = await editor();
    assert.match(text, /"tags": \{ "\$set": \["eu", "vip"\] \}/);
    await sound("item");
    await p.fill("The item as JSON", text.replace("\"Ada Lovelace\"", "12345678901234567890.12345678901234567,\n  \"flag\": true, \"none\": null, \"bytes\": {\"$binary\": \"AQI=\"}, \"deep\": {\"list\": [1, \"a\", {\"$set\": [1.50, 2]}]}"));
    await p.click("DynamoDB JSON");
    assert.deepEqual(JSON.parse(await editor()).name, { N: "12345678901234567890.12345678901234567" });
    await p.click("JSON");
    await p.page.focus("dialog textarea");
    await p.page.keyboard.down("Control");
    await p.page.keyboard.press("Enter");
    await p.page.keyboard.up("Control");
    await saved();
    const item = await get("CUSTOMER#1", "PROFILE");
    assert.equal(item.name.N, "12345678901234567890.12345678901234567");
    assert.deepEqual([item.flag, item.none, item.bytes, item.deep.M.list.L[2].NS.sort()], [{ BOOL: true }, { NULL: true }, { B: "AQI=" }, ["1.5", "2"]]);
    assert.deepEqual(item.tags.SS.sort(), ["eu", "vip"]);
  },
  /** Before it is saved, an edit shows its lines; and the item is a program in each language. */
  async theEditorShowsChangesAndCode() {
    await p.view("collections", "shop");
    await open("Grace Hopper");
    await p.click("As code");
    for (const [language, says] of [["Python", "client.put_item("], ["JavaScript", "new PutItemCommand({"], ["Java", "PutItemRequest.builder()"], ["Go", "&dynamodb.PutItemInput{"], ["Rust", ".put_item()"], ["CLI", "aws dynamodb put-item"]]) {
      await p.choose("Language of the item", language);
      await p.shows(says, "Grace Hopper");
    }
    await p.click("As code");
    await p.fill("The item as JSON", (await editor()).replace("grace@example.com", "g@example.com"));
    await p.click("Changes 1 attribute: email");
    await p.shows(/-\s+"email": "grace@example.com"/, /\+\s+"email": "g@example.com"/);
    await sound("changes");
    await p.click("Save");
    await saved();
    await p.shows("Saved");
    await p.click("Undo");
    await p.shows("As before");
    assert.equal((await get("CUSTOMER#2", "PROFILE")).email.S, "grace@example.com");
    await open("Grace Hopper");
    await p.fill("The item as JSON", (await editor()).replace("grace@example.com", "g@example.com"));
    await p.page.evaluate(() => document.activeElement.blur()); // Escape asks also where nothing has the focus
    await p.page.keyboard.press("Escape");
    await p.click("Discard the changes");
    await saved();
  },
  /** Values one by one: types by pick, attributes and elements that come and go; what is not touched stays as it is. */
  async theEditorAsAForm() {
    const Key = { PK: { S: "FORM#1" }, SK: { S: "form-x" } }, deep = { M: { list: { L: [{ S: "a" }, { N: "1.5" }] }, none: { NULL: true } } };
    await api("PutItem", { TableName: "shop", Item: { ...Key, text: { S: "two\nlines" }, tags: { SS: ["a", "b"] }, deep, bytes: { B: "AQI=" }, gone: { S: "x" }, on: { BOOL: true }, count: { S: "12" } } });
    await p.view("collections", "shop", "", "FORM#1");
    await open("form-x");
    await p.click("Form");
    assert.deepEqual(await p.page.$$eval("dialog[open] .form [aria-label='Name of PK'], dialog[open] .form [aria-label='Type of PK']", (all) => all.map((e) => e.readOnly || e.disabled)), [true, true]);
    assert.equal(await p.page.$("dialog[open] [aria-label='Remove PK']"), null);
    const press = (label) => p.page.$eval(`dialog[open] [aria-label="${label}"]`, (b) => b.click());
    await press("Remove gone");
    await press("Fold deep.list");
    await press("Show deep.list");
    await p.choose("Type of count", "N");
    await p.choose("Value of on", "false");
    await p.fill("Value of tags[0]", "c");
    await press("Add to tags");
    await p.page.keyboard.type("d");
    await press("Add to deep");
    await p.fill("Name of deep.", "flag");
    await p.choose("Type of deep.flag", "BOOL");
    await p.click("Add an attribute");
    await p.page.keyboard.type("total");
    await p.choose("Type of total", "N");
    await p.fill("Value of total", "1e");
    await p.shows("total: \"1e\" is no number");
    assert.ok(await p.page.$$eval("dialog footer button", (all) => all.at(-1).disabled));
    await p.click("DynamoDB JSON");
    await p.shows("Mend it before another form can show it");
    await p.fill("Value of total", "3");
    await p.fill("Name of total", "count");
    await p.shows("\"count\" stands twice");
    await p.page.$$eval("dialog[open] [aria-label='Name of count']", ([, e]) => { e.value = "total"; e.dispatchEvent(new Event("input")); });
    await sound("form");
    await p.click("DynamoDB JSON");
    assert.deepEqual(JSON.parse(await editor()).deep, { M: { ...deep.M, flag: { BOOL: false } } });
    await p.click("Form");
    await p.click("Save");
    await saved();
    assert.deepEqual(await get("FORM#1", "form-x"), { ...Key, text: { S: "two\nlines" }, tags: { SS: ["b", "c", "d"] }, deep: { M: { ...deep.M, flag: { BOOL: false } } }, bytes: { B: "AQI=" },
      on: { BOOL: false }, count: { N: "12" }, total: { N: "3" } });
    await open("form-x");
    assert.equal(await p.page.$("dialog[open] .form") !== null, true, "the form that was used last");
    await p.click("JSON");
    await p.page.keyboard.press("Escape");
    await saved();
    await api("DeleteItem", { TableName: "shop", Key });
  },
  /** Items that are chosen are deleted as they were read, and come back where nobody took their keys. */
  async chooseDeleteAndPutBack() {
    const key = (n) => ({ PK: { S: "MANY#1" }, SK: { S: `many-${n}` } }), there = async () => (await api("Query", { TableName: "shop", KeyConditionExpression: "PK = :p", ExpressionAttributeValues: { ":p": { S: "MANY#1" } } })).Items;
    for (let n = 0; n < 6; n++) await api("PutItem", { TableName: "shop", Item: { ...key(n), n: { N: String(n) }, GSI1PK: { S: "MANY#1" }, GSI1SK: { S: `g-${n}` } } });
    await p.view("collections", "shop", "", "MANY#1");
    await p.shows("many-5");
    await p.page.click("[aria-label='Choose MANY#1 · many-0']");
    await p.shows("1 chosen");
    for (const key of ["ArrowDown", " "]) await p.page.keyboard.press(key); // the group's line is the first
    await p.shows("6 chosen");
    for (const key of ["ArrowDown", " "]) await p.page.keyboard.press(key);
    await p.shows("5 chosen");
    await sound("chosen");
    await p.click("Choose none");
    await p.page.click("[aria-label='Choose MANY#1 · many-1']");
    await p.page.keyboard.down("Shift");
    await p.page.click("[aria-label='Choose MANY#1 · many-4']");
    await p.page.keyboard.up("Shift");
    await p.shows("4 chosen");
    await p.click("Choose none");
    for (const n of [0, 1, 2]) await p.page.click(`[aria-label='Choose MANY#1 · many-${n}']`);
    await api("UpdateItem", { TableName: "shop", Key: key(2), UpdateExpression: "SET n = :n", ExpressionAttributeValues: { ":n": { N: "20" } } });
    await p.click("Delete 3 items");
    await p.shows("Deleted 2 items", "1 item had changed since the page read them");
    assert.deepEqual((await there()).map((i) => i.SK.S), ["many-2", "many-3", "many-4", "many-5"]);
    await api("PutItem", { TableName: "shop", Item: { ...key(1), other: { S: "taken" } } });
    await p.view("tables");
    await p.view("collections", "shop", "", "MANY#1"); // what was deleted is kept meanwhile
    await p.click("Put back");
    await p.shows("Put back 1 item", "the key is in use again");
    assert.deepEqual((await there()).map((i) => [i.n?.N, i.other?.S].join("")), ["0", "taken", "20", "3", "4", "5"]);
    // of an index, and one by the editor
    await p.view("collections", "shop", "GSI1", "MANY#1");
    await p.shows("g-5");
    await p.page.click("[aria-label='Choose MANY#1 · many-5']");
    await p.click("Delete 1 item");
    await p.shows("Deleted 1 item");
    await p.click("Put back");
    await p.until(() => document.body.innerText.includes("g-5"), "the item is there again");
    await open("g-4");
    await p.click("Delete");
    await saved();
    await p.click("Put back");
    await p.shows("g-4");
    assert.equal((await there()).length, 6);
    for (let n = 0; n < 6; n++) await api("DeleteItem", { TableName: "shop", Key: key(n) });
    await p.view("collections", "shop");
  },
  async mistakesShowWhileTyping() {
    await open("Grace Hopper");
    for (const [wrong, says] of [["{\"PK\": ", "ends too early"], ["{\"PK\": \"a\"}", "key attribute SK is missing"], ["{\"PK\": 1, \"SK\": \"a\"}", "must be of type S"], ["{\"PK\": \"\", \"SK\": \"a\"}", "must not be empty"],
      ["{\"PK\": \"a\", \"SK\": \"b\", \"x\": {\"$set\": [1, 1.0, \"a\"]}}", "all strings"], ["{\"PK\": \"a\", \"SK\": \"b\", \"x\": {\"$binary\": \"!\"}}", "base64"], ["{\"PK\": \"a\", \"SK\": \"b\", \"x\": 1e200}", "9.99E+125"],
      ["{\"PK\": \"a\", \"PK\": \"b\"}", "stands twice"], ["[1]", "is a JSON object"]]) {
      await p.fill("The item as JSON", wrong);
      await p.shows(says);
      assert.ok(await p.page.$$eval("dialog footer button", (all) => all.at(-1).disabled), wrong);
    }
    await p.page.keyboard.press("Escape");
    await p.click("Discard the changes");
    await saved();
  },
  async nobodyIsOverwritten() {
    await open("Alan Turing");
    await api("UpdateItem", { TableName: "shop", Key: { PK: { S: "CUSTOMER#3" }, SK: { S: "PROFILE" } }, UpdateExpression: "SET email = :e", ExpressionAttributeValues: { ":e": { S: "changed@example.com" } } });
    await p.fill("The item as JSON", (await editor()).replace("Alan Turing", "Alan M. Turing"));
    await p.click("Save");
    await p.shows("The item has changed meanwhile. Nothing was saved.", /-\s+"email": "alan@example.com"/, /\+\s+"email": "changed@example.com"/);
    assert.equal((await get("CUSTOMER#3", "PROFILE")).name.S, "Alan Turing");
    await sound("conflict");
    await p.click("Take theirs");
    await p.fill("The item as JSON", (await editor()).replace("Alan Turing", "Alan M. Turing"));
    await p.click("Save");
    await saved();
    const item = await get("CUSTOMER#3", "PROFILE");
    assert.deepEqual([item.name.S, item.email.S], ["Alan M. Turing", "changed@example.com"]);
    // an attribute that was added meanwhile, and a deletion
    await open("Alan M. Turing");
    await api("DeleteItem", { TableName: "shop", Key: { PK: { S: "CUSTOMER#3" }, SK: { S: "PROFILE" } } });
    await p.click("Save");
    await p.shows("The item was deleted meanwhile");
    assert.equal(await get("CUSTOMER#3", "PROFILE"), undefined);
    await p.click("Keep mine to save again");
    await p.click("Save");
    await saved();
    assert.equal((await get("CUSTOMER#3", "PROFILE")).name.S, "Alan M. Turing");
  },
  async duplicateAndDelete() {
    await open("Barbara Liskov");
    await p.click("Duplicate");
    await p.until(() => document.querySelector("dialog[open] h2")?.innerText.startsWith("New item"), "a new item");
    await p.click("Save");
    await p.shows("There is an item with this key already");
    await p.fill("The item as JSON", (await editor()).replace("CUSTOMER#4", "CUSTOMER#40").replace("Barbara Liskov", "Barbara the Second"));
    await p.click("Save");
    await saved();
    assert.equal((await get("CUSTOMER#40", "PROFILE")).name.S, "Barbara the Second");
    await open("Barbara the Second");
    await p.click("Delete");
    await saved();
    assert.equal(await get("CUSTOMER#40", "PROFILE"), undefined);
    assert.ok(await get("CUSTOMER#4", "PROFILE"));
  },
  async importByPaste() {
    await p.click("Import");
    await p.fill("Paste here", "PK,SK,name,age,ok\nA#1,X,\"Smith, \"\"J\"\"\nII\",42,true\nA#2,,none,1,\n");
    await p.shows("Line 3: The key attribute SK is missing");
    assert.ok(await p.page.$eval("dialog footer button", (b) => b.disabled));
    await p.fill("Paste here", "PK,SK,name,age,ok\nA#1,X,\"Smith, \"\"J\"\"\nII\",42,true\nA#2,Y,\"7\",1.0,\n");
    await p.shows("2 of 2 items can be written");
    await sound("import");
    await p.page.click("dialog[open] footer button.main");
    await saved();
    assert.deepEqual(await get("A#1", "X"), { PK: { S: "A#1" }, SK: { S: "X" }, name: { S: "Smith, \"J\"\nII" }, age: { N: "42" }, ok: { BOOL: true } });
    assert.deepEqual((await get("A#2", "Y")).name, { S: "7" });
    await p.click("Import");
    await p.choose("Form", "lines");
    await p.fill("Paste here", Array.from({ length: 60 }, (_, i) => (i % 2 ? `{"PK":"B#${i}","SK":"L","n":${i}}` : `{"Item":{"PK":{"S":"B#${i}"},"SK":{"S":"L"},"n":{"N":"${i}"}}}`)).join("\n"));
    await p.shows("60 of 60 items can be written");
    await p.page.click("dialog[open] footer button.main");
    await saved();
    assert.deepEqual([(await get("B#58", "L")).n, (await get("B#59", "L")).n], [{ N: "58" }, { N: "59" }]);
  },
  /** What is saved as JSON lines comes back the same; of CSV the scalar values do. */
  async exportComesBack() {
    const item = { PK: { S: "X#1" }, SK: { S: "a \"b\", c\nd" }, n: { N: "12345678901234567890.5" }, one: { S: "1" }, on: { BOOL: true }, none: { NULL: true }, set: { NS: ["1", "2"] }, map: { M: { $set: { L: [] } } }, bytes: { B: "AQI=" }, text: { S: "" } };
    const back = await p.page.evaluate(async (item) => {
      const { written } = await import("./ui/export.js"), { readMany } = await import("./ui/import.js"), { describe } = await import("./core/api.js"), table = await describe("shop");
      return ["lines", "native", "csv"].map((form) => readMany(written([item, { PK: item.PK, SK: { S: "2" } }], form), form === "csv" ? "csv" : "lines", table).map((r) => r.item ?? r.problem));
    }, item);
    assert.deepEqual(back[0], [item, { PK: item.PK, SK: { S: "2" } }]);
    assert.deepEqual(back[1], back[0]);
    const { set, map, bytes, text, ...scalars } = item;
    assert.deepEqual(Object.fromEntries(Object.keys(scalars).map((n) => [n, back[2][0][n]])), scalars);
    assert.deepEqual([back[2][1], back[2].length], [{ PK: item.PK, SK: { S: "2" } }, 2]);
  },
  async hostileDataIsText() {
    await api("PutItem", { TableName: "shop", Item: { PK: { S: `EVIL#${EVIL}` }, SK: { S: EVIL }, [EVIL]: { S: EVIL }, html: { M: { [EVIL]: { L: [{ S: EVIL }] } } }, _type: { S: EVIL } } });
    for (const view of [["collections", "shop"], ["model"], ["query", "shop"]]) { await p.view(...view); if (view[0] === "query") await p.click("Run"); await p.quiet(); await p.shows("<img src=x"); }
    assert.equal(await p.page.evaluate(() => window.hacked), undefined);
    assert.equal(await p.page.$("img[src=x]"), null);
    await api("DeleteItem", { TableName: "shop", Key: { PK: { S: `EVIL#${EVIL}` }, SK: { S: EVIL } } });
    assert.deepEqual(p.faults, []);
  },
  /** More attributes than a condition compares: what others change meanwhile is told, and is never written over. */
  async largeItemsAreNotOverwritten() {
    const key = { PK: { S: "WIDE#1" }, SK: { S: "wide-x" } }, wide = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`n${String(i).padStart(3, "0")}`, { N: String(i) }]));
    const put = () => api("PutItem", { TableName: "shop", Item: { ...key, ...wide } });
    await put();
    await p.view("collections", "shop", "", "WIDE#1");
    await open("wide-x");
    await api("UpdateItem", { TableName: "shop", Key: key, UpdateExpression: "SET n399 = :n", ExpressionAttributeValues: { ":n": { N: "1000" } } });
    await p.fill("The item as JSON", (await editor()).replace("\"n000\": 0", "\"n000\": -1"));
    await p.click("Save");
    await p.shows("The item has changed meanwhile. Nothing was saved.");
    assert.deepEqual([(await get("WIDE#1", "wide-x")).n000.N, (await get("WIDE#1", "wide-x")).n399.N], ["0", "1000"]);
    await p.click("Take theirs");
    await p.fill("The item as JSON", (await editor()).replace("\"n000\": 0", "\"n000\": -1").replace(/"n001": 1,\s*/, ""));
    await p.click("Save");
    await saved();
    const item = await get("WIDE#1", "wide-x");
    assert.deepEqual([item.n000.N, item.n001, item.n399.N, Object.keys(item).length], ["-1", undefined, "1000", 401]);
    await open("wide-x");
    await api("UpdateItem", { TableName: "shop", Key: key, UpdateExpression: "SET n398 = :n", ExpressionAttributeValues: { ":n": { N: "7" } } });
    await p.click("Delete");
    await p.shows("The item has changed meanwhile. Nothing was saved.");
    await p.click("Take theirs");
    await p.click("Delete");
    await saved();
    assert.equal(await get("WIDE#1", "wide-x"), undefined);
  },
  async attributesNamedAsObjectsOwn() {
    const item = JSON.parse('{"PK": {"S": "ODD#1"}, "SK": {"S": "odd-x"}, "constructor": {"S": "c"}, "__proto__": {"M": {"__proto__": {"N": "1"}, "$set": {"L": []}}}, "toString": {"N": "2"}, "s": {"M": {"$set": {"L": [{"S": "not a set"}]}}}}');
    const body = '{"TableName": "shop", "Item": ' + JSON.stringify(item) + "}";
    await api("PutItem", JSON.parse(body));
    for (const view of [["collections", "shop", "", "ODD#1"], ["query", "shop"], ["model"]]) {
      await p.view(...view);
      if (view[0] === "query") { await p.click("Run"); await p.shows("returned"); }
      await p.shows("ODD");
    }
    await p.view("collections", "shop", "", "ODD#1");
    await open("odd-x");
    await p.fill("The item as JSON", (await editor()).replace("\"c\"", "\"d\""));
    await p.click("Save");
    await saved();
    const now = await get("ODD#1", "odd-x");
    assert.deepEqual([now.constructor, now.s, Object.getOwnPropertyDescriptor(now, "__proto__").value], [{ S: "d" }, item.s, Object.getOwnPropertyDescriptor(item, "__proto__").value]);
    await api("DeleteItem", { TableName: "shop", Key: { PK: item.PK, SK: item.SK } });
    assert.deepEqual(p.faults, []);
  },
  async unsavedEditsStay() {
    await p.view("collections", "shop");
    await open("Grace Hopper");
    const before = await editor();
    await p.click("DynamoDB JSON"); // another form is no edit
    await p.page.keyboard.press("Escape");
    await saved();
    await open("Grace Hopper");
    await p.fill("The item as JSON", before.replace("Grace Hopper", "Grace M. Hopper"));
    for (const leave of [() => p.page.keyboard.press("Escape"), () => p.page.evaluate(() => { location.hash = "#/tables"; }), () => p.page.evaluate(() => history.back())]) {
      await leave();
      await p.shows("not saved");
      assert.match(await editor(), /Grace M. Hopper/);
      await p.until(() => location.hash.startsWith("#/collections/shop"), "the address is that of the page");
    }
    await sound("unsaved");
    await p.page.keyboard.press("Escape");
    await p.click("Discard the changes");
    await saved();
    assert.equal((await get("CUSTOMER#2", "PROFILE")).name.S, "Grace Hopper");
    await p.view("collections", "shop");
  },
  async tablesThatVanish() {
    const make = () => api("CreateTable", { ...shop, TableName: "brief" });
    await make();
    await api("PutItem", { TableName: "brief", Item: { PK: { S: "P#1" }, SK: { S: "x" } } });
    for (const view of ["collections", "query"]) {
      await p.view(view, "brief");
      if (view === "collections") await p.shows("P#1");
      await api("DeleteTable", { TableName: "brief" });
      await p.click(view === "query" ? "Run" : "Refresh");
      await p.shows("There is no table brief in this namespace.", "shop");
      await sound(`gone-${view}`);
      await make();
    }
    await p.view("live");
    await p.click("Streams");
    await p.choose("Table", "brief");
    await p.shows("Following brief");
    await api("DeleteTable", { TableName: "brief" });
    await p.view("collections", "brief");
    await p.shows("There is no table brief in this namespace.");
    await p.page.click("main ul.names a[href='#/collections/shop']");
    await p.shows("items read", "PROFILE");
  },
  async queryBuilder() {
    await p.view("query", "shop");
    await p.fill("Partition key PK", "CUSTOMER#2");
    await p.choose("Sort key SK", "begins_with");
    await p.fill("Value", "ORDER#");
    await p.click("Run");
    await p.shows("2 read, 2 returned", "0.5 units", "Query");
    await p.shows("ORDER#2026");
    await p.shows(/Read units 0\.5/, "begins_with");
    await sound("query");
    await p.choose("Order", "1");
    await p.fill("Limit", "1");
    await p.click("Run");
    await p.shows("1 read, 1 returned", "there are more pages");
    await p.click("Next page");
    await p.until(() => document.querySelectorAll(".grid .line").length === 2, "both pages");
    // a scan with a filter, and what would be better
    await p.view("query", "shop", "GSI1");
    await p.click("Add a filter");
    const [numeric] = items().flatMap((i) => Object.entries(i)).find(([, v]) => v.N !== undefined), type = () => p.page.$eval("[aria-label='Type of the value']", (e) => e.value);
    await p.fill("Attribute", numeric);
    assert.equal(await type(), "N"); // a known attribute brings its type
    await p.fill("Attribute", "status");
    assert.equal(await type(), "S");
    await p.page.type("[aria-label='Value']", "PAID");
    await p.click("Run");
    await p.shows("Scan", /\d+ read, \d+ returned/, "Why a scan", "scan Scan reads the whole table");
    await p.until(() => !document.querySelector("#notes .undo"), "the note of an earlier change has gone"); // it lies over the page
    await sound("scan");
    // how many of each
    await p.click("Count");
    await p.choose("Count by", "status");
    await p.shows(/1 value in \d+ items that the page has read/);
    const paid = items().filter((i) => i.status?.S === "PAID").length;
    assert.deepEqual(await p.page.$$eval("aside td", (all) => all.map((e) => e.innerText)), ["PAID", String(paid)]);
    await sound("count");
    await p.click("Export");
    await p.shows(`${paid} items: those that the page has read.`);
    await p.page.keyboard.press("Escape");
    await saved();
    // a single item
    await p.view("query", "shop");
    await p.fill("Partition key PK", "CUSTOMER#2");
    await p.choose("Sort key SK", "=");
    await p.fill("Value", "PROFILE");
    await p.fill("Attributes", "PK, SK, name");
    await p.click("Run");
    await p.shows("GetItem", "1 read, 1 returned", "Grace Hopper");
  },
  /** A link opens the same: the partition, and the whole form of a query; back returns to what was before. */
  async theAddressIsTheState() {
    const address = await p.page.evaluate(() => location.hash);
    await p.view("collections", "shop");
    await p.fill("Partition", "CUSTOMER#2");
    await p.until(() => location.hash === "#/collections/shop//CUSTOMER%232" && document.querySelectorAll(".grid .group").length === 1, "one partition");
    await p.page.evaluate(() => history.back());
    await p.until(() => location.hash === "#/collections/shop" && document.querySelectorAll(".grid .group").length > 1, "all partitions again");
    const other = await browse(TALL);
    try {
      await other.page.goto(`${root}_dynalith/console/${address}`);
      await other.quiet();
      assert.deepEqual(await Promise.all(["Partition key PK", "Sort key SK", "Value", "Attributes"].map(async (l) => (await other.control(l)).evaluate((e) => e.value))), ["CUSTOMER#2", "=", "PROFILE", "PK, SK, name"]);
      await other.shows("GetItem", "1 read, 1 returned", "Grace Hopper");
      await other.click("Add a filter");
      await other.fill("Attribute", "status");
      await other.page.type("[aria-label='Value']", "PAID");
      await other.page.reload();
      await other.until(() => [...document.querySelectorAll("[aria-label=Attribute]")].some((e) => e.value === "status"), "the filter is there after a reload");
      for (const wrong of ["#/query/shop//%7B", "#/query/shop//%22x%22", "#/query/shop//%E0%A4%A", "#/query/shop//%7B%22filters%22%3A%5B1%2Cnull%5D%7D"]) {
        await other.page.evaluate((hash) => { location.hash = hash; }, wrong);
        await other.quiet();
        await other.shows("Add a filter");
      }
      assert.deepEqual(other.faults, []);
    } finally { await other.browser.close(); }
    await p.page.evaluate((hash) => { location.hash = hash; }, address);
    await p.quiet();
    await p.click("Run");
    await p.shows("GetItem", "1 read, 1 returned");
  },
  async asCode() {
    await p.click("Code");
    for (const [language, says] of [["Python", "client.get_item("], ["JavaScript", "new GetItemCommand({"], ["Java", "GetItemRequest.builder()"], ["Go", "&dynamodb.GetItemInput{"], ["Rust", ".get_item()"], ["CLI", "aws dynamodb get-item"]]) {
      await p.choose("Language", language);
      await p.shows(says, "CUSTOMER#2");
    }
    await sound("code");
  },
  async partiql() {
    await p.view("partiql");
    await p.page.focus("textarea");
    await p.page.keyboard.type("SELECT * FROM sh");
    await p.until(() => document.querySelector("[role=option]")?.innerText.startsWith("shop"), "completion of tables");
    await p.page.keyboard.press("Tab");
    await p.page.keyboard.type(" WHERE PK = 'CUSTOMER#2' AND emai");
    await p.until(() => document.querySelector("[role=option]")?.innerText.startsWith("email"), "completion of attributes");
    assert.deepEqual(await p.axe(), []);
    await p.page.keyboard.press("Escape");
    for (let i = 0; i < " AND emai".length; i++) await p.page.keyboard.press("Backspace");
    await p.page.keyboard.press("Escape");
    await p.page.keyboard.down("Control");
    await p.page.keyboard.press("Enter");
    await p.page.keyboard.up("Control");
    await p.shows("4 items", "Grace Hopper");
    await p.shows("Read units"); // a run explains itself
    await p.page.evaluate(() => [...document.querySelectorAll(".grid .line")].find((l) => l.innerText.includes("Grace")).click());
    await p.page.waitForSelector("dialog[open]");
    await p.page.keyboard.press("Escape");
    await saved();
    await p.click("History");
    await p.shows("SELECT * FROM shop WHERE PK = 'CUSTOMER#2'", /4 items, 0\.5 units/);
    await sound("partiql");
    await p.fill("PartiQL statement", "SELECT * FROM shop WHERE PK = 'CUSTOMER#3'");
    await p.click("SELECT * FROM shop WHERE PK = 'CUSTOMER#2'");
    await p.until(() => document.querySelector("textarea").value === "SELECT * FROM shop WHERE PK = 'CUSTOMER#2'" && location.hash.includes("CUSTOMER%232"), "the statement of before, in the address");
    await p.fill("PartiQL statement", "SELECT * FORM shop");
    await p.click("Run");
    await p.shows("ValidationException");
    await p.fill("PartiQL statement", "SELECT SK FROM shop GROUP BY SK");
    await p.click("Run");
    await p.shows(/GROUP BY\. PartiQL for DynamoDB counts and groups nothing: /);
    await p.page.$eval("textarea", (e) => { e.value = "SELECT * FROM shop."; e.setSelectionRange(19, 19); e.dispatchEvent(new Event("input")); });
    await p.until(() => document.querySelector("[role=option]")?.innerText.includes("GSI1"), "completion of indexes");
  },
  /** Each run is kept with what it consumed, a saved query under its name; both are addresses. */
  async historyAndSavedQueries() {
    await p.view("query", "shop", "GSI1");
    await p.fill("Partition key GSI1PK", "PRODUCT#1");
    await p.click("Run");
    await p.shows("Read units");
    await p.click("History");
    await p.shows("Query shop index GSI1; GSI1PK = PRODUCT#1", /\d+ returned, \d.* unit/);
    await p.click("Save this query");
    await p.fill("Name", "orders of the teapot");
    await p.page.click("dialog[open] footer button");
    await saved();
    await p.shows("orders of the teapot");
    await sound("history");
    await p.view("query", "shop");
    await p.page.reload();
    await p.click("History");
    await p.click("orders of the teapot");
    await p.until(() => location.hash.startsWith("#/query/shop/GSI1/") && [...document.querySelectorAll("input.short")].some((e) => e.value === "PRODUCT#1"), "the saved form");
    await p.click("Run");
    await p.shows("Teapot");
    await p.click("History");
    await p.page.click("[aria-label='Forget orders of the teapot']");
    await p.until(() => !document.body.innerText.includes("orders of the teapot"), "forgotten");
    await p.click(/Forget \d+ runs?/.exec(await p.text())[0]);
    await p.shows("Nothing was run yet");
  },
  /** A request in the name of an identity, and the statement that decides. */
  async runAsAnIdentity() {
    const folder = mkdtempSync(path.join(os.tmpdir(), "dynalith-policies-")), file = path.join(folder, "policies.json"), arn = (name) => `arn:aws:iam::000000000000:${name}`;
    writeFileSync(file, JSON.stringify({ principals: [{ access_key: "000000000000", arn: arn("root") }, { access_key: "reader", arn: arn("user/reader"), identity: [{ Version: "2012-10-17", Statement: [
      { Sid: "ReadShop", Effect: "Allow", Action: ["dynamodb:Query", "dynamodb:PartiQLSelect"], Resource: "*" }, { Sid: "NoScans", Effect: "Deny", Action: "dynamodb:Scan", Resource: "*" }] }] }] }, null, 1));
    const own = await serve("--iam", "enforce", "--policies", file), ask = client(own, "000000000000");
    await makeShop(ask);
    const q = await browse(TALL);
    try {
      await q.page.goto(`http://127.0.0.1:${own}/_dynalith/console/#/query/shop`);
      await q.choose("Run as", "reader");
      await q.click("Run");
      await q.shows("is not authorized to perform: dynamodb:Scan", "Denied", "Deny by the identity policy, Sid \"NoScans\"");
      await sound("denied", q);
      await q.fill("Partition key PK", "CUSTOMER#1");
      await q.click("Run");
      await q.shows("Ada Lovelace", "Allowed", "Sid \"ReadShop\"");
      assert.ok(!(await q.text()).includes("is not authorized"));
      await q.click("History");
      await q.shows("as reader");
      await q.page.reload(); // the identity is in the address
      await q.until(() => [...document.querySelectorAll("select")].some((e) => e.value === "reader"), "the identity");
      await q.view("partiql");
      await q.choose("Run as", "reader");
      await q.fill("PartiQL statement", "DELETE FROM shop WHERE PK = 'CUSTOMER#1' AND SK = 'PROFILE'");
      await q.click("Run");
      await q.shows("AccessDeniedException", "Denied", "dynamodb:PartiQLDelete");
      assert.equal((await ask("Query", { TableName: "shop", KeyConditionExpression: "PK = :p AND SK = :s", ExpressionAttributeValues: { ":p": { S: "CUSTOMER#1" }, ":s": { S: "PROFILE" } } })).Count, 1);
    } finally { await q.browser.close(); }
    rmSync(folder, { recursive: true });
  },
  async liveRequests() {
    await p.view("live");
    await p.shows("came before this page watched"); // of the steps before
    await p.click("Clear");
    await p.shows("Waiting for requests");
    await api("Query", { TableName: "shop", KeyConditionExpression: "PK = :p", ExpressionAttributeValues: { ":p": { S: "CUSTOMER#1" } } });
    await api("GetItem", { TableName: "absent", Key: { PK: { S: "secret" } } }).catch(() => {});
    await p.shows("PK = CUSTOMER#…", "ResourceNotFoundException".slice(0, 8), "2 of");
    await p.page.evaluate(() => [...document.querySelectorAll(".grid .line")].find((l) => l.innerText.includes("Query")).click());
    await p.shows("Request, ", "\"S\": \"CUSTOMER#…\"");
    assert.ok(!(await p.text()).includes("Ada"), "values are masked");
    await sound("live");
    await p.page.evaluate(() => [...document.querySelectorAll(".grid .line")].find((l) => l.innerText.includes("Resource")).click());
    await p.shows(/Message\s+.*not found/i);
    await p.choose("Bodies", "open");
    await p.quiet();
    await p.until(Object.assign(async () => { await api("GetItem", { TableName: "shop", Key: { PK: { S: "CUSTOMER#2" }, SK: { S: "PROFILE" } } }); return (await p.text()).includes("PK = CUSTOMER#2 and SK = PROFILE"); }, { isHere: true }), "open bodies");
    await p.fill("Filter", "Query");
    await p.until(() => [...document.querySelectorAll(".grid [role=rowgroup] .line")].every((l) => l.innerText.includes("Query")), "the filter");
    assert.equal(await p.page.evaluate(() => location.hash), "#/live/Requests/Query"); // a link shows the same
    await p.fill("Filter", "");
    await p.click("Pause");
    const before = await p.page.$$eval(".grid .line", (l) => l.length);
    await api("ListTables");
    await sleep(300);
    assert.equal(await p.page.$$eval(".grid .line", (l) => l.length), before);
    await p.click("Clear");
    await p.until(() => !document.querySelector(".grid [role=rowgroup] .line"), "nothing is shown");
  },
  /** Many more requests than a page can draw: each is shown, counted or told as lost; errors are shown. */
  async liveUnderLoad() {
    await p.view("tables");
    await p.view("live");
    await p.until(() => !document.body.innerText.includes("Connecting"), "the page watches");
    await p.click("Clear");
    await p.page.evaluate(() => { // the page's clock stands: no turn ends while requests come
      window.later = [];
      window.ownTimeout = window.setTimeout;
      window.setTimeout = (f, ms, ...rest) => (ms === 100 ? window.later.push(f) : window.ownTimeout(f, ms, ...rest));
    });
    const all = 3000, wrong = 20, ask = (i) => (i % (all / wrong) ? api("GetItem", { TableName: "shop", Key: { PK: { S: `CUSTOMER#${i}` }, SK: { S: "PROFILE" } } }) : api("GetItem", { TableName: "absent", Key: { PK: { S: "x" } } }).catch(() => {}));
    for (let i = 0; i < all; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => ask(i + k)));
    const counts = async () => {
      await p.page.evaluate(() => { for (const f of window.later.splice(0)) f(); });
      const said = (await p.text()).replaceAll(",", ""), n = (pattern) => Number(pattern.exec(said)?.[1] ?? 0);
      return { shown: n(/of (\d+) requests/), skipped: n(/(\d+) more were counted only/), lost: n(/(\d+) lost/) };
    };
    let seen;
    await p.until(Object.assign(async () => { seen = await counts(); return seen.shown + seen.skipped + seen.lost === all; }, { isHere: true }), "each request is accounted for");
    assert.ok(seen.skipped > 0, JSON.stringify(seen));
    await p.check("Errors only");
    await p.shows(new RegExp(`${wrong - Math.min(wrong, seen.lost)}|${wrong} of`));
    await p.check("Errors only");
    await p.page.evaluate(() => { window.setTimeout = window.ownTimeout; });
    await sound("load");
  },
  async liveStreams() {
    await p.click("Streams");
    await p.shows("Following shop");
    await api("UpdateItem", { TableName: "shop", Key: { PK: { S: "CUSTOMER#5" }, SK: { S: "PROFILE" } }, UpdateExpression: "SET email = :e", ExpressionAttributeValues: { ":e": { S: EVIL } } });
    await p.shows("MODIFY", /-\s+"email": "edsger@example.com"/, /\+\s+"email": "<img/);
    await sound("streams");
  },
  async timeToLiveAndFaults() {
    await api("UpdateTimeToLive", { TableName: "shop", TimeToLiveSpecification: { Enabled: true, AttributeName: "until" } });
    for (const [n, s] of [["late", 7200], ["soon", 3600]]) await api("PutItem", { TableName: "shop", Item: { PK: { S: `TTL#${n}` }, SK: { S: "x" }, until: { N: String(Math.floor(Date.now() / 1000) + s) } } });
    await api("PutItem", { TableName: "shop", Item: { PK: { S: "TTL#never" }, SK: { S: "x" }, until: { N: "9000000000000000" } } }); // no calendar has it
    await p.click("Time to live");
    const text = await p.shows("TTL#soon", "TTL#late", "9000000000000000 s");
    assert.ok(text.indexOf("TTL#soon") < text.indexOf("TTL#late"));
    await p.page.evaluate(() => [...document.querySelectorAll("tr")].find((r) => r.innerText.includes("TTL#soon")).querySelector("button").click());
    await p.shows("The clock stands at", /1 s\s+TTL#soon/);
    assert.ok(await get("TTL#soon", "x"));
    await sound("ttl");
    await p.page.evaluate(() => [...document.querySelectorAll("tr")].find((r) => r.innerText.includes("TTL#soon")).querySelectorAll("button")[1].click());
    await p.until(() => !document.body.innerText.includes("TTL#soon"), "it has expired");
    assert.equal(await get("TTL#soon", "x"), undefined);
    await api("PutItem", { TableName: "shop", Item: { PK: { S: "TTL#soon" }, SK: { S: "x" } } });
    await p.view("control");
    await p.click("Let it run");
    await p.shows("running");
    await p.click("Now");
    await p.shows("The clock shows the machine's time again");
    await p.view("control");
    await p.click("Faults and limits");
    assert.equal(await p.page.evaluate(() => location.hash), "#/control/Faults%20and%20limits");
    await p.click("Add the fault");
    await p.shows("PutItem, the first 1: fails with InternalServerError");
    const fails = async () => (await fetch(root, { method: "POST", headers: { "x-amz-target": "DynamoDB_20120810.PutItem", "content-type": "application/x-amz-json-1.0", authorization: "AWS4-HMAC-SHA256 Credential=000000000000/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0", "x-amz-date": "20260101T000000Z" },
      body: JSON.stringify({ TableName: "shop", Item: { PK: { S: "F" }, SK: { S: "0" } } }) })).status;
    assert.deepEqual([await fails(), await fails()], [500, 200]);
    await p.until(() => document.querySelector("table.plain .badge")?.innerText === "spent", "a rule that acts no more");
    await p.click("Remove");
    await p.shows("There is no rule.");
    await p.click("All rules as JSON");
    await p.fill("The rules as JSON", '[{"operation": "PutItem", "times": 1}]');
    await p.click("Set the rules");
    await p.shows(/times/);
    assert.equal(await p.page.$eval("[aria-label='The rules as JSON']", (e) => e.value), '[{"operation": "PutItem", "times": 1}]'); // what was typed stays
    await p.check("Fail one request in ten");
    await p.shows("any request, by chance, 0.1: fails with InternalServerError");
    await p.check("Fail one request in ten");
    await p.check("Throttle every third write");
    await p.shows("PutItem, UpdateItem, DeleteItem, one in 3: fails with ProvisionedThroughputExceededException");
    for (let i = 0; i < 3; i++) await api("PutItem", { TableName: "shop", Item: { PK: { S: "F" }, SK: { S: String(i) } } }).catch(() => {});
    await sound("faults");
    await p.view("live");
    await p.click("Faults");
    await p.until(() => [...document.querySelectorAll("td.number")].some((e) => e.innerText === "1"), "a rule that fired");
    await p.view("control");
    await p.click("Faults and limits");
    await p.shows("Throttle every third write");
    await p.check("Throttle every third write");
    await p.until(() => !document.body.innerText.includes("one in 3"), "no rule");
    assert.ok(!(await api("ListTables")).error);
  },
  async controlOfState() {
    await p.view("control");
    await p.shows("Clock", "Namespaces", "000000000000");
    await sound("control");
    await p.click("Freeze");
    await p.shows("frozen", "Clock frozen at");
    const clock = async () => (await (await fetch(`${root}_dynalith/clock`)).json()).now;
    await p.click("+1 d");
    await p.shows("The clock is turned", /curl -X POST .*\{"advance":"1d"\}.*\/_dynalith\/clock/);
    const { execFileSync } = await import("node:child_process"), command = await p.page.$eval(".call code", (e) => e.innerText), own = async () => (await (await fetch(`${root}_dynalith/clock`)).json()).namespaces[0].now, before = await own();
    execFileSync("sh", ["-c", `${command} --silent --fail`]); // what is shown does the same
    assert.ok((await own()) - before > 86000);
    await p.fill("Name of the checkpoint", "before");
    await p.click("Make a checkpoint");
    await p.shows("Made before");
    await p.fill("Name of the snapshot", "copy");
    await p.click("Make a snapshot");
    await p.shows("Made copy");
    await api("PutItem", { TableName: "shop", Item: { PK: { S: "GONE" }, SK: { S: "x" } } });
    await p.click("Restore");
    assert.deepEqual(await p.page.$$eval("dialog[open] footer button", (all) => all.map((b) => b.innerText)), ["Restore"]);
    await p.page.keyboard.press("Escape");
    await saved();
    await p.click("Roll back");
    await p.click("Roll back now");
    await p.shows("Back at before");
    await saved();
    assert.equal(await get("GONE", "x"), undefined);
    await p.fill("To accounts", "333333333333");
    await p.click("Clone");
    await p.shows("Cloned");
    const { namespaces } = await (await fetch(`${root}_dynalith/namespaces`)).json();
    assert.ok(namespaces.some((n) => n.account === "333333333333" && n.tables === 1), namespaces);
    await p.fill("Time to set", "2030-01-31T12:00:00Z");
    await p.click("Set");
    await p.shows("2030-01-31T12:00:00");
    await p.click("Now");
    await p.until(() => !document.body.innerText.includes("2030-01-31"), "the present");
    assert.ok(Math.abs((await clock()) - Date.now() / 1000) < 3600);
  },
  async limits() {
    await p.view("control");
    await p.click("Faults and limits");
    await p.shows("Lag of reads");
    await p.check("Enforce the throughput of tables as AWS does");
    await p.until(Object.assign(async () => (await (await fetch(`${root}_dynalith/throughput`)).json()).throughput === "enforce", { isHere: true }), "enforced");
    await p.check("Enforce the throughput of tables as AWS does");
    await p.fill("Tables, ms", "40");
    await p.click("Set");
    await p.until(Object.assign(async () => (await (await fetch(`${root}_dynalith/lag`)).json()).lag === 40, { isHere: true }), "a lag");
    await p.click("No lag");
    await p.until(Object.assign(async () => (await (await fetch(`${root}_dynalith/lag`)).json()).lag === undefined, { isHere: true }), "no lag");
  },
  async backups() {
    await p.click("Backups, exports, replicas");
    await p.shows("There are no backups");
    await p.fill("Name of the backup", "first");
    await p.click("Back up");
    await p.shows("first", "AVAILABLE");
    await sound("backups");
    await p.click("Restore");
    await p.click("Restore first");
    await p.until(Object.assign(async () => (await api("ListTables")).TableNames.includes("shop-restored"), { isHere: true }), "the restored table");
  },
  async insight() {
    for (let i = 0; i < 30; i++) await api("GetItem", { TableName: "shop", Key: { PK: { S: `CUSTOMER#${i % 8}` }, SK: { S: "PROFILE" } } });
    await p.click("Insight");
    await api("Scan", { TableName: "shop" });
    await p.click("Refresh");
    await p.quiet();
    await p.shows("Units by pattern", "Findings", "GetItem", "scan Scan reads the whole table", /As seen: [\d.]+ of all together, which is [\d,]+ requests in \d/);
    await p.fill("Requests a second", "0");
    await p.until(() => [...document.querySelectorAll("[aria-label='Access patterns and costs'] tbody tr")].every((r) => r.innerText.includes("$0.00")), "nothing asked costs nothing");
    await p.fill("Requests a second", "1000000");
    await p.shows(/\$\d{1,3}(,\d{3})+/);
    await sound("insight");
  },
  async model() {
    for (let i = 1; i <= 8; i++) await api("GetItem", { TableName: "shop", Key: { PK: { S: `CUSTOMER#${i}` }, SK: { S: "PROFILE" } } });
    await p.view("model");
    await p.shows("Table shop", "PK = CUSTOMER#<number>, SK = PROFILE", "GSI1: GSI1PK = ORDER#<number>, GSI1SK = ORDER", "Access patterns");
    await p.shows(/GetItem · shop · PK = "CUSTOMER#…" and SK = "PROFILE"\s+CUSTOMER\s/);
    await p.choose("Whose rate it is", "each");
    await p.fill("Requests a second", "100"); // 8.64 million reads of half a unit a day
    await p.shows(/PK = "CUSTOMER#…" and SK = "PROFILE"\s+CUSTOMER\s[^]*?0\.5\s+\$0\.06\s+\$0\.54\s+\$16/);
    await sound("model");
    await p.click("Markdown");
    await p.shows("| CUSTOMER | `PK = CUSTOMER#<number>, SK = PROFILE` |", "## Access patterns");
    await p.page.keyboard.press("Escape");
    await saved();
    const model = await p.page.evaluate(async () => {
      const m = await import("./model/workbench.js"), { api, describe } = await import("./core/api.js");
      return m.toWorkbench([{ table: await describe("shop"), items: (await api("Scan", { TableName: "shop" })).Items }]);
    });
    assert.deepEqual(model.DataModel[0].KeyAttributes, { PartitionKey: { AttributeName: "PK", AttributeType: "S" }, SortKey: { AttributeName: "SK", AttributeType: "S" } });
    await p.click("Import model");
    await p.fill("Or paste it here", JSON.stringify(model));
    await p.click("Import");
    await p.until(() => document.querySelector("dialog[open] .problem")?.innerText.startsWith("This table exists already: shop. Nothing was imported"), "the error in the dialog");
    await p.page.keyboard.press("Escape");
    await saved();
    const units = { ReadCapacityUnits: 4, WriteCapacityUnits: 3 };
    Object.assign(model.DataModel[0], { TableName: "imported", BillingMode: "PROVISIONED", ProvisionedCapacitySettings: { ProvisionedThroughput: units, AutoScalingRead: {} } });
    await p.page.setViewport(USUAL);
    await p.click("Import model");
    await p.fill("Or paste it here", JSON.stringify(model));
    await p.click("Import");
    await p.shows(`Imported imported: ${model.DataModel[0].TableData.length} items, provisioned, 4 read and 3 write units; the same for GSI1. Left out: auto scaling (the table).`);
    await saved();
    await p.until(() => { const { top, bottom } = document.querySelector("[data-table=imported]").getBoundingClientRect(); return top > document.querySelector(".tools").getBoundingClientRect().bottom && bottom < innerHeight && document.querySelector(".bar").getBoundingClientRect().top === 0; }, "the new table in sight");
    await sound("imported");
    await p.click("Hide");
    const [made, original] = [(await api("DescribeTable", { TableName: "imported" })).Table, shop];
    for (const { ProvisionedThroughput: { ReadCapacityUnits, WriteCapacityUnits } } of [made, made.GlobalSecondaryIndexes[0]]) assert.deepEqual({ ReadCapacityUnits, WriteCapacityUnits }, units);
    assert.deepEqual([made.KeySchema, made.GlobalSecondaryIndexes[0].KeySchema, made.ItemCount], [original.KeySchema, original.GlobalSecondaryIndexes[0].KeySchema, model.DataModel[0].TableData.length]);
  },
  /** What the server has seen, a thousand times; then a plan of one's own, in a file. */
  async forecast() {
    const own = await serve("--insight", "on", "--throughput", "off"), ask = client(own), q = await browse(TALL);
    try {
      await q.page.goto(`http://127.0.0.1:${own}/_dynalith/console/#/lab`);
      await q.shows("The server has seen no requests yet");
      await ask("CreateTable", { ...shop, TableName: "orders", BillingMode: "PROVISIONED", ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
        GlobalSecondaryIndexes: shop.GlobalSecondaryIndexes.map((i) => ({ ...i, ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } })) });
      for (const Item of items()) await ask("PutItem", { TableName: "orders", Item });
      await q.page.reload();
      await q.shows(/The server has seen \d+ requests/, "requests a second in all");
      await q.fill("Multiply requests by", "100000");
      await q.fill("Days", "2");
      await q.click("Forecast", "button[@type='submit']");
      await q.shows("attempts throttled", "First on day 1, 00:00", "provisioned write units a second are used up", "What would save most", "orders/index/GSI1", "With 3 seeds");
      assert.equal(await q.page.evaluate(() => location.hash), "#/lab/Forecast/scale%3D100000%26days%3D2");
      assert.ok(await q.page.evaluate(() => document.querySelectorAll("svg.time rect").length > 20));
      await sound("forecast", q);
      await q.page.reload(); // the address opens the same
      await q.shows("First on day 1, 00:00");
      const plan = { tables: [{ name: "<b>t</b>", billing: "PAY_PER_REQUEST" }], patterns: [{ name: "constructor", table: "<b>t</b>", does: "write", units: 1, rate: 1500, attempts: 1, keys: { values: { "<img src=x onerror=alert(1)>": 1 } } }] };
      writeFileSync("build/console/plan.json", JSON.stringify(plan));
      await q.click("A plan of your own");
      const [chooser] = await Promise.all([q.page.waitForFileChooser(), (await q.control("Open a plan, or drop it here")).click()]);
      await chooser.accept(["build/console/plan.json"]);
      await q.shows("By the plan plan.json");
      await q.fill("Multiply requests by", "2");
      await q.click("Forecast", "button[@type='submit']");
      await q.shows("<img src=x onerror=alert(1)>", "a range of partition keys takes 1,000 write units a second");
      await q.fill("Days", "9999");
      await q.page.evaluate(() => { document.querySelector("form").noValidate = true; });
      await q.click("Forecast", "button[@type='submit']");
      await q.shows('"days" is out of its range');
      assert.deepEqual(q.faults, []);
    } finally { await q.browser.close(); }
  },
  /** An order that `dynalith races` found, from its file. */
  async foundOrder() {
    const step = (client, operation, on, more = {}) => ({ id: `${client}${operation}`, client, operation, on, ...more });
    writeFileSync("build/console/d611ba22.json", JSON.stringify({ version: 1, why: "the command ended with status 1", sentence: "A read in step 2, before B wrote in step 4.", from: 1, order: [
      step("A", "CreateTable", "shop"), step("A", "GetItem", "shop pk=SEAT#12A", { name: "ann", came: "no item" }), step("B", "GetItem", "shop pk=<img src=x>", { came: "no item" }),
      step("B", "PutItem", "shop pk=SEAT#12A who=Bob", { is_write: true }), step("A", "PutItem", "shop pk=SEAT#12A who=Ann", { is_write: true })] }));
    await p.view("lab", "Races");
    await p.shows("Tests pass in one order of requests");
    const [chooser] = await Promise.all([p.page.waitForFileChooser(), (await p.control("Open a file of races/, or drop it here")).click()]);
    await chooser.accept(["build/console/d611ba22.json"]);
    await p.shows("Order d611ba22", "A read in step 2, before B wrote in step 4.", "5 requests of 2 clients, with 2 switches", "1 request comes before", "dynalith races --order races/d611ba22.json -- npm test", "who=Bob", "<img src=x>");
    const cells = await p.page.$$eval("table.order tbody tr", (rows) => rows.map((r) => [...r.querySelectorAll("td")].findIndex((c) => c.innerText.trim())));
    assert.deepEqual(cells, [0, 1, 1, 0], "each request is in its client's column");
    await sound("order");
    writeFileSync("build/console/none.json", "{\"order\": []}");
    const [other] = await Promise.all([p.page.waitForFileChooser(), (await p.control("Open a file of races/, or drop it here")).click()]);
    await other.accept(["build/console/none.json"]);
    await p.shows("This is no order of requests");
    await p.page.evaluate(() => document.querySelectorAll(".note").forEach((n) => n.remove()));
  },
  /** An hour of clicking, in short: no report of the server changes, and a fault that is set stays for the application. */
  async noTrace() {
    const own = await serve("--insight", "on", "--throughput", "enforce", "--iam", "report"), ask = client(own), at = `http://127.0.0.1:${own}/`;
    await makeShop(ask);
    await ask("GetItem", { TableName: "shop", Key: { PK: { S: "CUSTOMER#1" }, SK: { S: "PROFILE" } } });
    const json = async (path) => (await fetch(`${at}_dynalith/${path}`)).json();
    await fetch(`${at}_dynalith/faults`, { method: "PUT", body: JSON.stringify({ rules: [{ operation: ["Scan", "Query", "GetItem", "PutItem"], first: 1, error: "InternalServerError" }] }) });
    await fetch(`${at}_dynalith/conflicts`, { method: "PUT", body: JSON.stringify({ conflicts: "real" }) });
    const reports = async () => {
      const metrics = (await (await fetch(`${at}_dynalith/metrics`)).text()).split("\n").filter((l) => l.includes("operation="));
      const { time, ...insight } = await json("insight");
      return { metrics, insight, iam: await json("iam"), faults: await json("faults"), contributors: await json("contributors"),
        throughput: JSON.stringify(await json("throughput")).replace(/"(available|left|tokens)":[^,}]*/g, "") };
    };
    const q = await browse(TALL);
    try {
      const before = await reports();
      await q.page.goto(`${at}_dynalith/console/`);
      for (let round = 0; round < 3; round++) {
        for (const [view, ...rest] of [["tables"], ["collections", "shop"], ["collections", "shop", "GSI1"], ["query", "shop"], ["query", "shop", "GSI1"], ["partiql"], ["live"], ["control"], ["model"]]) await q.view(view, ...rest);
        await q.view("collections", "shop");
        await q.shows("Ada Lovelace");
        await q.page.evaluate(() => [...document.querySelectorAll(".grid .line")].find((l) => l.innerText.includes("Ada Lovelace")).click());
        await q.page.waitForSelector("dialog[open] textarea");
        await q.fill("The item as JSON", (await q.page.$eval("dialog textarea", (t) => t.value)).replace(/"since": "[^"]*"/, `"since": "202${round}-01-01"`));
        await q.click("Save");
        await q.until(() => !document.querySelector("dialog[open]"), "saved");
        await q.view("query", "shop");
        await q.click("Run");
        await q.shows(/returned/);
        await q.view("partiql");
        await q.fill("PartiQL statement", "SELECT * FROM shop WHERE PK = 'CUSTOMER#2'");
        await q.click("Run");
        await q.shows("4 items");
        await q.click("Explain");
        await q.shows("Read units");
        await q.view("live");
        for (const tab of ["Streams", "Time to live", "Faults", "Requests"]) { await q.click(tab); await q.quiet(); }
        await q.view("control");
        for (const tab of ["Faults and limits", "Backups, exports, replicas", "Insight", "State"]) { await q.click(tab); await q.quiet(); }
        await q.view("lab", "Forecast", "scale=1000&days=1");
        await q.shows("Capacity that clients want");
      }
      assert.deepEqual(await reports(), before);
      assert.equal((await ask("GetItem", { TableName: "shop", Key: { PK: { S: "CUSTOMER#1" }, SK: { S: "PROFILE" } } }).catch((error) => error)).message?.includes("InternalServerError"), true, "the fault is left for the application");
      assert.deepEqual(q.faults, []);
    } finally { await q.browser.close(); }
  },
  async darkAndNarrow() {
    for (const TableName of ["imported", "shop-restored"]) await api("DeleteTable", { TableName }).catch(() => {}); // of steps before
    const dark = await browse({ theme: "dark", width: 1100, height: 720 });
    try {
      await dark.page.goto(`${root}_dynalith/console/#/tables`);
      for (const [view, ...rest] of [["tables"], ["collections", "shop"], ["query", "shop"], ["partiql"], ["live"], ["control"], ["model"], ["lab"]]) { await dark.view(view, ...rest); await sound(`dark-${view}`, dark); }
      await dark.choose("Theme", "light");
      assert.equal(await dark.page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
      await dark.page.reload();
      await dark.until(() => document.documentElement.dataset.theme === "light", "the theme is kept");
    } finally { await dark.browser.close(); }
  },
  async anotherNamespace() {
    await p.view("tables");
    await p.click("000000000000 · us-east-1");
    await p.fill("Access key", "444444444444");
    await p.fill("Region", "eu-west-1");
    await fetch(`${root}_dynalith/clock?account=444444444444&region=eu-west-1`, { method: "POST", body: '{"freeze": true}' });
    await p.click("Use");
    await p.shows("Clock frozen at");
    const empty = "There are no tables in 444444444444 · eu-west-1 yet";
    await p.shows(empty, "Other accounts and regions have some");
    await p.page.reload();
    await p.shows(empty);
    const other = await browse(); // a link opens the same elsewhere
    try {
      await other.page.goto(p.page.url());
      await other.shows(empty);
    } finally { await other.browser.close(); }
    await p.page.click("main ul.names a");
    await p.shows("000000000000 · us-east-1", "shop");
    await p.until(() => location.hash === "#/tables", "the usual namespace is in no address");
    await p.until(() => !document.body.innerText.includes("Clock frozen at"), "the clock of this namespace runs");
  },
  async signsWithAKeyAndKeepsNothing() {
    const { writeFileSync } = await import("node:fs");
    writeFileSync("build/console/verify.json", JSON.stringify({ auth: "verify", credentials: [{ access_key_id: "alice", secret_access_key: "s3cret/+", control: true }] }));
    const safe = await serve("--config", `${process.cwd()}/build/console/verify.json`), v = await browse();
    try {
      await v.page.goto(`http://127.0.0.1:${safe}/`);
      await v.shows("Sign in");
      await sound("login", v);
      await v.fill("Access key", "alice");
      await v.fill("Secret key", "wrong");
      await v.click("Sign in");
      await v.shows(/signature/i);
      await v.fill("Secret key", "s3cret/+");
      await v.click("Sign in");
      await v.shows("There are no tables in alice · us-east-1 yet");
      await v.click("Create a table");
      await v.click("Create table");
      await v.shows("app", "ACTIVE");
      await v.view("live");
      await v.shows("Waiting for requests");
      await v.view("control");
      await v.click("+1 h");
      await v.shows("The clock is turned");
      const kept = await v.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.documentElement.outerHTML]));
      assert.ok(!kept.includes("s3cret"), "the key is nowhere");
      await v.page.reload();
      await v.shows("Sign in");
    } finally { await v.browser.close(); }
  },
  async otherSitesGetNothing() {
    const site = http.createServer((request, reply) => reply.setHeader("content-type", "text/html").end("<!doctype html><title>evil</title>")).listen(0, "127.0.0.1");
    const e = await browse({ host: "evil.example" });
    try {
      await e.page.goto(`http://evil.example:${site.address().port}/`);
      const tries = await e.page.evaluate(async (root) => {
        const results = [];
        for (const path of ["_dynalith/console/index.html", "_dynalith/events", "_dynalith/console/server.json"]) results.push(await fetch(root + path).then((r) => r.status, () => "refused"));
        const frame = document.body.appendChild(document.createElement("iframe"));
        frame.src = `${root}_dynalith/console/`;
        await new Promise((done) => { frame.onload = done; });
        let inner = "closed";
        try { inner = frame.contentDocument?.title ?? "closed"; } catch { /* of another origin */ }
        return [...results, inner];
      }, root);
      assert.deepEqual(tries, ["refused", "refused", "refused", "closed"]);
      // the name turned to the server itself
      await e.page.goto(`http://evil.example:${port}/_dynalith/health`); // which shows nothing, and may be seen by all
      const rebound = await e.page.evaluate(async () => Promise.all(["console/", "console/main.js", "events", "clock", ""].map(async (path) => (await fetch(`/_dynalith/${path}`)).status)));
      assert.deepEqual(rebound, [403, 403, 403, 403, 403]);
    } finally { await e.browser.close(); site.close(); }
  },
  /** Who opens Live after a request was throttled sees it, and why; it is still there, once, after another view. */
  async whyThrottled() {
    const own = await serve("--throughput", "enforce"), ask = client(own), q = await browse();
    const put = (i) => ask("PutItem", { TableName: "small", Item: { PK: { S: String(i) }, x: { S: "x".repeat(900) } } });
    await ask("CreateTable", { TableName: "small", BillingMode: "PROVISIONED", ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }, KeySchema: shop.KeySchema.slice(0, 1), AttributeDefinitions: shop.AttributeDefinitions.slice(0, 1) });
    try {
      await q.page.goto(`http://127.0.0.1:${own}/_dynalith/console/#/tables`);
      await fetch(`http://127.0.0.1:${own}/_dynalith/clock`, { method: "POST", body: "{\"freeze\": true}" }); // no units come back, however slow the machine is
      let refused = null;
      for (let i = 0; i < 1000 && !refused; i++) await put(i).catch((error) => { refused = error; });
      assert.match(String(refused), /ProvisionedThroughputExceeded/);
      await q.view("live");
      await q.shows("1 of 1 requests; 1 came before this page watched");
      const lines = () => q.page.$$eval(".grid [role=rowgroup] .line", (all) => all.length);
      await put(0).catch(() => {});
      await q.shows("2 of 2 requests");
      for (const view of ["tables", "live"]) await q.view(view);
      await q.until(() => !document.body.innerText.includes("Connecting"), "the page watches again");
      await put(1).catch(() => {});
      await q.shows("3 of 3 requests");
      assert.equal(await lines(), 3);
      await q.check("Errors only");
      await q.page.evaluate(() => document.querySelector(".grid [role=rowgroup] .line").click());
      await q.shows(/Why\s+TableWriteProvisionedThroughputExceeded: table\/small/, "Writes to table small: its provisioned write units a second are used up");
      await q.page.click("aside a[href='#/control/Faults%20and%20limits']");
      await q.shows(/small, provisioned throttled \d+ times/);
      await sound("throttled", q);
    } finally { await q.browser.close(); }
  },
  async noOtherHost() {
    assert.deepEqual([...p.hosts], [`127.0.0.1:${port}`]);
    const index = readFileSync("console/index.html", "utf8");
    assert.ok(!/https?:/.test(index));
  },
};

let passed = 0, failed = 0;
try {
  for (const [name, step] of Object.entries(steps)) {
    if (only && !only.includes(name) && name !== "aBrowserIsSentToThePage" && !(name === "collections")) continue;
    try { p.faults.length = 0; await step(); passed++; } catch (error) {
      console.log(`console: ${name}: ${error.stack}`);
      failed++;
      await p.page.screenshot({ path: `build/console/failed-${name}.png` }).catch(() => {});
      await p.page.setViewport(TALL);
      await p.page.evaluate(() => document.querySelectorAll("dialog").forEach((d) => d.close())).catch(() => {});
    }
  }
} finally {
  await p.browser.close();
  end();
}
console.log(`console: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
