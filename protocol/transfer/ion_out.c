#include "protocol/transfer/ion_out.h"

#include "core/base64.h"
#include "core/number.h"

static bool is_identifier(struct str name)
{
	static const struct str reserved[] = {STR_INIT("null"), STR_INIT("true"), STR_INIT("false"),
					      STR_INIT("nan")};

	/* $10 is the tenth symbol, $ion_... are the system's */
	if (name.n == 0 || (name.p[0] >= '0' && name.p[0] <= '9') || name.p[0] == '$')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '$'))
			return false;
	}
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
		if (str_eq(name, reserved[i]))
			return false;
	}
	return true;
}

static void add_ion_quoted(struct buf *out, struct str text, char quote)
{
	static const char letters[] = "0......abtnvfr";

	buf_add_byte(out, quote);
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == (unsigned char)quote || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < sizeof(letters) - 1 && letters[c] != '.')
			buf_printf(out, "\\%c", letters[c]);
		else if (c < ' ' || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_add_byte(out, c);
	}
	buf_add_byte(out, quote);
}

void ion_out_name(struct buf *out, struct str name)
{
	if (is_identifier(name))
		buf_add_str(out, name);
	else
		add_ion_quoted(out, name, '\'');
}

/* The significant digits of a plain decimal text, and the power of ten of the last one. */
static size_t digits_of(struct str text, char *digits, int *power)
{
	size_t n = 0, zeros = 0;
	bool is_behind = false;
	int places = 0;

	for (size_t i = text.p[0] == '-'; i < text.n; i++) {
		if (text.p[i] == '.') {
			is_behind = true;
			continue;
		}
		places += is_behind;
		if (text.p[i] == '0') {
			zeros += n > 0;
			continue;
		}
		for (; zeros > 0; zeros--)
			digits[n++] = '0';
		digits[n++] = text.p[i];
	}
	*power = (int)zeros - places;
	return n;
}

/* As Ion's writer for Java prints a BigDecimal without trailing zeros, whose exponent is never made
 * positive by zeros. */
static void add_ion_number(struct buf *out, struct str number)
{
	struct buf plain = buf_in(out->arena);
	char digits[NUMBER_DIGITS];
	int power;

	number_format(number, &plain);
	size_t n = digits_of(buf_str(&plain), digits, &power);
	if (n == 0) {
		buf_add_lit(out, "0.");
		return;
	}
	if (plain.p[0] == '-')
		buf_add_byte(out, '-');
	if (power >= 0) {
		buf_add(out, digits, n);
		if (power == 0)
			buf_add_byte(out, '.');
		else
			buf_printf(out, "d%d", power);
		return;
	}
	size_t scale = (size_t)-power, whole = n > scale ? n - scale : 1;
	buf_add(out, digits, whole);
	if (whole < n) {
		buf_add_byte(out, '.');
		buf_add(out, digits + whole, n - whole);
	}
	if (n <= scale)
		buf_printf(out, "d-%zu", scale - n + 1);
}

static void add_ion_scalar(struct buf *out, const struct value *value)
{
	if (value->type == TYPE_S) {
		add_ion_quoted(out, value_str(value), '"');
	} else if (value->type == TYPE_N) {
		add_ion_number(out, value_str(value));
	} else {
		buf_add_lit(out, "{{");
		base64_encode(value_str(value), out);
		buf_add_lit(out, "}}");
	}
}

static void add_elements(struct buf *out, const struct value *value)
{
	if (type_is_set((enum type)value->type))
		buf_printf(out, "$dynamodb_%s::", type_name((enum type)value->type));
	buf_add_byte(out, '[');
	for (uint32_t i = 0; i < value->n; i++) {
		if (i > 0)
			buf_add_byte(out, ',');
		ion_out_value(out, &value->elements[i]);
	}
	buf_add_byte(out, ']');
}

static void add_ion_members(struct buf *out, const struct value *value)
{
	buf_add_byte(out, '{');
	for (uint32_t i = 0; i < value->n; i++) {
		if (i > 0)
			buf_add_byte(out, ',');
		ion_out_name(out, value->members[i].name);
		buf_add_byte(out, ':');
		ion_out_value(out, &value->members[i].value);
	}
	buf_add_byte(out, '}');
}

/* Values nest as deep as DynamoDB lets them. */
void ion_out_value(struct buf *out, const struct value *value)
{
	switch ((enum type)value->type) {
	case TYPE_NONE:
	case TYPE_COUNT:
	case TYPE_NULL:
		buf_add_lit(out, "null");
		return;
	case TYPE_BOOL:
		buf_add_str(out, value->boolean ? STR("true") : STR("false"));
		return;
	case TYPE_M:
		add_ion_members(out, value);
		return;
	case TYPE_L:
	case TYPE_SS:
	case TYPE_NS:
	case TYPE_BS:
		add_elements(out, value);
		return;
	case TYPE_S:
	case TYPE_N:
	case TYPE_B:
		add_ion_scalar(out, value);
	}
}
