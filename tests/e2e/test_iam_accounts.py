"""Between accounts (--iam): a table is reached by its ARN where the identity's policy and the table's both allow; in one account either suffices; a denial wins."""
import contextlib
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.error
import urllib.request

from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
import boto3

from signing import signed
from harness import BINARY, ROOT, Server, control, create_app, run

OWNER, OTHER = "000000000000", "222222222222"
TABLE = f"arn:aws:dynamodb:us-east-1:{OWNER}:table/app"
SAYS = ("allow", "none", "deny")
KEY = {"PK": {"S": "p"}, "SK": {"S": "s"}}
OF_P = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
PRINCIPALS = [(account, says) for account in (OWNER, OTHER) for says in SAYS]
# Each operation that reaches another account's table. AWS: Developer Guide, "DynamoDB API operations supported by resource-based policies".
OPERATIONS = {
    "GetItem": lambda c, s: c.get_item(TableName=TABLE, Key=KEY),
    "PutItem": lambda c, s: c.put_item(TableName=TABLE, Item=KEY),
    "UpdateItem": lambda c, s: c.update_item(TableName=TABLE, Key=KEY),
    "DeleteItem": lambda c, s: c.delete_item(TableName=TABLE, Key={**KEY, "SK": {"S": "gone"}}),
    "Query": lambda c, s: c.query(TableName=TABLE, **OF_P),
    "Query of an index": lambda c, s: c.query(TableName=TABLE, IndexName="GSI1", KeyConditionExpression="GSI1PK = :p",
                                              ExpressionAttributeValues={":p": {"S": "p"}}),
    "Scan": lambda c, s: c.scan(TableName=TABLE),
    "BatchGetItem": lambda c, s: c.batch_get_item(RequestItems={TABLE: {"Keys": [KEY]}}),
    "BatchWriteItem": lambda c, s: c.batch_write_item(RequestItems={TABLE: [{"PutRequest": {"Item": KEY}}]}),
    "TransactGetItems": lambda c, s: c.transact_get_items(TransactItems=[{"Get": {"TableName": TABLE, "Key": KEY}}]),
    "TransactWriteItems": lambda c, s: c.transact_write_items(TransactItems=[{"Put": {"TableName": TABLE, "Item": KEY}}]),
    "DescribeTable": lambda c, s: c.describe_table(TableName=TABLE),
    "UpdateTable": lambda c, s: c.update_table(TableName=TABLE, DeletionProtectionEnabled=True),
    "DeleteTable": lambda c, s: protected(lambda: c.delete_table(TableName=TABLE)),
    "TagResource": lambda c, s: c.tag_resource(ResourceArn=TABLE, Tags=[{"Key": "a", "Value": "b"}]),
    "UntagResource": lambda c, s: c.untag_resource(ResourceArn=TABLE, TagKeys=["a"]),
    "ListTagsOfResource": lambda c, s: c.list_tags_of_resource(ResourceArn=TABLE),
    "DescribeStream": lambda c, s: s.describe_stream(StreamArn=World.stream),
    "GetShardIterator": lambda c, s: s.get_shard_iterator(StreamArn=World.stream, ShardId=World.shard, ShardIteratorType="LATEST"),
    "GetRecords": lambda c, s: s.get_records(ShardIterator=World.iterator),
}
# These reach no other account, whatever the policies say.
WITHIN = {
    "ExecuteStatement": lambda c: c.execute_statement(Statement=f'SELECT * FROM "{TABLE}" WHERE PK = \'p\''),
    "UpdateTimeToLive": lambda c: c.update_time_to_live(TableName=TABLE, TimeToLiveSpecification={"AttributeName": "n", "Enabled": True}),
    "CreateBackup": lambda c: c.create_backup(TableName=TABLE, BackupName="abc"),
    "GetResourcePolicy": lambda c: c.get_resource_policy(ResourceArn=TABLE),
    "ExportTableToPointInTime": lambda c: c.export_table_to_point_in_time(TableArn=TABLE, S3Bucket="bucket"),
}


def protected(call):
    """Deletion protection is looked at after the policies: the table stays."""
    try:
        call()
    except ClientError as e:
        if e.response["Error"]["Code"] != "ValidationException":
            raise


