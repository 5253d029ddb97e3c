/* Indexes of live tables: filled and emptied piece by piece, while items change, through failures
 * and restarts. */
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/size_rows.h"
#include "storage/pace.h"
#include "storage/upkeep/backfill.h"
#include "tests/unit/storage/data_fixture.h"

#define MANY (3 * BACKFILL_STEP_ROWS + 17)
#define LATER 3 /* the new index's place */

static const struct keyspace counters = {0, SYSTEM_COUNTERS};

/* Item i; `z` is its value in the new index, NULL: it has none. */
static const struct value *item(struct data *d, unsigned i, const char *z)
{
	const char *pk = str_printf(d->arena, "Sp%u", i % 7).p,
		   *sk = str_printf(d->arena, "N%u", i).p;

	return z ? data_item(d, "pk", pk, "sk", sk, "z", z, "a", "Sx", NULL)
		 : data_item(d, "pk", pk, "sk", sk, "a", "Sx", NULL);
}

/* Every third item is not in the index: it lacks z, or z is no string. */
static const char *z_of(unsigned i)
{
	static const char *const values[] = {"Sz", "Sy", NULL, "Sx", "Sw", "N1"};

	return values[i % 6];
}

static void put(struct data *d, unsigned i, const char *z)
{
	CHECK_INT(data_put(d, item(d, i, z)), OK);
}

static void delete(struct data *d, unsigned i)
{
	const struct value *whole = item(d, i, NULL);
	struct member *members = ARENA_ARRAY(d->arena, struct member, 2);
	struct value *key = ARENA_NEW(d->arena, struct value);
	struct write write = {.kind = WRITE_DELETE, .key = key};

	members[0] = (struct member){STR("pk"), *value_member(whole, STR("pk"))};
	members[1] = (struct member){STR("sk"), *value_member(whole, STR("sk"))};
	*key = (struct value){.type = TYPE_M, .n = 2, .members = members};
	CHECK_INT(data_write(d, &write), OK);
}

static void fill_table(struct data *d, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(d, i, z_of(i));
}

static void add_index(struct data *d)
{
	CHECK_INT(catalog_replace(d->catalog, d->table, data_with_index(d->table), &d->err), OK);
	data_take_current(d);
}

/* One piece of work; whether there is more at once. */
static bool step(struct data *d)
{
	int64_t wait_ms = -1;

	CHECK_INT(backfill_step(d->catalog, TIMES_AT(5), &wait_ms, &d->err), OK);
	data_take_current(d);
	return wait_ms == 0;
}

static void finish(struct data *d)
{
	for (int i = 0; i < 100 && step(d); i++)
		;
	CHECK_INT(d->table->indexes.v[LATER].status, STATUS_ACTIVE);
	CHECK(!d->table->indexes.v[LATER].is_backfilling);
}

struct rows {
	struct data *d;
	const struct index *index; /* of the items' rows; NULL where the index itself is read */
	size_t n;
	struct str *keys, *images;
};

static bool add_row(void *context, struct str key, struct str image)
{
	struct rows *rows = context;
	struct value decoded;

	if (rows->index) {
		CHECK(image_decode(rows->d->arena, image, &decoded));
		key = item_key_in_index(rows->d->arena, rows->d->table, rows->index, &decoded);
		if (!str_is_set(key))
			return true;
		image = item_index_image(rows->d->arena, rows->index, &decoded, image);
	}
	rows->keys[rows->n] = str_copy(rows->d->arena, key);
	rows->images[rows->n++] = str_copy(rows->d->arena, image);
	return true;
}

static struct rows rows_in(struct data *d, struct keyspace keyspace, const struct index *index)
{
	struct rows rows = {d, index, 0, ARENA_ARRAY(d->arena, struct str, 2 * MANY),
			    ARENA_ARRAY(d->arena, struct str, 2 * MANY)};
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn;

	CHECK(store_begin(d->store, STORE_READ, &txn, &d->err) == OK);
	CHECK(scan_rows(txn, keyspace, &all, add_row, &rows, &d->err) == OK);
	CHECK(store_commit(txn, &d->err) == OK);
	return rows;
}

static struct rows index_rows(struct data *d, const struct index *index)
{
	struct rows rows = {d, NULL, 0, ARENA_ARRAY(d->arena, struct str, 2 * MANY),
			    ARENA_ARRAY(d->arena, struct str, 2 * MANY)};
	struct store_txn *txn;

