#include "protocol/tables/backup_rules.h"
#include "protocol/tables/concerns.h"
#include "protocol/tables/describe.h"
#include "protocol/tables/encryption_rules.h"
#include "protocol/tables/index_rules.h"
#include "protocol/tables/replica_changes.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/tables/replicas.h"
#include "protocol/tables/scaling.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/timing/timing.h"
#include "protocol/vector_messages.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/replica_leave.h"

#define FIRST_STEPS                                                                                \
	3 /* pieces of an index's work done before the answer: the indexes of small tables are     \
	     ACTIVE when the client looks */

/* AWS: these show on the table while they are done, even where nothing changes; the others do not,
 * however long they take. */
#define CONCERNS_SHOWN                                                                             \
	(CONCERN_UNITS | CONCERN_TO_PROVISIONED | CONCERN_TO_ON_DEMAND | CONCERN_STREAM |          \
	 CONCERN_CLASS | CONCERN_INDEX_CREATE | CONCERN_INDEX_DELETE)

/* The request alone, before the table is looked up. */
static enum code check_update_request(const struct ns *ns, const struct update_table_input *input,
				      unsigned concerns, struct err *err)
{
	if (!concerns && !input->warm_throughput && !input->on_demand_throughput &&
	    !input->vector_index_updates.v)
		return err_set(err, MSG_UPDATE_NOTHING,
			       input->multi_region_consistency ? "" : "MultiRegionConsistency, ");
	enum code code = index_rules_request(input, err);
	if (code != OK)
		return code;
	if ((concerns & CONCERN_REPLICAS) && (concerns & ~(unsigned)CONCERN_REPLICAS) &&
	    input->multi_region_consistency)
		return err_set(err, MSG_REPLICA_ALONE);
	code = concerns_check(concerns, err);
	if (code != OK)
		return code;
	if (input->sse_specification)
		code = encryption_rules_check(input->sse_specification, err);
	if (code != OK)
		return code;
	code = table_rules_class(input->table_class, err);
	if (code != OK)
		return code;
	return replica_rules_check(ns, input, err);
}

static enum code update_billing(struct table *table, const struct update_table_input *input,
				int64_t now_ms, struct err *err)
{
	bool was_on_demand = table->settings->billing == BILLING_PAY_PER_REQUEST;

	if (input->billing_mode == BILLING_MODE_PROVISIONED && !input->provisioned_throughput)
		return err_set(err, MSG_UPDATE_UNITS_REQUIRED);
	if (input->billing_mode == BILLING_MODE_PAY_PER_REQUEST && !was_on_demand) {
		table->settings->billing = BILLING_PAY_PER_REQUEST;
		table->settings->on_demand_since_ms = now_ms;
		throughput_rules_drop_units(table, now_ms);
	}
	if (input->billing_mode == BILLING_MODE_PROVISIONED && was_on_demand) {
		if (table->indexes.vector_n)
			return err_set(err, MSG_VECTOR_BILLING_CHANGE);
		/* AWS: the limits of on-demand go with it; the units are the first, not more or
		 * less than others */
		table->settings->on_demand.is_set = false;
		for (size_t i = 0; i < table->indexes.n; i++)
			table->indexes.v[i].settings->on_demand.is_set = false;
		if (!table->settings->on_demand_since_ms)
			table->settings->on_demand_since_ms = table->identity.created_ms;
		table->settings->billing = BILLING_PROVISIONED;
		throughput_rules_begin(&table->settings->throughput, input->provisioned_throughput);
		return OK;
	}
	if (!input->provisioned_throughput)
		return OK;
	if (table->settings->billing == BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_UNITS_REFUSED);
	return throughput_rules_units(table, NULL, input->provisioned_throughput, now_ms, err);
}

/* AWS: a table without a class is of the standard one, and stays without when it is given that one.
 */
static void update_class(struct table *table, struct str name, int64_t now_ms)
{
	struct str now = str_is_set(table->settings->table_class) ? table->settings->table_class
								  : STR("STANDARD");

	if (!str_is_set(name) || str_eq(name, now))
		return;
	table->settings->table_class = str_copy(table->arena, name);
	table->settings->class_changed_ms = now_ms;
}

static enum code change_table(const struct call *call, struct table *table,
			      const struct update_table_input *input, int64_t now_ms,
			      struct err *err)
{
	bool becomes_provisioned = table->settings->billing == BILLING_PAY_PER_REQUEST &&
				   input->billing_mode == BILLING_MODE_PROVISIONED;

