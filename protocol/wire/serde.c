#include "protocol/wire/serde.h"

#include <string.h>

#include "protocol/wire/json_out.h"
#include "protocol/wire/messages.h"
#include "protocol/wire/shape_tables.h"

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
			while (scan->at < scan->text.n &&
			       !memchr(",}] \t\r\n", scan->text.p[scan->at], 7))
				scan->at++;
		} else {
			depth += c == '{' || c == '[';
			depth -= c == '}' || c == ']';
			scan->at++;
		}
	} while (depth > 0 && scan->at < scan->text.n);
}

/* Moves from the brace or comma before a member to its value; sets *name_end to the end of its
 * name. */
static void skip_name(struct scan *scan, size_t *name_end)
{
	scan->at++;
	skip_space(scan);
	skip_string(scan);
	*name_end = scan->at;
	skip_space(scan);
	scan->at++;
	skip_space(scan);
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
		return str_printf(arena, "string \"" STR_FMT "\"",
				  STR_ARG(quoted(arena, json_string(arena, json))));
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
			return str_printf(arena, "floating point `" STR_FMT "`",
					  STR_ARG(json_out_str(&out)));
		}
	}
	return str_printf(arena, "integer `" STR_FMT "`", STR_ARG(text));
}

/* What the reader wants, as serde calls it. */
enum want {
	WANT_STRING,
	WANT_BASE64,
	WANT_INTEGER,
	WANT_BOOLEAN,
	WANT_SEQUENCE,
	WANT_MAP,
	WANT_ANY
};

static const struct wanted {
	const char *name;
	enum json_type type;
} wanteds[] = {
	[WANT_STRING] = {"a string", JSON_STRING},
	[WANT_BASE64] = {"a Base64-encoded string", JSON_STRING},
	[WANT_INTEGER] = {"i32", JSON_NUMBER},
	[WANT_BOOLEAN] = {"a boolean", JSON_BOOLEAN},
	[WANT_SEQUENCE] = {"a sequence", JSON_ARRAY},
	[WANT_MAP] = {"a map", JSON_OBJECT},
};

/* Reads the text along with the tree that was made of it. */
struct reader {
	struct scan scan;
	struct err *err;
};

static enum code refuse_type(struct reader *reader, enum want want, struct str what)
{
	struct position at = position_of(reader->scan.text, reader->scan.at);

	return err_set(reader->err, MSG_SEARCH_READ_TYPE, STR_ARG(what), wanteds[want].name,
		       at.line, at.column);
}

/* Steps over a scalar of the wanted type; a list or map of the wanted type is left to the caller,
 * at its bracket. */
static enum code take_wanted(struct reader *reader, const struct json *json, enum want want)
{
	size_t from = reader->scan.at;
	bool is_container = json_type(json) == JSON_ARRAY || json_type(json) == JSON_OBJECT;
	int64_t integer;

	if (!is_container)
		skip_value(&reader->scan); /* the error's place: at the bracket of a container,
					      behind any other value */
	struct str text = {reader->scan.text.p + from, reader->scan.at - from};
	bool is_number = json_type(json) == JSON_NUMBER && want == WANT_INTEGER;
	if (want == WANT_ANY || (json_type(json) == wanteds[want].type && !is_number))
		return OK;
	struct str what = met(reader->err->arena, json, text);
	if (!is_number || !str_starts_with(what, STR("integer")))
		return refuse_type(reader, want, what);
	if (json_integer(json, &integer) && integer <= INTEGER_MAX && integer >= -INTEGER_MAX - 1)
		return OK;
	struct position at = position_of(reader->scan.text, reader->scan.at);
	return err_set(reader->err, MSG_SEARCH_READ_VALUE, STR_ARG(what), wanteds[want].name,
		       at.line, at.column);
}

/* As deep as the request's JSON, which json_parse() bounds. */
static enum code scan_attribute(struct reader *reader, const struct json *json);

/* The elements of a list or the values of a map: attribute values where `want` is WANT_ANY. */
static enum code scan_elements(struct reader *reader, const struct json *json, enum want want)
{
	bool is_map = json_type(json) == JSON_OBJECT;
	enum code code = OK;
	size_t ignored;

	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (is_map) {
			skip_name(&reader->scan, &ignored);
		} else {
			reader->scan.at++; /* the bracket or comma */
			skip_space(&reader->scan);
		}
		code = want == WANT_ANY ? scan_attribute(reader, child)
					: take_wanted(reader, child, want);
		if (code != OK)
			return code;
		skip_space(&reader->scan);
	}
	if (!json_first(json)) {
		reader->scan.at++;
		skip_space(&reader->scan);
	}
	reader->scan.at++;
	return OK;
}

/* The members of an attribute value that a request can set, in the order in which AWS lists them.
 */
static const struct variant {
	const char *name;
	enum want want, elements;
} variants[] = {
	{"B", WANT_BASE64, WANT_ANY},
	{"BOOL", WANT_BOOLEAN, WANT_ANY},
	{"BS", WANT_SEQUENCE, WANT_BASE64},
	{"DECIMAL", WANT_STRING, WANT_ANY},
	{"DECIMALSET", WANT_SEQUENCE, WANT_STRING},
	{"DOUBLE", WANT_STRING, WANT_ANY},
	{"DOUBLESET", WANT_SEQUENCE, WANT_STRING},
	{"INT", WANT_STRING, WANT_ANY},
	{"INTSET", WANT_SEQUENCE, WANT_STRING},
	{"L", WANT_SEQUENCE, WANT_ANY},
	{"M", WANT_MAP, WANT_ANY},
	{"N", WANT_STRING, WANT_ANY},
	{"NS", WANT_SEQUENCE, WANT_STRING},
	{"NULL", WANT_BOOLEAN, WANT_ANY},
	{"S", WANT_STRING, WANT_ANY},
	{"SS", WANT_SEQUENCE, WANT_STRING},
};

