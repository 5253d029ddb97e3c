"""Application Auto Scaling on the server's own port: targets and policies of tables and indexes, by boto3; signatures, rights, restarts."""
import json
import urllib.error
import urllib.request

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from harness import Server, control, raises, run
from signing import CREDENTIALS, verifying

WRITE, READ = "dynamodb:table:WriteCapacityUnits", "dynamodb:table:ReadCapacityUnits"
INDEX_WRITE = "dynamodb:index:WriteCapacityUnits"


def create(client, name="app", index=None, units=5):
    more = {} if not index else {"GlobalSecondaryIndexes": [{
        "IndexName": index, "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": {"ReadCapacityUnits": units, "WriteCapacityUnits": units}}]}
    client.create_table(TableName=name, ProvisionedThroughput={"ReadCapacityUnits": units, "WriteCapacityUnits": units},
                        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "g")[:2 if index else 1]],
                        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}], **more)


def place(resource="table/app", dimension=WRITE):
    return {"ServiceNamespace": "dynamodb", "ResourceId": resource, "ScalableDimension": dimension}


def register(scaling, resource="table/app", dimension=WRITE, least=1, most=10, **more):
    return scaling.register_scalable_target(**place(resource, dimension), MinCapacity=least, MaxCapacity=most, **more)["ScalableTargetARN"]


def put(scaling, resource="table/app", dimension=WRITE, value=70.0, name="keep", **more):
    metric = "DynamoDBWriteCapacityUtilization" if "Write" in dimension else "DynamoDBReadCapacityUtilization"
    return scaling.put_scaling_policy(**place(resource, dimension), PolicyName=name, PolicyType="TargetTrackingScaling", TargetTrackingScalingPolicyConfiguration={
        "TargetValue": value, "PredefinedMetricSpecification": {"PredefinedMetricType": metric}, **more})["PolicyARN"]


def scale(scaling, resource="table/app", dimension=WRITE, **more):
    register(scaling, resource, dimension, **more)
    put(scaling, resource, dimension)


def units(client, name="app"):
    provisioned = client.describe_table(TableName=name)["Table"]["ProvisionedThroughput"]
    return provisioned["ReadCapacityUnits"], provisioned["WriteCapacityUnits"]


