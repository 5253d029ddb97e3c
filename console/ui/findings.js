// A finding of insight or of a plan: its name as --fail-on takes it, what it says, the evidence, what
// to do about it.
import { h, number, plainTable } from "../core/dom.js";

/** @param {import("../types.d.ts").Finding} f */
export const findingView = (f) => h("div.finding",
  h("p", h(f.severity === "warning" ? "strong.warn" : "strong", f.finding), " ", f.what, f.evidence ? `: ${f.evidence}` : "", "."),
  f.advice && h("p.quiet", f.advice));

/** Findings with where each is and the units of it. @param {readonly import("../types.d.ts").Finding[]} findings */
export const findingsTable = (findings) => h("div.scroll", { tabIndex: 0, role: "region", "aria-label": "Findings" },
  plainTable("Findings", [["Finding", "pattern"], ["Where"], ["Units", "number"]], findings.map((f) => [findingView(f), f.where, number(f.units)])));
