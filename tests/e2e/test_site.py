"""The pages of the site, whose generator is not needed here: each is in the navigation, links lead somewhere, and each code block is run, or checked, or says why not.

A block is fenced, or indented between blank lines. `<!-- not run: REASON -->` in the line before it says why nothing runs it. ELSEWHERE names the suites that run
the blocks of a page.
"""
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from harness import BINARY, ROOT, Server, control, run

sys.path.insert(0, str(ROOT / "scripts"))
from page_blocks import blocks, commands, requests

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md"))
NAVIGATION = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
MODULES = os.environ.get("NODE_MODULES_OF_TESTS", str(ROOT / "build/deps/node_modules"))
AWS = os.environ.get("DYNALITH_AWS", str(ROOT / "build/deps/cli/bin/aws"))
# page: language: the test that runs them
ELSEWHERE = {"docs/testing.md": ("python js go java", "tests/e2e/test_recipes.py"), "docs/library.md": ("c python", "tests/e2e/test_library.py"),
             "docs/languages/go.md": ("go sh", "tests/packages/pages.py"), "docs/languages/java.md": ("java xml groovy sh", "tests/packages/pages.py"),
             "docs/languages/javascript.md": ("ts js-file sh json", "tests/packages/pages.py"),
             "docs/languages/python.md": ("python-file sh toml", "tests/packages/pages.py"),
             "docs/languages/rust.md": ("rust sh", "tests/packages/pages.py"), "docs/languages/dotnet.md": ("csharp sh", "tests/packages/pages.py"),
             "docs/languages/ruby.md": ("ruby sh", "tests/packages/pages.py"), "docs/languages/php.md": ("php sh", "tests/packages/pages.py")}
NEEDS = {"docker": "needs an engine for containers", "make": "builds or tests for long; its target is there", "./make": "builds or tests for long; its target is there",
         "sudo": "changes the machine"}
counts = collections.Counter()


def name(path):
    return str(path.relative_to(ROOT))


def guessed(text):
    first = text.split()[0]
    if first in ("curl", "dynalith", "docker", "make", "./make", "aws", "mkdir", "ln", "export", "openssl"):
        return "sh"
    return "json" if first[0] in "{[" else "partiql" if first == "SELECT" else "text"


def flags_are_there(words, manual=(ROOT / "docs/dynalith.1").read_text().replace("\\", "") + (ROOT / "docs/insight.md").read_text()):
    for word in words:
        assert not word.startswith("--") or word.split("=")[0] in manual, word


def run_server(words, folder):
    """The server of a line answers, on another port and with the data in memory unless the line says more."""
    drop_in = "-jar" in words
    more = ["-port", "0"] if drop_in else ["--port", "0", "--exit-with-parent"]
    words = [w for i, w in enumerate(words) if not (w in ("-port", "--port") or i and words[i - 1] in ("-port", "--port"))]
    program = [str(folder / words[0][2:])] if words[0].startswith("./") else [BINARY]
    with subprocess.Popen(program + words[1:] + more, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        said = server.stdout.readline()
        server.stdin.close()
        server.terminate()
    assert said.startswith(("http", "Initializing")), (words, said)


def seed(client):
    client.create_table(TableName="orders", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})

MAKEFILES = "\n".join(f.read_text() for f in (ROOT / "Makefile", *ROOT.glob("mk/*.mk")))

