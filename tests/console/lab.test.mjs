// Lab's models: files of orders, the form of a forecast and its words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readOrder, replayOf, switchesOf } from "../../console/model/order.js";
import { USUAL, askedOf, busiest, modesOf, momentOf, readForm, whyRow, writeForm } from "../../console/model/forecast.js";

const request = (client, more = {}) => ({ id: `0${client}`, client, operation: "GetItem", on: "shop pk=a", ...more });

test("an order has its clients, its switches and what was done to a request", () => {
  const order = readOrder(JSON.stringify({ version: 1, why: "status 1", sentence: "B wrote.", lost: "0B", from: 1, order: [request("A"), request("B", { name: "bob", is_write: true, came: "no item" }), request("A")] }));
  assert.deepEqual(order.clients, [{ client: "A", name: "" }, { client: "B", name: "bob" }]);
  assert.deepEqual([order.first, switchesOf(order), order.steps[1].trouble, order.steps[1].isWrite, order.steps[1].came, order.steps[0].trouble], [1, 1, "its answer is lost", true, "no item", ""]);
  assert.equal(readOrder(JSON.stringify({ from: 9, order: [request("A")] })).first, 0);
});

test("what is no order says so", () => {
  for (const [text, said] of [["{", /no JSON/], ["null", /no order/], ["[]", /no order/], ["{\"order\":[]}", /no order/], ["{\"order\":7}", /no order/], ["{\"order\":[7]}", /Request 1 .*lacks/],
    [JSON.stringify({ order: Array(2001).fill(request("A")) }), /2000 can be drawn/], [JSON.stringify({ order: [request("A"), { ...request("A"), client: 5 }] }), /Request 2/]]) assert.throws(() => readOrder(text), said);
  const odd = readOrder(JSON.stringify({ why: ["__proto__"], sentence: 5, lost: {}, order: [{ ...request("constructor"), on: null, name: 7, __proto__: null }] }));
  assert.deepEqual([odd.why, odd.sentence, odd.clients[0].client, odd.steps[0].on], ["", "", "constructor", ""]);
});

test("the command that replays has the file's name, quoted where it must be", () => {
  assert.equal(replayOf("7f3a.json"), "dynalith races --order races/7f3a.json -- npm test");
  assert.equal(replayOf("it's.json"), "dynalith races --order 'races/it'\\''s.json' -- npm test");
});

test("the form of a forecast is a part of the address", () => {
  assert.equal(writeForm(USUAL), "");
  const form = { scale: "1000", days: "7", growth: "3", keys: "zipf", count: "5000", free: true };
  assert.deepEqual(readForm(writeForm(form)), form);
  assert.deepEqual(readForm(""), USUAL);
  assert.deepEqual(askedOf(form, null), { scale: 1000, days: 7, growth: "3%/day", keys: "zipf:5000", free_tier: true });
  assert.deepEqual(askedOf({ ...form, growth: "0", free: false }, { tables: [] }), { scale: 1000, days: 7, plan: { tables: [] } });
});

test("a forecast in words", () => {
  assert.deepEqual([momentOf(0, 4), momentOf(7, 4)], ["day 1, 00:00", "day 2, 04:00"]);
  const table = { name: "t", is_on_demand: true, on_demand: 10, provisioned: 4 };
  assert.match(modesOf(table), /provisioned, .* would save 60 %/);
  assert.match(modesOf({ ...table, is_on_demand: false }), /on demand would cost 150 % more/);
  assert.match(modesOf({ ...table, provisioned: null }), /unknown/);
  assert.match(whyRow({ table: "orders", index: "by-status", reason: "IndexWriteKeyRangeThroughputExceeded" }), /^Writes to index by-status of table orders: .*1,000 write units/);
  const side = (...wanted) => ({ units: 1, throttled: 0, ...(wanted.length ? { wanted } : {}) });
  const found = busiest({ tables: [{ name: "t", is_on_demand: true, parts: [{ read: side(1), write: side() }, { index: "i", read: side(), write: side(3, 4) }, { index: "j", read: side(), write: side() }] }] }, 5);
  assert.deepEqual(found.map((p) => [p.name, p.peak]), [["t/index/i", 4], ["t", 1]]);
});
