#include "tests/simulation/observed_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/key.h"
#include "core/number.h"
#include "storage/store/store_messages.h"
#include "tests/simulation/request.h"

#define JUMP_STEPS 100 /* what is under way when the time jumps is over by then */

struct observed_store {
	struct store base;
	struct machine *machine;
};

struct observed_txn {
	struct store_txn base;
	struct observed_store *store;
	struct store_txn *inner;
	struct client *client;   /* whose it is; NULL: the server's own */
	struct arena *arena;
	uint64_t number;         /* of the last commit it sees */
	bool has_number;         /* it is known */
	uint64_t acknowledged;   /* when it began */
	bool is_answer;          /* it tells whether the last commit, which failed, is there */
	bool is_shown; /* it is the one that the client's operation is judged by, unless another
			  follows */
	bool applied;            /* the client's operation is in the model by this one */
	bool has_change;         /* it writes more than versions and counters: rows of tables, table
				    records, tokens */
	struct swept *swept;     /* items that the server itself deleted, the last first */
};

struct swept {
	struct swept *next;
	uint64_t table;
	struct str key;
};

static const struct keyspace counters = {0, SYSTEM_COUNTERS};
#define NUMBER_ROW                                                                                 \
	"backfill/simulation" /* of a kind whose rows may be anything, for the check of the store  \
			       */

static enum code number_in(struct store_txn *inner, struct arena *arena, uint64_t *number,
			   struct err *err)
{
	struct str value;
	enum code code = store_get(inner, counters, STR(NUMBER_ROW), arena, &value, err);

	*number = 0;
	if (code == OK && str_is_set(value))
		memcpy(number, value.p, sizeof(*number));
	return code;
}

