/* A forecast leaps over seconds that go alike, and over days. Here: the same figures as if each
 * second were run, for tables, keys and growth of every kind. */
#include <math.h>

#include "server/forecast/model.h"
#include "tests/unit/test.h"

enum billing { FIXED, SCALED, ON_DEMAND };

struct example {
	enum billing billing;
	enum plan_spread spread;
	double growth;
	int attempts;
	double rate; /* of the busiest hour */
	int64_t period_hours;
};

/* Of the same figure of both runs: 0.1 %, or 0.5 % where days are repeated, and a few seconds. */
static double share;

static void check_alike(const char *what, double fast, double slow, double few)
{
	CHECK(fabs(fast - slow) <= slow * share + few);
	if (fabs(fast - slow) > slow * share + few)
		fprintf(stderr, "%s: %.0f, thoroughly %.0f\n", what, fast, slow);
}

static struct plan *example_plan(struct arena *arena, const struct example *of)
{
	struct plan *plan = ARENA_NEW(arena, struct plan);
	struct plan_table *table = ARENA_NEW(arena, struct plan_table);
	struct plan_pattern *patterns = ARENA_ARRAY(arena, struct plan_pattern, 2);
	double *rates = ARENA_ARRAY(arena, double, PLAN_HOURS);
	struct plan_keys keys = {.spread = of->spread,
				 .count = of->spread == SPREAD_HOT ? 2 : 5000,
				 .exponent = 1,
				 .share = 0.4,
				 .period_hours = of->period_hours};

	*table = (struct plan_table){
		.name = STR("t"), .is_on_demand = of->billing == ON_DEMAND, .n = 2};
	table->parts[1].name = STR("by-g");
	for (size_t p = 0; p < 2; p++) {
		struct plan_part *part = &table->parts[p];

		part->gigabytes = 15;
		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			part->warm[side] = of->billing == ON_DEMAND ? 4000 : 0;
			part->rate[side] = of->billing == ON_DEMAND ? 0 : 1500;
			if (of->billing == SCALED)
				part->scaling[side] = (struct follow_rule){
					.least = 1500, .most = 4000, .target = 70};
		}
	}
	for (size_t h = 0; h < PLAN_HOURS; h++)
		rates[h] = h % 5 == 0 ? of->rate : of->rate * (0.2 + 0.03 * (double)h);
	for (size_t i = 0; i < 2; i++)
		patterns[i] = (struct plan_pattern){
			.name = STR("p"),
			.side = i ? METER_READ : METER_WRITE,
			.hours = PLAN_HOURS,
			.rates = rates,
			.attempts = of->attempts,
			.n = i ? 1 : 2,
			.demands = {{0, i ? 2.5 : 1, keys}, {1, 1, {.count = 900}}}};
	*plan = (struct plan){.table_count = 1,
			      .pattern_count = 2,
			      .tables = table,
			      .patterns = patterns,
			      .scale = 1,
			      .growth = of->growth,
			      .days = 2,
			      .seed = 3};
	return plan;
}

static void check_example(const struct example *of)
{
	struct arena *arena = arena_new(0);
	struct plan *plan = example_plan(arena, of);
	struct model_outcome fast, slow;

	model_run(arena, plan, &fast);
	plan->is_thorough = true;
	model_run(arena, plan, &slow);
	share = of->growth > 0 ? 0.001 : 0.005;
	CHECK(slow.throttled > 0 && fast.requests == slow.requests);
	check_alike("throttled", (double)fast.throttled, (double)slow.throttled, of->rate);
	check_alike("failed", (double)fast.failed, (double)slow.failed, of->rate);
	for (size_t i = 0; i < fast.n && i < slow.n && i < 3; i++) {
		check_alike("the most throttled keys", (double)fast.rows[i].throttled,
			    (double)slow.rows[i].throttled, of->rate);
		CHECK_INT(fast.rows[i].hours[0].hour, slow.rows[i].hours[0].hour);
	}
	for (size_t i = 0; i < 2; i++)
		check_alike("waited", fast.patterns[i].waited_s, slow.patterns[i].waited_s,
			    20 * of->rate);
	for (size_t i = 0; i < 4; i++) {
		const struct model_side *a = &fast.tables[0].parts[i / 2].sides[i % 2],
					*b = &slow.tables[0].parts[i / 2].sides[i % 2];

		check_alike("units", a->units, b->units, 3 * of->rate);
		check_alike("unit-hours", a->unit_hours, b->unit_hours, 1);
		check_alike("demand", a->demand[47], b->demand[47], 0);
	}
	arena_free(arena);
}

TEST(leaps_give_what_each_second_gives)
{
	static const struct example examples[] = {
		{SCALED, SPREAD_HOT, 0.03, 10, 2900, 24},
		{ON_DEMAND, SPREAD_ZIPF, 0.005, 3, 5500, 24},
		{FIXED, SPREAD_UNIFORM, 0.03, 3, 1700, 24},
		{ON_DEMAND, SPREAD_TIME, 0, 1, 1200, 1},
		{SCALED, SPREAD_TIME, 0.005, 3, 1300, 24},
		{FIXED, SPREAD_ZIPF, 0, 10, 1600, 24},
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i += TEST_SLOWNESS)
		check_example(&examples[i]);
}

TEST_MAIN(TEST_CASE(leaps_give_what_each_second_gives))
