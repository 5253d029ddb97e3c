// The model: NoSQL Workbench's files in and out; the chart of entities, key templates and access patterns as a picture and as Markdown.
import { attempt, copy, dialog, download, field, fill, h, messageOf, number, svg } from "../core/dom.js";
import { api, control, describe, listTables, sampleTable, session } from "../core/api.js";
import { pivots } from "./collections.js";
import { entitiesOf } from "../ui/names.js";
import { summary, template } from "../model/keys.js";
import { entry } from "../model/shapes.js";
import { findingsTable } from "../ui/findings.js";
import { patternName, pricedPatterns, units } from "../ui/patterns.js";
import { entitiesOfPattern } from "../model/access.js";
import { programs } from "../model/caller.js";
import { fromWorkbench, toWorkbench } from "../model/workbench.js";
import { writeMany } from "../ui/import.js";
import { own } from "../model/types.js";

/**
 * @import { End, Insight, Item, Pattern, TableDescription } from "../types.d.ts"
 * @typedef {import("../model/entities.js").Type} Type
 * @typedef {{table: TableDescription, items: Item[], types: Type[]}} Study of a table
 */

const DATA = 500, SHOWN = 20; // items of a table in a file; tables

/**
 * Makes the tables of a model, and tells a line for each.
 * @param {string} text @param {(table: string, line: string) => void} tell
 */
async function importModel(text, tell) {
  const made = fromWorkbench(JSON.parse(text)), there = new Set(await listTables()), taken = made.map((m) => m.input.TableName).filter((name) => there.has(name));
  if (taken.length) throw new Error(`${taken.length === 1 ? "This table exists" : "These tables exist"} already: ${taken.join(", ")}. Nothing was imported: delete ${taken.length === 1 ? "it" : "them"}, or change the name in the model.`);
  for (const { input, items, billing, left } of made) {
    const name = input.TableName;
    try {
      await api("CreateTable", input);
    } catch (error) { throw new Error(`The table ${name} is not made: ${messageOf(error)}`, { cause: error }); }
    let written = 0;
    try {
      for (let wait = 50; (await describe(name)).TableStatus !== "ACTIVE"; wait = Math.min(wait * 2, 2000)) await new Promise((r) => setTimeout(r, wait));
      await writeMany(name, items, (n) => { written = n; });
    } catch (error) {
      tell(name, `${name}: ${number(written)} of ${number(items.length)} items, ${billing}`);
      throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
    }
    tell(name, `${name}: ${number(items.length)} ${items.length === 1 ? "item" : "items"}, ${billing}.${left.length ? ` Left out: ${left.join("; ")}.` : ""}`);
  }
}

/** What a sample of a table's items says of its entities: for each its templates of keys, per index too, and its attributes. @param {string} name @returns {Promise<Study>} */
async function study(name) {
  const { table, items } = await sampleTable(name), entities = entitiesOf(table, "auto", items);
  entities.add(items);
  for (const item of items) {
    const type = entities.of(item);
    for (const pivot of pivots(table)) {
      const values = pivot.KeySchema.flatMap((k) => own(item, k.AttributeName) ?? []);
      if (values.length < pivot.KeySchema.length) continue;
      const text = pivot.KeySchema.map((k, i) => `${k.AttributeName} = ${values[i].S ? template(String(values[i].S)) : `<${Object.keys(values[i])[0]}>`}`).join(", ");
      const of = entry(type.templates, pivot.name, () => new Map());
      of.set(text, (of.get(text) ?? 0) + 1);
    }
  }
  return { table, items, types: [...entities.types.values()] };
}

const keyNames = (/** @type {TableDescription} */ table) => new Set(pivots(table).flatMap((p) => p.KeySchema.map((k) => k.AttributeName)));

/** The chart as rows: entity, key template of the table, templates of indexes, attributes. @param {Study} study */
function rowsOf({ table, types }) {
  const keys = keyNames(table);
  return types.map((t) => ({ type: t, key: summary(t.templates.get("") ?? []), indexes: [...t.templates].filter(([n]) => n).map(([n, c]) => `${n}: ${summary(c)}`), attributes: t.attributes.filter((a) => !keys.has(a)) }));
}

