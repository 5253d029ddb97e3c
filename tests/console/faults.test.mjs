// Rules of the faults in sentences.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultText, isSpent } from "../../console/model/faults.js";

test("a rule says what it is about, when it acts and what it does", () => {
  assert.equal(faultText({ operation: "PutItem", table: "orders", first: 2, error: "InternalServerError" }), "PutItem on orders, the first 2: fails with InternalServerError");
  assert.equal(faultText({ latency: 250 }), "any request: is answered late, by 250 ms");
  assert.equal(faultText({ operation: ["Query", "Scan"], index: "by-date", every: 3, page: 2 }), "Query, Scan, index by-date, one in 3: page 2");
  assert.equal(faultText({ probability: 0.1, seed: 1, error: { name: "X", message: "m" } }), 'any request, by chance, 0.1: fails with {"name":"X","message":"m"}');
});

test("a rule is spent when its turn is over", () => {
  assert.equal(isSpent({ first: 2, matched: 1, fired: 1 }), false);
  assert.equal(isSpent({ first: 2, matched: 2, fired: 2 }), true);
  assert.equal(isSpent({ nth: 3, matched: 3, fired: 1 }), true);
  assert.equal(isSpent({ every: 3, matched: 9, fired: 3 }), false);
  assert.equal(isSpent({ first: 1, per: "key", matched: 5, fired: 5 }), false);
});
