#include "protocol/tables/scaling_messages.h"
#include "protocol/tables/scaling_target.h"

enum code op_list_tags_for_resource(struct call *call,
				    const struct list_tags_for_resource_request *input,
				    struct err *err)
{
	const struct scaling_filter filter = {
		.arn = input->resource_arn, .limit = {true, 1}, .token = STR_ABSENT};
	struct scaling_page page;
	enum code code = scaling_target_page(call, &filter, &page, err);

	if (code != OK)
		return code;
	if (page.n == 0)
		return err_set(err, MSG_TARGET_ARN, STR_ARG(input->resource_arn));
	const struct tag_set *tags = &page.v[0].scaling->tags;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Tags"));
	json_out_open(&call->out, '{');
	for (size_t i = 0; i < tags->n; i++) {
		json_out_name(&call->out, tags->v[i].key);
		json_out_string(&call->out, tags->v[i].value);
	}
	json_out_close(&call->out, '}');
	json_out_close(&call->out, '}');
	return OK;
}
