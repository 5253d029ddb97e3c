/*
 * Two catalogs on one store, as two processes have them: what one changes, the other must see or be
 * refused, and nothing may be right only because writers queue. The store is the optimistic one.
 */
#include <pthread.h>

#include "storage/catalog/catalog_size.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/ttl.h"
#include "storage/vector/vector.h"
#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/optimistic_store.h"

enum { A, B, PROCESSES };

struct pair {
	struct optimistic_db *db;
	struct data of[PROCESSES]; /* their tables are their own snapshots of "data" */
};

static struct data process_on(struct optimistic_db *db, const struct catalog_options *options)
{
	struct catalog_options own = options ? *options : (struct catalog_options){0};
	struct data data = {.arena = arena_new(1 << 20)};

	own.has_peers = true;
	data.err = err_in(data.arena);
	data.store = trace_store_new(optimistic_open(db));
	CHECK(catalog_open(data.store, &own, &data.catalog, &data.err) == OK);
	return data;
}

/* The table of data_table(), made by A, and seen by B. */
static struct pair pair_with(const struct catalog_options *options)
{
	struct pair pair = {.db = optimistic_db_new()};

	pair.of[A] = process_on(pair.db, options);
	CHECK_INT(catalog_create(pair.of[A].catalog, DATA_NS, data_table("data"), 1000,
				 &pair.of[A].table, &pair.of[A].err),
		  OK);
	pair.of[B] = process_on(pair.db, options);
	CHECK_INT(catalog_get(pair.of[B].catalog, DATA_NS, STR("data"), 5000, &pair.of[B].table,
			      &pair.of[B].err),
		  OK);
	return pair;
}

static struct pair pair_new(void)
{
	return pair_with(NULL);
}

static void pair_free(struct pair *pair)
{
	for (int i = 0; i < PROCESSES; i++)
		data_free(&pair->of[i]);
	optimistic_db_unref(pair->db);
}

/* The table looked up again, as an operation does that found it moved. */
static enum code again(struct data *data, const char *name)
{
	struct table *table;
	enum code code = catalog_refresh(data->catalog, &data->err);

	if (code == OK)
		code = catalog_get(data->catalog, DATA_NS, str_of(name), 5000, &table, &data->err);
	if (code != OK)
		return code;
	table_unref(data->table);
	data->table = table;
	return OK;
}

/* A write as an operation runs it: once more with the table as it is now. */
static enum code write_again(struct data *data, struct write write)
{
	struct write first = write;
	enum code code = data_write(data, &first);

	if (code != ERR_TABLE_MOVED)
		return code;
	code = again(data, "data");
	return code == OK ? data_write(data, &write) : code;
}

static enum code put_again(struct data *data, const struct value *item)
{
	return write_again(data, (struct write){.kind = WRITE_PUT, .item = item});
}

TEST(tables_of_another_process_are_seen)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *made, *seen;
	struct str *names;
	bool more;

	CHECK_INT(catalog_create(a->catalog, DATA_NS, data_table("other"), 1000, &made, &a->err),
		  OK);
	CHECK_INT(catalog_create(b->catalog, DATA_NS, data_table("other"), 1000, &seen, &b->err),
		  ERR_RESOURCE_IN_USE);
	CHECK_INT(catalog_get(b->catalog, DATA_NS, STR("other"), 5000, &seen, &b->err), OK);
	CHECK_INT(seen->identity.number, made->identity.number);
	CHECK_INT(data_count(b->catalog, DATA_NS, 5000), 2);
	CHECK_INT(data_list(b->catalog, DATA_NS, STR_ABSENT, 9, 5000, b->arena, &names, &more), 2);
	CHECK_INT(catalog_delete(a->catalog, made, 5000, &a->err), OK);
	CHECK_INT(catalog_refresh(b->catalog, &b->err), OK);
	CHECK_INT(data_count(b->catalog, DATA_NS, 5000), 1);
	table_unref(made);
	table_unref(seen);
	CHECK_INT(catalog_get(b->catalog, DATA_NS, STR("other"), 5000, &seen, &b->err),
		  ERR_RESOURCE_NOT_FOUND);
	pair_free(&pair);
}

