/*
 * Input that begins with the version of images is any bytes as an image: every reader stays in
 * bounds, and what decodes encodes to an image that decodes to the same. All other input says how
 * to build an item: it must come back from its image, each attribute alone too, its text must be
 * that of its values, and the order in which its parts were given must not show.
 */
#include "core/image.h"
#include "core/number.h"
#include "protocol/wire/json_out.h"
#include "tests/fuzz/fuzz.h"

#define IMAGE_VERSION 1
#define DEPTH_MAX 6
#define PARTS_MAX 8

static void read_any(struct arena *arena, struct str image)
{
	struct value item, again, attribute;
	struct json_out out = json_out_in(arena);

	(void)image_item_size(image);
	json_out_image(&out, image);
	if (!image_get(arena, image, STR("pk"), &attribute) || !image_decode(arena, image, &item))
		return;
	struct buf buf = buf_in(arena);
	image_encode(&item, &buf);
	MUST(image_decode(arena, buf_str(&buf), &again) && again.n == item.n &&
	     item_size(&again) == item_size(&item));
}

static struct value build(struct arena *arena, struct str *input, unsigned depth, bool is_reverse);

static struct value build_number(struct arena *arena, struct str text)
{
	char *number = arena_bytes(arena, NUMBER_MAX);
	struct err err = err_in(arena);
	size_t n;

	if (number_parse(text, number, &n, &err) != OK)
		n = number_from_int((int64_t)text.n - 3, number);
	return value_of_str(TYPE_N, (struct str){number, n});
}

static struct value build_scalar(struct arena *arena, enum type type, struct str *input)
{
	struct str bytes = fuzz_bytes(input, fuzz_byte(input) % 40);

	return type == TYPE_N ? build_number(arena, bytes) : value_of_str(type, bytes);
}

/* Members with a name of one byte and their place, so that none stands twice. */
static struct value build_map(struct arena *arena, struct str *input, unsigned depth,
			      bool is_reverse)
{
	uint32_t n = fuzz_byte(input) % (PARTS_MAX + 1);
	struct member *members = ARENA_ARRAY(arena, struct member, n);

	for (uint32_t i = 0; i < n; i++) {
		struct str name = str_printf(arena, "%c%u", (int)('a' + fuzz_byte(input) % 26), i);

		members[is_reverse ? n - 1 - i : i] =
			(struct member){name, build(arena, input, depth + 1, is_reverse)};
	}
	MUST(value_sort_members(members, n, NULL));
	return (struct value){.type = TYPE_M, .n = n, .members = members};
}

/* What stands twice is left out. */
static struct value build_set(struct arena *arena, enum type type, struct str *input,
			      bool is_reverse)
{
	uint32_t given = 1 + fuzz_byte(input) % PARTS_MAX, n = 0;
	struct value *elements = ARENA_ARRAY(arena, struct value, given);

	for (uint32_t i = 0; i < given; i++) {
		struct value element = build_scalar(arena, type_element(type), input);
		bool is_there = false;

		for (uint32_t k = 0; k < n; k++)
			is_there = is_there || value_equal(&elements[k], &element);
		if (!is_there)
			elements[n++] = element;
	}
	for (uint32_t i = 0; is_reverse && i < n / 2; i++) {
		struct value swapped = elements[i];

		elements[i] = elements[n - 1 - i];
		elements[n - 1 - i] = swapped;
	}
	MUST(value_sort_set(elements, n, NULL));
	return (struct value){.type = (uint8_t)type, .n = n, .elements = elements};
}

static struct value build(struct arena *arena, struct str *input, unsigned depth, bool is_reverse)
{
	enum type type = (enum type)(1 + fuzz_byte(input) % (TYPE_COUNT - 1));

	if (type_is_scalar_key(type))
		return build_scalar(arena, type, input);
	if (type_is_set(type))
		return build_set(arena, type, input, is_reverse);
	if (type == TYPE_M && depth < DEPTH_MAX)
		return build_map(arena, input, depth, is_reverse);
	if (type == TYPE_L && depth < DEPTH_MAX) {
		uint32_t n = fuzz_byte(input) % (PARTS_MAX + 1);
		struct value *elements = ARENA_ARRAY(arena, struct value, n);

		for (uint32_t i = 0; i < n; i++)
			elements[i] = build(arena, input, depth + 1, is_reverse);
		return (struct value){.type = TYPE_L, .n = n, .elements = elements};
	}
	return type == TYPE_BOOL
		       ? (struct value){.type = TYPE_BOOL, .boolean = fuzz_byte(input) & 1}
		       : (struct value){.type = TYPE_NULL};
}

static void check_attributes(struct arena *arena, struct str image, const struct value *item)
{
	struct value attribute;

	for (uint32_t i = 0; i < item->n; i++)
		MUST(image_get(arena, image, item->members[i].name, &attribute) &&
		     value_equal(&attribute, &item->members[i].value));
	MUST(image_get(arena, image, STR("none"), &attribute) && !value_is_set(&attribute));
}

static void build_item(struct arena *arena, struct str input)
{
	struct str once = input, twice = input;
	struct value item = build_map(arena, &once, 0, false),
		     other = build_map(arena, &twice, 0, true), again;
	struct buf image = buf_in(arena), same = buf_in(arena);

	image_encode(&item, &image);
	image_encode(&other, &same);
	MUST(str_eq(buf_str(&image), buf_str(&same)) && value_equal(&item, &other));
	MUST(image_item_size(buf_str(&image)) == item_size(&item));
	MUST(image_decode(arena, buf_str(&image), &again) && value_equal(&again, &item) &&
	     value_depth(&again) == value_depth(&item));
	check_attributes(arena, buf_str(&image), &item);
	struct json_out from_image = json_out_in(arena), from_values = json_out_in(arena);
	json_out_image(&from_image, buf_str(&image));
	json_out_item(&from_values, &item);
	MUST(str_eq(json_out_str(&from_image), json_out_str(&from_values)));
	if (once.n) { /* a byte of it changed: still in bounds */
		unsigned at = (unsigned char)once.p[0] * 256u +
			      (once.n > 1 ? (unsigned char)once.p[1] : 0);

		image.p[at % image.n] ^=
			(char)(1 + (once.n > 2 ? (unsigned char)once.p[2] : 0) % 255);
		read_any(arena, buf_str(&image));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = {(const char *)data, size};
	struct arena *arena = fuzz_arena();

	if (size && data[0] == IMAGE_VERSION)
		read_any(arena, input);
	else
		build_item(arena, input);
	return 0;
}
