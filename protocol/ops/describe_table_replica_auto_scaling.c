#include "protocol/tables/control_messages.h"
#include "protocol/handler.h"

/* AWS: answers for a table of one region as if it did not exist. All tables here are of one region. */
enum code op_describe_table_replica_auto_scaling(struct call *call, const struct describe_table_replica_auto_scaling_input *input, struct err *err)
{
	struct str name;
	enum code code = call_table_name(call, input->table_name, &name, err);

	return code != OK ? code : err_set(err, MSG_NOT_GLOBAL, STR_ARG(name));
}
