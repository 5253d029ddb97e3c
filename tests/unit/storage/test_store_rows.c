/*
 * What store.h says of the calls for many rows, and of those that meet no conflict: the same tests
 * over SQLite in memory, SQLite on disk, each decorator, the store that many processes share, the
 * tiny backend, and PostgreSQL where there is one (store_fixture.h).
 */
#include "storage/store/split/split_store.h"
#include "storage/store/timed/timed_store.h"
#include "tests/tiny/tiny_store.h"
#include "tests/unit/storage/optimistic_store.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define INDEX KEYSPACE(7, PART_INDEX + 3)
#define COUNTERS KEYSPACE(0, SYSTEM_COUNTERS)
#define VERSIONS KEYSPACE(0, SYSTEM_VERSIONS)

/* DATABASE is left out where there is none. */
enum backend { DATABASE, MEMORY, DISK, TRACED, TIMED, SHARED, SPLIT, TINY, BACKEND_COUNT };

#define VALUE_MAX 100 /* of what SPLIT is around */

static void ignore(void *context, enum timed_step step, uint64_t ns)
{
	(void)context, (void)step, (void)ns;
}

static struct store *open_shared(size_t value_max)
{
	const struct store_limits limits = {.value = value_max};
	struct optimistic_db *db = optimistic_db_new();
	struct store *store = optimistic_open(db);

	optimistic_db_limit(db, &limits);
	optimistic_db_unref(db);
	return split_store_new(store);
}

static struct store *open_backend(enum backend backend, struct fixture *fixture)
{
	*fixture = fixture_new(backend != DISK);
	struct store *store = backend == SHARED   ? open_shared(0)
			      : backend == SPLIT    ? open_shared(VALUE_MAX)
			      : backend == TINY     ? tiny_store_new()
			      : backend == DATABASE ? fixture_open_database(fixture)
						    : fixture_open(fixture);

	if (backend == TRACED)
		store = trace_store_new(store);
	if (backend == TIMED)
		store = timed_store_new(store, ignore, NULL);
	fixture_create(fixture, store, ITEMS);
	fixture_create(fixture, store, INDEX);
	return store;
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
			store_close(store);                                                        \
			fixture_free(&fixture);                                                    \
		}                                                                                  \
	}                                                                                          \
	static void each_##name(struct fixture *fixture, struct store *store)

static void put_letters(struct fixture *fixture, struct store_txn *txn)
{
	fixture_put(fixture, txn, ITEMS, "d", "4");
	fixture_put(fixture, txn, ITEMS, "b", "2");
	fixture_put(fixture, txn, ITEMS, "bb", "3");
	fixture_put(fixture, txn, ITEMS, "a", "1");
	fixture_put(fixture, txn, ITEMS, "\xFF", "5");
}