def policy(effect, **more):
    return {"Version": "2012-10-17", "Statement": [{"Effect": effect, "Action": "dynamodb:*", "Resource": "*", **more}]}


def name_of(account, says):
    return f"{says}-{account[0]}"


def arn_of(account, says):
    return f"arn:aws:iam::{account}:user/{name_of(account, says)}"


def principal(account, says):
    identity = {"allow": [policy("Allow")], "none": [], "deny": [policy("Allow"), policy("Deny")]}[says]
    return {"access_key": name_of(account, says), "arn": arn_of(account, says), "identity": identity}


@contextlib.contextmanager
def world(mode="enforce"):
    """A server that verifies; `credentials` bind keys to accounts, as docs/iam.md says."""
    secret = lambda name, account: {"access_key_id": name, "secret_access_key": "secret", "account": account}
    keys = [secret("admin", OWNER), secret("theirs", OTHER), *(secret(name_of(*one), one[0]) for one in PRINCIPALS)]
    with tempfile.TemporaryDirectory() as folder:
        path, policies = os.path.join(folder, "dynalith.json"), os.path.join(folder, "policies.json")
        with open(path, "w") as file:
            json.dump({"auth": "verify", "credentials": keys}, file)
        with open(policies, "w") as file:
            roots = [{"access_key": name, "arn": f"arn:aws:iam::{account}:root"} for name, account in (("admin", OWNER), ("theirs", OTHER))]
            json.dump({"principals": [*roots, *(principal(*one) for one in PRINCIPALS)]}, file)
        server = Server("--config", path, "--iam", mode, "--policies", policies)
        try:
            yield World(server)
        finally:
            server.stop()


class World:
    def __init__(self, server):
        self.server = server
        self.admin, streams = self.client("admin"), self.client("admin", "dynamodbstreams")
        create_app(self.admin)
        self.admin.update_table(TableName="app", DeletionProtectionEnabled=True)
        self.admin.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        self.admin.put_item(TableName="app", Item={**KEY, "of": {"S": OWNER}})
        World.stream = self.admin.describe_table(TableName="app")["Table"]["LatestStreamArn"]
        World.shard = streams.describe_stream(StreamArn=World.stream)["StreamDescription"]["Shards"][0]["ShardId"]
        World.iterator = streams.get_shard_iterator(StreamArn=World.stream, ShardId=World.shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]

    def client(self, key, service="dynamodb"):
        return boto3.client(service, endpoint_url=self.server.url, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key="secret",
                            config=Config(retries={"total_max_attempts": 1, "mode": "standard"}))

    def set_policy(self, says):
        """Of the table and of its stream, about all principals."""
        for resource in TABLE, World.stream:
            if says == "none":
                self.admin.delete_resource_policy(ResourceArn=resource)
                continue
            users = {"AWS": [arn_of(*one) for one in PRINCIPALS]}
            document = policy(says.capitalize(), Principal=users)
            document["Statement"][0]["Resource"] = [resource, f"{resource}/index/*"] if resource == TABLE else resource
            if resource == World.stream:
                document["Statement"][0]["Action"] = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
            self.admin.put_resource_policy(ResourceArn=resource, Policy=json.dumps(document))


def outcome(call):
    """Absent where it went through; else why not."""
    try:
        call()
    except ClientError as e:
        assert e.response["Error"]["Code"] == "AccessDeniedException", e.response["Error"]
        return e.response["Error"]["Message"]
    return None


def expected(account, identity, resource):
    """AWS: IAM User Guide, "Policy evaluation for requests within a single account", "Cross-account policy evaluation logic"."""
    if identity == "deny":
        return "with an explicit deny in an identity-based policy"
    if resource == "deny":
        return "with an explicit deny in a resource-based policy"
    if account == OWNER:
        return None if "allow" in (identity, resource) else "because no identity-based policy allows"
    if identity == "none":
        return "because no identity-based policy allows"
    return None if resource == "allow" else "because no resource-based policy allows"


