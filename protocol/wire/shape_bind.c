#include "protocol/wire/shape_bind.h"

#include "core/utf8.h"
#include "protocol/wire/echo.h"
#include "protocol/wire/messages.h"
#include "protocol/wire/shape_walk.h"

static enum code bind_members(struct walk *walk, const struct shape *shape, const struct json *json,
			      const struct place *place, void *out);

static enum code bind_string(struct walk *walk, const struct shape *shape, const struct json *json,
			     const struct place *place, struct str *out)
{
	if (json_type(json) != JSON_STRING)
		return shape_scalar_error(walk, json, "String");
	*out = json_string(walk->arena, json);
	shape_check_text(walk, shape, place, *out);
	return OK;
}

static enum code bind_enum(struct walk *walk, const struct shape *shape, const struct json *json,
			   const struct place *place, int *out)
{
	if (json_type(json) != JSON_STRING)
		return shape_scalar_error(walk, json, "String");
	struct str text = json_string(walk->arena, json);
	for (size_t i = 0; i < shape->count; i++) {
		if (str_eq(text, str_of(shape->texts[i]))) {
			*out = (int)i + 1;
			walk->is_untaken = walk->is_untaken ||
					   (shape->taken && !(shape->taken >> (i + 1) & 1));
			return OK;
		}
	}
	if (!walk->is_older && shape->traits & CHECKED_LATER) {
		*out = (int)shape->count + 1;
		return OK;
	}
	shape_check_enum(walk, shape, place, text);
	return OK;
}

static enum code bind_integer(struct walk *walk, const struct shape *shape, const struct json *json,
			      const struct place *place, struct opt_int *out)
{
	if (json_type(json) != JSON_NUMBER)
		return shape_scalar_error(walk, json,
					  shape->kind == SHAPE_INTEGER ? "Integer" : "Long");
	double number = json_number(json);
	double bound = shape->kind == SHAPE_INTEGER
			       ? 2147483647.0
			       : 9007199254740992.0; /* AWS saturates, fractions are cut */
	double low = shape->kind == SHAPE_INTEGER ? -2147483648.0 : -bound;
	out->is_set = true;
	out->value = number > bound ? (int64_t)bound
		     : number < low ? (int64_t)low
				    : (int64_t)number;
	if ((double)out->value != number)
		walk->is_unread = true;
	shape_check_integer(walk, shape, place, out->value);
	return OK;
}

/*
 * Unix time in seconds with a fraction, cut to whole milliseconds, so that "now" of a clock with
 * microseconds is not later than ours. 0.001 ms makes up for what the fraction loses in conversion.
 */
static enum code bind_timestamp(struct walk *walk, const struct json *json, struct opt_int *out)
{
	double bound = 9007199254740992.0;

	if (json_type(json) != JSON_NUMBER)
		return shape_scalar_error(walk, json, "Date");
	double ms = json_number(json) * 1000 + 0.001;
	*out = (struct opt_int){true, ms > bound    ? (int64_t)bound
				      : ms < -bound ? (int64_t)-bound
						    : (int64_t)ms - (ms < (double)(int64_t)ms)};
	return OK;
}

static enum code bind_double(struct walk *walk, const struct json *json, struct opt_double *out)
{
	if (json_type(json) != JSON_NUMBER)
		return shape_scalar_error(walk, json, "Double");
	*out = (struct opt_double){true, json_number(json)};
	return OK;
}

static void refuse_null(struct walk *walk, const struct place *place)
{
	walk->is_unread = true;
	shape_breach(walk, place, STR_ABSENT, "Member must not be null");
}

/* AWS: a scalar in the place of a structure is a wrong field where a structure names it, and a
 * wrong value in a list or a map. */
static enum code refuse_scalar(struct walk *walk, const struct place *place)
{
	return place && place->is_member ? err_set(walk->err, MSG_TYPE_FIELD)
					 : err_set(walk->err, MSG_TYPE_PAYLOAD);
}

