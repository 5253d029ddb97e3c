import { fileURLToPath } from "node:url";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A plugin for Vitest: plugins: [dynalith({ engine: "in-process" })] or [dynalith("--option", ...)]. */
export default function dynalith(...settings) {
  process.env.DYNALITH_RUN_OPTIONS = JSON.stringify(settings);
  return { name: "dynalith", config: () => ({ test: { globalSetup: [file("./start.mjs")], setupFiles: [file("./each.mjs")] } }) };
}
