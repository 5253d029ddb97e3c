#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define INDEX KEYSPACE(7, PART_INDEX)
#define COUNTERS KEYSPACE(0, SYSTEM_COUNTERS)

static struct store *open_traced(struct fixture *fixture)
{
	*fixture = fixture_new(true);
	struct store *store = trace_store_new(fixture_open(fixture));

	fixture_create(fixture, store, ITEMS);
	fixture_create(fixture, store, INDEX);
	trace_store_reset(store);
	return store;
}

static void close_traced(struct store *store, struct fixture *fixture)
{
	store_close(store);
	fixture_free(fixture);
}

TEST(counts_by_call_and_keyspace)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_key keys[] = {{ITEMS, STR_INIT("k")}, {INDEX, STR_INIT("k")}};
	struct store_page page;
	struct str values[2];
	struct store_stat stat;

	fixture_put(&fixture, txn, ITEMS, "a", "1");
	fixture_put(&fixture, txn, ITEMS, "b", "2");
	fixture_put(&fixture, txn, INDEX, "x", "a");
	fixture_get(&fixture, txn, ITEMS, "a");
	CHECK_INT(store_del(txn, INDEX, STR("x"), &fixture.err), OK);
	CHECK_INT(store_stat(txn, ITEMS, &stat, &fixture.err), OK);
	fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 99);
	CHECK_INT(store_get_many(txn, keys, 2, fixture.arena, values, &fixture.err), OK);
	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){1, 0}, fixture.arena, &page,
			     &fixture.err),
		  OK);
	CHECK_INT(store_del_range(txn, INDEX, &all, &fixture.err), OK);
	CHECK_INT(store_add(txn, COUNTERS, STR("n"), 1, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	store_abort(fixture_begin(&fixture, store, STORE_READ));

	static const uint64_t expected[TRACE_CALL_COUNT] = {
		[TRACE_BEGIN] = 2, [TRACE_COMMIT] = 1,    [TRACE_ABORT] = 1, [TRACE_STAT] = 1,
		[TRACE_GET] = 1,   [TRACE_PUT] = 3,       [TRACE_DEL] = 1,   [TRACE_GET_MANY] = 1,
		[TRACE_PAGE] = 2,  [TRACE_DEL_RANGE] = 1, [TRACE_ADD] = 1,   [TRACE_ROW] = 3,
	};
	for (enum trace_call call = 0; call < TRACE_CALL_COUNT; call++)
		CHECK_INT(trace_store_count(store, call), expected[call]);
	CHECK_INT(trace_store_count_in(store, TRACE_PUT, ITEMS), 2);
	CHECK_INT(trace_store_count_in(store, TRACE_PUT, INDEX), 1);
	CHECK_INT(trace_store_count_in(store, TRACE_ROW, ITEMS), 3);
	CHECK_INT(trace_store_count_in(store, TRACE_GET_MANY, ITEMS), 1);
	CHECK_INT(trace_store_count_in(store, TRACE_DEL, ITEMS), 0);
	CHECK_INT(trace_store_count_in(store, TRACE_PUT, KEYSPACE(8, PART_ITEMS)), 0);
	trace_store_reset(store);
	for (enum trace_call call = 0; call < TRACE_CALL_COUNT; call++)
		CHECK_INT(trace_store_count(store, call), 0);
	CHECK_INT(trace_store_count_in(store, TRACE_PUT, ITEMS), 0);
	close_traced(store, &fixture);
}

TEST(more_keyspaces_than_are_counted_one_by_one)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ);
	struct str value;

	for (uint64_t table = 1000; table < 1300; table++)
		CHECK_INT(store_get(txn, KEYSPACE(table, 0), STR("k"), fixture.arena, &value,
				    &fixture.err),
			  ERR_RESOURCE_NOT_FOUND);
	store_abort(txn);
	CHECK_INT(trace_store_count(store, TRACE_GET), 300);
	CHECK_INT(trace_store_count_in(store, TRACE_GET, KEYSPACE(1000, 0)), 1);
	close_traced(store, &fixture);
}

TEST(logs_a_line_per_call)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);
	char *text = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&text, &n);

	trace_store_log(store, file);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("a"), STR("1")), OK);
	trace_store_fail(store, 2, ERR_INTERNAL);
	CHECK_INT(fixture_put_alone(&fixture, store, INDEX, STR("a"), STR("1")), ERR_INTERNAL);
	trace_store_log(store, NULL);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("b"), STR("1")), OK);
	fclose(file);
	CHECK_STR(str_of(text), "begin\nput 7/0\ncommit\nbegin\nput 7/16 fails\nabort\n");
	free(text);
	close_traced(store, &fixture);
}

