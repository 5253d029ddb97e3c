/*
 * Group commit (store_group_open): who sees what is pending, what an abort undoes, and that of a group that fails nothing is there.
 */
#include <pthread.h>
#include <sqlite3.h>

#include "storage/store/sqlite/commit_group.h"
#include "storage/store/sqlite/log_file.h"
#include "tests/unit/storage/fault_vfs.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)

struct outcome {
	int calls;
	enum code code;
	bool is_alone; /* committed by itself */
};

static void note(void *context, enum code code)
{
	struct outcome *outcome = context;

	outcome->calls++;
	outcome->code = code;
}

static struct fixture fixture;
static struct store *store;

static void set_up(void)
{
	fixture = fixture_new(false);
	store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
}

static void tear_down(void)
{
	store_close(store);
	fixture_free(&fixture);
}

/* A transaction that puts one row and joins. */
static enum code join(const char *key, const char *value, struct outcome *outcome)
{
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

	CHECK(store_joins(txn));
	enum code code = store_put(txn, ITEMS, str_of(key), str_of(value), &fixture.err);
	if (code == OK)
		return store_join(txn, note, outcome, &fixture.err);
	store_abort(txn);
	return code;
}

static void *list_rows(void *text)
{
	struct arena *arena = arena_new(0);
	struct fixture own = {.arena = arena, .err = err_in(arena)};
	struct store_txn *txn = fixture_begin(&own, store, STORE_READ);
	struct str rows = fixture_list(&own, txn, ITEMS, NULL, NULL, false, 100);

	snprintf(text, 256, STR_FMT, STR_ARG(rows));
	store_abort(txn);
	arena_free(arena);
	return NULL;
}

/* The rows as another thread sees them. */
static void others_see(const char *wanted)
{
	pthread_t thread;
	char text[256];

	CHECK_INT(pthread_create(&thread, NULL, list_rows, text), 0);
	pthread_join(thread, NULL);
	CHECK_STR(str_of(text), wanted);
}

TEST(what_is_pending_is_seen_by_its_thread_alone)
{
	struct outcome a = {0}, b = {0};

	set_up();
	CHECK(store_group_open(store));
	CHECK(!store_group_open(store));
	CHECK_INT(store_group_pending(store), 0);
	CHECK_INT(join("a", "1", &a), OK);
	CHECK(store_group_pending(store) > 0);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_STR(fixture_get(&fixture, txn, ITEMS, "a"), "1");
	fixture_put(&fixture, txn, ITEMS, "b", "2");
	CHECK_INT(store_join(txn, note, &b, &fixture.err), OK);
	others_see("");
	CHECK_INT(a.calls + b.calls, 0);
	CHECK_INT(store_group_commit(store, &fixture.err), OK);
	CHECK_INT(store_group_pending(store), 0);
	CHECK_INT(a.calls, 1);
	CHECK_INT(b.calls, 1);
	CHECK_INT(a.code, OK);
	CHECK_INT(b.code, OK);
	others_see("a=1 b=2 ");
	CHECK_INT(join("c", "3", &a), OK);
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	CHECK_INT(a.calls, 2);
	others_see("a=1 b=2 c=3 ");
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK(!store_joins(txn));
	store_abort(txn);
	tear_down();
}

TEST(an_abort_undoes_its_own_transaction)
{
	struct outcome a = {0}, b = {0};

	set_up();
	CHECK(store_group_open(store));
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, txn, ITEMS, "first", "1");
	store_abort(txn);
	CHECK_INT(store_group_pending(store), 0);
	CHECK_INT(join("a", "1", &a), OK);
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, txn, ITEMS, "a", "2");
	fixture_put(&fixture, txn, ITEMS, "x", "2");
	store_abort(txn);
	CHECK(store_group_pending(store) > 0);
	CHECK_INT(join("b", "3", &b), OK);
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	CHECK_INT(a.calls, 1);
	CHECK_INT(b.calls, 1);
	others_see("a=1 b=3 ");
	tear_down();
}

TEST(a_read_and_a_plain_commit_commit_what_is_pending)
{
	struct outcome a = {0};

	set_up();
	CHECK(store_group_open(store));
	CHECK_INT(join("a", "1", &a), OK);
	CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "a"), "1");
	CHECK_INT(a.calls, 1);
	others_see("a=1 ");
	CHECK_INT(join("b", "2", &a), OK);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("c"), STR("3")), OK);
	CHECK_INT(a.calls, 2);
	others_see("a=1 b=2 c=3 ");
	CHECK_INT(join("d", "4", &a), OK);
	fixture_create(&fixture, store, KEYSPACE(8, PART_ITEMS));
	CHECK_INT(a.calls, 3);
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	others_see("a=1 b=2 c=3 d=4 ");
	tear_down();
}

