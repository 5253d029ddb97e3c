/*
 * retired - what is kept of deleted tables whose streams can still be read: the record with its
 * stream disabled, beside the records of tables.
 */
#ifndef DYNALITH_STORAGE_RETIRED_H
#define DYNALITH_STORAGE_RETIRED_H

#include "core/err.h"
#include "storage/schema/schema.h"

/* Whether a row of SYSTEM_TABLES is one of ours: no account and no table name begins as our keys
 * do. */
bool retired_is_key(struct str key);
struct str retired_key(struct arena *arena, uint64_t number);

/* What is to be kept of a table that is deleted at `now_ms`: NULL where no stream of it can be read
 * any more. */
struct table *retired_of(const struct table *table, int64_t now_ms);

#endif
