/*
 * sketch - how numbers are distributed, in little memory: counts of ranges whose width is an eighth
 * of their values.
 *
 * The smallest, the greatest and the sum are exact; a quantile is at most 7 % off.
 */
#ifndef DYNALITH_PROTOCOL_SKETCH_H
#define DYNALITH_PROTOCOL_SKETCH_H

#include <stdint.h>

#define SKETCH_RANGES 256 /* 8 for each power of two, up to 2^32 */

struct sketch {
	uint64_t n, sum, least, greatest;
	uint32_t counts[SKETCH_RANGES];
};

void sketch_add(struct sketch *sketch, uint64_t value);
void sketch_merge(struct sketch *into, const struct sketch *from);
/* What values of a range count as: its middle. */
uint64_t sketch_value(unsigned range);
/* The value below which `share` (0 to 1) of the numbers lie; 0 where there are none. */
uint64_t sketch_quantile(const struct sketch *sketch, double share);

#endif
