"""Where DynamoDB Local 3.3.1 answers otherwise than AWS and we follow AWS: data for the differential run and docs/differences.md.

Two kinds of rows. A Rule changes both answers where its condition holds, so that the rest of them is still compared. A Pair names two
errors, ours and theirs, as patterns of "TYPE: message". Each row tells what AWS does and how that is known.
"""
import collections
import copy
import decimal
import re

Rule = collections.namedtuple("Rule", "subject title source adjust")
Pair = collections.namedtuple("Pair", "subject title source ours theirs operations", defaults=(None,))

RECORDED = "recorded answers of AWS: the public conformance suite, or reimplementations that were tested against AWS"
CAPTURED = "captures of AWS of October 2026, noted in the source of dynoxide 3.2.0"
GUIDE = "Developer Guide"
API = "API Reference"
UNKNOWN = "both answers are right; AWS's is not known"
MARKS = {RECORDED: "recorded", CAPTURED: "captured", API: "API", UNKNOWN: "open"}


# Subjects of docs/differences.md, in its order.
CAPACITY = "Capacity and metrics"
ANSWERS = "Answers"
VALUES = "Values"
EXPRESSIONS = "Expressions"
LEGACY = "Legacy parameters"
KEYS = "Keys, starting keys, indexes"
BATCHES = "Batches and transactions"
TABLES = "Tables"
ORDERS = "Which of several mistakes comes first"
SUBJECTS = (CAPACITY, ANSWERS, VALUES, EXPRESSIONS, LEGACY, KEYS, BATCHES, TABLES, ORDERS)


# Rules

def holders(answer):
    """Every ConsumedCapacity of an answer."""
    capacity = answer[-1].get("ConsumedCapacity")
    return capacity if isinstance(capacity, list) else [capacity] if capacity else []


def drop_capacity(ours, theirs):
    ours[-1].pop("ConsumedCapacity", None)
    theirs[-1].pop("ConsumedCapacity", None)


def total(answer):
    return sum(c["CapacityUnits"] for c in holders(answer))


def capacity_not_asked(operation, body, ours, theirs):
    if operation == "DeleteItem" and body.get("ReturnConsumedCapacity") in (None, "NONE"):
        theirs[-1].pop("ConsumedCapacity", None)


def item_collection_metrics(operation, body, ours, theirs):
    if body.get("ReturnItemCollectionMetrics") == "SIZE" and "ItemCollectionMetrics" not in theirs[-1]:
        ours[-1].pop("ItemCollectionMetrics", None)


def described_throughput(operation, body, ours, theirs):
    for holder in (ours[-1].get("Table"), theirs[-1].get("Table")):
        (holder or {}).pop("TableThroughputModeSummary", None)
        for described in [holder, *holder.get("GlobalSecondaryIndexes", [])] if holder else []:
            described.pop("WarmThroughput", None)
            if described is not holder:
                described.pop("ProvisionedThroughput", None)


def split_units(operation, body, ours, theirs):
    if not operation.startswith("Transact"):
        return
    for capacity in holders(ours):
        parts = [capacity, capacity.get("Table", {})]
        for indexes in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            parts += capacity.get(indexes, {}).values()
        for part in parts:
            part.pop("ReadCapacityUnits", None)
            part.pop("WriteCapacityUnits", None)


def transaction_writes(operation, body, ours, theirs):
    if operation == "TransactWriteItems" and ours[-1].get("ConsumedCapacity") != theirs[-1].get("ConsumedCapacity"):
        drop_capacity(ours, theirs)


def reads_of_nothing(operation, body, ours, theirs):
    """Also where some keys of a batch are found and others not."""
    if operation in ("Query", "Scan") and total(theirs) == 0 and 0 < total(ours) <= 1:
        drop_capacity(ours, theirs)
    if operation == "BatchGetItem" and total(theirs) < total(ours):
        found = sum(len(items) for items in ours[-1].get("Responses", {}).values())
        asked = sum(len(request["Keys"]) for request in body["RequestItems"].values() if request)
        if found < asked:
            drop_capacity(ours, theirs)


def fetches(operation, body, ours, theirs):
    if operation in ("Query", "Scan") and str(body.get("IndexName", "")).startswith("LSI") and total(theirs) != total(ours):
        drop_capacity(ours, theirs)


def deletes_of_nothing(operation, body, ours, theirs):
    if operation == "BatchWriteItem" and total(ours) < total(theirs):
        drop_capacity(ours, theirs)


def index_writes(operation, body, ours, theirs):
    if operation == "PutItem" and 1 <= total(theirs) - total(ours) <= 3 or operation == "UpdateItem" and abs(total(ours) - total(theirs)) in (1, 2, 3):
        drop_capacity(ours, theirs)


def limit_reached(operation, body, ours, theirs):
    if operation == "Query" and body.get("Limit") == ours[-1].get("ScannedCount") and "LastEvaluatedKey" not in theirs[-1]:
        ours[-1].pop("LastEvaluatedKey", None)


def number(text):
    return str((decimal.Decimal(text) + 0).normalize())


def canonical_numbers(value):
    if isinstance(value, dict):
        return {k: number(v) if k == "N" else sorted(map(number, v)) if k == "NS" else canonical_numbers(v) for k, v in value.items()}
    return [canonical_numbers(v) for v in value] if isinstance(value, list) else value


