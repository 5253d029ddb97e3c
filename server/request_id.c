#include "server/request_id.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static atomic_ullong numbers;
static uint64_t seed;

void request_id_seed(void)
{
	if (getentropy(&seed, sizeof(seed)) != 0)
		seed = (uint64_t)time(NULL);
}

static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

#define PART 6 /* characters that 32 bits give */

/* By multiplications of 32 bits, the characters are above the point: no division, and this is in
 * each answer. */
void request_id_make(char *out)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint64_t number = atomic_fetch_add(&numbers, 1), bits = 0;

	for (unsigned i = 0; i < REQUEST_ID_SIZE; i += PART) {
		bits = i % (2 * PART) ? bits >> 32 : mix(seed ^ mix(number * 8 + i / (2 * PART)));
		uint64_t part = bits;
		for (unsigned k = i; k < i + PART && k < REQUEST_ID_SIZE; k++) {
			part = (part & UINT32_MAX) * 36;
			out[k] = alphabet[part >> 32];
		}
	}
	out[REQUEST_ID_SIZE] = '\0';
}
