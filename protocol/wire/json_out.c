#include "protocol/wire/json_out.h"

#include <inttypes.h>

#include "core/base64.h"
#include "core/image.h"
#include "core/number.h"

struct json_out json_out_in(struct arena *arena)
{
	struct json_out out = {.buf = buf_in(arena)};

	buf_reserve(&out.buf, 512);
	return out;
}

static void separate(struct json_out *out)
{
	if (out->needs_comma)
		buf_add_byte(&out->buf, ',');
	out->needs_comma = true;
}

void json_out_open(struct json_out *out, char bracket)
{
	separate(out);
	buf_add_byte(&out->buf, bracket);
	out->needs_comma = false;
}

void json_out_close(struct json_out *out, char bracket)
{
	buf_add_byte(&out->buf, bracket);
	out->needs_comma = true;
}

/* Bytes that JSON strings cannot hold as they are: the escape's letter, or 'u' for the long form; 0 for the others. */
static const char escapes[256] = {
	['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	[0] = 'u', [1] = 'u', [2] = 'u', [3] = 'u', [4] = 'u', [5] = 'u', [6] = 'u', [7] = 'u', [11] = 'u', [14] = 'u', [15] = 'u', [16] = 'u',
	[17] = 'u', [18] = 'u', [19] = 'u', [20] = 'u', [21] = 'u', [22] = 'u', [23] = 'u', [24] = 'u', [25] = 'u', [26] = 'u', [27] = 'u',
	[28] = 'u', [29] = 'u', [30] = 'u', [31] = 'u',
};

/* Not 0 where one of eight bytes is a quote, a backslash or below a blank. */
static uint64_t needs_escape(uint64_t eight)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t quote = eight ^ ones * '"', backslash = eight ^ ones * '\\';

	return (((eight - ones * ' ') & ~eight) | ((quote - ones) & ~quote) | ((backslash - ones) & ~backslash)) & ones * 0x80;
}

static char *put_escaped(char *to, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (!escapes[c]) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '\\';
		*to++ = escapes[c];
		if (escapes[c] == 'u') {
			memcpy(to, c < 16 ? "000" : "001", 3);
			to[3] = "0123456789abcdef"[c & 15];
			to += 4;
		}
	}
	return to;
}

