/* Each call of the store that fails, fails what made it: nothing goes on as if it had been done,
 * and all of it can be done afterwards. */
#include "storage/stream/stream_read.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/stream_sweep.h"
#include "tests/unit/storage/data_fixture.h"

#define CALLS_MAX 200
#define DAY_MS (24 * 60 * 60 * 1000LL)
#define LATER 3 /* the place of the index that data_with_index adds */

/* What is there before, and what is done while a call fails. */
struct scenario {
	struct data (*prepare)(void);
	enum code (*run)(struct data *d);
};

static uint64_t calls_of(const struct data *d)
{
	uint64_t n = 0;

	for (enum trace_call call = TRACE_BEGIN; call < TRACE_ROW; call++)
		n += call == TRACE_ABORT ? 0 : trace_store_count(d->store, call);
	return n;
}

static uint64_t writes_of(const struct data *d)
{
	return trace_store_count(d->store, TRACE_PUT) + trace_store_count(d->store, TRACE_DEL) +
	       trace_store_count(d->store, TRACE_DEL_RANGE) +
	       trace_store_count(d->store, TRACE_ADD);
}

/* Whichever write fails, also where its transaction learns of that only as it commits. */
static void each_write_fails_late(const struct scenario *scenario, uint64_t writes)
{
	for (uint64_t n = 1; n <= writes && n < CALLS_MAX; n++) {
		struct data d = scenario->prepare();

		trace_store_fail_late(d.store, n, ERR_STORE_FULL);
		CHECK_INT(scenario->run(&d), ERR_STORE_FULL);
		CHECK_STR(d.err.message, "a fault was injected");
		trace_store_fail_late(d.store, 0, OK);
		CHECK_INT(scenario->run(&d), OK);
		data_free(&d);
	}
}

/* How many calls were failed, one after the other. */
static uint64_t each_call_fails(const struct scenario *scenario)
{
	struct data d = scenario->prepare();

	trace_store_reset(d.store);
	CHECK_INT(scenario->run(&d), OK);
	uint64_t calls = calls_of(&d), writes = writes_of(&d);
	data_free(&d);
	CHECK(calls < CALLS_MAX);
	each_write_fails_late(scenario, writes);
	for (uint64_t n = 1; n <= calls && n < CALLS_MAX; n++) {
		d = scenario->prepare();
		trace_store_fail(d.store, n, ERR_STORE_FULL);
		CHECK_INT(scenario->run(&d), ERR_STORE_FULL);
		CHECK_STR(d.err.message, "a fault was injected");
		trace_store_fail(d.store, 0, OK);
		CHECK_INT(scenario->run(&d), OK);
		data_free(&d);
	}
	return calls;
}

static const struct value *item(struct data *d, const char *pk, const char *sk)
{
	return data_item(d, "pk", pk, "sk", sk, "l", "N1", "g", "Sg", "h", "Sh", "z", "Sz", NULL);
}

/* The table, with one item, as a catalog sees it that has counted nothing yet. */
static struct data uncounted_with(struct catalog_options options)
{
	struct data d = data_open(&options);

	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"), 1, &d.table, &d.err), OK);
	CHECK_INT(data_put(&d, item(&d, "Sa", "N1")), OK);
	catalog_close(d.catalog);
	CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
	data_take_current(&d);
	return d;
}

static struct data uncounted(void)
{
	return uncounted_with((struct catalog_options){.collection_max = 10000});
}

static struct data one_item(void)
{
	struct data d = uncounted();

	CHECK_INT(data_put(&d, item(&d, "Sother", "N1")), OK);
	return d;
}

/* An index that the filling has not begun with. */
static struct data unfilled(void)
{
	struct data d = one_item();

	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	data_take_current(&d);
	return d;
}

/* An index that is large enough to be emptied before it is dropped, and was not counted since the
 * start. */
static struct data deleted(void)
{
	struct data d = uncounted_with((struct catalog_options){.drop_max = 1});
	struct table *next;

	CHECK_INT(data_put(&d, item(&d, "Sb", "N1")), OK);
	CHECK_INT(data_put(&d, item(&d, "Sc", "N1")), OK);
	next = table_clone(d.table);
	next->indexes.v[1].status = STATUS_DELETING;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	catalog_close(d.catalog);
	CHECK_INT(
		catalog_open(d.store, &(struct catalog_options){.drop_max = 1}, &d.catalog, &d.err),
		OK);
	data_take_current(&d);
	return d;
}

static const struct value *vector_item(struct data *d, const char *t)
{
	struct value *item = ARENA_NEW(d->arena, struct value),
		     *elements = ARENA_ARRAY(d->arena, struct value, 1);
	struct member *members = ARENA_ARRAY(d->arena, struct member, 4);

	elements[0] = data_value(d, "N1");
	members[0] = (struct member){STR("pk"), data_value(d, "Sa")};
	members[1] = (struct member){STR("sk"), data_value(d, "N1")};
	members[2] = (struct member){STR("t"), data_value(d, t)};
	members[3] = (struct member){STR("v"), {.type = TYPE_L, .n = 1, .elements = elements}};
	*item = (struct value){.type = TYPE_M, .n = 4, .members = members};
	return item;
}

