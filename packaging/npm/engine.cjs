"use strict";
// dynalith.wasm in this process: the imports of WASI preview 1 that it needs, and calls of server/library/dynalith.h.
// An instance of WebAssembly has one thread, so the work without a request is done by ticks: see tick().

const webcrypto = globalThis.crypto ?? require("node:crypto").webcrypto; // Node 18 has no global one

const ERRNO = { success: 0, badf: 8, nosys: 52 };
const PAGE = 65536;
const REQUEST_SIZE = 40; // struct dynalith_request: ten words of four bytes
const TICK_MAX_MS = 500;

class DynalithError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "DynalithError";
    this.code = code;
  }
}

class Exit extends Error {}

/* What the module imports. No files and no environment: preopens are none. */
function imports(state, log) {
  const view = () => new DataView(state.memory.buffer);
  const bytes = (at, n) => new Uint8Array(state.memory.buffer, at, n);
  let line = "";
  const decoder = new TextDecoder();
  const known = {
    clock_time_get(id, precision, out) {
      const ns = id === 0 ? BigInt(Date.now()) * 1000000n : BigInt(Math.round(performance.now() * 1e6));
      view().setBigUint64(out, ns, true);
      return ERRNO.success;
    },
    random_get(at, n) {
      for (let done = 0; done < n; done += PAGE) // getRandomValues takes no more at a time
        webcrypto.getRandomValues(bytes(at + done, Math.min(PAGE, n - done)));
      return ERRNO.success;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return ERRNO.success;
    },
    environ_get: () => ERRNO.success,
    fd_prestat_get: () => ERRNO.badf,
    sched_yield: () => ERRNO.success,
    fd_write(fd, vectors, n, written) {
      let sum = 0;
      for (let i = 0; i < n; i++) {
        const at = view().getUint32(vectors + 8 * i, true), size = view().getUint32(vectors + 8 * i + 4, true);
        line += decoder.decode(bytes(at, size), { stream: true });
        sum += size;
      }
      const lines = line.split("\n");
      line = lines.pop();
      for (const whole of lines) log(whole);
      view().setUint32(written, sum, true);
      return ERRNO.success;
    },
    // Subscriptions are of clocks alone: nothing in the module waits for files.
    poll_oneoff(input, output, n, count) {
      let ns = Infinity;
      for (let i = 0; i < n; i++) {
        const at = input + 48 * i, is_absolute = view().getUint16(at + 40, true) & 1;
        const now = view().getUint32(at + 16, true) === 0 ? Date.now() * 1e6 : performance.now() * 1e6;
        ns = Math.min(ns, Number(view().getBigUint64(at + 24, true)) - (is_absolute ? now : 0));
        bytes(output + 32 * i, 32).fill(0);
        view().setBigUint64(output + 32 * i, view().getBigUint64(at, true), true);
      }
      if (ns > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ns / 1e6);
      view().setUint32(count, n, true);
      return ERRNO.success;
    },
    proc_exit(status) {
      throw new Exit(`the engine has ended with status ${status}`);
    },
  };
  return new Proxy(known, { get: (target, name) => target[name] || (() => ERRNO.nosys), has: () => true });
}

/* The member functions that the module imports. */
function importObject(module, state, log) {
  const provided = imports(state, log), wanted = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    wanted[from] = wanted[from] || {};
    wanted[from][name] = provided[name];
  }
  return wanted;
}

class Engine {
  #state = {};
  #exports;
  #handle = 0;
  #problem = null; // why nothing can be called any more
  #timer = null;
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();

  /* `module` is a WebAssembly.Module, `options` are those of the configuration file. */
  constructor(module, options, log = () => {}) {
    const instance = new WebAssembly.Instance(module, importObject(module, this.#state, log));
    this.#exports = instance.exports;
    this.#state.memory = instance.exports.memory;
    this.#guarded(() => {
      this.#exports._initialize();
      const text = this.#text(JSON.stringify(options));
      this.#handle = this.#exports.dynalith_wasi_open(text);
      this.#exports.free(text);
    });
    if (!this.#handle) throw new DynalithError("ERR_DYNALITH_OPTIONS", this.#lastError());
    this.#schedule(0);
  }

  #lastError() {
    return this.#textAt(this.#exports.dynalith_error());
  }

