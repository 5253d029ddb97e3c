/* Query. AWS: API Reference, Query. */
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/table_gates.h"
#include "protocol/work/work.h"

/* Checks and parses the request alone. */
static enum code parse_query(struct call *call, const struct query_input *input,
			     struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.projection = input->projection_expression,
		.filter = input->filter_expression,
		.key_condition = input->key_condition_expression,
		.valued = "FilterExpression and KeyConditionExpression are",
		.names = &input->expression_attribute_names,
		.values = input->expression_attribute_values,
		.legacy = {{"AttributesToGet", input->attributes_to_get.v != NULL},
			   {"QueryFilter", input->query_filter.v != NULL},
			   {"ConditionalOperator", input->conditional_operator != 0},
			   /* AWS lets KeyConditions stand beside a FilterExpression. */
			   {"KeyConditions", input->key_conditions.v &&
						     str_is_set(input->key_condition_expression)}},
		.conditional_operator = input->conditional_operator,
		.condition_count = input->query_filter.n,
	};
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	code = call_check_late(call, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, out, err);
	if (code != OK)
		return code;
	if (out->key_condition)
		code = key_condition_check(out->key_condition, err);
	if (code != OK)
		return code;
	if (!out->key_condition && !input->key_conditions.v)
		return err_set(err, MSG_QUERY_NO_CONDITION);
	if (!out->key_condition)
		code = legacy_key_conditions(call->arena, &input->key_conditions,
					     &out->key_condition, err);
	if (code != OK)
		return code;
	if (!out->filter)
		code = legacy_filter(call->arena, &input->query_filter, input->conditional_operator,
				     &out->filter, err);
	if (code != OK)
		return code;
	if (!out->projection)
		code = legacy_projection(call->arena, &input->attributes_to_get, &out->projection,
					 err);
	return code;
}

enum code op_query(struct call *call, const struct query_input *input, struct err *err)
{
	struct expressions expressions = {0};
	struct key_condition keys;
	enum code code = parse_query(call, input, &expressions, err);
	struct read_page page = {
		.keys = &keys,
		.filter = expressions.filter,
		.projection = expressions.projection,
		.is_consistent = opt_is_true(input->consistent_read),
		.is_reverse = input->scan_index_forward.is_set && !input->scan_index_forward.value,
		.limit = input->limit.is_set ? (uint64_t)input->limit.value : 0,
	};
	const struct page_request request = {
		.index_name = input->index_name,
		.consistent = input->consistent_read,
		.start_key = input->exclusive_start_key,
		.has_query_filter = input->query_filter.v != NULL,
	};
	struct table_passage passage = {
		.call = call,
		.name = input->table_name,
		.expressions = &expressions,
		.page = &page,
		.keys = &keys,
		.request = &request,
	};

	if (code != OK)
		return code;
	code = rules_select(input->select, str_is_set(input->index_name), expressions.projection,
			    input->attributes_to_get.v != NULL, &page.select, err);
	if (code != OK)
		return code;
	code = table_gates_pass(ORDER_QUERY, &passage, err);
	if (code != OK)
		return code;
	struct work work = {.call = call, .kind = WORK_OF_PAGE, .page = &page};

	code = work_do(&work, err);
	if (code != OK)
		return code;
	respond_page(call, &page, input->return_consumed_capacity);
	return OK;
}
