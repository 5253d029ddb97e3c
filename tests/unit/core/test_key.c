/* Hashes of keys, told by where AWS puts them. */
#include "core/key.h"
#include "core/md5.h"
#include "core/number.h"
#include "tests/unit/test.h"

static struct arena *arena;

static struct str digest_of(const char *text, size_t n, size_t step)
{
	unsigned char digest[MD5_SIZE];
	struct buf hex = buf_in(arena);
	struct md5 md5;

	md5_begin(&md5);
	for (size_t i = 0; i < n; i += step)
		md5_add(&md5, text + i, n - i < step ? n - i : step);
	md5_end(&md5, digest);
	buf_add_hex(&hex, digest, MD5_SIZE);
	return buf_str(&hex);
}

/* RFC 1321, A.5. */
TEST(md5_of_the_standard)
{
	CHECK_STR(digest_of("", 0, 1), "d41d8cd98f00b204e9800998ecf8427e");
	CHECK_STR(digest_of("a", 1, 1), "0cc175b9c0f1b6a831c399e269772661");
	CHECK_STR(digest_of("message digest", 14, 3), "f96b697d7cb7938d525a2f31aaf161d0");
	CHECK_STR(
		digest_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 62, 62),
		"d174ab98d277d9f5a5611c2c9f419d9f");
	CHECK_STR(digest_of("1234567890123456789012345678901234567890123456789012345678901234567890"
			    "1234567890",
			    80, 7),
		  "57edf4a22be3c955ac49da2e2107b67a");
}

/* Padding that ends within a block, at its end and in the next one: however the bytes come, the
 * digest is one. */
TEST(md5_of_every_length)
{
	char bytes[200];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t n = 0; n < sizeof(bytes); n++)
		CHECK(str_eq(digest_of(bytes, n, 200), digest_of(bytes, n, 1 + n % 70)));
	CHECK_STR(digest_of(bytes, 55, 200), "04364420e25c512fd958a70738aa8f72");
	CHECK_STR(digest_of(bytes, 56, 200), "668a72d5ba17f08e62dabcafad6db14b");
	CHECK_STR(digest_of(bytes, 64, 200), "c1bb4f81d892b2d57947682aeb252456");
}

static struct value value_of(enum type type, const char *text)
{
	char *bytes = arena_bytes(arena, NUMBER_MAX);
	struct err err = err_in(arena);
	size_t n;

	if (type != TYPE_N)
		return value_of_str(type, str_of(text));
	return number_parse(str_of(text), bytes, &n, &err) == OK
		       ? value_of_str(TYPE_N, (struct str){bytes, n})
		       : VALUE_NONE;
}

static uint32_t hash_of(enum type type, const char *text)
{
	struct value value = value_of(type, text);
	const struct value *values[] = {&value};
	struct buf key = buf_in(arena);

	key_add_partition(&key, KEY_HASH_MD5, values, 1);
	return (uint32_t)str_be(key.p, KEY_HASH_SIZE);
}

/* As version 0.1.0 wrote the rows of vector indexes without a HASH. */
TEST(no_elements_have_no_hash)
{
	for (enum key_hash hash = KEY_HASH_FNV; hash <= KEY_HASH_MD5; hash++) {
		struct buf key = buf_in(arena);

		key_add_partition(&key, hash, NULL, 0);
		CHECK_INT(key.n, KEY_HASH_SIZE);
		CHECK_INT(str_be(key.p, KEY_HASH_SIZE), 0);
	}
}

static struct str packed(const char *text)
{
	struct value value = value_of(TYPE_N, text);
	unsigned char bytes[NUMBER_BILLED_MAX];
	struct buf hex = buf_in(arena);
	size_t n = number_packed(value_str(&value), bytes);

	CHECK_INT(n, number_billed_size(value_str(&value)));
	for (size_t i = 0; i < n; i++)
		buf_printf(&hex, "%02x", bytes[i]);
	return buf_str(&hex);
}

/* dynalite, numToBuffer: its tests of segments pass against AWS. */
TEST(packed_numbers)
{
	CHECK_STR(packed("0"), "80");
	CHECK_STR(packed("1"), "c102");
	CHECK_STR(packed("100"), "c202");
	CHECK_STR(packed("251"), "c20334");
	CHECK_STR(packed("2388"), "c21859");
	CHECK_STR(packed("1.5"), "c10233");
	CHECK_STR(packed("0.07"), "c008");
	CHECK_STR(packed("-1"), "3e6466");
	CHECK_STR(packed("-0.5"), "3f3366");
	CHECK_STR(packed("1e-130"), "8002");
	CHECK_STR(packed("9.9999999999999999999999999999999999999e125").n == 2 * 20
			  ? STR("20 bytes")
			  : STR("others"),
		  "20 bytes");
	CHECK_STR(packed("-1234567890123456789012345678901234567.8").n == 2 * 21 ? STR("21 bytes")
										 : STR("others"),
		  "21 bytes");
}

/* dynalite, test/scan.js, "correct string hash segments" and "correct number hash segments":
 * segments of 4096. */
TEST(segments_of_aws)
{
	CHECK_INT(hash_of(TYPE_S, "3635") >> 20, 0);
	CHECK_INT(hash_of(TYPE_S, "228") >> 20, 0);
	CHECK_INT(hash_of(TYPE_S, "1668") >> 20, 1);
	CHECK_INT(hash_of(TYPE_S, "3435") >> 20, 4);
	CHECK_INT(hash_of(TYPE_N, "251") >> 20, 1);
	CHECK_INT(hash_of(TYPE_N, "2388") >> 20, 4095);
	CHECK(hash_of(TYPE_S, "A") < hash_of(TYPE_S, "B"));
	CHECK(hash_of(TYPE_B, "A") == hash_of(TYPE_S, "A"));
}

