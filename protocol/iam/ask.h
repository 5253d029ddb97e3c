/*
 * ask - what a request of the API asks for: for each resource an action, and the values of the
 * condition keys.
 *
 * A batch asks for its own action on each table, a transaction for the action of each item, a
 * PartiQL statement for its kind's. dynamodb:LeadingKeys are the values of the partition key of the
 * table or index, dynamodb:Attributes all top-level attributes that keys, items, projections,
 * filters, conditions and updates name. AWS: Developer Guide, "Using IAM policy conditions for
 * fine-grained access control", "Using IAM with DynamoDB transactions", "IAM security policies with
 * PartiQL for DynamoDB"; Service Authorization Reference, "Actions, resources, and condition keys
 * for Amazon DynamoDB".
 *
 * An expression that cannot be read names nothing here: the operation refuses it in its own words.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ASK_H
#define DYNALITH_PROTOCOL_IAM_ASK_H

#include "protocol/iam/asking.h"

struct iam_asked iam_ask(const struct iam_request *request);

/* The questions end. */
void iam_asked_release(struct iam_asked *asked);

#endif
