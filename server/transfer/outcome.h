/*
 * outcome - how a job of this shelf ends: done, or failed with a code and a text that its
 * description shows.
 */
#ifndef DYNALITH_SERVER_OUTCOME_H
#define DYNALITH_SERVER_OUTCOME_H

#include "protocol/transfer/transfer.h"
#include "server/transfer/s3.h"
#include "storage/job/job_run.h"

/* A failure that S3 is the reason of: FailureCode is "S3" and its code. The job ends when the step
 * returns. */
void outcome_s3(struct job_step *step, struct s3 *s3, const struct s3_problem *problem);
void outcome_failed(struct job_step *step, struct str code, struct str message);

/* Whether the store or the table may let the step succeed another time: it is to be returned as it
 * is. */
bool outcome_passes(enum code code);

#endif
