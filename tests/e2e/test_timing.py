"""--timing aws: each row of protocol/timing/timing.def, by the turned clock: what is seen before, meanwhile and after, and the errors' texts.

Source of all durations and texts: captures of the control plane of AWS, 8 and 9 October 2026, by the ids in timing.def.
"""
import json
import pathlib
import threading
import time
import urllib.request

import boto3
import botocore.waiter
from botocore.config import Config
from botocore.exceptions import ClientError

from harness import Server, key, raises, run, until

ACCOUNT = "111122223333"
START = "2030-11-05T10:00:00Z"  # a Tuesday; behind the system's time, which a server goes by until its clock is turned
IN_USE = "Attempt to change a resource which is still in use: "
HOUR, DAY = 3600, 86400


class Cloud:
    """A server with AWS's timing whose clock stands still; `wait` turns it."""

    def __init__(self, *flags, **kwargs):
        self.server = Server("--timing", "aws", "--ttl-period", "0", *flags, **kwargs)
        self.connect()
        self.turn(set=START, freeze=True)

    def connect(self):
        """Clients that do not retry: botocore's pauses are real."""
        self.client, self.streams = (boto3.client(
            service, endpoint_url=self.server.url, region_name="us-east-1", aws_access_key_id=ACCOUNT, aws_secret_access_key="secret",
            config=Config(retries={"total_max_attempts": 1})) for service in ("dynamodb", "dynamodbstreams"))

    def turn(self, **turn):
        request = urllib.request.Request(f"{self.server.url}/_dynalith/clock", data=json.dumps(turn).encode())
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def wait(self, seconds):
        self.turn(advance=seconds)

    def now(self):
        with urllib.request.urlopen(f"{self.server.url}/_dynalith/clock", timeout=60) as reply:
            return json.load(reply)["iso"]

    def create(self, name="tab", provisioned=False, indexes=(), wait=True, **more):
        units = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}
        billing = {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units} if provisioned else {"BillingMode": "PAY_PER_REQUEST"}
        if indexes:
            more["GlobalSecondaryIndexes"] = [{"IndexName": i, "KeySchema": key(i), "Projection": {"ProjectionType": "ALL"},
                                               **({"ProvisionedThroughput": units} if provisioned else {})} for i in indexes]
        attributes = [{"AttributeName": a, "AttributeType": "S"} for a in ("pk", *indexes)]
        answer = self.client.create_table(TableName=name, KeySchema=key("pk"), AttributeDefinitions=attributes, **billing, **more)
        if wait:
            self.wait(20)
        return answer["TableDescription"]

    def see(self, name="tab"):
        return self.client.describe_table(TableName=name)["Table"]

    def status(self, name="tab"):
        try:
            return self.see(name)["TableStatus"]
        except ClientError as error:
            assert error.response["Error"]["Code"] == "ResourceNotFoundException", error
            return None

    def lasts(self, seconds, look, meanwhile, after):
        """`look` gives `meanwhile` until `seconds` have passed, and then `after`."""
        assert look() == meanwhile, look()
        self.wait(seconds - 0.05)
        assert look() == meanwhile, look()
        self.wait(0.05)
        assert look() == after, look()

    def refused(self, seconds, error, text, call, **kwargs):
        """The call is refused in these words until `seconds` have passed; it is not made then."""
        for step in (seconds - 0.05, 0.05):
            message = raises(error, call, **kwargs)
            assert message == text, message
            self.wait(step)

    def arn(self, name="tab"):
        return f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/{name}"

    def update(self, name="tab", **change):
        return self.client.update_table(TableName=name, **change)["TableDescription"]

    def stop(self):
        self.server.stop()


def units(read, write):
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def shown_units(described):
    return described["ProvisionedThroughput"]["ReadCapacityUnits"], described["ProvisionedThroughput"]["WriteCapacityUnits"]


def instant_is_the_default():
    server = Server()
    client = server.client()
    assert client.create_table(TableName="tab", BillingMode="PAY_PER_REQUEST", KeySchema=key("pk"), AttributeDefinitions=[
        {"AttributeName": "pk", "AttributeType": "S"}])["TableDescription"]["TableStatus"] == "CREATING"
    assert client.describe_table(TableName="tab")["Table"]["TableStatus"] == "ACTIVE"
    arn = client.describe_table(TableName="tab")["Table"]["TableArn"]
    for value in "abc":
        client.tag_resource(ResourceArn=arn, Tags=[{"Key": "k", "Value": value}])
        assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "k", "Value": value}]
        client.update_table(TableName="tab", DeletionProtectionEnabled=value == "b")
    server.stop()


def a_table_is_created():
    cloud = Cloud()
    assert cloud.create(wait=False)["TableStatus"] == "CREATING"
    for call, more in ((cloud.client.update_table, {"DeletionProtectionEnabled": True}), (cloud.client.delete_table, {})):
        assert raises("ResourceInUseException", call, TableName="tab", **more) == IN_USE + "Table is being created: tab"
    assert raises("ResourceInUseException", cloud.create, wait=False) == IN_USE + "Table is being created: tab"
    raises("ResourceNotFoundException", cloud.client.get_item, TableName="tab", Key={"pk": {"S": "a"}})
    cloud.lasts(6, cloud.status, "CREATING", "ACTIVE")
    assert raises("ResourceInUseException", cloud.create, wait=False) == "Table already exists: tab"
    cloud.create("idx", indexes=["gsi"], wait=False)
    cloud.lasts(16, lambda: (cloud.status("idx"), cloud.see("idx")["GlobalSecondaryIndexes"][0]["IndexStatus"]),
                ("CREATING", "CREATING"), ("ACTIVE", "ACTIVE"))
    cloud.stop()


