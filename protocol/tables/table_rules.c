#include "protocol/tables/table_rules.h"

#include <assert.h>
#include <time.h>

#include "core/buf.h"
#include "core/seen.h"
#include "protocol/tables/encryption_rules.h"
#include "protocol/wire/java_order.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/throughput_rules.h"
#include "storage/stream/stream.h"
#include "protocol/vector_messages.h"

static const enum type attribute_types[] = {
	[SCALAR_ATTRIBUTE_TYPE_S] = TYPE_S,
	[SCALAR_ATTRIBUTE_TYPE_N] = TYPE_N,
	[SCALAR_ATTRIBUTE_TYPE_B] = TYPE_B,
};

static const struct key_attribute *definition(const struct table *table, struct str name)
{
	for (size_t i = 0; i < table->settings->definition_count; i++) {
		if (str_eq(table->settings->definitions[i].name, name))
			return &table->settings->definitions[i];
	}
	return NULL;
}

struct value table_rules_types(struct arena *arena, const struct attribute_definitions *definitions)
{
	struct member *members = ARENA_ARRAY(arena, struct member, definitions->n);

	for (size_t i = 0; i < definitions->n; i++)
		members[i] = (struct member){
			definitions->v[i].attribute_name,
			{.type = (uint8_t)attribute_types[definitions->v[i].attribute_type]}};
	return (struct value){.type = TYPE_M,
			      .n = (uint32_t)value_sort_last(members, definitions->n),
			      .members = members};
}

enum code table_rules_define(struct table *table, const struct attribute_definitions *definitions,
			     struct err *err)
{
	struct key_attribute *all = ARENA_ARRAY(table->arena, struct key_attribute,
						table->settings->definition_count + definitions->n);
	struct seen seen = seen_new(table->arena, definitions->n);
	size_t count = table->settings->definition_count;

	if (count)
		memcpy(all, table->settings->definitions, count * sizeof(*all));
	for (size_t i = 0; i < definitions->n; i++) {
		const struct attribute_definition *input = &definitions->v[i];

		if (definition(table, input->attribute_name)) /* among those that it had */
			continue;
		if (!seen_add(&seen, input->attribute_name))
			return err_set(err, MSG_DEFINITIONS_TWICE, STR_ARG(input->attribute_name));
		all[count++] = (struct key_attribute){str_copy(table->arena, input->attribute_name),
						      attribute_types[input->attribute_type]};
	}
	table->settings->definitions = all;
	table->settings->definition_count = count;
	return OK;
}

static struct str list_definitions(struct arena *arena, const struct table *table)
{
	struct str *names = ARENA_ARRAY(arena, struct str, table->settings->definition_count + 1);

	for (size_t i = 0; i < table->settings->definition_count; i++)
		names[i] = table->settings->definitions[i].name;
	return java_order_list(arena, names, table->settings->definition_count, true);
}

static struct str list_keys(struct arena *arena, const struct key_schema_input *input)
{
	struct str *names = ARENA_ARRAY(arena, struct str, input->n + 1);

	for (size_t i = 0; i < input->n; i++)
		names[i] = input->v[i].attribute_name;
	return java_order_list(arena, names, input->n, true);
}

static bool in_keys(const struct key_schema_input *input, struct str name)
{
	for (size_t i = 0; i < input->n; i++) {
		if (str_eq(input->v[i].attribute_name, name))
			return true;
	}
	return false;
}

/* AWS names an index's by the member alone too: captures of 9 October 2026. */
static enum code too_many_keys(struct arena *arena, const struct key_schema_input *input,
			       unsigned limit, struct err *err)
{
	struct buf list = buf_in(arena);

	for (size_t i = 0; i < input->n; i++)
		buf_printf(&list, "%sKeySchemaElement(attributeName=" STR_FMT ", keyType=%s)",
			   i ? ", " : "", STR_ARG(input->v[i].attribute_name),
			   input->v[i].key_type == KEY_TYPE_HASH ? "HASH" : "RANGE");
	return err_set(err, MSG_KEYS_MANY, STR_ARG(buf_str(&list)), limit);
}

