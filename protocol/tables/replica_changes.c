#include "protocol/tables/replica_changes.h"

#include <stdlib.h>

#include "protocol/tables/encryption_rules.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/tables/replicas.h"
#include "protocol/tables/scaling.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"
#include "storage/catalog/catalog_size.h"
#include "storage/uuid.h"

/* Regions that were reset have left. */
static void prune(struct table *table, const struct replica_changes *changes)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->group.n; i++) {
		bool is_there = false;

		for (size_t k = 0; k < changes->n && !is_there; k++)
			is_there = str_eq(changes->v[k].current->identity.region,
					  table->group.v[i].region);
		if (is_there)
			table->group.v[kept++] = table->group.v[i];
	}
	table->group.n = kept;
	if (kept == 0)
		table->group = (struct table_group){.id = STR_ABSENT};
}

struct replica_changes replica_changes_begin(struct call *call, struct table *table,
					     struct table *const *replicas, size_t n, size_t more)
{
	struct replica_changes changes = {
		0, ARENA_ARRAY(call->arena, struct catalog_change, 1 + n + more)};

	changes.v[changes.n++] = (struct catalog_change){
		.current = table, .next = table_clone(table), .now_ms = call->now_ms};
	for (size_t i = 0; i < n; i++)
		changes.v[changes.n++] =
			(struct catalog_change){.current = replicas[i],
						.next = table_clone(replicas[i]),
						.now_ms = replicas_now_ms(call, replicas[i])};
	for (size_t i = 0; i < changes.n; i++)
		prune(changes.v[i].next, &changes);
	return changes;
}

void replica_changes_drop(struct replica_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		table_unref(changes->v[i].next);
}

/* Members in the order in which the group got them: AWS, DDB-TABLE-265. */
static int by_age(const void *a, const void *b)
{
	const struct group_member *left = a, *right = b;

	if (str_is_set(left->source) != str_is_set(right->source))
		return str_is_set(left->source) ? 1 : -1;
	return (left->added_ms > right->added_ms) - (left->added_ms < right->added_ms);
}

static void add_member(struct table *table, const struct table *member)
{
	struct group_member *v = ARENA_ARRAY(table->arena, struct group_member, table->group.n + 1);

	if (table->group.n > 0)
		memcpy(v, table->group.v, table->group.n * sizeof(*v));
	v[table->group.n] = (struct group_member){
		str_copy(table->arena, member->identity.region),
		str_copy(table->arena, member->group.source),
		member->group.added_ms,
	};
	table->group.v = v;
	table->group.n++;
	qsort(v, table->group.n, sizeof(*v), by_age);
}

/* What a region has of its own is not copied. AWS: DDB-TABLE-230. */
static void forget_regional(struct table *table)
{
	struct table_settings *settings = table->settings;

	settings_keep_table(settings, SETTINGS_REPLICAS);
	settings->throughput.decreases_today = settings->throughput.last_increase_ms =
		settings->throughput.last_decrease_ms = 0;
	scaling_keep_writes(table); /* AWS: targets of writes are mirrored, those of reads are not:
				       DDB-TABLE-194 */
	for (size_t i = 0; i < table_index_total(table); i++)
		settings_keep_index(table_index_at(table, i)->settings, SETTINGS_REPLICAS);
}

static void override_indexes(struct table *table,
			     const struct replica_global_secondary_index_list *overrides)
{
	for (size_t i = 0; i < overrides->n; i++) {
		const struct replica_global_secondary_index *override = &overrides->v[i];

		for (size_t k = 0; k < table->indexes.n;
		     k++) { /* AWS: an index that there is not is passed over */
			struct index *index = &table->indexes.v[k];

			if (index->is_local || !str_eq(index->name, override->index_name))
				continue;
			if (override->provisioned_throughput_override &&
			    table->settings->billing == BILLING_PROVISIONED)
				index->settings->throughput.read =
					override->provisioned_throughput_override
						->read_capacity_units.value;
			if (override->on_demand_throughput_override &&
			    table->settings->billing == BILLING_PAY_PER_REQUEST)
				index->settings->on_demand = (struct throughput_pair){
					true,
					override->on_demand_throughput_override
						->max_read_request_units.value,
					index->settings->on_demand.write,
				};
		}
	}
}

