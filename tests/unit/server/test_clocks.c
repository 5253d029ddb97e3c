/*
 * Two servers on one store go by one clock: a turn that one has answered counts for every request
 * of the other, also for one that has only begun to write. Bodies are JSON with ' in place of ".
 */
#include "server/clock.h"
#include "storage/store/trace/trace_store.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/storage/optimistic_store.h"
#include "tests/unit/test.h"

enum { A, B, SERVERS };

#define NS ((struct ns){STR("000000000000"), STR("us-east-1")})
#define OTHER ((struct ns){STR("111122223333"), STR("eu-west-1")})
#define T "1893499200" /* 2030-01-01T12:00:00Z */
#define T_MS INT64_C(1893499200000)

struct servers {
	struct optimistic_db *db;
	struct arena *arena;
	struct err err;
	struct service_fixture of[SERVERS];
	struct clocks *clocks[SERVERS];
};

static struct str quoted(struct servers *servers, const char *body)
{
	size_t n = strlen(body);
	char *text = arena_bytes(servers->arena, n + 1);

	for (size_t i = 0; i <= n; i++)
		text[i] = body[i] == '\'' ? '"' : body[i];
	return (struct str){text, n};
}

static struct op_response call(struct servers *servers, int server, const char *op,
			       const char *body)
{
	return service_fixture_call(&servers->of[server], servers->arena, str_of(op),
				    quoted(servers, body));
}

static void check(struct servers *servers, int server, const char *op, const char *body,
		  const char *part)
{
	struct op_response response = call(servers, server, op, body);

	CHECK(str_contains(response.body, quoted(servers, part)));
	if (!str_contains(response.body, quoted(servers, part)))
		fprintf(stderr, "  %s of server %d: " STR_FMT "\n", op, server,
			STR_ARG(response.body));
}

static void turn(struct servers *servers, int server, const struct ns *ns, const char *body)
{
	CHECK_INT(clock_turn(servers->clocks[server], ns, quoted(servers, body), &servers->err),
		  OK);
}

/* Both know the table "tab", with a stream and time to live. */
static struct servers *servers_new(void)
{
	struct arena *arena = arena_new(1 << 20);
	struct servers *servers = ARENA_NEW(arena, struct servers);

	*servers =
		(struct servers){.db = optimistic_db_new(), .arena = arena, .err = err_in(arena)};
	for (int i = 0; i < SERVERS; i++) {
		struct store *store = trace_store_new(optimistic_open(servers->db));
		struct catalog_options options = {.settings = &settings_records,
						  .clocks = clocks_new(store, false)};

		servers->clocks[i] = options.clocks;
		servers->of[i] = (struct service_fixture){
			.service = {.now_ms = clock_now_ms, .clock_context = options.clocks},
			.store = store};
		CHECK_INT(catalog_open(store, &options, &servers->of[i].service.catalog,
				       &servers->err),
			  OK);
	}
	CHECK_INT(call(servers, A, "CreateTable",
		       "{'TableName':'tab','AttributeDefinitions':[{'AttributeName':'k','"
		       "AttributeType':'S'}],"
		       "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_"
		       "PER_REQUEST',"
		       "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}")
			  .status,
		  200);
	CHECK_INT(call(servers, A, "UpdateTimeToLive",
		       "{'TableName':'tab','TimeToLiveSpecification':{'AttributeName':'t','Enabled'"
		       ":true}}")
			  .status,
		  200);
	check(servers, B, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'first'}}}", "{}");
	return servers;
}

static void servers_free(struct servers *servers)
{
	for (int i = 0; i < SERVERS; i++) {
		service_fixture_close(&servers->of[i]);
		clocks_free(servers->clocks[i]);
	}
	optimistic_db_unref(servers->db);
	arena_free(servers->arena);
}

/* The text of a member of a response that is a string without escapes. */
static struct str member(struct servers *servers, struct op_response response, const char *name)
{
	struct str mark = str_printf(servers->arena, "\"%s\":\"", name);
	const char *at = memmem(response.body.p, response.body.n, mark.p, mark.n);

	CHECK(at != NULL);
	at += at ? mark.n : 0;
	return at ? (struct str){at, strcspn(at, "\"")} : STR("");
}

