"""The state of a namespace: reset, checkpoints, snapshots, clones."""
import json
import subprocess
import threading
import urllib.error
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from harness import BINARY, DATABASE, Server, create_app, of_files, raises, run, until


def control(server, method, path, body=None, key=None, region="us-east-1", status=200, query=""):
    """The answer to a call of an endpoint; signed where there is a key."""
    url = f"{server.url}/_dynalith/{path}{query}"
    data = None if body is None else json.dumps(body)
    headers = {"Content-Type": "application/json"}
    if key:
        request = AWSRequest(method, url, data=data, headers=headers)
        SigV4Auth(Credentials(key, "secret"), "dynamodb", region).add_auth(request)
        headers = dict(request.headers)
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=data and data.encode(), headers=headers, method=method), timeout=120) as reply:
            assert status == 200, reply.read()
            return json.load(reply)
    except urllib.error.HTTPError as e:
        answer = json.load(e)
        assert e.code == status, (e.code, answer)
        return answer


def put(client, pk, table="app", **more):
    client.put_item(TableName=table, Item={"PK": {"S": pk}, "SK": {"S": "1"}, "GSI1PK": {"S": "all"}, "GSI1SK": {"S": pk}, "at": {"S": "9"}, **more})


def names(client, table="app", **kwargs):
    return sorted(i["PK"]["S"] for page in client.get_paginator("scan").paginate(TableName=table, **kwargs) for i in page["Items"])


def everywhere(client, table="app"):
    """The partition keys that the table has, after a look into its indexes."""
    found = names(client, table)
    for index in ("GSI1", "GSI3", "by-time"):
        assert names(client, table, IndexName=index) == found, (index, found)
    # in a database, where a server that was killed could live elsewhere, its tables are counted again a minute later: tests/cluster/histories looks at that
    assert DATABASE or client.describe_table(TableName=table)["Table"]["ItemCount"] == len(found)
    return found


def records(server, client, table="app", key="000000000000"):
    """The partition keys of a stream's records, in order."""
    arn = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    streams = server.client(key, service="dynamodbstreams")
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        found += [r["dynamodb"]["Keys"]["PK"]["S"] for r in streams.get_records(ShardIterator=iterator)["Records"]]
    return found


def latest(server, client, table="app"):
    """A call that gives the partition keys of the records since the last call, shard by shard."""
    arn = client.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    streams = server.client(service="dynamodbstreams")
    shards = [s["ShardId"] for s in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"] if "EndingSequenceNumber" not in s["SequenceNumberRange"]]
    at = [streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="LATEST")["ShardIterator"] for shard in shards]

    def read():
        answers = [streams.get_records(ShardIterator=iterator) for iterator in at]
        at[:] = [answer["NextShardIterator"] for answer in answers]
        return [r["dynamodb"]["Keys"]["PK"]["S"] for answer in answers for r in answer["Records"]]
    return read


def stream(client, table="app"):
    client.update_table(TableName=table, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})


def resets_a_namespace():
    for disk in (False, True):
        server = Server(disk=disk)
        client, other, far = server.client(key="111111111111"), server.client(key="222222222222"), server.client(key="111111111111", region="eu-west-1")
        for c in (client, other, far):
            create_app(c)
            put(c, "a")
        stream(client)
        put(client, "b")
        client.delete_table(TableName="app")
        create_app(client)
        create_app(client, "second")
        write = dict(TransactItems=[{"Put": {"TableName": "app", "Item": {"PK": {"S": "t"}, "SK": {"S": "1"}}}}], ClientRequestToken="token")
        client.transact_write_items(**write)
        control(server, "POST", "clock", {"advance": "30d"}, key="111111111111")
        assert control(server, "POST", "reset", key="111111111111") == {"tables": 2}
        assert client.list_tables()["TableNames"] == []
        assert server.client("111111111111", service="dynamodbstreams").list_streams()["Streams"] == []
        assert control(server, "GET", "clock", key="111111111111")["offset"] == 0
        for c in (other, far):
            assert everywhere(c) == ["a"]
        create_app(client)
        client.transact_write_items(**write)  # the token is forgotten: it is done again
        assert names(client) == ["t"]
        if disk:
            server.kill()
            server.start()
            assert names(client) == ["t"] and everywhere(other) == ["a"]
        assert control(server, "POST", "reset", {}, key="111111111111") == {"tables": 1}
        assert control(server, "POST", "reset", {}, key="111111111111") == {"tables": 0}
        assert control(server, "POST", "reset", query="?account=222222222222") == {"tables": 1}
        raises("ResourceNotFoundException", other.describe_table, TableName="app")
        server.stop()


