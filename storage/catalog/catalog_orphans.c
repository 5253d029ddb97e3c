#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/size_rows.h"
#include "storage/store/retry.h"

#define MARKS_PER_PAGE 100
#define ORPHAN_MS 60000

struct seen_process {
	uint64_t process;
	int64_t life, since_ms; /* its sign of life, and since when it is that */
	bool is_still_there;
};

void catalog_orphans_free(struct catalog_orphans *orphans)
{
	free(orphans->seen);
	*orphans = (struct catalog_orphans){0, NULL};
}

/* Whether the process of a mark has given no sign of life for so long that it must have ended. */
static bool is_ended(struct catalog *catalog, uint64_t process, int64_t life, int64_t now_ms)
{
	struct catalog_orphans *orphans = &catalog->sizes.orphans;

	for (size_t i = 0; i < orphans->n; i++) {
		struct seen_process *seen = &orphans->seen[i];

		if (seen->process != process)
			continue;
		seen->is_still_there = true;
		if (seen->life != life)
			seen->since_ms = now_ms;
		seen->life = life;
		return now_ms - seen->since_ms >= ORPHAN_MS;
	}
	orphans->seen =
		arena_checked(realloc(orphans->seen, (orphans->n + 1) * sizeof(*orphans->seen)));
	orphans->seen[orphans->n++] = (struct seen_process){process, life, now_ms, true};
	return false;
}

/* Counts the table again, if the numbers that hold are those that the process had changes of. */
static enum code replace_mark(struct store_txn *txn, struct arena *arena,
			      const struct size_mark *mark, struct err *err)
{
	struct currency_row row = {0};
	enum code code = currency_read(txn, mark->table, &row, err);

	if (code != OK)
		return code;
	if (row.is_there && COUNT_EPOCH(row.count) == mark->epoch && !COUNT_IS_COUNTING(row.count))
		code = catalog_count_begin(txn, arena, mark->table, mark->record, &row, err);
	return code == OK ? size_rows_del_mark(txn, arena, mark->process, mark->table, err) : code;
}

static enum code take_orphan(struct catalog *catalog, const struct size_mark *mark, struct err *err)
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
		code = store_end(txn, replace_mark(txn, arena, mark, err), err);
	} while (retry_again(&retry, code));
	arena_free(arena);
	atomic_store(&catalog->sizes.has_counts, true);
	return retry_code(code, err);
}

enum whose { OF_FIRST, OF_NEXT, OF_THIS };

static enum code read_marks_in(struct store_txn *txn, struct arena *arena, enum whose whose,
			       uint64_t *process, struct size_mark **marks, size_t *n,
			       int64_t *life, struct err *err)
{
	const struct size_mark before = {.process = *process,
					 .table = whose == OF_NEXT ? UINT64_MAX - 1 : 0};
	enum code code = size_rows_marks(txn, arena, whose == OF_FIRST ? NULL : &before,
					 whose == OF_THIS ? MARKS_PER_PAGE : 1, marks, n, err);

	if (code != OK || *n == 0)
		return code;
	if (whose != OF_THIS)
		*process = (*marks)[0].process;
	for (size_t i = 0; i < *n; i++) {
		if ((*marks)[i].process != *process)
			*n = i;
	}
	return *n > 0 ? size_rows_life(txn, *process, life, err) : OK;
}

/* Some marks of the process; or one of the first process, or of the next one, that has any
 * (*process). And its sign of life. */
static enum code read_marks(struct catalog *catalog, struct arena *arena, enum whose whose,
			    uint64_t *process, struct size_mark **marks, size_t *n, int64_t *life,
			    struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = read_marks_in(txn, arena, whose, process, marks, n, life, err);
	store_abort(txn);
	return code;
}

/* All marks of a process that ended. */
static enum code take_all(struct catalog *catalog, uint64_t process, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct size_mark *marks;
	int64_t life;
	size_t n = 1;
	enum code code = OK;

	while (code == OK && n > 0) {
		arena_reset(arena);
		code = read_marks(catalog, arena, OF_THIS, &process, &marks, &n, &life, err);
		for (size_t i = 0; i < n && code == OK; i++)
			code = take_orphan(catalog, &marks[i], err);
	}
	arena_free(arena);
	return code == OK ? size_rows_end_life(catalog->store, process, err) : code;
}

/* Forgets processes that have no marks any more. */
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
	struct size_mark *marks;
	uint64_t process = 0;
	enum whose whose = OF_FIRST;
	enum code code = OK;
	size_t n = 1;

	for (; code == OK && n > 0; whose = OF_NEXT) {
		int64_t life = 0;

		arena_reset(arena);
		code = read_marks(catalog, arena, whose, &process, &marks, &n, &life, err);
		if (code != OK || n == 0)
			break;
		/* without peers this is the start, and no other process lives */
		if (!catalog->options.has_peers ||
		    (process != catalog->sizes.process && is_ended(catalog, process, life, now_ms)))
			code = take_all(catalog, process, err);
	}
	if (code == OK)
		forget_gone(&catalog->sizes.orphans);
	arena_free(arena);
	return code;
}
