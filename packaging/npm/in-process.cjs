"use strict";
// DynamoDB in this process: no server, no port. Clients of the AWS SDK for JavaScript v3 get a requestHandler that asks dynalith.wasm.
const fs = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { getEnvironmentData, setEnvironmentData, threadId } = require("node:worker_threads");
const { Namespace } = require("./index.cjs");
const { Engine, DynalithError } = require("./engine.cjs");
const { files } = require("./files.cjs");

const URL_OF_NONE = "http://dynalith.invalid";
const MEMORY_LIMIT_MB = 512, MEMORY_LEAST_MB = 256, MEMORY_MOST_MB = 4096; // a module has 32 bits for addresses
// Parts of the SDK's clients that prepare a request for a network, by their names in client.middlewareStack.identify().
const OF_A_NETWORK = ["getUserAgentMiddleware", "hostHeaderMiddleware", "recursionDetectionMiddleware", "contentLengthMiddleware"];
const isText = (value) => typeof value === "string" && value !== "";
const isAccount = (value) => /^\d{1,12}$/.test(String(value)) && ["string", "number"].includes(typeof value);
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
// What an option wants; limits() looks at memoryLimitMb, the engine at what is in `options`.
const KNOWN = {
  file: [isText, "a path"], memoryLimitMb: [() => true], account: [isAccount, "up to 12 digits"], region: [isText, "a name such as us-east-1"],
  options: [isObject, "an object by the names in the configuration file"], log: [(value) => typeof value === "function", "a function"],
};

/* Of DYNALITH_WASM, or of this package. Compiled once in a thread: Jest loads this file again for each file of tests, the environment's data stay. */
function engineModule() {
  const file = process.env.DYNALITH_WASM || path.join(__dirname, "dynalith.wasm"), key = `dynalith ${file}`;
  if (!fs.existsSync(file)) throw new DynalithError("ERR_DYNALITH_OPTIONS", `there is no ${file}: make wasm makes one, and DYNALITH_WASM names it`);
  if (!getEnvironmentData(key)) setEnvironmentData(key, new WebAssembly.Module(fs.readFileSync(file)));
  return getEnvironmentData(key);
}

/* The data, requests under way and vectors have a part each, so that what takes too much is an answer of the API. */
function limits(memoryLimitMb) {
  if (!(Number.isInteger(memoryLimitMb) && memoryLimitMb >= MEMORY_LEAST_MB && memoryLimitMb <= MEMORY_MOST_MB))
    throw new DynalithError("ERR_DYNALITH_OPTIONS", `memoryLimitMb wants a whole number from ${MEMORY_LEAST_MB} to ${MEMORY_MOST_MB}, not ${memoryLimitMb}`);
  return { data_limit_mb: Math.floor(memoryLimitMb / 2), memory_limit_mb: Math.floor(memoryLimitMb / 4), vector_cache_mb: Math.floor(memoryLimitMb / 8) };
}

function checkGiven(given) {
  if (!isObject(given)) throw new DynalithError("ERR_DYNALITH_OPTIONS", `inProcess() wants an object of options, not ${JSON.stringify(given)}`);
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(KNOWN, name)) throw new DynalithError("ERR_DYNALITH_OPTIONS", `unknown option ${name}; there are ${Object.keys(KNOWN).join(", ")}`);
    const [isRight, wanted] = KNOWN[name];
    if (value !== undefined && !isRight(value)) throw new DynalithError("ERR_DYNALITH_OPTIONS", `${name} wants ${wanted}, not ${JSON.stringify(value)}`);
  }
}

const optionsOf = (memoryLimitMb = MEMORY_LIMIT_MB, options = {}) => ({ in_memory: true, "log.level": "error", ...limits(memoryLimitMb), ...options });

const realPath = (file) => fs.existsSync(file) ? fs.realpathSync(file) : path.resolve(file);

/* Which file lies there, in which state: another one after each change that another process makes. Undefined for none. */
function stampOf(file) {
  const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat && [stat.ino, stat.mtimeNs, stat.size].join();
}

let parts = 0;