def back_ends_learn_of_a_new_table():
    cloud = Cloud()
    client = cloud.client
    cloud.create(wait=False, Tags=[{"Key": "a", "Value": "b"}])
    ttl = {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ttl"}}
    recovery = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    absent, arn = "Requested resource not found: Table: tab not found", cloud.arn()
    assert raises("ValidationException", client.describe_time_to_live, TableName="tab") == \
        "Cannot describe time to live while table is in CREATING state: Current table state is CREATING"
    for call, more in ((client.update_time_to_live, ttl), (client.describe_contributor_insights, {}), (client.list_contributor_insights, {}),
                       (client.update_contributor_insights, {"ContributorInsightsAction": "ENABLE"}),
                       (client.describe_kinesis_streaming_destination, {})):
        assert raises("ResourceNotFoundException", call, TableName="tab", **more) == absent
    assert raises("ResourceNotFoundException", client.get_resource_policy, ResourceArn=arn) == absent
    for call, more in ((client.describe_continuous_backups, {}), (client.update_continuous_backups, recovery)):
        assert raises("TableNotFoundException", call, TableName="tab", **more) == "Table not found: tab"
    for call, more in ((client.list_tags_of_resource, {}), (client.tag_resource, {"Tags": [{"Key": "k", "Value": "v"}]}),
                       (client.untag_resource, {"TagKeys": ["k"]})):
        assert raises("ResourceNotFoundException", call, ResourceArn=arn, **more) == f"Requested resource not found: ResourceArn: {arn} not found"
    cloud.wait(2.1)
    assert client.describe_kinesis_streaming_destination(TableName="tab")["KinesisDataStreamDestinations"] == []
    raises("PolicyNotFoundException", client.get_resource_policy, ResourceArn=arn)
    raises("TableNotFoundException", client.describe_continuous_backups, TableName="tab")
    cloud.wait(0.5)
    assert raises("ResourceInUseException", client.update_time_to_live, TableName="tab", **ttl) == IN_USE + "Table tab is being created"
    assert client.describe_contributor_insights(TableName="tab")["ContributorInsightsStatus"] == "DISABLED"
    assert raises("ValidationException", client.update_contributor_insights, TableName="tab", ContributorInsightsAction="ENABLE") == (
        "Table or Index is not in a valid state to update Key Access Insights: TableStatus must be ACTIVE to enable ContributorInsights.")
    backups = lambda: client.describe_continuous_backups(TableName="tab")["ContinuousBackupsDescription"]["ContinuousBackupsStatus"]
    assert backups() == "DISABLED"
    enabling = "Backups are being enabled for the table: tab. Please retry later"
    assert raises("ContinuousBackupsUnavailableException", client.update_continuous_backups, TableName="tab", **recovery) == enabling
    cloud.wait(2.4)  # 5 s
    assert client.list_tags_of_resource(ResourceArn=arn)["Tags"] == []
    client.untag_resource(ResourceArn=arn, TagKeys=["k"])
    assert raises("ResourceInUseException", client.tag_resource, ResourceArn=arn, Tags=[{"Key": "k", "Value": "v"}]) == \
        IN_USE + "Table is being created: tab"
    cloud.wait(1)
    assert cloud.status() == "ACTIVE" and client.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    assert client.describe_time_to_live(TableName="tab")["TimeToLiveDescription"] == {"TimeToLiveStatus": "DISABLED"}
    client.update_time_to_live(TableName="tab", **ttl)
    cloud.refused(2.6, "ContinuousBackupsUnavailableException", enabling, client.update_continuous_backups, TableName="tab", **recovery)
    cloud.lasts(0.5, backups, "DISABLED", "ENABLED")
    client.update_continuous_backups(TableName="tab", **recovery)
    cloud.create("idx", indexes=["gsi"], wait=False)
    cloud.wait(16)
    cloud.refused(1.4, "ContinuousBackupsUnavailableException", enabling.replace(" tab.", " idx."), client.update_continuous_backups, TableName="idx", **recovery)
    answer = client.update_continuous_backups(TableName="idx", **recovery)["ContinuousBackupsDescription"]
    assert answer["ContinuousBackupsStatus"] == "ENABLED", answer
    cloud.stop()


def a_table_is_deleted():
    cloud = Cloud()
    client, arn, old = cloud.client, cloud.arn(), None
    cloud.create(Tags=[{"Key": "a", "Value": "b"}])
    old = cloud.see()["TableId"]
    policy = lambda effect: {"ResourceArn": arn, "Policy": json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": effect, "Principal": {"AWS": ACCOUNT}, "Action": "dynamodb:GetItem", "Resource": arn}]})}
    client.put_resource_policy(**policy("Allow"))
    cloud.wait(15)
    assert client.delete_table(TableName="tab")["TableDescription"]["TableStatus"] == "DELETING"
    deleted = IN_USE + "Table is being deleted: tab"
    for call, more in ((client.delete_table, {}), (client.update_table, {"BillingMode": "PAY_PER_REQUEST"})):
        assert raises("ResourceInUseException", call, TableName="tab", **more) == deleted
    assert raises("ResourceInUseException", cloud.create, wait=False) == "Table already exists: tab"
    assert client.list_tables()["TableNames"] == ["tab"]
    raises("ResourceNotFoundException", client.get_item, TableName="tab", Key={"pk": {"S": "a"}})
    assert raises("ValidationException", client.describe_time_to_live, TableName="tab") == \
        "Cannot describe time to live while table is in DELETING state: Current table state is DELETING"
    tag = {"ResourceArn": arn, "Tags": [{"Key": "k", "Value": "v"}]}
    assert raises("ResourceInUseException", client.tag_resource, **tag) == deleted
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])  # what is there already
    assert raises("ResourceInUseException", client.put_resource_policy, **policy("Deny")) == deleted
    client.put_resource_policy(**policy("Allow"))
    assert len(client.list_tags_of_resource(ResourceArn=arn)["Tags"]) == 1
    recovery = {"TableName": "tab", "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
    client.update_continuous_backups(**recovery)
    client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    assert client.update_contributor_insights(TableName="tab", ContributorInsightsAction="ENABLE")["ContributorInsightsStatus"] == "ENABLING"
    cloud.wait(1)
    raises("TableNotFoundException", client.describe_continuous_backups, TableName="tab")
    raises("TableNotFoundException", client.update_continuous_backups, **recovery)
    raises("ValidationException", client.update_contributor_insights, TableName="tab", ContributorInsightsAction="ENABLE")
    assert client.describe_contributor_insights(TableName="tab")["ContributorInsightsStatus"] == "DISABLED"
    cloud.wait(0.2)
    raises("ResourceNotFoundException", client.list_tags_of_resource, ResourceArn=arn)
    cloud.refused(0.4, "ResourceInUseException", deleted, client.tag_resource, **tag)
    raises("ResourceNotFoundException", client.tag_resource, **tag)
    assert raises("ResourceInUseException", client.put_resource_policy, **policy("Allow")) == deleted
    cloud.lasts(3.5, cloud.status, "DELETING", None)
    assert client.list_tables()["TableNames"] == []
    cloud.create()
    assert cloud.see()["TableId"] != old and client.list_tags_of_resource(ResourceArn=arn)["Tags"] == []
    assert client.describe_time_to_live(TableName="tab")["TimeToLiveDescription"]["TimeToLiveStatus"] == "DISABLED"
    cloud.stop()


def units_change():
    cloud = Cloud()
    cloud.create(provisioned=True)
    answer = cloud.update(ProvisionedThroughput=units(11, 11))
    assert answer["TableStatus"] == "UPDATING" and shown_units(answer) == (10, 10) and "LastIncreaseDateTime" in answer["ProvisionedThroughput"]
    busy = IN_USE + "Table IOPS are currently being updated. Table: tab"
    for change in ({"ProvisionedThroughput": units(12, 12)}, {"BillingMode": "PAY_PER_REQUEST"}):
        assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", **change) == busy
    assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", StreamSpecification={
        "StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}) == IN_USE + "Can't enable or disable stream while table IOPS are being updated. Table: tab"
    assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab",
                  AttributeDefinitions=[{"AttributeName": "gsi", "AttributeType": "S"}], GlobalSecondaryIndexUpdates=[{"Create": {
                      "IndexName": "gsi", "KeySchema": key("gsi"), "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": units(1, 1)}}]
                  ) == IN_USE + "Can't create or delete indexes while table IOPS are being updated. Table: tab"
    assert raises("ResourceInUseException", cloud.client.delete_table, TableName="tab") == IN_USE + "Table: tab is in the process of being updated."
    assert cloud.update(DeletionProtectionEnabled=False)["TableStatus"] == "UPDATING"
    warm = lambda: cloud.see()["WarmThroughput"]["ReadUnitsPerSecond"]
    cloud.lasts(2, lambda: (cloud.status(), *shown_units(cloud.see()), warm()), ("UPDATING", 10, 10, 10), ("ACTIVE", 11, 11, 11))
    cloud.update(ProvisionedThroughput=units(3, 3))
    cloud.wait(2)
    assert warm() == 11
    cloud.stop()


