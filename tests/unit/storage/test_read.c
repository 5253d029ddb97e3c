#include "tests/unit/storage/data_fixture.h"

struct seen {
	struct data *d;
	char text[256]; /* the sort keys found, one space after each */
	size_t bytes;
	struct value projected;
};

static void see(struct seen *seen, const struct read_row *row)
{
	struct value sk;
	struct buf buf = buf_in(seen->d->arena);

	if (!str_is_set(row->image)) {
		seen->projected = row->projected;
		return;
	}
	CHECK(image_get(seen->d->arena, row->image, STR("sk"), &sk));
	number_format(value_str(&sk), &buf);
	size_t n = strlen(seen->text);
	snprintf(seen->text + n, sizeof(seen->text) - n, STR_FMT " ", STR_ARG(buf_str(&buf)));
	seen->bytes += image_item_size(row->image);
}

static enum code see_page(struct data *d, struct read_page *page, struct seen *seen)
{
	enum code code = read_page(d->catalog, d->arena, page, &d->err);

	for (size_t i = 0; code == OK && page->select != READ_COUNT && i < page->found.count; i++)
		see(seen, &page->found.rows[i]);
	return code;
}

/* Items 1..6 of partition a: l is 10 - sk, v is sk % 2, big is 5,000 bytes. */
static struct data six_items(void)
{
	struct data d = data_new();

	for (int i = 1; i <= 6; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%d", i).p,
					     "l", str_printf(d.arena, "N%d", 10 - i).p, "v",
					     str_printf(d.arena, "N%d", i % 2).p, "big",
					     data_long(&d, 'S', 5000), NULL)),
			  OK);
	return d;
}

static struct read_page query(struct data *d, const struct index *index, struct key_condition *keys,
			      struct seen *seen)
{
	const struct node *node =
		data_condition(d, EXPR_KEY_CONDITION, "pk = :p", ":p", "Sa", NULL);

	CHECK_INT(key_condition_resolve(d->arena, d->table, index, node, keys, &d->err), OK);
	*seen = (struct seen){.d = d};
	return (struct read_page){.table = d->table,
				  .index = index,
				  .keys = keys,
				  .is_consistent = true,
				  .select =
					  index ? READ_PROJECTED_ATTRIBUTES : READ_ALL_ATTRIBUTES};
}

TEST(an_item_is_read_by_its_key)
{
	struct data d = six_items();
	struct read_item items[2] = {{.table = d.table,
				      .key = data_item(&d, "pk", "Sa", "sk", "N1", NULL),
				      .mode = READ_EVENTUAL},
				     {.table = d.table,
				      .key = data_item(&d, "pk", "Sa", "sk", "N99", NULL),
				      .mode = READ_TRANSACTIONAL}};

	for (int i = 0; i < 2; i++)
		CHECK_INT(read_prepare(d.arena, &items[i], &d.err), OK);
	CHECK_INT(read_items(d.catalog, d.arena, items, 2, &d.err), OK);
	CHECK_INT(image_item_size(items[0].image), 7 + 3 + 3 + 5003);
	CHECK(items[0].cost.base.read == 1);   /* two units of 4 KB, half each */
	CHECK(!str_is_set(items[1].image));
	CHECK(items[1].cost.base.read == 2);
	data_free(&d);
}

TEST(a_query_goes_both_ways)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query(&d, NULL, &keys, &seen);

	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "1 2 3 4 5 6 ");
	CHECK_INT(page.found.count, 6);
	CHECK_INT(page.found.scanned, 6);
	CHECK_INT(page.found.bytes, seen.bytes);
	CHECK(!value_is_set(&page.found.last_key));
	CHECK(page.found.cost.base.read == 8); /* 6 * 5016 bytes, rounded up once */
	page = query(&d, NULL, &keys, &seen);
	page.is_reverse = true;
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "6 5 4 3 2 1 ");
	page = query(&d, &d.table->indexes.v[LOCAL], &keys, &seen);
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "6 5 4 3 2 1 ");
	CHECK(page.found.cost.index[LOCAL].read == 1 && page.found.cost.base.read == 0);
	data_free(&d);
}

TEST(a_limit_counts_before_the_filter)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query(&d, NULL, &keys, &seen);

	page.filter = data_condition(&d, EXPR_FILTER, "v = :v", ":v", "N1", NULL);
	page.limit = 4;
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "1 3 ");
	CHECK_INT(page.found.count, 2);
	CHECK_INT(page.found.scanned, 4);
	CHECK(value_equal(&page.found.last_key, data_item(&d, "pk", "Sa", "sk", "N4", NULL)));
	data_free(&d);
}

