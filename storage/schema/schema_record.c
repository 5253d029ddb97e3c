#include "storage/schema/schema_internal.h"

#include "core/image.h"
#include "core/number.h"
#include "storage/messages.h"
#include "storage/schema/stream_state.h"

#define RECORD_VERSION 1
#define RECORD_VERSION_VECTORS                                                                     \
	2 /* with vector indexes: a server that would not maintain them must not open it */
#define RECORD_VERSION_HASH                                                                        \
	3 /* with the member hash: a server that knows one hash only would look for its rows       \
	     elsewhere */
#define RECORD_VERSION_GROUP                                                                       \
	4 /* a replica of a global table: a server that would not replicate must not write to it   \
	   */
#define RECORD_VERSION_SHARDS                                                                      \
	5 /* a stream with several open shards: a server that appends to one would mix up their    \
	     order */
#define RECORD_VERSION_REFERENCES                                                                  \
	6 /* an index by reference: a server that reads copies only would find none */
#define EXTRA_MAX 14             /* members besides the fields */

#define TEXT(type, member) RECORD_FIELD(type, member, #member, FIELD_STR)
#define NUMBER(type, member) RECORD_FIELD(type, member, #member, FIELD_INT)
#define FLAG(type, member) RECORD_FIELD(type, member, #member, FIELD_BOOL)

static const struct field member_fields[] = {
	TEXT(group_member, region), TEXT(group_member, source), NUMBER(group_member, added_ms),
};
static const struct record member_record = RECORD(group_member, member_fields);

#define OF_TABLE(member, name, kind) RECORD_FIELD(table, member, name, kind)
static const struct field table_fields[] = {
	OF_TABLE(identity.account, "account", FIELD_STR),
	OF_TABLE(identity.region, "region", FIELD_STR),
	OF_TABLE(identity.name, "name", FIELD_STR),
	OF_TABLE(identity.number, "number", FIELD_INT),
	OF_TABLE(identity.id, "id", FIELD_STR),
	OF_TABLE(identity.created_ms, "created_ms", FIELD_INT),
	OF_TABLE(currency.version, "change", FIELD_INT), /* "version" is the record's own */
	OF_TABLE(currency.layout, "layout", FIELD_INT),
	OF_TABLE(currency.epoch, "epoch", FIELD_INT),
	RECORD_ENUM(table, hash, "hash", KEY_HASH_MD5),
	RECORD_ENUM(table, indexes.next, "next_index", INDEX_NUMBER_MAX + 1),
	RECORD_ENUM(table, state.status, "status", STATUS_DELETING),
	OF_TABLE(state.settles_ms, "settles_ms", FIELD_INT),
	OF_TABLE(state.job, "status_job", FIELD_STR),
	RECORD_ENUM(table, streams.view, "stream_view", STREAM_NEW_AND_OLD_IMAGES),
	OF_TABLE(streams.label, "stream_label", FIELD_STR),
	OF_TABLE(log.reasons, "log_reasons", FIELD_INT),
	OF_TABLE(log.is_there, "log_is_there", FIELD_BOOL),
	OF_TABLE(log.keep_ms, "log_keep_ms", FIELD_INT),
	OF_TABLE(log.since_ms, "log_since_ms", FIELD_INT),
	OF_TABLE(log.hold_ms, "log_hold_ms", FIELD_INT),
	OF_TABLE(log.changed_ms, "log_changed_ms", FIELD_INT),
	OF_TABLE(ttl.is_enabled, "is_ttl_enabled", FIELD_BOOL),
	OF_TABLE(ttl.is_filling, "is_ttl_filling", FIELD_BOOL),
	OF_TABLE(ttl.attribute, "ttl_attribute", FIELD_STR),
	OF_TABLE(ttl.changed_ms, "ttl_changed_ms", FIELD_INT),
	OF_TABLE(ttl.settles_ms, "ttl_settles_ms", FIELD_INT),
	OF_TABLE(group.id, "group_id", FIELD_STR),
	OF_TABLE(group.is_strong, "is_group_strong", FIELD_BOOL),
	OF_TABLE(group.witness, "group_witness", FIELD_STR),
	OF_TABLE(group.source, "group_source", FIELD_STR),
	OF_TABLE(group.added_ms, "group_added_ms", FIELD_INT),
	OF_TABLE(group.filling, "group_filling", FIELD_STR),
	OF_TABLE(group.ready_ms, "group_ready_ms", FIELD_INT),
	OF_TABLE(group.is_leaving, "is_group_leaving", FIELD_BOOL),
	RECORD_ARRAY(table, group.v, group.n, "group", FIELD_LIST, &member_record),
};
static const struct field index_fields[] = {
	TEXT(index, name),
	FLAG(index, is_local),
	RECORD_ENUM(index, number, "number", INDEX_NUMBER_MAX),
	RECORD_ENUM(index, projection, "projection", PROJECT_INCLUDE),
	RECORD_ENUM(index, status, "status", STATUS_DELETING),
	FLAG(index, is_backfilling),
	FLAG(index, is_by_reference),
	NUMBER(index, settles_ms),
	RECORD_ARRAY(index, included, included_count, "included", FIELD_STRINGS, NULL),
};
static const struct field stream_fields[] = {
	TEXT(stream, label),
	NUMBER(stream, number),
	RECORD_ENUM(stream, view, "view", STREAM_NEW_AND_OLD_IMAGES),
	NUMBER(stream, created_ms),
	NUMBER(stream, disabled_ms),
	RECORD_ENUM(stream, shards, "shards", STREAM_LANES),
};
const struct record table_record = RECORD(table, table_fields);
const struct record index_record = RECORD(index, index_fields);
const struct record stream_record = RECORD(stream, stream_fields);

