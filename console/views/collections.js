// Item collections: partitions as groups, items in the order of the sort key, entity types with their colours and columns; any index as a pivot of the same data.
import { attempt, dialog, field, fill, h, number, select } from "../core/dom.js";
import { api, listTables, sampleTable, session } from "../core/api.js";
import { Blocks } from "../ui/blocks.js";
import { entitiesOf, nameEntity } from "../ui/names.js";
import { counts } from "../ui/counts.js";
import { cell, grid } from "../ui/grid.js";
import { brief, keyOf, keyType, own } from "../model/types.js";
import { exportItems } from "../ui/export.js";
import { importItems } from "../ui/import.js";
import { openItem } from "../ui/item.js";
import { selection } from "../ui/selection.js";
import { isGone, noTables, showAbsent, showGone } from "../ui/absent.js";
import { go } from "../main.js";

/** @import { End, Item, Parts, Pivot, Row, TableDescription } from "../types.d.ts" */
/** @typedef {import("../ui/blocks.js").Group} Group */

/** The table itself and its indexes, as what a scan can be of. @param {TableDescription} table @returns {Pivot[]} */
export function pivots(table) {
  const indexes = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];
  return [{ name: "", KeySchema: table.KeySchema, items: table.ItemCount },
    ...indexes.map((i) => ({ name: i.IndexName, KeySchema: i.KeySchema, items: i.ItemCount ?? table.ItemCount, projection: i.Projection.ProjectionType }))];
}

const isGuess = (/** @type {import("../model/entities.js").Type} */ t) => t.source === "key" || t.source === "table";

/** The condition that the partition key has a value, from what was typed. @param {string} text @param {Pivot} pivot @param {TableDescription} table */
function partition(text, pivot, table) {
  const [{ AttributeName: name }] = pivot.KeySchema;
  return { KeyConditionExpression: "#p = :p", ExpressionAttributeNames: { "#p": name }, ExpressionAttributeValues: { ":p": { [keyType(table, name)]: text } } };
}

let lastPlace = /** @type {Parts} */ ([]); // table, index and partition that were shown last: who comes back by the menu finds them

