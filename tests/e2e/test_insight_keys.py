"""Keys of many families in reports of access patterns: each is one pattern a shape, in whichever order requests come, and no value of a customer is shown."""
import base64
import hashlib
import json
import random
import re
import string
import subprocess
import uuid

from harness import BINARY, Server, Watch, control, key, run, until
from wire import Client, Refused, s

N = 60  # values of a family
LETTERS, DIGITS = string.ascii_letters, string.digits
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "niaj", "olivia", "peggy", "rupert", "sybil", "trent", "victor",
         "walter", "zoe"]


def text(r, alphabet, n):
    return "".join(r.choice(alphabet) for _ in range(n))


def date(r):
    return f"20{r.randrange(10, 30)}-{r.randrange(1, 13):02}-{r.randrange(1, 29):02}"


# Each makes a value of a random generator. The prefix that its report may show; None: nothing of it.
FAMILIES = {
    "uuid1": (lambda r: str(uuid.UUID(int=r.getrandbits(128), version=1)), None),
    "uuid4": (lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)), None),
    "uuid7": (lambda r: f"0190{r.getrandbits(32):08x}-7{r.getrandbits(12):03x}-8{r.getrandbits(12):03x}-{r.getrandbits(48):012x}", None),
    "ulid": (lambda r: "01" + text(r, CROCKFORD, 24), None),
    "ksuid": (lambda r: text(r, DIGITS + LETTERS, 27), None),
    "nanoid": (lambda r: text(r, LETTERS + DIGITS + "-_", 21), None),
    "cuid": (lambda r: "c" + text(r, string.ascii_lowercase + DIGITS, 24), None),
    "cuid2": (lambda r: r.choice(string.ascii_lowercase) + text(r, string.ascii_lowercase + DIGITS, 23), None),
    "stripe": (lambda r: "cus_" + text(r, LETTERS + DIGITS, 14), None),
    "mongo": (lambda r: f"{r.getrandbits(96):024x}", None),
    "snowflake": (lambda r: str(r.randrange(10**17, 10**18)), None),
    "e-mail": (lambda r: f"{r.choice(NAMES)}.{text(r, string.ascii_lowercase, 6)}@example.com", None),
    "phone": (lambda r: f"+49{r.randrange(10**9, 10**10)}", None),
    "iban": (lambda r: r.choice(["DE", "FR", "GB", "ES", "NL"]) + text(r, DIGITS, 20), None),
    "date": (date, None),
    "timestamp": (lambda r: f"{date(r)}T{r.randrange(24):02}:{r.randrange(60):02}:{r.randrange(60):02}.{r.randrange(1000):03}Z", None),
    "padded": (lambda r: f"{r.randrange(10**6):012}", None),
    "hash": (lambda r: hashlib.sha256(str(r.random()).encode()).hexdigest(), None),
    "base64": (lambda r: base64.b64encode(r.randbytes(18)).decode(), None),
    "slug": (lambda r: "-".join(r.sample(NAMES, 3)), None),
    "path": (lambda r: f"home/{r.choice(NAMES)}/{text(r, string.ascii_lowercase, 8)}.txt", None),
    "url": (lambda r: f"https://{r.choice(NAMES)}.example.com/{text(r, LETTERS + DIGITS, 12)}", "https:"),
    "arn": (lambda r: f"arn:aws:iam::{r.randrange(10**11, 10**12)}:user/{r.choice(NAMES)}", "arn:"),
    "geohash": (lambda r: text(r, "0123456789bcdefghjkmnpqrstuvwxyz", 9), None),
    "name#number": (lambda r: f"{text(r, string.ascii_lowercase, 7)}#{r.randrange(1000)}", None),
    "name#date": (lambda r: f"{r.choice(NAMES)}#{date(r)}", None),
    "composite": (lambda r: f"ORG#{text(r, string.ascii_lowercase, 6)}#USER#{text(r, string.ascii_lowercase, 6)}#{date(r)}", "ORG#"),
    "entity": (lambda r: f"CUSTOMER#{r.randrange(10**8)}", "CUSTOMER#"),
    "entity#e-mail": (lambda r: f"USER#{r.choice(NAMES)}.{text(r, string.ascii_lowercase, 6)}@example.com", "USER#"),
    "entity#uuid": (lambda r: f"order#{uuid.UUID(int=r.getrandbits(128), version=4)}", "order#"),
    "entity-date": (lambda r: f"order-{date(r)}", "order-"),
    "ENTITY number": (lambda r: f"USER{r.randrange(10**6)}", "USER"),
}


