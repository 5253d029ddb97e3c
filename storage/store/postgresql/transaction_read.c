#include "storage/store/postgresql/transaction_internal.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/store/postgresql/long_key.h"
#include "storage/store/postgresql/scan.h"

#define FIRST_ROWS                                                                                 \
	64 /* of a page without a bound of rows: what they take decides on the next ones */
#define ROWS_MAX 4096 /* of one statement */

/* Rows that every write reads and hardly any changes: their readers do not keep each other waiting.
 */
static bool is_shared(int64_t ks)
{
	return ks == SYSTEM_VERSIONS;
}

/* A key of many, in the order in which they are locked. */
struct wanted {
	int64_t ks;
	struct str key, k;      /* k: its column */
	size_t at;              /* among the keys that were given, or NOWHERE: it was foreseen */
	size_t result;          /* of the link's results, where its value is: */
	int row, column;        /* row -1: nowhere */
};

#define NOWHERE SIZE_MAX
#define MANY 3 /* keys of one keyspace that a read asks for in one statement */

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->ks != y->ks ? (x->ks < y->ks ? -1 : 1) : str_cmp(x->k, y->k);
}

static struct wanted wanted_of(struct transaction *txn, const struct store_key *key, size_t at)
{
	return (struct wanted){.ks = transaction_keyspace(key->keyspace),
			       .key = key->key,
			       .k = long_key_split(txn->arena, key->key).k,
			       .at = at};
}

/* The keys that must be asked for: all but those that the transaction knows. *has_sums: some have a
 * sum that is not in the database. */
static size_t choose_wanted(struct transaction *txn, const struct store_key *keys, size_t n,
			    struct wanted *wanted, struct arena *arena, struct str *values,
			    bool *has_sums)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t ks = transaction_keyspace(keys[i].keyspace);
		const struct own_row *row =
			txn->rows.n > 0 ? own_rows_find(&txn->rows, ks, keys[i].key) : NULL;

		if (row && own_row_is_known(row)) {
			values[i] =
				str_is_set(row->value) ? str_copy(arena, row->value) : STR_ABSENT;
			continue;
		}
		*has_sums = *has_sums || (row && row->is_added);
		wanted[count++] = wanted_of(txn, &keys[i], i);
	}
	return count;
}

/* A bytea[] of their columns k. Source: PostgreSQL, array_recv(). */
static struct str array_of(struct arena *arena, const struct wanted *wanted, size_t n)
{
	struct buf buf = buf_in(arena);

	buf_add_be32(&buf, 1);  /* dimensions */
	buf_add_be32(&buf, 0);  /* no NULL in it */
	buf_add_be32(&buf, 17); /* bytea */
	buf_add_be32(&buf, (uint32_t)n);
	buf_add_be32(&buf, 1); /* the number of the first */
	for (size_t i = 0; i < n; i++) {
		buf_add_be32(&buf, (uint32_t)wanted[i].k.n);
		buf_add_str(&buf, wanted[i].k);
	}
	return buf_str(&buf);
}

/* What many read at a time is locked by those alone that will change it. */
static bool is_shared_by(const struct transaction *txn, const struct wanted *wanted)
{
	if (!is_shared(wanted->ks))
		return false;
	for (size_t i = 0; i < txn->intended_count; i++) {
		if (transaction_keyspace(txn->intended[i].keyspace) == wanted->ks &&
		    str_eq(txn->intended[i].key, wanted->key))
			return false;
	}
	return true;
}

enum code transaction_intend(struct store_txn *base, const struct store_key *key, struct err *err)
{
	struct transaction *txn = transaction_of(base);

	(void)err;
	txn->intended =
		arena_room(txn->arena, txn->intended, txn->intended_count, sizeof(*txn->intended));
	txn->intended[txn->intended_count++] =
		(struct store_key){key->keyspace, str_copy(txn->arena, key->key)};
	return OK;
}

static void send_one_get(struct transaction *txn, struct wanted *wanted)
{
	struct link_number ks;
	const struct str values[] = {link_number(&ks, wanted->ks), wanted->k};

	wanted->result = txn->link->sent;
	link_send(txn->link,
		  !transaction_is_writing(txn) ? STATEMENT_GET
		  : is_shared_by(txn, wanted)  ? STATEMENT_GET_SHARED
					       : STATEMENT_GET_LOCKED,
		  values, 2);
}

