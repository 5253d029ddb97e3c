/*
 * Streams of a table that two processes write: two catalogs on one store, SQLite's or the
 * optimistic one. Whatever both do, a reader sees each change once, in the order of commits, with
 * times that rise.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "storage/check.h"
#include "storage/stream/stream_read.h"
#include "storage/upkeep/stream_sweep.h"
#include "tests/unit/storage/processes_fixture.h"

#define ITEMS 20
#define STEPS (1500 / TEST_SLOWNESS)
#define START_MS INT64_C(1700000000000)

/* What was committed is kept in order. */
struct shared {
	struct processes processes;
	struct arena *arena;
	size_t n;
	int *changes; /* value that each change put */
	int64_t *times_ms; /* that the records must have */
	int64_t latest_ms;
	int value;
};

static uint64_t seed;

/* A record's or a shard's time is that of the latest before it, where that is later. */
static int64_t risen(struct shared *shared, int64_t now_ms)
{
	shared->latest_ms = now_ms > shared->latest_ms ? now_ms : shared->latest_ms;
	return shared->latest_ms;
}

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static struct shared shared_new(const struct catalog_options *options, bool is_optimistic)
{
	struct table *table = data_table("data");

	table->indexes.n = 0;
	table->streams.v = ARENA_NEW(table->arena, struct stream);
	table->streams.v[0] = (struct stream){.label = STR("first"),
					      .number = 1,
					      .view = STREAM_NEW_AND_OLD_IMAGES,
					      .created_ms = START_MS};
	table->streams.n = 1;
	table->streams.view = STREAM_NEW_AND_OLD_IMAGES;
	table->streams.label = STR("first");
	return (struct shared){.processes = processes_new(options, is_optimistic, table, START_MS),
			       .arena = arena_new(0),
			       .latest_ms = START_MS};
}

static void shared_free(struct shared *shared)
{
	processes_free(&shared->processes);
	arena_free(shared->arena);
}

/* Puts `n` values by one process in one transaction, which notes them once it is committed; or
 * which a condition refuses. */
static enum code put(struct shared *shared, int process, int n, bool is_refused, int64_t now_ms)
{
	struct data *d = &shared->processes.of[process];
	struct write writes[4];
	int first = shared->value;

	shared->value += n;
	arena_reset(d->arena);
	d->err = err_in(d->arena);
	for (int i = 0; i < n + is_refused; i++) {
		const char *sk = str_printf(d->arena, "N%d", i < n ? (first + i) % ITEMS : ITEMS).p,
			   *v = str_printf(d->arena, "N%d", first + i).p;

		writes[i] =
			(struct write){.kind = WRITE_PUT,
				       .table = d->table,
				       .item = data_item(d, "pk", "Sa", "sk", sk, "v", v, NULL)};
		if (i == n)
			writes[i].condition =
				data_condition(d, EXPR_CONDITION, "attribute_exists(pk)", NULL);
		CHECK_INT(write_prepare(d->arena, &writes[i], &d->err), OK);
	}
	enum code code = write_run(d->catalog, d->arena, writes, (size_t)n + is_refused,
				   WRITE_TRANSACTION, NULL, now_ms, &d->err);
	for (int i = 0; i < n && code == OK; i++) {
		shared->changes = arena_room(shared->arena, shared->changes, shared->n,
					     sizeof(*shared->changes));
		shared->times_ms = arena_room(shared->arena, shared->times_ms, shared->n,
					      sizeof(*shared->times_ms));
		shared->changes[shared->n] = first + i;
		shared->times_ms[shared->n++] = risen(shared, now_ms);
	}
	return code;
}

struct seen {
	struct shared *shared;
	size_t n; /* changes that were seen, or were too old to be */
	uint64_t sequence;
	int wrong;
};

typedef void see_record(void *context, const struct stream_record *record,
			const struct value *keys);

static enum code see_page(struct data *d, struct stream_cursor *cursor, size_t limit,
			  see_record *see, void *context)
{
	struct stream_page page;
	enum code code = stream_read_page(d->store, d->arena, cursor, limit, &page, &d->err);

	for (size_t i = 0; i < page.n; i++)
		see(context, &page.v[i].record, &page.v[i].keys);
	return code;
}

static void see(void *context, const struct stream_record *record, const struct value *keys)
{
	struct seen *seen = context;
	struct value v;
	int64_t value = -1;

	(void)keys;
	seen->wrong +=
		!image_get(seen->shared->processes.of[0].arena, record->new_image, STR("v"), &v) ||
		!number_to_int(value_str(&v), &value);
	seen->wrong += seen->n >= seen->shared->n || seen->shared->changes[seen->n] != value ||
		       record->created_ms != seen->shared->times_ms[seen->n];
	seen->wrong += record->sequence <= seen->sequence;
	seen->sequence = record->sequence;
	seen->n++;
}

