"""The steps of action.yml, run as a runner of GitHub runs them, and what reads YAML here."""
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The machine's Python of the AWS CLI reads YAML; ours has no reader.
READER = os.environ.get("DYNALITH_YAML_PYTHON", str(ROOT / "build/deps/cli/bin/python"))


def documents(path):
    """The documents of a YAML file; None where nothing reads YAML here."""
    done = subprocess.run([READER, "-c", "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))", str(ROOT / path)],
                          capture_output=True, text=True) if os.path.exists(READER) else None
    return json.loads(done.stdout) if done and done.returncode == 0 else None


def run(action, job, temporary, **given):
    """Runs the steps of one use of the action. `job` has step(shell, text, environment), outputs(), and restore(key, paths), which says what
    the cache does; `temporary` is the runner's folder. Returns the key and the paths of the cache, or None."""
    inputs = {name: given.get(name, row["default"]) for name, row in action["inputs"].items()}
    cached = None

    def value_of(text):
        known = {**{f"inputs.{name}": value for name, value in inputs.items()}, "runner.temp": temporary}
        known.update({f"steps.{step.get('id')}.outputs.{name}": value for step in action["runs"]["steps"] for name, value in job.outputs().items()})
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda m: known[m.group(1)], text)

    for step in action["runs"]["steps"]:
        command = re.fullmatch(r"inputs\.command == '(\w+)'", step.get("if", f"inputs.command == '{inputs['command']}'")).group(1)
        if command != inputs["command"]:
            continue
        if "run" in step:
            job.step_of(step["shell"], step["run"], {name: value_of(value) for name, value in step["env"].items()})
        else:
            assert step["uses"].startswith("actions/cache@")
            cached = value_of(step["with"]["key"]), value_of(step["with"]["path"]).split()
            job.restore(*cached)
    return cached
