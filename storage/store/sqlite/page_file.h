/*
 * page_file - the file system of stores on disk: data files whose pages carry a checksum, and
 * write-ahead logs that keep to their limits; internal to storage/store/sqlite.
 *
 * It is SQLite's own file system, but for the calls that read and write data files, and those that
 * write logs.
 *
 * The last PAGE_CHECK_BYTES of each page hold a CRC-32 of the rest, mixed with the page's number. A
 * page gets it on its way into the data file, and is checked each time that it is read from there.
 * A page that fails the check is never served: the read ends with SQLITE_IOERR_DATA, other pages
 * are not affected. SQLite reads no page beyond the end of its own file, so one that the file does
 * not have, because others cut it, is refused as well: SQLite would take it for zeros. Frames of
 * the write-ahead log have SQLite's own checksums. Files of format 1 have no room for checksums and
 * are read as they are.
 *
 * SQLite: File Format, "Reserved bytes per page".
 */
#ifndef DYNALITH_STORAGE_SQLITE_PAGE_FILE_H
#define DYNALITH_STORAGE_SQLITE_PAGE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage/store/sqlite/quota.h"

#define STORE_PAGE 4096    /* bytes of a page */
#define PAGE_CHECK_BYTES 4 /* reserved at its end */
#define PAGE_CHECK_FORMAT 2 /* the first format of data files that has checksums */

/* SQLite: File Format, "WAL File Format": the log's head, then frames, each with a head and a page.
 */
#define LOG_HEAD 32
#define LOG_FRAME_HEAD 24

/* Registers it, above SQLite's default; its name. NULL where SQLite has no file system. */
const char *page_file_system(void);

/* Whether the head of a SQLite file, of at least 21 bytes, leaves room for a checksum at the end of
 * each page. */
bool page_file_has_checksums(const unsigned char *head);

/*
 * A connection's open file: its data file with SQLITE_FCNTL_FILE_POINTER, its journal or log with
 * SQLITE_FCNTL_JOURNAL_POINTER. NULL where it has not opened that one.
 */
sqlite3_file *page_file_of(sqlite3 *db, int pointer);

/*
 * The number of the page, from 1, that failed its check last; 0 where none did or the file is none
 * of these. *is_cut: the file ends before the end of that page.
 */
uint32_t page_file_damaged(sqlite3_file *file, bool *is_cut);

/*
 * From now on the log and the database take no more than the quota, which outlives the log. A
 * transaction that makes the database longer makes its `data` file longer first: so the disk has
 * room for a checkpoint, which lets the log start over.
 */
void page_file_limit(sqlite3_file *log, sqlite3_file *data, struct quota *quota);

/* Whether a page as it lies in a file with checksums is what was written there. Pages are counted
 * from 1. */
bool page_file_is_whole(const unsigned char *page, uint32_t number);

/* The checksum that the page must have; the page with it. */
uint32_t page_file_checksum(const unsigned char *page, uint32_t number);
void page_file_seal(unsigned char *page, uint32_t number);

#endif
