#!/usr/bin/env node
"use strict";
// npx dynalith: the server itself, in the place of Node.js where Node.js can do that.
const { findBinary } = require("./index.cjs");
const binary = findBinary(), args = process.argv.slice(2);

if (process.execve) process.execve(binary, ["dynalith", ...args], process.env);
// Else a child that ends with this process: its standard input does.
const env = { ...process.env, DYNALITH_EXIT_WITH_PARENT: "true" };
const child = require("node:child_process").spawn(binary, args, { stdio: ["pipe", "inherit", "inherit"], env });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => { console.error(`dynalith: ${error.message}`); process.exit(1); });
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
