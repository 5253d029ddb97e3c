#include "storage/store/postgresql/transaction.h"

#include <stdlib.h>

#include "storage/store/postgresql/long_key.h"
#include "storage/store/postgresql/own_rows.h"
#include "storage/store/postgresql/scan.h"
#include "storage/store/store_messages.h"

#define PART_BITS 20           /* of a keyspace's number */
#define CREATED (-2)           /* the number of the rows that say which keyspaces were created; their keys are numbers */
#define FIRST_ROWS 64          /* of a page without a bound of rows: what they take decides on the next ones */
#define ROWS_MAX 4096          /* of one statement */

/* Keys of a keyspace that a write transaction has read in one piece. */
struct look {
	int64_t ks;
	struct str low, high; /* absent: open */
};

struct transaction {
	struct store_txn base;
	struct pool *pool;
	struct link *link;
	struct arena *arena;
	bool is_begun;         /* in the database */
	bool is_doomed;        /* it has seen a row appear that was absent: it will not commit */
	enum code failed;      /* what ended it before its end */
	struct own_rows rows;  /* of a write transaction; of one that reads, what it had foreseen */
	struct store_key *foreseen; /* to be brought with the next rows; in the arena */
	size_t foreseen_count;
	struct store_key *intended; /* to be locked as they are read; in the arena */
	size_t intended_count;
	size_t look_count, look_capacity;
	struct look *looks;
};

static struct transaction *of(struct store_txn *txn)
{
	return (struct transaction *)txn;
}

static int64_t number_of(struct keyspace keyspace)
{
	return (int64_t)(keyspace.table << PART_BITS | keyspace.part);
}

static bool is_system(int64_t ks)
{
	return ks >> PART_BITS == 0;
}

/* Rows that every write reads and hardly any changes: their readers do not keep each other waiting. */
static bool is_shared(int64_t ks)
{
	return ks == SYSTEM_VERSIONS;
}

static bool is_writing(const struct transaction *txn)
{
	return txn->base.mode == STORE_WRITE;
}

enum code transaction_begin(const struct store_ops *ops, struct pool *pool, enum store_mode mode, struct store_txn **out, struct err *err)
{
	struct link *link;
	enum code code = pool_take(pool, &link, err);

	if (code != OK)
		return code;
	struct transaction *txn = arena_checked(calloc(1, sizeof(*txn)));
	*txn = (struct transaction){.base = {.ops = ops, .mode = mode, .foresee = transaction_foresee, .intend = transaction_intend,
			 .verify = transaction_verify}, .pool = pool, .link = link, .arena = arena_new(0)};
	*out = &txn->base;
	return OK;
}

static void end(struct transaction *txn)
{
	pool_give(txn->pool, txn->link);
	arena_free(txn->arena);
	free(txn->rows.v);
	free(txn->looks);
	free(txn);
}

/* Before the first statement. */
static void begin(struct transaction *txn)
{
	if (!txn->is_begun)
		link_send(txn->link, is_writing(txn) ? STATEMENT_BEGIN_WRITE : STATEMENT_BEGIN_READ, NULL, 0);
	txn->is_begun = true;
}

static enum code wait_for(struct transaction *txn, struct err *err)
{
	enum code code = link_wait(txn->link, err);

	if (code != OK)
		txn->failed = code;
	return code;
}

void transaction_abort(struct store_txn *base)
{
	struct transaction *txn = of(base);

	if (txn->is_begun)
		link_leave(txn->link, is_writing(txn) ? STATEMENT_ROLLBACK : STATEMENT_COMMIT);
	end(txn);
}

static enum code check_writing(const struct transaction *txn, struct err *err)
{
	if (!is_writing(txn))
		return err_set(err, MSG_STORE_NO_WRITE);
	return txn->failed != OK ? err_default(err, txn->failed) : OK;
}

static void send_row(struct transaction *txn, enum statement statement, const struct own_row *row, struct str value)
{
	struct link_number ks;
	struct long_key key = long_key_split(txn->arena, row->key);
	const bool has_rest = statement == STATEMENT_INSERT || statement == STATEMENT_UPSERT || statement == STATEMENT_ADD;
	const struct str values[] = {link_number(&ks, row->ks), key.k, has_rest ? key.t : value, value};

	link_send(txn->link, statement, values, has_rest ? 4 : statement == STATEMENT_UPDATE ? 3 : 2);
}

