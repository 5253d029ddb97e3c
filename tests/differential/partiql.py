#!/usr/bin/env python3
"""Generated PartiQL statements, the same to two servers: ours and another (DynamoDB Local), and what they answer differently.

    tests/differential/partiql.py --other URL [--ours URL] [--count N] [--seed S] [--show K]

Without --ours it starts $DYNALITH_BINARY in memory. The statements are random but for their seed: SELECT, INSERT, UPDATE, DELETE, batches and
transactions over three small tables, one in ten broken by a lost, doubled or foreign token. Compared are the status, the type and
the text of errors, and the items; rows without ORDER BY as a set. A difference that EXPLAINED names is counted under its reason, any
other is printed, grouped, and makes the run fail.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
AUTH = "AWS4-HMAC-SHA256 Credential=differential/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"


def call(endpoint, op, body):
    request = urllib.request.Request(endpoint, data=json.dumps(body).encode(), headers={
        "X-Amz-Target": f"DynamoDB_20120810.{op}", "Content-Type": "application/x-amz-json-1.0", "Authorization": AUTH,
        "X-Amz-Date": "20260101T000000Z"})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text else {}


def start():
    binary = os.environ.get("DYNALITH_BINARY", str(ROOT / "build/debug/dynalith"))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    process = subprocess.Popen([binary, "--in-memory", "--port", str(port), "--log-level", "error"])
    for _ in range(2000):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return process, f"http://127.0.0.1:{port}/"
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server did not start")


# --- tables ---

def key_schema(*names):
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"))]


TABLES = {
    "simple": {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": key_schema("pk"),
    },
    "composite": {
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in
                                 (("pk", "S"), ("sk", "N"), ("g", "S"), ("h", "N"), ("l", "S"))],
        "KeySchema": key_schema("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {"IndexName": "gall", "KeySchema": key_schema("g", "h"), "Projection": {"ProjectionType": "ALL"}},
            {"IndexName": "gkeys", "KeySchema": key_schema("g"), "Projection": {"ProjectionType": "KEYS_ONLY"}}],
        "LocalSecondaryIndexes": [
            {"IndexName": "lsi", "KeySchema": key_schema("pk", "l"),
             "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a"]}}],
    },
    "strings": {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "N"}, {"AttributeName": "sk", "AttributeType": "S"}],
        "KeySchema": key_schema("pk", "sk"),
    },
}


def fill(n, i):
    item = {"a": {"N": str(i)}, "s": {"S": f"s{i}"}, "t": {"BOOL": i % 2 == 0}, "nul": {"NULL": True},
            "m": {"M": {"x": {"N": str(i)}, "y": {"M": {"z": {"S": "deep"}}}}}, "li": {"L": [{"N": "1"}, {"S": "two"}, {"M": {"k": {"N": "3"}}}]},
            "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2"]}, "bin": {"B": "AQI="}}
    if i % 3 == n % 3:
        item["opt"] = {"S": "here"}
    return item


def rows():
    for i in range(5):
        yield "simple", {"pk": {"S": f"k{i}"}, **fill(0, i)}
    for p in "abc":
        for i in range(4):
            item = {"pk": {"S": p}, "sk": {"N": str(i)}, **fill(1, i)}
            if i != 3:
                item.update({"g": {"S": f"g{i % 2}"}, "h": {"N": str(10 * i)}, "l": {"S": f"l{9 - i}"}})
            yield "composite", item
    for p in (1, 2):
        for s in ("x1", "x2", "y"):
            yield "strings", {"pk": {"N": str(p)}, "sk": {"S": s}, **fill(2, p)}


def prepare(endpoint):
    for name in TABLES:
        call(endpoint, "DeleteTable", {"TableName": name})
    for name, definition in TABLES.items():
        status, body = call(endpoint, "CreateTable", {"TableName": name, "BillingMode": "PAY_PER_REQUEST", **definition})
        assert status == 200, body
    for table, item in rows():
        status, body = call(endpoint, "PutItem", {"TableName": table, "Item": item})
        assert status == 200, body


def restore(endpoint):
    """The items as they were at first, and no others."""
    wanted = collections.defaultdict(dict)
    for table, item in rows():
        names = [e["AttributeName"] for e in TABLES[table]["KeySchema"]]
        wanted[table][json.dumps([item[n] for n in names])] = item
    for table, items in wanted.items():
        names = [e["AttributeName"] for e in TABLES[table]["KeySchema"]]
        for item in call(endpoint, "Scan", {"TableName": table})[1]["Items"]:
            if json.dumps([item[n] for n in names]) not in items:
                call(endpoint, "DeleteItem", {"TableName": table, "Key": {n: item[n] for n in names}})
        for item in items.values():
            call(endpoint, "PutItem", {"TableName": table, "Item": item})


def contents(endpoint):
    """All items, as text that equal tables have in common."""
    items = {table: call(endpoint, "Scan", {"TableName": table})[1]["Items"] for table in TABLES}
    return {table: sorted(json.dumps(canonical(item, True), sort_keys=True) for item in found) for table, found in items.items()}


# --- statements ---

class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.parameters = []

    def pick(self, *choices):
        return self.r.choice(choices)

    def chance(self, share):
        return self.r.random() < share

    def name(self, n):
        return f'"{n}"' if self.chance(0.15) else n

    def table(self):
        return self.r.choices(["simple", "composite", "strings", "absent", "x"], [30, 50, 17, 2, 1])[0]

    def path(self, depth=2):
        head = self.r.choices(["a", "s", "t", "nul", "m", "li", "ss", "ns", "bin", "opt", "none", "g", "h", "l", "pk", "sk"],
                              [10, 8, 4, 4, 5, 5, 4, 4, 2, 5, 5, 3, 3, 3, 4, 4])[0]
        if head == "m" and depth and self.chance(0.6):
            return self.pick("m.x", "m.y", "m.y.z", "m['x']", "m.none", '"m"."x"')
        if head == "li" and depth and self.chance(0.6):
            return self.pick("li[0]", "li[1]", "li[2].k", "li[9]", "li[2]")
        return self.name(head)

    def scalar(self):
        kind = self.r.choices(["n", "s", "b", "null"], [45, 45, 6, 4])[0]
        if kind == "n":
            return self.pick("0", "1", "2", "3", "-1", "1.5", "10", "1e1", "20", "0.1e1", "-0")
        if kind == "s":
            return "'" + self.pick("s1", "s2", "a", "b", "k1", "g0", "x", "", "it''s", "S", "N", "here", "l8") + "'"
        return self.pick("true", "false", "TRUE") if kind == "b" else "null"

    def parameter(self):
        value = self.pick({"N": "1"}, {"N": "2"}, {"S": "s1"}, {"S": "k1"}, {"S": "a"}, {"BOOL": True}, {"NULL": True}, {"SS": ["a", "b"]},
                          {"NS": ["2", "1"]}, {"L": [{"N": "1"}]}, {"M": {"x": {"N": "1"}}}, {"B": "AQI="}, {"BS": ["AQI="]})
        self.parameters.append(value)
        return "?"

    def literal(self, depth=2):
        kind = self.r.choices(["scalar", "parameter", "list", "bag", "struct"], [70, 12, 6, 7, 5])[0]
        if kind == "parameter":
            return self.parameter()
        if kind == "scalar" or depth == 0:
            return self.scalar()
        if kind == "list":
            return "[" + ", ".join(self.literal_inside(depth - 1) for _ in range(self.r.randint(0, 3))) + "]"
        if kind == "struct":
            return "{" + ", ".join(f"'{self.pick('x', 'y', 'z')}': {self.literal_inside(depth - 1)}" for _ in range(self.r.randint(0, 2))) + "}"
        return self.bag()

    def literal_inside(self, depth):
        return self.scalar() if self.chance(0.8) or depth == 0 else self.literal(depth)

    def bag(self):
        if self.chance(0.05):
            return "<<" + ", ".join(self.scalar() for _ in range(self.r.randint(0, 2))) + ">>"
        elements = self.pick(["'a'", "'b'", "'c'", "'z'"], ["1", "2", "3", "4"])
        return "<<" + ", ".join(self.r.sample(elements, self.r.randint(1, 3))) + ">>"

    def key_value(self, table, key):
        if self.chance(0.06):
            return self.literal()
        if table == "composite":
            return {"pk": self.pick("'a'", "'b'", "'c'", "'none'"), "sk": self.pick("0", "1", "2", "3", "7"),
                    "g": self.pick("'g0'", "'g1'"), "h": self.pick("0", "10", "20"), "l": self.pick("'l9'", "'l8'", "'l'")}[key]
        if table == "strings":
            return self.pick("1", "2", "3") if key == "pk" else self.pick("'x1'", "'x2'", "'y'", "'x'")
        return self.pick("'k0'", "'k1'", "'k2'", "'k3'", "'k4'", "'none'")

    def comparison(self):
        left, right = self.path(), self.literal()
        if self.chance(0.08):
            right = self.path()
        if self.chance(0.08):
            left, right = right, left
        return f"{left} {self.r.choices(['=', '<>', '<', '<=', '>', '>=', '!='], [30, 8, 8, 8, 8, 8, 3])[0]} {right}"

    def function(self):
        p = self.path()
        return self.pick(
            f"begins_with({p}, {self.literal()})", f"contains({p}, {self.literal()})", f"attribute_exists({p})",
            f"attribute_not_exists({p})", f"attribute_type({p}, '{self.pick('S', 'N', 'SS', 'M', 'L', 'NULL', 'BOOL', 'B', 'Q')}')",
            f"size({p}) {self.pick('=', '>', '<')} {self.scalar()}", f"BEGINS_WITH({p}, 's')", f"size({p}) BETWEEN 1 AND 3",
            f"attribute_exists({p}) = {self.pick('true', 'false')}", f"contains({p}, {p})", f"size({self.scalar()}) = 1")

    def simple_condition(self):
        kind = self.r.choices(["compare", "function", "between", "in", "is", "strange"], [45, 22, 10, 12, 12, 2])[0]
        if kind == "compare":
            return self.comparison()
        if kind == "function":
            return self.function()
        negated = "NOT " if self.chance(0.15) else ""
        if kind == "between":
            low, high = (self.scalar(), self.scalar()) if self.chance(0.3) else self.pick(("1", "2"), ("'a'", "'t'"), ("0", "9"))
            return f"{self.path()} {negated}BETWEEN {low} AND {high}"
        if kind == "in":
            values = ", ".join(self.literal(1) for _ in range(self.r.randint(1, 3)))
            return f"{self.path()} {negated}IN " + self.pick(f"({values})", f"[{values}]")
        if kind == "is":
            return f"{self.path()} IS {negated}{self.pick('MISSING', 'NULL', 'BOOLEAN', 'STRING', 'NUMERIC', 'LIST', 'STRUCT', 'TUPLE', 'BLOB')}"
        return self.pick(f"{self.path()} LIKE 'a%'", f"foo({self.path()})", self.path(), "true", f"{self.path()} + 1 = 2", f"{self.path()} = MISSING",
                         f"list_append({self.path()}, [1])", f"set_add(ss, <<'a'>>)", f"{self.path()} IS INT", "1 = 1")

    def condition(self, depth=2):
        kind = self.r.choices(["simple", "and", "or", "not", "group"], [60, 18, 9, 8, 5])[0] if depth else "simple"
        if kind == "simple":
            return self.simple_condition()
        if kind == "not":
            return "NOT " + self.condition(depth - 1)
        if kind == "group":
            return "(" + self.condition(depth - 1) + ")"
        return f"{self.condition(depth - 1)} {kind.upper()} {self.condition(depth - 1)}"

    def hash_of(self, index):
        return {"gall": "g", "gkeys": "g"}.get(index, "pk")

    def sort_of(self, table, index):
        if table == "simple":
            return None
        return {"gall": "h", "gkeys": None, "lsi": "l"}.get(index, "sk")

    def key_condition(self, table, index):
        hash_key, sort_key = self.hash_of(index), self.sort_of(table, index)
        parts = [f"{self.name(hash_key)} = {self.key_value(table, hash_key)}"]
        if self.chance(0.12):
            values = self.r.sample(["'a'", "'b'", "'c'", "'none'"] if table == "composite" and hash_key == "pk" else
                                   ["'g0'", "'g1'"] if hash_key == "g" else ["1", "2", "3"] if table == "strings" else ["'k1'", "'k2'", "'k3'"], 2)
            parts = [f"{hash_key} IN " + self.pick("({})", "[{}]").format(", ".join(values))]
        if sort_key and self.chance(0.6):
            value = self.key_value(table, sort_key)
            parts.append(self.r.choices([
                f"{sort_key} = {value}", f"{sort_key} {self.pick('<', '<=', '>', '>=', '<>')} {value}",
                f"{sort_key} BETWEEN {value} AND {self.key_value(table, sort_key)}", f"begins_with({sort_key}, {value})",
                f"{sort_key} IN ({value})", f"{sort_key} > {value} AND {sort_key} <= {self.key_value(table, sort_key)}"], [40, 25, 10, 10, 5, 8])[0])
        return " AND ".join(parts)

    def where(self, table, index, keyed):
        parts = []
        if self.chance(keyed):
            parts.append(self.key_condition(table, index))
        if not parts or self.chance(0.35):
            condition = self.condition()
            parts.append(f"({condition})" if parts and " OR " in condition and self.chance(0.8) else condition)
        self.r.shuffle(parts)
        return " AND ".join(parts)

    def source(self, table):
        index = None
        text = self.name(table) if re.fullmatch(r"[a-z]+", table) else f'"{table}"'
        if table == "composite" and self.chance(0.3):
            index = self.r.choices(["gall", "gkeys", "lsi", "nothing"], [40, 30, 30, 3])[0]
            text += "." + self.name(index)
        return text, index

    def select(self):
        table = self.table()
        source, index = self.source(table)
        columns = "*" if self.chance(0.55) else ", ".join(self.path() for _ in range(self.r.randint(1, 3)))
        text = f"SELECT {columns} FROM {source}"
        if self.chance(0.9):
            text += " WHERE " + self.where(table, index, 0.7)
            if self.chance(0.12):
                key = self.pick(self.sort_of(table, index) or "pk", self.hash_of(index), "a")
                text += f" ORDER BY {key}" + self.pick("", " ASC", " DESC")
        return text + self.pick("", "", "", ";")

    def item(self, table):
        pairs = [("pk", self.pick("'new1'", "'new2'", "'k1'", "'a'") if table != "strings" else self.pick("1", "8", "9"))]
        if table != "simple":
            pairs.append(("sk", self.pick("1", "100", "101") if table == "composite" else self.pick("'x1'", "'new'")))
        if self.chance(0.08):
            self.r.shuffle(pairs)
            pairs.pop()
        if self.chance(0.06):
            pairs = [(pairs[0][0] if pairs else "a", self.literal())] + pairs[1:]
        for _ in range(self.r.randint(0, 3)):
            pairs.append((self.pick("a", "s", "m", "li", "ss", "g", "h", "w"), self.literal()))
        return "{" + ", ".join(f"'{n}': {v}" for n, v in pairs) + "}"

    def insert(self):
        table = self.table()
        return f"INSERT INTO {self.name(table)} VALUE {self.item(table)}" + (" RETURNING ALL OLD *" if self.chance(0.02) else "")

    def set_value(self, path):
        return self.r.choices([
            self.literal(), f"{self.path()} + {self.scalar()}", f"{path} {self.pick('+', '-')} {self.pick('1', '2.5')}", self.path(),
            f"list_append({self.pick(path, 'li')}, [{self.scalar()}])", f"if_not_exists({self.path()}, {self.literal()})",
            f"set_add({path}, {self.bag()})", f"set_delete({path}, {self.bag()})", f"list_append([1], {path})",
            self.pick("MISSING", "foo(a)", "a * 2", "size(a)", "set_add(ss, 'x')", "a IS NULL", "-a", "[a]")],
            [45, 5, 12, 6, 8, 5, 6, 6, 4, 3])[0]

    def update(self):
        table = self.table()
        source = self.name(table) if self.chance(0.99) else "composite.gall"
        changes = []
        for _ in range(self.r.choices([1, 2, 3], [70, 22, 8])[0]):
            path = self.pick("ss", "ns") if self.chance(0.15) else self.path() if self.chance(0.85) else "li[1]"
            changes.append(f"REMOVE {path}" if self.chance(0.2) else f"SET {path} = {self.set_value(path)}")
        where = self.full_key(table)
        tail = " RETURNING " + self.pick("ALL OLD", "ALL NEW", "MODIFIED OLD", "MODIFIED NEW") + " *" if self.chance(0.4) else ""
        if self.chance(0.05):
            return f"FROM {source} WHERE {where} {' '.join(changes)}{tail}"
        return f"UPDATE {source} {' '.join(changes)} WHERE {where}{tail}"

    def full_key(self, table):
        parts = [f"pk = {self.key_value(table, 'pk')}"]
        if table != "simple":
            parts.append(f"sk = {self.key_value(table, 'sk')}")
        if self.chance(0.05):
            parts.pop()
        if self.chance(0.25) or not parts:
            parts.append(f"({self.condition()})" if self.chance(0.5) else self.simple_condition())
        self.r.shuffle(parts)
        return " AND ".join(parts)

    def delete(self):
        table = self.table()
        tail = " RETURNING " + self.r.choices(["ALL OLD", "ALL NEW", "MODIFIED OLD"], [90, 5, 5])[0] + " *" if self.chance(0.4) else ""
        return f"DELETE FROM {self.name(table)} WHERE {self.full_key(table)}{tail}"

    def damage(self, text):
        tokens = re.findall(r"'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_]+|\d+|<<|>>|\s+|.", text)
        at = self.r.randrange(len(tokens))
        kind = self.r.randrange(4)
        if kind == 0:
            del tokens[at]
        elif kind == 1:
            tokens.insert(at, tokens[at] + " ")
        elif kind == 2:
            tokens.insert(at, " " + self.pick("AND", "SET", "(", ")", ",", "FROM", "'x'", "=", "date", "NOT", "?", "[", "1", "x", ".", ";", "AS t", "LIMIT 1") + " ")
        else:
            other = self.r.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        return "".join(tokens)

    def statement(self, kinds=("select", "insert", "update", "delete"), weights=(55, 12, 22, 11)):
        self.parameters = []
        text = getattr(self, self.r.choices(kinds, weights)[0])()
        if self.chance(0.07):
            text = self.damage(text)
        statement = {"Statement": text[:8192] or "x"}
        if self.parameters:
            statement["Parameters"] = self.parameters
        return statement

    def batch_select(self):
        table = self.pick("simple", "composite", "strings")
        columns = "*" if self.chance(0.6) else self.path()
        return f"SELECT {columns} FROM {table} WHERE {self.full_key(table)}"

    def exists(self):
        table = self.pick("simple", "composite")
        return f"EXISTS(SELECT * FROM {table} WHERE {self.full_key(table)} AND {self.simple_condition()})"

    def request(self):
        kind = self.r.choices(["one", "batch", "transaction"], [84, 8, 8])[0]
        if kind == "one":
            body = self.statement()
            if self.chance(0.06) and body["Statement"].startswith("SELECT"):
                body["Limit"] = self.r.randint(1, 5)
            if self.chance(0.1):
                body["ConsistentRead"] = self.chance(0.5)
            if self.chance(0.1):
                body["ReturnValuesOnConditionCheckFailure"] = self.pick("ALL_OLD", "NONE")
            return "ExecuteStatement", body
        is_read = self.chance(0.4)
        kinds, weights = (("batch_select", "select"), (9, 1)) if is_read else (("insert", "update", "delete"), (3, 4, 3))
        if kind == "transaction" and not is_read:
            kinds, weights = ("insert", "update", "delete", "exists"), (3, 4, 3, 2)
        statements = [self.statement(kinds, weights) for _ in range(self.r.randint(1, 3))]
        return ("BatchExecuteStatement", {"Statements": statements}) if kind == "batch" else \
            ("ExecuteTransaction", {"TransactStatements": statements})


# --- comparison ---

def canonical(value, is_ordered):
    if isinstance(value, dict):
        return {k: (sorted(v) if k in ("SS", "NS", "BS") and isinstance(v, list) else canonical(v, is_ordered)) for k, v in value.items()}
    if isinstance(value, list):
        return [canonical(v, is_ordered) for v in value]
    return value


def view(reply, body):
    """Status, type, text and content, without what may differ between two right answers."""
    status, answer = reply
    text = json.dumps(body)
    if status != 200:
        kind = answer.get("__type", "").split("#")[-1]
        return {"status": status, "type": kind, "message": answer.get("message", answer.get("Message", "")),
                "more": canonical({k: v for k, v in answer.items() if k not in ("__type", "message", "Message")}, True)}
    if "Limit" in body: # which items a page of a Scan holds is each server's own
        return {"status": 200}
    answer = canonical({k: v for k, v in answer.items() if k not in ("LastEvaluatedKey", "ConsumedCapacity", "NextToken")}, True)
    if "Items" in answer and "ORDER" not in text:
        answer["Items"] = sorted(answer["Items"], key=lambda i: json.dumps(i, sort_keys=True))
    return {"status": 200, "answer": answer}


def message_of(view):
    return view.get("message", "")


def strip_position(text):
    return re.sub(r" at \d+:\d+:\d+", "", text)


SYNTAX = "Statement wasn't well formed, can't be processed: "

# Reason, and a test of (request, other's view, our view). Each reason says which authority ours follows.
WRONG_TYPE = "One or more parameter values were invalid: Condition parameter type does not match schema type"
EXPLAINED = [
    ("syntax errors: the other repeats the statement, AWS names what it expected",
     lambda q, o, m: SYNTAX in message_of(o) and SYNTAX in message_of(m)),
    ("absent table: AWS's text is that of every operation",
     lambda q, o, m: o.get("type") == m.get("type") and str(m.get("type")).startswith("ResourceNotFound")),
    ("type DuplicateItemException: as the API model and AWS name it",
     lambda q, o, m: o.get("type") == "DuplicateItem" and m.get("type") == "DuplicateItemException"),
    ("the other fails with an internal error",
     lambda q, o, m: o["status"] == 500 or "InternalServerError" in json.dumps(o)),
    ("position in the message: AWS gives one, the other none, or the other way round",
     lambda q, o, m: message_of(o) != message_of(m) and strip_position(message_of(o)) == strip_position(message_of(m))),
    ("AWS refuses ranges of one partition that overlap",
     lambda q, o, m: message_of(m).startswith("Overlapping conditions with range keys")),
    ("unknown index: AWS's text does not name it",
     lambda q, o, m: message_of(m) == "The table does not have the specified index"),
    ("consistent read of a global index: AWS's text",
     lambda q, o, m: message_of(m).startswith("Strongly consistent read is not supported")),
    ("duplicates in a set literal: AWS's text lists the members",
     lambda q, o, m: message_of(o).startswith("Input collection contains duplicates") and "contains duplicates" in message_of(m)),
    ("index key of a wrong type or empty: AWS's text names attribute, types and index, and the first index",
     lambda q, o, m: ("Index Key" in message_of(m) or "IndexKey" in message_of(m) or "Index Key" in json.dumps(m)) and
     (message_of(o).endswith("Type mismatch for Index Key") or "Invalid attribute value type" in message_of(o) or "IndexKey" in message_of(o)
      or "secondary index key" in message_of(o) or str(o.get("type")).startswith("ConditionalCheckFailed") or o.get("type") == "TransactionCanceledException")),
    ("MODIFIED of a document path: AWS returns what changed, the other the whole attribute",
     lambda q, o, m: "RETURNING MODIFIED" in json.dumps(q) and o["status"] == m["status"] == 200),
    ("an update of a key attribute is refused before the item is looked at",
     lambda q, o, m: str(o.get("type")).startswith("ConditionalCheckFailed") and "This attribute is part of the key" in message_of(m)),
    ("batches: AWS's text for a SELECT without the full key",
     lambda q, o, m: message_of(o) == "Only single item select is supported" and message_of(m).startswith("Select statements within")),
    ("a failed EXISTS: the other ends its text with a full stop",
     lambda q, o, m: json.dumps(o).replace("request failed.", "request failed") == json.dumps(m)),
    ("transactions: what an item refuses is a reason for cancellation, as in TransactWriteItems",
     lambda q, o, m: m.get("type") == "TransactionCanceledException" and (o.get("type") == "ValidationException" and message_of(o) in json.dumps(m)
                                                                      or message_of(o).startswith("ValidationError "))),
    ("a duplicate in a transaction: the reason is DuplicateItem",
     lambda q, o, m: m.get("type") == "TransactionCanceledException" and "DuplicateItem" in json.dumps(m) and "Duplicate primary key" in json.dumps(o)),
    ("a partition read that filters on what the index does not project: AWS refuses it with IN too",
     lambda q, o, m: "does not project one or more filter attributes" in message_of(m)),
    ("lists of attributes and types in messages: AWS's order",
     lambda q, o, m: sorted(re.findall(r"[\w]+", message_of(o))) == sorted(re.findall(r"[\w]+", message_of(m)))),
    ("EXISTS with its key given twice: the other evaluates it",
     lambda q, o, m: "EXISTS() must contain a single item read" in message_of(m)),
    ("a key of the wrong type beside other conditions on the same key: we check every one",
     lambda q, o, m: o["status"] == 200 and (message_of(m).startswith("Key attribute's data type") or WRONG_TYPE in message_of(m) or
                                             "for a key attribute cannot contain an empty" in message_of(m)) or
     message_of(o).startswith("Multiple conditions on same key")),
    ("IS and attribute_type of a key: the other takes the type's name for a value of the key",
     lambda q, o, m: (WRONG_TYPE in message_of(o) or message_of(o).startswith("Key attribute's data type") or "ORDER BY" in message_of(m)) and
     re.search(r'\b(pk|sk|g|h|l)(\\")? IS |attribute_type\(', json.dumps(q))),
    ("batches: of a key of the wrong type beside further conditions the type is told",
     lambda q, o, m: message_of(o) == "Only single item select is supported" and message_of(m).startswith("Key attribute's data type")),
    ("batches: a SELECT without the full key is told before its ORDER BY",
     lambda q, o, m: "ORDER BY" in message_of(o) and message_of(m).startswith("Select statements within")),
    ("null within a set: the other's text is cut short",
     lambda q, o, m: message_of(o).startswith("INVALID_PARAMETER_VALUE:") and "Unsupported data type in Bag" in message_of(m)),
    ("IS where no condition can stand: AWS's name of the operation",
     lambda q, o, m: message_of(o) == "Unsupported operation: Typed" and message_of(m) == "Unsupported operation: IsType"),
    ("several faults of one statement: which of them is named",
     lambda q, o, m: message_of(m).startswith(("Number of parameters in request", "The arguments to AND/OR must be")) and o["status"] == 400 or
     message_of(m).startswith("Key attribute's data type") and
     re.search("^Consistent reads are not|in ORDER BY clause must be", message_of(o)) or
     " does not project [" in message_of(o) and "for a key attribute cannot contain" in message_of(m)),
    ("two mistakes of one update: which of them is named",
     lambda q, o, m: message_of(o).startswith("The provided expression refers to") and message_of(m).startswith("An operand in the update")),
    ("a transaction with several faults: which of them is named",
     lambda q, o, m: len(q.get("TransactStatements", [])) > 1 and o["status"] == m["status"] == 400),
    ("SET where a value should stand: a syntax error, which the other parses",
     lambda q, o, m: "Unsupported token in expression: UNKNOWN" in message_of(o) and SYNTAX in message_of(m)),
    ("a wrong key in a transaction is a reason for cancellation before all else of its statement",
     lambda q, o, m: len(q.get("TransactStatements", [])) == 1 and m.get("type") == "TransactionCanceledException" and o["status"] == 400),
    ("a local index's key of a wrong type: the other stores it",
     lambda q, o, m: o["status"] == 200 and "IndexName: lsi" in message_of(m)),
    ("overlapping paths: the other names the wrong two",
     lambda q, o, m: "Two document paths" in message_of(o) and "Two document paths" in message_of(m)),
    ("INSERT into a table whose name cannot be: refused by the name",
     lambda q, o, m: "Table name should be within" in message_of(m) and str(o.get("type")).startswith("ResourceNotFound")),
    ("a key of the wrong type: we plan IN, OR and the sort key alone as partitions, the other scans",
     lambda q, o, m: message_of(o).startswith("One or more parameter values were invalid: Condition parameter type") and
     message_of(m).startswith("Key attribute's data type")),
]


def explain_one(request, other, ours):
    for reason, test in EXPLAINED:
        if test(request, other, ours):
            return reason
    return None


def explain(request, other, ours):
    """The reason; of a batch, that of its first answer that differs, if each has one."""
    answers = [v.get("answer", {}).get("Responses") for v in (other, ours)]
    if "Statements" not in request or not all(answers) or len(answers[0]) != len(answers[1]):
        return explain_one(request, other, ours)
    reasons = []
    for statement, *pair in zip(request["Statements"], *answers):
        if pair[0] != pair[1]:
            views = [{"status": 400, "type": a["Error"]["Code"], "message": a["Error"]["Message"]} if "Error" in a else {"status": 200, "answer": a}
                     for a in pair]
            reasons.append(explain_one(statement, *views))
    return reasons[0] if all(reasons) else None


def group_of(op, other, ours):
    def side(v):
        return f"{v['status']} {v.get('type', '')} {re.sub(r'[0-9]+', 'N', strip_position(message_of(v)))[:90]}" if v["status"] != 200 else "200"
    return f"{op}: other {side(other)} | ours {side(ours)}"


def is_write(op, body):
    return not all(s["Statement"].lstrip().upper().startswith("SELECT") for s in
                   body.get("Statements", body.get("TransactStatements", [body])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", required=True)
    parser.add_argument("--ours")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=2, help="examples per group")
    args = parser.parse_args()
    process, ours = (None, args.ours) if args.ours else start()
    generator = Generator(args.seed)
    explained, groups = collections.Counter(), collections.defaultdict(list)
    same = succeeded = 0
    try:
        for endpoint in (args.other, ours):
            prepare(endpoint)
        for number in range(args.count):
            op, body = generator.request()
            replies = [call(endpoint, op, body) for endpoint in (args.other, ours)]
            other, mine = (view(reply, body) for reply in replies)
            succeeded += mine["status"] == 200
            is_same_state = other != mine or not is_write(op, body) or contents(args.other) == contents(ours)
            if other == mine and is_same_state:
                same += 1
            elif other == mine and "contains duplicates" in message_of(mine):
                explained["a batch that names an item twice: the other runs some of it before it refuses it"] += 1
            elif other == mine:
                groups[f"{op}: the items differ afterwards"].append((body, other, mine))
            else:
                reason = explain(body, other, mine)
                if reason:
                    explained[reason] += 1
                else:
                    groups[group_of(op, other, mine)].append((body, other, mine))
            if is_write(op, body) and (other != mine or not is_same_state or number % 100 == 0):
                for endpoint in (args.other, ours):
                    restore(endpoint)
    finally:
        if process:
            process.terminate()
            process.wait(30)
    for group, examples in sorted(groups.items(), key=lambda g: -len(g[1])):
        print(f"{len(examples)} times {group}")
        for body, other, mine in sorted(examples, key=lambda e: len(json.dumps(e[0])))[:args.show]:
            print(f"    {json.dumps(body)[:600]}\n      other {json.dumps(other)[:500]}\n      ours  {json.dumps(mine)[:500]}")
    for reason, count in explained.most_common():
        print(f"explained {count}: {reason}")
    unexplained = sum(len(examples) for examples in groups.values())
    print(f"differential: {args.count} requests, {succeeded} succeeded, {same} same, {sum(explained.values())} explained")
    print(f"differential: {same + sum(explained.values())} passed, {unexplained} failed")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
