/*
 * A store that takes values of 100 KB and transactions of 10 MB: everything that DynamoDB allows
 * fits all the same. Values are split, work is cut. The store counts the transactions that go
 * beyond its limits; there must be none.
 */
#include "storage/store/split/split_store.h"
#include "storage/upkeep/backfill.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/storage/data_fixture.h"
#include "tests/unit/storage/optimistic_store.h"

#define MANY 40
#define LARGE (390 * 1024)
#define NOW_MS INT64_C(1800000000000)

struct limited {
	struct optimistic_db *db;
	struct data d;
};

static struct limited limited_new(void)
{
	static const struct store_limits limits = {.value = 100 * 1024, .txn = 10 * 1024 * 1024};
	struct limited limited = {.db = optimistic_db_new(), .d = {.arena = arena_new(1 << 20)}};
	struct catalog_options options = {0};
	struct data *d = &limited.d;

	optimistic_db_limit(limited.db, &limits);
	d->err = err_in(d->arena);
	d->store = trace_store_new(split_store_new(optimistic_open(limited.db)));
	CHECK(store_limits(d->store)->value == 0 && store_limits(d->store)->txn == limits.txn);
	CHECK_INT(catalog_open(d->store, &options, &d->catalog, &d->err), OK);
	CHECK_INT(catalog_create(d->catalog, DATA_NS, data_table("data"), 1000, &d->table, &d->err),
		  OK);
	return limited;
}

static void limited_free(struct limited *limited)
{
	CHECK_INT(optimistic_db_counts(limited->db).beyond, 0);
	data_free(&limited->d);
	optimistic_db_unref(limited->db);
}

/* Item n of one partition, in all indexes, of almost the largest size. */
static const struct value *large(struct data *d, int n)
{
	const char *sk = str_printf(d->arena, "N%d", n).p;

	return data_item(d, "pk", "Sa", "sk", sk, "l", sk, "g", "Sg", "h",
			 str_printf(d->arena, "S%d", n).p, "z", "Sz", "t", "N1800000000", "big",
			 data_long(d, 'S', LARGE), NULL);
}

static const struct value *key(struct data *d, int n)
{
	return data_item(d, "pk", "Sa", "sk", str_printf(d->arena, "N%d", n).p, NULL);
}

static enum code write_all(struct data *d, enum write_kind kind)
{
	struct write *writes = ARENA_ARRAY(d->arena, struct write, MANY);

	for (int i = 0; i < MANY; i++) {
		writes[i] = (struct write){.table = d->table, .kind = kind};
		if (kind == WRITE_PUT)
			writes[i].item = large(d, i);
		else
			writes[i].key = key(d, i);
		CHECK_INT(write_prepare(d->arena, &writes[i], &d->err), OK);
	}
	return write_run(d->catalog, d->arena, writes, MANY, WRITE_BATCH, NULL, NOW_MS, &d->err);
}

static size_t count_pages(struct data *d, const struct index *index, enum read_select select,
			  bool is_reverse)
{
	struct read_page page = {
		.table = d->table, .index = index, .select = select, .is_reverse = is_reverse};
	size_t n = 0;
	bool more = true;

	while (more) {
		CHECK_INT(read_page(d->catalog, d->arena, &page, &d->err), OK);
		for (size_t i = 0; select != READ_COUNT && i < page.found.count; i++)
			CHECK(select != READ_ALL_ATTRIBUTES ||
			      image_item_size(page.found.rows[i].image) > LARGE);
		n += page.found.count;
		more = value_is_set(&page.found.last_key);
		if (more)
			CHECK_INT(read_start_key(d->arena, &page, &page.found.last_key,
						 &page.start_after, &d->err),
				  OK);
	}
	return n;
}

