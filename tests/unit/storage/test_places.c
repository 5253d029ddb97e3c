/* In which SQL tables keyspaces lie: few schema changes, none of another keyspace's rows, rows of
 * dropped keyspaces deleted in pieces. */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "storage/store/sqlite/places.h"
#include "tests/unit/storage/ask.h"

#define ITEMS(n) KEYSPACE(n, PART_ITEMS)

static long long ask_closed(struct fixture *fixture, struct store **store, const char *sql)
{
	store_close(*store);
	long long number = ask(fixture, sql);
	*store = fixture_open(fixture);
	return number;
}

static void create(struct fixture *fixture, struct store *store, struct keyspace keyspace,
		   const char *value)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_create(txn, keyspace, &fixture->err), OK);
	fixture_put(fixture, txn, keyspace, "k", value);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

static void drop(struct fixture *fixture, struct store *store, struct keyspace keyspace)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_drop(txn, keyspace, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

static enum code get_alone(struct fixture *fixture, struct store *store, struct keyspace keyspace,
			   struct str *value)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	enum code code = store_get(txn, keyspace, STR("k"), fixture->arena, value, &fixture->err);

	store_abort(txn);
	return code;
}

static void check_there(struct fixture *fixture, struct store *store, struct keyspace keyspace,
			const char *value)
{
	CHECK_STR(fixture_get_alone(fixture, store, keyspace, "k"), value);
}

static void check_gone(struct fixture *fixture, struct store *store, struct keyspace keyspace)
{
	struct str value;

	CHECK_INT(get_alone(fixture, store, keyspace, &value), ERR_RESOURCE_NOT_FOUND);
}

TEST(cycles_change_no_schema)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	struct keyspace stream = KEYSPACE(1, PART_STREAM);

	for (uint64_t i = 1; i <= 20; i++)
		create(&fixture, store, ITEMS(i), "stays");
	create(&fixture, store, stream, "stays");
	create(&fixture, store, ITEMS(100), "goes");
	create(&fixture, store, KEYSPACE(100, PART_INDEX), "goes");
	create(&fixture, store, KEYSPACE(99, PART_EXPIRY), "goes");
	drop(&fixture, store, KEYSPACE(99, PART_EXPIRY));
	long long version = ask_closed(&fixture, &store, "PRAGMA schema_version");
	for (uint64_t i = 100; i < 400; i++) {
		create(&fixture, store, KEYSPACE(i, PART_STREAM), "also");
		create(&fixture, store, KEYSPACE(i, PART_EXPIRY), "also");
		drop(&fixture, store, ITEMS(i));
		drop(&fixture, store, KEYSPACE(i, PART_INDEX));
		create(&fixture, store, ITEMS(i + 1), "next");
		create(&fixture, store, KEYSPACE(i + 1, PART_INDEX), "next");
		check_there(&fixture, store, ITEMS(i + 1), "next");
		check_gone(&fixture, store, ITEMS(i));
		if (i % 2)
			drop(&fixture, store, KEYSPACE(i, PART_STREAM));
		drop(&fixture, store, KEYSPACE(i, PART_EXPIRY));
	}
	CHECK_INT(ask_closed(&fixture, &store, "PRAGMA schema_version"), version);
	CHECK_INT(ask_closed(&fixture, &store, "SELECT count(*) FROM shared_rows"), 1 + 150);
	check_there(&fixture, store, ITEMS(20), "stays");
	check_there(&fixture, store, stream, "stays");
	check_there(&fixture, store, ITEMS(400), "next");
	store_close(store);
	fixture_free(&fixture);
}

