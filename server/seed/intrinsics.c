#include "server/seed/intrinsics.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

#define DEPTH_MAX 64        /* of functions within functions and of references that lead to others */
#define VARIABLES_MAX 1000  /* of serverless.yml, in one string */
#define BYTES_MAX ((size_t)64 << 20) /* of all values of a template, as they lie in memory */
#define STEPS_MAX 1000000   /* values, functions and references that are looked at for a template */
#define NAMED_PLACES 1024   /* a power of two */

/*
 * A value that has a name: a parameter's default, a mapping's value, a resource's TableName, a condition, what
 * ${self:} names, a variable of Fn::Sub. It is computed once, however often others refer to it. Without names a
 * template is a tree, so nothing else can be met twice.
 */
struct named {
	struct named *next;         /* in its place */
	const struct named *outer;  /* under way when this one began */
	const struct json *value;
	struct str name;
	bool is_done;
	bool holds;                 /* of a condition */
	struct str text;            /* of all others */
};

static void add(struct intrinsics *in, struct json_out *out, const struct json *value, unsigned depth);
static struct str text_of(struct intrinsics *in, const struct json *value, unsigned depth);

static struct str fail(struct intrinsics *in, struct str what)
{
	if (!str_is_set(in->problem))
		in->problem = what;
	return STR("");
}

/* Counts a step. False: nothing more is computed, for there is a problem. */
static bool may_go_on(struct intrinsics *in)
{
	if (in->steps == 0)
		in->used_before = arena_used(in->arena);
	if (!str_is_set(in->problem) && (++in->steps > STEPS_MAX || arena_used(in->arena) - in->used_before > BYTES_MAX))
		fail(in, str_printf(in->arena, "values of more than %zu MB, or more than %d of them", BYTES_MAX >> 20, STEPS_MAX));
	return !str_is_set(in->problem);
}

/* The names from this value, which is under way, to itself. */
static void fail_in_circle(struct intrinsics *in, const struct named *begun)
{
	struct str path = begun->name;

	for (const struct named *at = in->current; at != begun; at = at->outer)
		path = str_printf(in->arena, STR_FMT " -> " STR_FMT, STR_ARG(at->name), STR_ARG(path));
	fail(in, str_printf(in->arena, "a circle: " STR_FMT " -> " STR_FMT, STR_ARG(begun->name), STR_ARG(path)));
}

/* True: the value is to be computed, and end_named() follows. False: *named has it, or there is a problem. */
static bool begin_named(struct intrinsics *in, struct str name, const struct json *value, struct named **named)
{
	struct named **place;

	if (!in->named)
		in->named = ARENA_ARRAY(in->arena, struct named *, NAMED_PLACES);
	place = &in->named[((uintptr_t)value >> 4) % NAMED_PLACES];
	while (*place && (*place)->value != value)
		place = &(*place)->next;
	*named = *place;
	if (*place) {
		if (!(*place)->is_done)
			fail_in_circle(in, *place);
		return false;
	}
	*named = *place = ARENA_NEW(in->arena, struct named);
	**named = (struct named){.outer = in->current, .value = value, .name = name, .text = STR("")};
	in->current = *named;
	return true;
}

static void end_named(struct intrinsics *in, struct named *named)
{
	named->is_done = true;
	in->current = named->outer;
}

static struct str text_named(struct intrinsics *in, struct str name, const struct json *value, unsigned depth)
{
	struct named *named;

	if (begin_named(in, name, value, &named)) {
		named->text = text_of(in, value, depth);
		end_named(in, named);
	}
	return named->text;
}

/* The only member of an object where that is a function; *argument is its value. */
static struct str function_of(struct intrinsics *in, const struct json *value, const struct json **argument)
{
	if (json_type(value) != JSON_OBJECT || json_count(value) != 1)
		return STR_ABSENT;
	struct str name = json_name(in->arena, json_first(value));
	*argument = json_first(value);
	return str_eq(name, STR("Ref")) || str_eq(name, STR("Condition")) || str_starts_with(name, STR("Fn::")) ? name : STR_ABSENT;
}