def test_the_matrix_of_accounts_and_policies():
    tried = 0
    with world() as w:
        clients = {one: (w.client(name_of(*one)), w.client(name_of(*one), "dynamodbstreams")) for one in PRINCIPALS}
        for resource in SAYS:
            w.set_policy(resource)
            for (account, identity), (name, call) in itertools.product(PRINCIPALS, OPERATIONS.items()):
                wanted = expected(account, identity, resource)
                why = outcome(lambda: call(*clients[account, identity]))
                assert (why is None) == (wanted is None) and (why is None or wanted in why), (name, account, identity, resource, why)
                tried += 1
        assert tried == 2 * 3 * 3 * len(OPERATIONS) and len(OPERATIONS) >= 12
        assert w.admin.get_item(TableName="app", Key=KEY)["Item"]


def test_a_name_is_of_the_own_account():
    """A table of the same name here is not touched by what names the other by its ARN, nor the other way round."""
    with world() as w:
        theirs, user = w.client("theirs"), w.client(name_of(OTHER, "allow"))
        w.set_policy("allow")
        assert "not found" in str(outcome_of(lambda: user.get_item(TableName="app", Key=KEY)))
        create_app(theirs)
        theirs.put_item(TableName="app", Item={**KEY, "of": {"S": OTHER}})
        of = lambda table: user.get_item(TableName=table, Key=KEY)["Item"]["of"]["S"]
        assert (of("app"), of(TABLE)) == (OTHER, OWNER)
        user.update_item(TableName=TABLE, Key=KEY, UpdateExpression="SET n = :n", ExpressionAttributeValues={":n": {"N": "1"}})
        assert "n" not in user.get_item(TableName="app", Key=KEY)["Item"]
        assert user.describe_table(TableName=TABLE)["Table"]["TableArn"] == TABLE
        # the own table's policy is not asked about the other's table
        w.admin.delete_resource_policy(ResourceArn=TABLE)
        theirs.put_resource_policy(ResourceArn=TABLE.replace(OWNER, OTHER), Policy=json.dumps(
            {**policy("Allow", Principal={"AWS": arn_of(OTHER, "allow")}, Resource=TABLE.replace(OWNER, OTHER))}))
        assert "no resource-based policy allows" in outcome(lambda: user.get_item(TableName=TABLE, Key=KEY))
        # tables of two accounts do not stand in one request
        w.set_policy("allow")
        both = [{"Put": {"TableName": name, "Item": KEY}} for name in ("app", TABLE)]
        assert outcome(lambda: user.transact_write_items(TransactItems=both))
        assert outcome(lambda: user.batch_get_item(RequestItems={name: {"Keys": [KEY]} for name in ("app", TABLE)}))


def outcome_of(call):
    try:
        return call()
    except ClientError as e:
        return e


def test_what_stays_within_an_account():
    with world() as w:
        w.set_policy("allow")
        user = w.client(name_of(OTHER, "allow"))
        for name, call in WITHIN.items():
            error = outcome_of(lambda: call(user))
            assert isinstance(error, ClientError) and error.response["Error"]["Code"] in ("AccessDeniedException", "ValidationException"), (name, error)
        # another region is no matter of accounts
        error = outcome_of(lambda: user.get_item(TableName=TABLE.replace("us-east-1", "eu-west-1"), Key=KEY))
        assert "egion" in str(error) or "AccessDenied" in str(error), error


def test_a_report_opens_no_account():
    """--iam report refuses nothing that goes without it; between accounts nothing does."""
    with world(mode="report") as w:
        user, stranger = w.client(name_of(OTHER, "allow")), w.client(name_of(OTHER, "none"))
        assert "no resource-based policy allows" in outcome(lambda: user.get_item(TableName=TABLE, Key=KEY))
        w.set_policy("allow")
        assert user.get_item(TableName=TABLE, Key=KEY)["Item"]["of"]["S"] == OWNER
        assert "no identity-based policy allows" in outcome(lambda: stranger.get_item(TableName=TABLE, Key=KEY))
        assert stranger.list_tables()["TableNames"] == []


