#include "storage/catalog/catalog_size.h"
#include "storage/store/retry.h"
#include "tests/unit/storage/data_fixture.h"

#define KEY(d) data_item(d, "pk", "Sa", "sk", "N1", NULL)

TEST(a_put_replaces_the_item)
{
	struct data d = data_new();
	const struct value *first = data_item(&d, "pk", "Sa", "sk", "N1", "v", "N1", NULL);
	const struct value *second = data_item(&d, "pk", "Sa", "sk", "N1", "w", "N2", NULL);
	struct write write = {.kind = WRITE_PUT, .item = first};

	CHECK_INT(data_write(&d, &write), OK);
	CHECK(!str_is_set(write.old_image));
	CHECK(data_is(&d, write.new_image, first));
	write = (struct write){.kind = WRITE_PUT, .item = second};
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(data_is(&d, write.old_image, first));
	CHECK(data_is(&d, data_get(&d, KEY(&d)), second));
	data_free(&d);
}

TEST(a_delete_needs_nothing_to_be_there)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_DELETE, .key = KEY(&d)};

	CHECK_INT(data_write(&d, &write), OK);
	CHECK(!str_is_set(write.old_image));
	CHECK(write.cost.base.write == 1);
	CHECK_INT(data_put(&d, KEY(&d)), OK);
	write = (struct write){.kind = WRITE_DELETE, .key = KEY(&d)};
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(data_is(&d, write.old_image, KEY(&d)));
	CHECK(!str_is_set(data_get(&d, KEY(&d))));
	data_free(&d);
}

TEST(an_update_of_nothing_starts_from_the_key)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_UPDATE, .key = KEY(&d)};

	CHECK_INT(data_write(&d, &write), OK);
	CHECK(data_is(&d, data_get(&d, KEY(&d)), KEY(&d)));
	write = (struct write){.kind = WRITE_UPDATE,
			       .key = KEY(&d),
			       .update = data_update(&d, "SET v = :v", ":v", "N4", NULL)};
	CHECK_INT(data_write(&d, &write), OK);
	write = (struct write){.kind = WRITE_UPDATE,
			       .key = KEY(&d),
			       .update = data_update(&d, "ADD v :v", ":v", "N4", NULL)};
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(data_is(&d, data_get(&d, KEY(&d)),
		      data_item(&d, "pk", "Sa", "sk", "N1", "v", "N8", NULL)));
	data_free(&d);
}

TEST(a_failed_condition_changes_nothing_and_is_billed)
{
	struct data d = data_new();
	const struct value *item =
		data_item(&d, "pk", "Sa", "sk", "N1", "v", data_long(&d, 'S', 2000), NULL);
	struct write write = {.kind = WRITE_PUT, .item = KEY(&d), .wants_item_on_failure = true};

	CHECK_INT(data_put(&d, item), OK);
	write.condition = data_condition(&d, EXPR_CONDITION, "attribute_not_exists(pk)", NULL);
	CHECK_INT(data_write(&d, &write), ERR_CONDITIONAL_CHECK_FAILED);
	CHECK_STR(d.err.message, "The conditional request failed");
	CHECK(data_is(&d, d.err.item, item));
	CHECK(write.cost.base.write == 2);
	CHECK(data_is(&d, data_get(&d, KEY(&d)), item));
	write = (struct write){.kind = WRITE_DELETE,
			       .key = data_item(&d, "pk", "Sno", "sk", "N1", NULL)};
	write.condition = data_condition(&d, EXPR_CONDITION, "attribute_exists(pk)", NULL);
	CHECK_INT(data_write(&d, &write), ERR_CONDITIONAL_CHECK_FAILED);
	CHECK(!str_is_set(d.err.item));
	CHECK(write.cost.base.write == 1);
	data_free(&d);
}

/* What a long write does is what any does; it reads the item once more, before the writers' turn.
 */
