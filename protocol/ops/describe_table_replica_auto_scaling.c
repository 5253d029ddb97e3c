#include "protocol/tables/control_messages.h"
#include "protocol/tables/scaling.h"

/* AWS: answers for a table of one region as if it did not exist. */
enum code op_describe_table_replica_auto_scaling(struct call *call, const struct describe_table_replica_auto_scaling_input *input, struct err *err)
{
	struct table *table, **replicas;
	struct str name;
	size_t n;
	enum code code = call_table_name(call, input->table_name, &name, err);

	if (code == OK)
		code = replicas_all(call, name, &table, &replicas, &n, err);
	if (code == OK && n < 2)
		code = err_set(err, MSG_NOT_GLOBAL, STR_ARG(name));
	if (code == OK)
		scaling_describe(call, table, replicas, n);
	return code;
}