def test_the_document_is_tried_as_written():
    """docs/iam.md, "Between two accounts": its configuration, its policies and the table's policy, in this order."""
    section = (ROOT / "docs/iam.md").read_text().split("## Between two accounts")[1].split("\n## ")[0]
    config, policies, of_table = re.findall(r"(?m)^    \{(?:.*\n)+?(?=\n)", section)
    table = json.loads(of_table)["Statement"][0]["Resource"]
    secrets = {one["access_key_id"]: one["secret_access_key"] for one in json.loads(config)["credentials"]}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "policies.json").write_text(policies)
        pathlib.Path(folder, "dynalith.json").write_text(config.replace("policies.json", f"{folder}/policies.json"))
        server = Server("--config", f"{folder}/dynalith.json")
        owner, guest = (server.client(key=name, secret=secrets[name]) for name in ("owner", "guest"))
        try:
            create_app(owner)
            owner.put_item(TableName="app", Item=KEY)
            assert "no resource-based policy allows" in outcome(lambda: guest.get_item(TableName=table, Key=KEY))
            owner.put_resource_policy(ResourceArn=table, Policy=of_table)
            assert guest.get_item(TableName=table, Key=KEY)["Item"] == KEY
            assert "no identity-based policy allows" in outcome(lambda: guest.put_item(TableName=table, Item=KEY))
            assert outcome(lambda: guest.get_item(TableName="app", Key=KEY))
        finally:
            server.stop()


def test_explain_names_the_statement():
    """The policy, the Sid and the line of its document that decide, whichever kind of policy it is; nothing of it counts."""
    text = """{"principals": [
  {"access_key": "admin", "arn": "arn:aws:iam::000000000000:root"},
  {"access_key": "u", "arn": "arn:aws:iam::000000000000:user/u",
   "identity": [{"Version": "2012-10-17", "Statement": {"Sid": "Reads", "Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "*"}},
                {"Version": "2012-10-17", "Statement": [
                  {"Sid": "Writes", "Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": "*"},
                  {"Sid": "NoScans", "Effect": "Deny", "Action": "dynamodb:Scan", "Resource": "*"}]}],
   "boundary": {"Version": "2012-10-17", "Statement": [
     {"Sid": "Most", "Effect": "Allow", "NotAction": "dynamodb:PutItem", "Resource": "*"}]}}
]}"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "policies.json")
        path.write_text(text)
        server = Server("--iam", "enforce", "--policies", str(path))
        admin = server.client(key="admin")
        create_app(admin)
        explain = lambda operation, key="u", **request: control(server, "POST", "explain", {"operation": operation, "access_key": key, "request": {"TableName": "app", **request}})
        line = lambda sid: next(i for i, l in enumerate(text.split("\n"), 1) if f'"{sid}"' in l)
        told = explain("GetItem", Key=KEY)
        decision, = told["iam"]
        assert told["status"] == 200 and decision["is_allowed"] and (decision["policy"], decision["sid"], decision["line"], decision["document"]) == (
            "identity", "Reads", line("Reads"), "principals[1].identity"), told
        told = explain("Scan")
        decision, = told["iam"]
        assert told["status"] == 400 and told["error"]["type"] == "AccessDeniedException" and not decision["is_allowed"], told
        assert (decision["effect"], decision["sid"], decision["line"]) == ("Deny", "NoScans", line("NoScans")), decision
        decision, = explain("PutItem", Item=KEY)["iam"]
        assert not decision["is_allowed"] and decision["policy"] == "boundary" and "sid" not in decision and decision["why"], decision
        decision, = explain("GetItem", key="admin", Key=KEY)["iam"]
        assert decision["is_allowed"] and "root" in decision["why"], decision
        admin.put_resource_policy(ResourceArn=TABLE, Policy=json.dumps({"Version": "2012-10-17", "Statement": [
            {"Sid": "Other", "Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::000000000000:user/v"}, "Action": "dynamodb:Query", "Resource": TABLE},
            {"Sid": "NotThis", "Effect": "Deny", "Principal": {"AWS": "arn:aws:iam::000000000000:user/u"}, "Action": "dynamodb:GetItem", "Resource": TABLE}]}))
        decision, = explain("GetItem", Key=KEY)["iam"]
        assert (decision["policy"], decision["sid"], decision["statement"]) == ("resource", "NotThis", 1) and "line" not in decision, decision
        assert "iam" not in control(server, "POST", "explain", {"operation": "GetItem", "request": {"TableName": "app", "Key": KEY}})
        assert not [p for p in control(server, "GET", "iam")["principals"] if p["arn"].endswith("user/u")]
        command = lambda *words: subprocess.run([BINARY, "explain", *words, "--access-key", "u"], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        scan = "Scan", '{"TableName": "app"}'
        done = command(*scan, "--policies", str(path))
        assert (done.returncode, done.stdout.splitlines()) == (3, [
            f"denied: dynamodb:Scan on {TABLE}", f'  Deny by the identity policy, Sid "NoScans", {path}:{line("NoScans")} (principals[1].identity)']), done
        assert command(*scan, "--endpoint", server.url).stdout.splitlines()[1] == f'  Deny by the identity policy, Sid "NoScans", line {line("NoScans")} (principals[1].identity)'
        request = path.with_name("request.json")
        request.write_text(json.dumps({"TableName": "app", "Key": KEY}))
        done = command("GetItem", str(request), "--policies", str(path))
        assert done.returncode == 0 and "allowed: dynamodb:GetItem" in done.stdout and f'Sid "Reads", {path}:{line("Reads")}' in done.stdout, done
        done = command("GetItem", str(request), "--endpoint", server.url)  # whose table has a policy
        assert done.returncode == 3 and 'Deny by the resource policy, Sid "NotThis"' in done.stdout, done
        done = command("PutItem", json.dumps({"TableName": "app", "Item": KEY}), "--policies", str(path), "--json")
        assert done.returncode == 3 and json.loads(done.stdout)[0]["policy"] == "boundary", done
        for words, problem in ((("GetItem", '{"TableName": "app"}'), "key"), (("GetTable", "{}"), "no operation 'GetTable'"), (("Scan", "[]"), "[]"), (("Scan", "{"), "no JSON object")):
            done = command(*words, "--policies", str(path))
            assert done.returncode == 1 and problem in done.stderr, (words, done)
        path.write_text(text.replace('"Effect": "Allow"', '"Effect": "Maybe"'))
        done = command(*scan, "--policies", str(path))
        assert done.returncode == 1 and str(path) in done.stderr, done
        server.stop()
    off = Server()
    assert "--iam" in json.dumps(control(off, "POST", "explain", {"operation": "Scan", "access_key": "u", "request": {"TableName": "app"}}, status=400))
    off.stop()


def test_explain_opens_no_account():
    """A key does not see by another key's policies what it may not see itself."""
    with world() as w:
        w.set_policy("allow")
        body = json.dumps({"operation": "Scan", "access_key": name_of(OTHER, "allow"), "request": {"TableName": TABLE}}).encode()
        headers = signed(w.server, "POST", "/_dynalith/explain", body, credentials=Credentials("theirs", "secret"))
        try:
            urllib.request.urlopen(urllib.request.Request(f"{w.server.url}/_dynalith/explain", data=body, headers=headers, method="POST"), timeout=60)
            raise AssertionError("explained")
        except urllib.error.HTTPError as e:
            assert e.code == 400 and b"control" in e.read()


