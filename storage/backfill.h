/* backfill - filling a new index, or a new expiry keyspace, from the items that are there. */
#ifndef DYNALITH_STORAGE_BACKFILL_H
#define DYNALITH_STORAGE_BACKFILL_H

#include "storage/schema.h"

/*
 * Writes the index row of every item of the table. Items that cannot be indexed (an attribute missing, of another type, empty or too
 * large for a key) are skipped, as AWS does.
 */
enum code backfill_index(struct store_txn *txn, struct arena *arena, const struct table *table, const struct index *index,
			 struct err *err) WARN_UNUSED;

/* Writes the expiry row of every item that has one; too old is what was so when TTL was enabled (ttl_changed_ms). */
enum code backfill_expiry(struct store_txn *txn, struct arena *arena, const struct table *table, struct err *err) WARN_UNUSED;

#endif