static void tell(void *context, struct str line)
{
	(void)context;
	fprintf(stderr, "found: " STR_FMT "\n", STR_ARG(line));
}

/* Every change of the last day is in the stream, once and in order; and its rows agree. */
static void check_shared(struct shared *shared, int64_t now_ms)
{
	struct data *d = &shared->processes.of[0];
	struct seen seen = {.shared = shared};
	struct stream_shard_page page = {.limit = 1};
	struct check_report report = {.tell = tell};

	while (seen.n < shared->n && shared->times_ms[seen.n] < now_ms - STREAM_RETENTION_MS)
		seen.n++;
	for (bool is_more = true; is_more; page.from++) {
		arena_reset(d->arena);
		d->err = err_in(d->arena);
		CHECK_INT(stream_read_shards(d->store, d->arena, d->table, &d->table->streams.v[0],
					     now_ms, &page, &d->err),
			  OK);
		is_more = page.n > 0 && test_failures == 0;
		if (!is_more)
			break;
		page.from = page.shards[0].stamp;
		struct stream_cursor cursor = {.table = d->table,
					       .stream = &d->table->streams.v[0],
					       .shard = page.from,
					       .now_ms = now_ms};
		CHECK_INT(stream_read_start(d->store, d->arena, &cursor, STREAM_START_TRIM_HORIZON,
					    0, 0, &d->err),
			  OK);
		for (size_t before = SIZE_MAX; before != seen.n;) {
			before = seen.n;
			CHECK_INT(see_page(d, &cursor, 1000, see, &seen), OK);
		}
	}
	CHECK_INT(seen.wrong, 0);
	CHECK_INT(seen.n, shared->n);
	CHECK_INT(check_store(d->store, NULL, now_ms, &report, &d->err), OK);
	CHECK_INT(report.findings, 0);
}

TEST(two_processes_append_in_one_order)
{
	for (int is_optimistic = 0; is_optimistic < 2; is_optimistic++) {
		struct catalog_options options = {0};
		struct shared shared = shared_new(&options, is_optimistic);

		for (int i = 0; i < 10; i++)
			CHECK_INT(put(&shared, i % 2, 1, false, START_MS + i), OK);
		check_shared(&shared, START_MS + 10);
		CHECK_INT(shared.n, 10);
		shared_free(&shared);
	}
}

/* Times that jump: the processes' clocks differ by up to two hours, and all together they go on for
 * many days. */
TEST(whatever_two_processes_do_no_change_is_lost)
{
	static const struct stream_rotation rotations[] = {
		{0, 0}, {1, 0}, {5, 0}, {0, 4 * 3600 * 1000}};

	for (size_t r = 0; r < 2 * sizeof(rotations) / sizeof(rotations[0]); r++) {
		struct catalog_options options = {.rotation = rotations[r / 2]};
		struct shared shared = shared_new(&options, r % 2);
		int64_t now_ms = START_MS;

		seed = r;
		for (int step = 0; step < STEPS && test_failures == 0; step++) {
			int process = (int)dice(PROCESSES);
			struct data *d = &shared.processes.of[process];
			unsigned what = dice(20);
			int64_t own_ms = now_ms - process * (int64_t)dice(2 * 3600 * 1000);

			now_ms += dice(step % 300 < 250 ? 60 * 1000 : 3 * 3600 * 1000);
			if (what == 0)
				CHECK_INT(stream_sweep(d->catalog, TIMES_AT(own_ms), &d->err), OK);
			else if (what == 1)
				{
				CHECK_INT(stream_rotate(d->store, d->table, own_ms, &d->err), OK);
				risen(&shared, own_ms);
			}
			else if (what == 2)
				CHECK_INT(put(&shared, process, 2, true, own_ms),
					  ERR_TRANSACTION_CANCELED);
			else
				CHECK_INT(put(&shared, process, 1 + (int)dice(3), false, own_ms),
					  OK);
			if (step % 50 == 0)
				check_shared(&shared, now_ms);
		}
		check_shared(&shared, now_ms);
		shared_free(&shared);
	}
}

struct meanwhile {
	struct shared *shared;
	int process, n;
	int64_t now_ms;
};

static void put_meanwhile(void *context)
{
	struct meanwhile *meanwhile = context;

	for (int i = 0; i < meanwhile->n; i++)
		CHECK_INT(put(meanwhile->shared, meanwhile->process, 1, false, meanwhile->now_ms),
			  OK);
}

