/*
 * retired - what is kept of deleted tables whose streams can still be read: the snapshot with its stream disabled, in memory and as a row
 * beside the records of tables. The catalog owns the list and guards it by its lock.
 */
#ifndef DYNALITH_STORAGE_RETIRED_H
#define DYNALITH_STORAGE_RETIRED_H

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

/* In the order of their numbers. A server whose tables come and go has many of them. */
struct retired {
	size_t n, capacity;
	struct table **tables; /* a reference each; malloced */
};

/* Takes over the caller's reference. The table may be there already: a refresh may have taken in a deletion before it shows. */
void retired_put(struct retired *retired, struct table *table);
/* Nothing where it is not there. */
void retired_remove(struct retired *retired, uint64_t number);
/* Makes the list what was found in the store, and `found` empty. None changes but by going: those that are known stay, for their users. */
void retired_take(struct retired *retired, struct retired *found);
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