	throughput_rules_keep_warm(table);
	enum code code = update_billing(table, input, now_ms, err);
	if (code != OK)
		return code;
	code = throughput_rules_on_demand(table, NULL, input->on_demand_throughput,
					  THROUGHPUT_UPDATE, err);
	if (code != OK)
		return code;
	code = index_rules_apply(table, input, becomes_provisioned, now_ms, err);
	if (code != OK)
		return code;
	code = throughput_rules_warm(table, NULL, input->warm_throughput, THROUGHPUT_UPDATE, err);
	if (code != OK)
		return code;
	if (input->stream_specification)
		code = table_rules_stream(table, input->stream_specification,
					  catalog_stream_shards(call->service->catalog, table),
					  now_ms, err);
	if (code != OK)
		return code;
	if (input->sse_specification)
		code = encryption_rules_apply(table, input->sse_specification, false, err);
	if (code != OK)
		return code;
	throughput_rules_keep_warm(table);
	update_class(table, input->table_class, now_ms);
	settings_update(table->settings, input);
	if (input->disassociation_protection_enabled.is_set)
		table->settings->may_disassociate = !input->disassociation_protection_enabled.value;
	if (input->global_table_settings_replication_mode)
		table->settings->replication_mode =
			replica_rules_mode(input->global_table_settings_replication_mode);
	table_rules_prune(table);
	return OK;
}

/* AWS: units that change are shown as they were, with the time of the change. */
static void show_old_units(struct throughput *shown, const struct throughput *before)
{
	shown->read = before->read;
	shown->write = before->write;
	shown->decreases_today = before->decreases_today;
}

static void show_old_indexes(struct table *shown, const struct table *before,
			     const struct update_table_input *input)
{
	for (size_t i = 0; i < before->indexes.n; i++) {
		const struct throughput *old = &before->indexes.v[i].settings->throughput;
		struct index *index = &shown->indexes.v[i];

		index->settings->warm = throughput_rules_warm_now(before, &before->indexes.v[i]);
		if (shown->settings->billing == BILLING_PAY_PER_REQUEST &&
		    before->settings->billing == BILLING_PROVISIONED)
			index->settings->throughput =
				(struct throughput){.decreases_today = old->decreases_today};
		else if (shown->settings->billing == before->settings->billing &&
			 index->status == STATUS_UPDATING)
			index->settings->throughput = *old;
	}
	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++) {
		const struct update_global_secondary_index_action *update =
			input->global_secondary_index_updates.v[i].update;

		for (size_t k = 0; update && k < shown->indexes.n; k++) {
			if (str_eq(shown->indexes.v[k].name, update->index_name))
				shown->indexes.v[k].settings->is_warm_updating =
					update->warm_throughput != NULL;
		}
	}
}

/* AWS: the answer shows most changing members with their old values. */
static void show_old(struct table *shown, const struct table *before,
		     const struct update_table_input *input, int64_t now_ms)
{
	shown->settings->warm = throughput_rules_warm_now(before, NULL);
	shown->settings->is_warm_updating = throughput_rules_has_warm(input->warm_throughput);
	if (shown->settings->billing == BILLING_PROVISIONED &&
	    before->settings->billing == BILLING_PROVISIONED)
		show_old_units(&shown->settings->throughput, &before->settings->throughput);
	if (shown->settings->billing == BILLING_PAY_PER_REQUEST &&
	    before->settings->billing == BILLING_PROVISIONED) {
		shown->settings->throughput.last_decrease_ms = now_ms;
		shown->settings->on_demand_since_ms = before->settings->on_demand_since_ms
							      ? before->settings->on_demand_since_ms
							      : ON_DEMAND_PENDING;
	}
	if (throughput_rules_has_on_demand(input->on_demand_throughput))
		shown->settings->on_demand = throughput_rules_echo(&before->settings->on_demand,
								   input->on_demand_throughput);
	if (input->sse_specification) {
		shown->settings->sse_enabled = before->settings->sse_enabled;
		shown->settings->sse_key = str_copy(shown->arena, before->settings->sse_key);
		shown->settings->is_sse_updating = true;
		shown->state.status =
			STATUS_ACTIVE; /* AWS: also while other changes are under way */
	}
	shown->settings->table_class = str_copy(shown->arena, before->settings->table_class);
	shown->settings->class_changed_ms = before->settings->class_changed_ms;
	show_old_indexes(shown, before, input);
}

