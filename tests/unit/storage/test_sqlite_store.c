/*
 * What the SQLite backend adds to the contract (test_store.c): files that are kept, refused or
 * locked, snapshots and writers in threads, full stores.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "storage/store/sqlite/log_mark.h"
#include "storage/store/sqlite/sqlite_floor.h"
#include "tests/unit/storage/store_fixture.h"

#define ITEMS KEYSPACE(7, PART_ITEMS)

static bool contains(struct str s, const char *needle)
{
	return str_contains(s, str_of(needle));
}

/* The whole file, absent where there is none. */
static struct str read_bytes(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	char *bytes = arena_bytes(arena, 1 << 20);

	if (!file)
		return STR_ABSENT;
	size_t n = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return (struct str){bytes, n};
}

/* Opening fails in one line that names the file, and leaves the file alone. */
static void check_refused(struct fixture *fixture, const char *path, const char *why)
{
	struct store *store = NULL;
	struct str before = read_bytes(fixture->arena, path);

	fixture->options.path = path;
	CHECK_INT(sqlite_store_open(&fixture->options, &store, &fixture->err), ERR_INTERNAL);
	bool is_clear = contains(fixture->err.message, path) &&
			contains(fixture->err.message, why) &&
			!contains(fixture->err.message, "\n");
	CHECK(is_clear);
	if (!is_clear)
		fprintf(stderr, "message: " STR_FMT "\n", STR_ARG(fixture->err.message));
	CHECK(str_eq(read_bytes(fixture->arena, path), before));
	fixture->options.path = fixture->path;
}

/* Runs SQL on the file from outside of the store; the log is moved into the file. */
static void run_outside(const char *path, const char *sql)
{
	sqlite3 *db;

	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

TEST(rows_survive_closing)
{
	for (enum durability durability = DURABILITY_OFF; durability <= DURABILITY_FULL;
	     durability++) {
		struct fixture fixture = fixture_new(false);
		struct stat status;
		char log[80];

		fixture.options.durability = durability;
		struct store *store = fixture_open(&fixture);
		fixture_create(&fixture, store, ITEMS);
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
		store_close(store);
		/* all is in the one file */
		snprintf(log, sizeof(log), "%s-wal", fixture.path);
		CHECK(stat(log, &status) != 0);
		store = fixture_open(&fixture);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
		store_close(store);
		fixture_free(&fixture);
	}
}

/* Whoever shares the machine does not read the data. A file that is there keeps the mode that its
 * owner gave it. */
TEST(a_new_file_is_for_its_owner_alone)
{
	static const char *const suffixes[] = {"", "-wal"};
	struct fixture fixture = fixture_new(false);
	mode_t before = umask(0);
	struct stat status;
	char name[80];

	for (mode_t mode = 0600; mode <= 0640; mode += 0040) {
		struct store *store = fixture_open(&fixture);
		if (mode == 0600)
			fixture_create(&fixture, store, ITEMS);
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
			snprintf(name, sizeof(name), "%s%s", fixture.path, suffixes[i]);
			CHECK_INT(stat(name, &status), 0);
			CHECK_INT(status.st_mode & 0777, mode);
		}
		store_close(store);
		CHECK_INT(chmod(fixture.path, 0640), 0);
	}
	umask(before);
	fixture_free(&fixture);
}

TEST(stores_in_memory_are_apart)
{
	struct fixture fixture = fixture_new(true);
	struct store *one = fixture_open(&fixture), *two = fixture_open(&fixture);

	fixture_create(&fixture, one, ITEMS);
	fixture_create(&fixture, two, ITEMS);
	CHECK_INT(fixture_put_alone(&fixture, one, ITEMS, STR("k"), STR("one")), OK);
	CHECK(!str_is_set(fixture_get_alone(&fixture, two, ITEMS, "k")));
	store_close(one);
	CHECK_INT(fixture_put_alone(&fixture, two, ITEMS, STR("k"), STR("two")), OK);
	CHECK_STR(fixture_get_alone(&fixture, two, ITEMS, "k"), "two");
	store_close(two);
	fixture_free(&fixture);
}

TEST(an_empty_file_becomes_a_store)
{
	struct fixture fixture = fixture_new(false);

	fixture_write(fixture.path, STR(""));
	store_close(fixture_open(&fixture));
	store_close(fixture_open(&fixture));
	fixture_free(&fixture);
}

