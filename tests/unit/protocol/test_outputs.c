/*
 * An output is set only on success (core/err.h): each public parser with every prefix of a valid
 * text, and the text without each byte. Where the parser fails, its output is as it was, or spoilt
 * as a whole; where it succeeds, it is neither.
 */
#include "core/number.h"
#include "protocol/expressions.h"
#include "protocol/faults/fault_rule.h"
#include "protocol/iam/policy.h"
#include "protocol/iam/principals.h"
#include "protocol/legacy.h"
#include "protocol/partiql/syntax.h"
#include "protocol/throughput/throughput_settings.h"
#include "protocol/wire/json.h"
#include "protocol/wire/shape_bind.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

#define UNTOUCHED 0x5A

static struct arena *arena;
static size_t failures;

/* What a function left in an output that was filled with UNTOUCHED. */
static bool is_all(const void *bytes, size_t n, unsigned char byte)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		if (p[i] != byte)
			return false;
	}
	return true;
}

static bool is_kept(enum code code, const void *out, size_t n)
{
	bool is_left = is_all(out, n, UNTOUCHED) || is_all(out, n, RESULT_SPOILT);

	failures += code != OK;
	return (code != OK) == is_left;
}

/* A parser: `call` with an output `out` of the type. `text` and `err` are at hand. */
#define PARSER(name, type, release, ...)                        \
	static bool run_##name(struct str text, struct err *err) \
	{                                                       \
		type out;                                       \
		memset(&out, UNTOUCHED, sizeof(out));           \
		enum code code = __VA_ARGS__;                   \
		bool is_right = is_kept(code, &out, sizeof(out)); \
		if (code == OK) {                               \
			release;                                \
		}                                               \
		return is_right;                                \
	}

static struct expr_env env_of(void)
{
	static struct expr_value values[2];
	static struct expr_name names[1];

	values[0] = (struct expr_value){STR(":v"), value_of_str(TYPE_S, STR("S")), false};
	values[1] = (struct expr_value){STR(":n"), value_of_str(TYPE_SS, STR("")), false};
	values[1].value = (struct value){.type = TYPE_SS, .n = 1, .elements = &values[0].value};
	names[0] = (struct expr_name){STR("#a"), STR("a"), false};
	return (struct expr_env){.arena = arena,
				 .name_count = 1,
				 .names = names,
				 .value_count = 2,
				 .values = values};
}

static struct service_fixture fixture;

static struct call call_of(void)
{
	return (struct call){.service = &fixture.service,
			     .arena = arena,
			     .ns = {STR("000000000000"), STR("us-east-1")}};
}

static enum code parse_all(struct str text, struct expressions *out, struct err *err)
{
	struct call call = call_of();
	struct expression_request request = {.update = text,
					     .condition = STR("attribute_exists(b)"),
					     .projection = STR("c"),
					     .filter = STR_ABSENT,
					     .key_condition = STR_ABSENT,
					     .search = STR_ABSENT};

	return expressions_parse(&call, &request, out, err);
}

/* Of a statement that fails the kind is known. */
static enum code parse_statement(struct str text, struct partiql_statement *out, struct err *err)
{
	struct call call = call_of();
	enum code code = partiql_parse(&call, text, NULL, 0, false, out, err);

	if (code != OK) {
		struct partiql_statement nothing = {.kind = out->kind};

		CHECK(memcmp(out, &nothing, sizeof(nothing)) == 0);
		memset(out, UNTOUCHED, sizeof(*out));
	}
	return code;
}

static enum code bind(const struct shape *shape, struct str text, struct shape_bound *out,
		      struct err *err)
{
	const struct json *json;
	enum code code = json_parse(arena, text, &json, err);

	if (code == OK && json_type(json) != JSON_OBJECT)
		code = err_default(err, ERR_VALIDATION);
	return code == OK ? shape_bind(arena, shape, SURFACE_OLDER, json, out, err) : code;
}

/* The input of a request that is bound; NULL: it is not, and nothing is asked. */
static const void *input_of(const struct shape *shape, struct str text)
{
	struct shape_bound bound;
	struct err err = err_in(arena);

	return bind(shape, text, &bound, &err) == OK ? bound.input : NULL;
}

