#include "storage/schema/schema.h"

#include "core/image.h"
#include "core/number.h"
#include "storage/messages.h"

#define RECORD_VERSION 1
#define RECORD_VERSION_VECTORS 2 /* with vector indexes: a server that would not maintain them must not open it */
#define RECORD_VERSION_HASH 3    /* with the member hash: a server that knows one hash only would look for its rows elsewhere */

/*
 * The record is an item: fields are read by name, so that later versions can add some. The tables below say which.
 */
enum field_kind { FIELD_STR, FIELD_INT, FIELD_BOOL };

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset, size;
};

#define FIELD(type, member, kind) {#member, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member)}
#define PAIR(type, member)                                                                                                       \
	{#member ".set", FIELD_BOOL, offsetof(struct type, member.is_set), sizeof(bool)},                                         \
		{#member ".read", FIELD_INT, offsetof(struct type, member.read), sizeof(int64_t)},                                \
		{#member ".write", FIELD_INT, offsetof(struct type, member.write), sizeof(int64_t)}
#define THROUGHPUT(type)                                                                                                         \
	{"throughput.read", FIELD_INT, offsetof(struct type, throughput.read), sizeof(int64_t)},                                  \
		{"throughput.write", FIELD_INT, offsetof(struct type, throughput.write), sizeof(int64_t)},                        \
		{"throughput.decreases", FIELD_INT, offsetof(struct type, throughput.decreases_today), sizeof(int64_t)},          \
		{"throughput.increased", FIELD_INT, offsetof(struct type, throughput.last_increase_ms), sizeof(int64_t)},         \
		{"throughput.decreased", FIELD_INT, offsetof(struct type, throughput.last_decrease_ms), sizeof(int64_t)}

#define INSIGHTS(type)                                                                                                           \
	{"insights.enabled", FIELD_BOOL, offsetof(struct type, insights.is_enabled), sizeof(bool)},                               \
		{"insights.throttled", FIELD_BOOL, offsetof(struct type, insights.is_throttled_only), sizeof(bool)},              \
		{"insights.since", FIELD_INT, offsetof(struct type, insights.since_ms), sizeof(int64_t)},                         \
		{"insights.changed", FIELD_INT, offsetof(struct type, insights.changed_ms), sizeof(int64_t)},                     \
		{"insights.settles", FIELD_INT, offsetof(struct type, insights.settles_ms), sizeof(int64_t)}
#define POLICY(member, name)                                                                                                     \
	{name, FIELD_STR, offsetof(struct table, member.text), sizeof(struct str)},                                               \
		{name ".revision", FIELD_INT, offsetof(struct table, member.revision), sizeof(int64_t)}

static const struct field table_fields[] = {
	FIELD(table, account, FIELD_STR), FIELD(table, region, FIELD_STR), FIELD(table, name, FIELD_STR), FIELD(table, number, FIELD_INT),
	FIELD(table, id, FIELD_STR), FIELD(table, created_ms, FIELD_INT), FIELD(table, status, FIELD_INT), FIELD(table, settles_ms, FIELD_INT),
	FIELD(table, billing, FIELD_INT), FIELD(table, on_demand_since_ms, FIELD_INT), FIELD(table, stream_view, FIELD_INT),
	FIELD(table, next_index, FIELD_INT), FIELD(table, hash, FIELD_INT), FIELD(table, stream_label, FIELD_STR), FIELD(table, table_class, FIELD_STR),
	FIELD(table, class_changed_ms, FIELD_INT), FIELD(table, replication_mode, FIELD_STR),
	FIELD(table, is_deletion_protected, FIELD_BOOL), FIELD(table, sse_enabled, FIELD_BOOL),
	FIELD(table, sse_key, FIELD_STR), POLICY(policy, "resource_policy"), POLICY(stream_policy, "stream_policy"),
	INSIGHTS(table), FIELD(table, recovery_days, FIELD_INT), FIELD(table, recovery_since_ms, FIELD_INT),
	FIELD(table, is_ttl_enabled, FIELD_BOOL), FIELD(table, ttl_attribute, FIELD_STR), FIELD(table, ttl_changed_ms, FIELD_INT),
	FIELD(table, ttl_settles_ms, FIELD_INT), THROUGHPUT(table), PAIR(table, on_demand), PAIR(table, warm),
};

static const struct field index_fields[] = {
	FIELD(index, name, FIELD_STR), FIELD(index, is_local, FIELD_BOOL), FIELD(index, number, FIELD_INT), FIELD(index, projection, FIELD_INT),
	FIELD(index, status, FIELD_INT), FIELD(index, is_backfilling, FIELD_BOOL), FIELD(index, settles_ms, FIELD_INT),
	THROUGHPUT(index), PAIR(index, on_demand), PAIR(index, warm), INSIGHTS(index),
};

static const struct field destination_fields[] = {
	FIELD(destination, stream_arn, FIELD_STR), FIELD(destination, is_enabled, FIELD_BOOL), FIELD(destination, is_updated, FIELD_BOOL),
	FIELD(destination, precision, FIELD_INT), FIELD(destination, settles_ms, FIELD_INT),
};

static const struct field moment_fields[] = {
	FIELD(moment, what, FIELD_STR), FIELD(moment, subject, FIELD_STR), FIELD(moment, at_ms, FIELD_INT),
};

static const struct field stream_fields[] = {
	FIELD(stream, label, FIELD_STR), FIELD(stream, number, FIELD_INT), FIELD(stream, view, FIELD_INT), FIELD(stream, created_ms, FIELD_INT),
	FIELD(stream, disabled_ms, FIELD_INT),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXTRA_MAX 12 /* members besides the fields */

/* A record, or a map in it, as it is built. */
struct builder {
	struct arena *arena;
	struct member *members;
	uint32_t n;
};

static void add_member(struct builder *builder, const char *name, struct value value)
{
	builder->members[builder->n++] = (struct member){str_of(name), value};
}

static struct value int_value(struct arena *arena, int64_t value)
{
	char *bytes = arena_bytes(arena, NUMBER_MAX);

	return value_of_str(TYPE_N, (struct str){bytes, number_from_int(value, bytes)});
}

static struct value finish(struct builder *builder)
{
	value_sort_members(builder->members, builder->n, NULL);
	return (struct value){.type = TYPE_M, .n = builder->n, .members = builder->members};
}

static struct builder start(struct arena *arena, const struct field *fields, size_t n, const void *object)
{
	struct builder builder = {arena, ARENA_ARRAY(arena, struct member, n + EXTRA_MAX), 0};

	for (size_t i = 0; i < n; i++) {
		const char *at = (const char *)object + fields[i].offset;
		int64_t number = 0;

		if (fields[i].kind == FIELD_STR) {
			struct str s;

			memcpy(&s, at, sizeof(s));
			if (str_is_set(s))
				add_member(&builder, fields[i].name, value_of_str(TYPE_S, s));
		} else if (fields[i].kind == FIELD_BOOL) {
			add_member(&builder, fields[i].name, (struct value){.type = TYPE_BOOL, .boolean = *(const bool *)at});
		} else {
			memcpy(&number, at, fields[i].size); /* little-endian hosts: enough for those we build for */
			add_member(&builder, fields[i].name, int_value(arena, number));
		}
	}
	return builder;
}

static struct value string_list(struct arena *arena, const struct str *strings, size_t n)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, n);

	for (size_t i = 0; i < n; i++)
		elements[i] = value_of_str(TYPE_S, strings[i]);
	return (struct value){.type = TYPE_L, .n = (uint32_t)n, .elements = elements};
}

/* Key, value, key, value, ... */
static struct value tag_list(struct arena *arena, const struct tag_set *tags)
{
	struct str *strings = ARENA_ARRAY(arena, struct str, 2 * tags->n);

	for (size_t i = 0; i < tags->n; i++) {
		strings[2 * i] = tags->v[i].key;
		strings[2 * i + 1] = tags->v[i].value;
	}
	return string_list(arena, strings, 2 * tags->n);
}

/* Name, type, name, type, ... */
static struct value attribute_list(struct arena *arena, const struct key_attribute *attributes, size_t n)
{
	struct str *strings = ARENA_ARRAY(arena, struct str, 2 * n);

	for (size_t i = 0; i < n; i++) {
		strings[2 * i] = attributes[i].name;
		strings[2 * i + 1] = str_of(type_name(attributes[i].type));
	}
	return string_list(arena, strings, 2 * n);
}

static void add_keys_member(struct builder *builder, const struct key_schema *keys)
{
	add_member(builder, "keys", attribute_list(builder->arena, keys->attributes, key_schema_count(keys)));
	add_member(builder, "hash_count", int_value(builder->arena, keys->hash_count));
}

/* Name, type, "HASH" or "INLINE_FILTER", name, ... */
static struct value schema_list(struct arena *arena, const struct vector_spec *spec)
{
	struct str *strings = ARENA_ARRAY(arena, struct str, 3 * spec->schema_count);

	for (size_t i = 0; i < spec->schema_count; i++) {
		strings[3 * i] = spec->schema[i].attribute.name;
		strings[3 * i + 1] = str_of(type_name(spec->schema[i].attribute.type));
		strings[3 * i + 2] = spec->schema[i].is_hash ? STR("HASH") : STR("INLINE_FILTER");
	}
	return string_list(arena, strings, 3 * spec->schema_count);
}

static struct value index_record(struct arena *arena, const struct index *index)
{
	struct builder builder = start(arena, index_fields, COUNT(index_fields), index);

	if (index->vector) {
		add_member(&builder, "attribute", value_of_str(TYPE_S, index->vector->attribute));
		add_member(&builder, "dimensions", int_value(arena, index->vector->dimensions));
		add_member(&builder, "distance", int_value(arena, index->vector->distance));
		add_member(&builder, "schema", schema_list(arena, index->vector));
	} else {
		add_keys_member(&builder, &index->keys);
	}
	add_member(&builder, "included", string_list(arena, index->included, index->included_count));
	return finish(&builder);
}

static struct value destination_list(struct arena *arena, const struct table *table)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, table->destination_count);

	for (size_t i = 0; i < table->destination_count; i++) {
		struct builder builder = start(arena, destination_fields, COUNT(destination_fields), &table->destinations[i]);

		elements[i] = finish(&builder);
	}
	return (struct value){.type = TYPE_L, .n = (uint32_t)table->destination_count, .elements = elements};
}

