"""Who may do what (--iam): a tenant's session reaches only its own items, whichever way it tries; AWS's words; policies set, replaced, refused and reported."""
import json
import os
import tempfile
import urllib.error
import urllib.request

from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from signing import signed
from wire import Client, Refused
from harness import Server, client_of, control, create_app, run, until

ACCOUNT = "000000000000"
TABLE = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/app"
ITEMS = ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "ConditionCheckItem", "PartiQLSelect", "PartiQLInsert",
         "PartiQLUpdate", "PartiQLDelete"]


def policy(*statements):
    return {"Version": "2012-10-17", "Statement": list(statements)}


def statement(actions, resource="*", effect="Allow", **more):
    actions = [actions] if isinstance(actions, str) else actions
    return {"Effect": effect, "Action": [one if ":" in one or one == "*" else f"dynamodb:{one}" for one in actions], "Resource": resource, **more}


LEADING = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#${aws:PrincipalTag/tenant}#*", "TENANT#${aws:PrincipalTag/tenant}"]}}
TENANT = policy(statement(ITEMS, [TABLE, TABLE + "/index/*"], Condition=LEADING),
                statement("PartiQLSelect", effect="Deny", Condition={"Bool": {"dynamodb:FullTableScan": "true"}}))
ADMIN = {"access_key": "admin", "arn": f"arn:aws:iam::{ACCOUNT}:root"}


def session(name, tenant, identity=None, **more):
    return {"access_key": name, "arn": f"arn:aws:sts::{ACCOUNT}:assumed-role/app/{name}", "identity": identity or TENANT, "tags": {"tenant": tenant}, **more}


class World:
    """A server that enforces, its administrator and a tenant, with items of two tenants."""

    def __init__(self, *principals, mode="enforce"):
        self.server = Server("--iam", mode)
        put(self.server, ADMIN, *principals)
        self.admin = client_of(self.server, key="admin")
        create_app(self.admin)
        for tenant in "AB":
            for name in "12":
                self.admin.put_item(TableName="app", Item=item(tenant, name))

    def stop(self):
        self.server.stop()


def put(server, *principals):
    return control(server, "PUT", "policies", {"principals": list(principals)})


def signed_control(server, key, method, path, body=None):
    """The status and the answer of an endpoint that this key asks."""
    data = b"" if body is None else json.dumps(body).encode()
    headers = signed(server, method, f"/_dynalith/{path}", data, credentials=Credentials(key, "secret"))
    try:
        with urllib.request.urlopen(urllib.request.Request(f"{server.url}/_dynalith/{path}", data=data or None, headers=headers, method=method), timeout=120) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as e:
        return e.code, json.load(e)


def key(tenant, name="1"):
    return {"PK": {"S": f"TENANT#{tenant}#{name}"}, "SK": {"S": "1"}}


def item(tenant, name="1", **more):
    return {**key(tenant, name), "GSI1PK": {"S": f"TENANT#{tenant}"}, "GSI1SK": {"S": name}, "secret": {"S": f"of {tenant}"}, **more}


def denied(call, *args, action=None, why=None, **kwargs):
    """The message; the call must be refused."""
    try:
        answer = call(*args, **kwargs)
    except ClientError as e:
        assert e.response["Error"]["Code"] == "AccessDeniedException", e.response["Error"]
        message = e.response["Error"]["Message"]
        assert action is None or f"is not authorized to perform: dynamodb:{action} on resource: " in message, message
        assert why is None or message.endswith(why), message
        return message
    raise AssertionError(f"not refused: {answer}")


def refuses(call, what):
    """The same for a client of bare requests."""
    try:
        answer = call()
    except Refused as e:
        assert e.name == "AccessDeniedException", (what, e)
        return
    raise AssertionError(f"not refused: {what}: {answer}")


def value(text):
    return {":v": {"S": text}}