static void commit(struct fixture *fixture, struct store_txn *txn)
{
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

static void del_range(struct fixture *fixture, struct store_txn *txn, struct keyspace keyspace,
		      const char *low, const char *high)
{
	const struct store_range range = {str_of(low), str_of(high), false};

	CHECK_INT(store_del_range(txn, keyspace, &range, &fixture->err), OK);
}

static void add(struct fixture *fixture, struct store_txn *txn, struct keyspace keyspace,
		const char *key, int64_t delta)
{
	CHECK_INT(store_add(txn, keyspace, str_of(key), delta, &fixture->err), OK);
}

static int64_t number(struct fixture *fixture, struct store_txn *txn, struct keyspace keyspace,
		      const char *key)
{
	return store_number(fixture_get(fixture, txn, keyspace, key));
}

static int64_t number_alone(struct fixture *fixture, struct store *store, struct keyspace keyspace,
			    const char *key)
{
	return store_number(fixture_get_alone(fixture, store, keyspace, key));
}

/* "key=value ..." of one page, then what is_more says. */
static struct str page_text(struct fixture *fixture, struct store_txn *txn,
			    const struct store_range *range, size_t rows, size_t bytes)
{
	struct store_page page;
	struct str text = STR("");

	CHECK_INT(store_page(txn, ITEMS, range, (struct store_bounds){rows, bytes}, fixture->arena,
			     &page, &fixture->err),
		  OK);
	for (size_t i = 0; i < page.n; i++)
		text = str_printf(fixture->arena, STR_FMT STR_FMT "=" STR_FMT " ", STR_ARG(text),
				  STR_ARG(page.v[i].key), STR_ARG(page.v[i].value));
	return page.is_more ? str_printf(fixture->arena, STR_FMT "...", STR_ARG(text)) : text;
}

TEST_EACH(a_page_ends_at_its_bounds)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false},
				 back = {STR_ABSENT, STR_ABSENT, true};

	put_letters(fixture, txn);
	commit(fixture, txn);
	txn = fixture_begin(fixture, store, STORE_READ);
	CHECK_STR(page_text(fixture, txn, &all, 0, 0), "a=1 b=2 bb=3 d=4 \xFF=5 ");
	CHECK_STR(page_text(fixture, txn, &back, 0, 0), "\xFF=5 d=4 bb=3 b=2 a=1 ");
	CHECK_STR(page_text(fixture, txn, &all, 2, 0), "a=1 b=2 ...");
	CHECK_STR(page_text(fixture, txn, &back, 2, 0), "\xFF=5 d=4 ...");
	CHECK_STR(page_text(fixture, txn, &all, 6, 0), "a=1 b=2 bb=3 d=4 \xFF=5 ");
	/* the row that reaches the bytes is in it, also where it alone has more */
	CHECK_STR(page_text(fixture, txn, &all, 0, 1), "a=1 ...");
	CHECK_STR(page_text(fixture, txn, &all, 0, 4), "a=1 b=2 ...");
	CHECK_STR(page_text(fixture, txn, &all, 0, 5), "a=1 b=2 bb=3 ...");
	CHECK_STR(page_text(fixture, txn, &back, 0, 5), "\xFF=5 d=4 bb=3 ...");
	CHECK_STR(page_text(fixture, txn, &all, 1, 5), "a=1 ...");
	CHECK_STR(page_text(fixture, txn, &all, 0, 12), "a=1 b=2 bb=3 d=4 \xFF=5 ");
	commit(fixture, txn);
}

TEST_EACH(a_page_keeps_to_its_range)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	struct store_range range = {STR("b"), STR("d"), false};

	put_letters(fixture, txn);
	CHECK_STR(page_text(fixture, txn, &range, 0, 0), "b=2 bb=3 ");
	range.is_reverse = true;
	CHECK_STR(page_text(fixture, txn, &range, 0, 0), "bb=3 b=2 ");
	CHECK_STR(page_text(fixture, txn, &range, 1, 0), "bb=3 ...");
	range = (struct store_range){STR("aa"), STR("c"), false};
	CHECK_STR(page_text(fixture, txn, &range, 9, 0), "b=2 bb=3 ");
	range = (struct store_range){STR("bb"), STR_ABSENT, true};
	CHECK_STR(page_text(fixture, txn, &range, 9, 0), "\xFF=5 d=4 bb=3 ");
	range = (struct store_range){STR_ABSENT, STR("b"), true};
	CHECK_STR(page_text(fixture, txn, &range, 9, 0), "a=1 ");
	range = (struct store_range){STR("b"), STR("b"), false};
	CHECK_STR(page_text(fixture, txn, &range, 9, 0), "");
	range = (struct store_range){STR("d"), STR("a"), true};
	CHECK_STR(page_text(fixture, txn, &range, 9, 0), "");
	range = (struct store_range){STR(""), STR(""), false};
	CHECK_STR(page_text(fixture, txn, &range, 9, 0), "");
	store_abort(txn);
}

