// The entity types of a table as people see them: names, colours, attributes and counts of the items
// that were read. Which entity an item is: see shapes.js.

import { Model, entry } from "./shapes.js";

/** @import { Item, Keyed } from "../types.d.ts" */
/** @typedef {import("./shapes.js").Source} Source */

export const COLOURS = 12;
const SAMPLE = 2000;

/**
 * @typedef {{name: string, key: string, source: Source, colour: string, attributes: string[],
 *   count: number, templates: Map<string, Map<string, number>>}} Type
 */

/** The entity types of a table as its items come in: names, colours, attributes, counts. */
export class Entities {
  /**
   * `by`: "auto", "key" for the shapes alone, or the name of an attribute. `renamed` are the names
   * that people gave: the one that was found, and theirs. `colours` are those of names that were
   * found before; new ones are added.
   * @param {Keyed} table of the table itself, also where an index is read
   * @param {string} by
   * @param {Map<string, string>} renamed
   * @param {Map<string, number>} colours
   */
  constructor(table, by = "auto", renamed = new Map(), colours = new Map()) {
    this.table = table;
    this.by = by;
    this.renamed = renamed;
    this.sample = /** @type {Item[]} */ ([]);
    this.learnedAt = 0;
    this.colours = colours;
    this.types = /** @type {Map<string, Type>} */ (new Map());
    this.model = new Model(table, []);
    this.setBy();
  }

  setBy() {
    if (this.by === "auto") return;
    this.model.attribute = this.by === "key" ? "" : this.by;
    this.model.learned = new Map();
  }

  /** Items that are learned from, and not counted: a sample of the table. @param {Item[]} items */
  learn(items) {
    this.model = new Model(this.table, items);
    this.setBy();
    this.learnedAt = Infinity; // a sample of all places is better than the first pages
    for (const key of [...new Set(items.map((item) => this.model.name(item).key))].sort()) this.colour(key);
  }

  /** Items that were read: learned from, and counted. @param {Item[]} items */
  add(items) {
    const room = SAMPLE - this.sample.length;
    if (room > 0) this.sample.push(...items.slice(0, room));
    if (this.sample.length >= 2 * this.learnedAt) {
      this.model = new Model(this.table, this.sample);
      this.setBy();
      this.learnedAt = this.sample.length;
      this.recount(items);
    } else {
      for (const item of items) this.count(item);
    }
  }

  /** With a better model the names may be others. @param {Item[]} last */
  recount(last) {
    const before = [...this.types.values()].reduce((sum, t) => sum + t.count, 0);
    this.types.clear();
    for (const item of this.sample) this.count(item);
    const known = this.sample.length, all = before + last.length;
    if (all > known) for (const item of last.slice(known - all)) this.count(item);
  }

  /** @param {Item} item */
  count(item) {
    const type = this.of(item);
    type.count++;
    const more = Object.keys(item).filter((n) => !type.attributes.includes(n));
    if (more.length) type.attributes = [...type.attributes, ...more].sort();
  }

  /** @param {Item} item @returns {Type} */
  of(item) {
    const found = this.model.name(item), name = this.renamed.get(found.key) ?? found.name;
    return entry(this.types, name, () => ({ name, key: found.key, attributes: [], count: 0,
      source: name === found.name ? found.source : "renamed", templates: new Map(),
      colour: `var(--e${this.colour(found.key).toString(16)})` }));
  }

  /**
   * An entity keeps its colour, whatever it is called: those of the table's sample come first, in the
   * order of their names, and take what their letters say or the next one that is free. Those that
   * people call by one name have one colour, of that name or of the first.
   * @param {string} key as it was found
   */
  colour(key) {
    const called = (/** @type {string} */ k) => this.renamed.get(k) ?? k, name = called(key);
    const alike = [...this.colours.keys()].filter((k) => called(k) === name), same = alike.includes(name) ? name : alike[0];
    const known = this.colours.get(same ?? key);
    if (known !== undefined) return known;
    const used = new Set(this.colours.values());
    let n = [...key].reduce((sum, c) => (sum * 31 + (c.codePointAt(0) ?? 0)) % 9973, 7) % COLOURS;
    for (let i = 0; i < COLOURS && used.has(n); i++) n = (n + 1) % COLOURS;
    this.colours.set(key, n);
    return n;
  }
}