enum code observed_store_number(struct store *inner, struct arena *arena, uint64_t *number,
				struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(inner, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = number_in(txn, arena, number, err);
	store_abort(txn);
	return code;
}

/* Whether this call fails now, by the machine's will. */
static enum code strike(struct machine *machine, struct err *err)
{
	fiber_yield();
	if (machine->store_fails_in == 0 || --machine->store_fails_in > 0)
		return OK;
	machine->faults++;
	machine_trace(machine, "the store fails");
	return machine->store_failure == ERR_STORE_FULL
		       ? err_set(err, MSG_STORE_FULL)
		       : err_set(err, MSG_STORE_FAILED, "it was made to fail");
}

static struct client *own_client(struct machine *machine)
{
	for (unsigned i = 0; i < machine->client_count; i++) {
		if (machine->clients[i].fiber == fiber_self())
			return &machine->clients[i];
	}
	return NULL;
}

/* The client's operation is judged by this transaction. */
static void show(struct observed_txn *txn)
{
	struct client *client = txn->client;

	if (!client || txn->is_shown)
		return;
	txn->is_shown = client->has_view = true;
	client->seen = txn->number;
	client->view = *machine_version(txn->store->machine, txn->number);
}

/* The version that the transaction sees. A writer sees every commit that came about: those behind
 * it did not. */
static void check_number(struct observed_txn *txn)
{
	struct machine *machine = txn->store->machine;
	struct client *client = txn->client;
	bool is_writer = txn->base.mode == STORE_WRITE;

	if (txn->number > machine->head)
		machine_fail(machine, client, "a transaction sees commit %" PRIu64 " of %" PRIu64,
			     txn->number, machine->head);
	if (txn->number < txn->acknowledged)
		machine_fail(machine, client,
			     "a transaction sees commit %" PRIu64 ", %" PRIu64 " was acknowledged",
			     txn->number, txn->acknowledged);
	if (is_writer || (txn->is_answer && machine->is_uncertain && machine->writers == 0)) {
		machine->head = txn->number;
		machine->is_uncertain = false;
	}
}

/*
 * SQLite takes the snapshot of a reader at its first read. So the number is read at once for a
 * writer, whom no commit can pass, and right before the first row for a reader. The rows of
 * SYSTEM_VERSIONS are in the backend's memory, and no part of the snapshot.
 */
static enum code look(struct observed_txn *txn, struct err *err)
{
	if (txn->has_number)
		return OK;
	enum code code = number_in(txn->inner, txn->arena, &txn->number, err);
	txn->has_number = code == OK;
	if (code == OK)
		check_number(txn);
	return code;
}

static void note_write(struct observed_txn *txn, struct keyspace keyspace)
{
	txn->has_change = txn->has_change || keyspace.table != 0 ||
			  (keyspace.part != SYSTEM_COUNTERS && keyspace.part != SYSTEM_VERSIONS);
}

/* Before a row is read. What is read of table 0 may be about the tables, before or behind the
 * operation itself. */
static enum code look_for(struct observed_txn *txn, struct keyspace keyspace, struct err *err)
{
	if (keyspace.table == 0 && keyspace.part == SYSTEM_VERSIONS)
		return OK;
	enum code code = look(txn, err);
	if (code == OK && keyspace.table != 0)
		show(txn);
	return code;
}

static enum code observed_begin(struct store *base, enum store_mode mode, struct store_txn **out,
				struct err *err)
{
	struct observed_store *store = (struct observed_store *)base;
	struct machine *machine = store->machine;
	struct store_txn *inner;
	enum code code = strike(machine, err);
	uint64_t acknowledged = machine->acknowledged;
	bool is_answer = machine->is_uncertain &&
			 machine->writers == 0; /* whether the last commit is there */

	if (code == OK)
		code = store_begin(machine->inner, mode, &inner, err);
	if (code != OK)
		return code;
	struct observed_txn *txn = arena_checked(calloc(1, sizeof(*txn)));
	*txn = (struct observed_txn){
		.base = {.ops = base->ops, .mode = mode},
		.store = store,
		.inner = inner,
		.client = own_client(machine),
		.acknowledged = acknowledged,
		.is_answer = is_answer,
	};
	txn->arena = arena_new(0);
	code = mode == STORE_WRITE ? look(txn, err) : OK;
	if (code != OK) {
		store_abort(inner);
		arena_free(txn->arena);
		free(txn);
		return code;
	}
	machine->writers += mode == STORE_WRITE;
	if (txn->client)
		txn->client->begins++;
	if (mode == STORE_WRITE)
		show(txn);
	*out = &txn->base;
	return OK;
}

static void end(struct observed_txn *txn)
{
	txn->store->machine->writers -= txn->base.mode == STORE_WRITE;
	arena_free(txn->arena);
	free(txn);
}

static void observed_abort(struct store_txn *base)
{
	struct observed_txn *txn = (struct observed_txn *)base;

	store_abort(txn->inner);
	end(txn);
}

static void note_change(struct machine *machine, struct view *next, unsigned t, unsigned key,
			const struct item *old, bool is_expiry, int64_t at_ms)
{
	struct model_table *table = &next->tables[t];
	const struct item *new = &table->items[key];

	if (!table->has_stream || model_same(old, new))
		return;
	machine->logs[t][table->log_end++ % LOG_MAX] =
		(struct change){(uint8_t)key, is_expiry, *old, *new, at_ms};
}

/* Which item of the model has this row key. */
static int key_of_row(struct machine *machine, struct arena *arena, unsigned t, struct str row_key)
{
	(void)machine;
	for (unsigned key = 0; key < KEYS; key++) {
		if (str_eq(request_row_key(arena, t, key), row_key))
			return (int)key;
	}
	return -1;
}

/* A sweep that was under way before the time jumped goes by the time before. */
static int64_t earliest_ms(const struct machine *machine)
{
	return machine->step < machine->jumped_at + JUMP_STEPS ? machine->before_jump_ms
							       : machine_now_ms();
}

static struct swept *in_order(struct swept *swept)
{
	struct swept *first = NULL;

	while (swept) {
		struct swept *next = swept->next;

		swept->next = first;
		first = swept;
		swept = next;
	}
	return first;
}

/* What the server deleted by itself must have been due. */
static void apply_sweep(struct observed_txn *txn, struct view *next)
{
	struct machine *machine = txn->store->machine;

	for (struct swept *swept = in_order(txn->swept); swept; swept = swept->next) {
		unsigned t = 0;

		while (t < TABLES &&
		       !(next->tables[t].exists && next->tables[t].number == swept->table))
			t++;
		if (t == TABLES)
			machine_fail(machine, txn->client,
				     "items of table %" PRIu64 ", which is none, are deleted",
				     swept->table);
		int key = key_of_row(machine, txn->arena, t, swept->key);
		struct item old =
			key < 0 ? (struct item){.is_there = false} : next->tables[t].items[key];
		if (key < 0 || !old.is_there || !next->tables[t].has_ttl || old.t == 0 ||
		    old.t * 1000 > machine_now_ms())
			machine_fail(machine, txn->client,
				     "the sweep deletes item %d of table %u, which is not due: t "
				     "%" PRId64,
				     key, t, old.t);
		next->tables[t].items[key] = (struct item){.is_there = false};
		machine->expired++;
		note_change(machine, next, t, (unsigned)key, &old, true, earliest_ms(machine));
	}
}

static void apply_op(struct observed_txn *txn, const struct view *before, struct view *next)
{
	struct machine *machine = txn->store->machine;
	struct client *client = txn->client;
	struct expected expected;

	if (client->has_applied ||
	    !txn->has_change) /* pieces of an index that was added; the numbers of items, which
				 DeleteTable counts first */
		return;
	model_evaluate(&client->op, before, &expected, next);
	if (expected.outcome != DONE)
		machine_fail(machine, client, "it commits, and should be refused (%d)",
			     (int)expected.outcome);
	client->has_applied = txn->applied = true;
	if (client->op.kind == OP_CREATE_TABLE)
		next->tables[client->op.table].number = client->new_number;
	for (unsigned i = 0; i < client->op.n && client->op.kind <= OP_DELETE_STATEMENT; i++) {
		const struct action *action = &client->op.actions[i];

		note_change(machine, next, action->table, action->key,
			    &before->tables[action->table].items[action->key], false,
			    client->op.now_ms);
	}
}

/* The version behind this commit, if it comes about. */
static void apply(struct observed_txn *txn)
{
	struct machine *machine = txn->store->machine;
	const struct view *before = machine_version(machine, machine->head);
	struct view *next = machine_version(machine, machine->head + 1);

	if (txn->number != machine->head)
		machine_fail(machine, txn->client, "two writers at once: %" PRIu64 " and %" PRIu64,
			     txn->number, machine->head);
	*next = *before;
	enum op_kind kind = txn->client ? txn->client->op.kind : OP_ROUND;
	if (kind < OP_GET || (kind >= OP_CREATE_TABLE && kind <= OP_TAG))
		apply_op(txn, before, next);
	else
		apply_sweep(txn, next);
	machine->head++;
}

static enum code observed_commit(struct store_txn *base, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	struct machine *machine = txn->store->machine;
	struct client *client = txn->client;
	bool is_write = base->mode == STORE_WRITE;
	/* the second tells two tries of one number apart: else a page that a torn commit left half
	 * on the disk could be completed by the next one */
	uint64_t number = txn->number + 1, row[2] = {number, ++machine->tries};
	enum code code = strike(machine, err);

	if (code == OK && is_write && machine->is_conflict) {
		machine->is_conflict = false;
		machine->faults++;
		code = err_default(err, ERR_CONFLICT);
	}
	if (code == OK && is_write)
		code = store_put(txn->inner, counters, STR(NUMBER_ROW),
				 (struct str){(const char *)row, sizeof(row)}, err);
	if (code != OK) {
		observed_abort(base);
		return code;
	}
	if (is_write)
		apply(txn);
	code = store_commit(txn->inner, err);
	if (is_write)
		machine_trace(machine, "%s %d: commit %" PRIu64 " %s" STR_FMT,
			      client ? "client" : "server",
			      client ? (int)(client - machine->clients) : -1, number,
			      code == OK ? "done" : "failed: ",
			      STR_ARG(code == OK ? STR("") : err->message));
	if (code == OK && is_write && machine->acknowledged < number)
		machine->acknowledged = number;
	if (code == OK && is_write && client)
		client->commits++;
	if (code != OK && txn->applied) /* if it is run again, its effect is too */
		client->has_applied = false;
	machine->is_uncertain = machine->is_uncertain || (code != OK && is_write);
	end(txn);
	return code;
}

static enum code observed_create(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	if (txn->client && keyspace.part == PART_ITEMS)
		txn->client->new_number = keyspace.table;
	note_write(txn, keyspace);
	return code != OK ? code : store_create(txn->inner, keyspace, err);
}

static enum code observed_drop(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	note_write(txn, keyspace);
	return code != OK ? code : store_drop(txn->inner, keyspace, err);
}

static enum code observed_stat(struct store_txn *base, struct keyspace keyspace,
			       struct store_stat *stat, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	return code != OK ? code : store_stat(txn->inner, keyspace, stat, err);
}

static enum code observed_get(struct store_txn *base, struct keyspace keyspace, struct str key,
			      struct arena *arena, struct str *value, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	if (code == OK)
		code = look_for(txn, keyspace, err);
	return code != OK ? code : store_get(txn->inner, keyspace, key, arena, value, err);
}

static enum code observed_put(struct store_txn *base, struct keyspace keyspace, struct str key,
			      struct str value, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	note_write(txn, keyspace);
	return code != OK ? code : store_put(txn->inner, keyspace, key, value, err);
}

static enum code observed_del(struct store_txn *base, struct keyspace keyspace, struct str key,
			      struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	bool is_own = !txn->client || txn->client->op.kind == OP_ROUND;
	enum code code = strike(txn->store->machine, err);

	if (code == OK && is_own && keyspace.table != 0 && keyspace.part == PART_ITEMS) {
		struct swept *swept = ARENA_NEW(txn->arena, struct swept);

		*swept = (struct swept){txn->swept, keyspace.table, str_copy(txn->arena, key)};
		txn->swept = swept;
	}
	note_write(txn, keyspace);
	return code != OK ? code : store_del(txn->inner, keyspace, key, err);
}

static enum code observed_get_many(struct store_txn *base, const struct store_key *keys, size_t n,
				   struct arena *arena, struct str *values, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	for (size_t i = 0; i < n && code == OK; i++)
		code = look_for(txn, keys[i].keyspace, err);
	return code != OK ? code : store_get_many(txn->inner, keys, n, arena, values, err);
}

static enum code observed_page(struct store_txn *base, struct keyspace keyspace,
			       const struct store_range *range, struct store_bounds bounds,
			       struct arena *arena, struct store_page *page, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	if (code == OK)
		code = look_for(txn, keyspace, err);
	return code != OK ? code
			  : store_page(txn->inner, keyspace, range, bounds, arena, page, err);
}

static enum code observed_del_range(struct store_txn *base, struct keyspace keyspace,
				    const struct store_range *range, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	note_write(txn, keyspace);
	return code != OK ? code : store_del_range(txn->inner, keyspace, range, err);
}

static enum code observed_add(struct store_txn *base, struct keyspace keyspace, struct str key,
			      int64_t delta, struct err *err)
{
	struct observed_txn *txn = (struct observed_txn *)base;
	enum code code = strike(txn->store->machine, err);

	note_write(txn, keyspace);
	return code != OK ? code : store_add(txn->inner, keyspace, key, delta, err);
}

static enum code observed_tidy(struct store *base, bool *is_more, struct err *err)
{
	struct machine *machine = ((struct observed_store *)base)->machine;
	enum code code = strike(machine, err);

	return code != OK ? code : store_tidy(machine->inner, is_more, err);
}

static enum code observed_check(struct store *base, struct err *err)
{
	return store_check(((struct observed_store *)base)->machine->inner, err);
}

static void observed_close(struct store *base)
{
	store_close(((struct observed_store *)base)->machine->inner);
	free(base);
}

struct store *observed_store_new(struct machine *machine)
{
	static const struct store_ops ops = {
		.close = observed_close,
		.check = observed_check,
		.begin = observed_begin,
		.commit = observed_commit,
		.abort = observed_abort,
		.create = observed_create,
		.drop = observed_drop,
		.stat = observed_stat,
		.get = observed_get,
		.put = observed_put,
		.del = observed_del,
		.get_many = observed_get_many,
		.page = observed_page,
		.del_range = observed_del_range,
		.add = observed_add,
		.tidy = observed_tidy,
	};
	struct observed_store *store = arena_checked(calloc(1, sizeof(*store)));

	store->base.ops = &ops;
	store->machine = machine;
	return &store->base;
}
