#include "core/number.h"

#include "tests/unit/test.h"

static struct arena *arena;

/* The canonical text of a wire text, or the error's message. */
static struct str canonical(const char *text)
{
	struct err err = err_in(arena);
	char bytes[NUMBER_MAX];
	struct buf out = buf_in(arena);
	size_t n;

	if (number_parse(str_of(text), bytes, &n, &err) != OK)
		return err.message;
	CHECK_INT(number_length(bytes, n), (long long)n);
	CHECK(number_is_encoding((struct str){bytes, n}));
	number_format((struct str){bytes, n}, &out);
	return buf_str(&out);
}

static struct str encoded(const char *text)
{
	struct err err = err_in(arena);
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	size_t n = 0;

	CHECK(number_parse(str_of(text), bytes, &n, &err) == OK);
	return (struct str){bytes, n};
}

static struct str sum(const char *a, const char *b, bool is_difference)
{
	struct err err = err_in(arena);
	char bytes[NUMBER_MAX];
	struct buf out = buf_in(arena);
	size_t n;

	if ((is_difference ? number_subtract : number_add)(encoded(a), encoded(b), bytes, &n,
							   &err) != OK)
		return err.message;
	number_format((struct str){bytes, n}, &out);
	return buf_str(&out);
}

TEST(canonical_text)
{
	static const char *const cases[][2] = {
		{"0", "0"},
		{"-0", "0"},
		{"0.000", "0"},
		{"0E125", "0"},
		{"0e-130", "0"},
		{"100", "100"},
		{"1E2", "100"},
		{"12.50", "12.5"},
		{".5", "0.5"},
		{"+7", "7"},
		{"007", "7"},
		{"1.", "1"},
		{"-1.05e1", "-10.5"},
		{"1E-10", "0.0000000001"},
		{"1E30", "1000000000000000000000000000000"},
		{"12345678901234567890123456789012345678",
		 "12345678901234567890123456789012345678"},
		{"123456789012345678901234567890123456780000",
		 "123456789012345678901234567890123456780000"},
		{"0.00000000000000000000000000000000000001",
		 "0.00000000000000000000000000000000000001"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(canonical(cases[i][0]), cases[i][1]);
	CHECK_INT(canonical("9.9999999999999999999999999999999999999E+125").n, 126);
	CHECK_INT(canonical("1E-130").n, 132);
	CHECK_INT(canonical("-1.2345678901234567890123456789012345678e-130").n, NUMBER_TEXT_MAX);
}

/* Compares the text of random numbers with the text that each was read from. Most have a few digits
 * only. */
TEST(text_of_every_length_and_point)
{
	unsigned long long seed = 54321;

	for (int round = 0; round < 200000; round++) {
		char text[64] = "-", *to = text + (round & 1);
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		int digits = 1 + (int)(seed >> 33) % (round % 4 ? 5 : 20),
		    point = (int)(seed >> 40) % (digits + 1);

		for (int i = 0; i < digits; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			*to++ = (char)('0' + (seed >> 35) % (round % 3 ? 10 : 2));
			if (i + 1 == point)
				*to++ = '.';
		}
		struct str found = canonical(text);
		char *first = text + (round & 1);
		if (point > 0) {
			while (to[-1] == '0')
				to--;
			to -= to[-1] == '.';
		}
		while (first + 1 < to && first[0] == '0' && first[1] != '.')
			first++;
		*to = 0;
		if (*first == '0' && first[1] == 0)
			CHECK_STR(found, "0");
		else if (round & 1)
			CHECK(found.p[0] == '-' &&
			      str_eq((struct str){found.p + 1, found.n - 1}, str_of(first)));
		else
			CHECK_STR(found, first);
	}
}

TEST(bytes_that_are_no_number)
{
	struct str number = encoded("-12.34");
	struct str longer = encoded("1234567890.12345");
	char text[NUMBER_TEXT_MAX], bytes[NUMBER_MAX];

	for (int round = 0; round < 2; round++, number = longer) {
		for (size_t n = 1; n <= number.n; n++) {
			for (int change = 0; change < 256; change++) {
				for (size_t at = 0; at < n; at++) {
					memcpy(bytes, number.p, n);
					bytes[at] = (char)(bytes[at] ^ change);
					struct str changed = {bytes, n};
					CHECK((number_put(changed, text) != NULL) ==
					      number_is_encoding(changed));
					CHECK(number_is_encoding(changed) ==
					      (number_length(bytes, n) == n));
				}
			}
		}
	}
}

TEST(refused_text)
{
	static const char *const malformed[] = {"abc", " 1",       "1 ",   "1_0", "0x10",
						"NaN", "Infinity", "1E",   "--1", "1e+",
						".",   "-",        "1.2.3"};

	for (size_t i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++)
		CHECK(str_starts_with(
			canonical(malformed[i]),
			STR("The parameter cannot be converted to a numeric value: ")));
	CHECK_STR(canonical(""), "The parameter cannot be converted to a numeric value");
	CHECK_STR(canonical("123456789012345678901234567890123456789"),
		  "Attempting to store more than 38 significant digits in a Number");
	CHECK_STR(canonical("1E126"), "Number overflow. Attempting to store a number with "
				      "magnitude larger than supported range");
	CHECK_STR(canonical("1E99999999999999"), "Number overflow. Attempting to store a number "
						 "with magnitude larger than supported range");
	CHECK_STR(canonical("-1E-131"), "Number underflow. Attempting to store a number with "
					"magnitude smaller than supported range");
}

TEST(byte_order_is_numeric_order)
{
	static const char *const ascending[] = {
		"-9.9999999999999999999999999999999999999E+125",
		"-1E125",
		"-100.5",
		"-100",
		"-99",
		"-10",
		"-1.5",
		"-1.05",
		"-1",
		"-0.5",
		"-1E-130",
		"0",
		"1E-130",
		"2E-130",
		"0.000001",
		"0.5",
		"0.51",
		"1",
		"1.000000000000000000000000000000000001",
		"1.05",
		"1.5",
		"9",
		"10",
		"11",
		"99",
		"100",
		"100.5",
		"1E125",
		"9.9999999999999999999999999999999999999E+125",
	};

	for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
		for (size_t k = 0; k < sizeof(ascending) / sizeof(ascending[0]); k++) {
			int order = str_cmp(encoded(ascending[i]), encoded(ascending[k]));

			CHECK_INT((order > 0) - (order < 0), (i > k) - (i < k));
		}
	}
}

TEST(arithmetic_on_integers_matches_the_machine)
{
	unsigned long long seed = 12345;

	for (int round = 0; round < 20000; round++) {
		long long v[2];
		char a[32], b[32], expected[32];

		for (int i = 0; i < 2; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			v[i] = (long long)(seed >> 20) >> (seed % 40);
			if (seed & 0x80000)
				v[i] = -v[i];
		}
		snprintf(a, sizeof(a), "%lld", v[0]);
		snprintf(b, sizeof(b), "%lld", v[1]);
		snprintf(expected, sizeof(expected), "%lld", v[0] + v[1]);
		CHECK_STR(sum(a, b, false), expected);
		snprintf(expected, sizeof(expected), "%lld", v[0] - v[1]);
		CHECK_STR(sum(a, b, true), expected);
		int order = str_cmp(encoded(a), encoded(b));
		CHECK_INT((order > 0) - (order < 0), (v[0] > v[1]) - (v[0] < v[1]));
		if (round % 100 == 0)
			arena_reset(arena);
	}
}

TEST(arithmetic_at_the_limits)
{
	CHECK_STR(sum("0.1", "0.2", false), "0.3");
	CHECK_STR(sum("5", "5", true), "0");
	CHECK_STR(sum("0", "-3.5", true), "3.5");
	CHECK_STR(sum("99999999999999999999999999999999999999", "1", false),
		  "100000000000000000000000000000000000000");
	CHECK_STR(sum("12345678901234567890123456789012345678", "0.5", false),
		  "Number overflow. Attempting to store a number with magnitude larger than "
		  "supported range");
	CHECK_STR(sum("9.9E125", "9E125", false), "Number overflow. Attempting to store a number "
						  "with magnitude larger than supported range");
	CHECK_STR(sum("1.5E-130", "1E-130", true).n > 20 ? STR("refused") : STR("taken"),
		  "refused");
}

TEST(integers)
{
	static const int64_t values[] = {0, 1, -1, 10, 255, 1000000, INT64_MAX, INT64_MIN, -100};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char bytes[NUMBER_MAX];
		int64_t back = 7;
		size_t n = number_from_int(values[i], bytes);

		CHECK(number_to_int((struct str){bytes, n}, &back));
		CHECK_INT(back, values[i]);
	}
	int64_t back;
	CHECK(number_to_int(encoded("12.9"), &back) && back == 12);
	CHECK(!number_to_int(encoded("9223372036854775808"), &back));
	CHECK(!number_to_int(encoded("1E30"), &back));
	CHECK(number_to_double(encoded("-2.5")) == -2.5);
}

