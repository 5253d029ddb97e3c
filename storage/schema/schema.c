#include "storage/schema/schema_internal.h"

#include <stdlib.h>

#include "storage/schema/stream_state.h"

#define TABLE_ARENA_KEEP                                                                           \
	4096 /* most tables take less: a server may have many, and those of a day whose streams    \
		are kept */

static bool is_same(struct str a, struct str b)
{
	return str_is_set(a) == str_is_set(b) && str_eq(a, b);
}

static bool is_group_alike(const struct table_group *a, const struct table_group *b)
{
	bool is_alike = is_same(a->id, b->id) && a->is_strong == b->is_strong &&
			is_same(a->filling, b->filling) && is_same(a->witness, b->witness) &&
			a->n == b->n;

	for (size_t i = 0; i < a->n && is_alike; i++)
		is_alike = str_eq(a->v[i].region, b->v[i].region);
	return is_alike;
}

bool table_is_alike(const struct table *a, const struct table *b)
{
	bool is_alike = a->indexes.n == b->indexes.n &&
			a->indexes.vector_n == b->indexes.vector_n &&
			a->streams.view == b->streams.view && a->log.reasons == b->log.reasons &&
			a->ttl.is_enabled == b->ttl.is_enabled &&
			str_eq(a->ttl.attribute, b->ttl.attribute);

	for (size_t i = 0; i < table_index_total(a) && is_alike; i++) {
		const struct index *own = table_index_at(a, i), *other = table_index_at(b, i);

		is_alike = own->number == other->number &&
			   index_is_kept(own) == index_is_kept(other) &&
			   own->is_backfilling == other->is_backfilling;
	}
	return is_alike && is_group_alike(&a->group, &b->group);
}

const struct group_member *table_member(const struct table *table, struct str region)
{
	for (size_t i = 0; i < table->group.n; i++) {
		if (str_eq(table->group.v[i].region, region))
			return &table->group.v[i];
	}
	return NULL;
}

void table_remove_member(struct table *table, struct str region)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->group.n; i++) {
		if (!str_eq(table->group.v[i].region, region))
			table->group.v[kept++] = table->group.v[i];
	}
	table->group.n = kept;
	if (kept == 0)
		table->group = (struct table_group){.id = STR_ABSENT};
}

/* Settings of one kind, all zero. */
static void *new_settings(struct arena *arena, const struct record *record)
{
	return record ? arena_calloc(arena, 1, record->size) : NULL;
}

static void *copy_settings(struct arena *arena, const struct record *record, const void *settings)
{
	return settings ? record_copies(arena, record, settings, 1) : NULL;
}

struct index_settings *table_index_settings(const struct table *table)
{
	return new_settings(table->arena, table->records ? table->records->index : NULL);
}

struct stream_settings *table_stream_settings(const struct table *table)
{
	return new_settings(table->arena, table->records ? table->records->stream : NULL);
}

struct table *table_new(const struct settings_records *records)
{
	struct arena *arena = arena_new(TABLE_ARENA_KEEP);
	struct table *table = ARENA_NEW(arena, struct table);

	atomic_init(&table->refs, 1);
	table->arena = arena;
	table->tally = tally_new();
	table->streams.state = stream_state_new();
	table->records = records;
	table->settings = new_settings(arena, records ? records->table : NULL);
	return table;
}

struct table *table_ref(struct table *table)
{
	atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
	return table;
}

void table_unref(struct table *table)
{
	if (!table || atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) != 1)
		return;
	tally_unref(table->tally);
	stream_state_unref(table->streams.state);
	arena_free(table->arena);
}

static struct str *copy_strings(struct arena *arena, const struct str *strings, size_t n)
{
	struct str *copy = ARENA_ARRAY(arena, struct str, n);

	for (size_t i = 0; i < n; i++)
		copy[i] = str_copy(arena, strings[i]);
	return copy;
}

static void copy_keys(struct arena *arena, struct key_schema *keys)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++)
		keys->attributes[i].name = str_copy(arena, keys->attributes[i].name);
}

static struct vector_spec *copy_vector(struct arena *arena, const struct vector_spec *spec)
{
	struct vector_spec *copy = ARENA_NEW(arena, struct vector_spec);

	*copy = *spec;
	copy->attribute = str_copy(arena, spec->attribute);
	copy->schema = ARENA_ARRAY(arena, struct search_element, spec->schema_count);
	for (size_t i = 0; i < spec->schema_count; i++) {
		copy->schema[i] = spec->schema[i];
		copy->schema[i].attribute.name = str_copy(arena, spec->schema[i].attribute.name);
	}
	return copy;
}

