#include "protocol/rules.h"

#include "core/buf.h"
#include "core/seen.h"
#include "core/value.h"
#include "protocol/item_messages.h"
#include "protocol/vector_messages.h"
#include "storage/messages.h"

enum code rules_return_values(int return_values, struct err *err)
{
	if (!return_values || return_values == RETURN_VALUE_NONE ||
	    return_values == RETURN_VALUE_ALL_OLD)
		return OK;
	return err_set(err, MSG_RETURN_VALUES);
}

enum code rules_item_size(const struct value *item, struct err *err)
{
	if (item_size(item) > ITEM_SIZE_MAX)
		return err_set(err, MSG_ITEM_SIZE);
	return OK;
}

enum code rules_update_keys(const struct table *table, const struct update *update, struct err *err)
{
	for (unsigned i = 0; update && i < key_schema_count(&table->keys); i++)
		if (update_touches(update, table->keys.attributes[i].name))
			return err_set(err, MSG_UPDATE_KEY,
				       STR_ARG(table->keys.attributes[i].name));
	return OK;
}

struct key_path_search {
	const struct table *table;
	const char *kind; /* of key found: "Key" or "IndexKey" */
	struct str found;
};

static bool has_key(const struct key_schema *keys, struct str name)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++)
		if (str_eq(keys->attributes[i].name, name))
			return true;
	return false;
}

static bool is_not_into_key(void *context, const struct path *path)
{
	struct key_path_search *search = context;

	if (path->n < 2)
		return true;
	struct str name = path->steps[0].name;

	if (has_key(&search->table->keys, name))
		search->kind = "Key";
	for (size_t i = 0; i < search->table->indexes.n && !search->kind; i++)
		if (has_key(&search->table->indexes.v[i].keys, name))
			search->kind = "IndexKey";
	search->found = name;
	return !search->kind;
}

static bool is_update_free_of_keys(struct key_path_search *search, const struct update *update)
{
	for (size_t i = 0; i < update->n; i++) {
		const struct update_action *action = &update->actions[i];

		if (action->operand && !node_walk_paths(action->operand, is_not_into_key, search))
			return false;
		if (!has_key(&search->table->keys, action->path->steps[0].name) &&
		    !is_not_into_key(search, action->path))
			return false;
	}
	return true;
}

enum code rules_key_paths(const struct table *table, const struct expressions *expressions,
			  struct err *err)
{
	struct key_path_search search = {.table = table};
	const struct projection *projection = expressions->projection;
	const struct node *conditions[] = {expressions->key_condition, expressions->condition,
					   expressions->filter};
	bool is_free = true;

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]) && is_free; i++)
		is_free =
			!conditions[i] || node_walk_paths(conditions[i], is_not_into_key, &search);
	if (is_free && expressions->update)
		is_free = is_update_free_of_keys(&search, expressions->update);
	for (size_t i = 0; is_free && projection && i < projection->n; i++)
		is_free = is_not_into_key(&search, projection->paths[i]);
	return is_free ? OK : err_set(err, MSG_KEY_NOT_SCALAR, search.kind, STR_ARG(search.found));
}

enum code rules_segments(struct opt_int segment, struct opt_int total, bool is_older,
			 struct err *err)
{
	if (total.is_set && !segment.is_set)
		return err_set(err, MSG_SEGMENTS_WITHOUT_SEGMENT);
	if (segment.is_set && !total.is_set)
		return err_set(err, MSG_SEGMENT_WITHOUT_SEGMENTS);
	if (segment.is_set && segment.value >= total.value && !is_older)
		return err_set(err, MSG_SEGMENT_RANGE_ALONE);
	if (segment.is_set && segment.value >= total.value)
		return err_set(err, MSG_SEGMENT_RANGE, (long long)segment.value,
			       (long long)total.value);
	return OK;
}

enum code rules_index(const struct table *table, struct str name, struct opt_bool consistent,
		      const struct index **out, struct err *err)
{
	const struct index *index = str_is_set(name) ? table_index(table, name) : NULL;

	if (str_is_set(name) && (!index || !index_is_kept(index)))
		return err_set(err, MSG_INDEX_UNKNOWN, STR_ARG(name));
	if (index && index->is_backfilling)
		return err_set(err, MSG_INDEX_BACKFILLING, STR_ARG(name));
	if (index && opt_is_true(consistent) && !index->is_local)
		return err_set(err, MSG_INDEX_CONSISTENT);
	*out = index;
	return OK;
}

enum code rules_not_vector(const struct table *table, struct str name, struct opt_bool consistent,
			   bool is_scan, struct err *err)
{
	const struct index *index = str_is_set(name) ? table_vector(table, name) : NULL;

	if (!index || !index_is_kept(index))
		return OK;
	if (opt_is_true(consistent))
		return err_set(err, MSG_INDEX_CONSISTENT);
	return is_scan ? err_set(err, MSG_VECTOR_SCAN) : err_set(err, MSG_VECTOR_QUERY);
}