TEST(a_large_item_is_kept_in_pieces)
{
	struct limited limited = limited_new();
	struct data *d = &limited.d;
	struct write update = {.kind = WRITE_UPDATE,
			       .key = key(d, 1),
			       .update = data_update(d, "SET v = :v", ":v", "N1", NULL)};
	struct write shrink = {.kind = WRITE_UPDATE,
			       .key = key(d, 1),
			       .update = data_update(d, "REMOVE big", NULL)};

	CHECK_INT(data_put(d, large(d, 1)), OK);
	CHECK(data_is(d, data_get(d, key(d, 1)), large(d, 1)));
	CHECK_INT(data_write(d, &update), OK);
	CHECK(data_is(d, update.old_image, large(d, 1)));
	CHECK_INT(image_item_size(data_get(d, key(d, 1))), image_item_size(update.old_image) + 3);
	CHECK_INT(data_write(d, &shrink), OK);
	CHECK_INT(image_item_size(data_get(d, key(d, 1))), image_item_size(shrink.new_image));
	CHECK_INT(data_rows(d, &d->table->indexes.v[ALL]).n, 1);
	limited_free(&limited);
}

TEST(batches_are_cut)
{
	struct limited limited = limited_new();
	struct data *d = &limited.d;
	struct read_item items[MANY];

	CHECK_INT(write_all(d, WRITE_PUT), OK);
	CHECK_INT(write_all(d, WRITE_PUT), OK); /* which reads as much as it writes */
	for (int i = 0; i < MANY; i++) {
		items[i] = (struct read_item){
			.table = d->table, .key = key(d, i), .mode = READ_CONSISTENT};
		CHECK_INT(read_prepare(d->arena, &items[i], &d->err), OK);
	}
	CHECK_INT(read_items(d->catalog, d->arena, items, MANY, &d->err), OK);
	for (int i = 0; i < MANY; i++)
		CHECK(data_is(d, items[i].image, large(d, i)));
	CHECK_INT(write_all(d, WRITE_DELETE), OK);
	CHECK_INT(count_pages(d, NULL, READ_COUNT, false), 0);
	CHECK_INT(count_pages(d, &d->table->indexes.v[LOCAL], READ_COUNT, false), 0);
	limited_free(&limited);
}

TEST(pages_are_cut)
{
	struct limited limited = limited_new();
	struct data *d = &limited.d;

	CHECK_INT(write_all(d, WRITE_PUT), OK);
	for (int reverse = 0; reverse < 2; reverse++) {
		CHECK_INT(count_pages(d, NULL, READ_ALL_ATTRIBUTES, reverse), MANY);
		CHECK_INT(count_pages(d, NULL, READ_COUNT, reverse), MANY);
		CHECK_INT(count_pages(d, &d->table->indexes.v[ALL], READ_ALL_ATTRIBUTES, reverse),
			  MANY);
		/* rows of keys only: each has a whole item fetched */
		CHECK_INT(count_pages(d, &d->table->indexes.v[LOCAL], READ_ALL_ATTRIBUTES, reverse),
			  MANY);
	}
	limited_free(&limited);
}

TEST(work_without_a_request_is_cut)
{
	struct limited limited = limited_new();
	struct data *d = &limited.d;
	struct table *next;
	uint64_t deleted = 0;
	bool more = true;

	next = table_clone(d->table);
	next->ttl.is_enabled = true;
	next->ttl.attribute = STR("t");
	next->ttl.changed_ms = 2000;
	CHECK_INT(catalog_replace(d->catalog, d->table, next, &d->err), OK);
	data_take_current(d);
	CHECK_INT(write_all(d, WRITE_PUT), OK);
	CHECK_INT(catalog_replace(d->catalog, d->table, data_with_index(d->table), &d->err), OK);
	CHECK_INT(backfill_run(d->catalog, DATA_NS, STR("data"), 1000, 5000, &d->err), OK);
	data_take_current(d);
	CHECK_INT(count_pages(d, &d->table->indexes.v[3], READ_ALL_ATTRIBUTES, false), MANY);
	for (int i = 0; i < 100 && more; i++)
		CHECK_INT(
			ttl_sweep(d->catalog, TIMES_AT(NOW_MS + 1000), 0, &deleted, &more, &d->err),
			OK);
	CHECK_INT(deleted, MANY);
	CHECK_INT(count_pages(d, NULL, READ_COUNT, false), 0);
	limited_free(&limited);
}

TEST_MAIN(TEST_CASE(a_large_item_is_kept_in_pieces), TEST_CASE(batches_are_cut),
	  TEST_CASE(pages_are_cut), TEST_CASE(work_without_a_request_is_cut))
