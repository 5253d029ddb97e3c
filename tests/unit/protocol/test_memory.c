/*
 * Memory that runs out: for requests of every kind, each of our own allocations fails in a process of its own. The process ends with one
 * line, or gives the right answer or InternalServerError; what it left in the data file is what was before or what should be afterwards.
 *
 * The linker turns malloc, calloc and realloc of our own objects into those of this file.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/protocol/world.h"

#define FAILURES_MAX 10 /* told before a test gives up */

static uint64_t fail_in; /* 0: none fails */

static bool is_exhausted(void)
{
	return fail_in > 0 && --fail_in == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_malloc(size_t size)
{
	return is_exhausted() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_exhausted() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return is_exhausted() ? NULL : __real_realloc(p, size);
}

static struct world_place place;

enum ending { ENDED_RIGHT, ENDED_FAILED, ENDED_WRONG, ENDED_ABORTED, ENDED_UNTOUCHED };

struct trial {
	const struct world_scenario *scenario;
	struct arena *arena;
	struct str before, after, answer; /* what is seen, what is told */
};

/* The whole life of a process: start, request, and all with one allocation that fails. */
static enum ending live(struct trial *trial, uint64_t n)
{
	fail_in = n;
	struct world world = world_open(place.path);
	struct op_response response = world_call(&world, trial->scenario->request);
	bool is_untouched = fail_in > 0;

	fail_in = 0;
	if (is_untouched)
		return ENDED_UNTOUCHED;
	if (response.status == trial->scenario->status && str_eq(response.body, trial->answer))
		return ENDED_RIGHT;
	return response.status == 500 ? ENDED_FAILED : ENDED_WRONG;
}

/* What a process told on stderr. */
static struct str read_all(int fd, char *bytes, size_t max)
{
	size_t n = 0;
	ssize_t got;

	while (n < max && (got = read(fd, bytes + n, max - n)) != 0) {
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			break;
	}
	return (struct str){bytes, n};
}

static bool is_one_line(struct str text)
{
	const char *end = memchr(text.p, '\n', text.n);

	return end && end + 1 == text.p + text.n && str_contains(text, STR("out of memory"));
}

/* Lives in a process of its own. */
static enum ending live_apart(struct trial *trial, uint64_t n)
{
	static const struct rlimit no_core = {0, 0};
	char bytes[2000];
	int told[2], status = 0;

	if (pipe(told) != 0)
		abort();
	pid_t child = fork();
	if (child == 0) {
		dup2(told[1], STDERR_FILENO);
		setrlimit(RLIMIT_CORE, &no_core);
		_exit((int)live(trial, n));
	}
	close(told[1]);
	struct str text = read_all(told[0], bytes, sizeof(bytes));
	close(told[0]);
	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFEXITED(status))
		return (enum ending)WEXITSTATUS(status);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !is_one_line(text)) {
		fprintf(stderr, "%s: allocation %llu: status %d: " STR_FMT "\n", trial->scenario->request.op, (unsigned long long)n, status,
			STR_ARG(text));
		return ENDED_WRONG;
	}
	return ENDED_ABORTED;
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
	enum ending ending = live_apart(trial, n);
	struct world world = world_open(place.path);
	world_upkeep(&world);
	struct str view = world_view(&world, world.arena);

	int failures = test_failures;

	CHECK(ending != ENDED_WRONG);
	CHECK(str_eq(view, trial->before) || str_eq(view, trial->after));
	if (ending == ENDED_RIGHT || ending == ENDED_UNTOUCHED)
		CHECK(str_eq(view, trial->after));
	if (test_failures > failures)
		fprintf(stderr, "%s %s: allocation %llu ended %d\n", trial->scenario->request.op, trial->scenario->request.body, (unsigned long long)n,
			(int)ending);
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
		/* the start's allocations come first and are the same for all: some of them are enough for most */
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
