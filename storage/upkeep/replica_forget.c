#include "storage/catalog/mark_walk.h"
#include "storage/schema/currency.h"
#include "storage/store/journal.h"
#include "storage/upkeep/lease.h"
#include "storage/upkeep/replica.h"
#include "storage/upkeep/replica_group.h"
#include "storage/write/replication_row.h"

#define PIECE_ROWS 64 /* of deleted items in one transaction */
#define PIECE_BYTES ((size_t)256 * 1024)
#define PIECES 8      /* of one table at a time */

/* A global table with all its replicas, the first of which is looked at. */
struct group {
	struct catalog *catalog;
	struct arena *arena;
	struct table **v;
	size_t n;
};

/* False if a replica is missing or still filling: filling could copy back an item that was deleted.
 */
static bool is_whole(const struct replica_group *group)
{
	size_t n = 0;

	while (n < group->n && !str_is_set(group->v[n]->group.filling))
		n++;
	return n == group->v[0]->group.n + 1;
}

/* The replica as it is known; what is written then is of its namespace. */
static enum code enter(struct store_txn *txn, const struct table *table, struct err *err)
{
	journal_disarm(txn);
	return currency_check(txn, table, NULL, err);
}

/* When the oldest change was made that some replica has not yet. A change that is stamped after a
 * deletion needs no trace of it. */
static enum code find_oldest(const struct group *group, struct store_txn *txn, int64_t *oldest_ms,
			     struct err *err)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct table *table = group->v[i];
		enum code code = enter(txn, table, err);

		if (code != OK)
			return code;
		for (size_t k = 0; k < table->group.n; k++) {
			struct store_range range =
				replication_queue_range(group->arena, table->group.v[k].region);
			struct replication_queued queued;
			struct store_page page;

			code = store_page(txn, table_replication(table), &range,
					  (struct store_bounds){1, PIECE_BYTES}, group->arena,
					  &page, err);
			if (code != OK)
				return code;
			if (page.n > 0 &&
			    !replication_queue_decode(page.v[0].key, page.v[0].value, &queued))
				*oldest_ms = INT64_MIN; /* nothing is safe to forget */
			else if (page.n > 0 && queued.written_ms < *oldest_ms)
				*oldest_ms = queued.written_ms;
		}
	}
	return OK;
}

/* A deleted item that all replicas have as deleted by the same change, or know nothing of. */
struct forgotten {
	int64_t ms;
	struct str row_key;
	bool is_equal;
};

static bool are_stamps_equal(const struct str *rows, size_t n, int64_t ms)
{
	struct stamp first, stamp;

	if (!replication_stamp_decode(rows[0], &first) || !first.is_deleted || first.ms != ms)
		return false;
	for (size_t i = 1; i < n; i++) {
		if (str_is_set(rows[i]) &&
		    (!replication_stamp_decode(rows[i], &stamp) || !stamp.is_deleted ||
		     stamp.ms != ms || !str_eq(stamp.region, first.region)))
			return false;
	}
	return true;
}

static enum code compare_stamps(const struct group *group, struct store_txn *txn,
				struct forgotten *items, size_t n, struct err *err)
{
	struct store_key *keys = ARENA_ARRAY(group->arena, struct store_key, n * group->n);
	struct str *rows = ARENA_ARRAY(group->arena, struct str, n * group->n);

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < group->n; k++)
			keys[i * group->n + k] = (struct store_key){
				table_replication(group->v[k]),
				replication_item_key(group->arena, items[i].row_key)};
	}
	enum code code = store_get_many(txn, keys, n * group->n, group->arena, rows, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++)
		items[i].is_equal = are_stamps_equal(rows + i * group->n, group->n, items[i].ms);
	return OK;
}

