"""dynalith apply --dry-run over layouts of the field, as data: tests/e2e/importers/FAMILY.txt.

A case begins with "## name | words of the command line", has files behind "@@ PATH" (the first is applied), and then
lines that must hold:

    made NAME WORDS | WORDS     a table of that name, whose row has these (key, indexes, billing, expiry, stream)
    shows NAME JSON             its --json has this text, without spaces
    items N
    error TEXT                  the status is 1, and the message has this; nothing is made
    warns TEXT                  the status is 0, and a warning has this

"""
import json
import os
import pathlib
import subprocess
import tempfile

from harness import BINARY, run

DATA = pathlib.Path(__file__).parent / "importers"
TABLE = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
         "BillingMode": "PAY_PER_REQUEST"}
CHECKS = ("made ", "shows ", "items ", "error ", "warns ")


def cases(path):
    """(name, words, [(file, text)], [check]) of each case of a family."""
    for block in path.read_text().split("\n## ")[1:]:
        head, *parts = ("## " + block).split("\n@@ ")
        title, _, words = head.splitlines()[0][3:].partition("|")
        files, checks = [], []
        for part in parts:
            name, _, text = part.partition("\n")
            lines = text.split("\n")
            while lines and (lines[-1].startswith(CHECKS) or not lines[-1]):
                line = lines.pop()
                checks[:0] = [line] if line else []
            text = "\n".join(lines) + "\n"
            for name_of, byte in {"<BOM>": "\ufeff", "<CR>": "\r"}.items():
                text = text.replace(name_of, byte)
            files.append((name.strip(), text))
        yield title.strip(), words.split(), files, checks


def apply(folder, path, words, is_json):
    env = {**os.environ, "AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "111122223333", "AWS_SECRET_ACCESS_KEY": "x", "SHOP_STAGE": "fromenv"}
    return subprocess.run([BINARY, "apply", "--dry-run", *(["--json"] if is_json else []), *words, path], capture_output=True, text=True, cwd=folder, env=env,
                          timeout=60)


def as_bytes(text):
    """Of a file: with <hex> in front it is hexadecimal digits."""
    head, _, rest = text.partition("<hex>")
    return bytes.fromhex(rest) if not head and rest else text.encode()


def check(files, words, checks):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(as_bytes(text))
        if files[0][1].startswith("<table>"):  # items: of a table "tab" with the key pk
            (pathlib.Path(folder) / files[0][0]).write_bytes(as_bytes(files[0][1].replace("<table>\n", "", 1)))
            (pathlib.Path(folder) / "0.json").write_text(json.dumps({"TableName": "tab", **TABLE}))
            words = [*words, "0.json", "--table", "tab"]
        done = apply(folder, files[0][0], words, False)
        rows = {line.split("\t")[0]: line for line in done.stdout.splitlines()[1:-1]}
        shown = {t["Table"]["TableName"]: json.dumps(t, separators=(",", ":"), ensure_ascii=False)
                 for t in (json.loads(apply(folder, files[0][0], words, True).stdout)
                           if done.returncode == 0 and any(c.startswith("shows ") for c in checks) else [])}
    errors = [c[6:] for c in checks if c.startswith("error ")]
    assert checks, "nothing is checked"
    assert done.returncode == (1 if errors else 0), done
    for text in errors:
        assert text in done.stderr, (text, done.stderr)
    made = [c[5:].split(" ", 1) for c in checks if c.startswith("made ")]
    if not errors:
        assert sorted(n for n, *_ in made) == sorted(set(rows) - {"tab"}), (done.stdout, done.stderr)
    for name, *rest in made:
        for words_of in (rest[0].split(" | ") if rest else []):
            assert words_of in rows[name], (words_of, rows[name])
    for line in checks:
        kind, _, text = line.partition(" ")
        if kind == "shows":
            name, _, part = text.partition(" ")
            assert part in shown[name], (part, shown[name])
        elif kind == "items":
            assert f"{text} items" == done.stdout.splitlines()[-1].split(",")[0], done.stdout
        elif kind == "warns":
            assert "warning: " in done.stderr and text in done.stderr, (text, done.stderr)
    if not any(c.startswith("warns ") for c in checks) and not errors:
        assert done.stderr == "", done.stderr


def family(path):
    def test():
        problems, n = [], 0
        for name, words, files, checks in cases(path):
            n += 1
            try:
                check(files, words, checks)
            except Exception as problem:  # each case of a family is told
                problems.append(f"{path.name}: {name}: {type(problem).__name__}: {problem}")
        assert not problems, "\n".join(problems)
        assert n >= 10, f"{path.name} has {n} layouts"
    test.__name__ = path.stem.replace("-", "_")
    return test


run("importers", [family(path) for path in sorted(DATA.glob("*.txt"))])
