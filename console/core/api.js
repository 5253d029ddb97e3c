// Calls: the DynamoDB API, the endpoints under /_dynalith/, and the stream of events. Signed by Signature Version 4 in the browser where the server
// verifies signatures. The key lives in this module's memory alone, and is gone with the page.

export const ROOT = new URL("../../", location.href);
const CALLER = "console";
/** The namespace of who names none. */
export const ACCOUNT = "000000000000", REGION = "us-east-1";

/** @import { Answer, Endpoint, Facts, Input, Listed, Refusal } from "../types.d.ts" */
/** @typedef {{key: string, secret: string, region: string}} Credentials */

export const session = { facts: /** @type {Facts} */ ({ auth: "open", insight: false, iam: false }), key: ACCOUNT, secret: "", region: REGION, table: "" }; // the table that was shown last

/** Where a program finds the server: its address, the region, and the access key of the namespace where any secret will do. */
export const whereFrom = () => ({ url: ROOT.origin, region: session.region, key: session.facts.auth === "verify" ? "" : session.key });

export class ApiError extends Error {
  /** @param {number} status @param {Refusal} body what the server said */
  constructor(status, body) {
    const type = (body.__type ?? "").split("#").pop() ?? "";
    super([type, body.message ?? body.Message ?? `status ${status}`].filter(Boolean).join(": "));
    this.status = status;
    this.type = type;
    this.body = body;
  }
}

const text = new TextEncoder();
const hex = (/** @type {ArrayBuffer} */ bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, "0")).join("");
const sha256 = async (/** @type {string} */ s) => hex(await crypto.subtle.digest("SHA-256", text.encode(s)));
/** @param {string | ArrayBuffer} key @param {string} s */
async function hmac(key, s) {
  const imported = await crypto.subtle.importKey("raw", typeof key === "string" ? text.encode(key) : key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", imported, text.encode(s));
}
const encode = (/** @type {string} */ s) => encodeURIComponent(s).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The headers with a signature. AWS: IAM User Guide, "Create a signed AWS API request".
 * @param {string} method @param {URL} url @param {Record<string, string>} headers @param {string | undefined} body @param {Credentials} credentials
 */
export async function sign(method, url, headers, body, { key, secret, region }, now = new Date()) {
  const stamp = now.toISOString().replace(/[-:]|\.\d{3}/g, ""), day = stamp.slice(0, 8);
  /** @type {Record<string, string>} */
  const all = { ...headers, host: url.host, "x-amz-date": stamp };
  const names = Object.keys(all).map((n) => n.toLowerCase()).filter((n) => n === "host" || n === "content-type" || n.startsWith("x-amz-")).sort();
  const value = (/** @type {string} */ name) => String(Object.entries(all).find(([n]) => n.toLowerCase() === name)?.[1]).trim();
  const query = [...url.searchParams].map(([k, v]) => `${encode(k)}=${encode(v)}`).sort().join("&");
  const path = url.pathname.split("/").map((part) => encode(part)).join("/");
  const canonical = [method, path, query, ...names.map((n) => `${n}:${value(n)}`), "", names.join(";"), await sha256(body ?? "")].join("\n");
  const scope = `${day}/${region}/dynamodb/aws4_request`;
  let chain = /** @type {string | ArrayBuffer} */ (`AWS4${secret}`);
  for (const part of [day, region, "dynamodb", "aws4_request"]) chain = await hmac(chain, part);
  const signature = hex(await hmac(chain, ["AWS4-HMAC-SHA256", stamp, scope, await sha256(canonical)].join("\n")));
  return { ...headers, "x-amz-date": stamp, authorization: `AWS4-HMAC-SHA256 Credential=${key}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}` };
}

/** Without verification a server takes the parts of a signature for the namespace, and looks no further. @param {Credentials} credentials */
function name({ key, region }) {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d{3}/g, "");
  return { "x-amz-date": stamp, authorization: `AWS4-HMAC-SHA256 Credential=${key}/${stamp.slice(0, 8)}/${region}/dynamodb/aws4_request, SignedHeaders=host, Signature=0` };
}

/**
 * `as`: an access key in whose name the request is made; where signatures are verified the page has no secret of it.
 * @param {string} method @param {string} path @param {Record<string, string>} headers @param {string} [body] @param {AbortSignal} [signal]
 */
async function send(method, path, headers, body, signal, as = "") {
  const url = new URL(path, ROOT);
  const isVerified = session.facts.auth === "verify";
  if (isVerified && as) throw new Error(`This server verifies signatures, and the page does not know the secret of ${as}. "Explain" says how the policies decide.`);
  if (isVerified && !crypto.subtle) throw new Error("This browser signs only on pages of https:// or of this machine: open the console by localhost or TLS.");
  const signed = isVerified ? await sign(method, url, headers, body, session) : { ...headers, ...name({ ...session, key: as || session.key }) };
  return fetch(url, { method, headers: { ...signed, "x-dynalith-caller": CALLER }, body, signal, credentials: "omit", cache: "no-store" });
}

/** @typedef {((command: string) => void) | null} ChangeListener */
/** @type {ChangeListener} */
let onChange = null;
/** Calls `listen` with a curl command for each request that changes something, until it is called with null. @param {ChangeListener} listen */
export function tellChanges(listen) { onChange = listen; }

