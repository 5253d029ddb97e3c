#include "server/seed/template.h"

#include <stdlib.h>

#include "protocol/wire/json_out.h"
#include "server/seed/intrinsics.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define FOLLOW_UPS_MAX 4

/* A table as its template has it, without functions. */
struct resource {
	struct arena *arena;
	struct str name;
	const struct json *properties;
	const struct json *replica;   /* of AWS::DynamoDB::GlobalTable: the first one, which has what belongs to one region; or NULL */
};

/* Templates write numbers and truth values as strings, too. */
static void add_loosely(struct json_out *out, struct arena *arena, const struct json *value, bool is_number)
{
	struct str text = json_type(value) == JSON_STRING ? json_string(arena, value) : STR_ABSENT;

	if (!str_is_set(text))
		json_text_write(out, arena, value);
	else if (is_number)
		json_out_integer(out, strtoll(str_copy(arena, text).p, NULL, 10));
	else
		json_out_boolean(out, str_eq_nocase(text, STR("true")));
}

/* An object of numbers: ProvisionedThroughput and the like. */
static void copy_numbers(struct json_out *out, struct arena *arena, const struct json *from, const char *name)
{
	const struct json *numbers = json_text_get(from, name, JSON_OBJECT);

	if (!numbers)
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	for (const struct json *at = json_first(numbers); at; at = json_next(at)) {
		json_out_name(out, json_name(arena, at));
		add_loosely(out, arena, at, true);
	}
	json_out_close(out, '}');
}

