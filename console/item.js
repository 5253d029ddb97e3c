// The editor of an item: native or DynamoDB JSON, checked while it is typed, saved only where nobody else has changed the item meanwhile. And the import of many.
import { copy, dialog, field, fill, h, note, number, select } from "./core/dom.js";
import { api } from "./core/api.js";
import { isTyped, keyOf, keyProblem, ordered, parse, print, readItem, same, toAttribute, writeItem } from "./model/types.js";

const COMPARED = 120; // attributes that a condition names, keys among them; AWS: an expression has 4 KB and 300 operators
const BATCH = 25;

/** Lines that differ, by the longest common subsequence. */
export function diff(before, after) {
  const a = before.split("\n"), b = after.split("\n");
  if (a.length * b.length > 4e6) return h("div.diff", h("div.gone", before), h("div.added", after));
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const lines = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push(h("div", `  ${a[i]}`)); i++; j++; }
    else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) lines.push(h("div.gone", `- ${a[i++]}`));
    else lines.push(h("div.added", `+ ${b[j++]}`));
  }
  return h("div.diff", lines);
}

/** The attributes of which two items have different ones, or only one has one. */
function differing(a, b) {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.filter((n) => !Object.hasOwn(a, n) || !Object.hasOwn(b, n) || !same(a[n], b[n]));
}

/**
 * The condition that these attributes are still as they were: a value each, or not there. An item
 * with more attributes than a condition takes is compared by those that the edit changes.
 */