/* A vector index, by t, that the filling has not begun with. */
static struct data unfilled_vectors(void)
{
	struct data d = data_new();

	CHECK_INT(data_put(&d, vector_item(&d, "Sx")), OK);
	struct table *next = table_clone(d.table);
	struct vector_spec *spec = ARENA_NEW(next->arena, struct vector_spec);
	*spec = (struct vector_spec){STR("v"), 1, DISTANCE_EUCLIDEAN, 1,
				     ARENA_NEW(next->arena, struct search_element)};
	spec->schema[0] = (struct search_element){{STR("t"), TYPE_S}, true};
	next->indexes.vectors = ARENA_NEW(next->arena, struct index);
	next->indexes.vectors[0] = (struct index){.name = STR("near"),
						  .projection = PROJECT_ALL,
						  .number = next->indexes.next++,
						  .vector = spec};
	next->indexes.vector_n = 1;
	table_index_derive(next, &next->indexes.vectors[0]);
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	data_take_current(&d);
	CHECK(d.table->indexes.vectors[0].is_backfilling);
	return d;
}

static enum code change_vector(struct data *d)
{
	return data_put(d, vector_item(d, "Sy"));
}

static enum code put_another(struct data *d)
{
	return data_put(d, item(d, "Sa", "N2"));
}

static enum code change_keys(struct data *d)
{
	return data_put(
		d, data_item(d, "pk", "Sa", "sk", "N1", "l", "N2", "g", "Sg2", "z", "Sz2", NULL));
}

static enum code measure_collection(struct data *d)
{
	struct write write = {.table = d->table,
			      .kind = WRITE_PUT,
			      .item = item(d, "Sa", "N2"),
			      .wants_collection_size = true};

	tally_know(d->table->tally, 1, 2ll << 30); /* of a smaller table none is measured */
	return data_write(d, &write);
}

static enum code transact(struct data *d)
{
	struct write_token token = {.token = STR("t"), .fingerprint = STR("f"), .expires_ms = 1000};
	struct write writes[2] = {
		{.table = d->table, .kind = WRITE_PUT, .item = item(d, "Sa", "N1")},
		{.table = d->table,
		 .kind = WRITE_DELETE,
		 .key = data_item(d, "pk", "Sa", "sk", "N2", NULL)}};

	for (int i = 0; i < 2; i++)
		CHECK_INT(write_prepare(d->arena, &writes[i], &d->err), OK);
	return write_run(d->catalog, d->arena, writes, 2, WRITE_TRANSACTION, &token, 1, &d->err);
}

static struct data transacted(void)
{
	struct data d = one_item();

	CHECK_INT(transact(&d), OK);
	return d;
}

static enum code query_local(struct data *d)
{
	struct read_page page = {.table = d->table,
				 .index = &d->table->indexes.v[LOCAL],
				 .select = READ_ALL_ATTRIBUTES};

	return read_page(d->catalog, d->arena, &page, &d->err);
}

static enum code get_two(struct data *d)
{
	struct read_item items[2] = {
		{.table = d->table, .key = data_item(d, "pk", "Sa", "sk", "N1", NULL)},
		{.table = d->table, .key = data_item(d, "pk", "Sa", "sk", "N2", NULL)}};

	for (int i = 0; i < 2; i++)
		CHECK_INT(read_prepare(d->arena, &items[i], &d->err), OK);
	return read_items(d->catalog, d->arena, items, 2, &d->err);
}

static enum code step(struct data *d)
{
	int64_t wait_ms;

	return backfill_step(d->catalog, TIMES_AT(5), &wait_ms, &d->err);
}

static enum code fill_index(struct data *d)
{
	return backfill_run(d->catalog, DATA_NS, STR("data"), 3, 5, &d->err);
}

TEST(writes)
{
	CHECK(each_call_fails(&(struct scenario){one_item, put_another}) > 5);
	CHECK(each_call_fails(&(struct scenario){one_item, change_keys}) > 8);
	CHECK(each_call_fails(&(struct scenario){uncounted, put_another}) > 6);
	CHECK(each_call_fails(&(struct scenario){unfilled, change_keys}) > 9);
	CHECK(each_call_fails(&(struct scenario){unfilled_vectors, change_vector}) > 5);
	CHECK(each_call_fails(&(struct scenario){one_item, measure_collection}) > 2);
}

TEST(transactions)
{
	CHECK(each_call_fails(&(struct scenario){one_item, transact}) > 5);
	CHECK_INT(each_call_fails(&(struct scenario){transacted, transact}),
		  4); /* begin, the version and both items, the token, commit */
}

TEST(reads)
{
	CHECK_INT(each_call_fails(&(struct scenario){one_item, query_local}),
		  5); /* begin, the version, the rows, their items, commit */
	CHECK_INT(each_call_fails(&(struct scenario){one_item, get_two}),
		  3); /* begin, the version and both items, commit */
}

