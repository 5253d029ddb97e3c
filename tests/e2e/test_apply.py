"""dynalith apply and --init: tables and items from what people have."""
import contextlib
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

from harness import BINARY, Server, run

KEY = {"AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}
TEMPLATE = """
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Stage: {Type: String, Default: dev}
Conditions:
  IsProd: !Equals [!Ref Stage, prod]
Mappings:
  Views: {dev: {view: KEYS_ONLY}, prod: {view: NEW_IMAGE}}
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub "orders-${Stage}"
      BillingMode: !If [IsProd, PROVISIONED, PAY_PER_REQUEST]
      ProvisionedThroughput: !If [IsProd, {ReadCapacityUnits: "5", WriteCapacityUnits: 7}, !Ref AWS::NoValue]
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - {AttributeName: GSI1PK, AttributeType: N}
      KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: SK, KeyType: RANGE}]
      GlobalSecondaryIndexes:
        - IndexName: !Join ["-", [by, number]]
          KeySchema: [{AttributeName: GSI1PK, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ProvisionedThroughput: !If [IsProd, {ReadCapacityUnits: 1, WriteCapacityUnits: 1}, !Ref "AWS::NoValue"]
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      StreamSpecification: {StreamViewType: !FindInMap [Views, !Ref Stage, view]}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: "true"}
      Tags: [{Key: stage, Value: !Ref Stage}]
  OnlyProd:
    Type: AWS::DynamoDB::Table
    Condition: IsProd
    Properties: {TableName: never}
  Simple:
    Type: AWS::Serverless::SimpleTable
  Function:
    Type: AWS::Lambda::Function
    Properties: {Handler: !GetAtt Orders.Arn}
"""


def apply(server, *words):
    """Status, what it printed, and what it complained of."""
    done = subprocess.run([BINARY, "apply", "--endpoint", f"http://127.0.0.1:{server.port}", *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "AWS_ACCESS_KEY_ID": "dynalith", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"})
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def folder(**files):
    path = pathlib.Path(tempfile.mkdtemp())
    for name, text in files.items():
        (path / name.replace("__", ".")).write_bytes(text if isinstance(text, bytes) else (text if isinstance(text, str) else json.dumps(text)).encode())
    return path


def items(client, table):
    return sorted(client.scan(TableName=table)["Items"], key=repr)


def templates():
    server = Server()
    client = server.client()
    path = folder(t__yaml=TEMPLATE)
    assert apply(server, path / "t.yaml") == (0, "0 items, 2 tables made", "")
    assert client.list_tables()["TableNames"] == ["Simple", "orders-dev"]
    table = client.describe_table(TableName="orders-dev")["Table"]
    assert table["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST" and table["StreamSpecification"]["StreamViewType"] == "KEYS_ONLY", table
    assert [i["IndexName"] for i in table["GlobalSecondaryIndexes"]] == ["by-number"]
    assert client.describe_time_to_live(TableName="orders-dev")["TimeToLiveDescription"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}
    recovery = client.describe_continuous_backups(TableName="orders-dev")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
    assert client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "stage", "Value": "dev"}]
    assert apply(server, path / "t.yaml") == (0, "0 items, 2 tables were there already and stay as they are", "")
    status, _, problem = apply(server, path / "t.yaml", "--parameter", "Stage=prod")
    assert status == 1 and "t.yaml:30: CreateTable never: " in problem and client.list_tables()["TableNames"] == ["Simple", "orders-dev"], problem
    (path / "t.yaml").write_text(TEMPLATE.replace("TableName: never", "KeySchema: [{AttributeName: id, KeyType: HASH}]\n      BillingMode: PAY_PER_REQUEST\n"
                                                  "      AttributeDefinitions: [{AttributeName: id, AttributeType: S}]")
                                 .replace("Properties: {KeySchema", "Properties:\n      KeySchema").replace("]}\n  Simple", "]\n  Simple"))
    status, said, problem = apply(server, path / "t.yaml", "--parameter", "Stage=prod")
    assert (status, said) == (0, "0 items, 2 tables made, 1 tables were there already and stay as they are"), (said, problem)
    table = client.describe_table(TableName="orders-prod")["Table"]
    assert table["ProvisionedThroughput"]["WriteCapacityUnits"] == 7 and table["StreamSpecification"]["StreamViewType"] == "NEW_IMAGE"
    broken = folder(a__yaml="Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref Unknown}}}", b__yaml="a: 1\nb: [1\n", c__yaml="a: 1",
                    d__yaml="a: &x [*x]")
    assert "a.yaml:1: Resources.T: cannot resolve Unknown" in apply(server, broken / "a.yaml")[2]
    assert "b.yaml:3: " in apply(server, broken / "b.yaml")[2]
    assert "neither tables nor items" in apply(server, broken / "c.yaml")[2]
    assert "nested too deeply" in apply(server, broken / "d.yaml")[2]
    client.close()
    server.stop()


SETTINGS = """
Resources:
  Stream: {Type: AWS::Kinesis::Stream, Properties: {Name: changes, ShardCount: 1}}
  Kept:
    Type: AWS::DynamoDB::GlobalTable
    Properties:
      TableName: kept
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{AttributeName: pk, AttributeType: S}]
      KeySchema: [{AttributeName: pk, KeyType: HASH}]
      GlobalSecondaryIndexes: [{IndexName: byp, KeySchema: [{AttributeName: pk, KeyType: HASH}], Projection: {ProjectionType: ALL}}]
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}
      WriteOnDemandThroughputSettings: {MaxWriteRequestUnits: 9}
      Replicas:
        - Region: us-east-1
          PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 7}
          ContributorInsightsSpecification: {Enabled: true}
          GlobalSecondaryIndexes: [{IndexName: byp, ContributorInsightsSpecification: {Enabled: true}}]
          KinesisStreamSpecification: {StreamArn: !GetAtt Stream.Arn, ApproximateCreationDateTimePrecision: MICROSECOND}
          ResourcePolicy: {PolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Principal: {AWS: "222222222222"}, Action: "dynamodb:GetItem",
            Resource: !Sub "arn:aws:dynamodb:us-east-1:000000000000:table/kept"}]}}
          Tags: [{Key: where, Value: here}]
          DeletionProtectionEnabled: true
        - Region: eu-west-1
          PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
          TableClass: STANDARD_INFREQUENT_ACCESS
          Tags: [{Key: where, Value: there}]
          DeletionProtectionEnabled: true
"""


def settings():
    """What tables and replicas have is kept, and shown by Describe."""
    server = Server()
    here = server.client()
    there = server.client(region="eu-west-1")
    wrong = folder(t__yaml=SETTINGS + "      Whatever: 1\n")
    status, _, problem = apply(server, wrong)
    assert status == 1 and "t.yaml:29: Resources.Kept.Properties.Whatever: not known here" in problem, problem
    assert here.list_tables()["TableNames"] == []
    later = folder(t__yaml=SETTINGS + "  Later: {Type: AWS::DynamoDB::Table, Properties: {TableName: later, Whatever: 1}}\n")
    assert apply(server, later)[0] == 1
    assert here.list_tables()["TableNames"] == [] and there.list_tables()["TableNames"] == []  # although it was made, and protected
    status, said, problem = apply(server, wrong, "--keep-going")
    assert (status, said) == (1, "0 items, 1 tables made, 1 parts passed over") and "Whatever" in problem, (said, problem)
    for client in (there, here):
        client.update_table(TableName="kept", DeletionProtectionEnabled=False)
        client.delete_table(TableName="kept")
    done = apply(server, folder(t__yaml=SETTINGS))
    assert done == (0, "0 items, 1 tables made", ""), done
    table = here.describe_table(TableName="kept")["Table"]
    assert table["DeletionProtectionEnabled"] and table["OnDemandThroughput"]["MaxWriteRequestUnits"] == 9, table
    assert [(r["RegionName"], r["ReplicaTableClassSummary"]["TableClass"]) for r in table["Replicas"] if r["RegionName"] == "eu-west-1"] == [
        ("eu-west-1", "STANDARD_INFREQUENT_ACCESS")], table["Replicas"]
    for client, days in ((here, 7), (there, 35)):
        recovery = client.describe_continuous_backups(TableName="kept")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["RecoveryPeriodInDays"] == days, recovery
        assert client.describe_table(TableName="kept")["Table"]["DeletionProtectionEnabled"]
    for index in ({}, {"IndexName": "byp"}):
        assert here.describe_contributor_insights(TableName="kept", **index)["ContributorInsightsStatus"] in ("ENABLED", "ENABLING")
    kinesis = here.describe_kinesis_streaming_destination(TableName="kept")["KinesisDataStreamDestinations"]
    assert [(k["StreamArn"], k["ApproximateCreationDateTimePrecision"]) for k in kinesis] == [
        ("arn:aws:kinesis:us-east-1:000000000000:stream/changes", "MICROSECOND")], kinesis
    assert "222222222222" in here.get_resource_policy(ResourceArn=table["TableArn"])["Policy"]
    for client, where in ((here, "here"), (there, "there")):
        arn = client.describe_table(TableName="kept")["Table"]["TableArn"]
        assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "where", "Value": where}]
    here.close()
    there.close()
    server.stop()


