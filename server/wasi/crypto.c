#include "server/platform/crypto.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/sha256.h"

#define BLOCK 64 /* bytes that SHA-256 takes at once */
#define INNER 0x36
#define OUTER 0x5c

struct crypto {
	char unused;
};

/* Nothing is kept: core/sha256.h has no state. */
struct crypto *crypto_new(void)
{
	struct crypto *crypto = calloc(1, sizeof(*crypto));

	if (!crypto)
		abort();
	return crypto;
}

void crypto_free(struct crypto *crypto)
{
	free(crypto);
}

void crypto_hash(const struct crypto *crypto, struct str bytes, unsigned char out[CRYPTO_HASH_SIZE])
{
	(void)crypto;
	sha256_of(bytes, out);
}

/* The hash of the padded key, turned by `mask`, and the bytes. */
static void hash_keyed(const unsigned char key[BLOCK], unsigned char mask, struct str bytes,
		       unsigned char *out)
{
	char *text = malloc(BLOCK + bytes.n);

	if (!text)
		abort();
	for (size_t i = 0; i < BLOCK; i++)
		text[i] = (char)(key[i] ^ mask);
	if (bytes.n > 0)
		memcpy(text + BLOCK, bytes.p, bytes.n);
	sha256_of((struct str){text, BLOCK + bytes.n}, out);
	crypto_cleanse(text, BLOCK);
	free(text);
}

void crypto_hmac(const struct crypto *crypto, struct str key, struct str bytes,
		 unsigned char out[CRYPTO_HASH_SIZE])
{
	unsigned char padded[BLOCK] = {0}, inner[CRYPTO_HASH_SIZE];

	(void)crypto;
	if (key.n > BLOCK)
		sha256_of(key, padded);
	else if (key.n > 0)
		memcpy(padded, key.p, key.n);
	hash_keyed(padded, INNER, bytes, inner);
	hash_keyed(padded, OUTER, (struct str){(const char *)inner, sizeof(inner)}, out);
	crypto_cleanse(padded, sizeof(padded));
}

bool crypto_is_same(const void *a, const void *b, size_t n)
{
	const volatile unsigned char *left = a, *right = b;
	unsigned char difference = 0;

	for (size_t i = 0; i < n; i++)
		difference = (unsigned char)(difference | (left[i] ^ right[i]));
	return difference == 0;
}

void crypto_cleanse(void *bytes, size_t n)
{
	volatile unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		at[i] = 0;
}
