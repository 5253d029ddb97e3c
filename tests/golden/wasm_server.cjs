"use strict";
// Golden data over dynalith.wasm: HTTP on a port of this machine, each request passed on to one instance. tests/golden/run --wasm starts it and reads its port.
const { readFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { Engine } = require("../../packaging/npm/engine.cjs");
const { optionsOf } = require("../../packaging/npm/in-process.cjs");

const module_ = new WebAssembly.Module(readFileSync(process.argv[2]));
const engine = new Engine(module_, optionsOf(), (line) => console.error(line));
const server = createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const headers = { ...request.headers, host: "localhost" };
    const answer = engine.send({ method: request.method, path: request.url, headers, body: Buffer.concat(pieces) });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
