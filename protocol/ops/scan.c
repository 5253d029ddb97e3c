/* Scan. AWS: API Reference, Scan. */
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/table_gates.h"
#include "protocol/work/work.h"

/* Checks and parses the request alone. */
static enum code parse_scan(struct call *call, const struct scan_input *input,
			    struct expressions *out, struct err *err)
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
	struct projection *projection; /* AWS's newer layer looks for its errors here already */
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	if (!call->is_older)
		code = legacy_projection(call->arena, &input->attributes_to_get, &projection, err);
	if (code != OK)
		return code;
	if (!call->is_older)
		code = legacy_operator(input->conditional_operator, input->scan_filter.n, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, out, err);
	if (code != OK)
		return code;
	if (!out->filter)
		code = legacy_filter(call->arena, &input->scan_filter, input->conditional_operator,
				     &out->filter, err);
	if (code != OK)
		return code;
	if (!out->projection)
		code = legacy_projection(call->arena, &input->attributes_to_get, &out->projection,
					 err);
	if (code != OK)
		return code;
	if (call->is_older)
		code = rules_segments(input->segment, input->total_segments, true, err);
	return code;
}

/* What the older layer checks by the table's side, or before Select. */
static enum code check_newer(struct call *call, const struct scan_input *input,
			     struct read_page *page, struct err *err)
{
	enum code code = call_check_late(call, err);

	page->is_newer = true;
	if (code != OK)
		return code;
	code = rules_select(input->select, str_is_set(input->index_name), page->projection,
			    input->attributes_to_get.v != NULL, &page->select, err);
	if (code != OK)
		return code;
	return rules_segments(input->segment, input->total_segments, false, err);
}

enum code op_scan(struct call *call, const struct scan_input *input, struct err *err)
{
	struct expressions expressions = {0};
	enum code code = parse_scan(call, input, &expressions, err);
	struct read_page page = {
		.filter = expressions.filter,
		.projection = expressions.projection,
		.is_consistent = opt_is_true(input->consistent_read),
		.limit = input->limit.is_set ? (uint64_t)input->limit.value : 0,
		.segment = (uint32_t)input->segment.value,
		.segments = (uint32_t)input->total_segments.value,
	};
	const struct page_request request = {
		.index_name = input->index_name,
		.consistent = input->consistent_read,
		.start_key = input->exclusive_start_key,
		.select = input->select,
		.has_attributes_to_get = input->attributes_to_get.v != NULL,
	};
	struct table_passage passage = {.call = call,
					.name = input->table_name,
					.expressions = &expressions,
					.page = &page,
					.request = &request};

	if (code != OK)
		return code;
	if (!call->is_older)
		code = check_newer(call, input, &page, err);
	if (code != OK)
		return code;
	code = table_gates_pass(call->is_older ? ORDER_SCAN : ORDER_SCAN_NEWER, &passage, err);
	if (code != OK)
		return code;
	struct work work = {.call = call, .kind = WORK_OF_PAGE, .page = &page};

	code = work_do(&work, err);
	if (code != OK)
		return code;
	respond_page(call, &page, input->return_consumed_capacity);
	return OK;
}
