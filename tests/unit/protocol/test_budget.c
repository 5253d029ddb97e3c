/*
 * A budget of memory that does not do: large requests of every kind are stopped wherever they take
 * more. The answer is ServiceUnavailable and nothing changed, or the right answer and all of it is
 * done; and what was held is given back.
 */
#include "tests/unit/protocol/world.h"

#define PADS 3 /* bytes taken before the request: so it is stopped elsewhere */
#define PAD 5100
#define STEPS_MAX 400
#define NO_LIMIT ((size_t)1 << 40)
#define STEP                                                                                       \
	((size_t)9 << 17) /* bytes that what is done between two looks takes at most: a chunk; all \
			     of it takes several */

static struct arena_budget budget;
static struct arena *texts;

/* {"pk":...,"sk":i} and `more`; a JSON object with ' for ". */
static void add_item(struct buf *out, int i, const char *more)
{
	buf_printf(out, "{'pk':{'S':'big'},'sk':{'N':'%d'},'g':{'S':'x'}%s}", i, more);
}

/* Attributes of all sizes, `n` bytes of JSON or more. */
static const char *attributes(size_t n)
{
	struct buf buf = buf_in(texts);

	for (int i = 0; buf.n < n; i++)
		buf_printf(&buf,
			   i % 3 ? ",'a%d':{'L':[{'N':'%d'},{'S':''},{'M':{'x':{'SS':['1','2']}}}]}"
				 : ",'a%d':{'S':'some text %d'}",
			   i, i);
	buf_add_byte(&buf, 0);
	return buf.p;
}

/* One attribute of `n` bytes: little is made of it before the writing, and much then. */
static const char *text(size_t n)
{
	struct buf buf = buf_in(texts);

	buf_add_lit(&buf, ",'v':{'S':'");
	memset(buf_reserve(&buf, n), 'x', n);
	buf.n += n;
	buf_add_lit(&buf, "'}");
	buf_add_byte(&buf, 0);
	return buf.p;
}

enum wrap { PUTS, TRANSACT_PUTS, KEYS, GETS, INSERTS, CHECKS };

/* A list of `n` requests for one item each. */
static struct str list(enum wrap wrap, int n, const char *more)
{
	static const char *const before[] = {
		"{'PutRequest':{'Item':",
		"{'Put':{'TableName':'tab','Item':",
		"",
		"{'Get':{'TableName':'tab','Key':",
		"{'Statement':'INSERT INTO tab VALUE "
		"{`pk`:?,`sk`:?,`v`:?}','Parameters':[{'S':'new'},{'N':'",
		"{'Put':{'TableName':'tab','ConditionExpression':'attribute_not_exists(pk)','"
		"ReturnValuesOnConditionCheckFailure':'ALL_OLD','Item':",
	};
	static const char *const after[] = {"}}", "}}", "", "}}", "}]}", "}}"};
	struct buf buf = buf_in(texts);

	for (int i = 0; i < n; i++) {
		buf_printf(&buf, "%s%s", i ? "," : "", before[wrap]);
		if (wrap == KEYS || wrap == GETS)
			buf_printf(&buf, "{'pk':{'S':'big'},'sk':{'N':'%d'}}", i);
		else if (wrap == INSERTS)
			buf_printf(&buf, "%d'},{'M':{'v':{'S':''}%s}", i, more);
		else
			add_item(&buf, i, more);
		buf_printf(&buf, "%s", after[wrap]);
	}
	return buf_str(&buf);
}

static struct world_request request(const char *op, const char *before, struct str content,
				    const char *after)
{
	struct buf buf = buf_in(texts);

	buf_printf(&buf, "%s" STR_FMT "%s", before, STR_ARG(content), after);
	buf_add_byte(&buf, 0);
	return (struct world_request){op, buf.p};
}

/* What the others read. */
static struct world_request beginning(void)
{
	return request("BatchWriteItem", "{'RequestItems':{'tab':[", list(PUTS, 20, text(60000)),
		       "]}}");
}

static struct world world_within_budget(void)
{
	struct world world = world_new(NULL);

	arena_free(world.request);
	world.request = arena_new_within(0, &budget);
	budget.limit = NO_LIMIT;
	CHECK_INT(world_call(&world, beginning()).status, 200);
	arena_reset(world.request);
	return world;
}

/* As world_call, with ` for ', and `pad` bytes taken before. */
static struct op_response call(struct world *world, struct world_request request, size_t pad)
{
	struct op_response response;
	size_t n = strlen(request.body);

	arena_reset(world->request);
	CHECK_INT(budget.held, 0);
	(void)arena_bytes(world->request, pad);
	char *body = arena_bytes(world->arena, n); /* not what is tested */
	for (size_t i = 0; i < n; i++)
		body[i] = request.body[i] == '\''  ? '"'
			  : request.body[i] == '`' ? '\''
						   : request.body[i];
	struct op_request wire = {
		.arena = world->request,
		.body = {body, n},
		.authenticate = world_let_in,
		.target = ops_target(world->request, str_of(request.op)),
	};
	op_run(&world->service, &wire, &response);
	CHECK_INT(budget.held, arena_held(world->request));
	return response;
}

