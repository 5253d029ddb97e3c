/* Ranges that are split for their heat, by a client that sends what is admitted each tenth of a
 * second. */
#include "protocol/throughput/meter.h"

#include "tests/unit/test.h"

#define START_MS 1700000040000 /* a whole minute */
#define STEP_MS 100
#define STEPS_OF_A_MINUTE 600

static const struct meter_rules rules = {.burst_seconds = 300, .is_adaptive = true, .servers = 1};

/* One range: 1,000 write units a second, of a table that has more. */
static const struct meter_grants grants = {.is_on_demand = false,
					   .sides = {[METER_READ] = {.rate = 3000, .warm = 3000},
						     [METER_WRITE] = {.rate = 5000, .warm = 1000}}};

struct key {
	uint32_t place;
	int64_t units; /* a second */
};

/* The keys' refused units of a minute. */
static int64_t send_minute(struct meter_part *part, const struct meter_rules *by, int64_t minute,
			   const struct key *keys, size_t n)
{
	struct meter_gauge *gauge = &part->sides[METER_WRITE];
	int64_t refused = 0;

	for (int64_t step = 0; step < STEPS_OF_A_MINUTE; step++) {
		int64_t now_ms = START_MS + minute * 60000 + step * STEP_MS;

		meter_tune(part, &grants, by, now_ms);
		for (size_t i = 0; i < n; i++) {
			const struct key *key = &keys[((size_t)step + i) % n];
			size_t range = meter_range_of(gauge, key->place);

			if (meter_refuses(gauge, range) == METER_NONE)
				meter_take(gauge, range, key->place, key->units * BUCKET_UNIT / 10,
					   now_ms);
			else
				refused += key->units / 10;
		}
	}
	return refused;
}

TEST(a_hot_key_comes_to_have_a_range_of_its_own)
{
	/* AWS: Developer Guide, "DynamoDB burst and adaptive capacity": 900 of one key beside 400
	 * of others */
	const struct key keys[] = {{0x10000000, 100},
				   {0x40000000, 100},
				   {0x80000000, 900},
				   {0x80000001, 100},
				   {0xC0000000, 100}};
	struct meter_part part = {0};
	const struct meter_gauge *gauge = &part.sides[METER_WRITE];

	for (int64_t minute = 0; minute < HEAT_MINUTES; minute++)
		CHECK(send_minute(&part, &rules, minute, keys, 5) > 10000);
	CHECK_INT((int)gauge->range_count, 1);
	for (int64_t minute = HEAT_MINUTES; minute < 3 * HEAT_MINUTES; minute++)
		(void)send_minute(&part, &rules, minute, keys, 5);
	CHECK_INT((int)gauge->range_count, 3);
	CHECK_INT((int)part.sides[METER_READ].range_count, 3);
	CHECK(send_minute(&part, &rules, 3 * HEAT_MINUTES, keys, 5) == 0);
	size_t hot = meter_range_of(gauge, 0x80000000);
	for (size_t i = 0; i < 5; i++)
		CHECK((meter_range_of(gauge, keys[i].place) == hot) == (i == 2));
	meter_clear(&part);
}

TEST(a_range_of_one_key_is_not_split)
{
	const struct key keys[] = {{0x80000000, 1400}};
	struct meter_part part = {0};
	int64_t last = 0;

	for (int64_t minute = 0; minute < 3 * HEAT_MINUTES; minute++)
		last = send_minute(&part, &rules, minute, keys, 1);
	CHECK_INT((int)part.sides[METER_WRITE].range_count, 1);
	CHECK(last > 300 * 60 && last < 500 * 60);
	meter_clear(&part);
}

TEST(what_is_not_hot_or_not_adaptive_is_not_split)
{
	const struct key cool[] = {{1, 400}, {0x80000000, 400}},
			 hot[] = {{1, 700}, {0x80000000, 700}};
	const struct meter_rules fixed = {.burst_seconds = 300, .servers = 1};
	struct meter_part part = {0}, other = {0};

	for (int64_t minute = 0; minute < 2 * HEAT_MINUTES; minute++) {
		CHECK(send_minute(&part, &rules, minute, cool, 2) == 0);
		(void)send_minute(&other, &fixed, minute, hot, 2);
	}
	/* nine minutes in a row are too few */
	for (int64_t minute = 2 * HEAT_MINUTES; minute < 4 * HEAT_MINUTES; minute++)
		(void)send_minute(&part, &rules, minute, minute % HEAT_MINUTES ? hot : cool, 2);
	CHECK_INT((int)part.sides[METER_WRITE].range_count, 1);
	CHECK_INT((int)other.sides[METER_WRITE].range_count, 1);
	meter_clear(&part);
	meter_clear(&other);
}

TEST(more_throughput_keeps_what_was_split)
{
	const struct key keys[] = {{0x10000000, 700}, {0x20000000, 700}};
	struct meter_grants more = grants;
	struct meter_part part = {0};
	const struct meter_gauge *gauge = &part.sides[METER_WRITE];

	for (int64_t minute = 0; minute <= HEAT_MINUTES; minute++)
		(void)send_minute(&part, &rules, minute, keys, 2);
	CHECK_INT((int)gauge->range_count, 2);
	more.sides[METER_WRITE].warm = 4000;
	meter_tune(&part, &more, &rules, START_MS + 60 * 60000);
	CHECK_INT((int)gauge->range_count, 5);
	CHECK(meter_range_of(gauge, 0x10000000) != meter_range_of(gauge, 0x20000000));
	/* each hash lies in one range */
	for (uint64_t place = 0; place <= UINT32_MAX; place += 0x00FFFFFF)
		CHECK(meter_range_of(gauge, (uint32_t)place) < 5);
	CHECK(meter_range_of(gauge, UINT32_MAX) < 5);
	meter_clear(&part);
}

TEST_MAIN(TEST_CASE(a_hot_key_comes_to_have_a_range_of_its_own),
	  TEST_CASE(a_range_of_one_key_is_not_split),
	  TEST_CASE(what_is_not_hot_or_not_adaptive_is_not_split),
	  TEST_CASE(more_throughput_keeps_what_was_split))
