"""What fails between a server and its database, and how that is answered: the rows of the table in docs/cluster.md. A proxy (proxy.py) makes the database
fail at a chosen statement, or cuts the connection there.
"""
import json
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "e2e")]
import database  # noqa: E402
import proxy  # noqa: E402
from harness import Server, key, run, until  # noqa: E402
from wire import Client, Gone, Refused  # noqa: E402

DB = database.Database()
PROGRAM = proxy.build()


def at(sk):
    return {"PK": {"S": "p"}, "SK": {"S": sk}}


class Site:
    """A server on a database of its own, and the proxy between them."""
    made = 0

    def __init__(self):
        Site.made += 1
        self.name = f"failures{Site.made}"
        DB.create(self.name)
        self.proxy = proxy.Proxy(PROGRAM, f"127.0.0.1:{DB.port}")
        self.url = f"postgresql://postgres@{self.proxy.address}/{self.name}"
        self.server = Server("--ttl-period", "0", store=self.url)
        self.client = Client(self.server.port, timeout=120)
        self.client("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
                    AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")],
                    StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})

    def put(self, sk):
        """(status, name) of the answer."""
        try:
            self.client("PutItem", TableName="tab", Item=at(sk))
            return 200, None
        except Refused as refused:
            assert "on demand" not in refused.message, refused
            return refused.status, refused.name

    def has(self, sk):
        """Reads once more where a cut that was meant for a put, and came to the upkeep, is met here."""
        for _ in range(3):
            try:
                return "Item" in self.client("GetItem", TableName="tab", Key=at(sk), ConsistentRead=True)
            except Refused as refused:
                assert (refused.status, refused.name) == UNAVAILABLE, refused
        raise AssertionError("three reads were refused")

    def health(self):
        try:
            with urllib.request.urlopen(self.server.url + "/_dynalith/health", timeout=120) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            return error.code

    def metric(self, name):
        with urllib.request.urlopen(self.server.url + "/_dynalith/metrics", timeout=120) as reply:
            return next(float(line.split()[-1]) for line in reply.read().decode().splitlines() if line.startswith(name + " "))

    def close(self):
        self.server.stop()
        self.proxy.close()


UNKNOWN, UNAVAILABLE = (500, "InternalServerError"), (503, "ServiceUnavailable")


def cut(site, kind, sk):
    """A put whose connection is cut there. The upkeep has transactions too, which may come first: then once more."""
    for i in range(50):
        before = site.proxy.counts().get(kind, 0)
        site.proxy.tell(f"next {kind}")
        site.proxy.counts()  # it knows by now
        answer = site.put(f"{sk}{i}")
        if answer[0] != 200:
            return answer, f"{sk}{i}"
        until(lambda: site.proxy.counts().get(kind, 0) > before, "nothing was cut")
    raise AssertionError(f"no put met a cut: {kind}")


def a_connection_is_cut():
    """Before COMMIT was sent nothing is done, and the answer says so; from then on nobody knows."""
    site = Site()
    for kind, wanted, is_done in (("statement", UNAVAILABLE, False), ("before", UNKNOWN, False), ("sent", UNKNOWN, True), ("done", UNKNOWN, True)):
        for i in range(20):
            answer, sk = cut(site, kind, f"{kind}-{i}-")
            if answer == wanted or answer != UNAVAILABLE or site.has(sk):
                break  # else the cut was another's, on the connection that the put took next: nothing was done
        assert answer == wanted, (kind, answer)
        if is_done:
            until(lambda: site.has(sk), f"{kind}: it was committed")
        else:
            assert not site.has(sk), kind
        assert site.put("after-" + kind) == (200, None), kind
    assert site.metric('dynalith_store_failures_total{reason="unknown"}') >= 3
    assert site.metric('dynalith_store_failures_total{reason="full"}') == 0
    site.close()


