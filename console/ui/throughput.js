// What tables and indexes have left of their throughput, a line for each and for reads and writes.
import { h, number, plainTable } from "../core/dom.js";

/** @import { Throughput, Units } from "../types.d.ts" */

/** A reason a line. @param {Units} u */
const throttled = (u) => Object.entries(u.throttled).map(([reason, n]) => h("div.warn", `${number(n)} by ${reason}`));

/** @param {string} name @param {Throughput} t */
function tableView(name, t) {
  const parts = /** @type {[string, {read: Units, write: Units}][]} */ ([["table", t], ...Object.entries(t.indexes).map(([index, units]) => /** @type {[string, {read: Units, write: Units}]} */ ([`index ${index}`, units]))]);
  const rows = parts.flatMap(([part, { read, write }]) => /** @type {[string, Units][]} */ ([["reads", read], ["writes", write]]).map(([what, u]) => [part, what, number(u.rate), `${number(Math.max(0, Math.round(u.left)))} of ${number(u.capacity)}`, number(Math.round(u.consumed)), number(u.ranges),
    throttled(u)]));
  const sum = parts.reduce((n, [, { read, write }]) => n + [read, write].flatMap((u) => Object.values(u.throttled)).reduce((a, b) => a + b, 0), 0);
  return h("details", { open: sum > 0 }, h("summary", `${name}, ${t.billing === "PROVISIONED" ? "provisioned" : "on demand"}`, sum > 0 && h("span.warn", ` throttled ${number(sum)} times`)),
    h("div.scroll", { tabIndex: 0, role: "region", "aria-label": `Throughput of ${name}` }, plainTable(`Throughput of ${name}`, [["Of"], ["Units"], ["A second", "number"], ["Left, with the burst", "number"], ["Consumed", "number"], ["Partitions", "number"], ["Throttled", "lines"]], rows)));
}

/** Those that throttled first; they are open. @param {Record<string, Throughput>} tables */
export function throughputView(tables) {
  const views = Object.entries(tables).map(([name, t]) => tableView(name, t));
  return [...views.filter((v) => v.open), ...views.filter((v) => !v.open)];
}
