/*
 * Two servers on one database, as their clients see them: what one server has done, the other one's
 * answers go by, whether it has looked at the table before or not; and what a client is answered
 * when the database fails. Bodies are JSON with ' in place of ".
 */
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/storage/optimistic_store.h"
#include "tests/unit/test.h"

enum { A, B, SERVERS };

static struct {
	struct optimistic_db *db;
	struct arena *arena;
	struct service_fixture of[SERVERS];
} servers;

static struct op_response call(int server, const char *op, const char *body)
{
	char *text = arena_bytes(servers.arena, strlen(body) + 1);

	for (size_t i = 0; i <= strlen(body); i++)
		text[i] = body[i] == '\'' ? '"' : body[i];
	return service_fixture_call(&servers.of[server], servers.arena, str_of(op), str_of(text));
}

static void check(int server, const char *op, const char *body, const char *part)
{
	struct op_response response = call(server, op, body);

	CHECK(str_contains(response.body, str_of(part)));
	if (!str_contains(response.body, str_of(part)))
		fprintf(stderr, "  %s of server %d: " STR_FMT "\n", op, server,
			STR_ARG(response.body));
}

static void create(int server, const char *key)
{
	const char *body = str_printf(servers.arena,
				      "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':"
				      "'%s','AttributeType':'S'}],"
				      "'KeySchema':[{'AttributeName':'%s','KeyType':'HASH'}],'"
				      "BillingMode':'PAY_PER_REQUEST'}",
				      key, key)
				   .p;

	CHECK_INT(call(server, "CreateTable", body).status, 200);
}

/* Both know the table "tab" with the key k. */
static void open_servers(void)
{
	struct catalog_options options = {.settings = &settings_records,
					  .vector_memory_bytes = 1 << 20};

	servers.arena = arena_new(1 << 20);
	servers.db = optimistic_db_new();
	for (int i = 0; i < SERVERS; i++) {
		struct err err = err_in(servers.arena);

		servers.of[i] = (struct service_fixture){.service = {.now_ms = service_fixture_now},
							 .store = optimistic_open(servers.db)};
		CHECK_INT(catalog_open(servers.of[i].store, &options,
				       &servers.of[i].service.catalog, &err),
			  OK);
	}
	create(A, "k");
	check(B, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'a'},'g':{'S':'x'}}}", "{}");
}

static void close_servers(void)
{
	for (int i = 0; i < SERVERS; i++)
		service_fixture_close(&servers.of[i]);
	optimistic_db_unref(servers.db);
	arena_free(servers.arena);
}

TEST(a_table_of_one_server_is_the_others_too)
{
	open_servers();
	check(A, "GetItem", "{'TableName':'tab','Key':{'k':{'S':'a'}},'ConsistentRead':true}",
	      "\"g\":{\"S\":\"x\"}");
	check(B, "ListTables", "{}", "[\"tab\"]");
	check(B, "CreateTable",
	      "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}"
	      "],"
	      "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'"
	      "}",
	      "ResourceInUseException");
	CHECK_INT(call(A, "DeleteTable", "{'TableName':'tab'}").status, 200);
	check(B, "GetItem", "{'TableName':'tab','Key':{'k':{'S':'a'}}}",
	      "ResourceNotFoundException");
	check(B, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'a'}}}",
	      "ResourceNotFoundException");
	check(B, "DescribeTable", "{'TableName':'tab'}", "ResourceNotFoundException");
	check(B, "ListTables", "{}", "{\"TableNames\":[]}");
	close_servers();
}

/* What one server would refuse by what it knows is judged by the table as it is. */
TEST(a_request_is_not_refused_by_an_old_snapshot)
{
	open_servers();
	CHECK_INT(call(A, "UpdateTable",
		       "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'g','"
		       "AttributeType':'S'}],"
		       "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'by-g','KeySchema':[{"
		       "'AttributeName':'g','KeyType':'HASH'}],"
		       "'Projection':{'ProjectionType':'ALL'}}}]}")
			  .status,
		  200);
	check(B, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'b'},'g':{'N':'1'}}}",
	      "Type mismatch for Index Key g");
	check(B, "DescribeTable", "{'TableName':'tab'}", "by-g");
	CHECK_INT(call(A, "DeleteTable", "{'TableName':'tab'}").status, 200);
	create(A, "kk");
	check(B, "PutItem", "{'TableName':'tab','Item':{'kk':{'S':'b'}}}", "{}");
	check(B, "Query",
	      "{'TableName':'tab','KeyConditionExpression':'kk = "
	      ":v','ExpressionAttributeValues':{':v':{'S':'b'}}}",
	      "\"Count\":1");
	check(A, "Query",
	      "{'TableName':'tab','KeyConditionExpression':'k = "
	      ":v','ExpressionAttributeValues':{':v':{'S':'b'}}}",
	      "ValidationException");
	close_servers();
}

