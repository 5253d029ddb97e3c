#include "storage/upkeep/ttl.h"

#include "storage/expiry.h"
#include "storage/upkeep/lease.h"
#include "storage/write/write.h"

#define ROWS_PER_BATCH 64 /* deleted in one transaction: other writers wait that long */
#define LEASE "expire"

static enum code find_due(struct catalog *catalog, struct arena *arena, const struct table *table, int64_t due_ms, struct store_page *due, struct err *err)
{
	struct store_range range = {STR_ABSENT, expiry_bound(arena, due_ms), false};
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = store_page(txn, table_expiry(table), &range, (struct store_bounds){.rows = ROWS_PER_BATCH}, arena, due, err);
	store_abort(txn);
	return code;
}

/* What was written since the rows were found is seen by the write path: it deletes only what is still expired. */
static enum code delete_due(struct catalog *catalog, struct arena *arena, struct table *table, const struct store_page *due, int64_t now_ms,
			    uint64_t *deleted, struct err *err)
{
	struct write *writes = ARENA_ARRAY(arena, struct write, due->n);

	for (size_t i = 0; i < due->n; i++) {
		writes[i].table = table;
		writes[i].kind = WRITE_DELETE;
		writes[i].row_key = expiry_item(due->v[i].key);
		writes[i].expiry_row = due->v[i].key;
	}
	enum code code = write_run(catalog, arena, writes, due->n, WRITE_BATCH, NULL, now_ms, err);
	for (size_t i = 0; i < due->n && code == OK; i++)
		*deleted += str_is_set(writes[i].old_image) && !str_is_set(writes[i].new_image);
	return code;
}

enum code ttl_sweep(struct catalog *catalog, const struct times *times, int64_t delay_ms, uint64_t *deleted, bool *more, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct table_list list = {0, NULL};
	enum code code = catalog_refresh(catalog, err);

	*more = false;
	if (code == OK)
		code = catalog_with_ttl(catalog, arena, &list, err);
	struct table **tables = list.v;
	size_t n = list.n;
	for (size_t i = 0; i < n && code == OK; i++) {
		struct store_page due = {0};
		bool is_ours = true;
		int64_t now_ms;

		if (!times_tell(times, tables[i], &now_ms))
			continue;
		code = find_due(catalog, arena, tables[i], now_ms - delay_ms, &due, err);
		if (code == OK && due.n > 0)
			code = lease_take(times->leases, STR(LEASE), &is_ours, NULL, err);
		if (!is_ours) {
			*more = false;
			break;
		}
		if (code == OK && due.n > 0)
			code = delete_due(catalog, arena, tables[i], &due, now_ms, deleted, err);
		*more = *more || due.n == ROWS_PER_BATCH || code == ERR_TABLE_MOVED;
		/* changed or deleted meanwhile: the next call sees it as it is now */
		if (code == ERR_TABLE_MOVED || code == ERR_RESOURCE_NOT_FOUND)
			code = OK;
	}
	for (size_t i = 0; i < n; i++)
		table_unref(tables[i]);
	arena_free(arena);
	return code;
}
