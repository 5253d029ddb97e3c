// What tests control: clock, checkpoints, snapshots, clones, faults, throughput, lag, conflicts, namespaces; backups, exports, replicas; insight.
import { attempt, check, confirmByName, copy, dialog, field, fill, h, messageOf, moment, note, number, plainTable, select, tabs, whileShown } from "../core/dom.js";
import { ACCOUNT, all, allTables, api, control, listTables, session, tellChanges } from "../core/api.js";
import { addressIn } from "../core/address.js";
import { faultForm } from "../ui/fault_form.js";
import { faultRules } from "../ui/fault_rules.js";
import { alike, bare } from "../model/faults.js";
import { timeSpan } from "../model/time.js";
import { forgetDeleted } from "../ui/selection.js";
import { throughputView } from "../ui/throughput.js";
import { insight } from "./insight.js";
import { stay, tellClock } from "../main.js";

/** @import { Backup, Child, End, FaultRule, Named, Parts, Props } from "../types.d.ts" */

/** @param {Props<HTMLInputElement>} [props] */
const input = (props = {}) => h("input", { type: "text", spellcheck: false, autocomplete: "off", ...props });
/** @param {string} label @param {() => unknown} action */
const button = (label, action, kind = "") => h("button", { type: "button", className: kind, onclick: attempt(action) }, label);

/** A card that loads itself: `body(reload)` gives its content. @param {string} title @param {(reload: () => Promise<void>) => Promise<Child>} body */
function card(title, body, isWide = false) {
  const place = h("div", h("p.quiet", "Loading …")), element = h(isWide ? "section.card.wide" : "section.card", { "aria-label": title }, h("h2", title), place);
  const load = async () => { try { fill(place, await body(load)); } catch (error) { fill(place, h("p.problem", messageOf(error))); } };
  load();
  return element;
}

const clock = () => card("Clock", async (reload) => {
  const now = await control("GET", "clock"), at = input({ placeholder: "2030-01-31T12:00:00Z", "aria-label": "Time to set" }), shown = h("strong.mono"), read = performance.now();
  const turn = async (/** @type {object} */ body, said = "The clock is turned") => {
    const { expired } = await control("POST", "clock", body);
    note(expired ? `${said}; ${number(expired)} items expired` : said);
    await Promise.all([reload(), tellClock()]);
  };
  const tick = () => {
    shown.textContent = `${moment(Math.floor(now.now + (now.frozen ? 0 : (performance.now() - read) / 1000)))} UTC`;
  };
  tick();
  if (!now.frozen) whileShown(shown, 1000, tick);
  return [h("p", shown, " ", now.frozen ? h("span.badge.warn", "frozen") : h("span.badge", "running"), Math.abs(now.offset) >= 1 ? h("span.quiet", ` ${timeSpan(Math.abs(now.offset))} ${now.offset > 0 ? "ahead of" : "behind"} the machine's clock`) : null),
    h("div.row", button(now.frozen ? "Let it run" : "Freeze", () => turn({ freeze: !now.frozen })), button("+1 h", () => turn({ advance: "1h" })), button("+1 d", () => turn({ advance: "1d" })),
      button("Now", () => turn({ release: true }, "The clock shows the machine's time again"))),
    h("div.row", at, button("Set", () => turn({ set: /^\d+$/.test(at.value) ? Number(at.value) : at.value }))),
    h("p.quiet", "Time to live, streams, backups and throughput go by this clock. A frozen clock that is let run goes on from where it stands; Now takes it back to the machine's time.")];
});

/**
 * Names with the time they were made, and what can be done with each.
 * @param {string} title @param {string} what @param {string} about what it is for @param {() => Promise<Named[]>} list @param {(name: string) => Promise<unknown>} make
 * @param {(row: Named, reload: () => Promise<void>) => Child} actions
 */
const named = (title, what, about, list, make, actions) => card(title, async (reload) => {
  const rows = await list(), name = input({ placeholder: "name", value: new Date().toISOString().slice(0, 19).replace("T", "_").replaceAll(":", "."), "aria-label": `Name of the ${what}` });
  return [h("p.quiet", about), rows.length ? plainTable(title, [["Name"], ["Made", "tight"], [""]], rows.map((r) => [r.name, moment(r.created), h("div.row", actions(r, reload))])) : h("p.quiet", `There is no ${what}.`),
    h("div.row", name, button(`Make a ${what}`, async () => { await make(name.value.trim()); note(`Made ${name.value.trim()}`); await reload(); }))];
});

