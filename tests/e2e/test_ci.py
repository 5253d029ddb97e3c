"""What jobs of continuous integration run, as their systems run it: the steps of action.yml, the scripts of the GitLab component, the devcontainer feature.

A release's archive is made of the binary under test, and served on this machine.
"""
import atexit
import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import threading
import xml.etree.ElementTree

import boto3
import action as steps
from action import documents
from harness import BINARY, ROOT, free_port, is_running, run, until

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-ci-"))
SCRIPT = str(ROOT / "packaging/ci/dynalith-ci")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


@functools.cache
def archive():
    """URL and checksum of an archive as `make dist-all` makes it."""
    path = FOLDER / "dynalith-0.0.0-linux.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(BINARY, "dynalith-0.0.0-linux/dynalith")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(FOLDER))
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/{path.name}", hashlib.sha256(path.read_bytes()).hexdigest()


class Job:
    """A runner: steps are processes of their own that see what earlier ones wrote into the files of GITHUB_*."""
    CACHE = {}

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
        self.files = {name: self.folder / name for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in self.files.values():
            file.touch()

    def seen(self, name):
        return dict(line.split("=", 1) for line in self.files[name].read_text().splitlines())

    def step(self, *words, status=0, **environment):
        base = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "GITHUB_"))}
        env = {**base, **self.seen("GITHUB_ENV"), **{name: str(path) for name, path in self.files.items()}, **environment}
        # With pipes the step would wait for the server that it leaves behind.
        with open(self.folder / "out", "w+") as out:
            done = subprocess.run(words, env=env, cwd=self.folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL, timeout=300)
            out.seek(0)
            said = out.read()
        assert done.returncode == status, (words, done.returncode, said)
        return said

    def outputs(self):
        return self.seen("GITHUB_OUTPUT")

    def step_of(self, shell, text, environment):
        (self.folder / "step.sh").write_text(text)
        self.step(shell, "-e", str(self.folder / "step.sh"), GITHUB_ACTION_PATH=str(ROOT), **environment)

    def restore(self, key, paths):
        """The cache of actions: what an earlier job with that key left is there again."""
        for path, body in self.CACHE.get(key, {}).items():
            file = self.folder / "temp" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
            file.chmod(0o755)

    def save(self, key, paths):
        files = [file for path in paths for file in pathlib.Path(path).parent.glob(pathlib.Path(path).name)]
        self.CACHE[key] = {str(file.relative_to(self.folder / "temp")): file.read_bytes() for file in files}

    def act(self, action, **given):
        return steps.run(action, self, str(self.folder / "temp"), **given)

    def client(self):
        seen = self.seen("GITHUB_ENV")
        return boto3.client("dynamodb", endpoint_url=seen["AWS_ENDPOINT_URL_DYNAMODB"], region_name=seen["AWS_REGION"],
                            aws_access_key_id=seen["AWS_ACCESS_KEY_ID"], aws_secret_access_key=seen["AWS_SECRET_ACCESS_KEY"])


