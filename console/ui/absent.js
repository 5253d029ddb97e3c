// In the place of a table that is not there, or not there any more.
import { fill, h } from "../core/dom.js";
import { ApiError, control, listTables, session } from "../core/api.js";
import { addressIn, addressOf } from "../core/address.js";

/** @import { Child } from "../types.d.ts" */

/** @param {unknown} error */
export const isGone = (error) => error instanceof ApiError && error.type === "ResourceNotFoundException";

/**
 * What there is instead: `view` is the one that was asked for. Nothing of the old page stays.
 * @param {Element} main @param {string} view @param {string} name @param {string[]} names
 */
export function showAbsent(main, view, name, names) {
  const others = names.filter((n) => n !== name).slice(0, 50);
  const link = (/** @type {string} */ n) => h("li", h("a", { href: addressOf(view, n) }, n));
  fill(main, h("div.empty", { role: "alert" }, h("h1", `There is no table ${name} in this namespace.`),
    others.length ? [h("p", "There are:"), h("ul.names", others.map(link))] : h("p", "There is no other."),
    h("a", { href: addressOf("tables") }, "All tables")));
}

/**
 * The same after a request has failed because of it; false: the error is another one.
 * @param {Element} main @param {string} view @param {string} name @param {unknown} error
 */
export async function showGone(main, view, name, error) {
  if (!isGone(error)) return false;
  showAbsent(main, view, name, await listTables());
  return true;
}

/** Links to the other namespaces that have tables; none where the key may not list them. @param {string} view */
export async function namespaceLinks(view) {
  const { namespaces } = await control("GET", "namespaces").catch(() => ({ namespaces: [] }));
  const others = namespaces.filter((n) => n.tables && (n.account !== session.key || n.region !== session.region)).slice(0, 50);
  return others.map((n) => h("li", h("a", { href: addressIn({ key: n.account, region: n.region }, view) }, `${n.account} · ${n.region}`), ` has ${n.tables} ${n.tables === 1 ? "table" : "tables"}`));
}

/** Shown in a namespace without tables: links to those that have some, and `actions`. @param {string} view @param {Child} [actions] */
export async function noTables(view, actions = h("a", { href: addressOf("tables") }, "Create one")) {
  const others = session.facts.auth === "verify" ? [] : await namespaceLinks(view);
  return h("div.empty", h("p", `There are no tables in ${session.key} · ${session.region} yet.`),
    others.length ? [h("p", "Other accounts and regions have some:"), h("ul.names", others)] : null, actions);
}
