"use strict";
const { Namespace } = require("../index.cjs");

globalThis.dynalith = new Namespace(process.env.DYNALITH_RUN_URL, process.env.JEST_WORKER_ID ?? 1);
require("../each.cjs")(globalThis.dynalith, { beforeAll, beforeEach, afterEach });
