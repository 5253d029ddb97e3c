#include "protocol/wire/shape_walk.h"

#include <strings.h>

#include "core/base64.h"
#include "core/messages.h"
#include "core/number.h"
#include "protocol/wire/json_out.h"
#include "protocol/wire/messages.h"

#define DEPTH_OLDER 63 /* levels from which the newer layer leaves a value to the older one */

/* AWS takes these words, in any case, for the boolean; false: it is none of them. */
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
		if (text.n == strlen(words[i].text) && strncasecmp(text.p, words[i].text, text.n) == 0) {
			*out = words[i].value;
			return true;
		}
	}
	return false;
}

enum code shape_read_boolean(struct walk *walk, const struct json *json, bool takes_text, struct opt_bool *out)
{
	out->is_set = true;
	if (json_type(json) == JSON_STRING) {
		walk->is_unread = true;
		return takes_text && boolean_of_text(json_string(walk->arena, json), &out->value) ? OK : err_set(walk->err, MSG_TYPE_BOOLEAN_TEXT);
	}
	if (json_type(json) == JSON_ARRAY && takes_text)
		return err_set(walk->err, MSG_TYPE_UNTOLD);
	if (json_type(json) != JSON_BOOLEAN)
		return shape_scalar_error(walk, json, "Boolean");
	*out = (struct opt_bool){true, json_boolean(json)};
	return OK;
}

/* Keeps the first error inside an attribute value. Those of reading have the same words in a start key as elsewhere. */
#define value_error_of(walk, reads, ...)                                                   \
	do {                                                                               \
		if ((walk)->value_err->code == OK) {                                       \
			(walk)->is_reading = (reads);                                      \
			(walk)->is_weak = (walk)->is_deep = false;                         \
			(void)(err_set((walk)->value_err, __VA_ARGS__) == OK);             \
		}                                                                          \
	} while (0)
#define value_error(walk, ...) value_error_of(walk, false, __VA_ARGS__)
#define reading_error(walk, ...) value_error_of(walk, true, __VA_ARGS__)

static enum code read_value(struct walk *walk, const struct json *json, unsigned depth, struct value *out);

/* AWS: an item's own empty name precedes the errors inside its values, a value's gives way to its depth. */
static void refuse_empty_name(struct walk *walk, unsigned depth)
{
	bool is_reported = walk->value_err->code == OK || (depth == 1 && !walk->is_earlier);

	if (!is_reported)
		return;
	walk->value_err->code = OK;
	value_error(walk, MSG_ATTRIBUTE_NAME_EMPTY);
	walk->is_weak = walk->is_deep = depth > 1;
	if (depth == 1)
		walk->attribute = STR("");
}

static enum code read_map(struct walk *walk, const struct json *json, unsigned depth, struct value *out)
{
	size_t n = json_count(json), count = 0;
	struct member *members = ARENA_ARRAY(walk->arena, struct member, n);

	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		struct member *member = &members[count];

		member->name = json_name(walk->arena, child);
		if (depth == 1 && walk->value_err->code == OK)
			walk->attribute = member->name;
		if (member->name.n == 0)
			refuse_empty_name(walk, depth);
		if (member->name.n > ATTRIBUTE_NAME_SIZE_MAX)
			value_error(walk, MSG_ATTRIBUTE_NAME_TOO_LARGE);
		enum code code = read_value(walk, child, depth, &member->value);
		if (code != OK)
			return code;
		count++;
	}
	count = value_sort_last(members, count); /* of a member given twice the last counts, as for every JSON object */
	*out = (struct value){.type = TYPE_M, .n = (uint32_t)count, .members = members};
	return OK;
}

/*
 * The older layer reads a number as Java's BigDecimal reads text, whose exponent and scale have 32 bits: beyond them it is no number, and just
 * within them the magnitude, in 32 bits too, turns around. Elsewhere the plain rule's error stays.
 */
static enum code older_number_error(struct str text, struct err *err)
{
	const char *e = memchr(text.p, 'e', text.n), *point;
	long long exponent = 0, places, digits = 0;

