"use strict";
// races(): a test's clients run again and again, each time with another order of their requests. `dynalith races` decides which, and has a server for each run.
const { spawn } = require("node:child_process");
const readline = require("node:readline");
const { findBinary } = require("./index.cjs");

const SWITCHES = { lostAnswers: "--lost-answers", throttling: "--throttling", conflicts: "--conflicts", lag: "--lag", ttl: "--ttl" };
const VALUES = { budget: "--budget", seed: "--seed", order: "--order", out: "--out", html: "--html", replays: "--replays", invariants: "--invariants", init: "--init", quietMs: "--quiet-ms" };

function wordsOf({ before, check, ...options }) {
  return Object.entries(options).flatMap(([name, value]) => {
    if (name in SWITCHES) return value ? [SWITCHES[name]] : [];
    if (name in VALUES) return [VALUES[name], String(value)];
    throw new Error(`dynalith: races() has no option ${name}; there are before, check, ${[...Object.keys(VALUES), ...Object.keys(SWITCHES)].join(", ")}`);
  });
}

/* What an SDK's client is made with; the name is in its requests' user agent. */
const configOf = (endpoint, name) => ({ endpoint, region: "us-east-1", credentials: { accessKeyId: "races", secretAccessKey: "races" }, ...(name && { userAgentAppId: name }) });

/* One run: what `dynalith races` is told of it. `configOf` gives what the client of that name is made with, none without a name. */
async function runOnce(configOf, clients, { before, check }) {
  try {
    await before?.(configOf());
    const ends = await Promise.allSettled(clients.map((client, i) => client(configOf(client.name || `client${i + 1}`))));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
    await check?.(configOf());
    return "passed";
  } catch (error) {
    return `failed: ${String(error?.message ?? error).replaceAll(/\s*\n\s*/g, " ")}`;
  }
}

/* Starts `dynalith races`; `begin(about, tell)` gives each run's configOf(), and where the engine is in this process hear(word, rest), for the other lines. */
async function drive(given, words, begin) {
  const clients = [...given], options = typeof clients.at(-1) === "object" ? clients.pop() : {};
  const child = spawn(findBinary(), ["races", ...words, ...wordsOf(options)], { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise((resolve, reject) => { child.on("close", resolve); child.on("error", reject); });
  const told = [], tell = (line) => child.stdin.write(`${line}\n`);
  child.stderr.setEncoding("utf8").on("data", (text) => told.push(text));
  child.stdin.on("error", () => {}); // it has ended: its status says why
  let run = null;
  readline.createInterface({ input: child.stdout }).on("line", (line) => {
    const word = line.split(" ", 1)[0], rest = line.slice(word.length + 1);
    if (word === "run") {
      run = begin(rest, tell);
      runOnce(run.configOf, clients, options).then(tell);
    } else if (!run?.hear?.(word, rest)) told.push(`${line}\n`);
  });
  if (await ended !== 0) throw new Error(told.join(""));
  return told.join("");
}

/** Throws an error with the order that fails; else what was tried. */
const races = (...clients) => drive(clients, ["--by-lines"], (url) => ({ configOf: (name) => configOf(url, name) }));

module.exports = { races, drive };
