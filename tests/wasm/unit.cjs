"use strict";
// Runs a program of WASI preview 1, such as a unit test: node tests/wasm/unit.cjs FILE
process.removeAllListeners("warning"); // node:wasi calls itself experimental
const { readFileSync } = require("node:fs");
const { WASI } = require("node:wasi");

const wasi = new WASI({ version: "preview1", args: [process.argv[2]], returnOnExit: true });
// Not as they are: called from optimized code, Node 20's own functions abort the process.
const imports = Object.entries(wasi.wasiImport).map(([name, call]) => [name, (...given) => call(...given)]);
const module_ = new WebAssembly.Module(readFileSync(process.argv[2]));
process.exitCode = wasi.start(new WebAssembly.Instance(module_, { wasi_snapshot_preview1: Object.fromEntries(imports) }));
