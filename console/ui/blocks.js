// The items of a table or an index as rows, page by page as they are needed. A large table is read in as many segments as the server says: segments are
// ranges of the partition keys' hash, in the order of a scan, so that any place of it is a request away.
import { api } from "../core/api.js";
import { messageOf } from "../core/dom.js";
import { brief, own } from "../model/types.js";

/** @import { Input, Item, KeySchema, Read } from "../types.d.ts" */
/**
 * @typedef {{isGroup: true, name: string, items: Item[]}} Group the head of a partition's items
 * @typedef {{isGroup: false, item: Item}} Single
 * @typedef {{rows: (Group | Single)[] | null, more: Item | undefined, wanted: number, size: number, isBusy: boolean}} Block a segment
 */

const PAGE = 400;       // items of one request
const KEPT = 150;       // segments in memory
const AT_ONCE = 3;

export class Blocks {
  /**
   * `input` is what Scan takes (TableName, IndexName), or Query with a KeyConditionExpression. `segments` is how many the server found to be filled. `onLoad` is called when rows have come.
   * @param {Input} input @param {KeySchema} keys @param {number} items about @param {number} segments @param {() => void} onLoad @param {(items: Item[]) => void} onItems
   */
  constructor(input, keys, items, segments, onLoad, onItems) {
    const isQuery = "KeyConditionExpression" in input;
    this.input = input;
    this.operation = /** @type {"Query" | "Scan"} */ (isQuery ? "Query" : "Scan");
    this.hash = keys.filter((k) => k.KeyType === "HASH").map((k) => k.AttributeName);
    this.onLoad = onLoad;
    this.onItems = onItems;
    const n = isQuery ? 1 : segments;
    this.estimate = Math.max(1, Math.ceil((items / n) * 1.25));
    this.blocks = Array.from({ length: n }, () => /** @type {Block} */ ({ rows: null, more: undefined, wanted: 0, size: 0, isBusy: false }));
    this.kept = KEPT;
    this.starts = /** @type {number[]} */ ([]); // of each block's first row; empty: to be counted
    this.total = this.busy = this.clock = this.units = this.loaded = 0;
    this.queue = /** @type {number[]} */ ([]);
    this.problem = "";
    this.error = /** @type {unknown} */ (null);
  }

  /** @param {Block} block */
  sizeOf(block) {
    if (block.rows) return block.rows.length + (block.more ? 1 : 0);
    return block.size || (this.blocks.length === 1 ? 1 : this.estimate);
  }

  count() {
    if (!this.starts.length) {
      let sum = 0;
      this.starts = this.blocks.map((b) => { const at = sum; sum += this.sizeOf(b); return at; });
      this.total = sum;
    }
    return this.total;
  }

  /** The block of a row. @param {number} i */
  find(i) {
    this.count();
    let low = 0, high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= i) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** A row; null while it is loading, which this begins. @param {number} i */
  at(i) {
    const k = this.find(i), block = this.blocks[k], row = block.rows?.[i - this.starts[k]];
    block.wanted = ++this.clock;
    if (!row) this.load(k);
    return row ?? null;
  }

  /** @param {number} k */
  load(k) {
    if (this.blocks[k].isBusy || this.problem) return;
    this.queue = [k, ...this.queue.filter((q) => q !== k)].slice(0, 8); // the latest first: what was scrolled past can wait
    this.next();
  }

  next() {
    while (this.busy < AT_ONCE && this.queue.length) this.read(/** @type {number} */ (this.queue.shift()));
  }

  /** @param {number} k */
  async read(k) {
    const block = this.blocks[k], n = this.blocks.length;
    if (block.isBusy || (block.rows && !block.more)) return;
    block.isBusy = true;
    this.busy++;
    try {
      const page = await api(this.operation, { ...this.input, Limit: PAGE, ReturnConsumedCapacity: "TOTAL", ...(n > 1 ? { Segment: k, TotalSegments: n } : {}),
        ...(block.more ? { ExclusiveStartKey: block.more } : {}) });
      this.take(block, page);
    } catch (error) {
      this.error = error;
      this.problem = messageOf(error);
    }
    block.isBusy = false;
    this.busy--;
    this.forget();
    this.onLoad();
    this.next();
  }

  /** @param {Block} block @param {Read} page */
  take(block, { Items: items = [], ...page }) {
    const rows = block.rows ??= [];
    let group = rows.findLast((r) => r.isGroup);
    for (const item of items) {
      const name = this.hash.map((a) => brief(own(item, a), 300)).join(" · ");
      if (!group || group.name !== name) {
        group = { isGroup: true, name, items: [] };
        rows.push(group);
      }
      group.items.push(item);
      rows.push({ isGroup: false, item });
    }
    this.onItems(items);
    block.more = page.LastEvaluatedKey;
    block.size = 0;
    this.units += page.ConsumedCapacity?.CapacityUnits ?? 0;
    this.loaded += items.length;
    this.starts = [];
  }

  /** Reads the places that were not looked at yet, one after the other, until there are so many more items. @param {number} items */
  async readOn(items) {
    const enough = this.loaded + items;
    for (let k = 0; k < this.blocks.length && this.loaded < enough && !this.problem; k++) {
      const block = this.blocks[k];
      if (!block.rows) this.kept++; // what was asked for stays
      while (!block.isBusy && (!block.rows || block.more) && this.loaded < enough && !this.problem) await this.read(k);
    }
  }

  /** The items in memory, and whether they are all. */
  items() { return this.blocks.flatMap((b) => (b.rows ?? []).flatMap((r) => (r.isGroup ? [] : [r.item]))); }
  isWhole() { return this.blocks.every((b) => b.rows && !b.more); }

  /** Segments that were not looked at for the longest time are let go of; their size is known. */
  forget() {
    const full = this.blocks.filter((b) => b.rows);
    if (full.length <= this.kept) return;
    full.sort((a, b) => a.wanted - b.wanted);
    for (const block of full.slice(0, full.length - this.kept)) {
      if (block.more || !block.rows) continue;
      block.size = Math.max(1, block.rows.length);
      if (block.rows.length) block.rows = null;
    }
    this.starts = [];
  }
}
