// What was asked in this browser, and what was saved under a name. Each is an address that opens the
// same form; the address can be sent to others.
import { dialog, field, fill, h, moment, note, number } from "../core/dom.js";
import { session } from "../core/api.js";
import { addressOf, readAddress } from "../core/address.js";

/**
 * @typedef {{address: string, title: string}} Query
 * @typedef {Query & {name?: string, said?: string, as?: string, time?: number}} Entry
 */

const RUNS = 60, SAVED = 200;
const place = (/** @type {string} */ what, /** @type {string} */ view) => `${what} ${view} ${session.key} ${session.region}`;

/** @param {string} what "runs" or "saved" @param {string} view @returns {Entry[]} */
function read(what, view) {
  try {
    const kept = JSON.parse(localStorage.getItem(place(what, view)) ?? "[]");
    return (Array.isArray(kept) ? kept : []).filter((e) => typeof e?.address === "string" && readAddress(e.address).parts[0] === view && typeof e.title === "string")
      .map((e) => ({ ...e, address: addressOf(...readAddress(e.address).parts) }));
  } catch { return []; }
}

/** Whether the browser keeps it. @param {string} what @param {string} view @param {Entry[]} list */
function write(what, view, list) {
  try { localStorage.setItem(place(what, view), JSON.stringify(list)); return true; } catch { return false; }
}

/** The address of the run before, or "". @param {string} view */
export const lastAddress = (view) => read("runs", view)[0]?.address ?? "";

/** What was saved in a view. @param {string} view */
export const savedQueries = (view) => read("saved", view);

/** Lists of what was saved and what was run in a view. `now` gives what the form says. @param {string} view @param {() => Query} now */
export function history(view, now) {
  const element = h("div");
  const link = (/** @type {Entry} */ e) => h("a.mono.past", { href: e.address }, e.name || e.title);

  function tell() {
    const saved = savedQueries(view), runs = read("runs", view);
    fill(element, h("div.row", h("button.small", { type: "button", onclick: save }, "Save this query")),
      h("h2.gap", "Saved"), saved.length ? saved.map((e) => h("div.entry", link(e), e.name !== e.title && h("small.quiet", e.title),
        h("button.small", { type: "button", "aria-label": `Forget ${e.name}`, onclick: () => { write("saved", view, saved.filter((s) => s !== e)); tell(); } }, "Forget")))
        : h("p.quiet", "A saved query is kept in this browser. Its link opens it anywhere."),
      h("h2.gap", "Run before"), runs.length ? [runs.map((e) => h("div.entry", link(e), h("small.quiet", [moment((e.time ?? 0) / 1000), e.as && `as ${e.as}`, e.said].filter(Boolean).join(" · ")))),
        h("button.small", { type: "button", onclick: () => { write("runs", view, []); tell(); } }, `Forget ${number(runs.length)} ${runs.length === 1 ? "run" : "runs"}`)] : h("p.quiet", "Nothing was run yet."));
  }

  function save() {
    const { address, title } = now(), name = h("input", { type: "text", value: title.slice(0, 80), spellcheck: false, maxLength: 80 });
    const { actions } = dialog("Save the query", h("div.fields", field("Name", name)), [["Save the query", "main", () => {
      const text = name.value.trim() || title;
      if (!write("saved", view, [{ name: text, address, title }, ...read("saved", view).filter((e) => e.name !== text)].slice(0, SAVED))) note("The browser keeps nothing for this page", true);
      tell();
    }]]);
    name.onkeydown = (e) => { if (e.key === "Enter") actions[0].click(); };
    name.select();
  }

  tell();
  return { element,
    /** A run: what it said of items and units, and in whose name. @param {string} said */
    add(said, as = "") {
      const { address, title } = now();
      write("runs", view, [{ address, title, said, as, time: Date.now() }, ...read("runs", view).filter((e) => e.address !== address)].slice(0, RUNS));
      tell();
    } };
}