static enum code forget_in(const struct group *group, struct store_txn *txn,
			   const struct table *table, const struct forgotten *items, size_t n,
			   struct err *err)
{
	struct keyspace keyspace = table_replication(table);
	enum code code = enter(txn, table, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < n; i++) {
		if (!items[i].is_equal)
			continue;
		code = store_del(txn, keyspace,
				 replication_item_key(group->arena, items[i].row_key), err);
		if (code != OK)
			return code;
		code = store_del(
			txn, keyspace,
			replication_deleted_key(group->arena, items[i].ms, items[i].row_key), err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Of the rows of `range`, up to a piece; the range then goes on behind them. */
static enum code forget_piece(const struct group *group, struct store_txn *txn,
			      struct store_range *range, int64_t until_ms, size_t *forgotten,
			      bool *is_more, struct err *err)
{
	struct store_page page;
	int64_t oldest_ms = INT64_MAX;
	enum code code = find_oldest(group, txn, &oldest_ms, err);

	*forgotten = 0;
	*is_more = false;
	if (code != OK || oldest_ms == INT64_MIN)
		return code;
	range->high =
		replication_deleted_range(group->arena, oldest_ms < until_ms ? oldest_ms : until_ms)
			.high;
	if (str_cmp(range->low, range->high) >= 0)
		return OK;
	code = store_page(txn, table_replication(group->v[0]), range,
			  (struct store_bounds){PIECE_ROWS, PIECE_BYTES}, group->arena, &page, err);
	if (code != OK || page.n == 0)
		return code;
	struct forgotten *items = ARENA_ARRAY(group->arena, struct forgotten, page.n);
	size_t n = 0;
	for (size_t i = 0; i < page.n; i++)
		n += replication_deleted_read(page.v[i].key, &items[n].ms, &items[n].row_key);
	code = compare_stamps(group, txn, items, n, err);
	for (size_t i = 0; i < n && code == OK; i++)
		*forgotten += items[i].is_equal;
	for (size_t i = 0; i < group->n && code == OK && *forgotten > 0; i++)
		code = forget_in(group, txn, group->v[i], items, n, err);
	*is_more = page.is_more;
	if (page.is_more)
		store_range_after(range, &page, group->arena);
	return code;
}

static enum code forget_pieces(const struct group *group, int64_t until_ms, bool *more,
			       struct err *err)
{
	struct store_range range = replication_deleted_range(group->arena, until_ms);
	bool is_more = true, has_forgotten = false;
	enum code code = OK;

	for (int piece = 0; piece < PIECES && is_more && code == OK; piece++) {
		struct store_txn *txn;
		size_t forgotten;

		code = store_begin(catalog_store(group->catalog), STORE_WRITE, &txn, err);
		if (code != OK)
			return code;
		code = forget_piece(group, txn, &range, until_ms, &forgotten, &is_more, err);
		if (code != OK || forgotten == 0) {
			store_abort(txn);
			continue;
		}
		code = store_commit(txn, err);
		has_forgotten = has_forgotten || code == OK;
	}
	*more = *more || (is_more && has_forgotten);
	return code;
}

static enum code forget_group_stamps(struct catalog *catalog, const struct times *times,
				     struct table *table, struct replica_group *replicas,
				     int64_t until_ms, int64_t now_ms, bool *more, struct err *err)
{
	bool is_ours = true;
	struct str lease =
		str_printf(err->arena, "forget/%llu", (unsigned long long)table->identity.number);
	enum code code = replica_group_read(catalog, err->arena, table, now_ms, replicas, err);

	if (code != OK || !is_whole(replicas))
		return code;
	code = lease_take(times->leases, lease, &is_ours, NULL, err);
	if (code != OK || !is_ours)
		return code;
	const struct group group = {catalog, err->arena, replicas->v, replicas->n};
	return forget_pieces(&group, until_ms, more, err);
}

static enum code forget_stamps(struct catalog *catalog, const struct times *times,
			       struct table *table, int64_t until_ms, int64_t now_ms, bool *more,
			       struct err *err)
{
	struct replica_group replicas;
	enum code code =
		forget_group_stamps(catalog, times, table, &replicas, until_ms, now_ms, more, err);

	replica_group_free(&replicas);
	return code;
}

/* Whether some row is old enough, without a transaction that writes. */
static enum code has_old_stamp(struct catalog *catalog, const struct table *table, int64_t until_ms,
			       bool *is_there, struct err *err)
{
	struct store_range range = replication_deleted_range(err->arena, until_ms);
	struct store_page page = {0};
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_page(txn, table_replication(table), &range,
			  (struct store_bounds){1, PIECE_BYTES}, err->arena, &page, err);
	store_abort(txn);
	*is_there = code == OK && page.n > 0;
	return code;
}

static enum code forget_old_stamps(struct catalog *catalog, const struct times *times,
				   struct table *table, int64_t kept_ms, bool *more,
				   struct err *err)
{
	bool is_there;
	int64_t now_ms;

	if (!times_tell(times, table, &now_ms) || now_ms <= kept_ms)
		return OK;
	enum code code = has_old_stamp(catalog, table, now_ms - kept_ms, &is_there, err);
	if (code != OK || !is_there)
		return code;
	return forget_stamps(catalog, times, table, now_ms - kept_ms, now_ms, more, err);
}

static enum code forget_table(struct catalog *catalog, const struct times *times,
			      struct table *table, int64_t kept_ms, bool *more, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	enum code code = forget_old_stamps(catalog, times, table, kept_ms, more, &own);
	if (code == ERR_TABLE_MOVED || code == ERR_RESOURCE_NOT_FOUND ||
	    code == ERR_CONFLICT) /* the next sweep sees the tables as they are */
		code = OK;
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	return code;
}

enum code replica_forget(struct catalog *catalog, const struct times *times, int64_t kept_ms,
			 bool *more, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct mark_walk walk = mark_walk_replicas(catalog, arena, NULL);
	const struct mark *mark;
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	*more = false;
	while (code == OK && mark_walk_next(&walk, &mark, err)) {
		struct table *table;

		code = catalog_marked(catalog, mark, &table, err);
		if (code != OK || !table)
			continue;
		code = forget_table(catalog, times, table, kept_ms, more, err);
		table_unref(table);
	}
	enum code walked = mark_walk_end(&walk);
	arena_free(arena);
	return code == OK ? walked : code;
}
