/*
 * seen - a set of byte strings that reports the second of two equal ones.
 */
#ifndef DYNALITH_CORE_SEEN_H
#define DYNALITH_CORE_SEEN_H

#include "core/arena.h"
#include "core/str.h"

struct seen {
	struct str *slots;
	size_t mask;
};

struct seen seen_new(struct arena *arena, size_t capacity);
/* False where the string is there already. At most `capacity` strings may be added. */
bool seen_add(struct seen *seen, struct str bytes);

#endif
