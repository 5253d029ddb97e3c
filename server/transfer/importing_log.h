/*
 * importing_log - the records that an import or a bulk operation refused, each with its reason:
 * rows of its job.
 *
 * AWS: Developer Guide, "DynamoDB data import from Amazon S3", CloudWatch error logs:
 * {"itemS3Pointer": {"bucket": ..., "key": ..., "itemIndex": N}, "importArn": ..., "errorMessages":
 * [...]}, up to 10,000 of them.
 */
#ifndef DYNALITH_SERVER_IMPORTING_LOG_H
#define DYNALITH_SERVER_IMPORTING_LOG_H

#include "storage/job/job.h"

#define IMPORTING_LOG_MAX 10000

/* A record that was refused. */
struct importing_error {
	struct str key;   /* the object's */
	int64_t number;   /* of the record in it, from 0 */
	struct str message;
};

/* The line of an error. */
struct str importing_log_line(struct arena *arena, const struct job *job, struct str bucket,
			      const struct importing_error *error);

/* The same of an item whose condition was false, with the item that is there, or none. */
struct str importing_log_unmet(struct arena *arena, const struct job *job, struct str bucket,
			       const struct importing_error *error, const struct value *attempted,
			       struct str existing);

/* Puts the lines behind the `before` that the job has. In the transaction that puts the job, whose
 * keyspace is made where it has none. */
enum code importing_log_put(struct job_txn *txn, struct job *job, int64_t before,
			    const struct str *lines, size_t n, struct err *err) WARN_UNUSED;

/* The lines of the import of that id, one after the other. ERR_RESOURCE_NOT_FOUND where there is
 * none. */
enum code importing_log_read(struct catalog *catalog, struct ns ns, struct arena *arena,
			     struct str id, struct str *lines, struct err *err) WARN_UNUSED;

#endif
