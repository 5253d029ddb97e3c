/*
 * What the store in PostgreSQL promises beyond the contract that all backends keep: transactions of
 * two servers, keys that are too long for an index, round trips. Runs where store_fixture.h finds a
 * database; tests/cluster/run names one.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/retry.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define INDEX KEYSPACE(7, PART_INDEX)
#define COUNTERS KEYSPACE(0, SYSTEM_COUNTERS)
#define VERSIONS KEYSPACE(0, SYSTEM_VERSIONS)
#define LONG 2560 /* bytes that a key has in the index */

/* Two servers on one database. */
struct pair {
	struct fixture fixture;
	struct store *a, *b;
};

static struct pair open_pair(void)
{
	struct pair pair = {.fixture = fixture_new(true)};

	pair.a = fixture_open_database(&pair.fixture);
	pair.b = fixture_open_database_as_it_is(&pair.fixture);
	return pair;
}

static void close_pair(struct pair *pair)
{
	store_close(pair->a);
	store_close(pair->b);
	fixture_free(&pair->fixture);
}

static void put_alone(struct pair *pair, struct store *store, struct keyspace keyspace,
		      const char *key, const char *value)
{
	CHECK_INT(fixture_put_alone(&pair->fixture, store, keyspace, str_of(key), str_of(value)),
		  OK);
}

TEST(a_reader_sees_one_moment)
{
	struct pair pair = open_pair();

	put_alone(&pair, pair.a, ITEMS, "a", "1");
	put_alone(&pair, pair.a, ITEMS, "b", "1");
	struct store_txn *reader = fixture_begin(&pair.fixture, pair.a, STORE_READ);
	CHECK_STR(fixture_get(&pair.fixture, reader, ITEMS, "a"), "1");
	put_alone(&pair, pair.b, ITEMS, "b", "2");
	put_alone(&pair, pair.b, ITEMS, "c", "2");
	CHECK_STR(fixture_list(&pair.fixture, reader, ITEMS, NULL, NULL, false, 9), "a=1 b=1 ");
	CHECK_INT(store_commit(reader, &pair.fixture.err), OK);
	CHECK_STR(fixture_get_alone(&pair.fixture, pair.a, ITEMS, "b"), "2");
	close_pair(&pair);
}

/* `a` has read; what `b` does then is in the way of a's commit. */
static enum code meet(struct pair *pair, struct store_txn *a, struct keyspace keyspace,
		      const char *key)
{
	put_alone(pair, pair->b, keyspace, key, "of b");
	fixture_put(&pair->fixture, a, INDEX, "a was here", "");
	return store_commit(a, &pair->fixture.err);
}

TEST(what_was_absent_stays_absent)
{
	static const struct keyspace keyspaces[] = {
		{7, PART_ITEMS}, {0, SYSTEM_TOKENS}, {0, SYSTEM_VERSIONS}};
	struct pair pair = open_pair();

	for (size_t i = 0; i < sizeof(keyspaces) / sizeof(keyspaces[0]); i++) {
		struct store_txn *a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);

		CHECK(!str_is_set(fixture_get(&pair.fixture, a, keyspaces[i], "x")));
		CHECK_INT(meet(&pair, a, keyspaces[i], "x"), ERR_CONFLICT);
		CHECK(!str_is_set(fixture_get_alone(&pair.fixture, pair.b, INDEX, "a was here")));
		/* a row that the transaction writes itself */
		a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);
		CHECK(!str_is_set(fixture_get(&pair.fixture, a, keyspaces[i], "y")));
		put_alone(&pair, pair.b, keyspaces[i], "y", "of b");
		fixture_put(&pair.fixture, a, keyspaces[i], "y", "of a");
		CHECK_INT(store_commit(a, &pair.fixture.err), ERR_CONFLICT);
		CHECK_STR(fixture_get_alone(&pair.fixture, pair.a, keyspaces[i], "y"), "of b");
		/* and nothing is left of the guards of one that commits */
		a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);
		CHECK(!str_is_set(fixture_get(&pair.fixture, a, keyspaces[i], "z")));
		CHECK_INT(store_del(a, keyspaces[i], STR("z"), &pair.fixture.err), OK);
		CHECK_INT(store_commit(a, &pair.fixture.err), OK);
		CHECK(!str_is_set(fixture_get_alone(&pair.fixture, pair.b, keyspaces[i], "z")));
	}
	close_pair(&pair);
}

