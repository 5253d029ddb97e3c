// A server, a browser and what tests ask of a page: texts that come, boxes that overlap, text that is cut, axe's rules.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import assert from "node:assert/strict";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const modules = process.env.DYNALITH_CONSOLE_MODULES;
const require = createRequire(modules + "/x.js");
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const children = [], PATIENCE = Number(process.env.PATIENCE ?? 1200); // looks, 50 ms apart

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const freePort = () => new Promise((done) => {
  const server = net.createServer().listen(0, "127.0.0.1", () => { const { port } = server.address(); server.close(() => done(port)); });
});
const connects = (port) => new Promise((done) => {
  const socket = net.connect(port, "127.0.0.1", () => { socket.destroy(); done(true); }).on("error", () => done(false));
});

/** A server of its own; its port. */
export async function serve(...flags) {
  const port = await freePort();
  const child = spawn(process.env.DYNALITH_BINARY, ["--in-memory", "--port", String(port), "--log-level", "warn", ...flags], {
    stdio: ["ignore", "ignore", "inherit"], cwd: mkdtempSync(path.join(os.tmpdir(), "dynalith-console-")),
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("DYNALITH_"))) });
  children.push(child);
  while (!(await connects(port))) { assert.equal(child.exitCode, null, "the server ended at once"); await sleep(20); }
  return port;
}

/** The API by any client: parts of a signature, and nothing of a browser. */
export const client = (port, key = "test") => async (operation, input = {}) => {
  const reply = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(input), headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `DynamoDB_20120810.${operation}`,
    "x-amz-date": "20260101T000000Z", authorization: `AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0` } });
  const body = await reply.json();
  if (!reply.ok) throw new Error(`${operation}: ${JSON.stringify(body)}`);
  return body;
};

export async function browse({ theme = "light", width = 1400, height = 860, host } = {}) {
  const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true, protocolTimeout: 600000,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...(host ? [`--host-resolver-rules=MAP ${host} 127.0.0.1`] : [])] });
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  const faults = [], hosts = new Set();
  page.on("pageerror", (error) => faults.push(error.message));
  // an answer of status 400 is no fault of the page: Chromium logs it as an error
  page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !m.text().startsWith("Failed to load resource")) faults.push(m.text()); });
  page.on("request", (r) => { const url = new URL(r.url()); if (/^https?:/.test(url.protocol)) hosts.add(url.host); });
  return Object.assign(new Page(page), { browser, faults, hosts });
}

