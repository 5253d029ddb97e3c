/* rpc and arguments of server/mcp: what messages and arguments become. Calls that reach a server
 * are in tests/e2e/test_mcp.py. */
#include "protocol/wire/json.h"
#include "server/mcp/arguments.h"
#include "server/mcp/rpc.h"
#include "tests/unit/test.h"

/* The body that a call's arguments become, or the message. */
static struct str body_of(struct arena *arena, const char *tool, const char *text, int64_t limit)
{
	struct arguments out;
	struct err err = err_in(arena);
	enum code code =
		arguments_read(arena, toolbox_find(str_of(tool)), str_of(text), limit, &out, &err);

	return code == OK ? out.body : err.message;
}

TEST(plain_values_become_typed_ones)
{
	struct arena *arena = arena_new(4096);

	CHECK_STR(body_of(arena, "get_item",
			  "{\"table\": \"abc\", \"key\": {\"pk\": \"a\", \"sk\": "
			  "12345678901234567890.10}}",
			  0),
		  "{\"TableName\":\"abc\",\"Key\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":"
		  "\"12345678901234567890.10\"}}}");
	CHECK_STR(body_of(arena, "get_item",
			  "{\"key\":{\"pk\":{\"S\":\"a\"}},\"table\":\"a\\u0062c\"}", 0),
		  "{\"TableName\":\"a\\u0062c\",\"Key\":{\"pk\":{\"S\":\"a\"}}}");
	CHECK_STR(body_of(arena, "execute_statement",
			  "{\"statement\":\"SELECT\",\"parameters\":[1,{\"S\":\"x\"},[null]]}", 0),
		  "{\"Statement\":\"SELECT\",\"Parameters\":[{\"N\":\"1\"},{\"S\":\"x\"},{\"L\":[{"
		  "\"NULL\":true}]}],\"Limit\":25}");
	CHECK_STR(body_of(arena, "create_table", "{\"request\":{\"TableName\" : \"abc\"}}", 0),
		  "{\"TableName\" : \"abc\"}");
	CHECK_STR(body_of(arena, "report", "{}", 0), "{}");
	arena_free(arena);
}

TEST(a_key_and_a_condition_are_joined)
{
	struct arena *arena = arena_new(4096);

	CHECK_STR(body_of(arena, "query", "{\"table\":\"abc\",\"key\":{\"p\\\"k\":\"a\",\"q\":1}}",
			  0),
		  "{\"TableName\":\"abc\",\"KeyConditionExpression\":\"#key0 = :key0 AND #key1 = "
		  ":key1\","
		  "\"ExpressionAttributeNames\":{\"#key0\":\"p\\\"k\",\"#key1\":\"q\"},"
		  "\"ExpressionAttributeValues\":{\":key0\":{\"S\":\"a\"},\":key1\":{\"N\":\"1\"}},"
		  "\"Limit\":25}");
	CHECK_STR(body_of(arena, "query",
			  "{\"table\":\"abc\",\"condition\":\"#s > :s\",\"names\":{ \"#s\": \"sk\" "
			  "},\"values\":{\":s\":3},\"key\":{\"pk\":{\"S\":\"a\"}},\"limit\":2}",
			  0),
		  "{\"TableName\":\"abc\",\"KeyConditionExpression\":\"#key0 = :key0 AND #s > :s\","
		  "\"ExpressionAttributeNames\":{\"#key0\":\"pk\",\"#s\": \"sk\"},"
		  "\"ExpressionAttributeValues\":{\":key0\":{\"S\":\"a\"},\":s\":{\"N\":\"3\"}},"
		  "\"Limit\":2}");
	CHECK_STR(body_of(arena, "query", "{\"table\":\"abc\"}", 0),
		  "query wants key, condition or both");
	CHECK_STR(body_of(arena, "query", "{\"table\":\"abc\",\"key\":{}}", 0),
		  "query wants key, condition or both");
	arena_free(arena);
}

