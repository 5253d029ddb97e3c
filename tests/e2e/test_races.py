"""`dynalith races`: planted races are found, cut to one switch, written, and replayed; twins pass; what cannot be raced is said in a sentence."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MODULES = pathlib.Path(os.environ.get("DYNALITH_NODE_MODULES") or pathlib.Path(__file__).resolve().parents[2] / "build/deps/node_modules")
WASM = pathlib.Path(os.environ.get("DYNALITH_WASM") or pathlib.Path(__file__).resolve().parents[2] / "build/wasm/dynalith.wasm")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "packaging/python"))

from harness import BINARY, run  # noqa: E402 (takes the variables away)
from dynalith import races as wrapped  # noqa: E402

os.environ["DYNALITH_BINARY"] = str(BINARY)  # for the packages
LIBRARY = pathlib.Path(BINARY).resolve().parent / "libdynalith.so"
os.environ["DYNALITH_LIBRARY"] = str(LIBRARY)

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"))
PROGRAM = pathlib.Path(__file__).with_name("races_program.py")


def races(*words, program=(), status=None):
    done = subprocess.run([BINARY, "races", "--out", FOLDER / "races", *map(str, words), "--", *program], capture_output=True, text=True, timeout=300)
    assert status is None or done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def python(*words):
    return [sys.executable, str(PROGRAM), *words]


def orders():
    return sorted((FOLDER / "races").glob("*.json")) if (FOLDER / "races").exists() else []


def read_page(html, order):
    """The page has a box a request and the sentence, and loads nothing."""
    assert html.count("<rect ") == len(order["order"]) and order["sentence"] in html and "<svg " in html, html
    assert not re.search("<script|<link|<img|src=|href=|url\\(|@import", html), html


def a_lost_update_is_found_and_replayed():
    before = set(orders())
    page = FOLDER / "found.html"
    found = races("--budget", 30, "--replays", 5, "--html", page, program=python("counter", "wrong"), status=3)
    assert "failed again in 5 of 5 replays" in found.stdout and "GetItem shop pk=a" in found.stdout, found.stdout
    path, = set(orders()) - before
    order = json.loads(path.read_text())
    assert order["version"] == 1 and [one["operation"] for one in order["order"]][:3] == ["CreateTable", "GetItem", "GetItem"], order
    read_page(page.read_text(), order)
    for told in [order["sentence"], *(f"{one['client']}  {one['operation']} {one['on']}" for one in order["order"])]:
        assert told in re.sub("  ([A-Z])  +", r"  \1  ", found.stdout), (told, found.stdout)
    again = races("--order", path, "--html", page, program=python("counter", "wrong"), status=3)
    assert "fails: the command ended with status 1" in again.stdout and again.stdout.count("PutItem shop pk=a") == 2, again.stdout
    assert page.read_text().count("<rect ") == len(order["order"])
    races("--order", path, program=python("counter", "right"), status=0)
    races("--all", FOLDER / "races", program=python("counter", "wrong"), status=3)


def a_check_and_act_is_found():
    assert "GetItem shop pk=a" in races("--budget", 30, program=python("stock", "wrong"), status=3).stdout


def twins_pass():
    for name in ("counter", "stock"):
        assert "None found" in races("--budget", 8, program=python(name, "right"), status=0).stdout


def a_lost_answer_charges_twice():
    found = races("--budget", 20, "--lost-answers", program=python("charge", "wrong"), status=3)
    assert "the answer was lost" in found.stdout and "(sent again)" in found.stdout, found.stdout
    races("--budget", 12, "--lost-answers", program=python("charge", "right"), status=0)


def a_batch_in_part_and_a_conflict_are_met():
    """One trouble a run, by the server's own rules of faults; its order replays it, and a twin that takes it passes."""
    for name, option, told in (("batch", "--throttling", "-> throttled"), ("move", "--conflicts", "another transaction was under way")):
        before = set(orders())
        found = races("--budget", 20, option, program=python(name, "wrong"), status=3)
        assert told in found.stdout and "failed again in 3 of 3 replays" in found.stdout, found.stdout
        path, = set(orders()) - before
        order = json.loads(path.read_text())
        assert order["throttled" if name == "batch" else "conflict"] == order["order"][1]["id"], order
        races("--order", path, program=python(name, "wrong"), status=3)
        races("--order", path, program=python(name, "right"), status=0)
        races("--budget", 12, option, program=python(name, "right"), status=0)
        races("--budget", 12, program=python(name, "wrong"), status=0)  # nothing happens that was not asked for
    told = races("--budget", 12, "--throttling", program=python("ruled", "wrong"), status=0).stdout
    assert "2 runs went without the throttling or conflict that they were for" in told, told


