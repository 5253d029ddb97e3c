#include "server/mask/ff1.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define ROUNDS 10
#define NUMBER_MAX ((uint64_t)1 << 56) /* times 256, plus a byte, it still fits 64 bits */
#define BLOCK CRYPTO_AES_BLOCK
#define QUEUE_MAX (FF1_TWEAK_MAX + 2 * BLOCK)

static uint64_t ff1_power(unsigned radix, size_t n)
{
	uint64_t power = 1;

	while (n-- > 0)
		power *= radix;
	return power;
}

size_t ff1_most(unsigned radix)
{
	uint64_t power = 1;
	size_t half = 0;

	while (power <= NUMBER_MAX / radix) {
		power *= radix;
		half++;
	}
	return 2 * half;
}

static uint64_t ff1_number(const unsigned char *symbols, size_t n, unsigned radix)
{
	uint64_t number = 0;

	for (size_t i = 0; i < n; i++)
		number = number * radix + symbols[i];
	return number;
}

static void ff1_symbols(uint64_t number, unsigned char *symbols, size_t n, unsigned radix)
{
	while (n-- > 0) {
		symbols[n] = (unsigned char)(number % radix);
		number /= radix;
	}
}

/* Bytes of the largest number of `n` symbols: b of step 3. */
static size_t ff1_width(unsigned radix, size_t n)
{
	uint64_t largest = ff1_power(radix, n) - 1;
	size_t width = 0;

	for (; largest > 0; largest >>= 8)
		width++;
	return width;
}

static void ff1_put(unsigned char *to, uint64_t number, size_t width)
{
	while (width-- > 0) {
		to[width] = (unsigned char)number;
		number >>= 8;
	}
}

/* CBC-MAC: `mac` holds the value so far. */
static void ff1_chain(const struct crypto_aes *aes, unsigned char mac[BLOCK],
		      const unsigned char *bytes, size_t n)
{
	for (size_t at = 0; at < n; at += BLOCK) {
		for (size_t i = 0; i < BLOCK; i++)
			mac[i] ^= bytes[at + i];
		crypto_aes_block(aes, mac, mac);
	}
}

void ff1_encrypt(const struct crypto_aes *aes, struct str tweak, unsigned radix,
		 unsigned char *symbols, size_t n)
{
	size_t u = n / 2, v = n - u, b = ff1_width(radix, v), d = 4 * ((b + 3) / 4) + 4;
	size_t padded = (tweak.n + b + 1 + BLOCK - 1) / BLOCK * BLOCK;
	unsigned char queue[QUEUE_MAX] = {0}, head[BLOCK] = {1, 2, 1}, start[BLOCK] = {0};
	uint64_t left = ff1_number(symbols, u, radix), right = ff1_number(symbols + u, v, radix);

	assert(n >= 2 && n <= ff1_most(radix) && tweak.n <= FF1_TWEAK_MAX);
	ff1_put(head + 3, radix, 3);
	head[6] = ROUNDS;
	head[7] = (unsigned char)u;
	ff1_put(head + 8, n, 4);
	ff1_put(head + 12, tweak.n, 4);
	ff1_chain(aes, start, head, BLOCK);
	if (tweak.n > 0)
		memcpy(queue, tweak.p, tweak.n);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t modulus = ff1_power(radix, round % 2 == 0 ? u : v), y = 0;
		unsigned char mac[BLOCK];

		queue[padded - b - 1] = (unsigned char)round;
		ff1_put(queue + padded - b, right, b);
		memcpy(mac, start, BLOCK);
		ff1_chain(aes, mac, queue, padded);
		for (size_t i = 0; i < d; i++) /* d is at most 12: one block is enough */
			y = (y * 256 + mac[i]) % modulus;
		y = (left + y) % modulus;
		left = right;
		right = y;
	}
	ff1_symbols(left, symbols, u, radix);
	ff1_symbols(right, symbols + u, v, radix);
}