class Page:
    """A server and a folder for all blocks of a page, and the names that its Python blocks share."""

    def __init__(self, path):
        self.path, self.server, self.folder = path, None, pathlib.Path(tempfile.mkdtemp(prefix="dynalith-site-"))
        self.environment = {**os.environ, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_DEFAULT_REGION": "us-east-1"}
        (self.folder / "policies.json").write_text('{"principals": []}')
        os.makedirs(self.folder / "build/release")
        os.symlink(BINARY, self.folder / "build/release/dynalith")

    def here(self, text):
        if not self.server:
            self.server = Server("--insight", "on")
            if self.path.name == "global-tables.md":
                seed(self.server.client(key="local"))
        return re.sub(r"localhost:8000", f"127.0.0.1:{self.server.port}", text)

    def end(self):
        if self.server:
            self.server.stop()
        shutil.rmtree(self.folder)

    def shell(self, line):
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def sh(self, text):
        for line, words in commands(text):
            while "=" in words[0] and not words[0].startswith("-"):
                words = words[1:]
            program = words[0]
            if program in NEEDS:
                if program.endswith("make"):
                    target = next((w for w in words[1:] if "=" not in w and not w.startswith("-")), "run")
                    assert re.search(rf"^{target}:", MAKEFILES, flags=re.M), line
                counts[NEEDS[program]] += 1
            elif program == "curl":
                said = self.shell(self.here(line).replace("curl ", "curl -sS -w '%{http_code}' ", 1))
                assert said.endswith("200"), (line, said)
                counts["run"] += 1
            elif program == "aws" and "..." not in words and "https" not in line:
                if os.path.exists(AWS):
                    at = "" if "--endpoint-url" in words else f" --endpoint-url {self.here('http://localhost:8000')}"
                    self.shell(self.here(line).replace("aws ", AWS + " ", 1) + at)
                    counts["run"] += 1
            elif program in ("dynalith", "./java"):
                flags_are_there(words if program == "dynalith" else [])
                if words[1:2] in (["backup"], ["check"]) and (words[2].startswith("http://localhost:8000") or (self.folder / words[2]).exists()):
                    self.shell(self.here(line).replace("dynalith", shlex.quote(BINARY), 1))
                    counts["run"] += 1
                elif (len(words) == 1 or words[1].startswith("-")) and "postgresql://" not in line and "--tls" not in line:
                    run_server(words, self.folder)
                    counts["run"] += 1
                else:
                    counts["needs a database, files or a second server; its flags are there"] += 1
            elif program == "export":
                self.environment |= dict(w.split("=", 1) for w in words[1:])
            elif program in ("ln", "mkdir", "openssl"):
                self.shell(line)
                counts["run"] += 1
            else:
                counts["needs what a line before says"] += 1
                assert program == "aws", line

    def python(self, text):
        done = subprocess.run([sys.executable, "-c", self.here(text)], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        counts["run"] += 1

    def js(self, text):
        if not shutil.which("node") or not os.path.isdir(f"{MODULES}/@aws-sdk/client-dynamodb"):
            return
        if not (self.folder / "node_modules").exists():
            os.symlink(MODULES, self.folder / "node_modules")
        (self.folder / "block.mjs").write_text(self.here(text))
        self.shell("node block.mjs")
        counts["run"] += 1

    def json(self, text):
        """Lists and objects that go on are "..."."""
        json.loads(re.sub(r",?\s*\.\.\.(?=[\]}\s])(?!\")", "", text))
        counts["parsed"] += 1

    def yaml(self, text):
        python = os.path.join(os.path.dirname(AWS), "python")
        if os.path.exists(python):
            done = subprocess.run([python, "-c", "import sys, yaml; assert yaml.safe_load(sys.stdin)"], input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            counts["parsed"] += 1


def check_block(page, language, text, reason):
    path = name(page.path)
    if reason:
        counts[reason] += 1
    elif {language, language.removesuffix("-file")} & set(ELSEWHERE.get(path, ("",))[0].split()):
        test = ROOT / ELSEWHERE[path][1]
        assert page.path.name in test.read_text(), test
        counts[f"run by {name(test)}"] += 1
    else:
        language = language.removesuffix("-file") or guessed(text)
        how = getattr(page, {"console": "sh", "bash": "sh", "javascript": "js"}.get(language, language), None)
        assert how, f"nothing runs {language or 'a block without a language'}: say why, by <!-- not run: REASON -->"
        how(text)


def every_block_is_run():
    broken = []
    for path in PAGES:
        page = Page(path)
        for block in blocks(path.read_text()):
            try:
                check_block(page, block.language, block.text, block.reason)
            except Exception as error:  # all that is broken, at once
                broken.append(f"{name(path)}:{block.start + 1}: {type(error).__name__}: {error}")
        page.end()
    print("e2e site: " + "; ".join(f"{n} {what}" for what, n in counts.most_common()))
    assert counts["run"] > 30, counts
    assert not broken, "\n".join(broken)


def examples_run_by_themselves():
    """What the site's "Run it" sends to an instance of its own is all answered."""
    ran = 0
    for path in PAGES:
        for steps in filter(None, map(requests, blocks(path.read_text()))):
            server = Server()
            for step in steps:
                if "operation" in step:
                    server.client()._make_api_call(step["operation"], step["body"])
                else:
                    control(server, step["method"], step["path"], step.get("body"))
            server.stop()
            ran += 1
    assert ran > 10, ran


def every_page_is_in_the_navigation():
    listed = re.findall(r": (\S+\.md)$", NAVIGATION, flags=re.M)
    assert len(set(listed)) == len(listed)
    missing = {str(path.relative_to(ROOT / "docs")) for path in PAGES} - set(listed)
    assert not missing, f"mkdocs.yml: nav lacks {missing}"


def links_lead_somewhere():
    def anchors(path):
        text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M)
        return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, flags=re.M)}
    broken = []
    for path in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("packaging/*/README.md")]:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text(), flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?:|mailto:", target):
                continue
            file, _, anchor = target.partition("#")
            to = (path.parent / file).resolve() if file else path
            if not to.exists() or anchor and to.suffix == ".md" and anchor not in anchors(to):
                broken.append(f"{name(path)}: {target}")
    assert not broken, broken


def the_readme_is_one_screen():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 80


run("site", [every_block_is_run, examples_run_by_themselves, every_page_is_in_the_navigation, links_lead_somewhere, the_readme_is_one_screen])