/** @param {HTMLElement} main @param {Parts} parts @returns {Promise<End>} */
export async function show(main, [name, index = "", value = ""]) {
  const names = await listTables();
  if (!names.length) {
    main.append(await noTables("collections"));
    return undefined;
  }
  if (!name) { go("collections", ...(names.includes(lastPlace[0]) && lastPlace[0] === session.table ? lastPlace : [names.includes(session.table) ? session.table : names[0]])); return undefined; }
  if (!names.includes(name)) { showAbsent(main, "collections", name, names); return undefined; }
  session.table = name;
  lastPlace = [name, ...(index || value ? [index] : []), ...(value ? [value] : [])];
  const { table, items: sample, segments } = await sampleTable(name), all = pivots(table), pivot = all.find((p) => p.name === index) ?? all[0];
  const ranges = pivot.KeySchema.filter((k) => k.KeyType === "RANGE").map((k) => k.AttributeName);
  const keys = pivot.KeySchema.map((k) => k.AttributeName);
  const legend = h("div.row", { "aria-label": "Entity types" }), status = h("span.quiet.middle", { role: "status" }), problem = h("p.problem", { role: "alert" });
  const search = h("input", { type: "search", placeholder: keys[0], spellcheck: false, className: "short", value });
  let by = "auto";

  const open = () => {
    const found = entitiesOf(table, by, sample), query = search.value ? partition(search.value, pivot, table) : {};
    return { entities: found, blocks: new Blocks({ TableName: name, ...(pivot.name ? { IndexName: pivot.name } : {}), ...query }, pivot.KeySchema, search.value ? 1 : pivot.items, pivot.name ? 1 : segments, () => loaded(),
      (items) => found.add(items)) };
  };
  let { entities, blocks } = open();
  const begin = () => {
    ({ entities, blocks } = open());
    problem.textContent = "";
    chosen.forget();
    view.toTop();
    tell();
  };
  const loaded = () => {
    if (isGone(blocks.error)) { attempt(showGone)(main, "collections", name, blocks.error); return; }
    problem.textContent = blocks.problem; view.refreshSoon(); tell();
  };

  function tell() {
    const of = search.value ? "" : ` of about ${number(pivot.items)}`;
    status.textContent = `${number(blocks.loaded)}${of} ${blocks.loaded === 1 && !of ? "item" : "items"} read, ${blocks.units} ${blocks.units === 1 ? "unit" : "units"}`;
    fill(legend, [...entities.types.values()].map((t) => h("button.badge.entity", { type: "button", style: { color: t.colour }, title: `${number(t.count)} seen${isGuess(t) ? "; the name is a guess" : ""}: choose it to give another name`,
      onclick: () => nameEntity(table, t, entities, begin) }, t.name, isGuess(t) ? " ?" : "")));
  }

  /** From the server, since an index may not have all of it. */
  const edit = attempt(async (/** @type {Item} */ item) => {
    try {
      const { Item } = await api("GetItem", { TableName: name, Key: keyOf(item, table), ConsistentRead: true });
      openItem(table, Item ?? item, begin);
    } catch (error) {
      if (!(await showGone(main, "collections", name, error))) throw error;
    }
  });

  /** @param {Group} group @returns {Row} */
  function groupRow(group) {
    return { kind: "group", toggle: () => chosen.toggle(group.items), cells: [chosen.box(group.items, `Choose the items of ${group.name} that were read`), h("div.title", { role: "gridcell" }, h("span.mono", group.name), h("span.badge", `${number(group.items.length)} ${group.items.length === 1 ? "item" : "items"}`),
      [...new Set(group.items.slice(0, 200).map((item) => entities.of(item)))].slice(0, 6).map((t) => h("span.dot", { title: t.name, style: { color: t.colour } })))] };
  }

  /** @param {Item} item @returns {Row} */
  function itemRow(item) {
    const type = entities.of(item);
    const type_ = h("div.cell.type.stick.narrow", { role: "gridcell", title: type.name, style: { color: type.colour } }, h("span", type.name));
    const sort = ranges.length ? ranges : table.KeySchema.map((k) => k.AttributeName).filter((n) => !keys.includes(n));
    const columns = type.attributes.filter((n) => !keys.includes(n) && !sort.includes(n)).slice(0, 24);
    return { toggle: () => chosen.toggle([item]), cells: [chosen.box([item], `Choose ${Object.values(keyOf(item, table)).map((v) => brief(v)).join(" · ")}`), type_, sort.map((n) => cell(n, brief(own(item, n)), "wide")), columns.map((n) => (Object.hasOwn(item, n) ? cell(n, brief(item[n])) : h("div.cell", { role: "gridcell" })))], open: () => edit(item) };
  }

  const view = grid(`Item collections of ${name}${pivot.name ? `, index ${pivot.name}` : ""}`, {
    count: () => blocks.count(),
    empty: () => (search.value ? "No item has this partition key." : `${pivot.name ? "The index" : "The table"} has no items yet.`),
    row: (i) => { const row = blocks.at(i); return row && (row.isGroup ? groupRow(row) : itemRow(row.item)); },
  });
  const chosen = selection(table, begin, () => { view.refresh(); view.element.focus({ preventScroll: true }); }, () => blocks.items(), Boolean(pivot.projection && pivot.projection !== "ALL"));
  /** Groups of what was read: which customers have more than three open orders? */
  const count = () => {
    const { element } = counts({ keys: [...keys, ...table.KeySchema.map((k) => k.AttributeName).filter((n) => !keys.includes(n))], items: () => blocks.items(), isAll: () => blocks.isWhole(),
      entityOf: (item) => entities.of(item).name, readOn: (n) => blocks.readOn(n), open: (of, v) => (of === keys[0] ? () => { close(); go("collections", name, pivot.name, v); } : undefined) });
    const { close } = dialog(`Count items of ${name}`, [h("p.quiet", "DynamoDB counts and groups nothing itself: this page does, of the items that it has read."), element]);
  };
  const kinds = [["auto", "What the items say"], ["key", "Keys alone"]];
  const attribute = h("input", { type: "text", placeholder: "such as type", hidden: true, spellcheck: false, "aria-label": "Attribute that names the type" });
  attribute.onchange = () => { by = attribute.value || "auto"; begin(); };
  const how = select([...kinds, ["", "Attribute …"]], "auto", (v) => { attribute.hidden = v !== ""; if (v) { by = v; begin(); } else attribute.focus(); });
  search.onchange = () => go("collections", name, ...(search.value || pivot.name ? [pivot.name] : []), ...(search.value ? [search.value] : []));
  main.append(
    h("div.tools", h("h1", "Item collections"), field("Table", select(names, name, (v) => go("collections", v))),
      field("View by", select(all.map((p) => [p.name, p.name ? `${p.name} (${p.KeySchema.map((k) => k.AttributeName).join(", ")})` : `Table (${p.KeySchema.map((k) => k.AttributeName).join(", ")})`]),
        pivot.name, (v) => go("collections", name, ...(v ? [v] : [])))),
      field("Partition", search), field("Entity types by", how), attribute, h("div.row.push",
        h("button", { type: "button", onclick: begin }, "Refresh"),
        h("button", { type: "button", onclick: count }, "Count"),
        h("button", { type: "button", onclick: () => importItems(table, begin) }, "Import"),
        h("button", { type: "button", onclick: () => exportItems(name, blocks.items(), blocks.isWhole()) }, "Export"),
        h("button.main", { type: "button", onclick: () => openItem(table, null, begin) }, "New item"))),
    h("div.tools.thin", legend, h("span.push"), status), problem, view.element, chosen.bar);
  begin();
  return () => view.end();
}
