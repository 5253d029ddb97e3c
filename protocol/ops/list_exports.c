#include "protocol/transfer/messages.h"
#include "protocol/transfer/transfer_show.h"

/* AWS: recorded, DDB-EXPORT-020: of a table that is gone, or was made again under its name, none is
 * listed. */
enum code op_list_exports(struct call *call, const struct list_exports_input *input,
			  struct err *err)
{
	struct transfer_list list = {.kind = TRANSFER_EXPORT,
				     .token = input->next_token,
				     .limit = (size_t)input->max_results.value};
	enum code code = OK;

	if (str_is_set(input->table_arn)) {
		struct table *table;

		list.table_id = STR("");
		code = transfer_table(call, input->table_arn, &table, err);
		if (code != OK && code != ERR_TABLE_NOT_FOUND)
			return code;
		if (code == OK) {
			list.table = table->identity.name;
			list.table_id = table->identity.id;
		}
	}
	code = transfer_list(call, &list, err);
	if (code != OK)
		return code;
	return transfer_show_list(call, &list, err);
}
