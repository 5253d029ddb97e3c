// Items that are chosen in a grid: a box in front of each, what can be done with them, and what was
// deleted last, which can be put back until the page is closed.
import { attempt, fill, h, note, number } from "../core/dom.js";
import { session } from "../core/api.js";
import { deleteMany, putBack } from "../core/writes.js";
import { keyOf } from "../model/types.js";

/** @import { Item, Table } from "../types.d.ts" */

const deleted = /** @type {Map<string, Item[]>} */ (new Map()); // by table: the items that were deleted last
const place = (/** @type {Table} */ table) => `${session.key} ${session.region} ${table.TableName}`;
const items = (/** @type {number} */ n) => `${number(n)} ${n === 1 ? "item" : "items"}`;

/** These can be put back from now on, and what was deleted before no longer. @param {Table} table @param {Item[]} list */
export function keepDeleted(table, list) { if (list.length) deleted.set(place(table), list); }

/** Nothing can be put back any more: the tables have another state. */
export const forgetDeleted = () => deleted.clear();

/** A selection of the table's items. `changed` is called when the table has changed, `mark` when boxes have. `all` gives the items in their order, `isPart`: they may lack attributes. @param {Table} table @param {() => void} changed @param {() => void} mark @param {() => Item[]} all */
export function selection(table, changed, mark, all, isPart = false) {
  const chosen = /** @type {Map<string, Item>} */ (new Map()), bar = h("div.tools.thin.chosen", { role: "region", "aria-label": "Chosen items", hidden: true });
  const id = (/** @type {Item} */ item) => JSON.stringify(keyOf(item, table));
  const forget = () => { chosen.clear(); tell(); };
  const choose = (/** @type {Item[]} */ list, /** @type {boolean} */ on) => { for (const item of list) if (on) chosen.set(id(item), item); else chosen.delete(id(item)); tell(); mark(); };

  let last = ""; // the item whose box was used last: with Shift, all between are chosen
  /** @param {Item[]} list @param {boolean} on */
  function chooseUpTo(list, on) {
    const every = all(), ids = every.map(id), at = ids.indexOf(last), to = list.map((item) => ids.indexOf(id(item)));
    choose(at < 0 || to.includes(-1) ? list : every.slice(Math.min(at, ...to), Math.max(at, ...to) + 1), on);
  }

  const remove = attempt(async () => {
    const list = [...chosen.values()];
    fill(bar, h("span", `Deleting ${items(list.length)} …`));
    const { deleted: gone, changed: kept, error } = await deleteMany(table, list, isPart);
    keepDeleted(table, gone);
    forget();
    changed();
    if (kept.length) note(`${items(kept.length)} had changed since the page read them. They were left as they are.`, true);
    if (error) throw error;
  });

  const undo = attempt(async () => {
    const list = deleted.get(place(table)) ?? [];
    deleted.delete(place(table));
    const { back, taken, error } = await putBack(table, list);
    keepDeleted(table, error ? list.filter((i) => !back.includes(i) && !taken.includes(i)) : []);
    tell();
    changed();
    note(`Put back ${items(back.length)}`);
    if (taken.length) note(`Of ${items(taken.length)} the key is in use again. They were not put back.`, true);
    if (error) throw error;
  });

  function tell() {
    const gone = deleted.get(place(table)) ?? [];
    bar.hidden = !chosen.size && !gone.length;
    fill(bar, chosen.size > 0 && [h("span", h("strong", number(chosen.size)), " chosen"), h("button.small.danger", { type: "button", onclick: remove }, `Delete ${items(chosen.size)}`),
      h("button.small", { type: "button", onclick: () => { forget(); mark(); } }, "Choose none")],
    gone.length > 0 && [h("span.quiet", `Deleted ${items(gone.length)}`), h("button.small", { type: "button", onclick: undo }, "Put back"),
      h("button.small", { type: "button", "aria-label": "Forget what was deleted", onclick: () => { deleted.delete(place(table)); tell(); } }, "Dismiss")]);
  }

  /** A cell with a box for an item, or for all of a group. @param {Item[]} list @param {string} label */
  function box(list, label) {
    const n = chosen.size ? list.filter((item) => chosen.has(id(item))).length : 0;
    /** @type {HTMLInputElement} */
    const input = h("input", { type: "checkbox", tabIndex: -1, checked: n > 0 && n === list.length, "aria-label": label, onclick: (e) => {
      if (e.shiftKey) chooseUpTo(list, input.checked); else choose(list, input.checked);
      last = list.length ? id(list[list.length - 1]) : "";
    } });
    input.indeterminate = n > 0 && n < list.length;
    return h("div.cell.box.stick", { role: "gridcell", onclick: (e) => e.stopPropagation() }, input);
  }
  const toggle = (/** @type {Item[]} */ list) => choose(list, !list.every((item) => chosen.has(id(item))));
  return { bar, box, toggle, forget };
}
