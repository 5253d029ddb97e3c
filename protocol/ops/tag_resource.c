#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/tag_rules.h"
#include "protocol/timing/timing.h"

/* Puts a tag in place of the one with its key, or behind the others: there is room. */
static void put_tag(struct arena *arena, struct tag_set *tags, struct str key, struct str value)
{
	size_t at = 0;

	while (at < tags->n && !str_eq(tags->v[at].key, key))
		at++;
	tags->n += at == tags->n;
	tags->v[at] = (struct tag){str_copy(arena, key), str_copy(arena, value)};
}

enum code op_tag_resource(struct call *call, const struct tag_resource_input *input,
			  struct err *err)
{
	const struct tag_list *tags = &input->tags;
	struct tag_set *changed;
	struct tagged tagged;
	struct table *next;
	enum code code = OK;

	if (str_is_set(input->resource_arn) && !tags->v)
		return err_set(err, MSG_TAGS_NULL, "tags");
	if (str_is_set(input->resource_arn) && tags->n == 0)
		return err_set(err, MSG_TAGS_NONE, "Tag");
	code = tag_rules_check(tags, err);
	if (code != OK)
		return code;
	code = tag_rules_find(call, input->resource_arn, true, &tagged, err);
	if (code != OK)
		return code;
	if (timing_tags_repeat(call, tagged.table, tags))
		return OK;
	code = table_rules_changeable(tagged.table, err);
	if (code != OK)
		return code;
	if (!tagged.is_stream)
		code = timing_tags_admit(call, tagged.table, tags, err);
	if (code != OK)
		return code;
	next = table_clone(tagged.table);
	changed = tag_rules_of(&tagged, next);
	*changed = settings_copy_tags(next->arena, changed, tags->n);
	for (size_t i = 0; i < tags->n; i++)
		put_tag(next->arena, changed, tags->v[i].key, tags->v[i].value);
	code = tag_rules_check_set(changed, err);
	if (code != OK) {
		table_unref(next);
		return code;
	}
	if (!tagged.is_stream)
		timing_tags_changed(call, tagged.table, next);
	return catalog_replace(call->service->catalog, tagged.table, next, err);
}
