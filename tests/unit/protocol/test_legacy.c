/* Legacy parameters: what they lower to, and how wrong ones are refused. Messages as DynamoDB
 * Local 3.3.1 gives them. */
#include "core/number.h"
#include "protocol/legacy.h"
#include "tests/unit/test.h"

static struct arena *arena;
static struct err err;

#define OOM "One or more parameter values were invalid: "

static struct value S(const char *text) {
	return value_of_str(TYPE_S, str_of(text));
}

static struct value
N(int64_t n) {
	char *bytes = arena_bytes(arena, NUMBER_MAX);

	return value_of_str(TYPE_N, (struct str){bytes, number_from_int(n, bytes)});
}

static struct value
set_of(const char *text)
{
	struct value *element = ARENA_NEW(arena, struct value);

	*element = S(text);
	return (struct value){.type = TYPE_SS, .n = 1, .elements = element};
}

/* {"a": "abc", "n": 5, "s": {"x"}} */
static struct value example(void)
{
	struct member *members = ARENA_ARRAY(arena, struct member, 3);

	members[0] = (struct member){STR("a"), S("abc")};
	members[1] = (struct member){STR("n"), N(5)};
	members[2] = (struct member){STR("s"), set_of("x")};
	return (struct value){.type = TYPE_M, .n = 3, .members = members};
}

static bool holds(const struct node *node)
{
	struct value item = example();
	struct subject subject = {.arena = arena, .item = &item};

	return expr_eval(node, &subject);
}

static struct attribute_value_list list_of(size_t n, struct value a, struct value b)
{
	struct value *v = ARENA_ARRAY(arena, struct value, n + 1);

	if (n > 0)
		v[0] = a;
	if (n > 1)
		v[1] = b;
	return (struct attribute_value_list){n, v};
}

static enum code filter(const char *name, int op, struct attribute_value_list list,
			const struct node **out)
{
	struct filter_condition_map_entry *entry =
		ARENA_NEW(arena, struct filter_condition_map_entry);

	entry->key = str_of(name);
	entry->value = (struct condition){.attribute_value_list = list, .comparison_operator = op};
	err = err_in(arena);
	return legacy_filter(arena, &(struct filter_condition_map){1, entry}, 0, out, &err);
}

static bool filter_holds(const char *name, int op, struct attribute_value_list list)
{
	const struct node *node = NULL;

	CHECK_INT(filter(name, op, list, &node), OK);
	return node && holds(node);
}

TEST(every_operator_means_what_it_says)
{
	struct attribute_value_list none = list_of(0, VALUE_NONE, VALUE_NONE);

	CHECK(filter_holds("a", COMPARISON_OPERATOR_EQ, list_of(1, S("abc"), VALUE_NONE)));
	CHECK(!filter_holds("a", COMPARISON_OPERATOR_EQ, list_of(1, S("abd"), VALUE_NONE)));
	CHECK(filter_holds("a", COMPARISON_OPERATOR_NE, list_of(1, N(1), VALUE_NONE)));
	CHECK(filter_holds("absent", COMPARISON_OPERATOR_NE, list_of(1, N(1), VALUE_NONE)));
	CHECK(filter_holds("n", COMPARISON_OPERATOR_IN, list_of(2, N(4), N(5))));
	CHECK(!filter_holds("n", COMPARISON_OPERATOR_IN, list_of(2, N(4), N(6))));
	CHECK(filter_holds("n", COMPARISON_OPERATOR_LE, list_of(1, N(5), VALUE_NONE)));
	CHECK(!filter_holds("n", COMPARISON_OPERATOR_LT, list_of(1, N(5), VALUE_NONE)));
	CHECK(filter_holds("n", COMPARISON_OPERATOR_GE, list_of(1, N(5), VALUE_NONE)));
	CHECK(!filter_holds("n", COMPARISON_OPERATOR_GT, list_of(1, N(5), VALUE_NONE)));
	CHECK(filter_holds("n", COMPARISON_OPERATOR_BETWEEN, list_of(2, N(5), N(5))));
	CHECK(filter_holds("a", COMPARISON_OPERATOR_NOT_NULL, none));
	CHECK(!filter_holds("absent", COMPARISON_OPERATOR_NOT_NULL, none));
	CHECK(filter_holds("absent", COMPARISON_OPERATOR_NULL, none));
	CHECK(filter_holds("a", COMPARISON_OPERATOR_CONTAINS, list_of(1, S("bc"), VALUE_NONE)));
	CHECK(filter_holds("s", COMPARISON_OPERATOR_CONTAINS, list_of(1, S("x"), VALUE_NONE)));
	CHECK(filter_holds("a", COMPARISON_OPERATOR_NOT_CONTAINS, list_of(1, S("q"), VALUE_NONE)));
	CHECK(!filter_holds("absent", COMPARISON_OPERATOR_NOT_CONTAINS,
			    list_of(1, S("q"), VALUE_NONE)));
	CHECK(filter_holds("a", COMPARISON_OPERATOR_BEGINS_WITH, list_of(1, S("ab"), VALUE_NONE)));
}

