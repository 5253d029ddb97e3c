#include "core/utf8.h"
#include "core/value.h"

#include "tests/unit/test.h"

TEST(size_of_text_counts_utf16_units)
{
	struct value ascii = value_of_str(TYPE_S, STR("abc")),
		     two_bytes = value_of_str(TYPE_S, STR("\xC3\xA9")),
		     beyond_first_plane = value_of_str(TYPE_S, STR("\xF0\x9F\x98\x80x")),
		     bytes = value_of_str(TYPE_B, STR("\xC3\xA9"));

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
			members[i] =
				(struct member){str_of(names[i % 3]), {.type = TYPE_NULL, .n = i}};
		CHECK(value_sort_members(members, counts[c], &duplicate) == (counts[c] < 3));
		CHECK(counts[c] < 4 || str_is_set(duplicate));
		for (uint32_t i = 1; i < counts[c]; i++) {
			int order = str_cmp(members[i - 1].name, members[i].name);

			is_ordered = is_ordered &&
				     (order < 0 ||
				      (order == 0 && members[i - 1].value.n < members[i].value.n));
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

#define V(type, text) value_of_str(TYPE_##type, STR(text))

TEST(of_one_name_the_last_stays)
{
	struct member twice[] = {{STR("b"), {.n = 1}},
				 {STR("a"), {.n = 2}},
				 {STR("b"), {.n = 3}},
				 {STR("a"), {.n = 4}}},
		      once[] = {{STR("b"), {.n = 1}}, {STR("a"), {.n = 2}}};

	CHECK_INT(value_sort_last(twice, 4), 2);
	CHECK_STR(twice[0].name, "a");
	CHECK_INT(twice[0].value.n, 4);
	CHECK_INT(twice[1].value.n, 3);
	CHECK_INT(value_sort_last(once, 2), 2);
	CHECK_INT(once[0].value.n, 2);
}

TEST(sets_are_sorted_and_searched)
{
	struct value sorted[] = {V(S, "a"), V(S, "b"), V(S, "c")},
		     mixed[] = {V(S, "c"), V(S, "a"), V(S, "b")},
		     twice[] = {V(S, "b"), V(S, "a"), V(S, "b")};
	const struct value *duplicate = NULL;

	CHECK(value_sort_set(sorted, 3, &duplicate) && value_sort_set(mixed, 3, &duplicate) &&
	      !duplicate);
	CHECK_STR(value_str(&mixed[0]), "a");
	CHECK(!value_sort_set(twice, 3, NULL) && !value_sort_set(twice, 3, &duplicate));
	CHECK_STR(value_str(duplicate), "b");
	struct value set = {.type = TYPE_SS, .n = 3, .elements = mixed};
	for (uint32_t i = 0; i < 3; i++)
		CHECK(value_set_has(&set, &sorted[i]));
	const struct value others[] = {V(S, ""), V(S, "aa"), V(S, "d")};
	for (uint32_t i = 0; i < 3; i++)
		CHECK(!value_set_has(&set, &others[i]));
}

TEST(values_are_equal_in_type_length_names_and_content)
{
	const struct value one[] = {V(S, "a"), V(S, "b")}, other[] = {V(S, "a"), V(S, "c")};
	const struct member map[] = {{STR("x"), V(S, "a")}}, name[] = {{STR("y"), V(S, "a")}},
			    content[] = {{STR("x"), V(S, "b")}};
	const struct value list = {.type = TYPE_L, .n = 2, .elements = one},
			   item = {.type = TYPE_M, .n = 1, .members = map};

	CHECK(value_equal(&list, &list) && value_equal(&item, &item));
	CHECK(!value_equal(&list, &(struct value){.type = TYPE_L, .n = 2, .elements = other}));
	CHECK(!value_equal(&list, &(struct value){.type = TYPE_L, .n = 1, .elements = one}));
	CHECK(!value_equal(&list, &(struct value){.type = TYPE_SS, .n = 2, .elements = one}));
	CHECK(!value_equal(&item, &(struct value){.type = TYPE_M, .n = 0}));
	CHECK(!value_equal(&item, &(struct value){.type = TYPE_M, .n = 1, .members = name}));
	CHECK(!value_equal(&item, &(struct value){.type = TYPE_M, .n = 1, .members = content}));
}

TEST(names_depth_and_absent_bytes_of_values)
{
	const struct value empty = {.type = TYPE_L}, text = V(S, "a"),
			   list = {.type = TYPE_L, .n = 1, .elements = &text},
			   two = {.type = TYPE_L, .n = 1, .elements = &list},
			   none = {.type = TYPE_NONE}, truth = {.type = TYPE_BOOL},
			   number = value_of_str(TYPE_N, STR("\2"));

	CHECK_INT(type_of_name(STR("BOOL")), TYPE_BOOL);
	CHECK_INT(type_of_name(STR("bool")), TYPE_NONE);
	CHECK_INT(value_depth(&empty), 0);
	CHECK_INT(value_depth(&two), 2);
	CHECK_INT(value_depth(&text), 0);
	CHECK_INT(value_size_function(&none), -1);
	CHECK_INT(value_size_function(&truth), -1);
	CHECK_INT(value_size_function(&number), -1);
	CHECK_INT(value_size_function(&two), 1);
	CHECK(value_of_str(TYPE_S, STR_ABSENT).bytes != NULL);
}

TEST_MAIN(TEST_CASE(of_one_name_the_last_stays), TEST_CASE(sets_are_sorted_and_searched),
	  TEST_CASE(values_are_equal_in_type_length_names_and_content),
	  TEST_CASE(names_depth_and_absent_bytes_of_values),
	  TEST_CASE(size_of_text_counts_utf16_units),
	  TEST_CASE(members_of_one_name_stay_in_their_order),
	  TEST_CASE(what_is_no_text_is_made_printable))
