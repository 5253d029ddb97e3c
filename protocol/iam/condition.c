#include "protocol/iam/condition.h"

#include "core/base64.h"
#include "core/calendar.h"
#include "core/number.h"
#include "protocol/iam/literal.h"

#define DAY_MS INT64_C(86400000)

enum comparison {
	COMPARE_STRING,
	COMPARE_STRING_NOCASE,
	COMPARE_LIKE,
	COMPARE_BOOLEAN,
	COMPARE_NUMBER_EQ,
	COMPARE_NUMBER_LT,
	COMPARE_NUMBER_LE,
	COMPARE_NUMBER_GT,
	COMPARE_NUMBER_GE,
	COMPARE_DATE_EQ,
	COMPARE_DATE_LT,
	COMPARE_DATE_LE,
	COMPARE_DATE_GT,
	COMPARE_DATE_GE,
	COMPARE_BINARY,
	COMPARE_ADDRESS,
	COMPARE_ARN,
	COMPARE_NULL,
};

struct iam_operator {
	struct str name;
	enum comparison comparison;
	bool is_turned;
	unsigned forms;
};

static const struct iam_operator operators[] = {
#define OPERATOR(name, comparison, is_turned, forms)                                               \
	{STR_INIT(name), COMPARE_##comparison, is_turned, forms},
#include "protocol/iam/operator.def"
#undef OPERATOR
};

const struct iam_operator *iam_operator_find(struct str name)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (str_eq_nocase(operators[i].name, name))
			return &operators[i];
	}
	return NULL;
}

unsigned iam_operator_forms(const struct iam_operator *operator)
{
	return operator->forms;
}

bool iam_scalar(struct arena *arena, const struct json *value, struct str *text)
{
	int64_t integer;

	switch (json_type(value)) {
	case JSON_STRING:
		*text = json_string(arena, value);
		return true;
	case JSON_BOOLEAN:
		*text = json_boolean(value) ? STR("true") : STR("false");
		return true;
	case JSON_NUMBER:
		*text = json_integer(value, &integer)
				? str_printf(arena, "%lld", (long long)integer)
				: str_printf(arena, "%.17g", json_number(value));
		return true;
	default:
		return false;
	}
}

bool iam_operator_takes(struct arena *arena, const struct iam_operator *operator,
			const struct json * value)
{
	enum comparison comparison = operator->comparison;
	unsigned char bytes[16];
	struct str text;
	unsigned bits;

	if (!iam_scalar(arena, value, &text))
		return false;
	if (comparison >= COMPARE_DATE_EQ && comparison <= COMPARE_DATE_GE)
		return iam_literal_is_date(text);
	if (str_contains(text, STR("${"))) /* a variable */
		return true;
	if (comparison >= COMPARE_NUMBER_EQ && comparison <= COMPARE_NUMBER_GE)
		return json_type(value) == JSON_NUMBER || iam_literal_is_number(arena, text);
	if (comparison == COMPARE_ADDRESS)
		return iam_literal_network(text, bytes, &bits) > 0;
	if (comparison == COMPARE_BINARY)
		return iam_literal_is_binary(arena, text);
	return (comparison != COMPARE_NULL && comparison != COMPARE_BOOLEAN) ||
	       iam_literal_is_boolean(text);
}

/* -1, 0, 1; false where either is no number. */
static bool compare_numbers(struct arena *arena, struct str a, struct str b, int *order)
{
	char left[NUMBER_MAX], right[NUMBER_MAX];
	size_t left_n, right_n;
	struct err err = err_in(arena);

	if (number_parse(a, left, &left_n, &err) != OK ||
	    number_parse(b, right, &right_n, &err) != OK)
		return false;
	*order = str_cmp((struct str){left, left_n}, (struct str){right, right_n});
	return true;
}

/* `n` digits at *at. */
static bool digits(struct str text, size_t *at, size_t n, int64_t *out)
{
	*out = 0;
	if (text.n - *at < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = text.p[(*at)++];

		if (c < '0' || c > '9')
			return false;
		*out = *out * 10 + (c - '0');
	}
	return true;
}

static bool sign(struct str text, size_t *at, char c)
{
	bool is_there = *at < text.n && text.p[*at] == c;

	*at += is_there;
	return is_there;
}

/* Z, +hh:mm or -hh:mm, in minutes. */
static bool zone(struct str text, size_t *at, int64_t *minutes)
{
	int64_t hour, minute;
	bool is_east;

	*minutes = 0;
	if (sign(text, at, 'Z'))
		return true;
	is_east = sign(text, at, '+');
	if (!is_east && !sign(text, at, '-'))
		return false;
	if (!digits(text, at, 2, &hour) || !sign(text, at, ':') || !digits(text, at, 2, &minute) ||
	    hour > 23 || minute > 59)
		return false;
	*minutes = (is_east ? 1 : -1) * (hour * 60 + minute);
	return true;
}

/* hh:mm[:ss[.f]] and a zone. */
static bool time_of_day(struct str text, size_t *at, int64_t *ms)
{
	int64_t hour, minute, second = 0, fraction = 0, digit, minutes;
	int scale = 100;

	if (!digits(text, at, 2, &hour) || !sign(text, at, ':') || !digits(text, at, 2, &minute) ||
	    hour > 23 || minute > 59)
		return false;
	if (sign(text, at, ':')) {
		if (!digits(text, at, 2, &second) || second > 59)
			return false;
		if (sign(text, at, '.')) {
			if (!digits(text, at, 1, &digit))
				return false;
			do {
				fraction += digit * scale;
				scale /= 10;
			} while (*at < text.n && digits(text, at, 1, &digit));
			(*at)--; /* the character that is no digit */
		}
	}
	if (!zone(text, at, &minutes))
		return false;
	*ms = ((hour * 60 + minute - minutes) * 60 + second) * 1000 + fraction;
	return true;
}

