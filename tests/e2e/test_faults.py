"""Fault rules as users of the SDK meet them: exception classes, retries, batches, pages, lost answers."""
import concurrent.futures
import json
import pathlib
import tempfile

import boto3
from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

from harness import Server, client_of, control, create_app, run, until


def rules(server, *wanted, query=""):
    return control(server, "PUT", "faults", {"rules": list(wanted)}, query)


def counts(server, query=""):
    return [(r["matched"], r["fired"]) for r in control(server, "GET", "faults", query=query)["rules"]]


def item(pk, **more):
    return {"PK": {"S": pk}, "SK": {"S": "1"}, **more}


def failure(call, **kwargs):
    try:
        call(**kwargs)
    except ClientError as e:
        return e
    raise AssertionError("no error")


def errors_have_their_classes():
    server = Server()
    client = client_of(server)
    create_app(client)
    for name in ("ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException", "InternalServerError", "LimitExceededException",
                 "TransactionConflictException", "ItemCollectionSizeLimitExceededException", "ReplicatedWriteConflictException",
                 "ConditionalCheckFailedException", "ResourceNotFoundException", "TransactionInProgressException", "IdempotentParameterMismatchException"):
        rules(server, {"operation": "PutItem", "error": name})
        error = failure(client.put_item, TableName="app", Item=item("a"))
        assert isinstance(error, getattr(client.exceptions, name)), (name, error)
        assert error.response["Error"]["Message"], error.response
        assert error.response["ResponseMetadata"]["HTTPStatusCode"] == (500 if name == "InternalServerError" else 400)
    for name in ("AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException", "ServiceUnavailable", "ValidationException"):
        rules(server, {"error": name})
        assert failure(client.list_tables).response["Error"]["Code"] == name
    rules(server, {"error": {"name": "ThrottlingException", "message": "slow down"}})
    assert failure(client.list_tables).response["Error"]["Message"] == "slow down"
    rules(server, {"error": "ThrottlingException", "message": "slow down", "reason": "AccountLimitExceeded"})
    error = failure(client.put_item, TableName="app", Item=item("a"))
    assert (error.response["Error"]["Message"], error.response["throttlingReasons"][0]["reason"]) == ("slow down", "TableWriteAccountLimitExceeded"), error.response
    rules(server, {"index": "GSI1", "error": "ProvisionedThroughputExceeded"})
    error = failure(client.query, TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :p", ExpressionAttributeValues={":p": {"S": "x"}})
    assert error.response["ThrottlingReasons"] == [{"reason": "IndexReadProvisionedThroughputExceeded",
                                                    "resource": "arn:aws:dynamodb:us-east-1:000000000000:table/app/index/GSI1"}], error.response
    server.stop()


def a_rule_is_about_the_work():
    """An operation matches the request of its name, and its work wherever it is done. The request's name matches all that it does."""
    server = Server("--s3", "s3")
    client = client_of(server)
    create_app(client)
    put, key = {"PutRequest": {"Item": item("x")}}, item("x")
    statement = lambda text: {"Statement": text}
    insert, update = "INSERT INTO app VALUE {'PK': 'x', 'SK': '2'}", "UPDATE app SET n = 1 WHERE PK = 'x' AND SK = '1'"
    delete, select = "DELETE FROM app WHERE PK = 'x' AND SK = '1'", "SELECT * FROM app WHERE PK = 'x' AND SK = '1'"
    write = lambda kind, **more: lambda: client.transact_write_items(TransactItems=[{kind: {"TableName": "app", **more}}])
    partiql = lambda text: [("ExecuteStatement", lambda: client.execute_statement(**statement(text))),
                            ("ExecuteTransaction", lambda: client.execute_transaction(TransactStatements=[statement(text)])),
                            ("BatchExecuteStatement", lambda: one_of(client.batch_execute_statement(Statements=[statement(text)])))]
    works = {
        "PutItem": [("PutItem", lambda: client.put_item(TableName="app", Item=item("x"))), ("TransactWriteItems", write("Put", Item=item("x"))),
                    ("BatchWriteItem", lambda: client.batch_write_item(RequestItems={"app": [put]})), *partiql(insert)],
        "DeleteItem": [("DeleteItem", lambda: client.delete_item(TableName="app", Key=key)), ("TransactWriteItems", write("Delete", Key=key)),
                       ("BatchWriteItem", lambda: client.batch_write_item(RequestItems={"app": [{"DeleteRequest": {"Key": key}}]})), *partiql(delete)],
        "UpdateItem": [("UpdateItem", lambda: client.update_item(TableName="app", Key=key)), *partiql(update),
                       ("TransactWriteItems", write("Update", Key=key, UpdateExpression="SET n = :n", ExpressionAttributeValues={":n": {"N": "1"}}))],
        "GetItem": [("GetItem", lambda: client.get_item(TableName="app", Key=key)), *partiql(select),
                    ("BatchGetItem", lambda: client.batch_get_item(RequestItems={"app": {"Keys": [key]}})),
                    ("TransactGetItems", lambda: client.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": key}}]))],
        "Query": [("Query", lambda: client.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "x"}})),
                  ("ExecuteStatement", lambda: client.execute_statement(**statement("SELECT * FROM app WHERE PK = 'x'")))],
        "Scan": [("Scan", lambda: client.scan(TableName="app")), ("ExecuteStatement", lambda: client.execute_statement(**statement("SELECT * FROM app")))],
    }
    fails = lambda call: meets(lambda: call(), "InternalServerError")
    for named in works:
        rules(server, {"operation": named, "error": "InternalServerError"})
        for work, ways in works.items():
            for request, call in ways:
                assert fails(call) == (named in (work, request)), (named, work, request)
    for request in ("BatchWriteItem", "TransactWriteItems", "ExecuteStatement"):
        rules(server, {"operation": request, "error": "InternalServerError"})
        for work, ways in works.items():
            for own, call in ways:
                assert fails(call) == (own == request), (request, work, own)
    # the members of a batch and of a transaction that are puts
    rules(server, {"operation": "PutItem", "unprocessed": "matching"})
    answer = client.batch_write_item(RequestItems={"app": [put, {"DeleteRequest": {"Key": item("y")}}]})
    assert answer["UnprocessedItems"] == {"app": [put]}, answer
    rules(server, {"operation": "DeleteItem", "cancel": "TransactionConflict"})
    error = failure(client.transact_write_items, TransactItems=[{"Put": {"TableName": "app", "Item": item("x")}}, {"Delete": {"TableName": "app", "Key": item("y")}}])
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["None", "TransactionConflict"]
    server.stop()