const READS = /^(streams\.)?(BatchGet|Describe|Get|List|Query|Scan)/;
const quoted = (/** @type {string} */ s) => `'${s.replaceAll("'", "'\\''")}'`;

/** The same request for a shell. It has no secret: the shell's own variable holds it. @param {string} method @param {string} path @param {Record<string, string>} headers @param {string} [body] */
function asCurl(method, path, headers, body) {
  const secret = session.facts.auth === "verify" ? '"$AWS_SECRET_ACCESS_KEY"' : "any";
  const parts = [`curl -X ${method} --aws-sigv4 aws:amz:${session.region}:dynamodb --user ${quoted(`${session.key}:`)}${secret}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), ...(body === undefined ? [] : [`-d ${quoted(body)}`])];
  return `${parts.join(" ")} ${quoted(new URL(path, ROOT).href)}`;
}

/** @param {Response} reply @returns {Promise<unknown>} JSON */
async function answer(reply) {
  const raw = await reply.text();
  let body = {};
  try { body = raw ? JSON.parse(raw) : {}; } catch { body = { message: raw.slice(0, 300) }; }
  if (!reply.ok) throw new ApiError(reply.status, body);
  return body;
}

/**
 * api("Query", {...}): an operation of DynamoDB, or of its streams with "streams.GetRecords".
 * @template {string} Operation @param {Operation} operation @param {Input} [input]
 * @param {{as?: string}} [options] as: the access key in whose name it is asked
 * @returns {Promise<Answer<Operation>>}
 */
export async function api(operation, input = {}, { as } = {}) {
  const target = operation.startsWith("streams.") ? `DynamoDBStreams_20120810.${operation.slice(8)}` : `DynamoDB_20120810.${operation}`;
  const all = { "content-type": "application/x-amz-json-1.0", "x-amz-target": target }, body = JSON.stringify(input);
  const reply = await send("POST", "", all, body, undefined, as);
  if (!READS.test(operation)) onChange?.(asCurl("POST", "", all, body));
  return /** @type {Answer<Operation>} */ (await answer(reply));
}

/**
 * control("PUT", "faults", {...}): an endpoint under /_dynalith/, for the namespace that is chosen.
 * @template {string} Method @template {string} Path @param {Method} method @param {Path} path @param {unknown} [body]
 * @returns {Promise<Endpoint<`${Method} ${Path}`>>}
 */
export async function control(method, path, body) {
  const headers = /** @type {Record<string, string>} */ (body === undefined ? {} : { "content-type": "application/json" });
  const text = body === undefined ? undefined : JSON.stringify(body);
  if (method !== "GET") onChange?.(asCurl(method, `_dynalith/${path}`, headers, text));
  return /** @type {Endpoint<`${Method} ${Path}`>} */ (await answer(await send(method, `_dynalith/${path}`, headers, text)));
}

/**
 * All pages of a listing: `list` is the member that has a page's, `next` those that say where it ends and where the next begins.
 * @template {keyof Listed} Operation @param {Operation} operation @param {string} list @param {[string, string]} next
 */
export async function all(operation, list, next) {
  const found = /** @type {Listed[Operation][]} */ ([]);
  let page = /** @type {Input} */ ({});
  do {
    page = await api(/** @type {string} */ (operation), page[next[0]] ? { [next[1]]: page[next[0]] } : {});
    found.push(.../** @type {Listed[Operation][]} */ (page[list]));
  } while (page[next[0]]);
  return found;
}

/** All tables, described with their time to live, in one request: [{Table, TimeToLiveDescription}]. */
export const allTables = async () => (await control("GET", "tables")).tables;

/** A table in one request: its description, items from many places of it, and in how many segments it is read. @param {string} name */
export async function sampleTable(name) {
  const { Table, TimeToLiveDescription, segments, samples } = await control("GET", `tables/${encodeURIComponent(name)}`);
  return { table: Table, ttl: TimeToLiveDescription, segments, items: samples.flat() };
}

export const listTables = () => all("ListTables", "TableNames", ["LastEvaluatedTableName", "ExclusiveStartTableName"]);
export const describe = async (/** @type {string} */ TableName) => (await api("DescribeTable", { TableName })).Table;

const PAST = 1024; // requests of before: as many as the server keeps
/**
 * Server-sent events, read by fetch so that they can be signed; first, those of before that the server has kept. Calls `onEvent` with the JSON of each until `signal` is aborted; comes back by itself after a break.
 * @param {string} bodies @param {(text: string) => void} onEvent @param {(state: string) => void} onState "on", or what is wrong @param {AbortSignal} signal
 */
export async function watch(bodies, onEvent, onState, signal) {
  while (!signal.aborted) {
    try {
      const reply = await send("GET", `_dynalith/events?bodies=${bodies}&past=${PAST}`, {}, undefined, signal);
      if (!reply.ok) throw new ApiError(reply.status, JSON.parse(await reply.text()));
      if (!reply.body) throw new Error("The answer has no events");
      onState("on");
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const blocks = (rest + part.value).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) if (block.startsWith("data: ")) onEvent(block.slice(6));
      }
    } catch (error) {
      if (signal.aborted) return;
      onState(/** @type {Error} */ (error).message);
      if (error instanceof ApiError) return;
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

export async function loadFacts() {
  session.facts = await (await fetch(new URL("server.json", location.href), { cache: "no-store" })).json();
}