TEST_EACH(pages_follow_each_other)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	put_letters(fixture, txn);
	CHECK_INT(store_put(txn, ITEMS, STR("b\0"), STR("after b"), &fixture->err), OK);
	for (int reverse = 0; reverse < 2; reverse++) {
		static const char *const keys[2][6] = {{"a", "b", "b\0", "bb", "d", "\xFF"},
						       {"\xFF", "d", "bb", "b\0", "b", "a"}};
		struct store_range range = {STR_ABSENT, STR_ABSENT, reverse};

		for (int i = 0; i < 6; i++) {
			struct store_page page;

			CHECK_INT(store_page(txn, ITEMS, &range, (struct store_bounds){1, 0},
					     fixture->arena, &page, &fixture->err),
				  OK);
			CHECK_INT(page.n, 1);
			CHECK(page.is_more);
			CHECK_INT(memcmp(page.v[0].key.p, keys[reverse][i], page.v[0].key.n), 0);
			CHECK_INT(page.v[0].key.n,
				  keys[reverse][i][0] == 'b' && i == (reverse ? 3 : 2)
					  ? 2
					  : strlen(keys[reverse][i]));
			store_range_after(&range, &page, fixture->arena);
		}
		CHECK_STR(page_text(fixture, txn, &range, 1, 0), "");
	}
	store_abort(txn);
}

TEST_EACH(a_page_shows_what_its_transaction_wrote)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};

	put_letters(fixture, txn);
	commit(fixture, txn);
	txn = fixture_begin(fixture, store, STORE_WRITE);
	fixture_put(fixture, txn, ITEMS, "c", "new");
	fixture_put(fixture, txn, ITEMS, "b", "changed");
	CHECK_INT(store_del(txn, ITEMS, STR("a"), &fixture->err), OK);
	CHECK_STR(page_text(fixture, txn, &all, 3, 0), "b=changed bb=3 c=new ...");
	del_range(fixture, txn, ITEMS, "bb", "d");
	CHECK_STR(page_text(fixture, txn, &all, 0, 0), "b=changed d=4 \xFF=5 ");
	fixture_put(fixture, txn, ITEMS, "bb", "again");
	CHECK_STR(page_text(fixture, txn, &all, 0, 0), "b=changed bb=again d=4 \xFF=5 ");
	commit(fixture, txn);
	txn = fixture_begin(fixture, store, STORE_READ);
	CHECK_STR(page_text(fixture, txn, &all, 0, 0), "b=changed bb=again d=4 \xFF=5 ");
	commit(fixture, txn);
}

TEST_EACH(any_bytes_lie_in_a_page)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct str zeros = STR("a\0b\0\xFF"), empty = STR("");
	size_t n = 400 * 1024;
	char *large = arena_bytes(fixture->arena, n);
	struct store_page page;

	memset(large, 0xA5, n);
	CHECK_INT(store_put(txn, ITEMS, empty, zeros, &fixture->err), OK);
	CHECK_INT(store_put(txn, ITEMS, STR("a"), empty, &fixture->err), OK);
	CHECK_INT(store_put(txn, ITEMS, zeros, (struct str){large, n}, &fixture->err), OK);
	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){0, 0}, fixture->arena, &page,
			     &fixture->err),
		  OK);
	CHECK_INT(page.n, 3);
	CHECK(str_is_set(page.v[0].key) && page.v[0].key.n == 0 && str_eq(page.v[0].value, zeros));
	CHECK(str_eq(page.v[1].key, STR("a")) && str_is_set(page.v[1].value) &&
	      page.v[1].value.n == 0);
	CHECK(str_eq(page.v[2].key, zeros) && str_eq(page.v[2].value, (struct str){large, n}));
	CHECK(!page.is_more);
	store_abort(txn);
}

TEST_EACH(many_rows_of_many_keyspaces_at_once)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	struct store_key keys[600];
	struct str values[600];

	for (uint64_t i = 0; i < 600; i++) {
		struct keyspace keyspace = KEYSPACE(100 + i, PART_ITEMS);

		CHECK_INT(store_create(txn, keyspace, &fixture->err), OK);
		fixture_put(fixture, txn, keyspace, "k", i % 2 ? "odd" : "");
		keys[i] = (struct store_key){keyspace, i % 3 ? STR("k") : STR("none")};
	}
	for (int is_committed = 0; is_committed < 2; is_committed++) {
		CHECK_INT(store_get_many(txn, keys, 600, fixture->arena, values, &fixture->err),
			  OK);
		for (size_t i = 0; i < 600; i++) {
			CHECK_INT(str_is_set(values[i]), i % 3 != 0);
			CHECK(str_eq(values[i], i % 3 == 0 ? STR("")
						: i % 2    ? STR("odd")
							   : STR("")));
		}
		if (!is_committed) {
			commit(fixture, txn);
			txn = fixture_begin(fixture, store, STORE_READ);
		}
	}
	CHECK_INT(store_get_many(txn, NULL, 0, fixture->arena, NULL, &fixture->err), OK);
	commit(fixture, txn);
}