const checkpoints = () => named("Checkpoints", "checkpoint", "Marks this moment, however much data there is. Roll back as often as you like, for example between tests: all changes since are undone.", async () => (await control("GET", "checkpoints")).checkpoints, (name) => control("POST", "checkpoints", { name }), ({ name, created }, reload) => [
  button("Roll back", () => { dialog(`Roll back to ${name}`, h("p", `All changes since ${moment(created)} are undone, in all tables of the namespace, whoever made them.`),
    [["Keep what there is", ""], ["Roll back now", "danger", async () => { await control("POST", `checkpoints/${name}/rollback`); forgetDeleted(); note(`Back at ${name}`); await reload(); }]]); }, "small"),
  button("Forget", async () => { await control("DELETE", `checkpoints/${name}`); await reload(); }, "small")]);

const snapshots = () => named("Snapshots", "snapshot", "Copies all tables aside. The copy outlives a reset, a rollback and all checkpoints, and dynalith dump makes it a file: for seed data, say.", async () => (await control("GET", "snapshots")).snapshots, (name) => control("PUT", `snapshots/${name}`), ({ name }, reload) => [
  button("Restore", () => confirmByName(`Restore ${name}`, name, "The copy takes the place of all that the namespace has.", async () => { await control("POST", `snapshots/${name}/restore`); forgetDeleted(); note(`Restored ${name}`); }, "Restore"), "small"),
  button("Delete", async () => { await control("DELETE", `snapshots/${name}`); await reload(); }, "small")]);

const clones = () => card("Clone and reset", async () => {
  const from = input({ value: /^\d{12}$/.test(session.key) ? session.key : ACCOUNT }), to = input({ placeholder: "000000000001, 000000000002" }), replace = check("Replace what they have", false);
  return [h("div.fields", field("From account", from), field("To accounts", to)), replace, h("div.row",
    button("Clone", async () => { await control("POST", "clone", { from: from.value, to: to.value.split(/[\s,]+/).filter(Boolean), ...(replace.input.checked ? { replace: true } : {}) }); note("Cloned"); }),
    button("Empty all tables", () => confirmByName("Empty all tables", "empty", "All items of the namespace are deleted; its tables stay.", async () => { await control("POST", "reset", { keep: "tables" }); forgetDeleted(); }, "Empty"), "danger"),
    button("Reset", () => confirmByName("Reset the namespace", "reset", "All its tables, checkpoints, faults and settings are deleted.", async () => { await control("POST", "reset"); forgetDeleted(); }, "Reset"), "danger"))];
});

/** @type {[string, FaultRule][]} */
const FAULTS = [["Throttle every third write", { operation: ["PutItem", "UpdateItem", "DeleteItem"], every: 3, error: "ProvisionedThroughputExceededException" }],
  ["Fail one request in ten", { probability: 0.1, seed: 1, error: "InternalServerError" }], ["Answer 250 ms late", { latency: 250 }], ["Leave one of each batch undone", { operation: ["BatchWriteItem", "BatchGetItem"], unprocessed: 1 }],
  ["Pages of two rows", { operation: ["Query", "Scan"], page: 2 }], ["Conflicting transactions", { operation: "TransactWriteItems", first: 1, cancel: "TransactionConflict" }],
  ["Close the connection after the work", { operation: "PutItem", first: 1, close: "after" }], ["Wrong checksum", { first: 1, crc: "wrong" }]];

let faultsTurn = Promise.resolve(); // one change after the other, each of the rules as the server has them then

