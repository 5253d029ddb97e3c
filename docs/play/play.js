// The console on dynalith.wasm, without a server: scripts/site.py puts this into the page, before all else. Each request of the page goes to worker.js.
// A link behind #state= holds all data, as a data file of the server: compressed, in base64url. One behind #run= has the requests of an example, as JSON in base64url.
(() => {
  const ROOT = new URL("../../", location.href).href, STATE = "#state=", RUN = "#run=";
  const LINK_MAX = 32 << 10; // characters of a state in a link: what chats and trackers keep whole
  const QUIET_MS = 1000; // between the first view and the service worker
  const KEPT = "dynalith.kept", KEEP_MS = 1000, LOCK_MS = 500; // KEEP_MS: between a change and the snapshot that is kept
  const READS = /\.(Get|BatchGet|TransactGet|Query|Scan|List|Describe)/; // operations that change nothing
  const policy = globalThis.trustedTypes?.createPolicy("playground", { createScriptURL: (name) => name }) ?? { createScriptURL: (name) => name };

  /* The page compiles, since it can begin before a worker is there. Each worker gets the same module. */
  async function compile() {
    const packed = (await fetch("dynalith.bin")).body.pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compileStreaming(new Response(packed, { headers: { "content-type": "application/wasm" } }));
  }
  const compiled = compile();
  compiled.catch(() => {}); // start() says so

  /** What a stream makes of bytes. */
  const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  const encode = async (bytes) => {
    let text = "";
    for (const byte of await through(bytes, new CompressionStream("deflate-raw"))) text += String.fromCharCode(byte);
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  };
  const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const decode = (text) => through(bytesOf(text), new DecompressionStream("deflate-raw"));

  /* An engine in a worker of its own; call() gets what worker.js answers. */
  function start(state) {
    const worker = new Worker(policy.createScriptURL("worker.js")), waiting = new Map();
    let last = 0, problem = null;
    worker.onmessage = ({ data: { id, error, answer } }) => {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error) reject(new TypeError(error)); else resolve(answer);
    };
    worker.onerror = (event) => {
      problem = new TypeError(event.message || "the engine does not start");
      for (const { reject } of waiting.values()) reject(problem);
      waiting.clear();
    };
    const call = (asked) => new Promise((resolve, reject) => {
      if (problem) throw problem;
      waiting.set(++last, { resolve, reject });
      worker.postMessage({ id: last, ...asked });
    });
    return { call, opened: compiled.then((module) => call({ open: true, state, module })), end: () => worker.terminate() };
  }

  /** The engine where it opens; else it is no more. */
  const opened = (engine) => engine.opened.then(() => engine, (error) => {
    engine.end();
    throw error;
  });

  const note = (text) => { document.getElementById("notes").append(Object.assign(document.createElement("div"), { className: "note", textContent: text })); };

  /** Shows the note as soon as the page has a place for it. */
  const noteLater = (text) => document.readyState === "loading" ? addEventListener("DOMContentLoaded", () => note(text)) : note(text);

  /* Runs ask() on the snapshots in IndexedDB, in one transaction. Only the tab that holds the lock writes them. */
  const snapshots = (mode, ask) => new Promise((resolve, reject) => {
    const opening = indexedDB.open(KEPT, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("states");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("states", mode), request = ask(transaction.objectStore("states"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
      opening.result.close(); // when the transaction is over
    };
  });

  let endKeeping = null; // null: this tab does not keep its data

  /** Takes the lock; false where another tab holds it. After a reload the page that is gone holds it for a moment: hence LOCK_MS. */
  const beginKeeping = () => new Promise((resolve, reject) => {
    navigator.locks.request(KEPT, { signal: AbortSignal.timeout(LOCK_MS) }, () => new Promise((done) => {
      endKeeping = () => { endKeeping = null; done(); };
      resolve(true);
    })).catch((error) => { if (error.name === "TimeoutError") resolve(false); else reject(error); });
  });

  /** Whether an earlier visit asked for it. */
  function isKept() {
    try {
      return localStorage.getItem(KEPT) !== null;
    } catch {
      return false; // a browser without storage
    }
  }

  /** The hash of the address, which shows a view from now on. */
  function takeHash() {
    const { hash } = location;
    if (hash.startsWith(STATE) || hash.startsWith(RUN)) history.replaceState(null, "", "#/");
    return hash;
  }

  async function begin(hash) {
    const isLink = hash.startsWith(STATE);
    if (!isLink && !isKept()) return opened(start());
    try {
      if (isLink) return await opened(start(await decode(hash.slice(STATE.length))));
      if (!await beginKeeping()) noteLater("Another tab keeps the data: this one has a copy, which is not kept.");
      return await opened(start(await snapshots("readonly", (states) => states.get("state"))));
    } catch (error) {
      endKeeping?.(); // the snapshot stays
      noteLater(`The ${isLink ? "link" : "kept data"} is damaged, so that this is empty: ${error.message}`);
      return opened(start());
    }
  }

  /** The console has shown its view, which closes dialogs. */
  const isShown = () => new Promise((done) => {
    const main = document.getElementById("main"), look = () => main.dataset.view && done();
    new MutationObserver(look).observe(main, { attributes: true });
    look();
  });

  async function run(text) {
    let steps;
    try {
      steps = JSON.parse(new TextDecoder().decode(bytesOf(text)));
      if (!Array.isArray(steps)) throw new Error("it has no list of requests");
    } catch (error) {
      throw new Error(`The link is damaged: ${error.message}`);
    }
    const [{ showRun }] = await Promise.all([import("./run.js"), isShown()]);
    return showRun(steps);
  }

  const hash = takeHash();
  let engine = begin(hash);

  globalThis.fetch = async (url, { method = "GET", headers = {}, body = "" } = {}) => {
    const { call } = await engine;
    const answer = await call({ method, path: "/" + new URL(url, location.href).href.slice(ROOT.length), headers, body });
    if (method !== "GET" && !READS.test(headers["x-amz-target"] ?? "")) keepSoon();
    if (answer.status === 0) throw new TypeError("a fault rule has closed the connection");
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };

  /** All data, as a data file. */
  const state = async () => (await engine).call({ take: true });

  let due = null; // the timer of the next snapshot

  async function keep() {
    clearTimeout(due);
    due = null;
    const bytes = await state();
    if (endKeeping) await snapshots("readwrite", (states) => states.put(bytes, "state"));
  }

  function keepSoon() {
    if (endKeeping) due ??= setTimeout(() => keep().catch((error) => note(`The data is not kept: ${error.message}`)), KEEP_MS);
  }

  async function toggleKeeping(button) {
    const isBegun = !endKeeping;
    if (isBegun && !await beginKeeping()) return note("Another tab keeps its data, and only one can.");
    if (isBegun && isKept() && !confirm("This browser keeps the data of an earlier visit. Replace it by the data of this page?")) return endKeeping();
    try {
      if (isBegun) await keep(); else await snapshots("readwrite", (states) => states.delete("state"));
      if (isBegun) localStorage.setItem(KEPT, "yes"); else localStorage.removeItem(KEPT);
    } catch (error) {
      if (isBegun) endKeeping();
      throw error;
    }
    if (!isBegun) endKeeping();
    button.setAttribute("aria-pressed", String(isBegun));
    note(isBegun ? "The data is kept in this browser, for the next visit." : "Nothing is kept any more: the data is gone with the tab.");
  }

  function save(bytes) {
    const url = URL.createObjectURL(new Blob([bytes])), link = Object.assign(document.createElement("a"), { href: url, download: "playground.db" });
    link.click();
    URL.revokeObjectURL(url);
  }

  async function copyLink() {
    const bytes = await state(), text = await encode(bytes);
    if (text.length > LINK_MAX) {
      note(`The data takes ${text.length} characters, and a link ${LINK_MAX}: it is saved as a file.`);
      return save(bytes);
    }
    const link = location.href.replace(/#.*/, "") + STATE + text;
    document.documentElement.dataset.link = link; // for who may not write to the clipboard
    try {
      await navigator.clipboard.writeText(link);
      note(`A link of ${link.length} characters with all data is in the clipboard.`);
    } catch {
      prompt("A link with all data:", link);
    }
  }

  async function openFile(file) {
    const next = await opened(start(new Uint8Array(await file.arrayBuffer())));
    (await engine).end();
    engine = next;
    keepSoon();
    if (location.hash === "#/tables") dispatchEvent(new HashChangeEvent("hashchange")); else location.hash = "#/tables";
  }

  addEventListener("DOMContentLoaded", () => {
    const bar = document.createElement("div"), file = Object.assign(document.createElement("input"), { type: "file", hidden: true });
    const attempt = (run) => () => run().catch((error) => note(error.message));
    const button = (text, title, run) => Object.assign(document.createElement("button"), { type: "button", textContent: text, title, onclick: attempt(run) });
    file.onchange = attempt(() => openFile(file.files[0]));
    bar.className = "row play";
    const keeping = button("Keep", "Keeps all data in this browser, for the next visit; pressed again, nothing is kept", () => toggleKeeping(keeping));
    engine.finally(() => keeping.setAttribute("aria-pressed", String(endKeeping !== null))).catch(() => {}); // each request says so
    addEventListener("visibilitychange", () => { if (document.hidden && due !== null) keep().catch(() => {}); });
    bar.append(keeping, button("Copy link", "A link that holds all data", copyLink), button("Save", "All data as a data file: dynalith --db-path playground.db", async () => save(await state())),
      button("Open", "A data file in place of all data", async () => file.click()),
      button("Samples", "Tables of well-known designs, a race, a hot partition", async () => (await import("./samples.js")).showSamples()),
      button("Request", "Any request of the API", async () => (await import("./request.js")).showRequest()), file);
    document.querySelector("header.bar").after(bar);
    if (hash.startsWith(RUN)) attempt(() => run(hash.slice(RUN.length)))();
  });
  // It loads all files again, which takes as much CPU as the engine's start: the first view and its requests come first.
  addEventListener("load", () => isShown().then(() => setTimeout(() => navigator.serviceWorker?.register(policy.createScriptURL("offline.js")), QUIET_MS)));
})();
