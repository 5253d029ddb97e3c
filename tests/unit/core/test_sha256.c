#include "core/sha256.h"

#include "tests/unit/test.h"

static void check(struct str text, const char *expected)
{
	unsigned char digest[SHA256_SIZE];
	char hex[2 * SHA256_SIZE + 1];

	sha256_of(text, digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	CHECK_STR(str_of(hex), expected);
}

/* FIPS 180-4's examples; the others are what sha256sum says: around the ends of blocks. */
TEST(known_values)
{
	char many[200];

	memset(many, 'a', sizeof(many));
	check(STR(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	check(STR("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	check(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
	      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	check((struct str){many, 55},
	      "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
	check((struct str){many, 56},
	      "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
	check((struct str){many, 64},
	      "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
	check((struct str){many, 200},
	      "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5");
}

TEST_MAIN(TEST_CASE(known_values))
