// The query builder: a key condition, filters and a projection become a Query, a Scan or a GetItem; it shows items, units, the plan, and the request as code.
import { attempt, copy, field, fill, h, note, number, plainTable, select, tabs } from "./core/dom.js";
import { ROOT, api, control, listTables, sampleTable } from "./core/api.js";
import { codeFor, languages } from "./code.js";
import { pivots } from "./collections.js";
import { entitiesOf } from "./names.js";
import { cell, grid } from "./rows.js";
import { brief, keyOf, own } from "./model/types.js";
import { openItem } from "./item.js";
import { showAbsent, showGone } from "./absent.js";
import { findingView } from "./findings.js";
import { go, stay } from "./main.js";

const SORTS = [["", "any"], ["=", "is"], ["begins_with", "begins with"], ["<", "<"], ["<=", "≤"], [">", ">"], [">=", "≥"], ["BETWEEN", "between"]];
const FILTERS = [["=", "is"], ["<>", "is not"], ["<", "<"], ["<=", "≤"], [">", ">"], [">=", "≥"], ["BETWEEN", "between"], ["begins_with", "begins with"], ["contains", "contains"],
  ["attribute_exists", "is there"], ["attribute_not_exists", "is not there"]];
const TYPES = [["S", "String"], ["N", "Number"], ["B", "Binary"], ["BOOL", "Boolean"]];

/** Names and values of expressions, each once. */
class Placeholders {
  constructor() { this.names = {}; this.values = {}; }
  name(path) {
    return path.split(".").map((part) => {
      const [, bare, index] = /^(.*?)((?:\[\d+\])*)$/.exec(part);
      const old = Object.entries(this.names).find(([, n]) => n === bare);
      const key = old?.[0] ?? `#n${Object.keys(this.names).length}`;
      this.names[key] = bare;
      return key + index;
    }).join(".");
  }
  value(type, text) {
    const key = `:v${Object.keys(this.values).length}`;
    this.values[key] = { [type]: type === "BOOL" ? text === "true" : text };
    return key;
  }
  condition(path, operator, type, first, second) {
    const name = this.name(path);
    if (/exists/.test(operator)) return `${operator}(${name})`;
    if (operator === "BETWEEN") return `${name} BETWEEN ${this.value(type, first)} AND ${this.value(type, second)}`;
    if (/^[a-z]/.test(operator)) return `${operator}(${name}, ${this.value(type, first)})`;
    return `${name} ${operator} ${this.value(type, first)}`;
  }
  members() {
    return { ...(Object.keys(this.names).length ? { ExpressionAttributeNames: this.names } : {}), ...(Object.keys(this.values).length ? { ExpressionAttributeValues: this.values } : {}) };
  }
}

/** The request that a form describes: {operation, input}. */
export function build(table, pivot, form) {
  const typeOf = (n) => table.AttributeDefinitions.find((a) => a.AttributeName === n).AttributeType;
  const hash = pivot.KeySchema.filter((k) => k.KeyType === "HASH").map((k) => k.AttributeName), range = pivot.KeySchema.filter((k) => k.KeyType === "RANGE").map((k) => k.AttributeName);
  const isKeyed = form.hash.length > 0 && form.hash.every((v) => v !== "");
  const isWhole = isKeyed && !pivot.name && hash.length === 1 && form.filters.length === 0 && (range.length === 0 || (form.operator === "=" && form.first !== ""));
  const places = new Placeholders();
  const common = { TableName: table.TableName, ...(pivot.name ? { IndexName: pivot.name } : {}) };
  const projection = form.projection.split(",").map((p) => p.trim()).filter(Boolean);
  const tail = () => ({ ...(form.isConsistent ? { ConsistentRead: true } : {}) });
  if (isWhole) {
    const Key = { [hash[0]]: { [typeOf(hash[0])]: form.hash[0] }, ...(range.length ? { [range[0]]: { [typeOf(range[0])]: form.first } } : {}) };
    const ProjectionExpression = projection.map((p) => places.name(p)).join(", ");
    return { operation: "GetItem", input: { ...common, Key, ...(ProjectionExpression ? { ProjectionExpression } : {}), ...places.members(), ...tail() } };
  }
  const keys = isKeyed ? hash.map((n, i) => places.condition(n, "=", typeOf(n), form.hash[i])) : [];
  if (isKeyed && range.length && form.operator) keys.push(places.condition(range[0], form.operator, typeOf(range[0]), form.first, form.second));
  const filters = form.filters.map((f) => places.condition(f.name, f.operator, f.type, f.first, f.second));
  const ProjectionExpression = projection.map((p) => places.name(p)).join(", ");
  return {
    operation: isKeyed ? "Query" : "Scan",
    input: { ...common, ...(keys.length ? { KeyConditionExpression: keys.join(" AND ") } : {}), ...(filters.length ? { FilterExpression: filters.join(" AND ") } : {}),
      ...(ProjectionExpression ? { ProjectionExpression } : {}), ...places.members(), ...(isKeyed && form.isDescending ? { ScanIndexForward: false } : {}),
      ...(form.limit ? { Limit: Number(form.limit) } : {}), ...tail() },
  };
}

