/*
 * java_order - names in the order in which AWS's messages list them: that of a Java hash table.
 */
#ifndef DYNALITH_PROTOCOL_JAVA_ORDER_H
#define DYNALITH_PROTOCOL_JAVA_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"

/* The names, each once, as java_order_list() has them; sets *count. In the arena. */
struct str *java_order(struct arena *arena, const struct str *names, size_t n, bool is_sized,
		       size_t *count);

/*
 * "a, b, c": each name once. Where the arena is over it ends early. The table doubles when it is
 * more than three quarters full, from 16 buckets or, where it `is_sized`, from as many as there are
 * names. Names are valid UTF-8. Source: recorded answers of AWS.
 */
struct str java_order_list(struct arena *arena, const struct str *names, size_t n, bool is_sized);

#endif
