"""Global tables: replicas are tables of other regions; lag by the clock, partitions and healing, conflicts, filling, kills, resets."""
import json
import random
import urllib.error
import urllib.request

from harness import Server, copy_of_file, of_files, raises, run, until
from test_scaling import scale

REGIONS = ("us-east-1", "eu-west-1", "us-west-2")


def control(server, path, body=None, method=None, region="us-east-1"):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{server.url}/_dynalith/{path}?account=000000000000&region={region}",
                                     data=data, method=method or ("POST" if data else "GET"))
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def links(server, **body):
    return control(server, "replication", body, "PUT") if body else control(server, "replication")


def turn(server, seconds):
    """All regions of these tests go by the default clock."""
    with urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/clock", data=json.dumps({"advance": seconds}).encode()), timeout=120) as reply:
        return json.load(reply)


def create(client, name="app", **more):
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], **more)


def add(client, *regions, name="app", **more):
    for region in regions:
        client.update_table(TableName=name, ReplicaUpdates=[{"Create": {"RegionName": region}}], **more)


def start(n=2, *flags, **kwargs):
    server = Server(*flags, **kwargs)
    clients = [server.client(region=region) for region in REGIONS[:n]]
    create(clients[0])
    add(clients[0], *REGIONS[1:n])
    return server, clients


def put(client, pk, **values):
    client.put_item(TableName="app", Item={"pk": {"S": pk}, **{k: {"S": str(v)} for k, v in values.items()}})


def delete(client, pk):
    client.delete_item(TableName="app", Key={"pk": {"S": pk}})


def get(client, pk):
    item = client.get_item(TableName="app", Key={"pk": {"S": pk}}, ConsistentRead=True).get("Item")
    return item and {k: v["S"] for k, v in item.items() if k != "pk"}


def items(client, **kwargs):
    pages = client.get_paginator("scan").paginate(TableName="app", ConsistentRead=True, **kwargs)
    return {i["pk"]["S"]: {k: v["S"] for k, v in i.items() if k != "pk"} for page in pages for i in page["Items"]}


def records(server, region):
    client = server.client(region=region)
    streams = server.client(region=region, service="dynamodbstreams")
    arn = client.describe_table(TableName="app")["Table"]["LatestStreamArn"]
    found = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        found += streams.get_records(ShardIterator=iterator)["Records"]
    return found


def writes_are_everywhere_at_once():
    server, (a, b, c) = start(3)
    put(a, "one", v=1)
    assert get(b, "one") == get(c, "one") == {"v": "1"}
    b.update_item(TableName="app", Key={"pk": {"S": "one"}}, UpdateExpression="SET w = :w", ExpressionAttributeValues={":w": {"S": "2"}})
    assert get(a, "one") == get(c, "one") == {"v": "1", "w": "2"}
    c.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": {"pk": {"S": "two"}}}}, {"Delete": {"TableName": "app", "Key": {"pk": {"S": "one"}}}}])
    a.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": {"pk": {"S": f"b{i}"}}}} for i in range(25)]})
    b.execute_statement(Statement="INSERT INTO app VALUE {'pk': 'three'}")
    expected = {"two": {}, "three": {}, **{f"b{i}": {} for i in range(25)}}
    assert items(a) == items(b) == items(c) == expected
    raises("ConditionalCheckFailedException", b.put_item, TableName="app", Item={"pk": {"S": "two"}}, ConditionExpression="attribute_not_exists(pk)")
    assert {x.describe_table(TableName="app")["Table"]["ItemCount"] for x in (a, b, c)} == {27}
    server.stop()


def each_region_has_its_stream():
    server, (a, b) = start()
    a.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    now = int(float(turn(server, 0)["now"]))
    a.put_item(TableName="app", Item={"pk": {"S": "soon"}, "ttl": {"N": str(now + 60)}})
    put(b, "other", v=1)
    turn(server, 120)
    assert items(a) == items(b) == {"other": {"v": "1"}}
    seen = {region: [(r["eventName"], r["dynamodb"]["Keys"]["pk"]["S"], "userIdentity" in r, r["awsRegion"]) for r in records(server, region)]
            for region in REGIONS[:2]}
    for region, found in seen.items():
        assert [(name, pk) for name, pk, *_ in found] == [("INSERT", "soon"), ("INSERT", "other"), ("REMOVE", "soon")], found
        assert {r for *_, r in found} == {region}
    # AWS: the service is named only where the item expired
    assert sorted(found[2][2] for found in seen.values()) == [False, True], seen
    server.stop()


