/*
 * pace - the size of a piece of background work, such as the filling of an index: smaller while
 * requests are under way, since writers wait for each piece, and on few cores other threads do too.
 * Thread-safe.
 */
#ifndef DYNALITH_STORAGE_PACE_H
#define DYNALITH_STORAGE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACE_CROWDED_PART 16 /* a piece is 1/16 of the usual one while requests are under way */

struct pace {
	atomic_bool is_crowded;
	size_t rows_max; /* of a piece at any time; 0: no limit */
};

/* The server calls it when requests begin and stop to come. */
void pace_crowd(struct pace *pace, bool is_crowded);
bool pace_is_crowded(const struct pace *pace);

/* The size of a piece that has `most` at most when no requests come. */
size_t pace_bytes(const struct pace *pace, size_t most);
size_t pace_rows(const struct pace *pace, size_t most);

/*
 * Counts pieces, so that a caller does as much at once while requests come. *left begins as the
 * number of usual pieces times PACE_CROWDED_PART. False where none is left.
 */
bool pace_next(const struct pace *pace, uint64_t *left);

#endif
