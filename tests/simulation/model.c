#include "tests/simulation/model.h"

#include <string.h>

bool model_has_sort(unsigned table)
{
	return table != 1;
}

bool model_same(const struct item *a, const struct item *b)
{
	if (!a->is_there || !b->is_there)
		return a->is_there == b->is_there;
	return a->g == b->g && a->l == b->l && a->v == b->v && a->pad == b->pad && a->n == b->n &&
	       a->u == b->u && a->t == b->t;
}

bool model_is_in(const struct model_table *table, enum model_index index, const struct item *item)
{
	if (!item->is_there || !table->has[index])
		return false;
	switch (index) {
	case INDEX_LOCAL:
		return item->l >= 0;
	case INDEX_GLOBAL:
		return item->g >= 0;
	case INDEX_LATE:
		return item->g >= 0 && item->n != NO_NUMBER;
	default:
		return item->v >= 0;
	}
}

static bool holds(const struct action *action, const struct item *item)
{
	switch (action->condition) {
	case IF_ABSENT:
		return !item->is_there;
	case IF_PRESENT:
		return item->is_there;
	case IF_N_LESS:
		return item->is_there && item->n != NO_NUMBER && item->n < action->operand;
	case IF_G_IS:
		return item->is_there && item->g == action->operand;
	case IF_U_IS:
		return item->is_there && item->u != 0 && item->u == action->operand;
	default:
		return true;
	}
}

static struct item updated(const struct action *action, struct item item)
{
	const struct item *to = &action->item;

	if (!item.is_there)
		item = (struct item){.is_there = true, .g = -1, .l = -1, .v = -1, .n = NO_NUMBER};
	item.u = to->u;
	if (action->n == ADD)
		item.n = (item.n == NO_NUMBER ? 0 : item.n) + to->n;
	else if (action->n == SET)
		item.n = to->n;
	else if (action->n == TAKE)
		item.n = NO_NUMBER;
	if (action->g != LEAVE)
		item.g = action->g == SET ? to->g : -1;
	if (action->l != LEAVE)
		item.l = action->l == SET ? to->l : -1;
	if (action->v != LEAVE)
		item.v = action->v == SET ? to->v : -1;
	if (action->t != LEAVE)
		item.t = action->t == SET ? to->t : 0;
	if (action->pad != LEAVE)
		item.pad = action->pad == SET ? to->pad : 0;
	return item;
}

static struct item changed(const struct action *action, const struct item *old)
{
	switch (action->kind) {
	case ACT_PUT:
		return action->item;
	case ACT_UPDATE:
		return updated(action, *old);
	case ACT_DELETE:
		return (struct item){.is_there = false};
	default:
		return *old;
	}
}

uint64_t model_fingerprint(const struct op *op)
{
	uint64_t hash = 1469598103934665603u;

	for (unsigned i = 0; i < op->n; i++) {
		const struct action *a = &op->actions[i];
		const int64_t parts[] = {
			a->kind,   a->table,  a->key,      a->condition, a->operand, a->item.g,
			a->item.l, a->item.v, a->item.pad, a->item.n,    a->item.u,  a->item.t,
			a->n,      a->g,      a->l,        a->t,         a->v,       a->pad,
		};

		for (unsigned j = 0; j < sizeof(parts) / sizeof(parts[0]); j++)
			hash = (hash ^ (uint64_t)parts[j]) * 1099511628211u;
	}
	return hash;
}

static void evaluate_actions(const struct op *op, const struct view *before,
			     struct expected *expected, struct view *after)
{
	bool is_transaction = op->kind == OP_TRANSACT_WRITE;

	for (unsigned i = 0; i < op->n; i++) {
		const struct action *action = &op->actions[i];
		const struct model_table *table = &before->tables[action->table];

		if (!table->exists) {
			expected->outcome = NO_TABLE;
			return;
		}
	}
	for (unsigned i = 0; i < op->n; i++) {
		const struct action *action = &op->actions[i];
		const struct item *old = &before->tables[action->table].items[action->key];
		bool is_held = holds(action, old);

		expected->old[i] = *old;
		expected->new[i] = is_held ? changed(action, old) : *old;
		expected->reasons[i] = is_held ? DONE : CONDITION_FAILED;
		if (!is_held)
			expected->outcome = is_transaction                    ? TRANSACTION_CANCELED
					    : op->kind == OP_INSERT_STATEMENT ? DUPLICATE_ITEM
									      : CONDITION_FAILED;
	}
	for (unsigned i = 0; i < op->n && after && expected->outcome == DONE; i++)
		after->tables[op->actions[i].table].items[op->actions[i].key] = expected->new[i];
}

