/*
 * Copies of tables, backups and restores. The model keeps every version of every item with its
 * time; a restore to a moment must give exactly the versions of that moment, whatever is written
 * while it goes on, and whenever the process ends between two steps.
 */
#include <stdlib.h>

#include "storage/backup/restore.h"
#include "storage/catalog/catalog_size.h"
#include "storage/check.h"
#include "storage/schema/currency.h"
#include "storage/stream/change_log.h"
#include "storage/stream/stream_read.h"
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/storage/data_fixture.h"

#define KEYS 40
#define VERSIONS 6000
#define DAY_MS 86400000LL

struct version {
	int key;
	int64_t at_ms;
	struct str image; /* absent: deleted */
};

struct world {
	struct data data;
	struct job_run *run;
	int64_t now_ms;
	uint64_t seed;
	unsigned restored;
	size_t n;
	struct version versions[VERSIONS];
};

static unsigned pick(struct world *world, unsigned n)
{
	world->seed = world->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(world->seed >> 33) % n;
}

static struct job_run *runner(struct data *data)
{
	struct job_run *run = job_run_new(data->catalog, NULL);

	job_run_register(run, &backup_kind);
	job_run_register(run, &restore_kind);
	return run;
}

static struct world *world_new(size_t piece)
{
	struct catalog_options options = {.fill_max = piece};
	struct world *world = calloc(1, sizeof(*world));

	world->data = data_open(&options);
	world->now_ms = 1000000;
	world->seed = 7;
	CHECK_INT(catalog_create(world->data.catalog, DATA_NS, data_table("data"), 1000,
				 &world->data.table, &world->data.err),
		  OK);
	world->run = runner(&world->data);
	return world;
}

static void world_free(struct world *world)
{
	job_run_free(world->run);
	data_free(&world->data);
	free(world);
}

/* The table as it is now, in place of the snapshot. */
static void look(struct world *world)
{
	struct data *data = &world->data;

	table_unref(data->table);
	data->table = NULL;
	CHECK_INT(catalog_get(data->catalog, DATA_NS, STR("data"), world->now_ms, &data->table,
			      &data->err),
		  OK);
}

static void change(struct world *world, void (*how)(struct table *next, int64_t now_ms))
{
	struct table *next;

	look(world);
	next = table_clone(world->data.table);
	how(next, world->now_ms);
	CHECK_INT(catalog_replace(world->data.catalog, world->data.table, next, &world->data.err),
		  OK);
	look(world);
}

static void recover(struct table *next, int64_t now_ms)
{
	next->log.keep_ms = 35 * DAY_MS;
	next->log.since_ms = now_ms;
	change_log_set(next, next->log.reasons | LOG_RECOVERY, now_ms);
}

static void live(struct table *next, int64_t now_ms)
{
	next->ttl =
		(struct table_ttl){.is_enabled = true, .attribute = STR("t"), .changed_ms = now_ms};
}

static void note(struct world *world, int key, struct str image)
{
	CHECK(world->n < VERSIONS);
	world->versions[world->n++] = (struct version){key, world->now_ms, image};
}

static const struct value *item_of(struct world *world, int key, bool is_whole)
{
	struct arena *arena = world->data.arena;
	const char *pk = str_printf(arena, "Sp%d%c", key % 5, 0).p,
		   *sk = str_printf(arena, "N%d%c", key, 0).p;

	if (!is_whole)
		return data_item(&world->data, "pk", pk, "sk", sk, NULL);
	return data_item(&world->data, "pk", pk, "sk", sk, "g",
			 str_printf(arena, "Sg%u%c", pick(world, 4), 0).p, "h", "Sh", "l",
			 str_printf(arena, "N%u%c", pick(world, 9), 0).p, "a",
			 str_printf(arena, "S%u%c", pick(world, 1000), 0).p, "t",
			 str_printf(arena, "N%lld%c",
				    (long long)(world->now_ms / 1000 + pick(world, 40000)), 0)
				 .p,
			 NULL);
}

