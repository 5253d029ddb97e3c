/*
 * intrinsics_internal - what intrinsics.c, functions.c and variables.c share.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_INTRINSICS_INTERNAL_H
#define DYNALITH_SERVER_IMPORTERS_INTRINSICS_INTERNAL_H

#include "protocol/wire/json_out.h"
#include "server/importers/intrinsics.h"

#define DEPTH_MAX 64 /* of functions within functions and of references that lead to others */

/* JSON that is computed, with where its values come from. */
struct written {
	struct json_out out;
	struct origin *origins;
	size_t n;
};

/* The first problem counts. Gives "". */
struct str intrinsics_fail(struct intrinsics *in, struct str what);
/* Counts a step. False: nothing more is computed, for there is a problem. */
bool intrinsics_goes_on(struct intrinsics *in);
/* The same after a search of `n` bytes, which counts as steps. */
bool intrinsics_goes_past(struct intrinsics *in, size_t n);

/* Writes what was computed before. */
void intrinsics_write_tree(struct intrinsics *in, struct written *to, const struct json *tree);
void intrinsics_write_text(struct intrinsics *in, struct written *to, struct str text);
struct str intrinsics_text(struct intrinsics *in, const struct json *value, unsigned depth);
/* The value without functions as a tree. NULL: there is a problem. */
const struct json *intrinsics_tree(struct intrinsics *in, const struct json *value, unsigned depth);
/* The same for a value with a name, which is computed once. */
const struct json *intrinsics_named(struct intrinsics *in, struct str name,
				    const struct json *value, unsigned depth);
struct str intrinsics_text_named(struct intrinsics *in, struct str name, const struct json *value,
				 unsigned depth);

const struct json *intrinsics_element(const struct json *array, size_t i);
/* A member by a name that is no literal; or NULL. */
const struct json *intrinsics_member(const struct json *object, struct str name);

/* functions.c: the only member of an object where that is a function; *argument is its value. Else
 * absent. */
struct str functions_of(struct intrinsics *in, const struct json *value,
			const struct json **argument);
void functions_write(struct intrinsics *in, struct written *to, struct str name,
		     const struct json *argument, unsigned depth);
/* What Fn::If chooses, as often as one follows another. */
const struct json *functions_reduce(struct intrinsics *in, const struct json *value,
				    unsigned depth);
bool functions_holds(struct intrinsics *in, struct str condition);
struct str functions_resource_name(struct intrinsics *in, struct str id);
struct str functions_substitute(struct intrinsics *in, struct str text);
bool functions_is_no_value(struct intrinsics *in, const struct json *value);

/* variables.c: writes a text with its variables replaced; a map or list where it is one variable.
 */
void variables_write(struct intrinsics *in, struct written *to, struct str text, unsigned depth);
/* What the value of a document stands for where the text is one variable; else NULL. */
const struct json *variables_node(struct intrinsics *in, struct str text, unsigned depth);

/* For circles: begins a value; false: *named has it, or there is a problem. */
struct named {
	struct named *next;        /* in its place */
	const struct named *outer; /* under way when this one began */
	const struct json *value;
	const struct loop *loop;
	struct str name;
	bool is_done;
	bool holds;              /* of a condition */
	const struct json *tree; /* of all others; NULL: there is a problem */
};
bool intrinsics_begin(struct intrinsics *in, struct str name, const struct json *value,
		      struct named **named);
void intrinsics_end(struct intrinsics *in, struct named *named);
/* Whether it is under way. */
bool intrinsics_is_begun(const struct intrinsics *in, const struct json *value);

#endif
