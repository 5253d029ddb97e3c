#include "storage/upkeep/replica.h"

#include <stdlib.h>

#include "storage/catalog/mark_walk.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"
#include "storage/upkeep/lease.h"
#include "storage/upkeep/replica_leave.h"
#include "storage/write/write.h"

#define PIECE_ROWS 64 /* repeated in one transaction: other writers wait that long */
#define PIECE_BYTES ((size_t)1024 * 1024)
#define COUNT_ROWS 1000                   /* of a queue counted at a time */

static struct ns ns_at(const struct table *table, struct str region)
{
	return (struct ns){table->identity.account, region};
}

/* The row of how far a filling came, in the keyspace of what is filled. */
#define PROGRESS STR("f")

/* A piece of the items of the replica from which another is filled, with their stamps. */
static enum code read_replica_source(struct store_txn *txn, struct arena *arena,
				     const struct table *source, const struct table *table,
				     size_t rows, struct store_page *page,
				     struct write_change **changes, struct err *err)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	enum code code = store_get(txn, table_replication(table), PROGRESS, arena, &range.low, err);

	if (code != OK)
		return code;
	code = store_page(txn, table_items(source), &range,
			  (struct store_bounds){rows, PIECE_BYTES}, arena, page, err);
	if (code != OK)
		return code;
	struct store_key *keys = ARENA_ARRAY(arena, struct store_key, page->n);
	struct str *stamps = ARENA_ARRAY(arena, struct str, page->n);
	*changes = ARENA_ARRAY(arena, struct write_change, page->n);
	for (size_t i = 0; i < page->n; i++)
		keys[i] = (struct store_key){table_replication(source),
					     replication_item_key(arena, page->v[i].key)};
	code = store_get_many(txn, keys, page->n, arena, stamps, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page->n; i++) {
		(*changes)[i] = (struct write_change){
			.row_key = page->v[i].key, .image = page->v[i].value, .queued = STR_ABSENT};
		if (!replication_stamp_decode(stamps[i], &(*changes)[i].stamp))
			code = row_malformed(err, keys[i].keyspace, keys[i].key);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code put_replica_row(struct store *store, struct keyspace keyspace, struct str key,
				 struct str value, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = store_put(txn, keyspace, key, value, err);
	return store_end(txn, code, err);
}

/* The replica is whole. Where its creation takes a time of its own, it is CREATING until then. */
static enum code finish_replica(struct catalog *catalog, struct table *table, int64_t now_ms,
				struct err *err)
{
	struct table *next = table_clone(table);
	int64_t ends_ms =
		table->identity.created_ms + catalog_options(catalog)->transient_status_ms;

	if (ends_ms < table->group.ready_ms)
		ends_ms = table->group.ready_ms;
	next->group.filling = STR_ABSENT;
	next->state.settles_ms = ends_ms > now_ms ? ends_ms : 0;
	if (ends_ms <= now_ms) {
		next->state.status = STATUS_ACTIVE;
		for (size_t i = 0; i < table_index_total(next); i++)
			table_index_at(next, i)->status = STATUS_ACTIVE;
	}
	return catalog_replace(catalog, table, next, err);
}

enum code replica_fill(struct catalog *catalog, struct table *table, size_t rows, int64_t now_ms,
		       bool *more, struct err *err)
{
	struct arena *arena = err->arena;
	struct store *store = catalog_store(catalog);
	struct write_change *changes;
	struct store_page page = {0};
	struct store_txn *txn;
	struct table *source;
	enum code code = catalog_get(catalog, ns_at(table, table->group.filling),
				     table->identity.name, now_ms, &source, err);

	*more = false;
	if (code == ERR_RESOURCE_NOT_FOUND) /* it was reset: what it had is gone */
		return finish_replica(catalog, table, now_ms, err);
	if (code != OK)
		return code;
	code = store_begin(store, STORE_READ, &txn, err);
	if (code != OK) {
		table_unref(source);
		return code;
	}
	code = read_replica_source(txn, arena, source, table, rows, &page, &changes, err);
	store_abort(txn);
	table_unref(source);
	if (code != OK)
		return code;
	if (page.n > 0)
		code = write_repeat(catalog, arena, table, changes, page.n, now_ms, err);
	if (code != OK)
		return code;
	*more = page.is_more;
	if (!page.is_more)
		return finish_replica(catalog, table, now_ms, err);
	struct store_range rest = {STR_ABSENT, STR_ABSENT, false};
	store_range_after(&rest, &page, arena);
	return put_replica_row(store, table_replication(table), PROGRESS, rest.low, err);
}

/* A replica whose queue from one region is looked at. */
struct pair {
	struct catalog *catalog;
	struct arena *arena;
	struct table *table;
	struct str from;
	int64_t now_ms, source_ms; /* by the clocks of the two regions */
};

/* The regions of the group, its witness among them. */
static bool comes_through(struct arena *arena, const struct links *links, const struct table *table,
			  struct str from)
{
	struct str *regions = ARENA_ARRAY(arena, struct str, table->group.n + 2);
	size_t n = 0;

	if (!table->group.is_strong)
		return links_reach(links, from, table->identity.region);
	regions[n++] = table->identity.region;
	for (size_t i = 0; i < table->group.n; i++)
		regions[n++] = table->group.v[i].region;
	if (str_is_set(table->group.witness))
		regions[n++] = table->group.witness;
	return links_connect(links, from, table->identity.region, regions, n);
}

static bool has_item(const struct write_change *changes, size_t n, struct str row_key)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(changes[i].row_key, row_key))
			return true;
	}
	return false;
}

