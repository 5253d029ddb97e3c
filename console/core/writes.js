// Writes that lose nothing: an edit or a deletion holds only while the item is as it was read, and
// what was deleted is put back only where no item has its key.
import { api } from "./api.js";
import { keyOf, same } from "../model/types.js";

/** @import { Item, Table } from "../types.d.ts" */

const COMPARED = 120; // attributes that a condition names, keys among them; AWS: an expression has 4 KB and 300 operators
const AT_ONCE = 4;    // requests
/** @typedef {Error & {body: {Item?: Item | null}}} Collision with the item that is there now */
const FAILED = "ConditionalCheckFailedException";

/** Whether a write failed since the item is not as it was read. @param {unknown} error @returns {error is Collision} */
export const isCollision = (error) => error instanceof Error && "type" in error && error.type === FAILED;

/** The attributes of which two items have different ones, or only one has one. @param {Item} a @param {Item} b */
export function differing(a, b) {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return names.filter((n) => !Object.hasOwn(a, n) || !Object.hasOwn(b, n) || !same(a[n], b[n]));
}

/**
 * The condition that these attributes are still as they were: a value each, or not there. An item
 * with more attributes than a condition takes is compared by those that the edit changes.
 * @param {Item} base @param {string[]} attributes @param {Table} table
 */
function unchanged(base, attributes, table) {
  const names = /** @type {Record<string, string>} */ ({}), values = /** @type {Item} */ ({}), parts = /** @type {string[]} */ ([]);
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

/** @param {Table} table @param {Item} key @returns {Promise<Item | null>} */
const readNow = async (table, key) => (await api("GetItem", { TableName: table.TableName, Key: key, ConsistentRead: true })).Item ?? null;

/** Throws as a failed condition does, unless the item is still the one that was read. @param {Table} table @param {Item} key @param {Item} base */
async function compareWhole(table, key, base) {
  const now = await readNow(table, key);
  if (!now || !same(now, base)) throw Object.assign(new Error("The item has changed"), { type: FAILED, body: { Item: now } });
}

/**
 * Writes an edit. A small item is compared whole, in the condition. Of a large one the whole is
 * compared by a read, and the condition and the write have the changed attributes alone: what others
 * change between the two stays.
 * @param {Table} table @param {Item} base @param {Item} item
 */
export async function writeEdit(table, base, item) {
  const all = [...new Set([...Object.keys(base), ...Object.keys(item)])];
  if (all.length <= COMPARED) { await api("PutItem", { ...unchanged(base, all, table), Item: item }); return; }
  const changed = differing(base, item);
  if (!changed.length) return;
  if (changed.length > COMPARED - 2) throw new Error(`${changed.length} attributes differ, and a condition compares ${COMPARED - 2} at most: save the change in parts`);
  const key = keyOf(base, table);
  await compareWhole(table, key, base);
  const input = unchanged(base, changed, table), sets = /** @type {string[]} */ ([]), removes = /** @type {string[]} */ ([]);
  changed.forEach((n, i) => {
    input.ExpressionAttributeNames[`#c${i}`] = n;
    if (!Object.hasOwn(item, n)) { removes.push(`#c${i}`); return; }
    input.ExpressionAttributeValues[`:c${i}`] = item[n];
    sets.push(`#c${i} = :c${i}`);
  });
  const UpdateExpression = [sets.length && `SET ${sets.join(", ")}`, removes.length && `REMOVE ${removes.join(", ")}`].filter(Boolean).join(" ");
  await api("UpdateItem", { ...input, Key: key, UpdateExpression });
}

/** Deletes what was read. A large item is compared whole by a read before, and by a part in the condition. @param {Table} table @param {Item} base */
export async function deleteRead(table, base) {
  const names = Object.keys(base), key = keyOf(base, table);
  if (names.length > COMPARED) await compareWhole(table, key, base);
  await api("DeleteItem", { ...unchanged(base, names.slice(0, COMPARED - 2), table), Key: key });
}

/** Writes an item where there is none with its key. @param {Table} table @param {Item} item */
export async function putNew(table, item) {
  await api("PutItem", { TableName: table.TableName, Item: item, ConditionExpression: "attribute_not_exists(#k)",
    ExpressionAttributeNames: { "#k": table.KeySchema[0].AttributeName }, ReturnValuesOnConditionCheckFailure: "ALL_OLD" });
}

/**
 * `work` for each item, a few at once. An error stops what has not begun.
 * @template T @param {Item[]} items @param {(item: Item) => Promise<T>} work
 */
async function each(items, work) {
  const queue = [...items], failed = /** @type {Error[]} */ ([]);
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let item = queue.shift(); item && !failed.length; item = queue.shift()) {
      try { await work(item); } catch (error) { failed.push(/** @type {Error} */ (error)); }
    }
  }));
  return failed[0] ?? null;
}

/**
 * Deletes items that are as they were read. `isPart`: what was read may be a part of the item, as
 * from an index; the whole is read first. An error does not hide what was deleted before it.
 * @param {Table} table @param {Item[]} items
 * @returns {Promise<{deleted: Item[], changed: Item[], error: Error | null}>}
 */
export async function deleteMany(table, items, isPart = false) {
  const deleted = /** @type {Item[]} */ ([]), changed = /** @type {Item[]} */ ([]);
  const error = await each(items, async (read) => {
    const item = isPart ? await readNow(table, keyOf(read, table)) : read;
    if (!item || (isPart && Object.keys(read).some((n) => !same(read[n], item[n] ?? null)))) { changed.push(read); return; }
    try {
      await deleteRead(table, item);
      deleted.push(item);
    } catch (failure) {
      if (!isCollision(failure)) throw failure;
      changed.push(read);
    }
  });
  return { deleted, changed, error };
}

/**
 * Puts items back where no other has their key since.
 * @param {Table} table @param {Item[]} items
 * @returns {Promise<{back: Item[], taken: Item[], error: Error | null}>}
 */
export async function putBack(table, items) {
  const back = /** @type {Item[]} */ ([]), taken = /** @type {Item[]} */ ([]);
  const error = await each(items, async (item) => {
    try {
      await putNew(table, item);
      back.push(item);
    } catch (failure) {
      if (!isCollision(failure)) throw failure;
      taken.push(item);
    }
  });
  return { back, taken, error };
}