def empties_tables():
    server = Server()
    client = server.client("000000000000")
    for name in ("app", "second", "third"):
        create_app(client, name)
        stream(client, name)
        client.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        put(client, "a", name, ttl={"N": "1"})
    before = client.describe_table(TableName="app")["Table"]
    assert control(server, "POST", "reset", {"keep": "tables", "tables": ["app"]}) == {"tables": 1}
    after = client.describe_table(TableName="app")["Table"]
    for description in (before, after):
        for part in [description, *description["GlobalSecondaryIndexes"], *description["LocalSecondaryIndexes"]]:
            for size in ("ItemCount", "TableSizeBytes", "IndexSizeBytes"):
                part.pop(size, None)
    assert before == after, (before, after)
    assert everywhere(client) == [] and everywhere(client, "second") == ["a"]
    assert records(server, client) == [] and records(server, client, "second") == ["a"]
    read = latest(server, client)
    put(client, "b")
    assert everywhere(client) == ["b"] and records(server, client) == ["b"] == read()
    control(server, "POST", "reset", {"keep": "tables"})
    put(client, "d")
    assert records(server, client) == ["d"] == read()
    assert control(server, "POST", "reset", {"tables": ["second"]}) == {"tables": 1}
    assert client.list_tables()["TableNames"] == ["app", "third"]
    assert control(server, "POST", "reset", {"keep": "tables"}) == {"tables": 2}
    assert everywhere(client) == [] and everywhere(client, "third") == []
    assert read() == []
    put(client, "c", ttl={"N": "1"})
    assert control(server, "POST", "clock", {"advance": "1h"})["expired"] >= 0 and records(server, client)[0] == "c"
    server.stop()


def refuses_what_it_does_not_understand():
    server = Server()
    client = server.client("000000000000")
    create_app(client)
    put(client, "a")
    bad = [
        ({"keep": "all"}, "can only be"), ({"keep": 1}, "a string"), ({"tables": "app"}, "an array"), ({"tables": [1]}, "array of strings"),
        ({"tables": ["app", "none"]}, "no table 'none'"), ({"kepp": "tables"}, 'no member "kepp"'), ([], "JSON object"),
    ]
    for body, what in bad:
        answer = control(server, "POST", "reset", body, status=400)
        assert what in answer["message"], (body, answer)
        assert everywhere(client) == ["a"]
    assert "account" in control(server, "POST", "reset", status=400, query="?account=12")["message"]
    assert control(server, "GET", "reset", status=405)["pages"]
    assert control(server, "POST", "reset/more", status=404)["pages"]
    server.stop()


def checkpoint(server, name, key=None):
    assert control(server, "POST", "checkpoints", {"name": name}, key=key) == {"name": name}


def roll_back(server, name, key=None):
    assert control(server, "POST", f"checkpoints/{name}/rollback", key=key) == {"name": name}


def checkpoints(server):
    return [c["name"] for c in control(server, "GET", "checkpoints")["checkpoints"]]


