#include "storage/store/sqlite/file_schema.h"
#include "storage/store/sqlite/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/buf.h"
#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/places.h"
#include "tests/unit/storage/store_fixture.h"

#define SIZE NEW_FILE_SIZE

static void write_file(const char *path, const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, bytes, n), n);
	close(fd);
}

/* A file as it is created, in the fixture's arena. */
static char *whole(struct fixture *fixture)
{
	unsigned char *image = new_file_image(SQLITE_STORE_FORMAT, true);
	char *bytes = arena_bytes(fixture->arena, SIZE);

	memcpy(bytes, image, SIZE);
	sqlite3_free(image);
	return bytes;
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

/* What SQLite itself makes of the same statements. */
static sqlite3 *open_model(void)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(":memory:", &db), SQLITE_OK);
	for (uint32_t i = 0; i <= SYSTEM_PART_COUNT; i++) {
		char name[KEYSPACE_NAME_MAX], sql[FILE_SCHEMA_SQL_MAX];

		keyspace_name(i < SYSTEM_PART_COUNT ? (struct keyspace){0, i} : PLACE_KEYSPACE,
			      name);
		file_schema_table_sql(FILE_SCHEMA_SYSTEM, name, sql);
		CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	}
	return db;
}

TEST(sqlite_reads_what_it_would_have_written)
{
	static const char schema[] = "SELECT rowid, * FROM sqlite_master ORDER BY rowid";
	struct fixture fixture = fixture_new(false);
	sqlite3 *db, *model = open_model();

	write_file(fixture.path, whole(&fixture), SIZE);
	CHECK_INT(sqlite3_open_v2(fixture.path, &db, SQLITE_OPEN_READWRITE, page_file_system()),
		  SQLITE_OK);
	struct str found = ask(db, fixture.arena, schema);
	CHECK(found.n > 500);
	CHECK(str_eq(found, ask(model, fixture.arena, schema)));
	CHECK_STR(ask(db, fixture.arena, "PRAGMA integrity_check"), "ok|\n");
	CHECK_STR(ask(db, fixture.arena,
		      "PRAGMA application_id; PRAGMA user_version; PRAGMA journal_mode; PRAGMA "
		      "page_size; PRAGMA encoding; PRAGMA auto_vacuum; "
		      "PRAGMA freelist_count"),
		  "1146703436|\n3|\nwal|\n4096|\nUTF-8|\n0|\n0|\n");
	CHECK_STR(ask(db, fixture.arena,
		      "INSERT INTO system_tables VALUES (x'01', x'02'), (x'00', x'03'); CREATE "
		      "TABLE more (a UNIQUE); INSERT INTO more VALUES (7);"
		      "SELECT hex(v) FROM system_tables ORDER BY k; SELECT a FROM more; PRAGMA "
		      "integrity_check"),
		  "03|\n02|\n7|\nok|\n");
	sqlite3_close(db);
	sqlite3_close(model);
	fixture_free(&fixture);
}

static void check_opens(struct fixture *fixture, const char *bytes, size_t n)
{
	write_file(fixture->path, bytes, n);
	struct store *store = fixture_open(fixture);
	CHECK(!str_is_set(fixture_get_alone(fixture, store, KEYSPACE(0, SYSTEM_TABLES), "k")));
	CHECK_INT(fixture_put_alone(fixture, store, KEYSPACE(0, SYSTEM_TABLES), STR("k"), STR("v")),
		  OK);
	store_close(store);
	store = fixture_open(fixture);
	CHECK_STR(fixture_get_alone(fixture, store, KEYSPACE(0, SYSTEM_TABLES), "k"), "v");
	store_close(store);
	fixture_unlink(fixture);
}

static void check_stays(struct fixture *fixture, const char *bytes, size_t n)
{
	struct store *store = NULL;
	struct stat status;

	write_file(fixture->path, bytes, n);
	CHECK(sqlite_store_open(&fixture->options, &store, &fixture->err) != OK);
	CHECK_INT(stat(fixture->path, &status), 0);
	CHECK_INT(status.st_size, n);
	fixture_unlink(fixture);
}

