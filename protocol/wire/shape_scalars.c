#include "protocol/wire/shape_walk.h"

#include <strings.h>

#include "core/base64.h"
#include "core/messages.h"
#include "core/number.h"
#include "protocol/wire/java_number.h"
#include "protocol/wire/json_out.h"
#include "protocol/wire/messages.h"

/* How type errors name a value. */
static const char *token_name(const struct json *json)
{
	switch (json_type(json)) {
	case JSON_BOOLEAN:
		return json_boolean(json) ? "TRUE_VALUE" : "FALSE_VALUE";
	case JSON_STRING:
		return "STRING_VALUE";
	default:
		return json_is_decimal(json) ? "DECIMAL_VALUE" : "NUMBER_VALUE";
	}
}

/* The error of a scalar of `type` ("String", "Integer", ...) that is something else. */
enum code shape_scalar_error(struct walk *walk, const struct json *json, const char *type)
{
	enum json_type met = json_type(json);

	if (met == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION,
			       str_printf(walk->arena, "java.lang.%s", type).p);
	if (met == JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_STRUCTURE);
	return err_set(walk->err, MSG_TYPE_TOKEN, token_name(json), type);
}

/* AWS takes these words, in any case, as booleans. False where the text is none of them. */
static bool boolean_of_text(struct str text, bool *out)
{
	static const struct {
		const char *text;
		bool value;
	} words[] = {
		{"true", true}, {"t", true}, {"yes", true}, {"y", true}, {"1", true},
		{"false", false}, {"f", false}, {"no", false}, {"n", false}, {"0", false},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (text.n == strlen(words[i].text) &&
		    strncasecmp(text.p, words[i].text, text.n) == 0) {
			*out = words[i].value;
			return true;
		}
	}
	return false;
}

enum code shape_read_boolean(struct walk *walk, const struct json *json, bool takes_text,
			     struct opt_bool *out)
{
	out->is_set = true;
	if (json_type(json) == JSON_STRING) {
		walk->is_unread = true;
		return takes_text && boolean_of_text(json_string(walk->arena, json), &out->value)
			       ? OK
			       : err_set(walk->err, MSG_TYPE_BOOLEAN_TEXT);
	}
	if (json_type(json) == JSON_ARRAY && takes_text)
		return err_set(walk->err, MSG_TYPE_UNTOLD);
	if (json_type(json) != JSON_BOOLEAN)
		return shape_scalar_error(walk, json, "Boolean");
	*out = (struct opt_bool){true, json_boolean(json)};
	return OK;
}

static enum code read_scalar_number(struct walk *walk, struct str text, struct value *out)
{
	char *bytes = arena_bytes(walk->arena, NUMBER_MAX);
	struct err err = err_in(walk->arena);
	size_t n = 0;

	enum code code = number_parse(text, bytes, &n, &err);
	if (walk->is_older)
		code = java_number_error(text, &err);
	if (code != OK) {
		const char *end = text.n == 0 && !walk->is_older ? ": " : "";

		shape_reading_error(walk, MSG_NUMBER, STR_ARG(err.message), end);
		n = number_from_int(0, bytes);
	}
	*out = value_of_str(TYPE_N, (struct str){bytes, n});
	return OK;
}

enum code shape_read_scalar(struct walk *walk, const struct json *json, enum type type,
			    struct value *out)
{
	struct str text, bytes;

	if (json_type(json) != JSON_STRING)
		return type == TYPE_B && json_type(json) != JSON_ARRAY &&
				       json_type(json) != JSON_OBJECT
			       ? err_set(walk->err, MSG_BASE64_TYPE)
			       : shape_scalar_error(walk, json, "String");
	text = json_string(walk->arena, json);
	if (type == TYPE_N)
		return read_scalar_number(walk, text, out);
	if (type == TYPE_S) {
		*out = value_of_str(TYPE_S, text);
		return OK;
	}
	if (text.n % 4 != 0)
		return err_set(walk->err, MSG_BASE64_LENGTH, text.n);
	if (!base64_decode(walk->arena, text, &bytes))
		return err_set(walk->err, MSG_BASE64_CHARACTER);
	*out = value_of_str(TYPE_B, bytes);
	return OK;
}

/* Sorts the members of a set of texts or bytes. Returns the place of the first repeated one, where
 * the newer layer stops to read. */
