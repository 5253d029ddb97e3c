#!/usr/bin/env python3
"""Writes a data file that holds one of everything this version keeps; run once for each format that is released:

    tests/e2e/make_data.py tests/e2e/data/VERSION-all.db.gz

test_server.py opens every such file with the version at hand and looks for what is written here.
"""
import gzip
import pathlib
import sqlite3
import sys

from harness import Server, key

POLICY = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"000000000000"},"Action":"dynamodb:GetItem","Resource":"*"}]}'
STREAM = "arn:aws:kinesis:us-east-1:000000000000:stream/one"
NEVER = "4102444800"  # the year 2100


def write(client):
    client.create_table(
        TableName="all", KeySchema=key("pk", "sk"), ProvisionedThroughput={"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}, DeletionProtectionEnabled=True,
        AttributeDefinitions=[{"AttributeName": a, "AttributeType": t} for a, t in (("pk", "S"), ("sk", "B"), ("g", "N"))],
        GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["n"]},
                                 "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}, Tags=[{"Key": "a", "Value": "b"}])
    client.create_table(TableName="vectors", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        VectorIndexes=[{"IndexName": "near", "VectorAttribute": {"AttributeName": "v"}, "Dimensions": 3, "DistanceFunction": "EUCLIDEAN",
                                        "Projection": {"ProjectionType": "ALL"}}])
    arn = client.describe_table(TableName="all")["Table"]["TableArn"]
    client.update_time_to_live(TableName="all", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    client.update_continuous_backups(TableName="all", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True, "RecoveryPeriodInDays": 9})
    client.update_contributor_insights(TableName="all", IndexName="by-g", ContributorInsightsAction="ENABLE")
    client.enable_kinesis_streaming_destination(TableName="all", StreamArn=STREAM)
    client.put_resource_policy(ResourceArn=arn, Policy=POLICY)
    for n in range(30):
        client.put_item(TableName="all", Item={"pk": {"S": f"p{n % 3}"}, "sk": {"B": bytes([n])}, "g": {"N": str(n % 5 - 2)}, "n": {"N": f"{n}.5E-{n}"}, "ttl": {"N": NEVER},
                                               "deep": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": n % 2 == 0}, {"SS": ["\u00e9", str(n)]}]}}}})
        client.put_item(TableName="vectors", Item={"pk": {"S": str(n)}, "v": {"L": [{"N": str(n)}, {"N": "0.25"}, {"N": "-1"}]}})
    client.transact_write_items(TransactItems=[{"Delete": {"TableName": "all", "Key": {"pk": {"S": "p0"}, "sk": {"B": b"\0"}}}}], ClientRequestToken="token")


def main():
    server = Server(disk=True)
    write(server.client())
    server.process.terminate()
    assert server.process.wait(120) == 0
    path = pathlib.Path(server.folder, "data.db")
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pathlib.Path(sys.argv[1]).write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
