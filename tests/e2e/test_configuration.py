"""The command line and files of configuration: what is refused, by which words, and what is shown. Some hundred processes that end at once."""
import json
import os
import re
import socket
import subprocess
import tempfile

import jsonschema

from harness import BINARY, ROOT, Server, free_port, run


def command_line():
    call = lambda *argv: subprocess.run([BINARY, *argv], capture_output=True, text=True, timeout=120)
    server = Server()
    busy = call("--in-memory", "--port", str(server.port))
    assert busy.returncode == 1 and busy.stderr.count("\n") == 1 and "cannot listen" in busy.stderr, busy
    version = call("version").stdout.split()[1]
    assert f"Address already in use: Dynalith {version} answers there, its data in memory. End it, or choose another port" in busy.stderr, busy
    with socket.create_server(("127.0.0.1", 0)) as other:
        busy = call("--in-memory", "--port", str(other.getsockname()[1]))
    assert busy.returncode == 1 and "another program has it. End it, or" in busy.stderr and busy.stderr.count("\n") == 1, busy
    for argv in (["--nope"], ["--port", "x"], ["--port", "70000"], ["--auth", "maybe"], ["--port"]):
        bad = call(*argv)
        assert bad.returncode == 2 and bad.stderr.count("\n") == 1, bad
    for argv, meant in ((["--prot", "1"], "--port"), (["--inmemory"], "--in-memory"), (["--sharedDb"], "--shared-db"), (["--xyz"], None)):
        bad = call(*argv)
        assert bad.returncode == 2 and (f"did you mean {meant}?" in bad.stderr if meant else "did you mean" not in bad.stderr), bad
    assert call("--help").returncode == 0 and "--db-path" in call("--help").stdout
    assert call("--version").stdout.startswith("dynalith ")
    json.loads(call("--print-config-example").stdout)
    server.stop()


def configuration_is_shown():
    """Nested members are those with dots; each value has its source, and secrets are not printed."""
    folder = tempfile.mkdtemp(prefix="dynalith-e2e-")
    path = f"{folder}/config.json"
    with open(path, "w") as file:
        json.dump({"ttl": {"delay": 3}, "log.level": "warn", "in_memory": True, "s3": {"credentials": "a:b"}, "credentials": [{"access_key_id": "a", "secret_access_key": "b"}]}, file)
    call = lambda *argv: subprocess.run([BINARY, *argv], capture_output=True, text=True, timeout=120, env={**os.environ, "DYNALITH_PORT": "4566"})
    assert call("config", "check", path).returncode == 0 and call("config", "check", folder).returncode == 3 and call("config", "check", "/nowhere").returncode == 1 and call("config").returncode == 2
    shown = call("config", "show", "--config", path, "--host", "0.0.0.0")
    rows = {line.split()[0]: line.split(None, 2)[1:] for line in shown.stdout.splitlines()}
    assert shown.returncode == 0 and rows["ttl.delay"] == ["3", f"{path}: ttl.delay"] and rows["log.level"] == ["warn", f"{path}: log.level"], shown
    assert rows["port"] == ["4566", "DYNALITH_PORT"] and rows["host"] == ["0.0.0.0", "--host"] and rows["auth"] == ["open", "default"], shown
    assert "a:b" not in shown.stdout and rows["credentials"] == ["1"], shown
    both = call("--in-memory", "--db-path", f"{folder}/x.db")
    assert both.returncode == 2 and "--in-memory and --db-path contradict each other" in both.stderr and not os.path.exists(f"{folder}/x.db"), both
    for more, of in (("--policies", "--iam"), ("--iam-report", "--iam"), ("--record-values=masked", "--record"), ("--trigger-filter", "--trigger")):
        alone = call("--in-memory", *more.split("="), *([] if "=" in more else ["{}"]))
        assert alone.returncode == 2 and f"{more.split('=')[0]} has no effect without {of};" in alone.stderr, alone
    for name in ("patterns", "patterns.xyz"):
        report = call("--in-memory", "--report", f"{folder}/{name}")
        assert report.returncode == 2 and "report: the extension is none of .txt" in report.stderr, report


def is_taken(folder, config):
    path = f"{folder}/config.json"
    with open(path, "w") as file:
        json.dump(config, file)
    done = subprocess.run([BINARY, "config", "check", path], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 3), done
    return done.returncode == 0


