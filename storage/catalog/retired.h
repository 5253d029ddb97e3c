/*
 * retired - what is kept of deleted tables whose streams can still be read: the snapshot with its stream disabled, in memory and as a row
 * beside the records of tables. The catalog owns the list and guards it by its lock.
 */
#ifndef DYNALITH_STORAGE_RETIRED_H
#define DYNALITH_STORAGE_RETIRED_H

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

struct retired {
	size_t n;
	struct table **tables; /* a reference each; malloced */
};

/* Takes over the caller's reference. */
void retired_add(struct retired *retired, struct table *table);
/* The same in the place of one that is there already: a refresh may have taken in a deletion before it shows. */
void retired_put(struct retired *retired, struct table *table);
/* Takes a snapshot out and gives its reference to the caller; false where it is not there. */
bool retired_remove(struct retired *retired, const struct table *table);
void retired_clear(struct retired *retired);

/* Whether a row of SYSTEM_TABLES is one of ours: no account and no table name begins as our keys do. */
bool retired_is_key(struct str key);
/* What these keys begin with. */
struct str retired_prefix(void);

/* What is to be kept of a table that is deleted at `now_ms`: NULL where no stream of it can be read any more. */
struct table *retired_of(const struct table *table, int64_t now_ms);

/* Within the transaction that deletes `table`: closes its stream and keeps the record, or, where `kept` is NULL, drops the stream. */
enum code retired_store(struct store_txn *txn, const struct table *table, const struct table *kept, struct err *err) WARN_UNUSED;

/* Drops the stream and the record of it. */
enum code retired_drop(struct store_txn *txn, const struct table *kept, struct err *err) WARN_UNUSED;

#endif
