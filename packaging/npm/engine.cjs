"use strict";
// dynalith.wasm in this process: the imports of WASI preview 1 that it needs, and calls of server/library/dynalith.h.
// An instance of WebAssembly has one thread, so the work without a request is done by ticks: see tick().

// Node's own where there is one: environments of tests bring poorer ones, and fake timers replace these.
const isNode = typeof globalThis.process?.versions?.node === "string";
/* A module of Node's, or globalThis: in browsers, and in Cloudflare's workerd, which says that it is Node and has only some of its modules. */
function nodeModule(name) {
  try {
    return isNode ? require(name) : globalThis;
  } catch {
    return globalThis;
  }
}
const fillRandom = isNode ? require("node:crypto").randomFillSync : (bytes) => globalThis.crypto.getRandomValues(bytes);
const { TextEncoder, TextDecoder } = nodeModule("node:util");
const { setTimeout, clearTimeout } = nodeModule("node:timers");
const { performance } = nodeModule("node:perf_hooks");
const wallMs = Date.now, monotonicMs = performance.now.bind(performance);

const ERRNO = { success: 0, badf: 8, nosys: 52 };
const PAGE = 65536;
const REQUEST_SIZE = 40; // struct dynalith_request: ten words of four bytes
const PLACE_KEPT = 1 << 20; // bytes for requests that stay with an instance
const TICK_MAX_MS = 500;
const IMAGE_PIECE = 256; // bytes: most of a larger one would be zeros
const IMAGE = `dynalith.memory.${IMAGE_PIECE}`; // the custom section with the memory of an open instance; a file of another layout has another

class DynalithError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "DynalithError";
    this.code = code;
  }
}

class Exit extends Error {}

/*
 * The memory of an instance whose options are usual, so that most processes need not open one: 90 ms of compiling what only dynalith_open() runs.
 * Four words: bytes of memory, bytes of the options, and the monotonic time in ns as a double. Then the options, and the pieces of IMAGE_PIECE bytes in which
 * it differs from the memory of a new instance, each behind its number.
 */
const imageOf = new WeakMap();

function image(module) {
  if (!imageOf.has(module)) {
    const [section] = WebAssembly.Module.customSections(module, IMAGE);
    const words = section && new Uint32Array(section, 0, 2);
    imageOf.set(module, section && { size: words[0], ns: new Float64Array(section, 8, 1)[0], options: new TextDecoder().decode(new Uint8Array(section, 16, words[1])).trimEnd(),
      pieces: new DataView(section, 16 + words[1]) });
  }
  return imageOf.get(module);
}

function restore(from, memory) {
  const missing = from.size - memory.buffer.byteLength;
  if (missing > 0) memory.grow(missing / PAGE);
  const bytes = new Uint8Array(memory.buffer), { pieces } = from;
  for (let at = 0; at < pieces.byteLength; at += 4 + IMAGE_PIECE)
    bytes.set(new Uint8Array(pieces.buffer, pieces.byteOffset + at + 4, IMAGE_PIECE), pieces.getUint32(at, true) * IMAGE_PIECE);
}

/* Pages that are not isolated from others have no memory that a thread can wait on. */
function sleepMs(ms) {
  if (typeof SharedArrayBuffer === "function") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  else for (const end = monotonicMs() + ms; monotonicMs() < end;);
}

/* What the module imports. No environment, and files as `files` gives them: files.cjs does, null for none. */
function imports(state, log, files) {
  let seen = new DataView(new ArrayBuffer(0));
  const view = () => seen.buffer === state.memory.buffer ? seen : (seen = new DataView(state.memory.buffer));
  const bytes = (at, n) => new Uint8Array(state.memory.buffer, at, n);
  let line = "";
  const decoder = new TextDecoder();
  const known = {
    clock_time_get(id, precision, out) {
      const ns = id === 0 ? BigInt(wallMs()) * 1000000n : BigInt(Math.round(state.ns + monotonicMs() * 1e6));
      view().setBigUint64(out, ns, true);
      return ERRNO.success;
    },
    random_get(at, n) {
      for (let done = 0; done < n; done += PAGE) // getRandomValues takes no more at a time
        fillRandom(bytes(at + done, Math.min(PAGE, n - done)));
      return ERRNO.success;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return ERRNO.success;
    },
    environ_get: () => ERRNO.success,
    fd_prestat_get: () => ERRNO.badf,
    ...files?.(view, bytes),
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
        const now = view().getUint32(at + 16, true) === 0 ? wallMs() * 1e6 : state.ns + monotonicMs() * 1e6;
        ns = Math.min(ns, Number(view().getBigUint64(at + 24, true)) - (is_absolute ? now : 0));
        bytes(output + 32 * i, 32).fill(0);
        view().setBigUint64(output + 32 * i, view().getBigUint64(at, true), true);
      }
      if (ns > 0) sleepMs(ns / 1e6);
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
function importObject(module, state, log, files) {
  const provided = imports(state, log, files), wanted = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    wanted[from] = wanted[from] || {};
    wanted[from][name] = provided[name];
  }
  return wanted;
}

