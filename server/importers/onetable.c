#include "server/importers/onetable.h"

#include "protocol/wire/json_out.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define ATTRIBUTES_MAX 256 /* AWS: 21 indexes of 8 key attributes at most */

struct schema {
	struct seed *seed;
	struct source *source;
	struct arena *arena;
	const struct json *models, *primary;
	struct str primary_hash;
	struct str defined[ATTRIBUTES_MAX];
	size_t defined_count;
	struct json_out definitions;
};

bool onetable_is_in(const struct json *root)
{
	const struct json *indexes = json_text_get(root, "indexes", JSON_OBJECT);
	const struct json *primary = json_text_get(indexes, "primary", JSON_OBJECT);

	return json_text_get(root, "models", JSON_OBJECT) &&
	       (json_text_get(root, "format", JSON_STRING) ||
		json_text_get(primary, "hash", JSON_STRING));
}

static void refuse(struct schema *schema, const struct json *at, struct str path, const char *why)
{
	seed_refuse(schema->seed, source_origin(schema->source, at), path, str_of(why));
}

/* The attribute that a field of a model is kept in. */
static struct str attribute_of(struct schema *schema, const struct json *field)
{
	struct str map = json_text_string(schema->arena, field, "map");

	return str_is_set(map) ? map : json_name(schema->arena, field);
}

/* "N" or "S", by the first model that has it; others must agree. */
static const char *schema_key_type(struct schema *schema, struct str attribute)
{
	const char *type = NULL;

	for (const struct json *model = json_first(schema->models); model;
	     model = json_next(model)) {
		for (const struct json *field = json_type(model) == JSON_OBJECT ? json_first(model)
										: NULL;
		     field; field = json_next(field)) {
			struct str told = json_text_string(schema->arena, field, "type");
			bool is_number = str_is_set(told) && str_eq_nocase(told, STR("number"));
			const char *own = is_number ? "N" : "S";

			if (!str_eq(attribute_of(schema, field), attribute))
				continue;
			if (type && *type != *own)
				refuse(schema, field, attribute,
				       "a key is a number in one model and none in another");
			type = type ? type : own;
		}
	}
	return type ? type : "S";
}

static void schema_define(struct schema *schema, struct str attribute)
{
	struct json_out *out = &schema->definitions;

	for (size_t i = 0; i < schema->defined_count; i++) {
		if (str_eq(schema->defined[i], attribute))
			return;
	}
	if (schema->defined_count == ATTRIBUTES_MAX) {
		refuse(schema, schema->primary, attribute, "too many key attributes");
		return;
	}
	schema->defined[schema->defined_count++] = attribute;
	json_out_open(out, '{');
	json_out_field_string(out, "AttributeName", attribute);
	json_out_field_string(out, "AttributeType", str_of(schema_key_type(schema, attribute)));
	json_out_close(out, '}');
}

static void add_element(struct json_out *out, struct str name, const char *type)
{
	json_out_open(out, '{');
	json_out_field_string(out, "AttributeName", name);
	json_out_field_string(out, "KeyType", str_of(type));
	json_out_close(out, '}');
}

/* The key of the table or of an index; a local index may leave out the hash. */
static void schema_add_key(struct schema *schema, struct json_out *out, const struct json *index)
{
	struct str hash = source_string(schema->source, schema->arena, index, "hash"),
		   sort = source_string(schema->source, schema->arena, index, "sort");

	hash = str_is_set(hash) ? hash : schema->primary_hash;
	schema_define(schema, hash);
	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	add_element(out, hash, "HASH");
	if (str_is_set(sort)) {
		schema_define(schema, sort);
		add_element(out, sort, "RANGE");
	}
	json_out_close(out, ']');
}

/* "all", "keys", or a list of attributes, of which the table's keys are no part. */
static void schema_add_projection(struct schema *schema, struct json_out *out,
				  const struct json *index)
{
	const struct json *list = source_get(schema->source, index, "project", JSON_ARRAY);
	struct str word = source_string(schema->source, schema->arena, index, "project");
	struct str sort = json_text_string(schema->arena, schema->primary, "sort");
	bool is_keys = str_is_set(word) && str_eq(word, STR("keys"));

	if (str_is_set(word) && !is_keys && !str_eq(word, STR("all")))
		refuse(schema, json_member(index, "project"), word, "neither all, keys nor a list");
	json_out_name(out, STR("Projection"));
	json_out_open(out, '{');
	json_out_field_string(out, "ProjectionType",
			      list      ? STR("INCLUDE")
			      : is_keys ? STR("KEYS_ONLY")
					: STR("ALL"));
	if (list) {
		source_use_all(schema->source, list);
		json_out_name(out, STR("NonKeyAttributes"));
		json_out_open(out, '[');
		for (const struct json *at = json_first(list); at; at = json_next(at)) {
			struct str name = json_type(at) == JSON_STRING
						  ? json_string(schema->arena, at)
						  : STR("");

			if (!str_eq(name, schema->primary_hash) &&
			    !(str_is_set(sort) && str_eq(name, sort)))
				json_out_string(out, name);
		}
		json_out_close(out, ']');
	}
	json_out_close(out, '}');
}

