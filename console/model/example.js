// An example for an empty namespace: customers, orders and products of a shop in one table. The same in every run.
const key = (/** @type {string[]} */ ...names) => names.map((AttributeName, i) => ({ AttributeName, KeyType: i ? "RANGE" : "HASH" }));
const S = (/** @type {string} */ v) => ({ S: v }), N = (/** @type {number} */ v) => ({ N: String(v) });

export const shop = { TableName: "shop", BillingMode: "PAY_PER_REQUEST", KeySchema: key("PK", "SK"), StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  AttributeDefinitions: ["PK", "SK", "GSI1PK", "GSI1SK"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
  GlobalSecondaryIndexes: [{ IndexName: "GSI1", KeySchema: key("GSI1PK", "GSI1SK"), Projection: { ProjectionType: "ALL" } }] };

const NAMES = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Barbara Liskov", "Edsger Dijkstra", "Donald Knuth", "Frances Allen", "Tony Hoare"];
const PRODUCTS = ["Teapot", "Lamp", "Notebook", "Clock", "Basket"];

/** About 60 items of five entity types. @returns {import("../types.d.ts").Item[]} */
export function items() {
  const all = /** @type {import("../types.d.ts").Item[]} */ ([]);
  NAMES.forEach((name, i) => {
    const customer = `CUSTOMER#${i + 1}`, mail = `${name.split(" ")[0].toLowerCase()}@example.com`;
    all.push({ PK: S(customer), SK: S("PROFILE"), name: S(name), email: S(mail), since: S(`20${10 + i}-0${1 + i}-14`), tags: { SS: i % 2 ? ["eu"] : ["eu", "vip"] } });
    all.push({ PK: S(customer), SK: S("ADDRESS#home"), street: S(`${10 + i} Mill Road`), city: S(["Oslo", "Bern", "Porto"][i % 3]) });
    for (let o = 0; o < 1 + (i % 3); o++) {
      const order = `ORDER#${1001 + i * 10 + o}`;
      all.push({ PK: S(customer), SK: S(`ORDER#2026-0${1 + o * 2}-1${i}`), GSI1PK: S(order), GSI1SK: S("ORDER"), status: S(["OPEN", "PAID", "SHIPPED"][(i + o) % 3]), total: N(20 + i * 7 + o * 13) });
      for (let l = 0; l <= (i + o) % 3; l++) {
        const product = (i + o + l) % PRODUCTS.length;
        all.push({ PK: S(order), SK: S(`ITEM#${l + 1}`), GSI1PK: S(`PRODUCT#${product + 1}`), GSI1SK: S(order), product: S(PRODUCTS[product]), quantity: N(1 + (i + l) % 4), price: N(9 + product * 5) });
      }
    }
  });
  PRODUCTS.forEach((name, i) => all.push({ PK: S(`PRODUCT#${i + 1}`), SK: S("PRODUCT"), GSI1PK: S(`PRODUCT#${i + 1}`), GSI1SK: S("PRODUCT"), name: S(name), price: N(9 + i * 5), stock: N(100 - i * 13) }));
  return all;
}
