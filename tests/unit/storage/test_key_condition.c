#include "core/key.h"
#include "storage/key_condition.h"
#include "tests/unit/storage/data_fixture.h"

#define SORTS 8 /* sk from 0 */

/* The condition's values: :p Sa, :n N3, :m N5, :s Sx, :e S (empty). */
static const struct node *parse(struct data *d, const char *text)
{
	return data_condition(d, EXPR_KEY_CONDITION, text, ":p", "Sa", ":n", "N3", ":m", "N5", ":s",
			      "Sx", ":e", "S", NULL);
}

/* Which of the sort keys 0..7 of partition a the condition leaves, one digit each. */
static const char *found(struct data *d, const char *text)
{
	static const char *const sorts[SORTS] = {"N0", "N1", "N2", "N3", "N4", "N5", "N6", "N7"};
	char *digits = arena_calloc(d->arena, SORTS + 1, 1);
	struct key_condition keys;
	size_t n = 0;

	CHECK_INT(key_condition_resolve(d->arena, d->table, NULL, parse(d, text), &keys, &d->err),
		  OK);
	for (size_t i = 0; i < SORTS; i++) {
		struct str row;

		CHECK(item_key_of_key(d->arena, d->table,
				      data_item(d, "pk", "Sa", "sk", sorts[i], NULL), &row,
				      &d->err) == OK);
		CHECK(str_starts_with(row, keys.partition));
		if (str_cmp(row, keys.range.low) >= 0 && str_cmp(row, keys.range.high) < 0)
			digits[n++] = sorts[i][1];
		/* never another partition */
		CHECK(item_key_of_key(d->arena, d->table,
				      data_item(d, "pk", "Saa", "sk", sorts[i], NULL), &row,
				      &d->err) == OK);
		CHECK(str_cmp(row, keys.range.low) < 0 || str_cmp(row, keys.range.high) >= 0);
	}
	return digits;
}

static void refused(struct data *d, const struct index *index, const char *text,
		    const char *message)
{
	struct key_condition keys;

	CHECK_INT(key_condition_resolve(d->arena, d->table, index, parse(d, text), &keys, &d->err),
		  strstr(message, "cannot contain an empty") ? ERR_EMPTY_KEY : ERR_VALIDATION);
	CHECK_STR(d->err.message, message);
}

TEST(a_condition_is_one_range)
{
	struct data d = data_new();

	CHECK_STR(str_of(found(&d, "pk = :p")), "01234567");
	CHECK_STR(str_of(found(&d, "pk = :p AND sk = :n")), "3");
	CHECK_STR(str_of(found(&d, "sk = :n AND pk = :p")), "3");
	CHECK_STR(str_of(found(&d, "pk = :p AND sk < :n")), "012");
	CHECK_STR(str_of(found(&d, "pk = :p AND sk <= :n")), "0123");
	CHECK_STR(str_of(found(&d, "pk = :p AND sk > :n")), "4567");
	CHECK_STR(str_of(found(&d, "pk = :p AND sk >= :n")), "34567");
	CHECK_STR(str_of(found(&d, "pk = :p AND sk BETWEEN :n AND :m")), "345");
	/* the value first */
	CHECK_STR(str_of(found(&d, ":p = pk AND :n < sk")), "4567");
	CHECK_STR(str_of(found(&d, ":p = pk AND :n >= sk")), "0123");
	data_free(&d);
}

TEST(prefixes_of_strings_end_where_they_should)
{
	static const char *const sorts[] = {"Sa", "Sab", "Sabc", "Sac", "Sb"};
	struct data d = data_new();
	struct key_condition keys;
	char got[8] = "";

	d.table->keys.attributes[1].type = TYPE_S;
	const struct node *node =
		data_condition(&d, EXPR_KEY_CONDITION, "pk = :p AND begins_with(sk, :s)", ":p",
			       "Sa", ":s", "Sab", NULL);
	CHECK(key_condition_resolve(d.arena, d.table, NULL, node, &keys, &d.err) == OK);
	for (size_t i = 0; i < 5; i++) {
		struct str row;

		CHECK(item_key_of_key(d.arena, d.table,
				      data_item(&d, "pk", "Sa", "sk", sorts[i], NULL), &row,
				      &d.err) == OK);
		got[i] = str_cmp(row, keys.range.low) >= 0 && str_cmp(row, keys.range.high) < 0
				 ? 'y'
				 : 'n';
	}
	CHECK_STR(str_of(got), "nyynn");
	data_free(&d);
}

