import fs from "node:fs";
import { afterEach, beforeAll, beforeEach, inject } from "vitest";
import { Namespace } from "../index.mjs";
import around from "../each.cjs";

const { url, logPath } = inject("dynalith");

globalThis.dynalith = new Namespace(url, process.env.VITEST_POOL_ID ?? 1);
around(globalThis.dynalith, { beforeAll, beforeEach, afterEach });
beforeEach((context) => {
  const start = fs.statSync(logPath).size;
  context.onTestFailed(() => {
    const text = fs.readFileSync(logPath).subarray(start).toString();
    if (text) console.error(`log of dynalith during ${context.task.name}:\n${text}`);
  });
});