def number_texts(operation, body, ours, theirs):
    for answer in (ours, theirs):
        for key in ("Responses", "Attributes", "Items", "Item", "CancellationReasons"):
            if key in answer[-1]:
                answer[-1][key] = canonical_numbers(answer[-1][key])


def unchanged_attributes(operation, body, ours, theirs):
    if operation == "UpdateItem" and str(body.get("ReturnValues", "")).startswith("UPDATED_") and "Attributes" not in theirs[-1]:
        ours[-1].pop("Attributes", None)


def reasons(operation, body, ours, theirs):
    one, other = ours[-1].get("CancellationReasons"), theirs[-1].get("CancellationReasons")
    for reason in other or []:
        if reason.get("Message") == "The conditional request failed.":
            reason["Message"] = "The conditional request failed"
    if one and other and len(other) < len(one):
        del one[len(other):]
        ours[2] = theirs[2] = ""


ENVELOPE = "1 validation error detected: "
CONSTRAINT = r"Value |Failed to satisfy|Map "  # of the API's model


def envelope(operation, body, ours, theirs):
    if ours[0] != 200 and ours[2].startswith(ENVELOPE) and not re.match(CONSTRAINT, ours[2][len(ENVELOPE):]):
        ours[2] = ours[2][len(ENVELOPE):]


def removes_only(operation, body):
    """Whether the servers' items may differ after it: theirs makes an item where only something is removed, ours does not."""
    actions = body.get("TransactItems") if operation == "TransactWriteItems" else [{"Update": body}] if operation == "UpdateItem" else []
    for update in [action.get("Update") for action in actions or [] if isinstance(action, dict)] if isinstance(actions, list) else []:
        if not isinstance(update, dict):
            continue
        text, legacy = str(update.get("UpdateExpression") or ""), update.get("AttributeUpdates")
        if re.match(r"\s*(REMOVE|DELETE)\b", text, re.I) and not re.search(r"\b(SET|ADD)\b", text, re.I):
            return True
        if legacy and isinstance(legacy, dict) and all(isinstance(m, dict) and m.get("Action") == "DELETE" for m in legacy.values()):
            return True
    return False


def removal_of_nothing(operation, body, ours, theirs):
    if removes_only(operation, body) and ours[0] == 200 and "Attributes" not in ours[-1]:
        ours[:], theirs[:] = [200, {}], [200, {}]


def empty_entries(operation, body, ours, theirs):
    if operation == "TransactGetItems":
        for answer in (ours, theirs):
            for entry in answer[-1].get("Responses", []):
                if entry.get("Item") == {}:
                    del entry["Item"]


RULES = [
    Rule(ANSWERS, "an update that only removes creates no item", CAPTURED, removal_of_nothing),
    Rule(ANSWERS, "TransactGetItems: a projection that matches nothing gives an entry without Item", CAPTURED, empty_entries),
    Rule(VALUES, "single-item writes, and Select of Query, put an error that the request alone shows behind \"1 validation error detected: \"", CAPTURED, envelope),
    Rule(CAPACITY, "DeleteItem gives ConsumedCapacity only when asked", API, capacity_not_asked),
    Rule(CAPACITY, "ItemCollectionMetrics are given for tables with local secondary indexes when ReturnItemCollectionMetrics is SIZE", API,
         item_collection_metrics),
    Rule(TABLES, "DescribeTable gives WarmThroughput of table and indexes, TableThroughputModeSummary, and the throughput of indexes billed on demand as zeros", RECORDED,
         described_throughput),
    Rule(CAPACITY, "transactions give ReadCapacityUnits and WriteCapacityUnits beside CapacityUnits", RECORDED, split_units),
    Rule(CAPACITY, "a transactional write costs two units for each kilobyte of each item", GUIDE + ", \"Managing complex workflows with transactions\"",
         transaction_writes),
    Rule(CAPACITY, "a read that finds nothing costs the smallest read, each key of a batch by itself", GUIDE + ", \"DynamoDB read and write operations\"",
         reads_of_nothing),
    Rule(CAPACITY, "a query on a local index pays for the items it fetches from the table", GUIDE + ", \"Local secondary indexes\"", fetches),
    Rule(CAPACITY, "deleting what is not there costs one unit, in a batch too", GUIDE + ", \"DynamoDB read and write operations\"", deletes_of_nothing),
    Rule(CAPACITY, "an index is written, and paid, when the item's entry in it changes; not when the item has only a part of the index's key", GUIDE +
         ", \"Global secondary indexes\", write capacity", index_writes),
    Rule(ANSWERS, "a page that ends because Limit is reached has a LastEvaluatedKey, whether more follows or not", GUIDE + ", \"Paginating table query results\"",
         limit_reached),
    Rule(ANSWERS, "numbers are printed in full everywhere, cancellation reasons included", RECORDED, number_texts),
    Rule(ANSWERS, "UPDATED_NEW and UPDATED_OLD give every attribute named by the update, also one that keeps its value", API, unchanged_attributes),
    Rule(ANSWERS, "CancellationReasons has one entry for each action, in their order; a failed condition has the message without a full stop", RECORDED, reasons),
]

# Pairs

KEY_ELEMENT = r"ValidationException: The provided key element does not match the schema$"
THEIR_KEY = (r"(TransactionCanceled|Validation)Exception: (Invalid attribute value type|The number of conditions on the keys is invalid|"
             r"One of the required keys was not given a value|One or more parameter values were invalid: Type mismatch for (key|Index Key)|"
             r"Cannot have null key|Type mismatch for attribute to update)")