def test_a_tenant_does_what_it_may():
    world = World(session("a", "A"))
    a = client_of(world.server, key="a")
    try:
        assert a.get_item(TableName="app", Key=key("A"))["Item"]["secret"]["S"] == "of A"
        assert a.get_item(TableName=TABLE, Key=key("A"))["Item"]["secret"]["S"] == "of A"
        a.put_item(TableName="app", Item=item("A", "3"))
        a.update_item(TableName="app", Key=key("A", "3"), UpdateExpression="SET n = :v", ExpressionAttributeValues=value("x"))
        a.delete_item(TableName="app", Key=key("A", "3"))
        query = {"TableName": "app", "KeyConditionExpression": "PK = :v", "ExpressionAttributeValues": value("TENANT#A#1")}
        assert a.query(**query)["Count"] == 1
        indexed = {"TableName": "app", "IndexName": "GSI1", "KeyConditionExpression": "GSI1PK = :v", "ExpressionAttributeValues": value("TENANT#A")}
        assert a.query(**indexed)["Count"] == 2
        assert len(a.batch_get_item(RequestItems={"app": {"Keys": [key("A"), key("A", "2")]}})["Responses"]["app"]) == 2
        a.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": item("A", "4")}}, {"DeleteRequest": {"Key": key("A", "5")}}]})
        assert len(a.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": key("A")}}])["Responses"]) == 1
        a.transact_write_items(TransactItems=[
            {"Put": {"TableName": "app", "Item": item("A", "6")}}, {"Delete": {"TableName": "app", "Key": key("A", "4")}},
            {"ConditionCheck": {"TableName": "app", "Key": key("A"), "ConditionExpression": "attribute_exists(PK)"}},
            {"Update": {"TableName": "app", "Key": key("A", "2"), "UpdateExpression": "SET n = :v", "ExpressionAttributeValues": value("y")}}])
        run_statement = lambda text, *parameters: a.execute_statement(Statement=text, Parameters=[{"S": one} for one in parameters])["Items"]
        assert len(run_statement('SELECT * FROM app WHERE PK = ?', "TENANT#A#1")) == 1
        assert len(run_statement('SELECT * FROM app WHERE PK IN [?, ?]', "TENANT#A#1", "TENANT#A#2")) == 2
        assert len(run_statement('SELECT * FROM app."GSI1" WHERE GSI1PK = ?', "TENANT#A")) >= 2
        a.execute_statement(Statement="INSERT INTO app VALUE {'PK': 'TENANT#A#7', 'SK': '1'}")
        a.execute_statement(Statement="UPDATE app SET n = 1 WHERE PK = 'TENANT#A#7' AND SK = '1'")
        a.execute_statement(Statement="DELETE FROM app WHERE PK = 'TENANT#A#7' AND SK = '1'")
        a.execute_transaction(TransactStatements=[{"Statement": "SELECT * FROM app WHERE PK = 'TENANT#A#1' AND SK = '1'"}])
        assert "Item" in a.batch_execute_statement(Statements=[{"Statement": "SELECT * FROM app WHERE PK = 'TENANT#A#1' AND SK = '1'"}])["Responses"][0]
    finally:
        world.stop()


def ways_around(a):
    """Every way to another tenant's items: (the action that is refused, the call)."""
    mine, other = key("A"), key("B")
    batch = lambda *keys: {"app": {"Keys": list(keys)}}
    where = {"KeyConditionExpression": "PK = :v", "ExpressionAttributeValues": value("TENANT#B#1")}
    legacy = lambda pk: {"PK": {"AttributeValueList": [{"S": pk}], "ComparisonOperator": "EQ"}}
    yield "GetItem", lambda: a.get_item(TableName="app", Key=other)
    yield "GetItem", lambda: a.get_item(TableName=TABLE, Key=other)
    yield "GetItem", lambda: a.get_item(TableName="app", Key=other, ProjectionExpression="secret")
    yield "GetItem", lambda: a.get_item(TableName="app", Key=other, AttributesToGet=["secret"])
    yield "GetItem", lambda: a.get_item(TableName="app", Key={"PK": {"S": "TENANT#AB#1"}, "SK": {"S": "1"}})
    yield "GetItem", lambda: a.get_item(TableName="app", Key={"PK": {"S": "tenant#A#1"}, "SK": {"S": "1"}})
    yield "PutItem", lambda: a.put_item(TableName="app", Item=item("B", "9"))
    yield "PutItem", lambda: a.put_item(TableName="app", Item=item("B"), ReturnValues="ALL_OLD")
    yield "PutItem", lambda: a.put_item(TableName="app", Item=item("B"), ConditionExpression="secret = :v", ExpressionAttributeValues=value("x"))
    yield "PutItem", lambda: a.put_item(TableName="app", Item=item("B"), Expected={"secret": {"Exists": False}})
    yield "UpdateItem", lambda: a.update_item(TableName="app", Key=other, UpdateExpression="SET n = :v", ExpressionAttributeValues=value("x"))
    yield "UpdateItem", lambda: a.update_item(TableName="app", Key=other, ReturnValues="ALL_NEW")
    yield "UpdateItem", lambda: a.update_item(TableName="app", Key=other, AttributeUpdates={"n": {"Value": {"S": "x"}, "Action": "PUT"}})
    yield "DeleteItem", lambda: a.delete_item(TableName="app", Key=other)
    yield "DeleteItem", lambda: a.delete_item(TableName="app", Key=other, ReturnValues="ALL_OLD")
    yield "DeleteItem", lambda: a.delete_item(TableName="app", Key=other, ConditionExpression="secret = :v", ExpressionAttributeValues=value("x"),
                                              ReturnValuesOnConditionCheckFailure="ALL_OLD")
    yield "Query", lambda: a.query(TableName="app", **where)
    yield "Query", lambda: a.query(TableName="app", Select="COUNT", **where)
    yield "Query", lambda: a.query(TableName="app", KeyConditions=legacy("TENANT#B#1"))
    yield "Query", lambda: a.query(TableName="app", KeyConditionExpression="#p = :v AND SK = :s", ExpressionAttributeNames={"#p": "PK"},
                                   ExpressionAttributeValues={**value("TENANT#B#1"), ":s": {"S": "1"}})
    yield "Query", lambda: a.query(TableName="app", KeyConditionExpression=":v = PK", ExpressionAttributeValues=value("TENANT#B#1"))
    yield "Query", lambda: a.query(TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :v", ExpressionAttributeValues=value("TENANT#B"))
    yield "Query", lambda: a.query(TableName="app", IndexName="GSI1", KeyConditions={
        "GSI1PK": {"AttributeValueList": [{"S": "TENANT#B"}], "ComparisonOperator": "EQ"}})
    yield "Query", lambda: a.query(TableName="app", IndexName="GSI2", KeyConditionExpression="GSI2PK = :v", ExpressionAttributeValues=value("TENANT#B"))
    yield "Scan", lambda: a.scan(TableName="app")
    yield "Scan", lambda: a.scan(TableName="app", FilterExpression="PK = :v", ExpressionAttributeValues=value("TENANT#A#1"))
    yield "Scan", lambda: a.scan(TableName="app", ScanFilter=legacy("TENANT#A#1"))
    yield "Scan", lambda: a.scan(TableName="app", IndexName="GSI1", Select="COUNT")
    yield "Scan", lambda: a.scan(TableName="app", TotalSegments=2, Segment=0)
    yield "BatchGetItem", lambda: a.batch_get_item(RequestItems=batch(other))
    yield "BatchGetItem", lambda: a.batch_get_item(RequestItems=batch(mine, other))
    yield "BatchGetItem", lambda: a.batch_get_item(RequestItems=batch(other, mine))
    yield "BatchWriteItem", lambda: a.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": item("A")}}, {"PutRequest": {"Item": item("B")}}]})
    yield "BatchWriteItem", lambda: a.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": item("A")}}, {"DeleteRequest": {"Key": other}}]})
    yield "GetItem", lambda: a.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": mine}}, {"Get": {"TableName": "app", "Key": other}}])
    first = {"Put": {"TableName": "app", "Item": item("A", "8")}}
    for action, one in [
            ("PutItem", {"Put": {"TableName": "app", "Item": item("B")}}), ("DeleteItem", {"Delete": {"TableName": "app", "Key": other}}),
            ("ConditionCheckItem", {"ConditionCheck": {"TableName": "app", "Key": other, "ConditionExpression": "attribute_exists(PK)"}}),
            ("ConditionCheckItem", {"ConditionCheck": {"TableName": "app", "Key": other, "ConditionExpression": "begins_with(secret, :v)",
                                                       "ExpressionAttributeValues": value("of"), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}}),
            ("UpdateItem", {"Update": {"TableName": "app", "Key": other, "UpdateExpression": "SET n = :v", "ExpressionAttributeValues": value("x")}})]:
        yield action, lambda one=one: a.transact_write_items(TransactItems=[first, one])
    for action, text in [
            ("PartiQLSelect", "SELECT * FROM app"), ("PartiQLSelect", "SELECT secret FROM app"), ("PartiQLSelect", "SELECT * FROM app WHERE secret = 'of B'"),
            ("PartiQLSelect", "SELECT * FROM app WHERE PK = 'TENANT#B#1'"), ("PartiQLSelect", "SELECT * FROM app WHERE PK IN ['TENANT#A#1', 'TENANT#B#1']"),
            ("PartiQLSelect", "SELECT * FROM app WHERE PK = 'TENANT#A#1' OR PK = 'TENANT#B#1'"),
            ("PartiQLSelect", "SELECT * FROM app WHERE PK = 'TENANT#A#1' OR secret = 'of B'"), ("PartiQLSelect", "SELECT * FROM app WHERE NOT PK = 'x'"),
            ("PartiQLSelect", "SELECT * FROM app WHERE begins_with(PK, 'TENANT#A')"), ("PartiQLSelect", "SELECT * FROM app.\"GSI1\""),
            ("PartiQLSelect", "SELECT * FROM app.\"GSI1\" WHERE GSI1PK = 'TENANT#B'"), ("PartiQLSelect", "SELECT * FROM \"app\".\"GSI1\" WHERE PK = 'TENANT#A#1'"),
            ("PartiQLInsert", "INSERT INTO app VALUE {'PK': 'TENANT#B#9', 'SK': '1'}"), ("PartiQLDelete", "DELETE FROM app WHERE PK = 'TENANT#B#1' AND SK = '1'"),
            ("PartiQLDelete", "DELETE FROM app WHERE PK = 'TENANT#B#1' AND SK = '1' RETURNING ALL OLD *"),
            ("PartiQLUpdate", "UPDATE app SET n = 1 WHERE PK = 'TENANT#B#1' AND SK = '1' RETURNING ALL NEW *")]:
        yield action, lambda text=text: a.execute_statement(Statement=text)
        if "SELECT" not in text:
            yield action, lambda text=text: a.execute_transaction(TransactStatements=[{"Statement": text.split(" RETURNING")[0]}])
    one = "SELECT * FROM app WHERE PK = 'TENANT#{}#1' AND SK = '1'"
    yield "PartiQLSelect", lambda: a.execute_transaction(TransactStatements=[{"Statement": one.format("A")}, {"Statement": one.format("B")}])
    yield "PartiQLSelect", lambda: a.execute_statement(Statement="SELECT * FROM app WHERE PK = ?", Parameters=[{"S": "TENANT#B#1"}])
    yield "PartiQLSelect", lambda: a.execute_transaction(TransactStatements=[
        {"Statement": "EXISTS(SELECT * FROM app WHERE PK = 'TENANT#B#1' AND SK = '1' AND secret = 'of B')"},
        {"Statement": "INSERT INTO app VALUE {'PK': 'TENANT#A#9', 'SK': '1'}"}])
    for action, name, parameters in [
            ("DescribeTable", "describe_table", {"TableName": "app"}), ("ListTables", "list_tables", {}), ("DeleteTable", "delete_table", {"TableName": "app"}),
            ("UpdateTable", "update_table", {"TableName": "app", "DeletionProtectionEnabled": False}), ("CreateBackup", "create_backup", {"TableName": "app", "BackupName": "abc"}),
            ("ListBackups", "list_backups", {"TableName": "app"}), ("UpdateTimeToLive", "update_time_to_live", {
                "TableName": "app", "TimeToLiveSpecification": {"AttributeName": "n", "Enabled": True}}),
            ("ExportTableToPointInTime", "export_table_to_point_in_time", {"TableArn": TABLE, "S3Bucket": "bucket"}),
            ("RestoreTableToPointInTime", "restore_table_to_point_in_time", {"SourceTableName": "app", "TargetTableName": "mine", "UseLatestRestorableTime": True}),
            ("PutResourcePolicy", "put_resource_policy", {"ResourceArn": TABLE, "Policy": "{}"}), ("GetResourcePolicy", "get_resource_policy", {"ResourceArn": TABLE}),
            ("TagResource", "tag_resource", {"ResourceArn": TABLE, "Tags": [{"Key": "a", "Value": "b"}]}), ("ListTagsOfResource", "list_tags_of_resource", {"ResourceArn": TABLE}),
            ("CreateTable", "create_table", {"TableName": "mine", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
                                             "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]})]:
        yield action, lambda name=name, parameters=parameters: getattr(a, name)(**parameters)


def test_a_batch_of_statements_refuses_each_in_its_place():
    world = World(session("a", "A"))
    a, one = client_of(world.server, key="a"), "SELECT * FROM app WHERE PK = 'TENANT#{}#1' AND SK = '1'"
    try:
        first, second, third = a.batch_execute_statement(Statements=[{"Statement": one.format(of)} for of in "BAB"])["Responses"]
        assert second["Item"]["PK"] == {"S": "TENANT#A#1"} and "Error" not in second, second
        for refused in (first, third):
            assert "Item" not in refused and refused["Error"]["Code"] == "AccessDenied", refused
            assert "is not authorized to perform: dynamodb:PartiQLSelect on resource: " + TABLE in refused["Error"]["Message"], refused
        write = "UPDATE app SET n = 'seen' WHERE PK = 'TENANT#{}#1' AND SK = '1'"
        mine, others = a.batch_execute_statement(Statements=[{"Statement": write.format("A")}, {"Statement": write.format("B")}])["Responses"]
        assert "Error" not in mine and others["Error"]["Code"] == "AccessDenied", (mine, others)
        assert "dynamodb:PartiQLUpdate" in others["Error"]["Message"], others
        items = {of: world.admin.get_item(TableName="app", Key=key(of))["Item"] for of in "AB"}
        assert items["A"]["n"] == {"S": "seen"} and items["B"].get("n") != {"S": "seen"}, items
    finally:
        world.stop()


def test_every_way_to_another_tenant_is_refused():
    world = World(session("a", "A"))
    a = client_of(world.server, key="a")
    try:
        before = sorted(json.dumps(one, sort_keys=True) for one in world.admin.scan(TableName="app")["Items"])
        n = 0
        for action, call in ways_around(a):
            try:
                denied(call, action=action)
            except AssertionError as e:
                raise AssertionError(f"way {n} ({action}): {e}") from e
            n += 1
        assert n >= 75, n
        assert sorted(json.dumps(one, sort_keys=True) for one in world.admin.scan(TableName="app")["Items"]) == before
    finally:
        world.stop()


def test_members_that_an_operation_has_not_decide_nothing():
    """DynamoDB ignores members that it does not know: they must not be what the policies are asked about."""
    own = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/mine"
    some = policy(statement("*", own), statement("GetItem", TABLE, Condition={"StringEquals": {"dynamodb:Select": ["SPECIFIC_ATTRIBUTES"]}}),
                  statement(["BatchGetItem", "PutItem"], TABLE, Condition={"StringEquals": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}}))
    world = World(session("a", "A", some))
    a = Client(world.server.port, access_key="a")
    try:
        world.admin.create_table(TableName="mine", KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}], BillingMode="PAY_PER_REQUEST",
                                 AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}])
        world.admin.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        stream = world.admin.describe_table(TableName="app")["Table"]["LatestStreamArn"]
        backup = world.admin.create_backup(TableName="app", BackupName="abc")["BackupDetails"]["BackupArn"]
        one = {"TableName": "app", "Key": key("A")}
        assert "Item" in a("GetItem", **one, ProjectionExpression="PK")
        ways = [
            ("GetItem", {**one, "Select": "SPECIFIC_ATTRIBUTES"}), ("BatchGetItem", {"RequestItems": {"app": {"Keys": [key("A")]}}, "Select": "SPECIFIC_ATTRIBUTES"}),
            ("PutItem", {"TableName": "app", "Item": item("A"), "Select": "SPECIFIC_ATTRIBUTES"}),
            *[(operation, {"BackupArn": backup, name: value}) for operation in ("DescribeBackup", "DeleteBackup") for name, value in
              [("TableName", "mine"), ("ResourceArn", own), ("TableArn", own), ("StreamArn", own)]],
            ("RestoreTableFromBackup", {"BackupArn": backup, "TargetTableName": "copy", "TableName": "mine"}),
            ("RestoreTableFromBackup", {"BackupArn": backup, "TargetTableName": "mine", "SourceTableName": "mine"}),
            ("TagResource", {"ResourceArn": TABLE, "TableName": "mine", "Tags": [{"Key": "a", "Value": "b"}]}), ("ListTagsOfResource", {"ResourceArn": TABLE, "TableName": "mine"}),
            ("PutResourcePolicy", {"ResourceArn": TABLE, "TableName": "mine", "Policy": json.dumps(policy({
                "Effect": "Allow", "Principal": {"AWS": ACCOUNT}, "Action": "dynamodb:*", "Resource": "*"}))}),
            ("DeleteResourcePolicy", {"ResourceArn": TABLE, "TableName": "mine"}), ("GetResourcePolicy", {"ResourceArn": TABLE, "TableName": "mine"}),
            ("ExportTableToPointInTime", {"TableArn": TABLE, "TableName": "mine", "S3Bucket": "bucket"}), ("DeleteTable", {"SourceTableName": "mine", "TableName": "app"}),
            ("ImportTable", {"TableName": "mine", "S3BucketSource": {"S3Bucket": "bucket"}, "InputFormat": "CSV", "TableCreationParameters": {
                "TableName": "app", "TableArn": own, "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"}}),
            ("ListTables", {"TableName": "mine"}), ("ListBackups", {"ResourceArn": own}), ("ListImports", {"TableName": "mine"}), ("DescribeLimits", {"TableName": "mine"}),
        ]
        for operation, members in ways:
            refuses(lambda: a(operation, **members), operation)
        for operation, members in [("DescribeStream", {"StreamArn": stream, "TableName": "mine"}), ("ListStreams", {"ResourceArn": own}),
                                   ("GetShardIterator", {"StreamArn": stream, "ShardId": "shardId-00000000000000000000-00000000", "ShardIteratorType": "LATEST", "TableName": "mine"})]:
            refuses(lambda: a.streams(operation, **members), operation)
    finally:
        world.stop()


