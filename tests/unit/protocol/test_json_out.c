#include "protocol/wire/json_out.h"

#include "core/image.h"
#include "core/number.h"
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

		for (size_t n = 1; n < 200; n += n < 70 ? 1 : 29) {
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
	char text[400];

	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = "ab\"\\\n\x01\x1F \x7F\xC3"
				  "abcdefghijklmnopqrstuvwxyz"[((size_t)round * 31 +
								i * (size_t)(round % 7 + 1)) %
							       (round % 3 ? 10 : 36)];
		check(arena, (struct str){text, (size_t)round % sizeof(text)});
	}
	arena_free(arena);
}

/* {name: value} from its image, which ends where its memory ends. */
static struct str from_image(struct arena *arena, const struct value *item)
{
	struct buf image = buf_in(arena);

	image_encode(item, &image);
	char *exact = malloc(image.n);
	memcpy(exact, image.p, image.n);
	struct json_out out = json_out_in(arena);
	json_out_image(&out, (struct str){exact, image.n});
	free(exact);
	return json_out_str(&out);
}

TEST(members_of_images)
{
	static const char *const numbers[] = {"0",
					      "7",
					      "-7",
					      "10",
					      "-100",
					      "1234567",
					      "12.5",
					      "-0.05",
					      "99.99",
					      "1E125",
					      "-1E-130",
					      "1.5E-3",
					      "12345678901234567890123456789012345678",
					      "-1234567890123456789.123456789",
					      "1E38"};
	char text[40];

	for (size_t round = 0; round < sizeof(text) * 40; round++) {
		struct arena *arena = arena_new(0);
		size_t name_size = 1 + round % 20, size = round % sizeof(text),
		       at = round / sizeof(text);
		char number[NUMBER_MAX];
		size_t number_size;
		struct err err = err_in(arena);
		const char *digits = numbers[round % (sizeof(numbers) / sizeof(*numbers))];

		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = i == at ? "\"\\\n\x1F"[round % 4] : (char)('a' + i % 26);
		CHECK_INT(number_parse(str_of(digits), number, &number_size, &err), OK);
		struct member members[] = {
			{{text, name_size}, {0}},
			{STR("n"), value_of_str(TYPE_N, (struct str){number, number_size})},
			{STR("t"), value_of_str(TYPE_S, (struct str){text, size})},
		};
		members[0].value = members[2].value;
		size_t first = round % 3; /* texts and numbers stand at the end */
		struct value item = {
			.type = TYPE_M, .n = (uint32_t)(3 - first), .members = members + first};
		struct json_out out = json_out_in(arena);
		struct str found = from_image(arena, &item),
			   quoted = slowly(arena, members[first].name);

		json_out_item(&out, &item);
		CHECK(str_eq(found, json_out_str(&out)));
		CHECK(found.n > quoted.n && str_eq((struct str){found.p + 1, quoted.n}, quoted));
		arena_free(arena);
	}
}

static struct value number_of(struct arena *arena, const char *digits)
{
	char *number = arena_bytes(arena, NUMBER_MAX);
	struct err err = err_in(arena);
	size_t n = 0;

	CHECK_INT(number_parse(str_of(digits), number, &n, &err), OK);
	return value_of_str(TYPE_N, (struct str){number, n});
}

#define TEXT(literal) value_of_str(TYPE_S, STR(literal))

static void *copy_of(struct arena *arena, const void *bytes, size_t n)
{
	return memcpy(arena_alloc(arena, n), bytes, n);
}

#define COPY(array) copy_of(arena, (array), sizeof(array))

/* A value of each type, maps within lists and lists within maps, empty ones too; `name` is of the
 * first member. */
static struct value item_of_all(struct arena *arena, struct str name, struct str text)
{
	const struct value texts[] = {TEXT(""), value_of_str(TYPE_S, text), TEXT("tag")},
			   numbers[] = {number_of(arena, "-1.25"), number_of(arena, "30")};
	const struct value bytes[] = {value_of_str(TYPE_B, STR("")), value_of_str(TYPE_B, text)};
	const struct member inner[] = {{STR(""), TEXT("a text of 21 letters.")},
				       {STR("b"), {.type = TYPE_M}},
				       {STR("l"), {.type = TYPE_L}}};
	const struct value list[] = {{.type = TYPE_M, .n = 3, .members = COPY(inner)},
				     number_of(arena, "0"),
				     value_of_str(TYPE_S, text),
				     {.type = TYPE_NULL},
				     {.type = TYPE_BOOL},
				     {.type = TYPE_L}};
	const struct member members[] = {
		{name, value_of_str(TYPE_B, text)},
		{STR("BOOL"), {.type = TYPE_BOOL, .boolean = true}},
		{STR("BS"), {.type = TYPE_BS, .n = 2, .elements = COPY(bytes)}},
		{STR("L"), {.type = TYPE_L, .n = 6, .elements = COPY(list)}},
		{STR("NS"), {.type = TYPE_NS, .n = 2, .elements = COPY(numbers)}},
		{STR("NULL"), {.type = TYPE_NULL}},
		{STR("SS"), {.type = TYPE_SS, .n = 3, .elements = COPY(texts)}},
		{STR("Z"), number_of(arena, "12")},
	};

