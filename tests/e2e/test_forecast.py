"""`dynalith forecast`: four incidents by key, limit and hour; the running server's throttles; dollars by hand; bad input."""
import collections
import json
import pathlib
import subprocess
import tempfile
import urllib.request

from harness import BINARY, ROOT, Server, control, key, run
from wire import Client, Refused

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="dynalith-forecast-"))
INCIDENTS = pathlib.Path(__file__).with_name("forecast")
PRICES = ROOT / "docs/prices.json"


def forecast(plan, *words, status=0):
    path = plan
    if isinstance(plan, (dict, str)):
        path = FOLDER / "plan.json"
        path.write_text(plan if isinstance(plan, str) else json.dumps(plan))
    done = subprocess.run([BINARY, "forecast", path, *map(str, words)], capture_output=True, text=True, timeout=600)
    assert done.returncode == status, (done.returncode, done.stderr)
    return json.loads(done.stdout) if "--json" in words and "--output" not in words else done.stdout + done.stderr


def plan(table=None, **pattern):
    table = {"name": "t", "billing": "PAY_PER_REQUEST", **(table or {})}
    return {"tables": [table], "patterns": [{"name": "p", "table": "t", "does": "write", "units": 1, "rate": 1, "attempts": 1, **pattern}]}


def incident(name, **expected):
    found = forecast(INCIDENTS / f"{name}.json", "--days", 2, "--json")
    first = found["throttles"][0]
    assert {k: first.get(k) for k in expected} == expected, (name, first)
    return found


def one_partition_key_by_date():
    found = incident("date-key", table="events", index=None, reason="TableWriteKeyRangeThroughputExceeded", key="the key of day 1", first="day 1, 19:00",
                     worst="day 1, 19:00")
    assert [row["key"] for row in found["throttles"]] == ["the key of day 1", "the key of day 2"]
    # 1,400 a second for an hour, 1,000 of them admitted, and a second's worth kept from before
    assert abs(found["throttles"][0]["throttled"] - 400 * 3600) < 2000, found["throttles"][0]["throttled"]


def an_index_with_few_values():
    incident("few-values", table="orders", index="by-status", reason="IndexWriteKeyRangeThroughputExceeded", key="PENDING", first="day 1, 12:00")


def a_burst_with_auto_scaling_behind():
    found = incident("burst", table="carts", reason="TableWriteProvisionedThroughputExceeded", key="any key", first="day 1, 20:00")
    write = found["tables"][0]["parts"][0]["write"]
    assert write["provisioned_at_the_end"] == 100 and 100 * 48 < write["unit_hours"] < 2000 * 48, write
    assert found["patterns"][0]["failed"] < found["patterns"][0]["throttled"] and found["patterns"][0]["retries_waited_s"] > 0


def a_new_table_hit_by_a_launch():
    found = incident("launch", table="signups", reason="TableWriteKeyRangeThroughputExceeded", first="day 1, 09:00")
    assert list(found["throttles"][0]["hours"]) == ["day 1, 09:00"]  # on the second day it has the first one's peak


def a_hot_key_that_is_isolated():
    """AWS: Developer Guide, "DynamoDB burst and adaptive capacity": a key that stands out shares a partition with others, until it has one of its own."""
    found = incident("isolated", table="scores", index=None, reason="TableWriteKeyRangeThroughputExceeded", first="day 1, 00:00", worst="day 1, 00:00")
    assert all(list(row["hours"]) == ["day 1, 00:00"] for row in found["throttles"]), found["throttles"]
    # 900 a second of the key and 275 of others in a quarter of the hashes, for ten minutes; then at most 900 + 275 of what was cut less
    assert 175 * 600 * 0.95 < found["throttled"] < 175 * 1200, found["throttled"]
    alone = forecast(plan(rate=1400, keys={"spread": "hot", "share": 1}), "--days", 1, "--json")
    assert abs(alone["throttled"] - 400 * 86400) < 400 * 60, alone["throttled"]  # no split helps one key


def as_the_running_server_throttles():
    """An hour of two writes a second where one is provisioned, with its burst, by a clock that is turned: within 2 %."""
    server = Server("--throughput", "enforce")
    client = Client(server.port)
    client("CreateTable", TableName="events", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
           ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 1})
    control(server, "POST", "clock", {"freeze": True})
    throttled = 0
    for second in range(3600):
        for number in range(2):
            try:
                client("PutItem", TableName="events", Item={"pk": {"S": f"{second}-{number}"}})
            except Refused as refused:
                assert refused.name == "ProvisionedThroughputExceededException", refused
                throttled += 1
        control(server, "POST", "clock", {"advance": "1s"})
    server.stop()
    found = forecast(plan({"billing": "PROVISIONED", "read": 1, "write": 1}, rate=[2] + [0] * 23), "--days", 1, "--json")
    assert abs(found["throttled"] - throttled) <= throttled * 0.02 and throttled > 3000, (found["throttled"], throttled)


