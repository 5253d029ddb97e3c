/* gzip - request and response bodies; the only door to zlib. */
#ifndef DYNALITH_SERVER_GZIP_H
#define DYNALITH_SERVER_GZIP_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

/* Decompresses; false for malformed data or when the result would exceed `limit` bytes. */
bool gzip_decode(struct arena *arena, struct str body, size_t limit, struct str *out);

/* Compresses at the fastest level. */
struct str gzip_encode(struct arena *arena, struct str body);

#endif
