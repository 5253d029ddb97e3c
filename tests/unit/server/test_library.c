#include "server/library/dynalith.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/crc32.h"
#include "tests/unit/test.h"

#define TABLE                                                                                      \
	"{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":[{"   \
	"\"AttributeName\":\"k\",\"AttributeType\":\"S\"}],"                                       \
	"\"KeySchema\":[{\"AttributeName\":\"k\",\"KeyType\":\"HASH\"}]}"

static char text[65536]; /* the last body */

/* The status; -1: the call was not done. */
static int keep(struct dynalith_answer *answer)
{
	int status = answer ? answer->status : -1;

	snprintf(text, sizeof(text), "%.*s", answer ? (int)answer->body_size : 0,
		 answer ? answer->body : "");
	dynalith_free(answer);
	return status;
}

static int call(struct dynalith *db, const char *operation, const char *body)
{
	return keep(dynalith_call(db, operation, body, strlen(body)));
}

static struct dynalith *open_with_table(void)
{
	struct dynalith *db = dynalith_open(NULL, NULL, NULL);

	CHECK(db && call(db, "CreateTable", TABLE) == 200);
	return db;
}

TEST(an_operation_is_answered_as_by_http)
{
	struct dynalith *db = open_with_table();
	const char *body =
		"{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"},\"n\":{\"N\":\"1.50\"}}}";
	struct dynalith_answer *answer = dynalith_call(db, "PutItem", body, strlen(body));

	CHECK(answer && answer->status == 200 && answer->body_size == 2 &&
	      memcmp(answer->body, "{}", 2) == 0);
	CHECK(answer->crc32 == crc32_of("{}", 2) && strlen(answer->request_id) == 52);
	CHECK(strcmp(answer->content_type, "application/x-amz-json-1.0") == 0);
	dynalith_free(answer);
	CHECK(call(db, "DynamoDB_20120810.GetItem",
		   "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"1\"}}}") == 200);
	CHECK(strcmp(text, "{\"Item\":{\"k\":{\"S\":\"1\"},\"n\":{\"N\":\"1.5\"}}}") == 0);
	CHECK(call(db, "GetItem", "{\"TableName\":\"tab\",\"Key\":{\"x\":{\"S\":\"1\"}}}") == 400 &&
	      strstr(text, "ValidationException"));
	CHECK(call(db, "ListStreams", "{}") == 200 && strstr(text, "Streams"));
	CHECK(call(db, "Nonsense", "{}") == 400 && strstr(text, "UnknownOperationException"));
	CHECK(call(db, "GetItem", "{") == 400 && strstr(text, "SerializationException"));
	dynalith_close(db);
}

TEST(instances_do_not_see_each_other)
{
	struct dynalith *one = open_with_table(), *two = dynalith_open("{}", NULL, NULL);

	CHECK(call(two, "ListTables", "{}") == 200 && strcmp(text, "{\"TableNames\":[]}") == 0);
	dynalith_close(one);
	CHECK(call(two, "CreateTable", TABLE) == 200);
	dynalith_close(two);
}

TEST(accounts_and_regions_are_of_the_request)
{
	struct dynalith *db = dynalith_open(NULL, NULL, NULL);
	struct dynalith_request request = {
		.size = sizeof(request),
		.target = "CreateTable",
		.access_key = "000000000007",
		.region = "eu-west-1",
		.body = TABLE,
		.body_size = strlen(TABLE),
	};

	CHECK(keep(dynalith_send(db, &request)) == 200 &&
	      strstr(text, "arn:aws:dynamodb:eu-west-1:000000000007:table/tab"));
	CHECK(call(db, "ListTables", "{}") == 200 && strcmp(text, "{\"TableNames\":[]}") == 0);
	dynalith_close(db);
}

TEST(control_turns_the_clock_and_sets_faults)
{
	struct dynalith *db = open_with_table();

	CHECK(call(db, "UpdateTimeToLive",
		   "{\"TableName\":\"tab\",\"TimeToLiveSpecification\":{\"Enabled\":true,"
		   "\"AttributeName\":\"e\"}}") == 200);
	CHECK(keep(dynalith_control(db, "POST", "clock",
				    "{\"set\":\"2030-01-01T00:00:00Z\",\"freeze\":true}")) == 200);
	CHECK(call(db, "PutItem",
		   "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"},\"e\":{\"N\":"
		   "\"1893456060\"}}}") == 200);
	CHECK(keep(dynalith_control(db, "POST", "clock", "{\"advance\":120}")) == 200);
	CHECK(call(db, "Scan", "{\"TableName\":\"tab\",\"ConsistentRead\":true}") == 200 &&
	      strstr(text, "\"Count\":0"));
	CHECK(keep(dynalith_control(db, "PUT", "faults?account=000000000000&region=us-east-1",
				    "{\"rules\":[{\"operation\":\"PutItem\",\"first\":1,\"error\":"
				    "\"ThrottlingException\"}]}")) == 200);
	CHECK(call(db, "PutItem", "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"}}}") ==
		      400 &&
	      strstr(text, "ThrottlingException"));
	CHECK(call(db, "PutItem", "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"}}}") == 200);
	CHECK(keep(dynalith_control(db, "GET", "nonsense", NULL)) == 404);
	CHECK(keep(dynalith_control(db, "GET", "events", NULL)) == 501);
	CHECK(keep(dynalith_control(db, "POST", "reset", NULL)) == 200 &&
	      call(db, "ListTables", "{}") == 200 && strcmp(text, "{\"TableNames\":[]}") == 0);
	dynalith_close(db);
}

