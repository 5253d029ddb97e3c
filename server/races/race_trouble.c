#include "server/races/race_trouble.h"

#include "protocol/ops.h"

const char *race_trouble_name(enum race_trouble_kind kind)
{
	static const char *const names[TROUBLE_KINDS] = {
		[TROUBLE_NONE] = "none",           [TROUBLE_LOST] = "lost",
		[TROUBLE_THROTTLED] = "throttled", [TROUBLE_CONFLICT] = "conflict",
		[TROUBLE_LAGGED] = "lagged",       [TROUBLE_KEPT] = "kept",
	};

	return names[kind];
}

static bool is_consistent(struct str body)
{
	return str_contains(body, STR("\"ConsistentRead\":true")) ||
	       str_contains(body, STR("\"ConsistentRead\": true"));
}

/* Trouble with a request about tables would only break a test's set-up. */
bool race_trouble_fits(enum race_trouble_kind kind, const struct race_request *request)
{
	enum op_id id;

	if (!ops_find(request->operation, &id))
		return false;
	if (id == OP_GetRecords)
		return kind == TROUBLE_LAGGED;
	if (!ops_is_of_items(id))
		return false;
	switch (kind) {
	case TROUBLE_LOST:
		return request->is_write;
	case TROUBLE_CONFLICT:
		return ops_subjects(id) & OF_TRANSACTION || id == OP_PutItem ||
		       id == OP_UpdateItem || id == OP_DeleteItem;
	case TROUBLE_THROTTLED:
		return !(ops_subjects(id) & OF_TRANSACTION);
	case TROUBLE_LAGGED:
		return !request->is_write && !(ops_subjects(id) & OF_TRANSACTION) &&
		       !is_consistent(request->body);
	case TROUBLE_KEPT:
		return true;
	case TROUBLE_NONE:
	case TROUBLE_KINDS:
		break;
	}
	return false;
}

struct str race_trouble_rules(struct arena *arena, enum race_trouble_kind kind,
			      struct str operation)
{
	const char *does = "\"error\":\"ProvisionedThroughputExceededException\"";
	enum op_id id;

	if ((kind != TROUBLE_THROTTLED && kind != TROUBLE_CONFLICT) || !ops_find(operation, &id))
		return STR_ABSENT;
	if (kind == TROUBLE_CONFLICT)
		does = ops_subjects(id) & OF_TRANSACTION
			       ? "\"cancel\":\"TransactionConflict\""
			       : "\"error\":\"TransactionConflictException\"";
	else if (id == OP_BatchWriteItem || id == OP_BatchGetItem)
		does = "\"unprocessed\":1";
	return str_printf(arena, "{\"rules\":[{\"operation\":\"" STR_FMT "\",%s}]}",
			  STR_ARG(operation), does);
}