static void write_one(struct world *world)
{
	struct data *data = &world->data;
	int key = (int)pick(world, KEYS);
	bool is_put = pick(world, 3) > 0;
	const struct value *item = item_of(world, key, is_put);
	struct write write = {.table = data->table,
			      .kind = is_put ? WRITE_PUT : WRITE_DELETE,
			      .item = item,
			      .key = item,
			      .expiry_row = STR_ABSENT};

	world->now_ms += pick(world, 1500);
	look(world);
	write.table = data->table;
	CHECK_INT(write_prepare(data->arena, &write, &data->err), OK);
	CHECK_INT(write_run(data->catalog, data->arena, &write, 1, WRITE_ALONE, NULL, world->now_ms,
			    &data->err),
		  OK);
	note(world, key, is_put ? data_image(data, item) : STR_ABSENT);
}

static struct str row_key(struct world *world, struct table *table, int key)
{
	struct str row = STR_ABSENT;

	CHECK_INT(item_key_of_key(world->data.arena, table, item_of(world, key, false), &row,
				  &world->data.err),
		  OK);
	return row;
}

/* What expired: the model takes from the table which items time to live has deleted. */
static void expire(struct world *world)
{
	struct data *data = &world->data;
	uint64_t expired = 0;
	bool more = true;

	while (more)
		CHECK_INT(ttl_sweep(data->catalog, TIMES_AT(world->now_ms), 0, &expired, &more,
				    &data->err),
			  OK);
	for (int key = 0; key < KEYS && expired > 0; key++) {
		struct str image, last = STR_ABSENT, row = row_key(world, data->table, key);
		struct store_txn *txn;

		CHECK_INT(store_begin(data->store, STORE_READ, &txn, &data->err), OK);
		CHECK_INT(store_get(txn, table_items(data->table), row, data->arena, &image,
				    &data->err),
			  OK);
		store_abort(txn);
		for (size_t i = 0; i < world->n; i++)
			last = world->versions[i].key == key ? world->versions[i].image : last;
		if (str_is_set(last) && !str_is_set(image))
			note(world, key, STR_ABSENT);
	}
}

static struct str image_at(const struct world *world, int key, int64_t at_ms)
{
	struct str image = STR_ABSENT;

	for (size_t i = 0; i < world->n && world->versions[i].at_ms <= at_ms; i++) {
		if (world->versions[i].key == key)
			image = world->versions[i].image;
	}
	return image;
}

/* Whether the keyspace has exactly the items of the moment. `keys` is the table whose row keys they
 * are. */
static void check_rows(struct world *world, struct table *table, struct keyspace keyspace,
		       int64_t at_ms)
{
	struct data *data = &world->data;
	struct store_txn *txn;
	struct store_stat stat;
	uint64_t expected = 0;

	CHECK_INT(store_begin(data->store, STORE_READ, &txn, &data->err), OK);
	for (int key = 0; key < KEYS; key++) {
		struct str model = image_at(world, key, at_ms), image;

		CHECK_INT(store_get(txn, keyspace, row_key(world, table, key), data->arena, &image,
				    &data->err),
			  OK);
		CHECK(str_is_set(model) == str_is_set(image));
		CHECK(!str_is_set(model) || str_eq(model, image));
		expected += str_is_set(model);
	}
	CHECK_INT(store_stat(txn, keyspace, &stat, &data->err), OK);
	CHECK_INT(stat.rows, expected);
	store_abort(txn);
}

struct wanted {
	struct table *source, *target;
	struct restore restore;
	struct backup backup;
	struct job job;
};

/* The table is left CREATING, or nothing is. */
static enum code begin_restore(struct world *world, struct wanted *wanted)
{
	struct data *data = &world->data;
	struct table *made;
	enum code code = restore_begin(data->catalog, DATA_NS, wanted->source,
				       table_ref(wanted->target), &wanted->restore,
				       wanted->restore.at_ms, &wanted->job, &made, &data->err);

	if (code != OK)
		return code;
	CHECK_INT(made->state.status, STATUS_CREATING);
	CHECK(str_eq(made->state.job, wanted->job.id));
	table_unref(made);
	return OK;
}

static enum code add_backup(struct job_txn *txn, void *context, struct err *err)
{
	struct wanted *wanted = context;

	return backup_add(txn, wanted->source, &wanted->backup, 1000, &wanted->job, err);
}