	CHECK(store_begin(d->store, STORE_READ, &txn, &d->err) == OK);
	CHECK(scan_index(txn, d->table, index, add_row, &rows, &d->err) == OK);
	CHECK(store_commit(txn, &d->err) == OK);
	return rows;
}

/* Those of the counters that are no numbers of items and bytes. */
static size_t rows_but_sizes(struct data *d)
{
	struct rows rows = rows_in(d, counters, NULL);
	size_t n = 0;

	for (size_t i = 0; i < rows.n; i++)
		n += !size_rows_is_key(rows.keys[i]) && !table_rows_is_key(rows.keys[i]);
	return n;
}

/* The index has the row of every item that fits, nothing else, and its counters say so. */
static void check_index(struct data *d, size_t expected)
{
	const struct index *index = &d->table->indexes.v[LATER];
	struct rows wanted = rows_in(d, table_items(d->table), index), found = index_rows(d, index);
	uint64_t items, bytes, sum = 0;
	size_t met = 0;

	CHECK_INT(wanted.n, expected);
	CHECK_INT(found.n, expected);
	for (size_t i = 0; i < wanted.n; i++) {
		size_t low = 0, high = found.n;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (str_cmp(found.keys[middle], wanted.keys[i]) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		met += low < found.n && str_eq(found.keys[low], wanted.keys[i]) &&
		       str_eq(found.images[low], wanted.images[i]);
		sum += image_item_size(wanted.images[i]);
	}
	CHECK_INT(met, expected);
	CHECK_INT(catalog_size(d->catalog, d->table, index, &items, &bytes, &d->err), OK);
	CHECK_INT(items, expected);
	CHECK_INT(bytes, sum);
}

/* Items 0..n-1 that z_of puts into the index. */
static size_t indexed(unsigned n)
{
	size_t count = 0;

	for (unsigned i = 0; i < n; i++)
		count += z_of(i) && z_of(i)[0] == 'S';
	return count;
}

TEST(an_index_is_filled_in_bounded_transactions)
{
	struct data d = data_new();
	unsigned steps = 0;
	bool more = true;

	fill_table(&d, MANY);
	add_index(&d);
	CHECK_INT(d.table->indexes.v[LATER].status, STATUS_CREATING);
	while (more && steps < 100) {
		trace_store_reset(d.store);
		more = step(&d);
		steps += more;
		CHECK(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)) <=
		      BACKFILL_STEP_ROWS);
		CHECK(trace_store_count(d.store, TRACE_PUT) <= BACKFILL_STEP_ROWS + 2);
	}
	CHECK_INT(steps, 4);
	CHECK_INT(d.table->indexes.v[LATER].status, STATUS_ACTIVE);
	check_index(&d, indexed(MANY));
	CHECK_INT(rows_but_sizes(&d), 1); /* the table number; no trace of the filling */
	data_free(&d);
}

/* While requests come; and as large as before when they have ended. */
TEST(pieces_are_small_while_requests_come)
{
	struct data d = data_new();
	const size_t small = BACKFILL_STEP_ROWS / PACE_CROWDED_PART;

	fill_table(&d, MANY);
	add_index(&d);
	pace_crowd(catalog_pace(d.catalog), true);
	for (int i = 0; i < 8; i++) {
		trace_store_reset(d.store);
		CHECK(step(&d));
		CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)), small);
		CHECK(trace_store_count(d.store, TRACE_PUT) <= small + 2);
	}
	pace_crowd(catalog_pace(d.catalog), false);
	trace_store_reset(d.store);
	CHECK(step(&d));
	CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)),
		  BACKFILL_STEP_ROWS);
	finish(&d);
	check_index(&d, indexed(MANY));
	data_free(&d);
}

/* What an operation does of its index at once is not less work because requests come. */
TEST(more_small_pieces_at_once_while_requests_come)
{
	struct data d = data_new();
	const size_t small = BACKFILL_STEP_ROWS / PACE_CROWDED_PART;

	fill_table(&d, MANY);
	add_index(&d);
	pace_crowd(catalog_pace(d.catalog), true);
	trace_store_reset(d.store);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 1, 5, &d.err), OK);
	CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)),
		  small * PACE_CROWDED_PART);
	data_free(&d);
}

