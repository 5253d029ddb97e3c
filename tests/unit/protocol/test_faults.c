/*
 * Faults of the store: for requests of every kind, each call that they make of the store fails
 * once. The answer is InternalServerError or the right one; what the store holds is what it held
 * before or what it should hold afterwards, and what is in memory agrees with it.
 */
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/ttl.h"
#include "tests/unit/protocol/world.h"

#define FAILURES_MAX 20 /* told before a test gives up */

/* Calls that a fault can strike. */
static uint64_t calls(const struct world *world)
{
	uint64_t n = 0;

	for (enum trace_call call = TRACE_BEGIN; call < TRACE_CALL_COUNT; call++)
		n += call == TRACE_ABORT || call == TRACE_ROW
			     ? 0
			     : trace_store_count(world->store, call);
	return n;
}

struct state {
	struct str bytes, view;
};

static struct state state_of(struct world *world, struct arena *arena)
{
	return (struct state){world_bytes(world, arena), world_view(world, arena)};
}

/* Of one scenario. */
struct trial {
	const struct world_scenario *scenario;
	struct arena *arena;         /* of what is kept for all its faults */
	struct state before, after;  /* without a fault */
	struct str answer;
};

static void fail(const struct trial *trial, uint64_t n, const char *what)
{
	fprintf(stderr, "%s %s\n\tcall %llu fails: %s\n", trial->scenario->request.op,
		trial->scenario->request.body, (unsigned long long)n, what);
	test_failures++;
}

static void run_without_fault(struct trial *trial)
{
	struct world world = world_new(NULL);

	trial->before = state_of(&world, trial->arena);
	struct op_response response = world_call(&world, trial->scenario->request);
	if (response.status != trial->scenario->status) {
		fprintf(stderr, "%s: status %d: " STR_FMT "\n", trial->scenario->request.op,
			response.status, STR_ARG(response.body));
		test_failures++;
	}
	trial->answer = str_copy(trial->arena, response.body);
	world_upkeep(&world);
	trial->after = state_of(&world, trial->arena);
	CHECK(str_eq(world_view_anew(&world, world.arena), trial->after.view));
	world_free(&world);
}

/* What the client was told, and what there is now. *is_changed: the request was done. */
static void check_fault(struct trial *trial, struct world *world,
			const struct op_response *response, uint64_t n, bool *is_changed)
{
	bool is_right = response->status == trial->scenario->status &&
			str_eq(response->body, trial->answer);
	bool is_failure = response->status == 500 &&
			  str_contains(response->body, STR("#InternalServerError\""));

	if (!is_right && !is_failure) {
		fail(trial, n, "neither the right answer nor InternalServerError:");
		fprintf(stderr, "\t%d " STR_FMT "\n", response->status, STR_ARG(response->body));
	}
	world_upkeep(world);
	struct state now = state_of(world, world->arena);
	bool is_before = str_eq(now.bytes, trial->before.bytes),
	     is_after = str_eq(now.bytes, trial->after.bytes);

	if (!is_before && !is_after)
		fail(trial, n, "the store is neither as before nor as after");
	if (is_right && !is_after)
		fail(trial, n, "answered, but not done");
	if (!str_eq(now.view, is_after ? trial->after.view : trial->before.view))
		fail(trial, n, "what clients see is not what is stored");
	if (!str_eq(now.view, world_view_anew(world, world->arena)))
		fail(trial, n, "what is in memory differs from what is stored");
	*is_changed = !is_before;
}

static void check_answer(struct trial *trial, struct world *world,
			 const struct op_response *response, uint64_t n)
{
	if (response->status != trial->scenario->status || !str_eq(response->body, trial->answer))
		fail(trial, n, "not the right answer");
	world_upkeep(world);
	if (!str_eq(world_bytes(world, world->arena), trial->after.bytes))
		fail(trial, n, "answered rightly, not done rightly");
	if (!str_eq(world_view(world, world->arena), trial->after.view))
		fail(trial, n, "done rightly, not seen rightly");
}

static void fail_every_call(struct trial *trial)
{
	struct world world = world_new(NULL);
	bool is_changed = false;

	for (uint64_t n = 1; test_failures <= FAILURES_MAX; n++) {
		uint64_t begin = calls(&world);

		trace_store_fail(world.store, n, n % 2 ? ERR_INTERNAL : ERR_STORE_FULL);
		struct op_response response = world_call(&world, trial->scenario->request);
		bool has_struck = calls(&world) - begin >= n;
		trace_store_fail(world.store, 0, OK);
		if (!has_struck) {
			/* this was the one without a fault: after all those that failed it must be
			 * right */
			check_answer(trial, &world, &response, n);
			break;
		}
		check_fault(trial, &world, &response, n, &is_changed);
		if (is_changed) {
			world_free(&world);
			world = world_new(NULL);
		}
	}
	world_free(&world);
}

