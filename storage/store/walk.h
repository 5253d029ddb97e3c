/*
 * walk - goes through the rows of a range, whatever their number, page by page.
 *
 *     struct walk walk = walk_begin(txn, keyspace, &range, err);
 *     while (walk_next(&walk, &row))
 *             use row.key and row.value, which are valid until the next row is asked for
 *     code = walk_end(&walk);
 *
 * It keeps one page in memory and reads at most twice as many rows as are asked for, and a few. The
 * transaction may be used meanwhile, also to write: a page does not show what is written after it
 * was read.
 */
#ifndef DYNALITH_STORAGE_STORE_WALK_H
#define DYNALITH_STORAGE_STORE_WALK_H

#include "storage/store/store.h"

struct walk {
	struct store_txn *txn;
	struct keyspace keyspace;
	const struct store_reference
		*reference;        /* NULL; may be set before the first row is asked for */
	struct store_range range;  /* what is left of it */
	struct arena *pages[2];    /* by turns: the bound of the next page is a key of this one */
	unsigned turn;
	size_t rows;               /* of the next page, at most */
	struct store_page page;
	size_t at;                 /* in the page */
	struct err *err;
	enum code code;
};

/* The bounds of the range must be valid until walk_end(). */
struct walk walk_begin(struct store_txn *txn, struct keyspace keyspace,
		       const struct store_range *range, struct err *err);

/* False where there is no further row, or the store failed. */
bool walk_next(struct walk *walk, struct store_row *row);

/* Also before the last row. The code and error of the store. */
enum code walk_end(struct walk *walk) WARN_UNUSED;

#endif
