#include "protocol/shapes.h"

#include <strings.h>

#include "core/base64.h"
#include "core/messages.h"
#include "core/number.h"
#include "core/utf8.h"
#include "protocol/messages.h"
#include "protocol/shape_tables.h"

#define ARN_OR "arn:|"    /* begins the pattern of what may be an ARN instead */
#define DEPTH_NAMED 63     /* levels from which AWS tells the name of an expression's value that is too deep */
#define CONSTRAINTS_MAX 10 /* errors that AWS lists at most */

/* Where in the request the walker is; written out only for messages. */
struct place {
	const struct place *parent;
	struct str name;      /* a member or map key; absent for a list element */
	size_t element;       /* from 1 */
	bool is_member;       /* "tableName"; a map key and a list element are followed by ".member" */
};

/*
 * One walk finds three kinds of errors: the first of types ends it; those of constraints are collected; of those inside attribute values
 * the first is kept for the operation, which reports it after its own rules.
 */
enum value_fault {
	FAULT_TYPES,    /* no type, or many: told with the name of an expression's value, and of a start key as its being invalid */
	FAULT_CONTENT,  /* the same, but of a start key only by Scan */
	FAULT_TRUTH,    /* a NULL that is false: as content, but without the name */
	FAULT_READING,  /* told alone, but by the older layer with the name */
};

struct walk {
	struct arena *arena;
	struct err *err;
	struct buf constraints;
	unsigned constraint_count;
	struct err *value_err;
	enum value_fault fault; /* of value_err */
	struct str attribute; /* the top-level one that value_err is in */
	bool is_older;        /* the operation's values are read by AWS's older layer */
	bool is_scan;
	unsigned depth_max;   /* of the values that are read now */
	bool is_parameter; /* within a statement's parameter */
};

/* AWS reads the values of these as it used to read those of all: its errors have other words, and tell the value's name. */
static const struct shape *const older_inputs[] = {
	&shape_batch_write_item_input, &shape_transact_get_items_input, &shape_transact_write_items_input,
};

static bool is_older(const struct shape *shape)
{
	for (size_t i = 0; i < sizeof(older_inputs) / sizeof(older_inputs[0]); i++) {
		if (older_inputs[i] == shape)
			return true;
	}
	return false;
}

static enum code bind(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, void *out);

static void write_place(const struct place *place, struct buf *out)
{
	if (!place)
		return;
	write_place(place->parent, out);
	if (place->parent)
		buf_add_byte(out, '.');
	if (str_is_set(place->name)) {
		char first = place->name.n ? place->name.p[0] : '\0';

		if (place->is_member && first >= 'A' && first <= 'Z') {
			buf_add_byte(out, first - 'A' + 'a');
			buf_add(out, place->name.p + 1, place->name.n - 1);
		} else {
			buf_add_str(out, place->name);
		}
	} else {
		buf_printf(out, "%zu", place->element);
	}
	if (!place->is_member)
		buf_add_lit(out, ".member");
}

/* Notes "Value 'x' at 'path' failed to satisfy constraint: ..."; the first error inside a value is not overwritten by this. */
__attribute__((format(printf, 4, 5))) static void constraint(struct walk *walk, const struct place *place, struct str value,
							      const char *format, ...)
{
	va_list ap;

	if (walk->constraint_count == CONSTRAINTS_MAX)
		return;
	if (walk->constraint_count++ > 0)
		buf_add_lit(&walk->constraints, "; ");
	if (str_is_set(value))
		buf_printf(&walk->constraints, "Value '" STR_FMT "' at '", STR_ARG(value));
	else
		buf_add_lit(&walk->constraints, "Value null at '");
	write_place(place, &walk->constraints);
	buf_add_lit(&walk->constraints, "' failed to satisfy constraint: ");
	va_start(ap, format);
	buf_add_str(&walk->constraints, str_vprintf(walk->arena, format, ap));
	va_end(ap);
}