/* Name, type, name, type, ... */
static struct value attribute_list(struct arena *arena, const struct key_attribute *attributes,
				   size_t n)
{
	struct str *strings = ARENA_ARRAY(arena, struct str, 2 * n);

	for (size_t i = 0; i < n; i++) {
		strings[2 * i] = attributes[i].name;
		strings[2 * i + 1] = str_of(type_name(attributes[i].type));
	}
	return record_strings(arena, strings, 2 * n);
}

static void add_keys(struct record_map *map, const struct key_schema *keys)
{
	record_map_add(map, "keys",
		       attribute_list(map->arena, keys->attributes, key_schema_count(keys)));
	record_map_add(map, "hash_count", record_int(map->arena, keys->hash_count));
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
	return record_strings(arena, strings, 3 * spec->schema_count);
}

/* A map with a struct's own fields and those of its settings, and room for some more. */
static struct record_map begin(struct arena *arena, const struct record *own, const void *object,
			       const struct record *kept, const void *settings)
{
	struct record_map map = record_map_new(arena, own->n + (kept ? kept->n : 0) + EXTRA_MAX);

	record_map_write(&map, own, object);
	if (kept && settings)
		record_map_write(&map, kept, settings);
	return map;
}

static struct value index_map(struct arena *arena, const struct index *index,
			      const struct record *kept)
{
	struct record_map map = begin(arena, &index_record, index, kept, index->settings);

	if (index->vector) {
		record_map_add(&map, "attribute", value_of_str(TYPE_S, index->vector->attribute));
		record_map_add(&map, "dimensions", record_int(arena, index->vector->dimensions));
		record_map_add(&map, "distance", record_int(arena, index->vector->distance));
		record_map_add(&map, "schema", schema_list(arena, index->vector));
	} else {
		add_keys(&map, &index->keys);
	}
	return record_map_end(&map);
}

static struct value index_list(struct arena *arena, const struct index *indexes, size_t n,
			       const struct record *kept)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, n);

	for (size_t i = 0; i < n; i++)
		elements[i] = index_map(arena, &indexes[i], kept);
	return record_list(elements, n);
}

static struct value stream_list(struct arena *arena, const struct table *table,
				const struct record *kept)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, table->streams.n);

	for (size_t i = 0; i < table->streams.n; i++) {
		struct record_map map = begin(arena, &stream_record, &table->streams.v[i], kept,
					      table->streams.v[i].settings);

		elements[i] = record_map_end(&map);
	}
	return record_list(elements, table->streams.n);
}

