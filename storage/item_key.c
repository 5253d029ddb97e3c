#include "storage/item_key.h"

#include "core/image.h"
#include "core/key.h"
#include "storage/messages.h"
#include "storage/store/row.h"

/* The keys of the table, or of an index. */
static const struct key_schema *keys_of(const struct table *table, const struct index *index)
{
	return index ? &index->keys : &table->keys;
}

/* Adds to the bytes of the partition key ([0]) and of the sort key ([1]); an aggregate of several
 * attributes counts as one. */
static enum code check_size(const struct key_schema *keys, unsigned i, const struct value *value,
			    size_t sums[2], struct err *err)
{
	sums[i >= keys->hash_count] += value_size(value);
	if (sums[0] > PARTITION_KEY_SIZE_MAX)
		return err_set(err, MSG_PARTITION_KEY_SIZE);
	if (sums[1] > SORT_KEY_SIZE_MAX)
		return err_set(err, MSG_SORT_KEY_SIZE);
	return OK;
}

static const char *kind_of_empty(const struct value *value)
{
	return value->type == TYPE_S ? "string" : "binary";
}

static bool is_empty(const struct value *value)
{
	return value->n == 0;
}

/* hash | partition key elements | sort key elements. */
static struct buf encode(struct arena *arena, const struct table *table,
			 const struct key_schema *keys, const struct value *const *values)
{
	struct buf buf = buf_in(arena);

	buf_reserve(&buf, 64);
	key_add_partition(&buf, table->hash, values, keys->hash_count);
	for (unsigned i = keys->hash_count; i < key_schema_count(keys); i++)
		key_add(&buf, values[i]);
	return buf;
}

enum code item_key_of_key(struct arena *arena, const struct table *table, const struct value *key,
			  struct str *row_key, struct err *err)
{
	const struct key_schema *keys = &table->keys;
	const struct value *values[KEY_ATTRIBUTES_MAX] = {NULL};
	unsigned n = key_schema_count(keys);
	size_t sums[2] = {0, 0};

	if (key->n != n)
		return err_set(err, MSG_KEY_SCHEMA);
	for (unsigned i = 0; i < n; i++) {
		values[i] = value_member(key, keys->attributes[i].name);
		if (!values[i])
			return err_set(err, MSG_KEY_SCHEMA);
	}
	for (unsigned i = 0; i < n; i++) {
		if (values[i]->type != keys->attributes[i].type)
			return err_set(err, MSG_KEY_SCHEMA);
		if (is_empty(values[i]))
			return err_set(err, MSG_KEY_EMPTY, kind_of_empty(values[i]),
				       STR_ARG(keys->attributes[i].name));
		enum code code = check_size(keys, i, values[i], sums, err);
		if (code != OK)
			return code;
	}
	struct buf buf = encode(arena, table, keys, values);
	*row_key = buf_str(&buf);
	return OK;
}

/* Several attributes together are too large for the partition key or the sort key; the message
 * lists those that the item has. */
static enum code aggregate_size(const struct index *index, const struct value *item, bool is_sort,
				struct err *err)
{
	const struct key_schema *keys = &index->keys;
	struct buf list = buf_in(err->arena);
	size_t sum = 0;

	for (unsigned i = is_sort ? keys->hash_count : 0;
	     i < (is_sort ? key_schema_count(keys) : keys->hash_count); i++) {
		const struct value *value = value_member(item, keys->attributes[i].name);

		if (!value)
			continue;
		buf_printf(&list, "%s" STR_FMT, list.n ? ", " : "",
			   STR_ARG(keys->attributes[i].name));
		sum += value_size(value);
	}
	return err_set(err, MSG_INDEX_KEY_AGGREGATE, is_sort ? "RANGE" : "HASH",
		       STR_ARG(buf_str(&list)), STR_ARG(index->name),
		       is_sort ? SORT_KEY_SIZE_MAX : PARTITION_KEY_SIZE_MAX, sum);
}

/* An item may lack an index's attributes; each that it has must be fit to be a key, also when
 * others are missing. */