def targets_and_policies_come_and_go():
    server = Server(disk=True)
    client, scaling = server.client(), server.client(service="application-autoscaling")
    create(client, index="by-g")
    arn = register(scaling, Tags={"team": "a"})
    policy = put(scaling, ScaleInCooldown=60)
    register(scaling, "table/app/index/by-g", INDEX_WRITE)
    assert arn.startswith("arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/") and policy.endswith(":policyName/keep"), (arn, policy)
    server.kill()
    server.start()
    client, scaling = server.client(), server.client(service="application-autoscaling")
    pages = list(scaling.get_paginator("describe_scalable_targets").paginate(ServiceNamespace="dynamodb", PaginationConfig={"PageSize": 1}))
    assert [[t["ResourceId"] for t in page["ScalableTargets"]] for page in pages] == [["table/app"], ["table/app/index/by-g"]], pages
    assert pages[0]["ScalableTargets"][0]["ScalableTargetARN"] == arn
    assert scaling.list_tags_for_resource(ResourceARN=arn)["Tags"] == {"team": "a"}
    found = scaling.describe_scaling_policies(ServiceNamespace="dynamodb")["ScalingPolicies"]
    assert [(p["PolicyARN"], p["ResourceId"], p["TargetTrackingScalingPolicyConfiguration"]["ScaleInCooldown"]) for p in found] == [(policy, "table/app", 60)], found
    raises("ObjectNotFoundException", scaling.delete_scaling_policy, **place(), PolicyName="other")
    scaling.delete_scaling_policy(**place(), PolicyName="keep")
    assert raises("ObjectNotFoundException", scaling.deregister_scalable_target, **place(dimension=READ)).endswith("scalable dimension: " + READ)
    scaling.deregister_scalable_target(**place())
    assert [t["ResourceId"] for t in scaling.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"]] == ["table/app/index/by-g"]
    other = server.client(service="application-autoscaling", region="eu-west-1")
    assert other.describe_scalable_targets(ServiceNamespace="dynamodb")["ScalableTargets"] == []
    server.stop()


def limits_change_the_capacity():
    server = Server()
    client, scaling = server.client(), server.client(service="application-autoscaling")
    create(client)
    register(scaling, dimension=READ, least=8, most=20)
    assert units(client) == (8, 5)
    register(scaling, least=1, most=3)
    assert units(client) == (8, 3)
    client.update_table(TableName="app", ProvisionedThroughput={"ReadCapacityUnits": 2, "WriteCapacityUnits": 2})
    assert units(client) == (2, 2)  # AWS: a change by hand below the minimum stays: DDB-TABLE-315
    create(client, "quiet")
    register(scaling, "table/quiet", least=9, SuspendedState={"DynamicScalingOutSuspended": True})
    assert units(client, "quiet") == (5, 5)
    server.stop()


def answers_have_the_service_s_form():
    server = Server()
    request = urllib.request.Request(server.url, data=b'{"ServiceNamespace": "dynamodb"}', headers={
        "X-Amz-Target": "AnyScaleFrontendService.DescribeScalableTargets", "Content-Type": "application/x-amz-json-1.1",
        "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/application-autoscaling/aws4_request, SignedHeaders=host, Signature=0"})
    request.add_header("X-Amz-Date", "20260101T000000Z")
    with urllib.request.urlopen(request) as reply:
        assert reply.headers["Content-Type"] == "application/x-amz-json-1.1" and json.load(reply) == {"ScalableTargets": []}
    request.data = b"{}"
    try:
        urllib.request.urlopen(request)
        raise AssertionError("no error")
    except urllib.error.HTTPError as error:
        assert error.headers["Content-Type"] == "application/x-amz-json-1.1"
        assert json.load(error) == {"__type": "ValidationException", "Message": "1 validation error detected: Value null at 'serviceNamespace' failed to "
                                                                               "satisfy constraint: Member must not be null"}
    server.stop()


def a_signature_is_for_one_service():
    server = verifying()

    def ask(target, service):
        request = AWSRequest("POST", server.url + "/", data=b'{"ServiceNamespace": "dynamodb"}' if "Scal" in target else b"{}",
                             headers={"Host": f"127.0.0.1:{server.port}", "X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"})
        SigV4Auth(CREDENTIALS, service, "us-east-1").add_auth(request)
        try:
            with urllib.request.urlopen(urllib.request.Request(request.url, data=request.data, headers=dict(request.headers))) as reply:
                return reply.status, ""
        except urllib.error.HTTPError as error:
            return error.code, json.load(error).get("message")

    assert ask("AnyScaleFrontendService.DescribeScalableTargets", "application-autoscaling") == (200, "")
    assert ask("AnyScaleFrontendService.DescribeScalableTargets", "dynamodb") == (
        400, "Credential should be scoped to correct service: 'application-autoscaling'. ")
    assert ask("DynamoDB_20120810.ListTables", "application-autoscaling") == (400, "Credential should be scoped to correct service: 'dynamodb'. ")
    assert ask("DynamoDB_20120810.ListTables", "dynamodb") == (200, "")
    server.stop()


def rights_are_the_service_s_own():
    server = Server("--iam", "enforce")
    arn = "arn:aws:iam::000000000000:"
    allow = lambda actions, resource="*": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": resource}]}
    control(server, "PUT", "policies", {"principals": [
        {"access_key": "admin", "arn": arn + "root"},
        {"access_key": "tables", "arn": arn + "user/tables", "identity": allow("dynamodb:*")},
        {"access_key": "scaler", "arn": arn + "user/scaler",
         "identity": allow(["application-autoscaling:*"], "arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/*")}]})
    create(server.client(key="admin"))
    tables, scaler = (server.client(key=key, service="application-autoscaling") for key in ("tables", "scaler"))
    said = raises("AccessDeniedException", tables.register_scalable_target, **place(), MinCapacity=1, MaxCapacity=10)
    assert "application-autoscaling:RegisterScalableTarget on resource: arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/" in said, said
    assert register(scaler) in said
    raises("AccessDeniedException", scaler.describe_scalable_targets, ServiceNamespace="dynamodb")  # it has no resource
    raises("AccessDeniedException", server.client(key="scaler").list_tables)
    server.stop()


def minutes(server, n):
    control(server, "POST", "clock", {"advance": 60 * n})


def capacity_follows_what_is_consumed():
    server = Server("--throughput", "enforce")
    client, scaling = server.client(), server.client(service="application-autoscaling")
    control(server, "POST", "clock", {"freeze": True})
    create(client, units=10)
    register(scaling, least=5, most=14)
    put(scaling, ScaleInCooldown=1800)
    register(scaling, dimension=READ, least=5, most=100)
    write = lambda size, n: [client.put_item(TableName="app", Item={"pk": {"S": str(i)}, "v": {"S": "x" * size}}) for i in range(n)]
    for minute in range(3):
        assert units(client) == (10, 10), minute
        write(29_000, 20)  # 29 units each: 97 % of a minute's
        minutes(server, 1)
    assert units(client) == (10, 14)  # two minutes above 70 % raise it, a minute later; not beyond the maximum
    minutes(server, 60)
    assert units(client) == (10, 14)  # AWS: nothing is lowered while nothing is consumed
    for _ in range(17):
        write(1, 1)
        minutes(server, 1)
    assert units(client) == (10, 5)  # fifteen minutes far below it
    provisioned = client.describe_table(TableName="app")["Table"]["ProvisionedThroughput"]
    assert provisioned["NumberOfDecreasesToday"] <= 1 and provisioned["LastIncreaseDateTime"] < provisioned["LastDecreaseDateTime"], provisioned
    register(scaling, SuspendedState={"DynamicScalingOutSuspended": True})
    for minute in range(5):
        write(20_000, 15)
        minutes(server, 1)
    assert units(client) == (10, 5)
    server.stop()


def replicas_have_the_same_write_capacity():
    server = Server("--throughput", "enforce")
    client, other = server.client(), server.client(region="eu-west-1")
    scaling = server.client(service="application-autoscaling")
    control(server, "POST", "clock", {"freeze": True})
    create(client, units=10)
    scale(scaling, most=50)
    client.update_table(TableName="app", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    for _ in range(3):
        for i in range(20):
            client.put_item(TableName="app", Item={"pk": {"S": str(i)}, "v": {"S": "x" * 29_000}})
        minutes(server, 1)
    assert units(client)[1] > 10 and units(other) == units(client), (units(client), units(other))
    server.stop()


if __name__ == "__main__":
    run("scaling", [capacity_follows_what_is_consumed, replicas_have_the_same_write_capacity, targets_and_policies_come_and_go, limits_change_the_capacity, answers_have_the_service_s_form, a_signature_is_for_one_service,
                    rights_are_the_service_s_own])
