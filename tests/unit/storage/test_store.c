/*
 * The contract of store.h, which every backend keeps: the same tests over SQLite in memory, SQLite
 * on disk, the tracing decorator, the tiny backend, and PostgreSQL where there is one
 * (store_fixture.h).
 */
#include "tests/tiny/tiny_store.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define INDEX KEYSPACE(7, PART_INDEX + 3)

/* DATABASE is left out where there is none. */
enum backend { DATABASE, MEMORY, DISK, TRACED, TINY, BACKEND_COUNT };

/* A store with two empty keyspaces. */
static struct store *open_backend(enum backend backend, struct fixture *fixture)
{
	*fixture = fixture_new(backend != DISK);
	struct store *store = backend == DATABASE ? fixture_open_database(fixture)
			      : backend == TINY   ? tiny_store_new()
						  : fixture_open(fixture);

	if (backend == TRACED)
		store = trace_store_new(store);
	fixture->has_prefixes = fixture->has_prefixes || backend == TINY;
	fixture_create(fixture, store, ITEMS);
	fixture_create(fixture, store, INDEX);
	return store;
}

static void close_backend(struct store *store, struct fixture *fixture)
{
	store_close(store);
	fixture_free(fixture);
}

/* Each test runs on each backend. */
#define TEST_EACH(name)                                                                            \
	static void each_##name(struct fixture *fixture, struct store *store);                     \
	TEST(name)                                                                                 \
	{                                                                                          \
		for (enum backend b = fixture_database() ? DATABASE : MEMORY; b < BACKEND_COUNT;   \
		     b++) {                                                                        \
			struct fixture fixture;                                                    \
			struct store *store = open_backend(b, &fixture);                           \
                                                                                                   \
			each_##name(&fixture, store);                                              \
			close_backend(store, &fixture);                                            \
		}                                                                                  \
	}                                                                                          \
	static void each_##name(struct fixture *fixture, struct store *store)

static void put_letters(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	/* not in order, and one key a prefix of another */
	fixture_put(fixture, txn, ITEMS, "d", "4");
	fixture_put(fixture, txn, ITEMS, "b", "2");
	fixture_put(fixture, txn, ITEMS, "bb", "3");
	fixture_put(fixture, txn, ITEMS, "a", "1");
	fixture_put(fixture, txn, ITEMS, "\xFF", "5");
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

TEST(closing_nothing_is_allowed)
{
	store_close(NULL);
}

TEST_EACH(put_get_overwrite_delete)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK(!str_is_set(fixture_get(fixture, txn, ITEMS, "k")));
	fixture_put(fixture, txn, ITEMS, "k", "one");
	CHECK_STR(fixture_get(fixture, txn, ITEMS, "k"), "one");
	fixture_put(fixture, txn, ITEMS, "k", "two, and longer");
	CHECK_STR(fixture_get(fixture, txn, ITEMS, "k"), "two, and longer");
	CHECK(!str_is_set(fixture_get(fixture, txn, INDEX, "k")));
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	CHECK_STR(fixture_get_alone(fixture, store, ITEMS, "k"), "two, and longer");

	txn = fixture_begin(fixture, store, STORE_WRITE);
	CHECK_INT(store_del(txn, ITEMS, STR("k"), &fixture->err), OK);
	CHECK(!str_is_set(fixture_get(fixture, txn, ITEMS, "k")));
	CHECK_INT(store_del(txn, ITEMS, STR("k"), &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	CHECK(!str_is_set(fixture_get_alone(fixture, store, ITEMS, "k")));
}

TEST_EACH(any_bytes_are_kept)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	size_t n = 400 * 1024;
	char *large = arena_bytes(fixture->arena, n);
	struct str zeros = STR("a\0b\0\xFF"), value;

	memset(large, 0xA5, n);
	CHECK_INT(store_put(txn, ITEMS, zeros, (struct str){large, n}, &fixture->err), OK);
	CHECK_INT(store_put(txn, ITEMS, STR("a"), STR(""), &fixture->err), OK);
	CHECK_INT(store_put(txn, ITEMS, STR(""), zeros, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);

	txn = fixture_begin(fixture, store, STORE_READ);
	CHECK_INT(store_get(txn, ITEMS, zeros, fixture->arena, &value, &fixture->err), OK);
	CHECK(str_eq(value, (struct str){large, n}));
	CHECK_INT(store_get(txn, ITEMS, STR("a"), fixture->arena, &value, &fixture->err), OK);
	CHECK(str_is_set(value) && value.n == 0);
	CHECK_INT(store_get(txn, ITEMS, STR(""), fixture->arena, &value, &fixture->err), OK);
	CHECK(str_eq(value, zeros));
	CHECK_INT(store_get(txn, ITEMS, STR("a\0b"), fixture->arena, &value, &fixture->err), OK);
	CHECK(!str_is_set(value));
	store_abort(txn);
}

TEST_EACH(rows_come_in_byte_order)
{
	put_letters(fixture, store);
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);

	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, false, 99),
		  "a=1 b=2 bb=3 d=4 \xFF=5 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, true, 99),
		  "\xFF=5 d=4 bb=3 b=2 a=1 ");
	CHECK_STR(fixture_list(fixture, txn, INDEX, NULL, NULL, false, 99), "");
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

