"""Masked pulls keep what programs rely on, and nothing else: ten tables of 20 kinds of personal data, by a mask that `dynalith pull --suggest` proposes.
The same counts for queries, index queries and joins as on the original; no original value in the file; one secret, one result."""
import base64
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import urllib.request

from harness import BINARY, Server, run

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-mask-"))
PEOPLE, ORDERS = 12, 3
RANDOM = random.Random(54)


def word(letters="abcdefghiklmnoprstuvwz", least=7, most=10):
    return "".join(RANDOM.choice(letters) for _ in range(RANDOM.randint(least, most))).capitalize()


def digits(n):
    return str(RANDOM.randint(1, 9)) + "".join(RANDOM.choice("0123456789") for _ in range(n - 1))


def card():
    body = "4" + digits(14)
    total = sum(d * 2 - 9 * (d > 4) if i % 2 == 0 else d for i, d in enumerate(int(c) for c in reversed(body)))
    return body + str(-total % 10)


def iban():
    account = digits(18)
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


def person(i):
    first, last, city = word(), word(), word()
    if i % 4 == 3:
        last = "Zoë" + word("äöüßéèñ", 4, 6)
    user = f"{first.lower()}{digits(4)}"
    return {"firstName": first, "lastName": last, "fullName": f"{first} {last}", "userName": user, "email": f"{user}@{word().lower()}.example",
            "phone": f"+49 170 {digits(7)}", "iban": iban(), "card": card(), "street": f"{word()}gasse {digits(2)}", "city": city, "zip": digits(6),
            "birthDate": f"19{digits(2)}-0{digits(1)}-1{digits(1)}", "ip": f"203.0.113.{RANDOM.randint(100, 250)}", "apiToken": digits(12) + word() + digits(20),
            "location": f"52.{digits(5)},13.{digits(5)}", "passport": f"C{digits(8)}", "taxId": digits(11), "company": f"{word()} {word()} Ltd",
            "note": f"{first} asked for a call back about the house in {city} tomorrow", "avatar": f"https://images.example/{user}/{word()}"}


KINDS = sorted(person(0))
assert len(KINDS) == 20
SHORT = {"city", "zip", "birthDate"}  # of a form that a fake of another value may have too


def text(value):
    return {"S": value}


def everything(p):
    return {name: text(value) for name, value in p.items()}


# What an item is beside its keys: where the personal values stand.
SHAPES = {
    "plain": lambda p: everything(p),
    "map": lambda p: {"contact": {"M": everything(p)}},
    "deep": lambda p: {"a": {"M": {"b": {"M": {"c": {"M": everything(p)}}}}}},
    "list": lambda p: {"people": {"L": [{"M": everything(p)}, {"M": everything(p)}]}},
    "set": lambda p: {**everything(p), "names": {"SS": sorted({p["firstName"], p["lastName"]})}, "taxIds": {"NS": [p["taxId"]]}, "ips": {"SS": [p["ip"]]}},
    "json": lambda p: {"payload": text(json.dumps({"person": p, "list": [p["email"], p["phone"]], "n": 1.5}, ensure_ascii=False))},
    "binary": lambda p: {**everything(p), "blob": {"B": p["fullName"].encode()}, "blobs": {"BS": [p["email"].encode()]}},
    "number": lambda p: {**everything(p), "taxNumber": {"N": p["taxId"]}, "cardNumber": {"N": p["card"]}},
    "members": lambda p: {"byMail": {"M": {"first": {"M": everything(p)}}}, "active": {"BOOL": True}, "nothing": {"NULL": True}},
    "mixed": lambda p: {**everything(p), "history": {"L": [{"S": p["email"]}, {"M": {"email": text(p["email"])}}]}},
}
# Partition key, sort key of the person and of an order, key of the index.
KEYS = {
    "plain": (lambda p: text(f"USER#{p['userName']}"), "PROFILE", "ORDER#{n}#{userName}", "EMAIL#{email}"),
    "map": (lambda p: text(p["email"]), "{birthDate}", "{birthDate}#{n}", "{iban}"),
    "deep": (lambda p: text(p["passport"]), "META#{email}", "META#{email}#{n}", "{city}#{zip}"),
    "list": (lambda p: text(f"CUSTOMER|{p['taxId']}|{p['email']}"), "DETAIL", "ITEM|{n}", "{phone}"),
    "set": (lambda p: text(p["userName"]), "{lastName}", "{lastName}#{n}", "{userName}"),
    "json": (lambda p: text(f"tenant:{p['company']}"), "user:{userName}", "order:{userName}:{n}", "card:{card}"),
    "binary": (lambda p: {"B": p["userName"].encode()}, "PROFILE", "ORDER#{n}", "{apiToken}"),
    "number": (lambda p: {"N": p["taxId"]}, "USER#{email}", "ORDER#{email}#{n}", "{location}"),
    "members": (lambda p: text(f"USER#{p['email']}"), "{fullName}", "{fullName}#{n}", "USER#{taxId}#{passport}"),
    "mixed": (lambda p: text(p["iban"]), "A#{ip}", "A#{ip}#{n}", "{card}"),
}


