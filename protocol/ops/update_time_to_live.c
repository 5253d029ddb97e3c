#include "protocol/handler.h"
#include "protocol/table_messages.h"
#include "protocol/table_rules.h"

/* AWS: what is asked for is checked before how soon after the last change it is asked. */
static enum code check(const struct table *table, const struct time_to_live_specification *wanted, int64_t now_ms, struct err *err)
{
	bool is_changing = table->ttl_settles_ms > now_ms;

	enum code code = table_rules_changeable(table, err);

	if (code != OK)
		return code;
	if (table->is_ttl_enabled && !str_eq(table->ttl_attribute, wanted->attribute_name))
		return err_set(err, MSG_TTL_OTHER, STR_ARG(table->ttl_attribute));
	if (table->is_ttl_enabled == wanted->enabled.value)
		return err_set(err, MSG_TTL_SAME, table->is_ttl_enabled ? "enabled" : "disabled");
	return is_changing ? err_set(err, MSG_TTL_SOON) : OK;
}

enum code op_update_time_to_live(struct call *call, const struct update_time_to_live_input *input, struct err *err)
{
	const struct time_to_live_specification *wanted = input->time_to_live_specification;
	struct json_out *out = &call->out;
	struct table *table, *next;
	enum code code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);

	if (code == OK)
		code = check(table, wanted, call->now_ms, err);
	if (code != OK)
		return code;
	next = table_clone(table);
	next->is_ttl_enabled = wanted->enabled.value;
	next->ttl_attribute = str_copy(next->arena, wanted->attribute_name);
	next->ttl_changed_ms = call->now_ms;
	next->ttl_settles_ms = call->now_ms + catalog_transient_ms(call->service->catalog);
	code = catalog_replace(call->service->catalog, table, next, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_name(out, STR("TimeToLiveSpecification"));
	json_out_open(out, '{');
	json_out_field_boolean(out, "Enabled", wanted->enabled.value);
	json_out_field_string(out, "AttributeName", wanted->attribute_name);
	json_out_close(out, '}');
	json_out_close(out, '}');
	return OK;
}
