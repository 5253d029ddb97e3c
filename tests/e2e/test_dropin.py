"""DynamoDB Local's place: its command line, what test libraries and compose files wait for, and what Terraform asks."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import boto3

from harness import BINARY, Server, free_port, key, raises, run

BANNER = "Initializing DynamoDB Local with the following configuration:"


class Java:
    """`java ARGUMENTS` with a java that is our server, as in the image; the lines that it printed come from lines()."""

    def __init__(self, *arguments, name="java", environment=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-java-"))
        (self.folder / "bin").mkdir()
        os.symlink(BINARY, self.folder / "bin" / name)
        self.port = free_port()
        self.out = open(self.folder / "out", "w+")
        self.process = subprocess.Popen([f"{self.folder}/bin/{name}", *(a.replace("PORT", str(self.port)) for a in arguments)], cwd=self.folder,
                                        stdout=self.out, stderr=subprocess.PIPE, env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(120)
        self.process.stderr.close()
        self.out.close()
        shutil.rmtree(self.folder)

    def text(self):
        return (self.folder / "out").read_text()

    def wait_for_line(self, pattern):
        """Testcontainers' strategy: read the log until a line is there."""
        for _ in range(2000):
            if re.search(pattern, self.text()):
                return
            assert self.process.poll() is None, self.process.stderr.read()
            time.sleep(0.005)
        raise AssertionError(self.text())

    def wait_for_port(self):
        for _ in range(2000):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None, self.process.stderr.read()
                time.sleep(0.005)
        raise AssertionError("nothing listens")

    def client(self, access="local", region="us-east-1"):
        return boto3.client("dynamodb", endpoint_url=f"http://127.0.0.1:{self.port}", region_name=region, aws_access_key_id=access, aws_secret_access_key="x")


def status(port, method="GET", path="/", headers=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, headers=headers or {}), timeout=120) as reply:
            return reply.status, reply.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as s:
            s.bind(("::1", 0))
            return True
    except OSError:
        return False


def create(client, name="app", **more):
    client.create_table(TableName=name, BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
                        KeySchema=key("pk"), **more)


def the_line_of_scripts():
    with Java("-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-inMemory", "-sharedDb", "-port", "PORT") as java:
        java.wait_for_line(re.escape(BANNER))
        create(java.client())
        assert java.client(access="123456789012", region="eu-west-1").list_tables()["TableNames"] == ["app"]
        lines = java.text().splitlines()
        assert lines[:3] == [BANNER, f"Port:\t{java.port}", "InMemory:\ttrue"], lines
        assert lines[3] == "Version:\t3.3.1" and lines[4:] == ["DbPath:\tnull", "SharedDb:\ttrue", "shouldDelayTransientStatuses:\tfalse",
                                                                 "CorsParams:\tnull", ""], lines


def tools_ask_which_version_it_is():
    """ScalarDB and awslabs' MCP server compare the version; DynamoDB Local 3.3.1 tells another service's operation from an unknown one."""
    with Java("-jar", "DynamoDBLocal.jar", "-version") as java:
        java.process.wait(30)
        assert java.text() == "3.3.1\n"
    with Java("-jar", "DynamoDBLocal.jar", "-inMemory", "-port", "PORT") as java:
        java.wait_for_port()
        for target, name in (("Kinesis_20131202.PutRecord", "InvalidAction"), ("AmazonSQS.SendMessage", "InvalidAction"), ("x", "InvalidAction"),
                             ("DynamoDB_20120810.Nope", "UnknownOperationException"), ("DynamoDBStreams_20120810.Nope", "UnknownOperationException")):
            request = urllib.request.Request(f"http://127.0.0.1:{java.port}/", data=b"{}", headers={
                "X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.0",
                "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0"})
            try:
                urllib.request.urlopen(request, timeout=30)
            except urllib.error.HTTPError as error:
                assert error.code == 400 and f'#{name}"' in error.read().decode(), target
            else:
                raise AssertionError(target)


