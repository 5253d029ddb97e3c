/*
 * condition - whether a request meets the conditions of a statement.
 *
 * All tests must hold. A test compares each value of the request with those of the policy: one of
 * them must fit, or, where the operator is turned round, none. Without a quantifier all values of
 * the request must fulfil it, and the key must be there, unless the operator is turned round or has
 * IfExists. ForAllValues also holds where there is no value, ForAnyValue never does. AWS: IAM User
 * Guide, "Condition operators", "Set operators for multivalued context keys", "Evaluation logic for
 * multiple context keys or values".
 */
#ifndef DYNALITH_PROTOCOL_IAM_CONDITION_H
#define DYNALITH_PROTOCOL_IAM_CONDITION_H

#include "protocol/iam/policy.h"

/* The arena gets what variables make. */
bool iam_condition_holds(const struct iam_test *tests, size_t n, const struct iam_context *context,
			 struct arena *arena);

#endif