/* The states that a kill or a power cut leaves: any of its writes, and of a write any bytes. */
TEST(an_unfinished_creation_starts_over)
{
	struct fixture fixture = fixture_new(false);
	char *bytes = whole(&fixture), *cut = arena_bytes(fixture.arena, SIZE);

	fixture.options.path = fixture.path;
	check_opens(&fixture, bytes, SIZE);
	check_opens(&fixture, bytes, 1);
	check_opens(&fixture, bytes, 100);
	check_opens(&fixture, bytes, SIZE - STORE_PAGE);
	check_opens(&fixture, bytes, SIZE - 1);
	for (size_t page = 0; page < NEW_FILE_PAGES; page++) {
		memcpy(cut, bytes, SIZE);
		memset(cut + page * STORE_PAGE, 0, STORE_PAGE);
		check_opens(&fixture, cut, SIZE);
		memcpy(cut + page * STORE_PAGE, bytes + page * STORE_PAGE, 700);
		check_opens(&fixture, cut, SIZE);
	}
	memset(cut, 0, SIZE);
	check_opens(&fixture, cut, SIZE);
	fixture_free(&fixture);
}

TEST(what_may_be_data_stays)
{
	struct fixture fixture = fixture_new(false);
	char *bytes = whole(&fixture),
	     *cut = memset(arena_bytes(fixture.arena, SIZE + 1), 0, SIZE + 1), log[80];

	fixture.options.path = fixture.path;
	snprintf(log, sizeof(log), "%s-wal", fixture.path);
	check_stays(&fixture, cut, SIZE + 1); /* larger than a new file */
	cut[SIZE - 1] = 1;
	check_stays(&fixture, cut, SIZE);
	memcpy(cut, bytes, SIZE);
	memset(cut, 0, STORE_PAGE);
	write_file(log, "x", 1); /* something was committed */
	check_stays(&fixture, cut, SIZE);
	memcpy(cut, bytes, SIZE);
	cut[200] = (char)(cut[200] + 1);
	check_stays(&fixture, cut, SIZE);
	fixture_free(&fixture);
}

static void check_copied(struct fixture *fixture, const char *why)
{
	struct sqlite_store_options options = fixture->options;
	struct store *store = NULL;
	enum code code;

	options.path = NULL;
	options.copied = fixture->path;
	code = sqlite_store_open(&options, &store, &fixture->err);
	CHECK_INT(code, why ? ERR_INTERNAL : OK);
	if (code == OK)
		store_close(store);
	else
		CHECK(str_contains(fixture->err.message, str_of(why)));
}

TEST(a_file_in_use_is_not_copied_to_memory)
{
	struct fixture fixture = fixture_new(false);
	char log[96];
	struct store *store = fixture_open(&fixture);

	check_copied(&fixture, "dynalith backup");
	store_close(store);
	check_copied(&fixture, NULL);
	snprintf(log, sizeof(log), "%s-wal", fixture.path);
	write_file(log, "", 0); /* of a server that has written nothing yet */
	check_copied(&fixture, "dynalith backup");
	CHECK_INT(unlink(log), 0);
	snprintf(log, sizeof(log), "%s-journal", fixture.path);
	write_file(log, "x", 1);
	check_copied(&fixture, "dynalith backup");
	CHECK_INT(unlink(log), 0);
	int fd = open(fixture.path, O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(fd, LOCK_SH), 0); /* another copy is made */
	check_copied(&fixture, NULL);
	CHECK_INT(flock(fd, LOCK_EX), 0);
	check_copied(&fixture, "dynalith backup");
	close(fd);
	check_copied(&fixture, NULL);
	fixture_free(&fixture);
}

TEST(only_files_are_copied_to_memory)
{
	struct fixture fixture = fixture_new(false);

	check_copied(&fixture, "No such file");
	CHECK_INT(mkfifo(fixture.path, 0600), 0);
	check_copied(&fixture, "is not a data file");
	CHECK_INT(unlink(fixture.path), 0);
	CHECK_INT(mkdir(fixture.path, 0700), 0);
	check_copied(&fixture, "Is a directory");
	CHECK_INT(rmdir(fixture.path), 0);
	write_file(fixture.path, "", 0);
	check_copied(&fixture, "is not a data file");
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(sqlite_reads_what_it_would_have_written),
	  TEST_CASE(an_unfinished_creation_starts_over), TEST_CASE(what_may_be_data_stays),
	  TEST_CASE(a_file_in_use_is_not_copied_to_memory),
	  TEST_CASE(only_files_are_copied_to_memory))
