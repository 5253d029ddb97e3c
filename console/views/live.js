// What happens now: requests as they come, records of streams as a diff, items that are about to expire, faults that fired.
import { attempt, field, fill, h, messageOf, moment, note, number, plainTable, select, tabs } from "../core/dom.js";
import { allTables, api, control, describe, session, watch } from "../core/api.js";
import { addressOf } from "../core/address.js";
import { isGone } from "../ui/absent.js";
import { diff } from "../ui/item.js";
import { explainInto } from "../ui/plan.js";
import { cell, grid } from "../ui/grid.js";
import { pattern } from "../model/request.js";
import { Sampler, glance } from "../model/sampler.js";
import { Seen } from "../model/seen.js";
import { whyThrottled } from "../model/throttle.js";
import { KEY_MAX, brief, keyOf, ordered, writeItem } from "../model/types.js";
import { stay, tellClock } from "../main.js";

/** @import { Child, End, Event as Answered, Input, Item, Parts, Read, Refused, Shown, StreamRecord, Table } from "../types.d.ts" */
/** @typedef {(() => void)[]} Stops what is called once the view is left */

const DRAWN = 100 /* ms */, QUOTA = 100 /* events of a drawing */, KEPT = 5000, RECORDS = 500, BEFORE = 5000, QUEUE = 500, SCANNED = 20000;

/** JSON, or an empty object. @param {string} text @returns {unknown} */
const readJson = (text) => { try { return JSON.parse(text); } catch { return {}; } };

/** What a fault did to the answer on its way. @param {NonNullable<Shown["fault"]>} f */
const onItsWay = (f) => [f.delayMs && `it was held for ${number(f.delayMs)} ms`, f.isDropped && "the connection was closed", f.isCrcWrong && "its checksum was wrong", f.pieceBytes && `it went in pieces of ${number(f.pieceBytes)} bytes`].filter(Boolean).join(", ");

/** Of a request that failed, or that a fault met: what the server said, and why, as rows. @param {Shown} e @returns {Child[][]} */
function reasons(e) {
  const ruled = e.fault && h("p", `A rule of the faults${e.fault.rule ? ` (no. ${e.fault.rule} then)` : ""} acted on this request${onItsWay(e.fault) ? `: ${onItsWay(e.fault)}` : ""}. `, h("a", { href: addressOf("control", "Faults and limits") }, "The rules"));
  if (e.status < 400 || !e.response) return ruled ? [["Why", ruled]] : [];
  const answer = /** @type {Refused} */ (Object(typeof e.response === "string" ? readJson(e.response) : e.response)), message = answer.message ?? answer.Message;
  const throttled = (answer.ThrottlingReasons ?? []).map((r) => [`${r.reason}: ${r.resource?.split(":").pop() ?? ""}`, whyThrottled(r.reason ?? "", r.resource ?? "")]);
  const cancelled = (answer.CancellationReasons ?? []).flatMap((r, i) => (r.Code && r.Code !== "None" ? [`member ${i + 1}: ${r.Code}${r.Message ? `, ${r.Message}` : ""}`] : []));
  const why = ruled ? [ruled] : [...throttled.map(([code, sentence]) => [h("p.warn", code), sentence && h("p", sentence, " ", h("a", { href: addressOf("control", "Faults and limits") }, "What is left and consumed"))]),
    ...cancelled.map((w) => h("p.warn", w))];
  return [...(message ? [["Message", message]] : []), ...(why.length ? [["Why", why]] : [])];
}

let latest = { place: "", seen: new Seen(KEPT) };
/** What was seen of the namespace that is shown: it is there again when the view is. */
function seenHere() {
  const place = `${session.key} ${session.region}`;
  if (latest.place !== place) latest = { place, seen: new Seen(KEPT) };
  return latest.seen;
}