def parameters_of_several_files():
    """A parameter that one of them uses or has is used; one that none does is a warning, whatever the files are."""
    server = Server()
    plain = {"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": {
        "TableName": "plain", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}}}}
    staged = json.loads(json.dumps(plain).replace('"plain"', '{"Fn::Sub": "staged-${Stage}"}'))
    staged["Parameters"] = {"Stage": {"Type": "String"}, "Other": {"Type": "String", "Default": "x"}}
    path = folder(a__json=plain, b__json=staged, c__json=json.loads(json.dumps(plain).replace('"plain"', '"more"')))
    given = ("--parameter", "Stage=dev", "--parameter", "Other=y")
    assert apply(server, path, *given, "--strict", "--dry-run")[::2] == (0, "")
    assert apply(server, path / "c.json", path / "b.json", *given, "--strict") == (0, "0 items, 2 tables made", "")
    unused = (*given, "--parameter", "Stgae=dev")
    status, said, problem = apply(server, path, *unused)
    assert (status, problem) == (0, "warning: parameter Stgae: no file uses it"), (status, said, problem)
    status, said, problem = apply(server, path, *unused, "--strict")
    assert (status, problem) == (1, "dynalith: parameter Stgae: no file uses it"), (status, said, problem)
    rows = folder(plain__csv="id\na\n")
    assert apply(server, rows, *unused[4:]) == (0, "1 items", "warning: parameter Stgae: no file uses it")
    status, said, problem = apply(server, path / "a.json", *unused[4:])  # told once, by the file
    assert status == 0 and problem == f"warning: {path / 'a.json'}: parameter Stgae: the file does not use it", problem
    server.stop()


