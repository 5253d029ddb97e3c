/* Images of items: what is malformed is refused, whichever part of it is. */
#include "core/image.h"
#include "core/path.h"

#include "tests/unit/test.h"

static struct arena *arena;

#define V(type, text) value_of_str(TYPE_##type, STR(text))

static struct str image_of(const struct value *item)
{
	struct buf image = buf_in(arena);

	image_encode(item, &image);
	return buf_str(&image);
}

/* With values of all types, one of them long. */
static struct value sample(void)
{
	static char long_text[300];
	static struct value set[2], list[4];
	static struct member inner[1], members[7];

	memset(long_text, 'x', sizeof(long_text));
	set[0] = V(S, "a");
	set[1] = V(S, "b");
	list[0] = (struct value){.type = TYPE_NULL};
	list[1] = (struct value){.type = TYPE_BOOL, .boolean = true};
	list[2] = (struct value){.type = TYPE_BOOL};
	list[3] = V(N, "\2");
	inner[0] = (struct member){STR("x"), V(B, "\0")};
	members[0] = (struct member){STR("l"), {.type = TYPE_L, .n = 4, .elements = list}};
	members[1] = (struct member){STR("m"), {.type = TYPE_M, .n = 1, .members = inner}};
	members[2] = (struct member){STR("pk"), V(S, "a")};
	members[3] = (struct member){STR("ss"), {.type = TYPE_SS, .n = 2, .elements = set}};
	members[4] = (struct member){
		STR("t"), value_of_str(TYPE_S, (struct str){long_text, sizeof(long_text)})};
	return (struct value){.type = TYPE_M, .n = 5, .members = members};
}

TEST(items_are_read_back)
{
	struct value item = sample(), read, found;
	struct str image = image_of(&item);

	CHECK(image_decode(arena, image, &read) && value_equal(&read, &item));
	CHECK_INT(image_item_size(image), item_size(&item));
	CHECK(image_get(arena, image, STR("m"), &found) &&
	      value_equal(&found, &item.members[1].value));
	CHECK(image_get(arena, image, STR("n"), &found) && !value_is_set(&found));
	CHECK(image_get(arena, image, STR("z"), &found) && !value_is_set(&found));
}

/* Whatever is cut off or put behind, all the item is refused. */
TEST(images_of_another_length_are_refused)
{
	struct value item = sample(), read, found;
	struct str image = image_of(&item);
	struct buf longer = buf_in(arena);

	for (size_t n = 0; n < image.n; n++) {
		CHECK(!image_decode(arena, (struct str){image.p, n}, &read));
		CHECK(!image_get(arena, (struct str){image.p, n}, STR("z"), &found));
	}
	buf_add_str(&longer, image);
	buf_add_byte(&longer, 0);
	CHECK(!image_decode(arena, buf_str(&longer), &read) &&
	      !image_get(arena, buf_str(&longer), STR("z"), &found));
}

/* An image is: 1, the size, the count, and of each member its name and value; a value is a type, a
 * length and a payload. */
