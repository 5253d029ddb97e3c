/*
 * restore - tables made of a copy of items: from a backup, or from a table as it was at a moment.
 * Jobs of the kind "restore", about the new table.
 *
 * The table is made in the transaction that adds its job, CREATING. It waits for the job
 * (table_state.job) and becomes ACTIVE with the job's end, when all items are written, by the one
 * write path, with their index rows.
 */
#ifndef DYNALITH_STORAGE_RESTORE_H
#define DYNALITH_STORAGE_RESTORE_H

#include "storage/backup/backup.h"

#define RESTORE_KIND STR("restore")

struct restore {
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

enum code restore_of(struct arena *arena, const struct job *job, struct restore *restore,
		     struct err *err) WARN_UNUSED;

/*
 * Adds the job and creates its table. `source` is the table that is restored from, NULL for a
 * backup. `table` is the one to be made: name, keys, indexes, settings; its reference is taken
 * over, and *created is another one. ERR_RESOURCE_IN_USE where the name exists: then there is no
 * job.
 */
enum code restore_begin(struct catalog *catalog, struct ns ns, const struct table *source,
			struct table *table, const struct restore *restore, int64_t now_ms,
			struct job *job, struct table **created, struct err *err) WARN_UNUSED;

/* Whether a restore from the backup is under way. One whose table has all its items and is due does
 * not count: the table is ACTIVE before the job ends. */
enum code restore_uses(struct job_txn *txn, struct str backup, int64_t now_ms, bool *is_used,
		       struct err *err) WARN_UNUSED;

extern const struct job_kind restore_kind;

#endif
