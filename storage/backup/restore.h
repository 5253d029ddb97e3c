/*
 * restore - tables made of a copy of items: from a backup, or from a table as it was at a moment. Jobs of the kind "restore", about the new table.
 *
 * The row has the whole record of the table to be made, so the table is there from the answer on, CREATING, or is made by the next step after a
 * crash between the two. It waits for its job (table_state.job) and becomes ACTIVE with the job's end, when all items are written, by the one
 * write path, with their index rows.
 */
#ifndef DYNALITH_STORAGE_RESTORE_H
#define DYNALITH_STORAGE_RESTORE_H

#include "storage/backup/backup.h"

#define RESTORE_KIND STR("restore")

struct restore {
	struct str record;      /* of the new table, without number and times */
	struct str backup;      /* the id of the backup; absent: from a moment of `source` */
	struct str source;      /* the name of the table that it comes from */
	struct str region;      /* and its region */
	int64_t at_ms;          /* the moment; of a backup, its creation */
	int64_t shown_ms;       /* ACTIVE no earlier */
	uint64_t data;          /* of the backup: where its items are; else the job's own copy */
	bool is_copied;         /* the job's copy is whole, and the items are being written */
	struct str key;         /* the items before it are written; absent: none is */
	bool is_filled;
};

enum code restore_of(struct arena *arena, const struct job *job, struct restore *restore, struct err *err) WARN_UNUSED;

/*
 * Adds the job within a transaction and sets job->id. `source` is the table that is restored from, NULL for a backup. `table` is the one to be
 * made: ns, name, keys, indexes, settings.
 */
enum code restore_add(struct job_txn *txn, const struct table *source, const struct table *table, const struct restore *restore, int64_t now_ms,
		      struct job *job, struct err *err) WARN_UNUSED;

/* Makes the table of a job that was added. ERR_RESOURCE_IN_USE where the name exists: the caller removes the job. */
enum code restore_create(struct catalog *catalog, const struct job *job, int64_t now_ms, struct table **table, struct err *err) WARN_UNUSED;

/* Whether a restore from the backup is under way. */
enum code restore_uses(struct job_txn *txn, struct str backup, bool *is_used, struct err *err) WARN_UNUSED;

extern const struct job_kind restore_kind;

#endif