static struct value moment_list(struct arena *arena, const struct table *table)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, table->moment_count);

	for (size_t i = 0; i < table->moment_count; i++) {
		const struct moment *moment = &table->moments[i];
		struct builder builder = start(arena, moment_fields, COUNT(moment_fields), moment);

		add_member(&builder, "before", string_list(arena, moment->before, moment->before_count));
		elements[i] = finish(&builder);
	}
	return (struct value){.type = TYPE_L, .n = (uint32_t)table->moment_count, .elements = elements};
}

static int64_t record_version(const struct table *table)
{
	if (table->hash != KEY_HASH_FNV)
		return RECORD_VERSION_HASH;
	return table->vector_count ? RECORD_VERSION_VECTORS : RECORD_VERSION;
}

struct str table_encode(struct arena *arena, const struct table *table)
{
	struct builder builder = start(arena, table_fields, COUNT(table_fields), table);
	struct value *indexes = ARENA_ARRAY(arena, struct value, table->index_count);
	struct value *streams = ARENA_ARRAY(arena, struct value, table->stream_count);
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < table->index_count; i++)
		indexes[i] = index_record(arena, &table->indexes[i]);
	for (size_t i = 0; i < table->stream_count; i++) {
		struct builder stream = start(arena, stream_fields, COUNT(stream_fields), &table->streams[i]);

		if (table->streams[i].tags.n > 0)
			add_member(&stream, "tags", tag_list(arena, &table->streams[i].tags));
		streams[i] = finish(&stream);
	}
	add_keys_member(&builder, &table->keys);
	add_member(&builder, "version", int_value(arena, record_version(table)));
	if (table->vector_count) {
		struct value *vectors = ARENA_ARRAY(arena, struct value, table->vector_count);

		for (size_t i = 0; i < table->vector_count; i++)
			vectors[i] = index_record(arena, &table->vectors[i]);
		add_member(&builder, "vectors", (struct value){.type = TYPE_L, .n = (uint32_t)table->vector_count, .elements = vectors});
	}
	add_member(&builder, "definitions", attribute_list(arena, table->definitions, table->definition_count));
	add_member(&builder, "indexes", (struct value){.type = TYPE_L, .n = (uint32_t)table->index_count, .elements = indexes});
	add_member(&builder, "streams", (struct value){.type = TYPE_L, .n = (uint32_t)table->stream_count, .elements = streams});
	add_member(&builder, "destinations", destination_list(arena, table));
	if (table->moment_count)
		add_member(&builder, "moments", moment_list(arena, table));
	add_member(&builder, "tags", tag_list(arena, &table->tags));
	struct value record = finish(&builder);
	image_encode(&record, &buf);
	return buf_str(&buf);
}

