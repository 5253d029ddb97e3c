#include "server/forecast/described.h"

#include "server/seed/json_text.h"

#define GIGABYTE (1024.0 * 1024 * 1024)

/* A side of a table or index, by its names in descriptions and in a plan. */
static const struct {
	const char *units, *most, *warm, *dimension;
	const char *plan_units, *plan_most, *plan_warm, *plan_scaling;
} described_sides[] = {
	{"ReadCapacityUnits", "MaxReadRequestUnits", "ReadUnitsPerSecond", ":ReadCapacityUnits",
	 "read", "max_read", "warm_read", "scale_read"},
	{"WriteCapacityUnits", "MaxWriteRequestUnits", "WriteUnitsPerSecond", ":WriteCapacityUnits",
	 "write", "max_write", "warm_write", "scale_write"},
};

static bool member_is(struct arena *arena, const struct json *object, const char *member,
		      const char *text)
{
	struct str value = json_text_string(arena, object, member);

	return str_is_set(value) && str_eq(value, str_of(text));
}

static void described_units(struct json_out *out, const char *name, double value)
{
	if (value >= 1) {
		json_out_name(out, str_of(name));
		json_out_integer(out, (int64_t)value);
	}
}

/* The entry of that resource and that side; NULL: there is none. */
static const struct json *entry_of(struct arena *arena, const struct json *list,
				   struct str resource, const char *dimension)
{
	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one)) {
		struct str is = json_text_string(arena, one, "ScalableDimension");

		if (str_is_set(is) && str_contains(is, str_of(dimension)) &&
		    str_eq(json_text_string(arena, one, "ResourceId"), resource))
			return one;
	}
	return NULL;
}

/* Where it has a policy: without one only its limits count. */
static void described_scaling(struct json_out *out, struct arena *arena,
			      const struct described *described, struct str resource, size_t side)
{
	const char *dimension = described_sides[side].dimension;
	const struct json *target = entry_of(arena, described->targets, resource, dimension),
			  *policy = entry_of(arena, described->policies, resource, dimension),
			  *rule = json_text_get(policy, "TargetTrackingScalingPolicyConfiguration",
						JSON_OBJECT);

	if (!target || !rule)
		return;
	json_out_name(out, str_of(described_sides[side].plan_scaling));
	json_out_open(out, '{');
	json_out_name(out, STR("target"));
	json_out_double(out, json_text_number(rule, "TargetValue"));
	described_units(out, "min", json_text_number(target, "MinCapacity"));
	described_units(out, "max", json_text_number(target, "MaxCapacity"));
	json_out_close(out, '}');
}

/* What a table and an index have alike. */
static void described_part(struct json_out *out, struct arena *arena,
			   const struct described *described, const struct json *part,
			   struct str resource, bool is_on_demand)
{
	const struct json *units = json_text_get(part, "ProvisionedThroughput", JSON_OBJECT),
			  *most = json_text_get(part, "OnDemandThroughput", JSON_OBJECT),
			  *warm = json_text_get(part, "WarmThroughput", JSON_OBJECT);

	for (size_t side = 0; side < sizeof(described_sides) / sizeof(described_sides[0]); side++) {
		described_units(out, described_sides[side].plan_warm,
				json_text_number(warm, described_sides[side].warm));
		if (is_on_demand) {
			described_units(out, described_sides[side].plan_most,
					json_text_number(most, described_sides[side].most));
			continue;
		}
		described_units(out, described_sides[side].plan_units,
				json_text_number(units, described_sides[side].units));
		described_scaling(out, arena, described, resource, side);
	}
}

static void described_bytes(struct json_out *out, double bytes)
{
	json_out_name(out, STR("storage_gb"));
	json_out_double(out, bytes / GIGABYTE);
}

static void described_indexes(struct json_out *out, struct arena *arena,
			      const struct described *described, struct str name, bool is_on_demand)
{
	const struct json *list =
		json_text_get(described->table, "GlobalSecondaryIndexes", JSON_ARRAY);

	json_out_name(out, STR("indexes"));
	json_out_open(out, '[');
	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one)) {
		struct str index = json_text_string(arena, one, "IndexName");

		json_out_open(out, '{');
		json_out_field_string(out, "name", index);
		described_part(out, arena, described, one,
			       str_printf(arena, "table/" STR_FMT "/index/" STR_FMT, STR_ARG(name),
					  STR_ARG(index)),
			       is_on_demand);
		described_bytes(out, json_text_number(one, "IndexSizeBytes"));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* Of a global table: the regions that its writes go to beside its own. */
static int64_t further_regions(struct arena *arena, const struct json *table)
{
	const struct json *list = json_text_get(table, "Replicas", JSON_ARRAY);
	struct str arn = json_text_string(arena, table, "TableArn");
	int64_t n = 0;

	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one)) {
		struct str region = json_text_string(arena, one, "RegionName");

		n += str_is_set(region) && str_is_set(arn) &&
		     !str_contains(arn, str_printf(arena, ":" STR_FMT ":", STR_ARG(region)));
	}
	return n;
}

void described_write(struct json_out *out, struct arena *arena, const struct described *described)
{
	const struct json *table = described->table,
			  *mode = json_text_get(table, "BillingModeSummary", JSON_OBJECT),
			  *class = json_text_get(table, "TableClassSummary", JSON_OBJECT);
	bool is_on_demand = member_is(arena, mode, "BillingMode", "PAY_PER_REQUEST");
	struct str name = json_text_string(arena, table, "TableName");
	int64_t regions = further_regions(arena, table);

	json_out_open(out, '{');
	json_out_field_string(out, "name", name);
	json_out_field_string(out, "billing",
			      is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
	described_part(out, arena, described, table,
		       str_printf(arena, "table/" STR_FMT, STR_ARG(name)), is_on_demand);
	described_bytes(out, json_text_number(table, "TableSizeBytes"));
	if (member_is(arena, class, "TableClass", "STANDARD_INFREQUENT_ACCESS"))
		json_out_field_string(out, "class", STR("STANDARD_INFREQUENT_ACCESS"));
	if (regions > 0)
		json_out_field_integer(out, "replicas", regions);
	if (described->has_recovery)
		json_out_field_boolean(out, "recovery", true);
	if (described->has_kinesis)
		json_out_field_boolean(out, "kinesis", true);
	described_indexes(out, arena, described, name, is_on_demand);
	json_out_close(out, '}');
}
