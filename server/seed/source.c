#include "server/seed/source.h"

#include <stdlib.h>

#include "protocol/wire/shape_copy.h"
#include "server/seed/json_text.h"

#define PLACES_MIN 1024 /* a power of two */

/* A value and what is known of it. */
struct mark {
	const struct json *value; /* NULL: free */
	struct origin origin;
	bool is_used;
};

/* A name that an object has twice, and where the later one stands. */
struct twice {
	struct twice *next;
	struct origin origin;
	struct str name;
};

/* A hash table by address, at most half full. */
struct source {
	struct arena *arena;
	struct mark *marks;
	size_t places, n;
	struct twice *twice; /* the latest first */
};

struct source *source_new(struct arena *arena)
{
	struct source *source = ARENA_NEW(arena, struct source);

	*source = (struct source){.arena = arena, .places = PLACES_MIN};
	source->marks = ARENA_ARRAY(arena, struct mark, source->places);
	return source;
}

/* The value's mark, or the free place for it. */
static struct mark *source_place(const struct source *source, const struct json *value)
{
	size_t i = ((uintptr_t)value >> 4) * 0x9E3779B97F4A7C15u >> 20 & (source->places - 1);

	while (source->marks[i].value && source->marks[i].value != value)
		i = (i + 1) & (source->places - 1);
	return &source->marks[i];
}

static void source_widen(struct source *source)
{
	struct source wider = *source;

	wider.places = source->places * 2;

	wider.marks = ARENA_ARRAY(source->arena, struct mark, wider.places);
	for (size_t i = 0; i < source->places; i++) {
		if (source->marks[i].value)
			*source_place(&wider, source->marks[i].value) = source->marks[i];
	}
	*source = wider;
}

static void source_note(struct source *source, const struct json *value, struct origin origin)
{
	if (source->n * 2 >= source->places)
		source_widen(source);
	struct mark *mark = source_place(source, value);
	source->n += !mark->value;
	*mark = (struct mark){.value = value, .origin = origin};
}

/* Goes through a text of JSON: the line of each value, in their order. */
struct walk {
	struct str text;
	size_t at, line;
};

static void walk_string(struct walk *walk)
{
	for (walk->at++; walk->at < walk->text.n && walk->text.p[walk->at] != '"'; walk->at++)
		walk->at += walk->text.p[walk->at] == '\\';
	walk->at++;
}

/* Whether the string that begins here is a member's name. */
static bool walk_is_name(struct walk walk)
{
	walk_string(&walk);
	while (walk.at < walk.text.n && strchr(" \t\r\n", walk.text.p[walk.at]))
		walk.at++;
	return walk.at < walk.text.n && walk.text.p[walk.at] == ':';
}

/* Goes to the next value; false at the end. walk_past() follows. */
static bool walk_next(struct walk *walk)
{
	while (walk->at < walk->text.n) {
		char c = walk->text.p[walk->at];

		if (c == '"' && walk_is_name(*walk)) {
			walk_string(walk);
			continue;
		}
		walk->line += c == '\n';
		if (!strchr(" \t\r\n,:]}", c))
			return true;
		walk->at++;
	}
	return false;
}

static void walk_past(struct walk *walk)
{
	char c = walk->text.p[walk->at];

	if (c == '"')
		walk_string(walk);
	else if (c == '{' || c == '[')
		walk->at++;
	else
		while (walk->at < walk->text.n && !strchr(" \t\r\n,:]}", walk->text.p[walk->at]))
			walk->at++;
}

/* As deep as json_parse lets a text be. */
static void source_locate_text(struct source *source, const struct json *value, struct walk *walk,
			       const char *path)
{
	size_t line = walk_next(walk) ? walk->line : 0;

	source_note(source, value, (struct origin){path, line});
	if (line > 0)
		walk_past(walk);
	if (json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY)
		return;
	for (const struct json *child = json_first(value); child; child = json_next(child))
		source_locate_text(source, child, walk, path);
}

void source_locate(struct source *source, const struct json *root, struct str text,
		   const char *path, size_t line)
{
	struct walk walk = {.text = text, .line = line};

	source_locate_text(source, root, &walk, path);
}

