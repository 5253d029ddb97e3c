#include "protocol/json_out.h"

#include <inttypes.h>

#include "core/base64.h"
#include "core/image.h"
#include "core/number.h"

struct json_out json_out_in(struct arena *arena)
{
	struct json_out out = {buf_in(arena), false};

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

static void add_string(struct buf *buf, struct str s)
{
	size_t from = 0;

	buf_add_byte(buf, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (!escapes[c])
			continue;
		buf_add(buf, s.p + from, i - from);
		from = i + 1;
		if (escapes[c] == 'u') {
			buf_printf(buf, "\\u%04x", c);
		} else {
			buf_add_byte(buf, '\\');
			buf_add_byte(buf, escapes[c]);
		}
	}
	buf_add(buf, s.p + from, s.n - from);
	buf_add_byte(buf, '"');
}

void json_out_name(struct json_out *out, struct str name)
{
	separate(out);
	add_string(&out->buf, name);
	buf_add_byte(&out->buf, ':');
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

/* {"S": ... with the type's own opening; closed by add_close. */
static void add_open(struct buf *buf, enum type type)
{
	struct str name = str_of(type_name(type));

	buf_add_lit(buf, "{\"");
	buf_add_str(buf, name);
	buf_add_lit(buf, "\":");
}

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
		if (i > 0)
			buf_add_byte(buf, ',');
		add_string(buf, map->members[i].name);
		buf_add_byte(buf, ':');
		add_value(buf, &map->members[i].value);
	}
	buf_add_byte(buf, '}');
}

/* As deep as the value, VALUE_DEPTH_MAX. */
static void add_value(struct buf *buf, const struct value *value)
{
	enum type type = (enum type)value->type, element = type_element(type);

	add_open(buf, type);
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

void json_out_item(struct json_out *out, const struct value *item)
{
	separate(out);
	add_members(&out->buf, item);
}

static void add_encoded(struct buf *buf, const struct image_value *value, unsigned depth);

static void add_encoded_members(struct buf *buf, struct image_cursor *cursor, unsigned depth)
{
	struct image_value value;
	struct str name;
	bool is_first = true;

	buf_add_byte(buf, '{');
	while (image_next_member(cursor, &name, &value)) {
		if (!is_first)
			buf_add_byte(buf, ',');
		is_first = false;
		add_string(buf, name);
		buf_add_byte(buf, ':');
		add_encoded(buf, &value, depth);
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

	add_open(buf, value->type);
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

void json_out_image(struct json_out *out, struct str image)
{
	struct image_cursor cursor;

	separate(out);
	if (image_open(image, &cursor)) {
		buf_reserve(&out->buf, image.n * 2);
		add_encoded_members(&out->buf, &cursor, VALUE_DEPTH_MAX + 2);
	} else {
		buf_add_lit(&out->buf, "{}");
	}
}