def dollars_are_those_of_the_list():
    """Units times docs/prices.json, by hand; and that file is what is built in."""
    dollars = lambda *words, **more: forecast(plan(**more), "--json", *words)["cost"]["total"]
    cents = lambda amount: round(amount, 2)
    hours = 720
    assert dollars(rate=10) == cents(10 * hours * 3600 / 1e6 * 0.625)
    assert dollars(does="read", rate=10, units=0.5) == cents(5 * hours * 3600 / 1e6 * 0.125)
    assert dollars(table={"billing": "PROVISIONED", "read": 100, "write": 100}) == cents(hours * 100 * 0.00013 + hours * 100 * 0.00065) == 56.16
    assert dollars(rate=0, table={"storage_gb": 73}) == cents(73 * 0.25)
    assert dollars(rate=0, table={"storage_gb": 73, "recovery": True, "backup_gb": 10}) == cents(73 * 0.45 + 10 * 0.1)
    assert dollars(rate=10, table={"replicas": 2}) == cents(3 * 10 * hours * 3600 / 1e6 * 0.625)
    assert dollars("--scale", 3, rate=10) == cents(30 * hours * 3600 / 1e6 * 0.625)
    days = sum(1.03 ** day for day in range(30))
    assert abs(dollars("--growth", "3%/day", rate=10) - 10 * days * 86400 / 1e6 * 0.625) < 0.01
    assert forecast(plan(rate=3), "--json", "--prices", PRICES)["cost"]["total"] == forecast(plan(rate=3), "--json")["cost"]["total"]


def refused(call, times, expected):
    """How many of `times` calls are throttled, and by that reason."""
    n = 0
    for number in range(times):
        try:
            call(number)
        except Refused as error:
            told = error.body.get("ThrottlingReasons") or error.body.get("throttlingReasons") or error.body.get("CancellationReasons")
            reasons = [one.get("reason") or one["Code"] for one in told]
            assert expected in reasons, error.body
            n += 1
    return n


def as_an_index_throttles_its_table():
    """An index of one unit a second, and writes of two each second: they are refused as a whole, half of them when the burst is used up."""
    server = Server("--throughput", "enforce")
    client = Client(server.port)
    units = lambda n: {"ReadCapacityUnits": 1, "WriteCapacityUnits": n}
    client("CreateTable", TableName="orders", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "g")],
           ProvisionedThroughput=units(10), GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "ALL"},
                                                                     "ProvisionedThroughput": units(1)}])
    control(server, "POST", "clock", {"freeze": True})
    throttled = 0
    for second in range(3600):
        item = {"pk": {"S": str(second)}, "g": {"S": str(second)}, "text": {"S": "x" * 1500}}
        throttled += refused(lambda _: client("PutItem", TableName="orders", Item=item), 1, "IndexWriteProvisionedThroughputExceeded")
        control(server, "POST", "clock", {"advance": "1s"})
    server.stop()
    found = forecast(plan({"billing": "PROVISIONED", "read": 1, "write": 10, "indexes": [{"name": "i", "read": 1, "write": 1}]}, rate=[1] + [0] * 23, units=2,
                          indexes=[{"name": "i", "units": 2}]), "--days", 1, "--json")
    assert {(row.get("index"), row["reason"]) for row in found["throttles"]} == {("i", "IndexWriteProvisionedThroughputExceeded")}, found["throttles"]
    assert abs(found["throttled"] - throttled) <= throttled * 0.02 and throttled > 1500, (found["throttled"], throttled)