TEST(large_items_make_smaller_pieces)
{
	struct data d = data_new();

	for (unsigned i = 0; i < 10; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%u", i).p,
					     "z", "Sz", "a", data_long(&d, 'S', 300 * 1024), NULL)),
			  OK);
	add_index(&d);
	trace_store_reset(d.store);
	CHECK(step(&d));
	CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)),
		  4); /* the first beyond 1 MB ends the piece */
	finish(&d);
	check_index(&d, 10);
	data_free(&d);
}

/* Four images of 256 KB. */
TEST(a_piece_of_just_1_MB_is_full)
{
	struct data d = data_new();
	size_t large = 256 * 1024, letters = large - 100;

	for (int round = 0; round < 2;
	     round++) { /* what is around the letters is known by the first item */
		for (unsigned i = 0; i < (round == 0 ? 1u : 5u); i++)
			CHECK_INT(data_put(&d,
					   data_item(&d, "pk", "Sa", "sk",
						     str_printf(d.arena, "N%u", i + 1).p, "z", "Sz",
						     "a", data_long(&d, 'S', letters), NULL)),
				  OK);
		letters += large - data_rows(&d, NULL).images[0].n;
	}
	CHECK_INT(data_rows(&d, NULL).images[4].n, large);
	add_index(&d);
	trace_store_reset(d.store);
	CHECK(step(&d));
	CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)), 4);
	finish(&d);
	check_index(&d, 5);
	data_free(&d);
}

TEST(writes_go_on_meanwhile)
{
	struct data d = data_new();

	fill_table(&d, MANY);
	add_index(&d);
	for (unsigned round = 0; round < 3; round++) {
		CHECK(step(&d));
		/* all over the keys: what was reached, and what was not */
		for (unsigned i = round; i < MANY; i += 41) {
			put(&d, i, i % 2 ? "Snew" : NULL); /* another key, or out of the index */
			put(&d, i + 10 * MANY, "Sadded");           /* new items */
			delete(&d, i + 7);
		}
	}
	finish(&d);
	const struct rows items = rows_in(&d, table_items(d.table), &d.table->indexes.v[LATER]);
	check_index(&d, items.n);
	/* and afterwards as for any index */
	put(&d, 1, "Slast");
	delete(&d, 2);
	check_index(&d, rows_in(&d, table_items(d.table), &d.table->indexes.v[LATER]).n);
	data_free(&d);
}

TEST(an_index_that_is_filled_is_kept_from_the_start)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_PUT};

	put(&d, 1, "Sz");
	add_index(&d);
	put(&d, 2, "Sz");
	/* the new item has its row already; the old one waits for the filling */
	CHECK_INT(rows_in(&d, index_keyspace(d.table, &d.table->indexes.v[LATER]), NULL).n, 1);
	write.item = item(&d, 3, "N1");
	CHECK_INT(data_write(&d, &write), ERR_VALIDATION);
	CHECK_STR(d.err.message, "One or more parameter values were invalid: Schema violation "
				 "against backfilling index");
	finish(&d);
	check_index(&d, 2);
	data_free(&d);
}

TEST(filling_goes_on_after_a_restart)
{
	struct data d = data_new();
	struct catalog_options options = {0};

	fill_table(&d, MANY);
	add_index(&d);
	CHECK(step(&d));
	CHECK(step(&d));
	for (int restart = 0; restart < 2; restart++) {
		catalog_close(d.catalog);
		CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
		data_take_current(&d);
		CHECK_INT(d.table->indexes.v[LATER].status, STATUS_CREATING);
		CHECK(d.table->indexes.v[LATER].is_backfilling);
		put(&d, 3 + (unsigned)restart, "Sother");
	}
	trace_store_reset(d.store);
	finish(&d);
	/* not from the start again */
	CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)),
		  MANY - 2 * BACKFILL_STEP_ROWS);
	check_index(&d, indexed(MANY));
	data_free(&d);
}

/* Whatever call of the store fails, and with a restart after it: nothing is missing and nothing
 * twice. */
