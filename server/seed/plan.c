#include "server/seed/plan.h"

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define MODULE_DEPTH_MAX 64
#define FOLLOW_UPS_MAX 2

/* A string that is set: Terraform's null and "" are none. */
static struct str text(struct arena *arena, const struct json *from, const char *name)
{
	struct str s = json_text_string(arena, from, name);

	return s.n > 0 ? s : STR_ABSENT;
}

static bool is_on(const struct json *from, const char *name)
{
	const struct json *found = json_text_get(from, name, JSON_BOOLEAN);

	return found && json_boolean(found);
}

/* The first block of a list of blocks. */
static const struct json *block(const struct json *from, const char *name)
{
	const struct json *list = json_text_get(from, name, JSON_ARRAY);

	return list ? json_first(list) : NULL;
}

static void add_element(struct json_out *out, struct str name, const char *type)
{
	json_out_open(out, '{');
	json_out_field_string(out, "AttributeName", name);
	json_out_field_string(out, "KeyType", str_of(type));
	json_out_close(out, '}');
}

/* Blocks of key_schema, or hash_key and range_key. */
static void add_key(struct json_out *out, struct arena *arena, const struct json *from, struct str hash)
{
	const struct json *elements = json_text_get(from, "key_schema", JSON_ARRAY);
	struct str range = text(arena, from, "range_key");

	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	if (elements && json_first(elements)) {
		for (const struct json *at = json_first(elements); at; at = json_next(at))
			add_element(out, text(arena, at, "attribute_name"), str_eq(text(arena, at, "key_type"), STR("RANGE")) ? "RANGE" : "HASH");
	} else {
		add_element(out, hash, "HASH");
		if (str_is_set(range))
			add_element(out, range, "RANGE");
	}
	json_out_close(out, ']');
}

static void add_throughput(struct json_out *out, const struct json *from)
{
	const struct json *read = json_text_get(from, "read_capacity", JSON_NUMBER), *write = json_text_get(from, "write_capacity", JSON_NUMBER);

	if (!read || !write || json_number(read) <= 0 || json_number(write) <= 0)
		return;
	json_out_name(out, STR("ProvisionedThroughput"));
	json_out_open(out, '{');
	json_out_field_integer(out, "ReadCapacityUnits", (int64_t)json_number(read));
	json_out_field_integer(out, "WriteCapacityUnits", (int64_t)json_number(write));
	json_out_close(out, '}');
}

static void add_index(struct json_out *out, struct arena *arena, const struct json *index, struct str hash, bool is_provisioned)
{
	const struct json *attributes = json_text_get(index, "non_key_attributes", JSON_ARRAY);

	json_out_open(out, '{');
	json_out_field_string(out, "IndexName", text(arena, index, "name"));
	add_key(out, arena, index, hash);
	json_out_name(out, STR("Projection"));
	json_out_open(out, '{');
	json_out_field_string(out, "ProjectionType", text(arena, index, "projection_type"));
	if (attributes && json_first(attributes)) {
		json_out_name(out, STR("NonKeyAttributes"));
		json_text_write(out, arena, attributes);
	}
	json_out_close(out, '}');
	if (is_provisioned)
		add_throughput(out, index);
	json_out_close(out, '}');
}

/* A local index has the table's partition key. */
static void add_indexes(struct json_out *out, struct arena *arena, const struct json *table, const char *blocks, const char *name, bool is_local)
{
	const struct json *indexes = json_text_get(table, blocks, JSON_ARRAY);
	bool is_provisioned = !is_local && !str_eq(text(arena, table, "billing_mode"), STR("PAY_PER_REQUEST"));

	if (!indexes || !json_first(indexes))
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index))
		add_index(out, arena, index, text(arena, is_local ? table : index, "hash_key"), is_provisioned);
	json_out_close(out, ']');
}

