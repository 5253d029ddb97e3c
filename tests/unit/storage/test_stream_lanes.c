/*
 * Streams with several open shards: whatever two processes do to a table, its shards replayed,
 * children behind their parents and in any other order, give the table, each change once; the log,
 * where there is one, has all changes in one order.
 */
#include "storage/check.h"
#include "storage/stream/change_log.h"
#include "storage/stream/stream_read.h"
#include "storage/upkeep/stream_sweep.h"
#include "tests/unit/storage/processes_fixture.h"

#define PARTITIONS 12
#define SORTS 3
#define SHARDS 4
#define STEPS (1200 / TEST_SLOWNESS)
#define START_MS INT64_C(1700000000000)
#define DAY_MS (24 * 60 * 60 * 1000LL)

struct world {
	struct processes processes;
	uint64_t changes;         /* that were committed */
	int value;
};

static uint64_t seed;

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void add_stream(struct table *table, uint32_t shards, const char *label, int64_t now_ms)
{
	struct stream *streams = ARENA_ARRAY(table->arena, struct stream, table->streams.n + 1);

	for (size_t i = 0; i < table->streams.n; i++)
		streams[i] = table->streams.v[i];
	streams[table->streams.n] = (struct stream){
		.label = str_of(label),
		.number = table->streams.n + 1,
		.view = STREAM_NEW_AND_OLD_IMAGES,
		.created_ms = now_ms,
		.shards = shards,
	};
	table->streams.v = streams;
	table->streams.n++;
	table->streams.view = STREAM_NEW_AND_OLD_IMAGES;
	table->streams.label = str_of(label);
}

/* Shards 0: the table has no stream. */
static struct world world_new(const struct catalog_options *options, bool is_optimistic,
			      uint32_t shards)
{
	struct table *table = data_table("data");

	table->indexes.n = 0;
	if (shards > 0)
		add_stream(table, shards, "first", START_MS);
	return (struct world){.processes = processes_new(options, is_optimistic, table, START_MS)};
}

static void world_free(struct world *world)
{
	processes_free(&world->processes);
}

static void reset(struct data *d)
{
	arena_reset(d->arena);
	d->err = err_in(d->arena);
}

/* The table as the store has it now, for all processes. */
static void refresh(struct world *world, int64_t now_ms)
{
	for (int i = 0; i < PROCESSES; i++) {
		struct data *d = &world->processes.of[i];

		reset(d);
		table_unref(d->table);
		CHECK_INT(catalog_refresh(d->catalog, &d->err), OK);
		CHECK_INT(catalog_get_current(d->catalog, DATA_NS, STR("data"), now_ms, &d->table,
					      &d->err),
			  OK);
	}
}

static void change_table(struct world *world, void (*change)(struct table *table, int64_t now_ms),
			 int64_t now_ms)
{
	struct data *d = &world->processes.of[0];
	struct table *next = table_clone(d->table);

	change(next, now_ms);
	CHECK_INT(catalog_replace(d->catalog, d->table, next, &d->err), OK);
	refresh(world, now_ms);
}

static void log_on(struct table *table, int64_t now_ms)
{
	change_log_set(table, LOG_SENDING, now_ms);
}

static void log_off(struct table *table, int64_t now_ms)
{
	change_log_set(table, 0, now_ms);
}

static void stream_off(struct table *table, int64_t now_ms)
{
	table->streams.view = STREAM_OFF;
	table->streams.v[table->streams.n - 1].disabled_ms = now_ms;
}

static void stream_of_three(struct table *table, int64_t now_ms)
{
	add_stream(table, 3, "second", now_ms);
}

