/*
 * Upkeep of several processes: who holds a lease, what it costs, and that a piece of work is done
 * once. Each process has a catalog and leases of its own on one optimistic store; their real time
 * is the test's.
 */
#include "storage/stream/stream_position.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/lease.h"
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/optimistic_store.h"

enum { A, B, PROCESSES };

#define LENGTH 9000
#define DAY 86400000LL
#define ROWS 40

static int64_t real_now;

static int64_t real_time(void)
{
	return real_now;
}

struct pair {
	struct optimistic_db *db;
	struct data of[PROCESSES]; /* their tables are their own snapshots of "data" */
	struct leases *leases[PROCESSES];
};

static struct pair pair_new(const struct catalog_options *options)
{
	struct pair pair = {.db = optimistic_db_new()};

	real_now = 1000000;
	for (int i = 0; i < PROCESSES; i++) {
		struct data *data = &pair.of[i];

		*data = (struct data){.arena = arena_new(1 << 20),
				      .store = trace_store_new(optimistic_open(pair.db))};
		data->err = err_in(data->arena);
		pair.leases[i] = lease_open(&(struct lease_options){
			.store = data->store, .length_ms = LENGTH, .now_ms = real_time});
		CHECK_INT(catalog_open(data->store, options, &data->catalog, &data->err), OK);
		if (i == A)
			CHECK_INT(catalog_create(data->catalog, DATA_NS, data_table("data"), 1000,
						 &data->table, &data->err),
				  OK);
		else
			CHECK_INT(catalog_get(data->catalog, DATA_NS, STR("data"), 5000,
					      &data->table, &data->err),
				  OK);
	}
	return pair;
}

static void pair_free(struct pair *pair)
{
	for (int i = 0; i < PROCESSES; i++) {
		lease_close(pair->leases[i]);
		data_free(&pair->of[i]);
	}
	optimistic_db_unref(pair->db);
}

/* A's or B's upkeep at a time of the tables' clock. */
static struct times times_of(const struct pair *pair, int process, int64_t *now_ms)
{
	return (struct times){times_tell_one, now_ms, pair->leases[process]};
}

static bool take(struct pair *pair, int process)
{
	bool is_held;

	CHECK_INT(lease_take(pair->leases[process], STR("work"), &is_held, NULL,
			     &pair->of[process].err),
		  OK);
	return is_held;
}

static const struct keyspace counters = {0, SYSTEM_COUNTERS};

static uint64_t puts_of(const struct pair *pair, int process, struct keyspace keyspace)
{
	return trace_store_count_in(pair->of[process].store, TRACE_PUT, keyspace);
}

TEST(one_process_holds_it_until_it_runs_out)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);

	CHECK(take(&pair, A));
	CHECK(!take(&pair, B));
	real_now += LENGTH - 1;
	CHECK(take(&pair, A));
	real_now += LENGTH - 1;
	CHECK(!take(&pair, B));
	CHECK(lease_is_held(pair.leases[A], STR("work")));
	real_now += 1;
	CHECK(!lease_is_held(pair.leases[A], STR("work")));
	CHECK(take(&pair, B));
	CHECK(!take(&pair, A));
	lease_release(pair.leases[A], STR("work")); /* it is not A's any more */
	CHECK(!take(&pair, A));
	lease_release(pair.leases[B], STR("work"));
	CHECK(take(&pair, A));
	pair_free(&pair);
}

TEST(it_is_new_when_another_may_have_held_it)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);
	struct err *err = &pair.of[A].err;
	bool is_held, is_new;

	CHECK_INT(lease_take(pair.leases[A], STR("work"), &is_held, &is_new, err), OK);
	CHECK(is_held && is_new);
	real_now += LENGTH / 2;
	CHECK_INT(lease_take(pair.leases[A], STR("work"), &is_held, &is_new, err), OK);
	CHECK(is_held && !is_new);
	real_now += LENGTH;
	CHECK_INT(lease_take(pair.leases[A], STR("work"), &is_held, &is_new, err), OK);
	CHECK(is_held && is_new);
	pair_free(&pair);
}

