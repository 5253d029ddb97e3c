// A file of `dynalith races`: an order of requests by which a program fails. Nothing here needs a browser.

import { isMap } from "./types.js";

/** @import { Order, OrderStep } from "../lab.d.ts" */

/** What can be done to a request, by the member that names it. @type {Map<string, string>} */
const TROUBLES = new Map([["lost", "its answer is lost"], ["throttled", "it is throttled"], ["conflict", "it meets a transaction"], ["lagged", "it misses the write before it"],
  ["kept", "what has expired is still there"]]);
const STEPS_MAX = 2000; // drawn

/** A member that is a text, else "". @param {unknown} object @param {string} name */
function text(object, name) {
  const value = isMap(object) ? object[name] : "";
  return typeof value === "string" ? value : "";
}

/** Of the request of that place; throws where it is none. @param {unknown} request @param {number} i @param {Map<string, string>} troubles @returns {OrderStep} */
function stepOf(request, i, troubles) {
  const client = text(request, "client"), operation = text(request, "operation");
  if (!client || !operation) throw new Error(`Request ${i + 1} of "order" lacks "client" or "operation"`);
  return { client, name: text(request, "name"), operation, on: text(request, "on"), came: text(request, "came"), isWrite: Object(request).is_write === true, trouble: troubles.get(text(request, "id")) ?? "" };
}

/** An order from the text of its file; throws with a sentence where it is none. @param {string} file @returns {Order} */
export function readOrder(file) {
  let root = /** @type {unknown} */ (null);
  try { root = JSON.parse(file); } catch { throw new Error("This is no JSON: open a file that `dynalith races` wrote into races/"); }
  const list = isMap(root) ? /** @type {{order?: unknown}} */ (root).order : null;
  if (!Array.isArray(list) || !list.length) throw new Error('This is no order of requests: its "order" is no list. Open a file that `dynalith races` wrote into races/');
  if (list.length > STEPS_MAX) throw new Error(`It has ${list.length} requests, and ${STEPS_MAX} can be drawn`);
  const troubles = /** @type {Map<string, string>} */ (new Map());
  for (const [member, what] of TROUBLES) {
    const id = text(root, member);
    if (id) troubles.set(id, what);
  }
  const steps = list.map((request, i) => stepOf(request, i, troubles)), from = Number(Object(root).from);
  const first = Number.isInteger(from) && from > 0 && from < steps.length ? from : 0, shown = steps.slice(first);
  const clients = [...new Set(shown.map((s) => s.client))].sort().map((client) => ({ client, name: shown.find((s) => s.client === client && s.name)?.name ?? "" }));
  return { why: text(root, "why"), sentence: text(root, "sentence"), first, steps, clients };
}

/** How often another client goes on, of the requests that are shown. @param {Order} order */
export const switchesOf = ({ steps, first }) => steps.slice(first).filter((s, i, all) => i > 0 && all[i - 1].client !== s.client).length;

const quoted = (/** @type {string} */ name) => (/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);
/** The command that replays it. @param {string} name of its file */
export const replayOf = (name) => `dynalith races --order ${quoted(`races/${name}`)} -- npm test`;