/* The first changes of the page that are due, of different items. */
static enum code find_due_changes(const struct pair *pair, const struct links *links,
				  const struct store_page *page, struct write_change *changes,
				  size_t *n, struct err *err)
{
	int64_t lag_ms = pair->table->group.is_strong ? 0 : links->lag_ms;

	*n = 0;
	for (size_t i = 0; i < page->n; i++) {
		struct replication_queued queued;

		if (!replication_queue_decode(page->v[i].key, page->v[i].value, &queued))
			return row_malformed(err, table_replication(pair->table), page->v[i].key);
		if ((lag_ms > 0 && queued.written_ms + lag_ms > pair->source_ms) ||
		    has_item(changes, *n, queued.row_key))
			break;
		changes[(*n)++] = (struct write_change){queued.row_key, queued.image, queued.stamp,
							page->v[i].key};
	}
	return OK;
}

static enum code read_queue(const struct pair *pair, struct links *links, struct store_page *page,
			    struct err *err)
{
	struct store_range range = replication_queue_range(pair->arena, pair->from);
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(pair->catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = links_read(txn, pair->arena, pair->table->identity.account,
			  catalog_options(pair->catalog)->replication_lag_ms, links, err);
	if (code != OK) {
		store_abort(txn);
		return code;
	}
	code = store_page(txn, table_replication(pair->table), &range,
			  (struct store_bounds){PIECE_ROWS, PIECE_BYTES}, pair->arena, page, err);
	store_abort(txn);
	return code;
}

/* *n: how many changes of the page are due. */
static enum code repeat_due_changes(const struct pair *pair, struct leases *leases,
				    const struct links *links, const struct store_page *page,
				    struct replica_work *work, size_t *n, bool *is_ours,
				    struct err *err)
{
	struct write_change *changes = ARENA_ARRAY(pair->arena, struct write_change, page->n);
	enum code code = find_due_changes(pair, links, page, changes, n, err);

