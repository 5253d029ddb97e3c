// Elements, dialogs, notes. Every text becomes a text node: nothing that came from data is ever parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

/** @import { Action, Checkbox, Child, Make } from "../types.d.ts" */

/** @param {string} what @param {object | Child} props @param {...Child} children */
function make(what, props, ...children) {
  const isChild = props instanceof Node || typeof props !== "object" || props === null || Array.isArray(props);
  const [tag, ...classes] = what.split("."), element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of isChild ? [] : Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, String(v));
    else if (name.includes("-") || ["role", "for", "colspan", "list", "scope"].includes(name)) element.setAttribute(name, value);
    else Reflect.set(element, name, value);
  }
  add(element, isChild ? [/** @type {Child} */ (props), ...children] : children);
  return element;
}
/** h("button.main", { onclick }, "Save"): an element with classes, properties, attributes (aria-*, data-*, role, ...) and children. */
export const h = /** @type {Make} */ (make);

/** The same for SVG, where everything is an attribute. @param {string} tag @param {Record<string, string | number>} [attributes] @param {...Child} children */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  add(element, children);
  return element;
}

/** @param {Element} element @param {readonly Child[]} children */
function add(element, children) {
  for (const child of children) {
    if (child instanceof Array) add(element, child);
    else if (child !== undefined && child !== null && child !== false && child !== "") element.append(child instanceof Node ? child : String(child));
  }
}

/** Replaces what an element has. @template {Element} E @param {E} element @param {...Child} children @returns {E} */
export function fill(element, ...children) { element.replaceChildren(); add(element, children); return element; }

/** Gives the focus to the first element of that kind. @param {ParentNode} root @param {string} selector */
export const focusOn = (root, selector) => /** @type {HTMLElement | null} */ (root.querySelector(selector))?.focus();

let fields = 0;
/** A labelled control: an input, select or textarea. @param {string} label @param {HTMLElement} control @param {string} [hint] */
export function field(label, control, hint) {
  control.id ||= `f${++fields}`;
  return h("label.field", { for: control.id }, h("span", label), control, hint && h("span.quiet", hint));
}

/**
 * Options as texts, or as [value, text].
 * @param {readonly (string | readonly string[])[]} options @param {string} value @param {(value: string) => unknown} [onchange]
 * @param {{"aria-label"?: string, disabled?: boolean}} [props] @returns {HTMLSelectElement}
 */
export function select(options, value, onchange, props = {}) {
  /** @type {HTMLSelectElement} */
  const element = h("select", { ...props, onchange: () => onchange?.(element.value) });
  for (const option of options) {
    const [v, text] = typeof option === "string" ? [option, option] : option;
    element.append(h("option", { value: v, selected: v === value }, text));
  }
  return element;
}

/** A box with a label; `input` of it is the box. @param {string} label @param {boolean} checked @param {(on: boolean) => unknown} [onchange] @returns {Checkbox} */
export function check(label, checked, onchange) {
  /** @type {HTMLInputElement} */
  const input = h("input", { type: "checkbox", checked, onchange: () => onchange?.(input.checked) });
  return Object.assign(h("label.check", input, h("span", label)), { input });
}

/** A line at the corner, read out by screen readers; errors and what can be undone stay longer. @param {string} text @param {(() => unknown) | null} [undo] */
export function note(text, isBad = false, undo) {
  const element = h(isBad ? "div.note.bad" : "div.note", text);
  if (undo) for (const before of document.querySelectorAll("#notes .undo")) before.remove(); // only the last change can be undone
  element.classList.toggle("undo", Boolean(undo));
  if (undo) element.append(" ", h("button.small", { type: "button", onclick: attempt(async () => { element.remove(); await undo(); }) }, "Undo"));
  document.getElementById("notes")?.append(element);
  setTimeout(() => element.remove(), isBad || undo ? 9000 : 3500);
}

/** What an error says. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Runs an action of the user's, and shows what goes wrong.
 * @template {unknown[]} A @template R @param {(...args: A) => R | Promise<R>} action @returns {(...args: A) => Promise<R | undefined>}
 */
export const attempt = (action) => async (...args) => {
  try { return await action(...args); } catch (error) { note(messageOf(error), true); return undefined; }
};

const open = /** @type {Set<{isDirty: () => boolean, close: () => void}>} */ (new Set()); // of dialogs: whether each has what is not saved, and how it is closed

/** Whether a dialog has what would be lost. */
export const isUnsaved = () => [...open].some((d) => d.isDirty());
export const closeDialogs = () => { for (const d of [...open]) d.close(); };

/**
 * A modal dialog: content, and buttons as [label, class, action]. An action that returns false, or
 * throws, keeps it open. Where `isDirty` says so, it asks before it is closed without an action.
 * @param {string} title @param {Child} content @param {Action[]} [buttons] @param {() => void} [onclose]
 */
