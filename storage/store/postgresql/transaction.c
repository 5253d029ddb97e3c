#include "storage/store/postgresql/transaction_internal.h"

#include <stdlib.h>

#include "core/buf.h"
#include "storage/store/postgresql/long_key.h"
#include "storage/store/postgresql/scan.h"
#include "storage/store/row.h"
#include "storage/store/store_messages.h"

#define COPIED 2000  /* rows by one statement */
#define CREATED                                                                                    \
	(-2) /* the number of the rows that say which keyspaces were created; their keys are       \
		numbers */

static bool is_system(int64_t ks)
{
	return ks >> PART_BITS == 0;
}

/* The mode in the database; *may_be_behind: a standby may do. */
static enum store_mode mode_of(enum store_mode mode, bool *may_be_behind)
{
	*may_be_behind = mode == STORE_READ_BEHIND || mode == STORE_READ_ONCE_BEHIND;
	return mode == STORE_READ_BEHIND        ? STORE_READ
	       : mode == STORE_READ_ONCE_BEHIND ? STORE_READ_ONCE
						: mode;
}

enum code transaction_begin(const struct store_ops *ops, struct pool *primary,
			    struct followers *followers, enum store_mode mode,
			    struct store_txn **out, struct err *err)
{
	bool is_behind;
	struct link *link = NULL;
	struct pool *pool = primary;

	mode = mode_of(mode, &is_behind);
	if (is_behind && followers)
		link = followers_take(followers, primary, &pool);
	is_behind = link != NULL;
	if (!is_behind) {
		enum code code = pool_take(pool = primary, &link, err);

		if (code != OK)
			return code;
	}
	if (mode == STORE_READ_ONCE && !link->options->profile->is_pipeline_one)
		mode = STORE_READ;
	struct transaction *txn = arena_checked(calloc(1, sizeof(*txn)));
	*txn = (struct transaction){
		.base = {.ops = ops, .mode = mode, .is_behind = is_behind},
		.pool = pool,
		.link = link,
		.followers = is_behind ? followers : NULL,
		.end = STORE_BEHIND_FAILED,
		.arena = arena_new(0),
	};
	*out = &txn->base;
	return OK;
}

static void end(struct transaction *txn)
{
	if (txn->followers)
		followers_count(txn->followers, txn->end);
	pool_give(txn->pool, txn->link);
	arena_free(txn->arena);
	free(txn->rows.v);
	free(txn->looks);
	free(txn);
}

void transaction_start(struct transaction *txn)
{
	if (txn->is_begun)
		return;
	txn->is_begun = txn->base.mode != STORE_READ_ONCE;
	if (txn->is_begun)
		link_send(txn->link,
			  transaction_is_writing(txn) ? STATEMENT_BEGIN_WRITE
						      : STATEMENT_BEGIN_READ,
			  NULL, 0);
	if (txn->is_begun)
		link_send_settings(txn->link);
	if (txn->followers)
		followers_ask(txn->followers, txn->link);
}

enum code transaction_check_fresh(struct transaction *txn, struct err *err)
{
	if (!txn->followers || followers_is_fresh(txn->followers, txn->link, txn->pool))
		return OK;
	txn->end = STORE_BEHIND_LATE;
	return err_default(err, txn->failed = ERR_CONFLICT);
}

static enum code wait_for(struct transaction *txn, struct err *err)
{
	enum code code = link_wait(txn->link, err);

	if (code != OK)
		txn->failed = code;
	return code;
}

static void leave(struct transaction *txn, enum statement statement)
{
	link_send(txn->link, statement, NULL, 0);
	link_leave(txn->link);
}

void transaction_abort(struct store_txn *base)
{
	struct transaction *txn = transaction_of(base);

	if (txn->is_begun)
		leave(txn, transaction_is_writing(txn) ? STATEMENT_ROLLBACK : STATEMENT_COMMIT);
	end(txn);
}

static enum code check_writing(const struct transaction *txn, struct err *err)
{
	if (!transaction_is_writing(txn))
		return err_set(err, MSG_STORE_NO_WRITE);
	return txn->failed != OK ? err_default(err, txn->failed) : OK;
}

