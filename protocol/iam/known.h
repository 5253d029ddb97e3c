/*
 * known - which actions and condition keys of DynamoDB there are, for warnings: a policy may name
 * others, as at AWS, and then never says anything about a request.
 */
#ifndef DYNALITH_PROTOCOL_IAM_KNOWN_H
#define DYNALITH_PROTOCOL_IAM_KNOWN_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

/*
 * Whether an Action fits one of them: "dynamodb:Get*", or of another service. Operations that are
 * judged by the actions of their members, such as TransactWriteItems, are none.
 */
bool iam_knows_action(struct arena *arena, struct str action);

/* Whether requests have a condition key, if it is one of dynamodb:. Without regard to case. */
bool iam_knows_key(struct str key);

#endif
