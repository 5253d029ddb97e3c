/*
 * A limit of CPU time, by a clock that counts how often it is read: requests of many steps are
 * stopped wherever they read it. The answer is ServiceUnavailable and nothing changed, or the right
 * answer and all of it is done.
 */
#include "tests/unit/protocol/world.h"

#define NO_LIMIT ((uint64_t)1 << 40)
#define BATCHES 40
#define OPERANDS 90
#define ELEMENTS 20000

static uint64_t looks;

static uint64_t count_looks(void)
{
	return ++looks;
}

static struct arena *texts;

static const char *ended(struct buf *buf)
{
	buf_add_byte(buf, 0);
	return buf->p;
}

/* `n` times: text, number, text. */
static const char *times(int n, const char *separator, const char *before, const char *after)
{
	struct buf buf = buf_in(texts);

	for (int i = 0; i < n; i++)
		buf_printf(&buf, "%s%s%d%s", i ? separator : "", before, i, after);
	return ended(&buf);
}

static struct world_request request(const char *op, const char *before, const char *content,
				    const char *after)
{
	struct buf buf = buf_in(texts);

	buf_printf(&buf, "%s%s%s", before, content, after);
	return (struct world_request){op, ended(&buf)};
}

/* Many small items, and one with a large list. */
static struct world world_in_time(void)
{
	struct world world = world_new(NULL);

	world.service.cpu_ns = count_looks;
	world.service.cpu_limit_ns = NO_LIMIT;
	for (int i = 0; i < BATCHES; i++) {
		struct buf before = buf_in(texts);

		buf_printf(&before, "{'PutRequest':{'Item':{'pk':{'S':'p%d'},'sk':{'N':'", i);
		CHECK_INT(world_call(&world,
				     request("BatchWriteItem", "{'RequestItems':{'tab':[",
					     times(25, ",", ended(&before), "'},'n':{'N':'1'}}}}"),
					     "]}}"))
				  .status,
			  200);
	}
	CHECK_INT(world_call(&world, request("PutItem",
					     "{'TableName':'tab','Item':{'pk':{'S':'big'},'sk':{'N'"
					     ":'1'},'l':{'N':'1'},'els':{'L':[",
					     times(ELEMENTS, ",", "{'N':'", "'}"), "]}}}"))
			  .status,
		  200);
	return world;
}

/* Refuses the request with ever longer limits until it is carried out. How often it was refused. */
static int stop_everywhere(struct world_request request, int status)
{
	struct arena *scratch = arena_new(0);
	struct world right = world_in_time(), world = world_in_time();
	struct op_response response = world_call(&right, request);
	struct str answer = str_copy(right.arena, response.body),
		   after = world_bytes_but_streams(&right, right.arena);
	struct str before = world_bytes(&world, world.arena);
	int refused = 0;

	if (response.status != status) {
		fprintf(stderr, "%s: %d " STR_FMT "\n", request.op, response.status,
			STR_ARG(response.body));
		test_failures++;
	}
	for (uint64_t limit = 0; test_failures == 0; limit += 1 + limit / 4) {
		arena_reset(scratch);
		world.service.cpu_limit_ns = limit;
		response = world_call(&world, request);
		if (response.code != ERR_SERVICE_UNAVAILABLE)
			break;
		refused++;
		CHECK_INT(response.status, 503);
		CHECK(str_eq(world_bytes(&world, scratch), before));
	}
	if (!str_eq(response.body, answer) ||
	    !str_eq(world_bytes_but_streams(&world, scratch), after)) {
		fprintf(stderr, "%s, after %d refusals: " STR_FMT "\n", request.op, refused,
			STR_ARG(response.body));
		test_failures++;
	}
	world_free(&right);
	world_free(&world);
	arena_free(scratch);
	return refused;
}

static void check(struct world_request request, int status, int least)
{
	CHECK(stop_everywhere(request, status) >= least);
}

static void begin(void)
{
	texts = arena_new(0);
}

static void end(void)
{
	arena_free(texts);
}

