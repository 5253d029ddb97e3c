"""Busy workers: what is served while other requests take long. Nothing here measures a time: answers come in an order."""
import json
import select

import raw
from harness import Server, create_app, of_files, run, until

LONG = " OR ".join(["contains(l,:v)"] * 220)  # of a list that fills an item; fewer where the server is slow, see shorten_what_is_long
ENOUGH = 3  # seconds of CPU time that a long request should take at least where it may be shortened
LISTS = 3  # a page of a Query
NONE = {":v": {"SS": ["a", "c"]}}  # what each element is compared with to its end


def short(operation="GetItem", **parameters):
    return raw.request(operation, json.dumps({"TableName": "app", **parameters}).encode())


SHORT = {"PK": {"S": "p"}, "SK": {"S": "short"}}


def server_with_a_long_list(*flags, disk=False):
    server = Server("--request-cpu-ms", "0", *flags, disk=disk)
    client = server.client()
    create_app(client)
    for i in range(LISTS):
        assert raw.ask(server, short("PutItem", Item={"PK": {"S": "p"}, "SK": {"S": f"long{i}"}, "l": {"L": [{"SS": ["a", "b"]}] * 70_000}})).status == 200
    client.put_item(TableName="app", Item={"PK": {"S": "p"}, "SK": {"S": "short"}})
    client.close()
    return server


def long_query(condition=None):
    """Half a second of work or more, of which nothing comes."""
    return short("Query", KeyConditionExpression="PK = :p", FilterExpression=condition or LONG, ExpressionAttributeValues={":p": {"S": "p"}, **NONE})


def shorten_what_is_long():
    """A server built with a sanitizer takes ten times as long: minutes in all, and clients would give up."""
    global LONG
    clauses, sample = LONG.split(" OR "), 10
    server = server_with_a_long_list("--threads", "1")
    spent = lambda: raw.figures(server)["process_cpu_seconds_total"]
    before = spent()
    assert raw.ask(server, long_query(" OR ".join(clauses[:sample]))).status == 200
    of_one = (spent() - before) / sample
    server.stop()
    LONG = " OR ".join(clauses[:max(sample, int(ENOUGH / of_one))])


def long_write():
    """The same in the writers' turn."""
    checks = [{"ConditionCheck": {"TableName": "app", "Key": {"PK": {"S": "p"}, "SK": {"S": f"long{i}"}}, "ConditionExpression": LONG,
                                  "ExpressionAttributeValues": NONE}} for i in range(LISTS)]
    return raw.request("TransactWriteItems", json.dumps({"TransactItems": checks}).encode())


def begin(server, request, n, threads):
    """Connections with a long request each; as many are under way as there are workers."""
    busy = [raw.connect(server) for _ in range(n)]
    for s in busy:
        s.sendall(request)
    until(lambda: raw.figures(server)["dynalith_requests_under_way"] > threads, "the workers are not busy", 20)
    return busy


def end(server, busy, status=200):
    """`status` None: no reply is under way."""
    for s in busy:
        reply = raw.read_reply(s) if status else None
        assert not reply or reply.status == status, reply.body
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


@of_files
def short_requests_do_not_wait_for_long_ones():
    """Not on a database: a worker that waits for it uses no CPU time, and goes on waiting. One worker, and more long requests than there are threads for these."""
    server = server_with_a_long_list("--threads", "1")
    with raw.connect(server) as before:  # a connection that the worker had already
        before.sendall(short(Key=SHORT))
        assert raw.read_reply(before).status == 200
        busy = begin(server, long_query(), 8, 1)
        for s in (before, raw.connect(server)):
            for request in (short(Key=SHORT), short("Query", KeyConditionExpression="PK = :p AND SK = :s",
                                                    ExpressionAttributeValues={":p": {"S": "p"}, ":s": {"S": "short"}}), raw.GET_HEALTH):
                s.sendall(request)
                assert raw.read_reply(s).status == 200
        s.close()
    assert none_is_ready(busy), "the requests were not long enough to prove anything"
    assert raw.figures(server)["dynalith_requests_aside_total"] >= 4
    end(server, busy)


@of_files
def connections_of_a_worker_share_its_time():
    """A request of some milliseconds is no long one for a worker of its own; where many connections share the worker, it runs elsewhere."""
    server = server_with_a_long_list("--threads", "1")
    crowd = [raw.connect(server) for _ in range(60)]
    for s in crowd:
        s.sendall(short(Key=SHORT))
        assert raw.read_reply(s).status == 200
    before = raw.figures(server)["dynalith_requests_aside_total"]
    middling = short("Query", KeyConditionExpression="PK = :p AND SK = :s", FilterExpression=" OR ".join(["contains(l,:v)"] * 4),
                     ExpressionAttributeValues={":p": {"S": "p"}, ":s": {"S": "long0"}, **NONE})
    assert raw.ask(server, middling).status == 200
    assert raw.figures(server)["dynalith_requests_aside_total"] == before + 1
    end(server, crowd, None)


