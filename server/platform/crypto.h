/*
 * crypto - SHA-256, HMAC and comparisons that take the same time for all texts: what signatures of
 * requests need; AES and random bytes for masks. The only door to libcrypto but for TLS.
 */
#ifndef DYNALITH_SERVER_PLATFORM_CRYPTO_H
#define DYNALITH_SERVER_PLATFORM_CRYPTO_H

#include <stdbool.h>

#include "core/str.h"

#define CRYPTO_HASH_SIZE 32

/* May be used by many threads at once. */
struct crypto;

/* Where it cannot be had, the process is aborted. */
struct crypto *crypto_new(void);
void crypto_free(struct crypto *crypto); /* NULL is allowed */

/* SHA-256 (FIPS 180-4). */
void crypto_hash(const struct crypto *crypto, struct str bytes,
		 unsigned char out[CRYPTO_HASH_SIZE]);

/* HMAC-SHA-256 (RFC 2104). `out` may be `key`. */
void crypto_hmac(const struct crypto *crypto, struct str key, struct str bytes,
		 unsigned char out[CRYPTO_HASH_SIZE]);

#define CRYPTO_AES_BLOCK 16

/* AES (FIPS 197) by one key, of 16, 24 or 32 bytes. Of one thread. */
struct crypto_aes;
struct crypto_aes *crypto_aes_new(struct str key);
void crypto_aes_free(struct crypto_aes *aes); /* NULL is allowed */
/* Encrypts one block. `out` may be `in`. */
void crypto_aes_block(const struct crypto_aes *aes, const unsigned char in[CRYPTO_AES_BLOCK],
		      unsigned char out[CRYPTO_AES_BLOCK]);

/* Bytes that nobody can guess. */
void crypto_random(void *bytes, size_t n);

/* Whether n bytes are the same; it takes as long for any. */
bool crypto_is_same(const void *a, const void *b, size_t n);

/* Overwrites what was secret. */
void crypto_cleanse(void *bytes, size_t n);

#endif
