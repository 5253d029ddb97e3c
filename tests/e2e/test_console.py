"""The console as a browser fetches it, without a browser: files, headers, who may have them; and the requests that are watched, as server-sent events."""
import gzip
import http.client
import json
import pathlib
import re
import tempfile

import raw
from harness import ROOT, Server, Watch, create_app, run, until
from signing import CREDENTIALS, signed, verifying

FILES = sorted(p.relative_to(ROOT / "console").as_posix() for p in (ROOT / "console").rglob("*.*") if not p.name.endswith(".d.ts"))  # which are for the checker
HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"  # as browsers ask
AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"
LIMIT = 150 * 1024  # of all files, compressed


def get(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    reply.text = reply.read()
    connection.close()
    return reply


def files_as_they_are():
    server = Server()
    total = 0
    for name in FILES:
        text = (ROOT / "console" / name).read_bytes()
        plain, packed = get(server, f"/_dynalith/console/{name}"), get(server, f"/_dynalith/console/{name}", Accept_Encoding="gzip, deflate, br, zstd")
        assert plain.status == packed.status == 200 and plain.text == text and plain.headers["content-encoding"] is None, (name, plain.status)
        assert packed.headers["content-encoding"] == "gzip" and gzip.decompress(packed.text) == text, name
        total += len(packed.text)
        policy = plain.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self';" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, policy
        assert plain.headers["x-content-type-options"] == "nosniff" and plain.headers["cross-origin-resource-policy"] == "same-origin"
        tag = packed.headers["etag"]
        again = get(server, f"/_dynalith/console/{name}", If_None_Match=f'"other", {tag}')
        assert again.status == 304 and again.text == b"" and again.headers["etag"] == tag == plain.headers["etag"]
        assert get(server, f"/_dynalith/console/{name}", If_None_Match='"other"').status == 200
        head = get(server, f"/_dynalith/console/{name}", method="HEAD")
        assert head.status == 200 and head.text == b"" and head.headers["content-type"] == plain.headers["content-type"]
    assert total < LIMIT, total
    index = get(server, "/_dynalith/console/")
    assert index.text == (ROOT / "console/index.html").read_bytes() and index.headers["content-type"] == "text/html; charset=utf-8"
    assert get(server, "/_dynalith/console/no.js").status == 404
    assert get(server, "/_dynalith/console/../console/index.html").status == 404
    assert get(server, "/_dynalith/consolex").status == 404 and get(server, "/_dynalith/console/", method="DELETE").status == 404
    facts = json.loads(get(server, "/_dynalith/console/server.json").text)
    assert facts["auth"] == "open" and facts["insight"] is False and facts["iam"] is False and facts["version"], facts
    server.stop()


def no_script_or_style_in_the_markup():
    """What the policy would refuse, and what reaches another host."""
    html = (ROOT / "console/index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|<style", html), "inline"
    for name in FILES:
        text = (ROOT / "console" / name).read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), name
        hosts = set(re.findall(r"https?://[\w.-]+", text)) - {"http://www.w3.org", "http://localhost"}
        assert not hosts, (name, hosts)
        assert (ROOT / "console" / name).stat().st_size < 64 * 1024, f"{name}: a module is to be read by people"