TEST(numbers_of_tables_are_never_shared)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *of_a, *of_b;

	CHECK_INT(catalog_create(a->catalog, DATA_NS, data_table("a"), 1000, &of_a, &a->err), OK);
	CHECK_INT(catalog_create(b->catalog, DATA_NS, data_table("b"), 1000, &of_b, &b->err), OK);
	CHECK(of_a->identity.number != of_b->identity.number);
	table_unref(of_a);
	table_unref(of_b);
	pair_free(&pair);
}

TEST(writes_through_an_old_snapshot_are_refused)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	const struct value *item = data_item(b, "pk", "Sa", "sk", "N1", "z", "Sz", NULL);

	CHECK_INT(catalog_replace(a->catalog, a->table, data_with_index(a->table), &a->err), OK);
	CHECK_INT(data_put(b, item), ERR_TABLE_MOVED);
	CHECK_INT(put_again(b, item), OK);
	CHECK_INT(b->table->indexes.n, 4);
	CHECK_INT(data_rows(b, &b->table->indexes.v[3]).n, 1);
	pair_free(&pair);
}

TEST(reads_through_an_old_snapshot_are_refused)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct read_item item = {.table = b->table,
				 .key = data_item(b, "pk", "Sa", "sk", "N1", NULL),
				 .mode = READ_CONSISTENT};
	struct read_page page = {.table = b->table, .limit = 1, .select = READ_COUNT};

	CHECK_INT(catalog_delete(a->catalog, a->table, 1, &a->err), OK);
	CHECK_INT(read_prepare(b->arena, &item, &b->err), OK);
	CHECK_INT(read_items(b->catalog, b->arena, &item, 1, &b->err), ERR_TABLE_MOVED);
	CHECK_INT(read_page(b->catalog, b->arena, &page, &b->err), ERR_TABLE_MOVED);
	CHECK_INT(again(b, "data"), ERR_RESOURCE_NOT_FOUND);
	pair_free(&pair);
}

/* Of two changes made from one snapshot, the second is refused, whoever makes it. */
TEST(no_change_of_a_table_is_lost)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *next = table_clone(b->table);

	next->ttl.changed_ms = 77;
	CHECK_INT(catalog_replace(a->catalog, a->table, data_with_index(a->table), &a->err), OK);
	CHECK_INT(catalog_replace(b->catalog, b->table, next, &b->err), ERR_TABLE_MOVED);
	CHECK_INT(again(b, "data"), OK);
	next = table_clone(b->table);
	next->ttl.changed_ms = 77;
	CHECK_INT(catalog_replace(b->catalog, b->table, next, &b->err), OK);
	CHECK_INT(again(a, "data"), OK);
	CHECK_INT(a->table->ttl.changed_ms, 77);
	CHECK_INT(a->table->indexes.n, 4);
	pair_free(&pair);
}

/* What is nothing to writers does not make them come again. */
TEST(a_setting_does_not_disturb_writers)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *next = table_clone(a->table);

	next->ttl.changed_ms = 77;
	CHECK_INT(catalog_replace(a->catalog, a->table, next, &a->err), OK);
	CHECK_INT(data_put(b, data_item(b, "pk", "Sa", "sk", "N1", NULL)), OK);
	CHECK_INT(again(b, "data"), OK);
	CHECK_INT(b->table->ttl.changed_ms, 77);
	pair_free(&pair);
}

/* A table of the same name is another table. */
TEST(a_table_of_the_same_name_is_another_one)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	const struct value *item = data_item(b, "pk", "Sa", "sk", "N1", NULL);
	struct table *next;

	CHECK_INT(data_put(b, item), OK);
	CHECK_INT(catalog_delete(a->catalog, a->table, 1, &a->err), OK);
	CHECK_INT(catalog_create(a->catalog, DATA_NS, data_table("data"), 2, &next, &a->err), OK);
	CHECK_INT(data_put(b, item), ERR_TABLE_MOVED);
	CHECK_INT(again(b, "data"), OK);
	CHECK_INT(b->table->identity.number, next->identity.number);
	CHECK(!str_is_set(data_get(b, item)));
	table_unref(next);
	pair_free(&pair);
}

