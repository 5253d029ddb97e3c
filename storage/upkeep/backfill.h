/*
 * backfill - filling new indexes of live tables, and emptying those that are dropped, in small
 * transactions.
 *
 * An index that UpdateTable adds exists from that moment: every write keeps it, also for rows that
 * the filling has not reached. Meanwhile backfill_step goes through the items in key order, a
 * bounded piece per write transaction, and adds the rows that are missing; how far it came is in
 * the store, so that it goes on after a restart. Since each piece reads and writes in one
 * transaction, no write is lost between them. An index that is deleted is not kept any more; of a
 * very large one rows are deleted piece by piece before its keyspace is dropped. Of several
 * processes one works on a table, by a lease; backfill_run asks for none.
 *
 * The expiry queue of a table whose TTL was enabled is filled by the same steps, with a position of
 * its own.
 *
 * The shelf storage/upkeep/ holds work without a request, in small transactions. It goes through
 * the tables of the catalog.
 */
#ifndef DYNALITH_STORAGE_BACKFILL_H
#define DYNALITH_STORAGE_BACKFILL_H

#include "storage/catalog/catalog.h"

#define BACKFILL_STEP_ROWS 500             /* a few milliseconds: other writers wait for it */
#define BACKFILL_STEP_BYTES (1024 * 1024)  /* of items by their stored size */
#define BACKFILL_OTHERS_MS 500             /* between two looks at work that another process does */

/*
 * Does the next piece of any table's work that is due by the clock of its namespace; an error means
 * that the next piece of none could be done. *wait_ms is how long to wait before the next call: 0
 * while there is more, INT64_MAX when nothing waits but what catalog_replace adds. Items that
 * cannot be indexed (an attribute missing, of another type, empty or too large for a key) are
 * skipped. AWS: Developer Guide, "Detecting and correcting index key violations".
 */
enum code backfill_step(struct catalog *catalog, const struct times *times, int64_t *wait_ms,
			struct err *err) WARN_UNUSED;

/*
 * At most `steps` pieces of one table's work, or more while requests come, since each is smaller
 * then (pace_next): what is small is done before the client asks.
 */
enum code backfill_run(struct catalog *catalog, struct ns ns, struct str name, unsigned steps,
		       int64_t now_ms, struct err *err) WARN_UNUSED;

#endif