def units_decrease_a_few_times_a_day():
    cloud = Cloud()
    cloud.create(provisioned=True, indexes=["gsi"])
    cloud.turn(set="2030-11-05T21:30:00Z")
    for n in range(9, 5, -1):
        assert cloud.update(ProvisionedThroughput=units(n, n))["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 9 - n
        cloud.wait(2)
    assert cloud.see()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 4
    change = {"TableName": "tab", "ProvisionedThroughput": units(5, 7)}
    text = ("Subscriber limit exceeded: Provisioned throughput decreases are limited within a given UTC day. After the first 4 decreases, each "
            "subsequent decrease in the same UTC day can be performed at most once every 3600 seconds. Number of decreases today: %d. Last "
            "decrease at Tuesday, November 5, 2030 at %s PM Coordinated Universal Time. Next decrease can be made at %s Coordinated "
            "Universal Time")
    cloud.refused(HOUR - 2, "LimitExceededException", text % (4, "9:30:06", "Tuesday, November 5, 2030 at 10:30:06 PM"), cloud.client.update_table,
                  **change)
    cloud.update(ProvisionedThroughput=units(5, 6))
    cloud.wait(2)
    assert cloud.see()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 5
    cloud.update(ProvisionedThroughput=units(20, 20))  # more is always fine
    cloud.wait(HOUR)
    cloud.update(ProvisionedThroughput=units(19, 20))
    cloud.wait(2)
    # an index has a budget of its own
    for n in range(9, 5, -1):
        cloud.update(GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(n, n)}}])
        cloud.wait(2)
    raises("LimitExceededException", cloud.client.update_table, TableName="tab",
           GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(5, 5)}}])
    # midnight comes before an hour has passed
    assert raises("LimitExceededException", cloud.client.update_table, **change) == text % (6, "11:30:08", "Wednesday, November 6, 2030 at 12:00:00 AM")
    cloud.turn(set="2030-11-06T00:00:00Z")
    assert cloud.see()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    cloud.update(ProvisionedThroughput=units(5, 5))
    cloud.wait(2)
    assert cloud.see()["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1
    cloud.stop()


def billing_switches():
    cloud = Cloud()
    cloud.create()
    since = lambda: cloud.see()["BillingModeSummary"].get("LastUpdateToPayPerRequestDateTime")
    mode = lambda: (cloud.status(), cloud.see()["BillingModeSummary"]["BillingMode"], shown_units(cloud.see())[0])
    created = since()
    answer = cloud.update(BillingMode="PAY_PER_REQUEST")
    assert answer["TableStatus"] == "UPDATING" and cloud.status() == "ACTIVE"  # the same mode again
    cloud.update(BillingMode="PROVISIONED", ProvisionedThroughput=units(5, 5))
    back = cloud.update(BillingMode="PAY_PER_REQUEST")  # answered, and dropped
    assert back["TableStatus"] == "UPDATING" and back["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST", back
    assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", OnDemandThroughput={"MaxReadRequestUnits": 5}) == \
        IN_USE + "OnDemandThroughput cannot be updated while BillingMode update is in progress"
    cloud.lasts(91.5, mode, ("UPDATING", "PROVISIONED", 5), ("ACTIVE", "PROVISIONED", 5))
    cloud.update(BillingMode="PAY_PER_REQUEST")
    assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", BillingMode="PROVISIONED",
                  ProvisionedThroughput=units(1, 1)) == IN_USE + "Table IOPS are currently being updated. Table: tab"
    assert since() == created
    cloud.lasts(4.6, mode, ("UPDATING", "PAY_PER_REQUEST", 0), ("ACTIVE", "PAY_PER_REQUEST", 0))
    assert since() > created
    cloud.update(BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1))
    cloud.lasts(2, mode, ("UPDATING", "PROVISIONED", 1), ("ACTIVE", "PROVISIONED", 1))
    cloud.create("prov", provisioned=True)
    cloud.update("prov", BillingMode="PAY_PER_REQUEST")
    look = lambda: (cloud.status("prov"), "LastUpdateToPayPerRequestDateTime" in cloud.see("prov")["BillingModeSummary"],
                    cloud.see("prov")["WarmThroughput"]["ReadUnitsPerSecond"])
    cloud.lasts(134, look, ("UPDATING", False, 10), ("ACTIVE", True, 12000))
    cloud.stop()