TEST(a_read_stops_among_the_rows_that_it_filters)
{
	begin();
	struct buf values = buf_in(texts);
	buf_printf(&values, ")','ExpressionAttributeValues':{%s}}",
		   times(OPERANDS, ",", "':v",
			 "':{'NULL':true}")); /* compared one by one: they have no order */
	check(request("Scan", "{'TableName':'tab','FilterExpression':'n IN (",
		      times(OPERANDS, ",", ":v", ""), ended(&values)),
	      200, 5);
	check(request("Scan", "{'TableName':'tab','Select':'COUNT','FilterExpression':'n IN (",
		      times(OPERANDS, ",", ":v", ""), ended(&values)),
	      200, 5);
	check(request("Scan", "{'TableName':'tab','FilterExpression':'",
		      times(140, " OR ", "els = a", ""), "'}"),
	      200, 3);
	check(request("ExecuteStatement", "{'Statement':'SELECT * FROM tab WHERE n IN [",
		      times(OPERANDS, ",", "[", "]"), "]'}"),
	      200, 5);
	end();
}

struct pages {
	struct world *world;
	int left; /* until the time of the request under way is up */
};

static void spend_time(void *context)
{
	struct pages *pages = context;

	if (--pages->left > 0)
		trace_store_after(pages->world->store, TRACE_PAGE, spend_time, pages);
	else
		while (arena_works(pages->world->request, ARENA_LOOK))
			;
}

TEST(a_count_ends_with_the_page_at_which_its_time_is_up)
{
	const struct world_request count = {"Scan", "{'TableName':'tab','Select':'COUNT'}"};

	begin();
	struct world world = world_in_time();
	for (int i = 0; i < 5; i++) {
		struct buf before = buf_in(texts);

		buf_printf(
			&before,
			"{'TableName':'tab','Item':{'pk':{'S':'long%d'},'sk':{'N':'1'},'v':{'S':'",
			i);
		CHECK_INT(world_call(&world, request("PutItem", ended(&before),
						     times(10000, "", "text", ""), "'}}}"))
				  .status,
			  200);
	}
	trace_store_reset(world.store);
	CHECK_INT(world_call(&world, count).status, 200);
	int all = (int)trace_store_count(world.store, TRACE_PAGE);
	CHECK(all > 2);
	world.service.cpu_limit_ns = 1000;
	for (int n = 1; n < all; n++) {
		struct pages pages = {&world, n};

		trace_store_reset(world.store);
		trace_store_after(world.store, TRACE_PAGE, spend_time, &pages);
		CHECK_INT(world_call(&world, count).status, 503);
		CHECK_INT((int)trace_store_count(world.store, TRACE_PAGE), n);
	}
	world_free(&world);
	end();
}

TEST(a_write_that_takes_too_long_changes_nothing)
{
	begin();
	struct buf values = buf_in(texts);
	buf_printf(&values, ")','ExpressionAttributeValues':{%s}}",
		   times(OPERANDS, ",", "':v", "':{'S':''}"));
	check(request("UpdateItem",
		      "{'TableName':'tab','Key':{'pk':{'S':'big'},'sk':{'N':'1'}},'"
		      "UpdateExpression':'SET ",
		      times(3, ",", "a", "=els"), "'}"),
	      200, 1);
	check(request("UpdateItem",
		      "{'TableName':'tab','Key':{'pk':{'S':'big'},'sk':{'N':'1'}},'"
		      "UpdateExpression':'SET ",
		      times(300, ",", "a", "=els"), "'}"),
	      400, 1);
	check(request("UpdateItem",
		      "{'TableName':'tab','Key':{'pk':{'S':'big'},'sk':{'N':'1'}},'"
		      "UpdateExpression':'SET x=n','ConditionExpression':'els IN (",
		      times(OPERANDS, ",", ":v", ""), ended(&values)),
	      400, 1);
	check(request("TransactWriteItems", "{'TransactItems':[",
		      times(50, ",",
			    "{'Put':{'TableName':'tab','Item':{'pk':{'S':'new'},'sk':{'N':'",
			    "'},'x':{'L':[{'S':''},{'S':''}]}}}}"),
		      "]}"),
	      200, 1);
	check(request("BatchWriteItem", "{'RequestItems':{'tab':[",
		      times(25, ",", "{'PutRequest':{'Item':{'pk':{'S':'new'},'sk':{'N':'",
			    "'},'n':{'N':'1'}}}}"),
		      "]}}"),
	      200, 1);
	end();
}