TEST(billed_size_counts_pairs_of_digits_aligned_to_the_point)
{
	static const struct {
		const char *text;
		size_t size;
	} rows[] = {
		{"0", 1},
		{"1", 2},
		{"10", 2},
		{"99", 2},
		{"100", 2},
		{"123", 3},
		{"-1", 3},
		{"0.1", 2},
		{"1.5", 3},
		{"12345678901234567890123456789012345678", 20},
		{"1234567890123456789012345678901234567.8", 21},
		{"-1234567890123456789012345678901234567.8", NUMBER_BILLED_MAX},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_INT(number_billed_size(encoded(rows[i].text)), (long long)rows[i].size);
}

/* One byte changed, cut or with more behind: number_is_encoding() is true where number_length()
 * finds all bytes. */
TEST(encodings_that_are_changed)
{
	static const char *const numbers[] = {"0",
					      "7",
					      "-7",
					      "12.5",
					      "-0.05",
					      "1E125",
					      "-12345678901234567890123456789012345678"};
	struct err err = err_in(arena);

	for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
		char number[NUMBER_MAX + 2] = {0}, changed[sizeof(number)];
		size_t size;

		CHECK_INT(number_parse(str_of(numbers[k]), number, &size, &err), OK);
		for (size_t at = 0; at < size; at++) {
			memcpy(changed, number, sizeof(number));
			for (unsigned byte = 0; byte < 256; byte++) {
				changed[at] = (char)byte;
				for (size_t n = 0; n <= size + 2; n++)
					CHECK(number_is_encoding((struct str){changed, n}) ==
					      (n > 0 && number_length(changed, n) == n));
			}
		}
	}
}

