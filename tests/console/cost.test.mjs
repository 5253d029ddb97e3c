// Costs that the page shows follow the price list of the documents.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { READ_MILLION, WRITE_MILLION, costADay, costOfCalls, dollars } from "../../console/model/cost.js";
import { timeSpan } from "../../console/model/time.js";

test("what a pattern costs, by the prices of the documents", () => {
  const prices = JSON.parse(readFileSync("docs/prices.json", "utf8"));
  assert.deepEqual([READ_MILLION, WRITE_MILLION], [prices.read_request_units_million, prices.write_request_units_million]);
  const writes = { calls: 50, read_units: 0, write_units: 100 };
  // 100 requests a second, half of them of this pattern, each a write of 2 units: 8.64 million units a day
  assert.equal(costADay(writes, 100, 100).toFixed(4), (8.64 * 0.625).toFixed(4));
  assert.equal(costADay(writes, 50).toFixed(4), (8.64 * 0.625).toFixed(4), "the same by its own rate");
  assert.equal(costOfCalls(writes, 1e6).toFixed(4), (2 * 0.625).toFixed(4));
  assert.equal(costADay({ calls: 0, read_units: 1, write_units: 0 }, 100), 0);
  assert.deepEqual([0, 0.0012, 5.4, 123456].map(dollars), ["$0.00", "$0.0012", "$5.40", "$123,456"]);
  assert.deepEqual([0, 12, 60, 588, 11100, 86399, 190800].map(timeSpan), ["0 s", "12 s", "1 min", "9 min 48 s", "3 h 5 min", "23 h 59 min", "2 d 5 h"]);
});