def a_token_makes_a_cut_commit_safe():
    """Sent again with its token, a transaction whose answer was lost counts once."""
    site = Site()
    step = {"Update": {"TableName": "tab", "Key": at("n"), "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}}
    for i, kind in enumerate(("before", "sent", "done") * 3):
        site.proxy.tell(f"next {kind}")
        for _ in range(100):
            try:
                site.client("TransactWriteItems", ClientRequestToken=f"t{i}", TransactItems=[step])
                break
            except (Refused, Gone) as problem:
                assert isinstance(problem, Gone) or problem.status >= 500 or problem.name == "TransactionInProgressException", problem
    assert site.client("GetItem", TableName="tab", Key=at("n"), ConsistentRead=True)["Item"]["n"] == {"N": "9"}
    site.close()


# What the database says once, at a statement or before the commit: the answer, and whether the write is done.
REFUSALS = {"40001": (200, None), "40P01": (200, None), "23505": (200, None), "53100": (500, "InternalServerError"), "53200": UNAVAILABLE, "53300": UNAVAILABLE,
            "55P03": UNAVAILABLE, "57014": UNAVAILABLE, "57P01": UNAVAILABLE, "25006": UNAVAILABLE, "58030": UNAVAILABLE, "42501": UNAVAILABLE, "42P01": UNAVAILABLE,
            "55000": UNAVAILABLE, "72000": UNAVAILABLE, "25P04": UNAVAILABLE,
            "XX000": (500, "InternalServerError")}


def the_database_refuses():
    """Serialization failure, deadlock, a row that came meanwhile: tried again. Full, no memory, too many connections, locked, timed out, shut down, read-only,
    a broken disk, rights, no table, a bug: answered, and nothing is done."""
    site = Site()
    for place in ("statement", "commit"):
        for code, wanted in REFUSALS.items():
            for i in range(50):  # the upkeep may meet it instead
                sk = f"{place}-{code}-{i}"
                before = site.proxy.counts().get("error", 0)
                site.proxy.tell(f"error {code}" + (" statement" if place == "statement" else ""))
                site.proxy.counts()  # it knows by now
                answer = site.put(sk)
                assert site.has(sk) == (answer[0] == 200), (place, code, answer)
                if site.proxy.counts().get("error", 0) > before and answer == wanted:
                    break
                assert answer == (200, None), (place, code, answer)
            else:
                raise AssertionError(f"no put met {code} at a {place}")
            assert site.put("after") == (200, None), (place, code)
    for reason in ("conflict", "lock", "timeout", "full", "read_only", "connection", "resources", "rights", "other"):
        assert site.metric(f'dynalith_store_failures_total{{reason="{reason}"}}') > 0, reason
    site.close()


def a_conflict_that_stays_is_given_up():
    """Retries are bounded: a transaction that never gets through is answered, as are requests behind it."""
    site = Site()
    DB.sql("CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'on demand' USING ERRCODE = '40001'; END $$;"
           "CREATE TRIGGER fails BEFORE INSERT OR UPDATE ON dynalith_kv FOR EACH ROW WHEN (NEW.ks >> 20 > 0) EXECUTE FUNCTION fail()", site.name)
    assert site.put("a") == UNAVAILABLE
    DB.sql("DROP TRIGGER fails ON dynalith_kv", site.name)
    assert site.put("a") == (200, None)
    site.close()


def nothing_can_be_reached():
    """Health and metrics say so, and writes and reads are answered; then all is well again, without a restart."""
    site = Site()
    site.proxy.tell("refuse 1", "cut")
    until(lambda: site.health() == 503, "health does not say it")
    assert site.metric("dynalith_store_reachable") == 0
    for operation, parameters in (("PutItem", {"Item": at("x")}), ("GetItem", {"Key": at("x")}), ("Scan", {})):
        try:
            site.client(operation, TableName="tab", **parameters)
            raise AssertionError(operation)
        except Refused as refused:
            assert (refused.status, refused.name) == UNAVAILABLE, refused
    site.proxy.tell("refuse 0")
    until(lambda: site.health() == 200, "health does not say that it is back")
    assert site.metric("dynalith_store_reachable") == 1
    until(lambda: site.put("x") == (200, None), "writes do not go on")
    site.close()


def another_host_takes_over():
    """A host that takes connections and closes them, as a proxy before a dead database, is passed over."""
    with socket.create_server(("127.0.0.1", 0)) as dead:
        def close_all():
            while True:
                try:
                    dead.accept()[0].close()
                except OSError:
                    return
        threading.Thread(target=close_all, daemon=True).start()
        url = DB.create("hosts")
        server = Server(store=f"postgresql://postgres@127.0.0.1:{dead.getsockname()[1]},127.0.0.1:{DB.port}/hosts")
        assert Client(server.port)("ListTables")["TableNames"] == []
        server.stop()
        for order in ("127.0.0.1,{}", "{},127.0.0.1"):
            ports = ("1,{}" if order.startswith("127") else "{},1").format(DB.port)
            server = Server(store=f"postgresql://postgres@/hosts?host={order.format(DB.folder)}&port={ports}")
            assert Client(server.port)("ListTables")["TableNames"] == [], url
            server.stop()
        dead.shutdown(socket.SHUT_RDWR)


def health_says_why():
    """Health and metrics name the reason, and neither host nor user."""
    with database.Database() as db:
        server = Server("--ttl-period", "0", store=db.url)

        def says(reason, words):
            try:
                urllib.request.urlopen(server.url + "/_dynalith/health", timeout=120)
                return False
            except urllib.error.HTTPError as error:
                body = error.read().decode()
            with urllib.request.urlopen(server.url + "/_dynalith/metrics", timeout=120) as reply:
                lines = [line for line in reply.read().decode().splitlines() if line.startswith("dynalith_store_problem") and not line.endswith(" 0")]
            assert db.folder not in body and "postgres" not in body, body
            return words in body and lines == [f'dynalith_store_problem{{reason="{reason}"}} 1']

        def is_well():
            try:
                return urllib.request.urlopen(server.url + "/_dynalith/health", timeout=120).status == 200
            except urllib.error.HTTPError:
                return False

        hba = pathlib.Path(db.data, "pg_hba.conf")
        rules = hba.read_text()
        for restart, reason, words in ((lambda: db.stop(), "refused", "nothing listens"),
                                       (lambda: hba.write_text("local all all reject\n" + rules), "authentication", "let this server in"),
                                       (lambda: db.settings.update(default_transaction_read_only="on"), "read_only", "takes no writes")):
            db.stop()
            restart()
            if reason != "refused":
                # psql, which asks whether it has started, needs no rights
                db.start()
            until(lambda: says(reason, words), f"{reason} is not named")
            db.stop()
            hba.write_text(rules)
            db.settings.pop("default_transaction_read_only", None)
            db.start()
            until(is_well, "all is not well again")
        server.stop()


# What the database takes away: the statements that take it, those that give it back, the reason that health names.
LOSSES = [
    *((f"REVOKE {right} ON dynalith_kv FROM app", f"GRANT {right} ON dynalith_kv TO app", "rights") for right in ("SELECT", "INSERT", "UPDATE", "DELETE", "ALL")),
    ("REVOKE ALL ON SCHEMA public FROM app, public", "GRANT ALL ON SCHEMA public TO app, public", "table"),
    ("ALTER TABLE dynalith_kv RENAME TO elsewhere", "ALTER TABLE elsewhere RENAME TO dynalith_kv", "table"),
    ("ALTER ROLE app NOLOGIN", "ALTER ROLE app LOGIN", "authentication"),
    ("REVOKE CONNECT ON DATABASE postgres FROM app, public", "GRANT CONNECT ON DATABASE postgres TO app, public", "authentication"),
]


def health_says_what_requests_get():
    """Rights, login or the table are gone, by the hand of somebody who can give them back: writes are answered 503, and health says why until they are back."""
    with database.Database() as db:
        db.sql("CREATE ROLE app LOGIN; GRANT ALL ON SCHEMA public TO app")
        server = Server("--ttl-period", "0", store=db.url.replace("//postgres@", "//app@"))
        client = Client(server.port, timeout=120)
        client("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
               AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])

        def health():
            try:
                return urllib.request.urlopen(server.url + "/_dynalith/health", timeout=120).status, None
            except urllib.error.HTTPError as error:
                return error.code, json.loads(error.read())["reason"]

        def asked():
            """The statuses of a put and of a read."""
            found = set()
            for operation, parameters in (("PutItem", {"Item": at("x")}), ("DeleteItem", {"Key": at("y")}), ("GetItem", {"Key": at("x"), "ConsistentRead": True})):
                try:
                    client(operation, TableName="tab", **parameters)
                    found.add((200, None))
                except Refused as refused:
                    found.add((refused.status, refused.name))
            return found

        for loss, gain, reason in LOSSES:
            db.sql(loss)
            if reason == "authentication":  # an open connection stays as it is; the server may open another at any time
                assert asked() <= {UNAVAILABLE, (200, None)} and health() in ((200, None), (503, reason)), loss
                db.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'")
            until(lambda: health() == (503, reason), f"{loss}: health does not say it")
            found = asked()
            assert UNAVAILABLE in found and found <= {UNAVAILABLE, (200, None)}, (loss, found)
            assert health() == (503, reason), loss
            db.sql(gain)
            until(lambda: health() == (200, None), f"{gain}: health does not say it")
            until(lambda: asked() == {(200, None)}, gain)
        server.stop()


def a_standby_takes_over():
    """503 from the primary's end to the promotion; what was acknowledged is there, through the same servers."""
    with database.Database(synchronous_standby_names="*") as primary, database.Database(standby_of=primary, hot_standby="on") as standby:
        primary.follow()
        server = Server(store=f"postgresql://postgres@127.0.0.1:{primary.port},127.0.0.1:{standby.port}/postgres")
        client = Client(server.port, timeout=120)
        client("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
               AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])
        for i in range(50):
            client("PutItem", TableName="tab", Item=at(f"{i:02}"))
        primary.kill()
        try:
            client("PutItem", TableName="tab", Item=at("nowhere"))
            raise AssertionError("the primary is gone, and the standby takes no writes yet")
        except Refused as refused:
            assert (refused.status, refused.name) == UNAVAILABLE, refused
        standby.promote()

        def goes_on():
            try:
                return client("PutItem", TableName="tab", Item=at("later")) == {}
            except Refused as refused:
                assert (refused.status, refused.name) == UNAVAILABLE, refused

        until(goes_on, "the standby is not found")
        found = [item["SK"]["S"] for item in client("Query", TableName="tab", KeyConditionExpression="PK = :p", ConsistentRead=True,
                                                    ExpressionAttributeValues={":p": {"S": "p"}})["Items"]]
        assert found == [f"{i:02}" for i in range(50)] + ["later"], found
        server.stop()