/* Looked for by halving, not one by one: each row of a page asks. */
TEST(in_of_many_values_is_a_set)
{
	enum { VALUES = 101 };
	struct value *numbers = ARENA_ARRAY(arena, struct value, VALUES),
		     *texts = ARENA_ARRAY(arena, struct value, VALUES);
	struct attribute_value_list list = {VALUES, numbers};
	const struct node *node = NULL;

	for (int i = 0; i < VALUES; i++) {
		numbers[i] = N(VALUES - i); /* from the largest to 1 */
		texts[i] = S(i % 2 ? "abc" : str_printf(arena, "%d", i).p);
	}
	CHECK_INT(filter("n", COMPARISON_OPERATOR_IN, list, &node), OK);
	CHECK_INT(node->kind, NODE_CONTAINS);
	CHECK(holds(node));
	CHECK(!filter_holds("a", COMPARISON_OPERATOR_IN, list));
	CHECK(!filter_holds("s", COMPARISON_OPERATOR_IN, list));
	CHECK(!filter_holds("absent", COMPARISON_OPERATOR_IN, list));
	list.v = texts;
	CHECK(filter_holds("a", COMPARISON_OPERATOR_IN, list));
	CHECK(!filter_holds("s", COMPARISON_OPERATOR_IN, list));
	CHECK_STR(value_str(&list.v[0]), "0"); /* the request's own list keeps its order */
	list.v[100] = N(1);
	CHECK_INT(filter("a", COMPARISON_OPERATOR_IN, list, &node), ERR_REQUEST);
}

