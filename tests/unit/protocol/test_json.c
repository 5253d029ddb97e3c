#include "protocol/wire/json_internal.h"
#include "tests/unit/protocol/json_same.h"
#include "tests/unit/test.h"

/* Whether the quick reader took the text; what it takes must be what cJSON makes of it. */
static bool is_quick(const char *text, size_t n)
{
	struct arena *arena = arena_new(0);
	const struct json *quick = json_quickly(arena, (struct str){text, n});
	const struct json *usual = json_by_library(arena, (struct str){text, n});

	CHECK(!quick || usual);
	if (quick && usual)
		CHECK(json_is_same(quick, usual));
	arena_free(arena);
	return quick != NULL;
}

TEST(what_clients_write_is_read_quickly)
{
	static const char *const texts[] = {
		"{}",
		" { } \n",
		"{\"a\":[]}",
		"{\"a\":[ ]}",
		"{\"a\":{}}",
		"{\"a\":[[],{},[{}]]}",
		"{\"a\":1,\"b\":-1,\"c\":0,\"d\":999999999999999}",
		"{\"a\":true,\"b\":false,\"c\":null}",
		"{\"a\":\"\",\"\":\"b\"}",
		"{\"a\":\"0123456789abcdef\"}",
		"{\"a\":\"0123456789abcde\\n\"}",
		"{\"TableName\":\"t\",\"Key\":{\"PK\":{\"S\":\"CUSTOMER#1\"},\"SK\":{\"N\":\"1\"}},"
		"\"Limit\":10,\"ConsistentRead\":true}",
		"{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}",
		"{\"a\\nb\":\"x\\ty\"}",
		"{\"a\":\"\\u0041\\u00e9\\u20ac\\uD83D\\uDE00\"}",
		"{\"a\":\"x\\u0000y\"}",
		"{\"a\" : [ 1 , 2 ,\r\n\t3 ] , \"b\" : { \"c\" : \"d\" } }",
		"{\"a\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":-0,\"b\":0.0,\"c\":1.5,\"d\":-1E+5,\"e\":1e-7,\"f\":0e0,\"g\":1e999}",
		"{\"a\":1000000000000000,\"b\":123456789012345678901234567890.5}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(is_quick(texts[i], strlen(texts[i])));
}

TEST(what_is_unusual_is_left_to_the_library)
{
	static const char *const texts[] = {
		"",
		"1",
		"[1]",
		"\"a\"",
		"{",
		"}",
		"{\"a\"}",
		"{\"a\":}",
		"{\"a\":1,}",
		"{\"a\":[1,]}",
		"{\"a\":[,1]}",
		"{a:1}",
		"{\"a\":1}}",
		"{\"a\":1]",
		"{\"a\":[1}",
		"{\"a\":1 2}",
		"{\"a\":01}",
		"{\"a\":1-2}",
		"{\"a\":1.}",
		"{\"a\":.5}",
		"{\"a\":1.e5}",
		"{\"a\":1e}",
		"{\"a\":1e+}",
		"{\"a\":00.5}",
		"{\"a\":+1}",
		"{\"a\":-}",
		"{\"a\":tru}",
		"{\"a\":\"\\x\"}",
		"{\"a\":\"\\",
		"{\"a\":\"\\u12\"}",
		"{\"a\":\"\\uDC00\"}",
		"{\"a\":\"\\uD800\"}",
		"{\"a\":\"\\uD800\\u0041\"}",
		"{\"a\":\"b",
		"{\"a\":\"b\\\"",
		"{\"a\":\"0123456789abcdef",
		"{\x01\"a\":1}",
		"\xEF\xBB\xBF{}",
		"{} x",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(!is_quick(texts[i], strlen(texts[i])));
}

/* RFC 8259; cJSON takes them. */
TEST(control_bytes_are_refused)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct json *root;
	char text[] = "{\"0123456789\": [\"0123456789 \\u0041\",1]}";

	CHECK(json_parse(arena, str_of(text), &root, &err) == OK);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		for (unsigned char c = 1; c < 0x20; c++) {
			char before = text[i];
			bool is_space =
				before == ' ' && i == 14 && (c == '\t' || c == '\n' || c == '\r');

			text[i] = (char)c;
			CHECK((json_parse(arena, str_of(text), &root, &err) == OK) == is_space);
			text[i] = before;
		}
	}
	arena_free(arena);
}