static void check_length(struct walk *walk, const struct shape *shape, const struct place *place, struct str shown, size_t length)
{
	if (shape->max != NO_MAX && length > (size_t)shape->max)
		constraint(walk, place, shown, "Member must have length less than or equal to %ld", shape->max);
	if (shape->min != NO_MIN && length < (size_t)shape->min)
		constraint(walk, place, shown, "Member must have length greater than or equal to %ld", shape->min);
}

/* Patterns of the model are all one class repeated, "[a-zA-Z0-9_.-]+": ranges, single characters, a '-' at the end. */
static bool matches(const char *pattern, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool found = false;

		for (const char *p = pattern + 1; *p && *p != ']' && !found; p++) {
			if (p[1] == '-' && p[2] != ']') {
				found = s.p[i] >= p[0] && s.p[i] <= p[2];
				p += 2;
			} else {
				found = s.p[i] == *p;
			}
		}
		if (!found)
			return false;
	}
	return s.n > 0;
}

/* How type errors name what was met. */
static const char *token_name(const struct json *json)
{
	double number;

	switch (json_type(json)) {
	case JSON_BOOLEAN:
		return json_boolean(json) ? "TRUE_VALUE" : "FALSE_VALUE";
	case JSON_STRING:
		return "STRING_VALUE";
	default:
		number = json_number(json);
		if (number < -9e15 || number > 9e15) /* too large for a fraction, and perhaps for the cast */
			return "NUMBER_VALUE";
		return number == (double)(int64_t)number ? "NUMBER_VALUE" : "DECIMAL_VALUE";
	}
}

/* The error of a scalar of `type` ("String", "Integer", ...) that is something else. */
static enum code scalar_error(struct walk *walk, const struct json *json, const char *type)
{
	enum json_type met = json_type(json);

	if (met == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION, str_printf(walk->arena, "java.lang.%s", type).p);
	if (met == JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_STRUCTURE);
	return err_set(walk->err, MSG_TYPE_TOKEN, token_name(json), type);
}

static enum code bind_string(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, struct str *out)
{
	if (json_type(json) != JSON_STRING)
		return scalar_error(walk, json, "String");
	*out = json_string(walk->arena, json);
	const char *pattern = shape->pattern;
	if (pattern && strncmp(pattern, ARN_OR, sizeof(ARN_OR) - 1) == 0) {
		if (str_starts_with(*out, STR("arn:")))
			return OK;
		if (out->n == 0) {
			constraint(walk, place, *out, "Member must have length greater than or equal to 1");
			return OK;
		}
		pattern += sizeof(ARN_OR) - 1;
	}
	if (pattern && !matches(pattern, *out))
		constraint(walk, place, *out, "Member must satisfy regular expression pattern: %s", pattern);
	check_length(walk, shape, place, *out, utf8_utf16_length(*out));
	return OK;
}

/* Enumerations of the legacy parameters: AWS does not check them with the constraints; legacy.c refuses the constant id_count. */
static bool is_checked_later(const struct shape *shape)
{
	static const char *const names[] = {"ComparisonOperator", "ConditionalOperator", "AttributeAction"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(shape->name, names[i]) == 0)
			return true;
	}
	return false;
}

static enum code bind_enum(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, int *out)
{
	if (json_type(json) != JSON_STRING)
		return scalar_error(walk, json, "String");
	struct str text = json_string(walk->arena, json);
	for (size_t i = 0; i < shape->count; i++) {
		if (str_eq(text, str_of(shape->texts[i]))) {
			*out = (int)i + 1;
			return OK;
		}
	}
	if (is_checked_later(shape)) {
		*out = (int)shape->count + 1;
		return OK;
	}
	struct buf set = buf_in(walk->arena);
	for (size_t i = 0; i < shape->count; i++)
		buf_printf(&set, "%s%s", i ? ", " : "", shape->texts[i]);
	constraint(walk, place, text, "Member must satisfy enum value set: [" STR_FMT "]", STR_ARG(buf_str(&set)));
	return OK;
}

