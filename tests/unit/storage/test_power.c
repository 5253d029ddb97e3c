/*
 * What a power cut leaves: the contract of store.h and of enum durability, whatever the backend
 * does to hold it.
 *
 * Threads commit transactions that each count up one row and change others in a way that follows
 * from the count alone. After a cut the store must hold exactly what the first k of them did: with
 * DURABILITY_FULL all whose commit returned, with DURABILITY_NORMAL some beginning. POWER_CUTS=N
 * runs N cuts of each; POWER_SEED=N chooses them.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sqlite3.h>

#include "storage/store/sqlite/page_file.h"
#include "storage/store/sqlite/log_mark.h"
#include "tests/unit/storage/fault_vfs.h"
#include "tests/unit/storage/store_fixture.h"

#define LEFT KEYSPACE(7, PART_ITEMS)
#define RIGHT KEYSPACE(7, PART_INDEX)
#define TEMPORARY KEYSPACE(8, PART_ITEMS) /* created and dropped from time to time */
#define COUNTERS KEYSPACE(0, SYSTEM_COUNTERS)
#define ROWS 48
#define VALUE_MAX 9000
#define WRITERS_MAX 4
#define TRANSACTIONS_MAX 400 /* per round, all threads together: the log grows until it is moved */

struct random {
	uint64_t state;
};

static uint64_t draw(struct random *random, uint64_t n)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return (random->state >> 33) % n;
}

/* What the rows are after `count` transactions: each row's length and the transaction that wrote
 * it; 0: there is none. */
struct model {
	uint64_t count;
	bool has_temporary;
	struct row {
		uint64_t by;
		size_t n;
	} rows[ROWS];
};

struct change {
	unsigned row;
	size_t n; /* 0: deleted */
};

#define CHANGES_MAX 6

/* What transaction number `t` does, which follows from the number. */
static size_t changes_of(uint64_t t, struct change *changes)
{
	struct random random = {t * 0x9E3779B97F4A7C15u};
	size_t n = 1 + draw(&random, CHANGES_MAX);

	for (size_t i = 0; i < n; i++) {
		changes[i].row = (unsigned)draw(&random, ROWS);
		changes[i].n =
			draw(&random, 4) == 0
				? 0
				: 8 + draw(&random, draw(&random, 3) == 0 ? VALUE_MAX - 8 : 300);
	}
	return n;
}

static bool changes_temporary(uint64_t t)
{
	return t % 17 == 0;
}

static void model_advance(struct model *model)
{
	struct change changes[CHANGES_MAX];
	size_t n = changes_of(++model->count, changes);

	for (size_t i = 0; i < n; i++)
		model->rows[changes[i].row] =
			(struct row){changes[i].n ? model->count : 0, changes[i].n};
	model->has_temporary ^= changes_temporary(model->count);
}

/* `n` bytes that only this transaction writes to this row. */
static void fill(char *bytes, size_t n, uint64_t t, unsigned row)
{
	struct random random = {t ^ ((uint64_t)row << 48)};

	memcpy(bytes, &t, sizeof(t));
	for (size_t i = sizeof(t); i < n; i++)
		bytes[i] = (char)draw(&random, 256);
}

static struct str row_key(unsigned row, char *buffer)
{
	return (struct str){buffer, (size_t)snprintf(buffer, 16, "row %u", row)};
}

/* The machine: a store on it, and what its clients know. */
struct machine {
	struct fixture fixture;
	struct random random;
	struct model model; /* at the start of the round */
	struct store *store;
	pthread_mutex_t mutex;
	uint64_t acknowledged, attempted, last; /* counts; `last` ends the round */
	uint64_t closed;                        /* rounds that ended with all written and closed */
	bool fails_syncs; /* a sync fails in each round, and the power goes a little later */
};

static enum code get_count(struct store_txn *txn, struct arena *arena, uint64_t *count,
			   struct err *err)
{
	struct str value;
	enum code code = store_get(txn, COUNTERS, STR("count"), arena, &value, err);

	*count = 0;
	if (code == OK && str_is_set(value))
		memcpy(count, value.p, sizeof(*count));
	return code;
}

