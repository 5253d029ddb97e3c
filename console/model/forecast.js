// What the form of a forecast asks, and what its report says in words. Nothing here needs a browser.
import { whyThrottled } from "./throttle.js";

/** @import { Forecast, ForecastAsked, ForecastRow, ForecastTable } from "../lab.d.ts" */
/** @typedef {{scale: string, days: string, growth: string, keys: string, count: string, free: boolean}} Form as it is filled in */

/** @type {Form} */
export const USUAL = { scale: "1", days: "30", growth: "0", keys: "", count: "1000000", free: false };

/** The form as a part of the address; "" is the usual one. @param {Form} form */
export function writeForm(form) {
  const parts = new URLSearchParams();
  if (form.scale !== USUAL.scale) parts.set("scale", form.scale);
  if (form.days !== USUAL.days) parts.set("days", form.days);
  if (form.growth !== USUAL.growth) parts.set("growth", form.growth);
  if (form.keys) parts.set("keys", `${form.keys}:${form.count}`);
  if (form.free) parts.set("free", "yes");
  return parts.toString();
}

/** @param {string} text @returns {Form} */
export function readForm(text) {
  const parts = new URLSearchParams(text), [keys, count] = (parts.get("keys") ?? "").split(":");
  return { scale: parts.get("scale") ?? USUAL.scale, days: parts.get("days") ?? USUAL.days, growth: parts.get("growth") ?? USUAL.growth, keys: keys ?? "", count: count || USUAL.count,
    free: parts.get("free") === "yes" };
}

/** What the server is asked. @param {Form} form @param {object | null} plan in place of what the server has seen @returns {ForecastAsked} */
export function askedOf(form, plan) {
  const growth = Number(form.growth);
  return { scale: Number(form.scale), days: Number(form.days), ...(growth ? { growth: `${growth}%/day` } : {}), ...(form.keys && !plan ? { keys: `${form.keys}:${Number(form.count)}` } : {}),
    ...(form.free ? { free_tier: true } : {}), ...(plan ? { plan } : {}) };
}

/** "orders", or "orders/index/by-status". @param {{table: string, index?: string}} row */
export const placeOf = ({ table, index }) => (index ? `${table}/index/${index}` : table);

/** Which limit throttles, and how it is met. @param {ForecastRow} row */
export const whyRow = (row) => whyThrottled(row.reason, `table/${placeOf(row)}`) || row.reason;

/** "day 3, 08:00", of the step of a chart. @param {number} step @param {number} hours of a step */
export function momentOf(step, hours) {
  const hour = step * hours;
  return `day ${Math.floor(hour / 24) + 1}, ${String(hour % 24).padStart(2, "0")}:00`;
}

/** What a table's requests cost by each billing mode, and which one is cheaper. @param {ForecastTable} table */
export function modesOf({ is_on_demand: isOnDemand, on_demand: onDemand, provisioned }) {
  if (onDemand === null || provisioned === null) return "a price is unknown";
  const now = isOnDemand ? onDemand : provisioned, other = isOnDemand ? provisioned : onDemand, name = isOnDemand ? "provisioned, with auto scaling to 70 %," : "on demand";
  if (Math.abs(now - other) < 0.005) return "both cost the same";
  return other < now ? `${name} would save ${Math.round((1 - other / now) * 100)} %` : `${name} would cost ${now > 0 ? `${Math.round((other / now - 1) * 100)} % more` : "more"}`;
}

/** The parts of tables of which clients want most, with their units a second by step. @param {Forecast} forecast @param {number} most */
export function busiest(forecast, most) {
  const found = forecast.tables.flatMap((t) => t.parts.map((p) => ({ name: placeOf({ table: t.name, index: p.index }), isOnDemand: t.is_on_demand, part: p,
    peak: Math.max(0, ...(p.read.wanted ?? []), ...(p.write.wanted ?? [])) }))).filter((p) => p.peak > 0);
  return found.sort((a, b) => b.peak - a.peak).slice(0, most);
}