/** What can be done with a request whose values are shown. @param {Shown} e */
function actions(e) {
  const place = h("div", { role: "status" });
  if (typeof e.request !== "string") return h("p.quiet.gap", "With bodies as they are, a request can be explained and sent again.");
  const body = /** @type {Input} */ (readJson(e.request)), operation = e.operation;
  const again = attempt(async () => {
    fill(place, h("p.quiet", "This page sent it: fault rules and limits of throughput do not act on it, and no report counts it."));
    try { place.append(h("pre", JSON.stringify(await api(operation, body), null, 2))); } catch (error) { place.append(h("p.problem", messageOf(error))); }
  });
  return h("div.gap", h("div.row", h("button.small", { type: "button", onclick: attempt(() => explainInto(place, operation, body)) }, "Explain"), h("button.small", { type: "button", onclick: again }, "Send again")), place);
}

/** @param {Stops} stop @param {string} kept the filter, of the address @param {string} only "errors", or all */
function requests(stop, kept, only) {
  const sampler = new Sampler(QUOTA), seen = seenHere();
  let shown = /** @type {Shown[]} */ ([]), isPaused = false, bodies = "masked", abort = new AbortController(), pending = 0, said = "Connecting …";
  const search = h("input", { type: "search", placeholder: "operation, table …", value: kept, oninput: () => keep() });
  const state = h("span.quiet.middle", { role: "status" }), detail = h("aside.side.query", { tabIndex: 0, "aria-label": "One request" }, h("p.quiet", "Choose a request to see it."));
  const own = h("input", { type: "checkbox", onchange: () => sift() }), errors = h("input", { type: "checkbox", checked: only === "errors", onchange: () => keep() });
  const keep = () => { stay("live", "Requests", ...(errors.checked ? [search.value, "errors"] : search.value ? [search.value] : [])); sift(); };
  const isWanted = (/** @type {Shown} */ e) => own.checked || e.caller !== "console";
  const passes = (/** @type {Shown} */ e) => isWanted(e) && (!errors.checked || e.status >= 400 || e.fault) &&
    (!search.value || `${e.operation} ${e.pattern.table} ${e.pattern.text} ${e.caller} ${e.error} ${e.id}`.toLowerCase().includes(search.value.toLowerCase()));
  const tell = () => {
    const here = seen.events.filter(isWanted), all = here.length, past = here.filter((e) => e.isPast).length;
    const parts = [`${number(shown.length)} of ${number(all)} requests`, past && `${number(past)} came before this page watched`,
      seen.skipped && `too many to show all: ${number(seen.skipped)} more were counted only`, seen.lost && `${number(seen.lost)} lost`, isPaused && "paused", said];
    state.textContent = all || seen.skipped || seen.lost || isPaused ? parts.filter(Boolean).join("; ") : said || "Waiting for requests";
  };
  const sift = () => { shown = seen.events.filter(passes); view.toTop(); tell(); };
  const body = (/** @type {string} */ title, /** @type {unknown} */ text, /** @type {number} */ size) => [h("h2.gap", `${title}, ${number(size)} bytes`), h("pre", text === null ? "not shown" : typeof text === "string" ? pretty(text) : JSON.stringify(text, null, 2))];
  const pretty = (/** @type {string} */ text) => { try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; } };
  const open = (/** @type {Shown} */ e) => {
    fill(detail, h("h2", e.operation || "no operation"), plainTable("The request", [["What", "tight"], ["Value"]], [["Time", new Date(e.time * 1000).toISOString()], ["Id", h("span.mono", e.id)],
    ["Namespace", `${e.account} · ${e.region}`], ["Caller", e.caller], ["Answer", `${e.status} ${e.error}`], ["Latency", `${e.ms.toFixed(3)} ms`], ["Units", `${e.readUnits} read, ${e.writeUnits} written`],
    ...reasons(e)]), e.operation && actions(e), body("Request", e.request, e.requestBytes), body("Answer", e.response, e.responseBytes));
    detail.scrollTop = 0;
  };
  const nothing = session.facts.insight ? "" : " While no page watches, the server keeps the latest that were refused; with --insight on, all of the latest.";
  const view = grid("Requests", { count: () => shown.length, empty: () => (seen.events.some(isWanted) ? "No request passes the filter." : `Requests show here as they come.${nothing}`), row: (i) => {
    const e = shown[shown.length - 1 - i];
    return { kind: e.status >= 400 ? "wrong" : "", open: () => open(e), cells: [cell("", new Date(e.time * 1000).toISOString().slice(11, 23), "narrow"), cell("", e.error || String(e.status), "narrow"), cell("", e.operation), cell("", e.pattern.table, "narrow"),
      cell("", `${e.readUnits} / ${e.writeUnits}`, "narrow"), cell("", `${e.ms.toFixed(2)} ms`, "narrow"), cell("", e.pattern.text, "huge")] };
  } }, [["Time", "narrow"], ["Status", "narrow"], ["Operation"], ["Table", "narrow"], ["Units r/w", "narrow"], ["Latency", "narrow"], ["Pattern", "huge"]]);
  const draw = () => { pending = 0; sampler.turn(); if (isMixed) sift(); else { view.refresh(); tell(); } isMixed = false; };
  let isMixed = false; // requests of before came between others
  const take = (/** @type {string} */ text) => {
    const { isError, isPast, lost } = glance(text);
    if (isPaused && !isPast) return;
    seen.lost += lost;
    if (!pending) pending = Number(setTimeout(draw, DRAWN));
    if (!isPast && !sampler.take(isError)) { seen.skipped++; return; }
    const event = /** @type {Answered} */ (JSON.parse(text)), e = { ...event, pattern: pattern(event.request) };
    if (!seen.add(e)) return; // it is there, perhaps with other bodies now
    if (isPast) { isMixed = true; return; }
    if (!passes(e)) return;
    shown.push(e);
    view.push(1);
    if (shown.length > KEPT) shown = shown.slice(-KEPT / 2);
  };
  const listen = () => {
    abort.abort();
    abort = new AbortController();
    watch(bodies, take, (s) => { said = s === "on" ? "" : s; tell(); }, abort.signal);
  };
  /** @type {HTMLElement} */
  const pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => { isPaused = !isPaused; pause.setAttribute("aria-pressed", String(isPaused)); tell(); } }, "Pause");
  sift();
  listen();
  stop.push(() => { abort.abort(); clearTimeout(pending); view.end(); });
  return h("div.pane", h("div.tools", field("Filter", search), field("Bodies", select([["masked", "values masked"], ["open", "as they are"], ["none", "none"]], bodies, (v) => { bodies = v; isMixed = true; listen(); })),
    h("label.check.middle", errors, h("span", "Errors only")), h("label.check.middle", own, h("span", "This page's own")), h("span.push"), state, pause,
    h("button", { type: "button", onclick: () => { seen.clear(); sift(); } }, "Clear")), h("div.split", view.element, detail));
}

