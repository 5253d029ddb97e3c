// The import of many items: CSV or JSON lines, each line checked before any is written.
import { dialog, field, fill, h, messageOf, note, number, select } from "../core/dom.js";
import { api } from "../core/api.js";
import { isTyped, keyOf, keyProblem, parse, print, readItem, toAttribute } from "../model/types.js";

/** @import { Attribute, Item, Table, WriteRequests } from "../types.d.ts" */
/**
 * @typedef {string | {quoted: string}} Cell of a CSV
 * @typedef {{line: number, item: Item, problem?: undefined} | {line: number, item?: undefined, problem: string}} Line what was read of it
 */

const BATCH = 25; // AWS: of BatchWriteItem

/** Comma separated values: quotes, doubled quotes, line ends within quotes. @param {string} text */
export function parseCsv(text) {
  const rows = /** @type {Cell[][]} */ ([[]]);
  let value = "", isQuoted = false, wasQuoted = false;
  const end = () => { rows[rows.length - 1].push(wasQuoted ? { quoted: value } : value); value = ""; wasQuoted = false; };
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

/** A value of CSV: the type of keys is the table's; else numbers, true, false and JSON are what they look like, and all in quotes is text. @param {Cell} value @param {string | undefined} type @returns {Attribute} */
function fromCsv(value, type) {
  const text = typeof value === "object" ? value.quoted : value;
  if (type) return { [type]: text };
  if (typeof value === "object") return { S: text };
  if (/^(true|false|null)$|^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$|^[[{]/.test(text.trim())) { try { return toAttribute(parse(text)); } catch { /* a text */ } }
  return { S: text };
}

/** Items from pasted text. @param {string} text @param {string} form @param {Table} table @returns {Line[]} */
export function readMany(text, form, table) {
  const types = new Map(table.AttributeDefinitions.map((d) => [d.AttributeName, d.AttributeType]));
  /** @param {number} line @param {() => Item} make @returns {Line} */
  const checked = (line, make) => {
    try {
      const item = make(), problem = keyProblem(item, table);
      return problem ? { line, problem } : { line, item };
    } catch (error) { return { line, problem: messageOf(error) }; }
  };
  if (form === "csv") {
    const [head = [], ...rows] = parseCsv(text), names = head.map((n) => (typeof n === "object" ? n.quoted : n.trim()));
    return rows.map((row, i) => checked(i + 2, () => {
      if (row.length > names.length) throw new Error(`${row.length} values for ${names.length} columns`);
      return Object.fromEntries(row.flatMap((v, k) => (v === "" ? [] : [[names[k], fromCsv(v, types.get(names[k]))]])));
    }));
  }
  return text.split("\n").flatMap((l, i) => (l.trim() === "" ? [] : checked(i + 1, () => {
    const value = parse(l.trim()), { Item } = Object(value);
    const inner = isTyped(Item) ? Item : value; // a line of an export
    return readItem(print(inner), isTyped(inner) ? "dynamodb" : "native");
  })));
}

/** Writes items by batches, and again what was not processed. `tell` is called with how many are written. @param {string} TableName @param {Item[]} items @param {(n: number) => void} [tell] */
export async function writeMany(TableName, items, tell) {
  for (let at = 0; at < items.length; at += BATCH) {
    let wait = 50, rest = /** @type {WriteRequests} */ ({ [TableName]: items.slice(at, at + BATCH).map((Item) => ({ PutRequest: { Item } })) });
    while (Object.keys(rest).length) {
      const reply = await api("BatchWriteItem", { RequestItems: rest });
      rest = reply.UnprocessedItems ?? {};
      if (Object.keys(rest).length) await new Promise((r) => setTimeout(r, wait = Math.min(wait * 2, 5000)));
    }
    tell?.(Math.min(at + BATCH, items.length));
  }
}

/** @param {Table} table @param {() => void} done after the import */
export function importItems(table, done) {
  const text = h("textarea", { rows: 14, spellcheck: false, placeholder: "PK,SK,name\nCUSTOMER#1,PROFILE,Ada" });
  const problem = h("div", { role: "alert" }), progress = h("p.quiet", { role: "status" });
  let read = /** @type {Line[]} */ ([]);
  const form = select([["csv", "CSV, with a line of names"], ["lines", "JSON lines, native or DynamoDB JSON"]], "csv", () => look());
  const look = () => {
    read = text.value.trim() ? readMany(text.value, form.value, table) : [];
    const bad = read.filter((r) => r.problem !== undefined);
    fill(problem, bad.slice(0, 8).map((r) => h("p.problem", `Line ${r.line}: ${r.problem}`)), bad.length > 8 && h("p.problem", `… and ${bad.length - 8} more`));
    progress.textContent = read.length ? `${number(read.length - bad.length)} of ${number(read.length)} items can be written. Items with the same keys are replaced.` : "";
    actions[0].disabled = !read.length || bad.length > 0;
  };
  const { actions } = dialog(`Import into ${table.TableName}`, [field("Form", form), field("Paste here", text), problem, progress], [["Import", "main", async () => {
    const items = [...new Map(read.flatMap(({ item }) => (item ? [[JSON.stringify(keyOf(item, table)), item]] : []))).values()];
    await writeMany(table.TableName, items, (n) => { progress.textContent = `${number(n)} of ${number(items.length)} written`; });
    note(`Imported ${number(items.length)} items`);
    done();
  }]], undefined, () => text.value.trim() !== "");
  text.oninput = look;
  look();
  text.focus();
}
