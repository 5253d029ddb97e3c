"""`dynalith mcp`, message by message. tests/e2e/mcp has the same by the protocol's public client library."""
import json
import socket
import subprocess

from harness import BINARY, ROOT, Server, children_of, free_port, is_running, key, run, until

HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}


def talk(lines, *words, url=None):
    """What it answers to the lines, one a line, until its input ends."""
    text = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    done = subprocess.run([BINARY, "mcp", *words, *(["--endpoint", url] if url else [])], input=text, capture_output=True, timeout=120)
    assert done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.splitlines()]


def call(name, number=1, **arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def modern(method, version="2026-07-28", **params):
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def test_handshake():
    for wanted, agreed in ("2024-11-05",) * 2, ("2025-06-18",) * 2, ("2025-11-25",) * 2, ("1999-01-01", "2025-11-25"), ("2026-07-28", "2025-11-25"):
        hello = {**HELLO, "params": {**HELLO["params"], "protocolVersion": wanted}}
        answer, = talk([hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}])
        assert answer["id"] == 0 and answer["result"]["protocolVersion"] == agreed, answer
        assert answer["result"]["capabilities"] == {"tools": {}, "resources": {}} and answer["result"]["serverInfo"]["name"] == "dynalith"
    assert talk([{**HELLO, "params": {}}])[0]["error"]["code"] == -32602


def test_requests_of_the_newest_revision():
    found, listed, other = talk([modern("server/discover"), modern("tools/list"), modern("tools/list", version="2031-01-01")])
    assert found["result"]["supportedVersions"][0] == "2026-07-28" and found["result"]["resultType"] == "complete"
    assert listed["result"]["resultType"] == "complete" and listed["result"]["ttlMs"] == 0 and listed["result"]["cacheScope"] == "private"
    assert other["error"]["code"] == -32022 and other["error"]["data"]["requested"] == "2031-01-01" and "2026-07-28" in other["error"]["data"]["supported"]
    old, = talk([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}])
    assert set(old["result"]) == {"tools"}


def test_malformed_lines():
    """Each has one answer at most, and none of them ends the conversation."""
    request = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
    cases = [(b"nonsense", -32700, None), (b"{\"jsonrpc\":\"2.0\",", -32700, None), (b"\xff\xfe", -32700, None), (b"[" * 100000, -32700, None),
             (b"5", -32600, None), (b"[]", -32600, None), (b"null", -32600, None),
             ({"id": 5, "method": "ping"}, -32600, None), ({**request, "jsonrpc": "1.0"}, -32600, None), ({"jsonrpc": "2.0", "id": 5}, -32600, None),
             ({**request, "id": None}, -32600, None), ({**request, "id": {"a": 1}}, -32600, None), ({**request, "method": 7}, -32600, None),
             ({**request, "params": [1]}, -32602, 5), ({**request, "method": "prompts/list"}, -32601, 5), ({**request, "method": "x" * 9000}, -32601, 5),
             (call("no_such_tool", 5), -32602, 5), ({**request, "method": "tools/call"}, -32602, 5),
             ({**request, "method": "tools/call", "params": {"name": "scan", "arguments": "x"}}, -32602, 5),
             ({**request, "method": "tools/list", "params": {"cursor": "x"}}, -32602, 5), ({**request, "method": "resources/read"}, -32602, 5),
             ({**request, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}, -32002, 5),
             ({**request, "method": "resources/read", "params": {"uri": "dynalith://docs/../CHANGELOG"}}, -32002, 5)]
    answers = talk([line for line, _, _ in cases] + [{**request, "id": "last"}])
    for (line, code, number), answer in zip(cases, answers, strict=False):
        assert answer["error"]["code"] == code and answer["id"] == number, (line, answer)
    assert answers[len(cases):] == [{"jsonrpc": "2.0", "id": "last", "result": {}}]


def test_messages_without_answer():
    lines = [b"", b"   ", {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}, {"jsonrpc": "2.0", "method": "no/such"},
             {"jsonrpc": "2.0", "id": 3, "result": {}}, {"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": ""}}]
    assert talk(lines) == []
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}, lines[2], 7]
    answer, = talk([batch])
    assert answer[0] == {"jsonrpc": "2.0", "id": 1, "result": {}} and answer[1]["error"]["code"] == -32600 and len(answer) == 2
    assert talk([[lines[2]]]) == []


