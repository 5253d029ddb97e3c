// Spans of time in words. Nothing here needs a browser.

const DAY = 86400; // seconds

/** "9 min 48 s": the two largest units. @param {number} seconds */
export function timeSpan(seconds) {
  const all = Math.round(seconds), parts = /** @type {[number, string][]} */ ([[Math.floor(all / DAY), "d"], [Math.floor(all / 3600) % 24, "h"], [Math.floor(all / 60) % 60, "min"], [all % 60, "s"]]);
  const first = Math.max(0, parts.findIndex(([n]) => n));
  return parts.slice(first, first + 2).filter(([n]) => n).map(([n, unit]) => `${n} ${unit}`).join(" ") || "0 s";
}
