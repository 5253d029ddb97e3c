/* TransactGetItems. AWS: API Reference, TransactGetItems. */
#include "core/image.h"
#include "core/seen.h"
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/table_gates.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/work/work.h"
#include "storage/read.h"

#define RESPONSE_SIZE_MAX (4u * 1024 * 1024) /* bytes of items by DynamoDB's rules */

static enum code parse_transact_get(struct call *call, const struct action_err *own,
				    const struct get_action *get, struct expressions *out,
				    struct err *err)
{
	struct expression_request request = {
		.projection = get->projection_expression,
		.names = &get->expression_attribute_names,
		.action = own,
	};
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	code = expressions_parse(call, &request, out, err);
	if (code != OK)
		return code;
	return call_check_action(own, true, err);
}

/*
 * AWS: of several wrong keys only the first is a cancellation reason, and those that are empty
 * before it. An absent table, and an item named twice, fail the request.
 */
static enum code prepare_transact_get(struct call *call, const struct transact_get_item_list *items,
				      const struct expressions *expressions,
				      struct read_item *reads, struct err *err)
{
	struct err *reasons = ARENA_ARRAY(call->arena, struct err, items->n);
	struct seen seen = seen_new(call->arena, items->n);
	bool is_refused = false, is_stopped = false;

	for (size_t i = 0; i < items->n; i++) {
		const struct get_action *get = items->v[i].get;
		struct table_passage passage = {.call = call,
						.name = get->table_name,
						.expressions = &expressions[i],
						.read = &reads[i]};
		enum code code = table_gates_pass(ORDER_NAMED, &passage, err);

		if (code != OK)
			return code;
		code = replica_rules_transaction(passage.table, err);
		if (code != OK)
			return code;
		reads[i].key = get->key;
		reads[i].mode = READ_TRANSACTIONAL;
		struct err own = err_in(call->arena);
		code = read_prepare(call->arena, &reads[i], &own);
		if (code != OK && code != ERR_EMPTY_KEY &&
		    !write_is_reason(
			    code)) { /* AWS: an empty key is a reason of a read, unlike a write's */
			*err = own;
			return code;
		}
		if (code != OK) {
			if (!is_stopped)
				reasons[i] = own;
			is_refused = true;
			is_stopped = is_stopped || code != ERR_EMPTY_KEY;
			continue;
		}
		if (!seen_add(&seen,
			      rules_item_name(call->arena, reads[i].table, reads[i].row_key)))
			return err_set(err, MSG_TRANSACT_DUPLICATES);
	}
	return is_refused ? write_canceled(reasons, items->n, err) : OK;
}

static enum code check_size(const struct work *work, struct err *err)
{
	size_t size = 0;

	for (size_t i = 0; i < work->n; i++)
		size += image_item_size(work->reads[i].image);
	return size > RESPONSE_SIZE_MAX ? err_set(err, MSG_TRANSACT_RESPONSE_SIZE, size) : OK;
}

/* AWS: where the projection leaves nothing of an item the answer has no Item, unlike GetItem's. */
static void write_response_item(struct call *call, struct str image,
				const struct projection *projection)
{
	struct subject subject = {.arena = call->arena, .image = image};
	struct value projected;

	if (projection && str_is_set(image)) {
		projected = expr_project(projection, &subject);
		if (projected.n == 0)
			return;
		json_out_name(&call->out, STR("Item"));
		json_out_item(&call->out, &projected);
	} else if (str_is_set(image)) {
		json_out_name(&call->out, STR("Item"));
		json_out_image(&call->out, image);
	}
}

static void respond_transact_get(struct call *call, int wanted, const struct read_item *reads,
				 const struct expressions *expressions, size_t n)
{
	for (size_t i = 0; i < n; i++)
		call_charge(call, &reads[i].cost);
	json_out_open(&call->out, '{');
	respond_capacities(call, wanted, CAPACITY_TRANSACT_READ);
	json_out_name(&call->out, STR("Responses"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < n; i++) {
		json_out_open(&call->out, '{');
		write_response_item(call, reads[i].image, expressions[i].projection);
		json_out_close(&call->out, '}');
	}
	json_out_close(&call->out, ']');
	json_out_close(&call->out, '}');
}

enum code op_transact_get_items(struct call *call, const struct transact_get_items_input *input,
				struct err *err)
{
	size_t n = input->transact_items.n;
	struct read_item *reads = ARENA_ARRAY(call->arena, struct read_item, n);
	struct expressions *expressions = ARENA_ARRAY(call->arena, struct expressions, n);
	const struct projection **projections =
		ARENA_ARRAY(call->arena, const struct projection *, n);
	enum code code = call_check_late(call, err); /* malformed names of tables */

	for (size_t i = 0; code == OK && i < n; i++)
		code = parse_transact_get(call, &call->actions[i], input->transact_items.v[i].get,
					  &expressions[i], err);
	if (code != OK)
		return code;
	code = prepare_transact_get(call, &input->transact_items, expressions, reads, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++)
		projections[i] = expressions[i].projection;
	struct work work =
		{.call = call, .kind = WORK_OF_TRANSACTION, .reads = reads, .n = n,
		 .projections = projections, .check = check_size};
	code = work_do(&work, err);
	if (code != OK)
		return code;
	respond_transact_get(call, input->return_consumed_capacity, reads, expressions, n);
	return OK;
}