def serverless():
    server = Server()
    client = server.client()
    path = folder(serverless__yml="""
service: shop
provider: {name: aws, stage: "${opt:stage, 'test'}"}
custom: {table: "${self:service}-${self:provider.stage}"}
resources:
  - Resources:
      Table:
        Type: AWS::DynamoDB::Table
        Properties:
          TableName: ${self:custom.table}
          BillingMode: PAY_PER_REQUEST
          KeySchema: [{AttributeName: id, KeyType: HASH}]
          AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
""")
    assert apply(server, path)[:2] == (0, "0 items, 1 tables made")
    assert apply(server, path, "--parameter", "stage=live")[:2] == (0, "0 items, 1 tables made")
    assert client.list_tables()["TableNames"] == ["shop-live", "shop-test"]
    client.close()
    server.stop()


def terraform_and_workbench():
    server = Server()
    client = server.client()
    table = {"name": "terra", "billing_mode": "PROVISIONED", "read_capacity": 3, "write_capacity": 4, "hash_key": "id", "range_key": "at",
             "attribute": [{"name": "id", "type": "S"}, {"name": "at", "type": "N"}, {"name": "g", "type": "S"}, {"name": "l", "type": "S"}],
             "global_secondary_index": [{"name": "ggg", "hash_key": "g", "range_key": "", "projection_type": "INCLUDE", "non_key_attributes": ["x"],
                                         "read_capacity": 1, "write_capacity": 2}],
             "local_secondary_index": [{"name": "lll", "range_key": "l", "projection_type": "KEYS_ONLY", "non_key_attributes": None}],
             "stream_enabled": True, "stream_view_type": "OLD_IMAGE", "ttl": [{"attribute_name": "t", "enabled": True}], "tags": {"a": "b"},
             "point_in_time_recovery": [{"enabled": True}], "table_class": "STANDARD_INFREQUENT_ACCESS", "deletion_protection_enabled": True}
    item = {"table_name": "terra", "hash_key": "id", "item": json.dumps({"id": {"S": "1"}, "at": {"N": "2"}})}
    plan = {"format_version": "1.2", "planned_values": {"root_module": {
        "resources": [{"type": "aws_dynamodb_table_item", "values": item}, {"type": "aws_s3_bucket", "values": {}}],
        "child_modules": [{"resources": [{"type": "aws_dynamodb_table", "values": table}]}]}}}
    assert apply(server, folder(plan__json=plan))[:2] == (0, "1 items, 1 tables made")
    made = client.describe_table(TableName="terra")["Table"]
    assert made["ProvisionedThroughput"]["WriteCapacityUnits"] == 4 and made["DeletionProtectionEnabled"] and made["StreamSpecification"]["StreamViewType"] == "OLD_IMAGE"
    assert made["GlobalSecondaryIndexes"][0]["Projection"] == {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x"]}
    assert [k["AttributeName"] for k in made["LocalSecondaryIndexes"][0]["KeySchema"]] == ["id", "l"]
    assert client.describe_time_to_live(TableName="terra")["TimeToLiveDescription"]["AttributeName"] == "t"
    assert items(client, "terra") == [{"id": {"S": "1"}, "at": {"N": "2"}}]
    model = {"ModelName": "Shop", "ModelMetadata": {"Version": "3.0"}, "DataModel": [{
        "TableName": "bench", "KeyAttributes": {"PartitionKey": {"AttributeName": "PK", "AttributeType": "S"}, "SortKey": {"AttributeName": "SK", "AttributeType": "S"}},
        "NonKeyAttributes": [], "TableFacets": [{"FacetName": "f", "TableData": [{"PK": {"S": "f"}, "SK": {"S": "1"}}]}],
        "GlobalSecondaryIndexes": [{"IndexName": "inverted", "KeyAttributes": {"PartitionKey": {"AttributeName": "SK", "AttributeType": "S"},
                                    "SortKey": {"AttributeName": "PK", "AttributeType": "S"}}, "Projection": {"ProjectionType": "ALL"}}],
        "TableData": [{"PK": {"S": "u"}, "SK": {"S": "1"}, "n": {"N": "5"}}], "BillingMode": "PROVISIONED"}]}
    assert apply(server, folder(model__json=model))[:2] == (0, "2 items, 1 tables made, 1 warnings")
    assert len(client.query(TableName="bench", IndexName="inverted", KeyConditionExpression="SK = :s", ExpressionAttributeValues={":s": {"S": "1"}})["Items"]) == 2
    client.close()
    server.stop()


def descriptions():
    """What DescribeTable shows makes a table like it."""
    server = Server()
    client = server.client()
    client.create_table(TableName="from", BillingMode="PROVISIONED", ProvisionedThroughput={"ReadCapacityUnits": 2, "WriteCapacityUnits": 3}, **KEY,
                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    shown = client.describe_table(TableName="from")
    text = json.dumps(shown, default=str)
    client.delete_table(TableName="from")
    path = folder(a__json=text, b__json={"TableName": "own", "BillingMode": "PAY_PER_REQUEST", **KEY}, c__json=[{"TableName": "more", "BillingMode": "PAY_PER_REQUEST", **KEY}])
    assert apply(server, path)[:2] == (0, "0 items, 3 tables made")
    again = client.describe_table(TableName="from")["Table"]
    for name in "KeySchema", "AttributeDefinitions", "StreamSpecification":
        assert again[name] == shown["Table"][name]
    assert again["ProvisionedThroughput"]["WriteCapacityUnits"] == 3
    client.close()
    server.stop()


def forms_of_items():
    server = Server()
    client = server.client()
    client.create_table(TableName="tab", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"},
                        {"AttributeName": "n", "AttributeType": "N"}], KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
                        GlobalSecondaryIndexes=[{"IndexName": "byn", "KeySchema": [{"AttributeName": "n", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}])
    lines = '{"pk":"a","n":12345678901234567890.25,"l":[1,[2],{"x":null}],"b":true,"u":"\\u00e9\\n"}\r\n\n{"Item":{"pk":{"S":"b"},"bin":{"B":"AAE="}}}\n{"pk":{"S":"c"}}\n'
    cases = {
        "tab.jsonl": lines.encode(), "tab.json.gz": gzip.compress(b'[{"pk":"d"},{"pk":{"S":"e"}}]'), "tab.csv": '\ufeffpk,n,"text, quoted"\r\nf,5,"a ""b""\nc"\r\ng,,\r\n'.encode(),
        "scan.json": json.dumps({"Items": [{"pk": {"S": "h"}}], "Count": 1}).encode(), "batch.json": json.dumps({"tab": [{"PutRequest": {"Item": {"pk": {"S": "i"}}}}]}).encode(),
    }
    path = pathlib.Path(tempfile.mkdtemp())
    for name, data in cases.items():
        (path / name).write_bytes(data)
        done = apply(server, path / name, *(["--table", "tab"] if name == "scan.json" else []))
        assert done[0] == 0, (name, done)
    got = {i["pk"]["S"]: i for i in items(client, "tab")}
    assert sorted(got) == list("abcdefghi"), got
    assert got["a"] == {"pk": {"S": "a"}, "n": {"N": "12345678901234567890.25"}, "b": {"BOOL": True}, "u": {"S": "\u00e9\n"},
                        "l": {"L": [{"N": "1"}, {"L": [{"N": "2"}]}, {"M": {"x": {"NULL": True}}}]}}, got["a"]
    assert got["b"]["bin"]["B"] == b"\x00\x01" and got["g"] == {"pk": {"S": "g"}}
    assert got["f"] == {"pk": {"S": "f"}, "n": {"N": "5"}, "text, quoted": {"S": 'a "b"\nc'}}, got["f"]
    export = path / "AWSDynamoDB" / "0123"
    (export / "data").mkdir(parents=True)
    (export / "manifest-summary.json").write_text(json.dumps({"tableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/tab", "itemCount": 1}))
    (export / "manifest-files.json").write_text("{}")
    (export / "data" / "abcd.json.gz").write_bytes(gzip.compress(b'{"Item":{"pk":{"S":"z"}}}\n'))
    assert apply(server, path / "AWSDynamoDB")[:2] == (0, "1 items")
    (export / "data" / "bcde.json.gz").write_bytes(gzip.compress(b""))  # of a partition without items
    assert apply(server, path / "AWSDynamoDB")[:2] == (0, "1 items")
    (export / "data" / "abcd.json.gz").rename(export / "data" / "efgh.ion.gz")
    ion = '$ion_1_0 {Item:{pk:"ion",n:12345678901234567890.25,s:$dynamodb_SS::["x","y"],l:[1.5,{b:{{AAE=}}},null,true]}}\n'
    (export / "data" / "efgh.ion.gz").write_bytes(gzip.compress(ion.encode()))
    assert apply(server, path / "AWSDynamoDB")[:2] == (0, "1 items")
    assert client.get_item(TableName="tab", Key={"pk": {"S": "ion"}})["Item"] == {
        "pk": {"S": "ion"}, "n": {"N": "12345678901234567890.25"}, "s": {"SS": ["x", "y"]},
        "l": {"L": [{"N": "1.5"}, {"M": {"b": {"B": b"\x00\x01"}}}, {"NULL": True}, {"BOOL": True}]}}
    assert client.get_item(TableName="tab", Key={"pk": {"S": "z"}})["Item"] == {"pk": {"S": "z"}}
    client.close()
    server.stop()


IMPORT = """
Resources:
  T:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: imported
      KeySchema: [{AttributeName: id, KeyType: HASH}]
      AttributeDefinitions: [{AttributeName: id, AttributeType: S}, {AttributeName: n, AttributeType: N}]
      BillingMode: PAY_PER_REQUEST
      GlobalSecondaryIndexes: [{IndexName: byn, KeySchema: [{AttributeName: n, KeyType: HASH}], Projection: {ProjectionType: ALL}}]
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TableClass: STANDARD_INFREQUENT_ACCESS
      DeletionProtectionEnabled: true
      Tags: [{Key: a, Value: b}]
      TimeToLiveSpecification: {AttributeName: ttl, Enabled: true}
      ImportSourceSpecification:
        InputFormat: CSV
        InputFormatOptions: {Csv: {Delimiter: ";"}}
        S3BucketSource: {S3Bucket: bucket, S3KeyPrefix: PREFIX}
"""


def imports():
    """ImportSourceSpecification: the server's own import, from the buckets of --s3."""
    server = Server("--s3", "s3", "--log-level", "error")
    client = server.client()
    bucket = pathlib.Path(server.folder, "s3", "bucket")
    bucket.mkdir(parents=True)
    (bucket / "good.csv").write_text("id;n;text\na;1;x\nb;2;y\n")
    (bucket / "bad.csv").write_text("id;n;text\na;1;x\n;2;y\n")
    path = folder(t__yaml=IMPORT.replace("PREFIX", "good"))
    assert apply(server, path) == (0, "2 items, 1 tables made", "")
    assert sorted(i["id"]["S"] for i in items(client, "imported")) == ["a", "b"]
    table = client.describe_table(TableName="imported")["Table"]
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_IMAGE" and table["DeletionProtectionEnabled"], table
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS" and table["GlobalSecondaryIndexes"][0]["ItemCount"] == 2, table
    assert client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "a", "Value": "b"}]
    assert client.describe_time_to_live(TableName="imported")["TimeToLiveDescription"]["AttributeName"] == "ttl"
    assert apply(server, path)[:2] == (0, "0 items, 1 tables were there already and stay as they are")
    client.update_table(TableName="imported", DeletionProtectionEnabled=False)
    client.delete_table(TableName="imported")
    path = folder(t__yaml=IMPORT.replace("PREFIX", "bad"))
    status, _, problem = apply(server, path)
    assert status == 1 and "t.yaml:3: ImportTable imported: 1 of 2 records are no items of the table" in problem, problem
    assert client.list_tables()["TableNames"] == []
    status, said, problem = apply(server, path, "--keep-going")
    assert (status, said) == (1, "1 items, 1 tables made, 1 parts passed over") and "1 of 2 records" in problem, (status, said, problem)
    client.update_table(TableName="imported", DeletionProtectionEnabled=False)
    client.delete_table(TableName="imported")
    status, _, problem = apply(server, folder(t__yaml=IMPORT.replace("S3Bucket: bucket", "S3Bucket: elsewhere")))
    assert status == 1 and "t.yaml:3: ImportTable imported: S3NoSuchBucket: " in problem and "--s3" in problem, problem
    assert client.list_tables()["TableNames"] == []
    status, _, problem = apply(server, folder(t__yaml=IMPORT.replace("InputFormat: CSV", "InputFormat: XML")))
    assert status == 1 and "t.yaml:3: ImportTable imported: 1 validation error detected: Value 'XML' at 'inputFormat'" in problem, problem
    status, _, problem = apply(server, folder(t__yaml=IMPORT.replace("InputFormat: CSV", "InputFormat: CSV, Version: 1").replace("\n        InputFormat: CSV, Version: 1", "\n        Version: 1\n        InputFormat: CSV")))
    assert status == 1 and "Properties.ImportSourceSpecification.Version: not known here" in problem, problem
    client.close()
    server.stop()


TERRAFORM_IMPORT = """{"format_version": "1.2", "terraform_version": "1.9.5", "planned_values": {"root_module": {"resources": [
 {"address": "aws_dynamodb_table.t", "mode": "managed", "type": "aws_dynamodb_table", "name": "t", "values": {
  "name": "imported", "billing_mode": "PAY_PER_REQUEST", "hash_key": "id", "stream_enabled": true, "stream_view_type": "KEYS_ONLY",
  "attribute": [{"name": "id", "type": "S"}, {"name": "n", "type": "N"}], "tags": {"a": "b"}, "deletion_protection_enabled": false,
  "global_secondary_index": [{"name": "byn", "hash_key": "n", "projection_type": "ALL"}], "ttl": [{"enabled": true, "attribute_name": "ttl"}],
  "import_table": [{"input_format": "CSV", "input_compression_type": null, "s3_bucket_source": [{"bucket": "bucket", "bucket_owner": null, "key_prefix": "good"}],
   "input_format_options": [{"csv": [{"delimiter": ";", "header_list": ["id", "n", "text"]}]}]}]}}]}}}
"""
PULUMI_IMPORT = """{"version": 3, "deployment": {"resources": [{"urn": "urn:t", "type": "aws:dynamodb/table:Table", "outputs": {
 "name": "imported", "billingMode": "PAY_PER_REQUEST", "hashKey": "id", "attributes": [{"name": "id", "type": "S"}],
 "importTable": {"inputFormat": "CSV", "s3BucketSource": {"bucket": "bucket", "keyPrefix": "good"},
  "inputFormatOptions": {"csv": {"delimiter": ";", "headerLists": ["id", "n", "text"]}}}}}]}}
"""


def imports_of_plans():
    """import_table of Terraform, importTable of Pulumi: the same."""
    server = Server("--s3", "s3", "--log-level", "error")
    client = server.client()
    bucket = pathlib.Path(server.folder, "s3", "bucket")
    bucket.mkdir(parents=True)
    (bucket / "good.csv").write_text("a;1;x\nb;2;y\n")
    assert apply(server, folder(t__json=TERRAFORM_IMPORT)) == (0, "2 items, 1 tables made", "")
    assert items(client, "imported") == [{"id": {"S": "a"}, "n": {"N": "1"}, "text": {"S": "x"}}, {"id": {"S": "b"}, "n": {"N": "2"}, "text": {"S": "y"}}]
    table = client.describe_table(TableName="imported")["Table"]
    assert table["StreamSpecification"]["StreamViewType"] == "KEYS_ONLY" and table["GlobalSecondaryIndexes"][0]["ItemCount"] == 2, table
    assert client.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == [{"Key": "a", "Value": "b"}]
    assert client.describe_time_to_live(TableName="imported")["TimeToLiveDescription"]["AttributeName"] == "ttl"
    client.delete_table(TableName="imported")
    status, _, problem = apply(server, folder(t__json=TERRAFORM_IMPORT.replace('"bucket": "bucket"', '"bucket": "elsewhere"')))
    assert status == 1 and "t.json:2: ImportTable imported: S3NoSuchBucket: " in problem, problem
    assert client.list_tables()["TableNames"] == []
    assert apply(server, folder(t__json=PULUMI_IMPORT)) == (0, "2 items, 1 tables made", "")
    client.close()
    server.stop()


def folders():
    """An empty folder says so; only an export's own manifests are left out of one; folders within folders are read."""
    server = Server()
    empty = tempfile.mkdtemp(prefix="dynalith-e2e-")
    assert apply(server, empty) == (0, "0 items", f"warning: {empty}: no files in it")
    assert apply(server, empty, "--strict")[0] == 1
    place = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-e2e-"))
    (place / "a" / "b").mkdir(parents=True)
    (place / "0.json").write_text(json.dumps({"TableName": "manifest-orders", "BillingMode": "PAY_PER_REQUEST", **KEY}))
    (place / "a" / "b" / "manifest-orders.json").write_text('[{"pk": "a"}]')
    (place / "a" / "manifest-summary.json").write_text("{}")
    assert apply(server, place)[:2] == (0, "1 items, 1 tables made")
    deep = place / "/".join("d" * 40)
    deep.mkdir(parents=True)
    status, _, problem = apply(server, place)
    assert status == 1 and "nested too deeply" in problem, problem
    server.stop()


BUFFERS = """service: shop
provider: aws
custom:
  seed: {dynamodb: {T: {data: [{id: a, b: {type: Buffer, data: [0, 255]}, n: 1.5, m: {l: [{data: [104, 105], type: Buffer}]}, no: {type: Buffer, data: [256]}}]}}}
resources:
  Resources:
    T:
      Type: AWS::DynamoDB::Table
      Properties: {TableName: seeded, BillingMode: PAY_PER_REQUEST, KeySchema: [{AttributeName: id, KeyType: HASH}], AttributeDefinitions: [{AttributeName: id, AttributeType: S}]}
"""


def buffers():
    """JSON of Node.js's Buffers is binary at any depth, in documents as in files of plain items."""
    server = Server()
    client = server.client()
    expected = [{"id": {"S": "a"}, "b": {"B": b"\x00\xff"}, "n": {"N": "1.5"}, "m": {"M": {"l": {"L": [{"B": b"hi"}]}}},
                 "no": {"M": {"type": {"S": "Buffer"}, "data": {"L": [{"N": "256"}]}}}}]
    assert apply(server, folder(serverless__yml=BUFFERS)) == (0, "1 items, 1 tables made", "")
    assert items(client, "seeded") == expected
    client.create_table(TableName="plain", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}])
    plain = {"id": "a", "b": {"type": "Buffer", "data": [0, 255]}, "n": 1.5, "m": {"l": [{"data": [104, 105], "type": "Buffer"}]}, "no": {"type": "Buffer", "data": [256]}}
    assert apply(server, folder(plain__json=json.dumps([plain])))[0] == 0
    assert items(client, "plain") == expected
    client.close()
    server.stop()