def lag_goes_by_the_clock():
    server, (a, b) = start()
    assert links(server, lag_ms=10000) == {"lag_ms": 10000, "partitions": [], "queues": []}
    put(a, "x", v=1)
    assert get(a, "x") == {"v": "1"} and get(b, "x") is None
    assert [(q["from"], q["to"], q["changes"]) for q in links(server)["queues"]] == [("us-east-1", "eu-west-1", 1)]
    turn(server, 5)
    put(a, "y", v=1)
    assert get(b, "x") is None
    turn(server, 6)
    assert get(b, "x") == {"v": "1"} and get(b, "y") is None
    links(server, lag_ms=0)
    assert get(b, "y") == {"v": "1"} and not links(server)["queues"]
    server.stop()


def the_last_writer_wins():
    server, (a, b) = start()
    put(a, "x", v=0)
    links(server, partitions=[["us-east-1", "eu-west-1"]])
    put(a, "x", v="first")
    turn(server, 1)
    put(b, "x", v="second")
    put(b, "gone", v=1)
    put(a, "same", v="a")
    turn(server, 1)
    put(b, "same", v="b")
    put(a, "kept", v=1)
    turn(server, 1)
    delete(a, "same")
    assert get(a, "x") == {"v": "first"} and get(b, "x") == {"v": "second"}
    healed = control(server, "replication", method="DELETE")
    assert healed == {"lag_ms": 0, "partitions": [], "queues": []}, healed
    assert items(a) == items(b) == {"x": {"v": "second"}, "gone": {"v": "1"}, "kept": {"v": "1"}}, (items(a), items(b))
    server.stop()


def rows(server):
    with copy_of_file(f"{server.folder}/data.db") as db:
        tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sum(db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables)


@of_files
def deleted_items_are_forgotten():
    """Each replica has two rows of a deleted item, until a minute is over and no replica waits for the deletion. The records of streams stay."""
    server, (a, b) = start(disk=True)
    empty = rows(server)
    for n in range(20):
        put(a, f"k{n}", n=n)
    links(server, partitions=[[REGIONS[0], REGIONS[1]]])
    for n in range(20):
        delete(a, f"k{n}")
    turn(server, 61)
    assert rows(server) - empty >= 60 + 90, "two stamps here, and there an item, its stamp and the deletion in the queue"
    links(server, partitions=[])
    turn(server, 1)
    assert not items(a) and not items(b)
    turn(server, 1)
    assert rows(server) - empty < 80 + 20, (empty, rows(server))
    put(b, "k1", n=2)
    assert get(a, "k1") == get(b, "k1") == {"n": "2"}
    server.stop()


def schedules_converge():
    for seed in range(3):
        rng = random.Random(seed)
        server, clients = start(3)
        last = {}
        for step in range(120):
            turn(server, 0.01)
            what, pk = rng.random(), f"k{rng.randrange(6)}"
            if what < 0.1:
                cuts = [pair for pair in ([REGIONS[0], REGIONS[1]], [REGIONS[1], REGIONS[2]], [REGIONS[0], REGIONS[2]]) if rng.random() < 0.5]
                links(server, lag_ms=rng.choice([0, 0, 30, 500]), partitions=cuts)
            elif what < 0.8:
                put(rng.choice(clients), pk, v=step)
                last[pk] = {"v": str(step)}
            else:
                client = rng.choice(clients)
                if client.delete_item(TableName="app", Key={"pk": {"S": pk}}, ReturnValues="ALL_OLD").get("Attributes"): # else it is no change
                    last[pk] = None
        control(server, "replication", method="DELETE")
        found = [items(client) for client in clients]
        assert found[0] == found[1] == found[2] == {pk: item for pk, item in last.items() if item is not None}, (seed, found, last)
        server.stop()


