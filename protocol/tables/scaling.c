#include "protocol/tables/scaling.h"

#include <stdio.h>

#include "protocol/tables/control_messages.h"
#include "protocol/tables/throughput_rules.h"
#include "storage/uuid.h"

#define ROLE                                                                                       \
	"arn:aws:iam::" STR_FMT                                                                    \
	":role/aws-service-role/dynamodb.application-autoscaling.amazonaws.com/"                   \
	"AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"
#define TARGET_SIZE 32
#define BEGIN_UNITS_MIN 1 /* AWS: DDB-TABLE-322 */
#define BEGIN_UNITS_MAX 10
#define BEGIN_TARGET 70

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

bool scaling_is_on(const struct scaling *scaling)
{
	return scaling && str_is_set(scaling->target);
}

struct throughput *scaling_units(struct table *table, struct str index)
{
	if (!str_is_set(index))
		return &table->settings->throughput;
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (!table->indexes.v[i].is_local && str_eq(table->indexes.v[i].name, index))
			return &table->indexes.v[i].settings->throughput;
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

void scaling_tracking_write(struct json_out *out, const struct scaling *scaling)
{
	if (scaling->has_scale_in)
		json_out_field_boolean(out, "DisableScaleIn", scaling->is_scale_in_disabled);
	if (scaling->has_in_cooldown)
		json_out_field_integer(out, "ScaleInCooldown", scaling->in_cooldown);
	if (scaling->has_out_cooldown)
		json_out_field_integer(out, "ScaleOutCooldown", scaling->out_cooldown);
	json_out_name(out, STR("TargetValue"));
	json_out_double(out, strtod(scaling->target.p, NULL));
}

static void write_policy(struct json_out *out, const struct scaling *scaling)
{
	json_out_open(out, '{');
	json_out_field_string(out, "PolicyName", scaling->policy);
	json_out_name(out, STR("TargetTrackingScalingPolicyConfiguration"));
	json_out_open(out, '{');
	scaling_tracking_write(out, scaling);
	json_out_close(out, '}');
	json_out_close(out, '}');
}

/* AWS: what was never configured, or has no policy, is disabled: DDB-TABLE-232, 195. On demand
 * settings stay, and are disabled: DDB-TABLE-317. */
static void write_scaling(struct json_out *out, const char *name, const struct table *table,
			  struct str index, bool is_write)
{
	const struct scaling *scaling = scaling_find(table, index, is_write);
	bool is_there = scaling_is_on(scaling);

	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	if (is_there) {
		json_out_field_integer(out, "MinimumUnits", scaling->least);
		json_out_field_integer(out, "MaximumUnits", scaling->most);
	}
	if (!is_there || table->settings->billing == BILLING_PAY_PER_REQUEST)
		json_out_field_boolean(out, "AutoScalingDisabled", true);
	if (is_there)
		json_out_field_string(out, "AutoScalingRoleArn", scaling->role);
	json_out_name(out, STR("ScalingPolicies"));
	json_out_open(out, '[');
	if (is_there)
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
		write_scaling(out, "ProvisionedReadCapacityAutoScalingSettings", replica,
			      index->name, false);
		write_scaling(out, "ProvisionedWriteCapacityAutoScalingSettings", replica,
			      index->name, true);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	write_scaling(out, "ReplicaProvisionedReadCapacityAutoScalingSettings", replica, STR_ABSENT,
		      false);
	write_scaling(out, "ReplicaProvisionedWriteCapacityAutoScalingSettings", replica,
		      STR_ABSENT, true);
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

struct str scaling_number(struct arena *arena, double value)
{
	char text[TARGET_SIZE];

	snprintf(text, sizeof(text), "%.15g", value);
	if (!strpbrk(text, ".eE"))
		snprintf(text, sizeof(text), "%.1f", value);
	return str_copy(arena, str_of(text));
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

	if (opt_is_true(update->auto_scaling_disabled))
		return given.n ? err_set(err, MSG_SCALING_BLANK, STR_ARG(name), STR_ARG(given))
			       : OK;
	if (!scaling_is_on(known) && missing.n)
		return err_set(err, MSG_SCALING_REQUIRED, STR_ARG(name), STR_ARG(missing));
	if (most < least)
		return err_set(err, MSG_SCALING_MAXIMUM, STR_ARG(uuid_new(call->arena)));
	if (!update->scaling_policy_update)
		return OK;
	double value = update->scaling_policy_update->target_tracking->target_value.value;
	struct str target = scaling_number(call->arena, value);
	if (value < SCALING_VALUE_MIN)
		return err_set(err, MSG_SCALING_VALUE, STR_ARG(target),
			       STR_ARG(uuid_new(call->arena)));
	if (value < SCALING_TARGET_MIN || value > SCALING_TARGET_MAX)
		return err_set(err, MSG_SCALING_TARGET, is_write ? "Write" : "Read",
			       STR_ARG(target), STR_ARG(uuid_new(call->arena)));
	return OK;
}

void scaling_remove(struct table *table, struct scaling *scaling)
{
	struct scaling *last = &table->settings->scalings[table->settings->scaling_count - 1];

	memmove(scaling, scaling + 1, (size_t)(last - scaling) * sizeof(*scaling));
	table->settings->scaling_count--;
}

struct scaling *scaling_add(struct table *table, struct str index, bool is_write, int64_t now_ms)
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
		.created_ms = now_ms,
		.target = STR_ABSENT,
		.policy = STR_ABSENT,
		.role = str_printf(table->arena, ROLE, STR_ARG(table->identity.account)),
	};
	settings->scalings = all;
	settings->scaling_count++;
	return scaling;
}