enum code rules_query_filter(const struct key_schema *keys, const struct node *filter,
			     const char *parameter, struct err *err)
{
	/* AWS: of several the first of the key is named, not the first of the expression. */
	for (unsigned i = 0; filter && i < key_schema_count(keys); i++) {
		struct str found = node_find_attribute(filter, &keys->attributes[i].name, 1);

		if (str_is_set(found))
			return err_set(err, MSG_FILTER_KEY, parameter, STR_ARG(found));
	}
	return OK;
}

/* The names that an index lacks, as often as they are met. */
struct missing {
	struct arena *arena;
	const struct index *index;
	struct str *names;
	size_t n;
};

static bool add_missing(void *context, const struct path *path)
{
	struct missing *missing = context;
	struct str name = path->steps[0].name;

	if (index_projects(missing->index, name))
		return true;
	missing->names =
		arena_room(missing->arena, missing->names, missing->n, sizeof(*missing->names));
	missing->names[missing->n++] = name;
	return true;
}

/* As a list for a message, where a name stands once. */
static struct str missing_list(const struct missing *missing)
{
	struct seen seen = seen_new(missing->arena, missing->n);
	struct buf list = buf_in(missing->arena);

	for (size_t i = 0; i < missing->n; i++) {
		if (!seen_add(&seen, missing->names[i]))
			continue;
		if (i > 0)
			buf_add_lit(&list, ", ");
		buf_add_str(&list, missing->names[i]);
	}
	return buf_str(&list);
}

enum code rules_filter_projected(struct arena *arena, const struct index *index,
				 const struct node *filter, struct err *err)
{
	struct missing missing = {.arena = arena, .index = index};

	if (!index || index->projection == PROJECT_ALL || !filter)
		return OK;
	node_walk_paths(filter, add_missing, &missing);
	if (missing.n == 0)
		return OK;
	return err_set(err, MSG_FILTER_NOT_PROJECTED, STR_ARG(index->name),
		       STR_ARG(missing_list(&missing)));
}

/* Only a local index fetches what it lacks from the table. */
static enum code check_projected(struct arena *arena, const struct index *index,
				 const struct projection *projection, struct err *err)
{
	struct missing missing = {.arena = arena, .index = index};

	if (!index || index->is_local || index->projection == PROJECT_ALL)
		return OK;
	for (size_t i = 0; i < projection->n; i++)
		add_missing(&missing, projection->paths[i]);
	if (missing.n == 0)
		return OK;
	return err_set(err, MSG_INDEX_NOT_PROJECTED, STR_ARG(index->name),
		       STR_ARG(missing_list(&missing)));
}

static const char *const select_names[select_count] = {
	[SELECT_ALL_ATTRIBUTES] = "ALL_ATTRIBUTES",
	[SELECT_ALL_PROJECTED_ATTRIBUTES] = "ALL_PROJECTED_ATTRIBUTES",
	[SELECT_COUNT] = "only the Count",
};

enum code rules_select(int select, bool has_index, const struct projection *projection,
		       bool is_legacy, enum read_select *out, struct err *err)
{
	static const enum read_select kinds[select_count] = {
		[SELECT_ALL_PROJECTED_ATTRIBUTES] = READ_PROJECTED_ATTRIBUTES,
		[SELECT_ALL_ATTRIBUTES] = READ_ALL_ATTRIBUTES,
		[SELECT_COUNT] = READ_COUNT,
	};

	if (projection && select && select != SELECT_SPECIFIC_ATTRIBUTES)
		return err_set(err, MSG_SELECT_WITH_PROJECTION,
			       is_legacy ? "AttributesToGet" : "ProjectionExpression",
			       select_names[select]);
	if (!projection && select == SELECT_SPECIFIC_ATTRIBUTES)
		return err_set(err, MSG_SELECT_NO_PROJECTION);
	if (select == SELECT_ALL_PROJECTED_ATTRIBUTES && !has_index)
		return err_set(err, MSG_SELECT_NO_INDEX);
	if (projection)
		*out = READ_SPECIFIC_ATTRIBUTES;
	else if (select)
		*out = kinds[select];
	else
		*out = has_index ? READ_PROJECTED_ATTRIBUTES : READ_ALL_ATTRIBUTES;
	return OK;
}

enum code rules_select_index(struct arena *arena, const struct index *index,
			     enum read_select select, const struct projection *projection,
			     struct err *err)
{
	if (projection)
		return check_projected(arena, index, projection, err);
	if (select == READ_ALL_ATTRIBUTES && index && !index->is_local &&
	    index->projection != PROJECT_ALL)
		return err_set(err, MSG_SELECT_ALL_ON_INDEX, STR_ARG(index->name));
	return OK;
}

struct str rules_item_name(struct arena *arena, const struct table *table, struct str row_key)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, table->identity.number);
	buf_add_str(&buf, row_key);
	return buf_str(&buf);
}