TEST(what_was_read_and_not_written_is_of_one_moment)
{
	struct pair pair = open_pair();

	put_alone(&pair, pair.a, ITEMS, "y", "1");
	for (unsigned i = 0; i < 2; i++) {
		struct store_txn *a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);

		CHECK(!str_is_set(fixture_get(&pair.fixture, a, ITEMS, "x")));
		if (i == 1) {
			struct store_txn *b = fixture_begin(&pair.fixture, pair.b, STORE_WRITE);

			fixture_put(&pair.fixture, b, ITEMS, "x", "2");
			fixture_put(&pair.fixture, b, ITEMS, "y", "2");
			CHECK_INT(store_commit(b, &pair.fixture.err), OK);
		}
		CHECK_STR(fixture_get(&pair.fixture, a, ITEMS, "y"), i == 1 ? "2" : "1");
		CHECK_INT(store_verify(a, &pair.fixture.err), i == 1 ? ERR_CONFLICT : OK);
		store_abort(a);
	}
	close_pair(&pair);
}

TEST(a_range_that_was_read_gets_no_rows)
{
	struct pair pair = open_pair();

	put_alone(&pair, pair.a, ITEMS, "b", "1");
	put_alone(&pair, pair.a, ITEMS, "d", "1");
	struct store_txn *a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);
	CHECK_STR(fixture_list(&pair.fixture, a, ITEMS, "a", "e", false, 9), "b=1 d=1 ");
	CHECK_INT(meet(&pair, a, ITEMS, "c"), ERR_CONFLICT);
	/* beside it all goes on, and its own rows count as its own */
	a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);
	CHECK_STR(fixture_list(&pair.fixture, a, ITEMS, "a", "c", false, 9), "b=1 ");
	fixture_put(&pair.fixture, a, ITEMS, "bb", "2");
	CHECK_INT(store_add(a, ITEMS, STR("bc"), 1, &pair.fixture.err), OK);
	CHECK_INT(store_del(a, ITEMS, STR("b"), &pair.fixture.err), OK);
	CHECK_INT(store_del(a, ITEMS, STR("ba"), &pair.fixture.err), OK);
	CHECK_INT(meet(&pair, a, ITEMS, "e"), OK);
	/* a blind write into the range is no blind write */
	a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);
	CHECK_STR(fixture_list(&pair.fixture, a, ITEMS, "f", "h", false, 9), "");
	fixture_put(&pair.fixture, a, ITEMS, "g", "of a");
	CHECK_INT(meet(&pair, a, ITEMS, "g"), ERR_CONFLICT);
	/* what a page did not reach was not read */
	a = fixture_begin(&pair.fixture, pair.a, STORE_WRITE);
	struct store_range all = {STR_ABSENT, STR_ABSENT, true};
	struct store_page page;
	CHECK_INT(store_page(a, ITEMS, &all, (struct store_bounds){1, 0}, pair.fixture.arena, &page,
			     &pair.fixture.err),
		  OK);
	CHECK_INT(page.n, 1);
	CHECK_STR(page.v[0].key, "g");
	CHECK_INT(meet(&pair, a, ITEMS, "ee"), OK);
	close_pair(&pair);
}

/* One of several writers at once. */
struct writer {
	struct store *store;
	unsigned number;
	atomic_uint *conflicts;
	pthread_barrier_t *pair; /* of this one and the other of two */
	bool has_failed;
};

#define WRITERS 8
#define ROUNDS 20

