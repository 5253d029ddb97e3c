/*
 * reset - a namespace as new, or its tables empty.
 */
#ifndef DYNALITH_STORAGE_RESET_H
#define DYNALITH_STORAGE_RESET_H

#include "core/err.h"
#include "storage/catalog/catalog.h"

struct reset {
	bool keeps_tables;   /* they are emptied, not deleted */
	bool is_some;        /* only `tables`, and nothing else of the namespace */
	size_t n;
	const struct str *tables;
	int64_t now_ms; /* of the namespace: an emptied table with recovery cannot be restored to a
			   moment before; 0: not known */

	size_t done;         /* out: tables that were deleted or emptied */
};

/*
 * Deletes or empties the tables of a namespace, in one transaction; without is_some also the
 * streams of deleted tables, the idempotency tokens and the jobs, backups among them, and, where
 * tables do not stay, its checkpoints. Other resets can be rolled back. An emptied table keeps its
 * record but for its number: a request that holds a snapshot of it gets ERR_TABLE_MOVED, and a
 * stream of it begins with a new shard. ERR_RESOURCE_NOT_FOUND where a name is no table's: nothing
 * was changed.
 */
enum code reset_run(struct catalog *catalog, struct ns ns, struct reset *reset,
		    struct err *err) WARN_UNUSED;

#endif