static int64_t read_int(const struct value *map, const char *name, bool *ok)
{
	const struct value *value = value_member(map, str_of(name));
	int64_t number = 0;

	if (!value || value->type != TYPE_N || !number_to_int(value_str(value), &number))
		*ok = false;
	return number;
}

/* Fields that the record lacks stay zero. */
static void read_fields(struct arena *arena, const struct field *fields, size_t n, const struct value *map, void *object, bool *ok)
{
	for (size_t i = 0; i < n; i++) {
		const struct value *value = value_member(map, str_of(fields[i].name));
		char *at = (char *)object + fields[i].offset;

		if (!value)
			continue;
		if (fields[i].kind == FIELD_STR) {
			struct str s = value->type == TYPE_S ? str_copy(arena, value_str(value)) : STR_ABSENT;

			*ok = *ok && str_is_set(s);
			memcpy(at, &s, sizeof(s));
		} else if (fields[i].kind == FIELD_BOOL) {
			*ok = *ok && value->type == TYPE_BOOL;
			*(bool *)at = value->boolean;
		} else {
			int64_t number = read_int(map, fields[i].name, ok);

			if (fields[i].size < sizeof(number) && (number < 0 || number >> (8 * fields[i].size)))
				*ok = false;
			memcpy(at, &number, fields[i].size);
		}
	}
}

