#include "protocol/describe.h"
#include "protocol/index_rules.h"
#include "protocol/table_messages.h"
#include "protocol/table_rules.h"
#include "protocol/vector_messages.h"
#include "storage/backfill.h"

#define SETTLE_STEPS 3 /* pieces of an index's work done before the answer goes out: small tables are done when the client asks */

static bool asks_for_nothing(const struct update_table_input *input)
{
	return !input->billing_mode && !input->provisioned_throughput && !input->global_secondary_index_updates.n && !input->stream_specification &&
	       !input->sse_specification && !input->table_class && !input->deletion_protection_enabled.is_set &&
	       !table_rules_on_demand_member(input->on_demand_throughput) && !input->warm_throughput && !input->vector_index_updates.v;
}

static enum code check_features(const struct update_table_input *input, struct err *err)
{
	if (input->replica_updates.v || input->global_table_witness_updates.v || input->multi_region_consistency ||
	    input->global_table_settings_replication_mode)
		return err_set(err, MSG_FEATURE_ABSENT, "Global table replication");
	if (asks_for_nothing(input))
		return err_set(err, MSG_UPDATE_NOTHING);
	if (input->billing_mode == BILLING_MODE_PAY_PER_REQUEST && input->provisioned_throughput)
		return err_set(err, MSG_UNITS_REFUSED);
	return index_rules_request(input, err);
}

static enum code change_billing(struct table *table, const struct update_table_input *input, int64_t now_ms, struct err *err)
{
	bool was_on_demand = table->billing == BILLING_PAY_PER_REQUEST;

	if (input->billing_mode == BILLING_MODE_PAY_PER_REQUEST && !was_on_demand) {
		table->billing = BILLING_PAY_PER_REQUEST;
		table->on_demand_since_ms = now_ms;
		table->throughput.read = table->throughput.write = 0;
		for (size_t i = 0; i < table->index_count; i++)
			table->indexes[i].throughput.read = table->indexes[i].throughput.write = 0;
	}
	if (input->billing_mode == BILLING_MODE_PROVISIONED && was_on_demand) {
		if (!input->provisioned_throughput)
			return err_set(err, MSG_UPDATE_UNITS_REQUIRED);
		if (table->vector_count)
			return err_set(err, MSG_VECTOR_BILLING_CHANGE);
		/* AWS: the limits of on-demand go with it */
		table->on_demand.is_set = false;
		for (size_t i = 0; i < table->index_count; i++)
			table->indexes[i].on_demand.is_set = false;
		if (!table->on_demand_since_ms)
			table->on_demand_since_ms = table->created_ms;
		table->billing = BILLING_PROVISIONED;
	}
	if (!input->provisioned_throughput)
		return OK;
	if (table->billing == BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_UNITS_REFUSED);
	return table_rules_units(&table->throughput, input->provisioned_throughput, STR("the table"), now_ms, err);
}

/* Limits given stand beside those that the table has; -1 takes one away. */
static enum code change_on_demand(struct table *table, const struct on_demand_throughput *input, struct err *err)
{
	const char *member = table_rules_on_demand_member(input);
	struct throughput_pair old = table->on_demand;

	if (!member)
		return OK;
	if (table->billing == BILLING_PROVISIONED)
		return err_set(err, MSG_ON_DEMAND_REFUSED_UPDATE, member);
	enum code code = table_rules_check_on_demand(input, true, err);
	if (code != OK)
		return code;
	table->on_demand = table_rules_on_demand(input);
	if (old.is_set && !input->max_read_request_units.is_set)
		table->on_demand.read = old.read;
	if (old.is_set && !input->max_write_request_units.is_set)
		table->on_demand.write = old.write;
	table->on_demand.is_set = table->on_demand.read > 0 || table->on_demand.write > 0;
	return OK;
}

static enum code change(struct table *table, const struct update_table_input *input, int64_t now_ms, struct err *err)
{
	bool becomes_provisioned = table->billing == BILLING_PAY_PER_REQUEST && input->billing_mode == BILLING_MODE_PROVISIONED;
	enum code code = change_billing(table, input, now_ms, err);

	if (code == OK)
		code = change_on_demand(table, input->on_demand_throughput, err);
	if (code == OK)
		code = index_rules_apply(table, input, becomes_provisioned, now_ms, err);
	if (code == OK && input->stream_specification)
		code = table_rules_stream(table, input->stream_specification, now_ms, err);
	if (code != OK)
		return code;
	if (input->sse_specification)
		table_rules_encryption(table, input->sse_specification);
	if (input->table_class)
		table->table_class = input->table_class == TABLE_CLASS_STANDARD ? STR("STANDARD") : STR("STANDARD_INFREQUENT_ACCESS");
	if (input->deletion_protection_enabled.is_set)
		table->is_deletion_protected = input->deletion_protection_enabled.value;
	if (input->warm_throughput)
		table->warm = table_rules_warm(input->warm_throughput);
	table_rules_prune(table);
	return OK;
}

/* AWS: changes of throughput, billing, streams and the number of indexes show on the table; others are done at once. */
static bool is_table_updating(const struct update_table_input *input)
{
	return input->provisioned_throughput || input->billing_mode || input->stream_specification || input->table_class ||
	       index_rules_is_heavy(input);
}

/* AWS: the answer to an index's new units still has the old ones. */
static void show_old_units(struct table *shown, const struct table *before)
{
	for (size_t i = 0; i < before->index_count && shown->billing == before->billing; i++) {
		if (shown->indexes[i].status == STATUS_UPDATING)
			shown->indexes[i].throughput = before->indexes[i].throughput;
	}
}

/* Publishes `next` and answers with what it says at this moment; then does what there is to do at once. */
static enum code publish(struct call *call, struct table *table, struct table *next, struct err *err)
{
	struct table *shown = table_clone(next);
	struct err ignored = err_in(call->arena);

	show_old_units(shown, table);
	catalog_schedule(call->service->catalog, table, next, call->now_ms);
	enum code code = catalog_replace(call->service->catalog, table, next, err);
	if (code == OK)
		code = describe_table(call, STR("TableDescription"), shown, STATUS_ACTIVE, err);
	table_unref(shown);
	if (code != OK)
		return code;
	/* what is left, or fails here, is the upkeep's */
	code = backfill_settle(call->service->catalog, call->ns, table->name, SETTLE_STEPS, call->now_ms, &ignored);
	if (call->service->wake)
		call->service->wake(call->service->wake_context);
	(void)code;
	return OK;
}

enum code op_update_table(struct call *call, const struct update_table_input *input, struct err *err)
{
	struct table *table, *next;
	enum code code = check_features(input, err);

	if (code == OK)
		code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);
	if (code == OK)
		code = index_rules_state(table, input, err);
	if (code == OK && table->status == STATUS_UPDATING)
		code = index_rules_while_updating(table, input, err);
	if (code != OK)
		return code;
	if (table->status == STATUS_CREATING || table->status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_IN_USE, table_rules_doing(table->status), STR_ARG(table->name));
	next = table_clone(table);
	code = change(next, input, call->now_ms, err);
	if (code != OK) {
		table_unref(next);
		return code;
	}
	if (is_table_updating(input))
		next->status = STATUS_UPDATING;
	return publish(call, table, next, err);
}
