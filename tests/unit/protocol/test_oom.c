/*
 * Allocations that fail while a request runs, for each operation of the API: make test-oom. Each is
 * tried in a child of a process that has a store in memory with all that operations ask for. The
 * child ends with one line, or its answer is the right one, 500 or 503 and whole; what clients see
 * is what was before or what should be afterwards; and the same request is served at once, so that
 * no lock and no turn was left behind.
 */
#include "protocol/wire/json.h"
#include "tests/unit/exhaust.h"
#include "tests/unit/protocol/world.h"

#include <sqlite3.h>

#define ALLOCATIONS_MAX 400
#define STRIDE                                                                                     \
	(4 * TEST_SLOWNESS) /* between those that fail, but for make test-oom; each operation      \
			       begins at another place */
#define SEEN_MAX ((size_t)1 << 20)
#define FAILURES_MAX 10 /* told before a test gives up */
#define ARN "arn:aws:dynamodb:us-east-1:000000000000:"
#define TAB "'TableName':'tab'"
#define TAB_ARN "'ResourceArn':'" ARN "table/tab'"
#define POLICY                                                                                     \
	"{\\\"Version\\\":\\\"2012-10-17\\\",\\\"Statement\\\":[{\\\"Effect\\\":\\\"Allow\\\","    \
	"\\\"Principal\\\":{\\\"AWS\\\":\\\"000000000000\\\"},"                                    \
	"\\\"Action\\\":\\\"dynamodb:GetItem\\\",\\\"Resource\\\":\\\"" ARN "table/tab\\\"}]}"
#define TARGET                                                                                     \
	"'ServiceNamespace':'dynamodb','ResourceId':'table/glob','ScalableDimension':"             \
	"'dynamodb:table:WriteCapacityUnits'"
#define SCALING_POLICY                                                                             \
	"'PolicyName':'p','PolicyType':'TargetTrackingScaling',"                                   \
	"'TargetTrackingScalingPolicyConfiguration':{'TargetValue':70,"                            \
	"'PredefinedMetricSpecification':{'PredefinedMetricType':"                                 \
	"'DynamoDBWriteCapacityUtilization'}}"
#define SCALING                                                                                    \
	"{'MinimumUnits':1,'MaximumUnits':10,'ScalingPolicyUpdate':{'"                             \
	"TargetTrackingScalingPolicyConfiguration':{'TargetValue':70}}}"
#define KINESIS "'StreamArn':'arn:aws:kinesis:us-east-1:000000000000:stream/s'"
#define BULK                                                                                       \
	"'TableName':'vec','InputS3Configuration':{'S3Bucket':'bucket','InputFormat':'DYNAMODB_"   \
	"JSON'},'OutputS3Configuration':{'S3Bucket':'bucket',"                                     \
	"'OutputType':['ERROR']}"
#define IMPORT(name)                                                                               \
	"{'S3BucketSource':{'S3Bucket':'bucket'},'InputFormat':'DYNAMODB_JSON','"                  \
	"TableCreationParameters':{'TableName':'" name "','BillingMode':"                          \
	"'PAY_PER_REQUEST','AttributeDefinitions':[{'AttributeName':'pk','AttributeType':'S'}],'"  \
	"KeySchema':[{'AttributeName':'pk','KeyType':'HASH'}]}}"

/* Members of answers that later requests name: $ and a letter stand for their values. */
static struct mention {
	char letter;
	const char *member;
	char value[400];
} marks[] = {
	{'B', "\"BackupArn\":\"", ""},        {'S', "\"LatestStreamArn\":\"", ""},
	{'H', "\"ShardId\":\"", ""},          {'I', "\"ShardIterator\":\"", ""},
	{'E', "\"ExportArn\":\"", ""},        {'M', "\"ImportArn\":\"", ""},
	{'K', "\"BulkOperationArn\":\"", ""},
};

