#include "protocol/wire/shape_walk.h"

#include "core/messages.h"
#include "protocol/wire/messages.h"

#define DEPTH_OLDER 63 /* from this depth on the newer layer leaves a value to the older one */

static enum code read_typed_value(struct walk *walk, const struct json *json, unsigned depth,
				  struct value *out);

/* AWS: an empty name in the item itself is reported before errors inside its values; one inside a
 * value gives way to its depth. */
static void refuse_empty_name(struct walk *walk, unsigned depth)
{
	bool is_reported = walk->value_err->code == OK || (depth == 1 && !walk->is_earlier);

	if (!is_reported)
		return;
	walk->value_err->code = OK;
	shape_value_error(walk, MSG_ATTRIBUTE_NAME_EMPTY);
	walk->is_weak = walk->is_deep = depth > 1;
	if (depth == 1)
		walk->attribute = STR("");
}

static enum code read_map(struct walk *walk, const struct json *json, unsigned depth,
			  struct value *out)
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
			shape_value_error(walk, MSG_ATTRIBUTE_NAME_TOO_LARGE);
		enum code code = read_typed_value(walk, child, depth, &member->value);
		if (code != OK)
			return code;
		count++;
	}
	count = value_sort_last(
		members,
		count); /* of a member given twice the last counts, as for every JSON object */
	*out = (struct value){.type = TYPE_M, .n = (uint32_t)count, .members = members};
	return OK;
}

static enum code read_value_list(struct walk *walk, const struct json *json, unsigned depth,
				 struct value *out)
{
	struct value *elements;
	size_t n = 0;
	enum code code = shape_make_elements(walk, json, &elements);

	if (code != OK)
		return code;
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		code = read_typed_value(walk, child, depth, &elements[n++]);
		if (code != OK)
			return code;
	}
	*out = (struct value){.type = TYPE_L, .n = (uint32_t)n, .elements = elements};
	return OK;
}

/* The content of {"S": ...} by its type. */
static enum code read_content(struct walk *walk, const struct json *json, enum type type,
			      unsigned depth, struct value *out)
{
	struct opt_bool boolean;
	enum code code;

	if (type_is_scalar_key(type))
		return shape_read_scalar(walk, json, type, out);
	if (type_is_set(type))
		return shape_read_set(walk, json, type, out);
	if (type == TYPE_NULL || type == TYPE_BOOL) {
		code = shape_read_boolean(walk, json, true, &boolean);
		if (code != OK)
			return code;
		if (type == TYPE_NULL && !boolean.value)
			shape_value_error(walk, MSG_VALUE_NULL);
		*out = ((struct value){.type = (uint8_t)type,
				       .boolean = type == TYPE_BOOL && boolean.value});
		return OK;
	}
	if (type == TYPE_L)
		return read_value_list(walk, json, depth + 1, out);
	if (json_type(json) == JSON_OBJECT)
		return read_map(walk, json, depth + 1, out);
	return json_type(json) == JSON_ARRAY
		       ? err_set(walk->err, MSG_TYPE_COLLECTION_MAP,
				 "com.amazonaws.dynamodb.v20120810.AttributeValue")
		       : err_set(walk->err, MSG_TYPE_FIELD);
}

/* Whether a JSON value has more than `levels` of attribute values below it. */
static bool is_deeper(const struct json *json, unsigned levels)
{
	for (const struct json *child = json_first(json); child;
	     child = json_next(child)) { /* {"L": */
		for (const struct json *inner = json_first(child); inner;
		     inner = json_next(inner)) {
			if (levels == 0 || is_deeper(inner, levels - 1))
				return true;
		}
	}
	return false;
}

/* AWS: of a value with several types an empty set is reported first, then a number, then a NULL
 * that is false. */
static unsigned rank_of(enum type type)
{
	return type_is_set(type) ? 0 : type == TYPE_N ? 1 : type == TYPE_NULL ? 3 : 2;
}

/* A value that may have no type, or several, some of them null. */
static enum code read_types(struct walk *walk, const struct json *json, unsigned depth,
			    struct value *out)
{
	unsigned found = 0;

