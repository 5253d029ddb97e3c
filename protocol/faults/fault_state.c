#include "protocol/faults/fault_state.h"

#include "protocol/faults/messages.h"

static const struct {
	const char *name;
	const char *doing; /* in errors of changes */
} states[] = {
	[FAULT_STATE_INACCESSIBLE] = {"INACCESSIBLE_ENCRYPTION_CREDENTIALS", NULL},
	[FAULT_STATE_ARCHIVING] = {"ARCHIVING", "being archived"},
	[FAULT_STATE_ARCHIVED] = {"ARCHIVED", "archived"},
	[FAULT_STATE_REGION_DISABLED] = {"REGION_DISABLED", NULL},
};

bool fault_state_find(struct str name, enum fault_state *state)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		if (states[i].name && str_eq(name, str_of(states[i].name))) {
			*state = (enum fault_state)i;
			return true;
		}
	}
	return false;
}

struct str fault_state_name(enum fault_state state)
{
	return str_of(states[state].name);
}

/* What tells about a table and changes nothing. */
static bool is_description(enum op_id operation)
{
	struct str name = ops_name(operation);

	return str_starts_with(name, STR("Describe")) || str_starts_with(name, STR("List")) ||
	       operation == OP_GetResourcePolicy;
}

/* Items and records, which need the table's key. */
static bool is_of_data(enum op_id operation)
{
	return ops_is_of_items(operation) || operation == OP_GetRecords ||
	       operation == OP_GetShardIterator;
}

enum code fault_state_error(enum fault_state state, enum op_id operation,
			    struct str table, struct err *err)
{
	if (state == FAULT_STATE_REGION_DISABLED)
		return err_default(err, ERR_UNRECOGNIZED_CLIENT);
	if (is_description(operation))
		return OK;
	if (operation == OP_DeleteTable && state != FAULT_STATE_ARCHIVING)
		return OK;
	if (state == FAULT_STATE_INACCESSIBLE)
		return err_set(err, MSG_FAULT_KEY_DENIED);
	if (is_of_data(operation))
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	return err_set(err, MSG_FAULT_ARCHIVE, states[state].doing, STR_ARG(table));
}