/* Keyspaces of each kind: with a SQL table of their own, within a shared one, of small rows. Some
 * keys come twice or have no row. */
TEST_EACH(many_rows_of_one_keyspace_at_once)
{
	enum { KEYS = 61 };
	const struct keyspace keyspaces[] = {KEYSPACE(100, PART_ITEMS), KEYSPACE(100, PART_STREAM),
					     KEYSPACE(100, PART_INDEX)};
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	struct store_key keys[KEYS];
	struct str values[KEYS];

	CHECK_INT(store_create(txn, keyspaces[0], &fixture->err), OK);
	CHECK_INT(store_create(txn, keyspaces[1], &fixture->err), OK);
	CHECK_INT(store_create_small(txn, keyspaces[2], &fixture->err), OK);
	for (size_t i = 0; i < 3 * KEYS; i++)
		fixture_put(fixture, txn, keyspaces[i % 3],
			    str_printf(fixture->arena, "%zu", i / 3).p, i % 2 ? "odd" : "");
	for (size_t k = 0; k < 3; k++) {
		for (size_t i = 0; i < KEYS; i++)
			keys[i] = (struct store_key){
				keyspaces[k],
				str_printf(fixture->arena, "%zu", (KEYS - 1 - i) * 2 / 3 * 2)};
		CHECK_INT(store_get_many(txn, keys, KEYS, fixture->arena, values, &fixture->err),
			  OK);
		for (size_t i = 0; i < KEYS; i++) {
			size_t row = (KEYS - 1 - i) * 2 / 3 * 2;

			CHECK_INT(str_is_set(values[i]), row < KEYS);
			CHECK(str_eq(values[i],
				     row < KEYS && (row * 3 + k) % 2 ? STR("odd") : STR("")));
		}
	}
	commit(fixture, txn);
}

TEST_EACH(the_same_row_is_got_twice)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	const struct store_key keys[] = {
		{ITEMS, STR_INIT("b")}, {INDEX, STR_INIT("b")}, {ITEMS, STR_INIT("b")}};
	struct str values[3];

	put_letters(fixture, txn);
	CHECK_INT(store_get_many(txn, keys, 3, fixture->arena, values, &fixture->err), OK);
	CHECK_STR(values[0], "2");
	CHECK(!str_is_set(values[1]));
	CHECK_STR(values[2], "2");
	store_abort(txn);
}

TEST_EACH(ranges_are_deleted)
{
	static const struct {
		const char *low, *high, *left;
	} cases[] = {
		{"b", "d", "a=1 d=4 \xFF=5 "},
		{"aa", "c", "a=1 d=4 \xFF=5 "},
		{NULL, "bb", "bb=3 d=4 \xFF=5 "},
		{"bb", NULL, "a=1 b=2 "},
		{NULL, NULL, ""},
		{"b", "b", "a=1 b=2 bb=3 d=4 \xFF=5 "},
		{"d", "a", "a=1 b=2 bb=3 d=4 \xFF=5 "},
		{"", "", "a=1 b=2 bb=3 d=4 \xFF=5 "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

		put_letters(fixture, txn);
		fixture_put(fixture, txn, INDEX, "b", "stays");
		commit(fixture, txn);
		txn = fixture_begin(fixture, store, STORE_WRITE);
		del_range(fixture, txn, ITEMS, cases[i].low, cases[i].high);
		CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, false, 99), cases[i].left);
		CHECK_STR(fixture_get(fixture, txn, INDEX, "b"), "stays");
		store_abort(txn);
		CHECK_STR(fixture_get_alone(fixture, store, ITEMS, "b"), "2");
		txn = fixture_begin(fixture, store, STORE_WRITE);
		del_range(fixture, txn, ITEMS, cases[i].low, cases[i].high);
		commit(fixture, txn);
		txn = fixture_begin(fixture, store, STORE_READ);
		CHECK_STR(fixture_list(fixture, txn, ITEMS, NULL, NULL, false, 99), cases[i].left);
		commit(fixture, txn);
	}
}

