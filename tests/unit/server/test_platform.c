/* How many cores a process may use: those of its affinity, as far as the quota of its container
 * goes; and how they are used. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "server/platform/platform.h"
#include "tests/unit/test.h"

static unsigned within(unsigned cores, const char *text)
{
	char path[] = "/tmp/dynalith-cpu-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	cores = platform_cores_within(cores, path);
	CHECK_INT(unlink(path), 0);
	return cores;
}

#ifdef __linux__

TEST(a_quota_counts_in_whole_cores)
{
	CHECK_INT(within(8, "max 100000\n"), 8);
	CHECK_INT(within(8, "200000 100000\n"), 2);
	CHECK_INT(within(8, "150000 100000\n"), 2);
	CHECK_INT(within(8, "25000 100000\n"), 1);
	CHECK_INT(within(2, "400000 100000\n"), 2);
	CHECK_INT(within(64, "18446744073709551615 1\n"), 64);
}

TEST(what_is_no_quota_limits_nothing)
{
	const char *const texts[] = {"", "\n", "max\n", "100000", "x 100000\n", "100000 0\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_INT(within(8, texts[i]), 8);
	CHECK_INT(within(8, "0 100000\n"), 1);
	CHECK_INT(platform_cores_within(8, "/tmp/dynalith-there-is-none"), 8);
}

TEST(affinity_counts)
{
	cpu_set_t before, one;
	size_t first = 0;

	CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
	CHECK(platform_cores() >= 1 && platform_cores() <= (unsigned)CPU_COUNT(&before));
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
	CHECK_INT(platform_cores(), 1);
	CHECK_INT(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* Two threads on one core: each waits while the other runs. */
TEST_MAIN(TEST_CASE(a_quota_counts_in_whole_cores), TEST_CASE(what_is_no_quota_limits_nothing),
	  TEST_CASE(affinity_counts))

#else

TEST(there_is_a_core)
{
	CHECK(platform_cores() >= 1);
	CHECK_INT(within(8, "200000 100000\n"), 8);
}

TEST_MAIN(TEST_CASE(there_is_a_core))

#endif
