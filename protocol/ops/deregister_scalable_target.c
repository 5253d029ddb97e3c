#include "protocol/tables/scaling_target.h"

/* AWS: its policies go with it. */
enum code op_deregister_scalable_target(struct call *call,
					const struct deregister_scalable_target_request *input,
					struct err *err)
{
	struct scaling_target target;
	enum code code =
		scaling_target_need(call, input->service_namespace, input->resource_id,
				    input->scalable_dimension, SCALING_UNFOUND, &target, err);

	if (code != OK)
		return code;
	struct table *next = table_clone(target.table);
	scaling_remove(next, scaling_find(next, target.index, target.is_write));
	json_out_open(&call->out, '{');
	json_out_close(&call->out, '}');
	return catalog_replace(call->service->catalog, target.table, next, err);
}
