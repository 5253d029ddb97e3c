/* Fault rules over the API below HTTP: what matches, what fires, what it does, and that neither
 * time nor threads matter. */
#include <pthread.h>

#include "protocol/faults/faults.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

static struct arena *arena;
static struct service_fixture fixture;
static const struct ns home = {STR_INIT("000000000000"), STR_INIT("us-east-1")};

static struct op_response ask(const char *op, const char *body)
{
	return service_fixture_call(&fixture, arena, str_of(op), str_of(body));
}

/* Whether the rules are taken; else *message is the error's. */
static bool set(const char *rules, struct str *message)
{
	struct err err = err_in(arena);
	enum code code = faults_set(fixture.service.faults, home,
				    str_printf(arena, "{\"rules\":[%s]}", rules), &err);

	if (message)
		*message = err.message;
	return code == OK;
}

static struct str shown(void)
{
	return faults_describe(fixture.service.faults, home, arena);
}

static bool says(struct op_response response, const char *part)
{
	return str_contains(response.body, str_of(part));
}

static struct op_response put(const char *pk, const char *sk)
{
	return ask("PutItem", str_printf(arena,
					 "{\"TableName\":\"tab\",\"Item\":{\"pk\":{\"S\":\"%s\"},"
					 "\"sk\":{\"S\":\"%s\"},\"n\":{\"N\":\"7\"}}}",
					 pk, sk)
				      .p);
}

static struct op_response get(const char *pk)
{
	return ask("GetItem", str_printf(arena,
					 "{\"TableName\":\"tab\",\"Key\":{\"pk\":{\"S\":\"%s\"},"
					 "\"sk\":{\"S\":\"1\"}}}",
					 pk)
				      .p);
}

TEST(rules_fire_when_they_say)
{
	static const struct {
		const char *rule, *expected; /* x: it fired */
	} cases[] = {
		{"\"nth\":3", "..x...."},         {"\"every\":3", "..x..x."},
		{"\"first\":2", "xx....."},       {"\"probability\":1,\"seed\":5", "xxxxxxx"},
		{"\"table\":\"tab\"", "xxxxxxx"}, {"\"table\":\"other\"", "......."},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(set(
			str_printf(
				arena,
				"{\"operation\":\"GetItem\",\"error\":\"InternalServerError\",%s}",
				cases[i].rule)
				.p,
			NULL));
		for (size_t k = 0; k < 7; k++)
			CHECK_INT(get("a").status, cases[i].expected[k] == 'x' ? 500 : 200);
		CHECK_INT(put("a", "1").status, 200); /* another operation */
	}
}

TEST(matches_are_shown)
{
	CHECK(set("{\"operation\":\"GetItem\",\"first\":1,\"error\":\"TransactionConflict\"}",
		  NULL));
	CHECK(says(get("a"), "TransactionConflictException"));
	get("a");
	CHECK(str_eq(shown(), STR("{\"rules\":[{\"operation\":\"GetItem\",\"first\":1,\"error\":"
				  "\"TransactionConflict\",\"matched\":2,\"fired\":1}]}")));
	faults_clear(fixture.service.faults, &home);
	CHECK(str_eq(shown(), STR("{\"rules\":[]}")));
	CHECK(!faults_are_set(fixture.service.faults));
}

TEST(the_first_rule_that_fires_acts)
{
	CHECK(set("{\"operation\":\"GetItem\",\"first\":2,\"error\":\"InternalServerError\"},{"
		  "\"operation\":\"GetItem\",\"first\":1,\"error\":\"LimitExceeded\"}",
		  NULL));
	CHECK(says(get("a"), "InternalServerError"));
	CHECK(says(get("a"), "InternalServerError"));
	CHECK(says(get("a"), "LimitExceededException"));
	CHECK_INT(get("a").status, 200);
}