static enum code get(struct job_txn *txn, void *context, struct err *err)
{
	struct job *job = context;

	return job_get(txn, job->kind, job->id, job, err);
}

static enum code drop(struct job_txn *txn, void *context, struct err *err)
{
	return job_remove(txn, context, err);
}

static bool is_over(struct world *world, struct job *job)
{
	CHECK_INT(job_read(world->data.catalog, DATA_NS, get, job, &world->data.err), OK);
	return job->state != JOB_RUNNING;
}

/* A step, or not: then the runner is another one, as after a crash. */
static void go_on(struct world *world, struct job *job)
{
	if (pick(world, 4) == 0) {
		job_run_free(world->run);
		world->run = runner(&world->data);
	}
	CHECK_INT(job_run_now(world->run, DATA_NS, job->kind, job->id, 1, world->now_ms,
			      &world->data.err),
		  OK);
}

static void print(void *context, struct str line)
{
	(void)context;
	fprintf(stderr, STR_FMT "\n", STR_ARG(line));
}

static void check_all(struct world *world)
{
	struct check_report report = {.tell = print};

	CHECK_INT(check_store(world->data.store, NULL, world->now_ms, &report, &world->data.err),
		  OK);
	CHECK_INT(report.findings, 0);
}

static void restore_to(struct world *world, int64_t at_ms, const char *name, bool has_writers)
{
	struct data *data = &world->data;
	struct wanted wanted = {.restore = {.source = STR("data"),
					    .at_ms = at_ms,
					    .backup = STR_ABSENT,
					    .key = STR_ABSENT},
				.target = data_table(name)};
	struct table *made;

	look(world);
	wanted.source = data->table;
	CHECK_INT(begin_restore(world, &wanted), OK);
	for (int i = 0; i < 4000 && !is_over(world, &wanted.job); i++) {
		go_on(world, &wanted.job);
		if (has_writers && pick(world, 20) == 0)
			write_one(world);
	}
	CHECK_INT(wanted.job.state, JOB_DONE);
	CHECK_STR(wanted.job.message, "");
	CHECK_INT(
		catalog_get(data->catalog, DATA_NS, str_of(name), world->now_ms, &made, &data->err),
		OK);
	CHECK_INT(made->state.status, STATUS_ACTIVE);
	check_rows(world, made, table_items(made), at_ms);
	look(world);
	CHECK_INT(data->table->log.reasons, LOG_RECOVERY); /* let go */
	if (++world->restored % TEST_SLOWNESS == 0)
		check_all(world); /* the rows of its indexes are those of its items, and of time to
				     live the source's */
	if (pick(world, 50) != 0) /* some stay, for the check of all rows */
		CHECK_INT(catalog_delete(data->catalog, made, world->now_ms, &data->err), OK);
	table_unref(made);
	table_unref(wanted.target);
}

/* 1,000 moments of a table with indexes and time to live; the arena of the test is emptied now and
 * then. */
static void test_moments(size_t piece, int moments, bool has_writers)
{
	struct world *world = world_new(piece);
	int64_t since_ms;

	for (int i = 0; i < 20; i++)
		write_one(world);
	change(world, live);
	world->now_ms += 1000;
	change(world, recover);
	since_ms = world->now_ms;
	for (int i = 0; i < 600; i++) {
		write_one(world);
		if (i % 20 == 0)
			expire(world);
	}
	for (int i = 0; i < moments; i++) {
		char name[32];

		snprintf(name, sizeof(name), "restored-%d", i);
		restore_to(world, since_ms + pick(world, (unsigned)(world->now_ms - since_ms) + 1),
			   name, has_writers && world->n < VERSIONS - 1000);
	}
	check_all(world);
	world_free(world);
}

TEST(a_restore_is_the_state_of_its_moment)
{
	test_moments(0, 800, false);
}

TEST(the_same_in_pieces_beside_writers_and_crashes)
{
	test_moments(7, 200, true);
}

