// Of more events than a page can draw some are looked at, errors first, and all are counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Sampler, glance } from "../../console/model/sampler.js";

const event = (more, body = "") => `{"id":"A","operation":"GetItem","caller":"a \\"status\\":5 b","status":${more.status ?? 200},"error":""${more.fault ? ',"fault":{"delayMs":1}' : ""}${more.past ? ',"isPast":true' : ""},"requestBytes":1,"responseBytes":2,"request":{"x":"${body}"},"lost":${more.lost ?? 0}}`;

test("1,000,000 events in one turn: the quota is looked at, the others are counted", () => {
  const sampler = new Sampler(100);
  let taken = 0, errors = 0;
  for (let i = 0; i < 1e6; i++) {
    const isError = i % 10000 === 9999;
    if (sampler.take(isError)) { taken++; errors += isError; }
  }
  assert.deepEqual([taken, errors, sampler.skipped], [200, 100, 1e6 - 200]);
  sampler.turn();
  assert.ok(sampler.take(false));
});

test("a storm of errors is bounded, too", () => {
  const sampler = new Sampler(10);
  assert.equal(Array.from({ length: 50 }, () => sampler.take(true)).filter(Boolean).length, 10);
  assert.equal(sampler.skipped, 40);
  assert.ok(sampler.take(false));
});

test("a glance at an event", () => {
  assert.deepEqual(glance(event({})), { isError: false, isPast: false, lost: 0 });
  assert.deepEqual(glance(event({ status: 400, lost: 17 })), { isError: true, isPast: false, lost: 17 });
  assert.deepEqual(glance(event({ fault: true })), { isError: true, isPast: false, lost: 0 });
  assert.deepEqual(glance(event({ past: true, status: 400 })), { isError: true, isPast: true, lost: 0 });
  assert.deepEqual(glance(event({ lost: 3 }, 'status":500,"fault":{"lost":9},"isPast":true,"requestBytes":')), { isError: false, isPast: false, lost: 3 });
});