/* Behind the beginning of every world. */
static const struct world_request beginning[] = {
	{"UpdateContinuousBackups",
	 "{" TAB ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':true}}"},
	{"CreateBackup", "{" TAB ",'BackupName':'kept'}"},
	{"PutResourcePolicy", "{" TAB_ARN ",'Policy':'" POLICY "'}"},
	{"TagResource", "{" TAB_ARN ",'Tags':[{'Key':'a','Value':'b'}]}"},
	{"UpdateContributorInsights", "{" TAB ",'ContributorInsightsAction':'ENABLE'}"},
	{"EnableKinesisStreamingDestination", "{" TAB "," KINESIS "}"},
	{"DescribeTable", "{" TAB "}"},
	{"DescribeStream", "{'StreamArn':'$S'}"},
	{"GetShardIterator",
	 "{'StreamArn':'$S','ShardId':'$H','ShardIteratorType':'TRIM_HORIZON'}"},
	{"ExportTableToPointInTime", "{'TableArn':'" ARN "table/tab','S3Bucket':'bucket'}"},
	{"ImportTable", IMPORT("imported")},
	{"StartBulkPutItems", "{" BULK "}"},
	{"CreateTable", "{'TableName':'glob','BillingMode':'PROVISIONED','ProvisionedThroughput':{'"
			"ReadCapacityUnits':1,'WriteCapacityUnits':1},'AttributeDefinitions':"
			"[{'AttributeName':'pk','AttributeType':'S'}],'KeySchema':[{'AttributeName'"
			":'pk','KeyType':'HASH'}],'StreamSpecification':"
			"{'StreamEnabled':true,'StreamViewType':'NEW_AND_OLD_IMAGES'}}"},
	{"RegisterScalableTarget", "{" TARGET ",'MinCapacity':1,'MaxCapacity':10}"},
	{"PutScalingPolicy", "{" TARGET "," SCALING_POLICY "}"},
	{"UpdateTable",
	 "{'TableName':'glob','ReplicaUpdates':[{'Create':{'RegionName':'eu-west-1'}}]}"},
	{"UpdateTableReplicaAutoScaling",
	 "{'TableName':'glob','ProvisionedWriteCapacityAutoScalingUpdate':" SCALING "}"},
};

/* Of the operations that the scenarios of every world lack. What AWS refuses is refused here, too:
 * global tables of 2017. */
static const struct world_request others[] = {
	{"BatchExecuteStatement", "{'Statements':[{'Statement':'SELECT * FROM tab WHERE pk = ? AND "
				  "sk = 1','Parameters':[{'S':'a'}]}]}"},
	{"CancelBulkOperation", "{'BulkOperationArn':'$K'}"},
	{"CreateBackup", "{" TAB ",'BackupName':'another'}"},
	{"CreateGlobalTable",
	 "{'GlobalTableName':'tab','ReplicationGroup':[{'RegionName':'us-east-1'}]}"},
	{"DeleteBackup", "{'BackupArn':'$B'}"},
	{"DeleteResourcePolicy", "{" TAB_ARN "}"},
	{"DeleteScalingPolicy", "{" TARGET ",'PolicyName':'p'}"},
	{"DeregisterScalableTarget", "{" TARGET "}"},
	{"DescribeBackup", "{'BackupArn':'$B'}"},
	{"DescribeBulkOperation", "{'BulkOperationArn':'$K'}"},
	{"DescribeContinuousBackups", "{" TAB "}"},
	{"DescribeContributorInsights", "{" TAB "}"},
	{"DescribeEndpoints", "{}"},
	{"DescribeExport", "{'ExportArn':'$E'}"},
	{"DescribeGlobalTable", "{'GlobalTableName':'glob'}"},
	{"DescribeGlobalTableSettings", "{'GlobalTableName':'glob'}"},
	{"DescribeImport", "{'ImportArn':'$M'}"},
	{"DescribeKinesisStreamingDestination", "{" TAB "}"},
	{"DescribeLimits", "{}"},
	{"DescribeScalableTargets", "{'ServiceNamespace':'dynamodb'}"},
	{"DescribeScalingPolicies", "{'ServiceNamespace':'dynamodb','ResourceId':'table/glob'}"},
	{"ListTagsForResource", "{'ResourceARN':'arn:none'}"},
	{"PutScalingPolicy", "{" TARGET "," SCALING_POLICY "}"},
	{"RegisterScalableTarget", "{" TARGET ",'MinCapacity':1,'MaxCapacity':10}"},
	{"DescribeStream", "{'StreamArn':'$S'}"},
	{"DescribeTableReplicaAutoScaling", "{'TableName':'glob'}"},
	{"DescribeTimeToLive", "{" TAB "}"},
	{"DisableKinesisStreamingDestination", "{" TAB "," KINESIS "}"},
	{"EnableKinesisStreamingDestination", "{'TableName':'glob'," KINESIS "}"},
	{"ExportTableToPointInTime", "{'TableArn':'" ARN "table/tab','S3Bucket':'another'}"},
	{"GetRecords", "{'ShardIterator':'$I'}"},
	{"GetResourcePolicy", "{" TAB_ARN "}"},
	{"GetShardIterator", "{'StreamArn':'$S','ShardId':'$H','ShardIteratorType':'LATEST'}"},
	{"ImportTable", IMPORT("again")},
	{"ListBackups", "{}"},
	{"ListBulkOperations", "{}"},
	{"ListContributorInsights", "{}"},
	{"ListExports", "{}"},
	{"ListGlobalTables", "{}"},
	{"ListImports", "{}"},
	{"ListTables", "{}"},
	{"ListTagsOfResource", "{" TAB_ARN "}"},
	{"PutResourcePolicy",
	 "{'ResourceArn':'" ARN
	 "table/tab','ConfirmRemoveSelfResourceAccess':true,'Policy':'" POLICY "'}"},
	{"RestoreTableFromBackup", "{'TargetTableName':'new','BackupArn':'$B'}"},
	{"RestoreTableToPointInTime",
	 "{'SourceTableName':'tab','TargetTableName':'new','UseLatestRestorableTime':true}"},
	{"StartBulkPutItems", "{" BULK ",'ClientToken':'another'}"},
	{"UntagResource", "{" TAB_ARN ",'TagKeys':['a']}"},
	{"UpdateContinuousBackups",
	 "{" TAB ",'PointInTimeRecoverySpecification':{'PointInTimeRecoveryEnabled':false}}"},
	{"UpdateContributorInsights", "{'TableName':'vec','ContributorInsightsAction':'ENABLE'}"},
	{"UpdateGlobalTable", "{'GlobalTableName':'glob','ReplicaUpdates':[]}"},
	{"UpdateGlobalTableSettings",
	 "{'GlobalTableName':'glob','GlobalTableBillingMode':'PAY_PER_REQUEST'}"},
	{"UpdateKinesisStreamingDestination",
	 "{" TAB "," KINESIS ",'UpdateKinesisStreamingConfiguration':{'"
	 "ApproximateCreationDateTimePrecision':'MICROSECOND'}}"},
	{"UpdateTableReplicaAutoScaling",
	 "{'TableName':'glob','ProvisionedWriteCapacityAutoScalingUpdate':" SCALING "}"},
};

static struct world world;
static struct arena *texts;

static void note_marks(struct str answer)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		size_t n = strlen(marks[i].member), to = 0;
		const char *found = memmem(answer.p, answer.n, marks[i].member, n);

		if (!found || marks[i].value[0])
			continue;
		for (const char *c = found + n; *c != '"' && to + 1 < sizeof(marks[i].value); c++)
			marks[i].value[to++] = *c;
	}
}