	return (struct value){
		.type = TYPE_M, .n = sizeof(members) / sizeof(*members), .members = COPY(members)};
}

/* Longer than what is written at once, and than the room that was made. */
TEST(images_of_long_texts)
{
	static const size_t sizes[] = {900, 1024, 1025, 5000, 400000};

	for (size_t round = 0; round < 60; round++) {
		struct arena *arena = arena_new(0);
		size_t size = sizes[round % 5];
		char *text = arena_bytes(arena, size);

		for (size_t i = 0; i < size; i++)
			text[i] = (i * (round / 5)) % 37 == 5 ? '\x01' : (char)('a' + i % 26);
		struct value item = item_of_all(arena, (struct str){text, size < 10000 ? size : 3},
						(struct str){text, size});
		struct json_out out = json_out_in(arena);
		json_out_item(&out, &item);
		CHECK(str_eq(from_image(arena, &item), json_out_str(&out)));
		arena_free(arena);
	}
}

TEST(images_of_all_types)
{
	char text[300];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	for (size_t n = 0; n < sizeof(text); n++) {
		for (size_t at = 0; at <= n; at += 1 + n / 20) {
			struct arena *arena = arena_new(0);
			struct json_out out = json_out_in(arena);
			char old = text[at];

			text[at] = at < n ? '"' : old;
			struct value item = item_of_all(arena, (struct str){text, n % 40},
							(struct str){text, n});
			json_out_item(&out, &item);
			CHECK(str_eq(from_image(arena, &item), json_out_str(&out)));
			text[at] = old;
			arena_free(arena);
		}
	}
}

/* What is malformed is read within its bounds and gives a text whose brackets are closed. */
TEST(malformed_images)
{
	struct arena *arena = arena_new(0), *fresh = arena_new(0);
	struct buf image = buf_in(arena);
	struct value item = item_of_all(arena, STR("A"), STR("some text"));

	image_encode(&item, &image);
	for (size_t at = 0; at < image.n; at++) {
		for (int change = 0; change < 256; change++) { /* 0: the image ends there */
			size_t n = change == 0 ? at : image.n;
			char *exact = malloc(n + !n);
			struct json_out out = json_out_in(fresh);

			memcpy(exact, image.p, n);
			if (change != 0)
				exact[at] = (char)(exact[at] ^ change);
			json_out_image(&out, (struct str){exact, n});
			CHECK(out.buf.n >= 2 && out.buf.p[0] == '{' &&
			      out.buf.p[out.buf.n - 1] == '}');
			free(exact);
			arena_reset(fresh);
		}
	}
	static const char more_than_there_are[] = {1, 45, 1}; /* members */
	struct json_out out = json_out_in(fresh);
	char *exact = malloc(sizeof(more_than_there_are));
	memcpy(exact, more_than_there_are, sizeof(more_than_there_are));
	json_out_image(&out, (struct str){exact, sizeof(more_than_there_are)});
	CHECK_STR(json_out_str(&out), "{}");
	free(exact);
	arena_free(fresh);
	arena_free(arena);
}

/* An answer of so many images of a text of that size is written where its room was made. */
TEST(expected_images_are_not_moved)
{
	static const size_t counts[] = {2, 100, 1000}, sizes[] = {0, 10, 500, 5000};

	for (size_t round = 0; round < 12; round++) {
		struct arena *arena = arena_new(0);
		size_t count = counts[round % 3], size = sizes[round / 3];
		char *text = arena_bytes(arena, size + 1);
		struct member members[] = {{STR("id"), {0}}, {STR("text"), {0}}};
		struct value item = {.type = TYPE_M, .n = 2, .members = members};
		struct buf image = buf_in(arena);
		struct json_out out = json_out_in(arena), plain = json_out_in(arena);

		memset(text, 'x', size);
		members[0].value = value_of_str(TYPE_S, STR("0123456789"));
		members[1].value = value_of_str(TYPE_S, (struct str){text, size});
		image_encode(&item, &image);
		json_out_expect(&out, count, count * image.n);
		const char *first = out.buf.p;
		for (size_t i = 0; i < count; i++) {
			json_out_image(&out, buf_str(&image));
			json_out_image(&plain, buf_str(&image));
		}
		CHECK(out.buf.p == first);
		CHECK(str_eq(json_out_str(&out), json_out_str(&plain)));
		CHECK(out.buf.cap < 2 * count * image.n + 8192);
		arena_free(arena);
	}
}

TEST_MAIN(TEST_CASE(every_byte_at_every_place), TEST_CASE(texts_full_of_escapes),
	  TEST_CASE(members_of_images), TEST_CASE(images_of_long_texts),
	  TEST_CASE(images_of_all_types), TEST_CASE(malformed_images),
	  TEST_CASE(expected_images_are_not_moved))