TEST(transient_statuses_are_everyones)
{
	struct catalog_options options = {.transient_status_ms = 1000};
	struct pair pair = pair_with(&options);
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *table;

	CHECK_INT(catalog_delete(a->catalog, a->table, 6000, &a->err), OK);
	CHECK_INT(catalog_refresh(b->catalog, &b->err), OK);
	CHECK_INT(catalog_get(b->catalog, DATA_NS, STR("data"), 6500, &table, &b->err), OK);
	CHECK_INT(table->state.status, STATUS_DELETING);
	table_unref(table);
	CHECK_INT(catalog_get(b->catalog, DATA_NS, STR("data"), 7000, &table, &b->err),
		  ERR_RESOURCE_NOT_FOUND);
	pair_free(&pair);
}

static size_t rows_in(struct data *data, struct keyspace keyspace)
{
	struct store_stat stat;
	struct store_txn *txn;

	CHECK_INT(store_begin(data->store, STORE_READ, &txn, &data->err), OK);
	CHECK_INT(store_stat(txn, keyspace, &stat, &data->err), OK);
	store_abort(txn);
	return stat.rows;
}

/* An index made by one process is filled by the other, also when both try. */
TEST(work_is_found_and_done_once)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	int64_t wait_ms;

	for (int i = 0; i < 300; i++) {
		char key[16];

		snprintf(key, sizeof(key), "S%d", i);
		CHECK_INT(data_put(a, data_item(a, "pk", key, "sk", "N1", "z", "Sz", NULL)), OK);
	}
	CHECK_INT(catalog_replace(a->catalog, a->table, data_with_index(a->table), &a->err), OK);
	for (int i = 0; i < 20; i++)
		CHECK_INT(backfill_step(pair.of[i % PROCESSES].catalog, TIMES_AT(5000), &wait_ms,
					&pair.of[i % PROCESSES].err),
			  OK);
	CHECK_INT(again(a, "data"), OK);
	CHECK_INT(again(b, "data"), OK);
	CHECK_INT(a->table->indexes.v[3].status, STATUS_ACTIVE);
	CHECK_INT(b->table->indexes.v[3].status, STATUS_ACTIVE);
	CHECK_INT(rows_in(b, index_keyspace(b->table, &b->table->indexes.v[3])), 300);
	pair_free(&pair);
}

TEST(both_sweep_what_expires)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table *next = table_clone(a->table);
	uint64_t by_a = 0, by_b = 0;
	bool more;

	next->ttl.is_enabled = true;
	next->ttl.attribute = STR("ends");
	CHECK_INT(catalog_replace(a->catalog, a->table, next, &a->err), OK);
	CHECK_INT(put_again(b, data_item(b, "pk", "Sa", "sk", "N1", "ends", "N1600000000", NULL)),
		  OK);
	CHECK_INT(ttl_sweep(a->catalog, TIMES_AT(1700000000000), 0, &by_a, &more, &a->err), OK);
	CHECK_INT(ttl_sweep(b->catalog, TIMES_AT(1700000000000), 0, &by_b, &more, &b->err), OK);
	CHECK_INT(by_a, 1);
	CHECK_INT(by_b, 0);
	pair_free(&pair);
}

/* A token that one process has seen is known to the other. */
TEST(tokens_are_everyones)
{
	struct pair pair = pair_new();

	for (int i = 0; i < PROCESSES; i++) {
		struct data *data = &pair.of[i];
		struct write write = {.table = data->table,
				      .kind = WRITE_UPDATE,
				      .key = data_item(data, "pk", "Sa", "sk", "N1", NULL)};
		struct write_token token = {.token = STR("0/r/t"),
					    .space_size = 4,
					    .fingerprint = STR("f"),
					    .expires_ms = 9000};

		write.update = data_update(data, "ADD n :one", ":one", "N1", NULL);
		CHECK_INT(write_prepare(data->arena, &write, &data->err), OK);
		CHECK_INT(write_run(data->catalog, data->arena, &write, 1, WRITE_TRANSACTION,
				    &token, 2000, &data->err),
			  OK);
		CHECK_INT(token.was_done, i == B);
	}
	pair_free(&pair);
}

/* pk S; a vector of three numbers in v. */
static struct table *vector_table(void)
{
	struct table *table = table_new(NULL);
	struct key_attribute pk = {STR("pk"), TYPE_S};