	e = e ? e : memchr(text.p, 'E', text.n);
	if (err->code == OK || !e)
		return err->code;
	point = memchr(text.p, '.', (size_t)(e - text.p));
	places = point ? e - point - 1 : 0;
	for (const char *p = e + 1; p < text.p + text.n && exponent < 100000000000LL; p++)
		exponent = *p >= '0' && *p <= '9' ? exponent * 10 + (*p - '0') : exponent;
	exponent = e + 1 < text.p + text.n && e[1] == '-' ? -exponent : exponent;
	for (const char *p = text.p; p < e; p++)
		digits += *p >= '1' && *p <= '9' ? 1 : *p == '0' && digits > 0;
	if (exponent != (int32_t)exponent || places - exponent != (int32_t)(places - exponent))
		return err_set(err, MSG_NUMBER_MALFORMED, STR_ARG(text));
	if (exponent > 0 && digits - places + exponent > INT32_MAX)
		return err_set(err, MSG_NUMBER_UNDERFLOW);
	return err->code;
}

static enum code read_number(struct walk *walk, struct str text, struct value *out)
{
	char *bytes = arena_bytes(walk->arena, NUMBER_MAX);
	struct err err = err_in(walk->arena);
	size_t n = 0;

	if (number_parse(text, bytes, &n, &err) != OK) {
		const char *end = text.n == 0 && !walk->is_older ? ": " : "";

		if (walk->is_older)
			err.code = older_number_error(text, &err);
		reading_error(walk, MSG_NUMBER, STR_ARG(err.message), end);
		n = number_from_int(0, bytes);
	}
	*out = value_of_str(TYPE_N, (struct str){bytes, n});
	return OK;
}

static enum code read_scalar(struct walk *walk, const struct json *json, enum type type, struct value *out)
{
	struct str text, bytes;

	if (json_type(json) != JSON_STRING)
		return type == TYPE_B && json_type(json) != JSON_ARRAY && json_type(json) != JSON_OBJECT ? err_set(walk->err, MSG_BASE64_TYPE)
													    : shape_scalar_error(walk, json, "String");
	text = json_string(walk->arena, json);
	if (type == TYPE_N)
		return read_number(walk, text, out);
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

/* The members of a set of texts or bytes, in byte order up to the first that was there already, where the newer layer stopped to read. */
static size_t sort_read(struct walk *walk, enum type type, struct member *members, const struct str *texts, size_t n)
{
	size_t repeat = n;

	for (size_t i = 0; i < n; i++) {
		members[i].name = texts[i];
		if (type == TYPE_BS)
			(void)base64_decode(walk->arena, texts[i], &members[i].name); /* it was decoded before */
		members[i].value.n = (uint32_t)i;
	}
	value_sort_members(members, n, NULL);
	for (size_t i = 1; i < n; i++) {
		if (str_eq(members[i - 1].name, members[i].name) && members[i].value.n < repeat)
			repeat = members[i].value.n;
	}
	return repeat;
}

static void add_element(const struct walk *walk, struct json_out *list, enum type type, struct str element)
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
 * A set of texts or bytes as AWS lists it where an element is there twice. The older layer: as sent. The newer layer: what it read until then in
 * byte order, then the second one and the rest as sent.
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
			add_element(walk, &list, type, texts[members[i].value.n]);
	}
	for (size_t i = first; i < n; i++)
		add_element(walk, &list, type, texts[i]);
	return json_out_str(&list);
}

static void duplicates_error(struct walk *walk, enum type type, const struct json *json)
{
	if (type == TYPE_NS && walk->is_older)
		reading_error(walk, MSG_SET_DUPLICATES_NUMBER_OLDER);
	else if (type == TYPE_NS)
		reading_error(walk, MSG_SET_DUPLICATES_NUMBER);
	else if (type == TYPE_SS)
		reading_error(walk, MSG_SET_DUPLICATES, STR_ARG(duplicates_list(walk, type, json)));
	else
		reading_error(walk, MSG_SET_DUPLICATES_BINARY, STR_ARG(duplicates_list(walk, type, json)));
}

/* Room for the elements of a set or list, which must be an array. */
static enum code make_elements(struct walk *walk, const struct json *json, struct value **elements)
{
	if (json_type(json) != JSON_ARRAY)
		return json_type(json) == JSON_OBJECT ? err_set(walk->err, MSG_TYPE_STRUCTURE) : err_set(walk->err, MSG_TYPE_FIELD);
	*elements = ARENA_ARRAY(walk->arena, struct value, json_count(json));
	return arena_is_over(walk->arena) ? err_default(walk->err, ERR_SERVICE_UNAVAILABLE) : OK;
}

