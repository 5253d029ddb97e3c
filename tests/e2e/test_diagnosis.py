"""What the server tells of itself: crashes, logs, slow requests, metrics; and what it never tells."""
import hashlib
import hmac
import json
import math
import os
import pty
import re
import signal
import tempfile

import raw
from harness import DATABASE, Server, create_app, of_files, raises, run

SECRET = "sEcReTsEcReT+never/logged"
TOKEN = "tOkEnToKeN+never/logged"
MARK = "MARK-of-an-item-never-logged"


def end(server):
    """Its log, once it has ended."""
    server.process.terminate()
    text = server.process.communicate(timeout=120)[1].decode()
    assert server.process.returncode == 0, (server.process.returncode, text)
    return text


def parse_logfmt(line):
    pair = r'(\w+)=("(?:[^"\\]|\\.)*"|[^ "=\\]+)'
    assert re.fullmatch(rf"{pair}(?: {pair})*", line), line
    return {k: json.loads(v) if v[0] == '"' else v for k, v in re.findall(pair, line)}


def crash_leaves_a_stack():
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
        server = Server("--log-level", "info")
        # Its threads are there: in one that just begins, TSan itself falls over any signal.
        assert b"is ready" in server.process.stderr.readline()
        server.process.send_signal(number)
        text = server.process.communicate(timeout=120)[1].decode()
        assert f"dynalith: crashed by {signal.Signals(number).name}; request none; stack:\n" in text, text
        assert len(re.findall(r"^\S+\(.*\)\[0x[0-9a-f]+\]$", text, re.M)) >= 3, text  # of whichever thread got the signal
        assert server.process.returncode == -number or b"Sanitizer" in text.encode(), (server.process.returncode, text)


def every_request_at_debug():
    for form, parse in (("logfmt", parse_logfmt), ("json", json.loads)):
        server = Server("--log-level", "debug", "--log-format", form)
        client = server.client()
        create_app(client)
        raises("ResourceNotFoundException", client.get_item, TableName="nope", Key={"PK": {"S": "a"}})
        wanted = raises.response["ResponseMetadata"]["RequestId"]
        raw.ask(server, b"POST / HTTP/1.1\r\nHost: x\r\nX-Amz-Target: DynamoDB_20120810.Nope\"\\\r\n\r\n")
        lines = [parse(line) for line in end(server).splitlines()]
        assert all({"time", "level", "msg"} <= line.keys() for line in lines), lines
        requests = [line for line in lines if line["msg"] == "request"]
        (got,) = [line for line in requests if line["request"] == wanted]
        assert (got["level"], got["operation"], str(got["status"]), got["error"]) == ("debug", "GetItem", "400", "ResourceNotFoundException"), got
        assert float(got["ms"]) >= 0
        created = next(line for line in requests if line.get("operation") == "CreateTable")
        assert str(created["status"]) == "200" and "error" not in created
        assert any(line.get("error") == "UnknownOperationException" for line in requests)


def levels():
    def messages(level):
        server = Server("--log-level", level)
        server.client().list_tables()
        return end(server)
    assert "is ready" in messages("info") and "msg=request" not in messages("info")
    assert messages("error") == ""


def the_first_line_tells_all():
    """Where to go, what to sign with, where the data is, how to end it."""
    for form, parse in (("logfmt", parse_logfmt), ("json", json.loads)):
        for flags, disk, auth, words in (((), True, "open", "any access key"), (("--auth", "off"), False, "off", "no signature"),
                                         (("--host", "0.0.0.0"), False, "open", "any access key")):
            server = Server("--log-level", "info", "--log-format", form, *flags, disk=disk)
            line = parse(server.process.stderr.readline().decode().rstrip())
            host = "localhost" if "--host" in flags else "127.0.0.1"
            assert (line["url"], line["auth"]) == (f"http://{host}:{server.port}", auth), line
            where = DATABASE.split("@")[0] if DATABASE else os.path.realpath(f"{server.folder}/data.db") if disk else "memory"
            assert line["data"].startswith(where) if DATABASE else line["data"] == where, line
            assert line["level"] == "info" and words in line["msg"] and "Ctrl-C" in line["msg"], line
            assert line.get("host") == ("0.0.0.0" if "--host" in flags else None), line
            server.stop()