#define VARIANTS (sizeof(variants) / sizeof(variants[0]))

static const struct variant *variant_of(struct str name)
{
	for (size_t i = 0; i < VARIANTS; i++) {
		if (str_eq(name, str_of(variants[i].name)))
			return &variants[i];
	}
	return NULL;
}

static enum code refuse_variant(struct reader *reader, struct str name, size_t where)
{
	struct buf list = buf_in(reader->err->arena);
	struct position at = position_of(reader->scan.text, where);

	for (size_t i = 0; i < VARIANTS; i++)
		buf_printf(&list, "%s`%s`", i ? ", " : "", variants[i].name);
	return err_set(reader->err, MSG_SEARCH_READ_VARIANT, STR_ARG(name), STR_ARG(buf_str(&list)),
		       at.line, at.column);
}

/* {"N": "1"}: one member, which AWS knows. Anything but an object or a text is refused without a
 * word. */
static enum code scan_attribute(struct reader *reader, const struct json *json)
{
	struct arena *arena = reader->err->arena;
	size_t name_end = 0;

	if (json_type(json) == JSON_STRING) {
		skip_value(&reader->scan);
		struct position at = position_of(reader->scan.text, reader->scan.at);

		return variant_of(json_string(arena, json))
			       ? err_set(reader->err, MSG_SEARCH_READ_UNIT, at.line, at.column)
			       : refuse_variant(reader, json_string(arena, json), reader->scan.at);
	}
	const struct json *member = json_type(json) == JSON_OBJECT ? json_first(json) : NULL;
	if (!member)
		return err_set(reader->err, MSG_TYPE_UNTOLD);
	skip_name(&reader->scan, &name_end);
	const struct variant *variant = variant_of(json_name(arena, member));
	if (!variant)
		return refuse_variant(reader, json_name(arena, member), name_end);
	enum code code = take_wanted(reader, member, variant->want);
	if (code != OK)
		return code;
	if (variant->want == WANT_SEQUENCE || variant->want == WANT_MAP)
		code = scan_elements(reader, member, variant->elements);
	if (code != OK)
		return code;
	if (json_next(member))
		return err_set(reader->err, MSG_TYPE_UNTOLD);
	skip_space(&reader->scan);
	reader->scan.at++;
	return OK;
}

/* What a member of the request is read as, and its elements. */
static struct variant wants_of(const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_STRING:
	case SHAPE_ENUM:
		return (struct variant){NULL, WANT_STRING, WANT_ANY};
	case SHAPE_INTEGER:
		return (struct variant){NULL, WANT_INTEGER, WANT_ANY};
	case SHAPE_LIST:
		return (struct variant){NULL, WANT_SEQUENCE, WANT_ANY};
	case SHAPE_MAP:
		return (struct variant){NULL, WANT_MAP, WANT_STRING};
	case SHAPE_ITEM:
		return (struct variant){NULL, WANT_MAP, WANT_ANY};
	default:
		return (struct variant){NULL, WANT_ANY, WANT_ANY};
	}
}

static enum code scan_member(struct reader *reader, const struct shape_member *member,
			     const struct json *json)
{
	struct variant wants =
		member ? wants_of(member->shape) : (struct variant){NULL, WANT_ANY, WANT_ANY};

	if (wants.want == WANT_ANY || (json_type(json) == JSON_NULL && !member->is_required)) {
		skip_value(&reader->scan);
		return OK;
	}
	enum code code = take_wanted(reader, json, wants.want);
	if (code != OK)
		return code;
	if (wants.want == WANT_SEQUENCE || wants.want == WANT_MAP)
		code = scan_elements(reader, json, wants.elements);
	return code;
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
static const char *missing_member(const struct shape *shape, const struct json *request)
{
	const char *first = NULL;

	for (size_t i = 0; i < shape->count; i++) {
		const struct shape_member *member = &shape->members[i];

		if (member->is_required && !json_member(request, member->name) &&
		    (!first || strcmp(member->name, first) < 0))
			first = member->name;
	}
	return first;
}

enum code serde_check(const struct shape *shape, const struct json *request, struct str body,
		      struct err *err)
{
	struct reader reader = {{body, 0}, err};
	struct scan *scan = &reader.scan;
	size_t ignored;

	skip_space(scan);
	for (const struct json *child = json_first(request); child; child = json_next(child)) {
		skip_name(scan, &ignored);
		enum code code =
			scan_member(&reader, member_of(shape, json_name(err->arena, child)), child);
		if (code != OK)
			return code;
		skip_space(scan);
	}
	const char *name = missing_member(shape, request);
	if (!name)
		return OK;
	if (!json_first(request)) {
		scan->at++;
		skip_space(scan);
	}
	struct position end = position_of(body, scan->at + 1);
	return err_set(err, MSG_SEARCH_FIELD, name, end.line, end.column);
}
