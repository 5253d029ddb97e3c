// The model: NoSQL Workbench's files in and out; the chart of entities, key templates and access patterns as a picture and as Markdown.
import { attempt, copy, dialog, download, field, fill, h, note, number, plainTable, svg } from "../core/dom.js";
import { api, control, describe, listTables, sampleTable, session } from "../core/api.js";
import { pivots } from "./collections.js";
import { entitiesOf } from "../ui/names.js";
import { summary, template } from "../model/keys.js";
import { entry } from "../model/shapes.js";
import { findingView } from "../ui/findings.js";
import { patternName, pricedPatterns, units } from "../ui/patterns.js";
import { entitiesOfPattern } from "../model/access.js";
import { own } from "../model/types.js";

/**
 * @import { AttributeDefinition, End, Insight, Item, KeySchema, Pattern, Projection, TableDescription, WriteRequests } from "../types.d.ts"
 * @typedef {import("../model/entities.js").Type} Type
 * @typedef {{table: TableDescription, items: Item[], types: Type[]}} Study of a table
 * @typedef {{PartitionKey: AttributeDefinition, SortKey?: AttributeDefinition}} KeyAttributes as NoSQL Workbench writes them
 * @typedef {{TableName: string, KeyAttributes: KeyAttributes, GlobalSecondaryIndexes?: {IndexName: string, KeyAttributes: KeyAttributes, Projection?: Projection}[], TableData?: Item[]}} Model of a table
 */

const DATA = 500, BATCH = 25;

/** @param {AttributeDefinition[]} definitions @param {string} name */
const attribute = (definitions, name) => ({ AttributeName: name, AttributeType: definitions.find((d) => d.AttributeName === name)?.AttributeType ?? "S" });
/** @param {KeySchema} schema @param {AttributeDefinition[]} definitions @returns {KeyAttributes} */
const keyOf = ([hash, range], definitions) =>
  ({ PartitionKey: attribute(definitions, hash.AttributeName), ...(range ? { SortKey: attribute(definitions, range.AttributeName) } : {}) });

/** Tables as NoSQL Workbench's model, with some of their items. @param {{table: TableDescription, items: Item[]}[]} tables */
export function toWorkbench(tables) {
  return {
    ModelName: "Dynalith", ModelMetadata: { Author: "", DateCreated: new Date().toISOString(), DateLastModified: new Date().toISOString(), Description: "", AWSService: "Amazon DynamoDB", Version: "3.0" },
    DataModel: tables.map(({ table: t, items }) => {
      const keys = new Set([t.KeySchema, ...(t.GlobalSecondaryIndexes ?? []).map((i) => i.KeySchema)].flat().map((k) => k.AttributeName));
      const others = new Map(items.flatMap((i) => Object.entries(i)).filter(([n]) => !t.KeySchema.some((k) => k.AttributeName === n)).map(([n, v]) => [n, Object.keys(v)[0]]));
      for (const n of keys) if (!t.KeySchema.some((k) => k.AttributeName === n)) others.set(n, attribute(t.AttributeDefinitions, n).AttributeType);
      return {
        TableName: t.TableName, KeyAttributes: keyOf(t.KeySchema, t.AttributeDefinitions),
        NonKeyAttributes: [...others].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })), TableFacets: [],
        GlobalSecondaryIndexes: (t.GlobalSecondaryIndexes ?? []).map((i) => ({ IndexName: i.IndexName, KeyAttributes: keyOf(i.KeySchema, t.AttributeDefinitions), Projection: i.Projection })),
        TableData: items, DataAccess: { MySql: {} }, BillingMode: t.BillingModeSummary?.BillingMode ?? "PROVISIONED",
      };
    }),
  };
}

/** NoSQL Workbench's model as CreateTable's inputs with their items. @param {unknown} model */
export function fromWorkbench(model) {
  const { DataModel } = Object(model);
  if (!Array.isArray(DataModel)) throw new Error("This is no model of NoSQL Workbench: DataModel is missing");
  return /** @type {Model[]} */ (DataModel).map((t) => {
    /** @param {KeyAttributes} key @returns {KeySchema} */
    const schema = ({ PartitionKey: p, SortKey: s }) => [{ AttributeName: p.AttributeName, KeyType: "HASH" }, ...(s ? [{ AttributeName: s.AttributeName, KeyType: "RANGE" }] : [])];
    const indexes = t.GlobalSecondaryIndexes ?? [], keys = [t, ...indexes].flatMap(({ KeyAttributes: { PartitionKey: p, SortKey: s } }) => (s ? [p, s] : [p]));
    return {
      input: { TableName: t.TableName, BillingMode: "PAY_PER_REQUEST", KeySchema: schema(t.KeyAttributes), AttributeDefinitions: [...new Map(keys.map((k) => [k.AttributeName, { AttributeName: k.AttributeName, AttributeType: k.AttributeType }])).values()],
        ...(indexes.length ? { GlobalSecondaryIndexes: indexes.map((i) => ({ IndexName: i.IndexName, KeySchema: schema(i.KeyAttributes), Projection: { ProjectionType: i.Projection?.ProjectionType ?? "ALL",
          ...(i.Projection?.ProjectionType === "INCLUDE" ? { NonKeyAttributes: i.Projection.NonKeyAttributes } : {}) } })) } : {}) },
      items: t.TableData ?? [],
    };
  });
}

