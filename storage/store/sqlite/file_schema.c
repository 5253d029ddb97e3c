#include "storage/store/sqlite/file_schema.h"

#include <sqlite3.h>
#include <string.h>

#include "storage/store/sqlite/page_file.h"
#include "storage/store/store_messages.h"

#define SHOWN_MAX 64 /* bytes of a name in the message */

static const char *const create_sql[] = {
	[FILE_SCHEMA_OWN] = "CREATE TABLE \"%s\" (k BLOB NOT NULL, v BLOB NOT NULL)",
	[FILE_SCHEMA_SHARED] = ("CREATE TABLE \"%s\" (n INTEGER NOT NULL, k BLOB NOT NULL, v BLOB "
				"NOT NULL, UNIQUE (n, k))"),
	[FILE_SCHEMA_KEYS] =
		"CREATE TABLE \"%s\" (k BLOB NOT NULL PRIMARY KEY, v NOT NULL) WITHOUT ROWID",
	[FILE_SCHEMA_SYSTEM] = "CREATE TABLE \"%s\" (k BLOB NOT NULL UNIQUE, v BLOB NOT NULL)",
};
/* What SQLite keeps of create_index() in places.c: no IF NOT EXISTS. */
static const char *const key_index_sql = "CREATE UNIQUE INDEX \"%s_key\" ON \"%s\" (k)";

/* A row of sqlite_schema; "" where a column is NULL. */
struct entry {
	const char *type, *name, *table, *sql;
};

void file_schema_table_sql(enum file_schema_table kind, const char *name, char *sql)
{
	sqlite3_snprintf(FILE_SCHEMA_SQL_MAX, sql, create_sql[kind], name);
}

/* Pages have room for their checksums. */
enum code file_schema_make(struct connection *connection, unsigned format, struct err *err)
{
	int reserved = PAGE_CHECK_BYTES;
	struct str sql = str_printf(err->arena,
				    "PRAGMA page_size = %d; BEGIN; PRAGMA application_id = %d; "
				    "PRAGMA user_version = %u; ",
				    STORE_PAGE, FILE_SCHEMA_APPLICATION, format);

	for (uint32_t part = 0; part <= SYSTEM_PART_COUNT; part++) {
		struct keyspace keyspace = {0, part < SYSTEM_PART_COUNT ? part : PLACE_SYSTEM_PART};
		char table[FILE_SCHEMA_SQL_MAX];

		file_schema_table_sql(FILE_SCHEMA_SYSTEM, place_of_name(keyspace).name, table);
		sql = str_printf(err->arena, STR_FMT "%s; ", STR_ARG(sql), table);
	}
	if (sqlite3_file_control(connection->db, NULL, SQLITE_FCNTL_RESERVE_BYTES, &reserved) !=
	    SQLITE_OK)
		return connection_error(connection, err);
	sql = str_printf(err->arena, STR_FMT "COMMIT", STR_ARG(sql));
	return connection_run(connection, sql.p, err);
}

static bool is_made_by(enum file_schema_table kind, const struct entry *entry)
{
	char sql[FILE_SCHEMA_SQL_MAX];

	file_schema_table_sql(kind, entry->name, sql);
	return strcmp(entry->sql, sql) == 0;
}

/* Versions before format 2 made the SQL tables of all keyspaces like those of the system. Those of
 * the system above SYSTEM_PART_COUNT are made when they are first used, as those of tables are. */
static bool is_table(const struct entry *entry)
{
	struct keyspace keyspace;

	if (strlen(entry->name) >= KEYSPACE_NAME_MAX || strcmp(entry->name, entry->table) != 0)
		return false;
	if (strcmp(entry->name, PLACE_SHARED) == 0)
		return is_made_by(FILE_SCHEMA_SHARED, entry);
	if (place_is_keys(entry->name))
		return keyspace_name_read(entry->name + strlen(PLACE_KEYS), &keyspace) &&
		       is_made_by(FILE_SCHEMA_KEYS, entry);
	if (strcmp(entry->name, place_of_name(PLACE_KEYSPACE).name) == 0)
		return is_made_by(FILE_SCHEMA_SYSTEM, entry);
	return keyspace_name_read(entry->name, &keyspace) &&
	       (is_made_by(FILE_SCHEMA_SYSTEM, entry) ||
		((keyspace.table != 0 || keyspace.part >= SYSTEM_PART_COUNT) &&
		 is_made_by(FILE_SCHEMA_OWN, entry)));
}

/* SQLite has found its table in the schema, which is_table() looks at. */
static bool is_index(const struct entry *entry)
{
	char own[KEYSPACE_NAME_MAX + 32], sql[FILE_SCHEMA_SQL_MAX];

	if (strlen(entry->table) >= KEYSPACE_NAME_MAX)
		return false;
	sqlite3_snprintf(sizeof(own), own, entry->sql[0] ? "%s_key" : "sqlite_autoindex_%s_1",
			 entry->table);
	sqlite3_snprintf(sizeof(sql), sql, key_index_sql, entry->table, entry->table);
	return strcmp(entry->name, own) == 0 && (!entry->sql[0] || strcmp(entry->sql, sql) == 0);
}

/* It may be anything: only its plain characters are shown. */
static void show(const char *text, char *shown)
{
	size_t n = 0;

	for (; n < SHOWN_MAX - 1 && text[n]; n++)
		shown[n] = text[n] > ' ' && text[n] < 0x7F ? text[n] : '?';
	shown[n] = '\0';
}

static enum code refuse(const struct entry *entry, const char *path, struct err *err)
{
	char type[SHOWN_MAX], name[SHOWN_MAX];

	show(entry->type, type);
	show(entry->name, name);
	return err_set(err, MSG_STORE_SCHEMA, path, type, name);
}

static const char *text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

static enum code check_entries(sqlite3_stmt *row, const char *path, struct err *err)
{
	int result;

	while ((result = sqlite3_step(row)) == SQLITE_ROW) {
		const struct entry entry = {text(row, 0), text(row, 1), text(row, 2), text(row, 3)};
		bool is_known = strcmp(entry.type, "table") == 0
					? is_table(&entry)
					: strcmp(entry.type, "index") == 0 && is_index(&entry);

		if (!is_known)
			return refuse(&entry, path, err);
	}
	return result == SQLITE_DONE
		       ? OK
		       : err_set(err, MSG_STORE_OPEN, path, sqlite3_errmsg(sqlite3_db_handle(row)));
}

enum code file_schema_check(struct sqlite3 *db, const char *path, struct err *err)
{
	sqlite3_stmt *row;

	if (sqlite3_prepare_v2(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema", -1, &row,
			       NULL) != SQLITE_OK)
		return err_set(err, MSG_STORE_OPEN, path, sqlite3_errmsg(db));
	enum code code = check_entries(row, path, err);
	sqlite3_finalize(row);
	return code;
}
