"""Each row of server/command/commands.def: its help, its exit statuses; and ended by both signals, in every state that it can wait or work in."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request

from broken import STALLS, Between
from harness import BINARY, ROOT, Server, is_running, key, of_files, open_files_of, run, sizes_in, until

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"))
TARGETS = FOLDER / "targets"
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143}
LONG = ["--timeout", "3600"]  # so that nothing but the signal ends them
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_tables", "arguments": {}}}) + "\n"
RECORDING = FOLDER / "recording"
PLAN = pathlib.Path(__file__).with_name("forecast") / "date-key.json"
SILENCE = STALLS["silence"][0]

# By row of commands.def: how the command is called for a server, if it speaks to one, and the states that it has beside those of a connection.
# In a command, URL is the server's, PORT its port, TARGET a name in an empty folder.
COMMANDS = {
    "apply": (["apply", FOLDER / "app.json", "--endpoint", "URL", *LONG], ["second"]),
    "backup": (["backup", "URL", "TARGET", *LONG], ["file", "second"]),
    "check": (["check", "URL", *LONG], ["file", "repair"]),
    "completion": (None, []),
    "config": (None, []),
    "copy": (["copy", "--from", "URL", "--to", "sqlite:TARGET", *LONG], ["file", "second"]),
    "diff": (None, ["pipe"]),
    "dump": (["dump", "URL", "TARGET", *LONG], ["second"]),
    "explain": (["explain", "Scan", '{"TableName": "app"}', "--access-key", "a", "--endpoint", "URL", *LONG], []),
    "forecast": (None, []),
    "health": (["health", "--port", "PORT", *LONG], []),
    "help": (None, []),
    "load": (["load", "URL", FOLDER / "dump", *LONG], ["second"]),
    "mcp": (["mcp", "--endpoint", "URL", *LONG], ["idle", "own"]),
    "pull": (["pull", "--table", "app", "--to", "TARGET", "--unknown", "keep", "--yes", "--endpoint", "URL", *LONG], []),
    "races": (None, []),
    "replay": (["replay", RECORDING, "--endpoint", "URL", *LONG], ["pipe", "second"]),
    "report": (["report", "URL", "--output", "TARGET", *LONG], ["pipe"]),
    "rollouts": (None, []),
    "version": (None, []),
}


def races_on(twin):
    return [sys.executable, pathlib.Path(__file__).with_name("races_program.py"), "counter", twin]


def filled(words, url):
    return [str(w).replace("URL", url).replace("PORT", url.rpartition(":")[2]).replace("TARGET", str(TARGETS / "file")) for w in words]


def ends(words, is_ready, number):
    """The command ends by the signal, once is_ready(process) says that it is where it should be, and leaves nothing behind."""
    shutil.rmtree(TARGETS, ignore_errors=True)
    TARGETS.mkdir()
    process = subprocess.Popen([BINARY, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(TARGETS)})
    try:
        if words[0] == "mcp":
            process.stdin.write(CALL.encode())
            process.stdin.flush()
        until(lambda: is_ready(process) or process.poll() is not None, words)
        process.send_signal(number)
        process.wait(60)  # not communicate(), which ends the input
    finally:
        process.kill()
        _, problem = process.communicate()
    left = [path.name for path in TARGETS.iterdir()]
    if words[0] == "backup" and left == ["file"]:  # it got its name before the signal came: it is whole
        assert subprocess.run([BINARY, "check", TARGETS / "file"], capture_output=True).returncode == 0
        left = []
    assert process.returncode == SIGNALS[number] and not left, (words, process.returncode, problem, left)


def every_command_is_here():
    """The walk is whole: a new command has no way round it."""
    rows = re.findall(r'^COMMAND\("(\w+)", \w+,', (ROOT / "server/command/commands.def").read_text(), re.M)
    assert sorted(rows) == sorted(COMMANDS), (rows, list(COMMANDS))
    text = subprocess.run([BINARY, "--help"], capture_output=True, text=True, check=True).stdout
    assert sorted(set(re.findall(r"^ +dynalith (\w+)", text, re.M))) == sorted(COMMANDS), text
    for name, (words, _) in COMMANDS.items():
        assert not words or ("--timeout" in words and subprocess.run([BINARY, *filled(words, "http://127.0.0.1:1"), "--timeout", "x"],
                                                                     capture_output=True).returncode != 0), name


def said(*words):
    return subprocess.run([BINARY, *words], capture_output=True, text=True)


def help_is_whole():
    """Each command and each subject has a page of at most 80 columns, by either way of asking; what is mistyped is suggested."""
    subjects = re.findall(r'^GROUP\("(\w+)"', (ROOT / "server/start/options.def").read_text(), re.M)
    flags = re.findall(r'"(--[\w-]+)", "DYNALITH_', (ROOT / "server/start/options.def").read_text())
    for words in (["help"], ["--help"], *(["help", topic] for topic in (*COMMANDS, *subjects, "status"))):
        page = said(*words)
        wide = [line for line in page.stdout.splitlines() if len(line) > 80 and "-Djava" not in line]
        assert page.returncode == 0 and not page.stderr and len(page.stdout) > 80 and not wide, (words, page, wide)
    assert said("help").stdout == said("-h").stdout and len(said("help").stdout.splitlines()) <= 45
    assert said("version").stdout == said("-V").stdout == said("--version").stdout
    every = said("--help").stdout
    assert len(flags) > 60 and all(f"\n  {flag}" in every for flag in flags) and all(flag in "".join(said("help", subject).stdout for subject in subjects) for flag in flags)
    for name in COMMANDS:
        page = said("help", name).stdout
        examples = page.partition("examples:\n")[2].splitlines()
        assert page == said(name, "--help").stdout == said(name, "-h").stdout and page.startswith(f"usage: dynalith {name}"), (name, page)
        assert examples and all("dynalith " in line for line in examples), (name, page)
        assert page.splitlines()[0].count("[OPTION]") <= 1, page
    for words, meant in ((["reprot"], "report"), (["--prot", "1"], "--port"), (["help", "limts"], "limits"), (["help", "statsu"], "status"), (["help", "aply"], "apply")):
        wrong = said(*words)
        assert wrong.returncode == 2 and not wrong.stdout and f"did you mean {meant}?" in wrong.stderr and wrong.stderr.count("\n") == 1, (words, wrong)
    assert said("help", "nope").stderr == "dynalith: no help about nope\ndynalith help lists commands and subjects\n"


def statuses():
    """Each command ends with 0, 1, 2 and 3 by exit_status.def's rule; where one cannot, it is not here. What signals do is below."""
    server = Server("--insight", "on", disk=True)
    fill(server.client())
    server.client().scan(TableName="app")
    file, damaged, other, wrong = FOLDER / "sound.db", FOLDER / "damaged.db", FOLDER / "other.jsonl", FOLDER / "wrong.json"
    assert said("backup", server.url, file).returncode == 0
    whole = bytearray(file.read_bytes())
    whole[4096 + 100] ^= 1
    damaged.write_bytes(whole)
    other.write_text(RECORDING.read_text().replace('"app"', '"other"'))
    wrong.write_text('{"port": "x"}')
    (FOLDER / "right.json").write_text('{"port": 1}')
    (FOLDER / "dump").unlink(missing_ok=True)
    policies = FOLDER / "policies.json"
    allowed = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "dynamodb:Scan", "Resource": "*"}}
    policies.write_text(json.dumps({"principals": [{"access_key": "a", "arn": "arn:aws:iam::000000000000:user/a", "identity": allowed}]}))
    scan = ["Scan", '{"TableName": "app"}', "--access-key", "a"]
    url, none, found = server.url, "http://127.0.0.1:1", FOLDER / "none"
    port = url.rpartition(":")[2]
    pulled = ["--table", "app", "--unknown", "keep", "--yes", "--endpoint", url]
    cases = {
        "apply": {0: [FOLDER / "app.json", "--endpoint", url], 1: [found, "--endpoint", url], 2: []},
        "backup": {0: [url, FOLDER / "copy.db"], 1: [damaged, FOLDER / "not.db"], 2: [url]},
        "check": {0: [file], 1: [found], 2: ["--repair"], 3: [damaged]},
        "completion": {0: ["bash"], 2: ["tcsh"]},
        "config": {0: ["check", FOLDER / "right.json"], 1: ["check", found], 2: ["chek"], 3: ["check", wrong]},
        "copy": {0: ["--from", f"sqlite:{file}", "--to", f"sqlite:{FOLDER}/to.db"], 1: ["--from", f"sqlite:{found}", "--to", f"sqlite:{FOLDER}/not.db"],
                 2: ["--from", "mysql:x", "--to", f"sqlite:{FOLDER}/not.db"], 3: ["--from", f"sqlite:{file}", "--to", f"sqlite:{FOLDER}/empty.db", "--compare"]},
        "diff": {0: [RECORDING, RECORDING], 1: [RECORDING, found], 2: [RECORDING], 3: [RECORDING, other]},
        "dump": {0: [url, FOLDER / "dump"], 1: [url, FOLDER / "dump"], 2: [url]},
        "explain": {0: [*scan, "--policies", policies], 1: [*scan, "--endpoint", none], 2: ["Scan"], 3: ["PutItem", '{"TableName": "app", "Item": {"pk": {"S": "a"}}}',
                    "--access-key", "a", "--policies", policies]},
        "forecast": {0: [PLAN, "--days", "1"], 1: [found], 2: [], 3: [PLAN, "--days", "1", "--fail-on", "throttles>0"]},
        "health": {0: ["--port", port], 1: ["--port", "1"], 2: ["--prot", "1"]},
        "help": {0: ["status"], 2: ["nothing"]},
        "load": {0: [url, FOLDER / "dump"], 1: [none, FOLDER / "dump"], 2: [url]},
        "mcp": {0: ["--endpoint", url], 1: ["--", "--no-such"], 2: ["--no-such"]},
        "pull": {0: [*pulled, "--to", FOLDER / "pulled.db"], 1: [*pulled, "--to", FOLDER / "app.json"], 2: ["--table", "app"]},
        "races": {0: ["--budget", "3", "--", *races_on("right")], 1: ["--", "false"], 2: ["--"], 3: ["--budget", "40", "--out", FOLDER / "races", "--", *races_on("wrong")]},
        "replay": {0: [RECORDING, "--endpoint", url], 1: [RECORDING, "--endpoint", none], 2: [], 3: [other, "--endpoint", url]},
        "report": {0: [url], 1: [none], 2: [url, "--fail-on", "no-such-rule"], 3: [url, "--fail-on", "scan"]},
        "rollouts": {0: [], 2: ["more"]},
        "version": {0: [], 2: ["more"]},
    }
    assert sorted(cases) == sorted(COMMANDS), sorted(cases)
    empty = Server(disk=True)
    empty.process.terminate()
    empty.process.wait(60)
    shutil.copy(f"{empty.folder}/data.db", FOLDER / "empty.db")
    known = dict(re.findall(r"EXIT_STATUS\(\w+, (\d+), \"([^\"]*)\"", (ROOT / "server/command/exit_status.def").read_text()))
    finders = {name for name in cases if re.search(rf"\b{name}\b", known["3"])}
    for name, by_status in cases.items():
        assert (3 in by_status) == (name in finders), (name, finders)
        for status, words in by_status.items():
            done = subprocess.run([BINARY, name, *map(str, words)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
            assert done.returncode == status and (done.stderr or status not in (1, 2)), (name, words, status, done)
    server.stop()
    (FOLDER / "dump").write_bytes(b"")
    for words, status in ((["--no-such"], 2), (["--config", str(wrong)], 2), (["--in-memory", "--host", "192.0.2.1", "--port", "0"], 1), (["reprot"], 2)):
        done = said(*words)
        assert done.returncode == status and done.stderr.count("\n") == 1, (words, done)
    pages = said("help", "status").stdout, said("--help").stdout
    manual, reference = (ROOT / "docs/dynalith.1").read_text(), (ROOT / "docs/reference/commands.md").read_text()
    for number, text in known.items():
        assert all(f"\n  {number} " in page for page in pages) and f"| {number} | {text} |" in reference and f".TP\n{number}\n" in manual, number


def completions():
    """What bash offers behind a command, and that the shells which are here take the text."""
    text = said("completion", "bash").stdout
    def offered(*words):
        script = f"{text}\nCOMP_WORDS=(dynalith {' '.join(words)}); COMP_CWORD={len(words)}; _dynalith; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert offered("re") == ["replay", "report"] and offered("--in") == ["--in-memory", "--init", "--index-lag", "--insight"], (offered("re"), offered("--in"))
    assert offered("apply", "--t") == ["--table", "--tls-ca", "--timeout"] and offered("diff", "--") == []
    for shell in ("zsh", "fish"):
        script = said("completion", shell).stdout
        assert "dynalith" in script
        if shutil.which(shell):
            subprocess.run([shell, "-n", "-c", script], check=True)
    assert said("completion", "tcsh").returncode == said("completion").returncode == 2


def in_a_queue(state=None):
    """Nobody accepts the connection."""
    with socket.socket() as full, contextlib.ExitStack() as stack:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(10):
            waiting = stack.enter_context(socket.socket())
            waiting.settimeout(0.3)
            try:
                waiting.connect(full.getsockname())
            except TimeoutError:
                waiting.close()
                break
        port = full.getsockname()[1]
        is_connecting = lambda process: f":{port:04X} 02 " in pathlib.Path(f"/proc/{process.pid}/net/tcp").read_text()  # SYN_SENT
        for name, (words, _) in COMMANDS.items():
            for number in SIGNALS:
                if words:
                    ends(filled(words, f"http://127.0.0.1:{port}"), is_connecting, number)


def before_an_answer():
    """The server is silent: at the first request, and where there are several, at the second. A dump leaves no snapshot on the server."""
    server = Server("--insight", "on", disk=True)
    client = server.client()
    fill(client)
    (FOLDER / "dump").unlink()
    subprocess.run([BINARY, "dump", server.url, FOLDER / "dump"], check=True)
    between = Between(server.url)
    for name, (words, states) in COMMANDS.items():
        for at in range(words is not None, 1 + (words is not None) + ("second" in states)):
            for number in SIGNALS:
                between.spoil_with(SILENCE, at - 1, is_asked=False)
                if words:
                    ends(filled(words, between.url), lambda process, at=at: between.count >= at, number)
    with urllib.request.urlopen(f"{server.url}/_dynalith/snapshots") as reply:
        assert json.load(reply)["snapshots"] == [], "a dump left its snapshot"
    server.stop()


def fill(client):
    client.create_table(TableName="app", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], KeySchema=key("pk"), BillingMode="PAY_PER_REQUEST")
    client.put_item(TableName="app", Item={"pk": {"S": "0"}})


def in_the_middle_of_an_input():
    """A pipe that gives half of it."""
    for name, words, content in (("replay", ["replay", "PIPE", "--endpoint", "http://127.0.0.1:1"], RECORDING.read_text().splitlines(True)[0]),
                                 ("report", ["report", "PIPE"], '{"patterns":['), ("diff", ["diff", RECORDING, "PIPE"], RECORDING.read_text())):
        assert "pipe" in COMMANDS[name][1]
        for number in SIGNALS:
            pipe = FOLDER / "pipe.json"
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
            writer = os.open(pipe, os.O_RDWR)
            os.write(writer, content.encode())
            ends([str(word).replace("PIPE", str(pipe)) for word in words],
                 lambda process: str(pipe) in open_files_of(process.pid), number)
            os.close(writer)
    assert sorted(n for n, (_, states) in COMMANDS.items() if "pipe" in states) == ["diff", "replay", "report"]


def an_agent_waits():
    """mcp between two calls, and with a server of its own, which ends with it."""
    server = Server()
    children = lambda process: pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for number in SIGNALS:
        ends(["mcp", "--endpoint", server.url], lambda process: process.stdout.readline(), number)
        found = []

        def is_ready(process):
            process.stdout.readline()
            found[:] = children(process)
            return found

        ends(["mcp", "--", "--in-memory"], is_ready, number)
        until(lambda: not is_running(int(found[0])), "the server of its own ends")
    server.stop()


@of_files
def in_the_middle_of_a_file():
    """A data file of 30 MB is checked, repaired, backed up and copied."""
    server = Server("--s3", "s3", disk=True)
    client = server.client()
    bucket = pathlib.Path(server.folder, "s3", "bucket")
    bucket.mkdir(parents=True)
    (bucket / "items").write_text("".join(f'{{"Item":{{"pk":{{"S":"{i}"}},"text":{{"S":"{"x" * 1000}"}}}}}}\n' for i in range(30000)))
    made = client.import_table(S3BucketSource={"S3Bucket": "bucket"}, InputFormat="DYNAMODB_JSON", TableCreationParameters={
        "TableName": "app", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": key("pk"), "BillingMode": "PAY_PER_REQUEST"})
    arn = made["ImportTableDescription"]["ImportArn"]
    until(lambda: client.describe_import(ImportArn=arn)["ImportTableDescription"]["ImportStatus"] == "COMPLETED", "the import ends")
    server.process.send_signal(signal.SIGTERM)
    server.process.wait()
    path = pathlib.Path(server.folder, "data.db")
    is_open = lambda process: str(path) in open_files_of(process.pid)
    is_begun = lambda process: any(sizes_in(TARGETS).values())
    whole = path.read_bytes()
    for number in SIGNALS:
        ends(["check", str(path)], is_open, number)
        ends(filled(["backup", path, "TARGET"], ""), is_begun, number)
        ends(filled(["copy", "--from", f"sqlite:{path}", "--to", "sqlite:TARGET"], ""), is_begun, number)
    hole = len(whole) // 2 // 4096 * 4096
    path.write_bytes(whole[:hole] + b"\xff" * 4096 + whole[hole + 4096:])
    # With a SQLite that is too old a file has a mark while it is open (docs/install.md), and keeps it where the process was ended.
    mark = "data.db-mark"
    files = lambda: {p.name: p.read_bytes() for p in path.parent.iterdir() if p.is_file() and p.stat().st_size > 0 and p.name != mark}
    before = files()
    for number in SIGNALS:
        ends(["check", str(path), "--repair"], lambda process: set(os.listdir(path.parent)) - set(before) - {"s3", mark, "data.db-wal", "data.db-shm"}, number)
        after = files()
        assert after == before, {n: (len(after.get(n, "")), len(before.get(n, ""))) for n in {*after, *before} if after.get(n) != before.get(n)}
    assert sorted(n for n, (_, states) in COMMANDS.items() if "file" in states) == ["backup", "check", "copy"]


try:
    lines = [{"start_us": 10 * i, "end_us": 10 * i + 1, "operation": "ListTables", "status": 200, "request": {}, "response": {"TableNames": ["app"]}} for i in range(3)]
    RECORDING.write_text("".join(json.dumps(line) + "\n" for line in [{"dynalith_recording": 1, "values": "open"}, *lines]))
    (FOLDER / "app.json").write_text('{"TableName": "app", "Item": {"pk": {"S": "1"}}}\n')
    (FOLDER / "dump").write_bytes(b"")
    run("commands", [every_command_is_here, help_is_whole, statuses, completions, in_a_queue, before_an_answer, in_the_middle_of_an_input, an_agent_waits, in_the_middle_of_a_file])
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