function unchanged(base, attributes, table) {
  const names = {}, values = {}, parts = [];
  const keys = table.KeySchema.map((k) => k.AttributeName); // an item is there
  [...new Set([...keys, ...attributes])].forEach((n, i) => {
    names[`#a${i}`] = n;
    if (!Object.hasOwn(base, n)) { parts.push(`attribute_not_exists(#a${i})`); return; }
    values[`:a${i}`] = base[n];
    parts.push(`#a${i} = :a${i}`);
  });
  return { TableName: table.TableName, ConditionExpression: parts.join(" AND "), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
}

/** Throws as a failed condition does, unless the item is still the one that was read. */
async function compareWhole(table, key, base) {
  const now = (await api("GetItem", { TableName: table.TableName, Key: key, ConsistentRead: true })).Item ?? null;
  if (!now || !same(now, base)) throw Object.assign(new Error("The item has changed"), { type: "ConditionalCheckFailedException", body: { Item: now } });
}

/**
 * Writes an edit. A small item is compared whole, in the condition. Of a large one the whole is
 * compared by a read, and the condition and the write have the changed attributes alone: what others
 * change between the two stays.
 */
async function writeEdit(table, base, item) {
  const all = [...new Set([...Object.keys(base), ...Object.keys(item)])];
  if (all.length <= COMPARED) { await api("PutItem", { ...unchanged(base, all, table), Item: item }); return; }
  const changed = differing(base, item);
  if (!changed.length) return;
  if (changed.length > COMPARED - 2) throw new Error(`${number(changed.length)} attributes differ, and a condition compares ${COMPARED - 2} at most: save the change in parts`);
  const key = keyOf(base, table);
  await compareWhole(table, key, base);
  const input = { ...unchanged(base, changed, table), Key: key }, sets = [], removes = [];
  changed.forEach((n, i) => {
    input.ExpressionAttributeNames[`#c${i}`] = n;
    if (!Object.hasOwn(item, n)) { removes.push(`#c${i}`); return; }
    input.ExpressionAttributeValues[`:c${i}`] = item[n];
    sets.push(`#c${i} = :c${i}`);
  });
  input.UpdateExpression = [sets.length && `SET ${sets.join(", ")}`, removes.length && `REMOVE ${removes.join(", ")}`].filter(Boolean).join(" ");
  await api("UpdateItem", input);
}

/** Deletes what was read. A large item is compared whole by a read before, and by a part in the condition. */
async function deleteRead(table, base) {
  const names = Object.keys(base), key = keyOf(base, table);
  if (names.length > COMPARED) await compareWhole(table, key, base);
  await api("DeleteItem", { ...unchanged(base, names.slice(0, COMPARED - 2), table), Key: key });
}

const absent = (table) => ({ TableName: table.TableName, ConditionExpression: "attribute_not_exists(#k)", ExpressionAttributeNames: { "#k": table.KeySchema[0].AttributeName },
  ReturnValuesOnConditionCheckFailure: "ALL_OLD" });

/** A first draft: the keys, empty. */
function blank(table) {
  return Object.fromEntries(table.KeySchema.map(({ AttributeName: n }) => [n, { [table.AttributeDefinitions.find((d) => d.AttributeName === n).AttributeType]: "" }]));
}

/** Opens an item as it is in the table, or a new one (`base` null, `draft` what it begins with). `done` is called after each change. */
export function openItem(table, base, done, draft = base ?? blank(table)) {
  const keys = table.KeySchema.map((k) => k.AttributeName), order = (item) => ordered(item, keys);
  let form = "native", isWhole = true, shown = ""; // as the page wrote it
  const text = h("textarea", { rows: 18, spellcheck: false, "aria-label": "The item as JSON" });
  const problem = h("p.problem", { role: "alert" }), conflict = h("div"), said = h("span.quiet.push");

  /** The item that was typed, or null with the problem shown. */
  function read() {
    let item = null, wrong = "";
    try { item = readItem(text.value, form); wrong = keyProblem(item, table); } catch (error) { wrong = error.message; }
    problem.textContent = wrong;
    text.setAttribute("aria-invalid", Boolean(wrong));
    isWhole = !wrong;
    save.disabled = !isWhole;
    said.textContent = item && !wrong ? `${number(new TextEncoder().encode(JSON.stringify(item)).length)} bytes of JSON${base && !same(keyOf(item, table), keyOf(base, table)) ? "; another key: a new item, the old one stays" : ""}` : "";
    return wrong ? null : item;
  }

  /** Somebody else was there first: what they did, and what to do about it. Nothing is overwritten. */
  function collide(theirs, mine) {
    const written = (item) => (item ? writeItem(order(item), form) : "");
    fill(conflict, h("div", { role: "alert" }, h("h3", theirs ? "The item has changed meanwhile. Nothing was saved." : "The item was deleted meanwhile. Nothing was saved.")),
      h("p.quiet", "From what was opened to what is there now:"), diff(written(base), written(theirs)),
      h("div.row", h("button", { type: "button", onclick: () => { base = theirs; shown = text.value = written(theirs ?? mine); fill(conflict); read(); } }, "Take theirs"),
        h("button", { type: "button", onclick: () => { base = theirs; fill(conflict, h("p.quiet", "Yours is compared with the present item now. Look at it, then save.")); read(); } }, "Keep mine to save again")));
    conflict.scrollIntoView();
    return false;
  }

  async function store() {
    const item = read();
    if (!item) return false;
    const isNew = !base || !same(keyOf(item, table), keyOf(base, table));
    try {
      if (isNew) await api("PutItem", { ...absent(table), Item: item });
      else await writeEdit(table, base, item);
    } catch (error) {
      if (error.type !== "ConditionalCheckFailedException") throw error;
      if (isNew) { problem.textContent = "There is an item with this key already. Nothing was saved."; return false; }
      return collide(error.body.Item ?? null, item);
    }
    note("Saved");
    done();
    return true;
  }

  async function remove() {
    try {
      await deleteRead(table, base);
    } catch (error) {
      if (error.type !== "ConditionalCheckFailedException") throw error;
      return collide(error.body.Item ?? null, base);
    }
    note("Deleted");
    done();
    return true;
  }

  const forms = ["native", "dynamodb"].map((name) => h("button.small", { type: "button", "aria-pressed": name === form, onclick: () => {
    const item = form === name ? null : read();
    if (!item && form !== name) return;
    const isEdited = text.value !== shown;
    if (item) text.value = writeItem(order(item), name);
    if (!isEdited) shown = text.value;
    form = name;
    forms.forEach((b, i) => b.setAttribute("aria-pressed", ["native", "dynamodb"][i] === name));
  } }, name === "native" ? "JSON" : "DynamoDB JSON"));
  const content = [h("div.row", forms, h("span.push"), h("button.small", { type: "button", onclick: () => copy(text.value) }, "Copy")),
    h("p.quiet", "Sets are {\"$set\": [...]}, binary values {\"$binary\": \"base64\"}. A map that looks so is {\"$map\": {...}}. Numbers keep their digits."), text, problem, conflict];
  const { element, actions, close } = dialog(base ? `Item of ${table.TableName}` : `New item in ${table.TableName}`, content, [
    ...(base ? [["Delete", "danger", remove], ["Duplicate", "", () => { const item = read(); if (!item) return false; setTimeout(() => openItem(table, null, done, item)); return true; }]] : []),
    ["Save", "main", store]], undefined, () => text.value !== shown);
  const save = actions.at(-1);
  element.querySelector("footer").prepend(said);
  shown = text.value = writeItem(order(draft), form);
  text.oninput = read;
  text.onkeydown = (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); save.click(); } };
  read();
  if (!base) problem.textContent = "";
  text.focus();
  return { close };
}