TEST(the_row_is_written_once_in_a_third_of_its_time)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);

	trace_store_reset(pair.of[A].store);
	for (int i = 0; i < 90; i++) {
		CHECK(take(&pair, A));
		real_now += LENGTH / 90;
	}
	CHECK_INT(puts_of(&pair, A, counters), 3);
	trace_store_reset(pair.of[B].store);
	for (int i = 0; i < 90; i++)
		CHECK(!take(&pair, B));
	CHECK_INT(trace_store_count(pair.of[B].store, TRACE_COMMIT), 0);
	pair_free(&pair);
}

TEST(a_process_that_is_alone_writes_none)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);
	struct leases *alone =
		lease_open(&(struct lease_options){.store = pair.of[A].store, .is_alone = true});
	bool is_held;

	CHECK(take(&pair, B));
	trace_store_reset(pair.of[A].store);
	CHECK_INT(lease_take(alone, STR("work"), &is_held, NULL, &pair.of[A].err), OK);
	CHECK(is_held && lease_is_held(alone, STR("work")));
	CHECK_INT(lease_take(NULL, STR("work"), &is_held, NULL, &pair.of[A].err), OK);
	CHECK(is_held);
	lease_close(alone);
	CHECK_INT(trace_store_count(pair.of[A].store, TRACE_BEGIN), 0);
	pair_free(&pair);
}

static void take_by_b(void *context)
{
	take(context, B);
}

/* B takes it while A is about to. */
TEST(of_two_at_the_same_time_one_gets_it)
{
	const enum trace_call moments[] = {TRACE_BEGIN, TRACE_GET, TRACE_PUT};
	struct catalog_options options = {0};

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		struct pair pair = pair_new(&options);

		trace_store_after(pair.of[A].store, moments[i], take_by_b, &pair);
		CHECK(!take(&pair, A));
		CHECK(lease_is_held(pair.leases[B], STR("work")));
		pair_free(&pair);
	}
}

TEST(a_store_that_fails_does_not_end_it)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);
	bool is_held;

	CHECK(take(&pair, A));
	real_now += LENGTH / 2;
	optimistic_db_fail(pair.db, &(struct optimistic_faults){.unavailable = 1000});
	CHECK(take(&pair, A));
	real_now += LENGTH / 2;
	CHECK_INT(lease_take(pair.leases[A], STR("work"), &is_held, NULL, &pair.of[A].err),
		  ERR_STORE_UNAVAILABLE);
	CHECK(!is_held);
	optimistic_db_fail(pair.db, &(struct optimistic_faults){0});
	pair_free(&pair);
}

static void put_rows(struct data *data, int n)
{
	for (int i = 0; i < n; i++) {
		char number[16];

		snprintf(number, sizeof(number), "N%d", i);
		CHECK_INT(data_put(data, data_item(data, "pk", "Sa", "sk", number, "z", "Sz",
						   "ends", "N1600000000", NULL)),
			  OK);
	}
}

static void look_again(struct data *data)
{
	struct table *table;

	CHECK_INT(catalog_refresh(data->catalog, &data->err), OK);
	CHECK_INT(catalog_get(data->catalog, DATA_NS, STR("data"), 5000, &table, &data->err), OK);
	table_unref(data->table);
	data->table = table;
}

struct sweeping {
	struct pair *pair;
	uint64_t deleted;
};

static void sweep_by_a(void *context)
{
	struct sweeping *sweeping = context;
	int64_t now_ms = 1700000000000;
	struct times times = times_of(sweeping->pair, A, &now_ms);
	bool more = true;

	while (more)
		CHECK_INT(ttl_sweep(sweeping->pair->of[A].catalog, &times, 0, &sweeping->deleted,
				    &more, &sweeping->pair->of[A].err),
			  OK);
}

