/* DeleteItem. AWS: API Reference, DeleteItem. */
#include "protocol/expressions.h"
#include "protocol/respond.h"
#include "protocol/handler.h"
#include "protocol/legacy.h"
#include "protocol/rules.h"
#include "protocol/single_write.h"

/* Checks and parses the request alone. */
static enum code parse_delete_item(struct call *call, const struct delete_item_input *input,
				   struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.condition = input->condition_expression,
		.valued = "ConditionExpression is",
		.is_write = true,
		.names = &input->expression_attribute_names,
		.values = input->expression_attribute_values,
		.legacy = {{"Expected", input->expected.v != NULL},
			   {"ConditionalOperator", input->conditional_operator != 0}},
		.conditional_operator = input->conditional_operator,
		.condition_count = input->expected.n,
	};
	const struct node *expected = NULL;
	enum code code = rules_return_values(input->return_values, err);

	if (code != OK)
		return code;
	code = expressions_check(call, &request, err);
	if (code != OK)
		return code;
	code = legacy_expected(call->arena, &input->expected, input->conditional_operator,
			       &expected, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, out, err);
	if (code != OK)
		return code;
	if (expected)
		out->condition = expected;
	return OK;
}

enum code op_delete_item(struct call *call, const struct delete_item_input *input, struct err *err)
{
	struct write write = {
		.kind = WRITE_DELETE,
		.key = input->key,
		.wants_item_on_failure = input->return_values_on_condition_check_failure ==
					 RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD,
	};
	struct expressions expressions = {0};
	enum code code = parse_delete_item(call, input, &expressions, err);

	if (code != OK)
		return code;
	write.wants_collection_size = respond_wants_metrics(input->return_item_collection_metrics);
	code = single_write_run(call, input->table_name, &expressions, &write, err);
	if (code != OK)
		return code;
	single_write_respond(call, &write, input->return_values == RETURN_VALUE_ALL_OLD,
			     (struct single_write_wants){input->return_consumed_capacity,
							 input->return_item_collection_metrics});
	return OK;
}
