/*
 * json_image - the wire form of an item, written from its image without building values.
 *
 * The image may be malformed: what can be read is written, brackets are closed, nothing is read
 * beyond the image, and the caller is told.
 */
#ifndef DYNALITH_PROTOCOL_JSON_IMAGE_H
#define DYNALITH_PROTOCOL_JSON_IMAGE_H

#include <stdbool.h>

#include "core/buf.h"
#include "core/str.h"

/* Makes room for the text of `n` images of `bytes` in all, so that it is not moved while it grows.
 * A guess: one with many escapes is moved. */
void json_image_expect(struct buf *buf, size_t n, size_t bytes);

/* Appends {"name":{"S":"text"},...}; {} for what is no image. `is_hashed`: number sets in
 * number_order(). False: it was malformed. */
bool json_image_add(struct buf *buf, struct str image, bool is_hashed)
	__attribute__((warn_unused_result));

#endif
