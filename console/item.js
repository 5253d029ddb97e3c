// The editor of an item: native or DynamoDB JSON, checked while it is typed, with what an edit changes and the request as code; saved only where nobody else has
// changed the item meanwhile.
import { copy, dialog, fill, h, note, number, select } from "./core/dom.js";
import { api, ROOT } from "./core/api.js";
import { codeFor, languages } from "./code.js";
import { keyOf, keyProblem, ordered, readItem, same, writeItem } from "./model/types.js";

const COMPARED = 120; // attributes that a condition names, keys among them; AWS: an expression has 4 KB and 300 operators

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
  let form = "native", isWhole = true, language = languages[0], shown = ""; // as the page wrote it
  const text = h("textarea", { rows: 18, spellcheck: false, "aria-label": "The item as JSON" });
  const problem = h("p.problem", { role: "alert" }), conflict = h("div"), what = h("summary"), lines = h("div"), code = h("pre", { tabIndex: 0, "aria-label": "The item as code" }), said = h("span.quiet.push");

  /** The item that was typed, or null with the problem shown. */
  function read() {
    let item = null, wrong = "";
    try { item = readItem(text.value, form); wrong = keyProblem(item, table); } catch (error) { wrong = error.message; }
    problem.textContent = wrong;
    text.setAttribute("aria-invalid", Boolean(wrong));
    isWhole = !wrong;
    save.disabled = !isWhole;
    said.textContent = item && !wrong ? `${number(new TextEncoder().encode(JSON.stringify(item)).length)} bytes of JSON${base && !same(keyOf(item, table), keyOf(base, table)) ? "; another key: a new item, the old one stays" : ""}` : "";
    if (item && !wrong) tell(item);
    return wrong ? null : item;
  }

  /** What saving changes, and the item as a program; each where it is unfolded. */
  function tell(item) {
    const names = base ? differing(base, item) : [];
    changes.hidden = !names.length;
    what.textContent = `Changes ${number(names.length)} ${names.length === 1 ? "attribute" : "attributes"}: ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""}`;
    fill(lines, changes.open && diff(writeItem(order(base), form), writeItem(order(item), form)));
    code.textContent = programs.open ? codeFor(language, "PutItem", { TableName: table.TableName, Item: order(item) }, ROOT.origin) : "";
  }
  const changes = h("details", { hidden: true, ontoggle: () => read() }, what, lines);
  const programs = h("details", { ontoggle: () => read() }, h("summary", "As code"),
    h("div.row", select(languages, language, (v) => { language = v; read(); }, { "aria-label": "Language of the item" }), h("button.small", { type: "button", onclick: () => copy(code.textContent) }, "Copy the code")), code);

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
    h("p.quiet", "Sets are {\"$set\": [...]}, binary values {\"$binary\": \"base64\"}. A map that looks so is {\"$map\": {...}}. Numbers keep their digits."), text, problem, changes, programs, conflict];
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
