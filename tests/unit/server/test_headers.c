#include "server/http/headers.h"

#include "tests/unit/test.h"

static struct headers some(struct arena *arena)
{
	struct headers headers = {0};

	headers_add(&headers, arena, STR("Host"), STR("localhost"));
	headers_add(&headers, arena, STR("x-amz-meta"), STR(" a "));
	headers_add(&headers, arena, STR("Accept-Encoding"), STR("gzip"));
	headers_add(&headers, arena, STR("X-Amz-Meta"), STR("b"));
	headers_add(&headers, arena, STR("X-AMZ-META"), STR(""));
	return headers;
}

TEST(names_match_in_any_case_and_whole)
{
	struct arena *arena = arena_new(4096);
	struct headers headers = some(arena);

	CHECK_STR(headers_first(&headers, STR("HOST")), "localhost");
	CHECK_STR(headers_first(&headers, STR("accept-encoding")), "gzip");
	CHECK(!str_is_set(headers_first(&headers, STR("hos"))));
	CHECK(!str_is_set(headers_first(&headers, STR("hosts"))));
	CHECK(!str_is_set(headers_joined(&headers, arena, STR("cookie"))));
	arena_free(arena);
}

TEST(several_lines_have_a_first_and_a_whole)
{
	struct arena *arena = arena_new(4096);
	struct headers headers = some(arena);

	CHECK_STR(headers_first(&headers, STR("x-amz-meta")), " a ");
	CHECK_STR(headers_joined(&headers, arena, STR("x-amz-meta")), "a,b,");
	CHECK_STR(headers_joined(&headers, arena, STR("host")), "localhost");
	arena_free(arena);
}

TEST(any_number_of_lines_is_kept_in_order)
{
	struct arena *arena = arena_new(4096);
	struct headers headers = {0};

	for (int i = 0; i < 200; i++)
		headers_add(&headers, arena, str_printf(arena, "n%d", i),
			    str_printf(arena, "%d", i));
	CHECK_INT(headers.n, 200);
	for (int i = 0; i < 200; i++)
		CHECK_STR(headers_first(&headers, str_printf(arena, "N%d", i)),
			  str_printf(arena, "%d", i).p);
	arena_free(arena);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(names_match_in_any_case_and_whole),
		TEST_CASE(several_lines_have_a_first_and_a_whole),
		TEST_CASE(any_number_of_lines_is_kept_in_order),
	};

	return test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
}