/* Some puts and deletes in one transaction, of different items. */
static void write_some(struct world *world, int process, int64_t now_ms)
{
	struct data *d = &world->processes.of[process];
	struct write writes[4];
	size_t n = 1 + dice(4);
	unsigned first = dice(PARTITIONS);

	reset(d);
	for (size_t i = 0; i < n; i++) {
		const char *
			pk = str_printf(d->arena, "Sp%u", (first + (unsigned)i * 5) % PARTITIONS).p,
		       *sk = str_printf(d->arena, "N%u", dice(SORTS)).p;
		bool is_put = dice(4) > 0;

		writes[i] = (struct write){.kind = is_put ? WRITE_PUT : WRITE_DELETE,
					   .table = d->table};
		if (is_put)
			writes[i].item =
				data_item(d, "pk", pk, "sk", sk, "v",
					  str_printf(d->arena, "N%d", ++world->value).p, NULL);
		else
			writes[i].key = data_item(d, "pk", pk, "sk", sk, NULL);
		CHECK_INT(write_prepare(d->arena, &writes[i], &d->err), OK);
	}
	CHECK_INT(write_run(d->catalog, d->arena, writes, n, WRITE_TRANSACTION, NULL, now_ms,
			    &d->err),
		  OK);
	for (size_t i = 0; i < n; i++)
		world->changes += writes[i].kind == WRITE_PUT || str_is_set(writes[i].old_image);
}

/* What records make of items. */
struct replay {
	struct arena *arena;
	struct str images[PARTITIONS][SORTS];
	unsigned lanes[PARTITIONS]; /* of its records, and one */
	uint64_t n;
	int wrong;
};

static struct replay replay_new(void)
{
	struct replay replay = {.arena = arena_new(0)};

	for (int i = 0; i < PARTITIONS * SORTS; i++)
		replay.images[i / SORTS][i % SORTS] = STR_ABSENT;
	return replay;
}

/* Each record goes on from the image that the one before it left, and a partition stays in one
 * lane. */
static void replay_one(struct replay *replay, const struct table *table,
		       const struct stream_record *record)
{
	struct value keys;
	int64_t sort = 0;

	if (!stream_record_keys(replay->arena, table, record, &keys) ||
	    !number_to_int(value_str(&keys.members[1].value), &sort)) {
		replay->wrong++;
		return;
	}
	unsigned partition = (unsigned)strtoul(
			 str_copy(replay->arena, value_str(&keys.members[0].value)).p + 1, NULL,
			 10),
		 lane = stream_lane_of(record->sequence) + 1;
	struct str *image = &replay->images[partition][sort];

	replay->wrong += str_is_set(*image) != str_is_set(record->old_image) ||
			 (str_is_set(*image) && !str_eq(*image, record->old_image));
	replay->wrong += replay->lanes[partition] != 0 && replay->lanes[partition] != lane;
	replay->lanes[partition] = lane;
	*image = str_copy(replay->arena, record->new_image);
	replay->n++;
}

static void replay_end(struct world *world, struct replay *replay, uint64_t changes)
{
	struct data *d = &world->processes.of[0];

	CHECK_INT(replay->wrong, 0);
	CHECK_INT(replay->n, changes);
	for (int i = 0; i < PARTITIONS * SORTS; i++) {
		struct str known = replay->images[i / SORTS][i % SORTS];
		struct str image = data_get(
			d, data_item(d, "pk", str_printf(d->arena, "Sp%d", i / SORTS).p, "sk",
				     str_printf(d->arena, "N%d", i % SORTS).p, NULL));

		CHECK(str_is_set(image) == str_is_set(known) &&
		      (!str_is_set(image) || str_eq(image, known)));
	}
	arena_free(replay->arena);
}

static struct stream_shard_page shards_of(struct data *d, size_t stream, int64_t now_ms)
{
	struct stream_shard_page page = {.limit = 10000};

	CHECK_INT(stream_read_shards(d->store, d->arena, d->table, &d->table->streams.v[stream],
				     now_ms, &page, &d->err),
		  OK);
	CHECK(!page.is_cut);
	return page;
}