static void copy_indexes(struct json_out *out, const struct resource *resource, const char *name)
{
	const struct json *indexes = json_member(resource->properties, name);

	if (!indexes || json_type(indexes) != JSON_ARRAY || !json_first(indexes))
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index)) {
		json_out_open(out, '{');
		json_text_copy(out, resource->arena, index, "IndexName");
		json_text_copy(out, resource->arena, index, "KeySchema");
		json_text_copy(out, resource->arena, index, "Projection");
		copy_numbers(out, resource->arena, index, "ProvisionedThroughput");
		copy_numbers(out, resource->arena, index, "OnDemandThroughput");
		copy_numbers(out, resource->arena, index, "WarmThroughput");
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void add_encryption(struct json_out *out, const struct resource *resource)
{
	const struct json *encryption = json_text_get(resource->properties, "SSESpecification", JSON_OBJECT);
	const struct json *enabled = encryption ? json_member(encryption, "SSEEnabled") : NULL;

	if (!enabled)
		return;
	json_out_name(out, STR("SSESpecification"));
	json_out_open(out, '{');
	json_out_name(out, STR("Enabled"));
	add_loosely(out, resource->arena, enabled, false);
	json_text_copy(out, resource->arena, encryption, "SSEType");
	json_text_copy(out, resource->arena, encryption, "KMSMasterKeyId");
	json_out_close(out, '}');
}

/* Of the table, or of a global table's replica. */
static const struct json *own(const struct resource *resource, const char *name)
{
	const struct json *found = json_member(resource->properties, name);

	return found || !resource->replica ? found : json_member(resource->replica, name);
}

static void add_settings(struct json_out *out, const struct resource *resource)
{
	const struct json *stream = json_text_get(resource->properties, "StreamSpecification", JSON_OBJECT), *member;

	if (stream && json_member(stream, "StreamViewType")) {
		json_out_name(out, STR("StreamSpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "StreamEnabled", true);
		json_text_copy(out, resource->arena, stream, "StreamViewType");
		json_out_close(out, '}');
	}
	add_encryption(out, resource);
	member = own(resource, "DeletionProtectionEnabled");
	if (member) {
		json_out_name(out, STR("DeletionProtectionEnabled"));
		add_loosely(out, resource->arena, member, false);
	}
	member = own(resource, "TableClass");
	if (member) {
		json_out_name(out, STR("TableClass"));
		json_text_write(out, resource->arena, member);
	}
	member = own(resource, "Tags");
	if (member && json_type(member) == JSON_ARRAY && json_first(member)) {
		json_out_name(out, STR("Tags"));
		json_text_write(out, resource->arena, member);
	}
}

/* AWS: without BillingMode a table is provisioned. A global table's numbers lie elsewhere and scale: here it is on demand. */
static struct str create_body(const struct resource *resource)
{
	struct json_out out = json_out_in(resource->arena);
	const struct json *properties = resource->properties;

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", resource->name);
	json_text_copy(&out, resource->arena, properties, "KeySchema");
	json_text_copy(&out, resource->arena, properties, "AttributeDefinitions");
	if (resource->replica)
		json_out_field_string(&out, "BillingMode", STR("PAY_PER_REQUEST"));
	else
		json_text_copy(&out, resource->arena, properties, "BillingMode");
	copy_numbers(&out, resource->arena, properties, "ProvisionedThroughput");
	copy_numbers(&out, resource->arena, properties, "OnDemandThroughput");
	copy_numbers(&out, resource->arena, properties, "WarmThroughput");
	copy_indexes(&out, resource, "GlobalSecondaryIndexes");
	copy_indexes(&out, resource, "LocalSecondaryIndexes");
	add_settings(&out, resource);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct json_out begin_follow_up(const struct resource *resource)
{
	struct json_out out = json_out_in(resource->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", resource->name);
	return out;
}

static void end_follow_up(struct json_out *out, const char *operation, struct seed_follow_up *follow_ups, size_t *n)
{
	json_out_close(out, '}');
	follow_ups[(*n)++] = (struct seed_follow_up){operation, json_out_str(out)};
}

static bool is_on(const struct resource *resource, const struct json *object, const char *name)
{
	const struct json *value = object ? json_member(object, name) : NULL;

	return value && (json_type(value) == JSON_BOOLEAN ? json_boolean(value) :
			 json_type(value) == JSON_STRING && str_eq_nocase(json_string(resource->arena, value), STR("true")));
}

static size_t add_follow_ups(const struct resource *resource, struct seed_follow_up *follow_ups)
{
	const struct json *ttl = json_text_get(resource->properties, "TimeToLiveSpecification", JSON_OBJECT);
	const struct json *recovery = own(resource, "PointInTimeRecoverySpecification"), *insights = own(resource, "ContributorInsightsSpecification");
	size_t n = 0;

	if (is_on(resource, ttl, "Enabled")) {
		struct json_out out = begin_follow_up(resource);

		json_out_name(&out, STR("TimeToLiveSpecification"));
		json_out_open(&out, '{');
		json_out_field_boolean(&out, "Enabled", true);
		json_text_copy(&out, resource->arena, ttl, "AttributeName");
		json_out_close(&out, '}');
		end_follow_up(&out, "UpdateTimeToLive", follow_ups, &n);
	}
	if (recovery && json_type(recovery) == JSON_OBJECT && is_on(resource, recovery, "PointInTimeRecoveryEnabled")) {
		struct json_out out = begin_follow_up(resource);

		json_out_name(&out, STR("PointInTimeRecoverySpecification"));
		json_out_open(&out, '{');
		json_out_field_boolean(&out, "PointInTimeRecoveryEnabled", true);
		json_out_close(&out, '}');
		end_follow_up(&out, "UpdateContinuousBackups", follow_ups, &n);
	}
	if (insights && json_type(insights) == JSON_OBJECT && is_on(resource, insights, "Enabled")) {
		struct json_out out = begin_follow_up(resource);

		json_out_field_string(&out, "ContributorInsightsAction", STR("ENABLE"));
		end_follow_up(&out, "UpdateContributorInsights", follow_ups, &n);
	}
	return n;
}

/* AWS: SAM's developer guide, AWS::Serverless::SimpleTable: one key, "id" of type String unless PrimaryKey says another. */
static struct str simple_body(const struct resource *resource)
{
	const struct json *key = json_text_get(resource->properties, "PrimaryKey", JSON_OBJECT);
	const struct json *name = key ? json_member(key, "Name") : NULL, *type = key ? json_member(key, "Type") : NULL;
	struct str attribute = name && json_type(name) == JSON_STRING ? json_string(resource->arena, name) : STR("id");
	struct str kind = type && json_type(type) == JSON_STRING ? json_string(resource->arena, type) : STR("String");
	struct json_out out = begin_follow_up(resource);

	json_out_name(&out, STR("KeySchema"));
	buf_add_lit(&out.buf, "[{\"KeyType\":\"HASH\",\"AttributeName\":");
	out.needs_comma = false;
	json_out_string(&out, attribute);
	buf_add_lit(&out.buf, "}],\"AttributeDefinitions\":[{\"AttributeName\":");
	out.needs_comma = false;
	json_out_string(&out, attribute);
	buf_printf(&out.buf, ",\"AttributeType\":\"%.1s\"}]", kind.n > 0 ? kind.p : "S");
	out.needs_comma = true;
	if (json_text_get(resource->properties, "ProvisionedThroughput", JSON_OBJECT))
		copy_numbers(&out, resource->arena, resource->properties, "ProvisionedThroughput");
	else
		json_out_field_string(&out, "BillingMode", STR("PAY_PER_REQUEST"));
	json_out_close(&out, '}');
	return json_out_str(&out);
}

enum kind { KIND_NONE, KIND_TABLE, KIND_GLOBAL, KIND_SIMPLE };

static enum kind kind_of(struct arena *arena, const struct json *resource)
{
	static const struct { const char *type; enum kind kind; } kinds[] = {
		{"AWS::DynamoDB::Table", KIND_TABLE}, {"AWS::DynamoDB::GlobalTable", KIND_GLOBAL}, {"AWS::Serverless::SimpleTable", KIND_SIMPLE},
	};
	const struct json *type = json_type(resource) == JSON_OBJECT ? json_member(resource, "Type") : NULL;

	for (size_t i = 0; type && json_type(type) == JSON_STRING && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (str_eq(json_string(arena, type), str_of(kinds[i].type)))
			return kinds[i].kind;
	}
	return KIND_NONE;
}

static enum code make(struct seed *seed, const struct resource *resource, enum kind kind, struct err *err)
{
	struct seed_follow_up follow_ups[FOLLOW_UPS_MAX];
	size_t n = kind == KIND_SIMPLE ? 0 : add_follow_ups(resource, follow_ups);

	return seed_table(seed, resource->name, kind == KIND_SIMPLE ? simple_body(resource) : create_body(resource), follow_ups, n, err);
}

static enum code read_resource(struct seed *seed, struct intrinsics *in, const struct json *json, struct err *err)
{
	struct arena *arena = in->arena;
	struct str id = json_name(arena, json);
	enum kind kind = kind_of(arena, json);
	const struct json *condition = kind != KIND_NONE ? json_member(json, "Condition") : NULL, *properties = NULL, *name = NULL;

	if (kind == KIND_NONE)
		return OK;
	if (condition && json_type(condition) == JSON_STRING && !intrinsics_holds(in, json_string(arena, condition)) && !str_is_set(in->problem))
		return OK;
	properties = json_text_get(json, "Properties", JSON_OBJECT) ? intrinsics_resolve(in, json_text_get(json, "Properties", JSON_OBJECT)) : NULL;
	if (!properties && kind == KIND_SIMPLE && json_parse(arena, STR("{}"), &properties, err) != OK)
		return err->code;
	if (str_is_set(in->problem) || !properties) {
		err_set(err, MSG_SEED_TEMPLATE, STR_ARG(id), STR_ARG(in->problem));
		return seed_at(seed, 0, err);
	}
	name = json_member(properties, "TableName");
	const struct json *replicas = json_member(properties, "Replicas");
	struct resource resource = {.arena = arena, .properties = properties,
				    .name = name && json_type(name) == JSON_STRING ? json_string(arena, name) : id,
				    .replica = kind == KIND_GLOBAL && replicas && json_type(replicas) == JSON_ARRAY ? json_first(replicas) : NULL};
	return make(seed, &resource, kind, err);
}

static enum code read_one(struct seed *seed, const struct json *root, const struct json *template, struct err *err)
{
	const struct seed_options *options = seed_options(seed);
	const struct json *resources = json_text_get(template, "Resources", JSON_OBJECT);
	struct arena *arena = seed_arena(seed);
	struct intrinsics in = {.arena = arena, .root = root, .template = template, .parameters = options->parameters,
				.parameter_count = options->parameter_count, .stack = STR("dynalith")};
	enum code code = OK;

	for (const struct json *at = resources ? json_first(resources) : NULL; at && code == OK; at = json_next(at))
		code = read_resource(seed, &in, at, err);
	return code;
}

bool template_is_in(const struct json *root)
{
	return json_type(root) == JSON_OBJECT && (json_text_get(root, "Resources", JSON_OBJECT) || (json_member(root, "resources") && json_member(root, "service")));
}

enum code template_read(struct seed *seed, const struct json *root, struct err *err)
{
	const struct json *resources = json_member(root, "resources");
	enum code code = OK;

	if (json_text_get(root, "Resources", JSON_OBJECT))
		return read_one(seed, root, root, err);
	if (json_type(resources) != JSON_ARRAY)
		return read_one(seed, root, resources, err);
	for (const struct json *at = json_first(resources); at && code == OK; at = json_next(at))
		code = read_one(seed, root, at, err);
	return code;
}
