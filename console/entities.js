// Entity types of a single table: by an attribute that names them, or by the prefixes of keys; their colours; the attributes that each has.
import { brief } from "./types.js";

const NAMING = ["entityType", "EntityType", "entity_type", "__typename", "_type", "_et", "entity", "__edb_e__"];
const PLAIN = new Set(["METADATA", "META", "A", "INFO", "DATA", "ROOT", "DETAIL", "DETAILS"]); // sort keys that say nothing of the type
const COLOURS = 10;

/** The part of a key that names an entity: letters up to a separator or digits, or a word in capitals; else "". */
export function prefix(text) {
  const match = /^([A-Za-z][A-Za-z_-]*?)[#|:/~]/.exec(text) ?? /^([A-Z][A-Z_]*)$/.exec(text) ?? /^([A-Za-z]{2,}?)[_-]?\d/.exec(text);
  return match && !/^[0-9a-f]{6,}/i.test(text) ? match[1] : "";
}

/** A key as a template: CUSTOMER#42 becomes CUSTOMER#<id>, ORDER#2026-01-02#7 becomes ORDER#<date>#<number>. */
export function template(text) {
  return text.split(/([#|])/).map((part) => {
    if (/^[#|]?$/.test(part)) return part;
    if (/^\d{4}-\d\d-\d\d(T[\d:.Z+-]*)?$/.test(part)) return "<date>";
    if (/^\d+$/.test(part)) return "<number>";
    if (/^[A-Z][A-Z_]*$/.test(part) || /^[A-Za-z_]+[:/]$/.test(part)) return part;
    return prefix(part) && /\d/.test(part) ? `${prefix(part)}<id>` : "<id>";
  }).join("");
}

export class Entities {
  /** `by`: "auto", "prefix", or the name of an attribute. */
  constructor(table, by = "auto") {
    const keys = (type) => table.KeySchema.filter((k) => k.KeyType === type).map((k) => k.AttributeName);
    Object.assign(this, { by, hash: keys("HASH"), range: keys("RANGE"), types: new Map() });
  }

  nameOf(item) {
    const named = this.by === "auto" ? NAMING.find((n) => item[n]?.S) : this.by !== "prefix" && item[this.by] ? this.by : undefined;
    if (named) return brief(item[named], 40);
    const of = (names) => prefix(names.map((n) => brief(item[n])).join("#"));
    const pk = of(this.hash), sk = of(this.range);
    return (PLAIN.has(sk) ? pk : sk || pk) || "item";
  }

  /** The type of an item: its name, colour, the attributes that items of the type have, how many were seen. */
  of(item) {
    const name = this.nameOf(item);
    let type = this.types.get(name);
    if (!type) {
      type = { name, colour: `var(--e${this.colour(name)})`, attributes: [], templates: new Map(), count: 0 };
      this.types.set(name, type);
    }
    return type;
  }

  /** The same name has the same colour in every view, as long as others of the view do not have it. */
  colour(name) {
    const used = new Set([...this.types.values()].map((t) => t.colour));
    let n = [...name].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 9973, 7) % COLOURS;
    for (let i = 0; i < COLOURS && used.has(`var(--e${n})`); i++) n = (n + 1) % COLOURS;
    return n;
  }

  /** Counts an item that was read. */
  see(item) {
    const type = this.of(item);
    type.count++;
    for (const name of Object.keys(item).sort()) if (!type.attributes.includes(name)) type.attributes.push(name);
    return type;
  }
}