	if (code != OK || *n == 0)
		return code;
	struct str lease = str_printf(pair->arena, "replicate/%llu",
				      (unsigned long long)pair->table->identity.number);
	code = lease_take(leases, lease, is_ours, NULL, err);
	if (code != OK || !*is_ours)
		return code;
	code = write_repeat(pair->catalog, pair->arena, pair->table, changes, *n, pair->now_ms,
			    err);
	work->repeated += code == OK ? *n : 0;
	work->is_more = work->is_more || *n < page->n || page->is_more;
	return code;
}

static enum code step_pair(const struct pair *pair, struct leases *leases,
			   struct replica_work *work, struct err *err)
{
	struct links links;
	struct store_page page = {0};
	bool is_ours = true;
	size_t n = 0;
	enum code code = read_queue(pair, &links, &page, err);

	if (code != OK || page.n == 0)
		return code;
	if (comes_through(pair->arena, &links, pair->table, pair->from))
		code = repeat_due_changes(pair, leases, &links, &page, work, &n, &is_ours, err);
	work->is_waiting = work->is_waiting || !is_ours || n < page.n;
	return code;
}

/* One that is to leave its group does so when its queues are empty. */
static enum code step_leaving(struct catalog *catalog, struct table *table, int64_t now_ms,
			      struct replica_work *work, struct err *err)
{
	bool is_waiting;
	enum code code = replica_leave(catalog, table, now_ms, &is_waiting, err);

	work->is_waiting = work->is_waiting || code != OK || is_waiting;
	return code == ERR_TABLE_MOVED || code == ERR_RESOURCE_NOT_FOUND || code == ERR_CONFLICT
		       ? OK
		       : code; /* the next step sees the table as it is */
}

/* All queues of one replica. */
static enum code step_replica_queues(struct catalog *catalog, const struct times *times,
				     struct table *table, struct replica_work *work,
				     struct err *err)
{
	enum code code = OK;
	int64_t now_ms;

	if (!times_tell(times, table, &now_ms))
		return OK;
	for (size_t i = 0; i < table->group.n; i++) {
		struct arena *scratch = arena_new(0);
		struct err own = err_in(scratch);
		struct pair pair = {catalog, scratch, table, table->group.v[i].region,
				    now_ms,  now_ms};
		struct replica_work found = {0};

		if (times->tell(times->context, ns_at(table, pair.from), &pair.source_ms))
			code = step_pair(&pair, times->leases, &found, &own);
		if (code == ERR_TABLE_MOVED || code == ERR_RESOURCE_NOT_FOUND ||
		    code == ERR_CONFLICT) { /* the next step sees the table as it is */
			code = OK;
			found.is_more = true;
		}
		work->repeated += found.repeated;
		work->is_more =
			work->is_more || (found.is_more && (found.repeated > 0 || code != OK));
		work->is_waiting = work->is_waiting || found.is_waiting;
		if (code != OK)
			err_copy(err, code, own.message);
		arena_free(scratch);
		if (code != OK)
			return code;
	}
	return table->group.is_leaving ? step_leaving(catalog, table, now_ms, work, err) : OK;
}

enum code replica_step(struct catalog *catalog, const struct times *times, const struct ns *ns,
		       struct replica_work *work, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct mark_walk walk = mark_walk_replicas(catalog, arena, ns);
	const struct mark *mark;
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	*work = (struct replica_work){0};
	while (code == OK && mark_walk_next(&walk, &mark, err)) {
		struct table *table;

		code = catalog_marked(catalog, mark, &table, err);
		if (code != OK || !table)
			continue;
		code = step_replica_queues(catalog, times, table, work, err);
		table_unref(table);
	}
	enum code walked = mark_walk_end(&walk);
	arena_free(arena);
	return code == OK ? walked : code;
}

/* Counts the rows of a queue, page by page. */
static enum code count_queue(struct store_txn *txn, const struct table *table, struct str from,
			     struct replica_queue *queue, struct err *err)
{
	struct arena *scratch = arena_new(0), *ends = arena_new(0);
	struct store_range range = replication_queue_range(ends, from);
	struct store_page page = {.is_more = true};
	enum code code = OK;