static const struct json *element(const struct json *array, size_t i)
{
	const struct json *at = json_type(array) == JSON_ARRAY ? json_first(array) : NULL;

	while (at && i-- > 0)
		at = json_next(at);
	return at;
}

/* A member of a section by a name that is no literal. */
static const struct json *member_named(struct intrinsics *in, const struct json *object, struct str name)
{
	return object && !str_has_zero(name) ? json_member(object, str_copy(in->arena, name).p) : NULL;
}

static struct str pseudo(const struct intrinsics *in, struct str name)
{
	static const struct seed_parameter known[] = {
		{STR_INIT("AWS::Region"), STR_INIT("us-east-1")}, {STR_INIT("AWS::AccountId"), STR_INIT("000000000000")},
		{STR_INIT("AWS::Partition"), STR_INIT("aws")}, {STR_INIT("AWS::URLSuffix"), STR_INIT("amazonaws.com")},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (str_eq(name, known[i].name))
			return known[i].value;
	}
	return str_eq(name, STR("AWS::StackName")) || str_eq(name, STR("AWS::StackId")) ? in->stack : STR_ABSENT;
}

static struct str given(const struct intrinsics *in, struct str name)
{
	for (size_t i = 0; i < in->parameter_count; i++) {
		if (str_eq(in->parameters[i].name, name))
			return in->parameters[i].value;
	}
	return STR_ABSENT;
}

static struct str reference(struct intrinsics *in, struct str name, unsigned depth)
{
	struct str value = given(in, name);
	const struct json *parameter = member_named(in, json_text_get(in->template, "Parameters", JSON_OBJECT), name);
	const struct json *fallback = parameter && json_type(parameter) == JSON_OBJECT ? json_member(parameter, "Default") : NULL;
	const struct json *resource = member_named(in, json_text_get(in->template, "Resources", JSON_OBJECT), name);

	if (!str_is_set(value))
		value = pseudo(in, name);
	if (str_is_set(value))
		return value;
	if (fallback)
		return text_named(in, name, fallback, depth + 1);
	if (!resource)
		return fail(in, name);
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT), *own = properties ? json_member(properties, "TableName") : NULL;
	return own ? text_named(in, name, own, depth + 1) : name;
}

/* Where the ${...} ends whose inside begins at `from`; the text's length where it does not. */
static size_t closing(struct str text, size_t from)
{
	while (from < text.n && text.p[from] != '}')
		from++;
	return from;
}

static struct str substitute(struct intrinsics *in, struct str text, const struct json *own, unsigned depth)
{
	struct buf buf = buf_in(in->arena);

	for (size_t i = 0; i < text.n; i++) {
		bool is_variable = text.p[i] == '$' && i + 1 < text.n && text.p[i + 1] == '{';
		size_t end = is_variable ? closing(text, i + 2) : i;

		if (!is_variable || end == text.n) {
			buf_add_byte(&buf, text.p[i]);
			continue;
		}
		if (!may_go_on(in))
			return STR("");
		struct str name = {text.p + i + 2, end - i - 2};
		const struct json *mine = member_named(in, own, name);

		if (name.n > 0 && name.p[0] == '!') {
			buf_printf(&buf, "${" STR_FMT "}", (int)name.n - 1, name.p + 1); /* a literal */
		} else if (mine) {
			buf_add_str(&buf, text_named(in, name, mine, depth + 1));
		} else {
			struct str rest = name;
			buf_add_str(&buf, reference(in, str_cut(&rest, '.'), depth + 1)); /* an attribute of a resource becomes the resource's name */
		}
		i = end;
	}
	return buf_str(&buf);
}

