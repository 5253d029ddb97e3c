/*
 * strict - what a mask must not do to the items of tables: leave a value out for want of a rule, or
 * make the keys of two items equal.
 *
 * Both are known before the first item is written: each item goes through strict_item() first.
 */
#ifndef DYNALITH_SERVER_MASK_STRICT_H
#define DYNALITH_SERVER_MASK_STRICT_H

#include "server/mask/mask.h"

struct strict;

struct strict *strict_new(void);
void strict_free(struct strict *strict); /* NULL is allowed */

/*
 * The item by the mask, in the arena. `keys`: the table's KeySchema. ERR_VALIDATION: another item,
 * whose key was another one, has this key now; items that had one key may share one. It goes by
 * hashes of 64 bits (hashes.h).
 */
enum code strict_item(struct strict *strict, struct mask *mask, struct arena *arena,
		      struct str table, const struct json *keys, struct str item, struct str *out,
		      struct err *err) WARN_UNUSED;

/* ERR_VALIDATION names each path that no rule could take so far, with how many values there were.
 */
enum code strict_check(const struct mask *mask, struct err *err) WARN_UNUSED;

#endif
