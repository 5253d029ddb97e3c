/*
 * log_file - a file system of SQLite's whose write-ahead logs take a transaction in one write;
 * internal to storage/store/sqlite.
 *
 * SQLite appends two pieces per page, a frame's head and the page. They are kept until the frame
 * that ends the transaction, or until anything else is asked of the file, and go to the disk
 * together: one system call for about ten. Nobody looks for a frame before its transaction's last
 * one is written. Where a transaction does not fit into the page cache, SQLite writes pages before
 * its end, some of them twice, and then the heads of their frames again: those are not kept,
 * nothing would follow them. All other files are the underlying file system's own, but data files
 * (page_file.h).
 */
#ifndef DYNALITH_STORAGE_SQLITE_LOG_FILE_H
#define DYNALITH_STORAGE_SQLITE_LOG_FILE_H

#include <sqlite3.h>

#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/quota.h"
#include "storage/store/sqlite/reserve.h"

/* SQLite: Database File Format, 4.1: the log's head, then frames, each with a head and a page. */
#define LOG_FILE_HEAD 32
#define LOG_FILE_FRAME_HEAD 24

/* Where a frame, counted from 1, begins. */
static inline uint64_t log_file_frame_at(uint32_t frame)
{
	return LOG_FILE_HEAD + (uint64_t)(frame - 1) * (LOG_FILE_FRAME_HEAD + STORE_PAGE);
}

/* Registers it, above SQLite's default; once per process, before it is named. NULL where SQLite has
 * no file system. */
const char *log_file_system(void);

/*
 * From now on the log and the database take no more than the quota, and the reserve is for what
 * makes room on a full disk. A transaction that makes the database longer makes its `data` file
 * longer first: so the disk has room for a checkpoint, which lets the log start over. All three
 * outlive the log.
 */
void log_file_limit(sqlite3_file *log, sqlite3_file *data, struct quota *quota,
		    struct reserve *reserve);

/* The file beneath a log: its xSync may be called while the log is written to. It makes safe what
 * ended before. */
sqlite3_file *log_file_disk(sqlite3_file *log);

#endif