def test_an_arn_that_is_written_otherwise_is_the_same_resource():
    """Operations that overlook a partition, a service or a slash at the end do not lead around a denial."""
    arns = [TABLE, TABLE + "/*"]
    world = World(session("a", "A", policy(statement("*"), statement("dynamodb:*", arns, "Deny"))))
    a = Client(world.server.port, access_key="a")
    try:
        world.admin.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        world.admin.update_continuous_backups(TableName="app", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
        stream = world.admin.describe_table(TableName="app")["Table"]["LatestStreamArn"]
        backup = world.admin.create_backup(TableName="app", BackupName="abc")["BackupDetails"]["BackupArn"]
        export = world.admin.export_table_to_point_in_time(TableArn=TABLE, S3Bucket="bucket")["ExportDescription"]["ExportArn"]
        tags = [{"Key": "a", "Value": "b"}]
        for operation, member, arn, more in [
                ("ListTagsOfResource", "ResourceArn", TABLE, {}), ("TagResource", "ResourceArn", TABLE, {"Tags": tags}), ("UntagResource", "ResourceArn", TABLE, {"TagKeys": ["a"]}),
                ("ListTagsOfResource", "ResourceArn", stream, {}), ("DeleteResourcePolicy", "ResourceArn", TABLE, {}), ("DescribeBackup", "BackupArn", backup, {}),
                ("DeleteBackup", "BackupArn", backup, {}), ("RestoreTableFromBackup", "BackupArn", backup, {"TargetTableName": "copy"}),
                ("DescribeExport", "ExportArn", export, {}), ("ListExports", "TableArn", TABLE, {}), ("ExportTableToPointInTime", "TableArn", TABLE, {"S3Bucket": "bucket"}),
                ("RestoreTableToPointInTime", "SourceTableArn", TABLE, {"TargetTableName": "copy", "UseLatestRestorableTime": True})]:
            for written in [arn, arn.replace("arn:aws:", "arn:aws-cn:"), arn.replace("arn:aws:", "arn:xx:"), arn.replace("dynamodb", "DynamoDB"), arn + "/", arn + "//",
                            arn.replace("us-east-1", "eu-west-1"), arn.replace("us-east-1", ""), arn.replace(ACCOUNT, ""), arn.replace("table/", "table//")]:
                try:
                    answer = a(operation, **{member: written}, **more)
                except Refused as e:
                    assert e.status == 400, e  # not allowed, or no ARN
                    continue
                assert answer == {"ExportSummaries": []}, (operation, written, answer)
        assert world.admin.describe_backup(BackupArn=backup)["BackupDescription"]
        assert world.admin.list_tags_of_resource(ResourceArn=TABLE)["Tags"] == [] and world.admin.list_tables()["TableNames"] == ["app"]
    finally:
        world.stop()


def test_streams_and_backups_are_resources_of_their_own():
    world = World(session("a", "A"), {"access_key": "reader", "arn": f"arn:aws:iam::{ACCOUNT}:user/reader", "identity": policy(
        statement(["DescribeStream", "GetRecords", "GetShardIterator"], TABLE + "/stream/*"), statement(["DescribeBackup"], TABLE + "/backup/*"))})
    a, reader = (client_of(world.server, key=one) for one in ("a", "reader"))
    streams = {name: world.server.client(key=name, service="dynamodbstreams") for name in ("admin", "a", "reader")}
    try:
        world.admin.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        arn = world.admin.describe_table(TableName="app")["Table"]["LatestStreamArn"]
        shard = streams["reader"].describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
        start = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = streams["reader"].get_shard_iterator(**start)["ShardIterator"]
        assert streams["reader"].get_records(ShardIterator=iterator)["Records"] == []
        for action, call in [("DescribeStream", lambda: streams["a"].describe_stream(StreamArn=arn)), ("GetShardIterator", lambda: streams["a"].get_shard_iterator(**start)),
                             ("GetRecords", lambda: streams["a"].get_records(ShardIterator=iterator)), ("ListStreams", lambda: streams["a"].list_streams())]:
            assert arn in denied(call, action=action) or action == "ListStreams"
        backup = world.admin.create_backup(TableName="app", BackupName="abc")["BackupDetails"]["BackupArn"]
        assert reader.describe_backup(BackupArn=backup)["BackupDescription"]
        denied(reader.delete_backup, BackupArn=backup, action="DeleteBackup")
        denied(a.describe_backup, BackupArn=backup, action="DescribeBackup")
        denied(a.restore_table_from_backup, BackupArn=backup, TargetTableName="mine", action="RestoreTableFromBackup")
    finally:
        world.stop()


ATTRIBUTES = {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["PK", "SK", "GSI1PK", "GSI1SK", "name"]},
              "StringEqualsIfExists": {"dynamodb:Select": ["SPECIFIC_ATTRIBUTES", "COUNT"], "dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"]}}