static void send_change(struct transaction *txn, struct own_row *row)
{
	if (str_is_set(row->value)) {
		send_row(txn, row->base == BASE_THERE ? STATEMENT_UPDATE : row->base == BASE_UNKNOWN ? STATEMENT_UPSERT : STATEMENT_INSERT, row, row->value);
		row->base = BASE_THERE;
	} else if (row->base == BASE_THERE || row->base == BASE_UNKNOWN) {
		send_row(txn, STATEMENT_DELETE, row, STR_ABSENT);
		row->base = row->base == BASE_THERE ? BASE_GONE : BASE_UNKNOWN;
	}
	row->is_changed = false;
}

static void send_sum(struct transaction *txn, struct own_row *row)
{
	struct link_number delta;

	send_row(txn, STATEMENT_ADD, row, link_number(&delta, row->delta));
	row->base = BASE_UNKNOWN;
	row->is_added = false;
	row->delta = 0;
}

/* Puts what is not yet in the database into the pipeline, in the order of keys; sums last, since many may wait for their rows. */
static void flush(struct transaction *txn)
{
	bool has_sums = false;

	for (size_t i = 0; i < txn->rows.n; i++) {
		struct own_row *row = &txn->rows.v[i];

		if (!row->is_changed && !row->is_added)
			continue;
		begin(txn);
		if (row->is_changed)
			send_change(txn, row);
		has_sums = has_sums || row->is_added;
	}
	for (size_t i = 0; has_sums && i < txn->rows.n; i++) {
		if (txn->rows.v[i].is_added)
			send_sum(txn, &txn->rows.v[i]);
	}
}

/* Holds what was read and not written: rows that are there are locked; the others must still be absent. */
static void send_guards(struct transaction *txn)
{
	for (size_t i = 0; i < txn->rows.n; i++) {
		struct own_row *row = &txn->rows.v[i];

		if (row->base != BASE_ABSENT)
			continue;
		begin(txn);
		if (is_system(row->ks)) {
			send_row(txn, STATEMENT_ABSENT_CHECK, row, STR_ABSENT);
		} else {
			send_row(txn, STATEMENT_INSERT, row, STR(""));
			send_row(txn, STATEMENT_DELETE, row, STR_ABSENT);
		}
	}
}

/* The rows that it read are locked. Those that were absent when it read others may be there now, beside changes of these. */
enum code transaction_verify(struct store_txn *base, struct err *err)
{
	struct transaction *txn = of(base);
	bool has_absent = false;

	if (txn->failed != OK || txn->is_doomed)
		return err_default(err, txn->failed != OK ? txn->failed : ERR_CONFLICT);
	for (size_t i = 0; is_writing(txn) && i < txn->rows.n; i++) {
		if (txn->rows.v[i].base != BASE_ABSENT)
			continue;
		send_row(txn, STATEMENT_ABSENT_CHECK, &txn->rows.v[i], STR_ABSENT);
		has_absent = true;
	}
	return has_absent ? wait_for(txn, err) : OK;
}

static void send_range_checks(struct transaction *txn)
{
	for (size_t i = 0; i < txn->look_count; i++) {
		const struct look *look = &txn->looks[i];
		struct link_number ks, rows;
		struct str values[8];

		scan_range_values(txn->arena, link_number(&ks, look->ks), look->low, look->high, values);
		values[7] = link_number(&rows, (int64_t)own_rows_count(&txn->rows, look->ks, look->low, look->high));
		link_send(txn->link, STATEMENT_RANGE_CHECK, values, 8);
	}
}

/*
 * The answer to the commit itself is what counts. Where it did not come, nobody knows; but an error of an earlier statement, or one that the
 * database itself gave to the commit, means that nothing was written.
 */
static enum code send_commit(struct transaction *txn, struct err *err)
{
	if (link_is_broken(txn->link))
		return err_default(err, ERR_STORE_UNAVAILABLE);
	link_send(txn->link, STATEMENT_COMMIT, NULL, 0);
	size_t n = txn->link->sent;
	enum code code = link_wait(txn->link, err);
	if (code == OK)
		return strcmp(txn->link->pq->PQcmdStatus(txn->link->results[n - 1]), "COMMIT") == 0 ? OK : err_default(err, ERR_STORE_UNAVAILABLE);
	if (!txn->link->is_refused || (txn->link->is_fatal && txn->link->result_count == n)) {
		link_count(txn->link, STORE_FAILURE_UNKNOWN);
		return err_default(err, ERR_STORE_UNKNOWN);
	}
	return code;
}