def as_on_demand_throttles():
    """A new table gives 12,000 read units; when 30 minutes are over its peak counts, and it gives twice as many. One key gets 3,000.

    Transactions read large items that lie evenly among the hashes, 200 units each, 16,000 a second. Two minutes are sent: the first, and one behind the half hour.
    """
    server = Server("--throughput", "enforce")
    client = Client(server.port)
    client("CreateTable", TableName="orders", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST")
    control(server, "POST", "clock", {"freeze": True})
    for number in range(400):
        client("PutItem", TableName="orders", Item={"pk": {"S": str(number)}})
    order = [item["pk"]["S"] for item in client("Scan", TableName="orders")["Items"]]  # by their hashes
    keys = order[25::50]  # of eight ranges, or two of each of four
    for pk in keys:
        client("PutItem", TableName="orders", Item={"pk": {"S": pk}, "text": {"S": "x" * (400 * 1024 - 100)}})
        control(server, "POST", "clock", {"advance": "2s"})
    read = [{"Get": {"TableName": "orders", "Key": {"pk": {"S": pk}}, "ProjectionExpression": "pk"}} for pk in keys]

    def minute(rate, call, reason):
        n = 0
        for second in range(60):
            n += refused(call, rate, reason)
            control(server, "POST", "clock", {"advance": "1s"})
        return n

    throttled = 30 * minute(20, lambda _: client("TransactGetItems", TransactItems=read[::2]), "ThrottlingError")
    control(server, "POST", "clock", {"advance": "30m"})
    assert minute(10, lambda _: client("TransactGetItems", TransactItems=read), "ThrottlingError") == 0
    found = forecast(plan(rate=[20] + [0] * 23, does="read", units=800), "--days", 1, "--json")
    assert abs(found["throttled"] - throttled) <= throttled * 0.02 and throttled > 8000, (found["throttled"], throttled)

    one = lambda _: client("GetItem", TableName="orders", Key={"pk": {"S": keys[0]}}, ConsistentRead=True, ProjectionExpression="pk")
    throttled = 60 * minute(40, one, "TableReadKeyRangeThroughputExceeded")
    server.stop()
    found = forecast(plan(rate=[40] + [0] * 23, does="read", units=100, keys={"spread": "hot", "share": 1}), "--days", 1, "--json")
    assert abs(found["throttled"] - throttled) <= throttled * 0.02 and throttled > 30000, (found["throttled"], throttled)


def as_a_hot_range_is_split():
    """1,200 write units a second of the one partition of a table, 1,000 of them given. After ten minutes it is split, and each half has room.

    Transactions that change a large item, 600 units each, of 22 items that lie evenly among the hashes. The table's burst is not used up by then.
    """
    server = Server("--throughput", "enforce")
    client = Client(server.port)
    client("CreateTable", TableName="orders", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
           ProvisionedThroughput={"ReadCapacityUnits": 3000, "WriteCapacityUnits": 1000})
    control(server, "POST", "clock", {"freeze": True})
    for number in range(110):
        client("PutItem", TableName="orders", Item={"pk": {"S": str(number)}})
    hashed = [item["pk"]["S"] for item in client("Scan", TableName="orders")["Items"]][2::5]  # by their hashes
    keys = [hashed[i % 2 * 11 + i * 2 % 11] for i in range(22)]  # of both halves in turn
    for pk in keys:
        client("PutItem", TableName="orders", Item={"pk": {"S": pk}, "text": {"S": "x" * (300 * 1024 - 100)}})
        control(server, "POST", "clock", {"advance": "1s"})
    control(server, "POST", "clock", {"set": 1_900_000_020})  # a minute begins
    change = lambda number: client("TransactWriteItems", TransactItems=[{"Update": {"TableName": "orders", "Key": {"pk": {"S": keys[number % len(keys)]}}, "UpdateExpression": "SET n = :n",
                                                                                    "ExpressionAttributeValues": {":n": {"N": str(number)}}}}])
    minutes = []
    for minute in range(13):
        minutes.append(0)
        for second in range(60):
            for number in range(2):
                minutes[-1] += refused(lambda _: change(2 * second + number), 1, "ProvisionedThroughputExceeded")
            control(server, "POST", "clock", {"advance": "1s"})
    server.stop()
    found = forecast(plan({"billing": "PROVISIONED", "read": 3000, "write": 1000}, rate=[2] + [0] * 23, units=600), "--days", 1, "--json")
    throttled = sum(row["throttled"] for row in found["throttles"] if row["reason"] == "TableWriteKeyRangeThroughputExceeded")
    assert minutes[5] > 5 and minutes[11:] == [0, 0], minutes
    assert abs(throttled - sum(minutes)) <= sum(minutes) * 0.02 and throttled > 150, (throttled, minutes)


def days_that_are_alike():
    """A day that ends as it began is counted for all that follow: as if they were run, which a list of two such days makes of them."""
    hours = [2 * h for h in range(1, 13)] + [300] * 2 + [5] * 10
    for table, more in (({"billing": "PROVISIONED", "read": 1, "write": 40}, {"keys": {"spread": "zipf", "count": 500}}),
                        ({"billing": "PROVISIONED", "read": 1, "write": 20, "scale_write": {"min": 20, "max": 90}}, {"attempts": 3}), ({}, {"units": 7, "keys": {"spread": "hot", "share": 0.9}})):
        one, two = [forecast(plan(table, rate=rates, **more), "--days", 6, "--json") for rates in (hours, hours * 2)]
        assert one["requests"] == two["requests"] and abs(one["throttled"] - two["throttled"]) <= two["throttled"] * 0.005 and two["throttled"] > 10000, (one["throttled"], two["throttled"])
        assert abs(one["cost"]["total"] - two["cost"]["total"]) <= 0.01 + two["cost"]["total"] * 0.001 and len(one["throttles"][0]["hours"]) == len(two["throttles"][0]["hours"]), (one["cost"], two["cost"])


def of_the_running_server():
    """The endpoint gives what the command makes of the plan in its answer, whose tables have the settings that they have in the server."""
    server = Server("--insight", "on", "--request-cpu-ms", "2000")
    client = Client(server.port)
    units = {"ReadCapacityUnits": 4, "WriteCapacityUnits": 3}
    client("CreateTable", TableName="shop", KeySchema=key("pk", "sk"), AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk", "g", "l")],
           ProvisionedThroughput=units, GlobalSecondaryIndexes=[{"IndexName": "by-g", "KeySchema": key("g"), "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": units}],
           LocalSecondaryIndexes=[{"IndexName": "by-l", "KeySchema": key("pk", "l"), "Projection": {"ProjectionType": "ALL"}}])
    client("CreateTable", TableName="wide", KeySchema=key("pk"), AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}], BillingMode="PAY_PER_REQUEST",
           OnDemandThroughput={"MaxReadRequestUnits": 50}, TableClass="STANDARD_INFREQUENT_ACCESS")
    client("UpdateContinuousBackups", TableName="wide", PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True})
    scaling = server.client(service="application-autoscaling")
    target = {"ServiceNamespace": "dynamodb", "ResourceId": "table/shop/index/by-g", "ScalableDimension": "dynamodb:index:WriteCapacityUnits"}
    scaling.register_scalable_target(**target, MinCapacity=3, MaxCapacity=90)
    scaling.put_scaling_policy(**target, PolicyName="p", PolicyType="TargetTrackingScaling", TargetTrackingScalingPolicyConfiguration={
        "TargetValue": 60.5, "PredefinedMetricSpecification": {"PredefinedMetricType": "DynamoDBWriteCapacityUtilization"}})
    ask = lambda body, status=200: control(server, "POST", "forecast", body, status=status)
    assert "nothing in it consumes" in ask({}, 400)["message"]
    for number in range(40):
        client("PutItem", TableName="shop", Item={name: {"S": f"{name}{number}"} for name in ("pk", "sk", "g", "l")})
        client("GetItem", TableName="wide", Key={"pk": {"S": str(number)}})
    client("Query", TableName="shop", IndexName="by-l", KeyConditionExpression="pk = :p", ExpressionAttributeValues={":p": {"S": "pk7"}})
    seen = control(server, "GET", "insight")
    found = ask({"scale": 3, "days": 2, "growth": "1%/day", "seed": 5})
    made = found.pop("plan")
    shop, wide = sorted(made["tables"], key=lambda t: t["name"])
    assert {k: shop[k] for k in ("billing", "read", "write")} == {"billing": "PROVISIONED", "read": 4, "write": 3}, shop
    assert [i["name"] for i in shop["indexes"]] == ["by-g"] and shop["indexes"][0]["scale_write"] == {"target": 60.5, "min": 3, "max": 90} and "scale_read" not in shop["indexes"][0], shop
    assert (wide["billing"], wide["max_read"], wide["class"], wide["recovery"], wide["indexes"]) == ("PAY_PER_REQUEST", 50, "STANDARD_INFREQUENT_ACCESS", True, []) and "max_write" not in wide, wide
    assert not any("taken as on demand" in note for note in found["notes"]), found["notes"]
    path = FOLDER / "made.json"
    path.write_text(json.dumps(made))
    assert forecast(path, "--json", "--scale", 3, "--days", 2, "--growth", "1%/day", "--seed", 5) == found
    given = ask({"scale": 3, "days": 2, "growth": "1%/day", "seed": 5, "plan": made})
    assert given == found
    assert len(ask({"days": 1})["over_time"]["throttled"]) <= 6 and ask({"keys": "uniform:100", "days": 1, "free_tier": True})["cost"]["total"] >= 0
    for body, said in (({"scale": 0}, '"scale" is out of its range'), ({"days": 1.5}, '"days"'), ({"growth": "3"}, '"growth"'), ({"seed": -1}, '"seed"'), ({"keys": "normal"}, '"keys"'), ({"scale": 1e9}, "requests a second"),
                       ({"scale": "3"}, '"scale"'), ({"plan": {}}, "plan: neither"), ({"plan": {**made, "patterns": [{}]}}, "plan: pattern 1"), ({"plan": made, "keys": "zipf"}, "have their own"), ({"what": 1}, "what")):
        message = ask(body, 400)["message"]
        assert said in message, (body, message)
    hot = {"tables": [{"name": f"t{i}", "billing": "PROVISIONED", "read": 1, "write": 900} for i in range(20)],
           "patterns": [{"name": f"p{i}", "table": f"t{i}", "does": "write", "units": 1.3, "rate": [900 + 10 * (h % 7) for h in range(24 * 7)], "keys": {"spread": "zipf", "count": 300}, "attempts": 10} for i in range(20)]}
    assert "more CPU time than --request-cpu-ms" in ask({"plan": hot, "days": 3660}, 400)["message"]
    assert control(server, "GET", "insight")["requests"] == seen["requests"]
    both = [{"Put": {"TableName": name, "Item": {k: {"S": "x"} for k in ("pk", "sk")[:n]} | {"v": {"S": "x" * size}}}} for name, n, size in (("shop", 2, 10), ("wide", 1, 2500))]
    client("TransactWriteItems", TransactItems=both)
    client("TransactGetItems", TransactItems=[{"Get": {"TableName": name, "Key": {k: {"S": "x"} for k in ("pk", "sk")[:n]}}} for name, n in (("shop", 2), ("wide", 1))])
    made = [p for p in ask({"days": 1})["plan"]["patterns"] if p["name"].startswith("Transact")]
    assert sorted((p["table"], p["does"]) for p in made) == [(name, does) for name in ("shop", "wide") for does in ("read", "write")], made
    written = {p["table"]: (p["units"] + sum(i["units"] for i in p["indexes"])) * p["rate"] for p in made if p["does"] == "write"}
    assert abs(written["wide"] / written["shop"] - 3) < 0.01, made  # 6 units and 2
    control(server, "DELETE", "insight")
    assert "nothing in it consumes" in ask({}, 400)["message"]
    server.stop()
    server = Server()
    assert "--insight on" in control(server, "POST", "forecast", {}, status=400)["message"]
    server.stop()


