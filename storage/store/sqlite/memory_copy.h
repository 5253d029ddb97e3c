/*
 * memory_copy - what a data file has, as the beginning of a store in memory; internal to
 * storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_MEMORY_COPY_H
#define DYNALITH_STORAGE_SQLITE_MEMORY_COPY_H

#include "storage/store/sqlite/connection.h"

/*
 * Writes what the file has to the connection's database, which must be empty. Meanwhile no server
 * can open the file, where there are locks. ERR_INTERNAL with one line for the operator: it cannot
 * be read, is no data file or of a format after `format`, a server has it open or left a log beside
 * it, or a page fails its checksum. Checks nothing else: file_schema_check() does.
 */
enum code memory_copy(struct connection *connection, const char *path, unsigned format,
		      struct err *err) WARN_UNUSED;

#endif
