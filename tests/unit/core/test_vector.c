/* The module itself, so that both kernels are at hand whatever this machine would choose. */
#include "core/vector.c"

#include <float.h>

#include "tests/unit/test.h"

#define DIMENSIONS_MAX 1024

static struct arena *arena;
static uint64_t seed;

static uint64_t next_random(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 33;
}

/* A float of a magnitude between 2^-scale and 2^scale. */
static float random_float(int scale)
{
	double mantissa = (double)(next_random() % 16777216) / 8388608 - 1;

	return (float)ldexp(mantissa, (int)(next_random() % (2 * (unsigned)scale + 1)) - scale);
}

static void fill(float *a, float *b, double *wide, size_t n, int scale)
{
	for (size_t i = 0; i < n; i++) {
		a[i] = random_float(scale);
		b[i] = random_float(scale);
	}
	vector_widen(b, n, wide);
}

/* Within the error that sums of n doubles can have. */
static bool is_close(double actual, long double expected, long double magnitude)
{
	return fabsl(actual - expected) <= magnitude * 1e-13L;
}

TEST(sums_agree_with_plain_arithmetic)
{
	static float a[DIMENSIONS_MAX], b[DIMENSIONS_MAX];
	static double wide[DIMENSIONS_MAX];

	for (size_t n = 1; n < 200; n++) {
		long double dot = 0, magnitude = 0, distance = 0, square = 0;

		fill(a, b, wide, n, 20);
		for (size_t i = 0; i < n; i++) {
			dot += (long double)a[i] * b[i];
			magnitude += fabsl((long double)a[i] * b[i]);
			distance += ((long double)a[i] - b[i]) * ((long double)a[i] - b[i]);
			square += (long double)a[i] * a[i];
		}
		CHECK(is_close(vector_dot(a, wide, n), dot, magnitude));
		CHECK(is_close(vector_square_distance(a, wide, n), distance, distance));
		CHECK(is_close(vector_square(a, n), square, square));
	}
}

TEST(both_kernels_give_the_same_bits)
{
	static float a[DIMENSIONS_MAX + 1], b[DIMENSIONS_MAX];
	static double wide[DIMENSIONS_MAX];

	for (int round = 0; round < 300; round++) {
		size_t n = 1 + next_random() % DIMENSIONS_MAX,
		       shift = next_random() % 2; /* rows need not be aligned */
		double plain, fast;

		fill(a + shift, b, wide, n, round % 60);
		plain = dot_portable(a + shift, wide, n);
		fast = vector_dot(a + shift, wide, n);
		CHECK(memcmp(&plain, &fast, sizeof(plain)) == 0);
		plain = distance_portable(a + shift, wide, n);
		fast = vector_square_distance(a + shift, wide, n);
		CHECK(memcmp(&plain, &fast, sizeof(plain)) == 0);
	}
}

static float score(enum vector_distance distance, const float *a, const float *query, size_t n)
{
	double wide[16];
	double square = vector_widen(query, n, wide);

	return vector_score(distance, a, vector_square(a, n), wide, square, n);
}

TEST(scores_are_those_of_the_service)
{
	const float x[] = {1, 0, 0}, y[] = {0, 1, 0}, opposite[] = {-1, 0, 0},
		    mixed[] = {0.6f, 0.8f, 0}, zero[] = {0, 0, 0}, long_x[] = {10, 0, 0};

	CHECK(score(DISTANCE_COSINE, x, x, 3) == 0);
	CHECK(score(DISTANCE_COSINE, long_x, x, 3) == 0);
	CHECK(score(DISTANCE_COSINE, y, x, 3) == 1);
	CHECK(score(DISTANCE_COSINE, opposite, x, 3) == 2);
	CHECK(fabsf(score(DISTANCE_COSINE, mixed, x, 3) - 0.4f) < 1e-6f);
	CHECK(score(DISTANCE_COSINE, zero, x, 3) == 1);
	CHECK(score(DISTANCE_COSINE, x, zero, 3) == 1);
	CHECK(score(DISTANCE_COSINE, zero, zero, 3) == 1);
	CHECK(score(DISTANCE_EUCLIDEAN, x, x, 3) == 0);
	CHECK(score(DISTANCE_EUCLIDEAN, long_x, x, 3) == 9);
	CHECK(score(DISTANCE_EUCLIDEAN, y, x, 3) == (float)sqrt(2));
	CHECK(score(DISTANCE_DOT_PRODUCT, mixed, x, 3) == 0.6f);
	CHECK(score(DISTANCE_DOT_PRODUCT, opposite, x, 3) == -1);
	CHECK(vector_higher_is_better(DISTANCE_DOT_PRODUCT));
	CHECK(!vector_higher_is_better(DISTANCE_COSINE));
}