static void send_two(struct transaction *txn, struct wanted wanted[2])
{
	struct link_number ks[2];
	const struct str values[] = {link_number(&ks[0], wanted[0].ks), wanted[0].k,
				     link_number(&ks[1], wanted[1].ks), wanted[1].k};

	wanted[0].result = wanted[1].result = txn->link->sent;
	wanted[1].column = 1;
	link_send(txn->link, STATEMENT_GET_TWO, values, 4);
}

static void send_many(struct transaction *txn, struct wanted *wanted, size_t n)
{
	struct link_number ks;
	const struct str values[] = {link_number(&ks, wanted->ks), array_of(txn->arena, wanted, n)};

	for (size_t i = 0; i < n; i++) {
		wanted[i].result = txn->link->sent;
		wanted[i].row = -1;
		wanted[i].column = 1;
	}
	link_send(txn->link, STATEMENT_GET_ANY, values, 2);
}

/* They are in order. A write transaction locks one after another; others read them in as few
 * statements as can be. */
static void send_gets(struct transaction *txn, struct wanted *wanted, size_t n)
{
	bool is_writing = transaction_is_writing(txn);

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; !is_writing && end < n && wanted[end].ks == wanted[i].ks;)
			end++;
		if (end - i >= MANY) {
			send_many(txn, &wanted[i], end - i);
			continue;
		}
		end = !is_writing && i + 2 <= n && (end == i + 2 || (i + 2 == n)) ? i + 2 : i + 1;
		if (end == i + 2)
			send_two(txn, &wanted[i]);
		else
			send_one_get(txn, &wanted[i]);
	}
}

/* Finds the rows that a statement of many keys gave. */
static void match_many(const struct link *link, struct wanted *wanted, size_t n)
{
	for (int row = 0; row < link_rows(link, wanted->result); row++) {
		const struct wanted own = {.ks = wanted->ks,
					   .k = link_column(link, wanted->result, row, 0)};
		struct wanted *found = bsearch(&own, wanted, n, sizeof(*wanted), compare_wanted);

		while (found && found > wanted && compare_wanted(found - 1, &own) == 0)
			found--;
		for (; found && found < wanted + n && compare_wanted(found, &own) == 0; found++)
			found->row = row;
	}
}

static void match_gets(const struct link *link, struct wanted *wanted, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && wanted[end].result == wanted[i].result;)
			end++;
		if (end - i >= MANY)
			match_many(link, &wanted[i], end - i);
		else if (end == i + 1 && link_rows(link, wanted[i].result) == 0)
			wanted[i].row = -1;
	}
}

static struct str value_of(const struct link *link, const struct wanted *wanted)
{
	return wanted->row < 0 ? STR_ABSENT
			       : link_column(link, wanted->result, wanted->row, wanted->column);
}

static void forget_foreseen(struct transaction *txn)
{
	txn->foreseen = NULL;
	txn->foreseen_count = 0;
}

/* Sends what was foreseen, with the rows of a page. */
static struct wanted *send_foreseen(struct transaction *txn)
{
	struct wanted *wanted =
		txn->foreseen_count ? ARENA_ARRAY(txn->arena, struct wanted, txn->foreseen_count)
				    : NULL;

	for (size_t i = 0; i < txn->foreseen_count; i++)
		wanted[i] = wanted_of(txn, &txn->foreseen[i], NOWHERE);
	if (wanted)
		qsort(wanted, txn->foreseen_count, sizeof(*wanted), compare_wanted);
	send_gets(txn, wanted, txn->foreseen_count);
	return wanted;
}

/* What was foreseen, of the last wait. */
static void take_foreseen(struct transaction *txn, struct wanted *wanted)
{
	match_gets(txn->link, wanted, txn->foreseen_count);
	for (size_t i = 0; i < txn->foreseen_count; i++)
		transaction_learn(txn, wanted[i].ks, wanted[i].key,
				  value_of(txn->link, &wanted[i]));
}

/* They go with the next rows that are asked for. */
enum code transaction_foresee(struct store_txn *base, const struct store_key *keys, size_t n,
			      struct err *err)
{
	struct transaction *txn = transaction_of(base);

	(void)err;
	for (size_t i = 0; i < n; i++) {
		txn->foreseen = arena_room(txn->arena, txn->foreseen, txn->foreseen_count,
					   sizeof(*txn->foreseen));
		txn->foreseen[txn->foreseen_count++] = keys[i];
	}
	return OK;
}

