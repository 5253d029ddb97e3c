// A form for the most usual fault: the next N requests of an operation fail.
import { attempt, field, h, select } from "../core/dom.js";

/** @import { FaultRule } from "../types.d.ts" */

const OPERATIONS = ["PutItem", "GetItem", "UpdateItem", "DeleteItem", "Query", "Scan", "BatchGetItem", "BatchWriteItem", "TransactGetItems", "TransactWriteItems", "ExecuteStatement"];
const ERRORS = ["InternalServerError", "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"];

/** @param {string[]} tables @param {(rule: FaultRule) => Promise<void>} add */
export function faultForm(tables, add) {
  const count = h("input", { type: "number", min: "1", value: "1" });
  const operation = select([["", "any operation"], ...OPERATIONS], "PutItem"), error = select(ERRORS, ERRORS[0]);
  const table = select([["", "any table"], ...tables], "");
  return h("form", { onsubmit: (e) => {
    e.preventDefault();
    attempt(() => add({ ...(operation.value ? { operation: operation.value } : {}), ...(table.value ? { table: table.value } : {}), first: Number(count.value), error: error.value }))();
  } }, h("div.fields", field("Fail the next", count), field("Requests of", operation), field("On", table), field("With", error)), h("div.row", h("button", { type: "submit" }, "Add the fault")));
}