def puts_of_imports_are_puts():
    """A record of an import or a bulk put that a rule refuses is an error of that record."""
    server = Server("--s3", "s3")
    client = client_of(server)
    folder = pathlib.Path(server.folder, "s3", "bucket")
    folder.mkdir(parents=True)
    (folder / "x.csv").write_text("pk,n\na,1\nb,2\nc,3\n")
    rules(server, {"operation": "PutItem", "key": "b", "error": "InternalServerError"})
    made = client.import_table(S3BucketSource={"S3Bucket": "bucket", "S3KeyPrefix": "x.csv"}, InputFormat="CSV", TableCreationParameters={
        "TableName": "imported", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "BillingMode": "PAY_PER_REQUEST"})["ImportTableDescription"]["ImportArn"]
    describe = lambda: client.describe_import(ImportArn=made)["ImportTableDescription"]
    until(lambda: describe()["ImportStatus"] != "IN_PROGRESS", "the import ends")
    done = describe()
    assert (done["ImportedItemCount"], done["ErrorCount"]) == (2, 1), done
    assert counts(server) == [(1, 1)]
    (folder / "more.json").write_text("".join(json.dumps({"Item": {"pk": {"S": pk}, "n": {"N": "5"}}}) + "\n" for pk in "bcd"))

    def bulk(*wanted):
        """(items written, items refused) of a bulk put under these rules."""
        rules(server, *wanted)
        arn = client.start_bulk_put_items(TableName="imported", InputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "more.json", "InputFormat": "DYNAMODB_JSON"},
                                          OutputS3Configuration={"S3Bucket": "bucket", "S3KeyPrefix": "out", "OutputType": ["ERROR"]})["BulkOperationDescription"]["BulkOperationArn"]
        state = lambda: client.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]
        until(lambda: state()["BulkOperationStatus"] not in ("IN_PROGRESS", "PENDING", "SUBMITTED"), "the bulk put ends")
        return state()["ProcessedItemCount"] - state()["FailedItemCount"], state()["FailedItemCount"]

    condition = {"condition": "pk <> :p", "values": {":p": {"S": "b"}}}
    for rule, outcome in (({"operation": "PutItem", "key": "b"}, (2, 1)), ({"operation": "PutItem", **condition}, (1, 2)), ({"table": "imported", "operation": "PutItem"}, (0, 3)),
                          ({"operation": "PutItem", "table": "other"}, (3, 0)), ({"operation": ["DeleteItem", "BatchWriteItem"]}, (3, 0))):
        assert bulk({**rule, "error": "InternalServerError"}) == outcome, rule
    server.stop()


