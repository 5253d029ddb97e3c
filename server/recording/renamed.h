/*
 * renamed - texts of a recording that have another one now: tokens, iterators, ARNs, sequence
 * numbers.
 *
 * The newest 10,000 are kept. A look at a body costs as much as the body is long, however many
 * there are.
 */
#ifndef DYNALITH_SERVER_RENAMED_H
#define DYNALITH_SERVER_RENAMED_H

#include "core/arena.h"
#include "core/str.h"

struct renamed;

struct renamed *renamed_new(void);
void renamed_free(struct renamed *renamed);

/* The texts are copied. One that JSON would have to escape is not kept: none of these does. */
void renamed_add(struct renamed *renamed, struct str then, struct str now);

/* The body, JSON, with the texts that have another one now, which are whole strings in it. In the
 * arena, or the same. */
struct str renamed_apply(const struct renamed *renamed, struct arena *arena, struct str body);

#endif
