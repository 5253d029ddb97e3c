#include "protocol/tables/replicas.h"

#include <stdlib.h>

#include "protocol/faults/faults.h"
#include "protocol/tables/control_messages.h"
#include "protocol/tables/throughput_view.h"
#include "protocol/timing/timing.h"

#define VERSION "2019.11.21"

int64_t replicas_now_ms(const struct call *call, const struct table *table)
{
	return call->service->now_ms(call->service->clock_context,
				     (struct ns){table->identity.account, table->identity.region});
}

enum code replicas_find(struct call *call, struct str name, struct str region, struct table **table,
			struct err *err)
{
	struct err own = err_in(call->arena);
	struct ns ns = {call->ns.account, region};
	int64_t now_ms = call->service->now_ms(call->service->clock_context, ns);
	struct table *found = NULL;
	enum code code = catalog_get(call->service->catalog, ns, name, now_ms, &found, &own);

	if (code == OK) {
		call_hold(call, found);
	} else if (code != ERR_RESOURCE_NOT_FOUND) {
		*err = own;
		return code;
	}
	*table = code == OK ? found : NULL;
	return OK;
}

enum code replicas_of(struct call *call, const struct table *table, struct table ***replicas,
		      size_t *n, struct err *err)
{
	struct table **members = ARENA_ARRAY(call->arena, struct table *, table->group.n);
	size_t count = 0;
	enum code code = OK;

	for (size_t i = 0; i < table->group.n; i++) {
		struct table *found;

		code = replicas_find(call, table->identity.name, table->group.v[i].region, &found,
				     err);
		if (code != OK)
			return code;
		if (found && str_eq(found->group.id, table->group.id) &&
		    table_member(found, table->identity.region))
			members[count++] = found;
	}
	*replicas = members;
	*n = count;
	return OK;
}

static int by_region(const void *a, const void *b)
{
	return str_cmp((*(struct table *const *)a)->identity.region,
		       (*(struct table *const *)b)->identity.region);
}

/* The caller's replica of that name, and all of its group by region, itself among them; n is 1 or 0
 * where the table is of one region, or not there. */
static enum code replicas_all(struct call *call, struct str name, struct table **table,
			      struct table ***replicas, size_t *n, struct err *err)
{
	struct table *own = NULL, **others = NULL, **all;
	size_t count = 0;
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	code = replicas_find(call, name, call->ns.region, &own, err);
	if (code != OK)
		return code;
	if (own)
		code = replicas_of(call, own, &others, &count, err);
	if (code != OK)
		return code;
	all = ARENA_ARRAY(call->arena, struct table *, count + 1);
	if (count > 0)
		memcpy(all, others, count * sizeof(*all));
	if (own)
		all[count++] = own;
	qsort(all, count, sizeof(*all), by_region);
	*table = own;
	*replicas = all;
	*n = count;
	return OK;
}

struct str replicas_status(const struct table *table)
{
	switch (table->state.status) {
	case STATUS_CREATING:
		return STR("CREATING");
	case STATUS_UPDATING:
		return STR("UPDATING");
	case STATUS_DELETING:
		return STR("DELETING");
	case STATUS_ACTIVE:
		break;
	}
	return STR("ACTIVE");
}

/* The read units of a replica, or of an index of it, where they are not those of the table that
 * shows it. */
static void write_overrides(struct json_out *out, bool is_provisioned, const struct throughput *own,
			    const struct throughput *other, const struct throughput_pair *own_cap,
			    const struct throughput_pair *other_cap)
{
	int64_t cap = other_cap->is_set ? other_cap->read : 0,
		own_read = own_cap->is_set ? own_cap->read : 0;

	if (is_provisioned && other->read != own->read) {
		json_out_name(out, STR("ProvisionedThroughputOverride"));
		json_out_open(out, '{');
		json_out_field_integer(out, "ReadCapacityUnits", other->read);
		json_out_close(out, '}');
	}
	if (!is_provisioned && cap != own_read && cap) {
		json_out_name(out, STR("OnDemandThroughputOverride"));
		json_out_open(out, '{');
		json_out_field_integer(out, "MaxReadRequestUnits", cap);
		json_out_close(out, '}');
	}
}

static void write_index(struct json_out *out, const struct table *table,
			const struct table *replica, const struct index *index)
{
	const struct index *own = table_index(table, index->name);

	json_out_open(out, '{');
	json_out_field_string(out, "IndexName", index->name);
	if (own && !own->is_local)
		write_overrides(out, replica->settings->billing == BILLING_PROVISIONED,
				&own->settings->throughput, &index->settings->throughput,
				&own->settings->on_demand, &index->settings->on_demand);
	throughput_view_warm(out, replica, index, false);
	json_out_close(out, '}');
}

