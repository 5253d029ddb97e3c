// PartiQL: statements with completion of tables, indexes and attributes; the results as rows; what was asked before.
import { attempt, copy, field, fill, h, messageOf, note, number, tabs } from "../core/dom.js";
import { allTables, api, sampleTable } from "../core/api.js";
import { entitiesOf } from "../ui/names.js";
import { openItem } from "../ui/item.js";
import { cell, grid } from "../ui/grid.js";
import { unitsOf } from "../model/request.js";
import { brief, keyOf, ordered } from "../model/types.js";
import { counts, readMore } from "../ui/counts.js";
import { history, lastAddress } from "../ui/history.js";
import { identityChoice } from "../ui/identity.js";
import { explainInto } from "../ui/plan.js";
import { stay } from "../main.js";

/**
 * @import { End, Item, Parts, TableDescription } from "../types.d.ts"
 * @typedef {{indexes: string[], attributes: string[], table: TableDescription, isSampled?: boolean}} Entry of a table
 * @typedef {Map<string, Entry>} Schema by table
 */

const WORDS = ["SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "BETWEEN", "IN", "IS", "MISSING", "NULL", "ORDER BY", "ASC", "DESC", "INSERT INTO", "VALUE", "UPDATE", "SET", "REMOVE", "DELETE FROM",
  "RETURNING ALL OLD *", "EXISTS", "begins_with(", "contains(", "attribute_type(", "size("];
/** What could follow at the cursor: [text that replaces the word, kind], from the words before it. @param {string} before @param {Map<string, {indexes: string[], attributes: string[]}>} schema @returns {string[][]} */
export function completions(before, schema) {
  const word = /"?[\w.#$-]*$/.exec(before)?.[0] ?? "", rest = before.slice(0, before.length - word.length), bare = word.replaceAll('"', "").toLowerCase();
  const quotedName = (/** @type {string} */ n) => (/^[A-Za-z_]\w*$/.test(n) ? n : `"${n}"`);
  const isTable = /\b(from|into|update)\s+$/i.test(rest), ofTable = /\b(?:from|into|update)\s+"?([\w.-]+)"?\s*\.\s*$/i.exec(rest) ?? /\b(?:from|into|update)\s+"?([\w-]+)"?\."?$/i.exec(rest);
  const starts = (/** @type {string} */ n) => n.toLowerCase().startsWith(bare) && n.toLowerCase() !== bare;
  if (ofTable) return (schema.get(ofTable[1])?.indexes ?? []).filter(starts).map((n) => [`"${n}"`, "index"]);
  const dotted = /^"?([\w-]+)"?\.(.*)$/.exec(word);
  const named = dotted && schema.get(dotted[1]);
  if (named && /\b(from)\s+$/i.test(rest)) {
    return named.indexes.filter((n) => n.toLowerCase().startsWith(dotted[2].replaceAll('"', "").toLowerCase())).map((n) => [`"${dotted[1]}"."${n}"`, "index"]);
  }
  if (isTable) return [...schema.keys()].filter(starts).map((n) => [quotedName(n), "table"]);
  if (!bare) return [];
  const all = [...schema], used = all.filter(([n]) => before.toLowerCase().includes(n.toLowerCase()));
  const attributes = [...new Set((used.length ? used : all).flatMap(([, entry]) => entry.attributes))].filter(starts).map((n) => [quotedName(n), "attribute"]);
  return [...attributes, ...WORDS.filter(starts).map((w) => [w, "word"])].slice(0, 12);
}

/** Tables with their indexes and the attributes of keys. @param {Schema} schema */
async function loadSchema(schema) {
  for (const { Table: table } of await allTables()) {
    const name = table.TableName;
    const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])].map((i) => i.IndexName);
    schema.set(name, { indexes, attributes: table.AttributeDefinitions.map((a) => a.AttributeName), table });
  }
}

/** The attributes of a table's items, once a statement names it. @param {Schema} schema @param {string} text */
async function loadAttributes(schema, text) {
  for (const [name, entry] of schema) {
    if (entry.isSampled || !text.toLowerCase().includes(name.toLowerCase())) continue;
    entry.isSampled = true;
    const { items } = await sampleTable(name);
    entry.attributes = [...new Set([...entry.attributes, ...items.flatMap((i) => Object.keys(i))])];
  }
}