def recorded_shop():
    """A server's recording, its insight and what clients were told that they consumed: of tables and indexes."""
    file = FOLDER / "run.ndjson"
    server = Server("--record", str(file), "--insight", "on")
    client = Client(server.port)
    consumed = collections.Counter()

    def call(operation, **body):
        answer = client(operation, ReturnConsumedCapacity="INDEXES", **body)
        capacity = answer["ConsumedCapacity"]
        for one in capacity if isinstance(capacity, list) else [capacity]:
            does = "read" if operation in ("GetItem", "Query") else "write"
            consumed["shop", does] += one.get("Table", {}).get("CapacityUnits", 0)
            for name, units in one.get("GlobalSecondaryIndexes", {}).items():
                consumed[name, does] += units["CapacityUnits"]

    client("CreateTable", TableName="shop", KeySchema=key("pk", "sk"), AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("pk", "sk", "state")],
           ProvisionedThroughput={"ReadCapacityUnits": 40, "WriteCapacityUnits": 30},
           GlobalSecondaryIndexes=[{"IndexName": "by-state", "KeySchema": key("state"), "Projection": {"ProjectionType": "KEYS_ONLY"},
                                    "ProvisionedThroughput": {"ReadCapacityUnits": 20, "WriteCapacityUnits": 10}}])
    item = lambda i, state: {"pk": {"S": "big" if i % 2 else f"c{i}"}, "sk": {"S": f"o{i}"}, "state": {"S": state}, "text": {"S": "x" * 1500}}
    for i in range(100):
        call("PutItem", TableName="shop", Item=item(i, "NEW"))
    for i in range(1, 41, 2):
        call("UpdateItem", TableName="shop", Key={"pk": {"S": "big"}, "sk": {"S": f"o{i}"}}, UpdateExpression="SET #s = :s", ExpressionAttributeNames={"#s": "state"},
             ExpressionAttributeValues={":s": {"S": "DONE"}})
        call("GetItem", TableName="shop", Key={"pk": {"S": "big"}, "sk": {"S": f"o{i}"}}, ConsistentRead=True)
    call("Query", TableName="shop", IndexName="by-state", KeyConditionExpression="#s = :s", ExpressionAttributeNames={"#s": "state"}, ExpressionAttributeValues={":s": {"S": "NEW"}})
    call("TransactWriteItems", TransactItems=[{"Put": {"TableName": "shop", "Item": item(i, "NEW")}} for i in range(200, 210)])
    call("BatchWriteItem", RequestItems={"shop": [{"PutRequest": {"Item": item(i, "NEW")}} for i in range(300, 310)]})
    insight = FOLDER / "insight.json"
    insight.write_bytes(urllib.request.urlopen(f"{server.url}/_dynalith/insight").read())
    server.stop()
    return file, insight, consumed


