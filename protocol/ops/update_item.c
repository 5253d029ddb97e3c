/* UpdateItem. AWS: API Reference, UpdateItem. */
#include "core/image.h"
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/legacy.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/single_write.h"
#include "storage/write/write.h"

/* Checks and parses the request alone. */
static enum code parse_update_item(struct call *call, const struct update_item_input *input,
				   struct expressions *out, struct err *err)
{
	struct expression_request request = {
		.update = input->update_expression,
		.condition = input->condition_expression,
		.valued = "UpdateExpression and ConditionExpression are",
		.is_write = true,
		.names = &input->expression_attribute_names,
		.values = input->expression_attribute_values,
		.legacy = {{"AttributeUpdates", input->attribute_updates.v != NULL},
			   {"Expected", input->expected.v != NULL},
			   {"ConditionalOperator", input->conditional_operator != 0}},
		.conditional_operator = input->conditional_operator,
		.condition_count = input->expected.n,
	};
	const struct node *expected = NULL;
	struct update *updates = NULL;
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	code = legacy_expected(call->arena, &input->expected, input->conditional_operator,
			       &expected, err);
	if (code != OK)
		return code;
	code = legacy_updates(call->arena, &input->attribute_updates, &updates, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, out, err);
	if (code != OK)
		return code;
	if (updates)
		out->update = updates;
	if (expected)
		out->condition = expected;
	return OK;
}

static void write_updated(struct call *call, const struct write *write, struct str image,
			  const struct value *decoded)
{
	struct value item = *decoded;

	if (!write->update || !str_is_set(image) ||
	    (!value_is_set(&item) && !image_decode(call->arena, image, &item)))
		return;
	struct value updated = expr_updated(write->update, call->arena, &item);

	if (updated.n == 0)
		return;
	json_out_name(&call->out, STR("Attributes"));
	json_out_item(&call->out, &updated);
}

static void write_attributes(struct call *call, int return_values, const struct write *write)
{
	switch (return_values) {
	case RETURN_VALUE_ALL_OLD:
	case RETURN_VALUE_ALL_NEW: {
		struct str image =
			return_values == RETURN_VALUE_ALL_OLD ? write->old_image : write->new_image;

		if (str_is_set(image)) {
			json_out_name(&call->out, STR("Attributes"));
			json_out_image(&call->out, image);
		}
		return;
	}
	case RETURN_VALUE_UPDATED_OLD:
		write_updated(call, write, write->old_image, &write->old_item);
		return;
	case RETURN_VALUE_UPDATED_NEW:
		write_updated(call, write, write->new_image, &write->new_item);
		return;
	default:
		return;
	}
}

enum code op_update_item(struct call *call, const struct update_item_input *input, struct err *err)
{
	struct write write = {
		.kind = WRITE_UPDATE,
		.key = input->key,
		.wants_item_on_failure = input->return_values_on_condition_check_failure ==
					 RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD,
	};
	struct expressions expressions = {0};
	enum code code = parse_update_item(call, input, &expressions, err);

	if (code != OK)
		return code;
	write.wants_collection_size = respond_wants_metrics(input->return_item_collection_metrics);
	code = single_write_run(call, input->table_name, &expressions, &write, err);
	if (code != OK)
		return input->attribute_updates.v ? legacy_update_error(err) : code;

	json_out_open(&call->out, '{');
	write_attributes(call, input->return_values, &write);
	single_write_finish(call, &write,
			    (struct single_write_wants){input->return_consumed_capacity,
							input->return_item_collection_metrics});
	return OK;
}
