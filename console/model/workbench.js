// NoSQL Workbench's files: its data models, version 3.0, from tables and into tables. Nothing here needs a browser.
import { entry } from "./shapes.js";

/**
 * @import { AttributeDefinition, Input, Item, KeySchema, Projection, TableDescription } from "../types.d.ts"
 * @typedef {{PartitionKey: AttributeDefinition, SortKey?: AttributeDefinition}} KeyAttributes as NoSQL Workbench writes them
 * @typedef {{ReadCapacityUnits: number, WriteCapacityUnits: number}} Capacity
 * @typedef {{ProvisionedThroughput?: Capacity, AutoScalingRead?: object, AutoScalingWrite?: object}} Settings
 * @typedef {{IndexName: string, KeyAttributes: KeyAttributes, Projection?: Projection, ProvisionedCapacitySettings?: Settings}} Index
 * @typedef {{FacetName?: string, TableData?: Item[]}} Facet
 * @typedef {{TableName: string, KeyAttributes: KeyAttributes, NonKeyAttributes?: AttributeDefinition[], TableFacets?: Facet[], GlobalSecondaryIndexes?: Index[], TableData?: Item[],
 *   BillingMode?: string, ProvisionedCapacitySettings?: Settings}} Model of a table
 * @typedef {{input: Input & {TableName: string}, items: Item[], billing: string, left: string[]}} Made left: what of the model is not in the table
 */

/** What is in the table, what its own line tells of, and what is drawn or described in the editor alone. */
const TAKEN = new Set(["TableName", "KeyAttributes", "NonKeyAttributes", "TableFacets", "GlobalSecondaryIndexes", "TableData", "BillingMode", "ProvisionedCapacitySettings", "DataAccess", "SampleDataFormats", "Description"]);
const TAKEN_INDEX = new Set(["IndexName", "KeyAttributes", "Projection", "ProvisionedCapacitySettings", "Description"]);

/** @param {AttributeDefinition[]} definitions @param {string} name */
const attribute = (definitions, name) => ({ AttributeName: name, AttributeType: definitions.find((d) => d.AttributeName === name)?.AttributeType ?? "S" });
/** @param {KeySchema} schema @param {AttributeDefinition[]} definitions @returns {KeyAttributes} */
const keyOf = ([hash, range], definitions) =>
  ({ PartitionKey: attribute(definitions, hash.AttributeName), ...(range ? { SortKey: attribute(definitions, range.AttributeName) } : {}) });
/** @param {Capacity | undefined} units as DescribeTable shows them: 0 where there are none */
const settingsOf = (units) => (units?.ReadCapacityUnits ? { ProvisionedCapacitySettings: { ProvisionedThroughput: { ReadCapacityUnits: units.ReadCapacityUnits, WriteCapacityUnits: units.WriteCapacityUnits } } } : {});

/** Tables as NoSQL Workbench's model, with some of their items. @param {{table: TableDescription, items: Item[]}[]} tables */
export function toWorkbench(tables) {
  return {
    ModelName: "Dynalith", ModelMetadata: { Author: "", DateCreated: new Date().toISOString(), DateLastModified: new Date().toISOString(), Description: "", AWSService: "Amazon DynamoDB", Version: "3.0" },
    DataModel: tables.map(({ table: t, items }) => {
      const keys = new Set([t.KeySchema, ...(t.GlobalSecondaryIndexes ?? []).map((i) => i.KeySchema)].flat().map((k) => k.AttributeName));
      const others = new Map(items.flatMap((i) => Object.entries(i)).filter(([n]) => !t.KeySchema.some((k) => k.AttributeName === n)).map(([n, v]) => [n, Object.keys(v)[0]]));
      for (const n of keys) if (!t.KeySchema.some((k) => k.AttributeName === n)) others.set(n, attribute(t.AttributeDefinitions, n).AttributeType);
      return {
        TableName: t.TableName, KeyAttributes: keyOf(t.KeySchema, t.AttributeDefinitions),
        NonKeyAttributes: [...others].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })), TableFacets: [],
        GlobalSecondaryIndexes: (t.GlobalSecondaryIndexes ?? []).map((i) => ({ IndexName: i.IndexName, KeyAttributes: keyOf(i.KeySchema, t.AttributeDefinitions), Projection: i.Projection, ...settingsOf(i.ProvisionedThroughput) })),
        TableData: items, DataAccess: { MySql: {} }, BillingMode: t.BillingModeSummary?.BillingMode ?? "PROVISIONED", ...settingsOf(t.ProvisionedThroughput),
      };
    }),
  };
}

/** @param {KeyAttributes} key @returns {KeySchema} */
const schema = ({ PartitionKey: p, SortKey: s }) => [{ AttributeName: p.AttributeName, KeyType: "HASH" }, ...(s ? [{ AttributeName: s.AttributeName, KeyType: "RANGE" }] : [])];