static uint64_t load(const char *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

#define STEP 16
typedef unsigned char lanes __attribute__((vector_size(STEP))); /* one vector instruction each, where the machine has them */

/* Lanes that are not 0 where a byte needs an escape. */
static lanes marks(lanes v)
{
	return (lanes)((v < ' ') | (v == '"') | (v == '\\'));
}

static bool are_zero(lanes v)
{
#ifdef __SSE2__
	return __builtin_ia32_pmovmskb128((char __attribute__((vector_size(STEP))))v) == 0; /* each is 0 or has its highest bit */
#else
	uint64_t halves[2];

	memcpy(halves, &v, STEP);
	return (halves[0] | halves[1]) == 0;
#endif
}

static lanes load_step(const char *p)
{
	lanes v;

	memcpy(&v, p, STEP);
	return v;
}

static bool are_plain(uint64_t a, uint64_t b)
{
	const uint64_t halves[2] = {a, b};
	lanes v;

	memcpy(&v, halves, STEP);
	return are_zero(marks(v));
}

/* A text of at least STEP bytes, two steps a time where no escape is needed; the last step overlaps the one before. */
static char *put_long_text(char *to, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;

	for (; end - p >= 2 * STEP; p += 2 * STEP) {
		lanes a = load_step(p), b = load_step(p + STEP);

		if (are_zero(marks(a) | marks(b))) {
			memcpy(to, &a, STEP);
			memcpy(to + STEP, &b, STEP);
			to += 2 * STEP;
		} else {
			to = put_escaped(to, p, 2 * STEP);
		}
	}
	if (end - p >= STEP) {
		lanes v = load_step(p);

		if (!are_zero(marks(v)))
			return put_escaped(to, p, (size_t)(end - p));
		memcpy(to, &v, STEP);
		p += STEP;
		to += STEP;
	}
	/* what is left, with bytes before it that were written already: plain bytes are the same there and here */
	lanes last = load_step(end - STEP);

	if (!are_zero(marks(last)))
		return put_escaped(to, p, (size_t)(end - p));
	to += end - p;
	memcpy(to - STEP, &last, STEP);
	return to;
}

/* The first n of STEP lanes, from STEP - n on. */
static const unsigned char first_lanes[2 * STEP] = {
	0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
};

/* A text shorter than a step, with STEP bytes to read from its first on and STEP to write: checked and copied in one. */
static char *put_short_text(char *to, struct str s)
{
	lanes v = load_step(s.p), wanted;

	memcpy(&wanted, first_lanes + STEP - s.n, STEP);
	if (!are_zero(wanted & marks(v)))
		return put_escaped(to, s.p, s.n);
	memcpy(to, &v, STEP);
	return to + s.n;
}

/* Copies with escapes. A text shorter than a step is checked in two parts that overlap. `to` has room for ESCAPED_MAX(n) bytes. */
#define ESCAPED_MAX(n) ((n) * 6)
static char *put_text(char *to, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;

	if (s.n >= STEP)
		return put_long_text(to, s);
	if (s.n >= 4 && s.n < 8 && !needs_escape(load(p, 4) | load(end - 4, 4) << 32)) {
		memcpy(to, p, 4);
		memcpy(to + s.n - 4, end - 4, 4);
		return to + s.n;
	}
	if (s.n >= 8 && are_plain(load(p, 8), load(end - 8, 8))) {
		memcpy(to, p, 8);
		memcpy(to + s.n - 8, end - 8, 8);
		return to + s.n;
	}
	return put_escaped(to, p, s.n);
}

static void add_string(struct buf *buf, struct str s)
{
	char *start = buf_reserve(buf, ESCAPED_MAX(s.n) + 2), *to = start;

	*to++ = '"';
	to = put_text(to, s);
	*to++ = '"';
	buf->n += (size_t)(to - start);
}

/* "name": or ,"name": in one piece */
static void add_name(struct buf *buf, struct str name, bool is_first)
{
	char *start = buf_reserve(buf, ESCAPED_MAX(name.n) + 4), *to = start;

	*to = ',';
	to += !is_first;
	*to++ = '"';
	to = put_text(to, name);
	*to++ = '"';
	*to++ = ':';
	buf->n += (size_t)(to - start);
}

/* {"S":"text"} in one piece */
static void add_text(struct buf *buf, struct str text)
{
	char *start = buf_reserve(buf, ESCAPED_MAX(text.n) + 8), *to = start;

	memcpy(to, "{\"S\":\"", 6);
	to = put_text(to + 6, text);
	memcpy(to, "\"}", 2);
	buf->n += (size_t)(to + 2 - start);
}

void json_out_name(struct json_out *out, struct str name)
{
	separate(out);
	add_name(&out->buf, name, true);
	out->needs_comma = false;
}

void json_out_string(struct json_out *out, struct str s)
{
	separate(out);
	add_string(&out->buf, s);
}

void json_out_integer(struct json_out *out, int64_t value)
{
	separate(out);
	buf_printf(&out->buf, "%" PRId64, value);
}

void json_out_units(struct json_out *out, double value)
{
	separate(out);
	buf_printf(&out->buf, "%.1f", value); /* units are multiples of one half */
}

void json_out_double(struct json_out *out, double value)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	separate(out);
	buf_add_str(&out->buf, str_of(text));
	if (!strpbrk(text, ".e"))
		buf_add_lit(&out->buf, ".0");
}

void json_out_time_ms(struct json_out *out, int64_t ms)
{
	separate(out);
	buf_printf(&out->buf, "%" PRId64 ".%03d", ms / 1000, (int)(ms % 1000));
}