TEST(a_long_write_is_evaluated_before_its_turn)
{
	struct data d = data_new();
	const char *const texts[] = {"SET v = :v", "SET v = v + :v", "SET x = v", "REMOVE v",
				     "SET x = v",  "ADD pk :v",      "SET v = :v"};
	const enum code codes[] = {OK, OK, OK, OK, ERR_VALIDATION, ERR_OPERAND, OK};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct data plain = data_new();
		struct write write = {.kind = WRITE_UPDATE,
				      .key = KEY(&d),
				      .thought = write_thought_new(d.arena)},
			     same = {.kind = WRITE_UPDATE, .key = KEY(&plain)};
		struct str before = data_get(&d, KEY(&d));
		struct value old;

		if (str_is_set(before) && image_decode(d.arena, before, &old))
			CHECK_INT(data_put(&plain, &old), OK);
		bool has_operand = strchr(texts[i], ':') != NULL;
		write.update = has_operand ? data_update(&d, texts[i], ":v", "N4", NULL)
					   : data_update(&d, texts[i], NULL);
		same.update = has_operand ? data_update(&plain, texts[i], ":v", "N4", NULL)
					  : data_update(&plain, texts[i], NULL);
		CHECK_INT(data_write(&plain, &same), codes[i]);
		trace_store_reset(d.store);
		CHECK_INT(data_write(&d, &write), codes[i]);
		CHECK_INT(trace_store_count(d.store, TRACE_BEGIN), 2);
		struct str is = data_get(&d, KEY(&d)), wanted = data_get(&plain, KEY(&plain));
		CHECK(str_is_set(is) == str_is_set(wanted) &&
		      (!str_is_set(is) || str_eq(is, wanted)));
		CHECK(write.cost.base.write == same.cost.base.write);
		if (codes[i] != OK)
			CHECK(str_eq(d.err.message, plain.err.message));
		data_free(&plain);
	}
	struct write write = {.kind = WRITE_PUT,
			      .item = KEY(&d),
			      .thought = write_thought_new(d.arena),
			      .wants_item_on_failure = true};
	write.condition = data_condition(&d, EXPR_CONDITION, "v <> :v", ":v", "N4", NULL);
	CHECK_INT(data_write(&d, &write), ERR_CONDITIONAL_CHECK_FAILED);
	CHECK(data_is(&d, d.err.item,
		      data_item(&d, "pk", "Sa", "sk", "N1", "x", "N8", "v", "N4", NULL)));
	write.condition = data_condition(&d, EXPR_CONDITION, "v = :v", ":v", "N4", NULL);
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(data_is(&d, data_get(&d, KEY(&d)), KEY(&d)));
	data_free(&d);
}

/* pk, sk and their values are 7 bytes, the name v another. */
TEST(an_item_has_400_KB_at_most)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_PUT};

	write.item =
		data_item(&d, "pk", "Sa", "sk", "N1", "v", data_long(&d, 'S', 409600 - 8), NULL);
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(write.cost.base.write == 400);
	write.item =
		data_item(&d, "pk", "Sa", "sk", "N1", "v", data_long(&d, 'S', 409600 - 7), NULL);
	CHECK_INT(data_write(&d, &write), ERR_VALIDATION);
	CHECK_STR(d.err.message, "Item size has exceeded the maximum allowed size");
	write = (struct write){.kind = WRITE_UPDATE,
			       .key = KEY(&d),
			       .update = data_update(&d, "SET w = :w", ":w", "S", NULL)};
	CHECK_INT(data_write(&d, &write), ERR_VALIDATION);
	CHECK_STR(d.err.message, "Item size to update has exceeded the maximum allowed size");
	/* what is too large is not written down first */
	write.update = data_update(
		&d, "SET a1 = v, a2 = v, a3 = v, a4 = v, a5 = v, a6 = v, a7 = v, a8 = v, a9 = v",
		NULL);
	size_t used = arena_used(d.arena);
	CHECK_INT(data_write(&d, &write), ERR_VALIDATION);
	CHECK_STR(d.err.message, "Item size to update has exceeded the maximum allowed size");
	CHECK(arena_used(d.arena) - used < 1024 * 1024);
	data_free(&d);
}

static double index_units(struct data *d, const struct value *item, size_t index)
{
	struct write write = {.kind = WRITE_PUT, .item = item};

	CHECK_INT(data_write(d, &write), OK);
	CHECK(write.cost.index_is_touched[index] == (write.cost.index[index].write > 0));
	return write.cost.index[index].write;
}

