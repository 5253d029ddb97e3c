#include "protocol/handler.h"
#include "protocol/tables/table_messages.h"

/* AWS: the attribute is shown until TTL is disabled, and forgotten then. */
enum code op_describe_time_to_live(struct call *call,
				   const struct describe_time_to_live_input *input, struct err *err)
{
	static const char *const statuses[2][2] = {{"DISABLED", "DISABLING"},
						   {"ENABLED", "ENABLING"}};
	struct json_out *out = &call->out;
	const char *state;
	struct table *table;
	enum code code = call_table(call, input->table_name, ABSENT_TABLE, &table, err);

	if (code != OK)
		return code;
	state = table->state.status == STATUS_CREATING ? "CREATING" : "DELETING";
	if (table->state.status == STATUS_CREATING || table->state.status == STATUS_DELETING)
		return err_set(err, MSG_TTL_STATE, state, state);
	bool is_changing = table->ttl.settles_ms > call->now_ms;
	json_out_open(out, '{');
	json_out_name(out, STR("TimeToLiveDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "TimeToLiveStatus",
			      str_of(statuses[table->ttl.is_enabled][is_changing]));
	if (table->ttl.is_enabled || is_changing)
		json_out_field_string(out, "AttributeName", table->ttl.attribute);
	json_out_close(out, '}');
	json_out_close(out, '}');
	return OK;
}
