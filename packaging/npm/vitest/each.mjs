import fs from "node:fs";
import { afterEach, beforeAll, beforeEach, inject } from "vitest";
import around from "../each.cjs";
import settings from "../settings.cjs";

const run = inject("dynalith");

globalThis.dynalith = settings.namespaceOf(run, process.env.VITEST_POOL_ID ?? 1);
around(globalThis.dynalith, run.schema, { beforeAll, beforeEach, afterEach });
if (run.logPath) beforeEach((context) => {
  const start = fs.statSync(run.logPath).size;
  context.onTestFailed(() => {
    const text = fs.readFileSync(run.logPath).subarray(start).toString();
    if (text) console.error(`log of dynalith during ${context.task.name}:\n${text}`);
  });
});
