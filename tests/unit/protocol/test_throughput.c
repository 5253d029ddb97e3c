/* Token buckets and peaks against naive models that go from millisecond to millisecond, and
 * requests below HTTP against a model of their table. */
#include "protocol/throughput/bucket.h"
#include "protocol/throughput/heat.h"
#include "protocol/throughput/throughput.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

#define UPDATE_OF(id)                                                                              \
	"{\"TableName\":\"tab\",\"Key\":{\"id\":{\"S\":\"" id                                      \
	"\"}},\"UpdateExpression\":\"ADD n :n\","                                                  \
	"\"ExpressionAttributeValues\":{\":n\":{\"N\":\"1\"}}}"
#define STEPS (20000 / TEST_SLOWNESS)

static struct arena *arena;
static uint64_t seed = 88172645463325252u;

static int64_t random_below(int64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (int64_t)(seed % (uint64_t)n);
}

/* A bucket as one would explain it. */
struct naive {
	int64_t rate, capacity, left;
};

static void naive_pass(struct naive *naive, int64_t ms)
{
	for (int64_t i = 0; i < ms; i++) {
		if (naive->left < naive->capacity)
			naive->left += naive->rate;
		if (naive->left > naive->capacity)
			naive->left = naive->capacity;
	}
}

TEST(buckets_are_as_naive_ones)
{
	int64_t now = 1700000000000, rate = 5, seconds = 3;
	struct bucket bucket = bucket_full(rate, seconds, now);
	struct naive naive = {rate, rate * seconds * 1000, rate * seconds * 1000};

	for (int i = 0; i < STEPS; i++) {
		int64_t ms = random_below(4) ? random_below(50) : random_below(5000),
			cost = (1 + random_below(20)) * 500;

		now += ms;
		naive_pass(&naive, ms);
		if (random_below(50) == 0) {
			int64_t before = rate;

			rate = 1 + random_below(40);
			seconds = random_below(10);
			bucket_tune(&bucket, rate, seconds, now);
			naive.left += rate > before ? (rate - before) * 1000 : 0;
			naive.rate = rate;
			naive.capacity = rate * (seconds ? seconds : 1) * 1000;
			naive.left = naive.left > naive.capacity ? naive.capacity : naive.left;
		}
		bucket_pass(&bucket, now);
		CHECK_INT(bucket.left, naive.left);
		CHECK(bucket_is_empty(&bucket) == (naive.left <= 0));
		if (naive.left > 0 && random_below(2)) {
			bucket_take(&bucket, cost);
			naive.left -= cost;
		}
		if (random_below(20) == 0) {
			bucket_give_back(&bucket, cost);
			naive.left = naive.left + cost > naive.capacity ? naive.capacity
									: naive.left + cost;
		}
	}
}

TEST(a_bucket_survives_any_time)
{
	struct bucket bucket = bucket_full(40000, 300, 1000);

	bucket_take(&bucket, 40000LL * 300 * 1000 + 7);
	CHECK_INT(bucket.left, -7);
	bucket_pass(&bucket, 1000 - 5000); /* a request that began before */
	bucket_pass(&bucket, 1001);
	CHECK_INT(bucket.left, 40000 - 7);
	bucket_pass(&bucket, INT64_MAX / 2);
	CHECK_INT(bucket.left, bucket.capacity);
	bucket_take(&bucket, 1000);
	bucket_pass(&bucket, 0); /* turned back */
	CHECK_INT(bucket.left, bucket.capacity - 1000);
	bucket_pass(&bucket, 1);
	CHECK_INT(bucket.left, bucket.capacity);
}

/* All that was consumed, by second. */
#define LOG_SECONDS 60000
static int64_t per_second[LOG_SECONDS];

/* The best second of any period of half an hour that is over; one begins with the first consumption
 * behind the last. */
