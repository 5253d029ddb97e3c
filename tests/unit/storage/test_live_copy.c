/* A copy of a store in memory, as dynalith.wasm makes it too, while SQLite's memory runs out and
 * others write. */
#include <sqlite3.h>

#include "storage/store/maintenance.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define ROWS 500
#define ROW_SIZE 2000

static sqlite3_mem_methods usual;
static unsigned fail_in; /* allocations of SQLite's; 0: none fails */

static bool is_exhausted(void)
{
	return fail_in > 0 && --fail_in == 0;
}

static void *allocate(int n)
{
	return is_exhausted() ? NULL : usual.xMalloc(n);
}

static void *allocate_again(void *block, int n)
{
	return is_exhausted() ? NULL : usual.xRealloc(block, n);
}

static void put_rows(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	char key[16], value[ROW_SIZE + 1];

	memset(value, 'v', ROW_SIZE);
	value[ROW_SIZE] = '\0';
	for (int i = 0; i < ROWS; i++) {
		snprintf(key, sizeof(key), "%04d", i);
		fixture_put(fixture, txn, ITEMS, key, value);
	}
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

/* Of a copy, in the fixture's arena. */
static struct str read_all(struct fixture *fixture, struct store *store, struct live_copy *copy)
{
	struct live_copy_progress progress;

	CHECK_INT(store->maintenance->copy_step(copy, &progress, &fixture->err), OK);
	CHECK(progress.is_whole);
	size_t n = (size_t)progress.bytes;
	char *bytes = arena_bytes(fixture->arena, n);
	CHECK_INT(store->maintenance->copy_read(copy, 0, bytes, &n, &fixture->err), OK);
	CHECK_INT(n, progress.bytes);
	store->maintenance->copy_end(copy);
	return (struct str){bytes, n};
}

/* STR_ABSENT where it is refused. */
static struct str copy_of(struct fixture *fixture, struct store *store)
{
	struct live_copy *copy;

	if (store->maintenance->copy_begin(store, &copy, &fixture->err) != OK)
		return STR_ABSENT;
	return read_all(fixture, store, copy);
}

static void check_opens(struct fixture *fixture, struct str bytes)
{
	FILE *file = fopen(fixture->path, "wb");

	CHECK(file && fwrite(bytes.p, 1, bytes.n, file) == bytes.n && fclose(file) == 0);
	fixture->options.path = fixture->path;
	struct store *store = fixture_open(fixture);
	CHECK_INT(fixture_get_alone(fixture, store, ITEMS, "0499").n, ROW_SIZE);
	store_close(store);
}

static void watch_memory(void)
{
	CHECK_INT(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual), SQLITE_OK);
	sqlite3_mem_methods watched = usual;
	watched.xMalloc = allocate;
	watched.xRealloc = allocate_again;
	CHECK_INT(sqlite3_config(SQLITE_CONFIG_MALLOC, &watched), SQLITE_OK);
}

TEST(a_copy_is_whole_or_refused)
{
	struct fixture fixture = fixture_new(true);

	watch_memory();
	fixture.options.cache_bytes = 16 << 20; /* there is room in it, so SQLite allocates */
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	put_rows(&fixture, store);
	struct str whole = copy_of(&fixture, store);
	CHECK(whole.n > (size_t)ROWS * ROW_SIZE);
	for (unsigned i = 1; i < 100; i++) {
		fail_in = i;
		struct str again = copy_of(&fixture, store);
		fail_in = 0;
		CHECK(!str_is_set(again) || str_eq(again, whole));
	}
	store_close(store);
	check_opens(&fixture, whole);
	fixture_free(&fixture);
}

TEST(a_copy_is_of_the_moment_when_it_began)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open(&fixture);
	struct live_copy *copy;

	fixture_create(&fixture, store, ITEMS);
	put_rows(&fixture, store);
	struct str before = copy_of(&fixture, store);
	CHECK_INT(store->maintenance->copy_begin(store, &copy, &fixture.err), OK);
	for (int i = 0; i < 3; i++)
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("0007"), STR("other")), OK);
	CHECK(str_eq(read_all(&fixture, store, copy), before));
	CHECK(!str_eq(copy_of(&fixture, store), before));
	store_close(store);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(a_copy_is_whole_or_refused), TEST_CASE(a_copy_is_of_the_moment_when_it_began))
