#include "protocol/tables/describe.h"
#include "protocol/tables/policy_rules.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/tag_rules.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/timing/timing.h"

static enum code add_policy_to_new_table(struct call *call, struct str document,
					 struct table *table, struct err *err)
{
	struct str text;
	enum code code = policy_rules_document(
		call->arena, document, &(struct policy_terms){.is_stream = false}, &text, err);

	if (code != OK)
		return code;
	table->settings->policy = (struct policy){str_copy(table->arena, text), call->now_ms};
	return OK;
}

/* AWS: the error says that a table is being created, not that it is being deleted. */
static enum code refuse_existing(struct call *call, struct str name, struct err *err)
{
	struct err ignored = err_in(call->arena);
	struct table *table;

	if (call_table(call, name, ABSENT_AT_ALL, &table, &ignored) == OK &&
	    table->state.status == STATUS_CREATING)
		return err_set(err, MSG_TABLE_IN_USE, table_rules_doing(table->state.status),
			       STR_ARG(name));
	return err_set(err, MSG_TABLE_EXISTS, STR_ARG(name));
}

static enum code fill_table(struct call *call, const struct create_table_input *input,
			    struct table *table, struct err *err)
{
	enum code code = table_rules_create(input, table, err);

	if (code != OK)
		return code;
	if (input->stream_specification)
		code = table_rules_stream(table, input->stream_specification,
					  catalog_stream_shards(call->service->catalog, table),
					  call->now_ms, err);
	if (code != OK)
		return code;
	code = tag_rules_check(&input->tags, err);
	if (code != OK)
		return code;
	code = tag_rules_check_set(&table->settings->tags, err);
	if (code != OK)
		return code;
	if (str_is_set(input->resource_policy))
		code = add_policy_to_new_table(call, input->resource_policy, table, err);
	if (code != OK)
		return code;
	return throughput_rules_limits(NULL, table, err);
}

enum code op_create_table(struct call *call, const struct create_table_input *input,
			  struct err *err)
{
	struct create_table_input resolved = *input;
	struct table *table, *created;
	struct str name;

	if (!resolved.billing_mode)
		resolved.billing_mode = input->table_throughput_mode;
	enum code code = call_table_name(call, input->table_name, &name, err);
	if (code != OK)
		return code;
	code = call_refresh(call, err);
	if (code != OK)
		return code;
	table = table_new(&settings_records);
	table->identity.account = str_copy(table->arena, call->ns.account);
	table->identity.region = str_copy(table->arena, call->ns.region);
	table->identity.name = str_copy(table->arena, name);
	code = fill_table(call, &resolved, table, err);
	if (code != OK) {
		table_unref(table);
		return code;
	}
	timing_create(call, table);
	code = catalog_create(call->service->catalog, call->ns, table, call->now_ms, &created, err);
	if (code == ERR_RESOURCE_IN_USE)
		return refuse_existing(call, name, err);
	if (code != OK)
		return code;
	code = describe_table(call, STR("TableDescription"), created, STATUS_CREATING, err);
	table_unref(created);
	return code;
}