static int64_t record_version(const struct table *table)
{
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (table->indexes.v[i].is_by_reference)
			return RECORD_VERSION_REFERENCES;
	}
	for (size_t i = 0; i < table->streams.n; i++) {
		if (table->streams.v[i].shards > 1)
			return RECORD_VERSION_SHARDS;
	}
	if (table_is_global(table))
		return RECORD_VERSION_GROUP;
	if (table->hash != KEY_HASH_FNV)
		return RECORD_VERSION_HASH;
	return table->indexes.vector_n ? RECORD_VERSION_VECTORS : RECORD_VERSION;
}

static const struct settings_records no_records = {NULL, NULL, NULL};

struct table_brief table_brief_of(const struct table *table)
{
	bool is_deleted = table->state.status == STATUS_DELETING;
	struct table_brief brief = {
		.number = table->identity.number,
		.version = table->currency.version,
		.layout = table->currency.layout,
		.work_ms = is_deleted ? table->state.settles_ms
			   : table->ttl.is_filling || str_is_set(table->group.filling) ? 0
										       : INT64_MAX,
		.gone_ms = is_deleted ? table->state.settles_ms : INT64_MAX,
		.has_ttl = table->ttl.is_enabled,
		.has_stream = table_has_log(table),
		.is_global = table_is_global(table),
	};

	for (size_t i = 0; i < table_index_total(table) && !is_deleted; i++) {
		const struct index *index = table_index_at(table, i);

		if ((index->is_backfilling || index->status == STATUS_DELETING) &&
		    index->settles_ms < brief.work_ms)
			brief.work_ms = index->settles_ms;
	}
	return brief;
}

#define BRIEF_TTL 1
#define BRIEF_STREAM 2
#define BRIEF_GLOBAL 4

static int64_t flags_of(const struct table_brief *brief)
{
	return (brief->has_ttl ? BRIEF_TTL : 0) + (brief->has_stream ? BRIEF_STREAM : 0) +
	       (brief->is_global ? BRIEF_GLOBAL : 0);
}

struct str table_encode(struct arena *arena, const struct table *table)
{
	const struct settings_records *records = table->records ? table->records : &no_records;
	struct record_map map = begin(arena, &table_record, table, records->table, table->settings);
	struct table_brief brief = table_brief_of(table);
	struct buf buf = buf_in(arena);

	add_keys(&map, &table->keys);
	record_map_add(&map, "version", record_int(arena, record_version(table)));
	record_map_add(&map, "indexes",
		       index_list(arena, table->indexes.v, table->indexes.n, records->index));
	if (table->indexes.vector_n)
		record_map_add(&map, "vectors",
			       index_list(arena, table->indexes.vectors, table->indexes.vector_n,
					  records->index));
	record_map_add(&map, "streams", stream_list(arena, table, records->stream));
	record_map_add(&map, "brief", record_int(arena, flags_of(&brief)));
	record_map_add(&map, "work_ms", record_int(arena, brief.work_ms));
	struct value record = record_map_end(&map);
	image_encode(&record, &buf);
	return buf_str(&buf);
}

static size_t read_attributes(struct arena *arena, const struct value *map, const char *name,
			      struct key_attribute **out, bool *ok)
{
	size_t n;
	struct str *strings = record_read_strings(arena, map, name, &n, ok);

	*out = ARENA_ARRAY(arena, struct key_attribute, n / 2);
	for (size_t i = 0; i < n / 2; i++)
		(*out)[i] =
			(struct key_attribute){strings[2 * i], type_of_name(strings[2 * i + 1])};
	return n / 2;
}

static void read_key_schema(struct arena *arena, const struct value *map, struct key_schema *keys,
			    bool *ok)
{
	struct key_attribute *attributes;
	size_t n = read_attributes(arena, map, "keys", &attributes, ok);
	int64_t hash_count = record_read_int(map, "hash_count", ok);

	if (n == 0 || n > KEY_ATTRIBUTES_MAX || hash_count < 1 || (size_t)hash_count > n) {
		*ok = false;
		return;
	}
	memcpy(keys->attributes, attributes, n * sizeof(*attributes));
	keys->hash_count = (unsigned)hash_count;
	keys->range_count = (unsigned)(n - (size_t)hash_count);
}

