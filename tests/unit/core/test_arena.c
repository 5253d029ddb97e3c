#include "core/arena.h"

#include "core/buf.h"
#include "tests/unit/test.h"

TEST(an_allocation_of_nothing_is_not_null)
{
	struct arena *arena = arena_new(0);

	CHECK(arena_alloc(arena, 0) != NULL);
	CHECK(arena_bytes(arena, 0) != NULL);
	arena_free(arena);
}

TEST(room_for_nothing_in_an_empty_buffer_is_not_null)
{
	struct arena *arena = arena_new(0);
	struct buf buf = buf_in(arena);

	CHECK(buf_reserve(&buf, 0) != NULL);
	CHECK_INT(buf.n, 0);
	arena_free(arena);
}

TEST(what_grows_keeps_its_bytes)
{
	struct arena *arena = arena_new(0);
	char *bytes = arena_bytes(arena, 4);

	memcpy(bytes, "abcd", 4);
	(void)arena_bytes(arena, 10000);
	bytes = arena_grow(arena, bytes, 4, 100000);
	CHECK_STR(((struct str){bytes, 4}), "abcd");
	CHECK(arena_used(arena) >= 100000);
	arena_free(arena);
}

TEST(an_array_has_room_for_one_more)
{
	struct arena *arena = arena_new(0);
	int *numbers = NULL;

	for (int n = 0; n < 1000; n++) {
		numbers = arena_room(arena, numbers, (size_t)n, sizeof(*numbers));
		numbers[n] = n;
		(void)arena_bytes(arena, (size_t)n % 3); /* so that it moves at times */
	}
	for (int n = 0; n < 1000; n++)
		CHECK_INT(numbers[n], n);
	arena_free(arena);
}

#define MB ((size_t)1024 * 1024)

TEST(small_requests_do_not_count)
{
	struct arena_budget budget = {.limit = 0};
	struct arena *arena = arena_new_within(0, &budget);

	(void)arena_bytes(arena, 10000);
	CHECK_INT(budget.held, 0);
	CHECK(!arena_is_over(arena));
	arena_free(arena);
}

TEST(an_arena_goes_over_to_another_budget)
{
	struct arena_budget small = {.limit = 2 * MB}, large = {.limit = 32 * MB};
	struct arena *arena = arena_new_within(0, &large);

	arena_alloc(arena, 8 * MB);
	CHECK(!arena_is_over(arena));
	arena_use_budget(arena, &large);
	size_t held = large.held;
	arena_use_budget(arena, &small);
	CHECK_INT(large.held, 0);
	CHECK_INT(small.held, held);
	CHECK(arena_is_over(arena));
	arena_reset(arena);
	CHECK_INT(small.held, 0);
	arena_use_budget(arena, &large);
	arena_alloc(arena, 8 * MB);
	CHECK(large.held >= 8 * MB && small.held == 0);
	arena_free(arena);
	CHECK_INT(large.held, 0);
}

TEST(arenas_share_a_budget)
{
	struct arena_budget budget = {.limit = 32 * MB};
	struct arena *a = arena_new_within(0, &budget), *b = arena_new_within(0, &budget);

	(void)arena_bytes(a, 20 * MB);
	CHECK(budget.held >= 20 * MB && budget.held < 21 * MB);
	CHECK_INT(arena_held(a), budget.held);
	CHECK_INT(arena_held(b), 0);
	budget.limit = 10 * MB; /* less than what is held already */
	(void)arena_bytes(b, MB);
	CHECK(arena_is_over(b) && !arena_is_over(a));
	arena_reset(b);
	budget.limit = 32 * MB;
	memset(arena_bytes(b, 20 * MB), 1, 20 * MB); /* it gets what it asks for */
	CHECK(arena_is_over(b) && !arena_is_over(a));
	arena_reset(b);
	CHECK(!arena_is_over(b));
	CHECK_INT(arena_held(a), budget.held);
	arena_free(a);
	CHECK_INT(budget.held, 0);
	(void)arena_bytes(b, 20 * MB);
	CHECK(!arena_is_over(b));
	arena_free(b);
	CHECK_INT(budget.held, 0);
}

TEST(many_small_allocations_count)
{
	struct arena_budget budget = {.limit = 3 * MB};
	struct arena *arena = arena_new_within(64 * 1024, &budget);

	for (int round = 0; round < 3; round++) {
		size_t n = 0;

		for (; !arena_is_over(arena); n += 100)
			(void)arena_alloc(arena, 100);
		CHECK(n > 1 * MB && n < 4 * MB);
		CHECK(budget.held > 3 * MB && budget.held < 8 * MB);
		arena_reset(arena);
		CHECK_INT(budget.held, 0); /* what is kept is not in use */
	}
	arena_free(arena);
}

TEST(what_is_pardoned_is_not_over)
{
	struct arena_budget budget = {.limit = 0};
	struct arena *arena = arena_new_within(0, &budget);

	(void)arena_bytes(arena, MB);
	CHECK(arena_is_over(arena));
	arena_pardon(arena);
	(void)arena_bytes(arena, MB);
	CHECK(!arena_is_over(arena));
	CHECK(arena_held(arena) >= 2 * MB);
	arena_reset(arena);
	(void)arena_bytes(arena, MB);
	CHECK(arena_is_over(arena));
	arena_free(arena);
	CHECK_INT(budget.held, 0);
}

static uint64_t ticks;

static uint64_t tick(void)
{
	return ticks += 10;
}

