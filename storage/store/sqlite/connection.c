#include "storage/store/sqlite/connection.h"

#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/quota.h"
#include "storage/store/store_messages.h"

/* Nothing relies on the numbers: who reads compares both keys. */
#define SELECT_OF                                                                                  \
	"SELECT r.k, i.k, i.v FROM \"%s\" AS r LEFT JOIN \"%s\" AS i ON i.rowid = r.v WHERE "

/* The keys as a table, whose rows SQLite looks up one after the other within one statement. */
#define SELECT_MANY(value, condition)                                                              \
	"SELECT m.column1, " value                                                                 \
	" FROM (VALUES (0,?4),(1,?5),(2,?6),(3,?7),(4,?8),(5,?9),(6,?10),(7,?11),(8,?12),(9,?13)," \
	"(10,?14),(11,?15),(12,?16),(13,?17),(14,?18),(15,?19),(16,?20),(17,?21),(18,?22),(19,?"   \
	"23),(20,?24),(21,?25),"                                                                   \
	"(22,?26),(23,?27),(24,?28)) AS m CROSS JOIN \"%s\" AS r ON " condition "k = m.column2"

/* `of`: what picks the keyspace's rows; `n_column` and `n_value`: of a row that is put, before its
 * key. Empty where all rows are the keyspace's. */
#define STATEMENTS(value, of, n_column, n_value)                                                   \
	[STATEMENT_GET] = "SELECT " value " FROM \"%s\" WHERE " of "k = ?1",                       \
	[STATEMENT_GET_MANY] = SELECT_MANY(value, of),                                             \
	[STATEMENT_PUT] = "INSERT INTO \"%s\" (" n_column "k, v) VALUES (" n_value                 \
			  "?1, ?2) ON CONFLICT (" n_column "k) DO UPDATE SET v = excluded.v",      \
	[STATEMENT_DEL] = "DELETE FROM \"%s\" WHERE " of "k = ?1",                                 \
	[STATEMENT_FORWARD] =                                                                      \
		"SELECT k, " value " FROM \"%s\" WHERE " of "k >= ?1 AND k < ?2 ORDER BY k",       \
	[STATEMENT_FORWARD_OPEN] =                                                                 \
		"SELECT k, " value " FROM \"%s\" WHERE " of "k >= ?1 ORDER BY k",                  \
	[STATEMENT_REVERSE] =                                                                      \
		"SELECT k, " value " FROM \"%s\" WHERE " of "k >= ?1 AND k < ?2 ORDER BY k DESC",  \
	[STATEMENT_REVERSE_OPEN] =                                                                 \
		"SELECT k, " value " FROM \"%s\" WHERE " of "k >= ?1 ORDER BY k DESC"

static const char *const statement_sql[PLACE_TABLE_COUNT][STATEMENT_COUNT] = {
	[PLACE_TABLE_OWN] = {STATEMENTS("v", "", "", "")},
	[PLACE_TABLE_SHARED] = {STATEMENTS("v", "n = ?3 AND ", "n, ", "?3, ")},
	[PLACE_TABLE_KEYS] = {
		STATEMENTS(PLACE_KEYS_VALUE, "", "", ""),
		[STATEMENT_REFER] =
			"INSERT INTO \"%s\" (k, v) VALUES (?1, ifnull((SELECT rowid FROM "
			"\"%s\" WHERE k = ?2), " PLACE_REFERENCE
			")) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
		[STATEMENT_OF] = SELECT_OF "r.k >= ?1 AND r.k < ?2 ORDER BY r.k",
		[STATEMENT_OF_OPEN] = SELECT_OF "r.k >= ?1 ORDER BY r.k",
		[STATEMENT_OF_REVERSE] = SELECT_OF "r.k >= ?1 AND r.k < ?2 ORDER BY r.k DESC",
		[STATEMENT_OF_REVERSE_OPEN] = SELECT_OF "r.k >= ?1 ORDER BY r.k DESC",
	}};