TEST(scores_stay_within_float32)
{
	const float high[] = {3.4e38f, 3.4e38f}, across[] = {3.4e38f, -3.4e38f},
		    low[] = {-3.4e38f, 0}, tiny[] = {1e-23f, 0}, least[] = {1e-45f, 0};

	CHECK(score(DISTANCE_DOT_PRODUCT, across, high, 2) == 0);
	CHECK(score(DISTANCE_DOT_PRODUCT, high, high, 2) == FLT_MAX);
	CHECK(score(DISTANCE_DOT_PRODUCT, low, high, 2) == -FLT_MAX);
	CHECK(score(DISTANCE_EUCLIDEAN, low, high, 2) == FLT_MAX);
	CHECK(score(DISTANCE_COSINE, tiny, tiny, 2) == 0);
	CHECK(score(DISTANCE_COSINE, least, least, 2) == 0);
}

static struct value number(const char *text)
{
	struct err err = err_in(arena);
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	size_t n = 0;

	CHECK(number_parse(str_of(text), bytes, &n, &err) == OK);
	return value_of_str(TYPE_N, (struct str){bytes, n});
}

/* The very same; valgrind keeps no more of a long double than of a double, which can cost the last
 * place. */
static bool is_float(float value, float want)
{
	volatile long double one = 1;

	return value == want || (one + LDBL_EPSILON == one && nextafterf(value, want) == want);
}

TEST(numbers_become_the_nearest_float)
{
	static const char *const texts[] = {
		"0",
		"1",
		"-1",
		"0.1",
		"-0.1",
		"0.3333333333333333",
		"16777217",
		"16777219",
		"3.4028235E38",
		"-3.4028235E38",
		"1E-45",
		"1.17549435E-38",
		"123456789012345678901234567890",
		"0.12345678901234567890123456789012345678",
		"1E-130",
		"9.999999E37",
		"0.000001",
		"65504",
		"1e10",
		"2.7182818284590452353602874713527",
		"7e-46",
		"8388609.5",
	};
	float value;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct value n = number(texts[i]);

		CHECK(vector_of_number(value_str(&n), &value));
		CHECK(is_float(value, strtof(texts[i], NULL)));
	}
	for (int i = 0; i < 20000; i++) { /* what SDKs send: 1 to 17 digits */
		char text[64];

		snprintf(text, sizeof(text), "%.*g", 1 + i % 17,
			 ldexp((double)next_random() - 1073741824.0,
			       (int)(next_random() % 80) - 40));
		struct value n = number(text);
		CHECK(vector_of_number(value_str(&n), &value) &&
		      is_float(value, strtof(text, NULL)));
	}
}

TEST(lists_need_numbers_in_range)
{
	struct value elements[] = {number("1"), number("-2.5")},
		     list = {.type = TYPE_L, .n = 2, .elements = elements};
	float out[2];

	CHECK(vector_of_list(&list, out) && out[0] == 1 && out[1] == -2.5f);
	elements[1] = number("1E+39");
	CHECK(!vector_of_list(&list, out));
	elements[1] = number("-1E+125");
	CHECK(!vector_of_list(&list, out));
	elements[1] = number("3.4028236E38");
	CHECK(!vector_of_list(&list, out));
	elements[1] = value_of_str(TYPE_S, STR("1"));
	CHECK(!vector_of_list(&list, out));
}

static struct str formatted(float value)
{
	struct buf out = buf_in(arena);

	vector_format(value, &out);
	return buf_str(&out);
}

TEST(floats_are_written_shortest)
{
	CHECK_STR(formatted(0), "0.0");
	CHECK_STR(formatted(1), "1.0");
	CHECK_STR(formatted(-1.5f), "-1.5");
	CHECK_STR(formatted(0.1f), "0.1");
	CHECK_STR(formatted(0.6f), "0.6");
	CHECK_STR(formatted(0.001f), "0.001");
	CHECK_STR(formatted(0.0001f), "1.0E-4");
	CHECK_STR(formatted(16777216), "16777216.0");
	CHECK_STR(formatted(1e10f), "10000000000.0");
	CHECK_STR(formatted(12345.678f), "12345.678");
	CHECK_STR(formatted(1e-20f), "1.0E-20");
	CHECK_STR(formatted(FLT_MAX), "3.4028235E38");
	CHECK_STR(formatted(-1e-45f), "-1.0E-45");
	for (int i = 0; i < 20000; i++) {
		float value = random_float(120);
		struct str text = formatted(value);

		CHECK(strtof(str_printf(arena, STR_FMT, STR_ARG(text)).p, NULL) == value);
	}
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(sums_agree_with_plain_arithmetic),
		TEST_CASE(both_kernels_give_the_same_bits),
		TEST_CASE(scores_are_those_of_the_service),
		TEST_CASE(scores_stay_within_float32),
		TEST_CASE(numbers_become_the_nearest_float),
		TEST_CASE(lists_need_numbers_in_range),
		TEST_CASE(floats_are_written_shortest),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
