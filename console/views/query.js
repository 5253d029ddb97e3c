// The query builder: a key condition, filters and a projection become a Query, a Scan or a GetItem; it shows items, units, the plan, the request as code, and what was asked before.
import { attempt, copy, field, focusOn, h, messageOf, note, number, select, tabs } from "../core/dom.js";
import { api, listTables, sampleTable, session, whereFrom } from "../core/api.js";
import { codeFor, languages } from "../ui/code.js";
import { pivots } from "./collections.js";
import { entitiesOf } from "../ui/names.js";
import { cell, grid } from "../ui/grid.js";
import { brief, keyOf, keyType, own } from "../model/types.js";
import { openItem } from "../ui/item.js";
import { noTables, showAbsent, showGone } from "../ui/absent.js";
import { build, keysOf, pattern, unitsOf } from "../model/request.js";
import { history } from "../ui/history.js";
import { identityChoice } from "../ui/identity.js";
import { counts, readMore } from "../ui/counts.js";
import { exportItems } from "../ui/export.js";
import { explainInto } from "../ui/plan.js";
import { selection } from "../ui/selection.js";
import { go, stay } from "../main.js";

/**
 * @import { End, Item, Parts } from "../types.d.ts"
 * @typedef {import("../model/request.js").Filter} Filter
 * @typedef {import("../model/request.js").Form & {as: string}} Form and in whose name it is asked
 * @typedef {import("../model/entities.js").Type} Type
 * @typedef {{[Name in keyof Form]?: unknown}} Given of an address, which may say anything
 */

const SORTS = [["", "any"], ["=", "is"], ["begins_with", "begins with"], ["<", "<"], ["<=", "≤"], [">", ">"], [">=", "≥"], ["BETWEEN", "between"]];
const FILTERS = [["=", "is"], ["<>", "is not"], ["<", "<"], ["<=", "≤"], [">", ">"], [">=", "≥"], ["BETWEEN", "between"], ["begins_with", "begins with"], ["contains", "contains"],
  ["attribute_exists", "is there"], ["attribute_not_exists", "is not there"]];
const SCANNED = 1000; // items of a table that a link may scan
const TYPES = [["S", "String"], ["N", "Number"], ["B", "Binary"], ["BOOL", "Boolean"]];

/** The types of the attributes that a sample has: of each the one that it has first. @param {Item[]} sample */
function typesIn(sample) {
  const types = /** @type {Map<string, string>} */ (new Map());
  for (const item of sample) for (const [name, value] of Object.entries(item)) if (!types.has(name)) types.set(name, Object.keys(value)[0]);
  return types;
}

/** The controls of a filter; an attribute that is known brings its type. @param {() => void} remove @param {() => void} onchange @param {Map<string, string>} known */
function filterRow(remove, onchange, known) {
  const bring = () => {
    const its = known.get(name.value) ?? "";
    if (TYPES.some(([t]) => t === its)) type.value = its;
    onchange();
  };
  const name = h("input", { type: "text", placeholder: "attribute", spellcheck: false, autocomplete: "off", list: "attributes", "aria-label": "Attribute", oninput: bring });
  const first = h("input", { type: "text", placeholder: "value", "aria-label": "Value", oninput: onchange }), second = h("input", { type: "text", placeholder: "and", hidden: true, "aria-label": "Second value", oninput: onchange });
  const type = select(TYPES, "S", onchange, { "aria-label": "Type of the value" });
  const operator = select(FILTERS, "=", (v) => { second.hidden = v !== "BETWEEN"; first.hidden = type.hidden = /exists/.test(v); onchange(); }, { "aria-label": "Operator" });
  return { node: h("div.row", name, operator, type, first, second, h("button.small", { type: "button", onclick: remove, "aria-label": "Remove the filter" }, "Remove")),
    /** Shows a filter of an address. @param {{[Name in keyof Filter]?: unknown}} f */
    put(f) {
      put(name, f.name);
      put(operator, f.operator);
      put(type, f.type);
      put(first, f.first);
      put(second, f.second);
      second.hidden = operator.value !== "BETWEEN";
      first.hidden = type.hidden = /exists/.test(operator.value);
    },
    value: () => ({ name: name.value, operator: operator.value, type: type.value, first: first.value, second: second.value }) };
}

/** Shows what an address gives for a control, where it can. @param {HTMLInputElement | HTMLSelectElement} control @param {unknown} v */
function put(control, v) { if (typeof v === "string" || typeof v === "number") control.value = String(v); }

/** The form of an address. What is none of ours is left out. @param {string} address @returns {Given} */
function givenIn(address) {
  try { return Object(JSON.parse(address || "{}")); } catch {
    note("The address has no query that can be read", true);
    return {};
  }
}

