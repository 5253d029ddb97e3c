// Which entities an access pattern is about: what its key condition says, held against the templates of the entities' keys. Nothing here needs a browser.

/** @import { Pattern } from "../types.d.ts" */
/** @typedef {import("./entities.js").Type} Type */

const CONDITIONS = /begins_with\((\w+), "([^"]*)"\)|(\w+) = "([^"]*)"/g;

/** Whether values of the template can be such: "CUSTOMER#<id>" and "CUSTOMER#…". @param {string} template @param {string} literal @param {boolean} isStart */
function fits(template, literal, isStart) {
  const fixed = template.split("<")[0], start = literal.replace(/….*$/, "");
  if (isStart || start !== literal) return fixed.startsWith(start) || (fixed !== template && start.startsWith(fixed));
  return fixed === template ? template === literal : literal.startsWith(fixed);
}

/** The names of the entities that it may read or write; none where its key says nothing of them. @param {Pattern} pattern @param {readonly Type[]} types of its table */
export function entitiesOfPattern(pattern, types) {
  const said = [...(pattern.key ?? "").matchAll(CONDITIONS)].map(([, startOf, start, name, value]) => ({ name: startOf ?? name, literal: start ?? value, isStart: Boolean(startOf) }));
  if (!said.length) return [];
  const has = (/** @type {string} */ template) => said.every(({ name, literal, isStart }) => {
    const part = template.split(", ").find((p) => p.startsWith(`${name} = `));
    return part === undefined || fits(part.slice(name.length + 3), literal, isStart);
  });
  return types.filter((t) => [...t.templates.get(pattern.index ?? "")?.keys() ?? []].some(has)).map((t) => t.name);
}
