#include "protocol/tables/control_messages.h"
#include "protocol/tables/replica_rules.h"

/* AWS: the legacy version cannot be created any more, in any region. DDB-GLOBALTABLE-002, 003:
 * errors of the shape come first. */
enum code op_create_global_table(struct call *call, const struct create_global_table_input *input,
				 struct err *err)
{
	(void)input;
	return replica_rules_legacy(&call->ns, err);
}
