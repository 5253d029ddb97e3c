#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/size_rows.h"
#include "storage/store/retry.h"

#define MARKS_PER_PAGE 100
#define ORPHAN_MS 60000

struct seen_mark {
	uint64_t process, table, flushes;
	int64_t since_ms;
	bool is_still_there;
};

void catalog_orphans_free(struct catalog_orphans *orphans)
{
	free(orphans->seen);
	*orphans = (struct catalog_orphans){0, NULL};
}

/* Whether the mark has not changed for so long that its process must have ended. */
static bool is_orphan(struct catalog *catalog, const struct size_mark *mark, int64_t now_ms)
{
	struct catalog_orphans *orphans = &catalog->sizes.orphans;

	if (!catalog->options.has_peers) /* and this is the start */
		return true;
	if (mark->process == catalog->sizes.process)
		return false;
	for (size_t i = 0; i < orphans->n; i++) {
		struct seen_mark *seen = &orphans->seen[i];

		if (seen->process != mark->process || seen->table != mark->table)
			continue;
		seen->is_still_there = true;
		if (seen->flushes != mark->flushes)
			seen->since_ms = now_ms;
		seen->flushes = mark->flushes;
		return now_ms - seen->since_ms >= ORPHAN_MS;
	}
	orphans->seen = arena_checked(realloc(orphans->seen, (orphans->n + 1) * sizeof(*orphans->seen)));
	orphans->seen[orphans->n++] = (struct seen_mark){mark->process, mark->table, mark->flushes, now_ms, true};
	return false;
}

/* Counts the table again, if the numbers that hold are those that the process had changes of. */
static enum code replace_mark(struct store_txn *txn, struct arena *arena, const struct size_mark *mark, struct err *err)
{
	struct currency_row row = {0};
	enum code code = currency_read(txn, mark->table, &row, err);

	if (code == OK && row.is_there && COUNT_EPOCH(row.count) == mark->epoch && !COUNT_IS_COUNTING(row.count))
		code = catalog_count_begin(txn, arena, mark->table, mark->record, &row, err);
	return code == OK ? size_rows_del_mark(txn, arena, mark->process, mark->table, err) : code;
}

static enum code take(struct catalog *catalog, const struct size_mark *mark, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct retry retry = {0};
	struct store_txn *txn;
	enum code code;

	do {
		arena_reset(arena);
		code = store_begin(catalog->store, STORE_WRITE, &txn, err);
		if (code != OK)
			continue;
		code = replace_mark(txn, arena, mark, err);
		if (code == OK)
			code = store_commit(txn, err);
		else
			store_abort(txn);
	} while (retry_again(&retry, code));
	arena_free(arena);
	atomic_store(&catalog->sizes.has_counts, true);
	return retry_code(code, err);
}

static enum code read_marks(struct catalog *catalog, struct arena *arena, const struct size_mark *after, struct size_mark **marks, size_t *n,
			    struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = size_rows_marks(txn, arena, after, MARKS_PER_PAGE, marks, n, err);
	store_abort(txn);
	return code;
}

/* Forgets marks that are not there any more. */
static void forget_gone(struct catalog_orphans *orphans)
{
	size_t n = 0;

	for (size_t i = 0; i < orphans->n; i++) {
		if (!orphans->seen[i].is_still_there)
			continue;
		orphans->seen[i].is_still_there = false;
		orphans->seen[n++] = orphans->seen[i];
	}
	orphans->n = n;
}

enum code catalog_orphans_take(struct catalog *catalog, int64_t now_ms, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct size_mark *marks = NULL;
	size_t n = MARKS_PER_PAGE;
	enum code code = OK;

	while (code == OK && n == MARKS_PER_PAGE) {
		code = read_marks(catalog, arena, marks ? &marks[n - 1] : NULL, &marks, &n, err);
		for (size_t i = 0; i < n && code == OK; i++) {
			if (is_orphan(catalog, &marks[i], now_ms))
				code = take(catalog, &marks[i], err);
		}
	}
	if (code == OK)
		forget_gone(&catalog->sizes.orphans);
	arena_free(arena);
	return code;
}
