"use strict";
// The engine of the playground, in a thread of its own: a fault rule's delay blocks it, and not the page. scripts/site.py puts the npm package's engine below.
const FILE = "/state.db"; // the one file that the engine sees
const OPTIONS = { "log.level": "error", data_limit_mb: 256, memory_limit_mb: 128, vector_cache_mb: 64 }; // as the frozen memory of the module has them

/* What files.js needs of node:fs. */
const host = {
  bytes: new Uint8Array(0),
  statSync(path) {
    if (path !== "/" && path !== FILE) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return { ino: 1, size: host.bytes.length, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => path === "/", isFile: () => path === FILE };
  },
  openSync: () => 0,
  closeSync() {},
  readdirSync: () => [],
  readSync(fd, into, at, size, offset) {
    const part = host.bytes.subarray(offset, offset + size);
    into.set(part, at);
    return part.length;
  },
};
// @ENGINE@

let opened;

function open(module, state) {
  if (state) host.bytes = state;
  opened = new engine.Engine(module, state ? { store: `memory:${FILE}`, ...OPTIONS } : { in_memory: true, ...OPTIONS }, console.error, files.files);
}

onmessage = ({ data: { id, open: isOpen, take: isTake, module, state, ...request } }) => {
  try {
    const answer = isOpen ? open(module, state) : isTake ? opened.export() : opened.send(request);
    postMessage({ id, answer });
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
