/* The limit of item collections: what counts towards it, to the byte, and when nobody need count.
 */
#include "core/key.h"
#include "storage/write/write.h"
#include "tests/unit/storage/data_fixture.h"

#define NOT_COUNTED                                                                                \
	((uint64_t)100 * ITEM_SIZE_MAX * (1 + LOCAL_INDEXES_MAX)) /* what one transaction can add  \
								   */

enum { FIRST, SECOND }; /* local indexes: by l, by m */

/* pk S, sk N, two local indexes with the keys alone. */
static struct table *two_local(const char *name)
{
	struct table *table = data_table(name);
	struct key_attribute m = {STR("m"), TYPE_N};

	table->indexes.n = 2;
	table->indexes.v[SECOND] = table->indexes.v[FIRST];
	table->indexes.v[SECOND].name = STR("second");
	table->indexes.v[SECOND].keys.attributes[1] = m;
	return table;
}

static struct data with_limit(uint64_t limit)
{
	struct data d = data_open(&(struct catalog_options){.collection_max = limit});

	CHECK_INT(catalog_create(d.catalog, DATA_NS, two_local("data"), 1, &d.table, &d.err), OK);
	return d;
}

/* The catalog as after a start: it has counted nothing. */
static void open_again(struct data *d, uint64_t limit)
{
	catalog_close(d->catalog);
	CHECK_INT(catalog_open(d->store, &(struct catalog_options){.collection_max = limit},
			       &d->catalog, &d->err),
		  OK);
	data_take_current(d);
}

/* Items of 100 bytes: 3 of pk, 4 of sk, and what is said. */
static const struct value *hundred(struct data *d, const char *pk, const char *sk)
{
	return data_item(d, "pk", pk, "sk", sk, "a", data_long(d, 'S', 92), NULL);
}

TEST(a_collection_may_have_just_the_limit)
{
	struct data d = with_limit(200);

	CHECK_INT(data_put(&d, hundred(&d, "Sa", "N1")), OK);
	CHECK_INT(data_put(&d, hundred(&d, "Sa", "N2")), OK);
	/* the first two fill it to the byte, and are found first */
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N3", NULL)),
		  ERR_ITEM_COLLECTION_SIZE);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "a", data_long(&d, 'S', 93),
					 NULL)),
		  ERR_ITEM_COLLECTION_SIZE);
	data_free(&d);
}

TEST(rows_of_each_local_index_count)
{
	struct data d = with_limit(200);

	/* 100 bytes and 10 of an index's row */
	CHECK_INT(data_put(&d, hundred(&d, "Sa", "N1")), OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "l", "N1", "a",
					 data_long(&d, 'S', 89), NULL)),
		  ERR_ITEM_COLLECTION_SIZE);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "m", "N1", "a",
					 data_long(&d, 'S', 89), NULL)),
		  ERR_ITEM_COLLECTION_SIZE);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "m", "N1", "a",
					 data_long(&d, 'S', 79), NULL)),
		  OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "m", "N1", "a",
					 data_long(&d, 'S', 80), NULL)),
		  ERR_ITEM_COLLECTION_SIZE);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N2", "l", "N1", "a",
					 data_long(&d, 'S', 80), NULL)),
		  ERR_ITEM_COLLECTION_SIZE);
	data_free(&d);
}

/* The two partition keys have one hash. */
TEST(partitions_of_one_hash_are_two_collections)
{
	struct data d = with_limit(250);
	struct write write = {.kind = WRITE_PUT,
			      .item = data_item(&d, "pk", "Sp102309", "sk", "N2", NULL),
			      .wants_collection_size = true};

	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sp15451", "sk", "N1", "a",
					 data_long(&d, 'S', 200), NULL)),
		  OK);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sp102309", "sk", "N1", "a",
					 data_long(&d, 'S', 200), NULL)),
		  OK);
	struct data_rows rows = data_rows(&d, NULL);
	CHECK(memcmp(rows.keys[0].p, rows.keys[1].p, KEY_HASH_SIZE) == 0);
	tally_know(d.table->tally, 1, 2ll << 30); /* of a smaller table none is measured */
	CHECK_INT(data_write(&d, &write), OK);
	CHECK_INT(write.collection_bytes, 9 + 4 + 201 + 9 + 4);
	data_free(&d);
}

/* Whether the write looked at the rows of its collection. */
static bool looks(struct data *d, const struct value *item)
{
	trace_store_reset(d->store);
	CHECK_INT(data_put(d, item), OK);
	return trace_store_count_in(d->store, TRACE_PAGE, table_items(d->table)) > 0;
}