static enum code bind_integer(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place,
			      struct opt_int *out)
{
	if (json_type(json) != JSON_NUMBER)
		return scalar_error(walk, json, shape->kind == SHAPE_INTEGER ? "Integer" : "Long");
	double number = json_number(json);
	double bound = shape->kind == SHAPE_INTEGER ? 2147483647.0 : 9007199254740992.0; /* AWS saturates, fractions are cut */
	out->is_set = true;
	out->value = number > bound ? (int64_t)bound : number < -bound ? (int64_t)-bound : (int64_t)number;
	struct str shown = str_printf(walk->arena, "%lld", (long long)out->value);
	if (shape->max != NO_MAX && out->value > shape->max)
		constraint(walk, place, shown, "Member must have value less than or equal to %ld", shape->max);
	if (shape->min != NO_MIN && out->value < shape->min)
		constraint(walk, place, shown, "Member must have value greater than or equal to %ld", shape->min);
	return OK;
}

/* Unix time in seconds with a fraction, kept in milliseconds. */
static enum code bind_timestamp(struct walk *walk, const struct json *json, struct opt_int *out)
{
	double bound = 9007199254740992.0;

	if (json_type(json) != JSON_NUMBER)
		return scalar_error(walk, json, "Date");
	double ms = json_number(json) * 1000;
	*out = (struct opt_int){true, ms > bound ? (int64_t)bound : ms < -bound ? (int64_t)-bound : (int64_t)(ms + (ms < 0 ? -0.5 : 0.5))};
	return OK;
}

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

/* The booleans of item requests: ConsistentRead, ScanIndexForward, Exists. */
static bool is_item_option(const struct shape *shape)
{
	return strcmp(shape->name, "ConsistentRead") == 0 || strcmp(shape->name, "BooleanObject") == 0;
}

static enum code bind_boolean(struct walk *walk, const struct json *json, bool takes_text, struct opt_bool *out)
{
	out->is_set = true;
	if (json_type(json) == JSON_STRING && takes_text)
		return boolean_of_text(json_string(walk->arena, json), &out->value) ? OK : err_set(walk->err, MSG_TYPE_BOOLEAN_TEXT);
	if (json_type(json) == JSON_STRING)
		return err_set(walk->err, MSG_TYPE_BOOLEAN_TEXT);
	if (json_type(json) == JSON_ARRAY && takes_text)
		return err_set(walk->err, MSG_TYPE_UNTOLD);
	if (json_type(json) != JSON_BOOLEAN)
		return scalar_error(walk, json, "Boolean");
	*out = (struct opt_bool){true, json_boolean(json)};
	return OK;
}

/* Keeps the first error inside an attribute value. */
#define value_error_of(walk, kind_of_fault, ...)                                           \
	do {                                                                               \
		if ((walk)->value_err->code == OK) {                                       \
			(walk)->fault = (kind_of_fault);                                   \
			(void)(err_set((walk)->value_err, __VA_ARGS__) == OK);             \
		}                                                                          \
	} while (0)
#define value_error(walk, ...) value_error_of(walk, FAULT_CONTENT, __VA_ARGS__)

static enum code read_value(struct walk *walk, const struct json *json, unsigned depth, struct value *out);

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
			value_error_of(walk, FAULT_READING, MSG_ATTRIBUTE_NAME_EMPTY);
		if (member->name.n > ATTRIBUTE_NAME_SIZE_MAX)
			value_error_of(walk, FAULT_READING, MSG_ATTRIBUTE_NAME_TOO_LARGE);
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
 * AWS reads a parameter's number as Java's BigDecimal reads text, whose exponent and scale have 32 bits: beyond them it is no number, and just
 * within them the magnitude, in 32 bits too, turns around. Elsewhere the plain rule's error stays.
 */
static enum code parameter_number_error(struct str text, struct err *err)
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

		if (walk->is_parameter)
			err.code = parameter_number_error(text, &err);
		value_error_of(walk, FAULT_READING, err.code, STR_FMT "%s", STR_ARG(err.message), walk->is_parameter ? "" : end);
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
													    : scalar_error(walk, json, "String");
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