def meets(call, name):
    """Whether the call ends with that error; it may end with none."""
    try:
        call()
    except ClientError as e:
        reasons = [r.get("Code") for r in e.response.get("CancellationReasons", [])]
        assert name == e.response["Error"]["Code"] or reasons or e.response["Error"]["Code"] in ("DuplicateItemException", "ConditionalCheckFailedException"), e
        return e.response["Error"]["Code"] == name
    return False


def one_of(answer):
    """The error of the only statement of a batch, as one of the request."""
    error = answer["Responses"][0].get("Error")
    if error:
        raise ClientError({"Error": {"Code": "InternalServerError" if error["Code"] == "InternalServerError" else "DuplicateItemException", "Message": error.get("Message", "")}}, "x")


def streams_have_theirs():
    server = Server()
    client, streams = client_of(server), server.client(service="dynamodbstreams")
    create_app(client)
    client.update_table(TableName="app", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
    arn = client.describe_table(TableName="app")["Table"]["LatestStreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    for name in ("ExpiredIterator", "TrimmedData"):
        rules(server, {"operation": "GetRecords", "table": "app", "first": 1, "error": name})
        assert failure(streams.get_records, ShardIterator=iterator).response["Error"]["Code"].startswith(name)
        assert streams.get_records(ShardIterator=iterator)["Records"] == []
    rules(server, {"operation": "DescribeStream", "table": "app", "error": "InternalServerError"})
    failure(streams.describe_stream, StreamArn=arn)
    server.stop()


def retries_get_through():
    server = Server()
    create_app(client_of(server))
    client = client_of(server, attempts=4)
    for name, n in (("ThrottlingException", 2), ("ProvisionedThroughputExceeded", 1), ("InternalServerError", 1), ("ServiceUnavailable", 1)):
        rules(server, {"operation": "PutItem", "first": n, "error": name})
        assert client.put_item(TableName="app", Item=item("r"))["ResponseMetadata"]["RetryAttempts"] == n
        assert counts(server) == [(n + 1, n)]
    rules(server, {"operation": "PutItem", "error": "ThrottlingException"})
    assert failure(client_of(server, attempts=2).put_item, TableName="app", Item=item("r")).response["ResponseMetadata"]["RetryAttempts"] == 1
    assert control(server, "DELETE", "faults") == {"rules": []}
    client.put_item(TableName="app", Item=item("r"))
    server.stop()


def batches_come_back_in_part():
    server = Server()
    client = client_of(server)
    create_app(client)
    rules(server, {"operation": "BatchWriteItem", "first": 3, "unprocessed": 5}, {"operation": "BatchGetItem", "first": 1, "key": {"prefix": "b1"},
                                                                                "unprocessed": "matching"})
    table = boto3.resource("dynamodb", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test").Table("app")
    with table.batch_writer() as batch:
        for i in range(30):
            batch.put_item(Item={"PK": f"b{i:02}", "SK": "1"})
    assert counts(server)[0] == (4, 3), counts(server)
    assert client.scan(TableName="app", Select="COUNT")["Count"] == 30
    keys = [item(f"b{i:02}") for i in range(30)]
    answer = client.batch_get_item(RequestItems={"app": {"Keys": keys, "ConsistentRead": True}})
    left = answer["UnprocessedKeys"]["app"]
    assert len(answer["Responses"]["app"]) == 20 and sorted(k["PK"]["S"] for k in left["Keys"]) == [f"b1{i}" for i in range(10)] and left["ConsistentRead"]
    assert len(client.batch_get_item(RequestItems=answer["UnprocessedKeys"])["Responses"]["app"]) == 10
    server.stop()


def transactions_are_canceled():
    server = Server()
    client = client_of(server)
    create_app(client)
    actions = [{"Put": {"TableName": "app", "Item": item(f"t{i}")}} for i in range(3)]
    rules(server, {"cancel": "TransactionConflict", "key": "t1", "first": 1}, {"cancel": {"reason": "ThrottlingError", "members": [0, 2]}, "first": 1})
    error = failure(client.transact_write_items, TransactItems=actions)
    assert isinstance(error, client.exceptions.TransactionCanceledException)
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["None", "TransactionConflict", "None"]
    error = failure(client.transact_write_items, TransactItems=actions)
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["ThrottlingError", "None", "ThrottlingError"]
    assert client.scan(TableName="app", Select="COUNT")["Count"] == 0
    client.transact_write_items(TransactItems=actions)
    rules(server, {"cancel": "TransactionConflict", "key": "t2"})
    gets = [{"Get": {"TableName": "app", "Key": item(f"t{i}")}} for i in range(3)]
    error = failure(client.transact_get_items, TransactItems=gets)
    assert [r["Code"] for r in error.response["CancellationReasons"]] == ["None", "None", "TransactionConflict"]
    server.stop()


def pages_lose_nothing():
    server = Server()
    client = client_of(server)
    create_app(client)
    for i in range(20):
        client.put_item(TableName="app", Item={"PK": {"S": f"p{i}"}, "SK": {"S": "1"}, "GSI1PK": {"S": "all"}, "GSI1SK": {"S": "same"}})
    rules(server, {"every": 2, "page": 0}, {"page": 3})
    for name, kwargs in {"scan": {}, "query": {"IndexName": "GSI1", "KeyConditionExpression": "GSI1PK = :p",
                                              "ExpressionAttributeValues": {":p": {"S": "all"}}}}.items():
        pages = list(client.get_paginator(name).paginate(TableName="app", **kwargs))
        assert sorted(i["PK"]["S"] for page in pages for i in page["Items"]) == sorted(f"p{i}" for i in range(20))
        assert [len(p["Items"]) for p in pages].count(0) >= 5 and max(len(p["Items"]) for p in pages) == 3
    found, token = [], {}
    while token is not None:
        answer = client.execute_statement(Statement="SELECT * FROM app", **token)
        found += [i["PK"]["S"] for i in answer["Items"]]
        token = {"NextToken": answer["NextToken"]} if "NextToken" in answer else None
    assert sorted(found) == sorted(f"p{i}" for i in range(20))
    server.stop()


def answers_get_lost():
    server = Server()
    once, client = client_of(server), client_of(server, attempts=3)
    create_app(once)
    for when, there in (("before", False), ("after", True)):
        rules(server, {"operation": "PutItem", "close": when})
        try:
            once.put_item(TableName="app", Item=item(when))
            raise AssertionError("an answer came")
        except ConnectionClosedError:
            pass
        assert ("Item" in once.get_item(TableName="app", Key=item(when))) == there, when
    add = {"Key": item("n"), "TableName": "app", "UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
    number = lambda: once.get_item(TableName="app", Key=item("n"))["Item"]["n"]["N"]
    rules(server, {"close": "after", "operation": ["UpdateItem", "TransactWriteItems"], "every": 2})
    client.update_item(**add)
    client.update_item(**add)  # the second is done twice: its answer was lost
    assert number() == "3", number()
    client.transact_write_items(TransactItems=[{"Update": add}])  # and this one, which the SDK gives a token, once
    assert number() == "4" and counts(server) == [(5, 2)], (number(), counts(server))
    server.stop()


def checksums_are_wrong():
    server = Server()
    create_app(client_of(server))
    rules(server, {"operation": "GetItem", "first": 1, "crc": "wrong"})
    client_of(server, attempts=3).get_item(TableName="app", Key=item("a"))
    assert counts(server) == [(2, 1)]
    server.stop()


def slow_answers_hold_nobody_up():
    server = Server("--threads", "1")
    fast, slow = client_of(server), client_of(server, read_timeout=300)
    create_app(fast)
    fast.put_item(TableName="app", Item=item("a", text={"S": "x" * 3000}))
    rules(server, {"operation": "GetItem", "access_key": "test", "latency": 300000}, {"operation": "GetItem", "access_key": "trickle",
                                                                                     "trickle": {"bytes": 500, "ms": 20}})
    assert len(client_of(server, key="trickle").get_item(TableName="app", Key=item("a"))["Item"]["text"]["S"]) == 3000
    try:
        client_of(server, read_timeout=0.5).get_item(TableName="app", Key=item("a"))
        raise AssertionError("an answer came")
    except ReadTimeoutError:
        pass
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        waiting = [pool.submit(slow.get_item, TableName="app", Key=item("a")) for _ in range(32)]
        while counts(server)[0][0] < 33:
            pass
        fast.put_item(TableName="app", Item=item("b"))
        assert not any(w.done() for w in waiting)
        server.stop()  # what waits is answered at once
        assert all(len(w.result()["Item"]["text"]["S"]) == 3000 for w in waiting)


def tables_are_in_states_of_aws():
    """What only AWS does to a table: DescribeTable shows it, and the operations answer as the API Reference has it."""
    server = Server()
    client = client_of(server)
    create_app(client)
    calls = {"describe": (client.describe_time_to_live, {"TableName": "app"}),
             "get": (client.get_item, {"TableName": "app", "Key": item("a")}),
             "batch": (client.batch_write_item, {"RequestItems": {"app": [{"PutRequest": {"Item": item("a")}}]}}),
             "statement": (client.execute_statement, {"Statement": "SELECT * FROM app WHERE PK = 'a'"}),
             "update": (client.update_table, {"TableName": "app", "DeletionProtectionEnabled": True}),
             "backup": (client.create_backup, {"TableName": "app", "BackupName": "app"})}
    denied, absent, used = "AccessDeniedException", "ResourceNotFoundException", "ResourceInUseException"
    expected = {"INACCESSIBLE_ENCRYPTION_CREDENTIALS": {"get": denied, "batch": denied, "statement": denied, "update": denied, "backup": denied},
                "ARCHIVING": {"get": absent, "batch": absent, "statement": absent, "update": used, "backup": used, "delete": used},
                "ARCHIVED": {"get": absent, "batch": absent, "statement": absent, "update": used, "backup": used}}
    for status, errors in expected.items():
        rules(server, {"table": "app", "status": status})
        table = client.describe_table(TableName="app")["Table"]
        assert table["TableStatus"] == status, table
        assert ("ArchivalSummary" in table) == (status == "ARCHIVED"), table
        for name, (call, parameters) in calls.items():
            if name in errors:
                assert failure(call, **parameters).response["Error"]["Code"] == errors[name], (status, name)
            else:
                call(**parameters)
        if "delete" in errors:
            assert failure(client.delete_table, TableName="app").response["Error"]["Code"] == errors["delete"]
    assert counts(server)[0][0] == counts(server)[0][1] > 5
    client.delete_table(TableName="app")  # AWS: of an archived table, to restore its backup under the same name
    rules(server)
    client.create_table(TableName="twins", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
                        AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
                        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
    client.update_table(TableName="twins", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    until(lambda: client.describe_table(TableName="twins")["Table"]["Replicas"][0]["ReplicaStatus"] == "ACTIVE", "replica")
    rules(server, {"status": "REGION_DISABLED"}, query="?region=eu-west-1")
    assert client.describe_table(TableName="twins")["Table"]["Replicas"][0]["ReplicaStatus"] == "REGION_DISABLED"
    there = server.client(region="eu-west-1")
    assert failure(there.describe_table, TableName="twins").response["Error"]["Code"] == "UnrecognizedClientException"
    server.stop()


def rules_belong_to_a_namespace():
    server = Server()
    one, other = client_of(server, key="111111111111"), client_of(server, key="222222222222")
    query = "?account=111111111111"
    rules(server, {"operation": "ListTables", "error": "InternalServerError"}, query=query)
    failure(one.list_tables)
    other.list_tables()
    assert counts(server, query) == [(1, 1)] and counts(server, "?account=222222222222") == []
    answer = control(server, "PUT", "faults", {"rules": [{"operation": "ListTables", "erorr": "x"}]}, query, status=400)
    assert "there is no 'erorr'" in answer["message"] and counts(server, query) == [(1, 1)]
    assert "list of rules" in control(server, "PUT", "faults", {"rule": []}, query, status=400)["message"]
    control(server, "POST", "reset", {}, query)
    one.list_tables()
    server.stop()


def names_that_nothing_has_are_warned_of():
    """Rules, limits, lag and policies may come before their tables; an unknown member or a wrong type is an error."""
    server = Server("--iam", "report")
    create_app(client_of(server))
    no_table = "there is no table 'aap' in account 000000000000, region us-east-1 yet"
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/"
    identity = lambda *resources: {"principals": [{"access_key": "a", "arn": "arn:aws:iam::000000000000:user/a", "identity": {
        "Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:*", "Resource": list(resources)}]}}]}
    rule = lambda **more: {"rules": [{"error": "InternalServerError", **more}]}
    for path, body, warnings in (
            ("faults", rule(table="aap"), [no_table]), ("faults", rule(table="app"), None), ("faults", rule(operation="PutItem"), None),
            ("faults", rule(table="app", index="GSI9"), ["the table 'app' has no index 'GSI9' yet"]), ("faults", rule(table="app", index="GSI1"), None),
            ("throughput", {"tables": {"aap": {"throughput": "enforce"}, "app": {"throughput": "enforce"}}}, [no_table]),
            ("lag", {"tables": {"aap": {"lag": 5}, "app": {"lag": 5}}}, [no_table]), ("policies", identity(arn + "app", arn + "aap"), [no_table]),
            ("policies", identity(arn + "aap/index/*"), [no_table]), ("policies", identity(arn + "app*", "*", arn + "${aws:username}"), None)):
        assert control(server, "PUT", path, body).get("warnings") == warnings, (path, body)
        assert "warnings" not in control(server, "GET", path), path
    acts = lambda **more: {"principals": [{"access_key": "a", "arn": "arn:aws:iam::000000000000:user/a", "identity": {
        "Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Resource": "*", **more}]}}]}
    no_action = "no request asks for the action '{}': it fits none of DynamoDB's, or is judged by the actions of its members".format
    for one, warnings in ((acts(Action="dynamodb:GetItme"), [no_action("dynamodb:GetItme")]), (acts(NotAction=["dynamodb:TransactWriteItems"]), [no_action("dynamodb:TransactWriteItems")]),
                          (acts(Action=["dynamodb:*", "dynamodb:Get*", "DynamoDB:getitem", "dynamodb:?can", "dynamodb:PartiQLSelect", "s3:Getobj", "*", "dynamodb:*Item", "dynalith:*"]), None),
                          (acts(Action="dynamodb:Gett*"), [no_action("dynamodb:Gett*")]),
                          (acts(Action="*", Condition={"StringLike": {"dynamodb:LeadingKey": "a"}, "Bool": {"aws:SecureTransport": "true"}}),
                           ["no request has the condition key 'dynamodb:LeadingKey'"]),
                          (acts(Action="*", Condition={"ForAllValues:StringLike": {"dynamodb:leadingkeys": "a"}}), None)):
        assert control(server, "PUT", "policies", one).get("warnings") == warnings, one
    with tempfile.TemporaryDirectory() as folder:  # and when the server starts
        path = pathlib.Path(folder, "policies.json")
        path.write_text(json.dumps(identity(arn + "aap")).replace("dynamodb:*", "dynamodb:Scann"))
        for name, times in (("aap", 0), ("app", 1)):
            pathlib.Path(folder, "tables.json").write_text(json.dumps({
                "TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]}))
            started = Server("--iam", "report", "--policies", str(path), "--init", f"{folder}/tables.json")
            started.process.terminate()
            said = started.process.communicate(timeout=60)[1].decode()
            assert no_action("dynamodb:Scann") in said and said.count("there is no table 'aap'") == times, said
    for path, body in (("faults", {"rules": [], "more": 1}), ("faults", rule(first="2")), ("throughput", {"throughput": 1}), ("throughput", {"thruput": "off"}),
                       ("throughput", {"tables": {"app": {"thruput": "off"}}}), ("lag", {"lag": "5"}), ("lag", {"leg": 5}), ("lag", {"tables": {"app": {"leg": 5}}}),
                       ("conflicts", {"conflict": "real"}), ("conflicts", {"conflicts": True}), ("clock", {"advanced": "1d"}), ("clock", {"advance": True}),
                       ("policies", {"principals": [], "more": 1}), ("policies", {"principals": [{"arn": 5}]})):
        control(server, "PUT" if path != "clock" else "POST", path, body, status=400)
    server.stop()


def the_index_lists_all():
    server = Server()
    pages = control(server, "GET", "")["pages"]
    assert {("PUT", "/_dynalith/faults"), ("GET", "/_dynalith/faults"), ("DELETE", "/_dynalith/faults"), ("POST", "/_dynalith/reset"),
            ("GET", "/_dynalith/health")} <= {(p["method"], p["path"]) for p in pages}
    assert all(p["what"] and "\n" not in p["what"] for p in pages)
    control(server, "GET", "nothing", status=404)
    server.stop()


run("faults", [errors_have_their_classes, a_rule_is_about_the_work, puts_of_imports_are_puts, streams_have_theirs, retries_get_through, batches_come_back_in_part, transactions_are_canceled, pages_lose_nothing,
               answers_get_lost, checksums_are_wrong, slow_answers_hold_nobody_up, tables_are_in_states_of_aws, rules_belong_to_a_namespace,
               names_that_nothing_has_are_warned_of, the_index_lists_all])
