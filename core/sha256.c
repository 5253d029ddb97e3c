#include "core/sha256.h"

#define BLOCK 64
#define ROUNDS 64

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turned(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void sha256_add_block(uint32_t state[8], const char *block)
{
	uint32_t w[ROUNDS], s[8];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)str_be(block + i * 4, 4);
	for (unsigned i = 16; i < ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] +
		       (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
	}
	memcpy(s, state, sizeof(s));
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]),
			 majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		uint32_t t = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
			     choice + constants[i] + w[i];

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t;
		s[0] = t + (turned(s[1], 2) ^ turned(s[1], 13) ^ turned(s[1], 22)) + majority;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256_of(struct str text, unsigned char digest[SHA256_SIZE])
{
	/* those of the square roots of the first 8 primes */
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	char last[2 * BLOCK] = {0};
	size_t rest = text.n % BLOCK, n = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	uint64_t bits = (uint64_t)text.n * 8;

	for (size_t at = 0; at + BLOCK <= text.n; at += BLOCK)
		sha256_add_block(state, text.p + at);
	if (rest > 0)
		memcpy(last, text.p + text.n - rest, rest);
	last[rest] = (char)0x80;
	for (unsigned i = 0; i < 8; i++)
		last[n - 1 - i] = (char)(bits >> 8 * i);
	for (size_t at = 0; at < n; at += BLOCK)
		sha256_add_block(state, last + at);
	for (unsigned i = 0; i < SHA256_SIZE; i++)
		digest[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
