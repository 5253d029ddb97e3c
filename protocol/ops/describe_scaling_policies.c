#include "protocol/tables/scaling_target.h"

enum code op_describe_scaling_policies(struct call *call,
				       const struct describe_scaling_policies_request *input,
				       struct err *err)
{
	struct scaling_filter filter = {
		.service = input->service_namespace,
		.dimension = input->scalable_dimension,
		.policies = input->policy_names,
		.has_policy = true,
		.limit = input->max_results,
		.token = input->next_token,
	};
	struct str resource = input->resource_id;
	struct scaling_page page;

	if (str_is_set(resource))
		filter.resources = (struct scaling_resource_ids){1, &resource};
	enum code code = scaling_target_page(call, &filter, &page, err);
	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("ScalingPolicies"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < page.n; i++)
		scaling_target_policy_write(&call->out, page.v[i].table, page.v[i].scaling);
	json_out_close(&call->out, ']');
	if (str_is_set(page.next))
		json_out_field_string(&call->out, "NextToken", page.next);
	json_out_close(&call->out, '}');
	return OK;
}
