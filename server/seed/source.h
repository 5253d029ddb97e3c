/*
 * source - where the values of a document stand, and which of them a reader used.
 *
 * A reader takes members by the functions here, and each marks what it gives. A value that nobody
 * has marked at the end was left out: source_left_out() names the outermost of these, by file, line
 * and path. All memory is the arena's.
 */
#ifndef DYNALITH_SERVER_SEED_SOURCE_H
#define DYNALITH_SERVER_SEED_SOURCE_H

#include "core/arena.h"
#include "core/str.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

struct shape; /* protocol/wire/shapes.h */
struct source;

struct origin {
	const char *path;
	size_t line; /* 0: of the file as a whole */
};

struct source *source_new(struct arena *arena);

/* Notes the lines of a tree that json_parse made of `text`, a part of the file that begins at
 * `line`. */
void source_locate(struct source *source, const struct json *root, struct str text,
		   const char *path, size_t line);

/*
 * The same for a tree whose JSON was computed: origins[i] is of its i-th value, each container
 * before what it holds. Values beyond `n` have no line.
 */
void source_locate_by(struct source *source, const struct json *root, const struct origin *origins,
		      size_t n);

/* Where it stands; {NULL, 0} for a value of no document. */
struct origin source_origin(const struct source *source, const struct json *value);

/* Marks a value; a value and all that it holds. NULL: nothing. */
void source_use(struct source *source, const struct json *value);
void source_use_all(struct source *source, const struct json *value);

/* The object's member where it is of that type, marked; else NULL, and nothing is marked. */
const struct json *source_get(struct source *source, const struct json *object, const char *name,
			      enum json_type type);
/* The same for a string; else absent. */
struct str source_string(struct source *source, struct arena *arena, const struct json *object,
			 const char *name);
/* The member of any type, marked without what it holds; or NULL. */
const struct json *source_member(struct source *source, const struct json *object,
				 const char *name);
/* Marks a member with all it holds. False: there is none. */
bool source_pass_over(struct source *source, const struct json *object, const char *name);
/* Writes the member, with its name, as a request of the API has it, and marks what is written. */
bool source_copy(struct source *source, struct json_out *out, const struct shape *request,
		 const struct json *object, const char *name);

/* A name that an object has twice: `value` is the later one. */
void source_note_twice(struct source *source, const struct json *value, struct str name);
/* Calls `found` for each of these. */
void source_twice(const struct source *source,
		  void (*found)(void *context, struct origin origin, struct str name),
		  void *context);

/* Calls `found` for each outermost value below `root` that nobody marked. `path` is the root's own.
 */
void source_left_out(struct source *source, const struct json *root, struct str path,
		     void (*found)(void *context, struct origin origin, struct str path),
		     void *context);

#endif
