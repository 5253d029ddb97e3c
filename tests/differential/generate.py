"""Random requests over a single-table schema: all operations and parameters, right ones and wrong ones.

A Generator is seeded and keeps no state between requests but its random source, so that a round can be run again.
"""
import base64
import copy
import random
import re

TABLE = "app"       # PK, SK of type S; two LSIs, three GSIs
NUMBERS = "numbers"  # a partition key of type N alone
BYTES = "bytes"     # B and N


def index(name, keys, projection, *included):
    shape = {"IndexName": name, "KeySchema": [{"AttributeName": k, "KeyType": t} for k, t in zip(keys, ("HASH", "RANGE"))],
             "Projection": {"ProjectionType": projection}}
    if included:
        shape["Projection"]["NonKeyAttributes"] = list(included)
    return shape


def table(name, keys, types, **more):
    return {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": k, "KeyType": t} for k, t in zip(keys, ("HASH", "RANGE"))],
            "AttributeDefinitions": [{"AttributeName": k, "AttributeType": t} for k, t in types.items()], **more}


SCHEMA = [
    table(TABLE, ("PK", "SK"), {"PK": "S", "SK": "S", "G1PK": "S", "G1SK": "S", "G2PK": "S", "n": "N", "b": "B", "s": "S"},
          LocalSecondaryIndexes=[index("LSI1", ("PK", "n"), "ALL"), index("LSI2", ("PK", "s"), "KEYS_ONLY")],
          GlobalSecondaryIndexes=[index("GSI1", ("G1PK", "G1SK"), "ALL"), index("GSI2", ("G2PK", "n"), "INCLUDE", "m", "l"),
                                  index("GSI3", ("b",), "KEYS_ONLY")]),
    table(NUMBERS, ("id",), {"id": "N"}),
    table(BYTES, ("id", "at"), {"id": "B", "at": "N"}),
]
KEYS = {TABLE: {"PK": "S", "SK": "S"}, NUMBERS: {"id": "N"}, BYTES: {"id": "B", "at": "N"}}
INDEXES = {"LSI1": {"PK": "S", "n": "N"}, "LSI2": {"PK": "S", "s": "S"}, "GSI1": {"G1PK": "S", "G1SK": "S"},
           "GSI2": {"G2PK": "S", "n": "N"}, "GSI3": {"b": "B"}}

PARTITIONS = ["A", "B", "CUSTOMER#1"]
SORTS = ["1", "10", "2", "ORDER#1", "ORDER#2", "PROFILE", "\u00e9", "\U0001f600"]
NUMBERS_GOOD = ["0", "1", "-1", "2", "10", "1.5", "-2.5", "0.001", "100", "1e2", "1E+2", "00012", "1.0", "-0", "5e-5", "123456789012345678",
                "12345678901234567890123456789012345678", "9.9e125", "1e-130", "-9.9e125"]
NUMBERS_BAD = ["", "abc", "1e126", "1e-131", "123456789012345678901234567890123456789", " 1", "1 ", "0x10", "NaN", "Infinity", "--1", "1e", ".", "1_0"]
BYTES_GOOD = [b"\x00", b"a", b"\xff\x00", b"longer bytes"]
TEXTS = ["", "a", "b", "abc", "abd", "ORDER#1", "\u00e9", "x" * 40]
ATTRIBUTES = ["a", "c", "n", "s", "m", "l", "ss", "ns", "bs", "b", "G1PK", "G1SK", "G2PK", "PK", "SK", "flag", "nothing", "id"]
RESERVED = ["name", "status", "size", "Date", "values", "hash"]
TYPES = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]
FUNCTIONS = ["attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size", "if_not_exists", "list_append", "unknown"]
COMPARATORS = ["=", "<>", "<", "<=", ">", ">="]
LEGACY_OPERATORS = ["EQ", "NE", "LE", "LT", "GE", "GT", "BETWEEN", "NOT_NULL", "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH", "IN"]
WRONG_JSON = [None, True, 1, 1.5, "text", [], {}, [1], {"a": 1}, -1, ""]
TOKENS = re.compile(r"\s+|[#:]?[A-Za-z_][A-Za-z0-9_]*|\d+|<>|<=|>=|.")