def browsers_are_sent_there():
    server = Server()
    page = get(server, "/", Accept=HTML, Sec_Fetch_Site="none", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document", Accept_Language="en")
    assert page.status == 302 and page.headers["location"] == "_dynalith/console/", page.headers
    bare = get(server, "/_dynalith/console", Accept=HTML)
    assert bare.status == 302 and bare.headers["location"] == "console/"
    # everybody else: as ever
    for accept in ("*/*", "application/json", "text/plain", "text/htmlx", ""):
        assert get(server, "/", Accept=accept).status == 400, accept
    assert get(server, "/").status == 400 and get(server, "/x", Accept=HTML).status == 400
    assert get(server, "/", method="HEAD", Accept=HTML).status == 400
    server.stop()
    server = Server("--root-status", "200")
    assert get(server, "/", Accept=HTML).status == 302 and get(server, "/").text.startswith(b"healthy")
    server.stop()


def switched_off():
    server = Server("--console", "off")
    for path in ("/_dynalith/console", "/_dynalith/console/", "/_dynalith/console/index.html", "/_dynalith/console/server.json"):
        assert get(server, path, Accept=HTML).status == 404, path
    assert get(server, "/", Accept=HTML).status == 400
    reply = get(server, "/_dynalith/events")
    assert reply.status == 400 and b"--console off" in reply.text, reply.text
    server.stop()


def pages_of_other_sites():
    """Neither the files nor the events: by their origin, by where the browser says they come from, and by a name that was turned to this machine."""
    server = Server()
    for flags in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
                  {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"},
                  {"Host": f"evil.example:{server.port}", "Accept_Language": "en-US"},
                  {"Host": f"evil.example:{server.port}", "Origin": f"http://evil.example:{server.port}"}):
        for path in ("/_dynalith/console/", "/_dynalith/console/server.json", "/_dynalith/events", "/_dynalith/", "/_dynalith/faults", "/"):
            reply = get(server, path, Accept=HTML, **flags)
            assert reply.status == 403 and "access-control-allow-origin" not in reply.headers, (path, flags, reply.status)
    server.stop()
    # a name that the operator has listed, and the names that containers give
    server = Server("--cors", "http://db.example.com:8000")
    own = {"Host": "db.example.com:8000", "Accept_Language": "en-US"}
    assert get(server, "/_dynalith/console/", **own).status == 200
    assert get(server, "/_dynalith/console/", Host="other.example.com:8000", Accept_Language="en-US").status == 403
    assert get(server, "/_dynalith/console/", Host="dynalith:8000", Accept_Language="en-US").status == 200
    server.stop()


def requests_are_watched():
    server = Server()
    watch, other = Watch(server), Watch(server, "?bodies=open&account=111111111111&region=eu-west-1")
    client = server.client()
    create_app(client)
    client.put_item(TableName="app", Item={"PK": {"S": "CUSTOMER#planted"}, "SK": {"S": "PROFILE"}, "data": {"M": {"note": {"S": "planted"}}}})
    client.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "CUSTOMER#planted"}})
    client.execute_statement(Statement="SELECT * FROM app WHERE PK = 'CUSTOMER#planted' AND amount = 4711")
    try:
        client.get_item(TableName="absent", Key={"PK": {"S": "planted"}})
    except client.exceptions.ResourceNotFoundException:
        pass
    server.client(key="111111111111", region="eu-west-1").list_tables(Limit=17)
    until(lambda: other.events and watch.events and watch.events[-1]["operation"] == "ListTables", watch.events)
    names = [e["operation"] for e in watch.events]
    assert names[-5:] == ["PutItem", "Query", "ExecuteStatement", "GetItem", "ListTables"], names
    put, query, statement, missing, listed = watch.events[-5:]
    assert put["writeUnits"] == 1 and query["readUnits"] == 0.5 and put["status"] == 200 and put["ms"] > 0 and "Boto3" in put["caller"], (put, query)
    assert put["request"]["Item"] == {"PK": {"S": "CUSTOMER#…"}, "SK": {"S": "…"}, "data": {"M": {"note": {"S": "…"}}}}, put
    assert query["request"]["KeyConditionExpression"] == "PK = :p" and query["response"]["Count"] == 1
    assert "?" in statement["request"]["Statement"]
    assert missing["status"] == 400 and missing["error"] == "ResourceNotFoundException", missing
    assert listed["account"] == "111111111111" and listed["region"] == "eu-west-1"
    assert "planted" not in json.dumps(watch.events) and "4711" not in json.dumps(watch.events)
    # another namespace sees its own alone, here with bodies as they are
    assert [e["operation"] for e in other.events] == ["ListTables"] and json.loads(other.events[0]["request"]) == {"Limit": 17}
    bare = Watch(server, "?bodies=none")
    client.list_tables()
    until(lambda: bare.events, "the event")
    assert bare.events[0]["request"] is None and bare.events[0]["requestBytes"] == 2
    for one in (watch, other, bare):
        one.close()
    server.stop()


