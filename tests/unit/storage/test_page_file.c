/* Damaged data files: flipped bytes are refused, never answered. */
#include "tests/unit/storage/store_fixture.h"

#include "storage/store/sqlite/page_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS 400
#define FLIPS 250

static const struct keyspace items = {7, PART_ITEMS};

static struct str row_key(struct arena *arena, unsigned i)
{
	char *text = arena_bytes(arena, 16);

	return (struct str){text, (size_t)snprintf(text, 16, "key-%05u", i * 7919 % 100000)};
}

/* Up to 6 KB, so that some rows have pages of their own. */
static struct str row_value(struct arena *arena, unsigned i)
{
	size_t n = 20 + i * 37 % 900 + (i % 50 == 0 ? 5000 : 0);
	char *bytes = arena_bytes(arena, n);

	for (size_t k = 0; k < n; k++)
		bytes[k] = (char)(i * 31 + k * 7);
	return (struct str){bytes, n};
}

static void fill(struct fixture *fixture)
{
	struct store *store = fixture_open(fixture);
	struct store_txn *txn;

	CHECK_INT(store_begin(store, STORE_WRITE, &txn, &fixture->err), OK);
	CHECK_INT(store_create(txn, items, &fixture->err), OK);
	for (unsigned i = 0; i < ROWS; i++)
		CHECK_INT(store_put(txn, items, row_key(fixture->arena, i),
				    row_value(fixture->arena, i), &fixture->err),
			  OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	store_close(store);
}

struct tally {
	unsigned right, refused, wrong;
};

struct seen {
	struct arena *arena;
	unsigned rows;
	bool is_wrong;
};

static bool see(void *context, struct str key, struct str value)
{
	struct seen *seen = context;

	(void)key;
	seen->rows++;
	seen->is_wrong = seen->is_wrong || value.n < 20;
	return true;
}

/* Reads every row by its key, then all in order. */
static void read_all(struct fixture *fixture, struct store *store, struct tally *tally)
{
	struct arena *arena = arena_new(1 << 16);
	struct err err = err_in(arena);
	struct store_txn *txn;

	if (store_begin(store, STORE_READ, &txn, &err) != OK) {
		tally->refused++;
		arena_free(arena);
		return;
	}
	for (unsigned i = 0; i < ROWS; i++) {
		struct str value = STR_ABSENT;
		enum code code =
			store_get(txn, items, row_key(fixture->arena, i), arena, &value, &err);

		tally->right += code == OK && str_eq(value, row_value(arena, i));
		tally->refused += code != OK;
		tally->wrong += code == OK && !str_eq(value, row_value(arena, i));
	}
	struct seen seen = {.arena = arena};
	enum code code =
		scan_rows(txn, items, &(struct store_range){.low = STR("")}, see, &seen, &err);
	tally->refused += code != OK;
	tally->wrong += code == OK && (seen.rows != ROWS || seen.is_wrong);
	store_abort(txn);
	arena_free(arena);
}

static void flip(const char *path, off_t at, unsigned char mask)
{
	unsigned char byte;
	int fd = open(path, O_RDWR);

	CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
	byte ^= mask;
	CHECK(pwrite(fd, &byte, 1, at) == 1);
	close(fd);
}

/* One byte at a time, anywhere in the file: whatever is answered is right. */
TEST(flipped_bytes_are_never_answered)
{
	struct fixture fixture = fixture_new(false);
	struct tally tally = {0};
	struct stat status;

	fill(&fixture);
	CHECK_INT(stat(fixture.path, &status), 0);
	for (unsigned i = 0; i < FLIPS; i++) {
		off_t at = (off_t)((uint64_t)i * (uint64_t)status.st_size / FLIPS + i % 97);
		unsigned char mask = (unsigned char)(1 << i % 8);
		struct store *store = NULL;

		flip(fixture.path, at, mask);
		if (sqlite_store_open(&fixture.options, &store, &fixture.err) == OK) {
			read_all(&fixture, store, &tally);
			store_close(store);
		} else {
			tally.refused++;
		}
		flip(fixture.path, at, mask);
	}
	CHECK_INT(tally.wrong, 0);
	CHECK(tally.refused > FLIPS &&
	      tally.right > tally.refused); /* what is whole is still served */
	fixture_free(&fixture);
}

/* Pages that were whole when they were read before are checked again. */
TEST(damage_is_seen_while_the_store_is_open)
{
	struct fixture fixture = fixture_new(false);
	struct tally before = {0}, after = {0};
	struct stat status;

	fill(&fixture);
	fixture.options.cache_bytes = 8192;
	struct store *store = fixture_open(&fixture);
	read_all(&fixture, store, &before);
	CHECK_INT(before.right, ROWS);
	CHECK_INT(stat(fixture.path, &status), 0);
	for (off_t at = STORE_PAGE + 2000; at < status.st_size; at += STORE_PAGE)
		flip(fixture.path, at, 1);
	read_all(&fixture, store, &after);
	CHECK_INT(after.wrong, 0);
	CHECK(after.refused > ROWS / 2);
	store_close(store);
	fixture_free(&fixture);
}

/* The error names the page, and the rows of other pages are served. */
TEST(a_damaged_page_is_named)
{
	struct fixture fixture = fixture_new(false);
	struct tally tally = {0};
	struct stat status;

	fill(&fixture);
	CHECK_INT(stat(fixture.path, &status), 0);
	flip(fixture.path, status.st_size - 2000, 1);
	struct store *store = fixture_open(&fixture);
	read_all(&fixture, store, &tally);
	CHECK(tally.right > 0 && tally.refused > 0);
	CHECK_INT(tally.wrong, 0);

	struct store_txn *txn;
	struct seen seen = {.rows = 0};
	char wanted[80];
	CHECK_INT(store_begin(store, STORE_READ, &txn, &fixture.err), OK);
	CHECK_INT(scan_rows(txn, items, &(struct store_range){.low = STR("")}, see, &seen,
			    &fixture.err),
		  ERR_INTERNAL);
	snprintf(wanted, sizeof(wanted), "the data file is damaged: page %u fails its checksum",
		 (unsigned)((status.st_size - 2000) / 4096 + 1));
	CHECK_STR(fixture.err.message, wanted);
	store_abort(txn);
	store_close(store);
	fixture_free(&fixture);
}

/* A store in memory that begins as a copy of the file. */
static enum code open_copy(struct fixture *fixture, struct store **store)
{
	struct sqlite_store_options options = fixture->options;

	options.path = NULL;
	options.copied = fixture->path;
	return sqlite_store_open(&options, store, &fixture->err);
}

/* It has no checksums of its own to find the damage later. */
TEST(a_damaged_page_is_not_copied_to_memory)
{
	struct fixture fixture = fixture_new(false);
	struct tally tally = {0};
	struct stat status;
	struct store *store = NULL;
	char wanted[160];

	fill(&fixture);
	CHECK_INT(stat(fixture.path, &status), 0);
	for (off_t page = 0; page < status.st_size / STORE_PAGE; page++) {
		off_t at = page * STORE_PAGE + (page == 0 ? 20 : page * 61 % STORE_PAGE);

		flip(fixture.path, at, 4); /* of the first: the room for checksums */
		CHECK_INT(open_copy(&fixture, &store), ERR_INTERNAL);
		snprintf(wanted, sizeof(wanted),
			 page == 0 ? "cannot open %s: its first page is damaged"
				   : "cannot open %s: the data file is damaged: page %u fails its "
				     "checksum",
			 fixture.path, (unsigned)page + 1);
		CHECK_STR(fixture.err.message, wanted);
		flip(fixture.path, at, 4);
	}
	CHECK_INT(open_copy(&fixture, &store), OK);
	read_all(&fixture, store, &tally);
	CHECK_INT(tally.right, ROWS);
	store_close(store);
	CHECK_INT(truncate(fixture.path, status.st_size - STORE_PAGE), 0);
	CHECK_INT(open_copy(&fixture, &store), ERR_INTERNAL);
	CHECK(str_contains(fixture.err.message, str_of(fixture.path)));
	fixture_free(&fixture);
}

/* SQLite from 3.45 on reads values of overflow pages so, past its cache. */
TEST(a_part_of_a_damaged_page_is_refused)
{
	struct fixture fixture = fixture_new(false);
	struct stat status;
	char bytes[500];

	fill(&fixture);
	CHECK_INT(stat(fixture.path, &status), 0);
	off_t page = (status.st_size - 2000) / 4096 * 4096;
	flip(fixture.path, status.st_size - 2000, 1);
	sqlite3_vfs *vfs = sqlite3_vfs_find("dynalith");
	const char *name = sqlite3_create_filename(fixture.path, "", "", 0, NULL);
	sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
	CHECK_INT(vfs->xOpen(vfs, name, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, NULL),
		  SQLITE_OK);
	CHECK_INT(file->pMethods->xRead(file, bytes, sizeof(bytes), page + 4), SQLITE_IOERR_DATA);
	CHECK_INT(file->pMethods->xRead(file, bytes, sizeof(bytes), page - 4096 + 4), SQLITE_OK);
	file->pMethods->xClose(file);
	free(file);
	sqlite3_free_filename((char *)(uintptr_t)name);
	fixture_free(&fixture);
}

static void run_outside(const char *path, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* A file of format 1 has no checksums; it is read and written as before. */
TEST(files_without_checksums_stay_as_they_are)
{
	struct fixture fixture = fixture_new(false);
	struct tally tally = {0};

	run_outside(
		fixture.path,
		"PRAGMA page_size=4096; PRAGMA application_id=1146703436; PRAGMA user_version=1;"
		"CREATE TABLE \"system_tables\" (k BLOB NOT NULL UNIQUE, v BLOB NOT NULL);"
		"CREATE TABLE \"system_counters\" (k BLOB NOT NULL UNIQUE, v BLOB NOT NULL);"
		"CREATE TABLE \"system_tokens\" (k BLOB NOT NULL UNIQUE, v BLOB NOT NULL);"
		"CREATE TABLE \"system_token_expiry\" (k BLOB NOT NULL UNIQUE, v BLOB NOT NULL);");
	fill(&fixture);
	struct store *store = fixture_open(&fixture);
	read_all(&fixture, store, &tally);
	CHECK_INT(tally.right, ROWS);
	store_close(store);
	CHECK_INT(open_copy(&fixture, &store), OK);
	read_all(&fixture, store, &tally);
	CHECK_INT(tally.right, 2 * ROWS);
	store_close(store);
	run_outside(fixture.path, "PRAGMA integrity_check");
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(flipped_bytes_are_never_answered),
	  TEST_CASE(damage_is_seen_while_the_store_is_open), TEST_CASE(a_damaged_page_is_named),
	  TEST_CASE(a_damaged_page_is_not_copied_to_memory),
	  TEST_CASE(a_part_of_a_damaged_page_is_refused),
	  TEST_CASE(files_without_checksums_stay_as_they_are))