TEST(work_on_indexes)
{
	CHECK(each_call_fails(&(struct scenario){unfilled, step}) > 5);
	CHECK(each_call_fails(&(struct scenario){unfilled, fill_index}) > 5);
	CHECK(each_call_fails(&(struct scenario){deleted, step}) > 5);
}

static const struct catalog_options two_records = {.rotation = {.records = 2}};

static enum code put_at(struct data *d, const char *sk, int64_t now_ms)
{
	struct write write = {.table = d->table, .kind = WRITE_PUT, .item = item(d, "Sa", sk)};

	CHECK_INT(write_prepare(d->arena, &write, &d->err), OK);
	return write_run(d->catalog, d->arena, &write, 1, WRITE_ALONE, NULL, now_ms, &d->err);
}

/* Three records in two shards of a day ago, one of now; the writer remembers nothing of them. */
static struct data streamed(void)
{
	struct data d = data_open(&two_records);
	struct table *table = data_table("data");

	table->streams = (struct table_streams){
		.view = STREAM_NEW_AND_OLD_IMAGES,
		.label = STR("label"),
		.n = 1,
		.v = ARENA_NEW(table->arena, struct stream),
		.state = table->streams.state,
	};
	table->streams.v[0] = (struct stream){.label = STR("label"),
					      .number = 1,
					      .view = STREAM_NEW_AND_OLD_IMAGES,
					      .created_ms = 1000};
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1000, &d.table, &d.err), OK);
	for (int i = 0; i < 3; i++)
		CHECK_INT(put_at(&d, str_printf(d.arena, "N%d", i).p, 1000), OK);
	CHECK_INT(put_at(&d, "N3", DAY_MS), OK);
	catalog_close(d.catalog);
	CHECK_INT(catalog_open(d.store, &two_records, &d.catalog, &d.err), OK);
	data_take_current(&d);
	return d;
}

static enum code append(struct data *d)
{
	return put_at(d, "N4", DAY_MS);
}

/* The records of the first day go. */
static enum code append_and_trim(struct data *d)
{
	return put_at(d, "N4", DAY_MS + DAY_MS / 2);
}

static enum code rotate(struct data *d)
{
	return stream_rotate(d->store, d->table, DAY_MS, &d->err);
}

static enum code sweep(struct data *d)
{
	return stream_sweep(d->catalog, TIMES_AT(DAY_MS + DAY_MS / 2), &d->err);
}

static enum code list_shards(struct data *d)
{
	struct stream_shard_page page = {.limit = 1};

	return stream_read_shards(d->store, d->arena, d->table, &d->table->streams.v[0], DAY_MS,
				  &page, &d->err);
}

static struct stream_cursor first_shard(struct data *d)
{
	struct stream_shard_page page = {.limit = 1};

	CHECK_INT(stream_read_shards(d->store, d->arena, d->table, &d->table->streams.v[0], DAY_MS,
				     &page, &d->err),
		  OK);
	return (struct stream_cursor){.table = d->table,
				      .stream = &d->table->streams.v[0],
				      .shard = page.shards[0].stamp,
				      .now_ms = DAY_MS};
}

/* The cursor is found before anything fails. */
static struct stream_cursor cursor;
static enum stream_start start;

static struct data at_first_shard(void)
{
	struct data d = streamed();

	cursor = first_shard(&d);
	cursor.position = 0;
	return d;
}

static enum code find(struct data *d)
{
	cursor.table = d->table;
	cursor.stream = &d->table->streams.v[0];
	return stream_read_start(d->store, d->arena, &cursor, start, 2, 500, &d->err);
}

static enum code read_records(struct data *d)
{
	struct stream_page page;

	cursor.table = d->table;
	cursor.stream = &d->table->streams.v[0];
	return stream_read_page(d->store, d->arena, &cursor, 10, &page, &d->err);
}

TEST(changes_of_streams)
{
	CHECK(each_call_fails(&(struct scenario){streamed, append}) > 10);
	CHECK(each_call_fails(&(struct scenario){streamed, append_and_trim}) > 14);
	CHECK(each_call_fails(&(struct scenario){streamed, rotate}) > 6);
	CHECK(each_call_fails(&(struct scenario){streamed, sweep}) > 8);
}

TEST(reads_of_streams)
{
	CHECK(each_call_fails(&(struct scenario){streamed, list_shards}) > 1);
	for (start = STREAM_START_TRIM_HORIZON; start <= STREAM_START_AT_TIME; start++)
		CHECK(each_call_fails(&(struct scenario){at_first_shard, find}) > 2);
	CHECK(each_call_fails(&(struct scenario){at_first_shard, read_records}) > 2);
}

TEST_MAIN(TEST_CASE(writes), TEST_CASE(transactions), TEST_CASE(reads), TEST_CASE(work_on_indexes),
	  TEST_CASE(changes_of_streams), TEST_CASE(reads_of_streams))