def traffic(client, values):
    for value in values:
        at = {"PK": s(value), "SK": s(value[::-1])}
        client("PutItem", TableName="keys", Item=at)
        client("GetItem", TableName="keys", Key=at)
        client("Query", TableName="keys", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": s(value)})


def secrets_of(value, prefix):
    """Parts of a value that nothing else in a report has by chance."""
    rest = value[len(prefix or ""):]
    return {part for size in (8,) for i in range(max(1, len(rest) - size + 1)) for part in [rest[i:i + size]] if len(part) >= 6}


def shapes(seen):
    return sorted((p["operation"], p["key"], p["calls"]) for p in seen["patterns"])


def report_of(values):
    server = Server("--insight", "on")
    client = Client(server.port)
    client("CreateTable", TableName="keys", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])
    traffic(client, values)
    seen = control(server, "GET", "insight")
    server.stop()
    return seen


def each_family_is_one_pattern():
    for name, (make, prefix) in FAMILIES.items():
        r = random.Random(name)
        values = sorted({make(r) for _ in range(N)})
        one = report_of(values)
        shown = f'"{prefix}…"' if prefix else "?"
        assert shapes(one) == [("GetItem", f"PK = {shown} and SK = ?", len(values)), ("PutItem", f"PK = {shown} and SK = ?", len(values)),
                               ("Query", f"PK = {shown}", len(values))], (name, shapes(one)[:10], len(one["patterns"]))
        r.shuffle(values)
        other = report_of(values)
        assert shapes(other) == shapes(one) and {p["id"] for p in other["patterns"]} == {p["id"] for p in one["patterns"]}, name
        leaves(one, values, prefix, name)


def leaves(seen, values, prefix, name):
    said = json.dumps(seen, ensure_ascii=False)
    for value in values:
        for part in secrets_of(value, prefix):
            if part not in "example.com" and not part.isdigit():
                assert part not in said, (name, value, part)


def what_is_random_or_personal_never_leaves():
    """Mixtures of families in one table, as a property: whatever comes, no part of a value but a known prefix is in a report."""
    known = {prefix for _, prefix in FAMILIES.values() if prefix}
    for seed in range(6):
        r = random.Random(seed)
        values = [make(r) for make, _ in r.sample(list(FAMILIES.values()), 12) for _ in range(r.choice([1, 2, 3, 20]))]
        r.shuffle(values)
        seen = report_of(values)
        for pattern in seen["patterns"]:
            for quoted in pattern.get("key", "").split('"')[1::2]:
                assert quoted.rstrip("…") in known or quoted.isupper(), (seed, pattern["key"])
        for value in values:
            leaves(seen, [value], next((prefix for prefix in known if value.startswith(prefix)), None), seed)


FORMS = ("text", "json", "html", "svg", "markdown", "sarif", "junit")


def told(server):
    """The report in each form, of the command, of MCP, and of the console's API."""
    for form in FORMS:
        yield form, subprocess.run([BINARY, "report", server.url, "--format", form], capture_output=True, text=True, check=True, timeout=120).stdout
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {}}},
             {"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": {"uri": "dynalith://report"}}]
    answers = subprocess.run([BINARY, "mcp", "--endpoint", server.url], input="\n".join(map(json.dumps, asked)) + "\n", capture_output=True, text=True,
                             check=True, timeout=120).stdout
    assert answers.count("access patterns") >= 2 or "Access patterns" in answers, answers[:500]
    yield "mcp", answers
    yield "insight", json.dumps(control(server, "GET", "insight"), ensure_ascii=False)