TEST(a_backup_is_one_moment)
{
	for (size_t piece = 0; piece < 20; piece += 9) {
		struct world *world = world_new(piece);
		struct wanted wanted = {.backup = {.name = STR("b")}};
		int64_t moment = 0;
		struct backup backup;
		uint64_t items = 0;

		for (int i = 0; i < 200; i++)
			write_one(world);
		look(world);
		wanted.source = world->data.table;
		CHECK_INT(job_write(world->data.catalog, DATA_NS, add_backup, &wanted,
				    &world->data.err),
			  OK);
		for (int i = 0; i < 100 && !is_over(world, &wanted.job); i++) {
			struct copy copy;

			CHECK(copy_of(world->data.arena, &wanted.job, &copy));
			if (copy.stage == COPY_BEGINS)
				moment = world->now_ms;
			world->now_ms++;
			go_on(world, &wanted.job);
			write_one(world);
		}
		CHECK_INT(wanted.job.state, JOB_DONE);
		CHECK_INT(backup_of(world->data.arena, &wanted.job, &backup, &world->data.err), OK);
		for (int key = 0; key < KEYS; key++)
			items += str_is_set(image_at(world, key, moment));
		CHECK_INT(backup.items, items);
		check_rows(world, world->data.table, (struct keyspace){wanted.job.data, PART_ITEMS},
			   moment);
		look(world);
		CHECK_INT(world->data.table->log.reasons, 0);

		/* and a table made of it */
		struct wanted again = {.restore = {.backup = wanted.job.id,
						   .source = STR("data"),
						   .data = wanted.job.data,
						   .key = STR_ABSENT}};
		struct table *made;
		bool is_used;

		again.target = data_table("again");
		CHECK_INT(begin_restore(world, &again), OK);
		(void)is_used;
		for (int i = 0; i < 100 && !is_over(world, &again.job); i++)
			go_on(world, &again.job);
		CHECK_INT(again.job.state, JOB_DONE);
		CHECK_INT(catalog_get(world->data.catalog, DATA_NS, STR("again"), world->now_ms,
				      &made, &world->data.err),
			  OK);
		check_rows(world, made, table_items(made), moment);
		check_all(world);
		CHECK_INT(job_write(world->data.catalog, DATA_NS, drop, &wanted.job,
				    &world->data.err),
			  OK);
		check_all(world);
		table_unref(made);
		table_unref(again.target);
		world_free(world);
	}
}

TEST(a_deleted_table_leaves_its_items)
{
	struct world *world = world_new(0);
	struct data *data = &world->data;
	struct job_page page = {.after = STR_ABSENT, .limit = 10};
	struct store_txn *store;

	change(world, recover);
	for (int i = 0; i < 50; i++)
		write_one(world);
	look(world);
	const struct table_size size = {1, 2};
	struct backup_deletion deletion = {data->catalog, world->now_ms, &size};
	struct table *table = table_ref(data->table);
	CHECK_INT(catalog_delete_keeping(data->catalog, table, world->now_ms, backup_keep_deleted,
					 &deletion, &data->err),
		  OK);
	CHECK_INT(store_begin(data->store, STORE_READ, &store, &data->err), OK);
	struct job_txn txn = {data->catalog, DATA_NS, store, data->arena};
	CHECK_INT(job_list(&txn, BACKUP_KIND, &page, &data->err), OK);
	store_abort(store);
	CHECK_INT(page.n, 1);
	CHECK_STR(page.jobs[0].subject, "data");
	check_rows(world, table, (struct keyspace){page.jobs[0].data, PART_ITEMS}, world->now_ms);
	check_all(world);
	CHECK_INT(job_write(data->catalog, DATA_NS, drop, &page.jobs[0], &data->err), OK);
	check_all(world);
	table_unref(table);
	world_free(world);
}

/* Some items, written with recovery on. */
static void write_some(struct world *world)
{
	world->now_ms = 1000;
	change(world, recover);
	world->now_ms = 10000;
	for (int i = 0; i < 30; i++)
		write_one(world);
	look(world);
}

/* A restore whose table goes cannot be carried out: it fails with the reason, and leaves neither
 * table nor rows. */
