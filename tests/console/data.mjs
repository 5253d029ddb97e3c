// The orders of a shop in one table: the data of the tests, of the tour and of the pictures. The console makes the same for people with an empty namespace.
import { items, shop } from "../../console/model/example.js";

export { items, shop };

export async function fillTable(api, TableName, list) {
  for (let at = 0; at < list.length; at += 25) await api("BatchWriteItem", { RequestItems: { [TableName]: list.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } })) } });
}

export async function makeShop(api) {
  await api("CreateTable", shop);
  await fillTable(api, "shop", items());
}
