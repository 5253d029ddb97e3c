"""Where DynamoDB Local 3.3.1 answers otherwise than AWS and we follow AWS: data for the differential run and docs/differences.md.

Two kinds of rows. A Rule changes both answers where its condition holds, so that the rest of them is still compared. A Pair names two
errors, ours and theirs, as patterns of "TYPE: message". Each row tells what AWS does and how that is known.
"""
import collections
import copy
import decimal
import re

Rule = collections.namedtuple("Rule", "title source adjust")
Pair = collections.namedtuple("Pair", "title source ours theirs operations", defaults=(None,))

RECORDED = "recorded answers of AWS: the public conformance suite, or reimplementations that were tested against AWS"
CAPTURED = "captures of AWS of October 2026, noted in the source of dynoxide 3.2.0"
GUIDE = "Developer Guide"
API = "API Reference"


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


RULES = [
    Rule("DeleteItem gives ConsumedCapacity only when asked", API, capacity_not_asked),
    Rule("ItemCollectionMetrics are given for tables with local secondary indexes when ReturnItemCollectionMetrics is SIZE", API,
         item_collection_metrics),
    Rule("DescribeTable gives WarmThroughput of table and indexes, and the throughput of indexes billed on demand as zeros", RECORDED,
         described_throughput),
    Rule("transactions give ReadCapacityUnits and WriteCapacityUnits beside CapacityUnits", RECORDED, split_units),
    Rule("a transactional write costs two units for each kilobyte of each item", GUIDE + ", \"Managing complex workflows with transactions\"",
         transaction_writes),
    Rule("a read that finds nothing costs the smallest read, each key of a batch by itself", GUIDE + ", \"DynamoDB read and write operations\"",
         reads_of_nothing),
    Rule("a query on a local index pays for the items it fetches from the table", GUIDE + ", \"Local secondary indexes\"", fetches),
    Rule("deleting what is not there costs one unit, in a batch too", GUIDE + ", \"DynamoDB read and write operations\"", deletes_of_nothing),
    Rule("an index is written, and paid, when the item's entry in it changes; not when the item has only a part of the index's key", GUIDE +
         ", \"Global secondary indexes\", write capacity", index_writes),
    Rule("a page that ends because Limit is reached has a LastEvaluatedKey, whether more follows or not", GUIDE + ", \"Paginating table query results\"",
         limit_reached),
    Rule("numbers are written out in full, wherever they are", RECORDED, number_texts),
    Rule("UPDATED_NEW and UPDATED_OLD give every attribute named by the update, also one that keeps its value", API, unchanged_attributes),
    Rule("CancellationReasons has one entry for each action, in their order; a failed condition has the message without a full stop", RECORDED, reasons),
]

# Pairs

KEY_ELEMENT = r"ValidationException: The provided key element does not match the schema$"
THEIR_KEY = (r"(TransactionCanceled|Validation)Exception: (Invalid attribute value type|The number of conditions on the keys is invalid|"
             r"One of the required keys was not given a value|One or more parameter values were invalid: Type mismatch for (key|Index Key)|"
             r"Cannot have null key|Type mismatch for attribute to update)")
NUMBER = r"(The parameter cannot be converted to a numeric value|Number overflow|Number underflow|Attempting to store more than 38)"
EXPRESSION = (r"ValidationException: (Invalid (Update|Condition|Filter|Projection|KeyCondition)Expression: |Value provided in ExpressionAttribute|"
              r"ExpressionAttribute(Names|Values) )")
MODEL = r"ValidationException: \d+ validation errors? detected: "
MIXED = r"ValidationException: Can not use both expression and non-expression parameters"
PARAMETERS = (r"ValidationException: (Can not use both|ExpressionAttribute(Names|Values) (can only|must not|contains)|Invalid \w+Expression|Value provided|"
              r"One or more parameter values were invalid: (Only DELETE|ComparisonOperator|Value |Invalid number|Unsupported)|ConditionalOperator |Supplied Attr)")

