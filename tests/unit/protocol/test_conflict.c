/* A table that is changed while a request runs: the request is run again, and what it did already
 * is not done twice. */
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

#define TABLE                                                                                      \
	"{\"TableName\":\"tbl\",\"AttributeDefinitions\":[{\"AttributeName\":\"k\","               \
	"\"AttributeType\":\"S\"}],"                                                               \
	"\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}],\"BillingMode\":\"PAY_"    \
	"PER_REQUEST\"}"
#define TTL                                                                                        \
	"{\"TableName\":\"tbl\",\"TimeToLiveSpecification\":{\"AttributeName\":\"t\",\"Enabled\":" \
	"%s}}"

/* Changes what writers go by when the n-th write transaction is about to begin: its snapshot is
 * then not the current one any more. */
static struct {
	struct store_ops ops;
	enum code (*begin)(struct store *store, enum store_mode mode, struct store_txn **txn,
			   struct err *err);
	struct service_fixture fixture;
	int change_in; /* 0: never */
	int changes;   /* after it: of the transactions that follow, so many more */
	bool is_ttl_enabled;
} hooked;

static enum code begin(struct store *store, enum store_mode mode, struct store_txn **txn,
		       struct err *err)
{
	if (mode == STORE_WRITE && hooked.change_in > 0 && --hooked.change_in == 0) {
		struct arena *arena = arena_new(0);

		hooked.is_ttl_enabled = !hooked.is_ttl_enabled;
		CHECK_INT(service_fixture_call(
				  &hooked.fixture, arena, STR("UpdateTimeToLive"),
				  str_printf(arena, TTL, hooked.is_ttl_enabled ? "true" : "false"))
				  .status,
			  200);
		arena_free(arena);
		if (hooked.changes > 0 && --hooked.changes > 0)
			hooked.change_in = 1;
	}
	return hooked.begin(store, mode, txn, err);
}

static struct arena *open_hooked(void)
{
	struct arena *arena = arena_new(1 << 16);

	service_fixture_open(&hooked.fixture, arena);
	hooked.ops = *hooked.fixture.store->ops;
	hooked.begin = hooked.ops.begin;
	hooked.ops.begin = begin;
	hooked.fixture.store->ops = &hooked.ops;
	hooked.change_in = hooked.changes = 0;
	hooked.is_ttl_enabled = false;
	CHECK_INT(
		service_fixture_call(&hooked.fixture, arena, STR("CreateTable"), STR(TABLE)).status,
		200);
	return arena;
}

static void close_hooked(struct arena *arena)
{
	service_fixture_close(&hooked.fixture);
	arena_free(arena);
}

static void check_item(struct arena *arena, const char *key, const char *item)
{
	struct str body =
		str_printf(arena, "{\"TableName\":\"tbl\",\"Key\":{\"k\":{\"S\":\"%s\"}}}", key);

	CHECK_STR(service_fixture_call(&hooked.fixture, arena, STR("GetItem"), body).body, item);
}

TEST(one_write_is_run_again)
{
	struct arena *arena = open_hooked();
	struct str body = STR("{\"TableName\":\"tbl\",\"Key\":{\"k\":{\"S\":\"a\"}},"
			      "\"UpdateExpression\":\"ADD n :one\","
			      "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}");

	hooked.change_in = 1;
	CHECK_STR(service_fixture_call(&hooked.fixture, arena, STR("UpdateItem"), body).body, "{}");
	CHECK_INT(hooked.change_in, 0);
	check_item(arena, "a", "{\"Item\":{\"k\":{\"S\":\"a\"},\"n\":{\"N\":\"1\"}}}");
	close_hooked(arena);
}

TEST(a_batch_of_statements_goes_on_where_it_was)
{
	struct arena *arena = open_hooked();
	struct str put =
		STR("{\"TableName\":\"tbl\",\"Item\":{\"k\":{\"S\":\"b\"},\"n\":{\"N\":\"0\"}}}");
	struct str body =
		STR("{\"Statements\":[{\"Statement\":\"INSERT INTO tbl VALUE {'k': 'a', 'n': 1}\"},"
		    "{\"Statement\":\"UPDATE tbl SET n = n + 1 WHERE k = 'b'\"},"
		    "{\"Statement\":\"INSERT INTO tbl VALUE {'k': 'c', 'n': 1}\"}]}");

	for (int at = 1; at <= 3; at++) {
		hooked.change_in = 0;
		CHECK_INT(service_fixture_call(&hooked.fixture, arena, STR("PutItem"), put).status,
			  200);
		hooked.change_in = at;
		CHECK_STR(service_fixture_call(&hooked.fixture, arena, STR("BatchExecuteStatement"),
					       body)
				  .body,
			  "{\"Responses\":[{\"TableName\":\"tbl\"},{\"TableName\":\"tbl\"},{"
			  "\"TableName\":\"tbl\"}]}");
		CHECK_INT(hooked.change_in, 0);
		check_item(arena, "a", "{\"Item\":{\"k\":{\"S\":\"a\"},\"n\":{\"N\":\"1\"}}}");
		check_item(arena, "b", "{\"Item\":{\"k\":{\"S\":\"b\"},\"n\":{\"N\":\"1\"}}}");
		check_item(arena, "c", "{\"Item\":{\"k\":{\"S\":\"c\"},\"n\":{\"N\":\"1\"}}}");
		for (const char *key = "ac"; *key; key++)
			CHECK_INT(service_fixture_call(&hooked.fixture, arena, STR("DeleteItem"),
						       str_printf(arena,
								  "{\"TableName\":\"tbl\",\"Key\":{"
								  "\"k\":{\"S\":\"%c\"}}}",
								  *key))
					  .status,
				  200);
	}
	close_hooked(arena);
}

TEST(a_write_that_is_always_too_late_is_told_so)
{
	struct arena *arena = open_hooked();
	struct str body = STR("{\"TableName\":\"tbl\",\"Item\":{\"k\":{\"S\":\"a\"}}}");

	hooked.change_in = 1;
	hooked.changes = 1000;
	struct op_response response =
		service_fixture_call(&hooked.fixture, arena, STR("PutItem"), body);
	CHECK_INT(response.status, 500);
	CHECK_STR(response.body, "{\"__type\":\"com.amazonaws.dynamodb.v20120810#"
				 "InternalServerError\",\"message\":\"Internal server error\"}");
	hooked.change_in = 0;
	check_item(arena, "a", "{}");
	close_hooked(arena);
}

TEST_MAIN(TEST_CASE(one_write_is_run_again), TEST_CASE(a_batch_of_statements_goes_on_where_it_was),
	  TEST_CASE(a_write_that_is_always_too_late_is_told_so))