def a_deleted_replica_leaves_a_backup():
    """AWS, Developer Guide: a table with recovery that is deleted leaves a SYSTEM backup; a replica is its region's table, and recovery is its region's."""
    server, clients = start(3)
    for client in clients[1:]:
        client.update_continuous_backups(TableName="app", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    put(clients[0], "a", v=1)
    until(lambda: all(get(c, "a") for c in clients[1:]), "the item is everywhere")
    clients[0].update_table(TableName="app", ReplicaUpdates=[{"Delete": {"RegionName": REGIONS[1]}}])
    clients[2].delete_table(TableName="app")
    for client in clients[1:]:
        system, = client.list_backups(TableName="app", BackupType="SYSTEM")["BackupSummaries"]
        assert system["BackupName"] == "app$DeletedTableBackup" and system["BackupExpiryDateTime"], system
        client.restore_table_from_backup(TargetTableName="app", BackupArn=system["BackupArn"])
        until(lambda: client.describe_table(TableName="app")["Table"]["TableStatus"] == "ACTIVE", "it is restored")
        assert get(client, "a") == {"v": "1"} and "Replicas" not in client.describe_table(TableName="app")["Table"]
    assert not clients[0].list_backups(BackupType="ALL")["BackupSummaries"]
    put(clients[0], "b", v=2)
    assert not get(clients[1], "b")
    clients[0].delete_table(TableName="app")
    assert not clients[0].list_backups(BackupType="ALL")["BackupSummaries"]
    server.stop()


def strong_consistency():
    server = Server()
    a, b, c = (server.client(region=region) for region in REGIONS)
    create(a)
    a.update_table(TableName="app", MultiRegionConsistency="STRONG", ReplicaUpdates=[{"Create": {"RegionName": r}} for r in REGIONS[1:]])
    links(server, lag_ms=1000)
    put(a, "x", v=1)
    assert get(b, "x") == get(c, "x") == {"v": "1"}
    raises("ReplicatedWriteConflictException", b.put_item, TableName="app", Item={"pk": {"S": "x"}})
    put(a, "x", v=2)
    turn(server, 2)
    put(b, "x", v=3)
    assert get(a, "x") == {"v": "3"}
    links(server, lag_ms=0, partitions=[["us-east-1", "eu-west-1"], ["us-east-1", "us-west-2"]])
    raises("ServiceUnavailable", a.put_item, TableName="app", Item={"pk": {"S": "x"}})
    put(b, "x", v=4)
    assert get(c, "x") == {"v": "4"} and get(a, "x") == {"v": "3"}
    control(server, "replication", method="DELETE")
    assert get(a, "x") == {"v": "4"}
    for call in (lambda **k: a.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": {"pk": {"S": "t"}}}}]),
                 lambda **k: a.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": {"pk": {"S": "x"}}}}])):
        raises("ValidationException", call)
    raises("TransactionCanceledException", a.execute_transaction, TransactStatements=[{"Statement": "SELECT * FROM app WHERE pk = 'x'"}])
    raises("ValidationException", a.update_time_to_live, TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    server.stop()


def large_tables_are_filled_over_kills():
    server = Server(disk=True)
    a, b = (server.client(region=region) for region in REGIONS[:2])
    create(a)
    for i in range(0, 6000, 25):
        a.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": {"pk": {"S": f"k{k}"}, "v": {"S": str(k)}}}} for k in range(i, i + 25)]})
    add(a, "eu-west-1")
    put(a, "k1", v="new")
    delete(a, "k2")
    server.kill()
    server.start()
    a, b = (server.client(region=region) for region in REGIONS[:2])
    until(lambda: b.describe_table(TableName="app")["Table"]["TableStatus"] == "ACTIVE", "the replica is filled")
    found = items(b)
    assert found == items(a) and len(found) == 5999 and found["k1"] == {"v": "new"}
    links(server, partitions=[["us-east-1", "eu-west-1"]])
    put(a, "queued", v=1)
    server.kill()
    server.start()
    a, b = (server.client(region=region) for region in REGIONS[:2])
    assert links(server)["partitions"] == [["us-east-1", "eu-west-1"]] and get(b, "queued") is None
    control(server, "replication", method="DELETE")
    assert get(b, "queued") == {"v": "1"}
    server.stop()


def a_reset_region_leaves():
    server, (a, b, c) = start(3)
    put(a, "x", v=1)
    control(server, "checkpoints", {"name": "here"}, region="eu-west-1")
    put(a, "y", v=1)
    control(server, "checkpoints/here/rollback", {}, region="eu-west-1")
    assert items(b) == {"x": {"v": "1"}} and items(a) == items(c) == {"x": {"v": "1"}, "y": {"v": "1"}}
    put(b, "z", v=1)
    assert get(a, "z") == {"v": "1"}
    control(server, "reset", {}, region="us-west-2")
    raises("ResourceNotFoundException", c.describe_table, TableName="app")
    put(a, "w", v=1)
    assert get(b, "w") == {"v": "1"}
    assert [r["RegionName"] for r in a.describe_table(TableName="app")["Table"]["Replicas"]] == ["eu-west-1"]
    add(b, "us-west-2")
    assert items(c) == items(b) and [r["RegionName"] for r in a.describe_table(TableName="app")["Table"]["Replicas"]] == ["eu-west-1", "us-west-2"]
    put(c, "v", v=1)
    assert get(a, "v") == get(b, "v") == {"v": "1"}
    server.stop()


def statuses_take_their_time():
    server = Server("--delay-transient-statuses", "--transient-status-ms", "60000")
    a, b = (server.client(region=region) for region in REGIONS[:2])
    create(a)
    turn(server, 61)
    add(a, "eu-west-1")
    table = a.describe_table(TableName="app")["Table"]
    assert table["TableStatus"] == "UPDATING" and [(r["RegionName"], r["ReplicaStatus"]) for r in table["Replicas"]] == [("eu-west-1", "CREATING")], table
    raises("ResourceInUseException", a.update_table, TableName="app", DeletionProtectionEnabled=True)
    raises("ResourceNotFoundException", b.put_item, TableName="app", Item={"pk": {"S": "x"}})
    turn(server, 61)
    assert [r["ReplicaStatus"] for r in a.describe_table(TableName="app")["Table"]["Replicas"]] == ["ACTIVE"]
    put(b, "x", v=1)
    assert get(a, "x") == {"v": "1"}
    server.stop()


def scaling_is_kept_and_legacy_tables_are_gone():
    server = Server()
    a, b = (server.client(region=region) for region in REGIONS[:2])
    a.create_table(TableName="app", ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
                   AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}])
    raises("ResourceNotFoundException", a.describe_table_replica_auto_scaling, TableName="app")
    said = raises("ValidationException", a.update_table, TableName="app", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    assert said == "Table write capacity should either be Pay-Per-Request or AutoScaled.", said
    scale(server.client(service="application-autoscaling"))
    add(a, "eu-west-1")
    b.update_table_replica_auto_scaling(TableName="app", ProvisionedWriteCapacityAutoScalingUpdate={
        "MinimumUnits": 2, "MaximumUnits": 20, "ScalingPolicyUpdate": {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 65.5}}})
    for client in (a, b):
        table = client.describe_table_replica_auto_scaling(TableName="app")["TableAutoScalingDescription"]
        for replica in table["Replicas"]:
            kept = replica["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
            assert (kept["MinimumUnits"], kept["MaximumUnits"]) == (2, 20)
            assert kept["ScalingPolicies"][0]["TargetTrackingScalingPolicyConfiguration"] == {"TargetValue": 65.5}
    assert a.list_global_tables()["GlobalTables"] == []
    raises("GlobalTableNotFoundException", a.describe_global_table, GlobalTableName="app")
    raises("GlobalTableNotFoundException", a.describe_global_table_settings, GlobalTableName="app")
    raises("GlobalTableNotFoundException", a.update_global_table_settings, GlobalTableName="app", GlobalTableBillingMode="PAY_PER_REQUEST")
    raises("GlobalTableNotFoundException", a.update_global_table, GlobalTableName="app", ReplicaUpdates=[{"Delete": {"RegionName": "eu-west-1"}}])
    raises("ValidationException", a.create_global_table, GlobalTableName="app", ReplicationGroup=[{"RegionName": "us-east-1"}])
    server.stop()


def leave(client, region):
    client.update_table(TableName="app", DisassociationProtectionEnabled=False)
    return client.update_table(TableName="app", ReplicaUpdates=[{"Disassociate": {"RegionName": region, "DisassociationMode": "WAIT_FOR_REPLICATION"}}])


def a_disassociated_replica_waits_for_replication():
    server, (a, b, c) = start(3, disk=True)
    put(a, "before", v=1)
    links(server, partitions=[["us-east-1", "eu-west-1"], ["us-east-1", "us-west-2"]])
    put(a, "from-a", v=1)
    put(b, "from-b", v=1)
    assert leave(a, "us-east-1")["TableDescription"]["TableStatus"] == "UPDATING"
    for client in (a, b):
        table = client.describe_table(TableName="app")["Table"]
        assert len(table["Replicas"]) == 2, table
    assert a.describe_table(TableName="app")["Table"]["TableStatus"] == "UPDATING"
    raises("ResourceInUseException", b.update_table, TableName="app", ReplicaUpdates=[{"Delete": {"RegionName": "us-west-2"}}])
    server.kill()  # it goes on to wait
    server.start()
    a, b, c = (server.client(region=region) for region in REGIONS)
    assert a.describe_table(TableName="app")["Table"]["TableStatus"] == "UPDATING" and get(b, "from-a") is None
    links(server, partitions=[])
    until(lambda: "Replicas" not in a.describe_table(TableName="app")["Table"], "it leaves")
    assert a.describe_table(TableName="app")["Table"]["TableStatus"] == "ACTIVE"
    everything = {"before": {"v": "1"}, "from-a": {"v": "1"}, "from-b": {"v": "1"}}
    assert items(a) == items(b) == items(c) == everything
    assert [r["RegionName"] for r in b.describe_table(TableName="app")["Table"]["Replicas"]] == ["us-west-2"]
    put(a, "alone", v=1)
    put(b, "together", v=1)
    assert get(b, "alone") is None and get(a, "together") is None and get(c, "together") == {"v": "1"}
    leave(c, "us-west-2")
    assert all("Replicas" not in x.describe_table(TableName="app")["Table"] for x in (b, c))
    a.update_table(TableName="app", StreamSpecification={"StreamEnabled": False})  # which no replica may
    a.delete_table(TableName="app")
    add(b, "us-east-1")  # a new replica of what is left
    assert items(a) == items(b)
    server.stop()


def bad_bodies_change_nothing():
    server = Server()
    for body in ({"lag_ms": -1}, {"lag_ms": "x"}, {"lag_ms": 1e12}, {"partitions": [["us-east-1"]]}, {"partitions": [["us-east-1", "us-east-1"]]},
                 {"partitions": [["us-east-1", "nowhere-1"]]}, {"partitions": ["us-east-1"]}, {"x": 1}):
        try:
            links(server, **body)
        except urllib.error.HTTPError as error:
            assert error.code == 400, (body, error.code)
        else:
            raise AssertionError(body)
    assert links(server) == {"lag_ms": 0, "partitions": [], "queues": []}
    server.stop()
    server = Server("--replication-lag-ms", "700")
    assert links(server)["lag_ms"] == 700
    server.stop()


run("global", [writes_are_everywhere_at_once, each_region_has_its_stream, lag_goes_by_the_clock, the_last_writer_wins, deleted_items_are_forgotten,
               schedules_converge, a_deleted_replica_leaves_a_backup,
               strong_consistency,
               large_tables_are_filled_over_kills, a_reset_region_leaves, statuses_take_their_time, scaling_is_kept_and_legacy_tables_are_gone,
               a_disassociated_replica_waits_for_replication, bad_bodies_change_nothing])
