/*
 * transfers - the thread that carries out exports, imports and bulk operations, as jobs
 * (storage/job/job_run.h).
 *
 * A thread of its own, since an endpoint of S3 may be slow. Of several servers on one database one
 * works on a job; a job goes on where its row says, also after a crash.
 */
#ifndef DYNALITH_SERVER_TRANSFERS_H
#define DYNALITH_SERVER_TRANSFERS_H

#include "protocol/faults/faults.h"
#include "server/clock.h"
#include "server/transfer/s3.h"
#include "storage/catalog/catalog.h"

struct transfers_options {
	struct catalog *catalog;
	struct clocks *clock;
	struct leases *leases; /* NULL: no other process works on the store */
	struct s3_options s3;
	struct faults *faults; /* rules about puts; or NULL */
};

struct transfers;

struct transfers *transfers_new(const struct transfers_options *options);

/* Starts the thread, once; false where none can be had. */
bool transfers_start(struct transfers *transfers);

/* In place of the thread, as upkeep_tick(): a piece of a job, and the ms until the next, at most
 * 5,000. */
int64_t transfers_tick(struct transfers *transfers);
void transfers_stop(struct transfers *transfers);

/* There may be a new job. `context` is a struct transfers, or NULL. */
void transfers_wake(void *context);

#endif
