/*
 * principals - those whom policies are bound to: a document read once, which does not change
 * afterwards.
 *
 * {"principals": [{"access_key", "arn", "identity": policy or [policy...], "boundary", "session",
 * "tags": {}, "variables": {}}]}. A principal without an access key is a role: its identity
 * policies and boundary are those of each session of it too.
 */
#ifndef DYNALITH_PROTOCOL_IAM_PRINCIPALS_H
#define DYNALITH_PROTOCOL_IAM_PRINCIPALS_H

#include "protocol/iam/decide.h"

struct iam_principal {
	struct str access_key; /* absent: of a role */
	struct iam_who who;
	struct iam_context context; /* tags, variables, and what follows from the ARN */
	size_t own_identity; /* the first policies of `who` are its own, the others its role's */
	const struct iam_policy *own_boundary;
};

struct iam_principals {
	atomic_uint refs;
	struct arena *arena;
	struct str document;
	size_t n;
	struct iam_principal *v;
	unsigned statement_count;
	atomic_uint *uses; /* by statement */
};

/* One reference. ERR_VALIDATION: what is wrong; then there is nothing to release. */
enum code iam_principals_read(struct str document, struct iam_principals **out,
			      struct err *err) WARN_UNUSED;
struct iam_principals *iam_principals_ref(struct iam_principals *principals);
void iam_principals_unref(struct iam_principals *principals);

/* Who signs with that key. A key that no principal has is a user of its account, without any
 * policy. The arena gets what is not kept. */
const struct iam_principal *iam_principals_find(const struct iam_principals *principals,
						struct arena *arena, struct str access_key,
						struct str account);

#endif
