#include "protocol/wire/json_out.h"

#include <inttypes.h>

#include "core/base64.h"
#include "core/number.h"
#include "protocol/wire/json_image.h"
#include "protocol/wire/number_order.h"
#include "protocol/wire/json_text.h"

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

static void add_string(struct buf *buf, struct str s)
{
	char *start = buf_reserve(buf, JSON_TEXT_MAX(s.n) + 2), *to = start;

	*to++ = '"';
	to = json_text_put(to, s);
	*to++ = '"';
	buf->n += (size_t)(to - start);
}

/* "name": or ,"name": in one piece */
static void add_out_name(struct buf *buf, struct str name, bool is_first)
{
	char *start = buf_reserve(buf, JSON_TEXT_MAX(name.n) + 4), *to = start;

	*to = ',';
	to += !is_first;
	*to++ = '"';
	to = json_text_put(to, name);
	*to++ = '"';
	*to++ = ':';
	buf->n += (size_t)(to - start);
}

void json_out_name(struct json_out *out, struct str name)
{
	separate(out);
	add_out_name(&out->buf, name, true);
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
	[TYPE_S] = STR_INIT("{\"S\":"),       [TYPE_N] = STR_INIT("{\"N\":"),
	[TYPE_B] = STR_INIT("{\"B\":"),       [TYPE_BOOL] = STR_INIT("{\"BOOL\":"),
	[TYPE_NULL] = STR_INIT("{\"NULL\":"), [TYPE_M] = STR_INIT("{\"M\":"),
	[TYPE_L] = STR_INIT("{\"L\":"),       [TYPE_SS] = STR_INIT("{\"SS\":"),
	[TYPE_NS] = STR_INIT("{\"NS\":"),     [TYPE_BS] = STR_INIT("{\"BS\":"),
};

/* The bare form of an S, N or B: a JSON string. */
static void add_out_scalar(struct buf *buf, enum type type, struct str bytes)
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

static void add_out_value(struct buf *buf, const struct value *value, bool is_hashed);

static void add_out_members(struct buf *buf, const struct value *map, bool is_hashed)
{
	buf_add_byte(buf, '{');
	for (uint32_t i = 0; i < map->n; i++) {
		add_out_name(buf, map->members[i].name, i == 0);
		add_out_value(buf, &map->members[i].value, is_hashed);
	}
	buf_add_byte(buf, '}');
}

/* As deep as the value, VALUE_DEPTH_MAX. */
static void add_out_value(struct buf *buf, const struct value *value, bool is_hashed)
{
	enum type type = (enum type)value->type, element = type_element(type);

	buf_add_str(buf, openings[type]);
	if (type_is_scalar_key(type)) {
		add_out_scalar(buf, type, value_str(value));
	} else if (type == TYPE_M) {
		add_out_members(buf, value, is_hashed);
	} else if (type == TYPE_L || element != TYPE_NONE) {
		buf_add_byte(buf, '[');
		size_t first = buf->n;
		for (uint32_t i = 0; i < value->n; i++) {
			if (i > 0)
				buf_add_byte(buf, ',');
			if (type == TYPE_L)
				add_out_value(buf, &value->elements[i], is_hashed);
			else
				add_out_scalar(buf, element, value_str(&value->elements[i]));
		}
		if (type == TYPE_NS && is_hashed)
			number_order(buf->arena, buf->p + first, buf->n - first);
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
	add_out_value(&out->buf, value, out->is_hashed);
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
	add_out_members(&out->buf, item, out->is_hashed);
}

void json_out_expect(struct json_out *out, size_t n, size_t bytes)
{
	if (n > 1 && !has_no_room(out))
		json_image_expect(&out->buf, n, bytes);
}

void json_out_image(struct json_out *out, struct str image)
{
	if (has_no_room(out))
		return;
	separate(out);
	if (!json_image_add(&out->buf, image, out->is_hashed) && !has_no_room(out))
		out->is_malformed = true;
}