static void duplicates_error(struct walk *walk, enum type type, const struct json *json)
{
	struct buf list = buf_in(walk->arena);

	for (const struct json *child = json_first(json); child; child = json_next(child))
		buf_printf(&list, "%s" STR_FMT, list.n ? ", " : "", STR_ARG(json_string(walk->arena, child)));
	if (type == TYPE_SS)
		value_error_of(walk, FAULT_READING, MSG_SET_DUPLICATES, STR_ARG(buf_str(&list)));
	else if (type == TYPE_NS)
		value_error_of(walk, FAULT_READING, MSG_SET_DUPLICATES_NUMBER);
	else
		value_error_of(walk, FAULT_READING, MSG_SET_DUPLICATES_BINARY, STR_ARG(buf_str(&list)));
}

static enum code read_set(struct walk *walk, const struct json *json, enum type type, struct value *out)
{
	const char *kind = type == TYPE_SS ? "string" : type == TYPE_NS ? "number" : "binary";
	size_t n = 0;

	if (json_type(json) != JSON_ARRAY)
		return json_type(json) == JSON_OBJECT ? err_set(walk->err, MSG_TYPE_STRUCTURE) : err_set(walk->err, MSG_TYPE_FIELD);
	struct value *elements = ARENA_ARRAY(walk->arena, struct value, json_count(json));
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		if (json_type(child) == JSON_NULL) {
			value_error(walk, MSG_SET_NULL, kind);
			continue;
		}
		enum code code = read_scalar(walk, child, type_element(type), &elements[n++]);
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
	size_t n = 0;

	if (json_type(json) != JSON_ARRAY)
		return json_type(json) == JSON_OBJECT ? err_set(walk->err, MSG_TYPE_STRUCTURE) : err_set(walk->err, MSG_TYPE_FIELD);
	struct value *elements = ARENA_ARRAY(walk->arena, struct value, json_count(json));
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		enum code code = read_value(walk, child, depth, &elements[n++]);

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
		code = bind_boolean(walk, json, true, &boolean);
		if (code == OK && type == TYPE_NULL && !boolean.value)
			value_error_of(walk, json_type(json) == JSON_BOOLEAN ? FAULT_TRUTH : FAULT_CONTENT, MSG_VALUE_NULL);
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

/* `depth` counts maps and lists around the value, from 1 for a top-level attribute. */
static enum code read_value(struct walk *walk, const struct json *json, unsigned depth, struct value *out)
{
	unsigned found = 0;

	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION, "com.amazonaws.dynamodb.v20120810.AttributeValue");
	if (json_type(json) != JSON_OBJECT && json_type(json) != JSON_NULL)
		return err_set(walk->err, MSG_TYPE_PAYLOAD);
	*out = (struct value){.type = TYPE_NULL};
	if (depth > walk->depth_max) {
		value_error_of(walk, !walk->is_older && !is_deeper(json, DEPTH_NAMED - depth) ? FAULT_TRUTH : FAULT_CONTENT, MSG_VALUE_DEPTH);
		return OK;
	}
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		enum type type = type_of_name(json_name(walk->arena, child));

		if (type == TYPE_NONE || json_type(child) == JSON_NULL)
			continue;
		found++;
		enum code code = read_content(walk, child, type, depth, out);
		if (code != OK)
			return code;
	}
	if (found == 0)
		value_error_of(walk, FAULT_TYPES, MSG_VALUE_EMPTY);
	else if (found > 1)
		value_error_of(walk, FAULT_TYPES, MSG_VALUE_MANY);
	return OK;
}

/* AWS names the expression's value that an error is in, and tells of a start key that it is invalid; of items and keys only the error is told. */
static void tell_place(struct walk *walk, const struct shape *shape, const struct place *place)
{
	struct str message = walk->value_err->message;
	bool is_named = walk->fault < FAULT_TRUTH || (walk->fault == FAULT_READING && walk->is_older);
	bool is_start_key = str_eq(place->name, STR("ExclusiveStartKey"));

	if (shape->is_expression && is_named)
		(void)(err_set(walk->value_err, MSG_EXPRESSION_VALUE, STR_ARG(message), STR_ARG(walk->attribute)) == OK);
	else if (is_start_key && (walk->fault == FAULT_TYPES || (walk->is_scan && walk->fault != FAULT_READING)))
		(void)(err_set(walk->value_err, MSG_START_KEY_VALUE, STR_ARG(message)) == OK);
}

