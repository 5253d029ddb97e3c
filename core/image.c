#include "core/image.h"

#define IMAGE_VERSION 1

static size_t varint_size(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

/* Bytes of the payload; the recursion is as deep as the value, VALUE_DEPTH_MAX. */
static size_t payload_size(const struct value *value)
{
	size_t size = varint_size(value->n);

	switch ((enum type)value->type) {
	case TYPE_S:
	case TYPE_N:
	case TYPE_B:
		return value->n;
	case TYPE_BOOL:
		return 1;
	case TYPE_M:
		for (uint32_t i = 0; i < value->n; i++) {
			size_t n = payload_size(&value->members[i].value);

			size += varint_size(value->members[i].name.n) + value->members[i].name.n +
				1 + varint_size(n) + n;
		}
		return size;
	case TYPE_L:
	case TYPE_SS:
	case TYPE_NS:
	case TYPE_BS:
		for (uint32_t i = 0; i < value->n; i++) {
			size_t n = payload_size(&value->elements[i]);

			size += 1 + varint_size(n) + n;
		}
		return size;
	default:
		return 0;
	}
}

static void add_members(const struct value *map, struct buf *out);

static void image_add_value(const struct value *value, struct buf *out)
{
	buf_add_byte(out, value->type);
	buf_add_varint(out, payload_size(value));
	switch ((enum type)value->type) {
	case TYPE_S:
	case TYPE_N:
	case TYPE_B:
		buf_add(out, value->bytes, value->n);
		break;
	case TYPE_BOOL:
		buf_add_byte(out, value->boolean);
		break;
	case TYPE_M:
		add_members(value, out);
		break;
	case TYPE_L:
	case TYPE_SS:
	case TYPE_NS:
	case TYPE_BS:
		buf_add_varint(out, value->n);
		for (uint32_t i = 0; i < value->n; i++)
			image_add_value(&value->elements[i], out);
		break;
	default:
		break;
	}
}

static void add_members(const struct value *map, struct buf *out)
{
	buf_add_varint(out, map->n);
	for (uint32_t i = 0; i < map->n; i++) {
		buf_add_varint(out, map->members[i].name.n);
		buf_add_str(out, map->members[i].name);
		image_add_value(&map->members[i].value, out);
	}
}

void image_encode_sized(const struct value *item, size_t size, struct buf *out)
{
	buf_add_byte(out, IMAGE_VERSION);
	buf_add_varint(out, size);
	add_members(item, out);
}

void image_encode(const struct value *item, struct buf *out)
{
	image_encode_sized(item, item_size(item), out);
}

const char *image_varint_long(const char *p, const char *end, uint64_t *value)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
		unsigned char byte = (unsigned char)*p++;

		v |= (uint64_t)(byte & 0x7F) << shift;
		if (!(byte & 0x80)) {
			*value = v;
			return p;
		}
	}
	return NULL;
}

/* Reads a count. One that exceeds the bytes left is malformed. */
static bool read_count(struct image_cursor *cursor)
{
	uint64_t n;

	if (!image_read_varint(cursor, &n) || n > (uint64_t)(cursor->end - cursor->p) / 2 + 1)
		return false;
	cursor->left = (size_t)n;
	return true;
}

static bool read_head(struct str image, struct image_cursor *cursor, uint64_t *size)
{
	*cursor = (struct image_cursor){0};
	if (image.n < 3) /* an absent one too: no arithmetic on NULL */
		return false;
	*cursor = (struct image_cursor){image.p, image.p + image.n, 0};
	if (*cursor->p++ != IMAGE_VERSION)
		return false;
	return image_read_varint(cursor, size);
}

size_t image_item_size(struct str image)
{
	struct image_cursor cursor;
	uint64_t size;

	return read_head(image, &cursor, &size) ? (size_t)size : 0;
}

bool image_open(struct str image, struct image_cursor *cursor)
{
	uint64_t size;

	return read_head(image, cursor, &size) && read_count(cursor);
}