/** Comma separated values: quotes, doubled quotes, line ends within quotes. */
export function parseCsv(text) {
  const rows = [[]];
  let value = "", isQuoted = false, wasQuoted = false;
  const end = () => { rows.at(-1).push(wasQuoted ? { quoted: value } : value); value = ""; wasQuoted = false; };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (isQuoted) {
      if (c === '"' && text[i + 1] === '"') { value += '"'; i++; } else if (c === '"') isQuoted = false; else value += c;
    } else if (c === '"' && value === "") { isQuoted = true; wasQuoted = true; }
    else if (c === ",") end();
    else if (c === "\n" || c === "\r") { if (c === "\r" && text[i + 1] === "\n") i++; end(); rows.push([]); }
    else value += c;
  }
  end();
  return rows.filter((r) => r.length > 1 || r[0] !== "");
}

/** A value of CSV: the type of keys is the table's; else numbers, true, false and JSON are what they look like, and all in quotes is text. */
function fromCsv(value, type) {
  const text = typeof value === "object" ? value.quoted : value;
  if (type) return { [type]: text };
  if (typeof value === "object") return { S: text };
  if (/^(true|false|null)$|^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$|^[[{]/.test(text.trim())) { try { return toAttribute(parse(text)); } catch { /* a text */ } }
  return { S: text };
}

/** Items from pasted text, each with its line: {line, item} or {line, problem}. */
export function readMany(text, form, table) {
  const types = new Map(table.AttributeDefinitions.map((d) => [d.AttributeName, d.AttributeType]));
  const checked = (line, make) => {
    try {
      const item = make(), problem = keyProblem(item, table);
      return problem ? { line, problem } : { line, item };
    } catch (error) { return { line, problem: error.message }; }
  };
  if (form === "csv") {
    const [head = [], ...rows] = parseCsv(text), names = head.map((n) => (typeof n === "object" ? n.quoted : n.trim()));
    return rows.map((row, i) => checked(i + 2, () => {
      if (row.length > names.length) throw new Error(`${row.length} values for ${names.length} columns`);
      return Object.fromEntries(row.map((v, k) => [names[k], v]).filter(([, v]) => v !== "").map(([n, v]) => [n, fromCsv(v, types.get(n))]));
    }));
  }
  return text.split("\n").map((l, i) => [l.trim(), i + 1]).filter(([l]) => l).map(([l, line]) => checked(line, () => {
    const value = parse(l);
    const inner = value?.Item && isTyped(value.Item) ? value.Item : value; // a line of an export
    return readItem(print(inner), isTyped(inner) ? "dynamodb" : "native");
  }));
}

/** Writes items by batches, and again what was not processed. `tell` is called with how many are written. */
export async function writeMany(TableName, items, tell = () => {}) {
  for (let at = 0; at < items.length; at += BATCH) {
    let wait = 50, rest = { [TableName]: items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } })) };
    while (Object.keys(rest).length) {
      const reply = await api("BatchWriteItem", { RequestItems: rest });
      rest = reply.UnprocessedItems ?? {};
      if (Object.keys(rest).length) await new Promise((r) => setTimeout(r, wait = Math.min(wait * 2, 5000)));
    }
    tell(Math.min(at + BATCH, items.length));
  }
}

export function importItems(table, done) {
  const text = h("textarea", { rows: 14, spellcheck: false, placeholder: "PK,SK,name\nCUSTOMER#1,PROFILE,Ada" });
  const problem = h("div", { role: "alert" }), progress = h("p.quiet", { role: "status" });
  let read = [];
  const form = select([["csv", "CSV, with a line of names"], ["lines", "JSON lines, native or DynamoDB JSON"]], "csv", () => look());
  const look = () => {
    read = text.value.trim() ? readMany(text.value, form.value, table) : [];
    const bad = read.filter((r) => r.problem);
    fill(problem, bad.slice(0, 8).map((r) => h("p.problem", `Line ${r.line}: ${r.problem}`)), bad.length > 8 && h("p.problem", `… and ${bad.length - 8} more`));
    progress.textContent = read.length ? `${number(read.length - bad.length)} of ${number(read.length)} items can be written. Items with the same keys are replaced.` : "";
    actions[0].disabled = !read.length || bad.length > 0;
  };
  const { actions } = dialog(`Import into ${table.TableName}`, [field("Form", form), field("Paste here", text), problem, progress], [["Import", "main", async () => {
    const items = [...new Map(read.map((r) => [JSON.stringify(keyOf(r.item, table)), r.item])).values()];
    await writeMany(table.TableName, items, (n) => { progress.textContent = `${number(n)} of ${number(items.length)} written`; });
    note(`Imported ${number(items.length)} items`);
    done();
  }]], undefined, () => text.value.trim() !== "");
  text.oninput = look;
  look();
  text.focus();
}
