#include "storage/upkeep/ttl.h"

#include "storage/catalog/mark_walk.h"
#include "storage/expiry.h"
#include "storage/store/row.h"
#include "storage/upkeep/lease.h"
#include "storage/write/write.h"

#define ROWS_PER_BATCH 64 /* deleted in one transaction: other writers wait that long */
#define LEASE "expire"

static enum code find_expired(struct catalog *catalog, struct arena *arena, const struct mark *mark,
			      int64_t due_ms, struct store_page *due, struct err *err)
{
	struct store_range range = {STR_ABSENT, expiry_bound(arena, due_ms), false};
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_page(txn, (struct keyspace){mark->number, PART_EXPIRY}, &range,
			  (struct store_bounds){.rows = ROWS_PER_BATCH}, arena, due, err);
	store_abort(txn);
	return code == ERR_RESOURCE_NOT_FOUND ? OK : code; /* time to live was disabled since */
}

/* What was written since the rows were found is seen by the write path: it deletes only what is
 * still expired. */
static enum code delete_due(struct catalog *catalog, struct arena *arena, struct table *table,
			    const struct store_page *due, int64_t now_ms, uint64_t *deleted,
			    struct err *err)
{
	struct write *writes = ARENA_ARRAY(arena, struct write, due->n);
	int64_t seconds;

	for (size_t i = 0; i < due->n; i++) {
		writes[i].table = table;
		writes[i].kind = WRITE_DELETE;
		writes[i].expiry_row = due->v[i].key;
		if (!expiry_read(due->v[i].key, &seconds, &writes[i].row_key))
			return row_malformed(err, table_expiry(table), due->v[i].key);
	}
	enum code code = write_run(catalog, arena, writes, due->n, WRITE_BATCH, NULL, now_ms, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < due->n; i++)
		*deleted += str_is_set(writes[i].old_image) && !str_is_set(writes[i].new_image);
	return OK;
}

struct sweep {
	struct catalog *catalog;
	struct arena *arena;      /* for one table */
	const struct times *times;
	int64_t delay_ms;
	uint64_t *deleted;
	bool is_ours;             /* no other process does it */
	bool more;
};

/* The items that are due of a table where some are. A table that is changed or deleted meanwhile is
 * seen as it is then by the next call. */
static enum code sweep_expired(struct sweep *sweep, const struct mark *mark, struct err *err)
{
	struct store_page due = {0};
	struct table *table = NULL;
	int64_t now_ms;

	if (!sweep->times->tell(sweep->times->context, mark->ns, &now_ms))
		return OK;
	enum code code = find_expired(sweep->catalog, sweep->arena, mark, now_ms - sweep->delay_ms,
				      &due, err);
	if (code != OK || due.n == 0)
		return code;
	code = lease_take(sweep->times->leases, STR(LEASE), &sweep->is_ours, NULL, err);
	if (code != OK || !sweep->is_ours)
		return code;
	code = catalog_marked(sweep->catalog, mark, &table, err);
	if (code != OK || !table)
		return code;
	if (table->ttl.is_enabled)
		code = delete_due(sweep->catalog, sweep->arena, table, &due, now_ms, sweep->deleted,
				  err);
	table_unref(table);
	sweep->more = sweep->more || due.n == ROWS_PER_BATCH || code == ERR_TABLE_MOVED;
	return code == ERR_TABLE_MOVED || code == ERR_RESOURCE_NOT_FOUND ? OK : code;
}

enum code ttl_sweep(struct catalog *catalog, const struct times *times, int64_t delay_ms,
		    uint64_t *deleted, bool *more, struct err *err)
{
	struct sweep sweep = {.catalog = catalog,
			      .arena = arena_new(0),
			      .times = times,
			      .delay_ms = delay_ms,
			      .deleted = deleted,
			      .is_ours = true};
	struct mark_walk walk = mark_walk_begin(catalog, MARK_TTL);
	const struct mark *mark;
	enum code code = clocks_refresh(catalog_options(catalog)->clocks, err);

	while (code == OK && sweep.is_ours && mark_walk_next(&walk, &mark, err)) {
		arena_reset(sweep.arena);
		struct err own = err_in(sweep.arena);
		code = sweep_expired(&sweep, mark, &own);
		if (code != OK)
			err_copy(err, code, own.message);
	}
	enum code walked = mark_walk_end(&walk);
	*more = sweep.more && sweep.is_ours;
	arena_free(sweep.arena);
	return code == OK ? walked : code;
}