def described(client, table="app"):
    """The table's description but for what the tests change by themselves."""
    description = client.describe_table(TableName=table)["Table"]
    description["GlobalSecondaryIndexes"] = sorted(description.get("GlobalSecondaryIndexes", []), key=lambda i: i["IndexName"])
    return description


def rolls_back():
    for disk in (False, True):
        server = Server(disk=disk)
        client, other = server.client("000000000000"), server.client("222222222222")
        for c in (client, other):
            create_app(c)
            put(c, "a")
        stream(client)
        client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        create_app(client, "victim")
        put(client, "v", "victim")
        put(client, "kept", ttl={"N": "4000000000"})
        before, stream_before, tags = described(client), records(server, client), client.list_tags_of_resource
        read = latest(server, client)
        checkpoint(server, "seeded")
        for _ in range(3):  # any number of times
            put(client, "b")
            client.update_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "1"}}, UpdateExpression="SET amount = :t",
                               ExpressionAttributeValues={":t": {"N": "1"}})
            put(other, "b")
            assert disk or sorted(read()) == ["a", "b"]
            client.delete_table(TableName="victim")
            create_app(client, "made")
            put(client, "m", "made")
            client.tag_resource(ResourceArn=before["TableArn"], Tags=[{"Key": "k", "Value": "v"}])
            client.update_table(TableName="app", AttributeDefinitions=[{"AttributeName": "GSI1PK", "AttributeType": "S"}],
                                GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "GSI2"}}])
            client.update_table(
                TableName="app", AttributeDefinitions=[{"AttributeName": "amount", "AttributeType": "N"}],
                GlobalSecondaryIndexUpdates=[{"Create": {"IndexName": "by-amount", "KeySchema": [{"AttributeName": "amount", "KeyType": "HASH"}],
                                                         "Projection": {"ProjectionType": "ALL"}}}])
            control(server, "POST", "clock", {"set": "2110-01-01"}, query="?account=000000000000")
            assert names(client) == ["a", "b"]
            roll_back(server, "seeded")
            until(lambda: described(client) == before, "the description is not what it was")  # its items are counted again
            assert everywhere(client) == ["a", "kept"] and everywhere(client, "victim") == ["v"]
            assert names(client, IndexName="GSI2") == []
            assert records(server, client) == stream_before
            assert client.list_tables()["TableNames"] == ["app", "victim"]
            assert tags(ResourceArn=before["TableArn"])["Tags"] == []
            assert control(server, "GET", "clock", query="?account=000000000000")["own"] is False
            if disk:
                server.kill()
                server.start()
        assert everywhere(other) == ["a", "b"]
        put(client, "c")
        assert sorted(records(server, client)) == sorted([*stream_before, "c"])
        assert disk or read() == ["c"]  # a consumer goes on, though what it read is gone
        control(server, "DELETE", "checkpoints/seeded")
        assert checkpoints(server) == [] and everywhere(client) == ["a", "c", "kept"]
        assert "no checkpoint 'seeded'" in control(server, "POST", "checkpoints/seeded/rollback", status=400)["message"]
        server.stop()


def nests_checkpoints():
    server = Server()
    client = server.client("000000000000")
    create_app(client)
    for name in ("one", "two", "three"):
        put(client, name)
        checkpoint(server, name)
    put(client, "four")
    roll_back(server, "two")
    assert checkpoints(server) == ["one", "two"] and everywhere(client) == ["one", "two"]
    put(client, "x")
    checkpoint(server, "three")
    client.delete_table(TableName="app")
    control(server, "DELETE", "checkpoints/two")
    assert checkpoints(server) == ["one", "three"]
    roll_back(server, "three")
    assert everywhere(client) == ["one", "two", "x"]
    roll_back(server, "one")
    assert checkpoints(server) == ["one"] and everywhere(client) == ["one"]
    put(client, "y")
    assert control(server, "POST", "reset", {"keep": "tables"}) == {"tables": 1}
    assert everywhere(client) == []
    roll_back(server, "one")
    assert everywhere(client) == ["one"]
    assert "already" in control(server, "POST", "checkpoints", {"name": "one"}, status=400)["message"]
    for body, what in ((None, 'lacks "name"'), ({"name": "a/b"}, "A name has"), ({"name": ""}, "A name has"), ({"name": 1}, "a string"),
                       ({"name": "n", "more": 1}, 'no member "more"')):
        assert what in control(server, "POST", "checkpoints", body, status=400)["message"], body
    assert checkpoints(server) == ["one"]
    control(server, "POST", "reset")
    assert checkpoints(server) == [] and client.list_tables()["TableNames"] == []
    server.stop()


