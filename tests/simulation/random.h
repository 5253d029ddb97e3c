/* random - numbers that follow from a seed. */
#ifndef DYNALITH_SIMULATION_RANDOM_H
#define DYNALITH_SIMULATION_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

/* splitmix64. */
static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += 0x9E3779B97F4A7C15u;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

/* From 0 to n - 1. */
static inline uint32_t random_draw(struct random *random, uint32_t n)
{
	return (uint32_t)((random_next(random) >> 32) * n >> 32);
}

/* Once in n. */
static inline bool random_is(struct random *random, uint32_t n)
{
	return random_draw(random, n) == 0;
}

#endif