/* The commit of one is refused, and the other appends before it is run again. */
TEST(a_retry_takes_new_numbers)
{
	for (int n = 0; n < 4; n++) {
		struct catalog_options options = {.rotation = {.records = 3}};
		struct shared shared = shared_new(&options, false);
		struct meanwhile meanwhile = {&shared, 1, n, START_MS + 5};

		CHECK_INT(put(&shared, 0, 1, false, START_MS), OK);
		CHECK_INT(put(&shared, 1, 1, false, START_MS), OK);
		trace_store_after(shared.processes.of[0].store, TRACE_COMMIT, put_meanwhile,
				  &meanwhile);
		trace_store_fail_next(shared.processes.of[0].store, TRACE_COMMIT, ERR_CONFLICT);
		CHECK_INT(put(&shared, 0, 2, false, START_MS + 3), OK);
		CHECK_INT(put(&shared, 1, 1, false, START_MS + 3), OK);
		check_shared(&shared, START_MS + 10);
		CHECK_INT(shared.n, 5 + (size_t)n);
		shared_free(&shared);
	}
}

/* An append costs a look at a row that is kept in memory and one at the number, and no scan. */
TEST(an_append_verifies_by_one_row)
{
	struct catalog_options options = {0};
	struct shared shared = shared_new(&options, false);
	struct store *store = shared.processes.of[0].store;
	struct keyspace keyspace = stream_keyspace(shared.processes.of[0].table);

	CHECK_INT(put(&shared, 0, 1, false, START_MS), OK);
	trace_store_reset(store);
	CHECK_INT(put(&shared, 0, 3, false, START_MS), OK);
	CHECK_INT(trace_store_count_in(store, TRACE_GET, keyspace), 1);
	CHECK_INT(trace_store_count_in(store, TRACE_PAGE, keyspace), 0);
	CHECK_INT(trace_store_count_in(store, TRACE_PUT, keyspace), 3);
	shared_free(&shared);
}

/* Trimming that meets another process's leaves the rest to the next round. */
TEST(a_conflict_between_two_sweeps_harms_nobody)
{
	struct catalog_options options = {.rotation = {.records = 2}};
	struct shared shared = shared_new(&options, false);
	int64_t now_ms = START_MS + STREAM_RETENTION_MS + 1000;

	for (int i = 0; i < 20; i++)
		CHECK_INT(put(&shared, i % 2, 1, false, START_MS + i), OK);
	trace_store_fail_next(shared.processes.of[0].store, TRACE_COMMIT, ERR_CONFLICT);
	CHECK_INT(stream_sweep(shared.processes.of[0].catalog, TIMES_AT(now_ms),
			       &shared.processes.of[0].err),
		  OK);
	CHECK_INT(stream_sweep(shared.processes.of[1].catalog, TIMES_AT(now_ms),
			       &shared.processes.of[1].err),
		  OK);
	CHECK_INT(stream_sweep(shared.processes.of[0].catalog, TIMES_AT(now_ms),
			       &shared.processes.of[0].err),
		  OK);
	check_shared(&shared, now_ms);
	CHECK_INT(put(&shared, 0, 1, false, now_ms), OK);
	CHECK_INT(put(&shared, 1, 1, false, now_ms), OK);
	check_shared(&shared, now_ms);
	shared_free(&shared);
}

TEST(a_deleted_tables_stream_is_dropped_by_either)
{
	for (int way = 0; way < 4; way++) {
		struct catalog_options options = {0};
		struct shared shared = shared_new(&options, way % 2);
		int64_t now_ms = START_MS + STREAM_RETENTION_MS + 2;
		struct table_list tables;

		CHECK_INT(put(&shared, 0, 1, false, START_MS), OK);
		CHECK_INT(put(&shared, 1, 1, false, START_MS), OK);
		CHECK_INT(catalog_delete(shared.processes.of[way / 2].catalog,
					 shared.processes.of[way / 2].table, START_MS + 1,
					 &shared.processes.of[way / 2].err),
			  OK);
		for (int i = 0; i < PROCESSES; i++) {
			struct data *d = &shared.processes.of[i];

			CHECK_INT(stream_sweep(d->catalog, TIMES_AT(START_MS + 2), &d->err), OK);
			tables = data_marked(d->catalog, MARK_STREAM, STR_ABSENT);
			CHECK_INT(tables.n, 1);
			table_unref(tables.v[0]);
		}
		for (int i = 0; i < 2 * PROCESSES; i++) {
			struct data *d = &shared.processes.of[i % PROCESSES];

			CHECK_INT(stream_sweep(d->catalog, TIMES_AT(now_ms), &d->err), OK);
			tables = data_marked(d->catalog, MARK_STREAM, STR_ABSENT);
			CHECK_INT(tables.n, 0);
		}
		shared_free(&shared);
	}
}

