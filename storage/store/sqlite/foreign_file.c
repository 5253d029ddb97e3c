#include "storage/store/sqlite/foreign_file.h"

#include <stdlib.h>

#include "storage/store/sqlite/connection.h"
#include "storage/store/store_messages.h"

struct foreign_file {
	sqlite3 *db;
	const char *path;
};

static enum code fail(const struct foreign_file *file, struct err *err)
{
	return err_set(err, MSG_FOREIGN_FILE, file->path, sqlite3_errmsg(file->db));
}

/* A table of DynamoDB Local is a plain one: whatever computes something when it is read is refused
 * by its name. */
static enum code secure(struct foreign_file *file, struct err *err)
{
	static const char sql[] = "SELECT m.name FROM sqlite_schema AS m WHERE m.type IN ('view', "
				  "'trigger') OR (m.type = 'table' AND "
				  "(m.sql NOT LIKE 'CREATE TABLE %' OR EXISTS (SELECT 1 FROM "
				  "pragma_table_xinfo(m.name) WHERE hidden <> 0))) LIMIT 1";
	sqlite3_stmt *row = NULL;
	enum code code = OK;

	connection_guard(file->db);
	connection_guard_structure(file->db);
	if (sqlite3_prepare_v2(file->db, sql, -1, &row, NULL) != SQLITE_OK)
		return fail(file, err);
	int result = sqlite3_step(row);
	if (result == SQLITE_ROW)
		code = err_set(err, MSG_FOREIGN_SCHEMA, file->path,
			       (const char *)sqlite3_column_text(row, 0));
	else if (result != SQLITE_DONE)
		code = fail(file, err);
	sqlite3_finalize(row);
	return code;
}

static enum code open_database(struct foreign_file *file, struct err *err)
{
	sqlite3_stmt *probe;

	if (sqlite3_open_v2(file->path, &file->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return fail(file, err);
	enum code code = secure(file, err);
	if (code != OK)
		return code;
	if (sqlite3_prepare_v2(file->db, "SELECT TableInfo FROM dm", -1, &probe, NULL) != SQLITE_OK)
		return fail(file, err);
	sqlite3_finalize(probe);
	return OK;
}

enum code foreign_file_open(const char *path, struct foreign_file **out, struct err *err)
{
	struct foreign_file *file = arena_checked(calloc(1, sizeof(*file)));

	file->path = path;
	enum code code = open_database(file, err);
	if (code != OK)
		foreign_file_close(file);
	else
		*out = file;
	return code;
}

void foreign_file_close(struct foreign_file *file)
{
	sqlite3_close_v2(file->db);
	free(file);
}

static struct str column(struct arena *arena, sqlite3_stmt *row, int i)
{
	const void *bytes = sqlite3_column_blob(row, i);
	size_t n = (size_t)sqlite3_column_bytes(row, i);

	if (sqlite3_column_type(row, i) == SQLITE_NULL)
		return STR_ABSENT;
	return str_copy(arena, (struct str){bytes ? bytes : "", n});
}

enum code foreign_file_tables(struct foreign_file *file, struct arena *arena,
			      const struct foreign_table **tables, size_t *n, struct err *err)
{
	sqlite3_stmt *row = NULL;
	struct foreign_table *all = NULL;
	int result = sqlite3_prepare_v2(
		file->db,
		"SELECT dm.TableName, dm.TableInfo, dm.ReadCapacityUnits, dm.WriteCapacityUnits, "
		"dm.BillingMode, dm.DeletionProtectionEnabled,"
		" (SELECT StreamInfo FROM sm WHERE sm.TableName = dm.TableName AND sm.StreamStatus "
		"= 'ENABLED') FROM dm ORDER BY dm.TableName",
		-1, &row, NULL);

	*n = 0;
	while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
		all = arena_room(arena, all, *n, sizeof(*all));
		all[(*n)++] = (struct foreign_table){
			.name = column(arena, row, 0),
			.info = column(arena, row, 1),
			.read_units = sqlite3_column_int64(row, 2),
			.write_units = sqlite3_column_int64(row, 3),
			.is_on_demand = sqlite3_column_int(row, 4) == 1,
			.is_protected = sqlite3_column_int(row, 5) == 1,
			.stream_info = column(arena, row, 6),
		};
		result = SQLITE_OK;
	}
	sqlite3_finalize(row);
	*tables = all;
	return result == SQLITE_DONE ? OK : fail(file, err);
}

enum code foreign_file_items(struct foreign_file *file, struct str table,
			     enum code (*visit)(void *context, struct str item), void *context,
			     struct err *err)
{
	sqlite3_stmt *row = NULL;
	enum code code = OK;
	char *sql = arena_checked(
		sqlite3_mprintf("SELECT ObjectJSON FROM \"%.*w\"", (int)table.n, table.p));
	int result = sqlite3_prepare_v2(file->db, sql, -1, &row, NULL);

	sqlite3_free(sql);
	while (code == OK && result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
		const void *bytes = sqlite3_column_blob(row, 0);

		code = visit(context, (struct str){bytes ? bytes : "",
						   (size_t)sqlite3_column_bytes(row, 0)});
		result = SQLITE_OK;
	}
	sqlite3_finalize(row);
	if (code != OK)
		return code;
	return result == SQLITE_DONE || result == SQLITE_OK ? OK : fail(file, err);
}
