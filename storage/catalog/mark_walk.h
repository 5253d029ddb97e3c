/*
 * mark_walk - goes through the marks of tables (table_rows.h) page by page: through all tables with
 * TTL, with a stream, with work to do.
 */
#ifndef DYNALITH_STORAGE_MARK_WALK_H
#define DYNALITH_STORAGE_MARK_WALK_H

#include "storage/catalog/catalog.h"

/* The next page of marks, in the arena; a limit of 0 is one that suits a short transaction. */
enum code mark_walk_page(struct catalog *catalog, struct arena *arena, struct marks *marks,
			struct err *err) WARN_UNUSED;
/*
 * All marks of a kind, page by page, each page in a short transaction:
 *
 *     struct mark_walk walk = mark_walk_begin(catalog, MARK_TTL);
 *     while (mark_walk_next(&walk, &mark, err))
 *             use *mark, which is valid until the next one is asked for
 *     code = mark_walk_end(&walk);
 */
struct mark_walk {
	struct catalog *catalog;
	struct marks marks;
	struct arena *pages[2]; /* by turns: the next page begins behind a key of this one */
	unsigned turn;
	size_t at;
	enum code code;
};

struct mark_walk mark_walk_begin(struct catalog *catalog, enum mark_kind kind);
/* The replicas of global tables, of the account of `ns` (NULL: of all). `arena` must last as long
 * as the walk. */
struct mark_walk mark_walk_replicas(struct catalog *catalog, struct arena *arena,
				       const struct ns *ns);
/* False where there is no further one, or the store failed. */
bool mark_walk_next(struct mark_walk *walk, const struct mark **mark, struct err *err);
enum code mark_walk_end(struct mark_walk *walk) WARN_UNUSED;

#endif