void json_out_boolean(struct json_out *out, bool value)
{
	separate(out);
	if (value)
		buf_add_lit(&out->buf, "true");
	else
		buf_add_lit(&out->buf, "false");
}

void json_out_null(struct json_out *out)
{
	separate(out);
	buf_add_lit(&out->buf, "null");
}

/* {"S": by type; what follows it is closed by one more brace. */
static const struct str openings[TYPE_COUNT] = {
	[TYPE_S] = STR_INIT("{\"S\":"), [TYPE_N] = STR_INIT("{\"N\":"), [TYPE_B] = STR_INIT("{\"B\":"),
	[TYPE_BOOL] = STR_INIT("{\"BOOL\":"), [TYPE_NULL] = STR_INIT("{\"NULL\":"), [TYPE_M] = STR_INIT("{\"M\":"),
	[TYPE_L] = STR_INIT("{\"L\":"), [TYPE_SS] = STR_INIT("{\"SS\":"), [TYPE_NS] = STR_INIT("{\"NS\":"),
	[TYPE_BS] = STR_INIT("{\"BS\":"),
};

/* The bare form of an S, N or B: a JSON string. */
static void add_scalar(struct buf *buf, enum type type, struct str bytes)
{
	if (type == TYPE_S) {
		add_string(buf, bytes);
		return;
	}
	buf_add_byte(buf, '"');
	if (type == TYPE_N)
		number_format(bytes, buf);
	else
		base64_encode(bytes, buf);
	buf_add_byte(buf, '"');
}

static void add_value(struct buf *buf, const struct value *value);

static void add_members(struct buf *buf, const struct value *map)
{
	buf_add_byte(buf, '{');
	for (uint32_t i = 0; i < map->n; i++) {
		add_name(buf, map->members[i].name, i == 0);
		add_value(buf, &map->members[i].value);
	}
	buf_add_byte(buf, '}');
}

/* As deep as the value, VALUE_DEPTH_MAX. */
static void add_value(struct buf *buf, const struct value *value)
{
	enum type type = (enum type)value->type, element = type_element(type);

	buf_add_str(buf, openings[type]);
	if (type_is_scalar_key(type)) {
		add_scalar(buf, type, value_str(value));
	} else if (type == TYPE_M) {
		add_members(buf, value);
	} else if (type == TYPE_L || element != TYPE_NONE) {
		buf_add_byte(buf, '[');
		for (uint32_t i = 0; i < value->n; i++) {
			if (i > 0)
				buf_add_byte(buf, ',');
			if (type == TYPE_L)
				add_value(buf, &value->elements[i]);
			else
				add_scalar(buf, element, value_str(&value->elements[i]));
		}
		buf_add_byte(buf, ']');
	} else if (type == TYPE_BOOL && !value->boolean) {
		buf_add_lit(buf, "false");
	} else {
		buf_add_lit(buf, "true");
	}
	buf_add_byte(buf, '}');
}

void json_out_value(struct json_out *out, const struct value *value)
{
	separate(out);
	add_value(&out->buf, value);
}

static bool has_no_room(struct json_out *out)
{
	out->is_cut = out->is_cut || arena_is_over(out->buf.arena);
	return out->is_cut;
}

void json_out_item(struct json_out *out, const struct value *item)
{
	if (has_no_room(out))
		return;
	separate(out);
	add_members(&out->buf, item);
}

/* A text of an image that ends at `end`. `to` has room for STEP bytes beyond ESCAPED_MAX(n). */
static char *put_encoded_text(char *to, struct str s, const char *end)
{
	return s.n < STEP && end - s.p >= STEP ? put_short_text(to, s) : put_text(to, s);
}

static void add_encoded(struct buf *buf, const struct image_value *value, unsigned depth);

#define MEMBER_FRAME 16 /* ,"":{"S":""} */

