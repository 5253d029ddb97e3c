"""Busy workers: what is served while other requests take long. Nothing here measures a time: answers come in an order."""
import json
import select

import raw
from harness import Server, create_app, run, until

LONG = " OR ".join(["contains(l, :v)"] * 200)  # of a list that fills an item


def server_with_a_long_list(*flags):
    server = Server("--request-cpu-ms", "0", *flags)
    client = server.client()
    create_app(client)
    item = {"PK": {"S": "p"}, "SK": {"S": "long"}, "l": {"L": [{"NULL": True}] * 190_000}}
    assert raw.ask(server, raw.request("PutItem", json.dumps({"TableName": "app", "Item": item}).encode())).status == 200
    client.put_item(TableName="app", Item={"PK": {"S": "p"}, "SK": {"S": "short"}})
    client.close()
    return server


def long_query():
    """A second of work or more, of which nothing comes."""
    return raw.request("Query", json.dumps({
        "TableName": "app", "KeyConditionExpression": "PK = :p", "FilterExpression": LONG,
        "ExpressionAttributeValues": {":p": {"S": "p"}, ":v": {"S": "none"}}}).encode())


def begin(server, request, n, threads):
    """Connections with a long request each; as many are under way as there are workers."""
    busy = [raw.connect(server) for _ in range(n)]
    for s in busy:
        s.sendall(request)
    until(lambda: raw.figures(server)["dynalith_requests_under_way"] > threads, "the workers are not busy", 20)
    return busy


def end(server, busy):
    for s in busy:
        reply = raw.read_reply(s)
        assert reply.status == 200 and json.loads(reply.body)["Count"] == 0, reply.body
        s.close()
    server.stop()


def none_is_ready(sockets):
    return not select.select(sockets, [], [], 0)[0]


def health_does_not_wait_for_workers():
    server = server_with_a_long_list("--threads", "2")
    busy = begin(server, long_query(), 8, 2)
    for request in (raw.GET_HEALTH, raw.GET_METRICS, raw.GET_HEALTH.replace(b"GET", b"HEAD")):
        assert raw.ask(server, request).status == 200
    with raw.connect(server) as s:  # in pieces
        for byte in raw.GET_HEALTH:
            s.sendall(bytes([byte]))
        assert raw.read_reply(s).status == 200
    assert none_is_ready(busy), "the workers were not busy for long enough to prove anything"
    end(server, busy)


def health_does_not_wait_for_connections():
    """At the limit of connections, with those beyond it silent."""
    server = server_with_a_long_list("--connection-limit", "8", "--threads", "1")
    busy = begin(server, long_query(), 7, 1)
    crowd = [raw.connect(server) for _ in range(300)]
    for _ in range(3):
        assert raw.ask(server, raw.GET_HEALTH).status == 200
    assert raw.figures(server)["dynalith_connections_over_total"] >= 300
    assert none_is_ready(busy), "the workers were not busy for long enough to prove anything"
    [s.close() for s in crowd]
    end(server, busy)


run("busy", [health_does_not_wait_for_workers, health_does_not_wait_for_connections])