def shows_before_or_after():
    """Writers put items in order; whatever a scan sees is a beginning of that order, in table and index, while the state is rolled back."""
    server = Server()
    client = server.client("000000000000")
    create_app(client)
    checkpoint(server, "empty")
    wrong, rounds, done = [], [0], threading.Event()

    def look(**kwargs):
        own = server.client("000000000000")
        while not done.is_set():
            seen = names(own, **kwargs)
            if seen != [f"{n:02}" for n in range(len(seen))]:
                wrong.append(seen)
            rounds[0] += 1

    threads = [threading.Thread(target=look, kwargs=k) for k in ({}, {}, {"IndexName": "GSI1"})]
    for thread in threads:
        thread.start()
    for _ in range(30):
        for n in range(12):
            put(client, f"{n:02}")
        roll_back(server, "empty")
        assert names(client) == []
    until(lambda: rounds[0] > 30, "others look")
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    server.stop()


def rolls_vectors_back():
    """What is held in memory of a vector index is never taken for what a rollback or a reset left, though the same keys are written again."""
    server = Server()
    client = server.client("000000000000")
    client.create_table(
        TableName="vectors", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        VectorIndexes=[{"IndexName": "near", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 2, "DistanceFunction": "EUCLIDEAN",
                        "Projection": {"ProjectionType": "ALL"}}])

    def place(at):
        for n, pk in enumerate("abc"):
            client.put_item(TableName="vectors", Item={"pk": {"S": pk}, "v": {"L": [{"N": str(at + n)}, {"N": "0"}]}})

    def scores():
        found = client.search_vectors(TableName="vectors", IndexName="near", SearchVector=[{"N": "0"}, {"N": "0"}], TopK=10)["SearchResults"]
        return [(r["Item"]["pk"]["S"], round(r["Score"])) for r in found]

    def at(first):
        return [(pk, first + n) for n, pk in enumerate("abc")]

    place(1)
    assert scores() == at(1)
    checkpoint(server, "c")
    for first in (10, 20, 30):
        place(first)
        assert scores() == at(first)
        roll_back(server, "c")
        assert scores() == at(1)
    for first in (40, 50):
        control(server, "POST", "reset", {"keep": "tables"})
        assert scores() == []
        place(first)
        assert scores() == at(first)
    server.stop()


def rolls_tokens_back():
    server = Server()
    client = server.client("000000000000")
    create_app(client)
    write = dict(TransactItems=[{"Update": {"TableName": "app", "Key": {"PK": {"S": "a"}, "SK": {"S": "1"}}, "UpdateExpression": "ADD n :one",
                                            "ExpressionAttributeValues": {":one": {"N": "1"}}}}])
    client.transact_write_items(**write, ClientRequestToken="before")
    checkpoint(server, "c")
    client.transact_write_items(**write, ClientRequestToken="after")
    roll_back(server, "c")
    for token in ("before", "after", "after"):
        client.transact_write_items(**write, ClientRequestToken=token)
    assert client.get_item(TableName="app", Key={"PK": {"S": "a"}, "SK": {"S": "1"}})["Item"]["n"] == {"N": "2"}
    server.stop()