/* B has found what is due when A deletes it: B then does not go through the items again. */
TEST(what_expires_is_looked_at_once)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *next = table_clone(a->table);
	struct sweeping sweeping = {&pair, 0};
	int64_t now_ms = 1700000000000;
	struct times times = times_of(&pair, B, &now_ms);
	uint64_t deleted = 0;
	bool more;

	next->ttl.is_enabled = true;
	next->ttl.attribute = STR("ends");
	CHECK_INT(catalog_replace(a->catalog, a->table, next, &a->err), OK);
	look_again(a);
	put_rows(a, ROWS);
	CHECK_INT(catalog_refresh(b->catalog, &b->err), OK);
	trace_store_reset(b->store);
	trace_store_after(b->store, TRACE_PAGE, sweep_by_a, &sweeping);
	CHECK_INT(ttl_sweep(b->catalog, &times, 0, &deleted, &more, &b->err), OK);
	CHECK_INT(sweeping.deleted, ROWS);
	CHECK_INT(deleted, 0);
	CHECK(!more);
	CHECK_INT(trace_store_count_in(b->store, TRACE_GET, table_items(a->table)) +
			  trace_store_count(b->store, TRACE_COMMIT),
		  0);
	/* nothing is due any more: nobody needs the lease */
	real_now += LENGTH;
	trace_store_reset(b->store);
	CHECK_INT(ttl_sweep(b->catalog, &times, 0, &deleted, &more, &b->err), OK);
	CHECK_INT(puts_of(&pair, B, counters), 0);
	pair_free(&pair);
}

/* A fills a part of the index and dies; B goes on when the lease has run out, from where A was. */
TEST(an_index_is_filled_once_also_when_the_process_dies)
{
	struct catalog_options options = {.fill_max = 10};
	struct pair pair = pair_new(&options);
	struct data *a = &pair.of[A], *b = &pair.of[B];
	int64_t now_ms = 5000, wait_ms;
	struct times of_a = times_of(&pair, A, &now_ms), of_b = times_of(&pair, B, &now_ms);

	put_rows(a, ROWS);
	CHECK_INT(catalog_replace(a->catalog, a->table, data_with_index(a->table), &a->err), OK);
	look_again(a);
	look_again(b);
	struct keyspace index = index_keyspace(a->table, &a->table->indexes.v[3]);
	trace_store_reset(a->store);
	trace_store_reset(b->store);
	CHECK_INT(backfill_step(a->catalog, &of_a, &wait_ms, &a->err), OK);
	CHECK_INT(wait_ms, 0);
	CHECK_INT(backfill_step(b->catalog, &of_b, &wait_ms, &b->err), OK);
	CHECK_INT(wait_ms, BACKFILL_OTHERS_MS);
	CHECK_INT(puts_of(&pair, A, index), 10);
	CHECK_INT(puts_of(&pair, B, index), 0);
	real_now += LENGTH;
	for (wait_ms = 0; wait_ms == 0;)
		CHECK_INT(backfill_step(b->catalog, &of_b, &wait_ms, &b->err), OK);
	CHECK_INT(puts_of(&pair, B, index), ROWS - 10);
	look_again(b);
	CHECK(b->table->indexes.v[3].status == STATUS_ACTIVE &&
	      !b->table->indexes.v[3].is_backfilling);
	/* given back, not left to run out */
	CHECK_INT(trace_store_count_in(b->store, TRACE_DEL, counters) > 0, 1);
	CHECK_INT(backfill_step(a->catalog, &of_a, &wait_ms, &a->err), OK);
	CHECK_INT(puts_of(&pair, A, index), 10);
	pair_free(&pair);
}

static void trim_by_a(void *context)
{
	struct pair *pair = context;
	int64_t now_ms = 2000 + 2 * DAY;
	struct times times = times_of(pair, A, &now_ms);

	CHECK_INT(stream_sweep(pair->of[A].catalog, &times, &pair->of[A].err), OK);
}

