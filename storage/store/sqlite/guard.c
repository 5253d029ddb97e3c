#include "storage/store/sqlite/guard.h"

#include <stddef.h>

#define VALUE_MAX (128 << 20) /* bytes of a row: an item has 400 KB at most, other rows some MB */

static const struct {
	int id, value;
} limits[] = {
	{SQLITE_LIMIT_LENGTH, VALUE_MAX},  {SQLITE_LIMIT_SQL_LENGTH, 100000},
	{SQLITE_LIMIT_COLUMN, 100},        {SQLITE_LIMIT_EXPR_DEPTH, 20},
	{SQLITE_LIMIT_COMPOUND_SELECT, 3}, {SQLITE_LIMIT_FUNCTION_ARG, 8},
	{SQLITE_LIMIT_ATTACHED, 0},        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
};

static const struct {
	int id, value;
} settings[] = {
	{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_DQS_DDL, 0},
	{SQLITE_DBCONFIG_DQS_DML, 0},
};

void guard_connection(sqlite3 *db)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i].id, limits[i].value);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		sqlite3_db_config(db, settings[i].id, settings[i].value, NULL);
}

void guard_structure(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}