/* Before a read that asks the database. */
static enum code check_reading(const struct transaction *txn, struct err *err)
{
	return txn->failed != OK ? err_default(err, txn->failed)
	       : txn->is_spent   ? err_default(err, ERR_CONFLICT)
				 : OK;
}

static enum code wait_for(struct transaction *txn, struct err *err)
{
	enum code code = link_wait(txn->link, err);

	txn->is_spent = txn->base.mode == STORE_READ_ONCE;
	if (code != OK)
		txn->failed = code;
	return code == OK ? transaction_check_fresh(txn, err) : code;
}

/* Asks for them all, and waits. Those that were foreseen go nowhere but into what the transaction
 * knows. */
static enum code ask_wanted(struct transaction *txn, struct wanted *wanted, size_t n,
			    struct arena *arena, struct str *values, struct err *err)
{
	send_gets(txn, wanted, n);
	enum code code = wait_for(txn, err);
	if (code != OK)
		return code;
	match_gets(txn->link, wanted, n);
	for (size_t i = 0; i < n; i++) {
		struct str value = value_of(txn->link, &wanted[i]);

		if (transaction_is_writing(txn) || wanted[i].at == NOWHERE)
			value = transaction_learn(txn, wanted[i].ks, wanted[i].key, value)->value;
		if (wanted[i].at != NOWHERE)
			values[wanted[i].at] =
				str_is_set(value) ? str_copy(arena, value) : STR_ABSENT;
	}
	return OK;
}

enum code transaction_get_many(struct store_txn *base, const struct store_key *keys, size_t n,
			       struct arena *arena, struct str *values, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	struct wanted few[2],
		*wanted = n + txn->foreseen_count <= 2
				  ? few
				  : ARENA_ARRAY(arena, struct wanted, n + txn->foreseen_count);
	bool has_sums = false;

	if (txn->failed != OK)
		return err_default(err, txn->failed);
	size_t count = choose_wanted(txn, keys, n, wanted, arena, values, &has_sums);
	if (count == 0)
		return OK;
	enum code code = check_reading(txn, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < txn->foreseen_count; i++)
		wanted[count++] = wanted_of(txn, &txn->foreseen[i], NOWHERE);
	forget_foreseen(txn);
	if (count > 1)
		qsort(wanted, count, sizeof(*wanted), compare_wanted);
	transaction_start(txn);
	if (has_sums)
		transaction_flush(txn);
	return ask_wanted(txn, wanted, count, arena, values, err);
}

enum code transaction_get(struct store_txn *base, struct keyspace keyspace, struct str key,
			  struct arena *arena, struct str *value, struct err *err)
{
	struct store_key one = {keyspace, key};

	return transaction_get_many(base, &one, 1, arena, value, err);
}

/* What a page has read of its range, up to its last row or to the end. */
static void note_page(struct transaction *txn, int64_t ks, const struct store_range *range,
		      const struct store_page *page)
{
	struct store_range rest = *range;

	if (page->is_more && page->n > 0)
		store_range_after(&rest, page, txn->arena);
	if (!page->is_more)
		transaction_look(txn, &(struct look){ks, range->low, range->high, 0});
	else if (page->n > 0)
		transaction_look(txn,
				 &(struct look){ks, range->is_reverse ? rest.high : range->low,
						range->is_reverse ? range->high : rest.low, 0});
}

/* A page that grows by one statement after another. */
struct growing {
	struct store_page *page;
	struct store_bounds bounds;
	size_t bytes;
	size_t each; /* of a row so far; 0: nothing is known */
	bool is_end; /* the range has no more rows */
};

/* Takes rows up to the bounds; false: they are reached. */
static bool take_rows_within(struct growing *growing, struct arena *arena,
			     const struct store_row *rows, size_t n)
{
	struct store_page *page = growing->page;

	for (size_t i = 0; i < n; i++) {
		page->v = arena_room(arena, page->v, page->n, sizeof(*page->v));
		page->v[page->n++] = rows[i];
		growing->bytes += rows[i].key.n + rows[i].value.n;
		growing->each = growing->bytes / page->n + 1;
		if ((growing->bounds.rows && page->n >= growing->bounds.rows) ||
		    (growing->bounds.bytes && growing->bytes >= growing->bounds.bytes))
			return false;
	}
	return true;
}