TEST(rules_match_keys_and_conditions)
{
	CHECK(set("{\"key\":\"a\",\"error\":\"InternalServerError\"}", NULL));
	CHECK_INT(get("a").status, 500);
	CHECK_INT(put("a", "1").status, 500);
	CHECK_INT(get("ab").status, 200);
	CHECK_INT(ask("Query", "{\"TableName\":\"tab\",\"KeyConditionExpression\":\"pk = "
			       ":p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"}}}")
			  .status,
		  500);
	CHECK_INT(ask("ExecuteStatement", "{\"Statement\":\"SELECT * FROM tab WHERE pk = 'a'\"}")
			  .status,
		  500);
	CHECK_INT(ask("ExecuteStatement", "{\"Statement\":\"SELECT * FROM tab WHERE pk = 'b'\"}")
			  .status,
		  200);
	CHECK_INT(ask("Scan", "{\"TableName\":\"tab\"}").status, 200);
	CHECK(set("{\"key\":{\"prefix\":\"a\"},\"error\":\"InternalServerError\"}", NULL));
	CHECK_INT(get("ab").status, 500);
	CHECK_INT(get("b").status, 200);
	CHECK(set("{\"condition\":\"#n > "
		  ":n\",\"names\":{\"#n\":\"n\"},\"values\":{\":n\":{\"N\":\"5\"}},\"error\":"
		  "\"InternalServerError\"}",
		  NULL));
	CHECK_INT(put("b", "1").status, 500);
	CHECK_INT(get("b").status, 200); /* its key has no n */
	CHECK(set("{\"index\":\"by-sk\",\"error\":\"InternalServerError\"}", NULL));
	CHECK_INT(ask("Scan", "{\"TableName\":\"tab\",\"IndexName\":\"by-sk\"}").status, 500);
	CHECK_INT(ask("Scan", "{\"TableName\":\"tab\"}").status, 200);
}

TEST(requests_that_are_wrong_come_before_rules)
{
	CHECK(set("{\"error\":\"InternalServerError\"}", NULL));
	CHECK_INT(ask("GetItem", "{\"TableName\":\"tab\",\"Key\":{\"pk\":{\"S\":\"a\"}}}").status,
		  400);
	CHECK_INT(ask("GetItem", "{\"TableName\":\"none\",\"Key\":{\"pk\":{\"S\":\"a\"}}}").status,
		  400);
	CHECK(str_contains(shown(), STR("\"matched\":0")));
	CHECK_INT(ask("ListTables", "{}").status, 500);
	CHECK_INT(ask("DescribeTable", "{\"TableName\":\"tab\"}").status, 500);
}

TEST(the_log_knows_what_is_a_fault)
{
	CHECK(set("{\"operation\":\"GetItem\",\"error\":\"InternalServerError\"}", NULL));
	struct op_response answer = get("a");
	CHECK(says(answer, "\"message\":\"Internal server error\""));
	CHECK(str_contains(answer.problem, STR("fault rule")));
}

TEST(throttling_tells_its_reasons)
{
	CHECK(set("{\"operation\":[\"PutItem\",\"Query\"],\"error\":"
		  "\"ProvisionedThroughputExceeded\"}",
		  NULL));
	CHECK(says(put("a", "1"),
		   "\"ThrottlingReasons\":[{\"reason\":\"TableWriteProvisionedThroughputExceeded\","
		   "\"resource\":\"arn:aws:dynamodb:us-east-1:000000000000:table/tab\"}]"));
	CHECK(says(ask("Query", "{\"TableName\":\"tab\",\"IndexName\":\"by-sk\","
				"\"KeyConditionExpression\":\"sk = :p\","
				"\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"}}}"),
		   "\"reason\":\"IndexReadProvisionedThroughputExceeded\",\"resource\":\"arn:aws:"
		   "dynamodb:us-east-1:000000000000:table/tab/index/by-sk\""));
	CHECK(set("{\"operation\":\"PutItem\",\"error\":{\"name\":\"ThrottlingException\","
		  "\"reason\":\"MaxOnDemandThroughputExceeded\"}}",
		  NULL));
	CHECK(says(
		put("a", "1"),
		"Throughput exceeds the maximum OnDemandThroughput configured on table or index"));
	CHECK(says(
		put("a", "1"),
		"\"throttlingReasons\":[{\"reason\":\"TableWriteMaxOnDemandThroughputExceeded\""));
}