/* Tries: ROLLBACK itself allocates, and may find no memory; the next BEGIN tries again. */
#define ROLLBACKS_MAX 3
/* The parameter that picks the keyspace's rows among those of others: bound once. */
#define PARAMETER_NUMBER 3

static const char *const control_sql[CONTROL_COUNT] = {
	[CONTROL_SNAPSHOT] = "PRAGMA schema_version",
	[CONTROL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[CONTROL_COMMIT] = "COMMIT",
	[CONTROL_ROLLBACK] = "ROLLBACK",
};

#define VALUE_MAX (128 << 20) /* bytes of a row: an item has 400 KB at most, other rows some MB */

static const int limits[][2] = {
	{SQLITE_LIMIT_LENGTH, VALUE_MAX},  {SQLITE_LIMIT_SQL_LENGTH, 100000},
	{SQLITE_LIMIT_COLUMN, 100},        {SQLITE_LIMIT_EXPR_DEPTH, 20},
	{SQLITE_LIMIT_COMPOUND_SELECT, 3}, {SQLITE_LIMIT_FUNCTION_ARG, 8},
	{SQLITE_LIMIT_ATTACHED, 0},        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50},
	{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
};

static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
			  SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_DQS_DDL,
			  SQLITE_DBCONFIG_DQS_DML};

void connection_guard(sqlite3 *db)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(db, limits[i][0], limits[i][1]);
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		sqlite3_db_config(db, off[i], 0, NULL);
}

void connection_guard_structure(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}

static enum code refuse_page(sqlite3 *db, struct err *err)
{
	sqlite3_file *file = page_file_of(db, SQLITE_FCNTL_FILE_POINTER);
	bool is_cut = false;
	unsigned page = file ? page_file_damaged(file, &is_cut) : 0;

	return is_cut ? err_set(err, MSG_STORE_CUT_AT, page)
		      : err_set(err, MSG_STORE_DAMAGED, page);
}

static enum code refuse(const struct connection *connection, int code, const char *text,
			struct err *err)
{
	if (code == SQLITE_INTERRUPT)
		return err_set(err, MSG_STORE_READ_ENDED);
	if (code == SQLITE_FULL && connection->quota && connection->quota->is_refused)
		return err_set(err, MSG_STORE_LIMIT,
			       (unsigned long long)(connection->quota->limit >> 20));
	if (code == SQLITE_FULL)
		return err_set(err, MSG_STORE_FULL);
	if (connection->db && sqlite3_extended_errcode(connection->db) == SQLITE_IOERR_DATA)
		return refuse_page(connection->db, err);
	return err_set(err, MSG_STORE_FAILED, text);
}

/*
 * Without a journal SQLite cannot undo one statement that has failed half-way, only the whole
 * transaction: nothing else may be done with it.
 */
enum code connection_error(struct connection *connection, struct err *err)
{
	const char *text = connection->db ? sqlite3_errmsg(connection->db) : "out of memory";
	int code = connection->db ? sqlite3_errcode(connection->db) & 0xFF : SQLITE_NOMEM;

	if (code == SQLITE_ERROR && strncmp(text, "no such table", 13) == 0)
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	enum code refusal = refuse(connection, code, text, err);
	if (connection->has_no_journal)
		connection_rollback(connection);
	return refusal;
}

