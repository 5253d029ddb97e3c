// The keyboard: a list of keys behind "?", keys that go to a view or a row, and the palette behind
// Ctrl+K, which finds views, tables, indexes and saved queries by a part of their name, and pages by
// what they answer.
import { attempt, dialog, fill, h, plainTable } from "../core/dom.js";
import { allTables } from "../core/api.js";
import { addressOf } from "../core/address.js";
import { savedQueries } from "./history.js";

/** @import { Views } from "../types.d.ts" */
/** @typedef {[text: string, kind: string, address: string, words?: string]} Target of the palette, which is found by its words too */

const KEYS = [["Ctrl+K", "find a view, a table, an index or a saved query; or a page by what it answers: cost, expire, import"], ["/", "search, or the first field of the page"], ["g, then t c q p l o m b", "Tables, Collections, Query, PartiQL, Live, Control, Model, Lab"],
  ["Alt+1 to Alt+8", "the same views in their order"], ["j, k or arrows", "the next row, the row before"], ["Enter or e", "open the row"], ["Space or x", "choose the row; Shift and a click on a box: all between"], ["Ctrl+Enter", "save an item, run a statement"],
  ["Ctrl+Space", "complete a statement"], ["Esc", "close what is open"], ["?", "this list"]];
const GO = new Map([["t", "tables"], ["c", "collections"], ["q", "query"], ["p", "partiql"], ["l", "live"], ["o", "control"], ["m", "model"], ["b", "lab"]]);
const ROWS = new Map([["j", "ArrowDown"], ["k", "ArrowUp"], ["e", "Enter"], ["x", " "]]);
const SHOWN = 50;

const list = () => dialog("Keys", plainTable("Keys", [["Key", "tight"], ["What it does"]], KEYS.map(([key, what]) => [h("kbd", key), what])));

/** Pages by what they answer: title, address, more words that people look for. @type {[string, string[], string][]} */
const PAGES = [["Insight: costs, throttles, findings", ["control", "Insight"], "price dollars billing throttled units hot partition slow latency access patterns"], ["State: clock, checkpoints, snapshots, clones", ["control", "State"], "time freeze roll back restore namespace"],
  ["Faults and limits: fault rules, throughput, lag, conflicts", ["control", "Faults and limits"], "errors throttled delay drop capacity inject"], ["Backups, exports and imports, replicas", ["control", "Backups, exports, replicas"], "restore s3 global table"],
  ["Live: requests as they come", ["live", "Requests"], "errors latency log throttled why"], ["Live: streams", ["live", "Streams"], "changes records"], ["Live: what expires next", ["live", "Time to live"], "ttl expired expiry"], ["Live: faults that acted", ["live", "Faults"], "fault rules fired"],
  ["Forecast: when tables throttle, what they cost", ["lab", "Forecast"], "price dollars billing throttled capacity units scale"], ["Races: orders of requests that break a program", ["lab", "Races"], "race conditions conflicts concurrency"],
  ["Model: entities, access patterns and their cost", ["model"], "price design chart picture markdown"], ["Model: import or export a model of NoSQL Workbench", ["model"], "file"], ["Items: import, export, count", ["collections"], "csv json lines delete"]];

/** The pages. @returns {Target[]} */
const pageTargets = () => PAGES.map(([title, parts, words]) => [title, "page", addressOf(...parts), words]);

/** The views. @param {Views} views @returns {Target[]} */
const viewTargets = (views) => views.map(([name, title]) => [title, "view", addressOf(name)]);

/** What the palette finds. @param {Views} views */
async function targets(views) {
  const found = viewTargets(views);
  for (const view of ["query", "partiql"]) for (const e of savedQueries(view)) found.push([e.name ?? e.title, "saved query", e.address]);
  for (const { Table: t } of await allTables()) {
    const name = t.TableName;
    found.push([name, "items", addressOf("collections", name)], [`Query ${name}`, "query", addressOf("query", name)]);
    for (const { IndexName: index } of [...(t.GlobalSecondaryIndexes ?? []), ...(t.LocalSecondaryIndexes ?? [])]) {
      found.push([`${name} by ${index}`, "items of the index", addressOf("collections", name, index)], [`Query ${name} by ${index}`, "query", addressOf("query", name, index)]);
    }
  }
  return [...found, ...pageTargets()]; // names of one's own come first
}