NUMBER = r"(The parameter cannot be converted to a numeric value|Number overflow|Number underflow|Attempting to store more than 38)"
EXPRESSION = (r"ValidationException: (Invalid (Update|Condition|Filter|Projection|KeyCondition)Expression: |Value provided in ExpressionAttribute|"
              r"ExpressionAttribute(Names|Values) )")
MODEL = r"ValidationException: (\d+ validation errors? detected: |Failed to satisfy constraint|The parameter '|Value '.*' at ')"
MIXED = r"ValidationException: Can not use both expression and non-expression parameters"
PARAMETERS = (r"ValidationException: (Can not use both|ExpressionAttribute(Names|Values) (can only|must not|contains)|Invalid \w+Expression|Value provided|"
              r"One or more parameter values were invalid: (Only DELETE|ComparisonOperator|Value |Invalid number|Unsupported)|ConditionalOperator |Supplied Attr)")

PAIRS = [
    Pair(ORDERS, "violations of the API model's constraints come first, all in one error", RECORDED, MODEL, r"(?!SerializationException)"),
    Pair(VALUES, "JSON of a wrong type is a SerializationException", RECORDED, r"SerializationException: ", r"InternalFailure: |200|ValidationException: |ResourceInUseException: "),
    Pair(TABLES, "CreateTable names the table that exists already", RECORDED, r"ResourceInUseException: Table already exists: ", r"ResourceInUseException: Cannot create preexisting table"),
    Pair(TABLES, "a missing table is \"Requested resource not found\"", RECORDED, r"ResourceNotFoundException: Requested resource not found",
         r"ResourceNotFoundException: Cannot do operations on a non-existent table"),
    Pair(KEYS, "a key of wrong type, or with too few or too many attributes, is \"The provided key element does not match the schema\"", RECORDED,
         KEY_ELEMENT, THEIR_KEY),
    Pair(KEYS, "the error names the key attribute that is missing or of a wrong type", RECORDED,
         r"ValidationException: One or more parameter values were invalid: (Missing the key|Type mismatch for (key|Index Key))", THEIR_KEY),
    Pair(BATCHES, "what is wrong with one action's key or update cancels the transaction, with the reason in that action's place", RECORDED,
         r"TransactionCanceledException: ", r"(TransactionCanceled|Validation)Exception: (?!One or more parameter values are not valid)"),
    Pair(VALUES, "the error for a malformed number shows the text", RECORDED, r"ValidationException: (.*: )?" + NUMBER,
         r"ValidationException: .*(A value provided cannot be converted into a number|DynamoDB only supports precision up to 38 digits|" + NUMBER + ")"),
    Pair(ORDERS, "expressions are parsed before the key is compared with the table's schema", API, EXPRESSION, THEIR_KEY),
    Pair(ORDERS, "errors in parameters come before the table, its keys and the condition", RECORDED, PARAMETERS,
         THEIR_KEY + r"|ConditionalCheckFailedException: |ResourceNotFoundException: |200|ValidationException: Provided list of item keys contains duplicates"),
    Pair(EXPRESSIONS, "paths into key attributes are refused before the condition is evaluated", "the check needs no item", r"ValidationException: Key attributes must be scalars",
         r"ConditionalCheckFailedException: "),
    Pair(LEGACY, "legacy parameters beside expressions are refused before their content is checked", RECORDED, MIXED,
         r"ValidationException: (One or more parameter values were invalid|Invalid \w+Expression|ConditionalOperator)|ConditionalCheckFailed|200"),
    Pair(EXPRESSIONS, "names or values without an expression are refused, also an empty map", RECORDED,
         r"ValidationException: ExpressionAttribute(Names|Values) can only be specified when using expressions", r"200"),
    Pair(EXPRESSIONS, "\"size\" is a reserved word where it is no function", GUIDE + ", \"Reserved words\"", r"ValidationException: Invalid \w+Expression: Attribute name is a reserved keyword",
         r"200|ValidationException|ConditionalCheckFailed"),
    Pair(EXPRESSIONS, "of overlapping paths, the error names the first two that clash", "DynamoDB Local names a path that clashes with nothing",
         r"ValidationException: Invalid \w+Expression: Two document paths ", r"ValidationException: Invalid \w+Expression: Two document paths "),
    Pair(KEYS, "attributes that an index lacks are listed in the order of the request", "DynamoDB Local's order is that of a hash table",
         r"ValidationException: One or more parameter values were invalid: (Global secondary index|Secondary index) \w+ does not project",
         r"ValidationException: One or more parameter values were invalid: (Global secondary index|Secondary index) \w+ does not project"),
    Pair(ORDERS, "attributes that an index lacks, before the starting key", UNKNOWN,
         r"ValidationException: (One or more parameter values were invalid: (Global secondary|Secondary)|Must specify the AttributesToGet)",
         r"ValidationException: The provided starting key"),
    Pair(EXPRESSIONS, "attribute_type lists the valid types in AWS's order", RECORDED, r"ValidationException: Invalid \w+Expression: Invalid attribute type name found",
         r"ValidationException: Invalid \w+Expression: Invalid attribute type name found"),
    Pair(EXPRESSIONS, "the error for BETWEEN bounds prints canonical numbers", UNKNOWN, r"ValidationException: Invalid \w+Expression: The BETWEEN operator",
         r"ValidationException: Invalid \w+Expression: The BETWEEN operator"),
    Pair(KEYS, "the error for a query without a key condition names the attribute", RECORDED, r"ValidationException: Query condition missed key schema element: ",
         r"ValidationException: Query condition missed key schema element$"),
    Pair(ORDERS, "an empty value in the starting key, before expressions", UNKNOWN,
         r"ValidationException: The provided starting key is invalid: Supplied AttributeValue", r"ValidationException: Invalid (operator used in KeyCondition|\w+)Expression"),
    Pair(KEYS, "a starting key of another partition is outside the query's boundaries", RECORDED,
         r"ValidationException: The provided starting key is outside query boundaries", r"ValidationException: The provided starting key does not match the range key"),
    Pair(KEYS, "a starting key that does not fit the schema has AWS's error", RECORDED, r"ValidationException: The provided starting key is invalid",
         r"ValidationException: (The provided starting key is invalid|Type mismatch for attribute to update|Invalid attribute value type|The number of conditions)"),
    Pair(KEYS, "Segment not below TotalSegments has AWS's error", RECORDED, r"ValidationException: The Segment parameter is zero-based", MODEL),
    Pair(ORDERS, "in one update: an invalid path, before a missing operand", UNKNOWN,
         r"ValidationException: The document path provided in the update expression is invalid for update",
         r"ValidationException: (The provided expression refers to an attribute that does not exist in the item|An operand in the update)"),
    Pair(VALUES, "the error for a binary set with a duplicate shows the set", RECORDED, r"ValidationException: .*Input collection \[.*\]of type BS contains duplicates",
         r"ValidationException: .*Input collection of type BS contains duplicates"),
    Pair(VALUES, "the error for a duplicate in a set ends with a full stop", RECORDED, r"ValidationException: .*Input collection \[.*\] contains duplicates",
         r"ValidationException: .*Input collection \[.*\] contains duplicates"),
    Pair(ANSWERS, "a part of a Scan: which keys a segment holds", "dynalite's tests of segments, which pass against AWS; DynamoDB Local has a hash of its own", r"200|ValidationException: The provided starting key is invalid",
         r"200|ValidationException: Exclusive start key must lie within the segment", ("Scan",)),
    Pair(EXPRESSIONS, "of several nested key paths, the error names the first", "DynamoDB Local's order is that of a hash table", r"ValidationException: Key attributes must be scalars",
         r"ValidationException: Key attributes must be scalars"),
    Pair(KEYS, "Segment without TotalSegments, and the reverse, have AWS's errors", RECORDED, r"ValidationException: The (Total)?Segments? parameter is required", r"ValidationException: If segment"),
    Pair(EXPRESSIONS, "a ConditionCheck may not name a path into an index key", "as for every other expression", r"ValidationException: Key attributes must be scalars", r"200",
         ("TransactWriteItems",)),
    Pair(KEYS, "the type of an index's key is checked whatever the value was made from", RECORDED,
         r"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", r"200", ("UpdateItem",)),
    Pair(KEYS, "a starting key with too few or too many attributes does not fit the schema", RECORDED, r"ValidationException: The provided starting key is invalid",
         r"ValidationException: (Exclusive Start Key must have same size|The query can return at most one row)"),
    Pair(LEGACY, "an empty KeyConditionExpression counts as given", "the parameter is given", MIXED, MIXED, ("Query",)),
    Pair(EXPRESSIONS, "the error for a too long expression gives its size", RECORDED, r"ValidationException: Invalid \w+Expression: Expression size has exceeded", r"ValidationException: .*Expression size has exceeded"),
    Pair(VALUES, "a JSON null as an attribute value is an empty AttributeValue", RECORDED, r"ValidationException: Supplied AttributeValue is empty", r"ValidationException: The supplied Item contains a null"),
    Pair(EXPRESSIONS, "operand types in errors are those of the API", "DynamoDB Local lists types that the API has not", r"ValidationException: Invalid \w+Expression: Incorrect operand type",
         r"ValidationException: Invalid \w+Expression: Incorrect operand type.*HD"),
    Pair(TABLES, "quotas of an account can be raised", GUIDE + ", \"Quotas\"", r"ResourceInUseException|ValidationException", r"ValidationException: Cannot increase provisioned throughput", ("CreateTable",)),
    Pair(TABLES, "the error names the index without throughput on a provisioned table", RECORDED, r"ValidationException: .*ProvisionedThroughput is not specified for index",
         r"ValidationException: No provisioned throughput specified", ("CreateTable",)),
    Pair(TABLES, "the error names the attribute that is defined twice", RECORDED, r"ValidationException: Attribute Name is duplicated", r"ValidationException: Cannot have two attributes"),
    Pair(TABLES, "an attribute that is projected twice has AWS's error", RECORDED, r"ValidationException: .*Duplicate element in NonKeyAttributes", r"ValidationException: (?:Cannot have two attributes|No provisioned throughput specified for the global)"),
    Pair(KEYS, "too many key conditions: the error gives their number", RECORDED, r"ValidationException: The number of query conditions",
         r"ValidationException: (Conditions can be of length|Query key condition not supported)", ("Query",)),
    Pair(KEYS, "two conditions on one key attribute have AWS's error", RECORDED, r"ValidationException: Invalid KeyConditionExpression: KeyConditionExpressions must only contain",
         r"ValidationException: KeyConditionExpressions must only contain", ("Query",)),
    Pair(ORDERS, "names without an expression, before values", UNKNOWN,
         r"ValidationException: ExpressionAttribute(Names|Values) can only", r"ValidationException: ExpressionAttribute(Values (can only|must not)|Names contains)"),
    Pair(EXPRESSIONS, "an empty FilterExpression counts as given", "the parameter is given", r"ValidationException: Invalid FilterExpression: The expression can not be empty",
         r"ValidationException: ExpressionAttributeValues can only", ("Scan", "Query")),
    Pair(LEGACY, "an empty AttributeUpdates counts as given", "the parameter is given", MIXED, MIXED, ("UpdateItem",)),
    Pair(VALUES, "a JSON null in a set has an error of its own", RECORDED, r"ValidationException: .*set may not have a null string as a member", r"ValidationException: .*(A value provided cannot|null)"),
    Pair(VALUES, "a JSON null in ExpressionAttributeValues is an empty AttributeValue", RECORDED, r"ValidationException: ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty",
         r"ValidationException: ExpressionAttributeValues contains invalid value: The supplied Item contains a null"),
    Pair(EXPRESSIONS, "a value placeholder is no path element", "AWS's grammar, Developer Guide, \"Referring to item attributes\"", r"ValidationException: Invalid \w+Expression: Syntax error; token: \":",
         r"ValidationException: Invalid \w+Expression: Syntax error"),
    Pair(ORDERS, "legacy key conditions, before filters", UNKNOWN, r"ValidationException: Attempted conditional constraint",
         r"ValidationException: (ConditionalOperator|One or more parameter values were invalid: Comparison|The provided starting key|The BETWEEN condition)", ("Query",)),
    Pair(ORDERS, "Select, before the starting key", UNKNOWN, r"ValidationException: ALL_PROJECTED_ATTRIBUTES can be used only",
         r"ValidationException: The provided starting key"),
    Pair(ORDERS, "a missing key, before an empty one", UNKNOWN, r"ValidationException: One or more parameter values were invalid: Missing the key",
         r"ValidationException: One or more parameter values are not valid"),
    Pair(ORDERS, "of several bad values, the first of the request", UNKNOWN, r"ValidationException: (ExpressionAttributeValues contains invalid value: )?" + NUMBER,
         r"ValidationException: (ExpressionAttributeValues contains invalid value: )?(Input collection|Supplied Attr|One or more parameter values were invalid: )"),
    Pair(ORDERS, "AttributesToGet, before Segment", UNKNOWN, r"ValidationException: One or more parameter values were invalid: Duplicate value", MODEL),
    Pair(TABLES, "tags are checked with the other rules of CreateTable", RECORDED, r"ValidationException: .*[tT]ag", r"ResourceInUseException: ", ("CreateTable",)),
    Pair(ORDERS, "names and values, before Segment", UNKNOWN, r"ValidationException: ExpressionAttribute(Names|Values) can only", MODEL, ("Scan",)),
    Pair(KEYS, "an update of an index key to another type has PutItem's error, with the types", RECORDED,
         r"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", r"ValidationException: Updates on index keys must be of the same data type"),
    Pair(KEYS, "an update of an index key to an empty value has one error for AttributeUpdates and UpdateExpression", "AWS's answer for AttributeUpdates is not known",
         r"ValidationException: One or more parameter values are not valid. The update expression attempted", r"ValidationException: One or more parameter values are not valid. A value specified"),
    Pair(ORDERS, "names, before values", UNKNOWN, r"ValidationException: ExpressionAttributeNames ", r"ValidationException: ExpressionAttributeValues "),
    Pair(LEGACY, "null members of legacy conditions count as absent", "as everywhere in JSON", r"ValidationException: Conditions must be at least", r"ValidationException: The filter condition for an attribute cannot be null"),
    Pair(ORDERS, "in one update: operands in their order", UNKNOWN,
         r"ValidationException: An operand in the update expression has an incorrect data type",
         r"ValidationException: (The document path provided|The provided expression refers to an attribute)"),
    Pair(KEYS, "a query goes on after a starting key that lies at the end of its range", "a page that ends there gives that key", r"200",
         r"ValidationException: The provided starting key does not match the range key", ("Query",)),
    Pair(VALUES, "numbers of a set are compared as numbers, not as texts, when a set is added to", API, r"200", r"ValidationException: Input collection contains duplicates", ("UpdateItem",)),
    Pair(ORDERS, "of several bad index keys, the first of the table's definition", UNKNOWN,
         r"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", r"ValidationException: One or more parameter values are not valid"),
    Pair(LEGACY, "null members of legacy conditions count as absent", "as everywhere in JSON", r"200", r"ValidationException: The filter condition for an attribute cannot be null"),
    Pair(ORDERS, "key conditions: an empty value or a missing key, before a wrong operator", UNKNOWN,
         r"ValidationException: (One or more parameter values are not valid|Query condition missed)", r"ValidationException: Query key condition not supported"),
    Pair(TABLES, "tags are checked with the other rules of CreateTable", RECORDED, r"ValidationException: .*[tT]ag", r"ValidationException: ", ("CreateTable",)),
    Pair(EXPRESSIONS, "a value placeholder is no path element", "AWS's grammar, Developer Guide, \"Referring to item attributes\"", r"ValidationException: Invalid \w+Expression: Syntax error; token: \":",
         r"ValidationException: Invalid \w+Expression: An expression attribute name used"),
    Pair(VALUES, "the error for a bad value inside ExpressionAttributeValues does not name the placeholder", CAPTURED,
         r"ValidationException: (Input collection|Empty attribute name|One or more parameter values were invalid: (Null attr|Input coll|An? \w+ set|Binary sets))",
         r"ValidationException: ExpressionAttributeValues contains invalid value: "),
    Pair(KEYS, "a starting key that the query cannot have returned has AWS's errors", CAPTURED,
         r"ValidationException: (The provided exclusive start key is invalid|The query can return at most one row|The provided starting key|One or more parameter values)",
         r"ValidationException: (The provided starting key|The supplied Item contains a null|Exclusive Start Key must have|Type mismatch for attribute|The query can return|Supplied Attr)", ("Query", "Scan")),
    Pair(EXPRESSIONS, "PutItem and DeleteItem have their own error for ReturnValues", CAPTURED, r"ValidationException: ReturnValues can only be ALL_OLD or NONE", r"ValidationException: Return values set to invalid value"),
    Pair(TABLES, "CreateTable: a stream that is disabled has no view type", CAPTURED, r"ValidationException: One or more parameter values were invalid: Table is being created with a stream",
         r"ValidationException: Invalid StreamViewType", ("CreateTable",)),
    Pair(ORDERS, "batches: an empty key, before other bad keys", UNKNOWN,
         r"ValidationException: One or more parameter values are not valid", r"ValidationException: (Provided list of item keys|The number of conditions|Invalid attribute value type)",
         ("BatchWriteItem", "BatchGetItem")),
    Pair(ORDERS, "key conditions: a wrong operator, before a path into a key", CAPTURED, r"ValidationException: Invalid operator used in KeyConditionExpression",
         r"ValidationException: Key attributes must be scalars"),
    Pair(LEGACY, "an unknown ComparisonOperator has AWS's error", CAPTURED, r"ValidationException: One or more parameter values were invalid: Invalid comparison", r"ValidationException: Comparison type does not exist"),
    Pair(ORDERS, "Select, before the starting key's types", UNKNOWN, r"ValidationException: ALL_PROJECTED_ATTRIBUTES can be used only",
         r"ValidationException: Type mismatch for attribute"),
    Pair(ORDERS, "in one update: values in their order", UNKNOWN,
         r"ValidationException: An operand in the update expression has an incorrect data type", r"ValidationException: DynamoDB only supports precision"),
    Pair(ORDERS, "ReturnValues, before values", UNKNOWN, r"ValidationException: ReturnValues can only", r"ValidationException: "),
    Pair(ORDERS, "a starting key's values, before those of expressions", UNKNOWN, r"ValidationException: The provided starting key is invalid: Supplied",
         r"ValidationException: ExpressionAttributeValues contains invalid value"),
    Pair(ORDERS, "a key condition, before paths of other expressions", CAPTURED, r"ValidationException: Invalid condition in KeyConditionExpression", r"ValidationException: Key attributes must be"),
    Pair(BATCHES, "a transaction knows an item whichever way its number is written", API, r"ValidationException: Transaction request cannot include multiple operations on one item", r"200"),
    Pair(BATCHES, "a table of a batch that is JSON null counts as absent", "as everywhere in JSON", r"200", r"ValidationException: (The batch write request list|The list of keys)"),
    Pair(EXPRESSIONS, "the second operand of if_not_exists is evaluated only where the first is absent", GUIDE + ", \"Update expressions\"", r"200",
         r"ValidationException: The provided expression refers to an attribute that does not exist", ("UpdateItem", "TransactWriteItems")),
    Pair(ANSWERS, "DynamoDB Local fails with InternalFailure", "InternalFailure is no answer to a request", r"", r"InternalFailure: |ValidationException: Invalid \w+Expression: Internal server error"),
    Pair(BATCHES, "a Put, Delete or Get of a transaction takes names and values without an expression", CAPTURED, r"200",
         r"ValidationException: ExpressionAttribute(Names|Values) can only", ("TransactWriteItems", "TransactGetItems")),
    Pair(ANSWERS, "an update that only removes creates no item", CAPTURED, r"200", r"ValidationException: The document path", ("UpdateItem", "TransactWriteItems")),
    Pair(ORDERS, "Select and a projection, before keys, paths and indexes", CAPTURED, r"ValidationException: (Cannot specify the Proj|Must specify the Attr|ALL_PROJECTED_ATTRIBUTES can)", r"ValidationException: ", ("Query",)),
    Pair(ORDERS, "ConditionalOperator, before legacy conditions", CAPTURED, r"ValidationException: ConditionalOperator can",
         r"ValidationException: "),
    Pair(ORDERS, "an empty ConditionExpression, before the UpdateExpression", CAPTURED, r"ValidationException: Invalid ConditionExpression: The expression can not",
         r"ValidationException: Invalid UpdateExpression", ("UpdateItem",)),
    Pair(EXPRESSIONS, "a wrong operand of ADD or DELETE: AWS's words for types", CAPTURED, r"ValidationException: Invalid UpdateExpression: .* operator: (ADD|DELETE), ",
         r"ValidationException: Invalid UpdateExpression: .* operator: (ADD|DELETE), ", ("UpdateItem",)),
    Pair(VALUES, "PutItem: the error for two equal numbers in a set begins as that for other sets", CAPTURED,
         r"ValidationException: One or more parameter values were invalid: Input collection contains duplicates\.", r"ValidationException: Input collection contains duplicates$"),
    Pair(TABLES, "throughput above the account's limit is LimitExceededException", CAPTURED, r"LimitExceededException: The requested (Read|Write)CapacityUnits", r"ValidationException: Cannot increase",
         ("CreateTable",)),
    Pair(TABLES, "CreateTable checks TableClass and SSESpecification before it looks whether the table exists", CAPTURED,
         r"ValidationException: (Invalid table-class|One or more parameter values were invalid: (SSE|KMS))", r"ResourceInUseException: |200", ("CreateTable",)),
    Pair(KEYS, "a Query of a table without sort key takes no starting key", CAPTURED, r"ValidationException: The provided exclusive start key is invalid", r"200", ("Query",)),
    Pair(ORDERS, "a starting key's values, before names and values that are unused", UNKNOWN, r"ValidationException: The provided starting key is invalid: Supplied",
         r"ValidationException: Value provided in ExpressionAttribute"),
    Pair(ORDERS, "attributes that an index lacks, before paths into keys", UNKNOWN, r"ValidationException: One or more parameter values were invalid: Global secondary index \w+ does not project",
         r"ValidationException: Key attributes must be scalars"),
    Pair(LEGACY, "an unknown Action of AttributeUpdates has AWS's error", CAPTURED, r"ValidationException: Member must satisfy enum value set: \[ADD, DELETE, PUT\]' for Action",
         r"ValidationException: Member must satisfy enum value set"),
    Pair(ORDERS, "legacy conditions: bounds of two types, before types that BETWEEN does not take", UNKNOWN,
         r"ValidationException: One or more parameter values were invalid: AttributeValues inside", r"ValidationException: One or more parameter values were invalid: ComparisonOperator"),
    Pair(ORDERS, "in one update: a missing attribute, before the digits of a result", UNKNOWN, r"ValidationException: The provided expression refers to an attribute",
         r"ValidationException: DynamoDB only supports precision"),
    Pair(KEYS, "the error for an empty name inside a starting key says where it is", UNKNOWN, r"ValidationException: The provided starting key is invalid: Empty", r"ValidationException: Empty attribute name"),
    Pair(ORDERS, "legacy key conditions, before the index", UNKNOWN, r"ValidationException: Conditions must be", r"ValidationException: The table does not have", ("Query",)),
    Pair(TABLES, "CreateTable checks TableClass and SSESpecification before its stream", UNKNOWN, r"ValidationException: (Invalid table-class|One or more parameter values were invalid: (SSE|KMS))", r"ValidationException: .*[Ss]tream", ("CreateTable",)),
    Pair(BATCHES, "empty batches have AWS's errors", RECORDED, r"ValidationException: (The requestItems parameter is required for BatchWriteItem|1 validation error detected: Value at 'RequestItems')",
         r"ValidationException: Batch(Get|Write)Item (must|cannot) have"),
    Pair(LEGACY, "a name twice in AttributesToGet has AWS's error", RECORDED, r"ValidationException: One or more parameter values were invalid: Duplicate value in attribute name",
         r"ValidationException: Cannot have two attributes with the same name"),
    Pair(LEGACY, "a legacy condition that cannot be a key condition has AWS's error", RECORDED, r"ValidationException: Attempted conditional constraint is not an indexable operation",
         r"ValidationException: Query key condition not supported|InternalFailure"),
    Pair(TABLES, "CreateTable has AWS's texts for key schemas and attribute definitions", RECORDED,
         r"ValidationException: (One or more parameter values were invalid: (Some (index key attributes|AttributeDefinitions)|Number of attributes in KeySchema|Table KeySchema does not|Index KeySchema does not|Cannot define multiple|Duplicate index|"
         r"Unknown|Table KeySchema|Index KeySchema|List of|Neither|ReadCapacityUnits and|ProvisionedThroughput must|StreamView|ProjectionType|Too many|Invalid|ProvisionedThroughput should not|Unknown ProjectionType|Both the Hash)|"
         r"Invalid KeySchema|The parameter 'TableName'|Attribute Name is duplicated|The KeySchema contains|One or more parameter values were invalid: All HASH)",
         r"ValidationException: (Hash Key not|Range Key not|No Attribute Schema|Cannot have two attributes|The number of attributes in key schema|Two keys can not|No Hash Key|No defined key|"
         r"Local [Ss]econdary [Ii]nd|GSI list|Invalid StreamViewType|No provisioned|Invalid table/index name|No attributes should be|If Projection type|Indexes must have|Invalid key order|Too many|"
         r"Global Secondary|.*index names|Cannot have|Names of|Keys? |Two (global|local)|Attribute \w+ is not|.*Range Key|.*Projection)", ("CreateTable",)),
    Pair(TABLES, "CreateTable checks every rule before it looks whether the table exists; it refuses throughput with on-demand billing, an empty list of indexes, and unused definitions",
         RECORDED, r"ValidationException: One or more parameter values were invalid: (Neither Read|ProvisionedThroughput should not|List of \w+ is empty|Some AttributeDefinitions are not used)",
         r"ResourceInUseException: ", ("CreateTable",)),
]