/* How many rows to ask for next: as many as the bounds leave room for, by what a row took so far.
 */
static size_t next_limit(const struct growing *growing)
{
	const struct store_bounds *bounds = &growing->bounds;
	size_t n = growing->page->n, limit = growing->each ? ROWS_MAX : FIRST_ROWS;

	if (bounds->bytes && growing->each) {
		size_t by_bytes = (bounds->bytes - growing->bytes) / growing->each + 1;

		limit = by_bytes < limit ? by_bytes : limit;
	}
	if (bounds->rows && (bounds->rows - n < limit || !bounds->bytes))
		limit = bounds->rows - n < ROWS_MAX ? bounds->rows - n : ROWS_MAX;
	return limit;
}

/* One statement's rows, or a few's. *is_full: the bounds are reached. */
static enum code grow_page(struct transaction *txn, int64_t ks, struct store_range *rest,
			   struct growing *growing, struct arena *arena, bool *is_full,
			   struct err *err)
{
	struct scan scan = {
		txn->link, arena, ks, rest, next_limit(growing), transaction_is_writing(txn)};
	struct store_row *rows = arena_alloc(arena, scan.limit * sizeof(*rows));
	struct store_page *page = growing->page;
	size_t n;
	enum code code = scan_rows(&scan, rows, &n, &growing->is_end, err);

	for (size_t i = 0; i < n && code == OK && scan.is_locked; i++)
		transaction_learn(txn, ks, rows[i].key, rows[i].value);
	*is_full = code == OK && !take_rows_within(growing, arena, rows, n);
	growing->is_end = growing->is_end &&
			  (!*is_full || n == 0 || page->v[page->n - 1].key.p == rows[n - 1].key.p);
	if (!*is_full && !growing->is_end && page->n > 0)
		store_range_after(rest, page, arena);
	return code;
}

/* The page, and what was foreseen. *is_torn: it took several statements, which saw several
 * snapshots. */
static enum code read_growing_page(struct transaction *txn, int64_t ks,
				   const struct store_range *range, struct growing *growing,
				   struct arena *arena, bool *is_torn, struct err *err)
{
	struct store_range rest = *range;
	bool is_full = false, is_once = txn->base.mode == STORE_READ_ONCE;
	uint64_t waits = txn->link->waits;

	*growing->page = (struct store_page){0};
	growing->bytes = 0;
	transaction_start(txn);
	transaction_flush(txn);
	struct wanted *foreseen = send_foreseen(txn);
	enum code code = grow_page(txn, ks, &rest, growing, arena, &is_full, err);
	bool is_in_one_trip = txn->link->waits == waits + 1;
	*is_torn = code == OK && is_once && (!is_in_one_trip || !(is_full || growing->is_end));
	if (code != OK || *is_torn)
		return code;
	if (is_in_one_trip)
		take_foreseen(txn, foreseen);
	forget_foreseen(txn);
	while (code == OK && !growing->is_end && !is_full)
		code = grow_page(txn, ks, &rest, growing, arena, &is_full, err);
	txn->is_spent = is_once;
	return code;
}

static enum code read_fresh_page(struct transaction *txn, int64_t ks,
				 const struct store_range *range, struct growing *growing,
				 struct arena *arena, struct err *err)
{
	bool is_torn;
	enum code code = read_growing_page(txn, ks, range, growing, arena, &is_torn, err);

	if (is_torn) {
		txn->base.mode = STORE_READ; /* once more, knowing how many rows to ask for */
		code = read_growing_page(txn, ks, range, growing, arena, &is_torn, err);
	}
	if (code != OK)
		return code;
	return transaction_check_fresh(txn, err);
}

enum code transaction_page(struct store_txn *base, struct keyspace keyspace,
			   const struct store_range *range, struct store_bounds bounds,
			   struct arena *arena, struct store_page *page, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	struct growing growing = {.page = page, .bounds = bounds};
	int64_t ks = transaction_keyspace(keyspace);
	enum code code = check_reading(txn, err);

	*page = (struct store_page){0};
	if (code != OK)
		return code;
	code = read_fresh_page(txn, ks, range, &growing, arena, err);
	if (code != OK) {
		txn->failed = code;
		return code;
	}
	page->is_more = !growing.is_end;
	if (transaction_is_writing(txn))
		note_page(txn, ks, range, page);
	return OK;
}