/** Whether all words of the question are in the text. @param {string} text @param {string} question */
const matches = (text, question) => question.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));

const palette = attempt(async (/** @type {Views} */ views) => {
  const input = h("input", { type: "text", spellcheck: false, placeholder: "view, table, index, saved query, or what you look for", role: "combobox", "aria-label": "Find", "aria-expanded": "true", "aria-controls": "found", autocomplete: "off" });
  const options = h("div.found", { role: "listbox", id: "found", "aria-label": "Found" });
  let all = [...viewTargets(views), ...pageTargets()], shown = /** @type {Target[]} */ ([]), chosen = 0;
  const { close } = dialog("Go to", [input, options]);
  const take = (/** @type {number} */ i) => { if (shown[i]) { close(); location.hash = shown[i][2]; } };
  const mark = () => {
    [...options.children].forEach((o, i) => o.setAttribute("aria-selected", String(i === chosen)));
    if (shown.length) input.setAttribute("aria-activedescendant", `found${chosen}`); else input.removeAttribute("aria-activedescendant");
    options.children[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const sift = () => {
    shown = all.filter(([text, kind, , words = ""]) => matches(`${text} ${kind} ${words}`, input.value.trim())).slice(0, SHOWN);
    chosen = 0;
    fill(options, shown.map(([text, kind], i) => h("div", { role: "option", id: `found${i}`, onclick: () => take(i) }, h("span", text), h("small.quiet", kind))),
      !shown.length && h("div", { role: "option", "aria-disabled": "true" }, "Nothing is found by these words"));
    mark();
  };
  input.oninput = sift;
  input.onkeydown = (e) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step && shown.length) { e.preventDefault(); chosen = (chosen + step + shown.length) % shown.length; mark(); }
    if (e.key === "Enter") { e.preventDefault(); take(chosen); }
  };
  input.focus();
  sift();
  all = await targets(views);
  sift();
});

/** The first field for a search that can be seen, else the first field of the view. */
function search() {
  const seen = (/** @type {string} */ query) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(query))].find((e) => e.checkVisibility());
  (seen("#main input[type=search]") ?? seen("#main input, #main textarea"))?.focus();
}

/** Listens to keys; `views` are in the order of Alt+1, `go` opens one. @param {Views} views @param {(view: string) => void} go */
export function listenToKeys(views, go) {
  let isGoing = false; // after "g"
  document.addEventListener("keydown", (e) => {
    if ((e.ctrlKey || e.metaKey) && !e.altKey && e.key.toLowerCase() === "k") {
      e.preventDefault();
      if (!document.querySelector("dialog[open]")) palette(views);
      return;
    }
    if (e.altKey && !e.ctrlKey && !e.metaKey && views[Number(e.key) - 1]) {
      e.preventDefault();
      go(views[Number(e.key) - 1][0]);
      return;
    }
    const isTyping = e.target instanceof Element && e.target.matches("input:not([type=checkbox]), textarea, select");
    if (isTyping || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    const grid = /** @type {HTMLElement | null} */ (document.querySelector("#main .grid")), to = isGoing && GO.get(e.key), row = ROWS.get(e.key);
    isGoing = e.key === "g";
    if (to) go(to);
    else if (e.key === "?") list();
    else if (e.key === "/") search();
    else if (grid && row) {
      grid.focus({ preventScroll: true });
      grid.dispatchEvent(new KeyboardEvent("keydown", { key: row, bubbles: true, cancelable: true }));
    } else return;
    e.preventDefault();
  });
}

/** A button for those who do not know the keys yet. @param {Views} views @returns {HTMLElement[]} */
export const keysButton = (views) => [h("button.small.wide-only", { type: "button", title: "Ctrl+K", onclick: () => palette(views) }, "Find …"), h("button.small", { type: "button", title: "?", "aria-label": "Keys", onclick: list }, "?")];
