"""Reads that lag: boto3 sees the state of some time ago, pages included, by the clock that the test turns; consistent reads see the present."""
import random


from harness import Server, client_of, control, run


def create(client, name="app"):
    keys = [("pk", "HASH"), ("sk", "RANGE")]

    def schema(*names):
        return [{"AttributeName": n, "KeyType": kind} for n, kind in zip(names, ("HASH", "RANGE"))]
    client.create_table(
        TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=schema("pk", "sk"),
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk", "gsi", "lsi")],
        GlobalSecondaryIndexes=[{"IndexName": "global", "KeySchema": schema("gsi", "sk"), "Projection": {"ProjectionType": "ALL"}}],
        LocalSecondaryIndexes=[{"IndexName": "local", "KeySchema": schema("pk", "lsi"), "Projection": {"ProjectionType": "KEYS_ONLY"}}])


def freeze(server, query=""):
    control(server, "POST", "clock", {"set": 1_900_000_000, "freeze": True}, query)


def advance(server, ms, query=""):
    control(server, "POST", "clock", {"advance": ms / 1000}, query)


def item(pk, sk, value):
    """Its index keys follow the value, so that a change moves it in the indexes."""
    made = {"pk": {"S": pk}, "sk": {"S": sk}, "v": {"N": str(value)}}
    if value % 3:
        made.update(gsi={"S": f"g{value % 2}"}, lsi={"S": f"{value:04}"})
    return made


def pages(call, limit, **kwargs):
    """All items, page by page; what comes back is in order."""
    items, start = [], {}
    while True:
        answer = call(Limit=limit, **kwargs, **start)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return items
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def plain(items):
    return sorted((i["pk"]["S"], i["sk"]["S"], i["v"]["N"]) for i in items)


def reads_see_the_past():
    """A random history against copies of all states: every kind of read, in pages of every size, forwards and backwards."""
    with_clock = Server()
    client = client_of(with_clock)
    create(client)
    freeze(with_clock)
    control(with_clock, "PUT", "lag", {"lag": 300, "index_lag": 700})
    draw = random.Random(5)
    now, state, states = 0, {}, [(-10**9, {})]

    def then(lag):
        return [s for t, s in states if t <= now - lag][-1]

    def wanted(lag, test=lambda i: True):
        return plain(i for i in then(lag).values() if test(i))

    for step in range(100):
        key = (draw.choice("ab"), str(draw.randrange(12)))
        action = draw.random()
        if action < 0.45:
            state[key] = item(*key, draw.randrange(1000))
            client.put_item(TableName="app", Item=state[key])
        elif action < 0.65:
            state.pop(key, None)
            client.delete_item(TableName="app", Key={"pk": {"S": key[0]}, "sk": {"S": key[1]}})
        elif action < 0.75:
            other = (key[0], str((int(key[1]) + 1) % 12))
            state[key], state[other] = item(*key, draw.randrange(1000)), item(*other, draw.randrange(1000))
            client.transact_write_items(TransactItems=[{"Put": {"TableName": "app", "Item": state[k]}} for k in (key, other)])
        else:
            ms = draw.choice((1, 100, 250, 300, 600))
            advance(with_clock, ms)
            now += ms
        states.append((now, dict(state)))
        if step % 2:
            continue
        one = {"pk": {"S": key[0]}, "sk": {"S": key[1]}}
        seen = client.get_item(TableName="app", Key=one).get("Item")
        assert seen == then(300).get(key), (step, seen, then(300).get(key))
        assert client.get_item(TableName="app", Key=one, ConsistentRead=True).get("Item") == state.get(key)
        transact = client.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": one}}])["Responses"][0]
        assert transact.get("Item") == state.get(key)
        batch = client.batch_get_item(RequestItems={"app": {"Keys": [one]}})["Responses"]["app"]
        assert batch == [i for i in [then(300).get(key)] if i]
        limit, forward = draw.choice((1, 2, 3, 100)), draw.random() < 0.5
        assert plain(pages(client.scan, limit, TableName="app")) == wanted(300), step
        assert plain(pages(client.scan, limit, TableName="app", ConsistentRead=True)) == wanted(0), step
        mine = {"TableName": "app", "ExpressionAttributeValues": {":p": {"S": key[0]}}, "ScanIndexForward": forward}
        of_key = [i for i in pages(client.query, limit, KeyConditionExpression="pk = :p", **mine)]
        assert plain(of_key) == wanted(300, lambda i: i["pk"]["S"] == key[0]), step
        assert [i["sk"]["S"] for i in of_key] == sorted((i["sk"]["S"] for i in of_key), reverse=not forward)
        local = pages(client.query, limit, KeyConditionExpression="pk = :p", IndexName="local", Select="ALL_ATTRIBUTES", **mine)
        assert plain(local) == wanted(300, lambda i: i["pk"]["S"] == key[0] and "lsi" in i), step
        answer = pages(client.query, limit, TableName="app", IndexName="global", KeyConditionExpression="gsi = :g",
                       ExpressionAttributeValues={":g": {"S": "g1"}}, ScanIndexForward=forward)
        assert plain(answer) == wanted(700, lambda i: i.get("gsi") == {"S": "g1"}), step
        assert plain(pages(client.scan, limit, TableName="app", IndexName="global")) == wanted(700, lambda i: "gsi" in i), step
        selected = client.execute_statement(Statement="SELECT * FROM app WHERE pk = ?", Parameters=[{"S": key[0]}])["Items"]
        assert plain(selected) == wanted(300, lambda i: i["pk"]["S"] == key[0]), step
        count = client.query(KeyConditionExpression="pk = :p", Select="COUNT", **mine)["Count"]
        assert count == len(wanted(300, lambda i: i["pk"]["S"] == key[0])), step
    advance(with_clock, 701)
    assert plain(pages(client.scan, 5, TableName="app", IndexName="global")) == plain(i for i in state.values() if "gsi" in i)
    assert plain(pages(client.scan, 5, TableName="app")) == plain(state.values())
    with_clock.stop()


