/* Check and backup while the server runs, over a store whose backend has no files of its own to
 * look at. */
#include "server/tools/online.h"
#include "tests/unit/test.h"

TEST(a_store_without_maintenance_is_not_copied)
{
	struct store foreign = {.maintenance = NULL};
	struct arena *arena = arena_new(0);
	struct online *online = online_new(&foreign);
	struct err err = err_in(arena);
	struct str answer;
	bool is_bytes = false;

	CHECK_INT(online_backup(online, arena, STR_ABSENT, STR_ABSENT, &is_bytes, &answer, &err),
		  ERR_REQUEST);
	CHECK(str_is_set(err.message) && !is_bytes);
	online_free(online);
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(a_store_without_maintenance_is_not_copied))
