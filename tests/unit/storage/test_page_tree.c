/*
 * Rows read from pages in memory, against what SQLite reads from them: random rows of both kinds of SQL tables, with keys and values that go on in other
 * pages, and ranges in both directions.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "storage/store/sqlite/memory_file.h"
#include "storage/store/sqlite/page_tree.h"
#include "tests/unit/test.h"

#define KEY_MAX 3000
#define VALUE_MAX 20000
#define ROUNDS 8
#define CHANGES 600 /* in each round */

static const char *const kinds[] = {
	"CREATE TABLE rows (k BLOB NOT NULL, v BLOB NOT NULL); CREATE UNIQUE INDEX rows_key ON rows (k)",
	"CREATE TABLE rows (k BLOB NOT NULL PRIMARY KEY, v NOT NULL) WITHOUT ROWID",
};

struct database {
	sqlite3 *db;
	struct page_tree tree;
	struct arena *arena;
	unsigned seed;
	bool has_numbers; /* in place of some values */
};

static unsigned roll(struct database *d, unsigned n)
{
	d->seed = d->seed * 1103515245 + 12345;
	return d->seed / 65536 % n;
}

static void run(struct database *d, const char *sql)
{
	if (sqlite3_exec(d->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(d->db));
		abort();
	}
}

static sqlite3_stmt *prepare(struct database *d, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	CHECK_INT(sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL), SQLITE_OK);
	return statement;
}

/* Where the b-trees begin now. */
static void look_up(struct database *d)
{
	struct memory_file *file = memory_file_of(d->db);
	struct page_roots roots = {.schema = page_tree_schema(file)};
	sqlite3_stmt *statement = prepare(d, "SELECT name, rootpage FROM sqlite_schema");

	while (sqlite3_step(statement) == SQLITE_ROW) {
		bool is_table = strcmp((const char *)sqlite3_column_text(statement, 0), "rows") == 0;

		*(is_table && !d->has_numbers ? &roots.rows : &roots.keys) = (uint32_t)sqlite3_column_int(statement, 1);
	}
	sqlite3_finalize(statement);
	CHECK(roots.schema != 0);
	d->tree = page_tree_of(file, roots);
}

static struct database database_new(unsigned kind, unsigned reserved)
{
	struct database d = {.arena = arena_new(1 << 22), .seed = 7 * kind + reserved + 1, .has_numbers = kind == 1};
	int bytes = (int)reserved;

	CHECK(memory_file_install());
	CHECK_INT(sqlite3_open_v2("/trees", &d.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, MEMORY_FILE_SYSTEM), SQLITE_OK);
	sqlite3_file_control(d.db, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
	run(&d, "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; VACUUM");
	run(&d, kinds[kind]);
	look_up(&d);
	return d;
}

static void database_free(struct database *d)
{
	CHECK_INT(sqlite3_close(d->db), SQLITE_OK);
	arena_free(d->arena);
}

static struct str random_bytes(struct database *d, size_t n)
{
	char *bytes = arena_bytes(d->arena, n + 1);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)("\0ab\377"[roll(d, 4)]);
	return (struct str){bytes, n};
}

/* Short ones, ones that begin alike, and now and then one that does not fit into a page. */
static struct str random_key(struct database *d)
{
	return random_bytes(d, roll(d, 20) == 0 ? 1 + roll(d, KEY_MAX) : 1 + roll(d, roll(d, 2) ? 6 : 40));
}

static void bind(sqlite3_stmt *statement, int position, struct str bytes)
{
	CHECK_INT(sqlite3_bind_blob64(statement, position, bytes.p, bytes.n, SQLITE_STATIC), SQLITE_OK);
}

static void finish(sqlite3_stmt *statement)
{
	CHECK_INT(sqlite3_step(statement), SQLITE_DONE);
	CHECK_INT(sqlite3_finalize(statement), SQLITE_OK);
}

static void change(struct database *d)
{
	struct str key = random_key(d);
	sqlite3_stmt *statement;

	if (roll(d, 60) == 0) {
		char end[] = {key.p[0], key.n > 1 ? key.p[1] : 'a', '\377'};

		statement = prepare(d, "DELETE FROM rows WHERE k >= ?1 AND k < ?2");
		bind(statement, 1, key);
		bind(statement, 2, (struct str){end, sizeof(end)});
		finish(statement);
		return;
	}
	statement = prepare(d, "INSERT INTO rows (k, v) VALUES (?1, ?2) ON CONFLICT (k) DO UPDATE SET v = excluded.v");
	bind(statement, 1, key);
	if (d->has_numbers && roll(d, 2))
		CHECK_INT(sqlite3_bind_int64(statement, 2, (sqlite3_int64)roll(d, 3) << roll(d, 60)), SQLITE_OK);
	else
		bind(statement, 2, random_bytes(d, roll(d, 10) == 0 ? roll(d, VALUE_MAX) : roll(d, 300)));
	finish(statement);
}

static struct str column(sqlite3_stmt *statement, int position)
{
	const char *p = sqlite3_column_blob(statement, position);

	return (struct str){p ? p : "", (size_t)sqlite3_column_bytes(statement, position)};
}

/* The value that the store gives. */
static struct str value_of(sqlite3_stmt *statement)
{
	return sqlite3_column_type(statement, 1) == SQLITE_INTEGER ? STORE_REFERENCE : column(statement, 1);
}