static const struct value *read_list(const struct value *map, const char *name, bool *ok)
{
	static const struct value empty = {.type = TYPE_L};
	const struct value *list = value_member(map, str_of(name));

	if (list && list->type == TYPE_L)
		return list;
	*ok = false;
	return &empty;
}

static struct str *read_strings(struct arena *arena, const struct value *map, const char *name, size_t *n, bool *ok)
{
	const struct value *list = read_list(map, name, ok);
	struct str *strings = ARENA_ARRAY(arena, struct str, list->n);

	for (uint32_t i = 0; i < list->n; i++) {
		*ok = *ok && list->elements[i].type == TYPE_S;
		strings[i] = *ok ? str_copy(arena, value_str(&list->elements[i])) : STR_ABSENT;
	}
	*n = *ok ? list->n : 0;
	return strings;
}

static struct tag_set read_tags(struct arena *arena, const struct value *map, bool *ok)
{
	size_t n;
	struct str *strings = read_strings(arena, map, "tags", &n, ok);
	struct tag_set tags = {n / 2, ARENA_ARRAY(arena, struct tag, n / 2)};

	for (size_t i = 0; i < tags.n; i++)
		tags.v[i] = (struct tag){strings[2 * i], strings[2 * i + 1]};
	return tags;
}

static size_t read_attributes(struct arena *arena, const struct value *map, const char *name, struct key_attribute **out, bool *ok)
{
	size_t n;
	struct str *strings = read_strings(arena, map, name, &n, ok);

	*out = ARENA_ARRAY(arena, struct key_attribute, n / 2);
	for (size_t i = 0; i < n / 2; i++)
		(*out)[i] = (struct key_attribute){strings[2 * i], type_of_name(strings[2 * i + 1])};
	return n / 2;
}