static enum code check_twice(const struct key_schema_input *input, struct err *err)
{
	if (input->n == 2 && input->v[1].key_type == KEY_TYPE_RANGE &&
	    str_eq(input->v[0].attribute_name, input->v[1].attribute_name))
		return err_set(err, MSG_KEYS_SAME);
	struct seen seen = seen_new(err->arena, input->n);
	for (size_t i = 0; i < input->n; i++) {
		if (!seen_add(&seen, input->v[i].attribute_name))
			return err_set(err, MSG_KEYS_TWICE);
	}
	return OK;
}

/* HASH first, then RANGE; `each` of both at most. AWS words it by whether a key may have several
 * attributes. */
static enum code check_key_order(const struct key_schema_input *input, unsigned each,
				 struct err *err)
{
	unsigned counts[2] = {0, 0};

	if (input->v[0].key_type != KEY_TYPE_HASH)
		return err_set(err, MSG_KEYS_FIRST);
	if (each == 1 && input->n > 1 && input->v[1].key_type != KEY_TYPE_RANGE)
		return err_set(err, MSG_KEYS_SECOND);
	enum code code = check_twice(input, err);
	for (size_t i = 0; i < input->n && code == OK; i++) {
		if (input->v[i].key_type == KEY_TYPE_HASH && counts[1] > 0)
			return err_set(err, MSG_KEYS_ORDER);
		counts[input->v[i].key_type != KEY_TYPE_HASH]++;
	}
	for (unsigned i = 0; i < 2 && code == OK; i++) {
		if (counts[i] > each)
			return err_set(err, MSG_KEYS_COUNT, i == 0 ? "HASH" : "RANGE");
	}
	return code;
}

static size_t count_distinct(struct arena *arena, const struct key_schema_input *input)
{
	struct seen seen = seen_new(arena, input->n);
	size_t count = 0;

	for (size_t i = 0; i < input->n; i++)
		count += seen_add(&seen, input->v[i].attribute_name);
	return count;
}

/* AWS lists a key's names where there are as many definitions as key attributes; otherwise it only
 * says that a definition is missing. */
static enum code check_defined(const struct table *table, const struct key_schema_input *input,
			       struct err *err)
{
	for (size_t i = 0; i < input->n; i++) {
		if (definition(table, input->v[i].attribute_name))
			continue;
		return table->settings->definition_count < count_distinct(err->arena, input)
			       ? err_set(err, MSG_KEYS_UNDEFINED)
			       : err_set(err, MSG_KEYS_MISSING,
					 STR_ARG(list_keys(err->arena, input)),
					 STR_ARG(list_definitions(err->arena, table)));
	}
	return OK;
}

/* Keys of a table or index: first whether they are defined, then whether they are keys. */
static enum code read_table_keys(struct table *table, const struct key_schema_input *input,
				 unsigned each, struct key_schema *keys, struct err *err)
{
	enum code code = check_defined(table, input, err);

	if (code != OK)
		return code;
	code = check_key_order(input, each, err);
	struct key_schema read = {0};
	for (size_t i = 0; i < input->n && code == OK; i++) {
		const struct key_schema_element *element = &input->v[i];

		read.attributes[i] = *definition(table, element->attribute_name);
		*(element->key_type == KEY_TYPE_HASH ? &read.hash_count : &read.range_count) += 1;
	}
	return RESULT(code, keys, read);
}

static enum code read_projection(struct table *table, const struct projection_input *input,
				 struct index *index, struct err *err)
{
	static const char *const names[] = {[PROJECTION_TYPE_ALL] = "ALL",
					    [PROJECTION_TYPE_KEYS_ONLY] = "KEYS_ONLY",
					    [PROJECTION_TYPE_INCLUDE] = "INCLUDE"};
	static const enum projection_type types[] = {
		[PROJECTION_TYPE_ALL] = PROJECT_ALL,
		[PROJECTION_TYPE_KEYS_ONLY] = PROJECT_KEYS_ONLY,
		[PROJECTION_TYPE_INCLUDE] = PROJECT_INCLUDE,
	};
	size_t total = input->non_key_attributes.n;

