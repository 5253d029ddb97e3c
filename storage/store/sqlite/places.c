#include "storage/store/sqlite/places.h"

#include "storage/store/sqlite/file_schema.h"
#include "storage/store/store_messages.h"

#define FEW_ROWS 64 /* of a keyspace that is dropped: deleted in the same transaction */
#define FEW_BYTES ((uint64_t)64 << 10)

static const char *const sizes_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = "SELECT rowid, length(k) + length(v) FROM \"%s\" ORDER BY rowid",
	[PLACE_TABLE_SHARED] =
		"SELECT k, length(k) + length(v) FROM \"%s\" WHERE n = ?3 ORDER BY k",
	[PLACE_TABLE_KEYS] = "SELECT k, length(k) + length(v) FROM \"%s\" ORDER BY k",
};
static const char *const clear_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = "DELETE FROM \"%s\"",
	[PLACE_TABLE_SHARED] = "DELETE FROM \"%s\" WHERE n = ?3",
	[PLACE_TABLE_KEYS] = "DELETE FROM \"%s\"",
};
static const char *const cut_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = "DELETE FROM \"%s\" WHERE rowid <= ?1",
	[PLACE_TABLE_SHARED] = "DELETE FROM \"%s\" WHERE n = ?3 AND k <= ?1",
	[PLACE_TABLE_KEYS] = "DELETE FROM \"%s\" WHERE k <= ?1",
};

/*
 * A copy, by the kind of the SQL table that gets the rows, and of the one that has them. "SELECT *"
 * between two of the same kind is what SQLite does without looking into the rows; rows keep their
 * numbers.
 */
static const char *const into_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = "INSERT INTO \"%s\"",
	[PLACE_TABLE_SHARED] = "INSERT INTO \"%s\" (n, k, v)",
	[PLACE_TABLE_KEYS] = "INSERT INTO \"%s\"",
};
static const char *const alike_sql = " SELECT * FROM \"%s\"";
static const char *const from_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = " SELECT k, v FROM \"%s\" ORDER BY k",
	[PLACE_TABLE_SHARED] = " SELECT k, v FROM \"%s\" WHERE n = ?3 ORDER BY k",
	[PLACE_TABLE_KEYS] = " SELECT k, " PLACE_KEYS_VALUE " FROM \"%s\" ORDER BY k",
};
static const char *const from_to_shared_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = " SELECT ?4, k, v FROM \"%s\" ORDER BY k",
	[PLACE_TABLE_SHARED] = " SELECT ?4, k, v FROM \"%s\" WHERE n = ?3 ORDER BY k",
	[PLACE_TABLE_KEYS] = " SELECT ?4, k, " PLACE_KEYS_VALUE " FROM \"%s\" ORDER BY k",
};

