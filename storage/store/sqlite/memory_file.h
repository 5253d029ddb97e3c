/*
 * memory_file - a file system of SQLite's in memory, for stores that are not kept; internal to storage/store/sqlite.
 *
 * A file is a list of blocks that never move, so a page is read where it lies (SQLite's "memory mapping"), growth copies nothing, and
 * there is no limit but memory. Connections that name the same file share it.
 *
 * It locks nothing: who uses it sees to it that nobody reads while somebody writes. Nothing outlives the process, so no journal is
 * ever found.
 */
#ifndef DYNALITH_STORAGE_SQLITE_MEMORY_FILE_H
#define DYNALITH_STORAGE_SQLITE_MEMORY_FILE_H

#include <sqlite3.h>

#include "storage/store/sqlite/quota.h"

#define MEMORY_FILE_SYSTEM "dynalith-memory"

/* Registers it; once per process is enough. False where SQLite refuses. */
_Bool memory_file_install(void);

/* From now on the database of `db` and its journal take no more than that; it outlives them. Both files must be open. */
void memory_file_limit(sqlite3 *db, struct quota *quota);

#endif
