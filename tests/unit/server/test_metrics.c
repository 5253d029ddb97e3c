#include "server/metrics.h"

#include "tests/unit/test.h"

static const struct metrics_gauges gauges = {.version = STR_INIT("1"),
					     .store = STR_INIT("a\\b\"c\nd")};

static const struct op *find_op(const char *name)
{
	for (size_t i = 0; i < op_count(); i++) {
		if (strcmp(op_name(op_at(i)), name) == 0)
			return op_at(i);
	}
	return NULL;
}

TEST(errors_of_one_name_are_one_series)
{
	struct metrics *metrics = metrics_new();
	struct arena *arena = arena_new(0);

	metrics_count(metrics, NULL, ERR_INTERNAL);
	metrics_count(metrics, NULL, ERR_STORE_FULL);
	metrics_count(metrics, op_at(0), OK);
	struct str text = metrics_text(metrics, &gauges, arena);
	CHECK(str_contains(text, STR("{operation=\"\",error=\"InternalServerError\"} 2\n")));
	CHECK(str_contains(text, STR(",error=\"\"} 1\n")));
	arena_free(arena);
	metrics_free(metrics);
}

TEST(requests_are_counted_over_all_threads)
{
	struct metrics *metrics = metrics_new();
	const struct op_response response = {.op = find_op("GetItem"), .code = OK},
				 other = {.op = NULL, .code = ERR_INTERNAL};

	CHECK_INT(metrics_requests(metrics), 0);
	for (int i = 0; i < 10; i++)
		metrics_observe(metrics, i % 3 ? &response : &other, 1000);
	CHECK_INT(metrics_requests(metrics), 10);
	metrics_free(metrics);
}

TEST(labels_are_escaped)
{
	struct metrics *metrics = metrics_new();
	struct arena *arena = arena_new(0);

	CHECK(str_contains(metrics_text(metrics, &gauges, arena),
			   STR("{version=\"1\",store=\"a\\\\b\\\"c\\nd\"} 1\n")));
	arena_free(arena);
	metrics_free(metrics);
}

#define TIME "dynalith_request_duration_seconds"

TEST(buckets_hold_all_up_to_their_bound)
{
	const struct op_response put = {.op = find_op("PutItem"), .code = OK, .consumed = {0.5, 3}};
	struct metrics *metrics = metrics_new();
	struct arena *arena = arena_new(0);

	metrics_observe(metrics, &put, 10000);        /* on the bound of the first */
	metrics_observe(metrics, &put, 10001);
	metrics_observe(metrics, &put, 11000000000u); /* above the last */
	metrics_observe_store(metrics, TIMED_COMMIT, 1);
	struct str text = metrics_text(metrics, &gauges, arena);
	CHECK(str_contains(text, STR(TIME "_bucket{operation=\"PutItem\",le=\"0.00001\"} 1\n")));
	CHECK(str_contains(text, STR(TIME "_bucket{operation=\"PutItem\",le=\"0.000025\"} 2\n")));
	CHECK(str_contains(text, STR(TIME "_bucket{operation=\"PutItem\",le=\"10\"} 2\n")));
	CHECK(str_contains(text, STR(TIME "_bucket{operation=\"PutItem\",le=\"+Inf\"} 3\n")));
	CHECK(str_contains(text, STR(TIME "_count{operation=\"PutItem\"} 3\n")));
	CHECK(str_contains(text, STR("dynalith_consumed_capacity_units_total{operation=\"PutItem\","
				     "kind=\"read\"} 1.5\n")));
	CHECK(str_contains(text, STR("dynalith_consumed_capacity_units_total{operation=\"PutItem\","
				     "kind=\"write\"} 9\n")));
	CHECK(str_contains(
		text,
		STR("dynalith_store_write_seconds_bucket{step=\"commit\",le=\"0.00001\"} 1\n")));
	CHECK(str_contains(text, STR("dynalith_store_write_seconds_count{step=\"begin\"} 0\n")));
	arena_free(arena);
	metrics_free(metrics);
}

TEST_MAIN(TEST_CASE(errors_of_one_name_are_one_series),
	  TEST_CASE(requests_are_counted_over_all_threads), TEST_CASE(labels_are_escaped),
	  TEST_CASE(buckets_hold_all_up_to_their_bound))
