/*
 * iam - whether requests may be carried out, as --iam says: enforce refuses, report only notes.
 *
 * The policies are those of the store, which all servers on it go by, or, where it has none, those
 * of this process. They are read once for each version.
 */
#ifndef DYNALITH_PROTOCOL_IAM_IAM_H
#define DYNALITH_PROTOCOL_IAM_IAM_H

#include "protocol/handler.h"
#include "protocol/ops.h"

struct iam;

struct iam *iam_new(bool is_enforced);
void iam_free(struct iam *iam);

/* The policies of this process. ERR_VALIDATION, and the old ones stay. */
enum code iam_use(struct iam *iam, struct str document, struct err *err) WARN_UNUSED;

/* Those of the store: a new document, or none any more (absent). ERR_VALIDATION, and the old ones
 * stay. */
enum code iam_put(struct catalog *catalog, struct str document, struct err *err) WARN_UNUSED;

/* The document that counts; {"principals": []} where there is none. */
enum code iam_show(struct iam *iam, struct catalog *catalog, struct arena *arena,
		   struct str *document, struct err *err) WARN_UNUSED;

struct iam_request_of {
	enum op_id operation;
	const struct shape *shape;
	const void *input;    /* as shape_bind made it */
	struct str access_key;
	struct str
		account; /* of the key; the call's is that of the tables: protocol/iam/across.h */
	struct str *told; /* on trial: gets what decided, a JSON array; else NULL */
};

/*
 * ERR_ACCESS_DENIED for the first thing that the request asks for and its principal may not do.
 * Between accounts, --iam report refuses too. A call on trial counts nowhere.
 */
enum code iam_admit(struct iam *iam, struct call *call, const struct iam_request_of *of,
		    struct err *err) WARN_UNUSED;

/* What is no request of the API: an action of another name on a resource of the principal's own
 * account. */
struct iam_deed {
	struct str access_key;
	struct ns ns;
	int64_t now_ms;
	struct str action, resource;
	bool is_unseen; /* it is judged, and no report notes it */
};

enum code iam_admit_deed(struct iam *iam, struct catalog *catalog, struct arena *arena,
			 const struct iam_deed *deed, struct err *err) WARN_UNUSED;

/* JSON: protocol/iam/report.h. */
enum code iam_describe(struct iam *iam, struct catalog *catalog, struct arena *arena,
		       struct str *answer, struct err *err) WARN_UNUSED;

#endif
