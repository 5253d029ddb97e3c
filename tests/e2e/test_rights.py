"""Who may what below /_dynalith/ with --auth verify: each row of endpoints.def with each kind of key. What one account has is never shown to, nor changed by, the
key of another."""
import json
import re

import raw
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness import ROOT, create_app, run
from signing import CREDENTIALS, signed, verifying

OWN, OTHER = "111122223333", "444455556666"
MARK = "mark-of-the-other"  # in all that the other account has
ANNE, BERT, CARL, DORA = (Credentials(name, "hush") for name in ("anne", "bert", "carl", "dora"))  # own, other, other but changes nothing, control
ROW = re.compile(r'^(PAGE|ENDPOINT)\("(\w+)", "([^"]+)", \w+, (\w+),\s', re.M)
REFUSED, UNSIGNED = "AccessDeniedException", "MissingAuthenticationTokenException"
# What the handlers want besides a name; without it they answer 400 where they are reached.
BODIES = {"POST clock": {"advance": "1d"}, "POST checkpoints": {"name": "taken"}, "POST clone": {"from": OTHER, "to": [OWN], "replace": True},
          "PUT faults": {"rules": []}, "PUT throughput": {"throughput": "off"}, "PUT lag": {"lag": 0}, "PUT conflicts": {"conflicts": "none"},
          "PUT replication": {"lag_ms": 1}, "PUT policies": {"principals": []}, "POST snapshots/NAME/dump": {}, "POST snapshots/NAME/load": {"block": ""},
          "POST explain": {"operation": "Scan", "request": {"TableName": MARK}}, "POST check": {}, "POST backup": {}}


def rows():
    found = [match.groups()[1:] for match in ROW.finditer((ROOT / "server/control/endpoints.def").read_text())]
    assert len(found) == len(re.findall(r"^(?:PAGE|ENDPOINT)\(", (ROOT / "server/control/endpoints.def").read_text(), re.M)) > 40
    return found


def call(server, method, path, who, body=None, query=""):
    body = b"" if body is None else json.dumps(body).encode()
    path = f"/_dynalith/{path}{query}"
    headers = signed(server, method, path, body, credentials=who) if who else {"Host": "x"}
    lines = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items()), f"Content-Length: {len(body)}", "Connection: close"]
    with raw.connect(server) as s:
        s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return raw.read_reply(s)


def given(server, method, path, body=None, who=DORA, query=f"?account={OTHER}"):
    reply = call(server, method, path, who, body, query)
    assert reply.status == 200, (method, path, reply.body)
    return json.loads(reply.body)