PAIRS = [
    Pair("constraints of the API's model come first and are listed together", RECORDED, MODEL, r"(?!SerializationException)"),
    Pair("JSON of a wrong type is a SerializationException", RECORDED, r"SerializationException: ", r"InternalFailure: |200|ValidationException: |ResourceInUseException: "),
    Pair("an existing table is named", RECORDED, r"ResourceInUseException: Table already exists: ", r"ResourceInUseException: Cannot create preexisting table"),
    Pair("a missing table is \"Requested resource not found\"", RECORDED, r"ResourceNotFoundException: Requested resource not found",
         r"ResourceNotFoundException: Cannot do operations on a non-existent table"),
    Pair("a key of wrong type, or with too few or too many attributes, is \"The provided key element does not match the schema\"", RECORDED,
         KEY_ELEMENT, THEIR_KEY),
    Pair("an item without a key, or with one of wrong type, is told which", RECORDED,
         r"ValidationException: One or more parameter values were invalid: (Missing the key|Type mismatch for (key|Index Key))", THEIR_KEY),
    Pair("what is wrong with one action's key or update cancels the transaction, with the reason in that action's place", RECORDED,
         r"TransactionCanceledException: ", r"(TransactionCanceled|Validation)Exception: (?!One or more parameter values are not valid)"),
    Pair("a word that is no number is shown", RECORDED, r"ValidationException: (.*: )?" + NUMBER,
         r"ValidationException: .*(A value provided cannot be converted into a number|DynamoDB only supports precision up to 38 digits|" + NUMBER + ")"),
    Pair("expressions are parsed before the key is compared with the table's schema", API, EXPRESSION, THEIR_KEY),
    Pair("what is wrong with the parameters is told before the table, its keys and the condition are looked at", RECORDED, PARAMETERS,
         THEIR_KEY + r"|ConditionalCheckFailedException: |ResourceNotFoundException: |200|ValidationException: Provided list of item keys contains duplicates"),
    Pair("paths into key attributes are refused before the condition is evaluated", "the check needs no item", r"ValidationException: Key attributes must be scalars",
         r"ConditionalCheckFailedException: "),
    Pair("legacy parameters, empty ones too, do not stand beside expressions; this is told before what they hold is checked", RECORDED, MIXED,
         r"ValidationException: (One or more parameter values were invalid|Invalid \w+Expression|ConditionalOperator)|ConditionalCheckFailed|200"),
    Pair("names or values that no expression can use are refused, an empty map too", RECORDED,
         r"ValidationException: ExpressionAttribute(Names|Values) can only be specified when using expressions", r"200"),
    Pair("each table of a BatchGetItem has parameters of its own", API, r"200|ValidationException: |ResourceNotFoundException: ", MIXED, ("BatchGetItem",)),
    Pair("\"size\" is a reserved word where it is no function", GUIDE + ", \"Reserved words\"", r"ValidationException: Invalid \w+Expression: Attribute name is a reserved keyword",
         r"200|ValidationException|ConditionalCheckFailed"),
    Pair("overlapping and conflicting paths: the first two of the text that clash are named", "DynamoDB Local names a path that clashes with nothing",
         r"ValidationException: Invalid \w+Expression: Two document paths ", r"ValidationException: Invalid \w+Expression: Two document paths "),
    Pair("attributes that an index lacks are listed in the order of the request", "DynamoDB Local's order is that of a hash table",
         r"ValidationException: One or more parameter values were invalid: (Global secondary index|Secondary index) \w+ does not project",
         r"ValidationException: One or more parameter values were invalid: (Global secondary index|Secondary index) \w+ does not project"),
    Pair("attributes that an index lacks are told before the starting key is looked at", "both hold; AWS's order is not known",
         r"ValidationException: (One or more parameter values were invalid: (Global secondary|Secondary)|Must specify the AttributesToGet)",
         r"ValidationException: The provided starting key"),
    Pair("valid types are listed in the order of AWS's message", RECORDED, r"ValidationException: Invalid \w+Expression: Invalid attribute type name found",
         r"ValidationException: Invalid \w+Expression: Invalid attribute type name found"),
    Pair("operands of BETWEEN are shown with canonical numbers", "both hold; AWS's form is not known", r"ValidationException: Invalid \w+Expression: The BETWEEN operator",
         r"ValidationException: Invalid \w+Expression: The BETWEEN operator"),
    Pair("the missed key attribute is named", RECORDED, r"ValidationException: Query condition missed key schema element: ",
         r"ValidationException: Query condition missed key schema element$"),
    Pair("a value of the starting key that is none is told before what expressions say", "both hold; AWS's order is not known",
         r"ValidationException: The provided starting key is invalid: Supplied AttributeValue", r"ValidationException: Invalid (operator used in KeyCondition|\w+)Expression"),
    Pair("a starting key of another partition is outside the query's boundaries", RECORDED,
         r"ValidationException: The provided starting key is outside query boundaries", r"ValidationException: The provided starting key does not match the range key"),
    Pair("a starting key that does not fit the schema says so", RECORDED, r"ValidationException: The provided starting key is invalid",
         r"ValidationException: (The provided starting key is invalid|Type mismatch for attribute to update|Invalid attribute value type|The number of conditions)"),
    Pair("Segment is compared with TotalSegments in words", RECORDED, r"ValidationException: The Segment parameter is zero-based", MODEL),
    Pair("two mistakes of one update: the invalid path is told before the missing operand", "both hold; AWS's order is not known",
         r"ValidationException: The document path provided in the update expression is invalid for update",
         r"ValidationException: (The provided expression refers to an attribute that does not exist in the item|An operand in the update)"),
    Pair("binary sets with a duplicate are shown", RECORDED, r"ValidationException: .*Input collection \[.*\]of type BS contains duplicates",
         r"ValidationException: .*Input collection of type BS contains duplicates"),
    Pair("a set with a duplicate: the sentence ends with a full stop", RECORDED, r"ValidationException: .*Input collection \[.*\] contains duplicates",
         r"ValidationException: .*Input collection \[.*\] contains duplicates"),
    Pair("a part of a Scan: which keys a segment holds", "the hash of partition keys is each server's own", r"200|ValidationException: The provided starting key is invalid",
         r"200|ValidationException: Exclusive start key must lie within the segment", ("Scan",)),
    Pair("of several nested key paths the first of the text is named", "DynamoDB Local's order is that of a hash table", r"ValidationException: Key attributes must be scalars",
         r"ValidationException: Key attributes must be scalars"),
    Pair("a Segment without TotalSegments and the reverse", RECORDED, r"ValidationException: The (Total)?Segments? parameter is required", r"ValidationException: If segment"),
    Pair("a condition check may not name a path into a key of an index either", "as for every other expression", r"ValidationException: Key attributes must be scalars", r"200",
         ("TransactWriteItems",)),
    Pair("the type of an index's key is checked whatever the value was made from", RECORDED,
         r"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", r"200", ("UpdateItem",)),
    Pair("a starting key of the wrong size does not fit the schema", RECORDED, r"ValidationException: The provided starting key is invalid",
         r"ValidationException: (Exclusive Start Key must have same size|The query can return at most one row)"),
    Pair("an empty KeyConditionExpression is one too", "the parameter is given", MIXED, MIXED, ("Query",)),
    Pair("the size of an expression that is too long is told", RECORDED, r"ValidationException: Invalid \w+Expression: Expression size has exceeded", r"ValidationException: .*Expression size has exceeded"),
    Pair("a null value is an empty one", RECORDED, r"ValidationException: Supplied AttributeValue is empty", r"ValidationException: The supplied Item contains a null"),
    Pair("types of an operand are listed by the names that the API has", "DynamoDB Local lists types that the API has not", r"ValidationException: Invalid \w+Expression: Incorrect operand type",
         r"ValidationException: Invalid \w+Expression: Incorrect operand type.*HD"),
    Pair("quotas of an account can be raised", GUIDE + ", \"Quotas\"", r"ResourceInUseException|ValidationException", r"ValidationException: Cannot increase provisioned throughput", ("CreateTable",)),
    Pair("an index without units on a provisioned table is named", RECORDED, r"ValidationException: .*ProvisionedThroughput is not specified for index",
         r"ValidationException: No provisioned throughput specified", ("CreateTable",)),
    Pair("an attribute that is defined twice is named", RECORDED, r"ValidationException: Attribute Name is duplicated", r"ValidationException: Cannot have two attributes"),
    Pair("an attribute that is projected twice is told", RECORDED, r"ValidationException: .*Duplicate element in NonKeyAttributes", r"ValidationException: (?:Cannot have two attributes|No provisioned throughput specified for the global)"),
    Pair("a condition on more attributes than the key has is told how many", RECORDED, r"ValidationException: The number of query conditions",
         r"ValidationException: (Conditions can be of length|Query key condition not supported)", ("Query",)),
    Pair("two conditions on one key attribute", RECORDED, r"ValidationException: Invalid KeyConditionExpression: KeyConditionExpressions must only contain",
         r"ValidationException: KeyConditionExpressions must only contain", ("Query",)),
    Pair("of names and values that no expression can use, names are told first", "both hold; AWS's order is not known",
         r"ValidationException: ExpressionAttribute(Names|Values) can only", r"ValidationException: ExpressionAttribute(Values (can only|must not)|Names contains)"),
    Pair("an empty FilterExpression is one too", "the parameter is given", r"ValidationException: Invalid FilterExpression: The expression can not be empty",
         r"ValidationException: ExpressionAttributeValues can only", ("Scan", "Query")),
    Pair("an empty AttributeUpdates is one too", "the parameter is given", MIXED, MIXED, ("UpdateItem",)),
    Pair("null in a set", RECORDED, r"ValidationException: .*set may not have a null string as a member", r"ValidationException: .*(A value provided cannot|null)"),
    Pair("a null value of an expression", RECORDED, r"ValidationException: ExpressionAttributeValues contains invalid value: Supplied AttributeValue is empty",
         r"ValidationException: ExpressionAttributeValues contains invalid value: The supplied Item contains a null"),
    Pair("a value is no step of a path", "AWS's grammar, Developer Guide, \"Referring to item attributes\"", r"ValidationException: Invalid \w+Expression: Syntax error; token: \":",
         r"ValidationException: Invalid \w+Expression: Syntax error"),
    Pair("legacy key conditions are read before filters", "both hold; AWS's order is not known", r"ValidationException: Attempted conditional constraint",
         r"ValidationException: (ConditionalOperator|One or more parameter values were invalid: Comparison|The provided starting key|The BETWEEN condition)", ("Query",)),
    Pair("Select is judged before the starting key", "both hold; AWS's order is not known", r"ValidationException: ALL_PROJECTED_ATTRIBUTES can be used only",
         r"ValidationException: The provided starting key"),
    Pair("a missing key is told before an empty one", "both hold; AWS's order is not known", r"ValidationException: One or more parameter values were invalid: Missing the key",
         r"ValidationException: One or more parameter values are not valid"),
    Pair("of several wrong values the first of the text is told", "both hold; AWS's order is not known", r"ValidationException: (ExpressionAttributeValues contains invalid value: )?" + NUMBER,
         r"ValidationException: (ExpressionAttributeValues contains invalid value: )?(Input collection|Supplied Attr|One or more parameter values were invalid: )"),
    Pair("AttributesToGet is read before Segment", "both hold; AWS's order is not known", r"ValidationException: One or more parameter values were invalid: Duplicate value", MODEL),
    Pair("tags are checked with the other rules of CreateTable", RECORDED, r"ValidationException: .*[tT]ag", r"ResourceInUseException: ", ("CreateTable",)),
    Pair("names and values are checked before Segment", "both hold; AWS's order is not known", r"ValidationException: ExpressionAttribute(Names|Values) can only", MODEL, ("Scan",)),
    Pair("an update of an index's key to another type is told as for PutItem, with the types", RECORDED,
         r"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", r"ValidationException: Updates on index keys must be of the same data type"),
    Pair("an update of an index's key to an empty value is told alike for AttributeUpdates and UpdateExpression", "AWS's answer for AttributeUpdates is not known",
         r"ValidationException: One or more parameter values are not valid. The update expression attempted", r"ValidationException: One or more parameter values are not valid. A value specified"),
    Pair("names are checked before values", "both hold; AWS's order is not known", r"ValidationException: ExpressionAttributeNames ", r"ValidationException: ExpressionAttributeValues "),
    Pair("null members of legacy conditions are not given", "as everywhere in JSON", r"ValidationException: Conditions must be at least", r"ValidationException: The filter condition for an attribute cannot be null"),
    Pair("two mistakes of one update: which operand is told first", "both hold; AWS's order is not known",
         r"ValidationException: An operand in the update expression has an incorrect data type",
         r"ValidationException: (The document path provided|The provided expression refers to an attribute)"),
    Pair("a query goes on after a starting key that lies at the end of its range", "a page that ends there gives that key", r"200",
         r"ValidationException: The provided starting key does not match the range key", ("Query",)),
    Pair("numbers of a set are compared as numbers, not as texts, when a set is added to", API, r"200", r"ValidationException: Input collection contains duplicates", ("UpdateItem",)),
    Pair("of several wrong index keys the first of the table's definition is told", "both hold; AWS's order is not known",
         r"ValidationException: One or more parameter values were invalid: Type mismatch for Index Key", r"ValidationException: One or more parameter values are not valid"),
    Pair("null members of legacy conditions are not given", "as everywhere in JSON", r"200", r"ValidationException: The filter condition for an attribute cannot be null"),
    Pair("key conditions: an empty value or a missing key is told before a wrong operator", "both hold; AWS's order is not known",
         r"ValidationException: (One or more parameter values are not valid|Query condition missed)", r"ValidationException: Query key condition not supported"),
    Pair("tags are checked with the other rules of CreateTable", RECORDED, r"ValidationException: .*[tT]ag", r"ValidationException: ", ("CreateTable",)),
    Pair("a value is no step of a path", "AWS's grammar, Developer Guide, \"Referring to item attributes\"", r"ValidationException: Invalid \w+Expression: Syntax error; token: \":",
         r"ValidationException: Invalid \w+Expression: An expression attribute name used"),
    Pair("a number, null, duplicate or name that is wrong inside an expression's value is told without the value's name", CAPTURED,
         r"ValidationException: (Input collection|Empty attribute name|One or more parameter values were invalid: (Null attr|Input coll))",
         r"ValidationException: ExpressionAttributeValues contains invalid value: "),
    Pair("a starting key that a query cannot have come to is told in words of its own", CAPTURED,
         r"ValidationException: (The provided exclusive start key is invalid|The query can return at most one row|The provided starting key|One or more parameter values)",
         r"ValidationException: (The provided starting key|The supplied Item contains a null|Exclusive Start Key must have|Type mismatch for attribute|The query can return|Supplied Attr)", ("Query", "Scan")),
    Pair("ReturnValues of PutItem and DeleteItem", CAPTURED, r"ValidationException: ReturnValues can only be ALL_OLD or NONE", r"ValidationException: Return values set to invalid value"),
    Pair("CreateTable: a stream that is disabled has no view type", CAPTURED, r"ValidationException: One or more parameter values were invalid: Table is being created with a stream",
         r"ValidationException: Invalid StreamViewType", ("CreateTable",)),
    Pair("batches: an empty key is told before what is wrong with other keys", "both hold; AWS's order is not known",
         r"ValidationException: One or more parameter values are not valid", r"ValidationException: (Provided list of item keys|The number of conditions|Invalid attribute value type)",
         ("BatchWriteItem", "BatchGetItem")),
    Pair("key conditions: a wrong operator is told before a path into a key", CAPTURED, r"ValidationException: Invalid operator used in KeyConditionExpression",
         r"ValidationException: Key attributes must be scalars"),
    Pair("an unknown comparison", CAPTURED, r"ValidationException: One or more parameter values were invalid: Invalid comparison", r"ValidationException: Comparison type does not exist"),
    Pair("Select is judged before the starting key's types", "both hold; AWS's order is not known", r"ValidationException: ALL_PROJECTED_ATTRIBUTES can be used only",
         r"ValidationException: Type mismatch for attribute"),
    Pair("two mistakes of one update: which value is told first", "both hold; AWS's order is not known",
         r"ValidationException: An operand in the update expression has an incorrect data type", r"ValidationException: DynamoDB only supports precision"),
    Pair("ReturnValues is judged before values", "both hold; AWS's order is not known", r"ValidationException: ReturnValues can only", r"ValidationException: "),
    Pair("a starting key's values are judged before those of expressions", "both hold; AWS's order is not known", r"ValidationException: The provided starting key is invalid: Supplied",
         r"ValidationException: ExpressionAttributeValues contains invalid value"),
    Pair("a key condition is judged before paths of other expressions", CAPTURED, r"ValidationException: Invalid condition in KeyConditionExpression", r"ValidationException: Key attributes must be"),
    Pair("a transaction knows an item whichever way its number is written", API, r"ValidationException: Transaction request cannot include multiple operations on one item", r"200"),
    Pair("a table of a batch that is null is not there", "as everywhere in JSON", r"200", r"ValidationException: (The batch write request list|The list of keys)"),
    Pair("the second operand of if_not_exists is evaluated only where the first is absent", GUIDE + ", \"Update expressions\"", r"200",
         r"ValidationException: The provided expression refers to an attribute that does not exist", ("UpdateItem", "TransactWriteItems")),
    Pair("a failure of their own", "InternalFailure is no answer to a request", r"", r"InternalFailure: |ValidationException: Invalid \w+Expression: Internal server error"),
    Pair("empty batches", RECORDED, r"ValidationException: The requestItems parameter is required for Batch(Get|Write)Item",
         r"ValidationException: Batch(Get|Write)Item (must|cannot) have"),
    Pair("AttributesToGet with a name twice", RECORDED, r"ValidationException: One or more parameter values were invalid: Duplicate value in attribute name",
         r"ValidationException: Cannot have two attributes with the same name"),
    Pair("legacy key conditions that are no key condition", RECORDED, r"ValidationException: Attempted conditional constraint is not an indexable operation",
         r"ValidationException: Query key condition not supported|InternalFailure"),
    Pair("CreateTable: texts of key schema and attribute definitions", RECORDED,
         r"ValidationException: (One or more parameter values were invalid: (Some (index key attributes|AttributeDefinitions)|Number of attributes in KeySchema|Table KeySchema does not|Index KeySchema does not|Cannot define multiple|Duplicate index|"
         r"Unknown|Table KeySchema|Index KeySchema|List of|Neither|ReadCapacityUnits and|ProvisionedThroughput must|StreamView|ProjectionType|Too many|Invalid|ProvisionedThroughput should not|Unknown ProjectionType|Both the Hash)|"
         r"Invalid KeySchema|The parameter 'TableName'|Attribute Name is duplicated|The KeySchema contains|One or more parameter values were invalid: All HASH)",
         r"ValidationException: (Hash Key not|Range Key not|No Attribute Schema|Cannot have two attributes|The number of attributes in key schema|Two keys can not|No Hash Key|No defined key|"
         r"Local [Ss]econdary [Ii]nd|GSI list|Invalid StreamViewType|No provisioned|Invalid table/index name|No attributes should be|If Projection type|Indexes must have|Invalid key order|Too many|"
         r"Global Secondary|.*index names|Cannot have|Names of|Keys? |Two (global|local)|Attribute \w+ is not|.*Range Key|.*Projection)", ("CreateTable",)),
    Pair("CreateTable: every rule comes before the table's existence, and these are rules too: throughput of a table billed on demand, an empty list of indexes, definitions that no key uses",
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
ORDER = "of several mistakes, those are told first that need the request alone, then those that need the table's schema, the keys, and at last the item"
SEVERAL = r"(TransactionCanceledException: (?!One or more parameter values are not valid)|ValidationException: )"
ACTIONS = "of several wrong actions of a batch or transaction one is told; the rules of all come before the values of any"


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


def document():
    """docs/differences.md."""
    lines = ["# Where DynamoDB Local answers otherwise", "",
             "What the differential run (`make differential`) found against DynamoDB Local 3.3.1: places where it answers otherwise than AWS, and we follow AWS, or where",
             "AWS's answer is not known and either would do. Written by `make docs` from `tests/differential/differences.py`, which explains each difference of a run.", "",
             "| what we do | source |", "| --- | --- |"]
    lines += [f"| {row.title[0].upper()}{row.title[1:]} | {row.source} |" for row in [*RULES, *PAIRS]]
    lines += [f"| {title[0].upper()}{title[1:]} | where both mistakes hold, AWS's order is known in part only |" for title in (ORDER, ACTIONS)]
    return "\n".join(lines) + "\n"
