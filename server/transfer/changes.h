/*
 * changes - what an incremental export reads: for each item that changed within the window, how it
 * was before and how it is at the end.
 *
 * The changes of the table's log are collected in the job's keyspace, under the keys of the items,
 * in pieces: one row for an item, however often it changed. AWS: Developer Guide, "DynamoDB table
 * export output format", Incremental export output.
 */
#ifndef DYNALITH_SERVER_CHANGES_H
#define DYNALITH_SERVER_CHANGES_H

#include "protocol/transfer/transfer.h"
#include "storage/job/job_run.h"

/* An item's row; images are absent where there was no item. */
struct change {
	int64_t micros; /* of the last change */
	struct str keys, old_image, new_image;
};

bool changes_read(struct str row, struct change *change);

/* The next piece, which puts the job; after the last one the progress is at the phase `next`. The
 * job fails where the table is gone. */
enum code changes_collect(struct job_step *step, const struct transfer_body *body,
			  struct transfer_progress *progress, int64_t next,
			  struct err *err) WARN_UNUSED;

#endif