static enum code change_temporary(struct store_txn *txn, struct arena *arena, struct err *err)
{
	struct str value;
	enum code code = store_get(txn, TEMPORARY, STR("k"), arena, &value, err);

	return code == ERR_RESOURCE_NOT_FOUND ? store_create(txn, TEMPORARY, err)
	       : code == OK                   ? store_drop(txn, TEMPORARY, err)
					      : code;
}

/* Transaction number t, but for its commit. */
static enum code apply(struct store_txn *txn, struct arena *arena, uint64_t t, struct err *err)
{
	struct change changes[CHANGES_MAX];
	size_t n = changes_of(t, changes);
	char bytes[VALUE_MAX], key[16];
	enum code code = store_put(txn, COUNTERS, STR("count"),
				   (struct str){(const char *)&t, sizeof(t)}, err);

	for (size_t i = 0; i < n && code == OK; i++) {
		struct change *change = &changes[i];
		struct str name = row_key(change->row, key);

		fill(bytes, change->n ? change->n : sizeof(t), t, change->row);
		code = change->n ? store_put(txn, LEFT, name, (struct str){bytes, change->n}, err)
				 : store_del(txn, LEFT, name, err);
		if (code == OK)
			code = change->n ? store_put(txn, RIGHT, name,
						     (struct str){bytes, sizeof(t)}, err)
					 : store_del(txn, RIGHT, name, err);
	}
	return code == OK && changes_temporary(t) ? change_temporary(txn, arena, err) : code;
}

/* One transaction; some change their mind and are run again. false: the round is over or the power
 * is off. */
static bool write_once(struct machine *machine, struct arena *arena)
{
	struct err err = err_in(arena);
	struct store_txn *txn;
	uint64_t t;

	if (store_begin(machine->store, STORE_WRITE, &txn, &err) != OK)
		return false;
	enum code code = get_count(txn, arena, &t, &err);
	if (code == OK && t >= machine->last) {
		store_abort(txn);
		return false;
	}
	if (code == OK)
		code = apply(txn, arena, ++t, &err);
	pthread_mutex_lock(&machine->mutex);
	bool is_aborted = code != OK || draw(&machine->random, 8) == 0;
	if (!is_aborted && machine->attempted < t)
		machine->attempted = t;
	pthread_mutex_unlock(&machine->mutex);
	if (is_aborted) {
		store_abort(txn);
		return code == OK;
	}
	code = store_commit(txn, &err);
	if (code != OK)
		return code == ERR_CONFLICT;
	pthread_mutex_lock(&machine->mutex);
	if (machine->acknowledged < t)
		machine->acknowledged = t;
	pthread_mutex_unlock(&machine->mutex);
	return true;
}

static void *write_all(void *context)
{
	struct arena *arena = arena_new(1 << 16);

	while (write_once(context, arena))
		arena_reset(arena);
	arena_free(arena);
	return NULL;
}

/* Creates the keyspaces where they are not yet; false: the power is off. */
static bool set_up(struct machine *machine)
{
	struct fixture *fixture = &machine->fixture;
	struct store_txn *txn;
	struct str value;

	if (store_begin(machine->store, STORE_WRITE, &txn, &fixture->err) != OK)
		return false;
	enum code code = store_get(txn, LEFT, STR("k"), fixture->arena, &value, &fixture->err);
	if (code == ERR_RESOURCE_NOT_FOUND)
		code = store_create(txn, LEFT, &fixture->err);
	else if (code == OK) {
		store_abort(txn);
		return true;
	}
	if (code == OK)
		code = store_create(txn, RIGHT, &fixture->err);
	if (code == OK)
		return store_commit(txn, &fixture->err) == OK;
	store_abort(txn);
	return false;
}

static void run_writers(struct machine *machine)
{
	pthread_t threads[WRITERS_MAX];
	size_t n = 1 + draw(&machine->random, WRITERS_MAX);

	machine->last = machine->model.count + 1 + draw(&machine->random, TRANSACTIONS_MAX);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, write_all, machine), 0);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(pthread_join(threads[i], NULL), 0);
}

static enum code open_store(struct machine *machine)
{
	machine->fixture.options.path = machine->fixture.path;
	machine->store = NULL;
	return sqlite_store_open(&machine->fixture.options, &machine->store, &machine->fixture.err);
}