/** The list of completions of a text. @param {HTMLTextAreaElement} text @param {Schema} schema */
function completed(text, schema) {
  const list = h("div.suggest", { role: "listbox", id: "completions", hidden: true, "aria-label": "Completions" });
  let options = /** @type {string[][]} */ ([]), chosen = 0;
  const hide = () => { list.hidden = true; options = []; text.removeAttribute("aria-activedescendant"); };
  const mark = () => { [...list.children].forEach((o, i) => o.setAttribute("aria-selected", String(i === chosen))); text.setAttribute("aria-activedescendant", `completion${chosen}`); list.children[chosen]?.scrollIntoView({ block: "nearest" }); };
  const take = (/** @type {number} */ i) => {
    const at = text.selectionStart, before = text.value.slice(0, at), word = /"?[\w.#$"-]*$/.exec(before)?.[0] ?? "";
    const [insert] = options[i];
    text.setRangeText(insert, at - word.length, at, "end");
    hide();
    text.focus();
  };
  const look = () => {
    options = completions(text.value.slice(0, text.selectionStart), schema);
    if (!options.length) { hide(); return; }
    chosen = 0;
    fill(list, options.map(([t, kind], i) => h("div", { role: "option", id: `completion${i}`, onmousedown: (e) => { e.preventDefault(); take(i); } }, t, " ", h("span.quiet", kind))));
    list.hidden = false;
    mark();
  };
  text.addEventListener("input", () => {
    look();
    loadAttributes(schema, text.value).then(() => { if (document.activeElement === text && options.length === 0) look(); }, () => {}); // completion alone
  });
  text.addEventListener("blur", hide);
  text.addEventListener("keydown", (e) => {
    if (list.hidden) { if (e.key === " " && e.ctrlKey) { e.preventDefault(); look(); } return; }
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step) { e.preventDefault(); chosen = (chosen + step + options.length) % options.length; mark(); }
    else if (e.key === "Tab" || e.key === "Enter") { if (!(e.ctrlKey || e.metaKey)) { e.preventDefault(); e.stopImmediatePropagation(); take(chosen); } }
    else if (e.key === "Escape") { e.stopPropagation(); hide(); }
  });
  return list;
}

const clean = (/** @type {string} */ text) => text.trim().replace(/;$/, "");
/** The statement of an address of this view. */
const statementAt = (/** @type {string} */ address) => { try { return decodeURIComponent(address.split("/")[2] ?? ""); } catch { return ""; } };