static enum code check_index_keys(const struct index *index, const struct value *item,
				  bool is_update, struct err *err)
{
	size_t sums[2] = {0, 0};

	if (!index_is_kept(index))
		return OK;
	for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
		const struct key_attribute *attribute = &index->keys.attributes[i];
		const struct value *value = value_member(item, attribute->name);
		bool is_sort = i >= index->keys.hash_count;

		if (!value)
			continue;
		if (index->is_backfilling && (value->type != attribute->type || is_empty(value)))
			return err_set(err, MSG_INDEX_BACKFILL_VIOLATION);
		if (value->type != attribute->type)
			return err_set(err, MSG_INDEX_KEY_TYPE, STR_ARG(attribute->name),
				       type_name(attribute->type),
				       type_name((enum type)value->type), STR_ARG(index->name));
		if (is_empty(value) && is_update)
			return err_set(err, MSG_INDEX_KEY_EMPTY_UPDATE, kind_of_empty(value));
		if (is_empty(value))
			return err_set(err, MSG_INDEX_KEY_EMPTY, kind_of_empty(value),
				       STR_ARG(index->name), STR_ARG(attribute->name));
		if (sums[is_sort] > 0 &&
		    sums[is_sort] + value_size(value) >
			    (is_sort ? SORT_KEY_SIZE_MAX : PARTITION_KEY_SIZE_MAX))
			return aggregate_size(index, item, is_sort, err);
		enum code code = check_size(&index->keys, i, value, sums, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Local indexes come first in the table's list. */
static size_t local_count(const struct table *table)
{
	size_t n = 0;

	while (n < table->indexes.n && table->indexes.v[n].is_local)
		n++;
	return n;
}

/*
 * Checks the indexes from `begin` to before `end`. If several refuse the item, AWS names the
 * alphabetically first: captures of October 2026.
 */
static enum code check_some_indexes(const struct table *table, size_t begin, size_t end,
				    const struct value *item, bool is_update, struct err *err)
{
	const struct index *refusing = NULL;
	enum code code = OK;

	for (size_t i = begin; i < end; i++) {
		const struct index *index = &table->indexes.v[i];
		struct err own = err_in(err->arena);

		if (refusing && str_cmp(refusing->name, index->name) < 0)
			continue;
		enum code found = check_index_keys(index, item, is_update, &own);
		if (found == OK)
			continue;
		refusing = index;
		code = found;
		*err = own;
	}
	return code;
}

static enum code check_indexes(const struct table *table, const struct value *item,
			       struct item_words words, struct err *err)
{
	size_t locals = local_count(table), n = table->indexes.n;
	size_t first[] = {0, locals}, last[] = {locals, n};

	for (unsigned i = 0; i < 2; i++) {
		unsigned group = i ^ words.is_global_first;
		enum code code = check_some_indexes(table, first[group], last[group], item,
						    words.use == ITEM_UPDATE, err);

		if (code != OK)
			return code;
	}
	return OK;
}

enum code item_key_of_item(struct arena *arena, const struct table *table, const struct value *item,
			   struct item_words words, struct str *row_key, struct err *err)
{
	bool is_batch = words.use == ITEM_BATCH_PUT;
	const struct key_schema *keys = &table->keys;
	const struct value *values[KEY_ATTRIBUTES_MAX] = {NULL};
	size_t sums[2] = {0, 0};
	enum code code = OK;

	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		values[i] = value_member(item, keys->attributes[i].name);
		if (!values[i] && is_batch)
			return err_set(err, MSG_KEY_SCHEMA);
		if (!values[i])
			return err_set(err, MSG_KEY_MISSING, STR_ARG(keys->attributes[i].name));
	}
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		const struct key_attribute *attribute = &keys->attributes[i];

		if (values[i]->type != attribute->type && is_batch)
			return err_set(err, MSG_KEY_SCHEMA);
		if (values[i]->type != attribute->type)
			return err_set(err, MSG_KEY_TYPE, STR_ARG(attribute->name),
				       type_name(attribute->type),
				       type_name((enum type)values[i]->type));
		if (is_empty(values[i]))
			return err_set(err, MSG_KEY_EMPTY, kind_of_empty(values[i]),
				       STR_ARG(attribute->name));
		code = check_size(keys, i, values[i], sums, err);
		if (code != OK)
			return code;
	}
	code = check_indexes(table, item, words, err);
	if (code != OK)
		return code;
	if (row_key) {
		struct buf buf = encode(arena, table, keys, values);

		*row_key = buf_str(&buf);
	}
	return OK;
}

/* Behind an index's own keys: [hash of the table's key |] table's key elements. */
static bool add_table_key(struct buf *out, const struct table *table, const struct index *index,
			  const struct value *item)
{
	const struct value *values[KEY_ATTRIBUTES_MAX] = {NULL};
	unsigned n = key_schema_count(&table->keys);

	for (unsigned i = 0; i < n; i++) {
		values[i] = value_member(item, table->keys.attributes[i].name);
		if (!values[i])
			return false;
	}
	if (!index->is_local && !index->vector)
		key_add_tie(out, table->hash, values, n);
	for (unsigned i = 0; i < n; i++)
		key_add(out, values[i]);
	return true;
}

struct str item_key_of_row(struct arena *arena, const struct table *table,
			   const struct index *index, const struct value *item)
{
	const struct key_schema *keys = keys_of(table, index);
	const struct value *values[KEY_ATTRIBUTES_MAX] = {NULL};

	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		values[i] = value_member(item, keys->attributes[i].name);
		if (!values[i] || values[i]->type != keys->attributes[i].type)
			return STR_ABSENT;
	}
	struct buf buf = encode(arena, table, keys, values);
	return !index || add_table_key(&buf, table, index, item) ? buf_str(&buf) : STR_ABSENT;
}

