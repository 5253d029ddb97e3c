/*
 * backup - backups as jobs of the kind "backup": the row is what DescribeBackup answers, its
 * keyspace the items, until DeleteBackup removes both.
 *
 * A backup keeps the record of its table as it was, so that a restore knows keys, indexes and
 * settings. The backup of a deleted table whose recovery was on takes over the table's own keyspace
 * of items: it costs nothing, and goes after 35 days.
 */
#ifndef DYNALITH_STORAGE_BACKUP_H
#define DYNALITH_STORAGE_BACKUP_H

#include "storage/backup/copy.h"
#include "storage/catalog/catalog_size.h"

#define BACKUP_KIND STR("backup")
#define BACKUP_SYSTEM_MS                                                                           \
	((int64_t)35 * 86400 * 1000) /* AWS: Developer Guide, "Point-in-time recovery": a deleted  \
					table's backup is kept for 35 days */

enum backup_type { BACKUP_USER, BACKUP_SYSTEM };

struct backup {
	struct str name;
	enum backup_type type;
	struct str record;      /* of the table: table_decode() */
	int64_t items, bytes;
	int64_t shown_ms;       /* AVAILABLE no earlier */
	int64_t expires_ms;     /* 0: never */
};

/* The backup that a job is; its strings lie in the arena. ERR_INTERNAL for malformed bytes. */
enum code backup_of(struct arena *arena, const struct job *job, struct backup *backup,
		    struct err *err) WARN_UNUSED;

/* Within a transaction: a new backup of the table as it is now, a job that is to be carried out.
 * Sets job->id and created_ms. */
enum code backup_add(struct job_txn *txn, const struct table *table, const struct backup *backup,
		     int64_t now_ms, struct job *job, struct err *err) WARN_UNUSED;

/*
 * For catalog_delete_keeping(): where recovery is on, the items become a backup of the type
 * BACKUP_SYSTEM, else they go. `context` is a struct backup_deletion.
 */
struct backup_deletion {
	struct catalog *catalog;
	int64_t now_ms;
	const struct table_size *size;
};
enum code backup_keep_deleted(struct store_txn *txn, const struct table *table, void *context,
			      bool *is_kept, struct err *err);

/* The kind, for job_run_register(). */
extern const struct job_kind backup_kind;

#endif
