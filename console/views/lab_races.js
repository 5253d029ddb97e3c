// An order of requests by which a program fails, as `dynalith races` found it: a column for each client, from top to bottom.
import { copy, fill, h, number } from "../core/dom.js";
import { opener } from "../ui/opener.js";
import { readOrder, replayOf, switchesOf } from "../model/order.js";

/** @import { Order, OrderStep } from "../lab.d.ts" */

const SHOWN = 200;

/** The order that was opened last: it is there when the page is shown again. @type {{name: string, order: Order} | null} */
let opened = null;

/** @param {OrderStep} step */
const box = (step) => h(step.trouble ? "div.step.trouble" : step.isWrite ? "div.step.write" : "div.step", h("p", h("strong", step.operation), " ", h("span.mono", step.on)),
  step.came && h("p.mono", h("span.hidden", "answer: "), `→ ${step.came}`), step.trouble && h("p.warn", step.trouble));

/** @param {Order} order */
function picture({ steps, first, clients }) {
  const shown = steps.slice(first, first + SHOWN);
  return h("div.scroll", { tabIndex: 0, role: "group", "aria-label": "The order of requests" }, h("table.order", h("caption.hidden", "The order of requests, a column for each client"),
    h("thead", h("tr", h("th", { scope: "col" }, "Step"), clients.map(({ client, name }) => h("th", { scope: "col" }, h("strong", client), name && h("span.quiet", ` ${name}`))))),
    h("tbody", shown.map((step, i) => h(i > 0 && shown[i - 1].client !== step.client ? "tr.switch" : "tr", h("th", { scope: "row" }, first + i + 1),
      clients.map(({ client }) => h("td", client === step.client ? box(step) : null)))))));
}

/** @param {string} name of the file @param {Order} order */
function orderView(name, order) {
  const command = replayOf(name), more = order.steps.length - order.first - SHOWN, switches = switchesOf(order);
  return [h("section.card", h("h2", `Order ${name.replace(/\.json$/, "")}`), order.sentence && h("p", h("strong", order.sentence)), order.why && h("p", order.why),
    h("p.quiet", `${number(order.steps.length)} requests of ${order.clients.length} clients, with ${switches} ${switches === 1 ? "switch" : "switches"} between them.`),
    h("div.row.call", h("code", { tabIndex: 0, "aria-label": "The command that replays it" }, command), h("button.small", { type: "button", onclick: () => copy(command) }, "Copy the command")),
    h("p.quiet", "In place of ", h("code", "npm test"), " stands the command that was raced. ", h("code", "dynalith races --all races"), " replays every order of the folder, as in CI.")),
  h("section.card", h("h2", "What happens"), h("p.row", h("span.step", "reads"), h("span.step.write", "writes"), order.steps.some((s) => s.trouble) && h("span.step.trouble", "something was done to it")),
    order.first > 0 && h("p.quiet", `${order.first === 1 ? "1 request comes" : `${number(order.first)} requests come`} before, as in the usual run.`), picture(order), more > 0 && h("p.quiet", `${number(more)} more follow.`))];
}

export function races() {
  const place = h("div.stack"), show = () => fill(place, opened ? orderView(opened.name, opened.order) : h("div.empty", h("p", "Tests pass in one order of requests, and fail in another."),
    h("p", h("code", "dynalith races -- npm test"), " runs a command again and again, each time in another order, until it fails. It writes the order into ", h("code", "races/"), "; open that file here.")));
  show();
  return h("div.stack", h("section.card", h("h2", "A found order"), opener("Open a file of races/, or drop it here", ".json,application/json", (text, name) => {
    opened = { name, order: readOrder(text) };
    show();
  })), place);
}