	assert(input->non_key_attributes.v || input->non_key_attributes.n == 0);
	if (input->projection_type == 0)
		return err_set(err, MSG_PROJECTION_UNKNOWN);
	index->projection = types[input->projection_type];
	if (index->projection != PROJECT_INCLUDE && input->non_key_attributes.v)
		return err_set(err, MSG_PROJECTION_EXTRA, names[input->projection_type]);
	if (index->projection == PROJECT_INCLUDE && !input->non_key_attributes.n)
		return err_set(err, MSG_PROJECTION_LACKS);
	for (size_t i = 0; i < table->indexes.n; i++)
		total += table->indexes.v[i].included_count;
	if (total > INCLUDED_TOTAL_MAX)
		return err_set(err, MSG_PROJECTION_LIMIT, INCLUDED_TOTAL_MAX);
	index->included = ARENA_ARRAY(table->arena, struct str, input->non_key_attributes.n);
	for (size_t i = 1; i < input->non_key_attributes.n; i++) {
		for (size_t k = 0; k < i; k++) {
			if (str_eq(input->non_key_attributes.v[k], input->non_key_attributes.v[i]))
				return err_set(err, MSG_PROJECTION_TWICE,
					       STR_ARG(input->non_key_attributes.v[i]));
		}
	}
	for (size_t i = 0; i < input->non_key_attributes.n; i++)
		index->included[index->included_count++] =
			str_copy(table->arena, input->non_key_attributes.v[i]);
	return OK;
}

const char *table_rules_doing(enum table_status status)
{
	return status == STATUS_CREATING   ? "created"
	       : status == STATUS_DELETING ? "deleted"
					   : "updated";
}

/* The table's list of indexes with room for one more, of that name. */
static enum code append_index(struct table *table, struct str name, struct index **out,
			      struct err *err)
{
	struct index *indexes = ARENA_ARRAY(table->arena, struct index, table->indexes.n + 1);

	if (table_index(table, name) || table_vector(table, name))
		return err_set(err, MSG_INDEX_TWICE, STR_ARG(name));
	if (table->indexes.n)
		memcpy(indexes, table->indexes.v, table->indexes.n * sizeof(*indexes));
	table->indexes.v = indexes;
	*out = &indexes[table->indexes.n];
	**out = (struct index){.name = str_copy(table->arena, name),
			       .settings = table_index_settings(table)};
	return OK;
}

static enum code add_local(struct table *table, const struct local_secondary_index *input,
			   struct err *err)
{
	struct index *index;
	enum code code = append_index(table, input->index_name, &index, err);

	if (code != OK)
		return code;
	code = read_table_keys(table, &input->key_schema, 1, &index->keys, err);
	if (code != OK)
		return code;
	if (index->keys.range_count == 0)
		return err_set(err, MSG_INDEX_RANGE, STR_ARG(index->name));
	if (!str_eq(index->keys.attributes[0].name, table->keys.attributes[0].name))
		return err_set(err, MSG_INDEX_HASH, STR_ARG(index->name),
			       STR_ARG(index->keys.attributes[0].name),
			       STR_ARG(table->keys.attributes[0].name));
	code = read_projection(table, input->projection, index, err);
	if (code != OK)
		return code;
	index->is_local = true;
	table->indexes.n++;
	return OK;
}

enum code table_rules_add_global(struct table *table, const struct global_secondary_index *input,
				 struct err *err)
{
	const struct provisioned_throughput *throughput = input->provisioned_throughput;
	size_t globals = 0;
	struct index *index;

	for (size_t i = 0; i < table->indexes.n; i++)
		globals += !table->indexes.v[i].is_local;
	if (globals >= GLOBAL_INDEXES_MAX)
		return err_set(err, MSG_INDEX_LIMIT_GLOBAL, GLOBAL_INDEXES_MAX);
	enum code code = append_index(table, input->index_name, &index, err);
	if (code != OK)
		return code;
	code = read_table_keys(table, &input->key_schema, KEY_HASH_ATTRIBUTES_MAX, &index->keys,
			       err);
	if (code != OK)
		return code;
	code = read_projection(table, input->projection, index, err);
	if (code != OK)
		return code;
	if (table->settings->billing == BILLING_PROVISIONED && !throughput)
		return err_set(err, MSG_UNITS_INDEX_ABSENT, STR_ARG(index->name));
	if (table->settings->billing == BILLING_PAY_PER_REQUEST && throughput)
		return err_set(err, MSG_UNITS_INDEX_REFUSED, STR_ARG(index->name));
	if (throughput)
		throughput_rules_begin(&index->settings->throughput, throughput);
	code = throughput_rules_on_demand(table, index, input->on_demand_throughput,
					  THROUGHPUT_CREATE, err);
	if (code != OK)
		return code;
	code = throughput_rules_warm(table, index, input->warm_throughput, THROUGHPUT_CREATE, err);
	if (code != OK)
		return code;
	table->indexes.n++;
	return OK;
}

