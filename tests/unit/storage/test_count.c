/* How many items and bytes tables and indexes have: rows, kept by those who write, and counted
 * again after an unclean end. */
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/size_rows.h"
#include "storage/schema/currency.h"
#include "storage/state/checkpoint.h"
#include "storage/upkeep/backfill.h"
#include "tests/unit/storage/data_fixture.h"

#define LATER 2 /* the place of data_with_index()'s */
#define TABLE SIZE_MAX

/* As after a restart of the server: nothing is counted. */
static void reopen(struct data *d)
{
	struct catalog_options options = {0};

	table_unref(d->table);
	catalog_close(d->catalog);
	CHECK_INT(catalog_open(d->store, &options, &d->catalog, &d->err), OK);
	CHECK_INT(catalog_get(d->catalog, DATA_NS, STR("data"), 1, &d->table, &d->err), OK);
}

/* In indexes all, some and later. */
static const struct value *item(struct data *d, const char *pk)
{
	return data_item(d, "pk", pk, "sk", "N1", "g", "Sg", "h", "Sh", "z", "Sz", NULL);
}

struct sizes {
	struct data *d;
	size_t at; /* of the index, or TABLE */
	uint64_t items, bytes;
};

static void count(void *context)
{
	struct sizes *sizes = context;
	struct table *table = sizes->d->table;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct index *index = sizes->at == TABLE ? NULL : &table->indexes.v[sizes->at];

	CHECK_INT(catalog_size(sizes->d->catalog, table, index, &sizes->items, &sizes->bytes, &err),
		  OK);
	arena_free(arena);
}

/* What trace_store_after() takes: a call that was to fail beyond those before is not to be one of
 * these. */
static void count_beside(void *context)
{
	struct sizes *sizes = context;

	trace_store_fail(sizes->d->store, 0, OK);
	count(sizes);
}

static void check_size(struct data *d, size_t at, uint64_t items, uint64_t bytes)
{
	struct sizes now = {.d = d, .at = at};

	count(&now);
	CHECK_INT(now.items, items);
	CHECK_INT(now.bytes, bytes);
}

/* Without the local index: the first write to a table that has one counts the table itself. */
static struct data new_data(void)
{
	struct data d = data_open(NULL);
	struct table *table = data_table("data");

	table->indexes.v++;
	table->indexes.n--;
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1000, &d.table, &d.err), OK);
	return d;
}

TEST(counted_after_a_restart_and_kept)
{
	struct data d = new_data();

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	reopen(&d);
	CHECK_INT(data_put(&d, item(&d, "Sb")), OK); /* before anybody counts */
	struct sizes table = {.d = &d, .at = TABLE}, index = {.d = &d, .at = 0};
	count(&table);
	count(&index);
	CHECK(table.items == 2 && index.items == 2);
	CHECK_INT(data_put(&d, item(&d, "Sc")), OK);
	check_size(&d, TABLE, 3, table.bytes / 2 * 3);
	check_size(&d, 0, 3, index.bytes / 2 * 3);
	data_free(&d);
}

/* Whoever counts gets the store when a failed transaction gives it up, before its writer goes on.
 */
TEST(a_write_that_fails_beside_the_first_count_is_not_counted)
{
	for (size_t at = 0; at < 3; at++) {
		enum code code = ERR_INTERNAL;

		for (uint64_t n = 1; code != OK && n < 50; n++) {
			struct data d = new_data();
			struct sizes first = {.d = &d, .at = at < 2 ? at : TABLE}, whole = first;

			CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
			count(&whole);
			reopen(&d);
			trace_store_after(d.store, TRACE_COMMIT, count_beside, &first);
			trace_store_fail(d.store, n, ERR_INTERNAL);
			code = data_put(&d, item(&d, "Sb"));
			trace_store_fail(d.store, 0, OK);
			check_size(&d, whole.at, code == OK ? 2 : 1,
				   code == OK ? 2 * whole.bytes : whole.bytes);
			data_free(&d);
		}
		CHECK_INT(code, OK);
	}
}