#define LEGACY(name, type, shape, input_type, ...)                                             \
	static bool run_##name(struct str text, struct err *err)                               \
	{                                                                                      \
		const struct input_type *input = input_of(&shape_##shape, text);               \
		type out;                                                                      \
		memset(&out, UNTOUCHED, sizeof(out));                                          \
		if (!input)                                                                    \
			return true;                                                           \
		enum code code = __VA_ARGS__;                                                  \
		return is_kept(code, &out, sizeof(out));                                       \
	}

static enum code read_policy(struct str text, struct iam_policy *out, struct err *err)
{
	const struct json *json;
	unsigned number = 0;
	enum code code = json_parse(arena, text, &json, err);

	return code == OK ? iam_policy_read(arena, json, IAM_OF_IDENTITY, &number, out, err) : code;
}

#define NOTHING (void)0

PARSER(condition, const struct node *, NOTHING,
       expr_parse_condition((struct expr_env[]){env_of()}, EXPR_CONDITION, text, &out, err))
PARSER(update, struct update *, NOTHING,
       expr_parse_update((struct expr_env[]){env_of()}, text, &out, err))
PARSER(projection, struct projection *, NOTHING,
       expr_parse_projection((struct expr_env[]){env_of()}, text, &out, err))
PARSER(expressions, struct expressions, NOTHING, parse_all(text, &out, err))
PARSER(number, size_t, NOTHING, number_parse(text, (char[NUMBER_MAX]){0}, &out, err))
PARSER(tree, struct partiql_tree, NOTHING, partiql_parse_text(arena, text, &out, err))
PARSER(statement, struct partiql_statement, NOTHING, parse_statement(text, &out, err))
PARSER(json, const struct json *, NOTHING, json_parse(arena, text, &out, err))
PARSER(shape, struct shape_bound, NOTHING, bind(&shape_put_item_input, text, &out, err))
PARSER(table_name, struct str, NOTHING,
       call_table_name((struct call[]){call_of()}, text, &out, err))
PARSER(policy, struct iam_policy, NOTHING, read_policy(text, &out, err))
PARSER(principals, struct iam_principals *, iam_principals_unref(out),
       iam_principals_read(text, &out, err))
PARSER(faults, struct fault_set *, fault_set_unref(out), fault_set_read(text, &out, err))
PARSER(throughput, struct throughput_settings, throughput_settings_free(&out),
       throughput_settings_read(text, THROUGHPUT_OFF, &out, err))
LEGACY(expected, const struct node *, put_item_input, put_item_input,
       legacy_expected(arena, &input->expected, input->conditional_operator, &out, err))
LEGACY(filter, const struct node *, scan_input, scan_input,
       legacy_filter(arena, &input->scan_filter, input->conditional_operator, &out, err))
LEGACY(keys, const struct node *, query_input, query_input,
       legacy_key_conditions(arena, &input->key_conditions, &out, err))
LEGACY(updates, struct update *, update_item_input, update_item_input,
       legacy_updates(arena, &input->attribute_updates, &out, err))
LEGACY(names, struct projection *, get_item_input, get_item_input,
       legacy_projection(arena, &input->attributes_to_get, &out, err))

static const struct {
	const char *name, *valid;
	bool (*run)(struct str text, struct err *err);
} parsers[] = {
	{"expr_parse_condition",
	 "attribute_type(#a, :v) AND NOT (b BETWEEN :v AND c OR size(d.e[1]) < f)", run_condition},
	{"expr_parse_condition", "b IN (:v, :v) OR begins_with(#a, :v)", run_condition},
	{"expr_parse_update",
	 "SET #a = if_not_exists(b, :v), c = d REMOVE e.f[1] ADD g :n DELETE h :n", run_update},
	{"expr_parse_projection", "#a, b.c[2], d[1], e.f", run_projection},
	{"expressions_parse", "SET a = b REMOVE c, d.e", run_expressions},
	{"number_parse", "-1.25e+10", run_number},
	{"partiql_parse_text",
	 "UPDATE t SET a.b = [1, {'c': <<'d'>>}] REMOVE e WHERE k = 'x' AND NOT (f IN [1, 2] OR g "
	 "IS MISSING) RETURNING ALL OLD *;",
	 run_tree},
	{"partiql_parse_text",
	 "SELECT a, b[1].c FROM t.i WHERE CASE WHEN a THEN b ELSE c END = CAST(d AS INT) ORDER BY "
	 "k DESC",
	 run_tree},
	{"partiql_parse", "SELECT a, b[1].c FROM tab.gsi WHERE k = 'x' AND begins_with(s, 'y')",
	 run_statement},
	{"partiql_parse",
	 "UPDATE tab SET a = b + 1 SET c = set_add(c, <<'d'>>) REMOVE e WHERE k = 'x'",
	 run_statement},
	{"partiql_parse", "INSERT INTO tab VALUE {'k': 'x', 'a': [1, {'b': NULL}]}", run_statement},
	{"json_parse", "{\"a\":[1.5e3,true,null,{\"b\":\"\\u0041\"}]}", run_json},
	{"shape_bind",
	 "{\"TableName\":\"tab\",\"Item\":{\"pk\":{\"S\":\"a\"},\"l\":{\"L\":[{\"N\":\"1\"}]}},"
	 "\"ReturnValues\":\"NONE\"}",
	 run_shape},
	{"call_table_name", "arn:aws:dynamodb:us-east-1:000000000000:table/abc", run_table_name},
	{"iam_policy_read",
	 "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"dynamodb:*"
	 "\",\"Resource\":\"*\",\"Condition\":{\"StringLike\":{\"a:b\":\"c*\"}}}]}",
	 run_policy},
	{"iam_principals_read",
	 "{\"principals\":[{\"access_key\":\"a\",\"arn\":\"arn:aws:iam::000000000000:user/"
	 "a\",\"identity\":[{\"Statement\":{\"Effect\":\"Deny\",\"Action\":\"*\","
	 "\"Resource\":\"*\"}}],\"tags\":{\"a\":\"b\"}}]}",
	 run_principals},
	{"fault_set_read",
	 "{\"rules\":[{\"operation\":\"GetItem\",\"table\":\"tab\",\"nth\":2,\"error\":"
	 "\"ThrottlingException\"}]}",
	 run_faults},
	{"throughput_settings_read",
	 "{\"throughput\":\"enforce\",\"burst_seconds\":4,\"tables\":{\"tab\":{\"throughput\":"
	 "\"off\"}}}",
	 run_throughput},
	{"legacy_expected",
	 "{\"TableName\":\"tab\",\"Item\":{\"a\":{\"S\":\"a\"}},\"Expected\":{\"a\":{"
	 "\"ComparisonOperator\":\"BETWEEN\",\"AttributeValueList\":[{\"N\":\"0\"},{\"N\":\"2\"}]},"
	 "\"b\":{\"Exists\":false}},\"ConditionalOperator\":\"OR\"}",
	 run_expected},
	{"legacy_filter",
	 "{\"TableName\":\"tab\",\"ScanFilter\":{\"a\":{\"ComparisonOperator\":\"IN\","
	 "\"AttributeValueList\":[{\"N\":\"0\"},{\"N\":\"2\"}]},\"b\":{\"ComparisonOperator\":"
	 "\"NULL\"}},\"ConditionalOperator\":\"AND\"}",
	 run_filter},
	{"legacy_key_conditions",
	 "{\"TableName\":\"tab\",\"KeyConditions\":{\"a\":{\"ComparisonOperator\":\"EQ\","
	 "\"AttributeValueList\":[{\"S\":\"x\"}]}}}",
	 run_keys},
	{"legacy_updates",
	 "{\"TableName\":\"tab\",\"Key\":{\"a\":{\"S\":\"a\"}},\"AttributeUpdates\":{\"b\":{"
	 "\"Action\":\"ADD\",\"Value\":{\"SS\":[\"x\"]}},\"c\":{\"Action\":\"DELETE\"}}}",
	 run_updates},
	{"legacy_projection",
	 "{\"TableName\":\"tab\",\"Key\":{\"a\":{\"S\":\"a\"}},\"AttributesToGet\":[\"a\",\"b\"]}",
	 run_names},
};

static bool try_text(size_t parser, struct str text)
{
	struct err err = err_in(arena);
	size_t before = failures;
	bool is_right = parsers[parser].run(text, &err);

	if (failures > before && text.p == parsers[parser].valid && text.n == strlen(text.p))
		fprintf(stderr, "%s: " STR_FMT "\n", parsers[parser].name, STR_ARG(err.message));

	if (!is_right)
		fprintf(stderr, "%s gives a half result: " STR_FMT "\n", parsers[parser].name,
			STR_ARG(text));
	arena_reset(arena);
	return is_right;
}

TEST(outputs_are_set_only_on_success)
{
	char changed[512];

	arena = arena_new(1 << 16);
	struct arena *outer = arena_new(1 << 16);
	service_fixture_open(&fixture, outer);
	for (size_t i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		struct str valid = str_of(parsers[i].valid);
		size_t before = failures;

		CHECK(try_text(i, valid));
		CHECK_INT(failures, before); /* it is valid */
		for (size_t n = 0; n < valid.n; n++) {
			CHECK(try_text(i, (struct str){valid.p, n}));
			memcpy(changed, valid.p, n);
			memcpy(changed + n, valid.p + n + 1, valid.n - n - 1);
			CHECK(try_text(i, (struct str){changed, valid.n - 1}));
		}
		CHECK(failures > before);
	}
	printf("%zu failures of %zu parsers\n", failures, sizeof(parsers) / sizeof(parsers[0]));
	service_fixture_close(&fixture);
	arena_free(outer);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(outputs_are_set_only_on_success))
