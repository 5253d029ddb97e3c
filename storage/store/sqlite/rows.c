#include "storage/store/sqlite/rows.h"

#include "storage/store/sqlite/sqlite_state.h"
#include "storage/store/store_messages.h"

#define MANY_LEAST 4    /* keys that are worth STATEMENT_GET_MANY */
#define OVERFLOWING 900 /* shorter values lie in the page of their key */

/*
 * An error such as a full disk makes SQLite roll back the whole transaction by itself; what were
 * written after it would be committed row by row. So nothing is.
 */
enum code rows_begin_change(struct connection *connection, struct err *err)
{
	if (connection->txn.mode != STORE_WRITE || sqlite3_get_autocommit(connection->db))
		return err_set(err, MSG_STORE_NO_WRITE);
	return OK;
}

/*
 * Writers have waited for this reader for too long. SQLite interrupts a statement that is running;
 * here the transaction ends also where it was between two of them.
 */
static enum code check_reading(struct connection *connection, struct err *err)
{
	if (atomic_load_explicit(&connection->ended_turn, memory_order_relaxed) ==
		    atomic_load_explicit(&connection->turn, memory_order_relaxed) &&
	    connection->txn.mode != STORE_WRITE)
		return err_set(err, MSG_STORE_READ_ENDED);
	return OK;
}

static enum code statement_to_read(struct connection *connection, struct keyspace keyspace,
				   enum statement kind, sqlite3_stmt **statement, struct err *err)
{
	enum code code = check_reading(connection, err);

	if (code != OK)
		return code;
	return connection_statement(connection, keyspace, kind, statement, err);
}

static void bind(sqlite3_stmt *statement, int position, struct str bytes)
{
	sqlite3_bind_blob64(statement, position, bytes.p ? bytes.p : "", bytes.n, SQLITE_STATIC);
}

static struct str column(sqlite3_stmt *statement, int position)
{
	const char *p = sqlite3_column_blob(statement, position);

	return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(statement, position)};
}

