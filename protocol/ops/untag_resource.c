#include "protocol/table_messages.h"
#include "protocol/table_rules.h"
#include "protocol/tag_rules.h"
#include "protocol/timing/timing.h"

static bool has_key(const struct tag_key_list *keys, struct str key)
{
	for (size_t i = 0; i < keys->n; i++) {
		if (str_eq(keys->v[i], key))
			return true;
	}
	return false;
}

enum code op_untag_resource(struct call *call, const struct untag_resource_input *input, struct err *err)
{
	const struct tag_key_list *keys = &input->tag_keys;
	struct table *table, *next;
	enum code code = OK;
	size_t kept = 0;

	if (str_is_set(input->resource_arn) && !keys->v)
		return err_set(err, MSG_TAGS_NULL, "tagKeys");
	if (str_is_set(input->resource_arn) && keys->n == 0)
		return err_set(err, MSG_TAGS_NONE, "Tag Key");
	code = tag_rules_check_keys(keys, err);
	if (code == OK)
		code = tag_rules_table(call, input->resource_arn, false, &table, err);
	if (code == OK && table->status == STATUS_CREATING) /* AWS: there are no tags yet */
		return OK;
	if (code == OK)
		code = table_rules_changeable(table, err);
	if (code == OK)
		code = timing_tags_admit(call, table, NULL, err);
	if (code != OK)
		return code;
	next = table_clone(table);
	for (size_t i = 0; i < next->tag_count; i++) {
		if (!has_key(keys, next->tags[i].key))
			next->tags[kept++] = next->tags[i];
	}
	next->tag_count = kept;
	timing_tags_changed(call, table, next);
	return catalog_replace(call->service->catalog, table, next, err);
}