/* SQLite gives these names a meaning of their own; here they are files. */
TEST(odd_names_are_files)
{
	static const char *const names[] = {":memory:", "file:a.db?mode=memory", "with space.db",
					    "%41.db"};
	struct fixture fixture = fixture_new(false);
	char before[512];

	CHECK(getcwd(before, sizeof(before)) != NULL);
	CHECK_INT(chdir(fixture.directory), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (int round = 0; round < 2; round++) {
			struct store *store = NULL;

			fixture.options.path = names[i];
			CHECK_INT(sqlite_store_open(&fixture.options, &store, &fixture.err), OK);
			if (!store)
				continue;
			if (round == 0)
				fixture_create(&fixture, store, ITEMS);
			CHECK(!str_is_set(fixture_get_alone(&fixture, store, ITEMS, "k")));
			store_close(store);
		}
		CHECK_INT(unlink(names[i]), 0);
	}
	CHECK_INT(chdir(before), 0);
	fixture_free(&fixture);
}

TEST(a_newer_format_is_refused)
{
	struct fixture fixture = fixture_new(false);

	store_close(fixture_open(&fixture));
	run_outside(fixture.path, "PRAGMA user_version=4");
	check_refused(&fixture, fixture.path, "newer");
	CHECK(contains(fixture.err.message, "data format 4"));
	fixture_free(&fixture);
}

/* The newer version's process was killed before the file itself had the format. */
TEST(a_newer_format_in_the_log_is_refused)
{
	struct fixture fixture = fixture_new(false);
	char log[80];

	store_close(fixture_open(&fixture));
	pid_t child = fork();
	if (child == 0) {
		static sqlite3 *db; /* never closed, and yet not lost */

		_exit(sqlite3_open(fixture.path, &db) != SQLITE_OK ||
		      sqlite3_exec(db, "PRAGMA user_version=4", NULL, NULL, NULL) != SQLITE_OK);
	}
	int status = -1;
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
	snprintf(log, sizeof(log), "%s-wal", fixture.path);
	struct str before = read_bytes(fixture.arena, log);
	CHECK(before.n > 0);
	check_refused(&fixture, fixture.path, "newer");
	CHECK(str_eq(read_bytes(fixture.arena, log), before));
	fixture_free(&fixture);
}

TEST(foreign_files_are_refused)
{
	struct fixture fixture = fixture_new(false);
	char large[5000];

	memset(large, 'x', sizeof(large));
	fixture_write(fixture.path, STR("hello"));
	check_refused(&fixture, fixture.path, "not a data file of this server");
	fixture_write(fixture.path, (struct str){large, sizeof(large)});
	check_refused(&fixture, fixture.path, "not a data file of this server");
	fixture_unlink(&fixture);
	run_outside(fixture.path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)");
	check_refused(&fixture, fixture.path, "not a data file of this server");
	run_outside(fixture.path, "PRAGMA application_id=77; PRAGMA user_version=1");
	check_refused(&fixture, fixture.path, "not a data file of this server");
	fixture_free(&fixture);
}

TEST(places_that_hold_no_file)
{
	struct fixture fixture = fixture_new(false);
	char path[96];

	check_refused(&fixture, fixture.directory, "Is a directory");
	snprintf(path, sizeof(path), "%s/none/data.db", fixture.directory);
	check_refused(&fixture, path, "No such file or directory");
	check_refused(&fixture, "/dev/null", "not a data file of this server");
	check_refused(&fixture, "", "No such file or directory");
	if (geteuid() != 0) {
		fixture_write(fixture.path, STR(""));
		CHECK_INT(chmod(fixture.path, 0400), 0);
		check_refused(&fixture, fixture.path, "Permission denied");
	}
	fixture_free(&fixture);
}

TEST(a_damaged_file_is_one_clear_line)
{
	struct fixture fixture = fixture_new(false);

	store_close(fixture_open(&fixture));
	struct str bytes = read_bytes(fixture.arena, fixture.path);
	char *copy = arena_bytes(fixture.arena, bytes.n);
	memcpy(copy, bytes.p, bytes.n);
	memset(copy + 100, 0xEE, 3996); /* the schema's page, after the header */
	fixture_write(fixture.path, (struct str){copy, bytes.n});
	check_refused(&fixture, fixture.path, "page 1 fails its checksum");
	fixture_free(&fixture);
}

static enum code open_in_child(struct fixture *fixture)
{
	pid_t child = fork();