/* 100 bytes of a table, 10 of each index's row: while all collections together are within the limit
 * none is looked at. */
static void check_small_tables(bool is_started_again)
{
	for (int more = -1; more <= 1; more++) {
		uint64_t limit = NOT_COUNTED + 120 + (uint64_t)(more + 1) - 1;
		struct data d = with_limit(limit);

		CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N1", "m", "N1",
						 "a", data_long(&d, 'S', 86), NULL)),
			  OK);
		if (is_started_again) {
			open_again(&d, limit);
			CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N1", "m",
							 "N1", "a", data_long(&d, 'S', 86), NULL)),
				  OK);
		}
		CHECK(looks(&d, data_item(&d, "pk", "Sb", "sk", "N1", NULL)) == (more < 0));
		data_free(&d);
	}
}

TEST(small_tables_are_not_looked_at)
{
	check_small_tables(false);
}

TEST(nor_are_they_after_a_start)
{
	check_small_tables(true);
}

/* Items and rows together: one may shrink as the other grows. */
TEST(only_what_grows_is_looked_at)
{
	struct data d = with_limit(NOT_COUNTED + 1);

	/* 10 bytes of a row go with l or m */
	CHECK(looks(&d, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N1", "a", "Sxxxxxxxxxx",
				  NULL)) == false);
	CHECK(!looks(&d,
		     data_item(&d, "pk", "Sa", "sk", "N1", "l", "N2", "a", "Syyyyyyyyyy", NULL)));
	CHECK(looks(&d,
		    data_item(&d, "pk", "Sa", "sk", "N1", "l", "N2", "a", "Syyyyyyyyyyz", NULL)));
	/* the item grows by 9, a row of 10 goes */
	CHECK(!looks(
		&d, data_item(&d, "pk", "Sa", "sk", "N1", "a", "Syyyyyyyyyyyyyyyyyyyyyyyy", NULL)));
	/* the item shrinks by 9, a row of 10 comes */
	CHECK(looks(&d,
		    data_item(&d, "pk", "Sa", "sk", "N1", "l", "N2", "a", "Syyyyyyyyyyyy", NULL)));
	CHECK(!looks(
		&d, data_item(&d, "pk", "Sa", "sk", "N1", "a", "Syyyyyyyyyyyyyyyyyyyyyyyy", NULL)));
	CHECK(looks(&d,
		    data_item(&d, "pk", "Sa", "sk", "N1", "m", "N2", "a", "Syyyyyyyyyyyy", NULL)));
	CHECK(!looks(
		&d, data_item(&d, "pk", "Sa", "sk", "N1", "a", "Syyyyyyyyyyyyyyyyyyyyyyyy", NULL)));
	data_free(&d);
}

/* What the look goes by is known of all tables of a transaction, before it changes them. */
TEST(sizes_are_known_to_a_transaction)
{
	struct data d = with_limit(0);
	struct table *other;

	CHECK_INT(catalog_create(d.catalog, DATA_NS, two_local("other"), 1, &other, &d.err), OK);
	table_unref(other);
	open_again(&d, 0);
	CHECK_INT(catalog_get(d.catalog, DATA_NS, STR("other"), 1, &other, &d.err), OK);
	struct write writes[2] = {
		{.table = d.table, .kind = WRITE_PUT, .item = hundred(&d, "Sa", "N1")},
		{.table = other, .kind = WRITE_PUT, .item = hundred(&d, "Sa", "N1")}};
	for (int i = 0; i < 2; i++)
		CHECK_INT(write_prepare(d.arena, &writes[i], &d.err), OK);
	CHECK_INT(write_run(d.catalog, d.arena, writes, 2, WRITE_TRANSACTION, NULL, 1, &d.err), OK);
	for (int i = 0; i < 2; i++) {
		long long bytes;

		CHECK(tally_known_bytes(writes[i].table->tally, 1, (const uint32_t[]){TALLY_TABLE},
					1, &bytes));
		CHECK_INT(bytes, 100);
	}
	table_unref(other);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_collection_may_have_just_the_limit),
	  TEST_CASE(rows_of_each_local_index_count),
	  TEST_CASE(partitions_of_one_hash_are_two_collections),
	  TEST_CASE(small_tables_are_not_looked_at), TEST_CASE(nor_are_they_after_a_start),
	  TEST_CASE(only_what_grows_is_looked_at), TEST_CASE(sizes_are_known_to_a_transaction))