static void read_keys(struct arena *arena, const struct value *map, struct key_schema *keys, bool *ok)
{
	struct key_attribute *attributes;
	size_t n = read_attributes(arena, map, "keys", &attributes, ok);
	int64_t hash_count = read_int(map, "hash_count", ok);

	if (n == 0 || n > KEY_ATTRIBUTES_MAX || hash_count < 1 || (size_t)hash_count > n) {
		*ok = false;
		return;
	}
	memcpy(keys->attributes, attributes, n * sizeof(*attributes));
	keys->hash_count = (unsigned)hash_count;
	keys->range_count = (unsigned)(n - (size_t)hash_count);
}

static struct vector_spec *read_vector(struct arena *arena, const struct value *map, bool *ok)
{
	struct vector_spec *spec = ARENA_NEW(arena, struct vector_spec);
	const struct value *attribute = value_member(map, STR("attribute"));
	int64_t dimensions = read_int(map, "dimensions", ok), distance = read_int(map, "distance", ok);
	size_t n;
	struct str *strings = read_strings(arena, map, "schema", &n, ok);

	if (!*ok || !attribute || attribute->type != TYPE_S || dimensions < 1 || dimensions > VECTOR_DIMENSIONS_MAX || distance < 0 ||
	    distance > DISTANCE_DOT_PRODUCT || n % 3 || n / 3 > 1 + VECTOR_FILTERS_MAX) {
		*ok = false;
		return spec;
	}
	spec->attribute = str_copy(arena, value_str(attribute));
	spec->dimensions = (uint32_t)dimensions;
	spec->distance = (enum vector_distance)distance;
	spec->schema = ARENA_ARRAY(arena, struct search_element, n / 3);
	for (size_t i = 0; i < n / 3; i++) {
		bool is_hash = str_eq(strings[3 * i + 2], STR("HASH"));

		spec->schema[spec->schema_count++] =
			(struct search_element){{strings[3 * i], type_of_name(strings[3 * i + 1])}, is_hash};
	}
	return spec;
}

/* One kind of indexes; a record without vector indexes has no list of them. */
static struct index *read_indexes(struct table *table, const struct value *record, const char *name, size_t *count, bool *ok)
{
	bool is_vector = strcmp(name, "vectors") == 0;
	const struct value *list = is_vector && !value_member(record, str_of(name)) ? &VALUE_NONE : read_list(record, name, ok);
	struct index *indexes = ARENA_ARRAY(table->arena, struct index, list->n);

	for (uint32_t i = 0; i < list->n && *ok; i++) {
		struct index *index = &indexes[i];
		const struct value *map = &list->elements[i];

		if (map->type != TYPE_M) {
			*ok = false;
			break;
		}
		read_fields(table->arena, index_fields, COUNT(index_fields), map, index, ok);
		if (is_vector)
			index->vector = read_vector(table->arena, map, ok);
		else
			read_keys(table->arena, map, &index->keys, ok);
		index->included = read_strings(table->arena, map, "included", &index->included_count, ok);
		index->size = size_counter_new();
		table_index_settle(table, index);
		if (table->next_index <= index->number) /* a record from before the field */
			table->next_index = index->number + 1;
		++*count;
	}
	return indexes;
}

