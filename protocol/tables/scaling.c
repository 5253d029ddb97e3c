#include "protocol/tables/scaling.h"

#include <stdio.h>

#include "protocol/tables/control_messages.h"
#include "storage/uuid.h"

#define ROLE                                                                                       \
	"arn:aws:iam::" STR_FMT                                                                    \
	":role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"                   \
	"AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
#define TARGET_SIZE 32

struct scaling *scaling_find(const struct table *table, struct str index, bool is_write)
{
	for (size_t i = 0; i < table->settings->scaling_count; i++) {
		struct scaling *scaling = &table->settings->scalings[i];

		if (scaling->is_write == is_write &&
		    str_is_set(scaling->index) == str_is_set(index) &&
		    str_eq(scaling->index, index))
			return scaling;
	}
	return NULL;
}

void scaling_keep_writes(struct table *table)
{
	struct table_settings *settings = table->settings;
	size_t kept = 0;

	for (size_t i = 0; i < settings->scaling_count; i++) {
		if (settings->scalings[i].is_write)
			settings->scalings[kept++] = settings->scalings[i];
	}
	settings->scaling_count = kept;
}

static void write_policy(struct json_out *out, const struct scaling *scaling)
{
	json_out_open(out, '{');
	json_out_field_string(out, "PolicyName", scaling->policy);
	json_out_name(out, STR("TargetTrackingScalingPolicyConfiguration"));
	json_out_open(out, '{');
	if (scaling->has_scale_in)
		json_out_field_boolean(out, "DisableScaleIn", scaling->is_scale_in_disabled);
	if (scaling->has_in_cooldown)
		json_out_field_integer(out, "ScaleInCooldown", scaling->in_cooldown);
	if (scaling->has_out_cooldown)
		json_out_field_integer(out, "ScaleOutCooldown", scaling->out_cooldown);
	json_out_name(out, STR("TargetValue"));
	json_out_double(out, strtod(scaling->target.p, NULL));
	json_out_close(out, '}');
	json_out_close(out, '}');
}

/* AWS: what was never configured is disabled: DDB-TABLE-232. */
static void write_scaling(struct json_out *out, const char *name, const struct scaling *scaling)
{
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	if (scaling) {
		json_out_field_integer(out, "MinimumUnits", scaling->least);
		json_out_field_integer(out, "MaximumUnits", scaling->most);
		json_out_field_string(out, "AutoScalingRoleArn", scaling->role);
	} else {
		json_out_field_boolean(out, "AutoScalingDisabled", true);
	}
	json_out_name(out, STR("ScalingPolicies"));
	json_out_open(out, '[');
	if (scaling && str_is_set(scaling->target))
		write_policy(out, scaling);
	json_out_close(out, ']');
	json_out_close(out, '}');
}

static void write_scaling_replica(struct json_out *out, const struct table *replica)
{
	json_out_open(out, '{');
	json_out_field_string(out, "RegionName", replica->identity.region);
	json_out_name(out, STR("GlobalSecondaryIndexes"));
	json_out_open(out, '[');
	for (size_t i = 0; i < replica->indexes.n; i++) {
		const struct index *index = &replica->indexes.v[i];

		if (index->is_local)
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "IndexName", index->name);
		json_out_field_string(out, "IndexStatus",
				      index->status == STATUS_CREATING   ? STR("CREATING")
				      : index->status == STATUS_DELETING ? STR("DELETING")
									 : STR("ACTIVE"));
		write_scaling(out, "ProvisionedReadCapacityAutoScalingSettings",
			      scaling_find(replica, index->name, false));
		write_scaling(out, "ProvisionedWriteCapacityAutoScalingSettings",
			      scaling_find(replica, index->name, true));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	write_scaling(out, "ReplicaProvisionedReadCapacityAutoScalingSettings",
		      scaling_find(replica, STR_ABSENT, false));
	write_scaling(out, "ReplicaProvisionedWriteCapacityAutoScalingSettings",
		      scaling_find(replica, STR_ABSENT, true));
	json_out_field_string(out, "ReplicaStatus", replicas_status(replica));
	json_out_close(out, '}');
}

void scaling_describe(struct call *call, const struct table *table, struct table *const *replicas,
		      size_t n)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_name(out, STR("TableAutoScalingDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table->identity.name);
	json_out_field_string(out, "TableStatus", replicas_status(table));
	json_out_name(out, STR("Replicas"));
	json_out_open(out, '[');
	for (size_t i = 0; i < n; i++)
		write_scaling_replica(out, replicas[i]);
	json_out_close(out, ']');
	json_out_close(out, '}');
	json_out_close(out, '}');
}

/* The names of parameters that are missing, or not, in AWS's order; empty where there are none. */
static struct str list_parameters(struct arena *arena,
				  const struct auto_scaling_settings_update *update, bool are_there)
{
	const struct {
		const char *name;
		bool is_there;
	} parameters[] = {
		{"MaximumUnits", update->maximum_units.is_set},
		{"ScalingPolicyUpdate", update->scaling_policy_update != NULL},
		{"MinimumUnits", update->minimum_units.is_set},
	};
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		if (parameters[i].is_there == are_there)
			buf_printf(&buf, "%s'%s'", buf_str(&buf).n ? ", " : "", parameters[i].name);
	}
	return buf_str(&buf);
}