	table->identity.name = STR("vectors");
	table->keys = (struct key_schema){1, 0, {pk}};
	table->indexes.vector_n = 1;
	table->indexes.vectors = ARENA_ARRAY(table->arena, struct index, 1);
	table->indexes.vectors[0] =
		(struct index){.name = STR("near"),
			       .projection = PROJECT_KEYS_ONLY,
			       .vector = ARENA_NEW(table->arena, struct vector_spec)};
	*table->indexes.vectors[0].vector = (struct vector_spec){
		.attribute = STR("v"), .dimensions = 3, .distance = DISTANCE_EUCLIDEAN};
	return table;
}

static const struct value *vector_item(struct data *data, const char *key, const char *number)
{
	struct member *members = ARENA_ARRAY(data->arena, struct member, 2);
	struct value *item = ARENA_NEW(data->arena, struct value),
		     *elements = ARENA_ARRAY(data->arena, struct value, 3);

	for (int i = 0; i < 3; i++)
		elements[i] = data_value(data, number);
	members[0] = (struct member){STR("pk"), data_value(data, key)};
	members[1] = (struct member){STR("v"), {.type = TYPE_L, .n = 3, .elements = elements}};
	*item = (struct value){.type = TYPE_M, .n = 2, .members = members};
	return item;
}

/* How many rows a search for the origin finds. */
static size_t found(struct data *data)
{
	const float query[] = {0, 0, 0};
	struct vector_search search = {.store = data->store,
				       .memory = catalog_vector_memory(data->catalog),
				       .table = data->table,
				       .index = &data->table->indexes.vectors[0],
				       .query = query,
				       .top = 100};

	CHECK_INT(vector_search(data->arena, &search, &data->err), OK);
	return search.n;
}

/*
 * What a process keeps of a vector index in memory is true although other processes write to the
 * index, and although commits are refused whose rows it has noted already.
 */
TEST(matrices_hold_what_all_processes_wrote)
{
	struct catalog_options options = {.vector_memory_bytes = 1 << 20};
	struct pair pair = pair_with(&options);
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct optimistic_faults faults = {
		.conflict = 300, .unavailable = 100, .unknown_lost = 100, .seed = 3};
	size_t rows = 0;

	table_unref(a->table);
	CHECK_INT(catalog_create(a->catalog, DATA_NS, vector_table(), 1000, &a->table, &a->err),
		  OK);
	table_unref(b->table);
	CHECK_INT(catalog_get(b->catalog, DATA_NS, STR("vectors"), 2000, &b->table, &b->err), OK);
	for (int i = 0; i < 200; i++) {
		struct data *data = &pair.of[i % 3 == 0];
		char key[16];

		snprintf(key, sizeof(key), "S%d", i % 90);
		optimistic_db_fail(pair.db, &faults);
		faults.seed++;
		if (i % 7 == 6)
			(void)!data_write(data,
					  &(struct write){.kind = WRITE_DELETE,
							  .key = data_item(data, "pk", key, NULL)});
		else
			(void)!data_put(data, vector_item(data, key, i % 2 ? "N1" : "N2"));
		optimistic_db_fail(pair.db, &(struct optimistic_faults){0});
		rows = rows_in(data,
			       index_keyspace(data->table, &data->table->indexes.vectors[0])) -
		       1; /* one is the version */
		CHECK_INT(found(a), rows);
		CHECK_INT(found(b), rows);
	}
	CHECK(rows > 50);
	pair_free(&pair);
}

#define WRITERS 16
#define WRITES 200
#define KEYS 12

struct writer {
	pthread_t thread;
	struct pair *pair;
	struct data data; /* a process's store and catalog, and an arena of its own */
	unsigned long long seed;
	long long done[KEYS], unknown[KEYS];
};

static unsigned draw(struct writer *writer, unsigned n)
{
	writer->seed = writer->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(writer->seed >> 33) % n;
}

/* Adds one to counters, which lie in an index too, until every add was acknowledged or refused or
 * cannot be known. */