static void *raise_number(void *context)
{
	struct writer *writer = context;
	struct arena *arena = arena_new(1 << 16);
	struct err err = err_in(arena);

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct retry retry = {0};
		enum code code;

		do {
			struct store_txn *txn;
			struct str value;

			code = store_begin(writer->store, STORE_WRITE, &txn, &err);
			if (code != OK)
				continue;
			code = store_get(txn, ITEMS, STR("n"), arena, &value, &err);
			char bytes[STORE_NUMBER_BYTES];
			if (code == OK)
				code = store_put(txn, ITEMS, STR("n"),
						 store_number_value(store_number(value) + 1, bytes),
						 &err);
			if (code == OK)
				code = store_commit(txn, &err);
			else
				store_abort(txn);
			if (code == ERR_CONFLICT)
				atomic_fetch_add(writer->conflicts, 1);
		} while (retry_again(&retry, code));
		writer->has_failed = writer->has_failed || code != OK;
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

static void *add_numbers(void *context)
{
	struct writer *writer = context;
	struct arena *arena = arena_new(1 << 16);
	struct err err = err_in(arena);

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct store_txn *txn;
		enum code code = store_begin(writer->store, STORE_WRITE, &txn, &err);

		for (unsigned k = 0; k < 3 && code == OK; k++)
			code = store_add(txn, COUNTERS,
					 str_printf(arena, "c%u", (writer->number + k) % 3), 1,
					 &err);
		if (code == OK)
			code = store_commit(txn, &err);
		if (code == ERR_CONFLICT)
			atomic_fetch_add(writer->conflicts, 1);
		writer->has_failed = writer->has_failed || code != OK;
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

/* Each two by one: reads what the other of the two writes, in ranges. */
static void *skew(void *context)
{
	struct writer *writer = context;
	struct arena *arena = arena_new(1 << 16);
	struct err err = err_in(arena);

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct str prefix = str_printf(arena, "%u-%u-", writer->number / 2, i),
			   end = str_printf(arena, "%u-%u.", writer->number / 2, i);
		struct store_range range = {prefix, end, false};
		struct retry retry = {0};
		enum code code;

		do {
			struct store_txn *txn;
			struct store_page page;

			code = store_begin(writer->store, STORE_WRITE, &txn, &err);
			if (code != OK)
				continue; /* does not happen: a link for each */
			code = store_page(txn, ITEMS, &range, (struct store_bounds){0}, arena,
					  &page, &err);
			if (retry.runs == 0)
				pthread_barrier_wait(
					writer->pair); /* both have read, neither has written */
			if (code == OK && page.n == 0) /* the first alone may */
				code = store_put(txn, ITEMS,
						 str_printf(arena, STR_FMT "%u", STR_ARG(prefix),
							    writer->number),
						 STR("1"), &err);
			if (code == OK)
				code = store_commit(txn, &err);
			else
				store_abort(txn);
			if (code == ERR_CONFLICT)
				atomic_fetch_add(writer->conflicts, 1);
		} while (retry_again(&retry, code));
		writer->has_failed = writer->has_failed || code != OK;
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

static unsigned run_writers(struct pair *pair, void *(*work)(void *))
{
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	pthread_barrier_t barriers[WRITERS / 2];
	atomic_uint conflicts = 0;

	for (unsigned i = 0; i < WRITERS / 2; i++)
		pthread_barrier_init(&barriers[i], NULL, 2);
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){i % 2 ? pair->a : pair->b, i, &conflicts,
					     &barriers[i / 2], false};
		CHECK_INT(pthread_create(&threads[i], NULL, work, &writers[i]), 0);
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(!writers[i].has_failed);
	}
	for (unsigned i = 0; i < WRITERS / 2; i++)
		pthread_barrier_destroy(&barriers[i]);
	return atomic_load(&conflicts);
}

TEST(no_update_is_lost)
{
	struct pair pair = open_pair();

	run_writers(&pair, raise_number);
	CHECK_INT(store_number(fixture_get_alone(&pair.fixture, pair.a, ITEMS, "n")),
		  WRITERS * ROUNDS);
	close_pair(&pair);
}

TEST(those_who_add_meet_no_conflict)
{
	struct pair pair = open_pair();

	CHECK_INT(run_writers(&pair, add_numbers), 0);
	for (unsigned i = 0; i < 3; i++) {
		char key[8];

		snprintf(key, sizeof(key), "c%u", i);
		CHECK_INT(store_number(fixture_get_alone(&pair.fixture, pair.b, COUNTERS, key)),
			  WRITERS * ROUNDS);
	}
	close_pair(&pair);
}

TEST(of_two_that_read_a_range_one_writes)
{
	struct pair pair = open_pair();

	run_writers(&pair, skew);
	struct store_txn *txn = fixture_begin(&pair.fixture, pair.a, STORE_READ);
	struct store_stat stat;
	CHECK_INT(store_stat(txn, ITEMS, &stat, &pair.fixture.err), OK);
	CHECK_INT(stat.rows, WRITERS / 2 * ROUNDS);
	store_abort(txn);
	close_pair(&pair);
}

/* Reads a row that others read at the same time, and a range, and changes the row. */
static enum code change_version(struct store *store, struct arena *arena, struct err *err)
{
	static const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	const struct store_key key = {VERSIONS, STR("v")};
	char bytes[STORE_NUMBER_BYTES];
	struct store_txn *txn;
	struct store_page page;
	struct str value;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = store_intend(txn, &key, err);
	if (code == OK)
		code = store_get(txn, key.keyspace, key.key, arena, &value, err);
	if (code == OK)
		code = store_page(txn, COUNTERS, &all, (struct store_bounds){0, 0}, arena, &page,
				  err);
	if (code == OK)
		code = store_put(txn, key.keyspace, key.key,
				 store_number_value(store_number(value) + 1, bytes), err);
	if (code == OK)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

static void *change_versions(void *context)
{
	struct writer *writer = context;
	struct arena *arena = arena_new(1 << 16);
	struct err err = err_in(arena);

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct retry retry = {0};
		enum code code;

		do {
			code = change_version(writer->store, arena, &err);
			if (code == ERR_CONFLICT)
				atomic_fetch_add(writer->conflicts, 1);
		} while (retry_again(&retry, code));
		writer->has_failed = writer->has_failed || code != OK;
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

/* Else each pair would wait for each other until the database notices, which takes a second. */
TEST(those_who_say_that_they_change_a_row_wait_for_each_other)
{
	struct pair pair = open_pair();
	char bytes[STORE_NUMBER_BYTES];

	CHECK_INT(fixture_put_alone(&pair.fixture, pair.a, VERSIONS, STR("v"),
				    store_number_value(0, bytes)),
		  OK);
	CHECK_INT(run_writers(&pair, change_versions), 0);
	CHECK_INT(store_number(fixture_get_alone(&pair.fixture, pair.a, VERSIONS, "v")),
		  WRITERS * ROUNDS);
	close_pair(&pair);
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Around the length from which on keys are long: few beginnings, so that many share one. */
static struct str draw_key(struct arena *arena, uint64_t *seed)
{
	size_t n = draw(seed) % 4 == 0 ? draw(seed) % 3 : LONG - 2 + draw(seed) % 5;
	char *key = arena_bytes(arena, n + 1);

	for (size_t i = 0; i < n; i++)
		key[i] = i < LONG - 1 ? 'k' : "\0\x01\xFF"[draw(seed) % 3];
	if (n > 100)
		key[100] = "\xFFq"[draw(seed) % 2];
	return (struct str){key, n};
}

static void check_same(struct fixture *fixture, struct store_txn *ours, struct store_txn *model,
		       const struct store_range *range, struct store_bounds bounds)
{
	struct store_page a, b;

	CHECK_INT(store_page(ours, ITEMS, range, bounds, fixture->arena, &a, &fixture->err), OK);
	CHECK_INT(store_page(model, ITEMS, range, bounds, fixture->arena, &b, &fixture->err), OK);
	CHECK_INT(a.n, b.n);
	for (size_t i = 0; i < a.n && i < b.n; i++)
		CHECK(str_eq(a.v[i].key, b.v[i].key) && str_eq(a.v[i].value, b.v[i].value));
	CHECK(bounds.rows || !a.is_more);
}

/* Against SQLite, whose keys have no limit. */
TEST(long_keys_keep_their_order)
{
	struct fixture fixture = fixture_new(true);
	struct store *ours = fixture_open_database(&fixture), *model = fixture_open(&fixture);
	uint64_t seed = 7;

	fixture_create(&fixture, model, ITEMS);
	for (unsigned round = 0; round < 30; round++) {
		struct store_txn *a = fixture_begin(&fixture, ours, STORE_WRITE),
				 *b = fixture_begin(&fixture, model, STORE_WRITE);

		for (unsigned i = 0; i < 6; i++) {
			struct str key = draw_key(fixture.arena, &seed),
				   value = str_printf(fixture.arena, "%u.%u", round, i);

			if (i == 5) {
				CHECK_INT(store_del(a, ITEMS, key, &fixture.err), OK);
				CHECK_INT(store_del(b, ITEMS, key, &fixture.err), OK);
				continue;
			}
			CHECK_INT(store_put(a, ITEMS, key, value, &fixture.err), OK);
			CHECK_INT(store_put(b, ITEMS, key, value, &fixture.err), OK);
		}
		for (unsigned i = 0; i < 6; i++) {
			struct str low = draw(&seed) % 5 ? draw_key(fixture.arena, &seed)
							 : STR_ABSENT,
				   high = draw(&seed) % 5 ? draw_key(fixture.arena, &seed)
							  : STR_ABSENT;
			struct store_range range = {low, high, draw(&seed) % 2};

			check_same(&fixture, a, b, &range,
				   (struct store_bounds){draw(&seed) % 4, 0});
			if (i == 5 && round % 5 == 0) {
				CHECK_INT(store_del_range(a, ITEMS, &range, &fixture.err), OK);
				CHECK_INT(store_del_range(b, ITEMS, &range, &fixture.err), OK);
			}
		}
		CHECK_INT(store_commit(a, &fixture.err), OK);
		CHECK_INT(store_commit(b, &fixture.err), OK);
		a = fixture_begin(&fixture, ours, STORE_READ);
		b = fixture_begin(&fixture, model, STORE_READ);
		check_same(&fixture, a, b, &(struct store_range){STR_ABSENT, STR_ABSENT, false},
			   (struct store_bounds){0});
		check_same(&fixture, a, b, &(struct store_range){STR_ABSENT, STR_ABSENT, true},
			   (struct store_bounds){0});
		struct store_stat sa, sb;
		CHECK_INT(store_stat(a, ITEMS, &sa, &fixture.err), OK);
		CHECK_INT(store_stat(b, ITEMS, &sb, &fixture.err), OK);
		CHECK_INT(sa.rows, sb.rows);
		CHECK_INT(sa.bytes, sb.bytes);
		store_abort(a);
		store_abort(b);
	}
	store_close(ours);
	store_close(model);
	fixture_free(&fixture);
}

/* Waits since the last call. */
static uint64_t trips(struct store *store, uint64_t *before)
{
	uint64_t now = postgresql_store_counts(store).round_trips, n = now - *before;

	*before = now;
	return n;
}

TEST(round_trips_are_few)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open_database(&fixture);
	const struct store_key keys[] = {
		{VERSIONS, STR("v")}, {ITEMS, STR("a")}, {INDEX, STR("i")}};
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct str values[3];
	struct store_page page;
	uint64_t before = 0;

	CHECK_INT(fixture_put_alone(&fixture, store, VERSIONS, STR("v"), STR("1")), OK);
	trips(store, &before);
	/* one for a read of many rows, or of a page */
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_INT(store_get_many(txn, keys, 3, fixture.arena, values, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(trips(store, &before), 1);
	txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){100, 1 << 20}, fixture.arena,
			     &page, &fixture.err),
		  OK);
	store_abort(txn);
	CHECK_INT(trips(store, &before), 1);
	/* two for a write of any number of rows */
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_get_many(txn, keys, 3, fixture.arena, values, &fixture.err), OK);
	for (unsigned i = 0; i < 50; i++)
		CHECK_INT(store_put(txn, ITEMS, str_printf(fixture.arena, "k%u", i), STR("v"),
				    &fixture.err),
			  OK);
	CHECK_INT(store_add(txn, COUNTERS, STR("n"), 50, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(trips(store, &before), 2);
	/* one where nothing was read, none where nothing was done */
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, txn, ITEMS, "a", "1");
	CHECK_INT(store_del_range(txn, INDEX, &all, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(trips(store, &before), 1);
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(trips(store, &before), 0);
	store_close(store);
	fixture_free(&fixture);
}

/* Connections that keep no settings: each transaction has a beginning, its settings and an end. */
static bool is_pooled(void)
{
	return strstr(fixture_database(), "profile=pooled") != NULL;
}

static struct str long_or_short(struct arena *arena, unsigned i)
{
	struct str key = str_printf(arena, "%0*u", i % 3 ? 4 : LONG + 100, i % 3 ? i : 0);

	return i % 3 ? key : str_printf(arena, STR_FMT "%04u", STR_ARG(key), i);
}

/* All of them, some twice, some absent, some too long for an index, in no order. */
static void check_many(struct fixture *fixture, struct store *store, enum store_mode mode,
		       uint64_t most)
{
	enum { ROWS = 40, ASKED = 100 };
	struct store_key keys[ASKED];
	struct str values[ASKED];
	uint64_t before = postgresql_store_counts(store).statements;

	for (unsigned i = 0; i < ASKED; i++) {
		unsigned row = i * 37 % 50;

		keys[i] = (struct store_key){i % 7 ? ITEMS : INDEX,
					     long_or_short(fixture->arena, row)};
	}
	struct store_txn *txn = fixture_begin(fixture, store, mode);
	CHECK_INT(store_get_many(txn, keys, ASKED, fixture->arena, values, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	for (unsigned i = 0; i < ASKED; i++) {
		unsigned row = i * 37 % 50;

		CHECK_INT(str_is_set(values[i]), i % 7 && row < ROWS);
		if (i % 7 && row < ROWS)
			CHECK_INT(str_be(values[i].p, values[i].n), row);
	}
	CHECK(postgresql_store_counts(store).statements - before <= most + (is_pooled() ? 4 : 0));
}

TEST(many_rows_come_by_few_statements)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open_database(&fixture);

	for (unsigned i = 0; i < 40; i++) {
		const char value = (char)i;

		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, long_or_short(fixture.arena, i),
					    (struct str){&value, 1}),
			  OK);
	}
	check_many(&fixture, store, STORE_READ_ONCE, 2);
	check_many(&fixture, store, STORE_READ, 4); /* its begin and end, too */
	check_many(&fixture, store, STORE_WRITE, 200);
	store_close(store);
	fixture_free(&fixture);
}

TEST(one_read_has_no_begin)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open_database(&fixture);
	const struct store_key keys[] = {{VERSIONS, STR("v")}, {ITEMS, STR("a")}};
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct str values[2];
	struct store_page page;

	CHECK_INT(fixture_put_alone(&fixture, store, VERSIONS, STR("v"), STR("1")), OK);
	for (unsigned i = 0; i < 300; i++)
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS,
					    str_printf(fixture.arena, "%03u", i), STR("v")),
			  OK);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ_ONCE);
	uint64_t before = postgresql_store_counts(store).statements;
	CHECK_INT(store_get_many(txn, keys, 2, fixture.arena, values, &fixture.err), OK);
	CHECK_INT(postgresql_store_counts(store).statements - before, is_pooled() ? 3 : 1);
	CHECK_STR(values[0], "1");
	CHECK(!str_is_set(values[1]));
	/* its snapshot is gone; one that had a beginning is there to its end */
	CHECK_INT(store_get_many(txn, keys, 2, fixture.arena, values, &fixture.err),
		  is_pooled() ? OK : ERR_CONFLICT);
	store_abort(txn);
	/* a page that takes several statements is of one snapshot nevertheless, and brings what was
	 * foreseen */
	txn = fixture_begin(&fixture, store, STORE_READ_ONCE);
	CHECK_INT(store_foresee(txn, keys, 1, &fixture.err), OK);
	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){0, 1 << 20}, fixture.arena,
			     &page, &fixture.err),
		  OK);
	CHECK_INT(page.n, 300);
	CHECK_STR(page.v[299].key, "299");
	CHECK(!page.is_more);
	before = postgresql_store_counts(store).round_trips;
	CHECK_STR(fixture_get(&fixture, txn, VERSIONS, "v"), "1");
	CHECK_INT(postgresql_store_counts(store).round_trips - before, 0);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	store_close(store);
	fixture_free(&fixture);
}

