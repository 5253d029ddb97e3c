/*
 * transfer_rows - the rows that an export reads: a copy of the table's items, which the job owns.
 */
#ifndef DYNALITH_SERVER_TRANSFER_ROWS_H
#define DYNALITH_SERVER_TRANSFER_ROWS_H

#include "protocol/transfer/transfer.h"
#include "storage/job/job_run.h"

/* The keys of the partition. */
struct store_range transfer_rows_partition(struct arena *arena, const struct transfer_body *body,
					   uint32_t partition);

/* The first rows of the range, up to so many bytes. */
enum code transfer_rows_read(struct job_step *step, const struct store_range *range, size_t bytes,
			     struct store_page *page, struct err *err) WARN_UNUSED;

/* Puts the job, which is over, and drops the copy. */
enum code transfer_rows_end(struct job_step *step, struct err *err) WARN_UNUSED;

#endif