def plain_lines_on_a_terminal():
    """A person gets the address, the data, the keys and a command to paste; a log in JSON stays one."""
    for form, last in (("logfmt", r"aws dynamodb list-tables .*\n"), ("json", r"\n")):
        terminal, other_end = pty.openpty()
        on_terminal = f"exec 2> {os.ttyname(other_end)}"
        server = Server("--log-level", "info", "--log-format", form, before=on_terminal)
        text = ""
        while not re.search(last, text):
            text += os.read(terminal, 4096).decode().replace("\r", "")
        if form == "json":
            assert json.loads(text.splitlines()[0])["url"] == server.url, text
        else:
            lines = text.splitlines()
            assert len(lines) == 5 and "time=" not in text, text
            assert f"  URL   {server.url} " in text and re.search("^  Data  .", text, re.M), text
            assert "any access key and secret will do" in text, text
            command = f"^  Try   AWS_ACCESS_KEY_ID=.* aws dynamodb .* --endpoint-url {server.url}$"
            assert re.search(command, text, re.M), text
        server.stop()
        os.close(terminal)
        os.close(other_end)


def servers_that_refuse_all_say_so():
    for words, warnings in ((("--auth", "verify"), 1), (("--iam", "enforce"), 1), (("--auth", "verify", "--iam", "enforce"), 2), (("--iam", "report"), 0)):
        server = Server(*words)
        lines = [line for line in end(server).splitlines() if "level=warn" in line]
        assert len(lines) == warnings and all("refuses" in line for line in lines), (words, lines)


def unknown_variables_are_noticed():
    """A variable that is no option would be passed over without a word otherwise."""
    variables = {"DYNALITH_IN_MEMROY": "true", "DYNALITH_COLOUR": "green", "DYNALITH_PROT": "", "dynalith_port": "1", "DYNALITH_CONFIG_": "x",
                 "DYNALITH_PORT": "tcp://10.0.0.1:8000", "DYNALITH_PORT_8000_TCP": "tcp://10.0.0.1:8000", "DYNALITH_SERVICE_HOST": "10.0.0.1"}
    for level, form in (("warn", "logfmt"), ("warn", "json"), ("error", "json")):
        server = Server("--log-level", level, "--log-format", form, environment=variables)
        lines = end(server).splitlines()
        assert all(json.loads(line)["level"] == "warn" for line in lines) if form == "json" else all("level=warn" in line for line in lines), lines
        named = {v: line for v in variables for line in lines if v + " " in line}
        assert len(lines) == (0 if level == "error" else 4), lines
        if level == "warn":
            assert set(named) == {"DYNALITH_IN_MEMROY", "DYNALITH_COLOUR", "DYNALITH_PROT", "DYNALITH_CONFIG_"}, named
            assert "did you mean DYNALITH_IN_MEMORY?" in named["DYNALITH_IN_MEMROY"] and "did you mean DYNALITH_PORT?" in named["DYNALITH_PROT"], named
            assert "did you mean DYNALITH_CONFIG?" in named["DYNALITH_CONFIG_"] and "did you mean" not in named["DYNALITH_COLOUR"], named


def slow_requests():
    server = Server("--log-slow-ms", "1")
    client = server.client()
    create_app(client)
    client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": {"PK": {"S": str(i)}, "SK": {"S": "x"}, "body": {"S": "y" * 300_000}}}} for i in range(25)]})
    slow = [parse_logfmt(line) for line in end(server).splitlines()]
    assert any(line["msg"] == "slow request" and line["level"] == "warn" and line["operation"] == "BatchWriteItem" and float(line["ms"]) > 1 for line in slow), slow
    server = Server("--log-slow-ms", "0")
    create_app(server.client())
    assert end(server) == ""