enum code connection_run(struct connection *connection, const char *sql, struct err *err)
{
	if (sqlite3_exec(connection->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	return OK;
}

enum code connection_open(struct connection *connection, const char *name, int flags,
			  const char *setup, struct err *err)
{
	const char *file_system = flags & SQLITE_OPEN_URI ? NULL : page_file_system();

	if (sqlite3_open_v2(name, &connection->db, flags | SQLITE_OPEN_NOMUTEX, file_system) !=
	    SQLITE_OK)
		return connection_error(connection, err);
	connection_guard(connection->db);
	sqlite3_busy_timeout(connection->db, 5000);
	enum code code = connection_run(connection, setup, err);
	if (code != OK)
		return code;
	connection_guard_structure(connection->db);
	for (int i = 0; i < CONTROL_COUNT; i++) {
		if (sqlite3_prepare_v3(connection->db, control_sql[i], -1,
				       SQLITE_PREPARE_PERSISTENT, &connection->controls[i],
				       NULL) != SQLITE_OK)
			return connection_error(connection, err);
	}
	return OK;
}

static void slot_clear(struct slot *slot)
{
	for (int i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(slot->statements[i]);
	*slot = (struct slot){.is_taken = false};
}

void connection_close(struct connection *connection)
{
	for (int i = 0; i < SLOT_SETS; i++) {
		for (int k = 0; connection->sets[i] && k < SLOTS_PER_SET; k++)
			slot_clear(&connection->sets[i][k]);
		free(connection->sets[i]);
		connection->sets[i] = NULL;
	}
	for (int i = 0; i < CONTROL_COUNT; i++)
		sqlite3_finalize(connection->controls[i]);
	sqlite3_close(connection->db);
	connection->db = NULL;
}

enum code connection_control(struct connection *connection, enum control control, struct err *err)
{
	sqlite3_stmt *statement = connection->controls[control];

	if (control == CONTROL_BEGIN_WRITE)
		connection_rollback(connection); /* what found no memory to be undone */
	int result = sqlite3_step(statement);
	enum code code = result == SQLITE_DONE ? OK : connection_error(connection, err);

	sqlite3_reset(statement);
	return code;
}

enum code connection_begin_read(struct connection *connection, struct err *err)
{
	/* a statement that stands at its row holds SQLite's snapshot for all others, without BEGIN
	 * and COMMIT */
	if (sqlite3_step(connection->controls[CONTROL_SNAPSHOT]) == SQLITE_ROW)
		return OK;
	enum code code = connection_error(connection, err);
	connection_end_read(connection);
	return code;
}

void connection_end_read(struct connection *connection)
{
	sqlite3_reset(connection->controls[CONTROL_SNAPSHOT]);
}

void connection_rollback(struct connection *connection)
{
	for (int i = 0; i < ROLLBACKS_MAX && !sqlite3_get_autocommit(connection->db); i++) {
		sqlite3_step(connection->controls[CONTROL_ROLLBACK]);
		sqlite3_reset(connection->controls[CONTROL_ROLLBACK]);
	}
}

enum code connection_number(struct connection *connection, const char *sql, int64_t *number,
			    struct err *err)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	enum code code =
		sqlite3_step(statement) == SQLITE_ROW ? OK : connection_error(connection, err);
	*number = code == OK ? sqlite3_column_int64(statement, 0) : 0;
	sqlite3_finalize(statement);
	return code;
}

static struct slot *slot_set(struct connection *connection, struct keyspace keyspace)
{
	uint64_t hash = (keyspace.table * 31 + keyspace.part) * 0x9E3779B97F4A7C15u;
	struct slot **set = &connection->sets[(hash >> 58) % SLOT_SETS];

	if (!*set)
		*set = arena_checked(calloc(SLOTS_PER_SET, sizeof(**set)));
	return *set;
}

/* The keyspace's slot; the least recently used one of its set is emptied where none is free. */
static struct slot *slot_find(struct connection *connection, struct keyspace keyspace)
{
	struct slot *set = slot_set(connection, keyspace), *oldest = NULL;

	for (int i = 0; i < SLOTS_PER_SET; i++) {
		struct slot *slot = &set[i];

		if (slot->is_taken && keyspace_is_same(slot->keyspace, keyspace))
			return slot;
		if (!oldest || slot->used_at < oldest->used_at)
			oldest = slot;
	}
	slot_clear(oldest);
	oldest->keyspace = keyspace;
	oldest->is_taken = true;
	return oldest;
}

/* The row of PLACE_KEYSPACE about the keyspace, as the snapshot has it. */
static enum code read_place(struct connection *connection, struct keyspace keyspace,
			    struct place *place, struct err *err)
{
	char key[PLACE_ROW_MAX];
	sqlite3_stmt *statement;
	enum code code =
		connection_statement(connection, PLACE_KEYSPACE, STATEMENT_GET, &statement, err);

	if (code != OK)
		return code;
	struct str bytes = place_key(keyspace, key);
	sqlite3_bind_blob64(statement, 1, bytes.p, bytes.n, SQLITE_STATIC);
	int result = sqlite3_step(statement);
	if (result == SQLITE_ROW) {
		const char *p = sqlite3_column_blob(statement, 0);
		struct str value = {p ? p : "", (size_t)sqlite3_column_bytes(statement, 0)};

		if (!place_read_value(value, place))
			code = err_set(err, MSG_STORE_NO_PLACE);
	} else if (result != SQLITE_DONE) {
		code = connection_error(connection, err);
	}
	sqlite3_reset(statement);
	return code;
}

enum code connection_place(struct connection *connection, struct keyspace keyspace,
			   struct place *place, struct err *err)
{
	*place = place_of_name(keyspace);
	enum code code = keyspace.table == 0 ? OK : read_place(connection, keyspace, place, err);

	if (code == OK && !place->name[0])
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	return code;
}

/* Brings the slot to where its keyspace lies now. */
static enum code locate(struct connection *connection, struct slot *slot, struct err *err)
{
	struct place place;
	enum code code = connection_place(connection, slot->keyspace, &place, err);

	if (code != OK)
		return code;
	if (!place_is_same(&place, &slot->place)) {
		for (int i = 0; i < STATEMENT_COUNT; i++) {
			sqlite3_finalize(slot->statements[i]);
			slot->statements[i] = NULL;
		}
		slot->place = place;
	}
	slot->located = connection->forgotten + 1;
	return OK;
}

static enum code prepare(struct connection *connection, struct slot *slot, enum statement kind,
			 struct err *err)
{
	char sql[768];

	sqlite3_snprintf(sizeof(sql), sql, statement_sql[place_table(&slot->place)][kind],
			 slot->place.name, slot->to.name);
	if (sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &slot->statements[kind], NULL) != SQLITE_OK)
		return connection_error(connection, err);
	if (slot->place.number != 0)
		sqlite3_bind_int64(slot->statements[kind], PARAMETER_NUMBER,
				   (sqlite3_int64)slot->place.number);
	return OK;
}

/* The keyspace's slot, with the place where it lies now. */
static enum code slot_located(struct connection *connection, struct keyspace keyspace,
			      struct slot **out, struct err *err)
{
	struct slot *slot = slot_find(connection, keyspace);