class Engine {
  #state = { ns: 0 }; // what the monotonic clock is ahead of performance.now()
  #exports;
  #handle = 0;
  #options;
  #problem = null; // why nothing can be called any more
  #timer = null;
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);
  #place = { at: 0, size: 0 };

  /* `module` is a WebAssembly.Module, `options` are those of the configuration file. */
  constructor(module, options, log = () => {}, files = null) {
    const instance = new WebAssembly.Instance(module, importObject(module, this.#state, log, files));
    this.#exports = instance.exports;
    this.#state.memory = instance.exports.memory;
    const text = JSON.stringify(options), from = image(module), isWoken = from?.options === text;
    this.#guarded(() => isWoken ? this.#wake(from) : this.#open(text));
    if (!this.#handle) throw new DynalithError("ERR_DYNALITH_OPTIONS", this.#lastError());
    this.#options = text;
    this.#schedule(isWoken ? TICK_MAX_MS : 0); // a woken instance is empty: the first requests come before its upkeep
  }

  #open(options) {
    this.#exports._initialize();
    const text = this.#text(options);
    this.#handle = this.#exports.dynalith_wasi_open(text);
    this.#exports.free(text);
  }

  #wake(from) {
    this.#state.ns = from.ns;
    restore(from, this.#state.memory);
    this.#handle = this.#exports.dynalith_wasi_wake();
  }

  /* The content of the section IMAGE: see packaging/freeze-wasm. Call it before the first request, with the module. */
  image(module) {
    this.#look();
    const fresh = new Uint8Array(new WebAssembly.Instance(module, importObject(module, {}, () => {}, null)).exports.memory.buffer);
    const options = this.#encoder.encode(this.#options.padEnd(Math.ceil(this.#options.length / 4) * 4)), pieces = [];
    for (let number = 0; number * IMAGE_PIECE < this.#bytes.length; number++) {
      const at = number * IMAGE_PIECE, piece = this.#bytes.slice(at, at + IMAGE_PIECE);
      if (piece.some((byte, i) => byte !== (fresh[at + i] ?? 0))) pieces.push(new Uint8Array(Uint32Array.of(number).buffer), piece);
    }
    const head = [Uint32Array.of(this.#bytes.length, options.length), Float64Array.of(this.#state.ns + monotonicMs() * 1e6)];
    return Buffer.concat([...head.map((part) => new Uint8Array(part.buffer)), options, ...pieces]);
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
    this.#look();
    return at;
  }

  /* The views of the memory. Growth detaches them. */
  #look() {
    if (this.#bytes.length > 0) return;
    this.#bytes = new Uint8Array(this.#state.memory.buffer);
    this.#words = new Uint32Array(this.#state.memory.buffer);
  }

  #text(text) {
    const bytes = this.#encoder.encode(text), at = this.#allocate(bytes.length + 1);
    this.#bytes.set(bytes, at);
    this.#bytes[at + bytes.length] = 0;
    return at;
  }

  /* Most texts are short and ASCII, for which a TextDecoder costs more than this. */
  #textAt(at) {
    at >>>= 0;
    if (at === 0) return undefined;
    this.#look();
    const all = this.#bytes;
    let text = "";
    for (let i = at; all[i] !== 0; i++) {
      if (all[i] > 127) return this.#decoder.decode(all.subarray(at, all.indexOf(0, at)));
      text += String.fromCharCode(all[i]);
    }
    return text;
  }

  #answer(at) {
    this.#look();
    const word = at >>> 2, words = this.#words, headers = {}, body = words[word + 4], size = words[word + 5];
    for (let i = 0, list = words[word + 6] >>> 2; i < words[word + 7]; i++)
      headers[this.#textAt(words[list + 2 * i]).toLowerCase()] = this.#textAt(words[list + 2 * i + 1]);
    if (words[word + 3]) headers["content-type"] = this.#textAt(words[word + 3]);
    headers["x-amzn-requestid"] = this.#textAt(words[word + 2]);
    headers["x-amz-crc32"] = String(words[word + 1]);
    headers["content-length"] = String(size);
    return { status: words[word] | 0, headers, body: this.#bytes.slice(body, body + size) };
  }

  /* A place for the parts of a request, which stays. A large one is not kept: see send(). */
  #room(n) {
    if (n <= this.#place.size) return this.#place.at;
    this.#exports.free(this.#place.at);
    this.#place = { at: 0, size: 0 };
    const size = Math.max(n, PAGE), at = this.#allocate(size);
    this.#place = { at, size };
    return at;
  }

  /* One request: {method, path, headers, body} as of HTTP; the body is a Uint8Array or a string. */
  send({ method = "POST", path = "/", headers = {}, body = "" }) {
    const answer = this.#guarded(() => this.#ask(method, path, headers, body));
    this.#schedule(0);
    return answer;
  }

  /* In the place: the words of the request and its list of headers, the texts with their ends, the body. */
  #ask(method, path, headers, body) {
    const texts = [method, path];
    for (const name in headers) texts.push(name, String(headers[name]));
    const joined = texts.join("\0") + "\0", count = (texts.length - 2) / 2, start = REQUEST_SIZE + 8 * count;
    const most = start + 3 * joined.length; // bytes: a UTF-16 unit takes up to 3
    const at = this.#room(most + (typeof body === "string" ? 3 * body.length : body.length));
    this.#look();
    const bytes = this.#bytes, words = this.#words, word = at >>> 2;
    const length = this.#encoder.encodeInto(joined, bytes.subarray(at + start, at + most)).written;
    const size = typeof body === "string" ? this.#encoder.encodeInto(body, bytes.subarray(at + start + length, at + this.#place.size)).written : body.length;
    if (typeof body !== "string") bytes.set(body, at + start + length);
    words.fill(0, word, word + REQUEST_SIZE / 4);
    words[word] = REQUEST_SIZE;
    words[word + 6] = at + start + length;
    words[word + 7] = size;
    words[word + 8] = at + REQUEST_SIZE;
    words[word + 9] = count;
    for (let i = 0, text = at + start; i < texts.length; i++) {
      words[i < 2 ? word + 1 + i : word + REQUEST_SIZE / 4 + i - 2] = text;
      text += (length === joined.length ? texts[i].length : this.#encoder.encode(texts[i]).length) + 1;
    }
    const found = this.#exports.dynalith_send(this.#handle, at) >>> 0;
    if (found === 0) throw new DynalithError("ERR_DYNALITH_REQUEST", this.#lastError());
    const answer = this.#answer(found);
    this.#exports.dynalith_free(found);
    if (this.#place.size > PLACE_KEPT) {
      this.#exports.free(this.#place.at);
      this.#place = { at: 0, size: 0 };
    }
    return answer;
  }

  /* Makes the tables and items of a file or a folder, whose path is absolute, for an account in a region. */
  apply(path, account, region) {
    this.#guarded(() => {
      const texts = [path, account, region].map((text) => this.#text(text));
      const status = this.#exports.dynalith_apply(this.#handle, ...texts);
      for (const at of texts) this.#exports.free(at);
      if (status !== 0) throw new DynalithError("ERR_DYNALITH_APPLY", this.#lastError());
    });
    this.#schedule(0);
  }

  /* All data of all namespaces, as a data file of the server. */
  export() {
    const ask = (query) => {
      const { status, body } = this.send({ path: `/_dynalith/backup${query}` });
      if (status !== 200) throw new DynalithError("ERR_DYNALITH_CONTROL", this.#decoder.decode(body));
      return body;
    };
    const { backup, bytes } = JSON.parse(this.#decoder.decode(ask(""))), whole = new Uint8Array(bytes);
    for (let at = 0; at < bytes;) {
      const piece = ask(`?id=${backup}&at=${at}`);
      whole.set(piece, at);
      at += piece.length;
    }
    ask(`?id=${backup}&at=end`);
    return whole;
  }

  /* Work that is due; the next is by a timer, which keeps no process alive. */
  tick() {
    return this.#guarded(() => this.#exports.dynalith_tick(this.#handle));
  }

  /* The timer holds no instance that nobody else does. */
  #schedule(ms) {
    if (this.#timer !== null) return;
    const weak = new WeakRef(this);
    this.#timer = setTimeout(() => weak.deref()?.#tickAgain(), ms);
    this.#timer.unref?.();
  }

  #tickAgain() {
    this.#timer = null;
    try {
      this.#schedule(Math.max(1, Math.min(TICK_MAX_MS, this.tick())));
    } catch {} // the next call says so, close() too
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#timer = 0; // no other
  }

  get isClosed() {
    return this.#problem?.code === "ERR_DYNALITH_CLOSED";
  }

  get memoryBytes() {
    return this.#state.memory.buffer.byteLength;
  }

  close() {
    if (this.isClosed) return;
    this.#guarded(() => this.#exports.dynalith_close(this.#handle));
    this.#stop();
    this.#problem = new DynalithError("ERR_DYNALITH_CLOSED", "the instance is closed");
  }
}

module.exports = { Engine, DynalithError, IMAGE };