/* From power on to power off: opens the store, writes, closes it perhaps. The power goes at some
 * moment of that, or behind it. */
static void live(struct machine *machine, bool is_short)
{
	bool is_closed = false;

	/* short lives try opening, middle ones writing, long ones checkpoints and closing */
	fault_vfs_cut(
		1 + draw(&machine->random, is_short || draw(&machine->random, 3) == 0 ? 60 : 900));
	machine->acknowledged = machine->attempted = machine->model.count;
	if (open_store(machine) == OK) {
		bool is_set_up = set_up(machine);
		if (machine->fails_syncs)
			fault_vfs_fail(FAULT_SYNC, 1 + draw(&machine->random, 30),
				       SQLITE_IOERR_FSYNC, false);
		if (is_set_up)
			run_writers(machine);
		if (fault_vfs_has_failed())
			fault_vfs_cut(1 + draw(&machine->random, 40));
		store_close(machine->store);
		is_closed = !fault_vfs_is_off() && !fault_vfs_has_failed();
	}
	machine->closed += is_closed;
	/* what a store wrote that was closed in peace is on the disk */
	if (is_closed && machine->fixture.options.durability != DURABILITY_OFF)
		CHECK_INT(machine->acknowledged, machine->attempted);
	if (!is_closed && machine->fixture.options.durability != DURABILITY_FULL)
		machine->acknowledged = machine->model.count;
	fault_vfs_power_on();
	log_mark_leave(machine->fixture.path, false, machine->fixture.arena); /* the virtual disk makes its files again */
}

static void check_row(struct machine *machine, struct store_txn *txn, unsigned i)
{
	const struct row *row = &machine->model.rows[i];
	struct fixture *fixture = &machine->fixture;
	struct str left = STR_ABSENT, right = STR_ABSENT;
	char bytes[VALUE_MAX], key[16];

	CHECK_INT(store_get(txn, LEFT, row_key(i, key), fixture->arena, &left, &fixture->err), OK);
	CHECK_INT(store_get(txn, RIGHT, row_key(i, key), fixture->arena, &right, &fixture->err),
		  OK);
	if (row->by == 0) {
		CHECK(!str_is_set(left) && !str_is_set(right));
		return;
	}
	fill(bytes, row->n, row->by, i);
	CHECK(str_eq(left, (struct str){bytes, row->n}));
	CHECK(str_eq(right, (struct str){bytes, sizeof(row->by)}));
}

/* Pages and their checksums. */
static void check_integrity(const char *path)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;

	CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, page_file_system()), SQLITE_OK);
	CHECK_INT(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL),
		  SQLITE_OK);
	CHECK_INT(sqlite3_step(statement), SQLITE_ROW);
	CHECK_STR(str_of((const char *)sqlite3_column_text(statement, 0)), "ok");
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

