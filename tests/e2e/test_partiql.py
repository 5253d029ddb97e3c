"""PartiQL through boto3: statements with parameters, pages over restarts, batches, transactions, errors by class, many at once."""
import threading
from decimal import Decimal

from harness import Server, create_app, raises, run

server = Server(disk=True)
client = server.client()
create_app(client)


def execute(statement, *parameters, **more):
    if parameters:
        more["Parameters"] = list(parameters)
    return client.execute_statement(Statement=statement, **more)


def S(text):
    return {"S": text}


def every_type_round_trips():
    item = {"PK": S("types"), "SK": S("1"), "n": {"N": "1.5"}, "b": {"B": b"\x00\xff"}, "bs": {"BS": [b"a", b"b"]}, "ss": {"SS": ["x", "y"]},
            "ns": {"NS": ["2", "1"]}, "l": {"L": [{"N": "1"}, {"BOOL": True}]}, "m": {"M": {"k": {"NULL": True}}}, "e": S("")}
    names = list(item)
    execute("INSERT INTO app VALUE {" + ", ".join(f"'{n}': ?" for n in names) + "}", *item.values())
    got = execute("SELECT * FROM app WHERE PK = ? AND SK = ?", S("types"), S("1"), ConsistentRead=True)["Items"]
    assert got == [item], got
    assert execute("SELECT m.k, l[1], bs FROM app WHERE PK = 'types' AND SK = '1'")["Items"] == [{"k": {"NULL": True}, "l[1]": {"BOOL": True}, "bs": item["bs"]}]


def resource_client_takes_python_values():
    meta = server.resource().meta.client
    meta.execute_statement(Statement="INSERT INTO app VALUE {'PK': ?, 'SK': ?, 'n': ?, 'tags': ?}", Parameters=["py", "1", Decimal("2.5"), {"a", "b"}])
    items = meta.execute_statement(Statement="SELECT n, tags FROM app WHERE PK = ?", Parameters=["py"])["Items"]
    assert items == [{"n": Decimal("2.5"), "tags": {"a", "b"}}], items


def pages(statement, *parameters, limit=7):
    """All rows, with a restart between two pages."""
    rows, token, restarted = [], {}, False
    while True:
        page = execute(statement, *parameters, Limit=limit, **token)
        rows += page["Items"]
        if "NextToken" not in page:
            return rows
        assert len(page["Items"]) <= limit
        token = {"NextToken": page["NextToken"]}
        if not restarted:
            server.kill()
            server.start()
            restarted = True


def tokens_survive_a_restart_and_hold_for_one_statement():
    for p in "abc":
        for i in range(20):
            execute("INSERT INTO app VALUE {'PK': ?, 'SK': ?, 'GSI1PK': 'all', 'GSI1SK': ?, 'even': ?}", S(f"page-{p}"), S(f"{i:02}"), S(f"{p}{i:02}"),
                    {"BOOL": i % 2 == 0})
    everything = [(f"page-{p}", f"{i:02}") for p in "abc" for i in range(20)]
    rows = lambda found: [(r["PK"]["S"], r["SK"]["S"]) for r in found]
    assert rows(pages("SELECT PK, SK FROM app WHERE PK IN ['page-c', 'page-a', 'page-b']")) == everything
    assert rows(pages("SELECT PK, SK FROM app WHERE PK = ? ORDER BY SK DESC", S("page-b"))) == everything[20:40][::-1]
    assert rows(pages("SELECT PK, SK FROM app.GSI1 WHERE GSI1PK = 'all' AND GSI1SK > 'b'")) == everything[20:]
    assert sorted(rows(pages("SELECT PK, SK FROM app WHERE begins_with(PK, 'page') AND even = true"))) == [r for r in everything if int(r[1]) % 2 == 0]
    assert rows(pages("SELECT PK, SK FROM app WHERE PK = 'page-a' AND SK = '03'", limit=1)) == [("page-a", "03")]
    token = execute("SELECT SK FROM app WHERE PK = ?", S("page-a"), Limit=5)["NextToken"]
    for statement, parameter in (("SELECT PK FROM app WHERE PK = ?", "page-a"), ("SELECT SK FROM app WHERE PK = ?", "page-b")):
        assert raises("ValidationException", client.execute_statement, Statement=statement, Parameters=[S(parameter)], NextToken=token) == "NextToken does not match request"
    for broken in (token[:-4], "AAAA" + token, "%%%", "A" * 400):
        raises("ValidationException", client.execute_statement, Statement="SELECT SK FROM app WHERE PK = ?", Parameters=[S("page-a")], NextToken=broken)


