// The parts of a forecast's report: what is throttled, what it costs, what clients want, the patterns.
import { h, number, plainTable } from "../core/dom.js";
import { colourOf, columns } from "./chart.js";
import { busiest, modesOf, placeOf, whyRow } from "../model/forecast.js";

/** @import { Forecast, ForecastRow } from "../lab.d.ts" */

const ROWS = 100, COLOURS = 6, CHARTS = 12;

export const money = (/** @type {number | null} */ n) => (n === null ? "unknown price" : `$${n.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`);
const digits = (/** @type {number} */ n) => n.toLocaleString("en-US", { maximumFractionDigits: 4 });
const mark = (/** @type {number} */ i) => h(`span.key.${colourOf(i)}`, { "aria-hidden": "true" });
const keyName = (/** @type {ForecastRow} */ row) => `${row.key} of ${placeOf(row)}`;

/** @param {Forecast} f */
export function throttlesView(f) {
  const rows = f.throttles.slice(0, ROWS), { hours_of_step: hours, throttled } = f.over_time, hidden = f.throttles.length - rows.length + (f.throttles_left_out ?? 0);
  if (!rows.length) return h("section.card", h("h2", "Throttled"), h("p.good", "Nothing is throttled."));
  return h("section.card", h("h2", "Throttled"), h("p", `First on ${f.first_throttled}.`),
    columns(`Attempts throttled in each ${hours === 1 ? "hour" : `${hours} hours`}, by key`, throttled.map((values, i) => ({ name: i < COLOURS - 1 ? keyName(f.throttles[i]) : "other keys", values })), hours, "attempts"),
    h("div.scroll", { tabIndex: 0, role: "group", "aria-label": "Throttled keys" }, plainTable("Throttled keys", [["Throttled", "number"], ["Key"], ["Table or index"], ["Why"], ["From", "tight"], ["Most in the hour of", "tight"]], rows.map((row, i) => [number(row.throttled), h("span", mark(i), " ", row.key),
      placeOf(row), h("div", h("p", whyRow(row)), h("p.quiet.mono", row.reason)), row.first, row.worst]))),
    hidden > 0 && h("p.quiet", `And ${number(hidden)} more keys.`));
}

/** @param {Forecast} f */
export function costView({ cost, tables }) {
  const most = Math.max(...cost.lines.map((l) => l.cost ?? 0), 1e-9), even = cost.break_even_writes !== undefined && cost.break_even_reads !== undefined;
  return h("section.card", h("h2", "Cost"),
    h("div.scroll", { tabIndex: 0, role: "group", "aria-label": "Cost by line" }, plainTable("Cost by line", [["Cost", "number"], ["Share", "share"], ["Quantity", "number"], ["Price list's line"], ["Table"]], [...cost.lines.map((l) => [money(l.cost), h("span.meter", h("i", { style: { width: `${Math.round((l.cost ?? 0) / most * 100)}%` } })),
      digits(l.quantity), h("span", l.price.replaceAll("_", " "), l.free ? h("span.quiet", `, ${digits(l.free)} of them free`) : ""), l.table]), [h("strong", money(cost.total)), "", "", h("strong", cost.is_partial ? "in all, without what has no price" : "in all"), ""]])),
    h("p.quiet", `${cost.currency}, prices: ${cost.source}`),
    cost.savings.length ? [h("h3", "What would save most"), plainTable("What would save most", [["Saves", "number"], ["Change"]], cost.savings.map((s) => [money(s.saves), s.change]))] : null,
    h("h3", "On demand or provisioned, requests alone"),
    h("div.scroll", { tabIndex: 0, role: "group", "aria-label": "Billing modes" }, plainTable("Billing modes", [["Table"], ["Now"], ["On demand", "number"], ["Provisioned", "number"], ["Used of it", "number"], ["The other one"]], tables.map((t) => [t.name, t.is_on_demand ? "on demand" : "provisioned", money(t.on_demand), money(t.provisioned),
      `${(t.use * 100).toFixed(1)} %`, modesOf(t)]))),
    even && h("p.quiet", `Provisioned is cheaper from ${((cost.break_even_reads ?? 0) * 100).toFixed(1)} % use of reads and ${((cost.break_even_writes ?? 0) * 100).toFixed(1)} % of writes on.`));
}

/** @param {Forecast} f */
export function wantedView(f) {
  const all = busiest(f, Infinity), parts = all.slice(0, CHARTS);
  if (!parts.length) return null;
  return h("section.card", h("h2", "Capacity that clients want"), h("p.quiet", "Units a second, without retries: ", mark(0), " reads, ", mark(1), " writes."), parts.map(({ name, isOnDemand, part }) => columns(
    `${name}, ${isOnDemand ? "on demand" : `provisioned: at the end ${number(part.read.provisioned_at_the_end)} read and ${number(part.write.provisioned_at_the_end)} write units`}`,
    [{ name: "reads", values: part.read.wanted ?? [] }, { name: "writes", values: part.write.wanted ?? [] }], f.over_time.hours_of_step, "units a second")),
  all.length > parts.length && h("p.quiet", `And ${number(all.length - parts.length)} more with less.`));
}

/** @param {Forecast} f */
export const patternsView = ({ patterns }) => h("section.card", h("h2", "Patterns"), h("div.scroll", { tabIndex: 0, role: "group", "aria-label": "Patterns" }, plainTable("Patterns", [["Requests", "number"], ["Throttled", "number"], ["Failed", "number"], ["Waited in retries", "number"], ["Pattern"]],
  patterns.slice(0, ROWS).map((p) => [number(p.requests), number(p.throttled), number(p.failed), p.retries_waited_s ? `${number(Math.round(p.retries_waited_s))} s` : "", p.name]))),
patterns.length > ROWS && h("p.quiet", `And ${number(patterns.length - ROWS)} more.`));
