/*
 * race_lines - an order of requests as all forms of the report show it: one line a request, and one
 * sentence on what is different from the usual run. Pure.
 */
#ifndef DYNALITH_SERVER_RACE_LINES_H
#define DYNALITH_SERVER_RACE_LINES_H

#include "server/races/race_trouble.h"

#define RACE_COLUMN 44 /* characters of a client's column */
#define RACE_SHOWN_MAX 60

struct race_line {
	const struct race_request *request;
	size_t column;    /* of its chain, from 0 */
	char client;      /* the column's letter; '*' behind 'Z' */
	struct str about; /* the table and the item */
	struct str came;  /* what came of it; absent: nothing worth saying */
	bool is_troubled; /* the plan's trouble happened to it */
};

struct race_lines {
	struct race_line *v; /* the whole order */
	size_t n;
	size_t from, to;     /* people are shown these: a few before the first difference, and
				RACE_SHOWN_MAX at most */
	size_t columns;      /* of those from `from` on; letters are theirs first */
	struct str sentence; /* absent: there is nothing to say; may have two lines */
};

/* In the arena; the trace outlives it. */
struct race_lines race_lines_of(struct arena *arena, const struct race_trace *usual,
				const struct race_trace *trace, struct race_trouble trouble);

#endif
