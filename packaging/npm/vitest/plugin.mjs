import { fileURLToPath } from "node:url";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A plugin for Vitest: plugins: [dynalith("--option", ...)]. */
export default function dynalith(...options) {
  process.env.DYNALITH_RUN_OPTIONS = JSON.stringify(options);
  return { name: "dynalith", config: () => ({ test: { globalSetup: [file("./start.mjs")], setupFiles: [file("./each.mjs")] } }) };
}