TEST_EACH(ranges_of_versions_are_deleted)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	fixture_put(fixture, txn, VERSIONS, "x1", "1");
	fixture_put(fixture, txn, VERSIONS, "x2", "2");
	fixture_put(fixture, txn, VERSIONS, "y", "3");
	commit(fixture, txn);
	txn = fixture_begin(fixture, store, STORE_WRITE);
	del_range(fixture, txn, VERSIONS, "x", "y");
	CHECK(!str_is_set(fixture_get(fixture, txn, VERSIONS, "x1")));
	commit(fixture, txn);
	CHECK(!str_is_set(fixture_get_alone(fixture, store, VERSIONS, "x1")));
	CHECK(!str_is_set(fixture_get_alone(fixture, store, VERSIONS, "x2")));
	CHECK_STR(fixture_get_alone(fixture, store, VERSIONS, "y"), "3");
}

TEST(numbers_have_8_bytes)
{
	static const struct {
		int64_t number;
		struct str value;
	} cases[] = {
		{0, STR_INIT("\0\0\0\0\0\0\0\0")},
		{1, STR_INIT("\0\0\0\0\0\0\0\1")},
		{-1, STR_INIT("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")},
		{INT64_MAX, STR_INIT("\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF")},
		{INT64_MIN, STR_INIT("\x80\0\0\0\0\0\0\0")},
		{-256, STR_INIT("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0")},
	};
	char bytes[STORE_NUMBER_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(str_eq(store_number_value(cases[i].number, bytes), cases[i].value));
		CHECK(store_number(cases[i].value) == cases[i].number);
	}
	CHECK_INT(store_number(STR_ABSENT), 0);
	CHECK_INT(store_number(STR("1234567")), 0);
}

TEST_EACH(numbers_are_added_to)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK(!str_is_set(fixture_get(fixture, txn, COUNTERS, "n")));
	add(fixture, txn, COUNTERS, "n", 0);
	CHECK_INT(fixture_get(fixture, txn, COUNTERS, "n").n, STORE_NUMBER_BYTES);
	add(fixture, txn, COUNTERS, "n", 7);
	CHECK_INT(number(fixture, txn, COUNTERS, "n"), 7);
	commit(fixture, txn);
	CHECK_INT(number_alone(fixture, store, COUNTERS, "n"), 7);
	txn = fixture_begin(fixture, store, STORE_WRITE);
	add(fixture, txn, COUNTERS, "n", -10);
	CHECK_INT(number(fixture, txn, COUNTERS, "n"), -3);
	add(fixture, txn, COUNTERS, "n", -1);
	add(fixture, txn, COUNTERS, "m", INT64_C(1) << 40);
	commit(fixture, txn);
	CHECK_INT(number_alone(fixture, store, COUNTERS, "n"), -4);
	CHECK(number_alone(fixture, store, COUNTERS, "m") == INT64_C(1) << 40);
	txn = fixture_begin(fixture, store, STORE_WRITE);
	add(fixture, txn, COUNTERS, "n", 100);
	store_abort(txn);
	CHECK_INT(number_alone(fixture, store, COUNTERS, "n"), -4);
}

TEST_EACH(numbers_are_rows_like_others)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	char bytes[STORE_NUMBER_BYTES];
	struct store_page page;

	CHECK_INT(store_put(txn, COUNTERS, STR("n"), store_number_value(5, bytes), &fixture->err),
		  OK);
	add(fixture, txn, COUNTERS, "n", 1);
	commit(fixture, txn);
	txn = fixture_begin(fixture, store, STORE_WRITE);
	add(fixture, txn, COUNTERS, "n", 1);
	CHECK_INT(store_page(txn, COUNTERS, &(struct store_range){STR("n"), STR("o"), false},
			     (struct store_bounds){0, 0}, fixture->arena, &page, &fixture->err),
		  OK);
	CHECK_INT(page.n, 1);
	CHECK_INT(store_number(page.v[0].value), 7);
	CHECK_INT(store_del(txn, COUNTERS, STR("n"), &fixture->err), OK);
	add(fixture, txn, COUNTERS, "n", 2);
	CHECK_INT(number(fixture, txn, COUNTERS, "n"), 2);
	del_range(fixture, txn, COUNTERS, "n", "o");
	CHECK(!str_is_set(fixture_get(fixture, txn, COUNTERS, "n")));
	add(fixture, txn, COUNTERS, "n", 3);
	CHECK_INT(number(fixture, txn, COUNTERS, "n"), 3);
	add(fixture, txn, COUNTERS, "n", 1);
	commit(fixture, txn);
	CHECK_INT(number_alone(fixture, store, COUNTERS, "n"), 4);
}

