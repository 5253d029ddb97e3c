// No edit changes a type: items of all types go through both forms of the editor and come back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, keyOf, keyProblem, ordered, own, readItem, same, writeItem } from "../../console/model/types.js";
import { pattern } from "../../console/model/request.js";
import { child, itemOf, node, nodeOf, nodesOf, retype } from "../../console/model/form.js";

const NAMES = ["a", "constructor", "__proto__", "toString", "$set", "$binary", "$map", "S", "N", "M", "L", "hasOwnProperty", ""];
let seed = 1;
const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % n; };
const map = (pairs) => Object.fromEntries(pairs);
const digits = () => String(random(1e9)) + ["", ".5", "12345678901234567890"][random(3)];

function value(depth) {
  const kind = random(depth > 3 ? 5 : 10);
  switch (kind) {
    case 0: return { S: ["", "1", "true", "null", "<b>", "{\"$set\": []}"][random(6)] };
    case 1: return { N: digits() };
    case 2: return { B: "AQI=" };
    case 3: return { BOOL: random(2) === 0 };
    case 4: return { NULL: true };
    case 5: return { SS: ["x", "y", "1"].slice(0, 1 + random(3)) };
    case 6: return { NS: ["1", "2.5"].slice(0, 1 + random(2)) };
    case 7: return { BS: ["AQI=", "AA=="].slice(0, 1 + random(2)) };
    case 8: return { L: Array.from({ length: random(4) }, () => value(depth + 1)) };
    default: return { M: map(Array.from({ length: random(3) }, () => [NAMES[random(NAMES.length)], value(depth + 1)])) };
  }
}

test("5,000 items keep all their types in both forms", () => {
  for (let i = 0; i < 5000; i++) {
    const item = map(Array.from({ length: 1 + random(5) }, () => [NAMES[random(NAMES.length - 1)], value(0)]));
    for (const form of ["native", "dynamodb"]) {
      const back = readItem(writeItem(item, form), form);
      assert.deepEqual(back, item, `${form}: ${JSON.stringify(item)}`);
      assert.ok(same(back, item));
    }
    for (const n of NAMES) assert.equal(typeof brief(own(item, n)), "string");
  }
});

test("a map that looks like a set stays one, at each depth", () => {
  const inner = { M: { $set: { L: [{ S: "a" }] } } };
  for (const item of [{ x: inner }, { x: { M: { $map: inner } } }, { x: { M: { $binary: { S: "AQI=" } } } }, { $set: { L: [{ N: "1" }] } }, { x: { SS: ["a"] } }]) {
    assert.deepEqual(readItem(writeItem(item, "native"), "native"), item);
  }
  assert.match(writeItem({ x: inner }, "native"), /"\$map"/);
  assert.throws(() => readItem('{"x": {"$map": 1}}', "native"), /takes a map/);
});

test("names of Object's own are missing until they are there", () => {
  const table = { KeySchema: [{ AttributeName: "constructor", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "constructor", AttributeType: "S" }] };
  assert.match(keyProblem({}, table), /missing/);
  assert.equal(keyProblem({ constructor: { S: "x" } }, table), "");
  assert.deepEqual(keyOf({ constructor: { S: "x" } }, table), { constructor: { S: "x" } });
  assert.deepEqual(Object.keys(ordered({ b: { S: "" } }, ["constructor", "__proto__"])), ["b"]);
  assert.throws(() => readItem('{"a": {"constructor": "x"}}', "dynamodb"), /was expected/);
});

test("5,000 items keep all that they have in the form", () => {
  for (let i = 0; i < 5000; i++) {
    const item = map(Array.from({ length: 1 + random(5) }, () => [NAMES[random(NAMES.length - 1)], value(0)]));
    assert.deepEqual(JSON.stringify(itemOf(nodesOf(item))), JSON.stringify(item));
  }
});

test("another type keeps what it can have", () => {
  const of = (attribute, type) => { const n = nodeOf("a", attribute); retype(n, type); return itemOf([n]).a; };
  for (const [from, type, to] of [[{ S: " 12 " }, "N", { N: "12" }], [{ N: "1.50" }, "S", { S: "1.50" }], [{ S: "a" }, "SS", { SS: ["a"] }], [{ S: "a" }, "L", { L: [{ S: "a" }] }], [{ BOOL: true }, "S", { S: "true" }],
    [{ S: "true" }, "BOOL", { BOOL: true }], [{ N: "1" }, "BOOL", { BOOL: false }], [{ S: "x" }, "NULL", { NULL: true }], [{ NULL: true }, "S", { S: "" }], [{ SS: ["a", "b"] }, "L", { L: [{ S: "a" }, { S: "b" }] }],
    [{ L: [{ N: "1" }, { M: {} }] }, "NS", { NS: ["1"] }], [{ L: [{ S: "a" }] }, "M", { M: { 1: { S: "a" } } }], [{ M: { k: { S: "v" } } }, "L", { L: [{ S: "v" }] }], [{ S: "a" }, "M", { M: { 1: { S: "a" } } }],
    [{ NS: ["1"] }, "SS", { SS: ["1"] }], [{ L: [{ S: "a" }] }, "S", { S: "" }]]) assert.deepEqual(of(from, type), to, `${JSON.stringify(from)} as ${type}`);
});

test("names of the form: missing, twice", () => {
  assert.throws(() => itemOf([node("", "S")]), /has no name/);
  assert.throws(() => itemOf([node("a", "S"), node("a", "N")]), /"a" stands twice/);
  assert.throws(() => itemOf([node("m", "M", "", [node("a", "S"), node("a", "S")])]), /"m.a" stands twice/);
  assert.deepEqual(child(nodeOf("l", { L: [{ N: "1" }] })).type, "N");
  assert.deepEqual(child(nodeOf("s", { BS: ["AQI="] })).type, "B");
});

test("what is no request is a line without anything", () => {
  for (const text of ["null", "7", "[]", "\"text\"", "{", ""]) assert.equal(pattern(text).text, "", text);
  assert.equal(pattern(null).table, "");
});