static int64_t naive_reached(int64_t now_s)
{
	int64_t reached = 0;

	for (int64_t begin = 0; begin < now_s; begin++) {
		int64_t best = 0;

		if (per_second[begin] == 0)
			continue;
		if (begin + 1800 > now_s)
			break;
		for (int64_t s = begin; s < begin + 1800; s++)
			best = per_second[s] > best ? per_second[s] : best;
		reached = best > reached ? best : reached;
		begin += 1799;
	}
	return reached;
}

TEST(peaks_are_as_naive_ones)
{
	const int64_t start = 1700000000000;
	int64_t now = start;
	struct peak peak = {0};

	memset(per_second, 0, sizeof(per_second));
	for (int i = 0; i < 3000 / TEST_SLOWNESS; i++) {
		int64_t tokens = (1 + random_below(1000)) * 500 * (1 + i / 500),
			most = 2 * naive_reached((now - start) / 1000) / 1000;

		CHECK_INT(peak_limit(&peak, 4, now), most > 4 ? most : 4);
		if (random_below(2)) {
			peak_add(&peak, tokens, now);
			per_second[(now - start) / 1000] += tokens;
		}
		now += random_below(20) ? random_below(700) : random_below(300000);
		if ((now - start) / 1000 >= LOG_SECONDS)
			break;
	}
	CHECK((now - start) / 1000 > 5000 / TEST_SLOWNESS);
}

static int64_t clock_ms = 1700000000000;

static int64_t tell(void *context, struct ns ns)
{
	(void)context, (void)ns;
	return clock_ms;
}

enum { TABLE, INDEX, TARGETS };

/* The model of one table: its buckets, each with the time of its rate and without ranges. */
struct model {
	struct naive buckets[TARGETS][2]; /* reads, writes */
	int64_t sizes[500];             /* of items that are there; 0: none */
	bool is_indexed[500];
	int admitted, refused[TARGETS][2];
};

static struct op_response ask(struct service_fixture *fixture, const char *op, struct str body)
{
	arena_reset(arena);
	return service_fixture_call(fixture, arena, str_of(op), body);
}

static int64_t units(int64_t bytes, int64_t unit)
{
	return (bytes + unit - 1) / unit * 1000;
}

/* {"id": {"N": "iii"}, "t": ..., "g"...}: its billed size is a multiple of 100 less 3 for the
 * attribute of the index. */
static void step_put(struct service_fixture *fixture, struct model *model)
{
	char text[4096], body[8192];
	int id = 100 + (int)random_below(400);
	bool is_indexed = random_below(2) && (model->sizes[id] == 0 || model->is_indexed[id]);
	int64_t length = 100 * (1 + random_below(35)),
		size = length + 2 + 3 + 1 + (is_indexed ? 2 : 0);
	int64_t old = model->sizes[id], larger = old > size ? old : size,
		cost = units(larger, 1024);
	/* a new row, one that changes, or one that goes with its item's attribute */
	bool touches = is_indexed || model->is_indexed[id];
	struct naive *table = &model->buckets[TABLE][1], *index = &model->buckets[INDEX][1];
	bool admitted = table->left > 0 && (!touches || index->left > 0);

	if (model->is_indexed[id] &&
	    (!is_indexed || old == size)) /* the model knows rows that come and rows that change */
		return;
	memset(text, 'x', sizeof(text));
	text[length] = '\0';
	snprintf(body, sizeof(body),
		 "{\"TableName\":\"tab\",\"Item\":{\"id\":{\"S\":\"%d\"},\"t\":{\"S\":\"%s\"}%s},"
		 "\"ReturnConsumedCapacity\":\"INDEXES\"}",
		 id, text, is_indexed ? ",\"g\":{\"S\":\"y\"}" : "");
	struct op_response response = ask(fixture, "PutItem", str_of(body));
	CHECK_INT(response.status, admitted ? 200 : 400);
	if (!admitted) {
		CHECK(str_contains(response.body, STR("ProvisionedThroughputExceededException")));
		model->refused[table->left > 0][1]++;
		CHECK(str_contains(response.body, table->left <= 0 ? STR("TableWriteProvisioned")
								   : STR("IndexWriteProvisioned")));
		return;
	}
	model->admitted++;
	table->left -= cost;
	if (touches)
		index->left -= units(larger, 1024);
	model->sizes[id] = size;
	model->is_indexed[id] = is_indexed;
}