static void evaluate_transaction(const struct op *op, const struct view *before,
				 struct expected *expected, struct view *after)
{
	uint64_t fingerprint = model_fingerprint(op);
	const struct model_token *known = op->token < 0 ? NULL : &before->tokens[op->token];

	for (unsigned i = 0; i < op->n; i++) {
		if (!before->tables[op->actions[i].table].exists) {
			expected->outcome = NO_TABLE;
			return;
		}
	}
	if (known && known->expires_ms > op->now_ms) {
		expected->was_done = known->fingerprint == fingerprint;
		expected->outcome = expected->was_done ? DONE : TOKEN_MISMATCH;
		return;
	}
	evaluate_actions(op, before, expected, after);
	if (known && after && expected->outcome == DONE)
		after->tokens[op->token] =
			(struct model_token){fingerprint, op->now_ms + TOKEN_LIFE_MS};
}

static void evaluate_creation(const struct op *op, const struct view *before,
			      struct expected *expected, struct view *after)
{
	if (before->tables[op->table].exists) {
		expected->outcome = TABLE_THERE;
		return;
	}
	if (!after)
		return;
	uint32_t log_end = after->tables[op->table].log_end;
	after->tables[op->table] = op->shape;
	after->tables[op->table].exists = true;
	after->tables[op->table].made = ++after->made;
	after->tables[op->table].stream_made = after->made;
	after->tables[op->table].log_begin = after->tables[op->table].log_end = log_end;
}

static void evaluate_table(const struct op *op, struct expected *expected,
			   struct model_table *table, uint32_t *made)
{
	bool *what = op->kind == OP_UPDATE_INDEX    ? &table->has[op->index]
		     : op->kind == OP_UPDATE_STREAM ? &table->has_stream
		     : op->kind == OP_UPDATE_TTL    ? &table->has_ttl
						    : &table->is_tagged;

	if (op->kind == OP_DELETE_TABLE) {
		*table = (struct model_table){.log_begin = table->log_end,
					      .log_end = table->log_end};
		return;
	}
	/* tags are set and taken away as often as one likes; what is on cannot be turned on */
	if (op->kind != OP_TAG && *what == op->is_on) {
		expected->outcome = REFUSED;
		return;
	}
	*what = op->is_on;
	if (op->kind == OP_UPDATE_STREAM) {
		table->stream_made = ++*made;
		table->log_begin = table->log_end;
	}
}

void model_evaluate(const struct op *op, const struct view *before, struct expected *expected,
		    struct view *after)
{
	memset(expected, 0, sizeof(*expected));
	expected->outcome = DONE;
	if (op->kind <= OP_DELETE_STATEMENT) {
		if (op->kind == OP_TRANSACT_WRITE)
			evaluate_transaction(op, before, expected, after);
		else
			evaluate_actions(op, before, expected, after);
		return;
	}
	if (op->kind == OP_CREATE_TABLE) {
		evaluate_creation(op, before, expected, after);
		return;
	}
	for (unsigned i = 0; i < op->n; i++) {
		if (!before->tables[op->actions[i].table].exists)
			expected->outcome = NO_TABLE;
	}
	if (op->n == 0 && op->kind != OP_LIST_TABLES && op->kind != OP_CHECK &&
	    op->kind != OP_ROUND && !before->tables[op->table].exists)
		expected->outcome = NO_TABLE;
	if (expected->outcome == DONE && op->kind >= OP_DELETE_TABLE && op->kind <= OP_TAG) {
		static struct model_table scratch;
		uint32_t made = 0;

		scratch = before->tables[op->table];
		evaluate_table(op, expected, after ? &after->tables[op->table] : &scratch,
			       after ? &after->made : &made);
	}
}
