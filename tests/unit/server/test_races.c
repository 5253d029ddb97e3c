/*
 * The search for orders, on programs that are simulated: clients with a list of steps each, whose
 * next requests always wait. Planted faults are found within a number of runs, twins without a
 * fault pass in all of them, and what failed fails again by the order that was noted.
 */
#include "server/races/race_anomaly.h"
#include "server/races/race_search.h"

#include "tests/unit/test.h"

#define CLIENTS 3
#define STEPS 4
#define CELLS 3

/* One program: what each client does, in a small memory that stands for the items. */
struct program {
	size_t clients, steps;
	const char *bodies[CLIENTS][STEPS]; /* NULL: the client has ended */
	const char *operations[CLIENTS][STEPS];
	/* Carries out a step; `seen` is what the client read before. */
	void (*work)(int cells[CELLS], int seen[STEPS], size_t client, size_t step);
	bool (*is_right)(const int cells[CELLS]);
};

static struct arena *arena;

#define ON(key) "{\"TableName\":\"t\",\"Key\":{\"pk\":{\"S\":\"" key "\"}}}"

/* Runs it by the plan. True: it came out right. */
static bool run(const struct program *program, const struct race_plan *plan,
		const struct race_facts *facts, struct race_trace *trace)
{
	int cells[CELLS] = {0}, seen[CLIENTS][STEPS] = {{0}};
	size_t at[CLIENTS] = {0}, waiting[CLIENTS], owner[CLIENTS], n = 0;

	*trace = race_trace_in(arena, facts);
	for (size_t i = 0; i < program->clients; i++) {
		owner[n] = i;
		waiting[n++] = race_trace_arrive(trace, str_of(program->operations[i][0]),
						 str_of(program->bodies[i][0]), STR_ABSENT, false);
	}
	while (n > 0) {
		size_t next = race_plan_pick(plan, trace, waiting, n);
		size_t client = owner[next], request = waiting[next], step = at[client]++;

		race_trace_pick(trace, request);
		program->work(cells, seen[client], client, step);
		race_trace_answer(trace, request, 200, STR("{}"));
		if (at[client] < STEPS && program->bodies[client][at[client]]) {
			waiting[next] = race_trace_arrive(
				trace, str_of(program->operations[client][at[client]]),
				str_of(program->bodies[client][at[client]]), STR_ABSENT, false);
			continue;
		}
		n--;
		waiting[next] = waiting[n];
		owner[next] = owner[n];
	}
	return program->is_right(cells);
}

/* In which run it failed, from 1; 0: in none of `budget`. */
static unsigned search(const struct program *program, unsigned budget, struct race_trace *failed)
{
	struct race_facts facts = {.arena = arena};
	struct race_plan plan = {.kind = PLAN_USUAL};
	struct race_trace usual;
	size_t pairs, seen;

	CHECK(run(program, &plan, &facts, &usual));
	struct race_search *search = race_search_new(arena, &usual, &facts, 1, 0);
	race_search_learn(search, &usual);
	for (unsigned runs = 1; runs <= budget && race_search_next(search, &plan); runs++) {
		bool is_right = run(program, &plan, &facts, failed);

		race_search_learn(search, failed);
		race_search_cover(search, &pairs, &seen);
		CHECK(seen <= pairs);
		if (!is_right)
			return runs;
	}
	return 0;
}

static bool fails_again(const struct program *program, const struct race_trace *failed)
{
	struct race_facts facts = {.arena = arena};
	uint64_t *ids = ARENA_ARRAY(arena, uint64_t, failed->order_n);
	struct race_trace again;

	for (size_t k = 0; k < failed->order_n; k++)
		ids[k] = failed->requests[failed->order[k]].id;
	const struct race_plan plan = {
		.kind = PLAN_ORDER, .order = ids, .order_n = failed->order_n};
	return !run(program, &plan, &facts, &again) &&
	       race_trace_hash(&again) == race_trace_hash(failed);
}

/* A counter, read and written back. */
static void count(int cells[CELLS], int seen[STEPS], size_t client, size_t step)
{
	(void)client;
	if (step == 0)
		seen[0] = cells[0];
	else
		cells[0] = seen[0] + 1;
}

static bool counted_two(const int cells[CELLS])
{
	return cells[0] == 2;
}

/* The same by one step that adds. */
static void add(int cells[CELLS], int seen[STEPS], size_t client, size_t step)
{
	(void)client, (void)seen;
	cells[0] += step == 0;
}