TEST(a_small_request_does_not_read_the_clock)
{
	begin();
	struct world world = world_new(NULL);
	world.service.cpu_ns = count_looks;
	world.service.cpu_limit_ns = 0;
	looks = 0;
	CHECK_INT(world_call(&world,
			     (struct world_request){
				     "GetItem",
				     "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}}}"})
			  .status,
		  200);
	CHECK_INT(looks, 0);
	world_free(&world);
	end();
}

/* Whether it is given up for a slice of one look, as a long write or not, and changes nothing;
 * without a slice it ends. */
static bool is_given_up(struct world *world, struct world_request request, bool is_long_write)
{
	struct str before = world_bytes(world, world->arena);
	struct op_response response = {0};

	if (world_try(world, request, 1, &response))
		return false;
	CHECK(str_eq(world_bytes(world, world->arena), before));
	CHECK_INT(response.is_long_write, is_long_write);
	CHECK_INT(world_call(world, request).status, 200);
	if (is_long_write)
		op_end_long_write(&world->service);
	CHECK_INT(atomic_load(&world->service.long_writes), 0);
	return true;
}

TEST(what_does_not_end_in_its_slice_is_given_up)
{
	const struct world_request get = {
		"GetItem", "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'1'}}}"};
	const struct world_request put = {
		"PutItem", "{'TableName':'tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'}}}"};
	struct op_response response = {0};

	begin();
	struct world world = world_in_time();
	CHECK(world_try(&world, get, 1, &response) && response.status == 200);
	CHECK(world_try(&world, put, 1, &response) && response.status == 200);
	CHECK(is_given_up(&world,
			  request("Scan", "{'TableName':'tab','FilterExpression':'",
				  times(140, " OR ", "els = a", ""), "'}"),
			  false));
	CHECK(is_given_up(&world,
			  request("UpdateItem",
				  "{'TableName':'tab','Key':{'pk':{'S':'big'},'sk':{'N':'1'}},'"
				  "UpdateExpression':'SET ",
				  times(3, ",", "a", "=els"), "'}"),
			  true));
	CHECK(is_given_up(&world, (struct world_request){"DeleteTable", "{'TableName':'vec'}"},
			  true));
	/* while a long write is under way, others that write are given up at once, and reads are
	 * not */
	CHECK(!world_try(&world, (struct world_request){"DeleteTable", "{'TableName':'tab'}"}, 1,
			 &response) &&
	      response.is_long_write);
	CHECK(!world_try(&world, put, NO_LIMIT - 1, &response) && !response.is_long_write);
	CHECK(world_try(&world, get, NO_LIMIT - 1, &response) && response.status == 200);
	world.may_wait = true;
	CHECK(world_try(&world, put, NO_LIMIT - 1, &response) && response.status == 200);
	CHECK(!world_try(&world, (struct world_request){"DeleteTable", "{'TableName':'tab'}"}, 1,
			 &response) &&
	      response.is_long_write);
	op_end_long_write(&world.service);
	world.may_wait = false;
	op_end_long_write(&world.service);
	CHECK(world_try(&world, put, NO_LIMIT - 1, &response) && response.status == 200);
	/* a limit that is shorter than the slice decides */
	world.service.cpu_limit_ns = 1;
	CHECK(world_try(&world,
			request("Scan", "{'TableName':'tab','FilterExpression':'",
				times(140, " OR ", "els = a", ""), "'}"),
			1, &response));
	CHECK_INT(response.status, 503);
	world_free(&world);
	end();
}

TEST_MAIN(TEST_CASE(what_does_not_end_in_its_slice_is_given_up),
	  TEST_CASE(a_read_stops_among_the_rows_that_it_filters),
	  TEST_CASE(a_count_ends_with_the_page_at_which_its_time_is_up),
	  TEST_CASE(a_write_that_takes_too_long_changes_nothing),
	  TEST_CASE(a_small_request_does_not_read_the_clock))