/* A record from before streams were kept has no list of them: nothing was ever written to the stream that it speaks of. */
static void read_streams(struct table *table, const struct value *record, bool *ok)
{
	if (!value_member(record, STR("streams"))) {
		table->stream_view = STREAM_OFF;
		table->stream_label = STR_ABSENT;
		return;
	}
	const struct value *list = read_list(record, "streams", ok);

	table->streams = ARENA_ARRAY(table->arena, struct stream, list->n);
	for (uint32_t i = 0; i < list->n && *ok; i++) {
		*ok = list->elements[i].type == TYPE_M;
		if (*ok)
			read_fields(table->arena, stream_fields, COUNT(stream_fields), &list->elements[i], &table->streams[i], ok);
		if (*ok && value_member(&list->elements[i], STR("tags")))
			table->streams[i].tags = read_tags(table->arena, &list->elements[i], ok);
		table->stream_count++;
	}
}

/* A record from before there were destinations has none. */
static void read_destinations(struct table *table, const struct value *record, bool *ok)
{
	const struct value *list = value_member(record, STR("destinations"));

	if (!list)
		return;
	*ok = *ok && list->type == TYPE_L;
	table->destinations = *ok ? ARENA_ARRAY(table->arena, struct destination, list->n) : NULL;
	for (uint32_t i = 0; *ok && i < list->n; i++) {
		*ok = list->elements[i].type == TYPE_M;
		if (*ok)
			read_fields(table->arena, destination_fields, COUNT(destination_fields), &list->elements[i],
				    &table->destinations[table->destination_count++], ok);
	}
}

static void read_moments(struct table *table, const struct value *record, bool *ok)
{
	const struct value *list = value_member(record, STR("moments"));

	if (!list)
		return;
	*ok = *ok && list->type == TYPE_L;
	table->moments = *ok ? ARENA_ARRAY(table->arena, struct moment, list->n) : NULL;
	for (uint32_t i = 0; *ok && i < list->n; i++) {
		struct moment *moment = &table->moments[table->moment_count++];

		*ok = list->elements[i].type == TYPE_M;
		if (!*ok)
			break;
		read_fields(table->arena, moment_fields, COUNT(moment_fields), &list->elements[i], moment, ok);
		moment->before = read_strings(table->arena, &list->elements[i], "before", &moment->before_count, ok);
	}
}

enum code table_decode(struct str record, struct table **out, struct err *err)
{
	struct table *table = table_new();
	struct arena *scratch = arena_new(0);
	struct value map;
	bool ok = image_decode(scratch, record, &map);

	if (ok && read_int(&map, "version", &ok) > RECORD_VERSION_HASH)
		ok = false;
	if (ok) {
		read_fields(table->arena, table_fields, COUNT(table_fields), &map, table, &ok);
		read_keys(table->arena, &map, &table->keys, &ok);
		table->definition_count = read_attributes(table->arena, &map, "definitions", &table->definitions, &ok);
		table->tags = read_tags(table->arena, &map, &ok);
		table->indexes = read_indexes(table, &map, "indexes", &table->index_count, &ok);
		table->vectors = read_indexes(table, &map, "vectors", &table->vector_count, &ok);
		read_streams(table, &map, &ok);
		read_destinations(table, &map, &ok);
		read_moments(table, &map, &ok);
		ok = ok && table->hash <= KEY_HASH_MD5; /* absent from records of version 0.1.0: KEY_HASH_FNV */
		if (str_is_set(table->policy.text) && table->policy.revision == 0) /* a record from before the field */
			table->policy.revision = table->created_ms;
	}
	arena_free(scratch);
	if (!ok) {
		table_unref(table);
		return err_set(err, MSG_RECORD_MALFORMED);
	}
	*out = table;
	return OK;
}