	if (child == 0) {
		static struct store *store; /* never closed, and yet not lost */
		enum code code = sqlite_store_open(&fixture->options, &store, &fixture->err);

		_exit(code == OK                                                    ? 0
		      : contains(fixture->err.message, "in use by another process") ? 7
										    : 8);
	}
	int status = -1;
	CHECK_INT(waitpid(child, &status, 0), child);
	return (enum code)(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
}

TEST(a_second_process_is_kept_out)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);

	fixture_create(&fixture, store, ITEMS);
	CHECK_INT(open_in_child(&fixture), 7);
	/* and does no harm to the first */
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
	store_close(store);
	CHECK_INT(open_in_child(&fixture), 0);
	fixture_free(&fixture);
}

/* The lock belongs to the file, not to its name. */
TEST(a_second_process_is_kept_out_by_any_name)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	char hard[80], symbolic[80];

	snprintf(hard, sizeof(hard), "%s/hard.db", fixture.directory);
	snprintf(symbolic, sizeof(symbolic), "%s/symbolic.db", fixture.directory);
	CHECK_INT(link(fixture.path, hard), 0);
	CHECK_INT(symlink(fixture.path, symbolic), 0);
	fixture.options.path = hard;
	CHECK_INT(open_in_child(&fixture), 7);
	fixture.options.path = symbolic;
	CHECK_INT(open_in_child(&fixture), 7);
	fixture.options.path = fixture.path;
	CHECK_INT(
		fixture_put_alone(&fixture, store, KEYSPACE(0, SYSTEM_TABLES), STR("k"), STR("v")),
		OK);
	store_close(store);
	CHECK_INT(unlink(hard), 0);
	CHECK_INT(unlink(symbolic), 0);
	fixture_free(&fixture);
}

/* What was acknowledged before is in the file, wherever that is now, and no log is left for the
 * file that took its name. */
TEST(a_file_that_was_taken_away_is_not_written_to)
{
	for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
		struct fixture fixture = fixture_new(false);
		struct store *store = fixture_open(&fixture);
		char away[80], log[80];
		struct stat status;

		fixture_create(&fixture, store, ITEMS);
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
		CHECK_INT(store_check(store, &fixture.err), OK);
		snprintf(away, sizeof(away), "%s/away.db", fixture.directory);
		snprintf(log, sizeof(log), "%s-wal", fixture.path);
		CHECK_INT(rename(fixture.path, away), 0);
		if (is_replaced)
			fixture_write(fixture.path, STR("another"));

		CHECK_INT(store_check(store, &fixture.err), ERR_INTERNAL);
		CHECK(contains(fixture.err.message, "nothing is written until a restart") &&
		      contains(fixture.err.message, fixture.path));
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("later")),
			  ERR_INTERNAL);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
		CHECK(stat(log, &status) == 0 && status.st_size == 0);
		/* also where the file comes back: nobody knows what was done to it */
		if (!is_replaced)
			CHECK_INT(rename(away, fixture.path), 0);
		CHECK_INT(store_check(store, &fixture.err), ERR_INTERNAL);
		store_close(store);

		if (is_replaced) {
			CHECK_STR(read_bytes(fixture.arena, fixture.path), "another");
			CHECK_INT(rename(away, fixture.path), 0);
		}
		store = fixture_open(&fixture);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
		store_close(store);
		fixture_free(&fixture);
	}
}

TEST(a_store_in_memory_is_always_in_its_place)
{
	struct fixture fixture = fixture_new(true);
	struct store *store = fixture_open(&fixture);

	CHECK_INT(store_check(store, &fixture.err), OK);
	store_close(store);
	fixture_free(&fixture);
}

/* Counts up in a row until it is killed, telling each number once it is committed. */
static void count_up(struct fixture *fixture, int told)
{
	struct store *store = fixture_open(fixture);

	fixture_create(fixture, store, ITEMS);
	for (unsigned i = 1;; i++) {
		if (fixture_put_alone(fixture, store, ITEMS, STR("count"),
				      (struct str){(const char *)&i, sizeof(i)}) != OK ||
		    write(told, &i, sizeof(i)) != (ssize_t)sizeof(i))
			_exit(1);
	}
}

