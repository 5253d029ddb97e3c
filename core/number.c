#include "core/number.h"

#include <float.h>

#include "core/messages.h"

#define SIGN_NEGATIVE 1
#define SIGN_ZERO 2
#define SIGN_POSITIVE 3
#define EXPONENT_MIN (-129) /* of 0.d1d2... * 10^e: 1E-130 */
#define EXPONENT_MAX 126    /* 9.99E+125 */
#define EXPONENT_FAR 100000000 /* beyond any legal one, and no sum of two overflows */
#define SPAN_MAX                                                                                   \
	320 /* decimal places between the largest and the smallest digit of two numbers, and a     \
	       carry */

/* 0.d1d2...dn * 10^exponent; n is 0 for zero, d1 and dn are not 0. */
struct decimal {
	bool is_negative;
	int exponent;
	int n;
	unsigned char digits[NUMBER_DIGITS];
};

static size_t encode_decimal(const struct decimal *d, char *out)
{
	unsigned char *p = (unsigned char *)out;
	size_t n = 0;

	if (d->n == 0) {
		p[0] = SIGN_ZERO;
		return 1;
	}
	p[n++] = d->is_negative ? SIGN_NEGATIVE : SIGN_POSITIVE;
	p[n++] = (unsigned char)(d->exponent - EXPONENT_MIN);
	for (int i = 0; i < d->n; i += 2)
		p[n++] = (unsigned char)(1 + d->digits[i] * 10 +
					 (i + 1 < d->n ? d->digits[i + 1] : 0));
	p[n++] = 0;
	if (d->is_negative) {
		for (size_t i = 1; i < n; i++)
			p[i] = (unsigned char)~p[i];
	}
	return n;
}

#define SHORT_MAX 10 /* bytes of a short encoding: seven pairs */

static inline bool is_short(size_t n)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && n >= 4 && n <= SHORT_MAX;
}

/* The pairs of a short encoding, the first in the lowest byte. Reads nothing beyond the encoding. A
 * malformed pair gives a byte beyond 99. */
static inline uint64_t short_pairs(struct str number, unsigned char flip)
{
	uint64_t ones = 0x0101010101010101u >> (88 - 8 * number.n), all;

	if (number.n >= 8) {
		memcpy(&all, number.p + number.n - 8, 8);
		all >>= 8 * (SHORT_MAX - number.n);
	} else { /* two parts that overlap */
		uint32_t first, last;

		memcpy(&first, number.p, 4);
		memcpy(&last, number.p + number.n - 4, 4);
		all = (first | (uint64_t)last << 8 * (number.n - 4)) >> 16;
	}
	return ((all ^ flip * 0x0101010101010101u) & ones * 0xFF) - ones;
}

/* Whether each byte is below 100. */
static inline bool are_pairs(uint64_t pairs)
{
	return ((pairs | (pairs + 28 * 0x0101010101010101u)) & 0x8080808080808080u) == 0;
}