static bool has_changes(const struct transaction *txn)
{
	for (size_t i = 0; i < txn->rows.n; i++) {
		const struct own_row *row = &txn->rows.v[i];

		if (row->is_changed || row->is_added || row->base == BASE_ABSENT)
			return true;
	}
	return txn->link->sent > 0 || txn->look_count > 0;
}

enum code transaction_commit(struct store_txn *base, struct err *err)
{
	struct transaction *txn = of(base);
	enum code code = txn->failed != OK ? err_default(err, txn->failed) : txn->is_doomed ? err_default(err, ERR_CONFLICT) : OK;

	if (code != OK || !is_writing(txn)) {
		transaction_abort(base);
		return code;
	}
	if (has_changes(txn)) {
		begin(txn);
		if (txn->look_count > 0)
			link_send(txn->link, STATEMENT_GUARD, NULL, 0);
		flush(txn);
		send_guards(txn);
		send_range_checks(txn);
	}
	if (txn->is_begun)
		code = send_commit(txn, err);
	if (code != OK)
		link_leave(txn->link, STATEMENT_ROLLBACK);
	end(txn);
	return code;
}

/* The row that says that a keyspace was created. */
static void note_keyspace(struct transaction *txn, struct keyspace keyspace, struct str value)
{
	struct link_number key;
	struct own_row *row = own_rows_place(&txn->rows, txn->arena, CREATED, link_number(&key, number_of(keyspace)));

	row->value = value;
	row->is_changed = true;
}

enum code transaction_create(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	enum code code = check_writing(of(base), err);

	if (code == OK)
		note_keyspace(of(base), keyspace, STR(""));
	return code;
}

enum code transaction_del_range(struct store_txn *base, struct keyspace keyspace, const struct store_range *range, struct err *err)
{
	struct transaction *txn = of(base);
	int64_t ks = number_of(keyspace);
	struct str low = str_is_set(range->low) ? range->low : STR("");
	struct link_number number;
	struct str values[7];
	enum code code = check_writing(txn, err);

	if (code != OK || (str_is_set(range->high) && str_cmp(low, range->high) >= 0))
		return code;
	begin(txn);
	flush(txn);
	scan_range_values(txn->arena, link_number(&number, ks), low, range->high, values);
	link_send(txn->link, STATEMENT_RANGE_DELETE, values, 7);
	for (size_t i = own_rows_first(&txn->rows, ks); i < txn->rows.n && txn->rows.v[i].ks == ks; i++) {
		struct own_row *row = &txn->rows.v[i];

		if (str_cmp(row->key, low) < 0 || (str_is_set(range->high) && str_cmp(row->key, range->high) >= 0))
			continue;
		row->base = row->base == BASE_THERE ? BASE_GONE : row->base;
		row->value = STR_ABSENT;
	}
	return OK;
}

enum code transaction_drop(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	enum code code = transaction_del_range(base, keyspace, &(struct store_range){STR_ABSENT, STR_ABSENT, false}, err);

	if (code == OK)
		note_keyspace(of(base), keyspace, STR_ABSENT);
	return code;
}

enum code transaction_keyspaces(struct store_txn *base, struct arena *arena, struct store_keyspaces *keyspaces, struct err *err)
{
	struct transaction *txn = of(base);

	if (txn->failed != OK)
		return err_default(err, txn->failed);
	begin(txn);
	flush(txn);
	link_send(txn->link, STATEMENT_KEYSPACES, NULL, 0);
	enum code code = wait_for(txn, err);
	size_t last = txn->link->result_count - 1, n = code == OK ? (size_t)link_rows(txn->link, last) : 0;
	struct keyspace *v = ARENA_ARRAY(arena, struct keyspace, n);
	*keyspaces = (struct store_keyspaces){0, v};
	for (size_t i = 0; i < n; i++) {
		uint64_t ks = str_be(link_column(txn->link, last, (int)i, 0).p, 8);

		if (!is_system((int64_t)ks))
			v[keyspaces->n++] = (struct keyspace){ks >> PART_BITS, (uint32_t)(ks & ((1u << PART_BITS) - 1))};
	}
	return code;
}

enum code transaction_stat(struct store_txn *base, struct keyspace keyspace, struct store_stat *stat, struct err *err)
{
	struct transaction *txn = of(base);
	struct link_number ks;
	const struct str value = link_number(&ks, number_of(keyspace));

