#include "server/seed/description.h"

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

/* Members of a description that CreateTable takes as they are. */
static const char *const kept[] = {"TableName",
				   "KeySchema",
				   "AttributeDefinitions",
				   "StreamSpecification",
				   "OnDemandThroughput",
#define SWITCH(of, member, name, scope, parameter, input, concern) parameter,
#include "protocol/tables/settings.def"
};
static const char *const kept_of_index[] = {"IndexName", "KeySchema", "Projection",
					    "OnDemandThroughput"};

/* A member of two numbers; a description has more beside them. */
static void copy_pair(struct json_out *out, struct arena *arena, const struct json *from,
		      const char *name, const char *const numbers[2])
{
	const struct json *pair = json_text_get(from, name, JSON_OBJECT);

	if (!json_text_get(pair, numbers[0], JSON_NUMBER) ||
	    !json_text_get(pair, numbers[1], JSON_NUMBER))
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	json_text_copy(out, arena, pair, numbers[0]);
	json_text_copy(out, arena, pair, numbers[1]);
	json_out_close(out, '}');
}

static void copy_throughput(struct json_out *out, struct arena *arena, const struct json *from,
			    bool is_provisioned)
{
	static const char *const units[] = {"ReadCapacityUnits", "WriteCapacityUnits"};
	static const char *const warm[] = {"ReadUnitsPerSecond", "WriteUnitsPerSecond"};

	if (is_provisioned)
		copy_pair(out, arena, from, "ProvisionedThroughput", units);
	copy_pair(out, arena, from, "WarmThroughput", warm);
}

static void copy_indexes(struct json_out *out, struct arena *arena, const struct json *from,
			 const char *name, bool has_throughput)
{
	const struct json *indexes = json_member(from, name);

	if (!indexes || json_type(indexes) != JSON_ARRAY || !json_first(indexes))
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index)) {
		json_out_open(out, '{');
		for (size_t i = 0; i < sizeof(kept_of_index) / sizeof(kept_of_index[0]); i++)
			json_text_copy(out, arena, index, kept_of_index[i]);
		copy_throughput(out, arena, index, has_throughput);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* A member of a member, a string. */
static struct str inner_string(struct arena *arena, const struct json *object, const char *outer,
			       const char *inner)
{
	return json_text_string(arena, json_text_get(object, outer, JSON_OBJECT), inner);
}

static void copy_class(struct json_out *out, struct arena *arena, const struct json *table)
{
	struct str class = inner_string(arena, table, "TableClassSummary", "TableClass");

	if (str_is_set(class))
		json_out_field_string(out, "TableClass", class);
	if (str_eq(inner_string(arena, table, "SSEDescription", "SSEType"), STR("KMS"))) {
		json_out_name(out, STR("SSESpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "Enabled", true);
		json_out_close(out, '}');
	}
}

struct str description_to_create(struct arena *arena, const struct json *table)
{
	struct json_out out = json_out_in(arena);
	bool is_on_demand = str_eq(inner_string(arena, table, "BillingModeSummary", "BillingMode"),
				   STR("PAY_PER_REQUEST"));

	json_out_open(&out, '{');
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		json_text_copy(&out, arena, table, kept[i]);
	json_out_field_string(&out, "BillingMode",
			      is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
	copy_throughput(&out, arena, table, !is_on_demand);
	copy_indexes(&out, arena, table, "GlobalSecondaryIndexes", !is_on_demand);
	copy_indexes(&out, arena, table, "LocalSecondaryIndexes", false);
	copy_class(&out, arena, table);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

struct str description_to_expire(struct arena *arena, struct str table, struct str attribute)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", table);
	json_out_name(&out, STR("TimeToLiveSpecification"));
	json_out_open(&out, '{');
	json_out_field_boolean(&out, "Enabled", true);
	json_out_field_string(&out, "AttributeName", attribute);
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	return json_out_str(&out);
}
