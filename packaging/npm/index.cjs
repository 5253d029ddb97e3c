"use strict";
// A DynamoDB-compatible server for tests. index.mjs and the presets use this file.
const { randomUUID } = require("node:crypto");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const ACCOUNT = "000000000000", REGION = "us-east-1";

/** The path of the server: DYNALITH_BINARY, or that of the package for this machine. */
function findBinary() {
  if (process.env.DYNALITH_BINARY) return process.env.DYNALITH_BINARY;
  const name = `@dynalith/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/dynalith`);
  } catch {
    throw new Error(`dynalith: the package ${name} is not installed; DYNALITH_BINARY names another server`);
  }
}

let agent;

/** The status and the text of the answer. A connection that the server has closed meanwhile is made again. */
function ask(method, url, body) {
  const http = require("node:http"); // not fetch: its first call takes 35 ms, and jsdom has none; here, for in-process.cjs needs none
  agent ??= new http.Agent({ keepAlive: true });
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent, headers: { "Content-Length": Buffer.byteLength(body ?? "") } }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (part) => { text += part; }).on("error", reject);
      reply.on("end", () => resolve({ status: reply.statusCode, text }));
    });
    request.on("error", (error) => request.reusedSocket && error.code === "ECONNRESET" ? resolve(ask(method, url, body)) : reject(error));
    request.end(body);
  });
}

/** The tables of an account in a region. Namespaces of one server do not see each other. */
class Namespace {
  constructor(url, account = ACCOUNT, region = REGION) {
    this.url = url;
    this.account = String(account).padStart(12, "0");
    this.region = region;
    this.clock = {
      advance: (by) => this.control("POST", "clock", { advance: by }),
      set: (to, freeze = false) => this.control("POST", "clock", { set: to, freeze }),
      freeze: (freeze = true) => this.control("POST", "clock", { freeze }),
    };
    this.faults = {
      set: (...rules) => this.control("PUT", "faults", { rules }),
      fired: async () => (await this.control("GET", "faults")).rules.map((rule) => rule.fired),
      clear: () => this.control("DELETE", "faults"),
    };
  }

  /** What a client of the SDK is made with: new DynamoDBClient(namespace.config). */
  get config() {
    return { endpoint: this.url, region: this.region, credentials: { accessKeyId: this.account, secretAccessKey: "any" } };
  }

  /** Calls an endpoint under /_dynalith/ for this namespace. */
  async control(method, name, body) {
    const query = new URLSearchParams({ account: this.account, region: this.region });
    const { status, text } = await ask(method, `${this.url}/_dynalith/${name}?${query}`, body === undefined ? undefined : JSON.stringify(body));
    if (status !== 200) throw new Error(`dynalith: ${method} ${name}: ${text}`);
    return JSON.parse(text);
  }

  reset(what) { return this.control("POST", "reset", what); }
  checkpoint(name) { return this.control("POST", "checkpoints", { name }); }
  rollback(name) { return this.control("POST", `checkpoints/${name}/rollback`); }
  forget(name) { return this.control("DELETE", `checkpoints/${name}`); }

  /** Makes the tables and items of templates, plans, exports, CSV: whatever `dynalith apply` reads. */
  apply(...files) {
    const env = { ...process.env, AWS_ACCESS_KEY_ID: this.account, AWS_SECRET_ACCESS_KEY: "any", AWS_REGION: this.region };
    return new Promise((resolve, reject) => {
      require("node:child_process").execFile(findBinary(), ["apply", ...files, "--endpoint", this.url], { env }, (error, _, text) => error ? reject(new Error(text.trim())) : resolve());
    });
  }
}

/** A server, and its default namespace. */
class Dynalith extends Namespace {
  /** Starts one on a free port of 127.0.0.1, in memory; it ends with this process, also where this process is killed. */
  static async start(...args) {
    const logPath = path.join(os.tmpdir(), `dynalith-${randomUUID()}.log`);
    const log = fs.openSync(logPath, "ax", 0o600);
    const named = new Set(args.map((a) => a.split("=")[0]));
    const own = ["--db-path", "--store", "--in-memory"].some((a) => named.has(a)) ? [] : ["--in-memory"];
    if (!named.has("--port")) own.push("--port", "0");
    // Its standard input ends with this process, and the server with its standard input.
    const child = require("node:child_process").spawn(findBinary(), [...own, "--exit-with-parent", "--remove-on-exit", logPath, ...args], { stdio: ["pipe", "pipe", log] });
    fs.closeSync(log);
    const ended = new Promise((resolve) => { child.on("exit", (code, signal) => resolve(code ?? signal)); child.on("error", resolve); });
    let line = "";
    const first = new Promise((resolve) => child.stdout.on("data", (bytes) => { line += bytes; if (line.includes("\n")) resolve(true); }));
    if (await Promise.race([first, ended]) !== true) {
      const text = fs.readFileSync(logPath, "utf8").trim();
      fs.rmSync(logPath, { force: true });
      throw new Error(text || `dynalith: the server ended with status ${await ended}`);
    }
    const server = new Dynalith(line.trim());
    Object.assign(server, { child, ended, logPath, pid: child.pid });
    server.forgetLog = () => fs.rmSync(logPath, { force: true });
    process.on("exit", server.forgetLog);
    child.unref(); // the program may end without stop()
    child.stdin.unref();
    child.stdout.unref();
    if ((await ask("GET", `${server.url}/_dynalith/health`)).status !== 200) throw new Error("dynalith: the server is not healthy");
    return server;
  }

  /** Tables of its own; `account` is a number of 12 digits, and the access key of those who use it. */
  namespace(account, region) { return new Namespace(this.url, account, region); }

  /** What the server has written to its log, from that byte on. */
  log(start = 0) { return this.logPath ? fs.readFileSync(this.logPath).subarray(start).toString() : ""; }

  async stop() {
    if (!this.child) return;
    this.child.ref();
    this.child.stdin.end();
    await this.ended;
    this.child = undefined;
    process.off("exit", this.forgetLog);
    this.forgetLog();
  }
}

module.exports = { Dynalith, Namespace, findBinary, races: (...clients) => require("./races.cjs").races(...clients) };
