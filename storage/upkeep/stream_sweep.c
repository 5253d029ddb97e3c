#include "storage/upkeep/stream_sweep.h"

#include "storage/messages.h"
#include "storage/stream/stream_record.h"
#include "storage/stream/stream_shard.h"
#include "storage/upkeep/lease.h"

#define TRIM_PER_TRANSACTION 500 /* records, and as many shards: so that writers do not wait long */
#define LEASE "trim"

/* Whether the oldest record, or the oldest of several shards, is to go. */
static enum code is_due(struct store *store, struct arena *arena, const struct table *table, int64_t before_ms, bool *due, struct err *err)
{
	struct stream_shard *shards;
	struct stream_peek oldest;
	struct store_txn *txn;
	size_t n;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = stream_record_peek(txn, table, 0, 0, false, &oldest, err);
	if (code == OK)
		code = stream_shard_list(txn, arena, table, 0, 2, &shards, &n, err);
	store_abort(txn);
	*due = code == OK && ((oldest.is_found && oldest.created_ms < before_ms) || (n > 1 && shards[0].closed_ms > 0 && shards[0].closed_ms < before_ms));
	return code;
}

static enum code trim_some(const struct catalog *catalog, struct store *store, struct arena *arena, const struct table *table, int64_t now_ms,
			   bool *is_done, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = catalog_arm(catalog, txn, (struct ns){table->identity.account, table->identity.region}, err);
	if (code == OK)
		code = stream_trim(txn, arena, table, TRIM_PER_TRANSACTION, now_ms, is_done, err);
	if (code == OK)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

static enum code sweep_table(struct catalog *catalog, struct table *table, struct leases *leases, int64_t now_ms, struct err *err)
{
	struct store *store = catalog_store(catalog);
	struct arena *scratch = arena_new(0);
	bool is_gone = table->state.status == STATUS_DELETING && stream_is_gone(&table->streams.v[table->streams.n - 1], now_ms);
	bool due = is_gone, is_done = false, is_ours = true;
	enum code code = OK;

	if (!is_gone)
		code = is_due(store, scratch, table, stream_keeps_from(table, now_ms), &due, err);
	if (due && code == OK)
		code = lease_take(leases, STR(LEASE), &is_ours, NULL, err);
	if (is_gone && is_ours && code == OK)
		code = catalog_forget(catalog, table, err);
	while (!is_gone && due && is_ours && !is_done && code == OK) {
		arena_reset(scratch);
		code = trim_some(catalog, store, scratch, table, now_ms, &is_done, err);
		if (!is_done && code == OK)
			code = lease_take(leases, STR(LEASE), &is_ours, NULL, err);
	}
	arena_free(scratch);
	/* deleted meanwhile; or another process trims, or writes, where this one does: the next round sees what is left */
	return code == ERR_RESOURCE_NOT_FOUND || code == ERR_CONFLICT ? OK : code;
}

enum code stream_sweep(struct catalog *catalog, const struct times *times, struct err *err)
{
	struct table_list list = {0, NULL};
	enum code code = catalog_refresh(catalog, err);

	if (code == OK)
		code = catalog_streamed(catalog, NULL, STR_ABSENT, err->arena, &list, err);
	struct table **tables = list.v;
	for (size_t i = 0; i < list.n; i++) {
		int64_t now_ms;

		if (code == OK && times_tell(times, tables[i], &now_ms))
			code = sweep_table(catalog, tables[i], times->leases, now_ms, err);
		table_unref(tables[i]);
	}
	return code;
}
