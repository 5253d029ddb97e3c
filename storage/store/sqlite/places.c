#include "storage/store/sqlite/places.h"

#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/rows.h"
#include "storage/store/sqlite/sqlite_state.h"
#include "storage/store/store_messages.h"

/* The number is that of the place: 0 where all rows of its SQL table are its own. */
#define PIECE(id, of)                                                                              \
	"DELETE FROM \"%s\" WHERE " id " IN (SELECT " id " FROM \"%s\" WHERE " of " LIMIT %d)"
static const char *const delete_sql[PLACE_TABLE_COUNT] = {
	[PLACE_TABLE_OWN] = PIECE("rowid", "0 = %lld ORDER BY rowid"),
	[PLACE_TABLE_SHARED] = PIECE("rowid", "n = %lld"),
	[PLACE_TABLE_KEYS] = PIECE("k", "0 = %lld"),
};

/* A copy, by the kind of the SQL table that has the rows, into one of its own or a shared one. */
#define COPIES(into)                                                                               \
	{                                                                                          \
		[PLACE_TABLE_OWN] = into "k, v FROM \"%s\" WHERE 0 = %lld ORDER BY k",             \
		[PLACE_TABLE_SHARED] = into "k, v FROM \"%s\" WHERE n = %lld ORDER BY k",          \
		[PLACE_TABLE_KEYS] =                                                               \
			into "k, " PLACE_KEYS_VALUE " FROM \"%s\" WHERE 0 = %lld ORDER BY k",      \
	}
static const char *const copy_sql[] = COPIES("INSERT INTO \"%s\" SELECT ");
static const char *const share_sql[] = COPIES("INSERT INTO \"%s\" (n, k, v) SELECT %lld, ");
/* Between two of one kind SQLite copies rows without looking into them, with their numbers. */
static const char *const alike_sql = "INSERT INTO \"%s\" SELECT * FROM \"%s\"";

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

static enum code put(struct connection *connection, struct str key, struct str value,
		     struct err *err)
{
	return rows_put(&connection->txn, PLACE_KEYSPACE, key, value, err);
}

static enum code del(struct connection *connection, struct str key, struct err *err)
{
	return rows_del(&connection->txn, PLACE_KEYSPACE, key, err);
}

static enum code put_place(struct connection *connection, struct keyspace keyspace,
			   const struct place *place, struct err *err)
{
	char key[PLACE_ROW_MAX], value[PLACE_ROW_MAX];

	return put(connection, place_key(keyspace, key), place_value(place, value), err);
}

/* The rows of a kind. */
static enum code list_places(struct connection *connection, enum place_kind kind,
			     struct arena *arena, struct store_page *rows, struct err *err)
{
	const char low = (char)kind, high = (char)(kind + 1);
	const struct store_range range = {{&low, 1}, {&high, 1}, false};

	return rows_page(&connection->txn, PLACE_KEYSPACE, &range, (struct store_bounds){0, 0},
			 arena, rows, err);
}

/* The first place of PLACE_DROPPED or PLACE_FREE in a SQL table of that kind, PLACE_TABLE_COUNT:
 * of any; without a name where there is none. */
static enum code first_unused(struct connection *connection, enum place_kind kind,
			      enum place_table table, struct place *place, struct err *err)
{
	struct store_page rows;
	enum code code = list_places(connection, kind, err->arena, &rows, err);

	for (size_t i = 0; code == OK && i < rows.n; i++) {
		if (place_read_unused(rows.v[i].key, place) &&
		    (table == PLACE_TABLE_COUNT || table == place_table(place)))
			return OK;
	}
	*place = (struct place){.number = 0};
	return code;
}

static enum code share(struct connection *connection, struct keyspace keyspace, struct err *err)
{
	const char kind = PLACE_NUMBER;
	struct place place = {.number = 0}, last = {.number = 0};
	char bytes[PLACE_ROW_MAX];
	struct str value;
	enum code code = has_table(connection, PLACE_SHARED)
				 ? OK
				 : create_table(connection, FILE_SCHEMA_SHARED, PLACE_SHARED, err);

	if (code != OK)
		return code;
	code = rows_get(&connection->txn, PLACE_KEYSPACE, (struct str){&kind, 1}, err->arena,
			&value, err);
	if (code != OK)
		return code;
	(void)(str_is_set(value) && place_read_value(value, &last));
	place = (struct place){last.number + 1, PLACE_SHARED};
	code = put(connection, (struct str){&kind, 1}, place_value(&place, bytes), err);
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

static enum code begin_growth(struct connection *connection, struct err *err)
{
	connection->store->quota.is_growing = true;
	return rows_begin_change(connection, err);
}

/* `table`: PLACE_TABLE_OWN, or PLACE_TABLE_KEYS; many keyspaces get PLACE_TABLE_SHARED. */
static enum code create(struct connection *connection, struct keyspace keyspace,
			enum place_table table, struct err *err)
{
	struct place place, unused;
	int64_t tables;
	enum code code = begin_growth(connection, err);