/** @param {HTMLElement} main @param {Parts} parts @returns {Promise<End>} */
export async function show(main, [name, index = "", kept = ""]) {
  const names = await listTables();
  if (!names.length) {
    main.append(await noTables("query"));
    return undefined;
  }
  if (!name) { go("query", names.includes(session.table) ? session.table : names[0]); return undefined; }
  if (!names.includes(name)) { showAbsent(main, "query", name, names); return undefined; }
  session.table = name;
  const { table, items: sample } = await sampleTable(name), all = pivots(table), pivot = all.find((p) => p.name === index) ?? all[0];
  const hash = keysOf(pivot, "HASH"), range = keysOf(pivot, "RANGE"), given = givenIn(kept), identity = await identityChoice(given.as, () => write());
  const changed = () => write();
  const hashes = hash.map(() => h("input.short", { type: "text", spellcheck: false, oninput: changed }));
  const first = h("input.short", { type: "text", spellcheck: false, oninput: changed }), second = h("input.short", { type: "text", spellcheck: false, hidden: true, oninput: changed, "aria-label": "Upper end" });
  const operator = select(SORTS, "", (v) => { second.hidden = v !== "BETWEEN"; write(); });
  const projection = h("input.short", { type: "text", placeholder: "all", spellcheck: false, oninput: changed }), limit = h("input", { type: "number", min: "1", oninput: changed });
  const order = select([["", "ascending"], ["1", "descending"]], "", changed);
  const isGlobal = (table.GlobalSecondaryIndexes ?? []).some((i) => i.IndexName === pivot.name);
  const consistent = select([["", "eventual"], ...(isGlobal ? [] : [["1", "strong"]])], "", changed);
  if (isGlobal) consistent.title = "Reads of a global index are eventually consistent";
  const known = typesIn(sample), suggestions = h("datalist", { id: "attributes" }, [...known.keys()].sort().map((n) => h("option", { value: n })));
  const filters = /** @type {ReturnType<typeof filterRow>[]} */ ([]), place = h("div"), problem = h("p.problem", { role: "alert" });
  const request = h("pre", { tabIndex: 0, "aria-label": "The request" }), kind = h("span.badge"), figures = h("span.quiet.middle", { role: "status" });
  const code = h("pre.code", { tabIndex: 0, "aria-label": "The request as code" }), plan = h("div", h("p.quiet", "Run or explain the request to see its plan."));
  let language = languages[0], items = /** @type {Item[]} */ ([]), next = /** @type {Item | undefined} */ (undefined), entities = entitiesOf(table, "auto", sample);

  const form = () => ({ hash: hashes.map((i) => i.value), operator: operator.value, first: first.value, second: second.value, filters: filters.map((f) => f.value()).filter((f) => f.name),
    projection: projection.value, limit: limit.value, isDescending: Boolean(order.value), isConsistent: Boolean(consistent.value), ...(identity.key() ? { as: identity.key() } : {}) });
  let asked = build(table, pivot, form());
  let isWhole = false; // the form is as the address says
  function write() {
    if (isWhole) stay("query", name, pivot.name, JSON.stringify(form()));
    asked = build(table, pivot, form());
    kind.textContent = asked.operation;
    request.textContent = JSON.stringify(asked.input, null, 2);
    code.textContent = codeFor(language, asked.operation, asked.input, whereFrom());
  }
  const past = history("query", () => ({ address: location.hash, title: [asked.operation, name, pattern(asked.input).text].filter(Boolean).join(" ") }));
  const run = async (/** @type {Item | undefined} */ start = undefined) => {
    problem.textContent = "";
    try { await ask(start); } catch (error) {
      if (await showGone(main, "query", name, error)) return;
      problem.textContent = messageOf(error);
      if (!start) { // what the request before this one found is no answer to it
        items = [];
        next = undefined;
        figures.textContent = "";
        more.disabled = out.disabled = true;
        counted.tell();
        view.toTop();
      }
      await explain();
    }
  };
  const ask = async (/** @type {Item | undefined} */ start) => {
    const input = { ...asked.input, ReturnConsumedCapacity: "INDEXES", ...(start ? { ExclusiveStartKey: start } : {}) };
    const began = performance.now(), reply = await api(asked.operation, input, { as: identity.key() }), ms = performance.now() - began;
    const got = asked.operation === "GetItem" ? (reply.Item ? [reply.Item] : []) : reply.Items ?? [];
    if (!start) { items = []; entities = entitiesOf(table, "auto", sample); }
    items.push(...got);
    entities.add(got);
    next = reply.LastEvaluatedKey;
    more.disabled = !next;
    const said = `${number(reply.ScannedCount ?? got.length)} read, ${number(got.length)} returned, ${unitsOf(reply.ConsumedCapacity).text}`;
    figures.textContent = `${said}, ${ms.toFixed(0)} ms${next ? "; there are more pages" : ""}`;
    counted.tell();
    out.disabled = !items.length;
    if (start) { view.refresh(); return; }
    past.add(said, identity.key());
    chosen.forget();
    view.toTop();
    await explain();
  };
  const explain = () => explainInto(plan, asked.operation, asked.input, identity.key());
  const keys = table.KeySchema.map((k) => k.AttributeName);
  const columns = (/** @type {Type} */ type) => [...new Set([...pivot.KeySchema.map((k) => k.AttributeName), ...type.attributes])].filter((n) => !keys.includes(n)).slice(0, 24);
  const edit = attempt(async (/** @type {Item} */ item) => {
    if (!keys.every((k) => Object.hasOwn(item, k))) throw new Error("The projection leaves out the keys, so that the item cannot be opened.");
    openItem(table, (await api("GetItem", { TableName: name, Key: keyOf(item, table), ConsistentRead: true })).Item ?? item, () => run());
  });
  const view = grid("Items", { count: () => items.length, empty: () => (!figures.textContent ? "" : next ? "This page has no items. There are more pages." : "The request found no items."), row: (i) => {
    const item = items[i], type = entities.of(item), isWhole = keys.every((k) => Object.hasOwn(item, k));
    return { toggle: () => isWhole && chosen.toggle([item]), cells: [isWhole && chosen.box([item], `Choose ${Object.values(keyOf(item, table)).map((v) => brief(v)).join(" · ")}`), h("div.cell.type.stick.narrow", { role: "gridcell", title: type.name, style: { color: type.colour } }, h("span", type.name)), keys.map((n) => cell(n, brief(own(item, n)), "wide")),
      columns(type).map((n) => (Object.hasOwn(item, n) ? cell(n, brief(item[n])) : h("div.cell", { role: "gridcell" })))], open: () => edit(item) };
  } });
  const chosen = selection(table, attempt(() => run()), () => { view.refresh(); view.element.focus({ preventScroll: true }); }, () => items, true);
  const counted = counts({ keys: [...new Set([...keys.filter((n) => !hash.includes(n)), ...range, ...hash])], items: () => items, isAll: () => !next, entityOf: (item) => entities.of(item).name,
    readOn: (n) => readMore(n, () => items.length, () => next, run), open: (by, value) => (by === keys[0] ? () => go("collections", name, "", value) : by === hash[0] ? () => go("collections", name, pivot.name, value) : undefined) });
  const out = h("button", { type: "button", disabled: true, onclick: () => exportItems(name, items, !next) }, "Export");
  const more = h("button", { type: "button", disabled: true, onclick: attempt(() => run(next)) }, "Next page");
  const add = (/** @type {object | undefined} */ filter = undefined) => {
    const row = filterRow(() => { filters.splice(filters.indexOf(row), 1); row.node.remove(); write(); }, changed, known);
    filters.push(row);
    place.append(row.node);
    if (filter) row.put(filter); else focusOn(row.node, "input");
  };
  const codes = h("div", h("div.row", select(languages, language, (v) => { language = v; write(); }, { "aria-label": "Language" }), h("button.small", { type: "button", onclick: () => copy(code.textContent ?? "") }, "Copy")), code);
  const views = tabs("The request", [["Plan", () => plan], ["Code", () => codes], ["Request", () => h("div", request)], ["Count", () => counted.element], ["History", () => past.element]]);
  const side = h("aside.side.query", { tabIndex: 0, "aria-label": "The request" }, views);
  const typed = (/** @type {string} */ n) => `${n} (${keyType(table, n)})`;
  /** @param {Given} f */
  function restore(f) {
    hashes.forEach((control, i) => put(control, Object(f.hash)[i]));
    put(operator, f.operator);
    put(first, f.first);
    put(second, f.second);
    put(projection, f.projection);
    put(limit, f.limit);
    put(order, f.isDescending ? "1" : "");
    put(consistent, f.isConsistent ? "1" : "");
    second.hidden = operator.value !== "BETWEEN";
    for (const filter of Array.isArray(f.filters) ? f.filters : []) if (filter && typeof filter === "object") add(filter);
  }
  const head = h("form.builder", { onsubmit: (e) => { e.preventDefault(); attempt(() => run())(); } },
    h("div.tools", h("h1", "Query"), field("Table", select(names, name, (v) => go("query", v))),
      field("Read", select(all.map((p) => [p.name, p.name || "the table"]), pivot.name, (v) => go("query", name, ...(v ? [v] : [])))),
      hash.map((n, i) => field(`Partition key ${typed(n)}`, hashes[i])), range.length ? [field(`Sort key ${typed(range[0])}`, operator), field("Value", first), second] : [],
      field("Order", order), field("Limit", limit), field("Attributes", projection), field("Consistency", consistent), identity.control && field("Run as", identity.control)),
    h("div.tools", h("button", { type: "button", onclick: () => add() }, "Add a filter"), suggestions, place, h("div.row.push", figures, kind, more, out,
      h("button", { type: "button", title: "Of the request as it stands: whoever opens it sees what it finds", onclick: () => copy(location.href) }, "Copy the link"),
      h("button", { type: "button", onclick: attempt(async () => { problem.textContent = ""; views.choose("Plan"); await explain(); }) }, "Explain"), h("button.main", { type: "submit" }, "Run"))));
  main.append(head, problem, h("div.split", view.element, side), chosen.bar);
  limit.style.width = "80px";
  restore(given);
  write();
  isWhole = true;
  if (Object.keys(given).length && (asked.operation !== "Scan" || (table.ItemCount ?? 0) <= SCANNED)) attempt(() => run())(); // a link opens what it was made of
  return () => view.end();
}
