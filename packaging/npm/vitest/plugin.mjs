import { fileURLToPath } from "node:url";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A plugin for Vitest: plugins: [dynalith({ engine: "in-process" })] or [dynalith("--option", ...)]. */
export default function dynalith(...settings) {
  const test = { globalSetup: [file("./start.mjs")], setupFiles: [file("./each.mjs")], provide: { dynalithSettings: JSON.stringify(settings) } };
  return { name: "dynalith", config: () => ({ test }) };
}
