#include "protocol/transfer/ion_text.h"

#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "core/buf.h"
#include "core/number.h"
#include "core/utf8.h"
#include "protocol/transfer/messages.h"

struct reader {
	struct arena *arena;
	const char *p, *end;
	bool is_short; /* the bytes ended within something */
	struct err *err;
	struct err *value_err; /* the first thing that DynamoDB does not take */
};

static bool read_text_value(struct reader *r, unsigned depth, struct value *out);

static bool fail(struct reader *r, const char *what)
{
	(void)(err_set(r->err, MSG_ION_SYNTAX, what) == OK);
	return false;
}

static bool run_out(struct reader *r)
{
	r->is_short = true;
	return fail(r, "it ends within a value");
}

static bool refuse_type(struct reader *r, const char *type, struct value *out)
{
	if (r->value_err->code == OK)
		(void)(err_set(r->value_err, MSG_ION_TYPE, type) == OK);
	*out = (struct value){.type = TYPE_NULL};
	return true;
}

/* Whether a line comment or a block comment was passed over. */
static bool skip_comment(struct reader *r)
{
	if (r->end - r->p == 1 && r->p[0] == '/') { /* what it is comes behind it */
		r->p = r->end;
		r->is_short = true;
	}
	if (r->end - r->p < 2 || r->p[0] != '/' || (r->p[1] != '/' && r->p[1] != '*'))
		return false;
	bool is_line = r->p[1] == '/';
	const char *stop = is_line ? memchr(r->p, '\n', (size_t)(r->end - r->p))
				   : memmem(r->p + 2, (size_t)(r->end - r->p - 2), "*/", 2);
	r->p = stop ? stop + (is_line ? 1 : 2) : r->end;
	r->is_short = r->is_short || !stop;
	return true;
}

static void skip_space(struct reader *r)
{
	do {
		while (r->p < r->end && (*r->p == ' ' || (*r->p >= '\t' && *r->p <= '\r')))
			r->p++;
	} while (skip_comment(r));
}

static int hex_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static bool take_hex(struct reader *r, int digits, uint32_t *out)
{
	*out = 0;
	for (int i = 0; i < digits; i++, r->p++) {
		if (r->p == r->end)
			return run_out(r);
		int digit = hex_of(*r->p);
		if (digit < 0)
			return fail(r, "an escape needs hexadecimal digits");
		*out = *out << 4 | (uint32_t)digit;
	}
	return true;
}