@of_files
def reads_do_not_wait_for_writers_that_wait():
    """A long write, and others that wait for their turn, in a file: the worker is free, and so are readers."""
    server = server_with_a_long_list("--threads", "1", disk=True)
    busy = begin(server, long_write(), 1, 1)
    waiting = [raw.connect(server) for _ in range(3)]
    for s in waiting:
        s.sendall(short("PutItem", Item={**SHORT, "n": {"N": "1"}}))
    for _ in range(5):
        assert raw.ask(server, short(Key=SHORT)).status == 200
    assert none_is_ready(busy), "the write was not long enough to prove anything"
    assert all(raw.read_reply(s).status == 200 for s in waiting)
    [s.close() for s in waiting]
    end(server, busy, 400)


def held_by_a_condition(server, name):
    key = {"PK": {"S": "p"}, "SK": {"S": name}}
    return begin(server, short("UpdateItem", Key=key, UpdateExpression="SET won = :v", ConditionExpression=LONG, ExpressionAttributeValues=NONE), 1, 1)


@of_files
def a_write_behind_a_long_one_may_be_long_itself():
    """It is not known to be long when it is put aside, and must not keep the writers' turn for all of its condition."""
    server = server_with_a_long_list("--threads", "1")
    busy = held_by_a_condition(server, "long0")
    aside = lambda: raw.figures(server)["dynalith_requests_aside_total"]
    until(lambda: aside() > LISTS, "the first write is not long", 20)
    busy += held_by_a_condition(server, "long1")
    until(lambda: aside() > LISTS + 1, "the second write is not put aside", 20)
    for _ in range(5):
        assert raw.ask(server, short("PutItem", Item={**SHORT, "n": {"N": "1"}})).status == 200
    assert none_is_ready(busy), "the writes were not long enough to prove anything"
    end(server, busy, 400)


def a_long_condition_sees(disk):
    """False where it was over before others had written: then nothing is proved."""
    server = server_with_a_long_list("--threads", "1", disk=disk)
    key, names = {"PK": {"S": "p"}, "SK": {"S": "long0"}}, {"#n": "n"}
    condition = f"attribute_not_exists(#n) AND NOT ({LONG})"
    busy = begin(server, short("UpdateItem", Key=key, UpdateExpression="SET won = :v", ConditionExpression=condition,
                               ExpressionAttributeNames=names, ExpressionAttributeValues=NONE), 1, 1)
    until(lambda: raw.figures(server)["dynalith_requests_aside_total"] > LISTS, "the write is not long", 20)
    assert raw.ask(server, short("UpdateItem", Key=key, UpdateExpression="SET #n = :n", ExpressionAttributeNames=names,
                                 ExpressionAttributeValues={":n": {"N": "1"}})).status == 200
    assert raw.ask(server, short(Key=SHORT)).status == 200
    if not none_is_ready(busy):
        busy[0].close()
        server.stop()
        return False
    assert b"ConditionalCheckFailed" in raw.read_reply(busy[0]).body
    reply = raw.ask(server, short(Key=key, ProjectionExpression="won, #n", ExpressionAttributeNames=names))
    assert json.loads(reply.body)["Item"] == {"n": {"N": "1"}}, reply.body
    busy[0].sendall(short("UpdateItem", Key=key, UpdateExpression="SET won = :v", ConditionExpression=f"NOT ({LONG})", ExpressionAttributeValues=NONE))
    assert raw.read_reply(busy[0]).status == 200
    reply = raw.ask(server, short(Key=key, ProjectionExpression="won, #n", ExpressionAttributeNames=names))
    assert json.loads(reply.body)["Item"] == {"n": {"N": "1"}, "won": NONE[":v"]}, reply.body
    end(server, [])
    return True


def a_long_condition_sees_what_was_written_meanwhile():
    """Expressions are evaluated before the writers' turn: others write meanwhile, in memory too, and what they write counts."""
    for disk in (False, True):
        assert any(a_long_condition_sees(disk) for _ in range(5)), "the write was never long enough to prove anything"


shorten_what_is_long()
run("busy", [health_does_not_wait_for_workers, health_does_not_wait_for_connections, short_requests_do_not_wait_for_long_ones, connections_of_a_worker_share_its_time,
             reads_do_not_wait_for_writers_that_wait, a_write_behind_a_long_one_may_be_long_itself, a_long_condition_sees_what_was_written_meanwhile])