/* AWS: a page that its Limit ended has a LastEvaluatedKey, also when nothing follows. */
TEST(a_limit_that_is_just_reached_has_a_last_key)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query(&d, NULL, &keys, &seen);

	page.limit = 6;
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK(value_equal(&page.found.last_key, data_item(&d, "pk", "Sa", "sk", "N6", NULL)));
	CHECK_INT(read_start_key(d.arena, &page, &page.found.last_key, &page.start_after, &d.err),
		  OK);
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_INT(page.found.count, 0);
	CHECK(!value_is_set(&page.found.last_key));
	page.limit = 7;
	page.start_after = STR_ABSENT;
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK(!value_is_set(&page.found.last_key));
	data_free(&d);
}

TEST(a_page_ends_with_the_item_that_fills_1_MB)
{
	struct data d = data_new();
	struct key_condition keys;
	struct seen seen;

	for (int i = 1; i <= 20; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%d", i).p,
					     "z", data_long(&d, 'S', 60000), NULL)),
			  OK);
	struct read_page page = query(&d, NULL, &keys, &seen);
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_INT(page.found.count, 18); /* 17 * 60,008 is less than 1,048,576 */
	CHECK_INT(seen.bytes, 18 * 60008);
	CHECK_INT(read_start_key(d.arena, &page, &page.found.last_key, &page.start_after, &d.err),
		  OK);
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_INT(page.found.count, 2);
	CHECK(!value_is_set(&page.found.last_key));
	data_free(&d);
}

/* 16 items of 64 KB. */
TEST(a_page_of_just_1_MB_is_full)
{
	struct data d = data_new();
	struct key_condition keys;
	struct seen seen;

	for (int i = 1; i <= 17; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%d", i).p,
					     "z", data_long(&d, 'S', 65528), NULL)),
			  OK);
	struct read_page page = query(&d, NULL, &keys, &seen);
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_INT(page.found.bytes, 1024 * 1024);
	CHECK_INT(page.found.count, 16);
	data_free(&d);
}

/* Rows that are only counted are forgotten piece by piece. */
TEST(counting_a_page_takes_no_memory_for_its_rows)
{
	struct data d = data_new();

	for (int i = 1; i <= 2000; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%d", i).p,
					     "z", data_long(&d, 'S', 400), NULL)),
			  OK);
	struct read_page page = {.table = d.table, .select = READ_COUNT};
	size_t before = arena_used(d.arena);
	CHECK_INT(read_page(d.catalog, d.arena, &page, &d.err), OK);
	CHECK_INT(page.found.count, 2000);
	CHECK(arena_used(d.arena) - before < 16 * 1024);
	data_free(&d);
}

static struct str row_key(struct data *d, const char *pk, const char *sk)
{
	struct read_item item = {.table = d->table, .key = data_item(d, "pk", pk, "sk", sk, NULL)};

	CHECK_INT(read_prepare(d->arena, &item, &d->err), OK);
	return item.row_key;
}

static struct read_page query_where(struct data *d, const char *condition,
				    struct key_condition *keys, struct seen *seen)
{
	struct read_page page = query(d, NULL, keys, seen);
	const struct node *node =
		data_condition(d, EXPR_KEY_CONDITION, condition, ":p", "Sa", ":s", "N3", NULL);

	CHECK_INT(key_condition_resolve(d->arena, d->table, NULL, node, keys, &d->err), OK);
	return page;
}

/* A start key narrows the range and never widens it. */
TEST(a_start_key_beyond_the_range_changes_nothing)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query_where(&d, "pk = :p AND sk > :s", &keys, &seen);

	page.start_after = row_key(&d, "Sa", "N1");
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "4 5 6 ");
	page = query_where(&d, "pk = :p AND sk < :s", &keys, &seen);
	page.is_reverse = true;
	page.start_after = row_key(&d, "Sa", "N5");
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "2 1 ");
	data_free(&d);
}

/* An item of the table that is gone is no reason to answer with less. */
TEST(a_row_of_a_local_index_without_its_item_is_an_error)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query(&d, &d.table->indexes.v[LOCAL], &keys, &seen);
	struct store_txn *txn;

	CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
	CHECK_INT(store_del(txn, table_items(d.table), row_key(&d, "Sa", "N3"), &d.err), OK);
	CHECK_INT(store_commit(txn, &d.err), OK);
	page.select = READ_ALL_ATTRIBUTES;
	CHECK_INT(see_page(&d, &page, &seen), ERR_INTERNAL);
	CHECK(str_starts_with(d.err.message,
			      STR("the store is damaged: a row is malformed: items ")));
	data_free(&d);
}

