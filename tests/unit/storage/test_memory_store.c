/*
 * The SQLite backend in memory: readers and the writer beside each other. Nobody waits, or these
 * tests, which begin both in one thread, never end.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/sqlite/live_copy.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)
#define OTHERS KEYSPACE(8, PART_ITEMS)

static struct str get(struct fixture *fixture, struct store_txn *txn, const char *key)
{
	return fixture_get(fixture, txn, ITEMS, key);
}

static void put_alone(struct fixture *fixture, struct store *store, const char *key,
		      const char *value)
{
	CHECK_INT(fixture_put_alone(fixture, store, ITEMS, str_of(key), str_of(value)), OK);
}

TEST(a_reader_keeps_its_snapshot_while_others_write)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open(&fixture);

	fixture_create(&fixture, store, ITEMS);
	put_alone(&fixture, store, "a", "1");
	struct store_txn *before = fixture_begin(&fixture, store, STORE_READ);
	struct store_txn *writer = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, writer, ITEMS, "a", "2");
	fixture_put(&fixture, writer, ITEMS, "b", "2");
	CHECK_STR(get(&fixture, before, "a"), "1");
	CHECK_STR(get(&fixture, writer, "a"), "2");
	struct store_txn *during = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(get(&fixture, during, "a"), "1");
	CHECK_INT(store_commit(writer, &fixture.err), OK);

	CHECK_STR(get(&fixture, before, "a"), "1");
	CHECK_STR(fixture_list(&fixture, during, ITEMS, "", NULL, false, 9), "a=1 ");
	store_abort(during);
	CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "a"), "2");
	CHECK_STR(fixture_list(&fixture, before, ITEMS, "", NULL, false, 9), "a=1 ");
	CHECK_INT(store_commit(before, &fixture.err), OK);
	store_close(store);
	fixture_free(&fixture);
}

TEST(many_readers_each_keep_the_snapshot_of_their_moment)
{
	enum { READERS = 12 };
	struct fixture fixture = fixture_new(true);
	struct store_txn *readers[READERS];
	char value[16];

	fixture.options.readers = READERS;
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	for (int i = 0; i < 40 * READERS; i++) {
		snprintf(value, sizeof(value), "%d", i);
		put_alone(&fixture, store, "a", value);
		if (i % 40 == 39)
			readers[i / 40] = fixture_begin(&fixture, store, STORE_READ);
	}
	for (int i = 0; i < READERS; i++) {
		snprintf(value, sizeof(value), "%d", 40 * i + 39);
		CHECK_STR(get(&fixture, readers[i], "a"), value);
		store_abort(readers[i]);
	}
	store_close(store);
	fixture_free(&fixture);
}

/* Rows that are too many for the cache of a connection, so that pages go to the file before the
 * commit. */
static void put_many(struct fixture *fixture, struct store_txn *txn, char mark)
{
	char key[16], value[2000];

	memset(value, mark, sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < 1500; i++) {
		snprintf(key, sizeof(key), "%04d", i);
		fixture_put(fixture, txn, ITEMS, key, value);
	}
}

/* What the reader sees of them: the mark that all have, 0 where there are none, '?' where they
 * differ. */
static char mark_of(struct fixture *fixture, struct store_txn *txn)
{
	const struct store_range all = {STR("0"), STR_ABSENT, false};
	struct arena *arena = arena_new(0);
	struct store_page page;
	char mark = 0;

	CHECK_INT(store_page(txn, ITEMS, &all, (struct store_bounds){0, 0}, arena, &page,
			     &fixture->err),
		  OK);
	CHECK(page.n == 0 || page.n == 1500);
	for (size_t i = 0; i < page.n; i++)
		mark = i == 0 || page.v[i].value.p[0] == mark ? page.v[i].value.p[0] : '?';
	arena_free(arena);
	return mark;
}

static char mark_alone(struct fixture *fixture, struct store *store)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	char mark = mark_of(fixture, txn);

	store_abort(txn);
	return mark;
}

TEST(a_transaction_larger_than_the_cache_is_rolled_back_or_committed_as_a_whole)
{
	struct fixture fixture = fixture_new(true);
	char committed = 0;

	fixture.options.cache_bytes = 64 << 10;
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	struct store_txn *empty = fixture_begin(&fixture, store, STORE_READ);
	for (int i = 0; i < 6; i++) {
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);

		put_many(&fixture, txn, (char)('a' + i));
		CHECK_INT(mark_alone(&fixture, store), committed);
		if (i % 2)
			committed = (char)('a' + i);
		if (i % 2 == 0)
			store_abort(txn);
		else
			CHECK_INT(store_commit(txn, &fixture.err), OK);
		CHECK_INT(mark_of(&fixture, empty), 0);
	}
	CHECK_INT(mark_alone(&fixture, store), 'f');
	store_abort(empty);
	store_close(store);
	fixture_free(&fixture);
}

