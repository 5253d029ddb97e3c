"""Backups and recovery through boto3: create, describe, list, effect; the clock; waiting statuses; kill -9 at work; writers beside."""
import datetime
import json
import threading
import urllib.request

from boto3.dynamodb.types import TypeSerializer

from harness import DATABASE, Server, create_app, key, raises, run, until

DAY = 86400
BIG = 4000  # items: several pieces of a copy, more than an operation does at once


def turn(server, **turn):
    request = urllib.request.Request(f"{server.url}/_dynalith/clock", data=json.dumps(turn).encode())
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def control(server, method, path, **body):
    request = urllib.request.Request(f"{server.url}/_dynalith/{path}", method=method, data=json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.load(reply)


def item(i, **more):
    plain = {"PK": f"p{i % 50}", "SK": f"{i:06}", "GSI1PK": f"g{i % 7}", "GSI1SK": "x", "at": f"{i % 100:03}", **more}
    return {name: TypeSerializer().serialize(value) for name, value in plain.items()}


def fill(client, name, n, **more):
    for start in range(0, n, 25):
        batch = [{"PutRequest": {"Item": item(i, **more)}} for i in range(start, min(start + 25, n))]
        assert not client.batch_write_item(RequestItems={name: batch})["UnprocessedItems"]


def items(client, name, **more):
    pages = client.get_paginator("scan").paginate(TableName=name, ConsistentRead=True, **more)
    return sorted((i for page in pages for i in page["Items"]), key=str)


def indexed(client, name):
    return sorted((i for g in range(7) for page in client.get_paginator("query").paginate(
        TableName=name, IndexName="GSI1", KeyConditionExpression="GSI1PK = :g", ExpressionAttributeValues={":g": {"S": f"g{g}"}}) for i in page["Items"]), key=str)


def back_up(client, name, label="label"):
    return client.create_backup(TableName=name, BackupName=label)["BackupDetails"]["BackupArn"]


def is_available(client, arn):
    return client.describe_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE"


def is_active(client, name):
    return client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE"


def recover(client, name, **more):
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, **more})


def a_backup_from_creation_to_deletion():
    server = Server()
    client = server.client()
    create_app(client)
    fill(client, "app", 60)
    arn = back_up(client, "app")
    then = items(client, "app")
    client.delete_item(TableName="app", Key={"PK": {"S": "p0"}, "SK": {"S": "000000"}})
    fill(client, "app", 80, late=1)
    details = client.describe_backup(BackupArn=arn)["BackupDescription"]
    assert details["BackupDetails"]["BackupStatus"] == "AVAILABLE" and details["SourceTableDetails"]["ItemCount"] == 60
    assert {i["IndexName"] for i in details["SourceTableFeatureDetails"]["GlobalSecondaryIndexes"]} == {"GSI1", "GSI2", "GSI3"}
    assert [b["BackupArn"] for b in client.list_backups(TableName="app")["BackupSummaries"]] == [arn]
    made = client.restore_table_from_backup(TargetTableName="back", BackupArn=arn)["TableDescription"]
    assert len(made["TableId"]) == 36 and made["TableId"] == client.describe_table(TableName="back")["Table"]["TableId"], made
    client.get_waiter("table_exists").wait(TableName="back", WaiterConfig={"Delay": 1})
    assert items(client, "back") == then and indexed(client, "back") == sorted(then, key=str)
    assert "RestoreSummary" not in client.describe_table(TableName="back")["Table"]
    client.delete_table(TableName="app")
    assert is_available(client, arn)
    client.restore_table_from_backup(TargetTableName="app", BackupArn=arn)
    assert items(client, "app") == then
    assert client.delete_backup(BackupArn=arn)["BackupDescription"]["BackupDetails"]["BackupStatus"] == "DELETED"
    raises("BackupNotFoundException", client.describe_backup, BackupArn=arn)
    raises("BackupNotFoundException", client.restore_table_from_backup, TargetTableName="more", BackupArn=arn)
    server.stop()


