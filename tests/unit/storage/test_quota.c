/* A store with a limit of its size: it stays under it, gives what it has, and what is deleted makes
 * room. In memory and on disk. */
#include <sys/stat.h>

#include "storage/store/sqlite/quota.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(1, PART_ITEMS)
#define STREAM KEYSPACE(1, PART_STREAM)
#define LIMIT ((uint64_t)4 << 20)
#define LARGE (100 << 10)

static char bytes[8 << 20];

static struct fixture limited(bool is_memory)
{
	struct fixture fixture = fixture_new(is_memory);

	memset(bytes, 'v', sizeof(bytes));
	fixture.options.limit_bytes = LIMIT;
	fixture.options.cache_bytes = 64 << 10;
	return fixture;
}

static struct store *open_with_table(struct fixture *fixture)
{
	struct store *store = fixture_open(fixture);

	fixture_create(fixture, store, ITEMS);
	fixture_create(fixture, store, STREAM);
	return store;
}

static uint64_t file_bytes(const char *path, const char *suffix)
{
	char name[96];
	struct stat status;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return stat(name, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void check_size(struct fixture *fixture, struct store *store)
{
	struct store_usage usage;

	store_usage(store, &usage);
	CHECK_INT(usage.limit, LIMIT);
	CHECK(usage.used + usage.free + usage.log <= LIMIT);
	CHECK(file_bytes(fixture->path, "") + file_bytes(fixture->path, "-wal") <= LIMIT);
}

static enum code put(struct fixture *fixture, struct store *store, struct keyspace keyspace,
		     int number, size_t n)
{
	char key[16];

	snprintf(key, sizeof(key), "%06d", number);
	return fixture_put_alone(fixture, store, keyspace, str_of(key), (struct str){bytes, n});
}

/* Deletes a row, and in the same transaction puts a record of `n` bytes to the stream, or none. */
static enum code del(struct fixture *fixture, struct store *store, int number, size_t n)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	char key[16];

	snprintf(key, sizeof(key), "%06d", number);
	enum code code = store_del(txn, ITEMS, str_of(key), &fixture->err);
	if (code == OK && n)
		code = store_put(txn, STREAM, str_of(key), (struct str){bytes, n}, &fixture->err);
	if (code == OK)
		return store_commit(txn, &fixture->err);
	store_abort(txn);
	return code;
}

/* Puts rows until one is refused; how many there are. */
static int fill(struct fixture *fixture, struct store *store, size_t n)
{
	int rows = 0;
	enum code code;

	while ((code = put(fixture, store, ITEMS, rows, n)) == OK && rows < 100000) {
		rows++;
		if (rows % 8 == 0)
			check_size(fixture, store);
		arena_reset(fixture->arena);
		fixture->err = err_in(fixture->arena);
	}
	CHECK_INT(code, ERR_DATA_LIMIT);
	CHECK(str_contains(fixture->err.message, STR("the limit of 4 MB")));
	check_size(fixture, store);
	return rows;
}

static uint64_t count(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	struct store_stat stat = {0};

	CHECK_INT(store_stat(txn, ITEMS, &stat, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	return stat.rows;
}

TEST(a_full_store_keeps_what_it_has)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = limited(is_memory);
		struct store *store = open_with_table(&fixture);
		int rows = fill(&fixture, store, LARGE);

		CHECK(rows >= 30 && rows <= 40); /* most of the limit */
		CHECK_INT(count(&fixture, store), rows);
		CHECK_INT(fixture_get_alone(&fixture, store, ITEMS, "000000").n, LARGE);
		CHECK_INT(put(&fixture, store, ITEMS, rows, LARGE), ERR_DATA_LIMIT); /* again */

		/* what is deleted makes room */
		CHECK_INT(del(&fixture, store, 0, 0), OK);
		CHECK_INT(put(&fixture, store, ITEMS, 0, LARGE), OK);
		CHECK_INT(put(&fixture, store, ITEMS, rows, LARGE), ERR_DATA_LIMIT);

		/* an update that needs no more room than there was goes on */
		for (int i = 0; i < rows; i++)
			CHECK_INT(put(&fixture, store, ITEMS, i, LARGE - 10000), OK);
		check_size(&fixture, store);
		for (int i = 0; i < rows; i++)
			CHECK_INT(del(&fixture, store, i, 0), OK);
		CHECK_INT(fill(&fixture, store, LARGE), rows);
		store_close(store);
		if (!is_memory) {
			store = fixture_open(&fixture);
			CHECK_INT(count(&fixture, store), rows);
			CHECK_INT(put(&fixture, store, ITEMS, rows, LARGE), ERR_DATA_LIMIT);
			CHECK_INT(del(&fixture, store, 0, 0), OK);
			store_close(store);
		}
		fixture_free(&fixture);
	}
}

/* Small rows too: deletes in any order, with a record of the stream each, find room at the limit.
 */
TEST(deletes_with_records_go_on_at_the_limit)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = limited(is_memory);
		struct store *store = open_with_table(&fixture);
		int rows = fill(&fixture, store, 1000);

		CHECK(rows > 2500);
		for (int i = 0; i < rows; i++) {
			CHECK_INT(del(&fixture, store, i * 7 % rows, i < 100 ? 1000 : 0), OK);
			arena_reset(fixture.arena);
			fixture.err = err_in(fixture.arena);
		}
		check_size(&fixture, store);
		store_close(store);
		fixture_free(&fixture);
	}
}