  /* After a trap nothing in the module can be trusted. */
  #guarded(run) {
    if (this.#problem) throw this.#problem;
    try {
      return run();
    } catch (cause) {
      if (!(cause instanceof WebAssembly.RuntimeError || cause instanceof Exit || cause instanceof RangeError)) throw cause;
      this.#stop();
      this.#problem = new DynalithError("ERR_DYNALITH_DEAD", `the engine has failed and its data is gone: ${cause.message}`, { cause });
      throw this.#problem;
    }
  }

  #allocate(n) {
    const at = this.#exports.malloc(n || 1) >>> 0;
    if (at === 0) throw new DynalithError("ERR_DYNALITH_MEMORY", `no memory for ${n} bytes`);
    return at;
  }

  #text(text) {
    const bytes = this.#encoder.encode(text), at = this.#allocate(bytes.length + 1);
    new Uint8Array(this.#state.memory.buffer).set(bytes, at);
    new Uint8Array(this.#state.memory.buffer)[at + bytes.length] = 0;
    return at;
  }

  #textAt(at) {
    at >>>= 0;
    if (at === 0) return undefined;
    const all = new Uint8Array(this.#state.memory.buffer);
    return this.#decoder.decode(all.subarray(at, all.indexOf(0, at)));
  }

  #answer(at) {
    const words = new Uint32Array(this.#state.memory.buffer, at, 8), headers = {};
    const [status, crc32, id, type, body, size, list, count] = words;
    for (let i = 0; i < count; i++) {
      const [name, value] = new Uint32Array(this.#state.memory.buffer, list + 8 * i, 2);
      headers[this.#textAt(name).toLowerCase()] = this.#textAt(value);
    }
    if (type) headers["content-type"] = this.#textAt(type);
    headers["x-amzn-requestid"] = this.#textAt(id);
    headers["x-amz-crc32"] = String(crc32);
    headers["content-length"] = String(size);
    return { status: status | 0, headers, body: new Uint8Array(this.#state.memory.buffer).slice(body, body + size) };
  }

  /* One request: {method, path, headers, body} as of HTTP; the body is a Uint8Array or a string. */
  send({ method = "POST", path = "/", headers = {}, body = "" }) {
    const bytes = typeof body === "string" ? this.#encoder.encode(body) : body;
    const answer = this.#guarded(() => {
      const kept = [], keep = (at) => (kept.push(at), at), text = (value) => keep(this.#text(value));
      try {
        const pairs = Object.entries(headers).flatMap(([name, value]) => [text(name), text(String(value))]);
        const list = keep(this.#allocate(pairs.length * 4)), data = keep(this.#allocate(bytes.length));
        const request = keep(this.#allocate(REQUEST_SIZE)), verb = text(method), where = text(path);
        new Uint8Array(this.#state.memory.buffer).set(bytes, data);
        new Uint32Array(this.#state.memory.buffer, list, pairs.length).set(pairs);
        new Uint32Array(this.#state.memory.buffer, request, 10)
          .set([REQUEST_SIZE, verb, where, 0, 0, 0, data, bytes.length, list, pairs.length / 2]);
        const at = this.#exports.dynalith_send(this.#handle, request) >>> 0;
        if (at === 0) throw new DynalithError("ERR_DYNALITH_REQUEST", this.#lastError());
        const found = this.#answer(at);
        this.#exports.dynalith_free(at);
        return found;
      } finally {
        if (!this.#problem) for (const at of kept) this.#exports.free(at);
      }
    });
    this.#schedule(0);
    return answer;
  }

  /* Work that is due; the next is by a timer, which keeps no process alive. */
  tick() {
    return this.#guarded(() => this.#exports.dynalith_tick(this.#handle));
  }

  #schedule(ms) {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      try {
        this.#schedule(Math.max(1, Math.min(TICK_MAX_MS, this.tick())));
      } catch {} // the next call says so
    }, ms);
    this.#timer.unref?.();
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = 0; // no other
  }

  get memoryBytes() {
    return this.#state.memory.buffer.byteLength;
  }

  close() {
    if (this.#problem) return;
    this.#stop();
    this.#guarded(() => this.#exports.dynalith_close(this.#handle));
    this.#problem = new DynalithError("ERR_DYNALITH_CLOSED", "the instance is closed");
  }
}

module.exports = { Engine, DynalithError };
