// What would happen: a forecast of throttling and cost, and the orders of requests by which a program fails.
import { h, tabs } from "../core/dom.js";
import { forecast } from "./lab_forecast.js";
import { races } from "./lab_races.js";
import { stay } from "../main.js";

/** @import { End, Parts } from "../types.d.ts" */

/** @param {HTMLElement} main @param {Parts} parts @returns {Promise<End>} */
export async function show(main, [tab, form = ""]) {
  const views = tabs("Lab", [["Forecast", () => forecast(tab === "Forecast" ? form : "")], ["Races", () => races()]], tab, (name) => stay("lab", name));
  views.classList.add("fill", "padded");
  main.append(h("h1.hidden", "Lab"), views);
  return undefined;
}
