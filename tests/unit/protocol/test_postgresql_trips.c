/*
 * How often each operation waits for the database: round trips from the beginning to the end of a
 * request, on a table with two global indexes and one local one. Runs where
 * DYNALITH_TEST_POSTGRESQL names a database (tests/cluster/run).
 */
#include "storage/store/postgresql/postgresql_store.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

static struct {
	struct service_fixture fixture;
	struct clocks *clocks;
	struct arena *arena;
	uint64_t seen; /* round trips so far */
} trips;

/* Bodies are JSON with ' in place of ". */
static struct op_response call(const char *op, const char *body)
{
	char *text = arena_bytes(trips.arena, strlen(body) + 1);

	for (size_t i = 0; i <= strlen(body); i++)
		text[i] = body[i] == '\'' ? '"' : body[i];
	return service_fixture_call(&trips.fixture, trips.arena, str_of(op), str_of(text));
}

static uint64_t waits(void)
{
	uint64_t now = postgresql_store_counts(trips.fixture.store).round_trips,
		 n = now - trips.seen;

	trips.seen = now;
	return n;
}

/* Once to have everything in memory that may be there, then the one that counts. */
static void check(const char *op, const char *body, unsigned most)
{
	struct op_response response = call(op, body);

	waits();
	response = call(op, body);
	uint64_t n = waits();
	if (response.status != 200 || n > most)
		fprintf(stderr, "%s: %llu round trips, at most %u: " STR_FMT "\n", op,
			(unsigned long long)n, most, STR_ARG(response.body));
	CHECK(response.status == 200);
	CHECK(n <= most);
}

static void open_with(uint32_t stream_shards)
{
	const struct postgresql_store_options options = {.url = getenv("DYNALITH_TEST_POSTGRESQL"),
							 .name = "the database",
							 .connections = 4};
	struct catalog_options catalog = {.settings = &settings_records,
					  .vector_memory_bytes = 1 << 20,
					  .stream_shards = stream_shards};

	trips.arena = arena_new(1 << 20);
	trips.fixture = (struct service_fixture){.service = {.now_ms = service_fixture_now}};
	struct err err = err_in(trips.arena);
	if (postgresql_store_open(&options, &trips.fixture.store, &err) != OK)
		abort();
	catalog.clocks = trips.clocks = clocks_new(trips.fixture.store, false);
	if (catalog_open(trips.fixture.store, &catalog, &trips.fixture.service.catalog, &err) != OK)
		abort();
	call("DeleteTable", "{'TableName':'trips'}");
	CHECK_INT(call("CreateTable",
		       "{'TableName':'trips','BillingMode':'PAY_PER_REQUEST',"
		       "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},{'"
		       "AttributeName':'s','AttributeType':'S'},"
		       "{'AttributeName':'g','AttributeType':'S'},{'AttributeName':'l','"
		       "AttributeType':'S'}],"
		       "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','"
		       "KeyType':'RANGE'}],"
		       "'GlobalSecondaryIndexes':[{'IndexName':'all','KeySchema':[{'AttributeName':"
		       "'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}},"
		       "{'IndexName':'keys','KeySchema':[{'AttributeName':'g','KeyType':'HASH'},{'"
		       "AttributeName':'s','KeyType':'RANGE'}],"
		       "'Projection':{'ProjectionType':'KEYS_ONLY'}}],"
		       "'LocalSecondaryIndexes':[{'IndexName':'local','KeySchema':[{'AttributeName'"
		       ":'p','KeyType':'HASH'},{'AttributeName':'l','KeyType':'RANGE'}],"
		       "'Projection':{'ProjectionType':'KEYS_ONLY'}}]}")
			  .status,
		  200);
}

static void open_service(void)
{
	open_with(1);
}

static void close_service(void)
{
	service_fixture_close(&trips.fixture);
	clocks_free(trips.clocks);
	arena_free(trips.arena);
}

#define ITEM(s, g) "{'p':{'S':'a'},'s':{'S':'" s "'},'g':{'S':'" g "'},'l':{'S':'" g "'}}"
#define KEY(s) "{'p':{'S':'a'},'s':{'S':'" s "'}}"

TEST(reads)
{
	open_service();
	for (int i = 0; i < 3; i++) {
		static const char *const bodies[] = {
			"{'TableName':'trips','Item':" ITEM("1", "x") "}",
			"{'TableName':'trips','Item':" ITEM("2", "x") "}",
			"{'TableName':'trips','Item':" ITEM("3", "x") "}"};

		CHECK_INT(call("PutItem", bodies[i]).status, 200);
	}
	check("GetItem", "{'TableName':'trips','Key':" KEY("1") ",'ConsistentRead':true}", 1);
	check("BatchGetItem",
	      "{'RequestItems':{'trips':{'Keys':[" KEY("1") "," KEY("2") "," KEY("9") "]}}}", 1);
	check("TransactGetItems",
	      "{'TransactItems':[{'Get':{'TableName':'trips','Key':" KEY(
		      "1") "}},{'Get':{'TableName':'trips','Key':" KEY("2") "}}]}",
	      1);
	check("Query",
	      "{'TableName':'trips','KeyConditionExpression':'p = "
	      ":p','ExpressionAttributeValues':{':p':{'S':'a'}}}",
	      1);
	check("Query",
	      "{'TableName':'trips','IndexName':'all','KeyConditionExpression':'g = "
	      ":g','ExpressionAttributeValues':{':g':{'S':'x'}}}",
	      1);
	check("Query",
	      "{'TableName':'trips','IndexName':'local','KeyConditionExpression':'p = "
	      ":p','ExpressionAttributeValues':{':p':{'S':'a'}},"
	      "'Select':'ALL_ATTRIBUTES'}",
	      2);
	check("Scan", "{'TableName':'trips'}", 1);
	close_service();
}

