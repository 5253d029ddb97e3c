/*
 * json_internal - the tree, for the two that build it; not for others.
 *
 *   json.c        by cJSON, which knows every form; and what reads the tree
 *   json_quick.c  in one pass over the bytes, for the forms that clients write
 */
#ifndef DYNALITH_PROTOCOL_JSON_INTERNAL_H
#define DYNALITH_PROTOCOL_JSON_INTERNAL_H

#include "protocol/wire/json.h"

struct json {
	struct json *next;
	struct str name; /* of a member; a NUL stands behind it, as behind `text` */
	enum json_type type;
	bool boolean;
	bool is_decimal; /* of a number: written with a point or an exponent */
	union {
		struct json *child;
		struct str text;
		double number;
	};
};

/*
 * The tree of a text of valid UTF-8 without NULs. NULL where it is malformed, has a form that
 * clients do not write, or the arena is over: then json_by_library() decides. What it takes, cJSON
 * takes too, up to cJSON's 1,000 levels, and makes the same of it.
 */
struct json *json_quickly(struct arena *arena, struct str text) WARN_UNUSED;

/* The same by cJSON; NULL where it is malformed or the arena is over. */
struct json *json_by_library(struct arena *arena, struct str text) WARN_UNUSED;

#endif
