#include "storage/catalog/catalog_size.h"
#include "storage/check.h"
#include "storage/expiry.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/storage/data_fixture.h"

#define NOW_S INT64_C(1800000000)
#define NOW_MS (NOW_S * 1000)
#define MANY 20000

/* The table with TTL on or off; the fixture's snapshot is the new one. */
static void set_ttl(struct data *d, const char *attribute, bool is_enabled)
{
	struct table *next = table_clone(d->table);

	next->ttl.is_enabled = is_enabled;
	next->ttl.attribute = str_copy(next->arena, str_of(attribute));
	next->ttl.changed_ms = NOW_MS;
	CHECK_INT(catalog_replace(d->catalog, d->table, table_ref(next), &d->err), OK);
	table_unref(d->table);
	d->table = next;
}

/* Fills the queue to its end; how many steps that took. */
static int fill_queue(struct data *d)
{
	int64_t wait_ms = 0;
	int steps = 0;

	for (; wait_ms == 0; steps++)
		CHECK_INT(backfill_step(d->catalog, TIMES_AT(NOW_MS), &wait_ms, &d->err), OK);
	data_take_current(d);
	return steps;
}

static struct data with_ttl(void)
{
	struct data d = data_new();

	set_ttl(&d, "t", true);
	return d;
}

static enum code put_at(struct data *d, const struct value *item, int64_t now_ms)
{
	struct write write = {.table = d->table, .kind = WRITE_PUT, .item = item};

	CHECK_INT(write_prepare(d->arena, &write, &d->err), OK);
	return write_run(d->catalog, d->arena, &write, 1, WRITE_ALONE, NULL, now_ms, &d->err);
}

/* An item (pk, 1) whose TTL attribute is that text. */
static const struct value *item_of(struct data *d, const char *pk, const char *time)
{
	return data_item(d, "pk", pk, "sk", "N1", "g", "Sx", "h", pk, "t", time, NULL);
}

static void put(struct data *d, const char *pk, const char *time)
{
	CHECK_INT(put_at(d, item_of(d, pk, time), NOW_MS), OK);
}

static bool is_there(struct data *d, const char *pk)
{
	return str_is_set(data_get(d, data_item(d, "pk", pk, "sk", "N1", NULL)));
}

static bool count_row(void *context, struct str key, struct str value)
{
	(void)key;
	(void)value;
	++*(size_t *)context;
	return true;
}

/* Rows of the expiry keyspace. */
static size_t rows(struct data *d)
{
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_txn *txn;
	size_t n = 0;

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(scan_rows(txn, table_expiry(d->table), &all, count_row, &n, &d->err), OK);
	store_abort(txn);
	return n;
}

/* Sweeps until nothing is left at that time; the number of items deleted. */
static uint64_t sweep(struct data *d, int64_t now_ms, int64_t delay_ms)
{
	uint64_t deleted = 0;
	bool more = true;

	for (int i = 0; more && i < 1000; i++)
		CHECK_INT(
			ttl_sweep(d->catalog, TIMES_AT(now_ms), delay_ms, &deleted, &more, &d->err),
			OK);
	CHECK(!more);
	return deleted;
}

TEST(an_item_expires_from_its_second_on)
{
	struct data d = with_ttl();

	put(&d, "Sa", "N1800000100");
	put(&d, "Sb", "N1800000100.001");
	CHECK_INT(sweep(&d, NOW_MS + 99999, 0), 0);
	CHECK(is_there(&d, "Sa"));
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 1);
	CHECK(!is_there(&d, "Sa"));
	CHECK(is_there(&d, "Sb"));
	CHECK_INT(sweep(&d, NOW_MS + 101000, 0), 1);
	CHECK(!is_there(&d, "Sb"));
	CHECK_INT(rows(&d), 0);
	data_free(&d);
}

TEST(a_delay_puts_it_off)
{
	struct data d = with_ttl();

	put(&d, "Sa", "N1800000100");
	CHECK_INT(sweep(&d, NOW_MS + 159999, 60000), 0);
	CHECK_INT(sweep(&d, NOW_MS + 160000, 60000), 1);
	CHECK_INT(sweep(&d, 0, 60000), 0);
	data_free(&d);
}