/* Digits and exponents beyond all bounds, and bytes that are no encoding. */
TEST(what_is_far_beyond_the_limits)
{
	static const char *const refused[] = {"1111111111111111111111111111111111111111",
					      "10000000000000000000000000000000000000001",
					      "1ex",
					      "1e5x",
					      "1e99999999999999999999",
					      "1e-99999999999999999999",
					      "0e99999999999999999999"};
	struct err err = err_in(arena);
	char bytes[NUMBER_MAX];
	struct buf out = buf_in(arena);
	size_t n;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CHECK(number_parse(str_of(refused[i]), bytes, &n, &err) == ERR_VALIDATION);
	number_format(STR("\3\x82\x66\0"), &out);
	CHECK_INT(out.n, 0);
	CHECK_INT(number_length("", 0), 0);
	CHECK(number_to_double(encoded("0")) == 0 && number_to_double(encoded("-2.5")) == -2.5);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(what_is_far_beyond_the_limits),
		TEST_CASE(canonical_text),
		TEST_CASE(text_of_every_length_and_point),
		TEST_CASE(bytes_that_are_no_number),
		TEST_CASE(refused_text),
		TEST_CASE(byte_order_is_numeric_order),
		TEST_CASE(arithmetic_on_integers_matches_the_machine),
		TEST_CASE(arithmetic_at_the_limits),
		TEST_CASE(integers),
		TEST_CASE(encodings_that_are_changed),
		TEST_CASE(billed_size_counts_pairs_of_digits_aligned_to_the_point),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