/* The content of an M, L or set. */
static bool enter(const struct image_value *value, struct image_cursor *cursor)
{
	*cursor = (struct image_cursor){value->payload.p, value->payload.p + value->payload.n, 0};
	if (value->type != TYPE_M && value->type != TYPE_L && !type_is_set(value->type))
		return false;
	return read_count(cursor);
}

/* Whether the cursor came to its end with nothing malformed. */
static bool is_done(const struct image_cursor *cursor)
{
	return cursor->left == 0 && cursor->p == cursor->end;
}

static bool next_element(struct image_cursor *cursor, struct image_value *value)
{
	if (cursor->left == 0 || !image_read_value(cursor, value))
		return false;
	cursor->left--;
	return true;
}

static bool decode_value(struct arena *arena, const struct image_value *encoded, unsigned depth,
			 struct value *value);

static bool decode_members(struct arena *arena, struct image_cursor *cursor, unsigned depth,
			   struct value *map)
{
	size_t n = cursor->left;
	struct member *members = arena_alloc(arena, n * sizeof(*members));
	struct image_value encoded;

	for (size_t i = 0; i < n; i++) {
		if (!image_next_member(cursor, &members[i].name, &encoded) ||
		    !decode_value(arena, &encoded, depth, &members[i].value))
			return false;
	}
	if (is_done(cursor))
		*map = (struct value){.type = TYPE_M, .n = (uint32_t)n, .members = members};
	return is_done(cursor);
}

static bool decode_elements(struct arena *arena, struct image_cursor *cursor, enum type type,
			    unsigned depth, struct value *list)
{
	size_t n = cursor->left;
	struct value *elements = arena_alloc(arena, n * sizeof(*elements));
	struct image_value encoded;

	for (size_t i = 0; i < n; i++) {
		if (!next_element(cursor, &encoded) ||
		    !decode_value(arena, &encoded, depth, &elements[i]))
			return false;
		if (type_is_set(type) && elements[i].type != type_element(type))
			return false;
	}
	if (is_done(cursor))
		*list = (struct value){
			.type = (uint8_t)type, .n = (uint32_t)n, .elements = elements};
	return is_done(cursor);
}

static bool decode_value(struct arena *arena, const struct image_value *encoded, unsigned depth,
			 struct value *value)
{
	struct image_cursor cursor;

	if (type_is_scalar_key(encoded->type)) {
		*value = value_of_str(encoded->type, encoded->payload);
		return true;
	}
	if (encoded->type == TYPE_NULL || encoded->type == TYPE_BOOL) {
		*value = (struct value){.type = (uint8_t)encoded->type,
					.boolean = encoded->type == TYPE_BOOL &&
						   encoded->payload.p[0] != 0};
		return true;
	}
	if (depth == 0 || !enter(encoded, &cursor))
		return false;
	if (encoded->type == TYPE_M)
		return decode_members(arena, &cursor, depth - 1, value);
	return decode_elements(arena, &cursor, encoded->type, depth - 1, value);
}

bool image_value_decode(struct arena *arena, const struct image_value *encoded, struct value *value)
{
	return decode_value(arena, encoded, VALUE_DEPTH_MAX + 2, value);
}

bool image_decode(struct arena *arena, struct str image, struct value *item)
{
	struct image_cursor cursor;

	return image_open(image, &cursor) &&
	       decode_members(arena, &cursor, VALUE_DEPTH_MAX + 2, item);
}

bool image_get(struct arena *arena, struct str image, struct str name, struct value *value)
{
	struct image_cursor cursor;
	struct image_value encoded;
	struct str member;

	*value = VALUE_NONE;
	if (!image_open(image, &cursor))
		return false;
	while (image_next_member(&cursor, &member, &encoded)) {
		int order = str_cmp(member, name);

		if (order == 0)
			return image_value_decode(arena, &encoded, value);
		if (order > 0) /* names are sorted */
			return true;
	}
	return is_done(&cursor);
}