/* Keyspaces that come and go are not for groups: store_join() commits them at once. */
TEST(what_cannot_join_is_committed_at_once)
{
	struct outcome a = {0}, b = {0};

	set_up();
	CHECK(store_group_open(store));
	CHECK_INT(join("a", "1", &a), OK);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_create(txn, KEYSPACE(8, PART_ITEMS), &fixture.err), OK);
	CHECK_INT(store_join(txn, note, &b, &fixture.err), OK);
	CHECK_INT(a.calls, 1);
	CHECK_INT(b.calls, 1);
	CHECK_INT(store_group_pending(store), 0);
	others_see("a=1 ");
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	tear_down();
}

TEST(there_are_no_groups_in_memory_and_under_a_limit)
{
	fixture = fixture_new(true);
	store = fixture_open(&fixture);
	CHECK(!store_group_open(store));
	CHECK_INT(store_group_commit(store, &fixture.err), OK);
	tear_down();
	fixture = fixture_new(false);
	fixture.options.limit_bytes = (uint64_t)64 << 20;
	store = fixture_open(&fixture);
	CHECK(!store_group_open(store));
	tear_down();
}

/* Groups are opened again a while after one was lost. */
static void rest(void)
{
	for (int i = 0; i < COMMIT_GROUP_REST; i++)
		CHECK(!store_group_open(store));
	CHECK(store_group_open(store));
}

TEST(of_a_group_that_fails_nothing_is_there)
{
	struct outcome a = {0}, b = {0};

	fault_vfs_reset(1);
	set_up();
	CHECK(store_group_open(store));
	CHECK_INT(join("a", "1", &a), OK);
	CHECK_INT(join("b", "2", &b), OK);
	fault_vfs_fail(FAULT_WRITE, 1, SQLITE_FULL, true);
	CHECK(store_group_commit(store, &fixture.err) != OK);
	CHECK_INT(a.calls, 1);
	CHECK_INT(b.calls, 1);
	CHECK(a.code != OK);
	CHECK(b.code != OK);
	CHECK_INT(store_group_pending(store), 0);
	CHECK_INT(store_group_commit(store, &fixture.err), OK);
	fault_vfs_fail(0, 0, 0, false);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK(!store_joins(txn));
	store_abort(txn);
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	others_see("");
	rest();
	CHECK_INT(join("c", "3", &a), OK);
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	CHECK_INT(a.code, OK);
	others_see("c=3 ");
	tear_down();
}

/* The read goes on. */
TEST(a_loss_before_a_read_is_told_later)
{
	struct outcome a = {0};
	uint64_t number;

	fault_vfs_reset(2);
	set_up();
	CHECK(store_group_open(store));
	CHECK_INT(join("a", "1", &a), OK);
	number = store_group_pending(store);
	fault_vfs_fail(FAULT_WRITE, 1, SQLITE_IOERR_WRITE, false);
	CHECK(!str_is_set(fixture_get_alone(&fixture, store, ITEMS, "a")));
	CHECK(a.code != OK);
	CHECK(store_group_is_lost(store, number));
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	CHECK(store_group_is_lost(store, number));
	tear_down();
}

/* By the number a request knows what its answer is of: also one that only saw what is pending. */
TEST(a_number_tells_what_a_transaction_saw)
{
	struct outcome a = {0};

	set_up();
	(void)store_group_seen(store);
	CHECK(store_group_open(store));
	CHECK_INT(store_group_seen(store), 0);
	CHECK_INT(join("a", "1", &a), OK);
	uint64_t first = store_group_seen(store);
	CHECK(first > 0);
	CHECK_INT(first, store_group_pending(store));
	CHECK_INT(store_group_seen(store), 0);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	store_abort(txn);
	CHECK_INT(store_group_seen(store), first);
	CHECK_INT(store_group_commit(store, &fixture.err), OK);
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	store_abort(txn);
	CHECK_INT(store_group_seen(store), 0);
	CHECK_INT(join("b", "2", &a), OK);
	CHECK(store_group_seen(store) > first);
	CHECK_INT(store_group_close(store, &fixture.err), OK);
	CHECK(!store_group_is_lost(store, first));
	CHECK(!store_group_is_lost(store, 0));
	tear_down();
}

#define THREADS 3
#define GROUP_MOST 9
#define TRANSACTIONS (3000 / TEST_SLOWNESS)

struct worker {
	int number;
	unsigned seed;
	bool is_lost[TRANSACTIONS]; /* by the number */
	struct outcome outcomes[TRANSACTIONS];
};

static unsigned draw(struct worker *worker, unsigned n)
{
	worker->seed = worker->seed * 1664525u + 1013904223u;
	return (worker->seed >> 8) % n;
}