def units_of_plan(made, seconds):
    units = collections.Counter()
    for pattern in made["patterns"]:
        units[pattern.get("index") or "shop", pattern["does"]] += pattern["units"] * pattern["rate"] * seconds
        for index in pattern.get("indexes", []):
            units[index["name"], "write"] += index["units"] * pattern["rate"] * seconds
    return units


def a_recording_is_a_plan():
    """Units, rates, keys and tables as the server had them; by the hour where there is a day; cut off, masked, without its table."""
    file, insight, consumed = recorded_shop()
    made_file = FOLDER / "made.json"
    found = forecast(file, "--days", 1, "--json", "--write-plan", made_file)
    made = json.loads(made_file.read_text())
    assert forecast(made_file, "--days", 1, "--json")["cost"] == found["cost"]
    lines = [json.loads(line) for line in file.read_text().splitlines()[2:]]
    seconds = max((lines[-1]["time_ms"] - lines[0]["time_ms"]) / 1000, 1)
    units = units_of_plan(made, seconds)
    assert set(units) == set(consumed) and all(abs(units[k] - consumed[k]) < 0.01 * consumed[k] + 0.1 for k in consumed), (units, consumed)
    table = made["tables"][0]
    assert (table["billing"], table["read"], table["write"], table["indexes"][0]["write"]) == ("PROVISIONED", 40, 30, 10) and table["storage_gb"] > 0, table
    put = next(p for p in made["patterns"] if p["name"] == "PutItem shop")
    assert abs(put["keys"]["values"]["big"] - 0.5) < 0.01 and set(put["keys"]["values"]) == {"big"} and set(put["indexes"][0]["keys"]["values"]) == {"NEW"}, put
    names = {p["name"] for p in made["patterns"]}
    assert {"GetItem shop, consistent", "Query shop/by-state", "TransactWriteItems shop", "BatchWriteItem shop"} < names, names
    assert found["throttles"][0]["key"] in ("NEW", "big", "other keys") and any("requests in" in note for note in found["notes"]), found["notes"]

    tables = FOLDER / "shop.json"
    tables.write_text(json.dumps({"tables": [{"name": "shop", "billing": "PAY_PER_REQUEST", "indexes": [{"name": "by-state"}]}]}))
    uniform = forecast(file, "--days", 1, "--json", "--keys", "uniform:5000000", "--tables", tables, "--scale", 3)
    assert not uniform["throttles"] and uniform["tables"][0]["cost"] > 0

    head, *rest = file.read_text().splitlines(keepends=True)
    day = FOLDER / "day.ndjson"
    first = json.loads(rest[0])["time_ms"]
    start = first - first % 86400000
    moved = [json.dumps({**json.loads(line), "time_ms": start + round(i * 2 * 86400000 / (len(rest) - 1))}) + "\n" for i, line in enumerate(rest)]
    day.write_text(head + "".join(moved))
    forecast(day, "--days", 1, "--json", "--write-plan", made_file)
    put = next(p for p in json.loads(made_file.read_text())["patterns"] if p["name"] == "PutItem shop")
    assert len(put["rate"]) == 24 and abs(sum(put["rate"]) * 3600 * 2 - 100) < 3, put["rate"]

    cut = FOLDER / "cut.ndjson"
    cut.write_text(file.read_text()[:-100])
    assert "is cut off in its last line" in forecast(cut, "--days", 1)
    cut.write_text(head)
    assert "nothing in it consumes capacity units" in forecast(cut, status=1)
    cut.write_text(head + rest[0] + "{}\n")
    assert "cut.ndjson:3" in forecast(cut, status=1)
    cut.write_text(head + "".join(rest[1:]))
    assert "cut.ndjson:2: its table is not made in the recording" in forecast(cut, status=1)
    shown = json.loads(rest[0])
    shown.update(operation="DescribeTable", request={"TableName": "shop"}, response={"Table": shown["response"]["TableDescription"]})
    cut.write_text(head + json.dumps(shown) + "\n" + "".join(rest[101:]))
    text = forecast(cut, "--days", 1)
    assert "tables had items before the recording began" in text, text[-500:]
    cut.write_text(head.replace('"open"', '"masked"') + "".join(rest))
    assert "masked" in forecast(cut, status=1)
    assert "is a plan already" in forecast(plan(), "--keys", "zipf", status=1) and "usage" in forecast(file, "--keys", "normal", status=2)
    insights_json_is_a_plan(insight, consumed)