/* An index that was being filled when the server ended. */
TEST(a_piece_of_an_index_that_fails_beside_the_first_count_is_not_counted)
{
	enum code code = ERR_INTERNAL;

	for (uint64_t n = 1; code != OK && n < 50; n++) {
		struct data d = new_data();
		struct sizes first = {.d = &d, .at = LATER};
		int64_t wait_ms;

		CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
		CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err),
			  OK);
		reopen(&d);
		trace_store_after(d.store, TRACE_COMMIT, count_beside, &first);
		trace_store_fail(d.store, n, ERR_INTERNAL);
		code = backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err);
		trace_store_fail(d.store, 0, OK);
		CHECK_INT(backfill_run(d.catalog, DATA_NS, STR("data"), 2, 5, &d.err), OK);
		data_take_current(&d);
		CHECK(!d.table->indexes.v[LATER].is_backfilling);
		struct sizes filled = {.d = &d, .at = LATER};
		count(&filled);
		reopen(&d);
		check_size(&d, LATER, 1, filled.bytes);
		CHECK_INT(filled.items, 1);
		data_free(&d);
	}
	CHECK_INT(code, OK);
}

/* Another request sees the change before it shows, and writes by it. */
static void take_in_and_put(void *context)
{
	struct data *d = context;

	CHECK_INT(catalog_refresh(d->catalog, &d->err), OK);
	data_take_current(d);
	CHECK_INT(data_put(d, item(d, "Sb")), OK);
}

TEST(a_change_that_is_taken_in_before_it_shows_keeps_the_counts)
{
	struct data d = data_new();

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	check_size(&d, TABLE, 1, 13);
	check_size(&d, ALL, 1, 13);
	struct table *current = table_ref(d.table), *next = data_with_index(current);
	trace_store_after(d.store, TRACE_COMMIT, take_in_and_put, &d);
	CHECK_INT(catalog_replace(d.catalog, current, next, &d.err), OK);
	table_unref(current);
	data_take_current(&d);
	check_size(&d, TABLE, 2, 26);
	check_size(&d, ALL, 2, 26);
	data_free(&d);
}

/* A process that ends without closing its catalog, as a kill does. */
static void leave_open(struct data *d)
{
	static struct catalog *left; /* as it is, and never used again; still named, so that it
					counts as no leak */
	struct catalog_options options = {0};

	CHECK(!left); /* one test does this */
	left = d->catalog;
	table_unref(d->table);
	CHECK_INT(catalog_open(d->store, &options, &d->catalog, &d->err), OK);
	CHECK_INT(catalog_get(d->catalog, DATA_NS, STR("data"), 1, &d->table, &d->err), OK);
}

TEST(a_process_that_was_killed_leaves_no_wrong_count)
{
	struct data d = new_data();

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	reopen(&d);
	CHECK_INT(data_put(&d, item(&d, "Sb")), OK);
	struct sizes before = {.d = &d, .at = TABLE};
	count(&before);
	CHECK_INT(before.items, 2);
	leave_open(&d);
	check_size(&d, TABLE, 2, before.bytes);
	data_free(&d);
}

static size_t size_row_count(struct data *d)
{
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page;
	struct store_txn *txn;
	size_t n = 0;

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(store_page(txn, (struct keyspace){0, SYSTEM_COUNTERS}, &all,
			     (struct store_bounds){0, 0}, d->arena, &page, &d->err),
		  OK);
	store_abort(txn);
	for (size_t i = 0; i < page.n; i++)
		n += size_rows_is_key(page.v[i].key);
	return n;
}

