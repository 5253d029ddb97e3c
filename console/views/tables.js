// Tables: the list, a form that writes CreateTable's JSON, changes, deletion with the name typed.
import { attempt, bytes, check, confirmByName, copy, dialog, field, fill, h, messageOf, note, number, select } from "../core/dom.js";
import { api, control } from "../core/api.js";
import { addressOf } from "../core/address.js";
import { noTables } from "../ui/absent.js";
import { items as exampleItems, shop } from "../model/example.js";
import { writeMany } from "../ui/import.js";
import { go } from "../main.js";

/** @import { AttributeDefinition, Described, End, Input, KeySchema, TimeToLive, TableDescription } from "../types.d.ts" */

const TYPES = [["S", "String"], ["N", "Number"], ["B", "Binary"]];
const PROJECTIONS = [["ALL", "All attributes"], ["KEYS_ONLY", "Keys only"], ["INCLUDE", "Some attributes"]];
const VIEWS = [["", "Off"], ["NEW_AND_OLD_IMAGES", "New and old images"], ["NEW_IMAGE", "New images"], ["OLD_IMAGE", "Old images"], ["KEYS_ONLY", "Keys only"]];

/** @param {HTMLElement} main @returns {Promise<End>} */
export async function show(main) {
  const list = h("div.body"), count = h("span.quiet.middle");
  /** @type {() => Promise<void>} */
  const refresh = attempt(async () => {
    const { tables, more } = await control("GET", "tables");
    count.textContent = more ? `the first ${number(tables.length)} tables` : `${number(tables.length)} ${tables.length === 1 ? "table" : "tables"}`;
    fill(list, tables.length ? table(tables, refresh) : await noTables("tables", [
      h("p.quiet", "The example is a shop in one table: customers, orders and products, told apart by their keys."),
      h("div.row", h("button.main", { type: "button", onclick: attempt(makeExample) }, "Create the example"), h("button", { type: "button", onclick: () => create(refresh) }, "Create a table"))]));
  });
  main.append(h("div.tools", h("h1", "Tables"), count, h("span.push"),
    h("button", { type: "button", onclick: refresh }, "Refresh"), h("button.main", { type: "button", onclick: () => create(refresh) }, "Create table")), list);
  await refresh();
  return undefined;
}

/** A first table with its items, and what it shows. */
async function makeExample() {
  await api("CreateTable", shop);
  await writeMany(shop.TableName, exampleItems());
  go("collections", shop.TableName);
}

/** @param {KeySchema} schema @param {AttributeDefinition[]} definitions */
const keys = (schema, definitions) => schema.map(({ AttributeName: n }) => `${n} (${definitions.find((d) => d.AttributeName === n)?.AttributeType ?? "?"})`).join(", ");

/** @param {Described[]} rows @param {() => Promise<void>} refresh */
function table(rows, refresh) {
  const columns = ["Name", "Key", "Items", "Size", "Indexes", "Stream", "TTL", "Status", ""];
  return h("div.scroll", h("table.plain", h("caption.hidden", "Tables of this namespace"),
    h("thead", h("tr", columns.map((c, i) => h(i === 2 || i === 3 ? "th.number" : "th", { scope: "col" }, c || h("span.hidden", "Actions"))))),
    h("tbody", rows.map(({ Table: t, TimeToLiveDescription: ttl }) => {
      const indexes = [...(t.GlobalSecondaryIndexes ?? []), ...(t.LocalSecondaryIndexes ?? [])];
      return h("tr", h("td", h("a", { href: addressOf("collections", t.TableName) }, t.TableName)), h("td.mono", keys(t.KeySchema, t.AttributeDefinitions)),
        h("td.number", number(t.ItemCount)), h("td.number", bytes(t.TableSizeBytes)),
        h("td", indexes.length ? indexes.map((i) => h("span", h("a", { href: addressOf("collections", t.TableName, i.IndexName) }, i.IndexName), " ")) : h("span.quiet", "none")),
        h("td", t.StreamSpecification?.StreamEnabled ? t.StreamSpecification.StreamViewType.toLowerCase().replaceAll("_", " ") : h("span.quiet", "off")),
        h("td", ttl.TimeToLiveStatus?.startsWith("ENABL") ? ttl.AttributeName : h("span.quiet", "off")),
        h("td.tight", h(t.TableStatus === "ACTIVE" ? "span.good" : "span.warn", t.TableStatus)),
        h("td.tight", h("div.row", h("button.small", { type: "button", onclick: attempt(() => change(t, ttl, refresh)), "aria-label": `Change ${t.TableName}` }, "Change"),
          h("button.small.danger", { type: "button", "aria-label": `Delete ${t.TableName}`, onclick: () => confirmByName(`Delete the table ${t.TableName}`, t.TableName,
            `Its ${number(t.ItemCount)} items are deleted with it.`, async () => { await api("DeleteTable", { TableName: t.TableName }); note(`Deleted ${t.TableName}`); await refresh(); }) }, "Delete"))));
    }))));
}