def use(client):
    client.create_table(TableName="orders", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
    client.put_item(TableName="orders", Item={"pk": {"S": "a"}})
    assert client.scan(TableName="orders")["Count"] == 1


def test_install_checks_the_archive():
    job, (url, sum256) = Job(), archive()
    home = str(job.folder / "home")
    assert "another checksum" in job.step(SCRIPT, "install", home, "--archive", url, "--sha256", "0" * 64, status=1)
    assert os.listdir(home) == []
    assert "64 hexadecimal digits" in job.step(SCRIPT, "install", home, "--archive", url, "--sha256", "", status=1)
    assert "cannot download" in job.step(SCRIPT, "install", home, "--archive", url + "x", "--sha256", sum256, status=1)
    assert "install comes first" in job.step(SCRIPT, "start", home, status=1)
    assert "dynalith" in job.step(SCRIPT, "install", home, "--archive", url, "--sha256", sum256)
    assert os.listdir(home) == ["dynalith"]
    job.step(SCRIPT, "install", home, "--archive", "http://127.0.0.1:1/gone", "--sha256", sum256)  # it is there: the cache brought it
    assert "no sources" in job.step(SCRIPT, "install", str(job.folder / "other"), "--source", home, status=1)


def test_start_report_stop():
    job, (url, sum256), port = Job(), archive(), free_port()
    home = str(job.folder / "home")
    job.step(SCRIPT, "install", home, "--archive", url, "--sha256", sum256)
    assert "start comes first" in job.step(SCRIPT, "report", home, status=1)
    job.step(SCRIPT, "start", home, "--port", str(port), "--", "--log-level", "warn")
    pid = int(job.seen("GITHUB_OUTPUT")["pid"])
    try:
        assert job.seen("GITHUB_OUTPUT")["endpoint"] == f"http://localhost:{port}" and job.files["GITHUB_PATH"].read_text().strip() == home
        use(job.client())
        other = str(job.folder / "other")
        shutil.copytree(home, other)
        assert "another server has port" in job.step(SCRIPT, "start", other, "--port", str(port), status=1)
        job.step(SCRIPT, "report", home)
        assert "orders" in job.files["GITHUB_STEP_SUMMARY"].read_text()
        assert xml.etree.ElementTree.parse(f"{home}/report.xml").getroot().tag in ("testsuites", "testsuite")
        assert "--no-such" in job.step(SCRIPT, "start", other, "--port", str(free_port()), "--", "--no-such", status=1)
    finally:
        job.step(SCRIPT, "stop", home)
    until(lambda: not is_running(pid), "the server's end")
    job.step(SCRIPT, "stop", home)


def test_action():
    found = documents("action.yml")
    if not found:
        return print("e2e ci: action.yml is not run, nothing reads YAML here")
    action, job, (url, sum256), port = found[0], Job(), archive(), free_port()
    cached = job.act(action, archive=url, sha256=sum256, port=str(port), options="--log-level warn")
    pid = int(job.seen("GITHUB_OUTPUT")["pid"])
    try:
        use(job.client())
        job.act(action, command="report")
        assert "orders" in job.files["GITHUB_STEP_SUMMARY"].read_text() and os.path.exists(job.seen("GITHUB_OUTPUT")["report"])
        for name, row in action["outputs"].items():
            step, output = re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.(\w+) \}\}", row["value"]).groups()
            assert output == name and job.seen("GITHUB_OUTPUT")[output] and any(s.get("id") == step for s in action["runs"]["steps"])
    finally:
        job.act(action, command="stop")
    until(lambda: not is_running(pid), "the server's end")
    job.save(*cached)
    for is_broken in False, True:  # the next runner; one whose cached server does not start there gets it again
        if is_broken:
            job.CACHE[cached[0]] = {path: b"\x7fELF" for path in job.CACHE[cached[0]]}
        following = Job()
        assert following.act(action, archive=url if is_broken else f"{url}.gone", sha256=sum256, port=str(port))[0] == cached[0]
        following.act(action, command="stop")
    try:
        Job().act(action, command="strat")
    except AssertionError as e:
        assert "command is start, report or stop, not 'strat'" in str(e)
    else:
        raise AssertionError("a command that is none")


def test_key_names_content_and_machine():
    folder = FOLDER / "sources"
    folder.mkdir()
    (folder / "a.c").write_text("a")
    keys = [Job().step(SCRIPT, "key", "--source", str(folder)), Job().step(SCRIPT, "key", "--source", str(folder), ImageVersion="20261101"),
            Job().step(SCRIPT, "key", "--sha256", "0" * 64)]
    (folder / "a.c").write_text("b")
    keys.append(Job().step(SCRIPT, "key", "--source", str(folder)))
    (folder / "a.c").rename(folder / "b.c")
    keys.append(Job().step(SCRIPT, "key", "--source", str(folder)))
    assert len(set(keys)) == 5 and Job().step(SCRIPT, "key", "--source", str(folder)) == keys[-1], keys
    Job().step(SCRIPT, "key", status=1)