TEST(an_arena_that_yields_ends_at_its_time)
{
	struct arena *arena = arena_new(0);

	ticks = 0;
	arena_limit_time(arena, tick, 35);
	CHECK(arena_works(arena, ARENA_LOOK - 1));
	CHECK(arena_works(arena, 1));
	arena_yield(arena, true);
	for (int at = 20; at <= 40; at += 10) /* of 45 */
		CHECK(arena_works(arena, ARENA_LOOK));
	CHECK(!arena_works(arena, ARENA_LOOK));
	arena_limit_time(arena, NULL, 0);
	arena_free(arena);
}

static bool is_true(void *context)
{
	return *(bool *)context;
}

TEST(work_that_nobody_waits_for_ends)
{
	struct arena *arena = arena_new(0);
	bool has_left = false;

	arena_watch(arena, is_true, &has_left);
	CHECK(arena_works(arena, ARENA_LOOK));
	has_left = true;
	CHECK(arena_works(arena, ARENA_LOOK - 1));
	CHECK(!arena_works(arena, 1));
	arena_pardon(arena);
	CHECK(arena_works(arena, ARENA_LOOK));
	arena_reset(arena);
	CHECK(arena_works(arena, ARENA_LOOK));
	arena_free(arena);
}

/* The time left is shared: before the first reading, within it and beyond it. */
TEST(time_is_shared_and_runs_out_alone)
{
	struct arena_budget budget = {.limit = 0};
	struct arena *whole = arena_new(0), *part = arena_new_within(0, &budget);

	ticks = 0;
	arena_share_time(part, whole, 2); /* no limit: none */
	CHECK(arena_works(part, ARENA_LOOK) && arena_works(part, ARENA_LOOK));
	CHECK_INT(ticks, 0);
	arena_limit_time(whole, tick, 40);
	arena_share_time(part, whole, 2); /* 20 of 40 */
	CHECK(arena_works(part, ARENA_LOOK) && arena_works(part, ARENA_LOOK) &&
	      !arena_is_late(part)); /* at 10, 20 of 30 */
	CHECK(!arena_works(part, ARENA_LOOK) && arena_is_late(part));
	(void)arena_bytes(part, MB);
	CHECK(!arena_is_late(part) && arena_is_over(part)); /* over its budget, too */
	arena_rewind(part);
	CHECK(arena_is_late(part));
	arena_pardon(part);
	CHECK(!arena_is_late(part));
	arena_rewind(part);
	CHECK(arena_works(whole, ARENA_LOOK)); /* to 50 or beyond from now on */
	arena_share_time(part, whole, 1);
	CHECK(arena_works(part, ARENA_LOOK) && !arena_is_late(part));
	ticks += 1000;
	arena_share_time(part, whole, 1); /* nothing left */
	CHECK(arena_works(part, ARENA_LOOK - 1) && !arena_works(part, 1));
	arena_free(whole);
	arena_free(part);
	arena_free(NULL);
}

/* A small arena begins with a small chunk; what grows by nothing, shrinks or is not the latest
 * keeps its bytes. */
TEST(small_arenas_grow)
{
	struct arena *arena = arena_new(100);
	char *first = arena_bytes(arena, 10), *second;

	memcpy(first, "0123456789", 10);
	second = arena_bytes(arena, 10);
	memcpy(second, "abcdefghij", 10);
	CHECK_STR(((struct str){arena_grow(arena, first, 10, 12), 10}),
		  "0123456789"); /* not the latest */
	char *shrunk = arena_grow(arena, second, 10, 4);
	CHECK_STR(((struct str){shrunk, 4}), "abcd");
	CHECK(arena_grow(arena, shrunk, 4, 5) == shrunk &&
	      arena_grow(arena, shrunk, 5, 2) != shrunk);
	char *latest = arena_bytes(arena, 4);
	memcpy(latest, "wxyz", 4);
	CHECK_STR(((struct str){arena_grow(arena, latest, 4, 100000), 4}),
		  "wxyz"); /* no room in the chunk */
	CHECK(arena_calloc(arena, 8, 0) != NULL && arena_calloc(arena, 0, 8) != NULL);
	arena_free(arena);
}

TEST(a_buffer_grows_by_more_than_twice_and_has_long_varints)
{
	struct arena *arena = arena_new(0);
	struct buf buf = buf_in(arena);

	buf_add_varint(&buf, 300);
	CHECK_STR(buf_str(&buf), "\xAC\x02");
	memset(buf_reserve(&buf, 5000), 'x', 5000);
	CHECK(buf.cap >= 5002);
	CHECK_STR(buf_str(&buf), "\xAC\x02");
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(work_that_nobody_waits_for_ends), TEST_CASE(time_is_shared_and_runs_out_alone),
	  TEST_CASE(small_arenas_grow),
	  TEST_CASE(a_buffer_grows_by_more_than_twice_and_has_long_varints),
	  TEST_CASE(an_arena_that_yields_ends_at_its_time), TEST_CASE(small_requests_do_not_count),
	  TEST_CASE(arenas_share_a_budget), TEST_CASE(an_arena_goes_over_to_another_budget),
	  TEST_CASE(many_small_allocations_count), TEST_CASE(what_is_pardoned_is_not_over),
	  TEST_CASE(an_allocation_of_nothing_is_not_null),
	  TEST_CASE(room_for_nothing_in_an_empty_buffer_is_not_null),
	  TEST_CASE(what_grows_keeps_its_bytes), TEST_CASE(an_array_has_room_for_one_more))