/* What the stream of the table holds, as a server shows it. */
static struct op_response records(struct servers *servers, int server)
{
	struct str arn =
		member(servers, call(servers, server, "DescribeTable", "{'TableName':'tab'}"),
		       "LatestStreamArn");
	const char *streams = "DynamoDBStreams_20120810.";
	struct op_response described =
		call(servers, server, str_printf(servers->arena, "%sDescribeStream", streams).p,
		     str_printf(servers->arena, "{'StreamArn':'" STR_FMT "'}", STR_ARG(arn)).p);
	struct str shard = member(servers, described, "ShardId");
	struct op_response began =
		call(servers, server, str_printf(servers->arena, "%sGetShardIterator", streams).p,
		     str_printf(servers->arena,
				"{'StreamArn':'" STR_FMT "','ShardId':'" STR_FMT
				"','ShardIteratorType':'TRIM_HORIZON'}",
				STR_ARG(arn), STR_ARG(shard))
			     .p);

	return call(servers, server, str_printf(servers->arena, "%sGetRecords", streams).p,
		    str_printf(servers->arena, "{'ShardIterator':'" STR_FMT "'}",
			       STR_ARG(member(servers, began, "ShardIterator")))
			    .p);
}

TEST(a_write_is_stamped_by_a_turn_of_the_other_server)
{
	struct servers *servers = servers_new();

	turn(servers, A, NULL, "{'set':" T ",'freeze':true}");
	check(servers, B, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'second'}}}", "{}");
	CHECK(str_contains(records(servers, A).body, STR("\"ApproximateCreationDateTime\":" T)));
	servers_free(servers);
}

TEST(a_table_is_made_and_told_of_by_it)
{
	struct servers *servers = servers_new();

	turn(servers, A, NULL, "{'set':" T ",'freeze':true}");
	check(servers, B, "CreateTable",
	      "{'TableName':'new','AttributeDefinitions':[{'AttributeName':'k','AttributeType':'S'}"
	      "],"
	      "'KeySchema':[{'AttributeName':'k','KeyType':'HASH'}],'BillingMode':'PAY_PER_REQUEST'"
	      "}",
	      "'CreationDateTime':" T);
	/* a day later B hands out no record of before */
	turn(servers, A, NULL, "{'advance':'2d'}");
	CHECK(str_contains(records(servers, B).body, STR("{\"Records\":[]")));
	servers_free(servers);
}

TEST(turns_of_two_servers_add_up)
{
	struct servers *servers = servers_new();
	bool is_own;

	turn(servers, A, NULL, "{'set':" T ",'freeze':true}");
	turn(servers, B, NULL, "{'advance':'1h'}");
	turn(servers, A, NULL, "{'advance':'1h'}");
	turn(servers, B, &NS, "{'advance':'1d'}");
	turn(servers, A, &OTHER, "{'advance':'2d'}");
	turn(servers, A, &NS, "{'advance':'1d'}");
	for (int i = 0; i < SERVERS; i++) {
		CHECK_INT(clocks_refresh(servers->clocks[i], &servers->err), OK);
		CHECK_INT(clocks_get(servers->clocks[i], NULL, &is_own).ms, T_MS + 2 * 3600000);
		CHECK_INT(clock_now_ms(servers->clocks[i], NS), T_MS + 2 * 3600000 + 2 * 86400000);
		CHECK_INT(clock_now_ms(servers->clocks[i], OTHER),
			  T_MS + 2 * 3600000 + 2 * 86400000);
	}
	turn(servers, B, &NS, "{'release':true}");
	CHECK_INT(clocks_refresh(servers->clocks[A], &servers->err), OK);
	CHECK_INT(clock_now_ms(servers->clocks[A], NS), T_MS + 2 * 3600000);
	CHECK(str_contains(clock_describe(servers->clocks[A], &NS, servers->arena, 0),
			   STR("\"own\":false")));
	CHECK(str_contains(clock_describe(servers->clocks[A], &OTHER, servers->arena, 0),
			   STR("\"own\":true")));
	turn(servers, A, NULL, "{'release':true}");
	CHECK_INT(clocks_refresh(servers->clocks[B], &servers->err), OK);
	CHECK(clock_now_ms(servers->clocks[B], NS) < T_MS);
	servers_free(servers);
}

/* A server that starts later goes by it too; so does one that starts again. */
TEST(a_turn_lasts_as_long_as_the_store)
{
	struct servers *servers = servers_new();
	struct store *store = optimistic_open(servers->db);
	struct clocks *clocks = clocks_new(store, false);

	turn(servers, A, NULL, "{'set':" T ",'freeze':true}");
	turn(servers, A, &OTHER, "{'set':" T ",'freeze':true,'advance':60}");
	CHECK_INT(clocks_refresh(clocks, &servers->err), OK);
	CHECK_INT(clock_now_ms(clocks, NS), T_MS);
	CHECK_INT(clock_now_ms(clocks, OTHER), T_MS + 60000);
	clocks_free(clocks);
	store_close(store);
	servers_free(servers);
}

