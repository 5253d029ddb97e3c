/*
 * new_file - the pages of a store without rows, made by CREATE TABLE for the keyspaces of the
 * system; internal to storage/store/sqlite.
 *
 * SQLite makes them in memory (0.2 ms), since on disk its journals would take 1.6 ms. Writing the
 * pages needs no journal: a crash leaves parts of them, and the next process that opens such a file
 * starts the creation over. The pages are synced before the first commit (wal.h), so that a file
 * whose log has commits is whole.
 */
#ifndef DYNALITH_STORAGE_SQLITE_NEW_FILE_H
#define DYNALITH_STORAGE_SQLITE_NEW_FILE_H

#include "storage/store/sqlite/connection.h"
#include "storage/store/sqlite/page_file.h"

/* Of them all: the first, which has the schema, and for each keyspace of the system a table and its
 * index. */
#define NEW_FILE_PAGES (1 + 2 * (SYSTEM_PART_COUNT + 1))

#define NEW_FILE_SIZE ((size_t)NEW_FILE_PAGES * STORE_PAGE)

#define NEW_FILE_APPLICATION 0x44594E4C /* "DYNL", in the file's header */

/*
 * NEW_FILE_SIZE bytes of pages with their checksums, to be freed by sqlite3_free(); NULL: out of
 * memory. `format` goes to the header. With `has_log` SQLite reads the file with a write-ahead log.
 */
unsigned char *new_file_image(unsigned format, bool has_log);

/* Writes all pages to the connection's database, which must be empty and not yet open in any other
 * connection. Does not sync them. */
enum code new_file_write(struct connection *connection, unsigned format, bool has_log,
			 struct err *err) WARN_UNUSED;

/*
 * Writes what a data file has to the connection's database, which must be empty and of a store in
 * memory. Meanwhile no server can open the file, where there are locks. ERR_INTERNAL with one line
 * for the operator: it cannot be read, is no data file, a server has it open or left a log beside
 * it, or a page fails its checksum. Checks nothing else: file_schema_check() does.
 */
enum code new_file_copy(struct connection *connection, const char *path,
			struct err *err) WARN_UNUSED;

/*
 * Whether a power cut or a kill interrupted new_file_write() on this file of `size` bytes: each
 * byte is 0 or the one that it writes there, but not all bytes are written.
 */
bool new_file_is_piece(int fd, size_t size, unsigned format);

#endif