TEST(batches_leave_members_out)
{
	const char *write =
		"{\"RequestItems\":{\"tab\":[{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"w1\"},"
		"\"sk\":{\"S\":\"1\"}}}},"
		"{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"w2\"},\"sk\":{\"S\":\"1\"}}}}]}}";

	CHECK(set("{\"operation\":\"BatchWriteItem\",\"first\":1,\"unprocessed\":1}", NULL));
	CHECK(says(ask("BatchWriteItem", write),
		   "\"UnprocessedItems\":{\"tab\":[{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"w1\"}"
		   ",\"sk\":{\"S\":\"1\"}}}}]}"));
	CHECK(!says(get("w1"), "Item"));
	CHECK(says(get("w2"), "Item"));
	CHECK(says(ask("BatchWriteItem", write), "\"UnprocessedItems\":{}"));
	CHECK(set("{\"operation\":\"BatchGetItem\",\"first\":1,\"key\":\"w2\",\"unprocessed\":"
		  "\"matching\"}",
		  NULL));
	struct op_response answer =
		ask("BatchGetItem", "{\"RequestItems\":{\"tab\":{\"Keys\":[{\"pk\":{\"S\":\"w2\"},"
				    "\"sk\":{\"S\":\"1\"}},"
				    "{\"pk\":{\"S\":\"w1\"},\"sk\":{\"S\":\"1\"}}]}}}");
	CHECK(says(answer,
		   "\"Responses\":{\"tab\":[{\"pk\":{\"S\":\"w1\"},\"sk\":{\"S\":\"1\"}}]}"));
	CHECK(says(answer, "\"UnprocessedKeys\":{\"tab\":{\"Keys\":[{\"pk\":{\"S\":\"w2\"},\"sk\":{"
			   "\"S\":\"1\"}}]}}"));
}

TEST(transactions_are_canceled)
{
	const char *body = "{\"TransactItems\":[{\"Put\":{\"TableName\":\"tab\",\"Item\":{\"pk\":{"
			   "\"S\":\"t1\"},\"sk\":{\"S\":\"1\"}}}},"
			   "{\"Put\":{\"TableName\":\"tab\",\"Item\":{\"pk\":{\"S\":\"t2\"},\"sk\":"
			   "{\"S\":\"1\"}}}}]}";

	CHECK(set("{\"cancel\":{\"reason\":\"TransactionConflict\",\"members\":[1]},\"first\":1}",
		  NULL));
	struct op_response answer = ask("TransactWriteItems", body);
	CHECK(says(answer, "[None, TransactionConflict]"));
	CHECK(says(answer,
		   "\"CancellationReasons\":[{\"Code\":\"None\"},{\"Code\":\"TransactionConflict\","
		   "\"Message\":\"Transaction is ongoing for the item\"}]"));
	CHECK(!says(get("t1"), "Item"));
	CHECK_INT(ask("TransactWriteItems", body).status, 200);
}

/* All rows of a partition by pages, with the number of pages and of empty ones. */
static size_t read_all(const char *parameters, unsigned *pages, unsigned *empty)
{
	struct str key = STR("");
	size_t rows = 0;

	*pages = *empty = 0;
	do {
		struct op_response answer = ask(
			str_contains(str_of(parameters), STR("KeyCondition")) ? "Query" : "Scan",
			str_printf(arena, "{\"TableName\":\"pages\",%s" STR_FMT "}", parameters,
				   STR_ARG(key))
				.p);
		const char *count = strstr(answer.body.p, "\"Count\":"),
			   *last = strstr(str_copy(arena, answer.body).p, "\"LastEvaluatedKey\":");

		CHECK_INT(answer.status, 200);
		if (answer.status != 200 || !count)
			break;
		unsigned long n = strtoul(count + 8, NULL, 10);
		rows += n;
		++*pages;
		*empty += n == 0;
		key = last ? str_printf(arena, ",\"ExclusiveStartKey\":%.*s",
					(int)(strlen(last) - 20), last + 19)
			   : STR_ABSENT;
	} while (str_is_set(key) && *pages < 50);
	return rows;
}

