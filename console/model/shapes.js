// Which entity an item is: by the attribute that names the type, or by the shapes of its keys.
//
// A shape is what a key looks like once the values are taken out: CUSTOMER#42 / ORDER#7 has the
// labels CUSTOMER and ORDER. What counts as a label, and which attribute names the type, is learned
// from a sample of the table's own items. The keys are always those of the table: an entry of an
// index is a view of its item. Nothing here needs a browser.

import { ROOTS, Words } from "./keys.js";
import { own } from "./types.js";

/** @import { Item, Keyed } from "../types.d.ts" */
/**
 * @typedef {"attribute" | "learned" | "key" | "table" | "renamed"} Source
 *   learned: the item has no such attribute, and others of its shape have
 * @typedef {{name: string, key: string, source: Source}} Verdict key: the name before renaming
 * @typedef {import("./keys.js").Part} Part
 * @typedef {{pk: Part, sk: Part | null, shape: string}} Shape
 */

/** Libraries write these; none of them has another meaning. */
const CERTAIN = ["__edb_e__", "__typename", "_et", "_type", "_entity", "entityType", "EntityType",
  "entity_type", "ENTITY_TYPE"];
/** Attributes with such a name may name the type, or something else: the values decide. */
const LIKELY = new RegExp("^_*(entity|item|record|object|obj|doc|document|row|model)?[_-]*" +
  "(type|kind|entity|model|class|cls|discriminator|typename|tag)_*$", "i");

/** The text of a key's value; numbers and binary values too. */
function keyText(/** @type {Item} */ item, /** @type {string[]} */ names) {
  return names.map((n) => {
    const value = own(item, n);
    return value ? String(value.S ?? value.N ?? value.B ?? "") : "";
  }).join("#");
}

/** Shares of attributes that two sets have in common. */
function likeness(/** @type {Set<string>} */ a, /** @type {Set<string>} */ b) {
  const both = [...a].filter((n) => b.has(n)).length, all = a.size + b.size - both;
  return all ? both / all : 1;
}

/** @template K, V @param {Map<K, V>} map @param {K} key @param {() => V} make @returns {V} */
export function entry(map, key, make) {
  const old = map.get(key);
  if (old !== undefined) return old;
  const made = make();
  map.set(key, made);
  return made;
}

const upper = (/** @type {string | null} */ s) => (s ?? "").toUpperCase();

/** What was learned of a table from a sample of its items. */
export class Model {
  /** @param {Keyed} table @param {Item[]} items */
  constructor(table, items) {
    const keys = (/** @type {string} */ type) =>
      table.KeySchema.filter((k) => k.KeyType === type).map((k) => k.AttributeName);
    this.table = table;
    this.hash = keys("HASH");
    this.range = keys("RANGE");
    this.pkWords = new Words();
    this.skWords = new Words();
    this.names = /** @type {Map<string, string>} */ (new Map()); // of shapes
    this.learned = /** @type {Map<string, string>} */ (new Map()); // shape: the attribute's value
    this.attribute = "";
    this.isCertain = false;
    this.learn(items);
  }

  /** @param {Item} item @returns {Shape} */
  shapeOf(item) {
    const pk = this.pkWords.read(keyText(item, this.hash), true);
    const sk = this.range.length ? this.skWords.read(keyText(item, this.range), false) : null;
    const isSelf = sk !== null && sk.text === pk.text;
    const half = (/** @type {Part} */ p) => (p.labels.length ? p.labels.join("#") : p.kind);
    return { pk, sk, shape: `${half(pk)} / ${isSelf ? "=" : sk ? half(sk) : ""}` };
  }

  /** @param {Item[]} items */
  learn(items) {
    const partitions = new Set();
    for (const item of items) {
      const pk = keyText(item, this.hash);
      partitions.add(pk);
      this.pkWords.see(pk, pk);
      if (this.range.length) this.skWords.see(keyText(item, this.range), pk);
    }
    this.pkWords.isCrowded = items.length >= 4 * partitions.size;
    const shapes = new Map(items.map((item) => [item, this.shapeOf(item)]));
    this.findAttribute(shapes);
    this.nameShapes(shapes);
  }

