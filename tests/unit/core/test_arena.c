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

TEST_MAIN(TEST_CASE(an_allocation_of_nothing_is_not_null), TEST_CASE(room_for_nothing_in_an_empty_buffer_is_not_null),
	  TEST_CASE(what_grows_keeps_its_bytes), TEST_CASE(an_array_has_room_for_one_more))
