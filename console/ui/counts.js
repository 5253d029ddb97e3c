// How many of the items that were read have each value of an attribute: "which customers have more
// than three open orders?"
import { fill, h, number, plainTable, select } from "../core/dom.js";
import { brief, own } from "../model/types.js";

/** @import { Item } from "../types.d.ts" */

const SHOWN = 200;

/** `items` gives what was read, `isAll` whether there are no more pages. @param {string[]} keys @param {() => Item[]} items @param {() => boolean} isAll */
export function counts(keys, items, isAll) {
  const place = h("div");
  let by = keys[0];

  function table() {
    const found = /** @type {Map<string, number>} */ (new Map());
    for (const item of items()) {
      const value = Object.hasOwn(item, by) ? brief(own(item, by)) : "(none)";
      found.set(value, (found.get(value) ?? 0) + 1);
    }
    const rows = [...found].sort((a, b) => b[1] - a[1]);
    return [h("p.quiet", `${number(rows.length)} ${rows.length === 1 ? "value" : "values"} in ${number(items().length)} ${items().length === 1 ? "item" : "items"}${isAll() ? "" : "; there are more pages"}${rows.length > SHOWN ? `; the ${SHOWN} most frequent` : ""}`),
      plainTable(`Items by ${by}`, [[by], ["Items", "number"]], rows.slice(0, SHOWN).map(([value, n]) => [h("span.mono", value), number(n)]))];
  }

  function tell() {
    const names = [...new Set([...keys, ...items().slice(0, 2000).flatMap((i) => Object.keys(i))])];
    const rows = h("div.gap", table());
    fill(place, h("div.row", h("span", "Count by"), select(names, by, (v) => { by = v; fill(rows, table()); }, { "aria-label": "Count by" })), rows);
  }
  tell();
  return { element: place, tell };
}
