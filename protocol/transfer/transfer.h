/*
 * transfer - exports, imports and bulk operations as jobs: started, found by their ARNs, listed.
 *
 * A job's body is the request as it came and what the job made of it; its progress is how far it
 * came. Both are in the job's row. The request is kept as JSON: who carries the job out binds it
 * again, and what is shown of it is what was given.
 */
#ifndef DYNALITH_PROTOCOL_TRANSFER_H
#define DYNALITH_PROTOCOL_TRANSFER_H

#include "protocol/handler.h"
#include "storage/job/job.h"

enum transfer_kind { TRANSFER_EXPORT, TRANSFER_IMPORT, TRANSFER_BULK, TRANSFER_KIND_COUNT };

/* FailureCode of an import whose table has the items that could be read. */
#define TRANSFER_BAD_ITEMS "ItemValidationError"

/* The kind's name in its job, and its ARN's part behind the table's. */
struct str transfer_name(enum transfer_kind kind);

struct transfer_body {
	struct str request; /* JSON: the members that the operation knows, in the model's order,
			       without ClientToken */
	struct str table_id;
	int64_t from_ms, to_ms; /* export: the window; to_ms alone: the moment of a full one */
	bool is_incremental;
	int64_t hash, partitions; /* export: enum key_hash of the rows; in how many ranges of it
				     they are exported */
	bool is_copied; /* export: the job's keyspace has the items of the moment; else its progress
			   is that of a copy (storage/backup/copy.h) */
	bool is_canceled;      /* bulk: CancelBulkOperation asked for it */
	int64_t known_ms;      /* import: its table is made no earlier; 0: at once */
	int64_t active_ms; /* import: its table is ACTIVE no earlier; 0: as others that are created
			    */
};

struct transfer_progress {
	int64_t phase;         /* the kind's own */
	int64_t items;         /* processed, or exported */
	int64_t done;          /* import, bulk: written */
	int64_t errors;        /* import, bulk */
	int64_t unmet;         /* bulk: conditions that were false */
	int64_t bytes; /* import, bulk: of the objects that are read; export: of the items */
	int64_t total_bytes;   /* bulk: of all objects */
	struct str object;     /* import, bulk: the object at hand */
	int64_t records;       /* how many of its records are done */
	int64_t object_bytes;  /* of it, in `bytes` already */
	int64_t outputs;       /* bulk: objects written */
	int64_t next, end; /* incremental export: the changes from `next` on, and before `end`, are
			      to be collected; end 0: not known yet */
	struct str after;      /* export: the last row's key */
	struct str files;      /* export: for each file its items (8 bytes) and MD5 (16 bytes) */
	struct str manifest;   /* export: the summary's key, when it is there */
	struct str usage;      /* bulk: bytes of the table and its indexes: usage.h */
};

bool transfer_read(struct arena *arena, const struct job *job, struct transfer_body *body,
		   struct transfer_progress *progress);
struct str transfer_pack_body(struct arena *arena, const struct transfer_body *body);
struct str transfer_pack_progress(struct arena *arena, const struct transfer_progress *progress);

/* JSON as it was given. */
void transfer_echo(struct json_out *out, struct arena *arena, const struct json *json);

/* What the request of the call has of these members, as JSON in this order. `names` ends with NULL.
 */
struct str transfer_request(struct call *call, const char *const names[]);

/* The request of a body, bound to the input of its operation. */
enum code transfer_bind(struct arena *arena, enum transfer_kind kind,
			const struct transfer_body *body, const void **input,
			struct err *err) WARN_UNUSED;

/* The table of a TableArn, held by the call. AWS: its region is no part of the look-up, its account
 * is. */
enum code transfer_table(struct call *call, struct str arn, struct table **table,
			 struct err *err) WARN_UNUSED;

/* A job that the request asks for. */
struct transfer_start {
	enum transfer_kind kind;
	struct str table;         /* its name */
	struct str token;         /* absent: one is made */
	struct transfer_body body;
	const struct table *copied; /* its items as of body.to_ms become the job's; or NULL */
};

/*
 * Looks for a job that the same token has started within 8 hours. AWS: API Reference, ClientToken.
 * ERR_*_CONFLICT where its request was another one; an import is the same where its table is.
 */
enum code transfer_find_same(struct call *call, const struct transfer_start *start, struct job *job,
			     bool *is_found, struct err *err) WARN_UNUSED;
/* Starts the job, unless the token has started it. *job is that, in the call's arena. */
enum code transfer_begin(struct call *call, const struct transfer_start *start, struct job *job,
			 struct err *err) WARN_UNUSED;

/* The job of an ARN. */
enum code transfer_find(struct call *call, enum transfer_kind kind, struct str arn, struct job *job,
			struct err *err) WARN_UNUSED;

/* A page of the jobs of the last 90 days, the newest first. */
struct transfer_list {
	enum transfer_kind kind;
	struct str table;      /* only its jobs; absent: all */
	struct str table_id;   /* and only of that one; absent: of each table that had the name */
	struct str token;      /* NextToken, or absent */
	size_t limit;
	size_t n;              /* out */
	struct job *jobs;
	struct str next;       /* NextToken for the next page, or absent */
};

enum code transfer_list(struct call *call, struct transfer_list *list, struct err *err) WARN_UNUSED;

struct str transfer_table_arn(struct arena *arena, struct ns ns, struct str table);
struct str transfer_arn(struct arena *arena, const struct job *job);

#endif
