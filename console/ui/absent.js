// In the place of a table that is not there, or not there any more.
import { fill, h } from "../core/dom.js";
import { ApiError, listTables } from "../core/api.js";

/** @param {unknown} error */
export const isGone = (error) => error instanceof ApiError && error.type === "ResourceNotFoundException";

/**
 * What there is instead: `view` is the one that was asked for. Nothing of the old page stays.
 * @param {Element} main @param {string} view @param {string} name @param {string[]} names
 */
export function showAbsent(main, view, name, names) {
  const others = names.filter((n) => n !== name).slice(0, 50);
  const link = (/** @type {string} */ n) => h("li", h("a", { href: `#/${view}/${encodeURIComponent(n)}` }, n));
  fill(main, h("div.empty", { role: "alert" }, h("h1", `There is no table ${name} in this namespace.`),
    others.length ? [h("p", "There are:"), h("ul.names", others.map(link))] : h("p", "There is no other."),
    h("a", { href: "#/tables" }, "All tables")));
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