/* Whether the hash of the table's key lies between an index's own keys and the table's. */
static bool has_tie(const struct table *table, const struct index *index)
{
	return !index->is_local && !index->vector && table->hash == KEY_HASH_MD5;
}

struct value item_key_attributes_of_row(struct arena *arena, const struct table *table,
					const struct index *index, struct str row_key)
{
	struct member *members = ARENA_ARRAY(arena, struct member, 2 * KEY_ATTRIBUTES_MAX);
	const struct key_schema *schemas[] = {keys_of(table, index), &table->keys};
	struct str rest = row_behind(row_key, KEY_HASH_SIZE);
	size_t n = 0;

	for (unsigned s = 0; s < (index ? 2u : 1u); s++) {
		rest = s == 1 && has_tie(table, index) ? row_behind(rest, KEY_HASH_SIZE) : rest;
		for (unsigned i = 0; i < key_schema_count(schemas[s]); i++, n++) {
			members[n].name = schemas[s]->attributes[i].name;
			members[n].value = key_read(arena, schemas[s]->attributes[i].type, &rest);
		}
	}
	n = value_sort_last(members, n);
	return (struct value){.type = TYPE_M, .n = (uint32_t)n, .members = members};
}

struct str item_key_behind(struct arena *arena, const struct table *table,
			   const struct index *index, struct str row_key)
{
	struct value attributes = item_key_attributes_of_row(arena, table, index, row_key);

	return item_key_of_row(arena, table, NULL, &attributes);
}

/* The elements of the table's key are the end of both; before them an item's key has its hash. */
bool item_key_is_behind(const struct table *table, const struct index *index, struct str row_key,
			struct str item_key)
{
	struct str own = row_behind(row_key, KEY_HASH_SIZE),
		   elements = row_behind(item_key, KEY_HASH_SIZE);

	for (unsigned i = 0; i < key_schema_count(&index->keys); i++)
		key_skip(index->keys.attributes[i].type, &own);
	if (has_tie(table, index))
		own = row_behind(own, KEY_HASH_SIZE);
	return own.n > 0 && str_eq(own, elements);
}

/* Items may be older than the index: they need not have passed its checks. */
static bool is_in_index(const struct index *index, const struct value *item)
{
	size_t sums[2] = {0, 0};

	for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
		const struct value *value = value_member(item, index->keys.attributes[i].name);

		if (!value || value->type != index->keys.attributes[i].type || is_empty(value))
			return false;
		sums[i >= index->keys.hash_count] += value_size(value);
	}
	return sums[0] <= PARTITION_KEY_SIZE_MAX && sums[1] <= SORT_KEY_SIZE_MAX;
}

struct str item_key_in_index(struct arena *arena, const struct table *table,
			     const struct index *index, const struct value *item)
{
	return is_in_index(index, item) ? item_key_of_row(arena, table, index, item) : STR_ABSENT;
}

bool item_key_is_kept(const struct index *index, const struct value *before,
		      const struct value *after)
{
	for (unsigned i = 0; i < key_schema_count(&index->keys); i++) {
		const struct value *one = value_member(before, index->keys.attributes[i].name);
		const struct value *other = value_member(after, index->keys.attributes[i].name);

		if (!one || !other || !value_equal(one, other))
			return false;
	}
	return true;
}

struct str item_index_image(struct arena *arena, const struct index *index,
			    const struct value *item, struct str image)
{
	struct buf buf = buf_in(arena);

	if (index->projection == PROJECT_ALL)
		return image;
	/* both are in byte order: one merge */
	struct member *members = ARENA_ARRAY(arena, struct member, index->projected_count);
	struct value projected = {.type = TYPE_M, .members = members};
	for (size_t i = 0, k = 0; i < item->n && k < index->projected_count;) {
		int order = str_cmp(item->members[i].name, index->projected[k]);

		if (order == 0)
			members[projected.n++] = item->members[i];
		i += order <= 0;
		k += order >= 0;
	}
	image_encode(&projected, &buf);
	return buf_str(&buf);
}

struct value item_key_attributes(struct arena *arena, const struct table *table,
				 const struct index *index, struct str image)
{
	struct member *members = ARENA_ARRAY(arena, struct member, 2 * KEY_ATTRIBUTES_MAX);
	const struct key_schema *schemas[] = {&table->keys, index ? &index->keys : &table->keys};
	uint32_t n = 0;

	for (unsigned s = 0; s < (index ? 2u : 1u); s++) {
		for (unsigned i = 0; i < key_schema_count(schemas[s]); i++) {
			struct str name = schemas[s]->attributes[i].name;
			bool is_known = false;

			for (uint32_t k = 0; k < n && !is_known; k++)
				is_known = str_eq(members[k].name, name);
			if (!is_known && image_get(arena, image, name, &members[n].value) &&
			    value_is_set(&members[n].value))
				members[n++].name = name;
		}
	}
	value_sort_members(members, n, NULL);
	return (struct value){.type = TYPE_M, .n = n, .members = members};
}