/* AWS: an override of units is accepted and has no effect on a table that is billed otherwise. */
static void override(struct table *table, const struct provisioned_throughput_override *units,
		     const struct on_demand_throughput_override *cap,
		     const struct replica_global_secondary_index_list *indexes, struct str class,
		     int64_t now_ms)
{
	struct table_settings *settings = table->settings;

	if (units && settings->billing == BILLING_PROVISIONED)
		settings->throughput.read = units->read_capacity_units.value;
	if (cap && settings->billing == BILLING_PAY_PER_REQUEST)
		settings->on_demand = (struct throughput_pair){
			true, cap->max_read_request_units.value, settings->on_demand.write};
	override_indexes(table, indexes);
	if (!str_is_set(class))
		return;
	settings->table_class = str_copy(table->arena, class);
	settings->class_changed_ms = now_ms;
}

/* A stream as the source has it, of its own. */
static enum code begin_stream(struct table *table, enum stream_view view, int64_t now_ms,
			      struct err *err)
{
	static const int types[] = {
		[STREAM_OFF] = STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES,
		[STREAM_KEYS_ONLY] = STREAM_VIEW_TYPE_KEYS_ONLY,
		[STREAM_NEW_IMAGE] = STREAM_VIEW_TYPE_NEW_IMAGE,
		[STREAM_OLD_IMAGE] = STREAM_VIEW_TYPE_OLD_IMAGE,
		[STREAM_NEW_AND_OLD_IMAGES] = STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES,
	};
	const struct stream_specification specification = {.stream_enabled = {true, true},
							   .stream_view_type = types[view]};

	return table_rules_stream(table, &specification, 1, now_ms, err);
}

/* The table of a new replica: a copy of what concerns all regions. */
static struct table *new_replica(struct call *call, const struct table *source,
				 const struct create_replication_group_member_action *create,
				 int64_t now_ms)
{
	struct table *table = table_clone_apart(source);
	struct str region = create->region_name;

	table->identity = (struct table_identity){
		.account = table->identity.account,
		.region = str_copy(table->arena, region),
		.name = table->identity.name,
		.id = STR_ABSENT,
		.created_ms = now_ms,
	};
	table->state = (struct table_state){.status = STATUS_CREATING,
					    .settles_ms = INT64_MAX}; /* until it is filled */
	table->ttl.is_filling = false;
	table->ttl.settles_ms = 0;
	table->group.source = str_copy(table->arena, call->ns.region);
	table->group.added_ms = call->now_ms;
	table->group.filling = table->group.source;
	forget_regional(table);
	for (size_t i = 0; i < table_index_total(table); i++) {
		struct index *index = table_index_at(table, i);

		index->is_backfilling = false;
		index->settles_ms = 0;
	}
	override(table, create->provisioned_throughput_override,
		 create->on_demand_throughput_override, &create->global_secondary_indexes,
		 create->table_class_override, now_ms);
	encryption_rules_replica(table, create->kms_master_key_id);
	return table;
}

/* AWS: minutes where the table has items. */
static enum code take_time(struct call *call, struct table *source, struct table *replica,
			   struct err *err)
{
	uint64_t items, bytes;

	if (!timing_is_on(call))
		return OK;
	enum code code = catalog_size(call->service->catalog, source, NULL, &items, &bytes, err);
	if (code != OK)
		return code;
	replica->group.ready_ms = replica->identity.created_ms +
				  timing_lasts(call, items ? TIMING_REPLICA_ITEMS : TIMING_REPLICA);
	return OK;
}

static bool has_region(const struct replica_changes *changes, struct str region)
{
	for (size_t i = 0; i < changes->n; i++) {
		if (str_eq(changes->v[i].next->identity.region, region))
			return true;
	}
	return false;
}

/* What makes the table the first of a group. AWS: a stream that is off is switched on, one of any
 * view stays. */
