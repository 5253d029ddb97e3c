#include "protocol/tables/scaling_target.h"

enum code op_describe_scalable_targets(struct call *call,
				       const struct describe_scalable_targets_request *input,
				       struct err *err)
{
	const struct scaling_filter filter = {
		.service = input->service_namespace,
		.dimension = input->scalable_dimension,
		.resources = input->resource_ids,
		.limit = input->max_results,
		.token = input->next_token,
	};
	struct scaling_page page;
	enum code code = scaling_target_page(call, &filter, &page, err);

	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("ScalableTargets"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < page.n; i++)
		scaling_target_write(&call->out, page.v[i].table, page.v[i].scaling);
	json_out_close(&call->out, ']');
	if (str_is_set(page.next))
		json_out_field_string(&call->out, "NextToken", page.next);
	json_out_close(&call->out, '}');
	return OK;
}
