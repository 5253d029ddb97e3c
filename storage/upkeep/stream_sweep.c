#include "storage/upkeep/stream_sweep.h"

#include "storage/catalog/mark_walk.h"
#include "storage/stream/stream.h"
#include "storage/stream/stream_record.h"
#include "storage/stream/stream_shard.h"
#include "storage/upkeep/lease.h"

#define TRIM_PER_TRANSACTION 500 /* records, and as many shards: so that writers do not wait long */
#define RECORD_SIZE_MAX                                                                            \
	(2 * ITEM_SIZE_MAX) /* both images; what one record reads and writes is less */
#define LEASE "trim"

/* What may go: records of lane 0 from before a moment, and those of the further lanes from before
 * another one. */
struct ages {
	int64_t log_ms, stream_ms;
};

/* Whether the oldest record of a lane is to go. */
static enum code has_old_record(struct store_txn *txn, const struct table *table,
				const struct ages *ages, bool *has, struct err *err)
{
	enum code code = OK;

	*has = false;
	/* behind each record that was found, the next lane: those that have none are left out */
	for (unsigned lane = 0; lane <= STREAM_LANES && !*has; lane++) {
		struct stream_peek oldest;

		code = stream_record_peek(txn, table, stream_lane_base(lane), STREAM_SHARD_ALL,
					  false, &oldest, err);
		if (code != OK || !oldest.is_found)
			return code;
		lane = stream_lane_of(oldest.sequence);
		*has = oldest.created_ms < (lane ? ages->stream_ms : ages->log_ms);
	}
	return code;
}

/* Whether the oldest record, or the oldest of several shards, is to go. */
static enum code is_record_due(struct store *store, struct arena *arena, uint64_t number,
			       const struct ages *ages, bool *due, struct err *err)
{
	const struct table probe = {.identity = {.number = number}},
			   *table = &probe; /* its stream's rows are found by that */
	struct stream_shard *shards;
	struct store_txn *txn;
	bool has;
	size_t n;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = has_old_record(txn, table, ages, &has, err);
	if (code != OK) {
		store_abort(txn);
		return code;
	}
	code = stream_shard_list(txn, arena, table, 0, 2, &shards, &n, err);
	store_abort(txn);
	if (code != OK)
		return code;
	int64_t before_ms =
		n > 0 && stream_lane_of(shards[0].start) ? ages->stream_ms : ages->log_ms;
	*due = has || (n > 1 && shards[0].closed_ms > 0 && shards[0].closed_ms < before_ms);
	return code;
}

static enum code trim_some(const struct catalog *catalog, struct store *store, struct arena *arena,
			   const struct table *table, int64_t now_ms, bool *is_done,
			   struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = catalog_arm(catalog, txn,
			   (struct ns){table->identity.account, table->identity.region}, err);
	if (code != OK) {
		store_abort(txn);
		return code;
	}
	code = stream_trim(txn, arena, table,
			   store_units(store, TRIM_PER_TRANSACTION, RECORD_SIZE_MAX), now_ms,
			   is_done, err);
	return store_end(txn, code, err);
}

/* `err` is of a scratch arena, which each piece resets. */
static enum code trim_by_pieces(struct catalog *catalog, const struct table *table,
				struct leases *leases, int64_t now_ms, struct err *err)
{
	struct arena *scratch = err->arena;
	bool is_done = false, is_ours = true;

	while (is_ours) {
		arena_reset(scratch);
		*err = err_in(scratch);
		enum code code = trim_some(catalog, catalog_store(catalog), scratch, table, now_ms,
					   &is_done, err);
		if (code != OK || is_done)
			return code;
		code = lease_take(leases, STR(LEASE), &is_ours, NULL, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code sweep_under_lease(struct catalog *catalog, const struct mark *mark,
				   struct leases *leases, int64_t now_ms, struct err *err)
{
	bool is_ours = true;
	struct table *table;
	enum code code = lease_take(leases, STR(LEASE), &is_ours, NULL, err);

	if (code != OK || !is_ours)
		return code;
	code = catalog_marked(catalog, mark, &table, err);
	if (code != OK || !table)
		return code;
	bool is_gone = mark->is_deleted && table->streams.n > 0 &&
		       stream_is_gone(&table->streams.v[table->streams.n - 1], now_ms);
	code = is_gone ? catalog_forget(catalog, table, err)
		       : trim_by_pieces(catalog, table, leases, now_ms, err);
	table_unref(table);
	return code;
}

/* Removes what is due of the table's stream, piece by piece; the record of a deleted table goes
 * with the last of its streams. */
static enum code sweep_stream(struct catalog *catalog, const struct mark *mark,
			      struct leases *leases, int64_t now_ms, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	enum code code = sweep_under_lease(catalog, mark, leases, now_ms, &own);
	/* deleted meanwhile; or another process trims, or writes, where this one does: the next
	 * round sees what is left */
	if (code == ERR_RESOURCE_NOT_FOUND || code == ERR_CONFLICT)
		code = OK;
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	return code;
}

/* Records from before this moment may go. Where the table's log has reasons of its own, its record
 * says which. */
static enum code keeps_from(struct catalog *catalog, const struct mark *mark, int64_t now_ms,
			    int64_t *from_ms, struct err *err)
{
	struct table *table = NULL;
	enum code code = mark->has_stream ? OK : catalog_marked(catalog, mark, &table, err);

	*from_ms = code == OK && table ? stream_keeps_from(table, now_ms)
				       : now_ms - STREAM_RETENTION_MS;
	table_unref(table);
	return code;
}

static enum code is_stream_due(struct catalog *catalog, const struct mark *mark, int64_t now_ms,
			       bool *due, struct err *err)
{
	struct ages ages = {.stream_ms = now_ms - STREAM_RETENTION_MS};

	*due = mark->ms < now_ms;
	if (*due)
		return OK;
	enum code code = keeps_from(catalog, mark, now_ms, &ages.log_ms, err);
	if (code != OK)
		return code;
	return is_record_due(catalog_store(catalog), err->arena, mark->number, &ages, due, err);
}

static enum code sweep_if_due(struct catalog *catalog, const struct times *times,
			      const struct mark *mark, int64_t now_ms, struct err *err)
{
	bool due;
	enum code code = is_stream_due(catalog, mark, now_ms, &due, err);

	if (code == ERR_RESOURCE_NOT_FOUND) /* deleted since */
		return OK;
	if (code != OK || !due)
		return code;
	return sweep_stream(catalog, mark, times->leases, now_ms, err);
}

static enum code look_at_stream(struct catalog *catalog, const struct times *times,
				const struct mark *mark, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	enum code code = OK;
	int64_t now_ms;

	if (times->tell(times->context, mark->ns, &now_ms))
		code = sweep_if_due(catalog, times, mark, now_ms, &own);
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	return code;
}

enum code stream_sweep(struct catalog *catalog, const struct times *times, struct err *err)
{
	struct mark_walk walk = mark_walk_begin(catalog, MARK_LOG);
	const struct mark *mark;
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	while (code == OK && mark_walk_next(&walk, &mark, err))
		code = look_at_stream(catalog, times, mark, err);
	enum code walked = mark_walk_end(&walk);
	return code == OK ? walked : code;
}