static bool is_local(struct schema *schema, const struct json *index)
{
	struct str type = source_string(schema->source, schema->arena, index, "type");

	return str_is_set(type) && str_eq(type, STR("local"));
}

/* The indexes of a kind, where there are some. */
static void schema_add_indexes(struct schema *schema, struct json_out *out,
			       const struct json *indexes, bool are_local)
{
	size_t n = 0;

	for (const struct json *at = json_first(indexes); at; at = json_next(at)) {
		if (at == schema->primary || json_type(at) != JSON_OBJECT ||
		    is_local(schema, at) != are_local)
			continue;
		struct str type = json_text_string(schema->arena, at, "type");
		if (str_is_set(type) && !are_local && !str_eq(type, STR("global")))
			refuse(schema, at, type, "neither local nor global");
		source_use(schema->source, at);
		source_pass_over(schema->source, at, "follow"); /* how the client reads it */
		if (n++ == 0) {
			json_out_name(out, are_local ? STR("LocalSecondaryIndexes")
						     : STR("GlobalSecondaryIndexes"));
			json_out_open(out, '[');
		}
		json_out_open(out, '{');
		json_out_field_string(out, "IndexName", json_name(schema->arena, at));
		schema_add_key(schema, out, at);
		schema_add_projection(schema, out, at);
		json_out_close(out, '}');
	}
	if (n > 0)
		json_out_close(out, ']');
}

/* Of the fields with "ttl"; absent where there is none. */
static struct str expiry_of(struct schema *schema)
{
	struct str found = STR_ABSENT;

	for (const struct json *model = json_first(schema->models); model;
	     model = json_next(model)) {
		for (const struct json *field = json_type(model) == JSON_OBJECT ? json_first(model)
										: NULL;
		     field; field = json_next(field)) {
			const struct json *own = json_type(field) == JSON_OBJECT
							 ? json_member(field, "ttl")
							 : NULL,
					  *ttl = json_text_get(field, "ttl", JSON_BOOLEAN);
			struct str attribute = attribute_of(schema, field);

			if (own && !ttl)
				refuse(schema, own, attribute, "its ttl is neither true nor false");
			if (!ttl || !json_boolean(ttl))
				continue;
			if (str_is_set(found) && !str_eq(found, attribute))
				refuse(schema, field, attribute,
				       "a table has one attribute by which items expire");
			found = attribute;
		}
	}
	return found;
}

/* What is the client's: types of items, and how they are checked. */
static void pass_over(struct schema *schema, const struct json *root)
{
	static const char *const passed[] = {"format",  "version", "models",     "params",
					     "queries", "process", "description"};

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		source_pass_over(schema->source, root, passed[i]);
}

enum code onetable_read(struct seed *seed, const struct json *root, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct source *source = seed_source(seed);
	struct schema *schema = ARENA_NEW(arena, struct schema);
	struct str name = seed_table_name(seed);
	struct json_out out = json_out_in(arena);

	source_use(source, root);
	const struct json *indexes = source_get(source, root, "indexes", JSON_OBJECT);
	const struct json *primary = source_get(source, indexes, "primary", JSON_OBJECT);
	*schema = (struct schema){.seed = seed,
				  .source = source,
				  .arena = arena,
				  .models = json_member(root, "models"),
				  .primary = primary,
				  .primary_hash = source_string(source, arena, primary, "hash"),
				  .definitions = json_out_in(arena)};
	if (!primary || !str_is_set(schema->primary_hash)) {
		err_set(err, MSG_SEED_SCHEMA);
		return seed_at_origin(seed, source_origin(source, root), err);
	}
	pass_over(schema, root);
	json_out_open(&schema->definitions, '[');
	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	json_out_field_string(&out, "BillingMode", STR("PAY_PER_REQUEST"));
	schema_add_key(schema, &out, primary);
	schema_add_indexes(schema, &out, indexes, false);
	schema_add_indexes(schema, &out, indexes, true);
	json_out_close(&schema->definitions, ']');
	json_out_name(&out, STR("AttributeDefinitions"));
	buf_add_str(&out.buf, json_out_str(&schema->definitions));
	json_out_close(&out, '}');
	struct str expiry = expiry_of(schema);
	struct seed_request follow_up = {.operation = "UpdateTimeToLive"};
	if (str_is_set(expiry))
		follow_up.body = description_to_expire(arena, name, expiry);
	seed_refuse_unused(seed, root, STR(""));
	return seed_table(seed, source_origin(source, root), name, json_out_str(&out), &follow_up,
			  str_is_set(expiry), err);
}
