#include "server/seed/scaling_resource.h"

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define TABLE STR("table/")

void scaling_resource_place(struct arena *arena, struct scaling_values *values, struct str table,
			    struct str index, bool is_write)
{
	bool is_index = str_is_set(index);

	values->resource =
		str_printf(arena, "table/" STR_FMT "%s" STR_FMT, STR_ARG(table),
			   is_index ? "/index/" : "", STR_ARG((is_index ? index : STR(""))));
	values->dimension = str_printf(arena, "dynamodb:%s:%sCapacityUnits",
				       is_index ? "index" : "table", is_write ? "Write" : "Read");
}

struct str scaling_resource_table(struct str resource)
{
	if (!str_starts_with(resource, TABLE))
		return STR_ABSENT;
	struct str rest = {resource.p + TABLE.n, resource.n - TABLE.n};
	return str_cut(&rest, '/');
}

bool scaling_resource_is_of(struct str resource, struct str table)
{
	struct str own = scaling_resource_table(resource);

	return str_is_set(own) && str_eq(own, table);
}

/* A number, also where the file has it as a text. */
static void add_value(struct json_out *out, struct arena *arena, const char *name,
		      const struct json *value)
{
	if (!value)
		return;
	json_out_name(out, str_of(name));
	if (json_type(value) != JSON_STRING) {
		json_text_write(out, arena, value);
		return;
	}
	buf_add_str(&out->buf, json_string(arena, value));
	out->needs_comma = true;
}

static struct json_out begin_place(struct arena *arena, const struct scaling_values *values)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "ServiceNamespace", STR("dynamodb"));
	json_out_field_string(&out, "ResourceId", values->resource);
	json_out_field_string(&out, "ScalableDimension", values->dimension);
	return out;
}

static struct str register_body(struct arena *arena, const struct scaling_values *values)
{
	struct json_out out = begin_place(arena, values);

	add_value(&out, arena, "MinCapacity", values->least);
	add_value(&out, arena, "MaxCapacity", values->most);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct str policy_body(struct arena *arena, const struct scaling_values *values)
{
	struct json_out out = begin_place(arena, values);
	struct str metric = values->metric;

	if (!str_is_set(metric))
		metric = str_contains(values->dimension, STR("Write"))
				 ? STR("DynamoDBWriteCapacityUtilization")
				 : STR("DynamoDBReadCapacityUtilization");
	json_out_field_string(&out, "PolicyName",
			      str_is_set(values->policy)
				      ? values->policy
				      : str_printf(arena, STR_FMT ":" STR_FMT, STR_ARG(metric),
						   STR_ARG(values->resource)));
	json_out_field_string(&out, "PolicyType", STR("TargetTrackingScaling"));
	json_out_name(&out, STR("TargetTrackingScalingPolicyConfiguration"));
	json_out_open(&out, '{');
	add_value(&out, arena, "TargetValue", values->target);
	json_out_name(&out, STR("PredefinedMetricSpecification"));
	json_out_open(&out, '{');
	json_out_field_string(&out, "PredefinedMetricType", metric);
	json_out_close(&out, '}');
	add_value(&out, arena, "ScaleInCooldown", values->in_cooldown);
	add_value(&out, arena, "ScaleOutCooldown", values->out_cooldown);
	add_value(&out, arena, "DisableScaleIn", values->is_in_disabled);
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

size_t scaling_resource_requests(struct arena *arena, const struct scaling_values *values,
				 struct seed_request *out)
{
	size_t n = 0;

	if (values->least || values->most)
		out[n++] = (struct seed_request){"RegisterScalableTarget",
						 register_body(arena, values), values->region,
						 STR_ABSENT};
	if (values->target)
		out[n++] = (struct seed_request){"PutScalingPolicy", policy_body(arena, values),
						 values->region, STR_ABSENT};
	return n;
}
