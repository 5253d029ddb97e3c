#include "storage/store/timed/timed_store.h"

#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)

static unsigned counts[TIMED_STEP_COUNT];

static void count(void *context, enum timed_step step, uint64_t ns)
{
	CHECK_STR(str_of(context), "mine");
	CHECK(ns < UINT64_C(3600) * 1000000000);
	counts[step]++;
}

static struct store *open_timed(struct fixture *fixture, struct store *inner)
{
	static char mine[] = "mine";
	struct store *store = timed_store_new(inner, count, mine);

	fixture_create(fixture, store, ITEMS);
	memset(counts, 0, sizeof(counts));
	return store;
}

TEST(writers_are_observed_and_readers_are_not)
{
	for (int memory = 0; memory < 2; memory++) {
		struct fixture fixture = fixture_new(memory);
		struct store *store = open_timed(&fixture, fixture_open(&fixture));
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

		CHECK_INT(counts[TIMED_BEGIN], 1);
		fixture_put(&fixture, txn, ITEMS, "a", "1");
		CHECK_INT(counts[TIMED_COMMIT], 0);
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		CHECK_INT(counts[TIMED_COMMIT], 1);
		txn = fixture_begin(&fixture, store, STORE_READ);
		CHECK_STR(fixture_get(&fixture, txn, ITEMS, "a"), "1");
		CHECK_INT(store_commit(txn, &fixture.err), OK);
		store_abort(fixture_begin(&fixture, store, STORE_WRITE));
		CHECK_INT(counts[TIMED_BEGIN], 2);
		CHECK_INT(counts[TIMED_COMMIT], 1);
		store_close(store);
		fixture_free(&fixture);
	}
}

/* Decorators go into each other; what fails is observed and passed on. */
TEST(around_another_decorator)
{
	struct fixture fixture = fixture_new(true);
	struct store *traced = trace_store_new(fixture_open(&fixture)),
		     *store = open_timed(&fixture, traced);
	struct store_txn *txn;

	trace_store_fail(traced, 1, ERR_INTERNAL);
	CHECK_INT(store_begin(store, STORE_WRITE, &txn, &fixture.err), ERR_INTERNAL);
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	trace_store_fail(traced, 1, ERR_STORE_FULL);
	CHECK_INT(store_commit(txn, &fixture.err), ERR_STORE_FULL);
	CHECK_INT(counts[TIMED_BEGIN], 2);
	CHECK_INT(counts[TIMED_COMMIT], 1);
	store_close(store);
	fixture_free(&fixture);
}

struct layer {
	unsigned counts[TIMED_STEP_COUNT];
};

static void count_layer(void *context, enum timed_step step, uint64_t ns)
{
	(void)ns;
	((struct layer *)context)->counts[step]++;
}

#define LAYERS 3

/* Each layer is of one of two kinds, by the bits of `kinds`: the innermost is the lowest. */
static struct store *stack(struct store *store, unsigned kinds, struct store **traced,
			   struct layer *layers)
{
	for (unsigned i = 0; i < LAYERS; i++) {
		traced[i] = NULL;
		if (kinds >> i & 1)
			store = traced[i] = trace_store_new(store);
		else
			store = timed_store_new(store, count_layer, &layers[i]);
	}
	return store;
}

/* In whatever order they are stacked each sees every call once, and what is read and written is
 * right. */
TEST(decorators_stack_in_any_order)
{
	for (unsigned kinds = 0; kinds < 1 << LAYERS; kinds++) {
		struct fixture fixture = fixture_new(true);
		struct layer layers[LAYERS] = {0};
		struct store *traced[LAYERS],
			*store = stack(fixture_open(&fixture), kinds, traced, layers);
		struct store_usage usage;

		fixture_create(&fixture, store, ITEMS);
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("a"), STR("1")), OK);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "a"), "1");
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
		fixture_put(&fixture, txn, ITEMS, "a", "2");
		store_abort(txn);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "a"), "1");
		for (unsigned i = 0; i < LAYERS; i++) {
			CHECK_INT(traced[i] ? trace_store_count(traced[i], TRACE_BEGIN)
					    : layers[i].counts[TIMED_BEGIN],
				  traced[i] ? 5 : 3);
			CHECK_INT(traced[i] ? trace_store_count(traced[i], TRACE_COMMIT)
					    : layers[i].counts[TIMED_COMMIT],
				  traced[i] ? 4 : 2);
		}
		CHECK_INT(store_check(store, &fixture.err), OK);
		store_usage(store, &usage);
		CHECK(usage.used > 0);
		CHECK(store_limits(store)->txn == 0);
		store_close(store);
		fixture_free(&fixture);
	}
}

TEST_MAIN(TEST_CASE(writers_are_observed_and_readers_are_not), TEST_CASE(around_another_decorator),
	  TEST_CASE(decorators_stack_in_any_order))
