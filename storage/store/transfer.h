/*
 * transfer - makes one store equal to another, which may be of another kind, row by row, and reads
 * back what it wrote.
 *
 * It compares ranges of some thousand rows and writes what differs, each range in a transaction of
 * the target. So a transfer that was cut short is run again and goes on: what is equal already is
 * only read. A second run over a source that changed meanwhile writes only the changes.
 *
 * The source is read in one transaction: the target becomes its state at one moment. A mark in the
 * target says that a transfer has begun and not ended, see transfer_is_unfinished(). Nobody else
 * may write to the target.
 */
#ifndef DYNALITH_STORAGE_STORE_TRANSFER_H
#define DYNALITH_STORAGE_STORE_TRANSFER_H

#include "core/sha256.h"
#include "storage/store/store.h"

/* What became of a keyspace. */
struct transfer_keyspace {
	struct keyspace keyspace;
	uint64_t rows, bytes;               /* of keys and values, in the source */
	uint64_t written, deleted;          /* rows in the target; of a comparison: that would be */
	unsigned char digest[SHA256_SIZE];  /* over all its rows in their order, as the target has
					       them when `is_done` */
	bool is_done;
};

struct transfer {
	struct store *from, *to;
	bool is_comparison; /* nothing is written */
	/* Rows that mean something to the store's own processes only; they are not transferred. */
	bool (*is_left_out)(struct keyspace keyspace, struct str key);
	/* After each range and at the end of each keyspace: those of tables by number and part,
	 * then the system's. */
	void (*tell)(void *context, const struct transfer_keyspace *keyspace);
	/* What the rows of a keyspace stand for, in *reference until the next call; false: for
	 * nothing. Items come before what stands for them. */
	bool (*refers)(void *context, struct keyspace keyspace, struct store_reference *reference);
	void *context;
};

/*
 * ERR_INTERNAL and the like: from the stores, or somebody else writes to the target; the target
 * keeps its mark. ERR_RESOURCE_IN_USE: the source is itself the target of a transfer that has not
 * ended.
 */
enum code transfer_run(const struct transfer *transfer, struct err *err) WARN_UNUSED;

/* Whether a transfer into the store has begun and not ended. */
enum code transfer_is_unfinished(struct store *store, bool *is_unfinished,
				 struct err *err) WARN_UNUSED;

/* Whether the store has no tables. */
enum code transfer_is_empty(struct store *store, bool *is_empty, struct err *err) WARN_UNUSED;

#endif
