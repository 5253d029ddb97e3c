// An item as a tree of values that a form edits one by one: a name, a type and a value each. Values
// stay texts until the item is made of them, so that half-typed ones are kept. Nothing here needs a browser.

import { typed } from "./types.js";

/** @import { Attribute, Item } from "../types.d.ts" */
/** @typedef {{name: string, type: string, text: string, kids: Node[]}} Node kids: of lists, maps and sets */

export const TYPE_NAMES = [["S", "String"], ["N", "Number"], ["BOOL", "Boolean"], ["NULL", "Null"], ["L", "List"], ["M", "Map"], ["SS", "String set"], ["NS", "Number set"],
  ["B", "Binary"], ["BS", "Binary set"]];
const isSet = (/** @type {string} */ type) => /^[SNB]S$/.test(type);
/** Whether values of the type hold others. @param {string} type */
export const isHolder = (type) => type === "L" || type === "M" || isSet(type);

/** @param {string} name @param {string} type @returns {Node} */
export const node = (name, type, text = "", kids = /** @type {Node[]} */ ([])) => ({ name, type, text, kids });

/** @param {string} name @param {Attribute} attribute @returns {Node} */
export function nodeOf(name, attribute) {
  const [type, value] = typed(attribute);
  switch (type) {
    case "L": return node(name, type, "", value.map((v) => nodeOf("", v)));
    case "M": return node(name, type, "", Object.entries(value).map(([k, v]) => nodeOf(k, v)));
    case "SS": case "NS": case "BS": return node(name, type, "", value.map((v) => node("", type[0], v)));
    default: return node(name, type, type === "NULL" ? "" : String(value));
  }
}

/** @param {Item} item @returns {Node[]} */
export const nodesOf = (item) => Object.entries(item).map(([name, v]) => nodeOf(name, v));

/** A new child of a holder: of the type of the last one. @param {Node} parent @returns {Node} */
export const child = (parent) => node("", isSet(parent.type) ? parent.type[0] : parent.kids.at(-1)?.type ?? "S");

/** Gives a value another type, and keeps of it what the new one can have. @param {Node} n @param {string} type */
export function retype(n, type) {
  const was = n.type, scalar = was === "NULL" || isHolder(was) ? "" : n.text;
  n.type = type;
  if (isHolder(type)) {
    if (!isHolder(was)) n.kids = scalar ? [node("", isSet(type) ? type[0] : was, scalar)] : [];
    if (isSet(type)) n.kids = n.kids.filter((k) => !isHolder(k.type)).map((k) => node("", type[0], k.text));
    if (type === "M") n.kids.forEach((k, i) => { k.name ||= String(i + 1); });
    n.text = "";
    return;
  }
  n.kids = [];
  if (type === "BOOL") n.text = String(scalar === "true");
  else if (type === "NULL") n.text = "";
  else if (type === "N") n.text = was === "BOOL" ? "" : scalar.trim();
  else n.text = scalar;
}

/** @param {Node[]} list @param {string} place @returns {[string, Attribute][]} */
function members(list, place) {
  const seen = new Set();
  return list.map((n) => {
    const where = place ? `${place}.${n.name}` : n.name;
    if (n.name === "" && !place) throw new Error("An attribute has no name");
    if (seen.has(n.name)) throw new Error(`${JSON.stringify(where)} stands twice`);
    seen.add(n.name);
    return [n.name, attributeOf(n, where)];
  });
}

/** @param {Node} n @param {string} place @returns {Attribute} */
function attributeOf(n, place) {
  switch (n.type) {
    case "L": return { L: n.kids.map((k, i) => attributeOf(k, `${place}[${i}]`)) };
    case "M": return { M: Object.fromEntries(members(n.kids, place)) };
    case "SS": case "NS": case "BS": return { [n.type]: n.kids.map((k) => k.text) };
    case "BOOL": return { BOOL: n.text === "true" };
    case "NULL": return { NULL: true };
    default: return { [n.type]: n.text };
  }
}

/** The item of the tree; what its values are is not checked. Throws where names are missing or stand twice. @param {Node[]} nodes @returns {Item} */
export const itemOf = (nodes) => Object.fromEntries(members(nodes, ""));
