// What units cost on demand. The prices are those of docs/prices.json (us-east-1, October 2026).
export const READ_MILLION = 0.125, WRITE_MILLION = 0.625; // US dollars

/** Dollars. @param {number} reads units @param {number} writes units */
export const costOf = (reads, writes) => (reads * READ_MILLION + writes * WRITE_MILLION) / 1e6;

/**
 * What a pattern costs a day where all patterns together are asked so many times a second.
 * @param {{read_units: number, write_units: number}} pattern @param {number} requests that were seen of all patterns @param {number} rate requests a second
 */
export const costADay = (pattern, requests, rate) => (requests ? costOf(pattern.read_units, pattern.write_units) * rate * 86400 / requests : 0);

/** Dollars with as many digits as say something. @param {number} n */
export const dollars = (n) => `$${n >= 100 ? Math.round(n).toLocaleString("en-US") : n >= 0.01 || n === 0 ? n.toFixed(2) : n.toPrecision(2)}`;