static enum code read_set(struct walk *walk, const struct json *json, enum type type, struct value *out)
{
	const char *kind = type == TYPE_SS ? "string" : type == TYPE_NS ? "number" : "binary";
	struct value *elements;
	size_t n = 0;
	enum code code = make_elements(walk, json, &elements);

	if (code != OK)
		return code;
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (json_type(child) == JSON_NULL) {
			value_error(walk, MSG_SET_NULL, kind);
			continue;
		}
		code = read_scalar(walk, child, type_element(type), &elements[n++]);
		if (code != OK)
			return code;
	}
	if (n == 0 && type == TYPE_BS)
		value_error(walk, MSG_SET_EMPTY_BINARY);
	else if (n == 0)
		value_error(walk, MSG_SET_EMPTY, kind);
	if (!value_sort_set(elements, n, NULL) && walk->value_err->code == OK)
		duplicates_error(walk, type, json);
	*out = (struct value){.type = (uint8_t)type, .n = (uint32_t)n, .elements = elements};
	return OK;
}

static enum code read_list(struct walk *walk, const struct json *json, unsigned depth, struct value *out)
{
	struct value *elements;
	size_t n = 0;
	enum code code = make_elements(walk, json, &elements);

	if (code != OK)
		return code;
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		code = read_value(walk, child, depth, &elements[n++]);
		if (code != OK)
			return code;
	}
	*out = (struct value){.type = TYPE_L, .n = (uint32_t)n, .elements = elements};
	return OK;
}

/* The content of {"S": ...} by its type. */
static enum code read_content(struct walk *walk, const struct json *json, enum type type, unsigned depth, struct value *out)
{
	struct opt_bool boolean;
	enum code code;

	if (type_is_scalar_key(type))
		return read_scalar(walk, json, type, out);
	if (type_is_set(type))
		return read_set(walk, json, type, out);
	if (type == TYPE_NULL || type == TYPE_BOOL) {
		code = shape_read_boolean(walk, json, true, &boolean);
		if (code == OK && type == TYPE_NULL && !boolean.value)
			value_error(walk, MSG_VALUE_NULL);
		*out = (struct value){.type = (uint8_t)type, .boolean = code == OK && type == TYPE_BOOL && boolean.value};
		return code;
	}
	if (type == TYPE_L)
		return read_list(walk, json, depth + 1, out);
	if (json_type(json) == JSON_OBJECT)
		return read_map(walk, json, depth + 1, out);
	return json_type(json) == JSON_ARRAY
		       ? err_set(walk->err, MSG_TYPE_COLLECTION_MAP, "com.amazonaws.dynamodb.v20120810.AttributeValue")
		       : err_set(walk->err, MSG_TYPE_FIELD);
}

/* Whether a JSON value has more than `levels` of attribute values below it. */
static bool is_deeper(const struct json *json, unsigned levels)
{
	for (const struct json *child = json_first(json); child; child = json_next(child)) { /* {"L": */
		for (const struct json *inner = json_first(child); inner; inner = json_next(inner)) {
			if (levels == 0 || is_deeper(inner, levels - 1))
				return true;
		}
	}
	return false;
}

/* Of a value with several types AWS tells an empty set first, then a number, then a NULL that is false. */
static unsigned rank_of(enum type type)
{
	return type_is_set(type) ? 0 : type == TYPE_N ? 1 : type == TYPE_NULL ? 3 : 2;
}

/* A value that may have no type, or several, some of them null. */
static enum code read_types(struct walk *walk, const struct json *json, unsigned depth, struct value *out)
{
	unsigned found = 0;

	for (unsigned rank = 0; rank < 4; rank++) {
		for (const struct json *child = json_first(json); child; child = json_next(child)) {
			enum type type = type_of_name(json_name(walk->arena, child));

			if (type == TYPE_NONE || json_type(child) == JSON_NULL || rank_of(type) != rank)
				continue;
			found++;
			enum code code = read_content(walk, child, type, depth, out);
			if (code != OK)
				return code;
		}
	}
	if (found == 1)
		return OK;
	walk->is_unread = true;
	if (found > 1)
		value_error(walk, MSG_VALUE_MANY);
	else
		value_error(walk, MSG_VALUE_EMPTY);
	return OK;
}

