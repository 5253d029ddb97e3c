"""libdynalith: the example of docs/library.md, and boto3 in this process without a socket."""
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile

from harness import ROOT, raises, run

BINARY = pathlib.Path(os.environ.get("DYNALITH_BINARY", ROOT / "build/debug/dynalith")).resolve()
LIBRARY = BINARY.parent / "libdynalith.so"
PAGE = (ROOT / "docs/library.md").read_text()
TABLE = {"TableName": "orders", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
         "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}

sys.path.insert(0, str(ROOT / "packaging/python"))
os.environ["DYNALITH_LIBRARY"] = str(LIBRARY)


def open_library(*arguments):
    from dynalith import Dynalith
    return Dynalith(*arguments, in_process=True)


def test_the_example_in_c():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "example.c").write_text(re.search(r"```c\n(.*?)```", PAGE, flags=re.S).group(1))
        (path / "dynalith.h").write_text((ROOT / "server/library/dynalith.h").read_text())
        (path / f"libdynalith.so.{soname()}").symlink_to(LIBRARY)
        subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}", str(path / "example.c"), str(LIBRARY),
                        f"-Wl,-rpath,{folder}", "-o", str(path / "example")], check=True)
        printed = subprocess.run([str(path / "example")], stdout=subprocess.PIPE, check=True, text=True, env={}).stdout.splitlines()
    assert printed[0].startswith('CreateTable: 200 {"TableDescription":'), printed
    assert printed[1:] == ["PutItem: 200 {}", 'GetItem: 200 {"Item":{"id":{"S":"1"},"total":{"N":"9.5"}}}'], printed


def soname():
    text = subprocess.run(["readelf", "-d", str(LIBRARY)], stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.search(r"\[libdynalith\.so\.(\d+)\]", text).group(1)


def test_only_its_own_names_are_exported():
    names = subprocess.run(["nm", "-D", "--defined-only", str(LIBRARY)], stdout=subprocess.PIPE, check=True, text=True).stdout.split()[2::3]
    header = (ROOT / "server/library/dynalith.h").read_text()
    assert sorted(names) == sorted(re.findall(r"^DYNALITH_EXPORT [^;]*?(dynalith_\w+)\(", header, flags=re.M)), names
    assert len(names) <= 15


def test_the_example_in_python():
    exec(re.search(r"```python\n(.*?)```", PAGE, flags=re.S).group(1), {})


def test_no_socket_is_opened():
    with open_library() as server:
        real, socket.socket = socket.socket, None  # whoever wants one fails
        try:
            client = server.client()
            client.create_table(**TABLE)
            client.put_item(TableName="orders", Item={"id": {"S": "1"}})
            assert server.control("GET", "namespaces") and client.scan(TableName="orders")["Count"] == 1
        finally:
            socket.socket = real


def test_namespaces_and_instances_are_apart():
    with open_library() as one, open_library() as two:
        one.client().create_table(**TABLE)
        one.namespace(7, "eu-west-1").client().create_table(**TABLE)
        table = one.namespace(7, "eu-west-1").client().describe_table(TableName="orders")["Table"]
        assert table["TableArn"] == "arn:aws:dynamodb:eu-west-1:000000000007:table/orders"
        assert two.client().list_tables()["TableNames"] == [] == one.namespace(8).client().list_tables()["TableNames"]


def test_errors_retries_and_control():
    with open_library() as server:
        client = server.client()
        client.create_table(**TABLE)
        raises("ResourceNotFoundException", client.describe_table, TableName="missing")
        server.checkpoint("empty")
        server.faults({"operation": "PutItem", "first": 1, "close": "before"}, {"operation": "GetItem", "first": 1, "crc": "wrong"})
        client.put_item(TableName="orders", Item={"id": {"S": "1"}})
        assert client.get_item(TableName="orders", Key={"id": {"S": "1"}})["Item"] == {"id": {"S": "1"}}
        assert server.faults.fired() == [1, 1]
        server.rollback("empty")
        assert client.scan(TableName="orders", ConsistentRead=True)["Count"] == 0


def test_time_to_live_by_the_clock():
    with open_library() as server:
        client = server.client()
        client.create_table(**TABLE)
        client.update_time_to_live(TableName="orders", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ends"})
        server.clock.set("2030-01-01T00:00:00Z", freeze=True)
        client.put_item(TableName="orders", Item={"id": {"S": "1"}, "ends": {"N": "1893456060"}})
        server.clock.advance("2m")
        assert client.scan(TableName="orders", ConsistentRead=True)["Count"] == 0


def test_apply_and_a_data_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "orders.json").write_text('{"TableName": "orders", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], '
                                          '"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}')
        with open_library("--db-path", str(path / "a.db")) as server:
            server.apply(path / "orders.json")
            server.client().put_item(TableName="orders", Item={"id": {"S": "kept"}})
        with open_library(f"--db-path={path / 'a.db'}") as server:
            assert server.resource().Table("orders").scan()["Items"] == [{"id": "kept"}]


def test_signatures_where_the_options_want_them():
    with open_library("--auth", "open", "--log-level", "debug") as server:
        client = server.client()
        client.create_table(**TABLE)
        assert client.list_tables()["TableNames"] == ["orders"]
        assert '"operation":"ListTables"' in server.log()


def test_bad_options_are_an_error_of_python():
    from dynalith import DynalithError
    for arguments, text in ((["--cache-mb", "0"], "wants a number from 1"), (["--troughput", "off"], "did you mean"), (["--db-path", "/nowhere/a.db"], "/nowhere/a.db")):
        try:
            open_library(*arguments)
        except DynalithError as error:
            assert text in str(error), error
        else:
            raise AssertionError(arguments)


def test_a_child_of_a_fork_is_refused():
    from dynalith import DynalithError
    with open_library() as server:
        child = os.fork()
        if child == 0:
            try:
                server.control("GET", "clock")
            except DynalithError as error:
                os._exit(0 if "fork" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        server.control("GET", "clock")


if LIBRARY.exists():
    run("library", [value for name, value in list(globals().items()) if name.startswith("test_")])
else:  # with sanitizers there is none: Python could not load it
    print(f"e2e library: no {LIBRARY.name} beside the server")