def create(client, table, kind):
    attribute = lambda name, kind: {"AttributeName": name, "AttributeType": kind}
    client.create_table(
        TableName=table, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[attribute("PK", kind), attribute("SK", "S"), attribute("IX", "S")],
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[{"IndexName": "index", "KeySchema": [{"AttributeName": "IX", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}])


def fill(client):
    people = [person(i) for i in range(PEOPLE)]
    for table, shape in SHAPES.items():
        key, first, later, index = KEYS[table]
        create(client, table, next(iter(key(people[0]))))
        for i, p in enumerate(people):
            for n in range(ORDERS + 1):
                sort = (later if n else first).format(n=n, **p)
                client.put_item(TableName=table, Item={"PK": key(p), "SK": text(sort), "IX": text(index.format(**p)), "count": {"N": f"{i * 100 + n}"},
                                                       "status": text("OPEN" if n % 2 else "CLOSED"), "owner": text(p["userName"]), **shape(p)})
    return people


def pull(server, *words, secret="one"):
    return subprocess.run([BINARY, "pull", "--endpoint", server.url, *(word for table in SHAPES for word in ("--table", table)), "--max-units", "1000000", *words],
                          env={**os.environ, "DYNALITH_MASK_SECRET": secret}, capture_output=True, text=True, timeout=120)


def items_of(client, table):
    return {item["count"]["N"]: item for page in client.get_paginator("scan").paginate(TableName=table) for item in page["Items"]}


def queries(client, table, items, chosen):
    """Counts of 30 queries (whole collections, one item, beginnings of sort keys), 10 of an index, and a join by `owner`."""
    counts = []
    for at, number in enumerate(chosen):
        item = items[number]
        values = {":p": item["PK"]}
        condition = "PK = :p"
        if at % 3 == 1:
            condition, values[":s"] = "PK = :p AND SK = :s", item["SK"]
        if at % 3 == 2:
            condition, values[":s"] = "PK = :p AND begins_with(SK, :s)", text(re.split("[#|:]", item["SK"]["S"])[0])
        if at < 30:
            counts.append(client.query(TableName=table, KeyConditionExpression=condition, ExpressionAttributeValues=values)["Count"])
        else:
            counts.append(client.query(TableName=table, IndexName="index", KeyConditionExpression="IX = :x", ExpressionAttributeValues={":x": item["IX"]})["Count"])
    for number in chosen[:5]:
        user = text("USER#" + items[number]["owner"]["S"])
        counts.append(client.query(TableName="plain", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": user})["Count"])
    return counts


def texts_of(value):
    """All strings, bytes and numbers in DynamoDB's JSON, and in JSON in its strings."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, (list, set)):
        for inner in value:
            yield from texts_of(inner)
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, str):
        yield value.encode()
        if value[:1] in "{[":
            yield from texts_of(json.loads(value))


def suggested_and_pulled():
    server = Server()
    client = server.client()
    people = fill(client)
    mask = FOLDER / "mask.json"
    done = pull(server, "--suggest")
    assert done.returncode == 0, done
    mask.write_text(done.stdout)
    told = (done.stdout + done.stderr).lower()
    assert not [value for p in people for value in p.values() if value.lower() in told], "a value of a customer"
    targets = [FOLDER / name for name in ("one.db", "again.db", "other.db")]
    for target, secret in zip(targets, ("one", "one", "other")):
        done = pull(server, "--to", target, "--mask", mask, "--yes", secret=secret)
        assert done.returncode == 0, done
    bytes_of_file = targets[0].read_bytes()
    found = [(name, p[name]) for p in people for name in KINDS if name not in SHORT and p[name].encode() in bytes_of_file]
    assert not found, found
    masked = [Server("--db-path", str(target)).client() for target in targets]
    for table in SHAPES:
        before, one, again, other = (items_of(c, table) for c in (client, *masked))
        assert len(before) == PEOPLE * (ORDERS + 1) and before.keys() == one.keys() and one == again, table
        chosen = [RANDOM.choice(sorted(before)) for _ in range(40)]
        assert queries(client, table, before, chosen) == queries(masked[0], table, one, chosen), table
        assert {item["status"]["S"] for item in one.values()} == {"OPEN", "CLOSED"}
        long = lambda items: {value for item in items.values() for value in texts_of(item) if len(value) >= 9} - constant
        constant = {value for value in texts_of(json.loads(mask.read_text()))} | {b"REDACTED"}
        assert not long(one) & long(before) and not long(one) & long(other), (table, long(one) & long(other))
        if "email" in next(iter(one.values())):
            assert all(re.fullmatch(r"[^@ ]+@[^@ ]+\.z+", item["email"]["S"]) for item in one.values()), table


MOVED = {"rules": [{"path": "pk", "action": "template", "template": ["USER#<fake>"]}, {"path": "mail", "action": "fake"}, {"path": "n", "action": "keep"}]}
PEOPLE_MOVED = [{"pk": f"USER#person-{i}", "mail": f"person-{i}@corp.example", "n": i} for i in range(60)]


def mask_file(name, rules):
    path = FOLDER / name
    path.write_text(json.dumps({"rules": rules}))
    return path


def command(*words):
    return subprocess.run([BINARY, *words], env={**os.environ, "DYNALITH_MASK_SECRET": "one", "TMPDIR": str(FOLDER)}, capture_output=True, text=True, timeout=120)


def people_of(client):
    return sorted((item["n"]["N"], item["pk"]["S"], item["mail"]["S"]) for page in client.get_paginator("scan").paginate(TableName="people") for item in page["Items"])


def masked_by_all_commands():
    """apply, copy, dump and load by one mask and secret: the same items, none of them as they were; what is wrong with a mask is known before anything is written."""
    source = FOLDER / "source.db"
    server = Server("--db-path", str(source))
    create_people = dict(TableName="people", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                         KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], Tags=[{"Key": "team", "Value": "shop"}])
    for region in ("us-east-1", "eu-west-1"):
        server.client(region=region).create_table(**create_people)
    client = server.client()
    client.update_time_to_live(TableName="people", TimeToLiveSpecification={"Enabled": True, "AttributeName": "gone"})
    items = FOLDER / "people.jsonl"
    items.write_text("".join(json.dumps(item) + "\n" for item in PEOPLE_MOVED))
    assert command("apply", items, "--table", "people", "--endpoint", server.url).returncode == 0
    assert people_of(client)[1][2] == "person-1@corp.example"
    good = mask_file("moved.json", [*MOVED["rules"], {"path": "fax", "action": "fake"}])
    lacking, equal = mask_file("lacking.json", MOVED["rules"][::2]), mask_file("equal.json", [{"path": "pk", "action": "redact"}, *MOVED["rules"][1:]])
    plain, dump = FOLDER / "plain.dump", FOLDER / "masked.dump"
    assert command("dump", server.url, plain).returncode == 0 and b"person-1@" in plain.read_bytes()
    targets = [Server() for _ in range(4)]
    targets[0].client().create_table(**create_people)
    done = command("dump", server.url, dump, "--mask", good)
    assert done.returncode == 0 and "120 originals" in done.stdout and b"person-1" not in dump.read_bytes(), done
    server.stop()
    data, moved = f"sqlite:{source}", FOLDER / "moved.db"
    ways = [("apply", items, "--table", "people", "--endpoint", targets[0].url), ("load", targets[1].url, plain), ("copy", "--from", data, "--to", f"sqlite:{moved}")]
    for way in ways:
        for mask, problem in [(lacking, "no rule that can take people: mail ("), (equal, "equal that are not")]:
            done = command(*way, "--mask", mask)
            assert done.returncode == 1 and problem in done.stderr and "person-" not in done.stderr, (way, done)
        assert command(*way, "--unknown", "keep").returncode == 2, way
    assert people_of(targets[0].client()) == [] and targets[1].client().list_tables()["TableNames"] == []
    assert not [path for path in FOLDER.iterdir() if path.name.startswith(("moved.db", "dynalith-load"))]
    for way in ways:
        done = command(*way, "--mask", good)
        assert done.returncode == 0 and 'the rule for "fax"' in done.stderr and "matched nothing" in done.stderr, done
    assert command("load", targets[2].url, dump).returncode == 0
    copied = Server("--db-path", str(moved))
    wanted = people_of(targets[0].client())
    assert len(wanted) == 60 and all(pk.startswith("USER#") and pk[5:] != f"person-{n}" and "corp" not in mail for n, pk, mail in wanted), wanted
    for other in (targets[1], targets[2], copied):
        assert people_of(other.client()) == wanted
        assert other.client().describe_time_to_live(TableName="people")["TimeToLiveDescription"]["AttributeName"] == "gone"
        arn = other.client().describe_table(TableName="people")["Table"]["TableArn"]
        assert other.client().list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "shop"}]
    assert copied.client(region="eu-west-1").list_tables()["TableNames"] == ["people"]
    assert command("copy", "--from", data, "--to", f"sqlite:{FOLDER}/x.db", "--replace", "--mask", good).returncode == 2
    served = Server()  # of a server, all its namespaces; no dump is left there, and no original in a file
    assert command("load", served.url, plain).returncode == 0
    served.client(region="eu-west-1").create_table(**create_people)
    served.client(key="111111111111").create_table(**create_people)
    for mask, problem in [(lacking, "no rule that can take people: mail ("), (equal, "equal that are not")]:
        done = command("copy", "--from", served.url, "--to", f"sqlite:{FOLDER}/x.db", "--mask", mask)
        assert done.returncode == 1 and problem in done.stderr and not list(FOLDER.glob("x.db*")), done
    done = command("copy", "--from", served.url, "--to", f"sqlite:{FOLDER}/x.db", "--mask", good)
    assert done.returncode == 0 and "120 originals" in done.stdout and "000000000000/eu-west-1: 1 tables, 0 items" in done.stdout, done
    assert json.loads(urllib.request.urlopen(f"{served.url}/_dynalith/snapshots").read())["snapshots"] == []
    of_server = Server("--db-path", f"{FOLDER}/x.db")
    assert people_of(of_server.client()) == wanted and of_server.client(region="eu-west-1").list_tables()["TableNames"] == ["people"]
    assert of_server.client(key="111111111111").list_tables()["TableNames"] == ["people"]
    assert not list(FOLDER.glob("dynalith-copy*"))
    template = FOLDER / "import.json"
    source = {"InputFormat": "DYNAMODB_JSON", "S3BucketSource": {"S3Bucket": "people"}}
    properties = {**{k: v for k, v in create_people.items() if k != "Tags"}, "TableName": "imported", "ImportSourceSpecification": source}
    template.write_text(json.dumps({"Resources": {"People": {"Type": "AWS::DynamoDB::Table", "Properties": properties}}}))
    done = command("apply", template, "--endpoint", targets[0].url, "--mask", good)
    assert done.returncode == 1 and "--mask cannot change them" in done.stderr, done


run("mask", [suggested_and_pulled, masked_by_all_commands])