TEST_EACH(ranges_are_half_open)
{
	put_letters(fixture, store);
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);

	CHECK_STR(fixture_list(fixture, txn, ITEMS, "b", "d", false, 99), "b=2 bb=3 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "b", "d", true, 99), "bb=3 b=2 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "b", NULL, false, 99), "b=2 bb=3 d=4 \xFF=5 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "b", NULL, true, 99), "\xFF=5 d=4 bb=3 b=2 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, "bb", false, 99), "a=1 b=2 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, "bb", true, 99), "b=2 a=1 ");
	/* bounds that no row has */
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "aa", "c", false, 99), "b=2 bb=3 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "aa", "c", true, 99), "bb=3 b=2 ");
	/* nothing between them, also where they are crossed */
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "bbb", "c", false, 99), "");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "b", "b", false, 99), "");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "d", "a", false, 99), "");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "d", "a", true, 99), "");
	/* an empty bound is a bound: nothing is below it */
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "", "", false, 99), "");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "", "b", false, 99), "a=1 ");
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

TEST_EACH(a_visitor_stops_a_scan)
{
	put_letters(fixture, store);
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, false, 2), "a=1 b=2 ");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, true, 1), "\xFF=5 ");
	/* and leaves the keyspace free for writing and for the next scan */
	fixture_put(fixture, txn, ITEMS, "c", "x");
	CHECK_STR(fixture_list(fixture, txn, ITEMS, "bb", NULL, false, 2), "bb=3 c=x ");
	CHECK_INT(store_drop(txn, ITEMS, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

struct look_up {
	struct fixture *fixture;
	struct store_txn *txn;
	char seen[64];
	size_t n;
};

/* For each row of the index, the item it names, and one that is not there. */
static bool look_up(void *context, struct str key, struct str value)
{
	struct look_up *look_up = context;
	struct str item, none;

	(void)key;
	CHECK_INT(store_get(look_up->txn, ITEMS, value, look_up->fixture->arena, &item,
			    &look_up->fixture->err),
		  OK);
	CHECK_INT(store_get(look_up->txn, INDEX, STR("none"), look_up->fixture->arena, &none,
			    &look_up->fixture->err),
		  OK);
	CHECK(!str_is_set(none));
	look_up->n +=
		(size_t)snprintf(look_up->seen + look_up->n, sizeof(look_up->seen) - look_up->n,
				 STR_FMT " ", STR_ARG(item));
	return true;
}

TEST_EACH(get_inside_a_scan)
{
	put_letters(fixture, store);
	for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
		struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
		struct look_up look = {.fixture = fixture};
		struct store_range all = {STR_ABSENT, STR_ABSENT, false};

		fixture_put(fixture, txn, INDEX, "x1", "d");
		fixture_put(fixture, txn, INDEX, "x2", "a");
		fixture_put(fixture, txn, INDEX, "x3", "bb");
		CHECK_INT(store_commit(txn, &fixture->err), OK);
		look.txn = fixture_begin(fixture, store, mode);
		CHECK_INT(scan_rows(look.txn, INDEX, &all, look_up, &look, &fixture->err), OK);
		CHECK_STR(str_of(look.seen), "4 1 3 ");
		CHECK_INT(store_commit(look.txn, &fixture->err), OK);
	}
}

/* More keyspaces inside a scan than any cache of statements holds. */
static bool touch_many(void *context, struct str key, struct str value)
{
	struct look_up *look_up = context;
	struct str item;

	(void)key;
	(void)value;
	for (uint64_t table = 100; table < 700; table++) {
		CHECK_INT(store_get(look_up->txn, KEYSPACE(table, PART_ITEMS), STR("k"),
				    look_up->fixture->arena, &item, &look_up->fixture->err),
			  OK);
		CHECK_STR(item, "v");
	}
	look_up->n++;
	return true;
}

TEST_EACH(many_keyspaces)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};

	for (uint64_t table = 100; table < 700; table++) {
		CHECK_INT(store_create(txn, KEYSPACE(table, PART_ITEMS), &fixture->err), OK);
		fixture_put(fixture, txn, KEYSPACE(table, PART_ITEMS), "k", "v");
	}
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	put_letters(fixture, store);
	struct look_up look = {.fixture = fixture,
			       .txn = fixture_begin(fixture, store, STORE_READ)};
	CHECK_INT(scan_rows(look.txn, ITEMS, &all, touch_many, &look, &fixture->err), OK);
	CHECK_INT(look.n, 5);
	CHECK_INT(store_commit(look.txn, &fixture->err), OK);
}