TEST(a_local_index_fetches_what_it_lacks)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query(&d, &d.table->indexes.v[LOCAL], &keys, &seen);

	page.select = READ_ALL_ATTRIBUTES;
	page.limit = 2;
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK_INT(seen.bytes, 5015 + 5016); /* a number 0 is one byte, another two */
	CHECK(page.found.cost.index[LOCAL].read == 1);
	CHECK(page.found.cost.base.read == 4); /* each item on its own: 2 units */
	CHECK(value_equal(&page.found.last_key,
			  data_item(&d, "pk", "Sa", "sk", "N5", "l", "N5", NULL)));
	page = query(&d, &d.table->indexes.v[LOCAL], &keys, &seen);
	page.select = READ_SPECIFIC_ATTRIBUTES;
	page.projection = data_projection(&d, "l, v");
	page.limit = 1;
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK(value_equal(&seen.projected, data_item(&d, "l", "N4", "v", "N0", NULL)));
	page.projection = data_projection(&d, "l, pk");
	CHECK_INT(see_page(&d, &page, &seen), OK);
	CHECK(page.found.cost.base.read == 0);
	data_free(&d);
}

static struct read_page query_all(struct data *d, struct key_condition *keys, struct seen *seen)
{
	const struct node *node = data_condition(d, EXPR_KEY_CONDITION, "g = :p", ":p", "Sa", NULL);
	const struct index *index = &d->table->indexes.v[ALL];

	CHECK_INT(key_condition_resolve(d->arena, d->table, index, node, keys, &d->err), OK);
	*seen = (struct seen){.d = d};
	return (struct read_page){.table = d->table,
				  .index = index,
				  .keys = keys,
				  .select = READ_PROJECTED_ATTRIBUTES};
}

/* 300 items of 5,000 bytes in the order of their sort keys, all in the index. */
static void check_all_pages(struct data *d)
{
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query_all(d, &keys, &seen);

	page.limit = 3;
	CHECK_INT(see_page(d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "1 2 3 ");
	CHECK_INT(page.found.bytes, seen.bytes);
	CHECK(value_equal(&page.found.last_key,
			  data_item(d, "pk", "Sa", "sk", "N3", "g", "Sa", "h", "S003", NULL)));
	page = query_all(d, &keys, &seen);
	page.limit = 4;
	page.is_reverse = true;
	page.filter = data_condition(d, EXPR_FILTER, "v = :v", ":v", "N1", NULL);
	CHECK_INT(see_page(d, &page, &seen), OK);
	CHECK_STR(str_of(seen.text), "299 297 ");
	CHECK_INT(page.found.scanned, 4);
	page = query_all(d, &keys, &seen);
	page.select = READ_COUNT;
	CHECK_INT(see_page(d, &page, &seen), OK);
	CHECK(page.found.count > 200 && page.found.count < 210); /* 1 MB of items, not of rows */
	CHECK(page.found.bytes >= PAGE_SIZE_MAX && value_is_set(&page.found.last_key));
	CHECK(page.found.cost.index[ALL].read == capacity_read(page.found.bytes, READ_EVENTUAL));
	page = query_all(d, &keys, &seen);
	CHECK_INT(read_page(d->catalog, d->arena, &page, &d->err), OK);
	CHECK(page.found.count > 200 && page.found.count < 210);
}

TEST(an_index_by_reference_shows_the_items)
{
	struct data d = data_new();

	for (int i = 1; i <= 300; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%d", i).p,
					     "g", "Sa", "h", str_printf(d.arena, "S%03d", i).p, "v",
					     str_printf(d.arena, "N%d", i % 2).p, "big",
					     data_long(&d, 'S', 5000), NULL)),
			  OK);
	CHECK(d.table->indexes.v[ALL].is_by_reference);
	check_all_pages(&d);
	trace_store_copy(
		d.store); /* it is the same where the store has to look for each item by its key */
	check_all_pages(&d);
	data_free(&d);
}