static void add_attributes(struct json_out *out, struct arena *arena, const struct json *table)
{
	const struct json *attributes = json_text_get(table, "attribute", JSON_ARRAY);

	json_out_name(out, STR("AttributeDefinitions"));
	json_out_open(out, '[');
	for (const struct json *at = attributes ? json_first(attributes) : NULL; at; at = json_next(at)) {
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", text(arena, at, "name"));
		json_out_field_string(out, "AttributeType", text(arena, at, "type"));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void add_tags(struct json_out *out, struct arena *arena, const struct json *table)
{
	const struct json *tags = json_text_get(table, "tags_all", JSON_OBJECT);

	if (!tags)
		tags = json_text_get(table, "tags", JSON_OBJECT);
	if (!tags || !json_first(tags))
		return;
	json_out_name(out, STR("Tags"));
	json_out_open(out, '[');
	for (const struct json *tag = json_first(tags); tag; tag = json_next(tag)) {
		json_out_open(out, '{');
		json_out_field_string(out, "Key", json_name(arena, tag));
		json_out_field_string(out, "Value", json_type(tag) == JSON_STRING ? json_string(arena, tag) : STR(""));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void add_settings(struct json_out *out, struct arena *arena, const struct json *table)
{
	struct str class = text(arena, table, "table_class"), view = text(arena, table, "stream_view_type");

	if (is_on(table, "stream_enabled")) {
		json_out_name(out, STR("StreamSpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "StreamEnabled", true);
		if (str_is_set(view))
			json_out_field_string(out, "StreamViewType", view);
		json_out_close(out, '}');
	}
	if (str_is_set(class))
		json_out_field_string(out, "TableClass", class);
	if (is_on(table, "deletion_protection_enabled"))
		json_out_field_boolean(out, "DeletionProtectionEnabled", true);
	if (is_on(block(table, "server_side_encryption"), "enabled")) {
		json_out_name(out, STR("SSESpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "Enabled", true);
		json_out_close(out, '}');
	}
	add_tags(out, arena, table);
}

static struct str create_body(struct arena *arena, const struct json *table, struct str name)
{
	struct json_out out = json_out_in(arena);
	bool is_on_demand = str_eq(text(arena, table, "billing_mode"), STR("PAY_PER_REQUEST"));

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	add_attributes(&out, arena, table);
	add_key(&out, arena, table, text(arena, table, "hash_key"));
	json_out_field_string(&out, "BillingMode", is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
	if (!is_on_demand)
		add_throughput(&out, table);
	add_indexes(&out, arena, table, "global_secondary_index", "GlobalSecondaryIndexes", false);
	add_indexes(&out, arena, table, "local_secondary_index", "LocalSecondaryIndexes", true);
	add_settings(&out, arena, table);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static size_t add_follow_ups(struct arena *arena, const struct json *table, struct str name, struct seed_request *follow_ups)
{
	const struct json *ttl = block(table, "ttl");
	size_t n = 0;

	if (is_on(ttl, "enabled")) {
		struct json_out out = json_out_in(arena);

		json_out_open(&out, '{');
		json_out_field_string(&out, "TableName", name);
		json_out_name(&out, STR("TimeToLiveSpecification"));
		json_out_open(&out, '{');
		json_out_field_boolean(&out, "Enabled", true);
		json_out_field_string(&out, "AttributeName", text(arena, ttl, "attribute_name"));
		json_out_close(&out, '}');
		json_out_close(&out, '}');
		follow_ups[n++] = (struct seed_request){.operation = "UpdateTimeToLive", .body = json_out_str(&out)};
	}
	if (is_on(block(table, "point_in_time_recovery"), "enabled")) {
		struct json_out out = json_out_in(arena);

		json_out_open(&out, '{');
		json_out_field_string(&out, "TableName", name);
		buf_add_lit(&out.buf, ",\"PointInTimeRecoverySpecification\":{\"PointInTimeRecoveryEnabled\":true}");
		json_out_close(&out, '}');
		follow_ups[n++] = (struct seed_request){.operation = "UpdateContinuousBackups", .body = json_out_str(&out)};
	}
	return n;
}

/* A resource with its values: a table on the first walk, an item on the second, since Terraform does not say which comes first. */
static enum code read_resource(struct seed *seed, const struct json *resource, bool is_for_items, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct str type = text(arena, resource, "type");
	const struct json *values = json_text_get(resource, "values", JSON_OBJECT);
	struct seed_request follow_ups[FOLLOW_UPS_MAX];

	if (values && !is_for_items && str_eq(type, STR("aws_dynamodb_table"))) {
		struct str name = text(arena, values, "name");

		return seed_table(seed, source_origin(seed_source(seed), values), name, create_body(arena, values, name), follow_ups,
				  add_follow_ups(arena, values, name, follow_ups), err);
	}
	if (values && is_for_items && str_eq(type, STR("aws_dynamodb_table_item")))
		return seed_item(seed, text(arena, values, "table_name"), text(arena, values, "item"), 0, err);
	return OK;
}

static enum code read_module(struct seed *seed, const struct json *module, bool is_for_items, unsigned depth, struct err *err)
{
	const struct json *resources = json_text_get(module, "resources", JSON_ARRAY), *children = json_text_get(module, "child_modules", JSON_ARRAY);
	enum code code = OK;

	for (const struct json *at = resources ? json_first(resources) : NULL; at && code == OK; at = json_next(at))
		code = read_resource(seed, at, is_for_items, err);
	if (depth == MODULE_DEPTH_MAX)
		return code;
	for (const struct json *at = children ? json_first(children) : NULL; at && code == OK; at = json_next(at))
		code = read_module(seed, at, is_for_items, depth + 1, err);
	return code;
}

static const struct json *root_module(const struct json *root)
{
	const struct json *values = json_text_get(root, "planned_values", JSON_OBJECT);

	return json_text_get(values ? values : json_text_get(root, "values", JSON_OBJECT), "root_module", JSON_OBJECT);
}

bool plan_is_in(const struct json *root)
{
	return root_module(root) != NULL;
}

enum code plan_read(struct seed *seed, const struct json *root, struct err *err)
{
	enum code code = read_module(seed, root_module(root), false, 0, err);

	return code == OK ? read_module(seed, root_module(root), true, 0, err) : code;
}
