#include "server/seed/model.h"

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

/* Key attributes with their types, each once. */
struct attributes {
	struct str *names;
	size_t n;
};

static bool is_among(const struct attributes *attributes, struct str name)
{
	for (size_t i = 0; i < attributes->n; i++) {
		if (str_eq(attributes->names[i], name))
			return true;
	}
	return false;
}

static void define(struct json_out *out, struct arena *arena, struct attributes *seen, const struct json *keys)
{
	static const char *const roles[] = {"PartitionKey", "SortKey"};

	for (size_t i = 0; i < 2; i++) {
		const struct json *key = json_text_get(keys, roles[i], JSON_OBJECT);
		struct str name = json_text_string(arena, key, "AttributeName");

		if (!str_is_set(name) || is_among(seen, name))
			continue;
		seen->names = arena_room(arena, seen->names, seen->n, sizeof(*seen->names));
		seen->names[seen->n++] = name;
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", name);
		json_out_field_string(out, "AttributeType", json_text_string(arena, key, "AttributeType"));
		json_out_close(out, '}');
	}
}

static void add_definitions(struct json_out *out, struct arena *arena, const struct json *table)
{
	struct attributes seen = {0};
	const struct json *indexes = json_text_get(table, "GlobalSecondaryIndexes", JSON_ARRAY);

	json_out_name(out, STR("AttributeDefinitions"));
	json_out_open(out, '[');
	define(out, arena, &seen, json_text_get(table, "KeyAttributes", JSON_OBJECT));
	for (const struct json *index = indexes ? json_first(indexes) : NULL; index; index = json_next(index))
		define(out, arena, &seen, json_text_get(index, "KeyAttributes", JSON_OBJECT));
	json_out_close(out, ']');
}

static void add_key(struct json_out *out, struct arena *arena, const struct json *keys)
{
	static const struct { const char *role, *type; } roles[] = {{"PartitionKey", "HASH"}, {"SortKey", "RANGE"}};

	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	for (size_t i = 0; i < 2; i++) {
		struct str name = json_text_string(arena, json_text_get(keys, roles[i].role, JSON_OBJECT), "AttributeName");

		if (!str_is_set(name))
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", name);
		json_out_field_string(out, "KeyType", str_of(roles[i].type));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void add_indexes(struct json_out *out, struct arena *arena, const struct json *table)
{
	const struct json *indexes = json_text_get(table, "GlobalSecondaryIndexes", JSON_ARRAY);

	if (!indexes || !json_first(indexes))
		return;
	json_out_name(out, STR("GlobalSecondaryIndexes"));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index)) {
		const struct json *projection = json_text_get(index, "Projection", JSON_OBJECT);

		json_out_open(out, '{');
		json_out_field_string(out, "IndexName", json_text_string(arena, index, "IndexName"));
		add_key(out, arena, json_text_get(index, "KeyAttributes", JSON_OBJECT));
		json_out_name(out, STR("Projection"));
		if (projection)
			json_text_write(out, arena, projection);
		else
			buf_add_lit(&out->buf, "{\"ProjectionType\":\"ALL\"}");
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* On demand: what a model's tables cost matters where it is deployed. */
static enum code make_table(struct seed *seed, const struct json *table, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct str name = json_text_string(arena, table, "TableName");
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	add_definitions(&out, arena, table);
	add_key(&out, arena, json_text_get(table, "KeyAttributes", JSON_OBJECT));
	add_indexes(&out, arena, table);
	json_out_field_string(&out, "BillingMode", STR("PAY_PER_REQUEST"));
	json_out_close(&out, '}');
	return seed_table(seed, name, json_out_str(&out), NULL, 0, err);
}

static enum code put_all(struct seed *seed, struct str table, const struct json *rows, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	enum code code = OK;

	for (const struct json *row = rows ? json_first(rows) : NULL; row && code == OK; row = json_next(row)) {
		struct json_out out = json_out_in(arena);

		json_text_write(&out, arena, row);
		code = seed_item(seed, table, json_out_str(&out), 0, err);
	}
	return code;
}

static enum code put_samples(struct seed *seed, const struct json *table, struct err *err)
{
	struct str name = json_text_string(seed_arena(seed), table, "TableName");
	const struct json *facets = json_text_get(table, "TableFacets", JSON_ARRAY);
	enum code code = put_all(seed, name, json_text_get(table, "TableData", JSON_ARRAY), err);

	for (const struct json *facet = facets ? json_first(facets) : NULL; facet && code == OK; facet = json_next(facet))
		code = put_all(seed, name, json_text_get(facet, "TableData", JSON_ARRAY), err);
	return code;
}

bool model_is_in(const struct json *root)
{
	return json_text_get(root, "DataModel", JSON_ARRAY) != NULL;
}

enum code model_read(struct seed *seed, const struct json *root, struct err *err)
{
	enum code code = OK;

	for (const struct json *table = json_first(json_text_get(root, "DataModel", JSON_ARRAY)); table && code == OK; table = json_next(table)) {
		if (!json_text_get(table, "TableName", JSON_STRING) || !json_text_get(table, "KeyAttributes", JSON_OBJECT)) {
			err_set(err, MSG_SEED_NO_KEYS, STR_ARG(json_text_string(seed_arena(seed), table, "TableName")));
			return seed_at(seed, 0, err);
		}
		code = make_table(seed, table, err);
		if (code == OK)
			code = put_samples(seed, table, err);
	}
	return code;
}
