// Any request of the API, and its answer: what the console's views have no place for, such as transactions.
import { ApiError, api } from "./core/api.js";
import { dialog, field, h } from "./core/dom.js";

const SAMPLE = { TransactItems: [{ Put: { TableName: "shop", Item: { PK: { S: "CUSTOMER#new" }, SK: { S: "PROFILE" } }, ConditionExpression: "attribute_not_exists(PK)" } }] };
const last = { operation: "TransactWriteItems", body: JSON.stringify(SAMPLE, null, 2) }; // while the page lives

export function showRequest() {
  const operation = h("input", { type: "text", value: last.operation, spellcheck: false, autocomplete: "off" });
  const body = h("textarea", { rows: 12, spellcheck: false, className: "mono" }), answer = h("pre", { tabIndex: 0 });
  body.value = last.body;
  const send = async () => {
    Object.assign(last, { operation: operation.value.trim(), body: body.value });
    const input = JSON.parse(last.body), since = performance.now();
    const reply = await api(last.operation, input).catch((error) => {
      if (error instanceof ApiError) return error.body;
      throw error;
    });
    answer.textContent = `${(performance.now() - since).toFixed(1)} ms\n${JSON.stringify(reply, null, 2)}`;
    return false;
  };
  dialog("Request", [field("Operation, or streams.GetRecords and the like", operation), field("Body", body), answer], [["Send", "main", send]]);
}