def insights_json_is_a_plan(insight, consumed):
    made_file = FOLDER / "made.json"
    found = forecast(insight, "--days", 1, "--json", "--write-plan", made_file)
    made = json.loads(made_file.read_text())
    seconds = max(json.loads(insight.read_text())["time"]["age_ms"] / 1000, 1)
    units = units_of_plan(made, seconds)
    assert all(abs(units[k] - consumed[k]) < 0.01 * consumed[k] + 0.1 for k in consumed), (units, consumed)
    assert any("taken as on demand" in note for note in found["notes"]), found["notes"]
    put = next(p for p in made["patterns"] if p["name"].startswith("PutItem shop"))
    assert max(put["keys"]["values"].values()) > 0.4 and put["indexes"][0]["name"] == "by-state", put


def examples_that_aws_publishes():
    """To the cent, each with its source: forecast/published.json."""
    built_in = json.loads(PRICES.read_text())
    file = FOLDER / "published-prices.json"
    examples = json.loads((INCIDENTS / "published.json").read_text())
    for example in examples:
        file.write_text(json.dumps({**built_in, **example.get("prices", {})}))
        cost = forecast(example["plan"], "--json", "--prices", file, *example["words"])["cost"]
        assert len({line["price"] for line in cost["lines"]}) == len(cost["lines"]), cost
        for member, expected in (("cost", "dollars"), ("quantity", "quantities")):
            found = {line["price"]: round(line[member], 4) for line in cost["lines"]}
            for price, value in example.get(expected, {}).items():
                assert found.get(price) == value, (example["example"], price, found, value)
        assert cost["total"] == example.get("total", cost["total"]), (example["example"], cost)
    assert len(examples) >= 8 and sum("dollars" in example for example in examples) >= 8


