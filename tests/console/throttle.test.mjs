// Each reason for which a server throttles has a sentence.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { whyThrottled } from "../../console/model/throttle.js";

test("reasons of throttling in sentences", () => {
  const reasons = readFileSync("protocol/throughput/throughput.c", "utf8").match(/"(Table|Index)\w+Exceeded"/g).map((r) => r.slice(1, -1));
  assert.equal(reasons.length, 16);
  const arn = "arn:aws:dynamodb:us-east-1:000000000000:table/shop/index/by-status";
  assert.equal(new Set(reasons.map((r) => whyThrottled(r, arn))).size, 16);
  assert.equal(whyThrottled("IndexWriteKeyRangeThroughputExceeded", arn),
    "Writes to index by-status of table shop: a range of partition keys takes 1,000 write units a second, however much the table has: spread the keys.");
  assert.match(whyThrottled("TableReadProvisionedThroughputExceeded", "table/shop"), /^Reads of table shop: its provisioned read units/);
  assert.deepEqual(["", "TableReadMoonExceeded", "constructor"].map((r) => whyThrottled(r, arn)), ["", "", ""]);
});