	if (txn->failed != OK)
		return err_default(err, txn->failed);
	begin(txn);
	flush(txn);
	link_send(txn->link, STATEMENT_STAT, &value, 1);
	enum code code = wait_for(txn, err);
	if (code == OK) {
		size_t last = txn->link->result_count - 1;

		*stat = (struct store_stat){str_be(link_column(txn->link, last, 0, 0).p, 8), str_be(link_column(txn->link, last, 0, 1).p, 8)};
	}
	return code;
}

/* Whether the transaction has read a range that holds the key. */
static bool is_looked_at(const struct transaction *txn, int64_t ks, struct str key)
{
	for (size_t i = 0; i < txn->look_count; i++) {
		const struct look *look = &txn->looks[i];

		if (look->ks == ks && str_cmp(look->low, key) <= 0 && (!str_is_set(look->high) || str_cmp(key, look->high) < 0))
			return true;
	}
	return false;
}

/* The row of a key. Where a range was read and had no such row, it is known to be absent. */
static struct own_row *place(struct transaction *txn, int64_t ks, struct str key)
{
	size_t known = txn->rows.n;
	struct own_row *row = own_rows_place(&txn->rows, txn->arena, ks, key);

	if (txn->rows.n > known && is_looked_at(txn, ks, key))
		row->base = BASE_ABSENT;
	return row;
}

/* Takes up what the database has under a key that a write transaction reads. */
static struct own_row *learn(struct transaction *txn, int64_t ks, struct str key, struct str value)
{
	struct own_row *row = place(txn, ks, key);

	if (own_row_is_known(row)) {
		txn->is_doomed = txn->is_doomed || (row->base == BASE_ABSENT && !row->is_changed && str_is_set(value));
		return row;
	}
	row->base = str_is_set(value) ? BASE_THERE : BASE_ABSENT;
	row->value = str_is_set(value) ? str_copy(txn->arena, value) : STR_ABSENT;
	return row;
}

/* A key of many, in the order in which they are locked. */
struct wanted {
	int64_t ks;
	struct str key;
	size_t at; /* among the keys that were given, or NOWHERE: it was foreseen */
};

#define NOWHERE SIZE_MAX

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->ks != y->ks ? (x->ks < y->ks ? -1 : 1) : str_cmp(x->key, y->key);
}

/* The keys that must be asked for: all but those that a write transaction knows. *has_sums: some have a sum that is not in the database. */
static size_t choose(struct transaction *txn, const struct store_key *keys, size_t n, struct wanted *wanted, struct arena *arena, struct str *values,
		     bool *has_sums)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t ks = number_of(keys[i].keyspace);
		const struct own_row *row = txn->rows.n > 0 ? own_rows_find(&txn->rows, ks, keys[i].key) : NULL;

		if (row && own_row_is_known(row)) {
			values[i] = str_is_set(row->value) ? str_copy(arena, row->value) : STR_ABSENT;
			continue;
		}
		*has_sums = *has_sums || (row && row->is_added);
		wanted[count++] = (struct wanted){ks, keys[i].key, i};
	}
	return count;
}

/* What many read at a time is locked by those alone that will change it. */
static bool is_shared_by(const struct transaction *txn, const struct wanted *wanted)
{
	if (!is_shared(wanted->ks))
		return false;
	for (size_t i = 0; i < txn->intended_count; i++) {
		if (number_of(txn->intended[i].keyspace) == wanted->ks && str_eq(txn->intended[i].key, wanted->key))
			return false;
	}
	return true;
}

enum code transaction_intend(struct store_txn *base, const struct store_key *key, struct err *err)
{
	struct transaction *txn = of(base);

	(void)err;
	txn->intended = arena_room(txn->arena, txn->intended, txn->intended_count, sizeof(*txn->intended));
	txn->intended[txn->intended_count++] = (struct store_key){key->keyspace, str_copy(txn->arena, key->key)};
	return OK;
}

static void send_get(struct transaction *txn, const struct wanted *wanted)
{
	struct link_number ks;
	const struct str values[] = {link_number(&ks, wanted->ks), long_key_split(txn->arena, wanted->key).k};

	link_send(txn->link, !is_writing(txn) ? STATEMENT_GET : is_shared_by(txn, wanted) ? STATEMENT_GET_SHARED : STATEMENT_GET_LOCKED, values, 2);
}

static void forget_foreseen(struct transaction *txn)
{
	txn->foreseen = NULL;
	txn->foreseen_count = 0;
}

static size_t send_foreseen(struct transaction *txn)
{
	size_t first = txn->link->sent;

	for (size_t i = 0; i < txn->foreseen_count; i++)
		send_get(txn, &(struct wanted){number_of(txn->foreseen[i].keyspace), txn->foreseen[i].key, i});
	return first;
}

