// Keys as words and values: CUSTOMER#42 has the label CUSTOMER. Which words are labels is learned
// from a sample: a word alone is one where it stands in many partitions. No browser is needed here.

/** @typedef {{text: string, labels: string[], kind: string}} Part of a key */

/** Sort keys that say nothing of the type: the item is what its partition key says. */
export const ROOTS = new Set(["METADATA", "META", "A", "INFO", "DATA", "ROOT", "DETAIL", "DETAILS",
  "PROFILE", "SELF", "RECORD", "BASE", "MAIN", "V0", "LATEST", "CURRENT", "ATTRIBUTES", "-", "#"]);

const WORD = /^[_$]?[A-Za-z][\w.$ -]*$/;
const CAPITALS = /^[A-Z][A-Z_-]*[A-Z]$|^[A-Z]$/;
const SEPARATED = /^[#|:/~^]*([_$]?[A-Za-z][\w.$ -]*?)(::|[#|:/~^])/;
const PREFIXED = /^([A-Za-z]{2,16}?)(?:[_-](?=[A-Za-z]*\d|[0-9A-Za-z]{10,}$)|(?=\d))/;
const HEXADECIMAL = /^[0-9a-f-]{6,}$/i;

/** What a value is that has no label. */
export function kindOf(/** @type {string} */ text) {
  if (text === "") return "nothing";
  if (/^\d{4}-\d\d(-\d\d)?([T ][\d:.Z+-]*)?$/.test(text)) return "<date>";
  if (/^-?\d+(\.\d+)?$/.test(text)) return "<number>";
  return "<id>";
}

const isLabel = (/** @type {string} */ s) => WORD.test(s) && !(HEXADECIMAL.test(s) && /\d/.test(s));
const isCapital = (/** @type {string} */ s) => CAPITALS.test(s);

/**
 * The labels among the segments of a key. Where some are in capitals, only these are labels: in
 * acme#USER#42 it is USER. A label is followed by its value; REVIEW#PRODUCT#7 has one label, whose
 * value says of what it is.
 */
function labelsOf(/** @type {string[]} */ parts, /** @type {Set<string>} */ heads) {
  const byCase = parts.some((s) => isCapital(s) && s.length > 1), labels = [];
  for (let i = 0; i < parts.length; i++) {
    const s = parts[i], isWord = byCase ? isCapital(s) : isLabel(s);
    if (!isWord) continue;
    const next = parts[i + 1] ?? "";
    if (labels.length && !byCase && !(heads.has(s) || /\d/.test(next))) continue;
    if (labels.length && i === parts.length - 1 && isCapital(parts[i - 1])) continue;
    labels.push(s);
    const qualifies = byCase && isCapital(next) && i + 2 < parts.length && !isCapital(parts[i + 2]);
    i += qualifies ? 2 : 1;
  }
  return labels;
}

/** The parts of a key between its separators: those of the first that it has. */
function split(/** @type {string} */ text) {
  const match = SEPARATED.exec(text);
  if (!match) return null;
  return text.replace(/^[#|:/~^]+/, "").split(match[2]).filter((s) => s !== "");
}

/** The sample's words that may be labels without a separator behind them. */
export class Words {
  constructor() {
    this.heads = /** @type {Set<string>} */ (new Set());
    this.prefixes = /** @type {Map<string, number>} */ (new Map());
    this.alone = /** @type {Map<string, Set<string>>} */ (new Map()); // word: partitions
    this.prefixed = 0;
    this.partitions = /** @type {Set<string>} */ (new Set());
  }

  /** @param {string} text @param {string} partition */
  see(text, partition) {
    this.partitions.add(partition);
    const parts = split(text);
    if (parts) { this.heads.add(parts[0]); return; }
    const prefix = HEXADECIMAL.test(text) ? null : PREFIXED.exec(text);
    if (prefix) {
      this.prefixed++;
      this.prefixes.set(prefix[1], (this.prefixes.get(prefix[1]) ?? 0) + 1);
    } else if (/^[A-Za-z_-]+$/.test(text)) {
      const of = this.alone.get(text) ?? new Set();
      this.alone.set(text, of.add(partition));
    }
  }

  /** @param {string} text @param {boolean} isPartition @returns {Part} */
  read(text, isPartition) {
    const parts = split(text);
    if (parts) {
      const labels = labelsOf(parts, this.heads);
      return { text, labels, kind: labels.length ? "label" : kindOf(text) };
    }
    const word = this.wordOf(text, isPartition);
    return { text, labels: word ? [word] : [], kind: word ? "label" : kindOf(text) };
  }

  /** @param {string} text @param {boolean} isPartition */
  wordOf(text, isPartition) {
    const bare = text.replace(/^[#|:/~^]+/, "");
    if (ROOTS.has(text.toUpperCase()) || (isCapital(bare) && bare.length > 2)) return bare || text;
    const prefix = HEXADECIMAL.test(text) ? null : PREFIXED.exec(text)?.[1];
    if (prefix) {
      const n = this.prefixes.get(prefix) ?? 0;
      return n >= 2 && this.prefixes.size <= this.prefixed / 3 ? prefix : "";
    }
    const seen = this.alone.get(text);
    if (!seen) return "";
    // as a sort key: the same word in many partitions; as a partition key: few, with many items
    if (isPartition) return this.alone.size <= 12 && this.isCrowded ? text : "";
    return seen.size >= 2 && seen.size >= 0.3 * Math.min(this.partitions.size, this.alone.size ?
      [...this.alone.values()].reduce((most, s) => Math.max(most, s.size), 0) : 1) ? text : "";
  }

  isCrowded = false;
}

/** A key as a template: CUSTOMER#42 becomes CUSTOMER#<number>. @param {string} text */
export function template(text) {
  return text.split(/([#|])/).map((part) => {
    if (/^[#|]?$/.test(part) || CAPITALS.test(part)) return part;
    const kind = kindOf(part);
    if (kind !== "<id>" || /^[A-Za-z_]+[:/]$/.test(part)) return kind === "<id>" ? part : kind;
    const prefix = /^([A-Za-z]{2,}[_:/-]|[A-Za-z]{2,})(?=\d)/.exec(part);
    return prefix && !HEXADECIMAL.test(part) ? `${prefix[1]}<id>` : "<id>";
  }).join("");
}

const CONSTANTS = 4;

/**
 * How the keys of an entity look, from templates with their counts ("PK = CUSTOMER#<number>, SK = PROFILE"): of each attribute the most frequent form, or
 * the values that a word such as a status has, or its name where these are many.
 * @param {Iterable<[string, number]>} counts
 */
export function summary(counts) {
  const forms = /** @type {Map<string, Map<string, number>>} */ (new Map());
  for (const [text, n] of counts) for (const part of text.split(/, (?=[^ ,]+ = )/)) {
    const at = part.indexOf(" = "), name = part.slice(0, at), form = part.slice(at + 3), of = forms.get(name) ?? new Map();
    forms.set(name, of.set(form, (of.get(form) ?? 0) + n));
  }
  return [...forms].map(([name, of]) => {
    const all = [...of].sort((a, b) => b[1] - a[1]).map(([form]) => form), isWord = all.every((form) => !/[<#|]/.test(form));
    return `${name} = ${all.length === 1 || !isWord ? all[0] : all.length <= CONSTANTS ? all.sort().join(" | ") : `<${name}>`}`;
  }).join(", ");
}