static void check_get(struct database *d, struct str key)
{
	sqlite3_stmt *statement = prepare(d, "SELECT k, v FROM rows WHERE k = ?1");
	struct str value;

	bind(statement, 1, key);
	int result = sqlite3_step(statement);
	CHECK(page_tree_get(&d->tree, key, d->arena, &value));
	CHECK_INT(str_is_set(value), result == SQLITE_ROW);
	if (result == SQLITE_ROW)
		CHECK(str_eq(value, value_of(statement)));
	sqlite3_finalize(statement);
}

/* One row of a range as both have it; false where it is over. */
static bool check_row(struct page_tree_cursor *cursor, sqlite3_stmt *statement)
{
	struct page_entry entry;
	struct store_row row;
	int result = sqlite3_step(statement);

	CHECK(page_tree_next(cursor, &entry));
	CHECK_INT(str_is_set(entry.key), result == SQLITE_ROW);
	if (!str_is_set(entry.key) || result != SQLITE_ROW)
		return false;
	CHECK(page_tree_entry_row(cursor, &entry, &row));
	CHECK(str_eq(row.key, column(statement, 0)));
	CHECK(str_eq(row.value, value_of(statement)));
	CHECK(str_eq(entry.key, row.key));
	if (entry.has_number && cursor->tree->roots.rows != 0) {
		CHECK(page_tree_row(cursor->tree, entry.number, cursor->arena, &row));
		CHECK(str_eq(row.key, column(statement, 0)));
	} else if (entry.has_number) {
		CHECK_INT(entry.number, sqlite3_column_int64(statement, 1));
	}
	return true;
}

static void check_range(struct database *d, struct store_range range)
{
	sqlite3_stmt *statement = prepare(d, range.is_reverse ? "SELECT k, v FROM rows WHERE k >= ?1 AND (k < ?2 OR ?2 IS NULL) ORDER BY k DESC"
							     : "SELECT k, v FROM rows WHERE k >= ?1 AND (k < ?2 OR ?2 IS NULL) ORDER BY k");
	struct page_tree_cursor cursor;

	bind(statement, 1, str_is_set(range.low) ? range.low : STR(""));
	if (str_is_set(range.high))
		bind(statement, 2, range.high);
	CHECK(page_tree_seek(&cursor, &d->tree, &range, d->arena));
	while (check_row(&cursor, statement))
		continue;
	sqlite3_finalize(statement);
}

static void check_everything(struct database *d)
{
	for (int i = 0; i < 30; i++) {
		struct store_range range = {.low = STR_ABSENT, .high = STR_ABSENT, .is_reverse = roll(d, 2) != 0};

		check_get(d, random_key(d));
		if (roll(d, 5))
			range.low = roll(d, 5) ? random_key(d) : STR("");
		if (roll(d, 3))
			range.high = random_key(d);
		check_range(d, range);
	}
	/* each key that is there, too */
	sqlite3_stmt *statement = prepare(d, "SELECT k FROM rows");
	while (sqlite3_step(statement) == SQLITE_ROW)
		check_get(d, column(statement, 0));
	sqlite3_finalize(statement);
}

static void check_kind(unsigned kind, unsigned reserved)
{
	struct database d = database_new(kind, reserved);

	check_everything(&d);
	for (int i = 0; i < ROUNDS; i++) {
		run(&d, "BEGIN IMMEDIATE");
		for (int k = 0; k < CHANGES; k++)
			change(&d);
		run(&d, "COMMIT");
		d.tree = page_tree_of(d.tree.file, d.tree.roots);
		check_everything(&d);
		arena_reset(d.arena);
	}
	database_free(&d);
}

TEST(rows_with_numbers_are_as_sqlite_reads_them)
{
	check_kind(0, 0);
	check_kind(0, 4);
}

TEST(rows_in_one_tree_are_as_sqlite_reads_them)
{
	check_kind(1, 0);
	check_kind(1, 4);
}

TEST(a_changed_schema_has_another_number)
{
	struct database d = database_new(0, 0);
	uint32_t before = d.tree.roots.schema;

	run(&d, "INSERT INTO rows (k, v) VALUES (x'01', x'02')");
	CHECK_INT(page_tree_schema(d.tree.file), before);
	run(&d, "CREATE TABLE more (k)");
	CHECK(page_tree_schema(d.tree.file) != before);
	database_free(&d);
}

/* Roots that are pages of another kind, or none: whoever asks is sent to SQLite. */
TEST(other_pages_are_no_tree)
{
	struct database d = database_new(0, 0);
	struct page_roots wrong[] = {
		{.keys = d.tree.roots.rows, .rows = d.tree.roots.keys}, {.keys = 1, .rows = 1}, {.keys = 4000, .rows = 4000}, {.keys = 0, .rows = 0},
	};
	struct page_tree_cursor cursor;
	struct store_row row;
	struct str value;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct page_tree tree = page_tree_of(d.tree.file, wrong[i]);

		CHECK(!page_tree_get(&tree, STR("a"), d.arena, &value));
		CHECK(!page_tree_row(&tree, 1, d.arena, &row));
		CHECK(!page_tree_seek(&cursor, &tree, &(struct store_range){.low = STR_ABSENT}, d.arena));
	}
	database_free(&d);
}

TEST_MAIN(TEST_CASE(rows_with_numbers_are_as_sqlite_reads_them), TEST_CASE(rows_in_one_tree_are_as_sqlite_reads_them),
	  TEST_CASE(a_changed_schema_has_another_number), TEST_CASE(other_pages_are_no_tree))
