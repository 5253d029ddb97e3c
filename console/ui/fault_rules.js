// The rules of the faults as sentences, with how often each acted; the figures follow the server.
import { attempt, fill, h, number, plainTable, whileShown } from "../core/dom.js";
import { control } from "../core/api.js";
import { bare, faultText, isSpent } from "../model/faults.js";

/** @import { Counted } from "../types.d.ts" */

const TURN = 1000; // ms

/** @param {Counted[]} rules @param {(i: number) => Promise<unknown>} remove the rule in this place */
export function faultRules(rules, remove) {
  const place = h("div");
  const tell = (/** @type {Counted[]} */ now) => fill(place, now.length ? plainTable("Rules", [["No.", "number"], ["Rule"], ["Matched", "number"], ["Fired", "number"], [""]],
    now.map((r, i) => [number(i + 1), h("span", { title: JSON.stringify(bare(r)) }, faultText(r), " ", isSpent(r) && h("span.badge", "spent")), number(r.matched), number(r.fired),
      h("button.small", { type: "button", "aria-label": `Remove rule ${i + 1}`, onclick: attempt(() => remove(i)) }, "Remove")])) : h("p.quiet", "There is no rule."));
  const text = JSON.stringify(rules.map(bare));
  let shown = JSON.stringify(rules);
  tell(rules);
  whileShown(place, TURN, async () => {
    try {
      const now = (await control("GET", "faults")).rules;
      if (JSON.stringify(now.map(bare)) !== text) return; // others changed them: Refresh shows these
      if (shown !== JSON.stringify(now)) tell(now);
      shown = JSON.stringify(now);
    } catch { /* the next turn */ }
  });
  return place;
}