static struct str bound(struct str bytes)
{
	return str_is_set(bytes)
		       ? str_printf(arena, "%08x", (unsigned)str_be(bytes.p, KEY_HASH_SIZE))
		       : STR("-");
}

TEST(bounds_of_segments)
{
	struct str low, high;

	key_segment(arena, KEY_HASH_MD5, 0, 3, &low, &high);
	CHECK_STR(bound(low), "-");
	CHECK_STR(bound(high), "55600000");
	key_segment(arena, KEY_HASH_MD5, 2, 3, &low, &high);
	CHECK_STR(bound(low), "aab00000");
	CHECK_STR(bound(high), "-");
	key_segment(arena, KEY_HASH_MD5, 4095, 4096, &low, &high);
	CHECK_STR(bound(low), "fff00000");
	key_segment(arena, KEY_HASH_FNV, 1, 3, &low, &high);
	CHECK_STR(bound(low), "55555555");
	key_segment(arena, KEY_HASH_MD5, 999999, 1000000, &low, &high);
	CHECK_STR(bound(low), "ffffffff");
	CHECK_STR(bound(high), "ffffffff");
	key_segment(arena, KEY_HASH_MD5, 4999, 5000, &low, &high); /* empty, not all */
	CHECK(str_is_set(low) && str_eq(low, high));
}

static struct str hex_of(struct str bytes)
{
	struct buf hex = buf_in(arena);

	buf_add_hex(&hex, bytes.p, bytes.n);
	return buf_str(&hex);
}

/* What key_add wrote is read, and skipped, and what follows is left. */
TEST(elements_are_read_back)
{
	const struct value values[] = {
		value_of_str(TYPE_S, STR("")),   value_of_str(TYPE_S, STR("ab")),
		value_of_str(TYPE_B, STR("\0")), value_of_str(TYPE_B, STR("a\0\0\1b\xFF")),
		value_of(TYPE_N, "-12.5"),       value_of(TYPE_N, "0")};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (size_t tail = 0; tail < 2; tail++) {
			struct buf key = buf_in(arena);

			key_add(&key, &values[i]);
			buf_add(&key, "z", tail);
			struct str rest = buf_str(&key), skipped = rest;
			struct value value = key_read(arena, values[i].type, &rest);
			CHECK(value_equal(&value, &values[i]));
			CHECK_STR(rest, tail ? "z" : "");
			key_skip(values[i].type, &skipped);
			CHECK_STR(skipped, tail ? "z" : "");
		}
	}
}

/* Keys that end early: all is taken, nothing beyond is read. */
TEST(what_ends_early_is_read_to_its_end)
{
	static const struct {
		struct str bytes;
		const char *hex;
	} cases[] = {{STR_INIT(""), ""},   {STR_INIT("a"), ""},     {STR_INIT("ab"), "61"},
		     {STR_INIT("\0"), ""}, {STR_INIT("a\0"), "61"}, {STR_INIT("\0\xFF"), "00"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct str rest = cases[i].bytes, skipped = rest;
		struct value value = key_read(arena, TYPE_S, &rest);

		CHECK_STR(hex_of(value_str(&value)), cases[i].hex);
		CHECK_INT(rest.n, 0);
		key_skip(TYPE_S, &skipped);
		CHECK_INT(skipped.n, 0);
	}
}

TEST(keys_of_the_first_version_have_an_fnv_hash_and_no_tie)
{
	struct value value = value_of_str(TYPE_S, STR("a"));
	const struct value *values[] = {&value};
	struct buf key = buf_in(arena), tie = buf_in(arena);

	key_add_partition(&key, KEY_HASH_FNV, values, 1);
	CHECK_STR(hex_of((struct str){key.p + KEY_HASH_SIZE, key.n - KEY_HASH_SIZE}), "610001");
	CHECK_STR(hex_of((struct str){key.p, KEY_HASH_SIZE}), "a6545a7b");
	key_add_tie(&tie, KEY_HASH_FNV, values, 1);
	CHECK_INT(tie.n, 0);
	key_add_tie(&tie, KEY_HASH_MD5, values, 1);
	CHECK_INT(str_be(tie.p, KEY_HASH_SIZE), hash_of(TYPE_S, "a"));
}

TEST(a_prefix_ends_before_its_next)
{
	struct buf out = buf_in(arena);
	const struct value prefix = value_of_str(TYPE_B, STR("a\0b"));

	CHECK_STR(key_after_prefix(arena, STR("ab")), "ac");
	CHECK_STR(key_after_prefix(arena, STR("a\xFF\xFF")), "b");
	CHECK(!str_is_set(key_after_prefix(arena, STR("\xFF\xFF"))) &&
	      !str_is_set(key_after_prefix(arena, STR(""))));
	key_add_prefix(&out, &prefix);
	CHECK_STR(hex_of(buf_str(&out)), "6100ff62");
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(elements_are_read_back),
		TEST_CASE(what_ends_early_is_read_to_its_end),
		TEST_CASE(keys_of_the_first_version_have_an_fnv_hash_and_no_tie),
		TEST_CASE(a_prefix_ends_before_its_next),
		TEST_CASE(md5_of_the_standard),
		TEST_CASE(md5_of_every_length),
		TEST_CASE(packed_numbers),
		TEST_CASE(segments_of_aws),
		TEST_CASE(bounds_of_segments),
		TEST_CASE(no_elements_have_no_hash),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
