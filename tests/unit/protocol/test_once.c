/* A request is parsed once and each of its expressions once: the parsers' calls are counted by
 * wrapping them in the linker. */
#include "core/expr.h"
#include "protocol/wire/json.h"
#include "protocol/partiql/partiql.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

static struct {
	unsigned json, condition, update, projection, partiql;
} calls;

enum code __real_json_parse(struct arena *arena, struct str text, const struct json **out,
			    struct err *err);
enum code __wrap_json_parse(struct arena *arena, struct str text, const struct json **out,
			    struct err *err);
enum code __real_expr_parse_condition(struct expr_env *env, enum expr_kind kind, struct str text,
				      const struct node **out, struct err *err);
enum code __wrap_expr_parse_condition(struct expr_env *env, enum expr_kind kind, struct str text,
				      const struct node **out, struct err *err);
enum code __real_expr_parse_update(struct expr_env *env, struct str text, struct update **out,
				   struct err *err);
enum code __wrap_expr_parse_update(struct expr_env *env, struct str text, struct update **out,
				   struct err *err);
enum code __real_expr_parse_projection(struct expr_env *env, struct str text,
				       struct projection **out, struct err *err);
enum code __wrap_expr_parse_projection(struct expr_env *env, struct str text,
				       struct projection **out, struct err *err);

enum code __wrap_json_parse(struct arena *arena, struct str text, const struct json **out,
			    struct err *err)
{
	calls.json++;
	return __real_json_parse(arena, text, out, err);
}

enum code __wrap_expr_parse_condition(struct expr_env *env, enum expr_kind kind, struct str text,
				      const struct node **out, struct err *err)
{
	calls.condition++;
	return __real_expr_parse_condition(env, kind, text, out, err);
}

enum code __wrap_expr_parse_update(struct expr_env *env, struct str text, struct update **out,
				   struct err *err)
{
	calls.update++;
	return __real_expr_parse_update(env, text, out, err);
}

enum code __wrap_expr_parse_projection(struct expr_env *env, struct str text,
				       struct projection **out, struct err *err)
{
	calls.projection++;
	return __real_expr_parse_projection(env, text, out, err);
}

enum code __real_partiql_parse(struct call *call, struct str text, const struct value *parameters,
			       size_t parameter_count, bool is_transaction,
			       struct partiql_statement *out, struct err *err);
enum code __wrap_partiql_parse(struct call *call, struct str text, const struct value *parameters,
			       size_t parameter_count, bool is_transaction,
			       struct partiql_statement *out, struct err *err);

enum code __wrap_partiql_parse(struct call *call, struct str text, const struct value *parameters,
			       size_t parameter_count, bool is_transaction,
			       struct partiql_statement *out, struct err *err)
{
	calls.partiql++;
	return __real_partiql_parse(call, text, parameters, parameter_count, is_transaction, out,
				    err);
}

static struct arena *arena;
static struct service_fixture fixture;

static int ask(const char *op, const char *body)
{
	memset(&calls, 0, sizeof(calls));
	return service_fixture_call(&fixture, arena, str_of(op), str_of(body)).status;
}

#define KEY "\"Key\":{\"pk\":{\"S\":\"a\"}}"

TEST(everything_is_parsed_once)
{
	CHECK_INT(ask("UpdateItem", "{\"TableName\":\"tab\"," KEY
				    ",\"UpdateExpression\":\"SET a = "
				    ":a\",\"ConditionExpression\":\"attribute_not_exists(a)\","
				    "\"ExpressionAttributeValues\":{\":a\":{\"N\":\"1\"}}}"),
		  200);
	CHECK_INT(calls.json, 1);
	CHECK_INT(calls.update, 1);
	CHECK_INT(calls.condition, 1);
	CHECK_INT(ask("Query",
		      "{\"TableName\":\"tab\",\"KeyConditionExpression\":\"pk = "
		      ":p\",\"FilterExpression\":\"a = :a\",\"ProjectionExpression\":\"a\","
		      "\"ExpressionAttributeValues\":{\":a\":{\"N\":\"1\"},\":p\":{\"S\":\"a\"}}}"),
		  200);
	CHECK_INT(calls.json, 1);
	CHECK_INT(calls.condition, 2); /* the key condition and the filter */
	CHECK_INT(calls.projection, 1);
	CHECK_INT(ask("TransactWriteItems",
		      "{\"TransactItems\":[{\"Update\":{\"TableName\":\"tab\"," KEY
		      ",\"UpdateExpression\":\"REMOVE b\","
		      "\"ConditionExpression\":\"attribute_exists(a)\"}},{\"Put\":{\"TableName\":"
		      "\"tab\",\"Item\":{\"pk\":{\"S\":\"b\"}},"
		      "\"ConditionExpression\":\"attribute_not_exists(pk)\"}}]}"),
		  200);
	CHECK_INT(calls.json, 1);
	CHECK_INT(calls.update, 1);
	CHECK_INT(calls.condition, 2);
}

TEST(statements_are_parsed_once)
{
	CHECK_INT(ask("ExecuteStatement", "{\"Statement\":\"SELECT * FROM tab WHERE a = 1\"}"),
		  200);
	CHECK_INT(calls.partiql, 1);
	CHECK_INT(ask("BatchExecuteStatement",
		      "{\"Statements\":[{\"Statement\":\"SELECT * FROM tab WHERE pk = "
		      "'x'\"},{\"Statement\":\"SELECT * FROM tab WHERE pk = 'y'\"}]}"),
		  200);
	CHECK_INT(calls.partiql, 2);
	CHECK_INT(ask("ExecuteTransaction",
		      "{\"TransactStatements\":[{\"Statement\":\"INSERT INTO tab VALUE {'pk': "
		      "'x'}\"},"
		      "{\"Statement\":\"UPDATE tab SET a = 1 WHERE pk = 'a'\"}]}"),
		  200);
	CHECK_INT(calls.partiql, 2);
	CHECK_INT(calls.json, 1);
	CHECK_INT(calls.condition + calls.update + calls.projection,
		  0); /* nothing is translated to the text of expressions */
}

int main(void)
{
	static const struct test_case cases[] = {TEST_CASE(everything_is_parsed_once),
						 TEST_CASE(statements_are_parsed_once)};

	arena = arena_new(1 << 20);
	service_fixture_open(&fixture, arena);
	ask("CreateTable",
	    "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"
	    "\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"
	    "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]}");
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	service_fixture_close(&fixture);
	arena_free(arena);
	return status;
}
