/*
 * Faults of the disk, and of SQLite's memory: for requests of every kind, calls that SQLite makes
 * fail. The answer is InternalServerError or the right one, clients see what was before or what
 * should be afterwards, and when the fault is over everything works again, in this process and
 * after the next start.
 *
 * FAULTS_ALL=1 fails each call; else some of the many allocations are left out.
 */
#include <sqlite3.h>
#include <stdatomic.h>

#include "storage/store/sqlite/page_file.h"
#include "tests/unit/protocol/world.h"
#include "tests/unit/storage/fault_vfs.h"

#define FAILURES_MAX 10 /* told before a test gives up */

/* SQLite's memory, of which the n-th allocation from now fails; 0: none does. */
static struct {
	sqlite3_mem_methods real;
	atomic_llong fail_in;
	atomic_bool has_failed;
} memory;

static bool is_exhausted(void)
{
	if (atomic_load(&memory.fail_in) == 0 || atomic_fetch_sub(&memory.fail_in, 1) != 1)
		return false;
	atomic_store(&memory.has_failed, true);
	return true;
}

static void *memory_malloc(int n)
{
	return is_exhausted() ? NULL : memory.real.xMalloc(n);
}

static void *memory_realloc(void *p, int n)
{
	return is_exhausted() ? NULL : memory.real.xRealloc(p, n);
}

static void memory_install(void)
{
	sqlite3_mem_methods methods;

	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real) != SQLITE_OK)
		abort();
	methods = memory.real;
	methods.xMalloc = memory_malloc;
	methods.xRealloc = memory_realloc;
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
		abort();
}

/* What fails: a call of the file system, or an allocation. A full disk stays full until there is
 * room again. */
static const struct kind {
	const char *name;
	unsigned calls; /* 0: allocations */
	int result;
	bool is_sticky;
	bool is_last; /* after it a store may refuse to write until the next start: nobody knows
			 what the disk has */
} kinds[] = {
	{"a full disk", FAULT_WRITE, SQLITE_FULL, true, false},
	{"a write", FAULT_WRITE, SQLITE_IOERR_WRITE, false, false},
	{"a short write", FAULT_WRITE, SQLITE_FULL, false, false},
	{"a file system that became read-only", FAULT_CHANGES & ~FAULT_SYNC, SQLITE_IOERR_WRITE,
	 true, false},
	{"a sync", FAULT_SYNC, SQLITE_IOERR_FSYNC, false, true},
	{"a read", FAULT_READ, SQLITE_IOERR_READ, false, false},
	{"a size", FAULT_SIZE, SQLITE_IOERR_FSTAT, false, false},
	{"a lock", FAULT_LOCK, SQLITE_IOERR_LOCK, false, false},
	{"shared memory", FAULT_SHM, SQLITE_IOERR_SHMMAP, false, false},
	{"an allocation", 0, SQLITE_NOMEM, false, false},
};

static void strike_at(const struct kind *kind, uint64_t n)
{
	atomic_store(&memory.has_failed, false);
	if (kind->calls)
		fault_vfs_fail(kind->calls, n, kind->result, kind->is_sticky);
	else
		atomic_store(&memory.fail_in, (long long)n);
}

/* Ends the fault; whether it struck. */
static bool strike_end(const struct kind *kind)
{
	bool has_struck = kind->calls ? fault_vfs_has_failed() : atomic_load(&memory.has_failed);

	fault_vfs_fail(0, 0, 0, false);
	atomic_store(&memory.fail_in, 0);
	return has_struck;
}

static struct world_place place;

/* A world of the beginning whose caches are cold. */
static struct world world_fresh(void)
{
	world_place_reset(&place);
	fault_vfs_reset(1);
	return world_open(place.path);
}

struct trial {
	const struct world_scenario *scenario;
	const struct kind *kind;
	struct arena *arena;
	struct str before, after, answer; /* what is seen, what is told */
};

static void fail(const struct trial *trial, uint64_t n, const char *what)
{
	fprintf(stderr, "%s %s\n\t%s fails, number %llu: %s\n", trial->scenario->request.op,
		trial->scenario->request.body, trial->kind->name, (unsigned long long)n, what);
	test_failures++;
}

static bool check_integrity(const char *path)
{
	sqlite3_stmt *statement = NULL;
	sqlite3 *db = NULL;

	bool is_sound = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, page_file_system()) ==
				SQLITE_OK &&
			sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) ==
				SQLITE_OK &&
			sqlite3_step(statement) == SQLITE_ROW &&
			strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return is_sound;
}

static const struct world_request put_proof = {"PutItem",
					       "{'TableName':'vec','Item':{'pk':{'S':'proof'}}}"};
static const struct world_request delete_proof = {"DeleteItem",
						  "{'TableName':'vec','Key':{'pk':{'S':'proof'}}}"};

static bool is_failure(const struct op_response *response)
{
	return response->status == 500 &&
	       str_contains(response->body, STR("#InternalServerError\""));
}

/* Whether it is the right answer. */
static bool check_answer(struct trial *trial, const struct op_response *response, uint64_t n)
{
	bool is_right = response->status == trial->scenario->status &&
			str_eq(response->body, trial->answer);

	if (!is_right && !is_failure(response)) {
		fail(trial, n, "neither the right answer nor InternalServerError:");
		fprintf(stderr, "\t%d " STR_FMT "\n", response->status, STR_ARG(response->body));
	}
	return is_right;
}

