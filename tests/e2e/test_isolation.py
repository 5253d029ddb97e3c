"""16 clients against each other: no update is lost, no transaction is seen in part, nobody waits for ever.

Each client is a thread of one of four processes with a connection of its own, and does what chance chooses among: steps of counters by ADD
and by a condition on the version that was read, transfers between accounts by transactions, puts that only one may win, one
transaction sent by two clients with one token, and looks at it all, by TransactGetItems, Query, a Query of a global index, and Scan.

What holds at every look: the accounts of a group, written by transactions only, have their sum; both halves of a pair have one number. Query of
a collection, or of a collection of an index, is one look; a Scan of several pages is not, and is checked for what it may not lose.
At the end: each counter is the number of steps that were acknowledged; each place has the one winner who was told so.

ISOLATION_SECONDS=N (default 2), ISOLATION_SEED=N.
"""
import multiprocessing
import os
import random
import threading
import time

from harness import Server, key, run
from wire import Client, Refused, at, n, s

SECONDS = float(os.environ.get("ISOLATION_SECONDS", "2"))
SEED = int(os.environ.get("ISOLATION_SEED", "1"))
PROCESSES, THREADS = 4, 4
GROUPS, ACCOUNTS, START = 2, 6, 100
COUNTERS, PAIRS = 3, 3
PLACES = 5        # to be won in each second
RETRIED = {"TransactionConflictException", "TransactionInProgressException", "ProvisionedThroughputExceededException", "ThrottlingException"}


def create(client):
    client("CreateTable", TableName="iso", BillingMode="PAY_PER_REQUEST", KeySchema=key("PK", "SK"),
           AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK", "owner")],
           GlobalSecondaryIndexes=[{"IndexName": "by-owner", "KeySchema": key("owner", "SK"), "Projection": {"ProjectionType": "ALL"}}])
    put = lambda pk, sk, **more: client("PutItem", TableName="iso", Item=at(pk, sk) | more)
    for group in range(GROUPS):
        for account in range(ACCOUNTS):
            put(f"group{group}", f"a{account}", n=n(START), owner=s(f"owner{group}"), pad=s("x" * 4000))
    for counter in range(COUNTERS):
        put("counters", f"add{counter}", n=n(0))
        put("counters", f"version{counter}", n=n(0), version=n(0))
    for pair in range(PAIRS):
        for half in ("left", "right"):
            put(f"pair{pair}-{half}", "1", n=n(0))
    put("once", "1", n=n(0))


class Tally:
    """What a client was told, to be added up when all are done."""

    def __init__(self):
        self.steps = {}    # counter -> steps acknowledged
        self.won = {}      # place -> the name put there
        self.tokens = set()
        self.looks = 0
        self.retries = 0
        self.done = 0

    def step(self, name):
        self.steps[name] = self.steps.get(name, 0) + 1