TEST(an_index_costs_when_its_row_changes)
{
	struct data d = data_new();
	const char *big = data_long(&d, 'S', 1500);

	CHECK(index_units(&d, KEY(&d), ALL) == 0);
	CHECK(index_units(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL),
			  ALL) == 1);
	CHECK(index_units(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL),
			  ALL) == 0);
	CHECK(index_units(
		      &d,
		      data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", "v", big, NULL),
		      ALL) == 2);
	/* another key: the old row is deleted, the new one put */
	CHECK(index_units(
		      &d,
		      data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sz", "v", big, NULL),
		      ALL) == 4);
	CHECK(index_units(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "v", big, NULL),
			  ALL) == 2);
	/* what is not projected does not matter */
	CHECK(index_units(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "v", "S1", NULL),
			  SOME) == 0);
	CHECK(index_units(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "a", "S1", NULL),
			  SOME) == 1);
	data_free(&d);
}

TEST(indexes_follow_their_items)
{
	struct data d = data_new();
	const struct value *item = data_item(&d, "pk", "Sa", "sk", "N1", "l", "N5", "g", "Sx", "h",
					     "Sy", "v", "S1", NULL);
	struct write remove = {.kind = WRITE_DELETE, .key = KEY(&d)};
	uint64_t items, bytes;

	CHECK_INT(data_put(&d, item), OK);
	CHECK(data_is(&d, data_rows(&d, &d.table->indexes.v[LOCAL]).images[0],
		      data_item(&d, "pk", "Sa", "sk", "N1", "l", "N5", NULL)));
	CHECK(data_is(&d, data_rows(&d, &d.table->indexes.v[ALL]).images[0], item));
	CHECK(data_is(&d, data_rows(&d, &d.table->indexes.v[SOME]).images[0],
		      data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", NULL)));
	CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[LOCAL], &items, &bytes,
			       &d.err),
		  OK);
	CHECK_INT(bytes, 3 + 4 + 3);
	CHECK_INT(data_write(&d, &remove), OK);
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(data_rows(&d, &d.table->indexes.v[i]).n, 0);
		CHECK_INT(catalog_size(d.catalog, d.table, &d.table->indexes.v[i], &items, &bytes,
				       &d.err),
			  OK);
		CHECK_INT(items + bytes, 0);
	}
	data_free(&d);
}

TEST(what_does_not_change_is_not_written)
{
	struct data d = data_new();
	const struct value *item =
		data_item(&d, "pk", "Sa", "sk", "N1", "l", "N5", "g", "Sx", "h", "Sy", NULL);

	CHECK_INT(data_put(&d, item), OK);
	trace_store_reset(d.store);
	CHECK_INT(data_put(&d, item), OK);
	CHECK_INT(trace_store_count(d.store, TRACE_PUT) + trace_store_count(d.store, TRACE_DEL), 0);
	data_free(&d);
}

/* begin, get_many, put, put (index), commit: whichever fails, the write has happened or not. */
TEST(conflicts_are_run_again)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_UPDATE,
			      .key = KEY(&d),
			      .update = data_update(&d, "ADD v :v", ":v", "N1", NULL)};
	uint64_t items, bytes;

	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "v", "N0", NULL)), OK);
	trace_store_fail(
		d.store, 4,
		ERR_CONFLICT); /* begin, get_many of the version and the item, put, commit */
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(data_is(&d, data_get(&d, KEY(&d)),
		      data_item(&d, "pk", "Sa", "sk", "N1", "v", "N1", NULL)));
	CHECK_INT(catalog_size(d.catalog, d.table, NULL, &items, &bytes, &d.err), OK);
	CHECK_INT(items, 1);
	CHECK_INT(bytes, 7 + 3);
	data_free(&d);
}

