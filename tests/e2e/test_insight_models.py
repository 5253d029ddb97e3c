"""Planted mistakes in six data models: each is found in each, and the same application without them has no finding."""

from harness import Server, control, key, run
from wire import Client, n, s

N = 24  # partitions of a model


class Model:
    """A table of two keys and an index; `main` and `child` make the keys of an entity and of what belongs to it."""

    def __init__(self, name, keys, main, child, index=("GSI1PK", "GSI1SK"), group=lambda i: f"GROUP#{i % 8}"):
        self.name, self.keys, self.main, self.child, self.index, self.group = name, keys, main, child, index, group


MODELS = [
    Model("customers-orders", ("PK", "SK"), lambda i: (f"CUSTOMER#{100 + i}", "METADATA"), lambda i, j: (f"CUSTOMER#{100 + i}", f"ORDER#2026-01-{j + 1:02}#{i}{j}")),
    Model("groups-events-paths", ("PK", "SK"), lambda i: (f"USER#u_{i:03}", "PROFILE"), lambda i, j: (f"USER#u_{i:03}", f"EVENT#2026-02-{j + 1:02}T10:00:00Z")),
    Model("invoices", ("pk", "sk"), lambda i: (f"INVOICE#{100 + i}", "METADATA"), lambda i, j: (f"INVOICE#{100 + i}", f"ITEM#{j:03}"),
          index=("customerId", "invoiceDate"), group=lambda i: f"customer{i % 8}"),
    Model("relationships", ("pk", "sk"), lambda i: (f"USER#name{i}", f"USER#name{i}"), lambda i, j: (f"USER#name{i}", f"ORDER#{i:03}#ITEM#{j}"), index=("GSI1_PK", "GSI1_SK")),
    Model("users-orders-products", ("PK", "SK"), lambda i: (f"USER#user{i}@example.com", "PROFILE"), lambda i, j: (f"USER#user{i}@example.com", f"ORDER#2025-{i:03}{j}")),
    Model("event-sourcing", ("stream", "event"), lambda i: (f"account-{1000 + i}", "SNAPSHOT"), lambda i, j: (f"account-{1000 + i}", f"EVENT#{j:010}"),
          index=("kind", "at"), group=lambda i: f"KIND#{i % 8}"),
]


class App:
    """What an application does with a model, as it should."""

    def __init__(self, model):
        self.model, self.server = model, Server("--insight", "on")
        self.client = Client(self.server.port)
        self.create("data", [model.index])
        self.client("UpdateTimeToLive", TableName="data", TimeToLiveSpecification={"AttributeName": "ends", "Enabled": True})
        for i in range(N):
            self.put(self.item(model.main(i), i, version=n(1), mail=s(f"user{i}@example.com"), visits=n(0)))
            for j in range(4):
                self.put(self.item(model.child(i, j), i, units=n(j), stage=s("open" if j else "done")))

    def create(self, table, indexes):
        names = sorted({*self.model.keys, *(name for index in indexes for name in index)})
        more = {"GlobalSecondaryIndexes": [{"IndexName": f"by-{index[0]}", "KeySchema": key(*index), "Projection": {"ProjectionType": "ALL"}} for index in indexes]}
        self.client("CreateTable", TableName=table, BillingMode="PAY_PER_REQUEST", KeySchema=key(*self.model.keys),
                    AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names], **(more if indexes else {}))

    def item(self, at, i, **more):
        of_index = dict(zip(self.model.index, (s(self.model.group(i)), s(f"2026-{i:02}-{at[1][-12:]}"))))
        return {**self.at(at), **of_index, **more}

    def at(self, at):
        return dict(zip(self.model.keys, map(s, at)))

    def put(self, item, table="data", **more):
        condition = {} if more.pop("blind", False) else {"ConditionExpression": "attribute_not_exists(#p)", "ExpressionAttributeNames": {"#p": self.model.keys[0]}}
        return self.client("PutItem", TableName=table, Item=item, **condition, **more)

    def get(self, at, table="data", **more):
        return self.client("GetItem", TableName=table, Key=self.at(at), **more)

    def update(self, at, expression, values, table="data", **more):
        return self.client("UpdateItem", TableName=table, Key=self.at(at), UpdateExpression=expression, ExpressionAttributeValues=values, **more)

    def query(self, partition, table="data", **more):
        values = {":p": s(partition), **more.pop("values", {})}
        return self.client("Query", TableName=table, KeyConditionExpression="#p = :p", ExpressionAttributeNames={"#p": more.pop("name", self.model.keys[0])},
                           ExpressionAttributeValues=values, **more)

    def work(self):
        for i in range(N):
            main = self.model.main(i)
            self.get(main)
            self.query(main[0])
            self.update(main, "ADD visits :one", {":one": n(1)})
            version = self.get(main)["Item"]["version"]
            self.update(main, "SET version = :w", {":v": version, ":w": n(int(version["N"]) + 1)}, ConditionExpression="version = :v")
            self.query(self.model.group(i), name=self.model.index[0], IndexName=f"by-{self.model.index[0]}")
            self.client("BatchGetItem", RequestItems={"data": {"Keys": [self.at(self.model.child(i, j)) for j in range(4)]}})
            self.client("TransactWriteItems", TransactItems=[
                {"Update": {"TableName": "data", "Key": self.at(main), "UpdateExpression": "ADD visits :one", "ExpressionAttributeValues": {":one": n(1)}}},
                {"Update": {"TableName": "data", "Key": self.at(self.model.child(i, 1)), "UpdateExpression": "ADD units :one", "ExpressionAttributeValues": {":one": n(1)}}}])

    def found(self):
        return {f["finding"] for f in control(self.server, "GET", "insight")["findings"]}