# The order of checks, as far as it is ours to choose: what needs the request alone, then the table's schema, then keys, then the item.
STAGES = [
    r"SerializationException: ",
    MODEL,
    r"ValidationException: (Return values set|Limit must)",
    MIXED,
    r"ValidationException: ExpressionAttribute(Names|Values) (can only|must not|contains invalid (key|value: Empty attribute name for key #))",
    r"ValidationException: (ExpressionAttributeValues contains invalid value|Supplied Attr|The supplied Item|" + NUMBER + r"|A value provided|DynamoDB only supports|Empty attribute name|"
    r"One or more parameter values were invalid: (An? \w+ set|Input collection|Binary sets|Null attr)|Input collection|Nesting)",
    r"ValidationException: (ConditionalOperator |One or more parameter values were invalid: (Only DELETE|ComparisonOperator|Value |Invalid number|ADD action|DELETE action|Duplicate|AttributeValues inside)|"
    r"The BETWEEN condition|Unsupported operator)",
    r"ValidationException: (Invalid \w+Expression: |Value provided in)",
    r"ValidationException: (Invalid operator used|KeyConditionExpressions cannot contain|The (Segment|TotalSegments) parameter|If segment|Either the Key|Attempted conditional|Query key condition)",
    r"ResourceNotFoundException: |ValidationException: (The table does not have|Consistent reads)",
    r"ValidationException: (Key attributes must be|KeyConditionExpressions|Filter Expression can only|QueryFilter can only|Query condition|Invalid operator used)",
    r"ValidationException: (One or more parameter values were invalid: (Global secondary|Secondary|Select type|Cannot update attribute|Condition parameter)|Must specify|Cannot specify)",
    r"(TransactionCanceled|Validation)Exception: ",
    r"ConditionalCheckFailedException: ",
]
ORDER = "errors that need the request alone come first, then the table's schema, the keys, and the item"
SEVERAL = r"(TransactionCanceledException: (?!One or more parameter values are not valid)|ValidationException: )"
ACTIONS = "of several bad actions in a batch or transaction the error names one; the rules of all come before the values of any"


