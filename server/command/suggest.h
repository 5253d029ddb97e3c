/*
 * suggest - the likely name behind a mistyped one.
 */
#ifndef DYNALITH_SERVER_SUGGEST_H
#define DYNALITH_SERVER_SUGGEST_H

#include "core/str.h"

/* The nearest of the offered names. Begin with {.typed = NAME, .prefix_size = N}. */
struct suggestion {
	struct str typed;
	size_t prefix_size;  /* of what all names begin with: it does not count */
	const char *nearest; /* NULL where none is near: at most a third of the letters, rounded,
				are to be changed, added, left out or swapped */
	size_t distance;
};

void suggest_offer(struct suggestion *suggestion, const char *name);

/* "%s%s%s" in a message: "; did you mean NEAREST?", or nothing where `nearest` is NULL. */
#define SUGGESTED(nearest)                                                                         \
	(nearest) ? "; did you mean " : "", (nearest) ? (nearest) : "", (nearest) ? "?" : ""

#endif
