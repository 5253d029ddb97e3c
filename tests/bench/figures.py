"""The tables and plots of docs/performance.md, made of docs/images/figures.json, which `make bench ARGS=--record` writes."""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plots  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIVALS = ("dynoxide", "DynamoDB Local")


def recorded():
    return json.loads((ROOT / "docs/images/figures.json").read_text())


def workloads(record):
    """Those of the closed loops at the most connections, in their order."""
    end = f"/{record['connections']}"
    return [key[:-len(end)] for key in record["figures"]["dynalith memory"] if key.endswith(end) and record["connections"]]


def names(record, kind):
    return [s["name"] for s in record["servers"] if s["kind"] == kind]


def figure(record, server, workload, what):
    return record["figures"].get(server, {}).get(f"{workload}/{record['connections']}", {}).get(what)


def cell(record, kind, workload):
    """Of ours, and how many times less the rivals of the kind."""
    ours = next(n for n in names(record, kind) if n.startswith("dynalith"))
    cpu, rps = figure(record, ours, workload, "cpu_us"), figure(record, ours, workload, "rps")
    parts = [f"{rps:,.0f}, {cpu:,.1f}"] if cpu else ["-"]
    for rival in RIVALS:
        name = next((n for n in names(record, kind) if n.startswith(rival)), None)
        theirs = name and figure(record, name, workload, "cpu_us")
        parts.append(f"{theirs / cpu:.1f}" if cpu and theirs else "-")
    return " | ".join(parts)


def compared(record):
    lines = ["| | in memory: requests/s, CPU us | dynoxide | DynamoDB Local | on disk: requests/s, CPU us | dynoxide | DynamoDB Local |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    lines += [f"| {w} | {cell(record, 'memory', w)} | {cell(record, 'disk', w)} |" for w in workloads(record)]
    return lines


def open_loops(record):
    keys = [key for key in record["figures"]["dynalith memory"] if "a second" in key]
    lines = [f"| {record['rate']:,} requests a second | server | p50 us | p99 us | p99.9 us |", "| --- | --- | ---: | ---: | ---: |"] if keys else []
    for key in keys:
        for server in record["servers"]:
            row = record["figures"][server["name"]].get(key)
            if row:
                lines.append(f"| {key.split(',')[0]} | {server['name']} | {row['p50_us']:,.0f} | {row['p99_us']:,.0f} | {row['p999_us']:,.0f} |")
    return lines


def bare(record):
    """What of a request is the kernel's, the library's and ours."""
    ours, library, kernel = (figure(record, n, "GetItem", "cpu_us") for n in ("dynalith memory", "bare libmicrohttpd", "bare epoll"))
    if not (ours and library and kernel):
        return []
    return [f"A reply of 300 bytes took {kernel:.1f} us of CPU by epoll alone, {library:.1f} us by libmicrohttpd; GetItem {ours:.1f} us, "
            f"{ours / library:.1f} times libmicrohttpd's and {ours / kernel:.1f} times that of epoll alone."]


def text(record):
    starts = [f"{s['name']} {record['figures'][s['name']]['start_ms/0']['value']:,.1f} ms and {record['figures'][s['name']]['idle_rss_mb/0']['value']:,.1f} MB"
              for s in record["servers"] if s["kind"] != "bare"]
    return "\n".join([
        f"{record['date']}, {record['machine']}, shared with the load generator; {record['connections']} connections, medians of {record['rounds']} round{'s' if record['rounds'] > 1 else ''}. "
        "The columns of rivals say how many times our CPU per request theirs is.", "", *compared(record), "",
        "![CPU per request in memory](images/bench-memory.svg)", "", "![CPU per request on disk](images/bench-disk.svg)", "",
        *bare(record), f"Start to first answer and idle RSS: {', '.join(starts)}.", "",
        "Latencies where requests are due at a fixed rate, whether or not earlier ones are answered, counted from when they were due:", "",
        *open_loops(record), "", "![p99 at a fixed rate](images/bench-latency.svg)", "", *goals(record)])


def goals(record):
    first, *missed = record["targets"]
    return [f"Goals {first}." + (" Not reached:" if missed else ""), "", *["- " + line.strip().removeprefix("not reached: ") for line in missed]]


def pictures(record):
    """Names of files and what is in them."""
    made = {}
    for kind, title in (("memory", "in memory"), ("disk", "on disk")):
        servers = names(record, kind) + (names(record, "bare") if kind == "memory" else [])
        groups = [(w, [(s, figure(record, s, w, "cpu_us")) for s in servers if figure(record, s, w, "cpu_us")]) for w in workloads(record)]
        made[f"bench-{kind}.svg"] = plots.picture(f"CPU per request {title}, microseconds; lengths are logarithmic", groups)
    keys = [key for key in record["figures"]["dynalith memory"] if "a second" in key]
    groups = [(key.split(",")[0], [(s["name"], record["figures"][s["name"]][key]["p99_us"]) for s in record["servers"] if key in record["figures"][s["name"]]])
              for key in keys]
    if groups:
        made["bench-latency.svg"] = plots.picture(f"p99 at {record['rate']:,} requests a second, microseconds; lengths are logarithmic", groups)
    return made
