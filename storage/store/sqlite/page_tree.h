/*
 * page_tree - the rows of a SQL table, read from the pages of a snapshot without a statement; internal to storage/store/sqlite.
 *
 * It reads what SQLite wrote, and writes nothing. A statement that finds a row takes some 6,000 instructions, most of them to open and close it and to
 * compare keys of any type. These tables have one kind of key, a blob, and pages of a snapshot never change. SQLite: Database File Format, 1.6 (b-tree
 * pages) and 2.1 (records).
 *
 * Each call returns whether it could read the pages, which may be damaged. Where it could not, the caller asks SQLite, which names what is wrong.
 */
#ifndef DYNALITH_STORAGE_SQLITE_PAGE_TREE_H
#define DYNALITH_STORAGE_SQLITE_PAGE_TREE_H

#include "storage/store/sqlite/snapshot.h"
#include "storage/store/store.h"

#define PAGE_TREE_DEPTH 20 /* levels of a b-tree: SQLite's own limit (BTCURSOR_MAX_DEPTH) */

/* Where the b-trees of a SQL table begin; pages are counted from 1. */
struct page_roots {
	uint32_t schema; /* the schema of the file that has them there, by its number; 0: not looked up */
	uint32_t keys;   /* keys, and what they lead to: numbers of rows, or values; 0: there is no such table */
	uint32_t rows;   /* rows by their numbers; 0: keys lead to values */
	uint32_t usable; /* bytes of a page that SQLite uses */
};

/* A SQL table in a snapshot. */
struct page_tree {
	struct snapshot *snapshot;
	struct page_roots roots;
	struct {
		uint32_t number;     /* the page that has the row looked up last; 0: none */
		int64_t after, last; /* this page has the rows behind `after` up to `last` */
		unsigned depth;      /* of all leaves; 0: not known, or the root is the leaf */
	} leaf;
};

/* The caller releases the snapshot's pages when the rows are read. */
struct page_tree page_tree_of(struct snapshot *snapshot, struct page_roots roots);

#define PAGE_TREE_GROUP 16 /* rows that are looked up together at most */

/*
 * The values of up to PAGE_TREE_GROUP keys; absent where there is no such row. Each step runs for all keys and prefetches what the next step reads, so that
 * the waits for memory overlap.
 */
bool page_tree_get(struct page_tree *tree, const struct str *keys, size_t n, struct arena *arena, struct str *values) WARN_UNUSED;

/* A place between two keys. */
struct page_level {
	const unsigned char *bytes;
	unsigned at, count; /* cells */
	bool is_inner;
};

struct page_tree_cursor {
	struct page_tree *tree;
	struct arena *arena;
	struct store_range range;
	unsigned depth;
	struct page_level levels[PAGE_TREE_DEPTH];
};

/* A cell's payload: the columns of a record. */
struct page_payload {
	struct str local;
	uint32_t overflow; /* the page where it goes on, or 0 */
	size_t size;
};

/* A key, and what it leads to. */
struct page_entry {
	struct str key;    /* in the page, or in the arena */
	bool has_number;
	int64_t number;    /* of a row */
	struct str value;  /* where it has no number; as the key */
	struct page_payload row; /* by page_tree_find_rows(); without size where there is no such row */
};

/* Up to `most` entries of a range, in its order, from where the last call ended. Fewer: the range is over. */
bool page_tree_seek(struct page_tree_cursor *cursor, struct page_tree *tree, const struct store_range *range, struct arena *arena) WARN_UNUSED;
bool page_tree_next(struct page_tree_cursor *cursor, size_t most, struct page_entry *entries, size_t *n) WARN_UNUSED;

/* Finds the rows of up to PAGE_TREE_GROUP entries that have numbers, in a table that has them; its steps are like those above. */
bool page_tree_find_rows(struct page_tree *tree, struct page_entry *entries, size_t n) WARN_UNUSED;

/* The row that was found for an entry, copied into the arena; or where the table is one b-tree, the entry itself. */
bool page_tree_row(const struct page_tree *tree, const struct page_entry *entry, struct arena *arena, struct store_row *row) WARN_UNUSED;

#endif
