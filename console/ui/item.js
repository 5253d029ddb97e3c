// The editor of an item: a form, native or DynamoDB JSON, checked while it is typed, with what an edit
// changes and the request as code; saved only where nobody else has changed the item meanwhile.
import { copy, dialog, fill, h, messageOf, note, number, select } from "../core/dom.js";
import { whereFrom } from "../core/api.js";
import { deleteRead, differing, isCollision, putNew, writeEdit } from "../core/writes.js";
import { codeFor, languages } from "./code.js";
import { keepDeleted } from "./selection.js";
import { itemInput } from "./item_input.js";
import { keyOf, keyProblem, keyType, ordered, same } from "../model/types.js";

/** @import { Action, Item, Table } from "../types.d.ts" */

/** Lines that differ, by the longest common subsequence. @param {string} before @param {string} after */
export function diff(before, after) {
  const a = before ? before.split("\n") : [], b = after ? after.split("\n") : [];
  if (a.length * b.length > 4e6) return h("div.diff", h("div.gone", before), h("div.added", after));
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const lines = /** @type {HTMLElement[]} */ ([]);
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) { lines.push(h("div", `  ${a[i]}`)); i++; j++; }
    else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) lines.push(h("div.gone", `- ${a[i++]}`));
    else lines.push(h("div.added", `+ ${b[j++]}`));
  }
  return h("div.diff", lines);
}

/** A first draft: the keys, empty. @param {Table} table @returns {Item} */
function blank(table) {
  return Object.fromEntries(table.KeySchema.map(({ AttributeName: n }) => [n, { [keyType(table, n)]: "" }]));
}

/**
 * Opens an item as it is in the table, or a new one (`base` null, `draft` what it begins with). `done` is called after each change.
 * @param {Table} table @param {Item | null} base @param {() => void} done @param {Item} draft
 */
export function openItem(table, base, done, draft = base ?? blank(table)) {
  const keys = table.KeySchema.map((k) => k.AttributeName);
  let language = languages[0];
  const input = itemInput(draft, keys, () => read());
  const problem = h("p.problem", { role: "alert" }), conflict = h("div"), what = h("summary"), lines = h("div"), code = h("pre", { tabIndex: 0, "aria-label": "The item as code" }), said = h("span.quiet.push");
  const isNew = (/** @type {Item} */ item) => !base || !same(keyOf(item, table), keyOf(base, table));

  /** The item that was typed, or null with the problem shown. */
  function read() {
    let item = /** @type {Item | null} */ (null), wrong = "";
    try { item = input.read(); wrong = keyProblem(item, table); } catch (error) { wrong = messageOf(error); }
    problem.textContent = wrong;
    input.show(Boolean(wrong));
    save.disabled = Boolean(wrong);
    said.textContent = wrong ? "" : `${number(new TextEncoder().encode(JSON.stringify(item)).length)} bytes of JSON${base && item && isNew(item) ? "; another key: a new item, the old one stays" : ""}`;
    if (wrong || !item) return null;
    tell(item);
    return item;
  }

  /** What saving changes, and the item as a program; each where it is unfolded. @param {Item} item */
  function tell(item) {
    const names = base ? differing(base, item) : [];
    changes.hidden = !names.length;
    what.textContent = `Changes ${number(names.length)} ${names.length === 1 ? "attribute" : "attributes"}: ${names.slice(0, 6).join(", ")}${names.length > 6 ? ", …" : ""}`;
    fill(lines, base && changes.open && diff(input.written(base), input.written(item)));
    code.textContent = programs.open ? codeFor(language, "PutItem", { TableName: table.TableName, Item: ordered(item, keys) }, whereFrom()) : "";
  }
  const changes = h("details", { hidden: true, ontoggle: () => read() }, what, lines);
  const programs = h("details", { ontoggle: () => read() }, h("summary", "As code"),
    h("div.row", select(languages, language, (v) => { language = v; read(); }, { "aria-label": "Language of the item" }), h("button.small", { type: "button", onclick: () => copy(code.textContent ?? "") }, "Copy the code")), code);

  /** Somebody else was there first: what they did, and what to do about it. Nothing is overwritten. @param {Item | null} theirs @param {Item} mine */
  function collide(theirs, mine) {
    const written = (/** @type {Item | null} */ item) => (item ? input.written(item) : "");
    fill(conflict, h("div", { role: "alert" }, h("h3", theirs ? "The item has changed meanwhile. Nothing was saved." : "The item was deleted meanwhile. Nothing was saved.")),
      h("p.quiet", "From what was opened to what is there now:"), diff(written(base), written(theirs)),
      h("div.row", h("button", { type: "button", onclick: () => { base = theirs; input.put(theirs ?? mine); fill(conflict); read(); } }, "Take theirs"),
        h("button", { type: "button", onclick: () => { base = theirs; fill(conflict, h("p.quiet", "Yours is compared with the present item now. Look at it, then save.")); read(); } }, "Keep mine to save again")));
    conflict.scrollIntoView();
    return false;
  }

  async function store() {
    const item = read();
    if (!item) return false;
    const old = base && !isNew(item) ? base : null;
    try {
      if (old) await writeEdit(table, old, item);
      else await putNew(table, item);
    } catch (error) {
      if (!isCollision(error)) throw error;
      if (!old) { problem.textContent = "There is an item with this key already. Nothing was saved."; return false; }
      return collide(error.body.Item ?? null, item);
    }
    note("Saved", false, old && (async () => { await writeEdit(table, item, old); note("As before"); done(); }));
    done();
    return true;
  }

  async function remove() {
    if (!base) return false;
    try {
      await deleteRead(table, base);
    } catch (error) {
      if (!isCollision(error)) throw error;
      return collide(error.body.Item ?? null, base);
    }
    keepDeleted(table, [base]);
    done();
    return true;
  }

  const others = /** @type {Action[]} */ ([["Delete", "danger", remove],
    ["Duplicate", "", () => { const item = read(); if (!item) return false; setTimeout(() => openItem(table, null, done, item)); return true; }]]);
  const { element, actions, close } = dialog(base ? `Item of ${table.TableName}` : `New item in ${table.TableName}`, [input.element, problem, changes, programs, conflict], [
    ...(base ? others : []), ["Save", "main", store]], undefined, input.isEdited);
  const save = actions[actions.length - 1];
  actions[0].before(said);
  element.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); save.click(); } });
  read();
  if (!base) problem.textContent = "";
  input.focus();
  return { close };
}
