/*
 * admission - whether the signer of a request below /_dynalith/ may make it: the one place that
 * decides.
 *
 * Where signatures are verified, a key sees and changes what is its account's; all else needs
 * "control": true in its entry of credentials. What each endpoint concerns is a column of
 * endpoints.def. With --iam the policies of protocol/iam must allow it too.
 *
 * The action is "dynalith:" with the method and the words of the path: PUT policies is
 * dynalith:PutPolicies, POST checkpoints/NAME/rollback is dynalith:PostCheckpointsRollback. The
 * resource is the path: arn:aws:dynalith:REGION:ACCOUNT:checkpoints/NAME/rollback, in the signer's
 * account.
 */
#ifndef DYNALITH_SERVER_ADMISSION_H
#define DYNALITH_SERVER_ADMISSION_H

#include "server/control/endpoints.h"

struct admission {
	enum endpoint_needs needs;
	struct ns asked;     /* the namespace that it concerns */
	bool is_one;         /* else it concerns all of them */
	struct str
		access_key;  /* empty where there is no signature: the request is the operator's */
	struct ns ns;        /* the signature's */
	bool may_control, may_change; /* what the key may: see sigv4_rights */
	struct str method;   /* "HEAD" is "GET" */
	struct str pattern;  /* "checkpoints/NAME/rollback": NAME is no part of the action */
	struct str path;     /* "checkpoints/mine/rollback" */
	bool is_unseen;      /* of the console: no report notes it */
};

/* ERR_ACCESS_DENIED. */
enum code admission_check(const struct control *control, struct arena *arena,
			  const struct admission *wanted, struct err *err) WARN_UNUSED;

#endif