def pages_end_at_a_megabyte():
    for p in "xy":
        for i in range(4):
            client.put_item(TableName="app", Item={"PK": S(f"big-{p}"), "SK": S(str(i)), "data": S("d" * 200_000)})
    first = execute("SELECT PK, SK FROM app WHERE PK IN ('big-x', 'big-y')", ReturnConsumedCapacity="TOTAL")
    assert len(first["Items"]) == 6 and "NextToken" in first, len(first["Items"])
    assert 145 < first["ConsumedCapacity"]["CapacityUnits"] < 148, first["ConsumedCapacity"]
    rest = execute("SELECT PK, SK FROM app WHERE PK IN ('big-x', 'big-y')", NextToken=first["NextToken"])
    assert [i["SK"]["S"] for i in rest["Items"]] == ["2", "3"] and "NextToken" not in rest


def writes_and_their_errors():
    execute("INSERT INTO app VALUE {'PK': 'w', 'SK': '1', 'n': 1, 'm': {'a': 1, 'b': 2}}")
    raises("DuplicateItemException", client.execute_statement, Statement="INSERT INTO app VALUE {'PK': 'w', 'SK': '1'}")
    got = execute("UPDATE app SET n = n + ?, m.a = 5 REMOVE none WHERE PK = 'w' AND SK = '1' RETURNING MODIFIED NEW *", {"N": "2"})
    assert got["Items"] == [{"n": {"N": "3"}, "m": {"M": {"a": {"N": "5"}}}}], got
    raises("ConditionalCheckFailedException", client.execute_statement, Statement="UPDATE app SET n = 0 WHERE PK = 'w' AND SK = '1' AND n > 100",
           ReturnValuesOnConditionCheckFailure="ALL_OLD")
    assert raises.response["Item"]["n"] == {"N": "3"}
    got = execute("DELETE FROM app WHERE PK = 'w' AND SK = '1' AND n = 3 RETURNING ALL OLD *", ReturnConsumedCapacity="INDEXES")
    assert got["Items"][0]["n"] == {"N": "3"} and got["ConsumedCapacity"]["Table"]["CapacityUnits"] == 1
    assert execute("DELETE FROM app WHERE PK = 'w' AND SK = '1'")["Items"] == []
    raises("ResourceNotFoundException", client.execute_statement, Statement="SELECT * FROM absent")
    raises("ValidationException", client.execute_statement, Statement="SELECT * FROM app WHERE")


def reads_cost_what_the_classic_ones_do():
    client.put_item(TableName="app", Item={"PK": S("cost"), "SK": S("1"), "data": S("d" * 5000)})
    units = lambda statement, **more: execute(statement, ReturnConsumedCapacity="TOTAL", **more)["ConsumedCapacity"]["CapacityUnits"]
    assert units("SELECT PK FROM app WHERE PK = 'cost' AND SK = '1'") == 1
    assert units("SELECT PK FROM app WHERE PK = 'cost' AND SK = '1'", ConsistentRead=True) == 2
    assert units("SELECT PK FROM app WHERE PK = 'cost' AND SK = 'absent'") == 0.5
    assert units("SELECT PK FROM app WHERE PK = 'cost' AND none = 1") == 1


