/*
 * heat - when a partition key range is split because of what its keys consume, and where. Pure
 * arithmetic over the minutes that the caller gives.
 *
 * AWS says: a partition that stays near its limit is split, so that a key that stands out comes to
 * have a range of its own, with 3,000 read and 1,000 write units (Developer Guide, "DynamoDB burst
 * and adaptive capacity"; Database Blog, "Scaling DynamoDB: How partitions, hot keys, and split for
 * heat impact performance"). The point is chosen by the keys that were seen, not in the middle, and
 * a partition whose traffic goes to one key is not split ("Amazon DynamoDB: A Scalable, Predictably
 * Performant, and Fully Managed NoSQL Database Service", USENIX ATC 2022, section 4.4).
 *
 * AWS gives no numbers. Assumed are HEAT_SHARE of the limit for HEAT_MINUTES in a row: throughput
 * rose after about ten minutes in the blog's trials. AWS may also split the items of one partition
 * key by their sort keys; ranges here are of partition keys only.
 */
#ifndef DYNALITH_PROTOCOL_HEAT_H
#define DYNALITH_PROTOCOL_HEAT_H

#include <stdbool.h>
#include <stdint.h>

#define HEAT_MINUTES 10
#define HEAT_SHARE 0.9
#define HEAT_SAMPLES 64

/* One side of a range. All zero: it begins. */
struct heat {
	int64_t minute;                 /* the one under way */
	int64_t tokens;                 /* taken in it */
	int hot;                        /* minutes in a row before it */
	int64_t owed;                   /* tokens until the next sample */
	uint32_t n;                     /* samples so far; the last ones are kept */
	uint32_t samples[HEAT_SAMPLES]; /* hashes of partition keys */
};

/* `rate`: the range's limit, units a second. `place`: the hash of the key that took the tokens. */
void heat_add(struct heat *heat, int64_t rate, uint32_t place, int64_t tokens);

/* When time has come to `minute`. True: the range is to be split, into the hashes below *cut and
 * the others. */
bool heat_pass(struct heat *heat, int64_t rate, int64_t minute, uint32_t *cut);

#endif
