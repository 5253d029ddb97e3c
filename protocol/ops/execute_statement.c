/* ExecuteStatement. AWS: API Reference, ExecuteStatement. */
#include "protocol/handler.h"
#include "protocol/partiql/partiql.h"
#include "protocol/respond.h"
#include "protocol/work/work.h"

static enum code run_write(struct call *call, const struct execute_statement_input *input,
			   const struct partiql_statement *statement, struct err *err)
{
	struct write write = {.wants_item_on_failure =
				      input->return_values_on_condition_check_failure ==
				      RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD};
	struct work work = {.call = call, .writes = &write, .n = 1, .mode = WRITE_ALONE};
	enum code code = partiql_plan_write(call, statement, &write, NULL, err);

	if (code != OK)
		return code;
	code = work_meet(&work, err);
	if (code != OK)
		return code;
	code = work_run(&work, err);
	if (code != OK) {
		code = partiql_write_error(statement, err);
		err->is_capital = str_is_set(err->item); /* AWS: PutItem, UpdateItem and DeleteItem
							    say "message" beside the item */
		return code;
	}
	call_charge(call, &write.cost);
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("Items"));
	json_out_open(&call->out, '[');
	partiql_respond_returning(call, statement, &write, STR_ABSENT);
	json_out_close(&call->out, ']');
	respond_capacity(call, input->return_consumed_capacity, CAPACITY_WRITE);
	json_out_close(&call->out, '}');
	return OK;
}

enum code op_execute_statement(struct call *call, const struct execute_statement_input *input,
			       struct err *err)
{
	struct partiql_select select = {
		.text = input->statement,
		.list = &input->parameters,
		.consistent = input->consistent_read,
		.limit = input->limit.is_set ? (uint64_t)input->limit.value : 0,
		.next_token = input->next_token,
		.capacity = input->return_consumed_capacity,
	};
	struct partiql_statement statement;
	enum code code =
		partiql_parameters(call->arena, &input->parameters, &select.parameters, err);

	if (code != OK)
		return code;
	code = partiql_parse(call, input->statement, select.parameters, input->parameters.n, false,
			     &statement, err);
	if (code != OK)
		return code;
	return statement.kind == PARTIQL_SELECT ? partiql_select_run(call, &statement, &select, err)
						: run_write(call, input, &statement, err);
}