TEST(a_row_that_stands_for_no_item_is_an_error)
{
	struct data d = data_new();
	struct key_condition keys;
	struct seen seen;
	struct store_txn *txn;

	for (int i = 1; i <= 3; i++)
		CHECK_INT(data_put(&d,
				   data_item(&d, "pk", "Sa", "sk", str_printf(d.arena, "N%d", i).p,
					     "g", "Sa", "h", "Sb", NULL)),
			  OK);
	CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
	CHECK_INT(store_del(txn, table_items(d.table), row_key(&d, "Sa", "N2"), &d.err), OK);
	CHECK_INT(store_commit(txn, &d.err), OK);
	for (int copies = 0; copies < 2; copies++) {
		struct read_page page = query_all(&d, &keys, &seen);

		CHECK_INT(see_page(&d, &page, &seen), ERR_INTERNAL);
		CHECK(str_starts_with(d.err.message,
				      STR("the store is damaged: a row is malformed: ")));
		trace_store_copy(d.store);
	}
	data_free(&d);
}

TEST(segments_divide_the_table)
{
	struct data d = data_new();

	for (int i = 0; i < 60; i++)
		CHECK_INT(data_put(&d, data_item(&d, "pk", str_printf(d.arena, "Sp%d", i).p, "sk",
						 "N1", NULL)),
			  OK);
	for (uint32_t segments = 1; segments <= 9; segments++) {
		uint64_t total = 0;

		for (uint32_t segment = 0; segment < segments; segment++) {
			struct seen seen = {.d = &d};
			struct read_page page = {.table = d.table,
						 .segment = segment,
						 .segments = segments,
						 .limit = 7};
			bool more = true;

			while (more) {
				CHECK_INT(see_page(&d, &page, &seen), OK);
				total += page.found.count;
				memset(seen.text, 0, sizeof(seen.text));
				more = value_is_set(&page.found.last_key);
				if (more)
					CHECK_INT(read_start_key(d.arena, &page,
								 &page.found.last_key,
								 &page.start_after, &d.err),
						  OK);
			}
		}
		CHECK_INT(total, 60);
	}
	data_free(&d);
}

static void start(struct data *d, const struct read_page *page, const struct value *key,
		  const char *message)
{
	struct str row_key;

	CHECK((read_start_key(d->arena, page, key, &row_key, &d->err) != OK) == (message != NULL));
	if (message)
		CHECK_STR(d->err.message, message);
}

TEST(a_start_key_belongs_to_the_page)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query(&d, NULL, &keys, &seen), scan = {.table = d.table};
	const char *of_schema = "The provided starting key is invalid: The provided key element "
				"does not match the schema";

	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N99", NULL), NULL);
	start(&d, &page, data_item(&d, "pk", "Sa", NULL), "The provided starting key is invalid");
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "S1", NULL),
	      "The provided starting key is invalid");
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N1", "x", "N1", NULL),
	      "The provided starting key is invalid");
	start(&d, &page, data_item(&d, "pk", "Sb", "sk", "N1", NULL),
	      "The provided starting key is outside query boundaries based on provided conditions");
	start(&d, &page, data_item(&d, "pk", "S", "sk", "N1", NULL),
	      "One or more parameter values are not valid. The AttributeValue for a key attribute "
	      "cannot contain an empty string value. Key: pk");
	start(&d, &scan, data_item(&d, "pk", "Sb", "sk", "N1", NULL), NULL);
	start(&d, &scan, data_item(&d, "pk", "Sb", NULL), of_schema);
	start(&d, &scan, data_item(&d, "pk", "Sb", "sk", "S1", NULL), of_schema);
	scan.index = &d.table->indexes.v[ALL];
	start(&d, &scan, data_item(&d, "pk", "Sb", "sk", "N1", "g", "Sx", NULL),
	      "The provided starting key is invalid");
	start(&d, &scan, data_item(&d, "pk", "Sb", "sk", "N1", "g", "Sx", "x", "S1", NULL),
	      "The provided starting key is invalid");
	start(&d, &scan, data_item(&d, "pk", "Sb", "sk", "N1", "g", "N1", "h", "S1", NULL),
	      "The provided key element does not match the schema");
	start(&d, &scan, data_item(&d, "pk", "Sb", "sk", "S1", "g", "Sx", "h", "S1", NULL),
	      of_schema);
	const struct node *node = data_condition(&d, EXPR_KEY_CONDITION, "pk = :p AND sk > :s",
						 ":p", "Sa", ":s", "N3", NULL);
	CHECK_INT(key_condition_resolve(d.arena, d.table, NULL, node, &keys, &d.err), OK);
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N2", NULL),
	      "The provided starting key does not match the range key predicate");
	page.index = &d.table->indexes.v[ALL];
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N2", "g", "Sx", "h", "S", NULL),
	      "The provided starting key is invalid: One or more parameter values are not valid. A "
	      "value specified for a secondary index key is "
	      "not supported. The AttributeValue for a key attribute cannot contain an empty "
	      "string value. IndexName: all, IndexKey: h");
	data_free(&d);
}