def bad_lines():
    """Nothing of a file with a bad line is kept, unless bad lines are to be passed over."""
    server = Server()
    client = server.client()
    client.create_table(TableName="tab", BillingMode="PAY_PER_REQUEST", **KEY)
    many = [{"pk": f"k{i}"} for i in range(60)]
    lines = [json.dumps(m) for m in many]
    lines[40] = '{"pk":7}'
    lines[50] = "no json"
    path = folder(tab__jsonl="\n".join(lines), new__json=[{"TableName": "new", "BillingMode": "PAY_PER_REQUEST", **KEY}, {"TableName": "x", **KEY}],
                  tab__csv="pk,a\nv,1,2\n", uuu__csv="pk,pk\n", unknown__jsonl='{"pk":"a"}\n{"pk":"b"}\n', plain__txt="hello")
    status, said, problem = apply(server, path / "tab.jsonl")
    assert (status, said) == (1, "") and f"{path}/tab.jsonl:41: " in problem and "Type mismatch for key pk" in problem, problem
    assert items(client, "tab") == []
    status, said, problem = apply(server, path / "tab.jsonl", "--keep-going")
    assert (status, said) == (1, "58 items, 2 parts passed over") and "tab.jsonl:51: no JSON" in problem, (said, problem)
    assert len(items(client, "tab")) == 58
    assert apply(server, path / "new.json")[0] == 1 and client.list_tables()["TableNames"] == ["tab"]
    assert "tab.csv:2: 3 fields, but the first line names 2" in apply(server, path / "tab.csv")[2]
    assert 'no table "unknown"' in apply(server, path / "unknown.jsonl")[2]
    assert "neither tables nor items" in apply(server, path / "plain.txt")[2]
    assert "No such file" in apply(server, path / "nothing")[2]
    twice = folder(tab__jsonl='{"pk":"same","v":1}\n{"pk":"same","v":2}\n')
    assert apply(server, twice)[0] == 0 and client.get_item(TableName="tab", Key={"pk": {"S": "same"}})["Item"]["v"] == {"N": "2"}
    assert subprocess.run([BINARY, "apply"], capture_output=True).returncode == 2
    for endpoint, status, said in ((f"localhost:{server.port}", 0, ""), (f"127.0.0.1:{server.port}/", 0, ""), ("localhost", 2, "the endpoint wants http://HOST:PORT"),
                                   ("ftp://localhost:1", 2, "the endpoint wants http://HOST:PORT"), ("localhost:1", 1, "Start one: dynalith --port 1\n"),
                                   ("http://127.0.0.1:1", 1, "cannot connect: no server answers there. Start one: dynalith --port 1\n")):
        done = subprocess.run([BINARY, "apply", path / "tab.jsonl", "--keep-going", "--endpoint", endpoint], capture_output=True, text=True)
        assert done.returncode == (status or 1) and said in done.stderr and (status or done.stdout.startswith("58 items")), (endpoint, done)
    there = f"localhost:{server.port}"
    for words in (["check", there], ["report", there], ["backup", there, path / "copy.db"], ["dump", there, path / "dump"]):
        done = subprocess.run([BINARY, *words], capture_output=True, text=True)
        assert done.returncode == 0 or "--insight on" in done.stderr, (words, done)
    client.close()
    server.stop()
    problem = f"dynalith: http://127.0.0.1:{server.port}: cannot connect: no server answers there. Start one: dynalith --port {server.port}"
    assert apply(server, twice) == (1, "", problem)  # no line of the file is to blame


