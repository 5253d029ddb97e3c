#include "core/key.h"
#include "tests/unit/storage/data_fixture.h"

#define NOT_OF_THE_SCHEMA "The provided key element does not match the schema"
#define EMPTY_PK                                                                                   \
	"One or more parameter values are not valid. The AttributeValue for a key attribute "      \
	"cannot contain an empty string value. Key: pk"
#define HASH_SIZE                                                                                  \
	"One or more parameter values were invalid: Size of hashkey has exceeded the maximum "     \
	"size limit of2048 bytes"
#define RANGE_SIZE                                                                                 \
	"One or more parameter values were invalid: Aggregated size of all range keys has "        \
	"exceeded the size limit of 1024 bytes"

static void check_key(struct data *data, const struct value *key, const char *message)
{
	struct str row_key;
	enum code code = item_key_of_key(data->arena, data->table, key, &row_key, &data->err);

	CHECK_INT(code, !message                                     ? OK
			: strstr(message, "cannot contain an empty") ? ERR_EMPTY_KEY
								     : ERR_VALIDATION);
	if (message)
		CHECK_STR(data->err.message, message);
}

static void check_item(struct data *data, const struct value *item, enum item_use use,
		       const char *message)
{
	struct str row_key;
	enum code code = item_key_of_item(data->arena, data->table, item,
					  (struct item_words){.use = use}, &row_key, &data->err);

	CHECK_INT(code, !message                                     ? OK
			: strstr(message, "cannot contain an empty") ? ERR_EMPTY_KEY
								     : ERR_VALIDATION);
	if (message)
		CHECK_STR(data->err.message, message);
}

TEST(a_key_has_exactly_the_attributes_of_the_schema)
{
	struct data d = data_new();

	check_key(&d, data_item(&d, "pk", "Sa", "sk", "N1", NULL), NULL);
	check_key(&d, data_item(&d, "pk", "Sa", NULL), NOT_OF_THE_SCHEMA);
	check_key(&d, data_item(&d, NULL), NOT_OF_THE_SCHEMA);
	check_key(&d, data_item(&d, "pk", "Sa", "x", "N1", NULL), NOT_OF_THE_SCHEMA);
	check_key(&d, data_item(&d, "pk", "Sa", "sk", "N1", "x", "N1", NULL), NOT_OF_THE_SCHEMA);
	check_key(&d, data_item(&d, "pk", "Sa", "sk", "S1", NULL), NOT_OF_THE_SCHEMA);
	check_key(&d, data_item(&d, "pk", "Z", "sk", "N1", NULL), NOT_OF_THE_SCHEMA);
	data_free(&d);
}

TEST(key_values_are_neither_empty_nor_too_large)
{
	struct data d = data_new();

	check_key(&d, data_item(&d, "pk", "S", "sk", "N1", NULL), EMPTY_PK);
	check_key(&d, data_item(&d, "pk", data_long(&d, 'S', 2048), "sk", "N1", NULL), NULL);
	check_key(&d, data_item(&d, "pk", data_long(&d, 'S', 2049), "sk", "N1", NULL), HASH_SIZE);
	check_item(&d, data_item(&d, "pk", "S", "sk", "N1", NULL), ITEM_PUT, EMPTY_PK);
	check_item(&d, data_item(&d, "pk", data_long(&d, 'S', 2049), "sk", "N1", NULL), ITEM_PUT,
		   HASH_SIZE);
	data_free(&d);
}

TEST(a_batch_does_not_tell_which_key_is_wrong)
{
	struct data d = data_new();

	check_item(&d, data_item(&d, "pk", "Sa", NULL), ITEM_BATCH_PUT, NOT_OF_THE_SCHEMA);
	check_item(&d, data_item(&d, "pk", "N1", "sk", "N1", NULL), ITEM_BATCH_PUT,
		   NOT_OF_THE_SCHEMA);
	check_item(&d, data_item(&d, "pk", "S", "sk", "N1", NULL), ITEM_BATCH_PUT, EMPTY_PK);
	check_item(&d, data_item(&d, "pk", "Sa", NULL), ITEM_PUT,
		   "One or more parameter values were invalid: Missing the key sk in the item");
	data_free(&d);
}