TEST(a_job_that_cannot_go_on_fails)
{
	struct world *world = world_new(3);
	struct data *data = &world->data;
	struct wanted wanted = {.restore = {.source = STR("data"),
					    .at_ms = 5000,
					    .backup = STR_ABSENT,
					    .key = STR_ABSENT},
				.target = data_table("target")};
	struct table *made;

	write_some(world);
	wanted.source = data->table;
	CHECK_INT(begin_restore(world, &wanted), OK);
	for (int i = 0; i < 3; i++)
		go_on(world, &wanted.job);
	CHECK(!is_over(world, &wanted.job));
	look(world);
	CHECK_INT(catalog_delete(data->catalog, data->table, world->now_ms, &data->err), OK);
	for (int i = 0; i < 5 && !is_over(world, &wanted.job); i++)
		go_on(world, &wanted.job);
	CHECK_INT(wanted.job.state, JOB_FAILED);
	CHECK_STR(wanted.job.failure, "TableNotFoundException");
	CHECK_INT(wanted.job.data, 0);
	CHECK_INT(catalog_get(data->catalog, DATA_NS, STR("target"), world->now_ms, &made,
			      &data->err),
		  ERR_RESOURCE_NOT_FOUND);
	check_all(world);
	table_unref(wanted.target);
	world_free(world);
}

static enum code list_open(struct job_txn *txn, void *context, struct err *err)
{
	size_t *n = context;
	struct job *jobs;

	return job_list_open(txn, RESTORE_KIND, STR_ABSENT, &jobs, n, err);
}

/* Whoever sees the job sees its table: another server that took the job up between the two once
 * made the table, and the restore was refused. */
TEST(a_restore_begins_with_its_table)
{
	struct world *world = world_new(0);
	struct data *data = &world->data;
	struct wanted taken = {
		.restore = {.source = STR("data"), .backup = STR_ABSENT, .key = STR_ABSENT},
		.target = data_table("data")};
	size_t n;

	world->now_ms = 1000;
	change(world, recover);
	look(world);
	taken.source = data->table;
	CHECK_INT(begin_restore(world, &taken), ERR_RESOURCE_IN_USE);
	CHECK_INT(job_read(data->catalog, DATA_NS, list_open, &n, &data->err), OK);
	CHECK_INT(n, 0);
	check_all(world);
	table_unref(taken.target);
	world_free(world);
}

struct use {
	int64_t now_ms;
	bool is_used;
};

static enum code look_for_use(struct job_txn *txn, void *context, struct err *err)
{
	struct use *use = context;

	return restore_uses(txn, STR("backup"), use->now_ms, &use->is_used, err);
}

/* Its table is ACTIVE before its job ends: whoever sees that may begin the next restore. */
TEST(a_restore_uses_its_backup_until_the_table_is_active)
{
	struct world *world = world_new(5);
	struct data *data = &world->data;
	struct wanted wanted = {.restore = {.source = STR("data"),
					    .at_ms = 5000,
					    .backup = STR("backup"),
					    .key = STR_ABSENT},
				.target = data_table("target")};
	unsigned active = 0;

	write_some(world);
	wanted.source = data->table;
	wanted.restore.shown_ms = world->now_ms + 1000;
	CHECK_INT(begin_restore(world, &wanted), OK);
	for (int i = 0; i < 50 && !is_over(world, &wanted.job); i++) {
		struct use use = {world->now_ms, false};
		struct table *made;

		CHECK_INT(job_read(data->catalog, DATA_NS, look_for_use, &use, &data->err), OK);
		CHECK_INT(catalog_get(data->catalog, DATA_NS, STR("target"), world->now_ms, &made,
				      &data->err),
			  OK);
		if (made->state.status == STATUS_ACTIVE)
			CHECK(!use.is_used);
		else if (world->now_ms < wanted.restore.shown_ms)
			CHECK(use.is_used);
		active += made->state.status == STATUS_ACTIVE;
		table_unref(made);
		go_on(world, &wanted.job);
		world->now_ms += 100;
	}
	CHECK_INT(wanted.job.state, JOB_DONE);
	CHECK(active > 0);
	check_all(world);
	table_unref(wanted.target);
	world_free(world);
}

static void stream_on(struct table *next, int64_t now_ms)
{
	next->streams.view = STREAM_KEYS_ONLY;
	next->streams.n = 1;
	next->streams.v = ARENA_ARRAY(next->arena, struct stream, 1);
	next->streams.v[0] = (struct stream){
		.label = STR("label"), .number = 1, .view = STREAM_KEYS_ONLY, .created_ms = now_ms};
	next->streams.label = STR("label");
}