TEST(a_flush_leaves_numbers_only)
{
	struct data d = new_data();

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	CHECK_INT(size_row_count(&d), 1); /* the mark, in the transaction of the first change */
	CHECK_INT(data_put(&d, item(&d, "Sb")), OK);
	CHECK_INT(size_row_count(&d), 1);
	CHECK_INT(catalog_size_flush(d.catalog, &d.err), OK);
	CHECK_INT(size_row_count(&d), 3 * 2); /* items and bytes of the table and two indexes */
	check_size(&d, TABLE, 2, 2 * 13);
	CHECK_INT(catalog_size_flush(d.catalog, &d.err), OK);
	check_size(&d, TABLE, 2, 2 * 13);
	CHECK_INT(catalog_delete(d.catalog, d.table, 1, &d.err), OK);
	CHECK_INT(size_row_count(&d), 0);
	data_free(&d);
}

TEST(the_numbers_of_a_dropped_index_go)
{
	struct data d = new_data();
	int64_t wait_ms;

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	CHECK_INT(catalog_size_flush(d.catalog, &d.err), OK);
	struct table *next = table_clone(d.table);
	next->indexes.v[1].status = STATUS_DELETING;
	CHECK_INT(catalog_replace(d.catalog, d.table, next, &d.err), OK);
	for (int i = 0; i < 3; i++)
		CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(d.table->indexes.n, 1);
	CHECK_INT(size_row_count(&d), 2 * 2);
	data_free(&d);
}

/* A table whose row says nothing of numbers, as in a file of an older Dynalith. */
static void forget_numbers(struct data *d)
{
	struct currency_row row;
	struct store_txn *txn;

	CHECK_INT(catalog_size_flush(d->catalog, &d->err), OK);
	CHECK_INT(store_begin(d->store, STORE_WRITE, &txn, &d->err), OK);
	CHECK_INT(currency_read(txn, d->table->identity.number, &row, &d->err), OK);
	row.count = 0;
	CHECK_INT(currency_write(txn, d->table->identity.number, &row, &d->err), OK);
	CHECK_INT(store_commit(txn, &d->err), OK);
	reopen(d);
}

TEST(a_small_table_is_counted_by_the_first_look)
{
	struct data d = new_data();

	for (int i = 0; i < 40; i++)
		CHECK_INT(data_put(&d, item(&d, str_printf(d.arena, "S%d", i + 10).p)), OK);
	struct sizes before = {.d = &d, .at = 1};
	count(&before);
	forget_numbers(&d);
	check_size(&d, 1, 40, before.bytes);
	check_size(&d, TABLE, 40, 40 * 14);
	data_free(&d);
}

static bool has_more(struct data *d)
{
	bool more;

	CHECK_INT(catalog_size_step(d->catalog, &more, &d->err), OK);
	return more;
}

/* Writes of items that the count has met, and of others, while an index is being filled. */
TEST(a_large_table_is_counted_in_pieces_beside_writers)
{
	enum { ITEMS = 4500 };
	struct data d = new_data();
	int64_t wait_ms;
	int expected = ITEMS;

	for (int i = 0; i < ITEMS; i++)
		CHECK_INT(data_put(&d, item(&d, str_printf(d.arena, "S%d", i + 10000).p)), OK);
	forget_numbers(&d);
	struct sizes part = {.d = &d, .at = TABLE};
	count(&part);
	CHECK(part.items > 0 && part.items < ITEMS); /* some pieces, not all */
	CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
	data_take_current(&d);
	for (int i = 0; i < 300; i++) {
		struct write gone = {.kind = WRITE_DELETE,
				     .key = data_item(&d, "pk",
						      str_printf(d.arena, "S%d", i * 7 + 10000).p,
						      "sk", "N1", NULL)};

		CHECK_INT(data_put(&d, item(&d, str_printf(d.arena, "Snew%d", i + 1000).p)), OK);
		CHECK_INT(data_write(&d, &gone), OK);
		if (i % 100 == 50) /* pieces of the count and of the filling by turns */
			(void)has_more(&d);
		else if (i % 30 == 0)
			CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
		data_take_current(&d);
	}
	CHECK_INT(data_put(&d, item(&d, "Slast")), OK);
	expected++;
	while (has_more(&d))
		;
	for (int i = 0; i < 40; i++)
		CHECK_INT(backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err), OK);
	data_take_current(&d);
	for (size_t at = 0; at < 3; at++) {
		struct sizes now = {.d = &d, .at = at}, table = {.d = &d, .at = TABLE};

		count(&now);
		count(&table);
		CHECK_INT(now.items, expected);
		CHECK(at == 1 || now.bytes == table.bytes); /* that one has no z */
	}
	reopen(&d);
	check_size(&d, TABLE, (uint64_t)expected, (ITEMS - 300) * 17 + 300 * 19 + 16);
	data_free(&d);
}

