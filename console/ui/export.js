// What is shown, as a file: JSON lines, or CSV for a spreadsheet. Import takes both.
import { dialog, download, field, h, number, select } from "../core/dom.js";
import { onOneLine, toNative } from "../model/types.js";

/** @import { Attribute, Item } from "../types.d.ts" */

const FORMS = [["lines", "JSON lines, DynamoDB JSON: all types are kept"], ["native", "JSON lines, native"], ["csv", "CSV: sets, lists, maps and binary values become text"]];
const quoted = (/** @type {string} */ text) => `"${text.replaceAll('"', '""')}"`;

/** A value of a CSV: texts in quotes, so that "1" stays a text. @param {Attribute | undefined} attribute */
function csvValue(attribute) {
  if (!attribute) return "";
  if (attribute.S !== undefined) return quoted(attribute.S);
  const text = onOneLine(toNative(attribute));
  return /[",\n\r]/.test(text) ? quoted(text) : text;
}

/** The items as a file of that form. @param {Item[]} items @param {string} form */
export function written(items, form) {
  if (form === "lines") return items.map((item) => JSON.stringify({ Item: item })).join("\n") + "\n";
  if (form === "native") return items.map((item) => onOneLine(Object.fromEntries(Object.entries(item).map(([n, v]) => [n, toNative(v)])))).join("\n") + "\n";
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  return [names.map(quoted), ...items.map((item) => names.map((n) => csvValue(Object.hasOwn(item, n) ? item[n] : undefined)))].map((row) => row.join(",")).join("\r\n") + "\r\n";
}

/** Asks for the form, and saves the items. `isAll`: nothing of the table or query is left out. @param {string} name @param {Item[]} items @param {boolean} isAll */
export function exportItems(name, items, isAll) {
  const form = select(FORMS, "lines");
  dialog(`Export of ${name}`, [h("p", `${number(items.length)} ${items.length === 1 ? "item" : "items"}: those that the page has read.${isAll ? "" : " There are more."}`), field("Form", form)],
    [["Save the file", "main", () => download(`${name}.${form.value === "csv" ? "csv" : "jsonl"}`, form.value === "csv" ? "text/csv" : "application/jsonl", written(items, form.value))]]);
}