static struct world_request fill_in(struct world_request request)
{
	struct buf body = buf_in(texts);

	for (const char *c = request.body; *c; c++) {
		const struct mention *mark = marks;

		while (*c == '$' && mark < marks + sizeof(marks) / sizeof(marks[0]) &&
		       mark->letter != c[1])
			mark++;
		if (*c != '$' || mark == marks + sizeof(marks) / sizeof(marks[0])) {
			buf_add_byte(&body, *c);
			continue;
		}
		buf_add_str(&body, str_of(mark->value));
		c++;
	}
	buf_add_byte(&body, 0);
	return (struct world_request){request.op, body.p};
}

/* What a child saw, in memory that it shares with its parent. */
static struct seen_by_child {
	int status;
	uint64_t allocations;
	size_t answer_n, view_n;
	char answer[SEEN_MAX], view[SEEN_MAX];
} *shared;

enum ending {
	ENDED_RIGHT,
	ENDED_FAILED,
	ENDED_WRONG_ANSWER,
	ENDED_WRONG_STATE,
	ENDED_STUCK,
	ENDED_UNTOUCHED
};

struct trial {
	struct world_request request;
	uint64_t n;        /* the allocation that fails */
	int status;
	struct str answer; /* without a fault */
	struct str before, after;
};

static size_t copy_to(char *to, struct str from)
{
	size_t n = from.n < SEEN_MAX ? from.n : SEEN_MAX;

	memcpy(to, from.p, n);
	return n;
}