def a_stream_is_switched():
    cloud = Cloud()
    cloud.create()
    enable = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}
    stream = lambda: cloud.streams.describe_stream(StreamArn=arn)["StreamDescription"]["StreamStatus"]
    arn = cloud.update(**enable)["LatestStreamArn"]
    label = arn.split("/")[-1]
    about = f" Table: tab Stream: {label} Operation: ENABLE"
    for change, text in (({"StreamSpecification": {"StreamEnabled": False}}, "A stream status change is currently in progress." + about),
                         ({"TableClass": "STANDARD_INFREQUENT_ACCESS"}, "Can't update table class when stream status is being updated." + about),
                         ({"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)},
                          "Can't change table IOPS when stream status is being updated." + about),
                         ({"OnDemandThroughput": {"MaxReadRequestUnits": 5}},
                          "OnDemandThroughput cannot be updated while stream status update is in progress")):
        assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", **change) == IN_USE + text
    assert raises("ResourceInUseException", cloud.client.delete_table, TableName="tab") == \
        IN_USE + "Cannot delete table while stream is being enabled/disabled."
    # what else goes through
    cloud.client.tag_resource(ResourceArn=cloud.arn(), Tags=[{"Key": "k", "Value": "v"}])
    cloud.client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    cloud.client.update_continuous_backups(TableName="tab", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    cloud.client.put_item(TableName="tab", Item={"pk": {"S": "a"}})
    assert cloud.update(SSESpecification={"Enabled": True})["TableStatus"] == "ACTIVE" and cloud.status() == "UPDATING"
    cloud.lasts(4.5, lambda: (cloud.status(), stream()), ("UPDATING", "ENABLING"), ("ACTIVE", "ENABLED"))
    cloud.update(StreamSpecification={"StreamEnabled": False})
    cloud.lasts(4.5, lambda: (cloud.status(), stream()), ("UPDATING", "DISABLING"), ("ACTIVE", "DISABLED"))
    old, arn = arn, cloud.update(**enable)["LatestStreamArn"]
    assert stream() == "ENABLING" and cloud.streams.describe_stream(StreamArn=old)["StreamDescription"]["StreamStatus"] == "DISABLED"
    cloud.wait(22.3)
    cloud.client.delete_table(TableName="tab")
    cloud.lasts(6.1, stream, "DISABLING", "DISABLED")
    cloud.stop()


def the_class_changes_twice_a_month():
    cloud = Cloud()
    cloud.create()
    look = lambda: (cloud.status(), cloud.see().get("TableClassSummary", {}).get("TableClass"))
    infrequent = "STANDARD_INFREQUENT_ACCESS"
    assert cloud.update(TableClass="STANDARD")["TableStatus"] == "UPDATING" and look() == ("ACTIVE", None)  # nothing changes, nothing counts
    assert "TableClassSummary" not in cloud.update(TableClass=infrequent)
    about = f" when a table class update is in progress. Table: tab TableClassUpdateInProgress: {infrequent}"
    for change, text in (({"TableClass": "STANDARD"}, "Can't update table class" + about),
                         ({"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}, "Can't change stream status" + about),
                         ({"OnDemandThroughput": {"MaxReadRequestUnits": 5}}, "OnDemandThroughput cannot be updated while TableClass update is in "
                          f"progress. TableClassUpdateInProgress: {infrequent}")):
        assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", **change) == IN_USE + text
    cloud.lasts(4, look, ("UPDATING", None), ("ACTIVE", infrequent))
    cloud.update(TableClass=infrequent)  # the same again, before the budget is spent
    assert cloud.update(TableClass="STANDARD")["TableClassSummary"]["TableClass"] == infrequent
    cloud.lasts(4, look, ("UPDATING", infrequent), ("ACTIVE", "STANDARD"))
    text = "Subscriber limit exceeded: Updates to TableClass are limited to 2 times in 30 day(s)."
    for name in (infrequent, "STANDARD"):
        assert raises("LimitExceededException", cloud.client.update_table, TableName="tab", TableClass=name) == text
    cloud.refused(30 * DAY - 8, "LimitExceededException", text, cloud.client.update_table, TableName="tab", TableClass=infrequent)
    cloud.update(TableClass=infrequent)
    cloud.stop()


def encryption_hides_a_change_of_the_class():
    cloud = Cloud()
    cloud.create()
    infrequent = "STANDARD_INFREQUENT_ACCESS"
    cloud.update(TableClass=infrequent)
    cloud.wait(0.2)
    assert cloud.update(SSESpecification={"Enabled": True})["TableStatus"] == "ACTIVE"
    assert cloud.status() == "ACTIVE" and "TableClassSummary" not in cloud.see()
    assert cloud.update(TableClass="STANDARD")["TableStatus"] == "UPDATING"  # answered, and dropped
    cloud.update(OnDemandThroughput={"MaxReadRequestUnits": 5})
    cloud.lasts(3.8, lambda: (cloud.status(), cloud.see().get("TableClassSummary", {}).get("TableClass")), ("ACTIVE", None), ("ACTIVE", infrequent))
    cloud.update(TableClass="STANDARD")  # the dropped one did not count
    cloud.wait(4)
    assert cloud.see()["TableClassSummary"]["TableClass"] == "STANDARD"
    cloud.stop()


def limits_are_taken_away():
    cloud = Cloud()
    cloud.create()
    see = lambda: cloud.see().get("OnDemandThroughput")
    assert cloud.update(OnDemandThroughput={"MaxReadRequestUnits": 1000, "MaxWriteRequestUnits": 500})["TableStatus"] == "ACTIVE"
    assert see() == {"MaxReadRequestUnits": 1000, "MaxWriteRequestUnits": 500}
    cloud.update(OnDemandThroughput={"MaxReadRequestUnits": -1})
    cloud.lasts(1, see, {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 500}, {"MaxWriteRequestUnits": 500})
    cloud.update(OnDemandThroughput={"MaxWriteRequestUnits": -1})
    cloud.lasts(1, see, {"MaxWriteRequestUnits": -1}, None)
    cloud.stop()


def encryption_changes():
    cloud = Cloud()
    cloud.create()
    see = lambda: cloud.see().get("SSEDescription", {})
    look = lambda: (cloud.status(), see().get("Status"), see().get("SSEType"))
    answer = cloud.update(SSESpecification={"Enabled": True})
    assert answer["TableStatus"] == "ACTIVE" and answer["SSEDescription"] == {"Status": "UPDATING"}
    assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", SSESpecification={"Enabled": False}) == \
        IN_USE + "Server-Side Encryption is still being updated"
    assert raises("ResourceInUseException", cloud.client.delete_table, TableName="tab") == IN_USE + "Table: tab is in the process of being updated."
    cloud.update(DeletionProtectionEnabled=True)
    cloud.lasts(8.5, look, ("ACTIVE", "UPDATING", None), ("ACTIVE", "UPDATING", "KMS"))
    cloud.lasts(13.8, look, ("ACTIVE", "UPDATING", "KMS"), ("ACTIVE", "ENABLED", "KMS"))
    first = see()["KMSMasterKeyArn"]
    other = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"
    changed = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": other}
    assert cloud.update(SSESpecification=changed)["SSEDescription"]["KMSMasterKeyArn"] == first
    cloud.lasts(8.5, lambda: (see()["Status"], see()["KMSMasterKeyArn"]), ("UPDATING", first), ("UPDATING", other))
    cloud.wait(13.8)
    cloud.update(SSESpecification={"Enabled": False})
    cloud.lasts(8.5, look, ("ACTIVE", "UPDATING", "KMS"), ("ACTIVE", "UPDATING", None))
    cloud.lasts(13.8, look, ("ACTIVE", "UPDATING", None), ("ACTIVE", None, None))
    cloud.update(SSESpecification={"Enabled": True})
    cloud.wait(22.3)
    text = ("Subscriber limit exceeded: Encryption mode changes are limited in the 24h window ending at 2030-11-06T10:00:20.000Z. After the first "
            "4 change, each subsequent change in the same window can be performed at most once every 21600 seconds. Number of updates today: 4. "
            "Last change at 2030-11-05T10:01:26.900Z. Next changes can be made at 2030-11-05T16:01:26.900Z.")
    # what is so already is told first
    with_key = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": see()["KMSMasterKeyArn"]}
    raises("ValidationException", cloud.client.update_table, TableName="tab", SSESpecification=with_key)
    cloud.refused(6 * HOUR - 22.3, "LimitExceededException", text, cloud.client.update_table, TableName="tab", SSESpecification={"Enabled": False})
    cloud.update(SSESpecification={"Enabled": False})
    cloud.wait(22.3)
    raises("LimitExceededException", cloud.client.update_table, TableName="tab", SSESpecification={"Enabled": True})
    cloud.turn(set="2030-11-06T16:01:27Z")
    for enabled in (True, False, True):
        cloud.update(SSESpecification={"Enabled": enabled})
        cloud.wait(22.3)
    cloud.stop()


def warm_throughput_rises():
    cloud = Cloud()
    cloud.create(indexes=["gsi"])
    see = lambda: (cloud.status(), cloud.see()["WarmThroughput"]["ReadUnitsPerSecond"], cloud.see()["WarmThroughput"]["Status"])
    warm = lambda r, w: {"WarmThroughput": {"ReadUnitsPerSecond": r, "WriteUnitsPerSecond": w}}
    answer = cloud.update(**warm(13000, 5000))
    assert answer["TableStatus"] == "ACTIVE" and answer["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12000, "WriteUnitsPerSecond": 4000, "Status": "UPDATING"}
    cloud.wait(1)
    cloud.update(**warm(14000, 6000))  # the last wins, at the time of the first
    assert raises("ResourceInUseException", cloud.client.delete_table, TableName="tab") == IN_USE + "Table: tab is in the process of being updated."
    cloud.lasts(445, see, ("ACTIVE", 12000, "UPDATING"), ("ACTIVE", 14000, "ACTIVE"))
    cloud.update(**warm(15000, 6000))
    cloud.lasts(2, see, ("ACTIVE", 14000, "UPDATING"), ("ACTIVE", 15000, "ACTIVE"))
    index = lambda: cloud.see()["GlobalSecondaryIndexes"][0]
    cloud.update(GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "gsi", **warm(12001, 4001)}}])
    cloud.lasts(446, lambda: (index()["IndexStatus"], index()["WarmThroughput"]["ReadUnitsPerSecond"], index()["WarmThroughput"]["Status"]),
                ("ACTIVE", 12000, "UPDATING"), ("ACTIVE", 12001, "ACTIVE"))
    cloud.client.delete_table(TableName="tab")
    cloud.stop()


def protection_toggles():
    cloud = Cloud()
    cloud.create()
    assert cloud.update(DeletionProtectionEnabled=True)["TableStatus"] == "ACTIVE" and cloud.see()["DeletionProtectionEnabled"]
    cloud.wait(2)
    cloud.update(DeletionProtectionEnabled=True)  # the same again
    text = ("Deletion protection setting for table tab modified within the previous 15000 milliseconds. "
            "Please try again after 2030-11-05T10:00:35.000Z")
    cloud.refused(13, "ThrottlingException", text, cloud.client.update_table, TableName="tab", DeletionProtectionEnabled=False)
    cloud.update(DeletionProtectionEnabled=False)
    cloud.client.delete_table(TableName="tab")
    cloud.stop()


def an_index_is_built():
    cloud = Cloud()
    client = cloud.client
    cloud.create()
    client.put_item(TableName="tab", Item={"pk": {"S": "a"}, "gsi": {"S": "b"}})
    create = {"AttributeDefinitions": [{"AttributeName": "gsi", "AttributeType": "S"}], "GlobalSecondaryIndexUpdates": [
        {"Create": {"IndexName": "gsi", "KeySchema": key("gsi"), "Projection": {"ProjectionType": "ALL"}}}]}
    delete = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "gsi"}}]}
    query = {"TableName": "tab", "IndexName": "gsi", "KeyConditionExpression": "gsi = :gsi", "ExpressionAttributeValues": {":gsi": {"S": "b"}}}
    index = lambda: (cloud.see().get("GlobalSecondaryIndexes") or [{}])[0]
    look = lambda: (cloud.status(), index().get("IndexStatus"), index().get("Backfilling"))
    answer = cloud.update(**create)
    assert answer["TableStatus"] == "UPDATING" and answer["GlobalSecondaryIndexes"][0]["Backfilling"] is False
    allocating = ("Index creation is in resource allocation phase. Retry deletion during backfilling phase or when the index is active. "
                  "Table: tab Index: gsi")
    assert raises("ResourceInUseException", client.update_table, TableName="tab", **delete) == IN_USE + allocating
    assert "Can't change stream status when an index is being created" in raises(
        "ResourceInUseException", client.update_table, TableName="tab", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    insights = {"TableName": "tab", "IndexName": "gsi", "ContributorInsightsAction": "ENABLE"}
    assert raises("InternalServerError", client.update_table, TableName="tab", WarmThroughput={"ReadUnitsPerSecond": 13000}) == \
        "Table is under system maintenance, please try again later"
    assert cloud.update(DeletionProtectionEnabled=True)["TableStatus"] == "UPDATING"
    cloud.refused(20, "ResourceNotFoundException", "Requested resource not found: Index: gsi not found for table: tab",
                  client.update_contributor_insights, **insights)
    assert "IndexStatus must be ACTIVE" in raises("ValidationException", client.update_contributor_insights, **insights)
    cloud.lasts(18, look, ("UPDATING", "CREATING", False), ("ACTIVE", "CREATING", True))
    assert raises("ResourceInUseException", client.delete_table, TableName="tab") == \
        IN_USE + "Cannot delete table while indexes are being created, updated, or deleted."
    cloud.update(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    cloud.wait(4.5)
    raises("ValidationException", client.query, **query)
    cloud.lasts(482.5, look, ("ACTIVE", "CREATING", True), ("ACTIVE", "ACTIVE", None))
    assert client.query(**query)["Count"] == 1
    assert client.update_contributor_insights(**insights)["ContributorInsightsStatus"] == "ENABLING"
    cloud.update(**delete)
    cloud.lasts(4.9, look, ("UPDATING", "DELETING", None), ("ACTIVE", None, None))
    cloud.stop()


def an_index_changes_its_units():
    cloud = Cloud()
    cloud.create(provisioned=True, indexes=["gsi"])
    change = {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(12, 12)}}]}
    index = lambda: cloud.see()["GlobalSecondaryIndexes"][0]
    answer = cloud.update(**change)
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "UPDATING" and shown_units(answer["GlobalSecondaryIndexes"][0]) == (10, 10)
    assert raises("ResourceInUseException", cloud.client.update_table, TableName="tab", GlobalSecondaryIndexUpdates=[
        {"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(13, 13)}}]) == IN_USE + "Index is being updated. Table: tab Index: gsi"
    assert raises("ResourceInUseException", cloud.client.delete_table, TableName="tab") == \
        IN_USE + "Cannot delete table while indexes are being created, updated, or deleted."
    cloud.lasts(2, lambda: (cloud.status(), index()["IndexStatus"], *shown_units(index())), ("ACTIVE", "UPDATING", 10, 10), ("ACTIVE", "ACTIVE", 12, 12))
    # beside a longer change of the table
    cloud.update(AttributeDefinitions=[{"AttributeName": "new", "AttributeType": "S"}], GlobalSecondaryIndexUpdates=[{"Create": {
        "IndexName": "new", "KeySchema": key("new"), "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": units(1, 1)}}])
    cloud.update(GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "gsi", "ProvisionedThroughput": units(13, 13)}}])
    cloud.lasts(2, lambda: (cloud.status(), index()["IndexStatus"]), ("UPDATING", "UPDATING"), ("UPDATING", "ACTIVE"))
    cloud.stop()