/* Each is refused with its reason, and nothing is printed or ended. */
TEST(bad_options_are_an_error_with_a_reason)
{
	static const struct {
		const char *options, *reason;
	} cases[] = {
		{"nonsense", "options:1:1: is not JSON here: nonsense"},
		{"{\"troughput\":\"off\"}",
		 "options: unknown option troughput; did you mean throughput?"},
		{"{\"cache_mb\":\"many\"}", "options: cache_mb: wants a number, not many"},
		{"{\"--cache-mb\":0}", "options: cache_mb: wants a number from 1 to 65536, not 0"},
		{"{\"iam.mode\":\"maybe\"}",
		 "options: iam.mode: wants off|report|enforce, not maybe"},
		{"{\"db_path\":\"/nowhere/at/all.db\"}", "/nowhere/at/all.db"},
		{"{\"store\":\"mysql://x\"}", "--store: "},
		{"{\"init\":\"/nowhere.csv\"}", "--init: /nowhere.csv"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(dynalith_open(cases[i].options, NULL, NULL) == NULL);
		if (!strstr(dynalith_error(), cases[i].reason))
			printf("%s\n", dynalith_error());
		CHECK(strstr(dynalith_error(), cases[i].reason) != NULL);
	}
}

TEST(bad_arguments_are_an_error)
{
	struct dynalith *db = dynalith_open("{}", NULL, NULL);
	struct dynalith_request request = {.size = sizeof(request), .target = "ListTables"};

	CHECK(!dynalith_call(NULL, "ListTables", "{}", 2) &&
	      strstr(dynalith_error(), "instance is NULL"));
	CHECK(!dynalith_call(db, NULL, "{}", 2) && strstr(dynalith_error(), "operation is NULL"));
	CHECK(!dynalith_call(db, "ListTables", NULL, 2) && !dynalith_send(db, NULL) &&
	      !dynalith_control(db, NULL, "clock", NULL));
	CHECK(!dynalith_control(db, "GET", NULL, NULL) &&
	      dynalith_apply(db, NULL, NULL, NULL) == -1);
	request.header_count = 1;
	CHECK(!dynalith_send(db, &request));
	request = (struct dynalith_request){.size = 3};
	CHECK(!dynalith_send(db, &request) && strstr(dynalith_error(), "size"));
	CHECK(call(db, "ListTables", "") == 400);
	dynalith_free(NULL);
	dynalith_close(NULL);
	dynalith_close(db);
}

TEST(a_body_beyond_the_limit_is_refused)
{
	struct dynalith *db = dynalith_open("{\"body_limit_mb\":1}", NULL, NULL);
	size_t n = 1024 * 1024 + 1;
	char *body = malloc(n);

	memset(body, ' ', n);
	CHECK(keep(dynalith_call(db, "ListTables", body, n)) == 413);
	free(body);
	dynalith_close(db);
}

TEST(a_data_file_is_reopened_and_belongs_to_one_instance)
{
	char folder[] = "/tmp/dynalith-library-XXXXXX", options[256], name[256];
	static const char *const suffixes[] = {"", "-wal", "-shm"};

	CHECK(mkdtemp(folder) != NULL);
	snprintf(options, sizeof(options), "{\"db_path\":\"%s/a.db\"}", folder);
	struct dynalith *db = dynalith_open(options, NULL, NULL);
	CHECK(db && call(db, "CreateTable", TABLE) == 200 &&
	      call(db, "PutItem", "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"kept\"}}}") ==
		      200);
	CHECK(!dynalith_open(options, NULL, NULL) && strstr(dynalith_error(), "a.db"));
	dynalith_close(db);
	db = dynalith_open(options, NULL, NULL);
	CHECK(db && call(db, "Scan", "{\"TableName\":\"tab\"}") == 200 && strstr(text, "kept"));
	dynalith_close(db);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s/a.db%s", folder, suffixes[i]);
		unlink(name);
	}
	CHECK(rmdir(folder) == 0);
}

