#include "protocol/handler.h"

#define LIMIT_DEFAULT 100 /* names per page. AWS: API Reference, ListTables */

enum code op_list_tables(struct call *call, const struct list_tables_input *input, struct err *err)
{
	size_t limit = input->limit.is_set ? (size_t)input->limit.value : LIMIT_DEFAULT;
	struct json_out *out = &call->out;
	struct name_page names;
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	code = catalog_list(call->service->catalog, call->ns, input->exclusive_start_table_name,
			    limit, call->now_ms, call->arena, &names, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_name(out, STR("TableNames"));
	json_out_open(out, '[');
	for (size_t i = 0; i < names.n; i++)
		json_out_string(out, names.v[i]);
	json_out_close(out, ']');
	if (names.is_more)
		json_out_field_string(out, "LastEvaluatedTableName", names.v[names.n - 1]);
	json_out_close(out, '}');
	return OK;
}