TEST_EACH(versions_are_added_to)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	add(fixture, txn, VERSIONS, "number", 2);
	commit(fixture, txn);
	txn = fixture_begin(fixture, store, STORE_WRITE);
	add(fixture, txn, VERSIONS, "number", 3);
	CHECK_INT(number(fixture, txn, VERSIONS, "number"), 5);
	commit(fixture, txn);
	CHECK_INT(number_alone(fixture, store, VERSIONS, "number"), 5);
}

TEST_EACH(readers_do_not_write)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};

	CHECK_INT(store_add(txn, COUNTERS, STR("n"), 1, &fixture->err), ERR_INTERNAL);
	CHECK_INT(store_del_range(txn, ITEMS, &all, &fixture->err), ERR_INTERNAL);
	commit(fixture, txn);
}

static struct str bytes_of(struct fixture *fixture, char byte, size_t n)
{
	char *bytes = arena_bytes(fixture->arena, n + 1);

	memset(bytes, byte, n);
	return (struct str){bytes, n};
}

/* Each value after each other: what one leaves behind must not be seen by the next. */
TEST_EACH(values_of_any_length_follow_each_other)
{
	static const size_t lengths[] = {0,  1,  6,   7,   8,   9,   10,  90,  91,  92,
					 98, 99, 100, 101, 190, 191, 192, 291, 5000};
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	const size_t n = sizeof(lengths) / sizeof(lengths[0]);

	for (size_t i = 0; i < n * n; i++) {
		struct str value = bytes_of(fixture, (char)i, lengths[i % 2 ? i / 2 % n : i / n]),
			   found;
		struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
		const struct store_key keys[] = {{ITEMS, STR_INIT("k")}, {ITEMS, STR_INIT("none")}};
		struct str many[2];
		struct store_page page;

		CHECK_INT(store_put(txn, ITEMS, STR("k"), value, &fixture->err), OK);
		CHECK_INT(store_get(txn, ITEMS, STR("k"), fixture->arena, &found, &fixture->err),
			  OK);
		CHECK(str_is_set(found) && str_eq(found, value));
		commit(fixture, txn);
		txn = fixture_begin(fixture, store, STORE_READ);
		CHECK_INT(store_get_many(txn, keys, 2, fixture->arena, many, &fixture->err), OK);
		CHECK(str_is_set(many[0]) && str_eq(many[0], value) && !str_is_set(many[1]));
		CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){0, 0}, fixture->arena,
				     &page, &fixture->err),
			  OK);
		CHECK(page.n == 1 && str_eq(page.v[0].value, value));
		commit(fixture, txn);
		arena_reset(fixture->arena);
	}
}