#define WRITERS 8
#define WRITES (150 / TEST_SLOWNESS)
#define RECORDS_MAX (2 * WRITERS * 150)

struct worker {
	pthread_t thread;
	struct shared *shared;
	struct data data; /* a process's store, catalog and table, and an arena of its own */
	int number;
	int done, unknown;
	uint64_t seed;
	pthread_barrier_t *begin;
	atomic_bool *is_over;
	size_t n;         /* of a follower: records that it saw */
	uint64_t *sequences;
};

static unsigned draw(struct worker *worker, unsigned n)
{
	worker->seed = worker->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(worker->seed >> 33) % n;
}

static void *write_at_random(void *context)
{
	struct worker *worker = context;
	struct data *d = &worker->data;

	pthread_barrier_wait(worker->begin);
	for (int i = 0; i < WRITES; i++) {
		struct write writes[2];
		size_t n = 1 + draw(worker, 2);
		unsigned first = draw(worker, ITEMS);

		arena_reset(d->arena);
		d->err = err_in(d->arena);
		for (size_t k = 0; k < n; k++) {
			const char *sk = str_printf(d->arena, "N%zu", (first + k) % ITEMS).p,
				   *v = str_printf(d->arena, "N%d", worker->number * WRITES + i).p;

			writes[k] = (struct write){
				.kind = WRITE_PUT,
				.table = d->table,
				.item = data_item(d, "pk", "Sa", "sk", sk, "v", v, NULL)};
			CHECK_INT(write_prepare(d->arena, &writes[k], &d->err), OK);
		}
		enum code code = write_run(d->catalog, d->arena, writes, n, WRITE_TRANSACTION, NULL,
					   START_MS + i, &d->err);
		worker->done += code == OK ? (int)n : 0;
		worker->unknown += code == ERR_STORE_UNKNOWN ? (int)n : 0;
	}
	return NULL;
}

static void note(void *context, const struct stream_record *record, const struct value *keys)
{
	struct worker *worker = context;

	(void)keys;
	if (worker->n < RECORDS_MAX)
		worker->sequences[worker->n++] = record->sequence;
}

/* Reads shard after shard while others write; a shard that it read to its end it does not look at
 * again. */
static void *follow(void *context)
{
	struct worker *worker = context;
	struct data *d = &worker->data;
	struct stream_cursor cursor = {
		.table = d->table, .stream = &d->table->streams.v[0], .now_ms = START_MS};
	bool is_last;

	pthread_barrier_wait(worker->begin);
	do {
		struct stream_shard_page page = {.from = cursor.shard + 1, .limit = 1};
		size_t before = worker->n;

		is_last = atomic_load(worker->is_over);
		arena_reset(d->arena);
		d->err = err_in(d->arena);
		if (cursor.shard == 0 || cursor.is_at_end) {
			CHECK_INT(stream_read_shards(d->store, d->arena, d->table,
						     &d->table->streams.v[0], START_MS, &page,
						     &d->err),
				  OK);
			if (page.n > 0) {
				cursor.shard = page.shards[0].stamp;
				cursor.is_at_end = false;
				CHECK_INT(stream_read_start(d->store, d->arena, &cursor,
							    STREAM_START_TRIM_HORIZON, 0, 0,
							    &d->err),
					  OK);
			}
		}
		CHECK_INT(see_page(d, &cursor, 10, note, worker), OK);
		is_last = is_last && worker->n == before && !cursor.is_at_end;
	} while (!is_last && test_failures == 0);
	return NULL;
}

struct replay {
	struct data *data;
	struct str images[ITEMS];
	size_t n;
	int wrong;
	const struct worker *follower;
};

/* Each record goes on from the image that the one before it left. */
static void replay(void *context, const struct stream_record *record, const struct value *keys)
{
	struct replay *replay = context;
	int64_t item = 0;

	replay->wrong += !number_to_int(value_str(&keys->members[1].value), &item) || item < 0 ||
			 item >= ITEMS;
	struct str *image = &replay->images[item];
	replay->wrong += str_is_set(*image) != str_is_set(record->old_image) ||
			 (str_is_set(*image) && !str_eq(*image, record->old_image));
	replay->wrong += replay->n >= replay->follower->n ||
			 replay->follower->sequences[replay->n] != record->sequence;
	*image = str_copy(replay->data->arena, record->new_image);
	replay->n++;
}

