/*
 * sqlite_floor - the oldest SQLite that is trusted with files from elsewhere; internal to
 * storage/store/sqlite.
 *
 * Before 3.54.0 a crafted write-ahead log can make SQLite give away stale memory (CVE-2026-119375),
 * and before 3.51.3 a checkpoint can lose pages (SQLite: "Write-Ahead Logging", The WAL-Reset Bug).
 * This is the only place of the number: scripts/fetch-sqlite includes it, and lint compares the
 * documents with it.
 */
#ifndef DYNALITH_STORAGE_SQLITE_FLOOR_H
#define DYNALITH_STORAGE_SQLITE_FLOOR_H

#define SQLITE_FLOOR_NUMBER 3054000 /* as SQLITE_VERSION_NUMBER */
#define SQLITE_FLOOR_VERSION "3.54.0"

#endif
