#include "protocol/tables/replica_changes.h"
#include "protocol/tables/scaling_messages.h"
#include "protocol/tables/scaling_target.h"

#define TAGS_MAX 50 /* AWS: Application Auto Scaling User Guide, "Tagging support" */

static enum code check_capacity(const struct scaling *known,
				const struct register_scalable_target_request *input,
				struct err *err)
{
	const struct opt_int *min = &input->min_capacity, *max = &input->max_capacity;

	if (!known && (!min->is_set || !max->is_set))
		return err_set(err, MSG_TARGET_CAPACITY);
	int64_t least = min->is_set ? min->value : known->least,
		most = max->is_set ? max->value : known->most;
	if (least < 1)
		return err_set(err, MSG_TARGET_MINIMUM);
	return most < least ? err_set(err, MSG_TARGET_MAXIMUM) : OK;
}

static enum code add_tags(struct table *table, struct scaling *scaling,
			  const struct scaling_tag_map *tags, struct err *err)
{
	scaling->tags = settings_copy_tags(table->arena, &scaling->tags, tags->n);
	for (size_t i = 0; i < tags->n; i++) {
		size_t at = 0;

		while (at < scaling->tags.n && !str_eq(scaling->tags.v[at].key, tags->v[i].key))
			at++;
		scaling->tags.n += at == scaling->tags.n;
		scaling->tags.v[at] = (struct tag){str_copy(table->arena, tags->v[i].key),
						   str_copy(table->arena, tags->v[i].value)};
	}
	return scaling->tags.n > TAGS_MAX ? err_set(err, MSG_TARGET_TAGS) : OK;
}

static void suspend(bool *is_suspended, struct opt_bool given)
{
	if (given.is_set)
		*is_suspended = given.value;
}

static enum code change_target(struct table *table, const struct scaling_target *target,
			       const struct register_scalable_target_request *input, int64_t now_ms,
			       struct err *err)
{
	struct scaling *scaling = scaling_find(table, target->index, target->is_write);

	if (!scaling)
		scaling = scaling_add(table, target->index, target->is_write, now_ms);
	if (input->min_capacity.is_set)
		scaling->least = input->min_capacity.value;
	if (input->max_capacity.is_set)
		scaling->most = input->max_capacity.value;
	if (str_is_set(input->role_arn))
		scaling->role = str_copy(table->arena, input->role_arn);
	if (input->suspended_state) {
		suspend(&scaling->is_in_suspended, input->suspended_state->in);
		suspend(&scaling->is_out_suspended, input->suspended_state->out);
		suspend(&scaling->is_schedule_suspended, input->suspended_state->scheduled);
	}
	return add_tags(table, scaling, &input->tags, err);
}

/* The units of writes are those of all replicas. */
static void fit_all(const struct replica_changes *changes, const struct scaling_target *target)
{
	const struct scaling *by =
		scaling_find(changes->v[0].next, target->index, target->is_write);

	for (size_t i = 0; i < changes->n && (i == 0 || target->is_write); i++)
		scaling_fit(changes->v[i].next, target->index, target->is_write, by,
			    changes->v[i].now_ms);
}

static enum code find_resource(struct call *call,
			       const struct register_scalable_target_request *input,
			       struct scaling_target *out, struct err *err)
{
	enum code code = scaling_target_find(call, input->service_namespace, input->resource_id,
					     input->scalable_dimension, out, err);

	if (code != OK)
		return code;
	if (!out->table)
		return err_set(err, MSG_TARGET_TABLE, STR_ARG(input->resource_id));
	if (str_is_set(out->index) && !scaling_units(out->table, out->index))
		return err_set(err, MSG_TARGET_INDEX, STR_ARG(input->resource_id));
	return check_capacity(out->scaling, input, err);
}

enum code op_register_scalable_target(struct call *call,
				      const struct register_scalable_target_request *input,
				      struct err *err)
{
	struct scaling_target target;
	struct table **replicas;
	size_t n;
	enum code code = find_resource(call, input, &target, err);

	if (code != OK)
		return code;
	code = replicas_of(call, target.table, &replicas, &n, err);
	if (code != OK)
		return code;
	struct replica_changes changes = replica_changes_begin(call, target.table, replicas, n, 0);
	code = change_target(changes.v[0].next, &target, input, call->now_ms, err);
	if (code != OK) {
		replica_changes_drop(&changes);
		return code;
	}
	fit_all(&changes, &target);
	json_out_open(&call->out, '{');
	json_out_field_string(
		&call->out, "ScalableTargetARN",
		scaling_target_arn(call->arena, call->ns, target.resource, target.dimension));
	json_out_close(&call->out, '}');
	return catalog_change_all(call->service->catalog, changes.v, changes.n, err);
}