TEST(key_attributes_are_checked_one_after_the_other)
{
	struct data d = data_new();

	check_key(&d, data_item(&d, "pk", "S", "sk", "S1", NULL), EMPTY_PK);
	check_key(&d, data_item(&d, "pk", data_long(&d, 'S', 2049), "sk", "S", NULL), HASH_SIZE);
	check_key(&d, data_item(&d, "pk", "N1", "sk", "S", NULL), NOT_OF_THE_SCHEMA);
	check_item(&d, data_item(&d, "pk", "S", "sk", "S1", NULL), ITEM_PUT, EMPTY_PK);
	data_free(&d);
}

TEST(an_item_has_the_keys_of_its_table)
{
	struct data d = data_new();

	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "other", "Z", NULL), ITEM_PUT, NULL);
	check_item(&d, data_item(&d, "sk", "N1", NULL), ITEM_PUT,
		   "One or more parameter values were invalid: Missing the key pk in the item");
	check_item(&d, data_item(&d, "pk", "Sa", NULL), ITEM_PUT,
		   "One or more parameter values were invalid: Missing the key sk in the item");
	check_item(&d, data_item(&d, "pk", "N1", "sk", "N1", NULL), ITEM_PUT,
		   "One or more parameter values were invalid: Type mismatch for key pk expected: "
		   "S actual: N");
	check_item(&d, data_item(&d, "pk", "Sa", "sk", "Z", NULL), ITEM_PUT,
		   "One or more parameter values were invalid: Type mismatch for key sk expected: "
		   "N actual: NULL");
	data_free(&d);
}

TEST(index_keys_that_are_there_must_be_fit)
{
	struct data d = data_new();

	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "h", "Sx", NULL), ITEM_PUT, NULL);
	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "N1", NULL), ITEM_PUT,
		   "One or more parameter values were invalid: Type mismatch for Index Key g "
		   "Expected: S Actual: N IndexName: all");
	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "h", "S", NULL), ITEM_PUT,
		   "One or more parameter values are not valid. A value specified for a secondary "
		   "index key is not supported. "
		   "The AttributeValue for a key attribute cannot contain an empty string value. "
		   "IndexName: all, IndexKey: h");
	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", "S", NULL), ITEM_UPDATE,
		   "One or more parameter values are not valid. The update expression attempted to "
		   "update a secondary index key to a value "
		   "that is not supported. The AttributeValue for a key attribute cannot contain "
		   "an empty string value.");
	/* also where the item lacks the other attribute and would not be in the index */
	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "g", data_long(&d, 'S', 2049), NULL),
		   ITEM_PUT, HASH_SIZE);
	check_item(&d, data_item(&d, "pk", "Sa", "sk", "N1", "h", data_long(&d, 'S', 1025), NULL),
		   ITEM_PUT, RANGE_SIZE);
	check_item(&d,
		   data_item(&d, "pk", "Sa", "sk", "N1", "g", data_long(&d, 'S', 2048), "h",
			     data_long(&d, 'S', 1024), NULL),
		   ITEM_PUT, NULL);
	data_free(&d);
}

TEST(a_row_key_is_the_hash_and_the_elements)
{
	struct data d = data_new();
	struct buf expected = buf_in(d.arena);
	struct value pk = data_value(&d, "Sa"), sk = data_value(&d, "N-3");
	const struct value *partition = &pk;
	struct str row_key, of_item;

	CHECK(item_key_of_key(d.arena, d.table, data_item(&d, "pk", "Sa", "sk", "N-3", NULL),
			      &row_key, &d.err) == OK);
	CHECK(item_key_of_item(d.arena, d.table,
			       data_item(&d, "a", "Z", "pk", "Sa", "sk", "N-3", NULL),
			       (struct item_words){ITEM_PUT, false}, &of_item, &d.err) == OK);
	key_add_partition(&expected, d.table->hash, &partition, 1);
	key_add(&expected, &sk);
	CHECK(str_eq(row_key, buf_str(&expected)));
	CHECK(str_eq(row_key, of_item));
	data_free(&d);
}

