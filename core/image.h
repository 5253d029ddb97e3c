/*
 * image - the stored form of an item.
 *
 * A compact tagged binary of a canonical item. A plain read streams it into the response without
 * building values; one attribute is found without decoding the others; the billed size is in its
 * head. Equal items have equal images (see value.h), so a write that changes nothing is found by
 * memcmp.
 *
 *   image   = version(1 byte, 01) billed-size(varint) count(varint) { member }
 *   member  = name-length(varint) name value
 *   value   = type(1 byte) length(varint) payload[length]
 *   payload = S, B: bytes; N: the number encoding; BOOL: one byte 00/01; NULL: empty;
 *             sets and L: count(varint) { value }; M: count(varint) { member }
 *
 * Images come from our own store: a malformed one is corruption. Readers stay in bounds whatever
 * the bytes (a fuzz target), and answer false.
 */
#ifndef DYNALITH_CORE_IMAGE_H
#define DYNALITH_CORE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/number.h"
#include "core/str.h"
#include "core/value.h"

/* Appends the image of a canonical item (TYPE_M). */
void image_encode(const struct value *item, struct buf *out);

/* The same where `size`, the item's item_size(), is known already. */
void image_encode_sized(const struct value *item, size_t size, struct buf *out);

/* Bytes by DynamoDB's rules; 0 for a malformed image. O(1). */
size_t image_item_size(struct str image);

/* Decodes the whole item; strings point into the image, so it must outlive the value. */
bool image_decode(struct arena *arena, struct str image, struct value *item) WARN_UNUSED;

/* Decodes one top-level attribute; VALUE_NONE where it is absent. */
bool image_get(struct arena *arena, struct str image, struct str name,
	       struct value *value) WARN_UNUSED;

/*
 * Walking without building values: a cursor over the members of an image, or over the content of a
 * value in it. Wire JSON is written so (json_image).
 */
struct image_cursor {
	const char *p;
	const char *end;
	size_t left; /* members or elements not yet read */
};

/* One encoded value: its type and payload. */
struct image_value {
	enum type type;
	struct str payload;
};

bool image_open(struct str image, struct image_cursor *cursor) WARN_UNUSED;

/* A varint of three bytes or more: where it ends, NULL where it is malformed. */
const char *image_varint_long(const char *p, const char *end, uint64_t *value)
	__attribute__((noinline, cold));

/* The parts of a member, in line: answers read millions of them. */
static inline bool image_read_varint(struct image_cursor *cursor, uint64_t *value)
{
	if (cursor->p < cursor->end && !(*cursor->p & 0x80)) { /* the common case: one byte */
		*value = (unsigned char)*cursor->p++;
		return true;
	}
	if (cursor->end - cursor->p >= 2 && !(cursor->p[1] & 0x80)) { /* or two */
		*value = ((unsigned char)cursor->p[0] & 0x7Fu) |
			 (unsigned)(unsigned char)cursor->p[1] << 7;
		cursor->p += 2;
		return true;
	}
	uint64_t v = 0; /* of its own: its address must not keep `value` from being a register */
	const char *p = image_varint_long(cursor->p, cursor->end, &v);
	if (!p)
		return false;
	cursor->p = p;
	*value = v;
	return true;
}

static inline bool image_read_bytes(struct image_cursor *cursor, struct str *out)
{
	uint64_t n = 0;

	if (!image_read_varint(cursor, &n) || n > (uint64_t)(cursor->end - cursor->p))
		return false;
	*out = (struct str){cursor->p, (size_t)n};
	cursor->p += n;
	return true;
}

static inline bool image_read_value(struct image_cursor *cursor, struct image_value *value)
{
	if (cursor->p >= cursor->end)
		return false;
	value->type = (enum type)(unsigned char)*cursor->p++;
	if (!image_read_bytes(cursor, &value->payload))
		return false;
	switch (value->type) {
	case TYPE_S:
		return true;
	case TYPE_N:
		return number_is_encoding(value->payload);
	case TYPE_BOOL:
		return value->payload.n == 1;
	case TYPE_NULL:
		return value->payload.n == 0;
	default:
		return value->type > TYPE_NONE && value->type < TYPE_COUNT;
	}
}

/* The next member; false at the end or on malformed bytes. */
static inline bool image_next_member(struct image_cursor *cursor, struct str *name,
				     struct image_value *value)
{
	if (cursor->left == 0 || !image_read_bytes(cursor, name) ||
	    !image_read_value(cursor, value))
		return false;
	cursor->left--;
	return true;
}

/* Decodes a value met by a cursor. */
bool image_value_decode(struct arena *arena, const struct image_value *encoded,
			struct value *value) WARN_UNUSED;

#endif