@of_files
def survives_a_check():
    server = Server(disk=True)
    client = server.client("000000000000")
    create_app(client)
    put(client, "a")
    checkpoint(server, "c")
    client.delete_table(TableName="app")
    server.kill()
    done = subprocess.run([BINARY, "check", f"{server.folder}/data.db"], capture_output=True, text=True)
    assert done.returncode == 0, done
    server.start()
    roll_back(server, "c")
    assert everywhere(client) == ["a"]
    server.stop()


def keeps_snapshots():
    for disk in (False, True):
        server = Server(disk=disk)
        client = server.client("000000000000")
        create_app(client)
        stream(client)
        client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        put(client, "a", ttl={"N": "4000000000"})
        create_app(client, "second")
        before, stream_before = described(client), records(server, client)
        write = dict(TransactItems=[{"Update": {"TableName": "second", "Key": {"PK": {"S": "t"}, "SK": {"S": "1"}}, "UpdateExpression": "ADD n :one",
                                                "ExpressionAttributeValues": {":one": {"N": "1"}}}}], ClientRequestToken="token")
        client.transact_write_items(**write)
        assert control(server, "PUT", "snapshots/seeded") == {"name": "seeded"}
        assert "already" in control(server, "PUT", "snapshots/seeded", status=400)["message"]
        for _ in range(2):
            put(client, "b")
            client.delete_table(TableName="second")
            create_app(client, "made")
            if disk:
                server.kill()
                server.check_file()
                server.start()
            read = None if disk else latest(server, client)
            control(server, "POST", "snapshots/seeded/restore")
            assert client.list_tables()["TableNames"] == ["app", "second"]
            assert described(client) == before and everywhere(client) == ["a"] and records(server, client) == stream_before
            if read:
                put(client, "late")
                assert read() == ["late"]
                client.delete_item(TableName="app", Key={"PK": {"S": "late"}, "SK": {"S": "1"}})
            client.transact_write_items(**write)  # was done before the snapshot
            assert client.get_item(TableName="second", Key={"PK": {"S": "t"}, "SK": {"S": "1"}})["Item"]["n"] == {"N": "1"}
            control(server, "POST", "clock", {"set": "2110-01-01"}, query="?account=000000000000")
            assert everywhere(client) == []  # the queue of time to live came along
            control(server, "POST", "reset")
            control(server, "POST", "snapshots/seeded/restore")
        assert [s["name"] for s in control(server, "GET", "snapshots")["snapshots"]] == ["seeded"]
        checkpoint(server, "c")
        put(client, "c")
        control(server, "POST", "snapshots/seeded/restore")
        assert everywhere(client) == ["a"]
        roll_back(server, "c")
        assert everywhere(client) == ["a"] and described(client) == before
        control(server, "DELETE", "snapshots/seeded")
        assert control(server, "GET", "snapshots") == {"snapshots": []}
        assert "no snapshot" in control(server, "POST", "snapshots/seeded/restore", status=400)["message"]
        assert "A name has" in control(server, "PUT", "snapshots/a%20b", status=400)["message"]
        server.stop()


def clones_namespaces():
    server = Server()
    workers = [f"{n:012d}" for n in range(1, 5)]
    seed = server.client("000000000000")
    create_app(seed)
    stream(seed)
    for n in range(30):
        put(seed, f"item-{n:02}")
    found = everywhere(seed)
    assert control(server, "POST", "clone", {"from": "000000000000", "to": workers}) == {"clones": 4}
    for worker in workers:
        client = server.client(worker)
        assert everywhere(client) == found
        table = client.describe_table(TableName="app")["Table"]
        assert f":{worker}:table/app" in table["TableArn"] and table["TableId"] != seed.describe_table(TableName="app")["Table"]["TableId"]
        put(client, worker)
        assert everywhere(client) == sorted([*found, worker])
    assert everywhere(seed) == found
    assert "has tables" in control(server, "POST", "clone", {"to": ["000000000009", workers[0]]}, status=400)["message"]
    raises("ResourceNotFoundException", server.client("000000000009").describe_table, TableName="app")
    control(server, "POST", "clone", {"to": workers[:1], "replace": True})
    assert everywhere(server.client(workers[0])) == found
    for body, what in (({}, 'lacks "to"'), ({"to": ["1"]}, "12 digits"), ({"to": ["000000000000"]}, "named twice"), ({"to": [workers[0]] * 2}, "twice"),
                       ({"to": workers, "form": "1"}, 'no member "form"'), ({"to": [1]}, "array of strings")):
        assert what in control(server, "POST", "clone", body, status=400)["message"], body
    server.stop()