TEST(a_failing_call_loses_nothing)
{
	struct data d = data_new();
	struct catalog_options options = {0};
	unsigned failures = 0;

	fill_table(&d, BACKFILL_STEP_ROWS + 100);
	add_index(&d);
	for (uint64_t n = 1; d.table->indexes.v[LATER].is_backfilling && n < 2000;
	     n = n < 12 ? n + 1 : n * 3 / 2) {
		int64_t wait_ms;

		trace_store_fail(d.store, n, n % 2 ? ERR_INTERNAL : ERR_CONFLICT);
		enum code code = backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err);
		CHECK(code == OK || n % 2 || n == 2); /* a conflict is tried again by the next step,
							 but for one of the look for changes */
		failures += code != OK;
		trace_store_fail(d.store, 0, OK);
		catalog_close(d.catalog);
		CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
		data_take_current(&d);
	}
	CHECK(failures > 5);
	finish(&d);
	check_index(&d, indexed(BACKFILL_STEP_ROWS + 100));
	data_free(&d);
}

static void delete_index(struct data *d)
{
	struct table *next = table_clone(d->table);

	next->indexes.v[LATER].status = STATUS_DELETING;
	next->indexes.v[LATER].is_backfilling = false;
	CHECK_INT(catalog_replace(d->catalog, d->table, next, &d->err), OK);
	data_take_current(d);
}

/* What the rows of an index lack to `bytes`. */
static uint64_t bytes_of_rows(struct data *d, const struct index *index, uint64_t bytes)
{
	struct rows rows = index_rows(d, index);

	for (size_t i = 0; i < rows.n; i++)
		bytes -= image_item_size(rows.images[i]);
	return bytes;
}

/* After a restart nobody has counted its rows. */
static void check_emptying(bool is_restarted)
{
	struct catalog_options options = {.drop_max = 1};
	struct data d = data_open(&options);
	struct keyspace keyspace;
	struct store_txn *txn;
	struct store_stat stat;
	bool more = true;
	unsigned steps = 0;

	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"), 1, &d.table, &d.err), OK);
	fill_table(&d, MANY);
	add_index(&d);
	finish(&d);
	keyspace = index_keyspace(d.table, &d.table->indexes.v[LATER]);
	delete_index(&d);
	CHECK_INT(d.table->indexes.n, 4);
	if (is_restarted) {
		catalog_close(d.catalog);
		CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
		data_take_current(&d);
	}
	/* each row that goes is taken from the counts */
	uint64_t items, bytes, items_left, bytes_left;
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[LATER], &items, &bytes,
			       &d.err),
		  OK);
	trace_store_reset(d.store);
	CHECK(step(&d));
	CHECK_INT(trace_store_count_in(d.store, TRACE_DEL, keyspace), BACKFILL_STEP_ROWS);
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[LATER], &items_left,
			       &bytes_left, &d.err),
		  OK);
	CHECK_INT(items - items_left, BACKFILL_STEP_ROWS);
	CHECK(bytes - bytes_left == bytes_of_rows(&d, &d.table->indexes.v[LATER], bytes));
	/* it is not kept any more, nor does it refuse what is no key for it */
	trace_store_reset(d.store);
	put(&d, 1, "N5");
	put(&d, 0, NULL);
	CHECK_INT(trace_store_count_in(d.store, TRACE_PUT, keyspace) +
			  trace_store_count_in(d.store, TRACE_DEL, keyspace),
		  0);
	for (int i = 0; more && i < 100; i++) {
		trace_store_reset(d.store);
		more = step(&d);
		steps += more;
		CHECK(trace_store_count_in(d.store, TRACE_DEL, keyspace) <= BACKFILL_STEP_ROWS);
	}
	CHECK(steps + 1 >= indexed(MANY) / BACKFILL_STEP_ROWS);
	CHECK_INT(d.table->indexes.n, 3);
	CHECK(store_begin(d.store, STORE_READ, &txn, &d.err) == OK);
	CHECK_INT(store_stat(txn, keyspace, &stat, &d.err), ERR_RESOURCE_NOT_FOUND);
	store_abort(txn);
	add_index(&d);
	CHECK_INT(d.table->indexes.v[LATER].number, 4);
	data_free(&d);
}

TEST(a_large_index_is_emptied_in_bounded_transactions)
{
	check_emptying(false);
}

TEST(so_is_one_whose_rows_were_not_counted)
{
	check_emptying(true);
}

TEST(a_creation_can_be_called_off)
{
	struct data d = data_new();

	fill_table(&d, MANY);
	add_index(&d);
	CHECK(step(&d));
	delete_index(&d);
	while (step(&d))
		;
	CHECK_INT(d.table->indexes.n, 3);
	CHECK_INT(rows_but_sizes(&d), 1);
	data_free(&d);
}