static void *add_at_random(void *context)
{
	struct writer *writer = context;
	struct data *data = &writer->data;

	for (int i = 0; i < WRITES / TEST_SLOWNESS; i++) {
		unsigned k = draw(writer, KEYS);
		char key[16];

		snprintf(key, sizeof(key), "Sk%u", k);
		struct write write = {.kind = WRITE_UPDATE,
				      .key = data_item(data, "pk", key, "sk", "N1", NULL)};
		write.update = data_update(data, "SET g = :g, h = :h ADD n :one", ":one", "N1",
					   ":g", draw(writer, 2) ? "Sx" : "Sy", ":h", "Sh", NULL);
		enum code code = write_again(data, write);
		writer->done[k] += code == OK;
		writer->unknown[k] += code == ERR_STORE_UNKNOWN;
		CHECK(code == OK || code == ERR_STORE_UNKNOWN || code == ERR_STORE_UNAVAILABLE ||
		      code == ERR_TABLE_MOVED);
		arena_reset(data->arena);
		data->err = err_in(data->arena);
	}
	return NULL;
}

/* Changes what disturbs writers, again and again. */
static void *change_at_random(void *context)
{
	struct writer *writer = context;
	struct data *data = &writer->data;

	for (int i = 0; i < 20; i++) {
		struct table *next;

		if (again(data, "data") != OK)
			continue;
		next = table_clone(data->table);
		next->ttl.is_enabled = !next->ttl.is_enabled;
		next->ttl.attribute = STR("ends");
		(void)!catalog_replace(data->catalog, data->table, next, &data->err);
	}
	return NULL;
}

static void check_counters(struct pair *pair, const struct writer *writers)
{
	struct data *data = &pair->of[A];
	size_t rows = 0;

	CHECK_INT(again(data, "data"), OK);
	for (int k = 0; k < KEYS; k++) {
		long long done = 0, unknown = 0;
		char key[16];
		struct value n;
		int64_t is = 0;

		for (int w = 0; w < WRITERS; w++) {
			done += writers[w].done[k];
			unknown += writers[w].unknown[k];
		}
		snprintf(key, sizeof(key), "Sk%d", k);
		struct str image = data_get(data, data_item(data, "pk", key, "sk", "N1", NULL));
		if (str_is_set(image)) {
			CHECK(image_get(data->arena, image, STR("n"), &n));
			CHECK(number_to_int(value_str(&n), &is));
			rows++;
		}
		CHECK(is >= done && is <= done + unknown);
	}
	for (int i = 0; i < 3; i++)
		CHECK_INT(data_rows(data, &data->table->indexes.v[i]).n, i == LOCAL ? 0 : rows);
}

static void check_numbers(struct data *data)
{
	struct table_size *sizes;

	CHECK_INT(again(data, "data"), OK);
	CHECK_INT(catalog_sizes(data->catalog, data->table, data->arena, &sizes, &data->err), OK);
	for (size_t i = 0; i <= table_index_total(data->table); i++) {
		struct data_rows rows =
			data_rows(data, i == 0 ? NULL : table_index_at(data->table, i - 1));
		uint64_t bytes = 0;

		for (size_t k = 0; k < rows.n; k++)
			bytes += image_item_size(rows.images[k]);
		CHECK_INT(sizes[i].items, rows.n);
		CHECK_INT(sizes[i].bytes, bytes);
	}
}

/* Each has its own changes at once, and those of others when they are flushed; a number is never
 * written over. */
TEST(numbers_of_all_processes_add_up)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B];
	struct table_size *sizes;

	for (int i = 0; i < 10; i++)
		CHECK_INT(data_put(&pair.of[i % 3 == 0],
				   data_item(a, "pk", str_printf(a->arena, "S%d", i).p, "sk", "N1",
					     "l", "N2", NULL)),
			  OK);
	CHECK_INT(catalog_sizes(a->catalog, a->table, a->arena, &sizes, &a->err), OK);
	CHECK_INT(sizes[0].items, 6);
	CHECK_INT(catalog_size_flush(b->catalog, &b->err), OK);
	check_numbers(a);
	CHECK_INT(catalog_size_flush(a->catalog, &a->err), OK);
	check_numbers(a);
	check_numbers(b);
	pair_free(&pair);
}