class Mistakes:
    """One of each kind, by the name of its finding with "_" for what a name cannot have; what it makes of it too."""

    def scan(a):
        a.client("Scan", TableName="data", Limit=5)

    def missing_index(a):
        for _ in range(2):
            a.client("Scan", TableName="data", FilterExpression="mail = :m", ExpressionAttributeValues={":m": s("user3@example.com")})

    def discard(a):
        for _ in range(2):
            for i in range(N):
                a.query(a.model.main(i)[0], FilterExpression="attribute_exists(nothing)")

    def small_part(a):
        a.put(a.item((a.model.main(0)[0], "DOCUMENT"), 0, pad=s("x" * 20_000), title=s("t")))
        for _ in range(4):
            a.get((a.model.main(0)[0], "DOCUMENT"), ProjectionExpression="title")

    def n_plus_one(a):
        for i in range(15):
            a.get(a.model.child(i, 2))

    def hot_partition(a):
        for _ in range(1500):
            a.update(a.model.main(1), "ADD visits :one", {":one": n(1)})

    def growing_collection(a):
        for i in range(0, 1100, 25):
            a.client("BatchWriteItem", RequestItems={"data": [{"PutRequest": {"Item": a.at((a.model.main(2)[0], f"LOG#{j:06}"))}} for j in range(i, i + 25)]})

    def near_limit(a):
        a.put(a.item((a.model.main(3)[0], "BLOB"), 3, pad=s("x" * 399_000)))

    def large_rewrite(a):
        a.put(a.item((a.model.main(4)[0], "PAGE"), 4, pad=s("x" * 30_000)))
        for _ in range(4):
            a.update((a.model.main(4)[0], "PAGE"), "ADD visits :one", {":one": n(1)})

    def unread_index(a):
        a.create("unread", [a.model.index])
        for i in range(5):
            a.put(a.item(a.model.main(i), i), table="unread")

    def lost_update(a):
        a.put(a.item(a.model.main(5), 5, version=n(1), visits=n(0)), blind=True)

    def needless_consistency(a):
        a.create("catalog", [])
        for i in range(12):
            a.put(a.at(a.model.main(i)), table="catalog")
        control(a.server, "DELETE", "insight")
        a.work()
        for _ in range(2):
            for i in range(12):
                a.get(a.model.main(i), table="catalog", ConsistentRead=True)

    def single_transaction(a):
        for i in range(4):
            a.client("TransactWriteItems", TransactItems=[{"Put": {"TableName": "data", "Item": a.item((a.model.main(i)[0], f"ALONE#{i}"), i)}}])

    def ttl_type(a):
        a.put(a.item((a.model.main(6)[0], "SESSION"), 6, ends=s("2030-01-01")))

    def unprocessed(a):
        control(a.server, "PUT", "faults", {"rules": [{"operation": "BatchWriteItem", "first": 1, "unprocessed": 2}]})
        a.client("BatchWriteItem", RequestItems={"data": [{"PutRequest": {"Item": a.at((a.model.main(7)[0], f"LEFT#{i}"))}} for i in range(5)]})
        control(a.server, "DELETE", "faults")


# What a mistake also is.
ALSO = {"missing-index": {"scan", "discard"}, "near-limit": {"large-rewrite"}, "growing-collection": {"hot-partition"}, "needless-consistency": {"n+1"},
        "unread-index": {"index-write-amplification"}, "hot-partition": set()}


def each_mistake_is_found_in_each_model():
    kinds = [name for name in vars(Mistakes) if not name.startswith("_")]
    assert len(MODELS) >= 6 and len(kinds) >= 12, kinds
    missed, alarms = [], []
    for model in MODELS:
        for kind in kinds:
            app = App(model)
            control(app.server, "DELETE", "insight")
            app.work()
            finding = {"n_plus_one": "n+1"}.get(kind, kind.replace("_", "-"))
            if app.found():
                alarms.append((model.name, "the twin", sorted(app.found())))
            getattr(Mistakes, kind)(app)
            found = app.found()
            if finding not in found:
                missed.append((model.name, finding))
            if found - {finding} - ALSO.get(finding, set()):
                alarms.append((model.name, finding, sorted(found - {finding} - ALSO.get(finding, set()))))
            app.server.stop()
    assert not missed and not alarms, (missed, alarms)


run("insight_models", [each_mistake_is_found_in_each_model])
