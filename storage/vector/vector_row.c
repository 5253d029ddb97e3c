#include "storage/vector/vector_row.h"

#include "core/image.h"
#include "core/key.h"
#include "core/number.h"
#include "storage/item_key.h"
#include "storage/messages.h"
#include "storage/store/row.h"
#include "storage/vector/vector_messages.h"

/* Shorter than any row's key, and before them all. */
#define VERSION_KEY ((struct str){"\0", 1})

static bool is_filter_fit(const struct vector_spec *spec, const struct value *item)
{
	for (size_t i = 0; i < spec->schema_count; i++) {
		const struct value *value = value_member(item, spec->schema[i].attribute.name);

		if (!spec->schema[i].is_hash && value &&
		    value->type != spec->schema[i].attribute.type)
			return false;
	}
	return true;
}

/* Appends the image of the projected attributes; gives its billed size. */
static void add_image(struct arena *arena, const struct index *index, const struct value *item,
		      struct buf *out)
{
	struct member *members = ARENA_ARRAY(arena, struct member, item->n);
	struct value projected = {.type = TYPE_M, .members = members};

	for (uint32_t i = 0; i < item->n; i++) {
		if (!str_eq(item->members[i].name, index->vector->attribute) &&
		    index_projects(index, item->members[i].name))
			members[projected.n++] = item->members[i];
	}
	image_encode(&projected, out);
}

struct vector_row vector_row_of(struct arena *arena, const struct table *table,
				const struct index *index, const struct value *item)
{
	const struct vector_spec *spec = index->vector;
	struct vector_row row = {STR_ABSENT, STR_ABSENT, 0};
	struct buf buf = buf_in(arena);

	if (!value_is_set(item))
		return row;
	const struct value *list = value_member(item, spec->attribute);
	if (!list || list->type != TYPE_L || list->n != spec->dimensions ||
	    !is_filter_fit(spec, item))
		return row;
	float *floats = arena_alloc(arena, spec->dimensions * sizeof(float));
	if (!vector_of_list(list, floats))
		return row;
	row.key = item_key_in_index(arena, table, index, item);
	if (!str_is_set(row.key))
		return row;
	add_image(arena, index, item, &buf);
	row.size = vector_row_size(index, buf_str(&buf));
	buf_add(&buf, floats, spec->dimensions * sizeof(float));
	row.value = buf_str(&buf);
	return row;
}

/* The number as Java writes a large one: "1E+39", "-1.25E+40". */
static struct str scientific(struct arena *arena, struct str number)
{
	struct buf plain = buf_in(arena), out = buf_in(arena);

	number_format(number, &plain);
	struct str digits = buf_str(&plain);
	if (row_at(digits, 0) == '-') {
		buf_add_byte(&out, '-');
		digits = row_behind(digits, 1);
	}
	size_t last = digits.n;
	while (last > 1 && row_at(digits, last - 1) == '0')
		last--;
	buf_add_byte(&out, row_at(digits, 0));
	if (last > 1)
		buf_printf(&out, "." STR_FMT, STR_ARG(row_behind(row_first(digits, last), 1)));
	buf_printf(&out, "E+%zu", digits.n - 1);
	return buf_str(&out);
}

static enum code check_vector(const struct index *index, const struct value *list, struct err *err)
{
	const struct vector_spec *spec = index->vector;
	float ignored;

	if (list->type != TYPE_L)
		return err_set(err, MSG_VECTOR_NOT_LIST, STR_ARG(spec->attribute),
			       STR_ARG(index->name));
	if (list->n != spec->dimensions)
		return err_set(err, MSG_VECTOR_SIZE, STR_ARG(spec->attribute), spec->dimensions,
			       list->n, STR_ARG(index->name));
	for (uint32_t i = 0; i < list->n; i++) {
		const struct value *element = &list->elements[i];

		if (element->type != TYPE_N)
			return err_set(err, MSG_VECTOR_ELEMENT, STR_ARG(spec->attribute), i,
				       type_name((enum type)element->type), STR_ARG(index->name));
		if (!vector_of_number(value_str(element), &ignored))
			return err_set(err, MSG_VECTOR_RANGE, STR_ARG(spec->attribute), i,
				       STR_ARG(scientific(err->arena, value_str(element))),
				       STR_ARG(index->name));
	}
	return OK;
}

static enum code check_element(const struct index *index, const struct search_element *element,
			       const struct value *value, bool is_update, struct err *err)
{
	const struct key_attribute *attribute = &element->attribute;

	if (value->type != attribute->type)
		return err_set(err, MSG_VECTOR_SCHEMA_TYPE, STR_ARG(attribute->name),
			       type_name(attribute->type), type_name((enum type)value->type),
			       STR_ARG(index->name));
	if (!element->is_hash)
		return OK;
	if (value->n == 0 && is_update)
		return err_set(err, MSG_INDEX_KEY_EMPTY_UPDATE,
			       value->type == TYPE_S ? "string" : "binary");
	if (value->n == 0)
		return err_set(err, MSG_INDEX_KEY_EMPTY,
			       value->type == TYPE_S ? "string" : "binary", STR_ARG(index->name),
			       STR_ARG(attribute->name));
	if (value_size(value) > PARTITION_KEY_SIZE_MAX)
		return err_set(err, MSG_PARTITION_KEY_SIZE);
	return OK;
}

