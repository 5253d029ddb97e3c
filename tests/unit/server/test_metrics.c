#include "server/metrics.h"

#include "tests/unit/test.h"

TEST(errors_of_one_name_are_one_series)
{
	struct metrics *metrics = metrics_new();
	struct arena *arena = arena_new(0);

	metrics_count(metrics, NULL, ERR_INTERNAL);
	metrics_count(metrics, NULL, ERR_STORE_FULL);
	metrics_count(metrics, op_at(0), OK);
	struct str text = metrics_text(metrics, arena);
	CHECK(str_contains(text, STR("{operation=\"\",error=\"InternalServerError\"} 2\n")));
	CHECK(str_contains(text, STR(",error=\"\"} 1\n")));
	arena_free(arena);
	metrics_free(metrics);
}

TEST_MAIN(TEST_CASE(errors_of_one_name_are_one_series))
