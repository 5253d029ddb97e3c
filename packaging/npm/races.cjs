"use strict";
// races(): a test's clients run again and again, each time with another order of their requests. `dynalith races` decides which, and has a server for each run.
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const { findBinary } = require("./index.cjs");

const SWITCHES = { lostAnswers: "--lost-answers", throttling: "--throttling", conflicts: "--conflicts", lag: "--lag", ttl: "--ttl" };
const VALUES = { budget: "--budget", seed: "--seed", order: "--order", out: "--out", html: "--html", replays: "--replays", invariants: "--invariants", init: "--init", quietMs: "--quiet-ms" };

function words({ before, check, ...options }) {
  return Object.entries(options).flatMap(([name, value]) => {
    if (name in SWITCHES) return value ? [SWITCHES[name]] : [];
    if (name in VALUES) return [VALUES[name], String(value)];
    throw new Error(`dynalith: races() has no option ${name}; there are before, check, ${[...Object.keys(VALUES), ...Object.keys(SWITCHES)].join(", ")}`);
  });
}

/* What an SDK's client is made with; the name is in its requests' user agent. */
const configOf = (endpoint, name) => ({ endpoint, region: "us-east-1", credentials: { accessKeyId: "races", secretAccessKey: "races" }, ...(name && { userAgentAppId: name }) });

/* One run: what the server is told of it. */
async function runOnce(url, clients, { before, check }) {
  try {
    await before?.(configOf(url));
    const ends = await Promise.allSettled(clients.map((client, i) => client(configOf(url, client.name || `client${i + 1}`))));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
    await check?.(configOf(url));
    return "passed";
  } catch (error) {
    return `failed: ${String(error?.message ?? error).replaceAll(/\s*\n\s*/g, " ")}`;
  }
}

/** Throws an error with the order that fails; else what was tried. */
async function races(...clients) {
  const options = typeof clients.at(-1) === "object" ? clients.pop() : {};
  const child = spawn(findBinary(), ["races", "--by-lines", ...words(options)], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise((resolve, reject) => { child.on("close", resolve); child.on("error", reject); });
  const told = [];
  child.stderr.setEncoding("utf8").on("data", (text) => told.push(text));
  child.stdin.on("error", () => {}); // it has ended: its status says why
  for await (const line of readline.createInterface({ input: child.stdout })) {
    if (line.startsWith("run ")) child.stdin.write(`${await runOnce(line.slice(4), clients, options)}\n`);
    else told.push(`${line}\n`);
  }
  if (await ended !== 0) throw new Error(told.join(""));
  return told.join("");
}

module.exports = { races };
