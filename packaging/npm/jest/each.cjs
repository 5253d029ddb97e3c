"use strict";
const { namespaceOf } = require("../settings.cjs");

const run = JSON.parse(process.env.DYNALITH_RUN);
globalThis.dynalith = namespaceOf(run, process.env.JEST_WORKER_ID ?? 1);
require("../each.cjs")(globalThis.dynalith, run.schema, { beforeAll, beforeEach, afterEach });
