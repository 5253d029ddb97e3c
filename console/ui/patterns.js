// Access patterns with what they cost: a million calls of each, a day and a month at a rate that is as seen, or asked about.
import { field, fill, h, number, plainTable, select } from "../core/dom.js";
import { costADay, costOfCalls, dollars } from "../model/cost.js";
import { timeSpan } from "../model/time.js";

/** @import { Child, Insight, Pattern } from "../types.d.ts" */
/** @typedef {{rate: string, by: string}} Asked a rate that was typed, or "", and whose it is */

const SHOWN = 300, MONTH = 30.4; // days

/** @param {Pattern} p */
export const patternName = (p) => [p.operation, p.table, p.index && `index ${p.index}`, p.key, p.filter && `filter ${p.filter}`, p.update, p.condition && `if ${p.condition}`, p.how].filter(Boolean).join(" · ");

/** Units with one digit. @param {number} n */
export const units = (n) => number(Math.round(n * 10) / 10);

/**
 * `columns` are those before the costs, and `cells` what they have of a pattern; `asked` is kept by the caller, so that a refresh keeps the rate.
 * @param {Insight} seen @param {Pattern[]} patterns @param {readonly (readonly string[])[]} columns @param {(p: Pattern) => Child[]} cells @param {Asked} asked
 */
export function pricedPatterns(seen, patterns, columns, cells, asked) {
  const seconds = Math.max(1, (seen.time?.age_ms ?? 0) / 1000), usual = String(Math.round(seen.requests / seconds * 100) / 100), table = h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Access patterns and costs" });
  const rate = h("input", { type: "number", min: "0", step: "any", value: asked.rate || usual, oninput: () => { asked.rate = rate.value; tell(); } });
  const by = select([["all", "of all patterns together"], ["each", "of each pattern"]], asked.by, (v) => { asked.by = v; tell(); }, { "aria-label": "Whose rate it is" });
  const tell = () => fill(table, plainTable("Patterns", [...columns, ["A million calls", "number"], ["A day", "number"], ["A month", "number"]], patterns.slice(0, SHOWN).map((p) => {
    const day = costADay(p, Number(rate.value), asked.by === "all" ? seen.requests : 0);
    return [...cells(p), dollars(costOfCalls(p, 1e6)), dollars(day), dollars(day * MONTH)];
  })));
  tell();
  return [h("div.row.low", field("Requests a second", rate), by, h("span.quiet", `As seen: ${usual} of all together, which is ${number(seen.requests)} ${seen.requests === 1 ? "request" : "requests"} in ${timeSpan(seconds)}. US dollars on demand in us-east-1, by the units that answers told of. At AWS a write that its condition refuses costs too; that is not counted here.`)), table];
}