def every_flag_of_dynamodb_local():
    with Java("-jar", "DynamoDBLocal.jar", "-port", "PORT", "-dbPath", ".", "-optimizeDbBeforeStartup", "-delayTransientStatuses", "-disableTelemetry",
              "-cors", "http://a,http://b") as java:
        java.wait_for_line("CorsParams:\thttp://a,http://b")
        assert "DbPath:\t./dynalith.db" in java.text() and "shouldDelayTransientStatuses:\ttrue" in java.text()
        create(java.client())
        assert java.client().describe_table(TableName="app")["Table"]["TableStatus"] == "CREATING"
        assert (java.folder / "dynalith.db").exists()
        assert status(java.port, headers={"Origin": "http://b"})[1]["Access-Control-Allow-Origin"] == "http://b"
        code, headers = status(java.port, headers={"Origin": "http://c"})[:2]
        assert code == 403 and headers["Access-Control-Allow-Origin"] is None
    with Java("-inMemory", "-port", "PORT") as java:
        java.wait_for_line(BANNER)
        assert status(java.port, headers={"Origin": "http://c"})[1]["Access-Control-Allow-Origin"] == "*"
        assert status(java.port, path="/_dynalith/clock", headers={"Origin": "http://c"})[0] == 403
        assert status(java.port, path="/_dynalith/clock", headers={"Origin": "http://localhost:3000"})[0] == 200


def the_classes_name_in_place_of_the_jar():
    with Java("-cp", "lib/*", "-Xmx1g", "com.amazonaws.services.dynamodbv2.local.main.ServerRunner", "-inMemory", "-port", "PORT") as java:
        java.wait_for_line(BANNER)
        assert java.client().list_tables()["TableNames"] == []


def namespaces_of_access_keys():
    """Without -sharedDb DynamoDB Local has a data file for each access key and region."""
    with Java("-jar", "DynamoDBLocal.jar", "-inMemory", "-port", "PORT") as java:
        java.wait_for_line("SharedDb:\tfalse")
        create(java.client(access="one"))
        assert java.client(access="one").list_tables()["TableNames"] == ["app"]
        assert java.client(access="two").list_tables()["TableNames"] == java.client(access="one", region="eu-west-1").list_tables()["TableNames"] == []
        arn = java.client(access="one").describe_table(TableName="app")["Table"]["TableArn"]
        assert re.fullmatch(r"arn:aws:dynamodb:us-east-1:\d{12}:table/app", arn) and java.client(access="one").describe_table(TableName=arn)
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{java.port}/_dynalith/reset?access_key=two", method="POST"), timeout=120).close()
        assert java.client(access="one").list_tables()["TableNames"] == ["app"]
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{java.port}/_dynalith/reset?access_key=one", method="POST"), timeout=120).close()
        assert java.client(access="one").list_tables()["TableNames"] == []
    for flags, apart in ((("--namespaces", "key"), True), (("--namespaces", "account"), False), ((), False), (("--namespaces", "shared"), False)):
        server = Server(*flags)
        create(server.client(key="one"))
        assert server.client(key="two").list_tables()["TableNames"] == ([] if apart else ["app"]), flags
        assert server.client(key="two", region="eu-west-1").list_tables()["TableNames"] == (["app"] if "shared" in flags else []), flags
        server.stop()


def words_that_are_no_flags():
    """DynamoDB Local passes over them, and the Java machine has more options than anyone lists."""
    with Java("-server", "--add-opens=java.base/java.lang=ALL-UNNAMED", "-javaagent:x.jar", "-jar", "DynamoDBLocal.jar", "-inMemory", "true", "-sharedDb", "true", "more",
              "-port", "PORT") as java:
        java.wait_for_line("SharedDb:\ttrue")
        assert java.client().list_tables()["TableNames"] == []


def every_address():
    """As DynamoDB Local listens, and the image: "localhost" is ::1 to some clients."""
    server = Server("--host", "::")
    for host in ["127.0.0.1", "localhost"] + ["::1"] * has_ipv6():
        socket.create_connection((host, server.port), timeout=120).close()
    assert subprocess.run([BINARY, "health", "--host", "::", "--port", str(server.port)]).returncode == 0
    server.stop()


def flags_without_java():
    with Java("-inMemory", "-port", "PORT", name="dynalith") as server:
        server.wait_for_line(BANNER)
    with Java("--in-memory", "--port", "PORT", name="dynalith") as server:
        server.wait_for_port()
        assert server.text() == ""