def stage(text):
    return next((i for i, pattern in enumerate(STAGES) if re.match(pattern, text)), len(STAGES))


def label(answer):
    return f"{answer[1]}: {answer[2]}" if answer[0] != 200 else "200"


def explain(operation, body, ours, theirs):
    """The titles of the rows that explain the difference, or None."""
    ours, theirs = copy.deepcopy(ours), copy.deepcopy(theirs)
    used = []
    for rule in RULES:
        if not isinstance(ours[-1], dict) or not isinstance(theirs[-1], dict):
            break
        before = copy.deepcopy((ours, theirs))
        rule.adjust(operation, body, ours, theirs)
        if before != (ours, theirs):
            used.append(rule.title)
        if ours == theirs:
            return used
    for pair in PAIRS:
        if (not pair.operations or operation in pair.operations) and re.match(pair.ours, label(ours)) and re.match(pair.theirs, label(theirs)):
            return [pair.title]
    if operation.startswith(("Batch", "Transact")) and re.match(SEVERAL, label(ours)) and re.match(SEVERAL, label(theirs)):
        return [ACTIONS]
    if operation != "CreateTable" and ours[0] != 200 and stage(label(ours)) < stage(label(theirs)) and theirs[0] != 200:
        return [ORDER]
    return None


# What libmicrohttpd answers or ends before the server sees it, so that there is no answer in DynamoDB's form.
HTTP = [
    "A head of more than about 30 KB, or with more than about 200 lines: 414 or 431 with a page of HTML. Smaller heads beyond 16 KB get a SerializationException",
    "A request line or a header line that is none, a Content-Length that is no number, a chunk that is none: 400, 413 or 505 with a page of HTML; its head may come twice. Tabs between the parts of a request line: the connection is closed",
    "A query of more than 64 parameters, or one in a target of more than 14 KB: the connection is closed",
    "A client that ends its side of the connection while its request takes long gets no answer",
]


