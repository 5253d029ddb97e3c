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

TEST_MAIN(TEST_CASE(size_of_text_counts_utf16_units))