/** Where to look for what SQL has and DynamoDB's PartiQL has not. @param {string} statement */
const groups = (statement) => (/\bGROUP\s+BY\b|\bCOUNT\s*\(/i.test(statement) ? "PartiQL for DynamoDB counts and groups nothing: select the items, and the tab Count groups those that were read." : "");

/** Two sentences, whether or not the server's has its full stop. @param {string} message @param {string} hint */
const withHint = (message, hint) => (hint ? `${message}${/[.!?]$/.test(message) ? "" : "."} ${hint}` : message);

/** @param {HTMLElement} main @param {Parts} parts @returns {Promise<End>} */
export async function show(main, [given = "", as = ""]) {
  const schema = /** @type {Schema} */ (new Map()), identity = await identityChoice(as, () => keepAddress());
  const text = h("textarea", { rows: 5, spellcheck: false, "aria-label": "PartiQL statement", "aria-autocomplete": "list", "aria-controls": "completions",
    placeholder: "SELECT * FROM app WHERE PK = 'CUSTOMER#1'", value: given || statementAt(lastAddress("partiql")) });
  const list = completed(text, schema), problem = h("p.problem", { role: "alert" }), figures = h("span.quiet.middle", { role: "status" });
  const plan = h("div", h("p.quiet", "Run or explain a statement to see what it reads."));
  let items = /** @type {Item[]} */ ([]), next = /** @type {string | undefined} */ (undefined), entities = entitiesOf({ TableName: "item", KeySchema: [] }), statement = "";
  const schemaOf = () => [...schema.values()].find((s) => statement.toLowerCase().includes(s.table.TableName.toLowerCase()))?.table;
  const edit = attempt(async (/** @type {Item} */ item) => {
    const table = schemaOf();
    if (!table || !table.KeySchema.every((k) => Object.hasOwn(item, k.AttributeName))) throw new Error("The statement leaves out the keys, so that the item cannot be opened.");
    const { Item } = await api("GetItem", { TableName: table.TableName, Key: keyOf(item, table), ConsistentRead: true });
    if (!Item) throw new Error("The item is no longer there.");
    openItem(table, Item, () => note("The result is that of before: run the statement again to see the change."));
  });
  const view = grid("Results", { count: () => items.length, empty: () => (!figures.textContent ? "" : next ? "This page has no items. There are more pages." : "The statement gave no items."), row: (i) => {
    const item = items[i], type = entities.of(item), keys = schemaOf()?.KeySchema.map((k) => k.AttributeName) ?? [];
    return { open: () => edit(item), cells: [h("div.cell.type.stick.narrow", { role: "gridcell", style: { color: type.colour } }, h("span", type.name)), Object.keys(ordered(item, keys)).map((n) => cell(n, brief(item[n])))] };
  } });
  const keepAddress = () => stay("partiql", text.value, ...(identity.key() ? [identity.key()] : []));
  const past = history("partiql", () => ({ address: location.hash, title: clean(text.value).replace(/\s+/g, " ") }));
  const explain = () => explainInto(plan, "ExecuteStatement", { Statement: clean(text.value) }, identity.key());
  const run = async (/** @type {string} */ token = "") => {
    problem.textContent = "";
    if (!token) {
      statement = clean(text.value);
      keepAddress();
      await explain(); // before a write, after which it would find another state
    }
    const began = performance.now();
    let reply;
    try {
      reply = await api("ExecuteStatement", { Statement: statement, ReturnConsumedCapacity: "INDEXES", ...(token ? { NextToken: token } : {}) }, { as: identity.key() });
    } catch (error) { problem.textContent = withHint(messageOf(error), groups(text.value)); return; }
    if (!token) { items = []; entities = entitiesOf(schemaOf() ?? { TableName: "item", KeySchema: [] }); }
    items.push(...(reply.Items ?? []));
    entities.add(reply.Items ?? []);
    next = reply.NextToken;
    more.disabled = !next;
    const said = `${number(items.length)} ${items.length === 1 ? "item" : "items"}, ${unitsOf(reply.ConsumedCapacity).text}`;
    figures.textContent = `${said}, ${(performance.now() - began).toFixed(0)} ms${next ? "; there are more pages" : ""}`;
    counted.tell();
    if (token) { view.refresh(); return; }
    past.add(said, identity.key());
    view.toTop();
  };
  const counted = counts({ keys: [], items: () => items, isAll: () => !next, entityOf: (item) => entities.of(item).name, readOn: (n) => readMore(n, () => items.length, () => next, run) });
  const more = h("button", { type: "button", disabled: true, onclick: attempt(() => run(next)) }, "Next page");
  text.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); attempt(() => run())(); } });
  text.addEventListener("change", keepAddress);
  main.append(h("div.tools", h("h1", "PartiQL"), h("span.quiet.middle", "Ctrl+Enter runs, Ctrl+Space completes"), identity.control && field("Run as", identity.control), h("span.push"), figures, more,
    h("button", { type: "button", title: "Of the statement as it stands", onclick: () => { keepAddress(); copy(location.href); } }, "Copy the link"),
    h("button", { type: "button", onclick: attempt(explain) }, "Explain"), h("button.main", { type: "button", onclick: attempt(() => run()) }, "Run")),
  h("div.editor", text, list, problem),
  h("div.split", view.element, h("aside.side.query", { tabIndex: 0, "aria-label": "Plan and history" }, tabs("The statement", [["Plan", () => plan], ["Count", () => counted.element], ["History", () => past.element]]))));
  loadSchema(schema).catch((error) => note(messageOf(error), true));
  return () => view.end();
}
