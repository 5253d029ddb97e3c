/* The examples of RFC 4231, with keys below, of and above a block, and of FIPS 180-4. */
#include "server/platform/crypto.h"

#include "tests/unit/test.h"

static void check(const unsigned char *bytes, const char *expected)
{
	char hex[2 * CRYPTO_HASH_SIZE + 1];

	for (size_t i = 0; i < CRYPTO_HASH_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	CHECK_STR(str_of(hex), expected);
}

static struct str repeated(char *out, int byte, size_t n)
{
	memset(out, byte, n);
	return (struct str){out, n};
}

TEST(hash_of_known_texts)
{
	struct crypto *crypto = crypto_new();
	unsigned char out[CRYPTO_HASH_SIZE];

	crypto_hash(crypto, STR(""), out);
	check(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	crypto_hash(crypto, STR("abc"), out);
	check(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	crypto_free(crypto);
}

TEST(hmac_of_known_texts)
{
	struct crypto *crypto = crypto_new();
	unsigned char out[CRYPTO_HASH_SIZE];
	char key[131], text[50];

	crypto_hmac(crypto, repeated(key, 0x0b, 20), STR("Hi There"), out);
	check(out, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	crypto_hmac(crypto, STR("Jefe"), STR("what do ya want for nothing?"), out);
	check(out, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	crypto_hmac(crypto, repeated(key, 0xaa, 20), repeated(text, 0xdd, 50), out);
	check(out, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
	crypto_hmac(crypto, repeated(key, 0xaa, 131),
		    STR("Test Using Larger Than Block-Size Key - Hash Key First"), out);
	check(out, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	crypto_free(crypto);
}

/* As the steps of a derived key do. */
TEST(hmac_in_place_of_its_key)
{
	struct crypto *crypto = crypto_new();
	unsigned char apart[CRYPTO_HASH_SIZE], key[CRYPTO_HASH_SIZE];

	crypto_hash(crypto, STR("key"), key);
	const struct str old = {(const char *)key, sizeof(key)};
	crypto_hmac(crypto, old, STR("text"), apart);
	crypto_hmac(crypto, old, STR("text"), key);
	CHECK(memcmp(apart, key, sizeof(key)) == 0);
	crypto_free(crypto);
}

TEST(same_bytes)
{
	CHECK(crypto_is_same("abc", "abd", 2));
	CHECK(!crypto_is_same("abc", "abd", 3));
	CHECK(!crypto_is_same("xbc", "abc", 3));
	CHECK(crypto_is_same("", "", 0));
}

TEST_MAIN(TEST_CASE(hash_of_known_texts), TEST_CASE(hmac_of_known_texts),
	  TEST_CASE(hmac_in_place_of_its_key), TEST_CASE(same_bytes))