/* A transaction that puts a row of its own and changes one that all change; it joins, commits alone or is undone. */
static void write_one(struct worker *worker, int i, struct err *err)
{
	char key[32], common[32];
	struct store_txn *txn;
	struct outcome *outcome = &worker->outcomes[i];

	snprintf(key, sizeof(key), "own %d %d", worker->number, i);
	snprintf(common, sizeof(common), "common %u", draw(worker, 50));
	if (store_begin(store, STORE_WRITE, &txn, err) != OK)
		return;
	bool is_put = store_put(txn, ITEMS, str_of(key), str_of(common), err) == OK && store_put(txn, ITEMS, str_of(common), str_of(key), err) == OK;
	if (!is_put || draw(worker, 5) == 0) {
		store_abort(txn);
	} else if (store_joins(txn) && draw(worker, 8) != 0) {
		(void)!store_join(txn, note, outcome, err);
	} else {
		outcome->is_alone = true;
		note(outcome, store_commit(txn, err));
	}
}

static void *write_in_groups(void *context)
{
	struct worker *worker = context;
	struct arena *arena = arena_new(0);
	int first = 0;

	for (int i = 0; i < TRANSACTIONS;) {
		struct err err = err_in(arena);
		bool is_open = store_group_open(store);
		uint64_t numbers[GROUP_MOST];

		first = i;
		for (unsigned n = 1 + draw(worker, GROUP_MOST); n > 0 && i < TRANSACTIONS; n--) {
			write_one(worker, i, &err);
			numbers[i++ - first] = store_group_seen(store);
		}
		if (is_open)
			(void)!store_group_close(store, &err);
		for (int k = first; k < i; k++)
			worker->is_lost[k] = store_group_is_lost(store, numbers[k - first]);
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

/* Each row is there if, and only if, its transaction's outcome says so; and what joined or saw something that is lost is not there. */
static void check_rows(struct worker *worker)
{
	for (int i = 0; i < TRANSACTIONS; i++) {
		const struct outcome *outcome = &worker->outcomes[i];
		char key[32];

		snprintf(key, sizeof(key), "own %d %d", worker->number, i);
		bool is_there = str_is_set(fixture_get_alone(&fixture, store, ITEMS, key));
		CHECK(outcome->calls <= 1);
		CHECK_INT(is_there, outcome->calls == 1 && outcome->code == OK);
		CHECK(!is_there || !worker->is_lost[i] || outcome->is_alone);
		CHECK(is_there || worker->is_lost[i] || outcome->calls == 0 || outcome->is_alone);
	}
}

static int count_lost(const struct worker *worker)
{
	int n = 0;

	for (int i = 0; i < TRANSACTIONS; i++)
		n += worker->outcomes[i].calls == 1 && worker->outcomes[i].code != OK;
	return n;
}

static void write_in_threads(bool has_faults)
{
	static struct worker workers[THREADS];
	pthread_t threads[THREADS];

	memset(workers, 0, sizeof(workers));
	fault_vfs_reset(3);
	set_up();
	for (int i = 0; i < THREADS; i++) {
		workers[i].number = i;
		workers[i].seed = 77u + (unsigned)i;
		CHECK_INT(pthread_create(&threads[i], NULL, write_in_groups, &workers[i]), 0);
	}
	for (int n = 0; n < 40 && has_faults; n++) {
		fault_vfs_fail(FAULT_WRITE, 1 + (uint64_t)n * 7, SQLITE_FULL, n % 3 == 0);
		usleep(2000);
		fault_vfs_fail(0, 0, 0, false);
		usleep(1000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	fault_vfs_fail(0, 0, 0, false);
	int lost = 0;
	for (int i = 0; i < THREADS; i++) {
		check_rows(&workers[i]);
		lost += count_lost(&workers[i]);
	}
	CHECK_INT(lost > 0, has_faults);
	store_close(store);
	store = fixture_open(&fixture);
	for (int i = 0; i < THREADS; i++)
		check_rows(&workers[i]);
	tear_down();
}

TEST(groups_of_threads_take_turns)
{
	write_in_threads(false);
}

TEST(groups_of_threads_on_a_disk_that_fails)
{
	write_in_threads(true);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(what_is_pending_is_seen_by_its_thread_alone), TEST_CASE(an_abort_undoes_its_own_transaction),
		TEST_CASE(a_read_and_a_plain_commit_commit_what_is_pending), TEST_CASE(what_cannot_join_is_committed_at_once),
		TEST_CASE(there_are_no_groups_in_memory_and_under_a_limit), TEST_CASE(of_a_group_that_fails_nothing_is_there),
		TEST_CASE(a_loss_before_a_read_is_told_later), TEST_CASE(a_number_tells_what_a_transaction_saw),
		TEST_CASE(groups_of_threads_take_turns), TEST_CASE(groups_of_threads_on_a_disk_that_fails),
	};

	fault_vfs_install();
	return test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
}
