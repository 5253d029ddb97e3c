/* A transfer makes any store equal to any other, also where it was cut short before, and writes
 * only what differs. */
#include "storage/store/transfer.h"
#include "tests/unit/storage/store_fixture.h"

#define TABLES 4
#define SEEDS 8

static struct keyspace some_keyspace(unsigned *seed)
{
	static const uint32_t parts[] = {PART_ITEMS, PART_STREAM, PART_INDEX};

	return KEYSPACE((uint64_t)(1 + rand_r(seed) % TABLES), parts[rand_r(seed) % 3]);
}

static bool is_there(struct fixture *fixture, struct store_txn *txn, struct keyspace keyspace)
{
	struct store_keyspaces keyspaces;

	CHECK_INT(store_keyspaces(txn, fixture->arena, &keyspaces, &fixture->err), OK);
	for (size_t i = 0; i < keyspaces.n; i++) {
		if (keyspace_is_same(keyspaces.v[i], keyspace))
			return true;
	}
	return false;
}

/* Rows of few different keys in few keyspaces, some of which go again; values up to 9 KB. */
static void fill(struct fixture *fixture, struct store *store, unsigned seed, unsigned steps)
{
	static char bytes[9000];
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	for (unsigned i = 0; i < steps; i++) {
		struct keyspace keyspace = rand_r(&seed) % 9 == 0 ? KEYSPACE(0, SYSTEM_COUNTERS)
								  : some_keyspace(&seed);
		struct str key = str_printf(fixture->arena, "k%u", (unsigned)rand_r(&seed) % 3000);
		struct str value = {bytes, (size_t)rand_r(&seed) % sizeof(bytes) /
						   (rand_r(&seed) % 9 ? 90 : 1)};

		if (keyspace.table && !is_there(fixture, txn, keyspace))
			CHECK_INT(store_create(txn, keyspace, &fixture->err), OK);
		else if (keyspace.table && rand_r(&seed) % 400 == 0)
			CHECK_INT(store_drop(txn, keyspace, &fixture->err), OK);
		else if (rand_r(&seed) % 5 == 0)
			CHECK_INT(store_del(txn, keyspace, key, &fixture->err), OK);
		else
			CHECK_INT(store_put(txn, keyspace, key, value, &fixture->err), OK);
	}
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

static bool is_own(struct keyspace keyspace, struct str key)
{
	return keyspace.table == 0 && str_starts_with(key, STR("own/"));
}

struct sums {
	uint64_t rows, written, deleted;
	unsigned keyspaces;
};

static void add(void *context, const struct transfer_keyspace *now)
{
	struct sums *sums = context;

	if (!now->is_done)
		return;
	sums->rows += now->rows;
	sums->written += now->written;
	sums->deleted += now->deleted;
	sums->keyspaces++;
}

static enum code transfer(struct store *from, struct store *to, bool is_comparison,
			  struct sums *sums, struct err *err)
{
	const struct transfer run = {from, to, is_comparison, is_own, add, NULL, sums};

	*sums = (struct sums){0};
	return transfer_run(&run, err);
}

static void check_keyspace(struct fixture *fixture, struct store_txn *a, struct store_txn *b,
			   struct keyspace keyspace)
{
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page x, y;

	CHECK_INT(store_page(a, keyspace, &all, (struct store_bounds){0, 0}, fixture->arena, &x,
			     &fixture->err),
		  OK);
	CHECK_INT(store_page(b, keyspace, &all, (struct store_bounds){0, 0}, fixture->arena, &y,
			     &fixture->err),
		  OK);
	CHECK_INT(x.n, y.n);
	for (size_t i = 0; i < x.n && i < y.n; i++)
		CHECK(str_eq(x.v[i].key, y.v[i].key) && str_eq(x.v[i].value, y.v[i].value));
}

/* By reading, not by a transfer. */
static void check_equal(struct fixture *fixture, struct store *from, struct store *to)
{
	struct store_txn *a = fixture_begin(fixture, from, STORE_READ),
			 *b = fixture_begin(fixture, to, STORE_READ);
	static const uint32_t parts[] = {PART_ITEMS, PART_STREAM, PART_INDEX};

	for (uint64_t table = 1; table <= TABLES; table++) {
		for (size_t i = 0; i < 3; i++) {
			struct keyspace keyspace = KEYSPACE(table, parts[i]);
			bool is_in_source = is_there(fixture, a, keyspace);

			CHECK_INT(is_there(fixture, b, keyspace), is_in_source);
			if (is_in_source)
				check_keyspace(fixture, a, b, keyspace);
		}
	}
	check_keyspace(fixture, a, b, KEYSPACE(0, SYSTEM_COUNTERS));
	store_abort(a);
	store_abort(b);
}

TEST(any_store_becomes_equal)
{
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct fixture fixture = fixture_new(true);
		struct store *from = fixture_open(&fixture), *to = fixture_open(&fixture);
		struct sums sums, again;

		fill(&fixture, from, seed, 3000);
		if (seed % 2)
			fill(&fixture, to, seed % 3 ? seed : 99 + seed,
			     2500); /* it has much that is alike, or little */
		CHECK_INT(transfer(from, to, true, &again, &fixture.err), OK);
		CHECK_INT(transfer(from, to, false, &sums, &fixture.err), OK);
		CHECK(sums.rows > 500 && sums.written > 0);
		CHECK_INT(again.rows, sums.rows);
		CHECK_INT(again.written, sums.written); /* a comparison foresees it */
		CHECK_INT(again.deleted, sums.deleted);
		check_equal(&fixture, from, to);
		CHECK_INT(transfer(from, to, false, &again, &fixture.err), OK);
		CHECK_INT(again.written + again.deleted, 0);
		store_close(from);
		store_close(to);
		fixture_free(&fixture);
	}
}

