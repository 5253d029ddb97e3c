#include "protocol/tables/tag_rules.h"
#include "protocol/timing/timing.h"

/* AWS: all tags in one page, whatever NextToken says: a resource has 50 at most. */
enum code op_list_tags_of_resource(struct call *call,
				   const struct list_tags_of_resource_input *input, struct err *err)
{
	struct json_out *out = &call->out;
	struct tagged tagged;
	enum code code = tag_rules_find(call, input->resource_arn, false, &tagged, err);

	if (code != OK)
		return code;
	struct table *table = timing_seen(call, tagged.table);
	const struct tag_set *tags = tag_rules_of(&tagged, tagged.is_stream ? tagged.table : table);
	/* AWS: those that come with a table are there when it is ACTIVE */
	size_t count = table->state.status == STATUS_CREATING ? 0 : tags->n;
	json_out_open(out, '{');
	json_out_name(out, STR("Tags"));
	json_out_open(out, '[');
	for (size_t i = 0; i < count; i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "Key", tags->v[i].key);
		json_out_field_string(out, "Value", tags->v[i].value);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
	return OK;
}
