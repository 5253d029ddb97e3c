// Models of NoSQL Workbench: what becomes of a table's billing, and what is left out.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromWorkbench, toWorkbench } from "../../console/model/workbench.js";

const key = (AttributeName, AttributeType = "S") => ({ AttributeName, AttributeType });
const units = (ReadCapacityUnits, WriteCapacityUnits) => ({ ReadCapacityUnits, WriteCapacityUnits });
const scaling = { ScalableTargetRequest: { MinCapacity: 1, MaxCapacity: 10 }, ScalingPolicyConfiguration: { TargetValue: 70 } };
const book = (more = {}) => ({ TableName: "Library", KeyAttributes: { PartitionKey: key("PK"), SortKey: key("SK") }, DataAccess: { MySql: {} }, ...more });
const index = (IndexName, more = {}) => ({ IndexName, KeyAttributes: { PartitionKey: key("author") }, Projection: { ProjectionType: "ALL" }, ...more });
const read = (...tables) => fromWorkbench({ ModelName: "m", DataModel: tables });

test("a provisioned table is one, and so are its indexes", () => {
  const [{ input, billing, left }] = read(book({ BillingMode: "PROVISIONED", ProvisionedCapacitySettings: { ProvisionedThroughput: units(5, 6), AutoScalingRead: scaling, AutoScalingWrite: scaling },
    GlobalSecondaryIndexes: [index("byAuthor"), index("byTitle", { ProvisionedCapacitySettings: { ProvisionedThroughput: units(2, 3), AutoScalingRead: scaling } })] }));
  assert.deepEqual([input.BillingMode, input.ProvisionedThroughput, input.GlobalSecondaryIndexes.map((i) => i.ProvisionedThroughput)], ["PROVISIONED", units(5, 6), [units(5, 6), units(2, 3)]]);
  assert.equal(billing, "provisioned, 5 read and 6 write units; the same for byAuthor");
  assert.deepEqual(left, ["auto scaling (the table, byTitle)"]);
});

test("others are on demand", () => {
  for (const [more, billing] of [[{}, "on demand"], [{ BillingMode: "PAY_PER_REQUEST", ProvisionedCapacitySettings: { ProvisionedThroughput: units(5, 5), AutoScalingRead: scaling } }, "on demand"],
    [{ BillingMode: "PROVISIONED" }, "on demand, since the model is PROVISIONED and says no units"]]) {
    const [made] = read(book({ ...more, GlobalSecondaryIndexes: [index("byAuthor")] }));
    assert.deepEqual([made.input.BillingMode, made.input.ProvisionedThroughput, made.input.GlobalSecondaryIndexes[0].ProvisionedThroughput, made.billing, made.left], ["PAY_PER_REQUEST", undefined, undefined, billing, []]);
  }
  assert.throws(() => read(book({ BillingMode: "FREE" })), /Library: BillingMode FREE is neither/);
});

test("what is left out has a name; rows of facets are not", () => {
  const row = (PK, more = {}) => ({ PK: { S: PK }, SK: { S: "x" }, ...more });
  const [{ items, left }] = read(book({ TableData: [row("1"), row("2")], TableFacets: [{ FacetName: "Loans", TableData: [row("2", { n: { N: "1" } }), row("3")] }, { FacetName: "Books" }],
    NonKeyAttributes: [key("n", "N"), key("author"), key("title")], TableClass: "STANDARD", GlobalSecondaryIndexes: [index("byAuthor", { WarmThroughput: {} })] }));
  assert.deepEqual(items.map((i) => [i.PK.S, i.n?.N]), [["1", undefined], ["2", "1"], ["3", undefined]]);
  assert.deepEqual(left, ["facets, of which the rows alone are taken (Loans, Books)", "attributes that no row has (title)", "TableClass", "WarmThroughput (byAuthor)"]);
  for (const [model, says] of [[{}, /DataModel is missing/], [null, /DataModel is missing/], [{ DataModel: [{ TableName: "t" }] }, /t has no PartitionKey/], [{ DataModel: [{}] }, /has no TableName/], [{ DataModel: [null] }, /has no TableName/]]) {
    assert.throws(() => fromWorkbench(model), says);
  }
});

test("a table comes back as it was", () => {
  const KeySchema = [{ AttributeName: "PK", KeyType: "HASH" }], AttributeDefinitions = [key("PK"), key("author")];
  const of = (mode, throughput) => ({ TableName: "t", KeySchema, AttributeDefinitions, BillingModeSummary: { BillingMode: mode }, ProvisionedThroughput: throughput,
    GlobalSecondaryIndexes: [{ IndexName: "byAuthor", KeySchema: [{ AttributeName: "author", KeyType: "HASH" }], Projection: { ProjectionType: "KEYS_ONLY" }, ProvisionedThroughput: throughput }] });
  const items = [{ PK: { S: "1" }, author: { S: "a" } }];
  for (const [mode, throughput, wanted] of [["PROVISIONED", { ...units(7, 8), NumberOfDecreasesToday: 0 }, units(7, 8)], ["PAY_PER_REQUEST", units(0, 0), undefined]]) {
    const [made] = fromWorkbench(toWorkbench([{ table: of(mode, throughput), items }]));
    assert.deepEqual([made.input.BillingMode, made.input.ProvisionedThroughput, made.input.GlobalSecondaryIndexes[0].ProvisionedThroughput, made.items, made.left], [mode, wanted, wanted, items, []]);
    assert.deepEqual([made.input.KeySchema, made.input.AttributeDefinitions], [KeySchema, AttributeDefinitions]);
  }
});