TEST_EACH(abort_undoes_everything)
{
	put_letters(fixture, store);
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	fixture_put(fixture, txn, ITEMS, "a", "changed");
	fixture_put(fixture, txn, ITEMS, "new", "row");
	CHECK_INT(store_del(txn, ITEMS, STR("b"), &fixture->err), OK);
	CHECK_INT(store_create(txn, KEYSPACE(8, PART_ITEMS), &fixture->err), OK);
	CHECK_INT(store_drop(txn, INDEX, &fixture->err), OK);
	store_abort(txn);

	txn = fixture_begin(fixture, store, STORE_READ);
	CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, false, 99),
		  "a=1 b=2 bb=3 d=4 \xFF=5 ");
	CHECK_STR(fixture_list(fixture, txn, INDEX, NULL, NULL, false, 99), "");
	struct str value;
	CHECK_INT(store_get(txn, KEYSPACE(8, PART_ITEMS), STR("a"), fixture->arena, &value,
			    &fixture->err),
		  fixture->has_prefixes ? OK : ERR_RESOURCE_NOT_FOUND);
	store_abort(txn);
}

TEST_EACH(keyspaces_that_do_not_exist)
{
	struct keyspace none = KEYSPACE(9, PART_STREAM);
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct listing listing = {.left = 9};
	struct store_stat stat;
	struct str value;

	if (fixture->has_prefixes)
		return;
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	CHECK_INT(store_get(txn, none, STR("k"), fixture->arena, &value, &fixture->err),
		  ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_put(txn, none, STR("k"), STR("v"), &fixture->err), ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_del(txn, none, STR("k"), &fixture->err), ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(scan_rows(txn, none, &all, listing_add, &listing, &fixture->err),
		  ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_stat(txn, none, &stat, &fixture->err), ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_drop(txn, none, &fixture->err), ERR_RESOURCE_NOT_FOUND);
	/* the transaction is none the worse */
	fixture_put(fixture, txn, ITEMS, "k", "v");
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	CHECK_STR(fixture_get_alone(fixture, store, ITEMS, "k"), "v");
}

TEST_EACH(dropped_and_created_again)
{
	put_letters(fixture, store);
	CHECK_STR(fixture_get_alone(fixture, store, ITEMS, "a"), "1");
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_drop(txn, ITEMS, &fixture->err), OK);
	if (!fixture->has_prefixes)
		CHECK_INT(store_put(txn, ITEMS, STR("a"), STR("lost"), &fixture->err),
			  ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_create(txn, ITEMS, &fixture->err), OK);
	CHECK(!str_is_set(fixture_get(fixture, txn, ITEMS, "a")));
	fixture_put(fixture, txn, ITEMS, "a", "again");
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	CHECK_STR(fixture_get_alone(fixture, store, ITEMS, "a"), "again");

	txn = fixture_begin(fixture, store, STORE_WRITE);
	CHECK_INT(store_drop(txn, ITEMS, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	txn = fixture_begin(fixture, store, STORE_READ);
	struct str value;
	CHECK_INT(store_get(txn, ITEMS, STR("a"), fixture->arena, &value, &fixture->err),
		  fixture->has_prefixes ? OK : ERR_RESOURCE_NOT_FOUND);
	CHECK_STR(fixture_list(fixture, txn, INDEX, NULL, NULL, false, 99), "");
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

TEST_EACH(what_exists_is_not_created_again)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_create(txn, ITEMS, &fixture->err),
		  fixture->has_prefixes ? OK : ERR_INTERNAL);
	store_abort(txn);
}

TEST_EACH(stat_counts_rows_and_bytes)
{
	struct store_stat stat = {9, 9};
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_stat(txn, ITEMS, &stat, &fixture->err), OK);
	CHECK_INT(stat.rows, 0);
	CHECK_INT(stat.bytes, 0);
	fixture_put(fixture, txn, ITEMS, "key", "12345");
	fixture_put(fixture, txn, ITEMS, "k", "");
	CHECK_INT(store_stat(txn, ITEMS, &stat, &fixture->err), OK);
	CHECK_INT(stat.rows, 2);
	CHECK_INT(stat.bytes, 9);
	store_abort(txn);
}

