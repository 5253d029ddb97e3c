/*
 * headers - the header lines of a request's head, as they came.
 *
 * The front end walks the lines once and keeps them in the request's arena. Values lie in the front
 * end's buffer until the request ends; each is followed by a NUL.
 */
#ifndef DYNALITH_SERVER_HTTP_HEADERS_H
#define DYNALITH_SERVER_HTTP_HEADERS_H

#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"

struct header {
	struct str name, value;
};

struct headers {
	size_t n, cap;
	struct header *v;
};

/* Adds a line; the array grows in the arena. */
void headers_add(struct headers *headers, struct arena *arena, struct str name, struct str value);

/* The value of the first line of that name, in any case of letters; absent where there is none. */
struct str headers_first(const struct headers *headers, struct str name);

/* The values of all lines of that name, joined by commas (RFC 9110, 5.3); of several lines each is
 * trimmed. Absent where there is none. */
struct str headers_joined(const struct headers *headers, struct arena *arena, struct str name);

#endif
