#include "storage/catalog/name_index.h"

#include "core/arena.h"
#include "tests/unit/test.h"

#define TABLES 10000

struct seen {
	size_t n;
	struct str last;
};

static bool see(void *context, struct str key)
{
	struct seen *seen = context;

	CHECK(seen->n == 0 || str_cmp(seen->last, key) < 0);
	seen->n++;
	seen->last = key;
	return true;
}

static bool see_one(void *context, struct str key)
{
	see(context, key);
	return false;
}

static struct str key_of(struct arena *arena, int account, const char *name, int i)
{
	return str_printf(arena, "%012d%cus-east-1%c%s%d", account, 0, 0, name, i);
}

/* One name of ten thousand is found without a look at the others. */
TEST(only_keys_of_the_name_are_visited)
{
	struct arena *arena = arena_new(0);
	struct name_index index = {0};
	struct str *keys = ARENA_ARRAY(arena, struct str, TABLES);
	struct seen seen = {0};

	for (int i = 0; i < TABLES; i++) {
		keys[i] = key_of(arena, i % 3, "table", i / 3 * 7 % TABLES);
		name_index_add(&index, keys[i]);
	}
	name_index_walk(&index, STR("absent"), see, &seen);
	CHECK_INT(seen.n, 0);
	name_index_walk(&index, STR("table"), see, &seen);
	CHECK_INT(seen.n, 0);
	name_index_walk(&index, STR("table700"), see, &seen);
	CHECK_INT(seen.n, 3);
	seen = (struct seen){0};
	name_index_walk(&index, STR("table700"), see_one, &seen);
	CHECK_INT(seen.n, 1);
	for (int i = 0; i < TABLES; i++)
		name_index_remove(&index, keys[i]);
	name_index_remove(&index, keys[0]);
	CHECK_INT(index.n, 0);
	name_index_free(&index);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(only_keys_of_the_name_are_visited))
