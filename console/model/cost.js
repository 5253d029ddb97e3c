// What units cost on demand. The prices are those of docs/prices.json (us-east-1, October 2026).
export const READ_MILLION = 0.125, WRITE_MILLION = 0.625; // US dollars
const DAY = 86400; // seconds

/** @typedef {{read_units: number, write_units: number, calls: number}} Counted */

/** Dollars. @param {number} reads units @param {number} writes units */
const costOf = (reads, writes) => (reads * READ_MILLION + writes * WRITE_MILLION) / 1e6;

/** What so many calls of a pattern cost, by those that were seen. @param {Counted} pattern @param {number} calls */
export const costOfCalls = (pattern, calls) => (pattern.calls ? costOf(pattern.read_units, pattern.write_units) * calls / pattern.calls : 0);

/**
 * What a pattern costs a day: where it is called so many times a second (`all` is 0), or where all
 * patterns together are, of which it has its share.
 * @param {Counted} pattern @param {number} rate calls a second @param {number} all requests that were seen of all patterns
 */
export const costADay = (pattern, rate, all = 0) => costOfCalls(pattern, (all ? pattern.calls / all : 1) * rate * DAY);

/** Dollars with as many digits as say something. @param {number} n */
export const dollars = (n) => `$${n >= 100 ? Math.round(n).toLocaleString("en-US") : n >= 0.01 || n === 0 ? n.toFixed(2) : n.toPrecision(2)}`;