def an_unknown_price_is_said():
    prices = FOLDER / "prices.json"
    prices.write_text('{"read_request_units_million": 1, "storage_gb_month": 1}')
    found = forecast(plan({"storage_gb": 73}), "--json", "--prices", prices)
    line = next(line for line in found["cost"]["lines"] if line["price"] == "write_request_units_million")
    assert line["cost"] is None and found["cost"]["is_partial"] and found["cost"]["total"] == 73, found["cost"]
    text = forecast(plan({"storage_gb": 73}), "--prices", prices)
    assert "unknown price" in text and "without what has no price" in text, text
    infrequent = forecast(plan({"class": "STANDARD_INFREQUENT_ACCESS"}, rate=10), "--json")["cost"]
    assert not infrequent["is_partial"] and infrequent["total"] == round(10 * 720 * 3600 / 1e6 * 0.78, 2), infrequent


def the_changes_that_save_most():
    table = {"storage_gb": 1, "indexes": [{"name": "unread"}]}
    shown = forecast(plan(table, rate=100, units=1, indexes=[{"name": "unread", "units": 1}]), "--json")["cost"]["savings"]
    assert {"index unread of t: drop it, no pattern reads it", "table t: provisioned, with auto scaling to 70 %"} == {s["change"] for s in shown}, shown
    strong = {"name": "p", "table": "t", "does": "read", "bytes": 4200, "rate": 100, "strong": True}
    shown = forecast({"tables": [{"name": "t", "billing": "PAY_PER_REQUEST"}], "patterns": [strong]}, "--json")["cost"]["savings"]
    changes = {s["change"]: s["saves"] for s in shown}
    assert changes["pattern p: eventually consistent reads"] == round(100 * 720 * 3600 / 1e6 * 0.125, 2), changes
    assert "pattern p: 104 bytes less, so that an item is of 4096" in changes and len(shown) <= 3


def the_same_bytes_and_a_range():
    words = [BINARY, "forecast", INCIDENTS / "few-values.json", "--days", "1", "--json", "--seed"]
    outputs = [subprocess.run([*words, seed], capture_output=True, check=True).stdout for seed in ("7", "7")]
    assert outputs[0] == outputs[1]
    found = json.loads(outputs[0])
    assert found["range"]["seeds"] == 3 and found["range"]["throttled_least"] <= found["throttled"] <= found["range"]["throttled_most"]