TEST(a_table_may_go_while_its_index_is_filled)
{
	struct data d = data_new();
	int64_t wait_ms;

	fill_table(&d, MANY);
	add_index(&d);
	CHECK(step(&d));
	CHECK_INT(catalog_delete(d.catalog, d.table, 5, &d.err), OK);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	CHECK(wait_ms == INT64_MAX);
	CHECK_INT(rows_but_sizes(&d), 1);
	data_free(&d);
}

TEST(small_tables_are_settled_at_once)
{
	struct data d = data_new();

	fill_table(&d, 30);
	add_index(&d);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 1, 5, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.v[LATER].status, STATUS_ACTIVE);
	check_index(&d, 20);
	delete_index(&d);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 1, 5, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.n, 3);
	data_free(&d);
}

/* With lasting statuses: UPDATING and allocating, then filling, then there. */
TEST(statuses_last_as_long_as_asked)
{
	struct catalog_options options = {.transient_status_ms = 100};
	struct data d = data_open(&options);
	int64_t wait_ms;
	struct table *next;

	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"), 0, &d.table, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 100, &d.table, &d.err), OK);
	CHECK_INT(d.table->state.status, STATUS_ACTIVE);
	put(&d, 1, "Sz");
	next = data_with_index(d.table);
	next->indexes.v[LATER].status = STATUS_CREATING;
	next->indexes.v[LATER].is_backfilling = true;
	next->state.status = STATUS_UPDATING;
	catalog_schedule(d.catalog, d.table, next, 1000);
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 1049, &d.table, &d.err), OK);
	CHECK_INT(d.table->state.status, STATUS_UPDATING);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 1050, &d.table, &d.err), OK);
	CHECK_INT(d.table->state.status, STATUS_ACTIVE);
	CHECK_INT(d.table->indexes.v[LATER].status, STATUS_CREATING);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(1099), &wait_ms, &d.err), OK);
	CHECK_INT(wait_ms, 1);
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(1100), &wait_ms, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 1100, &d.table, &d.err), OK);
	CHECK_INT(d.table->indexes.v[LATER].status, STATUS_ACTIVE);
	CHECK_INT(d.table->indexes.v[LATER].settles_ms, 0);
	check_index(&d, 1);
	data_free(&d);
}

/* Whatever is wrong with it: here an item that is none. */
TEST(a_table_whose_work_fails_holds_up_no_other)
{
	struct data d = data_new();
	struct table *broken;
	struct store_txn *txn;
	int64_t wait_ms;

	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("broken"), 1, &broken, &d.err),
		  OK); /* looked at before "data" */
	CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
	CHECK_INT(store_put(txn, table_items(broken), STR("k"), STR("no image"), &d.err), OK);
	CHECK_INT(store_commit(txn, &d.err), OK);
	CHECK_INT(catalog_replace(d.catalog, broken, data_with_index(broken), &d.err), OK);
	fill_table(&d, MANY);
	add_index(&d);
	for (int i = 0; i < 6; i++)
		CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err),
			  i < 4 ? OK : ERR_INTERNAL);
	CHECK_INT(d.err.code, ERR_INTERNAL);
	CHECK(str_starts_with(d.err.message,
			      STR("the store is damaged: a row is malformed: items ")));
	data_take_current(&d);
	CHECK(!d.table->indexes.v[LATER].is_backfilling);
	check_index(&d, indexed(MANY));
	table_unref(broken);
	data_free(&d);
}

/* As many rows as may go with their keyspace. */
TEST(an_index_that_is_not_large_goes_at_once)
{
	for (unsigned rows = 4; rows <= 5; rows++) {
		struct catalog_options options = {.drop_max = 4};
		struct data d = data_open(&options);

		CHECK_INT(
			catalog_create(d.catalog, DATA_NS, data_table("data"), 1, &d.table, &d.err),
			OK);
		for (unsigned i = 0; i < rows; i++)
			put(&d, i, "Sz");
		add_index(&d);
		finish(&d);
		struct keyspace keyspace = index_keyspace(d.table, &d.table->indexes.v[LATER]);
		delete_index(&d);
		trace_store_reset(d.store);
		while (step(&d))
			;
		CHECK_INT(trace_store_count_in(d.store, TRACE_DEL, keyspace), rows > 4 ? rows : 0);
		CHECK_INT(d.table->indexes.n, 3);
		/* the catalog, its list of tables with numbers to be flushed, and this test */
		CHECK_INT(atomic_load(&d.table->refs), 2);
		data_free(&d);
	}
}

