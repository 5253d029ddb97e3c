#include "storage/state/checkpoint.h"

#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "storage/catalog/catalog_size.h"
#include "storage/lag/history.h"
#include "storage/schema/currency.h"
#include "storage/state/state_messages.h"
#include "storage/store/journal.h"
#include "storage/store/row.h"
#include "storage/stream/stream_shard.h"
#include "storage/vector/vector_row.h"

static const struct store_range every_row = {{NULL, 0}, {NULL, 0}, false};

/* The checkpoints of a namespace within a transaction. */
struct stack {
	struct str space;
	uint64_t number; /* 0: it has none */
	struct checkpoints all;
};

static struct keyspace stack_keyspace(const struct stack *stack)
{
	return (struct keyspace){stack->number, PART_STACK};
}

static struct str journal_key(struct arena *arena, uint64_t journal)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, journal);
	return buf_str(&buf);
}

/* Creation time, size of the name, the name, what is the caller's. */
static struct str encode(struct arena *arena, const struct checkpoint *checkpoint)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, (uint64_t)checkpoint->created_ms);
	buf_add_byte(&buf, (int)checkpoint->name.n);
	buf_add_str(&buf, checkpoint->name);
	buf_add_str(&buf, checkpoint->extra);
	return buf_str(&buf);
}

static bool decode(struct store_row row, struct checkpoint *checkpoint)
{
	struct row_reader value = row_read(row.value);

	*checkpoint = (struct checkpoint){.created_ms = row_ms(&value)};
	checkpoint->name = row_take(&value, row_byte(&value));
	checkpoint->extra = row_rest(&value);
	return row_is_number(row.key, &checkpoint->journal) && row_is_whole(&value);
}

static enum code load_stack(const struct space *space, struct stack *stack, struct err *err)
{
	struct store_page page = {.n = 0};