/* The encoding must be well-formed (number_length). */
static void decode_decimal(struct str number, struct decimal *d)
{
	const unsigned char *p = (const unsigned char *)number.p;
	unsigned char flip = p[0] == SIGN_NEGATIVE ? 0xFF : 0;

	d->is_negative = p[0] == SIGN_NEGATIVE;
	d->n = 0;
	d->exponent = 0;
	if (number.n < 4)
		return;
	d->exponent = (p[1] ^ flip) + EXPONENT_MIN;
	for (size_t i = 2; i + 1 < number.n && d->n + 1 < NUMBER_DIGITS + 1; i++) {
		int pair = (p[i] ^ flip) - 1;

		d->digits[d->n++] = (unsigned char)(pair / 10);
		d->digits[d->n++] = (unsigned char)(pair % 10);
	}
	while (d->n > 0 && d->digits[d->n - 1] == 0)
		d->n--;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the digits and the point; returns where it stopped, NULL where there was no digit. */
static const char *scan_digits(const char *p, const char *end, struct decimal *d, bool *too_many)
{
	bool seen_point = false, seen_digit = false;
	int zeros = 0; /* zeros read after the last significant digit */

	for (; p < end; p++) {
		if (*p == '.' && !seen_point) {
			seen_point = true;
			continue;
		}
		if (!is_digit(*p))
			break;
		seen_digit = true;
		if (*p == '0') {
			if (d->n == 0)
				d->exponent -= seen_point;
			else
				zeros++;
		} else {
			*too_many = *too_many || d->n + zeros + 1 > NUMBER_DIGITS;
			for (; zeros > 0; zeros--) {
				if (d->n < NUMBER_DIGITS)
					d->digits[d->n++] = 0;
			}
			if (d->n < NUMBER_DIGITS)
				d->digits[d->n++] = (unsigned char)(*p - '0');
			zeros = 0;
		}
		if (!seen_point && (d->n > 0))
			d->exponent++;
	}
	return seen_digit ? p : NULL;
}

/*
 * Reads "e-12" to the end of the text; false when malformed, or beyond 64 bits, which AWS does not
 * convert either. The value added saturates far beyond any legal one.
 */
static bool scan_exponent(const char *p, const char *end, int *exponent)
{
	bool is_negative = false;
	uint64_t value = 0;

	if (p == end)
		return true;
	if (*p != 'e' && *p != 'E')
		return false;
	p++;
	if (p < end && (*p == '+' || *p == '-'))
		is_negative = *p++ == '-';
	if (p == end)
		return false;
	for (; p < end; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (!is_digit(*p) || value > ((uint64_t)INT64_MAX + is_negative - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	int bounded = value > EXPONENT_FAR ? EXPONENT_FAR : (int)value;
	*exponent += is_negative ? -bounded : bounded;
	return true;
}

static enum code check_range(const struct decimal *d, struct err *err)
{
	if (d->exponent > EXPONENT_MAX)
		return err_set(err, MSG_NUMBER_OVERFLOW);
	if (d->exponent < EXPONENT_MIN)
		return err_set(err, MSG_NUMBER_UNDERFLOW);
	return OK;
}

enum code number_parse(struct str text, char *out, size_t *length, struct err *err)
{
	struct decimal d = {0};
	const char *p = text.p, *end = text.p + text.n;
	bool too_many = false;

	if (text.n == 0)
		return err_set(err, MSG_NUMBER_EMPTY);
	if (*p == '+' || *p == '-')
		d.is_negative = *p++ == '-';
	p = scan_digits(p, end, &d, &too_many);
	if (!p || !scan_exponent(p, end, &d.exponent))
		return err_set(err, MSG_NUMBER_MALFORMED, STR_ARG(text));
	if (too_many)
		return err_set(err, MSG_NUMBER_PRECISION);
	if (d.n == 0)
		d.exponent++; /* AWS keeps zero within the range as if its last digit were a 1 */
	enum code code = check_range(&d, err);
	if (code != OK)
		return code;
	*length = encode_decimal(&d, out);
	return OK;
}

static inline char *put_pair(unsigned pair, char *to)
{
	unsigned tens = pair / 10;
	const char two[2] = {(char)('0' + tens), (char)('0' + pair - 10 * tens)};

	memcpy(to, two, 2);
	return to + 2;
}

/* The sign, and of numbers below 1 what is before their digits. */
static inline char *put_head(bool is_negative, int exponent, char *to)
{
	if (is_negative)
		*to++ = '-';
	if (exponent <= 0) {
		*to++ = '0';
		*to++ = '.';
		memset(to, '0', (size_t)-exponent);
		to += -exponent;
	}
	return to;
}

/* Puts the point into the digits, or zeros behind them, and cuts zeros at their end; gives the end.
 */
static inline char *put_point(char *digits, char *to, int exponent)
{
	while (to > digits && to[-1] == '0')
		to--;
	if (exponent > 0 && to - digits > exponent) {
		char *point = digits + exponent;

		for (char *p = to; p > point; p--) /* few: no call of memmove */
			*p = p[-1];
		*point = '.';
		return to + 1;
	}
	while (to - digits < exponent)
		*to++ = '0';
	return to;
}

/* Four pairs as eight decimal digits, the first in the lowest byte. */
static inline uint64_t digits_of_pairs(uint32_t pairs)
{
	uint64_t wide = (pairs | (uint64_t)pairs << 16) & 0x0000FFFF0000FFFFu;

	wide = (wide | wide << 8) & 0x00FF00FF00FF00FFu;
	uint64_t tens = (wide * 205 >> 11) & 0x001F001F001F001Fu; /* a tenth, below 100 */
	return (tens | (wide - tens * 10) << 8) + 0x3030303030303030u;
}

/*
 * number_put() of a short encoding whose text has digits before its point and is not too long; NULL
 * for others, which put_long_number() writes. It reads nothing back that it has written: such a
 * load waits for the store.
 */
static inline char *put_short_number(struct str number, char *to)
{
	unsigned char flip = number.p[0] == SIGN_NEGATIVE ? 0xFF : 0;
	unsigned n = 2 * ((unsigned)number.n - 3),
		 exponent = (unsigned)(((unsigned char)number.p[1] ^ flip) + EXPONENT_MIN);
	uint64_t pairs = short_pairs(number, flip);
	unsigned last = (unsigned)(pairs >> (4 * n - 8));

	if (exponent == 0 || exponent > 16 || last == 0 ||
	    !are_pairs(pairs)) /* unsigned: a negative exponent is beyond 16, too */
		return NULL;
	uint64_t first = digits_of_pairs((uint32_t)pairs),
		 second = digits_of_pairs((uint32_t)(pairs >> 32)); /* zeros behind the last pair */
	*to = '-';
	to += flip != 0;
	memcpy(to, &first, 8);
	memcpy(to + 8, &second, 8);
	n -= last % 10 == 0;
	if (exponent >= n)
		return to + exponent;
	if (exponent > 7)
		return NULL;
	uint64_t from_point = first >> 8 * exponent | second << 8 * (7 - exponent) << 8,
		 behind = second >> 8 * exponent;
	to[exponent] = '.';
	memcpy(to + exponent + 1, &from_point, 8);
	memcpy(to + exponent + 9, &behind, 8);
	return to + n + 1;
}

static __attribute__((noinline)) char *put_long_number(struct str number, char *to)
{
	if (!number_is_encoding(number))
		return NULL;
	if (number.n == 1) {
		*to++ = '0';
		return to;
	}
	const unsigned char *p = (const unsigned char *)number.p, *end = p + number.n - 1;
	unsigned char flip = p[0] == SIGN_NEGATIVE ? 0xFF : 0;
	int exponent = (p[1] ^ flip) + EXPONENT_MIN;
	char *digits = put_head(flip != 0, exponent, to);
	to = digits;
	for (p += 2; p < end; p++)
		to = put_pair((unsigned char)((*p ^ flip) - 1), to);
	return put_point(digits, to, exponent);
}

char *number_put(struct str number, char *to)
{
	const unsigned char *p = (const unsigned char *)number.p;

	if (!is_short(number.n))
		return put_long_number(number, to);
	unsigned char end = p[number.n - 1];
	if (number.n == 4 && p[0] == SIGN_POSITIVE && end == 0) { /* counts below 100 */
		unsigned pair = p[2] - 1u, tens = pair * 205 >> 11, ones = pair - 10 * tens;
		int exponent = p[1] + EXPONENT_MIN;

		to[0] = (char)('0' + tens);
		to[1] = (char)('0' + ones);
		if (pair < 100 && (exponent == 2 || (exponent == 1 && ones == 0)))
			return to + exponent;
	}
	bool has_ends = p[0] == SIGN_NEGATIVE ? end == 0xFF : p[0] == SIGN_POSITIVE && end == 0;
	char *after = has_ends ? put_short_number(number, to) : NULL;
	return after ? after : put_long_number(number, to);
}

void number_format(struct str number, struct buf *out)
{
	char *start = buf_reserve(out, NUMBER_TEXT_MAX), *end = number_put(number, start);

	out->n += end ? (size_t)(end - start) : 0;
}

/* The k-th decimal place below 10^top of a number, 0 outside its digits. */
static int place(const struct decimal *d, int top, int k)
{
	int i = k - (top - d->exponent);

	return i >= 0 && i < d->n ? d->digits[i] : 0;
}

/* Strips leading and trailing zeros of `places` and checks precision and range. */
static enum code normalize(const signed char *places, int n, struct decimal *d, struct err *err)
{
	int first = 0;

	while (first < n && places[first] == 0)
		first++;
	while (n > first && places[n - 1] == 0)
		n--;
	d->exponent -= first;
	d->n = n - first;
	if (d->n == 0)
		d->exponent = 0;
	if (d->exponent > EXPONENT_MAX)
		return err_set(err, MSG_NUMBER_OVERFLOW);
	if (d->n > NUMBER_DIGITS) /* AWS: an overflow; only a request's own digits are "too many" */
		return err_set(err, MSG_NUMBER_OVERFLOW);
	for (int i = 0; i < d->n; i++)
		d->digits[i] = (unsigned char)places[first + i];
	return check_range(d, err);
}

static enum code add_decimals(struct str a, struct str b, bool negate_b, char *out, size_t *length,
			      struct err *err)
{
	struct decimal x, y, sum = {0};
	signed char places[SPAN_MAX];

	decode_decimal(a, &x);
	decode_decimal(b, &y);
	if (x.n == 0)
		x.exponent = y.exponent;
	if (y.n == 0)
		y.exponent = x.exponent;
	y.is_negative = y.is_negative != negate_b;
	int top = (x.exponent > y.exponent ? x.exponent : y.exponent) +
		  1; /* one place for the carry */
	int x_low = x.exponent - x.n, y_low = y.exponent - y.n;
	int n = top - (x_low < y_low ? x_low : y_low);
	int sign_y = x.is_negative == y.is_negative ? 1 : -1;
	int carry = 0;

	for (int k = n - 1; k >= 0; k--) {
		int v = place(&x, top, k) + sign_y * place(&y, top, k) + carry;

		carry = v < 0 ? -1 : v / 10;
		places[k] = (signed char)(v < 0 ? v + 10 : v % 10);
	}
	sum.is_negative = x.is_negative;
	if (carry < 0) { /* |y| > |x|: the ten's complement of what we have, with y's sign */
		sum.is_negative = y.is_negative;
		carry = 0;
		for (int k = n - 1; k >= 0; k--) {
			int v = -places[k] + carry;

			carry = v < 0 ? -1 : 0;
			places[k] = (signed char)(v < 0 ? v + 10 : v);
		}
	}
	sum.exponent = top;
	enum code code = normalize(places, n, &sum, err);
	if (code != OK)
		return code;
	*length = encode_decimal(&sum, out);
	return OK;
}

enum code number_add(struct str a, struct str b, char *out, size_t *length, struct err *err)
{
	return add_decimals(a, b, false, out, length, err);
}

enum code number_subtract(struct str a, struct str b, char *out, size_t *length, struct err *err)
{
	return add_decimals(a, b, true, out, length, err);
}

size_t number_from_int(int64_t value, char *out)
{
	struct decimal d = {.is_negative = value < 0};
	unsigned char reversed[20];
	int n = 0;

	for (uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value; v; v /= 10)
		reversed[n++] = (unsigned char)(v % 10);
	d.exponent = n;
	for (int i = 0; i < n; i++)
		d.digits[i] = reversed[n - 1 - i];
	d.n = n;
	while (d.n > 0 && d.digits[d.n - 1] == 0)
		d.n--;
	return encode_decimal(&d, out);
}

bool number_to_int(struct str number, int64_t *out)
{
	struct decimal d;
	uint64_t value = 0;

	decode_decimal(number, &d);
	if (d.exponent > 19)
		return false;
	for (int i = 0; i < d.exponent; i++) {
		unsigned digit = i < d.n ? d.digits[i] : 0;

		if (value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (value > (uint64_t)INT64_MAX + (d.is_negative ? 1 : 0))
		return false;
	*out = d.is_negative ? (int64_t)-value : (int64_t)value;
	return true;
}

/* ".d1d2d3e5": what strtod and strtof read; `text` has room for 64 bytes. */
static void write_for_strtod(const struct decimal *d, char *text)
{
	size_t n = 0;

	if (d->is_negative)
		text[n++] = '-';
	text[n++] = '.';
	for (int i = 0; i < d->n; i++)
		text[n++] = (char)('0' + d->digits[i]);
	snprintf(text + n, 64 - n, "e%d", d->exponent);
}

double number_to_double(struct str number)
{
	struct decimal d;
	char text[64];

	decode_decimal(number, &d);
	if (d.n == 0)
		return 0;
	write_for_strtod(&d, text);
	return strtod(text, NULL);
}

float number_to_float(struct str number)
{
	/* 5^27 < 2^64: these are exact in 64 bits of mantissa */
	static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
					     1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
					     1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
					     1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
	struct decimal d;
	uint64_t digits = 0;
	char text[64];

	decode_decimal(number, &d);
	if (d.n == 0)
		return 0;
	int power = d.exponent - d.n;
	if (LDBL_MANT_DIG < 64 || d.n > 19 || power < -27 || power > 27) {
		write_for_strtod(&d, text);
		return strtof(text, NULL);
	}
	for (int i = 0; i < d.n; i++)
		digits = digits * 10 + d.digits[i];
	long double value = power < 0 ? (long double)digits / powers[-power]
				      : (long double)digits * powers[power];
	return (float)(d.is_negative ? -value : value);
}

bool number_is_encoding(struct str bytes)
{
	const unsigned char *p = (const unsigned char *)bytes.p;

	if (bytes.n < 4 || bytes.n > NUMBER_MAX)
		return bytes.n == 1 && p[0] == SIGN_ZERO;
	if (p[0] != SIGN_NEGATIVE && p[0] != SIGN_POSITIVE)
		return false;
	unsigned char flip = p[0] == SIGN_NEGATIVE ? 0xFF : 0;
	const unsigned char *last = p + bytes.n - 1;
	if (is_short(bytes.n))
		return *last == flip && are_pairs(short_pairs(bytes, flip));
	for (p += 2; p < last; p++) {
		if ((unsigned char)((*p ^ flip) - 1) >= 100)
			return false;
	}
	return *last == flip;
}

size_t number_length(const char *bytes, size_t n)
{
	const unsigned char *p = (const unsigned char *)bytes;

	if (n == 0)
		return 0;
	if (p[0] == SIGN_ZERO)
		return 1;
	if (p[0] != SIGN_NEGATIVE && p[0] != SIGN_POSITIVE)
		return 0;
	unsigned char flip = p[0] == SIGN_NEGATIVE ? 0xFF : 0;
	for (size_t i = 2; i < n && i < NUMBER_MAX; i++) {
		unsigned char c = p[i] ^ flip;

		if (c == 0)
			return i > 2 ? i + 1 : 0;
		if (c > 100)
			return 0;
	}
	return 0;
}

size_t number_billed_size(struct str number)
{
	struct decimal d;

	decode_decimal(number, &d);
	if (d.n == 0)
		return 1;
	int pairs = (d.n + 1 + (d.exponent & 1)) / 2; /* an odd exponent can cost a byte more */
	int size = pairs + 1 + d.is_negative;
	return (size_t)(size < NUMBER_BILLED_MAX ? size : NUMBER_BILLED_MAX);
}

size_t number_packed(struct str number, unsigned char *out)
{
	struct decimal d;
	size_t n = 0;

	decode_decimal(number, &d);
	if (d.n == 0) {
		out[0] = 0x80;
		return 1;
	}
	int odd = d.exponent & 1, pairs = (d.n + odd + 1) / 2,
	    hundreds = (d.exponent + odd) / 2 - 64;
	out[n++] = (unsigned char)(d.is_negative ? ~hundreds : hundreds);
	for (int i = 0; i < pairs; i++) {
		int pair = 10 * place(&d, d.exponent, 2 * i - odd) +
			   place(&d, d.exponent, 2 * i + 1 - odd);

		out[n++] = (unsigned char)(d.is_negative ? 101 - pair : 1 + pair);
	}
	if (d.is_negative && pairs < 20)
		out[n++] = 102;
	return n;
}
