/*
 * long_key - keys that are too long for a B-tree of PostgreSQL, whose entries are at most about
 * 2,700 bytes.
 *
 * A key of up to LONG_KEY_PREFIX bytes is its own column k. A longer one is its first
 * LONG_KEY_PREFIX bytes and the SHA-256 of its rest: k is then longer than that of any short key,
 * so that the two cannot be confused; the rest lies in the column t. Order by k is the order of
 * keys, but among long keys with the same beginning ("a family"): those are ordered by t.
 *
 * So a range of keys is one of k, with families at its ends of which it may hold a part.
 */
#ifndef DYNALITH_STORAGE_LONG_KEY_H
#define DYNALITH_STORAGE_LONG_KEY_H

#include "core/arena.h"
#include "core/str.h"

#define LONG_KEY_PREFIX 2560
#define LONG_KEY_PREFIX_TEXT "2560" /* of statements.def */

struct long_key {
	struct str k;
	struct str t; /* absent: a short key */
};

static inline bool long_key_is(struct str key)
{
	return key.n > LONG_KEY_PREFIX;
}

/* Columns of a key. Those of a short one are its own bytes. */
struct long_key long_key_split(struct arena *arena, struct str key);

/* The key of two columns. */
struct str long_key_join(struct arena *arena, struct long_key columns);

/* The least k of the family of a long key or of its k, and the least k behind it. All short keys of
 * these bytes lie before it. */
struct str long_key_family(struct arena *arena, struct str key);
struct str long_key_behind(struct arena *arena, struct str key);

/* The rest of a long key. */
struct str long_key_rest(struct str key);

#endif
