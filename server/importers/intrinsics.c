#include "server/importers/intrinsics_internal.h"

#include <stdlib.h>
#include <string.h>

#include "server/seed/json_text.h"

#define BYTES_MAX ((size_t)64 << 20) /* of all values of a template, as they lie in memory */
#define STEPS_MAX 1000000 /* values, functions and references that are looked at for a template */
#define STEP_BYTES 1024   /* of a text that is searched: a step */
#define NAMED_PLACES 1024 /* a power of two */

/*
 * A value that has a name: a parameter's default, a mapping's value, a resource's TableName, a
 * condition, what
 * ${self:} names, a variable of Fn::Sub. It is computed once, however often others refer to it.
 * Without names a template is a tree, so nothing else can be met twice.
 */

struct str intrinsics_fail(struct intrinsics *in, struct str what)
{
	if (!str_is_set(in->problem)) {
		in->problem = what;
		in->problem_at = in->at;
	}
	return STR("");
}

bool intrinsics_goes_on(struct intrinsics *in)
{
	if (in->steps == 0)
		in->used_before = arena_used(in->arena);
	if (!str_is_set(in->problem) &&
	    (++in->steps > STEPS_MAX || arena_used(in->arena) - in->used_before > BYTES_MAX))
		intrinsics_fail(in,
				str_printf(in->arena,
					   "values of more than %zu MB, or more than %d of them",
					   BYTES_MAX >> 20, STEPS_MAX));
	return !str_is_set(in->problem);
}

bool intrinsics_goes_past(struct intrinsics *in, size_t n)
{
	bool goes_on = intrinsics_goes_on(in);

	in->steps += n / STEP_BYTES;
	return goes_on;
}

/* The names from this value, which is under way, to itself. */
static void fail_in_circle(struct intrinsics *in, const struct named *begun)
{
	struct str path = begun->name;

	for (const struct named *at = in->current; at != begun; at = at->outer)
		path = str_printf(in->arena, STR_FMT " -> " STR_FMT, STR_ARG(at->name),
				  STR_ARG(path));
	intrinsics_fail(in, str_printf(in->arena, "a circle: " STR_FMT " -> " STR_FMT,
				       STR_ARG(begun->name), STR_ARG(path)));
}

static struct named **named_place(const struct intrinsics *in, const struct json *value)
{
	struct named **place = &in->named[((uintptr_t)value >> 4) % NAMED_PLACES];

	while (*place && ((*place)->value != value || (*place)->loop != in->loop))
		place = &(*place)->next;
	return place;
}

bool intrinsics_begin(struct intrinsics *in, struct str name, const struct json *value,
		      struct named **named)
{
	if (!in->named)
		in->named = ARENA_ARRAY(in->arena, struct named *, NAMED_PLACES);
	struct named **place = named_place(in, value);
	*named = *place;
	if (*place) {
		if (!(*place)->is_done)
			fail_in_circle(in, *place);
		return false;
	}
	*named = *place = ARENA_NEW(in->arena, struct named);
	**named = (struct named){
		.outer = in->current, .value = value, .loop = in->loop, .name = name};
	in->current = *named;
	return true;
}

void intrinsics_end(struct intrinsics *in, struct named *named)
{
	named->is_done = true;
	in->current = named->outer;
}

bool intrinsics_is_begun(const struct intrinsics *in, const struct json *value)
{
	const struct named *named = in->named ? *named_place(in, value) : NULL;

	return named && !named->is_done;
}

const struct json *intrinsics_named(struct intrinsics *in, struct str name,
				    const struct json *value, unsigned depth)
{
	struct named *named;

	if (intrinsics_begin(in, name, value, &named)) {
		named->tree = intrinsics_tree(in, value, depth);
		intrinsics_end(in, named);
	}
	return named->tree;
}

/* A value without functions as text. */
static struct str plain_text(struct intrinsics *in, const struct json *tree)
{
	struct json_out out = json_out_in(in->arena);

	if (!tree)
		return STR("");
	if (json_type(tree) == JSON_STRING)
		return json_string(in->arena, tree);
	if (json_type(tree) == JSON_OBJECT || json_type(tree) == JSON_ARRAY)
		return intrinsics_fail(in, STR("a list or map where a text belongs"));
	json_text_write(&out, in->arena, tree);
	return json_out_str(&out);
}

struct str intrinsics_text_named(struct intrinsics *in, struct str name, const struct json *value,
				 unsigned depth)
{
	return plain_text(in, intrinsics_named(in, name, value, depth));
}