static void step_get(struct service_fixture *fixture, struct model *model)
{
	int id = 100 + (int)random_below(397), n = 1 + (int)random_below(3);
	bool is_consistent = random_below(2), is_transaction = n > 1;
	int64_t cost[3], left = model->buckets[TABLE][0].left;
	struct buf body = buf_in(arena);
	bool admitted = true;

	buf_printf(&body, is_transaction ? "{\"TransactItems\":[" : "");
	for (int i = 0; i < n; i++) {
		cost[i] = units(model->sizes[id + i] ? model->sizes[id + i] : 1, 4096);
		cost[i] = is_transaction ? 2 * cost[i] : is_consistent ? cost[i] : cost[i] / 2;
		admitted = admitted && left > 0;
		left -= cost[i];
		buf_printf(&body,
			   is_transaction
				   ? "%s{\"Get\":{\"TableName\":\"tab\",\"Key\":{\"id\":{\"S\":\"%"
				     "d\"}}}}"
				   : "%s{\"TableName\":\"tab\",\"Key\":{\"id\":{\"S\":\"%d\"}}",
			   i ? "," : "", id + i);
	}
	buf_printf(&body, is_transaction ? "]}" : ",\"ConsistentRead\":%s}",
		   is_consistent ? "true" : "false");
	struct str text = str_duplicate(buf_str(&body));
	struct op_response response =
		ask(fixture, is_transaction ? "TransactGetItems" : "GetItem", text);
	CHECK_INT(response.status, admitted ? 200 : 400);
	model->refused[TABLE][0] += !admitted;
	if (admitted)
		model->buckets[TABLE][0].left = left;
	free((char *)(uintptr_t)text.p);
}

TEST(requests_are_admitted_as_a_naive_model_says)
{
	static const int64_t rates[TARGETS][2] = {{6, 9}, {5, 1}};
	const int64_t burst = 4;
	struct service_fixture fixture;
	struct model model = {0};
	struct err err = err_in(arena);

	service_fixture_open(&fixture, arena);
	fixture.service.now_ms = tell;
	fixture.service.throughput = throughput_new(false);
	struct op_response response = ask(
		&fixture, "CreateTable",
		STR("{\"TableName\":\"tab\",\"AttributeDefinitions\":[{\"AttributeName\":\"id\","
		    "\"AttributeType\":\"S\"},{\"AttributeName\":\"g\",\"AttributeType\":"
		    "\"S\"}],\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}],"
		    "\"ProvisionedThroughput\":{\"ReadCapacityUnits\":6,"
		    "\"WriteCapacityUnits\":9},\"GlobalSecondaryIndexes\":[{\"IndexName\":\"by-g\","
		    "\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}],"
		    "\"Projection\":{\"ProjectionType\":\"ALL\"},\"ProvisionedThroughput\":{"
		    "\"ReadCapacityUnits\":5,\"WriteCapacityUnits\":1}}]}"));
	CHECK_INT(response.status, 200);
	CHECK_INT(throughput_set(fixture.service.throughput,
				 (struct ns){STR("000000000000"), STR("us-east-1")},
				 STR("{\"throughput\":\"enforce\",\"burst_seconds\":4}"), &err),
		  OK);
	for (int part = 0; part < TARGETS; part++)
		for (int side = 0; side < 2; side++)
			model.buckets[part][side] =
				(struct naive){rates[part][side], rates[part][side] * burst * 1000,
					       rates[part][side] * burst * 1000};
	for (int i = 0; i < STEPS && test_failures == 0; i++) {
		int64_t ms = random_below(30) ? random_below(150) : random_below(6000);

		clock_ms += ms;
		for (int part = 0; part < TARGETS; part++)
			for (int side = 0; side < 2; side++)
				naive_pass(&model.buckets[part][side], ms);
		if (random_below(3))
			step_put(&fixture, &model);
		else
			step_get(&fixture, &model);
	}
	CHECK(model.admitted > STEPS / 20 && model.refused[TABLE][0] > STEPS / 20 &&
	      model.refused[TABLE][1] > STEPS / 20 && model.refused[INDEX][1] > STEPS / 50);
	throughput_free(fixture.service.throughput);
	service_fixture_close(&fixture);
}

