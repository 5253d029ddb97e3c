// Values: DynamoDB JSON ({"N": "1"}) and native JSON (1), both with all digits of numbers, and nothing lost between the two.
//
// Native JSON has no sets and no binary values: {"$set": [...]} and {"$binary": "base64"} stand for
// them. A map that looks like one of these is written as {"$map": {...}}, so that no edit changes a
// type. Numbers keep the digits that were typed.

/** @import { Attribute, Item, Keyed, Native, Table, Typed } from "../types.d.ts" */
/**
 * @typedef {"native" | "dynamodb"} Form of JSON
 * @typedef {(what: string) => never} Wrong throws, and says where
 */

/** A number as its digits: a double would lose some of 38. */
export class Exact {
  /** @param {string} text */
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}

const TOKEN = /[\s]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/**
 * JSON as JSON.parse reads it, but with Exact for numbers. Throws a SyntaxError that says where: error.at is the offset.
 * @param {string} text @returns {Native}
 */
export function parse(text) {
  let at = 0, token = /** @type {string[]} */ ([]);
  /** @param {string} what @param {number} [where] @returns {never} */
  const wrong = (what, where = at) => {
    const before = text.slice(0, where), line = before.split("\n").length, column = where - before.lastIndexOf("\n");
    throw Object.assign(new SyntaxError(`${what} at line ${line}, column ${column}`), { at: where });
  };
  const is = (/** @type {string} */ mark) => token[1] === mark;
  const next = () => {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) {
      const where = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0);
      wrong(where >= text.length ? "The text ends too early" : `Unexpected ${JSON.stringify(text[where])}`, where);
    }
    at = TOKEN.lastIndex;
    token = match;
  };
  /** @param {number} depth @returns {Native} */
  const value = (depth) => {
    if (depth > 64) wrong("Too deep");
    if (token[2] !== undefined) { try { return JSON.parse(token[2]); } catch { return wrong("Not a string"); } }
    if (token[3] !== undefined) return new Exact(token[3]);
    if (token[4] !== undefined) return JSON.parse(token[4]);
    if (is("[")) {
      const list = /** @type {Native[]} */ ([]);
      next();
      if (is("]")) return list;
      for (;;) {
        list.push(value(depth + 1));
        next();
        if (is("]")) return list;
        if (!is(",")) wrong("Expected a comma or ]");
        next();
      }
    }
    if (is("{")) {
      const map = /** @type {Record<string, Native>} */ (Object.create(null));
      next();
      if (is("}")) return map;
      for (;;) {
        if (token[2] === undefined) wrong("Expected a name in quotes");
        const name = JSON.parse(token[2]);
        if (name in map) wrong(`${JSON.stringify(name)} stands twice`);
        next();
        if (!is(":")) wrong("Expected a colon");
        next();
        map[name] = value(depth + 1);
        next();
        if (is("}")) return map;
        if (!is(",")) wrong("Expected a comma or }");
        next();
      }
    }
    return wrong(`Unexpected ${token[0].trim()}`);
  };
  next();
  const result = value(0);
  if (text.slice(at).trim()) wrong("More text than one value", at);
  return result;
}

/**
 * JSON with two spaces for each level; short lists and maps stay on a line.
 * @param {unknown} value @param {string} [indent] @returns {string}
 */
export function print(value, indent = "") {
  if (value === null || typeof value !== "object" || value instanceof Exact) return onOneLine(value);
  const isList = Array.isArray(value), [open, close] = isList ? "[]" : "{}", line = onOneLine(value);
  if (line.length <= 2 || (indent && line.length < 72)) return line;
  const deeper = `${indent}  `;
  const parts = isList ? value.map((v) => print(v, deeper)) : Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${print(v, deeper)}`);
  return `${open}\n${parts.map((part) => deeper + part).join(",\n")}\n${indent}${close}`;
}

/** @param {unknown} value @returns {string} */
export function onOneLine(value) {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  const parts = Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${onOneLine(v)}`);
  return parts.length ? `{ ${parts.join(", ")} }` : "{}";
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Exact);
/** Whether a value is a map with this member alone. @template {string} Name @param {unknown} map @param {Name} name @returns {map is Record<Name, unknown>} */
const only = (map, name) => isMap(map) && Object.keys(map).length === 1 && Object.hasOwn(map, name);
const looksSpecial = (/** @type {Item} */ map) => ["$set", "$binary", "$map"].some((name) => only(map, name));

/**
 * An attribute of an item, or undefined: names such as "constructor" are names.
 * @param {Item} item @param {string} name @returns {Attribute | undefined}
 */
