// The entities of a table by what its items say, and by the names that people gave. These are kept
// in the browser, for each namespace and table.
import { dialog, field, h, note, number } from "../core/dom.js";
import { session } from "../core/api.js";
import { Entities } from "../model/entities.js";
import { entry } from "../model/shapes.js";

/** @import { Item, Keyed } from "../types.d.ts" */
/** @typedef {import("../model/entities.js").Type} Type */

const place = (/** @type {string} */ name) => `entities ${session.key} ${session.region} ${name}`;

/** Theirs by the name that was found. @param {string} name @returns {Map<string, string>} */
function given(name) {
  try {
    const kept = /** @type {[string, string][]} */ (JSON.parse(localStorage.getItem(place(name)) ?? "[]"));
    return new Map(kept.filter((pair) => pair.every((s) => typeof s === "string" && s)));
  } catch { return new Map(); }
}

/** Whether the browser keeps it. @param {string} name @param {Map<string, string>} names */
function keep(name, names) {
  try {
    localStorage.setItem(place(name), JSON.stringify([...names]));
    return true;
  } catch { return false; }
}

const colours = /** @type {Map<string, Map<string, number>>} */ (new Map()); // by table and way of naming: an entity keeps its colour while the page is open

/** The entities of a table; of a sample of its items where there is one, else of what will be read. @param {Keyed} table */
export function entitiesOf(table, by = "auto", sample = /** @type {Item[]} */ ([])) {
  const entities = new Entities(table, by, given(table.TableName), entry(colours, `${place(table.TableName)} ${by}`, () => new Map()));
  if (sample.length) entities.learn(sample);
  return entities;
}

const SOURCES = {
  attribute: (/** @type {string} */ by) => `The attribute ${by} says so.`,
  learned: (/** @type {string} */ by) => `Items with such keys have ${by}, which says so.`,
  key: () => "This is a guess by the shape of the keys. Give it another name where it is wrong.",
  table: () => "Neither keys nor attributes name a type: it is named as the table. Name it here.",
  renamed: () => "You named it so. Without a name it is called as it was found.",
};

/** How an entity got its name, and another one for it. @param {Keyed} table @param {Type} type @param {Entities} entities @param {() => void} done */
export function nameEntity(table, type, entities, done) {
  const input = h("input", { type: "text", value: type.name, spellcheck: false, maxLength: 60 });
  const why = SOURCES[type.source](entities.model.attribute);
  const form = h("div", h("p", `${number(type.count)} items were read. ${why}`),
    type.key === type.name ? null : h("p.quiet", `Found as ${type.key}.`),
    h("div.fields", field("Name", input)), h("p.quiet", "The name is kept in this browser, for this table."));
  const { actions } = dialog(`Entity ${type.name}`, form, [["Use the name", "main", () => {
    const names = given(table.TableName), name = input.value.trim();
    if (name && name !== type.key) names.set(type.key, name); else names.delete(type.key);
    if (!keep(table.TableName, names)) note("The browser keeps no names for this page", true);
    done();
  }]]);
  input.onkeydown = (e) => { if (e.key === "Enter") actions[0].click(); };
  input.select();
}
