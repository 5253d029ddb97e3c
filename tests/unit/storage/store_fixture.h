/*
 * store_fixture - what the tests of the stores share: stores of each kind in a directory of their
 * own, and short calls that check themselves.
 */
#ifndef DYNALITH_TEST_STORE_FIXTURE_H
#define DYNALITH_TEST_STORE_FIXTURE_H

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/arena.h"
#include "storage/store/postgresql/postgresql_store.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/store.h"
#include "storage/store/trace/trace_store.h"
#include "tests/unit/scan.h"
#include "tests/unit/test.h"

#define KEYSPACE(table, part) ((struct keyspace){table, part})

struct fixture {
	char directory[32];
	char path[64]; /* of the data file */
	struct arena *arena;
	struct err err;
	struct sqlite_store_options options;
	bool has_prefixes; /* keyspaces are prefixes: those that nobody created are empty */
};

static inline struct fixture fixture_new(bool is_memory)
{
	struct fixture fixture = {.directory = "/tmp/dynalith-store-XXXXXX",
				  .arena = arena_new(1 << 20)};

	CHECK(mkdtemp(fixture.directory) != NULL);
	snprintf(fixture.path, sizeof(fixture.path), "%s/data.db", fixture.directory);
	fixture.err = err_in(fixture.arena);
	fixture.options = (struct sqlite_store_options){
		.path = is_memory ? NULL : fixture.path,
		.durability = DURABILITY_OFF,
		.readers = 2,
		.cache_bytes = 1 << 20,
	};
	return fixture;
}

static inline void fixture_unlink(struct fixture *fixture)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", "-mark", "-reserve"};
	char name[96];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", fixture->path, suffixes[i]);
		unlink(name);
	}
}

/* A file with these bytes. */
static inline void fixture_write(const char *path, struct str bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, bytes.p, bytes.n), bytes.n);
	close(fd);
}

static inline void fixture_free(struct fixture *fixture)
{
	fixture_unlink(fixture);
	CHECK_INT(rmdir(fixture->directory), 0);
	arena_free(fixture->arena);
}

/* The path in `options` is the fixture's own, which moves where the fixture is copied. */
static inline struct store *fixture_open(struct fixture *fixture)
{
	struct store *store = NULL;

	if (fixture->options.path)
		fixture->options.path = fixture->path;
	if (sqlite_store_open(&fixture->options, &store, &fixture->err) != OK) {
		fprintf(stderr, "open: " STR_FMT "\n", STR_ARG(fixture->err.message));
		abort();
	}
	return store;
}

/* The PostgreSQL database that this test may use, or NULL: tests/cluster/with-database names one.
 */
static inline const char *fixture_database(void)
{
#ifdef WITH_POSTGRESQL
	return getenv("DYNALITH_TEST_POSTGRESQL");
#else
	return NULL;
#endif
}

/* A store in it, as it was left. */
static inline struct store *fixture_open_database_as_it_is(struct fixture *fixture)
{
	struct store *store = NULL;

#ifdef WITH_POSTGRESQL
	struct postgresql_store_options options = {.url = fixture_database(),
						   .name = "the database",
						   .durability = DURABILITY_OFF,
						   .connections = 20};

	if (postgresql_store_open(&options, &store, &fixture->err) != OK) {
		fprintf(stderr, "open: " STR_FMT "\n", STR_ARG(fixture->err.message));
		abort();
	}
#endif
	fixture->has_prefixes = true;
	return store;
}

/* The same, empty: without rows in any keyspace that tests use. */
static inline struct store *fixture_open_database(struct fixture *fixture)
{
	struct store *store = fixture_open_database_as_it_is(fixture);
	struct store_txn *txn = NULL;
	enum code code = store_begin(store, STORE_WRITE, &txn, &fixture->err);

	CHECK_INT(code, OK);
	for (uint32_t part = 0; part < SYSTEM_PART_COUNT && code == OK; part++)
		code = store_drop(txn, KEYSPACE(0, part), &fixture->err);
	for (uint64_t table = 1; table < 800 && code == OK; table = table == 10 ? 100 : table + 1) {
		for (uint32_t part = 0; part < 20 && code == OK; part++)
			code = table < 100 || part == 0
				       ? store_drop(txn, KEYSPACE(table, part), &fixture->err)
				       : OK;
	}
	CHECK_INT(code, OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	return store;
}

/* No file of this process may grow beyond `bytes`: writes fail as on a disk with an error. */
static inline void fixture_limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline struct store_txn *fixture_begin(struct fixture *fixture, struct store *store,
					      enum store_mode mode)
{
	struct store_txn *txn = NULL;

	if (store_begin(store, mode, &txn, &fixture->err) != OK)
		abort();
	return txn;
}

static inline struct str fixture_get(struct fixture *fixture, struct store_txn *txn,
				     struct keyspace keyspace, const char *key)
{
	struct str value = STR_ABSENT;

	CHECK_INT(store_get(txn, keyspace, str_of(key), fixture->arena, &value, &fixture->err), OK);
	return value;
}

static inline void fixture_put(struct fixture *fixture, struct store_txn *txn,
			       struct keyspace keyspace, const char *key, const char *value)
{
	CHECK_INT(store_put(txn, keyspace, str_of(key), str_of(value), &fixture->err), OK);
}

static inline void fixture_create(struct fixture *fixture, struct store *store,
				  struct keyspace keyspace)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_WRITE);

	CHECK_INT(store_create(txn, keyspace, &fixture->err), OK);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
}

/* One row put in a transaction of its own; the first code that is not OK. */
static inline enum code fixture_put_alone(struct fixture *fixture, struct store *store,
					  struct keyspace keyspace, struct str key,
					  struct str value)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, &fixture->err);

	if (code != OK)
		return code;
	code = store_put(txn, keyspace, key, value, &fixture->err);
	if (code == OK)
		return store_commit(txn, &fixture->err);
	store_abort(txn);
	return code;
}

/* The value of a row seen by a transaction of its own. */
static inline struct str fixture_get_alone(struct fixture *fixture, struct store *store,
					   struct keyspace keyspace, const char *key)
{
	struct store_txn *txn = fixture_begin(fixture, store, STORE_READ);
	struct str value = fixture_get(fixture, txn, keyspace, key);

	CHECK_INT(store_commit(txn, &fixture->err), OK);
	return value;
}

/* A visitor that writes "key=value " of at most `left` rows. */
struct listing {
	char text[256];
	size_t n;
	int left;
};

static inline bool listing_add(void *context, struct str key, struct str value)
{
	struct listing *listing = context;

	listing->n +=
		(size_t)snprintf(listing->text + listing->n, sizeof(listing->text) - listing->n,
				 STR_FMT "=" STR_FMT " ", STR_ARG(key), STR_ARG(value));
	return --listing->left > 0;
}

/* The rows from low (NULL: open) to high (NULL: open). */
static inline struct str fixture_list(struct fixture *fixture, struct store_txn *txn,
				      struct keyspace keyspace, const char *low, const char *high,
				      bool is_reverse, int limit)
{
	struct listing listing = {.left = limit};
	struct store_range range = {str_of(low), str_of(high), is_reverse};

	CHECK_INT(scan_rows(txn, keyspace, &range, listing_add, &listing, &fixture->err), OK);
	return str_copy(fixture->arena, (struct str){listing.text, listing.n});
}

#endif