TEST(keyspaces_come_and_go_beside_a_reader)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open(&fixture);
	struct str value;

	fixture_create(&fixture, store, ITEMS);
	put_alone(&fixture, store, "a", "1");
	struct store_txn *before = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(get(&fixture, before, "a"), "1");
	struct store_txn *writer = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_drop(writer, ITEMS, &fixture.err), OK);
	CHECK_INT(store_create(writer, OTHERS, &fixture.err), OK);
	fixture_put(&fixture, writer, OTHERS, "b", "2");
	CHECK_INT(store_commit(writer, &fixture.err), OK);
	CHECK_STR(get(&fixture, before, "a"), "1");
	CHECK_INT(store_get(before, OTHERS, STR("b"), fixture.arena, &value, &fixture.err),
		  ERR_RESOURCE_NOT_FOUND);
	store_abort(before);
	CHECK_STR(fixture_get_alone(&fixture, store, OTHERS, "b"), "2");
	store_close(store);
	fixture_free(&fixture);
}

/* A version row that a reader took from its snapshot must not be remembered for those who begin
 * after the commit. */
TEST(an_old_snapshot_does_not_bring_back_old_versions)
{
	const struct keyspace versions = {0, SYSTEM_VERSIONS};
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open(&fixture);

	struct store_txn *before = fixture_begin(&fixture, store, STORE_READ);
	CHECK_INT(fixture_put_alone(&fixture, store, versions, STR("v"), STR("1")), OK);
	for (int i = 0; i < 100000; i++) { /* so that the row is remembered no longer */
		char key[16];
		struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ);

		snprintf(key, sizeof(key), "%d", i);
		fixture_get(&fixture, txn, versions, key);
		store_abort(txn);
	}
	fixture_get(&fixture, before, versions, "v");
	store_abort(before);
	CHECK_STR(fixture_get_alone(&fixture, store, versions, "v"), "1");
	store_close(store);
	fixture_free(&fixture);
}

TEST(at_the_limit_a_failed_transaction_leaves_nothing_and_readers_go_on)
{
	struct fixture fixture = fixture_new(true);
	enum code code = OK;

	fixture.options.limit_bytes = 4 << 20;
	fixture.options.cache_bytes = 64 << 10;
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	put_alone(&fixture, store, "a", "1");
	struct store_txn *reader = fixture_begin(&fixture, store, STORE_READ);
	struct store_txn *writer = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, writer, ITEMS, "a", "2");
	for (int i = 0; i < 100 && code == OK; i++) {
		char key[16];
		struct str value = {arena_bytes(fixture.arena, 200000), 200000};

		memset((char *)(uintptr_t)value.p, 'x', value.n);
		snprintf(key, sizeof(key), "%d", i);
		code = store_put(writer, ITEMS, str_of(key), value, &fixture.err);
	}
	CHECK_INT(code, ERR_DATA_LIMIT);
	CHECK(store_put(writer, ITEMS, STR("b"), STR("2"), &fixture.err) != OK);
	CHECK(store_commit(writer, &fixture.err) != OK);
	CHECK_STR(fixture_list(&fixture, reader, ITEMS, "", NULL, false, 9), "a=1 ");
	store_abort(reader);
	put_alone(&fixture, store, "b", "3");
	reader = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(fixture_list(&fixture, reader, ITEMS, "", NULL, false, 9), "a=1 b=3 ");
	store_abort(reader);
	store_close(store);
	fixture_free(&fixture);
}

