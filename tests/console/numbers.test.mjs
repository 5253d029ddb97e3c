// Numbers as the console shows them: core/dom.js writes whole ones itself, and as Intl does.
import test from "node:test";
import assert from "node:assert/strict";
import { number } from "../../console/core/dom.js";

test("a number looks as Intl writes it", () => {
  for (const n of [0, 7, 999, 1000, 12345, 1234567, -1, -999, -1000, -1234567, 2 ** 53 - 1, 2 ** 53, 1e21, 0.5, 1234.5678, NaN, Infinity])
    assert.equal(number(n), n.toLocaleString("en-US"));
  assert.equal(number(undefined), "0");
});