TEST(a_batch_is_written_together)
{
	struct data d = data_new();
	struct write writes[3] = {{.table = d.table,
				   .kind = WRITE_PUT,
				   .item = data_item(&d, "pk", "Sa", "sk", "N1", NULL)},
				  {.table = d.table,
				   .kind = WRITE_PUT,
				   .item = data_item(&d, "pk", "Sa", "sk", "N2", NULL)},
				  {.table = d.table,
				   .kind = WRITE_DELETE,
				   .key = data_item(&d, "pk", "Sa", "sk", "N3", NULL)}};

	for (int i = 0; i < 3; i++)
		CHECK_INT(write_prepare(d.arena, &writes[i], &d.err), OK);
	trace_store_fail(d.store, 5, ERR_INTERNAL);
	CHECK_INT(write_run(d.catalog, d.arena, writes, 3, WRITE_BATCH, NULL, 1, &d.err),
		  ERR_INTERNAL);
	trace_store_fail(d.store, 0, OK);
	CHECK_INT(data_rows(&d, NULL).n, 0);
	trace_store_reset(d.store);
	CHECK_INT(write_run(d.catalog, d.arena, writes, 3, WRITE_BATCH, NULL, 1, &d.err), OK);
	CHECK_INT(trace_store_count(d.store, TRACE_BEGIN), 1);
	CHECK_INT(data_rows(&d, NULL).n, 2);
	CHECK(writes[0].cost.base.write == 1);
	data_free(&d);
}

TEST(a_collection_is_the_items_and_local_rows_of_a_partition)
{
	struct data d = data_new();
	struct write write = {
		.kind = WRITE_PUT,
		.item = data_item(&d, "pk", "Sa", "sk", "N1", "l", "N5", "g", "Sx", NULL)};

	write.wants_collection_size = true;
	write.collection_bytes = 99;
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sother", "sk", "N1", "l", "N5", NULL)), OK);
	trace_store_reset(d.store);
	CHECK_INT(data_write(&d, &write), OK);
	CHECK_INT(write.collection_bytes, 0); /* no table of less than a gigabyte is read for it */
	CHECK_INT(trace_store_count(d.store, TRACE_PAGE), 0);
	CHECK_INT(trace_store_count(d.store, TRACE_BEGIN), 1);
	tally_know(d.table->tally, 1, 2ll << 30);
	CHECK_INT(data_write(&d, &write), OK);
	CHECK_INT(write.collection_bytes, (7 + 3 + 2) + (7 + 3));
	data_free(&d);
}

/* Writes to an item; `copies`: as many puts as ALL needs where it has copies. */
static void check_index_writes(struct data *d, bool copies)
{
	static const struct {
		const char *update;
		unsigned copy_puts, all_puts, all_deletes, some_puts, some_deletes, local_puts;
	} cases[] = {
		{"SET z = :v", 1, 0, 0, 0, 0, 0}, /* only ALL has z */
		{"SET a = :v", 1, 0, 0, 1, 0, 0}, /* SOME includes a */
		{"SET h = :v", 1, 1, 1, 0, 0, 0}, /* the sort key of ALL */
		{"SET g = :v", 1, 1, 1, 1, 1, 0}, /* the partition key of both */
		{"SET l = :n", 1, 0, 0, 0, 0, 1}, /* the local index's sort key, new to it */
		{"REMOVE g", 0, 0, 1, 0, 1, 0},   /* out of both */
		{"SET pkx = :v REMOVE zz", 0, 0, 0, 0, 0, 0}, /* ALL has no row any more */
	};

	CHECK_INT(data_put(d, data_item(d, "pk", "Sa", "sk", "N1", "g", "Sg", "h", "Sh", "a", "S1",
					"z", "S1", NULL)),
		  OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct index *indexes = d->table->indexes.v;
		struct write write = {.kind = WRITE_UPDATE,
				      .key = data_item(d, "pk", "Sa", "sk", "N1", NULL)};

		write.update = data_update(d, cases[i].update, ":v", "Snew", ":n", "N7", NULL);
		trace_store_reset(d->store);
		CHECK_INT(data_write(d, &write), OK);
		CHECK_INT(trace_store_count_in(d->store, TRACE_PUT,
					       index_keyspace(d->table, &indexes[ALL])),
			  copies ? cases[i].copy_puts : cases[i].all_puts);
		CHECK_INT(trace_store_count_in(d->store, TRACE_DEL,
					       index_keyspace(d->table, &indexes[ALL])),
			  cases[i].all_deletes);
		CHECK_INT(trace_store_count_in(d->store, TRACE_PUT,
					       index_keyspace(d->table, &indexes[SOME])),
			  cases[i].some_puts);
		CHECK_INT(trace_store_count_in(d->store, TRACE_DEL,
					       index_keyspace(d->table, &indexes[SOME])),
			  cases[i].some_deletes);
		CHECK_INT(trace_store_count_in(d->store, TRACE_PUT,
					       index_keyspace(d->table, &indexes[LOCAL])),
			  cases[i].local_puts);
		CHECK_INT(trace_store_count_in(d->store, TRACE_DEL,
					       index_keyspace(d->table, &indexes[LOCAL])),
			  0);
	}
}