static void write_replica_indexes(struct json_out *out, const struct table *table,
				  const struct table *replica)
{
	bool is_open = false;

	for (size_t i = 0; i < replica->indexes.n; i++) {
		if (replica->indexes.v[i].is_local)
			continue;
		if (!is_open) {
			json_out_name(out, STR("GlobalSecondaryIndexes"));
			json_out_open(out, '[');
			is_open = true;
		}
		write_index(out, table, replica, &replica->indexes.v[i]);
	}
	if (is_open)
		json_out_close(out, ']');
}

static void write_class(struct json_out *out, const struct table *replica)
{
	if (!str_is_set(replica->settings->table_class))
		return;
	json_out_name(out, STR("ReplicaTableClassSummary"));
	json_out_open(out, '{');
	json_out_field_string(out, "TableClass", replica->settings->table_class);
	if (replica->settings->class_changed_ms) {
		json_out_name(out, STR("LastUpdateDateTime"));
		json_out_time_ms(out, replica->settings->class_changed_ms);
	}
	json_out_close(out, '}');
}

/* AWS: DDB-TABLE-229; what is inherited is absent. ReplicaArn came later, with the model of
 * November 2026. */
static void write_replica(struct call *call, const struct table *table, const struct table *replica)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_field_string(out, "RegionName", replica->identity.region);
	json_out_field_string(out, "ReplicaArn", table_arn(call->arena, replica));
	struct str state = fault_replica_state(call->service->faults, replica);
	json_out_field_string(out, "ReplicaStatus",
			      str_is_set(state) ? state : replicas_status(replica));
	if (replica->settings->sse_enabled)
		json_out_field_string(out, "KMSMasterKeyId", replica->settings->sse_key);
	write_overrides(out, replica->settings->billing == BILLING_PROVISIONED,
			&table->settings->throughput, &replica->settings->throughput,
			&table->settings->on_demand, &replica->settings->on_demand);
	write_replica_indexes(out, table, replica);
	write_class(out, replica);
	throughput_view_warm(out, replica, NULL, false);
	json_out_field_string(out, "GlobalTableSettingsReplicationMode",
			      STR("ENABLED_WITH_OVERRIDES"));
	json_out_close(out, '}');
}

static void write_witness(struct json_out *out, const struct table *table)
{
	if (!str_is_set(table->group.witness))
		return;
	json_out_name(out, STR("GlobalTableWitnesses"));
	json_out_open(out, '[');
	json_out_open(out, '{');
	json_out_field_string(out, "RegionName", table->group.witness);
	json_out_field_string(out, "WitnessStatus", STR("ACTIVE"));
	json_out_close(out, '}');
	json_out_close(out, ']');
}

/* AWS: a new one is not in the list at first, where it was asked for. */
static bool is_listed(const struct call *call, const struct table *table,
		      const struct table *replica)
{
	int64_t age_ms = call->now_ms - replica->group.added_ms;

	return !timing_is_on(call) || replica->state.status != STATUS_CREATING ||
	       !str_eq(replica->group.source, table->identity.region) || age_ms < 0 ||
	       age_ms >= timing_lasts(call, TIMING_REPLICA_SHOWN);
}

enum code replicas_write(struct call *call, const struct table *table, struct err *err)
{
	struct json_out *out = &call->out;
	struct table **replicas;
	size_t n;

	if (!table_is_global(table))
		return OK;
	enum code code = replicas_of(call, table, &replicas, &n, err);
	if (code != OK)
		return code;
	if (n == 0 && table->group.n > 0) /* all other regions were reset */
		return OK;
	json_out_field_string(out, "GlobalTableVersion", STR(VERSION));
	json_out_name(out, STR("Replicas"));
	json_out_open(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (is_listed(call, table, replicas[i]))
			write_replica(call, table, replicas[i]);
	}
	json_out_close(out, ']');
	if (!table->group.is_strong) {
		json_out_field_boolean(out, "DisassociationProtectionEnabled",
				       !table->settings->may_disassociate);
		return OK;
	}
	json_out_field_string(out, "MultiRegionConsistency", STR("STRONG"));
	write_witness(out, table);
	return OK;
}

enum code replicas_of_global(struct call *call, struct str name_or_arn, struct str *name,
			     struct table **table, struct table ***replicas, size_t *n,
			     struct err *err)
{
	enum code code = call_table_name(call, name_or_arn, name, err);

	if (code != OK)
		return code;
	code = replicas_all(call, *name, table, replicas, n, err);
	if (code != OK)
		return code;
	if (*n < 2)
		return err_set(err, MSG_NOT_GLOBAL, STR_ARG(*name));
	return OK;
}