def lists_by_pages_and_filters():
    server = Server()
    client = server.client()
    turn(server, set="2030-01-01T00:00:00Z", freeze=True)
    for name in "one", "two":
        client.create_table(TableName=name + "-t", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
    arns = []
    for i in range(25):
        arns.append(back_up(client, ("one", "two")[i % 2] + "-t", f"label-{i}"))
        turn(server, advance=1)
    found, more = [], {}
    while True:
        page = client.list_backups(Limit=4, **more)
        found += [b["BackupArn"] for b in page["BackupSummaries"]]
        if "LastEvaluatedBackupArn" not in page:
            break
        more = {"ExclusiveStartBackupArn": page["LastEvaluatedBackupArn"]}
    assert found == arns
    assert [b["BackupArn"] for b in client.list_backups(TableName="one-t")["BackupSummaries"]] == arns[::2]
    start = datetime.datetime(2030, 1, 1, 0, 0, 10, tzinfo=datetime.timezone.utc)
    within = client.list_backups(TimeRangeLowerBound=start, TimeRangeUpperBound=start + datetime.timedelta(seconds=5))["BackupSummaries"]
    assert [b["BackupArn"] for b in within] == arns[10:15]
    client.delete_backup(BackupArn=arns[3])
    after = client.list_backups(ExclusiveStartBackupArn=arns[3], Limit=1)["BackupSummaries"]
    assert [b["BackupArn"] for b in after] == [arns[4]]
    assert not client.list_backups(BackupType="SYSTEM")["BackupSummaries"] and not server.client(key="222222222222").list_backups()["BackupSummaries"]
    server.stop()


def recovery_to_each_second():
    server = Server("--ttl-period", "0")
    client = server.client()
    turn(server, set="2030-01-01T00:00:00Z", freeze=True)
    create_app(client)
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    recover(client, "app", RecoveryPeriodInDays=2)
    start = datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)
    states = []
    for second in range(12):
        fill(client, "app", 30 + second, second=second, ttl=int(start.timestamp()) + 3600)
        client.delete_item(TableName="app", Key={"PK": {"S": f"p{second}"}, "SK": {"S": f"{second:06}"}})
        states.append(items(client, "app"))
        turn(server, advance=1)
    turn(server, advance=7200)  # time to live deletes all
    assert items(client, "app") == []
    window = client.describe_continuous_backups(TableName="app")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert window["EarliestRestorableDateTime"] == start and window["LatestRestorableDateTime"] == start + datetime.timedelta(seconds=7212 - 300)
    for second in 0, 5, 11:
        name = f"second-{second}"
        answer = client.restore_table_to_point_in_time(SourceTableName="app", TargetTableName=name, RestoreDateTime=start + datetime.timedelta(seconds=second))
        summary = answer["TableDescription"]["RestoreSummary"]
        assert summary["RestoreInProgress"] and summary["RestoreDateTime"] == start + datetime.timedelta(seconds=second)
        assert items(client, name) == states[second] and indexed(client, name) == states[second]
        assert client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED"
    for wrong in start - datetime.timedelta(seconds=1), start + datetime.timedelta(seconds=7212):
        message = raises("InvalidRestoreTimeException", client.restore_table_to_point_in_time, SourceTableName="app", TargetTableName="none", RestoreDateTime=wrong)
        assert "'2030-01-01T00:00:00Z' and LatestRestorableDateTime '2030-01-01T01:55:12Z'" in message, message
    turn(server, advance=3 * DAY)  # the period is over: nothing of it is kept
    raises("InvalidRestoreTimeException", client.restore_table_to_point_in_time, SourceTableName="app", TargetTableName="none", RestoreDateTime=start)
    client.restore_table_to_point_in_time(SourceTableName="app", TargetTableName="latest", UseLatestRestorableTime=True)
    assert items(client, "latest") == []

    # a deleted table with recovery on leaves a backup for 35 days
    fill(client, "app", 10)
    client.delete_table(TableName="app")
    system = client.list_backups(TableName="app", BackupType="SYSTEM")["BackupSummaries"][0]
    assert system["BackupExpiryDateTime"] - system["BackupCreationDateTime"] == datetime.timedelta(days=35)
    raises("ValidationException", client.delete_backup, BackupArn=system["BackupArn"])
    client.restore_table_from_backup(TargetTableName="app", BackupArn=system["BackupArn"])
    assert len(items(client, "app")) == 10
    turn(server, advance=36 * DAY)
    raises("BackupNotFoundException", client.describe_backup, BackupArn=system["BackupArn"])
    assert not client.list_backups(BackupType="ALL")["BackupSummaries"]
    server.stop()


def statuses_that_take_their_time():
    for flags, seconds in (("--delay-transient-statuses",), 60), (("--timing", "aws"), 300):
        server = Server("--ttl-period", "0", *flags)
        client = server.client()
        turn(server, set="2030-01-01T00:00:00Z", freeze=True)
        client.create_table(TableName="slow", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
        raises("TableNotFoundException", client.create_backup, TableName="slow", BackupName="label")
        turn(server, advance=seconds)
        client.put_item(TableName="slow", Item={"pk": {"S": "a"}})
        arn = back_up(client, "slow")
        turn(server, advance=seconds)
        assert is_available(client, arn)
        client.restore_table_from_backup(TargetTableName="copy", BackupArn=arn)
        table = client.describe_table(TableName="copy")["Table"]
        assert table["TableStatus"] == "CREATING" and table["RestoreSummary"]["SourceBackupArn"] == arn
        assert raises("BackupInUseException", client.delete_backup, BackupArn=arn) == f"Backup is being used to restore table: {arn}"
        raises("BackupInUseException", client.restore_table_from_backup, TargetTableName="other", BackupArn=arn)
        assert raises("TableInUseException", client.restore_table_from_backup, TargetTableName="copy", BackupArn=arn).startswith("Table: copy is already being restored")
        raises("ResourceInUseException", client.delete_table, TableName="copy")
        raises("ResourceInUseException", client.create_table, TableName="copy", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"),
               AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}])
        raises("TableNotFoundException", client.describe_continuous_backups, TableName="copy")
        turn(server, advance=seconds)
        assert is_active(client, "copy") and "RestoreSummary" not in client.describe_table(TableName="copy")["Table"]
        assert len(items(client, "copy")) == 1
        client.delete_backup(BackupArn=arn)
        server.stop()