def test_attributes_that_are_not_listed_are_out_of_reach():
    world = World(session("a", "A", policy(statement([*ITEMS, "Scan"], [TABLE, TABLE + "/index/*"], Condition=ATTRIBUTES))))
    a = client_of(world.server, key="a")
    one = {"TableName": "app", "Key": key("A")}
    page = {"TableName": "app", "KeyConditionExpression": "PK = :k", "ProjectionExpression": "SK"}
    keyed = lambda **more: {":k": {"S": "TENANT#A#1"}, **more}
    try:
        a.get_item(**one, ProjectionExpression="PK, #n", ExpressionAttributeNames={"#n": "name"})
        a.get_item(**one, AttributesToGet=["name"])
        a.update_item(**one, UpdateExpression="SET #n = :v", ExpressionAttributeNames={"#n": "name"}, ExpressionAttributeValues=value("x"), ReturnValues="UPDATED_NEW")
        a.query(**page, ExpressionAttributeValues=keyed())
        a.query(TableName="app", KeyConditionExpression="PK = :k", Select="COUNT", ExpressionAttributeValues=keyed())
        ways = [
            lambda: a.get_item(**one), lambda: a.get_item(**one, ProjectionExpression="secret"), lambda: a.get_item(**one, ProjectionExpression="PK, secret.x[0]"),
            lambda: a.get_item(**one, ProjectionExpression="#s", ExpressionAttributeNames={"#s": "secret"}), lambda: a.get_item(**one, AttributesToGet=["secret"]),
            lambda: a.query(TableName="app", KeyConditionExpression="PK = :k", ExpressionAttributeValues=keyed()),
            lambda: a.query(**page, FilterExpression="secret = :v", ExpressionAttributeValues=keyed(**value("of A"))),
            lambda: a.query(**page, FilterExpression="size(secret) > :v", ExpressionAttributeValues=keyed(**{":v": {"N": "1"}})),
            lambda: a.query(TableName="app", KeyConditionExpression="PK = :k", FilterExpression="begins_with(secret, :v)", Select="COUNT",
                            ExpressionAttributeValues=keyed(**value("of"))),
            lambda: a.query(TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :k", ExpressionAttributeValues=keyed()),
            lambda: a.query(TableName="app", KeyConditions={"PK": {"AttributeValueList": [{"S": "TENANT#A#1"}], "ComparisonOperator": "EQ"}}, AttributesToGet=["SK"],
                            QueryFilter={"secret": {"ComparisonOperator": "NOT_NULL"}}),
            lambda: a.scan(TableName="app"), lambda: a.scan(TableName="app", Select="ALL_ATTRIBUTES"),
            lambda: a.scan(TableName="app", AttributesToGet=["SK"], ScanFilter={"secret": {"ComparisonOperator": "NOT_NULL"}}),
            lambda: a.put_item(TableName="app", Item=item("A")), lambda: a.put_item(TableName="app", Item=key("A"), ReturnValues="ALL_OLD"),
            lambda: a.put_item(TableName="app", Item=key("A"), ConditionExpression="secret = :v", ExpressionAttributeValues=value("x")),
            lambda: a.put_item(TableName="app", Item=key("A"), Expected={"secret": {"Exists": False}}),
            lambda: a.put_item(TableName="app", Item=key("A"), ConditionExpression="attribute_not_exists(PK)", ReturnValuesOnConditionCheckFailure="ALL_OLD"),
            lambda: a.update_item(**one, UpdateExpression="SET secret = :v", ExpressionAttributeValues=value("x")),
            lambda: a.update_item(**one, UpdateExpression="SET #n = secret", ExpressionAttributeNames={"#n": "name"}, ReturnValues="UPDATED_NEW"),
            lambda: a.update_item(**one, UpdateExpression="SET #n = if_not_exists(secret, :v)", ExpressionAttributeNames={"#n": "name"}, ExpressionAttributeValues=value("x")),
            lambda: a.update_item(**one, UpdateExpression="REMOVE secret"), lambda: a.update_item(**one, ReturnValues="ALL_NEW"),
            lambda: a.update_item(**one, AttributeUpdates={"secret": {"Action": "DELETE"}}),
            lambda: a.delete_item(**one, ReturnValues="ALL_OLD"),
            lambda: a.delete_item(**one, ConditionExpression="contains(secret, :v)", ExpressionAttributeValues=value("x")),
            lambda: a.batch_get_item(RequestItems={"app": {"Keys": [key("A")]}}),
            lambda: a.batch_get_item(RequestItems={"app": {"Keys": [key("A")], "ProjectionExpression": "secret"}}),
            lambda: a.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": item("A")}}]}),
            lambda: a.transact_get_items(TransactItems=[{"Get": one}]),
            lambda: a.transact_write_items(TransactItems=[{"ConditionCheck": {**one, "ConditionExpression": "secret = :v", "ExpressionAttributeValues": value("x")}}]),
            lambda: a.execute_statement(Statement="SELECT * FROM app WHERE PK = 'TENANT#A#1'"),
            lambda: a.execute_statement(Statement="SELECT secret FROM app WHERE PK = 'TENANT#A#1'"),
            lambda: a.execute_statement(Statement="SELECT PK FROM app WHERE PK = 'TENANT#A#1' AND secret = 'x'"),
            lambda: a.execute_statement(Statement="UPDATE app SET name = secret WHERE PK = 'TENANT#A#1' AND SK = '1'"),
            lambda: a.execute_statement(Statement="DELETE FROM app WHERE PK = 'TENANT#A#1' AND SK = '1' RETURNING ALL OLD *"),
        ]
        for i, way in enumerate(ways):
            try:
                denied(way)
            except AssertionError as e:
                raise AssertionError(f"way {i}: {e}") from e
    finally:
        world.stop()


def test_answers_are_in_aws_words():
    user = {"access_key": "u", "arn": f"arn:aws:iam::{ACCOUNT}:user/u"}
    world = World(user)
    u = client_of(world.server, key="u")
    get = lambda **more: denied(u.get_item, TableName="app", Key=key("A"), **more)
    head = f"User: arn:aws:iam::{ACCOUNT}:user/u is not authorized to perform: dynamodb:GetItem on resource: {TABLE} "
    allow, deny, other = policy(statement("*")), policy(statement("*", effect="Deny")), policy(statement("s3:*"))
    try:
        assert get() == head + "because no identity-based policy allows the dynamodb:GetItem action"
        index = denied(u.query, TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :v", ExpressionAttributeValues=value("x"))
        assert f"on resource: {TABLE}/index/GSI1 because no identity-based" in index, index
        assert "dynamodb:ListTables on resource: " in denied(u.list_tables)
        for more, why in [({"identity": [allow, deny]}, "with an explicit deny in an identity-based policy"),
                          ({"identity": allow, "boundary": other}, "because no permissions boundary allows the dynamodb:GetItem action"),
                          ({"identity": allow, "boundary": deny}, "with an explicit deny in a permissions boundary"),
                          ({"identity": allow, "session": other}, "because no session policy allows the dynamodb:GetItem action"),
                          ({"identity": allow, "session": deny}, "with an explicit deny in a session policy")]:
            put(world.server, ADMIN, {**user, **more})
            assert get() == head + why
        put(world.server, ADMIN, {**user, "identity": allow})
        world.admin.put_resource_policy(ResourceArn=TABLE, Policy=json.dumps(policy(
            {"Effect": "Deny", "Principal": {"AWS": user["arn"]}, "Action": "dynamodb:GetItem", "Resource": TABLE})))
        assert get() == head + "with an explicit deny in a resource-based policy"
        assert u.query(TableName="app", KeyConditionExpression="PK = :v", ExpressionAttributeValues=value("x"))["Count"] == 0
        world.admin.delete_resource_policy(ResourceArn=TABLE)
        put(world.server, ADMIN, user)
        world.admin.put_resource_policy(ResourceArn=TABLE, Policy=json.dumps(policy(
            {"Effect": "Allow", "Principal": {"AWS": user["arn"]}, "Action": "dynamodb:GetItem", "Resource": TABLE})))
        assert u.get_item(TableName="app", Key=key("A"))["Item"]
        foreign = {"access_key": "u", "arn": "arn:aws:iam::999999999999:user/u", "identity": allow}
        put(world.server, ADMIN, foreign)
        assert get().endswith("because no resource-based policy allows the dynamodb:GetItem action")
        # an unknown key is a user of its account without policies; a table that is not there is no reason to say so
        stranger = client_of(world.server, key="stranger")
        assert f"User: arn:aws:iam::{ACCOUNT}:user/stranger is" in denied(stranger.get_item, TableName="none", Key=key("A"))
    finally:
        world.stop()


def test_transactions_tags_and_boundaries_of_what_is_asked():
    only = policy(statement("*", Condition={"StringEquals": {"dynamodb:EnclosingOperation": "TransactWriteItems"}}))
    tagged = policy(statement(["CreateTable", "TagResource"], Condition={"StringEquals": {"aws:RequestTag/env": "dev"}, "ForAllValues:StringEquals": {"aws:TagKeys": ["env"]}}),
                    statement("DescribeTable", Condition={"StringEquals": {"aws:ResourceTag/env": "dev"}}))
    world = World(session("t", "A", only), session("g", "A", tagged))
    t, g = (client_of(world.server, key=one) for one in ("t", "g"))
    table = {"TableName": "mine", "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "k", "KeyType": "HASH"}],
             "AttributeDefinitions": [{"AttributeName": "k", "AttributeType": "S"}]}
    try:
        t.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": item("A")}}])
        denied(t.put_item, TableName="app", Item=item("A"), action="PutItem")
        denied(t.transact_get_items, TransactItems=[{"Get": {"TableName": "app", "Key": key("A")}}], action="GetItem")
        denied(g.create_table, **table, action="CreateTable")
        denied(g.create_table, **table, Tags=[{"Key": "env", "Value": "prod"}], action="CreateTable")
        denied(g.create_table, **table, Tags=[{"Key": "env", "Value": "dev"}, {"Key": "x", "Value": "y"}], action="CreateTable")
        g.create_table(**table, Tags=[{"Key": "env", "Value": "dev"}])
        assert g.describe_table(TableName="mine")["Table"]["TableStatus"]
        denied(g.describe_table, TableName="app", action="DescribeTable")
        put(world.server, ADMIN, session("g", "A", policy(statement("CreateTable"))))
        denied(g.create_table, **{**table, "TableName": "more"}, Tags=[{"Key": "env", "Value": "dev"}], action="TagResource")
    finally:
        world.stop()


def test_endpoints_of_the_server_are_judged_where_they_are_signed():
    """A tenant's key does not set its own policies, copies no other account and watches nobody. Without a signature the operator asks."""
    operator = {"access_key": "operator", "arn": f"arn:aws:iam::{ACCOUNT}:user/operator", "identity": policy(
        statement(["dynalith:Get*", "dynalith:PostCheckpoints*"]), statement("dynalith:PutSnapshots", f"arn:aws:dynalith:us-east-1:{ACCOUNT}:snapshots/mine"))}
    world = World(session("a", "A"), session("b", "B", policy(statement("dynamodb:*"))), operator)
    mine = [session("a", "A", policy(statement("*")))]
    ask = lambda key, method, path, body=None, query="": signed_control(world.server, key, method, path + query, body)
    try:
        for key in "a", "b", "nobody":
            for method, path, body, action in [
                    ("PUT", "policies", {"principals": mine}, "PutPolicies"), ("DELETE", "policies", None, "DeletePolicies"), ("GET", "policies", None, "GetPolicies"),
                    ("GET", "iam", None, "GetIam"), ("POST", "clone", {"from": ACCOUNT, "to": ["111111111111"]}, "PostClone"),
                    ("PUT", "snapshots/x", None, "PutSnapshots"), ("POST", "snapshots/x/dump", None, "PostSnapshotsDump"), ("POST", "reset", None, "PostReset"),
                    ("GET", "clock", None, "GetClock"), ("POST", "clock", {"advance": "1d"}, "PostClock"), ("GET", "metrics", None, "GetMetrics"),
                    ("GET", "events", None, "GetEvents"), ("POST", "streams/rotate", None, "PostStreamsRotate"), ("POST", "backup", None, "PostBackup"),
                    ("POST", "explain", {"operation": "Scan", "request": {"TableName": "app"}}, "PostExplain")]:
                status, answer = ask(key, method, path, body)
                text = f"is not authorized to perform: dynalith:{action} on resource: arn:aws:dynalith:us-east-1:{ACCOUNT}:{path} because no identity-based policy allows"
                assert status == 400 and answer["__type"].endswith("#AccessDeniedException") and text in answer["Message"], (key, method, path, status, answer)
        assert control(world.server, "GET", "policies")["principals"][1]["access_key"] == "a"
        assert ask("a", "GET", "health")[0] == 200
        for method, path, body, status in [("GET", "policies", None, 200), ("GET", "metrics", None, 200), ("POST", "checkpoints", {"name": "c"}, 200), ("POST", "checkpoints/c/rollback", None, 200),
                                           ("DELETE", "checkpoints/c", None, 400), ("PUT", "snapshots/mine", None, 200), ("PUT", "snapshots/other", None, 400)]:
            assert ask("operator", method, path, body)[0] == status, (method, path)
        assert ask("admin", "PUT", "policies", {"principals": [ADMIN, session("a", "A")]})[0] == 200
        refused = {(one["action"], one["resource"]) for entry in control(world.server, "GET", "iam")["principals"] for one in entry["refused"]}
        assert ("dynalith:PutPolicies", f"arn:aws:dynalith:us-east-1:{ACCOUNT}:policies") in refused, refused
    finally:
        world.stop()


def test_a_malformed_policy_of_a_table_leaves_the_old_one():
    world = World({"access_key": "u", "arn": f"arn:aws:iam::{ACCOUNT}:user/u", "identity": policy(statement("*"))})
    u = client_of(world.server, key="u")
    deny = {"Effect": "Deny", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/u"}, "Action": "dynamodb:GetItem", "Resource": TABLE}
    put_policy = lambda *statements: world.admin.put_resource_policy(ResourceArn=TABLE, Policy=json.dumps(policy(*statements)))
    try:
        revision = put_policy(deny)["RevisionId"]
        for wrong, text in [({"StringSomething": {"a:b": "c"}}, "Syntax error at position (1,"), ({"StringEquals": {"a:b": {}}}, "Syntax error at position (1,"),
                            ({"a:b": "c"}, "Invalid condition prefix"), ({"IpAddress": {"aws:SourceIp": "10.0.0"}}, "Syntax error at position (1,")]:
            try:
                put_policy({**deny, "Effect": "Allow"}, {**deny, "Condition": wrong})
                raise AssertionError(f"taken: {wrong}")
            except ClientError as e:
                assert e.response["Error"]["Code"] == "ValidationException" and text in e.response["Error"]["Message"], e
            assert world.admin.get_resource_policy(ResourceArn=TABLE)["RevisionId"] == revision
            denied(u.get_item, TableName="app", Key=key("A"), why="with an explicit deny in a resource-based policy")
            assert u.query(TableName="app", KeyConditionExpression="PK = :v", ExpressionAttributeValues=value("x"))["Count"] == 0
        world.admin.delete_resource_policy(ResourceArn=TABLE)
        assert u.get_item(TableName="app", Key=key("A"))["Item"]
    finally:
        world.stop()


def test_a_malformed_document_leaves_the_old_one():
    world = World(session("a", "A"))
    a = client_of(world.server, key="a")
    try:
        before = control(world.server, "GET", "policies")
        for wrong, text in [({"principals": 1}, "a JSON object is expected"), ({}, "a JSON object is expected"),
                            ({"principals": [{"access_key": "x"}]}, "principal 1: \"arn\" is"),
                            ({"principals": [ADMIN, session("a", "A", {"Statement": [{"Effect": "Allow"}]})]},
                             "MalformedPolicyDocument: Policy statement must contain actions. (principal 2, \"identity\")"),
                            ({"principals": [session("a", "A", policy(statement("*", resource="app")))]}, "Resource app must be in ARN format or \"*\"."),
                            *(({"principals": [session("a", "A", policy(statement("*", **more)))]}, f"MalformedPolicyDocument: {text}") for more, text in [
                                ({"Condition": {"StringEqualz": {"a:b": "c"}}}, "Syntax errors in policy."), ({"Actions": "*"}, "Syntax errors in policy."),
                                ({"Condition": {"StringEquals": {"a:b": None}}}, "Syntax errors in policy."),
                                ({"Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/33"}}}, "The policy failed legacy parsing"),
                                ({"Condition": {"DateLessThan": {"aws:CurrentTime": "soon"}}}, "The policy failed legacy parsing"),
                                ({"Condition": {"NumericLessThan": {"a:b": "ten"}}}, "The policy failed legacy parsing")]),
                            ({"principals": [session("a", "A", {**policy(statement("*")), "Version": "2012-10-18"})]}, "MalformedPolicyDocument: Syntax errors in policy."),
                            ({"principals": [session("a", "A", policy(*[statement("*", Sid="one")] * 2))]}, "MalformedPolicyDocument: Statement IDs (SID) in a single"),
                            ({"principals": [session("a", "A"), session("a", "B")]}, "principal 2: \"access_key\" is a text that no other principal has")]:
            answer = control(world.server, "PUT", "policies", wrong, status=400)
            assert text in json.dumps(answer, ensure_ascii=False).replace('\\"', '"'), answer
        assert control(world.server, "GET", "policies") == before
        assert a.get_item(TableName="app", Key=key("A"))["Item"]
        control(world.server, "DELETE", "policies")
        denied(a.get_item, TableName="app", Key=key("A"))
        assert control(world.server, "GET", "policies") == {"principals": []}
    finally:
        world.stop()


def test_what_policies_cost_is_bounded():
    costly = {"ForAnyValue:StringLike": {"dynamodb:Attributes": ["*?" + "a" * 3000 + "b*"]}}
    costs = {"access_key": "costs", "arn": f"arn:aws:iam::{ACCOUNT}:user/costs",
             "identity": policy(statement("*"), statement("*", effect="Deny", Condition=costly))}
    server = Server("--iam", "enforce", "--request-cpu-ms", "100")
    try:
        put(server, ADMIN, costs)
        create_app(client_of(server, key="admin"))
        client = Client(server.port, access_key="costs")

        def refusal(operation, **parameters):
            try:
                return client(operation, **parameters)
            except Refused as e:
                return e.name, e.message

        large = {**key("A"), **{"a" * 60_000 + str(i): {"S": ""} for i in range(7)}}
        small = {**key("A"), **{"a" * 60_000 + str(i): {"S": ""} for i in range(6)}}
        # what validation refuses for its size is refused first, also where nothing is allowed
        size = "ValidationException", "Item size has exceeded the maximum allowed size"
        assert refusal("PutItem", TableName="app", Item=large) == size
        assert refusal("BatchWriteItem", RequestItems={"app": [{"PutRequest": {"Item": large}}]}) == size
        # the rest counts in --request-cpu-ms, and a decision that is not made allows nothing
        assert refusal("PutItem", TableName="app", Item=small)[0] == "ServiceUnavailable"
        assert refusal("GetItem", TableName="app", Key=key("A")) == {}
        # a policy is as large as AWS takes one at most
        document = {"principals": [{**costs, "identity": policy(statement("*", Condition={"StringLike": {"dynamodb:Attributes": ["a" * 10_241]}}))}]}
        assert "quota for PolicySize: 10240" in json.dumps(control(server, "PUT", "policies", document, status=400))
    finally:
        server.stop()


def test_a_report_gives_the_least_policy():
    role = {"arn": f"arn:aws:iam::{ACCOUNT}:role/app", "identity": policy(statement("DeleteTable"))}
    world = World(session("a", "A"), role, mode="report")
    a = client_of(world.server, key="a")
    try:
        for name in "123":
            a.get_item(TableName="app", Key=key("A", name))
        a.scan(TableName="app")  # nothing is refused
        a.list_tables()
        report = control(world.server, "GET", "iam")
        assert report["mode"] == "report"
        arn = session("a", "A")["arn"]
        mine = next(one for one in report["principals"] if one["arn"] == arn)
        assert mine["allowed"] == 3 and mine["denied"] == 2, mine
        assert [one["action"] for one in mine["refused"]] == ["dynamodb:Scan", "dynamodb:ListTables"] or \
               sorted(one["action"] for one in mine["refused"]) == ["dynamodb:ListTables", "dynamodb:Scan"], mine
        statements = {tuple(one["Action"]): one for one in mine["policy"]["Statement"]}
        assert statements[("dynamodb:GetItem",)]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#A#*"]}}, mine
        assert "Condition" not in statements[("dynamodb:Scan",)]
        assert {"arn": role["arn"], "policy": "identity", "number": 0, "statement": 0} in report["unused"], report["unused"]
        # what the report says is a policy by which the same goes
        world.server.stop()
        world = World(session("a", "A", mine["policy"]))
        a = client_of(world.server, key="a")
        for name in "123":
            a.get_item(TableName="app", Key=key("A", name))
        a.scan(TableName="app")
        a.list_tables()
        denied(a.get_item, TableName="app", Key=key("B"))
        denied(a.query, TableName="app", KeyConditionExpression="PK = :v", ExpressionAttributeValues=value("TENANT#A#1"))
    finally:
        world.stop()


def test_a_least_policy_has_a_prefix_only_where_all_keys_have_it():
    """Also those beyond the 32 that are kept."""
    world = World(session("a", "A"), mode="report")
    a = client_of(world.server, key="a")
    least = lambda: next(one for one in control(world.server, "GET", "iam")["principals"] if one["arn"] == session("a", "A")["arn"])["policy"]["Statement"]
    try:
        for number in range(40):
            a.get_item(TableName="app", Key=key("A", str(number)))
        assert least()[0]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#A#*"]}}, least()
        a.get_item(TableName="app", Key=key("B", "1"))
        assert "Condition" not in least()[0], least()
    finally:
        world.stop()


def test_replicas_need_permissions_in_their_region():
    """AWS: Developer Guide, "Using IAM with global tables"."""
    there = "arn:aws:dynamodb:eu-west-1:000000000000:table/app"
    create = ["CreateTable", "CreateTableReplica", "Scan", "Query", "UpdateItem", "PutItem", "GetItem", "DeleteItem", "BatchWriteItem"]
    world = World(session("a", "A", policy(statement("UpdateTable", TABLE))))
    a = client_of(world.server, key="a")
    change = lambda kind, name="app": a.update_table(TableName=name, ReplicaUpdates=[{kind: {"RegionName": "eu-west-1"}}])
    may = lambda *actions: put(world.server, ADMIN, session("a", "A", policy(statement("UpdateTable", TABLE), statement(list(actions), there))))
    status = lambda: [one["ReplicaStatus"] for one in world.admin.describe_table(TableName="app")["Table"].get("Replicas", [])]
    try:
        for n in range(len(create)):
            for name in "app", TABLE:
                text = denied(change, "Create", name, action=create[n])
                assert there in text, text
            may(*create[:n + 1])
        world.admin.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        change("Create")
        until(lambda: status() == ["ACTIVE"], "the replica is not there")
        denied(change, "Delete", action="DeleteTable")
        may("DeleteTable")
        denied(change, "Delete", action="DeleteTableReplica")
        may("DeleteTable", "DeleteTableReplica")
        change("Delete")
        until(lambda: status() == [], "the replica is still there")
    finally:
        world.stop()


def test_a_file_of_policies_and_a_report_at_the_end():
    with tempfile.TemporaryDirectory() as folder:
        path, report = os.path.join(folder, "policies.json"), os.path.join(folder, "iam.json")
        with open(path, "w") as file:
            json.dump({"principals": [ADMIN, session("a", "A")]}, file)
        server = Server("--iam", "enforce", "--policies", path, "--iam-report", report)
        admin, a = client_of(server, key="admin"), client_of(server, key="a")
        create_app(admin)
        a.put_item(TableName="app", Item=item("A"))
        denied(a.put_item, TableName="app", Item=item("B"))
        put(server, ADMIN)  # wins over the file
        denied(a.put_item, TableName="app", Item=item("A"))
        control(server, "DELETE", "policies")
        a.put_item(TableName="app", Item=item("A"))
        server.stop()
        with open(report) as file:
            mine = next(one for one in json.load(file)["principals"] if one["arn"] == session("a", "A")["arn"])
        assert (mine["allowed"], mine["denied"]) == (2, 1), mine
        assert mine["policy"]["Statement"][0]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["TENANT#A#1"]}}, mine