	if (code != OK)
		return code;
	enum code found = connection_place(connection, keyspace, &place, err);
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
	code = connection_number(connection,
				 "SELECT count(*) FROM sqlite_schema WHERE type = 'table'", &tables,
				 err);
	if (code != OK)
		return code;
	/* where it was dropped, others have the SQL table of its name */
	if (tables >= PLACES_OWN_MAX || found != OK ||
	    (table == PLACE_TABLE_KEYS && has_table(connection, place_of_keys(keyspace).name)))
		return share(connection, keyspace, err);
	return table == PLACE_TABLE_KEYS
		       ? create_keys(connection, keyspace, err)
		       : create_table(connection, FILE_SCHEMA_OWN, place.name, err);
}

enum code places_create(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return create((struct connection *)txn, keyspace, PLACE_TABLE_OWN, err);
}

enum code places_create_small(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	return create((struct connection *)txn, keyspace, PLACE_TABLE_KEYS, err);
}

static enum code copy_rows(struct connection *connection, const struct place *from,
			   const struct place *to, struct err *err)
{
	enum place_table table = place_table(from);
	char sql[400];

	if (place_table(to) == PLACE_TABLE_SHARED)
		sqlite3_snprintf(sizeof(sql), sql, share_sql[table], to->name, to->number,
				 from->name, from->number);
	else
		sqlite3_snprintf(sizeof(sql), sql,
				 place_table(to) == table ? alike_sql : copy_sql[table], to->name,
				 from->name, from->number);
	return connection_run(connection, sql, err);
}

enum code places_copy(struct store_txn *txn, struct keyspace from, struct keyspace to,
		      struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	struct place source, target;
	enum code code = begin_growth(connection, err);

	if (code != OK)
		return code;
	code = connection_place(connection, from, &source, err);
	if (code != OK)
		return code;
	code = connection_place(connection, to, &target, err);
	return code == OK ? copy_rows(connection, &source, &target, err) : code;
}

/* Deletes a piece of the rows; *is_all: there are no others. */
static enum code delete_piece(struct connection *connection, const struct place *place,
			      bool *is_all, struct err *err)
{
	char sql[400];

	sqlite3_snprintf(sizeof(sql), sql, delete_sql[place_table(place)], place->name, place->name,
			 place->number, PLACES_PIECE_ROWS);
	enum code code = connection_run(connection, sql, err);
	*is_all = code == OK && sqlite3_changes(connection->db) < PLACES_PIECE_ROWS;
	return code;
}

/* The place has no rows any more. */
static enum code set_free(struct connection *connection, const struct place *place, struct err *err)
{
	char key[PLACE_ROW_MAX];

	return place->number == 0 ? put(connection, place_key_free(place->name, key), STR(""), err)
				  : OK;
}

enum code places_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	const struct place own = place_of_name(keyspace), none = {.number = 0};
	struct place place;
	bool is_all;
	char key[PLACE_ROW_MAX];
	enum code code = rows_begin_change(connection, err);

	if (code != OK)
		return code;
	code = connection_place(connection, keyspace, &place, err);
	if (code != OK)
		return code;
	if (!has_table(connection, place.name))
		return err_default(err, ERR_RESOURCE_NOT_FOUND);
	connection->has_moved = true;
	connection->forgotten++;
	/* its name must not lead to a SQL table that another keyspace has or may get */
	code = has_table(connection, own.name) ? put_place(connection, keyspace, &none, err)
					       : del(connection, place_key(keyspace, key), err);
	if (code != OK)
		return code;
	code = delete_piece(connection, &place, &is_all, err);
	if (code != OK || is_all)
		return code == OK ? set_free(connection, &place, err) : code;
	atomic_store(&connection->store->has_dropped, true);
	return put(connection, place_key_dropped(&place, key), STR(""), err);
}

/*
 * The keys of rows that lie side by side are anywhere in the index, so each piece of them would
 * write hundreds of its pages. Without the index a piece leaves next to nothing in the log. To drop
 * the index takes 10 ms for 400,000 keys.
 */
static enum code drop_index(struct connection *connection, const struct place *place,
			    struct err *err)
{
	char sql[FILE_SCHEMA_SQL_MAX];

	sqlite3_snprintf(sizeof(sql), sql, "DROP INDEX IF EXISTS \"%s_key\"", place->name);
	return place_table(place) == PLACE_TABLE_OWN ? connection_run(connection, sql, err) : OK;
}

enum code places_tidy(struct connection *connection, bool *is_more, struct err *err)
{
	struct place place;
	bool is_all;
	char key[PLACE_ROW_MAX];
	enum code code = first_unused(connection, PLACE_DROPPED, PLACE_TABLE_COUNT, &place, err);

	*is_more = code == OK && place.name[0];
	if (!*is_more)
		return code;
	code = drop_index(connection, &place, err);
	if (code != OK)
		return code;
	code = delete_piece(connection, &place, &is_all, err);
	if (code != OK || !is_all)
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

/* The keyspaces that lie in the SQL tables of their names. */
static enum code list_named(struct connection *connection, sqlite3_stmt *statement,
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

enum code places_list(struct store_txn *txn, struct arena *arena, struct store_keyspaces *keyspaces,
		      struct err *err)
{
	struct connection *connection = (struct connection *)txn;
	struct listing listing = {.arena = arena};
	struct store_page rows;
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(connection->db,
			       "SELECT name FROM sqlite_master WHERE type = 'table'", -1,
			       &statement, NULL) != SQLITE_OK)
		return connection_error(connection, err);
	enum code code = list_named(connection, statement, &listing, err);
	sqlite3_finalize(statement);
	if (code != OK)
		return code;
	code = list_places(connection, PLACE_OF_KEYSPACE, arena, &rows, err);
	for (size_t i = 0; code == OK && i < rows.n; i++) {
		struct keyspace keyspace;
		struct place place;

		if (place_read_key(rows.v[i].key, &keyspace) &&
		    place_read_value(rows.v[i].value, &place) && place.name[0])
			add(&listing, keyspace);
	}
	*keyspaces = (struct store_keyspaces){listing.n, listing.found};
	return code;
}