/* A new file beside `file`. A process that was killed may have left one whose name was made by the same numbers. */
function openPart(file) {
  for (;;) {
    const part = `${file}.${process.pid}.${threadId}.${++parts}.part`;
    try {
      return { part, fd: fs.openSync(part, "wx", 0o600) };
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
}

/* Puts the bytes in the place of `file` where check() throws nothing, whole or not at all. Others may read the file who might before. */
function replaceFile(file, bytes, check) {
  const { part, fd } = openPart(file);
  try {
    try {
      const old = fs.statSync(file, { throwIfNoEntry: false });
      if (old) fs.fchmodSync(fd, old.mode & 0o777);
      fs.writeFileSync(fd, bytes);
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    const stamp = stampOf(part);
    check();
    fs.renameSync(part, file);
    return stamp;
  } catch (error) {
    fs.rmSync(part, { force: true });
    throw error;
  }
}

/* As files.cjs has it: from the root, with the drives in it. */
const guestPath = (file) => path.resolve(file).replace(/\\/g, "/").replace(/^(?!\/)/, "/");

function query(parts) {
  const pairs = Object.entries(parts ?? {}).flatMap(([name, value]) => [value].flat().map((one) => [name, one ?? ""]));
  return pairs.length ? "?" + new URLSearchParams(pairs) : "";
}

/* As @smithy/types' HttpHandler. */
class RequestHandler {
  #engine;
  metadata = { handlerProtocol: "http/1.1" };

  constructor(engine) {
    this.#engine = engine;
  }

  async handle(request, { abortSignal } = {}) {
    const where = request.query && Object.keys(request.query).length > 0 ? request.path + query(request.query) : request.path;
    if (abortSignal?.aborted) throw Object.assign(new Error("Request aborted"), { name: "AbortError" });
    const { status, headers, body } = await this.#engine.send({ method: request.method, path: where, headers: request.headers, body: request.body ?? "" });
    if (status === 0) throw Object.assign(new Error("a fault rule has closed the connection"), { code: "ECONNRESET", $metadata: {} });
    return { response: { statusCode: status, headers, body } };
  }

  updateHttpClientConfig() {}
  httpHandlerConfigs() { return {}; }
  destroy() {}
}

/* Names the account and the region, as a signature does; nobody checks more unless the option auth says so. As @smithy/types' RequestSigner. */
class Naming {
  #credentials;
  #region;

  constructor({ credentials, region }) {
    this.#credentials = credentials;
    this.#region = region;
  }

  async sign(request) {
    const { accessKeyId } = typeof this.#credentials === "function" ? await this.#credentials() : this.#credentials;
    const region = typeof this.#region === "function" ? await this.#region() : this.#region;
    request.headers["x-amz-date"] = "20260101T000000Z";
    request.headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/20260101/${region}/dynamodb/aws4_request, SignedHeaders=host, Signature=0`;
    return request;
  }
}

function sdk(name) {
  try {
    return require(require.resolve(name, { paths: [process.cwd(), __dirname] }));
  } catch (cause) {
    throw new DynalithError("ERR_DYNALITH_SDK", `${name} is not installed`, { cause });
  }
}

/** DynamoDB in this process, with one namespace of tables. */
class InProcess extends Namespace {
  #engine;
  #given; // what each engine is opened with
  #isSigned; // signatures are checked
  #file;
  #stamps = new Map(); // path: the file as this instance has read or written it

  constructor(given = {}) {
    checkGiven(given);
    const { file, memoryLimitMb, account, region, options, log } = given;
    super(URL_OF_NONE, account, region);
    this.#file = file && realPath(file);
    if (file) this.#stamps.set(this.#file, stampOf(this.#file));
    this.#given = { memoryLimitMb, options, log };
    this.#isSigned = options?.auth === "verify";
    this.#engine = this.#open(file && fs.existsSync(file) ? file : null);
    this.requestHandler = new RequestHandler({ send: (request) => this.#engine.send(request) });
  }

  get config() {
    return { ...super.config, requestHandler: this.requestHandler, ...(this.#isSigned ? {} : { signerConstructor: Naming }) };
  }

  /** A client without the steps that only a network needs. */
  client(config) {
    const client = new (sdk("@aws-sdk/client-dynamodb").DynamoDBClient)({ ...this.config, ...config });
    if (this.#isSigned) return client;
    const naming = new Naming(client.config);
    client.config.signer = async () => naming; // one for all requests
    for (const name of OF_A_NETWORK) client.middlewareStack.remove(name);
    if (!config?.logger) client.middlewareStack.remove("loggerMiddleware");
    return client;
  }

  documentClient(config) {
    return sdk("@aws-sdk/lib-dynamodb").DynamoDBDocumentClient.from(this.client(), config);
  }

  /** A request as the global fetch() makes it, for clients that take one; the host of the URL does not matter. */
  fetch = async (input, init) => {
    const request = new Request(input, init), url = new URL(request.url);
    const { status, headers, body } = this.#engine.send({
      method: request.method, path: url.pathname + url.search, headers: Object.fromEntries(request.headers), body: new Uint8Array(await request.arrayBuffer()) });
    if (status === 0) throw new TypeError("a fault rule has closed the connection");
    return new Response(status === 204 || status === 304 ? null : body, { status, headers });
  };

  async control(method, name, body) {
    const where = new URLSearchParams({ account: this.account, region: this.region });
    const answer = this.#engine.send({ method, path: `/_dynalith/${name}?${where}`, body: body === undefined ? "" : JSON.stringify(body) });
    const text = new TextDecoder().decode(answer.body);
    if (answer.status !== 200) throw new DynalithError("ERR_DYNALITH_CONTROL", `dynalith: ${method} ${name}: ${text}`);
    return JSON.parse(text);
  }

  async apply(...paths) {
    for (const one of paths) this.#engine.apply(guestPath(one), this.account, this.region);
  }

  /** All data of all namespaces as a data file of the server. */
  async export() {
    return this.#engine.export();
  }

  /** Puts the data of a data file, as export() gives it, in the place of all data; checkpoints and the clock are new. */
  async import(bytes) {
    if (!(bytes instanceof Uint8Array)) throw new DynalithError("ERR_DYNALITH_OPTIONS", `import() wants a Uint8Array, as export() gives it, not ${typeof bytes}`);
    this.#engine.tick(); // throws where the instance is closed or has failed
    const folder = fs.mkdtempSync(path.join(tmpdir(), "dynalith-")), file = path.join(folder, "import.db");
    try {
      fs.writeFileSync(file, bytes, { mode: 0o600 });
      const next = this.#open(file);
      this.#engine.close();
      this.#engine = next;
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
  }

  /* An engine with a copy of the file's data; null: an empty one. */
  #open(file) {
    const { memoryLimitMb, options, log } = this.#given;
    return new Engine(engineModule(), optionsOf(memoryLimitMb, file ? { in_memory: undefined, store: `memory:${guestPath(file)}`, ...options } : options), log, files);
  }

  /** Writes export() to the file, at once: other processes see the file before or the one after. Refuses where that would lose what another one wrote. */
  async save(file = this.#file) {
    if (!file) throw new DynalithError("ERR_DYNALITH_OPTIONS", "save() wants a file, or the option file");
    const bytes = await this.export(), target = realPath(file);
    try {
      this.#stamps.set(target, replaceFile(target, bytes, () => this.#check(target)));
    } catch (cause) {
      throw new DynalithError("ERR_DYNALITH_FILE", `${target} is not written: ${cause.message}`, { cause });
    }
  }

  #check(target) {
    const log = ["-wal", "-journal"].map((suffix) => target + suffix).find((name) => fs.existsSync(name));
    if (log) throw new Error(`${log} belongs to a server that has it open or was killed; save to another file`);
    const stamp = stampOf(target);
    if (stamp && this.#stamps.has(target) && stamp !== this.#stamps.get(target)) throw new Error("it has been changed by another process or instance; save to another file");
  }

  /** Bytes of memory that the instance has taken. */
  get memoryBytes() {
    return this.#engine.memoryBytes;
  }

  async close() {
    if (this.#file && !this.#engine.isClosed) await this.save();
    this.#engine.close();
  }
}

const inProcess = (options) => new InProcess(options);

const textOf = (body) => typeof body === "string" ? body : new TextDecoder().decode(body);

/* One run of races(): an instance whose requests `dynalith races` holds. The lines are those of server/races/race_run.h. */
class Raced {
  #engine;
  #tell;
  #count = 0;
  #waiting = new Map(); // by number: who waits for the next line about it

  constructor(given, tell) {
    const { init, ...options } = JSON.parse(given);
    this.#engine = new Engine(engineModule(), optionsOf(undefined, { ...options, ...(init && { init: guestPath(init) }) }), undefined, files);
    this.#tell = tell;
  }

  configOf = (name) => ({ ...new Namespace(URL_OF_NONE).config, requestHandler: new RequestHandler({ send: (request) => this.#hold(name, request) }), signerConstructor: Naming });

  #next(number) {
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }

  async #hold(name, request) {
    const { "x-amz-target": target, authorization, "amz-sdk-request": attempt } = request.headers;
    if (request.method !== "POST" || !target) return this.#engine.send(request);
    const number = ++this.#count, agent = name && `app/${name.replaceAll(/[^\w.-]/g, "-")}`;
    this.#tell(`came ${number} ${JSON.stringify({ target, agent, attempt, authorization, body: textOf(request.body) })}`);
    await this.#next(number); // go
    const answer = this.#engine.send(request);
    this.#tell(`answered ${number} ${answer.status} ${JSON.stringify(textOf(answer.body))}`);
    return await this.#next(number) === "lost" ? { ...answer, status: 0 } : answer;
  }

  /* Whether the line is about a request. */
  hear(word, rest) {
    if (word === "ask") {
      const { method, path: where, target, authorization, body } = JSON.parse(rest);
      const { status, body: answer } = this.#engine.send({ method, path: where, headers: { ...(target && { "x-amz-target": target }), ...(authorization && { authorization }) }, body });
      this.#tell(`asked ${status} ${JSON.stringify(textOf(answer))}`);
      return true;
    }
    if (!["go", "done", "lost"].includes(word)) return false;
    this.#waiting.get(Number(rest))?.(word);
    return true;
  }

  close() {
    this.#engine.close();
  }
}

/** races() of the package, with an engine in this process for each run. */
function races(...clients) {
  let last = null;
  return require("./races.cjs").drive(clients, ["--in-process"], (options, tell) => {
    last?.close();
    return last = new Raced(options, tell);
  }).finally(() => last?.close());
}

module.exports = { inProcess, InProcess, DynalithError, optionsOf, races };
