"""What the SDKs' waiters, Terraform's and CloudFormation's resources of DynamoDB read back: one test for each attribute, which a restart keeps.

The attributes are the arguments of aws_dynamodb_table and its relatives in Terraform's provider, and the properties of AWS::DynamoDB::Table and GlobalTable.
"""
import json
import pathlib

from harness import Server, key, raises, run

WAIT = {"Delay": 0, "MaxAttempts": 100000}
HASH = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": key("pk")}
ONE = {**HASH, "BillingMode": "PAY_PER_REQUEST"}
ACCOUNT = "000000000000"

server = Server("--s3", "s3", "--log-level", "error", disk=True)
folder = pathlib.Path(server.folder, "s3", "bucket")
folder.mkdir(parents=True)
kept = []  # what is still so after a restart


def client(region="us-east-1"):
    return server.client(region=region)


def table(name, region="us-east-1"):
    return client(region).describe_table(TableName=name)["Table"]


def create(name, **more):
    client().create_table(**{"TableName": name, **(more if "KeySchema" in more else {**ONE, **more})})
    client().get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAIT)
    return table(name)["TableArn"]


def update(name, **more):
    client().update_table(TableName=name, **more)
    client().get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAIT)


def reads(read, wanted):
    """The reading is what is wanted, now and after the restart."""
    assert read() == wanted, (read(), wanted)
    kept[:] = [(r, w) for r, w in kept if r.__qualname__ != read.__qualname__]
    kept.append((read, wanted))


def waits_for_tables():
    create("waits")
    client().get_waiter("table_exists").wait(TableName="waits", WaiterConfig=WAIT)
    client().delete_table(TableName="waits")
    client().get_waiter("table_not_exists").wait(TableName="waits", WaiterConfig=WAIT)
    raises("ResourceNotFoundException", client().describe_table, TableName="waits")