#define THREADS 6
#define ROUNDS 60

struct worker {
	struct dynalith *db;
	int failed;
};

static void *add(void *context)
{
	struct worker *worker = context;
	const char *body =
		"{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"sum\"}},\"UpdateExpression\":\"ADD "
		"n :1\",\"ExpressionAttributeValues\":{\":1\":{\"N\":\"1\"}}}";

	for (int i = 0; i < ROUNDS; i++) {
		struct dynalith_answer *answer =
			dynalith_call(worker->db, "UpdateItem", body, strlen(body));

		worker->failed += !answer || answer->status != 200;
		dynalith_free(answer);
	}
	return NULL;
}

TEST(threads_call_at_once)
{
	struct dynalith *dbs[] = {open_with_table(), open_with_table()};
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){dbs[i % 2], 0};
		CHECK(pthread_create(&threads[i], NULL, add, &workers[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(workers[i].failed == 0);
	}
	for (int i = 0; i < 2; i++) {
		CHECK(call(dbs[i], "GetItem",
			   "{\"TableName\":\"tab\",\"Key\":{\"k\":{\"S\":\"sum\"}},"
			   "\"ConsistentRead\":true}") == 200 &&
		      strstr(text, "\"N\":\"180\""));
		dynalith_close(dbs[i]);
	}
}

struct held {
	struct dynalith *db;
	atomic_int status;
};

static void *put_held(void *context)
{
	struct held *held = context;
	const char *body = "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"}}}";
	struct dynalith_answer *answer = dynalith_call(held->db, "PutItem", body, strlen(body));

	atomic_store(&held->status, answer ? answer->status : -1);
	dynalith_free(answer);
	return NULL;
}

/* For five minutes, but for the end of the instance, which the answer outlives. */
static void close_while_it_waits(const char *rules, int status)
{
	struct dynalith *db = open_with_table();
	struct held held = {.db = db, .status = 0};
	bool is_set = keep(dynalith_control(db, "PUT", "faults", rules)) == 200;
	pthread_t thread;

	CHECK(is_set && pthread_create(&thread, NULL, put_held, &held) == 0);
	while (is_set && !strstr(text, "\"fired\":1"))
		is_set = keep(dynalith_control(db, "GET", "faults", NULL)) == 200;
	dynalith_close(db);
	pthread_join(thread, NULL);
	CHECK_INT(atomic_load(&held.status), status);
}

TEST(close_ends_calls_that_wait)
{
	close_while_it_waits("{\"rules\":[{\"operation\":\"PutItem\",\"latency\":300000}]}", 200);
	close_while_it_waits("{\"rules\":[{\"operation\":\"PutItem\",\"hold\":300000}]}", 503);
}

TEST(a_fault_rule_closes_the_connection_that_there_is_not)
{
	struct dynalith *db = open_with_table();

	CHECK(keep(dynalith_control(db, "PUT", "faults",
				    "{\"rules\":[{\"operation\":\"ListTables\",\"first\":1,"
				    "\"close\":\"after\"}]}")) == 200);
	CHECK(call(db, "ListTables", "{}") == 0 && call(db, "ListTables", "{}") == 200);
	dynalith_close(db);
}

static void count(void *context, int level, const char *line, size_t size)
{
	char *kept = context;

	CHECK(level >= 0 && level <= 3 && size > 0 && line[size - 1] == '}');
	snprintf(kept + strlen(kept), 4096 - strlen(kept), "%.*s\n", (int)size, line);
}

TEST(lines_of_the_log_go_to_the_callback)
{
	char kept[4096] = "";
	struct dynalith *db = dynalith_open("{\"log.level\":\"debug\"}", count, kept);

	CHECK(call(db, "ListTables", "{}") == 200);
	dynalith_close(db);
	CHECK(strstr(kept, "\"operation\":\"ListTables\"") != NULL);
}