static bool shows(struct service_fixture *fixture, const char *part)
{
	struct str text;
	struct err err = err_in(arena);

	return throughput_describe(&fixture->service, arena,
				   (struct ns){STR("000000000000"), STR("us-east-1")}, &text,
				   &err) == OK &&
	       str_contains(text, str_of(part));
}

/* How many of three updates a second, of 390 units each, are refused in a minute. */
static int update_for_a_minute(struct service_fixture *fixture)
{
	static const char hot[] = UPDATE_OF("hot"), quiet[] = UPDATE_OF("quiet");
	int refused = 0;

	for (int i = 0; i < 180; i++) {
		struct op_response response =
			ask(fixture, "UpdateItem", str_of(i % 3 == 1 ? quiet : hot));

		CHECK(response.status == 200 ||
		      str_contains(response.body, STR("TableWriteKeyRangeThroughputExceeded")));
		refused += response.status != 200;
		clock_ms += i % 3 ? 333 : 334;
	}
	return refused;
}

/* An item that takes 390 write units. */
static void put_large(struct service_fixture *fixture, const char *id)
{
	static char body[400000], text[399001];

	memset(text, 'x', sizeof(text) - 1);
	snprintf(body, sizeof(body),
		 "{\"TableName\":\"tab\",\"Item\":{\"id\":{\"S\":\"%s\"},\"t\":{\"S\":\"%s\"}}}",
		 id, text);
	CHECK_INT(ask(fixture, "PutItem", str_of(body)).status, 200);
}

/* Two keys want 1,170 units of a range that gives 1,000, until each has a range of its own. */
TEST(a_hot_range_is_split)
{
	struct service_fixture fixture;
	struct err err = err_in(arena);

	service_fixture_open(&fixture, arena);
	fixture.service.now_ms = tell;
	fixture.service.throughput = throughput_new(false);
	clock_ms += 60000 - clock_ms % 60000;
	struct op_response response =
		ask(&fixture, "CreateTable",
		    STR("{\"TableName\":\"tab\",\"AttributeDefinitions\":[{\"AttributeName\":"
			"\"id\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
			"\"id\",\"KeyType\":\"HASH\"}],\"ProvisionedThroughput\":{"
			"\"ReadCapacityUnits\":6,\"WriteCapacityUnits\":1000}}"));
	CHECK_INT(response.status, 200);
	put_large(&fixture, "hot");
	put_large(&fixture, "quiet");
	CHECK_INT(throughput_set(fixture.service.throughput,
				 (struct ns){STR("000000000000"), STR("us-east-1")},
				 STR("{\"throughput\":\"enforce\"}"), &err),
		  OK);
	for (int minute = 0; minute < HEAT_MINUTES; minute++) {
		CHECK(!shows(&fixture, "\"ranges\":2"));
		CHECK(update_for_a_minute(&fixture) > 10);
	}
	CHECK(shows(&fixture, "\"ranges\":2"));
	CHECK_INT(update_for_a_minute(&fixture), 0);
	throughput_free(fixture.service.throughput);
	service_fixture_close(&fixture);
}

