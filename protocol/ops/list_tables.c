#include "protocol/handler.h"

#define LIMIT_DEFAULT 100 /* names per page. AWS: API Reference, ListTables */

enum code op_list_tables(struct call *call, const struct list_tables_input *input, struct err *err)
{
	size_t limit = input->limit.is_set ? (size_t)input->limit.value : LIMIT_DEFAULT;
	struct json_out *out = &call->out;
	struct str *names;
	bool more;
	enum code code = call_refresh(call, err);
	size_t n = catalog_list(call->service->catalog, call->ns, input->exclusive_start_table_name, limit, call->now_ms, call->arena, &names,
				&more);

	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_name(out, STR("TableNames"));
	json_out_open(out, '[');
	for (size_t i = 0; i < n; i++)
		json_out_string(out, names[i]);
	json_out_close(out, ']');
	if (more)
		json_out_field_string(out, "LastEvaluatedTableName", names[n - 1]);
	json_out_close(out, '}');
	return OK;
}