static struct str policy_name(struct table *table, const struct scaling *scaling)
{
	struct str index = str_is_set(scaling->index) ? str_printf(table->arena, "/index/" STR_FMT,
								   STR_ARG(scaling->index))
						      : STR("");

	return str_printf(table->arena, "DynamoDB%sCapacityUtilization:table/" STR_FMT STR_FMT,
			  scaling->is_write ? "Write" : "Read", STR_ARG(table->identity.name),
			  STR_ARG(index));
}

void scaling_begin(struct table *table, struct str index, int64_t now_ms)
{
	if (table->settings->billing != BILLING_PROVISIONED || scaling_find(table, index, true))
		return;
	struct scaling *scaling = scaling_add(table, index, true, now_ms);
	scaling->least = BEGIN_UNITS_MIN;
	scaling->most = BEGIN_UNITS_MAX;
	scaling->target = scaling_number(table->arena, BEGIN_TARGET);
	scaling->policy = policy_name(table, scaling);
	scaling->policy_ms = now_ms;
}

void scaling_track(struct table *table, struct scaling *scaling, double target,
		   struct opt_bool is_in_disabled, struct opt_int in_cooldown,
		   struct opt_int out_cooldown)
{
	scaling->target = scaling_number(table->arena, target);
	scaling->has_scale_in = is_in_disabled.is_set;
	scaling->is_scale_in_disabled = is_in_disabled.value;
	scaling->has_in_cooldown = in_cooldown.is_set;
	scaling->in_cooldown = in_cooldown.value;
	scaling->has_out_cooldown = out_cooldown.is_set;
	scaling->out_cooldown = out_cooldown.value;
}

static void apply_policy(struct table *table, struct scaling *scaling,
			 const struct auto_scaling_policy_update *update, int64_t now_ms)
{
	const struct target_tracking_update *tracking = update->target_tracking;
	struct str before = scaling->policy;

	scaling->policy = str_is_set(update->policy_name)
				  ? str_copy(table->arena, update->policy_name)
				  : policy_name(table, scaling);
	if (!str_is_set(before) || !str_eq(before, scaling->policy))
		scaling->policy_ms = now_ms; /* AWS: a new name is a new policy: DDB-TABLE-240 */
	scaling_track(table, scaling, tracking->target_value.value, tracking->disable_scale_in,
		      tracking->scale_in_cooldown, tracking->scale_out_cooldown);
}

/* What the units become within the limits of their target. */
static int64_t within(const struct scaling *scaling, int64_t units)
{
	return units < scaling->least  ? scaling->least
	       : units > scaling->most ? scaling->most
				       : units;
}

void scaling_set(struct table *table, struct str index, bool is_write, int64_t value,
		 int64_t now_ms)
{
	struct throughput *units = scaling_units(table, index);

	if (!units || table->settings->billing != BILLING_PROVISIONED ||
	    value == (is_write ? units->write : units->read))
		return;
	throughput_rules_keep_warm(table);
	throughput_rules_set(units, is_write ? units->read : value, is_write ? value : units->write,
			     now_ms);
	throughput_rules_keep_warm(table);
}

/* AWS: a limit that the capacity exceeds changes it within seconds: DDB-TABLE-314. A suspended
 * direction does not. */
void scaling_fit(struct table *table, struct str index, bool is_write, const struct scaling *by,
		 int64_t now_ms)
{
	const struct throughput *units = scaling_units(table, index);
	int64_t value = !units ? 0 : is_write ? units->write : units->read;

	if (within(by, value) > value ? !by->is_out_suspended : !by->is_in_suspended)
		scaling_set(table, index, is_write, within(by, value), now_ms);
}

void scaling_apply(struct table *table, struct str index, bool is_write,
		   const struct auto_scaling_settings_update *update, int64_t now_ms)
{
	struct scaling *scaling = scaling_find(table, index, is_write);

	if (opt_is_true(update->auto_scaling_disabled)) {
		if (scaling)
			scaling_remove(table, scaling);
		return;
	}
	if (!scaling)
		scaling = scaling_add(table, index, is_write, now_ms);
	if (update->minimum_units.is_set)
		scaling->least = update->minimum_units.value;
	if (update->maximum_units.is_set)
		scaling->most = update->maximum_units.value;
	if (str_is_set(update->auto_scaling_role_arn))
		scaling->role = str_copy(table->arena, update->auto_scaling_role_arn);
	if (update->scaling_policy_update)
		apply_policy(table, scaling, update->scaling_policy_update, now_ms);
	scaling_fit(table, index, is_write, scaling, now_ms);
}
