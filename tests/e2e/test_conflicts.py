"""Transactions that meet: an item that is in a transaction under way refuses others with the errors of AWS. A fault rule holds the transaction."""
import concurrent.futures
import threading

from botocore.exceptions import ClientError

from harness import Server, client_of, control, create_app, run, until

POOL = concurrent.futures.ThreadPoolExecutor(32)


def key(pk):
    return {"PK": {"S": pk}, "SK": {"S": "1"}}


def put(pk, **more):
    return {"Put": {"TableName": "app", "Item": {**key(pk), **more}}}


def failure(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ClientError as e:
        return e
    raise AssertionError("no error")


def reasons(error):
    assert error.response["Error"]["Code"] == "TransactionCanceledException", error
    return [(r["Code"], r.get("Message")) for r in error.response["CancellationReasons"]]


CONFLICT = ("TransactionConflict", "Transaction is ongoing for the item")
NONE = ("None", None)


class Held:
    """A request that is under way until the block ends."""

    def __init__(self, server, operation, call, **parameters):
        self.server = server
        control(server, "PUT", "faults", {"rules": [{"operation": operation, "first": 1, "hold": 300000}]})
        self.future = POOL.submit(call, **parameters)

    def __enter__(self):
        until(lambda: control(self.server, "GET", "faults")["rules"][0]["fired"] == 1, "the request is not held")
        return self.future

    def __exit__(self, *problem):
        control(self.server, "DELETE", "faults")
        if not problem[0]:
            self.future.result(60)


def server_with_conflicts(*flags):
    server = Server(*flags)
    client = client_of(server)
    create_app(client)
    control(server, "PUT", "conflicts", {"conflicts": "real"})
    return server, client


def a_transaction_refuses_others():
    server, client = server_with_conflicts()
    client.put_item(TableName="app", Item={**key("checked"), "v": {"N": "1"}})
    items = [put("a", v={"N": "1"}), put("b"), {"ConditionCheck": {"TableName": "app", "Key": key("checked"), "ConditionExpression": "v = :one",
                                                                   "ExpressionAttributeValues": {":one": {"N": "1"}}}}]
    with Held(server, "TransactWriteItems", client.transact_write_items, TransactItems=items) as held:
        for pk in ("a", "checked"):
            for error in (failure(client.put_item, TableName="app", Item=key(pk)), failure(client.delete_item, TableName="app", Key=key(pk)),
                          failure(client.update_item, TableName="app", Key=key(pk)),
                          failure(client.execute_statement, Statement=f"UPDATE app SET v = 2 WHERE PK = '{pk}' AND SK = '1'")):
                assert isinstance(error, client.exceptions.TransactionConflictException), error
                assert error.response["Error"]["Message"] == "Transaction is ongoing for the item"
        # a condition that does not hold is not looked at
        assert isinstance(failure(client.put_item, TableName="app", Item=key("a"), ConditionExpression="attribute_exists(PK)"),
                          client.exceptions.TransactionConflictException)
        assert reasons(failure(client.transact_write_items, TransactItems=[put("c"), put("b"), put("a")])) == [NONE, CONFLICT, CONFLICT]
        assert reasons(failure(client.transact_get_items, TransactItems=[{"Get": {"TableName": "app", "Key": key(k)}} for k in ("c", "a")])) == [NONE, CONFLICT]
        assert reasons(failure(client.execute_transaction, TransactStatements=[{"Statement": "SELECT * FROM app WHERE PK = 'a' AND SK = '1'"}])) == [CONFLICT]
        assert reasons(failure(client.execute_transaction, TransactStatements=[
            {"Statement": "DELETE FROM app WHERE PK = 'c' AND SK = '1'"}, {"Statement": "DELETE FROM app WHERE PK = 'a' AND SK = '1'"}])) == [NONE, CONFLICT]
        answer = client.batch_execute_statement(Statements=[{"Statement": f"INSERT INTO app VALUE {{'PK': '{k}', 'SK': '1'}}"} for k in ("d", "a")])["Responses"]
        assert "Error" not in answer[0] and answer[1]["Error"]["Code"] == "TransactionConflict"
        requests = [{"PutRequest": {"Item": key(k)}} for k in ("e", "a", "f")]
        assert client.batch_write_item(RequestItems={"app": requests})["UnprocessedItems"] == {"app": [requests[1]]}
        # reads see what is committed; others are not concerned
        assert "Item" not in client.get_item(TableName="app", Key=key("a"), ConsistentRead=True)
        assert {i["PK"]["S"] for i in client.scan(TableName="app")["Items"]} == {"checked", "d", "e", "f"}
        client.put_item(TableName="app", Item=key("c"))
        client.transact_write_items(TransactItems=[put("c"), put("d")])
        assert not held.done()
    assert client.get_item(TableName="app", Key=key("a"))["Item"]["v"] == {"N": "1"}
    client.put_item(TableName="app", Item=key("a"))
    assert client.transact_get_items(TransactItems=[{"Get": {"TableName": "app", "Key": key("a")}}])["Responses"][0]["Item"] == key("a")
    server.stop()


def single_writes_refuse_transactions_only():
    server, client = server_with_conflicts()
    with Held(server, "PutItem", client.put_item, TableName="app", Item={**key("a"), "v": {"N": "1"}}):
        assert reasons(failure(client.transact_write_items, TransactItems=[put("b"), put("a")])) == [NONE, CONFLICT]
        assert reasons(failure(client.transact_get_items, TransactItems=[{"Get": {"TableName": "app", "Key": key("a")}}])) == [CONFLICT]
        client.update_item(TableName="app", Key=key("a"), UpdateExpression="SET w = :w", ExpressionAttributeValues={":w": {"N": "2"}})
        assert client.get_item(TableName="app", Key=key("a"))["Item"]["w"] == {"N": "2"}
    assert client.get_item(TableName="app", Key=key("a"))["Item"] == {**key("a"), "v": {"N": "1"}}  # the put came last
    with Held(server, "TransactGetItems", client.transact_get_items, TransactItems=[{"Get": {"TableName": "app", "Key": key("a")}}]):
        client.delete_item(TableName="app", Key=key("a"))
        client.transact_write_items(TransactItems=[put("a")])
    server.stop()


def a_token_that_is_in_progress_says_so():
    server, client = server_with_conflicts()
    call = {"TransactItems": [put("a")], "ClientRequestToken": "token-1"}
    with Held(server, "TransactWriteItems", client.transact_write_items, **call):
        error = failure(client.transact_write_items, **call)
        assert isinstance(error, client.exceptions.TransactionInProgressException), error
        assert error.response["Error"]["Message"] == "The transaction with the given request token is already in progress."
        assert reasons(failure(client.transact_write_items, TransactItems=[put("a")], ClientRequestToken="token-2")) == [CONFLICT]
    client.transact_write_items(**call)  # it was done
    server.stop()


def nothing_conflicts_unless_asked_for():
    server, client = server_with_conflicts()
    assert control(server, "GET", "conflicts", query="?account=222222222222") == {"conflicts": "none"}
    for body, words in (({"conflict": "real"}, "There is no member"), ({"conflicts": "some"}, '"none" or "real"'), ({}, "lacks"), ([], "JSON object")):
        assert words in control(server, "PUT", "conflicts", body, status=400)["message"]
    assert control(server, "GET", "conflicts") == {"conflicts": "real"}
    assert control(server, "DELETE", "conflicts") == {"conflicts": "none"}
    with Held(server, "TransactWriteItems", client.transact_write_items, TransactItems=[put("a", v={"N": "1"})]):
        client.put_item(TableName="app", Item=key("a"))
    assert "v" in client.get_item(TableName="app", Key=key("a"))["Item"]
    server.stop()
    server = Server("--conflicts", "real")
    client = client_of(server)
    create_app(client)
    with Held(server, "TransactWriteItems", client.transact_write_items, TransactItems=[put("a")]):
        assert isinstance(failure(client.put_item, TableName="app", Item=key("a")), client.exceptions.TransactionConflictException)
        assert control(server, "PUT", "conflicts", {"conflicts": "none"}) == {"conflicts": "none"}
        client.put_item(TableName="app", Item=key("a"))
        assert control(server, "DELETE", "conflicts") == {"conflicts": "real"}
    server.stop()


def held_requests_hold_nobody_up():
    """More of them than the server has threads; and the end of the server lets them go."""
    server, client = server_with_conflicts("--threads", "2")
    control(server, "PUT", "faults", {"rules": [{"operation": ["TransactWriteItems", "GetItem", "ListTables"], "hold": 300000}]})
    held = [POOL.submit(client.transact_write_items, TransactItems=[put(f"t{i}")]) for i in range(12)]
    held += [POOL.submit(client.get_item, TableName="app", Key=key("x")), POOL.submit(client.list_tables)]
    until(lambda: control(server, "GET", "faults")["rules"][0]["fired"] == len(held), "they are not held")
    for i in range(20):
        client.put_item(TableName="app", Item=key(f"free{i}"))
    assert not any(f.done() for f in held)
    control(server, "PUT", "faults", {"rules": [{"operation": "TransactWriteItems", "first": 1, "hold": 300000}]})  # other rules let them go, too
    for f in held:
        f.result(60)
    last = POOL.submit(client.transact_write_items, TransactItems=[put("last")])
    until(lambda: control(server, "GET", "faults")["rules"][0]["fired"] == 1, "it is not held")
    server.stop()
    last.exception(60)


def transactions_of_many_threads_meet():
    """Without a rule: transactions and single writes of a few items at once. Each is done or refused for a conflict, and no count is lost."""
    server, client = server_with_conflicts()
    done, refused, lock = [0, 0, 0], [0], threading.Lock()

    def work(seed):
        for i in range(40):
            pks = [str((seed + i) % 3), str((seed + i + 1) % 3)]
            add = {"UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
            try:
                if i % 3:
                    client.transact_write_items(TransactItems=[{"Update": {"TableName": "app", "Key": key(pk), **add}} for pk in pks])
                else:
                    pks = pks[:1]
                    client.update_item(TableName="app", Key=key(pks[0]), **add)
            except ClientError as e:
                assert e.response["Error"]["Code"] in ("TransactionConflictException", "TransactionCanceledException"), e
                assert "CancellationReasons" not in e.response or {r["Code"] for r in e.response["CancellationReasons"]} <= {"None", "TransactionConflict"}
                with lock:
                    refused[0] += 1
                continue
            with lock:
                for pk in pks:
                    done[int(pk)] += 1
    for future in [POOL.submit(work, seed) for seed in range(8)]:
        future.result(120)
    found = [int(client.get_item(TableName="app", Key=key(str(i)), ConsistentRead=True)["Item"]["n"]["N"]) for i in range(3)]
    assert found == done, (found, done, refused)
    client.transact_write_items(TransactItems=[put(str(i)) for i in range(3)])  # nothing is busy any more
    server.stop()


run("conflicts", [a_transaction_refuses_others, single_writes_refuse_transactions_only, a_token_that_is_in_progress_says_so, nothing_conflicts_unless_asked_for,
                  held_requests_hold_nobody_up, transactions_of_many_threads_meet])
