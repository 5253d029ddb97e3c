"use strict";
// What the presets for Vitest and Jest take: options of the server ("--option", ...), or one object: see vitest/plugin.d.mts.
const path = require("node:path");

const KNOWN = { "server": ["engine", "options", "schema"], "in-process": ["engine", "options", "schema", "memoryLimitMb"] };

/* Paths of `schema` are below `root`. */
function settingsOf(given, root) {
  const settings = { engine: "server", ...(given.length === 1 && typeof given[0] === "object" ? given[0] : { options: given }) };
  const known = KNOWN[settings.engine];
  if (!known) throw new Error(`dynalith: the engine is "in-process" or "server", not ${JSON.stringify(settings.engine)}`);
  const unknown = Object.keys(settings).find((name) => !known.includes(name));
  if (unknown) throw new Error(`dynalith: the engine ${settings.engine} has no setting ${unknown}; there are ${known.join(", ")}`);
  if (settings.options && Array.isArray(settings.options) !== (settings.engine === "server"))
    throw new Error(`dynalith: options of the engine ${settings.engine} are ${settings.engine === "server" ? 'a list such as ["--option"]' : "an object by the names in the configuration file"}`);
  return { ...settings, schema: [settings.schema ?? []].flat().map((file) => path.resolve(root, file)) };
}

/* The server of a run where there is to be one, and what its workers need. */
async function start(settings) {
  if (settings.engine === "in-process") return { run: settings };
  const server = await require("./index.cjs").Dynalith.start(...(settings.options ?? []));
  return { server, run: { engine: settings.engine, schema: settings.schema, url: server.url, logPath: server.logPath } };
}

/* The tables of a worker. */
function namespaceOf(run, worker) {
  if (run.engine === "server") return new (require("./index.cjs").Namespace)(run.url, worker);
  return require("./in-process.cjs").inProcess({ memoryLimitMb: run.memoryLimitMb, options: run.options, log: (line) => console.error(line) });
}

module.exports = { settingsOf, start, namespaceOf };
