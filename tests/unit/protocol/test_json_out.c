#include "protocol/wire/json_out.h"

#include "tests/unit/test.h"

/* Byte by byte, as RFC 8259 has it. */
static struct str slowly(struct arena *arena, struct str s)
{
	struct buf buf = buf_in(arena);

	buf_add_byte(&buf, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		const char *letter = c ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", c) : NULL;

		if (letter && (c < ' ' || c == '"' || c == '\\'))
			buf_printf(&buf, "\\%c", letter[1]);
		else if (c < ' ')
			buf_printf(&buf, "\\u%04x", c);
		else
			buf_add_byte(&buf, c);
	}
	buf_add_byte(&buf, '"');
	return buf_str(&buf);
}

static void check(struct arena *arena, struct str s)
{
	struct json_out out = json_out_in(arena);

	json_out_string(&out, s);
	CHECK(str_eq(json_out_str(&out), slowly(arena, s)));
}

TEST(every_byte_at_every_place)
{
	for (int c = 0; c < 256; c++) {
		struct arena *arena = arena_new(0);

		for (size_t n = 1; n < 34; n++) {
			for (size_t at = 0; at < n; at++) {
				char *text = arena_bytes(arena, n);

				memset(text, 'x', n);
				text[at] = (char)c;
				check(arena, (struct str){text, n});
			}
		}
		arena_free(arena);
	}
}

TEST(texts_full_of_escapes)
{
	struct arena *arena = arena_new(0);
	char text[40];

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = "ab\"\\\n\x01\x1F \x7F\xC3"[(size_t)(round * 31 + (int)i * (round % 7 + 1)) % 10];
		check(arena, (struct str){text, (size_t)round % sizeof(text)});
	}
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(every_byte_at_every_place), TEST_CASE(texts_full_of_escapes))
