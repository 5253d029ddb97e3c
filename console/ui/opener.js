// A file of the reader's, by choosing it or by dropping it. It is read in the page, and sent nowhere by this.
import { attempt, h } from "../core/dom.js";

const SIZE_MAX = 4 << 20;

/**
 * @param {string} label of the choice @param {string} accept as of an input @param {(text: string, name: string) => unknown} open gets the text
 * @param {import("../types.d.ts").Child[]} more stands in the place
 */
export function opener(label, accept, open, ...more) {
  const take = attempt(async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    if (file.size > SIZE_MAX) throw new Error(`${file.name} is larger than 4 MB`);
    await open(await file.text(), file.name);
  });
  const input = h("input", { type: "file", accept, onchange: async () => { await take(input.files?.[0]); input.value = ""; } });
  const place = h("div.drop", h("label.field", h("span", label), input), ...more);
  const isFile = (/** @type {DragEvent} */ e) => e.dataTransfer?.types.includes("Files");
  place.ondragover = (e) => { if (isFile(e)) { e.preventDefault(); place.classList.add("over"); } };
  place.ondragleave = () => place.classList.remove("over");
  place.ondrop = (e) => {
    place.classList.remove("over");
    if (!isFile(e)) return;
    e.preventDefault();
    take(e.dataTransfer?.files[0]);
  };
  return place;
}
