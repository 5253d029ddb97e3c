/*
 * copy - the items of a table as of a moment, in a keyspace of their own: what backups, restores to
 * a moment and full exports are made of.
 *
 * A copy belongs to a job: its keyspace is (job->data, PART_ITEMS), with the rows of the table's
 * own, and how far it came is job->progress. It is made while others write, in bounded pieces:
 *
 *   1. A table that fits into one piece, with what was changed since the moment, is copied in one
 *      transaction.
 *   2. Else the table's change log is held from the moment on (LOG_COPY); where it is off, it is
 *      switched on, and the moment is then.
 *   3. The items are copied in the order of their keys, as they are when their turn comes.
 *   4. The changes from the moment to the end of 3 are undone in the copy, the last first. So each
 *      item ends as it was at the moment, whenever it was copied and however often it changed.
 *   5. The log is let go.
 *
 * The shelf storage/backup/ holds copies of tables, backups made of them, and tables made of those.
 */
#ifndef DYNALITH_STORAGE_COPY_H
#define DYNALITH_STORAGE_COPY_H

#include "storage/job/job_run.h"

struct copy {
	struct str account,
		region;     /* of the table, which may be in another namespace than the job */
	struct str table;   /* the name */
	uint64_t number;    /* and number: another table of the name is not meant */
	int64_t at_ms; /* all changes up to this moment are in it; COPY_NOW: the moment is when the
			  copy begins */
	int64_t stage;      /* enum copy_stage */
	struct str key;     /* the rows before it are copied; absent: none is */
	uint64_t first;     /* the changes from this number on are not in it */
	uint64_t next;      /* the changes from this number on are undone */
	int64_t items, bytes; /* in it; by DynamoDB's size rules */
};

#define COPY_NOW INT64_MAX

enum copy_stage { COPY_BEGINS, COPY_FILLS, COPY_UNDOES, COPY_LETS_GO, COPY_IS_DONE };

/* Within the transaction that adds the job: makes the keyspace and sets job->data and
 * job->progress. */
enum code copy_begin(struct job_txn *txn, const struct table *table, int64_t at_ms, struct job *job,
		     struct err *err) WARN_UNUSED;

/*
 * The next piece, as a step of the job, which is put. *copy is how far it came then.
 * ERR_TABLE_NOT_FOUND where the table was deleted before the copy was whole.
 */
enum code copy_step(struct job_step *step, struct copy *copy, struct err *err) WARN_UNUSED;

/* Reads how far it came. False for malformed bytes. */
bool copy_of(struct arena *arena, const struct job *job, struct copy *copy) WARN_UNUSED;

/* For struct job_kind: a job that failed has no use for what it copied. */
enum code copy_give_up(struct job_txn *txn, struct job *job, void *context,
		       struct err *err) WARN_UNUSED;

/*
 * A page of a copy's items from *key on (absent: from the start), within a transaction; rows in the
 * order of keys, images as values. *key is moved behind it; absent at the end.
 */
enum code copy_page(struct store_txn *txn, uint64_t data, struct store_bounds bounds,
		    struct arena *arena, struct str *key, struct store_page *page,
		    struct err *err) WARN_UNUSED;

#endif
