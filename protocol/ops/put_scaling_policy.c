#include "protocol/tables/scaling_messages.h"
#include "protocol/tables/scaling_target.h"

/* AWS: API Reference, PutScalingPolicy: DynamoDB has target tracking alone. */
static enum code check_kind(const struct scaling *scaling,
			    const struct put_scaling_policy_request *input, struct err *err)
{
	bool is_known = scaling_is_on(scaling) && str_eq(scaling->policy, input->policy_name);
	bool is_tracking = input->policy_type == SCALING_POLICY_TYPE_TARGET_TRACKING_SCALING ||
			   (is_known && !input->policy_type);

	if (input->step || input->predictive || !is_tracking ||
	    (!is_known && !input->target_tracking))
		return err_set(err, MSG_TARGET_KIND);
	return scaling_is_on(scaling) && !is_known ? err_set(err, MSG_TARGET_POLICIES) : OK;
}

static enum code check_tracking(struct call *call, const struct scaling_target *target,
				const struct scaling_target_tracking *tracking, struct err *err)
{
	const char *side = target->is_write ? "Write" : "Read";
	int metric = target->is_write ? SCALING_METRIC_DYNAMO_DB_WRITE_CAPACITY_UTILIZATION
				      : SCALING_METRIC_DYNAMO_DB_READ_CAPACITY_UTILIZATION;
	double value = tracking->target_value.value;

	if (tracking->customized || !tracking->predefined || tracking->predefined->type != metric ||
	    str_is_set(tracking->predefined->label))
		return err_set(err, MSG_TARGET_METRIC, STR_ARG(target->dimension), side);
	if (value < SCALING_VALUE_MIN)
		return err_set(err, MSG_TARGET_VALUE, STR_ARG(scaling_number(call->arena, value)));
	if (value < SCALING_TARGET_MIN || value > SCALING_TARGET_MAX)
		return err_set(err, MSG_TARGET_UTILIZATION, side,
			       STR_ARG(scaling_number(call->arena, value)));
	return OK;
}

static void set_policy(struct table *table, struct scaling *scaling, struct str name,
		       const struct scaling_target_tracking *tracking, int64_t now_ms)
{
	if (!scaling_is_on(scaling))
		scaling->policy_ms = now_ms;
	scaling->policy = str_copy(table->arena, name);
	scaling_track(table, scaling, tracking->target_value.value, tracking->disable_scale_in,
		      tracking->scale_in_cooldown, tracking->scale_out_cooldown);
}

static void answer(struct call *call, const struct table *table, const struct scaling *scaling)
{
	json_out_open(&call->out, '{');
	json_out_field_string(&call->out, "PolicyARN",
			      scaling_target_policy_arn(call->arena, table, scaling));
	json_out_name(&call->out, STR("Alarms")); /* of CloudWatch, which there is not */
	json_out_open(&call->out, '[');
	json_out_close(&call->out, ']');
	json_out_close(&call->out, '}');
}

enum code op_put_scaling_policy(struct call *call, const struct put_scaling_policy_request *input,
				struct err *err)
{
	struct scaling_target target;
	enum code code =
		scaling_target_need(call, input->service_namespace, input->resource_id,
				    input->scalable_dimension, SCALING_UNREGISTERED, &target, err);

	if (code != OK)
		return code;
	code = check_kind(target.scaling, input, err);
	if (code != OK)
		return code;
	if (!input->target_tracking) {
		answer(call, target.table, target.scaling);
		return OK;
	}
	code = check_tracking(call, &target, input->target_tracking, err);
	if (code != OK)
		return code;
	struct table *next = table_clone(target.table);
	struct scaling *scaling = scaling_find(next, target.index, target.is_write);
	set_policy(next, scaling, input->policy_name, input->target_tracking, call->now_ms);
	answer(call, next, scaling);
	return catalog_replace(call->service->catalog, target.table, next, err);
}