enum code rows_get(struct store_txn *txn, struct keyspace keyspace, struct str key,
		   struct arena *arena, struct str *value, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	sqlite3_stmt *statement;
	enum code code = statement_to_read(connection, keyspace, STATEMENT_GET, &statement, err);

	*value = STR_ABSENT;
	if (code != OK)
		return code;
	bind(statement, 1, key);
	int result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		*value = str_copy(arena, column(statement, 0));
	else if (result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

/* Whether rows there make the data grow; others, such as the records of streams, also come with
 * deletes. */
static bool is_growing(struct keyspace keyspace)
{
	return keyspace.table != 0 && (keyspace.part == PART_ITEMS || keyspace.part >= PART_INDEX);
}

/* Runs a statement without results to its end. */
static enum code finish(struct connection *connection, sqlite3_stmt *statement, struct err *err)
{
	enum code code =
		sqlite3_step(statement) == SQLITE_DONE ? OK : connection_error(connection, err);

	sqlite3_reset(statement);
	return code;
}

/* Runs put or del to its end. */
static enum code change(struct store_txn *txn, struct keyspace keyspace, enum statement kind,
			struct str key, struct str value, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	sqlite3_stmt *statement;
	enum code code = rows_begin_change(connection, err);

	if (code != OK)
		return code;
	code = connection_statement(connection, keyspace, kind, &statement, err);
	if (code != OK)
		return code;
	bind(statement, 1, key);
	if (kind != STATEMENT_DEL)
		bind(statement, 2, value);
	return finish(connection, statement, err);
}

/*
 * SQLite finds pages for a new value before it frees those of the old one. Near the limit an empty
 * value goes first, so that one that is not longer needs no more room than it had.
 */
enum code rows_put(struct store_txn *txn, struct keyspace keyspace, struct str key,
		   struct str value, struct err *err)
{
	struct quota *quota = &((struct connection *)txn)->store->quota;

	quota->is_growing = quota->is_growing || is_growing(keyspace);
	if (value.n > OVERFLOWING && quota_is_near(quota, value.n)) {
		enum code code =
			change(txn, keyspace, STATEMENT_PUT, key, (struct str){"", 0}, err);

		if (code != OK)
			return code;
	}
	return change(txn, keyspace, STATEMENT_PUT, key, value, err);
}

enum code rows_refer(struct store_txn *txn, struct keyspace keyspace, struct str key,
		     const struct store_key *to, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	struct quota *quota = &connection->store->quota;
	sqlite3_stmt *statement;
	enum code code = rows_begin_change(connection, err);

	quota->is_growing = quota->is_growing || is_growing(keyspace);
	if (code != OK)
		return code;
	code = connection_statement_of(connection, keyspace, to->keyspace, STATEMENT_REFER,
				       &statement, err);
	if (code != OK)
		return code;
	if (!statement)
		return rows_put(txn, keyspace, key, STORE_REFERENCE, err);
	bind(statement, 1, key);
	bind(statement, 2, to->key);
	return finish(connection, statement, err);
}

enum code rows_del(struct store_txn *txn, struct keyspace keyspace, struct str key, struct err *err)
{
	return change(txn, keyspace, STATEMENT_DEL, key, STR_ABSENT, err);
}

/* The statement that reads a range, open at its end or not, forwards or back; where the rows stand
 * for others, joined with those. */
static const enum statement range_statements[2][2][2] = {
	{{STATEMENT_FORWARD, STATEMENT_REVERSE}, {STATEMENT_FORWARD_OPEN, STATEMENT_REVERSE_OPEN}},
	{{STATEMENT_OF, STATEMENT_OF_REVERSE}, {STATEMENT_OF_OPEN, STATEMENT_OF_REVERSE_OPEN}},
};

/*
 * The statement at the first row of a range; *result is what SQLite says of it. `to`: what the rows
 * stand for, or NULL; then *statement is NULL where they cannot be joined.
 */
static enum code first_of_range(struct connection *connection, struct keyspace keyspace,
				const struct keyspace *to, const struct store_range *range,
				sqlite3_stmt **statement, int *result, struct err *err)
{
	bool is_open = !str_is_set(range->high);
	enum statement kind = range_statements[to != NULL][is_open][range->is_reverse];
	enum code code = check_reading(connection, err);

	if (code != OK)
		return code;
	code = to ? connection_statement_of(connection, keyspace, *to, kind, statement, err)
		  : connection_statement(connection, keyspace, kind, statement, err);
	if (code != OK || !*statement)
		return code;
	bind(*statement, 1, range->low);
	if (!is_open)
		bind(*statement, 2, range->high);
	*result = sqlite3_step(*statement);
	return OK;
}

/* A copy of the row at which the statement stands, whose value is in that column. */
static struct store_row copy_row(sqlite3_stmt *statement, int value_at, struct arena *arena)
{
	struct str key = column(statement, 0), value = column(statement, value_at);
	char *bytes = arena_bytes(arena, key.n + value.n + 1);

	memcpy(bytes, key.p, key.n);
	memcpy(bytes + key.n, value.p, value.n);
	bytes[key.n + value.n] = '\0';
	return (struct store_row){{bytes, key.n}, {bytes + key.n, value.n}};
}

/* Takes the row into the page. False where the page is full, or the arena over. */
static bool add_row(struct store_page *page, struct store_row row, struct store_bounds bounds,
		    size_t *bytes, struct arena *arena, enum code *code, struct err *err)
{
	page->v = arena_room(arena, page->v, page->n, sizeof(*page->v));
	page->v[page->n++] = row;
	*bytes += row.key.n + row.value.n;
	page->is_more =
		(bounds.rows && page->n >= bounds.rows) || (bounds.bytes && *bytes >= bounds.bytes);
	*code = err_if_over(arena, err);
	return !page->is_more && *code == OK;
}

enum code rows_page(struct store_txn *txn, struct keyspace keyspace,
		    const struct store_range *range, struct store_bounds bounds,
		    struct arena *arena, struct store_page *page, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	sqlite3_stmt *statement;
	size_t bytes = 0;
	int result;
	enum code code =
		first_of_range(connection, keyspace, NULL, range, &statement, &result, err);

	*page = (struct store_page){0};
	if (code != OK)
		return code;
	while (result == SQLITE_ROW) {
		if (!add_row(page, copy_row(statement, 1, arena), bounds, &bytes, arena, &code,
			     err))
			break;
		result = sqlite3_step(statement);
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

/* The row at which the join stands: what the numbers found, or else what its key says. */
static enum code copy_joined(struct store_txn *txn, sqlite3_stmt *statement,
			     const struct store_reference *reference, struct arena *arena,
			     struct store_row *row, struct err *err)
{
	if (reference->is_of(reference->context, column(statement, 0), column(statement, 1))) {
		*row = copy_row(statement, 2, arena);
		return OK;
	}
	row->key = str_copy(arena, column(statement, 0));
	return rows_get(txn, reference->to, reference->key_of(reference->context, arena, row->key),
			arena, &row->value, err);
}

enum code rows_page_of(struct store_txn *txn, struct keyspace keyspace,
		       const struct store_reference *reference, const struct store_range *range,
		       struct store_bounds bounds, struct arena *arena, struct store_page *page,
		       struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	sqlite3_stmt *statement = NULL;
	size_t bytes = 0;
	int result;
	enum code code = first_of_range(connection, keyspace, &reference->to, range, &statement,
					&result, err);

	*page = (struct store_page){0};
	if (code != OK)
		return code;
	if (!statement)
		return store_page_by_keys(txn, keyspace, reference, range, bounds, arena, page,
					  err);
	while (result == SQLITE_ROW) {
		struct store_row row;

		code = copy_joined(txn, statement, reference, arena, &row, err);
		if (code != OK || !add_row(page, row, bounds, &bytes, arena, &code, err))
			break;
		result = sqlite3_step(statement);
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

/* How many of the keys STATEMENT_GET_MANY reads at once: the first ones, as far as they are of one
 * keyspace. */
static size_t many_of(const struct store_key *keys, size_t n)
{
	size_t many = 0;

	while (many < n && many < GET_MANY_KEYS &&
	       keyspace_is_same(keys[many].keyspace, keys[0].keyspace))
		many++;
	return many;
}

static enum code get_few(struct connection *connection, const struct store_key *keys, size_t n,
			 struct arena *arena, struct str *values, struct err *err)
{
	sqlite3_stmt *statement;
	int result = SQLITE_DONE;
	enum code code =
		statement_to_read(connection, keys->keyspace, STATEMENT_GET_MANY, &statement, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < GET_MANY_KEYS; i++) {
		if (i < n)
			bind(statement, GET_MANY_FIRST + (int)i, keys[i].key);
		else
			sqlite3_bind_null(statement, GET_MANY_FIRST + (int)i);
		if (i < n)
			values[i] = STR_ABSENT;
	}
	while (code == OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		values[sqlite3_column_int(statement, 0)] = str_copy(arena, column(statement, 1));
		code = err_if_over(arena, err);
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

enum code rows_get_many(struct store_txn *txn, const struct store_key *keys, size_t n,
			struct arena *arena, struct str *values, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0, many; i < n && code == OK; i += many) {
		many = many_of(keys + i, n - i);
		if (many >= MANY_LEAST) {
			code = get_few((struct connection *)txn, keys + i, many, arena, values + i,
				       err);
			continue;
		}
		many = 1;
		code = rows_get(txn, keys[i].keyspace, keys[i].key, arena, &values[i], err);
		if (code != OK)
			return code;
		code = err_if_over(arena, err);
	}
	return code;
}