/* Stops the request at every chunk that it takes. How often it was refused. */
static int stop_everywhere(struct world_request request, int status, size_t step, size_t pad)
{
	struct arena *scratch = arena_new(0);
	struct world right = world_within_budget(), world = world_within_budget();
	struct op_response response = call(&right, request, pad);
	struct str answer = str_copy(right.arena, response.body),
		   after = world_bytes_but_streams(&right, right.arena);
	struct str before = world_bytes(&world, world.arena);
	int refused = 0;

	if (response.status != status) {
		fprintf(stderr, "%s: %d " STR_FMT "\n", request.op, response.status,
			STR_ARG(response.body));
		test_failures++;
	}
	CHECK(status != 200 || !str_contains(answer, STR("\"Error\"")));
	arena_reset(right.request);
	budget.limit = 0;
	for (;;) {
		arena_reset(scratch);
		response = call(&world, request, pad);
		if (response.code != ERR_SERVICE_UNAVAILABLE || refused == STEPS_MAX)
			break;
		refused++;
		CHECK_INT(response.status, 503);
		CHECK(str_contains(response.body,
				   STR("com.amazon.coral.service#ServiceUnavailable")));
		budget.limit = arena_held(world.request); /* enough to come to the next */
		CHECK(str_eq(world_bytes(&world, scratch), before));
		if (test_failures > 0)
			break;
	}
	if (!str_eq(response.body, answer) ||
	    !str_eq(world_bytes_but_streams(&world, scratch), after)) {
		fprintf(stderr, "%s, after %d refusals: " STR_FMT "\n", request.op, refused,
			STR_ARG(response.body));
		test_failures++;
	}
	CHECK(arena_held(world.request) <= budget.limit + step);
	budget.limit = NO_LIMIT;
	world_free(&right);
	world_free(&world);
	CHECK_INT(budget.held, 0);
	arena_free(scratch);
	return refused;
}

static void check_step(struct world_request request, int status, size_t step)
{
	int refused = 0;

	for (size_t i = 0; i < PADS && test_failures == 0; i++)
		refused += stop_everywhere(request, status, step, i * PAD);
	CHECK(refused > 0);
}

static void check(struct world_request request, int status)
{
	check_step(request, status, STEP);
}

static void begin(void)
{
	texts = arena_new(0);
}

static void end(void)
{
	arena_free(texts);
}

TEST(a_write_that_is_refused_changes_nothing)
{
	begin();
	struct buf item = buf_in(texts);
	add_item(&item, 1, attributes(60000));
	check(request("PutItem", "{'TableName':'tab','Item':", buf_str(&item), "}"), 200);
	check(request("PutItem",
		      "{'TableName':'tab','ReturnValues':'ALL_OLD','Item':", buf_str(&item), "}"),
	      200);
	check(request("UpdateItem",
		      "{'TableName':'tab','Key':{'pk':{'S':'big'},'sk':{'N':'1'}},'"
		      "UpdateExpression':'SET x=:x','ReturnValues':'ALL_NEW',"
		      "'ExpressionAttributeValues':{':x':{'M':",
		      buf_str(&item), "}}}"),
	      200);
	check(request("BatchWriteItem", "{'RequestItems':{'tab':[", list(PUTS, 25, text(60000)),
		      "]}}"),
	      200);
	check(request("TransactWriteItems", "{'TransactItems':[",
		      list(TRANSACT_PUTS, 25, text(60000)), "]}"),
	      200);
	check(request("ExecuteTransaction", "{'TransactStatements':[",
		      list(INSERTS, 25, text(60000)), "]}"),
	      200);
	end();
}

TEST(statements_of_a_batch_are_all_run_or_none)
{
	begin();
	/* after the first there is no way back, whatever the others take */
	check_step(request("BatchExecuteStatement", "{'Statements':[",
			   list(INSERTS, 25, text(60000)), "]}"),
		   200, NO_LIMIT);
	end();
}

TEST(a_refused_transaction_tells_its_reasons_or_nothing)
{
	begin();
	check(request("TransactWriteItems", "{'TransactItems':[", list(CHECKS, 20, ""), "]}"), 400);
	end();
}

TEST(an_answer_is_whole_or_refused)
{
	begin();
	check(request("BatchGetItem", "{'RequestItems':{'tab':{'Keys':[", list(KEYS, 20, ""),
		      "]}}}"),
	      200);
	check(request("TransactGetItems", "{'TransactItems':[", list(GETS, 20, ""), "]}"), 200);
	check((struct world_request){"Scan", "{'TableName':'tab'}"}, 200);
	check((struct world_request){"Query",
				     "{'TableName':'tab','IndexName':'gsi','KeyConditionExpression'"
				     ":'g = :p','ExpressionAttributeValues':{':p':{'S':"
				     "'x'}}}"},
	      200);
	check((struct world_request){"ExecuteStatement", "{'Statement':'SELECT * FROM tab WHERE pk "
							 "= ?','Parameters':[{'S':'big'}]}"},
	      200);
	end();
}

TEST(a_body_that_cannot_be_read_is_refused_before_it_is_judged)
{
	begin();
	struct buf deep = buf_in(texts);
	for (int i = 0; i < 20000; i++)
		buf_printf(&deep, "%s{'S':''}", i ? "," : "");
	check(request("PutItem", "{'TableName':'none','Item':{'l':{'L':[", buf_str(&deep), "]}}}"),
	      400);
	check(request("BatchWriteItem", "{'RequestItems':{'tab':[", buf_str(&deep), "]}}"), 400);
	check(request("GetItem", "{'TableName':'tab','Key':{},'AttributesToGet':[", buf_str(&deep),
		      "]}"),
	      400);
	end();
}

TEST_MAIN(TEST_CASE(a_write_that_is_refused_changes_nothing),
	  TEST_CASE(statements_of_a_batch_are_all_run_or_none),
	  TEST_CASE(a_refused_transaction_tells_its_reasons_or_nothing),
	  TEST_CASE(an_answer_is_whole_or_refused),
	  TEST_CASE(a_body_that_cannot_be_read_is_refused_before_it_is_judged))
