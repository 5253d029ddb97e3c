"""--exit-with-parent, and the Python package that goes by it: a server ends with the process that started it."""
import pathlib
import signal
import subprocess
import sys
import tempfile
import urllib.request
import zipfile

from harness import BINARY, ROOT, is_running, run, until

ARGUMENTS = [BINARY, "--in-memory", "--port", "0", "--exit-with-parent", "--log-level", "warn"]


def started():
    server = subprocess.Popen(ARGUMENTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    assert urllib.request.urlopen(f"{url}/_dynalith/health", timeout=120).status == 200
    return server, url


def ends_with_standard_input():
    server, _ = started()
    server.stdin.write("what comes is read and means nothing\n")
    server.stdin.flush()
    assert server.poll() is None
    server.stdin.close()
    assert server.wait(120) == 0
    server.stdout.close()
    assert server.stderr.read() == ""
    server.stderr.close()


def removes_a_file_when_it_ends():
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "log"
        with open(file, "wb") as log:
            server = subprocess.Popen([*ARGUMENTS, "--remove-on-exit", file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        assert server.stdout.readline() and file.exists()
        server.stdin.close()
        assert server.wait(120) == 0 and not file.exists()
        server.stdout.close()


def ends_on_a_signal_too():
    server, _ = started()
    server.send_signal(signal.SIGTERM)
    server.communicate()
    assert server.returncode == 0


def without_it_standard_input_means_nothing():
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen([a for a in ARGUMENTS if a not in ("--exit-with-parent", "warn", "--log-level")], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=log, text=True)

        def lines():
            log.seek(0)
            return log.read()
        until(lambda: "url=http" in lines(), "it is ready")
        server.send_signal(signal.SIGTERM)
        assert server.communicate()[0] == "" and server.returncode == 0
        assert "ends on signal 15" in lines()


PROGRAM = '''import sys, time
sys.path.insert(0, sys.argv[1])
from dynalith import Dynalith
with Dynalith() as server:
    own, other = server, server.namespace(7)
    for namespace, name in ((own, "mine"), (other, "theirs")):
        namespace.client().create_table(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                                        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}])
    own.checkpoint("a")
    own.client().delete_table(TableName="mine")
    own.rollback("a")
    assert [n.client().list_tables()["TableNames"] for n in (own, other)] == [["mine"], ["theirs"]]
    own.faults({"operation": "ListTables", "first": 1, "error": "ThrottlingException"})
    assert own.client().list_tables()["TableNames"] == ["mine"] and own.faults.fired() == [1]
    assert "is ready" in server.log()
    print(server._process.pid, flush=True)
    time.sleep(float(sys.argv[2]))
'''


def python_package():
    with tempfile.TemporaryDirectory() as folder:
        made = [subprocess.run([ROOT / "packaging/make-wheel", "any", BINARY, "", f"{folder}/{name}"], check=True, capture_output=True, text=True).stdout.strip()
                for name in ("one", "two")]
        assert pathlib.Path(made[0]).read_bytes() == pathlib.Path(made[1]).read_bytes(), "two builds, the same bytes"
        with zipfile.ZipFile(made[0]) as wheel:
            names = wheel.namelist()
            assert names[-1].endswith(".dist-info/RECORD") and any(n.endswith("licenses/LICENSE") for n in names)
            binary = next(n for n in names if n.endswith("/scripts/dynalith"))
            assert wheel.getinfo(binary).external_attr >> 16 & 0o111
            wheel.extractall(folder)
        pathlib.Path(folder, binary).chmod(0o755)
        command = [sys.executable, "-c", PROGRAM, folder]
        environment = {"DYNALITH_BINARY": f"{folder}/{binary}"}
        ends = subprocess.Popen([*command, "0"], stdout=subprocess.PIPE, text=True, env=environment)
        pid = int(ends.communicate()[0])
        assert ends.returncode == 0 and not is_running(pid)
        killed = subprocess.Popen([*command, "600"], stdout=subprocess.PIPE, text=True, env=environment)
        pid = int(killed.stdout.readline())
        assert is_running(pid)
        killed.kill()
        killed.communicate()
        until(lambda: not is_running(pid), "the server ended")


run("parent", [ends_with_standard_input, removes_a_file_when_it_ends, ends_on_a_signal_too, without_it_standard_input_means_nothing, python_package])
