// Rows of one height, of which only those that can be seen exist. Millions fit: beyond what browsers scroll, the scroll bar stands for all of them.
import { fill, h } from "../core/dom.js";

/** @import { Row } from "../types.d.ts" */

const HEIGHT = 36, HEAD = 28, SCROLL_MAX = 15e6, SPARE = 6, OF_A_FRAME = 12; // lines that one frame makes: style, layout and paint of more would take too long

/**
 * A grid. `source` has count(), the number of rows, and row(i): {cells, kind, open, toggle}, or null while it is loading; cells is an array of elements, kind a
 * class of the line, open() what Enter and a click do, toggle() what the space bar does. `columns` are the titles of a head, or none.
 * Where there are no rows, empty() says why; it may be left out.
 * @param {string} label @param {{count: () => number, row: (i: number) => Row | null, empty?: () => string}} source @param {readonly (readonly string[])[]} columns
 */
export function grid(label, source, columns = []) {
  const why = h("div.nothing", { role: "gridcell" }), nothing = h("div", { role: "row", hidden: true }, why);
  const space = h("div.space", { role: "rowgroup" }, nothing);
  const head = columns.length ? h("div.line.head", { role: "row" }, columns.map(([title, width = ""]) => h("div", { className: width ? `cell ${width}` : "cell", role: "columnheader" }, h("span", title)))) : null;
  const element = h("div.grid", { role: "grid", tabIndex: 0, "aria-label": label }, head, space);
  const lines = /** @type {Map<number, HTMLElement>} */ (new Map());
  const stale = /** @type {Set<HTMLElement>} */ (new Set()); // lines that are to be made again
  const id = `g${Math.random().toString(36).slice(2)}`;
  let active = -1, waiting = 0;

  const top = head ? HEAD : 0;
  const extent = () => source.count() * HEIGHT;
  const room = () => Math.max(1, element.clientHeight - top);
  // Of all rows, the pixel at the upper edge: the scroll bar's own, or its share where there are more than it can count.
  const scale = () => { const all = extent(); return all <= SCROLL_MAX ? 1 : (all - room()) / (SCROLL_MAX - room()); };

  /** @param {number} i */
  function line(i) {
    const row = source.row(i);
    const element = h("div", { className: `line ${row ? row.kind ?? "" : "wait"}`, role: "row", "aria-rowindex": i + 1, id: `${id}-${i}` });
    if (!row) element.append(h("div", { role: "gridcell" }, "Loading …"));
    else {
      fill(element, row.cells);
      const { open } = row;
      if (open) element.onclick = () => { active = i; mark(); open(); };
    }
    return element;
  }

  function mark() {
    for (const [i, node] of lines) node.setAttribute("aria-selected", String(i === active));
    if (lines.has(active)) element.setAttribute("aria-activedescendant", `${id}-${active}`); else element.removeAttribute("aria-activedescendant");
  }

  // The page is measured before it is changed: a measure after a change lays all of it out again.
  function draw(most = OF_A_FRAME) {
    waiting = 0;
    const count = source.count(), at = element.scrollTop, height = room(), from = at * scale();
    const first = Math.max(0, Math.floor(from / HEIGHT) - SPARE), last = Math.min(count - 1, Math.ceil((from + height) / HEIGHT) + SPARE);
    nothing.hidden = count > 0 || !source.empty;
    why.textContent = count ? "" : source.empty?.() ?? "";
    element.setAttribute("aria-rowcount", String(count));
    space.style.height = `${Math.min(extent(), SCROLL_MAX)}px`;
    for (const [i, node] of lines) if (i < first || i > last) { node.remove(); lines.delete(i); stale.delete(node); }
    const missing = [];
    for (let i = first; i <= last; i++) { const node = lines.get(i); if (!node || stale.has(node)) missing.push(i); }
    const isSeen = (/** @type {number} */ i) => (i + 1) * HEIGHT > from && i * HEIGHT < from + height;
    const made = new Set(missing.length > most ? [...missing.filter(isSeen), ...missing.filter((i) => !isSeen(i))].slice(0, most) : missing);
    let after = /** @type {HTMLElement | null} */ (null);
    for (let i = first; i <= last; i++) {
      const old = lines.get(i), node = made.has(i) ? line(i) : old;
      if (!node) continue;
      if (node !== old) {
        lines.set(i, node);
        if (old) { stale.delete(old); old.replaceWith(node); } else if (after) after.after(node); else space.prepend(node);
      }
      node.style.transform = `translateY(${Math.round(at + i * HEIGHT - from)}px)`;
      after = node;
    }
    mark();
    if (made.size < missing.length) later();
  }
  const later = () => { waiting ||= requestAnimationFrame(() => draw()); };
  const spoil = () => { for (const node of lines.values()) stale.add(node); };

  /** @param {number} i */
  function reveal(i) {
    const from = element.scrollTop * scale(), y = i * HEIGHT;
    if (y < from) element.scrollTop = y / scale();
    else if (y + HEIGHT > from + room()) element.scrollTop = (y + HEIGHT - room()) / scale();
  }

  element.addEventListener("scroll", later, { passive: true });
  element.addEventListener("mousedown", (e) => { if (e.shiftKey) e.preventDefault(); }); // chooses rows, not text
  element.addEventListener("keydown", (e) => {
    const page = Math.max(1, Math.floor(room() / HEIGHT) - 1), count = source.count();
    const step = new Map([["ArrowDown", 1], ["ArrowUp", -1], ["PageDown", page], ["PageUp", -page], ["Home", -count], ["End", count]]).get(e.key);
    if (e.target !== element) return;
    if (step !== undefined && count) {
      e.preventDefault();
      active = Math.min(count - 1, Math.max(0, active + step));
      reveal(active);
      draw();
    } else if (e.key === "Enter" && active >= 0) source.row(active)?.open?.();
    else if (e.key === " " && active >= 0) { e.preventDefault(); source.row(active)?.toggle?.(); }
  });
  const observer = new ResizeObserver(later);
  observer.observe(element);

  return {
    element,
    /** Rows have come, gone or changed: those that are there are made again. */
    refresh() { spoil(); draw(Infinity); },
    /** The same, some of them with each of the next frames. */
    refreshSoon() { spoil(); later(); },
    /** So many rows have come before the one that is chosen. @param {number} n */
    push(n) { if (active >= 0) active += n; },
    toTop() { element.scrollTop = 0; active = -1; this.refresh(); },
    end() { observer.disconnect(); },
  };
}

/** A cell with a small label above its value. @param {string} label @param {string} value */
export const cell = (label, value, kind = "") => h("div", { className: kind ? `cell ${kind}` : "cell", role: "gridcell", title: value }, label && h("small", label), h("span", value));
