/*
 * loading - what a job that reads objects has open between two of its steps: the list of the
 * objects, the one at hand, the record it is at.
 *
 * It saves work alone: where it is not at the record that the job's row says, the object is opened
 * again and its first records are passed over.
 */
#ifndef DYNALITH_SERVER_LOADING_H
#define DYNALITH_SERVER_LOADING_H

#include "protocol/transfer/transfer.h"
#include "server/transfer/source.h"

struct loading_options {
	struct s3 *s3;
	struct s3_bucket bucket;
	struct str prefix;
	enum source_coding coding;
	struct records_form form;
};

struct loading;

/* The strings and what the form points to are copied, or are the arena's, which is the loading's
 * from now on. */
struct loading *loading_new(struct arena *arena, struct str id,
			    const struct loading_options *options);
void loading_free(struct loading *loading);
struct str loading_id(const struct loading *loading);
struct loading **loading_next(struct loading *loading); /* for a list of the owner's */

struct loading_record {
	enum record_kind kind; /* RECORD_END: there is no further object */
	struct record_put record;
	struct err err;        /* of one that is BAD or BROKEN */
	int64_t number;        /* in its object, from 0 */
};

/* Goes to where the progress is. False: *problem. */
bool loading_seek(struct loading *loading, struct arena *arena,
		  const struct transfer_progress *progress, struct s3_problem *problem);
/*
 * The next record of all objects, in the order of their keys; moves the progress behind it, but for
 * its counts of items. What cannot be read on ends its object. False: *problem.
 */
bool loading_take(struct loading *loading, struct arena *arena, struct transfer_progress *progress,
		  struct loading_record *record, struct s3_problem *problem);
/* The bytes of all objects, once loading_seek() was called. */
uint64_t loading_total(const struct loading *loading);

#endif