static struct vector_spec *read_vector_settings(struct arena *arena, const struct value *map,
						bool *ok)
{
	struct vector_spec *spec = ARENA_NEW(arena, struct vector_spec);
	const struct value *attribute = value_member(map, STR("attribute"));
	int64_t dimensions = record_read_int(map, "dimensions", ok),
		distance = record_read_int(map, "distance", ok);
	bool has_hash = false; /* one at most */
	size_t n;
	struct str *strings = record_read_strings(arena, map, "schema", &n, ok);

	if (!*ok || !attribute || attribute->type != TYPE_S || dimensions < 1 ||
	    dimensions > VECTOR_DIMENSIONS_MAX || distance < 0 || distance > DISTANCE_DOT_PRODUCT ||
	    n % 3 || n / 3 > 1 + VECTOR_FILTERS_MAX) {
		*ok = false;
		return spec;
	}
	spec->attribute = str_copy(arena, value_str(attribute));
	spec->dimensions = (uint32_t)dimensions;
	spec->distance = (enum vector_distance)distance;
	spec->schema = ARENA_ARRAY(arena, struct search_element, n / 3);
	for (size_t i = 0; i < n / 3 && *ok; i++) {
		bool is_hash = str_eq(strings[3 * i + 2], STR("HASH"));

		*ok = !(is_hash && has_hash) &&
		      type_is_scalar_key(type_of_name(strings[3 * i + 1]));
		has_hash = has_hash || is_hash;
		spec->schema[spec->schema_count++] = (struct search_element){
			{strings[3 * i], type_of_name(strings[3 * i + 1])}, is_hash};
	}
	return spec;
}

/* One kind of indexes; a record without vector indexes has no list of them. */
static struct index *read_index_list(struct table *table, const struct value *record,
				     const char *name, size_t *count, bool *ok)
{
	bool is_vector = strcmp(name, "vectors") == 0;
	const struct value *list = is_vector && !value_member(record, str_of(name))
					   ? &VALUE_NONE
					   : record_read_list(record, name, ok);
	struct index *indexes = ARENA_ARRAY(table->arena, struct index, list->n);

	for (uint32_t i = 0; i < list->n && *ok; i++) {
		struct index *index = &indexes[i];
		const struct value *map = &list->elements[i];

		*ok = map->type == TYPE_M && record_read(table->arena, &index_record, map, index);
		if (!*ok)
			break;
		if (is_vector)
			index->vector = read_vector_settings(table->arena, map, ok);
		else
			read_key_schema(table->arena, map, &index->keys, ok);
		index->settings = table_index_settings(table);
		if (index->settings &&
		    !record_read(table->arena, table->records->index, map, index->settings))
			*ok = false;
		table_index_derive(table, index);
		if (table->indexes.next <= index->number) /* a record from before the field */
			table->indexes.next = index->number + 1;
		++*count;
	}
	return indexes;
}

/* A record from before streams were kept has no list of them: nothing was ever written to the
 * stream that it speaks of. */
static void read_streams(struct table *table, const struct value *record, bool *ok)
{
	if (!value_member(record, STR("streams"))) {
		table->streams.view = STREAM_OFF;
		table->streams.label = STR_ABSENT;
		return;
	}
	const struct value *list = record_read_list(record, "streams", ok);

	table->streams.v = ARENA_ARRAY(table->arena, struct stream, list->n);
	for (uint32_t i = 0; i < list->n && *ok; i++) {
		struct stream *stream = &table->streams.v[table->streams.n++];
		const struct value *map = &list->elements[i];

		stream->settings = table_stream_settings(table);
		*ok = map->type == TYPE_M &&
		      record_read(table->arena, &stream_record, map, stream) &&
		      (!stream->settings ||
		       record_read(table->arena, table->records->stream, map, stream->settings));
	}
}

static bool is_key(const struct key_schema *keys)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		if (!type_is_scalar_key(keys->attributes[i].type))
			return false;
	}
	return true;
}