def configuration_by_its_schema():
    """docs/config.schema.json allows what the server takes: the example, the documents' examples, and of each member the bounds and what is beyond them."""
    schema = json.loads((ROOT / "docs/config.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    allows = jsonschema.Draft202012Validator(schema).is_valid
    folder = tempfile.mkdtemp(prefix="dynalith-e2e-")
    example = json.loads((ROOT / "config.example.json").read_text())
    pair = {"access_key_id": "a", "secret_access_key": "b"}
    documented = [example, {"$schema": 1}, {"nope": 1}, {"ttl": {"dealy": 1}}, {"ttl": 1}, [], {"credentials": {}}, {"credentials": [pair, {}]},
                  {"credentials": [{**pair, "account": "1"}]}, {"credentials": [{**pair, "account": "111122223333", "control": True}]}, {"credentials": [{**pair, "control": "x"}]}]
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        for start in re.finditer(r'^ *(?=\{"(?:auth|credentials|port|db_path|iam|log|ttl|trigger)\b)', text, re.M):
            documented.append(json.JSONDecoder().raw_decode(text[start.end():])[0])
    assert len(documented) > 11, "no document has an example"
    assert set(example) < set(schema["properties"])
    for name, member in schema["properties"].items():
        if name in ("$schema", "credentials") or "properties" in member:
            continue
        values = [member["default"], {}, None, *member.get("enum", ["no such word"])]
        if member.get("type") == "integer":
            values += [member["minimum"], member["maximum"], member["minimum"] - 1, member["maximum"] + 1]
        elif member.get("type") == "boolean":
            values += [True, False, "yes", 1]
        elif member.get("type") == "string":
            values = [member["default"], "", 5, "a\0b"]
        else:
            values += ["no such word", 7]
        documented += [{name: value} for value in values]
        documented += [{name.split(".")[0]: {name.split(".")[1]: value}} for value in values[:1] if "." in name]
    for config in documented:
        assert allows(config) == is_taken(folder, config), (config, allows(config))


def configuration_of_wrong_types():
    server = Server()
    path = f"{server.folder}/config.json"
    for text, word in (('{"db_path": {}}', "wants a text"), ('{"db_path": null}', "wants a text"), ('{"host": 1.5}', "wants a text"),
                       ('{"port": [1]}', "wants a number"), ('{"port": 1e300}', "wants a number"), ('{"in_memory": "maybe"}', "wants true or false"),
                       ('{"auth": null}', "wants open|verify|off"), ('{"credentials": {}}', "must be a list"), ('{"credentials": [null]}', "needs"),
                       ('{"credentials": [{"access_key_id": "a", "secret_access_key": "b", "account": "12345678901"}]}', "12 digits"),
                       ('{"credentials": [{"access_key_id": "a", "secret_access_key": "b", "account": 123456789012}]}', "12 digits"),
                       ('{"credentials": [{"access_key_id": "a", "secret_access_key": "b", "control": "yes"}]}', "wants true or false"),
                       ('{"nope": 1}', "unknown option"), ('[]', "is not a JSON object"), ('', "is empty"), ('{"port":', ":1:8: is not JSON here: {\"port\":"),
                       ('{\n  "port": 1,\n  "host" "x"\n}', ':3:10: is not JSON here:   "host" "x"'), ('{"in_memory": "yes"}', "wants true or false"),
                       ('{"ttl": {"dealy": 3}}', "unknown option ttl.dealy; did you mean ttl.delay?"), ('{"ttl": {"delay": "x"}}', "ttl.delay: wants a number"),
                       ('{"in_memory": true, "db_path": "x"}', "contradict"), ('{"in_memory": true, "store": "sqlite:a"}', "contradict"),
                       ('{"shared_db": true, "namespaces": "key"}', "contradict"), ('{"host": "a\u0001"}', ":1:12: is not JSON here")):
        with open(path, "w") as file:
            file.write(text)
        bad = subprocess.run([BINARY, "--port", str(free_port()), "--config", path], capture_output=True, text=True, timeout=120, cwd=server.folder)
        assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and word in bad.stderr, (text, bad)
    folder = subprocess.run([BINARY, "--config", server.folder], capture_output=True, text=True, timeout=120)
    assert folder.returncode == 2 and folder.stderr.count("\n") == 1, folder
    server.stop()


def configuration_with_a_zero_in_it():
    """U+0000 ends no text early: wherever it stands, the file is refused."""
    server = Server()
    path = f"{server.folder}/config.json"
    example = json.loads(subprocess.run([BINARY, "--print-config-example"], capture_output=True, text=True, timeout=120).stdout)
    credential = example.pop("credentials")[0]
    del example["$schema"]
    words = {k: v if isinstance(v, str) else json.dumps(v) for k, v in example.items()}
    files = [({k: v + "\0more"}, k) for k, v in words.items()] + [({k: "\0"}, k) for k in words] + [({"port\0more": 8000}, "port")]
    for k in (*credential, "session_token"):
        files.append(({"credentials": [{**credential, k: "a\0more"}]}, k))
    for file, key in files:
        with open(path, "w") as out:
            json.dump(file, out)
        bad = subprocess.run([BINARY, "--in-memory", "--port", "70000", "--config", path], capture_output=True, text=True, timeout=120)
        assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and (f"{key}: holds U+0000" in bad.stderr or isinstance(example[key], bool)), (file, bad.stderr)
    server.stop()


run("configuration", [command_line, configuration_is_shown, configuration_by_its_schema, configuration_of_wrong_types, configuration_with_a_zero_in_it])
