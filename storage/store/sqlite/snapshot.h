/*
 * snapshot - the pages of a reader's snapshot where they lie, for page_tree; internal to storage/store/sqlite.
 *
 * In memory a pinned file has them (memory_file.h). On disk a page lies in the data file, or where it was changed since the last checkpoint, in the
 * write-ahead log; the log's index says which. There SQLite gives the snapshot: a statement that stands at its row holds it, with SQLite's own locks, which
 * keep checkpoints from the pages that the snapshot needs. This module reads the same index and the same two files, through mappings. Source: SQLite,
 * "WAL-mode File Format", 2 (the index), and "Database File Format", 4 (the log).
 *
 * Statements of the connection and snapshot_page() see the same rows: a snapshot is usable only where the index had the same head before and after
 * SQLite took it.
 */
#ifndef DYNALITH_STORAGE_SQLITE_SNAPSHOT_H
#define DYNALITH_STORAGE_SQLITE_SNAPSHOT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_file;

/* A mapping of the log; NULL where it could not be made. One serves all readers of a store. */
struct snapshot_log {
	const unsigned char *bytes;
	size_t n;
};

/* Maps the log beside a data file, also what it has yet to grow by. Where that fails, SQLite alone reads the log. */
void snapshot_map_log(struct snapshot_log *mapping, const char *data_path);
void snapshot_unmap_log(struct snapshot_log *mapping);

struct snapshot {
	struct memory_file *memory; /* or NULL: on disk */
	sqlite3_file *data;         /* on disk: a page_file, once it is known */
	const struct snapshot_log *log;
	bool is_usable;             /* of a reader on disk: from begin to end */
	uint32_t schema;            /* the number of the schema */
	uint32_t from, last;        /* pages of the log, from 1, that count; those before lie in the data file, too. None where `last` is 0 */
};

/* On disk: takes the snapshot by that statement, which gives the number of the schema. What it returns, sqlite3_step() did. */
int snapshot_begin(struct snapshot *snapshot, sqlite3 *db, sqlite3_stmt *statement);
void snapshot_end(struct snapshot *snapshot, sqlite3_stmt *statement);

/* The number of the schema, which changes with each SQL table that is made or dropped; 0: the pages cannot be read. */
uint32_t snapshot_schema(struct snapshot *snapshot);

/* Bytes of each page that SQLite uses; 0: not known. */
uint32_t snapshot_usable(struct snapshot *snapshot);

/* A page, counted from 1; NULL where it is not to be had so. It stays until snapshot_end(). */
const unsigned char *snapshot_page(struct snapshot *snapshot, uint32_t number);

/* Prefetches what snapshot_page() reads of the page itself: on disk nothing. Has no effect beyond speed. */
void snapshot_prefetch(const struct snapshot *snapshot, uint32_t number);

#endif
