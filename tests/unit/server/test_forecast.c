/* Parts of a forecast without clock and file: auto scaling by the minute, keys of cells,
 * units of items. */
#include "protocol/throughput/follow.h"
#include "server/forecast/observed.h"
#include "server/forecast/spread.h"
#include "tests/unit/test.h"

static const struct follow_rule rule = {.least = 100, .most = 1000, .target = 70};

/* Minutes until the rate is another one. */
static int minutes_until_other(struct follow *scaling, int64_t rate, double used, int64_t *minute)
{
	for (int n = 1; n < 200; n++) {
		if (follow_minute(scaling, &rule, rate, used, (*minute)++) != rate)
			return n;
	}
	return 0;
}

TEST(scaling_follows_its_alarms)
{
	struct follow scaling = {0};
	int64_t minute = 0;

	CHECK_INT(minutes_until_other(&scaling, 100, 69, &minute), 0);
	CHECK_INT(minutes_until_other(&scaling, 100, 350, &minute), 3); /* the change comes after */
	CHECK_INT(minutes_until_other(&scaling, 500, 70, &minute), 16);
	for (int i = 0; i < 2; i++)
		CHECK_INT(follow_minute(&scaling, &rule, 100, 350, minute++), 100);
	CHECK_INT(follow_minute(&scaling, &rule, 100, 350, minute++), 500);
	CHECK_INT(minutes_until_other(&scaling, 1000, 5000, &minute), 0); /* it has its maximum */
}

TEST(decreases_of_a_day_are_limited)
{
	struct follow scaling = {0};
	int64_t minute = 0;

	for (int i = 0; i < 4; i++)
		CHECK_INT(minutes_until_other(&scaling, 500, 70, &minute), 16);
	CHECK_INT(minutes_until_other(&scaling, 500, 70, &minute), 60); /* after the fourth */
}

static int cells_of(const struct spread *spread, int32_t key)
{
	int n = 0;

	for (size_t i = 0; i < CELLS; i++)
		n += spread->key[i] == key;
	return n;
}

TEST(cells_have_keys_by_their_shares)
{
	struct arena *arena = arena_new(0);
	struct plan_keys keys = {
		.spread = SPREAD_HOT, .count = 2, .share = 0.6, .period_hours = 24};
	struct spread spread = {.keys = &keys, .space = STR("t/"), .seed = 1};

	spread_make(arena, &spread, true);
	CHECK_INT(cells_of(&spread, 0), 300);
	CHECK_INT(cells_of(&spread, 1), 300);
	CHECK_INT(cells_of(&spread, SPREAD_REST), 400);
	keys = (struct plan_keys){
		.spread = SPREAD_ZIPF, .count = 3, .exponent = 1, .period_hours = 24};
	spread_make(arena, &spread, false);
	CHECK_INT(cells_of(&spread, 0), 545); /* 1, 1/2, 1/3 of 11/6 */
	CHECK_INT(cells_of(&spread, 1), 273);
	CHECK_INT(cells_of(&spread, 2), 182);
	keys = (struct plan_keys){.spread = SPREAD_TIME, .count = 1, .period_hours = 24};
	spread_make(arena, &spread, false);
	CHECK_INT(cells_of(&spread, 0), CELLS);
	CHECK(!spread_move(arena, &spread, 23) && spread_move(arena, &spread, 24));
	CHECK_STR(spread_name(arena, &spread, 0, 47), "the key of day 2");
	arena_free(arena);
}

TEST(hours_of_the_day_are_covered)
{
	double hours[PLAN_HOURS] = {0};
	struct observed observed = {0};

	observed_spread(hours, 1800000, 9000000, 120); /* 00:30 to 02:30 */
	CHECK(hours[0] == 30 && hours[1] == 60 && hours[2] == 30 && hours[3] == 0);
	observed_cover(&observed, 0, (int64_t)24 * 3600000 - 1);
	CHECK(observed.seconds > 86399 && observed.hours[0] == 0); /* less than a day */
	observed_cover(&observed, 0, (int64_t)36 * 3600000);
	CHECK(observed.hours[0] == 7200 && observed.hours[23] == 3600);
}

TEST(a_key_of_few_requests_does_not_stand_out)
{
	struct arena *arena = arena_new(0);
	struct observed observed = {.arena = arena, .keys = STR_ABSENT};
	const struct observed_pattern wanted = {.name = STR("p"),
						.table = STR("t"),
						.index = STR(""),
						.group = STR("g"),
						.is_write = true};
	struct observed_key keys[] = {{STR("hot"), 50}, {STR("few"), 8}};

	struct observed_pattern *pattern = observed_pattern_for(&observed, &wanted);
	pattern->requests = pattern->counted = 50;
	observed_add_units(&observed, pattern, STR(""), 100);
	struct observed_part *part = observed_part_for(&observed, STR("g"), STR("t"), STR(""));
	part->keys = keys;
	part->n = 2;
	observed.seconds = 10;
	CHECK_STR(
		observed_plan(&observed, STR("")),
		"{\"tables\":[],\"patterns\":[{\"name\":\"p\",\"table\":\"t\",\"does\":\"write\","
		"\"units\":2.0,\"rate\":5.0,\"keys\":{\"values\":{\"hot\":0.5}},\"indexes\":[]}]}");
	arena_free(arena);
}

TEST(a_meter_takes_seconds_at_once)
{
	const struct meter_rules rules = {.burst_seconds = 300, .is_adaptive = true, .servers = 1};
	const struct meter_grants grants = {.sides = {[METER_READ] = {.rate = 10, .warm = 10},
						      [METER_WRITE] = {.rate = 10, .warm = 10}}};
	struct meter_part part = {0};
	struct meter_gauge *gauge = &part.sides[METER_READ];

	meter_tune(&part, &grants, &rules, 1000);
	meter_take_steadily(gauge, 0, 7, 60 * 30 * BUCKET_UNIT, 60, 1000);
	CHECK_INT(gauge->consumed, 1800 * BUCKET_UNIT);
	CHECK_INT(gauge->peak.in_second, 30 * BUCKET_UNIT);
	CHECK_INT(peak_period_end(&gauge->peak), 1801000);
	meter_tune(&part, &grants, &rules, 61000);
	CHECK_INT(gauge->whole.left, 1800 * BUCKET_UNIT); /* of 3,000, with 600 that came */
	CHECK(meter_range_bucket(gauge, 0)->rate == 3000);
	CHECK_INT(meter_whole_limit(gauge), METER_PROVISIONED);
	meter_clear(&part);
}

TEST(units_are_those_of_the_service)
{
	CHECK(plan_units(METER_READ, 4096, true, false) == 1);
	CHECK(plan_units(METER_READ, 4097, true, false) == 2);
	CHECK(plan_units(METER_READ, 1, false, false) == 0.5);
	CHECK(plan_units(METER_READ, 8000, true, true) == 4);
	CHECK(plan_units(METER_WRITE, 1025, false, false) == 2);
	CHECK(plan_units(METER_WRITE, 3000, false, true) == 6);
}

TEST_MAIN(TEST_CASE(scaling_follows_its_alarms), TEST_CASE(decreases_of_a_day_are_limited),
	  TEST_CASE(cells_have_keys_by_their_shares),
	  TEST_CASE(hours_of_the_day_are_covered),
	  TEST_CASE(a_key_of_few_requests_does_not_stand_out),
	  TEST_CASE(a_meter_takes_seconds_at_once), TEST_CASE(units_are_those_of_the_service))