TEST(only_numbers_not_long_past_count)
{
	struct data d = with_ttl();

	put(&d, "Stext", "S1800000000");
	put(&d, "Snull", "Z");
	put(&d, "Snegative", "N-5");
	put(&d, "Shuge", "N1E+125");
	put(&d, "Sancient", "N1642319999"); /* five years and a second */
	CHECK_INT(put_at(&d, data_item(&d, "pk", "Snone", "sk", "N1", NULL), NOW_MS), OK);
	CHECK_INT(rows(&d), 0);
	put(&d, "Sold", "N1642320000");
	put(&d, "Sexponent", "N1.8e9");
	put(&d, "Smilliseconds", "N1800000000000");
	CHECK_INT(rows(&d), 3);
	CHECK_INT(sweep(&d, NOW_MS, 0), 2);
	CHECK(is_there(&d, "Stext") && is_there(&d, "Snull") && is_there(&d, "Snegative") &&
	      is_there(&d, "Shuge") && is_there(&d, "Sancient"));
	CHECK(is_there(&d, "Smilliseconds") && !is_there(&d, "Sold") && !is_there(&d, "Sexponent"));
	data_free(&d);
}

/* Time may pass in one leap: what would have been deleted on the way is deleted. */
TEST(a_leap_of_ten_years_forgets_nothing)
{
	struct data d = with_ttl();

	put(&d, "Sa", "N1800000100");
	CHECK_INT(sweep(&d, NOW_MS + INT64_C(10) * 365 * 86400 * 1000, 0), 1);
	data_free(&d);
}

TEST(rows_follow_their_items)
{
	struct data d = with_ttl();
	struct write update = {.kind = WRITE_UPDATE,
			       .key = data_item(&d, "pk", "Sa", "sk", "N1", NULL)};
	struct write remove = {.kind = WRITE_DELETE, .key = update.key};

	put(&d, "Sa", "N1800000100");
	put(&d, "Sa", "N1800000200");
	CHECK_INT(rows(&d), 1);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 0);
	update.update = data_update(&d, "SET t = t + :n", ":n", "N100", NULL);
	CHECK_INT(data_write(&d, &update), OK);
	CHECK_INT(rows(&d), 1);
	CHECK_INT(sweep(&d, NOW_MS + 200000, 0), 0);
	update.update = data_update(&d, "SET v = :n", ":n", "N100", NULL);
	trace_store_reset(d.store);
	CHECK_INT(data_write(&d, &update), OK);
	CHECK_INT(trace_store_count_in(d.store, TRACE_PUT, table_expiry(d.table)) +
			  trace_store_count_in(d.store, TRACE_DEL, table_expiry(d.table)),
		  0);
	update.update = data_update(&d, "REMOVE t", NULL);
	CHECK_INT(data_write(&d, &update), OK);
	CHECK_INT(rows(&d), 0);
	put(&d, "Sa", "N1800000100");
	CHECK_INT(data_write(&d, &remove), OK);
	CHECK_INT(rows(&d), 0);
	data_free(&d);
}

TEST(index_rows_and_counts_go_with_the_item)
{
	struct data d = with_ttl();
	uint64_t items, bytes;

	put(&d, "Sa", "N1800000100");
	put(&d, "Sb", "N1800000200");
	CHECK_INT(data_rows(&d, &d.table->indexes.v[ALL]).n, 2);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 1);
	CHECK_INT(data_rows(&d, &d.table->indexes.v[ALL]).n, 1);
	CHECK_INT(data_rows(&d, &d.table->indexes.v[SOME]).n, 1);
	CHECK_INT(catalog_size(d.catalog, d.table, NULL, &items, &bytes, &d.err), OK);
	CHECK_INT(items, 1);
	data_free(&d);
}

TEST(what_was_prolonged_meanwhile_stays)
{
	struct data d = with_ttl();
	struct write late = {.table = d.table, .kind = WRITE_DELETE};
	struct write find = {.table = d.table,
			     .kind = WRITE_DELETE,
			     .key = data_item(&d, "pk", "Sa", "sk", "N1", NULL)};

	put(&d, "Sa", "N1800000100");
	CHECK_INT(write_prepare(d.arena, &find, &d.err), OK);
	late.row_key = find.row_key;
	late.expiry_row = expiry_row(d.arena, d.table, find.row_key,
				     data_image(&d, item_of(&d, "Sa", "N1800000100")));
	put(&d, "Sa", "N1900000000");
	CHECK_INT(
		write_run(d.catalog, d.arena, &late, 1, WRITE_BATCH, NULL, NOW_MS + 100000, &d.err),
		OK);
	CHECK(is_there(&d, "Sa"));
	CHECK(str_eq(late.old_image, late.new_image));
	CHECK_INT(rows(&d), 1);
	data_free(&d);
}