/* Each looks at the other's cell and leaves only if that is there. */
static void leave(int cells[CELLS], int seen[STEPS], size_t client, size_t step)
{
	if (step == 0)
		seen[0] = cells[1 - client];
	else if (seen[0] == 0)
		cells[client] = 1;
}

static bool one_stays(const int cells[CELLS])
{
	return cells[0] + cells[1] < 2;
}

/* Fails only where the second client's write comes between the two reads of the third, and the
 * first one's behind both: two switches. */
static void tear(int cells[CELLS], int seen[STEPS], size_t client, size_t step)
{
	if (client == 0 && step == 1)
		cells[0] = 1;
	if (client == 1 && step == 1)
		cells[1] = 1;
	if (client == 2 && step < 2)
		seen[step] = cells[step];
	if (client == 2 && step == 2)
		cells[2] = seen[0] == 0 && seen[1] == 1;
}

static bool is_whole(const int cells[CELLS])
{
	return cells[2] == 0;
}

/* One client looks whether what it read is still there, and else does its work again; the other one
 * writes back all that it has read. */
static void forget(int cells[CELLS], int seen[STEPS], size_t client, size_t step)
{
	if (step == 0)
		seen[0] = cells[0];
	else if (client == 0)
		cells[0] = 1;
	else {
		cells[0] = seen[0];
		cells[1] = 1;
	}
}

static bool both_are_kept(const int cells[CELLS])
{
	return cells[0] == 1 && cells[1] == 1;
}

static const struct program planted[] = {
	{2,
	 2,
	 {{ON("n"), ON("n")}, {ON("n"), ON("n")}},
	 {{"GetItem", "PutItem"}, {"GetItem", "PutItem"}},
	 count,
	 counted_two},
	{2,
	 2,
	 {{ON("b"), ON("a")}, {ON("a"), ON("b")}},
	 {{"GetItem", "PutItem"}, {"GetItem", "PutItem"}},
	 leave,
	 one_stays},
	{3,
	 3,
	 {{ON("x"), ON("a")}, {ON("y"), ON("b")}, {ON("a"), ON("b"), ON("c")}},
	 {{"GetItem", "PutItem"}, {"GetItem", "PutItem"}, {"GetItem", "GetItem", "PutItem"}},
	 tear,
	 is_whole},
};

TEST(planted_faults_are_found_and_fail_again)
{
	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++) {
		struct race_trace failed;

		arena = arena_new(0);
		unsigned runs = search(&planted[i], 200, &failed);
		CHECK(runs > 0);
		CHECK(runs == 0 || fails_again(&planted[i], &failed));
		arena_free(arena);
	}
}

/* Right behind, and before the other client goes on: not by chance. */
TEST(what_was_held_comes_right_behind_what_it_waited_for)
{
	static const struct program program = {2,
					       2,
					       {{ON("n"), ON("n")}, {ON("n"), ON("n")}},
					       {{"GetItem", "PutItem"}, {"GetItem", "UpdateItem"}},
					       forget,
					       both_are_kept};
	struct race_trace failed;

	arena = arena_new(0);
	unsigned runs = search(&program, 8, &failed);
	CHECK(runs > 0);
	CHECK(runs == 0 || fails_again(&program, &failed));
	arena_free(arena);
}

TEST(twins_pass_in_every_order)
{
	static const struct program twin = {
		2, 1, {{ON("n")}, {ON("n")}}, {{"UpdateItem"}, {"UpdateItem"}}, add, counted_two};
	struct race_trace last;

	arena = arena_new(0);
	CHECK(search(&twin, 200, &last) == 0);
	arena_free(arena);
}