TEST(rows_of_a_partition_are_in_the_order_of_the_sort_key)
{
	static const char *const numbers[] = {"N-9.99E+125", "N-10",      "N-2",  "N-1E-130",
					      "N0",          "N1E-130",   "N0.5", "N2",
					      "N10",         "N9.99E+125"};
	struct data d = data_new();
	struct str before = STR_ABSENT;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct str row_key;

		CHECK(item_key_of_key(d.arena, d.table,
				      data_item(&d, "pk", "Sa", "sk", numbers[i], NULL), &row_key,
				      &d.err) == OK);
		CHECK(i == 0 || str_cmp(before, row_key) < 0);
		before = row_key;
	}
	data_free(&d);
}

TEST(an_index_holds_the_items_that_have_its_keys)
{
	struct data d = data_new();
	const struct index *all = &d.table->indexes.v[ALL];
	struct str base, row;

	CHECK(!str_is_set(item_key_in_index(
		d.arena, d.table, all, data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", NULL))));
	CHECK(!str_is_set(item_key_in_index(
		d.arena, d.table, all,
		data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "N1", NULL))));
	CHECK(!str_is_set(item_key_in_index(
		d.arena, d.table, all,
		data_item(&d, "pk", "Sa", "sk", "N1", "g", "S", "h", "Sy", NULL))));
	CHECK(!str_is_set(item_key_in_index(d.arena, d.table, all,
					    data_item(&d, "pk", "Sa", "sk", "N1", "g",
						      data_long(&d, 'S', 2049), "h", "Sy", NULL))));
	row = item_key_in_index(d.arena, d.table, all,
				data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL));
	CHECK(str_is_set(row));
	/* equal index keys: the table's key tells items apart */
	CHECK(!str_eq(row, item_key_in_index(d.arena, d.table, all,
					     data_item(&d, "pk", "Sa", "sk", "N2", "g", "Sx", "h",
						       "Sy", NULL))));
	/* an item collection has one hash in the table and its local indexes */
	const struct value *item = data_item(&d, "pk", "Sa", "sk", "N1", "l", "N7", NULL);
	CHECK(item_key_of_key(d.arena, d.table, data_item(&d, "pk", "Sa", "sk", "N1", NULL), &base,
			      &d.err) == OK);
	row = item_key_in_index(d.arena, d.table, &d.table->indexes.v[LOCAL], item);
	CHECK(str_eq((struct str){row.p, KEY_HASH_SIZE}, (struct str){base.p, KEY_HASH_SIZE}));
	data_free(&d);
}

TEST(an_index_row_has_what_is_projected)
{
	struct data d = data_new();
	const struct value *item = data_item(&d, "pk", "Sa", "sk", "N1", "l", "N7", "g", "Sx", "h",
					     "Sy", "a", "S1", "z", "S2", NULL);
	struct str image = data_image(&d, item);

	CHECK(item_index_image(d.arena, &d.table->indexes.v[ALL], item, image).p == image.p);
	CHECK(data_is(&d, item_index_image(d.arena, &d.table->indexes.v[LOCAL], item, image),
		      data_item(&d, "pk", "Sa", "sk", "N1", "l", "N7", NULL)));
	CHECK(data_is(&d, item_index_image(d.arena, &d.table->indexes.v[SOME], item, image),
		      data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "a", "S1", NULL)));
	item = data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", NULL);
	CHECK(data_is(
		&d,
		item_index_image(d.arena, &d.table->indexes.v[SOME], item, data_image(&d, item)),
		item));
	data_free(&d);
}

TEST(the_key_attributes_of_a_row_name_each_once)
{
	struct data d = data_new();
	struct str image = data_image(&d, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N7", "g",
						    "Sx", "h", "Sy", "a", "S1", NULL));
	struct value keys = item_key_attributes(d.arena, d.table, NULL, image);

	CHECK(value_equal(&keys, data_item(&d, "pk", "Sa", "sk", "N1", NULL)));
	keys = item_key_attributes(d.arena, d.table, &d.table->indexes.v[LOCAL], image);
	CHECK(value_equal(&keys, data_item(&d, "pk", "Sa", "sk", "N1", "l", "N7", NULL)));
	keys = item_key_attributes(d.arena, d.table, &d.table->indexes.v[ALL], image);
	CHECK(value_equal(&keys,
			  data_item(&d, "pk", "Sa", "sk", "N1", "g", "Sx", "h", "Sy", NULL)));
	data_free(&d);
}

