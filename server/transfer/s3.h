/*
 * s3 - the buckets of exports and imports: a folder, whose folders are the buckets, or an
 * S3-compatible endpoint.
 *
 * --s3 DIR: object KEY of bucket B is the file DIR/B/KEY. --s3 http://... or https://...: requests
 * by path (URL/B/KEY), signed by --s3-credentials. A problem has S3's code and text, from the
 * endpoint or as S3 has them, so that FailureCode and FailureMessage read as at AWS.
 *
 * The shelf server/transfer/ holds what carries out exports, imports and bulk operations: where
 * their files are, how these are compressed, and the jobs.
 */
#ifndef DYNALITH_SERVER_S3_H
#define DYNALITH_SERVER_S3_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

struct s3_options {
	const char *where;         /* a folder, a URL, or "none" */
	const char
		*credentials; /* ACCESS_KEY:SECRET for a URL, or "none": requests are not signed */
	const char *region;        /* of the signatures */
	const char *token;         /* that goes with temporary credentials; or NULL */
	const char *authorities;   /* of https: a PEM file of those that are trusted; NULL: any
				      certificate will do */
	const atomic_bool *stopping; /* gives requests up; or NULL */
};

struct s3;

struct s3 *s3_new(const struct s3_options *options);
void s3_free(struct s3 *s3);

/* Whether there are buckets at all. */
bool s3_has_place(const struct s3 *s3);

/*
 * A bucket, and the account that must own it (absent: any). An endpoint gets it as
 * x-amz-expected-bucket-owner, as at AWS. Folders have no owner, so any account is accepted.
 */
struct s3_bucket {
	struct str name, owner;
};

struct s3_bucket s3_bucket_copy(struct arena *arena, struct s3_bucket bucket);

/* "NoSuchBucket" and its sentence; `is_passing`: the same may succeed later. In the arena of the
 * call. */
struct s3_problem {
	struct str code, message;
	int status;
	bool is_passing;
};

/* AWS: Developer Guide, "Import format quotas and validation": objects of an import. The key of one
 * has 1,024 bytes at most. */
#define S3_OBJECTS_MAX 50000

struct s3_object {
	struct str key;
	uint64_t size;
	struct str
		etag; /* what says that it is still the same object; absent: its size alone does */
};

struct s3_objects {
	size_t n;
	struct s3_object *v; /* in the order of their keys, bytewise */
};

/* How an object is to be encrypted: headers for an endpoint; a folder's files are not. */
struct s3_sse {
	struct str algorithm; /* "AES256", "KMS"; absent: not said */
	struct str key;
};

/* All objects whose keys begin with the prefix. More than S3_OBJECTS_MAX are a problem. */
bool s3_list(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str prefix,
	     struct s3_objects *objects, struct s3_problem *problem);
/* `n` bytes of an object from `offset` on, all of which it has by its size. It is a problem where
 * they are not there, or the object is another one by now. */
bool s3_read(struct s3 *s3, struct arena *arena, struct s3_bucket bucket,
	     const struct s3_object *object, uint64_t offset, size_t n, struct str *bytes,
	     struct s3_problem *problem);
/* The whole object, in one step: nobody sees a part of it. */
bool s3_write(struct s3 *s3, struct arena *arena, struct s3_bucket bucket, struct str key,
	      struct str bytes, const struct s3_sse *sse, struct s3_problem *problem);

/* The text of a failure as DynamoDB shows it: "... (Service: Amazon S3; Status Code: 404; Error
 * Code: NoSuchBucket; ...)". */
struct str s3_failure_message(struct arena *arena, const struct s3_problem *problem);

#endif
