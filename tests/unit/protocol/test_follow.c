/* Auto scaling by the minute: cooldowns, and directions that are off. tests/unit/server/test_forecast.c
 * has the alarms. */
#include "protocol/throughput/follow.h"
#include "tests/unit/test.h"

/* Minutes of `used` until the rate is another one; 0: not within 200. */
static int minutes_until_change(struct follow *follow, const struct follow_rule *rule, int64_t rate,
				double used, int64_t *minute)
{
	for (int n = 1; n <= 200; n++) {
		if (follow_minute(follow, rule, rate, used, (*minute)++) != rate)
			return n;
	}
	return 0;
}

TEST(cooldowns_follow_changes)
{
	const struct follow_rule rule = {
		.least = 10, .most = 1000, .target = 50, .in_cooldown = 3600, .out_cooldown = 600};
	struct follow follow = {0};
	int64_t minute = 1000;

	CHECK_INT(minutes_until_change(&follow, &rule, 100, 90, &minute), 3);
	CHECK_INT(minutes_until_change(&follow, &rule, 100, 90, &minute), 11);
	CHECK_INT(minutes_until_change(&follow, &rule, 100, 5, &minute), 61);
}

TEST(directions_are_off)
{
	const struct follow_rule up = {.least = 10, .most = 1000, .target = 50, .is_in_off = true},
				 down = {.least = 10,
					 .most = 1000,
					 .target = 50,
					 .is_out_off = true};
	struct follow follow = {0}, other = {0};
	int64_t minute = 1000;

	CHECK_INT(minutes_until_change(&follow, &up, 100, 5, &minute), 0);
	CHECK_INT(minutes_until_change(&follow, &up, 100, 90, &minute), 3);
	CHECK_INT(minutes_until_change(&other, &down, 100, 90, &minute), 0);
	CHECK_INT(minutes_until_change(&other, &down, 100, 5, &minute), 16);
}

TEST(nothing_is_lowered_without_consumption)
{
	const struct follow_rule rule = {.least = 10, .most = 1000, .target = 50};
	struct follow follow = {0};
	int64_t minute = 1000;

	CHECK_INT(minutes_until_change(&follow, &rule, 100, 0, &minute), 0);
	CHECK_INT(minutes_until_change(&follow, &rule, 100, 0.01, &minute), 16);
}

TEST_MAIN(TEST_CASE(nothing_is_lowered_without_consumption), TEST_CASE(cooldowns_follow_changes), TEST_CASE(directions_are_off))