export const own = (item, name) => (Object.hasOwn(item, name) ? item[name] : undefined);

/** An attribute as its type and its value. @param {Attribute} attribute */
export const typed = (attribute) => /** @type {Typed} */ (Object.entries(attribute)[0]);

/**
 * A native value as an attribute value. Throws an Error that names the place.
 * @param {unknown} value @param {string} [place] @returns {Attribute}
 */
export function toAttribute(value, place = "") {
  /** @type {Wrong} */
  const wrong = (what) => { throw new Error(`${place || "The value"}: ${what}`); };
  if (value === null) return { NULL: true };
  if (typeof value === "string") return { S: value };
  if (typeof value === "boolean") return { BOOL: value };
  if (typeof value === "number") return { N: String(value) };
  if (value instanceof Exact) { checkNumber(value.text, wrong); return { N: value.text }; }
  if (Array.isArray(value)) return { L: value.map((v, i) => toAttribute(v, `${place}[${i}]`)) };
  if (only(value, "$binary")) return { B: checkBinary(value.$binary, wrong) };
  if (only(value, "$set")) return setOf(Array.isArray(value.$set) ? value.$set : [], place, wrong);
  const map = only(value, "$map") ? value.$map : value;
  if (!isMap(map)) return wrong("$map takes a map");
  return { M: Object.fromEntries(Object.entries(map).map(([k, v]) => [k, toAttribute(v, place ? `${place}.${k}` : k)])) };
}

/** @param {unknown[]} list @param {string} place @param {Wrong} wrong @returns {Attribute} */
function setOf(list, place, wrong) {
  if (!list.length) wrong("a set has at least one element");
  const all = list.map((v, i) => typed(toAttribute(v, `${place}[${i}]`))), types = new Set(all.map(([type]) => type)), [type] = types, values = all.map(([, v]) => String(v));
  if (types.size > 1 || !["S", "N", "B"].includes(type)) wrong("the elements of a set are all strings, all numbers or all binary");
  if (new Set(values).size < values.length) wrong("a set has each element once");
  return { [`${type}S`]: values };
}

/** An attribute value as a native one. @param {Attribute} attribute @returns {Native} */
export function toNative(attribute) {
  const [type, value] = typed(attribute);
  switch (type) {
    case "N": return new Exact(value);
    case "NULL": return null;
    case "B": return { $binary: value };
    case "SS": return { $set: value };
    case "BS": return { $set: value.map((v) => ({ $binary: v })) };
    case "NS": return { $set: value.map((v) => new Exact(v)) };
    case "L": return value.map(toNative);
    case "M": {
      const map = Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toNative(v)]));
      return looksSpecial(value) ? { $map: map } : map;
    }
    default: return value;
  }
}

/**
 * AWS: Developer Guide, "Data types": 38 digits, magnitude up to 9.99E125, down to 1E-130.
 * @param {string} text @param {Wrong} wrong
 */
function checkNumber(text, wrong) {
  const match = /^[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match || !(match[1] + match[2])) return wrong(`${JSON.stringify(text)} is no number`);
  const digits = (match[1] + match[2]).replace(/^0+/, "");
  const magnitude = digits.length - match[2].length + Number(match[3] ?? 0) - 1;
  if (digits.replace(/0+$/, "").length > 38) wrong("a number has 38 digits at most");
  if (digits && (magnitude > 125 || magnitude < -130)) wrong("a number is between 1E-130 and 9.99E+125");
}

/** @param {unknown} text @param {Wrong} wrong */
function checkBinary(text, wrong) {
  return typeof text === "string" && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? text : wrong("binary values are base64");
}

/** @type {Record<string, (v: unknown, wrong: Wrong, place: string) => unknown>} */
const TYPES = {
  S: (v, wrong) => typeof v === "string" || wrong("S takes a string"),
  N: (v, wrong) => (typeof v === "string" ? checkNumber(v, wrong) : wrong("N takes a number in quotes")),
  B: checkBinary,
  BOOL: (v, wrong) => typeof v === "boolean" || wrong("BOOL takes true or false"),
  NULL: (v, wrong) => v === true || wrong("NULL takes true"),
  SS: (v, wrong) => checkSet(v, "S", wrong), NS: (v, wrong) => checkSet(v, "N", wrong), BS: (v, wrong) => checkSet(v, "B", wrong),
  L: (v, wrong, place) => (Array.isArray(v) ? v.forEach((e, i) => checkAttribute(e, `${place}[${i}]`)) : wrong("L takes a list")),
  M: (v, wrong, place) => (isMap(v) ? Object.entries(v).forEach(([k, e]) => checkAttribute(e, `${place}.${k}`)) : wrong("M takes a map")),
};

