/*
 * admission - whether the signer of a request below /_dynalith/ may make it, as the policies of protocol/iam say.
 *
 * The action is "dynalith:" with the method and the words of the path: PUT policies is dynalith:PutPolicies, POST checkpoints/NAME/rollback is
 * dynalith:PostCheckpointsRollback. The resource is the path: arn:aws:dynalith:REGION:ACCOUNT:checkpoints/NAME/rollback, in the signer's account.
 */
#ifndef DYNALITH_SERVER_ADMISSION_H
#define DYNALITH_SERVER_ADMISSION_H

#include "server/control/control.h"

struct admission {
	struct str access_key;
	struct ns ns;        /* the signature's */
	struct str method;   /* "HEAD" is "GET" */
	struct str pattern;  /* "checkpoints/NAME/rollback": NAME is no part of the action */
	struct str path;     /* "checkpoints/mine/rollback" */
};

/* ERR_ACCESS_DENIED. To be called with --iam only. */
enum code admission_check(const struct control *control, struct arena *arena, const struct admission *wanted, struct err *err) WARN_UNUSED;

#endif
