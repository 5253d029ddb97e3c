/* How many items and bytes tables and indexes have: counted once after a restart, then kept by who writes. */
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

	CHECK_INT(catalog_size(sizes->d->catalog, table, index, &sizes->items, &sizes->bytes, &err), OK);
	arena_free(arena);
}

/* What trace_store_after() takes: a call that was to fail beyond those before is not to be one of these. */
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

/* Whoever counts gets the store when a failed transaction gives it up, before its writer goes on. */
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
			check_size(&d, whole.at, code == OK ? 2 : 1, code == OK ? 2 * whole.bytes : whole.bytes);
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
		CHECK_INT(catalog_replace(d.catalog, d.table, data_with_index(d.table), &d.err), OK);
		reopen(&d);
		trace_store_after(d.store, TRACE_COMMIT, count_beside, &first);
		trace_store_fail(d.store, n, ERR_INTERNAL);
		code = backfill_step(d.catalog, TIMES_AT(5), &wait_ms, &d.err);
		trace_store_fail(d.store, 0, OK);
		CHECK_INT(backfill_settle(d.catalog, DATA_NS, STR("data"), 2, 5, &d.err), OK);
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

TEST_MAIN(TEST_CASE(a_change_that_is_taken_in_before_it_shows_keeps_the_counts), TEST_CASE(counted_after_a_restart_and_kept), TEST_CASE(a_write_that_fails_beside_the_first_count_is_not_counted),
	  TEST_CASE(a_piece_of_an_index_that_fails_beside_the_first_count_is_not_counted))
