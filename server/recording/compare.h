/*
 * compare - what two answers of the same request differ in, a line each.
 *
 * Members may stand in any order, and so may the elements of sets. What no two servers have in
 * common is passed over: times and ids of tables, ARNs, iterators, tokens, sequence numbers
 * (compare.c has the list). Attributes of items may have these names: there they count.
 */
#ifndef DYNALITH_SERVER_COMPARE_H
#define DYNALITH_SERVER_COMPARE_H

#include "core/buf.h"
#include "protocol/wire/json.h"

struct comparison {
	struct arena *arena;
	const char *first, *second;  /* what the two are called: "recorded", "now" */
	struct buf lines;            /* each ends with a line's end */
	size_t n;
	/* Gets the two texts of a member that is passed over; or NULL. */
	void (*passed)(void *context, struct str first, struct str second);
	void *context;
};

void compare_status(struct comparison *comparison, int64_t first, int64_t second);

/* NULL: there is no JSON. */
void compare_bodies(struct comparison *comparison, const struct json *first,
		    const struct json *second);

#endif