static enum vector_distance distance_of(int constant)
{
	static const enum vector_distance distances[] = {
		[VECTOR_DISTANCE_FUNCTION_COSINE] = DISTANCE_COSINE,
		[VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT] = DISTANCE_DOT_PRODUCT,
		[VECTOR_DISTANCE_FUNCTION_EUCLIDEAN] = DISTANCE_EUCLIDEAN,
	};

	return distances[constant];
}

static bool is_defined(const struct attribute_definitions *definitions, struct str name)
{
	for (size_t i = 0; i < definitions->n; i++) {
		if (str_eq(definitions->v[i].attribute_name, name))
			return true;
	}
	return false;
}

/* Each element is defined, in the request itself, and stands once; one HASH at most. */
static enum code read_search_schema(const struct table *table, const struct search_schema *input,
				    const struct attribute_definitions *definitions,
				    struct vector_spec *spec, struct err *err)
{
	const struct value types = table_rules_types(err->arena, definitions);
	struct seen seen = seen_new(err->arena, input->n);
	size_t hashes = 0;

	for (size_t i = 0; i < input->n; i++) {
		if (!value_member(&types, input->v[i].attribute_name))
			return err_set(err, MSG_VECTOR_SCHEMA_UNDEFINED);
		if (!seen_add(&seen, input->v[i].attribute_name))
			return err_set(err, MSG_VECTOR_SCHEMA_TWICE);
		hashes += input->v[i].search_schema_element_type == SEARCH_SCHEMA_ELEMENT_TYPE_HASH;
	}
	if (hashes > 1)
		return err_set(err, MSG_VECTOR_SCHEMA_HASHES, hashes);
	if (input->n - hashes > VECTOR_FILTERS_MAX)
		return err_set(err, MSG_VECTOR_SCHEMA_FILTERS, input->n - hashes,
			       VECTOR_FILTERS_MAX);
	spec->schema = ARENA_ARRAY(table->arena, struct search_element, input->n);
	for (; spec->schema_count < input->n; spec->schema_count++) {
		const struct search_schema_element *element = &input->v[spec->schema_count];

		spec->schema[spec->schema_count] = (struct search_element){
			*definition(table, element->attribute_name),
			element->search_schema_element_type == SEARCH_SCHEMA_ELEMENT_TYPE_HASH,
		};
	}
	return OK;
}

/* The vector attribute is a key nowhere, and has the same dimensions in all indexes. */
static enum code check_vector_attribute(const struct table *table, const struct vector_spec *spec,
					const struct attribute_definitions *definitions,
					struct err *err)
{
	if (is_defined(definitions, spec->attribute))
		return err_set(err, MSG_VECTOR_ATTRIBUTE_DEFINED, STR_ARG(spec->attribute));
	for (size_t i = 0; i <= table->indexes.n; i++) {
		const struct key_schema *keys =
			i < table->indexes.n ? &table->indexes.v[i].keys : &table->keys;

		for (unsigned k = 0; k < key_schema_count(keys); k++) {
			const struct key_attribute *key = &keys->attributes[k];

			if (str_eq(key->name, spec->attribute))
				return err_set(err, MSG_VECTOR_REDEFINES_KEY, STR_ARG(key->name),
					       type_name(key->type),
					       k < keys->hash_count ? "HASH" : "RANGE",
					       STR_ARG(key->name), spec->dimensions);
		}
	}
	for (size_t i = 0; i < table->indexes.vector_n; i++) {
		const struct vector_spec *other = table->indexes.vectors[i].vector;

		if (str_eq(other->attribute, spec->attribute) &&
		    other->dimensions != spec->dimensions)
			return err_set(err, MSG_VECTOR_ATTRIBUTE_DIMENSIONS,
				       STR_ARG(spec->attribute));
	}
	return OK;
}