static void send_row(struct transaction *txn, enum statement statement, const struct own_row *row,
		     struct str value)
{
	struct link_number ks;
	struct long_key key = long_key_split(txn->arena, row->key);
	const bool has_rest = statement == STATEMENT_INSERT || statement == STATEMENT_UPSERT ||
			      statement == STATEMENT_ADD;
	const struct str values[] = {link_number(&ks, row->ks), key.k, has_rest ? key.t : value,
				     value};

	link_send(txn->link, statement, values,
		  has_rest                        ? 4
		  : statement == STATEMENT_UPDATE ? 3
						  : 2);
}

static void send_change(struct transaction *txn, struct own_row *row)
{
	if (str_is_set(row->value)) {
		send_row(txn,
			 row->base == BASE_THERE     ? STATEMENT_UPDATE
			 : row->base == BASE_UNKNOWN ? STATEMENT_UPSERT
						     : STATEMENT_INSERT,
			 row, row->value);
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

void transaction_flush(struct transaction *txn)
{
	bool has_sums = false;

	for (size_t i = 0; i < txn->rows.n; i++) {
		struct own_row *row = &txn->rows.v[i];

		if (!row->is_changed && !row->is_added)
			continue;
		transaction_start(txn);
		if (row->is_changed)
			send_change(txn, row);
		has_sums = has_sums || row->is_added;
	}
	for (size_t i = 0; has_sums && i < txn->rows.n; i++) {
		if (txn->rows.v[i].is_added)
			send_sum(txn, &txn->rows.v[i]);
	}
}

/* Holds what was read and not written: rows that are there are locked; the others must still be
 * absent. */
static void send_guards(struct transaction *txn)
{
	for (size_t i = 0; i < txn->rows.n; i++) {
		struct own_row *row = &txn->rows.v[i];

		if (row->base != BASE_ABSENT)
			continue;
		transaction_start(txn);
		if (is_system(row->ks)) {
			send_row(txn, STATEMENT_ABSENT_CHECK, row, STR_ABSENT);
		} else {
			send_row(txn, STATEMENT_INSERT, row, STR(""));
			send_row(txn, STATEMENT_DELETE, row, STR_ABSENT);
		}
	}
}

/* The rows that it read are locked. Those that were absent when it read others may be there now,
 * beside changes of these. */
enum code transaction_verify(struct store_txn *base, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	bool has_absent = false;

	if (txn->failed != OK || txn->is_doomed)
		return err_default(err, txn->failed != OK ? txn->failed : ERR_CONFLICT);
	for (size_t i = 0; transaction_is_writing(txn) && i < txn->rows.n; i++) {
		if (txn->rows.v[i].base != BASE_ABSENT)
			continue;
		send_row(txn, STATEMENT_ABSENT_CHECK, &txn->rows.v[i], STR_ABSENT);
		has_absent = true;
	}
	return has_absent ? wait_for(txn, err) : OK;
}

void transaction_look(struct transaction *txn, const struct look *look)
{
	if (txn->look_count == txn->look_capacity) {
		txn->look_capacity = txn->look_capacity ? txn->look_capacity * 2 : 8;
		txn->looks = arena_checked(
			realloc(txn->looks, txn->look_capacity * sizeof(*txn->looks)));
	}
	txn->looks[txn->look_count++] = (struct look){
		look->ks,
		str_copy(txn->arena, str_is_set(look->low) ? look->low : STR("")),
		str_is_set(look->high) ? str_copy(txn->arena, look->high) : STR_ABSENT,
		look->others,
	};
}

static void send_range_checks(struct transaction *txn)
{
	for (size_t i = 0; i < txn->look_count; i++) {
		const struct look *look = &txn->looks[i];
		struct link_number ks, rows;
		struct str values[8];

		scan_range_values(txn->arena, link_number(&ks, look->ks), look->low, look->high,
				  values);
		values[7] = link_number(&rows, (int64_t)(own_rows_count(&txn->rows, look->ks,
									look->low, look->high) +
							 look->others));
		link_send(txn->link, STATEMENT_RANGE_CHECK, values, 8);
	}
}

static int compare_appends(const void *a, const void *b)
{
	const struct store_append *x = *(const struct store_append *const *)a,
				  *y = *(const struct store_append *const *)b;
	int64_t left = transaction_keyspace(x->keyspace), right = transaction_keyspace(y->keyspace);
	int order = left != right ? (left < right ? -1 : 1) : str_cmp(x->counter, y->counter);

	return order ? order : x < y ? -1 : 1;
}

/* Last, since many may wait for their counters; and in the order of these, so that no two
 * transactions wait for each other. */
static void send_appends(struct transaction *txn)
{
	const struct store_append **sorted =
		ARENA_ARRAY(txn->arena, const struct store_append *, txn->append_count);

	for (size_t i = 0; i < txn->append_count; i++)
		sorted[i] = &txn->appends[i];
	qsort(sorted, txn->append_count, sizeof(const struct store_append *), compare_appends);
	for (size_t i = 0; i < txn->append_count; i++) {
		const struct store_append *append = sorted[i];
		struct link_number ks, at;
		const struct str values[] = {
			link_number(&ks, transaction_keyspace(append->keyspace)),
			append->counter,
			append->prefix,
			append->value,
			link_number(&at, (int64_t)append->stamp_at + 1),
			row_first(row_behind(append->value, append->stamp_at), 8),
		};

		link_send(txn->link, STATEMENT_APPEND, values, 6);
	}
}

/*
 * The answer to the commit itself is what counts. Where it did not come, nobody knows; but an error
 * of an earlier statement, or one that the database itself gave to the commit, means that nothing
 * was written.
 */
static enum code send_commit(struct transaction *txn, struct err *err)
{
	if (link_is_broken(txn->link))
		return err_default(err, ERR_STORE_UNAVAILABLE);
	link_send(txn->link, STATEMENT_COMMIT, NULL, 0);
	size_t n = txn->link->sent;
	enum code code = link_wait(txn->link, err);
	if (code == OK)
		return strcmp(txn->link->pq->PQcmdStatus(txn->link->results[n - 1]), "COMMIT") == 0
			       ? OK
			       : err_default(err, ERR_STORE_UNAVAILABLE);
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
	return txn->link->sent > 0 || txn->look_count > 0 || txn->append_count > 0;
}

enum code transaction_commit(struct store_txn *base, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	enum code code = txn->failed != OK ? err_default(err, txn->failed)
			 : txn->is_doomed  ? err_default(err, ERR_CONFLICT)
					   : OK;

	if (code != OK || !transaction_is_writing(txn)) {
		txn->end = code == OK ? STORE_BEHIND_SERVED : txn->end;
		transaction_abort(base);
		return code;
	}
	if (has_changes(txn)) {
		transaction_start(txn);
		if (txn->look_count > 0)
			link_send(txn->link, STATEMENT_GUARD, NULL, 0);
		transaction_flush(txn);
		send_guards(txn);
		send_range_checks(txn);
		send_appends(txn);
	}
	if (txn->is_begun)
		code = send_commit(txn, err);
	if (code != OK)
		leave(txn, STATEMENT_ROLLBACK);
	end(txn);
	return code;
}

/* The row that says that a keyspace was created. */
static void note_keyspace(struct transaction *txn, struct keyspace keyspace, struct str value)
{
	struct link_number key;
	struct own_row *row = own_rows_place(&txn->rows, txn->arena, CREATED,
					     link_number(&key, transaction_keyspace(keyspace)));

	row->value = value;
	row->is_changed = true;
}

static void send_drop(struct transaction *txn, enum statement statement, struct keyspace keyspace)
{
	struct link_number ks;
	struct str number = link_number(&ks, transaction_keyspace(keyspace));
	const struct str values[] = {number, number};

	transaction_start(txn);
	transaction_flush(txn);
	link_send(txn->link, statement, values, statement == STATEMENT_CLEARED ? 1 : 2);
}

/* What the transaction knows of rows that it has deleted by their range. */
static void forget_range(struct transaction *txn, int64_t ks, struct str low, struct str high)
{
	for (size_t i = own_rows_first(&txn->rows, ks); i < txn->rows.n && txn->rows.v[i].ks == ks;
	     i++) {
		struct own_row *row = &txn->rows.v[i];

		if (str_cmp(row->key, low) < 0 ||
		    (str_is_set(high) && str_cmp(row->key, high) >= 0))
			continue;
		row->base = row->base == BASE_THERE ? BASE_GONE : row->base;
		row->value = STR_ABSENT;
	}
}

enum code transaction_create(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	enum code code = check_writing(txn, err);

	if (code == OK) {
		send_drop(txn, STATEMENT_CLEAR, keyspace);
		send_drop(txn, STATEMENT_CLEARED, keyspace);
		note_keyspace(txn, keyspace, STR(""));
	}
	return code;
}

enum code transaction_del_range(struct store_txn *base, struct keyspace keyspace,
				const struct store_range *range, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	int64_t ks = transaction_keyspace(keyspace);
	struct str low = str_is_set(range->low) ? range->low : STR("");
	struct link_number number;
	struct str values[7];
	enum code code = check_writing(txn, err);

	if (code != OK || (str_is_set(range->high) && str_cmp(low, range->high) >= 0))
		return code;
	transaction_start(txn);
	transaction_flush(txn);
	scan_range_values(txn->arena, link_number(&number, ks), low, range->high, values);
	link_send(txn->link, STATEMENT_RANGE_DELETE, values, 7);
	forget_range(txn, ks, low, range->high);
	return OK;
}

enum code transaction_drop(struct store_txn *base, struct keyspace keyspace, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	send_drop(txn, STATEMENT_DROP, keyspace);
	forget_range(txn, transaction_keyspace(keyspace), STR(""), STR_ABSENT);
	note_keyspace(txn, keyspace, STR_ABSENT);
	return OK;
}

/* Nothing is known of its rows any more. */
static void forget_keyspace(struct transaction *txn, int64_t ks)
{
	for (size_t i = own_rows_first(&txn->rows, ks); i < txn->rows.n && txn->rows.v[i].ks == ks;
	     i++) {
		txn->rows.v[i].base = BASE_UNKNOWN;
		txn->rows.v[i].value = STR_ABSENT;
	}
}

enum code transaction_copy(struct store_txn *base, struct keyspace from, struct keyspace to,
			   struct err *err)
{
	struct transaction *txn = transaction_of(base);
	struct link_number ks[2], limit;
	struct look look = {transaction_keyspace(from), STR(""), STR_ABSENT, 0};
	struct str values[] = {link_number(&ks[0], look.ks),
			       link_number(&ks[1], transaction_keyspace(to)), STR(""),
			       link_number(&limit, COPIED)};
	enum code code = check_writing(txn, err);
	size_t n = COPIED, all = 0;

	if (code != OK)
		return code;
	transaction_start(txn);
	transaction_flush(txn);
	while (n == COPIED) {
		link_send(txn->link, STATEMENT_COPY, values, 4);
		code = wait_for(txn, err);
		if (code != OK)
			return code;
		size_t last = txn->link->result_count - 1;
		n = (size_t)link_bigint(txn->link, last, 0, 0);
		all += n;
		if (n > 0) { /* the zero byte makes it the next possible key */
			struct buf next = buf_in(txn->arena);

			buf_add_str(&next, link_column(txn->link, last, 0, 1));
			buf_add_byte(&next, 0);
			values[2] = buf_str(&next);
		}
	}
	look.others = all - own_rows_count(&txn->rows, look.ks, STR(""), STR_ABSENT);
	transaction_look(txn, &look);
	forget_keyspace(txn, transaction_keyspace(to));
	return OK;
}

enum code transaction_tidy(struct store_txn *base, bool *is_more, struct err *err)
{
	struct transaction *txn = transaction_of(base);

	transaction_start(txn);
	link_send(txn->link, STATEMENT_TIDY, NULL, 0);
	enum code code = wait_for(txn, err);
	*is_more = code == OK && link_bigint(txn->link, txn->link->result_count - 1, 0, 0) > 0;
	return code;
}

enum code transaction_keyspaces(struct store_txn *base, struct arena *arena,
				struct store_keyspaces *keyspaces, struct err *err)
{
	struct transaction *txn = transaction_of(base);

	if (txn->failed != OK)
		return err_default(err, txn->failed);
	transaction_start(txn);
	transaction_flush(txn);
	link_send(txn->link, STATEMENT_KEYSPACES, NULL, 0);
	enum code code = wait_for(txn, err);
	size_t last = txn->link->result_count - 1,
	       n = code == OK ? (size_t)link_rows(txn->link, last) : 0;
	struct keyspace *v = ARENA_ARRAY(arena, struct keyspace, n);
	*keyspaces = (struct store_keyspaces){0, v};
	for (size_t i = 0; i < n; i++) {
		uint64_t ks = link_bigint(txn->link, last, (int)i, 0);

		if (!is_system((int64_t)ks))
			v[keyspaces->n++] = (struct keyspace){
				ks >> PART_BITS, (uint32_t)(ks & ((1u << PART_BITS) - 1))};
	}
	return code;
}

enum code transaction_stat(struct store_txn *base, struct keyspace keyspace,
			   struct store_stat *stat, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	struct link_number ks;
	const struct str value = link_number(&ks, transaction_keyspace(keyspace));

	if (txn->failed != OK)
		return err_default(err, txn->failed);
	transaction_start(txn);
	transaction_flush(txn);
	link_send(txn->link, STATEMENT_STAT, &value, 1);
	enum code code = wait_for(txn, err);
	if (code == OK) {
		size_t last = txn->link->result_count - 1;

		*stat = (struct store_stat){link_bigint(txn->link, last, 0, 0),
					    link_bigint(txn->link, last, 0, 1)};
	}
	return code;
}

/* Whether the transaction has read a range that holds the key. */
static bool is_looked_at(const struct transaction *txn, int64_t ks, struct str key)
{
	for (size_t i = 0; i < txn->look_count; i++) {
		const struct look *look = &txn->looks[i];

		if (look->ks == ks && str_cmp(look->low, key) <= 0 &&
		    (!str_is_set(look->high) || str_cmp(key, look->high) < 0))
			return true;
	}
	return false;
}

/* The row of a key. Where a range was read and had no such row, it is known to be absent. */
static struct own_row *transaction_place(struct transaction *txn, int64_t ks, struct str key)
{
	size_t known = txn->rows.n;
	struct own_row *row = own_rows_place(&txn->rows, txn->arena, ks, key);

	if (txn->rows.n > known && is_looked_at(txn, ks, key))
		row->base = BASE_ABSENT;
	return row;
}

struct own_row *transaction_learn(struct transaction *txn, int64_t ks, struct str key,
				  struct str value)
{
	struct own_row *row = transaction_place(txn, ks, key);

	if (own_row_is_known(row)) {
		txn->is_doomed = txn->is_doomed || (row->base == BASE_ABSENT && !row->is_changed &&
						    str_is_set(value));
		return row;
	}
	row->base = str_is_set(value) ? BASE_THERE : BASE_ABSENT;
	row->value = str_is_set(value) ? str_copy(txn->arena, value) : STR_ABSENT;
	return row;
}

static enum code change_row(struct store_txn *base, struct keyspace keyspace, struct str key,
			    struct str value, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	struct own_row *row = transaction_place(txn, transaction_keyspace(keyspace), key);
	row->value = value;
	row->is_changed = true;
	row->is_added = false;
	row->delta = 0;
	return OK;
}

enum code transaction_put(struct store_txn *base, struct keyspace keyspace, struct str key,
			  struct str value, struct err *err)
{
	return change_row(base, keyspace, key,
			  str_copy(transaction_of(base)->arena,
				   (struct str){value.p ? value.p : "", value.n}),
			  err);
}

enum code transaction_del(struct store_txn *base, struct keyspace keyspace, struct str key,
			  struct err *err)
{
	return change_row(base, keyspace, key, STR_ABSENT, err);
}

enum code transaction_add(struct store_txn *base, struct keyspace keyspace, struct str key,
			  int64_t delta, struct err *err)
{
	struct transaction *txn = transaction_of(base);
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	struct own_row *row = transaction_place(txn, transaction_keyspace(keyspace), key);
	if (own_row_is_known(row)) {
		char bytes[STORE_NUMBER_BYTES];

		return transaction_put(base, keyspace, key,
				       store_number_value(store_number(row->value) + delta, bytes),
				       err);
	}
	row->delta += delta;
	row->is_added = true;
	return OK;
}

enum code transaction_append(struct store_txn *base, const struct store_append *append,
			     struct err *err)
{
	struct transaction *txn = transaction_of(base);
	enum code code = check_writing(txn, err);

	if (code != OK)
		return code;
	txn->appends =
		arena_room(txn->arena, txn->appends, txn->append_count, sizeof(*txn->appends));
	txn->appends[txn->append_count++] = *append;
	return OK;
}