/** Records of several shards, the oldest first. @param {StreamRecord[]} records */
const inOrder = (records) => records.sort(({ dynamodb: a }, { dynamodb: b }) => a.ApproximateCreationDateTime - b.ApproximateCreationDateTime || Number(BigInt(a.SequenceNumber) - BigInt(b.SequenceNumber)));

/** @param {Stops} stop */
function streams(stop) {
  const place = h("div.body.records", { tabIndex: 0, role: "log", "aria-label": "Records" }), state = h("span.quiet.middle", { role: "status" });
  const chooser = h("select");
  let turn = 0, isOver = false;
  const record = (/** @type {StreamRecord} */ r, /** @type {Table} */ table) => {
    const { NewImage, OldImage, Keys, SequenceNumber } = r.dynamodb, keys = table.KeySchema.map((k) => k.AttributeName);
    const text = (/** @type {Item | undefined} */ image) => (image ? writeItem(ordered(image, keys), "native") : "");
    return h("div.card", h("div.row", h("span", `${moment(r.dynamodb.ApproximateCreationDateTime)} UTC`), h(r.eventName === "REMOVE" ? "span.badge.bad" : "span.badge.good", r.eventName), h("strong.mono", Object.values(Keys).map((v) => brief(v)).join(" · ")),
      r.userIdentity && h("span.badge", "time to live"), h("span.quiet.push", { title: "Sequence number" }, SequenceNumber)), NewImage || OldImage ? diff(text(OldImage), text(NewImage)) : h("p.quiet", "The stream has keys alone."));
  };
  /** @param {string} name @param {number} mine */
  async function follow(name, mine) {
    fill(place);
    const table = await describe(name), arn = table.LatestStreamArn, iterators = /** @type {Map<string, string>} */ (new Map());
    const seen = new Set();
    const begin = async (/** @type {string} */ ShardId, /** @type {string} */ ShardIteratorType) =>
      iterators.set(ShardId, (await api("streams.GetShardIterator", { StreamArn: arn, ShardId, ShardIteratorType })).ShardIterator);
    const next = async (/** @type {string} */ id) => {
      const page = await api("streams.GetRecords", { ShardIterator: iterators.get(id) });
      if (page.NextShardIterator) iterators.set(id, page.NextShardIterator); else iterators.delete(id);
      return page.Records;
    };
    /** What the shard has of before: nothing where it is more than anybody would read. @param {string} id */
    const past = async (id) => {
      let found = /** @type {StreamRecord[]} */ ([]);
      for (let n = 0; iterators.has(id) && mine === turn && !isOver;) {
        const page = await next(id);
        if (!page.length) return found;
        n += page.length;
        found = [...found, ...page].slice(-RECORDS);
        if (n > BEFORE) { await begin(id, "LATEST"); isShort = false; return []; }
      }
      return found;
    };
    let isShort = true; // all records of before are there
    for (let first = true; mine === turn && !isOver; first = false) {
      const { StreamDescription } = await api("streams.DescribeStream", { StreamArn: arn });
      for (const { ShardId } of StreamDescription.Shards) {
        if (seen.has(ShardId)) continue;
        seen.add(ShardId);
        await begin(ShardId, "TRIM_HORIZON");
      }
      const records = [];
      for (const id of [...iterators.keys()]) records.push(...await (first ? past(id) : next(id)));
      if (mine !== turn || isOver) return;
      place.prepend(...inOrder(records).slice(-RECORDS).reverse().map((r) => record(r, table)));
      while (place.children.length > RECORDS) place.lastChild?.remove();
      state.textContent = `Following ${name}: ${number(place.children.length)} records${isShort ? "" : "; those of before are too many to read"}`;
      await new Promise((done) => setTimeout(done, 700));
    }
  }
  const begin = attempt(async () => {
    const name = chooser.value, mine = ++turn;
    if (!name) return;
    try { await follow(name, mine); } catch (error) {
      if (mine !== turn || isOver) return;
      state.textContent = `No longer following ${name}`;
      place.prepend(h("div.card", { role: "alert" }, h("p.problem", isGone(error) ? `The table ${name} or its stream is gone.` : messageOf(error)),
        h("button", { type: "button", onclick: search }, "Look for streams again")));
    }
  });
  const search = attempt(async () => {
    const found = /** @type {string[]} */ ([]);
    for (const { Table } of await allTables()) if (Table.StreamSpecification?.StreamEnabled) found.push(Table.TableName);
    fill(chooser, found.map((n) => h("option", { value: n }, n)));
    fill(place);
    state.textContent = found.length ? "" : "No table of this namespace has a stream.";
    await begin();
  });
  search();
  chooser.onchange = begin;
  stop.push(() => { isOver = true; });
  return h("div.pane", h("div.tools", field("Table", chooser), h("span.push"), state), place);
}