/** @param {Study[]} studies @param {Pattern[]} patterns */
export function markdown(studies, patterns) {
  const cell = (/** @type {string} */ s) => String(s).replaceAll("|", "\\|").replaceAll("\n", " ");
  const code = (/** @type {string} */ s) => (s ? `\`${cell(s)}\`` : "");
  const tables = studies.map((s) => [`## Table ${s.table.TableName}`, "", "| entity | key | indexes | attributes |", "| --- | --- | --- | --- |",
    ...rowsOf(s).map((r) => `| ${cell(r.type.name)} | ${code(r.key)} | ${r.indexes.map(code).join("<br>")} | ${r.attributes.map(code).join(", ")} |`), ""].join("\n"));
  const seen = patterns.length ? ["## Access patterns", "", "| pattern | calls | units |", "| --- | ---: | ---: |", ...patterns.map((p) => `| ${code(patternName(p))} | ${p.calls} | ${Math.round((p.read_units + p.write_units) * 10) / 10} |`), ""].join("\n") : "";
  return `# Entity chart\n\n${tables.join("\n")}\n${seen}`.trimEnd() + "\n";
}

/** Text in a picture of its own has colours of its own: it may be shown on any page. @param {Study[]} studies @param {Pattern[]} patterns */
export function chart(studies, patterns) {
  const line = 18, width = 1060, parts = /** @type {Element[]} */ ([]), colours = ["#2557c7", "#0e6f5c", "#9a3412", "#7c2aa8", "#8a5a00", "#a61e5c", "#33691e", "#00667d", "#5b4bb5", "#6b4a3a", "#4a5568", "#8b1e1e"];
  let y = 12;
  /** @param {number} x @param {number} at @param {string} s @param {Record<string, string | number>} [attributes] */
  const text = (x, at, s, attributes = {}) => svg("text", { x, y: at, "font-family": "system-ui, sans-serif", "font-size": 12, fill: "#1b1f26", ...attributes }, s);
  const cut = (/** @type {string} */ s, /** @type {number} */ n) => (s.length > n ? `${s.slice(0, n - 1)}…` : s);
  const faint = { "font-size": 11, fill: "#59616e", class: "faint" };
  const mono = { "font-family": "ui-monospace, Menlo, Consolas, monospace", "font-size": 11 };
  for (const study of studies) {
    parts.push(text(16, y + 14, `Table ${study.table.TableName}`, { "font-size": 15, "font-weight": 600, "data-table": study.table.TableName }));
    y += 28;
    if (!study.types.length) { parts.push(text(16, y + 8, "There are no items yet.", faint)); y += 22; }
    rowsOf(study).forEach(({ type, key, indexes, attributes }) => {
      const lines = [["key", key], ...indexes.map((t) => ["index", t]), ["has", attributes.join(", ")]], height = lines.length * line + 14, digit = /--e(.)/.exec(type.colour)?.[1] ?? "0", colour = colours[parseInt(digit, 16)];
      parts.push(svg("rect", { x: 16, y, width: width - 32, height, rx: 6, fill: "#ffffff", stroke: "#d8dce2", class: "box" }), svg("rect", { x: 16, y, width: 5, height, rx: 2, fill: colour, class: `e${digit}` }),
        text(34, y + 21, cut(type.name, 24), { "font-weight": 600, fill: colour, class: `e${digit}` }), text(34, y + 37, `${number(type.count)} seen`, faint));
      lines.forEach(([what, s], k) => parts.push(text(220, y + 21 + k * line, what, faint), text(266, y + 21 + k * line, cut(s, 112), mono)));
      y += height + 8;
    });
    y += 10;
  }
  if (patterns.length) {
    parts.push(text(16, y + 14, "Access patterns", { "font-size": 15, "font-weight": 600 }));
    y += 28;
    for (const p of patterns) { parts.push(text(34, y + 12, cut(patternName(p), 128), mono), text(width - 20, y + 12, number(p.calls), { "text-anchor": "end", ...faint })); y += line; }
  }
  y += 12;
  return svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${y}`, width, height: y, role: "img", class: "chart", "aria-label": `Entity chart of ${studies.map((s) => s.table.TableName).join(", ")}` },
    svg("rect", { width, height: y, fill: "#f6f7f9", class: "paper" }), parts);
}

/** The access patterns of the tables: what each reads, who calls it, what it costs; and what to change. @param {Insight} seen @param {Pattern[]} patterns @param {Study[]} studies @param {{rate: string, by: string}} asked */
function accessView(seen, patterns, studies, asked) {
  const types = (/** @type {string} */ table) => studies.find((s) => s.table.TableName === table)?.types ?? [];
  const callers = (/** @type {Pattern} */ p) => programs([p.last?.caller, p.first?.caller]).map(({ name, whole }) => h("div", { title: whole.join("\n") }, name));
  return [h("section.card.gap", h("h2", "Access patterns"), patterns.length ? pricedPatterns(seen, patterns, [["Pattern", "pattern"], ["Entity", "word"], ["Index", "word"], ["Called by", "lines"], ["Calls", "number"], ["Units a call", "number"]], (p) => [
    h("span.mono", patternName({ ...p, index: undefined })), entitiesOfPattern(p, types(p.table)).join(", "), p.index ?? "", callers(p), number(p.calls), units((p.read_units + p.write_units) / Math.max(1, p.calls))], asked)
    : h("p.quiet", "No requests were seen yet: use the tables, then refresh.")),
  seen.findings.length ? h("section.card.gap", h("h2", "Findings"), findingsTable(seen.findings)) : null];
}

/** @param {HTMLElement} main @returns {Promise<End>} */
export async function show(main) {
  const place = h("div.body", { tabIndex: 0, role: "region", "aria-label": "Entity chart" }), state = h("span.quiet.middle", { role: "status" });
  let studies = /** @type {Study[]} */ ([]), patterns = /** @type {Pattern[]} */ ([]);
  const asked = { rate: "", by: "all" };
  const load = attempt(async (/** @type {string[]} */ wanted = []) => {
    const all = await listTables(), names = [...new Set([...all.slice(0, SHOWN), ...wanted.filter((name) => all.includes(name))])];
    state.textContent = "Reading …";
    studies = [];
    for (const name of names) studies.push(await study(name));
    const seen = session.facts.insight ? await control("GET", "insight") : null;
    patterns = seen?.patterns.sort((a, b) => b.calls - a.calls).slice(0, 60) ?? [];
    state.textContent = `${number(studies.flatMap((s) => s.types).length)} entity types in ${number(studies.length)} ${studies.length === 1 ? "table" : "tables"}${session.facts.insight ? "" : "; with --insight on, access patterns and their cost too"}`;
    fill(place, studies.length ? [chart(studies, []), seen && accessView(seen, patterns, studies, asked)] : h("div.empty", "There are no tables in this namespace yet."));
  });
  const told = h("div", { role: "status" }), result = h("div.tools.thin", { hidden: true }, told, h("span.push"), h("button.small", { type: "button", onclick: () => { result.hidden = true; } }, "Hide"));
  /** Says what was imported until it is hidden, and shows the first of the tables. @param {string[]} tables @param {string[]} lines */
  const showImported = async (tables, lines) => {
    if (!tables.length) return;
    fill(told, lines.map((line) => h("div", `Imported ${line}`)));
    result.hidden = false;
    await load(tables);
    const title = [...place.querySelectorAll("[data-table]")].find((e) => e.getAttribute("data-table") === tables[0]);
    if (title) place.scrollTop += title.getBoundingClientRect().top - place.getBoundingClientRect().top - 8; // scrollIntoView of a text in SVG scrolls the whole page too
  };
  const take = () => {
    const text = h("textarea", { rows: 10, spellcheck: false, placeholder: "{\"ModelName\": …, \"DataModel\": [ … ]}" }), said = h("div", { role: "status" }), problem = h("p.problem", { role: "alert" });
    /** @type {HTMLInputElement} */
    const file = h("input", { type: "file", accept: ".json,application/json", onchange: attempt(async () => { text.value = await file.files?.[0]?.text() ?? ""; problem.textContent = ""; }) });
    dialog("Import a model of NoSQL Workbench", [field("File", file), field("Or paste it here", text), problem, said], [["Import", "main", async () => {
      const tables = /** @type {string[]} */ ([]), lines = /** @type {string[]} */ ([]);
      problem.textContent = "";
      try {
        await importModel(text.value, (table, line) => { tables.push(table); lines.push(line); fill(said, lines.map((l) => h("p", l))); });
      } catch (error) { problem.textContent = messageOf(error); }
      await showImported(tables, lines);
      return !problem.textContent;
    }]]);
  };
  const give = async () => download("model.json", "application/json", JSON.stringify(toWorkbench(studies.map(({ table, items }) => ({ table, items: items.slice(0, DATA) }))), null, 2));
  const picture = () => download("entities.svg", "image/svg+xml", new XMLSerializer().serializeToString(chart(studies, patterns)));
  const text = () => {
    const made = markdown(studies, patterns);
    dialog("The chart as Markdown", h("pre", { tabIndex: 0 }, made), [["Copy", "", () => { copy(made); return false; }], ["Save the file", "main", () => download("entities.md", "text/markdown", made)]]);
  };
  main.append(h("div.tools", h("h1", "Model"), state, h("span.push"), h("button", { type: "button", onclick: () => load() }, "Refresh"), h("button", { type: "button", onclick: take }, "Import model"),
    h("button", { type: "button", onclick: attempt(give) }, "Export model"), h("button", { type: "button", onclick: picture }, "Picture"), h("button.main", { type: "button", onclick: text }, "Markdown")), result, place);
  await load();
  return undefined;
}