TEST(what_is_committed_survives_a_kill)
{
	for (unsigned kill_at = 1; kill_at < 2000; kill_at *= 3) {
		struct fixture fixture = fixture_new(false);
		unsigned last = 0, kept = 0;
		int told[2];

		CHECK_INT(pipe(told), 0);
		pid_t child = fork();
		if (child == 0) {
			close(told[0]);
			count_up(&fixture, told[1]);
		}
		close(told[1]);
		while (last < kill_at &&
		       read(told[0], &last, sizeof(last)) == (ssize_t)sizeof(last))
			;
		CHECK_INT(kill(child, SIGKILL), 0);
		CHECK_INT(waitpid(child, NULL, 0), child);
		while (read(told[0], &last, sizeof(last)) == (ssize_t)sizeof(last))
			;
		close(told[0]);
		/* no lock is left, and the row has what was told, or one more that was not told any
		 * more */
		struct store *store = fixture_open(&fixture);
		struct str value = fixture_get_alone(&fixture, store, ITEMS, "count");
		CHECK_INT(value.n, sizeof(kept));
		if (value.n == sizeof(kept))
			memcpy(&kept, value.p, sizeof(kept));
		CHECK(kept == last || kept == last + 1);
		store_close(store);
		fixture_free(&fixture);
	}
}

/* Larger than the page cache: SQLite writes pages to the log before the commit, and the same ones
 * again where they change once more. */
static void commit_large(struct fixture *fixture)
{
	struct store *store = fixture_open(fixture);
	char value[3000], key[16];

	test_failures = 0;
	fixture_create(fixture, store, ITEMS);
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);
	for (unsigned i = 0; i < 400; i++) {
		memset(value, i < 200 ? 'a' : 'b', sizeof(value));
		snprintf(key, sizeof(key), "%u", i % 200);
		CHECK_INT(store_put(txn, ITEMS, str_of(key), (struct str){value, sizeof(value)},
				    &fixture->err),
			  OK);
	}
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	_exit(test_failures != 0); /* nothing is closed: as a kill leaves it */
}

TEST(a_commit_larger_than_the_cache_survives_a_kill)
{
	for (enum durability durability = DURABILITY_OFF; durability <= DURABILITY_FULL;
	     durability++) {
		struct fixture fixture = fixture_new(false);
		int status = -1;

		fixture.options.cache_bytes = 64 * 1024;
		fixture.options.durability = durability;
		pid_t child = fork();
		if (child == 0)
			commit_large(&fixture);
		CHECK_INT(waitpid(child, &status, 0), child);
		CHECK_INT(status, 0);
		struct store *store = fixture_open(&fixture);
		for (unsigned i = 0; i < 200; i++) {
			char key[16];

			snprintf(key, sizeof(key), "%u", i);
			struct str value = fixture_get_alone(&fixture, store, ITEMS, key);
			CHECK(value.n == 3000 && value.p[0] == 'b' && value.p[2999] == 'b');
			if (test_failures)
				break;
		}
		store_close(store);
		fixture_free(&fixture);
	}
}

/* Killed at any moment of its creation, a store opens the next time. */
TEST(creation_may_be_cut_short)
{
	for (useconds_t delay = 0; delay < 3000; delay += 60) {
		struct fixture fixture = fixture_new(false);
		pid_t child = fork();

		if (child == 0) {
			store_close(fixture_open(&fixture));
			_exit(0);
		}
		usleep(delay);
		kill(child, SIGKILL);
		CHECK_INT(waitpid(child, NULL, 0), child);
		struct store *store = fixture_open(&fixture);
		CHECK(!str_is_set(
			fixture_get_alone(&fixture, store, KEYSPACE(0, SYSTEM_TABLES), "k")));
		store_close(store);
		fixture_free(&fixture);
	}
}

/* SQLite rolls back by itself after such an error: nothing that follows in the transaction may be
 * written on its own. */
