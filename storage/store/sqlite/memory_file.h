/*
 * memory_file - a file system of SQLite's in memory, for stores that are not kept; internal to storage/store/sqlite.
 *
 * Connections that name the same database share it: one that writes, and readers that have snapshots (memory_pages.h). A page is read where it lies
 * (SQLite's "memory mapping"), growth copies nothing, and there is no limit but memory. Every other file is of one connection alone.
 *
 * Commits and rollbacks are the file's own: SQLite's commit publishes what was written, and a transaction that ends otherwise leaves nothing of it.
 * So it needs no journal (journal_mode=OFF), and SQLite reads its pages again after a rollback. Nothing outlives the process.
 *
 * It locks nothing: who uses it sees to it that one connection writes at a time, and that readers pin a snapshot before they read beside it. A connection
 * that is opened to read only is pinned from then on, for SQLite reads the schema.
 */
#ifndef DYNALITH_STORAGE_SQLITE_MEMORY_FILE_H
#define DYNALITH_STORAGE_SQLITE_MEMORY_FILE_H

#include <sqlite3.h>
#include <stdint.h>

#include "storage/store/sqlite/quota.h"

#define MEMORY_FILE_SYSTEM "dynalith-memory"

struct memory_file;

/* Registers it; once per process is enough. False where SQLite refuses. */
_Bool memory_file_install(void);

/* The file of a connection's database; NULL where there is none yet. It lives as long as the connection. */
struct memory_file *memory_file_of(sqlite3 *db);

/* From pin to unpin the connection reads the database as the last commit left it, in as many statements as it likes. No wait in either. */
void memory_file_pin(struct memory_file *file);
void memory_file_unpin(struct memory_file *file);

/*
 * A page of the database as the connection sees it, counted from 1; NULL: there is none, or it is all zeros. It stays as it is until the connection lets go of
 * its pin, and of one without a pin until it writes.
 */
const unsigned char *memory_file_page(const struct memory_file *file, uint32_t number);

/* Prefetches what memory_file_page() reads of that page first, counted from 1. */
void memory_file_prefetch(const struct memory_file *file, uint32_t number);

/*
 * From now on the database takes no more than that; it outlives the file. The log in it are the pages that a transaction replaces, which are in
 * memory twice until it ends. Old pages that a reader keeps are not counted: no writer waits for it.
 */
void memory_file_limit(struct memory_file *file, struct quota *quota);

#endif
