/*
 * ask - what a request of the API asks for: for each resource an action, and the values of the condition keys.
 *
 * A batch asks for its own action on each table, a transaction for the action of each item, a PartiQL statement for its kind's. dynamodb:LeadingKeys are the
 * values of the partition key of the table or index, dynamodb:Attributes all top-level attributes that keys, items, projections, filters, conditions and
 * updates name. AWS: Developer Guide, "Using IAM policy conditions for fine-grained access control", "Using IAM with DynamoDB transactions", "IAM security
 * policies with PartiQL for DynamoDB"; Service Authorization Reference, "Actions, resources, and condition keys for Amazon DynamoDB".
 *
 * An expression that cannot be read names nothing here: the operation refuses it in its own words.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASK_H
#define DYNALITH_PROTOCOL_IAM_ASK_H

#include "protocol/handler.h"
#include "protocol/iam/principals.h"
#include "protocol/wire/shapes.h"

/* A resource's policy from its text, which is kept; NULL where there is none. */
typedef const struct iam_policy *iam_policy_of(void *context, struct arena *arena, struct str text);

struct iam_asked {
	size_t n;
	struct iam_question *v;
	struct err unread;      /* of the first expression that cannot be read; code OK: all can be */
	size_t statement_count; /* of BatchExecuteStatement; those that do not parse ask nothing */
	size_t held_count;
	struct table **held; /* what the questions point into */
};

struct iam_request {
	struct call *call;
	struct str operation; /* "GetItem" */
	const struct shape *shape; /* the operation looks at no member of the request that it has not */
	const void *input;    /* as shape_bind made it */
	const struct iam_principal *principal;
	iam_policy_of *policy_of;
	void *context;
};

struct iam_asked iam_ask(const struct iam_request *request);

/* The condition keys of a principal and of the time, for what is no request of the API. */
struct iam_context iam_ask_context(struct arena *arena, const struct iam_principal *principal, struct ns ns, int64_t now_ms);

/* The questions end. */
void iam_asked_release(struct iam_asked *asked);

#endif