/** The rows of the table and of its facets; a key that stands twice has its last row. @param {Model} t */
function rowsOf(t) {
  const names = schema(t.KeyAttributes).map((k) => k.AttributeName), rows = [...t.TableData ?? [], ...(t.TableFacets ?? []).flatMap((f) => f.TableData ?? [])];
  return [...new Map(rows.map((item) => [JSON.stringify(names.map((n) => item[n])), item])).values()];
}

/** How the table is billed, and with which units: as the server's own import has it. @param {Model} t */
function billingOf(t) {
  const units = t.ProvisionedCapacitySettings?.ProvisionedThroughput, mode = t.BillingMode ?? "PAY_PER_REQUEST";
  if (mode !== "PROVISIONED" && mode !== "PAY_PER_REQUEST") throw new Error(`${t.TableName}: BillingMode ${mode} is neither PROVISIONED nor PAY_PER_REQUEST`);
  if (mode === "PROVISIONED" && units) return { units, said: `provisioned, ${units.ReadCapacityUnits} read and ${units.WriteCapacityUnits} write units` };
  return { said: mode === "PROVISIONED" ? "on demand, since the model is PROVISIONED and says no units" : "on demand" };
}

/** What the table will not have, by the names that the model gives it. @param {Model} t @param {Item[]} items @param {Capacity | undefined} units */
function leftOut(t, items, units) {
  const left = /** @type {Map<string, string[]>} */ (new Map()), add = (/** @type {string} */ what, /** @type {string} */ of = "") => entry(left, what, () => []).push(of);
  const indexes = t.GlobalSecondaryIndexes ?? [], keys = new Set(indexes.flatMap((i) => schema(i.KeyAttributes).map((k) => k.AttributeName)));
  const scales = (/** @type {Settings | undefined} */ settings) => Boolean(units && (settings?.AutoScalingRead || settings?.AutoScalingWrite));
  if (scales(t.ProvisionedCapacitySettings)) add("auto scaling", "the table");
  for (const i of indexes) if (scales(i.ProvisionedCapacitySettings)) add("auto scaling", i.IndexName);
  for (const { FacetName } of t.TableFacets ?? []) add("facets, of which the rows alone are taken", FacetName);
  for (const { AttributeName: n } of t.NonKeyAttributes ?? []) if (!keys.has(n) && !items.some((item) => Object.hasOwn(item, n))) add("attributes that no row has", n);
  for (const name of Object.keys(t)) if (!TAKEN.has(name)) add(name);
  for (const i of indexes) for (const name of Object.keys(i)) if (!TAKEN_INDEX.has(name)) add(name, i.IndexName);
  return [...left].map(([what, of]) => (of.some(Boolean) ? `${what} (${of.filter(Boolean).join(", ")})` : what));
}

/** @param {Model} t @returns {Made} */
function tableOf(t) {
  if (!t?.TableName || !t.KeyAttributes?.PartitionKey) throw new Error(`${t?.TableName || "A table of the model"} has no ${t?.TableName ? "PartitionKey in its KeyAttributes" : "TableName"}`);
  const indexes = t.GlobalSecondaryIndexes ?? [], keys = [t, ...indexes].flatMap(({ KeyAttributes: { PartitionKey: p, SortKey: s } }) => (s ? [p, s] : [p]));
  const { units, said } = billingOf(t), items = rowsOf(t), bare = indexes.filter((i) => units && !i.ProvisionedCapacitySettings?.ProvisionedThroughput).map((i) => i.IndexName);
  const GlobalSecondaryIndexes = indexes.map((i) => ({ IndexName: i.IndexName, KeySchema: schema(i.KeyAttributes),
    Projection: { ProjectionType: i.Projection?.ProjectionType ?? "ALL", ...(i.Projection?.ProjectionType === "INCLUDE" ? { NonKeyAttributes: i.Projection.NonKeyAttributes } : {}) },
    ...(units ? { ProvisionedThroughput: i.ProvisionedCapacitySettings?.ProvisionedThroughput ?? units } : {}) }));
  return {
    input: { TableName: t.TableName, ...(units ? { BillingMode: "PROVISIONED", ProvisionedThroughput: units } : { BillingMode: "PAY_PER_REQUEST" }), KeySchema: schema(t.KeyAttributes),
      AttributeDefinitions: [...new Map(keys.map((k) => [k.AttributeName, { AttributeName: k.AttributeName, AttributeType: k.AttributeType }])).values()], ...(indexes.length ? { GlobalSecondaryIndexes } : {}) },
    items, billing: said + (bare.length ? `; the same for ${bare.join(", ")}` : ""), left: leftOut(t, items, units),
  };
}

/** NoSQL Workbench's model as CreateTable's inputs with their items, and what is left out. @param {unknown} model @returns {Made[]} */
export function fromWorkbench(model) {
  const { DataModel } = Object(model);
  if (!Array.isArray(DataModel)) throw new Error("This is no model of NoSQL Workbench: DataModel is missing");
  return /** @type {Model[]} */ (DataModel).map(tableOf);
}