enum code table_rules_add_vector(struct table *table, const struct vector_index *input,
				 const struct attribute_definitions *definitions, struct err *err)
{
	struct index *vectors =
		ARENA_ARRAY(table->arena, struct index, table->indexes.vector_n + 1);
	struct vector_spec *spec = ARENA_NEW(table->arena, struct vector_spec);
	struct index *index = &vectors[table->indexes.vector_n];
	enum code code;

	if (table_index(table, input->index_name) || table_vector(table, input->index_name))
		return err_set(err, MSG_INDEX_TWICE, STR_ARG(input->index_name));
	if (input->dimensions.value > VECTOR_DIMENSIONS_MAX)
		return err_set(err, MSG_VECTOR_DIMENSIONS, VECTOR_DIMENSIONS_MAX);
	if (table->indexes.vector_n)
		memcpy(vectors, table->indexes.vectors, table->indexes.vector_n * sizeof(*vectors));
	*index = (struct index){
		.name = str_copy(table->arena, input->index_name),
		.vector = spec,
		.settings = table_index_settings(table),
	};
	spec->attribute = str_copy(table->arena, input->vector_attribute->attribute_name);
	spec->dimensions = (uint32_t)input->dimensions.value;
	spec->distance = distance_of(input->distance_function);
	code = read_search_schema(table, &input->search_schema, definitions, spec, err);
	if (code != OK)
		return code;
	code = check_vector_attribute(table, spec, definitions, err);
	if (code != OK)
		return code;
	code = read_projection(table, input->projection, index, err);
	if (code != OK)
		return code;
	table->indexes.vectors = vectors;
	table->indexes.vector_n++;
	return OK;
}

enum code table_rules_not_vector_key(const struct table *table, const struct index *index,
				     struct err *err)
{
	for (unsigned k = 0; k < key_schema_count(&index->keys); k++) {
		const struct key_attribute *key = &index->keys.attributes[k];

		for (size_t i = 0; i < table->indexes.vector_n; i++) {
			const struct vector_spec *spec = table->indexes.vectors[i].vector;

			if (str_eq(spec->attribute, key->name))
				return err_set(err, MSG_KEY_REDEFINES_VECTOR, STR_ARG(key->name),
					       spec->dimensions, STR_ARG(key->name),
					       type_name(key->type),
					       k < index->keys.hash_count ? "HASH" : "RANGE");
		}
	}
	return OK;
}

static bool uses(const struct key_schema *keys, struct str name)
{
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		if (str_eq(keys->attributes[i].name, name))
			return true;
	}
	return false;
}

static bool is_used(const struct table *table, struct str name)
{
	bool found = uses(&table->keys, name);

	for (size_t i = 0; i < table->indexes.n && !found; i++)
		found = index_is_kept(&table->indexes.v[i]) &&
			uses(&table->indexes.v[i].keys, name);
	for (size_t i = 0; i < table->indexes.vector_n && !found; i++) {
		const struct vector_spec *spec = table->indexes.vectors[i].vector;

		for (size_t k = 0;
		     k < spec->schema_count && !found && index_is_kept(&table->indexes.vectors[i]);
		     k++)
			found = str_eq(spec->schema[k].attribute.name, name);
	}
	return found;
}

void table_rules_prune(struct table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->settings->definition_count; i++) {
		if (is_used(table, table->settings->definitions[i].name))
			table->settings->definitions[kept++] = table->settings->definitions[i];
	}
	table->settings->definition_count = kept;
}