/* AWS: decimals as Java prints them. */
static void print_target(char *text, double value)
{
	snprintf(text, TARGET_SIZE, "%.15g", value);
	if (!strpbrk(text, ".eE"))
		snprintf(text, TARGET_SIZE, "%.1f", value);
}

enum code scaling_check(struct call *call, const struct table *table, const struct scaling *known,
			bool is_write, const struct auto_scaling_settings_update *update,
			struct err *err)
{
	struct str name = table->identity.name, given = list_parameters(call->arena, update, true),
		   missing = list_parameters(call->arena, update, false);
	int64_t least = update->minimum_units.is_set ? update->minimum_units.value
			: known                      ? known->least
						     : 0;
	int64_t most = update->maximum_units.is_set ? update->maximum_units.value
		       : known                      ? known->most
						    : INT64_MAX;
	char target[TARGET_SIZE];

	if (opt_is_true(update->auto_scaling_disabled))
		return given.n ? err_set(err, MSG_SCALING_BLANK, STR_ARG(name), STR_ARG(given))
			       : OK;
	if (!known && missing.n)
		return err_set(err, MSG_SCALING_REQUIRED, STR_ARG(name), STR_ARG(missing));
	if (most < least)
		return err_set(err, MSG_SCALING_MAXIMUM, STR_ARG(uuid_new(call->arena)));
	if (!update->scaling_policy_update)
		return OK;
	double value = update->scaling_policy_update->target_tracking->target_value.value;
	print_target(target, value);
	if (value < 10 || value > 90)
		return err_set(err, MSG_SCALING_TARGET, is_write ? "Write" : "Read", target,
			       STR_ARG(uuid_new(call->arena)));
	return OK;
}

static void forget(struct table *table, struct scaling *scaling)
{
	struct scaling *last = &table->settings->scalings[table->settings->scaling_count - 1];

	memmove(scaling, scaling + 1, (size_t)(last - scaling) * sizeof(*scaling));
	table->settings->scaling_count--;
}

static struct scaling *add_scaling(struct table *table, struct str index, bool is_write)
{
	struct table_settings *settings = table->settings;
	struct scaling *all = ARENA_ARRAY(table->arena, struct scaling,
					  settings->scaling_count + 1),
		       *scaling = &all[settings->scaling_count];

	if (settings->scaling_count > 0)
		memcpy(all, settings->scalings, settings->scaling_count * sizeof(*all));
	*scaling = (struct scaling){
		.index = str_is_set(index) ? str_copy(table->arena, index) : STR_ABSENT,
		.is_write = is_write,
		.target = STR_ABSENT,
		.policy = STR_ABSENT,
		.role = str_printf(table->arena, ROLE, STR_ARG(table->identity.account)),
	};
	settings->scalings = all;
	settings->scaling_count++;
	return scaling;
}

static void apply_policy(struct table *table, struct scaling *scaling,
			 const struct auto_scaling_policy_update *update)
{
	const struct target_tracking_update *tracking = update->target_tracking;
	struct str index = str_is_set(scaling->index) ? str_printf(table->arena, "/index/" STR_FMT,
								   STR_ARG(scaling->index))
						      : STR("");
	char target[TARGET_SIZE];

	print_target(target, tracking->target_value.value);
	scaling->target = str_copy(table->arena, str_of(target));
	scaling->policy =
		str_is_set(update->policy_name)
			? str_copy(table->arena, update->policy_name)
			: str_printf(table->arena,
				     "DynamoDB%sCapacityUtilization:table/" STR_FMT STR_FMT,
				     scaling->is_write ? "Write" : "Read",
				     STR_ARG(table->identity.name), STR_ARG(index));
	scaling->has_scale_in = tracking->disable_scale_in.is_set;
	scaling->is_scale_in_disabled = tracking->disable_scale_in.value;
	scaling->has_in_cooldown = tracking->scale_in_cooldown.is_set;
	scaling->in_cooldown = tracking->scale_in_cooldown.value;
	scaling->has_out_cooldown = tracking->scale_out_cooldown.is_set;
	scaling->out_cooldown = tracking->scale_out_cooldown.value;
}

void scaling_apply(struct table *table, struct str index, bool is_write,
		   const struct auto_scaling_settings_update *update)
{
	struct scaling *scaling = scaling_find(table, index, is_write);

	if (opt_is_true(update->auto_scaling_disabled)) {
		if (scaling)
			forget(table, scaling);
		return;
	}
	if (!scaling)
		scaling = add_scaling(table, index, is_write);
	if (update->minimum_units.is_set)
		scaling->least = update->minimum_units.value;
	if (update->maximum_units.is_set)
		scaling->most = update->maximum_units.value;
	if (str_is_set(update->auto_scaling_role_arn))
		scaling->role = str_copy(table->arena, update->auto_scaling_role_arn);
	if (update->scaling_policy_update)
		apply_policy(table, scaling, update->scaling_policy_update);
}