static void release_by_a(void *context)
{
	turn(context, A, NULL, "{'release':true}");
}

/* B has found what is due when A turns back: B must not delete it. */
TEST(what_is_not_due_any_more_is_not_deleted)
{
	struct servers *servers = servers_new();
	const struct times times = {.tell = clock_tell, .context = servers->clocks[B]};
	struct catalog *catalog = servers->of[B].service.catalog;
	uint64_t deleted = 0;
	bool more;

	check(servers, A, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'x'},'t':{'N':'" T "'}}}",
	      "{}");
	turn(servers, A, NULL, "{'set':" T ",'advance':'1d','freeze':true}");
	trace_store_after(servers->of[B].store, TRACE_PAGE, release_by_a, servers);
	CHECK_INT(ttl_sweep(catalog, &times, 0, &deleted, &more, &servers->err), OK);
	CHECK_INT(deleted, 0);
	check(servers, A, "GetItem", "{'TableName':'tab','Key':{'k':{'S':'x'}}}", "'Item'");
	turn(servers, A, NULL, "{'set':" T ",'advance':'1d','freeze':true}");
	CHECK_INT(ttl_sweep(catalog, &times, 0, &deleted, &more, &servers->err), OK);
	CHECK_INT(deleted, 1);
	servers_free(servers);
}

/* B takes the token before it knows of the turn: it must not have run out at once. */
TEST(a_token_lives_by_it)
{
	const char *body = "{'ClientRequestToken':'t1','TransactItems':[{'Update':{'TableName':'"
			   "tab','Key':{'k':{'S':'n'}},'UpdateExpression':'ADD n :one',"
			   "'ExpressionAttributeValues':{':one':{'N':'1'}}}}]}";
	struct servers *servers = servers_new();

	turn(servers, A, NULL, "{'advance':'1h'}");
	CHECK_INT(call(servers, B, "TransactWriteItems", body).status, 200);
	CHECK_INT(call(servers, B, "TransactWriteItems", body).status, 200);
	CHECK_INT(call(servers, A, "TransactWriteItems", body).status, 200);
	check(servers, A, "GetItem", "{'TableName':'tab','Key':{'k':{'S':'n'}}}", "'n':{'N':'1'}");
	servers_free(servers);
}

/* Where nothing was turned a write reads one small row more, and the settings once after each turn.
 */
TEST(the_settings_are_read_once_a_turn)
{
	const struct keyspace counters = {0, SYSTEM_COUNTERS};
	struct servers *servers = servers_new();
	struct store *store = servers->of[B].store;

	turn(servers, A, NULL, "{'advance':'1h'}");
	for (int i = 0; i < 3; i++) {
		trace_store_reset(store);
		check(servers, B, "PutItem", "{'TableName':'tab','Item':{'k':{'S':'first'}}}",
		      "{}");
		CHECK_INT(trace_store_count_in(store, TRACE_PAGE, counters), i == 0);
	}
	servers_free(servers);
}

TEST(a_turn_that_fails_is_nobody_s)
{
	struct servers *servers = servers_new();
	struct str body = quoted(servers, "{'advance':'1h'}");
	int64_t offset_ms;
	bool is_own;

	optimistic_db_fail(servers->db, &(struct optimistic_faults){.unavailable = 1000});
	CHECK_INT(clock_turn(servers->clocks[A], NULL, body, &servers->err), ERR_STORE_UNAVAILABLE);
	optimistic_db_fail(servers->db, &(struct optimistic_faults){.unknown_done = 1000});
	CHECK_INT(clock_turn(servers->clocks[A], NULL, body, &servers->err), ERR_STORE_UNKNOWN);
	optimistic_db_fail(servers->db, &(struct optimistic_faults){0});
	for (int i = 0; i < SERVERS; i++) {
		CHECK_INT(clocks_refresh(servers->clocks[i], &servers->err), OK);
		offset_ms = clocks_get(servers->clocks[i], NULL, &is_own).ms;
		CHECK_INT(offset_ms, 3600000);
	}
	servers_free(servers);
}

TEST_MAIN(TEST_CASE(a_write_is_stamped_by_a_turn_of_the_other_server),
	  TEST_CASE(a_table_is_made_and_told_of_by_it), TEST_CASE(turns_of_two_servers_add_up),
	  TEST_CASE(a_turn_lasts_as_long_as_the_store),
	  TEST_CASE(what_is_not_due_any_more_is_not_deleted), TEST_CASE(a_token_lives_by_it),
	  TEST_CASE(the_settings_are_read_once_a_turn), TEST_CASE(a_turn_that_fails_is_nobody_s))
