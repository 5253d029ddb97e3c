/*
 * expiry - the rows of a table's expiry keyspace: which item expires when.
 *
 * While TTL is on, every item whose TTL attribute is a time has one row: its key is the time in
 * seconds (8 bytes, big-endian), then the item's row key, so what is due is one range at the front
 * and no sweep looks at anything else. The write path keeps the rows; turning TTL on fills them
 * from the items there are: the first ones at once, further ones in pieces by storage/upkeep/.
 * Meanwhile an item that was written has its row, and one that the filling has not reached expires
 * when it has.
 *
 * AWS: Developer Guide, "Using time to live (TTL) in DynamoDB": a top-level Number, Unix time in
 * seconds; what is more than five years past when it is written does not expire.
 */
#ifndef DYNALITH_STORAGE_EXPIRY_H
#define DYNALITH_STORAGE_EXPIRY_H

#include "storage/schema/schema.h"

#define EXPIRY_PAST_MAX_S (INT64_C(5) * 365 * 86400) /* seconds */

/* The row of an item with this image; absent where it never expires or TTL is off. */
struct str expiry_row(struct arena *arena, const struct table *table, struct str row_key,
		      struct str image);

/* Whether the row's time is too long past at `now_ms` for a new row to be made. A row that is there
 * stays due, however late. */
bool expiry_is_too_old(struct str row, int64_t now_ms);

/* When the item is due that a row is about, and its row key. False for a malformed row. */
bool expiry_read(struct str key, int64_t *seconds, struct str *item) WARN_UNUSED;

#define EXPIRY_FILL_ROWS 500
#define EXPIRY_FILL_BYTES ((size_t)1 << 20)

/*
 * As TTL is enabled: writes the rows of the next `rows` items, EXPIRY_FILL_BYTES at most, from the
 * key *from on (absent: the first); what was too old when TTL was enabled stays out. *is_more:
 * there may be further items, from *from on, which lies in `arena`.
 */
enum code expiry_fill(struct store_txn *txn, struct arena *arena, const struct table *table,
		      size_t rows, struct str *from, bool *is_more, struct err *err) WARN_UNUSED;

/* The exclusive upper bound of the rows that are due at `now_ms`. */
struct str expiry_bound(struct arena *arena, int64_t now_ms);

#endif
