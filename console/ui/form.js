// The form of an item: a line a value, with its name, its type by pick and a control that fits the
// type. Values in lists, maps and sets stand below the one that has them.
import { focusOn, h, select } from "../core/dom.js";
import { TYPE_NAMES, child, isHolder, itemOf, node, nodesOf, retype } from "../model/form.js";

/** @import { Item } from "../types.d.ts" */
/**
 * @typedef {import("../model/form.js").Node} Value
 * @typedef {() => string} Label
 * @typedef {{nodes: Value[], path: (n: Value) => string, depth: number, isNamed: boolean, isSet: boolean}} List what a value is in
 */

const SHOWN = 100; // lines of one holder, until more are asked for
const FOLDED = 2;  // depth from which holders are folded at first
const PLACEHOLDERS = new Map([["N", "number"], ["B", "base64"]]);

const labels = /** @type {WeakMap<Element, Label>} */ (new WeakMap()); // by control: how it is called, which names above it decide
/** @template {Element} E @param {E} control @param {Label} label @returns {E} */
function named(control, label) {
  labels.set(control, label);
  control.setAttribute("aria-label", label());
  return control;
}
/** After a name has changed, or an element has gone. */
const relabel = (/** @type {Element} */ root) => root.querySelectorAll("[aria-label]").forEach((e) => { const label = labels.get(e); if (label) e.setAttribute("aria-label", label()); });
/** @param {string} text @param {Label} label @param {() => void} onclick */
const button = (text, label, onclick) => named(h("button.small", { type: "button", onclick }, text), label);

/** The control of a value that holds no others. @param {Value} n @param {Label} title @param {() => void} changed */
function control(n, title, changed) {
  const label = () => `Value of ${title()}`;
  if (n.type === "NULL") return h("span.quiet.value", "null");
  if (n.type === "BOOL") return named(select(["true", "false"], n.text === "true" ? "true" : "false", (v) => { n.text = v; changed(); }), label);
  const input = h("textarea.value", { rows: Math.min(6, n.text.split("\n").length), spellcheck: false, value: n.text, placeholder: PLACEHOLDERS.get(n.type) ?? "" });
  input.oninput = () => { n.text = input.value; changed(); };
  return named(input, label);
}

/**
 * A form of the item. `keys` are the names of the key's attributes, whose names and types are fixed.
 * Calls `onchange` with a function that gives the item; it throws where there is none.
 * @param {Item} item @param {string[]} keys @param {(give: () => Item) => void} onchange
 */
export function itemForm(item, keys, onchange) {
  const nodes = nodesOf(item), open = /** @type {Map<Value, boolean>} */ (new Map()); // open: whether a holder is unfolded
  const changed = () => onchange(() => itemOf(nodes));
  const isOpen = (/** @type {Value} */ n, /** @type {number} */ depth) => open.get(n) ?? depth < FOLDED;

  /** One value, and below it those that it holds. @param {Value} n @param {List} list what it is in @returns {HTMLElement} */
  function line(n, list) {
    const isKey = list.depth === 0 && keys.includes(n.name), title = () => list.path(n), whole = h("div.node");
    const again = (/** @type {string} */ focused) => { const made = line(n, list); whole.replaceWith(made); focusOn(made, focused); };
    const row = h("div.values");
    if (list.isNamed) {
      const name = named(h("input.name", { type: "text", value: n.name, spellcheck: false, readOnly: isKey, placeholder: "name" }), () => `Name of ${title()}`);
      name.oninput = () => { n.name = name.value; relabel(whole); changed(); };
      row.append(name);
    }
    if (!list.isSet) row.append(named(select(TYPE_NAMES, n.type, (v) => { retype(n, v); open.set(n, true); changed(); again("select"); }, { disabled: isKey }), () => `Type of ${title()}`));
    if (isHolder(n.type)) {
      const isUnfolded = isOpen(n, list.depth);
      row.append(button(isUnfolded ? "Fold" : `Show ${n.kids.length}`, () => `${isUnfolded ? "Fold" : "Show"} ${title()}`, () => { open.set(n, !isUnfolded); again(".values > button"); }));
    } else row.append(control(n, title, changed));
    if (!isKey) row.append(button("Remove", () => `Remove ${title()}`, () => {
      const near = whole.nextElementSibling ?? whole.previousElementSibling, parent = whole.parentElement;
      list.nodes.splice(list.nodes.indexOf(n), 1);
      whole.remove();
      if (parent) relabel(parent);
      if (near) focusOn(near, "input, textarea, select, button");
      changed();
    }));
    whole.append(row);
    if (isHolder(n.type) && isOpen(n, list.depth)) whole.append(kids(n, title, list.depth + 1));
    return whole;
  }

  /** The lines of a list, and a button that adds one to it. @param {List} list @param {{text: string, label: Label, make: () => Value}} add */
  function lines(list, add) {
    const place = h("div");
    const grow = (/** @type {number} */ from) => {
      place.append(...list.nodes.slice(from, from + SHOWN).map((n) => line(n, list)));
      const rest = list.nodes.length - from - SHOWN;
      if (rest <= 0) return;
      /** @type {HTMLElement} */
      const more = h("button.small", { type: "button", onclick: () => { more.remove(); grow(from + SHOWN); } }, `Show ${Math.min(rest, SHOWN)} of ${rest} more`);
      place.append(more);
    };
    grow(0);
    return [place, button(add.text, add.label, () => {
      const n = add.make();
      list.nodes.push(n);
      const made = line(n, list);
      place.append(made);
      focusOn(made, "input, textarea, select");
      changed();
    })];
  }

  /** @param {Value} n @param {Label} title @param {number} depth */
  function kids(n, title, depth) {
    const isMap = n.type === "M", path = (/** @type {Value} */ k) => (isMap ? `${title()}.${k.name}` : `${title()}[${n.kids.indexOf(k)}]`);
    return h("div.kids", lines({ nodes: n.kids, path, depth, isNamed: isMap, isSet: n.type !== "L" && !isMap },
      { text: isMap ? "Add a member" : "Add an element", label: () => `Add to ${title()}`, make: () => child(n) }));
  }

  return h("div.form", lines({ nodes, path: (n) => n.name || "the new attribute", depth: 0, isNamed: true, isSet: false },
    { text: "Add an attribute", label: () => "Add an attribute", make: () => node("", "S") }));
}