def b64(raw):
    return base64.b64encode(raw).decode()


class Names:
    """The substitutions of one request's expressions."""

    def __init__(self, generator):
        self.g = generator
        self.names, self.values = {}, {}

    def name(self, attribute=None):
        attribute = attribute or self.g.attribute()
        if self.g.chance(0.45) or attribute in RESERVED and self.g.chance(0.8):
            for key, value in self.names.items():
                if value == attribute:
                    return key
            key = f"#n{len(self.names)}"
            self.names[key] = attribute
            return key
        return attribute

    def value(self, value=None):
        key = f":v{len(self.values)}"
        self.values[key] = value if value is not None else self.g.value()
        return key

    def into(self, body):
        """The two parameters, sometimes wrong."""
        g = self.g
        if g.chance(0.02):
            self.names[g.pick(["#unused", "bad", "#", "#a b"])] = g.pick(["a", "", "x"])
        if g.chance(0.02):
            self.values[g.pick([":unused", "bad", ":", ":a b"])] = {"S": "x"}
        for keys in (self.names, self.values):
            if keys and g.chance(0.015):
                keys.pop(g.pick(list(keys)))
        if self.names or g.chance(0.005):
            body["ExpressionAttributeNames"] = self.names
        if self.values or g.chance(0.005):
            body["ExpressionAttributeValues"] = self.values
        return body


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def chance(self, p):
        return self.r.random() < p

    def pick(self, options):
        return self.r.choice(options)

    # values

    def number(self):
        return self.pick(NUMBERS_BAD if self.chance(0.01) else NUMBERS_GOOD)

    def text(self):
        return self.pick(TEXTS)

    def bytes(self):
        return b64(self.pick(BYTES_GOOD))

    def attribute(self):
        return self.pick(RESERVED if self.chance(0.03) else ATTRIBUTES)

    def elements(self, make, least=1):
        values = []
        for _ in range(self.r.randint(least, 3)):
            value = make()
            if value not in values or self.chance(0.02):
                values.append(value)
        return [] if self.chance(0.005) else values

    def value(self, depth=0):
        if self.chance(0.006):
            return self.bad_value()
        kind = self.pick(TYPES[:8] if depth > 2 else TYPES)
        return {kind: self.content(kind, depth)}

    def content(self, kind, depth=0):
        if kind == "S":
            return self.text()
        if kind == "N":
            return self.number()
        if kind == "B":
            return self.bytes()
        if kind == "BOOL":
            return self.chance(0.5)
        if kind == "NULL":
            return not self.chance(0.01)
        if kind == "SS":
            return self.elements(lambda: self.text() if self.chance(0.05) else self.pick(TEXTS[1:]))
        if kind == "NS":
            return self.elements(self.number)
        if kind == "BS":
            return self.elements(self.bytes)
        if kind == "L":
            return [self.value(depth + 1) for _ in range(self.r.randint(0, 3))]
        return {self.pick(["a", "b", "c", "x"]): self.value(depth + 1) for _ in range(self.r.randint(0, 3))}

    def bad_value(self):
        return self.pick([{}, {"S": "a", "N": "1"}, {"X": "a"}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]}, {"BS": []}, {"SS": []}, {"NULL": False},
                          {"N": ""}, {"N": "x"}, {"B": "#"}, {"B": "YQ"}, {"S": "a", "N": "1", "B": "YQ=="}, {"NS": ["x"]}, {"L": [{}]}, {"M": {"a": {}}},
                          {"M": {"": {"S": "a"}}}])

    def key_value(self, name, kind):
        if self.chance(0.015):
            return self.value()
        if self.chance(0.006):
            return {kind: ""}
        if kind == "S":
            return {"S": self.pick(PARTITIONS if name in ("PK", "G1PK", "G2PK") else SORTS)}
        if kind == "N":
            return {"N": self.pick(NUMBERS_BAD if self.chance(0.01) else ["1", "2", "3", "-1.50", "1e1"])}
        return {"B": self.bytes()}

    def key(self, name):
        key = {k: self.key_value(k, t) for k, t in KEYS[name].items()}
        if self.chance(0.015):
            key.pop(self.pick(list(key)))
        if self.chance(0.01):
            key[self.attribute()] = self.value()
        return key

    def item(self, name):
        item = self.key(name)
        for attribute in self.r.sample(ATTRIBUTES, self.r.randint(0, 7)):
            if attribute not in KEYS[name]:
                item[attribute] = self.typical(attribute)
        return item

    def typical(self, attribute):
        """A value of the type that the attribute mostly has."""
        if self.chance(0.06):
            return self.value()
        kind = {"n": "N", "id": "N", "ns": "NS", "ss": "SS", "bs": "BS", "b": "B", "m": "M", "l": "L", "flag": "BOOL", "nothing": "NULL"}.get(attribute, "S")
        if attribute in ("G1PK", "G2PK", "G1SK", "s"):
            return {"S": self.pick(PARTITIONS if attribute != "G1SK" else SORTS)}
        return {kind: self.content(kind)}

    # expressions

    def path(self, names, attribute=None):
        text = names.name(attribute)
        while self.chance(0.18):
            text += f"[{self.pick([0, 0, 1, 2, 9, 4294967296])}]" if self.chance(0.5) else f".{names.name(self.pick(['a', 'b', 'c', 'x']))}"
        return text

    def operand(self, names, size=True):
        roll = self.r.random()
        if roll < 0.5:
            return self.path(names)
        if roll < 0.9 or not size:
            return names.value()
        return f"size({self.path(names)})"

    def comparison(self, names):
        attribute = self.attribute()
        left = self.path(names, attribute)
        roll = self.r.random()
        if roll < 0.45:
            right = names.value(self.typical(attribute)) if self.chance(0.8) else self.operand(names)
            return f"{left} {self.pick(COMPARATORS)} {right}"
        if roll < 0.55:
            values = [names.value(self.typical(attribute)) if self.chance(0.9) else self.operand(names) for _ in range(2)]
            return f"{left} BETWEEN {values[0]} AND {values[1]}"
        if roll < 0.65:
            return f"{left} IN ({', '.join(names.value(self.typical(attribute)) for _ in range(self.r.randint(1, 3)))})"
        if roll < 0.72:
            return f"size({left}) {self.pick(COMPARATORS)} {names.value({'N': self.pick(['0', '1', '3'])}) if self.chance(0.8) else self.operand(names)}"
        return self.function(names, left, attribute)

    def function(self, names, path, attribute):
        name = self.pick(FUNCTIONS[:5] if self.chance(0.95) else FUNCTIONS)
        if self.chance(0.03):
            return f"{name}({', '.join(self.operand(names) for _ in range(self.r.randint(0, 3)))})"
        if name in ("attribute_exists", "attribute_not_exists", "size", "unknown"):
            return f"{name}({path})"
        if name == "attribute_type":
            return f"{name}({path}, {names.value({'S': self.pick(TYPES + ['X'])} if self.chance(0.95) else None)})"
        if name == "begins_with":
            return f"{name}({path}, {names.value(self.pick([{'S': 'a'}, {'S': ''}, {'B': 'YQ=='}, {'S': 'ORDER'}]) if self.chance(0.9) else None)})"
        return f"{name}({path}, {names.value() if self.chance(0.8) else self.operand(names)})"

    def condition(self, names, depth=0):
        roll = self.r.random()
        if depth > 2 or roll < 0.6:
            return self.comparison(names)
        if roll < 0.7:
            return f"NOT {self.condition(names, depth + 1)}"
        if roll < 0.78:
            return f"({self.condition(names, depth + 1)})"
        return f"{self.condition(names, depth + 1)} {self.pick(['AND', 'OR', 'and', 'Or'])} {self.condition(names, depth + 1)}"

    def key_condition(self, names, keys):
        parts = []
        for i, (name, kind) in enumerate(keys.items()):
            value = lambda: names.value(self.key_value(name, kind))
            left = names.name(name) if self.chance(0.98) else self.path(names)
            if i == 0:
                parts.append(f"{left} {'=' if self.chance(0.98) else self.pick(COMPARATORS)} {value()}")
            elif self.chance(0.6):
                roll = self.r.random()
                if roll < 0.5:
                    parts.append(f"{left} {self.pick(COMPARATORS[:1] + COMPARATORS[2:] if self.chance(0.97) else COMPARATORS)} {value()}")
                elif roll < 0.7:
                    parts.append(f"{left} BETWEEN {value()} AND {value()}")
                elif roll < 0.97:
                    parts.append(f"begins_with({left}, {value()})")
                else:
                    parts.append(self.comparison(names))
        if self.chance(0.02):
            parts.append(self.comparison(names))
        if self.chance(0.01):
            parts.pop()
        if self.chance(0.2):
            parts.reverse()
        if self.chance(0.05):
            parts = [f"({p})" for p in parts]
        return f" {'AND' if self.chance(0.98) else 'OR'} ".join(parts)

    def set_value(self, names, path, attribute, depth=0):
        roll = self.r.random()
        if roll < 0.4:
            return names.value(self.typical(attribute))
        if roll < 0.5:
            return self.path(names)
        if roll < 0.68:
            number = names.value({"N": self.number()}) if self.chance(0.93) else names.value()
            return f"{path if self.chance(0.7) else self.path(names, 'n')} {self.pick('+-')} {number}"
        if roll < 0.82:
            inner = self.set_value(names, path, attribute, depth + 1) if depth < 2 and self.chance(0.1) else names.value(self.typical(attribute))
            return f"if_not_exists({path if self.chance(0.7) else self.path(names)}, {inner})"
        values = [self.path(names, "l") if self.chance(0.5) else names.value({"L": [{"S": "x"}]} if self.chance(0.93) else None) for _ in range(2)]
        return f"list_append({values[0]}, {values[1]})"

    def update(self, names):
        clauses = []
        for verb in self.r.sample(["SET", "REMOVE", "ADD", "DELETE"], self.pick([1, 1, 1, 2, 2, 3])):
            actions = []
            for _ in range(self.pick([1, 1, 2, 3])):
                attribute = self.attribute()
                if attribute in ("PK", "SK") and self.chance(0.9):
                    attribute = "a"
                if verb == "ADD":
                    attribute = self.pick(["n", "ns", "ss", "bs", "l", attribute])
                    value = names.value({"N": self.number()} if attribute == "n" else self.typical(attribute))
                    actions.append(f"{self.path(names, attribute)} {value}")
                elif verb == "DELETE":
                    attribute = self.pick(["ns", "ss", "bs", "ss", attribute])
                    actions.append(f"{self.path(names, attribute)} {names.value(self.typical(attribute))}")
                elif verb == "REMOVE":
                    actions.append(self.path(names, attribute))
                else:
                    path = self.path(names, attribute)
                    actions.append(f"{path} = {self.set_value(names, path, attribute)}")
            clauses.append(f"{verb if self.chance(0.9) else verb.lower()} {', '.join(actions)}")
        if self.chance(0.01):
            clauses.append(clauses[0])
        return " ".join(clauses)

    def projection(self, names):
        return ", ".join(self.path(names) for _ in range(self.r.randint(1, 4)))

    def damaged(self, text):
        """The expression, at times with a token lost, doubled, replaced or added."""
        if self.chance(0.004):
            return self.pick(["", " ", "(", "a", "\u00e9", "=", "x" * 5000])
        if not text or not self.chance(0.03):
            return text
        tokens = TOKENS.findall(text)
        at = self.r.randrange(len(tokens))
        other = self.pick([self.pick(tokens), self.pick(["(", ")", ",", "=", "AND", "NOT", "[", "]", ".", ":v", "#n", "1", "$", "+", "<", "size", "a", "SET"])])
        kind = self.r.randrange(4)
        tokens[at:at + 1] = [[], [tokens[at]] * 2, [other], [tokens[at], " ", other]][kind]
        return "".join(tokens)

    # requests

    def optional(self, body, name, make, p=0.3):
        if self.chance(p):
            body[name] = make()

    def return_parameters(self, body, write=False):
        self.optional(body, "ReturnConsumedCapacity", lambda: self.pick(["TOTAL", "INDEXES", "NONE", "BAD"] if self.chance(0.02) else ["TOTAL", "INDEXES", "NONE"]), 0.6)
        if write:
            self.optional(body, "ReturnItemCollectionMetrics", lambda: self.pick(["SIZE", "NONE"]), 0.15)

    def table_name(self):
        if self.chance(0.01):
            return self.pick(["missing", "ab", "", "bad name", "x" * 256, "a.b-c_d"])
        return self.pick([TABLE] * 6 + [NUMBERS, BYTES])

    def schema_name(self, name):
        return name if name in KEYS else TABLE

    def legacy_condition(self, attribute):
        operator = self.pick(LEGACY_OPERATORS)
        count = {"BETWEEN": 2, "NOT_NULL": 0, "NULL": 0, "IN": self.r.randint(1, 3)}.get(operator, 1)
        if self.chance(0.03):
            count = self.r.randint(0, 3)
        condition = {"ComparisonOperator": operator}
        if count or self.chance(0.1):
            condition["AttributeValueList"] = [self.typical(attribute) for _ in range(count)]
        return condition

    def expected(self):
        expected = {}
        for _ in range(self.r.randint(1, 2)):
            attribute = self.attribute()
            roll = self.r.random()
            if roll < 0.35:
                expected[attribute] = {"Value": self.typical(attribute)}
            elif roll < 0.55:
                expected[attribute] = {"Exists": self.chance(0.4)}
            elif roll < 0.6:
                expected[attribute] = {"Exists": self.chance(0.5), "Value": self.typical(attribute)}
            else:
                expected[attribute] = self.legacy_condition(attribute)
        return expected

    def conditional(self, body, names):
        roll = self.r.random()
        if roll < 0.45:
            body["ConditionExpression"] = self.damaged(self.condition(names))
        elif roll < 0.53:
            body["Expected"] = self.expected()
            self.optional(body, "ConditionalOperator", lambda: self.pick(["AND", "OR"]), 0.3)
        if self.chance(0.01):
            body["Expected"] = self.expected()

    def write_parameters(self, body, returns):
        self.return_parameters(body, True)
        self.optional(body, "ReturnValues", lambda: self.pick(returns if self.chance(0.98) else ["BAD", "ALL_NEW", "UPDATED_OLD"]), 0.4)
        self.optional(body, "ReturnValuesOnConditionCheckFailure", lambda: self.pick(["ALL_OLD", "NONE"]), 0.3)

    def put_item(self):
        name, names = self.table_name(), Names(self)
        body = {"TableName": name, "Item": self.item(self.schema_name(name))}
        self.conditional(body, names)
        self.write_parameters(body, ["NONE", "ALL_OLD"])
        return names.into(body)

    def delete_item(self):
        name, names = self.table_name(), Names(self)
        body = {"TableName": name, "Key": self.key(self.schema_name(name))}
        self.conditional(body, names)
        self.write_parameters(body, ["NONE", "ALL_OLD"])
        return names.into(body)

    def update_item(self):
        name, names = self.table_name(), Names(self)
        body = {"TableName": name, "Key": self.key(self.schema_name(name))}
        if self.chance(0.88):
            body["UpdateExpression"] = self.damaged(self.update(names))
        elif self.chance(0.8):
            body["AttributeUpdates"] = {}
            for _ in range(self.r.randint(0, 2)):
                attribute = self.attribute()
                update = {"Action": self.pick(["PUT", "DELETE", "ADD"])}  # DynamoDB Local forgets an update without one
                if self.chance(0.85):
                    update["Value"] = self.typical(attribute)
                body["AttributeUpdates"][attribute] = update
        self.conditional(body, names)
        self.write_parameters(body, ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
        return names.into(body)

    def get_item(self):
        name, names = self.table_name(), Names(self)
        body = {"TableName": name, "Key": self.key(self.schema_name(name))}
        self.project(body, names)
        self.optional(body, "ConsistentRead", lambda: self.chance(0.5))
        self.return_parameters(body)
        return names.into(body)

    def project(self, body, names):
        roll = self.r.random()
        if roll < 0.3:
            body["ProjectionExpression"] = self.damaged(self.projection(names))
        elif roll < 0.36:
            body["AttributesToGet"] = [self.attribute() for _ in range(self.r.randint(0 if self.chance(0.05) else 1, 3))]

    def reading(self, body, names, keys):
        self.project(body, names)
        self.optional(body, "Limit", lambda: self.pick([1, 2, 3, 100, 0] if self.chance(0.05) else [1, 2, 3, 100]), 0.25)
        self.optional(body, "Select", lambda: self.pick(["ALL_ATTRIBUTES", "COUNT", "SPECIFIC_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"]), 0.2)
        self.optional(body, "ConsistentRead", lambda: self.chance(0.5), 0.25)
        self.return_parameters(body)
        if self.chance(0.08):
            start = {**{k: self.key_value(k, t) for k, t in keys.items()}, **(self.key(self.schema_name(body["TableName"])) if self.chance(0.9) else {})}
            body["ExclusiveStartKey"] = start
        roll = self.r.random()
        if roll < 0.4:
            body["FilterExpression"] = self.damaged(self.condition(names))
        elif roll < 0.46:
            body["QueryFilter" if "KeyConditions" in body or "KeyConditionExpression" in body else "ScanFilter"] = {
                a: self.legacy_condition(a) for a in self.r.sample(ATTRIBUTES, self.r.randint(1, 2))}
            self.optional(body, "ConditionalOperator", lambda: self.pick(["AND", "OR"]), 0.3)
        return names.into(body)

    def searched(self):
        name = self.table_name()
        body, keys = {"TableName": name}, KEYS[self.schema_name(name)]
        if name == TABLE and self.chance(0.6) or self.chance(0.01):
            body["IndexName"] = self.pick(list(INDEXES)) if self.chance(0.98) else self.pick(["NOPE", "ab", ""])
            keys = INDEXES.get(body["IndexName"], keys)
        return body, keys

    def query(self):
        body, keys = self.searched()
        names = Names(self)
        if self.chance(0.92):
            body["KeyConditionExpression"] = self.damaged(self.key_condition(names, keys))
        elif self.chance(0.9):
            body["KeyConditions"] = {}
            for i, (name, kind) in enumerate(keys.items()):
                operator = "EQ" if i == 0 and self.chance(0.95) else self.pick(["EQ", "LE", "LT", "GE", "GT", "BEGINS_WITH", "BETWEEN", "NE", "IN"])
                if i == 0 or self.chance(0.6):
                    body["KeyConditions"][name] = {"ComparisonOperator": operator, "AttributeValueList": [
                        self.key_value(name, kind) for _ in range(2 if operator == "BETWEEN" else 1)]}
        self.optional(body, "ScanIndexForward", lambda: self.chance(0.3), 0.3)
        return self.reading(body, names, keys)

    def scan(self):
        body, keys = self.searched()
        if self.chance(0.12):
            body["Segment"], body["TotalSegments"] = self.r.randint(0, 2), self.r.randint(0 if self.chance(0.1) else 1, 3)
            if self.chance(0.05):
                body.pop(self.pick(["Segment", "TotalSegments"]))
        return self.reading(body, Names(self), keys)

    def batch_get_item(self):
        request = {}
        for name in self.r.sample([TABLE, NUMBERS, BYTES], self.r.randint(1, 3)):
            names = Names(self)
            body = {"Keys": [self.key(name) for _ in range(self.r.randint(1, 3) if self.chance(0.98) else self.pick([0, 101]))]}
            self.project(body, names)
            self.optional(body, "ConsistentRead", lambda: self.chance(0.5))
            request[name] = names.into(body)
        if self.chance(0.02):
            request["missing"] = {"Keys": [self.key(TABLE)]}
        body = {"RequestItems": request if self.chance(0.99) else {}}
        self.return_parameters(body)
        return body

    def batch_write_item(self):
        request = {}
        for name in self.r.sample([TABLE, NUMBERS, BYTES], self.r.randint(1, 3)):
            writes = []
            for _ in range(self.r.randint(1, 3) if self.chance(0.98) else self.pick([0, 26])):
                writes.append({"PutRequest": {"Item": self.item(name)}} if self.chance(0.6) else {"DeleteRequest": {"Key": self.key(name)}})
                if self.chance(0.01):
                    writes[-1] = self.pick([{}, {"PutRequest": {"Item": self.item(name)}, "DeleteRequest": {"Key": self.key(name)}}, {"PutRequest": {}}])
            request[name] = writes
        if self.chance(0.02):
            request["missing"] = [{"DeleteRequest": {"Key": self.key(TABLE)}}]
        body = {"RequestItems": request if self.chance(0.99) else {}}
        self.return_parameters(body, True)
        return body

    def transact_get_items(self):
        actions = []
        for _ in range(self.r.randint(1, 3) if self.chance(0.98) else self.pick([0, 101])):
            name, names = self.table_name(), Names(self)
            get = {"TableName": name, "Key": self.key(self.schema_name(name))}
            if self.chance(0.3):
                get["ProjectionExpression"] = self.damaged(self.projection(names))
            actions.append({"Get": names.into(get)})
        body = {"TransactItems": actions}
        self.return_parameters(body)
        return body

    def transact_write_items(self):
        actions = []
        for _ in range(self.r.randint(1, 3) if self.chance(0.98) else self.pick([0, 101])):
            name, names = self.table_name(), Names(self)
            schema, kind = self.schema_name(name), self.pick(["Put", "Delete", "Update", "ConditionCheck"])
            action = {"TableName": name}
            if kind == "Put":
                action["Item"] = self.item(schema)
            else:
                action["Key"] = self.key(schema)
            if kind == "Update":
                action["UpdateExpression"] = self.damaged(self.update(names))
            if kind == "ConditionCheck" or self.chance(0.4):
                action["ConditionExpression"] = self.damaged(self.condition(names))
            self.optional(action, "ReturnValuesOnConditionCheckFailure", lambda: self.pick(["ALL_OLD", "NONE"]), 0.2)
            actions.append({kind: names.into(action)})
            if self.chance(0.01):
                actions[-1]["Delete"] = {"TableName": name, "Key": self.key(schema)}
        body = {"TransactItems": actions}
        self.return_parameters(body, True)
        return body

    def create_table(self):
        """Seldom one that succeeds: the table that exists already is the last check."""
        body = copy.deepcopy(SCHEMA[0] if self.chance(0.7) else self.pick(SCHEMA[1:]))
        for _ in range(self.pick([1, 1, 2])):
            self.spoil_table(body)
        return body

    def spoil_table(self, body):
        attribute = lambda: {"AttributeName": self.pick(["PK", "SK", "n", "zz", "", "x" * 256]), "AttributeType": self.pick(["S", "N", "B", "B", "SS"])}
        element = lambda: {"AttributeName": self.pick(["PK", "SK", "n", "zz", "G1PK"]), "KeyType": self.pick(["HASH", "RANGE", "RANGE", "BAD"])}
        throughput = lambda: {"ReadCapacityUnits": self.pick([0, 1, 5, 10 ** 12]), "WriteCapacityUnits": self.pick([1, 5, -1])}
        projection = lambda: self.pick([{}, {"ProjectionType": "ALL"}, {"ProjectionType": "BAD"}, {"ProjectionType": "INCLUDE"},
                                        {"ProjectionType": "ALL", "NonKeyAttributes": ["a"]}, {"ProjectionType": "INCLUDE", "NonKeyAttributes": []},
                                        {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "a"]}, {"NonKeyAttributes": ["a"]},
                                        {"ProjectionType": "INCLUDE", "NonKeyAttributes": [f"a{i}" for i in range(21)]}])
        some_index = lambda: {"IndexName": self.pick(["I1", "GSI1", "LSI1", "Index.One", "bad name", "x" * 256]),
                              "KeySchema": [element() for _ in range(self.r.randint(0, 3))], "Projection": projection()}
        choice = self.r.randrange(16)
        if choice == 0:
            body["TableName"] = self.pick(["ab", "", "bad name", "x" * 256, TABLE])
        elif choice == 1:
            body["KeySchema"] = [element() for _ in range(self.r.randint(0, 3))]
        elif choice == 2:
            body["AttributeDefinitions"] = [attribute() for _ in range(self.r.randint(0, 3))]
        elif choice == 3:
            body["AttributeDefinitions"] = body["AttributeDefinitions"] + [attribute()] if isinstance(body.get("AttributeDefinitions"), list) else []
        elif choice == 4:
            body["LocalSecondaryIndexes"] = [some_index() for _ in range(self.pick([0, 1, 2, 6]))]
        elif choice == 5:
            body["GlobalSecondaryIndexes"] = [some_index() for _ in range(self.pick([0, 1, 2, 21]))]
        elif choice == 6:
            body["BillingMode"] = self.pick(["PROVISIONED", "BAD", "PAY_PER_REQUEST"])
        elif choice == 7:
            body["ProvisionedThroughput"] = throughput()
        elif choice == 8:
            body["BillingMode"], body["ProvisionedThroughput"] = "PROVISIONED", throughput()
        elif choice == 9 and body.get("GlobalSecondaryIndexes"):
            indexes = [dict(i) for i in body["GlobalSecondaryIndexes"]]
            self.pick(indexes).update(self.pick([{"Projection": projection()}, {"KeySchema": [element()]}, {"ProvisionedThroughput": throughput()},
                                                 {"IndexName": self.pick(["GSI2", "LSI1", "a"])}]))
            body["GlobalSecondaryIndexes"] = indexes
        elif choice == 10 and body.get("LocalSecondaryIndexes"):
            indexes = [dict(i) for i in body["LocalSecondaryIndexes"]]
            self.pick(indexes).update(self.pick([{"Projection": projection()}, {"KeySchema": [element(), element()]}, {"IndexName": self.pick(["LSI2", "a"])}]))
            body["LocalSecondaryIndexes"] = indexes
        elif choice == 11:
            body["StreamSpecification"] = self.pick([{"StreamEnabled": True}, {"StreamEnabled": False, "StreamViewType": "NEW_IMAGE"},
                                                     {"StreamEnabled": True, "StreamViewType": "BAD"}, {}])
        elif choice == 12:
            body["SSESpecification"] = self.pick([{}, {"Enabled": True}, {"Enabled": False, "SSEType": "KMS"}, {"SSEType": "BAD"}])
        elif choice == 13:
            body["TableClass"] = self.pick(["STANDARD", "BAD", "STANDARD_INFREQUENT_ACCESS"])
        elif choice == 14:
            body.pop(self.pick(list(body)), None)
        elif choice == 15:
            body["Tags"] = self.pick([[], [{"Key": "a", "Value": "b"}], [{"Key": "a"}], [{"Key": "", "Value": ""}]])

    def describe_table(self):
        return {"TableName": self.table_name()}

    def list_tables(self):
        body = {}
        self.optional(body, "Limit", lambda: self.pick([0, 1, 2, 100, 101, -1]), 0.4)
        self.optional(body, "ExclusiveStartTableName", lambda: self.pick(["a", "bytes", "app", "zzz", "ab", "bad name", ""]), 0.4)
        return body

    def delete_table(self):
        return {"TableName": self.pick(["missing", "ab", "", "bad name"])}

    OPERATIONS = [("PutItem", put_item, 14), ("GetItem", get_item, 8), ("DeleteItem", delete_item, 8), ("UpdateItem", update_item, 22), ("Query", query, 22),
                  ("Scan", scan, 8), ("BatchGetItem", batch_get_item, 4), ("BatchWriteItem", batch_write_item, 4), ("TransactGetItems", transact_get_items, 3),
                  ("TransactWriteItems", transact_write_items, 5), ("CreateTable", create_table, 4), ("DescribeTable", describe_table, 1),
                  ("ListTables", list_tables, 1), ("DeleteTable", delete_table, 1)]

    def spoil(self, node):
        """Replaces one member somewhere in the request by JSON of another kind, or takes it away, or adds one."""
        places = []

        def walk(value):
            if isinstance(value, (dict, list)):
                for key in value if isinstance(value, dict) else range(len(value)):
                    places.append((value, key))
                    walk(value[key])
        walk(node)
        if not places:
            return
        holder, key = self.pick(places)
        if self.chance(0.3):
            del holder[key]
        else:
            holder[key] = self.pick(WRONG_JSON)

    def request(self):
        """(operation, body)"""
        name, make = self.r.choices([(n, m) for n, m, _ in self.OPERATIONS], [w for _, _, w in self.OPERATIONS])[0]
        body = make(self)
        if self.chance(0.025):
            self.spoil(body)
        return name, body