/** Items by the time at which they expire. @param {Stops} stop */
function expiring(stop) {
  const place = h("div.body"), chooser = h("select"), state = h("span.quiet.middle", { role: "status" });
  let isOver = false;
  const load = attempt(async () => {
    const name = chooser.value;
    if (!name) return;
    const table = await describe(name), { AttributeName = "" } = (await api("DescribeTimeToLive", { TableName: name })).TimeToLiveDescription;
    const { now } = await control("GET", "clock");
    const names = Object.fromEntries([AttributeName, ...table.KeySchema.map((k) => k.AttributeName)].map((n, i) => [`#n${i}`, n]));
    const due = (/** @type {Item} */ item) => Number(item[AttributeName].N);
    let found = /** @type {Item[]} */ ([]), page = /** @type {Read} */ ({}), read = 0;
    do {
      page = await api("Scan", { TableName: name, FilterExpression: "attribute_type(#n0, :t)", ExpressionAttributeNames: names, ExpressionAttributeValues: { ":t": { S: "N" } }, ProjectionExpression: Object.keys(names).join(", "),
        ...(page.LastEvaluatedKey ? { ExclusiveStartKey: page.LastEvaluatedKey } : {}) });
      read += page.ScannedCount ?? 0;
      found = [...found, ...(page.Items ?? [])].sort((a, b) => due(a) - due(b)).slice(0, QUEUE);
    } while (page.LastEvaluatedKey && read < SCANNED && !isOver);
    state.textContent = `The next ${number(found.length)} to expire, of ${number(read)} items read${page.LastEvaluatedKey ? " and more" : ""}`;
    const left = (/** @type {number} */ s) => { const d = s - now; return d <= 0 ? "due" : d < 120 ? `${Math.round(d)} s` : d < 7200 ? `${Math.round(d / 60)} min` : d < 172800 ? `${Math.round(d / 3600)} h` : `${Math.round(d / 86400)} d`; };
    fill(place, found.length ? plainTable("Items by expiry", [["Expires, UTC", "tight"], ["In", "tight"], ["Key"], ["", "tight"]], found.map((i) => [moment(Math.max(0, due(i))),
      left(due(i)), h("a.mono", { href: addressOf("collections", name, "", brief(i[table.KeySchema[0].AttributeName], KEY_MAX)) }, Object.values(keyOf(i, table)).map((v) => brief(v)).join(" · ")),
      h("div.row", h("button.small", { type: "button", onclick: () => turn(due(i) - 1) }, "Stop 1 s before"), h("button.small", { type: "button", onclick: () => turn(due(i) + 1) }, "Let it expire"))])) : h("div.empty", "No item of the table will expire."));
  });
  /** The clock stands from then on, until Control lets it run. */
  const turn = attempt(async (/** @type {number} */ seconds) => {
    await control("POST", "clock", { freeze: true });
    const { expired } = await control("POST", "clock", { set: seconds });
    note(`The clock stands at ${moment(seconds)}. ${expired ? `${number(expired)} ${expired === 1 ? "item" : "items"} expired. ` : ""}Control lets it run again.`);
    await Promise.all([load(), tellClock()]);
  });
  (attempt(async () => {
    const found = /** @type {string[]} */ ([]);
    for (const { Table, TimeToLiveDescription: ttl } of await allTables()) if (ttl.TimeToLiveStatus === "ENABLED") found.push(Table.TableName);
    fill(chooser, found.map((n) => h("option", { value: n }, n)));
    if (!found.length) state.textContent = "No table of this namespace has a time to live.";
    await load();
  }))();
  chooser.onchange = load;
  stop.push(() => { isOver = true; });
  return h("div.pane", h("div.tools", field("Table", chooser), h("span.push"), state, h("button", { type: "button", onclick: load }, "Refresh")), place);
}

