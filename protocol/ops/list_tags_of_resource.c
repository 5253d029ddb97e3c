#include "protocol/tag_rules.h"
#include "protocol/timing/timing.h"

/* AWS: all tags in one page, whatever NextToken says: a table has 50 at most. */
enum code op_list_tags_of_resource(struct call *call, const struct list_tags_of_resource_input *input, struct err *err)
{
	struct json_out *out = &call->out;
	struct table *table;
	enum code code = tag_rules_table(call, input->resource_arn, false, &table, err);

	if (code != OK)
		return code;
	table = timing_seen(call, table);
	json_out_open(out, '{');
	json_out_name(out, STR("Tags"));
	json_out_open(out, '[');
	/* AWS: those that come with a table are there when it is ACTIVE */
	for (size_t i = 0; i < table->tag_count && table->status != STATUS_CREATING; i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "Key", table->tags[i].key);
		json_out_field_string(out, "Value", table->tags[i].value);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
	return OK;
}
