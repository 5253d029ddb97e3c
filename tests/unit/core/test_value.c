#include "core/utf8.h"
#include "core/value.h"

#include "tests/unit/test.h"

TEST(size_of_text_counts_utf16_units)
{
	struct value ascii = value_of_str(TYPE_S, STR("abc")), two_bytes = value_of_str(TYPE_S, STR("\xC3\xA9")),
		     beyond_first_plane = value_of_str(TYPE_S, STR("\xF0\x9F\x98\x80x")), bytes = value_of_str(TYPE_B, STR("\xC3\xA9"));

	CHECK_INT(value_size_function(&ascii), 3);
	CHECK_INT(value_size_function(&two_bytes), 1);
	CHECK_INT(value_size_function(&beyond_first_plane), 3);
	CHECK_INT(value_size_function(&bytes), 2);
	CHECK_INT(value_size_function(&(struct value){.type = TYPE_NULL}), -1);
}

/* As few are sorted in another way than many. */
TEST(members_of_one_name_stay_in_their_order)
{
	static const uint32_t counts[] = {2, 5, 24, 25, 49, 50, 1000};
	static struct member members[1000];
	static const char *const names[] = {"c", "a", "b"};

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		struct str duplicate = STR_ABSENT;
		bool is_ordered = true;

		for (uint32_t i = 0; i < counts[c]; i++)
			members[i] = (struct member){str_of(names[i % 3]), {.type = TYPE_NULL, .n = i}};
		CHECK(value_sort_members(members, counts[c], &duplicate) == (counts[c] < 3));
		CHECK(counts[c] < 4 || str_is_set(duplicate));
		for (uint32_t i = 1; i < counts[c]; i++) {
			int order = str_cmp(members[i - 1].name, members[i].name);

			is_ordered = is_ordered && (order < 0 || (order == 0 && members[i - 1].value.n < members[i].value.n));
		}
		CHECK(is_ordered);
	}
}

TEST(what_is_no_text_is_made_printable)
{
	struct arena *arena = arena_new(0);

	CHECK_STR(utf8_printable(arena, STR("\xc3\xa4\n")), "\xc3\xa4\n");
	CHECK_STR(utf8_printable(arena, STR("a\xff\xc3\xa4\xe2\x82z\xc3")), "a?\xc3\xa4??z?");
	CHECK_STR(utf8_printable(arena, STR("")), "");
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(size_of_text_counts_utf16_units), TEST_CASE(members_of_one_name_stay_in_their_order),
	  TEST_CASE(what_is_no_text_is_made_printable))
