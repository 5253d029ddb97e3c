/* Cross-field rules: which parameters stand together, Select, filters, segments, duplicates. */
#include "protocol/rules.h"
#include "core/seen.h"
#include "tests/unit/test.h"

static struct arena *arena;
static struct err err;

#define OOM "One or more parameter values were invalid: "

static enum code check(const struct expression_request *request)
{
	struct call call = {.arena = arena};

	err = err_in(arena);
	return expressions_check(&call, request, &err);
}

TEST(values_are_judged_after_the_parameters)
{
	struct call call = {.arena = arena, .value_err = err_in(arena)};
	struct expression_request request = {.condition = STR("a = b"),
					     .legacy = {{"Expected", true}}};

	CHECK_INT(err_set(&call.value_err, ERR_VALIDATION, "%s", "a value"), ERR_VALIDATION);
	err = err_in(arena);
	CHECK_INT(expressions_check(&call, &request, &err), ERR_REQUEST);
	CHECK(str_starts_with(err.message, STR("Can not use both")));
	request.legacy[0].is_given = false;
	CHECK_INT(expressions_check(&call, &request, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "a value");
}

TEST(expressions_do_not_mix_with_legacy_parameters)
{
	struct expression_request request = {
		.projection = STR("a"),
		.key_condition = STR("b = :b"),
		.legacy = {{"AttributesToGet", true},
			   {"QueryFilter", false},
			   {"ConditionalOperator", true}},
	};

	CHECK_INT(check(&request), ERR_REQUEST);
	CHECK_STR(err.message,
		  "Can not use both expression and non-expression parameters in the same request: "
		  "Non-expression "
		  "parameters: {AttributesToGet, ConditionalOperator} Expression parameters: "
		  "{ProjectionExpression, KeyConditionExpression}");
	request.projection = request.key_condition = STR_ABSENT;
	CHECK_INT(check(&request), OK);
}

TEST(names_and_values_need_expressions)
{
	struct expression_attribute_name_map_entry name = {STR("#a"), STR("a")};
	struct expression_attribute_name_map names = {1, &name}, empty = {0, &name},
					     absent = {0, NULL};
	struct value no_values = {.type = TYPE_M};
	struct expression_request request = {.names = &names, .valued = "ConditionExpression is"};

	CHECK_INT(check(&request), ERR_REQUEST);
	CHECK_STR(err.message,
		  "ExpressionAttributeNames can only be specified when using expressions");
	request.names = &absent;
	CHECK_INT(check(&request), OK);
	request.values = &no_values;
	request.projection = STR("a");
	CHECK_INT(check(&request), ERR_REQUEST);
	CHECK_STR(err.message, "ExpressionAttributeValues can only be specified when using "
			       "expressions: ConditionExpression is null");
	request.condition = STR("a = b");
	CHECK_INT(check(&request), ERR_REQUEST);
	CHECK_STR(err.message, "ExpressionAttributeValues must not be empty");
	request.names = &empty;
	CHECK_INT(check(&request), ERR_REQUEST);
	CHECK_STR(err.message, "ExpressionAttributeNames must not be empty");
}

static enum code check_name(struct str key, struct str value)
{
	struct expression_attribute_name_map_entry name = {key, value};
	struct expression_attribute_name_map names = {1, &name};

	return check(&(struct expression_request){.projection = STR("a"), .names = &names});
}

TEST(placeholders_are_well_formed)
{
	char *large = arena_bytes(arena, 65536);

	memset(large, 'a', 65536);
	CHECK_INT(check_name(STR("#a_1"), STR("x")), OK);
	CHECK_INT(check_name(STR("a"), STR("x")), ERR_REQUEST);
	CHECK_STR(err.message,
		  "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\"");
	CHECK_INT(check_name(STR("#"), STR("x")), ERR_REQUEST);
	CHECK_STR(err.message,
		  "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#\"");
	CHECK_INT(check_name(STR("#a-"), STR("x")), ERR_REQUEST);
	CHECK_INT(check_name(STR(""), STR("x")), ERR_REQUEST);
	CHECK_STR(err.message, "ExpressionAttributeNames contains invalid key: The expression "
			       "attribute map contains an empty key;");
	CHECK_INT(check_name(STR("#a"), STR("")), ERR_REQUEST);
	CHECK_STR(
		err.message,
		"ExpressionAttributeNames contains invalid value: Empty attribute name for key #a");
	CHECK_INT(check_name((struct str){large, 256}, STR("x")), ERR_REQUEST);
	CHECK_STR(err.message, "ExpressionAttributeNames contains invalid key: The expression "
			       "attribute map contains a key that is "
			       "too long; size of key: 256");
	CHECK_INT(check_name(STR("#a"), (struct str){large, 65536}), ERR_REQUEST);
	CHECK_STR(err.message, "ExpressionAttributeNames contains invalid value: Attribute name is "
			       "too large, must be less than "
			       "65536 bytes for key #a");
}

TEST(unused_names_are_refused)
{
	struct call call = {.arena = arena};
	struct expression_attribute_name_map_entry name = {STR("#a"), STR("a")};
	struct expression_attribute_name_map names = {1, &name};
	struct expression_request request = {.projection = STR("b"), .names = &names};
	struct expressions expressions;

	err = err_in(arena);
	CHECK_INT(expressions_parse(&call, &request, &expressions, &err), ERR_REQUEST);
	CHECK_STR(err.message,
		  "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}");
	request.projection = STR("#a");
	CHECK_INT(expressions_parse(&call, &request, &expressions, &err), OK);
	CHECK(projection_has(expressions.projection, STR("a")));
	CHECK(!expressions.condition);
}

TEST(return_values_of_put_and_delete)
{
	err = err_in(arena);
	CHECK_INT(rules_return_values(0, &err), OK);
	CHECK_INT(rules_return_values(RETURN_VALUE_NONE, &err), OK);
	CHECK_INT(rules_return_values(RETURN_VALUE_ALL_OLD, &err), OK);
	CHECK_INT(rules_return_values(RETURN_VALUE_ALL_NEW, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "ReturnValues can only be ALL_OLD or NONE");
	CHECK_INT(rules_return_values(RETURN_VALUE_UPDATED_OLD, &err), ERR_VALIDATION);
}

TEST(segments)
{
	struct opt_int none = {0}, zero = {true, 0}, five = {true, 5}, four = {true, 4};

	err = err_in(arena);
	CHECK_INT(rules_segments(none, none, true, &err), OK);
	CHECK_INT(rules_segments(zero, five, true, &err), OK);
	CHECK_INT(rules_segments(four, five, true, &err), OK);
	CHECK_INT(rules_segments(five, five, true, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "The Segment parameter is zero-based and must be less than "
			       "parameter TotalSegments: Segment: 5 is not "
			       "less than TotalSegments: 5");
	CHECK_INT(rules_segments(zero, none, true, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "The TotalSegments parameter is required but was not present in the "
			       "request when Segment parameter is "
			       "present");
	CHECK_INT(rules_segments(none, four, true, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "The Segment parameter is required but was not present in the "
			       "request when parameter TotalSegments is "
			       "present");
}

static const struct node *condition(const char *text)
{
	struct expr_env env = {.arena = arena};
	const struct node *node = NULL;

	err = err_in(arena);
	CHECK_INT(expr_parse_condition(&env, EXPR_FILTER, str_of(text), &node, &err), OK);
	return node;
}

static const struct key_schema keys = {1, 1, {{STR_INIT("pk"), TYPE_S}, {STR_INIT("sk"), TYPE_S}}};

TEST(filters_and_keys)
{
	err = err_in(arena);
	CHECK_INT(rules_query_filter(&keys, NULL, "Filter Expression", &err), OK);
	CHECK_INT(rules_query_filter(&keys, condition("a = b"), "Filter Expression", &err), OK);
	CHECK_INT(rules_query_filter(&keys, condition("sk = a AND pk = a"), "Filter Expression",
				     &err),
		  ERR_VALIDATION);
	CHECK_STR(err.message, "Filter Expression can only contain non-primary key attributes: "
			       "Primary key attribute: pk");
	CHECK_INT(rules_query_filter(&keys, condition("attribute_exists(sk)"), "QueryFilter", &err),
		  ERR_VALIDATION);
	CHECK_STR(err.message, "QueryFilter can only contain non-primary key attributes: Primary "
			       "key attribute: sk");
}

TEST(paths_do_not_lead_into_keys)
{
	struct index index = {.keys = {1, 0, {{STR_INIT("g"), TYPE_S}}}};
	struct table table = {.keys = keys, .indexes.n = 1, .indexes.v = &index};
	struct expr_env env = {.arena = arena};
	struct expressions expressions = {.condition = condition("a.pk = sk")};

	err = err_in(arena);
	CHECK_INT(rules_key_paths(&table, &expressions, &err), OK);
	expressions.filter = condition("a = b AND size(sk[0]) = b");
	CHECK_INT(rules_key_paths(&table, &expressions, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "Key attributes must be scalars; list random access '[]' and map "
			       "lookup '.' are not allowed: Key: sk");
	expressions = (struct expressions){0};
	CHECK_INT(expr_parse_projection(&env, STR("a.b, g.c"), &expressions.projection, &err), OK);
	CHECK_INT(rules_key_paths(&table, &expressions, &err), ERR_VALIDATION);
	CHECK_STR(err.message, "Key attributes must be scalars; list random access '[]' and map "
			       "lookup '.' are not allowed: IndexKey: g");
	expressions = (struct expressions){0};
	CHECK_INT(expr_parse_update(&env, STR("SET a = b REMOVE pk.a"), &expressions.update, &err),
		  OK);
	CHECK_INT(rules_key_paths(&table, &expressions, &err), OK);
	CHECK_INT(rules_update_keys(&table, expressions.update, &err), ERR_VALIDATION);
	CHECK_STR(err.message, OOM "Cannot update attribute pk. This attribute is part of the key");
	CHECK_INT(expr_parse_update(&env, STR("SET a = pk.b"), &expressions.update, &err), OK);
	CHECK_INT(rules_key_paths(&table, &expressions, &err), ERR_VALIDATION);
	CHECK_INT(rules_update_keys(&table, expressions.update, &err), OK);
}

static enum code select_rules(int select, const struct index *index,
			      const struct projection *projection, bool is_legacy,
			      enum read_select *out, struct err *error)
{
	enum code code = rules_select(select, index != NULL, projection, is_legacy, out, error);

	return code ? code : rules_select_index(arena, index, *out, projection, error);
}

TEST(indexes_and_select)
{
	struct str projected[] = {STR("g"), STR("pk"), STR("sk")};
	struct index global = {.name = STR("gsi"),
			       .projection = PROJECT_KEYS_ONLY,
			       .projected_count = 3,
			       .projected = projected};
	struct index local = global, full = {.name = STR("all"), .projection = PROJECT_ALL};
	const struct path *paths[] = {path_of_name(arena, STR("pk")), path_of_name(arena, STR("z")),
				      path_of_name(arena, STR("zz")),
				      path_of_name(arena, STR("z"))};
	struct projection known = {.n = 1, .paths = paths}, unknown = {.n = 4, .paths = paths};
	enum read_select select;

	local.is_local = true;
	err = err_in(arena);
	CHECK_INT(select_rules(0, NULL, NULL, false, &select, &err), OK);
	CHECK_INT(select, READ_ALL_ATTRIBUTES);
	CHECK_INT(select_rules(0, &global, NULL, false, &select, &err), OK);
	CHECK_INT(select, READ_PROJECTED_ATTRIBUTES);
	CHECK_INT(select_rules(0, &global, &known, false, &select, &err), OK);
	CHECK_INT(select, READ_SPECIFIC_ATTRIBUTES);
	CHECK_INT(select_rules(SELECT_COUNT, NULL, NULL, false, &select, &err), OK);
	CHECK_INT(select, READ_COUNT);
	CHECK_INT(select_rules(SELECT_ALL_ATTRIBUTES, &local, NULL, false, &select, &err), OK);
	CHECK_INT(select_rules(SELECT_ALL_ATTRIBUTES, &full, NULL, false, &select, &err), OK);
	CHECK_INT(select_rules(0, &local, &unknown, false, &select, &err), OK);
	CHECK_INT(select_rules(0, &global, &unknown, false, &select, &err), ERR_VALIDATION);
	CHECK_STR(err.message, OOM "Global secondary index gsi does not project [z, zz]");
	CHECK_INT(select_rules(SELECT_ALL_ATTRIBUTES, &global, NULL, false, &select, &err),
		  ERR_VALIDATION);
	CHECK_STR(err.message, OOM "Select type ALL_ATTRIBUTES is not supported for global "
				   "secondary index gsi because its "
				   "projection type is not ALL");
	CHECK_INT(select_rules(SELECT_ALL_PROJECTED_ATTRIBUTES, NULL, NULL, false, &select, &err),
		  ERR_SELECT);
	CHECK_STR(err.message,
		  "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
	CHECK_INT(select_rules(SELECT_SPECIFIC_ATTRIBUTES, NULL, NULL, false, &select, &err),
		  ERR_SELECT);
	CHECK_STR(err.message, "Must specify the AttributesToGet or ProjectionExpression when "
			       "choosing to get SPECIFIC_ATTRIBUTES");
	CHECK_INT(select_rules(SELECT_COUNT, NULL, &known, true, &select, &err), ERR_SELECT);
	CHECK_STR(err.message,
		  "Cannot specify the AttributesToGet when choosing to get only the Count");
	CHECK_INT(select_rules(SELECT_ALL_ATTRIBUTES, NULL, &known, false, &select, &err),
		  ERR_SELECT);
	CHECK_STR(err.message,
		  "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES");
	CHECK_INT(rules_filter_projected(arena, &full, condition("z = g"), &err), OK);
	CHECK_INT(rules_filter_projected(arena, &global, condition("pk = g"), &err), OK);
	CHECK_INT(rules_filter_projected(arena, &global, condition("z = g AND zz.a = z"), &err),
		  ERR_VALIDATION);
	CHECK_STR(err.message, OOM
		  "Secondary index gsi does not project one or more filter attributes: [z, zz]");
}

TEST(the_second_of_two_equal_keys_is_found)
{
	struct seen seen = seen_new(arena, 1000);
	size_t found = 0;

	for (int i = 0; i < 1000; i++)
		if (!seen_add(&seen, str_printf(arena, "key%d", i % 990)))
			found++;
	CHECK_INT(found, 10);
	CHECK(seen_add(&(struct seen){ARENA_ARRAY(arena, struct str, 4), 3}, STR("")));
	CHECK(str_hash(STR("abc"), 1) != str_hash(STR("abd"), 1));
	CHECK(str_hash(STR("abc"), 1) != str_hash(STR("abc"), 2));
	CHECK(str_hash(STR("a"), 1) != str_hash(STR("a\0"), 1));
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(expressions_do_not_mix_with_legacy_parameters),
		TEST_CASE(names_and_values_need_expressions),
		TEST_CASE(placeholders_are_well_formed),
		TEST_CASE(unused_names_are_refused),
		TEST_CASE(values_are_judged_after_the_parameters),
		TEST_CASE(return_values_of_put_and_delete),
		TEST_CASE(segments),
		TEST_CASE(filters_and_keys),
		TEST_CASE(paths_do_not_lead_into_keys),
		TEST_CASE(indexes_and_select),
		TEST_CASE(the_second_of_two_equal_keys_is_found),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));

	arena_free(arena);
	return status;
}