/* Publishes `next`, answers with its current description, then does the first pieces of work. */
static enum code replace_and_show(struct call *call, struct table *table, struct table *next,
				  struct table *shown, struct err *err)
{
	enum code code = catalog_replace(call->service->catalog, table, next, err);

	if (code != OK)
		return code;
	return describe_table(call, STR("TableDescription"), shown, STATUS_ACTIVE, err);
}

static enum code publish_update(struct call *call, struct table *table, struct table *next,
				const struct update_table_input *input, unsigned concerns,
				struct err *err)
{
	struct table *shown = table_clone(next);
	struct err ignored = err_in(call->arena);

	show_old(shown, table, input, call->now_ms);
	if (concerns & CONCERNS_SHOWN)
		shown->state.status = STATUS_UPDATING;
	timing_schedule(call, input, table, next);
	enum code code = replace_and_show(call, table, next, shown, err);
	table_unref(shown);
	if (code != OK)
		return code;
	/* the upkeep does the rest, and work that fails here */
	code = backfill_run(call->service->catalog, call->ns, table->identity.name, FIRST_STEPS,
			    call->now_ms, &ignored);
	if (call->service->upkeep.wake)
		call->service->upkeep.wake(call->service->upkeep.context);
	(void)code;
	return OK;
}

/* AWS: the same billing mode or class again is shown as a change, and nothing changes. */
static bool is_change(const struct table *before, const struct table *after, unsigned concerns)
{
	bool is_repeated = before->settings->billing == after->settings->billing &&
			   before->settings->class_changed_ms == after->settings->class_changed_ms;

	return concerns & CONCERNS_SHOWN &
	       ~(unsigned)(is_repeated ? CONCERN_TO_ON_DEMAND | CONCERN_CLASS : 0);
}

/* Changes one replica of several by what concerns it; `next` has no news where nothing does. */
static enum code change_checked(const struct call *call, const struct table *current,
				struct table *next, const struct update_table_input *input,
				int64_t now_ms, struct err *err)
{
	enum code code = change_table(call, next, input, now_ms, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++) {
		const struct create_global_secondary_index_action *create =
			input->global_secondary_index_updates.v[i].create;

		if (create && table_is_global(next))
			scaling_begin(next, create->index_name, now_ms);
	}
	return throughput_rules_limits(current, next, err);
}

static enum code change_replica(const struct call *call, struct catalog_change *change,
				const struct update_table_input *input, struct err *err)
{
	unsigned concerns = concerns_of(input);
	struct call there = *call;

	if (!concerns)
		return OK;
	there.now_ms = change->now_ms;
	there.ns = (struct ns){change->current->identity.account, change->current->identity.region};
	enum code code =
		change_checked(call, change->current, change->next, input, change->now_ms, err);
	if (code != OK)
		return code;
	if (is_change(change->current, change->next, concerns))
		change->next->state.status = STATUS_UPDATING;
	timing_schedule(&there, input, change->current, change->next);
	return OK;
}

/* What the request makes of the table and its replicas. */
static enum code change_table_and_replicas(struct call *call, struct replica_changes *changes,
					   const struct update_table_input *input, struct err *err)
{
	const struct table *table = changes->v[0].current;
	enum code code = OK;

	if (input->replica_updates.n) {
		code = replica_changes_apply(call, changes, input, err);
		changes->v[0].next->state.status = STATUS_UPDATING;
		if (code != OK)
			return code;
		timing_schedule(call, input, table, changes->v[0].next);
		return OK;
	}
	for (size_t i = 0; i < changes->n && code == OK; i++) {
		struct update_table_input narrow =
			i == 0 ? *input
			       : replica_changes_narrow(call, table, changes->v[i].current, input);

		code = change_replica(call, &changes->v[i], &narrow, err);
	}
	return code;
}

/* AWS: answers with the replicas as they were; a first one makes the table global at once, with
 * none to show. */
static enum code describe_group(struct call *call, const struct replica_changes *changes,
				const struct update_table_input *input, unsigned concerns,
				struct err *err)
{
	const struct table *before = changes->v[0].current, *next = changes->v[0].next;
	bool is_create = input->replica_updates.n && input->replica_updates.v[0].create;
	struct table *shown = table_clone(input->replica_updates.n && !is_create ? before : next);