/* Moves a row from one keyspace to another, with every kind of call. */
static enum code move_row(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn;
	struct store_stat stat;
	struct store_range all = {STR_ABSENT, STR_ABSENT, false},
			   none = {STR("l"), STR("m"), false};
	struct store_key keys[] = {{ITEMS, STR_INIT("k")}, {INDEX, STR_INIT("k")}};
	struct store_page page;
	struct str value, values[2];
	enum code code = store_begin(store, STORE_WRITE, &txn, &fixture->err);

	if (code != OK)
		return code;
	code = store_get(txn, ITEMS, STR("k"), fixture->arena, &value, &fixture->err);
	if (code == OK)
		code = store_del(txn, ITEMS, STR("k"), &fixture->err);
	if (code == OK)
		code = store_create(txn, KEYSPACE(8, PART_ITEMS), &fixture->err);
	if (code == OK)
		code = store_put(txn, INDEX, STR("k"), value, &fixture->err);
	if (code == OK)
		code = store_stat(txn, INDEX, &stat, &fixture->err);
	if (code == OK)
		code = store_get_many(txn, keys, 2, fixture->arena, values, &fixture->err);
	if (code == OK)
		code = store_page(txn, INDEX, &all, (struct store_bounds){9, 0}, fixture->arena,
				  &page, &fixture->err);
	if (code == OK)
		code = store_del_range(txn, INDEX, &none, &fixture->err);
	if (code == OK)
		code = store_add(txn, COUNTERS, STR("n"), 1, &fixture->err);
	if (code == OK)
		code = store_drop(txn, KEYSPACE(8, PART_ITEMS), &fixture->err);
	if (code == OK)
		return store_commit(txn, &fixture->err);
	store_abort(txn);
	return code;
}

TEST(whichever_call_fails_nothing_is_changed)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);
	uint64_t n = 1;

	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	for (; n < 100; n++) {
		trace_store_fail(store, n, n % 2 ? ERR_CONFLICT : ERR_STORE_FULL);
		enum code code = move_row(&fixture, store);
		trace_store_fail(store, 0, OK);
		if (code == OK)
			break;
		CHECK_INT(code, n % 2 ? ERR_CONFLICT : ERR_STORE_FULL);
		CHECK_STR(fixture.err.message, "a fault was injected");
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
		CHECK(!str_is_set(fixture_get_alone(&fixture, store, INDEX, "k")));
	}
	CHECK_INT(n, 13); /* twelve calls: begin, ten between, commit */
	CHECK_INT(store_number(fixture_get_alone(&fixture, store, COUNTERS, "n")), 1);
	CHECK(!str_is_set(fixture_get_alone(&fixture, store, ITEMS, "k")));
	CHECK_STR(fixture_get_alone(&fixture, store, INDEX, "k"), "v");
	close_traced(store, &fixture);
}

TEST(a_failure_comes_once)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);

	trace_store_fail(store, 1, ERR_INTERNAL);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), ERR_INTERNAL);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	close_traced(store, &fixture);
}

TEST(aborts_and_rows_are_not_failed)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);

	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ);
	trace_store_fail(store, 2, ERR_INTERNAL);
	fixture_list(&fixture, txn, ITEMS, NULL, NULL, false,
		     9); /* the first; its row does not count */
	store_abort(txn);
	CHECK_INT(store_begin(store, STORE_READ, &txn, &fixture.err), ERR_INTERNAL);
	close_traced(store, &fixture);
}

struct hooked {
	struct fixture *fixture;
	struct store *store;
	uint64_t puts, runs;
};

static void look(void *context)
{
	struct hooked *hooked = context;

	hooked->runs++;
	hooked->puts = trace_store_count(hooked->store, TRACE_PUT);
	/* the transaction is over: another may begin on this thread */
	CHECK(!str_is_set(fixture_get_alone(hooked->fixture, hooked->store, ITEMS, "k")));
}

TEST(others_are_let_in_behind_a_call_once)
{
	struct fixture fixture;
	struct store *store = open_traced(&fixture);
	struct hooked hooked = {&fixture, store, 0, 0};

	trace_store_reset(store);
	trace_store_fail(store, 3, ERR_INTERNAL); /* begin, put, commit */
	trace_store_after(store, TRACE_COMMIT, look, &hooked);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), ERR_INTERNAL);
	CHECK_INT(hooked.puts, 1);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	CHECK_INT(hooked.runs, 1);
	close_traced(store, &fixture);
}

TEST_MAIN(TEST_CASE(counts_by_call_and_keyspace),
	  TEST_CASE(more_keyspaces_than_are_counted_one_by_one), TEST_CASE(logs_a_line_per_call),
	  TEST_CASE(whichever_call_fails_nothing_is_changed), TEST_CASE(a_failure_comes_once),
	  TEST_CASE(aborts_and_rows_are_not_failed),
	  TEST_CASE(others_are_let_in_behind_a_call_once))
