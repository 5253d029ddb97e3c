// The part of the address behind '#': the namespace, the view, and its further parts. "#/@eu-west-1/query/shop"
// shows another region, "#/@eu-west-1,111111111111/tables" another account too. The usual namespace is left out.
import { ACCOUNT, REGION, session } from "./api.js";

/** @typedef {{key: string, region: string}} Namespace */

const encoded = (/** @type {string[]} */ parts) => `#/${parts.map((part) => encodeURIComponent(part).replace(/^%40/, "@").replaceAll("%2C", ",")).join("/")}`;

/** The address of a view in a namespace. @param {Namespace} namespace @param {string[]} parts the view, and its further parts */
export function addressIn({ key, region }, ...parts) {
  const others = key === ACCOUNT ? [] : [key];
  return encoded(region === REGION && !others.length ? parts : [`@${[region, ...others].join(",")}`, ...parts]);
}

/** The same in the namespace that the page shows. An address never has a key that signs. @param {string[]} parts */
export const addressOf = (...parts) => addressIn({ key: session.facts.auth === "verify" ? ACCOUNT : session.key, region: session.region }, ...parts);

/** Where an address points. @param {string} hash @returns {Namespace & {parts: string[]}} */
export function readAddress(hash) {
  const decoded = (/** @type {string} */ part) => { try { return decodeURIComponent(part); } catch { return part; } };
  const parts = hash.replace(/^#\/?/, "").split("/").map(decoded);
  const [region, key] = parts[0].startsWith("@") ? (parts.shift() ?? "").slice(1).split(",") : [];
  return { key: key || ACCOUNT, region: region || REGION, parts };
}
