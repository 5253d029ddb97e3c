// The requests of an example of the documents, one after the other, with what is answered.
import { ApiError, api, control } from "./core/api.js";
import { dialog, h } from "./core/dom.js";

const asked = (value) => (value === undefined ? "" : JSON.stringify(value, null, 1).replace(/\n */g, " ")); // a line: newlines within texts are escaped

const send = ({ operation, method, path, body }) => (operation ? api(operation, body) : control(method, path, body)).catch((error) => {
  if (error instanceof ApiError) return error.body;
  throw error;
});

/** Of a list of {operation, body}, or {method, path, body} for an endpoint. */
export async function showRun(steps) {
  const list = h("ol.steps");
  // The view behind it shows what they changed.
  dialog("An example of the documents", [h("p.quiet", "Sent to the server in this tab, which has these data until the tab is closed:"), list], [], () => dispatchEvent(new HashChangeEvent("hashchange")));
  for (const step of steps) {
    const answer = h("pre.answer", { tabIndex: 0 }, "…");
    list.append(h("li", h("strong", step.operation ?? `${step.method} /_dynalith/${step.path}`), h("pre", { tabIndex: 0 }, asked(step.body)), answer));
    answer.textContent = JSON.stringify(await send(step), null, 2);
  }
}