TEST(ids_leave_out_what_differs_from_run_to_run)
{
	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace a = race_trace_in(arena, &facts), b = race_trace_in(arena, &facts);
	static const char *const same[][2] = {
		{"{\"pk\":\"9f1c0a52-aa10-4c51-8a53-0123456789ab\"}",
		 "{\"pk\":\"11111111-2222-4333-8444-fedcba987654\"}"},
		{"{\"ShardIterator\":\"arn|AAxyz==\"}", "{\"ShardIterator\":\"arn|BBq/zz=\"}"},
		{"{\"at\":{\"N\":\"1767225600\"}}", "{\"at\":{\"N\":\"1767225999\"}}"},
		{"{\"Key\":{\"a\":{\"S\":\"x\"},\"b\":{\"S\":\"y\"}},\"Limit\":3}",
		 "{\"Limit\":3,\"Key\":{\"b\":{\"S\":\"y\"},\"a\":{\"S\":\"x\"}}}"},
	};
	static const char *const other[][2] = {
		{"{\"n\":{\"N\":\"1\"}}", "{\"n\":{\"N\":\"2\"}}"},
		{"{\"pk\":\"decade\"}", "{\"pk\":\"facade\"}"},
		{"{\"a\":\"x\",\"b\":\"y\"}", "{\"a\":\"y\",\"b\":\"x\"}"},
		{"{\"a\":{\"BOOL\":true}}", "{\"a\":{\"BOOL\":false}}"},
		{"{\"Segment\":0}", "{\"Segment\":1}"},
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		size_t x = race_trace_arrive(&a, STR("PutItem"), str_of(same[i][0]), STR_ABSENT,
					     false);
		size_t y = race_trace_arrive(&b, STR("PutItem"), str_of(same[i][1]), STR_ABSENT,
					     false);
		CHECK(a.requests[x].id == b.requests[y].id);
	}
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		size_t x = race_trace_arrive(&a, STR("PutItem"), str_of(other[i][0]), STR_ABSENT,
					     false);
		size_t y = race_trace_arrive(&b, STR("PutItem"), str_of(other[i][1]), STR_ABSENT,
					     false);
		CHECK(a.requests[x].id != b.requests[y].id);
	}
	arena_free(arena);
}

/* Requests that always come behind the answer of the one before are one chain. */
TEST(what_follows_from_an_answer_goes_on_its_chain)
{
	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace trace;
	static const char *const bodies[] = {ON("a"), ON("b"), ON("c"), ON("d")};

	for (int times = 0; times < 2; times++) {
		trace = race_trace_in(arena, &facts);
		for (size_t i = 0; i < 4; i++) {
			size_t at = race_trace_arrive(&trace, STR("GetItem"), str_of(bodies[i]),
						      STR_ABSENT, false);

			race_trace_pick(&trace, at);
			race_trace_answer(&trace, at, 200, STR("{}"));
		}
		race_trace_learn(&facts, &trace);
	}
	race_trace_settle(&trace);
	CHECK_INT(trace.chains, 1);
	CHECK(race_trace_is_free(&facts, trace.requests[1].id, trace.requests[0].id));
	CHECK(!race_trace_is_free(&facts, trace.requests[0].id, trace.requests[1].id));
	arena_free(arena);
}

TEST(a_hold_ends_when_nothing_else_waits)
{
	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_plan plan = {.kind = PLAN_USUAL};
	struct race_trace usual, held;

	run(&planted[0], &plan, &facts, &usual);
	plan = (struct race_plan){.kind = PLAN_HOLD,
				  .holds = {{usual.requests[usual.order[1]].id, 0}},
				  .hold_count = 1};
	CHECK(!run(&planted[0], &plan, &facts, &held));
	CHECK(held.order_n == usual.order_n);
	CHECK(held.requests[held.order[3]].id == usual.requests[usual.order[1]].id);
	arena_free(arena);
}

/* What names itself is no consequence of another client's answer, and has ids of its own. */
TEST(a_client_that_names_itself_has_its_own_chain)
{
	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace trace = race_trace_in(arena, &facts);
	size_t made = race_trace_arrive(&trace, STR("CreateTable"), STR("{}"), STR_ABSENT, false);

	race_trace_pick(&trace, made);
	race_trace_answer(&trace, made, 200, STR("{}"));
	size_t ann = race_trace_arrive(&trace, STR("GetItem"), STR(ON("a")), STR("ann"), false);
	race_trace_pick(&trace, ann);
	race_trace_answer(&trace, ann, 200, STR("{}"));
	size_t bob = race_trace_arrive(&trace, STR("GetItem"), STR(ON("a")), STR("bob"), false);
	CHECK_INT(trace.requests[bob].parent, made);
	CHECK(trace.requests[bob].chain != trace.requests[ann].chain);
	CHECK(trace.requests[bob].id != trace.requests[ann].id);
	arena_free(arena);
}