/* Keys that are prefixes of others, with zero bytes, and large values: each range takes its own. */
TEST_EACH(large_values_go_with_their_ranges)
{
	static const struct str keys[] = {STR_INIT("a"),     STR_INIT("a\0"), STR_INIT("a\0\0"),
					  STR_INIT("a\0\1"), STR_INIT("a\1"), STR_INIT("a\xFF"),
					  STR_INIT("b")};
	const size_t n = sizeof(keys) / sizeof(keys[0]);

	for (size_t low = 0; low < n; low++) {
		for (size_t high = low; high < n; high++) {
			struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
			const struct store_range all = {STR_ABSENT, STR_ABSENT, false},
						 some = {keys[low], keys[high], false};
			struct store_page page;
			struct store_stat stat;

			for (size_t i = 0; i < n; i++)
				CHECK_INT(store_put(txn, ITEMS, keys[i],
						    bytes_of(fixture, (char)i, 1000),
						    &fixture->err),
					  OK);
			CHECK_INT(store_del_range(txn, ITEMS, &some, &fixture->err), OK);
			CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){0, 0},
					     fixture->arena, &page, &fixture->err),
				  OK);
			CHECK_INT(page.n, n - (high - low));
			for (size_t i = 0, k = 0; i < page.n; i++, k++) {
				k = k == low ? high : k;
				CHECK(str_eq(page.v[i].key, keys[k]) &&
				      str_eq(page.v[i].value, bytes_of(fixture, (char)k, 1000)));
			}
			CHECK_INT(store_del_range(txn, ITEMS, &all, &fixture->err), OK);
			CHECK_INT(store_stat(txn, ITEMS, &stat, &fixture->err), OK);
			CHECK_INT(stat.rows + stat.bytes, 0);
			commit(fixture, txn);
			arena_reset(fixture->arena);
		}
	}
}

/* By whole values, however they are kept. */
TEST_EACH(pages_of_large_values_are_bounded)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page;

	for (int i = 0; i < 9; i++)
		CHECK_INT(store_put(txn, ITEMS, str_printf(fixture->arena, "%d", i),
				    bytes_of(fixture, 'v', 999), &fixture->err),
			  OK);
	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){0, 3000}, fixture->arena,
			     &page, &fixture->err),
		  OK);
	CHECK_INT(page.n, 3);
	CHECK(page.is_more);
	store_abort(txn);
}

TEST_EACH(limits_are_stated)
{
	const struct store_limits *limits = store_limits(store);

	(void)fixture;
	/* what everything above needs at least */
	CHECK(limits->value == 0 || limits->value >= 16 * 1024);
	CHECK(limits->txn == 0 || limits->txn >= (1 << 20));
}

/* Two transactions open at the same time, in a store that lets them. */
struct pair {
	struct fixture fixture;
	struct optimistic_db *db;
	struct store *stores[2];
	struct store_txn *a, *b;
};

static struct pair open_pair(void)
{
	struct pair pair = {.fixture = fixture_new(true), .db = optimistic_db_new()};

	for (int i = 0; i < 2; i++)
		pair.stores[i] = optimistic_open(pair.db);
	struct store_txn *txn = fixture_begin(&pair.fixture, pair.stores[0], STORE_WRITE);
	put_letters(&pair.fixture, txn);
	add(&pair.fixture, txn, COUNTERS, "n", 10);
	commit(&pair.fixture, txn);
	pair.a = fixture_begin(&pair.fixture, pair.stores[0], STORE_WRITE);
	pair.b = fixture_begin(&pair.fixture, pair.stores[1], STORE_WRITE);
	return pair;
}

/* Commits both; gives what became of the second. */
static enum code close_pair(struct pair *pair, int64_t *n)
{
	commit(&pair->fixture, pair->a);
	enum code code = store_commit(pair->b, &pair->fixture.err);
	*n = number_alone(&pair->fixture, pair->stores[0], COUNTERS, "n");

	for (int i = 0; i < 2; i++)
		store_close(pair->stores[i]);
	optimistic_db_unref(pair->db);
	fixture_free(&pair->fixture);
	return code;
}

TEST(two_add_to_one_row)
{
	struct pair pair = open_pair();
	int64_t n;

	add(&pair.fixture, pair.a, COUNTERS, "n", 1);
	add(&pair.fixture, pair.b, COUNTERS, "n", 2);
	CHECK_INT(close_pair(&pair, &n), OK);
	CHECK_INT(n, 13);
}

TEST(who_reads_the_number_meets_a_conflict)
{
	struct pair pair = open_pair();
	int64_t n;

	add(&pair.fixture, pair.a, COUNTERS, "n", 1);
	add(&pair.fixture, pair.b, COUNTERS, "n", 2);
	CHECK_INT(number(&pair.fixture, pair.b, COUNTERS, "n"), 12);
	CHECK_INT(close_pair(&pair, &n), ERR_CONFLICT);
	CHECK_INT(n, 11);
}