/* The other one sees its mark unchanged for too long. */
TEST(numbers_of_a_process_that_died_are_counted)
{
	struct pair pair = pair_new();
	struct data *a = &pair.of[A], *b = &pair.of[B], lost = process_on(pair.db, NULL);
	bool more = true;

	CHECK_INT(catalog_get(lost.catalog, DATA_NS, STR("data"), 5000, &lost.table, &lost.err),
		  OK);
	CHECK_INT(data_put(&lost, data_item(&lost, "pk", "Sa", "sk", "N1", "l", "N2", NULL)), OK);
	CHECK_INT(data_put(a, data_item(a, "pk", "Sb", "sk", "N1", NULL)), OK);
	for (int64_t now_ms = 0; now_ms < 50000; now_ms += 10000) {
		CHECK_INT(catalog_size_keep(b->catalog, now_ms, &b->err), OK);
		CHECK_INT(catalog_size_keep(a->catalog, now_ms, &a->err), OK);
	}
	CHECK_INT(catalog_size_keep(b->catalog, 61000, &b->err), OK);
	CHECK_INT(data_put(a, data_item(a, "pk", "Sc", "sk", "N1", NULL)), OK);
	while (more)
		CHECK_INT(catalog_size_step(a->catalog, &more, &a->err), OK);
	check_numbers(a);
	/* it was only slow: what it knew is in the numbers already */
	CHECK_INT(catalog_size_flush(lost.catalog, &lost.err), OK);
	check_numbers(a);
	CHECK_INT(data_put(&lost, data_item(&lost, "pk", "Sd", "sk", "N1", NULL)), OK);
	CHECK_INT(catalog_size_flush(lost.catalog, &lost.err), OK);
	check_numbers(a);
	data_free(&lost);
	pair_free(&pair);
}

TEST(no_update_is_lost_among_processes)
{
	struct pair pair = pair_new();
	struct optimistic_faults faults = {.conflict = 50,
					   .unavailable = 10,
					   .unknown_done = 10,
					   .unknown_lost = 10,
					   .seed = 7};
	struct writer writers[WRITERS + 1] = {0};

	optimistic_db_fail(pair.db, &faults);
	for (int i = 0; i <= WRITERS; i++) {
		writers[i] = (struct writer){
			.pair = &pair, .data = pair.of[i % PROCESSES], .seed = (unsigned)i + 1};
		writers[i].data.arena = arena_new(1 << 20);
		writers[i].data.err = err_in(writers[i].data.arena);
		table_ref(writers[i].data.table);
		CHECK_INT(pthread_create(&writers[i].thread, NULL,
					 i < WRITERS ? add_at_random : change_at_random,
					 &writers[i]),
			  0);
	}
	for (int i = 0; i <= WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	faults = (struct optimistic_faults){0};
	optimistic_db_fail(pair.db, &faults);
	check_counters(&pair, writers);
	for (int i = 0; i < PROCESSES; i++)
		CHECK_INT(catalog_size_flush(pair.of[i].catalog, &pair.of[i].err), OK);
	check_numbers(&pair.of[A]);
	CHECK(optimistic_db_counts(pair.db).conflicts > 0);
	for (int i = 0; i <= WRITERS; i++) {
		table_unref(writers[i].data.table);
		arena_free(writers[i].data.arena);
	}
	pair_free(&pair);
}

TEST_MAIN(TEST_CASE(numbers_of_all_processes_add_up),
	  TEST_CASE(numbers_of_a_process_that_died_are_counted),
	  TEST_CASE(tables_of_another_process_are_seen),
	  TEST_CASE(numbers_of_tables_are_never_shared),
	  TEST_CASE(writes_through_an_old_snapshot_are_refused),
	  TEST_CASE(reads_through_an_old_snapshot_are_refused),
	  TEST_CASE(no_change_of_a_table_is_lost), TEST_CASE(a_setting_does_not_disturb_writers),
	  TEST_CASE(a_table_of_the_same_name_is_another_one),
	  TEST_CASE(transient_statuses_are_everyones), TEST_CASE(work_is_found_and_done_once),
	  TEST_CASE(both_sweep_what_expires), TEST_CASE(tokens_are_everyones),
	  TEST_CASE(matrices_hold_what_all_processes_wrote),

	  TEST_CASE(no_update_is_lost_among_processes))