def requests_of_before_are_shown():
    """Who comes later sees the latest refused requests, with --insight on all of the latest; not what the console asked, and nothing where there is no console."""
    key = {"PK": {"S": "a"}, "SK": {"S": "b"}}
    for flags, wanted in (((), ["PutItem"]), (("--insight", "on"), ["DescribeTable", "PutItem", "PutItem", "GetItem"])):
        server = Server(*flags)
        client = server.client()
        create_app(client)
        client.put_item(TableName="app", Item=key)
        try:
            client.put_item(TableName="app", Item={**key, "long": {"S": "planted" * 2000}}, ConditionExpression="attribute_not_exists(PK)")
        except client.exceptions.ConditionalCheckFailedException:
            pass
        client.get_item(TableName="app", Key=key)
        asked = get(server, "/?", method="POST", Content_Length="0", X_Dynalith_Caller="console", Sec_Fetch_Site="same-origin")
        assert asked.status == 400
        watch = Watch(server, "?past=4&bodies=open")
        client.list_tables()
        until(lambda: watch.events and watch.events[-1]["operation"] == "ListTables", watch.events)
        names = [e["operation"] for e in watch.events if e.get("isPast")]
        assert names == wanted and "isPast" not in watch.events[-1], (names, watch.events[-1])
        refused = [e for e in watch.events if e["status"] == 400]
        assert len(refused) == 1 and refused[0]["error"] == "ConditionalCheckFailedException" and refused[0]["account"] == "000000000000", refused
        assert refused[0]["request"] is None and refused[0]["requestBytes"] > 14000 and "failed" in refused[0]["response"], "a large body of before is not kept"
        watch.close()
        none, other = Watch(server), Watch(server, "?past=1024&account=111111111111&region=us-east-1")
        client.list_tables()
        until(lambda: none.events, "the event")
        assert not any(e.get("isPast") for e in none.events) and other.events == []
        none.close()
        other.close()
        for wrong in ("x", "-1", "1025", "99999999999999999999"):
            assert b"from 0 to 1024" in get(server, f"/_dynalith/events?past={wrong}").text, wrong
        server.stop()


def the_past_is_bounded():
    """However many are refused, the latest are kept, and no more than 256."""
    server = Server()
    client = server.client()
    for i in range(300):
        try:
            client.get_item(TableName=f"absent-{i}", Key={"PK": {"S": "a"}})
        except client.exceptions.ResourceNotFoundException:
            pass
    watch = Watch(server, "?past=1024&bodies=open")
    until(lambda: watch.events and "absent-299" in watch.events[-1]["request"], "the latest")
    assert len(watch.events) == 256 and "absent-44\"" in watch.events[0]["request"] and all(e["lost"] == 0 for e in watch.events), watch.events[0]
    watch.close()
    server.stop()


def faults_are_seen():
    server = Server()
    client = server.client()
    create_app(client)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("PUT", "/_dynalith/faults", json.dumps({"rules": [{"operation": "GetItem", "error": "InternalServerError"}]}))
    assert connection.getresponse().status == 200
    watch = Watch(server)
    try:
        client.get_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "b"}})
    except client.exceptions.InternalServerError:
        pass
    until(lambda: any(e["error"] == "InternalServerError" for e in watch.events), watch.events)
    watch.close()
    server.stop()


def events_of_signers():
    """Where signatures are verified: none without one, and of the signer's own namespace; test_rights has the others."""
    server = verifying()
    assert get(server, "/_dynalith/console/").status == 200 and get(server, "/_dynalith/events").status == 400
    assert json.loads(get(server, "/_dynalith/console/server.json").text)["auth"] == "verify"
    watch = Watch(server, "", **signed(server, "GET", "/_dynalith/events"))
    server.client(CREDENTIALS.access_key, CREDENTIALS.secret_key).list_tables()
    until(lambda: watch.events, watch.events)
    assert {e["operation"] for e in watch.events} == {"ListTables"}
    watch.close()
    server.stop()