/* The item's value of an attribute that is to be judged, or NULL. */
static const struct value *changed(const struct value *item, const struct value *old,
				   struct str name)
{
	const struct value *value = value_member(item, name),
			   *before = old ? value_member(old, name) : NULL;

	return value && before && value_equal(value, before) ? NULL : value;
}

enum code vector_row_check(const struct table *table, const struct value *item,
			   const struct value *old, bool is_update, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < table->indexes.vector_n; i++) {
		const struct index *index = &table->indexes.vectors[i];
		const struct value *value = changed(item, old, index->vector->attribute);

		if (!index_is_kept(index))
			continue;
		if (value)
			code = check_vector(index, value, err);
		if (code != OK)
			return code;
		for (size_t k = 0; k < index->vector->schema_count; k++) {
			const struct search_element *element = &index->vector->schema[k];

			value = changed(item, old, element->attribute.name);
			if (value)
				code = check_element(index, element, value, is_update, err);
			if (code != OK)
				return code;
		}
	}
	return OK;
}

struct str vector_row_image(const struct index *index, struct str value)
{
	struct row_reader row = row_read(value);

	(void)row_take_last(&row, index->vector->dimensions * sizeof(float));
	return !row.is_cut && row.rest.n > 0 ? row.rest : STR_ABSENT;
}

void vector_row_floats(const struct index *index, struct str value, float *out)
{
	struct row_reader row = row_read(value);
	struct str floats = row_take_last(&row, index->vector->dimensions * sizeof(float));

	memcpy(out, floats.p, floats.n); /* little-endian hosts, as the table records */
}

size_t vector_row_size(const struct index *index, struct str image)
{
	return 4 * (size_t)index->vector->dimensions + index->vector->attribute.n +
	       image_item_size(image);
}

size_t vector_row_billed_size(const struct table *table, const struct value *item, size_t size)
{
	for (size_t i = 0; i < table->indexes.vector_n && value_is_set(item); i++) {
		const struct vector_spec *spec = table->indexes.vectors[i].vector;
		const struct value *list = value_member(item, spec->attribute);
		bool is_known = !index_is_kept(&table->indexes.vectors[i]);

		for (size_t k = 0; k < i && !is_known; k++)
			is_known = index_is_kept(&table->indexes.vectors[k]) &&
				   str_eq(table->indexes.vectors[k].vector->attribute,
					  spec->attribute);
		if (!is_known && list && list->type == TYPE_L && list->n == spec->dimensions)
			size = size - value_size(list) + 4 * (size_t)spec->dimensions;
	}
	return size;
}

size_t vector_row_read_size(const struct table *table, struct arena *scratch, struct str image)
{
	size_t size = image_item_size(image);
	struct value item;

	if (table->indexes.vector_n == 0 || !str_is_set(image) ||
	    !image_decode(scratch, image, &item))
		return size;
	return vector_row_billed_size(table, &item, size);
}

struct store_range vector_row_range(void)
{
	return (struct store_range){{"\0\0", 2}, STR_ABSENT, false};
}

struct store_range vector_row_partition(struct arena *arena, const struct table *table,
					const struct value *hash)
{
	struct buf prefix = buf_in(arena);

	key_add_partition(&prefix, table->hash, &hash, 1);
	return (struct store_range){buf_str(&prefix), key_after_prefix(arena, buf_str(&prefix)),
				    false};
}

/* FNV-1a over the seed and the key, from the chain so far. */
uint64_t vector_row_chain(uint64_t chain, uint64_t seed, struct str key)
{
	uint64_t hash = (chain ^ seed) * 0x9E3779B97F4A7C15u;

	for (size_t i = 0; i < key.n; i++)
		hash = (hash ^ (uint64_t)row_at(key, i)) * 0x100000001B3u;
	return hash ^ hash >> 29;
}

bool vector_row_is_version(struct str key)
{
	return str_eq(key, VERSION_KEY);
}

enum code vector_row_version(struct store_txn *txn, struct arena *arena, struct keyspace keyspace,
			     struct vector_version *version, struct err *err)
{
	struct str value;
	enum code code = store_get(txn, keyspace, VERSION_KEY, arena, &value, err);

	*version = (struct vector_version){0, 0};
	if (code != OK || !str_is_set(value))
		return code;
	struct row_reader row = row_read(value);
	version->number = row_u64(&row);
	if (row.rest.n > 0) /* 0.1.0 had no chain */
		version->chain = row_u64(&row);
	return row_is_whole(&row) ? OK : row_malformed(err, keyspace, VERSION_KEY);
}

enum code vector_row_next_version(struct store_txn *txn, struct arena *arena,
				  struct keyspace keyspace, uint64_t seed, struct str key,
				  struct vector_version *version, struct err *err)
{
	struct buf value = buf_in(arena);
	enum code code = vector_row_version(txn, arena, keyspace, version, err);

	if (code != OK)
		return code;
	*version = (struct vector_version){version->number + 1,
					   vector_row_chain(version->chain, seed, key)};
	buf_add_be64(&value, version->number);
	buf_add_be64(&value, version->chain);
	return store_put(txn, keyspace, VERSION_KEY, buf_str(&value), err);
}
