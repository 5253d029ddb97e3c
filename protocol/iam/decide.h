/*
 * decide - whether a principal may do an action to a resource, by all policies that count.
 *
 * An explicit deny in any policy decides. Within one account an allow of an identity policy or of
 * the resource's policy is needed, between two accounts both; a boundary and a session policy must
 * allow too. A resource's policy that names a user or a session itself needs nobody else's allow;
 * one that names a role, or everybody, does not pass by a boundary or session policy; one that
 * names an account only lets the account's own policies decide. AWS: IAM User Guide, "How AWS
 * enforcement code logic evaluates requests to allow or deny access", "Cross-account policy
 * evaluation logic", "Troubleshoot access denied error messages".
 */
#ifndef DYNALITH_PROTOCOL_IAM_DECIDE_H
#define DYNALITH_PROTOCOL_IAM_DECIDE_H

#include <stdatomic.h>

#include "protocol/iam/policy.h"

enum iam_source { IAM_IDENTITY, IAM_RESOURCE, IAM_BOUNDARY, IAM_SESSION, IAM_SOURCES };

/* Whom the policies are about. */
struct iam_who {
	struct str arn;     /* as answers name it: of a user, a role, a session of one, a federated
			       user, an account's root */
	struct str role;    /* of a session: the ARN of its role; else absent */
	struct str account;
	bool is_root, is_user, is_federated;
	size_t identity_count;
	const struct iam_policy *identity;
	const struct iam_policy *boundary, *session; /* NULL: it has none */
};

/* From the ARN; false where it is none of a principal. The policies stay empty. */
bool iam_who_read(struct arena *arena, struct str arn, struct iam_who *who);

/* Whether `named` is the role of that ARN: with or without a path, which ARNs of sessions lack. */
bool iam_is_role_of(struct str named, struct str role);

struct iam_question {
	struct str action;   /* "dynamodb:GetItem" */
	struct str resource; /* its ARN */
	struct str account;  /* the resource's */
	const struct iam_policy *policy; /* the resource's, or NULL */
	struct iam_context context;
	size_t statement; /* from 1: whose refusal is its own; 0: that of the request */
};

struct iam_decision {
	bool is_allowed, is_explicit; /* is_explicit: a statement denies it */
	enum iam_source source; /* whose statement denies it, or which kind has none that allows it;
				   of an allow, IAM_IDENTITY or IAM_RESOURCE */
	const struct iam_statement *statement; /* that allows or denies it; NULL: none */
};

/*
 * `uses` (NULL: nobody counts): a count per statement's number, raised for each that applies; those
 * of the resource's policy are left out. Where the arena is over it decides nothing and denies: the
 * caller answers err_if_over().
 */
struct iam_decision iam_decide(const struct iam_who *who, const struct iam_question *question,
			       struct arena *arena, atomic_uint *uses);

/* ERR_ACCESS_DENIED in AWS's words. */
enum code iam_refuse(const struct iam_who *who, const struct iam_question *question,
		     const struct iam_decision *decision, struct err *err) WARN_UNUSED;

#endif