static enum code found_group(struct call *call, struct table *table,
			     const struct update_table_input *input, struct err *err)
{
	if (table->group.n == 0)
		table->group = (struct table_group){.id = uuid_new(table->arena),
						    .added_ms = call->now_ms};
	table->group.is_strong = table->group.is_strong ||
				 input->multi_region_consistency == MULTI_REGION_CONSISTENCY_STRONG;
	if (input->global_table_witness_updates.n &&
	    input->global_table_witness_updates.v[0].create)
		table->group.witness = str_copy(
			table->arena, input->global_table_witness_updates.v[0].create->region_name);
	table->settings->replication_mode = STR_ABSENT;
	return table->streams.view == STREAM_OFF
		       ? begin_stream(table, STREAM_OFF, call->now_ms, err)
		       : OK;
}

static enum code begin_replica(struct call *call, struct replica_changes *changes,
			       struct table *replica, int64_t now_ms, struct err *err)
{
	enum code code = begin_stream(replica, changes->v[0].next->streams.view, now_ms, err);

	if (code != OK)
		return code;
	return take_time(call, changes->v[0].current, replica, err);
}

static enum code create_replicas(struct call *call, struct replica_changes *changes,
				 const struct update_table_input *input, struct err *err)
{
	struct table *source = changes->v[0].next;
	enum code code = found_group(call, source, input, err);

	for (size_t i = 0; i < input->replica_updates.n && code == OK; i++) {
		const struct create_replication_group_member_action *action =
			input->replica_updates.v[i].create;

		if (has_region(changes, action->region_name)) /* AWS: the same one twice is one */
			continue;
		int64_t now_ms =
			call->service->now_ms(call->service->clock_context,
					      (struct ns){call->ns.account, action->region_name});
		struct table *table = new_replica(call, source, action, now_ms);
		code = begin_replica(call, changes, table, now_ms, err);
		add_member(table, source);
		for (size_t k = 0; k < changes->n; k++)
			add_member(changes->v[k].next, table);
		changes->v[changes->n++] = (struct catalog_change){.next = table, .now_ms = now_ms};
	}
	return code;
}

static struct catalog_change *change_of(struct replica_changes *changes, struct str region)
{
	for (size_t i = 1; i < changes->n; i++) {
		if (changes->v[i].current && str_eq(changes->v[i].current->identity.region, region))
			return &changes->v[i];
	}
	return NULL;
}

static void delete(struct replica_changes *changes, struct str region)
{
	struct catalog_change *change = change_of(changes, region);

	if (!change || !change->next)
		return;
	table_unref(change->next);
	change->next = NULL;
	for (size_t i = 0; i < changes->n; i++) {
		if (changes->v[i].next)
			table_remove_member(changes->v[i].next, region);
	}
}

enum code replica_changes_apply(struct call *call, struct replica_changes *changes,
				const struct update_table_input *input, struct err *err)
{
	const struct replication_group_update_list *updates = &input->replica_updates;

	if (updates->n == 0)
		return OK;
	if (updates->v[0].create)
		return create_replicas(call, changes, input, err);
	for (size_t i = 0; i < updates->n; i++) {
		const struct update_replication_group_member_action *update = updates->v[i].update;
		struct catalog_change *change =
			update ? change_of(changes, update->region_name) : NULL;

		if (updates->v[i].delete)
			delete(changes, updates->v[i].delete->region_name);
		if (updates->v[i].disassociate) {
			changes->v[0].next->group.is_leaving = true;
			changes->v[0].next->state.settles_ms =
				INT64_MAX; /* until it has left: replica_leave() */
		}
		if (change)
			override(change->next, update->provisioned_throughput_override,
				 update->on_demand_throughput_override,
				 &update->global_secondary_indexes, update->table_class_override,
				 change->now_ms);
	}
	return OK;
}

void replica_changes_leave(struct replica_changes *changes)
{
	struct str region = changes->v[0].current->identity.region;

	table_unref(changes->v[0].next);
	changes->v[0].next = NULL;
	for (size_t i = 1; i < changes->n; i++)
		table_remove_member(changes->v[i].next, region);
}

/* Units for a replica: its own read units where it has others than the table, NULL where it has
 * what is asked for already. */