/* A member's name, and its value where that is a text or a number, in one piece. Gives whether the value was written. */
static bool add_encoded_member(struct buf *buf, struct str name, const struct image_value *value, const char *end, bool is_first)
{
	bool is_text = value->type == TYPE_S, is_number = value->type == TYPE_N;
	size_t longest = is_text ? ESCAPED_MAX(value->payload.n) : is_number ? NUMBER_TEXT_MAX : 0;
	char *start = buf_reserve(buf, ESCAPED_MAX(name.n) + longest + MEMBER_FRAME + STEP), *to = start;

	*to = ',';
	to += !is_first;
	*to++ = '"';
	to = put_encoded_text(to, name, end);
	memcpy(to, "\":", 2);
	to += 2;
	if (is_text || is_number) {
		memcpy(to, is_text ? "{\"S\":\"" : "{\"N\":\"", 6);
		to = is_text ? put_encoded_text(to + 6, value->payload, end) : number_put(value->payload, to + 6);
		memcpy(to, "\"}", 2);
		to += 2;
	}
	buf->n += (size_t)(to - start);
	return is_text || is_number;
}

static void add_encoded_members(struct buf *buf, struct image_cursor *cursor, unsigned depth)
{
	struct image_value value;
	struct str name;
	bool is_first = true;

	buf_add_byte(buf, '{');
	while (image_next_member(cursor, &name, &value)) {
		if (!add_encoded_member(buf, name, &value, cursor->end, is_first))
			add_encoded(buf, &value, depth);
		is_first = false;
	}
	buf_add_byte(buf, '}');
}

static void add_encoded_elements(struct buf *buf, struct image_cursor *cursor, enum type element, unsigned depth)
{
	struct image_value value;
	bool is_first = true;

	buf_add_byte(buf, '[');
	while (image_next_element(cursor, &value)) {
		if (!is_first)
			buf_add_byte(buf, ',');
		is_first = false;
		if (element == TYPE_NONE)
			add_encoded(buf, &value, depth);
		else
			add_scalar(buf, element, value.payload);
	}
	buf_add_byte(buf, ']');
}

/* The same as add_value, from the stored bytes. */
static void add_encoded(struct buf *buf, const struct image_value *value, unsigned depth)
{
	struct image_cursor cursor;

	if (value->type == TYPE_S) {
		add_text(buf, value->payload);
		return;
	}
	buf_add_str(buf, openings[value->type]);
	if (type_is_scalar_key(value->type)) {
		add_scalar(buf, value->type, value->payload);
	} else if (depth > 0 && image_enter(value, &cursor)) {
		if (value->type == TYPE_M)
			add_encoded_members(buf, &cursor, depth - 1);
		else
			add_encoded_elements(buf, &cursor, type_element(value->type), depth - 1);
	} else if (value->type == TYPE_BOOL && value->payload.p[0] == 0) {
		buf_add_lit(buf, "false");
	} else {
		buf_add_lit(buf, "true");
	}
	buf_add_byte(buf, '}');
}

/* What an image's text has beside its bytes: names, types and brackets. A guess: short images double, long ones hold long texts. */
#define FRAMES_MAX 2048

void json_out_expect(struct json_out *out, size_t n, size_t bytes, size_t longest)
{
	size_t frames = bytes < n * FRAMES_MAX ? bytes : n * FRAMES_MAX;

	if (n > 1 && !has_no_room(out))
		buf_reserve(&out->buf, bytes + frames + ESCAPED_MAX(longest));
}

void json_out_image(struct json_out *out, struct str image)
{
	struct image_cursor cursor;

	if (has_no_room(out))
		return;
	separate(out);
	if (image_open(image, &cursor)) {
		buf_reserve(&out->buf, image.n * 2);
		add_encoded_members(&out->buf, &cursor, VALUE_DEPTH_MAX + 2);
	} else {
		buf_add_lit(&out->buf, "{}");
	}
}
