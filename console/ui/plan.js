// What the server says that a request does: what it reads, what that costs, what would be better, and
// which policy decided.
import { fill, h, messageOf, number, plainTable } from "../core/dom.js";
import { ApiError, control } from "../core/api.js";
import { findingView } from "./findings.js";
import { brief } from "../model/types.js";

/** @import { Access, Better, Decision, Input, Plan } from "../types.d.ts" */

const rangeOf = (/** @type {Access} */ access) => (access.range ?? []).map((r) => `${r.attribute} ${r.operator} ${(r.values ?? []).map((v) => (typeof v === "object" ? brief(v) : v)).join(" and ")}`).join(", ");

/** @param {Access} access */
function accessView(access) {
  const rows = [["Key", access.key], ["Range", rangeOf(access) || (access.kind === "Scan" ? "everything" : "")], ["Filter", access.filter], ["Projection", access.projection], ["How", access.how],
    ["Items", access.items_read === undefined ? "" : `${number(access.items_read)} read, ${number(access.items_filtered)} filtered, ${number(access.items_returned)} returned, ${number(access.bytes_read)} bytes`],
    ["Why a scan", access.why_scan]].filter(([, v]) => v).map(([k, v]) => [k, h("span.mono", v)]);
  return h("div.card", h("h2", [access.kind, access.table, access.index && `index ${access.index}`].filter(Boolean).join(" · ")), plainTable("Access", [["What", "tight"], ["How"]], rows));
}

/** How the policies decided for one action on one resource. @param {Decision} d */
function decisionView(d) {
  const by = d.effect ? `${d.effect} by the ${d.policy} policy${d.sid ? `, Sid "${d.sid}"` : ""}${d.document ? `, ${d.document}` : ""}${d.line ? `, line ${d.line}` : ""}` : d.why ?? "No statement allows it";
  return h("p", h(d.is_allowed ? "strong.good" : "strong.bad", d.is_allowed ? "Allowed" : "Denied"), ` ${d.action} on `, h("span.mono", d.resource), h("br"), h("span.quiet", by));
}

/** @param {Plan} plan */
export function planView(plan) {
  const figures = [["Answer", plan.error ? `${plan.status} ${plan.error.type}` : plan.status], ["Read units", plan.read_units], ["Write units", plan.write_units]];
  const better = (plan.better ?? []).map((b) => h("p.warn", `Better: ${[b.operation, b.index && `index ${b.index}`, b.attribute && `key ${b.attribute}`].filter(Boolean).join(", ")}. ${b.why ?? ""}`));
  const findings = (plan.findings ?? []).map((f) => h("div.card", findingView(f)));
  const whole = plan.whole && h("p.quiet", `All pages: ${number(plan.whole.pages)}${plan.whole.is_cut ? " or more" : ""}, ${number(plan.whole.items_read)} ${plan.whole.items_read === 1 ? "item" : "items"} read, ${number(plan.whole.items_returned)} returned, ${plan.whole.read_units} read units.`);
  return h("div", h("div.row", figures.map(([k, v]) => v !== undefined && h("span.badge", `${k} ${v}`))), whole, plan.iam && h("div.card", h("h2", plan.iam[0]?.principal ?? "Policies"), plan.iam.map(decisionView)),
    (plan.accesses ?? []).map(accessView), better, findings, h("details", h("summary", "As JSON"), h("pre", JSON.stringify(plan, null, 2))));
}

/** Fills `place` with the plan of a request; `as` is the access key whose policies are asked, or "". @param {Element} place @param {string} operation @param {Input} request */
export async function explainInto(place, operation, request, as = "") {
  try { fill(place, planView(await control("POST", "explain", { operation, request, ...(as ? { access_key: as } : {}) }))); } catch (error) {
    fill(place, h("p.quiet", error instanceof ApiError && error.status === 404 ? "This server does not explain requests." : messageOf(error)));
  }
}
