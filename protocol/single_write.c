#include "protocol/single_write.h"

#include "protocol/respond.h"
#include "protocol/table_gates.h"
#include "protocol/work/work.h"

static enum code pass_and_meet(struct table_passage *passage, struct work *work, struct err *err)
{
	enum code code = table_gates_pass(ORDER_WRITE, passage, err);

	if (code != OK)
		return code;
	return work_meet(work, err);
}

enum code single_write_run(struct call *call, struct str table_name,
			   const struct expressions *expressions, struct write *write,
			   struct err *err)
{
	struct table_passage passage = {
		.call = call, .name = table_name, .expressions = expressions, .write = write};

	struct work work = {.call = call, .writes = write, .n = 1, .mode = WRITE_ALONE};

	write->condition = expressions->condition;
	write->update = expressions->update;
	enum code code = pass_and_meet(&passage, &work, err);
	if (code != OK) {
		if (str_is_set(write->row_key))
			work_note_refused(&work);
		return code;
	}
	code = work_run(&work, err);
	if (code != OK)
		return code;
	call_charge(call, &write->cost);
	return OK;
}

void single_write_finish(struct call *call, const struct write *write,
			 struct single_write_wants wants)
{
	respond_capacity(call, wants.capacity, CAPACITY_WRITE);
	respond_metrics(call, wants.metrics, write);
	json_out_close(&call->out, '}');
}

void single_write_respond(struct call *call, const struct write *write, bool wants_old,
			  struct single_write_wants wants)
{
	json_out_open(&call->out, '{');
	if (wants_old && str_is_set(write->old_image)) {
		json_out_name(&call->out, STR("Attributes"));
		json_out_image(&call->out, write->old_image);
	}
	single_write_finish(call, write, wants);
}
