#include "tests/simulation/draw.h"

#include <string.h>

/* How often each operation is drawn; `needs` names a part of the run that it belongs to. */
static const struct weight {
	enum op_kind kind;
	unsigned weight;
	int needs; /* or -1 */
} weights[] = {
	{OP_PUT, 160, -1},
	{OP_UPDATE, 160, -1},
	{OP_DELETE, 60, -1},
	{OP_BATCH_WRITE, 40, -1},
	{OP_TRANSACT_WRITE, 80, PART_TRANSACTIONS},
	{OP_INSERT_STATEMENT, 15, PART_STATEMENTS},
	{OP_UPDATE_STATEMENT, 20, PART_STATEMENTS},
	{OP_DELETE_STATEMENT, 10, PART_STATEMENTS},
	{OP_GET, 80, -1},
	{OP_BATCH_GET, 20, -1},
	{OP_TRANSACT_GET, 30, PART_TRANSACTIONS},
	{OP_SELECT_STATEMENT, 15, PART_STATEMENTS},
	{OP_QUERY, 120, -1},
	{OP_SCAN, 60, -1},
	{OP_SEARCH, 30, PART_VECTORS},
	{OP_CREATE_TABLE, 8, -1},
	{OP_DELETE_TABLE, 4, PART_TABLE_CHANGES},
	{OP_UPDATE_INDEX, 12, PART_TABLE_CHANGES},
	{OP_UPDATE_STREAM, 5, PART_STREAMS},
	{OP_UPDATE_TTL, 5, PART_TTL},
	{OP_TAG, 5, PART_TABLE_CHANGES},
	{OP_DESCRIBE, 20, -1},
	{OP_LIST_TABLES, 4, -1},
	{OP_LIST_TAGS, 4, -1},
	{OP_REPLAY, 8, PART_STREAMS},
	{OP_CHECK, 6, -1},
	{OP_ROUND, 4, -1},
};

#define WEIGHTS (sizeof(weights) / sizeof(weights[0]))

static int8_t maybe(struct random *random, uint32_t n)
{
	return random_is(random, 3) ? -1 : (int8_t)random_draw(random, n);
}

static struct item draw_item(struct machine *machine, struct random *random)
{
	static const int64_t distances_s[] = {-3600, 1, 60, 3600, 86400};
	struct item item = {.is_there = true,
			    .u = (int64_t)machine->step,
			    .g = maybe(random, 3),
			    .l = maybe(random, 6),
			    .v = maybe(random, 8)};

	item.n = (int32_t)random_draw(random, 20) - 5;
	item.pad = (uint8_t)(random_is(random, 2) ? 0 : random_draw(random, 6));
	if (random_is(random, 3) && machine_has(machine, PART_TTL))
		item.t = machine_now_ms() / 1000 + distances_s[random_draw(random, 5)];
	if (!machine_has(machine, PART_VECTORS))
		item.v = -1;
	return item;
}

static void draw_condition(struct machine *machine, struct random *random, struct action *action)
{
	const struct item *now = &machine_head(machine)->tables[action->table].items[action->key];

	action->condition = random_is(random, 2)
				    ? IF_ALWAYS
				    : (enum test_condition)random_draw(random, CONDITION_COUNT);
	action->operand = 0;
	if (action->condition == IF_N_LESS)
		action->operand = (int64_t)random_draw(random, 20);
	else if (action->condition == IF_G_IS)
		action->operand = (int64_t)random_draw(random, 3);
	else if (action->condition == IF_U_IS)
		action->operand = now->u;
}

static enum assign draw_assign(struct random *random)
{
	uint32_t n = random_draw(random, 8);

	return n < 5 ? LEAVE : n < 7 ? SET : TAKE;
}

static void draw_update(struct machine *machine, struct random *random, struct action *action)
{
	struct item *item = &action->item;

	*item = draw_item(machine, random);
	action->n = random_is(random, 3) ? ADD : draw_assign(random);
	action->g = draw_assign(random);
	action->l = draw_assign(random);
	action->t = machine_has(machine, PART_TTL) ? draw_assign(random) : LEAVE;
	action->v = machine_has(machine, PART_VECTORS) ? draw_assign(random) : LEAVE;
	action->pad = draw_assign(random);
	item->g = item->g < 0 ? 0 : item->g;
	item->l = item->l < 0 ? 0 : item->l;
	item->v = item->v < 0 ? 0 : item->v;
	item->t = item->t == 0 ? machine_now_ms() / 1000 + 30 : item->t;
	item->pad = item->pad == 0 ? 1 : item->pad;
}