/* Opens what is left and compares; the model is then at the count that was found. */
static void check_rest(struct machine *machine)
{
	struct fixture *fixture = &machine->fixture;
	struct str value = STR_ABSENT;
	uint64_t count = 0;

	if (open_store(machine) != OK) {
		fprintf(stderr, "open: " STR_FMT "\n", STR_ARG(fixture->err.message));
		CHECK(false);
		return;
	}
	check_integrity(fixture->path);
	struct store_txn *txn = fixture_begin(fixture, machine->store, STORE_READ);
	CHECK_INT(get_count(txn, fixture->arena, &count, &fixture->err), OK);
	CHECK(count >= machine->acknowledged && count <= machine->attempted);
	while (machine->model.count < count)
		model_advance(&machine->model);
	enum code code = store_get(txn, LEFT, STR("k"), fixture->arena, &value, &fixture->err);
	CHECK(code == OK || (code == ERR_RESOURCE_NOT_FOUND && count == 0));
	for (unsigned i = 0; i < ROWS && code == OK; i++)
		check_row(machine, txn, i);
	code = store_get(txn, TEMPORARY, STR("k"), fixture->arena, &value, &fixture->err);
	CHECK_INT(code, machine->model.has_temporary ? OK : ERR_RESOURCE_NOT_FOUND);
	CHECK_INT(store_commit(txn, &fixture->err), OK);
	store_close(machine->store);
	arena_reset(fixture->arena);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* The disk is a new one in one of so many rounds, so that creation is cut as well. */
static void cut_often(enum durability durability, uint64_t rounds_per_disk, bool fails_syncs)
{
	uint64_t cuts = setting("POWER_CUTS", (fails_syncs ? 24u : 40u) / TEST_SLOWNESS),
		 seed = setting("POWER_SEED", 1);
	struct machine machine = {.random = {seed * 1000 + durability},
				  .mutex = PTHREAD_MUTEX_INITIALIZER,
				  .fails_syncs = fails_syncs};
	uint64_t kept = 0;

	machine.fixture = fixture_new(false);
	machine.fixture.options.durability = durability;
	for (uint64_t i = 0; i < cuts && test_failures == 0; i++) {
		if (draw(&machine.random, rounds_per_disk) == 0) {
			fixture_unlink(&machine.fixture);
			kept += machine.model.count;
			machine.model = (struct model){.count = 0};
		}
		fault_vfs_reset(seed * 1000003 + i);
		live(&machine, rounds_per_disk == 1);
		check_rest(&machine);
		if (test_failures)
			fprintf(stderr,
				"cut %" PRIu64 " of POWER_SEED=%" PRIu64 ": acknowledged %" PRIu64
				", attempted %" PRIu64 ", found %" PRIu64 "\n",
				i, seed, machine.acknowledged, machine.attempted,
				machine.model.count);
	}
	if (getenv("POWER_CUTS"))
		printf("durability %d: %" PRIu64 " cuts, %" PRIu64
		       " of them after closing, %" PRIu64 " transactions kept\n",
		       (int)durability, cuts, machine.closed, kept + machine.model.count);
	fault_vfs_reset(0);
	fixture_free(&machine.fixture);
}

TEST(full_keeps_every_acknowledged_commit)
{
	cut_often(DURABILITY_FULL, 12, false);
}

TEST(normal_keeps_a_beginning)
{
	cut_often(DURABILITY_NORMAL, 12, false);
}

TEST(creation_is_cut_anywhere)
{
	cut_often(DURABILITY_FULL, 1, false);
	cut_often(DURABILITY_NORMAL, 1, false);
}

/* A log of which a sync failed is not on the disk for sure: what is moved from it into the file
 * could not be undone after a cut. */
TEST(nothing_is_moved_from_a_log_that_failed_to_sync)
{
	cut_often(DURABILITY_FULL, 12, true);
	cut_often(DURABILITY_NORMAL, 12, true);
}

/* The shim itself would hide a loss: a disk that is never synced must lose something. */
TEST(without_syncs_something_is_lost)
{
	struct machine machine = {.random = {7}, .mutex = PTHREAD_MUTEX_INITIALIZER};
	bool is_lost = false;

	for (uint64_t i = 0; i < 20 && !is_lost; i++) {
		uint64_t count = 0;

		machine.fixture = fixture_new(false);
		fault_vfs_reset(i);
		CHECK_INT(open_store(&machine), OK);
		CHECK(set_up(&machine));
		run_writers(&machine);
		fault_vfs_cut(1);
		store_close(machine.store);
		fault_vfs_power_on();
		is_lost = open_store(&machine) != OK;
		if (!is_lost) {
			struct store_txn *txn =
				fixture_begin(&machine.fixture, machine.store, STORE_READ);

			is_lost = get_count(txn, machine.fixture.arena, &count,
					    &machine.fixture.err) != OK ||
				  count < machine.acknowledged;
			store_abort(txn);
			store_close(machine.store);
		}
		fixture_free(&machine.fixture);
	}
	CHECK(is_lost);
	fault_vfs_reset(0);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(full_keeps_every_acknowledged_commit),
		TEST_CASE(normal_keeps_a_beginning),
		TEST_CASE(creation_is_cut_anywhere),
		TEST_CASE(nothing_is_moved_from_a_log_that_failed_to_sync),
		TEST_CASE(without_syncs_something_is_lost),
	};

	fault_vfs_install();
	return test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
}