def put(client, sk, value, table="app"):
    client.put_item(TableName=table, Item=item("a", sk, value))


def seen(client, sk, table="app", **kwargs):
    return client.get_item(TableName=table, Key={"pk": {"S": "a"}, "sk": {"S": sk}}, **kwargs).get("Item", {}).get("v", {}).get("N")


def settings_are_of_tables_and_namespaces():
    server = Server()
    client = client_of(server)
    other = client_of(server, key="222222222222")
    for c in (client, other):
        create(c)
    freeze(server)
    assert control(server, "GET", "lag") == {}
    control(server, "PUT", "lag", {"tables": {"later": {"lag": 500}}})
    put(client, "1", 1)
    assert seen(client, "1") == "1"
    create(client, "later")  # a setting waits for its table
    put(client, "1", 1, "later")
    assert seen(client, "1", "later") is None and seen(client, "1", "later", ConsistentRead=True) == "1"
    answer = control(server, "PUT", "lag", {"lag": 100, "jitter": 0, "tables": {"later": {"lag": 0}}})
    assert answer == control(server, "GET", "lag") == {
        "lag": 100, "index_lag": 100, "jitter": 0, "seed": 0, "tables": {"later": {"lag": 0, "index_lag": 0, "jitter": 0, "seed": 0}}}
    assert seen(client, "1", "later") == "1"
    put(client, "2", 2), put(client, "2", 2, "later"), put(other, "2", 2)
    assert (seen(client, "2"), seen(client, "2", "later"), seen(other, "2")) == (None, "2", "2")
    create(client, "new")
    put(client, "3", 3, "new")
    assert seen(client, "3", "new") is None
    client.update_table(TableName="new", StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})  # a change of the table leaves its lag
    put(client, "4", 4, "new")
    assert seen(client, "4", "new") is None
    assert control(server, "DELETE", "lag") == {} and seen(client, "3", "new") == "3" and seen(client, "2") == "2"
    control(server, "PUT", "lag", {"lag": 100})
    control(server, "POST", "reset", {"keep": "tables"})
    assert control(server, "GET", "lag") == {}
    server.stop()


def control_is_seen_at_once():
    """A rollback, a reset and a restore leave nothing of the past; the lag itself stays."""
    server = Server()
    client = client_of(server)
    create(client)
    freeze(server)
    put(client, "1", 1)
    control(server, "POST", "checkpoints", {"name": "one"})
    control(server, "PUT", "snapshots/one")
    control(server, "PUT", "lag", {"lag": 1000})
    put(client, "1", 2), put(client, "2", 2)
    assert (seen(client, "1"), seen(client, "2")) == ("1", None)
    advance(server, 1000)
    put(client, "1", 3)
    assert (seen(client, "1"), seen(client, "2")) == ("2", "2")
    control(server, "POST", "checkpoints/one/rollback")
    assert (seen(client, "1"), seen(client, "2")) == ("1", None)
    put(client, "1", 4)
    assert seen(client, "1") == "1" and seen(client, "1", ConsistentRead=True) == "4"
    control(server, "POST", "snapshots/one/restore")
    assert seen(client, "1") == seen(client, "1", ConsistentRead=True) == "1"
    client.delete_table(TableName="app")
    control(server, "POST", "checkpoints/one/rollback")  # brings the table back, which lags as before
    put(client, "1", 5)
    assert seen(client, "1") == "1"
    control(server, "POST", "reset", {"keep": "tables", "tables": ["app"]})
    assert pages(client.scan, 10, TableName="app") == []
    put(client, "1", 6)
    assert pages(client.scan, 10, TableName="app") == []
    server.stop()


