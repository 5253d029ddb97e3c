/*
 * raw_file - a data file read without SQLite, by pages and what their cells have, for what SQLite
 * cannot open any more; internal to storage/store/sqlite.
 *
 * The file's log is empty. A page is read by its checksum (page_file.h), which shows the byte that
 * is wrong where only one is. Damaged bytes may say anything: no cell is read beyond its page, no
 * record beyond its cell.
 *
 * SQLite: "Database File Format", 1.6 "B-tree Pages", 1.7 "Cell Payload Overflow Pages", 2.1
 * "Record Format".
 */
#ifndef DYNALITH_STORAGE_SQLITE_RAW_FILE_H
#define DYNALITH_STORAGE_SQLITE_RAW_FILE_H

#include "core/arena.h"
#include "core/err.h"
#include "storage/store/sqlite/page_file.h"

enum raw_state {
	RAW_SOUND,
	RAW_MENDED,  /* one byte was wrong, and the bytes given have it right */
	RAW_DAMAGED, /* the bytes given are those of the file */
};

struct raw_file {
	int fd; /* the caller's */
	uint32_t page_count;
	bool has_checksums;
	size_t usable; /* bytes of a page */
};

/* ERR_INTERNAL with one line for the operator. */
enum code raw_file_open(int fd, const char *path, struct raw_file *file,
			struct err *err) WARN_UNUSED;

/* A page by its number from 1; `page` has room for STORE_PAGE. Missing bytes are zeros. */
enum raw_state raw_file_read(const struct raw_file *file, uint32_t number, unsigned char *page);

/* The first byte of a page of a b-tree. */
enum raw_kind {
	RAW_INDEX_INNER = 2,
	RAW_TABLE_INNER = 5,
	RAW_INDEX_LEAF = 10,
	RAW_TABLE_LEAF = 13
};

struct raw_page {
	const struct raw_file *file;
	struct arena *row; /* for what a cell has, until the next one */
	enum raw_state state;
	unsigned kind; /* enum raw_kind; other pages have no cells */
	size_t cells, count, at;
	uint32_t right; /* of an inner page: the last page below it */
	unsigned char bytes[STORE_PAGE];
};

/* Neither an integer nor bytes: of another type, or on a page that cannot be read. */
struct raw_column {
	bool is_integer;
	int64_t integer;
	struct str bytes; /* or absent */
};

#define RAW_COLUMNS 5

struct raw_cell {
	uint32_t child; /* of an inner page: the page below; may be any number */
	int64_t rowid;  /* of a leaf of a table */
	struct raw_column columns[RAW_COLUMNS];
	enum raw_state state; /* the worst of the pages that it lies on */
};

void raw_file_page(const struct raw_file *file, uint32_t number, struct arena *row,
		   struct raw_page *page);

/* The next cell; of an inner page also one for `right`, at last. False behind the last. */
bool raw_file_next(struct raw_page *page, struct raw_cell *cell);

#endif