def a_page_with_charts():
    """One file that loads nothing and runs nothing; names are text."""
    page = FOLDER / "page.html"
    made = plan({"storage_gb": 1, "indexes": [{"name": "by-<i>"}]}, name="<script>alert(1)</script>", rate=[2000] + [10] * 23, units=1,
                indexes=[{"name": "by-<i>", "units": 1, "keys": {"values": {"<b>": 1}}}])
    forecast(made, "--days", 1, "--html", page, "--fail-on", "throttles>0", status=3)
    html = page.read_text()
    assert "<script" not in html and "&lt;script" in html and "<b>&lt;b&gt;</b> of t/index/by-&lt;i&gt;" in html, html[:3000]
    assert "http" not in html and "url(" not in html and html.count('<svg class="plot"') == 3, html.count('<svg class="plot"')
    assert "Failed: throttles&gt;0" in html and "prefers" not in html and "color-scheme:light dark" in html
    first = html
    forecast(made, "--days", 1, "--html", page, "--fail-on", "throttles>0", status=3)
    assert page.read_text() == first
    forecast(plan(rate=1), "--days", 30, "--html", page)
    assert "Nothing is throttled" in page.read_text()


def a_build_fails_by_rules():
    main = FOLDER / "main.json"
    forecast(plan(rate=10), "--json", "--output", main)
    forecast(plan(rate=10), "--against", main, "--fail-on", "cost>+5%, throttles>0")
    text = forecast(plan(rate=11), "--against", main, "--fail-on", "cost>+5%", status=3)
    assert "failed: cost>+5%" in text, text
    assert "throttles>0" in forecast(INCIDENTS / "date-key.json", "--days", 1, "--fail-on", "throttles>0", status=3)
    for rules in ("cost>+5%", "price>1", "cost>x", "throttles>+5%"):
        assert "is no rule" in forecast(plan(), "--fail-on", rules, status=2), rules
    assert "no forecast" in forecast(plan(), "--against", PRICES, "--fail-on", "cost>+5%", status=1)


def bad_input_is_named():
    right = json.dumps(plan())
    for text, said in (("", "neither a recording, nor"), ("[1]", "neither"), ("{}", "neither"), (right[:-5], "neither"),
                       (right.replace('"rate"', '"rats"'), "pattern 1 has no member 'rats'"), (right.replace('"t", "does"', '"u", "does"'), "none of the tables"),
                       (right.replace('"rate": 1', '"rate": -1'), "requests per second"), (right.replace('"rate": 1', '"rate": [1, 2]'), "requests per second"),
                       (right.replace("PAY_PER_REQUEST", "FREE"), "PROVISIONED or PAY_PER_REQUEST"), (right.replace("PAY_PER_REQUEST", "PROVISIONED"), 'wants "read"'),
                       (right.replace('"units": 1, ', ""), 'wants "units"'), (right.replace('"does": "write"', '"does": "delete"'), "read or write")):
        assert said in forecast(text, status=1), (text, forecast(text, status=1))
    for keys, said in (({"spread": "normal"}, "uniform, zipf, hot or time"), ({"values": {"A": 0.7, "B": 0.7}}, "exceed 1"), ({"values": {}}, "share of each key")):
        assert said in forecast(plan(keys=keys), status=1), keys
    for words in (["--days", "0"], ["--days", "1.5"], ["--scale", "0"], ["--growth", "3"], ["--seed", "-1"], ["--what"]):
        assert ("unknown option" if words == ["--what"] else "usage: dynalith forecast") in forecast(plan(), *words, status=2), words
    assert "pattern 'p' reaches 200000000 requests a second" in forecast(plan(rate=2), "--scale", "1e8", status=1)
    assert "reaches" in forecast(plan(rate=1e6), "--growth", "90%/day", status=1)
    tables = FOLDER / "tables.json"
    tables.write_text(json.dumps({"tables": plan()["tables"]}))
    assert "Nothing is throttled" in forecast({"patterns": plan()["patterns"]}, "--tables", tables)
    assert "another table has its name" in forecast(plan(), "--tables", tables, status=1)


run("forecast", [one_partition_key_by_date, an_index_with_few_values, a_burst_with_auto_scaling_behind, a_new_table_hit_by_a_launch, a_hot_key_that_is_isolated, as_the_running_server_throttles,
                 as_an_index_throttles_its_table, as_on_demand_throttles, as_a_hot_range_is_split, days_that_are_alike, of_the_running_server, a_recording_is_a_plan, dollars_are_those_of_the_list, examples_that_aws_publishes, an_unknown_price_is_said, the_changes_that_save_most, the_same_bytes_and_a_range, a_page_with_charts, a_build_fails_by_rules, bad_input_is_named])