def files_of_dynamodb_local():
    """One made as DynamoDB Local 3.3.1 makes its own."""
    path = folder() / "shared-local-instance.db"
    attribute = {"pk": {"AttributeName": "pk", "AttributeType": "S"}, "sk": {"AttributeName": "sk", "AttributeType": "N"}, "g": {"AttributeName": "g", "AttributeType": "S"}}
    info = {"Attributes": list(attribute.values()), "TimeToLiveAttributeName": "ttl",
            "GSIList": [{"IndexName": "byg", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}],
            "SQLiteIndex": {"": [{"DynamoDBAttribute": attribute["pk"], "KeyType": "HASH", "SQLiteColumnName": "hashKey"},
                                 {"DynamoDBAttribute": attribute["sk"], "KeyType": "RANGE", "SQLiteColumnName": "rangeKey"}]}}
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE dm (TableName TEXT, TableInfo BLOB, ReadCapacityUnits INTEGER, WriteCapacityUnits INTEGER, BillingMode INTEGER,"
                   " DeletionProtectionEnabled INTEGER, PRIMARY KEY(TableName))")
        db.execute("CREATE TABLE sm (StreamID TEXT, StreamStatus TEXT, TableName TEXT, StreamInfo BLOB)")
        db.execute('CREATE TABLE "Mu.sic-1" (hashKey TEXT, rangeKey BLOB, ObjectJSON BLOB)')
        db.execute("INSERT INTO dm VALUES ('Mu.sic-1', ?, 0, 0, 1, 0)", [json.dumps(info).encode()])
        db.execute("INSERT INTO sm VALUES ('arn', 'ENABLED', 'Mu.sic-1', ?)", [b'{"StreamViewType":"NEW_IMAGE"}'])
        item = {"pk": {"S": "a"}, "sk": {"N": "1.5"}, "g": {"S": "x"}, "l": {"L": [{"NULL": True}]}}
        db.execute('INSERT INTO "Mu.sic-1" VALUES (?, ?, ?)', [b"a", b"1", json.dumps(item).encode()])
        db.commit()
    before = path.read_bytes()
    server = Server()
    client = server.client()
    assert apply(server, path)[:2] == (0, "1 items, 1 tables made")
    made = client.describe_table(TableName="Mu.sic-1")["Table"]
    assert made["StreamSpecification"]["StreamViewType"] == "NEW_IMAGE" and made["GlobalSecondaryIndexes"][0]["IndexName"] == "byg", made
    assert client.describe_time_to_live(TableName="Mu.sic-1")["TimeToLiveDescription"]["AttributeName"] == "ttl"
    assert items(client, "Mu.sic-1") == [item] and path.read_bytes() == before
    rest = 'CREATE TABLE "Mu.sic-1" (hashKey TEXT, rangeKey BLOB, ObjectJSON BLOB'
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x)"
    for name, statements in {"dm": ["ALTER TABLE dm RENAME TO was", f"CREATE VIEW dm AS {endless} AS TableInfo FROM c"],
                             "Mu.sic-1": ['DROP TABLE "Mu.sic-1"', f"{rest} AS (hex(zeroblob(1000000))))"]}.items():
        hostile = folder() / "shared-local-instance.db"
        hostile.write_bytes(before)
        with contextlib.closing(sqlite3.connect(hostile)) as db:
            for statement in statements:
                db.execute(statement.replace("ObjectJSON BLOB AS", "ObjectJSON AS"))
            db.commit()
        assert f'no data file of DynamoDB Local: its schema has "{name}", which computes what is read' in apply(server, hostile)[2]
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE dm")
    assert "no data file of DynamoDB Local: no such table: dm" in apply(server, path)[2]
    client.close()
    server.stop()