def test_huge_lines():
    """More than 8 MB is refused without being kept; 7 MB is read."""
    big = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "y" * (7 << 20)}}
    assert talk([big, b"x" * (30 << 20), {**big, "id": 2, "params": {}}]) == [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "the message is longer than 8 MB"}},
        {"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_writes_are_refused_by_default():
    server = Server()
    client = server.client()
    client.create_table(TableName="kept", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        BillingMode="PAY_PER_REQUEST")
    client.put_item(TableName="kept", Item={"pk": {"S": "a"}})
    tools = {tool["name"]: tool for tool in talk([{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}], "--allow-writes")[0]["result"]["tools"]}
    writes = [call(name, name) for name, tool in tools.items() if not tool["annotations"]["readOnlyHint"]]
    writes += [call("delete_table", "x", table="kept"), call("put_item", "y", table="kept", item={"pk": "b"}),
               *(call("execute_statement", text, statement=text) for text in (
                   "DELETE FROM kept WHERE pk = 'a'", "insert into kept value {'pk': 'b'}", "/* SELECT */ DELETE FROM kept WHERE pk = 'a'",
                   "SELECTED", "EXISTS(SELECT * FROM kept WHERE pk = 'a')"))]
    answers = talk(writes, url=server.url)
    assert len(answers) == len(writes) > 14 and all(answer["result"]["isError"] for answer in answers), answers
    assert client.scan(TableName="kept")["Items"] == [{"pk": {"S": "a"}}]
    answer, = talk([call("put_item", table="kept", item={"pk": "b"})], "--allow-writes", url=server.url)
    assert not answer["result"]["isError"] and client.scan(TableName="kept")["Count"] == 2
    server.stop()


def test_update_table():
    """Indexes, throughput, the stream and time to live; what cannot be done together changes nothing."""
    server = Server()
    server.client().create_table(TableName="tab", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    describe = lambda: server.client().describe_table(TableName="tab")["Table"]

    def update(**arguments):
        answer, = talk([call("update_table", table="tab", **arguments)], "--allow-writes", url=server.url)
        return answer["result"]["isError"], answer["result"]["content"][0]["text"]

    index = {"IndexName": "by-n", "KeySchema": key("n"), "Projection": {"ProjectionType": "ALL"}}
    assert not update(index_updates=[{"Create": index}], attribute_definitions=[{"AttributeName": "n", "AttributeType": "N"}])[0]
    until(lambda: describe()["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE", "the index")
    assert not update(stream={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})[0] and describe()["StreamSpecification"]["StreamViewType"] == "NEW_IMAGE"
    units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    assert not update(billing_mode="PROVISIONED", throughput=units, index_updates=[{"Update": {"IndexName": "by-n", "ProvisionedThroughput": units}}])[0]
    assert describe()["ProvisionedThroughput"]["WriteCapacityUnits"] == 4
    is_error, text = update(time_to_live={"AttributeName": "end", "Enabled": True}, deletion_protection=True)
    assert is_error and "stands alone" in text and not describe()["DeletionProtectionEnabled"], text
    assert not update(time_to_live={"AttributeName": "end", "Enabled": True})[0]
    assert server.client().describe_time_to_live(TableName="tab")["TimeToLiveDescription"]["AttributeName"] == "end"
    is_error, text = update(nonsense=1)
    assert is_error and "no argument 'nonsense'" in text
    is_error, text = update()
    assert is_error and "ValidationException" in text, text
    server.stop()


def test_lists_say_what_is_left():
    server = Server()
    client = server.client()
    for i in range(130):
        client.create_table(TableName=f"t{i:03}", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    asked = [call("list_tables"), call("list_tables", limit=100), call("list_tables", limit=100, start_table="t099"), call("list_checkpoints", limit=2)]
    made = [{**call(""), "params": {"name": "make_checkpoint", "arguments": {"name": f"c{i}"}}} for i in range(5)]
    first, hundred, last, checkpoints = (answer["result"]["structuredContent"] for answer in talk([*made, *asked], "--allow-writes", url=server.url)[5:])
    assert (len(first["TableNames"]), first["left"]) == (25, 105) and (len(hundred["TableNames"]), hundred["left"]) == (100, 30), (first, hundred)
    assert len(last["TableNames"]) == 30 and "left" not in last
    assert len(checkpoints["checkpoints"]) == 2 and checkpoints["left"] == 3, checkpoints
    server.stop()


def test_no_server():
    answer, = talk([call("list_tables")], url=f"http://127.0.0.1:{free_port()}")
    assert answer["result"]["isError"] and "no answer from the server" in answer["result"]["content"][0]["text"]


def test_resources():
    """More tables than a page has; what a page or a table is; what is none, in both kinds of revisions."""
    server = Server("--insight", "on")
    client = server.client()
    for i in range(101):
        client.create_table(TableName=f"t{i:03}", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    ask = lambda method, **params: {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    first, last, wrong = talk([ask("resources/list"), ask("resources/list", cursor="t099"), ask("resources/list", cursor="no such ]")], url=server.url)
    uris = [resource["uri"] for resource in first["result"]["resources"]]
    assert uris[0] == "dynalith://report" and "dynalith://docs/testing" in uris and uris[-1] == "dynalith://tables/t099" and first["result"]["nextCursor"] == "t099"
    assert [resource["uri"] for resource in last["result"]["resources"]] == ["dynalith://tables/t100"] and "nextCursor" not in last["result"]
    assert wrong["error"]["code"] == -32602, wrong
    pages = [uri for uri in uris if uri.startswith("dynalith://docs/")]
    for uri, answer in zip(pages, talk([ask("resources/read", uri=uri) for uri in pages], url=server.url), strict=True):
        content, = answer["result"]["contents"]
        assert content["text"] == (ROOT / f"docs/{uri.removeprefix('dynalith://docs/')}.md").read_text() and content["mimeType"] == "text/markdown", uri
    table, none, bad, modern_none = talk([ask("resources/read", uri="dynalith://tables/t007"), ask("resources/read", uri="dynalith://tables/none"),
                                          ask("resources/read", uri="dynalith://tables/?"), modern("resources/read", uri="dynalith://tables/none")], url=server.url)
    assert json.loads(table["result"]["contents"][0]["text"])["Table"]["TableName"] == "t007"
    assert [answer["error"]["code"] for answer in (none, bad, modern_none)] == [-32002, -32002, -32602] and none["error"]["data"] == {"uri": "dynalith://tables/none"}
    server.stop()
    away, = talk([ask("resources/list")], url=f"http://127.0.0.1:{free_port()}")
    assert away["error"]["code"] == -32603 and "no answer from the server" in away["error"]["message"]


def test_cancellation():
    """A request under way is given up, one that waits is left out, and neither has an answer; one that is over, or unknown, changes nothing."""
    cancel = lambda number: {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes requests, and never answers
        process = subprocess.Popen([BINARY, "mcp", "--endpoint", f"http://127.0.0.1:{silent.getsockname()[1]}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def send(*lines):
            process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
            process.stdin.flush()
        try:
            send({"jsonrpc": "2.0", "id": "first", "method": "ping"}, call("list_tables", 1), call("list_tables", "2"), {"jsonrpc": "2.0", "id": 3, "method": "ping"})
            with silent.accept()[0]:
                assert json.loads(process.stdout.readline())["id"] == "first"
                send(cancel("2"), cancel("first"), cancel(99), cancel({}), {"jsonrpc": "2.0", "method": "notifications/cancelled"}, cancel(1))
                assert json.loads(process.stdout.readline()) == {"jsonrpc": "2.0", "id": 3, "result": {}}
            process.stdin.close()
            assert process.stdout.read() == b"" and process.wait(120) == 0
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def test_own_server_ends_with_it():
    """The server that it starts ends when its input does, and when it is killed."""
    for end in "close", "kill":
        process = subprocess.Popen([BINARY, "mcp", "--", "--in-memory"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process.stdin.write(json.dumps(call("list_tables")).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["structuredContent"] == {"TableNames": []}
        child, = children_of(process.pid)
        process.stdin.close() if end == "close" else process.kill()
        process.wait(120)
        until(lambda: not is_running(child), "the server's end")
        process.stdout.close()
    failed = subprocess.run([BINARY, "mcp", "--", "--no-such-option"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert failed.returncode == 1 and "no-such-option" in failed.stderr and not failed.stdout
    assert subprocess.run([BINARY, "mcp", "--nonsense"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120).returncode == 2


run("mcp", [test_handshake, test_requests_of_the_newest_revision, test_malformed_lines, test_messages_without_answer, test_huge_lines,
            test_writes_are_refused_by_default, test_update_table, test_lists_say_what_is_left, test_no_server, test_resources, test_cancellation, test_own_server_ends_with_it])
