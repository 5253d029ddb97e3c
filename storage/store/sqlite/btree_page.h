/*
 * btree_page - a page of a SQLite file taken apart; internal to storage/store/sqlite.
 *
 * It stays in bounds whatever the bytes, so that damaged pages can be looked at. SQLite: File Format, "B-tree Pages" and "Record Format".
 */
#ifndef DYNALITH_STORAGE_SQLITE_BTREE_PAGE_H
#define DYNALITH_STORAGE_SQLITE_BTREE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

enum btree_kind { BTREE_INDEX_INNER = 2, BTREE_TABLE_INNER = 5, BTREE_INDEX_LEAF = 10, BTREE_TABLE_LEAF = 13 };

struct btree_page {
	const unsigned char *bytes;
	size_t usable;       /* bytes of it that SQLite uses */
	size_t head;         /* bytes in front of the cells' places */
	enum btree_kind kind;
	unsigned count;      /* of cells */
	uint32_t right;      /* the last child of an inner page */
};

struct btree_cell {
	uint32_t child;      /* of an inner page */
	uint64_t rowid;      /* of a table's */
	uint64_t size;       /* of the payload; 0 where there is none */
	struct str local;    /* as much of it as lies here */
	uint32_t overflow;   /* the page where it goes on; 0: all lies here */
};

/* False where it is no page of a b-tree. `number` counts from 1: the first page begins with the file's head. */
bool btree_page_open(const unsigned char *bytes, uint32_t number, size_t usable, struct btree_page *page);

/* Cell number `i`; false where it does not lie within the page. */
bool btree_page_cell(const struct btree_page *page, unsigned i, struct btree_cell *cell);

/* A column of a record: a blob or a text, or an integer. */
struct btree_column {
	struct str bytes;    /* absent: it is neither */
	int64_t integer;
};

/* The columns of a record; false where it does not have exactly `n`, or some beyond its end. */
bool btree_page_record(struct str payload, struct btree_column *columns, size_t n);

/*
 * The first blob of a record of which only the beginning is there, and the integer before it, or 0; absent where the beginning does not reach so
 * far.
 */
struct str btree_page_first(struct str beginning, int64_t *before);

#endif