TEST(a_start_key_is_held_against_the_sort_key_s_condition)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;
	struct read_page page = query_where(&d, "pk = :p AND sk < :s", &keys, &seen);
	const char *of_range = "The provided starting key does not match the range key predicate";

	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N2", NULL), NULL);
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N3", NULL),
	      of_range); /* the first one that is not in the range */
	/* of another partition: as if it were of this one */
	start(&d, &page, data_item(&d, "pk", "Sbb", "sk", "N5", NULL), of_range);
	start(&d, &page, data_item(&d, "pk", "Sbb", "sk", "N2", NULL),
	      "The query can return at most one row and cannot be restarted");
	data_free(&d);
}

TEST(a_start_key_belongs_to_its_segment)
{
	struct data d = data_new();
	struct str row_key;
	unsigned others = 0;

	for (int i = 0; i < 20; i++) {
		const struct value *key =
			data_item(&d, "pk", str_printf(d.arena, "Sp%d", i).p, "sk", "N1", NULL);
		unsigned own = 0;

		for (uint32_t segment = 0; segment < 3; segment++) {
			struct read_page scan = {
				.table = d.table, .segment = segment, .segments = 3};

			own += read_start_key(d.arena, &scan, key, &row_key, &d.err) == OK;
			others += segment == 2 && d.err.code != OK;
			if (d.err.code != OK)
				CHECK(str_starts_with(d.err.message,
						      STR("The provided starting key is invalid: "
							  "Invalid ExclusiveStartKey.")));
		}
		CHECK_INT(own, 1);
	}
	CHECK(others > 0);
	data_free(&d);
}

/* An index whose partition key has two attributes. */
TEST(a_start_key_has_the_whole_partition_key)
{
	struct data d = data_open(NULL);
	struct table *table = data_table("data");
	struct key_condition keys;

	table->indexes.v[ALL].keys.hash_count = 2;
	table->indexes.v[ALL].keys.range_count = 0;
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1, &d.table, &d.err), OK);
	struct read_page page = {
		.table = d.table, .index = &d.table->indexes.v[ALL], .keys = &keys};
	const struct node *node = data_condition(&d, EXPR_KEY_CONDITION, "g = :g AND h = :h", ":g",
						 "Sx", ":h", "Sy", NULL);
	CHECK_INT(key_condition_resolve(d.arena, d.table, page.index, node, &keys, &d.err), OK);
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL), NULL);
	start(&d, &page, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Szz", NULL),
	      "The provided starting key is outside query boundaries based on provided conditions");
	data_free(&d);
}

TEST(a_failing_store_is_told)
{
	struct data d = six_items();
	struct key_condition keys;
	struct seen seen;

	for (uint64_t n = 1; n <= 4; n++) { /* begin, scan, get, commit */
		struct read_page page = query(&d, &d.table->indexes.v[LOCAL], &keys, &seen);

		page.select = READ_ALL_ATTRIBUTES;
		page.limit = 1;
		trace_store_fail(d.store, n, ERR_INTERNAL);
		CHECK_INT(see_page(&d, &page, &seen), ERR_INTERNAL);
		trace_store_fail(d.store, 0, OK);
	}
	data_free(&d);
}

TEST_MAIN(TEST_CASE(an_item_is_read_by_its_key), TEST_CASE(a_query_goes_both_ways),
	  TEST_CASE(a_limit_counts_before_the_filter),
	  TEST_CASE(a_limit_that_is_just_reached_has_a_last_key),
	  TEST_CASE(a_page_ends_with_the_item_that_fills_1_MB),
	  TEST_CASE(a_local_index_fetches_what_it_lacks),
	  TEST_CASE(an_index_by_reference_shows_the_items),
	  TEST_CASE(a_row_that_stands_for_no_item_is_an_error),
	  TEST_CASE(segments_divide_the_table), TEST_CASE(a_start_key_belongs_to_the_page),
	  TEST_CASE(a_page_of_just_1_MB_is_full),
	  TEST_CASE(counting_a_page_takes_no_memory_for_its_rows),
	  TEST_CASE(a_start_key_beyond_the_range_changes_nothing),
	  TEST_CASE(a_row_of_a_local_index_without_its_item_is_an_error),
	  TEST_CASE(a_start_key_is_held_against_the_sort_key_s_condition),
	  TEST_CASE(a_start_key_belongs_to_its_segment),
	  TEST_CASE(a_start_key_has_the_whole_partition_key), TEST_CASE(a_failing_store_is_told))
