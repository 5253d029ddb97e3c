/*
 * log_mark - whether the write-ahead log beside a data file is the one that this installation left;
 * internal to storage/store/sqlite.
 *
 * SQLite before sqlite_floor.h does not read a crafted log safely. There a server leaves a mark
 * beside its open file, FILE-mark, with the inode numbers of the file and its log, and removes it
 * when it closes the file. After a crash the mark fits the log; a file and a log that were copied
 * here, or unpacked from an archive, have other inodes.
 */
#ifndef DYNALITH_STORAGE_SQLITE_LOG_MARK_H
#define DYNALITH_STORAGE_SQLITE_LOG_MARK_H

#include <stdbool.h>

#include "core/err.h"

/* Whether SQLite is too old to be trusted with a log from elsewhere. */
bool log_mark_is_needed(void);

/* Whether there is no log that SQLite would read pages from, or the one that the mark names.
 * `path` is the data file's. */
bool log_mark_is_own(const char *path);

/* ERR_INTERNAL with one line for the operator: there is another, and SQLite is too old for it. */
enum code log_mark_check(const char *path, struct err *err) WARN_UNUSED;

/* Leaves a mark for the log as it is, safe on the disk where `is_synced`. Best effort: without a
 * mark, a log left by a crash is refused. */
void log_mark_leave(const char *path, bool is_synced, struct arena *arena);

/* Removes the mark, unless a log is left. */
void log_mark_remove(const char *path);

#endif