static void stream_off(struct table *next, int64_t now_ms)
{
	next->streams.view = STREAM_OFF;
	next->streams.v[0].disabled_ms = now_ms;
}

static void recover_no_more(struct table *next, int64_t now_ms)
{
	change_log_set(next, 0, now_ms);
}

static size_t records(struct world *world)
{
	struct data *data = &world->data;
	struct change_log_page page = {.bounds = {0, 0}};
	struct store_txn *txn;

	CHECK_INT(store_begin(data->store, STORE_READ, &txn, &data->err), OK);
	CHECK_INT(change_log_read(txn, data->arena, data->table, &page, &data->err), OK);
	store_abort(txn);
	return page.n;
}

/* A stream is a view of the log: of its own time, with its own images, for a day. */
TEST(a_stream_is_a_view_of_the_log)
{
	struct world *world = world_new(0);
	struct data *data = &world->data;
	struct stream_shard_page shards = {.limit = 10};
	struct stream_page page;

	change(world, recover);
	for (int i = 0; i < 30; i++)
		write_one(world);
	size_t before = records(world);
	CHECK(before > 10);
	change(world, stream_on);
	for (int i = 0; i < 30; i++)
		write_one(world);
	size_t within = records(world) - before;
	change(world, stream_off);
	for (int i = 0; i < 30; i++)
		write_one(world);
	CHECK(records(world) > before + within);
	const struct stream *stream = &data->table->streams.v[0];
	CHECK_INT(stream_read_shards(data->store, data->arena, data->table, stream, world->now_ms,
				     &shards, &data->err),
		  OK);
	CHECK_INT(shards.n, 1);
	struct stream_cursor cursor = {.table = data->table,
				       .stream = stream,
				       .shard = shards.shards[0].stamp,
				       .now_ms = world->now_ms};
	CHECK_INT(stream_read_start(data->store, data->arena, &cursor, STREAM_START_TRIM_HORIZON, 0,
				    0, &data->err),
		  OK);
	CHECK_INT(stream_read_page(data->store, data->arena, &cursor, 1000, &page, &data->err), OK);
	CHECK_INT(page.n, within);
	for (size_t i = 0; i < page.n; i++)
		CHECK(!str_is_set(page.v[i].record.new_image) &&
		      !str_is_set(page.v[i].record.old_image) && page.v[i].keys.n == 2);

	/* a day later the stream has nothing, and the log all; then nothing has */
	size_t all = records(world);
	world->now_ms += 2 * DAY_MS;
	CHECK_INT(stream_sweep(data->catalog, TIMES_AT(world->now_ms), &data->err), OK);
	CHECK_INT(records(world), all);
	shards = (struct stream_shard_page){.limit = 10};
	CHECK_INT(stream_read_shards(data->store, data->arena, data->table, stream, world->now_ms,
				     &shards, &data->err),
		  OK);
	CHECK_INT(shards.n, 0);
	check_all(world);
	world->now_ms += 34 * DAY_MS;
	CHECK_INT(stream_sweep(data->catalog, TIMES_AT(world->now_ms), &data->err), OK);
	CHECK_INT(records(world), 0);
	write_one(world);
	write_one(world);
	CHECK(records(world) > 0);
	change(world, recover_no_more);
	all = records(world);
	for (int i = 0; i < 10; i++)
		write_one(world);
	CHECK_INT(records(world), all);
	check_all(world);
	world_free(world);
}

TEST_MAIN(TEST_CASE(a_restore_is_the_state_of_its_moment),
	  TEST_CASE(the_same_in_pieces_beside_writers_and_crashes),
	  TEST_CASE(a_backup_is_one_moment), TEST_CASE(a_deleted_table_leaves_its_items),
	  TEST_CASE(a_job_that_cannot_go_on_fails), TEST_CASE(a_restore_begins_with_its_table),
	  TEST_CASE(a_restore_uses_its_backup_until_the_table_is_active),
	  TEST_CASE(a_stream_is_a_view_of_the_log))