def as_many_resources_as_a_template_has():
    """AWS: 500 at most. Auto scaling is looked up once for all tables, not once for each, so its values fit into the million of a template."""
    scaling, n = "AWS::ApplicationAutoScaling::", 160
    tracking = {"TargetValue": 70, "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"}}
    resources = {}
    for i in range(n):
        place = {"ServiceNamespace": "dynamodb", "ScalableDimension": "dynamodb:table:ReadCapacityUnits", "ResourceId": {"Fn::Sub": "table/${T%d}" % i}}
        resources[f"T{i}"] = {"Type": "AWS::DynamoDB::Table", "Properties": {**KEY, "TableName": f"table-{i}", "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}}
        resources[f"S{i}"] = {"Type": scaling + "ScalableTarget", "Properties": {**place, "MinCapacity": 1, "MaxCapacity": 10}}
        resources[f"P{i}"] = {"Type": scaling + "ScalingPolicy", "Properties": {
            "PolicyName": f"p{i}", "PolicyType": "TargetTrackingScaling", "ScalingTargetId": {"Ref": f"S{i}"}, "TargetTrackingScalingPolicyConfiguration": tracking}}
    done = subprocess.run([BINARY, "apply", "--dry-run", str(folder(t__json=json.dumps({"Resources": resources})) / "t.json")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stderr == "" and f"0 items, {n} tables made" in done.stdout, (done.stdout[-500:], done.stderr[-500:])


def files_that_explode():
    """Values that name each other are computed once; circles are told with their path; what is too large is refused. 512 MB do for all of it."""
    server = Server()
    client = server.client()
    twice = lambda n, one, last: {**{f"N{i}": one(f"N{i + 1}") for i in range(n)}, f"N{n}": last}
    both = lambda other: {"Fn::And": [{"Condition": other}, {"Condition": other}]}
    doubled = lambda other: {"Default": {"Fn::Sub": "${%s}${%s}" % (other, other)}}

    def template(name="table", **sections):
        return {**sections, "Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": {**KEY, "TableName": name, "BillingMode": "PAY_PER_REQUEST"},
                                                **({"Condition": "N0"} if "Conditions" in sections else {})}}}

    def outcome(document, name="t.json"):
        path = folder(**{name.replace(".", "__"): document if isinstance(document, str) else json.dumps(document)})
        done = subprocess.run(["/bin/sh", "-c", 'ulimit -v 524288 && exec "$@"' if "asan" not in BINARY else 'exec "$@"', "sh", BINARY, "apply", "--endpoint",
                               f"http://127.0.0.1:{server.port}", str(path / name)], capture_output=True, text=True,
                              env={**os.environ, "AWS_ACCESS_KEY_ID": "dynalith", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"})
        assert done.returncode in (0, 1), done
        return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()

    assert outcome(template("twice", Conditions=twice(30, both, {"Fn::Equals": ["a", "a"]}))) == "0 items, 1 tables made"
    name = {"Fn::Sub": "abc"}
    for _ in range(5):
        name = {"Fn::Sub": ["${A}${A}", {"A": name}]}
    assert outcome(template(name)) == "0 items, 1 tables made"
    assert "abc" * 32 in client.list_tables()["TableNames"]
    assert "cannot resolve a circle: N0 -> N1 -> N2 -> N0;" in outcome(template(Conditions={"N0": both("N1"), "N1": both("N2"), "N2": both("N0")}))
    circle = {"N0": {"Default": {"Ref": "N1"}}, "N1": {"Default": {"Fn::Sub": "x${N0}"}}}
    assert "cannot resolve a circle: N0 -> N1 -> N0;" in outcome(template({"Ref": "N0"}, Parameters=circle))
    for name in ({"Fn::Sub": "${N0}"}, {"Fn::Join": ["", [{"Ref": "N0"}, {"Ref": "N0"}]]}):
        assert "cannot resolve values of more than 64 MB" in outcome(template(name, Parameters=twice(30, doubled, {"Default": "x"})))
    variables = "".join(f"  n{i}: ${{self:custom.n{i + 1}}}${{self:custom.n{i + 1}}}\n" for i in range(30))
    yaml = "service: s\ncustom:\n%sresources:\n  Resources: {T: {Type: 'AWS::DynamoDB::Table', Properties: {TableName: '${self:custom.n0}'}}}\n"
    assert "cannot resolve values of more than 64 MB" in outcome(yaml % (variables + "  n30: x\n"), "t.yml")
    assert "a circle: self:custom.n0 -> self:custom.n1 -> self:custom.n0;" in outcome(yaml % "  n0: ${self:custom.n1}\n  n1: ${self:custom.n0}\n", "t.yml")
    laughs = "Resources: {}\na0: &a0 [[],[],[],[],[],[],[],[],[]]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    assert "an alias that grows too large" in outcome(laughs, "t.yml")
    output = {"Fn::GetAtt": ["N0", "Outputs.O"]}

    def nesting(n, name, **properties):
        stack = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "t.json", **properties}}
        return {"Outputs": {"O": {"Value": output}}, "Resources": {**template(name)["Resources"], **{f"N{i}": stack for i in range(n)}}}

    name = {"Fn::Sub": "table-${AWS::StackName}"}
    for stacks in (nesting(1, output), nesting(1, name, Parameters={"X": output}), nesting(8, name)):
        assert "cannot resolve stacks nested too deeply;" in outcome(stacks)
    assert "cannot resolve values of more than 64 MB" in outcome(template({"Fn::Sub": "${" * 500000}))
    assert "cannot resolve values of more than 64 MB" in outcome(yaml % f"  n0: '{'${' * 500000}'\n", "t.yml")
    server.stop()


def at_start():
    path = folder(a__yaml=TEMPLATE, **{"orders-dev__csv": "PK,SK,GSI1PK\na,b,1\n"})
    server = Server("--init", str(path))
    client = server.client()
    assert items(client, "orders-dev") == [{"PK": {"S": "a"}, "SK": {"S": "b"}, "GSI1PK": {"N": "1"}}]
    client.close()
    server.stop()
    (path / "zoo.csv").write_text("PK,SK\na,b\n")
    done = subprocess.run([BINARY, "--in-memory", "--port", "0", "--init", str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and 'zoo.csv:1: no table "zoo"' in done.stderr, done.stderr


run("apply", [templates, parameters_of_several_files, settings, serverless, terraform_and_workbench, descriptions, forms_of_items, imports, imports_of_plans, buffers, folders, bad_lines, files_of_dynamodb_local, as_many_resources_as_a_template_has, files_that_explode, at_start])