/* More rows that are too many than one transaction deletes, in one range of the source. */
TEST(much_that_is_too_much)
{
	struct fixture fixture = fixture_new(true);
	struct store *from = fixture_open(&fixture), *to = fixture_open(&fixture);
	struct keyspace items = KEYSPACE(1, PART_ITEMS);
	struct sums sums;

	fixture_create(&fixture, from, items);
	fixture_create(&fixture, to, items);
	struct store_txn *txn = fixture_begin(&fixture, from, STORE_WRITE);
	fixture_put(&fixture, txn, items, "a", "first");
	fixture_put(&fixture, txn, items, "z", "last");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	txn = fixture_begin(&fixture, to, STORE_WRITE);
	for (unsigned i = 0; i < 10000; i++)
		CHECK_INT(store_put(txn, items, str_printf(fixture.arena, "k%u", i), STR("v"),
				    &fixture.err),
			  OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(transfer(from, to, false, &sums, &fixture.err), OK);
	CHECK_INT(sums.deleted, 10000);
	CHECK_INT(sums.written, 2);
	check_equal(&fixture, from, to);
	store_close(from);
	store_close(to);
	fixture_free(&fixture);
}

TEST(own_rows_stay_out)
{
	struct fixture fixture = fixture_new(true);
	struct store *from = fixture_open(&fixture), *to = fixture_open(&fixture);
	struct keyspace counters = KEYSPACE(0, SYSTEM_COUNTERS);
	struct sums sums;

	struct store_txn *txn = fixture_begin(&fixture, from, STORE_WRITE);
	fixture_put(&fixture, txn, counters, "own/lease", "mine");
	fixture_put(&fixture, txn, counters, "number", "7");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	txn = fixture_begin(&fixture, to, STORE_WRITE);
	fixture_put(&fixture, txn, counters, "own/lease", "of another life");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(transfer(from, to, false, &sums, &fixture.err), OK);
	CHECK_STR(fixture_get_alone(&fixture, to, counters, "number"), "7");
	txn = fixture_begin(&fixture, to, STORE_READ);
	CHECK(!str_is_set(fixture_get(&fixture, txn, counters, "own/lease")));
	store_abort(txn);
	store_close(from);
	store_close(to);
	fixture_free(&fixture);
}

/* Each call of the target fails once: the mark stays, no server would take it, and the next run
 * goes on to the end. */
TEST(cut_short_anywhere)
{
	struct fixture fixture = fixture_new(true);
	struct store *from = fixture_open(&fixture);
	bool is_unfinished = true, is_over = false;
	struct sums sums;

	fill(&fixture, from, 5, 400);
	for (uint64_t n = 1; !is_over; n = n < 40 ? n + 1 : n * 5 / 4) {
		struct store *to = trace_store_new(fixture_open(&fixture));

		fill(&fixture, to, 6, 200);
		trace_store_fail(to, n, ERR_STORE_UNAVAILABLE);
		enum code code = transfer(from, to, false, &sums, &fixture.err);
		trace_store_fail(to, 0, OK);
		is_over = code == OK;
		CHECK_INT(transfer_is_unfinished(to, &is_unfinished, &fixture.err), OK);
		CHECK(is_over || code == ERR_STORE_UNAVAILABLE);
		CHECK_INT(is_unfinished,
			  !is_over && n > 3); /* begin, put and commit of the mark come first */
		if (is_unfinished)
			CHECK_INT(transfer(to, from, false, &sums, &fixture.err),
				  ERR_RESOURCE_IN_USE);
		CHECK_INT(transfer(from, to, false, &sums, &fixture.err), OK);
		check_equal(&fixture, from, to);
		store_close(to);
	}
	store_close(from);
	fixture_free(&fixture);
}

struct intruder {
	struct fixture *fixture;
	struct store *to, *inner;
};

static void write_again(void *context)
{
	struct intruder *intruder = context;
	struct store_txn *txn = fixture_begin(intruder->fixture, intruder->inner, STORE_WRITE);

	fixture_put(intruder->fixture, txn, KEYSPACE(1, PART_ITEMS), "a", "ours");
	CHECK_INT(store_commit(txn, &intruder->fixture->err), OK);
	trace_store_after(intruder->to, TRACE_COMMIT, write_again, intruder);
}

TEST(somebody_else_writes)
{
	struct fixture fixture = fixture_new(true);
	struct store *from = fixture_open(&fixture), *inner = fixture_open(&fixture),
		     *to = trace_store_new(inner);
	struct intruder intruder = {&fixture, to, inner};
	struct sums sums;

	fixture_create(&fixture, from, KEYSPACE(1, PART_ITEMS));
	fixture_create(&fixture, to, KEYSPACE(1, PART_ITEMS));
	struct store_txn *txn = fixture_begin(&fixture, from, STORE_WRITE);
	fixture_put(&fixture, txn, KEYSPACE(1, PART_ITEMS), "a", "theirs");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	trace_store_after(to, TRACE_COMMIT, write_again, &intruder);
	CHECK_INT(transfer(from, to, false, &sums, &fixture.err), ERR_INTERNAL);
	CHECK(str_contains(fixture.err.message, STR("somebody else writes")));
	store_close(from);
	store_close(to);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(any_store_becomes_equal), TEST_CASE(much_that_is_too_much),
	  TEST_CASE(own_rows_stay_out), TEST_CASE(cut_short_anywhere),
	  TEST_CASE(somebody_else_writes))
