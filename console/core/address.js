// The part of the address behind '#': the namespace that is shown, the view, and its further parts.
// "#/@eu-west-1/query/shop" is a view in another region, "#/@eu-west-1,111111111111/tables" one of another
// account. The account 000000000000 in us-east-1 is left out.
import { session } from "./api.js";

const ACCOUNT = "000000000000", REGION = "us-east-1";

/** @typedef {{key: string, region: string}} Namespace */

const encoded = (/** @type {string[]} */ parts) => `#/${parts.map((part) => encodeURIComponent(part).replace(/^%40/, "@").replaceAll("%2C", ",")).join("/")}`;

/** @param {Namespace} namespace @param {string[]} parts the view, and its further parts */
export function addressIn({ key, region }, ...parts) {
  const others = key === ACCOUNT ? [] : [key];
  return encoded(region === REGION && !others.length ? parts : [`@${[region, ...others].join(",")}`, ...parts]);
}

/** In the namespace that is shown. A key that signs is in no address. @param {string[]} parts */
export const addressOf = (...parts) => addressIn({ key: session.facts.auth === "verify" ? ACCOUNT : session.key, region: session.region }, ...parts);

/** Where an address points. @param {string} hash @returns {Namespace & {parts: string[]}} */
export function readAddress(hash) {
  const decoded = (/** @type {string} */ part) => { try { return decodeURIComponent(part); } catch { return part; } };
  const parts = hash.replace(/^#\/?/, "").split("/").map(decoded);
  const [region, key] = parts[0].startsWith("@") ? (parts.shift() ?? "").slice(1).split(",") : [];
  return { key: key || ACCOUNT, region: region || REGION, parts };
}
