// Samples: tables of well-known designs, and stories that send requests and show what is answered.
import { ApiError, api, control } from "./core/api.js";
import { attempt, dialog, h, note } from "./core/dom.js";
import { go } from "./main.js";
import { writeMany } from "./ui/import.js";
import { MODELS } from "./models.js";

const BIG = "x".repeat(100 << 10); // an item with it takes 101 write units
const WRITES = 15;

const byId = (TableName, more) => ({ TableName, KeySchema: [{ AttributeName: "id", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }], ...more });

/** Creates it where it is not there yet. */
const createOnce = (table) => api("CreateTable", table).catch((error) => {
  if (error.type !== "ResourceInUseException") throw error;
});

async function makeModel({ table, items }) {
  await api("CreateTable", table);
  await writeMany(table.TableName, items);
  go("collections", table.TableName);
}

/** Two buyers of one book. `ask` shows a request and its answer, `say` a line of text. */
async function race(ask, say) {
  const Key = { id: { S: "book" } }, TableName = "stock";
  const sell = (who, { Item }, more) => ask(who, "PutItem", { TableName, Item: { ...Key, left: { N: String(Number(Item.left.N) - 1) }, buyer: { S: who } }, ...more });
  await createOnce(byId(TableName, { BillingMode: "PAY_PER_REQUEST" }));
  say("One book is left. Ann and Bob read before either writes:");
  await ask("shop", "PutItem", { TableName, Item: { ...Key, left: { N: "1" } } });
  const seen = [await ask("Ann", "GetItem", { TableName, Key }), await ask("Bob", "GetItem", { TableName, Key })];
  await sell("Ann", seen[0]);
  await sell("Bob", seen[1]);
  await ask("shop", "GetItem", { TableName, Key });
  say("One book, sold twice: Bob's write replaced Ann's. With a condition the second write fails:");
  await ask("shop", "PutItem", { TableName, Item: { ...Key, left: { N: "1" } } });
  const safe = { ConditionExpression: "#left = :seen", ExpressionAttributeNames: { "#left": "left" }, ExpressionAttributeValues: { ":seen": { N: "1" } } };
  await sell("Ann", seen[0], safe);
  await sell("Bob", seen[1], safe);
  say("`dynalith races` finds such orders of requests in a program's tests.");
}

/** Votes for one candidate: the same writes to one key and to many, while the clock stands. */
async function hotPartition(ask, say) {
  const TableName = "votes";
  await createOnce(byId(TableName, { BillingMode: "PROVISIONED", ProvisionedThroughput: { ReadCapacityUnits: 10, WriteCapacityUnits: 6000 } }));
  await control("PUT", "throughput", { throughput: "enforce", burst_seconds: 0 });
  await control("POST", "clock", { freeze: true });
  try {
    for (const [text, id] of [["one key", () => "ada"], [`${WRITES} keys`, (i) => `ada#${i}`]]) {
      await control("POST", "clock", { advance: "10s" });
      let refused = 0, why = "";
      for (let i = 0; i < WRITES; i++)
        await api("PutItem", { TableName, Item: { id: { S: id(i) }, text: { S: BIG } } }).catch((error) => {
          if (!(error instanceof ApiError)) throw error;
          refused++;
          why = `\n${JSON.stringify(error.body, null, 2)}`;
        });
      say(`${WRITES} writes of 101 units each within a second, to ${text}: ${refused} are throttled.${why}`);
    }
    say("The table has 6000 units a second and needs a quarter of them, but one partition takes 1000. Keys with a suffix spread over more.");
  } finally {
    await control("POST", "clock", { freeze: false });
    await control("DELETE", "throughput");
  }
}

async function tell(title, story) {
  const shown = h("pre", { tabIndex: 0 });
  dialog(title, [shown]);
  const ask = async (who, operation, input) => {
    const reply = await api(operation, input).catch((error) => {
      if (error instanceof ApiError) return error.body;
      throw error;
    });
    shown.append(`${who}: ${operation} ${JSON.stringify(input)}\n    ${JSON.stringify(reply)}\n`);
    return reply;
  };
  await story(ask, (text) => shown.append(`\n${text}\n`));
}

const SAMPLES = [
  ...MODELS.map((model) => ({ title: model.title, what: `${model.table.TableName}: ${model.entities.join(", ").toLowerCase()}`, run: () => makeModel(model) })),
  { title: "A race", what: "two buyers of one book, with and without a condition", run: () => tell("A race", race) },
  { title: "A hot partition", what: "throttling by one key, and none by many", run: () => tell("A hot partition", hotPartition) },
];

export function showSamples() {
  const { close } = dialog("Samples", h("ul.samples", SAMPLES.map(({ title, what, run }) => h("li", h("button", {
    type: "button",
    onclick: attempt(async () => {
      close();
      await run();
      note(`${title}: done`);
    }),
  }, title), " ", h("span.quiet", what)))));
}