/* With a stream and time to live. */
TEST(writes_with_all_that_there_is)
{
	open_service();
	CHECK_INT(call("UpdateTable", "{'TableName':'trips','StreamSpecification':{'StreamEnabled':"
				      "true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}")
			  .status,
		  200);
	CHECK_INT(call("UpdateTimeToLive", "{'TableName':'trips','TimeToLiveSpecification':{'"
					   "AttributeName':'t','Enabled':true}}")
			  .status,
		  200);
	CHECK_INT(call("PutItem", "{'TableName':'trips','Item':" ITEM("1", "x") "}").status, 200);
	check("UpdateItem",
	      "{'TableName':'trips','Key':" KEY(
		      "1") ",'UpdateExpression':'SET g = :g, t = :t ADD n :one',"
			   "'ExpressionAttributeValues':{':g':{'S':'z'},':t':{'N':'1'},':one':{'N':"
			   "'1'}}}",
	      2);
	check("DeleteItem", "{'TableName':'trips','Key':" KEY("1") "}", 2);
	close_service();
}

#define IN(p, g) "{'p':{'S':'" p "'},'s':{'S':'1'},'g':{'S':'" g "'}}"
#define PUT(p) "{'Put':{'TableName':'trips','Item':" IN(p, "x") "}}"
#define RAISE(p)                                                                                   \
	"{'Update':{'TableName':'trips','Key':{'p':{'S':'" p                                       \
	"'},'s':{'S':'1'}},'UpdateExpression':'ADD n "                                             \
	":one','ExpressionAttributeValues':{':one':{'N':'1'}}}}"

/* One trip to read and one to write, however many shards a request writes to; once their ends are
 * known. */
TEST(writes_to_several_shards)
{
	open_with(4);
	CHECK_INT(call("UpdateTable", "{'TableName':'trips','StreamSpecification':{'StreamEnabled':"
				      "true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}")
			  .status,
		  200);
	CHECK_INT(call("TransactWriteItems",
		       "{'TransactItems':[" PUT("a") "," PUT("b") "," PUT("c") "," PUT("d") "," PUT(
			       "e") "," PUT("f") "," PUT("g") "," PUT("h") "]}")
			  .status,
		  200);
	check("UpdateItem",
	      "{'TableName':'trips','Key':{'p':{'S':'a'},'s':{'S':'1'}},'UpdateExpression':'ADD n "
	      ":one','ExpressionAttributeValues':{':one':{'N':'1'}}}",
	      2);
	check("TransactWriteItems",
	      "{'TransactItems':[" RAISE("a") "," RAISE("b") "," RAISE("c") "," RAISE(
		      "d") "," RAISE("e") "," RAISE("f") "," RAISE("g") "," RAISE("h") "]}",
	      2);
	check("BatchWriteItem",
	      "{'RequestItems':{'trips':[{'PutRequest':{'Item':" IN(
		      "b", "z") "}},{'PutRequest':{'Item':" IN("c", "z") "}}]}}",
	      2);
	close_service();
}

TEST(writes)
{
	open_service();
	check("PutItem", "{'TableName':'trips','Item':" ITEM("1", "x") "}", 2);
	check("PutItem", "{'TableName':'trips','Item':" ITEM("1", "y") ",'ReturnValues':'ALL_OLD'}",
	      2);
	check("UpdateItem",
	      "{'TableName':'trips','Key':" KEY(
		      "1") ",'UpdateExpression':'SET g = :g ADD n :one',"
			   "'ExpressionAttributeValues':{':g':{'S':'z'},':one':{'N':'1'}}}",
	      2);
	check("DeleteItem", "{'TableName':'trips','Key':" KEY("1") "}", 2);
	check("BatchWriteItem",
	      "{'RequestItems':{'trips':[{'PutRequest':{'Item':" ITEM(
		      "1", "x") "}},{'PutRequest':{'Item':" ITEM("2", "x") "}}]}}",
	      2);
	/* each write of a table with time to live reads the version of the clocks */
	CHECK_INT(call("UpdateTimeToLive", "{'TableName':'trips','TimeToLiveSpecification':{'"
					   "AttributeName':'t','Enabled':true}}")
			  .status,
		  200);
	check("PutItem", "{'TableName':'trips','Item':" ITEM("1", "v") "}", 2);
	check("TransactWriteItems",
	      "{'TransactItems':[{'Put':{'TableName':'trips','Item':" ITEM(
		      "1", "y") "}},{'Put':{'TableName':'trips','Item':" ITEM("2", "y") "}}]}",
	      2);
	close_service();
}

int main(void)
{
	static const struct test_case cases[] = {TEST_CASE(reads), TEST_CASE(writes),
						 TEST_CASE(writes_with_all_that_there_is),
						 TEST_CASE(writes_to_several_shards)};

	return test_run(__FILE__, cases,
			getenv("DYNALITH_TEST_POSTGRESQL") ? sizeof(cases) / sizeof(cases[0]) : 0);
}