static int number_of(struct world *world, const char *key)
{
	struct str body = world_call(world, (struct world_request){"GetItem", key}).body;
	const char *at = memmem(body.p, body.n, "{\"N\":\"", 6);

	return at ? at[6] - '0' : -1;
}

/* Statements that were carried out are answered as such: a client that is told of a failure of the
 * server sends all of them again. */
TEST(a_batch_whose_store_fails_tells_of_each_statement)
{
	static const struct world_request batch = {
		"BatchExecuteStatement",
		"{'Statements':[{'Statement':'UPDATE tab SET n = n + 1 WHERE pk = \\u0027a\\u0027 "
		"AND sk = 1'},"
		"{'Statement':'UPDATE tab SET n = n + 1 WHERE pk = \\u0027a\\u0027 AND sk = 2'}]}"};
	unsigned halves = 0;
	bool has_struck = true;

	for (uint64_t n = 1; has_struck && test_failures <= FAILURES_MAX; n++) {
		struct world world = world_new(NULL);
		uint64_t begin = calls(&world);

		trace_store_fail(world.store, n, ERR_INTERNAL);
		struct op_response response = world_call(&world, batch);
		has_struck = calls(&world) - begin >= n;
		trace_store_fail(world.store, 0, OK);
		bool is_told = str_contains(response.body,
					    STR("{\"Error\":{\"Code\":\"InternalServerError\","
						"\"Message\":\"Internal server error\"}"));
		int status = response.status;
		int first = number_of(&world, "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':'"
					      "1'}},'ProjectionExpression':'n'}");
		int second = number_of(&world, "{'TableName':'tab','Key':{'pk':{'S':'a'},'sk':{'N':"
					       "'2'}},'ProjectionExpression':'n'}");
		CHECK_INT(first, status == 200 ? 2 : 1);
		CHECK_INT(second, status == 200 && !is_told ? 3 : 2);
		halves += is_told;
		world_free(&world);
	}
	CHECK(halves > 0);
}

TEST(every_call_of_the_store_may_fail)
{
	for (size_t i = 0; i < WORLD_SCENARIOS && test_failures <= FAILURES_MAX; i++) {
		struct trial trial = {.scenario = &world_scenarios[i], .arena = arena_new(1 << 20)};

		run_without_fault(&trial);
		fail_every_call(&trial);
		arena_free(trial.arena);
	}
}

/* Where among a request's calls its commits are; rows and aborts are no calls that fail. */
static size_t commits_of(struct world *world, struct world_request request, uint64_t *at,
			 size_t max)
{
	char *text = NULL, *line, *rest = NULL;
	size_t size = 0, n = 0;
	uint64_t number = 0;
	FILE *log = open_memstream(&text, &size);

	trace_store_log(world->store, log);
	(void)world_call(world, request);
	trace_store_log(world->store, NULL);
	fclose(log);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "row", 3) == 0 || strncmp(line, "abort", 5) == 0)
			continue;
		number++;
		if (strcmp(line, "commit") == 0 && n < max)
			at[n++] = number;
	}
	free(text);
	return n;
}

/* The operations whose transactions are run again. */
static bool is_repeatable(const char *op)
{
	static const char *const ops[] = {
		"PutItem",           "UpdateItem",         "DeleteItem",
		"BatchWriteItem",    "TransactWriteItems", "ExecuteStatement",
		"ExecuteTransaction"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strcmp(op, ops[i]) == 0)
			return true;
	}
	return false;
}

static void conflict_at(struct trial *trial, uint64_t n)
{
	struct world world = world_new(NULL);

	trace_store_fail(world.store, n, ERR_CONFLICT);
	struct op_response response = world_call(&world, trial->scenario->request);
	trace_store_fail(world.store, 0, OK);
	check_answer(trial, &world, &response, n);
	world_free(&world);
}

/* A backend may answer CONFLICT to a commit: nothing was written, and all is run again. */
TEST(a_commit_that_conflicts_is_run_again)
{
	for (size_t i = 0; i < WORLD_SCENARIOS && test_failures <= FAILURES_MAX; i++) {
		struct trial trial = {.scenario = &world_scenarios[i]};
		uint64_t at[16];

		if (!is_repeatable(trial.scenario->request.op))
			continue;
		trial.arena = arena_new(1 << 20);
		run_without_fault(&trial);
		struct world world = world_new(NULL);
		size_t n = commits_of(&world, trial.scenario->request, at, 16);
		world_free(&world);
		for (size_t k = 0; k < n; k++)
			conflict_at(&trial, at[k]);
		arena_free(trial.arena);
	}
}