static enum code bind_structure(struct walk *walk, const struct shape *shape,
				const struct json *json, const struct place *place, char *object)
{
	if (json_type(json) == JSON_ARRAY)
		return err_set(
			walk->err, MSG_TYPE_COLLECTION,
			str_printf(walk->arena, "com.amazonaws.dynamodb.v20120810.%s", shape->name)
				.p);
	if (json_type(json) != JSON_OBJECT)
		return refuse_scalar(walk, place);
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	for (size_t i = 0; i < shape->count; i++) {
		const struct shape_member *member = &shape->members[i];
		struct place here = {place, {member->name, member->name_size}, 0, true};
		const struct json *child = json_find(json, here.name);

		if (!child || json_type(child) == JSON_NULL) {
			if (member->is_required)
				refuse_null(walk, &here);
			continue;
		}
		void *out = object + member->offset;
		if (member->shape->kind == SHAPE_STRUCTURE) {
			void *inner = arena_calloc(walk->arena, 1, member->shape->size);

			memcpy(out, &inner, sizeof(inner));
			out = inner;
		}
		enum code code = bind_members(walk, member->shape, child, &here, out);
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

static bool is_map_value(const struct place *place)
{
	return !place->is_member && str_is_set(place->name);
}

static bool has_right_count(const struct shape *shape, size_t n)
{
	return (shape->max == NO_MAX || n <= (size_t)shape->max) &&
	       (shape->min == NO_MIN || n >= (size_t)shape->min);
}

/* Of a list or map with too many elements AWS shows all. */
static void check_count(struct walk *walk, const struct shape *shape, const struct json *json,
			const struct place *place, size_t n)
{
	if (has_right_count(shape, n))
		return;
	struct str empty = shape->kind == SHAPE_LIST ? STR("[]") : STR("{}");

	shape_check_length(walk, shape, place, n ? echo_java(walk->arena, shape, json) : empty, n);
}

/* The list of a transaction's actions. One that is too long is refused before any of them. */
static bool is_of_actions(const struct walk *walk, const struct shape *shape,
			  const struct place *place, size_t n)
{
	return walk->input->traits & OF_ACTIONS && !place->parent && n > 0 &&
	       has_right_count(shape, n);
}

/* An element, with errors of values of its own where it is an action. */
static enum code bind_element(struct walk *walk, const struct shape *shape, const struct json *json,
			      const struct place *place, void *out)
{
	struct err *others = walk->value_err;

	if (!walk->actions || place->parent->parent)
		return bind_members(walk, shape, json, place, out);
	struct action_err *action = &walk->actions[place->element - 1];

	action->err = err_in(walk->arena);
	walk->value_err = &action->err;
	walk->is_weak = walk->is_deep = false;
	enum code code = bind_members(walk, shape, json, place, out);
	action->is_deep = walk->is_deep;
	walk->value_err = others;
	return code;
}

static enum code bind_list(struct walk *walk, const struct shape *shape, const struct json *json,
			   const struct place *place, void *out)
{
	struct any_list list = {0, NULL};
	size_t n = 0;

	if (json_type(json) != JSON_ARRAY)
		return json_type(json) == JSON_OBJECT ? err_set(walk->err, MSG_TYPE_STRUCTURE)
						      : err_set(walk->err, MSG_TYPE_FIELD);
	list.n = json_count(json);
	list.v = arena_calloc(walk->arena, list.n ? list.n : 1, shape->size);
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	if (!is_map_value(place)) /* bind_map checks those */
		check_count(walk, shape, json, place, list.n);
	if (is_of_actions(walk, shape, place, list.n))
		walk->actions = ARENA_ARRAY(walk->arena, struct action_err, list.n);
	for (const struct json *child = json_first(json); child; child = json_next(child), n++) {
		struct place here = {place, STR_ABSENT, n + 1, false};

		if (json_type(child) == JSON_NULL && shape->element->kind != SHAPE_VALUE &&
		    shape->element->kind != SHAPE_PARAMETER) {
			refuse_null(walk, &here);
			continue;
		}
		enum code code =
			bind_element(walk, shape->element, child, &here, list.v + n * shape->size);
		if (code != OK)
			return code;
	}
	memcpy(out, &list, sizeof(list));
	return OK;
}

/* Of a key given twice the last counts, as for every JSON object. The entries keep their order
 * where there is none. */
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
		memcpy(map->v + i * shape->size, entries + members[i].value.n * shape->size,
		       shape->size);
}

static enum code bind_map(struct walk *walk, const struct shape *shape, const struct json *json,
			  const struct place *place, void *out)
{
	struct any_list map = {0, NULL};
	struct broken broken = {false, false};

	if (json_type(json) == JSON_ARRAY)
		return err_set(walk->err, MSG_TYPE_COLLECTION_MAP,
			       str_printf(walk->arena, "com.amazonaws.dynamodb.v20120810.%s",
					  shape->element->name)
				       .p);
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
		if (shape->key->pattern)
			broken.key = broken.key || !shape_is_key(shape->key, key);
		else
			shape_check_length(walk, shape->key, place, key, utf8_length(key));
		enum code code = bind_members(walk, shape->element, child, &here,
					      entry + shape->value_offset);
		if (code != OK)
			return code;
		if (shape->element->kind == SHAPE_LIST)
			broken.value =
				broken.value || !has_right_count(shape->element, json_count(child));
		map.n++;
	}
	keep_last(walk, shape, &map);
	check_count(walk, shape, json, place, map.n);
	shape_check_map(walk, shape, place, json, broken);
	memcpy(out, &map, sizeof(map));
	return OK;
}

