// Groups of items, as GROUP BY and HAVING would give them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NONE, grouped } from "../../console/model/counts.js";

const order = (customer, status) => ({ PK: { S: customer }, status: { S: status } });
const items = [...Array.from({ length: 5 }, () => order("C#1", "OPEN")), ...Array.from({ length: 3 }, () => order("C#2", "OPEN")), ...Array.from({ length: 9 }, () => order("C#2", "PAID")),
  { PK: { S: "C#1" }, name: { S: "Ada" } }, { PK: { S: "C#3" }, constructor: { S: "x" } }];
const entityOf = (item) => (Object.hasOwn(item, "status") ? "ORDER" : "CUSTOMER");
const all = { by: "PK", entity: "", where: "", is: "", above: 0 };

test("which customers have more than three open orders", () => {
  assert.deepEqual(grouped(items, all, entityOf).rows, [["C#2", 12], ["C#1", 6], ["C#3", 1]]);
  assert.deepEqual(grouped(items, { ...all, entity: "ORDER", where: "status", is: "OPEN", above: 3 }, entityOf).rows, [["C#1", 5]]);
  assert.equal(grouped(items, { ...all, entity: "CUSTOMER" }, entityOf).counted.length, 2);
  assert.deepEqual(grouped(items, { ...all, by: "status", above: 2 }, entityOf).rows, [["PAID", 9], ["OPEN", 8]]);
  assert.deepEqual(grouped(items, { ...all, by: "constructor" }, entityOf).rows, [[NONE, 18], ["x", 1]]);
});