TEST_EACH(system_keyspaces_exist)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	for (uint32_t part = 0; part < SYSTEM_PART_COUNT; part++) {
		fixture_put(fixture, txn, KEYSPACE(0, part), "k", "v");
		CHECK_STR(fixture_get(fixture, txn, KEYSPACE(0, part), "k"), "v");
	}
	store_abort(txn);
}

TEST_EACH(a_reader_does_not_write)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);

	CHECK_INT(store_put(txn, ITEMS, STR("k"), STR("v"), &fixture->err), ERR_INTERNAL);
	CHECK_INT(store_del(txn, ITEMS, STR("k"), &fixture->err), ERR_INTERNAL);
	CHECK_INT(store_create(txn, KEYSPACE(8, PART_ITEMS), &fixture->err), ERR_INTERNAL);
	CHECK_INT(store_drop(txn, INDEX, &fixture->err), ERR_INTERNAL);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	CHECK(!str_is_set(fixture_get_alone(fixture, store, ITEMS, "k")));
}

TEST_MAIN(TEST_CASE(closing_nothing_is_allowed), TEST_CASE(put_get_overwrite_delete),
	  TEST_CASE(any_bytes_are_kept), TEST_CASE(rows_come_in_byte_order),
	  TEST_CASE(ranges_are_half_open), TEST_CASE(a_visitor_stops_a_scan),
	  TEST_CASE(get_inside_a_scan), TEST_CASE(many_keyspaces),
	  TEST_CASE(abort_undoes_everything), TEST_CASE(keyspaces_that_do_not_exist),
	  TEST_CASE(dropped_and_created_again), TEST_CASE(what_exists_is_not_created_again),
	  TEST_CASE(stat_counts_rows_and_bytes), TEST_CASE(system_keyspaces_exist),
	  TEST_CASE(a_reader_does_not_write))