/* As deep as the shapes, or as values may nest. */
static enum code bind_members(struct walk *walk, const struct shape *shape, const struct json *json,
			      const struct place *place, void *out)
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
	case SHAPE_DOUBLE:
		return bind_double(walk, json, out);
	case SHAPE_BOOLEAN:
		return shape_read_boolean(walk, json, shape->traits & TAKES_WORDS, out);
	case SHAPE_VALUE:
		if (place->is_member && json_type(json) >= JSON_BOOLEAN &&
		    json_type(json) <= JSON_STRING)
			return refuse_scalar(walk, place);
		return shape_read_attribute(walk, json, out);
	case SHAPE_PARAMETER:
		return shape_read_parameter(walk, json, out);
	case SHAPE_ITEM:
		return shape_read_item(walk, shape, json, out);
	case SHAPE_STRUCTURE:
		return bind_structure(walk, shape, json, place, out);
	case SHAPE_LIST:
		return bind_list(walk, shape, json, place, out);
	default:
		return bind_map(walk, shape, json, place, out);
	}
}

static enum code walk_request(struct arena *arena, const struct shape *shape,
			      const struct json *json, struct shape_bound *out, bool *is_unread,
			      struct err *err)
{
	struct walk walk = {
		.arena = arena, .err = err, .input = shape, .value_err = &out->value_err,
		.is_older = out->is_older, .depth_max = VALUE_DEPTH_MAX,
	};

	out->input = arena_calloc(arena, 1, shape->size);
	enum code code = bind_structure(&walk, shape, json, NULL, out->input);
	*is_unread = walk.is_unread;
	out->actions = walk.actions;
	return code == OK && (out->is_older || !walk.is_unread)
		       ? shape_check_all(&walk, &out->late_err)
		       : code;
}

enum code shape_bind(struct arena *arena, const struct shape *shape, enum surface surface,
		     const struct json *json, struct shape_bound *out, struct err *err)
{
	const struct shape_bound nothing = {.value_err = err_in(arena),
					    .late_err = err_in(arena),
					    .is_older = surface == SURFACE_OLDER};
	struct shape_bound bound = nothing;
	bool is_unread;

	enum code code = walk_request(arena, shape, json, &bound, &is_unread, err);
	if (code != OK)
		return code;
	if (!bound.is_older && is_unread && surface != SURFACE_SEARCH) {
		bound = nothing;
		bound.is_older = true;
		code = walk_request(arena, shape, json, &bound, &is_unread, err);
	}
	return RESULT(code, out, bound);
}

bool shape_has(const struct shape *shape, struct str name)
{
	for (size_t i = 0; i < shape->count; i++) {
		if (str_eq(str_of(shape->members[i].name), name))
			return true;
	}
	return false;
}
