#include "protocol/tables/arn.h"
#include "protocol/transfer/messages.h"
#include "protocol/transfer/transfer_show.h"

/* AWS: recorded, DDB-IMPORT-008: an import is listed by its table's ARN also when the table is
 * gone. */
enum code op_list_imports(struct call *call, const struct list_imports_input *input,
			  struct err *err)
{
	struct transfer_list list = {.kind = TRANSFER_IMPORT,
				     .token = input->next_token,
				     .limit = (size_t)input->page_size.value};
	struct table *table;
	enum code code = OK;

	if (str_is_set(input->table_arn)) {
		code = transfer_table(call, input->table_arn, &table, err);
		code = code == ERR_TABLE_NOT_FOUND ? OK : code;
		struct str resource = arn_split(input->table_arn).resource;

		list.table = input->table_arn;
		if (code != OK)
			return code;
		if (str_starts_with(resource, STR("table/")))
			(void)arn_table_part(resource, &list.table);
	}
	code = transfer_list(call, &list, err);
	if (code != OK)
		return code;
	return transfer_show_list(call, &list, err);
}