def test_gitlab_component():
    found = documents("templates/dynalith/template.yml")
    if not found:
        return print("e2e ci: the GitLab component is not run, nothing reads YAML here")
    (head, body), (url, sum256), port = found, archive(), free_port()
    given = {"archive": url, "sha256": sum256, "port": str(port), "options": "--log-level warn"}
    inputs = {name: given.get(name, row.get("default")) for name, row in head["spec"]["inputs"].items()}
    assert None not in inputs.values() and re.fullmatch(head["spec"]["inputs"]["sha256"]["regex"], sum256)
    text = re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: inputs[m.group(1)], json.dumps(body))
    assert "$[[" not in text
    job, hidden = Job(), json.loads(text)[".dynalith"]
    script = "\n".join([*hidden["before_script"], f'{{ {BINARY} health --port {port}; echo $! > pid; }}'])
    variables = {name: str(value) for name, value in hidden["variables"].items()}
    try:
        job.step("bash", "-eo", "pipefail", "-c", script, **variables)
        use(boto3.client("dynamodb", endpoint_url=variables["AWS_ENDPOINT_URL_DYNAMODB"], region_name=variables["AWS_REGION"],
                         aws_access_key_id=variables["AWS_ACCESS_KEY_ID"], aws_secret_access_key=variables["AWS_SECRET_ACCESS_KEY"]))
        job.step("bash", "-c", "\n".join(hidden["after_script"]), **variables)
        assert "orders" in (job.folder / hidden["artifacts"]["paths"][0]).read_text()
        xml.etree.ElementTree.parse(job.folder / hidden["artifacts"]["reports"]["junit"])
        assert (job.folder / hidden["cache"]["paths"][0]).exists()
    finally:
        subprocess.run(["sh", "-c", (job.folder / "pid").read_text() and f"kill {(job.folder / 'pid').read_text()}"])
    wrong = Job()
    wrong.step("bash", "-eo", "pipefail", "-c", script, status=1, **{**variables, "DYNAMODB_SERVER_SHA256": "0" * 64})


def test_devcontainer_feature():
    job, (url, sum256), port = Job(), archive(), free_port()
    feature = json.loads((ROOT / "packaging/devcontainer/src/dynalith/devcontainer-feature.json").read_text())
    options = {name.upper(): row["default"] for name, row in feature["options"].items()}
    install = ["sh", str(ROOT / "packaging/devcontainer/src/dynalith/install.sh")]
    root = str(job.folder / "root")
    job.step(*install, status=1, **options)
    assert "another checksum" in job.step(*install, status=1, **{**options, "ARCHIVE": url, "SHA256": "0" * 64, "DYNALITH_FEATURE_ROOT": root})
    assert "dynalith" in job.step(*install, **{**options, "ARCHIVE": url, "SHA256": sum256, "PORT": str(port), "DYNALITH_FEATURE_ROOT": root})
    entrypoint = pathlib.Path(root + feature["entrypoint"])
    entrypoint.write_text(entrypoint.read_text().replace("/usr/local/bin/", root + "/usr/local/bin/").replace("/tmp/dynalith.log", f"{job.folder}/log"))
    process = subprocess.Popen(["sh", "-c", f'"{entrypoint}" sh -c "read line"; :'], stdin=subprocess.PIPE, start_new_session=True)
    try:
        until(lambda: subprocess.run([BINARY, "health", "--port", str(port)], capture_output=True).returncode == 0, "the feature's server")
    finally:
        process.communicate(b"\n", timeout=120)
        os.killpg(process.pid, signal.SIGTERM)  # the server is in its group
    until(lambda: subprocess.run([BINARY, "health", "--port", str(port)], capture_output=True).returncode != 0, "the server's end")


OFFLINE = """E: Failed to fetch http://deb.example/pool/gcc.deb  Temporary failure resolving 'deb.example'
W: Failed to fetch http://deb.example/dists/InRelease  Temporary failure resolving 'deb.example'
E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?"""


def test_a_machine_without_network():
    """One line says what is missing, whatever apt prints; and what root would have to run, where nobody is root."""
    home = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    shutil.copytree(ROOT / "scripts", home / "scripts")
    tools = home / "bin"
    tools.mkdir()
    def tool(name, script):
        (tools / name).write_text("#!/bin/sh\n" + script)
        (tools / name).chmod(0o755)
    tool("apt-get", f'cat <<"END"\n{OFFLINE}\nEND\nexit 100\n')
    def install(user):
        tool("id", f"echo {user}\n")
        done = subprocess.run(["sh", home / "scripts/install-deps", "build"], capture_output=True, text=True, timeout=120,
                              env={"PATH": f"{tools}:/usr/bin:/bin", "CC": "no-such-compiler", "SQLITE": "system"})
        assert done.returncode == 1 and not done.stdout, done
        return done.stderr.splitlines()
    assert install(0)[-1] == "install-deps: the package servers cannot be reached; is there a network? Missing to build the server: gcc libc6-dev make"
    assert len(install(0)) == 3 and not (home / "build/deps/apt-updated").exists(), install(0)
    tool("apt-get", 'case $1 in update) exit 100;; esac\necho "E: Unable to locate package gcc"\nexit 100\n')
    assert "is there a network? Missing" in install(0)[-1]
    tool("apt-get", 'case $1 in update) exit 0;; esac\necho "E: Unable to locate package gcc"\nexit 100\n')
    assert install(0)[-1] == "install-deps: E: Unable to locate package gcc"
    if not shutil.which("sudo", path="/usr/bin:/bin"):
        assert install(1000)[-1] == "install-deps: neither root nor sudo is here; let root run: apt-get install -y gcc libc6-dev make"