struct str intrinsics_text(struct intrinsics *in, const struct json *value, unsigned depth)
{
	bool is_plain = value && json_type(value) == JSON_STRING && !in->is_serverless;

	if (is_plain && !str_contains(json_string(in->arena, value), STR("{{resolve:")) &&
	    intrinsics_goes_on(in))
		return json_string(in->arena, value);
	return plain_text(in, intrinsics_tree(in, value, depth));
}

/* Without functions. */
static void write_value(struct intrinsics *in, struct written *to, const struct json *value,
			unsigned depth);

/* What was written, as a tree. NULL: there is a problem. */
static const struct json *parse_written(struct intrinsics *in, const struct written *to)
{
	struct err err = err_in(in->arena);
	const struct json *tree = NULL;

	if (str_is_set(in->problem))
		return NULL;
	if (json_parse(in->arena, json_out_str(&to->out), &tree, &err) != OK) {
		intrinsics_fail(in, err.message);
		return NULL;
	}
	source_locate_by(in->source, tree, to->origins, to->n);
	return tree;
}

const struct json *intrinsics_tree(struct intrinsics *in, const struct json *value, unsigned depth)
{
	struct written to = {.out = json_out_in(in->arena)};

	value = functions_reduce(in, value, depth);
	if (!value || depth > DEPTH_MAX)
		intrinsics_fail(in, STR("functions nested too deeply"));
	else
		write_value(in, &to, value, depth);
	return parse_written(in, &to);
}

/* Of the value that is written next. */
static void note_origin(struct intrinsics *in, struct written *to)
{
	to->origins = arena_room(in->arena, to->origins, to->n, sizeof(*to->origins));
	to->origins[to->n++] = in->at;
}

void intrinsics_write_text(struct intrinsics *in, struct written *to, struct str text)
{
	note_origin(in, to);
	json_out_string(&to->out, text);
}

static struct origin go_to(struct intrinsics *in, const struct json *value)
{
	struct origin before = in->at, at = source_origin(in->source, value);

	if (at.path)
		in->at = at;
	return before;
}

void intrinsics_write_tree(struct intrinsics *in, struct written *to, const struct json *tree)
{
	bool is_object = json_type(tree) == JSON_OBJECT;
	struct origin before = go_to(in, tree);

	note_origin(in, to);
	if (!is_object && json_type(tree) != JSON_ARRAY) {
		json_text_write(&to->out, in->arena, tree);
		in->at = before;
		return;
	}
	json_out_open(&to->out, is_object ? '{' : '[');
	for (const struct json *child = json_first(tree); child && intrinsics_goes_on(in);
	     child = json_next(child)) {
		if (is_object)
			json_out_name(&to->out, json_name(in->arena, child));
		intrinsics_write_tree(in, to, child);
	}
	json_out_close(&to->out, is_object ? '}' : ']');
	in->at = before;
}

/* Object or array, without members that are AWS::NoValue. */
static void write_children(struct intrinsics *in, struct written *to, const struct json *value,
			   unsigned depth)
{
	bool is_object = json_type(value) == JSON_OBJECT;

	note_origin(in, to);
	json_out_open(&to->out, is_object ? '{' : '[');
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		const struct json *reduced = functions_reduce(in, child, depth);

		if (functions_is_no_value(in, reduced))
			continue;
		if (is_object && str_starts_with(json_name(in->arena, child), STR("Fn::")))
			intrinsics_fail(in, json_name(in->arena, child));
		if (is_object)
			json_out_name(&to->out, json_name(in->arena, child));
		write_value(in, to, reduced, depth + 1);
	}
	json_out_close(&to->out, is_object ? '}' : ']');
}

static void write_value(struct intrinsics *in, struct written *to, const struct json *value,
			unsigned depth)
{
	const struct json *argument = NULL;
	struct origin before = go_to(in, value);
	struct str function = functions_of(in, value, &argument);

	if (depth > DEPTH_MAX)
		intrinsics_fail(in, STR("functions nested too deeply"));
	if (!intrinsics_goes_on(in)) {
		note_origin(in, to);
		json_out_null(&to->out);
	} else if (str_is_set(function)) {
		functions_write(in, to, function, argument, depth);
	} else if (json_type(value) == JSON_STRING && in->is_serverless) {
		variables_write(in, to, json_string(in->arena, value), depth);
	} else if (json_type(value) == JSON_STRING &&
		   str_contains(json_string(in->arena, value), STR("{{resolve:"))) {
		intrinsics_write_text(in, to, intrinsics_fail(in, json_string(in->arena, value)));
	} else if (json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY) {
		write_children(in, to, value, depth);
	} else {
		note_origin(in, to);
		json_text_write(&to->out, in->arena, value);
	}
	in->at = before;
}

