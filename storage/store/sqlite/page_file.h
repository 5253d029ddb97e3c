/*
 * page_file - data files whose pages carry a checksum; internal to storage/store/sqlite.
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

#define STORE_PAGE 4096    /* bytes of a page */
#define PAGE_CHECK_BYTES 4 /* reserved at its end */

/* Whether the head of a SQLite file, of at least 21 bytes, leaves room for a checksum at the end of
 * each page. */
bool page_file_has_checksums(const unsigned char *head);

/* What SQLite must allocate for a file above one of `under` bytes. */
int page_file_size(int under);

/* Opens a data file of the file system beneath. SQLite's result code. */
int page_file_open(sqlite3_vfs *under, const char *name, sqlite3_file *file, int flags,
		   int *flags_out);

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

/* Whether a page as it lies in a file with checksums is what was written there. Pages are counted
 * from 1. */
bool page_file_is_whole(const unsigned char *page, uint32_t number);

/* The checksum that the page must have; the page with it. */
uint32_t page_file_checksum(const unsigned char *page, uint32_t number);
void page_file_seal(unsigned char *page, uint32_t number);

#endif