TEST(wrong_arguments_are_refused)
{
	const struct node *node;

	CHECK_INT(filter("a", COMPARISON_OPERATOR_EQ, list_of(0, VALUE_NONE, VALUE_NONE), &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "Invalid number of argument(s) for the EQ ComparisonOperator");
	CHECK_INT(filter("a", COMPARISON_OPERATOR_NULL, list_of(1, S("a"), VALUE_NONE), &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "Invalid number of argument(s) for the NULL ComparisonOperator");
	CHECK_INT(filter("a", COMPARISON_OPERATOR_LT, list_of(1, set_of("a"), VALUE_NONE), &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "ComparisonOperator LT is not valid for SS AttributeValue type");
	CHECK_INT(filter("a", COMPARISON_OPERATOR_BEGINS_WITH, list_of(1, N(1), VALUE_NONE), &node),
		  ERR_REQUEST);
	CHECK_STR(err.message,
		  OOM "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type");
	CHECK_INT(filter("a", COMPARISON_OPERATOR_BETWEEN, list_of(2, S("a"), N(1)), &node),
		  ERR_REQUEST);
	CHECK_STR(err.message,
		  OOM "AttributeValues inside AttributeValueList must be of same type");
	CHECK_INT(filter("a", COMPARISON_OPERATOR_BETWEEN, list_of(2, S("b"), S("a")), &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, "The BETWEEN condition was provided a range where the lower bound "
			       "is greater than the upper bound");
	CHECK_INT(filter("", COMPARISON_OPERATOR_EQ, list_of(1, S("a"), VALUE_NONE), &node),
		  OK); /* AWS: a filter may name nothing */
}

static enum code expected(struct expected_attribute_value value, int conditional_operator,
			  const struct node **out)
{
	struct expected_attribute_map_entry *entry =
		ARENA_NEW(arena, struct expected_attribute_map_entry);

	*entry = (struct expected_attribute_map_entry){STR("a"), value};
	err = err_in(arena);
	return legacy_expected(arena, &(struct expected_attribute_map){1, entry},
			       conditional_operator, out, &err);
}

TEST(expected_value_and_exists)
{
	const struct node *node = NULL;

	CHECK_INT(expected((struct expected_attribute_value){.value = S("abc")}, 0, &node), OK);
	CHECK(holds(node));
	CHECK_INT(expected((struct expected_attribute_value){.exists = {true, false}}, 0, &node),
		  OK);
	CHECK(!holds(node));
	CHECK_INT(
		expected((struct expected_attribute_value){.value = S("ab"),
							   .comparison_operator =
								   COMPARISON_OPERATOR_BEGINS_WITH},
			 0, &node),
		OK);
	CHECK(holds(node));
	CHECK_INT(expected((struct expected_attribute_value){0}, 0, &node), ERR_REQUEST);
	CHECK_STR(err.message, OOM "Value must be provided when Exists is null for Attribute: a");
	CHECK_INT(expected((struct expected_attribute_value){.exists = {true, true}}, 0, &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "Value must be provided when Exists is true for Attribute: a");
	CHECK_INT(expected((struct expected_attribute_value){.exists = {true, false},
							     .value = S("a")},
			   0, &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "Value cannot be used when Exists is false for Attribute: a");
	CHECK_INT(expected((struct expected_attribute_value){.attribute_value_list = list_of(
								     0, VALUE_NONE, VALUE_NONE)},
			   0, &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM
		  "AttributeValueList can only be used with a ComparisonOperator for Attribute: a");
	CHECK_INT(expected((struct expected_attribute_value){.comparison_operator =
								     COMPARISON_OPERATOR_EQ},
			   0, &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "Value or AttributeValueList must be used with "
				   "ComparisonOperator: EQ for Attribute: a");
	CHECK_INT(expected((struct expected_attribute_value){.value = S("a"),
							     .exists = {true, true},
							     .comparison_operator =
								     COMPARISON_OPERATOR_EQ},
			   0, &node),
		  ERR_REQUEST);
	CHECK_STR(err.message,
		  OOM "Exists and ComparisonOperator cannot be used together for Attribute: a");
	CHECK_INT(expected((struct expected_attribute_value){.value = S("a")},
			   CONDITIONAL_OPERATOR_OR, &node),
		  ERR_REQUEST);
	CHECK_STR(err.message, "ConditionalOperator can only be used when Filter or Expected has "
			       "two or more elements");
	err = err_in(arena);
	CHECK_INT(legacy_expected(arena, &(struct expected_attribute_map){0},
				  CONDITIONAL_OPERATOR_OR, &node, &err),
		  ERR_REQUEST);
	CHECK_STR(err.message, "ConditionalOperator cannot be used without Filter or Expected");
}

TEST(operators_join_conditions)
{
	struct expected_attribute_map_entry entries[2] = {
		{STR("a"), {.value = S("abc")}},
		{STR("n"), {.value = N(6)}},
	};
	struct expected_attribute_map map = {2, entries};
	const struct node *node = NULL;

	err = err_in(arena);
	CHECK_INT(legacy_expected(arena, &map, 0, &node, &err), OK);
	CHECK(!holds(node));
	CHECK_INT(legacy_expected(arena, &map, CONDITIONAL_OPERATOR_OR, &node, &err), OK);
	CHECK(holds(node));
}

TEST(many_conditions_make_a_shallow_tree)
{
	size_t n = 100000;
	struct filter_condition_map_entry *entries =
		ARENA_ARRAY(arena, struct filter_condition_map_entry, n);
	const struct node *node = NULL;

	for (size_t i = 0; i < n; i++) {
		entries[i].key = STR("a");
		entries[i].value.comparison_operator = COMPARISON_OPERATOR_NOT_NULL;
	}
	err = err_in(arena);
	CHECK_INT(legacy_filter(arena, &(struct filter_condition_map){n, entries}, 0, &node, &err),
		  OK);
	CHECK(holds(node));
	size_t depth = 0;

	for (; node->kind == NODE_AND; node = node->args[1])
		depth++;
	CHECK(depth <= 17);
}

static enum code update(struct attribute_value_update value, struct update **out)
{
	struct attribute_updates_entry *entry = ARENA_NEW(arena, struct attribute_updates_entry);

	*entry = (struct attribute_updates_entry){STR("a"), value};
	err = err_in(arena);
	return legacy_updates(arena, &(struct attribute_updates){1, entry}, out, &err);
}

TEST(updates)
{
	struct update *lowered = NULL;

	CHECK_INT(update((struct attribute_value_update){.value = S("x")}, &lowered), OK);
	CHECK_INT(lowered->n, 1);
	CHECK_INT(lowered->actions[0].verb, UPDATE_SET);
	CHECK_INT(update((struct attribute_value_update){.value = N(1),
							 .action = ATTRIBUTE_ACTION_ADD},
			 &lowered),
		  OK);
	CHECK_INT(lowered->actions[0].verb, UPDATE_ADD);
	CHECK_INT(update((struct attribute_value_update){.action = ATTRIBUTE_ACTION_DELETE},
			 &lowered),
		  OK);
	CHECK_INT(lowered->actions[0].verb, UPDATE_REMOVE);
	CHECK_INT(update((struct attribute_value_update){.value = set_of("x"),
							 .action = ATTRIBUTE_ACTION_DELETE},
			 &lowered),
		  OK);
	CHECK_INT(lowered->actions[0].verb, UPDATE_DELETE);
	CHECK_INT(update((struct attribute_value_update){.value = {.type = TYPE_L},
							 .action = ATTRIBUTE_ACTION_ADD},
			 &lowered),
		  OK);
	CHECK_INT(lowered->actions[0].verb, UPDATE_SET);
	CHECK_INT(lowered->actions[0].operand->kind, NODE_LIST_APPEND);
	CHECK_INT(update((struct attribute_value_update){.action = ATTRIBUTE_ACTION_PUT}, &lowered),
		  ERR_REQUEST);
	CHECK_STR(err.message,
		  OOM "Only DELETE action is allowed when no attribute value is specified");
	CHECK_INT(update((struct attribute_value_update){.value = S("x"),
							 .action = ATTRIBUTE_ACTION_ADD},
			 &lowered),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "ADD action is not supported for the type STRING");
	CHECK_INT(update((struct attribute_value_update){.value = N(1),
							 .action = ATTRIBUTE_ACTION_DELETE},
			 &lowered),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "DELETE action with value is not supported for the type NUMBER");
}

TEST(a_type_error_is_reworded)
{
	struct update *lowered = NULL;
	struct value item = example(), changed;

	/* a is a string: ADD of a number does not fit. */
	CHECK_INT(update((struct attribute_value_update){.value = N(1),
							 .action = ATTRIBUTE_ACTION_ADD},
			 &lowered),
		  OK);
	CHECK_INT(expr_update(lowered, arena, &item, &changed, &err), ERR_OPERAND);
	CHECK_INT(legacy_update_error(&err), ERR_VALIDATION);
	CHECK_STR(err.message, "Type mismatch for attribute to update");
	err_default(&err, ERR_CONDITIONAL_CHECK_FAILED);
	CHECK_INT(legacy_update_error(&err), ERR_CONDITIONAL_CHECK_FAILED);
	CHECK_STR(err.message, "The conditional request failed");
}

TEST(projections)
{
	struct str names[] = {STR("a"), STR("n")}, twice[] = {STR("b"), STR("a"), STR("b")};
	struct projection *projection = NULL;

	err = err_in(arena);
	CHECK_INT(legacy_projection(arena, &(struct attribute_name_list){2, names}, &projection,
				    &err),
		  OK);
	CHECK_INT(projection->n, 2);
	CHECK(projection_has(projection, STR("n")));
	CHECK_INT(legacy_projection(arena, &(struct attribute_name_list){0}, &projection, &err),
		  OK);
	CHECK(!projection);
	CHECK_INT(legacy_projection(arena, &(struct attribute_name_list){3, twice}, &projection,
				    &err),
		  ERR_REQUEST);
	CHECK_STR(err.message, OOM "Duplicate value in attribute name: b");
}

TEST(key_conditions)
{
	struct condition eq = {.attribute_value_list = list_of(1, S("abc"), VALUE_NONE),
			       .comparison_operator = COMPARISON_OPERATOR_EQ};
	struct key_conditions_entry entries[3] = {{STR("a"), eq}, {STR("b"), eq}, {STR("c"), eq}};
	const struct node *node = NULL;

	err = err_in(arena);
	CHECK_INT(legacy_key_conditions(arena, &(struct key_conditions){1, entries}, &node, &err),
		  OK);
	CHECK_INT(node->kind, NODE_EQ);
	CHECK_INT(legacy_key_conditions(arena, &(struct key_conditions){2, entries}, &node, &err),
		  OK);
	CHECK_INT(node->kind, NODE_AND);
	entries[1].value.comparison_operator = COMPARISON_OPERATOR_NE;
	CHECK_INT(legacy_key_conditions(arena, &(struct key_conditions){2, entries}, &node, &err),
		  ERR_REQUEST);
	CHECK_STR(err.message, "Attempted conditional constraint is not an indexable operation");
	/* a key may have several attributes: how many conditions there may be is for the schema to
	 * say */
	entries[1].value.comparison_operator = COMPARISON_OPERATOR_EQ;
	CHECK_INT(legacy_key_conditions(arena, &(struct key_conditions){3, entries}, &node, &err),
		  OK);
	CHECK_INT(node->kind, NODE_AND);
	CHECK_INT(legacy_key_conditions(arena, &(struct key_conditions){0, entries}, &node, &err),
		  ERR_REQUEST);
	CHECK_STR(err.message, "Conditions must be at least length 1");
	CHECK_INT(legacy_key_conditions(arena, &(struct key_conditions){0, NULL}, &node, &err), OK);
	CHECK(!node);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(every_operator_means_what_it_says),
		TEST_CASE(in_of_many_values_is_a_set),
		TEST_CASE(wrong_arguments_are_refused),
		TEST_CASE(expected_value_and_exists),
		TEST_CASE(operators_join_conditions),
		TEST_CASE(many_conditions_make_a_shallow_tree),
		TEST_CASE(updates),
		TEST_CASE(a_type_error_is_reworded),
		TEST_CASE(projections),
		TEST_CASE(key_conditions),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));

	arena_free(arena);
	return status;
}
