#include "protocol/iam/across.h"

#include "protocol/streams.h"
#include "protocol/tables/arn.h"
#include "protocol/tables/policy_scope.h"

/* Where a request names its tables. */
enum place { NOWHERE, IN_MEMBER, IN_REQUEST_ITEMS, IN_TRANSACT_ITEMS };

/* AWS: Developer Guide, "DynamoDB API operations supported by resource-based policies". */
static const struct {
	enum place place;
	const char *member; /* of IN_MEMBER */
} places[OP_COUNT] = {
	[OP_BatchGetItem] = {IN_REQUEST_ITEMS, NULL},
	[OP_BatchWriteItem] = {IN_REQUEST_ITEMS, NULL},
	[OP_DeleteItem] = {IN_MEMBER, "TableName"},
	[OP_DeleteTable] = {IN_MEMBER, "TableName"},
	[OP_DescribeStream] = {IN_MEMBER, "StreamArn"},
	[OP_DescribeTable] = {IN_MEMBER, "TableName"},
	[OP_GetItem] = {IN_MEMBER, "TableName"},
	[OP_GetRecords] = {IN_MEMBER, "ShardIterator"},
	[OP_GetShardIterator] = {IN_MEMBER, "StreamArn"},
	[OP_ListTagsOfResource] = {IN_MEMBER, "ResourceArn"},
	[OP_PutItem] = {IN_MEMBER, "TableName"},
	[OP_Query] = {IN_MEMBER, "TableName"},
	[OP_Scan] = {IN_MEMBER, "TableName"},
	[OP_TagResource] = {IN_MEMBER, "ResourceArn"},
	[OP_TransactGetItems] = {IN_TRANSACT_ITEMS, NULL},
	[OP_TransactWriteItems] = {IN_TRANSACT_ITEMS, NULL},
	[OP_UntagResource] = {IN_MEMBER, "ResourceArn"},
	[OP_UpdateItem] = {IN_MEMBER, "TableName"},
	[OP_UpdateTable] = {IN_MEMBER, "TableName"},
};

struct journey {
	const struct call *call;
	struct str account; /* of the tables so far; absent: there was none */
	bool is_several;
};

static void visit_account(struct journey *journey, struct str named)
{
	const struct ns *own = &journey->call->ns;
	struct arn arn = arn_split(named);
	bool is_other = str_starts_with(named, STR("arn:")) && str_eq(arn.region, own->region) &&
			policy_scope_is_account(arn.account);
	struct str account = is_other ? arn.account : own->account;

	if (str_is_set(journey->account) && !str_eq(journey->account, account))
		journey->is_several = true;
	journey->account = account;
}

static void visit_text(struct journey *journey, const struct json *object, const char *member)
{
	struct arena *arena = journey->call->arena;
	const struct json *value = json_member(object, member);
	struct streams_iterator iterator;

	if (!value || json_type(value) != JSON_STRING)
		return;
	struct str text = json_string(arena, value);
	if (strcmp(member, "ShardIterator") == 0)
		text = streams_read_iterator(arena, text, &iterator) ? iterator.arn : STR("");
	visit_account(journey, text);
}

static void visit_batch(struct journey *journey, const struct json *request)
{
	const struct json *tables = json_member(request, "RequestItems");
	bool is_map = tables && json_type(tables) == JSON_OBJECT;

	for (const struct json *one = is_map ? json_first(tables) : NULL; one; one = json_next(one))
		visit_account(journey, json_name(journey->call->arena, one));
}

/* {"Put": {"TableName": ...}} */
static void visit_transaction(struct journey *journey, const struct json *request)
{
	const struct json *items = json_member(request, "TransactItems");
	bool is_list = items && json_type(items) == JSON_ARRAY;

	for (const struct json *item = is_list ? json_first(items) : NULL; item;
	     item = json_next(item)) {
		bool is_item = json_type(item) == JSON_OBJECT;

		for (const struct json *action = is_item ? json_first(item) : NULL; action;
		     action = json_next(action)) {
			if (json_type(action) == JSON_OBJECT)
				visit_text(journey, action, "TableName");
		}
	}
}

struct str iam_across(const struct call *call, enum op_id operation, const struct json *request)
{
	struct journey journey = {.call = call, .account = STR_ABSENT};

	switch (places[operation].place) {
	case NOWHERE:
		break;
	case IN_MEMBER:
		visit_text(&journey, request, places[operation].member);
		break;
	case IN_REQUEST_ITEMS:
		visit_batch(&journey, request);
		break;
	case IN_TRANSACT_ITEMS:
		visit_transaction(&journey, request);
		break;
	}
	bool is_other = str_is_set(journey.account) && !journey.is_several &&
			!str_eq(journey.account, call->ns.account);
	return is_other ? journey.account : STR_ABSENT;
}