export class Page {
  constructor(page) { this.page = page; }
  text() { return this.page.evaluate(() => document.body.innerText); }
  /** Waits until the page's text has all of these. */
  async shows(...wanted) {
    let seen = "";
    for (let i = 0; i < PATIENCE; i++, await sleep(50)) {
      seen = await this.text().catch(() => "");
      if (wanted.every((w) => (w instanceof RegExp ? w.test(seen) : seen.includes(w)))) return seen;
    }
    throw new Error(`the page does not show ${wanted.join(", ")}; it shows:\n${seen.slice(0, 600)}`);
  }
  async until(holds, what, ...args) {
    for (let i = 0; i < PATIENCE; i++, await sleep(50)) if (await (typeof holds === "function" && holds.isHere ? holds() : this.page.evaluate(holds, ...args))) return;
    throw new Error(`never came true: ${what}; the page:\n${(await this.text()).slice(0, 600)}`);
  }
  /** A click by the whole label, in the dialog where one is open. */
  async click(label, tag = "*[self::button or self::a or self::summary]") {
    await this.quiet(); // what is loading may take the place of what is there
    const scope = (await this.page.$("dialog[open]")) ? "//dialog[@open][last()]" : "";
    const found = await this.page.waitForSelector(`::-p-xpath(${scope}//${tag}[normalize-space(.)="${label}" and not(ancestor-or-self::*[@hidden])])`);
    await found.evaluate((e) => e.scrollIntoView({ block: "center" }));
    await found.click();
  }
  /** The control of a label. */
  async control(label) {
    const scope = (await this.page.$("dialog[open]")) ? "dialog[open]" : "body";
    const handle = await this.page.waitForFunction((scope, label) => {
      const root = [...document.querySelectorAll(scope)].at(-1);
      const named = [...root.querySelectorAll("[aria-label]")].find((e) => e.getAttribute("aria-label") === label && e.matches("input, select, textarea"));
      const fields = [...root.querySelectorAll("label")].filter((l) => l.querySelector("input, select, textarea")), title = (l) => l.querySelector("span")?.textContent ?? "";
      return named ?? (fields.find((l) => title(l) === label) ?? fields.find((l) => title(l).startsWith(label)))?.querySelector("input, select, textarea");
    }, {}, scope, label);
    return handle.asElement();
  }
  async fill(label, value) {
    const control = await this.control(label);
    await control.evaluate((e, value) => {
      e.focus();
      e.value = value;
      e.dispatchEvent(new Event("input", { bubbles: true }));
      e.dispatchEvent(new Event("change", { bubbles: true }));
    }, value);
  }
  async choose(label, value) { const control = await this.control(label); await control.select(value); }
  async check(label) {
    await this.until((label) => {
      const found = [...document.querySelectorAll("label.check")].find((l) => l.innerText.trim() === label)?.querySelector("input");
      found?.click();
      return Boolean(found);
    }, `a box ${label}`, label);
    await this.quiet();
  }
  async view(...parts) {
    await this.page.evaluate((hash) => { if (location.hash === hash) dispatchEvent(new HashChangeEvent("hashchange")); else location.hash = hash; }, `#/${parts.map(encodeURIComponent).join("/")}`);
    await this.until((view) => document.getElementById("main").dataset.view === view && document.querySelector("#views [aria-current]")?.getAttribute("href") === `#/${view}`, `the view ${parts[0]}`, parts[0]);
    await this.quiet();
  }
  /** Until nothing is loading and the page has drawn. */
  async quiet() { await this.page.waitForNetworkIdle({ idleTime: 150, concurrency: 1, timeout: 60000 }).catch(() => {}); await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); }

  async axe() {
    const has = await this.page.evaluate(() => Boolean(window.axe));
    if (!has) await this.page.evaluate(axe); // by the debugger's protocol, which the page's policy does not bind
    const { violations } = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    return violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")}: ${n.failureSummary.split("\n")[1]?.trim()}`).join("; ")}`);
  }

  /** Controls that lie on each other, text that is cut without an ellipsis, boxes beyond the window. */
  layout() {
    return this.page.evaluate(() => {
      const faults = [], name = (e) => `${e.tagName.toLowerCase()}${e.className && typeof e.className === "string" ? `.${e.className.replaceAll(" ", ".")}` : ""} "${(e.innerText || e.value || e.getAttribute("aria-label") || "").slice(0, 40)}"`;
      const root = document.querySelector("dialog[open]") ?? document.body;
      const isSeen = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && e.getBoundingClientRect().width > 1 && !e.closest(".hidden, .skip");
      // what scrolls or is cut by an ancestor counts as far as it can be seen
      const boxOf = (e) => {
        let { left, top, right, bottom } = e.getBoundingClientRect();
        for (let p = e.parentElement; p; p = p.parentElement) {
          if (getComputedStyle(p).overflow === "visible") continue;
          const b = p.getBoundingClientRect();
          left = Math.max(left, b.left); top = Math.max(top, b.top); right = Math.min(right, b.right); bottom = Math.min(bottom, b.bottom);
        }
        return { left, top, right, bottom };
      };
      const controls = [...root.querySelectorAll("button, input, select, textarea, a, h1, h2, h3, .badge, legend, figcaption, p")].filter(isSeen);
      const boxes = controls.map((e) => [e, boxOf(e)]).filter(([, b]) => b.right - b.left > 1 && b.bottom - b.top > 1);
      for (let i = 0; i < boxes.length; i++) for (let k = i + 1; k < boxes.length; k++) {
        const [a, x] = boxes[i], [b, y] = boxes[k];
        if (a.contains(b) || b.contains(a)) continue;
        if (Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 1) faults.push(`${name(a)} overlaps ${name(b)}`);
      }
      for (const e of root.querySelectorAll("button, a, label span, h1, h2, h3, th, td, .badge, .cell, .cell span, select, svg text")) {
        if (!isSeen(e)) continue;
        const style = getComputedStyle(e);
        if (e instanceof SVGElement) {
          const box = e.getBoundingClientRect(), all = e.ownerSVGElement.getBoundingClientRect();
          if (box.left < all.left - 1 || box.right > all.right + 1) faults.push(`cut: svg text "${e.textContent.slice(0, 40)}"`);
        } else if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && style.display !== "inline" && style.textOverflow !== "ellipsis" && style.overflowX !== "visible" && !e.matches(".cell")) faults.push(`cut: ${name(e)}`);
        else if (e.scrollHeight > e.clientHeight + 2 && e.clientHeight > 0 && style.display !== "inline" && e.matches("button, .badge, .cell")) faults.push(`cut below: ${name(e)}`);
      }
      for (const e of root.querySelectorAll(".bar > *, .tools > *, .card, .tabs")) {
        const box = e.getBoundingClientRect();
        if (isSeen(e) && (box.right > innerWidth + 1 || box.left < -1)) faults.push(`beyond the window: ${name(e)}`);
      }
      if (document.documentElement.scrollWidth > innerWidth + 1) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
      return faults;
    });
  }
}

export function end() { for (const child of children) child.kill(); }
