import "../index.mjs"; // the global `dynalith` of tests

/** A plugin for Vitest: plugins: [dynalith("--option", ...)]. A server per run, tables per worker, rolled back after each test. */
export default function dynalith(...options: string[]): { name: string };
