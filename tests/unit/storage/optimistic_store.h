/*
 * optimistic_store - a backend of the kind that many processes share: rows of one flat map, held in
 * memory, with optimistic transactions.
 *
 * A transaction sees the rows as they were when it began, and its own writes, which nobody else
 * sees before the commit. The commit looks at every row and range that a writing transaction read,
 * and refuses (ERR_CONFLICT) where another one has changed any of that since. So nothing above it
 * can be right only because writers queue. Keyspaces are prefixes, as they are in a distributed
 * store: one that nobody created is empty, creating one does nothing, and dropping one deletes its
 * rows.
 *
 * Each optimistic_open() stands for a process. The database goes with the last of them.
 */
#ifndef DYNALITH_TEST_OPTIMISTIC_STORE_H
#define DYNALITH_TEST_OPTIMISTIC_STORE_H

#include "storage/store/store.h"

struct optimistic_db;

struct optimistic_db *optimistic_db_new(void);
/* Another process on the database; thread-safe. */
struct store *optimistic_open(struct optimistic_db *db);
/* Gives up the caller's hold on the database. */
void optimistic_db_unref(struct optimistic_db *db);

/* How the next commits of all processes end, each with so many chances in 1,000, drawn from the
 * seed; 0: never. */
struct optimistic_faults {
	unsigned conflict;      /* refused, as if another transaction had won */
	unsigned unavailable;   /* refused: the database cannot be reached */
	unsigned unknown_done;  /* the outcome is unknown; it was committed */
	unsigned unknown_lost;  /* the outcome is unknown; it was not */
	uint64_t seed;
};

void optimistic_db_fail(struct optimistic_db *db, const struct optimistic_faults *faults);

/* What the database takes from now on; a transaction that goes beyond it fails at its end with
 * ERR_INTERNAL. */
void optimistic_db_limit(struct optimistic_db *db, const struct store_limits *limits);

struct optimistic_counts {
	uint64_t commits,
		conflicts; /* of writing transactions; conflicts that were found, not drawn */
	uint64_t beyond;   /* transactions that went beyond the limits, also of those that were
			      aborted */
};

struct optimistic_counts optimistic_db_counts(struct optimistic_db *db);

#endif
