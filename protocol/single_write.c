#include "protocol/single_write.h"

#include "core/expr_messages.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "storage/messages.h"

enum code single_write_run(struct call *call, struct str table_name, const struct expressions *expressions, struct write *write,
			   struct err *err)
{
	enum code code = call_table(call, table_name, ABSENT_RESOURCE, &write->table, err);

	write->thought = call_thought(call);
	write->condition = expressions->condition;
	write->update = expressions->update;
	if (!code)
		code = rules_key_paths(write->table, expressions, err);
	if (!code)
		code = write_prepare(call->arena, write, err);
	if (!code && expressions->update_charge > ITEM_SIZE_MAX)
		code = err_set(err, MSG_UPDATE_SIZE);
	if (!code)
		code = rules_update_keys(write->table, write->update, err);
	if (!code)
		code = write_run(call->service->catalog, call->arena, write, 1, WRITE_ALONE, NULL, call->now_ms, err);
	if (!code)
		call_charge(call, &write->cost);
	return code;
}

void single_write_finish(struct call *call, const struct write *write, struct single_write_wants wants)
{
	respond_capacity(call, wants.capacity, CAPACITY_WRITE);
	respond_metrics(call, wants.metrics, write);
	json_out_close(&call->out, '}');
}

void single_write_respond(struct call *call, const struct write *write, bool wants_old, struct single_write_wants wants)
{
	json_out_open(&call->out, '{');
	if (wants_old && str_is_set(write->old_image)) {
		json_out_name(&call->out, STR("Attributes"));
		json_out_image(&call->out, write->old_image);
	}
	single_write_finish(call, write, wants);
}
