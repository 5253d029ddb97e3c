/*
 * ttl - deleting what has expired.
 *
 * The sweep reads the rows of the expiry keyspaces that are due, and deletes their items through
 * the write path, indexes and stream included. It costs what expires, not what the tables hold. Of
 * several processes one does it, by a lease; where nothing is due none takes it.
 */
#ifndef DYNALITH_STORAGE_TTL_H
#define DYNALITH_STORAGE_TTL_H

#include "storage/catalog/catalog.h"

/*
 * Deletes up to a few dozen expired items of every table; an item is due `delay_ms` after its time,
 * by the clock of its namespace. Adds their number to *deleted and sets *more where there may be
 * others: call it again. Errors are the store's.
 */
enum code ttl_sweep(struct catalog *catalog, const struct times *times, int64_t delay_ms,
		    uint64_t *deleted, bool *more, struct err *err) WARN_UNUSED;

#endif