/* Changes two rows together, until it is told to end. */
struct twins {
	struct pair *pair;
	atomic_bool is_ending;
	atomic_uint written;
};

static void *write_twins(void *context)
{
	struct twins *twins = context;
	struct fixture fixture = fixture_new(true);

	for (unsigned i = 0; !atomic_load(&twins->is_ending); i++) {
		struct store_txn *txn = fixture_begin(&fixture, twins->pair->b, STORE_WRITE);
		struct str value = str_printf(fixture.arena, "%u", i);

		CHECK_INT(store_put(txn, VERSIONS, STR("v"), value, &fixture.err), OK);
		CHECK_INT(store_put(txn, ITEMS, STR("a"), value, &fixture.err), OK);
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		atomic_fetch_add(&twins->written, 1);
	}
	fixture_free(&fixture);
	return NULL;
}

TEST(one_read_sees_one_moment)
{
	struct pair pair = open_pair();
	struct twins twins = {.pair = &pair};
	const struct store_key version = {VERSIONS, STR("v")};
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	pthread_t writer;

	put_alone(&pair, pair.a, VERSIONS, "v", "x");
	put_alone(&pair, pair.a, ITEMS, "a", "x");
	CHECK_INT(pthread_create(&writer, NULL, write_twins, &twins), 0);
	while (atomic_load(&twins.written) < 1000) {
		struct store_txn *txn = fixture_begin(&pair.fixture, pair.a, STORE_READ_ONCE);
		struct store_page page;

		CHECK_INT(store_foresee(txn, &version, 1, &pair.fixture.err), OK);
		CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){9, 1 << 20},
				     pair.fixture.arena, &page, &pair.fixture.err),
			  OK);
		CHECK_INT(page.n, 1);
		CHECK(str_eq(page.v[0].value, fixture_get(&pair.fixture, txn, VERSIONS, "v")));
		CHECK_INT(store_commit(txn, &pair.fixture.err), OK);
	}
	atomic_store(&twins.is_ending, true);
	pthread_join(writer, NULL);
	close_pair(&pair);
}