/* The child answers by its exit status. */
TEST(the_child_of_a_fork_is_refused)
{
	struct dynalith *db = open_with_table();
	int status = 0;

	pid_t child = fork();
	if (child == 0) {
		bool is_refused = !dynalith_call(db, "ListTables", "{}", 2) &&
				  strstr(dynalith_error(), "fork");

		dynalith_close(db);
		_exit(is_refused ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(call(db, "ListTables", "{}") == 200);
	dynalith_close(db);
}

TEST(signals_of_the_program_stay_as_they_are)
{
	static const int numbers[] = {SIGPIPE, SIGSEGV, SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGXFSZ};
	struct sigaction before[7], now;
	sigset_t mask_before, mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	for (int i = 0; i < 7; i++)
		sigaction(numbers[i], NULL, &before[i]);
	struct dynalith *db = open_with_table();
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int i = 0; i < 7; i++) {
		sigaction(numbers[i], NULL, &now);
		CHECK(now.sa_handler == before[i].sa_handler &&
		      sigismember(&mask, numbers[i]) == sigismember(&mask_before, numbers[i]));
	}
	dynalith_close(db);
}

TEST(apply_fills_the_namespace)
{
	char path[] = "/tmp/dynalith-library-XXXXXX.json";
	int fd = mkstemps(path, 5);
	const char *content = TABLE;
	struct dynalith *db = dynalith_open(NULL, NULL, NULL);

	CHECK(fd >= 0 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
	close(fd);
	CHECK(dynalith_apply(db, path, NULL, NULL) == 0 && call(db, "ListTables", "{}") == 200 &&
	      strcmp(text, "{\"TableNames\":[\"tab\"]}") == 0);
	CHECK(dynalith_apply(db, "/nowhere.json", NULL, NULL) == -1 &&
	      strstr(dynalith_error(), "/nowhere.json"));
	unlink(path);
	dynalith_close(db);
}

/* A million values take 300 MB or so, a template that explodes any memory: the host gets an error
 * and goes on. */
TEST(what_takes_too_much_is_an_error)
{
	struct dynalith *db = dynalith_open("{\"memory_limit_mb\":64}", NULL, NULL);
	char path[] = "/tmp/dynalith-library-XXXXXX.json";
	int fd = mkstemps(path, 5);
	const size_t most = (size_t)14 << 20;
	char *body = malloc(most);
	size_t n = (size_t)snprintf(
		body, most, "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"},\"l\":{\"L\":[");

	CHECK(db && call(db, "CreateTable", TABLE) == 200);
	while (n + 20 < most) {
		memcpy(body + n, "{\"S\":\"\"},", 9);
		n += 9;
	}
	n += (size_t)snprintf(body + n, most - n, "{\"S\":\"\"}]}}}");
	CHECK(keep(dynalith_call(db, "PutItem", body, n)) == 503 &&
	      strstr(text, "ServiceUnavailable"));
	n = (size_t)snprintf(body, most, "{\"Parameters\":{");
	for (int i = 0; i < 28; i++)
		n += (size_t)snprintf(body + n, most - n,
				      "\"N%d\":{\"Default\":{\"Fn::Sub\":\"${N%d}${N%d}\"}},", i,
				      i + 1, i + 1);
	n += (size_t)snprintf(body + n, most - n,
			      "\"N28\":{\"Default\":\"x\"}},\"Resources\":{\"T\":{\"Type\":\"AWS::"
			      "DynamoDB::Table\",\"Properties\":{\"TableName\":"
			      "{\"Ref\":\"N0\"}}}}}");
	CHECK(fd >= 0 && write(fd, body, n) == (ssize_t)n);
	close(fd);
	CHECK(dynalith_apply(db, path, NULL, NULL) == -1 &&
	      strstr(dynalith_error(), "values of more than 64 MB"));
	unlink(path);
	free(body);
	CHECK(call(db, "PutItem", "{\"TableName\":\"tab\",\"Item\":{\"k\":{\"S\":\"1\"}}}") == 200);
	dynalith_close(db);
}

TEST_MAIN(TEST_CASE(an_operation_is_answered_as_by_http),
	  TEST_CASE(instances_do_not_see_each_other),
	  TEST_CASE(accounts_and_regions_are_of_the_request),
	  TEST_CASE(control_turns_the_clock_and_sets_faults),
	  TEST_CASE(bad_options_are_an_error_with_a_reason), TEST_CASE(bad_arguments_are_an_error),
	  TEST_CASE(a_body_beyond_the_limit_is_refused),
	  TEST_CASE(a_data_file_is_reopened_and_belongs_to_one_instance),
	  TEST_CASE(threads_call_at_once), TEST_CASE(close_ends_calls_that_wait),
	  TEST_CASE(a_fault_rule_closes_the_connection_that_there_is_not),
	  TEST_CASE(lines_of_the_log_go_to_the_callback), TEST_CASE(the_child_of_a_fork_is_refused),
	  TEST_CASE(signals_of_the_program_stay_as_they_are), TEST_CASE(apply_fills_the_namespace),
	  TEST_CASE(what_takes_too_much_is_an_error))
