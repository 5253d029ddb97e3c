// What Live keeps: each request once, in order, the latest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Seen } from "../../console/model/seen.js";

const event = (time, more = {}) => ({ id: `r${time}`, time, request: null, ...more });
const times = (seen) => seen.events.map((e) => e.time);

test("requests of before take their place in time, and come once", () => {
  const seen = new Seen(100);
  for (const time of [5, 6]) assert.equal(seen.add(event(time)), true);
  for (const time of [2, 4]) assert.equal(seen.add(event(time, { isPast: true })), true);
  assert.equal(seen.add(event(5, { isPast: true, request: { open: true } })), false);
  assert.deepEqual([times(seen), seen.events.filter((e) => e.isPast).length], [[2, 4, 5, 6], 2]);
  assert.deepEqual(seen.events[2], event(5, { isPast: undefined, request: { open: true } }));
});

test("the latest stay, up to a number; cleared, all go, and those of before do not come again", () => {
  const seen = new Seen(10);
  for (let time = 0; time < 25; time++) seen.add(event(time, { isPast: time < 20 }));
  assert.ok(seen.events.length <= 10 && times(seen).at(-1) === 24 && seen.byId.size === seen.events.length);
  seen.lost = 3;
  seen.clear();
  assert.deepEqual([seen.events, seen.lost], [[], 0]);
  assert.deepEqual([seen.add(event(24, { isPast: true })), seen.add(event(25, { isPast: true })), seen.add(event(26))], [false, true, true]);
});
