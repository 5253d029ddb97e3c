#include "protocol/iam/literal.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "core/base64.h"
#include "core/err.h"
#include "core/number.h"

#define ADDRESS_TEXT 64
#define DIGITS_MAX 18
#define YEAR_MAX INT64_C(292278993)

static bool has(struct str text, char c)
{
	return text.n > 0 && memchr(text.p, c, text.n) != NULL;
}

static bool is_between(struct str text, int64_t low, int64_t high)
{
	int64_t value = 0;

	if (text.n == 0 || text.n > DIGITS_MAX)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		if (!isdigit((unsigned char)text.p[i]))
			return false;
		value = value * 10 + (text.p[i] - '0');
	}
	return value >= low && value <= high;
}

static bool is_zone(struct str text)
{
	bool has_minutes = has(text, ':');
	struct str hour = str_cut(&text, ':');

	return hour.n == 2 && is_between(hour, 0, 23) &&
	       (!has_minutes || (text.n == 2 && is_between(text, 0, 59)));
}

/* ss[.f] and a zone; a zone to the west is not looked at. */
static bool are_seconds(struct str text)
{
	char sign = has(text, 'Z') ? 'Z' : has(text, 'z') ? 'z' : '+';
	bool has_zone = has(text, sign);
	struct str clock = str_cut(&text, sign);

	if (has_zone && (sign == '+' ? !is_zone(text) : text.n > 0))
		return false;
	clock = str_cut(&clock, '-');
	bool has_fraction = has(clock, '.');
	struct str whole = str_cut(&clock, '.');
	return is_between(whole, 0, 59) && (!has_fraction || is_between(clock, 0, 999999999));
}

bool iam_literal_is_date(struct str text)
{
	bool has_time = has(text, 'T') || has(text, 't');

	if (!has_time && is_between(text, 0, INT64_MAX))
		return true;
	if (!has_time && !has(text, '-'))
		return false;
	struct str clock = text, day = str_cut(&clock, has(text, 'T') ? 'T' : 't');
	if (day.n > 0 && day.p[0] == '-')
		day = (struct str){day.p + 1, day.n - 1};
	if (!is_between(str_cut(&day, '-'), 0, YEAR_MAX))
		return false;
	if (day.n > 0 && !is_between(str_cut(&day, '-'), 1, 12))
		return false;
	if (day.n > 0 && !is_between(day, 1, 31))
		return false;
	if (!has_time || clock.n == 0)
		return true;
	struct str hour = str_cut(&clock, ':'), minute = clock;
	bool has_seconds = has(clock, ':');
	minute = str_cut(&clock, ':');
	if (!is_between(hour, 0, 23))
		return false;
	if (has_seconds)
		return is_between(minute, 0, 59) && are_seconds(clock);
	return minute.n == 0 ||
	       (minute.n >= 2 && is_between((struct str){minute.p, 2}, 0, 59)); /* and a zone */
}

bool iam_literal_is_number(struct arena *arena, struct str text)
{
	char bytes[NUMBER_MAX];
	size_t n;
	struct err err = err_in(arena);

	return number_parse(text, bytes, &n, &err) == OK;
}

bool iam_literal_is_binary(struct arena *arena, struct str text)
{
	struct str bytes;

	return base64_decode(arena, text, &bytes);
}

bool iam_literal_is_boolean(struct str text)
{
	return str_eq_nocase(text, STR("true")) || str_eq_nocase(text, STR("false"));
}

size_t iam_literal_address(struct str text, unsigned char bytes[16])
{
	char copy[ADDRESS_TEXT];

	if (text.n == 0 || text.n >= sizeof(copy) || str_has_zero(text))
		return 0;
	memcpy(copy, text.p, text.n);
	copy[text.n] = 0;
	if (inet_pton(AF_INET, copy, bytes) == 1)
		return 4;
	return inet_pton(AF_INET6, copy, bytes) == 1 ? 16 : 0;
}

size_t iam_literal_network(struct str text, unsigned char bytes[16], unsigned *bits)
{
	struct str rest = text, address = str_cut(&rest, '/');
	size_t n = iam_literal_address(address, bytes);

	*bits = (unsigned)n * 8;
	if (address.n == text.n || n == 0)
		return n;
	if (rest.n > 3 || !is_between(rest, 0, (int64_t)n * 8))
		return 0;
	*bits = 0;
	for (size_t i = 0; i < rest.n; i++)
		*bits = *bits * 10 + (unsigned)(rest.p[i] - '0');
	return n;
}
