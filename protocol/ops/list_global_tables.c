#include "protocol/tables/replica_rules.h"

/* AWS: lists tables of the legacy version, of which there are none any more; an unknown region is
 * an internal error. DDB-GLOBALTABLE-004. */
enum code op_list_global_tables(struct call *call, const struct list_global_tables_input *input,
				struct err *err)
{
	if (str_is_set(input->region_name) && !replica_rules_is_region(input->region_name))
		return err_default(err, ERR_NO_REGION);
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("GlobalTables"));
	json_out_open(&call->out, '[');
	json_out_close(&call->out, ']');
	json_out_close(&call->out, '}');
	return OK;
}