static enum code sweep_ttl(struct world *world, struct err *err)
{
	uint64_t deleted;
	bool more = true;
	enum code code = OK;

	while (more && code == OK)
		code = ttl_sweep(world->service.catalog, TIMES_AT(WORLD_NOW), 0, &deleted, &more,
				 err);
	return code;
}

/* Two days on, when the records of the beginning are too old. */
static enum code sweep_streams(struct world *world, struct err *err)
{
	return stream_sweep(world->service.catalog, TIMES_AT(WORLD_NOW + INT64_C(2) * 86400000),
			    err);
}

static enum code fill_index(struct world *world, struct err *err)
{
	int64_t wait_ms;
	enum code code = backfill_step(world->service.catalog, TIMES_AT(WORLD_NOW), &wait_ms, err);

	return code == OK && wait_ms == 0
		       ? backfill_step(world->service.catalog, TIMES_AT(WORLD_NOW), &wait_ms, err)
		       : code;
}

static enum code rotate(struct world *world, struct err *err)
{
	struct table *table;
	enum code code = catalog_get(world->service.catalog,
				     (struct ns){STR("000000000000"), STR("us-east-1")}, STR("tab"),
				     WORLD_NOW, &table, err);

	if (code != OK)
		return code;
	code = stream_rotate(world->store, table, WORLD_NOW, err);
	table_unref(table);
	return code;
}

/* What runs in the background: a fault stops it, and the next round goes on; a failed request of
 * before leaves it nothing wrong. */
static void fail_in_background(enum code (*work)(struct world *world, struct err *err),
			       const struct world_request *request)
{
	struct arena *arena = arena_new(1 << 20);
	struct err err = err_in(arena);
	struct world world = world_new(NULL);

	if (request)
		CHECK_INT(world_call(&world, *request).status, 200);
	CHECK_INT(work(&world, &err), OK);
	world_upkeep(&world);
	struct str after = world_bytes(&world, arena), view = world_view(&world, arena);
	world_free(&world);
	for (uint64_t n = 1; test_failures <= FAILURES_MAX; n++) {
		world = world_new(NULL);
		if (request)
			CHECK_INT(world_call(&world, *request).status, 200);
		uint64_t begin = calls(&world);
		trace_store_fail(world.store, n, ERR_INTERNAL);
		enum code code = work(&world, &err);
		trace_store_fail(world.store, 0, OK);
		bool has_struck = calls(&world) - begin >= n;
		CHECK(str_eq(world_view(&world, world.arena),
			     world_view_anew(&world, world.arena)));
		if (code != OK)
			CHECK_INT(work(&world, &err), OK);
		world_upkeep(&world);
		bool is_after = str_eq(world_bytes(&world, world.arena), after) &&
				str_eq(world_view(&world, world.arena), view);
		if (!is_after) {
			fprintf(stderr, "background call %llu\n", (unsigned long long)n);
			CHECK(is_after);
		}
		world_free(&world);
		if (!has_struck)
			break;
	}
	arena_free(arena);
}

TEST(background_work_goes_on_after_a_fault)
{
	static const struct world_request disabled = {
		"UpdateTable", "{'TableName':'tab','StreamSpecification':{'StreamEnabled':false}}"};

	fail_in_background(sweep_ttl, NULL);
	fail_in_background(sweep_streams, NULL);
	fail_in_background(sweep_streams, &disabled);
	fail_in_background(fill_index, NULL);
	fail_in_background(rotate, NULL);
}

TEST(opening_may_fail)
{
	struct world world = world_new(NULL);
	struct str view = world_view(&world, world.arena);
	struct err err = err_in(world.arena);

	for (uint64_t n = 1;; n++) {
		struct service kept = world.service;
		uint64_t begin = calls(&world);

		trace_store_fail(world.store, n, ERR_INTERNAL);
		bool is_open = world_open_catalog(&world, &err);
		trace_store_fail(world.store, 0, OK);
		if (is_open)
			catalog_close(world.service.catalog);
		else
			CHECK_INT(err.code, ERR_INTERNAL);
		world.service = kept;
		if (calls(&world) - begin < n) {
			CHECK(is_open);
			break;
		}
		CHECK(!is_open);
		CHECK(str_eq(world_view_anew(&world, world.arena), view));
	}
	world_free(&world);
}

TEST_MAIN(TEST_CASE(a_batch_whose_store_fails_tells_of_each_statement),
	  TEST_CASE(every_call_of_the_store_may_fail),
	  TEST_CASE(a_commit_that_conflicts_is_run_again),
	  TEST_CASE(background_work_goes_on_after_a_fault), TEST_CASE(opening_may_fail))