/** @param {unknown} list @param {string} type @param {Wrong} wrong */
function checkSet(list, type, wrong) {
  if (!Array.isArray(list) || !list.length) return wrong("a set has at least one element");
  for (const v of list) TYPES[type](v, wrong, "");
  return new Set(list).size === list.length || wrong("a set has each element once");
}

/** @param {unknown} value @param {string} place */
function checkAttribute(value, place) {
  /** @type {Wrong} */
  const wrong = (what) => { throw new Error(`${place}: ${what}`); };
  const [[type, v] = ["", null], more] = isMap(value) ? Object.entries(value) : [];
  if (more || !Object.hasOwn(TYPES, type)) wrong(`one of ${Object.keys(TYPES).join(", ")} was expected, such as {"S": "text"}`);
  TYPES[type](v, wrong, place);
}

/** Whether each member of the map is written in DynamoDB JSON. @param {unknown} map */
export const isTyped = (map) => isMap(map) && Object.keys(map).length > 0 &&
  Object.values(map).every((v) => isMap(v) && Object.keys(v).length === 1 && Object.hasOwn(TYPES, Object.keys(v)[0]));

/**
 * An item from what was typed in either form. Throws where it is not one.
 * @param {string} text @param {Form} form @returns {Item}
 */
export function readItem(text, form) {
  const value = parse(text);
  if (!isMap(value)) throw new Error("An item is a JSON object");
  if (form === "dynamodb") {
    for (const [name, v] of Object.entries(value)) checkAttribute(v, name);
    return JSON.parse(print(value)); // no digits are lost: numbers are strings here
  }
  return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, toAttribute(v, name)]));
}

/** @param {Item} item @param {Form} form */
export const writeItem = (item, form) => print(form === "dynamodb" ? item :
  Object.fromEntries(Object.entries(item).map(([name, v]) => [name, toNative(v)])));

/**
 * The item in the order in which people read it: keys, then names.
 * @param {Item} item @param {string[]} keys @returns {Item}
 */
export function ordered(item, keys) {
  const rest = Object.keys(item).filter((n) => !keys.includes(n)).sort();
  return Object.fromEntries([...keys.filter((n) => Object.hasOwn(item, n)), ...rest].map((n) => [n, item[n]]));
}

/** The type of a key attribute: S, N or B. @param {Table} table @param {string} name */
export const keyType = (table, name) => table.AttributeDefinitions.find((a) => a.AttributeName === name)?.AttributeType ?? "S";

/**
 * Whether a key's attributes are there and of the table's types; the problem, or "".
 * @param {Item} item @param {Table} table
 */
export function keyProblem(item, table) {
  for (const { AttributeName: name } of table.KeySchema) {
    const type = keyType(table, name);
    if (!Object.hasOwn(item, name)) return `The key attribute ${name} is missing`;
    const [is, value] = typed(item[name]);
    if (is !== type) return `The key attribute ${name} must be of type ${type}`;
    if (value === "") return `The key attribute ${name} must not be empty`;
  }
  return "";
}

/** The attributes of an item's key. @param {Item} item @param {Keyed} table @returns {Item} */
export const keyOf = (item, table) => Object.fromEntries(table.KeySchema.filter((k) => Object.hasOwn(item, k.AttributeName)).map(({ AttributeName: n }) => [n, item[n]]));
/** Whether two values are the same as DynamoDB sees them. @param {Attribute | Item | null} a @param {Attribute | Item | null} b */
export const same = (a, b) => print(sorted(a)) === print(sorted(b));
/** @param {unknown} value @returns {unknown} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => [k, /^[SNB]S$/.test(k) && Array.isArray(v) ? [...v].sort() : sorted(v)]));
}

export const KEY_MAX = 2048; // bytes of a partition key: no key is longer in brief()

/** One line for a cell. @param {Attribute | undefined} attribute */
export function brief(attribute, length = 120) {
  if (!attribute) return "";
  const [type, value] = typed(attribute);
  switch (type) {
    case "S": case "N": return value.slice(0, length);
    case "B": return `binary, ${Math.floor(value.length * 3 / 4)} bytes`;
    case "NULL": return "null";
    case "BOOL": return String(value);
    case "SS": case "NS": case "BS": return `{${value.join(", ")}}`.slice(0, length);
    default: return onOneLine(toNative(attribute)).slice(0, length);
  }
}
