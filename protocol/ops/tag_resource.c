#include "protocol/table_messages.h"
#include "protocol/tag_rules.h"
#include "protocol/timing/timing.h"

/* Puts a tag in place of the one with its key, or behind the others. */
static void put_tag(struct table *table, struct str key, struct str value)
{
	size_t at = 0;

	while (at < table->tag_count && !str_eq(table->tags[at].key, key))
		at++;
	table->tag_count += at == table->tag_count;
	table->tags[at] = (struct tag){str_copy(table->arena, key), str_copy(table->arena, value)};
}

enum code op_tag_resource(struct call *call, const struct tag_resource_input *input, struct err *err)
{
	const struct tag_list *tags = &input->tags;
	struct table *table, *next;
	enum code code = OK;

	if (str_is_set(input->resource_arn) && !tags->v)
		return err_set(err, MSG_TAGS_NULL, "tags");
	if (str_is_set(input->resource_arn) && tags->n == 0)
		return err_set(err, MSG_TAGS_NONE, "Tag");
	code = tag_rules_check(tags, err);
	if (code == OK)
		code = tag_rules_table(call, input->resource_arn, true, &table, err);
	if (code == OK)
		code = timing_tags_admit(call, table, tags, err);
	if (code != OK)
		return code;
	next = table_clone(table);
	next->tags = ARENA_ARRAY(next->arena, struct tag, table->tag_count + tags->n);
	for (size_t i = 0; i < table->tag_count; i++)
		next->tags[i] = (struct tag){str_copy(next->arena, table->tags[i].key), str_copy(next->arena, table->tags[i].value)};
	for (size_t i = 0; i < tags->n; i++)
		put_tag(next, tags->v[i].key, tags->v[i].value);
	if (next->tag_count > TAGS_MAX) {
		table_unref(next);
		return err_set(err, MSG_TAG_MANY);
	}
	timing_tags_changed(call, table, next);
	return catalog_replace(call->service->catalog, table, next, err);
}
