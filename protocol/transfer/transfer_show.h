/*
 * transfer_show - exports, imports and bulk operations as Describe and List answer with them.
 *
 * AWS: recorded in October 2026 (DDB-EXPORT-016 and 017, DDB-IMPORT-003 and 004): the parameters
 * are shown as they were given, beside a few defaults; an export shows no ExportType but that of an
 * incremental one, and DestinationType, which the model lacks.
 */
#ifndef DYNALITH_PROTOCOL_TRANSFER_SHOW_H
#define DYNALITH_PROTOCOL_TRANSFER_SHOW_H

#include "protocol/transfer/transfer.h"

/* The job as it is shown now: with AWS's timing an export or import that is over is under way until
 * its time is. */
struct job transfer_show_seen(const struct call *call, const struct job *job,
			      const struct transfer_body *body);

/* {"ExportDescription": {...}} and the like: the whole response. */
enum code transfer_show(struct call *call, enum transfer_kind kind, const struct job *job,
			struct err *err) WARN_UNUSED;

/* {"ExportSummaries": [...], "NextToken": ...} and the like. */
enum code transfer_show_list(struct call *call, const struct transfer_list *list,
			     struct err *err) WARN_UNUSED;

#endif
