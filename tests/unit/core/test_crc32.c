#include "core/crc32.h"

#include "tests/unit/test.h"

/* Bit by bit, as the standard has it. */
static uint32_t slowly(const unsigned char *p, size_t n)
{
	uint32_t c = 0xFFFFFFFFu;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
	}
	return c ^ 0xFFFFFFFFu;
}

TEST(known_values)
{
	CHECK_INT(crc32_of("", 0), 0);
	CHECK_INT(crc32_of("123456789", 9), 0xCBF43926u);
	CHECK_INT(crc32_of("The quick brown fox jumps over the lazy dog", 43), 0x414FA339u);
}

TEST(every_length_and_offset)
{
	unsigned char bytes[1700];
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof(bytes); i++) {
		state = state * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(state >> 24);
	}
	for (size_t from = 0; from < 17; from++) {
		for (size_t n = 0; n + from <= sizeof(bytes); n += n < 200 ? 1 : 37)
			CHECK_INT(crc32_of(bytes + from, n), slowly(bytes + from, n));
	}
}

/* The byte that was changed is found wherever it is; two changed bytes at a few places look like no
 * single one. */
TEST(a_changed_byte_is_found)
{
	unsigned char bytes[4092], change = 0;
	size_t at = 0;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * i >> 3);
	uint32_t sum = crc32_of(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i += 31) {
		unsigned char by = (unsigned char)(i % 255 + 1);

		bytes[i] ^= by;
		CHECK(crc32_find_byte(crc32_of(bytes, sizeof(bytes)) ^ sum, sizeof(bytes), &at,
				      &change));
		CHECK_INT(at, i);
		CHECK_INT(change, by);
		bytes[(i + 1000) % sizeof(bytes)] ^= 0x55;
		CHECK(!crc32_find_byte(crc32_of(bytes, sizeof(bytes)) ^ sum, sizeof(bytes), &at,
				       &change));
		bytes[(i + 1000) % sizeof(bytes)] ^= 0x55;
		bytes[i] ^= by;
	}
	CHECK(!crc32_find_byte(0, sizeof(bytes), &at, &change));
}

TEST_MAIN(TEST_CASE(known_values), TEST_CASE(every_length_and_offset),
	  TEST_CASE(a_changed_byte_is_found))
