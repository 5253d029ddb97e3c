#include "protocol/tables/control_messages.h"
#include "protocol/tables/replica_rules.h"

/* AWS: DDB-GLOBALTABLE-001, 004: a replica to be created is refused before the table is looked for,
 * of which there is none. */
enum code op_update_global_table(struct call *call, const struct update_global_table_input *input,
				 struct err *err)
{
	if (input->replica_updates.n == 0)
		return err_set(err, MSG_GLOBAL_UPDATES_EMPTY);
	for (size_t i = 0; i < input->replica_updates.n; i++) {
		if (input->replica_updates.v[i].create)
			return replica_rules_legacy(&call->ns, err);
	}
	return err_set(err, MSG_GLOBAL_SETTINGS_ABSENT, STR_ARG(input->global_table_name));
}