def all_kinds_of_requests(client, values):
    """Values as keys, attributes, operands, literals, members of sets and maps, in errors, and in what findings are about."""
    quoted = lambda text: text.replace("'", "''")
    for a, b in zip(values, values[1:] + values[:1]):
        at = {"PK": s(a), "SK": s(b)}
        client("PutItem", TableName="keys", Item={**at, "text": s(a), "map": {"M": {"inner": s(b)}}, "set": {"SS": sorted({a, b})}, "list": {"L": [s(a)]}, "version": {"N": "1"}})
        for _ in range(2):
            client("GetItem", TableName="keys", Key=at)
        client("PutItem", TableName="keys", Item={**at, "version": {"N": "2"}})
        client("Query", TableName="keys", KeyConditionExpression="PK = :p AND begins_with(SK, :s)", FilterExpression="#t = :t OR contains(#t, :t)",
               ExpressionAttributeNames={"#t": "text"}, ExpressionAttributeValues={":p": s(a), ":s": s(b[:6]), ":t": s(b)})
        client("Scan", TableName="keys", FilterExpression="#t IN (:a, :b)", ExpressionAttributeNames={"#t": "text"}, ExpressionAttributeValues={":a": s(a), ":b": s(b)})
        client("UpdateItem", TableName="keys", Key=at, UpdateExpression="SET #t = :t", ExpressionAttributeNames={"#t": "text"}, ExpressionAttributeValues={":t": s(b)})
        client("ExecuteStatement", Statement=f"SELECT * FROM keys WHERE PK = '{quoted(a)}' AND text = '{quoted(b)}'")
        paged = client("ExecuteStatement", Statement=f"SELECT * FROM keys -- don't\nWHERE text <> '{quoted(a)}' /* it's {b} */", Limit=1)
        client("ExecuteStatement", Statement=f"SELECT * FROM keys -- don't\nWHERE text <> '{quoted(a)}' /* it's {b} */", Limit=1, NextToken=paged["NextToken"])
        client("PutItem", TableName="keys", Item={**at, "bytes": {"B": base64.b64encode(f"{a}{b}".encode()).decode()}})
        query = lambda x, y: client("Query", TableName="keys", KeyConditionExpression="PK = :p AND SK BETWEEN :a AND :b", ExpressionAttributeValues={":p": s(a), ":a": x, ":b": y})
        put = lambda **more: client("PutItem", TableName="keys", Item={**at, **more})
        delete = {"Delete": {"TableName": "keys", "Key": {"PK": s(a), "SK": s("none")}, "ConditionExpression": "SK BETWEEN :a AND :b",
                             "ExpressionAttributeValues": {":a": s(max(a, b)), ":b": s(min(a, b))}}}
        refused(lambda: put(n={"N": f"{b}x"}), lambda: put(set={"SS": [a, a]}),
                lambda: client("ExecuteStatement", Statement=f"SELECT * FROM keys WHERE '{quoted(a)}' '{quoted(b)}'"),
                lambda: client("PutItem", TableName="keys", Item=at, ConditionExpression="#t = :t", ExpressionAttributeNames={"#t": "text"},
                               ExpressionAttributeValues={":t": s(a)}, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
                lambda: query(s(max(a, b)), s(min(a, b))), lambda: query(s(a), {"B": base64.b64encode(b.encode()).decode()}),
                lambda: client("ExecuteStatement", Statement=f"SELECT * FROM keys WHERE PK = '{quoted(a)}' AND text BETWEEN '{quoted(max(a, b))}' AND '{quoted(min(a, b))}'"),
                lambda: client("ExecuteStatement", Statement=f"INSERT INTO keys VALUE {{'PK': '{quoted(a)}', 'SK': 'x', 'map': {{'{quoted(b)}': 1, '{quoted(b)}': 2}}}}"),
                lambda: client("ExecuteStatement", Statement=f"SELECT * FROM keys WHERE PK = `{{{{ {b} }}}}`"),
                lambda: client("TransactWriteItems", TransactItems=[delete]),
                lambda: client("BatchWriteItem", RequestItems={"keys": [{"PutRequest": {"Item": {"email": a, "of": [b]}}}]}),
                lambda: put(n={"N": 12345678901}), lambda: put(text={"S": [a]}), lambda: put(set={"SS": a}), lambda: put(email=a), lambda: put(map={"M": {"inner": {"S": {a: b}}}}),
                lambda: client("GetItem", TableName="keys", Key={"PK": a, "SK": [b]}), lambda: client("Scan", TableName="keys", ExclusiveStartKey=a),
                lambda: client("Scan", TableName="keys", ScanFilter={"text": a}), lambda: client("ExecuteStatement", Statement="SELECT * FROM keys WHERE PK = ?", Parameters=[a]),
                lambda: client("Query", TableName="keys", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": a}),
                lambda: client("SearchVectors", TableName="keys", IndexName="none", TopK=1, SearchVector=[a], ExpressionAttributeValues={":p": {"N": a}}))


def refused(*requests):
    for bad in requests:
        try:
            bad()
        except Refused:
            continue
        raise AssertionError("it is refused")


def no_output_has_a_value():
    """The same property of each form of the report and of the requests that the console watches, unless examples are asked for."""
    known = {prefix for _, prefix in FAMILIES.values() if prefix}
    for seed in range(3):
        r = random.Random(seed)
        values = [make(r) for make, _ in r.sample(list(FAMILIES.values()), 12) for _ in range(3)]
        for flags in (("--insight", "on"), ("--insight", "examples")):
            server = Server(*flags)
            watch = Watch(server)
            client = Client(server.port)
            client("CreateTable", TableName="keys", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
                   AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")])
            all_kinds_of_requests(client, values)
            client("ListTables")
            until(lambda: watch.events and watch.events[-1]["operation"] == "ListTables", "the last event")
            outputs = {**dict(told(server)), "events": json.dumps(watch.events, ensure_ascii=False)}
            assert set(re.findall(r'"NextToken": "([^"]*)"', outputs["events"])) == {"…"}
            for name, said in outputs.items():
                assert "12345678901" not in said, (seed, flags, name)
                shown = [value for value in values if any(
                    part in said for part in secrets_of(value, next((p for p in known if value.startswith(p)), None))
                    if part not in "https://example.com" and not part.isdigit())]
                may_show = flags[1] == "examples" and name != "events"
                assert may_show or not shown, (seed, flags, name, shown[:3])
                assert shown or not may_show or name not in ("json", "insight"), (seed, name)
            server.stop()


def a_prefix_is_learnt_of_three_values():
    for values, shown in ((["CUSTOMER#1", "CUSTOMER#1", "CUSTOMER#1", "CUSTOMER#2"], "?"), (["CUSTOMER#1", "CUSTOMER#2", "CUSTOMER#3"], '"CUSTOMER#…"'),
                          (["customer#a", "customer#b", "customer#c"], "?"), (["customer#1", "customer#2", "customer#3"], '"customer#…"'),
                          (["PROFILE"] * 5, "?")):
        keys = {p["key"].split(" and ")[0] for p in report_of(values)["patterns"]}
        assert keys == {f"PK = {shown}"}, (values, keys)


run("insight_keys", [each_family_is_one_pattern, what_is_random_or_personal_never_leaves, no_output_has_a_value, a_prefix_is_learnt_of_three_values])