TEST(a_limit_is_the_calls_or_less)
{
	struct arena *arena = arena_new(4096);

	CHECK_STR(body_of(arena, "list_tables", "{}", 0), "{\"Limit\":25}");
	CHECK_STR(body_of(arena, "list_tables", "{\"limit\":1000}", 0), "{\"Limit\":1000}");
	CHECK_STR(body_of(arena, "list_tables", "{\"limit\":1000}", 12), "{\"Limit\":12}");
	for (size_t i = 0; i < 3; i++) {
		static const char *const wrong[] = {"{\"limit\":0}", "{\"limit\":1001}",
						    "{\"limit\":1.5}"};

		CHECK_STR(body_of(arena, "list_tables", wrong[i], 0),
			  "the argument 'limit' must be a whole number from 1 to 1000");
	}
	arena_free(arena);
}

TEST(a_name_in_a_path_is_nothing_else)
{
	struct arena *arena = arena_new(4096);
	static const char *const wrong[] = {"",      "a/b",      "../reset", "a b",
					    "a?x=1", "a\\u0000", "\\u00e4"};

	CHECK_STR(body_of(arena, "roll_back", "{\"name\":\"v1.2_a-B\"}", 0), "{}");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK_STR(body_of(arena, "roll_back",
				  str_printf(arena, "{\"name\":\"%s\"}", wrong[i]).p, 0),
			  "the argument 'name' must be a string of 1 to 100 letters, digits, '.', "
			  "'_' and '-'");
	arena_free(arena);
}

TEST(other_arguments_are_refused)
{
	struct arena *arena = arena_new(4096);

	CHECK_STR(body_of(arena, "describe_table", "{}", 0), "the argument 'table' is missing");
	CHECK_STR(body_of(arena, "describe_table", "{\"table\":5}", 0),
		  "the argument 'table' must be a string");
	CHECK_STR(body_of(arena, "describe_table", "{\"table\":null}", 0),
		  "the argument 'table' must be a string");
	CHECK_STR(body_of(arena, "describe_table", "{\"table\":\"abc\",\"more\":1}", 0),
		  "there is no argument 'more' of describe_table");
	CHECK_STR(body_of(arena, "turn_clock", "{\"freeze\":\"yes\"}", 0),
		  "the argument 'freeze' must be true or false");
	arena_free(arena);
}

TEST(every_tool_has_a_schema_that_is_json)
{
	struct arena *arena = arena_new(4096);
	struct err err = err_in(arena);

	for (size_t may_write = 0; may_write < 2; may_write++) {
		const struct tools tools = {.may_write = may_write};
		struct json_out out = json_out_in(arena);
		const struct json *root = NULL;
		size_t writes = 0;

		tools_list(&tools, &out);
		CHECK_INT(json_parse(arena, json_out_str(&out), &root, &err), OK);
		for (enum tool_id id = 0; id < TOOL_COUNT; id++)
			writes += toolbox_at(id)->is_write;
		CHECK_INT(json_count(root), TOOL_COUNT - (may_write ? 0 : writes));
	}
	arena_free(arena);
}

TEST(ids_come_back_as_they_are)
{
	struct arena *arena = arena_new(4096);
	const struct tools tools = {0};
	static const char *const ids[] = {"1", "-7", "\"a\\u0062\"", "12345678901234567890", "1e3"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		CHECK_STR(
			rpc_answer(
				&tools, arena,
				str_printf(
					arena,
					"{\"method\":\"ping\", \"id\" : %s ,\"jsonrpc\":\"2.0\"}\r",
					ids[i])),
			str_printf(arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}", ids[i])
				.p);
	arena_free(arena);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(plain_values_become_typed_ones),
		TEST_CASE(a_key_and_a_condition_are_joined),
		TEST_CASE(a_limit_is_the_calls_or_less),
		TEST_CASE(a_name_in_a_path_is_nothing_else),
		TEST_CASE(other_arguments_are_refused),
		TEST_CASE(every_tool_has_a_schema_that_is_json),
		TEST_CASE(ids_come_back_as_they_are),
	};

	return test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
}