def batches_answer_each_in_place():
    for i in range(3):
        client.put_item(TableName="app", Item={"PK": S("batch"), "SK": S(str(i)), "n": {"N": str(i)}})
    statements = [{"Statement": "SELECT n FROM app WHERE PK = ? AND SK = ?", "Parameters": [S("batch"), S(str(i))]} for i in (2, 0, 9)]
    got = client.batch_execute_statement(Statements=statements + [{"Statement": "SELECT * FROM app WHERE PK = 'batch'"}])["Responses"]
    assert [g.get("Item") for g in got] == [{"n": {"N": "2"}}, {"n": {"N": "0"}}, None, None] and got[3]["Error"]["Code"] == "ValidationError"
    got = client.batch_execute_statement(Statements=[
        {"Statement": "UPDATE app SET n = 7 WHERE PK = 'batch' AND SK = '0'"}, {"Statement": "INSERT INTO app VALUE {'PK': 'batch', 'SK': '1'}"},
        {"Statement": "DELETE FROM app WHERE PK = 'batch' AND SK = '2' RETURNING ALL OLD *"}])["Responses"]
    assert got[1]["Error"]["Code"] == "DuplicateItem" and got[2]["Item"]["n"] == {"N": "2"}
    assert execute("SELECT n FROM app WHERE PK = 'batch'")["Items"] == [{"n": {"N": "7"}}, {"n": {"N": "1"}}]


def transactions_are_all_or_nothing_and_idempotent():
    transact = lambda *statements, **more: client.execute_transaction(TransactStatements=[{"Statement": s} for s in statements], **more)
    transact("INSERT INTO app VALUE {'PK': 't', 'SK': '1', 'n': 1}", "INSERT INTO app VALUE {'PK': 't', 'SK': '2', 'n': 1}")
    raises("TransactionCanceledException", client.execute_transaction, TransactStatements=[
        {"Statement": "UPDATE app SET n = 5 WHERE PK = 't' AND SK = '1'"}, {"Statement": "INSERT INTO app VALUE {'PK': 't', 'SK': '2'}"}])
    assert [r["Code"] for r in raises.response["CancellationReasons"]] == ["None", "DuplicateItem"]
    for _ in range(3):
        transact("EXISTS(SELECT * FROM app WHERE PK = 't' AND SK = '2' AND n = 1)", "UPDATE app SET n = n + 1 WHERE PK = 't' AND SK = '1'",
                 ClientRequestToken="partiql-token")
    raises("IdempotentParameterMismatchException", client.execute_transaction, ClientRequestToken="partiql-token",
           TransactStatements=[{"Statement": "DELETE FROM app WHERE PK = 't' AND SK = '1'"}])
    got = transact("SELECT n FROM app WHERE PK = 't' AND SK = '1'", "SELECT n FROM app WHERE PK = 't' AND SK = '3'")["Responses"]
    assert got == [{"Item": {"n": {"N": "2"}}}, {}], got


def many_at_once():
    execute("INSERT INTO app VALUE {'PK': 'counter', 'SK': '1', 'n': 0}")

    def add():
        mine = server.client()
        for _ in range(25):
            mine.execute_statement(Statement="UPDATE app SET n = n + 1 WHERE PK = 'counter' AND SK = '1'")
    threads = [threading.Thread(target=add) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert execute("SELECT n FROM app WHERE PK = 'counter' AND SK = '1'")["Items"] == [{"n": {"N": "200"}}]


if __name__ == "__main__":
    run("partiql", [every_type_round_trips, resource_client_takes_python_values, tokens_survive_a_restart_and_hold_for_one_statement,
                    pages_end_at_a_megabyte, writes_and_their_errors, reads_cost_what_the_classic_ones_do, batches_answer_each_in_place,
                    transactions_are_all_or_nothing_and_idempotent, many_at_once, server.stop])
