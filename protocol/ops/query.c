/* Query. AWS: API Reference, Query. */
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "storage/read.h"

/* What the request alone tells. */
static enum code parse(struct call *call, const struct query_input *input, struct expressions *out, struct err *err)
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
			   {"KeyConditions", input->key_conditions.v && str_is_set(input->key_condition_expression)}},
		.conditional_operator = input->conditional_operator,
		.condition_count = input->query_filter.n,
	};
	enum code code = expressions_check(call, &request, err);

	if (!code)
		code = call_check_late(call, err);
	if (!code)
		code = expressions_parse(call, &request, out, err);
	if (!code && out->key_condition)
		code = key_condition_check(out->key_condition, err);
	if (code)
		return code;
	if (!out->key_condition && !input->key_conditions.v)
		return err_set(err, MSG_QUERY_NO_CONDITION);
	if (!out->key_condition)
		code = legacy_key_conditions(call->arena, &input->key_conditions, &out->key_condition, err);
	if (!code && !out->filter)
		code = legacy_filter(call->arena, &input->query_filter, input->conditional_operator, &out->filter, err);
	if (!code && !out->projection)
		code = legacy_projection(call->arena, &input->attributes_to_get, &out->projection, err);
	return code;
}

/* What the table adds: key condition, filter, start key, attributes. */
static enum code resolve(struct call *call, const struct query_input *input, const struct expressions *expressions,
			 struct key_condition *keys, struct read_page *page, struct err *err)
{
	const struct key_schema *schema = page->index ? &page->index->keys : &page->table->keys;
	bool is_legacy_filter = input->query_filter.v != NULL;
	enum code code = rules_key_paths(page->table, expressions, err);

	if (!code)
		code = key_condition_resolve(call->arena, page->table, page->index, expressions->key_condition, keys, err);
	if (!code)
		code = rules_query_filter(schema, expressions->filter, is_legacy_filter ? "QueryFilter" : "Filter Expression",
					  err);
	if (!code)
		code = rules_filter_projected(call->arena, page->index, expressions->filter, err);
	if (!code && input->exclusive_start_key)
		code = read_start_key(call->arena, page, input->exclusive_start_key, &page->start_after, err);
	if (!code)
		code = rules_select_index(call->arena, page->index, page->select, expressions->projection, err);
	return code;
}

enum code op_query(struct call *call, const struct query_input *input, struct err *err)
{
	struct expressions expressions = {0};
	struct key_condition keys;
	enum code code = parse(call, input, &expressions, err);
	struct read_page page = {
		.keys = &keys,
		.filter = expressions.filter,
		.projection = expressions.projection,
		.is_consistent = opt_is_true(input->consistent_read),
		.is_reverse = input->scan_index_forward.is_set && !input->scan_index_forward.value,
		.limit = input->limit.is_set ? (uint64_t)input->limit.value : 0,
	};

	if (!code)
		code = rules_select(input->select, str_is_set(input->index_name), expressions.projection, input->attributes_to_get.v != NULL,
				    &page.select, err);
	if (!code)
		code = call_table(call, input->table_name, ABSENT_RESOURCE, &page.table, err);
	if (!code)
		code = rules_not_vector(page.table, input->index_name, input->consistent_read, false, err);
	if (!code)
		code = rules_index(page.table, input->index_name, input->consistent_read, &page.index, err);
	if (!code)
		code = resolve(call, input, &expressions, &keys, &page, err);
	if (code)
		return code;
	return respond_page(call, &page, input->return_consumed_capacity, err);
}