def test_what_has_no_resource_wants_all():
    """AWS: Service Authorization Reference: these actions name no resource, so that a policy on one table does not give them."""
    lists = ["list_tables", "list_global_tables", "list_backups", "list_imports", "list_exports", "list_contributor_insights", "describe_limits",
             "describe_endpoints"]
    one = {"access_key": "one", "arn": f"arn:aws:iam::{OWNER}:user/one"}
    server = Server("--iam", "enforce")
    client = lambda key, service="dynamodb": server.client(key=key, service=service)
    try:
        for resource, is_allowed in ((TABLE, False), ([TABLE, f"{TABLE}/*"], False), ("*", True)):
            control(server, "PUT", "policies", {"principals": [{**one, "identity": policy("Allow", Resource=resource)}]})
            for call in [*(getattr(client("one"), name) for name in lists), client("one", "dynamodbstreams").list_streams]:
                why = outcome(call)
                assert (why is None) == is_allowed, (call.__name__, resource, why)
    finally:
        server.stop()


run("iam-accounts", [test_the_matrix_of_accounts_and_policies, test_a_name_is_of_the_own_account, test_what_stays_within_an_account,
                     test_a_report_opens_no_account,
                     test_the_document_is_tried_as_written, test_explain_names_the_statement,
                     test_explain_opens_no_account, test_what_has_no_resource_wants_all])