class Contender:
    def __init__(self, port, number, seed, deadline):
        self.client = Client(port, timeout=120)
        self.name = f"c{number}"
        self.random = random.Random(seed * 1000 + number)
        self.deadline = deadline
        self.tally = Tally()
        self.numbers = 0
        self.seen = {}     # counter -> the largest value seen: none may go back

    def update(self, pk, sk, **more):
        return self.client("UpdateItem", TableName="iso", Key=at(pk, sk), **more)

    # What changes

    def add(self):
        name = f"add{self.random.randrange(COUNTERS)}"
        new = int(self.update("counters", name, UpdateExpression="ADD n :one", ExpressionAttributeValues={":one": n(1)},
                              ReturnValues="UPDATED_NEW")["Attributes"]["n"]["N"])
        self.tally.step(name)
        assert new > self.seen.get(name, 0), f"{name} went back to {new}"
        self.seen[name] = new

    def add_if_version(self):
        name = f"version{self.random.randrange(COUNTERS)}"
        item = self.client("GetItem", TableName="iso", Key=at("counters", name), ConsistentRead=True)["Item"]
        assert item["n"] == item["version"], item
        try:
            self.update("counters", name, UpdateExpression="SET n = n + :one, version = :next", ConditionExpression="version = :seen",
                        ExpressionAttributeValues={":one": n(1), ":seen": item["version"], ":next": n(int(item["version"]["N"]) + 1)})
            self.tally.step(name)
        except Refused as refused:
            if refused.name != "ConditionalCheckFailedException":
                raise

    def transfer(self):
        group = self.random.randrange(GROUPS)
        a, b = self.random.sample(range(ACCOUNTS), 2)
        amount = self.random.randrange(1, 20)
        step = lambda account, by, **more: {"Update": {"TableName": "iso", "Key": at(f"group{group}", f"a{account}"),
                                                       "UpdateExpression": "SET n = n + :by", **more}}
        try:
            self.client("TransactWriteItems", TransactItems=[
                step(a, -amount, ConditionExpression="n >= :amount", ExpressionAttributeValues={":by": n(-amount), ":amount": n(amount)}),
                step(b, amount, ExpressionAttributeValues={":by": n(amount)})])
        except Refused as refused:
            if refused.name != "TransactionCanceledException" or "ConditionalCheckFailed" not in refused.message:
                raise

    def pair(self):
        """Both halves get one number that nobody else writes."""
        self.numbers += 1
        number = n(self.numbers * 100 + int(self.name[1:]))
        pair = self.random.randrange(PAIRS)
        halves = [f"pair{pair}-left", f"pair{pair}-right"]
        self.random.shuffle(halves)
        self.client("TransactWriteItems", TransactItems=[{"Put": {"TableName": "iso", "Item": at(half, "1") | {"n": number}}} for half in halves])

    def win(self):
        place = f"{int(time.monotonic()):09}-{self.random.randrange(PLACES)}"
        self.numbers += 1
        who = f"{self.name}-{self.numbers}"
        try:
            self.client("PutItem", TableName="iso", Item=at("places", place) | {"who": s(who)}, ConditionExpression="attribute_not_exists(PK)")
            self.tally.won[place] = who
        except Refused as refused:
            if refused.name != "ConditionalCheckFailedException":
                raise

    def once(self):
        """The same transaction is sent by all who draw the same token in this time."""
        token = f"token-{int(time.time() * 10)}-{self.random.randrange(3)}"
        step = {"TableName": "iso", "Key": at("once", "1"), "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": n(1)}}
        self.client("TransactWriteItems", ClientRequestToken=token, TransactItems=[{"Update": step}])
        self.tally.tokens.add(token)

    # What looks

    def get_group(self):
        group = self.random.randrange(GROUPS)
        answer = self.client("TransactGetItems", TransactItems=[{"Get": {"TableName": "iso", "Key": at(f"group{group}", f"a{a}")}} for a in range(ACCOUNTS)])
        self.check_sum([r["Item"] for r in answer["Responses"]], "TransactGetItems")

    def get_pair(self):
        pair = self.random.randrange(PAIRS)
        answer = self.client("TransactGetItems", TransactItems=[{"Get": {"TableName": "iso", "Key": at(f"pair{pair}-{half}", "1")}} for half in ("left", "right")])
        left, right = (r["Item"]["n"] for r in answer["Responses"])
        assert left == right, f"a torn transaction: {left} and {right}"

    def query_group(self):
        items = self.client.all("Query", TableName="iso", ConsistentRead=True, KeyConditionExpression="PK = :pk",
                                ExpressionAttributeValues={":pk": s(f"group{self.random.randrange(GROUPS)}")}, ScanIndexForward=self.random.random() < 0.5)
        self.check_sum(items, "Query")

    def query_index(self):
        items = self.client.all("Query", TableName="iso", IndexName="by-owner", KeyConditionExpression="#o = :o", ExpressionAttributeNames={"#o": "owner"},
                                ExpressionAttributeValues={":o": s(f"owner{self.random.randrange(GROUPS)}")})
        self.check_sum(items, "Query of an index")

    def page(self):
        """Pages of a collection that only grows: nothing twice, nothing that was there before is missing."""
        before = set(self.tally.won)
        items = self.client.all("Query", TableName="iso", ConsistentRead=True, KeyConditionExpression="PK = :pk",
                                ExpressionAttributeValues={":pk": s("places")}, Limit=self.random.choice((3, 17, 100)))
        names = [item["SK"]["S"] for item in items]
        assert names == sorted(set(names)), "pages out of order"
        assert before <= set(names), f"not there: {before - set(names)}"

    def scan(self):
        items = self.client.all("Scan", TableName="iso", ConsistentRead=True, Limit=self.random.choice((7, 1000)))
        keys = [(item["PK"]["S"], item["SK"]["S"]) for item in items]
        assert len(keys) == len(set(keys)), "an item twice"
        assert {("places", place) for place in self.tally.won} <= set(keys), "an item is missing"
        assert sum(1 for k in keys if k[0].startswith("group")) == GROUPS * ACCOUNTS

    def check_sum(self, items, how):
        self.tally.looks += 1
        total = sum(int(item["n"]["N"]) for item in items)
        assert len(items) == ACCOUNTS and total == ACCOUNTS * START, f"{how}: {len(items)} accounts with {total}"

    def contend(self):
        changes = [self.add, self.add_if_version, self.transfer, self.transfer, self.pair, self.win, self.once]
        looks = [self.get_group, self.get_pair, self.query_group, self.query_index, self.page, self.scan]
        while time.monotonic() < self.deadline:
            act = self.random.choice(changes if self.random.random() < 0.65 else looks)
            try:
                act()
                self.tally.done += 1
            except Refused as refused:
                if refused.name not in RETRIED and "TransactionConflict" not in refused.message:
                    raise
                self.tally.retries += 1