	if (!input->replica_updates.n)
		show_old(shown, before, input, call->now_ms);
	shown->state.status = concerns & (CONCERNS_SHOWN | CONCERN_REPLICAS) ? STATUS_UPDATING
									     : shown->state.status;
	if (is_create)
		shown->group.n = 0;
	for (size_t i = 0; i < before->group.n && is_create; i++)
		shown->group.v[shown->group.n++] = before->group.v[i];
	enum code code = describe_table(call, STR("TableDescription"), shown, STATUS_ACTIVE, err);
	table_unref(shown);
	return code;
}

/* One whose changes have all come through leaves its group at once; the upkeep sees to the others.
 */
static void try_to_leave(struct call *call, struct str name)
{
	struct err ignored = err_in(call->arena);
	struct table *table;
	bool is_waiting;

	if (replicas_find(call, name, call->ns.region, &table, &ignored) == OK && table &&
	    table->group.is_leaving)
		(void)!replica_leave(call->service->catalog, table, call->now_ms, &is_waiting,
				     &ignored);
}

static enum code prepare_group(struct call *call, struct replica_changes *changes,
			       const struct update_table_input *input, unsigned concerns,
			       struct err *err)
{
	enum code code = change_table_and_replicas(call, changes, input, err);

	if (code != OK)
		return code;
	code = backup_rules_delete_replicas(call, changes->v, changes->n, err);
	if (code != OK)
		return code;
	return describe_group(call, changes, input, concerns, err);
}

static enum code update_group(struct call *call, struct table *table, struct table *const *replicas,
			      size_t n, const struct update_table_input *input, unsigned concerns,
			      struct err *err)
{
	struct replica_changes changes =
		replica_changes_begin(call, table, replicas, n, input->replica_updates.n);
	struct err ignored = err_in(call->arena);
	enum code code = prepare_group(call, &changes, input, concerns, err);

	if (code != OK) {
		replica_changes_drop(&changes);
		return code;
	}
	struct str *regions = ARENA_ARRAY(call->arena, struct str, changes.n);
	for (size_t i = 0; i < changes.n; i++)
		regions[i] = str_copy(call->arena,
				      (changes.v[i].next ? changes.v[i].next : changes.v[i].current)
					      ->identity.region);
	code = catalog_change_all(call->service->catalog, changes.v, changes.n, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < changes.n; i++) /* the upkeep does the rest */
		(void)!backfill_run(call->service->catalog,
				    (struct ns){call->ns.account, regions[i]}, table->identity.name,
				    FIRST_STEPS, changes.v[i].now_ms, &ignored);
	try_to_leave(call, table->identity.name);
	if (call->service->upkeep.wake)
		call->service->upkeep.wake(call->service->upkeep.context);
	return OK;
}

static enum code update(struct call *call, const struct update_table_input *input, struct err *err)
{
	const unsigned concerns = concerns_of(input);
	struct table *table, *next, **replicas;
	size_t n;
	enum code code = check_update_request(&call->ns, input, concerns, err);

	if (code != OK)
		return code;
	code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);
	if (code != OK)
		return code;
	if (!concerns)
		return err_set(err,
			       MSG_UPDATE_FAILURE); /* throughput without members is all there is */
	code = replicas_of(call, table, &replicas, &n, err);
	if (code != OK)
		return code;
	code = replica_rules_table(call, table, replicas, n, input, err);
	if (code != OK)
		return code;
	code = replica_rules_other(table, replicas, n, input, err);
	if (code != OK)
		return code;
	code = index_rules_state(table, input, err);
	if (code != OK)
		return code;
	code = timing_admits(call, table, input, err);
	if (code != OK)
		return code;
	code = table_rules_changeable(table, err);
	if (code != OK)
		return code;
	if (table_is_global(table) || input->replica_updates.n)
		return update_group(call, table, replicas, n, input, concerns, err);
	next = table_clone(table);
	code = change_checked(call, table, next, input, call->now_ms, err);
	if (code != OK) {
		table_unref(next);
		return code;
	}
	if (is_change(table, next, concerns))
		next->state.status = STATUS_UPDATING;
	return publish_update(call, table, next, input, concerns, err);
}

enum code op_update_table(struct call *call, const struct update_table_input *input,
			  struct err *err)
{
	struct update_table_input resolved = *input;

	if (!resolved.billing_mode)
		resolved.billing_mode = input->table_throughput_mode;
	return update(call, &resolved, err);
}