TEST(a_disk_error_undoes_the_transaction)
{
	struct fixture fixture = fixture_new(false);
	size_t n = 300 * 1024;
	char *bytes = arena_bytes(fixture.arena, n), key[16];
	enum code code = OK;

	memset(bytes, 'v', n);
	fixture.options.cache_bytes =
		64 * 1024; /* pages of an open transaction go to the log early */
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("before"), STR("1")), OK);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, txn, ITEMS, "first", "1");
	fixture_limit_files(512 * 1024);
	for (int i = 0; i < 20 && code == OK; i++) {
		snprintf(key, sizeof(key), "%d", i);
		code = store_put(txn, ITEMS, str_of(key), (struct str){bytes, n}, &fixture.err);
	}
	fixture_limit_files(RLIM_INFINITY);
	CHECK_INT(code, ERR_INTERNAL);
	CHECK(contains(fixture.err.message, "I/O error"));
	CHECK_INT(store_put(txn, ITEMS, STR("last"), STR("1"), &fixture.err), ERR_INTERNAL);
	CHECK_INT(store_del(txn, ITEMS, STR("before"), &fixture.err), ERR_INTERNAL);
	CHECK_INT(store_commit(txn, &fixture.err), ERR_INTERNAL);
	txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 9), "before=1 ");
	CHECK_INT(store_commit(txn, &fixture.err), OK);

	/* the same where the commit is what fails */
	txn = fixture_begin(&fixture, store, STORE_WRITE);
	fixture_put(&fixture, txn, ITEMS, "small", "1");
	fixture_limit_files(1);
	CHECK_INT(store_commit(txn, &fixture.err), ERR_INTERNAL);
	fixture_limit_files(RLIM_INFINITY);
	CHECK(!str_is_set(fixture_get_alone(&fixture, store, ITEMS, "small")));
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("small"), STR("2")), OK);
	store_close(store);
	store = fixture_open(&fixture);
	CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "small"), "2");
	store_close(store);
	fixture_free(&fixture);
}

/* What two threads tell each other: each waits for the other's step. */
struct steps {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int step;
};

static void steps_reach(struct steps *steps, int step)
{
	pthread_mutex_lock(&steps->mutex);
	steps->step = step;
	pthread_cond_broadcast(&steps->cond);
	pthread_mutex_unlock(&steps->mutex);
}

static void steps_wait(struct steps *steps, int step)
{
	pthread_mutex_lock(&steps->mutex);
	while (steps->step < step)
		pthread_cond_wait(&steps->cond, &steps->mutex);
	pthread_mutex_unlock(&steps->mutex);
}

struct other {
	struct fixture fixture; /* with an arena of its own */
	struct store *store;
	struct steps *steps;
	enum code code;
};

/* Writes while the reader reads: once uncommitted, once committed, then drops and creates. */
static void *write_in_steps(void *context)
{
	struct other *other = context;
	struct store_txn *txn;

	steps_wait(other->steps, 1);
	txn = fixture_begin(&other->fixture, other->store, STORE_WRITE);
	fixture_put(&other->fixture, txn, ITEMS, "a", "new");
	fixture_put(&other->fixture, txn, ITEMS, "b", "new");
	steps_reach(other->steps, 2);
	steps_wait(other->steps, 3);
	other->code = store_commit(txn, &other->fixture.err);
	steps_reach(other->steps, 4);
	steps_wait(other->steps, 5);
	txn = fixture_begin(&other->fixture, other->store, STORE_WRITE);
	if (store_drop(txn, ITEMS, &other->fixture.err) != OK ||
	    store_commit(txn, &other->fixture.err) != OK)
		other->code = ERR_INTERNAL;
	steps_reach(other->steps, 6);
	return NULL;
}

TEST(a_reader_sees_one_snapshot)
{
	struct fixture fixture = fixture_new(false);
	struct store *store = fixture_open(&fixture);
	struct steps steps = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
	struct other other = {.fixture = {.arena = arena_new(0)},
			      .store = store,
			      .steps = &steps,
			      .code = ERR_INTERNAL};
	struct str value;
	pthread_t thread;

	other.fixture.err = err_in(other.fixture.arena);
	fixture_create(&fixture, store, ITEMS);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("a"), STR("old")), OK);
	struct store_txn *txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(fixture_get(&fixture, txn, ITEMS, "a"), "old");
	CHECK_INT(pthread_create(&thread, NULL, write_in_steps, &other), 0);
	steps_reach(&steps, 1);
	steps_wait(&steps, 2); /* written, not committed */
	CHECK_STR(fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 9), "a=old ");
	steps_reach(&steps, 3);
	steps_wait(&steps, 4); /* committed */
	CHECK_STR(fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 9), "a=old ");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_STR(fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 9), "a=new b=new ");
	steps_reach(&steps, 5);
	steps_wait(&steps, 6); /* dropped */
	CHECK_STR(fixture_list(&fixture, txn, ITEMS, NULL, NULL, false, 9), "a=new b=new ");
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	txn = fixture_begin(&fixture, store, STORE_READ);
	CHECK_INT(store_get(txn, ITEMS, STR("a"), fixture.arena, &value, &fixture.err),
		  ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_commit(txn, &fixture.err), OK);
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK_INT(other.code, OK);
	arena_free(other.fixture.arena);
	store_close(store);
	fixture_free(&fixture);
}