def the_console_leaves_no_trace():
    """Its requests change no report, take no fault, no capacity, and meet no conflict; those of others that say the same do."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"))
    server = Server("--insight", "on", "--iam", "report", "--throughput", "enforce", "--record", str(folder / "tape"))
    client = server.client()
    create_app(client)
    client.put_item(TableName="app", Item={"PK": {"S": "a"}, "SK": {"S": "b"}})
    own = {"X-Dynalith-Caller": "console", "Sec-Fetch-Site": "same-origin"}

    def send(method, path, body, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        connection.request(method, path, json.dumps(body), headers)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        return reply.status, text

    def call(operation, body, headers):
        return send("POST", "/", body, **{"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0",
                                          "X-Amz-Date": "20260101T000000Z", "Authorization": AUTHORIZATION, **headers})

    def reports():
        metrics = [line for line in get(server, "/_dynalith/metrics").text.decode().splitlines() if "operation=" in line]
        throughput = re.sub(rb'"(available|left|tokens)":[^,}]*', b"", get(server, "/_dynalith/throughput").text)  # what fills up again with time
        pages = [json.loads(get(server, f"/_dynalith/{page}").text) for page in ("insight", "iam", "faults", "contributors")]
        del pages[0]["time"]  # how long ago the first request was
        return [metrics, *pages, throughput, (folder / "tape").read_bytes()]

    assert send("PUT", "/_dynalith/faults", {"rules": [{"operation": "GetItem", "first": 1, "error": "InternalServerError"}]})[0] == 200
    key = {"TableName": "app", "Key": {"PK": {"S": "a"}, "SK": {"S": "b"}}}
    work = [("GetItem", key), ("Scan", {"TableName": "app"}), ("PutItem", {"TableName": "app", "Item": key["Key"]}), ("DescribeTable", {"TableName": "app"}),
            ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "app", "Item": key["Key"]}}]}), ("Scan", {"TableName": "absent"})]
    before = reports()
    for operation, body in work:
        status, text = call(operation, body, own)
        assert status == (400 if body.get("TableName") == "absent" else 200), (operation, text)
    for was, now in zip(before, reports()):
        assert was == now, (was, now)
    # nobody but our own page is believed: not a client that has the header, not another page
    for headers in ({"X-Dynalith-Caller": "console"}, {"X-Dynalith-Caller": "console", "Sec-Fetch-Site": "none"},
                    {"X-Dynalith-Caller": "console", "Origin": "http://localhost:1"}):
        before = reports()
        call("Scan", {"TableName": "app"}, headers)
        after = reports()
        assert all(after[i] != before[i] for i in (0, 1, -1)), headers
    assert call("GetItem", key, {})[0] == 500, "the fault is still there"
    # browsers send no Sec-Fetch-Site by plain HTTP to a name, but their origin
    before = reports()
    assert call("GetItem", key, {"X-Dynalith-Caller": "console", "Origin": f"http://127.0.0.1:{server.port}"})[0] == 200
    assert reports() == before
    server.stop()


def tables_in_one_request():
    """All of them described; one with a sample, and in how many segments it is read: few where there are few partitions."""
    server = Server("--insight", "on")
    client = server.client()
    for name in ("wide", "narrow", "empty"):
        create_app(client, name)
    ask = lambda path: json.loads(get(server, f"/_dynalith/{path}", Authorization=AUTHORIZATION, X_Amz_Date="20260101T000000Z").text)
    for name, partitions, each in (("wide", 3000, 1), ("narrow", 3, 1000)):
        items = [{"PutRequest": {"Item": {"PK": {"S": f"P#{p}"}, "SK": {"S": f"{i:05}"}}}} for p in range(partitions) for i in range(each)]
        for at in range(0, len(items), 25):
            client.batch_write_item(RequestItems={name: items[at:at + 25]})
    before = ask("insight")["requests"]
    shown = ask("tables")
    assert [t["Table"]["TableName"] for t in shown["tables"]] == ["empty", "narrow", "wide"] and shown["more"] is False, shown
    assert shown["tables"][0]["Table"]["KeySchema"] and shown["tables"][0]["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    wide, narrow, empty = ask("tables/wide"), ask("tables/narrow"), ask("tables/empty")
    assert wide["segments"] == wide["probed"] == wide["filled"] == 16, {**wide, "samples": 0}
    assert narrow["segments"] <= 3 and narrow["filled"] <= 3 and narrow["probed"] == 16, {**narrow, "samples": 0}
    assert empty["segments"] == 1 and empty["samples"] == [], empty
    for one in (wide, narrow):
        found = [item for run_ in one["samples"] for item in run_]
        keys = {(i["PK"]["S"], i["SK"]["S"]) for i in found}
        assert 32 <= len(found) <= 512 and len(keys) == len(found), len(found)
    assert len({i["PK"]["S"] for run_ in wide["samples"] for i in run_}) > 400
    assert ask("insight")["requests"] == before
    absent = get(server, "/_dynalith/tables/absent")
    assert absent.status == 400 and b"ResourceNotFoundException" in absent.text
    assert get(server, "/_dynalith/tables/a%22b").status == 400
    short = get(server, "/_dynalith/tables/a")
    assert short.status == 400 and b"greater than or equal to 3" in short.text, short
    assert ask("tables?account=111111111111&region=eu-west-1")["tables"] == []
    server.stop()


def many_watchers():
    """The next is refused; those that have gone make room; the server ends while some watch."""
    server = Server()
    watches = [Watch(server) for _ in range(32)]
    refused = get(server, "/_dynalith/events")
    assert refused.status == 400 and b"32 others" in refused.text
    for watch in watches[:4]:
        watch.close()
    server.client().list_tables()  # what is sent to them shows that they have gone
    until(lambda: all(w.events for w in watches[4:]), "all see it")

    def has_room():
        server.client().list_tables()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        connection.request("GET", "/_dynalith/events")
        status = connection.getresponse().status
        connection.close()
        return status == 200
    until(has_room, "there is room")
    server.stop()
    until(lambda: all(w.is_over for w in watches), "all watches end")


def slow_watchers_lose_the_oldest():
    """Nothing waits for one that does not read: it gets to know how many it lost."""
    server = Server()
    client = server.client()
    create_app(client)
    slow = http.client.HTTPConnection("127.0.0.1", server.port)
    slow.sock = raw.connect(server, receive_buffer=4096)
    slow.request("GET", "/_dynalith/events?bodies=open")
    stream = slow.getresponse()
    assert stream.readline() == b"retry: 1000\n"
    item = {"PK": {"S": "a"}, "SK": {"S": "b"}, "data": {"S": "x" * 60000}}
    for _ in range(400):
        client.put_item(TableName="app", Item=item)
    client.list_tables()
    seen = lost = 0
    for line in stream:
        if line.startswith(b"data: "):
            event = json.loads(line[6:])
            seen, lost = seen + 1, lost + event["lost"]
            if event["operation"] == "ListTables":
                break
    assert lost > 0 and seen + lost == 401, (seen, lost)
    slow.close()
    server.stop()


def namespaces_are_listed():
    server = Server()
    for account, region in (("test", "us-east-1"), ("222222222222", "eu-west-1"), ("222222222222", "us-east-1")):
        create_app(server.client(key=account, region=region), "app")
    create_app(server.client(key="222222222222", region="eu-west-1"), "second")
    shown = json.loads(get(server, "/_dynalith/namespaces").text)
    assert shown == {"namespaces": [{"account": "000000000000", "region": "us-east-1", "tables": 1}, {"account": "222222222222", "region": "eu-west-1", "tables": 2},
                                    {"account": "222222222222", "region": "us-east-1", "tables": 1}], "more": False}, shown
    server.client(key="222222222222").delete_table(TableName="app")
    assert len(json.loads(get(server, "/_dynalith/namespaces").text)["namespaces"]) == 2
    server.stop()
    server = Server("--shared-db")
    create_app(server.client())
    assert json.loads(get(server, "/_dynalith/namespaces").text)["namespaces"] == []
    server.stop()
    # a key that belongs to one account does not see the others
    server = verifying(account="111111111111")
    reply = get(server, "/_dynalith/namespaces", **signed(server, "GET", "/_dynalith/namespaces"))
    assert reply.status == 400 and b"AccessDenied" in reply.text, reply.text
    server.stop()


run("console", [files_as_they_are, no_script_or_style_in_the_markup, browsers_are_sent_there, switched_off, pages_of_other_sites, requests_are_watched, requests_of_before_are_shown,
                the_past_is_bounded, faults_are_seen, the_console_leaves_no_trace, tables_in_one_request, events_of_signers, many_watchers, namespaces_are_listed, slow_watchers_lose_the_oldest])
