#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/tag_rules.h"
#include "protocol/timing/timing.h"

static bool has_key(const struct tag_key_list *keys, struct str key)
{
	for (size_t i = 0; i < keys->n; i++) {
		if (str_eq(keys->v[i], key))
			return true;
	}
	return false;
}

enum code op_untag_resource(struct call *call, const struct untag_resource_input *input,
			    struct err *err)
{
	const struct tag_key_list *keys = &input->tag_keys;
	struct tag_set *changed;
	struct tagged tagged;
	struct table *next;
	enum code code = OK;
	size_t kept = 0;

	if (str_is_set(input->resource_arn) && !keys->v)
		return err_set(err, MSG_TAGS_NULL, "tagKeys");
	if (str_is_set(input->resource_arn) && keys->n == 0)
		return err_set(err, MSG_TAGS_NONE, "Tag Key");
	code = tag_rules_check_keys(keys, err);
	if (code != OK)
		return code;
	code = tag_rules_find(call, input->resource_arn, false, &tagged, err);
	if (code != OK)
		return code;
	if (tagged.table->state.status == STATUS_CREATING) /* AWS: there are no tags yet */
		return OK;
	code = table_rules_changeable(tagged.table, err);
	if (code != OK)
		return code;
	if (!tagged.is_stream)
		code = timing_tags_admit(call, tagged.table, NULL, err);
	if (code != OK)
		return code;
	next = table_clone(tagged.table);
	changed = tag_rules_of(&tagged, next);
	for (size_t i = 0; i < changed->n; i++) {
		if (!has_key(keys, changed->v[i].key))
			changed->v[kept++] = changed->v[i];
	}
	changed->n = kept;
	if (!tagged.is_stream)
		timing_tags_changed(call, tagged.table, next);
	return catalog_replace(call->service->catalog, tagged.table, next, err);
}
