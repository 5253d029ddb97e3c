#include "protocol/tables/describe.h"

enum code op_describe_table(struct call *call, const struct describe_table_input *input,
			    struct err *err)
{
	struct table *table;
	enum code code = call_table(call, input->table_name, ABSENT_AT_ALL, &table, err);

	return code != OK ? code : describe_table(call, STR("Table"), table, STATUS_ACTIVE, err);
}
