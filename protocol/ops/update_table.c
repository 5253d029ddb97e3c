#include "protocol/describe.h"
#include "protocol/table_messages.h"
#include "protocol/table_rules.h"

static bool asks_for_nothing(const struct update_table_input *input)
{
	return !input->billing_mode && !input->provisioned_throughput && !input->global_secondary_index_updates.v && !input->stream_specification &&
	       !input->sse_specification && !input->table_class && !input->deletion_protection_enabled.is_set && !input->on_demand_throughput &&
	       !input->warm_throughput;
}

static enum code check_features(const struct update_table_input *input, struct err *err)
{
	if (input->replica_updates.v || input->global_table_witness_updates.v || input->multi_region_consistency ||
	    input->global_table_settings_replication_mode)
		return err_set(err, MSG_FEATURE_ABSENT, "Global table replication");
	if (input->vector_index_updates.v)
		return err_set(err, MSG_FEATURE_ABSENT, "VectorIndexUpdates");
	if (asks_for_nothing(input))
		return err_set(err, MSG_UPDATE_NOTHING);
	if (input->billing_mode == BILLING_MODE_PAY_PER_REQUEST && input->provisioned_throughput)
		return err_set(err, MSG_UNITS_REFUSED);
	return OK;
}

/* New units of a table or index; `what` names it in the message. */
static enum code change_units(struct throughput *throughput, const struct provisioned_throughput *input, const char *what, int64_t now_ms,
			      struct err *err)
{
	int64_t read = input->read_capacity_units.value, write = input->write_capacity_units.value;

	if (read == throughput->read && write == throughput->write)
		return err_set(err, MSG_UPDATE_SAME, what, what, (long long)throughput->read, (long long)read, what, (long long)throughput->write,
			       (long long)write);
	if (read > throughput->read || write > throughput->write)
		throughput->last_increase_ms = now_ms;
	if (read < throughput->read || write < throughput->write) {
		throughput->last_decrease_ms = now_ms;
		throughput->decreases_today++;
	}
	throughput->read = read;
	throughput->write = write;
	return OK;
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
			return err_set(err, MSG_UNITS_REQUIRED);
		if (!table->on_demand_since_ms)
			table->on_demand_since_ms = table->created_ms;
		table->billing = BILLING_PROVISIONED;
	}
	if (!input->provisioned_throughput)
		return OK;
	if (table->billing == BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_UNITS_REFUSED);
	return change_units(&table->throughput, input->provisioned_throughput, "table", now_ms, err);
}

static enum code update_index(struct table *table, const struct update_global_secondary_index_action *input, int64_t now_ms, struct err *err)
{
	struct index *index = NULL;

	for (size_t i = 0; i < table->index_count; i++) {
		if (!table->indexes[i].is_local && str_eq(table->indexes[i].name, input->index_name))
			index = &table->indexes[i];
	}
	if (!index)
		return err_set(err, MSG_UPDATE_INDEX_ABSENT, STR_ARG(table->name), STR_ARG(input->index_name));
	if (input->on_demand_throughput)
		index->on_demand = table_rules_on_demand(input->on_demand_throughput);
	if (input->warm_throughput)
		index->warm = table_rules_warm(input->warm_throughput);
	if (!input->provisioned_throughput)
		return OK;
	if (table->billing == BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_UNITS_INDEX_REFUSED, STR_ARG(index->name));
	return change_units(&index->throughput, input->provisioned_throughput, "index", now_ms, err);
}

static enum code create_index(struct table *table, const struct create_global_secondary_index_action *input, struct err *err)
{
	struct global_secondary_index index = {
		.index_name = input->index_name, .key_schema = input->key_schema, .projection = input->projection,
		.provisioned_throughput = input->provisioned_throughput, .on_demand_throughput = input->on_demand_throughput,
		.warm_throughput = input->warm_throughput,
	};

	if (table_index(table, input->index_name))
		return err_set(err, MSG_INDEX_EXISTS);
	enum code code = table_rules_add_global(table, &index, err);
	if (code != OK)
		return code;
	table->indexes[table->index_count - 1].number = table->next_index++;
	table_index_settle(table, &table->indexes[table->index_count - 1]);
	return OK;
}

static enum code delete_index(struct table *table, struct str name, struct err *err)
{
	for (size_t i = 0; i < table->index_count; i++) {
		if (table->indexes[i].is_local || !str_eq(table->indexes[i].name, name))
			continue;
		size_counter_unref(table->indexes[i].size);
		table->index_count--;
		memmove(&table->indexes[i], &table->indexes[i + 1], (table->index_count - i) * sizeof(table->indexes[0]));
		table_rules_prune(table);
		return OK;
	}
	return err_set(err, MSG_UPDATE_INDEX_ABSENT, STR_ARG(table->name), STR_ARG(name));
}

/* One creation or deletion per call; throughput of any number. */
static enum code change_indexes(struct table *table, const struct update_table_input *input, int64_t now_ms, struct err *err)
{
	unsigned heavy = 0;
	enum code code = OK;

	for (size_t i = 0; i < input->global_secondary_index_updates.n && code == OK; i++) {
		const struct global_secondary_index_update *update = &input->global_secondary_index_updates.v[i];

		if ((update->create != NULL) + (update->update != NULL) + (update->delete != NULL) != 1)
			return err_set(err, MSG_UPDATE_INDEX_ACTIONS);
		heavy += !update->update;
		if (heavy > 1)
			return err_set(err, MSG_UPDATE_INDEX_MANY);
		if (update->create)
			code = create_index(table, update->create, err);
		else if (update->update)
			code = update_index(table, update->update, now_ms, err);
		else
			code = delete_index(table, update->delete->index_name, err);
	}
	return code;
}

static enum code change(struct table *table, const struct update_table_input *input, int64_t now_ms, struct err *err)
{
	enum code code = table_rules_define(table, &input->attribute_definitions, err);

	if (code == OK)
		code = change_billing(table, input, now_ms, err);
	if (code == OK)
		code = change_indexes(table, input, now_ms, err);
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
	if (input->on_demand_throughput)
		table->on_demand = table_rules_on_demand(input->on_demand_throughput);
	if (input->warm_throughput)
		table->warm = table_rules_warm(input->warm_throughput);
	table_rules_prune(table);
	return OK;
}

enum code op_update_table(struct call *call, const struct update_table_input *input, struct err *err)
{
	struct table *table, *next;
	enum code code = check_features(input, err);

	if (code == OK)
		code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);
	if (code != OK)
		return code;
	if (table->status != STATUS_ACTIVE)
		return err_set(err, MSG_TABLE_IN_USE, STR_ARG(table->name), table->status == STATUS_DELETING ? "deleted" : "updated");
	next = table_clone(table);
	code = change(next, input, call->now_ms, err);
	if (code != OK) {
		table_unref(next);
		return code;
	}
	code = catalog_replace(call->service->catalog, table, table_ref(next), err);
	if (code == OK)
		code = describe_table(call, STR("TableDescription"), next, STATUS_UPDATING, err);
	table_unref(next);
	return code;
}
