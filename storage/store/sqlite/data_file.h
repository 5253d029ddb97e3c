/*
 * data_file - a data file before SQLite sees it: locked against other processes, and known by its
 * header; internal to storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_DATA_FILE_H
#define DYNALITH_STORAGE_SQLITE_DATA_FILE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>

#include "core/err.h"

/*
 * Locks the file against other processes and reads its format from the header, before SQLite sees
 * it: a file that is not ours or newer than `format` stays as it is; one whose creation was cut is
 * truncated to 0. `absolute` has room for PATH_MAX: SQLite gives names such as ":memory:" a meaning
 * of their own.
 */
enum code data_file_lock(const char *path, unsigned format, char *absolute, int *fd,
			 struct err *err) WARN_UNUSED;

/* What its header says of it: ERR_INTERNAL, with one line for the operator, where that is not ours,
 * newer than `format`, or damaged. */
enum code data_file_check_header(int fd, const char *path, unsigned format,
				 struct err *err) WARN_UNUSED;

/* Whether another file, or none, is at the path. False where that cannot be known, for instance in
 * a folder that may not be read any more. */
bool data_file_is_moved_away(int fd, const char *path);

/* Whether it has not even one page: SQLite would open it as a database without tables. */
bool data_file_is_empty(int fd);

/*
 * Whether somebody else made the file shorter than `seen` bytes, and than its own header says,
 * while this process has it open. SQLite itself makes it shorter only to what the header says.
 * Raises `seen` to the file's size.
 */
bool data_file_is_cut(int fd, _Atomic uint64_t *seen);

#endif
