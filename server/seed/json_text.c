#include "server/seed/json_text.h"

#include <string.h>

#include "core/base64.h"
#include "core/seen.h"

#define TWICE_DEPTH 64
#define IS_SPACE(c) ((c) == ' ' || (c) == '\t' || (c) == '\n' || (c) == '\r')

static void skip(struct str *rest, char mark)
{
	while (rest->n > 0 && (IS_SPACE(rest->p[0]) || rest->p[0] == mark)) {
		rest->p++;
		rest->n--;
	}
}

/* The length of the string at the beginning, with its quotes. */
static size_t string_length(struct str rest)
{
	size_t i = 1;

	while (i < rest.n && rest.p[i] != '"')
		i += rest.p[i] == '\\' ? 2 : 1;
	return i < rest.n ? i + 1 : rest.n;
}

/* The length of the value at the beginning. */
static size_t value_length(struct str rest)
{
	size_t depth = 0, i = 0;

	while (i < rest.n) {
		char c = rest.p[i];

		if (c == '"') {
			i += string_length((struct str){rest.p + i, rest.n - i});
		} else if (c == '{' || c == '[') {
			depth++;
			i++;
		} else if (c == '}' || c == ']') {
			if (depth == 0)
				break; /* the end of what the value stands in */
			depth--;
			i++;
		} else if (depth == 0 && (c == ',' || IS_SPACE(c))) {
			break;
		} else {
			i++;
			continue; /* in the middle of a number or a word */
		}
		if (depth == 0)
			break;
	}
	return i;
}

static struct str take(struct str *rest, size_t n)
{
	struct str taken = {rest->p, n};

	rest->p += n;
	rest->n -= n;
	return taken;
}

struct str json_text_inside(struct str container)
{
	skip(&container, ' ');
	take(&container, container.n > 0);
	return container;
}

bool json_text_element(struct str *rest, struct str *value)
{
	skip(rest, ',');
	if (rest->n == 0 || rest->p[0] == ']')
		return false;
	*value = take(rest, value_length(*rest));
	return true;
}

bool json_text_member(struct str *rest, struct str *name, struct str *value)
{
	skip(rest, ',');
	if (rest->n == 0 || rest->p[0] == '}')
		return false;
	struct str quoted = take(rest, string_length(*rest));
	*name = (struct str){quoted.p + 1, quoted.n - 2};
	skip(rest, ':');
	*value = take(rest, value_length(*rest));
	return true;
}

struct str json_text_find(struct str object, struct str name)
{
	struct str rest = json_text_inside(object), found, value;

	while (json_text_member(&rest, &found, &value)) {
		if (str_eq(found, name))
			return value;
	}
	return STR_ABSENT;
}

static struct str twice_below(struct arena *arena, struct str value, unsigned depth)
{
	struct str rest = json_text_inside(value), name, inner, found = STR_ABSENT;
	bool is_object = value.n > 0 && value.p[0] == '{';
	struct seen seen = {0};
	size_t n = 0;

	if (depth > TWICE_DEPTH || (!is_object && (value.n == 0 || value.p[0] != '[')))
		return STR_ABSENT;
	for (struct str count = rest; is_object && json_text_member(&count, &name, &inner);)
		n++;
	if (n > 1)
		seen = seen_new(arena, n);
	while (!str_is_set(found) && (is_object ? json_text_member(&rest, &name, &inner)
						: json_text_element(&rest, &inner)))
		found = n > 1 && !seen_add(&seen, name) ? name
							: twice_below(arena, inner, depth + 1);
	return found;
}

struct str json_text_twice(struct arena *arena, struct str value)
{
	return twice_below(arena, value, 0);
}

struct str json_text_unquoted(struct arena *arena, struct str text)
{
	struct err err = err_in(arena);
	const struct json *value;

	if (text.n >= 2 && !memchr(text.p, '\\', text.n))
		return (struct str){text.p + 1, text.n - 2};
	if (json_parse(arena, text, &value, &err) != OK || json_type(value) != JSON_STRING)
		return STR("");
	return json_string(arena, value);
}

bool json_text_is_among(struct str name, const char *const names[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(name, str_of(names[i])))
			return true;
	}
	return false;
}

bool json_text_is_type(struct str name)
{
	static const char *const types[] = {"S",  "N",    "B",    "SS", "NS",
					    "BS", "BOOL", "NULL", "L",  "M"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (str_eq(name, str_of(types[i])))
			return true;
	}
	return false;
}

static bool is_typed(struct str value)
{
	struct str rest = json_text_inside(value), name, inner;

	return value.p[0] == '{' && json_text_member(&rest, &name, &inner) &&
	       json_text_is_type(name) && !json_text_member(&rest, &name, &inner);
}

bool json_text_is_item(struct str object)
{
	struct str rest = json_text_inside(object), name, value;
	bool is_item = false;

	while (json_text_member(&rest, &name, &value)) {
		if (!is_typed(value))
			return false;
		is_item = true;
	}
	return is_item;
}

static void add_value(struct buf *buf, struct str value);

static void add_array(struct buf *buf, struct str array)
{
	struct str rest = json_text_inside(array), value;
	bool is_first = true;

	buf_add_lit(buf, "{\"L\":[");
	while (json_text_element(&rest, &value)) {
		if (!is_first)
			buf_add_byte(buf, ',');
		is_first = false;
		add_value(buf, value);
	}
	buf_add_lit(buf, "]}");
}