/* A row without its item, as a fault might leave one, goes with the next sweep. */
TEST(a_stray_row_is_removed)
{
	struct data d = with_ttl();
	struct str row_key = STR("nobody");
	struct store_txn *txn;

	CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
	CHECK_INT(store_put(txn, table_expiry(d.table),
			    expiry_row(d.arena, d.table, row_key,
				       data_image(&d, item_of(&d, "Sa", "N1800000000"))),
			    STR("-"), &d.err),
		  OK);
	CHECK_INT(store_commit(txn, &d.err), OK);
	CHECK_INT(rows(&d), 1);
	CHECK_INT(sweep(&d, NOW_MS, 0), 0);
	CHECK_INT(rows(&d), 0);
	data_free(&d);
}

TEST(enabling_finds_the_items_there_are)
{
	struct data d = data_new();

	for (int i = 0; i < 600; i++) /* more than a step of the filling */
		put(&d, str_printf(d.arena, "Sp%03d", i).p, i % 2 ? "N1800000100" : "S1800000100");
	put(&d, "Sancient", "N1642319999");
	set_ttl(&d, "t", true);
	CHECK(rows(&d) < 300); /* one piece at once */
	fill_queue(&d);
	CHECK_INT(rows(&d), 300);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 300);
	set_ttl(&d, "t", false);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 0);
	put(&d, "Sa", "N1800000100");
	set_ttl(&d, "other", true);
	fill_queue(&d);
	CHECK_INT(rows(&d), 0);
	set_ttl(&d, "t", true);
	fill_queue(&d);
	CHECK_INT(rows(&d), 1);
	CHECK_INT(catalog_delete(d.catalog, d.table, NOW_MS, &d.err), OK);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 0);
	data_free(&d);
}

/* An item whose time is a list instead. */
static const struct value *with_list(struct data *d, const char *pk, uint32_t n)
{
	struct value *item = ARENA_NEW(d->arena, struct value),
		     *elements = ARENA_ARRAY(d->arena, struct value, n);

	*item = *item_of(d, pk, "N1800000100");
	struct member *members = ARENA_ARRAY(d->arena, struct member, item->n);
	for (uint32_t i = 0; i < n; i++)
		elements[i] = (struct value){.type = TYPE_NULL};
	for (uint32_t i = 0; i < item->n; i++) {
		members[i] = item->members[i];
		if (str_eq(members[i].name, STR("t")))
			members[i].value =
				(struct value){.type = TYPE_L, .n = n, .elements = elements};
	}
	item->members = members;
	return item;
}

TEST(enabling_passes_large_values_that_are_no_times)
{
	struct data d = data_new();

	for (int i = 0; i < 60; i++) {
		const char *pk = str_printf(d.arena, "Sp%03d", i).p;

		CHECK_INT(put_at(&d,
				 i % 3 == 2 ? item_of(&d, pk, "N1800000100")
					    : with_list(&d, pk, 3000),
				 NOW_MS),
			  OK);
	}
	set_ttl(&d, "t", true);
	fill_queue(&d);
	CHECK_INT(rows(&d), 20);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 20);
	data_free(&d);
}

static const struct catalog_options in_pieces = {.fill_max = 3};

static struct data data_in_pieces(void)
{
	struct data d = data_open(&in_pieces);

	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"), 1000, &d.table, &d.err),
		  OK);
	return d;
}

static void ignore_line(void *context, struct str line)
{
	(void)context;
	(void)line;
}

static uint64_t findings(struct data *d)
{
	struct check_report report = {.tell = ignore_line};

	CHECK_INT(check_store(d->store, NULL, NOW_MS, &report, &d->err), OK);
	return report.findings;
}

static bool has_progress(struct data *d)
{
	struct store_txn *txn;
	struct str value;

	CHECK_INT(store_begin(d->store, STORE_READ, &txn, &d->err), OK);
	CHECK_INT(store_get(txn, (struct keyspace){0, SYSTEM_COUNTERS},
			    catalog_expiry_progress_key(d->arena, d->table), d->arena, &value,
			    &d->err),
		  OK);
	store_abort(txn);
	return str_is_set(value);
}