static bool add_point(struct reader *r, struct buf *buf, uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return fail(r, "an escape names no character");
	if (c < 0x80) {
		buf_add_byte(buf, (int)c);
		return true;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

	buf_add_byte(buf, (int)(lead[more] | c >> (6 * more)));
	while (more-- > 0)
		buf_add_byte(buf, (int)(0x80 | (c >> (6 * more) & 0x3f)));
	return true;
}

/* \uXXXX, which may be the first of a pair. */
static bool take_unit(struct reader *r, struct buf *buf)
{
	uint32_t c, low;

	if (!take_hex(r, 4, &c))
		return false;
	if (c < 0xd800 || c >= 0xdc00)
		return add_point(r, buf, c);
	if (r->end - r->p < 6)
		return run_out(r);
	if (r->p[0] != '\\' || r->p[1] != 'u')
		return fail(r, "an escape names half a character");
	r->p += 2;
	if (!take_hex(r, 4, &low))
		return false;
	if (low < 0xdc00 || low >= 0xe000)
		return fail(r, "an escape names half a character");
	return add_point(r, buf, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
}

/* What follows a backslash. */
static bool take_escape(struct reader *r, struct buf *buf)
{
	static const char names[] = "0abtnfrv\"'?\\/", values[] = "\0\a\b\t\n\f\r\v\"'?\\/";
	uint32_t c;

	if (r->p == r->end)
		return run_out(r);
	char escape = *r->p++;
	if (escape == 'u')
		return take_unit(r, buf);
	if (escape == 'x' || escape == 'U')
		return take_hex(r, escape == 'x' ? 2 : 8, &c) && add_point(r, buf, c);
	if (escape == '\n')
		return true;
	if (escape == '\r') { /* and the LF behind it */
		if (r->p == r->end)
			return run_out(r);
		r->p += *r->p == '\n';
		return true;
	}
	const char *at = escape ? strchr(names, escape) : NULL;
	if (!at)
		return fail(r, "an unknown escape");
	buf_add_byte(buf, values[at - names]);
	return true;
}

/* Up to the closing quotes, `n` of them. */
static bool take_quoted(struct reader *r, char quote, size_t n, struct buf *buf)
{
	for (;;) {
		if ((size_t)(r->end - r->p) < n)
			return run_out(r);
		if (r->p[0] == quote && (n == 1 || (r->p[1] == quote && r->p[2] == quote))) {
			r->p += n;
			return utf8_is_valid(buf_str(buf)) || fail(r, "a string is no UTF-8");
		}
		if (n == 1 && *r->p == '\n')
			return fail(r, "a line break within a string");
		if (*r->p != '\\') {
			buf_add_byte(buf, *r->p++);
			continue;
		}
		r->p++;
		if (!take_escape(r, buf))
			return false;
	}
}

static bool is_long_quote(const struct reader *r)
{
	return r->end - r->p >= 3 && memcmp(r->p, "'''", 3) == 0;
}

/* The bytes end within what may be three quotes. */
static bool may_be_long_quote(const struct reader *r)
{
	size_t left = (size_t)(r->end - r->p);

	return left < 3 && memcmp(r->p, "'''", left) == 0;
}

/* "..." or '''...''' '''...''' */
static bool take_string(struct reader *r, struct str *out)
{
	struct buf buf = buf_in(r->arena);

	if (*r->p == '"') {
		r->p++;
		if (!take_quoted(r, '"', 1, &buf))
			return false;
		*out = buf_str(&buf);
		return true;
	}
	while (is_long_quote(r)) {
		r->p += 3;
		if (!take_quoted(r, '\'', 3, &buf))
			return false;
		skip_space(r);
		if (may_be_long_quote(r))
			return run_out(r);
	}
	*out = buf_str(&buf);
	return true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$';
}

/* An identifier or 'a quoted symbol'. */
static bool take_symbol(struct reader *r, struct str *out)
{
	struct buf buf = buf_in(r->arena);

	if (r->p < r->end && *r->p == '\'') {
		r->p++;
		if (!take_quoted(r, '\'', 1, &buf))
			return false;
		*out = buf_str(&buf);
		return true;
	}
	const char *from = r->p;
	while (r->p < r->end && is_word(*r->p))
		r->p++;
	if (r->p == r->end)
		return run_out(r);
	*out = (struct str){from, (size_t)(r->p - from)};
	return out->n > 0 || fail(r, "an unexpected character");
}

bool ion_text_number(struct arena *arena, struct str text, struct value *out, struct err *value_err)
{
	char *bytes = arena_bytes(arena, text.n + NUMBER_MAX), *number = bytes + text.n;
	size_t n = 0, length = 0;
	struct err reason = err_in(arena);

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] != '_')
			bytes[n++] = text.p[i] == 'd' || text.p[i] == 'D' ? 'e' : text.p[i];
	}
	*out = (struct value){.type = TYPE_NULL};
	if (number_parse((struct str){bytes, n}, number, &length, &reason) != OK) {
		if (value_err->code == OK)
			*value_err = reason;
		return false;
	}
	*out = value_of_str(TYPE_N, (struct str){number, length});
	return true;
}

/* 0x1F and 0b11, as far as 64 bits go. */
static struct str plain_digits(struct arena *arena, struct str text)
{
	size_t sign = text.n > 0 && text.p[0] == '-';

	if (text.n < sign + 3 || text.p[sign] != '0')
		return text;
	int base = (text.p[sign + 1] | 0x20) == 'x' ? 16 : (text.p[sign + 1] | 0x20) == 'b' ? 2 : 0;
	if (base == 0)
		return text;
	char digits[80] = "", *end;
	size_t n = 0;
	for (size_t i = sign + 2; i < text.n && n < sizeof(digits) - 1; i++) {
		if (text.p[i] != '_')
			digits[n++] = text.p[i];
	}
	unsigned long long value = strtoull(digits, &end, base);
	return *end || n == 0 || n > 64u / (base == 16 ? 4 : 1)
		       ? text
		       : str_printf(arena, "%s%llu", sign ? "-" : "", value);
}

/* A number or a timestamp. */
static bool read_text_number(struct reader *r, struct value *out)
{
	const char *from = r->p;

	while (r->p < r->end &&
	       (is_word(*r->p) || *r->p == '.' || *r->p == '+' || *r->p == '-' || *r->p == ':'))
		r->p++;
	if (r->p == r->end)
		return run_out(r);
	struct str text = {from, (size_t)(r->p - from)};
	if (text.n > 4 && (text.p[4] == '-' || text.p[4] == 'T') && text.p[0] >= '0' &&
	    text.p[0] <= '9')
		return refuse_type(r, "timestamp", out);
	if (str_eq(text, STR("+inf")) || str_eq(text, STR("-inf")))
		return refuse_type(r, "float (infinite)", out);
	(void)ion_text_number(r->arena, plain_digits(r->arena, text), out, r->value_err);
	return true;
}