#define THREADS 4
#define ADDITIONS 300

struct adder {
	struct store *store;
	atomic_int *running;
	unsigned seed;
	enum code code;
	bool has_torn; /* a reader saw half a transaction */
};

static unsigned number_of(struct str value)
{
	unsigned n = 0;

	if (value.n == sizeof(n))
		memcpy(&n, value.p, sizeof(n));
	return n;
}

/* Adds one to both rows in a transaction; now and then gives up half way. */
static void *add(void *context)
{
	struct adder *adder = context;
	struct arena *arena = arena_new(1 << 16);

	for (int i = 0; i < ADDITIONS && adder->code == OK; i++) {
		struct err err = err_in(arena);
		struct store_txn *txn;
		struct str x = STR_ABSENT, y = STR_ABSENT;

		adder->code = store_begin(adder->store, STORE_WRITE, &txn, &err);
		if (adder->code != OK)
			break;
		adder->code = store_get(txn, ITEMS, STR("x"), arena, &x, &err);
		if (adder->code == OK)
			adder->code = store_get(txn, ITEMS, STR("y"), arena, &y, &err);
		unsigned n = number_of(x) + 1, m = number_of(y) + 1;
		if (adder->code == OK)
			adder->code = store_put(txn, ITEMS, STR("x"),
						(struct str){(const char *)&n, sizeof(n)}, &err);
		if (adder->code == OK && (unsigned)i % 5 == adder->seed) {
			store_abort(txn);
			i--;
			adder->seed = 99;
			continue;
		}
		if (adder->code == OK)
			adder->code = store_put(txn, ITEMS, STR("y"),
						(struct str){(const char *)&m, sizeof(m)}, &err);
		if (adder->code == OK)
			adder->code = store_commit(txn, &err);
		else
			store_abort(txn);
		arena_reset(arena);
	}
	atomic_fetch_sub(adder->running, 1);
	arena_free(arena);
	return NULL;
}