def test_policies_outlive_a_restart_and_off_says_so():
    server = Server("--iam", "enforce", disk=True)
    try:
        put(server, ADMIN, session("a", "A"))
        create_app(client_of(server, key="admin"))
        server.kill()
        server.start()
        a = client_of(server, key="a")
        a.put_item(TableName="app", Item=item("A"))
        denied(a.put_item, TableName="app", Item=item("B"))
    finally:
        server.stop()
    server = Server()
    try:
        assert "--iam" in json.dumps(control(server, "PUT", "policies", {"principals": []}, status=400))
        assert client_of(server, key="anyone").list_tables()["TableNames"] == []
    finally:
        server.stop()


run("iam", [test_a_tenant_does_what_it_may,
            test_a_batch_of_statements_refuses_each_in_its_place, test_every_way_to_another_tenant_is_refused,
            test_streams_and_backups_are_resources_of_their_own,
            test_attributes_that_are_not_listed_are_out_of_reach,
            test_answers_are_in_aws_words,
            test_transactions_tags_and_boundaries_of_what_is_asked,
            test_members_that_an_operation_has_not_decide_nothing, test_an_arn_that_is_written_otherwise_is_the_same_resource, test_endpoints_of_the_server_are_judged_where_they_are_signed, test_a_malformed_policy_of_a_table_leaves_the_old_one,
            test_a_malformed_document_leaves_the_old_one,
            test_what_policies_cost_is_bounded,
            test_a_report_gives_the_least_policy, test_a_least_policy_has_a_prefix_only_where_all_keys_have_it,
            test_replicas_need_permissions_in_their_region,
            test_a_file_of_policies_and_a_report_at_the_end,
            test_policies_outlive_a_restart_and_off_says_so])
