/*
 * bucket - token buckets, and the peak that on-demand capacity grows by. Pure arithmetic over the
 * time that the caller gives.
 *
 * Tokens are thousandths of a capacity unit, so that a rate in units per second fills as many of
 * them in a millisecond, with nothing to round.
 *
 * A bucket lets a request through while it is not empty, and the request takes what it costs, also
 * where that is more than is left: what a Query costs is known when it has read. The rest is owed,
 * and the bucket is empty until time has paid it. Over any time the rate holds. AWS: "Amazon
 * DynamoDB: A Scalable, Predictably Performant, and Fully Managed NoSQL Database Service" (USENIX
 * ATC 2022), section 4.2.
 */
#ifndef DYNALITH_PROTOCOL_BUCKET_H
#define DYNALITH_PROTOCOL_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

#define BUCKET_UNIT 1000 /* tokens of a capacity unit */

struct bucket {
	int64_t rate;     /* units per second */
	int64_t capacity; /* tokens that it holds */
	int64_t left;     /* tokens; below zero: owed */
	int64_t at_ms;    /* the time until which it was filled */
};

/* Full, for `seconds` of its rate, one at least. */
struct bucket bucket_full(int64_t rate, int64_t seconds, int64_t now_ms);

/* Fills it until now. A clock that was turned back fills nothing, and by less than 10 seconds not
 * before it is where it was. */
void bucket_pass(struct bucket *bucket, int64_t now_ms);

/*
 * The same, and from now on it has that rate. A higher one is there at once with what it has more
 * in a second, so that a client that was throttled goes on although the clock stands.
 */
void bucket_tune(struct bucket *bucket, int64_t rate, int64_t seconds, int64_t now_ms);

bool bucket_is_empty(const struct bucket *bucket);
void bucket_take(struct bucket *bucket, int64_t tokens);
void bucket_give_back(struct bucket *bucket, int64_t tokens);

/*
 * The highest consumption of a second, and the one that counts: that of a period of 30 minutes
 * which is over. AWS: Developer Guide, "DynamoDB on-demand capacity mode": twice the previous peak
 * at once; more within 30 minutes may be throttled.
 */
struct peak {
	int64_t reached;            /* tokens in a second, in a period that is over */
	int64_t period_ms;          /* when the one under way began, a whole second; 0: none yet */
	int64_t best;               /* in a second of it that is over */
	int64_t second, in_second;  /* the one under way, and what was consumed in it */
};

void peak_add(struct peak *peak, int64_t tokens, int64_t now_ms);

/* Units per second: twice the peak that was reached, `least` at least. */
int64_t peak_limit(struct peak *peak, int64_t least, int64_t now_ms);

/* When the period under way is over, so that its peak counts; 0: none is under way. */
int64_t peak_period_end(const struct peak *peak);

#endif
