"""`dynalith mcp` by the protocol's public client library: both kinds of revisions, schemas of tools and of what they answer, each tool called.

client.py BINARY: starts the server with a Dynalith of its own in memory.
"""
import json
import socket
import sys

import anyio
import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

BINARY = sys.argv[1]
TABLE = {"TableName": "shop", "BillingMode": "PAY_PER_REQUEST",
         "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
         "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}]}
READS = {"list_tables", "describe_table", "get_item", "query", "scan", "execute_statement", "explain", "report", "read_clock", "list_checkpoints"}
WRITES = {"create_table", "update_table", "delete_table", "put_item", "update_item", "delete_item", "transact_write", "turn_clock", "make_checkpoint", "roll_back"}


class Session:
    """A client, its tools, and a check of each argument and answer by the tool's own schemas."""

    def __init__(self, client, tools):
        self.client, self.tools, self.called = client, tools, set()

    async def __call__(self, name, /, **arguments):
        jsonschema.validate(arguments, self.tools[name].input_schema)
        answer = await self.client.call_tool(name, arguments)
        assert not answer.is_error, answer.content[0].text
        jsonschema.validate(answer.structured_content, self.tools[name].output_schema)
        assert json.loads(answer.content[0].text) == answer.structured_content
        self.called.add(name)
        return answer.structured_content

    async def refused(self, name, text, /, **arguments):
        answer = await self.client.call_tool(name, arguments)
        assert answer.is_error and text in answer.content[0].text, answer
        assert answer.structured_content is None


async def opened(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations.idempotent_hint is not None and tool.annotations.destructive_hint is not None and tool.annotations.open_world_hint is False
        assert tool.title and tool.description and tool.annotations.read_only_hint == (tool.name in READS), tool
        for name, schema in tool.input_schema["properties"].items():
            assert schema["type"] and schema["description"], (tool.name, name)
        assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
    return Session(client, tools)


async def fill(call):
    await call("create_table", request=TABLE)
    await call("update_table", table=TABLE["TableName"], time_to_live={"AttributeName": "expires", "Enabled": True})
    await call("put_item", table="shop", item={"pk": "a", "sk": 1, "tags": ["x", {"deep": True}], "gone": None})
    await call("put_item", table="shop", item={"pk": {"S": "a"}, "sk": {"N": "2"}, "set": {"SS": ["p", "q"]}}, condition="attribute_not_exists(pk)")
    await call("transact_write", actions=[{"Put": {"TableName": "shop", "Item": {"pk": {"S": "a"}, "sk": {"N": "3"}}}},
                                          {"Put": {"TableName": "shop", "Item": {"pk": {"S": "b"}, "sk": {"N": "12345678901234567890123456789012345678"}}}}])


async def read(call):
    assert (await call("list_tables"))["TableNames"] == ["shop"]
    assert (await call("describe_table", table="shop"))["Table"]["TableStatus"] == "ACTIVE"
    item = (await call("get_item", table="shop", key={"pk": "a", "sk": 1}, consistent=True))["Item"]
    assert item["tags"] == {"L": [{"S": "x"}, {"M": {"deep": {"BOOL": True}}}]} and item["gone"] == {"NULL": True}
    assert "Item" not in await call("get_item", table="shop", key={"pk": "no", "sk": 1})
    numbers = lambda answer: [i["sk"]["N"] for i in answer["Items"]]
    assert numbers(await call("query", table="shop", key={"pk": "a"})) == ["1", "2", "3"]
    assert numbers(await call("query", table="shop", key={"pk": {"S": "a"}}, condition="#s > :s", names={"#s": "sk"}, values={":s": 1}, forward=False)) == ["3", "2"]
    assert numbers(await call("query", table="shop", condition="pk = :p", values={":p": {"S": "b"}})) == ["12345678901234567890123456789012345678"]
    first = await call("scan", table="shop", limit=3)
    rest = await call("scan", table="shop", start_key=first["LastEvaluatedKey"])
    assert first["Count"] == 3 and rest["Count"] == 1 and "LastEvaluatedKey" not in rest
    assert numbers(await call("scan", table="shop", filter="sk = :s", values={":s": 2})) == ["2"]
    assert numbers(await call("execute_statement", statement=" select * FROM shop WHERE pk = ? AND sk < ?", parameters=["a", {"N": "2"}])) == ["1"]
    plan = await call("explain", operation="Query", request={"TableName": "shop", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}})
    assert plan
    assert "shop" in (await call("report"))["report"]


async def change(call):
    await call("make_checkpoint", name="before")
    assert "before" in json.dumps(await call("list_checkpoints"))
    updated = await call("update_item", table="shop", key={"pk": "a", "sk": 1}, update="SET n = :n", values={":n": 7}, return_values="ALL_NEW")
    assert updated["Attributes"]["n"] == {"N": "7"}
    await call("delete_item", table="shop", key={"pk": "a", "sk": 2})
    assert (await call("scan", table="shop"))["Count"] == 3
    await call("roll_back", name="before")
    assert (await call("scan", table="shop"))["Count"] == 4
    now = (await call("read_clock"))["now"]
    assert (await call("turn_clock", advance="30d", freeze=True))["now"] >= now + 30 * 86400
    assert (await call("turn_clock", release=True))["frozen"] is False


async def refuse(call):
    await call.refused("get_item", "'key' is missing", table="shop")
    await call.refused("get_item", "there is no argument 'nonsense'", table="shop", key={}, nonsense=1)
    await call.refused("get_item", "'table' must be a string", table=5, key={})
    await call.refused("scan", "'limit' must be", table="shop", limit=1001)
    await call.refused("query", "wants key, condition or both", table="shop")
    await call.refused("roll_back", "'name' must be", name="../reset")
    await call.refused("scan", "ResourceNotFoundException", table="none")
    await call.refused("get_item", "ValidationException", table="shop", key={"pk": 1, "sk": "wrong"})
    await call.refused("execute_statement", "must begin with SELECT", statement="DELETE FROM shop WHERE pk = 'a' AND sk = 1")


async def bound(call):
    """Answers have 128 KB at most: fewer rows where they are long, and a reason where one row is too long."""
    for i in range(6):
        await call("put_item", table="shop", item={"pk": "long", "sk": i, "text": "x" * 50000})
    page, seen = {}, []
    while True:
        page = await call("query", table="shop", key={"pk": "long"}, **({"start_key": page["LastEvaluatedKey"]} if page else {}))
        assert len(json.dumps(page)) < 140000
        seen += [i["sk"]["N"] for i in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
    assert seen == ["0", "1", "2", "3", "4", "5"]
    await call("put_item", table="shop", item={"pk": "huge", "sk": 0, "text": "x" * 300000})
    await call.refused("get_item", "131072 are the most", table="shop", key={"pk": "huge", "sk": 0})


async def resources(call):
    """Each that is listed can be read, and each template."""
    listed = (await call.client.list_resources()).resources
    assert {"dynalith://report", "dynalith://docs/testing", "dynalith://tables/shop"} <= {str(resource.uri) for resource in listed}
    for resource in listed:
        content, = (await call.client.read_resource(str(resource.uri))).contents
        assert resource.title and resource.description and content.mime_type == resource.mime_type and len(content.text) > 100, resource
    described, = (await call.client.read_resource("dynalith://tables/shop")).contents
    assert json.loads(described.text) == await call("describe_table", table="shop")
    assert [t.uri_template for t in (await call.client.list_resource_templates()).resource_templates] == ["dynalith://tables/{table}", "dynalith://docs/{+page}"]
    for uri in "dynalith://tables/none", "dynalith://nonsense":
        try:
            await call.client.read_resource(uri)
            raise AssertionError("read")
        except MCPError as error:
            assert error.error.code in (-32602, -32002), error


async def test_all_tools():
    """The newest revision, without a handshake."""
    async with Client(stdio_client(StdioServerParameters(command=BINARY, args=["mcp", "--allow-writes", "--", "--in-memory"]))) as client:
        assert client.protocol_version == "2026-07-28", client.protocol_version
        call = await opened(client)
        assert set(call.tools) == READS | WRITES, set(call.tools) ^ (READS | WRITES)
        for step in fill, read, change, refuse, bound, resources:
            await step(call)
        await call("delete_table", table="shop")
        assert call.called == set(call.tools), set(call.tools) - call.called


async def cancelled(client, silent):
    """The client gives a call up while the server of the tables does not answer; the next one is answered."""
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "list_tables", {})
        with (await anyio.to_thread.run_sync(silent.accept))[0]:
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
    assert (await client.read_resource("dynalith://docs/testing")).contents


async def test_cancellation():
    for mode in {}, {"mode": "legacy"}:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            server = StdioServerParameters(command=BINARY, args=["mcp", "--endpoint", f"http://127.0.0.1:{silent.getsockname()[1]}"])
            async with Client(stdio_client(server), **mode) as client:
                await cancelled(client, silent)


async def test_handshake_and_no_writes():
    """The revisions with a handshake; writes are neither listed nor carried out."""
    async with Client(stdio_client(StdioServerParameters(command=BINARY, args=["mcp", "--", "--in-memory"])), mode="legacy") as client:
        assert client.protocol_version == "2025-11-25" and client.server_info.name == "dynalith"
        call = await opened(client)
        assert set(call.tools) == READS
        await client.send_ping()
        for name in WRITES:
            await call.refused(name, "--allow-writes")
        assert (await call("list_tables"))["TableNames"] == []
        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("called")
        except MCPError as error:
            assert error.error.code == -32602


def main():
    passed = failed = 0
    for test in test_all_tools, test_cancellation, test_handshake_and_no_writes:
        try:
            anyio.run(test)
            passed += 1
        except BaseException:
            import traceback
            failed += 1
            traceback.print_exc()
    print(f"e2e mcp-client: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
