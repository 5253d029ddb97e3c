// What the server has seen of access patterns: units by pattern, partitions, sizes and latencies, findings.
import { attempt, fill, h, number, svg } from "../core/dom.js";
import { control, session } from "../core/api.js";
import { findingsTable } from "../ui/findings.js";
import { patternName, pricedPatterns, units } from "../ui/patterns.js";

/** @import { Insight } from "../types.d.ts" */

/** Horizontal bars, each below its name. @param {string} label @param {[name: string, value: number][]} rows @param {string} unit */
export function bars(label, rows, unit) {
  const most = Math.max(...rows.map((r) => r[1]), 1e-9), line = 36, width = 560, room = width - 100;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${rows.length * line + 4}`, role: "img", "aria-label": `${label}: ${rows.map((r) => `${r[0]} ${r[1]}`).join(", ")}`, class: "plot" });
  rows.forEach(([name, value], i) => picture.append(
    svg("text", { x: 0, y: i * line + 14, class: "name" }, svg("title", {}, name), name.length > 80 ? `${name.slice(0, 79).replace(/…$/, "")}…` : name),
    svg("rect", { x: 0, y: i * line + 20, width: Math.max(1, (value / most) * room), height: 10, rx: 2, class: "bar-fill" }),
    svg("text", { x: (value / most) * room + 6, y: i * line + 29, class: "value" }, `${number(Math.round(value * 10) / 10)} ${unit}`)));
  return h("figure", h("figcaption", label), picture);
}

/** Partitions as tiles: the more units, the fuller the colour, which is the darker in the light scheme alone. @param {Insight["tables"]} tables */
function heat(tables) {
  const all = tables.flatMap((t) => (t.partitions ?? []).map((p) => ({ ...p, table: t.table, units: p.read_units + p.write_units }))).sort((a, b) => b.units - a.units).slice(0, 120);
  const most = Math.max(...all.map((p) => p.units), 1e-9), size = 26, columns = 24;
  const picture = svg("svg", { viewBox: `0 0 ${columns * size} ${Math.max(1, Math.ceil(all.length / columns)) * size}`, role: "img", "aria-label": `The ${all.length} partitions with most units`, class: "plot" });
  all.forEach((p, i) => picture.append(svg("rect", { x: (i % columns) * size + 1, y: Math.floor(i / columns) * size + 1, width: size - 2, height: size - 2, rx: 3, class: "bar-fill", opacity: (0.12 + 0.88 * p.units / most).toFixed(2) },
    svg("title", {}, `${p.table} ${p.partition}: ${number(Math.round(p.units * 10) / 10)} units, ${number(p.requests)} requests`))));
  return all.length ? h("figure", h("figcaption", "Partitions with most units, a tile each: the fuller its colour, the more"), picture,
    h("ol.plain", all.slice(0, 5).map((p) => h("li", h("span.mono", `${p.table} ${p.partition}`), ` ${number(Math.round(p.units * 10) / 10)} units, ${number(p.requests)} requests`)))) : null;
}

export function insight() {
  const place = h("div");
  const asked = { rate: "", by: "all" };
  /** @type {() => Promise<void>} */
  const load = attempt(async () => {
    if (!session.facts.insight) { fill(place, h("div.empty", h("p", "This server counts no access patterns."), h("p", "Start it with ", h("code", "--insight on"), "; then this page shows what requests cost, and what an engineer would change."))); return; }
    const seen = await control("GET", "insight"), patterns = [...seen.patterns].sort((a, b) => b.read_units + b.write_units - a.read_units - a.write_units);
    fill(place, h("div.row", h("span", h("strong", number(seen.requests)), " requests"), h("span", h("strong", number(seen.read_units)), " read units"), h("span", h("strong", number(seen.write_units)), " write units"),
      h("span", h("strong", number(patterns.length)), " patterns"), h("span.push"), h("button", { type: "button", onclick: load }, "Refresh"),
      h("button", { type: "button", onclick: attempt(async () => { await control("DELETE", "insight"); await load(); }) }, "Forget all")),
    seen.findings.length ? h("section.card", h("h2", "Findings"), findingsTable(seen.findings)) : null,
    h("section.card", h("h2", "Patterns"), pricedPatterns(seen, patterns, [["Pattern", "pattern"], ["Calls", "number"], ["Read", "number"], ["Returned", "number"], ["Units", "number"], ["p99 ms", "number"], ["Errors", "lines"]],
      (p) => [h("span.mono", patternName(p)), number(p.calls), number(p.items_read), number(p.items_returned), units(p.read_units + p.write_units), (p.latency_ms?.p99 ?? 0).toFixed(2),
        Object.entries(p.errors ?? {}).map(([k, v]) => h("div", `${k} ${number(v)}`))], asked)),
    patterns.length ? h("div.cards.large", h("section.card", bars("Units by pattern", patterns.slice(0, 12).map((p) => [patternName(p), p.read_units + p.write_units]), "units")),
      h("section.card", bars("Latency by pattern, 99th percentile", patterns.slice(0, 12).map((p) => [patternName(p), p.latency_ms?.p99 ?? 0]), "ms")),
      h("section.card", bars("Item size by pattern, median", patterns.filter((p) => p.item_bytes).slice(0, 12).map((p) => [patternName(p), p.item_bytes?.median ?? 0]), "bytes")),
      h("section.card", heat(seen.tables))) : null);
  });
  load();
  return place;
}