def what_is_late_is_met():
    """Reads that miss a write, streams without records yet, items that have expired and are there; the order replays them, and a twin that expects them passes."""
    for name, option, member, told in (("late", "--lag", "lagged", "The read in step 3 did not see the write of step 2 yet."),
                                       ("consumer", "--lag", "lagged", "the stream had no records yet."),
                                       ("session", "--ttl", "kept", "What had expired was not removed yet, and could be read.")):
        before = set(orders())
        found = races("--budget", 20, option, program=python(name, "wrong"), status=3)
        assert told in found.stdout and "failed again in 3 of 3 replays" in found.stdout, found.stdout
        path, = set(orders()) - before
        order = json.loads(path.read_text())
        assert member in order and told in order["sentence"] and ("since" in order) == (name == "late"), order
        races("--order", path, program=python(name, "wrong"), status=3)
        races("--order", path, program=python(name, "right"), status=0)
        races("--budget", 12, option, program=python(name, "right"), status=0)
        if name != "session":  # by itself the server removes what has expired when it comes to it
            races("--budget", 6, program=python(name, "wrong"), status=0)


def is_told_with_names(text):
    """What a wrapper throws: the order, with the names of the functions."""
    assert "Found after" in text and re.search("[AB] is ann", text) and re.search("[AB] is bob", text) and "two visits, one counted" in text, text


def make_shop(namespace):
    namespace.client().create_table(TableName="shop", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                                    AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])