TEST(pages_are_short_or_empty_and_lose_nothing)
{
	static const char *const reads[] = {
		"\"KeyConditionExpression\":\"pk = "
		":p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"p\"}}",
		"\"KeyConditionExpression\":\"pk = "
		":p\",\"ScanIndexForward\":false,\"ExpressionAttributeValues\":{\":p\":{\"S\":"
		"\"p\"}}",
		"\"IndexName\":\"by-g\",\"KeyConditionExpression\":\"g = "
		":p\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"g\"}}",
		"\"Select\":\"ALL_ATTRIBUTES\"",
		"\"IndexName\":\"by-g\"",
	};
	unsigned pages, empty;

	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		CHECK(set("{\"first\":2,\"page\":2}", NULL));
		CHECK_INT(read_all(reads[i], &pages, &empty), 7);
		CHECK_INT(pages, 3);
		CHECK(set("{\"every\":2,\"page\":0},{\"page\":3}", NULL));
		CHECK_INT(read_all(reads[i], &pages, &empty), 7);
		CHECK(empty >= 1);
		CHECK(set("{\"first\":1,\"page\":0}", NULL));
		CHECK_INT(read_all(reads[i], &pages, &empty), 7);
		CHECK_INT(empty, 1);
		CHECK_INT(pages, 2);
	}
}

TEST(answers_are_marked)
{
	CHECK(set("{\"operation\":\"GetItem\",\"latency\":25}", NULL));
	CHECK_INT(get("a").fault.delay_ms, 25);
	CHECK(set("{\"operation\":\"PutItem\",\"close\":\"before\"}", NULL));
	CHECK(put("closed", "1").fault.is_dropped);
	CHECK(!says(get("closed"), "Item"));
	CHECK(set("{\"operation\":\"PutItem\",\"close\":\"after\"}", NULL));
	CHECK(put("closed", "1").fault.is_dropped);
	CHECK(says(get("closed"), "Item"));
	CHECK(set("{\"operation\":\"GetItem\",\"crc\":\"wrong\",\"latency\":{\"uniform\":[5,9]}}",
		  NULL));
	struct fault_reply reply = get("a").fault;
	CHECK(reply.is_crc_wrong && reply.delay_ms >= 5 && reply.delay_ms <= 9);
	CHECK(set("{\"operation\":\"GetItem\",\"trickle\":{\"bytes\":10,\"ms\":20}}", NULL));
	CHECK_INT(get("a").fault.piece_bytes, 10);
	CHECK_INT(get("a").fault.piece_ms, 20);
	faults_clear(fixture.service.faults, NULL);
	CHECK_INT(get("a").fault.piece_bytes, 0);
}

TEST(answers_name_the_rule_that_acted)
{
	CHECK(set("{\"operation\":\"PutItem\",\"latency\":0},"
		  "{\"operation\":\"GetItem\",\"first\":1,\"error\":\"InternalServerError\"}",
		  NULL));
	CHECK_INT(get("a").fault.rule, 2);
	CHECK_INT(get("a").fault.rule, 0); /* its turn is over */
	CHECK_INT(put("a", "1").fault.rule, 1);
}

/* Of 4000 draws. The shares beyond 1 and 2.3 means are 1/e and a tenth. */
TEST(latencies_spread_exponentially)
{
	enum { DRAWS = 4000, MEAN = 10000 };
	double sum = 0;
	int beyond_mean = 0, beyond_most = 0;

	CHECK(set("{\"operation\":\"GetItem\",\"latency\":{\"exponential\":10000},\"seed\":7,"
		  "\"probability\":1}",
		  NULL));
	for (int i = 0; i < DRAWS; i++) {
		double ms = (double)get("a").fault.delay_ms;

		sum += ms;
		beyond_mean += ms > MEAN;
		beyond_most += ms > 2.302585 * MEAN;
	}
	CHECK(sum > 0.95 * MEAN * DRAWS && sum < 1.05 * MEAN * DRAWS);
	CHECK(beyond_mean > 0.34 * DRAWS && beyond_mean < 0.40 * DRAWS);
	CHECK(beyond_most > 0.08 * DRAWS && beyond_most < 0.12 * DRAWS);
	faults_clear(fixture.service.faults, NULL);
}