const faults = () => card("Faults", async (reload) => {
  const { rules } = await control("GET", "faults"), now = rules.map(bare);
  const set = (/** @type {FaultRule[]} */ next) => (next.length ? control("PUT", "faults", { rules: next }) : control("DELETE", "faults"));
  /** @param {(rules: FaultRule[]) => FaultRule[]} make */
  const change = (make) => {
    const mine = faultsTurn.then(async () => { await set(make((await control("GET", "faults")).rules.map(bare))); });
    faultsTurn = mine.catch(() => {});
    return mine;
  };
  /** Rules that are refused stay as they were typed. @param {(rules: FaultRule[]) => FaultRule[]} make */
  const changeAndShow = async (make) => { await change(make); await reload(); };
  const switches = FAULTS.map(([label, rule]) => h("p", check(label, now.some((r) => alike(r, rule)), attempt(async (/** @type {boolean} */ on) => {
    try {
      await change((all) => {
        const others = all.filter((r) => !alike(r, rule));
        return on ? [...others, rule] : others;
      });
    } finally { await reload(); }
  }))));
  const json = h("textarea", { rows: 6, spellcheck: false, "aria-label": "The rules as JSON", value: JSON.stringify(now, null, 1) });
  return [faultForm(await listTables(), (rule) => changeAndShow((all) => [...all, rule])), h("div.columns.gap", switches),
    faultRules(rules, (i) => changeAndShow((all) => all.filter((r, k) => k !== i || !alike(r, now[i])))),
    h("details", h("summary", "All rules as JSON"), json, h("div.row", button("Set the rules", () => changeAndShow(() => JSON.parse(json.value))))),
    h("div.row", button("Refresh", reload), rules.length > 0 && button("Clear", () => changeAndShow(() => [])))];
}, true);

const throughput = () => card("Throughput", async (reload) => {
  const now = await control("GET", "throughput"), tables = now.tables ?? {};
  return [h("p", check("Enforce the throughput of tables as AWS does", now.throughput === "enforce", attempt(async (/** @type {boolean} */ on) => { await control("PUT", "throughput", { throughput: on ? "enforce" : "off" }); await reload(); }))),
    Object.keys(tables).length ? throughputView(tables) : h("p.quiet", "Nothing was consumed yet."), h("div.row", button("Refresh", reload))];
}, true);

const lag = () => card("Lag of reads", async (reload) => {
  const now = await control("GET", "lag"), ms = input({ type: "number", min: "0", value: String(now.lag ?? 0) }), index = input({ type: "number", min: "0", value: String(now.index_lag ?? 0) }), jitter = input({ type: "number", min: "0", value: String(now.jitter ?? 0) });
  return [h("p.quiet", "Reads without ConsistentRead see the state of so long ago."), h("div.fields", field("Tables, ms", ms), field("Indexes, ms", index), field("Jitter, ms", jitter)),
    h("div.row", button("Set", async () => { await control("PUT", "lag", { lag: Number(ms.value), index_lag: Number(index.value), jitter: Number(jitter.value) }); await reload(); }),
      button("No lag", async () => { await control("DELETE", "lag"); await reload(); }))];
});

const conflicts = () => card("Conflicts of transactions", async (reload) => {
  const now = await control("GET", "conflicts");
  return h("p", check("Items in a transaction under way refuse others", now.conflicts === "real", attempt(async (/** @type {boolean} */ on) => { await control("PUT", "conflicts", { conflicts: on ? "real" : "none" }); await reload(); })));
});

const namespaces = () => card("Namespaces", async () => {
  const { namespaces: rows } = await control("GET", "namespaces");
  return rows.length ? plainTable("Namespaces", [["Account"], ["Region"], ["Tables", "number"]], rows.map((n) => [h("a", { href: addressIn({ key: n.account, region: n.region }, "tables") }, n.account), n.region, number(n.tables)])) : h("p.quiet", "No namespace has a table.");
});

const replicas = () => card("Replicas", async (reload) => {
  const state = await control("GET", "replication"), found = /** @type {[string, string][]} */ ([]);
  for (const { Table: { TableName, Replicas = [] } } of await allTables()) if (Replicas.length) found.push([TableName, Replicas.map((r) => `${r.RegionName} ${r.ReplicaStatus}`).join(", ")]);
  const ms = input({ type: "number", min: "0", value: String(state.lag_ms), "aria-label": "Lag in milliseconds" });
  const cut = input({ placeholder: "us-east-1 eu-west-1", value: state.partitions.map((p) => p.join(" ")).join(", "), "aria-label": "Regions that are cut off" });
  return [found.length ? plainTable("Replicas", [["Table"], ["Regions"]], found) : h("p.quiet", "No table of this namespace is global."),
    state.queues.length ? plainTable("What waits", [["From"], ["To"], ["Changes", "number"]], state.queues.map((q) => [q.from, q.to, number(q.changes)])) : null,
    h("div.fields", field("Lag, ms", ms), field("Cut off, pairs of regions", cut)),
    h("div.row", button("Set", async () => {
      await control("PUT", "replication", { lag_ms: Number(ms.value), partitions: cut.value.split(",").map((p) => p.trim().split(/\s+/)).filter((p) => p.length === 2) });
      await reload();
    }), button("Heal all", async () => { await control("DELETE", "replication"); await reload(); }))];
});

