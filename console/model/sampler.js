// Which of many events are looked at: no more of a turn than a page can draw, errors before others;
// the others are counted. Nothing here needs a browser.

export class Sampler {
  /** @param {number} quota of a turn, and as many errors beside it */
  constructor(quota) {
    this.quota = this.left = this.errorsLeft = quota;
    this.skipped = 0;
  }

  /** A new turn: what was drawn has made room. */
  turn() {
    this.left = this.quota;
    this.errorsLeft = this.quota;
  }

  /** Whether an event is looked at. An error has room of its own, and takes none of the others'. @param {boolean} isError */
  take(isError) {
    const room = isError ? "errorsLeft" : "left";
    if (this[room] > 0) { this[room]--; return true; }
    this.skipped++;
    return false;
  }
}

/**
 * What an event says of itself, without reading all of it: whether it failed or a fault hit it,
 * whether it was answered before the page watched, and how many the server left out before it. Its bodies, which may say anything, stand between the two.
 * @param {string} text
 */
export function glance(text) {
  const head = text.slice(0, text.indexOf('"requestBytes":'));
  return { isError: /"status":(\d)/.exec(head)?.[1] !== "2" || head.includes(',"fault":'), isPast: head.endsWith('"isPast":true,'), lost: Number(/"lost":(\d+)\}$/.exec(text)?.[1] ?? 0) };
}