	for (unsigned rank = 0; rank < 4; rank++) {
		for (const struct json *child = json_first(json); child; child = json_next(child)) {
			enum type type = type_of_name(json_name(walk->arena, child));

			if (type == TYPE_NONE || json_type(child) == JSON_NULL ||
			    rank_of(type) != rank)
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
		shape_value_error(walk, MSG_VALUE_MANY);
	else if (walk->input ==
		 &shape_search_vectors_input) /* serde.h has refused a value that has none */
		shape_value_error(walk, MSG_VALUE_INTERNAL);
	else
		shape_value_error(walk, MSG_VALUE_EMPTY);
	return OK;
}

static void refuse_value_depth(struct walk *walk)
{
	bool is_reported = walk->value_err->code == OK || walk->is_weak;

	if (!is_reported)
		return;
	walk->value_err->code = OK;
	shape_value_error(walk, MSG_VALUE_DEPTH);
	walk->is_deep = true;
}

/* `depth` counts maps and lists around the value, from 1 for a top-level attribute. */
static enum code read_typed_value(struct walk *walk, const struct json *json, unsigned depth,
				  struct value *out)
{
	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION,
			       "com.amazonaws.dynamodb.v20120810.AttributeValue");
	if (json_type(json) != JSON_OBJECT && json_type(json) != JSON_NULL)
		return err_set(walk->err, MSG_TYPE_PAYLOAD);
	*out = (struct value){.type = TYPE_NULL};
	if (depth > walk->depth_max) {
		walk->is_unread = walk->is_unread || is_deeper(json, DEPTH_OLDER - depth);
		refuse_value_depth(walk);
		return OK;
	}
	const struct json *child = json_first(json);
	enum type type = child ? type_of_name(json_name(walk->arena, child)) : TYPE_NONE;

	if (type != TYPE_NONE && !json_next(child) && json_type(child) != JSON_NULL)
		return read_content(walk, child, type, depth, out);
	return read_types(walk, json, depth, out);
}

/* The older layer names the expression's value that an error is in, and says that a start key is
 * invalid. */
static void name_place(struct walk *walk, const struct shape *shape)
{
	struct str message = walk->value_err->message;

	if (!walk->is_older)
		return;
	if (shape->traits & EXPRESSION)
		(void)(err_set(walk->value_err, MSG_EXPRESSION_VALUE, STR_ARG(message),
			       STR_ARG(walk->attribute)) == OK);
	else if (shape->traits & IS_START_KEY && !walk->is_reading)
		(void)(err_set(walk->value_err, MSG_START_KEY_VALUE, STR_ARG(message)) == OK);
}

/* AWS: a value that is only compared may be one level deeper in the older layer. */
enum code shape_read_attribute(struct walk *walk, const struct json *json, struct value *out)
{
	walk->depth_max = VALUE_DEPTH_MAX + (walk->is_older ? 1u : 0u);
	enum code code = read_typed_value(walk, json, 1, out);
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
	if (code == OK && own.code == OK && out->value.type == TYPE_N)
		out->number = json_string(walk->arena, json_member(json, "N"));
	walk->value_err = others;
	return code;
}

/* The values of an action's expressions. Their errors come before a too deep value in its item or
 * key. */
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

enum code shape_read_item(struct walk *walk, const struct shape *shape, const struct json *json,
			  const struct value **out)
{
	struct value *item = ARENA_NEW(walk->arena, struct value);

	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION_MAP,
			       "com.amazonaws.dynamodb.v20120810.AttributeValue");
	if (json_type(json) != JSON_OBJECT)
		return err_set(walk->err, MSG_TYPE_FIELD);
	walk->is_earlier = walk->value_err->code != OK;
	walk->depth_max =
		VALUE_DEPTH_MAX + (walk->is_older && shape->traits & EXPRESSION ? 1u : 0u);
	enum code code = walk->actions && shape->traits & EXPRESSION
				 ? read_action_values(walk, json, item)
				 : read_map(walk, json, 1, item);
	walk->depth_max = VALUE_DEPTH_MAX;
	if (!walk->is_earlier && walk->value_err->code != OK)
		name_place(walk, shape);
	return RESULT(code, out, item);
}