/* Both rows are the same in every snapshot, and never smaller than before. */
static void *watch(void *context)
{
	struct adder *adder = context;
	struct arena *arena = arena_new(1 << 16);
	unsigned last = 0;

	while (atomic_load(adder->running) > 0 && adder->code == OK) {
		struct err err = err_in(arena);
		struct store_txn *txn;
		struct str x = STR_ABSENT, y = STR_ABSENT;

		adder->code = store_begin(adder->store, STORE_READ, &txn, &err);
		if (adder->code != OK)
			break;
		adder->code = store_get(txn, ITEMS, STR("x"), arena, &x, &err);
		if (adder->code == OK)
			adder->code = store_get(txn, ITEMS, STR("y"), arena, &y, &err);
		if (adder->code == OK) {
			adder->has_torn |= number_of(x) != number_of(y) || number_of(x) < last;
			last = number_of(x);
		}
		store_abort(txn);
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

TEST(writers_are_serialised_and_readers_see_whole_transactions)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = fixture_new(is_memory);
		struct store *store = fixture_open(&fixture);
		pthread_t threads[THREADS];
		struct adder adders[THREADS];
		atomic_int running = 2;

		fixture_create(&fixture, store, ITEMS);
		/* two write, two read: on disk more threads than reader connections would wait for
		 * one */
		for (unsigned i = 0; i < THREADS; i++) {
			adders[i] = (struct adder){store, &running, i, OK, false};
			CHECK_INT(
				pthread_create(&threads[i], NULL, i < 2 ? add : watch, &adders[i]),
				0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			CHECK_INT(pthread_join(threads[i], NULL), 0);
			CHECK_INT(adders[i].code, OK);
			CHECK(!adders[i].has_torn);
		}
		CHECK_INT(number_of(fixture_get_alone(&fixture, store, ITEMS, "x")), 2 * ADDITIONS);
		CHECK_INT(number_of(fixture_get_alone(&fixture, store, ITEMS, "y")), 2 * ADDITIONS);
		store_close(store);
		fixture_free(&fixture);
	}
}

TEST(more_readers_than_connections_wait_for_one)
{
	struct fixture fixture = fixture_new(false);
	pthread_t threads[THREADS];
	struct adder adders[THREADS];
	atomic_int running = 1;

	fixture.options.readers = 0; /* counts as one */
	struct store *store = fixture_open(&fixture);
	fixture_create(&fixture, store, ITEMS);
	for (unsigned i = 0; i < THREADS; i++) {
		adders[i] = (struct adder){store, &running, i, OK, false};
		CHECK_INT(pthread_create(&threads[i], NULL, i == 0 ? add : watch, &adders[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_join(threads[i], NULL), 0);
		CHECK_INT(adders[i].code, OK);
		CHECK(!adders[i].has_torn);
	}
	store_close(store);
	fixture_free(&fixture);
}

struct late {
	struct store *store;
	struct fixture fixture;
	bool is_old;
};

/* Reads while another reader is under way and a writer has written. */
static void *read_late(void *context)
{
	struct late *late = context;
	struct store_txn *txn = fixture_begin(&late->fixture, late->store, STORE_READ);

	late->is_old = str_eq(fixture_get(&late->fixture, txn, ITEMS, "a"), STR("old"));
	CHECK_INT(store_commit(txn, &late->fixture.err), OK);
	return NULL;
}

/* Its connection is opened then: what SQLite reads for itself is of the last commit too. */
TEST(a_reader_that_comes_late_sees_what_is_committed)
{
	for (int is_memory = 0; is_memory < 2; is_memory++) {
		struct fixture fixture = fixture_new(is_memory);
		struct store *store = fixture_open(&fixture);
		struct late late = {.store = store, .fixture = {.arena = arena_new(0)}};
		pthread_t thread;

		late.fixture.err = err_in(late.fixture.arena);
		fixture_create(&fixture, store, ITEMS);
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("a"), STR("old")), OK);
		struct store_txn *first = fixture_begin(&fixture, store, STORE_READ);
		CHECK_STR(fixture_get(&fixture, first, ITEMS, "a"), "old");
		struct store_txn *writer = fixture_begin(&fixture, store, STORE_WRITE);
		fixture_put(&fixture, writer, ITEMS, "a", "new");
		CHECK_INT(store_create(writer, KEYSPACE(8, PART_ITEMS), &fixture.err), OK);
		CHECK_INT(pthread_create(&thread, NULL, read_late, &late), 0);
		CHECK_INT(pthread_join(thread, NULL), 0);
		CHECK(late.is_old);
		CHECK_INT(store_commit(writer, &fixture.err), OK);
		CHECK_INT(store_commit(first, &fixture.err), OK);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "a"), "new");
		arena_free(late.fixture.arena);
		store_close(store);
		fixture_free(&fixture);
	}
}

/* The path leads to another store then: the reader waits for a connection to its own. */
TEST(a_reader_that_comes_late_does_not_open_another_file)
{
	struct fixture fixture = fixture_new(false), others = fixture_new(false);
	struct store *other = fixture_open(&others);
	struct store *store = fixture_open(&fixture);
	struct late late = {.store = store, .fixture = {.arena = arena_new(0)}};
	char away[80];
	pthread_t thread;

	late.fixture.err = err_in(late.fixture.arena);
	fixture_create(&others, other, ITEMS);
	CHECK_INT(fixture_put_alone(&others, other, ITEMS, STR("a"), STR("another")), OK);
	store_close(other);
	fixture_create(&fixture, store, ITEMS);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("a"), STR("old")), OK);
	struct store_txn *first = fixture_begin(&fixture, store, STORE_READ);
	snprintf(away, sizeof(away), "%s/away.db", fixture.directory);
	CHECK_INT(rename(fixture.path, away), 0);
	CHECK_INT(rename(others.path, fixture.path), 0);
	CHECK_INT(pthread_create(&thread, NULL, read_late, &late), 0);
	usleep(10000); /* it looks for a connection */
	CHECK_INT(store_commit(first, &fixture.err), OK);
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK(late.is_old);
	arena_free(late.fixture.arena);
	store_close(store);
	CHECK_INT(unlink(away), 0);
	fixture_free(&others);
	fixture_free(&fixture);
}