/* The answers of the last wait from `first` on. */
static void take_foreseen(struct transaction *txn, size_t first, uint64_t waits)
{
	for (size_t i = 0; i < txn->foreseen_count && txn->link->waits == waits + 1; i++) {
		struct str value = link_rows(txn->link, first + i) > 0 ? link_column(txn->link, first + i, 0, 0) : STR_ABSENT;

		learn(txn, number_of(txn->foreseen[i].keyspace), txn->foreseen[i].key, value);
	}
	forget_foreseen(txn);
}

/* They go with the next rows that are asked for. */
enum code transaction_foresee(struct store_txn *base, const struct store_key *keys, size_t n, struct err *err)
{
	struct transaction *txn = of(base);

	(void)err;
	for (size_t i = 0; i < n; i++) {
		txn->foreseen = arena_room(txn->arena, txn->foreseen, txn->foreseen_count, sizeof(*txn->foreseen));
		txn->foreseen[txn->foreseen_count++] = keys[i];
	}
	return OK;
}

/* Asks for them all, and waits. Those that were foreseen go nowhere but into what the transaction knows. */
static enum code ask(struct transaction *txn, const struct wanted *wanted, size_t n, struct arena *arena, struct str *values, struct err *err)
{
	size_t first = txn->link->sent;

	for (size_t i = 0; i < n; i++)
		send_get(txn, &wanted[i]);
	enum code code = wait_for(txn, err);
	for (size_t i = 0; i < n && code == OK; i++) {
		struct str value = link_rows(txn->link, first + i) > 0 ? link_column(txn->link, first + i, 0, 0) : STR_ABSENT;

		if (is_writing(txn) || wanted[i].at == NOWHERE)
			value = learn(txn, wanted[i].ks, wanted[i].key, value)->value;
		if (wanted[i].at != NOWHERE)
			values[wanted[i].at] = str_is_set(value) ? str_copy(arena, value) : STR_ABSENT;
	}
	return code;
}

enum code transaction_get_many(struct store_txn *base, const struct store_key *keys, size_t n, struct arena *arena, struct str *values, struct err *err)
{
	struct transaction *txn = of(base);
	struct wanted *wanted = ARENA_ARRAY(arena, struct wanted, n + txn->foreseen_count);
	bool has_sums = false;

	if (txn->failed != OK)
		return err_default(err, txn->failed);
	size_t count = choose(txn, keys, n, wanted, arena, values, &has_sums);
	if (count == 0)
		return OK;
	for (size_t i = 0; i < txn->foreseen_count; i++)
		wanted[count++] = (struct wanted){number_of(txn->foreseen[i].keyspace), txn->foreseen[i].key, NOWHERE};
	forget_foreseen(txn);
	if (is_writing(txn))
		qsort(wanted, count, sizeof(*wanted), compare_wanted);
	begin(txn);
	if (has_sums)
		flush(txn);
	return ask(txn, wanted, count, arena, values, err);
}

enum code transaction_get(struct store_txn *base, struct keyspace keyspace, struct str key, struct arena *arena, struct str *value, struct err *err)
{
	struct store_key one = {keyspace, key};

	return transaction_get_many(base, &one, 1, arena, value, err);
}

static enum code change(struct store_txn *base, struct keyspace keyspace, struct str key, struct str value, struct err *err)
{
	struct transaction *txn = of(base);
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	struct own_row *row = place(txn, number_of(keyspace), key);
	row->value = value;
	row->is_changed = true;
	row->is_added = false;
	row->delta = 0;
	return OK;
}

enum code transaction_put(struct store_txn *base, struct keyspace keyspace, struct str key, struct str value, struct err *err)
{
	return change(base, keyspace, key, str_copy(of(base)->arena, (struct str){value.p ? value.p : "", value.n}), err);
}

enum code transaction_del(struct store_txn *base, struct keyspace keyspace, struct str key, struct err *err)
{
	return change(base, keyspace, key, STR_ABSENT, err);
}

enum code transaction_add(struct store_txn *base, struct keyspace keyspace, struct str key, int64_t delta, struct err *err)
{
	struct transaction *txn = of(base);
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	struct own_row *row = place(txn, number_of(keyspace), key);
	if (own_row_is_known(row)) {
		char bytes[STORE_NUMBER_BYTES];

		return transaction_put(base, keyspace, key, store_number_value(store_number(row->value) + delta, bytes), err);
	}
	row->delta += delta;
	row->is_added = true;
	return OK;
}

