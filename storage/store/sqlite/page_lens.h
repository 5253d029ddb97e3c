/*
 * page_lens - lets SQLite read a damaged file from any of its pages on; internal to
 * storage/store/sqlite.
 *
 * The connection sees a database with five empty tables and indexes of the forms that data files
 * have, and the pages of the damaged file behind them. One of the five is put over a page by
 * lens_put(): a root, so that SQLite walks the whole table or index, or a single leaf, so that it
 * reads the rows of that. So no format of SQLite's is known here but the bytes of the file's head,
 * and damage to what leads to a page does not keep that from being read.
 */
#ifndef DYNALITH_STORAGE_SQLITE_PAGE_LENS_H
#define DYNALITH_STORAGE_SQLITE_PAGE_LENS_H

#include "storage/store/sqlite/raw_file.h"

enum lens_over { LENS_OWN, LENS_OWN_KEY, LENS_SHARED, LENS_SHARED_KEY, LENS_SCHEMA, LENS_COUNT };

enum lens_mode {
	LENS_SOUND, /* a leaf of a table is served only where it is sound, others also where they
		       were mended */
	LENS_ALL,   /* leaves of tables are served in any state */
	LENS_LEAF,  /* only the page under the lens, in any state, and where it is not damaged the
		       pages that its rows go on in */
};

struct page_lens;

/* ERR_INTERNAL: out of memory. The file stays open and unchanged meanwhile. */
enum code page_lens_open(const struct raw_file *file, struct arena *arena, struct page_lens **out,
			 struct err *err) WARN_UNUSED;
void page_lens_close(struct page_lens *lens);
sqlite3 *page_lens_db(struct page_lens *lens);

/* From the next statement on; `tree` is noted for the leaves of tables that are refused in the
 * meantime. */
void page_lens_put(struct page_lens *lens, enum lens_over over, enum lens_mode mode, uint32_t page,
		   int tree);

/* The worst state of pages that values went on in, since the last call. */
enum raw_state page_lens_worst(struct page_lens *lens);

/* Whether a page was served but by LENS_LEAF, or is_known was set; the tree that was noted for it,
 * or -1. */
bool page_lens_is_known(const struct page_lens *lens, uint32_t page);
void page_lens_know(struct page_lens *lens, uint32_t page);
int page_lens_tree(const struct page_lens *lens, uint32_t page);

#endif