def a_backup_beside_writers():
    """The writer puts the number of its round into all items of a partition, by one transaction: a backup sees whole rounds."""
    server = Server(disk=True)
    client = server.client()
    create_app(client)
    fill(client, "app", BIG)
    group = [{"PK": {"S": f"p{i}"}, "SK": {"S": "round"}} for i in range(20)]
    ends = threading.Event()
    rounds = [0]

    def write():
        while not ends.is_set():
            rounds[0] += 1
            client.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": {**k, "n": {"N": str(rounds[0])}}}} for k in group])

    thread = threading.Thread(target=write)
    thread.start()
    until(lambda: rounds[0] > 3, "the writer writes")
    arn = back_up(client, "app")
    until(lambda: is_available(client, arn), "the backup is done")
    recover(client, "app")
    count = rounds[0]
    until(lambda: rounds[0] > count + 3, "the writer goes on")
    client.restore_table_to_point_in_time(SourceTableName="app", TargetTableName="moment", UseLatestRestorableTime=True)
    client.restore_table_from_backup(TargetTableName="back", BackupArn=arn)
    until(lambda: is_active(client, "moment") and is_active(client, "back"), "the restores are done")
    ends.set()
    thread.join()
    for name in "moment", "back":
        found = [i["n"]["N"] for i in items(client, name) if i["SK"]["S"] == "round"]
        assert len(found) == 20 and len(set(found)) == 1 and int(found[0]) <= rounds[0], found
        assert len(items(client, name)) == BIG + 20 and len(indexed(client, name)) == BIG
    server.stop()


def kills_at_work():
    """SIGKILL while a backup and restores go on: afterwards they are done, or go on to their end; nothing half is ACTIVE."""
    server = Server(disk=True)
    client = server.client()
    create_app(client)
    fill(client, "app", BIG)
    recover(client, "app")
    then = items(client, "app")
    arn = back_up(client, "app", "first")
    until(lambda: is_available(client, arn), "the backup is done")
    for kill in range(2 if DATABASE else 6):  # of a server that died, the lease must run out first
        made = []

        def work():
            try:
                client.restore_table_from_backup(TargetTableName=f"back-{kill}", BackupArn=arn)
                made.append(f"back-{kill}")
                back_up(client, "app", f"label-{kill}")
            except Exception:  # the server is gone
                pass

        thread = threading.Thread(target=work)
        thread.start()
        until(lambda: f"back-{kill}" in client.list_tables()["TableNames"], "the restore is under way")
        server.kill()
        thread.join()
        server.start()
        client = server.client()
        for name in [n for n in client.list_tables()["TableNames"] if n.startswith("back-")]:
            until(lambda: is_active(client, name), "the restore goes on to its end")
            assert items(client, name) == then and len(indexed(client, name)) == BIG
            client.delete_table(TableName=name)
        for backup in client.list_backups()["BackupSummaries"]:
            until(lambda: is_available(client, backup["BackupArn"]), "the backup goes on to its end")
            assert client.describe_backup(BackupArn=backup["BackupArn"])["BackupDescription"]["SourceTableDetails"]["ItemCount"] == BIG
        assert items(client, "app") == then
    server.stop()


def backups_belong_to_their_namespace():
    server = Server()
    client = server.client()
    create_app(client)
    fill(client, "app", 5)
    arn = back_up(client, "app")
    control(server, "PUT", "snapshots/s")
    client.delete_backup(BackupArn=arn)
    control(server, "POST", "snapshots/s/restore")
    client.restore_table_from_backup(TargetTableName="back", BackupArn=arn)
    assert len(items(client, "back")) == 5
    other = server.client(region="eu-west-1")
    raises("BackupNotFoundException", other.describe_backup, BackupArn=arn)
    raises("ValidationException", other.restore_table_from_backup, TargetTableName="far", BackupArn=arn)
    other.restore_table_from_backup(TargetTableName="far", BackupArn=arn, SSESpecificationOverride={"Enabled": True, "SSEType": "KMS"})
    assert len(items(other, "far")) == 5
    turn(server, set="2030-01-01T00:00:00Z", freeze=True)
    recover(client, "app")
    turn(server, advance=3600)
    control(server, "POST", "reset", keep="tables")  # nobody can return to what was before
    window = client.describe_continuous_backups(TableName="app")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert window["EarliestRestorableDateTime"] == datetime.datetime(2030, 1, 1, 1, tzinfo=datetime.timezone.utc)
    assert not client.list_backups(BackupType="ALL")["BackupSummaries"]
    back_up(client, "app")
    control(server, "POST", "reset")
    assert not client.list_backups(BackupType="ALL")["BackupSummaries"]
    server.stop()


if __name__ == "__main__":
    run("backups", [a_backup_from_creation_to_deletion, lists_by_pages_and_filters, recovery_to_each_second, statuses_that_take_their_time,
                    a_backup_beside_writers, kills_at_work, backups_belong_to_their_namespace])
