/*
 * shape_copy - JSON of a file written as a request of the API has it.
 *
 * Files write numbers and truth values as words, and have members that no request has. Numbers,
 * truth values and words are written as the shape wants them; members that it does not have are
 * left out. What is of another kind than the shape is written as it is, and the request is refused.
 */
#ifndef DYNALITH_PROTOCOL_SHAPE_COPY_H
#define DYNALITH_PROTOCOL_SHAPE_COPY_H

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "protocol/wire/shapes.h"

/* The shape of a structure's member; NULL where it has none of that name. */
const struct shape *shape_copy_member(const struct shape *shape, struct str name);

/* Calls `taken` with each value that is written. `shape` NULL: all of it. */
void shape_copy(struct json_out *out, struct arena *arena, const struct shape *shape,
		const struct json *value, void (*taken)(void *context, const struct json *value),
		void *context);

#endif