TEST(settling_does_as_many_pieces_as_it_may)
{
	struct data d = data_new();

	fill_table(&d, MANY);
	add_index(&d);
	trace_store_reset(d.store);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 2, 5, &d.err), OK);
	CHECK_INT(trace_store_count_in(d.store, TRACE_ROW, table_items(d.table)),
		  2 * BACKFILL_STEP_ROWS);
	CHECK(step(&d));
	CHECK_INT(atomic_load(&d.table->refs), 2);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 100, 5, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.v[LATER].status, STATUS_ACTIVE);
	check_index(&d, indexed(MANY));
	CHECK_INT(atomic_load(&d.table->refs), 2);
	CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("no such"), 100, 5, &d.err),
		  ERR_RESOURCE_NOT_FOUND);
	data_free(&d);
}

/* The only index of its table, and one before others. */
TEST(settling_finds_the_first_index_too)
{
	for (unsigned count = 1; count <= 3; count++) {
		struct data d = data_open(NULL);
		struct table *table = data_table("data");

		table->indexes.n = count;
		CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1, &d.table, &d.err), OK);
		struct table *next = table_clone(d.table);
		next->indexes.v[0].status = STATUS_DELETING;
		CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
		CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 1, 5, &d.err), OK);
		data_take_current(&d);
		CHECK_INT(d.table->indexes.n, count - 1);
		data_free(&d);
	}
}

/* Changes the table as the work on its index is about to begin. */
static struct {
	struct store_ops ops;
	const struct store_ops *real;
	struct data *d;
	bool is_changed;
} changing;

static enum code change_and_begin(struct store *store, enum store_mode mode, struct store_txn **txn,
				  struct err *err)
{
	struct data *d = changing.d;

	if (mode == STORE_WRITE && !changing.is_changed) {
		struct table *next = table_clone(d->table);

		changing.is_changed = true;
		next->ttl.is_enabled = true;
		next->ttl.attribute = STR("ttl");
		CHECK_INT(catalog_replace(d->catalog, d->table, next, &d->err), OK);
	}
	return changing.real->begin(store, mode, txn, err);
}

TEST(a_table_that_is_changed_meanwhile_is_looked_up_again)
{
	struct data d = data_new();
	int64_t wait_ms;

	fill_table(&d, 30);
	add_index(&d);
	changing.real = d.store->ops;
	changing.ops = *d.store->ops;
	changing.ops.begin = change_and_begin;
	changing.d = &d;
	changing.is_changed = false;
	d.store->ops = &changing.ops;
	CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	CHECK(changing.is_changed);
	CHECK_INT(wait_ms, 0);
	data_take_current(&d);
	CHECK(d.table->indexes.v[LATER].is_backfilling);
	finish(&d);
	check_index(&d, 20);
	d.store->ops = changing.real;
	data_free(&d);
}

TEST_MAIN(TEST_CASE(an_index_is_filled_in_bounded_transactions),
	  TEST_CASE(pieces_are_small_while_requests_come),
	  TEST_CASE(more_small_pieces_at_once_while_requests_come),
	  TEST_CASE(large_items_make_smaller_pieces), TEST_CASE(writes_go_on_meanwhile),
	  TEST_CASE(an_index_that_is_filled_is_kept_from_the_start),
	  TEST_CASE(filling_goes_on_after_a_restart), TEST_CASE(a_failing_call_loses_nothing),
	  TEST_CASE(a_large_index_is_emptied_in_bounded_transactions),
	  TEST_CASE(so_is_one_whose_rows_were_not_counted), TEST_CASE(a_creation_can_be_called_off),
	  TEST_CASE(a_table_may_go_while_its_index_is_filled),
	  TEST_CASE(small_tables_are_settled_at_once), TEST_CASE(statuses_last_as_long_as_asked),
	  TEST_CASE(a_table_whose_work_fails_holds_up_no_other),
	  TEST_CASE(a_piece_of_just_1_MB_is_full),
	  TEST_CASE(an_index_that_is_not_large_goes_at_once),
	  TEST_CASE(settling_does_as_many_pieces_as_it_may),
	  TEST_CASE(settling_finds_the_first_index_too),
	  TEST_CASE(a_table_that_is_changed_meanwhile_is_looked_up_again))
