/* base64 - RFC 4648, standard alphabet, padding required. */
#ifndef DYNALITH_CORE_BASE64_H
#define DYNALITH_CORE_BASE64_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/str.h"

/* Appends the text. */
void base64_encode(struct str bytes, struct buf *out);
/* The same, written to `to`, which has room for four bytes per three that are begun; gives where
 * the text ends. */
char *base64_put(struct str bytes, char *to);

/* Decodes strictly: false on a bad character, bad padding or bad length. */
bool base64_decode(struct arena *arena, struct str text, struct str *out);

#endif
