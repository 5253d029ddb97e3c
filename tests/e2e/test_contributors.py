"""Contributor Insights: the keys that consume the most and those that are throttled, at /_dynalith/contributors."""
import harness
from harness import Server, control, create_app, raises, run


def resources(server):
    return {(r["TableName"], r.get("IndexName")): {rule["rule"]: rule["contributors"] for rule in r["rules"]} for r in
            control(server, "GET", "contributors")["resources"]}


def enable(client, index=None, mode=None, action="ENABLE"):
    more = {**({"IndexName": index} if index else {}), **({"ContributorInsightsMode": mode} if mode else {})}
    client.update_contributor_insights(TableName="app", ContributorInsightsAction=action, **more)


def key(pk, sk=None):
    return {"PK": {"S": pk}, **({"SK": {"S": sk}} if sk else {})}


def put(client, pk, sk, size=10, **more):
    client.put_item(TableName="app", Item={**key(pk, sk), "text": {"S": "x" * size}, **more})


def of(contributors, figure):
    return [(next(iter(c["key"].values()))["S"] if len(c["key"]) == 1 else tuple(v["S"] for v in c["key"].values()), c[figure]) for c in contributors]


def units_are_shared_out_among_keys():
    server = Server()
    client = server.client()
    create_app(client)
    put(client, "before", "1")
    assert resources(server) == {}
    enable(client)
    for _ in range(5):
        put(client, "a", "1", 2000)                                                    # 2 units each
    client.get_item(TableName="app", Key=key("a", "1"), ConsistentRead=True)           # 1
    client.get_item(TableName="app", Key=key("b", "1"))                                # 0.5, though it is not there
    client.query(TableName="app", KeyConditionExpression="PK = :p", ExpressionAttributeValues={":p": {"S": "a"}})  # 0.5 of the partition
    client.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": key("c", "1")}},
                                               {"Put": {"TableName": "app", "Item": {**key("c", "2"), "text": {"S": "x" * 3000}}}}])  # 2 and 6
    client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": key("d", str(n))}} for n in range(3)]})
    raises("ConditionalCheckFailedException", client.put_item, TableName="app", Item=key("e", "1"), ConditionExpression="attribute_exists(PK)")
    lists = resources(server)["app", None]
    assert of(lists["PKC"], "units") == [("a", 11.5), ("c", 8), ("d", 3), ("b", 0.5)], lists["PKC"]
    assert sorted(of(lists["SKC"], "units")) == [(("a", "1"), 11), (("b", "1"), 0.5), (("c", "1"), 2), (("c", "2"), 6)] + \
        [(("d", str(n)), 1) for n in range(3)], lists["SKC"]
    assert lists["PKT"] == lists["SKT"] == []
    enable(client, action="DISABLE")
    assert resources(server) == {}
    put(client, "a", "1")
    enable(client)
    put(client, "f", "1")
    assert of(resources(server)["app", None]["PKC"], "units") == [("f", 1)]
    client.delete_table(TableName="app")
    assert resources(server) == {}
    server.stop()


def indexes_have_lists_of_their_own():
    server = Server()
    client = server.client()
    create_app(client)
    enable(client, "GSI1")
    put(client, "a", "1", GSI1PK={"S": "one"}, GSI1SK={"S": "x"})
    put(client, "b", "1", GSI1PK={"S": "two"}, GSI1SK={"S": "x"})
    put(client, "c", "1")
    client.query(TableName="app", IndexName="GSI1", KeyConditionExpression="GSI1PK = :p", ExpressionAttributeValues={":p": {"S": "one"}})
    client.query(TableName="app", IndexName="GSI3", KeyConditionExpression="GSI1PK = :p", ExpressionAttributeValues={":p": {"S": "one"}})
    client.delete_item(TableName="app", Key=key("b", "1"))
    lists = resources(server)
    assert set(lists) == {("app", "GSI1")}, lists
    assert of(lists["app", "GSI1"]["PKC"], "units") == [("two", 2), ("one", 1.5)], lists
    assert sorted(of(lists["app", "GSI1"]["SKC"], "units")) == [(("one", "x"), 1), (("two", "x"), 2)], lists
    server.stop()


def the_lists_are_bounded():
    server = Server()
    client = server.client()
    create_app(client)
    enable(client)
    for n in range(60):
        client.batch_write_item(RequestItems={"app": [{"PutRequest": {"Item": key(f"p{n}-{k}", "1")}} for k in range(5)]})
        put(client, "hot", "1", 3000)
    shown = resources(server)["app", None]["PKC"]
    assert len(shown) == 25 and shown[0]["key"] == key("hot") and 180 <= shown[0]["units"] <= 190, shown[:2]
    assert all(c["units"] - c.get("too_high_by_at_most", 0) <= 1.5 for c in shown[1:]), shown
    server.stop()


def throttled_keys_stand_apart():
    server = Server("--throughput", "enforce")
    client = harness.client_of(server)
    client.create_table(TableName="app", KeySchema=harness.key("PK", "SK"), AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK")],
                        ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    enable(client, mode="THROTTLED_KEYS")
    control(server, "POST", "clock", {"freeze": True})
    for n in range(320):
        try:
            put(client, "a", "1")
        except client.exceptions.ProvisionedThroughputExceededException:
            break
    else:
        raise AssertionError("nothing was throttled")
    for _ in range(3):
        raises("ProvisionedThroughputExceededException", put, client=client, pk="b", sk="2")
    for n in range(1000):
        try:
            client.get_item(TableName="app", Key=key("a", "1"), ConsistentRead=True)
        except client.exceptions.ProvisionedThroughputExceededException:
            break
    raises("ProvisionedThroughputExceededException", client.query, TableName="app", KeyConditionExpression="PK = :p",
           ExpressionAttributeValues={":p": {"S": "q"}}, ConsistentRead=True)
    lists = resources(server)["app", None]
    assert set(lists) == {"PKT", "SKT"}, lists
    assert of(lists["PKT"], "throttled") == [("b", 3), ("a", 2), ("q", 1)], lists
    assert of(lists["SKT"], "throttled") == [(("b", "2"), 3), (("a", "1"), 2)], lists
    server.stop()


run("contributors", [units_are_shared_out_among_keys, indexes_have_lists_of_their_own, the_lists_are_bounded, throttled_keys_stand_apart])
