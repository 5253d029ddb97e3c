// How many of the items that were read have each value of an attribute: "which customers have more
// than three open orders?"
import { attempt, field, fill, h, number, plainTable, select } from "../core/dom.js";
import { NONE, grouped, tally } from "../model/counts.js";

/** @import { Item } from "../types.d.ts" */
/**
 * @typedef {{keys: string[], items: () => Item[], isAll: () => boolean, entityOf: (item: Item) => string, readOn?: (n: number) => Promise<unknown>, open?: (by: string, value: string) => (() => unknown) | undefined}} Source
 * items: read so far; isAll: there are no more; readOn reads so many more; open gives a handler that shows the items of a value, if there is one
 */

const SHOWN = 200, LOOKED = 2000, MORE = 20000 /* items of one "Read on" */;

/** Reads page after page, until there are n more. @template T @param {number} n @param {() => number} count @param {() => T | undefined} next @param {(from: T) => Promise<unknown>} read */
export async function readMore(n, count, next, read) {
  const enough = count() + n;
  for (let from = next(); from && count() < enough; from = next()) {
    await read(from);
    if (next() === from) return; // it was refused, and the page says why
  }
}

/** @param {Source} source */
export function counts({ keys, items, isAll, entityOf, readOn, open }) {
  const place = h("div"), asked = { by: keys[0] ?? "", entity: "", where: "", is: "", above: 0 };
  const plural = (/** @type {number} */ n, /** @type {string} */ word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;

  const opened = (/** @type {string} */ value) => {
    const onclick = value === NONE ? undefined : open?.(asked.by, value);
    return onclick ? h("button.small.mono", { type: "button", onclick }, value) : h("span.mono", value);
  };

  function table() {
    const { counted, rows } = grouped(items(), asked, entityOf), all = items().length;
    const of = counted.length === all ? plural(all, "item") : `${plural(counted.length, "item")} of ${number(all)}`;
    return [h("p.quiet", `${plural(rows.length, "value")} in ${of} that the page has read${isAll() ? "" : "; there are more"}${rows.length > SHOWN ? `; the ${SHOWN} most frequent` : ""}. `,
      !isAll() && readOn && h("button.small", { type: "button", onclick: attempt(async () => { await readOn(MORE); tell(); }) }, "Read on")),
    plainTable(`Items by ${asked.by}`, [[asked.by], ["Items", "number"]], rows.slice(0, SHOWN).map(([value, n]) =>
      [opened(value), number(n)]))];
  }

  function tell() {
    const few = items().slice(0, LOOKED), names = [...new Set([...keys, ...few.flatMap((i) => Object.keys(i))])], entities = [...new Set(few.map(entityOf))].sort();
    if (!names.includes(asked.by)) asked.by = names[0] ?? "";
    const rows = h("div.gap"), show = () => fill(rows, table());
    const values = () => (asked.where ? tally(items(), asked.where).slice(0, SHOWN).map(([v]) => v) : []);
    if (!names.includes(asked.where)) asked.where = "";
    if (!entities.includes(asked.entity)) asked.entity = "";
    let found = values();
    if (!found.includes(asked.is)) asked.is = found[0] ?? "";
    const is = select(found, asked.is, (v) => { asked.is = v; show(); }), value = field("Value", is);
    value.hidden = !asked.where;
    const where = select([["", "anything"], ...names], asked.where, (v) => {
      asked.where = v;
      found = values();
      asked.is = found[0] ?? "";
      fill(is, found.map((o) => h("option", { value: o }, o)));
      value.hidden = !v;
      show();
    });
    /** @type {HTMLInputElement} */
    const above = h("input", { type: "number", min: "0", value: String(asked.above), oninput: () => { asked.above = Number(above.value); show(); } });
    show();
    fill(place, h("div.fields.counts", field("Count by", select(names, asked.by, (v) => { asked.by = v; show(); })),
      entities.length > 1 && field("Entity", select([["", "any"], ...entities], asked.entity, (v) => { asked.entity = v; show(); })),
      field("Where", where), value, field("More than", above)), rows);
  }
  tell();
  return { element: place, tell };
}