def contend_in_threads(port, process, seed, deadline, results):
    contenders = [Contender(port, process * THREADS + i, seed, deadline) for i in range(THREADS)]
    problems = []

    def guarded(contender):
        try:
            contender.contend()
        except Exception as error:
            problems.append(f"{contender.name}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=guarded, args=(c,)) for c in contenders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(([c.tally for c in contenders], problems))


def check_end(client, tallies):
    items = {(item["PK"]["S"], item["SK"]["S"]): item for item in client.all("Scan", TableName="iso", ConsistentRead=True)}
    steps, won, tokens = {}, {}, set()
    for tally in tallies:
        for name, count in tally.steps.items():
            steps[name] = steps.get(name, 0) + count
        assert not won.keys() & tally.won.keys(), "a place has two winners"
        won |= tally.won
        tokens |= tally.tokens
    for name, count in steps.items():
        assert int(items["counters", name]["n"]["N"]) == count, f"{name} is {items['counters', name]['n']}, but {count} steps were acknowledged"
    assert {place: item["who"]["S"] for (pk, place), item in items.items() if pk == "places"} == won
    assert int(items["once", "1"]["n"]["N"]) == len(tokens), f"{items['once', '1']['n']} for {len(tokens)} tokens"


def contend_on(what, *flags, **kwargs):
    server = Server(*flags, **kwargs)
    client = Client(server.port)
    create(client)
    client.close()  # or the server does, when it was idle for a minute
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    deadline = time.monotonic() + SECONDS
    processes = [context.Process(target=contend_in_threads, args=(server.port, i, SEED, deadline, results)) for i in range(PROCESSES)]
    for process in processes:
        process.start()
    # a deadlock would keep a client from its end: the queue's time limit tells
    gathered = [results.get(timeout=SECONDS + 120) for _ in processes]
    for process in processes:
        process.join()
    problems = [p for _, own in gathered for p in own]
    assert not problems, "\n".join([f"ISOLATION_SEED={SEED}", *problems])
    tallies = [t for own, _ in gathered for t in own]
    check_end(client, tallies)
    assert all(t.done > 0 for t in tallies), "a client that did nothing"
    total = lambda what: sum(getattr(t, what) for t in tallies)
    print(f"e2e isolation: {what}: {total('done')} acts, {total('looks')} sums, {sum(len(t.won) for t in tallies)} places won, "
          f"{len(set().union(*(t.tokens for t in tallies)))} tokens, {total('retries')} retries")
    client.close()
    server.stop()


def in_memory():
    contend_on("in memory")


def on_disk():
    contend_on("on disk", disk=True)


def on_disk_with_synced_commits():
    """Commits wait for shared syncs with the writer's lock let go."""
    contend_on("on disk, synced", "--durability", "full", disk=True)


run("isolation", [in_memory, on_disk, on_disk_with_synced_commits])