/* Whether a definition of the request is a key of it, or in a search schema. */
static bool is_asked(const struct create_table_input *input, struct str name)
{
	bool found = in_keys(&input->key_schema, name);

	for (size_t i = 0; i < input->local_secondary_indexes.n && !found; i++)
		found = in_keys(&input->local_secondary_indexes.v[i].key_schema, name);
	for (size_t i = 0; i < input->global_secondary_indexes.n && !found; i++)
		found = in_keys(&input->global_secondary_indexes.v[i].key_schema, name);
	for (size_t i = 0; i < input->vector_indexes.n && !found; i++) {
		const struct search_schema *schema = &input->vector_indexes.v[i].search_schema;

		found = str_eq(input->vector_indexes.v[i].vector_attribute->attribute_name,
			       name); /* refused with another text */
		for (size_t k = 0; k < schema->n && !found; k++)
			found = str_eq(schema->v[k].attribute_name, name);
	}
	return found;
}

/* AWS: comes before the indexes' other rules, so one definition too many hides other mistakes. */
static enum code check_definitions_used(const struct create_table_input *input,
					const struct table *table, struct err *err)
{
	struct str *used =
		ARENA_ARRAY(err->arena, struct str, table->settings->definition_count + 1);
	size_t indexes = input->local_secondary_indexes.n + input->global_secondary_indexes.n +
			 input->vector_indexes.n,
	       count = 0;

	for (size_t i = 0; i < table->settings->definition_count; i++) {
		if (!arena_works(err->arena, 1 + indexes))
			return err_if_over(err->arena, err);
		if (is_asked(input, table->settings->definitions[i].name))
			used[count++] = table->settings->definitions[i].name;
	}
	if (count == table->settings->definition_count)
		return OK;
	if (indexes == 0)
		return err_set(err, MSG_DEFINITIONS_COUNT);
	return err_set(err, MSG_DEFINITIONS_UNUSED, STR_ARG(list_definitions(err->arena, table)),
		       STR_ARG(java_order_list(err->arena, used, count, false)));
}

static enum code read_billing(const struct create_table_input *input, struct table *table,
			      struct err *err)
{
	const struct provisioned_throughput *throughput = input->provisioned_throughput;

	table->settings->billing = input->billing_mode == BILLING_MODE_PAY_PER_REQUEST
					   ? BILLING_PAY_PER_REQUEST
					   : BILLING_PROVISIONED;
	if (table->settings->billing == BILLING_PAY_PER_REQUEST && throughput)
		return err_set(err, MSG_UNITS_REFUSED);
	if (table->settings->billing == BILLING_PROVISIONED && !throughput)
		return err_set(err, MSG_UNITS_REQUIRED);
	if (throughput)
		throughput_rules_begin(&table->settings->throughput, throughput);
	enum code code = throughput_rules_on_demand(table, NULL, input->on_demand_throughput,
						    THROUGHPUT_CREATE, err);
	if (code != OK)
		return code;
	return throughput_rules_warm(table, NULL, input->warm_throughput, THROUGHPUT_CREATE, err);
}

/* AWS: API Reference, UpdateTable: a change to the stream that the table already has is refused.
 * CreateTable may say that there is no stream. */
static enum code disable_stream(struct table *table, const struct stream_specification *input,
				int64_t now_ms, struct err *err)
{
	bool is_new = table->identity.created_ms == 0;

	if (input->stream_view_type)
		return is_new ? err_set(err, MSG_STREAM_VIEW_REFUSED_NEW)
			      : err_set(err, MSG_STREAM_VIEW_REFUSED);
	if (is_new)
		return OK;
	if (table->streams.view == STREAM_OFF)
		return err_set(err, MSG_STREAM_OFF, STR_ARG(table->identity.name));
	table->streams.view = STREAM_OFF;
	table->streams.v[table->streams.n - 1].disabled_ms = now_ms;
	return OK;
}

/* Adds a stream behind those that can still be read. Its time of creation is its name, so no two
 * have the same. */