/* Of all kinds: the statement about the place. */
static enum code prepare(struct connection *connection, const char *const *sql,
			 const struct place *place, sqlite3_stmt **statement, struct err *err)
{
	bool is_shared = place->number != 0;
	char text[256];

	sqlite3_snprintf(sizeof(text), text, sql[place_table(place)], place->name);
	if (sqlite3_prepare_v2(connection->db, text, -1, statement, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	if (is_shared)
		sqlite3_bind_int64(*statement, 3, (sqlite3_int64)place->number);
	return OK;
}

/* Runs a statement without results, and finalises it. */
static enum code run(struct connection *connection, sqlite3_stmt *statement, struct err *err)
{
	enum code code =
		sqlite3_step(statement) == SQLITE_DONE ? OK : connection_error(connection, err);

	sqlite3_finalize(statement);
	return code;
}

/* Where it is missing: places_tidy() drops it. */
static enum code create_index(struct connection *connection, const char *name, struct err *err)
{
	char sql[FILE_SCHEMA_SQL_MAX];

	sqlite3_snprintf(sizeof(sql), sql,
			 "CREATE UNIQUE INDEX IF NOT EXISTS \"%s_key\" ON \"%s\" (k)", name, name);
	return connection_run(connection, sql, err);
}

static enum code create_table(struct connection *connection, enum file_schema_table kind,
			      const char *name, struct err *err)
{
	char sql[FILE_SCHEMA_SQL_MAX];

	file_schema_table_sql(kind, name, sql);
	enum code code = connection_run(connection, sql, err);
	return code == OK && kind == FILE_SCHEMA_OWN ? create_index(connection, name, err) : code;
}

static bool has_table(struct connection *connection, const char *name)
{
	return sqlite3_table_column_metadata(connection->db, NULL, name, NULL, NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

enum code places_complete(struct connection *connection, struct err *err)
{
	const struct keyspace later[] = {{0, SYSTEM_VERSIONS}, PLACE_KEYSPACE};

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct place place = place_of_name(later[i]);
		enum code code =
			has_table(connection, place.name)
				? OK
				: create_table(connection, FILE_SCHEMA_SYSTEM, place.name, err);

		if (code != OK)
			return code;
	}
	return OK;
}

/* Puts a row of PLACE_KEYSPACE, or deletes it. */
static enum code change(struct connection *connection, enum statement kind, struct str key,
			struct str value, struct err *err)
{
	struct slot *slot;
	sqlite3_stmt *statement;
	enum code code =
		connection_statement(connection, PLACE_KEYSPACE, kind, &slot, &statement, err);

	if (code != OK)
		return code;
	sqlite3_bind_blob64(statement, 1, key.p, key.n, SQLITE_STATIC);
	if (kind == STATEMENT_PUT)
		sqlite3_bind_blob64(statement, 2, value.p, value.n, SQLITE_STATIC);
	if (sqlite3_step(statement) != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	return code;
}

static enum code put(struct connection *connection, struct str key, struct str value,
		     struct err *err)
{
	return change(connection, STATEMENT_PUT, key, value, err);
}

static enum code del(struct connection *connection, struct str key, struct err *err)
{
	return change(connection, STATEMENT_DEL, key, STR_ABSENT, err);
}

static enum code put_place(struct connection *connection, struct keyspace keyspace,
			   const struct place *place, struct err *err)
{
	char key[PLACE_ROW_MAX], value[PLACE_ROW_MAX];

	return put(connection, place_key(keyspace, key), place_value(place, value), err);
}

/* Visits the rows of a kind until `visit` returns false. */
typedef bool visit_row(void *context, struct str key, struct str value);

static enum code each_row(struct connection *connection, enum place_kind kind, visit_row *visit,
			  void *context, struct err *err)
{
	const char low = (char)kind, high = (char)(kind + 1);
	struct slot *slot;
	sqlite3_stmt *statement;
	int result;
	enum code code = connection_statement(connection, PLACE_KEYSPACE, STATEMENT_FORWARD, &slot,
					      &statement, err);

	if (code != OK)
		return code;
	sqlite3_bind_blob64(statement, 1, &low, 1, SQLITE_STATIC);
	sqlite3_bind_blob64(statement, 2, &high, 1, SQLITE_STATIC);
	slot->busy++;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *key = sqlite3_column_blob(statement, 0),
			   *value = sqlite3_column_blob(statement, 1);

		if (!visit(context,
			   (struct str){key ? key : "", (size_t)sqlite3_column_bytes(statement, 0)},
			   (struct str){value ? value : "",
					(size_t)sqlite3_column_bytes(statement, 1)}))
			break;
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_reset(statement);
	slot->busy--;
	return code;
}

struct search {
	enum place_table table; /* PLACE_TABLE_COUNT: any */
	struct place found;     /* without a name: none */
};

static bool find_unused(void *context, struct str key, struct str value)
{
	struct search *search = context;
	struct place place;

	(void)value;
	if (place_read_unused(key, &place) &&
	    (search->table == PLACE_TABLE_COUNT || search->table == place_table(&place)))
		search->found = place;
	return !search->found.name[0];
}

/* The first place of PLACE_DROPPED or PLACE_FREE in a SQL table of that kind; without a name where
 * there is none. */
static enum code first_unused(struct connection *connection, enum place_kind kind,
			      enum place_table table, struct place *place, struct err *err)
{
	struct search search = {.table = table};
	enum code code = each_row(connection, kind, find_unused, &search, err);

	*place = search.found;
	return code;
}

/* Whether a further SQL table of one keyspace would be one too many. */
static enum code is_at_most(struct connection *connection, bool *is, struct err *err)
{
	int64_t n = 0;
	enum code code = connection_number(
		connection,
		"SELECT count(*) FROM (SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 600)",
		&n, err);

	*is = n >= PLACES_OWN_MAX;
	return code;
}

static bool read_number(void *context, struct str key, struct str value)
{
	struct place place;

	(void)key;
	if (place_read_value(value, &place))
		*(uint64_t *)context = place.number;
	return false;
}

static enum code share(struct connection *connection, struct keyspace keyspace, struct err *err)
{
	const char kind = PLACE_NUMBER;
	struct place place = {.number = 0, .name = PLACE_SHARED};
	char value[PLACE_ROW_MAX];
	enum code code = has_table(connection, PLACE_SHARED)
				 ? OK
				 : create_table(connection, FILE_SCHEMA_SHARED, PLACE_SHARED, err);

	if (code != OK)
		return code;
	code = each_row(connection, PLACE_NUMBER, read_number, &place.number, err);
	if (code != OK)
		return code;
	place.number++;
	code = put(connection, (struct str){&kind, 1}, place_value(&place, value), err);
	return code == OK ? put_place(connection, keyspace, &place, err) : code;
}

/* Gives the keyspace a SQL table that is free. Earlier versions left some without their index. */
static enum code take(struct connection *connection, struct keyspace keyspace,
		      const struct place *unused, struct err *err)
{
	const struct place own = place_of_name(keyspace);
	char key[PLACE_ROW_MAX];
	enum code code = place_table(unused) == PLACE_TABLE_OWN
				 ? create_index(connection, unused->name, err)
				 : OK;

	if (code != OK)
		return code;
	code = del(connection, place_key_free(unused->name, key), err);
	if (code != OK)
		return code;
	return place_is_same(unused, &own) ? del(connection, place_key(keyspace, key), err)
					   : put_place(connection, keyspace, unused, err);
}

/* A SQL table of the keyspace's own for small rows. */
static enum code create_keys(struct connection *connection, struct keyspace keyspace,
			     struct err *err)
{
	const struct place place = place_of_keys(keyspace);
	enum code code = create_table(connection, FILE_SCHEMA_KEYS, place.name, err);

	return code == OK ? put_place(connection, keyspace, &place, err) : code;
}

enum code places_create(struct connection *connection, struct keyspace keyspace,
			enum place_table table, struct err *err)
{
	struct place place, unused;
	bool is_full;
	enum code code, found = connection_place(connection, keyspace, &place, err);

	connection->has_moved = true;
	if (found != OK && found != ERR_RESOURCE_NOT_FOUND)
		return found;
	if (found == OK && has_table(connection, place.name))
		return err_set(err, MSG_STORE_FAILED, "the keyspace exists");
	if (keyspace.part == PART_STREAM)
		return share(connection, keyspace, err);
	code = first_unused(connection, PLACE_FREE, table, &unused, err);
	if (code != OK || unused.name[0])
		return code == OK ? take(connection, keyspace, &unused, err) : code;
	code = is_at_most(connection, &is_full, err);
	if (code != OK)
		return code;
	/* where it was dropped, others have the SQL table of its name */
	if (is_full || found != OK ||
	    (table == PLACE_TABLE_KEYS && has_table(connection, place_of_keys(keyspace).name)))
		return share(connection, keyspace, err);
	return table == PLACE_TABLE_KEYS
		       ? create_keys(connection, keyspace, err)
		       : create_table(connection, FILE_SCHEMA_OWN, place.name, err);
}

enum code places_copy(struct connection *connection, struct keyspace from, struct keyspace to,
		      struct err *err)
{
	struct place source, target;
	sqlite3_stmt *statement;
	char into[128], select[128];
	enum code code = connection_place(connection, from, &source, err);

	if (code != OK)
		return code;
	code = connection_place(connection, to, &target, err);
	if (code != OK)
		return code;
	enum place_table from_table = place_table(&source), to_table = place_table(&target);
	const char *how = to_table == PLACE_TABLE_SHARED ? from_to_shared_sql[from_table]
			  : to_table == from_table       ? alike_sql
							 : from_sql[from_table];
	sqlite3_snprintf(sizeof(into), into, into_sql[to_table], target.name);
	sqlite3_snprintf(sizeof(select), select, how, source.name);
	struct str sql = str_printf(err->arena, "%s%s", into, select);
	if (sqlite3_prepare_v2(connection->db, sql.p, (int)sql.n, &statement, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	if (source.number)
		sqlite3_bind_int64(statement, 3, (sqlite3_int64)source.number);
	if (target.number)
		sqlite3_bind_int64(statement, 4, (sqlite3_int64)target.number);
	return run(connection, statement, err);
}

/* The first rows of a place, in the order in which they are deleted. */
struct extent {
	size_t rows;
	uint64_t bytes;
	bool is_all;
	int64_t rowid; /* of the last one, or its key */
	struct str key;
};

static enum code measure(struct connection *connection, const struct place *place, size_t rows,
			 uint64_t bytes, struct extent *extent, struct err *err)
{
	sqlite3_stmt *statement;
	int result;
	enum code code = prepare(connection, sizes_sql, place, &statement, err);

	*extent = (struct extent){.is_all = false};
	if (code != OK)
		return code;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW && extent->rows < rows &&
	       extent->bytes < bytes) {
		extent->rows++;
		extent->bytes += (uint64_t)sqlite3_column_int64(statement, 1);
		if (place_table(place) == PLACE_TABLE_OWN)
			extent->rowid = sqlite3_column_int64(statement, 0);
		else if (extent->rows == rows || extent->bytes >= bytes)
			extent->key =
				str_copy(err->arena,
					 (struct str){sqlite3_column_blob(statement, 0),
						      (size_t)sqlite3_column_bytes(statement, 0)});
	}
	extent->is_all = result == SQLITE_DONE;
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		code = connection_error(connection, err);
	sqlite3_finalize(statement);
	return code;
}

static enum code clear(struct connection *connection, const struct place *place, struct err *err)
{
	sqlite3_stmt *statement;
	enum code code = prepare(connection, clear_sql, place, &statement, err);

	return code == OK ? run(connection, statement, err) : code;
}

/* Deletes the rows up to the end of the extent. */
static enum code cut(struct connection *connection, const struct place *place,
		     const struct extent *extent, struct err *err)
{
	sqlite3_stmt *statement;
	enum code code = prepare(connection, cut_sql, place, &statement, err);

	if (code != OK)
		return code;
	if (place_table(place) == PLACE_TABLE_OWN)
		sqlite3_bind_int64(statement, 1, extent->rowid);
	else
		sqlite3_bind_blob64(statement, 1, extent->key.p, extent->key.n, SQLITE_STATIC);
	return run(connection, statement, err);
}

/* The place has no rows any more. */
static enum code set_free(struct connection *connection, const struct place *place, struct err *err)
{
	char key[PLACE_ROW_MAX];

	return place->number == 0 ? put(connection, place_key_free(place->name, key), STR(""), err)
				  : OK;
}

enum code places_drop(struct connection *connection, struct keyspace keyspace, bool *is_left,
		      struct err *err)
{
	const struct place own = place_of_name(keyspace), none = {.number = 0};
	struct place place;
	struct extent extent;
	char key[PLACE_ROW_MAX];
	enum code code = connection_place(connection, keyspace, &place, err);

	*is_left = false;
	if (code != OK)
		return code;
	if (!has_table(connection, place.name))
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	connection->has_moved = true;
	connection_forget(connection);
	/* its name must not lead to a SQL table that another keyspace has or may get */
	code = has_table(connection, own.name) ? put_place(connection, keyspace, &none, err)
					       : del(connection, place_key(keyspace, key), err);
	if (code != OK)
		return code;
	code = measure(connection, &place, FEW_ROWS, FEW_BYTES, &extent, err);
	if (code != OK)
		return code;
	*is_left = !extent.is_all;
	if (*is_left)
		return put(connection, place_key_dropped(&place, key), STR(""), err);
	if (extent.rows > 0)
		code = clear(connection, &place, err);
	return code == OK ? set_free(connection, &place, err) : code;
}

/*
 * The keys of rows that lie side by side are anywhere in the index, so each piece of them would
 * write hundreds of its pages. Without the index a piece leaves next to nothing in the log. To drop
 * the index takes 10 ms for 400,000 keys.
 */
static enum code delete_piece(struct connection *connection, const struct place *place,
			      const struct extent *extent, struct err *err)
{
	char sql[FILE_SCHEMA_SQL_MAX];
	enum code code = OK;

	sqlite3_snprintf(sizeof(sql), sql, "DROP INDEX IF EXISTS \"%s_key\"", place->name);
	if (place_table(place) == PLACE_TABLE_OWN)
		code = connection_run(connection, sql, err);
	return code == OK ? cut(connection, place, extent, err) : code;
}

enum code places_tidy(struct connection *connection, bool *is_more, struct err *err)
{
	struct place place;
	struct extent extent;
	char key[PLACE_ROW_MAX];
	enum code code = first_unused(connection, PLACE_DROPPED, PLACE_TABLE_COUNT, &place, err);

	*is_more = code == OK && place.name[0];
	if (!*is_more)
		return code;
	bool is_shared = place_table(&place) == PLACE_TABLE_SHARED;
	code = measure(connection, &place, is_shared ? PLACES_SHARED_ROWS : PLACES_PIECE_ROWS,
		       is_shared ? PLACES_SHARED_BYTES : PLACES_PIECE_BYTES, &extent, err);
	if (code != OK)
		return code;
	if (!extent.is_all)
		return delete_piece(connection, &place, &extent, err);
	code = clear(connection, &place, err);
	if (code != OK)
		return code;
	connection->has_moved = true;
	code = del(connection, place_key_dropped(&place, key), err);
	return code == OK ? set_free(connection, &place, err) : code;
}

struct listing {
	struct arena *arena;
	struct keyspace *found;
	size_t n;
};

static void add(struct listing *listing, struct keyspace keyspace)
{
	listing->found =
		arena_room(listing->arena, listing->found, listing->n, sizeof(*listing->found));
	listing->found[listing->n++] = keyspace;
}

static enum code list_tables(struct connection *connection, sqlite3_stmt *statement,
			     struct listing *listing, struct err *err)
{
	struct keyspace keyspace;
	struct place place;
	int result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(statement, 0);

		if (!keyspace_name_read(name, &keyspace))
			continue;
		enum code code = connection_place(connection, keyspace, &place, err);
		if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
			return code;
		if (code == OK && strcmp(place.name, name) == 0)
			add(listing, keyspace);
	}
	return result == SQLITE_DONE ? OK : connection_error(connection, err);
}

/* The keyspaces that lie in the SQL tables of their names. */
static enum code list_named(struct connection *connection, struct listing *listing, struct err *err)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(connection->db,
			       "SELECT name FROM sqlite_master WHERE type = 'table'", -1,
			       &statement, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	enum code code = list_tables(connection, statement, listing, err);
	sqlite3_finalize(statement);
	return code;
}

static bool list_row(void *context, struct str key, struct str value)
{
	struct keyspace keyspace;
	struct place place;

	if (place_read_key(key, &keyspace) && place_read_value(value, &place) && place.name[0])
		add(context, keyspace);
	return true;
}

enum code places_list(struct connection *connection, struct arena *arena,
		      const struct keyspace **keyspaces, size_t *n, struct err *err)
{
	struct listing listing = {.arena = arena};
	enum code code = list_named(connection, &listing, err);

	if (code != OK)
		return code;
	code = each_row(connection, PLACE_OF_KEYSPACE, list_row, &listing, err);
	*keyspaces = listing.found;
	*n = listing.n;
	return code;
}