def billing_mode():
    create("billing")
    assert table("billing")["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    update("billing", BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 4})
    throughput = lambda: {k: table("billing")["ProvisionedThroughput"][k] for k in ("ReadCapacityUnits", "WriteCapacityUnits")}
    assert throughput() == {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    update("billing", BillingMode="PAY_PER_REQUEST")
    reads(lambda: (table("billing")["BillingModeSummary"]["BillingMode"], throughput()), ("PAY_PER_REQUEST", {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}))


def keys_and_attributes():
    names = [{"AttributeName": n, "AttributeType": t} for n, t in (("a", "S"), ("b", "N"), ("c", "B"))]
    local = {"IndexName": "by-c", "KeySchema": key("a", "c"), "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]}}
    create("keys", KeySchema=key("a", "b"), AttributeDefinitions=names, BillingMode="PAY_PER_REQUEST", LocalSecondaryIndexes=[local])
    reads(lambda: (table("keys")["KeySchema"], sorted(d["AttributeName"] + d["AttributeType"] for d in table("keys")["AttributeDefinitions"]),
                   {k: table("keys")["LocalSecondaryIndexes"][0][k] for k in local}), (key("a", "b"), ["aS", "bN", "cB"], local))


def global_secondary_index():
    create("gsi")
    index = {"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "KEYS_ONLY"}}
    update("gsi", AttributeDefinitions=HASH["AttributeDefinitions"] + [{"AttributeName": "g", "AttributeType": "N"}],
           GlobalSecondaryIndexUpdates=[{"Create": {**index, "OnDemandThroughput": {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 6}}}])
    read = lambda: [{k: i[k] for k in (*index, "IndexStatus", "OnDemandThroughput")} for i in table("gsi").get("GlobalSecondaryIndexes", [])]
    made = {**index, "IndexStatus": "ACTIVE", "OnDemandThroughput": {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 6}}
    reads(read, [made])
    create("no-gsi")
    update("no-gsi", AttributeDefinitions=HASH["AttributeDefinitions"] + [{"AttributeName": "g", "AttributeType": "N"}],
           GlobalSecondaryIndexUpdates=[{"Create": index}])
    update("no-gsi", GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by-g"}}])
    assert "GlobalSecondaryIndexes" not in table("no-gsi")


def table_class():
    create("class", TableClass="STANDARD_INFREQUENT_ACCESS")
    assert table("class")["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    update("class", TableClass="STANDARD")
    reads(lambda: table("class")["TableClassSummary"]["TableClass"], "STANDARD")


def deletion_protection():
    create("protected", DeletionProtectionEnabled=True)
    reads(lambda: table("protected")["DeletionProtectionEnabled"], True)
    raises("ValidationException", client().delete_table, TableName="protected")
    create("unprotected", DeletionProtectionEnabled=True)
    update("unprotected", DeletionProtectionEnabled=False)
    assert table("unprotected")["DeletionProtectionEnabled"] is False
    client().delete_table(TableName="unprotected")


def server_side_encryption():
    create("sse", SSESpecification={"Enabled": True, "SSEType": "KMS"})
    assert (table("sse")["SSEDescription"]["Status"], table("sse")["SSEDescription"]["SSEType"]) == ("ENABLED", "KMS")
    update("sse", SSESpecification={"Enabled": False})
    reads(lambda: table("sse").get("SSEDescription", {}).get("Status", "DISABLED"), "DISABLED")


def stream():
    create("stream", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    first = table("stream")
    assert first["LatestStreamArn"].endswith("/stream/" + first["LatestStreamLabel"])
    reads(lambda: table("stream")["StreamSpecification"], {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})


def tags():
    arn = create("tags", Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    client().tag_resource(ResourceArn=arn, Tags=[{"Key": "b", "Value": "3"}, {"Key": "c", "Value": "4"}])
    client().untag_resource(ResourceArn=arn, TagKeys=["a"])
    reads(lambda: {t["Key"]: t["Value"] for t in client().list_tags_of_resource(ResourceArn=arn)["Tags"]}, {"b": "3", "c": "4"})


def time_to_live():
    create("ttl")
    client().update_time_to_live(TableName="ttl", TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"})
    reads(lambda: client().describe_time_to_live(TableName="ttl")["TimeToLiveDescription"], {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"})


def point_in_time_recovery():
    create("recovery")
    client().update_continuous_backups(TableName="recovery", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 7})
    read = lambda: client().describe_continuous_backups(TableName="recovery")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert read()["EarliestRestorableDateTime"] <= read()["LatestRestorableDateTime"]
    reads(lambda: (read()["PointInTimeRecoveryStatus"], read()["RecoveryPeriodInDays"]), ("ENABLED", 7))


def restore_source():
    arn = create("origin", Tags=[{"Key": "a", "Value": "1"}])
    client().put_item(TableName="origin", Item={"pk": {"S": "a"}})
    client().update_continuous_backups(TableName="origin", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    client().put_item(TableName="origin", Item={"pk": {"S": "b"}})
    made = client().restore_table_to_point_in_time(SourceTableName="origin", TargetTableName="restored", UseLatestRestorableTime=True)["TableDescription"]
    assert (made["RestoreSummary"]["SourceTableArn"], "SourceBackupArn" in made["RestoreSummary"]) == (arn, False)
    backup = client().create_backup(TableName="origin", BackupName="one")["BackupDetails"]["BackupArn"]
    made = client().restore_table_from_backup(TargetTableName="again", BackupArn=backup)["TableDescription"]
    assert (made["RestoreSummary"]["SourceTableArn"], made["RestoreSummary"]["SourceBackupArn"]) == (arn, backup)
    for name in "restored", "again":
        client().get_waiter("table_exists").wait(TableName=name, WaiterConfig=WAIT)
    reads(lambda: sorted(i["pk"]["S"] for i in client().scan(TableName="again")["Items"]), ["a", "b"])


def import_table():
    (folder / "in.csv").write_text("pk;n\na;1\nb;2\n")
    parameters = {"TableName": "imported", **ONE, "OnDemandThroughput": {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8}}
    made = client().import_table(S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "in.csv"}, InputFormat="CSV", InputFormatOptions={"Csv": {"Delimiter": ";"}},
                                 TableCreationParameters=parameters, ClientToken="one")["ImportTableDescription"]
    client().get_waiter("import_completed").wait(ImportArn=made["ImportArn"], WaiterConfig=WAIT)
    described = lambda: client().describe_import(ImportArn=made["ImportArn"])["ImportTableDescription"]
    reads(lambda: (described()["S3BucketSource"]["S3Bucket"], described()["InputFormat"], described()["InputFormatOptions"]["Csv"]["Delimiter"],
                   described()["TableArn"], described()["ImportedItemCount"], table("imported")["OnDemandThroughput"]["MaxReadRequestUnits"]),
          ("bucket", "CSV", ";", made["TableArn"], 2, 7))
    assert [i["ImportArn"] for i in client().list_imports(TableArn=made["TableArn"])["ImportSummaryList"]] == [made["ImportArn"]]


def table_export():
    arn = create("exported")
    client().update_continuous_backups(TableName="exported", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    made = client().export_table_to_point_in_time(TableArn=arn, S3Bucket="bucket", S3Prefix="out", ExportFormat="ION", S3SseAlgorithm="AES256")["ExportDescription"]
    client().get_waiter("export_completed").wait(ExportArn=made["ExportArn"], WaiterConfig=WAIT)
    described = lambda: client().describe_export(ExportArn=made["ExportArn"])["ExportDescription"]
    reads(lambda: tuple(described()[k] for k in ("ExportStatus", "S3Bucket", "S3Prefix", "ExportFormat", "S3SseAlgorithm", "TableArn", "ItemCount")),
          ("COMPLETED", "bucket", "out", "ION", "AES256", arn, 0))


def on_demand_throughput():
    create("maxima", OnDemandThroughput={"MaxReadRequestUnits": 10, "MaxWriteRequestUnits": 20})
    update("maxima", OnDemandThroughput={"MaxReadRequestUnits": 30, "MaxWriteRequestUnits": 40})
    reads(lambda: table("maxima")["OnDemandThroughput"], {"MaxReadRequestUnits": 30, "MaxWriteRequestUnits": 40})


def warm_throughput():
    create("warm", WarmThroughput={"ReadUnitsPerSecond": 13000, "WriteUnitsPerSecond": 5000})
    update("warm", WarmThroughput={"ReadUnitsPerSecond": 14000, "WriteUnitsPerSecond": 6000})
    reads(lambda: table("warm")["WarmThroughput"], {"ReadUnitsPerSecond": 14000, "WriteUnitsPerSecond": 6000, "Status": "ACTIVE"})


def replicas():
    create("global")
    update("global", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1", "TableClassOverride": "STANDARD_INFREQUENT_ACCESS"}}])
    client("eu-west-1").get_waiter("table_exists").wait(TableName="global", WaiterConfig=WAIT)
    client("eu-west-1").update_table(TableName="global", DeletionProtectionEnabled=True)
    client("eu-west-1").update_continuous_backups(TableName="global", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    client("eu-west-1").tag_resource(ResourceArn=table("global", "eu-west-1")["TableArn"], Tags=[{"Key": "at", "Value": "eu"}])
    replica = lambda: [(r["RegionName"], r["ReplicaStatus"], r["ReplicaTableClassSummary"]["TableClass"]) for r in table("global")["Replicas"]
                       if r["RegionName"] == "eu-west-1"]
    there = lambda: table("global", "eu-west-1")
    reads(lambda: (replica(), there()["DeletionProtectionEnabled"], table("global")["DeletionProtectionEnabled"], table("global")["GlobalTableVersion"]),
          ([("eu-west-1", "ACTIVE", "STANDARD_INFREQUENT_ACCESS")], True, False, "2019.11.21"))
    recovery = lambda region: client(region).describe_continuous_backups(TableName="global")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert (recovery("eu-west-1")["PointInTimeRecoveryStatus"], recovery("us-east-1")["PointInTimeRecoveryStatus"]) == ("ENABLED", "DISABLED")
    assert client("eu-west-1").list_tags_of_resource(ResourceArn=there()["TableArn"])["Tags"] == [{"Key": "at", "Value": "eu"}]


def consistency_of_replicas():
    create("strong")
    update("strong", MultiRegionConsistency="STRONG", ReplicaUpdates=[{"Create": {"RegionName": "us-east-2"}}],
           GlobalTableWitnessUpdates=[{"Create": {"RegionName": "us-west-2"}}])
    reads(lambda: (table("strong")["MultiRegionConsistency"], [w["RegionName"] for w in table("strong")["GlobalTableWitnesses"]]), ("STRONG", ["us-west-2"]))


def contributor_insights():
    create("insights")
    client().update_contributor_insights(TableName="insights", ContributorInsightsAction="ENABLE", ContributorInsightsMode="THROTTLED_KEYS")
    client().get_waiter("contributor_insights_enabled").wait(TableName="insights", WaiterConfig=WAIT)
    read = lambda: client().describe_contributor_insights(TableName="insights")
    reads(lambda: (read()["ContributorInsightsStatus"], read()["ContributorInsightsMode"]), ("ENABLED", "THROTTLED_KEYS"))


def kinesis_streaming_destination():
    create("kinesis")
    arn = f"arn:aws:kinesis:us-east-1:{ACCOUNT}:stream/one"
    client().enable_kinesis_streaming_destination(TableName="kinesis", StreamArn=arn, EnableKinesisStreamingConfiguration={
        "ApproximateCreationDateTimePrecision": "MICROSECOND"})
    client().get_waiter("kinesis_streaming_destination_active").wait(TableName="kinesis", WaiterConfig=WAIT)
    reads(lambda: client().describe_kinesis_streaming_destination(TableName="kinesis")["KinesisDataStreamDestinations"],
          [{"StreamArn": arn, "DestinationStatus": "ACTIVE", "ApproximateCreationDateTimePrecision": "MICROSECOND"}])


def bulk_operation():
    create("bulk")
    (folder / "bulk.json").write_text('{"Item":{"pk":{"S":"a"}}}\n')
    made = client().start_bulk_put_items(TableName="bulk", InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "bulk.json", "InputFormat": "DYNAMODB_JSON"},
                                         OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "done", "OutputType": ["ERROR"]})["BulkOperationDescription"]
    client().get_waiter("bulk_operation_completed").wait(BulkOperationArn=made["BulkOperationArn"], WaiterConfig=WAIT)
    reads(lambda: client().describe_bulk_operation(BulkOperationArn=made["BulkOperationArn"])["BulkOperationDescription"]["ProcessedItemCount"], 1)


def resource_policy():
    arn = create("policy")
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "dynamodb:*", "Resource": arn}]}
    revision = client().put_resource_policy(ResourceArn=arn, Policy=json.dumps(policy))["RevisionId"]
    read = lambda: client().get_resource_policy(ResourceArn=arn)
    reads(lambda: (json.loads(read()["Policy"]), read()["RevisionId"]), (policy, revision))


def restarts():
    server.kill()
    server.start()
    for read, wanted in kept:
        assert read() == wanted, (read.__qualname__, read(), wanted)
    assert len(kept) >= 20, len(kept)


def every_waiter_is_waited_for():
    text = pathlib.Path(__file__).read_text()
    assert [n for n in client().waiter_names if f'"{n}"' not in text] == []


run("resources", [waits_for_tables, billing_mode, keys_and_attributes, global_secondary_index, table_class, deletion_protection, server_side_encryption, stream, tags,
                  time_to_live, point_in_time_recovery, restore_source, import_table, table_export, on_demand_throughput, warm_throughput, replicas,
                  consistency_of_replicas, contributor_insights, kinesis_streaming_destination, bulk_operation, resource_policy, restarts, every_waiter_is_waited_for])