TEST(the_schema_stays_small)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	const uint64_t n = PLACES_OWN_MAX + 300;
	char value[24];

	for (uint64_t i = 1; i <= n; i++) {
		snprintf(value, sizeof(value), "of %llu", (unsigned long long)i);
		create(&fixture, store, ITEMS(i), value);
	}
	CHECK_INT(ask_closed(&fixture, &store,
			     "SELECT count(*) FROM sqlite_master WHERE type = 'table'"),
		  PLACES_OWN_MAX + 1);
	for (uint64_t i = 1; i <= n; i++) {
		snprintf(value, sizeof(value), "of %llu", (unsigned long long)i);
		check_there(&fixture, store, ITEMS(i), value);
	}
	struct store_keyspaces keyspaces;
	CHECK_INT(store_keyspaces_now(store, fixture.arena, &keyspaces, &fixture.err), OK);
	CHECK_INT(keyspaces.n, n + SYSTEM_PART_COUNT);
	drop(&fixture, store, ITEMS(n));
	drop(&fixture, store, ITEMS(1));
	create(&fixture, store, ITEMS(n + 1), "new");
	check_gone(&fixture, store, ITEMS(n));
	check_gone(&fixture, store, ITEMS(1));
	CHECK_INT(store_keyspaces_now(store, fixture.arena, &keyspaces, &fixture.err), OK);
	CHECK_INT(keyspaces.n, n - 1 + SYSTEM_PART_COUNT);
	check_there(&fixture, store, ITEMS(n - 1), "of 799");
	/* what exists is not created again, wherever it lies */
	for (uint64_t i = n - 1; i <= n + 1; i += 2) {
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

		CHECK_INT(store_create(txn, ITEMS(i), &fixture.err), ERR_INTERNAL);
		store_abort(txn);
	}
	store_close(store);
	fixture_free(&fixture);
}

static void fill(struct fixture *fixture, struct store *store, struct keyspace keyspace, int rows,
		 size_t bytes)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	char *value = arena_bytes(fixture->arena, bytes), key[32];

	memset(value, 'v', bytes);
	CHECK_INT(store_create(txn, keyspace, &fixture->err), OK);
	for (int i = 0; i < rows; i++) {
		snprintf(key, sizeof(key), "%08x", (unsigned)i * 2654435761u);
		CHECK_INT(store_put(txn, keyspace, str_of(key), (struct str){value, bytes},
				    &fixture->err),
			  OK);
	}
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

/* Tidies until nothing is left, closing the store between some pieces; how many there were. */
static int tidy_all(struct fixture *fixture, struct store **store)
{
	bool is_more = true;
	int n = 0;

	while (is_more) {
		CHECK_INT(store_tidy(*store, &is_more, &fixture->err), OK);
		n += is_more;
		if (n % 3 != 1)
			continue;
		store_close(*store);
		*store = fixture_open(fixture);
	}
	return n;
}

TEST(dropped_rows_go_in_pieces)
{
	static const struct {
		struct keyspace keyspace;
		int rows;
		size_t bytes;
		const char *count;
	} cases[] = {
		{ITEMS(7), 3000, 10, "SELECT count(*) FROM items_7"},
		{ITEMS(7), 700, 100000, "SELECT count(*) FROM items_7"},
		{KEYSPACE(7, PART_STREAM), 3000, 10, "SELECT count(*) - 1 FROM shared_rows"},
		{KEYSPACE(7, PART_STREAM), 100, 100000, "SELECT count(*) - 1 FROM shared_rows"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture = fixture_new(false);
		struct store *store = fixture_open(&fixture);
		int left =
			cases[i].rows > PLACES_PIECE_ROWS ? cases[i].rows - PLACES_PIECE_ROWS : 0;

		create(&fixture, store, KEYSPACE(6, PART_STREAM), "other");
		fill(&fixture, store, cases[i].keyspace, cases[i].rows, cases[i].bytes);
		drop(&fixture, store, cases[i].keyspace);
		check_gone(&fixture, store, cases[i].keyspace);
		CHECK_INT(ask_closed(&fixture, &store, cases[i].count), left);
		/* the same keyspace is there again while rows of the old one are still deleted */
		create(&fixture, store, cases[i].keyspace, "again");
		CHECK_INT(tidy_all(&fixture, &store), left / PLACES_PIECE_ROWS + (left > 0));
		check_there(&fixture, store, cases[i].keyspace, "again");
		check_there(&fixture, store, KEYSPACE(6, PART_STREAM), "other");
		create(&fixture, store, ITEMS(8),
		       "next"); /* gets the SQL table that is free now, if one is: with its index */
		check_there(&fixture, store, ITEMS(8), "next");
		drop(&fixture, store, ITEMS(8));
		drop(&fixture, store, cases[i].keyspace);
		CHECK_INT(ask_closed(&fixture, &store, cases[i].count), 0);
		store_close(store);
		fixture_free(&fixture);
	}
}

TEST(a_snapshot_keeps_its_places)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);

	fixture.options.readers = 2;
	create(&fixture, store, ITEMS(1), "first");
	create(&fixture, store, KEYSPACE(1, PART_STREAM), "shared");
	struct store_txn *old = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(fixture_get(&fixture, old, ITEMS(1), "k"), "first");
	drop(&fixture, store, ITEMS(1));
	drop(&fixture, store, KEYSPACE(1, PART_STREAM));
	create(&fixture, store, ITEMS(2), "second");
	CHECK_STR(fixture_get(&fixture, old, ITEMS(1), "k"), "first");
	CHECK_STR(fixture_get(&fixture, old, KEYSPACE(1, PART_STREAM), "k"), "shared");
	check_gone(&fixture, store, ITEMS(1));
	check_there(&fixture, store, ITEMS(2), "second");
	store_abort(old);
	check_gone(&fixture, store, ITEMS(1));
	/* what an aborted transaction did to places is forgotten */
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_drop(txn, ITEMS(2), &fixture.err), OK);
	CHECK_INT(store_create(txn, ITEMS(3), &fixture.err), OK);
	fixture_put(&fixture, txn, ITEMS(3), "k", "third");
	store_abort(txn);
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_STR(fixture_get(&fixture, txn, ITEMS(2), "k"), "second");
	struct str value;
	CHECK_INT(store_get(txn, ITEMS(3), STR("k"), fixture.arena, &value, &fixture.err),
		  ERR_RESOURCE_NOT_FOUND);
	store_abort(txn);
	store_close(store);
	fixture_free(&fixture);
}