	slot->used_at = ++connection->clock;
	enum code code =
		slot->located == connection->forgotten + 1 ? OK : locate(connection, slot, err);
	return RESULT(code, out, slot);
}

enum code connection_statement(struct connection *connection, struct keyspace keyspace,
			       enum statement kind, sqlite3_stmt **out, struct err *err)
{
	struct slot *slot;
	enum code code = slot_located(connection, keyspace, &slot, err);

	if (code != OK)
		return code;
	if (!slot->statements[kind])
		code = prepare(connection, slot, kind, err);
	return RESULT(code, out, slot->statements[kind]);
}

/* Prepares the slot's joins for where the other keyspace lies. */
static void join_with(struct slot *slot, const struct place *to)
{
	if (place_is_same(&slot->to, to))
		return;
	for (int i = STATEMENT_REFER; i <= STATEMENT_OF_REVERSE_OPEN; i++) {
		sqlite3_finalize(slot->statements[i]);
		slot->statements[i] = NULL;
	}
	slot->to = *to;
}

enum code connection_statement_of(struct connection *connection, struct keyspace keyspace,
				  struct keyspace to, enum statement kind, sqlite3_stmt **statement,
				  struct err *err)
{
	struct slot *slot;
	enum code code = slot_located(connection, to, &slot, err);

	if (code != OK)
		return code;
	struct place place = slot->place;
	code = slot_located(connection, keyspace, &slot, err);
	if (code != OK)
		return code;
	if (place_table(&place) != PLACE_TABLE_OWN ||
	    place_table(&slot->place) != PLACE_TABLE_KEYS) {
		*statement = NULL;
		return OK;
	}
	join_with(slot, &place);
	return connection_statement(connection, keyspace, kind, statement, err);
}
