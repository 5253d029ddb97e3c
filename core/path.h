/*
 * path - document paths: a.b[3].c
 *
 * A path has at least one step, the first a name. Names are resolved
 * (placeholders like #n are gone by then).
 */
#ifndef DYNALITH_CORE_PATH_H
#define DYNALITH_CORE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/str.h"
#include "core/value.h"

struct path_step {
	struct str name;  /* absent for an index step */
	uint32_t index;
};

struct path {
	size_t n;
	const struct path_step *steps;
};

/* A path of one name. */
struct path *path_of_name(struct arena *arena, struct str name);

/* The value at steps `from`.. below `value`, or NULL. */
const struct value *path_get(const struct path *path, size_t from, const struct value *value);

/* How two paths of one expression stand to each other. */
enum path_relation {
	PATH_DISTINCT,
	PATH_OVERLAP,   /* equal, or one is a prefix of the other */
	PATH_CONFLICT,  /* they part at a step where one has a name and the other an index */
};
enum path_relation path_relate(const struct path *a, const struct path *b);

/* Appends "[a, b, [3], c]", the form AWS's overlap messages use. */
void path_describe(const struct path *path, struct buf *out);

#endif