/* Two chains of one trace, in an order of `places`; each reads one item and writes another. */
static struct race_trace skewed(const struct race_facts *facts, const size_t places[4],
				const char *last_body)
{
	const char *const bodies[] = {ON("x"), ON("y"), ON("y"), last_body};
	struct race_trace trace = race_trace_in(arena, facts);

	for (size_t k = 0; k < 4; k++) {
		size_t i = places[k];
		size_t at = race_trace_arrive(&trace, i % 2 == 0 ? STR("GetItem") : STR("PutItem"),
					      str_of(bodies[i]), i < 2 ? STR("ann") : STR("bob"),
					      false);

		race_trace_pick(&trace, at);
		race_trace_answer(&trace, at, 200, STR("{}"));
	}
	return trace;
}

TEST(writes_behind_reads_of_each_other_are_skewed)
{
	static const size_t mixed[] = {0, 2, 1, 3}, one_by_one[] = {0, 1, 2, 3};
	size_t places[4];

	arena = arena_new(0);
	const struct race_facts facts = {.arena = arena};
	struct race_trace trace = skewed(&facts, mixed, ON("x"));
	CHECK(race_anomaly_skew(&trace, places));
	CHECK(places[0] == 2 && places[1] == 3 && places[2] == 0 && places[3] == 1);
	CHECK(!race_anomaly_overwrite(&trace, 0, true, places));
	trace = skewed(&facts, one_by_one, ON("x"));
	CHECK(!race_anomaly_skew(&trace, places));
	trace = skewed(&facts, mixed, "{\"ConditionExpression\":\"n = 1\",\"pk\":\"x\"}");
	CHECK(!race_anomaly_skew(&trace, places));
	trace = skewed(&facts, mixed, ON("y"));
	CHECK(!race_anomaly_skew(&trace, places));
	arena_free(arena);
}

/* A request of a client without a name comes and waits; it is carried out. */
static size_t come(struct race_trace *trace, struct str operation)
{
	return race_trace_arrive(trace, operation, STR(ON("a")), STR_ABSENT, false);
}

static void carry_out(struct race_trace *trace, size_t request)
{
	race_trace_pick(trace, request);
	race_trace_answer(trace, request, 200, STR("{}"));
}

/* Two clients send the same: one reads, the other reads and writes, the first one writes. `is_slow`:
 * the other one's write comes when the first one's was answered. */
static struct race_trace lost_update(const struct race_facts *facts, bool is_slow)
{
	struct race_trace trace = race_trace_in(arena, facts);
	size_t read = come(&trace, STR("GetItem"));

	carry_out(&trace, read);
	size_t write = come(&trace, STR("PutItem"));
	carry_out(&trace, come(&trace, STR("GetItem")));
	if (is_slow)
		carry_out(&trace, write);
	carry_out(&trace, come(&trace, STR("PutItem")));
	if (!is_slow)
		carry_out(&trace, write);
	return trace;
}

TEST(clients_that_look_alike_are_told_apart_by_the_run_itself)
{
	size_t places[3];

	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace trace = race_trace_in(arena, &facts);
	size_t held = come(&trace, STR("GetItem"));

	/* here the first write is the other client's */
	carry_out(&trace, come(&trace, STR("GetItem")));
	carry_out(&trace, come(&trace, STR("PutItem")));
	carry_out(&trace, held);
	race_trace_learn(&facts, &trace);
	CHECK(race_trace_is_free(&facts, trace.requests[0].id, trace.requests[2].id));
	trace = lost_update(&facts, false);
	race_trace_settle(&trace);
	CHECK(race_anomaly_overwrite(&trace, 0, true, places));
	CHECK(places[0] == 0 && places[1] == 2 && places[2] == 3);
	arena_free(arena);
}

/* A timer's request comes before what goes on with the answer, as it did in the plain run. */
TEST(a_timer_that_is_early_does_not_take_the_place_of_what_follows)
{
	size_t places[3];

	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace trace = race_trace_in(arena, &facts);
	for (size_t i = 0; i < 4; i++)
		carry_out(&trace, come(&trace, i % 2 == 0 ? STR("GetItem") : STR("PutItem")));
	race_trace_learn(&facts, &trace);
	trace = race_trace_in(arena, &facts);
	carry_out(&trace, come(&trace, STR("GetItem")));
	size_t early = come(&trace, STR("GetItem"));
	size_t write = come(&trace, STR("PutItem"));
	carry_out(&trace, early);
	carry_out(&trace, come(&trace, STR("PutItem")));
	carry_out(&trace, write);
	race_trace_settle(&trace);
	CHECK(trace.requests[write].chain == trace.requests[0].chain);
	CHECK(trace.requests[early].chain != trace.requests[0].chain);
	CHECK(race_anomaly_overwrite(&trace, 0, true, places));
	arena_free(arena);
}