/* Names, keys and how many indexes there are: as the operations allow. */
static bool is_sound(const struct table *table)
{
	bool ok = str_is_set(table->identity.name) && is_key(&table->keys) &&
		  table->indexes.n <= INDEXES_MAX && table->indexes.vector_n <= VECTOR_INDEXES_MAX;

	for (size_t i = 0; i < table_index_total(table) && ok; i++) {
		const struct index *index = table_index_at(table, i);

		ok = str_is_set(index->name) && (index->vector || is_key(&index->keys));
	}
	return ok;
}

/* Numbers name keyspaces: the table's is not the system's, and each index has its own. */
static bool is_placed(const struct table *table)
{
	bool ok = table->identity.number > 0 && table->identity.number <= INT64_MAX;

	for (size_t i = 0; i < table_index_total(table) && ok; i++) {
		for (size_t k = 0; k < i && ok; k++)
			ok = table_index_at(table, k)->number != table_index_at(table, i)->number;
	}
	return ok;
}

enum code table_decode(struct str record, const struct settings_records *records,
		       struct table **out, struct err *err)
{
	struct table *table;
	enum code code = table_decode_new(record, records, &table, err);

	if (code != OK)
		return code;
	if (!is_placed(table)) {
		table_unref(table);
		code = err_set(err, MSG_RECORD_MALFORMED);
	}
	if (code == OK)
		*out = table;
	return code;
}

enum code table_decode_new(struct str record, const struct settings_records *records,
			   struct table **out, struct err *err)
{
	struct table *table = table_new(records);
	struct arena *scratch = arena_new(0);
	struct value map;
	bool ok = image_decode(scratch, record, &map);

	if (ok && record_read_int(&map, "version", &ok) > RECORD_VERSION_REFERENCES)
		ok = false;
	if (ok) {
		ok = record_read(table->arena, &table_record, &map, table) &&
		     (!table->settings ||
		      record_read(table->arena, records->table, &map, table->settings));
		read_key_schema(table->arena, &map, &table->keys, &ok);
		table->indexes.v = read_index_list(table, &map, "indexes", &table->indexes.n, &ok);
		table->indexes.vectors =
			read_index_list(table, &map, "vectors", &table->indexes.vector_n, &ok);
		read_streams(table, &map, &ok);
		ok = ok && is_sound(table);
	}
	arena_free(scratch);
	if (!ok) {
		table_unref(table);
		return err_set(err, MSG_RECORD_MALFORMED);
	}
	*out = table;
	return OK;
}

static bool read_numbers(struct str record, const char *const *names, int64_t *numbers, size_t n)
{
	struct arena *arena = arena_new(0);
	bool is_there = true;

	for (size_t i = 0; i < n && is_there; i++) {
		struct value value;

		is_there = image_get(arena, record, str_of(names[i]), &value) &&
			   value.type == TYPE_N && number_to_int(value_str(&value), &numbers[i]);
	}
	arena_free(arena);
	return is_there;
}

bool table_record_brief(struct str record, struct table_brief *brief)
{
	enum { NUMBER_AT, CHANGE, LAYOUT, STATUS, SETTLES_MS, FLAGS, WORK_MS, COUNT };
	static const char *const names[COUNT] = {"number",     "change", "layout", "status",
						 "settles_ms", "brief",  "work_ms"};
	int64_t numbers[COUNT];

	if (!read_numbers(record, names, numbers, COUNT))
		return false;
	*brief = (struct table_brief){
		.number = (uint64_t)numbers[NUMBER_AT],
		.version = (uint64_t)numbers[CHANGE],
		.layout = (uint64_t)numbers[LAYOUT],
		.work_ms = numbers[WORK_MS],
		.gone_ms = numbers[STATUS] == STATUS_DELETING ? numbers[SETTLES_MS] : INT64_MAX,
		.has_ttl = numbers[FLAGS] & BRIEF_TTL,
		.has_stream = numbers[FLAGS] & BRIEF_STREAM,
		.is_global = numbers[FLAGS] & BRIEF_GLOBAL,
	};
	return true;
}

bool table_record_version(struct str record, uint64_t *number, uint64_t *version)
{
	static const char *const names[] = {"number", "change"};
	int64_t numbers[2];

	if (!read_numbers(record, names, numbers, 2))
		return false;
	*number = (uint64_t)numbers[0];
	*version = (uint64_t)numbers[1];
	return true;
}