/* Only the page, to its last row, was read. */
TEST(what_follows_a_page_may_change)
{
	static const struct {
		const char *changed;
		bool is_reverse;
		enum code code;
	} cases[] = {
		{"a", false, ERR_CONFLICT}, {"b", false, ERR_CONFLICT}, {"aa", false, ERR_CONFLICT},
		{"bb", false, OK},          {"ba", false, OK},          {"d", true, ERR_CONFLICT},
		{"z", true, ERR_CONFLICT},  {"bb", true, OK},           {"c", true, OK},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pair pair = open_pair();
		const struct store_range all = {STR_ABSENT, STR_ABSENT, cases[i].is_reverse};
		int64_t n;

		CHECK_STR(page_text(&pair.fixture, pair.b, &all, 2, 0),
			  cases[i].is_reverse ? "\xFF=5 d=4 ..." : "a=1 b=2 ...");
		fixture_put(&pair.fixture, pair.b, INDEX, "x", "1");
		fixture_put(&pair.fixture, pair.a, ITEMS, cases[i].changed, "changed");
		CHECK_INT(close_pair(&pair, &n), cases[i].code);
	}
}

TEST(rows_got_together_are_read_one_by_one)
{
	for (int is_read = 0; is_read < 2; is_read++) {
		struct pair pair = open_pair();
		const struct store_key keys[] = {{ITEMS, STR_INIT("a")}, {ITEMS, STR_INIT("c")}};
		struct str values[2];
		int64_t n;

		CHECK_INT(store_get_many(pair.b, keys, 2, pair.fixture.arena, values,
					 &pair.fixture.err),
			  OK);
		CHECK(str_is_set(values[0]) && !str_is_set(values[1]));
		fixture_put(&pair.fixture, pair.b, INDEX, "x", "1");
		fixture_put(&pair.fixture, pair.a, ITEMS, is_read ? "c" : "b", "changed");
		CHECK_INT(close_pair(&pair, &n), is_read ? ERR_CONFLICT : OK);
	}
}

TEST(a_deleted_range_was_not_read)
{
	struct pair pair = open_pair();
	int64_t n;

	fixture_put(&pair.fixture, pair.a, ITEMS, "c", "new");
	del_range(&pair.fixture, pair.b, ITEMS, "b", "d");
	fixture_put(&pair.fixture, pair.b, ITEMS, "bb", "mine");
	CHECK_STR(fixture_list(&pair.fixture, pair.b, ITEMS, "bb", "bc", false, 9), "bb=mine ");
	struct store *store = optimistic_open(pair.db);
	CHECK_INT(close_pair(&pair, &n), OK);
	struct fixture fixture = fixture_new(true);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 9),
		  "a=1 bb=mine d=4 \xFF=5 ");
	commit(&fixture, txn);
	store_close(store);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(a_page_ends_at_its_bounds), TEST_CASE(a_page_keeps_to_its_range),
	  TEST_CASE(pages_follow_each_other), TEST_CASE(a_page_shows_what_its_transaction_wrote),
	  TEST_CASE(any_bytes_lie_in_a_page), TEST_CASE(many_rows_of_many_keyspaces_at_once),
	  TEST_CASE(many_rows_of_one_keyspace_at_once), TEST_CASE(the_same_row_is_got_twice),
	  TEST_CASE(ranges_are_deleted), TEST_CASE(ranges_of_versions_are_deleted),
	  TEST_CASE(numbers_have_8_bytes), TEST_CASE(numbers_are_added_to),
	  TEST_CASE(numbers_are_rows_like_others), TEST_CASE(versions_are_added_to),
	  TEST_CASE(readers_do_not_write), TEST_CASE(values_of_any_length_follow_each_other),
	  TEST_CASE(large_values_go_with_their_ranges),
	  TEST_CASE(pages_of_large_values_are_bounded), TEST_CASE(limits_are_stated),
	  TEST_CASE(two_add_to_one_row), TEST_CASE(who_reads_the_number_meets_a_conflict),
	  TEST_CASE(what_follows_a_page_may_change),
	  TEST_CASE(rows_got_together_are_read_one_by_one), TEST_CASE(a_deleted_range_was_not_read))
