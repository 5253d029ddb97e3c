#include "protocol/wire/shape_copy.h"

#include <errno.h>
#include <stdlib.h>

#include "protocol/wire/shape_tables.h"

struct copying {
	struct json_out *out;
	struct arena *arena;
	void (*taken)(void *context, const struct json *value);
	void *context;
};

static void copy_value(const struct copying *copying, const struct shape *shape,
		       const struct json *value);

const struct shape *shape_copy_member(const struct shape *shape, struct str name)
{
	for (size_t i = 0; shape->kind == SHAPE_STRUCTURE && i < shape->count; i++) {
		if (str_eq(str_of(shape->members[i].name), name))
			return shape->members[i].shape;
	}
	return NULL;
}

static void copy_children(const struct copying *copying, const struct shape *shape,
			  const struct json *value)
{
	bool is_object = json_type(value) == JSON_OBJECT;
	bool is_structure = shape && shape->kind == SHAPE_STRUCTURE;
	const struct shape *inner = shape && !is_structure ? shape->element : NULL;

	json_out_open(copying->out, is_object ? '{' : '[');
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		struct str name = is_object ? json_name(copying->arena, child) : STR("");

		if (is_object && is_structure)
			inner = shape_copy_member(shape, name);
		if (is_object && is_structure && !inner)
			continue;
		if (is_object)
			json_out_name(copying->out, name);
		copy_value(copying, inner, child);
	}
	json_out_close(copying->out, is_object ? '}' : ']');
}

/* "5" where a number belongs, "true" where a truth value does. */
static bool copy_word(const struct copying *copying, const struct shape *shape, struct str word)
{
	char *end;

	if (shape->kind == SHAPE_BOOLEAN &&
	    (str_eq_nocase(word, STR("true")) || str_eq_nocase(word, STR("false")))) {
		json_out_boolean(copying->out, str_eq_nocase(word, STR("true")));
		return true;
	}
	if ((shape->kind != SHAPE_INTEGER && shape->kind != SHAPE_LONG) || word.n == 0)
		return false;
	errno = 0;
	long long number = strtoll(str_copy(copying->arena, word).p, &end, 10);
	if (*end != '\0' || errno != 0)
		return false;
	json_out_integer(copying->out, number);
	return true;
}

static void copy_number(const struct copying *copying, const struct shape *shape,
			const struct json *value)
{
	struct json_out text = json_out_in(copying->arena);
	bool is_word = shape && (shape->kind == SHAPE_STRING || shape->kind == SHAPE_ENUM);
	struct json_out *out = is_word ? &text : copying->out;
	int64_t integer;

	if (json_integer(value, &integer))
		json_out_integer(out, integer);
	else
		json_out_double(out, json_number(value));
	if (is_word)
		json_out_string(copying->out, json_out_str(&text));
}

static void copy_truth(const struct copying *copying, const struct shape *shape, bool truth)
{
	if (shape && (shape->kind == SHAPE_STRING || shape->kind == SHAPE_ENUM))
		json_out_string(copying->out, truth ? STR("true") : STR("false"));
	else
		json_out_boolean(copying->out, truth);
}

/* As deep as json_parse lets a text be. */
static void copy_value(const struct copying *copying, const struct shape *shape,
		       const struct json *value)
{
	copying->taken(copying->context, value);
	switch (json_type(value)) {
	case JSON_NULL:
		json_out_null(copying->out);
		break;
	case JSON_BOOLEAN:
		copy_truth(copying, shape, json_boolean(value));
		break;
	case JSON_NUMBER:
		copy_number(copying, shape, value);
		break;
	case JSON_STRING:
		if (!shape || !copy_word(copying, shape, json_string(copying->arena, value)))
			json_out_string(copying->out, json_string(copying->arena, value));
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		copy_children(copying, shape, value);
		break;
	}
}

void shape_copy(struct json_out *out, struct arena *arena, const struct shape *shape,
		const struct json *value, void (*taken)(void *context, const struct json *value),
		void *context)
{
	const struct copying copying = {
		.out = out, .arena = arena, .taken = taken, .context = context};

	copy_value(&copying, shape, value);
}
