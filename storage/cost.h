/*
 * cost - what a request consumed, per table and index; protocol/respond writes it as
 * ConsumedCapacity.
 */
#ifndef DYNALITH_STORAGE_COST_H
#define DYNALITH_STORAGE_COST_H

#include "storage/schema/schema.h"

struct units {
	double read;
	double write;
};

struct cost {
	const struct table *table;
	struct units base;                  /* the table itself */
	struct units failed; /* of statements that failed beside others: only in the total */
	struct units index[INDEXES_MAX];    /* by position in table->indexes */
	bool index_is_touched[INDEXES_MAX];
	double vector_bytes[VECTOR_INDEXES_MAX]; /* written, by position in table->vectors; not
						    units, and in no total */
};

/* The sum over the table and all its indexes. */
struct units cost_total(const struct cost *cost);

/* Copies what counts: the entries of the indexes that the table has. */
void cost_copy(struct cost *to, const struct cost *from);

/* Adds `more` (of the same table) to `cost`. */
void cost_add(struct cost *cost, const struct cost *more);

#endif