static void source_locate_computed(struct source *source, const struct json *value,
				   const struct origin *origins, size_t n, size_t *i)
{
	size_t mine = (*i)++;

	source_note(source, value, mine < n ? origins[mine] : (struct origin){NULL, 0});
	if (json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY)
		return;
	for (const struct json *child = json_first(value); child; child = json_next(child))
		source_locate_computed(source, child, origins, n, i);
}

void source_locate_by(struct source *source, const struct json *root, const struct origin *origins,
		      size_t n)
{
	size_t i = 0;

	source_locate_computed(source, root, origins, n, &i);
}

struct origin source_origin(const struct source *source, const struct json *value)
{
	return source_place(source, value)->origin;
}

void source_note_twice(struct source *source, const struct json *value, struct str name)
{
	struct origin origin = source_origin(source, value);
	struct twice *twice = ARENA_NEW(source->arena, struct twice);

	*twice = (struct twice){.next = source->twice, .origin = origin, .name = name};
	source->twice = twice;
}

void source_twice(const struct source *source,
		  void (*found)(void *context, struct origin origin, struct str name),
		  void *context)
{
	for (const struct twice *twice = source->twice; twice; twice = twice->next)
		found(context, twice->origin, twice->name);
}

void source_use(struct source *source, const struct json *value)
{
	struct mark *mark = value ? source_place(source, value) : NULL;

	if (mark && mark->value)
		mark->is_used = true;
}

void source_use_all(struct source *source, const struct json *value)
{
	source_use(source, value);
	if (!value || (json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY))
		return;
	for (const struct json *child = json_first(value); child; child = json_next(child))
		source_use_all(source, child);
}

const struct json *source_get(struct source *source, const struct json *object, const char *name,
			      enum json_type type)
{
	const struct json *found = json_text_get(object, name, type);

	source_use(source, found);
	return found;
}

struct str source_string(struct source *source, struct arena *arena, const struct json *object,
			 const char *name)
{
	const struct json *found = source_get(source, object, name, JSON_STRING);

	return found ? json_string(arena, found) : STR_ABSENT;
}

const struct json *source_member(struct source *source, const struct json *object, const char *name)
{
	const struct json *found =
		object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;

	source_use(source, found);
	return found;
}

bool source_pass_over(struct source *source, const struct json *object, const char *name)
{
	const struct json *found = source_member(source, object, name);

	source_use_all(source, found);
	return found != NULL;
}

static void source_taken(void *context, const struct json *value)
{
	source_use(context, value);
}

bool source_copy(struct source *source, struct json_out *out, const struct shape *request,
		 const struct json *object, const char *name)
{
	const struct json *found =
		object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;

	if (!found)
		return false;
	json_out_name(out, str_of(name));
	shape_copy(out, source->arena, shape_copy_member(request, str_of(name)), found,
		   source_taken, source);
	return true;
}

/* "Resources.Orders", "Tags[2]" */
static struct str source_path(struct source *source, struct str path, const struct json *child,
			      size_t i, bool is_object)
{
	if (!is_object)
		return str_printf(source->arena, STR_FMT "[%zu]", STR_ARG(path), i);
	struct str name = json_name(source->arena, child);
	return str_printf(source->arena, STR_FMT "%s" STR_FMT, STR_ARG(path), path.n > 0 ? "." : "",
			  STR_ARG(name));
}

void source_left_out(struct source *source, const struct json *root, struct str path,
		     void (*found)(void *context, struct origin origin, struct str path),
		     void *context)
{
	const struct mark *mark = source_place(source, root);
	bool is_object = json_type(root) == JSON_OBJECT;
	size_t i = 0;

	if (!mark->is_used) {
		found(context, mark->origin, path);
		return;
	}
	if (!is_object && json_type(root) != JSON_ARRAY)
		return;
	for (const struct json *child = json_first(root); child; child = json_next(child))
		source_left_out(source, child, source_path(source, path, child, i++, is_object),
				found, context);
}