/* After the fault: the right state, and a store that takes and gives rows. */
static void check_after_fault(struct trial *trial, struct world *world,
			      const struct op_response *response, uint64_t n, bool *is_changed)
{
	bool is_right = check_answer(trial, response, n);

	world_upkeep(world);
	struct str now = world_view(world, world->arena);
	bool is_before = str_eq(now, trial->before), is_after = str_eq(now, trial->after);
	if (!is_before && !is_after)
		fail(trial, n, "what is seen is neither as before nor as after");
	if (is_right && !is_after)
		fail(trial, n, "answered, but not done");
	if (!str_eq(now, world_view_anew(world, world->arena)))
		fail(trial, n, "what is in memory differs from what is stored");
	int status = strstr(trial->scenario->request.body, "'vec'") &&
				     strstr(trial->scenario->request.op, "DeleteTable") && is_after
			     ? 400
			     : 200;
	if (world_call(world, put_proof).status != status ||
	    world_call(world, delete_proof).status != status)
		fail(trial, n, "no writing after the fault");
	*is_changed = !is_before;
}

/* Ends the process's part; the next start sees the same, or what was under way after all. */
static void check_next_start(struct trial *trial, struct world *world, uint64_t n)
{
	struct str last = world_view(world, trial->arena);

	world_free(world);
	if (!check_integrity(place.path))
		fail(trial, n, "the file is not sound");
	struct world next = world_open(place.path);
	world_upkeep(&next);
	if (!str_eq(world_view(&next, next.arena), last))
		fail(trial, n, "the next start sees something else");
	world_free(&next);
}

/* The same where the store may have ended its writing: an answer that is no failure is true after
 * the next start. */
static void check_last(struct trial *trial, struct world *world, const struct op_response *response,
		       uint64_t n)
{
	bool is_right = check_answer(trial, response, n);
	struct op_response proof = world_call(world, delete_proof);

	if (proof.status >= 500 && !is_failure(&proof))
		fail(trial, n, "not InternalServerError afterwards");
	world_free(world);
	if (!check_integrity(place.path))
		fail(trial, n, "the file is not sound");
	struct world next = world_open(place.path);
	world_upkeep(&next);
	struct str now = world_view(&next, next.arena);
	if (!str_eq(now, trial->after) && (is_right || !str_eq(now, trial->before)))
		fail(trial, n, "the next start sees something else");
	world_free(&next);
}

static void run_without_fault(struct trial *trial)
{
	struct world world = world_fresh();

	trial->before = world_view(&world, trial->arena);
	struct op_response response = world_call(&world, trial->scenario->request);
	CHECK_INT(response.status, trial->scenario->status);
	trial->answer = str_copy(trial->arena, response.body);
	world_upkeep(&world);
	trial->after = world_view(&world, trial->arena);
	world_free(&world);
}

static uint64_t next_number(const struct kind *kind, uint64_t n)
{
	return n + 1 + (kind->calls || getenv("FAULTS_ALL") ? 0 : n * TEST_SLOWNESS / 4);
}

static void fail_often(struct trial *trial)
{
	struct world world = world_fresh();
	bool is_changed = false;
	uint64_t n = 1, last = 0;

	for (; test_failures <= FAILURES_MAX; n = next_number(trial->kind, n)) {
		strike_at(trial->kind, n);
		struct op_response response = world_call(&world, trial->scenario->request);
		if (!strike_end(trial->kind))
			break;
		last = n;
		if (trial->kind->is_last) {
			check_last(trial, &world, &response, n);
			world = world_fresh();
			continue;
		}
		check_after_fault(trial, &world, &response, n, &is_changed);
		if (is_changed) {
			check_next_start(trial, &world, n);
			world = world_fresh();
		}
	}
	check_next_start(trial, &world, last);
}

static void fail_kind(const struct kind *kind)
{
	for (size_t i = 0; i < WORLD_SCENARIOS && test_failures <= FAILURES_MAX; i++) {
		struct trial trial = {
			.scenario = &world_scenarios[i], .kind = kind, .arena = arena_new(1 << 20)};

		run_without_fault(&trial);
		fail_often(&trial);
		arena_free(trial.arena);
	}
}

TEST(a_full_disk)
{
	fail_kind(&kinds[0]);
}

TEST(errors_of_the_disk)
{
	for (size_t i = 1; i < sizeof(kinds) / sizeof(kinds[0]) - 1; i++)
		fail_kind(&kinds[i]);
}

TEST(memory_of_the_library)
{
	fail_kind(&kinds[sizeof(kinds) / sizeof(kinds[0]) - 1]);
}

/* Opening fails in one line or succeeds; the file is as sound as it was. */
TEST(opening_the_file)
{
	struct arena *arena = arena_new(1 << 20);
	struct world world = world_fresh();
	struct str view = world_view(&world, arena);

	world_free(&world);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (uint64_t n = 1; test_failures <= FAILURES_MAX; n = next_number(&kinds[i], n)) {
			struct sqlite_store_options options = {.path = place.path,
							       .durability = DURABILITY_FULL,
							       .readers = 1,
							       .cache_bytes = 1 << 20};
			struct err err = err_in(arena);
			struct store *store = NULL;

			strike_at(&kinds[i], n);
			enum code code = sqlite_store_open(&options, &store, &err);
			bool has_struck = strike_end(&kinds[i]);
			if (code == OK)
				store_close(store);
			else
				CHECK(code == ERR_INTERNAL || code == ERR_STORE_FULL);
			CHECK(has_struck || code == OK);
			world = world_open(place.path);
			CHECK(str_eq(world_view(&world, world.arena), view));
			world_free(&world);
			if (!has_struck)
				break;
		}
	}
	arena_free(arena);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(a_full_disk),
		TEST_CASE(errors_of_the_disk),
		TEST_CASE(memory_of_the_library),
		TEST_CASE(opening_the_file),
	};

	memory_install();
	fault_vfs_install();
	place = world_place_new();
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	world_place_free(&place);
	return status;
}