static void refuse_depth(struct walk *walk)
{
	bool is_reported = walk->value_err->code == OK || walk->is_weak;

	if (!is_reported)
		return;
	walk->value_err->code = OK;
	value_error(walk, MSG_VALUE_DEPTH);
	walk->is_deep = true;
}

/* `depth` counts maps and lists around the value, from 1 for a top-level attribute. */
static enum code read_value(struct walk *walk, const struct json *json, unsigned depth, struct value *out)
{
	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION, "com.amazonaws.dynamodb.v20120810.AttributeValue");
	if (json_type(json) != JSON_OBJECT && json_type(json) != JSON_NULL)
		return err_set(walk->err, MSG_TYPE_PAYLOAD);
	*out = (struct value){.type = TYPE_NULL};
	if (depth > walk->depth_max) {
		walk->is_unread = walk->is_unread || is_deeper(json, DEPTH_OLDER - depth);
		refuse_depth(walk);
		return OK;
	}
	const struct json *child = json_first(json);
	enum type type = child ? type_of_name(json_name(walk->arena, child)) : TYPE_NONE;

	if (type != TYPE_NONE && !json_next(child) && json_type(child) != JSON_NULL)
		return read_content(walk, child, type, depth, out);
	return read_types(walk, json, depth, out);
}

/* The older layer names the expression's value that an error is in, and says that a start key is invalid. */
static void name_place(struct walk *walk, const struct shape *shape)
{
	struct str message = walk->value_err->message;

	if (!walk->is_older)
		return;
	if (shape->traits & EXPRESSION)
		(void)(err_set(walk->value_err, MSG_EXPRESSION_VALUE, STR_ARG(message), STR_ARG(walk->attribute)) == OK);
	else if (shape->traits & IS_START_KEY && !walk->is_reading)
		(void)(err_set(walk->value_err, MSG_START_KEY_VALUE, STR_ARG(message)) == OK);
}

/* AWS: what is only compared may be one level deeper, where the older layer reads. */
enum code shape_read_attribute(struct walk *walk, const struct json *json, struct value *out)
{
	walk->depth_max = VALUE_DEPTH_MAX + (walk->is_older ? 1u : 0u);
	enum code code = read_value(walk, json, 1, out);
	walk->depth_max = VALUE_DEPTH_MAX;
	return code;
}

/* A value whose errors stay with it. */
enum code shape_read_parameter(struct walk *walk, const struct json *json, struct parameter *out)
{
	struct err *others = walk->value_err;
	struct err own = err_in(walk->arena);

	walk->value_err = &own;
	enum code code = shape_read_attribute(walk, json, &out->value);
	out->code = own.code;
	out->is_deep = own.code != OK && walk->is_deep && !walk->is_weak;
	out->message = own.message;
	walk->value_err = others;
	return code;
}

/* The values of an action's expressions: their errors come before what is deep in its item or key. */
static enum code read_action_values(struct walk *walk, const struct json *json, struct value *item)
{
	struct err kept = *walk->value_err;
	bool is_deep = walk->is_deep && kept.code != OK;

	if (is_deep)
		walk->value_err->code = OK;
	walk->is_earlier = walk->value_err->code != OK;
	enum code code = read_map(walk, json, 1, item);
	if (walk->value_err->code == OK && is_deep) {
		*walk->value_err = kept;
		walk->is_earlier = true; /* the error names its place */
	} else if (!walk->is_earlier) {
		walk->is_deep = false;
	}
	return code;
}

enum code shape_read_item(struct walk *walk, const struct shape *shape, const struct json *json, const struct value **out)
{
	struct value *item = ARENA_NEW(walk->arena, struct value);

	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION_MAP, "com.amazonaws.dynamodb.v20120810.AttributeValue");
	if (json_type(json) != JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_FIELD);
	*out = item;
	walk->is_earlier = walk->value_err->code != OK;
	walk->depth_max = VALUE_DEPTH_MAX + (walk->is_older && shape->traits & EXPRESSION ? 1u : 0u);
	enum code code = walk->actions && shape->traits & EXPRESSION ? read_action_values(walk, json, item) : read_map(walk, json, 1, item);
	walk->depth_max = VALUE_DEPTH_MAX;
	if (!walk->is_earlier && walk->value_err->code != OK)
		name_place(walk, shape);
	return code;
}