bool ion_text_set(struct str annotation, struct value *list, struct err *value_err)
{
	static const struct {
		struct str name;
		enum type type;
	} sets[] = {
		{STR_INIT("$dynamodb_SS"), TYPE_SS},
		{STR_INIT("$dynamodb_NS"), TYPE_NS},
		{STR_INIT("$dynamodb_BS"), TYPE_BS},
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		const struct value *twice;

		if (!str_eq(annotation, sets[i].name))
			continue;
		bool is_fine = list->type == TYPE_L;
		for (uint32_t k = 0; is_fine && k < list->n; k++)
			is_fine = list->elements[k].type == type_element(sets[i].type);
		if (value_err->code != OK)
			return false;
		if (!is_fine)
			return err_set(value_err, MSG_ION_SET, sets[i].name.p) == OK;
		if (list->n == 0)
			return err_set(value_err, MSG_ION_SET_EMPTY) == OK;
		list->type = (uint8_t)sets[i].type;
		if (!value_sort_set((struct value *)(uintptr_t)list->elements, list->n, &twice))
			return err_set(value_err, MSG_ION_SET_TWICE) == OK;
	}
	return true;
}

void ion_text_struct(struct member *members, size_t n, struct value *out, struct err *value_err)
{
	size_t kept = value_sort_last(members, n);

	*out = (struct value){.type = TYPE_M, .n = (uint32_t)kept, .members = members};
	if (kept < n && value_err->code == OK)
		(void)err_set(value_err, MSG_ION_FIELD_TWICE);
}

/* Passes over the character; false where another one stands there. */
static bool takes(struct reader *r, char c)
{
	skip_space(r);
	if (r->p == r->end || *r->p != c)
		return false;
	r->p++;
	return true;
}

static bool expect(struct reader *r, char c, const char *what)
{
	if (takes(r, c))
		return true;
	return r->p == r->end ? run_out(r) : fail(r, what);
}

static bool read_text_list(struct reader *r, char close, unsigned depth, struct value *out)
{
	struct value *elements = NULL;
	uint32_t n = 0;

	while (!takes(r, close)) {
		if (arena_is_over(r->arena))
			return fail(r, ION_TOO_LARGE);
		elements = arena_room(r->arena, elements, n, sizeof(*elements));
		if (!read_text_value(r, depth + 1, &elements[n]))
			return false;
		n++;
		if (close == ']' && !takes(r, ',') && !(r->p < r->end && *r->p == close))
			return r->p == r->end ? run_out(r) : fail(r, "a list needs a comma");
	}
	*out = (struct value){.type = TYPE_L, .n = n, .elements = elements};
	return true;
}

static bool read_name(struct reader *r, struct str *name)
{
	skip_space(r);
	if (may_be_long_quote(r))
		return run_out(r);
	return *r->p == '"' || is_long_quote(r) ? take_string(r, name) : take_symbol(r, name);
}

static bool read_text_struct(struct reader *r, unsigned depth, struct value *out)
{
	struct member *members = NULL;
	size_t n = 0;

	while (!takes(r, '}')) {
		if (arena_is_over(r->arena))
			return fail(r, ION_TOO_LARGE);
		members = arena_room(r->arena, members, n, sizeof(*members));
		if (!read_name(r, &members[n].name) || !expect(r, ':', "a field needs a colon") ||
		    !read_text_value(r, depth + 1, &members[n].value))
			return false;
		n++;
		if (!takes(r, ',') && !(r->p < r->end && *r->p == '}'))
			return r->p == r->end ? run_out(r) : fail(r, "a struct needs a comma");
	}
	ion_text_struct(members, n, out, r->value_err);
	return true;
}

/* {{base64}} or {{"clob"}}; the opening braces are behind. */
static bool read_lob(struct reader *r, struct value *out)
{
	struct str text, bytes;
	struct buf buf = buf_in(r->arena);

	skip_space(r);
	if (may_be_long_quote(r))
		return run_out(r);
	if (r->p < r->end && (*r->p == '"' || *r->p == '\'')) {
		if (!take_string(r, &text) || !expect(r, '}', "a clob needs }}") ||
		    !expect(r, '}', "a clob needs }}"))
			return false;
		return refuse_type(r, "clob", out);
	}
	while (r->p < r->end && *r->p != '}') {
		if (*r->p > ' ')
			buf_add_byte(&buf, *r->p);
		r->p++;
	}
	if (r->end - r->p < 2)
		return run_out(r);
	if (r->p[1] != '}' || !base64_decode(r->arena, buf_str(&buf), &bytes))
		return fail(r, "a blob is no base64");
	r->p += 2;
	*out = value_of_str(TYPE_B, bytes);
	return true;
}