	*stack = (struct stack){
		.space = catalog_key(space->arena, space->catalog, space->ns, STR(""))};
	enum code code = currency_stack(space->txn, stack->space, &stack->number, err);
	if (code != OK)
		return code;
	if (stack->number)
		code = store_page(space->txn, stack_keyspace(stack), &every_row,
				  (struct store_bounds){0, 0}, space->arena, &page, err);
	if (code != OK)
		return code;
	stack->all.v = ARENA_ARRAY(space->arena, struct checkpoint, page.n);
	for (size_t i = 0; i < page.n; i++) {
		if (!decode(page.v[i], &stack->all.v[stack->all.n++]))
			code = row_malformed(err, stack_keyspace(stack), page.v[i].key);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code find(const struct stack *stack, struct str name, size_t *at, struct err *err)
{
	for (*at = 0; *at < stack->all.n; ++*at) {
		if (str_eq(stack->all.v[*at].name, name))
			return OK;
	}
	return err_set(err, MSG_CHECKPOINT_NONE, STR_ARG(name));
}

/* Marks the tables of the namespace as ones whose transactions go by the stack, or takes the mark
 * away (0). */
static enum code mark(struct space *space, uint64_t number, struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		uint64_t table = 0;

		if (records.v[i].is_retired)
			continue;
		code = space_number(space, &records.v[i], &table, err);
		if (code != OK)
			return code;
		code = currency_mark(space->txn, table, number, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code begin_stack(struct space *space, struct stack *stack, struct err *err)
{
	enum code code = catalog_next_number(space->txn, space->arena, &stack->number, err);

	if (code != OK)
		return code;
	code = store_create(space->txn, stack_keyspace(stack), err);
	return code == OK ? mark(space, stack->number, err) : code;
}

static enum code apply_make(struct space *space, void *context, struct err *err)
{
	const struct checkpoint *checkpoint = context;
	struct stack stack;
	uint64_t journal = 0;
	size_t at;
	enum code code = load_stack(space, &stack, err);

	if (code != OK)
		return code;
	if (find(&stack, checkpoint->name, &at, err) == OK)
		return err_set(err, MSG_CHECKPOINT_THERE, STR_ARG(checkpoint->name));
	if (!stack.number)
		code = begin_stack(space, &stack, err);
	if (code != OK)
		return code;
	code = catalog_next_number(space->txn, space->arena, &journal, err);
	if (code != OK)
		return code;
	code = journal_create(space->txn, journal, err);
	if (code != OK)
		return code;
	code = currency_put_stack(space->txn, stack.space, stack.number, journal, err);
	return code != OK ? code
			  : store_put(space->txn, stack_keyspace(&stack),
				      journal_key(space->arena, journal),
				      encode(space->arena, checkpoint), err);
}

enum code checkpoint_make(struct catalog *catalog, struct ns ns,
			  const struct checkpoint *checkpoint, struct err *err)
{
	struct checkpoint own = *checkpoint;

	return space_change(catalog, ns, SPACE_BARE | SPACE_QUIET, apply_make, &own, err);
}

/* What an undoing touched: numbers of tables, and keys of their records. */
struct touched {
	struct arena *arena;
	size_t n;
	uint64_t *numbers;
	size_t key_count;
	struct str *keys;
	size_t index_count;
	struct keyspace *indexes;
	size_t stream_count;
	struct used {
		uint64_t table, sequence; /* of the latest record */
	} *streams;
};

/* Rows come in the order of their keys, so a table's records follow one another. */
static void note_record(struct touched *touched, uint64_t table, uint64_t sequence)
{
	struct used *last =
		touched->stream_count ? &touched->streams[touched->stream_count - 1] : NULL;

	if (!last || last->table != table ||
	    stream_lane_of(last->sequence) != stream_lane_of(sequence)) {
		touched->streams = arena_room(touched->arena, touched->streams,
					      touched->stream_count, sizeof(*touched->streams));
		touched->streams[touched->stream_count++] = (struct used){table, sequence};
	} else if (last->sequence < sequence) {
		last->sequence = sequence;
	}
}

/* No sequence number is used twice: who reads on from a record that is gone misses none. */
static enum code skip_touched_numbers(struct space *space, const struct touched *touched,
				      const struct table *table, struct err *err)
{
	uint64_t used[STREAM_LANES + 1] = {0};
	struct stream_nexts nexts = {.n = 0, .v = used};

	for (size_t i = 0; i < touched->stream_count; i++) {
		uint64_t next = touched->streams[i].sequence + 1;
		unsigned lane = stream_lane_of(next);

		if (touched->streams[i].table != table->identity.number || lane > STREAM_LANES)
			continue;
		used[lane] = next > used[lane] ? next : used[lane];
		nexts.n = lane >= nexts.n ? lane + 1 : nexts.n;
	}
	return nexts.n ? stream_skip(space->txn, space->arena, table, &nexts, err) : OK;
}

/* The version of a vector index does not come back: what was remembered for later versions would be
 * taken for theirs. */
static bool touch(void *context, struct keyspace keyspace, struct str key)
{
	struct touched *touched = context;

	if (keyspace.table == 0) {
		if (keyspace.part == SYSTEM_TABLES && str_is_set(key)) {
			touched->keys = arena_room(touched->arena, touched->keys,
						   touched->key_count, sizeof(*touched->keys));
			touched->keys[touched->key_count++] = str_copy(touched->arena, key);
		}
		return true;
	}
	if (touched->n == 0 || touched->numbers[touched->n - 1] != keyspace.table) {
		touched->numbers = arena_room(touched->arena, touched->numbers, touched->n,
					      sizeof(*touched->numbers));
		touched->numbers[touched->n++] = keyspace.table;
	}
	if (keyspace.part >= PART_INDEX && !str_is_set(key)) {
		touched->indexes = arena_room(touched->arena, touched->indexes,
					      touched->index_count, sizeof(*touched->indexes));
		touched->indexes[touched->index_count++] = keyspace;
	}
	if (keyspace.part == PART_STREAM && str_is_set(key) && stream_shard_is_record(key))
		note_record(touched, keyspace.table, stream_shard_sequence(key));
	return !(keyspace.part >= PART_INDEX && str_is_set(key) && vector_row_is_version(key));
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void sort(struct touched *touched)
{
	size_t n = 0;

	if (touched->n > 0)
		qsort(touched->numbers, touched->n, sizeof(*touched->numbers), by_number);
	for (size_t i = 0; i < touched->n; i++) {
		if (n == 0 || touched->numbers[n - 1] != touched->numbers[i])
			touched->numbers[n++] = touched->numbers[i];
	}
	touched->n = n;
}

static bool is_touched(const struct touched *touched, const struct space_record *record,
		       uint64_t number)
{
	if (touched->n > 0 &&
	    bsearch(&number, touched->numbers, touched->n, sizeof(number), by_number))
		return true;
	for (size_t i = 0; i < touched->key_count; i++) {
		if (str_eq(touched->keys[i], record->key))
			return true;
	}
	return false;
}

/* No number of an index is used twice. */
static void skip_indexes(const struct touched *touched, struct table *table)
{
	for (size_t i = 0; i < touched->index_count; i++) {
		uint32_t number = touched->indexes[i].part - PART_INDEX;

		if (touched->indexes[i].table == table->identity.number &&
		    number >= table->indexes.next)
			table->indexes.next = number + 1;
	}
}

/* A later version for the table and its vector indexes, by a seed that no other change has. */
static enum code renew_version(struct space *space, const struct touched *touched,
			       const struct space_record *record, struct table *table,
			       uint64_t stack, struct err *err)
{
	struct vector_version ignored;
	struct currency_row row;
	uint64_t seed = 0;
	enum code code = currency_read(space->txn, table->identity.number, &row, err);

	if (code != OK)
		return code;
	(void)!getentropy(&seed, sizeof(seed));
	code = currency_renew(space->txn, space_prefix(space), table, stack, &row, err);
	if (code != OK)
		return code;
	code = catalog_size_again(space->catalog, space->txn, space->arena, table->identity.number,
				  record->key, &row, err);
	if (code != OK)
		return code;
	code = catalog_inherit_lag(space->catalog, space->txn, space->ns, record->key,
				   table->identity.number, err);
	if (code != OK)
		return code;
	code = history_forget(space->txn, table->identity.number, err);
	if (code != OK)
		return code;
	if (table_has_log(table))
		code = skip_touched_numbers(space, touched, table, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < table->indexes.vector_n; i++) {
		code = vector_row_next_version(space->txn, space->arena,
					       index_keyspace(table, &table->indexes.vectors[i]),
					       seed, STR(""), &ignored, err);
		if (code != OK)
			return code;
	}
	return space_put_record(space, record->key, table, table, err);
}

static enum code renew_record(struct space *space, const struct touched *touched,
			      const struct space_record *record, uint64_t stack, struct err *err)
{
	struct table *table;
	enum code code = space_decode(space, record, &table, err);

	if (code != OK)
		return code;
	skip_indexes(touched, table);
	code = renew_version(space, touched, record, table, stack, err);
	table_unref(table);
	return code;
}

/* Tables that were made since are gone, others are as they were, under a later version. */
static enum code renew_all(struct space *space, struct touched *touched, uint64_t stack,
			   struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	sort(touched);
	if (code != OK)
		return code;
	bool *is_there = ARENA_ARRAY(space->arena, bool, touched->n);
	for (size_t i = 0; i < records.n; i++) {
		uint64_t number = 0;

		if (records.v[i].is_retired)
			continue;
		code = space_number(space, &records.v[i], &number, err);
		if (code != OK)
			return code;
		if (!is_touched(touched, &records.v[i], number))
			continue;
		code = renew_record(space, touched, &records.v[i], stack, err);
		for (size_t k = 0; k < touched->n; k++)
			is_there[k] = is_there[k] || touched->numbers[k] == number;
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < touched->n; i++) {
		code = is_there[i] ? OK : currency_del_number(space->txn, touched->numbers[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}

struct rollback {
	struct str name;
	struct str *extra;
};

static enum code apply_rollback(struct space *space, void *context, struct err *err)
{
	struct rollback *rollback = context;
	struct touched touched = {.arena = space->arena};
	struct stack stack;
	size_t at;
	enum code code = load_stack(space, &stack, err);

	if (code != OK)
		return code;
	code = find(&stack, rollback->name, &at, err);
	if (code != OK)
		return code;
	for (size_t i = stack.all.n; i-- > at;) {
		uint64_t journal = stack.all.v[i].journal;

		code = journal_undo(space->txn, journal, touch, &touched, err);
		if (code != OK)
			return code;
		if (i == at)
			break;
		code = journal_drop(space->txn, journal, err);
		if (code != OK)
			return code;
		code = store_del(space->txn, stack_keyspace(&stack),
				 journal_key(space->arena, journal), err);
		if (code != OK)
			return code;
	}
	*rollback->extra = stack.all.v[at].extra;
	code = currency_put_stack(space->txn, stack.space, stack.number, stack.all.v[at].journal,
				  err);
	return code == OK ? renew_all(space, &touched, stack.number, err) : code;
}

enum code checkpoint_rollback(struct catalog *catalog, struct ns ns, struct str name,
			      struct str *extra, struct err *err)
{
	struct rollback rollback = {name, extra};

	return space_change(catalog, ns, SPACE_BARE, apply_rollback, &rollback, err);
}

/* Takes a checkpoint out of the stack, and the stack away with its last one. */
static enum code take_out(struct space *space, struct stack *stack, size_t at, struct err *err)
{
	struct checkpoints *all = &stack->all;
	uint64_t journal = all->v[at].journal, outer = at > 0 ? all->v[at - 1].journal : 0;
	enum code code = journal_end(space->txn, journal, outer, err);

	if (code != OK)
		return code;
	code = store_del(space->txn, stack_keyspace(stack), journal_key(space->arena, journal),
			 err);
	if (code != OK)
		return code;
	memmove(&all->v[at], &all->v[at + 1], (all->n - at - 1) * sizeof(*all->v));
	all->n--;
	if (all->n > 0)
		return currency_put_stack(space->txn, stack->space, stack->number,
					  all->v[all->n - 1].journal, err);
	code = currency_put_stack(space->txn, stack->space, stack->number, 0, err);
	if (code != OK)
		return code;
	code = store_drop(space->txn, stack_keyspace(stack), err);
	return code == OK ? mark(space, 0, err) : code;
}

static enum code apply_checkpoint_remove(struct space *space, void *context, struct err *err)
{
	const struct str *name = context;
	struct stack stack;
	size_t at;
	enum code code = load_stack(space, &stack, err);

	if (code != OK)
		return code;
	code = find(&stack, *name, &at, err);
	return code == OK ? take_out(space, &stack, at, err) : code;
}

enum code checkpoint_remove(struct catalog *catalog, struct ns ns, struct str name, struct err *err)
{
	return space_change(catalog, ns, SPACE_BARE | SPACE_QUIET, apply_checkpoint_remove, &name,
			    err);
}

enum code checkpoint_remove_all(struct space *space, struct err *err)
{
	struct stack stack;
	enum code code = load_stack(space, &stack, err);

	if (code != OK)
		return code;
	while (stack.all.n > 0) {
		code = take_out(space, &stack, 0, err);
		if (code != OK)
			return code;
	}
	return OK;
}

enum code checkpoint_list(struct catalog *catalog, struct ns ns, struct arena *arena,
			  struct checkpoints *checkpoints, struct err *err)
{
	struct space space = {.catalog = catalog, .ns = ns, .arena = arena};
	struct stack stack;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &space.txn, err);

	if (code != OK)
		return code;
	code = load_stack(&space, &stack, err);
	*checkpoints = stack.all;
	store_abort(space.txn);
	return code;
}

bool checkpoint_is_sound(const struct store_row *row)
{
	struct checkpoint checkpoint;

	return decode(*row, &checkpoint);
}
