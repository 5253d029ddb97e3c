/* ask - SQL about a store's file, for tests. */
#ifndef DYNALITH_TEST_ASK_H
#define DYNALITH_TEST_ASK_H

#include <sqlite3.h>

#include "storage/store/sqlite/page_file.h"
#include "tests/unit/storage/store_fixture.h"

/* A number that SQL gives of the closed store's file. */
static inline long long ask(struct fixture *fixture, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *statement;
	long long number = -1;

	CHECK_INT(sqlite3_open_v2(fixture->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
	return number;
}

/* Changes the closed store's file; pages get their checksums. */
static inline void change_file(struct fixture *fixture, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open_v2(fixture->path, &db, SQLITE_OPEN_READWRITE, page_file_system()),
		  SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

#endif