struct str intrinsics_given(const struct intrinsics *in, struct str name)
{
	for (size_t i = 0; i < in->parameter_count; i++) {
		if (!str_eq(in->parameters[i].name, name))
			continue;
		if (in->parameters[i].is_used)
			*in->parameters[i].is_used = true;
		return in->parameters[i].value;
	}
	return STR_ABSENT;
}

const struct json *intrinsics_element(const struct json *array, size_t i)
{
	const struct json *at = array && json_type(array) == JSON_ARRAY ? json_first(array) : NULL;

	while (at && i-- > 0)
		at = json_next(at);
	return at;
}

const struct json *intrinsics_member(const struct json *object, struct str name)
{
	return object && json_type(object) == JSON_OBJECT ? json_find(object, name) : NULL;
}

const struct json *intrinsics_peel(struct intrinsics *in, const struct json *value)
{
	for (unsigned n = 0; value && in->is_serverless && json_type(value) == JSON_STRING; n++) {
		const struct json *node = NULL;

		in->peels++;
		if (n > DEPTH_MAX || in->peels > DEPTH_MAX)
			intrinsics_fail(in, STR("a circle of variables"));
		else
			node = variables_node(in, json_string(in->arena, value), 0);
		in->peels--;
		if (str_is_set(in->problem))
			return NULL;
		if (!node)
			break;
		value = node;
	}
	return value;
}

const struct json *intrinsics_section(struct intrinsics *in, const char *section, struct str name)
{
	const struct json *found = NULL;

	for (size_t i = in->template_count; i > 0 && !found; i--) {
		const struct json *whole = intrinsics_peel(in, in->templates[i - 1]);
		const struct json *part =
			whole ? intrinsics_peel(in, intrinsics_member(whole, str_of(section)))
			      : NULL;

		found = intrinsics_peel(in, intrinsics_member(part, name));
	}
	return found;
}

const struct json *intrinsics_resolve(struct intrinsics *in, const struct json *value)
{
	value = functions_reduce(in, value, 0);
	return functions_is_no_value(in, value) ? NULL : intrinsics_tree(in, value, 0);
}

bool intrinsics_list(struct intrinsics *in, const struct json *value, struct str **texts, size_t *n)
{
	const struct json *tree = intrinsics_tree(in, value, 1);

	*texts = NULL;
	*n = 0;
	if (tree && json_type(tree) != JSON_ARRAY)
		intrinsics_fail(in, STR("no list"));
	if (!tree || json_type(tree) != JSON_ARRAY)
		return false;
	for (const struct json *at = json_first(tree); at; at = json_next(at)) {
		*texts = arena_room(in->arena, *texts, *n, sizeof(**texts));
		(*texts)[(*n)++] = plain_text(in, at);
	}
	return !str_is_set(in->problem);
}

static void write_merged(struct intrinsics *in, struct written *to, const struct json *under,
			 const struct json *over)
{
	struct origin before = go_to(in, over);

	if (json_type(under) != JSON_OBJECT || json_type(over) != JSON_OBJECT) {
		intrinsics_write_tree(in, to, over);
		in->at = before;
		return;
	}
	note_origin(in, to);
	json_out_open(&to->out, '{');
	for (const struct json *at = json_first(under); at; at = json_next(at)) {
		struct str name = json_name(in->arena, at);
		const struct json *own = json_find(over, name);

		json_out_name(&to->out, name);
		write_merged(in, to, at, own ? own : at);
	}
	for (const struct json *at = json_first(over); at; at = json_next(at)) {
		if (json_find(under, json_name(in->arena, at)))
			continue;
		json_out_name(&to->out, json_name(in->arena, at));
		intrinsics_write_tree(in, to, at);
	}
	json_out_close(&to->out, '}');
	in->at = before;
}

const struct json *intrinsics_merge(struct intrinsics *in, const struct json *under,
				    const struct json *over)
{
	struct written to = {.out = json_out_in(in->arena)};

	if (!under || !over)
		return under ? under : over;
	write_merged(in, &to, under, over);
	return parse_written(in, &to);
}

struct str intrinsics_resource_name(struct intrinsics *in, struct str id)
{
	return functions_resource_name(in, id);
}

bool intrinsics_holds(struct intrinsics *in, struct str condition)
{
	return functions_holds(in, condition);
}

struct str intrinsics_substitute(struct intrinsics *in, struct str text)
{
	return functions_substitute(in, text);
}
