// An item to edit, in one of three forms that can be changed at any time: a form with a line a value,
// native JSON, DynamoDB JSON. The browser keeps which one was used last.
import { copy, fill, focusOn, h, messageOf, note } from "../core/dom.js";
import { ordered, print, readItem, writeItem } from "../model/types.js";
import { itemForm } from "./form.js";

/** @import { Item } from "../types.d.ts" */
/** @typedef {"form" | "native" | "dynamodb"} Mode */

/** @type {[Mode, string][]} */
const MODES = [["form", "Form"], ["native", "JSON"], ["dynamodb", "DynamoDB JSON"]];
const STORE = "editor";
/** @type {Record<Mode, string>} */
const HINTS = { form: "Keys have the table's types. A value that is none of its type is told below.", dynamodb: "Each value has its type: {\"S\": \"text\"}, {\"N\": \"1\"}.",
  native: "Sets are {\"$set\": [...]}, binary values {\"$binary\": \"base64\"}. A map that looks so is {\"$map\": {...}}. Numbers keep their digits." };

/** The mode that was used last. @returns {Mode} */
function lastMode() {
  try { return MODES.find(([m]) => m === localStorage.getItem(STORE))?.[0] ?? "native"; } catch { return "native"; }
}

/** The editor's value. `onchange` is called after each change; read() throws where the value is no item. @param {Item} first @param {string[]} keys @param {() => void} onchange */
export function itemInput(first, keys, onchange) {
  let mode = lastMode(), give = () => first, shown = ""; // give: the item of the form; shown: as the page wrote it
  const text = h("textarea", { rows: 18, spellcheck: false, "aria-label": "The item as JSON" }), form = h("div.formed"), hint = h("p.quiet");
  const written = (/** @type {Item} */ item) => writeItem(ordered(item, keys), mode === "native" ? "native" : "dynamodb");
  const read = () => (mode === "form" ? readItem(print(give()), "dynamodb") : readItem(text.value, mode === "native" ? "native" : "dynamodb"));

  /** Shows an item, which counts as not edited. @param {Item} item */
  function put(item) {
    const value = written(item);
    give = () => item;
    text.hidden = mode === "form";
    form.hidden = !text.hidden;
    if (mode === "form") fill(form, itemForm(ordered(item, keys), keys, (next) => { give = next; onchange(); })); else { fill(form); text.value = value; }
    shown = value;
    hint.textContent = HINTS[mode];
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(MODES[i][0] === mode)));
  }

  function isEdited() {
    if (mode !== "form") return text.value !== shown;
    try { return written(give()) !== shown; } catch { return true; }
  }

  const buttons = MODES.map(([name, title]) => h("button.small", { type: "button", "aria-pressed": "false", onclick: () => {
    if (name === mode) return;
    let item;
    try { item = read(); } catch (error) { note(`${messageOf(error)}. Mend it before another form can show it.`, true); return; }
    const was = isEdited();
    mode = name;
    put(item);
    if (was) shown = ""; // no item is written so
    try { localStorage.setItem(STORE, mode); } catch { /* the browser keeps nothing */ }
    onchange();
    focus();
  } }, title));
  function focus() { if (mode === "form") focusOn(form, "textarea, input:not([readonly])"); else text.focus(); }
  text.oninput = onchange;
  put(first);
  return { read, put, isEdited, focus, written,
    /** Marks the text as wrong, or as right. @param {boolean} isWrong */
    show(isWrong) { text.setAttribute("aria-invalid", String(isWrong)); },
    element: [h("div.row", buttons, h("span.push"), h("button.small", { type: "button", onclick: () => copy(mode === "form" ? written(read()) : text.value) }, "Copy")), hint, text, form] };
}