static void draw_action(struct machine *machine, struct random *random, struct action *action,
			enum action_kind kind)
{
	*action = (struct action){.kind = kind,
				  .table = (uint8_t)random_draw(random, TABLES),
				  .key = (uint8_t)random_draw(random, KEYS)};
	draw_condition(machine, random, action);
	if (kind == ACT_PUT)
		action->item = draw_item(machine, random);
	else if (kind == ACT_UPDATE)
		draw_update(machine, random, action);
	else if (kind == ACT_CHECK && action->condition == IF_ALWAYS)
		action->condition = IF_PRESENT;
}

static bool is_repeated(const struct op *op, unsigned at)
{
	for (unsigned i = 0; i < at; i++) {
		if (op->actions[i].table == op->actions[at].table &&
		    op->actions[i].key == op->actions[at].key)
			return true;
	}
	return false;
}

static enum action_kind draw_kind(struct random *random, const struct op *op)
{
	if (op->kind == OP_BATCH_WRITE)
		return random_is(random, 3) ? ACT_DELETE : ACT_PUT;
	return (enum action_kind)random_draw(random, 4);
}

static void draw_actions(struct machine *machine, struct client *client)
{
	struct op *op = &client->op;

	op->n = 1 + random_draw(&client->random, random_is(&client->random, 4) ? ACTIONS_MAX : 4);
	for (unsigned i = 0; i < op->n; i++) {
		do {
			draw_action(machine, &client->random, &op->actions[i],
				    draw_kind(&client->random, op));
		} while (is_repeated(op, i));
		if (op->kind != OP_TRANSACT_WRITE)
			op->actions[i].condition = IF_ALWAYS;
	}
}

/* Some repeat an earlier one, or its token. */
static void draw_transaction(struct machine *machine, struct client *client)
{
	struct op *op = &client->op;
	int token = (int)random_draw(&client->random, TOKENS);

	if (random_is(&client->random, 4) && machine->kept[token].n > 0) {
		*op = machine->kept[token];
		return;
	}
	draw_actions(machine, client);
	op->token = random_is(&client->random, 3) ? token : -1;
	if (op->token >= 0)
		machine->kept[token] = *op;
}

static void draw_statement(struct machine *machine, struct client *client)
{
	struct op *op = &client->op;
	struct action *action = &op->actions[0];

	op->n = 1;
	draw_action(machine, &client->random, action,
		    op->kind == OP_INSERT_STATEMENT   ? ACT_PUT
		    : op->kind == OP_UPDATE_STATEMENT ? ACT_UPDATE
						      : ACT_DELETE);
	action->condition = op->kind == OP_INSERT_STATEMENT   ? IF_ABSENT
			    : op->kind == OP_UPDATE_STATEMENT ? IF_PRESENT
							      : IF_ALWAYS;
	if (op->kind == OP_INSERT_STATEMENT) {
		action->item.n = NO_NUMBER;
		action->item.l = action->item.v = -1;
		action->item.pad = 0;
	} else if (op->kind == OP_UPDATE_STATEMENT) {
		action->n = action->n == SET ? SET : LEAVE;
		action->g = action->g == SET ? SET : LEAVE;
		action->l = action->l == TAKE ? TAKE : LEAVE;
		action->t = action->v = action->pad = LEAVE;
	}
}

static void draw_page(struct client *client)
{
	struct random *random = &client->random;
	struct op *op = &client->op;

	op->index = random_is(random, 2) ? -1 : (int)random_draw(random, INDEX_NEAR);
	if (op->index == INDEX_LOCAL && !model_has_sort(op->table))
		op->index = INDEX_GLOBAL;
	bool is_global = op->index == INDEX_GLOBAL || op->index == INDEX_LATE;
	op->partition = (int)random_draw(random, is_global                   ? 3
						 : model_has_sort(op->table) ? KEYS / SORTS
									     : KEYS);
	op->limit = random_is(random, 3) ? 1 + random_draw(random, 5) : 0;
	op->is_consistent = !is_global && random_is(random, 2);
	op->is_count = random_is(random, 8);
	op->is_reverse = random_is(random, 2);
	bool can_have_range =
		op->kind == OP_QUERY && (op->index == INDEX_LOCAL || op->index == INDEX_LATE ||
					 (op->index < 0 && model_has_sort(op->table)));
	op->low = 1;
	op->high = 0;
	if (can_have_range && random_is(random, 2)) {
		op->low = (int)random_draw(random, 4);
		op->high = op->low + (int)random_draw(random, 4);
	}
	/* behind a key of its own partition, whether there is an item or not */
	if (op->kind == OP_QUERY && op->index < 0 && model_has_sort(op->table) &&
	    op->low > op->high && random_is(random, 3))
		op->start = op->partition * SORTS + (int)random_draw(random, SORTS);
}