/* A byte as a JSON number; -1 where it is none. */
static int buffer_byte(struct str text)
{
	int byte = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || i == 3)
			return -1;
		byte = byte * 10 + (text.p[i] - '0');
	}
	return byte < 256 ? byte : -1;
}

/* Node.js: JSON of a Buffer, {"type": "Buffer", "data": [1, 2]}. False: it is none. */
static bool add_buffer(struct buf *buf, struct str object)
{
	struct str type = json_text_find(object, STR("type")),
		   data = json_text_find(object, STR("data")), rest = json_text_inside(object),
		   name, value;
	struct buf bytes = buf_in(buf->arena);
	size_t members = 0;

	while (json_text_member(&rest, &name, &value))
		members++;
	if (members != 2 || !str_is_set(type) || !str_eq(type, STR("\"Buffer\"")) ||
	    !str_is_set(data) || data.p[0] != '[')
		return false;
	rest = json_text_inside(data);
	while (json_text_element(&rest, &value)) {
		if (buffer_byte(value) < 0)
			return false;
		buf_add_byte(&bytes, (char)buffer_byte(value));
	}
	buf_add_lit(buf, "{\"B\":\"");
	base64_encode(buf_str(&bytes), buf);
	buf_add_lit(buf, "\"}");
	return true;
}

/* As deep as json_parse lets a text be. */
static void add_value(struct buf *buf, struct str value)
{
	const char *before = "{\"N\":\"", *after = "\"}";

	switch (value.p[0]) {
	case '[':
		add_array(buf, value);
		return;
	case '{':
		if (add_buffer(buf, value))
			return;
		buf_add_lit(buf, "{\"M\":");
		json_text_add_item(buf, value);
		buf_add_byte(buf, '}');
		return;
	case 'n':
		buf_add_lit(buf, "{\"NULL\":true}");
		return;
	case '"':
		before = "{\"S\":";
		after = "}";
		break;
	case 't':
	case 'f':
		before = "{\"BOOL\":";
		after = "}";
		break;
	default:
		break;
	}
	buf_add_str(buf, str_of(before));
	buf_add_str(buf, value);
	buf_add_str(buf, str_of(after));
}

void json_text_add_item(struct buf *buf, struct str object)
{
	struct str rest = json_text_inside(object), name, value;
	bool is_first = true;

	buf_add_byte(buf, '{');
	while (json_text_member(&rest, &name, &value)) {
		if (!is_first)
			buf_add_byte(buf, ',');
		is_first = false;
		buf_add_byte(buf, '"');
		buf_add_str(buf, name);
		buf_add_lit(buf, "\":");
		add_value(buf, value);
	}
	buf_add_byte(buf, '}');
}

const struct json *json_text_get(const struct json *object, const char *name, enum json_type type)
{
	const struct json *found =
		object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;

	return found && json_type(found) == type ? found : NULL;
}

struct str json_text_string(struct arena *arena, const struct json *object, const char *name)
{
	const struct json *found = json_text_get(object, name, JSON_STRING);

	return found ? json_string(arena, found) : STR_ABSENT;
}

double json_text_number(const struct json *object, const char *name)
{
	const struct json *found = json_text_get(object, name, JSON_NUMBER);

	return found ? json_number(found) : 0;
}

void json_text_error(struct arena *arena, struct str body, struct str *type, struct str *message)
{
	struct err ignored = err_in(arena);
	const struct json *root;

	*type = *message = STR_ABSENT;
	if (json_parse(arena, body, &root, &ignored) != OK || json_type(root) != JSON_OBJECT)
		return;
	*type = json_text_string(arena, root, "__type");
	*message = json_text_string(arena, root, "message");
	if (!str_is_set(*message))
		*message = json_text_string(arena, root, "Message");
	const char *mark = str_is_set(*type) ? memchr(type->p, '#', type->n) : NULL;
	if (mark)
		*type = (struct str){mark + 1, type->n - (size_t)(mark + 1 - type->p)};
}

void json_text_copy(struct json_out *out, struct arena *arena, const struct json *object,
		    const char *name)
{
	const struct json *found = object ? json_member(object, name) : NULL;

	if (!found)
		return;
	json_out_name(out, str_of(name));
	json_text_write(out, arena, found);
}

static void write_children(struct json_out *out, struct arena *arena, const struct json *value)
{
	bool is_object = json_type(value) == JSON_OBJECT;

	json_out_open(out, is_object ? '{' : '[');
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		if (is_object)
			json_out_name(out, json_name(arena, child));
		json_text_write(out, arena, child);
	}
	json_out_close(out, is_object ? '}' : ']');
}

void json_text_write(struct json_out *out, struct arena *arena, const struct json *value)
{
	int64_t integer;

	switch (json_type(value)) {
	case JSON_NULL:
		json_out_null(out);
		break;
	case JSON_BOOLEAN:
		json_out_boolean(out, json_boolean(value));
		break;
	case JSON_NUMBER:
		if (json_integer(value, &integer))
			json_out_integer(out, integer);
		else
			json_out_double(out, json_number(value));
		break;
	case JSON_STRING:
		json_out_string(out, json_string(arena, value));
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		write_children(out, arena, value);
		break;
	}
}

struct str json_text_request(struct arena *arena, const char *name, struct str value)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_name(&out, str_of(name));
	json_out_string(&out, value);
	json_out_close(&out, '}');
	return json_out_str(&out);
}