/** What the server says that the request does. */
export function planView(plan) {
  const figures = [["Answer", plan.error ? `${plan.status} ${plan.error.type}` : plan.status], ["Read units", plan.read_units], ["Write units", plan.write_units]];
  const accesses = (plan.accesses ?? []).map((a) => h("div.card", h("h2", [a.kind, a.table, a.index && `index ${a.index}`].filter(Boolean).join(" · ")),
    plainTable("Access", [["What", "tight"], ["How"]], [
      ["Key", a.key], ["Range", (a.range ?? []).map((r) => `${r.attribute} ${r.operator} ${(r.values ?? []).map((v) => (typeof v === "object" ? brief(v) : v)).join(" and ")}`).join(", ") || (a.kind === "Scan" ? "everything" : "")],
      ["Filter", a.filter], ["Projection", a.projection], ["How", a.how],
      ["Items", a.items_read === undefined ? "" : `${number(a.items_read)} read, ${number(a.items_filtered)} filtered, ${number(a.items_returned)} returned, ${number(a.bytes_read)} bytes`],
      ["Why a scan", a.why_scan]].filter(([, v]) => v).map(([k, v]) => [k, h("span.mono", v)]))));
  const better = [plan.better].flat().filter(Boolean).map((b) => h("p.warn", `Better: ${[b.operation, b.index && `index ${b.index}`, b.attribute && `key ${b.attribute}`].filter(Boolean).join(", ")}. ${b.why ?? ""}`));
  const findings = (plan.findings ?? []).map((f) => h("div.card", findingView(f)));
  const whole = plan.whole && h("p.quiet", `All pages: ${number(plan.whole.pages)}${plan.whole.is_cut ? " or more" : ""}, ${number(plan.whole.items_read)} items read, ${number(plan.whole.items_returned)} returned, ${plan.whole.read_units} read units.`);
  return h("div", h("div.row", figures.map(([k, v]) => v !== undefined && h("span.badge", `${k} ${v}`))), whole, accesses, better, findings,
    h("details", h("summary", "As JSON"), h("pre", JSON.stringify(plan, null, 2))));
}

function filterRow(remove, onchange) {
  const name = h("input", { type: "text", placeholder: "attribute", spellcheck: false, "aria-label": "Attribute", oninput: onchange });
  const first = h("input", { type: "text", placeholder: "value", "aria-label": "Value", oninput: onchange }), second = h("input", { type: "text", placeholder: "and", hidden: true, "aria-label": "Second value", oninput: onchange });
  const type = select(TYPES, "S", onchange, { "aria-label": "Type of the value" });
  const operator = select(FILTERS, "=", (v) => { second.hidden = v !== "BETWEEN"; first.hidden = type.hidden = /exists/.test(v); onchange(); }, { "aria-label": "Operator" });
  return { node: h("div.row", name, operator, type, first, second, h("button.small", { type: "button", onclick: remove, "aria-label": "Remove the filter" }, "Remove")),
    put(f) {
      [[name, f.name], [operator, f.operator], [type, f.type], [first, f.first], [second, f.second]].forEach(([control, v]) => { if (typeof v === "string") control.value = v; });
      second.hidden = operator.value !== "BETWEEN";
      first.hidden = type.hidden = /exists/.test(operator.value);
    },
    value: () => ({ name: name.value, operator: operator.value, type: type.value, first: first.value, second: second.value }) };
}

