// The shell: which view is shown, by the part of the address behind '#'; the namespace, the theme, the key where signatures are verified.
import { closeDialogs, fill, h, field, dialog, isUnsaved, messageOf, note, select } from "./core/dom.js";
import { ACCOUNT, ApiError, REGION, control, loadFacts, session, listTables } from "./core/api.js";
import { addressIn, addressOf, readAddress } from "./core/address.js";
import { namespaceLinks } from "./ui/absent.js";
import { keysButton, listenToKeys } from "./ui/keys.js";

/** @import { End, Parts } from "./types.d.ts" */
/** @typedef {{show: (main: HTMLElement, rest: Parts) => Promise<End>}} View */

/** @type {[string, string, () => Promise<View>][]} name, title, module */
const VIEWS = [
  ["tables", "Tables", () => import("./views/tables.js")],
  ["collections", "Collections", () => import("./views/collections.js")],
  ["query", "Query", () => import("./views/query.js")],
  ["partiql", "PartiQL", () => import("./views/partiql.js")],
  ["live", "Live", () => import("./views/live.js")],
  ["control", "Control", () => import("./views/control.js")],
  ["model", "Model", () => import("./views/model.js")],
  ["lab", "Lab", () => import("./views/lab.js")],
];
let leave = /** @type {() => void} */ (() => {}); // what the view that is shown has to end
let turn = 0;
const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id)); // which index.html has

/** Takes the namespace of the address, unless a key signs, and returns the view with its further parts. */
function place() {
  const { key, region, parts: [view, ...rest] } = readAddress(location.hash), isVerified = session.facts.auth === "verify";
  if (region !== session.region || (!isVerified && key !== session.key)) {
    Object.assign(session, { region, table: "", ...(isVerified ? {} : { key }) });
    head();
  }
  return { view: VIEWS.find(([name]) => name === view) ?? VIEWS[0], rest };
}

/** Opens a view: its name, and the further parts of its address. @param {string[]} parts */
export const go = (...parts) => { location.hash = addressOf(...parts); };

let shownAt = "";

/** The address of what is shown now: the view stays as it is, and a link to it opens the same. @param {string[]} parts */
export function stay(...parts) {
  history.replaceState(null, "", addressOf(...parts));
  shownAt = location.hash;
}

async function show() {
  if (isUnsaved()) { // back, or a link: the address returns to what is shown
    if (location.hash !== shownAt) history.pushState(null, "", shownAt || "#/");
    note("There are changes that are not saved: save or discard them first", true);
    return;
  }
  closeDialogs();
  shownAt = location.hash;
  const mine = ++turn, main = byId("main"), { view, rest } = place();
  delete main.dataset.view;
  leave();
  leave = () => {};
  fill(byId("views"), VIEWS.map(([name, title], i) =>
    h("a", { href: addressOf(name), title: `Alt+${i + 1}`, ...(name === view[0] ? { "aria-current": "page" } : {}) }, title)));
  document.title = `${view[1]} – Dynalith console`;
  try {
    const module = await view[2]();
    if (mine !== turn) return;
    const own = h("div.view"); // one that comes too late fills what nobody sees
    fill(main, own);
    const end = await module.show(own, rest);
    if (mine !== turn) { end?.(); return; }
    leave = end ?? leave;
    main.dataset.view = view[0];
  } catch (error) {
    if (mine === turn) fill(main, h("div.empty", { role: "alert" }, h("p.problem", messageOf(error)), h("div.row", h("button", { type: "button", onclick: show }, "Try again"),
      error instanceof ApiError && error.type === "AccessDeniedException" && h("button", { type: "button", onclick: chooseIdentity }, "Use another access key"))));
  }
}

/** @param {string} value */
function theme(value) {
  if (value) document.documentElement.dataset.theme = value; else delete document.documentElement.dataset.theme;
  try { if (value) localStorage.setItem("theme", value); else localStorage.removeItem("theme"); } catch { /* the browser keeps nothing */ }
}

