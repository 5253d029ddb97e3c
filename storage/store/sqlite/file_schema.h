/*
 * file_schema - the SQL tables and indexes that a data file has: the statements that make them, and
 * the check that a file has no others; internal to storage/store/sqlite.
 *
 * A file may come from elsewhere, with right checksums and any schema. So a connection reads rows
 * only after the schema was compared with these statements, and whatever else is in it, such as a
 * trigger, is refused by its name.
 */
#ifndef DYNALITH_STORAGE_SQLITE_FILE_SCHEMA_H
#define DYNALITH_STORAGE_SQLITE_FILE_SCHEMA_H

#include "storage/store/sqlite/connection.h"

#define FILE_SCHEMA_APPLICATION 0x44594E4C /* "DYNL", in the file's header */

/* Of a new file: its schema, and for each keyspace of the system a table and its index. */
#define FILE_SCHEMA_PAGES (1 + 2 * (SYSTEM_PART_COUNT + 1))

#define FILE_SCHEMA_SQL_MAX 256 /* bytes of a statement */

/* What a SQL table is for: one keyspace, many, one of small rows, one of the system. */
enum file_schema_table {
	FILE_SCHEMA_OWN,
	FILE_SCHEMA_SHARED,
	FILE_SCHEMA_KEYS,
	FILE_SCHEMA_SYSTEM
};

/* The statement that makes a SQL table. `sql` has room for FILE_SCHEMA_SQL_MAX. */
void file_schema_table_sql(enum file_schema_table kind, const char *name, char *sql);

/* Makes the SQL tables of the system in a database that has no page yet, in one transaction.
 * `format` goes to the header. */
enum code file_schema_make(struct connection *connection, unsigned format,
			   struct err *err) WARN_UNUSED;

/* ERR_INTERNAL with one line for the operator, which names what is not of this server. */
enum code file_schema_check(struct sqlite3 *db, const char *path, struct err *err) WARN_UNUSED;

#endif