#define APPENDERS 8
#define APPENDED 40
#define COUNTER STR("counter")

struct appender {
	struct store *store;
	uint64_t stamp;
};

static void put_be64(char *bytes, uint64_t number)
{
	for (int i = 0; i < 8; i++)
		bytes[i] = (char)(number >> (56 - 8 * i));
}

static enum code append_one(struct fixture *fixture, struct store *store, uint64_t stamp,
			    const char *with)
{
	char value[12] = "row:";
	const struct store_append append = {ITEMS, COUNTER, STR("n"), {value, sizeof(value)}, 4};

	put_be64(value + 4, stamp);
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	CHECK(store_appends(txn));
	CHECK_INT(store_append(txn, &append, &fixture->err), OK);
	fixture_put(fixture, txn, INDEX, with, "");
	return store_commit(txn, &fixture->err);
}

/* Clocks differ, and may go back. */
static void *append_many(void *context)
{
	const struct appender *appender = context;
	struct fixture fixture = fixture_new(true);

	for (unsigned i = 0; i < APPENDED; i++)
		CHECK_INT(append_one(&fixture, appender->store, appender->stamp + (i % 5 ? i : 0),
				     "k"),
			  OK);
	fixture_free(&fixture);
	return NULL;
}

TEST(rows_are_appended_in_the_order_of_commits)
{
	struct pair pair = open_pair();
	struct appender appenders[APPENDERS];
	pthread_t threads[APPENDERS];
	char counter[20] = "";
	const struct store_range all = {STR("n"), STR("o"), false};
	struct store_page page;
	uint64_t latest = 0;

	/* nothing is written where the counter is not there */
	CHECK_INT(append_one(&pair.fixture, pair.a, 1, "lost"), ERR_CONFLICT);
	CHECK(!str_is_set(fixture_get_alone(&pair.fixture, pair.a, INDEX, "lost")));
	put_be64(counter, 7);
	put_be64(counter + 8, 1000);
	memcpy(counter + 16, "rest", 4);
	CHECK_INT(fixture_put_alone(&pair.fixture, pair.a, ITEMS, COUNTER,
				    (struct str){counter, sizeof(counter)}),
		  OK);
	CHECK_INT(fixture_put_alone(&pair.fixture, pair.a, INDEX, STR("k"), STR("")), OK);
	for (unsigned i = 0; i < APPENDERS; i++) {
		appenders[i] = (struct appender){i % 2 ? pair.a : pair.b, 900 + i * 50};
		CHECK_INT(pthread_create(&threads[i], NULL, append_many, &appenders[i]), 0);
	}
	for (unsigned i = 0; i < APPENDERS; i++)
		pthread_join(threads[i], NULL);
	struct store_txn *txn = fixture_begin(&pair.fixture, pair.a, STORE_READ);
	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){1000, 1 << 20},
			     pair.fixture.arena, &page, &pair.fixture.err),
		  OK);
	CHECK_INT(page.n, APPENDERS * APPENDED);
	for (size_t i = 0; i < page.n; i++) {
		uint64_t stamp = str_be(page.v[i].value.p + 4, 8);

		CHECK_INT(page.v[i].key.n, 9);
		CHECK_INT(str_be(page.v[i].key.p + 1, 8), 7 + i);
		CHECK(memcmp(page.v[i].value.p, "row:", 4) == 0);
		CHECK(stamp >= latest && stamp >= 1000);
		latest = stamp;
	}
	struct str end = fixture_get(&pair.fixture, txn, ITEMS, "counter");
	CHECK_INT(str_be(end.p, 8), 7 + APPENDERS * APPENDED);
	CHECK_INT(str_be(end.p + 8, 8), latest);
	CHECK_STR(((struct str){end.p + 16, end.n - 16}), "rest");
	CHECK_INT(store_commit(txn, &pair.fixture.err), OK);
	close_pair(&pair);
}

