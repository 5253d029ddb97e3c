// The site in headless Chromium, at the widths of a phone, a tablet and a laptop, in both schemes: nothing is cut, the search
// finds guides first, code can be copied. A laptop and a phone see all pages in the light scheme, a tablet and the dark
// scheme four of them. `search` as argument tries the search alone. PICTURES=FOLDER keeps a picture of each page that is looked at.
import { readFileSync, readdirSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { createRequire } from "node:module";

const require = createRequire(process.env.DYNALITH_CONSOLE_MODULES + "/x.js");
const puppeteer = require("puppeteer-core");
const SITE = path.resolve("build/site");
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json" };
const WIDTHS = [375, 768, 1280];
const PICTURES = process.env.PICTURES;
// A query, and how the address of a page begins that must be its first hit.
const FIRST = {
  "use from Jest": ["languages/javascript", "packages/npm"], "reset between tests": ["testing", "languages/"], "pytest": ["languages/python", "packages/python"],
  "JUnit": ["languages/java", "packages/maven"], "docker compose": ["containers"], "github actions": ["ci"], "DynamoDB Local": ["migration/dynamodb-local"],
  "inject faults": ["testing", "languages/"], "time to live": ["time", "testing", "timing"], "LocalStack": ["migration/localstack"],
};

const pages = readdirSync(SITE, { recursive: true }).filter((name) => name.endsWith(".html") && name !== "404.html" && !name.startsWith("play/")).sort();
const server = http.createServer((request, reply) => {
  const file = path.join(SITE, new URL(request.url, "http://x").pathname);
  try {
    const bytes = readFileSync(file.endsWith("/") ? file + "index.html" : file);
    reply.setHeader("content-type", TYPES[path.extname(file)] ?? "application/octet-stream");
    reply.end(bytes);
  } catch { reply.writeHead(404).end(); }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const root = `http://127.0.0.1:${server.address().port}/`;
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true, protocolTimeout: 600000,
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });
const open = async () => { // of a reader who was never here: pages remember the scheme
  const page = await (await browser.createBrowserContext()).newPage();
  page.setDefaultTimeout(120000);
  return page;
};
let passed = 0;
const failures = [];
const check = (holds, what) => { if (holds) passed++; else { failures.push(what); console.log(what); } };

/** What does not fit: blocks of code that must be scrolled, whatever is wider than the window, code without a button. */
const measure = () => {
  const cut = [...document.querySelectorAll(".md-content pre > code")].filter((code) => code.scrollWidth > code.clientWidth + 1);
  const buttons = document.querySelectorAll(".md-content .md-code__button, .md-content .md-clipboard").length;
  const images = [...document.images].filter((image) => image.complete && !image.naturalWidth).map((image) => image.src);
  return { blocks: document.querySelectorAll(".md-content pre > code").length, cut: cut.map((code) => code.textContent.split("\n").sort((a, b) => b.length - a.length)[0].slice(0, 120)),
    wide: document.documentElement.scrollWidth > window.innerWidth + 1, buttons, images, scheme: document.body.dataset.mdColorScheme,
    broken: [...document.querySelectorAll(".md-content .option")].filter((name) => name.getClientRects().length > 1).map((name) => name.textContent),
    tables: [...document.querySelectorAll(".md-content table")].filter((table) => table.scrollWidth > table.parentElement.clientWidth + 1).length };
};

for (const scheme of process.argv[2] === "search" ? [] : ["light", "dark"]) {
  const page = await open();
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: "reduce" }]);
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 900 });
    let blocks = 0, cut = 0;
    for (const name of pages) {
      if ((scheme === "dark" || width === 768) && !/^(index|testing|reference.options|languages.python)\.html$/.test(name)) continue;
      await page.goto(root + name, { waitUntil: "load" });
      const seen = await page.evaluate(measure);
      const at = `${name} at ${width} px, ${scheme}`;
      blocks += seen.blocks;
      cut += seen.cut.length;
      check(!seen.wide, `${at}: the page is wider than the window`);
      check(!seen.images.length, `${at}: no picture at ${seen.images}`);
      check(seen.scheme === (scheme === "dark" ? "slate" : "default"), `${at}: the scheme is ${seen.scheme}`);
      check(seen.buttons >= seen.blocks, `${at}: ${seen.blocks} blocks, ${seen.buttons} buttons that copy`);
      check(!seen.cut.length, `${at}: ${seen.cut.length} blocks are cut, such as: ${seen.cut[0]}`);
      check(!seen.broken.length, `${at}: names of options over two lines: ${seen.broken}`);
      if (width < 960) check(!seen.tables, `${at}: ${seen.tables} tables are cut`);
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name.replaceAll("/", "-")}-${width}-${scheme}.png` });
    }
    console.log(`site: ${width} px, ${scheme}: ${cut} of ${blocks} blocks of code are wider than their box`);
  }
}
const page = await open();
await page.setViewport({ width: 1280, height: 900 });
for (const [query, wanted] of Object.entries(FIRST)) {
  await page.goto(root + "index.html?q=" + encodeURIComponent(query), { waitUntil: "load" });
  const hit = await page.waitForSelector(".md-search-result__item a").then((a) => a.evaluate((link) => link.pathname.slice(1)), (error) => error.message);
  check(wanted.some((start) => hit.startsWith(start)), `search: "${query}" finds ${hit} first, not ${wanted.join(" or ")}`);
}
await browser.close();
server.close();
console.log(`site: ${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length ? 1 : 0;