/* Levels of the tree, one array in the other. */
static size_t depth_of(const struct json *json)
{
	size_t depth = 0;

	for (; json; json = json_first(json))
		depth++;
	return depth;
}

TEST(depth_is_bounded)
{
	static char text[2 * JSON_DEPTH_MAX + 16];
	struct arena *arena = arena_new(0);

	for (size_t depth = 1; depth < JSON_DEPTH_MAX + 2; depth += depth < 260 ? 1 : 96) {
		memcpy(text, "{\"a\":", 5);
		memset(text + 5, '[', depth);
		memset(text + 5 + depth, ']', depth);
		text[5 + 2 * depth] = '}';
		const struct json *root = json_quickly(arena, (struct str){text, 6 + 2 * depth});
		CHECK((root != NULL) == (depth < JSON_DEPTH_MAX));
		if (root)
			CHECK_INT(depth_of(root),
				  depth <= JSON_DEPTH_KEPT ? depth + 1 : JSON_DEPTH_KEPT + 1);
		text[5 + 2 * depth - depth / 2 - 1] = '}'; /* one of the brackets is wrong */
		CHECK(!json_quickly(arena, (struct str){text, 6 + 2 * depth}));
		arena_reset(arena);
	}
	arena_free(arena);
}

TEST(numbers_know_how_they_were_written)
{
	struct arena *arena = arena_new(0);
	const struct json *root = json_quickly(
		arena, STR("{\"n\":[1,-0,1234567890123456789],\"d\":[1.0,-0.0,1e30,1E0]}"));

	for (const struct json *n = json_first(json_member(root, "n")); n; n = json_next(n))
		CHECK(!json_is_decimal(n));
	for (const struct json *d = json_first(json_member(root, "d")); d; d = json_next(d))
		CHECK(json_is_decimal(d));
	arena_free(arena);
}

/* Texts with a byte or two of them changed, taken out or doubled: malformed ones are refused by
 * both, others are the same. */
TEST(changed_texts_are_read_alike)
{
	static const char text[] = "{\"TableName\":\"t\\u00e9\\uD83D\\uDE00\",\"Item\":{\"PK\":{"
				   "\"S\":\"CUSTOMER#1\\n\\\"x\"},\"L\":{\"L\":[{\"N\":\"1\"},"
				   "{\"BOOL\":true},{\"NULL\":null}]},\"M\":{\"M\":{}}},\"Limit\":"
				   "10,\"n\":-12,\"x\":[1, 20,300 ,{ }]}";
	static const char bytes[] = "\"\\{}[]:,0189-+.eEtfnu/ \n\rdD8c\x01\x1F\x7F\xC3";
	uint64_t random = 88172645463325252u;
	size_t quick = 0;

	for (int round = 0; round < 60000; round++) {
		char changed[sizeof(text) + 4];
		size_t n = sizeof(text) - 1;

		memcpy(changed, text, n);
		for (int times = 1 + round % 3; times > 0; times--) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			size_t at = random % n, way = random >> 32 & 3;

			if (way == 0 && n > 1) {
				memmove(changed + at, changed + at + 1, --n - at);
			} else if (way == 1) {
				memmove(changed + at + 1, changed + at, n++ - at);
			} else {
				changed[at] = bytes[(random >> 40) % (sizeof(bytes) - 1)];
			}
		}
		quick += is_quick(changed, n);
	}
	CHECK(quick > 5000);
}

TEST_MAIN(TEST_CASE(what_clients_write_is_read_quickly),
	  TEST_CASE(what_is_unusual_is_left_to_the_library), TEST_CASE(control_bytes_are_refused),
	  TEST_CASE(depth_is_bounded), TEST_CASE(numbers_know_how_they_were_written),
	  TEST_CASE(changed_texts_are_read_alike))