static size_t sort_read(struct walk *walk, enum type type, struct member *members,
			const struct str *texts, size_t n)
{
	size_t repeat = n;

	for (size_t i = 0; i < n; i++) {
		members[i].name = texts[i];
		if (type == TYPE_BS)
			(void)base64_decode(walk->arena, texts[i],
					    &members[i].name); /* it was decoded before */
		members[i].value.n = (uint32_t)i;
	}
	value_sort_members(members, n, NULL);
	for (size_t i = 1; i < n; i++) {
		if (str_eq(members[i - 1].name, members[i].name) && members[i].value.n < repeat)
			repeat = members[i].value.n;
	}
	return repeat;
}

static void add_array_element(const struct walk *walk, struct json_out *list, enum type type,
			      struct str element)
{
	if (list->buf.n > 0)
		buf_add_str(&list->buf, type == TYPE_BS && !walk->is_older ? STR(",") : STR(", "));
	list->needs_comma = false;
	if (walk->is_older)
		buf_add_str(&list->buf, element);
	else
		json_out_string(list, element);
}

/*
 * A set of texts or bytes with a repeated element, as AWS lists it. The older layer lists it as
 * sent. The newer layer lists the elements before the repeated one in byte order, then the rest as
 * sent.
 */
static struct str duplicates_list(struct walk *walk, enum type type, const struct json *json)
{
	size_t n = 0, first = 0;
	struct str *texts = ARENA_ARRAY(walk->arena, struct str, json_count(json));
	struct member *members = ARENA_ARRAY(walk->arena, struct member, json_count(json));
	struct json_out list = json_out_in(walk->arena);

	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (json_type(child) == JSON_STRING)
			texts[n++] = json_string(walk->arena, child);
	}
	if (!walk->is_older)
		first = sort_read(walk, type, members, texts, n);
	for (size_t i = 0; i < n && first > 0; i++) {
		if (members[i].value.n < first)
			add_array_element(walk, &list, type, texts[members[i].value.n]);
	}
	for (size_t i = first; i < n; i++)
		add_array_element(walk, &list, type, texts[i]);
	return json_out_str(&list);
}

static void duplicates_error(struct walk *walk, enum type type, const struct json *json)
{
	if (type == TYPE_NS && walk->is_older)
		shape_reading_error(walk, MSG_SET_DUPLICATES_NUMBER_OLDER);
	else if (type == TYPE_NS)
		shape_reading_error(walk, MSG_SET_DUPLICATES_NUMBER);
	else if (type == TYPE_SS)
		shape_reading_error(walk, MSG_SET_DUPLICATES,
				    STR_ARG(duplicates_list(walk, type, json)));
	else
		shape_reading_error(walk, MSG_SET_DUPLICATES_BINARY,
				    STR_ARG(duplicates_list(walk, type, json)));
}

enum code shape_make_elements(struct walk *walk, const struct json *json, struct value **elements)
{
	if (json_type(json) != JSON_ARRAY)
		return json_type(json) == JSON_OBJECT ? err_set(walk->err, MSG_TYPE_STRUCTURE)
						      : err_set(walk->err, MSG_TYPE_FIELD);
	*elements = ARENA_ARRAY(walk->arena, struct value, json_count(json));
	return arena_is_over(walk->arena) ? err_default(walk->err, ERR_SERVICE_UNAVAILABLE) : OK;
}

enum code shape_read_set(struct walk *walk, const struct json *json, enum type type,
			 struct value *out)
{
	const char *kind = type == TYPE_SS ? "string" : type == TYPE_NS ? "number" : "binary";
	struct value *elements;
	size_t n = 0;
	enum code code = shape_make_elements(walk, json, &elements);

	if (code != OK)
		return code;
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (json_type(child) == JSON_NULL) {
			shape_value_error(walk, MSG_SET_NULL, kind);
			continue;
		}
		code = shape_read_scalar(walk, child, type_element(type), &elements[n++]);
		if (code != OK)
			return code;
	}
	if (n == 0 && type == TYPE_BS)
		shape_value_error(walk, MSG_SET_EMPTY_BINARY);
	else if (n == 0)
		shape_value_error(walk, MSG_SET_EMPTY, kind);
	if (!value_sort_set(elements, n, NULL) && walk->value_err->code == OK)
		duplicates_error(walk, type, json);
	*out = (struct value){.type = (uint8_t)type, .n = (uint32_t)n, .elements = elements};
	return OK;
}