/** @param {string} text @param {(line: string) => void} tell */
async function importModel(text, tell) {
  for (const { input, items } of fromWorkbench(JSON.parse(text))) {
    await api("CreateTable", input);
    for (let wait = 50; (await describe(input.TableName)).TableStatus !== "ACTIVE"; wait = Math.min(wait * 2, 2000)) await new Promise((r) => setTimeout(r, wait));
    for (let at = 0; at < items.length; at += BATCH) {
      let rest = /** @type {WriteRequests} */ ({ [input.TableName]: items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } })) });
      while (Object.keys(rest).length) rest = (await api("BatchWriteItem", { RequestItems: rest })).UnprocessedItems ?? {};
    }
    tell(`${input.TableName}: ${number(items.length)} items`);
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
    parts.push(text(16, y + 14, `Table ${study.table.TableName}`, { "font-size": 15, "font-weight": 600 }));
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
  const callers = (/** @type {Pattern} */ p) => [...new Set([p.last?.caller, p.first?.caller])].filter(Boolean).join(", ");
  return [h("section.card.gap", h("h2", "Access patterns"), patterns.length ? pricedPatterns(seen, patterns, [["Pattern"], ["Entity", "word"], ["Index", "word"], ["Called by"], ["Calls", "number"], ["Units a call", "number"]], (p) => [
    h("span.mono", patternName({ ...p, index: undefined })), entitiesOfPattern(p, types(p.table)).join(", "), p.index ?? "", callers(p), number(p.calls), units((p.read_units + p.write_units) / Math.max(1, p.calls))], asked)
    : h("p.quiet", "No requests were seen yet: use the tables, then refresh.")),
  seen.findings.length ? h("section.card.gap", h("h2", "Findings"), plainTable("Findings", [["Finding"], ["Where"], ["Units", "number"]], seen.findings.map((f) => [findingView(f), f.where, number(f.units)]))) : null];
}

/** @param {HTMLElement} main @returns {Promise<End>} */
export async function show(main) {
  const place = h("div.body", { tabIndex: 0, role: "region", "aria-label": "Entity chart" }), state = h("span.quiet.middle", { role: "status" });
  let studies = /** @type {Study[]} */ ([]), patterns = /** @type {Pattern[]} */ ([]);
  const asked = { rate: "", by: "all" };
  const load = attempt(async () => {
    const names = (await listTables()).slice(0, 20);
    state.textContent = "Reading …";
    studies = [];
    for (const name of names) studies.push(await study(name));
    const seen = session.facts.insight ? await control("GET", "insight") : null;
    patterns = seen?.patterns.sort((a, b) => b.calls - a.calls).slice(0, 60) ?? [];
    state.textContent = `${number(studies.flatMap((s) => s.types).length)} entity types in ${number(studies.length)} ${studies.length === 1 ? "table" : "tables"}${session.facts.insight ? "" : "; with --insight on, access patterns and their cost too"}`;
    fill(place, studies.length ? [chart(studies, []), seen && accessView(seen, patterns, studies, asked)] : h("div.empty", "There are no tables in this namespace yet."));
  });
  const take = () => {
    const text = h("textarea", { rows: 10, spellcheck: false, placeholder: "{\"ModelName\": …, \"DataModel\": [ … ]}" }), said = h("div", { role: "status" });
    /** @type {HTMLInputElement} */
    const file = h("input", { type: "file", accept: ".json,application/json", onchange: attempt(async () => { text.value = await file.files?.[0]?.text() ?? ""; }) });
    dialog("Import a model of NoSQL Workbench", [field("File", file), field("Or paste it here", text), said], [["Import", "main", async () => {
      await importModel(text.value, (line) => said.append(h("p", line)));
      note("The model is imported");
      await load();
    }]]);
  };
  const give = async () => download("model.json", "application/json", JSON.stringify(toWorkbench(studies.map(({ table, items }) => ({ table, items: items.slice(0, DATA) }))), null, 2));
  const picture = () => download("entities.svg", "image/svg+xml", new XMLSerializer().serializeToString(chart(studies, patterns)));
  const text = () => {
    const made = markdown(studies, patterns);
    dialog("The chart as Markdown", h("pre", { tabIndex: 0 }, made), [["Copy", "", () => { copy(made); return false; }], ["Save the file", "main", () => download("entities.md", "text/markdown", made)]]);
  };
  main.append(h("div.tools", h("h1", "Model"), state, h("span.push"), h("button", { type: "button", onclick: load }, "Refresh"), h("button", { type: "button", onclick: take }, "Import model"),
    h("button", { type: "button", onclick: attempt(give) }, "Export model"), h("button", { type: "button", onclick: picture }, "Picture"), h("button.main", { type: "button", onclick: text }, "Markdown")), place);
  await load();
  return undefined;
}
