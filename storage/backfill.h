/* backfill - filling a new index from the items that are there. */
#ifndef DYNALITH_STORAGE_BACKFILL_H
#define DYNALITH_STORAGE_BACKFILL_H

#include "storage/schema.h"

/*
 * Writes the index row of every item of the table. Items that cannot be indexed (an attribute missing, of another type, empty or too
 * large for a key) are skipped, as AWS does.
 */
enum code backfill_index(struct store_txn *txn, struct arena *arena, const struct table *table, const struct index *index,
			 struct err *err) WARN_UNUSED;

#endif
