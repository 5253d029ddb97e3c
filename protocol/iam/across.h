/*
 * across - requests that name a table of another account by its ARN.
 *
 * Such a request works in the account of the table: its name is looked up there. --iam then needs
 * an allow of both accounts. AWS: Developer Guide, "DynamoDB API operations supported by
 * resource-based policies", lists the operations that can do so; PartiQL, for one, cannot.
 */
#ifndef DYNALITH_PROTOCOL_IAM_ACROSS_H
#define DYNALITH_PROTOCOL_IAM_ACROSS_H

#include "protocol/handler.h"
#include "protocol/ops.h"

/*
 * The account whose tables the request names. Absent: the caller's own, or tables of several
 * accounts (AWS: API Reference, TransactWriteItems: "within the same AWS account"), or an operation
 * that reaches no other account. An ARN of another region than the call's is never of another
 * account.
 */
struct str iam_across(const struct call *call, enum op_id operation, const struct json *request);

#endif
