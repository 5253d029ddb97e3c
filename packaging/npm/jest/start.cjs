"use strict";
const { Dynalith } = require("../index.cjs");

// In the process that runs the workers: they inherit its environment. The options are "dynalith": ["--option", ...] beside "jest" in package.json.
module.exports = async (config) => {
  const { join } = require("node:path");
  let args = [];
  try { args = require(join(config.rootDir, "package.json")).dynalith ?? []; } catch { /* a project without the file has no options */ }
  const server = globalThis.__dynalith = await Dynalith.start(...args);
  process.env.DYNALITH_RUN_URL = server.url;
};