function namespace() {
  const key = h("input", { type: "text", value: session.key, spellcheck: false, autocomplete: "off" });
  const region = h("input", { type: "text", value: session.region, spellcheck: false });
  const known = h("div");
  const { actions } = dialog("Namespace", [h("p", "Tables belong to an account and a region. An access key of 12 digits names an account; with --namespaces key each key is one."),
    h("div.fields", field("Access key", key), field("Region", region)), known], [["Use", "main", () => {
    const { parts: [view] } = readAddress(location.hash);
    location.hash = addressIn({ key: key.value.trim() || ACCOUNT, region: region.value.trim() || REGION }, view || "tables");
  }]]);
  for (const input of [key, region]) input.onkeydown = (e) => { if (e.key === "Enter") actions[0].click(); };
  namespaceLinks("tables").then((links) => { if (links.length) fill(known, h("p", "Others that have tables:"), h("ul.names", links)); });
}

/** Asks for a key until one is right. It is kept in memory alone. */
function login() {
  return new Promise((/** @type {(value?: unknown) => void} */ done) => {
    const key = h("input", { type: "text", autocomplete: "off", spellcheck: false }), secret = h("input", { type: "password", autocomplete: "off" });
    const region = h("input", { type: "text", value: session.region });
    let isIn = false;
    const problem = h("p.problem", { role: "alert" });
    const form = h("div", h("p", "This server verifies signatures. The page signs in the browser; the key stays in its memory, and is gone when it is closed."),
      h("div.fields", field("Access key", key), field("Secret key", secret), field("Region", region)), problem);
    const { actions } = dialog("Sign in", form, [["Sign in", "main", async () => {
      Object.assign(session, { key: key.value.trim(), secret: secret.value, region: region.value.trim() || REGION });
      try { await listTables(); } catch (error) { fill(problem, messageOf(error)); return false; }
      isIn = true;
      return true;
    }]], () => (isIn ? done() : login().then(done)));
    form.onkeydown = (e) => { if (e.key === "Enter") actions[0].click(); };
    key.focus();
  });
}

const chooseIdentity = () => (session.facts.auth === "verify" ? login().then(() => { enter(); show(); }) : namespace());

/** Puts the region into the address after the start or a sign-in. */
function enter() {
  const { key, parts } = readAddress(location.hash);
  history.replaceState(null, "", addressIn({ key, region: session.region }, ...parts));
  head();
}

const frozenClock = h("button.small.badge.warn", { type: "button", hidden: true, title: "Control lets it run again", onclick: () => go("control") });

/** Shows at the top of the page whether the clock of the namespace is frozen. Call it after the clock was turned. */
export async function tellClock() {
  try {
    const { frozen, iso } = await control("GET", "clock");
    frozenClock.hidden = !frozen;
    frozenClock.textContent = `Clock frozen at ${iso.slice(0, 19).replace("T", " ")}`;
  } catch { frozenClock.hidden = true; }
}

function head() {
  let chosen = document.documentElement.dataset.theme ?? "";
  fill(byId("place"), frozenClock, keysButton(VIEWS),
    h("button.small", { type: "button", onclick: chooseIdentity, title: "Access key and region" },
      `${session.key} · ${session.region}`),
    select([["", "System"], ["light", "Light"], ["dark", "Dark"]], chosen, (value) => { chosen = value; theme(value); }, { "aria-label": "Theme" }));
  tellClock();
}

async function start() {
  try { theme(localStorage.getItem("theme") ?? ""); } catch { /* the browser keeps nothing */ }
  try { await loadFacts(); } catch (error) { note(messageOf(error), true); }
  session.region = readAddress(location.hash).region;
  if (session.facts.auth === "verify") await login();
  enter();
  listenToKeys(VIEWS, go);
  window.addEventListener("hashchange", show);
  window.addEventListener("beforeunload", (e) => { if (isUnsaved()) e.preventDefault(); });
  await show();
}
start();
