// Requests that read: one made of what a form says, and one told in a line. Nothing here needs a browser.
import { brief } from "./types.js";

/** @import { Asked, Consumed, Input, Item, Pivot, Table } from "../types.d.ts" */
/**
 * @typedef {{name: string, operator: string, type: string, first: string, second: string}} Filter
 * @typedef {{hash: string[], operator: string, first: string, second: string, filters: Filter[], projection: string, limit: string, isDescending: boolean, isConsistent: boolean}} Form
 * @typedef {{operation: "GetItem" | "Query" | "Scan", input: Input}} Request
 */

/** Names and values of expressions, each once. */
class Placeholders {
  constructor() {
    this.names = /** @type {Record<string, string>} */ ({});
    this.values = /** @type {Item} */ ({});
  }

  /** @param {string} path */
  name(path) {
    return path.split(".").map((part) => {
      const [, bare, index] = /** @type {RegExpExecArray} */ (/^(.*?)((?:\[\d+\])*)$/.exec(part));
      const old = Object.entries(this.names).find(([, n]) => n === bare);
      const key = old?.[0] ?? `#n${Object.keys(this.names).length}`;
      this.names[key] = bare;
      return key + index;
    }).join(".");
  }

  /** @param {string} type @param {string} text */
  value(type, text) {
    const key = `:v${Object.keys(this.values).length}`;
    this.values[key] = { [type]: type === "BOOL" ? text === "true" : text };
    return key;
  }

  /** @param {string} path @param {string} operator @param {string} type @param {string} first */
  condition(path, operator, type, first, second = "") {
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

/** The names of a key's attributes of one role. @param {Pivot} pivot @param {"HASH" | "RANGE"} role */
export const keysOf = (pivot, role) => pivot.KeySchema.filter((k) => k.KeyType === role).map((k) => k.AttributeName);

/**
 * The request that a form describes: a Query where the partition key has values, a GetItem where they
 * name one item, else a Scan.
 * @param {Table} table @param {Pivot} pivot @param {Form} form @returns {Request}
 */
export function build(table, pivot, form) {
  const typeOf = (/** @type {string} */ n) => table.AttributeDefinitions.find((a) => a.AttributeName === n)?.AttributeType ?? "S";
  const hash = keysOf(pivot, "HASH"), range = keysOf(pivot, "RANGE");
  const isKeyed = form.hash.length > 0 && form.hash.every((v) => v !== "");
  const isWhole = isKeyed && !pivot.name && hash.length === 1 && form.filters.length === 0 && (range.length === 0 || (form.operator === "=" && form.first !== ""));
  const places = new Placeholders();
  const common = { TableName: table.TableName, ...(pivot.name ? { IndexName: pivot.name } : {}) };
  const projected = () => form.projection.split(",").map((p) => p.trim()).filter(Boolean).map((p) => places.name(p)).join(", ");
  const tail = form.isConsistent ? { ConsistentRead: true } : {};
  if (isWhole) {
    const Key = { [hash[0]]: { [typeOf(hash[0])]: form.hash[0] }, ...(range.length ? { [range[0]]: { [typeOf(range[0])]: form.first } } : {}) };
    const ProjectionExpression = projected();
    return { operation: "GetItem", input: { ...common, Key, ...(ProjectionExpression ? { ProjectionExpression } : {}), ...places.members(), ...tail } };
  }
  const keys = isKeyed ? hash.map((n, i) => places.condition(n, "=", typeOf(n), form.hash[i])) : [];
  if (isKeyed && range.length && form.operator) keys.push(places.condition(range[0], form.operator, typeOf(range[0]), form.first, form.second));
  const filters = form.filters.map((f) => places.condition(f.name, f.operator, f.type, f.first, f.second));
  const ProjectionExpression = projected();
  return {
    operation: isKeyed ? "Query" : "Scan",
    input: { ...common, ...(keys.length ? { KeyConditionExpression: keys.join(" AND ") } : {}), ...(filters.length ? { FilterExpression: filters.join(" AND ") } : {}),
      ...(ProjectionExpression ? { ProjectionExpression } : {}), ...places.members(), ...(isKeyed && form.isDescending ? { ScanIndexForward: false } : {}),
      ...(form.limit ? { Limit: Number(form.limit) } : {}), ...tail },
  };
}

/** @param {string} text @returns {unknown} */
const readJson = (text) => { try { return JSON.parse(text); } catch { return {}; } };

/** A request as a line: table, index and expressions, with their names and values in place. @param {unknown} request an object, or its JSON */
export function pattern(request) {
  const asked = /** @type {Asked} */ (Object(typeof request === "string" ? readJson(request) : request));
  const names = asked.ExpressionAttributeNames ?? {}, values = asked.ExpressionAttributeValues ?? {};
  const plain = (/** @type {string | undefined} */ e) => (e ? e.replace(/[#:][\w]+/g, (t) => names[t] ?? (values[t] ? brief(values[t], 40) : t)) : "");
  const key = asked.Key ?? asked.Item;
  const tables = asked.TableName ?? Object.keys(asked.RequestItems ?? {}).join(", ");
  const members = (asked.TransactItems ?? []).flatMap((m) => Object.entries(m).slice(0, 1)).map(([k, v]) => `${k} ${v.TableName}`).join(", ");
  return { table: tables || members, text: [asked.IndexName && `index ${asked.IndexName}`, plain(asked.KeyConditionExpression),
    key && Object.entries(key).slice(0, 3).map(([n, v]) => `${n} = ${brief(v, 40)}`).join(" and "), asked.FilterExpression && `filter ${plain(asked.FilterExpression)}`,
    plain(asked.UpdateExpression), asked.ConditionExpression && `if ${plain(asked.ConditionExpression)}`, asked.Statement].filter(Boolean).join("; ") };
}

/** What a request consumed, by table and index. @param {Consumed | Consumed[] | undefined} consumed by one request, or several */
export function unitsOf(consumed) {
  const all = [consumed ?? []].flat(), units = all.reduce((sum, c) => sum + (c.CapacityUnits ?? 0), 0);
  const of = all.flatMap((c) => [...Object.entries({ table: c.Table }), ...Object.entries(c.GlobalSecondaryIndexes ?? {}), ...Object.entries(c.LocalSecondaryIndexes ?? {})]);
  const parts = of.flatMap(([name, v]) => (v?.CapacityUnits ? [`${name} ${v.CapacityUnits}`] : []));
  return { units, text: `${units} ${units === 1 ? "unit" : "units"}${parts.length > 1 ? ` (${parts.join(", ")})` : ""}` };
}
