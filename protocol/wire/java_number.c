#include "protocol/wire/java_number.h"

#include <stdint.h>

#include "core/messages.h"

#define EXPONENT_ENOUGH 100000000000LL /* what is beyond does not count: it does not fit */

/* The digits behind the letter at `i`, with their sign. */
static long long read_exponent(struct str text, size_t i)
{
	bool is_negative = i + 1 < text.n && text.p[i + 1] == '-';
	long long exponent = 0;

	for (i++; i < text.n && exponent < EXPONENT_ENOUGH; i++) {
		if (text.p[i] >= '0' && text.p[i] <= '9')
			exponent = exponent * 10 + (text.p[i] - '0');
	}
	return is_negative ? -exponent : exponent;
}

struct java_number java_number_read(struct str text)
{
	struct java_number number = {.precision = 0};
	long long places = 0;
	bool is_fraction = false;
	size_t i = 0;

	for (; i < text.n && text.p[i] != 'e' && text.p[i] != 'E'; i++) {
		bool is_digit = text.p[i] >= '0' && text.p[i] <= '9';

		places += is_fraction;
		number.precision += is_digit && (number.precision > 0 || text.p[i] != '0');
		is_fraction = is_fraction || text.p[i] == '.';
	}
	long long exponent = read_exponent(text, i);
	number.precision += number.precision == 0;
	number.scale = places - exponent;
	number.fits = exponent == (int32_t)exponent && number.scale == (int32_t)number.scale;
	return number;
}

enum code java_number_error(struct str text, struct err *err)
{
	struct java_number number = java_number_read(text);

	if (!number.fits)
		return err_set(err, MSG_NUMBER_MALFORMED, STR_ARG(text));
	if (number.precision - number.scale >= INT32_MAX)
		return err_set(err, MSG_NUMBER_UNDERFLOW);
	return err->code;
}