def restarted_with_other_settings():
    """Read-only: no server takes it. Fewer connections than the server may open: some requests wait or are answered 503, and all is well again after."""
    with database.Database() as db:
        server = Server("--threads", "16", store=db.url)
        client = Client(server.port, timeout=120)
        client("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
               AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])

        def restart(**settings):
            db.stop()
            db.settings.update(settings)
            db.start()

        def put(client=client):
            try:
                return client("PutItem", TableName="tab", Item=at("x")) == {}
            except Refused as refused:
                assert (refused.status, refused.name) in (UNAVAILABLE, UNKNOWN), refused
                return False

        restart(default_transaction_read_only="on")
        assert not put() and not put()
        restart(default_transaction_read_only="off", max_connections="6", max_wal_senders="0")
        until(put, "it does not go on with few connections")
        clients = [Client(server.port, timeout=120) for _ in range(16)]
        threads = [threading.Thread(target=lambda c: [put(c) for _ in range(5)], args=(c,)) for c in clients]
        [t.start() for t in threads]
        [t.join() for t in threads]
        restart(max_connections="100")
        until(put, "it does not go on")
        server.stop()


FOLLOWER_ENDS = "standby", "late", "failed", "none"


class Follower:
    """A primary, its standby, and servers that may read from that."""

    def __init__(self):
        self.primary = database.Database()
        self.standby = database.Database(standby_of=self.primary, hot_standby="on")
        self.url = f"postgresql://postgres@127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}/postgres"
        self.servers = []

    def server(self, lag):
        self.servers.append(Server("--follower-lag", str(lag), "--ttl-period", "0", store=self.url))
        return self.servers[-1], Client(self.servers[-1].port, timeout=120)

    def catch_up(self):
        """Until the standby has all that is written now."""
        now = self.primary.sql("SELECT pg_current_wal_insert_lsn()")
        self.primary.sql("SELECT pg_switch_wal()")
        until(lambda: self.standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{now}'") == "t", "the standby does not catch up")

    def pause(self):
        self.standby.sql("SELECT pg_wal_replay_pause()")
        until(lambda: self.standby.sql("SELECT pg_get_wal_replay_pause_state()") == "paused", "replay goes on")

    def close(self):
        for server in self.servers:
            server.stop()
        self.standby.close()
        self.primary.close()


def ends(server):
    """How often reads went where."""
    with urllib.request.urlopen(server.url + "/_dynalith/metrics", timeout=120) as reply:
        lines = [line.split() for line in reply.read().decode().splitlines() if line.startswith("dynalith_store_follower_reads_total{")]
    return {name: next(int(float(value)) for key, value in lines if f'"{name}"' in key) for name in FOLLOWER_ENDS}


def served(server, read):
    """Reads until the standby has answered; the answer."""
    answers = []

    def once():
        before = ends(server)["standby"]
        answers.append(read())
        return ends(server)["standby"] > before

    until(once, "no standby answers")
    return answers[-1]


def reads_of(client):
    """Every operation that reads, as a function of ConsistentRead."""
    values = {":p": {"S": "p"}}
    return {
        "GetItem": lambda **more: client("GetItem", TableName="tab", Key=at("a"), **more),
        "BatchGetItem": lambda **more: client("BatchGetItem", RequestItems={"tab": {"Keys": [at("a"), at("b"), at("c")], **more}}),
        "Query": lambda **more: client("Query", TableName="tab", KeyConditionExpression="PK = :p", ExpressionAttributeValues=values, **more),
        "Scan": lambda **more: client("Scan", TableName="tab", **more),
        "local": lambda **more: client("Query", TableName="tab", IndexName="local", Select="ALL_ATTRIBUTES", KeyConditionExpression="PK = :p",
                                       ExpressionAttributeValues=values, **more),
        "PartiQL": lambda **more: client("ExecuteStatement", Statement="SELECT * FROM tab WHERE PK = 'p'", **more),
    }


def create_with_indexes(client):
    client("CreateTable", TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK", "v")],
           LocalSecondaryIndexes=[{"IndexName": "local", "KeySchema": key("PK", "v"), "Projection": {"ProjectionType": "KEYS_ONLY"}}],
           GlobalSecondaryIndexes=[{"IndexName": "global", "KeySchema": key("v"), "Projection": {"ProjectionType": "ALL"}}])


def a_standby_answers_reads():
    """Those without ConsistentRead, of each kind; no others, and nothing of a table that the standby does not have."""
    site = Follower()
    try:
        server, client = site.server(600000)
        create_with_indexes(client)
        for sk in [f"{i:03}" for i in range(200)] + ["a", "b", "c"]:
            client("PutItem", TableName="tab", Item={**at(sk), "v": {"S": "old"}})
        site.catch_up()
        reads = reads_of(client)
        for name, read in reads.items():
            assert served(server, read) == read(ConsistentRead=True), name
        by_index = served(server, lambda: client("Query", TableName="tab", IndexName="global", KeyConditionExpression="v = :v",
                                                 ExpressionAttributeValues={":v": {"S": "old"}}))
        assert by_index["Count"] == 203
        before = ends(server)
        for name, read in reads.items():
            read(ConsistentRead=True)
        client("TransactGetItems", TransactItems=[{"Get": {"TableName": "tab", "Key": at("a")}}])
        client("ExecuteTransaction", TransactStatements=[{"Statement": "SELECT * FROM tab WHERE PK = 'p' AND SK = 'a'"}])
        client("UpdateItem", TableName="tab", Key=at("b"), UpdateExpression="SET w = :w", ExpressionAttributeValues={":w": {"S": "x"}})
        client("DescribeTable", TableName="tab")
        client("ListTables")
        assert ends(server) == before, (before, ends(server))

        site.pause()
        client("PutItem", TableName="tab", Item={**at("a"), "v": {"S": "new"}})
        assert served(server, reads["GetItem"])["Item"]["v"] == {"S": "old"}, "it was the standby that answered"
        assert reads["GetItem"](ConsistentRead=True)["Item"]["v"] == {"S": "new"}
        client("CreateTable", TableName="late", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
               AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])
        client("PutItem", TableName="late", Item=at("x"))
        assert client("GetItem", TableName="late", Key=at("x"))["Item"] == at("x"), "the standby does not have the table"
        assert client("Scan", TableName="late")["Count"] == 1
        assert ends(server)["failed"] >= 2, ends(server)
        site.standby.sql("SELECT pg_wal_replay_resume()")
        until(lambda: reads["GetItem"]()["Item"]["v"] == {"S": "new"}, "the standby does not go on")
    finally:
        site.close()


