/*
 * tally - what this process has added to the numbers of a table (items and bytes, of the table and
 * of each index) and not yet put into their rows (catalog/size_rows.h).
 *
 * All snapshots of a table share one. Writers join it in their transaction, before the commit, and
 * leave it when the commit has ended; so a flush knows whether a change is still under way. The
 * changes belong to an epoch, that of the rows that they are to be added to: rows of a new epoch
 * were counted with the changes in them, so what is left of an older epoch is dropped. Thread-safe.
 */
#ifndef DYNALITH_STORAGE_TALLY_H
#define DYNALITH_STORAGE_TALLY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"

/* What a transaction changes in the numbers of a table or an index. */
struct size_change {
	long long items, bytes;
};

#define TALLY_TABLE 0 /* the slot of the table itself; an index has 1 + its number */

struct tally_slot {
	uint32_t slot;
	struct size_change change;
};

struct tally {
	atomic_uint refs;
	pthread_mutex_t mutex; /* of what follows */
	uint64_t epoch;        /* of the changes */
	unsigned in_flight;    /* writers that joined and have not left */
	bool is_marked; /* the store has a row that says that we have changes of this epoch */
	bool is_listed;        /* the catalog has the table on its list to be flushed */
	bool is_doubtful;      /* the outcome of a commit is unknown: only counting helps */
	bool has_known;
	long long known_bytes; /* of the table and its local indexes, as their rows had it when they
				  were last read */
	size_t n, capacity;
	struct tally_slot *slots;
};

struct tally *tally_new(void);
struct tally *tally_ref(struct tally *tally);
void tally_unref(struct tally *tally);

/* Gives the part of `of` to `to`, which nobody uses yet. */
void tally_replace(struct tally **to, struct tally *of);

enum tally_need {
	TALLY_NEEDS_MARK = 1, /* the transaction has to put the row that is_marked is about */
	TALLY_NEEDS_LIST = 2, /* the catalog has to list the table; asked for once */
};

/* A writer adds its changes. Gives what is needed of enum tally_need. */
unsigned tally_join(struct tally *tally, uint64_t epoch, const struct tally_slot *changes,
		    size_t n);
/*
 * The end of that writer's commit, which takes its changes back where it failed. `was_marked`: its
 * transaction put the row. A transaction that was given up before its commit ends as after a
 * conflict.
 */
void tally_leave(struct tally *tally, uint64_t epoch, const struct tally_slot *changes, size_t n,
		 bool was_marked, enum code code);

/* The changes of a slot that the rows of the epoch lack. */
struct size_change tally_pending(struct tally *tally, uint64_t epoch, uint32_t slot);

/* The bytes that tally_know() was given, and our changes of these slots; false: it was given none
 * since the last flush. */
bool tally_known_bytes(struct tally *tally, uint64_t epoch, const uint32_t *slots, size_t n,
		       long long *bytes);
void tally_know(struct tally *tally, uint64_t epoch, long long bytes);

/* What a flush puts into the rows. */
struct tally_batch {
	uint64_t epoch;
	size_t n;
	struct tally_slot *slots;
	bool unmarks;         /* no writer is under way: the row may go */
	bool is_doubtful;
};

void tally_take(struct tally *tally, struct arena *arena, struct tally_batch *batch);
/* The end of the flush's commit. Gives whether nothing is left, so that the table may leave the
 * list; then it is not listed any more. */
bool tally_flushed(struct tally *tally, const struct tally_batch *batch, enum code code);
/* The rows of the epoch are gone, or a count of all rows has begun. */
void tally_drop(struct tally *tally, uint64_t epoch);

#endif
