// "Run as": the identity of the server's policies in whose name a request is made.
import { messageOf, note, select } from "../core/dom.js";
import { control, session } from "../core/api.js";

/** The identities that the server knows by an access key: [key, text]; none without policies. @returns {Promise<[string, string][]>} */
async function identities() {
  if (!session.facts.iam) return [];
  try {
    const { principals } = await control("GET", "policies");
    return (principals ?? []).flatMap(({ access_key: key, arn }) => (key ? [[key, `${key} (${arn.split(":").pop()})`]] : []));
  } catch (error) {
    note(`The policies cannot be read: ${messageOf(error)}`, true);
    return [];
  }
}

/** A choice, and the key that is chosen: "" is the page's own. Without policies `control` is null. @param {unknown} chosen @param {() => void} onchange */
export async function identityChoice(chosen, onchange) {
  const all = await identities();
  if (!all.length) return { control: null, key: () => "" };
  const control = select([["", `${session.key}, this page`], ...all.filter(([key]) => key !== session.key)], all.find(([key]) => key === chosen)?.[0] ?? "", onchange);
  return { control, key: () => control.value };
}
