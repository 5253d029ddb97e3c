/*
 * Wrong expressions and statements through everything that looks at them before and after the operation does: IAM and explain.
 * Whatever they see of a request that a parser refuses, the answer is an error of the client.
 */
#include "protocol/iam/iam.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

static struct service_fixture fixture;

static struct str sign(void *auth_context, struct arena *arena)
{
	(void)auth_context, (void)arena;
	return STR("alice");
}

/* A request of a principal that no policy allows anything. A body is JSON with ' in place of ". */
static struct op_response ask(struct arena *arena, struct str op, struct str body)
{
	char *json = arena_bytes(arena, body.n);
	struct op_response response = {0};

	for (size_t i = 0; i < body.n; i++)
		json[i] = body.p[i] == '\'' ? '"' : body.p[i];
	struct op_request request = {
		.arena = arena, .target = str_printf(arena, "DynamoDB_20120810." STR_FMT, STR_ARG(op)), .body = {json, body.n},
		.authenticate = service_fixture_let_in, .access_key = sign, .explain = OP_EXPLAIN_TOO,
	};
	op_run(&fixture.service, &request, &response);
	return response;
}

#define ON_ITEM "'TableName':'tab','Key':{'pk':{'S':'a'}}"

static const struct {
	const char *op, *body;
} refused[] = {
	{"UpdateItem", "{" ON_ITEM ",'UpdateExpression':'REMOVE name'}"},
	{"UpdateItem", "{" ON_ITEM ",'UpdateExpression':'REMOVE a, #b'}"},
	{"UpdateItem", "{" ON_ITEM ",'UpdateExpression':'SET a = :v'}"},
	{"UpdateItem", "{" ON_ITEM ",'UpdateExpression':'ADD a :v'}"},
	{"UpdateItem", "{" ON_ITEM ",'UpdateExpression':'REMOVE a, a.b'}"},
	{"GetItem", "{" ON_ITEM ",'ProjectionExpression':'#x'}"},
	{"GetItem", "{" ON_ITEM ",'ProjectionExpression':'a, a[0]'}"},
	{"Scan", "{'TableName':'tab','FilterExpression':':l < :v'}"},
	{"Scan", "{'TableName':'tab','FilterExpression':'a BETWEEN :l AND b'}"},
	{"Scan", "{'TableName':'tab','FilterExpression':'NOT size(#x) = b'}"},
	{"Query", "{'TableName':'tab','KeyConditionExpression':'pk = :v'}"},
	{"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'}},'ConditionExpression':'attribute_exists(#x)'}"},
	{"DeleteItem", "{" ON_ITEM ",'ConditionExpression':'attribute_type(#x)'}"},
	{"TransactWriteItems", "{'TransactItems':[{'Update':{" ON_ITEM ",'UpdateExpression':'SET a = :v'}}]}"},
	{"ExecuteStatement", "{'Statement':'UPDATE tab SET a=1 SET a.b=2 WHERE pk=?','Parameters':[{'S':'a'}]}"},
};

static void try_all(void)
{
	struct arena *arena = arena_new(1 << 16);

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct op_response response = ask(arena, str_of(refused[i].op), str_of(refused[i].body));

		CHECK_INT(response.status, 400);
		arena_reset(arena);
	}
	arena_free(arena);
}

static void with_features(bool is_enforced)
{
	struct arena *arena = arena_new(1 << 16);

	service_fixture_open(&fixture, arena);
	struct op_response made = service_fixture_call(&fixture, arena, STR("CreateTable"), STR(
		"{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],"
		"\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]}"));
	CHECK_INT(made.status, 200);
	fixture.service.iam = iam_new(is_enforced);
	try_all();
	iam_free(fixture.service.iam);
	service_fixture_close(&fixture);
	arena_free(arena);
}

TEST(enforced)
{
	with_features(true);
}

TEST(reported)
{
	with_features(false);
}

TEST_MAIN(TEST_CASE(enforced), TEST_CASE(reported))
