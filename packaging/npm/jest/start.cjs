"use strict";
const { settingsOf, start } = require("../settings.cjs");

// In the process that runs the workers: they inherit its environment. The settings are "dynalith": {...} or ["--option", ...] beside "jest" in package.json.
module.exports = async (config) => {
  const { join } = require("node:path");
  let given = [];
  try { given = require(join(config.rootDir, "package.json")).dynalith ?? []; } catch { /* a project without the file has no options */ }
  const { server, run } = await start(settingsOf([given].flat(), config.rootDir));
  globalThis.__dynalith = server;
  process.env.DYNALITH_RUN = JSON.stringify(run);
};