def a_standby_that_is_late_is_left():
    """Where replay is paused for longer than the bound, the primary answers; where the standby is gone, too; then it answers again."""
    site = Follower()
    try:
        server, client = site.server(1000)
        create_with_indexes(client)
        get = reads_of(client)["GetItem"]
        client("PutItem", TableName="tab", Item={**at("a"), "v": {"S": "1"}})
        served(server, get)
        site.pause()
        client("PutItem", TableName="tab", Item={**at("a"), "v": {"S": "2"}})
        late = ends(server)["late"]
        until(lambda: get() and ends(server)["late"] > late, "it still reads from a standby that is late")
        before = ends(server)["standby"]
        for _ in range(50):
            assert get()["Item"]["v"] == {"S": "2"}
        assert ends(server)["standby"] == before
        site.standby.sql("SELECT pg_wal_replay_resume()")
        served(server, get)
        site.standby.stop(signal.SIGQUIT)
        before = ends(server)["standby"]
        for i in range(50):
            client("PutItem", TableName="tab", Item={**at("a"), "v": {"S": f"gone {i}"}})
            assert get()["Item"]["v"] == {"S": f"gone {i}"}
        assert ends(server)["standby"] == before
        site.standby.start()
        site.catch_up()
        assert served(server, get)["Item"]["v"] == {"S": "gone 49"}
    finally:
        site.close()


try:
    if not PROGRAM:
        print("failures (skipped, there is no Go): 0 passed, 0 failed")
        sys.exit(0)
    run("failures", [a_connection_is_cut, a_token_makes_a_cut_commit_safe, the_database_refuses, a_conflict_that_stays_is_given_up, nothing_can_be_reached,
                     another_host_takes_over, health_says_why, health_says_what_requests_get, a_standby_takes_over, a_standby_answers_reads, a_standby_that_is_late_is_left, restarted_with_other_settings])
finally:
    DB.close()