/* A value whose errors stay with it. */
static enum code bind_parameter(struct walk *walk, const struct json *json, struct parameter *out)
{
	struct err *others = walk->value_err;
	struct err own = err_in(walk->arena);

	walk->value_err = &own;
	walk->is_parameter = true;
	enum code code = read_value(walk, json, 1, &out->value);
	walk->is_parameter = false;
	out->code = own.code;
	out->message = own.message;
	walk->value_err = others;
	return code;
}

static enum code bind_item(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place,
			   const struct value **out)
{
	struct value *item = ARENA_NEW(walk->arena, struct value);

	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION_MAP, "com.amazonaws.dynamodb.v20120810.AttributeValue");
	if (json_type(json) != JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_FIELD);
	*out = item;
	bool had_error = walk->value_err->code != OK;
	/* One more level may be compared with than stored, where the older layer reads. */
	walk->depth_max = VALUE_DEPTH_MAX + (walk->is_older && shape->is_expression ? 1u : 0u);
	enum code code = read_map(walk, json, 1, item);
	walk->depth_max = VALUE_DEPTH_MAX;
	if (!had_error && walk->value_err->code != OK)
		tell_place(walk, shape, place);
	return code;
}

static enum code bind_structure(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, char *object)
{
	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION, str_printf(walk->arena, "com.amazonaws.dynamodb.v20120810.%s", shape->name).p);
	if (json_type(json) != JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_PAYLOAD);
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	for (size_t i = 0; i < shape->count; i++) {
		const struct shape_member *member = &shape->members[i];
		struct place here = {place, str_of(member->name), 0, true};
		const struct json *child = json_member(json, member->name);

		if (!child || json_type(child) == JSON_NULL) {
			if (member->is_required)
				constraint(walk, &here, STR_ABSENT, "Member must not be null");
			continue;
		}
		void *out = object + member->offset;
		if (member->shape->kind == SHAPE_STRUCTURE) {
			void *inner = arena_calloc(walk->arena, 1, member->shape->size);

			memcpy(out, &inner, sizeof(inner));
			out = inner;
		}
		enum code code = bind(walk, member->shape, child, &here, out);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The C types of all lists and of all maps begin alike. */
struct any_list {
	size_t n;
	char *v;
};

static enum code bind_list(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, void *out)
{
	struct any_list list = {0, NULL};
	size_t n = 0;

	if (json_type(json) != JSON_ARRAY)
		return json_type(json) == JSON_OBJECT ? err_set(walk->err, MSG_TYPE_STRUCTURE) : err_set(walk->err, MSG_TYPE_FIELD);
	list.n = json_count(json);
	list.v = arena_calloc(walk->arena, list.n ? list.n : 1, shape->size);
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	check_length(walk, shape, place, list.n ? STR("[...]") : STR("[]"), list.n);
	for (const struct json *child = json_first(json); child; child = json_next(child), n++) {
		struct place here = {place, STR_ABSENT, n + 1, false};

		if (json_type(child) == JSON_NULL && shape->element->kind != SHAPE_VALUE &&
		    shape->element->kind != SHAPE_PARAMETER) {
			constraint(walk, &here, STR_ABSENT, "Member must not be null");
			continue;
		}
		enum code code = bind(walk, shape->element, child, &here, list.v + n * shape->size);
		if (code != OK)
			return code;
	}
	memcpy(out, &list, sizeof(list));
	return OK;
}

/* Of a key given twice the last counts, as for every JSON object. The entries keep their order where there is none. */
static void keep_last(struct walk *walk, const struct shape *shape, struct any_list *map)
{
	struct member *members = ARENA_ARRAY(walk->arena, struct member, map->n);
	char *entries = map->v;

	for (size_t i = 0; i < map->n; i++) {
		memcpy(&members[i].name, entries + i * shape->size, sizeof(members[i].name));
		members[i].value.n = (uint32_t)i; /* where it stood */
	}
	size_t n = value_sort_last(members, map->n);
	if (n == map->n)
		return;
	*map = (struct any_list){n, arena_calloc(walk->arena, n, shape->size)};
	for (size_t i = 0; i < n; i++)
		memcpy(map->v + i * shape->size, entries + members[i].value.n * shape->size, shape->size);
}

static enum code bind_map(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, void *out)
{
	struct any_list map = {0, NULL};

	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION_MAP,
			       str_printf(walk->arena, "com.amazonaws.dynamodb.v20120810.%s", shape->element->name).p);
	if (json_type(json) != JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_FIELD);
	map.v = arena_calloc(walk->arena, json_count(json) + 1, shape->size);
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		struct str key = json_name(walk->arena, child);
		struct place here = {place, key, 0, false};
		char *entry = map.v + map.n * shape->size;

		if (json_type(child) == JSON_NULL)
			continue;
		memcpy(entry, &key, sizeof(key));
		check_length(walk, shape->key, place, key, utf8_utf16_length(key));
		enum code code = bind(walk, shape->element, child, &here, entry + shape->value_offset);
		if (code != OK)
			return code;
		map.n++;
	}
	keep_last(walk, shape, &map);
	check_length(walk, shape, place, map.n ? STR("{...}") : STR("{}"), map.n);
	memcpy(out, &map, sizeof(map));
	return OK;
}

