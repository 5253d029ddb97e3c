#include "protocol/describe.h"
#include "protocol/table_messages.h"

enum code op_delete_table(struct call *call, const struct delete_table_input *input, struct err *err)
{
	struct table *table;
	enum code code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);

	if (code != OK)
		return code;
	if (table->status == STATUS_CREATING || table->status == STATUS_UPDATING)
		return err_set(err, MSG_TABLE_IN_USE, STR_ARG(table->name), table->status == STATUS_CREATING ? "created" : "updated");
	if (table->is_deletion_protected)
		return err_set(err, MSG_TABLE_PROTECTED);
	code = describe_table(call, STR("TableDescription"), table, STATUS_DELETING, err);
	if (code != OK || table->status == STATUS_DELETING)
		return code;
	return catalog_delete(call->service->catalog, table, call->now_ms, err);
}
