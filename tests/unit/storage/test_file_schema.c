/* The schema of a new data file, and of one from elsewhere, with right checksums: what this server
 * did not make is refused by its name, before anything of it runs. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/page_file.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(9, PART_ITEMS)
#define KEYS KEYSPACE(9, PART_EXPIRY)
#define STREAM KEYSPACE(9, PART_STREAM)
#define ENTRIES_MAX 64

/* By the file system that gives pages their checksums. */
static void run_outside(const char *path, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, page_file_system()), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* A file with each kind of SQL table. */
static struct fixture file_of_all(void)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);

	fixture_create(&fixture, store, ITEMS);
	fixture_create(&fixture, store, STREAM);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_create_small(txn, KEYS, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	store_close(store);
	return fixture;
}

static bool contains(struct str text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static void check_refused(struct fixture *fixture, const char *name)
{
	struct store *store = NULL;

	fixture->options.path = fixture->path;
	CHECK_INT(sqlite_store_open(&fixture->options, &store, &fixture->err), ERR_INTERNAL);
	CHECK(contains(fixture->err.message, name) &&
	      contains(fixture->err.message, "is not of this server"));
	if (!contains(fixture->err.message, name))
		fprintf(stderr, "%s: " STR_FMT "\n", name, STR_ARG(fixture->err.message));
}

TEST(a_file_of_this_server_is_opened_again)
{
	struct fixture fixture = file_of_all();
	struct store *store = fixture_open(&fixture);

	CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
	store_close(store);
	fixture_free(&fixture);
}

TEST(what_is_not_of_this_server_is_refused_by_its_name)
{
#define FORGE "PRAGMA writable_schema=ON; "
#define ENDLESS                                                                                    \
	"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
	static const struct {
		const char *sql, *name;
	} cases[] = {
		{"CREATE TRIGGER forever AFTER INSERT ON items_9 BEGIN SELECT max(x) FROM (" ENDLESS
		 "); END",
		 "trigger \"forever\""},
		{"CREATE TRIGGER thief AFTER INSERT ON shared_rows BEGIN DELETE FROM "
		 "system_tables; END",
		 "trigger \"thief\""},
		{"CREATE VIEW shown AS " ENDLESS, "view \"shown\""},
		{"CREATE TABLE mine (k, v)", "table \"mine\""},
		{"CREATE TABLE items_10 (k BLOB NOT NULL, v BLOB NOT NULL DEFAULT (randomblob(9)))",
		 "table \"items_10\""},
		{"CREATE TABLE keys_mine (k BLOB NOT NULL PRIMARY KEY, v NOT NULL) WITHOUT ROWID",
		 "table \"keys_mine\""},
		{"CREATE INDEX other ON items_9 (v)", "index \"other\""},
		{"CREATE UNIQUE INDEX items_9_key2 ON items_9 (k)", "index \"items_9_key2\""},
		{"DROP INDEX items_9_key; CREATE UNIQUE INDEX items_9_key ON items_9 (k) WHERE k > "
		 "x'00'",
		 "index \"items_9_key\""},
		{"CREATE TABLE \"a\n\x1b[2Jb\" (k)", "table \"a??[2Jb\""},
		{"ANALYZE", "table \"sqlite_stat1\""},
		{FORGE "UPDATE sqlite_schema SET sql = replace(sql, 'v BLOB', 'v BLOB CHECK (v > "
		       "1)') WHERE name = 'items_9'",
		 "table \"items_9\""},
		{FORGE "UPDATE sqlite_schema SET sql = replace(sql, 'v BLOB NOT NULL', 'v AS (k)') "
		       "WHERE name = 'system_tables'",
		 "table \"system_tables\""},
		{FORGE "INSERT INTO sqlite_schema VALUES ('table', 'far', 'far', 0, 'CREATE "
		       "VIRTUAL TABLE far USING none(x)')",
		 "table \"far\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = file_of_all();

		run_outside(fixture.path, cases[i].sql);
		check_refused(&fixture, cases[i].name);
		fixture_free(&fixture);
	}
}

static int add_name(void *context, int n, char **values, char **columns)
{
	char (*names)[64] = context;

	(void)n, (void)columns;
	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		if (names[i][0] == '\0')
			return snprintf(names[i], sizeof(names[i]), "%s", values[0]) < 0;
	}
	return 1;
}

/* Each statement of a file, changed by one space. */
TEST(each_changed_statement_is_refused)
{
	char names[ENTRIES_MAX][64] = {{0}}, sql[256];
	struct fixture first = file_of_all();
	sqlite3 *db;
	size_t n = 0;

	CHECK_INT(sqlite3_open(first.path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, "SELECT name FROM sqlite_schema WHERE sql IS NOT NULL", add_name,
			       names, NULL),
		  SQLITE_OK);
	sqlite3_close(db);
	fixture_free(&first);
	for (; n < ENTRIES_MAX && names[n][0]; n++) {
		struct fixture fixture = file_of_all();

		sqlite3_snprintf(sizeof(sql), sql,
				 FORGE "UPDATE sqlite_schema SET sql = sql || ' ' WHERE name = %Q",
				 names[n]);
		run_outside(fixture.path, sql);
		check_refused(&fixture, names[n]);
		fixture_free(&fixture);
	}
	CHECK(n >= 9);
}

static int add_text(void *context, int n, char **values, char **names)
{
	struct buf *buf = context;

	(void)names;
	for (int i = 0; i < n; i++)
		buf_printf(buf, "%s|", values[i] ? values[i] : "NULL");
	buf_printf(buf, "\n");
	return 0;
}

static struct str ask(sqlite3 *db, struct arena *arena, const char *sql)
{
	struct buf buf = buf_in(arena);

	CHECK_INT(sqlite3_exec(db, sql, add_text, &buf, NULL), SQLITE_OK);
	return buf_str(&buf);
}

TEST(a_new_file_has_the_tables_of_the_system)
{
	struct fixture fixture = fixture_new(false);
	sqlite3 *db;

	store_close(fixture_open(&fixture));
	CHECK_INT(sqlite3_open_v2(fixture.path, &db, SQLITE_OPEN_READWRITE, page_file_system()),
		  SQLITE_OK);
	for (uint32_t i = 0; i <= SYSTEM_PART_COUNT; i++) {
		struct keyspace keyspace = {0, i < SYSTEM_PART_COUNT ? i : PLACE_SYSTEM_PART};
		char sql[FILE_SCHEMA_SQL_MAX], question[400];
		struct place place = place_of_name(keyspace);

		file_schema_table_sql(FILE_SCHEMA_SYSTEM, place.name, sql);
		sqlite3_snprintf(sizeof(question), question,
				 "SELECT sql = %Q FROM sqlite_schema WHERE name = %Q", sql,
				 place.name);
		CHECK_STR(ask(db, fixture.arena, question), "1|\n");
	}
	CHECK_STR(ask(db, fixture.arena,
		      "SELECT count(*) FROM sqlite_schema WHERE type = 'table'; PRAGMA "
		      "integrity_check; PRAGMA application_id; PRAGMA user_version; PRAGMA "
		      "journal_mode; PRAGMA page_size; PRAGMA encoding; PRAGMA auto_vacuum; PRAGMA "
		      "freelist_count"),
		  "6|\nok|\n1146703436|\n3|\nwal|\n4096|\nUTF-8|\n0|\n0|\n");
	sqlite3_close(db);
	fixture_free(&fixture);
}

/* A file that was put there since the creation was cut: SQLite would empty it by that journal. */
static void check_left_alone(struct fixture *fixture, off_t size, const char *journal)
{
	struct store *store = NULL;
	struct stat status;

	CHECK_INT(truncate(fixture->path, size), 0);
	CHECK_INT(sqlite_store_open(&fixture->options, &store, &fixture->err), ERR_INTERNAL);
	CHECK(contains(fixture->err.message, journal));
	CHECK_INT(stat(fixture->path, &status), 0);
	CHECK_INT(status.st_size, size);
}

/* What test_power's disks leave of page 1, and the journal of a file that had no page. */
TEST(a_creation_that_was_cut_starts_over)
{
	static const char journal[512] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\0abcd\0\0\0\0"
					 "\0\0\2\0\0\0\x10\0",
			  page[2 * STORE_PAGE] = "";
	struct fixture fixture = fixture_new(false);
	struct store *store = NULL;
	struct stat status;
	char name[96], log[96];

	snprintf(name, sizeof(name), "%s-journal", fixture.path);
	fixture.options.path = fixture.path;
	fixture_write(fixture.path, (struct str){page, sizeof(page)});
	CHECK_INT(sqlite_store_open(&fixture.options, &store, &fixture.err), ERR_INTERNAL);
	CHECK(contains(fixture.err.message, "is not a data file"));
	CHECK_INT(stat(fixture.path, &status), 0);
	CHECK_INT(status.st_size, sizeof(page));
	fixture_write(name, (struct str){journal, sizeof(journal)});
	check_left_alone(&fixture, (FILE_SCHEMA_PAGES + 1) * STORE_PAGE, name);
	snprintf(log, sizeof(log), "%s-wal", fixture.path);
	fixture_write(log, STR("x"));
	check_left_alone(&fixture, sizeof(page), name);
	CHECK_INT(unlink(log), 0);
	store = fixture_open(&fixture);
	CHECK_INT(
		fixture_put_alone(&fixture, store, KEYSPACE(0, SYSTEM_TABLES), STR("k"), STR("v")),
		OK);
	store_close(store);
	CHECK(access(name, F_OK) != 0);
	store = fixture_open(&fixture);
	CHECK_STR(fixture_get_alone(&fixture, store, KEYSPACE(0, SYSTEM_TABLES), "k"), "v");
	store_close(store);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(a_file_of_this_server_is_opened_again),
	  TEST_CASE(what_is_not_of_this_server_is_refused_by_its_name),
	  TEST_CASE(each_changed_statement_is_refused),
	  TEST_CASE(a_new_file_has_the_tables_of_the_system),
	  TEST_CASE(a_creation_that_was_cut_starts_over))
