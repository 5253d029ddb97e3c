#include "server/request_id.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

static atomic_ullong numbers;
static uint64_t seed;

void request_id_seed(void)
{
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)time(NULL);
}

static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

void request_id_make(char *out)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint64_t number = atomic_fetch_add(&numbers, 1), bits = 0;

	for (int i = 0; i < REQUEST_ID_SIZE; i++) {
		bits = i % 10 ? bits / 36 : mix(seed ^ mix(number * 8 + (uint64_t)i / 10));
		out[i] = alphabet[bits % 36];
	}
	out[REQUEST_ID_SIZE] = '\0';
}
