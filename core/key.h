/*
 * key - order-preserving encoding of primary keys and index keys.
 *
 * A row's key in a keyspace is a byte string whose memcmp order is the order in
 * which DynamoDB finds items:
 *
 *   partition hash (4 bytes, big-endian) | partition key elements | sort key elements [| table's key elements]
 *
 * The hash spreads partitions over the keyspace, so Scan is in hash order and
 * segment k of n of a parallel Scan is a range of the hash. Each element
 * delimits itself, no encoded tuple is a prefix of another of the same shape,
 * and a multi-attribute key is a longer tuple:
 *
 *   N     core/number's encoding
 *   S, B  the bytes, each 00 written as 00 FF, ended by 00 01
 */
#ifndef DYNALITH_CORE_KEY_H
#define DYNALITH_CORE_KEY_H

#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "core/value.h"

#define KEY_HASH_SIZE 4

/* Appends one element, of type S, N or B. */
void key_add(struct buf *out, const struct value *value);

/* Appends the bytes that all S or B elements beginning with `value` share (for begins_with). */
void key_add_prefix(struct buf *out, const struct value *value);

/* The partition hash of encoded partition key elements; well mixed, stable for ever (it is on disk). */
uint32_t key_hash(struct str partition);

/*
 * The smallest byte string greater than every string that begins with `prefix`: the exclusive upper bound
 * of a prefix range. Absent (no bound) when prefix is empty or all FF.
 */
struct str key_after_prefix(struct arena *arena, struct str prefix);

/* Hash bounds [*low, *high) of segment k of n as encoded prefixes; absent where unbounded. */
void key_segment(struct arena *arena, uint32_t k, uint32_t n, struct str *low, struct str *high);

#endif