/* A power cut during the creation leaves an empty file with a piece of a log, and no mark. */
TEST(an_old_library_opens_an_empty_file_with_a_log)
{
	static const size_t lengths[] = {14, 32, 5000};
	char log[96];

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct fixture fixture = fixture_new(false);
		char *bytes = arena_alloc(fixture.arena, lengths[i]);

		memset(bytes, 0x37, lengths[i]);
		snprintf(log, sizeof(log), "%s-wal", fixture.path);
		fixture_write(fixture.path, STR(""));
		fixture_write(log, (struct str){bytes, lengths[i]});
		CHECK(log_mark_is_own(fixture.path));
		struct store *store = fixture_open(&fixture);
		fixture_create(&fixture, store, ITEMS);
		CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
		CHECK_STR(fixture_get_alone(&fixture, store, ITEMS, "k"), "v");
		store_close(store);
		fixture_free(&fixture);
	}
}

/* As a copy of a folder, or an archive: the file and its log have other inodes than those that the
 * mark names. */
static void copy_file(struct fixture *fixture, const char *from, const char *to, const char *suffix)
{
	char source[96], target[96];

	snprintf(source, sizeof(source), "%s%s", from, suffix);
	snprintf(target, sizeof(target), "%s%s", to, suffix);
	fixture_write(target, read_bytes(fixture->arena, source));
}

TEST(an_old_library_reads_no_log_from_elsewhere)
{
	static const char *const suffixes[] = {"", "-wal", "-mark"};
	bool is_old = sqlite_store_library_note() != NULL;
	struct fixture fixture = fixture_new(false), other = fixture_new(false);
	struct store *store = fixture_open(&fixture);

	fixture_create(&fixture, store, ITEMS);
	CHECK_INT(fixture_put_alone(&fixture, store, ITEMS, STR("k"), STR("v")), OK);
	if (!is_old)
		log_mark_leave(fixture.path, true, fixture.arena);
	CHECK(log_mark_is_own(fixture.path));
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		copy_file(&fixture, fixture.path, other.path, suffixes[i]);
	CHECK(!log_mark_is_own(other.path));
	if (is_old)
		check_refused(&other, other.path, "did not leave the write-ahead log");
	log_mark_leave(other.path, true, fixture.arena);
	CHECK(log_mark_is_own(other.path));
	struct store *copy = fixture_open(&other);
	CHECK_STR(fixture_get_alone(&other, copy, ITEMS, "k"), "v");
	store_close(copy);
	store_close(store);
	CHECK(log_mark_is_own(other.path));
	fixture_free(&other);
	fixture_free(&fixture);
}

TEST(the_library_has_a_version)
{
	CHECK_STR(str_of(sqlite_store_library_version()), sqlite3_libversion());
	CHECK((sqlite3_libversion_number() < SQLITE_FLOOR_NUMBER) ==
	      (sqlite_store_library_note() != NULL));
}

TEST_MAIN(TEST_CASE(a_reader_that_comes_late_sees_what_is_committed),
	  TEST_CASE(a_reader_that_comes_late_does_not_open_another_file),
	  TEST_CASE(rows_survive_closing), TEST_CASE(a_new_file_is_for_its_owner_alone),
	  TEST_CASE(stores_in_memory_are_apart), TEST_CASE(an_empty_file_becomes_a_store),
	  TEST_CASE(odd_names_are_files), TEST_CASE(a_newer_format_is_refused),
	  TEST_CASE(a_newer_format_in_the_log_is_refused), TEST_CASE(foreign_files_are_refused),
	  TEST_CASE(places_that_hold_no_file), TEST_CASE(a_damaged_file_is_one_clear_line),
	  TEST_CASE(a_second_process_is_kept_out),
	  TEST_CASE(a_second_process_is_kept_out_by_any_name),
	  TEST_CASE(a_file_that_was_taken_away_is_not_written_to),
	  TEST_CASE(a_store_in_memory_is_always_in_its_place),
	  TEST_CASE(what_is_committed_survives_a_kill),
	  TEST_CASE(a_commit_larger_than_the_cache_survives_a_kill),
	  TEST_CASE(creation_may_be_cut_short), TEST_CASE(a_disk_error_undoes_the_transaction),
	  TEST_CASE(a_reader_sees_one_snapshot),
	  TEST_CASE(writers_are_serialised_and_readers_see_whole_transactions),
	  TEST_CASE(more_readers_than_connections_wait_for_one),
	  TEST_CASE(an_old_library_opens_an_empty_file_with_a_log),
	  TEST_CASE(an_old_library_reads_no_log_from_elsewhere),
	  TEST_CASE(the_library_has_a_version))
