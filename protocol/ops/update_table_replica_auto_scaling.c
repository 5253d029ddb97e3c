#include "protocol/tables/control_messages.h"
#include "protocol/tables/replica_changes.h"
#include "protocol/tables/scaling.h"

/* What is given as its only member: disabled. It is accepted of a table on demand too. */
static bool is_off(const struct auto_scaling_settings_update *update)
{
	return !update || opt_is_true(update->auto_scaling_disabled);
}

static bool is_empty(const struct replica_auto_scaling_update *update)
{
	return !update->read_scaling && update->indexes.n == 0;
}

/* 'EU-WEST-1', 'US-EAST-1' */
static struct str list_regions(struct arena *arena, struct table *const *replicas, size_t n)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < n; i++) {
		struct str region = str_copy(arena, replicas[i]->identity.region);
		char *letters = arena_bytes(arena, region.n + 1);

		for (size_t k = 0; k < region.n; k++)
			letters[k] = (char)(region.p[k] >= 'a' && region.p[k] <= 'z'
						    ? region.p[k] - 'a' + 'A'
						    : region.p[k]);
		buf_printf(&buf, "%s'" STR_FMT "'", i ? ", " : "",
			   STR_ARG(((struct str){letters, region.n})));
	}
	return buf_str(&buf);
}

/* AWS: DDB-TABLE-190. */
static enum code check_scaling_billing(struct call *call, struct str name,
				       struct table *const *replicas, size_t n,
				       const struct update_table_replica_auto_scaling_input *input,
				       struct err *err)
{
	const char *parameter =
		is_off(input->write_scaling)
			? NULL
			: "GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate";

	for (size_t i = 0; i < input->replicas.n && !parameter; i++) {
		if (!is_off(input->replicas.v[i].read_scaling))
			parameter = "ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate";
	}
	if (!parameter || replicas[0]->settings->billing != BILLING_PAY_PER_REQUEST)
		return OK;
	return err_set(err, MSG_SCALING_ON_DEMAND, STR_ARG(name),
		       STR_ARG(list_regions(call->arena, replicas, n)), parameter);
}

static enum code check_shape(struct str name,
			     const struct update_table_replica_auto_scaling_input *input,
			     struct err *err)
{
	if (!input->write_scaling && input->indexes.n == 0 && input->replicas.n == 0)
		return err_set(err, MSG_SCALING_NOTHING, STR_ARG(name));
	for (size_t i = 0; i < input->replicas.n; i++) {
		struct str region = input->replicas.v[i].region_name;

		for (size_t k = 0; k < i; k++) {
			if (str_eq(input->replicas.v[k].region_name, region))
				return err_set(err, MSG_SCALING_TWICE, STR_ARG(name),
					       STR_ARG(region));
		}
		if (is_empty(&input->replicas.v[i]))
			return err_set(err, MSG_SCALING_NOTHING_REGION, STR_ARG(name),
				       STR_ARG(region));
	}
	return OK;
}

/* One dimension of one table. */
static enum code change_scaling(struct call *call, struct catalog_change *change, struct str index,
				bool is_write, const struct auto_scaling_settings_update *update,
				struct err *err)
{
	struct table *table = change->next;

	if (!update)
		return OK;
	if (str_is_set(index) && !table_index(table, index))
		return err_set(err, MSG_SCALING_INDEX, STR_ARG(table->identity.name),
			       STR_ARG(index));
	enum code code = scaling_check(call, table, scaling_find(table, index, is_write), is_write,
				       update, err);
	if (code != OK)
		return code;
	scaling_apply(table, index, is_write, update, change->now_ms);
	return OK;
}

static enum code change_reads(struct call *call, const struct replica_changes *changes,
			      const struct replica_auto_scaling_update *update, struct err *err)
{
	struct catalog_change *change = NULL;

	for (size_t i = 0; i < changes->n; i++) {
		if (str_eq(changes->v[i].next->identity.region, update->region_name))
			change = &changes->v[i];
	}
	if (!change)
		return err_set(err, MSG_SCALING_REGION, STR_ARG(changes->v[0].next->identity.name),
			       STR_ARG(update->region_name));
	enum code code = change_scaling(call, change, STR_ABSENT, false, update->read_scaling, err);
	for (size_t i = 0; i < update->indexes.n && code == OK; i++)
		code = change_scaling(call, change, update->indexes.v[i].index_name, false,
				      update->indexes.v[i].read_scaling, err);
	return code;
}

static enum code change_all(struct call *call, const struct replica_changes *changes,
			    const struct update_table_replica_auto_scaling_input *input,
			    struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < changes->n && code == OK; i++) {
		code = change_scaling(call, &changes->v[i], STR_ABSENT, true, input->write_scaling,
				      err);
		for (size_t k = 0; k < input->indexes.n && code == OK; k++)
			code = change_scaling(call, &changes->v[i], input->indexes.v[k].index_name,
					      true, input->indexes.v[k].write_scaling, err);
	}
	for (size_t i = 0; i < input->replicas.n && code == OK; i++)
		code = change_reads(call, changes, &input->replicas.v[i], err);
	return code;
}

/* AWS: answers with the settings as they were: DDB-TABLE-238. */
enum code
op_update_table_replica_auto_scaling(struct call *call,
				     const struct update_table_replica_auto_scaling_input *input,
				     struct err *err)
{
	struct table *table, **replicas, **others;
	struct str name;
	size_t n, count;
	enum code code =
		replicas_of_global(call, input->table_name, &name, &table, &replicas, &n, err);

	if (code != OK)
		return code;
	code = check_shape(name, input, err);
	if (code != OK)
		return code;
	code = check_scaling_billing(call, name, replicas, n, input, err);
	if (code != OK)
		return code;
	code = replicas_of(call, table, &others, &count, err);
	if (code != OK)
		return code;
	struct replica_changes changes = replica_changes_begin(call, table, others, count, 0);
	code = change_all(call, &changes, input, err);
	if (code != OK) {
		replica_changes_drop(&changes);
		return code;
	}
	scaling_describe(call, table, replicas, n);
	return catalog_change_all(call->service->catalog, changes.v, changes.n, err);
}