static struct str join(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	const struct json *separator = element(argument, 0), *list = element(argument, 1);
	struct buf buf = buf_in(in->arena);

	if (!separator || !list || json_type(list) != JSON_ARRAY)
		return fail(in, STR("Fn::Join"));
	for (const struct json *at = json_first(list); at && may_go_on(in); at = json_next(at)) {
		if (at != json_first(list))
			buf_add_str(&buf, text_of(in, separator, depth + 1));
		buf_add_str(&buf, text_of(in, at, depth + 1));
	}
	return buf_str(&buf);
}

static size_t index_of(struct intrinsics *in, const struct json *value, unsigned depth)
{
	struct str text = text_of(in, value, depth + 1);

	return (size_t)strtoul(str_copy(in->arena, text).p, NULL, 10);
}

/* Fn::Select of a list, or of a Fn::Split. */
static struct str choose(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	const struct json *which = element(argument, 0), *from = element(argument, 1), *split = NULL;

	if (!which || !from)
		return fail(in, STR("Fn::Select"));
	size_t i = index_of(in, which, depth);
	if (str_eq(function_of(in, from, &split), STR("Fn::Split")) && element(split, 1)) {
		struct str separator = text_of(in, element(split, 0), depth + 1), rest = text_of(in, element(split, 1), depth + 1), part = STR("");

		if (separator.n != 1)
			return fail(in, STR("Fn::Split"));
		do {
			part = str_cut(&rest, separator.p[0]);
		} while (i-- > 0 && rest.n > 0);
		return part;
	}
	const struct json *chosen = element(from, i);
	return chosen ? text_of(in, chosen, depth + 1) : fail(in, STR("Fn::Select"));
}

static const struct json *in_map(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	const struct json *at = json_text_get(in->template, "Mappings", JSON_OBJECT);

	for (size_t i = 0; i < 3 && at; i++) {
		const struct json *key = element(argument, i);

		at = key && json_type(at) == JSON_OBJECT ? member_named(in, at, text_of(in, key, depth + 1)) : NULL;
	}
	if (!at)
		fail(in, STR("Fn::FindInMap"));
	return at;
}

static bool is_true(struct intrinsics *in, const struct json *condition, unsigned depth);

static bool holds_named(struct intrinsics *in, struct str name, const struct json *condition, unsigned depth)
{
	struct named *named;

	if (begin_named(in, name, condition, &named)) {
		named->holds = is_true(in, condition, depth);
		end_named(in, named);
	}
	return named->holds;
}

static bool is_true(struct intrinsics *in, const struct json *condition, unsigned depth)
{
	const struct json *argument = NULL;
	struct str function = function_of(in, condition, &argument);

	if (depth > DEPTH_MAX || !str_is_set(function)) {
		fail(in, STR("a condition"));
		return false;
	}
	if (!may_go_on(in))
		return false;
	if (str_eq(function, STR("Condition"))) {
		struct str name = text_of(in, argument, depth + 1);
		const struct json *other = member_named(in, json_text_get(in->template, "Conditions", JSON_OBJECT), name);

		return other && holds_named(in, name, other, depth + 1);
	}
	if (str_eq(function, STR("Fn::Equals")) && element(argument, 1))
		return str_eq(text_of(in, element(argument, 0), depth + 1), text_of(in, element(argument, 1), depth + 1));
	if (str_eq(function, STR("Fn::Not")) && element(argument, 0))
		return !is_true(in, element(argument, 0), depth + 1);
	bool is_and = str_eq(function, STR("Fn::And")), result = is_and;
	if (!is_and && !str_eq(function, STR("Fn::Or")))
		fail(in, function);
	for (const struct json *at = element(argument, 0); at; at = json_next(at)) {
		bool holds = is_true(in, at, depth + 1);

		result = is_and ? result && holds : result || holds;
	}
	return result;
}

