// How many items there are by the values of an attribute: what GROUP BY and HAVING say in SQL, of items that were read. Nothing here needs a browser.
import { KEY_MAX, brief, own } from "./types.js";

/** @import { Item } from "../types.d.ts" */
/** @typedef {{by: string, entity: string, where: string, is: string, above: number}} Asked entity, where: or ""; above: more items than that */

export const NONE = "(none)"; // of items that lack the attribute

/** @param {Item} item @param {string} name */
const valueOf = (item, name) => (Object.hasOwn(item, name) ? brief(own(item, name), KEY_MAX) : NONE); // whole, where it leads to a key

/** Values with how many items have each, the most frequent first. @param {readonly Item[]} items @param {string} by @returns {[string, number][]} */
export function tally(items, by) {
  const found = /** @type {Map<string, number>} */ (new Map());
  for (const item of items) {
    const value = valueOf(item, by);
    found.set(value, (found.get(value) ?? 0) + 1);
  }
  return [...found].sort((a, b) => b[1] - a[1]);
}

/** The groups that are asked for, and of how many items they are. @param {readonly Item[]} items @param {Asked} asked @param {(item: Item) => string} entityOf */
export function grouped(items, { by, entity, where, is, above }, entityOf) {
  const counted = items.filter((item) => (!entity || entityOf(item) === entity) && (!where || valueOf(item, where) === is));
  return { counted, rows: tally(counted, by).filter(([, n]) => n > above) };
}