export function dialog(title, content, buttons = [], onclose, isDirty = () => false) {
  const heading = h("h2", { id: `d${++fields}` }, title);
  const element = h("dialog", { "aria-labelledby": heading.id });
  const me = { isDirty, close: () => element.close() }, guard = h("div.guard", { hidden: true, role: "alertdialog", "aria-label": "Unsaved changes" });
  const close = () => element.close();
  const ask = () => {
    if (!isDirty()) { close(); return; }
    guard.hidden = false;
    keep.focus();
  };
  const keep = h("button", { type: "button", onclick: () => { guard.hidden = true; } }, "Keep editing");
  fill(guard, h("span", "There are changes that are not saved."), keep,
    h("button.danger", { type: "button", onclick: close }, "Discard the changes"));
  open.add(me);
  const actions = buttons.map(([label, kind, action]) => {
    const button = h("button", { type: "button", className: kind }, label);
    button.onclick = attempt(async () => {
      button.disabled = true;
      try { if ((await action?.()) !== false) close(); } finally { button.disabled = false; }
    });
    return button;
  });
  element.append(h("header", heading, h("button.small", { type: "button", onclick: ask, "aria-label": "Close the dialog" }, "Close")),
    guard, h("div.content", content), ...(actions.length ? [h("footer", actions)] : []));
  element.addEventListener("keydown", (e) => { if (e.key === "Escape" && !e.defaultPrevented) { e.preventDefault(); ask(); } });
  element.addEventListener("cancel", (e) => { e.preventDefault(); ask(); }); // Escape while nothing has the focus
  element.addEventListener("close", () => { open.delete(me); element.remove(); onclose?.(); });
  document.body.append(element);
  element.showModal();
  return { element, close, actions };
}

/**
 * Asks for the name to be typed before something is destroyed; `verb` stands on the button.
 * @param {string} title @param {string} name @param {string} what @param {() => unknown} action
 */
export function confirmByName(title, name, what, action, verb = "Delete") {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: false });
  const { actions } = dialog(title, [h("p", what), field(`Type ${name} to confirm`, input)], [[verb, "danger", action]]);
  const [button] = actions;
  button.disabled = true;
  input.oninput = () => { button.disabled = input.value !== name; };
  input.onkeydown = (e) => { if (e.key === "Enter" && !button.disabled) button.click(); };
  input.focus();
}

/** @param {string} text */
export async function copy(text) {
  try { await navigator.clipboard.writeText(text); note("Copied"); } catch { // as over http:// from another machine
    const area = h("textarea", { rows: 12, readOnly: true, value: text, "aria-label": "The text" });
    dialog("Copy by hand", [h("p", "The browser does not let this page copy. The text is selected: press Ctrl+C."), area]);
    area.select();
  }
}

/** @param {string} name of the file @param {string} type @param {string} text */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Calls `work` when the element is shown, and again each `ms` while it is, also when it was away. @param {Element} element @param {number} ms @param {() => unknown} work */
export function whileShown(element, ms, work) {
  let round = 0;
  const turn = async (/** @type {number} */ mine) => {
    if (mine !== round) return;
    await work();
    setTimeout(turn, ms, mine);
  };
  new IntersectionObserver((entries) => { round++; if (entries[entries.length - 1].isIntersecting) turn(round); }).observe(element);
}

/**
 * Tabs over panels that are made when they are shown first: [[name, make], ...]; `choose(name)` shows one. `onshow` gets the name of each that is shown later.
 * @param {string} label @param {[string, () => Child][]} panels @param {string} [chosen] by its name; another one is the first
 * @param {(name: string) => void} [onshow]
 */
export function tabs(label, panels, chosen, onshow) {
  const bar = h("div.tabs", { role: "tablist", "aria-label": label }), place = h("div", { role: "tabpanel", tabIndex: 0 });
  const made = /** @type {Child[]} */ ([]);
  const heads = panels.map(([name], i) => h("button", { role: "tab", type: "button", onclick: () => choose(i) }, name));
  const show = (/** @type {number} */ i) => {
    heads.forEach((head, k) => { head.setAttribute("aria-selected", String(k === i)); head.tabIndex = k === i ? 0 : -1; });
    place.setAttribute("aria-label", panels[i][0]);
    fill(place, (made[i] ??= panels[i][1]()));
  };
  bar.append(...heads);
  bar.onkeydown = (e) => {
    const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const next = (heads.findIndex((head) => head === document.activeElement) + step + panels.length) % panels.length;
    choose(next);
    heads[next].focus();
  };
  const choose = (/** @type {number} */ i) => { show(i); onshow?.(panels[i][0]); };
  show(Math.max(0, panels.findIndex(([name]) => name === chosen)));
  return Object.assign(h("div", bar, place), { choose: (/** @type {string} */ name) => choose(panels.findIndex(([n]) => n === name)) });
}

/** Rows of texts or nodes; columns as [title, class]. @param {string} caption @param {readonly (readonly string[])[]} columns @param {readonly (readonly Child[])[]} rows */
export function plainTable(caption, columns, rows) {
  return h("table.plain", h("caption.hidden", caption), h("thead", h("tr", columns.map(([title, kind]) => h("th", { className: kind, scope: "col" }, title || h("span.hidden", "Actions"))))),
    h("tbody", rows.map((row) => h("tr", row.map((cell, i) => h("td", { className: columns[i][1] }, cell))))));
}

/** A moment, to the second; one that no calendar has is a number of seconds. @param {number} seconds since 1970 */
export function moment(seconds) {
  const at = new Date(seconds * 1000);
  return Number.isNaN(at.getTime()) ? `${seconds} s` : at.toISOString().slice(0, 19).replace("T", " ");
}
/** Whole numbers without Intl, whose first use holds the page for 50 ms. @param {number} [n] */
export const number = (n) => (Number.isSafeInteger(n ?? 0) ? String(n ?? 0).replace(/\B(?=(\d{3})+$)/g, ",") : (n ?? 0).toLocaleString("en-US"));
/** @param {number} [n] */
export function bytes(n = 0) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let i = 0;
  for (; n >= 1024 && i < 4; i++) n /= 1024;
  return `${i ? n.toFixed(n < 10 ? 1 : 0) : n} ${units[i]}`;
}