static void check_replay(struct shared *shared, const struct worker *workers)
{
	struct data *d = &shared->processes.of[0];
	struct replay all = {.data = d, .follower = &workers[WRITERS]};
	struct stream_shard_page page = {.limit = RECORDS_MAX};
	int done = 0, unknown = 0;

	for (int i = 0; i < ITEMS; i++)
		all.images[i] = STR_ABSENT;
	CHECK_INT(stream_read_shards(d->store, d->arena, d->table, &d->table->streams.v[0],
				     START_MS, &page, &d->err),
		  OK);
	for (size_t i = 0; i < page.n; i++) {
		struct stream_cursor cursor = {.table = d->table,
					       .stream = &d->table->streams.v[0],
					       .shard = page.shards[i].stamp,
					       .now_ms = START_MS};

		CHECK_INT(stream_read_start(d->store, d->arena, &cursor, STREAM_START_TRIM_HORIZON,
					    0, 0, &d->err),
			  OK);
		CHECK_INT(see_page(d, &cursor, RECORDS_MAX, replay, &all), OK);
	}
	for (int i = 0; i < WRITERS; i++) {
		done += workers[i].done;
		unknown += workers[i].unknown;
	}
	CHECK_INT(all.wrong, 0);
	CHECK(all.n == all.follower->n && (int)all.n >= done && (int)all.n <= done + unknown);
	for (int i = 0; i < ITEMS; i++) {
		struct str image = data_get(
			d, data_item(d, "pk", "Sa", "sk", str_printf(d->arena, "N%d", i).p, NULL));

		CHECK(str_is_set(image) == str_is_set(all.images[i]) &&
		      (!str_is_set(image) || str_eq(image, all.images[i])));
	}
}

/* Lets others in between two calls of a transaction, again and again. */
static void pause_after_get(void *store)
{
	nanosleep(&(struct timespec){0, 20000}, NULL);
	trace_store_after(store, TRACE_GET, pause_after_get, store);
}

/* Commits fail in every way; one more thread follows the stream meanwhile and misses nothing. */
TEST(writers_of_two_processes_race)
{
	static const struct stream_rotation rotations[] = {{0, 0}, {7, 0}};

	for (int r = 0; r < 4; r++) {
		struct catalog_options options = {.rotation = rotations[r / 2]};
		struct shared shared = shared_new(&options, true);
		struct optimistic_faults faults = {.conflict = 50,
						   .unavailable = 10,
						   .unknown_done = 10,
						   .unknown_lost = 10,
						   .seed = (uint64_t)r};
		struct worker workers[WRITERS + 1] = {0};
		atomic_bool is_over = false;
		pthread_barrier_t begin;

		pthread_barrier_init(&begin, NULL, WRITERS + 1);
		if (r % 2)
			optimistic_db_fail(shared.processes.db, &faults);
		for (int i = 0; i < PROCESSES; i++)
			pause_after_get(shared.processes.of[i].store);
		for (int i = 0; i <= WRITERS; i++) {
			workers[i] = (struct worker){.shared = &shared,
						     .data = shared.processes.of[i % PROCESSES],
						     .number = i,
						     .seed = (uint64_t)i,
						     .is_over = &is_over};
			workers[i].begin = &begin;
			workers[i].data.arena = arena_new(1 << 20);
			workers[i].sequences =
				i == WRITERS ? ARENA_ARRAY(shared.arena, uint64_t, RECORDS_MAX)
					     : NULL;
			CHECK_INT(pthread_create(&workers[i].thread, NULL,
						 i < WRITERS ? write_at_random : follow,
						 &workers[i]),
				  0);
		}
		for (int i = 0; i < WRITERS; i++)
			pthread_join(workers[i].thread, NULL);
		atomic_store(&is_over, true);
		pthread_join(workers[WRITERS].thread, NULL);
		faults = (struct optimistic_faults){0};
		optimistic_db_fail(shared.processes.db, &faults);
		check_replay(&shared, workers);
		CHECK(optimistic_db_counts(shared.processes.db).conflicts > 0);
		pthread_barrier_destroy(&begin);
		for (int i = 0; i <= WRITERS; i++)
			arena_free(workers[i].data.arena);
		shared_free(&shared);
	}
}

TEST_MAIN(TEST_CASE(two_processes_append_in_one_order),
	  TEST_CASE(whatever_two_processes_do_no_change_is_lost),
	  TEST_CASE(a_retry_takes_new_numbers), TEST_CASE(an_append_verifies_by_one_row),
	  TEST_CASE(writers_of_two_processes_race),
	  TEST_CASE(a_deleted_tables_stream_is_dropped_by_either),
	  TEST_CASE(a_conflict_between_two_sweeps_harms_nobody))