/* A write that touches no attribute of an index writes nothing to it; a change of its key is one
 * delete and one put. */
TEST(an_index_is_written_only_when_its_row_changes)
{
	struct data d = data_new(), copying = data_new_copying();

	CHECK(d.table->indexes.v[ALL].is_by_reference &&
	      !d.table->indexes.v[SOME].is_by_reference &&
	      !d.table->indexes.v[LOCAL].is_by_reference);
	check_index_writes(&d, false);
	check_index_writes(&copying, true);
	data_free(&d);
	data_free(&copying);
}

/* Item `sk` of partition `pk` with its row in the local index: about 1 kB and 20 bytes. */
static const struct value *kilobyte(struct data *d, const char *pk, const char *sk)
{
	return data_item(d, "pk", pk, "sk", sk, "l", "N1", "a", data_long(d, 'S', 1000), NULL);
}

TEST(a_collection_has_a_limit)
{
	struct catalog_options options = {.collection_max = 3300};
	struct data d = data_open(&options);
	struct write writes[2] = {{.kind = WRITE_PUT}, {.kind = WRITE_PUT}};
	struct write shrink = {.kind = WRITE_PUT};

	CHECK_INT(catalog_create(d.catalog, DATA_NS, data_table("data"), 1, &d.table, &d.err), OK);
	for (int i = 0; i < 3; i++)
		CHECK_INT(data_put(&d, kilobyte(&d, "Sa", str_printf(d.arena, "N%d", i).p)), OK);
	CHECK_INT(data_put(&d, kilobyte(&d, "Sa", "N3")), ERR_ITEM_COLLECTION_SIZE);
	CHECK_STR(d.err.message, "Collection size exceeded.");
	CHECK(!str_is_set(data_get(&d, data_item(&d, "pk", "Sa", "sk", "N3", NULL))));
	CHECK_INT(data_rows(&d, &d.table->indexes.v[LOCAL]).n, 3);
	/* other collections have limits of their own; what does not grow is let through */
	CHECK_INT(data_put(&d, kilobyte(&d, "Sb", "N3")), OK);
	shrink.item = data_item(&d, "pk", "Sa", "sk", "N2", NULL);
	CHECK_INT(data_write(&d, &shrink), OK);
	CHECK_INT(data_put(&d, kilobyte(&d, "Sa", "N3")), OK);
	/* the sizes are counted again after a restart */
	catalog_close(d.catalog);
	CHECK_INT(catalog_open(d.store, &options, &d.catalog, &d.err), OK);
	data_take_current(&d);
	CHECK_INT(data_put(&d, kilobyte(&d, "Sa", "N4")), ERR_ITEM_COLLECTION_SIZE);
	/* in a transaction it is the action's reason, and nothing of it is done */
	writes[0].item = kilobyte(&d, "Sc", "N1");
	writes[1].item = kilobyte(&d, "Sa", "N4");
	for (int i = 0; i < 2; i++) {
		writes[i].table = d.table;
		CHECK_INT(write_prepare(d.arena, &writes[i], &d.err), OK);
	}
	CHECK_INT(write_run(d.catalog, d.arena, writes, 2, WRITE_TRANSACTION, NULL, 1, &d.err),
		  ERR_TRANSACTION_CANCELED);
	CHECK_STR(d.err.message, "Transaction cancelled, please refer cancellation reasons for "
				 "specific reasons [None, ItemCollectionSizeLimitExceeded]");
	CHECK(!str_is_set(data_get(&d, data_item(&d, "pk", "Sc", "sk", "N1", NULL))));
	data_free(&d);
}

