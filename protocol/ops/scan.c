/* Scan. AWS: API Reference, Scan. */
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "storage/read.h"

/* What the request alone tells. */
static enum code parse(struct call *call, const struct scan_input *input, struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.projection = input->projection_expression,
		.filter = input->filter_expression,
		.valued = "FilterExpression is",
		.names = &input->expression_attribute_names,
		.values = input->expression_attribute_values,
		.legacy = {{"AttributesToGet", input->attributes_to_get.v != NULL},
			   {"ScanFilter", input->scan_filter.v != NULL},
			   {"ConditionalOperator", input->conditional_operator != 0}},
	};
	enum code code = expressions_check(call, &request, err);

	if (!code)
		code = expressions_parse(call, &request, out, err);
	if (!code && !out->filter)
		code = legacy_filter(call->arena, &input->scan_filter, input->conditional_operator, &out->filter, err);
	if (!code && !out->projection)
		code = legacy_projection(call->arena, &input->attributes_to_get, &out->projection, err);
	if (!code)
		code = rules_segments(input->segment, input->total_segments, err);
	return code;
}

enum code op_scan(struct call *call, const struct scan_input *input, struct err *err)
{
	struct expressions expressions = {0};
	enum code code = parse(call, input, &expressions, err);
	struct read_page page = {
		.filter = expressions.filter,
		.projection = expressions.projection,
		.is_consistent = opt_is_true(input->consistent_read),
		.limit = input->limit.is_set ? (uint64_t)input->limit.value : 0,
		.segment = (uint32_t)input->segment.value,
		.segments = (uint32_t)input->total_segments.value,
	};

	if (!code)
		code = call_table(call, input->table_name, ABSENT_RESOURCE, &page.table, err);
	if (!code)
		code = rules_not_vector(page.table, input->index_name, input->consistent_read, true, err);
	if (!code)
		code = rules_index(page.table, input->index_name, input->consistent_read, &page.index, err);
	if (!code && input->exclusive_start_key)
		code = read_check_index_keys(&page, input->exclusive_start_key, err);
	if (!code)
		code = rules_select(input->select, page.index != NULL, page.projection, input->attributes_to_get.v != NULL, &page.select, err);
	if (!code)
		code = rules_select_index(call->arena, page.index, page.select, page.projection, err);
	if (!code && input->exclusive_start_key)
		code = read_start_key(call->arena, &page, input->exclusive_start_key, &page.start_after, err);
	if (!code)
		code = rules_key_paths(page.table, &expressions, err);
	if (code)
		return code;
	return respond_page(call, &page, input->return_consumed_capacity, err);
}
