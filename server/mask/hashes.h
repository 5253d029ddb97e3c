/*
 * hashes - which texts there were, by hashes of 64 bits: 16 to 32 bytes each.
 *
 * Two texts may have one hash, by a chance of 1 in 10^7 for a million of them.
 */
#ifndef DYNALITH_SERVER_MASK_HASHES_H
#define DYNALITH_SERVER_MASK_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* All zero: none. */
struct hashes {
	uint64_t *places; /* 0 is a free one */
	size_t n, size;   /* size: 0, or a power of two */
};

/* False: it was there already. */
bool hashes_add(struct hashes *hashes, struct str text);
bool hashes_have(const struct hashes *hashes, struct str text);
void hashes_free(struct hashes *hashes);

#endif
