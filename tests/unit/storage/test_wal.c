/* The write-ahead log stays within its bound, whoever reads and writes, and no acknowledged write
 * is lost for that. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(1, PART_ITEMS)
#define LOG_BYTES (256 << 10)
#define ROW_BYTES (50 << 10)
#define ROWS 4                    /* of a transaction */
#define TRANSACTION_BYTES (512 << 10) /* in the log: more than it takes */
#define WRITERS 3
#define TRANSACTIONS 40           /* of a writer: 24 MB in all */

static char row[ROW_BYTES];

static struct fixture log_fixture(void)
{
	struct fixture fixture = fixture_new(false);

	memset(row, 'v', sizeof(row));
	fixture.options.log_bytes = LOG_BYTES;
	fixture.options.reader_ms = 200;
	fixture.options.cache_bytes = 64 << 10; /* transactions go to the log before they end */
	return fixture;
}

static off_t log_size(const struct fixture *fixture)
{
	char name[96];
	struct stat status;

	snprintf(name, sizeof(name), "%s-wal", fixture->path);
	return stat(name, &status) == 0 ? status.st_size : 0;
}

struct worker {
	struct fixture fixture; /* with an arena of its own */
	struct store *store;
	pthread_t thread;
	int number, transactions;
	off_t largest_log;
	enum code code;
	atomic_bool *is_ending;
	atomic_bool has_begun;  /* a reader: it sees rows */
};

static enum code write_rows(struct worker *worker, int transaction)
{
	struct err *err = &worker->fixture.err;
	struct store_txn *txn;
	enum code code = store_begin(worker->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	for (int i = 0; i < ROWS && code == OK; i++) {
		char key[32];

		snprintf(key, sizeof(key), "%d-%04d-%d", worker->number, transaction, i);
		code = store_put(txn, ITEMS, str_of(key), (struct str){row, sizeof(row)}, err);
	}
	if (code == OK)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

static void *write_all(void *context)
{
	struct worker *worker = context;

	for (int i = 0; i < worker->transactions && worker->code == OK; i++) {
		worker->code = write_rows(worker, i);
		off_t size = log_size(&worker->fixture);
		worker->largest_log = size > worker->largest_log ? size : worker->largest_log;
		arena_reset(worker->fixture.arena);
	}
	return NULL;
}

static void *read_always(void *context)
{
	struct worker *worker = context;

	while (!atomic_load(worker->is_ending)) {
		fixture_get_alone(&worker->fixture, worker->store, ITEMS, "0-0000-0");
		arena_reset(worker->fixture.arena);
	}
	return NULL;
}

static void start(struct worker *worker, const struct fixture *fixture, struct store *store,
		  void *(*work)(void *))
{
	worker->fixture = *fixture;
	worker->fixture.arena = arena_new(0);
	worker->fixture.err = err_in(worker->fixture.arena);
	worker->store = store;
	CHECK_INT(pthread_create(&worker->thread, NULL, work, worker), 0);
}

static void join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
	arena_free(worker->fixture.arena);
}

static void check_rows(struct fixture *fixture, struct store *store, uint64_t n)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	struct store_stat stat;