TEST(without_local_indexes_there_is_no_limit)
{
	struct catalog_options options = {.collection_max = 100};
	struct data d = data_open(&options);
	struct table *table = data_table("data");

	table->indexes.n = 2;
	table->indexes.v++;
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1, &d.table, &d.err), OK);
	CHECK_INT(data_put(&d, kilobyte(&d, "Sa", "N1")), OK);
	data_free(&d);
}

/* What others do while a transaction's commit fails. */
static void delete_it(void *context)
{
	struct data *d = context;
	struct write write = {.kind = WRITE_DELETE, .key = KEY(d)};

	CHECK_INT(data_write(d, &write), OK);
}

/* Nothing of the first run is left in the second: neither the old item, nor the new one. */
TEST(a_write_that_is_run_again_starts_from_nothing)
{
	struct data d = data_new();
	struct write write = {
		.kind = WRITE_UPDATE, .key = KEY(&d), .update = data_update(&d, "REMOVE v", NULL)};

	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "v", "N1", NULL)), OK);
	trace_store_fail(
		d.store, 4,
		ERR_CONFLICT); /* begin, get_many of the version and the item, put, commit */
	trace_store_after(d.store, TRACE_COMMIT, delete_it, &d);
	CHECK_INT(data_write(&d, &write), OK);
	CHECK(!str_is_set(write.old_image) && !str_is_set(write.new_image));
	CHECK(!value_is_set(&write.old_item) && !value_is_set(&write.new_item));
	CHECK_INT(data_rows(&d, NULL).n, 0);
	data_free(&d);
}

static void conflict_again(void *context)
{
	struct data *d = context;

	trace_store_fail(d->store, 5, ERR_CONFLICT); /* begin, get_many of the version and the item,
							put, put of the mark, commit */
	trace_store_after(d->store, TRACE_COMMIT, conflict_again, d);
}

TEST(conflicts_without_end_are_an_error)
{
	struct data d = data_new();

	conflict_again(&d);
	trace_store_reset(d.store);
	CHECK_INT(data_put(&d, KEY(&d)), ERR_STORE_UNAVAILABLE);
	CHECK_INT(trace_store_count(d.store, TRACE_COMMIT), RETRY_MAX);
	data_free(&d);
}

TEST(a_row_that_is_no_image_is_an_error)
{
	struct data d = data_new();
	struct write write = {.kind = WRITE_UPDATE, .key = KEY(&d)};
	struct store_txn *txn;

	CHECK_INT(data_write(&d, &write), OK);
	CHECK_INT(store_begin(d.store, STORE_WRITE, &txn, &d.err), OK);
	CHECK_INT(store_put(txn, table_items(d.table), write.row_key, STR("\xff\xff\xff"), &d.err),
		  OK);
	CHECK_INT(store_commit(txn, &d.err), OK);
	CHECK_INT(data_write(&d, &write), ERR_INTERNAL);
	CHECK(str_starts_with(d.err.message,
			      STR("the store is damaged: a row is malformed: items ")));
	data_free(&d);
}

TEST(an_old_item_is_decoded_where_it_is_needed)
{
	struct data d = data_open(NULL);
	struct table *table = data_table("data");
	struct write put = {.kind = WRITE_PUT, .item = KEY(&d)},
		     update = {.kind = WRITE_UPDATE, .key = KEY(&d)};

	table->indexes.n = 0;
	CHECK_INT(catalog_create(d.catalog, DATA_NS, table, 1, &d.table, &d.err), OK);
	CHECK_INT(data_write(&d, &put), OK);
	CHECK_INT(data_write(&d, &put), OK);
	CHECK(str_is_set(put.old_image) && !value_is_set(&put.old_item));
	CHECK_INT(data_write(&d, &update), OK);
	CHECK(value_equal(&update.old_item, KEY(&d)));
	data_free(&d);
}

