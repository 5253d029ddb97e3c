"""Each endpoint below /_dynalith/ with what it cannot take: one clear JSON error each, and nothing is changed. The list of endpoints is the server's own."""
import json
import urllib.error
import urllib.request

from harness import Server, create_app, run


def ask(server, method, path, body=None, query=""):
    """The status and the JSON of an answer; `body` is bytes, or becomes JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.url}/_dynalith/{path}{query}", data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def given(server, method, path, body=None, query=""):
    status, answer = ask(server, method, path, body, query)
    assert status == 200, answer
    return answer


def state(server, client):
    """All that an endpoint can change."""
    clock = given(server, "GET", "clock")
    return (given(server, "GET", "checkpoints"), given(server, "GET", "snapshots"), given(server, "GET", "faults"), given(server, "GET", "lag"),
            given(server, "GET", "conflicts"), given(server, "GET", "throughput"), given(server, "GET", "replication"), clock["now"], clock["frozen"], client.list_tables()["TableNames"],
            client.scan(TableName="app", ConsistentRead=True)["Items"], [s["StreamArn"] for s in server.client(service="dynamodbstreams").list_streams()["Streams"]])


def prepared():
    server = Server()
    client = server.client()
    create_app(client)
    client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "1"}})
    given(server, "POST", "clock", {"set": 1_900_000_000, "freeze": True})
    given(server, "POST", "checkpoints", {"name": "there"})
    given(server, "PUT", "snapshots/there")
    given(server, "PUT", "faults", {"rules": [{"operation": "DescribeEndpoints", "error": "InternalServerError"}]})
    given(server, "PUT", "lag", {"tables": {"other": {"lag": 1}}})
    given(server, "PUT", "throughput", {"tables": {"other": {"throughput": "enforce"}}})
    return server, client


def is_error(status, answer):
    return status == 400 and set(answer) == {"__type", "message"} and answer["__type"].endswith("Exception") and 10 < len(answer["message"]) < 600 and \
        "\n" not in answer["message"]


# Their bodies are not JSON of ours, or they take none and do nothing but show.
OTHERS = {("GET", "health"), ("GET", "metrics"), ("GET", "events"), ("POST", "check"), ("POST", "backup"), ("POST", "streams/rotate")}


def endpoints(server):
    for page in given(server, "GET", "")["pages"]:
        path = page["path"].removeprefix("/_dynalith/")
        if path and (page["method"], path) not in OTHERS:
            yield page["method"], path.replace("NAME", "there")


def bodies_that_are_none_of_theirs():
    server, client = prepared()
    before = state(server, client)
    tried = 0
    for method, path in endpoints(server):
        for body in (b'{"unheard_of": 1}', b'{"name": "x", "unheard_of": 1}', b"[]", b'"text"', b"7", b"{", b'{"name": }', b"\xff\xfe", b'{"a": 1} {"b": 2}', b"null",
                     b"[" * 500):
            status, answer = ask(server, method, path, body)
            assert method == "GET" and status == 200 or is_error(status, answer), (method, path, body, status, answer)
            assert state(server, client) == before, (method, path, body)
            tried += 1
    assert tried > 200
    server.stop()


def members_of_a_wrong_type():
    server, client = prepared()
    before = state(server, client)
    values = (None, True, -1, 1.5, 1e300, "", "text", [], [1], {}, {"a": 1})
    members = {
        ("POST", "reset"): {"keep": (), "tables": ([],)}, ("POST", "checkpoints"): {"name": ("text",)}, ("POST", "clone"): {"from": (), "to": (), "replace": ()},
        ("PUT", "faults"): {"rules": ([],)}, ("PUT", "lag"): {"lag": (), "index_lag": (), "jitter": (), "seed": (), "tables": ()},
        ("PUT", "conflicts"): {"conflicts": ()}, ("PUT", "throughput"): {"throughput": (), "tables": ({},)},
        ("POST", "clock"): {"set": (1.5,), "advance": (-1, 1.5), "freeze": (True,), "release": (True,)},
        ("POST", "forecast"): {"scale": (1.5, 1), "days": (), "growth": (), "keys": (), "seed": (), "free_tier": (True,), "plan": ()},
        ("POST", "snapshots/there/dump"): {"cursor": ()}, ("POST", "snapshots/there/load"): {"block": ()},
    }
    for (method, path), names in members.items():
        for name, good in names.items():
            for value in values:
                if any(value == g and isinstance(value, bool) == isinstance(g, bool) for g in good):
                    continue
                status, answer = ask(server, method, path, {name: value})
                assert is_error(status, answer), (method, path, name, value, status, answer)
                assert state(server, client) == before, (method, path, name, value)
    server.stop()


def names_that_are_there_or_not():
    server, client = prepared()
    before = state(server, client)
    for method, path, body, words in (
            ("POST", "checkpoints", {"name": "there"}, "there"), ("PUT", "snapshots/there", None, "there"),
            ("POST", "checkpoints/none/rollback", None, "none"), ("DELETE", "checkpoints/none", None, "none"),
            ("POST", "snapshots/none/restore", None, "none"), ("DELETE", "snapshots/none", None, "none"), ("POST", "snapshots/none/dump", {}, "none"),
            ("POST", "checkpoints", {"name": "a b"}, "letters"), ("POST", "checkpoints", {"name": "x" * 65}, "64"), ("POST", "checkpoints", {}, "name"),
            ("PUT", "snapshots/a%20b", None, "letters"), ("DELETE", "checkpoints/" + "x" * 65, None, "64"),
            ("POST", "reset", {"tables": ["none"]}, "none"), ("POST", "reset", {"keep": "all"}, "tables"), ("POST", "streams/rotate?table=none", None, "not found"),
            ("POST", "clone", {"to": ["000000000000"]}, "000000000000"), ("POST", "clone", {"to": ["12"]}, "12"), ("POST", "clone", {}, "to"),
            ("PUT", "faults", {"rules": [{"operation": "NoSuch", "error": "Throttling"}]}, "NoSuch"),
            ("PUT", "faults", {"rules": [{"operation": "PutItem", "error": "NoSuch"}]}, "NoSuch"),
            ("PUT", "faults", {"rules": [{"operation": "ListTables", "table": "app", "error": "InternalServerError"}]}, "never"),
            ("PUT", "faults", {"rules": [{"operation": "PutItem", "page": 1}]}, "never"),
            ("PUT", "faults", {"rules": [{"error": "InternalServerError"}, {"operation": "PutItem", "error": "InternalServerError"}]}, "rule 2"),
            ("PUT", "faults", {"rules": [{"operation": "PutItem", "hold": 0}]}, "hold"),
            ("PUT", "faults", {"rules": [{"operation": "PutItem", "hold": 5, "crc": "wrong"}]}, "hold"),
            ("POST", "clock", {"set": "yesterday"}, "set"), ("POST", "clock", {"advance": "soon"}, "advance")):
        status, answer = ask(server, method, path, body)
        assert is_error(status, answer) and words.lower() in answer["message"].lower(), (method, path, body, status, answer)
        assert state(server, client) == before, (method, path, body)
    server.stop()


def namespaces_and_paths_that_are_none():
    server, client = prepared()
    before = state(server, client)
    for method, path in endpoints(server):
        for query in ("?account=12", "?account=00000000000a", "?account=000000000000&region=", "?region=" + "x" * 64, "?account=000000000000&region=a%2Fb"):
            status, answer = ask(server, method, path, {} if method != "GET" else None, query)
            assert is_error(status, answer), (method, path, query, status, answer)
        for query in ("?acount=111111111111", "?account=000000000000&Region=us-east-1", "?tables=x"):
            status, answer = ask(server, method, path, {} if method != "GET" else None, query)
            assert is_error(status, answer) and "There is no parameter" in answer["message"], (method, path, query, status, answer)
        for query in ("?account", "?=x", "?account=000000000000&region", "?all", "?&=&", "?X-Amz-Date"):
            status, answer = ask(server, method, path, {} if method != "GET" else None, query)
            assert is_error(status, answer) and "NAME=VALUE" in answer["message"], (method, path, query, status, answer)
        for query in ("?all=1", "?all=", "?all=True", "?all=false&all=x", *(() if path == "clock" else ("?all=true", "?all=false"))):
            status, answer = ask(server, method, path, {} if method != "GET" else None, query)
            assert is_error(status, answer) and ("'all'" in answer["message"]), (method, path, query, status, answer)
        status, answer = ask(server, "PATCH", path, {})
        assert status == 405 and answer["pages"], (path, status, answer)
        status, answer = ask(server, method, path + "/more/more/more", {} if method != "GET" else None)
        assert status == 404 and answer["pages"], (path, status, answer)
        assert state(server, client) == before, (method, path)
    for query in ("?all=true", "?all=false", "?", "?&", "?account=000000000000&&region=us-east-1&"):
        status, answer = ask(server, "GET", "clock", query=query)
        assert status == 200, (query, answer)
    assert ask(server, "GET", "events", query="?bodies=bare")[0] == 400 and ask(server, "GET", "health", query="?probe=1")[0] == 200
    server.stop()


run("control", [bodies_that_are_none_of_theirs, members_of_a_wrong_type, names_that_are_there_or_not, namespaces_and_paths_that_are_none])