TEST(a_row_key_can_be_read_back)
{
	struct data d = data_new();
	/* a byte 0 within a key is written as two */
	const struct value *item = data_item(&d, "pk", "Sa", "sk", "N-1.5e20", "l", "N7", "g", "Sx",
					     "h", "Sy", "a", "S1", NULL);
	struct member *members = (struct member *)(uintptr_t)item->members;
	struct str image;

	for (uint32_t i = 0; i < item->n; i++) {
		if (str_eq(members[i].name, STR("pk")))
			members[i].value = value_of_str(TYPE_S, STR("a\0\1b"));
	}
	image = data_image(&d, item);
	for (size_t i = 0; i <= d.table->indexes.n; i++) {
		const struct index *index = i ? &d.table->indexes.v[i - 1] : NULL;
		struct value keys = item_key_attributes(d.arena, d.table, index, image);
		struct value back = item_key_attributes_of_row(
			d.arena, d.table, index, item_key_of_row(d.arena, d.table, index, item));

		CHECK(value_equal(&keys, &back));
	}
	data_free(&d);
}

/* Of both ways to hash keys, and of strings with bytes that delimit elements. */
TEST(an_index_row_tells_its_item)
{
	static const struct {
		const char *pk, *g;
		size_t pk_n, g_n;
	} texts[] = {{"a", "x", 1, 1},
		     {"a\0\1b", "\0\1", 4, 2},
		     {"\0", "\0\xFF", 1, 2},
		     {"\1", "\0\0\1", 1, 3},
		     {"b\0\xFF\0", "\xFF\1", 4, 2}};
	struct data d = data_new();
	struct str keys[sizeof(texts) / sizeof(texts[0])];

	for (int hash = KEY_HASH_FNV; hash <= KEY_HASH_MD5; hash++) {
		for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
			const struct value *item = data_item(&d, "pk", "Sa", "sk", "N-1.5e20", "l",
							     "N7", "g", "Sx", "h", "Sy", NULL);
			struct member *members = (struct member *)(uintptr_t)item->members;

			d.table->hash = (enum key_hash)hash;
			for (uint32_t i = 0; i < item->n; i++) {
				if (str_eq(members[i].name, STR("pk")))
					members[i].value = value_of_str(
						TYPE_S, (struct str){texts[t].pk, texts[t].pk_n});
				if (str_eq(members[i].name, STR("g")))
					members[i].value = value_of_str(
						TYPE_S, (struct str){texts[t].g, texts[t].g_n});
			}
			keys[t] = item_key_of_row(d.arena, d.table, NULL, item);
			for (size_t i = 0; i < d.table->indexes.n; i++) {
				const struct index *index = &d.table->indexes.v[i];
				struct str row_key = item_key_of_row(d.arena, d.table, index, item);

				CHECK(str_eq(item_key_behind(d.arena, d.table, index, row_key),
					     keys[t]));
				for (size_t k = 0; k <= t; k++)
					CHECK_INT(item_key_is_behind(d.table, index, row_key,
								     keys[k]),
						  k == t);
				CHECK(!item_key_is_behind(d.table, index, row_key, STR("")));
				for (size_t n = 0; n < row_key.n;
				     n++) /* a damaged one is of no item that is there */
					CHECK(!item_key_is_behind(d.table, index,
								  (struct str){row_key.p, n},
								  keys[t]));
			}
		}
	}
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_key_has_exactly_the_attributes_of_the_schema),
	  TEST_CASE(a_batch_does_not_tell_which_key_is_wrong),
	  TEST_CASE(key_values_are_neither_empty_nor_too_large),
	  TEST_CASE(key_attributes_are_checked_one_after_the_other),
	  TEST_CASE(an_item_has_the_keys_of_its_table),
	  TEST_CASE(index_keys_that_are_there_must_be_fit),
	  TEST_CASE(a_row_key_is_the_hash_and_the_elements),
	  TEST_CASE(rows_of_a_partition_are_in_the_order_of_the_sort_key),
	  TEST_CASE(an_index_holds_the_items_that_have_its_keys),
	  TEST_CASE(an_index_row_has_what_is_projected),
	  TEST_CASE(the_key_attributes_of_a_row_name_each_once),
	  TEST_CASE(a_row_key_can_be_read_back), TEST_CASE(an_index_row_tells_its_item))