TEST(other_conditions_are_refused)
{
	struct data d = data_new();

	refused(&d, NULL, "sk = :n", "Query condition missed key schema element: pk");
	refused(&d, NULL, "pk = :p AND a = :s", "Query condition missed key schema element: sk");
	refused(&d, NULL, "pk > :p", "Query key condition not supported");
	refused(&d, NULL, "begins_with(pk, :p)", "Query key condition not supported");
	refused(&d, NULL, "pk = :p AND sk <> :n",
		"Invalid operator used in KeyConditionExpression: <>");
	refused(&d, NULL, "pk = :p OR sk = :n",
		"Invalid operator used in KeyConditionExpression: OR");
	refused(&d, NULL, "attribute_exists(pk)",
		"Invalid operator used in KeyConditionExpression: attribute_exists");
	refused(&d, NULL, "pk = :p AND pk = :s",
		"Invalid KeyConditionExpression: KeyConditionExpressions must only contain one "
		"condition per key");
	refused(&d, NULL, "pk = :p AND sk > :n AND sk < :m",
		"Invalid KeyConditionExpression: KeyConditionExpressions must only contain one "
		"condition per key");
	refused(&d, NULL, "pk = :p AND sk = :n AND a = :s",
		"The number of query conditions (3) exceeds the number of key attributes defined "
		"in the schema (2)");
	refused(&d, NULL, "pk = :n",
		"One or more parameter values were invalid: Condition parameter type does not "
		"match schema type");
	data_free(&d);
}

TEST(values_must_be_fit_for_keys)
{
	struct data d = data_new();
	const struct index *all = &d.table->indexes.v[ALL];
	struct key_condition keys;

	refused(&d, NULL, "pk = :e",
		"One or more parameter values are not valid. The AttributeValue for a key "
		"attribute cannot contain an empty string value. Key: pk");
	refused(&d, all, "g = :e",
		"One or more parameter values are not valid. A value specified for a secondary "
		"index key is not supported. The AttributeValue "
		"for a key attribute cannot contain an empty string value. IndexName: all, "
		"IndexKey: g");
	refused(&d, NULL, "pk.a = :p",
		"Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on "
		"nested attributes");
	refused(&d, NULL, "pk = m.a",
		"Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on "
		"nested attributes");
	const struct node *node = data_condition(&d, EXPR_KEY_CONDITION, "pk = :p", ":p",
						 data_long(&d, 'S', 2049), NULL);
	CHECK_INT(key_condition_resolve(d.arena, d.table, NULL, node, &keys, &d.err),
		  ERR_VALIDATION);
	data_free(&d);
}

TEST(keys_of_several_attributes_are_taken_left_to_right)
{
	struct data d = data_new();
	struct key_attribute a = {STR("a"), TYPE_S}, b = {STR("b"), TYPE_S}, c = {STR("c"), TYPE_N},
			     e = {STR("e"), TYPE_N};
	struct index index = {.name = STR("many"), .keys = {2, 2, {a, b, c, e}}};
	struct key_condition keys;

	CHECK_INT(key_condition_resolve(d.arena, d.table, &index,
					parse(&d, "a = :p AND b = :s AND c = :n AND e > :m"), &keys,
					&d.err),
		  OK);
	CHECK_INT(key_condition_resolve(d.arena, d.table, &index,
					parse(&d, "a = :p AND b = :s AND c > :n"), &keys, &d.err),
		  OK);
	/* AWS: recorded by the conformance suite, "Query - GSI with a multi-attribute key"; the
	 * rest by DynamoDB Local */
	refused(&d, &index, "a = :p",
		"HASH key attributes b must have equality conditions specified in the query");
	refused(&d, &index, "b > :s AND c = :n",
		"HASH key attributes a, b must have equality conditions specified in the query");
	refused(&d, &index, "a = :p AND b = :s AND c > :n AND e = :m",
		"RANGE key attributes c must have equality conditions specified in the query "
		"because a condition is present on key attribute e");
	refused(&d, &index, "a = :p AND b = :s AND e = :m",
		"RANGE key attributes c must have equality conditions specified in the query "
		"because a condition is present on key attribute e");
	refused(&d, &index, "a = :p AND b = :s AND z = :m",
		"Query condition missed key schema element: c");
	refused(&d, &index, "a = :p AND b = :s AND c = :n AND e = :m AND z = :m",
		"The number of query conditions (5) exceeds the number of key attributes defined "
		"in the schema (4)");
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_condition_is_one_range), TEST_CASE(prefixes_of_strings_end_where_they_should),
	  TEST_CASE(other_conditions_are_refused), TEST_CASE(values_must_be_fit_for_keys),
	  TEST_CASE(keys_of_several_attributes_are_taken_left_to_right))
