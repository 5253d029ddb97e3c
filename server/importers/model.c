#include "server/importers/model.h"

#include "protocol/wire/json_out.h"
#include "protocol/wire/shapes.h"
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

static void define(struct json_out *out, struct arena *arena, struct attributes *seen,
		   const struct json *keys)
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
		json_out_field_string(out, "AttributeType",
				      json_text_string(arena, key, "AttributeType"));
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
	for (const struct json *index = indexes ? json_first(indexes) : NULL; index;
	     index = json_next(index))
		define(out, arena, &seen, json_text_get(index, "KeyAttributes", JSON_OBJECT));
	json_out_close(out, ']');
}

static void add_key(struct json_out *out, struct arena *arena, const struct json *keys)
{
	static const struct {
		const char *role, *type;
	} roles[] = {{"PartitionKey", "HASH"}, {"SortKey", "RANGE"}};

	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	for (size_t i = 0; i < 2; i++) {
		struct str name = json_text_string(
			arena, json_text_get(keys, roles[i].role, JSON_OBJECT), "AttributeName");

		if (!str_is_set(name))
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", name);
		json_out_field_string(out, "KeyType", str_of(roles[i].type));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* ProvisionedCapacitySettings of a table or an index that has some; marked. */
static const struct json *capacity_settings(struct seed *seed, const struct json *object,
					    bool is_provisioned)
{
	struct source *source = seed_source(seed);
	const struct json *settings =
		source_get(source, object, "ProvisionedCapacitySettings", JSON_OBJECT);
	bool has_read = source_pass_over(source, settings, "AutoScalingRead"),
	     has_write = source_pass_over(source, settings, "AutoScalingWrite");

	if (is_provisioned && (has_read || has_write))
		seed_warn(
			seed, source_origin(source, settings), STR("ProvisionedCapacitySettings"),
			STR("auto scaling of a model is not carried out; capacity stays as it is"));
	source_use_all(source, json_text_get(settings, "ProvisionedThroughput", JSON_OBJECT));
	return settings;
}

/* AWS's published models give capacity to the table alone. */
static void add_index_capacity(struct seed *seed, struct json_out *out, const struct json *index,
			       const struct json *of_table)
{
	struct source *source = seed_source(seed);
	const struct json *own = capacity_settings(seed, index, of_table != NULL);
	bool has_own = json_text_get(own, "ProvisionedThroughput", JSON_OBJECT) != NULL;

	if (!of_table)
		return;
	source_copy(source, out, &shape_create_table_input, has_own ? own : of_table,
		    "ProvisionedThroughput");
	if (!has_own)
		seed_warn(seed, source_origin(source, index),
			  json_text_string(seed_arena(seed), index, "IndexName"),
			  STR("the model says no capacity of the index; it gets the table's"));
}

/* `capacity`: the table's settings where it is PROVISIONED, else NULL. */
static void add_indexes(struct seed *seed, struct json_out *out, const struct json *table,
			const struct json *capacity)
{
	struct arena *arena = seed_arena(seed);
	const struct json *indexes = json_text_get(table, "GlobalSecondaryIndexes", JSON_ARRAY);

	if (!indexes || !json_first(indexes))
		return;
	json_out_name(out, STR("GlobalSecondaryIndexes"));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index)) {
		const struct json *projection = json_text_get(index, "Projection", JSON_OBJECT);

		json_out_open(out, '{');
		json_out_field_string(out, "IndexName",
				      json_text_string(arena, index, "IndexName"));
		add_key(out, arena, json_text_get(index, "KeyAttributes", JSON_OBJECT));
		json_out_name(out, STR("Projection"));
		if (projection)
			json_text_write(out, arena, projection);
		else
			buf_add_lit(&out->buf, "{\"ProjectionType\":\"ALL\"}");
		add_index_capacity(seed, out, index, capacity);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* AWS: PROVISIONED with ProvisionedCapacitySettings; on demand where a model says nothing. The
 * settings where it is PROVISIONED, else NULL. */
static const struct json *add_billing(struct seed *seed, struct json_out *out,
				      const struct json *table)
{
	struct source *source = seed_source(seed);
	const struct json *mode = source_get(source, table, "BillingMode", JSON_STRING);
	struct str word = mode ? json_string(seed_arena(seed), mode) : STR("PAY_PER_REQUEST");
	bool is_provisioned = str_eq(word, STR("PROVISIONED"));
	const struct json *settings = capacity_settings(seed, table, is_provisioned);
	bool has_capacity = json_text_get(settings, "ProvisionedThroughput", JSON_OBJECT) != NULL;

	if (!is_provisioned && !str_eq(word, STR("PAY_PER_REQUEST")))
		seed_refuse(seed, source_origin(source, mode), STR("BillingMode"),
			    STR("neither PROVISIONED nor PAY_PER_REQUEST"));
	if (is_provisioned && !has_capacity)
		seed_warn(seed, source_origin(source, mode), STR("BillingMode"),
			  STR("the model says no capacity; the table is on demand"));
	if (!is_provisioned || !has_capacity) {
		json_out_field_string(out, "BillingMode", STR("PAY_PER_REQUEST"));
		return NULL;
	}
	json_out_field_string(out, "BillingMode", STR("PROVISIONED"));
	source_copy(source, out, &shape_create_table_input, settings, "ProvisionedThroughput");
	return settings;
}

static void pass_over(struct seed *seed, const struct json *object, const char *const *names)
{
	for (; *names; names++)
		source_pass_over(seed_source(seed), object, *names);
}

static void mark_keys(struct seed *seed, const struct json *object)
{
	static const char *const roles[] = {"PartitionKey", "SortKey"}, *const members[] = {
										"AttributeName",
										"AttributeType",
										NULL};
	const struct json *keys =
		source_get(seed_source(seed), object, "KeyAttributes", JSON_OBJECT);

	for (size_t i = 0; i < 2; i++)
		pass_over(seed, source_get(seed_source(seed), keys, roles[i], JSON_OBJECT),
			  members);
}

/* What is drawn and described, and what goes to other databases, makes no table. */
static void mark_table(struct seed *seed, const struct json *table)
{
	static const char *const described[] = {"TableName",   "NonKeyAttributes",
						"DataAccess",  "SampleDataFormats",
						"Description", NULL};
	static const char *const facet_members[] = {"FacetName",        "KeyAttributeAlias",
						    "NonKeyAttributes", "DataAccess",
						    "Description",      NULL};
	static const char *const index_members[] = {"IndexName", "Description", NULL},
				 *const projected[] = {"ProjectionType", "NonKeyAttributes", NULL};
	struct source *source = seed_source(seed);
	const struct json *facets = source_get(source, table, "TableFacets", JSON_ARRAY);
	const struct json *indexes =
		source_get(source, table, "GlobalSecondaryIndexes", JSON_ARRAY);

	source_use(source, table);
	pass_over(seed, table, described);
	source_use_all(source, json_text_get(table, "TableData", JSON_ARRAY));
	mark_keys(seed, table);
	for (const struct json *at = facets ? json_first(facets) : NULL; at; at = json_next(at)) {
		source_use(source, at);
		pass_over(seed, at, facet_members);
		source_use_all(source, json_text_get(at, "TableData", JSON_ARRAY));
	}
	for (const struct json *at = indexes ? json_first(indexes) : NULL; at; at = json_next(at)) {
		source_use(source, at);
		mark_keys(seed, at);
		pass_over(seed, at, index_members);
		pass_over(seed, source_get(source, at, "Projection", JSON_OBJECT), projected);
	}
}

static enum code make_table(struct seed *seed, const struct json *table, size_t place,
			    struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct str name = json_text_string(arena, table, "TableName");
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	add_definitions(&out, arena, table);
	add_key(&out, arena, json_text_get(table, "KeyAttributes", JSON_OBJECT));
	add_indexes(seed, &out, table, add_billing(seed, &out, table));
	json_out_close(&out, '}');
	mark_table(seed, table);
	seed_refuse_unused(seed, table, str_printf(arena, "DataModel[%zu]", place));
	return seed_table(seed, source_origin(seed_source(seed), table), name, json_out_str(&out),
			  NULL, 0, err);
}

static bool is_typed(struct arena *arena, const struct json *value)
{
	return json_type(value) == JSON_OBJECT && json_count(value) == 1 &&
	       json_text_is_type(json_name(arena, json_first(value)));
}

static void add_value(struct json_out *out, struct arena *arena, const struct json *value);

static void add_plain(struct json_out *out, struct arena *arena, const struct json *value)
{
	static const char *const types[] = {
		[JSON_NULL] = "NULL", [JSON_BOOLEAN] = "BOOL", [JSON_NUMBER] = "N",
		[JSON_STRING] = "S",  [JSON_ARRAY] = "L",      [JSON_OBJECT] = "M"};
	bool is_object = json_type(value) == JSON_OBJECT, is_array = json_type(value) == JSON_ARRAY;

	json_out_open(out, '{');
	json_out_name(out, str_of(types[json_type(value)]));
	if (is_object || is_array) {
		json_out_open(out, is_object ? '{' : '[');
		for (const struct json *child = json_first(value); child;
		     child = json_next(child)) {
			if (is_object)
				json_out_name(out, json_name(arena, child));
			add_value(out, arena, child);
		}
		json_out_close(out, is_object ? '}' : ']');
	} else if (json_type(value) == JSON_NUMBER) {
		struct json_out text = json_out_in(arena);

		json_text_write(&text, arena, value);
		json_out_string(out, json_out_str(&text));
	} else if (json_type(value) == JSON_NULL) {
		json_out_boolean(out, true);
	} else {
		json_text_write(out, arena, value);
	}
	json_out_close(out, '}');
}

/* AWS: its own published models have plain JSON within M and L, and numbers without quotes in N. */
static void add_value(struct json_out *out, struct arena *arena, const struct json *value)
{
	const struct json *inner = is_typed(arena, value) ? json_first(value) : NULL;
	struct str type = inner ? json_name(arena, inner) : STR("");

	if (!inner) {
		add_plain(out, arena, value);
	} else if ((str_eq(type, STR("M")) && json_type(inner) == JSON_OBJECT) ||
		   (str_eq(type, STR("L")) && json_type(inner) == JSON_ARRAY) ||
		   (str_eq(type, STR("N")) && json_type(inner) == JSON_NUMBER)) {
		add_plain(out, arena, inner);
	} else {
		json_text_write(out, arena, value);
	}
}

static enum code put_all(struct seed *seed, struct str table, const struct json *rows,
			 struct err *err)
{
	struct arena *arena = seed_arena(seed);
	enum code code = OK;

	for (const struct json *row = rows ? json_first(rows) : NULL; row && code == OK;
	     row = json_next(row)) {
		struct json_out out = json_out_in(arena);

		if (json_type(row) == JSON_OBJECT) {
			json_out_open(&out, '{');
			for (const struct json *at = json_first(row); at; at = json_next(at)) {
				json_out_name(&out, json_name(arena, at));
				add_value(&out, arena, at);
			}
			json_out_close(&out, '}');
		} else {
			json_text_write(&out, arena, row);
		}
		code = seed_item(seed, table, json_out_str(&out),
				 source_origin(seed_source(seed), row).line, err);
	}
	return code;
}

static enum code put_samples(struct seed *seed, const struct json *table, struct err *err)
{
	struct str name = json_text_string(seed_arena(seed), table, "TableName");
	const struct json *facets = json_text_get(table, "TableFacets", JSON_ARRAY);
	enum code code = put_all(seed, name, json_text_get(table, "TableData", JSON_ARRAY), err);

	for (const struct json *facet = facets ? json_first(facets) : NULL; facet && code == OK;
	     facet = json_next(facet))
		code = put_all(seed, name, json_text_get(facet, "TableData", JSON_ARRAY), err);
	return code;
}

bool model_is_in(const struct json *root)
{
	return json_text_get(root, "DataModel", JSON_ARRAY) != NULL;
}

enum code model_read(struct seed *seed, const struct json *root, struct err *err)
{
	struct source *source = seed_source(seed);
	enum code code = OK;
	size_t place = 0;

	for (const struct json *at = json_first(root); at; at = json_next(at)) {
		struct str name = json_name(seed_arena(seed), at);

		if (!str_eq(name, STR("DataModel")) && !str_starts_with(name, STR("Model")))
			seed_warn(seed, source_origin(source, at), name,
				  STR("no part of a data model: it is not read"));
	}
	for (const struct json *table = json_first(json_text_get(root, "DataModel", JSON_ARRAY));
	     table; table = json_next(table)) {
		if (!json_text_get(table, "TableName", JSON_STRING) ||
		    !json_text_get(table, "KeyAttributes", JSON_OBJECT)) {
			err_set(err, MSG_SEED_NO_KEYS,
				STR_ARG(json_text_string(seed_arena(seed), table, "TableName")));
			return seed_at_origin(seed, source_origin(source, table), err);
		}
		code = make_table(seed, table, place++, err);
		if (code != OK)
			return code;
		code = put_samples(seed, table, err);
		if (code != OK)
			return code;
	}
	return OK;
}