/* As time to live is switched on and off: the SQL table of the keyspace's name is another's by
 * then. */
TEST(a_keyspace_that_comes_and_goes)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	struct keyspace queue = KEYSPACE(1, PART_EXPIRY);
	char value[24];

	create(&fixture, store, ITEMS(1), "first");
	create(&fixture, store, queue, "0");
	for (int i = 1; i < 10; i++) {
		drop(&fixture, store, queue);
		check_gone(&fixture, store, queue);
		create(&fixture, store, ITEMS((uint64_t)i + 1), "other");
		snprintf(value, sizeof(value), "%d", i);
		create(&fixture, store, queue, value);
		check_there(&fixture, store, queue, value);
		if (i % 3 == 0)
			drop(&fixture, store, ITEMS((uint64_t)i));
	}
	check_there(&fixture, store, ITEMS(10), "other");
	check_there(&fixture, store, ITEMS(1), "first");
	store_close(store);
	fixture_free(&fixture);
}

#define GENERATIONS 1500

struct race {
	struct store *store;
	atomic_uint_fast64_t latest;
	atomic_bool is_over;
	atomic_int wrong;
};

static void *read_latest(void *context)
{
	struct race *race = context;
	struct fixture own = {.arena = arena_new(0)};

	own.err = err_in(own.arena);
	while (!atomic_load(&race->is_over)) {
		uint64_t table = atomic_load(&race->latest);
		char expected[24];
		struct str value;

		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)table);
		enum code code = get_alone(&own, race->store, ITEMS(table), &value);
		if (code != ERR_RESOURCE_NOT_FOUND &&
		    (code != OK || !str_eq(value, str_of(expected))))
			atomic_fetch_add(&race->wrong, 1);
		arena_reset(own.arena);
		own.err = err_in(own.arena);
	}
	arena_free(own.arena);
	return NULL;
}

/* A SQL table goes from keyspace to keyspace while others read. */
static void race_readers(bool is_memory)
{
	struct fixture fixture = fixture_new(is_memory);
	struct race race = {.latest = 1};
	pthread_t threads[2];
	char value[24];

	race.store = fixture_open(&fixture);
	create(&fixture, race.store, ITEMS(1), "1");
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, read_latest, &race), 0);
	for (uint64_t table = 2; table < GENERATIONS; table++) {
		drop(&fixture, race.store, ITEMS(table - 1));
		snprintf(value, sizeof(value), "%llu", (unsigned long long)table);
		create(&fixture, race.store, ITEMS(table), value);
		atomic_store(&race.latest, table);
	}
	atomic_store(&race.is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(atomic_load(&race.wrong), 0);
	store_close(race.store);
	fixture_free(&fixture);
}

TEST(readers_see_no_rows_of_others)
{
	race_readers(false);
	race_readers(true);
}

