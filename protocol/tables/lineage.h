/*
 * lineage - where a table comes from: the ARNs of backups, and the RestoreSummary of a table that
 * is being restored.
 */
#ifndef DYNALITH_PROTOCOL_LINEAGE_H
#define DYNALITH_PROTOCOL_LINEAGE_H

#include "protocol/handler.h"
#include "storage/backup/restore.h"

/* "arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/backup/ID" */
struct str lineage_arn(const struct call *call, const struct job *job);

/* "RestoreSummary": {...} of a table that waits for a restore. */
enum code lineage_summary(struct call *call, const struct table *table,
			  struct err *err) WARN_UNUSED;

#endif
