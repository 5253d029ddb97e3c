#include "server/platform/crypto.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>

/* Fetched once: each fetch costs more than the hash of a request. */
struct crypto {
	EVP_MD *sha256;
	EVP_MAC *hmac;
};

struct crypto *crypto_new(void)
{
	struct crypto *crypto = calloc(1, sizeof(*crypto));

	if (!crypto)
		abort();
	/* ignores the machine's openssl.cnf, which may name modules of another libcrypto than the
	 * linked one */
	OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	crypto->sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	crypto->hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	if (!crypto->sha256 || !crypto->hmac)
		abort();
	return crypto;
}

void crypto_free(struct crypto *crypto)
{
	if (!crypto)
		return;
	EVP_MD_free(crypto->sha256);
	EVP_MAC_free(crypto->hmac);
	free(crypto);
}

void crypto_hash(const struct crypto *crypto, struct str bytes, unsigned char out[CRYPTO_HASH_SIZE])
{
	if (!EVP_Digest(bytes.p ? bytes.p : "", bytes.n, out, NULL, crypto->sha256, NULL))
		abort();
}

void crypto_hmac(const struct crypto *crypto, struct str key, struct str bytes,
		 unsigned char out[CRYPTO_HASH_SIZE])
{
	EVP_MAC_CTX *context = EVP_MAC_CTX_new(crypto->hmac);
	OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST,
								(char *)(uintptr_t) "SHA256", 0),
			       OSSL_PARAM_construct_end()};
	size_t n = CRYPTO_HASH_SIZE;

	if (!context || !EVP_MAC_init(context, (const unsigned char *)key.p, key.n, params) ||
	    !EVP_MAC_update(context, (const unsigned char *)bytes.p, bytes.n) ||
	    !EVP_MAC_final(context, out, &n, CRYPTO_HASH_SIZE))
		abort();
	EVP_MAC_CTX_free(context);
}

struct crypto_aes *crypto_aes_new(struct str key)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	const EVP_CIPHER *cipher = key.n == 16   ? EVP_aes_128_ecb()
				   : key.n == 24 ? EVP_aes_192_ecb()
						 : EVP_aes_256_ecb();

	if (!context ||
	    !EVP_EncryptInit_ex(context, cipher, NULL, (const unsigned char *)key.p, NULL) ||
	    !EVP_CIPHER_CTX_set_padding(context, 0))
		abort();
	return (struct crypto_aes *)context;
}

void crypto_aes_free(struct crypto_aes *aes)
{
	EVP_CIPHER_CTX_free((EVP_CIPHER_CTX *)aes);
}

void crypto_aes_block(const struct crypto_aes *aes, const unsigned char in[CRYPTO_AES_BLOCK],
		      unsigned char out[CRYPTO_AES_BLOCK])
{
	int n;

	if (!EVP_EncryptUpdate((EVP_CIPHER_CTX *)(uintptr_t)aes, out, &n, in, CRYPTO_AES_BLOCK))
		abort();
}

void crypto_random(void *bytes, size_t n)
{
	if (RAND_bytes(bytes, (int)n) != 1)
		abort();
}

bool crypto_is_same(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}

void crypto_cleanse(void *bytes, size_t n)
{
	OPENSSL_cleanse(bytes, n);
}