/* A transaction that the log has no room for is refused as a whole. */
TEST(a_transaction_beyond_the_limit_is_not_there)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = limited(is_memory);
		struct store *store = open_with_table(&fixture);

		CHECK_INT(put(&fixture, store, ITEMS, 1, 1000), OK);
		CHECK_INT(put(&fixture, store, ITEMS, 2, LIMIT + 1), ERR_DATA_LIMIT);
		check_size(&fixture, store);
		CHECK_INT(count(&fixture, store), 1);

		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
		enum code code = OK;
		for (int i = 0; i < 100 && code == OK; i++) {
			char key[32];

			snprintf(key, sizeof(key), "many-%d", i);
			code = store_put(txn, ITEMS, str_of(key), (struct str){bytes, LARGE},
					 &fixture.err);
		}
		code = code == OK ? store_commit(txn, &fixture.err) : (store_abort(txn), code);
		CHECK_INT(code, ERR_DATA_LIMIT);
		CHECK_INT(count(&fixture, store), 1);
		CHECK_INT(put(&fixture, store, ITEMS, 2, LARGE), OK);
		check_size(&fixture, store);
		store_close(store);
		fixture_free(&fixture);
	}
}

/* Rows that are written over many times leave no log that grows. */
TEST(writing_over_goes_on_under_the_limit)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = limited(is_memory);
		struct store *store = open_with_table(&fixture);
		int rows = fill(&fixture, store, LARGE);

		for (int i = 0; i < 300; i++) {
			CHECK_INT(put(&fixture, store, ITEMS, i % rows, LARGE), OK);
			if (i % 10 == 0)
				check_size(&fixture, store);
		}
		store_close(store);
		fixture_free(&fixture);
	}
}

/* A file that was larger before it had a limit: it grows no more, and deletes go on. */
TEST(a_file_that_is_larger_than_its_limit)
{
	struct fixture fixture = limited(false);

	fixture.options.limit_bytes = 0;
	struct store *store = open_with_table(&fixture);
	for (int i = 0; i < 80; i++)
		CHECK_INT(put(&fixture, store, ITEMS, i, LARGE), OK);
	store_close(store);
	fixture.options.limit_bytes = LIMIT;
	store = fixture_open(&fixture);
	CHECK_INT(put(&fixture, store, ITEMS, 80, LARGE), ERR_DATA_LIMIT);
	CHECK_INT(del(&fixture, store, 0, 0), OK);
	CHECK_INT(del(&fixture, store, 1, 0), OK);
	CHECK_INT(put(&fixture, store, ITEMS, 80, LARGE), OK);
	CHECK_INT(put(&fixture, store, ITEMS, 81, LARGE), ERR_DATA_LIMIT);
	CHECK_INT(count(&fixture, store), 79);
	store_close(store);
	fixture_free(&fixture);
}

TEST(without_a_limit_only_the_size_is_known)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = limited(is_memory);
		struct store_usage usage;

		fixture.options.limit_bytes = 0;
		struct store *store = open_with_table(&fixture);
		for (int i = 0; i < 80; i++)
			CHECK_INT(put(&fixture, store, ITEMS, i, LARGE), OK);
		store_usage(store, &usage);
		CHECK(usage.used > 80 * LARGE && usage.used < 90 * LARGE);
		CHECK_INT(usage.limit, 0);
		for (int i = 0; i < 40; i++)
			CHECK_INT(del(&fixture, store, i, 0), OK);
		store_usage(store, &usage);
		CHECK(usage.used < 50 * LARGE && usage.free > 35 * LARGE);
		store_close(store);
		fixture_free(&fixture);
	}
}

TEST_MAIN(TEST_CASE(a_full_store_keeps_what_it_has),
	  TEST_CASE(deletes_with_records_go_on_at_the_limit),
	  TEST_CASE(a_transaction_beyond_the_limit_is_not_there),
	  TEST_CASE(writing_over_goes_on_under_the_limit),
	  TEST_CASE(a_file_that_is_larger_than_its_limit),
	  TEST_CASE(without_a_limit_only_the_size_is_known))
