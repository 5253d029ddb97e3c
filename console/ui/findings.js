// A finding of insight or of a plan: its name as --fail-on takes it, what it says, the evidence, what
// to do about it.
import { h } from "../core/dom.js";

/** @param {import("../types.d.ts").Finding} f */
export const findingView = (f) => h("div.finding",
  h("p", h(f.severity === "warning" ? "strong.warn" : "strong", f.finding), " ", f.what, f.evidence ? `: ${f.evidence}` : "", "."),
  f.advice && h("p.quiet", f.advice));
