/* DeleteItem. AWS: API Reference, DeleteItem. */
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "storage/write.h"

/* What the request alone tells. */
static enum code parse(struct call *call, const struct delete_item_input *input, struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.condition = input->condition_expression,
		.valued = "ConditionExpression is",
		.names = &input->expression_attribute_names,
		.values = input->expression_attribute_values,
		.legacy = {{"Expected", input->expected.v != NULL}, {"ConditionalOperator", input->conditional_operator != 0}},
	};
	const struct node *expected = NULL;
	enum code code = rules_return_values(input->return_values, err);

	if (!code)
		code = expressions_check(call->arena, &request, err);
	if (!code)
		code = legacy_expected(call->arena, &input->expected, input->conditional_operator, &expected, err);
	if (!code)
		code = expressions_parse(call->arena, &request, out, err);
	if (expected)
		out->condition = expected;
	return code;
}

enum code op_delete_item(struct call *call, const struct delete_item_input *input, struct err *err)
{
	struct write write = {
		.kind = WRITE_DELETE,
		.key = input->key,
		.wants_item_on_failure =
			input->return_values_on_condition_check_failure == RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD,
	};
	struct expressions expressions = {0};
	enum code code = parse(call, input, &expressions, err);

	write.condition = expressions.condition;
	if (!code)
		code = call_table(call, input->table_name, ABSENT_RESOURCE, &write.table, err);
	if (!code)
		code = rules_key_paths(write.table, &expressions, err);
	if (!code)
		code = write_prepare(call->arena, &write, err);
	if (!code)
		code = write_run(call->service->catalog, call->arena, &write, 1, WRITE_ALONE, NULL, call->now_ms, err);
	if (code)
		return code;

	json_out_open(&call->out, '{');
	if (input->return_values == RETURN_VALUE_ALL_OLD && str_is_set(write.old_image)) {
		json_out_name(&call->out, STR("Attributes"));
		json_out_image(&call->out, write.old_image);
	}
	respond_capacity(call, input->return_consumed_capacity, CAPACITY_WRITE, &write.cost);
	code = respond_metrics(call, input->return_item_collection_metrics, &write, err);
	json_out_close(&call->out, '}');
	return code;
}