def document():
    """docs/differences.md."""
    lines = ["# Where DynamoDB Local answers otherwise", "",
             "The differential run (`make differential`) sends random requests to this server and to DynamoDB Local 3.3.1. Each line is a place where the two answer",
             "otherwise: we follow AWS, or AWS's answer is not known. Behind each line stands its source:", ""]
    lines += [f"- **{mark}**: {source}" for source, mark in MARKS.items()]
    rows = [*RULES, *PAIRS, Pair(ORDERS, ORDER, UNKNOWN, "", ""), Pair(BATCHES, ACTIONS, UNKNOWN, "", "")]
    for subject in SUBJECTS:
        mine = [row for row in rows if row.subject == subject]
        known = [row for row in mine if row.source != UNKNOWN]
        lines += ["", f"## {subject}", ""]
        lines += dict.fromkeys(f"- {row.title[0].upper()}{row.title[1:]} ({MARKS.get(row.source, row.source)})" for row in known)
        if len(known) < len(mine):
            lines.append(f"- {MARKS[UNKNOWN].capitalize()}: " + "; ".join(dict.fromkeys(row.title for row in mine if row.source == UNKNOWN)))
    lines += ["", "## HTTP", "", "libmicrohttpd answers or ends these requests before the server sees them, so they have no answer in DynamoDB's form:", ""]
    lines += [f"- {text}" for text in HTTP]
    return "\n".join(lines) + "\n"
