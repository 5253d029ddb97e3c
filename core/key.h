/*
 * key - order-preserving encoding of primary keys and index keys.
 *
 * A row's key in a keyspace is a byte string whose memcmp order is the order in
 * which DynamoDB finds items:
 *
 *   partition hash (4 bytes, big-endian) | partition key elements | sort key elements [| hash of
 * the table's key] [| table's key elements]
 *
 * The hash spreads partitions over the keyspace, so Scan is in hash order and
 * segment k of n of a parallel Scan is a range of the hash. Items that are
 * equal in all keys of a global index are in the order of the hash of their
 * table's keys. Each element delimits itself, no encoded tuple is a prefix of
 * another of the same shape, and a multi-attribute key is a longer tuple:
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

/*
 * How keys are hashed. The values are on disk, and the hashes are stable for ever.
 *
 * KEY_HASH_MD5 gives the order of AWS: the head of the MD5 digest of "Outliers" and the bytes of
 * the values, numbers as number_packed has them. Source: dynalite; the orders in its tests and in
 * those of getmoto/moto that were verified against AWS agree. What AWS does with several partition
 * key attributes is not known; here their bytes follow one another.
 */
enum key_hash {
	KEY_HASH_FNV, /* tables of version 0.1.0; of encoded elements, no hash of the table's key in
			 indexes */
	KEY_HASH_MD5,
};

/* Appends the hash of the partition key elements, and the elements. Where there are none (`n` 0)
 * the hash is zero. */
void key_add_partition(struct buf *out, enum key_hash hash, const struct value *const *values,
		       unsigned n);

/* The element of that type with which the text begins, as key_add wrote it; *rest is what follows.
 * Numbers are slices of the text. */
struct value key_read(struct arena *arena, enum type type, struct str *rest);

/* Cuts that element off, unread. */
void key_skip(enum type type, struct str *rest);

/* Appends what orders rows of a global index that are equal in its keys: the hash of the table's
 * key elements, if there is one. */
void key_add_tie(struct buf *out, enum key_hash hash, const struct value *const *values,
		 unsigned n);

/*
 * The smallest byte string greater than every string that begins with `prefix`: the exclusive upper
 * bound of a prefix range. Absent (no bound) when prefix is empty or all FF.
 */
struct str key_after_prefix(struct arena *arena, struct str prefix);

/*
 * Hash bounds [*low, *high) of segment k of n as encoded prefixes; absent where unbounded.
 * KEY_HASH_MD5: segments begin at multiples of 1/4096 of the range, as in dynalite; some of more
 * than 4096 are empty.
 */
void key_segment(struct arena *arena, enum key_hash hash, uint32_t k, uint32_t n, struct str *low,
		 struct str *high);

#endif
