/*
 * trigger - pushes the records of tables' streams to local URLs, as AWS Lambda's event source
 * mapping does to a function.
 *
 * Each trigger is a thread that reads its table's stream (feed.h), from shard to child shard, and
 * posts batches in order as {"Records": [...]}. A batch is done when the reply's status is 2xx and
 * neither the header X-Amz-Function-Error nor a member "errorMessage" is there; "batchItemFailures"
 * lets it go on from the first record named, and fails the whole batch where it names none of it.
 * Else the batch is posted again after a pause that doubles; after the last try it is cut in half
 * and each half has its tries, down to a record alone, which is noted (in the failures file, else
 * in the log) and left behind. Records that the filter drops are passed over. The position is kept
 * in the store under the table and the URL: a server that starts again goes on there, and so does
 * another server on the same store.
 *
 * Where there is no position yet, LATEST leaves out what a stream holds when the server starts; of
 * a stream that is made later every record is pushed.
 *
 * AWS: Lambda Developer Guide, "Using AWS Lambda with Amazon DynamoDB". The runtime emulator's
 * invocation path is a URL like any other.
 */
#ifndef DYNALITH_SERVER_TRIGGER_H
#define DYNALITH_SERVER_TRIGGER_H

#include "protocol/op.h"

struct trigger_options {
	struct service *service;
	struct leases *leases; /* of several processes one pushes; NULL: this one */
	const char *specs;     /* TABLE=URL, separated by commas; or "none" */
	unsigned batch;        /* records in one post at most, 1 to 1000 */
	int window_ms;         /* how long a batch that is not full waits for more */
	unsigned retries;      /* after the first try of a batch */
	bool from_horizon;  /* without a position: begin at the oldest record, not behind the newest
			     */
	const char *filter; /* which records are posted: "none" for all, FilterCriteria as JSON, or
			       a file of it; see filter.h */
	const char *failures; /* file that gets a line for each record left behind, see failure.h;
				 "log": the log alone */
};

struct triggers;

/* Whether every spec is TABLE=http://...; false and *problem, the part that is not. */
bool trigger_specs_are_valid(const char *specs, struct str *problem);

/* Whether the text, for `filter`, is one; false and *problem, the part that is not. */
bool trigger_filter_is_valid(struct arena *arena, const char *filter, struct str *problem);

/* NULL where no thread can be had. The specs and the filter must be valid. */
struct triggers *trigger_start(const struct trigger_options *options);

/* Ends all threads; a post under way is given up. */
void trigger_stop(struct triggers *triggers);

#endif