bool intrinsics_holds(struct intrinsics *in, struct str condition)
{
	const struct json *found = member_named(in, json_text_get(in->template, "Conditions", JSON_OBJECT), condition);

	if (!found)
		fail(in, condition);
	return found && holds_named(in, condition, found, 0);
}

/* What Fn::If chooses, as often as one follows another. */
static const struct json *reduce(struct intrinsics *in, const struct json *value, unsigned depth)
{
	const struct json *argument = NULL;

	while (value && depth++ < DEPTH_MAX && may_go_on(in) && str_eq(function_of(in, value, &argument), STR("Fn::If"))) {
		const struct json *name = element(argument, 0);

		value = element(argument, name && intrinsics_holds(in, text_of(in, name, depth)) ? 1 : 2);
	}
	return value;
}

static bool is_no_value(struct intrinsics *in, const struct json *value)
{
	const struct json *argument = NULL;

	return !value || (str_eq(function_of(in, value, &argument), STR("Ref")) && json_type(argument) == JSON_STRING &&
			  str_eq(json_string(in->arena, argument), STR("AWS::NoValue")));
}

static const struct json *at_path(struct intrinsics *in, const struct json *root, struct str path)
{
	while (root && path.n > 0)
		root = json_type(root) == JSON_OBJECT ? member_named(in, root, str_cut(&path, '.')) : NULL;
	return root;
}

/* One variable of serverless.yml; absent where it is not known. */
static struct str variable(struct intrinsics *in, struct str name, unsigned depth)
{
	struct str rest = name, source = str_cut(&rest, ':');

	if (str_eq(source, STR("self"))) {
		const struct json *found = at_path(in, in->root, rest);

		return found && json_type(found) != JSON_OBJECT && json_type(found) != JSON_ARRAY ? text_named(in, name, found, depth + 1) : STR_ABSENT;
	}
	if (str_eq(source, STR("env")) && !str_has_zero(rest))
		return str_of(getenv(str_copy(in->arena, rest).p));
	if (str_eq(source, STR("aws")))
		return str_eq(rest, STR("accountId")) ? STR("000000000000") : str_eq(rest, STR("region")) ? STR("us-east-1") : STR_ABSENT;
	struct str value = given(in, rest);
	if (!str_is_set(value) && str_eq(name, STR("sls:stage"))) {
		const struct json *stage = at_path(in, in->root, STR("provider.stage"));

		return stage ? text_named(in, name, stage, depth + 1) : STR("dev");
	}
	return value;
}

static struct str without_quotes(struct str text)
{
	bool is_quoted = text.n >= 2 && (text.p[0] == '\'' || text.p[0] == '"') && text.p[text.n - 1] == text.p[0];

	return is_quoted ? (struct str){text.p + 1, text.n - 2} : text;
}

/* The first of the alternatives that is known: "opt:stage, 'dev'". */
static struct str alternatives(struct intrinsics *in, struct str all, unsigned depth)
{
	struct str rest = all;

	while (rest.n > 0) {
		struct str one = str_trim(str_cut(&rest, ','));
		struct str value = memchr(one.p, ':', one.n) ? variable(in, one, depth) : without_quotes(one);

		if (str_is_set(value))
			return value;
	}
	return fail(in, all);
}

/* The variables of serverless.yml, the innermost first. */
static struct str expand(struct intrinsics *in, struct str text, unsigned depth)
{
	for (unsigned n = 0; n < VARIABLES_MAX && may_go_on(in); n++) {
		size_t begin = text.n, end;

		for (size_t i = 0; i + 1 < text.n; i++) {
			if (text.p[i] == '$' && text.p[i + 1] == '{')
				begin = i;
		}
		end = begin < text.n ? closing(text, begin) : text.n;
		if (end == text.n)
			return text;
		struct str value = alternatives(in, (struct str){text.p + begin + 2, end - begin - 2}, depth);
		struct buf buf = buf_in(in->arena);
		buf_add(&buf, text.p, begin);
		buf_add_str(&buf, value);
		buf_add(&buf, text.p + end + 1, text.n - end - 1);
		text = buf_str(&buf);
	}
	return fail(in, STR("too many variables"));
}

