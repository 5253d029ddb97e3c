#include "protocol/wire/json_image.h"

#include "core/base64.h"
#include "core/image.h"
#include "core/number.h"
#include "protocol/wire/json_text.h"

/*
 * The text is written at `to`, which functions take and give back: members and elements make room for themselves once, with MARGIN bytes more. These
 * hold what is around a name and a value, a number, and the brackets that close all levels of an item.
 */
#define MARGIN (NUMBER_TEXT_MAX + JSON_TEXT_STEP + 64 + 2 * DEPTH_MAX)
#define DEPTH_MAX (VALUE_DEPTH_MAX + 2)
#define ALWAYS_INLINE inline __attribute__((always_inline))

struct sink {
	struct buf *buf;
	const char *end;   /* of the image */
	const char *limit; /* of the room */
};

static __attribute__((noinline)) char *grow(struct sink *sink, char *to, size_t n)
{
	sink->buf->n = (size_t)(to - sink->buf->p);
	to = buf_reserve(sink->buf, n);
	sink->limit = sink->buf->p + sink->buf->cap;
	return to;
}

/* Room for names and texts of so many bytes. */
static ALWAYS_INLINE char *make_room(struct sink *sink, char *to, size_t bytes)
{
	size_t n = JSON_TEXT_MAX(bytes) + MARGIN;

	return (size_t)(sink->limit - to) < n ? grow(sink, to, n) : to;
}

static ALWAYS_INLINE char *put_text(const struct sink *sink, char *to, struct str s)
{
	return sink->end - s.p >= JSON_TEXT_STEP ? json_text_put_near(to, s) : json_text_put(to, s);
}

static ALWAYS_INLINE char *put_bare(const struct sink *sink, char *to, enum type type, struct str bytes)
{
	return type == TYPE_S ? put_text(sink, to, bytes) : type == TYPE_N ? number_put(bytes, to) : base64_put(bytes, to);
}

#define PUT(to, literal) (memcpy((to), (literal), sizeof(literal) - 1), (to) + sizeof(literal) - 1)

static char *put_nested(struct sink *sink, char *to, const struct image_value *value, unsigned depth);

/* In a place with room. */
static ALWAYS_INLINE char *put_value(struct sink *sink, char *to, const struct image_value *value, unsigned depth)
{
	switch (value->type) {
	case TYPE_S:
	case TYPE_N:
	case TYPE_B:
		memcpy(to, value->type == TYPE_S ? "{\"S\":\"" : value->type == TYPE_N ? "{\"N\":\"" : "{\"B\":\"", 6);
		to = put_bare(sink, to + 6, value->type, value->payload);
		return PUT(to, "\"}");
	case TYPE_BOOL:
		return value->payload.p[0] ? PUT(to, "{\"BOOL\":true}") : PUT(to, "{\"BOOL\":false}");
	case TYPE_NULL:
		return PUT(to, "{\"NULL\":true}");
	default:
		return put_nested(sink, to, value, depth);
	}
}

static char *put_members(struct sink *sink, char *to, struct image_cursor cursor, unsigned depth)
{
	struct image_value value;
	struct str name;
	char lead = '{';

	while (image_next_member(&cursor, &name, &value)) {
		to = make_room(sink, to, name.n + value.payload.n);
		*to++ = lead;
		*to++ = '"';
		to = put_text(sink, to, name);
		to = PUT(to, "\":");
		to = put_value(sink, to, &value, depth);
		lead = ',';
	}
	*to = '{';
	to += lead == '{';
	*to++ = '}';
	return to;
}

static char *put_elements(struct sink *sink, char *to, struct image_cursor cursor, enum type element, unsigned depth)
{
	struct image_value value;
	char lead = '[';

	while (image_next_element(&cursor, &value)) {
		to = make_room(sink, to, value.payload.n);
		*to++ = lead;
		lead = ',';
		if (element == TYPE_NONE) {
			to = put_value(sink, to, &value, depth);
			continue;
		}
		*to++ = '"';
		to = put_bare(sink, to, element, value.payload);
		*to++ = '"';
	}
	*to = '[';
	to += lead == '[';
	*to++ = ']';
	return to;
}

/* A map, list or set; as deep as the value, DEPTH_MAX. */
static char *put_nested(struct sink *sink, char *to, const struct image_value *value, unsigned depth)
{
	struct image_cursor cursor;

	switch (value->type) {
	case TYPE_M:
		to = PUT(to, "{\"M\":");
		break;
	case TYPE_L:
		to = PUT(to, "{\"L\":");
		break;
	default:
		to = PUT(to, "{\"SS\":");
		to[-4] = value->type == TYPE_SS ? 'S' : value->type == TYPE_NS ? 'N' : 'B';
	}
	if (depth == 0 || !image_enter(value, &cursor))
		to = PUT(to, "true");
	else if (value->type == TYPE_M)
		to = put_members(sink, to, cursor, depth - 1);
	else
		to = put_elements(sink, to, cursor, type_element(value->type), depth - 1);
	*to++ = '}';
	return to;
}

void json_image_add(struct buf *buf, struct str image)
{
	char *to = buf_reserve(buf, image.n * 2 + MARGIN);
	struct sink sink = {buf, image.p + image.n, buf->p + buf->cap};
	struct image_cursor cursor;

	to = image_open(image, &cursor) ? put_members(&sink, to, cursor, DEPTH_MAX) : PUT(to, "{}");
	buf->n = (size_t)(to - buf->p);
}
