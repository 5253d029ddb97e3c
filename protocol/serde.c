#include "protocol/serde.h"

#include <string.h>

#include "protocol/json_out.h"
#include "protocol/shape_tables.h"
#include "protocol/vector_messages.h"

#define INTEGER_MAX 2147483647LL

/* Steps over a text that is known to be valid JSON. */
struct scan {
	struct str text;
	size_t at;
};

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->text.n && memchr(" \t\r\n", scan->text.p[scan->at], 4))
		scan->at++;
}

static void skip_string(struct scan *scan)
{
	for (scan->at++; scan->at < scan->text.n && scan->text.p[scan->at] != '"'; scan->at++) {
		if (scan->text.p[scan->at] == '\\')
			scan->at++;
	}
	scan->at++;
}

static void skip_value(struct scan *scan)
{
	size_t depth = 0;

	do {
		char c = scan->text.p[scan->at];

		if (c == '"') {
			skip_string(scan);
		} else if (depth == 0 && c != '{' && c != '[') {
			while (scan->at < scan->text.n && !memchr(",}] \t\r\n", scan->text.p[scan->at], 7))
				scan->at++;
		} else {
			depth += c == '{' || c == '[';
			depth -= c == '}' || c == ']';
			scan->at++;
		}
	} while (depth > 0 && scan->at < scan->text.n);
}

/* The value of the object's next member; the scan stands behind it and the white space after it. */
static struct str next_value(struct scan *scan)
{
	scan->at++; /* the brace or comma */
	skip_space(scan);
	skip_string(scan);
	skip_space(scan);
	scan->at++;
	skip_space(scan);
	size_t from = scan->at;
	skip_value(scan);
	struct str value = {scan->text.p + from, scan->at - from};
	skip_space(scan);
	return value;
}

/* Lines from 1; a column is how many bytes of its line were read. */
struct position {
	size_t line, column;
};

static struct position position_of(struct str text, size_t at)
{
	struct position position = {1, 0};

	for (size_t i = 0; i < at && i < text.n; i++) {
		position.line += text.p[i] == '\n';
		position.column = text.p[i] == '\n' ? 0 : position.column + 1;
	}
	return position;
}

/* What the reader wants: how serde calls it, and whether the value is that. */
static const struct wanted {
	enum shape_kind kind;
	const char *name;
	enum json_type type;
} wanteds[] = {
	{SHAPE_STRING, "a string", JSON_STRING}, {SHAPE_ENUM, "a string", JSON_STRING}, {SHAPE_INTEGER, "i32", JSON_NUMBER},
	{SHAPE_LIST, "a sequence", JSON_ARRAY},  {SHAPE_MAP, "a map", JSON_OBJECT},     {SHAPE_ITEM, "a map", JSON_OBJECT},
};

static const struct wanted *wanted_of(const struct shape *shape)
{
	for (size_t i = 0; i < sizeof(wanteds) / sizeof(wanteds[0]); i++) {
		if (wanteds[i].kind == shape->kind)
			return &wanteds[i];
	}
	return NULL;
}

/* As Rust prints a string for programmers. */
static struct str quoted(struct arena *arena, struct str text)
{
	static const char raw[] = "\"\\\n\r\t", escapes[] = "\"\\nrt";
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < text.n; i++) {
		const char *found = text.p[i] ? strchr(raw, text.p[i]) : NULL;

		if (found)
			buf_add_byte(&buf, '\\');
		buf_add_byte(&buf, found ? escapes[found - raw] : text.p[i]);
	}
	return buf_str(&buf);
}

/* How serde calls what it met; `text`: of a scalar. */
static struct str met(struct arena *arena, const struct json *json, struct str text)
{
	struct json_out out = json_out_in(arena);

	switch (json_type(json)) {
	case JSON_NULL:
		return STR("null");
	case JSON_BOOLEAN:
		return str_printf(arena, "boolean `%s`", json_boolean(json) ? "true" : "false");
	case JSON_STRING:
		return str_printf(arena, "string \"" STR_FMT "\"", STR_ARG(quoted(arena, json_string(arena, json))));
	case JSON_ARRAY:
		return STR("sequence");
	case JSON_OBJECT:
		return STR("map");
	case JSON_NUMBER:
		break;
	}
	for (size_t i = 0; i < text.n; i++) {
		if (memchr(".eE", text.p[i], 3)) {
			json_out_double(&out, json_number(json));
			return str_printf(arena, "floating point `" STR_FMT "`", STR_ARG(json_out_str(&out)));
		}
	}
	return str_printf(arena, "integer `" STR_FMT "`", STR_ARG(text));
}

/* `text` is the value's; `at` where the reader stands when it refuses it. */
static enum code check_member(const struct shape_member *member, const struct json *json, struct str text, struct position at, struct err *err)
{
	const struct wanted *wanted = wanted_of(member->shape);
	struct str what;
	int64_t integer;

	if (!wanted || (json_type(json) == JSON_NULL && !member->is_required))
		return OK;
	if (json_type(json) == wanted->type && wanted->type != JSON_NUMBER)
		return OK;
	what = met(err->arena, json, text);
	if (json_type(json) != wanted->type || !str_starts_with(what, STR("integer")))
		return err_set(err, MSG_SEARCH_READ_TYPE, STR_ARG(what), wanted->name, at.line, at.column);
	if (json_integer(json, &integer) && integer <= INTEGER_MAX && integer >= -INTEGER_MAX - 1)
		return OK;
	return err_set(err, MSG_SEARCH_READ_VALUE, STR_ARG(what), wanted->name, at.line, at.column);
}

static const struct shape_member *member_of(const struct shape *shape, struct str name)
{
	for (size_t i = 0; i < shape->count; i++) {
		if (str_eq(name, str_of(shape->members[i].name)))
			return &shape->members[i];
	}
	return NULL;
}

/* Of several members that are missing the first by name. */
static const char *missing(const struct shape *shape, const struct json *request)
{
	const char *first = NULL;

	for (size_t i = 0; i < shape->count; i++) {
		const struct shape_member *member = &shape->members[i];

		if (member->is_required && !json_member(request, member->name) && (!first || strcmp(member->name, first) < 0))
			first = member->name;
	}
	return first;
}

enum code serde_check(const struct shape *shape, const struct json *request, struct str body, struct err *err)
{
	struct scan scan = {body, 0};

	skip_space(&scan);
	for (const struct json *child = json_first(request); child; child = json_next(child)) {
		const struct shape_member *member = member_of(shape, json_name(err->arena, child));
		bool is_container = json_type(child) == JSON_ARRAY || json_type(child) == JSON_OBJECT;
		struct str value = next_value(&scan);

		if (!member)
			continue;
		/* a container is refused at its bracket, all else behind it */
		size_t at = (size_t)(value.p - body.p) + (is_container ? 0 : value.n);
		enum code code = check_member(member, child, value, position_of(body, at), err);
		if (code != OK)
			return code;
	}
	const char *name = missing(shape, request);
	if (!name)
		return OK;
	if (!json_first(request)) {
		scan.at++;
		skip_space(&scan);
	}
	struct position end = position_of(body, scan.at + 1);
	return err_set(err, MSG_SEARCH_FIELD, name, end.line, end.column);
}