/* As deep as the shapes, or as values may nest. */
static enum code bind(struct walk *walk, const struct shape *shape, const struct json *json, const struct place *place, void *out)
{
	switch (shape->kind) {
	case SHAPE_STRING:
		return bind_string(walk, shape, json, place, out);
	case SHAPE_ENUM:
		return bind_enum(walk, shape, json, place, out);
	case SHAPE_INTEGER:
	case SHAPE_LONG:
		return bind_integer(walk, shape, json, place, out);
	case SHAPE_TIMESTAMP:
		return bind_timestamp(walk, json, out);
	case SHAPE_BOOLEAN:
		return bind_boolean(walk, json, is_item_option(shape), out);
	case SHAPE_VALUE:
		return read_value(walk, json, 1, out);
	case SHAPE_PARAMETER:
		return bind_parameter(walk, json, out);
	case SHAPE_ITEM:
		return bind_item(walk, shape, json, place, out);
	case SHAPE_STRUCTURE:
		return bind_structure(walk, shape, json, place, out);
	case SHAPE_LIST:
		return bind_list(walk, shape, json, place, out);
	default:
		return bind_map(walk, shape, json, place, out);
	}
}

static enum code finish(struct walk *walk)
{
	if (walk->constraint_count > 0)
		return err_set(walk->err, MSG_CONSTRAINTS, walk->constraint_count, walk->constraint_count > 1 ? "s" : "",
			       STR_ARG(buf_str(&walk->constraints)));
	return OK;
}

enum code shape_bind(struct arena *arena, const struct shape *shape, const struct json *json, void **out, struct err *value_err,
		     struct err *err)
{
	struct walk walk = {
		.arena = arena, .err = err, .constraints = buf_in(arena), .value_err = value_err, .is_older = is_older(shape),
		.is_scan = shape == &shape_scan_input,
		.depth_max = VALUE_DEPTH_MAX,
	};

	*out = arena_calloc(arena, 1, shape->size);
	enum code code = bind_structure(&walk, shape, json, NULL, *out);
	return code != OK ? code : finish(&walk);
}

enum code shape_read_value(struct arena *arena, const struct json *json, struct value *out, struct err *err)
{
	struct err value_err = err_in(arena);
	struct walk walk = {
		.arena = arena, .err = err, .constraints = buf_in(arena), .value_err = &value_err, .depth_max = VALUE_DEPTH_MAX,
	};
	enum code code = read_value(&walk, json, 1, out);

	if (code == OK && value_err.code != OK)
		*err = value_err;
	return code != OK ? code : value_err.code;
}
