/*
 * shape_pattern - the regular expressions of the API's model, as far as it has them: characters,
 * classes such as [a-z0-9_.-], escapes, groups, and the repetitions +, * and {n}.
 */
#ifndef DYNALITH_PROTOCOL_SHAPE_PATTERN_H
#define DYNALITH_PROTOCOL_SHAPE_PATTERN_H

#include <stdbool.h>

#include "core/str.h"

/* Whether the whole text matches. The empty text matches none. */
bool shape_pattern_matches(const char *pattern, struct str text);

#endif