/* Items that are written, deleted, prolonged and due while the queue is filled, each piece by
 * another process. */
TEST(enabling_goes_on_in_pieces)
{
	struct data d = data_in_pieces();
	int64_t wait_ms;

	for (int i = 0; i < 30; i++)
		put(&d, str_printf(d.arena, "Sp%03d", i).p, "N1800000100");
	set_ttl(&d, "t", true);
	CHECK_INT(rows(&d), 3);
	CHECK(d.table->ttl.is_filling && has_progress(&d));
	CHECK_INT(findings(&d), 0);
	for (int i = 0; i < 10; i++) {
		struct write gone = {.table = d.table,
				     .kind = WRITE_DELETE,
				     .key = data_item(&d, "pk",
						      str_printf(d.arena, "Sp%03d", 3 * i).p, "sk",
						      "N1", NULL)};

		catalog_close(d.catalog);
		CHECK_INT(catalog_open(d.store, &in_pieces, &d.catalog, &d.err), OK);
		data_take_current(&d);
		gone.table = d.table;
		put(&d, str_printf(d.arena, "Sp%03d", 3 * i + 1).p, "N1800000200");
		CHECK_INT(data_write(&d, &gone), OK);
		CHECK_INT(findings(&d), 0);
		CHECK_INT(sweep(&d, NOW_MS + 99999, 0), 0);
		CHECK_INT(backfill_step(d.catalog, TIMES_AT(NOW_MS), &wait_ms, &d.err), OK);
	}
	fill_queue(&d);
	CHECK(!d.table->ttl.is_filling && !has_progress(&d));
	CHECK_INT(rows(&d), 20);
	CHECK_INT(findings(&d), 0);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 10);
	CHECK_INT(sweep(&d, NOW_MS + 200000, 0), 10);
	CHECK_INT(rows(&d), 0);
	data_free(&d);
}

/* What is in the queue expires while the rest is filled in. */
TEST(a_queue_that_is_filled_is_swept)
{
	struct data d = data_in_pieces();
	uint64_t deleted = 0;
	int steps = 0;

	for (int i = 0; i < 30; i++)
		put(&d, str_printf(d.arena, "Sp%03d", i).p, "N1799999999");
	set_ttl(&d, "t", true);
	for (int64_t wait_ms = 0; wait_ms == 0; steps++) {
		deleted += sweep(&d, NOW_MS, 0);
		CHECK_INT(backfill_step(d.catalog, TIMES_AT(NOW_MS), &wait_ms, &d.err), OK);
	}
	CHECK_INT(deleted + sweep(&d, NOW_MS, 0), 30);
	CHECK(steps >= 10);
	data_free(&d);
}

TEST(disabling_ends_the_filling)
{
	struct data d = data_in_pieces();

	for (int i = 0; i < 10; i++)
		put(&d, str_printf(d.arena, "Sp%03d", i).p, "N1800000100");
	set_ttl(&d, "t", true);
	CHECK(has_progress(&d));
	set_ttl(&d, "t", false);
	CHECK(!has_progress(&d) && !d.table->ttl.is_filling);
	CHECK_INT(fill_queue(&d), 1);
	set_ttl(&d, "t", true);
	fill_queue(&d);
	CHECK_INT(rows(&d), 10);
	set_ttl(&d, "t", false);
	set_ttl(&d, "t", true);
	CHECK_INT(catalog_delete(d.catalog, d.table, NOW_MS, &d.err), OK);
	CHECK(!has_progress(&d));
	data_free(&d);
}

/* begin, scan, begin, get, del, del (index), del (expiry), commit: whichever fails, all or nothing
 * of a batch has happened. */
