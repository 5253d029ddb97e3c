// Columns over time, of several series on top of each other.
import { h, number, svg } from "../core/dom.js";
import { momentOf } from "../model/forecast.js";

/** @typedef {{name: string, values: number[]}} Series */

const WIDTH = 760, HEIGHT = 130, LEFT = 62, BELOW = 18, LABEL = 64; // LABEL: at least, between two of them

const short = (/** @type {number} */ n) => (n >= 10000 ? n.toLocaleString("en-US", { notation: "compact", maximumFractionDigits: 1 }) : number(Math.round(n * 10) / 10));

/** The colour of a series: an entity's, and the last one of six is grey. @param {number} i */
export const colourOf = (i) => `c${Math.min(i, 5)}`;

/** @param {string} label @param {Series[]} series of as many values each @param {number} hours of a value @param {string} unit */
export function columns(label, series, hours, unit) {
  const n = Math.max(...series.map((s) => s.values.length)), sums = Array.from({ length: n }, (_, i) => series.reduce((sum, s) => sum + (s.values[i] ?? 0), 0));
  const most = Math.max(...sums, 1e-9), at = sums.indexOf(Math.max(...sums)), room = WIDTH - LEFT, step = room / n, perDay = 24 / hours;
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + BELOW}`, role: "img", class: "plot time", "aria-label": `${label}: most at ${momentOf(at, hours)}, ${short(most)} ${unit}` });
  for (const y of [0.5, HEIGHT / 2, HEIGHT - 0.5]) picture.append(svg("path", { class: "rule", d: `M${LEFT} ${y}H${WIDTH}` }));
  picture.append(svg("text", { x: LEFT - 6, y: 10, class: "value end" }, short(most)), svg("text", { x: LEFT - 6, y: HEIGHT / 2 + 4, class: "value end" }, short(most / 2)), svg("text", { x: LEFT - 6, y: HEIGHT, class: "value end" }, "0"));
  for (let i = 0; i < n; i++) {
    if (sums[i] <= 0) continue;
    const column = svg("g", {}, svg("title", {}, `${momentOf(i, hours)}: ${series.filter((s) => s.values[i] > 0).map((s) => `${s.name} ${short(s.values[i])}`).join(", ")} ${unit}`));
    let from = 0;
    series.forEach((s, k) => {
      const to = from + (s.values[i] ?? 0), top = HEIGHT * (1 - to / most), height = HEIGHT * (to - from) / most;
      if (height > 0) column.append(svg("rect", { class: colourOf(k), x: (LEFT + i * step).toFixed(1), y: top.toFixed(1), width: Math.max(0.8, step - (step > 3 ? 1 : 0)).toFixed(1), height: Math.max(0.6, height).toFixed(1) }));
      from = to;
    });
    picture.append(column);
  }
  const days = n / perDay, every = Math.max(1, Math.ceil(days * LABEL / room));
  if (days > 1) for (let day = 0; day < days && LEFT + day * perDay * step < WIDTH - 40; day += every) picture.append(svg("text", { x: LEFT + day * perDay * step, y: HEIGHT + 13, class: "value" }, `day ${day + 1}`));
  else for (let hour = 0; hour < n; hour += 6) picture.append(svg("text", { x: LEFT + hour * step, y: HEIGHT + 13, class: "value" }, `${String(hour * hours).padStart(2, "0")}:00`));
  return h("figure", h("figcaption", label), h("div.wide-plot", { tabIndex: 0, role: "group", "aria-label": label }, picture));
}
