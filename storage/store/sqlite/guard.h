/*
 * guard - a connection to a file that may come from elsewhere; internal to storage/store/sqlite.
 *
 * SQLite: "Defense Against The Dark Arts". Whoever made the file could write any schema into it;
 * none of its triggers and views runs here, functions with side effects are not for its schema, and
 * values, statements and expressions have limits.
 */
#ifndef DYNALITH_STORAGE_SQLITE_GUARD_H
#define DYNALITH_STORAGE_SQLITE_GUARD_H

#include <sqlite3.h>

/* Call before the first statement. */
void guard_connection(sqlite3 *db);

/* Call after the pragmas: from then on no statement can damage the file's structure. It also
 * forbids `PRAGMA journal_mode=OFF`. */
void guard_structure(sqlite3 *db);

#endif