/* A whole shard, in small pages. */
static void replay_shard(struct data *d, size_t stream, const struct stream_shard *shard,
			 int64_t now_ms, struct replay *replay)
{
	struct stream_cursor cursor = {.table = d->table,
				       .stream = &d->table->streams.v[stream],
				       .shard = shard->stamp,
				       .now_ms = now_ms};
	struct stream_page page = {.n = 1};

	CHECK_INT(stream_read_start(d->store, d->arena, &cursor, STREAM_START_TRIM_HORIZON, 0, 0,
				    &d->err),
		  OK);
	while (page.n > 0 && test_failures == 0) {
		CHECK_INT(stream_read_page(d->store, d->arena, &cursor, 7, &page, &d->err), OK);
		for (size_t i = 0; i < page.n; i++) {
			replay->wrong += page.v[i].record.sequence <= shard->start ||
					 (shard->end && page.v[i].record.sequence >= shard->end);
			replay_one(replay, d->table, &page.v[i].record);
		}
	}
	CHECK_INT(cursor.is_at_end, shard->end > 0);
}

static void tell(void *context, struct str line)
{
	(void)context;
	fprintf(stderr, "found: " STR_FMT "\n", STR_ARG(line));
}

static void check_rows(struct world *world, int64_t now_ms)
{
	struct data *d = &world->processes.of[0];
	struct check_report report = {.tell = tell};

	CHECK_INT(check_store(d->store, NULL, now_ms, &report, &d->err), OK);
	CHECK_INT(report.findings, 0);
}

/* Shards newest partition last: by descending lanes, so that only the order within a lineage
 * counts. Each child is behind its parent. */
static void replay_stream(struct world *world, size_t stream, int64_t now_ms, uint64_t changes,
			  unsigned shards)
{
	struct data *d = &world->processes.of[0];
	struct replay replay = replay_new();

	reset(d);
	struct stream_shard_page page = shards_of(d, stream, now_ms);
	unsigned roots = 0, used = 0;

	for (unsigned lane = STREAM_LANES; lane > 0; lane--) {
		uint64_t parent = 0, before = replay.n;

		for (size_t i = 0; i < page.n; i++) {
			if (stream_lane_of(page.shards[i].start) != lane)
				continue;
			CHECK_INT(page.shards[i].parent, parent);
			CHECK(i == 0 || page.shards[i].stamp > page.shards[i - 1].stamp);
			roots += parent == 0;
			parent = page.shards[i].stamp;
			replay_shard(d, stream, &page.shards[i], now_ms, &replay);
		}
		used += replay.n > before;
	}
	CHECK_INT(roots, shards);
	CHECK_INT(used, shards);
	replay_end(world, &replay, changes);
}

static void replay_log(struct world *world)
{
	struct data *d = &world->processes.of[0];
	struct replay replay = replay_new();
	struct change_log_page page = {.bounds = {5, 0}, .is_more = true};
	struct store_txn *txn;
	int64_t latest_ms = 0;

	reset(d);
	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	while (page.is_more && test_failures == 0) {
		CHECK_INT(change_log_read(txn, d->arena, d->table, &page, &d->err), OK);
		for (size_t i = 0; i < page.n; i++) {
			CHECK(page.v[i].created_ms >= latest_ms);
			latest_ms = page.v[i].created_ms;
			replay_one(&replay, d->table, &page.v[i]);
		}
	}
	store_abort(txn);
	replay_end(world, &replay, world->changes);
}

TEST(all_shards_together_give_the_table)
{
	static const struct stream_rotation rotations[] = {{0, 0}, {20, 0}, {0, 40}};

	for (size_t r = 0; r < 2 * sizeof(rotations) / sizeof(rotations[0]); r++) {
		struct catalog_options options = {.rotation = rotations[r / 2]};
		struct world world = world_new(&options, r % 2, SHARDS);

		seed = r;
		for (int i = 0; i < STEPS && test_failures == 0; i++) {
			int process = (int)dice(PROCESSES);

			write_some(&world, process, START_MS + i - (int)dice(3));
			if (dice(100) == 0)
				CHECK_INT(stream_rotate(world.processes.of[process].store,
							world.processes.of[process].table,
							START_MS + i,
							&world.processes.of[process].err),
					  OK);
		}
		replay_stream(&world, 0, START_MS + STEPS, world.changes, SHARDS);
		check_rows(&world, START_MS + STEPS);
		world_free(&world);
	}
}

