/*
 * Numbers against school arithmetic on rows of decimal places. The first byte picks: two wire
 * texts, a line each, whose encodings, order, sum and difference must be the naive ones; or any
 * bytes as an encoding, which every reader must survive.
 */
#include <errno.h>
#include <math.h>

#include "core/number.h"
#include "tests/fuzz/fuzz.h"

#define HIGHEST 125 /* the largest number's first digit stands at 10^125 */
#define LOWEST                                                                                     \
	(-130) /* the smallest number's first digit at 10^-130, its last up to 37 places below */
#define EXPONENT_FAR 1000000
#define PLACES (HIGHEST + 1 - LOWEST + NUMBER_DIGITS) /* and one above, for a carry */

/* places[i] is the digit at 10^(HIGHEST + 1 - i). */
struct naive {
	bool is_negative;
	signed char places[PLACES];
};

struct number {
	struct naive naive;
	char bytes[NUMBER_MAX];
	size_t n;
};

/* First and behind the last digit that is not 0; false for zero. */
static bool span(const struct naive *x, int *first, int *last)
{
	*first = 0;
	*last = PLACES;
	while (*first < PLACES && x->places[*first] == 0)
		++*first;
	while (*last > *first && x->places[*last - 1] == 0)
		--*last;
	return *first < *last;
}

static bool is_legal(const struct naive *x)
{
	int first, last;

	return !span(x, &first, &last) ||
	       (last - first <= NUMBER_DIGITS && first >= 1 && HIGHEST + 1 - first >= LOWEST);
}

/* [+-] digits [. digits] [e [+-] digits]; false where it is not that or cannot be represented. */
static bool naive_read(struct str text, struct naive *out)
{
	struct str mantissa = text;
	int exponent = 0, seen = 0, place;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == 'e' || text.p[i] == 'E') {
			mantissa.n = i;
			long far = strtol(text.p + i + 1, NULL, 10);
			exponent = far > EXPONENT_FAR    ? EXPONENT_FAR
				   : far < -EXPONENT_FAR ? -EXPONENT_FAR
							 : (int)far;
			break;
		}
	}
	if (mantissa.n && (*mantissa.p == '-' || *mantissa.p == '+')) {
		out->is_negative = *mantissa.p == '-';
		mantissa.p++;
		mantissa.n--;
	}
	const char *point = mantissa.n ? memchr(mantissa.p, '.', mantissa.n) : NULL;
	place = exponent + (int)(point ? point - mantissa.p : (long)mantissa.n) - 1;
	for (size_t i = 0; i < mantissa.n; i++) {
		if (mantissa.p[i] == '.')
			continue;
		int at = HIGHEST + 1 - place--;
		if (mantissa.p[i] != '0' && (at < 0 || at >= PLACES))
			return false;
		if (at >= 0 && at < PLACES)
			out->places[at] = (signed char)(mantissa.p[i] - '0');
		seen++;
	}
	return seen && is_legal(out);
}

static int naive_magnitude(const struct naive *a, const struct naive *b)
{
	return fuzz_sign(memcmp(a->places, b->places, PLACES)); /* digits are 0 to 9 */
}

static int naive_compare(const struct naive *a, const struct naive *b)
{
	static const struct naive zero;
	int sign_a = naive_magnitude(a, &zero) * (a->is_negative ? -1 : 1),
	    sign_b = naive_magnitude(b, &zero) * (b->is_negative ? -1 : 1);

	return sign_a != sign_b ? fuzz_sign(sign_a - sign_b) : sign_a * naive_magnitude(a, b);
}

static struct naive naive_add(const struct naive *a, const struct naive *b, bool negate_b)
{
	bool b_is_negative = b->is_negative != negate_b, is_sum = a->is_negative == b_is_negative;
	const struct naive *large = naive_magnitude(a, b) >= 0 ? a : b, *small = large == a ? b : a;
	struct naive out = {.is_negative = large == a ? a->is_negative : b_is_negative};
	int carry = 0;

