/*
 * difference - "dynalith diff A B": two recordings, request by request.
 *
 * The second file is read once to note what each of its lines asks, and where it is; of equal ones
 * the first that is left goes with the next of the first file. So the work grows with the lines,
 * however many are alike, and under 200 bytes a line are kept.
 */
#ifndef DYNALITH_SERVER_DIFFERENCE_H
#define DYNALITH_SERVER_DIFFERENCE_H

#include "server/recording/tape.h"

struct difference {
	size_t requests;  /* of the first */
	size_t different; /* lines of both files */
	size_t steps;     /* looks at lines to find those that ask the same: a few for each line */
};

/* Prints what differs. The second was opened to be read again. ERR_VALIDATION as tape_next(). */
enum code difference_print(struct tape *first, struct tape *second, struct difference *out,
			   struct err *err) WARN_UNUSED;

/* The head of what is printed of a line, and its lines. */
void difference_show(const struct tape_line *line, struct str lines);

#endif
