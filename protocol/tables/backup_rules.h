/*
 * backup_rules - what the operations on backups and restores share: ARNs, descriptions, and what a
 * table owes to the jobs about it.
 *
 * AWS: captures of October 2026 (DDB-BACKUP-001 to 028, DDB-TABLE-100, 215 to 219, 272 to 282).
 */
#ifndef DYNALITH_PROTOCOL_BACKUP_RULES_H
#define DYNALITH_PROTOCOL_BACKUP_RULES_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"
#include "storage/backup/restore.h"

/* The parts of a backup's ARN. ERR_VALIDATION, ERR_ACCESS_DENIED. */
struct backup_arn {
	struct str text;
	struct str region, table, id;
};
enum code backup_rules_arn(const struct call *call, struct str text, struct backup_arn *arn,
			   struct err *err) WARN_UNUSED;

/* A backup with its table as it was then; the call holds it. */
struct backup_found {
	struct job job;
	struct backup backup;
	struct table *table;
};

/* Looks a backup up in the namespace. ERR_BACKUP_NOT_FOUND also where it is over. */
enum code backup_rules_find(struct call *call, struct ns ns, const struct backup_arn *arn,
			    struct backup_found *found, struct err *err) WARN_UNUSED;

/* Whether it is to be seen: it did not fail, and has not expired. */
bool backup_rules_is_seen(const struct job *job, const struct backup *backup, int64_t now_ms);

enum backup_shown { BACKUP_AS_IT_IS, BACKUP_CREATING, BACKUP_DELETED };

/* The members of BackupDetails, without braces; and {"BackupDescription": {...}}, the whole
 * response. */
void backup_rules_details(struct call *call, const struct job *job, const struct backup *backup,
			  struct str arn, enum backup_shown shown);
void backup_rules_description(struct call *call, struct backup_found *found, struct str arn,
			      enum backup_shown shown);

/* Before a table is deleted: finishes the copies of it that are under way. ERR_RESOURCE_IN_USE
 * where one goes on. */
enum code backup_rules_release(struct call *call, struct table *table, struct err *err) WARN_UNUSED;
/* Deletes it; where recovery is on, its items become a SYSTEM backup. */
enum code backup_rules_delete_table(struct call *call, struct table *table,
				    struct err *err) WARN_UNUSED;
/* The same of replicas, in their regions: gives the changes that delete one what catalog_change_all
 * is to do then, after copies under way are finished. */
enum code backup_rules_delete_replicas(struct call *call, struct catalog_change *changes, size_t n,
				       struct err *err) WARN_UNUSED;

#endif