/* A whole number of seconds. */
static bool epoch(struct str text, int64_t *ms)
{
	size_t at = 0;
	bool is_negative = sign(text, &at, '-');
	int64_t seconds;

	if (text.n - at == 0 || text.n - at > 12 || !digits(text, &at, text.n - at, &seconds))
		return false;
	*ms = (is_negative ? -seconds : seconds) * 1000;
	return true;
}

/* Seconds since 1970 of a date in ISO 8601 or of a number of seconds, with milliseconds; false for
 * other texts. */
static bool iam_condition_date(struct str text, int64_t *ms)
{
	int64_t year, month = 1, day = 1, of_day = 0;
	size_t at = 0;

	if (text.n != 4 && epoch(text, ms))
		return true;
	if (!digits(text, &at, 4, &year))
		return false;
	if (sign(text, &at, '-') && (!digits(text, &at, 2, &month) ||
				     (sign(text, &at, '-') && !digits(text, &at, 2, &day))))
		return false;
	if (month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	if (sign(text, &at, 'T') && !time_of_day(text, &at, &of_day))
		return false;
	*ms = calendar_days(year, month, day) * DAY_MS + of_day;
	return at == text.n;
}

static bool compare_dates(struct str a, struct str b, int *order)
{
	int64_t left, right;

	if (!iam_condition_date(a, &left) || !iam_condition_date(b, &right))
		return false;
	*order = left < right ? -1 : left > right;
	return true;
}

static bool is_in_network(struct str network, struct str address)
{
	unsigned char wanted[16], bytes[16];
	unsigned bits;
	size_t n = iam_literal_network(network, wanted, &bits);

	if (n == 0 || iam_literal_address(address, bytes) != n)
		return false;
	for (size_t i = 0; i < n && bits > 0; i++) {
		unsigned mask = bits >= 8 ? 0xFFu : 0xFFu << (8 - bits) & 0xFFu;

		if ((wanted[i] & mask) != (bytes[i] & mask))
			return false;
		bits -= bits < 8 ? bits : 8;
	}
	return true;
}

static bool is_binary(struct arena *arena, struct str wanted, struct str text)
{
	struct str left, right;

	return base64_decode(arena, wanted, &left) && base64_decode(arena, text, &right) &&
	       str_eq(left, right);
}

static bool is_in_order(enum comparison comparison, enum comparison first, int order)
{
	switch (comparison - first) {
	case 0:
		return order == 0;
	case 1:
		return order < 0;
	case 2:
		return order <= 0;
	case 3:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* Whether the request's `text` fits what the policy wants. */
static bool fits(enum comparison comparison, struct arena *arena, struct str wanted,
		 struct str text)
{
	int order;

	switch (comparison) {
	case COMPARE_STRING:
		return str_eq(wanted, text);
	case COMPARE_STRING_NOCASE:
	case COMPARE_BOOLEAN:
		return str_eq_nocase(wanted, text);
	case COMPARE_LIKE:
		return iam_pattern_fits(arena, wanted, text, false);
	case COMPARE_BINARY:
		return is_binary(arena, wanted, text);
	case COMPARE_ADDRESS:
		return is_in_network(wanted, text);
	case COMPARE_ARN:
		return iam_pattern_fits_arn(arena, wanted, text);
	case COMPARE_NULL:
		return false;
	default:
		break;
	}
	if (comparison >= COMPARE_DATE_EQ && comparison <= COMPARE_DATE_GE)
		return compare_dates(text, wanted, &order) &&
		       is_in_order(comparison, COMPARE_DATE_EQ, order);
	return compare_numbers(arena, text, wanted, &order) &&
	       is_in_order(comparison, COMPARE_NUMBER_EQ, order);
}

/* One value of the request against all of the policy's. */
static bool holds_for(const struct iam_test *test, const struct iam_context *context,
		      struct arena *arena, struct str text)
{
	for (size_t i = 0; i < test->values.n && arena_works(arena, 4 + text.n / 32); i++) {
		struct str wanted;

		if (iam_pattern_fill(&test->values.v[i], context, arena, &wanted) &&
		    fits(test->operator->comparison, arena, wanted, text))
			return !test->operator->is_turned;
	}
	return test->operator->is_turned;
}

static bool holds_null(const struct iam_test *test, bool is_absent)
{
	for (size_t i = 0; i < test->values.n; i++) {
		if (str_eq_nocase(test->values.v[i].source, is_absent ? STR("true") : STR("false")))
			return true;
	}
	return false;
}

static bool holds(const struct iam_test *test, const struct iam_context *context,
		  struct arena *arena)
{
	const struct iam_key *key = iam_context_find(context, test->key);
	bool is_absent = !key || key->n == 0;

	if (test->operator->comparison == COMPARE_NULL)
		return holds_null(test, is_absent);
	if (is_absent) /* AWS: IfExists does not help ForAnyValue (re:Post,
			  "ForAnyValue:StringEqualsIfExists behaving unexpectedly") */
		return test->quantifier == IAM_FOR_ALL ||
		       (test->quantifier == IAM_SINGLE &&
			(test->is_if_exists || test->operator->is_turned));
	for (size_t i = 0; i < key->n; i++) {
		bool is_held = holds_for(test, context, arena, key->values[i]);

		if (is_held == (test->quantifier == IAM_FOR_ANY))
			return is_held;
	}
	return test->quantifier != IAM_FOR_ANY;
}

bool iam_condition_holds(const struct iam_test *tests, size_t n, const struct iam_context *context,
			 struct arena *arena)
{
	for (size_t i = 0; i < n; i++) {
		if (!holds(&tests[i], context, arena))
			return false;
	}
	return true;
}