/* Whose a request is follows from when it came, or from the order that the run was to take. */
TEST(an_order_says_whose_its_requests_are)
{
	static const size_t chains[] = {0, 1, 0, 1};
	uint64_t ids[4];
	size_t places[3];

	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace trace = lost_update(&facts, true);
	for (size_t k = 0; k < 4; k++)
		ids[k] = trace.requests[trace.order[k]].id;
	const struct race_plan plan = {
		.kind = PLAN_ORDER, .order = ids, .chains = chains, .order_n = 4};
	race_plan_settle(NULL, &trace);
	CHECK(!race_anomaly_overwrite(&trace, 0, true, places));
	race_plan_settle(&plan, &trace);
	CHECK(race_anomaly_overwrite(&trace, 0, true, places));
	ids[3]++; /* another order: the run did not follow it */
	race_plan_settle(&plan, &trace);
	CHECK(!race_anomaly_overwrite(&trace, 0, true, places));
	arena_free(arena);
}

TEST(what_was_read_again_is_not_lost)
{
	static const struct {
		const char *client, *operation;
	} steps[] = {
		{"ann", "GetItem"}, {"bob", "PutItem"}, {"ann", "GetItem"}, {"ann", "PutItem"}};
	size_t places[3];

	arena = arena_new(0);
	const struct race_facts facts = {.arena = arena};
	for (size_t again = 0; again < 2; again++) {
		struct race_trace trace = race_trace_in(arena, &facts);

		for (size_t i = 0; i < 4; i++) {
			if (i != 2 || again)
				carry_out(&trace,
					  race_trace_arrive(&trace, str_of(steps[i].operation),
							    STR(ON("a")), str_of(steps[i].client),
							    false));
		}
		CHECK(race_anomaly_overwrite(&trace, 0, true, places) == (again == 0));
	}
	arena_free(arena);
}

/* A read lags behind the write that names its key; one with ConsistentRead never does. */
TEST(a_read_lags_behind_a_write_of_its_item)
{
	static const char *const bodies[] = {ON("a"), ON("b"), ON("a"),
					     "{\"TableName\":\"t\",\"Key\":{\"pk\":{\"S\":\"a\"}},"
					     "\"ConsistentRead\":true}"};

	arena = arena_new(0);
	struct race_facts facts = {.arena = arena};
	struct race_trace usual = race_trace_in(arena, &facts);
	struct race_plan plan;

	for (size_t i = 0; i < 4; i++) {
		size_t at = race_trace_arrive(&usual, i < 2 ? STR("PutItem") : STR("GetItem"),
					      str_of(bodies[i]), STR_ABSENT, false);

		race_trace_pick(&usual, at);
		race_trace_answer(&usual, at, 200, STR("{}"));
	}
	struct race_search *search =
		race_search_new(arena, &usual, &facts, 1, 1u << TROUBLE_LAGGED);
	CHECK(race_search_next(search, &plan));
	CHECK(plan.trouble.kind == TROUBLE_LAGGED);
	CHECK(plan.trouble.request == usual.requests[2].id);
	CHECK(plan.trouble.since == usual.requests[0].id);
	CHECK(race_search_next(search, &plan) && plan.trouble.kind == TROUBLE_NONE);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(planted_faults_are_found_and_fail_again),
	  TEST_CASE(what_was_held_comes_right_behind_what_it_waited_for),
	  TEST_CASE(twins_pass_in_every_order),
	  TEST_CASE(ids_leave_out_what_differs_from_run_to_run),
	  TEST_CASE(what_follows_from_an_answer_goes_on_its_chain),
	  TEST_CASE(a_hold_ends_when_nothing_else_waits),
	  TEST_CASE(a_client_that_names_itself_has_its_own_chain),
	  TEST_CASE(writes_behind_reads_of_each_other_are_skewed),
	  TEST_CASE(clients_that_look_alike_are_told_apart_by_the_run_itself),
	  TEST_CASE(a_timer_that_is_early_does_not_take_the_place_of_what_follows),
	  TEST_CASE(an_order_says_whose_its_requests_are),
	  TEST_CASE(what_was_read_again_is_not_lost),
	  TEST_CASE(a_read_lags_behind_a_write_of_its_item))