def prepared():
    """Two accounts; the other one has something wherever an endpoint looks."""
    entry = lambda name, **more: {"access_key_id": name, "secret_access_key": "hush", **more}
    server = verifying("--insight", "examples", "--iam", "report", "--throughput", "enforce", account="000000000000", control=False,
                       others=[entry("anne", account=OWN), entry("bert", account=OTHER), entry("carl", account=OTHER, control=False), entry("dora", control=True)])
    create_app(server.client("anne", "hush"))
    other = server.client("bert", "hush")
    create_app(other, MARK)
    other.update_contributor_insights(TableName=MARK, ContributorInsightsAction="ENABLE")
    for i in range(3):
        other.put_item(TableName=MARK, Item={"PK": {"S": MARK}, "SK": {"S": str(i)}, MARK: {"S": MARK}})
    other.query(TableName=MARK, KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": MARK}})
    given(server, "POST", "clock", {"set": 1_900_000_000, "freeze": True})
    given(server, "POST", "checkpoints", {"name": MARK})
    given(server, "PUT", f"snapshots/{MARK}")
    given(server, "PUT", "faults", {"rules": [{"operation": "DescribeEndpoints", "error": "InternalServerError"}]})
    given(server, "PUT", "lag", {"tables": {MARK: {"lag": 1}}})
    given(server, "PUT", "throughput", {"tables": {MARK: {"throughput": "enforce"}}})
    given(server, "PUT", "replication", {"lag_ms": 77})
    return server, other


def state(server, other):
    """What the other account has, and what all share."""
    shown = [given(server, "GET", path) for path in ("checkpoints", "snapshots", "faults", "lag", "conflicts", "replication", "policies")]
    clock = given(server, "GET", "clock")
    return shown, clock["now"], clock["frozen"], other.list_tables()["TableNames"], other.scan(TableName=MARK, ConsistentRead=True)["Items"], \
        given(server, "GET", "throughput")["tables"][MARK]["throughput"], len(given(server, "GET", "insight")["patterns"]) > 0


def kind(reply):
    return "" if reply.status == 200 else json.loads(reply.body)["__type"].split("#")[-1]


def each_endpoint_with_each_key():
    server, other = prepared()
    before = state(server, other)
    tried = 0
    for method, path, needs in rows():
        is_change = method != "GET"
        body = BODIES.get(f"{method} {path}")
        path = path.replace("NAME", MARK)
        expect = {  # key and query: whether it is let in
            (None, ""): UNSIGNED, (None, f"?account={OTHER}"): UNSIGNED,
            (Credentials("mallory", "hush"), ""): "UnrecognizedClientException", (Credentials("anne", "wrong"), ""): "InvalidSignatureException",
            (ANNE, f"?account={OTHER}"): REFUSED, (ANNE, f"?account={OTHER}&region=us-east-1"): REFUSED, (ANNE, "?access_key=bert"): REFUSED,
            (ANNE, f"?access_key={OTHER}"): REFUSED, (ANNE, "?all=true"): REFUSED, (ANNE, f"?account={OWN}&account={OTHER}"): None,
            (CREDENTIALS, f"?account={OTHER}"): REFUSED,
            (CARL, ""): REFUSED if is_change or needs == "CONTROL" else None}
        for (who, query), wanted in expect.items():
            if needs == "NOTHING":
                wanted = ""
            elif needs == "CONTROL" and wanted is None:
                wanted = REFUSED
            if wanted is None or (needs == "ACCOUNT" and path == "events" and wanted == ""):
                continue
            reply = call(server, method, path, who, body, query)
            assert kind(reply) == wanted, (method, path, needs, who and who.access_key, query, reply.status, reply.body)
            assert MARK.encode() not in reply.body.replace(path.encode(), b""), (method, path, who and who.access_key, reply.body)
            tried += 1
        assert state(server, other) == before, (method, path)
    assert tried > 400, tried
    server.stop()


def each_endpoint_by_its_own_account():
    """A key has its account's: it is let in, sees nothing of the other account, and changes nothing of it."""
    server, other = prepared()
    before = state(server, other)
    for method, path, needs in rows():
        if needs != "ACCOUNT" or path == "events":
            continue
        body = BODIES.get(f"{method} {path}")
        for query in ("", f"?account={OWN}", f"?account={OWN}&region=eu-west-1", "?access_key=anne"):
            query += ("&" if query else "?") + "table=app" if path == "streams/rotate" else ""
            reply = call(server, method, path.replace("NAME", "mine"), ANNE, body, query)
            assert kind(reply) not in (REFUSED, UNSIGNED), (method, path, query, reply.body)
            if path != "explain":  # what it was asked to explain
                assert MARK.encode() not in reply.body, (method, path, query, reply.body)
        assert state(server, other) == before, (method, path)
    server.stop()


def each_endpoint_by_a_key_with_control():
    server, other = prepared()
    for method, path, needs in rows():
        if (method, path) in (("GET", "events"), ("POST", "reset")):
            continue
        for query in ("", f"?account={OTHER}", f"?account={OWN}"):
            reply = call(server, method, path.replace("NAME", "none"), DORA, BODIES.get(f"{method} {path}"), query)
            assert kind(reply) not in (REFUSED, UNSIGNED), (method, path, query, reply.body)
    server.stop()


def keys_that_share_one_account_need_no_control():
    """There is nobody else. With an account of its own for one of them, or "control" for one, that ends."""
    entry = {"access_key_id": "anne", "secret_access_key": "hush"}
    for others, status in (((), 200), ((entry,), 200), (({**entry, "account": OWN},), 400), (({**entry, "control": True},), 400), (({**entry, "access_key_id": OWN},), 400)):
        server = verifying(others=others)
        for path in ("metrics", "namespaces", "clock?all=true"):
            assert call(server, "GET", path, CREDENTIALS).status == status, (others, path)
        assert call(server, "GET", "clock", CREDENTIALS).status == 200
        server.stop()
    server = verifying(account=OTHER, others=({**entry, "account": OWN},))  # none has control
    for method, path, needs in rows():
        for query in (f"?account={OTHER}", "?all=true"):
            reply = call(server, method, path.replace("NAME", "x"), ANNE, BODIES.get(f"{method} {path}"), query)
            assert kind(reply) == ("" if needs == "NOTHING" else REFUSED), (method, path, query, reply.body)
    server.stop()
    server = verifying("--namespaces", "key", others=(entry,))
    assert kind(call(server, "GET", "metrics", CREDENTIALS)) == REFUSED and kind(call(server, "GET", "clock", CREDENTIALS, query="?access_key=anne")) == REFUSED
    server.stop()


def paths_that_are_no_endpoint_show_nothing():
    server, _ = prepared()
    for path in ("", "console/", "console/server.json", "console/index.html", "none", "snapshots", f"snapshots/{MARK}/none", f"checkpoints/{MARK}"):
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            reply = call(server, method, path, None)
            assert reply.status != 200 or not any(path.startswith(row[1]) for row in rows()), (method, path)
            assert MARK.encode() not in reply.body.replace(path.encode(), b""), (method, path)
    server.stop()


def events_of_its_own_account():
    server, other = prepared()
    for query, status in (("", 200), (f"?account={OWN}", 200), (f"?account={OTHER}", 400), ("?all=true", 400)):
        path = f"/_dynalith/events{query}"
        headers = signed(server, "GET", path, credentials=ANNE)
        with raw.connect(server) as s:
            s.sendall("\r\n".join([f"GET {path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers.items())]).encode() + b"\r\n\r\n")
            head = s.recv(65536)
            assert head.startswith(b"HTTP/1.1 %d" % status), head
            if status == 200:
                other.get_item(TableName=MARK, Key={"PK": {"S": MARK}, "SK": {"S": "0"}})
                server.client("anne", "hush").get_item(TableName="app", Key={"PK": {"S": "p"}, "SK": {"S": "0"}})
                text = head
                while b"GetItem" not in text:
                    more = s.recv(65536)
                    assert more, text
                    text += more
                assert MARK.encode() not in text and b"app" in text, text
    server.stop()


def one_authorization_header():
    """AWS reads a second one as more of the first: envoyproxy/envoy#23702 has the message."""
    server = verifying()
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    good = signed(server, "POST", "/", b"{}", target)
    own = good.pop("Authorization")
    send = lambda *values: raw.ask(server, "\r\n".join(["POST / HTTP/1.1", *(f"{k}: {v}" for k, v in good.items()), *(f"Authorization: {v}" for v in values),
                                                       "Content-Length: 2", "", "{}"]).encode())
    assert send(own).status == 200
    for values, wanted, words in (((own, own), "IncompleteSignatureException", "'AWS4-HMAC-SHA256' not a valid key=value pair (missing equal-sign) in Authorization header: 'AWS4-HMAC"),
                                  ((own, "Bearer token"), "IncompleteSignatureException", "'Bearer' not a valid key=value pair (missing equal-sign)"),
                                  ((own, own.replace("alice", "mallory")), "IncompleteSignatureException", "'AWS4-HMAC-SHA256' not a valid key=value pair"),
                                  (("Bearer token", own), "MissingAuthenticationTokenException", "missing Authentication Token"),
                                  ((own, "Signature=0"), "InvalidSignatureException", "does not match")):
        reply = send(*values)
        assert (reply.status, kind(reply)) == (400, wanted) and words in json.loads(reply.body)["message"], (values, reply.body)
    server.stop()


def a_token_that_the_key_has_not():
    """AWS: long-term keys have no token, and the security token included in the request is invalid."""
    server = verifying(others=[{"access_key_id": "anne", "secret_access_key": "hush", "session_token": "right"}])
    target = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    for name, secret, token, is_right in (("alice", "s3cret", None, True), ("alice", "s3cret", "surplus", False), ("anne", "hush", "right", True),
                                          ("anne", "hush", "wrong", False), ("anne", "hush", None, False)):
        request = AWSRequest("POST", server.url + "/", data=b"{}", headers={"Host": f"127.0.0.1:{server.port}", **target})
        SigV4Auth(Credentials(name, secret, token), "dynamodb", "us-east-1").add_auth(request)
        lines = ["POST / HTTP/1.1", *(f"{k}: {v}" for k, v in dict(request.headers).items()), "Content-Length: 2", "", "{}"]
        reply = raw.ask(server, "\r\n".join(lines).encode())
        assert (reply.status == 200) == is_right, (name, token, reply.body)
        assert is_right or json.loads(reply.body) == {"__type": "com.amazon.coral.service#UnrecognizedClientException",
                                                      "message": "The security token included in the request is invalid."}, reply.body
    server.stop()


run("rights", [each_endpoint_with_each_key, each_endpoint_by_its_own_account, each_endpoint_by_a_key_with_control, keys_that_share_one_account_need_no_control,
               paths_that_are_no_endpoint_show_nothing, events_of_its_own_account, one_authorization_header, a_token_that_the_key_has_not])