static void draw_table(struct machine *machine, struct client *client)
{
	struct random *random = &client->random;
	const struct model_table *now = &machine_head(machine)->tables[client->op.table];
	struct op *op = &client->op;

	op->is_on = random_is(random, 2);
	op->index =
		INDEX_GLOBAL + (int)random_draw(random, machine_has(machine, PART_VECTORS) ? 3 : 2);
	/* what is on is turned off, mostly, and the other way round */
	if (!random_is(random, 8))
		op->is_on = op->kind == OP_UPDATE_INDEX    ? !now->has[op->index]
			    : op->kind == OP_UPDATE_STREAM ? !now->has_stream
			    : op->kind == OP_UPDATE_TTL    ? !now->has_ttl
							   : !now->is_tagged;
	if (op->kind != OP_CREATE_TABLE)
		return;
	op->shape = (struct model_table){
		.has_stream = machine_has(machine, PART_STREAMS) && !random_is(random, 3),
		.has = {model_has_sort(op->table) && !random_is(random, 3), !random_is(random, 3),
			random_is(random, 3),
			machine_has(machine, PART_VECTORS) && random_is(random, 2)},
	};
}

static void draw_details(struct machine *machine, struct client *client)
{
	struct op *op = &client->op;
	struct random *random = &client->random;

	switch (op->kind) {
	case OP_PUT: case OP_UPDATE: case OP_DELETE:
		op->n = 1;
		draw_action(machine, random, &op->actions[0],
			    op->kind == OP_PUT      ? ACT_PUT
			    : op->kind == OP_UPDATE ? ACT_UPDATE
						    : ACT_DELETE);
		op->returns = (enum returns)random_draw(random, op->kind == OP_UPDATE ? 3 : 2);
		break;
	case OP_TRANSACT_WRITE:
		draw_transaction(machine, client);
		break;
	case OP_BATCH_WRITE: case OP_BATCH_GET: case OP_TRANSACT_GET:
		draw_actions(machine, client);
		break;
	case OP_INSERT_STATEMENT:
	case OP_UPDATE_STATEMENT:
	case OP_DELETE_STATEMENT:
	case OP_SELECT_STATEMENT:
		draw_statement(machine, client);
		break;
	case OP_GET:
		op->n = 1;
		draw_action(machine, random, &op->actions[0], ACT_CHECK);
		op->is_consistent = random_is(random, 2);
		break;
	case OP_QUERY: case OP_SCAN:
		draw_page(client);
		break;
	case OP_SEARCH:
		op->partition = (int)random_draw(random, 8);
		op->limit = random_is(random, 2) ? KEYS : 1 + random_draw(random, 5);
		break;
	default:
		draw_table(machine, client);
		break;
	}
}

void draw_op(struct machine *machine, struct client *client)
{
	unsigned total = 0, at = 0;

	memset(&client->op, 0, sizeof(client->op));
	for (size_t i = 0; i < WEIGHTS; i++)
		total += weights[i].weight;
	do {
		uint32_t drawn = random_draw(&client->random, total);

		for (at = 0; drawn >= weights[at].weight; at++)
			drawn -= weights[at].weight;
	} while (weights[at].needs >= 0 &&
		 !machine_has(machine, (enum part_of_run)weights[at].needs));
	client->op.kind = weights[at].kind;
	client->op.token = client->op.index = client->op.start = -1;
	client->op.table = (uint8_t)random_draw(&client->random, TABLES);
	/* a table that is missing does not stay so for long */
	if (!machine_head(machine)->tables[client->op.table].exists &&
	    random_is(&client->random, 4))
		client->op.kind = OP_CREATE_TABLE;
	draw_details(machine, client);
}
