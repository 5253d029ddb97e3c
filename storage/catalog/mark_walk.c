#include "storage/catalog/mark_walk.h"

#define MARK_WALK_ROWS 100

enum code mark_walk_page(struct catalog *catalog, struct arena *arena, struct marks *marks,
			struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	if (!marks->limit)
		marks->limit = MARK_WALK_ROWS;
	code = table_rows_marks(txn, arena, marks, err);
	store_abort(txn);
	return code;
}

struct mark_walk mark_walk_begin(struct catalog *catalog, enum mark_kind kind)
{
	return (struct mark_walk){.catalog = catalog,
				  .marks = {.kind = kind, .is_more = true},
				  .pages = {arena_new(0), arena_new(0)}};
}

struct mark_walk mark_walk_replicas(struct catalog *catalog, struct arena *arena,
				       const struct ns *ns)
{
	struct mark_walk walk = mark_walk_begin(catalog, MARK_GLOBAL);

	if (ns)
		walk.marks.within = table_rows_named(arena, ns->account);
	return walk;
}

bool mark_walk_next(struct mark_walk *walk, const struct mark **mark, struct err *err)
{
	while (walk->code == OK && walk->at == walk->marks.n && walk->marks.is_more) {
		walk->turn ^= 1;
		arena_reset(walk->pages[walk->turn]);
		walk->at = 0;
		walk->code =
			mark_walk_page(walk->catalog, walk->pages[walk->turn], &walk->marks, err);
	}
	if (walk->code != OK || walk->at == walk->marks.n)
		return false;
	*mark = &walk->marks.v[walk->at++];
	return true;
}

enum code mark_walk_end(struct mark_walk *walk)
{
	arena_free(walk->pages[0]);
	arena_free(walk->pages[1]);
	return walk->code;
}