/** The table that a form is about. */
async function tableChoice() {
  const names = await listTables();
  return select(names, names[0], undefined, { "aria-label": "Table" });
}

const backups = () => card("Backups", async (reload) => {
  const rows = await all("ListBackups", "BackupSummaries", ["LastEvaluatedBackupArn", "ExclusiveStartBackupArn"]), table = await tableChoice(), name = input({ placeholder: "name", "aria-label": "Name of the backup" });
  const restore = (/** @type {Backup} */ b) => {
    const target = input({ value: `${b.TableName}-restored`, "aria-label": "New table" });
    fill(form, h("div.row", target, button(`Restore ${b.BackupName}`, async () => { await api("RestoreTableFromBackup", { BackupArn: b.BackupArn, TargetTableName: target.value }); note(`Restoring into ${target.value}`); fill(form); })));
    target.focus();
  }, form = h("div");
  return [rows.length ? plainTable("Backups", [["Name"], ["Table"], ["Made", "tight"], ["Status"], [""]], rows.map((b) => [b.BackupName, b.TableName, moment(b.BackupCreationDateTime), b.BackupStatus,
    h("div.row", button("Restore", () => restore(b), "small"), button("Delete", async () => { await api("DeleteBackup", { BackupArn: b.BackupArn }); await reload(); }, "small"))])) : h("p.quiet", "There are no backups."), form,
  h("div.row", table, name, button("Back up", async () => { await api("CreateBackup", { TableName: table.value, BackupName: name.value.trim() }); await reload(); }))];
});

const exports_ = () => card("Exports and imports", async (reload) => {
  const out = (await all("ListExports", "ExportSummaries", ["NextToken", "NextToken"])), into = (await all("ListImports", "ImportSummaryList", ["NextToken", "NextToken"]));
  const table = await tableChoice(), bucket = input({ placeholder: "bucket", "aria-label": "Bucket" });
  const tableOf = (/** @type {string} */ arn) => arn.split("/")[1] ?? "";
  return [out.length + into.length ? plainTable("Exports and imports", [["What"], ["Table"], ["Status"]], [...out.map((e) => ["export", tableOf(e.ExportArn), e.ExportStatus]), ...into.map((i) => ["import", tableOf(i.ImportArn), i.ImportStatus])])
    : h("p.quiet", "There are none. A server with --s3 can export tables with recovery."),
  h("div.row", table, bucket, button("Export", async () => {
    const { Table } = await api("DescribeTable", { TableName: table.value });
    await api("UpdateContinuousBackups", { TableName: table.value, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
    await api("ExportTableToPointInTime", { TableArn: Table.TableArn, S3Bucket: bucket.value.trim() });
    await reload();
  }))];
});

/** @param {HTMLElement} main @param {Parts} parts @returns {Promise<End>} */
export async function show(main, [tab]) {
  const grid = (/** @type {(() => HTMLElement)[]} */ ...cards) => () => h("div.cards", cards.map((make) => make()));
  const views = tabs("Control", [["State", grid(clock, checkpoints, snapshots, clones, namespaces)], ["Faults and limits", grid(faults, throughput, lag, conflicts)],
    ["Backups, exports, replicas", grid(backups, exports_, replicas)], ["Insight", () => insight()]], tab, (name) => stay("control", name));
  views.classList.add("fill", "padded");
  const call = h("code", { tabIndex: 0, role: "region", "aria-label": "The last change as an HTTP call" });
  const said = h("span.quiet", "What you change here is shown in this line as a call"), copies = h("button.small", { type: "button", disabled: true, onclick: () => copy(call.textContent ?? "") }, "Copy the call");
  const line = h("div.tools.thin.call", said, call, copies);
  tellChanges((command) => {
    said.textContent = "The last change";
    call.textContent = command;
    copies.disabled = false;
  });
  main.append(h("h1.hidden", "Control"), line, views);
  return () => tellChanges(null);
}