/* A log begins at a table's first change; a stream with several shards comes, goes and comes again
 * beside it. */
TEST(the_log_has_all_changes_in_one_order_beside_a_stream)
{
	for (int is_optimistic = 0; is_optimistic < 2; is_optimistic++) {
		struct catalog_options options = {.rotation = {30, 0}};
		struct world world = world_new(&options, is_optimistic, SHARDS);
		uint64_t before;

		seed = 7;
		change_table(&world, log_on, START_MS);
		for (int i = 0; i < STEPS / 4; i++)
			write_some(&world, (int)dice(PROCESSES), START_MS + i);
		replay_log(&world);
		replay_stream(&world, 0, START_MS + STEPS, world.changes, SHARDS);
		check_rows(&world, START_MS + STEPS);

		before = world.changes;
		change_table(&world, stream_off, START_MS + STEPS);
		for (int i = 0; i < 20; i++)
			write_some(&world, (int)dice(PROCESSES), START_MS + STEPS + i);
		replay_log(&world);
		check_rows(&world, START_MS + STEPS + 20);
		struct stream_shard_page closed =
			shards_of(&world.processes.of[0], 0, START_MS + STEPS + 20);
		for (size_t i = 0; i < closed.n; i++)
			CHECK(closed.shards[i].end > 0 && closed.shards[i].closed_ms > 0);
		CHECK(world.changes > before);

		change_table(&world, stream_of_three, START_MS + STEPS + 50);
		CHECK_INT(shards_of(&world.processes.of[0], 1, START_MS + STEPS + 50).n, 3);
		for (int i = 0; i < 20; i++)
			write_some(&world, (int)dice(PROCESSES), START_MS + STEPS + 50 + i);
		replay_log(&world);
		change_table(&world, log_off, START_MS + STEPS + 80);
		write_some(&world, 0, START_MS + STEPS + 90);
		check_rows(&world, START_MS + STEPS + 90);
		world_free(&world);
	}
}

static uint64_t rows(struct data *d)
{
	struct store_txn *txn;
	struct store_stat stat = {0};

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(store_stat(txn, stream_keyspace(d->table), &stat, &d->err), OK);
	store_abort(txn);
	return stat.rows;
}

TEST(each_shard_is_trimmed_after_a_day)
{
	struct catalog_options options = {.rotation = {10, 0}};
	struct world world = world_new(&options, false, SHARDS);
	struct data *d = &world.processes.of[0];

	seed = 3;
	for (int i = 0; i < 100; i++)
		write_some(&world, (int)dice(PROCESSES), START_MS + i);
	for (int i = 0; i < 5; i++)
		write_some(&world, 0, START_MS + DAY_MS / 2 + i);
	uint64_t before = rows(d);
	CHECK_INT(stream_sweep(d->catalog, TIMES_AT(START_MS + DAY_MS - 10), &d->err), OK);
	CHECK_INT(rows(d), before);
	CHECK_INT(stream_sweep(d->catalog, TIMES_AT(START_MS + DAY_MS + 1000), &d->err), OK);
	CHECK(rows(d) < 5 * 4 + 2 * SHARDS + 10);
	check_rows(&world, START_MS + DAY_MS + 1000);
	change_table(&world, stream_off, START_MS + DAY_MS + 2000);
	CHECK_INT(stream_sweep(d->catalog, TIMES_AT(START_MS + 3 * DAY_MS), &d->err), OK);
	CHECK_INT(shards_of(d, 0, START_MS + 3 * DAY_MS).n, 0);
	CHECK_INT(rows(d), SHARDS); /* one shard, and what is known of the others' numbers */
	check_rows(&world, START_MS + 3 * DAY_MS);

	/* numbers go on where they ended */
	struct store_txn *txn;
	struct stream_nexts had, has;
	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(stream_nexts(txn, d->arena, d->table, &had, &d->err), OK);
	store_abort(txn);
	CHECK_INT(had.n, SHARDS + 1);
	for (unsigned lane = 1; lane <= SHARDS; lane++)
		CHECK(had.v[lane] > stream_lane_base(lane) + 10);
	struct arena *kept = arena_new(0);
	for (unsigned lane = 0; lane <= SHARDS; lane++)
		had.v = lane == 0 ? memcpy(ARENA_ARRAY(kept, uint64_t, SHARDS + 1), had.v,
					   (SHARDS + 1) * sizeof(uint64_t))
				  : had.v;
	change_table(&world, stream_of_three, START_MS + 3 * DAY_MS);
	write_some(&world, 0, START_MS + 3 * DAY_MS + 1);
	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(stream_nexts(txn, d->arena, d->table, &has, &d->err), OK);
	store_abort(txn);
	for (unsigned lane = 1; lane <= 3; lane++)
		CHECK(has.v[lane] > had.v[lane]);
	check_rows(&world, START_MS + 3 * DAY_MS + 1);
	arena_free(kept);
	world_free(&world);
}

