// The requests that Live has seen, each once, in the order of their answers, up to a number. Nothing here needs a browser.

/** @import { Shown } from "../types.d.ts" */

export class Seen {
  /** @param {number} most */
  constructor(most) {
    this.most = most;
    this.events = /** @type {Shown[]} */ ([]);
    this.byId = /** @type {Map<string, Shown>} */ (new Map());
    this.lost = this.skipped = 0;
    this.after = 0; // the time of the latest that was cleared away
  }

  /** Adds an event; false if it is known. A known one takes over the bodies that it shows now. @param {Shown} event */
  add(event) {
    const before = this.byId.get(event.id);
    if (before) { Object.assign(before, event, { isPast: before.isPast }); return false; }
    if (event.isPast && event.time <= this.after) return false;
    let at = this.events.length;
    if (event.isPast) while (at > 0 && this.events[at - 1].time > event.time) at--;
    this.events.splice(at, 0, event);
    this.byId.set(event.id, event);
    if (this.events.length > this.most) this.forget(this.most >> 1);
    return true;
  }

  /** Keeps the latest. @param {number} n */
  forget(n) {
    this.events = n ? this.events.slice(-n) : [];
    this.byId = new Map(this.events.map((e) => [e.id, e]));
  }

  /** What was seen does not come again. */
  clear() {
    this.after = this.events.at(-1)?.time ?? this.after;
    this.forget(0);
    this.lost = this.skipped = 0;
  }
}