static void note_look(struct transaction *txn, int64_t ks, struct str low, struct str high)
{
	if (txn->look_count == txn->look_capacity) {
		txn->look_capacity = txn->look_capacity ? txn->look_capacity * 2 : 8;
		txn->looks = arena_checked(realloc(txn->looks, txn->look_capacity * sizeof(*txn->looks)));
	}
	txn->looks[txn->look_count++] = (struct look){
		ks, str_copy(txn->arena, str_is_set(low) ? low : STR("")), str_is_set(high) ? str_copy(txn->arena, high) : STR_ABSENT,
	};
}

/* What a page has read of its range, up to its last row or to the end. */
static void note_page(struct transaction *txn, int64_t ks, const struct store_range *range, const struct store_page *page)
{
	struct store_range rest = *range;

	if (page->is_more && page->n > 0)
		store_range_after(&rest, page, txn->arena);
	if (!page->is_more)
		note_look(txn, ks, range->low, range->high);
	else if (page->n > 0)
		note_look(txn, ks, range->is_reverse ? rest.high : range->low, range->is_reverse ? range->high : rest.low);
}

/* Room for a page that grows. */
struct growing {
	struct store_page *page;
	struct store_bounds bounds;
	size_t bytes, capacity;
};

/* Takes rows up to the bounds; false: they are reached. */
static bool take_rows(struct growing *growing, struct arena *arena, const struct store_row *rows, size_t n)
{
	struct store_page *page = growing->page;

	for (size_t i = 0; i < n; i++) {
		page->v = arena_room(arena, page->v, page->n, sizeof(*page->v));
		page->v[page->n++] = rows[i];
		growing->bytes += rows[i].key.n + rows[i].value.n;
		if ((growing->bounds.rows && page->n >= growing->bounds.rows) || (growing->bounds.bytes && growing->bytes >= growing->bounds.bytes))
			return false;
	}
	return true;
}

/* How many rows to ask for next: as many as the bounds leave room for, by what a row took so far. */
static size_t next_limit(const struct growing *growing)
{
	const struct store_bounds *bounds = &growing->bounds;
	size_t n = growing->page->n, limit = n == 0 ? FIRST_ROWS : ROWS_MAX;

	if (bounds->bytes && n > 0) {
		size_t each = growing->bytes / n + 1, by_bytes = (bounds->bytes - growing->bytes) / each + 1;

		limit = by_bytes < limit ? by_bytes : limit;
	}
	if (bounds->rows && (bounds->rows - n < limit || !bounds->bytes))
		limit = bounds->rows - n < ROWS_MAX ? bounds->rows - n : ROWS_MAX;
	return limit;
}

enum code transaction_page(struct store_txn *base, struct keyspace keyspace, const struct store_range *range, struct store_bounds bounds,
			   struct arena *arena, struct store_page *page, struct err *err)
{
	struct transaction *txn = of(base);
	struct store_range rest = *range;
	struct growing growing = {.page = page, .bounds = bounds};
	bool is_end = false, has_room = true;
	enum code code = txn->failed != OK ? err_default(err, txn->failed) : OK;

	*page = (struct store_page){0};
	if (code == OK) {
		begin(txn);
		flush(txn);
	}
	uint64_t waits = txn->link->waits;
	size_t foreseen = send_foreseen(txn);
	while (code == OK && !is_end && has_room) {
		struct scan scan = {txn->link, arena, number_of(keyspace), &rest, next_limit(&growing), is_writing(txn)};
		struct store_row *rows = arena_alloc(arena, scan.limit * sizeof(*rows));
		size_t n;

		code = scan_rows(&scan, rows, &n, &is_end, err);
		if (code == OK)
			take_foreseen(txn, foreseen, waits);
		for (size_t i = 0; i < n && code == OK && is_writing(txn); i++)
			learn(txn, scan.ks, rows[i].key, rows[i].value);
		has_room = code == OK && take_rows(&growing, arena, rows, n);
		is_end = is_end && (has_room || n == 0 || page->v[page->n - 1].key.p == rows[n - 1].key.p);
		if (has_room && !is_end && page->n > 0)
			store_range_after(&rest, page, arena);
	}
	if (code != OK) {
		txn->failed = code;
		return code;
	}
	page->is_more = !is_end;
	if (is_writing(txn))
		note_page(txn, number_of(keyspace), range, page);
	return OK;
}