	for (int i = PLACES - 1; i >= 0; i--) {
		int v = large->places[i] + (is_sum ? small->places[i] : -small->places[i]) + carry;

		carry = v < 0 ? -1 : v / 10;
		out.places[i] = (signed char)(v < 0 ? v + 10 : v % 10);
	}
	return out;
}

static void check_encoding(struct arena *arena, struct str number, const struct naive *naive)
{
	struct buf text = buf_in(arena);
	struct err err = err_in(arena);
	char again[NUMBER_MAX];
	struct naive shown;
	int64_t integer;
	size_t n;

	MUST(number.n <= NUMBER_MAX && number_length(number.p, number.n) == number.n);
	number_format(number, &text);
	MUST(text.n <= NUMBER_TEXT_MAX);
	MUST(naive_read(buf_str(&text), &shown) && naive_compare(&shown, naive) == 0);
	MUST(number_parse(buf_str(&text), again, &n, &err) == OK &&
	     str_eq((struct str){again, n}, number));
	MUST(number_billed_size(number) >= 1 && number_billed_size(number) <= NUMBER_BILLED_MAX);
	buf_add_byte(&text, 0);
	double exact = strtod(text.p, NULL);
	MUST(number_to_double(number) == exact);
	float near = strtof(text.p, NULL);
	MUST(fabsf(number_to_float(number) - near) <= fabsf(near) * 0x1p-22f ||
	     number_to_float(number) == near);
	errno = 0;
	long long truncated = strtoll(text.p, NULL, 10);
	MUST(number_to_int(number, &integer) == (errno == 0) && (errno || integer == truncated));
	n = number_from_int(truncated, again);
	MUST(number_length(again, n) == n && number_to_int((struct str){again, n}, &integer) &&
	     integer == truncated);
}

static bool read_number(struct arena *arena, struct str text, struct number *out)
{
	struct err err = err_in(arena);
	bool is_read = number_parse(text, out->bytes, &out->n, &err) == OK;

	if (!is_read) /* zero with a far exponent and malformed texts are the reader's to refuse */
		return false;
	text = str_copy(arena, text); /* ends with a NUL, for strtol */
	MUST(naive_read(text, &out->naive));
	check_encoding(arena, (struct str){out->bytes, out->n}, &out->naive);
	return true;
}

static void check_pair(struct arena *arena, const struct number *a, const struct number *b)
{
	struct str x = {a->bytes, a->n}, y = {b->bytes, b->n};

	MUST(fuzz_sign(str_cmp(x, y)) == naive_compare(&a->naive, &b->naive));
	for (int negate = 0; negate < 2; negate++) {
		struct naive want = naive_add(&a->naive, &b->naive, negate);
		struct err err = err_in(arena);
		char bytes[NUMBER_MAX];
		size_t n;

		bool is_done = (negate ? number_subtract : number_add)(x, y, bytes, &n, &err) == OK;
		MUST(is_done == is_legal(&want));
		if (is_done)
			check_encoding(arena, (struct str){bytes, n}, &want);
	}
}

static void survive(struct arena *arena, struct str bytes)
{
	size_t n = number_length(bytes.p, bytes.n);
	struct buf text = buf_in(arena);
	struct str number = {bytes.p, n};
	int64_t integer;

	MUST(n <= bytes.n && n <= NUMBER_MAX);
	if (n == 0)
		return;
	number_format(number, &text);
	(void)number_to_double(number);
	(void)number_to_float(number);
	(void)number_to_int(number, &integer);
	(void)number_billed_size(number);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = {(const char *)data, size};
	struct arena *arena = fuzz_arena();
	struct number a, b;

	if (fuzz_byte(&input) % 2) {
		survive(arena, input);
		return 0;
	}
	bool is_a = read_number(arena, fuzz_until(&input, '\n'), &a);
	if (read_number(arena, fuzz_until(&input, '\n'), &b) && is_a) {
		check_pair(arena, &a, &b);
		check_pair(arena, &b, &a);
	}
	return 0;
}