static struct index *copy_index_list(const struct table *copy, const struct index *indexes,
				     size_t n)
{
	struct index *copies = record_copies(copy->arena, &index_record, indexes, n);

	for (size_t i = 0; i < n; i++) {
		struct index *index = &copies[i];

		copy_keys(copy->arena, &index->keys);
		index->projected =
			copy_strings(copy->arena, index->projected, index->projected_count);
		if (index->vector)
			index->vector = copy_vector(copy->arena, index->vector);
		index->settings = copy_settings(
			copy->arena, copy->records ? copy->records->index : NULL, index->settings);
	}
	return copies;
}

struct table *table_clone(const struct table *table)
{
	struct arena *arena = arena_new(TABLE_ARENA_KEEP);
	struct table *copy = ARENA_NEW(arena, struct table);
	const struct settings_records *records = table->records;

	memcpy((void *)copy, (const void *)table, sizeof(*copy));
	atomic_init(&copy->refs, 1);
	copy->arena = arena;
	record_copy(arena, &table_record, copy);
	copy_keys(arena, &copy->keys);
	copy->streams.v = record_copies(arena, &stream_record, table->streams.v, table->streams.n);
	copy->indexes.v = copy_index_list(copy, table->indexes.v, table->indexes.n);
	copy->indexes.vectors =
		copy_index_list(copy, table->indexes.vectors, table->indexes.vector_n);
	copy->settings = copy_settings(arena, records ? records->table : NULL, table->settings);
	for (size_t i = 0; i < table->streams.n; i++)
		copy->streams.v[i].settings = copy_settings(arena, records ? records->stream : NULL,
							    table->streams.v[i].settings);
	stream_state_ref(copy->streams.state);
	tally_ref(copy->tally);
	return copy;
}

struct table *table_clone_apart(const struct table *table)
{
	struct table *copy = table_clone(table);

	tally_unref(copy->tally);
	stream_state_unref(copy->streams.state);
	copy->tally = tally_new();
	copy->streams = (struct table_streams){.label = STR_ABSENT, .state = stream_state_new()};
	copy->log = (struct table_log){0};
	return copy;
}

void table_adopt(struct table *next, const struct table *known)
{
	if (next->currency.epoch != known->currency.epoch)
		return;
	tally_replace(&next->tally, known->tally);
	stream_state_ref(known->streams.state);
	stream_state_unref(next->streams.state);
	next->streams.state = known->streams.state;
}

const struct index *table_index(const struct table *table, struct str name)
{
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (str_eq(table->indexes.v[i].name, name))
			return &table->indexes.v[i];
	}
	return NULL;
}

const struct index *table_vector(const struct table *table, struct str name)
{
	for (size_t i = 0; i < table->indexes.vector_n; i++) {
		if (str_eq(table->indexes.vectors[i].name, name))
			return &table->indexes.vectors[i];
	}
	return NULL;
}

const struct index *table_index_numbered(const struct table *table, uint32_t number)
{
	for (size_t i = 0; i < table_index_total(table); i++) {
		if (table_index_at(table, i)->number == number)
			return table_index_at(table, i);
	}
	return NULL;
}

static void add_keys(const struct key_schema *keys, struct str *names, size_t *n)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++)
		names[(*n)++] = keys->attributes[i].name;
}

/* A vector index's partition key is its HASH element. */
static void derive_vector_keys(struct index *index)
{
	index->keys = (struct key_schema){0};
	for (size_t i = 0; i < index->vector->schema_count; i++) {
		if (index->vector->schema[i].is_hash)
			index->keys.attributes[index->keys.hash_count++] =
				index->vector->schema[i].attribute;
	}
}

void table_index_derive(struct table *table, struct index *index)
{
	size_t schema_count = index->vector ? index->vector->schema_count : 0;
	struct str *names =
		ARENA_ARRAY(table->arena, struct str,
			    index->included_count + schema_count + 2 * KEY_ATTRIBUTES_MAX);
	size_t n = 0, unique = 0;

	if (index->vector)
		derive_vector_keys(index);
	for (size_t i = 0; i < schema_count; i++)
		names[n++] = index->vector->schema[i].attribute.name;
	add_keys(&table->keys, names, &n);
	add_keys(&index->keys, names, &n);
	for (size_t i = 0; i < index->included_count; i++)
		names[n++] = index->included[i];
	qsort(names, n, sizeof(*names), str_order);
	for (size_t i = 0; i < n; i++) {
		if (unique == 0 || !str_eq(names[unique - 1], names[i]))
			names[unique++] = names[i];
	}
	index->projected = names;
	index->projected_count = unique;
}

struct str table_arn(struct arena *arena, const struct table *table)
{
	return str_printf(arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
			  STR_ARG(table->identity.region), STR_ARG(table->identity.account),
			  STR_ARG(table->identity.name));
}

bool index_projects(const struct index *index, struct str attribute)
{
	return index->projection == PROJECT_ALL ||
	       bsearch(&attribute, index->projected, index->projected_count, sizeof(attribute),
		       str_order);
}
