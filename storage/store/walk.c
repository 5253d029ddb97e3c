#include "storage/store/walk.h"

#define ROWS_FIRST                                                                                 \
	8 /* of the first page: many look at a few rows only. Each one after it has twice as many  \
	   */
#define ROWS_MOST 512
#define PAGE_BYTES (64 * 1024)

struct walk walk_begin(struct store_txn *txn, struct keyspace keyspace,
		       const struct store_range *range, struct err *err)
{
	return (struct walk){
		.txn = txn,
		.keyspace = keyspace,
		.range = *range,
		.pages = {arena_new(4 * PAGE_BYTES), arena_new(4 * PAGE_BYTES)},
		.rows = ROWS_FIRST,
		.page = {.is_more = true},
		.err = err,
	};
}

static void read_walk_page(struct walk *walk)
{
	struct arena *before = walk->pages[walk->turn], *next = walk->pages[!walk->turn];

	if (walk->page.n > 0)
		store_range_after(&walk->range, &walk->page, next);
	arena_reset(before);
	walk->code = store_page_of(walk->txn, walk->keyspace, walk->reference, &walk->range,
				   (struct store_bounds){walk->rows, PAGE_BYTES}, next, &walk->page,
				   walk->err);
	walk->rows = walk->rows < ROWS_MOST ? walk->rows * 2 : ROWS_MOST;
	walk->turn = !walk->turn;
	walk->at = 0;
}

bool walk_next(struct walk *walk, struct store_row *row)
{
	if (walk->at == walk->page.n && walk->page.is_more && walk->code == OK)
		read_walk_page(walk);
	if (walk->code != OK || walk->at == walk->page.n)
		return false;
	*row = walk->page.v[walk->at++];
	return true;
}

enum code walk_end(struct walk *walk)
{
	arena_free(walk->pages[0]);
	arena_free(walk->pages[1]);
	return walk->code;
}