	while (code == OK && page.is_more) {
		code = store_page(txn, table_replication(table), &range,
				  (struct store_bounds){COUNT_ROWS, PIECE_BYTES}, scratch, &page,
				  err);
		for (size_t i = 0; i < page.n && code == OK; i++) {
			queue->rows++;
			queue->bytes += page.v[i].key.n + page.v[i].value.n;
		}
		if (code == OK && page.is_more)
			store_range_after(&range, &page, ends);
		arena_reset(scratch);
	}
	arena_free(scratch);
	arena_free(ends);
	return code;
}

static struct replica_queue *queue_of(struct arena *arena, struct replica_queue **queues, size_t *n,
				      struct str from, struct str to)
{
	for (size_t i = 0; i < *n; i++) {
		if (str_eq((*queues)[i].from, from) && str_eq((*queues)[i].to, to))
			return &(*queues)[i];
	}
	*queues = arena_room(arena, *queues, *n, sizeof(**queues));
	(*queues)[*n] = (struct replica_queue){str_copy(arena, from), str_copy(arena, to), 0, 0};
	return &(*queues)[(*n)++];
}

static int by_regions(const void *a, const void *b)
{
	const struct replica_queue *left = a, *right = b;
	int order = str_cmp(left->from, right->from);

	return order ? order : str_cmp(left->to, right->to);
}

/* Adds the queues of one replica. */
static enum code add_queues(struct store_txn *txn, struct arena *arena, const struct table *table,
			    struct replica_queue **queues, size_t *n, struct err *err)
{
	for (size_t k = 0; k < table->group.n; k++) {
		struct replica_queue found = {0};
		enum code code = count_queue(txn, table, table->group.v[k].region, &found, err);

		if (code != OK)
			return code;
		if (found.rows == 0)
			continue;
		struct replica_queue *queue = queue_of(arena, queues, n, table->group.v[k].region,
						       table->identity.region);
		queue->rows += found.rows;
		queue->bytes += found.bytes;
	}
	return OK;
}

static enum code count_queues(struct catalog *catalog, struct arena *arena, const struct mark *mark,
			      struct replica_queue **queues, size_t *n, struct err *err)
{
	struct store_txn *txn;
	struct table *table;
	enum code code = catalog_marked(catalog, mark, &table, err);

	if (code != OK || !table)
		return code;
	code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);
	if (code != OK) {
		table_unref(table);
		return code;
	}
	code = add_queues(txn, arena, table, queues, n, err);
	store_abort(txn);
	table_unref(table);
	return code;
}

static enum code read_links(struct catalog *catalog, struct arena *arena, struct str account,
			    struct links *links, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = links_read(txn, arena, account, catalog_options(catalog)->replication_lag_ms, links,
			  err);
	store_abort(txn);
	return code;
}

enum code replica_queues(struct catalog *catalog, struct arena *arena, struct str account,
			 struct links *links, struct replica_queue **queues, size_t *n,
			 struct err *err)
{
	struct ns ns = {account, STR_ABSENT};
	struct mark_walk walk = mark_walk_replicas(catalog, arena, &ns);
	const struct mark *mark;
	enum code code = read_links(catalog, arena, account, links, err);

	*queues = NULL;
	*n = 0;
	while (code == OK && mark_walk_next(&walk, &mark, err))
		code = count_queues(catalog, arena, mark, queues, n, err);
	enum code walked = mark_walk_end(&walk);
	if (*n)
		qsort(*queues, *n, sizeof(**queues), by_regions);
	return code == OK ? walked : code;
}

enum code replica_set_links(struct catalog *catalog, struct str account, const struct links *links,
			    struct err *err)
{
	struct retry retry = {0};
	struct store_txn *txn;
	enum code code;

	do {
		code = store_begin(catalog_store(catalog), STORE_WRITE, &txn, err);
		if (code != OK)
			break;
		code = store_end(txn, links_write(txn, err->arena, account, links, err), err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}
