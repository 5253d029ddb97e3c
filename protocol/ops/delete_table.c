#include "protocol/tables/describe.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

enum code op_delete_table(struct call *call, const struct delete_table_input *input, struct err *err)
{
	struct table *table;
	enum code code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(table) && table->state.status != STATUS_DELETING &&
	     table->state.status != STATUS_CREATING; i++) {
		if (table_index_at(table, i)->status != STATUS_ACTIVE)
			return err_set(err, MSG_TABLE_INDEXES_IN_USE);
	}
	if (table->state.status == STATUS_CREATING || table->state.status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_IN_USE, table_rules_doing(table->state.status), STR_ARG(table->identity.name));
	code = timing_deletable(call, table, err);
	if (code != OK)
		return code;
	if (table->state.status == STATUS_UPDATING)
		return err_set(err, MSG_TABLE_IN_USE_UPDATED, STR_ARG(table->identity.name));
	if (table->settings->is_deletion_protected)
		return err_set(err, MSG_TABLE_PROTECTED);
	code = describe_table(call, STR("TableDescription"), table, STATUS_DELETING, err);
	if (code != OK)
		return code;
	return catalog_delete(call->service->catalog, table, call->now_ms, err);
}