TEST(a_copy_of_a_store_in_use_is_one_moment_of_it)
{
	struct fixture fixture = fixture_new(true);
	struct live_copy_progress progress = {.is_whole = false};
	struct live_copy *copy;

	fixture.options.cache_bytes = 64 << 10;
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	struct store_txn *writer = fixture_begin(&fixture, store, STORE_WRITE);
	put_many(&fixture, writer, 'a');
	CHECK_INT(store_commit(writer, &fixture.err), OK);
	CHECK_INT(store->maintenance->copy_begin(store, &copy, &fixture.err), OK);
	for (int i = 0; !progress.is_whole; i++) {
		CHECK_INT(live_copy_step(copy, &progress, &fixture.err), OK);
		if (i > 3 || progress.is_whole)
			continue;
		writer = fixture_begin(&fixture, store, STORE_WRITE);
		put_many(&fixture, writer, (char)('b' + i));
		if (i % 2)
			store_abort(writer);
		else
			CHECK_INT(store_commit(writer, &fixture.err), OK);
	}
	char expected = mark_alone(&fixture, store);
	FILE *file = fopen(fixture.path, "wb");
	static char bytes[1 << 20];
	for (uint64_t at = 0; file && at < progress.bytes;) {
		size_t n = sizeof(bytes);

		CHECK_INT(live_copy_read(copy, at, bytes, &n, &fixture.err), OK);
		CHECK(fwrite(bytes, 1, n, file) == n);
		at += n ? n : progress.bytes;
	}
	CHECK(file && fclose(file) == 0);
	live_copy_end(copy);
	store_close(store);

	fixture.options.path = fixture.path;
	store = fixture_open(&fixture);
	CHECK_INT(mark_alone(&fixture, store), expected);
	store_close(store);
	fixture_free(&fixture);
}

#define ACCOUNTS 64
#define TOTAL (ACCOUNTS * 1000)

struct audit {
	struct store *store;
	atomic_bool *is_over;
	int wrong, rounds;
};

static int64_t balance_of(struct arena *arena, struct store_txn *txn, int account)
{
	char key[16];
	struct str value = STR_ABSENT;
	struct err err = err_in(arena);

	snprintf(key, sizeof(key), "%d", account);
	return store_get(txn, ITEMS, str_of(key), arena, &value, &err) == OK ? store_number(value)
									     : INT64_MIN / ACCOUNTS;
}

/* Many statements of one transaction: money that moves meanwhile is never seen twice or not at all.
 */
static void *count_money(void *context)
{
	struct audit *audit = context;

	do {
		struct arena *arena = arena_new(0);
		struct err err = err_in(arena);
		struct store_txn *txn;
		int64_t sum = 0;

		if (store_begin(audit->store, STORE_READ, &txn, &err) != OK)
			abort();
		for (int i = 0; i < ACCOUNTS; i++)
			sum += balance_of(arena, txn, i);
		store_abort(txn);
		audit->wrong += sum != TOTAL;
		audit->rounds++;
		arena_free(arena);
	} while (!atomic_load(audit->is_over));
	return NULL;
}

static void move_money(struct fixture *fixture, struct store *store, bool is_committed)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	for (int i = 0; i < 8; i++) {
		char from[16], to[16];
		int64_t amount = rand() % 100;

		snprintf(from, sizeof(from), "%d", rand() % ACCOUNTS);
		snprintf(to, sizeof(to), "%d", rand() % ACCOUNTS);
		CHECK_INT(store_add(txn, ITEMS, str_of(from), -amount, &fixture->err), OK);
		CHECK_INT(store_add(txn, ITEMS, str_of(to), amount, &fixture->err), OK);
	}
	if (is_committed)
		CHECK_INT(store_commit(txn, &fixture->err), OK);
	else
		store_abort(txn);
}

TEST(threads_read_whole_transactions_while_one_writes)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open(&fixture);
	atomic_bool is_over = false;
	struct audit audits[2] = {{store, &is_over, 0, 0}, {store, &is_over, 0, 0}};
	pthread_t threads[2];

	fixture_create(&fixture, store, ITEMS);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	for (int i = 0; i < ACCOUNTS; i++) {
		char key[16];

		snprintf(key, sizeof(key), "%d", i);
		CHECK_INT(store_add(txn, ITEMS, str_of(key), TOTAL / ACCOUNTS, &fixture.err), OK);
	}
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, count_money, &audits[i]), 0);
	for (int i = 0; i < 3000 / TEST_SLOWNESS; i++)
		move_money(&fixture, store, i % 5 != 0);
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		CHECK_INT(audits[i].wrong, 0);
		CHECK(audits[i].rounds > 0);
	}
	store_close(store);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(a_reader_keeps_its_snapshot_while_others_write),
	  TEST_CASE(many_readers_each_keep_the_snapshot_of_their_moment),
	  TEST_CASE(a_transaction_larger_than_the_cache_is_rolled_back_or_committed_as_a_whole),
	  TEST_CASE(keyspaces_come_and_go_beside_a_reader),
	  TEST_CASE(an_old_snapshot_does_not_bring_back_old_versions),
	  TEST_CASE(at_the_limit_a_failed_transaction_leaves_nothing_and_readers_go_on),
	  TEST_CASE(a_copy_of_a_store_in_use_is_one_moment_of_it),
	  TEST_CASE(threads_read_whole_transactions_while_one_writes))