TEST(bad_rules_change_nothing)
{
	static const char *const rules[][2] = {
		{"{\"tabel\":\"tab\",\"error\":\"InternalServerError\"}", "there is no 'tabel'"},
		{"{\"operation\":\"PutThing\",\"error\":\"InternalServerError\"}",
		 "no operation 'PutThing'"},
		{"{\"operation\":\"PutItem\"}", "says nothing that it does"},
		{"{\"error\":\"Nonsense\"}", "no error 'Nonsense'"},
		{"{\"error\":\"Transaction\"}", "no error 'Transaction'"},
		{"{\"error\":\"InternalServerError\",\"page\":1}", "does two things"},
		{"{\"error\":\"InternalServerError\",\"nth\":1,\"every\":2}", "exclude each other"},
		{"{\"error\":\"InternalServerError\",\"nth\":0}", "a whole number from 1 on"},
		{"{\"error\":\"InternalServerError\",\"probability\":1.5}", "above 0"},
		{"{\"error\":\"InternalServerError\",\"seed\":1}", "means nothing without"},
		{"{\"error\":\"InternalServerError\",\"per\":\"key\"}", "means nothing without"},
		{"{\"error\":\"InternalServerError\",\"names\":{\"#n\":\"n\"}}",
		 "means nothing without"},
		{"{\"operation\":\"ListTables\",\"table\":\"tab\",\"error\":"
		 "\"InternalServerError\"}",
		 "can never match"},
		{"{\"operation\":\"PutItem\",\"index\":\"by-sk\",\"error\":"
		 "\"InternalServerError\"}",
		 "can never match"},
		{"{\"operation\":\"Scan\",\"key\":\"a\",\"error\":\"InternalServerError\"}",
		 "can never match"},
		{"{\"operation\":\"UpdateItem\",\"unprocessed\":1}", "can never match"},
		{"{\"operation\":\"PutItem\",\"page\":1}", "can never match"},
		{"{\"operation\":\"Query\",\"cancel\":\"TransactionConflict\"}", "can never match"},
		{"{\"operation\":\"PutItem\",\"reason\":\"AccountLimitExceeded\",\"close\":"
		 "\"before\"}",
		 "'reason' means nothing without 'error'"},
		{"{\"operation\":\"PutItem\",\"message\":\"x\",\"latency\":5}",
		 "'message' means nothing without 'error'"},
		{"{\"error\":\"ThrottlingException\",\"reason\":\"Mood\"}",
		 "no reason of throttling"},
		{"{\"cancel\":\"Whatever\"}", "no reason for which"},
		{"{\"condition\":\"n > \",\"error\":\"InternalServerError\"}",
		 "Invalid ConditionExpression"},
		{"{\"condition\":\"n > :n\",\"error\":\"InternalServerError\"}",
		 "Invalid ConditionExpression"},
		{"{\"key\":{\"BOOL\":true},\"error\":\"InternalServerError\"}", "'key' wants"},
		{"{\"error\":{\"name\":\"InternalServerError\",\"message\":\"mine\"}}",
		 "always AWS's own"},
		{"{\"error\":{\"name\":\"LimitExceeded\",\"reason\":\"AccountLimitExceeded\"}}",
		 "only errors of throttling"},
		{"{\"error\":{\"name\":\"ThrottlingException\",\"reason\":\"Mood\"}}",
		 "no reason of throttling"},
		{"{\"error\":\"InternalServerError\"},{\"operation\":\"PutItem\",\"latency\":5}",
		 "rule 1 always fires before it"},
		{"{\"operation\":\"PutItem\",\"deliver\":\"twice\"}", "has no 'operation'"},
		{"{\"deliver\":\"twice\"},{\"table\":\"tab\",\"deliver\":\"reversed\"}",
		 "rule 1 always fires before it"},
		{"{\"latency\":{\"uniform\":[9,5]}}", "'latency' wants"},
		{"{\"error\":\"InternalServerError\",\"error\":\"LimitExceeded\"}",
		 "'error' stands twice"},
		{"7", "a rule is a JSON object"},
	};
	struct str message;

	CHECK(set("{\"operation\":\"GetItem\",\"error\":\"InternalServerError\"}", NULL));
	struct str before = shown();
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		bool is_taken = set(rules[i][0], &message);

		if (is_taken || !str_contains(message, str_of(rules[i][1])))
			printf("%s: " STR_FMT "\n", rules[i][0], STR_ARG(message));
		CHECK(!is_taken && str_contains(message, str_of(rules[i][1])));
		CHECK(str_eq(shown(), before));
	}
	faults_clear(fixture.service.faults, NULL);
}

#define KEYS 16
#define ROUNDS 40

struct worker {
	unsigned from, to; /* keys */
	bool (*failed)[ROUNDS];
};