/* A store whose next commits fail. */
static struct {
	struct store_ops ops;
	enum code (*begin)(struct store *store, enum store_mode mode, struct store_txn **txn,
			   struct err *err);
	enum code (*commit)(struct store_txn *txn, struct err *err);
	enum code code;
	int n;
} failing;

static enum code fail_commit(struct store_txn *txn, struct err *err)
{
	if (txn->mode != STORE_WRITE || failing.n == 0)
		return failing.commit(txn, err);
	failing.n--;
	failing.ops.abort(txn);
	return err_default(err, failing.code);
}

static enum code begin_failing(struct store *store, enum store_mode mode, struct store_txn **txn,
			       struct err *err)
{
	enum code code = failing.begin(store, mode, txn, err);

	if (code == OK)
		(*txn)->ops = &failing.ops;
	return code;
}

TEST(writes_that_run_again_are_counted_once)
{
	static const char put[] = "{\"TableName\":\"tab\",\"Item\":{\"id\":{\"S\":\"a\"}}}";
	static const char transaction[] =
		"{\"TransactItems\":[{\"Put\":{\"TableName\":\"tab\",\"Item\":{\"id\":{\"S\":\"a\"}"
		"}}},"
		"{\"Put\":{\"TableName\":\"tab\",\"Item\":{\"id\":{\"S\":\"b\"}}}}]}";
	struct service_fixture fixture;
	struct err err = err_in(arena);

	service_fixture_open(&fixture, arena);
	fixture.service.throughput = throughput_new(false);
	throughput_enforce(fixture.service.throughput);
	failing.ops = *fixture.store->ops;
	failing.begin = failing.ops.begin;
	failing.commit = failing.ops.commit;
	failing.ops.begin = begin_failing;
	failing.ops.commit = fail_commit;
	fixture.store->ops = &failing.ops;
	ask(&fixture, "CreateTable",
	    STR("{\"TableName\":\"tab\",\"AttributeDefinitions\":[{\"AttributeName\":\"id\","
		"\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"id\","
		"\"KeyType\":\"HASH\"}],\"ProvisionedThroughput\":{\"ReadCapacityUnits\":1,"
		"\"WriteCapacityUnits\":1}}"));
	failing.code = ERR_CONFLICT;
	failing.n = 3;
	CHECK_INT(ask(&fixture, "PutItem", str_of(put)).status, 200);
	CHECK_INT(failing.n, 0);
	CHECK(shows(&fixture, "\"left\":299.0,\"capacity\":300.0,\"consumed\":1.0"));
	failing.n = 2;
	CHECK_INT(ask(&fixture, "TransactWriteItems", str_of(transaction)).status, 200);
	CHECK(shows(&fixture, "\"left\":295.0,\"capacity\":300.0,\"consumed\":5.0"));
	failing.code = ERR_INTERNAL; /* it is given up */
	failing.n = 1;
	CHECK_INT(ask(&fixture, "PutItem", str_of(put)).status, 500);
	CHECK(shows(&fixture, "\"left\":295.0,\"capacity\":300.0,\"consumed\":5.0"));
	CHECK_INT(throughput_set(fixture.service.throughput,
				 (struct ns){STR("000000000000"), STR("us-east-1")},
				 STR("{\"tables\":{\"tab\":{\"left\":{\"write\":2}}}}"), &err),
		  OK);
	CHECK_INT(ask(&fixture, "TransactWriteItems", str_of(transaction)).status,
		  400); /* the second has nothing left: the first gives back */
	CHECK(shows(&fixture, "\"left\":2.0,\"capacity\":300.0,\"consumed\":0.0"));
	throughput_free(fixture.service.throughput);
	service_fixture_close(&fixture);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(buckets_are_as_naive_ones),
		TEST_CASE(a_bucket_survives_any_time),
		TEST_CASE(peaks_are_as_naive_ones),
		TEST_CASE(requests_are_admitted_as_a_naive_model_says),
		TEST_CASE(a_hot_range_is_split),
		TEST_CASE(writes_that_run_again_are_counted_once),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
