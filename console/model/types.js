// Values: DynamoDB JSON ({"N": "1"}) and native JSON (1), both with all digits of numbers, and nothing lost between the two.
//
// Native JSON has no sets and no binary values: {"$set": [...]} and {"$binary": "base64"} stand for
// them. A map that looks like one of these is written as {"$map": {...}}, so that no edit changes a
// type. Numbers keep the digits that were typed.

/**
 * @typedef {Record<string, any>} Attribute one member: the type, and the value
 * @typedef {Record<string, Attribute>} Item attribute values in DynamoDB JSON, by name
 * @typedef {{TableName: string, KeySchema: {AttributeName: string, KeyType: string}[], AttributeDefinitions: {AttributeName: string, AttributeType: string}[]}} Table
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
 * @param {string} text @returns {any}
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
  /** @param {number} depth @returns {any} */
  const value = (depth) => {
    if (depth > 64) wrong("Too deep");
    if (token[2] !== undefined) { try { return JSON.parse(token[2]); } catch { return wrong("Not a string"); } }
    if (token[3] !== undefined) return new Exact(token[3]);
    if (token[4] !== undefined) return JSON.parse(token[4]);
    if (is("[")) {
      const list = /** @type {any[]} */ ([]);
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
      const map = Object.create(null);
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
 * @param {any} value @param {string} [indent] @returns {string}
 */
export function print(value, indent = "") {
  if (value === null || typeof value !== "object" || value instanceof Exact) return onOneLine(value);
  const isList = Array.isArray(value), [open, close] = isList ? "[]" : "{}", line = onOneLine(value);
  if (line.length <= 2 || (indent && line.length < 72)) return line;
  const deeper = `${indent}  `;
  const parts = isList ? value.map((v) => print(v, deeper)) : Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${print(v, deeper)}`);
  return `${open}\n${parts.map((part) => deeper + part).join(",\n")}\n${indent}${close}`;
}

/** @param {any} value @returns {string} */
export function onOneLine(value) {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  const parts = Object.entries(value).map(([name, v]) => `${JSON.stringify(name)}: ${onOneLine(v)}`);
  return parts.length ? `{ ${parts.join(", ")} }` : "{}";
}

const isMap = (/** @type {any} */ value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Exact);
const only = (/** @type {any} */ map, /** @type {string} */ name) => isMap(map) && Object.keys(map).length === 1 && Object.hasOwn(map, name);
const looksSpecial = (/** @type {any} */ map) => ["$set", "$binary", "$map"].some((name) => only(map, name));

/**
 * An attribute of an item, or undefined: names such as "constructor" are names.
 * @param {Item} item @param {string} name @returns {Attribute | undefined}
 */
export const own = (item, name) => (Object.hasOwn(item, name) ? item[name] : undefined);

/**
 * A native value as an attribute value. Throws an Error that names the place.
 * @param {any} value @param {string} [place] @returns {Attribute}
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
  if (only(value, "$binary")) { checkBinary(value.$binary, wrong); return { B: value.$binary }; }
  if (only(value, "$set")) {
    const list = /** @type {any[]} */ (Array.isArray(value.$set) ? value.$set : []);
    if (!list.length) wrong("a set has at least one element");
    const typed = list.map((v, i) => toAttribute(v, `${place}[${i}]`)), types = new Set(typed.map((v) => Object.keys(v)[0])), [type] = types;
    if (types.size > 1 || !["S", "N", "B"].includes(type)) wrong("the elements of a set are all strings, all numbers or all binary");
    if (new Set(typed.map((v) => v[type])).size < typed.length) wrong("a set has each element once");
    return { [`${type}S`]: typed.map((v) => v[type]) };
  }
  if (only(value, "$map") && !isMap(value.$map)) wrong("$map takes a map");
  const map = only(value, "$map") ? value.$map : value;
  return { M: Object.fromEntries(Object.entries(map).map(([k, v]) => [k, toAttribute(v, place ? `${place}.${k}` : k)])) };
}

/** An attribute value as a native one. @param {Attribute} attribute @returns {any} */
export function toNative(attribute) {
  const [[type, value]] = Object.entries(attribute);
  switch (type) {
    case "N": return new Exact(value);
    case "NULL": return null;
    case "B": return { $binary: value };
    case "SS": case "BS": return { $set: value.map((/** @type {any} */ v) => toNative({ [type[0]]: v })) };
    case "NS": return { $set: value.map((/** @type {string} */ v) => new Exact(v)) };
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

/** @param {any} text @param {Wrong} wrong */
function checkBinary(text, wrong) {
  if (typeof text !== "string" || text.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) wrong("binary values are base64");
}

/** @type {Record<string, (v: any, wrong: Wrong, place: string) => unknown>} */
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

/** @param {any} list @param {string} type @param {Wrong} wrong */
function checkSet(list, type, wrong) {
  if (!Array.isArray(list) || !list.length) wrong("a set has at least one element");
  for (const v of list) TYPES[type](v, wrong, "");
  if (new Set(list).size < list.length) wrong("a set has each element once");
}

/** @param {any} value @param {string} place */
function checkAttribute(value, place) {
  /** @type {Wrong} */
  const wrong = (what) => { throw new Error(`${place}: ${what}`); };
  const names = isMap(value) ? Object.keys(value) : [];
  if (names.length !== 1 || !Object.hasOwn(TYPES, names[0])) wrong(`one of ${Object.keys(TYPES).join(", ")} was expected, such as {"S": "text"}`);
  TYPES[names[0]](value[names[0]], wrong, place);
}

/** Whether each member of the map is written in DynamoDB JSON. */
export const isTyped = (/** @type {any} */ map) => isMap(map) && Object.keys(map).length > 0 &&
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
    if (!Object.hasOwn(item[name], type)) return `The key attribute ${name} must be of type ${type}`;
    if (item[name][type] === "") return `The key attribute ${name} must not be empty`;
  }
  return "";
}

/** @param {Item} item @param {Table} table @returns {Record<string, any>} */
export const keyOf = (item, table) => Object.fromEntries(table.KeySchema.map(({ AttributeName: n }) => [n, own(item, n)]));
export const same = (/** @type {any} */ a, /** @type {any} */ b) => print(sorted(a)) === print(sorted(b));
/** @param {any} value @returns {any} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.keys(value).sort().map((k) => [k, /^[SNB]S$/.test(k) && Array.isArray(value[k]) ? [...value[k]].sort() : sorted(value[k])]));
}

/** One line for a cell. @param {Attribute | undefined} attribute */
export function brief(attribute, length = 120) {
  if (!attribute) return "";
  const [[type, value]] = Object.entries(attribute);
  if (type === "S" || type === "N") return value.slice(0, length);
  if (type === "B") return `binary, ${Math.floor(value.length * 3 / 4)} bytes`;
  if (type === "NULL") return "null";
  if (type === "BOOL") return String(value);
  if (/S$/.test(type)) return `{${value.join(", ")}}`.slice(0, length);
  return onOneLine(toNative(attribute)).slice(0, length);
}