/* The row of an index that is complete need not be looked for. */
TEST(a_write_reads_its_row_and_the_version_of_the_table_at_once)
{
	struct data d = data_new();

	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N5", "g", "Sx", "h",
					 "Sy", NULL)),
		  OK);
	trace_store_reset(d.store);
	CHECK_INT(data_put(&d, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N6", "g", "Sz", "h",
					 "Sy", NULL)),
		  OK);
	CHECK_INT(trace_store_count(d.store, TRACE_GET_MANY), 1);
	CHECK_INT(trace_store_count(d.store, TRACE_GET) + trace_store_count(d.store, TRACE_PAGE),
		  0);
	data_free(&d);
}

/* Whichever table of a batch was changed, its snapshot is the caller's to look up again. */
TEST(a_batch_goes_by_current_tables)
{
	for (int changed = 0; changed < 2; changed++) {
		struct data d = data_new();
		struct table *other, *tables[2];

		CHECK_INT(
			catalog_create(d.catalog, DATA_NS, data_table("other"), 1, &other, &d.err),
			OK);
		tables[0] = d.table;
		tables[1] = other;
		struct write writes[2] = {{.table = d.table, .kind = WRITE_PUT, .item = KEY(&d)},
					  {.table = other, .kind = WRITE_PUT, .item = KEY(&d)}};
		for (int i = 0; i < 2; i++)
			CHECK_INT(write_prepare(d.arena, &writes[i], &d.err), OK);
		CHECK_INT(catalog_replace(d.catalog, tables[changed],
					  data_with_index(tables[changed]), &d.err),
			  OK);
		CHECK_INT(write_run(d.catalog, d.arena, writes, 2, WRITE_BATCH, NULL, 1, &d.err),
			  ERR_TABLE_MOVED);
		CHECK_INT(data_rows(&d, NULL).n, 0);
		table_unref(other);
		data_free(&d);
	}
}

TEST(reasons_have_names)
{
	CHECK_STR(str_of(write_reason(OK)), "None");
	CHECK_STR(str_of(write_reason(ERR_CONDITIONAL_CHECK_FAILED)), "ConditionalCheckFailed");
	CHECK_STR(str_of(write_reason(ERR_DUPLICATE_ITEM)), "DuplicateItem");
	CHECK_STR(str_of(write_reason(ERR_ITEM_COLLECTION_SIZE)),
		  "ItemCollectionSizeLimitExceeded");
	CHECK_STR(str_of(write_reason(ERR_TRANSACTION_CONFLICT)), "TransactionConflict");
	CHECK_STR(str_of(write_reason(ERR_THROUGHPUT_EXCEEDED)), "ProvisionedThroughputExceeded");
	CHECK_STR(str_of(write_reason(ERR_VALIDATION)), "ValidationError");
}

TEST_MAIN(TEST_CASE(a_put_replaces_the_item), TEST_CASE(a_delete_needs_nothing_to_be_there),
	  TEST_CASE(an_update_of_nothing_starts_from_the_key),
	  TEST_CASE(a_failed_condition_changes_nothing_and_is_billed),
	  TEST_CASE(a_long_write_is_evaluated_before_its_turn),
	  TEST_CASE(an_item_has_400_KB_at_most), TEST_CASE(an_index_costs_when_its_row_changes),
	  TEST_CASE(indexes_follow_their_items), TEST_CASE(what_does_not_change_is_not_written),
	  TEST_CASE(conflicts_are_run_again), TEST_CASE(a_batch_is_written_together),
	  TEST_CASE(a_collection_is_the_items_and_local_rows_of_a_partition),
	  TEST_CASE(an_index_is_written_only_when_its_row_changes),
	  TEST_CASE(a_collection_has_a_limit), TEST_CASE(without_local_indexes_there_is_no_limit),
	  TEST_CASE(a_write_that_is_run_again_starts_from_nothing),
	  TEST_CASE(conflicts_without_end_are_an_error),
	  TEST_CASE(a_row_that_is_no_image_is_an_error),
	  TEST_CASE(an_old_item_is_decoded_where_it_is_needed),
	  TEST_CASE(a_write_reads_its_row_and_the_version_of_the_table_at_once),
	  TEST_CASE(a_batch_goes_by_current_tables), TEST_CASE(reasons_have_names))
