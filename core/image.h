/*
 * image - the stored form of an item.
 *
 * A compact tagged binary of a canonical item. A plain read streams it into
 * the response without building values; one attribute is found without
 * decoding the others; the billed size is in its head. Equal items have equal
 * images (see value.h), so a write that changes nothing is found by memcmp.
 *
 *   image  = version(1 byte, 01) billed-size(varint) count(varint) { name-length(varint) name value }
 *   value  = type(1 byte) length(varint) payload[length]
 *   payload: S, B bytes; N the number encoding; BOOL one byte 00/01; NULL empty;
 *            sets and L: count(varint) { value }; M: count(varint) { name-length(varint) name value }
 *
 * Images come from our own store: a malformed one is corruption. Readers stay
 * in bounds whatever the bytes (a fuzz target), and answer false.
 */
#ifndef DYNALITH_CORE_IMAGE_H
#define DYNALITH_CORE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/err.h"
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
bool image_get(struct arena *arena, struct str image, struct str name, struct value *value) WARN_UNUSED;

/*
 * Walking without building values: a cursor over the members of an image, and over
 * the content of any value met on the way (used to stream wire JSON).
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
/* The content of an M, L or set. */
bool image_enter(const struct image_value *value, struct image_cursor *cursor) WARN_UNUSED;
/* Next member (map) or element (list, set); false at the end or on malformed bytes. */
bool image_next_member(struct image_cursor *cursor, struct str *name, struct image_value *value);
bool image_next_element(struct image_cursor *cursor, struct image_value *value);
/* Whether the cursor came to its end with nothing malformed. */
bool image_is_done(const struct image_cursor *cursor);

/* Decodes a value met by a cursor. */
bool image_value_decode(struct arena *arena, const struct image_value *encoded, struct value *value) WARN_UNUSED;

#endif