def what_is_wrong_is_said_in_one_line():
    def refused(*arguments):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(BINARY, f"{folder}/java")
            done = subprocess.run([f"{folder}/java", *arguments], capture_output=True, text=True, timeout=120, cwd=folder)
            return done.returncode, done.stderr
    for arguments, words in ((["-inMemory", "-dbPath", "."], "dbPath and inMemory cannot be set at the same time"),
                             (["-dbPath", "./nowhere"], "Invalid directory for database creation"), (["-port", "x"], "wants a number"),
                             (["-wrong"], "unknown option"), (["-port"], "wants a value")):
        code, line = refused("-jar", "DynamoDBLocal.jar", *arguments)
        assert code == 1 and words in line and line.count("\n") == 1, (arguments, code, line)
    assert refused("-jar", "DynamoDBLocal.jar", "-help") == (0, "") and refused("-version") == (0, "")


def a_folder_that_cannot_be_written():
    if os.geteuid() == 0:
        return  # root writes anywhere
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o500)
        done = subprocess.run([BINARY, "--port", "0", "--db-path", f"{folder}/data.db"], capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and done.stderr.count("\n") == 1 and folder in done.stderr, done.stderr


def data_is_kept_in_the_folder():
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(2):
            with Java("-jar", "DynamoDBLocal.jar", "-sharedDb", "-dbPath", folder, "-port", "PORT") as java:
                java.wait_for_line(BANNER)
                if turn == 0:
                    create(java.client())
                assert java.client().list_tables()["TableNames"] == ["app"]


def its_data_files_are_named():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("shared-local-instance.db", "local_us-east-1.db", "mine.db", "other_file.db"):
            pathlib.Path(folder, name).touch()
        with Java("-jar", "DynamoDBLocal.jar", "-dbPath", folder, "-port", "PORT") as java:
            java.wait_for_line(BANNER)
            java.process.terminate()
            log = java.process.stderr.read().decode()
        warned = sorted(re.findall(r"level=warn msg=\"(\S+) in", log))
        assert warned == ["local_us-east-1.db", "shared-local-instance.db"], log


def its_command_line_says_where_the_data_goes():
    """As in the image, whose environment says memory for those who give no arguments."""
    memory = {"DYNALITH_IN_MEMORY": "true"}
    for flags, in_memory in (((), True), (("-sharedDb",), False), (("-dbPath", "."), False), (("-sharedDb", "-inMemory"), True)):
        with Java("-jar", "DynamoDBLocal.jar", *flags, environment={**memory, "DYNALITH_PORT": "0"}) as java:
            java.wait_for_line(BANNER)
            assert f"InMemory:\t{str(in_memory).lower()}" in java.text(), (flags, java.text())
            assert (java.folder / "dynalith.db").exists() != in_memory


def health_checks_of_the_wild():
    server = Server()
    for method in ("GET", "HEAD"):
        assert status(server.port, method)[0] == 400
    assert status(server.port, path="/_dynalith/health")[0] == 200
    if shutil.which("curl"):
        line = f"curl -s -o /dev/null -I -w '%{{http_code}}' http://localhost:{server.port}"
        assert subprocess.run(line, shell=True, capture_output=True, text=True).stdout == "400"
        line = f'[ "$(curl -s -o /dev/null -I -w \'%{{http_code}}\' http://localhost:{server.port})" = "400" ] || exit 1'
        assert subprocess.run(["sh", "-c", line]).returncode == 0
        assert subprocess.run(["sh", "-c", f"curl -s http://localhost:{server.port} || exit 1"], capture_output=True).returncode == 0
    assert subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{server.port}"]).returncode == 0
    assert subprocess.run([BINARY, "health", "--port", str(server.port)]).returncode == 0
    assert subprocess.run([BINARY, "health"], env={**os.environ, "DYNALITH_PORT": str(server.port)}).returncode == 0
    server.stop()
    assert subprocess.run([BINARY, "health", "--port", str(server.port)], capture_output=True).returncode == 1


def the_root_can_answer_200():
    server = Server("--root-status", "200")
    assert [status(server.port, m)[0] for m in ("GET", "HEAD")] == [200, 200]
    assert urllib.request.urlopen(server.url).read() == b"healthy: dynamodb.us-east-1.amazonaws.com "  # as AWS, with the space
    server.client().list_tables()
    server.stop()


def testcontainers_go():
    """modules/dynamodb: image's entry point replaced by `java`, its command, and a wait for the port."""
    with Java("-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-sharedDb", "-disableTelemetry", "-port", "PORT") as java:
        java.wait_for_port()
        create(java.client())


def testcontainers_dotnet():
    """Testcontainers.DynamoDb: waits until GET / is answered with 400."""
    with Java("-jar", "DynamoDBLocal.jar", "-inMemory", "-port", "PORT") as java:
        java.wait_for_port()
        assert status(java.port)[0] == 400


def testcontainers_rust():
    """testcontainers-modules: waits for the banner on stdout, and for it alone."""
    with Java("-jar", "DynamoDBLocal.jar", "-sharedDb", "-inMemory", "-port", "PORT") as java:
        java.wait_for_line(f"^{re.escape(BANNER)}\n")
        create(java.client())


def serverless_and_jest():
    """Starters that spawn java in the folder of the jar and poll until a call is answered."""
    with Java("-Xms512m", "-Xmx1024m", "-Djava.library.path=./DynamoDBLocal_lib", "-jar", "DynamoDBLocal.jar", "-port", "PORT", "-sharedDb", "-inMemory") as java:
        java.wait_for_port()
        assert java.client().list_tables()["TableNames"] == []


def terraforms_requests():
    """aws_dynamodb_table: create with tags, wait, read back every setting, change some, destroy. Kept over a restart."""
    server = Server(disk=True)
    c = server.client()
    made = c.create_table(TableName="tf-app", BillingMode="PAY_PER_REQUEST", AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], KeySchema=key("pk"),
                          Tags=[{"Key": "Name", "Value": "tf"}, {"Key": "Environment", "Value": "test"}])["TableDescription"]
    for _ in range(10):
        table = c.describe_table(TableName="tf-app")["Table"]
        if table["TableStatus"] == "ACTIVE":
            break
    assert table["TableArn"] == made["TableArn"] and table["TableId"] == made["TableId"] and table["WarmThroughput"]["Status"] == "ACTIVE"
    assert c.update_continuous_backups(TableName="tf-app", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    c.update_time_to_live(TableName="tf-app", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True})
    c.put_resource_policy(ResourceArn=made["TableArn"], Policy='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"000000000000"},'
                          f'"Action":"dynamodb:GetItem","Resource":"{made["TableArn"]}"}}]}}')
    c.update_contributor_insights(TableName="tf-app", ContributorInsightsAction="ENABLE")

    def read():
        c = server.client()
        policy = c.get_resource_policy(ResourceArn=made["TableArn"])
        return {"table": {k: v for k, v in c.describe_table(TableName="tf-app")["Table"].items()},
                "backups": c.describe_continuous_backups(TableName="tf-app")["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"],
                "ttl": c.describe_time_to_live(TableName="tf-app")["TimeToLiveDescription"], "tags": c.list_tags_of_resource(ResourceArn=made["TableArn"])["Tags"],
                "insights": c.describe_contributor_insights(TableName="tf-app")["ContributorInsightsStatus"],
                "kinesis": c.describe_kinesis_streaming_destination(TableName="tf-app")["KinesisDataStreamDestinations"],
                "policy": (policy["Policy"], policy["RevisionId"])}

    state = read()
    assert state["backups"] == "ENABLED" and state["insights"] == "ENABLED" and state["kinesis"] == []
    assert state["ttl"] == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    assert state["tags"] == [{"Key": "Name", "Value": "tf"}, {"Key": "Environment", "Value": "test"}]
    assert "arn:aws:iam::000000000000:root" in state["policy"][0]
    server.kill()
    server.start()
    assert read() == state
    c.delete_resource_policy(ResourceArn=made["TableArn"], ExpectedRevisionId=state["policy"][1])
    raises("PolicyNotFoundException", c.get_resource_policy, ResourceArn=made["TableArn"])
    c.delete_table(TableName="tf-app")
    raises("ResourceNotFoundException", c.describe_table, TableName="tf-app")
    raises("TableNotFoundException", c.describe_continuous_backups, TableName="tf-app")
    server.stop()


