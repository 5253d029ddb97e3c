/* GetItem. AWS: API Reference, GetItem. */
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/table_gates.h"
#include "protocol/work/work.h"

static enum code parse_get_item(struct call *call, const struct get_item_input *input,
				struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.projection = input->projection_expression,
		.names = &input->expression_attribute_names,
		.legacy = {{"AttributesToGet", input->attributes_to_get.v != NULL}},
	};
	struct projection *attributes = NULL;
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	code = legacy_projection(call->arena, &input->attributes_to_get, &attributes, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, out, err);
	if (code != OK)
		return code;
	if (attributes)
		out->projection = attributes;
	return OK;
}

enum code op_get_item(struct call *call, const struct get_item_input *input, struct err *err)
{
	struct expressions expressions = {0};
	struct read_item read = {.key = input->key,
				 .mode = opt_is_true(input->consistent_read) ? READ_CONSISTENT
									     : READ_EVENTUAL};
	struct table_passage passage = {.call = call,
					.name = input->table_name,
					.expressions = &expressions,
					.read = &read};
	struct work work = {.call = call, .kind = WORK_OF_ITEM, .reads = &read, .n = 1};
	enum code code = parse_get_item(call, input, &expressions, err);

	if (code != OK)
		return code;
	code = table_gates_pass(ORDER_READ, &passage, err);
	if (code != OK)
		return code;
	work.projections = (const struct projection *const[]){expressions.projection};
	code = work_do(&work, err);
	if (code != OK)
		return code;
	call_charge(call, &read.cost);

	json_out_open(&call->out, '{');
	if (str_is_set(read.image)) {
		json_out_name(&call->out, STR("Item"));
		respond_item(call, read.image, expressions.projection);
	}
	respond_capacity(call, input->return_consumed_capacity, CAPACITY_READ);
	json_out_close(&call->out, '}');
	return OK;
}