static void add_table_stream(struct table *table, enum stream_view view, uint32_t shards,
			     int64_t now_ms)
{
	struct stream *streams = ARENA_ARRAY(table->arena, struct stream, table->streams.n + 1);
	const struct stream *last =
		table->streams.n ? &table->streams.v[table->streams.n - 1] : NULL;
	struct stream added = {
		.number = last ? last->number + 1 : 1,
		.view = view,
		.created_ms = now_ms,
		.shards = shards,
		.settings = table_stream_settings(table),
	};
	size_t kept = 0;
	char stamp[32];
	struct tm tm;

	assert(table->streams.v || table->streams.n == 0);
	if (last && added.created_ms <= last->created_ms)
		added.created_ms = last->created_ms + 1;
	time_t seconds = (time_t)(added.created_ms / 1000);
	gmtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	added.label = str_printf(table->arena, "%s.%03d", stamp, (int)(added.created_ms % 1000));
	for (size_t i = 0; i < table->streams.n; i++) {
		if (!stream_is_gone(&table->streams.v[i], now_ms))
			streams[kept++] = table->streams.v[i];
	}
	streams[kept++] = added;
	table->streams.v = streams;
	table->streams.n = kept;
	table->streams.view = view;
	table->streams.label = added.label;
	table->settings->stream_policy = (struct policy){.text = STR_ABSENT}; /* the last one's */
}

enum code table_rules_stream(struct table *table, const struct stream_specification *input,
			     uint32_t shards, int64_t now_ms, struct err *err)
{
	static const enum stream_view views[] = {
		[STREAM_VIEW_TYPE_NEW_IMAGE] = STREAM_NEW_IMAGE,
		[STREAM_VIEW_TYPE_OLD_IMAGE] = STREAM_OLD_IMAGE,
		[STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES] = STREAM_NEW_AND_OLD_IMAGES,
		[STREAM_VIEW_TYPE_KEYS_ONLY] = STREAM_KEYS_ONLY,
	};

	if (!opt_is_true(input->stream_enabled))
		return disable_stream(table, input, now_ms, err);
	if (!input->stream_view_type)
		return table->identity.created_ms == 0 ? err_set(err, MSG_STREAM_VIEW_REQUIRED_NEW)
						       : err_set(err, MSG_STREAM_VIEW_REQUIRED);
	if (table->streams.view != STREAM_OFF)
		return err_set(err, MSG_STREAM_ON, STR_ARG(table->identity.name));
	add_table_stream(table, views[input->stream_view_type], shards, now_ms);
	return OK;
}

enum code table_rules_changeable(const struct table *table, struct err *err)
{
	if (table->state.status == STATUS_CREATING || table->state.status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_IN_USE, table_rules_doing(table->state.status),
			       STR_ARG(table->identity.name));
	return OK;
}

enum code table_rules_class(struct str name, struct err *err)
{
	bool is_known = !str_is_set(name) || str_eq(name, STR("STANDARD")) ||
			str_eq(name, STR("STANDARD_INFREQUENT_ACCESS"));

	return is_known ? OK : err_set(err, MSG_TABLE_CLASS);
}

/* AWS: a constraint, although the lists of a global index are longer. */
static enum code check_key_counts(const struct create_table_input *input, struct arena *arena,
				  struct err *err)
{
	if (input->key_schema.n > 2)
		return too_many_keys(arena, &input->key_schema, 2, err);
	for (size_t i = 0; i < input->local_secondary_indexes.n; i++) {
		const struct key_schema_input *keys =
			&input->local_secondary_indexes.v[i].key_schema;

		if (keys->n > 2)
			return too_many_keys(arena, keys, 2, err);
	}
	for (size_t i = 0; i < input->global_secondary_indexes.n; i++) {
		const struct key_schema_input *keys =
			&input->global_secondary_indexes.v[i].key_schema;

		if (keys->n > 2 * KEY_HASH_ATTRIBUTES_MAX)
			return too_many_keys(arena, keys, 2 * KEY_HASH_ATTRIBUTES_MAX, err);
	}
	return OK;
}

/* The definitions that the indexes need, and no others. */
static enum code check_index_definitions(const struct create_table_input *input,
					 const struct table *table, struct err *err)
{
	const struct local_secondary_index_list *locals = &input->local_secondary_indexes;
	const struct global_secondary_index_list *globals = &input->global_secondary_indexes;
	enum code code = OK;

	if (locals->v && locals->n == 0)
		return err_set(err, MSG_INDEX_LIST_EMPTY, "LocalSecondaryIndexes");
	if (globals->v && globals->n == 0)
		return err_set(err, MSG_INDEX_LIST_EMPTY, "GlobalSecondaryIndexes");
	assert((locals->v || locals->n == 0) && (globals->v || globals->n == 0));
	if (locals->n > 0 && table->keys.range_count == 0)
		return err_set(err, MSG_INDEX_RANGE_TABLE);
	for (size_t i = 0; i < locals->n && code == OK; i++)
		code = check_defined(table, &locals->v[i].key_schema, err);
	for (size_t i = 0; i < globals->n && code == OK; i++)
		code = check_defined(table, &globals->v[i].key_schema, err);
	if (code != OK)
		return code;
	return check_definitions_used(input, table, err);
}