/* The request begins without memory that earlier ones left. */
static struct op_response call_cold(struct trial *trial, uint64_t n)
{
	arena_free(world.request);
	world.request = arena_new(0);
	exhaust_in = n;
	return world_call(&world, trial->request);
}

static int run_right(void *context)
{
	struct trial *trial = context;

	struct op_response response = call_cold(trial, UINT64_MAX);
	shared->allocations = UINT64_MAX - exhaust_in;
	exhaust_in = 0;
	shared->status = response.status;
	shared->answer_n = copy_to(shared->answer, response.body);
	world_upkeep(&world);
	shared->view_n = copy_to(shared->view, world_view(&world, arena_new(0)));
	return 0;
}

static bool is_whole(struct str answer)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct json *root;
	bool is_object =
		json_parse(arena, answer, &root, &err) == OK && json_type(root) == JSON_OBJECT;

	arena_free(arena);
	return is_object;
}

static int run_exhausted(void *context)
{
	struct trial *trial = context;

	struct op_response response = call_cold(trial, trial->n);
	bool is_untouched = exhaust_in > 0;
	exhaust_in = 0;
	if (is_untouched)
		return ENDED_UNTOUCHED;
	bool is_right = response.status == trial->status && str_eq(response.body, trial->answer);
	if (!is_right &&
	    ((response.status != 500 && response.status != 503) || !is_whole(response.body)))
		return ENDED_WRONG_ANSWER;
	world_upkeep(&world); /* what is done in pieces goes on */
	struct str view = world_view(&world, arena_new(0));
	if (!str_eq(view, trial->after) && (is_right || !str_eq(view, trial->before)))
		return ENDED_WRONG_STATE;
	return world_call(&world, trial->request).status >= 500 ? ENDED_STUCK
	       : is_right                                       ? ENDED_RIGHT
								: ENDED_FAILED;
}

static struct {
	unsigned aborted, failed, right;
} counts;

static void try_allocation(struct trial *trial)
{
	static const char *const names[] = {
		[ENDED_WRONG_ANSWER] = "a wrong answer",
		[ENDED_WRONG_STATE] = "neither the state before nor that afterwards",
		[ENDED_STUCK] = "the same request is not served any more",
	};
	int ending = exhaust_apart(run_exhausted, trial);

	counts.aborted += ending == EXHAUST_ABORTED;
	counts.failed += ending == ENDED_FAILED;
	counts.right += ending == ENDED_RIGHT;
	if (ending != EXHAUST_BROKEN && ending != ENDED_WRONG_ANSWER &&
	    ending != ENDED_WRONG_STATE && ending != ENDED_STUCK)
		return;
	fprintf(stderr, "%s %s: allocation %llu: %s\n", trial->request.op, trial->request.body,
		(unsigned long long)trial->n,
		ending == EXHAUST_BROKEN ? "ended by a signal" : names[ending]);
	test_failures++;
}

