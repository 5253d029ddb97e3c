/*
 * Blocks that are kept for the next ones: sizes, the limit, age; arenas that use them; threads.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/spare.h"
#include "tests/unit/test.h"

#define BLOCK SPARE_MIN

static void keep(size_t size)
{
	void *p = malloc(size);

	if (!spare_keep(p, size))
		free(p);
}

/* The size of the block that is found, which is freed; 0 where there is none. */
static size_t taken(size_t size)
{
	void *p = spare_take(&size);

	free(p);
	return p ? size : 0;
}

TEST(nothing_is_kept_without_a_limit)
{
	keep(BLOCK);
	CHECK_INT(taken(BLOCK), 0);
}

TEST(the_smallest_that_fits)
{
	spare_limit(64 * BLOCK);
	keep(3 * BLOCK);
	keep(BLOCK);
	keep(2 * BLOCK);
	CHECK_INT(taken(BLOCK + 1), 2 * BLOCK);
	CHECK_INT(taken(BLOCK + 1), 0); /* three times as large does not fit */
	CHECK_INT(taken(BLOCK), BLOCK);
	CHECK_INT(taken(2 * BLOCK), 3 * BLOCK);
	CHECK_INT(taken(2 * BLOCK), 0);
	keep(BLOCK - 1);
	CHECK_INT(taken(BLOCK - 1), 0); /* small ones are not kept */
	spare_limit(0);
}

TEST(the_oldest_go_first)
{
	spare_limit(8 * BLOCK);
	keep(3 * BLOCK);
	keep(4 * BLOCK);
	keep(2 * BLOCK);
	CHECK_INT(taken(3 * BLOCK), 4 * BLOCK);
	CHECK_INT(taken(2 * BLOCK), 2 * BLOCK);
	keep(9 * BLOCK);
	CHECK_INT(taken(9 * BLOCK), 0); /* more than all that may be kept */
	for (int i = 0; i < 100; i++)
		keep(BLOCK);
	for (int i = 0; i < 8; i++)
		CHECK_INT(taken(BLOCK), BLOCK);
	CHECK_INT(taken(BLOCK), 0);
	spare_limit(1000 * BLOCK);
	for (int i = 0; i < 100; i++)
		keep(BLOCK); /* more than there are places */
	spare_limit(2 * BLOCK);
	CHECK_INT(taken(BLOCK), BLOCK);
	spare_free();
	CHECK_INT(taken(BLOCK), 0);
	keep(BLOCK);
	CHECK_INT(taken(BLOCK), BLOCK); /* the limit stays */
	spare_limit(0);
}

/* Fills all of what arenas take, so that memory of two owners would be seen. */
static void *use_arenas(void *context)
{
	const char *mark = context;

	for (int i = 0; i < 50; i++) {
		struct arena *arena = arena_new(0);
		char *parts[20];
		size_t wrong = 0;

		for (size_t k = 0; k < 20; k++)
			parts[k] =
				memset(arena_alloc(arena, 20000 * (k + 1)), *mark, 20000 * (k + 1));
		for (size_t k = 0; k < 20; k++) {
			for (size_t at = 0; at < 20000 * (k + 1); at++)
				wrong += parts[k][at] != *mark;
		}
		CHECK_INT(wrong, 0);
		arena_free(arena);
	}
	return NULL;
}

TEST(arenas_get_what_others_freed)
{
	struct arena *arena = arena_new(0);
	size_t half = BLOCK * 8;

	spare_limit(64 * BLOCK);
	keep(half);
	arena_alloc(arena, 16);
	memset(arena_alloc(arena, half - 4096), 1, half - 4096);
	CHECK_INT(taken(half), 0);
	arena_free(arena);
	CHECK_INT(taken(half), half);
	spare_limit(0);
}

TEST(threads_share_them)
{
	pthread_t threads[4];
	static const char marks[] = "abcd";

	spare_limit(64 * BLOCK);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(
			pthread_create(&threads[i], NULL, use_arenas, (void *)(uintptr_t)&marks[i]),
			0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	spare_limit(0);
}

TEST_MAIN(TEST_CASE(nothing_is_kept_without_a_limit), TEST_CASE(the_smallest_that_fits),
	  TEST_CASE(the_oldest_go_first), TEST_CASE(arenas_get_what_others_freed),
	  TEST_CASE(threads_share_them))