/* Of two that write partitions of different shards at the same moment, none meets the other; of the
 * same shard, one does. */
TEST(writers_of_different_shards_do_not_meet)
{
	struct catalog_options options = {0};
	struct world world = world_new(&options, true, SHARDS);
	unsigned lanes[PARTITIONS], used = 0;

	for (unsigned p = 0; p < PARTITIONS; p++) {
		struct data *d = &world.processes.of[0];
		struct write write = {.kind = WRITE_PUT, .table = d->table};

		reset(d);
		write.item = data_item(d, "pk", str_printf(d->arena, "Sp%u", p).p, "sk", "N0", "v",
				       "N1", NULL);
		CHECK_INT(write_prepare(d->arena, &write, &d->err), OK);
		lanes[p] = stream_lane_for(d->table, stream_partition(write.row_key));
		CHECK(lanes[p] >= 1 && lanes[p] <= SHARDS);
		used |= 1u << lanes[p];
	}
	CHECK_INT(used, ((1u << SHARDS) - 1) << 1);
	for (unsigned a = 0; a < PARTITIONS; a++) {
		for (unsigned b = 0; b < PARTITIONS; b++) {
			enum code codes[PROCESSES];
			struct store_txn *txns[PROCESSES];
			unsigned partitions[PROCESSES] = {a, b};

			if (a == b)
				continue;
			for (int i = 0; i < PROCESSES; i++) {
				struct data *d = &world.processes.of[i];
				struct stream_appends appends = {.rotation = &options.rotation,
								 .now_ms = START_MS};
				struct buf row_key = buf_in(d->arena);

				reset(d);
				struct write write = {.kind = WRITE_PUT, .table = d->table};
				write.item = data_item(
					d, "pk", str_printf(d->arena, "Sp%u", partitions[i]).p,
					"sk", "N0", "v", "N1", NULL);
				CHECK_INT(write_prepare(d->arena, &write, &d->err), OK);
				buf_add_str(&row_key, write.row_key);
				struct stream_change change = {
					STR_ABSENT,
					data_image(d, write.item),
					false,
					stream_partition(buf_str(&row_key)),
				};
				CHECK_INT(store_begin(d->store, STORE_WRITE, &txns[i], &d->err),
					  OK);
				CHECK_INT(stream_append(txns[i], d->arena, d->table, &change,
							&appends, &d->err),
					  OK);
			}
			for (int i = 0; i < PROCESSES; i++)
				codes[i] = store_commit(txns[i], &world.processes.of[i].err);
			CHECK_INT(codes[0], OK);
			CHECK_INT(codes[1], lanes[a] == lanes[b] ? ERR_CONFLICT : OK);
		}
	}
	world_free(&world);
}

TEST_MAIN(TEST_CASE(all_shards_together_give_the_table),
	  TEST_CASE(the_log_has_all_changes_in_one_order_beside_a_stream),
	  TEST_CASE(each_shard_is_trimmed_after_a_day),
	  TEST_CASE(writers_of_different_shards_do_not_meet))