TEST(malformed_parts_are_refused)
{
	static const struct {
		struct str image;
		bool is_valid;
	} cases[] = {
		{STR_INIT("\1\2\1\1a\1\1b"), true},
		{STR_INIT("\2\2\1\1a\1\1b"), false},   /* another version */
		{STR_INIT("\1\2\x7F\1a\1\1b"), false}, /* more members than bytes */
		{STR_INIT("\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0"),
		 false},                                         /* a varint of 70 bits */
		{STR_INIT("\1\x82\x80\0\1\1a\1\1b"), true},      /* one of three bytes */
		{STR_INIT("\1\2\1\1a\7\6\1\1b\1\1c"), true},     /* a map */
		{STR_INIT("\1\2\1\1a\7\7\1\1b\1\1c\0"), false},  /* with a byte behind */
		{STR_INIT("\1\2\1\1a\7\6\1\1b\xE\1c"), false},   /* of an unknown type */
		{STR_INIT("\1\2\1\1a\x8\4\1\1\1c"), true},       /* a list */
		{STR_INIT("\1\2\1\1a\x8\5\1\1\1c\0"), false},    /* with a byte behind */
		{STR_INIT("\1\2\1\1a\x8\4\1\1\2c"), false},      /* whose element is cut off */
		{STR_INIT("\1\2\1\1a\x8\6\1\4\3\1\3\0"), false}, /* whose element holds another */
		{STR_INIT("\1\2\1\1a\4\4\1\1\1c"), true},        /* a set */
		{STR_INIT("\1\2\1\1a\4\4\1\3\1c"), false},       /* of elements of another's type */
		{STR_INIT("\1\2\1\1a\x8\1\x7F"), false},         /* more elements than bytes */
		{STR_INIT("\1\2\1\1a\xA\1\1"), true},            /* a boolean */
		{STR_INIT("\1\2\1\1a\xA\0"), false},             /* without its byte */
		{STR_INIT("\1\2\1\1a\x9\0"), true},              /* null */
		{STR_INIT("\1\2\1\1a\x9\1\0"), false},           /* with a byte */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct value read, found;

		if (image_decode(arena, cases[i].image, &read) != cases[i].is_valid)
			fprintf(stderr, "case %zu is %s\n", i,
				cases[i].is_valid ? "refused" : "taken");
		CHECK(image_decode(arena, cases[i].image, &read) == cases[i].is_valid);
		CHECK(!cases[i].is_valid ||
		      (image_get(arena, cases[i].image, STR("a"), &found) && value_is_set(&found)));
	}
	CHECK_INT(image_item_size(STR("\2\2\1")), 0);
	CHECK_INT(image_item_size(STR("\1\x85\1\1")), 133);
}

TEST(what_is_too_deep_or_no_value_is_refused)
{
	static struct value levels[VALUE_DEPTH_MAX + 8];
	struct value read;

	for (unsigned depth = VALUE_DEPTH_MAX - 2; depth < VALUE_DEPTH_MAX + 6; depth++) {
		levels[0] = V(S, "a");
		for (unsigned i = 1; i <= depth; i++)
			levels[i] =
				(struct value){.type = TYPE_L, .n = 1, .elements = &levels[i - 1]};
		struct member member = {STR("a"), levels[depth]};
		struct value item = {.type = TYPE_M, .n = 1, .members = &member};
		CHECK(image_decode(arena, image_of(&item), &read) ==
		      (depth <= VALUE_DEPTH_MAX + 2));
	}
	CHECK(!image_value_decode(
		arena, &(struct image_value){.type = TYPE_NONE, .payload = STR("\1")}, &read));
}

TEST(paths_lead_to_values_and_meet)
{
	static const struct path_step x[] = {{STR_INIT("x"), 0}}, first[] = {{STR_ABSENT, 0}},
				      x_first[] = {{STR_INIT("x"), 0}, {STR_ABSENT, 0}},
				      x_second[] = {{STR_INIT("x"), 0}, {STR_ABSENT, 1}},
				      x_y[] = {{STR_INIT("x"), 0}, {STR_INIT("y"), 0}};
	const struct path name = {1, x}, index = {1, first}, both = {2, x_first},
			  other = {2, x_second}, member = {2, x_y};
	struct value text = V(S, "a"), list = {.type = TYPE_L, .n = 1, .elements = &text};
	struct member members[] = {{STR("x"), list}};
	struct value map = {.type = TYPE_M, .n = 1, .members = members};

	CHECK(path_get(&name, 0, &map) == &members[0].value && path_get(&both, 0, &map) == &text);
	CHECK(!path_get(&name, 0, &list) && !path_get(&index, 0, &map) &&
	      !path_get(&other, 0, &map) && !path_get(&member, 0, &map));
	CHECK(!path_get(&both, 0, &(struct value){.type = TYPE_M}));
	CHECK_INT(path_relate(&both, &name), PATH_OVERLAP);
	CHECK_INT(path_relate(&name, &both), PATH_OVERLAP);
	CHECK_INT(path_relate(&both, &other), PATH_DISTINCT);
	CHECK_INT(path_relate(&both, &member), PATH_CONFLICT);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(items_are_read_back),
		TEST_CASE(images_of_another_length_are_refused),
		TEST_CASE(malformed_parts_are_refused),
		TEST_CASE(what_is_too_deep_or_no_value_is_refused),
		TEST_CASE(paths_lead_to_values_and_meet),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
