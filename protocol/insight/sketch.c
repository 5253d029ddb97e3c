#include "protocol/insight/sketch.h"

#define EXACT 16 /* values below have ranges of their own */

static unsigned range_of(uint64_t value)
{
	if (value < EXACT)
		return (unsigned)value;
	unsigned power = 63u - (unsigned)__builtin_clzll(value); /* at least 4 */
	unsigned range = EXACT + (power - 4) * 8 + (unsigned)(value >> (power - 3) & 7);

	return range < SKETCH_RANGES ? range : SKETCH_RANGES - 1;
}

uint64_t sketch_value(unsigned range)
{
	if (range < EXACT)
		return range;
	unsigned power = 4 + (range - EXACT) / 8;
	uint64_t width = (uint64_t)1 << (power - 3);

	return ((uint64_t)1 << power) + (range - EXACT) % 8 * width + width / 2;
}

void sketch_add(struct sketch *sketch, uint64_t value)
{
	sketch->least = sketch->n == 0 || value < sketch->least ? value : sketch->least;
	sketch->greatest = value > sketch->greatest ? value : sketch->greatest;
	sketch->n++;
	sketch->sum += value;
	sketch->counts[range_of(value)]++;
}

void sketch_merge(struct sketch *into, const struct sketch *from)
{
	if (from->n == 0)
		return;
	into->least = into->n == 0 || from->least < into->least ? from->least : into->least;
	into->greatest = from->greatest > into->greatest ? from->greatest : into->greatest;
	into->n += from->n;
	into->sum += from->sum;
	for (unsigned i = 0; i < SKETCH_RANGES; i++)
		into->counts[i] += from->counts[i];
}

uint64_t sketch_quantile(const struct sketch *sketch, double share)
{
	double wanted = share * (double)sketch->n, seen = 0;

	for (unsigned i = 0; i < SKETCH_RANGES; i++) {
		seen += sketch->counts[i];
		if (sketch->counts[i] > 0 && seen >= wanted) {
			uint64_t value = sketch_value(i);

			return value < sketch->least      ? sketch->least
			       : value > sketch->greatest ? sketch->greatest
							  : value;
		}
	}
	return sketch->greatest;
}