def dumps_and_loads():
    def dynalith(*words, status=0):
        done = subprocess.run([BINARY, *words], capture_output=True, text=True)
        assert done.returncode == status, done
        return done.stderr

    first, second = Server(), Server(disk=True)
    client, other = first.client("000000000000"), second.client("222222222222")
    create_app(client)
    stream(client)
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    for n in range(400):
        put(client, f"item-{n:03}", text={"S": "x" * 3000}, ttl={"N": "4000000000"})
    for letter in "ab":  # a record of 780 KB
        put(client, "large", text={"S": letter * 390_000}, ttl={"N": "4000000000"})
    create_app(client, "second")
    file = f"{first.folder}/seeded.dump"
    dynalith("dump", first.url, file)
    assert control(first, "GET", "snapshots") == {"snapshots": []}
    assert "exists" in dynalith("dump", first.url, file, status=1)
    create_app(other, "old")
    whole = open(file, "rb").read()
    assert len(whole) > 1 << 20
    broken = f"{first.folder}/broken.dump"
    cut_early = whole[:24 + 4 + int.from_bytes(whole[20:24], "big")]  # after the first block
    for bad, what in ((whole[:-3], "cut off"), (whole[:5000] + b"?" + whole[5001:], "damaged"), (b"dynalith snapshot 2\n" + whole[20:], "newer"),
                      (b"something else entirely", "no dump"), (cut_early, "cut off"), (b"", "no dump")):
        open(broken, "wb").write(bad)
        assert what in dynalith("load", second.url, broken, "--account", "222222222222", status=1), what
        assert other.list_tables()["TableNames"] == ["old"], what
    for _ in range(2):
        dynalith("load", second.url, file, "--account", "222222222222", "--region", "us-east-1")
        assert other.list_tables()["TableNames"] == ["app", "second"]
        until(lambda: other.describe_table(TableName="app")["Table"]["ItemCount"] == 401, "the items of a large table are counted by and by")
        assert everywhere(other) == everywhere(client) and records(second, other, key="222222222222") == records(first, client)
        assert ":222222222222:" in other.describe_table(TableName="app")["Table"]["TableArn"]
        put(other, "after")
    assert control(second, "GET", "snapshots", query="?account=222222222222") == {"snapshots": []}
    second.kill()
    second.check_file()
    second.start()
    control(second, "POST", "clock", {"set": "2110-01-01"}, query="?account=222222222222")
    assert everywhere(other) == ["after"]
    dynalith("dump", "not-a-url", "x", status=2)
    assert "malformed" in control(first, "POST", "snapshots/s/load", {"block": "AAAA"}, status=400)["message"]
    assert "base64" in control(first, "POST", "snapshots/s/load", {"block": "?"}, status=400)["message"]
    assert "no snapshot" in control(first, "POST", "snapshots/s/dump", {}, status=400)["message"]
    for server in (first, second):
        server.stop()


if __name__ == "__main__":
    run("state", [resets_a_namespace, empties_tables, refuses_what_it_does_not_understand, rolls_back, nests_checkpoints, shows_before_or_after, rolls_vectors_back, rolls_tokens_back, survives_a_check, keeps_snapshots,
                  clones_namespaces, dumps_and_loads])