/** A key: name and type of the partition key, and of a sort key where there is one. @param {() => void} onchange */
function keyFields(onchange, [pk, sk] = ["PK", "SK"]) {
  const input = (/** @type {string} */ value) => h("input", { type: "text", value, oninput: onchange, spellcheck: false });
  const hash = input(pk), hashType = select(TYPES, "S", onchange), range = input(sk), rangeType = select(TYPES, "S", onchange);
  return {
    node: h("div.fields", field("Partition key", hash), field("Type of the partition key", hashType), field("Sort key (may be empty)", range), field("Type of the sort key", rangeType)),
    schema: () => [{ AttributeName: hash.value, KeyType: "HASH" }, ...(range.value ? [{ AttributeName: range.value, KeyType: "RANGE" }] : [])],
    /** @returns {[string, string][]} */
    types: () => [[hash.value, hashType.value], ...(range.value ? [/** @type {[string, string]} */ ([range.value, rangeType.value])] : [])],
  };
}

/** @param {number} n of the index, for its name @param {() => void} onchange @param {() => void} remove */
function indexFields(n, onchange, remove) {
  const key = keyFields(onchange, [`GSI${n}PK`, `GSI${n}SK`]);
  const name = h("input", { type: "text", value: `GSI${n}`, oninput: onchange, spellcheck: false });
  const include = h("input", { type: "text", oninput: onchange, placeholder: "a, b" });
  const included = field("Attributes", include);
  included.hidden = true;
  const projection = select(PROJECTIONS, "ALL", (v) => { included.hidden = v !== "INCLUDE"; onchange(); });
  return {
    key,
    node: h("fieldset", h("legend", "Global secondary index"), h("div.fields", field("Index name", name), field("Projection", projection), included), key.node,
      h("button.small", { type: "button", onclick: remove }, "Remove the index")),
    json: () => ({ IndexName: name.value, KeySchema: key.schema(), Projection: { ProjectionType: projection.value,
      ...(projection.value === "INCLUDE" ? { NonKeyAttributes: include.value.split(",").map((a) => a.trim()).filter(Boolean) } : {}) } }),
  };
}

/** @param {() => Promise<void>} done after the table was made */
function create(done) {
  const json = h("textarea", { rows: 22, spellcheck: false, "aria-label": "CreateTable as JSON" }), problem = h("p.problem", { role: "alert" });
  const indexes = /** @type {ReturnType<typeof indexFields>[]} */ ([]);
  let made = 0;
  const place = h("div");
  const name = h("input", { type: "text", value: "app", oninput: () => write(), spellcheck: false });
  const key = keyFields(() => write());
  const mode = select([["PAY_PER_REQUEST", "On demand"], ["PROVISIONED", "Provisioned"]], "PAY_PER_REQUEST", () => write());
  const stream = select(VIEWS, "", () => write());
  const ttl = h("input", { type: "text", placeholder: "off", spellcheck: false });
  const protect = check("Deletion protection", false, () => write());
  function write() {
    const types = new Map([...key.types(), ...indexes.flatMap((i) => i.key.types())]);
    const units = mode.value === "PROVISIONED" ? { ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } } : {};
    json.value = JSON.stringify({
      TableName: name.value, BillingMode: mode.value, ...units, KeySchema: key.schema(),
      AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
      ...(indexes.length ? { GlobalSecondaryIndexes: indexes.map((i) => ({ ...i.json(), ...units })) } : {}),
      ...(stream.value ? { StreamSpecification: { StreamEnabled: true, StreamViewType: stream.value } } : {}),
      ...(protect.input.checked ? { DeletionProtectionEnabled: true } : {}),
    }, null, 2);
  }
  const addIndex = () => {
    const index = indexFields(++made, () => write(), () => { indexes.splice(indexes.indexOf(index), 1); index.node.remove(); write(); });
    indexes.push(index);
    place.append(index.node);
    write();
  };
  write();
  const form = h("div", h("div.fields", field("Table name", name), field("Capacity", mode), field("Stream", stream), field("Time to live attribute", ttl)), protect,
    h("h3", "Key"), key.node, place, h("button", { type: "button", onclick: addIndex }, "Add an index"));
  dialog("Create a table", [form, h("h3", "The request"), h("p.quiet", "The form writes it; it may be changed by hand."), json, problem], [
    ["Copy the JSON", "", () => { copy(json.value); return false; }],
    ["Create table", "main", async () => {
      try {
        const input = JSON.parse(json.value);
        await api("CreateTable", input);
        if (ttl.value.trim()) await api("UpdateTimeToLive", { TableName: input.TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: ttl.value.trim() } });
        note(`Created ${input.TableName}`);
      } catch (error) { fill(problem, messageOf(error)); problem.scrollIntoView(); return false; }
      await done();
      return true;
    }]]);
  name.select();
}

