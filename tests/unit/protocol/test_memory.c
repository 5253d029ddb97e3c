/*
 * Memory that runs out: for requests of every kind, each of our own allocations fails in a process
 * of its own. The process ends with one line, or gives the right answer or InternalServerError;
 * what it left in the data file is what was before or what should be afterwards.
 */
#include "tests/unit/exhaust.h"
#include "tests/unit/protocol/world.h"

#define FAILURES_MAX 10 /* told before a test gives up */

static struct world_place place;

enum ending { ENDED_RIGHT, ENDED_FAILED, ENDED_WRONG, ENDED_ABORTED, ENDED_UNTOUCHED };

struct trial {
	const struct world_scenario *scenario;
	struct arena *arena;
	struct str before, after, answer; /* what is seen, what is told */
	uint64_t n;                       /* the allocation that fails */
};

/* The whole life of a process: start, request, and all with one allocation that fails. */
static int live(void *context)
{
	struct trial *trial = context;

	exhaust_in = trial->n;
	struct world world = world_open(place.path);
	struct op_response response = world_call(&world, trial->scenario->request);
	bool is_untouched = exhaust_in > 0;

	exhaust_in = 0;
	if (is_untouched)
		return ENDED_UNTOUCHED;
	if (response.status == trial->scenario->status && str_eq(response.body, trial->answer))
		return ENDED_RIGHT;
	return response.status == 500 ? ENDED_FAILED : ENDED_WRONG;
}

/* Lives in a process of its own. */
static enum ending live_apart(struct trial *trial)
{
	int status = exhaust_apart(live, trial);

	return status == EXHAUST_ABORTED  ? ENDED_ABORTED
	       : status == EXHAUST_BROKEN ? ENDED_WRONG
					  : (enum ending)status;
}

static void run_without_fault(struct trial *trial)
{
	world_place_reset(&place);
	struct world world = world_open(place.path);
	trial->before = world_view(&world, trial->arena);
	struct op_response response = world_call(&world, trial->scenario->request);
	CHECK_INT(response.status, trial->scenario->status);
	trial->answer = str_copy(trial->arena, response.body);
	world_upkeep(&world);
	trial->after = world_view(&world, trial->arena);
	world_free(&world);
}

static bool try_allocation(struct trial *trial, uint64_t n)
{
	world_place_reset(&place);
	trial->n = n;
	enum ending ending = live_apart(trial);
	struct world world = world_open(place.path);
	world_upkeep(&world);
	struct str view = world_view(&world, world.arena);

	int failures = test_failures;

	CHECK(ending != ENDED_WRONG);
	CHECK(str_eq(view, trial->before) || str_eq(view, trial->after));
	if (ending == ENDED_RIGHT || ending == ENDED_UNTOUCHED)
		CHECK(str_eq(view, trial->after));
	if (test_failures > failures)
		fprintf(stderr, "%s %s: allocation %llu ended %d\n", trial->scenario->request.op,
			trial->scenario->request.body, (unsigned long long)n, (int)ending);
	world_free(&world);
	return ending != ENDED_UNTOUCHED;
}

TEST(every_allocation_may_fail)
{
	uint64_t total = 0;

	for (size_t i = 0; i < WORLD_SCENARIOS && test_failures <= FAILURES_MAX; i++) {
		struct trial trial = {.scenario = &world_scenarios[i], .arena = arena_new(1 << 20)};
		uint64_t n = 1;

		run_without_fault(&trial);
		/* the start's allocations come first and are the same for all: some of them are
		 * enough for most */
		for (; test_failures <= FAILURES_MAX && try_allocation(&trial, n); total++)
			n += i == 0 || n >= 22 ? TEST_SLOWNESS : 7 * TEST_SLOWNESS;
		arena_free(trial.arena);
	}
	if (getenv("FAULTS_ALL"))
		printf("%llu allocations failed\n", (unsigned long long)total);
}

int main(void)
{
	static const struct test_case cases[] = {TEST_CASE(every_allocation_may_fail)};

	place = world_place_new();
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	world_place_free(&place);
	return status;
}