/* Files of earlier versions have no rows about places. */
TEST(a_file_without_places)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);

	create(&fixture, store, ITEMS(1), "one");
	create(&fixture, store, ITEMS(2), "two");
	store_close(store);
	change_file(&fixture, "DROP TABLE system_places; CREATE TABLE \"stream_2\" (k BLOB NOT "
			      "NULL UNIQUE, v BLOB NOT NULL);"
			      "INSERT INTO stream_2 VALUES (x'6b', x'74')");
	store = fixture_open(&fixture);
	check_there(&fixture, store, ITEMS(1), "one");
	check_there(&fixture, store, KEYSPACE(2, PART_STREAM), "t");
	check_gone(&fixture, store, ITEMS(3));
	struct store_keyspaces keyspaces;
	CHECK_INT(store_keyspaces_now(store, fixture.arena, &keyspaces, &fixture.err), OK);
	CHECK_INT(keyspaces.n, 3 + SYSTEM_PART_COUNT);
	drop(&fixture, store, ITEMS(1));
	drop(&fixture, store, KEYSPACE(2, PART_STREAM));
	check_gone(&fixture, store, ITEMS(1));
	create(&fixture, store, ITEMS(4), "four");
	create(&fixture, store, KEYSPACE(2, PART_STREAM), "again");
	check_gone(&fixture, store, ITEMS(1));
	check_there(&fixture, store, ITEMS(2), "two");
	check_there(&fixture, store, ITEMS(4), "four");
	check_there(&fixture, store, KEYSPACE(2, PART_STREAM), "again");
	store_close(store);
	fixture_free(&fixture);
}

/* The names of SQL tables come from rows: nobody gets a statement of his own run by them. */
TEST(a_keyspace_is_copied)
{
	static const struct keyspace kinds[] = {{1, PART_ITEMS}, {2, PART_STREAM}};
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};

	for (int c = 0; c < 8; c++) {
		struct fixture fixture = fixture_new(c & 1);
		struct store *store = fixture_open(&fixture);
		struct keyspace from = kinds[c >> 1 & 1], to = {9, kinds[c >> 2].part};
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
		struct store_page page = {.n = 0};

		CHECK_INT(store_create(txn, from, &fixture.err), OK);
		for (int i = 0; i < 1000; i++)
			CHECK_INT(store_put(txn, from, str_printf(fixture.arena, "%04d", i),
					    str_printf(fixture.arena, "%d", i * i), &fixture.err),
				  OK);
		CHECK_INT(store_copy(txn, from, to, &fixture.err), ERR_RESOURCE_NOT_FOUND);
		CHECK_INT(store_create(txn, to, &fixture.err), OK);
		CHECK_INT(store_copy(txn, from, to, &fixture.err), OK);
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		drop(&fixture, store, from);
		txn = fixture_begin(&fixture, store, STORE_READ);
		CHECK_INT(store_page(txn, to, &all, (struct store_bounds){0, 0}, fixture.arena,
				     &page, &fixture.err),
			  OK);
		store_abort(txn);
		CHECK_INT(page.n, 1000);
		for (size_t i = 0; i < page.n; i++)
			CHECK_INT(strtol(page.v[i].value.p, NULL, 10), (long)(i * i));
		store_close(store);
		fixture_free(&fixture);
	}
}

TEST(a_name_that_is_none)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	struct str value;

	create(&fixture, store, KEYSPACE(2, PART_STREAM), "v");
	store_close(store);
	change_file(
		&fixture,
		"UPDATE system_places SET v = "
		"x'00000000000000006974656d735f312220574845524520303b202d2d' WHERE length(k) > 1");
	store = fixture_open(&fixture);
	CHECK_INT(get_alone(&fixture, store, KEYSPACE(2, PART_STREAM), &value), ERR_INTERNAL);
	store_close(store);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(cycles_change_no_schema), TEST_CASE(the_schema_stays_small),
	  TEST_CASE(dropped_rows_go_in_pieces), TEST_CASE(a_snapshot_keeps_its_places),
	  TEST_CASE(a_keyspace_that_comes_and_goes), TEST_CASE(readers_see_no_rows_of_others),
	  TEST_CASE(a_file_without_places), TEST_CASE(a_name_that_is_none),
	  TEST_CASE(a_keyspace_is_copied))
