// A forecast of what the server has seen, or of a plan: what would be throttled, when and why, and what it would cost.
import { attempt, check, download, field, fill, h, messageOf, number, select } from "../core/dom.js";
import { control, session } from "../core/api.js";
import { costView, money, patternsView, throttlesView, wantedView } from "../ui/forecast.js";
import { askedOf, readForm, writeForm } from "../model/forecast.js";
import { timeSpan } from "../model/time.js";
import { isMap } from "../model/types.js";
import { opener } from "../ui/opener.js";
import { stay } from "../main.js";

/** @import { Forecast } from "../lab.d.ts" */
/** @import { Props } from "../types.d.ts" */
/** @typedef {{requests: number, seconds: number}} Seen */

/** A plan that was opened: it is there when the page is shown again. @type {{name: string, plan: object} | null} */
let opened = null;

const input = (/** @type {string} */ value, /** @type {Props<HTMLInputElement>} */ props = {}) => h("input", { type: "number", step: "any", value, ...props });

/** @param {Forecast} f */
function report(f) {
  const { range } = f;
  return [h("section.card", h("h2", `${number(f.days)} ${f.days === 1 ? "day" : "days"}`), h("div.row.figures", h("span", h("strong", money(f.cost.total)), f.cost.is_partial ? " and what has no price" : ""),
    h("span", h("strong", number(f.requests)), " requests"), h(f.throttled ? "span.bad" : "span", h("strong", number(f.throttled)), " attempts throttled"), h(f.failed ? "span.bad" : "span", h("strong", number(f.failed)), " requests failed after their retries")),
    h("p.quiet", `With ${range.seeds} seeds: ${money(range.cost_least)} to ${money(range.cost_most)}, ${number(range.throttled_least)} to ${number(range.throttled_most)} throttled.`)),
  throttlesView(f), costView(f), wantedView(f), patternsView(f),
  f.notes.length ? h("section.card", h("h2", "Notes"), h("ul.names", f.notes.map((n) => h("li", n)))) : null];
}

/** @param {string} text the form, of the address */
export function forecast(text) {
  const form = readForm(text), scale = input(form.scale, { min: "0" }), days = input(form.days, { min: "1", max: "3660", step: "1" }), growth = input(form.growth);
  const keys = select([["", "as they were seen"], ["uniform", "all alike"], ["zipf", "by Zipf's law"], ["hot", "one takes 80 %"]], form.keys, () => told()), count = input(form.count, { min: "1", step: "1" });
  const free = check("Subtract the free tier", form.free), from = h("p"), hint = h("p.quiet"), place = h("div.stack"), save = h("button", { type: "button", hidden: true }, "Save the plan");
  const run = h("button.main", { type: "submit" }, "Forecast"), countField = field("Number of keys", count);
  let seen = /** @type {Seen | null} */ (null);
  const now = () => ({ scale: scale.value, days: days.value, growth: growth.value, keys: opened ? "" : keys.value, count: count.value, free: free.input.checked });

  /** What the figures mean, as far as it is known. */
  function told() {
    const rate = seen ? seen.requests / Math.max(1, seen.seconds) * Number(scale.value) : 0;
    keys.disabled = Boolean(opened);
    countField.hidden = Boolean(opened) || !keys.value;
    fill(hint, !opened && seen?.requests ? `That is ${number(Math.round(rate * 100) / 100)} requests a second in all.` : "");
    fill(from, opened ? [`By the plan ${opened.name}. `, h("button.small", { type: "button", onclick: () => { opened = null; told(); } }, "Take what the server has seen")]
      : !session.facts.insight ? ["This server counts no access patterns: start it with ", h("code", "--insight on"), ", or open a plan."]
      : seen?.requests ? [`The server has seen ${number(seen.requests)} requests in ${timeSpan(seen.seconds)}. Tables have their settings as they are.`] : "The server has seen no requests yet: run an application or its tests against it, or open a plan.");
    run.disabled = !opened && !seen?.requests;
  }

  const lookAtInsight = async () => {
    const { requests, time } = await control("GET", "insight");
    seen = { requests, seconds: (time?.age_ms ?? 0) / 1000 };
  };
  const make = async () => {
    const own = writeForm(now());
    stay("lab", "Forecast", ...(own ? [own] : []));
    run.disabled = true;
    fill(place, h("p.quiet", { role: "status" }, "The forecast is being made …"));
    try {
      const made = await control("POST", "forecast", askedOf(now(), opened?.plan ?? null)), { plan } = made;
      fill(place, report(made));
      if (session.facts.insight) await lookAtInsight(); // what it was made of
      save.hidden = !plan;
      save.onclick = () => download("plan.json", "application/json", `${JSON.stringify(plan, null, 1)}\n`);
    } catch (error) { fill(place, h("p.problem", { role: "alert" }, messageOf(error))); } finally { told(); }
  };

  const look = attempt(async () => {
    if (session.facts.insight) await lookAtInsight();
    told();
    if (text && !run.disabled) await make();
  });
  for (const one of [scale, days, growth]) one.oninput = told;
  told();
  look();
  return h("div.stack", h("section.card", h("h2", "What if"), from, h("form", { onsubmit: (e) => { e.preventDefault(); make(); } },
    h("div.fields", field("Multiply requests by", scale), field("Days", days), field("Growth a day, %", growth), field("Partition keys", keys), countField), hint,
    h("div.row", run, free, save)), h("details", { open: Boolean(opened) }, h("summary", "A plan of your own"), h("p.quiet", "Tables, patterns of requests and their rates in a file: docs/forecast.md. \"Save the plan\" writes the one that a forecast was made of; change its billing or rates, and open it."),
    opener("Open a plan, or drop it here", ".json,application/json", (file, name) => {
      let plan = /** @type {unknown} */ (null);
      try { plan = JSON.parse(file); } catch { throw new Error(`${name} is no JSON`); }
      if (!isMap(plan)) throw new Error(`${name} is no plan: a JSON object was expected`);
      opened = { name, plan };
      told();
    }))), place);
}