TEST(a_sweep_that_fails_is_taken_up_again)
{
	for (uint64_t n = 1; n < 20; n++) {
		struct data d = with_ttl();
		uint64_t deleted = 0;
		bool more;

		put(&d, "Sa", "N1800000100");
		put(&d, "Sb", "N1800000100");
		trace_store_fail(d.store, n, ERR_INTERNAL);
		enum code code =
			ttl_sweep(d.catalog, TIMES_AT(NOW_MS + 100000), 0, &deleted, &more, &d.err);
		trace_store_fail(d.store, 0, OK);
		CHECK(code == OK || code == ERR_INTERNAL);
		CHECK_INT(deleted, code == OK ? 2 : 0);
		CHECK_INT(rows(&d), 2 - deleted);
		CHECK_INT(deleted + sweep(&d, NOW_MS + 100000, 0), 2);
		CHECK_INT(data_rows(&d, &d.table->indexes.v[ALL]).n, 0);
		data_free(&d);
	}
}

static void put_many(struct data *d)
{
	struct arena *scratch = arena_new(1 << 20), *arena = d->arena;

	d->arena = scratch;
	d->err = err_in(scratch);
	for (int i = 0; i < MANY; i += 500) {
		struct write *writes = ARENA_ARRAY(scratch, struct write, 500);

		for (int k = 0; k < 500; k++) {
			bool is_due = (i + k) % (MANY / 10) == 7;

			writes[k].table = d->table;
			writes[k].kind = WRITE_PUT;
			writes[k].item =
				data_item(d, "pk", str_printf(scratch, "Sp%d", i + k).p, "sk", "N1",
					  "t", is_due ? "N1800000100" : "N1900000000", NULL);
			CHECK_INT(write_prepare(scratch, &writes[k], &d->err), OK);
		}
		CHECK_INT(write_run(d->catalog, scratch, writes, 500, WRITE_BATCH, NULL, NOW_MS,
				    &d->err),
			  OK);
		arena_reset(scratch);
	}
	d->arena = arena;
	d->err = err_in(arena);
	arena_free(scratch);
}

/* Of many items ten expire: the sweep looks at their ten rows and, in one call, at ten items, and
 * at nothing else. */
TEST(a_sweep_reads_what_is_due_and_nothing_else)
{
	struct data d = with_ttl();

	put_many(&d);
	CHECK_INT(rows(&d), MANY);
	trace_store_reset(d.store);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 10);
	CHECK_INT(trace_store_count(d.store, TRACE_ROW),
		  1 + 10); /* the mark of the table, and what is due */
	CHECK_INT(trace_store_count_in(d.store, TRACE_GET, table_items(d.table)), 0);
	CHECK_INT(trace_store_count(d.store, TRACE_GET_MANY), 1);
	CHECK_INT(trace_store_count(d.store, TRACE_PAGE), 2);
	CHECK_INT(trace_store_count_in(d.store, TRACE_PAGE, table_items(d.table)), 0);
	trace_store_reset(d.store);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 0);
	CHECK_INT(trace_store_count(d.store, TRACE_ROW), 1);
	data_free(&d);
}

TEST(a_record_keeps_the_settings)
{
	struct data d = with_ttl();
	struct catalog_options options = {0};
	struct table *read;

	put(&d, "Sa", "N1800000100");
	CHECK_INT(table_decode_new(table_encode(d.arena, d.table), NULL, &read, &d.err), OK);
	CHECK(read->ttl.is_enabled);
	CHECK_STR(read->ttl.attribute, "t");
	CHECK_INT(read->ttl.changed_ms, NOW_MS);
	table_unref(read);
	catalog_close(d.catalog);
	CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
	CHECK_INT(sweep(&d, NOW_MS + 100000, 0), 1);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(an_item_expires_from_its_second_on), TEST_CASE(a_delay_puts_it_off),
	  TEST_CASE(only_numbers_not_long_past_count),
	  TEST_CASE(a_leap_of_ten_years_forgets_nothing), TEST_CASE(rows_follow_their_items),
	  TEST_CASE(index_rows_and_counts_go_with_the_item),
	  TEST_CASE(what_was_prolonged_meanwhile_stays), TEST_CASE(a_stray_row_is_removed),
	  TEST_CASE(enabling_finds_the_items_there_are),
	  TEST_CASE(enabling_passes_large_values_that_are_no_times),
	  TEST_CASE(enabling_goes_on_in_pieces), TEST_CASE(a_queue_that_is_filled_is_swept),
	  TEST_CASE(disabling_ends_the_filling), TEST_CASE(a_sweep_that_fails_is_taken_up_again),
	  TEST_CASE(a_sweep_reads_what_is_due_and_nothing_else),
	  TEST_CASE(a_record_keeps_the_settings))
