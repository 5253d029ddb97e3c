#include "protocol/tables/recovery.h"
#include "protocol/timing/timing.h"

enum code op_describe_continuous_backups(struct call *call,
					 const struct describe_continuous_backups_input *input,
					 struct err *err)
{
	struct table *table;
	enum code code = timing_table(call, input->table_name, TIMING_BY_BACKUPS, &table, err);

	if (code != OK)
		return code;
	recovery_describe(call, table);
	return OK;
}
