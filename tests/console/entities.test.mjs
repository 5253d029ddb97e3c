// Each item of each model gets its entity's name, in any order of reading, and from the entries of
// any index. MODELS names a folder with more models: {table, items: [{entity, item}]} as JSON.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Entities } from "../../console/model/entities.js";
import { template } from "../../console/model/keys.js";
import { models } from "./models.mjs";

const plain = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
const given = process.env.MODELS ? readdirSync(process.env.MODELS).filter((f) => f.endsWith(".json")).map((f) =>
  ({ family: "given", name: f.replace(/\.json$/, ""), ...JSON.parse(readFileSync(path.join(process.env.MODELS, f), "utf8")) })) : [];
const table = [];

/** What an index has of an item; null: it is not in the index. */
function entryOf(item, index, model) {
  const keys = [...index.KeySchema, ...model.table.KeySchema].map((k) => k.AttributeName);
  if (!index.KeySchema.every((k) => k.AttributeName in item)) return null;
  const { ProjectionType: type, NonKeyAttributes: more = [] } = index.Projection;
  return type === "ALL" ? item : Object.fromEntries([...keys, ...more].map((n) => [n, item[n]]).filter(([, v]) => v));
}

function shuffled(list) {
  let seed = 7;
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const k = seed % (i + 1);
    [all[i], all[k]] = [all[k], all[i]];
  }
  return all;
}

for (const model of [...models, ...given]) {
  test(`${model.family}: ${model.name}`, () => {
    const entities = new Entities(model.table), all = shuffled(model.items);
    for (let at = 0; at < all.length; at += 7) entities.add(all.slice(at, at + 7).map((i) => i.item));
    entities.add([]);
    const wrong = [];
    let entries = 0;
    for (const { entity, item } of all) {
      const got = entities.of(item).name;
      if (plain(got) !== plain(entity)) wrong.push(`${entity} was named ${got}: ${JSON.stringify(item).slice(0, 140)}`);
      for (const index of [...model.table.GlobalSecondaryIndexes ?? [], ...model.table.LocalSecondaryIndexes ?? []]) {
        const entry = entryOf(item, index, model);
        if (!entry) continue;
        entries++;
        const name = entities.of(entry).name;
        if (plain(name) !== plain(entity)) wrong.push(`${entity} in ${index.IndexName} was named ${name}`);
      }
    }
    table.push([model.family, model.name, all.length, entries, all.length + entries - wrong.length, entities.model.attribute || "the keys"]);
    const counted = new Map([...entities.types.values()].map((t) => [plain(t.name), t.count]));
    const expected = new Map();
    for (const { entity } of all) expected.set(plain(entity), (expected.get(plain(entity)) ?? 0) + 1);
    assert.deepEqual(wrong, []);
    assert.deepEqual([...counted].sort(), [...expected].sort(), "each item is counted once, by its last name");
  });
}

test("names like __proto__ and constructor are names", () => {
  const item = JSON.parse('{"PK": {"S": "X#1"}, "SK": {"S": "A"}, "__proto__": {"S": "x"}, "constructor": {"S": "y"}, "hasOwnProperty": {"S": "z"}}');
  for (const by of ["auto", "key", "constructor", "__proto__", "toString"]) {
    const entities = new Entities({ TableName: "t", KeySchema: [{ AttributeName: "PK", KeyType: "HASH" }, { AttributeName: "SK", KeyType: "RANGE" }] }, by);
    entities.add([item, item]);
    assert.equal(entities.of(item).name, { constructor: "y", __proto__: "x" }[Object.hasOwn({ constructor: 1 }, by) ? by : ""] ?? (by === "__proto__" ? "x" : "X"));
    assert.ok(entities.of(item).attributes.includes("__proto__"));
  }
});

test("a name that people gave takes the place of a guess", () => {
  const entities = new Entities(models[0].table, "auto", new Map([["Dog", "Hound"]]));
  entities.add(models[0].items.map((i) => i.item));
  assert.deepEqual([...entities.types.keys()].sort(), ["Cat", "Hound"]);
  assert.equal(entities.types.get("Hound").source, "renamed");
});

test("an entity keeps its colour when it is renamed and when others come", () => {
  const { table, items } = models.find((m) => m.name === "a shop by key prefixes alone"), all = items.map((i) => i.item), old = all.filter((i) => !i.SK.S.startsWith("ADDRESS#")), colours = new Map();
  const shown = (sample, renamed, kept) => {
    const entities = new Entities(table, "auto", renamed, kept);
    entities.learn(sample);
    entities.add(sample);
    return new Map([...entities.types.values()].map((t) => [t.name, t.colour]));
  };
  const before = shown(old, new Map(), colours), after = shown(all, new Map([["ORDER", "Purchase"]]), colours);
  assert.deepEqual([...after.keys()].sort(), ["ADDRESS", "CUSTOMER", "ORDER_ITEM", "Purchase"]);
  assert.deepEqual(["CUSTOMER", "Purchase", "ORDER_ITEM"].map((n) => after.get(n)), ["CUSTOMER", "ORDER", "ORDER_ITEM"].map((n) => before.get(n)));
  assert.equal(new Set(after.values()).size, 4, "each has its own");
  assert.equal(shown(all, new Map([["ORDER", "CUSTOMER"]]), colours).get("CUSTOMER"), before.get("CUSTOMER"), "two that are called alike have one");
});

test("keys as templates", () => {
  for (const [text, is] of [["CUSTOMER#42", "CUSTOMER#<number>"], ["ORDER#2026-01-02#7", "ORDER#<date>#<number>"], ["PROFILE", "PROFILE"], ["USER#ada", "USER#<id>"]]) {
    assert.equal(template(text), is);
  }
});

process.on("exit", () => {
  const rows = [["family", "model", "items", "index entries", "right", "named by"], ...table.map((r) => r.map(String))];
  const widths = rows[0].map((_, i) => Math.max(...rows.map((r) => r[i].length)));
  console.log(rows.map((r) => r.map((c, i) => c.padEnd(widths[i])).join("  ").trimEnd()).join("\n"));
});