/* By upkeep, without a look at the table; a look before shows how far it has come. */
TEST(a_table_that_was_rolled_back_is_counted)
{
	enum { ITEMS = 4500 };
	struct data d = new_data();
	const struct checkpoint full = {.name = STR("full")};
	struct sizes part = {.d = &d, .at = TABLE};
	struct str extra;

	for (int i = 0; i < ITEMS; i++)
		CHECK_INT(data_put(&d, item(&d, str_printf(d.arena, "S%d", i + 10000).p)), OK);
	CHECK_INT(checkpoint_make(d.catalog, DATA_NS, &full, &d.err), OK);
	while (has_more(&d))
		;
	CHECK_INT(catalog_delete(d.catalog, d.table, 5, &d.err), OK);
	CHECK_INT(checkpoint_rollback(d.catalog, DATA_NS, full.name, &extra, &d.err), OK);
	table_unref(d.table);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("data"), 1, &d.table, &d.err), OK);
	CHECK(has_more(&d));
	count(&part);
	CHECK(part.items > 1000 && part.items <= ITEMS);
	while (has_more(&d))
		;
	check_size(&d, TABLE, ITEMS, ITEMS * 17);
	data_free(&d);
}

/* Nobody knows whether it was done: the numbers are counted, and right in either case. */
TEST(a_commit_of_unknown_outcome_is_counted)
{
	struct data d = new_data();

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	trace_store_fail(d.store, 5, ERR_STORE_UNKNOWN);
	CHECK_INT(data_put(&d, item(&d, "Sb")), ERR_STORE_UNKNOWN);
	trace_store_fail(d.store, 0, OK);
	CHECK_INT(catalog_size_flush(d.catalog, &d.err), OK);
	check_size(&d, TABLE, data_rows(&d, NULL).n, 13 * data_rows(&d, NULL).n);
	data_free(&d);
}

/* Of a table that was written to and deleted between two flushes. */
TEST(a_flush_lets_go_of_deleted_tables)
{
	struct data d = data_new();

	CHECK_INT(data_put(&d, item(&d, "Sa")), OK);
	CHECK_INT(catalog_delete(d.catalog, d.table, 5, &d.err), OK);
	for (int i = 0; i < 2; i++)
		CHECK_INT(catalog_size_flush(d.catalog, &d.err), OK);
	CHECK_INT(atomic_load(&d.table->refs), 1); /* this test's own */
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_flush_leaves_numbers_only), TEST_CASE(a_flush_lets_go_of_deleted_tables),
	  TEST_CASE(the_numbers_of_a_dropped_index_go),
	  TEST_CASE(a_small_table_is_counted_by_the_first_look),
	  TEST_CASE(a_large_table_is_counted_in_pieces_beside_writers),
	  TEST_CASE(a_table_that_was_rolled_back_is_counted),
	  TEST_CASE(a_commit_of_unknown_outcome_is_counted),
	  TEST_CASE(a_process_that_was_killed_leaves_no_wrong_count),
	  TEST_CASE(a_change_that_is_taken_in_before_it_shows_keeps_the_counts),
	  TEST_CASE(counted_after_a_restart_and_kept),
	  TEST_CASE(a_write_that_fails_beside_the_first_count_is_not_counted),
	  TEST_CASE(a_piece_of_an_index_that_fails_beside_the_first_count_is_not_counted))
