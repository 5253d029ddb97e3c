/*
 * scan - the rows of a range of keys, in order, some at a time.
 */
#ifndef DYNALITH_STORAGE_SCAN_H
#define DYNALITH_STORAGE_SCAN_H

#include "storage/store/postgresql/link.h"

struct scan {
	struct link *link;
	struct arena *arena;            /* of the rows */
	int64_t ks;
	const struct store_range *range;
	size_t limit;                   /* rows at most */
	bool is_locked;                 /* for a write transaction */
};

/*
 * The first rows of the range; *is_end: there are no others. `rows` has room for `limit`. What was
 * sent before goes with the first statement. One round trip, but where the range meets long keys.
 */
enum code scan_rows(const struct scan *scan, struct store_row *rows, size_t *n, bool *is_end,
		    struct err *err) WARN_UNUSED;

/* The range as $2 to $7 of the statements RANGE_*, $1 included; texts lie in the arena. */
void scan_range_values(struct arena *arena, struct str ks, struct str low, struct str high,
		       struct str values[7]);

#endif