static const struct provisioned_throughput *narrow_units(struct call *call, bool is_switch,
							 const struct throughput *own,
							 const struct throughput *replicas,
							 const struct provisioned_throughput *input)
{
	if (!input || is_switch)
		return input;
	struct provisioned_throughput *units =
		ARENA_NEW(call->arena, struct provisioned_throughput);
	*units = *input;
	if (own->read != replicas->read)
		units->read_capacity_units.value = replicas->read;
	return units->read_capacity_units.value == replicas->read &&
			       units->write_capacity_units.value == replicas->write
		       ? NULL
		       : units;
}

static const struct on_demand_throughput *narrow_cap(struct call *call,
						     const struct throughput_pair *own,
						     const struct throughput_pair *replicas,
						     const struct on_demand_throughput *input)
{
	int64_t own_read = own->is_set ? own->read : 0,
		read = replicas->is_set ? replicas->read : 0;

	if (!input || own_read == read)
		return input;
	struct on_demand_throughput *cap = ARENA_NEW(call->arena, struct on_demand_throughput);
	*cap = *input;
	cap->max_read_request_units.is_set = false;
	return cap;
}

static void narrow_indexes(struct call *call, const struct table *table,
			   const struct table *replica, bool is_switch,
			   struct update_table_input *input)
{
	struct global_secondary_index_update_list *list = &input->global_secondary_index_updates;
	struct global_secondary_index_update *kept =
		ARENA_ARRAY(call->arena, struct global_secondary_index_update, list->n);
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct update_global_secondary_index_action *update = list->v[i].update;
		const struct index *own = update ? table_index(table, update->index_name) : NULL;
		const struct index *other =
			update ? table_index(replica, update->index_name) : NULL;

		kept[n] = list->v[i];
		if (own && other &&
		    (update->provisioned_throughput || update->on_demand_throughput)) {
			struct update_global_secondary_index_action *narrow =
				ARENA_NEW(call->arena, struct update_global_secondary_index_action);

			*narrow = *update;
			narrow->provisioned_throughput = narrow_units(
				call, is_switch, &own->settings->throughput,
				&other->settings->throughput, update->provisioned_throughput);
			narrow->on_demand_throughput = narrow_cap(call, &own->settings->on_demand,
								  &other->settings->on_demand,
								  update->on_demand_throughput);
			kept[n].update = narrow;
			if (!narrow->provisioned_throughput && !narrow->on_demand_throughput &&
			    !narrow->warm_throughput)
				continue;
		}
		n++;
	}
	list->v = n ? kept : NULL;
	list->n = n;
}

struct update_table_input replica_changes_narrow(struct call *call, const struct table *table,
						 const struct table *replica,
						 const struct update_table_input *input)
{
	struct update_table_input narrow = *input;
	bool is_provisioned = table->settings->billing == BILLING_PROVISIONED;
	bool is_switch = input->billing_mode &&
			 (input->billing_mode == BILLING_MODE_PROVISIONED) != is_provisioned;
	struct err ignored = err_in(call->arena);

	settings_narrow(&narrow);
	narrow.disassociation_protection_enabled.is_set = false;
	narrow.stream_specification = NULL;
	narrow.global_table_settings_replication_mode = 0;
	narrow.provisioned_throughput =
		narrow_units(call, is_switch, &table->settings->throughput,
			     &replica->settings->throughput, input->provisioned_throughput);
	if (!narrow.provisioned_throughput && input->billing_mode == BILLING_MODE_PROVISIONED)
		narrow.billing_mode = 0;
	narrow.on_demand_throughput =
		narrow_cap(call, &table->settings->on_demand, &replica->settings->on_demand,
			   input->on_demand_throughput);
	if (input->sse_specification &&
	    (str_is_set(input->sse_specification->kms_master_key_id) ||
	     encryption_rules_news(replica, input->sse_specification, &ignored) != OK))
		narrow.sse_specification =
			NULL; /* AWS: a key is of one region; its kind is that of all */
	narrow_indexes(call, table, replica, is_switch, &narrow);
	return narrow;
}