/* null, null.string, true, false, nan, or a symbol. */
static bool read_text_word(struct reader *r, struct str word, struct value *out)
{
	struct str type;

	if (str_eq(word, STR("true")) || str_eq(word, STR("false"))) {
		*out = (struct value){.type = TYPE_BOOL, .boolean = word.n == 4};
		return true;
	}
	if (!str_eq(word, STR("null")))
		return refuse_type(r, str_eq(word, STR("nan")) ? "float (not a number)" : "symbol",
				   out);
	*out = (struct value){.type = TYPE_NULL};
	if (r->p < r->end && *r->p == '.') {
		r->p++;
		return take_symbol(r, &type);
	}
	return true;
}

/* A symbol, or the annotations before a value. */
static bool read_symbol(struct reader *r, unsigned depth, struct value *out)
{
	bool is_quoted = *r->p == '\'';
	struct str word;

	if (!take_symbol(r, &word))
		return false;
	const char *behind = r->p;
	skip_space(r);
	if (r->end - r->p < 2 && (r->p == r->end || *r->p == ':'))
		return run_out(r);
	if (r->end - r->p < 2 || r->p[0] != ':' || r->p[1] != ':') {
		r->p = behind;
		return is_quoted ? refuse_type(r, "symbol", out) : read_text_word(r, word, out);
	}
	r->p += 2;
	if (!read_text_value(r, depth + 1, out))
		return false;
	(void)ion_text_set(word, out, r->value_err);
	return true;
}

static bool read_text_value(struct reader *r, unsigned depth, struct value *out)
{
	if (depth > ION_DEPTH_MAX)
		return fail(r, "it is nested too deeply");
	skip_space(r);
	if (r->p == r->end)
		return run_out(r);
	char c = *r->p;
	if (c == '{' && r->end - r->p < 2)
		return run_out(r);
	if (may_be_long_quote(r))
		return run_out(r);
	if (c == '{' && r->p[1] == '{') {
		r->p += 2;
		return read_lob(r, out);
	}
	if (c == '{' || c == '[' || c == '(') {
		r->p++;
		if (c == '{')
			return read_text_struct(r, depth, out);
		return read_text_list(r, c == '[' ? ']' : ')', depth, out) &&
		       (c == '[' || refuse_type(r, "sexp", out));
	}
	if (c == '"' || is_long_quote(r)) {
		struct str text;

		if (!take_string(r, &text))
			return false;
		*out = value_of_str(TYPE_S, text);
		return true;
	}
	if ((c >= '0' && c <= '9') || c == '-' || c == '+')
		return read_text_number(r, out);
	return read_symbol(r, depth, out);
}

/* White space, version markers and what may stand around the items of a list. */
static void skip_between(struct reader *r)
{
	static const struct str marker = STR_INIT("$ion_1_0");
	const char *before;

	do {
		before = r->p;
		skip_space(r);
		if (r->p < r->end && (*r->p == '[' || *r->p == ']' || *r->p == ','))
			r->p++;
		size_t left = (size_t)(r->end - r->p);
		if (left > marker.n && memcmp(r->p, marker.p, marker.n) == 0 &&
		    !is_word(r->p[marker.n]))
			r->p += marker.n;
	} while (r->p != before);
}

enum ion_result ion_text_next(struct arena *arena, struct str *rest, bool is_last,
			      struct value *out, struct err *value_err, struct err *err)
{
	struct reader r = {.arena = arena,
			   .p = rest->p,
			   .end = rest->p + rest->n,
			   .err = err,
			   .value_err = value_err};

	skip_between(&r);
	if (r.p == r.end && !r.is_short) {
		*rest = (struct str){r.p, 0};
		return is_last ? ION_END : ION_MORE;
	}
	if (!read_text_value(&r, 1, out)) {
		if (!r.is_short || is_last)
			return ION_BROKEN;
		err->code = value_err->code = OK;
		return ION_MORE;
	}
	*rest = (struct str){r.p, (size_t)(r.end - r.p)};
	return ION_VALUE;
}
