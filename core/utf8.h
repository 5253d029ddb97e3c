/* utf8 - validation of UTF-8 text. */
#ifndef DYNALITH_CORE_UTF8_H
#define DYNALITH_CORE_UTF8_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

/* Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Fast on ASCII. */
bool utf8_is_valid(struct str s);

/* The text itself where it is valid, else a copy in which each byte that belongs to no character is
 * a '?'. */
struct str utf8_printable(struct arena *arena, struct str s);

/* Code points of valid UTF-8: what AWS's length constraints count (a statement's, October 2026;
 * Smithy's length trait). */
size_t utf8_length(struct str s);

/* UTF-16 code units of valid UTF-8: what size() counts. */
size_t utf8_utf16_length(struct str s);

#endif