static void put_many(struct fixture *fixture, struct store *store, unsigned n)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_create(txn, INDEX, &fixture->err), OK);
	for (unsigned i = 0; i < n; i++)
		CHECK_INT(store_put(txn, INDEX, str_printf(fixture->arena, "%05u", i), STR("v"),
				    &fixture->err),
			  OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

static void drop(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_drop(txn, INDEX, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

static uint64_t rows_of(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	struct store_stat stat;

	CHECK_INT(store_stat(txn, INDEX, &stat, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	return stat.rows;
}

static bool exists(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	struct store_keyspaces keyspaces;
	bool is_found = false;

	CHECK_INT(store_keyspaces(txn, fixture->arena, &keyspaces, &fixture->err), OK);
	for (size_t i = 0; i < keyspaces.n; i++)
		is_found = is_found || keyspace_is_same(keyspaces.v[i], INDEX);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	return is_found;
}

static void tidy_all(struct fixture *fixture, struct store *store)
{
	bool is_more = true;

	for (unsigned i = 0; is_more && i < 5000; i++)
		CHECK_INT(store_tidy(store, &is_more, &fixture->err), OK);
	CHECK(!is_more);
}

TEST(a_dropped_keyspace_goes_piece_by_piece)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open_database(&fixture);

	tidy_all(&fixture, store);
	put_many(&fixture, store, 2500);
	CHECK(exists(&fixture, store));
	drop(&fixture, store);
	CHECK(!exists(&fixture, store));
	CHECK_INT(rows_of(&fixture, store), 1500);
	tidy_all(&fixture, store);
	CHECK_INT(rows_of(&fixture, store), 0);
	/* one that is created meanwhile is empty, and keeps what is written then */
	put_many(&fixture, store, 2500);
	drop(&fixture, store);
	put_many(&fixture, store, 3);
	CHECK(exists(&fixture, store));
	CHECK_INT(rows_of(&fixture, store), 3);
	tidy_all(&fixture, store);
	CHECK_INT(rows_of(&fixture, store), 3);
	/* the same in one transaction */
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_drop(txn, INDEX, &fixture.err), OK);
	CHECK_INT(store_create(txn, INDEX, &fixture.err), OK);
	fixture_put(&fixture, txn, INDEX, "new", "1");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	tidy_all(&fixture, store);
	CHECK_STR(fixture_get_alone(&fixture, store, INDEX, "new"), "1");
	CHECK_INT(rows_of(&fixture, store), 1);
	store_close(store);
	fixture_free(&fixture);
}

#define COPY KEYSPACE(8, PART_INDEX)

TEST(a_keyspace_is_copied_by_ranges)
{
	struct pair pair = open_pair();
	struct fixture *fixture = &pair.fixture;
	struct store_stat from, to;

	put_many(fixture, pair.a, 4500);
	CHECK_INT(fixture_put_alone(fixture, pair.a, INDEX, long_or_short(fixture->arena, 3),
				    STR("long")),
		  OK);
	for (unsigned round = 0; round < 2; round++) {
		struct store_txn *txn = fixture_begin(fixture, pair.a, STORE_WRITE);
		uint64_t before = postgresql_store_counts(pair.a).statements;

		/* with what the transaction itself has changed, in place of what was there */
		CHECK_INT(store_drop(txn, COPY, &fixture->err), OK);
		CHECK_INT(store_create(txn, COPY, &fixture->err), OK);
		fixture_put(fixture, txn, INDEX, "00001", "changed");
		CHECK_INT(store_del(txn, INDEX, STR("00002"), &fixture->err), OK);
		CHECK_INT(store_copy(txn, INDEX, COPY, &fixture->err), OK);
		CHECK(postgresql_store_counts(pair.a).statements - before < 20);
		CHECK_STR(fixture_get(fixture, txn, COPY, "00001"), "changed");
		CHECK(!str_is_set(fixture_get(fixture, txn, COPY, "00002")));
		CHECK_INT(store_stat(txn, INDEX, &from, &fixture->err), OK);
		CHECK_INT(store_stat(txn, COPY, &to, &fixture->err), OK);
		CHECK_INT(to.rows, from.rows);
		CHECK_INT(to.bytes, from.bytes);
		if (round == 0) /* a row more in what was copied */
			put_alone(&pair, pair.b, INDEX, "zzz", "");
		CHECK_INT(store_commit(txn, &fixture->err), round == 0 ? ERR_CONFLICT : OK);
	}
	CHECK_INT(to.rows, 4501);
	CHECK_STR(fixture_get_alone(fixture, pair.b, COPY, "zzz"), "");
	close_pair(&pair);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(a_reader_sees_one_moment),
		TEST_CASE(what_was_absent_stays_absent),
		TEST_CASE(what_was_read_and_not_written_is_of_one_moment),
		TEST_CASE(a_range_that_was_read_gets_no_rows),
		TEST_CASE(no_update_is_lost),
		TEST_CASE(those_who_add_meet_no_conflict),
		TEST_CASE(of_two_that_read_a_range_one_writes),
		TEST_CASE(those_who_say_that_they_change_a_row_wait_for_each_other),
		TEST_CASE(long_keys_keep_their_order),
		TEST_CASE(round_trips_are_few),
		TEST_CASE(many_rows_come_by_few_statements),
		TEST_CASE(one_read_has_no_begin),
		TEST_CASE(one_read_sees_one_moment),
		TEST_CASE(rows_are_appended_in_the_order_of_commits),
		TEST_CASE(a_dropped_keyspace_goes_piece_by_piece),
		TEST_CASE(a_keyspace_is_copied_by_ranges),
	};

	return test_run(__FILE__, cases, fixture_database() ? sizeof(cases) / sizeof(cases[0]) : 0);
}