static void sweep(struct world_request request)
{
	struct trial trial = {.request = fill_in(request)};
	struct arena *arena = arena_new(0);

	trial.before = world_view(&world, arena);
	CHECK_INT(exhaust_apart(run_right, &trial), 0);
	CHECK(shared->answer_n < SEEN_MAX && shared->view_n < SEEN_MAX && shared->status < 500);
	trial.status = shared->status;
	trial.answer = str_copy(arena, (struct str){shared->answer, shared->answer_n});
	trial.after = str_copy(arena, (struct str){shared->view, shared->view_n});
	uint64_t most =
		shared->allocations < ALLOCATIONS_MAX ? shared->allocations : ALLOCATIONS_MAX;
	static uint64_t first;
	bool is_all = getenv("OOM_ALL") != NULL;
	for (trial.n = is_all ? 1 : 1 + first++ % STRIDE;
	     trial.n <= most && test_failures <= FAILURES_MAX; trial.n += is_all ? 1 : STRIDE)
		try_allocation(&trial);
	if (is_all)
		printf("%-36s %d, %llu allocations\n", request.op, trial.status,
		       (unsigned long long)shared->allocations);
	arena_free(arena);
}

static sqlite3_mem_methods sqlite_memory;

static void *sqlite_malloc(int size)
{
	return exhaust_now() ? NULL : sqlite_memory.xMalloc(size);
}

static void *sqlite_realloc(void *p, int size)
{
	return exhaust_now() ? NULL : sqlite_memory.xRealloc(p, size);
}

/* SQLite's own allocations fail, too, wherever it was compiled. */
static void exhaust_sqlite(void)
{
	sqlite3_mem_methods failing;

	CHECK_INT(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory), SQLITE_OK);
	failing = sqlite_memory;
	failing.xMalloc = sqlite_malloc;
	failing.xRealloc = sqlite_realloc;
	CHECK_INT(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
}

static void begin(void)
{
	exhaust_sqlite();
	texts = arena_new(0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	CHECK(shared != MAP_FAILED);
	world = world_new(NULL);
	for (size_t i = 0; i < sizeof(beginning) / sizeof(beginning[0]); i++) {
		struct op_response response = world_call(&world, fill_in(beginning[i]));

		if (response.status != 200)
			fprintf(stderr, "%s: " STR_FMT "\n", beginning[i].op,
				STR_ARG(response.body));
		CHECK_INT(response.status, 200);
		note_marks(response.body);
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		CHECK(marks[i].value[0]);
}

static bool has_request(const char *op)
{
	for (size_t i = 0; i < WORLD_SCENARIOS; i++) {
		if (strcmp(world_scenarios[i].request.op, op) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].op, op) == 0)
			return true;
	}
	return false;
}

TEST(each_operation_may_run_out_of_memory)
{
	begin();
	for (size_t i = 0; i < op_count(); i++) {
		if (op_is_supported(op_at(i)) && !has_request(op_name(op_at(i)))) {
			fprintf(stderr, "%s: no request\n", op_name(op_at(i)));
			test_failures++;
		}
	}
	for (size_t i = 0; i < WORLD_SCENARIOS && test_failures <= FAILURES_MAX; i++)
		sweep(world_scenarios[i].request);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && test_failures <= FAILURES_MAX;
	     i++)
		sweep(others[i]);
	CHECK(counts.aborted > 0 && counts.failed > 0);
	printf("%u allocations failed: %u processes ended, %u requests were refused, %u did "
	       "without\n",
	       counts.aborted + counts.failed + counts.right, counts.aborted, counts.failed,
	       counts.right);
	world_free(&world);
	munmap(shared, sizeof(*shared));
	arena_free(texts);
}

TEST_MAIN(TEST_CASE(each_operation_may_run_out_of_memory))
