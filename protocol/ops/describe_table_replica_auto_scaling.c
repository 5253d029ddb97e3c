#include "protocol/tables/replicas.h"
#include "protocol/tables/scaling.h"

enum code op_describe_table_replica_auto_scaling(
	struct call *call, const struct describe_table_replica_auto_scaling_input *input,
	struct err *err)
{
	struct table *table, **replicas;
	struct str name;
	size_t n;
	enum code code =
		replicas_of_global(call, input->table_name, &name, &table, &replicas, &n, err);

	if (code != OK)
		return code;
	scaling_describe(call, table, replicas, n);
	return OK;
}