/** What can be changed of a table: each part is a request of its own, sent where it differs. @param {TableDescription} t @param {TimeToLive} ttl @param {() => Promise<void>} done */
async function change(t, ttl, done) {
  const TableName = t.TableName, problem = h("p.problem", { role: "alert" });
  const current = { mode: t.BillingModeSummary?.BillingMode ?? "PROVISIONED", stream: t.StreamSpecification?.StreamEnabled ? t.StreamSpecification.StreamViewType : "",
    ttl: ttl.TimeToLiveStatus?.startsWith("ENABL") ? ttl.AttributeName ?? "" : "", protect: t.DeletionProtectionEnabled ?? false };
  const mode = select([["PAY_PER_REQUEST", "On demand"], ["PROVISIONED", "Provisioned"]], current.mode, (v) => { units.hidden = v !== "PROVISIONED"; });
  const reads = h("input", { type: "number", min: "1", value: String(t.ProvisionedThroughput?.ReadCapacityUnits || 5) });
  const writes = h("input", { type: "number", min: "1", value: String(t.ProvisionedThroughput?.WriteCapacityUnits || 5) });
  const units = h("div.fields", { hidden: current.mode !== "PROVISIONED" }, field("Read units a second", reads), field("Write units a second", writes));
  const stream = select(VIEWS, current.stream), attribute = h("input", { type: "text", value: current.ttl, placeholder: "off" });
  const protect = check("Deletion protection", current.protect);
  const drops = (t.GlobalSecondaryIndexes ?? []).map((i) => ({ IndexName: i.IndexName, box: check(`Delete the index ${i.IndexName}`, false) }));
  const more = h("div"), added = /** @type {ReturnType<typeof indexFields>[]} */ ([]);
  const add = h("button", { type: "button", onclick: () => {
    const index = indexFields((t.GlobalSecondaryIndexes ?? []).length + added.length + 1, () => {}, () => { added.splice(added.indexOf(index), 1); index.node.remove(); });
    added.push(index);
    more.append(index.node);
  } }, "Add an index");
  const provisioned = () => ({ ProvisionedThroughput: { ReadCapacityUnits: Number(reads.value), WriteCapacityUnits: Number(writes.value) } });
  async function save() {
    const update = (/** @type {Input} */ input) => api("UpdateTable", { TableName, ...input });
    const isProvisioned = mode.value === "PROVISIONED";
    if (mode.value !== current.mode || (isProvisioned && (Number(reads.value) !== t.ProvisionedThroughput?.ReadCapacityUnits || Number(writes.value) !== t.ProvisionedThroughput?.WriteCapacityUnits))) {
      const each = isProvisioned ? { GlobalSecondaryIndexUpdates: (t.GlobalSecondaryIndexes ?? []).map((i) => ({ Update: { IndexName: i.IndexName, ...provisioned() } })) } : {};
      await update({ BillingMode: mode.value, ...(isProvisioned ? provisioned() : {}), ...(each.GlobalSecondaryIndexUpdates?.length && mode.value !== current.mode ? each : {}) });
    }
    if (stream.value !== current.stream && current.stream) await update({ StreamSpecification: { StreamEnabled: false } });
    if (stream.value !== current.stream && stream.value) await update({ StreamSpecification: { StreamEnabled: true, StreamViewType: stream.value } });
    if (protect.input.checked !== current.protect) await update({ DeletionProtectionEnabled: protect.input.checked });
    if (attribute.value.trim() !== current.ttl) {
      await api("UpdateTimeToLive", { TableName, TimeToLiveSpecification: attribute.value.trim() ? { Enabled: true, AttributeName: attribute.value.trim() } : { Enabled: false, AttributeName: current.ttl } });
    }
    for (const { IndexName, box } of drops) if (box.input.checked) await update({ GlobalSecondaryIndexUpdates: [{ Delete: { IndexName } }] });
    for (const index of added) {
      const types = new Map([...t.AttributeDefinitions.map((d) => /** @type {[string, string]} */ ([d.AttributeName, d.AttributeType])), ...index.key.types()]);
      await update({ AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
        GlobalSecondaryIndexUpdates: [{ Create: { ...index.json(), ...(isProvisioned ? provisioned() : {}) } }] });
    }
  }
  dialog(`Change ${TableName}`, [h("div.fields", field("Capacity", mode), field("Stream", stream), field("Time to live attribute", attribute)), units, h("p", protect),
    drops.length ? h("fieldset", h("legend", "Indexes"), drops.map(({ box }) => h("p", box))) : null, more, add,
    h("h3", "As DescribeTable shows it"), h("pre", JSON.stringify(t, null, 2)), problem], [["Save changes", "main", async () => {
    try { await save(); } catch (error) { fill(problem, messageOf(error)); problem.scrollIntoView(); return false; }
    note(`Changed ${TableName}`);
    await done();
    return true;
  }]]);
}