static enum code read_table_indexes(const struct create_table_input *input, struct table *table,
				    struct err *err)
{
	const struct local_secondary_index_list *locals = &input->local_secondary_indexes;
	const struct global_secondary_index_list *globals = &input->global_secondary_indexes;
	enum code code = OK;

	if (locals->n > LOCAL_INDEXES_MAX)
		return err_set(err, MSG_INDEX_LIMIT_LOCAL, LOCAL_INDEXES_MAX);
	for (size_t i = 0; i < locals->n && code == OK; i++)
		code = add_local(table, &locals->v[i], err);
	for (size_t i = 0; i < globals->n && code == OK; i++)
		code = table_rules_add_global(table, &globals->v[i], err);
	return code;
}

static enum code read_vectors(const struct create_table_input *input, struct table *table,
			      struct err *err)
{
	const struct vector_index_list *vectors = &input->vector_indexes;
	enum code code = OK;

	if (!vectors->v)
		return OK;
	if (vectors->n == 0)
		return err_set(err, MSG_INDEX_LIST_EMPTY, "VectorIndexes");
	if (table->settings->billing != BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_VECTOR_BILLING);
	if (vectors->n > VECTOR_INDEXES_MAX)
		return err_set(err, MSG_VECTOR_COUNT, VECTOR_INDEXES_MAX);
	for (size_t i = 0; i < vectors->n && code == OK; i++)
		code = table_rules_add_vector(table, &vectors->v[i], &input->attribute_definitions,
					      err);
	return code;
}

static void read_rest(const struct create_table_input *input, struct table *table)
{
	settings_create(table->settings, input);
	if (str_is_set(input->table_class))
		table->settings->table_class = str_copy(table->arena, input->table_class);
	table->settings->tags.v = ARENA_ARRAY(table->arena, struct tag, input->tags.n);
	for (size_t i = 0; i < input->tags.n; i++)
		table->settings->tags.v[table->settings->tags.n++] =
			(struct tag){str_copy(table->arena, input->tags.v[i].key),
				     str_copy(table->arena, input->tags.v[i].value)};
}

enum code table_rules_create(const struct create_table_input *input, struct table *table,
			     struct err *err)
{
	enum code code;

	if (str_is_set(input->global_table_source_arn) ||
	    input->global_table_settings_replication_mode)
		return err_set(err, MSG_FEATURE_ABSENT, "Global table replication");
	code = check_key_counts(input, table->arena, err);
	if (code != OK)
		return code;
	code = read_billing(input, table, err);
	if (code != OK)
		return code;
	code = table_rules_define(table, &input->attribute_definitions, err);
	if (code != OK)
		return code;
	/* AWS: for a key that has one attribute twice it may report a missing definition */
	if (table->settings->definition_count < input->key_schema.n)
		return err_set(err, MSG_KEYS_UNDEFINED);
	code = read_table_keys(table, &input->key_schema, 1, &table->keys, err);
	if (code != OK)
		return code;
	code = check_index_definitions(input, table, err);
	if (code != OK)
		return code;
	code = read_table_indexes(input, table, err);
	if (code != OK)
		return code;
	code = read_vectors(input, table, err);
	if (code != OK)
		return code;
	code = table_rules_class(input->table_class, err);
	if (code != OK)
		return code;
	if (input->sse_specification)
		code = encryption_rules_check(input->sse_specification, err);
	if (code != OK)
		return code;
	if (input->sse_specification)
		code = encryption_rules_apply(table, input->sse_specification, true, err);
	if (code != OK)
		return code;
	read_rest(input, table);
	return OK;
}