def tools_at_start():
    """NoSQL Workbench and others ask these before anything else; endpoint discovery leads back here."""
    server = Server()
    c = server.client()
    assert c.describe_limits()["AccountMaxReadCapacityUnits"] == 80000
    assert c.describe_endpoints()["Endpoints"][0]["Address"] == f"127.0.0.1:{server.port}"
    assert c.list_tables()["TableNames"] == [] and c.list_contributor_insights()["ContributorInsightsSummaries"] == []
    server.stop()


def workbenchs_requests():
    """NoSQL Workbench with a connection to DynamoDB Local: its tables, a data model committed, its editor's pages, statements and transactions."""
    server = Server()
    c = server.client()
    for n in range(7):
        create(c, f"model-{n}")
    names, start = [], {}
    while True:
        page = c.list_tables(Limit=3, **start)
        names += page["TableNames"]
        if "LastEvaluatedTableName" not in page:
            break
        start = {"ExclusiveStartTableName": page["LastEvaluatedTableName"]}
    assert names == [f"model-{n}" for n in range(7)]
    raises("ResourceNotFoundException", c.describe_table, TableName="Employee")
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    c.create_table(TableName="Employee", BillingMode="PROVISIONED", ProvisionedThroughput=units, KeySchema=key("LoginAlias", "Kind"),
                   AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("LoginAlias", "Kind", "Manager")],
                   GlobalSecondaryIndexes=[{"IndexName": "DirectReports", "KeySchema": key("Manager", "LoginAlias"), "ProvisionedThroughput": units,
                                            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["Skills"]}}])
    raises("ResourceInUseException", c.create_table, TableName="Employee", BillingMode="PAY_PER_REQUEST", KeySchema=key("LoginAlias"),
           AttributeDefinitions=[{"AttributeName": "LoginAlias", "AttributeType": "S"}])
    table = c.describe_table(TableName="Employee")["Table"]
    assert table["TableStatus"] == "ACTIVE" and table["GlobalSecondaryIndexes"][0]["IndexStatus"] == "ACTIVE"
    assert {k: table["ProvisionedThroughput"][k] for k in units} == units and table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 1
    people = [{"LoginAlias": {"S": f"p{n:02}"}, "Kind": {"S": "person"}, "Manager": {"S": f"m{n % 2}"}, "Skills": {"SS": ["a", str(n)]}} for n in range(40)]
    for part in (people[:25], people[25:]):
        assert c.batch_write_item(RequestItems={"Employee": [{"PutRequest": {"Item": i}} for i in part]})["UnprocessedItems"] == {}
    seen = []
    for segment in range(4):
        found = {"LastEvaluatedKey": None}
        while "LastEvaluatedKey" in found:
            more = {"ExclusiveStartKey": found["LastEvaluatedKey"]} if found["LastEvaluatedKey"] else {}
            found = c.scan(TableName="Employee", Segment=segment, TotalSegments=4, Limit=6, ReturnConsumedCapacity="TOTAL", **more)
            assert found["ConsumedCapacity"]["TableName"] == "Employee"
            seen += [i["LoginAlias"]["S"] for i in found["Items"]]
    assert sorted(seen) == [f"p{n:02}" for n in range(40)]
    reports = c.query(TableName="Employee", IndexName="DirectReports", KeyConditionExpression="#m = :m AND #l < :l", ScanIndexForward=False, FilterExpression="contains(#s, :s)",
                      ExpressionAttributeNames={"#m": "Manager", "#l": "LoginAlias", "#s": "Skills"},
                      ExpressionAttributeValues={":m": {"S": "m1"}, ":l": {"S": "p06"}, ":s": {"S": "a"}})
    assert [i["LoginAlias"]["S"] for i in reports["Items"]] == ["p05", "p03", "p01"] and "Kind" in reports["Items"][0]
    # The editor of statements: with parameters, by pages, on an index, and one that writes.
    page = c.execute_statement(Statement='SELECT * FROM "Employee"', Limit=30)
    rest = c.execute_statement(Statement='SELECT * FROM "Employee"', NextToken=page["NextToken"])
    assert len(page["Items"]) == 30 and len(rest["Items"]) == 10 and "NextToken" not in rest
    assert len(c.execute_statement(Statement='SELECT LoginAlias FROM "Employee"."DirectReports" WHERE Manager = ?', Parameters=[{"S": "m0"}])["Items"]) == 20
    c.execute_statement(Statement="INSERT INTO \"Employee\" VALUE {'LoginAlias': 'new', 'Kind': 'person', 'Grade': 3}")
    c.execute_statement(Statement='UPDATE "Employee" SET Grade = Grade + 1 WHERE LoginAlias = ? AND Kind = ?', Parameters=[{"S": "new"}, {"S": "person"}])
    new = {"LoginAlias": {"S": "new"}, "Kind": {"S": "person"}}
    assert c.get_item(TableName="Employee", Key=new)["Item"]["Grade"] == {"N": "4"}
    raises("DuplicateItemException", c.execute_statement, Statement="INSERT INTO \"Employee\" VALUE {'LoginAlias': 'new', 'Kind': 'person'}")
    # The operation builder's transactions.
    change = [{"Put": {"TableName": "Employee", "Item": people[0] | {"Grade": {"N": "1"}}}}, {"Delete": {"TableName": "Employee", "Key": new}},
              {"Update": {"TableName": "Employee", "Key": {k: people[1][k] for k in new}, "UpdateExpression": "SET #l = :l",
                          "ExpressionAttributeNames": {"#l": "Grade"}, "ExpressionAttributeValues": {":l": {"N": "2"}}}},
              {"ConditionCheck": {"TableName": "Employee", "Key": {k: people[2][k] for k in new}, "ConditionExpression": "attribute_exists(Kind)"}}]
    for _ in range(2):  # sent twice with one token, it is done once
        c.transact_write_items(TransactItems=change, ClientRequestToken="workbench-1")
    both = c.transact_get_items(TransactItems=[{"Get": {"TableName": "Employee", "Key": {k: i[k] for k in new}}} for i in (people[0], people[1])])
    assert [r["Item"]["Grade"]["N"] for r in both["Responses"]] == ["1", "2"]
    change[3]["ConditionCheck"]["ConditionExpression"] = "attribute_not_exists(Kind)"
    raises("TransactionCanceledException", c.transact_write_items, TransactItems=change)
    assert "Item" not in c.get_item(TableName="Employee", Key=new)
    c.delete_table(TableName="Employee")
    assert "Employee" not in c.list_tables()["TableNames"]
    server.stop()