static struct str plain_text(struct intrinsics *in, const struct json *value, unsigned depth)
{
	struct json_out out = json_out_in(in->arena);

	if (json_type(value) == JSON_STRING) {
		struct str text = json_string(in->arena, value);

		return in->root != in->template ? expand(in, text, depth) : text;
	}
	add(in, &out, value, depth + 1);
	return json_out_str(&out);
}

/* A function or a plain value as text. */
static struct str text_of(struct intrinsics *in, const struct json *value, unsigned depth)
{
	const struct json *argument = NULL;

	value = reduce(in, value, depth);
	if (!may_go_on(in))
		return STR("");
	if (!value || depth > DEPTH_MAX)
		return fail(in, STR("functions nested too deeply"));
	struct str function = function_of(in, value, &argument);
	if (!str_is_set(function))
		return plain_text(in, value, depth);
	if (str_eq(function, STR("Ref")))
		return reference(in, text_of(in, argument, depth + 1), depth);
	if (str_eq(function, STR("Fn::Sub"))) {
		bool is_list = json_type(argument) == JSON_ARRAY;
		const struct json *text = is_list ? element(argument, 0) : argument, *own = is_list ? element(argument, 1) : NULL;

		return text && json_type(text) == JSON_STRING ? substitute(in, json_string(in->arena, text), own, depth) : fail(in, function);
	}
	if (str_eq(function, STR("Fn::Join")))
		return join(in, argument, depth);
	if (str_eq(function, STR("Fn::Select")))
		return choose(in, argument, depth);
	if (str_eq(function, STR("Fn::FindInMap"))) {
		const struct json *found = in_map(in, argument, depth);

		return found ? text_named(in, json_name(in->arena, found), found, depth + 1) : STR("");
	}
	if (str_eq(function, STR("Fn::GetAtt"))) {
		struct str rest = json_type(argument) == JSON_STRING ? json_string(in->arena, argument) : text_of(in, element(argument, 0), depth + 1);

		return str_cut(&rest, '.');
	}
	return fail(in, function);
}

/* Object or array, without members that are AWS::NoValue. */
static void add_children(struct intrinsics *in, struct json_out *out, const struct json *value, unsigned depth)
{
	bool is_object = json_type(value) == JSON_OBJECT;

	json_out_open(out, is_object ? '{' : '[');
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		const struct json *reduced = reduce(in, child, depth);

		if (is_no_value(in, reduced))
			continue;
		if (is_object)
			json_out_name(out, json_name(in->arena, child));
		add(in, out, reduced, depth + 1);
	}
	json_out_close(out, is_object ? '}' : ']');
}

static void add(struct intrinsics *in, struct json_out *out, const struct json *value, unsigned depth)
{
	const struct json *argument = NULL;

	if (depth > DEPTH_MAX)
		fail(in, STR("nested too deeply"));
	if (!may_go_on(in)) {
		json_out_null(out);
	} else if (str_is_set(function_of(in, value, &argument)) || json_type(value) == JSON_STRING) {
		json_out_string(out, text_of(in, value, depth + 1));
	} else if (json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY) {
		add_children(in, out, value, depth);
	} else {
		json_text_write(out, in->arena, value);
	}
}

const struct json *intrinsics_resolve(struct intrinsics *in, const struct json *value)
{
	struct json_out out = json_out_in(in->arena);
	struct err err = err_in(in->arena);
	const struct json *root = NULL;

	value = reduce(in, value, 0);
	if (is_no_value(in, value))
		return NULL;
	add(in, &out, value, 0);
	if (str_is_set(in->problem) || json_parse(in->arena, json_out_str(&out), &root, &err) != OK)
		return NULL;
	return root;
}