@of_files
def failures_are_errors():
    """A file that may not grow: the client reads nothing of the cause, the operator does."""
    server = Server(disk=True, before='trap "" XFSZ; ulimit -f 4000')
    client = server.client()
    create_app(client)
    failure = None
    for i in range(200):
        try:
            client.put_item(TableName="app", Item={"PK": {"S": MARK}, "SK": {"S": str(i)}, "body": {"S": "y" * 200_000}})
        except client.exceptions.InternalServerError as e:
            failure = e
            break
    assert failure and failure.response["Error"]["Message"] == "Internal server error", failure
    server.process.terminate()
    lines = [parse_logfmt(line) for line in server.process.communicate(timeout=120)[1].decode().splitlines() if line.startswith("time=")]
    errors = [line for line in lines if line["level"] == "error" and line.get("operation") == "PutItem"]
    assert any(line["request"] == failure.response["ResponseMetadata"]["RequestId"] and line["problem"] for line in errors), lines
    assert not any(MARK in json.dumps(line) for line in lines)


def secrets_are_never_logged():
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config:
        json.dump({"auth": "verify", "log.level": "debug", "log.slow_ms": 1,
                   "credentials": [{"access_key_id": "alice", "secret_access_key": SECRET, "session_token": TOKEN}]}, config)
        config.flush()
        server = Server("--config", config.name, "--log-level", "debug")
    signatures = []
    client = server.client("alice", SECRET, token=TOKEN)
    client.meta.events.register("before-send.dynamodb.*", lambda request, **kw: signatures.append(re.search(r"Signature=(\w+)", request.headers["Authorization"].decode()
                                if isinstance(request.headers["Authorization"], bytes) else request.headers["Authorization"]).group(1)))
    create_app(client)
    item = {"PK": {"S": MARK}, "SK": {"S": MARK}, "secret": {"S": MARK}}
    client.put_item(TableName="app", Item=item)
    client.scan(TableName="app", FilterExpression="secret = :m", ExpressionAttributeValues={":m": {"S": MARK}})
    client.execute_statement(Statement=f"SELECT * FROM app WHERE PK = '{MARK}'")
    raises("ValidationException", client.execute_statement, Statement=f"SELECT {MARK} FRM '{MARK}'")
    raises("ValidationException", client.put_item, TableName="app", Item={"PK": {"S": MARK}})
    raises("ValidationException", client.put_item, TableName="app", Item={**item, "n": {"N": MARK}})
    raises("ConditionalCheckFailedException", client.put_item, TableName="app", Item=item, ConditionExpression="attribute_not_exists(PK)")
    raises("TransactionCanceledException", client.transact_write_items, TransactItems=[
        {"Put": {"TableName": "app", "Item": item, "ConditionExpression": "attribute_not_exists(PK)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}])
    raises("InvalidSignatureException", server.client("alice", SECRET + "x", token=TOKEN).list_tables)
    raises("UnrecognizedClientException", server.client("alice", SECRET, token=TOKEN + "x").list_tables)
    raises("UnrecognizedClientException", server.client("alice", SECRET).list_tables)
    raw.ask(server, raw.request("PutItem", b'{"TableName":"app","Item":' + MARK.encode()))
    raw.ask(server, b"POST /?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=" + MARK.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")
    raw.ask(server, b"GET /" + MARK.encode() + b" HTTP/1.1\r\nHost: " + MARK.encode() + b"\r\nX-Amz-Security-Token: " + TOKEN.encode() + b"\r\n\r\n")
    text = end(server)
    assert "msg=request" in text and "ConditionalCheckFailedException" in text
    derived = hmac.new(b"AWS4" + SECRET.encode(), b"20260101", hashlib.sha256).hexdigest()
    for secret in (SECRET, TOKEN, MARK, derived, *signatures):
        assert secret not in text, [line for line in text.splitlines() if secret in line]
    assert len(signatures) > 5


LABELS = r'(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*"(?:,|(?=\})))*)\})?'


def parse_metrics(text):
    """Prometheus' text format, strictly: {family: (type, [(name, labels, value)])}."""
    assert text.endswith("\n")
    families, current, helped = {}, None, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped = line.split(" ", 3)[2]
            assert len(line.split(" ", 3)) == 4 and helped not in families, line
        elif line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert current == helped and kind in ("counter", "gauge", "histogram"), line
            families[current] = (kind, [])
        else:
            match = re.fullmatch(rf"([a-zA-Z_:][\w:]*){LABELS} (\S+)", line)
            assert match, line
            name, labels, value = match.groups()
            kind, samples = families[current]
            assert name in ([current] if kind != "histogram" else [current + s for s in ("_bucket", "_sum", "_count")]), line
            assert kind != "counter" or name.endswith("_total"), line
            samples.append((name, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)))
    for name, (kind, samples) in families.items():
        keys = [(n, *sorted(labels.items())) for n, labels, _ in samples]
        assert len(keys) == len(set(keys)), f"{name}: a sample stands twice"
        if kind == "histogram":
            check_histogram(name, samples)
    return families


def check_histogram(name, samples):
    series = {}
    for n, labels, value in samples:
        of = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        series.setdefault(of, {"buckets": []})
        if n == name + "_bucket":
            series[of]["buckets"].append((float(labels["le"]), value))
        else:
            series[of][n] = value
    for of, one in series.items():
        bounds, counts = zip(*one["buckets"])
        assert list(bounds) == sorted(set(bounds)) and bounds[-1] == math.inf, (name, of, bounds)
        assert list(counts) == sorted(counts) and counts[-1] == one[name + "_count"], (name, of, counts)
        assert (one[name + "_sum"] > 0) == (counts[-1] > 0), (name, of)


def metrics():
    server = Server()
    client = server.client()
    create_app(client)
    for i in range(7):
        client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": str(i)}, "GSI1PK": {"S": "g"}, "GSI1SK": {"S": "g"}})
    for _ in range(3):
        client.get_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "1"}}, ConsistentRead=True)
    raises("ResourceNotFoundException", client.get_item, TableName="nope", Key={"PK": {"S": "a"}})
    reply = raw.ask(server, raw.GET_METRICS)
    assert reply.headers["content-type"] == "text/plain; version=0.0.4", reply.headers
    families = parse_metrics(reply.body.decode())

    def value(name, **labels):
        found = [v for family in families.values() for n, of, v in family[1] if n == name and labels.items() <= of.items()]
        assert found, (name, labels)
        return sum(found)
    assert value("dynalith_requests_total", operation="PutItem", error="") == 7
    assert value("dynalith_requests_total", operation="GetItem", error="") == 3
    assert value("dynalith_requests_total", operation="GetItem", error="ResourceNotFoundException") == 1
    assert value("dynalith_request_duration_seconds_count", operation="GetItem") == 4
    # by hand: one unit for the item, one for each of the two indexes that hold it
    assert value("dynalith_consumed_capacity_units_total", operation="PutItem", kind="write") == 21
    assert value("dynalith_consumed_capacity_units_total", operation="GetItem", kind="read") == 3
    assert value("dynalith_store_write_seconds_count", step="commit") >= 8 and value("dynalith_store_write_seconds_count", step="begin") >= 8
    assert value("dynalith_connections") == 2 and value("dynalith_requests_under_way") == 1
    assert value("dynalith_build_info", store="database" if DATABASE else "memory") == 1
    with open(f"/proc/{server.process.pid}/status") as status:
        resident = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) * 1024
    assert abs(value("process_resident_memory_bytes") - resident) < 16e6 and value("process_open_fds") > 5
    assert value("process_threads") >= 3 and value("process_cpu_seconds_total") > 0 and value("process_start_time_seconds") > 1.7e9
    server.stop()


run("diagnosis", [crash_leaves_a_stack, every_request_at_debug, levels, the_first_line_tells_all, plain_lines_on_a_terminal, servers_that_refuse_all_say_so, unknown_variables_are_noticed,
                  slow_requests, failures_are_errors, secrets_are_never_logged, metrics])
