/* The nine samples of NIST for FF1: SP 800-38G, examples "FF1samples.pdf". */
#include "server/mask/ff1.h"

#include "tests/unit/test.h"

static const unsigned char key[] = {0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6,
				    0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
				    0xEF, 0x43, 0x59, 0xD8, 0xD5, 0x80, 0xAA, 0x4F,
				    0x7F, 0x03, 0x6D, 0x6F, 0x04, 0xFC, 0x6A, 0x94};
static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static void encrypts(size_t key_size, const char *tweak, unsigned radix, const char *plain,
		     const char *expected)
{
	struct crypto_aes *aes = crypto_aes_new((struct str){(const char *)key, key_size});
	unsigned char symbols[64];
	char text[65] = "";
	size_t n = strlen(plain);

	for (size_t i = 0; i < n; i++)
		symbols[i] = (unsigned char)(strchr(digits, plain[i]) - digits);
	ff1_encrypt(aes, str_of(tweak), radix, symbols, n);
	for (size_t i = 0; i < n; i++)
		text[i] = digits[symbols[i]];
	CHECK_STR(str_of(text), expected);
	crypto_aes_free(aes);
}

TEST(ff1_samples_of_nist)
{
	const char *ten = "0123456789", *nineteen = "0123456789abcdefghi";
	const char *backwards = "9876543210", *letters = "7777pqrs777";

	encrypts(16, "", 10, ten, "2433477484");
	encrypts(16, backwards, 10, ten, "6124200773");
	encrypts(16, letters, 36, nineteen, "a9tv40mll9kdu509eum");
	encrypts(24, "", 10, ten, "2830668132");
	encrypts(24, backwards, 10, ten, "2496655549");
	encrypts(24, letters, 36, nineteen, "xbj3kv35jrawxv32ysr");
	encrypts(32, "", 10, ten, "6657667009");
	encrypts(32, backwards, 10, ten, "1001623463");
	encrypts(32, letters, 36, nineteen, "xs8a0azh2avyalyzuwd");
}

TEST(ff1_keeps_texts_apart)
{
	struct crypto_aes *aes = crypto_aes_new((struct str){(const char *)key, 32});
	bool is_seen[10000] = {false};

	for (unsigned i = 0; i < 10000; i++) {
		unsigned char s[4] = {(unsigned char)(i / 1000), (unsigned char)(i / 100 % 10),
				      (unsigned char)(i / 10 % 10), (unsigned char)(i % 10)};

		ff1_encrypt(aes, STR("tweak"), 10, s, 4);
		unsigned to = s[0] * 1000u + s[1] * 100u + s[2] * 10u + s[3];
		CHECK(to < 10000 && !is_seen[to]);
		is_seen[to] = true;
	}
	crypto_aes_free(aes);
}

TEST(ff1_limits)
{
	CHECK_INT((int)ff1_most(10), 32);
	CHECK_INT((int)ff1_most(26), 22);
	CHECK_INT((int)ff1_most(256), 14);
}

TEST_MAIN(TEST_CASE(ff1_samples_of_nist), TEST_CASE(ff1_keeps_texts_apart), TEST_CASE(ff1_limits))
