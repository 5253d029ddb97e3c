/*
 * series - units over time, in little memory: up to 64 buckets that are all equally wide. Where
 * time goes beyond the last, each two become one, and all series of a timeline do so together.
 */
#ifndef DYNALITH_PROTOCOL_SERIES_H
#define DYNALITH_PROTOCOL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define SERIES_BUCKETS 64

struct series {
	float units[SERIES_BUCKETS]; /* exact up to 8 million units a bucket: for plots, sums are
					kept elsewhere */
};

/* Zero: nothing has begun. Times are those of a clock that nobody turns. */
struct timeline {
	int64_t began_ms, width_ms;  /* of a bucket: a power of two */
	int64_t end_ms;              /* of bucket `at` */
	unsigned at;                 /* the bucket that is filled */
};

/* Goes to the bucket of a time. Returns how often each two buckets of all series become one before
 * they take anything more; mostly 0. */
unsigned series_move(struct timeline *timeline, int64_t ms);

/* Whether series_move() is needed. Earlier times belong to the bucket that is filled. */
static inline bool series_has_passed(const struct timeline *timeline, int64_t ms)
{
	return ms >= timeline->end_ms;
}

void series_halve(struct series *series, unsigned times);
void series_merge(struct series *into, const struct series *from);

#endif