def race_visits(out, **more):
    """Two visitors of a page that is counted, rightly and wrongly, and the order that fails again."""
    def visit(namespace, is_right):
        table = namespace.resource().Table("shop")
        if is_right:
            table.update_item(Key={"pk": "page"}, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": 1})
        else:
            table.put_item(Item={"pk": "page", "n": table.get_item(Key={"pk": "page"}, ConsistentRead=True).get("Item", {"n": 0})["n"] + 1})

    def ann(namespace):
        visit(namespace, twin == "right")

    def bob(namespace):
        time.sleep(0.1)
        visit(namespace, twin == "right")

    def check(namespace):
        assert namespace.resource().Table("shop").get_item(Key={"pk": "page"}, ConsistentRead=True)["Item"]["n"] == 2, "two visits, one counted"

    for twin in ("right", "wrong"):
        try:
            assert "None found" in wrapped(ann, bob, before=make_shop, check=check, budget=20, out=out, **more) and twin == "right"
        except AssertionError as found:
            assert twin == "wrong", found
            is_told_with_names(str(found))
    order, = out.glob("*.json")
    assert {one.get("name") for one in json.loads(order.read_text())["order"]} >= {"ann", "bob"}
    for twin in ("right", "wrong"):
        try:
            assert "passes" in wrapped(ann, bob, before=make_shop, check=check, order=order, **more) and twin == "right"
        except AssertionError as found:
            assert twin == "wrong" and "fails: the test failed: two visits" in str(found), found


def fails_with(text, *clients, before=make_shop, **options):
    try:
        told = wrapped(*clients, before=before, **options)
    except AssertionError as found:
        assert text in str(found), found
    else:
        raise AssertionError(told)


def the_wrapper_of_python_races_a_function():
    race_visits(FOLDER / "python")
    try:
        wrapped(make_shop, budgets=3)
        raise AssertionError("an unknown option is taken")
    except TypeError as problem:
        assert "budgets" in str(problem)
    fails_with("its clients must be made with what races() gives", lambda namespace: None, before=None, budget=3)


def the_gate_holds_an_engine_in_the_process_of_the_test():
    """The same orders; lost answers, reads that lag and what has expired happen in that engine, and invariants ask it."""
    if not LIBRARY.exists():
        return
    out, rules = FOLDER / "in-process", FOLDER / "in-process.json"
    race_visits(out, in_process=True)

    def charge(namespace):
        table = namespace.resource().Table("shop")
        table.update_item(Key={"pk": "a"}, UpdateExpression="ADD n :v", ExpressionAttributeValues={":v": 30})
        assert "Item" in table.get_item(Key={"pk": "a"}), "it is not there yet"
        n = int(table.get_item(Key={"pk": "a"}, ConsistentRead=True)["Item"]["n"])
        assert n == 30, f"{n} are charged"

    def session(namespace):
        namespace.client().update_time_to_live(TableName="shop", TimeToLiveSpecification={"AttributeName": "n", "Enabled": True})
        table = namespace.resource().Table("shop")
        table.put_item(Item={"pk": "a", "n": int(time.time()) - 60})
        assert "Item" not in table.get_item(Key={"pk": "a"}, ConsistentRead=True), "it is there yet"

    rules.write_text(json.dumps({"invariants": [{"name": "none", "statement": "SELECT * FROM shop WHERE n = 7"}, {"name": "it rises", "rises": "n", "of": "shop"}]}))
    assert "None found" in wrapped(charge, before=make_shop, in_process=True, budget=5, out=out, invariants=rules)
    fails_with("the answer was lost", charge, in_process=True, budget=20, out=out, lost_answers=True)
    fails_with("did not see the write", charge, in_process=True, budget=20, out=out, lag=True)
    fails_with("another transaction was under way", charge, in_process=True, budget=20, out=out, conflicts=True)
    assert "None found" in wrapped(charge, before=make_shop, in_process=True, budget=20, out=out, throttling=True)
    fails_with("What had expired was not removed yet", session, in_process=True, budget=20, out=out, ttl=True)
    rules.write_text(json.dumps({"invariants": [{"name": "none", "statement": "SELECT * FROM shop WHERE n = 30"}]}))
    fails_with('invariant "none" is broken', charge, in_process=True, budget=5, invariants=rules)
    assert "--check and --port need a server" in subprocess.run([BINARY, "races", "--in-process", "--check", "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stderr


def the_wrapper_of_npm_races_a_function():
    """Against a server, and with dynalith.wasm in the process of the test where `make wasm` has made it."""
    if not shutil.which("node") or not (MODULES / "@aws-sdk/client-dynamodb").exists():
        return
    for engine in ["server", *(["in-process"] if WASM.exists() else [])]:
        out = FOLDER / f"npm-{engine}"

        def node(twin, *more):
            return subprocess.run(["node", PROGRAM.with_name("races_wrapped.mjs"), engine, twin, MODULES, out, *more], capture_output=True, text=True, timeout=300,
                                  env={**os.environ, "DYNALITH_WASM": str(WASM)})

        right, wrong = node("right"), node("wrong")
        assert right.returncode == 0 and "None found" in right.stdout, right
        assert wrong.returncode == 1, wrong
        is_told_with_names(wrong.stderr)
        order, = out.glob("*.json")
        assert node("right", order).returncode == 0 and "fails: the test failed: two visits" in node("wrong", order).stderr


def a_test_that_ends_is_said():
    done = subprocess.run([BINARY, "races", "--by-lines"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stdout.startswith("run http://") and "the test has ended" in done.stderr, done
    races("--by-lines", program=["true"], status=2)
    for line in ("hello", "came 1 {", "came x {}", "answered", "asked 200 \"\""):
        done = subprocess.run([BINARY, "races", "--in-process"], input=f"{line}\n", capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and f'the test wrote "{line}"' in done.stderr, done


def invariants_and_checks_tell_what_the_program_does_not():
    rules = FOLDER / "rules.json"
    rules.write_text(json.dumps({"invariants": [{"name": "never two", "statement": "SELECT * FROM shop WHERE n >= 2"}]}))
    broken = races("--budget", 3, "--invariants", rules, program=python("counter", "right"), status=1)
    assert 'invariant "never two" is broken' in broken.stderr
    assert "--check ended with status 9" in races("--check", "exit 9", program=python("counter", "right"), status=1).stderr
    log = FOLDER / "checks"  # it fails in all plain runs, and in no other
    told = races("--budget", 6, "--check", f"echo >> {log}; [ $(wc -l < {log}) -gt 3 ]", program=python("counter", "right"), status=1)
    assert "It passes where its 4 requests run one at a time" in told.stdout and "no order of its requests was found that does" in told.stderr, told
    rules.write_text('{"invariants": [{"name": "no statement"}]}')
    assert "wanted {" in races("--invariants", rules, program=python("counter", "right"), status=1).stderr


def invariants_without_code():
    """Each form holds for one program and is broken by another; a lost update is seen in a program that looks at nothing."""
    rules = FOLDER / "forms.json"

    def write(**form):
        rules.write_text(json.dumps({"invariants": [{"name": "it holds", **form}]}))

    children, count = "SELECT pk FROM shop WHERE attribute_type(up, 'S')", "SELECT n FROM shop WHERE pk = 'a'"
    for form, why in (({"unique": "SELECT mail FROM shop"}, '{"S":"b@x"} is there twice'), ({"each": "SELECT up FROM shop", "in": "SELECT pk FROM shop"}, '{"S":"z"} is not there'),
                      ({"sum": count, "equals_count": children}, "3 is not 2"), ({"statement": "SELECT pk FROM shop WHERE n > 2"}, '{"pk":{"S":"a"}}')):
        write(**form)
        assert f'"it holds" is broken: {why}' in races("--budget", 3, "--invariants", rules, program=python("family", "wrong"), status=1).stderr, form
        races("--budget", 2, "--invariants", rules, program=python("family", "right"), status=0)
    write(sum=count, equals_sum="SELECT n FROM shop")
    races("--budget", 2, "--invariants", rules, program=python("family", "wrong"), status=0)
    write(never="lost update")
    found = races("--budget", 30, "--invariants", rules, program=python("unchecked", "wrong"), status=3)
    assert "put another item in its place" in found.stdout and "failed again in 3 of 3 replays" in found.stdout, found.stdout
    races("--budget", 8, "--invariants", rules, program=python("unchecked", "right"), status=0)
    for form in ({"never": "bad luck"}, {"each": "SELECT pk FROM shop"}, {"unique": 7}):
        write(**form)
        assert "wanted {" in races("--invariants", rules, program=python("counter", "right"), status=1).stderr


def a_version_that_does_not_rise_is_told():
    """Behind which request, and how; a table that is not there is said, and a twin that writes on a condition passes."""
    rules = FOLDER / "rises.json"

    def write(**form):
        rules.write_text(json.dumps({"invariants": [{"name": "versions rise", **form}]}))

    write(rises="n", of="shop")
    found = races("--budget", 30, "--invariants", rules, program=python("revise", "wrong"), status=3)
    assert 'n of pk={"S":"a"} was {"N":"1"}, and is {"N":"1"} behind step 5' in found.stdout and "failed again in 3 of 3 replays" in found.stdout, found.stdout
    races("--budget", 6, "--invariants", rules, program=python("revise", "right"), status=0)
    assert 'was {"N":"1"}, and is {"N":"0"} behind step' in races("--invariants", rules, program=python("stock", "right"), status=1).stderr
    for form, why in (({"rises": "n", "of": "nowhere"}, "ResourceNotFoundException"), ({"rises": "n"}, "wanted {")):
        write(**form)
        assert why in races("--invariants", rules, program=python("counter", "right"), status=1).stderr, form


def what_cannot_be_raced_is_said():
    cases = [(python("silent"), 1, "sent no request"), (python("broken"), 1, "fails by itself: the command ended with status 7"),
             ([str(FOLDER / "absent")], 1, "status 127"), (["sh", "-c", "kill -9 $$"], 1, "ended by signal 9"), ([], 2, "races")]
    for program, status, text in cases:
        done = races("--budget", 2, program=program, status=status)
        assert text in done.stderr, (program, done.stdout, done.stderr)
    for words in (["--budget", "0"], ["--budget"], ["--port", "70000"], ["--unknown", "x"], ["--replays", "0"], ["--order", "a", "--all", "b"], ["--html", "a", "--all", "b"]):
        races(*words, program=["true"], status=2)
    for text in ("no JSON", "{}", '{"order": []}', '{"order": [{"id": "zz"}]}', '{"order": [{"id": 7}]}'):
        path = FOLDER / "order.json"
        path.write_text(text)
        assert str(path) in races("--order", path, program=python("counter", "right"), status=1).stderr


def a_child_that_stays_does_not_hold_it():
    began = time.monotonic()
    told = races("--budget", 3, program=python("fork"), status=0)
    assert sys.platform != "linux" or "It leaves 1 process behind, which runs on" in told.stdout, told.stdout
    assert time.monotonic() - began < 200


def two_at_once_do_not_see_each_other():
    both = [subprocess.Popen([BINARY, "races", "--budget", "4", "--out", FOLDER / "both", "--", *python("counter", "right")], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for one in both:
        out, _ = one.communicate(timeout=300)
        assert one.returncode == 0 and "with 4 requests" in out, out


def a_signal_ends_it_and_the_program():
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = subprocess.Popen([BINARY, "races", "--", *python("endless")], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(number)
        assert process.wait(timeout=60) == status


run("races", [a_lost_update_is_found_and_replayed, a_check_and_act_is_found, twins_pass, a_lost_answer_charges_twice, a_batch_in_part_and_a_conflict_are_met, what_is_late_is_met, the_wrapper_of_python_races_a_function,
              the_gate_holds_an_engine_in_the_process_of_the_test, the_wrapper_of_npm_races_a_function, a_test_that_ends_is_said, invariants_and_checks_tell_what_the_program_does_not, invariants_without_code, a_version_that_does_not_rise_is_told,
              what_cannot_be_raced_is_said, a_child_that_stays_does_not_hold_it, two_at_once_do_not_see_each_other, a_signal_ends_it_and_the_program])
