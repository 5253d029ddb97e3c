/* TransactWriteItems. AWS: API Reference, TransactWriteItems. */
#include "core/expr_messages.h"
#include "core/image.h"
#include "core/seen.h"
#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "protocol/item_messages.h"
#include "protocol/respond.h"
#include "protocol/rules.h"
#include "protocol/table_gates.h"
#include "protocol/work/work.h"
#include "storage/write/write.h"

#define PAYLOAD_SIZE_MAX (4u * 1024 * 1024)     /* bytes of items and keys by DynamoDB's rules */

/* The four kinds of action, made one. */
struct action {
	enum write_kind kind;
	struct str table_name;
	const struct value *subject; /* Item or Key */
	struct str update, condition;
	const struct expression_attribute_name_map *names;
	const struct value *values;
	int on_failure;
	struct expressions expressions; /* parsed */
};

#define ACTION(write_kind, from, subject_field, update_text)                                       \
	(struct action)                                                                            \
	{                                                                                          \
		(write_kind), (from)->table_name, (from)->subject_field, (update_text),            \
			(from)->condition_expression, &(from)->expression_attribute_names,         \
			(from)->expression_attribute_values,                                       \
			(from)->return_values_on_condition_check_failure,                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static enum code read_action(const struct transact_write_item *item, struct action *out,
			     struct err *err)
{
	switch (!!item->condition_check + !!item->put + !!item->delete + !!item->update) {
	case 0:
		return err_set(err, MSG_TRANSACT_NONE);
	case 1:
		break;
	default:
		return err_set(err, MSG_TRANSACT_ONE_OF);
	}
	if (item->put)
		*out = ACTION(WRITE_PUT, item->put, item, STR_ABSENT);
	else if (item->delete)
		*out = ACTION(WRITE_DELETE, item->delete, key, STR_ABSENT);
	else if (item->update)
		*out = ACTION(WRITE_UPDATE, item->update, key, item->update->update_expression);
	else
		*out = ACTION(WRITE_CHECK, item->condition_check, key, STR_ABSENT);
	return OK;
}

/* The rules of one action alone. */
static enum code parse_transact_action(struct call *call, const struct action_err *own,
				       struct action *action, struct write *write, struct err *err)
{
	struct expression_request request = {
		.update = action->update,
		.condition = action->condition,
		.names = action->names,
		.values = action->values,
		.action = own,
	};
	/* AWS: the newer layer checks a Put's item before it reads the condition, as PutItem
	 * does */
	bool is_item_first = !call->is_older && action->kind == WRITE_PUT;
	enum code code = expressions_check(call, &request, err);

	if (code != OK)
		return code;
	if (is_item_first)
		code = call_check_action(own, true, err);
	if (code != OK)
		return code;
	code = expressions_parse(call, &request, &action->expressions, err);
	if (code != OK)
		return code;
	code = call_check_action(own, true, err);
	if (code != OK)
		return code;
	if (action->kind == WRITE_PUT)
		code = rules_item_size(action->subject, err);
	if (code != OK)
		return code;
	if (!call->is_older && action->expressions.update_charge > ITEM_SIZE_MAX)
		return err_set(err, MSG_UPDATE_SIZE);
	write->kind = action->kind;
	if (action->kind == WRITE_PUT)
		write->item = action->subject;
	else
		write->key = action->subject;
	write->update = action->expressions.update;
	write->condition = action->expressions.condition;
	write->is_global_first = true;
	write->wants_item_on_failure =
		action->on_failure == RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD;
	return OK;
}

static enum code parse_actions(struct call *call, const struct transact_write_item_list *items,
			       struct action *actions, struct write *writes, struct err *err)
{
	size_t size = 0;
	enum code code = OK;

	for (size_t i = 0; code == OK && i < items->n; i++)
		code = read_action(&items->v[i], &actions[i], err);
	if (code != OK)
		return code;
	code = call_check_late(call, err); /* malformed names of tables */
	for (size_t i = 0; code == OK && i < items->n; i++) {
		code = parse_transact_action(call, &call->actions[i], &actions[i], &writes[i], err);
		size += item_size(actions[i].subject);
	}
	if (code != OK)
		return code;
	if (size > PAYLOAD_SIZE_MAX)
		return err_set(err, MSG_TRANSACT_SIZE, size);
	return OK;
}

/* AWS: of several wrong keys only the first is a cancellation reason. An absent table, and an item
 * named twice, fail the request. */
static enum code prepare_actions(struct call *call, const struct action *actions,
				 struct write *writes, size_t n, struct err *err)
{
	struct err *reasons = ARENA_ARRAY(call->arena, struct err, n);
	struct seen seen = seen_new(call->arena, n);
	bool is_refused = false;

	for (size_t i = 0; i < n; i++) {
		struct table_passage passage = {.call = call,
						.name = actions[i].table_name,
						.expressions = &actions[i].expressions,
						.write = &writes[i]};
		enum code code = table_gates_pass(ORDER_NAMED, &passage, err);

		if (code != OK)
			return code;
		struct err own = err_in(call->arena);
		code = table_gates_pass(ORDER_CHANGE, &passage, &own);
		if (code != OK && !write_is_reason(code)) {
			*err = own;
			return code;
		}
		if (code != OK) {
			if (!is_refused)
				reasons[i] = own;
			is_refused = true;
			continue;
		}
		if (!seen_add(&seen,
			      rules_item_name(call->arena, writes[i].table, writes[i].row_key)))
			return err_set(err, MSG_TRANSACT_DUPLICATES);
	}
	return is_refused ? write_canceled(reasons, n, err) : OK;
}

static void add_text(struct buf *buf, struct str s)
{
	/* One more than the length, so that absent and empty differ. */
	buf_add_varint(buf, str_is_set(s) ? s.n + 1 : 0);
	buf_add_str(buf, s);
}

/* Two requests are the same if their actions are. Options of the answer do not count. */
static struct str sameness_of_actions(struct call *call, const struct action *actions, size_t n)
{
	struct buf buf = buf_in(call->arena);

	for (size_t i = 0; i < n; i++) {
		const struct action *action = &actions[i];

		buf_add_byte(&buf, (int)action->kind);
		buf_add_byte(&buf, action->on_failure);
		add_text(&buf, action->table_name);
		image_encode(action->subject, &buf);
		add_text(&buf, action->update);
		add_text(&buf, action->condition);
		buf_add_varint(&buf, action->names->n);
		for (size_t j = 0; j < action->names->n; j++) {
			add_text(&buf, action->names->v[j].key);
			add_text(&buf, action->names->v[j].value);
		}
		buf_add_byte(&buf, action->values != NULL);
		if (action->values)
			image_encode(action->values, &buf);
	}
	return buf_str(&buf);
}

static void respond(struct call *call, const struct transact_write_items_input *input,
		    const struct write *writes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		call_charge(call, &writes[i].cost);
	json_out_open(&call->out, '{');
	respond_capacities(call, input->return_consumed_capacity, CAPACITY_TRANSACT_WRITE);
	respond_metrics_by_table(call, input->return_item_collection_metrics, writes, n);
	json_out_close(&call->out, '}');
}

enum code op_transact_write_items(struct call *call, const struct transact_write_items_input *input,
				  struct err *err)
{
	size_t n = input->transact_items.n;
	struct action *actions = ARENA_ARRAY(call->arena, struct action, n);
	struct write *writes = ARENA_ARRAY(call->arena, struct write, n);
	enum code code = parse_actions(call, &input->transact_items, actions, writes, err);

	if (code != OK)
		return code;
	code = prepare_actions(call, actions, writes, n, err);
	if (code != OK)
		return code;
	struct str client_token = input->client_request_token;
	struct write_token token = call_token(
		call, client_token,
		str_is_set(client_token) ? sameness_of_actions(call, actions, n) : STR(""));
	for (size_t i = 0; i < n; i++)
		writes[i].wants_collection_size =
			respond_wants_metrics(input->return_item_collection_metrics);
	struct work work =
		{.call = call, .writes = writes, .n = n, .mode = WRITE_TRANSACTION,
		 .token = &token};
	code = work_do(&work, err);
	if (code != OK)
		return code;
	respond(call, input, writes, n);
	return OK;
}
