/* The limit of a pull in virtual time: rounds of a second's units at most, with work between. */
#include "server/pull/pull_pace.h"

#include "tests/unit/test.h"

#define MS_NS UINT64_C(1000000)
#define ROUND_MAX 512.0 /* four pages of 1 MB */
#define ROUNDS 400

static uint64_t seed = 54;

static double random_part(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 40) / (double)(1 << 24);
}

/* Units a second of a pull whose work takes such a part of the time that its units may take. */
static double rate_of(double limit, double work, double jitter)
{
	uint64_t now = 7 * MS_NS, began = now;
	struct pull_pace pace = pull_pace_begin(limit, now);
	double all = 0, most = limit < ROUND_MAX ? limit : ROUND_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		double units = most * (0.5 + random_part() / 2);
		double share = work * (1 + jitter * (2 * random_part() - 1));

		now += (uint64_t)(share * units / limit * 1e9);
		now += (uint64_t)pull_pace_wait_ms(&pace, units, now) * MS_NS;
		all += units;
	}
	return all / ((double)(now - began) / 1e9);
}

static bool is_within(double rate, double wanted, double part)
{
	return rate > wanted * (1 - part) && rate < wanted * (1 + part);
}

TEST(a_limit_holds_at_any_rate)
{
	static const double limits[] = {1, 50, 100, 250, 1000, 10000};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		CHECK(is_within(rate_of(limits[i], 0, 0), limits[i], 0.01));
		CHECK(is_within(rate_of(limits[i], 0.5, 0.9), limits[i], 0.01));
		/* some rounds take longer than their units may: made up for */
		CHECK(is_within(rate_of(limits[i], 0.8, 0.9), limits[i], 0.05));
		/* work that takes longer bounds the rate */
		CHECK(is_within(rate_of(limits[i], 2, 0), limits[i] / 2, 0.01));
	}
}

TEST(a_pause_is_not_made_up_for)
{
	struct pull_pace pace = pull_pace_begin(100, 0);

	CHECK_INT(pull_pace_wait_ms(&pace, 100, 0), 1001);
	CHECK_INT(pull_pace_wait_ms(&pace, 100, 60000 * MS_NS), 0);
	/* a second's units more at once, not sixty */
	CHECK_INT(pull_pace_wait_ms(&pace, 100, 60000 * MS_NS), 0);
	CHECK_INT(pull_pace_wait_ms(&pace, 100, 60000 * MS_NS), 1001);
}

TEST_MAIN(TEST_CASE(a_limit_holds_at_any_rate), TEST_CASE(a_pause_is_not_made_up_for))
