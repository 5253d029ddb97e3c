/* The thread's CPU time, most of it guessed: between what the thread has taken and a millisecond
 * more, whether it works or sleeps. */
#include "server/platform/cpu_clock.h"

#include <time.h>

#include "storage/monotonic.h"
#include "tests/unit/test.h"

#define SKEW_NS 100000u /* of two clocks of the system within a millisecond */
#define WORK_NS 20000000u

static uint64_t taken_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t latest;

/* True where it was guessed, not read. */
static bool is_right(void)
{
	uint64_t before = taken_ns(), shown = cpu_clock_ns(monotonic_ns()), after = taken_ns();

	CHECK(shown + SKEW_NS >= before);
	CHECK(shown <= after + CPU_CLOCK_GUESS_NS + SKEW_NS);
	CHECK(shown >= latest);
	latest = shown;
	return shown > after;
}

TEST(it_follows_a_thread_that_works)
{
	uint64_t end = taken_ns() + WORK_NS;

	while (taken_ns() < end)
		is_right();
}

TEST(it_does_not_count_sleep)
{
	const struct timespec moment = {0, 300000};
	uint64_t before = cpu_clock_ns(monotonic_ns());
	unsigned guesses = 0;

	for (int i = 0; i < 100; i++) {
		nanosleep(&moment, NULL);
		guesses += is_right();
	}
	CHECK(guesses > 0);
	CHECK(latest - before < taken_ns() + CPU_CLOCK_GUESS_NS);
}

TEST_MAIN(TEST_CASE(it_follows_a_thread_that_works), TEST_CASE(it_does_not_count_sleep))