	CHECK_INT(store_stat(txn, ITEMS, &stat, &fixture->err), OK);
	CHECK_INT(stat.rows, n);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

/* Readers that take turns let it grow to four times its usual size, no further. */
TEST(writers_and_readers_that_never_rest_do_not_make_the_log_grow)
{
	struct fixture fixture = log_fixture();
	struct store *store = fixture_open(&fixture);
	struct worker writers[WRITERS] = {{.code = OK}}, readers[2] = {{.code = OK}};
	atomic_bool is_ending = false;

	fixture_create(&fixture, store, ITEMS);
	for (int i = 0; i < 2; i++) {
		readers[i].is_ending = &is_ending;
		start(&readers[i], &fixture, store, read_always);
	}
	for (int i = 0; i < WRITERS; i++) {
		writers[i].number = i;
		writers[i].transactions = TRANSACTIONS;
		start(&writers[i], &fixture, store, write_all);
	}
	for (int i = 0; i < WRITERS; i++) {
		join(&writers[i]);
		CHECK_INT(writers[i].code, OK);
		CHECK(writers[i].largest_log <= 4 * LOG_BYTES + TRANSACTION_BYTES);
	}
	atomic_store(&is_ending, true);
	for (int i = 0; i < 2; i++)
		join(&readers[i]);
	check_rows(&fixture, store, (uint64_t)WRITERS * TRANSACTIONS * ROWS);
	store_close(store);
	store = fixture_open(&fixture);
	check_rows(&fixture, store, (uint64_t)WRITERS * TRANSACTIONS * ROWS);
	store_close(store);
	fixture_free(&fixture);
}

TEST(the_log_is_short_again_after_a_large_transaction)
{
	struct fixture fixture = log_fixture();
	struct store *store = fixture_open(&fixture);
	struct worker writer = {.number = 0};

	fixture_create(&fixture, store, ITEMS);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	for (int i = 0; i < 100; i++) {
		char key[32];

		snprintf(key, sizeof(key), "large-%d", i);
		CHECK_INT(store_put(txn, ITEMS, str_of(key), (struct str){row, sizeof(row)},
				    &fixture.err),
			  OK);
	}
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	writer.transactions = 1;
	start(&writer, &fixture, store, write_all);
	join(&writer);
	CHECK_INT(writer.code, OK);
	CHECK(writer.largest_log <= LOG_BYTES + TRANSACTION_BYTES);
	store_close(store);
	fixture_free(&fixture);
}

static bool visit_slowly(void *context, struct str key, struct str value)
{
	struct worker *worker = context;

	(void)key, (void)value;
	atomic_store(&worker->has_begun, true);
	nanosleep(&(struct timespec){0, 10000000}, NULL);
	return !atomic_load(worker->is_ending);
}

/* A read that lasts until it is interrupted, or until the writer is done. */
static void *read_slowly(void *context)
{
	struct worker *worker = context;
	struct fixture *fixture = &worker->fixture;
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn = fixture_begin(fixture, worker->store, STORE_READ);

	worker->code = OK;
	while (worker->code == OK && !atomic_load(worker->is_ending))
		worker->code = scan_rows(txn, ITEMS, &all, visit_slowly, worker, &fixture->err);
	store_abort(txn);
	return NULL;
}

TEST(a_long_reader_is_interrupted_when_writers_wait_for_it)
{
	struct fixture fixture = log_fixture();
	struct store *store = fixture_open(&fixture);
	struct worker first = {.transactions = 1},
		      writer = {.number = 1, .transactions = TRANSACTIONS}, reader = {.code = OK};
	atomic_bool is_ending = false;

	fixture_create(&fixture, store, ITEMS);
	start(&first, &fixture, store, write_all);
	join(&first);
	reader.is_ending = &is_ending;
	start(&reader, &fixture, store, read_slowly);
	while (!atomic_load(&reader.has_begun))
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	start(&writer, &fixture, store, write_all);
	join(&writer);
	CHECK_INT(writer.code, OK);
	CHECK(writer.largest_log <= 4 * LOG_BYTES + TRANSACTION_BYTES);
	atomic_store(&is_ending, true);
	join(&reader);
	CHECK_INT(reader.code, ERR_SERVICE_UNAVAILABLE);
	check_rows(&fixture, store, (uint64_t)(TRANSACTIONS + 1) * ROWS);
	store_close(store);
	fixture_free(&fixture);
}

/* Nobody waits for room in the log that a full disk does not give. */
TEST(a_log_that_cannot_be_moved_keeps_no_writer_waiting)
{
	struct fixture fixture = log_fixture();
	struct store *store = fixture_open(&fixture);
	struct worker before = {.number = 0, .transactions = TRANSACTIONS},
		      after = {.number = 1, .transactions = TRANSACTIONS};

	fixture_create(&fixture, store, ITEMS);
	fixture_limit_files(2 << 20);
	start(&before, &fixture, store, write_all);
	join(&before);
	CHECK_INT(before.code, ERR_STORE_FULL);
	fixture_limit_files(RLIM_INFINITY);
	start(&after, &fixture, store, write_all);
	join(&after);
	CHECK_INT(after.code, OK);
	store_close(store);
	fixture_free(&fixture);
}

/* What is dropped is not written over: the log gets a page for about a thousand. */
TEST(dropping_much_writes_little)
{
	struct fixture fixture = log_fixture();

	fixture.options.log_bytes = 0;
	struct store *store = fixture_open(&fixture);
	struct worker writer = {.number = 0, .transactions = TRANSACTIONS};

	fixture_create(&fixture, store, ITEMS);
	start(&writer, &fixture, store, write_all);
	join(&writer);
	store_close(store);
	store = fixture_open(&fixture);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	CHECK_INT(store_drop(txn, ITEMS, &fixture.err), OK);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK(log_size(&fixture) < TRANSACTION_BYTES);
	store_close(store);
	fixture_free(&fixture);
}

TEST_MAIN(TEST_CASE(writers_and_readers_that_never_rest_do_not_make_the_log_grow),
	  TEST_CASE(the_log_is_short_again_after_a_large_transaction),
	  TEST_CASE(a_long_reader_is_interrupted_when_writers_wait_for_it),
	  TEST_CASE(a_log_that_cannot_be_moved_keeps_no_writer_waiting),
	  TEST_CASE(dropping_much_writes_little))
