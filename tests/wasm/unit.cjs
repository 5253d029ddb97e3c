"use strict";
// Runs a program of WASI preview 1, such as a unit test: node tests/wasm/unit.cjs FILE
process.removeAllListeners("warning"); // node:wasi calls itself experimental
const { readFileSync } = require("node:fs");
const { WASI } = require("node:wasi");

const wasi = new WASI({ version: "preview1", args: [process.argv[2]], returnOnExit: true });
const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(process.argv[2])), wasi.getImportObject());
process.exitCode = wasi.start(instance);