def a_clock_that_is_turned_back_hides_nothing():
    server = Server()
    client = client_of(server)
    create(client)
    freeze(server)
    control(server, "PUT", "lag", {"lag": 1000})
    put(client, "1", 1)
    assert seen(client, "1") is None
    advance(server, -3600_000)
    assert seen(client, "1") == "1"
    put(client, "1", 2)
    assert seen(client, "1") == "1"
    advance(server, 3600_000)
    assert seen(client, "1") == "2"
    server.stop()


def the_same_seed_lags_the_same():
    """Each write has its own jitter; the rows of one item are seen together."""
    runs = []
    for seed in (7, 7, 8):
        server = Server()
        client = client_of(server)
        create(client)
        freeze(server)
        control(server, "PUT", "lag", {"lag": 100, "jitter": 1000, "seed": seed})
        for i in range(20):
            put(client, f"{i:02}", 3 * i + 1)
        shown = []
        for _ in range(12):
            shown.append([i["sk"]["S"] for i in pages(client.scan, 3, TableName="app")])
            mine = {"ExpressionAttributeValues": {":p": {"S": "a"}}, "KeyConditionExpression": "pk = :p"}
            local = pages(client.query, 3, TableName="app", IndexName="local", Select="ALL_ATTRIBUTES", **mine)
            assert sorted(i["sk"]["S"] for i in local) == shown[-1]
            assert set(shown[-1]) >= set(shown[-2] if len(shown) > 1 else [])
            advance(server, 100)
        assert shown[0] == [] and len(shown[-1]) == 20 and len({len(s) for s in shown}) > 4, shown
        runs.append(shown)
        server.stop()
    assert runs[0] == runs[1] and runs[0] != runs[2]


def settings_survive_a_restart_and_are_options():
    server = Server(disk=True)
    client = client_of(server)
    create(client)
    control(server, "PUT", "lag", {"lag": 3600_000, "tables": {"app": {"lag": 3600_000, "index_lag": 0}}})
    put(client, "1", 1)
    server.kill()
    server.start()
    assert control(server, "GET", "lag")["lag"] == 3600_000
    assert seen(client, "1") is None and seen(client, "1", ConsistentRead=True) == "1"
    assert len(pages(client.scan, 10, TableName="app", IndexName="global")) == 1
    server.stop()
    server = Server("--lag", "3600000", "--index-lag", "0", disk=True)
    client = client_of(server)
    create(client)
    put(client, "1", 1)
    assert seen(client, "1") is None and seen(client, "1", ConsistentRead=True) == "1"
    assert len(pages(client.scan, 10, TableName="app", IndexName="global")) == 1
    control(server, "PUT", "lag", {"lag": 0})  # the namespace's own word counts
    assert seen(client, "1") == "1"
    server.stop()


def expiry_and_history_go_by_the_clock():
    """What time to live deletes is seen for a while, too; and what nobody needs is removed."""
    server = Server("--ttl-period", "0", disk=True)
    client = client_of(server)
    create(client)
    client.update_time_to_live(TableName="app", TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
    freeze(server)
    client.put_item(TableName="app", Item={**item("a", "1", 1), "ttl": {"N": "1900000010"}})
    control(server, "PUT", "lag", {"lag": 5000})
    advance(server, 11_000)
    assert seen(client, "1") == "1" and seen(client, "1", ConsistentRead=True) is None
    advance(server, 5000)
    assert seen(client, "1") is None
    server.stop()


def bad_settings_change_nothing():
    server = Server()
    wanted = control(server, "PUT", "lag", {"lag": 5})
    for body, words in (({"leg": 5}, "There is no member"), ({"lag": "5"}, "must be a number"), ({"lag": -1}, "whole number from 0"), ({"lag": 1.5}, "whole number"),
                        ({"lag": 3600001}, "3600000"), ({"jitter": 5}, "Nothing would lag"), ({}, "Nothing would lag"), ([], "JSON object"),
                        ({"tables": {"a": {"lag": 5}}}, "'a' is no name"), ({"tables": {"abc": 5}}, "has no object"), ({"tables": {"abc": {"leg": 5}}}, "There is no member"),
                        ({"tables": []}, "must be an object"), ({"tables": {"abc": {"lag": 0}}}, "Nothing would lag")):
        answer = control(server, "PUT", "lag", body, status=400)
        assert answer["__type"].endswith("ValidationException") and words in answer["message"], (body, answer)
    control(server, "DELETE", "lag", {"table": "x"}, status=400)
    assert control(server, "GET", "lag") == wanted
    server.stop()


run("lag", [reads_see_the_past, settings_are_of_tables_and_namespaces, control_is_seen_at_once, a_clock_that_is_turned_back_hides_nothing,
            the_same_seed_lags_the_same, settings_survive_a_restart_and_are_options, expiry_and_history_go_by_the_clock, bad_settings_change_nothing])