TEST(a_setting_of_one_server_is_not_lost_by_the_other)
{
	open_servers();
	check(A, "DescribeTable", "{'TableName':'tab'}", "\"DeletionProtectionEnabled\":false");
	check(B, "UpdateTable", "{'TableName':'tab','DeletionProtectionEnabled':true}",
	      "\"DeletionProtectionEnabled\":true");
	CHECK_INT(call(A, "UpdateTimeToLive",
		       "{'TableName':'tab','TimeToLiveSpecification':{'AttributeName':'t','Enabled'"
		       ":true}}")
			  .status,
		  200);
	check(B, "DescribeTimeToLive", "{'TableName':'tab'}", "\"TimeToLiveStatus\":\"ENABLED\"");
	check(A, "DeleteTable", "{'TableName':'tab'}", "ValidationException");
	close_servers();
}

TEST(a_token_counts_on_every_server_and_after_an_unknown_commit)
{
	const char *body = "{'ClientRequestToken':'t1','TransactItems':[{'Update':{'TableName':'"
			   "tab','Key':{'k':{'S':'n'}},'UpdateExpression':'ADD n :one',"
			   "'ExpressionAttributeValues':{':one':{'N':'1'}}}}]}";
	struct optimistic_faults faults = {.unknown_done = 1000};

	open_servers();
	optimistic_db_fail(servers.db, &faults);
	CHECK_INT(call(A, "TransactWriteItems", body).status, 500);
	optimistic_db_fail(servers.db, &(struct optimistic_faults){0});
	CHECK_INT(call(A, "TransactWriteItems", body).status, 200);
	CHECK_INT(call(B, "TransactWriteItems", body).status, 200);
	check(B, "GetItem", "{'TableName':'tab','Key':{'k':{'S':'n'}}}", "\"n\":{\"N\":\"1\"}");
	close_servers();
}

/* Every SDK tries these again; nobody is told that something was done, or was not, that may be
 * otherwise. */
TEST(what_a_failing_database_is_answered_with)
{
	const char *put = "{'TableName':'tab','Item':{'k':{'S':'z'}}}";

	open_servers();
	optimistic_db_fail(servers.db, &(struct optimistic_faults){.unavailable = 1000});
	CHECK_INT(call(A, "PutItem", put).status, 503);
	check(A, "PutItem", put, "com.amazon.coral.service#ServiceUnavailable");
	optimistic_db_fail(servers.db, &(struct optimistic_faults){.unknown_lost = 1000});
	CHECK_INT(call(A, "PutItem", put).status, 500);
	check(A, "PutItem", put, "com.amazonaws.dynamodb.v20120810#InternalServerError");
	optimistic_db_fail(servers.db, &(struct optimistic_faults){.conflict = 1000});
	CHECK_INT(call(A, "PutItem", put).status, 503);
	optimistic_db_fail(servers.db, &(struct optimistic_faults){.unknown_done = 1000});
	CHECK_INT(call(A, "CreateTable",
		       "{'TableName':'late','AttributeDefinitions':[{'AttributeName':'k','"
		       "AttributeType':'S'}],"
		       "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_"
		       "PER_REQUEST'}")
			  .status,
		  500);
	optimistic_db_fail(servers.db, &(struct optimistic_faults){0});
	check(A, "GetItem", "{'TableName':'tab','Key':{'k':{'S':'z'}}}", "{}");
	check(A, "DescribeTable", "{'TableName':'late'}", "\"TableName\":\"late\"");
	check(B, "PutItem", "{'TableName':'late','Item':{'k':{'S':'z'}}}", "{}");
	close_servers();
}

TEST_MAIN(TEST_CASE(a_table_of_one_server_is_the_others_too),
	  TEST_CASE(a_request_is_not_refused_by_an_old_snapshot),
	  TEST_CASE(a_setting_of_one_server_is_not_lost_by_the_other),
	  TEST_CASE(a_token_counts_on_every_server_and_after_an_unknown_commit),
	  TEST_CASE(what_a_failing_database_is_answered_with))