def test_names():
    """Each name stands in packaging/names and is the same elsewhere; a change of one reaches every place; no registry takes a reserved domain."""
    home = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    for name in ("scripts/names", "packaging/names", "README.md", "packaging/go", "packaging/maven", "packaging/npm", "packaging/make-npm", "docs/ci.md"):
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, target)
    subprocess.run(["git", "init", "-q", home], check=True)
    def names(*words):
        done = subprocess.run([home / "scripts/names", *words], capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout
    assert names("--check")[0] == 0, names("--check")
    for wrong in ("test.dynalith:dynalith-junit5", '"dynalith.test/dynalithtest"', "https://github.com/me/dynalith", "ghcr.io/me/dynalith", '"@me/linux-x64"', "uses: OWNER/dynalith@v1"):
        (home / "wrong.md").write_text(f"a\n {wrong}\n")
        assert names("--check")[0] == 1 and names("--check")[1].startswith("wrong.md:2: "), (wrong, names("--check"))
    (home / "wrong.md").unlink()
    status, out = names("repository=https://github.com/me/shop", "maven=com.me", "go=me.dev/dynalithtest", "npm=@me", "image=ghcr.io/me/dynalith")
    assert status == 0 and "0 failed" in out, out
    assert (home / "packaging/maven/dynalith-server/com/me/DynalithServer.java").read_text().startswith("package com.me;")
    assert "module me.dev/dynalithtest\n" in (home / "packaging/go/go.mod").read_text() and "uses: me/shop@v0" in (home / "docs/ci.md").read_text()
    assert names("maven=me.test")[0] == 1 and names("nothing=x")[0] == 2


def test_workflows():
    """GitLab's jobs run what GitHub's run; what they name is there. A release builds each target, tries it, and signs before it publishes."""
    if documents(ROOT / ".gitlab-ci.yml") is None:
        print("e2e ci: workflows are not read, nothing reads YAML here")
        return
    ci, = documents(ROOT / ".github/workflows/ci.yml")
    release, = documents(ROOT / ".github/workflows/release.yml")
    twin, = documents(ROOT / ".gitlab-ci.yml")
    commands = lambda lines: [line.removeprefix("sudo ") for line in lines if not line.startswith("apt-get ")]
    here = {name: commands(step["run"] for step in job["steps"] if "run" in step) for name, job in ci["jobs"].items()}
    there = {name: commands(job["script"]) for name, job in twin.items() if isinstance(job, dict) and "script" in job}
    assert here == there, (here, there)
    makefile = "".join(path.read_text() for path in (ROOT / "Makefile", *(ROOT / "mk").glob("*.mk")))
    every = [line for job in (*ci["jobs"].values(), *release["jobs"].values()) for step in job.get("steps", ()) for line in step.get("run", "").splitlines()]
    for line in every:
        for target in re.findall(r"\bmake (?:[A-Z]+=\S+ )*([a-z][a-z-]*)", line):
            assert re.search(rf"^{target}:", makefile, re.M), line
        for script in re.findall(r"(?:^|[ (])((?:scripts|packaging|tests|\.ci)/[\w/.-]+)", line):
            assert (ROOT / script).exists(), line
    targets = set(re.search(r"^DIST := (.*)", makefile, re.M).group(1).split())
    assert {row["target"] for row in release["jobs"]["try"]["strategy"]["matrix"]["include"]} == targets
    def after(name):
        needs = release["jobs"][name].get("needs", [])
        return {name}.union(*map(after, [needs] if isinstance(needs, str) else needs))
    for name, job in release["jobs"].items():
        publishes = name not in ("check", "ci", "build", "try")
        assert not publishes or ({"check", "ci", "build", "try"} <= after(name) and "environment" in job), name
        for step in job.get("steps", ()):
            assert "uses" in step or "run" in step, step
            assert "${{" not in step.get("run", ""), f"a value of the event in a script: {step}"  # by env only
    signed = [step["run"] for step in release["jobs"]["release"]["steps"] if "run" in step]
    assert "cosign sign-blob" in signed[0] and "gh release" in signed[1]
    linter = ROOT / "build/deps/recipes-go/actionlint"
    if linter.exists():
        subprocess.run([linter, "-no-color", "-shellcheck="], cwd=ROOT, check=True)


def test_small_things_of_a_release():
    """Compose projects have names; `make help` ends quietly when its reader has enough; a version that is not this one is refused."""
    names = [re.search(r"^name: (.*)$", (ROOT / f"docker/{file}").read_text(), re.M).group(1) for file in ("compose.yaml", "compose.cluster.yaml")]
    assert names == ["dynalith", "dynalith-cluster"], names
    done = subprocess.run(["bash", "-c", "set -o pipefail; make help | head -n 1 && make help-all | head -n 1"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "help" in done.stdout and not done.stderr, done
    check = lambda *words: subprocess.run([ROOT / "scripts/release-check", *words], capture_output=True, text=True, timeout=300)
    assert check("9.9.9", "--quick").returncode == 1 and "server/version.h has" in check("9.9.9", "--quick").stdout
    assert check("x").returncode == 2 and "### Added" in check("0.2.0", "--notes").stdout
    assert len((ROOT / "RELEASING.md").read_text().splitlines()) <= 60


def test_versions_are_in_step():
    version = re.search(r'DYNALITH_VERSION "(.*)"', (ROOT / "server/version.h").read_text()).group(1)
    assert "versions are equal: passed" in subprocess.run([ROOT / "scripts/release-check", version, "--quick"], capture_output=True, text=True).stdout


def test_a_version_is_cut():
    """In a copy: each file gets the version, Unreleased becomes its section, and the check passes once that is committed."""
    home = pathlib.Path(tempfile.mkdtemp(dir=FOLDER))
    for words in (["clone", "-q", "--depth", "1", ROOT.as_uri(), home / "copy"], ["-C", home / "copy", "config", "user.email", "a@b.c"],
                  ["-C", home / "copy", "config", "user.name", "a"]):
        subprocess.run(["git", *words], check=True)
    shutil.copy(ROOT / "scripts/release-check", home / "copy/scripts/release-check")
    check = lambda *words: subprocess.run([home / "copy/scripts/release-check", "9.8.7", *words], capture_output=True, text=True, timeout=300)
    assert check("--cut").returncode == 0 and "are not committed" in check("--quick").stdout
    subprocess.run(["git", "-C", home / "copy", "commit", "-qam", "cut"], check=True)
    passed = check("--quick")
    assert passed.returncode == 0 and " 0 failed" in passed.stdout, passed
    assert "v9.8.7/dynalith-9.8.7-" in (home / "copy/docs/ci.md").read_text() and "### Added" in check("--notes").stdout


def test_an_interrupted_run_leaves_no_compiler():
    """Ctrl-C goes to all processes of `make run`: none of them, such as a shell's own jobs, may ignore it."""
    copy = FOLDER / "copy of the tree"
    subprocess.run(["git", "clone", "-q", "--shared", ROOT, copy], check=True)
    (copy / "build").mkdir()
    (copy / "build/deps").symlink_to(ROOT / "build/deps")
    make = subprocess.Popen(["make", "run", "ARGS=--in-memory --port 0"], cwd=copy, start_new_session=True, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, env={**os.environ, "CCACHE_DISABLE": "1", "MAKEFLAGS": ""})

    def alive():
        """{number: (command line, whether it ignores SIGINT)} of what the session of make has."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.getsid(int(folder.name)) == make.pid:
                    status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines() if ":\t" in line)
                    if not status["State"].startswith("Z"):
                        found[int(folder.name)] = (folder / "cmdline").read_text(), bool(int(status["SigIgn"], 16) & 1 << signal.SIGINT - 1)
            except (OSError, KeyError):
                pass  # it has ended
        return found

    try:
        until(lambda: any("cc1\0" in line and "quick/units/" in line for line, _ in alive().values()), "nothing is compiled")
        ignoring = {line for line, ignores in alive().values() if ignores}
        os.killpg(make.pid, signal.SIGINT)
        assert make.wait() != 0
        assert not ignoring, ignoring
        until(lambda: not alive(), "something is left")
    finally:
        for number in alive():
            os.kill(number, signal.SIGKILL)


run("ci", [test_a_version_is_cut, test_install_checks_the_archive, test_start_report_stop, test_action, test_key_names_content_and_machine, test_gitlab_component, test_devcontainer_feature, test_a_machine_without_network, test_names, test_workflows, test_small_things_of_a_release, test_versions_are_in_step, test_an_interrupted_run_leaves_no_compiler])