static void *work(void *context)
{
	struct worker *worker = context;
	struct arena *own = arena_new(0);

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned key = worker->from; key < worker->to; key++) {
			struct str body = str_printf(own,
						     "{\"TableName\":\"tab\",\"Key\":{\"pk\":{"
						     "\"S\":\"k%u\"},\"sk\":{\"S\":\"1\"}}}",
						     key);

			worker->failed[key][round] =
				service_fixture_call(&fixture, own, STR("GetItem"), body).status !=
				200;
		}
		arena_reset(own);
	}
	arena_free(own);
	return NULL;
}

static void run_threads(unsigned threads, bool (*failed)[ROUNDS])
{
	struct worker workers[8];
	pthread_t ids[8];

	CHECK(set("{\"operation\":\"GetItem\",\"probability\":0.3,\"seed\":42,\"error\":"
		  "\"InternalServerError\"},"
		  "{\"operation\":\"GetItem\",\"every\":7,\"per\":\"key\",\"error\":"
		  "\"LimitExceeded\"}",
		  NULL));
	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){i * KEYS / threads, (i + 1) * KEYS / threads, failed};
		pthread_create(&ids[i], NULL, work, &workers[i]);
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
}

TEST(threads_change_nothing)
{
	static bool one[KEYS][ROUNDS], eight[KEYS][ROUNDS];
	unsigned n = 0;

	run_threads(1, one);
	struct str alone = shown();
	run_threads(8, eight);
	CHECK(memcmp(one, eight, sizeof(one)) == 0);
	CHECK(str_eq(alone, shown()));
	for (unsigned i = 0; i < KEYS; i++)
		for (unsigned k = 0; k < ROUNDS; k++)
			n += one[i][k];
	CHECK_INT(n, 251); /* pinned: the same on any machine */
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(rules_fire_when_they_say),
		TEST_CASE(matches_are_shown),
		TEST_CASE(the_first_rule_that_fires_acts),
		TEST_CASE(rules_match_keys_and_conditions),
		TEST_CASE(requests_that_are_wrong_come_before_rules),
		TEST_CASE(throttling_tells_its_reasons),
		TEST_CASE(the_log_knows_what_is_a_fault),
		TEST_CASE(batches_leave_members_out),
		TEST_CASE(transactions_are_canceled),
		TEST_CASE(pages_are_short_or_empty_and_lose_nothing),
		TEST_CASE(answers_are_marked),
		TEST_CASE(answers_name_the_rule_that_acted),
		TEST_CASE(latencies_spread_exponentially),
		TEST_CASE(bad_rules_change_nothing),
		TEST_CASE(threads_change_nothing),
	};

	arena = arena_new(1 << 20);
	service_fixture_open(&fixture, arena);
	fixture.service.faults = faults_new(false);
	ask("CreateTable",
	    "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"
	    "\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
	    "{\"AttributeName\":\"sk\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
	    "\"pk\",\"KeyType\":\"HASH\"},"
	    "{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],\"GlobalSecondaryIndexes\":[{"
	    "\"IndexName\":\"by-sk\",\"KeySchema\":["
	    "{\"AttributeName\":\"sk\",\"KeyType\":\"HASH\"}],\"Projection\":{\"ProjectionType\":"
	    "\"ALL\"}}]}");
	ask("CreateTable",
	    "{\"TableName\":\"pages\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
	    "[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
	    "{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"},{\"AttributeName\":\"g\","
	    "\"AttributeType\":\"S\"}],\"KeySchema\":["
	    "{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":"
	    "\"RANGE\"}],\"GlobalSecondaryIndexes\":["
	    "{\"IndexName\":\"by-g\",\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}]"
	    ",\"Projection\":{\"ProjectionType\":\"ALL\"}}]}");
	for (int i = 0; i < 7; i++)
		ask("PutItem", str_printf(arena,
					  "{\"TableName\":\"pages\",\"Item\":{\"pk\":{\"S\":\"p\"},"
					  "\"sk\":{\"N\":\"%d\"},\"g\":{\"S\":\"g\"}}}",
					  i)
				       .p);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	faults_free(fixture.service.faults);
	service_fixture_close(&fixture);
	arena_free(arena);
	return status;
}