  /** @param {Map<Item, Shape>} shapes */
  findAttribute(shapes) {
    const counts = /** @type {Map<string, number>} */ (new Map());
    for (const item of shapes.keys()) {
      for (const name of Object.keys(item)) {
        if (typeof item[name].S === "string" && item[name].S.length <= 64) {
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
      }
    }
    const keys = new Set([...this.hash, ...this.range]);
    const certain = CERTAIN.find((n) => counts.has(n) && !keys.has(n));
    const likely = [...counts.keys()].filter((n) => LIKELY.test(n) && !keys.has(n))
      .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
    this.isCertain = certain !== undefined;
    this.attribute = certain ??
      likely.find((n) => (counts.get(n) ?? 0) >= shapes.size / 2 && this.names_(n, shapes)) ?? "";
    if (!this.attribute) return;
    const ambiguous = new Set();
    for (const [item, { shape }] of shapes) {
      const value = own(item, this.attribute)?.S;
      if (!value) continue;
      if (this.learned.has(shape) && this.learned.get(shape) !== value) ambiguous.add(shape);
      this.learned.set(shape, value);
    }
    for (const shape of ambiguous) this.learned.delete(shape);
  }

  /**
   * Whether the attribute's values are types: each shape of keys has one value, and not all have
   * the same; where keys have no labels, items with another value have other attributes.
   * @param {string} attribute @param {Map<Item, Shape>} shapes
   */
  names_(attribute, shapes) {
    const byShape = /** @type {Map<string, Map<string, number>>} */ (new Map());
    const sets = /** @type {Map<string, Set<string>>} */ (new Map());
    let bare = 0, total = 0, pure = 0;
    for (const [item, { pk, sk, shape }] of shapes) {
      const value = own(item, attribute)?.S;
      if (!value) continue;
      const of = entry(sets, value, () => new Set());
      for (const n of Object.keys(item)) of.add(n);
      if (!pk.labels.length && !sk?.labels.length) { bare++; continue; }
      const values = entry(byShape, shape, () => new Map());
      values.set(value, (values.get(value) ?? 0) + 1);
      total++;
    }
    for (const values of byShape.values()) pure += Math.max(...values.values());
    const isPure = total === 0 || pure >= 0.95 * total;
    if (byShape.size > 1) return isPure && sets.size > 1;
    if (!isPure) return false;
    if (byShape.size === 1) return bare === 0 || sets.size > 1;
    return sets.size > 1 && isApart([...sets.values()]);
  }

  /** @param {Map<Item, Shape>} shapes */
  nameShapes(shapes) {
    const roots = new Set();
    const all = /** @type {Map<string, {s: Shape, has: Set<string>}>} */ (new Map());
    for (const [item, s] of shapes) {
      const of = entry(all, s.shape, () => ({ s, has: new Set() }));
      for (const n of Object.keys(item)) if (!this.isKey(n)) of.has.add(n);
      if (s.pk.labels.length && isRoot(s)) roots.add(upper(s.pk.labels.at(-1) ?? null));
    }
    for (const [shape, { s }] of all) this.names.set(shape, nameOf(s, roots));
    // the same label under different partitions, with nothing in common, is not one entity
    const byName = /** @type {Map<string, string[]>} */ (new Map());
    for (const [shape, name] of this.names) if (name) entry(byName, name, () => []).push(shape);
    for (const [name, list] of byName) {
      const sets = list.map((shape) => all.get(shape)?.has ?? new Set());
      if (list.length < 2 || !isApart(sets)) continue;
      for (const shape of list) {
        const parent = all.get(shape)?.s.pk.labels.at(-1);
        if (parent && parent !== name) this.names.set(shape, `${parent}_${name}`);
      }
    }
    this.roots = roots;
  }

  /** @param {string} name */
  isKey(name) { return this.hash.includes(name) || this.range.includes(name); }

  /** @param {Item} item @returns {Verdict} */
  name(item) {
    const value = this.attribute ? own(item, this.attribute)?.S : "";
    if (value) return { name: value, key: value, source: "attribute" };
    const s = this.shapeOf(item), known = this.learned.get(s.shape);
    if (known) return { name: known, key: known, source: "learned" };
    const name = this.names.get(s.shape) ?? nameOf(s, this.roots ?? new Set());
    if (name) return { name, key: name, source: "key" };
    return { name: this.table.TableName, key: this.table.TableName, source: "table" };
  }
}

/** Whether no two of the sets have much in common. @param {Set<string>[]} sets */
function isApart(sets) {
  for (let i = 0; i < sets.length; i++) {
    for (let k = i + 1; k < sets.length; k++) if (likeness(sets[i], sets[k]) > 0.5) return false;
  }
  return true;
}

/** The item that a partition is of: it has no sort key, or one that says nothing. */
function isRoot(/** @type {Shape} */ { pk, sk }) {
  if (!sk || sk.text === pk.text) return true;
  const label = sk.labels[0];
  if (!label || sk.labels.length > 1) return false;
  return ROOTS.has(upper(label)) || upper(label) === upper(pk.labels.at(-1) ?? null);
}

/** @param {Shape} shape @param {Set<unknown>} roots @returns {string} */
function nameOf(shape, roots) {
  const { pk, sk } = shape, parent = pk.labels.at(-1) ?? "";
  if (isRoot(shape)) return parent;
  if (!sk?.labels.length) {
    return parent && roots.has(upper(parent)) ? `${parent} ${sk?.kind ?? ""}`.trim() : parent;
  }
  const labels = sk.labels.filter((l, i) => i === sk.labels.length - 1 || l !== parent);
  if (labels.length > 2) return labels.at(-1) ?? "";
  const name = labels.join("_");
  // STUDENT#1 / COURSE#9 where COURSE#9 is an item of its own: what joins the two
  return labels.length === 1 && parent && upper(parent) !== upper(name) && roots.has(upper(name))
    ? `${parent}_${name}` : name;
}
