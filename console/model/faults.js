// A rule of the faults in a sentence. Nothing here needs a browser.

/** @import { Counted, FaultRule } from "../types.d.ts" */

const TIMES = new Map([["nth", "no. "], ["first", "the first "], ["every", "one in "], ["probability", "by chance, "]]);
const SAID = ["operation", "table", "index", "nth", "first", "every", "probability", "seed", "error", "latency", "matched", "fired"];

/** @param {unknown} v */
const text = (v) => (typeof v === "string" || typeof v === "number" ? String(v) : JSON.stringify(v));

/** When it acts: "the first 2", or "" for always. @param {FaultRule} rule */
function when(rule) {
  const name = [...TIMES.keys()].find((n) => n in rule);
  return name ? `${TIMES.get(name)}${text(rule[name])}` : "";
}

/** "PutItem on orders, the first 2: fails with InternalServerError". Members that have no words of their own follow as JSON. @param {FaultRule} rule */
export function faultText(rule) {
  const operations = /** @type {unknown[]} */ ([]).concat(rule.operation ?? []), rest = Object.entries(rule).filter(([name]) => !SAID.includes(name));
  const about = [`${operations.length ? operations.map(text).join(", ") : "any request"}${rule.table ? ` on ${text(rule.table)}` : ""}${rule.index ? `, index ${text(rule.index)}` : ""}`, when(rule)].filter(Boolean).join(", ");
  const does = [rule.error !== undefined && `fails with ${text(rule.error)}`, rule.latency !== undefined && `is answered late, by ${text(rule.latency)} ms`, ...rest.map(([name, v]) => `${name} ${text(v)}`)].filter(Boolean).join(", ");
  return `${about}: ${does}`;
}

/** A rule without its figures. @param {Counted} rule @returns {FaultRule} */
export function bare({ matched, fired, ...rule }) { return rule; }

export const alike = (/** @type {FaultRule} */ a, /** @type {FaultRule} */ b) => JSON.stringify(a) === JSON.stringify(b);

/** Whether it acts no more: its turn is over. @param {Counted} rule */
export const isSpent = (rule) => [rule.nth, rule.first].some((n) => typeof n === "number" && rule.per !== "key" && rule.matched >= n);
