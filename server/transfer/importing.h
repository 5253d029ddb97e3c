/*
 * importing - carries out imports and bulk operations: objects of S3 become items, a piece a step.
 *
 * The rows written in a step and the job's row are not one transaction: a step that is interrupted
 * is done again from what the row says, and writes the same items again. So every record counts
 * once, and an import may be killed at any time.
 *
 * AWS: an import's table is CREATING until its last record is done; then it is ACTIVE, also where
 * records were refused, and the import has FAILED with ItemValidationError (recorded,
 * DDB-IMPORT-013). Where the objects cannot be read on, the table goes.
 *
 * The first 10,000 errors are kept as rows of the job, in the form of AWS's log in CloudWatch
 * (importing_log.h).
 */
#ifndef DYNALITH_SERVER_IMPORTING_H
#define DYNALITH_SERVER_IMPORTING_H

#include "protocol/faults/faults.h"
#include "server/transfer/s3.h"
#include "storage/job/job_run.h"

struct importing;

/* `faults`: rules that are about puts; or NULL. */
struct importing *importing_new(struct s3 *s3, struct faults *faults);
void importing_free(struct importing *importing);

/* `importing` outlives the jobs, and is of one thread. */
void importing_register(struct job_run *jobs, struct importing *importing);

#endif
