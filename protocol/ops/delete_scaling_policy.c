#include "protocol/tables/scaling_messages.h"
#include "protocol/tables/scaling_target.h"

enum code op_delete_scaling_policy(struct call *call,
				   const struct delete_scaling_policy_request *input,
				   struct err *err)
{
	struct scaling_target target;
	enum code code = scaling_target_find(call, input->service_namespace, input->resource_id,
					     input->scalable_dimension, &target, err);

	if (code != OK)
		return code;
	if (!scaling_is_on(target.scaling) || !str_eq(target.scaling->policy, input->policy_name))
		return err_set(err, MSG_TARGET_POLICY_ABSENT, STR_ARG(target.resource),
			       STR_ARG(target.dimension), STR_ARG(input->policy_name));
	struct table *next = table_clone(target.table);
	struct scaling *scaling = scaling_find(next, target.index, target.is_write);
	scaling->policy = scaling->target = STR_ABSENT;
	json_out_open(&call->out, '{');
	json_out_close(&call->out, '}');
	return catalog_replace(call->service->catalog, target.table, next, err);
}
