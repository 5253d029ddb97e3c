/* rollouts.def: which change is in force in a region on a day, and what --as takes. */
#include "protocol/rollouts.h"
#include "tests/unit/test.h"

static bool has(const char *region, const char *day, enum rollout rollout)
{
	return rollouts_in(str_of(region), str_of(day)) >> rollout & 1;
}

TEST(each_day_and_region_of_a_row_has_its_side)
{
	for (enum rollout i = 0; i < ROLLOUT_COUNT; i++) {
		const struct rollout_row *row = rollout_row(i);

		CHECK(row->seen[0].day && strcmp(row->began, row->seen[0].day) <= 0);
		CHECK(!row->seen[ROLLOUT_SEEN_MAX - 1].day);
		for (size_t j = 0; j < ROLLOUT_SEEN_MAX && row->seen[j].day; j++) {
			struct str rest =
				str_of(row->seen[j].regions ? row->seen[j].regions : "us-east-1");

			CHECK(j == 0 || strcmp(row->seen[j - 1].day, row->seen[j].day) <= 0);
			while (rest.n > 0) {
				struct str region = str_cut(&rest, ' ');

				CHECK(rollouts_know(region));
				CHECK((rollouts_in(region, str_of(row->seen[j].day)) >> i & 1) ==
				      !row->seen[j].is_without);
				CHECK((rollouts_in(region, STR_ABSENT) >> i & 1) ==
				      !row->seen[j].is_without);
				CHECK(!(rollouts_in(region, STR("2026-06-08")) >> i & 1));
			}
		}
	}
}

TEST(regions_differ_as_the_sources_say)
{
	CHECK(has("us-east-1", NULL, ROLLOUT_WRITE_LAYER) &&
	      !has("us-east-1", NULL, ROLLOUT_SCAN_LAYER));
	CHECK(has("eu-west-2", "2026-10-08", ROLLOUT_TRANSACT_WRITE_LAYER) &&
	      !has("eu-west-2", "2026-10-07", ROLLOUT_TRANSACT_WRITE_LAYER));
	CHECK(has("us-east-2", "2026-10-03", ROLLOUT_WRITE_LAYER) &&
	      !has("us-east-2", "2026-10-02", ROLLOUT_WRITE_LAYER));
	CHECK(!has("me-central-1", NULL, ROLLOUT_WRITE_LAYER) &&
	      !has("me-central-1", NULL, ROLLOUT_BATCH_GET_LAYER));
	CHECK(!rollouts_know(STR("local")) && !rollouts_know(STR("")) &&
	      !rollouts_know(STR("us-east-1 us-west-1")));
	CHECK(rollouts_in(STR("local"), STR_ABSENT) == rollouts_in(STR("us-east-1"), STR_ABSENT));
	CHECK(has("local", "2026-10-22", ROLLOUT_VECTOR_READ_CHARGE) &&
	      !has("local", "2026-10-21", ROLLOUT_VECTOR_READ_CHARGE));
}

TEST(what_as_takes)
{
	static const char *const wrong[] = {
		"",           "next@2026-10-08",    "none@2026-10-08",     "eu-nowhere-1",
		"us-east-1@", "us-east-1@2026-1-1", "us-east-1@2026-10-8x"};
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	bool is_fixed = true;
	rollout_set set = 0;

	CHECK(rollouts_read(STR("none"), &is_fixed, &set, &err) == OK && !is_fixed);
	CHECK(rollouts_read(STR("next"), &is_fixed, &set, &err) == OK && is_fixed &&
	      set == ROLLOUTS_ALL);
	CHECK(rollouts_read(STR("us-east-1@2026-09-11"), &is_fixed, &set, &err) == OK &&
	      !(set >> ROLLOUT_WRITE_LAYER & 1));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		set = 0x5a5a;
		CHECK(rollouts_read(str_of(wrong[i]), &is_fixed, &set, &err) == ERR_VALIDATION &&
		      set == 0x5a5a);
	}
	arena_free(arena);
}

TEST(a_namespace_has_its_own)
{
	const struct ns one = {STR_INIT("000000000000"), STR_INIT("eu-west-2")},
			other = {STR_INIT("111111111111"), STR_INIT("eu-west-2")};
	struct rollouts *rollouts = rollouts_new("none", false);
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	CHECK(rollouts_of(rollouts, one) == rollouts_in(one.region, STR_ABSENT));
	CHECK(rollouts_of(NULL, one) == rollouts_in(one.region, STR_ABSENT));
	CHECK(rollouts_set(rollouts, one, STR("next"), &err) == OK);
	CHECK(rollouts_set(rollouts, one, STR("us-east-1"), &err) == OK);
	CHECK(rollouts_of(rollouts, one) == rollouts_in(STR("us-east-1"), STR_ABSENT));
	CHECK_STR(rollouts_as(rollouts, one, arena), "us-east-1");
	CHECK(rollouts_of(rollouts, other) == rollouts_in(one.region, STR_ABSENT));
	CHECK(rollouts_set(rollouts, one, STR("nowhere"), &err) == ERR_VALIDATION);
	CHECK_STR(rollouts_as(rollouts, one, arena), "us-east-1");
	rollouts_clear(rollouts, one);
	CHECK(rollouts_of(rollouts, one) == rollouts_in(one.region, STR_ABSENT));
	CHECK_STR(rollouts_as(rollouts, one, arena), "none");
	rollouts_free(rollouts);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(each_day_and_region_of_a_row_has_its_side),
	  TEST_CASE(regions_differ_as_the_sources_say), TEST_CASE(what_as_takes),
	  TEST_CASE(a_namespace_has_its_own))