/** @param {Stops} stop */
function fired(stop) {
  const place = h("div.body");
  let isOver = false;
  (async () => {
    while (!isOver) {
      try {
        const { rules } = await control("GET", "faults");
        fill(place, rules.length ? plainTable("Fault rules", [["Rule"], ["Matched", "number"], ["Fired", "number"]], rules.map(({ matched, fired: n, ...rule }) => [h("code", JSON.stringify(rule)), number(matched), h(n ? "strong.warn" : "span", number(n))]))
          : h("div.empty", h("p", "No rules are set."), h("a", { href: addressOf("control") }, "Set one")));
      } catch (error) { fill(place, h("p.problem", messageOf(error))); }
      await new Promise((done) => setTimeout(done, 1500));
    }
  })();
  stop.push(() => { isOver = true; });
  return h("div.pane", place);
}

/** @param {HTMLElement} main @param {Parts} parts @returns {Promise<End>} */
export async function show(main, [tab, kept = "", only = ""]) {
  const stop = /** @type {Stops} */ ([]);
  const views = tabs("Live", [["Requests", () => requests(stop, kept, only)], ["Streams", () => streams(stop)], ["Time to live", () => expiring(stop)], ["Faults", () => fired(stop)]], tab, (name) => stay("live", name));
  views.classList.add("fill");
  main.append(h("h1.hidden", "Live"), views);
  return () => stop.forEach((f) => f());
}