TEST(a_stream_is_trimmed_once)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *next = table_clone(a->table);
	int64_t now_ms = 2000 + 2 * DAY;
	struct times times = times_of(&pair, B, &now_ms);

	next->streams.view = STREAM_KEYS_ONLY;
	next->streams.n = 1;
	next->streams.v = ARENA_ARRAY(next->arena, struct stream, 1);
	next->streams.v[0] = (struct stream){
		.number = 1, .label = STR("1"), .view = STREAM_KEYS_ONLY, .created_ms = 1500};
	next->streams.label = STR("1");
	CHECK_INT(catalog_replace(a->catalog, a->table, next, &a->err), OK);
	look_again(a);
	put_rows(a, ROWS);
	CHECK_INT(catalog_refresh(b->catalog, &b->err), OK);
	trace_store_reset(a->store);
	trace_store_reset(b->store);
	trace_store_after(b->store, TRACE_PAGE, trim_by_a, &pair);
	CHECK_INT(stream_sweep(b->catalog, &times, &b->err), OK);
	CHECK_INT(trace_store_count_in(a->store, TRACE_DEL, stream_keyspace(a->table)), ROWS);
	CHECK_INT(trace_store_count(b->store, TRACE_COMMIT), 0);
	pair_free(&pair);
}

TEST(a_position_moves_by_comparing)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);
	const struct stream_position none = {0}, first = {1, 100, 5, 1000},
				     second = {1, 100, 9, 2000}, other = {1, 100, 7, 2000};
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct stream_position known;
	bool is_moved;

	CHECK_INT(stream_position_move(a->store, a->arena, 7, STR("r"), &none, &first, &is_moved,
				       &a->err),
		  OK);
	CHECK(is_moved);
	CHECK_INT(stream_position_move(b->store, b->arena, 7, STR("r"), &first, &second, &is_moved,
				       &b->err),
		  OK);
	CHECK(is_moved);
	CHECK_INT(stream_position_move(a->store, a->arena, 7, STR("r"), &first, &other, &is_moved,
				       &a->err),
		  OK);
	CHECK(!is_moved);
	CHECK_INT(stream_position_get(a->store, a->arena, 7, STR("r"), &known, &a->err), OK);
	CHECK_INT(known.next, 9);
	CHECK_INT(stream_position_get(a->store, a->arena, 8, STR("r"), &known, &a->err), OK);
	CHECK_INT(known.stream, 0);
	/* the outcome of the first try was not known */
	CHECK_INT(stream_position_move(b->store, b->arena, 7, STR("r"), &first, &second, &is_moved,
				       &b->err),
		  OK);
	CHECK(is_moved);
	CHECK_INT(stream_position_sweep(b->store, b->arena, 2000, &b->err), OK);
	CHECK_INT(stream_position_get(a->store, a->arena, 7, STR("r"), &known, &a->err), OK);
	CHECK_INT(known.next, 9);
	CHECK_INT(stream_position_sweep(b->store, b->arena, 2001, &b->err), OK);
	CHECK_INT(stream_position_get(a->store, a->arena, 7, STR("r"), &known, &a->err), OK);
	CHECK_INT(known.stream, 0);
	pair_free(&pair);
}

TEST(rows_of_processes_that_are_no_more_go)
{
	struct catalog_options options = {0};
	struct pair pair = pair_new(&options);

	CHECK(take(&pair, A));
	real_now += LENGTH;
	CHECK_INT(lease_sweep(pair.leases[B], &pair.of[B].err), OK);
	CHECK_INT(trace_store_count_in(pair.of[B].store, TRACE_DEL, counters), 0);
	real_now += DAY;
	CHECK_INT(lease_sweep(pair.leases[B], &pair.of[B].err), OK);
	CHECK_INT(trace_store_count_in(pair.of[B].store, TRACE_DEL, counters), 1);
	pair_free(&pair);
}

TEST_MAIN(TEST_CASE(one_process_holds_it_until_it_runs_out),
	  TEST_CASE(it_is_new_when_another_may_have_held_it),
	  TEST_CASE(the_row_is_written_once_in_a_third_of_its_time),
	  TEST_CASE(a_process_that_is_alone_writes_none),
	  TEST_CASE(of_two_at_the_same_time_one_gets_it),
	  TEST_CASE(a_store_that_fails_does_not_end_it),
	  TEST_CASE(what_expires_is_looked_at_once),
	  TEST_CASE(an_index_is_filled_once_also_when_the_process_dies),
	  TEST_CASE(a_stream_is_trimmed_once),
	  TEST_CASE(a_position_moves_by_comparing),
	  TEST_CASE(rows_of_processes_that_are_no_more_go))