def tags_are_locked_and_late():
    cloud = Cloud()
    client, arn = cloud.client, cloud.arn()
    cloud.create(Tags=[{"Key": "a", "Value": "1"}])
    read = lambda: {t["Key"]: t["Value"] for t in client.list_tags_of_resource(ResourceArn=arn)["Tags"]}
    write = lambda **tags: client.tag_resource(ResourceArn=arn, Tags=[{"Key": k, "Value": v} for k, v in tags.items()])
    text = "Subscriber limit exceeded: Table tags are being updated: tab"
    write(a="1")  # no change, no lock
    write(b="2")
    write(b="2")  # a replay
    write(a="1", b="2", c="3")  # and what has all of it
    for call, more in ((client.tag_resource, {"Tags": [{"Key": "a", "Value": "1"}]}), (client.untag_resource, {"TagKeys": ["a"]}),
                       (client.untag_resource, {"TagKeys": ["none"]})):
        assert raises("LimitExceededException", call, ResourceArn=arn, **more) == text
    assert raises("ResourceInUseException", client.delete_table, TableName="tab") == IN_USE + "Table tags are being updated: tab"
    client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    cloud.update(DeletionProtectionEnabled=False)
    assert read() == {"a": "1"}
    cloud.refused(1.7, "LimitExceededException", text, client.untag_resource, ResourceArn=arn, TagKeys=["a"])
    cloud.lasts(0.2, read, {"a": "1"}, {"a": "1", "b": "2", "c": "3"})
    client.untag_resource(ResourceArn=arn, TagKeys=["a"])
    cloud.refused(1.7, "LimitExceededException", text, client.tag_resource, ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    client.untag_resource(ResourceArn=arn, TagKeys=["b"])  # the first change is not even read yet
    assert read() == {"a": "1", "b": "2", "c": "3"}
    cloud.lasts(0.2, read, {"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": "3"})
    cloud.lasts(1.7, read, {"b": "2", "c": "3"}, {"c": "3"})
    client.delete_table(TableName="tab")
    cloud.stop()


def a_policy_is_late_and_rests():
    cloud = Cloud()
    client, arn = cloud.client, cloud.arn()
    cloud.create()
    document = lambda effect: json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": effect, "Principal": {"AWS": ACCOUNT}, "Action": "dynamodb:GetItem", "Resource": arn}]})
    read = lambda: json.loads(client.get_resource_policy(ResourceArn=arn)["Policy"])["Statement"][0]["Effect"]
    put = lambda effect, **more: client.put_resource_policy(ResourceArn=arn, Policy=document(effect), **more)["RevisionId"]

    def seen():
        try:
            return read()
        except ClientError as error:
            return error.response["Error"]["Code"]

    revision = put("Allow")
    assert put("Allow") == revision  # the same again
    pending = IN_USE + "Table is pending previous resource-based policy update: tab"
    assert raises("ResourceInUseException", client.put_resource_policy, ResourceArn=arn, Policy=document("Deny"), ExpectedRevisionId=revision) == pending
    raises("PolicyNotFoundException", client.delete_resource_policy, ResourceArn=arn, ExpectedRevisionId="1")
    holds = IN_USE + "Table: tab has a pending resource-based policy update."
    cloud.refused(1, "ResourceInUseException", holds, client.delete_table, TableName="tab")
    cloud.lasts(0.5, seen, "PolicyNotFoundException", "Allow")
    text = "Resource-based policy for table tab modified within the previous 15000 milliseconds. Please try again after 2030-11-05T10:00:35.000Z."
    raises("ThrottlingException", client.delete_resource_policy, ResourceArn=arn)
    cloud.refused(13.5, "ThrottlingException", text, client.put_resource_policy, ResourceArn=arn, Policy=document("Deny"))
    put("Deny", ExpectedRevisionId=revision)
    cloud.lasts(1.8, seen, "Allow", "Deny")
    cloud.wait(13.2)
    client.delete_resource_policy(ResourceArn=arn)
    cloud.refused(2, "ResourceInUseException", holds, client.delete_table, TableName="tab")
    assert seen() == "PolicyNotFoundException"
    raises("ThrottlingException", client.put_resource_policy, ResourceArn=arn, Policy=document("Deny"))
    # the stream has its own
    cloud.update(StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    stream = cloud.see()["LatestStreamArn"]
    of_stream = lambda effect: document(effect).replace(json.dumps(arn), json.dumps(stream)).replace("GetItem", "GetRecords")
    client.put_resource_policy(ResourceArn=stream, Policy=of_stream("Allow"))
    label = stream.split("/")[-1]
    assert raises("ResourceInUseException", client.put_resource_policy, ResourceArn=stream, Policy=of_stream("Deny")) == \
        IN_USE + f"Stream is pending previous resource-based policy update: {label}"
    cloud.wait(5)
    assert raises("ThrottlingException", client.put_resource_policy, ResourceArn=stream, Policy=of_stream("Deny")).startswith(
        f"Resource-based policy for stream {label} modified within the previous 15000 milliseconds. Please try again after 2030-11-05T10:01:")
    cloud.stop()


def time_to_live_rests():
    cloud = Cloud()
    cloud.create()
    client = cloud.client
    change = lambda enabled, name="ttl": {"TableName": "tab", "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name}}
    see = lambda: client.describe_time_to_live(TableName="tab")["TimeToLiveDescription"]["TimeToLiveStatus"]
    client.update_time_to_live(**change(True))
    assert see() == "ENABLED"
    # what is asked for is checked first
    assert raises("ValidationException", client.update_time_to_live, **change(True)) == "TimeToLive is already enabled"
    assert raises("ValidationException", client.update_time_to_live, **change(True, "other")) == \
        "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    text = "Time to live has been modified multiple times within a fixed interval"
    cloud.refused(1811, "ValidationException", text, client.update_time_to_live, **change(False))
    cloud.wait(60)
    client.update_time_to_live(**change(False))
    assert see() == "DISABLED"
    assert raises("ValidationException", client.update_time_to_live, **change(True)) == text
    cloud.stop()


def insights_and_destinations_settle():
    cloud = Cloud()
    cloud.create()
    client = cloud.client
    see = lambda: client.describe_contributor_insights(TableName="tab")["ContributorInsightsStatus"]
    client.update_contributor_insights(TableName="tab", ContributorInsightsAction="ENABLE")
    cloud.lasts(1, see, "ENABLING", "ENABLED")
    client.update_contributor_insights(TableName="tab", ContributorInsightsAction="DISABLE")
    cloud.lasts(2, see, "DISABLING", "DISABLED")
    target = {"TableName": "tab", "StreamArn": f"arn:aws:kinesis:us-east-1:{ACCOUNT}:stream/s"}
    status = lambda: client.describe_kinesis_streaming_destination(TableName="tab")["KinesisDataStreamDestinations"][0]["DestinationStatus"]
    client.enable_kinesis_streaming_destination(**target)
    raises("ValidationException", client.disable_kinesis_streaming_destination, **target)
    cloud.lasts(6, status, "ENABLING", "ACTIVE")
    client.update_kinesis_streaming_destination(**target, UpdateKinesisStreamingConfiguration={"ApproximateCreationDateTimePrecision": "MICROSECOND"})
    cloud.lasts(138, status, "UPDATING", "ACTIVE")
    client.disable_kinesis_streaming_destination(**target)
    cloud.lasts(2, status, "DISABLING", "DISABLED")
    cloud.stop()


def budgets_end_with_the_table():
    cloud = Cloud()
    cloud.create()
    client = cloud.client
    spend = ({"TableClass": "STANDARD_INFREQUENT_ACCESS"}, {"TableClass": "STANDARD"}, {"DeletionProtectionEnabled": True})
    for change in spend:
        cloud.update(**change)
        cloud.wait(5)
    client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    raises("LimitExceededException", client.update_table, TableName="tab", TableClass="STANDARD")
    raises("ThrottlingException", client.update_table, TableName="tab", DeletionProtectionEnabled=False)
    cloud.wait(15)
    cloud.update(DeletionProtectionEnabled=False)
    client.delete_table(TableName="tab")
    cloud.wait(5.1)
    cloud.create(wait=False)
    cloud.wait(6)
    for change in spend:  # 11.1 s after the other table's last toggle
        cloud.update(**change)
        cloud.wait(0 if "DeletionProtectionEnabled" in change else 4)
    client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    cloud.stop()


def exports_take_minutes():
    cloud = Cloud("--s3", "s3")
    bucket = pathlib.Path(cloud.server.folder, "s3", "bucket")
    bucket.mkdir(parents=True)
    cloud.create()
    cloud.client.update_continuous_backups(TableName="tab", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    cloud.client.put_item(TableName="tab", Item={"pk": {"S": "a"}})
    begin = cloud.now()
    describe = lambda: cloud.client.describe_export(ExportArn=arn)["ExportDescription"]
    arn = cloud.client.export_table_to_point_in_time(TableArn=cloud.arn(), S3Bucket="bucket")["ExportDescription"]["ExportArn"]
    until((bucket / "AWSDynamoDB" / arn.rsplit("/", 1)[1] / "manifest-summary.json").exists, "the export is written")
    for seconds in (0, 722.65):
        cloud.wait(seconds)
        meanwhile = describe()
        assert meanwhile["ExportStatus"] == "IN_PROGRESS" and not {"EndTime", "ExportManifest", "ItemCount", "BilledSizeBytes"} & set(meanwhile), meanwhile
        assert cloud.client.list_exports()["ExportSummaries"][0]["ExportStatus"] == "IN_PROGRESS"
    cloud.wait(0.05)
    until(lambda: describe()["ExportStatus"] == "COMPLETED", "the export is over")
    done = describe()
    assert (done["EndTime"] - done["StartTime"]).total_seconds() == 722.7 and "ExportManifest" in done, done
    arn = cloud.client.export_table_to_point_in_time(TableArn=cloud.arn(), S3Bucket="missing")["ExportDescription"]["ExportArn"]
    cloud.wait(16.45)
    assert describe()["ExportStatus"] == "IN_PROGRESS" and "FailureCode" not in describe()
    cloud.wait(0.05)
    until(lambda: describe()["ExportStatus"] == "FAILED", "the export has failed")
    assert describe()["FailureCode"] == "S3NoSuchBucket"
    cloud.wait(HOUR)
    arn = cloud.client.export_table_to_point_in_time(TableArn=cloud.arn(), S3Bucket="bucket", ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification={
        "ExportFromTime": begin, "ExportToTime": cloud.now()})["ExportDescription"]["ExportArn"]
    cloud.wait(125.65)
    assert describe()["ExportStatus"] == "IN_PROGRESS"
    cloud.wait(0.05)
    until(lambda: describe()["ExportStatus"] == "COMPLETED", "the changes are exported")
    assert (describe()["EndTime"] - describe()["StartTime"]).total_seconds() == 125.7
    cloud.stop()


def imports_take_minutes():
    cloud = Cloud("--s3", "s3")
    folder = pathlib.Path(cloud.server.folder, "s3", "bucket")
    folder.mkdir(parents=True)
    (folder / "good.json").write_text('{"Item": {"pk": {"S": "a"}}}\n')
    begin = lambda source, bucket="bucket", **more: cloud.client.import_table(
        S3BucketSource={"S3Bucket": bucket, "S3KeyPrefix": source}, InputFormat="DYNAMODB_JSON", TableCreationParameters={
            "TableName": "tab", "BillingMode": "PAY_PER_REQUEST", "KeySchema": key("pk"), "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]},
        **more)["ImportTableDescription"]["ImportArn"]
    describe = lambda: cloud.client.describe_import(ImportArn=arn)["ImportTableDescription"]
    arn = begin("good.json", "missing")
    cloud.wait(5.55)
    assert describe()["ImportStatus"] == "IN_PROGRESS" and "FailureCode" not in describe()
    cloud.wait(0.05)
    until(lambda: describe()["ImportStatus"] == "FAILED", "the import has failed")
    assert describe()["FailureCode"] == "S3NoSuchBucket" and cloud.status() is None

    arn = begin("good.json", ClientToken="token")
    cloud.wait(30.65)
    assert cloud.status() is None and describe()["ImportStatus"] == "IN_PROGRESS"
    assert begin("good.json", ClientToken="token") == arn
    cloud.wait(0.05)
    until(lambda: cloud.status() == "CREATING" and describe()["ImportedItemCount"] == 1, "the items are in the table")
    assert raises("ResourceInUseException", cloud.client.delete_table, TableName="tab")
    raises("ResourceInUseException", cloud.update, DeletionProtectionEnabled=True)
    raises("ResourceNotFoundException", cloud.client.put_item, TableName="tab", Item={"pk": {"S": "b"}})
    cloud.wait(104.8 - 30.7 - 0.05)
    assert cloud.status() == "CREATING"
    cloud.wait(0.05)
    until(lambda: cloud.status() == "ACTIVE", "the table is there")
    assert describe()["ImportStatus"] == "IN_PROGRESS" and cloud.client.list_imports()["ImportSummaryList"][0]["ImportStatus"] == "IN_PROGRESS"
    assert begin("good.json", ClientToken="token") == arn
    cloud.wait(5.95)
    assert describe()["ImportStatus"] == "IN_PROGRESS" and "EndTime" not in describe()
    cloud.wait(0.05)
    until(lambda: describe()["ImportStatus"] == "COMPLETED", "the import is over")
    assert round((describe()["EndTime"] - describe()["StartTime"]).total_seconds(), 3) == 110.8
    assert raises("ResourceInUseException", begin, source="good.json", ClientToken="token") == "Table already exists: tab"
    cloud.stop()


def replicas_settle():
    cloud = Cloud()
    there = boto3.client("dynamodb", endpoint_url=cloud.server.url, region_name="eu-west-1", aws_access_key_id=ACCOUNT, aws_secret_access_key="secret",
                         config=Config(retries={"total_max_attempts": 1}))
    replicas = lambda name="tab": [r["ReplicaStatus"] for r in cloud.see(name).get("Replicas", ())]
    cloud.create()
    cloud.create("full")
    cloud.client.put_item(TableName="full", Item={"pk": {"S": "a"}})
    answer = cloud.update(ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    assert answer["TableStatus"] == "UPDATING" and answer["Replicas"] == [] and answer["GlobalTableVersion"] == "2019.11.21"
    assert there.describe_table(TableName="tab")["Table"]["TableStatus"] == "CREATING"
    assert cloud.see()["Replicas"] == []
    cloud.lasts(6.7, replicas, [], ["CREATING"])
    raises("ResourceInUseException", cloud.update, DeletionProtectionEnabled=True)
    raises("ResourceNotFoundException", there.put_item, TableName="tab", Item={"pk": {"S": "a"}})
    cloud.lasts(20.9 - 6.7, lambda: (cloud.status(), *replicas()), ("UPDATING", "CREATING"), ("ACTIVE", "ACTIVE"))
    there.put_item(TableName="tab", Item={"pk": {"S": "a"}})

    cloud.update(ReplicaUpdates=[{"Update": {"RegionName": "eu-west-1", "OnDemandThroughputOverride": {"MaxReadRequestUnits": 7}}}])
    cloud.lasts(36.5, cloud.status, "UPDATING", "ACTIVE")
    cloud.update(ReplicaUpdates=[{"Delete": {"RegionName": "eu-west-1"}}])
    raises("ResourceInUseException", cloud.update, DeletionProtectionEnabled=True)
    cloud.lasts(36, cloud.status, "UPDATING", "ACTIVE")
    raises("ResourceNotFoundException", there.describe_table, TableName="tab")

    cloud.update("full", ReplicaUpdates=[{"Create": {"RegionName": "eu-west-1"}}])
    cloud.lasts(20.9, lambda: cloud.status("full"), "UPDATING", "ACTIVE")
    raises("ResourceInUseException", cloud.update, name="full", DeletionProtectionEnabled=True)
    cloud.lasts(638.5 - 20.9, lambda: replicas("full"), ["CREATING"], ["ACTIVE"])
    assert there.get_item(TableName="full", Key={"pk": {"S": "a"}})["Item"]
    cloud.stop()


def survives_a_restart():
    cloud = Cloud(disk=True)
    client, arn = cloud.client, cloud.arn()
    for name in ("tab", "gone"):
        cloud.create(name, provisioned=name == "tab", Tags=[{"Key": "a", "Value": "1"}])
    cloud.update(ProvisionedThroughput=units(11, 11))
    cloud.update(DeletionProtectionEnabled=True)
    client.tag_resource(ResourceArn=arn, Tags=[{"Key": "b", "Value": "2"}])
    cloud.update(SSESpecification={"Enabled": True})
    client.update_time_to_live(TableName="tab", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    client.delete_table(TableName="gone")
    cloud.create("new", wait=False)
    moment = cloud.now()

    def again():
        cloud.server.kill()
        cloud.server.start()
        cloud.connect()
        cloud.turn(set=moment[:19] + "Z", freeze=True)
        return cloud.client

    client = again()
    assert cloud.status() == "UPDATING" and shown_units(cloud.see()) == (10, 10) and cloud.see()["SSEDescription"] == {"Status": "UPDATING"}
    assert len(client.list_tags_of_resource(ResourceArn=arn)["Tags"]) == 1
    assert (cloud.status("gone"), cloud.status("new")) == ("DELETING", "CREATING"), (cloud.status("gone"), cloud.status("new"), cloud.now())
    raises("ResourceNotFoundException", client.update_time_to_live, TableName="new", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    raises("LimitExceededException", client.untag_resource, ResourceArn=arn, TagKeys=["a"])
    raises("ThrottlingException", client.update_table, TableName="tab", DeletionProtectionEnabled=False)
    raises("ValidationException", client.update_time_to_live, TableName="tab", TimeToLiveSpecification={"Enabled": False, "AttributeName": "ttl"})
    cloud.wait(2)
    assert cloud.status() == "ACTIVE" and shown_units(cloud.see()) == (11, 11)
    cloud.wait(4.1)
    assert cloud.status("gone") is None and cloud.status("new") == "ACTIVE"
    assert len(client.list_tags_of_resource(ResourceArn=arn)["Tags"]) == 2
    client = again()
    cloud.wait(6.1)
    assert client.list_tables()["TableNames"] == ["new", "tab"]
    raises("ThrottlingException", client.update_table, TableName="tab", DeletionProtectionEnabled=False)
    cloud.stop()


def waiters_work():
    """The SDK's waiters and retries, with a thread that turns the clock; nobody waits in real time."""
    cloud = Cloud()
    done = threading.Event()

    def turn():
        while not done.is_set():
            cloud.wait(0.5)

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        for name in ("one", "two"):
            cloud.create(name, wait=False)
            cloud.client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 0, "MaxAttempts": 100000})
            assert cloud.status(name) == "ACTIVE"
            cloud.client.delete_table(TableName=name)
            cloud.client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 0, "MaxAttempts": 100000})
    finally:
        done.set()
        thread.join()
    # the waiters' own pauses turn the clock
    sleep = botocore.waiter.time.sleep
    botocore.waiter.time.sleep = cloud.wait
    try:
        cloud.create("three", wait=False)
        cloud.client.get_waiter("table_exists").wait(TableName="three")
    finally:
        botocore.waiter.time.sleep = sleep
    assert cloud.status("three") == "ACTIVE"
    cloud.stop()


def a_controllers_day():
    """What a reconciler of one table does in a day: each change, retried by the error's own words."""
    cloud = Cloud()
    begin, refusals = time.monotonic(), 0
    cloud.create(provisioned=True, wait=False)
    for hour in range(24):
        for change in ({"ProvisionedThroughput": units(30 - hour, 10)}, {"DeletionProtectionEnabled": hour % 2 == 0},
                       {"TableClass": ["STANDARD", "STANDARD_INFREQUENT_ACCESS"][hour % 2]}, {"SSESpecification": {"Enabled": hour % 2 == 0}}):
            while True:
                try:
                    cloud.update(**change)
                    break
                except ClientError as error:
                    refusals += 1
                    code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
                    if code == "LimitExceededException" or "already" in message:
                        break
                    assert code in ("ResourceInUseException", "ThrottlingException"), error
                    cloud.wait(1)
        cloud.wait(HOUR)
    spent = time.monotonic() - begin
    print(f"e2e: a controller's day in {spent:.1f} s, {refusals} refusals")
    assert refusals > 20
    cloud.stop()


run("timing", [instant_is_the_default, a_table_is_created, back_ends_learn_of_a_new_table, a_table_is_deleted, units_change,
               units_decrease_a_few_times_a_day, billing_switches, a_stream_is_switched, the_class_changes_twice_a_month,
               encryption_hides_a_change_of_the_class, limits_are_taken_away, encryption_changes,
               warm_throughput_rises, protection_toggles, an_index_is_built, an_index_changes_its_units, tags_are_locked_and_late,
               a_policy_is_late_and_rests, time_to_live_rests, insights_and_destinations_settle, budgets_end_with_the_table, exports_take_minutes,
               imports_take_minutes, replicas_settle, survives_a_restart,
               waiters_work, a_controllers_day])
