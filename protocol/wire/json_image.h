/*
 * json_image - the wire form of an item, written from its image without building values.
 *
 * The image may be malformed: what can be read is written, brackets are closed, and nothing is read beyond the image.
 */
#ifndef DYNALITH_PROTOCOL_JSON_IMAGE_H
#define DYNALITH_PROTOCOL_JSON_IMAGE_H

#include "core/buf.h"
#include "core/number.h"
#include "core/str.h"
#include "core/value.h"
#include "protocol/wire/json_text.h"

#define JSON_IMAGE_NAME 31    /* bytes of a usual name */
#define JSON_IMAGE_PIECE 1024 /* bytes of a text that are written at once */
/* Room for a usual name and a piece with escapes, or a number, what is around them, and the brackets that close all levels. */
#define JSON_IMAGE_ROOM (JSON_TEXT_MAX(JSON_IMAGE_NAME + JSON_IMAGE_PIECE) + NUMBER_TEXT_MAX + JSON_TEXT_STEP + 64 + 2 * (VALUE_DEPTH_MAX + 2))

/* Room that `n` images of `bytes` in all mostly need, beside JSON_IMAGE_ROOM. A guess: short images double, long ones hold long texts. */
size_t json_image_room(size_t n, size_t bytes);

/* Appends {"name":{"S":"text"},...}; {} for what is no image. */
void json_image_add(struct buf *buf, struct str image);

#endif