def changes_take_their_time():
    """With --delay-transient-statuses, the states between."""
    server = Server("--delay-transient-statuses")
    c = server.client()
    create(c)
    arn = c.describe_table(TableName="app")["Table"]["TableArn"]
    recovery = {"TableName": "app", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    assert "Please retry later" in raises("ContinuousBackupsUnavailableException", c.update_continuous_backups, **recovery)
    raises("ValidationException", c.update_contributor_insights, TableName="app", ContributorInsightsAction="ENABLE")
    advance = lambda: urllib.request.urlopen(f"{server.url}/_dynalith/clock", data=b'{"advance": 10}').close()
    advance()
    c.update_continuous_backups(**recovery)
    c.update_contributor_insights(TableName="app", ContributorInsightsAction="ENABLE")
    assert c.describe_contributor_insights(TableName="app")["ContributorInsightsStatus"] == "ENABLING"
    stream = {"TableName": "app", "StreamArn": "arn:aws:kinesis:us-east-1:000000000000:stream/one"}
    c.enable_kinesis_streaming_destination(**stream)
    assert c.describe_kinesis_streaming_destination(TableName="app")["KinesisDataStreamDestinations"][0]["DestinationStatus"] == "ENABLING"
    raises("ValidationException", c.disable_kinesis_streaming_destination, **stream)
    policy = '{"Statement":[{"Sid":"%s","Effect":"Allow","Principal":{"AWS":"000000000000"},"Action":"dynamodb:GetItem","Resource":"*"}]}'
    c.put_resource_policy(ResourceArn=arn, Policy=policy % "a")
    c.put_resource_policy(ResourceArn=arn, Policy=policy % "a")
    raises("ResourceInUseException", c.put_resource_policy, ResourceArn=arn, Policy=policy % "b")
    advance()
    assert c.describe_contributor_insights(TableName="app")["ContributorInsightsStatus"] == "ENABLED"
    c.put_resource_policy(ResourceArn=arn, Policy=policy % "b")
    c.disable_kinesis_streaming_destination(**stream)
    server.stop()


if __name__ == "__main__":
    run("dropin", [the_line_of_scripts, tools_ask_which_version_it_is, every_flag_of_dynamodb_local, the_classes_name_in_place_of_the_jar, namespaces_of_access_keys, words_that_are_no_flags, every_address, flags_without_java,
                   what_is_wrong_is_said_in_one_line, a_folder_that_cannot_be_written, data_is_kept_in_the_folder, its_data_files_are_named,
                   its_command_line_says_where_the_data_goes, health_checks_of_the_wild,
                   the_root_can_answer_200, testcontainers_go, testcontainers_dotnet, testcontainers_rust, serverless_and_jest, terraforms_requests,
                   tools_at_start, workbenchs_requests, changes_take_their_time])