export async function show(main, [name, index = "", kept = ""]) {
  const names = await listTables();
  if (!names.length) {
    main.append(h("div.empty", h("p", "There are no tables in this namespace yet."), h("a", { href: "#/tables" }, "Create one")));
    return undefined;
  }
  if (!name) { go("query", names[0]); return undefined; }
  if (!names.includes(name)) { showAbsent(main, "query", name, names); return undefined; }
  const { table, items: sample } = await sampleTable(name), all = pivots(table), pivot = all.find((p) => p.name === index) ?? all[0];
  const hash = pivot.KeySchema.filter((k) => k.KeyType === "HASH").map((k) => k.AttributeName), range = pivot.KeySchema.filter((k) => k.KeyType === "RANGE").map((k) => k.AttributeName);
  const changed = () => write();
  const hashes = hash.map(() => h("input.short", { type: "text", spellcheck: false, oninput: changed }));
  const first = h("input.short", { type: "text", spellcheck: false, oninput: changed }), second = h("input.short", { type: "text", spellcheck: false, hidden: true, oninput: changed, "aria-label": "Upper end" });
  const operator = select(SORTS, "", (v) => { second.hidden = v !== "BETWEEN"; write(); });
  const projection = h("input.short", { type: "text", placeholder: "all", spellcheck: false, oninput: changed }), limit = h("input", { type: "number", min: 1, oninput: changed });
  const order = select([["", "ascending"], ["1", "descending"]], "", changed);
  const consistent = select([["", "eventual"], ["1", "strong"]], "", changed);
  const filters = [], place = h("div");
  const request = h("pre", { tabIndex: 0, "aria-label": "The request" }), kind = h("span.badge"), figures = h("span.quiet.middle", { role: "status" });
  const code = h("pre", { tabIndex: 0, "aria-label": "The request as code" }), plan = h("div", h("p.quiet", "Run or explain the request to see its plan."));
  let language = languages[0], asked, items = [], next = null, entities = entitiesOf(table, "auto", sample);

  const form = () => ({ hash: hashes.map((i) => i.value), operator: operator.value, first: first.value, second: second.value, filters: filters.map((f) => f.value()).filter((f) => f.name),
    projection: projection.value, limit: limit.value, isDescending: Boolean(order.value), isConsistent: Boolean(consistent.value) });
  let isWhole = false; // the form is as the address says
  function write() {
    if (isWhole) stay("query", name, pivot.name, JSON.stringify(form()));
    asked = build(table, pivot, form());
    kind.textContent = asked.operation;
    request.textContent = JSON.stringify(asked.input, null, 2);
    code.textContent = codeFor(language, asked.operation, asked.input, ROOT.origin);
  }
  const run = async (start) => {
    try { await ask(start); } catch (error) {
      if (!(await showGone(main, "query", name, error))) throw error;
    }
  };
  const ask = async (start) => {
    const input = { ...asked.input, ReturnConsumedCapacity: "INDEXES", ...(start ? { ExclusiveStartKey: start } : {}) };
    const began = performance.now(), reply = await api(asked.operation, input), ms = performance.now() - began;
    const got = asked.operation === "GetItem" ? (reply.Item ? [reply.Item] : []) : reply.Items;
    if (!start) { items = []; entities = entitiesOf(table, "auto", sample); }
    items.push(...got);
    entities.add(got);
    next = reply.LastEvaluatedKey ?? null;
    more.disabled = !next;
    figures.textContent = `${number(reply.ScannedCount ?? got.length)} read, ${number(got.length)} returned, ${reply.ConsumedCapacity?.CapacityUnits ?? 0} units, ${ms.toFixed(0)} ms${next ? "; there are more pages" : ""}`;
    if (start) view.refresh(); else view.toTop();
    if (!start) await explain();
  };
  async function explain() {
    try { fill(plan, planView(await control("POST", "explain", { operation: asked.operation, request: asked.input }))); } catch (error) {
      fill(plan, h("p.quiet", error.status === 404 ? "This server does not explain requests." : error.message));
    }
  }
  const keys = table.KeySchema.map((k) => k.AttributeName);
  const columns = (type) => [...new Set([...pivot.KeySchema.map((k) => k.AttributeName), ...type.attributes])].filter((n) => !keys.includes(n)).slice(0, 24);
  const edit = attempt(async (item) => {
    if (!keys.every((k) => Object.hasOwn(item, k))) throw new Error("The projection leaves out the keys, so that the item cannot be opened.");
    openItem(table, (await api("GetItem", { TableName: name, Key: keyOf(item, table), ConsistentRead: true })).Item ?? item, () => run());
  });
  const view = grid("Items", { count: () => items.length, row: (i) => {
    const item = items[i], type = entities.of(item);
    return { cells: [h("div.cell.type.stick.narrow", { role: "gridcell", title: type.name, style: { color: type.colour } }, h("span", type.name)), keys.map((n) => cell(n, brief(own(item, n)), "wide")),
      columns(type).map((n) => (Object.hasOwn(item, n) ? cell(n, brief(item[n])) : h("div.cell", { role: "gridcell" })))], open: () => edit(item) };
  } });
  const more = h("button", { type: "button", disabled: true, onclick: attempt(() => run(next)) }, "Next page");
  const add = (filter) => {
    const row = filterRow(() => { filters.splice(filters.indexOf(row), 1); row.node.remove(); write(); }, changed);
    filters.push(row);
    place.append(row.node);
    if (filter) row.put(filter); else row.node.querySelector("input").focus();
  };
  const codes = h("div", h("div.row", select(languages, language, (v) => { language = v; write(); }, { "aria-label": "Language" }), h("button.small", { type: "button", onclick: () => copy(code.textContent) }, "Copy")), code);
  const side = h("aside.side.query", { tabIndex: 0, "aria-label": "The request" }, tabs("The request", [["Plan", () => plan], ["Code", () => codes], ["Request", () => h("div", request)]]));
  const typed = (n) => `${n} (${table.AttributeDefinitions.find((a) => a.AttributeName === n).AttributeType})`;
  /** The form of an address. What is none of ours is left out. */
  function restore(text) {
    let f;
    try { f = Object(JSON.parse(text || "{}")); } catch { note("The address has no query that can be read", true); return; }
    const put = (control, v) => { if (typeof v === "string" || typeof v === "number") control.value = v; };
    hashes.forEach((control, i) => put(control, f.hash?.[i]));
    [[operator, f.operator], [first, f.first], [second, f.second], [projection, f.projection], [limit, f.limit],
      [order, f.isDescending ? "1" : ""], [consistent, f.isConsistent ? "1" : ""]].forEach(([control, v]) => put(control, v));
    second.hidden = operator.value !== "BETWEEN";
    for (const filter of Array.isArray(f.filters) ? f.filters : []) if (filter && typeof filter === "object") add(filter);
  }
  const head = h("form.builder", { onsubmit: (e) => { e.preventDefault(); attempt(run)(); } },
    h("div.tools", h("h1", "Query"), field("Table", select(names, name, (v) => go("query", v))),
      field("Read", select(all.map((p) => [p.name, p.name || "the table"]), pivot.name, (v) => go("query", name, ...(v ? [v] : [])))),
      hash.map((n, i) => field(`Partition key ${typed(n)}`, hashes[i])), range.length ? [field(`Sort key ${typed(range[0])}`, operator), field("Value", first), second] : [],
      field("Order", order), field("Limit", limit), field("Attributes", projection), field("Consistency", consistent)),
    h("div.tools", h("button", { type: "button", onclick: () => add() }, "Add a filter"), place, h("div.row.push", figures, kind, more,
      h("button", { type: "button", onclick: attempt(explain) }, "Explain"), h("button.main", { type: "submit" }, "Run"))));
  main.append(head, h("div.split", view.element, side));
  limit.style.width = "80px";
  restore(kept);
  write();
  isWhole = true;
  return () => view.end();
}
